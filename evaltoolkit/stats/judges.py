"""Correcting what an automatic judge says by what people say about a few examples."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.checks import choice, finite_vector, fraction, same_length
from evaltoolkit.stats.paired import t_interval
from evaltoolkit.stats.proportions import wilson
from evaltoolkit.stats.types import Floats, Interval


class JudgeMean(NamedTuple):
    """A mean that uses judge and people.

    Attributes:
        mean: The estimate.
        se: Its standard error.
        low: Lower end of the interval.
        high: Upper end.
        weight: How much the judge counts: 1 in plain prediction-powered inference, 0 leaves
            the people alone.
    """

    mean: float
    se: float
    low: float
    high: float
    weight: float


class CorrectedRate(NamedTuple):
    """A pass rate corrected for the judge's errors, with its interval."""

    rate: float
    low: float
    high: float


def ppi_mean(
    human: ArrayLike,
    judge: ArrayLike,
    judge_only: ArrayLike,
    *,
    tuned: bool = False,
    quantile: Literal["t", "normal"] = "t",
    level: float = 0.95,
) -> JudgeMean:
    """Estimate a mean by prediction-powered inference: the judge's mean, with its bias removed.

    Args:
        human: People's scores of the labelled examples, at least two (50 or more to rely on).
        judge: The judge's scores of the same examples.
        judge_only: The judge's scores of the examples without labels.
        tuned: Choose the judge's weight from the data (PPI++), within 0 to 1. Below about
            100 labels the same labels choose the weight and make the estimate, which biases it.
        quantile: Of t with (labels - 1) degrees of freedom, or normal as published.
        level: Confidence level between 0 and 1.

    Returns:
        The estimate; NaN for an interval without spread.

    Raises:
        EvalToolkitError: A score is not finite, or there are too few.

    Source:
        Angelopoulos et al., Prediction-powered inference, 2023; Angelopoulos, Duchi and
        Zrnic, PPI++, 2023.

    Example:
        >>> ppi_mean([1, 0, 1, 1], [1, 0, 0, 1], [1, 1, 0, 1, 1, 0]).mean
        0.9166666666666666
    """
    choice(quantile, ["t", "normal"], name="quantile")
    y, f = finite_vector(human, name="human"), finite_vector(judge, name="judge")
    g = finite_vector(judge_only, name="judge_only")
    same_length(y, f, names=("human", "judge"))
    if y.size < 2 or g.size < 2:
        raise EvalToolkitError(
            f"there are {y.size} labelled and {g.size} other examples; two of each are the least",
            code="too_few",
            path="human" if y.size < 2 else "judge_only",
        )
    weight = _judge_weight(y, f, g) if tuned else 1.0
    mean = float(weight * g.mean() + (y - weight * f).mean())
    se = math.sqrt(weight**2 * float(g.var()) / g.size + float((y - weight * f).var()) / y.size)
    ends = t_interval(mean, se, y.size - 1 if quantile == "t" else math.inf, level=level)
    return JudgeMean(mean, se, *ends, weight)


def rogan_gladen(
    passes: int,
    n: int,
    *,
    sensitivity: float,
    specificity: float,
    level: float = 0.95,
) -> CorrectedRate:
    """Correct a judge's pass rate for its known sensitivity and specificity.

    The interval takes both as known exactly. Where they come from a small labelled set it is far
    too short; use `ppi_mean` with the labels instead.

    Args:
        passes: Examples that the judge passes.
        n: Examples that were judged.
        sensitivity: Share of truly good examples that the judge passes.
        specificity: Share of truly bad examples that the judge fails.
        level: Confidence level between 0 and 1.

    Returns:
        The rate, within 0 to 1, and the transformed Wilson interval; NaN without examples.

    Raises:
        EvalToolkitError: The judge is no better than chance (code ``useless_judge``).

    Source:
        Rogan and Gladen, Estimating prevalence from the results of a screening test, 1978.

    Example:
        >>> round(rogan_gladen(160, 200, sensitivity=0.9, specificity=0.8).rate, 4)
        0.8571
    """
    fraction(level, name="level")
    informed = sensitivity + specificity - 1
    if not 0 < informed <= 1:
        raise EvalToolkitError(
            f"sensitivity {sensitivity} and specificity {specificity} must each be at most 1 and "
            "sum to more than 1; a judge no better than chance says nothing",
            code="useless_judge",
            path="sensitivity",
            value=(sensitivity, specificity),
        )
    raw = Interval(*wilson(passes, n, level=level))
    apparent = (passes / n if n else math.nan, *raw)
    return CorrectedRate(*(_within((p + specificity - 1) / informed) for p in apparent))


def _within(rate: float) -> float:
    return rate if math.isnan(rate) else min(1.0, max(0.0, rate))


def _judge_weight(y: Floats, f: Floats, g: Floats) -> float:
    spread = float(np.var(np.concatenate([f, g]), ddof=1))
    if spread == 0:
        return 0.0
    shared = float(np.mean((y - y.mean()) * (f - f.mean())))
    return min(1.0, max(0.0, shared / ((1 + y.size / g.size) * spread)))
