"""Sample size and smallest visible difference of McNemar's test, by its exact power."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from evaltoolkit.stats.checks import fraction, whole
from evaltoolkit.stats.power import n_mcnemar
from evaltoolkit.stats.types import Floats

_AHEAD = 60


def mcnemar_power(
    n: int, difference: float, disagreement: float, *, mid_p: bool = True, alpha: float = 0.05
) -> float:
    """Return the exact power of McNemar's test from the difference and the disagreement.

    Critical values are kept between calls, so that searches over n or the difference are quick.

    Args:
        n: Number of examples.
        difference: Share of wins less share of losses.
        disagreement: Share of examples on which the two systems differ, at least
            ``abs(difference)``.
        mid_p: Power of the mid-p test; of the exact test otherwise.
        alpha: Level of the two-sided test, below 0.5.

    Example:
        >>> round(mcnemar_power(100, 0.05, 0.15), 4)
        0.2394
    """
    from scipy import special, stats

    whole(n, name="n")
    if n == 0 or disagreement <= 0:
        return 0.0
    share = min((disagreement + abs(difference)) / (2 * disagreement), 1.0)
    chances: Floats = stats.binom.pmf(np.arange(n + 1), n, min(disagreement, 1.0))
    m = np.flatnonzero(chances > 1e-15)
    reach = _critical(_table_size(n), alpha, mid_p)[m]
    m, reach, chances = m[reach >= 0], reach[reach >= 0], chances[m[reach >= 0]]
    # Few losses, or few wins: either end is significant.
    ends = special.bdtr(reach, m, 1 - share) + special.bdtr(reach, m, share)
    return float(chances @ ends)


def power_mcnemar(
    n: int, p_win: float, p_loss: float, *, mid_p: bool = True, alpha: float = 0.05
) -> float:
    """Return the exact power of McNemar's test, over all numbers of discordant examples.

    Args:
        n: Number of examples.
        p_win: Share of examples that only the candidate passes.
        p_loss: Share of examples that only the baseline passes.
        mid_p: Power of the mid-p test; of the exact test otherwise.
        alpha: Level of the two-sided test, below 0.5.

    Example:
        >>> round(power_mcnemar(100, 0.10, 0.05), 4)
        0.2394
    """
    return mcnemar_power(n, p_win - p_loss, p_win + p_loss, mid_p=mid_p, alpha=alpha)


def n_mcnemar_exact(
    difference: float,
    disagreement: float,
    *,
    mid_p: bool = True,
    alpha: float = 0.05,
    power: float = 0.8,
) -> int:
    """Return the number of examples from which on McNemar's test has the exact power.

    Exact power does not grow evenly with n; from the number given on it stays above `power`
    for at least the next 60 examples.

    Args:
        difference: True difference of the shares of wins and losses, not 0.
        disagreement: Share of examples on which the systems differ.
        mid_p: For the mid-p test; for the exact test otherwise.
        alpha: Level of the two-sided test, below 0.5.
        power: Probability of finding the difference.

    Source:
        Enumeration; the search starts from Connor, 1987.

    Example:
        >>> n_mcnemar_exact(0.05, 0.15)
        461
    """
    wins, losses = (disagreement + abs(difference)) / 2, (disagreement - abs(difference)) / 2
    start = math.ceil(n_mcnemar(wins, losses, alpha=alpha, power=power))

    def enough(n: int) -> bool:
        return mcnemar_power(n, difference, disagreement, mid_p=mid_p, alpha=alpha) >= power

    low, high = 1, max(start, 2)
    while not enough(high):
        low, high = high, math.ceil(1.3 * high) + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return _settled(high, enough)


def mde_mcnemar(
    n: int, disagreement: float, *, mid_p: bool = True, alpha: float = 0.05, power: float = 0.8
) -> float:
    """Return the smallest difference that McNemar's test finds with this power.

    Args:
        n: Number of examples.
        disagreement: Share of examples on which the systems differ.
        mid_p: For the mid-p test; for the exact test otherwise.
        alpha: Level of the two-sided test, below 0.5.
        power: Probability of finding the difference.

    Returns:
        The difference of shares; NaN where even the largest that the disagreement allows, all
        wins or all losses, is not found with this power.

    Example:
        >>> round(mde_mcnemar(461, 0.15), 3)
        0.05
        >>> mde_mcnemar(10, 0.15)
        nan
    """
    from scipy import optimize

    fraction(power, name="power")

    def missing(difference: float) -> float:
        return mcnemar_power(n, difference, disagreement, mid_p=mid_p, alpha=alpha) - power

    if missing(disagreement) < 0:
        return math.nan
    if missing(0.0) >= 0:
        return 0.0
    return float(optimize.brentq(missing, 0.0, disagreement, xtol=1e-9))


def _settled(n: int, enough: Callable[[int], bool]) -> int:
    """Step up until the power also holds for what follows."""
    dips = [k for k in range(n + 1, n + _AHEAD + 1) if not enough(k)]
    return max(dips) + 1 if dips else n


def _table_size(n: int) -> int:
    return 1 << max(n, 1).bit_length()


@lru_cache(maxsize=32)
def _critical(size: int, alpha: float, mid_p: bool) -> Floats:
    """For every number of discordant examples the most losses that still are significant."""
    from scipy import special

    m = np.arange(size + 1, dtype=np.float64)
    best = np.full(size + 1, -1.0)
    with np.errstate(invalid="ignore"):
        guess = np.floor(special.bdtrik(alpha / 2, m, 0.5))
    guess = np.where(np.isfinite(guess), guess, 0.0)
    for step in (-2, -1, 0, 1, 2):
        losses = guess + step
        allowed = (losses >= 0) & (2 * losses < m)
        tail = 2 * special.bdtr(np.where(allowed, losses, 0), m.astype(np.int64), 0.5)
        if mid_p:
            tail -= np.exp(_log_point(m, np.where(allowed, losses, 0)))
        best = np.where(allowed & (tail <= alpha), np.maximum(best, losses), best)
    best.flags.writeable = False
    return best


def _log_point(m: Floats, k: Floats) -> Floats:
    from scipy import special

    logs: Floats = special.gammaln(m + 1) - special.gammaln(k + 1) - special.gammaln(m - k + 1)
    return logs - m * math.log(2)
