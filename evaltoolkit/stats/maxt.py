"""Joint tests of several criteria that were measured on the same examples.

All criteria share the signs of a flip, so the adjusted p-values know how the criteria are
correlated: twenty criteria that move together are punished less than twenty separate ones.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evaltoolkit.stats.checks import fraction
from evaltoolkit.stats.joint_samples import (
    RTOL,
    JointSample,
    correlation_root,
    joint_table,
    normal_draws,
    prepare,
)
from evaltoolkit.stats.studentised import Studentised
from evaltoolkit.stats.tails import normal_quantile, normal_scores, normal_tail
from evaltoolkit.stats.types import Floats

MAX_PATTERNS = 2**14
"""Sign patterns (without mirror images) up to which all of them are looked at."""


class MaxT(NamedTuple):
    """Joint inference for m criteria.

    Attributes:
        observed: (m,) studentised mean differences; infinite where all differences are equal,
            0 where all are ties, NaN with fewer than two units.
        p_raw: (m,) p-value of each criterion alone, from the same flips.
        p_step_down: (m,) adjusted p-values, step-down.
        p_single_step: (m,) adjusted p-values, single-step: those that match joint intervals.
        draws_used: Sign patterns (or normal draws) behind the p-values.
        exact: Whether these were all patterns.
        method: ``exact_enumeration``, ``monte_carlo``, ``normal`` or ``none``.
        critical: The ``1 - alpha`` quantile of the largest normal score.
        alpha_star: Level at which each single interval must be drawn for all of them to hold
            jointly: ``2 * (1 - Phi(critical))``, within ``[alpha / m, alpha]``.
    """

    observed: Floats
    p_raw: Floats
    p_step_down: Floats
    p_single_step: Floats
    draws_used: int
    exact: bool
    method: str
    critical: float
    alpha_star: float


class MinP(NamedTuple):
    """Step-down min-p tests of m criteria.

    Attributes:
        p_raw: (m,) share of a criterion's own flips that reach its statistic.
        p_step_down: (m,) adjusted p-values, step-down.
        draws_used: Sign patterns behind the p-values.
        exact: Whether these were all patterns.
        method: ``exact_enumeration``, ``monte_carlo`` or ``none``.
        alpha_star: Largest p-value that the smallest one of a flip falls to in at most alpha of
            the flips, within ``[alpha / m, alpha]``: the level at which each single interval
            must be drawn for all of them to hold jointly.
    """

    p_raw: Floats
    p_step_down: Floats
    draws_used: int
    exact: bool
    method: str
    alpha_star: float


class _Flips(NamedTuple):
    """Batches of |t| (patterns, m) of the active criteria, and what kind of patterns."""

    batches: Iterable[Floats]
    exact: bool
    method: str


class _Reached(NamedTuple):
    """How often the draws reach the observed statistics, and the largest of each draw."""

    raw: Floats
    step_down: Floats
    single_step: Floats
    largest: Floats


def max_t(
    d: ArrayLike,
    *,
    clusters: Iterable[Hashable] | None = None,
    alpha: float = 0.05,
    draws: int = 10_000,
    seed: int = 0,
) -> MaxT:
    """Test all criteria jointly with the step-down max-t method of Westfall and Young.

    One sign per example (or cluster) is shared by all criteria. Each criterion's mean over its
    own pairs is studentised (CR2 with clusters) and mapped to a normal score through its own
    degrees of freedom, so that criteria with few pairs do not rule the maximum.

    Args:
        d: Array (examples, m) of differences candidate - baseline; NaN where the criterion has
            no pair.
        clusters: One id per example, or None.
        alpha: Level of the critical value, between 0 and 1.
        draws: Random flips when there are too many patterns to look at all.
        seed: Seed of the random flips.

    Returns:
        The tests. Criteria whose differences are all ties get p = 1 and stay out of the
        maximum; criteria with fewer than two pairs (or clusters) get NaN.

    Raises:
        EvalToolkitError: `d` is not a table or holds infinity.

    Source:
        Westfall and Young, Resampling-based multiple testing, 1993; Romano and Wolf, Exact
        and approximate stepdown methods for multiple hypothesis testing, 2005.

    Example:
        >>> d = np.array([[1, 0], [0, 1], [2, 1], [1, -1], [1, 0], [1, 2], [0, 1], [2, 1]])
        >>> max_t(d).p_step_down
        array([0.0625, 0.1875])
    """
    joint = prepare(joint_table(d), clusters)
    if not joint.active.size:
        return _untested(joint, fraction(alpha, name="alpha"))
    flips = _flips(joint.studentised, draws, np.random.default_rng(seed))
    df, observed = joint.studentised.df, joint.studentised.observed()
    if np.all(df == df[0]):
        # One distribution for all: t itself orders as the normal scores do, at less cost.
        reached = _compare(observed, flips.batches)
        reached = reached._replace(largest=normal_scores(reached.largest, df[0]))
    else:
        scores = (normal_scores(batch, df) for batch in flips.batches)
        reached = _compare(normal_scores(observed, df), scores)
    return _result(joint, reached, flips, alpha=alpha)


def max_normal(
    d: ArrayLike,
    *,
    clusters: Iterable[Hashable] | None = None,
    alpha: float = 0.05,
    draws: int = 100_000,
    seed: int = 0,
) -> MaxT:
    """Test all criteria jointly, with normal draws in place of sign flips, for large samples.

    The draws have the correlation matrix of the estimates, each on its own pairs, with sums
    over clusters where clusters are given.

    Args:
        d: Array (examples, m) of differences; NaN where the criterion has no pair.
        clusters: One id per example, or None.
        alpha: Level of the critical value, between 0 and 1.
        draws: Number of normal draws.
        seed: Seed of the draws.

    Returns:
        As `max_t`; `p_raw` comes from the draws as well.

    Raises:
        EvalToolkitError: `d` is not a table or holds infinity.

    Source:
        Hothorn, Bretz and Westfall, Simultaneous inference in general parametric models, 2008.

    Example:
        >>> d = np.random.default_rng(1).normal(0.1, 1.0, size=(2000, 2))
        >>> bool(max_normal(d).p_step_down.max() < 0.05)
        True
    """
    table = joint_table(d)
    joint = prepare(table, clusters)
    if not joint.active.size:
        return _untested(joint, fraction(alpha, name="alpha"))
    root = correlation_root(table[:, joint.active], clusters)
    normal = normal_draws(root, draws, np.random.default_rng(seed))
    df = joint.studentised.df
    observed = normal_scores(joint.studentised.observed(), df)
    reached = _compare(observed, chain([observed[None, :]], map(np.abs, normal)))
    return _result(joint, reached, _Flips([], False, "normal"), alpha=alpha)


def min_p(
    d: ArrayLike,
    *,
    clusters: Iterable[Hashable] | None = None,
    alpha: float = 0.05,
    draws: int = 10_000,
    seed: int = 0,
) -> MinP:
    """Test all criteria jointly with the step-down min-p method and shared sign flips.

    Every criterion is judged by the rank of its statistic among its own flips, which balances
    criteria of any distribution; the smallest p-value is limited by the number of flips.

    Args:
        d: Array (examples, m) of differences; NaN where the criterion has no pair.
        clusters: One id per example, or None.
        alpha: Joint level behind `MinP.alpha_star`, between 0 and 1.
        draws: Random flips when there are too many patterns to look at all.
        seed: Seed of the random flips.

    Raises:
        EvalToolkitError: `d` is not a table or holds infinity.

    Source:
        Westfall and Young, Resampling-based multiple testing, 1993; Ge, Dudoit and Speed,
        Resampling-based multiple testing for microarray data analysis, 2003.

    Example:
        >>> d = np.array([[1, 0], [0, 1], [2, 1], [1, -1], [1, 0], [1, 2], [0, 1], [2, 1]])
        >>> min_p(d).p_step_down
        array([0.0625, 0.1875])
    """
    joint = prepare(joint_table(d), clusters)
    if not joint.active.size:
        return MinP(joint.p_empty, joint.p_empty, 0, False, "none", fraction(alpha, name="alpha"))
    flips = _flips(joint.studentised, draws, np.random.default_rng(seed))
    t = np.vstack([joint.studentised.observed()[None, :], *flips.batches])
    shares = np.apply_along_axis(_upper_share, 0, t)
    raw = shares[0]
    reached = _compare(-raw, [-shares[1:]])
    return MinP(
        p_raw=joint.spread(raw),
        p_step_down=joint.spread(reached.step_down),
        draws_used=len(t) - 1 - (not flips.exact),
        exact=flips.exact,
        method=flips.method,
        alpha_star=_min_p_level(-reached.largest, joint, fraction(alpha, name="alpha")),
    )


def _min_p_level(smallest: Floats, joint: JointSample, alpha: float) -> float:
    """Return the largest level that at most alpha of the flips reach with some criterion.

    P-values of flips are coarse, so a plain quantile could be reached far too often.
    """
    levels, counts = np.unique(smallest, return_counts=True)
    kept = levels[np.cumsum(counts) <= alpha * smallest.size * (1 + RTOL)]
    least = alpha / joint.n_tested
    return min(alpha, max(least, float(kept[-1]) if kept.size else least))


def _upper_share(t: Floats) -> Floats:
    """Return the share of the flips (all but the first value) that reach each value."""
    rounded = np.round(t, 9)
    ascending = np.sort(rounded[1:])
    return 1 - np.searchsorted(ascending, rounded, side="left") / ascending.size


def _flips(studentised: Studentised, draws: int, rng: np.random.Generator) -> _Flips:
    units = int(studentised.moves.sum())
    if 2 ** min(units - 1, 60) <= MAX_PATTERNS:
        return _Flips(studentised.all_flips(), True, "exact_enumeration")
    # The observed pattern is one more draw: (1 + count) / (draws + 1).
    observed = studentised.observed()[None, :]
    drawn = chain([observed], studentised.random_flips(draws, rng))
    return _Flips(drawn, False, "monte_carlo")


def _compare(observed: Floats, batches: Iterable[Floats]) -> _Reached:
    """Count the draws that reach each observed statistic: alone, stepping down, in one step.

    Stepping down, a criterion is compared with the maximum over those no stronger than it.
    """
    order = np.argsort(-observed, kind="stable")
    least = (observed * np.where(observed > 0, 1 - RTOL, 1 + RTOL))[order]
    counts = np.zeros((3, observed.size))
    largest: list[Floats] = []
    for batch in batches:
        scores = batch[:, order]
        successive = np.maximum.accumulate(scores[:, ::-1], axis=1)[:, ::-1]
        counts[0] += np.count_nonzero(scores >= least, axis=0)
        counts[1] += np.count_nonzero(successive >= least, axis=0)
        counts[2] += np.count_nonzero(successive[:, :1] >= least, axis=0)
        largest.append(successive[:, 0])
    maxima = np.concatenate(largest)
    shares = np.empty_like(counts)
    shares[:, order] = counts / maxima.size
    shares[1, order] = np.maximum.accumulate(shares[1, order])
    return _Reached(shares[0], shares[1], shares[2], maxima)


def _result(joint: JointSample, reached: _Reached, flips: _Flips, *, alpha: float) -> MaxT:
    fraction(alpha, name="alpha")
    draws = reached.largest.size
    # Rounding of (1 - alpha) * draws must not push the quantile one draw up.
    index = math.ceil((1 - alpha) * draws - 1e-9) - 1
    critical = float(np.sort(reached.largest)[index])
    return MaxT(
        observed=joint.signed,
        p_raw=joint.spread(reached.raw),
        p_step_down=joint.spread(reached.step_down),
        p_single_step=joint.spread(reached.single_step),
        draws_used=draws - (not flips.exact),
        exact=flips.exact,
        method=flips.method,
        critical=critical,
        alpha_star=_level(critical, joint, alpha=alpha),
    )


def _level(critical: float, joint: JointSample, *, alpha: float) -> float:
    return min(alpha, max(alpha / joint.n_tested, 2 * normal_tail(critical)))


def _untested(joint: JointSample, alpha: float) -> MaxT:
    """Answer where no criterion has a non-zero difference."""
    return MaxT(
        joint.signed,
        joint.p_empty,
        joint.p_empty,
        joint.p_empty,
        0,
        False,
        "none",
        normal_quantile(1 - alpha / 2),
        alpha,
    )
