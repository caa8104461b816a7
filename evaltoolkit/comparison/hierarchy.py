"""Slices that are claimed only after the overall hypothesis that they belong to.

The graph of Bretz and others: every overall hypothesis starts with an equal share of alpha and,
once rejected, passes it on to its own slices, among which Holm's method shares it. The error rate
of any false claim, overall or slice, stays at alpha.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltoolkit.comparison import families
from evaltoolkit.comparison.estimates import Sample
from evaltoolkit.comparison.joint_procedures import Resampling

Rows = Sequence[dict[str, Any]]
Floats = NDArray[np.float64]

_NOTE = "the slices of a hypothesis by Holm at its share of alpha, once it is claimed itself"


def is_slice(row: dict[str, Any]) -> bool:
    """Whether a row is about a slice."""
    return row["slice_by"] is not None


def add_remark(row: dict[str, Any], text: str) -> None:
    """Add a remark to those that a row has."""
    row["remark"] = "; ".join(part for part in (row["remark"], text) if part)


def branches_of_primary(family: str, rows: Rows, samples: Sequence[Sample]) -> int:
    """Count the primary hypotheses whose slices belong to the hierarchy of a family.

    Their own level passes on to the overall family, so their slices need a share of that.
    """
    if family.startswith(families.PRIMARY):
        return 0
    advisory = family.endswith(_ADVISORY)
    parents = {
        _key(row) for row in rows if is_slice(row) and row["family"].endswith(_ADVISORY) == advisory
    }
    chosen = [
        i
        for i, row in enumerate(rows)
        if row["family"].startswith(families.PRIMARY) and not is_slice(row) and _key(row) in parents
    ]
    p_values = np.array([rows[i]["p_value"] for i in chosen], dtype=float)
    return _distinct([samples[i] for i in chosen], p_values)


_ADVISORY = "(advisory)"


def adjust_branches(
    samples: Sequence[Sample], p_values: Floats, *, more: int, how: Resampling, family: str
) -> families.Adjustment:
    """Adjust overall hypotheses by Bonferroni; slices wait for `adjust_slices`.

    Args:
        samples: The pairs of each member of the family.
        p_values: Their unadjusted p-values.
        more: Further branches that share alpha.
        how: Level of the family.
        family: Its name.
    """
    members, size = len(samples), _distinct(samples, p_values)
    method = families.HIERARCHICAL
    if family.startswith(families.SLICES):
        nothing = np.full(members, math.nan)
        return families.Adjustment(p_values, [method] * members, nothing, method, size, _NOTE)
    branches = size + more
    method = method if branches > 1 else "single"
    adjusted = np.minimum(p_values * max(branches, 1), 1.0)
    star = np.full(members, how.alpha / max(branches, 1))
    return families.Adjustment(adjusted, [method] * members, star, method, branches)


def adjust_slices(rows: Rows, samples: Sequence[Sample], *, alpha: float) -> None:
    """Adjust the slices of every overall hypothesis, whose own adjusted p-value is their least.

    Source:
        Bretz, Maurer, Brannath and Posch, A graphical approach to sequentially rejective
        multiple test procedures, 2009.
    """
    parents = {_key(row): i for i, row in enumerate(rows) if not is_slice(row)}
    slices: dict[tuple[str, ...], list[int]] = {}
    for i, row in enumerate(rows):
        if is_slice(row):
            slices.setdefault(_key(row), []).append(i)
    shares = {
        suffix: _branches(suffix, rows, samples)
        for suffix in {row["family"].endswith(_ADVISORY) for row in rows if is_slice(row)}
    }
    for key, members in slices.items():
        parent = _gate_before(rows[parents[key]], rows)
        p_values = [rows[i]["p_value"] for i in members]
        holm = families.holm_margins([samples[i] for i in members], p_values)
        for i, p in zip(members, holm, strict=True):
            if math.isnan(rows[i]["p_value"]):
                continue
            branches = shares[rows[i]["family"].endswith(_ADVISORY)]
            rows[i]["p_adjusted"] = max(parent, min(1.0, branches * p))
            if parent > alpha:
                add_remark(rows[i], _WAITING)


_WAITING = (
    "not claimed: its overall hypothesis, or a primary criterion before it, is not significant"
)


def _gate_before(parent: dict[str, Any], rows: Rows) -> float:
    """Return the least p-value of a hypothesis' slices.

    The level of a primary criterion passes to the next one, and to slices only after the last.
    """
    before = [parent]
    if parent["family"].startswith(families.PRIMARY):
        before = [
            row
            for row in rows
            if row["family"].startswith(families.PRIMARY)
            and not is_slice(row)
            and row["candidate"] == parent["candidate"]
        ]
    return max(1.0 if math.isnan(row["p_adjusted"]) else row["p_adjusted"] for row in before)


def _branches(advisory: bool, rows: Rows, samples: Sequence[Sample]) -> int:
    family = f"{families.OVERALL} {_ADVISORY}" if advisory else families.OVERALL
    own = [i for i, row in enumerate(rows) if row["family"] == family]
    p_values = np.array([rows[i]["p_value"] for i in own], dtype=float)
    size = _distinct([samples[i] for i in own], p_values)
    return size + branches_of_primary(family, rows, samples)


def _distinct(samples: Sequence[Sample], p_values: Floats) -> int:
    first = families.first_of_identical(samples, p_values)
    return int(np.unique(first[~np.isnan(p_values)]).size)


def _key(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in ("candidate", "task", "criterion", "scorer"))
