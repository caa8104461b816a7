"""Paired pass/fail scores: McNemar's tests and intervals for the difference of proportions.

Everywhere wins are the examples that only the candidate passes, losses those that only the
baseline passes, and the difference is ``(wins - losses) / n``.
"""

from __future__ import annotations

import math
import sys
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.checks import finite_vector, fraction, same_length, whole
from evaltoolkit.stats.proportions import wilson
from evaltoolkit.stats.score_interval import check_discordant, tango, tango_equivalence, tango_test
from evaltoolkit.stats.tails import normal_quantile
from evaltoolkit.stats.types import Floats, Interval, Significance

__all__ = [
    "Intervals",
    "PairedCounts",
    "agresti_min",
    "bonett_price",
    "mcnemar_exact",
    "mcnemar_midp",
    "mcnemar_score",
    "newcombe",
    "paired_counts",
    "tango",
    "tango_equivalence",
    "tango_test",
    "wald_paired",
]


SMALLEST = sys.float_info.min
"""A p-value below the smallest float is still not 0."""


class PairedCounts(NamedTuple):
    """The two-by-two table of paired pass/fail scores."""

    both: int
    wins: int
    losses: int
    neither: int


class Intervals(NamedTuple):
    """The ends of many intervals."""

    low: Floats
    high: Floats


def paired_counts(baseline: ArrayLike, candidate: ArrayLike) -> PairedCounts:
    """Count the examples that both, only one, or none of the two systems passes.

    Args:
        baseline: 0/1 scores of the baseline.
        candidate: 0/1 scores of the candidate, in the same order.

    Raises:
        EvalToolkitError: A score is neither 0 nor 1 (code ``not_binary``), or lengths differ.

    Example:
        >>> paired_counts([1, 0, 0, 1], [1, 1, 1, 0])
        PairedCounts(both=1, wins=2, losses=1, neither=0)
    """
    a = _binary(baseline, name="baseline")
    b = _binary(candidate, name="candidate")
    same_length(a, b, names=("baseline", "candidate"))
    both, wins, losses = int(a @ b), int((1 - a) @ b), int(a @ (1 - b))
    return PairedCounts(both, wins, losses, a.size - both - wins - losses)


def mcnemar_exact(wins: int, losses: int) -> float:
    """Return the two-sided p-value of McNemar's exact conditional test.

    It never rejects a true hypothesis too often, and far too rarely in small samples.

    Args:
        wins: Examples that only the candidate passes.
        losses: Examples that only the baseline passes.

    Returns:
        The p-value; 1 where nothing is discordant.

    Raises:
        EvalToolkitError: A count is negative or not whole.

    Example:
        >>> mcnemar_exact(7, 1)
        0.0703125
    """
    fewer, total = _discordant(wins, losses)
    return min(1.0, max(2 * _binomial_cdf(fewer, total), SMALLEST))


def mcnemar_midp(wins: int, losses: int) -> float:
    """Return the two-sided mid-p value of McNemar's test: the default for pass/fail pairs.

    Args:
        wins: Examples that only the candidate passes.
        losses: Examples that only the baseline passes.

    Returns:
        The p-value; 1 where nothing is discordant.

    Raises:
        EvalToolkitError: A count is negative or not whole.

    Source:
        Fagerland, Lydersen and Laake, The McNemar test for binary matched-pairs data, 2013.

    Example:
        >>> round(mcnemar_midp(7, 1), 7)
        0.0390625
    """
    fewer, total = _discordant(wins, losses)
    if total == 0:
        return 1.0
    below = 2 * _binomial_cdf(fewer - 1, total) if fewer else 0.0
    point = _binomial_cdf(fewer, total) - (below / 2)
    return 1 - point / 2 if 2 * fewer == total else max(below + point, SMALLEST)


def mcnemar_score(wins: int, losses: int, *, continuity: bool = False) -> Significance:
    """Return McNemar's chi-square test.

    Args:
        wins: Examples that only the candidate passes.
        losses: Examples that only the baseline passes.
        continuity: Apply Edwards' continuity correction, to replicate published numbers; it
            makes the test needlessly weak.

    Returns:
        Chi-square with one degree of freedom, and its p-value (1 where nothing is discordant).

    Raises:
        EvalToolkitError: A count is negative or not whole.

    Source:
        McNemar, Note on the sampling error of the difference between correlated proportions,
        1947.

    Example:
        >>> [round(part, 4) for part in mcnemar_score(7, 1)]
        [4.5, 0.0339]
    """
    from scipy import special

    fewer, total = _discordant(wins, losses)
    if total == 0:
        return Significance(0.0, 1.0)
    distance = max(total - 2 * fewer - (1 if continuity else 0), 0)
    statistic = distance**2 / total
    return Significance(statistic, float(special.chdtrc(1, statistic)))


@overload
def bonett_price(wins: int, losses: int, n: int, *, level: float = 0.95) -> Interval: ...
@overload
def bonett_price(wins: Floats, losses: Floats, n: Floats, *, level: float = 0.95) -> Intervals: ...
def bonett_price(
    wins: ArrayLike, losses: ArrayLike, n: ArrayLike, *, level: float = 0.95
) -> Interval | Intervals:
    """Return Bonett and Price's adjusted Wald interval: the default for pass/fail pairs.

    Args:
        wins: Examples that only the candidate passes; a number, or an array of many tables.
        losses: Examples that only the baseline passes.
        n: All examples.
        level: Confidence level between 0 and 1.

    Returns:
        The interval, or arrays of both ends where arrays came; NaN where n is 0.

    Raises:
        EvalToolkitError: `level` is not between 0 and 1, or counts are impossible.

    Source:
        Bonett and Price, Adjusted Wald confidence interval for a difference of binomial
        proportions based on paired data, 2012.

    Example:
        >>> [round(end, 4) for end in bonett_price(7, 1, 21)]
        [0.0134, 0.5084]
        >>> bonett_price(np.array([0, 7]), np.array([0, 1]), np.array([20, 21])).low.round(3)
        array([-0.126,  0.013])
    """
    ends = _adjusted_wald(wins, losses, n, level=level, added=1.0)
    return Interval(float(ends.low), float(ends.high)) if ends.low.ndim == 0 else ends


