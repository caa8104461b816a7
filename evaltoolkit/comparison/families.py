"""Several hypotheses together: families, adjusted p-values and joint intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaltoolkit import stats
from evaltoolkit.comparison.estimates import Sample
from evaltoolkit.comparison.joint_procedures import (
    JOINT_METHODS,
    NORMAL_MAXT_FROM,
    Adjusted,
    Resampling,
    adjust_jointly,
)
from evaltoolkit.errors import PairingError, listed, nearest

__all__ = ["NORMAL_MAXT_FROM", "Adjustment", "adjust_family", "check_correction", "family_of"]

Floats = NDArray[np.float64]

OVERALL, SLICES, PRIMARY = "overall", "slices", "primary"

HIERARCHICAL = "hierarchical"
"""Bonferroni over the overall hypotheses, whose level passes on to their own slices."""


@dataclass(frozen=True)
class Adjustment:
    """What a family of hypotheses gets.

    Attributes:
        p_adjusted: One per member, NaN where it has no p-value.
        corrections: The method behind each.
        alpha_star: Level at which each member's named interval is joint; NaN where there is
            none.
        method: The method of the family as a whole.
        size: Number of distinct hypotheses.
        note: Why another method than the asked one was used; usually empty.
    """

    p_adjusted: Floats
    corrections: list[str]
    alpha_star: Floats
    method: str
    size: int
    note: str = ""

    @property
    def facts(self) -> dict[str, object]:
        """What the settings keep: a level for the family only where all members share it."""
        levels = sorted(set(self.alpha_star.tolist()))
        facts: dict[str, object] = {
            "size": self.size,
            "correction": self.method,
            "alpha_star": levels[0] if len(levels) == 1 else math.nan,
            "note": self.note,
        }
        if len(set(self.corrections)) > 1:
            pairs = zip(self.corrections, self.alpha_star.tolist(), strict=True)
            facts["alpha_star_by_correction"] = dict(pairs)
        return facts


def family_of(*, is_slice: bool, blocking: bool, primary: str) -> str:
    """Name the family of a hypothesis.

    Args:
        is_slice: Whether it is about a slice.
        blocking: Whether its criterion is more than advisory.
        primary: Name of the family of a primary criterion, else "".
    """
    if primary and not is_slice:
        return primary
    name = SLICES if is_slice else OVERALL
    return name if blocking else f"{name} (advisory)"


def check_correction(correction: str | Mapping[str, str]) -> dict[str, str]:
    """Resolve ``correction=`` to the method of overall rows and of slices.

    Raises:
        PairingError: An unknown method, a mapping with other keys than ``overall`` and
            ``slices``, or a hierarchy of one of them only.
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
    inherited = HIERARCHICAL if given.get(OVERALL) == HIERARCHICAL else "fdr_bh"
    methods = {OVERALL: "maxt", SLICES: inherited, **given}
    if (methods[OVERALL] == HIERARCHICAL) != (methods[SLICES] == HIERARCHICAL):
        raise PairingError(
            "correction='hierarchical' ties the slices to their overall hypotheses, so it must "
            "hold for both; pass correction='hierarchical'",
            code="bad_option",
            path="correction",
            value=dict(given),
        )
    return {where: _method_name(method) for where, method in methods.items()}


def _method_name(method: str) -> str:
    own = (*JOINT_METHODS, HIERARCHICAL)
    name = str(method).strip().lower()
    if name in own:
        return name
    if stats.ALIASES.get(name, name) not in stats.METHODS:
        raise PairingError(
            f"correction {method!r} is unknown; "
            f"{nearest(name, [*own, *stats.METHODS, *stats.ALIASES])}",
            code="unknown_correction",
            path="correction",
            value=method,
        )
    return stats.method_name(name)


def adjust_family(
    samples: Sequence[Sample],
    p_values: Floats,
    *,
    method: str,
    how: Resampling,
) -> Adjustment:
    """Adjust the p-values of one family; identical hypotheses count once.

    Args:
        samples: The pairs of each member.
        p_values: Unadjusted p-values, NaN where a member has none.
        method: One of `JOINT_METHODS` or a method of `evaltoolkit.stats.adjust`.
        how: Level of the family, and how random signs are drawn.
    """
    first = first_of_identical(samples, p_values)
    distinct = np.unique(first[~np.isnan(p_values)])
    members, size = len(samples), int(distinct.size)
    if size <= 1:
        level = np.full(members, how.alpha)
        return Adjustment(p_values.copy(), ["single"] * members, level, "single", size)
    found = _adjust_distinct(
        [samples[i] for i in distinct], p_values[distinct], method=method, how=how
    )
    place = {int(i): k for k, i in enumerate(distinct)}
    # A member without p-value is never claimed; its interval is as strict as the strictest.
    where = [place.get(int(i), -1) for i in first]
    strictest = float(found.alpha_star.min())
    spread = np.array([found.p_adjusted[k] if k >= 0 else math.nan for k in where])
    spread[np.isnan(p_values)] = math.nan
    corrections = [found.corrections[k] if k >= 0 else found.method for k in where]
    levels = np.array([found.alpha_star[k] if k >= 0 else strictest for k in where])
    return Adjustment(spread, corrections, levels, found.method, size, found.note)


def first_of_identical(samples: Sequence[Sample], p_values: Floats) -> NDArray[np.int64]:
    """Number of the first member with the very same examples, differences and p-value."""
    seen: dict[tuple[bytes, bytes, float], int] = {}
    first = [
        seen.setdefault((s.units.tobytes(), s.deltas.tobytes(), float(p)), i)
        for i, (s, p) in enumerate(zip(samples, p_values, strict=True))
    ]
    return np.array(first, dtype=np.int64)


def _adjust_distinct(
    samples: Sequence[Sample], p_values: Floats, *, method: str, how: Resampling
) -> Adjusted:
    if method in JOINT_METHODS:
        return adjust_jointly(samples, p_values, method=method, how=how)
    # Adaptive methods, which guess how many hypotheses are true, can end below the single p.
    adjusted = np.fmax(p_values, stats.adjust(p_values, method=method, alpha=how.alpha))
    size = len(samples)
    bonferroni = stats.METHODS[method].joint == "bonferroni"
    star = np.full(size, how.alpha / size if bonferroni else math.nan)
    return Adjusted(adjusted, [method] * size, star, method)


def holm_margins(samples: Sequence[Sample], p_values: Sequence[float]) -> list[float]:
    """Holm-adjust the margin tests of one family; identical hypotheses count once."""
    given = np.array(p_values, dtype=float)
    first = first_of_identical(samples, given)
    distinct = np.unique(first)
    adjusted = dict(
        zip(distinct.tolist(), stats.adjust(given[distinct], method="holm").tolist(), strict=True)
    )
    return [adjusted[int(i)] for i in first]
