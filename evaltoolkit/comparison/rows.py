"""From samples to the rows of the table: estimates, families, verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evaltoolkit import stats
from evaltoolkit.comparison import families, verdicts
from evaltoolkit.comparison.cells import Cell
from evaltoolkit.comparison.estimates import (
    Flips,
    Sample,
    choose_interval,
    choose_test,
    effect_size,
    interval_at,
    margin_tests,
    mean_estimate,
    run_test,
)

MAX_FLIPS = 1_000_000
"""Draws are extended up to this number where a p-value at their floor could not survive."""


@dataclass(frozen=True)
class Plan:
    """The choices that shape estimates and tests.

    Attributes:
        margins: Margin of each criterion that has one.
        primary: The criterion that is tested first and alone, or None.
        alpha: Level of tests and families.
        test: The wanted test, or None for the defaults.
        interval: The wanted interval, or None for the defaults.
        flips: How random sign flips are drawn.
        corrections: Method of the overall rows and of the slices.
    """

    margins: dict[str, float]
    primary: str | None
    alpha: float
    test: str | None
    interval: str | None
    flips: Flips
    corrections: dict[str, str]


def estimate_rows(
    cells: Sequence[Cell], plan: Plan
) -> tuple[pd.DataFrame, dict[str, dict[str, object]]]:
    """Estimate every cell, adjust families, decide verdicts.

    Returns:
        One row per cell with the columns of the table (and some more), and for each family its
        size, correction and level of the joint intervals.
    """
    sizes = dict.fromkeys((False, True), 0)
    for head, _ in cells:
        sizes[head["slice_by"] is not None] += 1
    rows = [_row(head, sample, plan, family_size=sizes[head["slice_by"] is not None])
            for head, sample in cells]  # fmt: skip
    samples = [sample for _, sample in cells]
    family_facts = _adjust(rows, samples, plan)
    for row, sample in zip(rows, samples, strict=True):
        row["within_margin"] = verdicts.within_margin(row, alpha=plan.alpha)
        row["verdict"] = verdicts.verdict_of(row, sample, alpha=plan.alpha)
        row["note"] = verdicts.notes_of(row, sample, alpha=plan.alpha)
    return pd.DataFrame(rows), family_facts


def _row(head: dict[str, Any], sample: Sample, plan: Plan, *, family_size: int) -> dict[str, Any]:
    info = sample.criterion
    level = 1 - plan.alpha
    interval = choose_interval(sample, plan.interval)
    estimate = mean_estimate(sample, interval, level)
    low, high = interval_at(sample, interval, level)
    # A p-value at the floor of the draws could not survive a large family.
    enough = math.ceil(20 * family_size / plan.alpha)
    flips = Flips(plan.flips.draws, max(plan.flips.draws, min(enough, MAX_FLIPS)), plan.flips.seed)
    tested = run_test(sample, choose_test(sample, plan.test), flips)
    if info.self_referenced:
        tested = tested._replace(test="none", p_value=math.nan, remark="")
    margin = plan.margins.get(info.criterion, math.nan)
    gains, drops = (sample.positive, sample.negative)[:: 1 if info.higher_is_better else -1]
    size, size_name = effect_size(sample)
    return {
        **head,
        "n_pairs": sample.n,
        "n_clusters": sample.n_clusters,
        "df_clusters": sample.df_clusters,
        "mean_baseline": _mean(sample.baseline),
        "mean_candidate": _mean(sample.candidate),
        "delta": _mean(sample.deltas),
        "se": estimate.se,
        "df": estimate.df,
        "ci_low": low,
        "ci_high": high,
        "interval": interval if sample.n else "none",
        "wins": gains,
        "losses": drops,
        "ties": sample.n - gains - drops,
        "effect_size": size,
        "effect_size_name": size_name,
        "test": tested.test,
        "p_value": tested.p_value,
        "remark": tested.remark,
        "mde": stats.mde(estimate.se, estimate.df, alpha=plan.alpha),
        "kind": info.kind,
        "higher_is_better": info.higher_is_better,
        "blocking": info.blocking,
        "self_referenced": info.self_referenced,
        "lower_bound": info.lower_bound,
        "upper_bound": info.upper_bound,
        "margin": margin,
        **margin_tests(sample, estimate, interval, margin=margin, alpha=plan.alpha),
        "family": families.family_of(
            is_slice=head["slice_by"] is not None,
            blocking=info.blocking,
            primary=info.criterion == plan.primary,
        ),
    }


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if values.size else math.nan


def _adjust(
    rows: list[dict[str, Any]], samples: Sequence[Sample], plan: Plan
) -> dict[str, dict[str, object]]:
    facts: dict[str, dict[str, object]] = {}
    for family in dict.fromkeys(row["family"] for row in rows):
        members = [i for i, row in enumerate(rows) if row["family"] == family]
        where = families.SLICES if family.startswith(families.SLICES) else families.OVERALL
        adjusted = families.adjust_family(
            [samples[i] for i in members],
            np.array([rows[i]["p_value"] for i in members], dtype=float),
            method=plan.corrections[where],
            alpha=plan.alpha,
            draws=plan.flips.draws,
            seed=plan.flips.seed,
        )
        facts[family] = {
            "size": adjusted.size,
            "correction": adjusted.correction,
            "alpha_star": adjusted.alpha_star,
            "note": adjusted.note,
        }
        own = [samples[i] for i in members]
        equivalence = families.holm_margins(own, [rows[i]["p_equivalence"] for i in members])
        noninferior = families.holm_margins(own, [rows[i]["p_noninferiority"] for i in members])
        for k, i in enumerate(members):
            rows[i]["p_adjusted"] = float(adjusted.p_adjusted[k])
            rows[i]["correction"] = adjusted.correction
            rows[i]["p_equivalence_adjusted"] = equivalence[k]
            rows[i]["p_noninferiority_adjusted"] = noninferior[k]
            _set_joint(rows[i], samples[i], adjusted.alpha_star)
    _gate(rows, plan)
    return facts


def _set_joint(row: dict[str, Any], sample: Sample, alpha_star: float) -> None:
    if math.isnan(alpha_star) or row["interval"] == "none":
        row["joint_low"] = row["joint_high"] = math.nan
    else:
        row["joint_low"], row["joint_high"] = interval_at(sample, row["interval"], 1 - alpha_star)


def _gate(rows: list[dict[str, Any]], plan: Plan) -> None:
    """Let the overall hypotheses be claimed only where the candidate's primary one is.

    A primary criterion that could not be tested opens nothing.
    """
    margins = ("p_equivalence_adjusted", "p_noninferiority_adjusted")
    primary = [row for row in rows if row["family"] == families.PRIMARY]
    for candidate in {row["candidate"] for row in primary}:
        own = [row for row in primary if row["candidate"] == candidate]
        closed = max(_or_one(row["p_adjusted"]) for row in own)
        claimed = max(min(_or_one(row[name]) for name in ("p_adjusted", *margins)) for row in own)
        for row in rows:
            if row["candidate"] == candidate and row["family"].startswith(families.OVERALL):
                row["p_adjusted"] = float(np.fmax(row["p_adjusted"], closed))
                for name in margins:
                    row[name] = max(row[name], claimed)
                if closed > plan.alpha:
                    row["remark"] = (
                        f"not claimed: the primary criterion {plan.primary!r} is not significant"
                    )


def _or_one(p: float) -> float:
    return 1.0 if math.isnan(p) else p
