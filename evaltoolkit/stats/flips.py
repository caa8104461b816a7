"""Sign-flip (randomisation) tests of a mean difference.

If swapping the two systems on an example changes nothing but the sign of its difference, every
pattern of signs was equally likely. The p-value is the share of patterns whose mean is at least
as far from 0 as the one observed.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evaltoolkit.stats.checks import cluster_codes, finite_vector
from evaltoolkit.stats.convolution import Wholes, cost, sum_distribution
from evaltoolkit.stats.differences import lattice_step, snap
from evaltoolkit.stats.signs import all_sums, random_sums
from evaltoolkit.stats.studentised import Studentised
from evaltoolkit.stats.types import Floats

RTOL = 1e-9
"""Statistics that differ by less, relatively, count as equal."""

MAX_ADDITIONS = 200_000_000
"""The exact convolution is given up for larger data."""

MAX_ENUMERATED = 20
"""Non-zero differences, off the lattice, whose patterns are all enumerated."""

MAX_CLUSTERS = 16
"""Clusters whose patterns are all enumerated."""

ENOUGH_EXTREMES = 10
"""Monte Carlo is extended while fewer arrangements than this reach the observed statistic."""

_EXACT_COUNTS = 52

Counts = tuple[int, int, int]


class FlipTest(NamedTuple):
    """The outcome of a sign-flip test.

    Attributes:
        p_value: Two-sided; NaN without data.
        greater: Arrangements strictly more extreme than the observed one.
        equal: Arrangements as extreme as the observed one (within a relative 1e-9).
        total: All arrangements looked at. Exact methods count the signs of the non-zero
            differences; where there are more than 2**52 such patterns `total` is 1 and
            `greater` and `equal` are probabilities. Monte Carlo counts random draws.
        method: ``exact_convolution``, ``exact_enumeration``, ``monte_carlo``, ``all_ties`` or
            ``none``.
    """

    p_value: float
    greater: float
    equal: float
    total: float
    method: str


def sign_flip(
    d: ArrayLike,
    *,
    mid_p: bool = True,
    draws: int = 10_000,
    max_draws: int | None = None,
    seed: int = 0,
) -> FlipTest:
    """Test a mean difference of 0 by flipping the signs of the differences.

    Exact where that is affordable: by convolution for differences on a lattice (0/1, ratings,
    means over trials), by enumeration for up to 20 non-zero differences; else by random flips,
    where the observed arrangement counts as one draw. On 0/1 scores the mid-p version is
    McNemar's mid-p test.

    Args:
        d: Differences candidate - baseline, one per example.
        mid_p: Count arrangements equal to the observed one by half. The plain p-value is valid
            in every case but far too careful where ties abound.
        draws: Random flips when no exact way is open.
        max_draws: Let random flips grow tenfold at a time up to this number while fewer than
            ten of them reach the observed mean, so that very small p-values are resolved.
        seed: Seed of the random flips.

    Returns:
        The test. All ties give p = 1; no difference at all gives NaN.

    Raises:
        EvalToolkitError: A difference is not finite.

    Source:
        Fisher, The design of experiments, 1935, section 21; Phipson and Smyth, Permutation
        p-values should never be zero, 2010.

    Example:
        >>> darwin = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
        >>> sign_flip(darwin, mid_p=False)[1:4]
        (1670, 56, 32768)
        >>> sign_flip([1] * 10).p_value
        0.0009765625
    """
    values = snap(finite_vector(d), rtol=RTOL)
    moved = values[values != 0]
    if not moved.size:
        return _without_flips(values.size)
    multiples = _multiples(moved)
    if multiples is not None:
        return _convolved(multiples, mid_p=mid_p)
    size, noise = abs(float(moved.sum())), RTOL * float(np.abs(moved).sum())
    band = (size - noise, size + noise)
    column = moved[:, None]
    if moved.size <= MAX_ENUMERATED:
        return _enumerated(_tally(map(np.abs, all_sums(column)), band), mid_p=mid_p)
    rng = np.random.default_rng(seed)
    return _sampled(
        lambda extra: _tally(map(np.abs, random_sums(column, extra, rng)), band),
        mid_p=mid_p,
        draws=draws,
        limit=max_draws or draws,
    )


def cluster_flip(
    d: ArrayLike,
    clusters: Iterable[Hashable],
    *,
    mid_p: bool = True,
    draws: int = 10_000,
    max_draws: int | None = None,
    seed: int = 0,
) -> FlipTest:
    """Test a mean difference of 0 by flipping whole clusters.

    The statistic is the mean over its CR2 standard error, computed anew for every flip.

    Args:
        d: Differences candidate - baseline, one per item.
        clusters: The id of each item's cluster.
        mid_p: Count arrangements equal to the observed one by half.
        draws: Random flips when there are more than 16 clusters.
        max_draws: Upper limit for extending the random flips, as in `sign_flip`.
        seed: Seed of the random flips.

    Returns:
        The test; p is NaN with fewer than two clusters. With few clusters there are few
        arrangements: G clusters cannot give less than ``2**-G`` (mid-p).

    Raises:
        EvalToolkitError: A difference is not finite or a cluster id is missing.

    Source:
        Cameron, Gelbach and Miller, Bootstrap-based improvements for inference with clustered
        errors, 2008; Canay, Romano and Shaikh, Randomization tests under an approximate
        symmetry assumption, 2017.

    Example:
        >>> cluster_flip([1, 2, 1, 0, 2, 1], ["a", "a", "b", "c", "c", "d"]).p_value
        0.0625
    """
    values = snap(finite_vector(d), rtol=RTOL)
    codes = cluster_codes(clusters, values.size)
    sizes = np.bincount(codes)[:, None].astype(np.float64)
    if len(sizes) < 2:
        return FlipTest(math.nan, 0, 0, 0, "none")
    largest = float(np.max(np.abs(values)))
    sums = snap(np.bincount(codes, weights=values), scale=largest, rtol=RTOL)
    studentised = Studentised(sums[:, None], sizes)
    if not studentised.moves.any():
        return _without_flips(values.size)
    size = float(studentised.observed()[0])
    band = (size * (1 - RTOL), size * (1 + RTOL))
    if studentised.moves.sum() <= MAX_CLUSTERS:
        return _enumerated(_tally(studentised.all_flips(), band), mid_p=mid_p)
    rng = np.random.default_rng(seed)
    return _sampled(
        lambda extra: _tally(studentised.random_flips(extra, rng), band),
        mid_p=mid_p,
        draws=draws,
        limit=max_draws or draws,
    )


def _without_flips(n: int) -> FlipTest:
    if n:
        return FlipTest(1.0, 0, 1, 1, "all_ties")
    return FlipTest(math.nan, 0, 0, 0, "none")


def _multiples(moved: Floats) -> Wholes | None:
    """Return the differences in lattice steps, or None where convolution is not open."""
    step = lattice_step(moved, rtol=RTOL)
    if step is None:
        return None
    multiples = np.rint(moved / step).astype(np.int64)
    return multiples if cost(np.abs(multiples)) <= MAX_ADDITIONS else None


def _convolved(multiples: Wholes, *, mid_p: bool) -> FlipTest:
    sizes = np.abs(multiples)
    chances = sum_distribution(sizes)
    upward = int(multiples[multiples > 0].sum())
    upper = max(upward, chances.size - 1 - upward)
    central = 2 * upper == chances.size - 1
    greater = 2 * float(chances[upper + 1 :].sum())
    equal = (1 if central else 2) * float(chances[upper])
    if sizes.size <= _EXACT_COUNTS:
        total = 2**sizes.size
        counts = (round(greater * total), round(equal * total), total)
        return _exact(counts, mid_p=mid_p, method="exact_convolution")
    return _exact((greater, equal, 1), mid_p=mid_p, method="exact_convolution")


def _tally(batches: Iterable[Floats], band: tuple[float, float]) -> Counts:
    """Count the statistics above the band, within it, and all."""
    greater = equal = total = 0
    for batch in batches:
        above = int(np.count_nonzero(batch > band[1]))
        greater += above
        equal += int(np.count_nonzero(batch >= band[0])) - above
        total += len(batch)
    return greater, equal, total


def _enumerated(half: Counts, *, mid_p: bool) -> FlipTest:
    """Count each pattern twice, for its mirror image has the same size."""
    greater, equal, total = half
    counts = (2 * greater, 2 * equal, 2 * total)
    return _exact(counts, mid_p=mid_p, method="exact_enumeration")


def _exact(counts: tuple[float, float, int], *, mid_p: bool, method: str) -> FlipTest:
    greater, equal, total = counts
    p_value = (greater + (equal / 2 if mid_p else equal)) / total
    # A tail below the smallest float is still not impossible.
    p_value = min(1.0, max(p_value, sys.float_info.min))
    return FlipTest(p_value, greater, equal, total, method)


def _sampled(run: Callable[[int], Counts], *, mid_p: bool, draws: int, limit: int) -> FlipTest:
    greater, equal, total = run(draws)
    while greater + equal < ENOUGH_EXTREMES and total < limit:
        more = run(min(9 * total, limit - total))
        greater, equal, total = greater + more[0], equal + more[1], total + more[2]
    extreme = greater + (equal / 2 if mid_p else equal)
    return FlipTest((1 + extreme) / (total + 1), greater, equal, total, "monte_carlo")