def agresti_min(wins: int, losses: int, n: int, *, level: float = 0.95) -> Interval:
    """Return Agresti and Min's interval: Wald after adding 1/2 to each of the four cells.

    Args:
        wins: Examples that only the candidate passes.
        losses: Examples that only the baseline passes.
        n: All examples.
        level: Confidence level between 0 and 1.

    Source:
        Agresti and Min, Simple improved confidence intervals for comparing matched
        proportions, 2005.

    Example:
        >>> [round(end, 4) for end in agresti_min(7, 1, 21)]
        [0.0285, 0.4932]
    """
    ends = _adjusted_wald(wins, losses, n, level=level, added=0.5)
    return Interval(float(ends.low), float(ends.high))


def wald_paired(wins: int, losses: int, n: int, *, level: float = 0.95) -> Interval:
    """Return the unadjusted Wald interval, only to replicate published numbers.

    It is too short in small samples and has no width where nothing is discordant.

    Args:
        wins: Examples that only the candidate passes.
        losses: Examples that only the baseline passes.
        n: All examples.
        level: Confidence level between 0 and 1.

    Example:
        >>> [round(end, 4) for end in wald_paired(7, 1, 21)]
        [0.0517, 0.5197]
    """
    ends = _adjusted_wald(wins, losses, n, level=level, added=0.0)
    return Interval(float(ends.low), float(ends.high))


def newcombe(both: int, wins: int, losses: int, neither: int, *, level: float = 0.95) -> Interval:
    """Return Newcombe's square-and-add interval (his method 10).

    Args:
        both: Examples that both systems pass.
        wins: Examples that only the candidate passes.
        losses: Examples that only the baseline passes.
        neither: Examples that both systems fail.
        level: Confidence level between 0 and 1.

    Returns:
        The interval; NaN without examples.

    Source:
        Newcombe, Improved confidence intervals for the difference between binomial
        proportions based on paired data, 1998.

    Example:
        >>> [round(end, 4) for end in newcombe(1, 7, 1, 12)]
        [0.0256, 0.5069]
    """
    n = sum(whole(count, name="count") for count in (both, wins, losses, neither))
    fraction(level, name="level")
    if n == 0:
        return Interval(math.nan, math.nan)
    p, q = (both + wins) / n, (both + losses) / n
    candidate, baseline = wilson(both + wins, n, level=level), wilson(both + losses, n, level=level)
    phi = _newcombe_phi(both, wins, losses, neither)
    down = _square_and_add(p - candidate.low, baseline.high - q, phi)
    up = _square_and_add(candidate.high - p, q - baseline.low, phi)
    return Interval(max(-1.0, p - q - down), min(1.0, p - q + up))


def _binary(scores: ArrayLike, *, name: str) -> Floats:
    values = finite_vector(scores, name=name)
    other = np.flatnonzero((values != 0) & (values != 1))
    if other.size:
        first = int(other[0])
        raise EvalToolkitError(
            f"{name}[{first}] is {values[first]:g}; pass/fail scores are 0 or 1 "
            f"({other.size} value(s) are neither)",
            code="not_binary",
            path=f"{name}[{first}]",
            value=float(values[first]),
        )
    return values


def _discordant(wins: int, losses: int) -> tuple[int, int]:
    wins, losses = whole(wins, name="wins"), whole(losses, name="losses")
    return min(wins, losses), wins + losses


def _binomial_cdf(k: int, n: int) -> float:
    from scipy import special

    return float(special.bdtr(k, n, 0.5))


def _adjusted_wald(
    wins: ArrayLike, losses: ArrayLike, n: ArrayLike, *, level: float, added: float
) -> Intervals:
    """Add a constant to both discordant cells (and to the two others together twice)."""
    z = normal_quantile((1 + fraction(level, name="level")) / 2)
    b, c, size = (np.asarray(x, dtype=np.float64) for x in (wins, losses, n))
    if not (b.ndim or c.ndim or size.ndim):
        check_discordant(int(b), int(c), int(size))
    # Bonett and Price add only the two discordant pseudo-examples, Agresti and Min all four.
    total = np.where(size > 0, size + (2.0 if added else 0.0), np.nan)
    up, down = (b + added) / total, (c + added) / total
    half = z * np.sqrt((up + down - (up - down) ** 2) / total)
    return Intervals(np.maximum(up - down - half, -1.0), np.minimum(up - down + half, 1.0))


def _newcombe_phi(both: int, wins: int, losses: int, neither: int) -> float:
    margins = (both + wins) * (losses + neither) * (both + losses) * (wins + neither)
    if margins == 0:
        return 0.0
    excess = float(both * neither - wins * losses)
    if excess > 0:
        excess = max(excess - (both + wins + losses + neither) / 2, 0.0)
    return excess / math.sqrt(margins)


def _square_and_add(first: float, second: float, phi: float) -> float:
    return math.sqrt(max(first**2 - 2 * phi * first * second + second**2, 0.0))
