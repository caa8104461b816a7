"""What can be said of each hypothesis, and the notes that a reader needs beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from evaltoolkit import formatting as fmt
from evaltoolkit import stats
from evaltoolkit.comparison.estimates import Sample, is_bootstrap

FEW_NONZERO = 10
"""With fewer non-zero differences no interval or test of a mean can be relied on."""

FEW_DF = 5.0
"""Below this many degrees of freedom cluster-robust inference is fragile."""

Row = dict[str, Any]


def verdict_of(row: Mapping[str, Any], sample: Sample, *, alpha: float) -> str:
    """Decide one verdict, in the order that the design fixes."""
    has_margin = not math.isnan(row["margin"])
    unusable = sample.n == 0 or is_shared_miss(sample)
    if unusable or (sample.criterion.self_referenced and not has_margin):
        return "not_measured"
    if row["p_adjusted"] <= alpha and row["delta"] != 0:
        better = (row["delta"] > 0) == sample.criterion.higher_is_better
        return "improved" if better else "regressed"
    if row["p_equivalence_adjusted"] <= alpha:
        return "equivalent"
    if row["p_noninferiority_adjusted"] <= alpha:
        return "noninferior"
    return "inconclusive"


def is_shared_miss(sample: Sample) -> bool:
    """Whether both systems score the worst bound in every pair, so nothing was measured."""
    worst = sample.criterion.worst
    return (
        sample.n > 0
        and not math.isnan(worst)
        and bool((sample.baseline == worst).all() and (sample.candidate == worst).all())
    )


def within_margin(row: Mapping[str, Any], *, alpha: float) -> bool | None:
    """Whether the 1 - 2 alpha interval lies inside the margin; None without one."""
    p = row["p_equivalence"]
    return None if math.isnan(p) else bool(p <= alpha)


def notes_of(row: Mapping[str, Any], sample: Sample, *, alpha: float) -> str:
    """Collect the remarks on one row, most important first."""
    if sample.n == 0:
        return "no usable pair"
    remarks = [
        _reference_note(sample),
        _variance_note(row, sample),
        _nonzero_note(sample),
        _cluster_note(sample),
        _bootstrap_note(row),
        _joint_note(row, alpha),
        _coherence_note(row, alpha),
        _rank_note(sample, alpha),
        row["remark"],
    ]
    return "; ".join(remark for remark in remarks if remark)


def _reference_note(sample: Sample) -> str:
    if sample.criterion.self_referenced:
        return "the baseline is 1 by construction: this is drift, not correctness"
    if is_shared_miss(sample):
        return "both systems miss every example: nothing was measured"
    return ""


def _variance_note(row: Mapping[str, Any], sample: Sample) -> str:
    if sample.n == 1:
        return "one pair: no variance"
    if row["se"] > 0 or math.isnan(row["se"]):
        return ""
    untested = sample.design != "binary" and not math.isnan(row["margin"])
    margin = "; without variance equivalence cannot be tested" if untested else ""
    if not sample.deltas.any():
        return f"no differing example{margin}"
    return (
        f"every difference is {sample.deltas[0]:g}: no variance, the p-value comes from sign "
        f"flips{margin}"
    )


def _nonzero_note(sample: Sample) -> str:
    nonzero = int(np.count_nonzero(sample.deltas))
    if 0 < nonzero < FEW_NONZERO:
        return f"only {fmt.counted(nonzero, 'non-zero difference')}"
    return ""


def _cluster_note(sample: Sample) -> str:
    if sample.clusters is None:
        return ""
    if sample.n_clusters < 2:
        return "one cluster: no inference is possible"
    if sample.df_clusters < FEW_DF:
        return (
            f"{sample.n_clusters} clusters of such sizes carry {sample.df_clusters:.1f} degrees "
            "of freedom"
        )
    return ""


def _bootstrap_note(row: Mapping[str, Any]) -> str:
    if not is_bootstrap(row["interval"]) or not row["se"] > 0:
        return ""
    if math.isnan(row["ci_low"]):
        return "too many resamples without spread (or too few of them): no bootstrap interval"
    if math.isnan(row["joint_low"]) and row["joint_level"]:
        return "too few resamples, or too many without spread, for a joint bootstrap interval"
    return ""


def _joint_note(row: Mapping[str, Any], alpha: float) -> str:
    if math.isnan(row["joint_low"]):
        return ""
    covers = row["joint_low"] <= 0 <= row["joint_high"]
    if row["p_adjusted"] <= alpha and covers:
        return "significant step-down although the single-step joint interval covers 0"
    if row["p_adjusted"] > alpha and not covers and not math.isnan(row["p_value"]):
        return "the joint interval excludes 0 although the adjusted test does not reach alpha"
    return ""


def _coherence_note(row: Mapping[str, Any], alpha: float) -> str:
    if math.isnan(row["p_value"]) or math.isnan(row["ci_low"]):
        return ""
    excludes = row["ci_low"] > 0 or row["ci_high"] < 0
    if excludes == (row["p_value"] <= alpha):
        return ""
    return "interval and unadjusted p-value fall on different sides of alpha"


def _rank_note(sample: Sample, alpha: float) -> str:
    mean, more = float(sample.deltas.mean()), sample.positive - sample.negative
    if mean * more >= 0 or stats.mcnemar_midp(sample.positive, sample.negative) > alpha:
        return ""
    side = "candidate" if (more > 0) == sample.criterion.higher_is_better else "baseline"
    return f"rank evidence points the other way: the {side} wins more often but by less"
