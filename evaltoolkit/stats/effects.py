"""Effect sizes of a paired comparison. Always say which one is reported."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from evaltoolkit.stats.checks import choice, finite_vector, same_length, whole
from evaltoolkit.stats.differences import is_constant, merge_near, snap
from evaltoolkit.stats.ranks import signed_ranks
from evaltoolkit.stats.types import Floats


def d_z(d: ArrayLike) -> float:
    """Return the mean difference in standard deviations of the differences.

    Args:
        d: Differences candidate - baseline.

    Returns:
        The effect; NaN with fewer than two differences or where all are equal.

    Raises:
        EvalToolkitError: A difference is not finite.

    Source:
        Cohen, Statistical power analysis for the behavioral sciences, 1988.

    Example:
        >>> d_z([1, 2, 3])
        2.0
    """
    values = finite_vector(d)
    if values.size < 2 or is_constant(values):
        return math.nan
    return float(values.mean() / values.std(ddof=1))


def hedges_g_z(d: ArrayLike) -> float:
    """Return `d_z` without its small-sample bias.

    Args:
        d: Differences candidate - baseline.

    Returns:
        The effect; NaN with fewer than two differences or where all are equal.

    Source:
        Hedges, Distribution theory for Glass's estimator of effect size, 1981.

    Example:
        >>> round(hedges_g_z([1, 2, 3]), 4)
        1.1284
    """
    effect = d_z(d)
    if math.isnan(effect):
        return effect
    df = finite_vector(d).size - 1
    if df < 2:
        return math.nan
    log_ratio = math.lgamma(df / 2) - math.lgamma((df - 1) / 2)
    return effect * math.exp(log_ratio) * math.sqrt(2 / df)


def d_av(baseline: ArrayLike, candidate: ArrayLike) -> float:
    """Return the mean difference in standard deviations of the scores.

    Args:
        baseline: Scores of the baseline.
        candidate: Scores of the candidate, in the same order.

    Returns:
        The effect, relative to the root mean square of both standard deviations; NaN with
        fewer than two pairs or without spread.

    Example:
        >>> d_av([1, 2, 3], [2, 3, 4])
        1.0
    """
    a, b = _pair(baseline, candidate)
    if a.size < 2 or (is_constant(a) and is_constant(b)):
        return math.nan
    return float((b.mean() - a.mean()) / math.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2))


def cliffs_delta(baseline: ArrayLike, candidate: ArrayLike) -> float:
    """Return how much more often a candidate score exceeds a baseline score than the reverse.

    All scores of one system meet all of the other; the pairing is ignored.

    Args:
        baseline: Scores of the baseline.
        candidate: Scores of the candidate.

    Returns:
        Between -1 and 1; NaN without scores.

    Source:
        Cliff, Dominance statistics, 1993.

    Example:
        >>> cliffs_delta([1, 2, 3], [2, 3, 4])
        0.5555555555555556
    """
    a, b = finite_vector(baseline, name="baseline"), finite_vector(candidate, name="candidate")
    if not (a.size and b.size):
        return math.nan
    merged = merge_near(np.concatenate([a, b]))
    ordered, b = np.sort(merged[: a.size]), merged[a.size :]
    below = np.searchsorted(ordered, b, side="left").sum()
    above = (a.size - np.searchsorted(ordered, b, side="right")).sum()
    return float(below - above) / (a.size * b.size)


def rank_biserial(d: ArrayLike, *, zeros: str = "wilcox") -> float:
    """Return the paired rank-biserial correlation, the effect size of the Wilcoxon test.

    Args:
        d: Differences candidate - baseline.
        zeros: ``wilcox`` drops ties before ranking, ``pratt`` ranks them first.

    Returns:
        (Sum of positive ranks - sum of negative ranks) / sum of both; NaN without a non-zero
        difference.

    Source:
        Kerby, The simple difference formula, 2014.

    Example:
        >>> rank_biserial([3, 2, -1])
        0.6666666666666666
    """
    choice(zeros, ["wilcox", "pratt"], name="zeros")
    ranks = signed_ranks(d, zeros=zeros)
    return float(ranks.sum() / np.abs(ranks).sum()) if ranks.size else math.nan


def cohens_g(wins: int, losses: int) -> float:
    """Return the share of wins among the discordant examples, minus one half.

    Args:
        wins: Examples that only the candidate passes.
        losses: Examples that only the baseline passes.

    Returns:
        Between -0.5 and 0.5; NaN where nothing is discordant.

    Source:
        Cohen, 1988.

    Example:
        >>> cohens_g(7, 1)
        0.375
    """
    total = whole(wins, name="wins") + whole(losses, name="losses")
    return wins / total - 0.5 if total else math.nan


def prob_superiority(d: ArrayLike) -> float:
    """Return the share of pairs that the candidate wins, ties counted by half.

    Args:
        d: Differences candidate - baseline.

    Returns:
        Between 0 and 1; NaN without pairs.

    Example:
        >>> prob_superiority([1, 0, -1, 2])
        0.625
    """
    values = snap(d)
    if not values.size:
        return math.nan
    return float((np.sign(values).mean() + 1) / 2)


def _pair(baseline: ArrayLike, candidate: ArrayLike) -> tuple[Floats, Floats]:
    a, b = finite_vector(baseline, name="baseline"), finite_vector(candidate, name="candidate")
    same_length(a, b, names=("baseline", "candidate"))
    return a, b
