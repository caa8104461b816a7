"""From samples to the rows of the table: estimates, families, verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from evaltoolkit import stats
from evaltoolkit.comparison import families, verdicts
from evaltoolkit.comparison.adjusting import Plan, adjust_rows
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
    family_facts = adjust_rows(rows, samples, plan)
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
    low, high = interval_at(sample, interval, level, plan.flips)
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
            primary=plan.primary_family(info.criterion),
        ),
    }


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if values.size else math.nan
