"""Repeated trials of the same examples: pass@k, pass^k and where the noise comes from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.checks import finite_vector, whole
from evaltoolkit.stats.clusters import anova_icc
from evaltoolkit.stats.types import Floats


class VarianceComponents(NamedTuple):
    """How much examples, and how much trials of one example, vary.

    Attributes:
        var_item: Variance of the examples' expected scores; not below 0.
        var_trial: Variance between trials of one example.
        mean: Mean of the examples' means.
        se: Standard error of that mean.
        icc: Share of the variance that lies between examples (0 to 1).
    """

    var_item: float
    var_trial: float
    mean: float
    se: float
    icc: float


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the unbiased estimate of passing at least once in k trials.

    Args:
        n: Trials that were made of one example.
        c: Trials that passed.
        k: Trials that are asked about, at most n.

    Raises:
        EvalToolkitError: The counts are impossible (code ``bad_count``).

    Source:
        Chen et al., Evaluating large language models trained on code, 2021.

    Example:
        >>> pass_at_k(10, 3, 5)
        0.9166666666666666
    """
    _check_trials(n, c, k)
    return float(1 - Fraction(math.comb(n - c, k), math.comb(n, k)))


def pass_hat_k(n: int, c: int, k: int) -> float:
    """Return the unbiased estimate of passing in all of k trials (pass^k).

    Args:
        n: Trials that were made of one example.
        c: Trials that passed.
        k: Trials that are asked about, at most n.

    Raises:
        EvalToolkitError: The counts are impossible (code ``bad_count``).

    Source:
        Yao et al., tau-bench, 2024.

    Example:
        >>> pass_hat_k(5, 4, 2)
        0.6
    """
    _check_trials(n, c, k)
    return float(Fraction(math.comb(c, k), math.comb(n, k)))


def variance_components(trials: Sequence[ArrayLike]) -> VarianceComponents:
    """Split the variance of scores into examples and trials.

    The variance of a mean over n examples with K trials each is
    ``var_item / n + var_trial / (n * K)``: this tells whether more examples or more trials
    would pay.

    Args:
        trials: For each example the scores of its trials, one or more.

    Returns:
        The components, by analysis of variance (restricted maximum likelihood where all
        examples have equally many trials and `var_item` is positive); NaN with fewer than two
        examples or without repeated trials.

    Raises:
        EvalToolkitError: A score is not finite, or an example has no trial.

    Source:
        Searle, Casella and McCulloch, Variance components, 1992.

    Example:
        >>> parts = variance_components([[1, 1, 0], [0, 0, 0], [1, 1, 1], [1, 0, 0]])
        >>> round(parts.var_item, 3), round(parts.var_trial, 3)
        (0.13, 0.167)
    """
    rows = [finite_vector(row, name=f"trials[{i}]") for i, row in enumerate(trials)]
    counts = np.array([row.size for row in rows], dtype=np.float64)
    if np.any(counts == 0):
        raise EvalToolkitError(
            f"trials[{int(np.argmin(counts))}] is empty; leave out examples without a trial",
            code="bad_shape",
            path=f"trials[{int(np.argmin(counts))}]",
        )
    return _components(rows, counts)


def _components(rows: list[Floats], counts: Floats) -> VarianceComponents:
    n = len(rows)
    mean = float(np.mean([row.mean() for row in rows])) if rows else math.nan
    if n < 2 or not np.any(counts > 1):
        return VarianceComponents(math.nan, math.nan, mean, math.nan, math.nan)
    owner = np.repeat(np.arange(n), counts.astype(np.intp))
    parts = anova_icc(np.concatenate(rows), owner)
    var_item = max(0.0, (parts.between - parts.within) / parts.n0)
    total = var_item + parts.within
    se = math.sqrt((var_item + parts.within * float(np.mean(1 / counts))) / n)
    icc = var_item / total if total > 0 else math.nan
    return VarianceComponents(var_item, parts.within, mean, se, icc)


def _check_trials(n: int, c: int, k: int) -> None:
    whole(n, name="n", least=1)
    whole(c, name="c")
    whole(k, name="k", least=1)
    if c > n or k > n:
        raise EvalToolkitError(
            f"of n = {n} trials c = {c} passed, and k = {k} are asked about; neither c nor k "
            "may exceed n",
            code="bad_count",
            path="c" if c > n else "k",
            value=c if c > n else k,
        )
