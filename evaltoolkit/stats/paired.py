"""The mean of paired differences: estimate, interval and parametric test."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from evaltoolkit.stats.checks import finite_vector, fraction
from evaltoolkit.stats.differences import is_constant
from evaltoolkit.stats.tails import t_quantile, t_tail
from evaltoolkit.stats.types import Floats, Interval, MeanEstimate

__all__ = ["MeanEstimate", "mean_estimate", "paired_t", "paired_z", "t_interval"]


def t_interval(mean: float, se: float, df: float, *, level: float = 0.95) -> Interval:
    """Return ``mean ± quantile · se``, or NaN where the standard error says nothing.

    Args:
        mean: The estimate.
        se: Its standard error.
        df: Degrees of freedom; fractions and infinity are allowed.
        level: Confidence level between 0 and 1.

    Example:
        >>> [round(end, 4) for end in t_interval(1.0, 0.5, float("inf"))]
        [0.02, 1.98]
        >>> t_interval(1.0, 0.0, 9)
        Interval(low=nan, high=nan)
    """
    fraction(level, name="level")
    if not (se > 0 and df > 0):
        return Interval(math.nan, math.nan)
    half = t_quantile((1 + level) / 2, df) * se
    return Interval(mean - half, mean + half)


def mean_estimate(
    mean: float, se: float, df: float, *, level: float, n: int, n_units: int
) -> MeanEstimate:
    """Complete a mean and its standard error with test and interval.

    Example:
        >>> mean_estimate(1.0, 0.5, 9, level=0.95, n=10, n_units=10).statistic
        2.0
    """
    low, high = t_interval(mean, se, df, level=level)
    usable = se > 0 and df > 0
    statistic = mean / se if usable else math.nan
    p_value = 2 * t_tail(abs(statistic), df) if usable else math.nan
    return MeanEstimate(mean, se, df, statistic, p_value, low, high, n, n_units)


def paired_t(d: ArrayLike, *, level: float = 0.95) -> MeanEstimate:
    """Estimate the mean difference with Student's t interval and test.

    Args:
        d: Differences candidate - baseline, one per example.
        level: Confidence level between 0 and 1.

    Returns:
        The estimate. Interval and p-value are NaN where all differences are equal or there
        is only one: such data say nothing about their spread.

    Raises:
        EvalToolkitError: A difference is not finite, or `level` is not between 0 and 1.

    Source:
        Student, The probable error of a mean, 1908.

    Example:
        >>> round(paired_t([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]).p_value, 6)
        0.002833
        >>> paired_t([2.0, 2.0, 2.0]).low
        nan
    """
    values = finite_vector(d)
    mean, se = _mean_and_se(values)
    n = values.size
    return mean_estimate(mean, se, float(max(n - 1, 0)), level=level, n=n, n_units=n)


def paired_z(d: ArrayLike, *, level: float = 0.95) -> MeanEstimate:
    """Estimate the mean difference with the normal interval, to replicate published numbers.

    The standard error has the divisor n - 1. At small n the interval is too short: prefer
    `paired_t`.

    Args:
        d: Differences candidate - baseline, one per example.
        level: Confidence level between 0 and 1.

    Raises:
        EvalToolkitError: A difference is not finite, or `level` is not between 0 and 1.

    Source:
        Miller, Adding error bars to evals, 2024.

    Example:
        >>> round(paired_z([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]).se, 4)
        9.7456
    """
    values = finite_vector(d)
    mean, se = _mean_and_se(values)
    n = values.size
    return mean_estimate(mean, se, math.inf, level=level, n=n, n_units=n)


def _mean_and_se(values: Floats) -> tuple[float, float]:
    if not values.size:
        return math.nan, math.nan
    mean = float(np.mean(values))
    if values.size == 1:
        return mean, math.nan
    spread = 0.0 if is_constant(values) else float(np.std(values, ddof=1))
    return mean, spread / math.sqrt(values.size)
