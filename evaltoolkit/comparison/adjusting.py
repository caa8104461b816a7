"""Adjusted p-values and joint intervals of all rows: families, then what opens only after what."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaltoolkit.comparison import families
from evaltoolkit.comparison.estimates import Flips, Sample, interval_at
from evaltoolkit.comparison.hierarchy import (
    add_remark,
    adjust_branches,
    adjust_slices,
    branches_of_primary,
    is_slice,
)
from evaltoolkit.comparison.joint_procedures import Resampling

Rows = Sequence[dict[str, Any]]

MARGIN_TESTS = ("p_equivalence", "p_noninferiority")


@dataclass(frozen=True)
class Plan:
    """The choices that shape estimates and tests.

    Attributes:
        margins: Margin of each criterion that has one.
        primary: The criteria that are tested first, each alone, in this order.
        alpha: Level of tests and families.
        test: The wanted test, or None for the defaults.
        interval: The wanted interval, or None for the defaults.
        flips: How random sign flips and resamples are drawn.
        corrections: Method of the overall rows and of the slices.
    """

    margins: dict[str, float]
    primary: tuple[str, ...]
    alpha: float
    test: str | None
    interval: str | None
    flips: Flips
    corrections: dict[str, str]

    @property
    def how(self) -> Resampling:
        """Level, draws and seed of the joint methods."""
        return Resampling(self.alpha, self.flips.draws, self.flips.seed)

    @property
    def hierarchical(self) -> bool:
        """Whether slices are claimed only after their overall hypothesis."""
        return self.corrections[families.SLICES] == families.HIERARCHICAL

    def primary_family(self, criterion: str) -> str:
        """Name the family of a primary criterion; "" for any other."""
        if criterion not in self.primary:
            return ""
        place = f" {self.primary.index(criterion) + 1}" if len(self.primary) > 1 else ""
        return f"{families.PRIMARY}{place}"


def adjust_rows(rows: Rows, samples: Sequence[Sample], plan: Plan) -> dict[str, dict[str, object]]:
    """Give every row its adjusted p-values and joint interval.

    Args:
        rows: Estimated rows; the new columns are put into them.
        samples: The pairs of each row.
        plan: The choices.

    Returns:
        For each family its size, correction and level of the joint intervals.
    """
    facts: dict[str, dict[str, object]] = {}
    for family in dict.fromkeys(row["family"] for row in rows):
        members = [i for i, row in enumerate(rows) if row["family"] == family]
        own = [samples[i] for i in members]
        adjustment = _adjustment(family, [rows[i] for i in members], own, rows, samples, plan)
        facts[family] = adjustment.facts
        tested = {
            name: families.holm_margins(own, [rows[i][name] for i in members])
            for name in MARGIN_TESTS
        }
        for k, i in enumerate(members):
            rows[i]["p_adjusted"] = float(adjustment.p_adjusted[k])
            rows[i]["correction"] = adjustment.corrections[k]
            for name, adjusted in tested.items():
                rows[i][f"{name}_adjusted"] = adjusted[k]
            _set_joint(rows[i], samples[i], float(adjustment.alpha_star[k]), plan.flips)
    _gate(rows, plan)
    if plan.hierarchical:
        adjust_slices(rows, samples, alpha=plan.alpha)
    return facts


def _adjustment(
    family: str,
    own: Rows,
    own_samples: Sequence[Sample],
    rows: Rows,
    samples: Sequence[Sample],
    plan: Plan,
) -> families.Adjustment:
    where = families.SLICES if family.startswith(families.SLICES) else families.OVERALL
    p_values = np.array([row["p_value"] for row in own], dtype=float)
    method = plan.corrections[where]
    if method == families.HIERARCHICAL:
        more = branches_of_primary(family, rows, samples)
        return adjust_branches(own_samples, p_values, more=more, how=plan.how, family=family)
    return families.adjust_family(own_samples, p_values, method=method, how=plan.how)


def _set_joint(row: dict[str, Any], sample: Sample, alpha_star: float, flips: Flips) -> None:
    row["joint_low"] = row["joint_high"] = math.nan
    row["joint_level"] = not math.isnan(alpha_star)
    if math.isnan(alpha_star) or row["interval"] == "none":
        return
    low, high = interval_at(sample, row["interval"], 1 - alpha_star, flips)
    # Resampled ends carry noise, and a joint interval is never the narrower one.
    row["joint_low"] = min(low, row["ci_low"]) if low == low else low
    row["joint_high"] = max(high, row["ci_high"]) if high == high else high


def _gate(rows: Rows, plan: Plan) -> None:
    """Let a hypothesis be claimed only where all primary ones before it are.

    A primary criterion that could not be tested opens nothing.
    """
    if not plan.primary:
        return
    for candidate in dict.fromkeys(row["candidate"] for row in rows):
        own = [row for row in rows if row["candidate"] == candidate and not is_slice(row)]
        closed, claimed, first = 0.0, 0.0, ""
        for criterion, step in _steps(own, plan):
            for row in step:
                _close(row, closed=closed, claimed=claimed)
                if closed > plan.alpha:
                    add_remark(row, f"not claimed: the primary criterion {first!r} is not "
                                    "significant")  # fmt: skip
            if criterion is None:
                continue
            opened = closed <= plan.alpha
            closed = max([closed, *(_or_one(row["p_adjusted"]) for row in step)])
            claimed = max([claimed, *(_claim(row) for row in step)])
            if opened and closed > plan.alpha:
                first = criterion


def _steps(own: Rows, plan: Plan) -> Iterator[tuple[str | None, Rows]]:
    """Yield the rows of each primary criterion in order, then (None) the other overall rows."""
    for criterion in plan.primary:
        family = plan.primary_family(criterion)
        yield criterion, [row for row in own if row["family"] == family]
    yield None, [row for row in own if row["family"].startswith(families.OVERALL)]


def _close(row: dict[str, Any], *, closed: float, claimed: float) -> None:
    if not math.isnan(row["p_adjusted"]):
        row["p_adjusted"] = max(row["p_adjusted"], closed)
    for name in MARGIN_TESTS:
        row[f"{name}_adjusted"] = max(row[f"{name}_adjusted"], claimed)


def _claim(row: Mapping[str, Any]) -> float:
    """Return the smallest adjusted p-value of any claim: a difference, or within the margin."""
    names = ("p_adjusted", *(f"{name}_adjusted" for name in MARGIN_TESTS))
    return min(_or_one(row[name]) for name in names)


def _or_one(p: float) -> float:
    return 1.0 if math.isnan(p) else p
