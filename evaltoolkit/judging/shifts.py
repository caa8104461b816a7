"""A mean difference with its interval and test, by the rules that hold everywhere here."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltoolkit import stats

FEWEST_FLIPPED = 8
"""From this many clusters up whole clusters are flipped; below, p comes from CR2 t."""


class Shift(NamedTuple):
    """A mean with interval and test of 0; names say which interval and test these are."""

    mean: float
    low: float
    high: float
    interval: str
    p_value: float
    test: str
    note: str


def mean_shift(
    d: stats.Floats, blocks: NDArray[np.intp], *, level: float = 0.95, seed: int = 0
) -> Shift:
    """Estimate a mean difference and test it against 0.

    Differences that are all -1, 0 or 1 and independent get Bonett and Price's interval and
    McNemar's mid-p test; others the t interval (CR2 with blocks of several) and sign flips.

    Args:
        d: Differences.
        blocks: The example (or cluster) of each; blocks are independent of one another.
        level: Confidence level between 0 and 1.
        seed: Seed of random flips, where no exact way is open.

    Example:
        >>> shift = mean_shift(np.array([1.0, 1.0, 0.0, -1.0]), np.arange(4))
        >>> shift.mean, shift.interval, shift.test
        (0.25, 'bonett_price', 'mcnemar_midp')
    """
    if not d.size:
        return Shift(math.nan, math.nan, math.nan, "none", math.nan, "none", "nothing to compare")
    groups = int(np.unique(blocks).size)
    if groups == d.size and bool(np.isin(d, (-1.0, 0.0, 1.0)).all()):
        wins, losses = int(np.sum(d == 1)), int(np.sum(d == -1))
        ends = stats.bonett_price(wins, losses, d.size, level=level)
        p_value = stats.mcnemar_midp(wins, losses)
        return Shift(float(d.mean()), *ends, "bonett_price", p_value, "mcnemar_midp", "")
    estimate = stats.cluster_mean(d, blocks, level=level)
    usable = not math.isnan(estimate.low)
    name = ("t" if groups == d.size else "cr2_t") if usable else "none"
    note = "" if usable else _reason(groups)
    p_value, test = _tested(d, blocks, groups, estimate.p_value, seed)
    return Shift(estimate.mean, estimate.low, estimate.high, name, p_value, test, note)


def _tested(
    d: stats.Floats, blocks: NDArray[np.intp], groups: int, p_t: float, seed: int
) -> tuple[float, str]:
    if groups == d.size:
        return stats.sign_flip(d, seed=seed).p_value, "sign_flip"
    if not stats.snap(d).any():
        return 1.0, "all_ties"
    if groups >= FEWEST_FLIPPED:
        return stats.cluster_flip(d, blocks, seed=seed).p_value, "cluster_flip"
    return p_t, "none" if math.isnan(p_t) else "cr2_t"


def _reason(groups: int) -> str:
    if groups < 2:
        return "one example or cluster gives no interval"
    return "all differences are equal, so they have no interval"
