"""Corrections that look at all hypotheses of a family at once, on the pairs themselves."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltoolkit import stats
from evaltoolkit.comparison.estimates import FLIP_CLUSTERS, Sample
from evaltoolkit.formatting import counted

Floats = NDArray[np.float64]

NORMAL_MAXT_FROM = 20_000
"""Above this many pairs max-t uses the normal limit instead of sign flips."""


MVT_UNITS = 30
"""With fewer independent units the estimated correlations make the multivariate t too sure (a
family-wise error of 9 % was simulated for 20 criteria on 10 pairs, 5.4 % on 30)."""


@dataclass(frozen=True)
class Resampling:
    """Level of a family, and how signs are flipped or normal variables drawn."""

    alpha: float
    draws: int
    seed: int

    def at(self, alpha: float) -> Resampling:
        """Return the same at another level."""
        return Resampling(alpha, self.draws, self.seed)


class Adjusted(NamedTuple):
    """What the distinct hypotheses of a family get, one value for each.

    Attributes:
        p_adjusted: Adjusted p-values.
        corrections: The method behind each.
        alpha_star: Level at which each named interval is joint; NaN where there is none.
        method: The method of the family as a whole.
        note: Why it is another than the asked one; usually empty.
    """

    p_adjusted: Floats
    corrections: list[str]
    alpha_star: Floats
    method: str
    note: str = ""


class _Joint(NamedTuple):
    p_joint: Floats
    alpha_star: float
    used: str


class _Pairs(NamedTuple):
    """All differences side by side, with the clusters that the flips keep together."""

    matrix: Floats
    clusters: NDArray[np.int64] | None

    @property
    def large(self) -> bool:
        return len(self.matrix) > NORMAL_MAXT_FROM


def _max_t(pairs: _Pairs, how: Resampling, *, step_down: bool) -> _Joint:
    name = "maxt" if step_down else "maxt_single"
    if pairs.large:
        result = stats.max_normal(
            pairs.matrix, clusters=pairs.clusters, alpha=how.alpha, seed=how.seed
        )
        name += "_normal"
    else:
        result = stats.max_t(
            pairs.matrix,
            clusters=pairs.clusters,
            alpha=how.alpha,
            draws=how.draws,
            seed=how.seed,
        )
    p_joint = result.p_step_down if step_down else result.p_single_step
    return _Joint(p_joint, float(result.alpha_star), name)


def _min_p(pairs: _Pairs, how: Resampling) -> _Joint:
    if pairs.large:
        # In the normal limit all statistics have one distribution: min-p and max-t are the same.
        return _max_t(pairs, how, step_down=True)
    result = stats.min_p(
        pairs.matrix, clusters=pairs.clusters, alpha=how.alpha, draws=how.draws, seed=how.seed
    )
    return _Joint(result.p_step_down, float(result.alpha_star), "minp")


_FLIPPED: Mapping[str, Callable[[_Pairs, Resampling], _Joint]] = {
    "maxt": lambda pairs, how: _max_t(pairs, how, step_down=True),
    "maxt_single": lambda pairs, how: _max_t(pairs, how, step_down=False),
    "minp": _min_p,
}

JOINT_METHODS = (*_FLIPPED, "mvt")
"""Corrections that need the pairs, not only the p-values."""


def adjust_jointly(
    samples: Sequence[Sample], p_values: Floats, *, method: str, how: Resampling
) -> Adjusted:
    """Adjust distinct hypotheses by a joint method.

    With fewer than eight clusters too few sign patterns exist, so such hypotheses are left to
    Holm's method. The family is then split: each part gets its share of alpha by the number of
    its hypotheses, which is valid whatever their dependence (Bonferroni over the parts).

    Args:
        samples: The pairs of each hypothesis.
        p_values: Unadjusted p-values without NaN.
        method: One of `JOINT_METHODS`.
        how: Level, draws and seed.
    """
    if method == "mvt":
        return _multivariate_t(samples, p_values, how)
    live = np.array([bool(s.deltas.any()) for s in samples])
    if live.sum() <= 1:
        # Where nothing but ties stands beside a hypothesis, it is a family of one.
        level = np.full(len(samples), how.alpha)
        return Adjusted(p_values.copy(), [method] * len(samples), level, method)
    few = live & np.array([_has_few_clusters(s) for s in samples])
    if not few.any():
        return _flipped(samples, p_values, method=method, how=how)
    if few.sum() == live.sum():
        return _by_holm(p_values, how.alpha, f"{_FEW}: Holm instead of {_LABELS[method]}")
    return _split(samples, p_values, (method, live, few), how)


_FEW = f"fewer than {FLIP_CLUSTERS} clusters"
_LABELS = {"maxt": "max-t", "maxt_single": "single-step max-t", "minp": "min-p"}


def _has_few_clusters(sample: Sample) -> bool:
    return sample.clusters is not None and sample.n_clusters < FLIP_CLUSTERS


def _by_holm(p_values: Floats, alpha: float, note: str) -> Adjusted:
    size = len(p_values)
    adjusted = stats.adjust(p_values, method="holm", alpha=alpha)
    return Adjusted(adjusted, ["holm"] * size, np.full(size, alpha / size), "holm", note)


def _flipped(
    samples: Sequence[Sample], p_values: Floats, *, method: str, how: Resampling
) -> Adjusted:
    joint = _FLIPPED[method](side_by_side(samples), how)
    adjusted = np.fmax(p_values, joint.p_joint)
    size = len(samples)
    star = np.full(size, joint.alpha_star)
    return Adjusted(adjusted, [joint.used] * size, star, joint.used)


def _split(
    samples: Sequence[Sample],
    p_values: Floats,
    parts: tuple[str, NDArray[np.bool_], NDArray[np.bool_]],
    how: Resampling,
) -> Adjusted:
    """Adjust in two parts. All-tie hypotheses cannot be claimed and take no share of alpha."""
    method, live, few = parts
    total, k_holm = int(live.sum()), int(few.sum())
    k_flip = total - k_holm
    rest = np.flatnonzero(~few)
    level = how.alpha * k_flip / total
    if k_flip == 1:
        # A part of one needs no correction within.
        inside = Adjusted(p_values[rest], [method] * rest.size, np.full(rest.size, level), method)
    else:
        chosen = [samples[int(i)] for i in rest]
        inside = _flipped(chosen, p_values[rest], method=method, how=how.at(level))
    outside = _by_holm(p_values[few], how.alpha * k_holm / total, "")
    adjusted, star = p_values.copy(), np.full(len(samples), how.alpha / total)
    adjusted[rest] = np.minimum(inside.p_adjusted * total / k_flip, 1.0)
    adjusted[few] = np.minimum(outside.p_adjusted * total / k_holm, 1.0)
    star[rest] = inside.alpha_star
    corrections = ["holm" if one else inside.corrections[0] for one in few]
    label = _LABELS[method]
    note = (
        f"{counted(k_holm, 'hypothesis has', 'hypotheses have')} {_FEW} and "
        f"{'is' if k_holm == 1 else 'are'} adjusted by Holm at alpha x {k_holm}/{total}, the "
        f"other {k_flip} by {label} at alpha x {k_flip}/{total}"
    )
    return Adjusted(adjusted, corrections, star, f"{inside.method}+holm", note)


def _multivariate_t(samples: Sequence[Sample], p_values: Floats, how: Resampling) -> Adjusted:
    pairs = side_by_side(samples)
    result = stats.joint_t(
        pairs.matrix, p_values, clusters=pairs.clusters, alpha=how.alpha, seed=how.seed
    )
    size = len(samples)
    star = np.full(size, result.alpha_star)
    fewest = min((s.n_clusters for s in samples if s.deltas.any()), default=MVT_UNITS)
    note = (
        f"correlations estimated from as few as {fewest} independent pairs or clusters: the "
        "multivariate t is too sure there, max-t is not"
        if fewest < max(MVT_UNITS, 1.5 * size)
        else ""
    )
    return Adjusted(result.p_adjusted, ["mvt"] * size, star, "mvt", note)


def side_by_side(samples: Sequence[Sample]) -> _Pairs:
    """Put the differences of all samples into one array over the union of their units."""
    units = np.unique(np.concatenate([s.units for s in samples]))
    matrix = np.full((units.size, len(samples)), math.nan)
    clusters: NDArray[np.int64] | None = None
    if any(s.clusters is not None for s in samples):
        # Units outside every clustered sample keep a cluster of their own.
        clusters = -1 - np.arange(units.size)
    for column, sample in enumerate(samples):
        rows = np.searchsorted(units, sample.units)
        matrix[rows, column] = sample.deltas
        if sample.clusters is not None and clusters is not None:
            clusters[rows] = sample.clusters
    return _Pairs(matrix, clusters)
