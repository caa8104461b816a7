"""One system's examples as judge and people scored them, and its corrected mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evaltoolkit import stats
from evaltoolkit.stats.corrected import (
    contributions_se,
    mean_contributions,
    ppi_contributions,
)

PPI_FROM = 50
"""Labelled examples (clusters) from which the judge may help; fewer: people alone."""

TUNED_FROM = 100
"""Labelled examples (clusters) from which the judge's weight is chosen from the data."""

METHODS = ("none", "human_only", "ppi", "ppi_tuned")

Row = dict[str, Any]


@dataclass(frozen=True)
class Arm:
    """The examples of one system.

    Attributes:
        examples: One row per example (index: task and id): ``human`` (mean over all labelled
            trials), ``human_both`` and ``judge_both`` (means over trials that both scored),
            ``judge`` (mean over all trials), numbers of trials, ``block``.
        dependent: Whether blocks are clusters of examples.
        binary: Whether scores are 0 and 1.
        level: Confidence level of intervals.
    """

    examples: pd.DataFrame
    dependent: bool
    binary: bool
    level: float

    def given(self, column: str) -> pd.Series:
        """Give the values of a column where there are any."""
        return self.examples[column].dropna()

    def rest(self) -> pd.Series:
        """Give the judge's means of the examples that have no label beside a judge's score."""
        return self.examples.loc[self.examples["human_both"].isna(), "judge"].dropna()

    def blocks(self, values: pd.Series) -> NDArray[np.intp]:
        """Give the block of each example of a series."""
        return np.asarray(self.examples.loc[values.index, "block"], dtype=np.intp)

    def units(self, column: str = "human_both") -> int:
        """Count the blocks that have a value."""
        return int(np.unique(self.blocks(self.given(column))).size)

    def plain(self, column: str, trials: str) -> bool:
        """Whether the values are independent 0/1 outcomes, one per example."""
        values = self.given(column)
        single = self.examples.loc[values.index, trials].to_numpy() == 1
        return self.binary and not self.dependent and bool(single.all())

    def disagreements(self) -> int:
        """Count the labelled examples on which the judge and people differ."""
        human, judge = self.given("human_both"), self.given("judge_both")
        return int(np.count_nonzero(stats.snap_ties(human, judge)))


@dataclass(frozen=True)
class Estimate:
    """A mean with its interval, and what each example adds to its error."""

    mean: float
    se: float
    df: float
    low: float
    high: float
    interval: str
    method: str
    weight: float
    contributions: pd.Series
    note: str = ""


def plain_mean(arm: Arm, column: str, trials: str) -> Estimate:
    """Estimate the mean of a column: Wilson for single 0/1 scores, t otherwise."""
    values = arm.given(column)
    estimate = stats.cluster_mean(values.to_numpy(), arm.blocks(values), level=arm.level)
    name, low, high = "cr2_t" if arm.dependent else "t", estimate.low, estimate.high
    if len(values) and arm.plain(column, trials):
        name = "wilson"
        low, high = stats.wilson(int(values.sum()), len(values), level=arm.level)
    return Estimate(
        mean=estimate.mean,
        se=estimate.se,
        df=estimate.df,
        low=low,
        high=high,
        interval="none" if math.isnan(low) else name,
        method="human_only" if len(values) else "none",
        weight=0.0,
        contributions=pd.Series(mean_contributions(values), index=values.index),
    )


