"""Intervals for means of values between 0 and 1 that are no plain pass rates."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.checks import cluster_codes, finite_vector, fraction
from evaltoolkit.stats.clusters import cluster_mean
from evaltoolkit.stats.paired import paired_t
from evaltoolkit.stats.tails import normal_quantile
from evaltoolkit.stats.types import Interval

FEW = 10
"""With fewer values than this off one of the two borders the t interval is not trusted."""


class UnitMean(NamedTuple):
    """A mean of values between 0 and 1.

    Attributes:
        mean: The mean; NaN without values.
        se: Its standard error; NaN for a single unit, 0 for constant values.
        df: Degrees of freedom of the t distribution.
        low: Lower end of the interval, at least 0.
        high: Upper end, at most 1.
        interval: ``t``, ``cr2_t``, ``wilson`` or ``none``.
        n_units: Number of clusters, or of values without clusters.
    """

    mean: float
    se: float
    df: float
    low: float
    high: float
    interval: str
    n_units: int


def wilson_mean(mean: float, n: float, *, level: float = 0.95) -> Interval:
    """Return Wilson's interval for the mean of n independent values between 0 and 1.

    Such values vary at most as much as 0/1 outcomes with the same mean, so that the interval is
    too wide rather than too narrow for them.

    Args:
        mean: Mean of the values, 0 to 1.
        n: Number of values, or effective number; fractions are allowed.
        level: Confidence level between 0 and 1.

    Returns:
        The interval; NaN without values.

    Source:
        Wilson, Probable inference, the law of succession, and statistical inference, 1927.

    Example:
        >>> [round(end, 4) for end in wilson_mean(0.9, 20)]
        [0.699, 0.9721]
    """
    z = normal_quantile((1 + fraction(level, name="level")) / 2)
    if not n > 0:
        return Interval(math.nan, math.nan)
    centre = (mean + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return Interval(
        0.0 if mean <= 0 else max(centre - half, 0.0),
        1.0 if mean >= 1 else min(centre + half, 1.0),
    )


def unit_mean(
    values: ArrayLike,
    *,
    clusters: Iterable[Hashable] | None = None,
    level: float = 0.95,
) -> UnitMean:
    """Estimate the mean of values between 0 and 1 with an interval that always has a width.

    Student's t (CR2 with clusters), cut off at 0 and 1. Wilson's interval stands in where the
    outcomes are 0/1 without clusters, and where fewer than `FEW` values (or clusters) are off 0,
    or off 1: there the observed spread says too little, and the largest spread that is possible
    is assumed instead; with clusters for the number of clusters (corrected for unequal sizes), as
    if all items of a cluster were one.

    Args:
        values: Numbers from 0 to 1, one per example.
        clusters: The cluster of each example, or None.
        level: Confidence level between 0 and 1.

    Returns:
        The estimate; interval ``none`` without values.

    Raises:
        EvalToolkitError: A value is not finite or lies outside 0 to 1 (code ``out_of_range``).

    Example:
        >>> unit_mean([0.0] * 20).interval, round(unit_mean([0.0] * 20).high, 4)
        ('wilson', 0.1611)
    """
    x = finite_vector(values, name="values")
    if np.any((x < 0) | (x > 1)):
        raise EvalToolkitError(
            "values holds a number outside 0 to 1; this interval is for rates",
            code="out_of_range",
            path="values",
        )
    codes = np.arange(x.size) if clusters is None else cluster_codes(clusters, x.size)
    sizes = np.bincount(codes).astype(np.float64)
    clustered = sizes.size < x.size
    estimate = cluster_mean(x, codes, level=level) if clustered else paired_t(x, level=level)
    low, high, name = estimate.low, estimate.high, "cr2_t" if clustered else "t"
    off = min(np.unique(codes[x > 0]).size, np.unique(codes[x < 1]).size)
    outcomes = not clustered and bool(np.isin(x, (0.0, 1.0)).all())
    if x.size and (outcomes or off < FEW or math.isnan(low)):
        effective = float(x.size**2 / (sizes @ sizes))
        (low, high), name = wilson_mean(estimate.mean, effective, level=level), "wilson"
    return UnitMean(
        estimate.mean,
        estimate.se,
        estimate.df,
        max(low, 0.0) if x.size else math.nan,
        min(high, 1.0) if x.size else math.nan,
        name if x.size else "none",
        int(sizes.size),
    )
