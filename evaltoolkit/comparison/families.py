"""Several hypotheses together: families, adjusted p-values and joint intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaltoolkit import stats
from evaltoolkit.comparison.estimates import FLIP_CLUSTERS, Sample
from evaltoolkit.errors import PairingError, listed

Floats = NDArray[np.float64]

NORMAL_MAXT_FROM = 20_000
"""Above this many pairs max-t uses the normal limit instead of sign flips."""

OVERALL, SLICES, PRIMARY = "overall", "slices", "primary"


@dataclass(frozen=True)
class Adjustment:
    """What a family of hypotheses gets.

    Attributes:
        p_adjusted: One per member, NaN where it has no p-value.
        correction: The method that was used.
        alpha_star: Level at which each named interval is joint; NaN where there is none.
        size: Number of distinct hypotheses.
        note: Why another method than the asked one was used; usually empty.
    """

    p_adjusted: Floats
    correction: str
    alpha_star: float
    size: int
    note: str = ""


def family_of(*, is_slice: bool, blocking: bool, primary: bool) -> str:
    """Name the family of a hypothesis."""
    if primary and not is_slice:
        return PRIMARY
    name = SLICES if is_slice else OVERALL
    return name if blocking else f"{name} (advisory)"


def check_correction(correction: str | Mapping[str, str]) -> dict[str, str]:
    """Resolve ``correction=`` to the method of overall rows and of slices.

    Raises:
        EvalToolkitError: An unknown method.
        PairingError: A mapping with other keys than ``overall`` and ``slices``.
    """
    given = {OVERALL: correction} if isinstance(correction, str) else dict(correction)
    unknown = sorted(set(given) - {OVERALL, SLICES})
    if unknown:
        raise PairingError(
            f"correction has the key(s) {listed(unknown)}; allowed are 'overall' and 'slices'",
            code="bad_option",
            path="correction",
            value=unknown,
        )
    methods = {OVERALL: "maxt", SLICES: "fdr_bh", **given}
    return {
        where: method if method == "maxt" else stats.method_name(method)
        for where, method in methods.items()
    }


def adjust_family(
    samples: Sequence[Sample],
    p_values: Floats,
    *,
    method: str,
    alpha: float,
    draws: int,
    seed: int,
) -> Adjustment:
    """Adjust the p-values of one family; identical hypotheses count once.

    Args:
        samples: The pairs of each member.
        p_values: Unadjusted p-values, NaN where a member has none.
        method: ``"maxt"`` or a method of `evaltoolkit.stats.adjust`.
        alpha: Level of the family.
        draws: Random sign flips of max-t.
        seed: Seed of the flips.
    """
    first = first_of_identical(samples, p_values)
    distinct = np.unique(first[~np.isnan(p_values)])
    size = int(distinct.size)
    if size <= 1:
        return Adjustment(p_values.copy(), "single", alpha, size)
    members = [samples[i] for i in distinct]
    adjusted, used, alpha_star, note = _adjust_distinct(
        members, p_values[distinct], method=method, alpha=alpha, draws=draws, seed=seed
    )
    by_first = dict(zip(distinct.tolist(), adjusted.tolist(), strict=True))
    spread = np.array([by_first.get(int(i), math.nan) for i in first])
    spread[np.isnan(p_values)] = math.nan
    return Adjustment(spread, used, alpha_star, size, note)


def first_of_identical(samples: Sequence[Sample], p_values: Floats) -> NDArray[np.int64]:
    """Number of the first member with the very same examples, differences and p-value."""
    seen: dict[tuple[bytes, bytes, float], int] = {}
    first = [
        seen.setdefault((s.units.tobytes(), s.deltas.tobytes(), float(p)), i)
        for i, (s, p) in enumerate(zip(samples, p_values, strict=True))
    ]
    return np.array(first, dtype=np.int64)


def _adjust_distinct(
    samples: Sequence[Sample],
    p_values: Floats,
    *,
    method: str,
    alpha: float,
    draws: int,
    seed: int,
) -> tuple[Floats, str, float, str]:
    note = ""
    if method == "maxt" and _too_few_clusters(samples):
        method, note = "holm", f"fewer than {FLIP_CLUSTERS} clusters: Holm instead of max-t"
    if method == "maxt":
        return _max_t(samples, p_values, alpha=alpha, draws=draws, seed=seed)
    adjusted = stats.adjust(p_values, method=method, alpha=alpha)
    joint = alpha / len(samples) if stats.METHODS[method].joint == "bonferroni" else math.nan
    return adjusted, method, joint, note


def _too_few_clusters(samples: Sequence[Sample]) -> bool:
    return any(s.clusters is not None and s.n_clusters < FLIP_CLUSTERS for s in samples)


def _max_t(
    samples: Sequence[Sample], p_values: Floats, *, alpha: float, draws: int, seed: int
) -> tuple[Floats, str, float, str]:
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
    if units.size > NORMAL_MAXT_FROM:
        result = stats.max_normal(matrix, clusters=clusters, alpha=alpha, seed=seed)
        used = "maxt_normal"
    else:
        result = stats.max_t(matrix, clusters=clusters, alpha=alpha, draws=draws, seed=seed)
        used = "maxt"
    return np.fmax(p_values, result.p_step_down), used, float(result.alpha_star), ""


def holm_margins(samples: Sequence[Sample], p_values: Sequence[float]) -> list[float]:
    """Holm-adjust the margin tests of one family; identical hypotheses count once."""
    given = np.array(p_values, dtype=float)
    first = first_of_identical(samples, given)
    distinct = np.unique(first)
    adjusted = dict(
        zip(distinct.tolist(), stats.adjust(given[distinct], method="holm").tolist(), strict=True)
    )
    return [adjusted[int(i)] for i in first]