def corrected_mean(arm: Arm) -> Estimate:
    """Estimate the mean that people would give: with the judge's help where that is safe."""
    people = plain_mean(arm, "human", "n_human")
    why = _why_people_alone(arm)
    if why:
        return Estimate(**vars(people) | {"note": why})
    human, judge, rest = arm.given("human_both"), arm.given("judge_both"), arm.rest()
    tuned = arm.units() >= TUNED_FROM
    found = stats.ppi_mean(human, judge, rest, tuned=tuned, level=arm.level)
    parts = ppi_contributions(human, judge, rest, weight=found.weight)
    contributions = pd.concat(
        [pd.Series(parts.labelled, human.index), pd.Series(parts.judge_only, rest.index)]
    )
    se, df, low, high = found.se, float(arm.units() - 1), found.low, found.high
    if arm.dependent:
        se = contributions_se(contributions, arm.blocks(contributions), units=arm.units())
        low, high = stats.t_interval(found.mean, se, df, level=arm.level)
    return Estimate(
        mean=found.mean,
        se=se,
        df=df,
        low=low,
        high=high,
        interval="cr1_t" if arm.dependent else "t",
        method="ppi_tuned" if tuned else "ppi",
        weight=found.weight,
        contributions=contributions,
        note=_frail(arm),
    )


def _why_people_alone(arm: Arm) -> str:
    units, what = arm.units(), "labelled clusters" if arm.dependent else "labelled examples"
    if not len(arm.given("human")):
        return "no labels: nothing can be said about the judge's error"
    if units < PPI_FROM:
        return f"{units} {what}, fewer than {PPI_FROM}: people alone"
    if len(arm.rest()) < 2:
        return "all examples are labelled: people alone"
    if not arm.disagreements():
        return "judge and people never differ, so the judge's error has no spread: people alone"
    return ""


def _frail(arm: Arm) -> str:
    count = arm.disagreements()
    return f"judge and people differ on only {count} labelled examples" if count < 10 else ""


def judge_bias(arm: Arm) -> Row:
    """Estimate how much higher the judge scores than people, on the same labelled outputs."""
    human, judge = arm.given("human_both"), arm.given("judge_both")
    d = stats.snap_ties(human, judge)
    estimate = stats.cluster_mean(d, arm.blocks(human), level=arm.level)
    low, high, p_value = estimate.low, estimate.high, estimate.p_value
    if d.size and arm.plain("human_both", "n_both"):
        counts = stats.paired_counts(human, judge)
        low, high = stats.bonett_price(counts.wins, counts.losses, d.size, level=arm.level)
        p_value = stats.mcnemar_midp(counts.wins, counts.losses)
    elif d.size and not d.any():
        p_value = 1.0
    return {"judge_bias": estimate.mean, "bias_low": low, "bias_high": high, "p_bias": p_value}


def judge_errors(arm: Arm) -> Row:
    """Estimate sensitivity and specificity of the judge on single labelled 0/1 outputs."""
    human, judge = arm.given("human_both").to_numpy(), arm.given("judge_both").to_numpy()
    if not human.size or not arm.plain("human_both", "n_both"):
        return {}
    row: Row = {}
    for name, mine in (("sensitivity", human == 1), ("specificity", human == 0)):
        n = int(mine.sum())
        right = int(np.count_nonzero(judge[mine] == human[mine]))
        low, high = stats.wilson(right, n, level=arm.level)
        share = right / n if n else math.nan
        row |= {name: share, f"{name}_low": low, f"{name}_high": high, f"n_{name}": n}
    return row


def unlike_the_rest(arm: Arm) -> float:
    """Test whether the judge scores labelled examples like the others; NaN where untestable."""
    labelled, rest = arm.given("judge_both"), arm.rest()
    if len(labelled) < 2 or len(rest) < 2:
        return math.nan
    parts = [mean_contributions(labelled), -mean_contributions(rest)]
    both = pd.concat([pd.Series(p, v.index) for p, v in zip(parts, (labelled, rest), strict=True)])
    units = min(arm.units("judge_both"), int(np.unique(arm.blocks(rest)).size))
    se = contributions_se(both, arm.blocks(both), units=units)
    gap = float(labelled.mean() - rest.mean())
    df = float(max(units - 1, 0))
    return stats.mean_estimate(gap, se, df, level=arm.level, n=len(both), n_units=units).p_value
