"""Two groups of different examples: means and proportions without pairs."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from evaltoolkit.stats.checks import finite_vector
from evaltoolkit.stats.paired import mean_estimate
from evaltoolkit.stats.proportions import wilson
from evaltoolkit.stats.types import Interval, MeanEstimate, Significance


def welch(baseline: ArrayLike, candidate: ArrayLike, *, level: float = 0.95) -> MeanEstimate:
    """Estimate a difference of two means without pairs, by Welch's unequal-variance t.

    Args:
        baseline: Scores of the baseline, one per example.
        candidate: Scores of the candidate on other examples.
        level: Level of the interval.

    Returns:
        The difference candidate - baseline; interval and p are NaN where a group has fewer than
        two values or neither group varies.

    Raises:
        EvalToolkitError: A score is not finite.

    Source:
        Welch, The generalization of Student's problem when several different population
        variances are involved, 1947.

    Example:
        >>> estimate = welch([1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 6.0, 8.0, 10.0])
        >>> round(estimate.mean, 3), round(estimate.df, 3)
        (3.5, 5.521)
    """
    a = finite_vector(baseline, name="baseline")
    b = finite_vector(candidate, name="candidate")
    n = int(a.size + b.size)
    if not (a.size and b.size):
        nan = math.nan
        return MeanEstimate(nan, nan, nan, nan, nan, nan, nan, n, n)
    mean = float(b.mean() - a.mean())
    if a.size < 2 or b.size < 2:
        return mean_estimate(mean, math.nan, math.nan, n=n, n_units=n, level=level)
    parts = np.array([a.var(ddof=1) / a.size, b.var(ddof=1) / b.size])
    total = float(parts.sum())
    if total == 0:
        return mean_estimate(mean, 0.0, math.nan, n=n, n_units=n, level=level)
    df = total**2 / float(np.sum(parts**2 / (np.array([a.size, b.size]) - 1)))
    return mean_estimate(mean, math.sqrt(total), df, n=n, n_units=n, level=level)


def newcombe_unpaired(
    x_baseline: int, n_baseline: int, x_candidate: int, n_candidate: int, *, level: float = 0.95
) -> Interval:
    """Interval for a difference of two independent proportions, from their Wilson limits.

    Args:
        x_baseline: Successes of the baseline.
        n_baseline: Examples of the baseline.
        x_candidate: Successes of the candidate.
        n_candidate: Examples of the candidate.
        level: Level of the interval.

    Returns:
        The interval for candidate - baseline; NaN where a group is empty.

    Raises:
        EvalToolkitError: A count is negative or larger than its n.

    Source:
        Newcombe, Interval estimation for the difference between independent proportions, 1998,
        method 10.

    Example:
        >>> low, high = newcombe_unpaired(48, 80, 56, 70)
        >>> round(low, 4), round(high, 4)
        (0.0524, 0.3339)
    """
    first = wilson(x_baseline, n_baseline, level=level)
    second = wilson(x_candidate, n_candidate, level=level)
    if not (n_baseline and n_candidate):
        return Interval(math.nan, math.nan)
    p, q = x_baseline / n_baseline, x_candidate / n_candidate
    below = math.hypot(q - second.low, first.high - p)
    above = math.hypot(second.high - q, p - first.low)
    return Interval(q - p - below, q - p + above)


def proportions_score_test(
    x_baseline: int, n_baseline: int, x_candidate: int, n_candidate: int
) -> Significance:
    """Test that two independent proportions are equal, by the score (pooled z) test.

    Returns:
        z and the two-sided p; p is 1 where both proportions are 0 or both are 1, and NaN where
        a group is empty.

    Source:
        Agresti, Categorical data analysis, 2013, section 3.2.

    Example:
        >>> round(proportions_score_test(48, 80, 56, 70).p_value, 4)
        0.008
    """
    if not (n_baseline and n_candidate):
        return Significance(math.nan, math.nan)
    pooled = (x_baseline + x_candidate) / (n_baseline + n_candidate)
    variance = pooled * (1 - pooled) * (1 / n_baseline + 1 / n_candidate)
    if variance == 0:
        return Significance(0.0, 1.0)
    z = (x_candidate / n_candidate - x_baseline / n_baseline) / math.sqrt(variance)
    return Significance(z, math.erfc(abs(z) / math.sqrt(2)))
