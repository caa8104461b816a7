"""Intervals of agreement coefficients: whole examples (or clusters) are drawn anew.

Every coefficient is a function of sums over examples: cells of a table, coincidences of grades,
squares. So one engine draws sums, and each coefficient is computed for all draws at once. The
formulas are those of `evaltoolkit.stats.raters`, which gives the estimates themselves.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.checks import choice, fraction, whole
from evaltoolkit.stats.types import Floats

FEWEST_BLOCKS = 10
"""With fewer examples (or clusters) there are too few to draw from."""

MOST_UNDEFINED = 0.05
"""An interval is given only where at most this share of the draws leaves it undefined."""

_CELLS_AT_ONCE = 2_000_000


class ResampledInterval(NamedTuple):
    """A percentile interval.

    Attributes:
        low: Lower end; NaN where there is none.
        high: Upper end.
        undefined: Share of the draws in which the coefficient does not exist.
        reason: Why there is no interval: ``too_few``, ``undefined`` or ``no_spread``; empty
            where there is one.
    """

    low: float
    high: float
    undefined: float
    reason: str


def resampled_totals(sums: ArrayLike, *, draws: int = 2000, seed: int = 0) -> Floats:
    """Draw blocks with replacement and add up their sums.

    Args:
        sums: Array (blocks, quantities): what each example or cluster contributes.
        draws: Number of draws.
        seed: Seed of the draws.

    Returns:
        Array (draws, quantities) of totals over as many blocks as there are.

    Raises:
        EvalToolkitError: `sums` is no table with a row, or `draws` is not positive.

    Source:
        Efron, Bootstrap methods: another look at the jackknife, 1979; Field and Welsh,
        Bootstrapping clustered data, 2007.

    Example:
        >>> resampled_totals([[1.0, 2.0], [1.0, 2.0]], draws=2)
        array([[2., 4.],
               [2., 4.]])
    """
    table = np.asarray(sums, dtype=np.float64)
    whole(draws, name="draws", least=1)
    if table.ndim != 2 or not len(table):
        raise EvalToolkitError(
            f"sums has shape {table.shape}; one row for each example is needed",
            code="bad_shape",
            path="sums",
            value=table.shape,
        )
    blocks, rng = len(table), np.random.default_rng(seed)
    at_once = max(1, _CELLS_AT_ONCE // blocks)
    parts = []
    for start in range(0, draws, at_once):
        rows = min(at_once, draws - start)
        drawn = rng.integers(blocks, size=(rows, blocks))
        drawn += blocks * np.arange(rows)[:, None]
        times = np.bincount(drawn.ravel(), minlength=rows * blocks).reshape(rows, blocks)
        parts.append(times.astype(np.float64) @ table)
    return np.concatenate(parts)


def block_sums(values: Floats, blocks: NDArray[np.intp]) -> Floats:
    """Add up the rows of each block.

    Args:
        values: Array (rows, quantities).
        blocks: Number of each row's block, from 0.

    Example:
        >>> block_sums(np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 0]))
        array([[4.],
               [2.]])
    """
    total = np.zeros((int(blocks.max(initial=-1)) + 1, values.shape[1]))
    np.add.at(total, blocks, values)
    return total


def percentile_interval(
    values: ArrayLike, *, blocks: int, level: float = 0.95
) -> ResampledInterval:
    """Return the percentile interval of resampled coefficients, or why there is none.

    Args:
        values: The coefficient in every draw; NaN where it does not exist.
        blocks: Number of examples or clusters that were drawn from.
        level: Confidence level between 0 and 1.

    Example:
        >>> percentile_interval([1.0, 1.0, 1.0], blocks=50).reason
        'no_spread'
    """
    tail = (1 - fraction(level, name="level")) / 2
    drawn = np.asarray(values, dtype=np.float64)
    defined = drawn[~np.isnan(drawn)]
    undefined = 1 - defined.size / drawn.size if drawn.size else 1.0
    if blocks < FEWEST_BLOCKS:
        return ResampledInterval(math.nan, math.nan, undefined, "too_few")
    if undefined > MOST_UNDEFINED:
        return ResampledInterval(math.nan, math.nan, undefined, "undefined")
    low, high = (float(end) for end in np.quantile(defined, [tail, 1 - tail]))
    if high - low <= 1e-12:
        return ResampledInterval(math.nan, math.nan, undefined, "no_spread")
    return ResampledInterval(low, high, undefined, "")


def kappas(
    tables: ArrayLike, *, weights: Literal["none", "linear", "quadratic"] = "none"
) -> Floats:
    """Return Cohen's kappa of each of many tables; see `evaltoolkit.stats.cohen_kappa`.

    Args:
        tables: Array (draws, grades, grades) of counts.
        weights: ``none``, ``linear`` or ``quadratic`` credit for near misses.

    Returns:
        One value per table; NaN where chance agreement is certain.

    Example:
        >>> kappas([[[4, 1], [1, 4]], [[5, 0], [0, 0]]]).round(2)
        array([0.6, nan])
    """
    choice(weights, ["none", "linear", "quadratic"], name="weights")
    share = _shares(tables)
    grades = share.shape[1]
    steps = np.abs(np.subtract.outer(np.arange(grades), np.arange(grades))) / max(grades - 1, 1)
    cost = {"none": (steps > 0).astype(np.float64), "linear": steps, "quadratic": steps**2}[weights]
    seen = np.einsum("bij,ij->b", share, cost)
    chance = np.einsum("bi,ij,bj->b", share.sum(axis=2), cost, share.sum(axis=1))
    return 1 - _ratio(seen, chance)


def ac1s(tables: ArrayLike) -> Floats:
    """Return Gwet's AC1 of each of many tables; see `evaltoolkit.stats.gwet_ac1`.

    Args:
        tables: Array (draws, grades, grades) of counts, two grades or more.

    Example:
        >>> ac1s([[[4, 1], [1, 4]], [[5, 0], [0, 0]]]).round(2)
        array([0.6, 1. ])
    """
    share = _shares(tables)
    grade = (share.sum(axis=1) + share.sum(axis=2)) / 2
    chance = np.sum(grade * (1 - grade), axis=1) / (share.shape[1] - 1)
    return 1 - _ratio(1 - np.trace(share, axis1=1, axis2=2), 1 - chance)


def coincidences(counts: ArrayLike) -> Floats:
    """Return what each example adds to Krippendorff's table of coincidences.

    Args:
        counts: Array (examples, grades): how many scorers gave each grade.

    Returns:
        Array (examples, grades * grades); zeros for fewer than two ratings.

    Example:
        >>> coincidences([[1.0, 1.0], [2.0, 0.0], [1.0, 0.0]]).tolist()
        [[0.0, 1.0, 1.0, 0.0], [2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    """
    cells = np.asarray(counts, dtype=np.float64)
    ratings = cells.sum(axis=1)
    each = np.where(ratings > 1, 1 / np.maximum(ratings - 1, 1), 0.0)
    pairs = cells[:, :, None] * cells[:, None, :]
    pairs -= np.eye(cells.shape[1]) * cells[:, :, None]
    return (pairs * each[:, None, None]).reshape(len(cells), -1)


def alphas(
    totals: ArrayLike, grades: ArrayLike, *, measure: Literal["nominal", "ordinal", "interval"]
) -> Floats:
    """Return Krippendorff's alpha for each of many tables of coincidences.

    Args:
        totals: Array (draws, grades * grades), sums of `coincidences`.
        grades: The grades in order.
        measure: How far apart two grades are.

    Returns:
        One value per draw; NaN where all ratings are equal.

    Example:
        >>> alphas([[4.0, 1.0, 1.0, 4.0]], [0.0, 1.0], measure="nominal").round(2)
        array([0.64])
    """
    choice(measure, ["nominal", "ordinal", "interval"], name="measure")
    scale = np.asarray(grades, dtype=np.float64)
    table = np.asarray(totals, dtype=np.float64).reshape(-1, scale.size, scale.size)
    count = table.sum(axis=2)
    if measure == "nominal":
        far = np.broadcast_to(1 - np.eye(scale.size), table.shape)
    else:
        middle = np.cumsum(count, axis=1) - count / 2
        place = middle if measure == "ordinal" else np.broadcast_to(scale, count.shape)
        far = (place[:, :, None] - place[:, None, :]) ** 2
    seen = np.sum(table * far, axis=(1, 2)) * (count.sum(axis=1) - 1)
    return 1 - _ratio(seen, np.einsum("bi,bij,bj->b", count, far, count))


def fleiss_parts(counts: ArrayLike) -> Floats:
    """Return what each example adds to Fleiss' kappa: its count, agreement and grades.

    Args:
        counts: Array (examples, grades) with the same number of scorers in every row.

    Example:
        >>> fleiss_parts([[2.0, 1.0]]).round(3).tolist()
        [[1.0, 0.333, 2.0, 1.0]]
    """
    cells = np.asarray(counts, dtype=np.float64)
    scorers = cells.sum(axis=1)
    agreed = np.sum(cells * (cells - 1), axis=1) / (scorers * (scorers - 1))
    return np.column_stack([np.ones(len(cells)), agreed, cells])


def fleiss_kappas(totals: ArrayLike) -> Floats:
    """Return Fleiss' kappa of each draw of `fleiss_parts`; NaN where one grade was given.

    Example:
        >>> fleiss_kappas(fleiss_parts([[3, 0], [0, 3], [2, 1]]).sum(axis=0)[None]).round(2)
        array([0.55])
    """
    table = np.asarray(totals, dtype=np.float64)
    grades = table[:, 2:] / table[:, 2:].sum(axis=1, keepdims=True)
    return 1 - _ratio(1 - table[:, 1] / table[:, 0], 1 - np.sum(grades**2, axis=1))


def icc_parts(ratings: ArrayLike) -> Floats:
    """Return what each example adds to the intraclass correlations: its count and moments.

    Args:
        ratings: Array (examples, scorers) without gaps.

    Example:
        >>> icc_parts([[1.0, 3.0], [3.0, 5.0]]).tolist()
        [[1.0, 4.0, 4.0, -2.0, 0.0], [1.0, 4.0, 4.0, 0.0, 2.0]]
    """
    table = np.asarray(ratings, dtype=np.float64)
    centred = table - table.mean()  # shifts change no coefficient, but keep its digits
    squares, rows = np.sum(centred**2, axis=1), centred.sum(axis=1)
    return np.column_stack([np.ones(len(table)), squares, rows**2, centred])


def absolute_iccs(totals: ArrayLike) -> Floats:
    """Return ICC(2,1), the absolute agreement of single scorers, of each draw of `icc_parts`.

    Returns:
        One value per draw; NaN where all ratings are equal.

    Source:
        Shrout and Fleiss, Intraclass correlations, 1979.

    Example:
        >>> parts = icc_parts([[9, 2, 5], [6, 1, 3], [8, 4, 6], [7, 1, 2]])
        >>> absolute_iccs(parts.sum(axis=0)[None]).round(3)
        array([0.168])
    """
    table = np.asarray(totals, dtype=np.float64)
    n, columns = table[:, 0], table[:, 3:]
    k = columns.shape[1]
    middle = columns.sum(axis=1) ** 2 / (n * k)
    rows, judges = table[:, 2] / k - middle, np.sum(columns**2, axis=1) / n - middle
    error = np.maximum(table[:, 1] - middle - rows - judges, 0) / ((n - 1) * (k - 1))
    rows, judges = rows / (n - 1), judges / (k - 1)
    scale = rows + (k - 1) * error + k * (judges - error) / n
    total = np.maximum(table[:, 1], 1e-300)
    return np.where(table[:, 1] - middle > 1e-12 * total, _ratio(rows - error, scale), np.nan)


def _shares(tables: ArrayLike) -> Floats:
    counts = np.asarray(tables, dtype=np.float64)
    shares: Floats = counts / counts.sum(axis=(1, 2), keepdims=True)
    return shares


def _ratio(above: Floats, below: Floats) -> Floats:
    usable = np.abs(below) > 1e-12
    ratio: Floats = np.divide(above, below, out=np.full(below.shape, np.nan), where=usable)
    return ratio
