"""The result of `pool_tasks`."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit.results.base import TableResult
from evaltoolkit.wording import Row, rows_of

POOLED_COLUMNS = (
    "criterion", "scorer", "n_tasks", "n_pairs", "n_lost", "n_clusters", "n_spanning", "coverage",
    "tasks_missing", "mean_baseline", "mean_candidate", "delta", "se", "df", "ci_low", "ci_high",
    "interval", "statistic", "test", "p_value", "p_adjusted", "correction", "higher_is_better",
    "verdict", "note",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class PooledTasks(TableResult):
    """Differences of a comparison, weighted over its tasks.

    Attributes:
        table: One row per criterion and scorer: ``delta`` (candidate minus baseline) is
            ``sum(w * delta_task) / sum(w)`` over the tasks that were measured, ``coverage`` their
            share of the weight that was asked for, ``tasks_missing`` the names of the others;
            ``p_value`` tests the same difference that the interval is of.
        tasks: One row per criterion, scorer and task: its ``weight``, its ``share`` of the
            weight measured, its own ``delta`` with ``se``, what it contributes to the
            weighted difference (``contribution``) and its share of the variance.
    """

    tasks: pd.DataFrame = field(kw_only=True)

    def summary(self) -> pd.DataFrame:
        """Give the table as people read it: few columns, rounded, as text."""
        level = fmt.format_percent(float(self.settings["level"]))
        return pd.DataFrame([_summary_row(row, level) for row in rows_of(self.table)])


def _summary_row(row: Row, level: str) -> dict[str, str]:
    delta, low, high = (float(row[name]) for name in ("delta", "ci_low", "ci_high"))
    digits = fmt.decimals_for(delta, high - low)
    return {
        "criterion": str(row["criterion"]) + ("" if row["higher_is_better"] else " \u2193"),
        "scorer": str(row["scorer"]),
        "tasks": str(row["n_tasks"]),
        "pairs": str(row["n_pairs"]),
        "coverage": fmt.format_percent(float(row["coverage"])),
        "\u0394": fmt.format_number(delta, decimals=digits, signed=True),
        f"{level} CI": fmt.format_interval(low, high, decimals=digits),
        "p": fmt.format_p(float(row["p_value"])),
        "adjusted p": fmt.format_p(float(row["p_adjusted"])),
        "verdict": str(row["verdict"]).replace("_", " "),
    }
