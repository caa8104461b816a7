"""Sign and rank tests: evidence about who wins more often, not about the mean.

They answer another question than the mean does: a system may win more often and still lose,
because its losses are larger. Name them as what they are beside an interval of the mean.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evaltoolkit.stats.binary import mcnemar_exact, mcnemar_midp
from evaltoolkit.stats.checks import choice, fraction
from evaltoolkit.stats.convolution import sum_distribution
from evaltoolkit.stats.differences import merge_near, snap
from evaltoolkit.stats.flips import sign_flip
from evaltoolkit.stats.tails import normal_quantile, normal_tail
from evaltoolkit.stats.types import Floats

MAX_EXACT = 50
"""Non-zero differences up to which the exact rank distributions are used."""


class SignTest(NamedTuple):
    """Wins and losses, with the exact and the mid-p value of the sign test."""

    wins: int
    losses: int
    p_value: float
    p_mid: float


class Wilcoxon(NamedTuple):
    """Wilcoxon's signed-rank test.

    Attributes:
        statistic: Sum of the ranks of the positive differences.
        p_value: Two-sided.
        p_greater: One-sided, for differences above 0.
        n_used: Non-zero differences.
        method: ``exact``, ``normal``, ``monte_carlo``, ``all_ties`` or ``none``.
    """

    statistic: float
    p_value: float
    p_greater: float
    n_used: int
    method: str


class HodgesLehmann(NamedTuple):
    """The pseudomedian (median of all pairwise means) with its interval."""

    estimate: float
    low: float
    high: float


def sign_test(d: ArrayLike) -> SignTest:
    """Test whether wins and losses are equally likely, whatever their size.

    Args:
        d: Differences candidate - baseline; ties are left out.

    Returns:
        Counts and two-sided p-values (1 where all are ties).

    Raises:
        EvalToolkitError: A difference is not finite.

    Source:
        Arbuthnot, An argument for divine providence, 1710.

    Example:
        >>> sign_test([1, 2, 0, 3, -1])
        SignTest(wins=3, losses=1, p_value=0.625, p_mid=0.375)
    """
    values = snap(d)
    wins, losses = int(np.count_nonzero(values > 0)), int(np.count_nonzero(values < 0))
    return SignTest(wins, losses, mcnemar_exact(wins, losses), mcnemar_midp(wins, losses))


def signed_ranks(d: ArrayLike, *, zeros: str = "pratt") -> Floats:
    """Rank the differences by size and give each rank the sign of its difference.

    Differences that agree but for rounding share their mean rank.

    Args:
        d: Differences candidate - baseline.
        zeros: ``pratt`` ranks ties first and then leaves them out, ``wilcox`` leaves them out
            before ranking.

    Returns:
        Signed ranks of the non-zero differences.

    Example:
        >>> signed_ranks([0.3, -0.1, 0.0])
        array([ 3., -2.])
    """
    values = snap(d)
    moved = values[values != 0]
    sizes = merge_near(np.abs(moved))
    _, group, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks = (last - (counts - 1) / 2)[group]
    ranks += values.size - moved.size if zeros == "pratt" else 0
    signed: Floats = np.sign(moved) * ranks
    return signed


def wilcoxon(
    d: ArrayLike, *, zeros: str = "pratt", exact: bool | None = None, continuity: bool = False
) -> Wilcoxon:
    """Test whether differences are symmetric about 0 with Wilcoxon's signed ranks.

    The exact distribution is that of the ranks at hand, so ties do not spoil it.

    Args:
        d: Differences candidate - baseline.
        zeros: ``pratt`` ranks ties first and then leaves them out, ``wilcox`` leaves them out
            before ranking.
        exact: Use the exact distribution; by default up to 50 non-zero differences.
        continuity: Continuity correction of the normal approximation.

    Returns:
        The test; p = 1 where all are ties, NaN without differences.

    Raises:
        EvalToolkitError: A difference is not finite or `zeros` is unknown.

    Source:
        Wilcoxon, Individual comparisons by ranking methods, 1945; Pratt, Remarks on zeros and
        ties in the Wilcoxon signed rank procedures, 1959.

    Example:
        >>> wilcoxon([1, 2, 3, 4, 5])
        Wilcoxon(statistic=15.0, p_value=0.0625, p_greater=0.03125, n_used=5, method='exact')
    """
    choice(zeros, ["pratt", "wilcox"], name="zeros")
    ranks = signed_ranks(d, zeros=zeros)
    if not ranks.size:
        empty = np.size(np.asarray(d)) == 0
        p = math.nan if empty else 1.0
        return Wilcoxon(0.0, p, p, 0, "none" if empty else "all_ties")
    positive = float(ranks[ranks > 0].sum())
    if ranks.size <= MAX_EXACT if exact is None else exact:
        p_value, p_greater, method = _flipped_p(ranks)
    else:
        p_value, p_greater = _normal_p(ranks, 0.5 if continuity else 0.0)
        method = "normal"
    return Wilcoxon(positive, p_value, p_greater, ranks.size, method)


def hodges_lehmann(d: ArrayLike, *, level: float = 0.95) -> HodgesLehmann:
    """Estimate the pseudomedian of the differences, with the interval of Wilcoxon's test.

    Args:
        d: Differences candidate - baseline.
        level: Confidence level between 0 and 1.

    Returns:
        Estimate and interval; the interval is NaN where there are too few differences for
        the level (fewer than six at 95 %).

    Raises:
        EvalToolkitError: A difference is not finite or `level` is not between 0 and 1.

    Source:
        Hodges and Lehmann, Estimates of location based on rank tests, 1963.

    Example:
        >>> hodges_lehmann([1, 2, 3, 4, 5, 6])
        HodgesLehmann(estimate=3.5, low=1.0, high=6.0)
    """
    values = np.sort(snap(d))
    alpha = 1 - fraction(level, name="level")
    n, pairs = values.size, values.size * (values.size + 1) // 2
    if n == 0:
        return HodgesLehmann(math.nan, math.nan, math.nan)
    middle = _walsh(values, (pairs + 1) // 2), _walsh(values, pairs // 2 + 1)
    if 2.0 ** (1 - n) > alpha:
        return HodgesLehmann(sum(middle) / 2, math.nan, math.nan)
    first = _lower_rank(n, alpha)
    return HodgesLehmann(sum(middle) / 2, _walsh(values, first), _walsh(values, pairs - first + 1))


def _flipped_p(ranks: Floats) -> tuple[float, float, str]:
    """Flip the signs of the ranks: exact, unless asked for so many that only draws remain."""
    test = sign_flip(ranks, mid_p=False)
    below = test.greater / 2 / test.total
    p_greater = below + test.equal / 2 / test.total if ranks.sum() > 0 else 1 - below
    return test.p_value, p_greater, "exact" if test.method.startswith("exact") else test.method


def _normal_p(ranks: Floats, correction: float) -> tuple[float, float]:
    excess, sd = float(ranks.sum()) / 2, math.sqrt(float(ranks @ ranks)) / 2
    two_sided = 2 * normal_tail(max(abs(excess) - correction, 0.0) / sd)
    return min(1.0, two_sided), normal_tail((excess - correction) / sd)


def _lower_rank(n: int, alpha: float) -> int:
    """Return which Walsh average, counted from below, is the lower end of the interval."""
    if n <= MAX_EXACT:
        below = np.cumsum(sum_distribution(np.arange(1, n + 1)))
        return max(1, int(np.searchsorted(below, alpha / 2, side="left")))
    centre = n * (n + 1) / 4
    spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    return max(1, round(centre - normal_quantile(1 - alpha / 2) * spread))


def _walsh(ascending: Floats, rank: int) -> float:
    """Return the Walsh average (mean of two values) of the given rank, by bisection.

    Counting how many averages lie below a bound takes one sorted search, so that the n²/2
    averages are never stored.
    """
    low, high = float(ascending[0]), float(ascending[-1])
    tiny = 1e-14 * max(abs(low), abs(high))
    if _averages_up_to(ascending, low + tiny) >= rank:
        return low
    while high - low > tiny:
        middle = (low + high) / 2
        if _averages_up_to(ascending, middle + tiny) >= rank:
            high = middle
        else:
            low = middle
    return _nearest_average(ascending, high)


def _averages_up_to(ascending: Floats, bound: float) -> int:
    partners = np.searchsorted(ascending, 2 * bound - ascending, side="right")
    return int(np.sum(np.maximum(partners - np.arange(ascending.size), 0)))


def _nearest_average(ascending: Floats, value: float) -> float:
    """Undo the rounding of the bisection: return the true average next to the value."""
    index = np.searchsorted(ascending, 2 * value - ascending)
    index = np.clip(np.stack([index - 1, index]), 0, ascending.size - 1)
    averages = ((ascending + ascending[index]) / 2).ravel()
    return float(averages[np.argmin(np.abs(averages - value))])
