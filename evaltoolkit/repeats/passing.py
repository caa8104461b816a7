"""How many trials of each example were made, and how many passed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from evaltoolkit.criteria import CriterionInfo
from evaltoolkit.errors import PairingError, listed

EXAMPLE_COLUMNS = (
    "system", "task", "criterion", "scorer", "example_id", "n_trials", "n_passed", "n_lost",
    "n_errors_as_failures",
)  # fmt: skip

Measure = Literal["score", "passed"]
Missing = Literal["report", "as_failure"]


@dataclass(frozen=True)
class Passing:
    """What counts as passing a trial, and what becomes of a trial without a verdict."""

    measure: Measure
    threshold: float | None
    missing: Missing

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("measure", self.measure, ("score", "passed")),
            ("missing", self.missing, ("report", "as_failure")),
        ):
            if value not in allowed:
                raise PairingError(
                    f"{name} is {value!r}; it must be one of {listed(allowed)}",
                    code="bad_option",
                    path=name,
                    value=value,
                )
        if self.threshold is not None and not math.isfinite(self.threshold):
            raise PairingError(
                f"threshold is {self.threshold!r}; it must be a number",
                code="bad_option",
                path="threshold",
                value=self.threshold,
            )
        if self.threshold is not None and self.measure == "passed":
            raise PairingError(
                "threshold= judges scores, measure='passed' takes the scorers' own verdicts; give "
                "one of them",
                code="bad_option",
                path="threshold",
            )

    def passes_at(self, info: CriterionInfo) -> float:
        """The score from which a trial passes; NaN where nothing says so."""
        if self.threshold is not None:
            return float(self.threshold)
        return info.best if info.kind == "binary" else info.threshold


def usable_rows(
    rows: pd.DataFrame, facts: Mapping[str, CriterionInfo], passing: Passing, *, named: bool
) -> tuple[pd.DataFrame, list[str]]:
    """Keep the criteria on which a trial can pass; name those left out.

    Args:
        rows: Selected rows.
        facts: What is known of the criteria.
        passing: What counts as passing.
        named: Whether the user named the criteria; then all must do.

    Raises:
        PairingError: None can, or one that was named cannot.
    """
    if passing.measure == "passed":
        judged = rows["passed"].notna().groupby(rows["criterion"]).any()
        unfit = sorted(judged.index[~judged])
    else:
        unfit = sorted(n for n, info in facts.items() if math.isnan(passing.passes_at(info)))
    left = rows[~rows["criterion"].isin(unfit)]
    if left.empty or (named and unfit):
        raise PairingError(
            f"nothing says when a trial passes on {listed(unfit)}: "
            + (
                "the column passed is empty; use measure='score'"
                if passing.measure == "passed"
                else "the scores are no 0/1 outcomes and no threshold is declared; give "
                "threshold=, or measure='passed' for the scorers' own verdicts"
            ),
            code="no_verdicts",
            path="criterion",
            value=unfit,
        )
    return left, unfit


def example_counts(
    rows: pd.DataFrame, facts: Mapping[str, CriterionInfo], passing: Passing
) -> pd.DataFrame:
    """Count the trials of each example: made, passed, lost, failed by error."""
    verdict = _verdicts(rows, facts, passing)
    failed = (rows["status"] == "system_error") & (passing.missing == "as_failure")
    counted = verdict.notna() | failed
    marks = rows.assign(
        n_trials=counted,
        n_passed=(verdict == 1.0),
        n_lost=~counted,
        n_errors_as_failures=failed,
    )
    keys = list(EXAMPLE_COLUMNS[:5])
    return marks.groupby(keys, sort=True)[list(EXAMPLE_COLUMNS[5:])].sum().reset_index()


def _verdicts(
    rows: pd.DataFrame, facts: Mapping[str, CriterionInfo], passing: Passing
) -> pd.Series:
    """1 or 0 for each trial, NaN without a verdict."""
    if passing.measure == "passed":
        scored = rows["status"] == "scored"
        return rows["passed"].astype("Float64").astype("float64").where(scored)
    at = rows["criterion"].map({name: passing.passes_at(info) for name, info in facts.items()})
    sign = rows["criterion"].map({n: 1.0 if i.higher_is_better else -1.0 for n, i in facts.items()})
    slack = 1e-9 * np.maximum(at.abs(), rows["score"].abs())
    reached = sign * (rows["score"] - at) >= -slack
    return reached.astype("float64").where(rows["score"].notna())
