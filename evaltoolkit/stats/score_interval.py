"""Tango's score interval and tests for a difference of paired proportions.

The difference is ``(wins - losses) / n``: wins are examples that only the candidate passes,
losses those that only the baseline passes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.checks import fraction, whole
from evaltoolkit.stats.tails import normal_quantile, normal_tail
from evaltoolkit.stats.types import Interval, Significance

_EDGE = 1e-12


class Equivalence(NamedTuple):
    """Two one-sided tests: each side's p-value, and the larger of them."""

    p_low: float
    p_high: float
    p_value: float


def tango_score(wins: int, losses: int, n: int, difference: float) -> float:
    """Return the score statistic for a true difference of paired proportions.

    Args:
        wins: Examples that only the candidate passes.
        losses: Examples that only the baseline passes.
        n: All examples.
        difference: The difference under the null hypothesis, strictly between -1 and 1.

    Source:
        Tango, Equivalence test and confidence interval for the difference in proportions for
        the paired-sample design, 1998.

    Example:
        >>> round(tango_score(0, 1, 44, -0.1), 3)
        1.709
    """
    a = 2 * n
    b = -wins - losses + (2 * n - wins + losses) * difference
    c = -losses * difference * (1 - difference)
    only_baseline = (math.sqrt(max(b * b - 4 * a * c, 0.0)) - b) / (2 * a)
    variance = n * (2 * only_baseline + difference * (1 - difference))
    excess = wins - losses - n * difference
    if variance <= 0:
        return math.copysign(math.inf, excess) if abs(excess) > _EDGE * n else 0.0
    return excess / math.sqrt(variance)


def tango(wins: int, losses: int, n: int, *, level: float = 0.95) -> Interval:
    """Invert Tango's score test into an interval for the difference of paired proportions.

    Args:
        wins: Examples that only the candidate passes.
        losses: Examples that only the baseline passes.
        n: All examples, with those on which both agree.
        level: Confidence level between 0 and 1.

    Returns:
        The interval; NaN without examples. It never has zero width.

    Raises:
        EvalToolkitError: A count is negative, or there are more discordant examples than n.

    Source:
        Tango, 1998.

    Example:
        >>> [round(end, 4) for end in tango(7, 1, 21)]
        [0.026, 0.5172]
        >>> [round(end, 4) for end in tango(0, 0, 20)]
        [-0.1611, 0.1611]
    """
    check_discordant(wins, losses, n)
    z = normal_quantile((1 + fraction(level, name="level")) / 2)
    if n == 0:
        return Interval(math.nan, math.nan)
    estimate = (wins - losses) / n

    def distance(difference: float) -> float:
        return tango_score(wins, losses, n, difference)

    low = -1.0 if losses == n else _root(lambda x: distance(x) - z, -1 + _EDGE, estimate)
    high = 1.0 if wins == n else _root(lambda x: distance(x) + z, estimate, 1 - _EDGE)
    return Interval(low, high)


def tango_test(wins: int, losses: int, n: int, *, margin: float) -> Significance:
    """Test whether the candidate's proportion is worse by the margin or more.

    Args:
        wins: Examples that only the candidate passes.
        losses: Examples that only the baseline passes.
        n: All examples.
        margin: The loss that would matter, between 0 and 1.

    Returns:
        Score statistic and one-sided p-value for "difference <= -margin": a small p-value
        shows non-inferiority. NaN without examples.

    Raises:
        EvalToolkitError: A count or the margin is out of range.

    Source:
        Tango, 1998.

    Example:
        >>> [round(part, 4) for part in tango_test(0, 1, 44, margin=0.1)]
        [1.7086, 0.0438]
    """
    check_discordant(wins, losses, n)
    fraction(margin, name="margin")
    if n == 0:
        return Significance(math.nan, math.nan)
    z = tango_score(wins, losses, n, -margin)
    return Significance(z, normal_tail(z))


def tango_equivalence(wins: int, losses: int, n: int, *, margin: float) -> Equivalence:
    """Test whether two paired proportions differ by less than the margin.

    Args:
        wins: Examples that only the candidate passes.
        losses: Examples that only the baseline passes.
        n: All examples.
        margin: The difference, either way, that would matter; between 0 and 1.

    Returns:
        One-sided p-values against "difference <= -margin" and "difference >= margin", and the
        larger of the two, which is that of equivalence.

    Raises:
        EvalToolkitError: A count or the margin is out of range.

    Example:
        >>> tango_equivalence(2, 3, 200, margin=0.05).p_value < 0.05
        True
    """
    low = tango_test(wins, losses, n, margin=margin).p_value
    high = tango_test(losses, wins, n, margin=margin).p_value
    return Equivalence(low, high, max(low, high))


def check_discordant(wins: int, losses: int, n: int) -> None:
    """Refuse negative counts, and more discordant examples than there are examples.

    Raises:
        EvalToolkitError: The counts are impossible (code ``bad_count``).
    """
    whole(wins, name="wins")
    whole(losses, name="losses")
    whole(n, name="n")
    if wins + losses > n:
        raise EvalToolkitError(
            f"{wins} wins and {losses} losses make more than n = {n} examples; n counts all "
            "examples, ties included",
            code="bad_count",
            path="n",
            value=n,
        )


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    from scipy import optimize

    return float(optimize.brentq(function, low, high, xtol=1e-12))
