"""The result of `evaltoolkit.evaluate`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.results.base import TableResult
from evaltoolkit.wording import Row, rows_of

EVALUATION_COLUMNS = (
    "task", "criterion", "scorer", "system", "n_examples", "n_rows", "n_scored", "n_unscored",
    "n_scorer_error", "n_system_error", "mean", "pass_rate", "mean_errors_failed",
    "pass_rate_errors_failed", "higher_is_better",
)  # fmt: skip

Errors = Literal["apart", "failed"]


@dataclass(frozen=True, eq=False)
class Evaluation(TableResult):
    """What came of running systems over examples.

    Attributes:
        table: One row per task, criterion, scorer and system. ``n_rows`` counts (example,
            trial) rows; ``n_scored``, ``n_unscored``, ``n_scorer_error`` and ``n_system_error``
            add up to it. ``mean`` and ``pass_rate`` are over what was scored: the mean over
            examples of the means over their trials. In ``mean_errors_failed`` and
            ``pass_rate_errors_failed`` every error counts as the worst score and as not passed;
            what was declined (``unscored``) counts in neither.
        scores: The score table.
        outputs: The outputs table: what each system answered, with its resources.
        details: The details table: evidence of the scorers as JSON.
        failures: One row per system: ``n_answers``, ``successful``, ``failed`` (the system or any
            scorer broke; a low score is no failure).
        run_id: Name of the run, the same in all three tables.
        folder: Where the run was saved, None if it was not.
    """

    scores: pd.DataFrame = field(kw_only=True)
    outputs: pd.DataFrame = field(kw_only=True)
    details: pd.DataFrame = field(kw_only=True)
    failures: pd.DataFrame = field(kw_only=True)
    run_id: str = field(kw_only=True)
    folder: Path | None = field(default=None, kw_only=True)

    def pass_rates(self, *, errors: Errors = "apart") -> pd.DataFrame:
        """Give the share passed, one row per criterion and one column per system.

        Args:
            errors: ``"apart"`` leaves errors out of the share (they are counted in the table);
                ``"failed"`` counts them as not passed.
        """
        return self._wide("pass_rate", errors)

    def means(self, *, errors: Errors = "apart") -> pd.DataFrame:
        """Give the mean score, one row per criterion and one column per system.

        Args:
            errors: ``"apart"`` leaves errors out of the mean; ``"failed"`` counts them as the
                worst score, where that is known.
        """
        return self._wide("mean", errors)

    def _wide(self, name: str, errors: Errors) -> pd.DataFrame:
        if errors not in ("apart", "failed"):
            raise EvalToolkitError(
                f"errors is {errors!r}; it must be 'apart' or 'failed'",
                code="bad_option",
                path="errors",
                value=errors,
            )
        column = name if errors == "apart" else f"{name}_errors_failed"
        several = [key for key in ("task", "scorer") if self._repeats(key)]
        rows = self.table.set_index(["criterion", *several, "system"])[column]
        return rows.unstack("system", sort=False).rename_axis(columns=None)

    def _repeats(self, key: str) -> bool:
        return bool(self.table.groupby(["criterion", "system"])[key].nunique().gt(1).any())

    def summary(self) -> pd.DataFrame:
        """Give the table as people read it: few columns, rounded, as text."""
        tasks = self.table["task"].nunique() > 1
        rows = [_summary_row(row, show_task=tasks) for row in rows_of(self.table)]
        return pd.DataFrame(rows, columns=list(_summary_columns(show_task=tasks)))


def _summary_columns(*, show_task: bool) -> tuple[str, ...]:
    head = ("task",) if show_task else ()
    return (
        *head, "criterion", "system", "mean", "passed", "scored", "unscored", "scorer errors",
        "system errors",
    )  # fmt: skip


def _summary_row(row: Row, *, show_task: bool) -> dict[str, str]:
    mean, rate = float(row["mean"]), float(row["pass_rate"])
    lower = row["higher_is_better"] is False
    cells = (
        *([str(row["task"])] if show_task else []),
        str(row["criterion"]) + (" \u2193" if lower else ""),
        str(row["system"]),
        fmt.format_number(mean, decimals=fmt.decimals_for(mean)),
        "" if rate != rate else fmt.format_percent(rate),
        str(row["n_scored"]),
        str(row["n_unscored"]),
        str(row["n_scorer_error"]),
        str(row["n_system_error"]),
    )
    return dict(zip(_summary_columns(show_task=show_task), cells, strict=True))
