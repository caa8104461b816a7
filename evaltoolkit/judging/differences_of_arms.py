"""The corrected difference of two systems: each side by its own labels, shared examples paired."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from evaltoolkit import stats
from evaltoolkit.judging.arms import Arm, Estimate, Row
from evaltoolkit.stats.corrected import contributions_se, mean_contributions


def corrected_difference(baseline: tuple[Arm, Estimate], candidate: tuple[Arm, Estimate]) -> Row:
    """Estimate the difference of two corrected means (candidate minus baseline)."""
    (arm_b, old), (arm_c, new) = baseline, candidate
    methods = sorted({old.method, new.method})
    head = {"method": "+".join(methods), "estimate": new.mean - old.mean, "weight": math.nan}
    if "none" in methods:
        return head | _no_interval("a system has no labels") | {"method": "none"}
    if methods == ["human_only"]:
        return head | _people_difference(arm_b, arm_c)
    errors = new.contributions.sub(old.contributions, fill_value=0.0)
    units = min(arm_b.units(), arm_c.units())
    blocks = _blocks(arm_b, arm_c).loc[errors.index]
    se = contributions_se(errors, blocks.tolist(), units=units)
    found = stats.mean_estimate(
        new.mean - old.mean, se, float(units - 1), level=arm_c.level, n=len(errors), n_units=units
    )
    name = "cr1_t" if arm_b.dependent else "contributions_t"
    return head | _row(found, name)


def _people_difference(arm_b: Arm, arm_c: Arm) -> Row:
    old, new = arm_b.given("human"), arm_c.given("human")
    plain = all(arm.plain("human", "n_human") for arm in (arm_b, arm_c))
    found, name = difference_of_means(arm_b, arm_c, "human")
    row = _row(found, name)
    if plain and old.index.equals(new.index):
        counts = stats.paired_counts(old, new)
        low, high = stats.bonett_price(counts.wins, counts.losses, len(old), level=arm_b.level)
        row |= {
            "ci_low": low,
            "ci_high": high,
            "interval": "bonett_price",
            "p_value": stats.mcnemar_midp(counts.wins, counts.losses),
            "note": "",
        }
    return row


def difference_of_means(arm_b: Arm, arm_c: Arm, column: str) -> tuple[stats.MeanEstimate, str]:
    """Estimate the difference of the means of a column over whatever examples each side has.

    Where both sides have the same examples this is the paired (or clustered) t.
    """
    return difference_of_series(arm_b, arm_c, arm_b.given(column), arm_c.given(column))


def difference_of_series(
    arm_b: Arm, arm_c: Arm, old: pd.Series, new: pd.Series
) -> tuple[stats.MeanEstimate, str]:
    """Estimate the difference of the means of two series of examples; see above."""
    level, dependent = arm_b.level, arm_b.dependent
    blocks = _blocks(arm_b, arm_c)
    if len(old) and old.index.equals(new.index):
        d = stats.snap_ties(old, new)
        codes = blocks.loc[old.index].tolist()
        return stats.cluster_mean(d, codes, level=level), "cr2_t" if dependent else "t"
    errors = pd.Series(mean_contributions(new), new.index).sub(
        pd.Series(mean_contributions(old), old.index), fill_value=0.0
    )
    units = min((int(blocks.loc[part.index].nunique()) for part in (old, new)), default=0)
    gap = float(new.mean() - old.mean()) if len(old) and len(new) else math.nan
    se = contributions_se(errors, blocks.loc[errors.index].tolist(), units=units)
    df = float(max(units - 1, 0))
    found = stats.mean_estimate(gap, se, df, level=level, n=len(errors), n_units=units)
    return found, "cr1_t" if dependent else "contributions_t"


def bias_difference(arm_b: Arm, arm_c: Arm) -> Row:
    """Say whether the judge's bias is the same for both systems, or does not cancel."""
    gaps = [
        pd.Series(stats.snap_ties(arm.given("human_both"), arm.given("judge_both")), human.index)
        for arm in (arm_b, arm_c)
        for human in [arm.given("human_both")]
    ]
    found, _ = difference_of_series(arm_b, arm_c, *gaps)
    return {
        "judge_bias": found.mean,
        "bias_low": found.low,
        "bias_high": found.high,
        "p_bias": found.p_value,
    }


def _blocks(arm_b: Arm, arm_c: Arm) -> pd.Series:
    both: pd.Series = pd.concat([arm_b.examples["block"], arm_c.examples["block"]])
    first: pd.Series = both[~both.index.duplicated()]
    return first


def _row(found: stats.MeanEstimate, name: str) -> Row:
    usable = not math.isnan(found.low)
    tied = found.n > 0 and found.mean == 0 and found.se == 0
    return {
        "se": found.se,
        "df": found.df,
        "ci_low": found.low,
        "ci_high": found.high,
        "interval": name if usable else "none",
        "p_value": 1.0 if tied else found.p_value,
        "note": "" if usable else "no spread or too few labels: no interval",
    }


def _no_interval(note: str) -> Row:
    ends = dict.fromkeys(("estimate", "se", "df", "ci_low", "ci_high", "p_value"), np.nan)
    return {**ends, "interval": "none", "note": note}
