"""What analyses of judges return."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from evaltoolkit import wording
from evaltoolkit.results.base import TableResult


@dataclass(frozen=True, eq=False)
class Agreement(TableResult):
    """How the scorers of one criterion agree.

    Attributes:
        table: One row per pair of scorers: counts (``n`` outputs that both scored,
            ``n_not_scored``, ``n_only_a``, ``n_only_b``), base rates ``mean_a`` and ``mean_b``,
            ``observed`` agreement, ``kappa`` (``kappa_linear``, ``kappa_quadratic``), ``ac1``,
            ``icc`` for numbers, each with ``_low`` and ``_high``; ``bias`` (mean of b minus mean
            of a) with interval and test; ``note`` where something is missing.
        overall: One row per coefficient over all scorers.
        ratings: The scores side by side, one row per output: every number can be recomputed.
    """

    overall: pd.DataFrame = field(kw_only=True)
    ratings: pd.DataFrame = field(kw_only=True)

    def summary(self) -> pd.DataFrame:
        """Give the table as people read it, without the columns that nothing fills."""
        return wording.rounded_table(self.table.dropna(axis="columns", how="all"))


@dataclass(frozen=True, eq=False)
class Calibration(TableResult):
    """Means that a judge gave, corrected by labels of people.

    Attributes:
        table: One row per task and system, and one per task for the difference where both
            systems were named: ``estimate`` with ``ci_low``, ``ci_high``, ``method`` and
            ``interval``; beside it the people alone (``human_mean``), the judge alone
            (``judge_mean``, ``judge_low``, ``judge_high``) and ``judge_bias``; for pass/fail
            scores ``sensitivity`` and ``specificity`` of the judge.
        examples: One row per task, system and example with what went into the estimates.
    """

    examples: pd.DataFrame = field(kw_only=True)

    def summary(self) -> pd.DataFrame:
        """Give the table as people read it, without the columns that nothing fills."""
        return wording.rounded_table(self.table.dropna(axis="columns", how="all"))
