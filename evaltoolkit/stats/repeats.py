"""How well measurements of the same thing repeat: spread within outputs, ICC(1), agreement.

Every coefficient is a function of sums over outputs, so that whole examples can be drawn anew
by `evaltoolkit.stats.rater_resamples`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.checks import finite_vector, fraction
from evaltoolkit.stats.tails import t_quantile
from evaltoolkit.stats.types import Floats

REPEATABILITY_FACTOR = 1.96 * math.sqrt(2)
"""Two measurements of one thing differ by less than this many within-SDs 95 times in 100."""

FEWEST_BLOCKS = 3
"""With fewer examples the spread of the within-output variances says nothing."""


class WithinSpread(NamedTuple):
    """The standard deviation of repeats of one output, pooled over outputs.

    Attributes:
        sd: The standard deviation; NaN without repeats.
        low: Lower end of the interval; NaN where there is none.
        high: Upper end.
        df: Repeats beyond the first of each output, added up.
    """

    sd: float
    low: float
    high: float
    df: int


def repeat_parts(values: ArrayLike, outputs: NDArray[np.intp]) -> Floats:
    """Return what each output adds to spread and ICC(1): its counts, sums and squares.

    Args:
        values: One measurement each.
        outputs: Number of the output that was measured, from 0.

    Returns:
        Array (outputs, 6): 1, measurements, their squared number, sum of squares within the
        output, sum of values (about the grand mean), and squared sum over measurements.

    Example:
        >>> repeat_parts([1.0, 3.0, 2.0, 2.0], np.array([0, 0, 1, 1])).tolist()
        [[1.0, 2.0, 4.0, 2.0, 0.0, 0.0], [1.0, 2.0, 4.0, 0.0, 0.0, 0.0]]
    """
    array = finite_vector(values, name="values")
    centred = array - (array.mean() if array.size else 0.0)
    counts = np.bincount(outputs).astype(np.float64)
    sums = np.bincount(outputs, weights=centred)
    means = sums / np.maximum(counts, 1)
    noise = 1e-9 * np.max(np.abs(array), initial=0.0)
    apart = centred - means[outputs]
    apart[np.abs(apart) <= noise] = 0.0
    within = np.bincount(outputs, weights=apart**2)
    return np.column_stack([np.ones(counts.size), counts, counts**2, within, sums, sums * means])


def within_spread(parts: Floats, blocks: NDArray[np.intp], *, level: float = 0.95) -> WithinSpread:
    """Pool the spread within outputs, with an interval that does not assume normal scores.

    The interval is a t interval of the logarithm of the pooled variance, whose standard error
    comes from how the blocks' own variances differ. The chi-square interval of the textbooks
    needs normal scores; grades that mostly repeat exactly are far from that.

    Args:
        parts: As from `repeat_parts`.
        blocks: The example (or cluster) of each output; blocks are independent.
        level: Confidence level between 0 and 1.

    Returns:
        The spread; no interval with fewer than three blocks, or where they do not differ.

    Source:
        Bland and Altman, Measurement error, 1996, for the pooled standard deviation; Liang and
        Zeger, Longitudinal data analysis using generalized linear models, 1986, for its error.

    Example:
        >>> parts = repeat_parts([1, 3, 2, 2, 4, 5], np.array([0, 0, 1, 1, 2, 2]))
        >>> round(within_spread(parts, np.arange(3)).sd, 4)
        0.9129
    """
    tail = (1 + fraction(level, name="level")) / 2
    count = int(blocks.max(initial=-1)) + 1
    squares = np.bincount(blocks, weights=parts[:, 3], minlength=count)
    free = np.bincount(blocks, weights=parts[:, 1] - parts[:, 0], minlength=count)
    df = float(free.sum())
    if df <= 0:
        return WithinSpread(math.nan, math.nan, math.nan, 0)
    variance = float(squares.sum()) / df
    sd, informative = math.sqrt(variance), int(np.count_nonzero(free))
    residual = squares - variance * free
    error = math.sqrt(float(residual @ residual) * count / max(count - 1, 1)) / df
    if informative < FEWEST_BLOCKS or error <= 1e-12 * variance or variance == 0:
        return WithinSpread(sd, math.nan, math.nan, int(df))
    half = t_quantile(tail, informative - 1) * error / variance / 2
    return WithinSpread(sd, sd * math.exp(-half), sd * math.exp(half), int(df))


def single_iccs(totals: ArrayLike) -> Floats:
    """Return ICC(1), the share of variance that lies between outputs, of many totals.

    Args:
        totals: Array (draws, 6): sums of `repeat_parts`.

    Returns:
        One value per draw; NaN where all scores are equal or nothing was repeated.

    Source:
        Shrout and Fleiss, Intraclass correlations, 1979; unequal numbers of repeats as in
        Donner, A review of inference procedures for the intraclass correlation, 1986.

    Example:
        >>> parts = repeat_parts([1, 1, 0, 0, 1, 0], np.array([0, 0, 1, 1, 2, 2]))
        >>> single_iccs(parts.sum(axis=0)[None]).round(3)
        array([0.5])
    """
    n, size, squared, within, total, between = np.asarray(totals, dtype=np.float64).T
    if n.ndim != 1:
        raise EvalToolkitError(
            "totals must be a table (draws, 6)", code="bad_shape", path="totals", value=n.shape
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        across = np.maximum(between - total**2 / size, 0.0) / (n - 1)
        inside = within / (size - n)
        typical = (size - squared / size) / (n - 1)
        scale = across + (typical - 1) * inside
        spread = (n > 1) & (size > n) & (scale > 1e-15)
        found: Floats = np.where(spread, (across - inside) / scale, np.nan)
    return found


def pair_agreement(values: ArrayLike, outputs: NDArray[np.intp]) -> Floats:
    """Return for each output the share of pairs of repeats that are equal.

    Args:
        values: One measurement each; equal ones must be exactly equal.
        outputs: Number of the output that was measured, from 0; two measurements of each.

    Example:
        >>> pair_agreement([1, 1, 0, 1, 1], np.array([0, 0, 0, 1, 1])).round(3)
        array([0.333, 1.   ])
    """
    array = finite_vector(values, name="values")
    if not array.size:
        return np.empty(0)
    grades = np.unique(array, return_inverse=True)[1]
    cells = np.zeros((int(outputs.max()) + 1, int(grades.max()) + 1))
    np.add.at(cells, (outputs, grades), 1.0)
    counts = cells.sum(axis=1)
    agreed: Floats = np.sum(cells * (cells - 1), axis=1) / (counts * (counts - 1))
    return agreed
