"""What analyses of a comparison's robustness return: slices, lost pairs, thresholds."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from evaltoolkit import wording
from evaltoolkit.results.base import TableResult


@dataclass(frozen=True, eq=False, repr=False)
class Heterogeneity(TableResult):
    """Whether the effect differs between slices.

    Attributes:
        table: One row per hypothesis and attribute: how many slices there are and were tested,
            the test of equal effects (``test``, ``statistic``, ``df1``, ``df2``, ``p_value``,
            ``p_adjusted``, ``differs``), Cochran's ``q``, ``i2``, ``tau2`` (variance of the true
            effects) with its interval, ``note``.
        slices: One row per slice: ``delta`` and ``se``; ``shrunken`` with ``shrunken_low`` and
            ``shrunken_high``, ``own_weight`` (how much of it comes from the slice's own data);
            ``se_from`` says whether the error is the slice's own or pooled from the others.
    """

    slices: pd.DataFrame = field(kw_only=True)

    def summary(self) -> pd.DataFrame:
        """Give the table as people read it, without the columns that nothing fills."""
        return wording.rounded_table(self.table.dropna(axis="columns", how="all"))


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(TableResult):
    """What the lost pairs of a comparison could change.

    Attributes:
        table: One row per hypothesis: lost pairs by cause, the verdict and what becomes of it
            when all lost pairs go against (``verdict_worst``) or to (``verdict_best``) the
            candidate, and the tipping point: ``tipping_pairs``, ``tipping_share`` of the lost,
            ``tipping_towards`` and ``tipping_mean`` (mean difference of the lost pairs).
        scenarios: One row per hypothesis and treatment of the lost pairs (``report``,
            ``worst``, ``best``, ``as_failure``) with difference, p-values and verdict.
    """

    scenarios: pd.DataFrame = field(kw_only=True)

    def summary(self) -> pd.DataFrame:
        """Give the table as people read it, without the columns that nothing fills."""
        return wording.rounded_table(self.table.dropna(axis="columns", how="all"))


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdCurve(TableResult):
    """Pass rates, and their difference, at many thresholds of one criterion.

    Attributes:
        table: One row per task, threshold and system: ``n_passed`` of ``n_examples``,
            ``pass_rate`` with its interval; ``declared`` marks the criterion's own threshold.
        differences: One row per task and threshold where two systems were named: ``delta``
            (candidate minus baseline) with interval, p-value, joint interval and adjusted p.
    """

    differences: pd.DataFrame = field(kw_only=True)
