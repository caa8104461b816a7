"""The results of `pass_at_k` and `variance_components`."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit.results.base import TableResult
from evaltoolkit.wording import Row, rows_of

PASS_AT_K_COLUMNS = (
    "task", "criterion", "scorer", "system", "k", "n_examples", "n_too_few", "n_clusters",
    "n_lost_trials", "n_errors_as_failures", "trials_min", "trials_max",
    "pass_at_k", "pass_at_se", "pass_at_low", "pass_at_high", "pass_at_interval",
    "pass_hat_k", "pass_hat_se", "pass_hat_low", "pass_hat_high", "pass_hat_interval", "note",
)  # fmt: skip

PASS_DIFFERENCE_COLUMNS = (
    "task", "criterion", "scorer", "measure", "k", "n_pairs", "n_unpaired", "n_clusters",
    "baseline", "candidate", "delta", "se", "df", "ci_low", "ci_high", "interval", "test",
    "p_value", "p_adjusted", "correction", "verdict", "note",
)  # fmt: skip

VARIANCE_COLUMNS = (
    "task", "criterion", "scorer", "system", "n_examples", "n_trials", "n_lost_trials",
    "trials_min", "trials_max", "mean", "se", "se_floor",
    "var_item", "var_item_low", "var_item_high", "var_trial", "var_trial_low", "var_trial_high",
    "icc", "icc_low", "icc_high", "truncated", "variance_ratio", "optimal_trials", "note",
)  # fmt: skip

DESIGN_COLUMNS = (
    "task", "criterion", "scorer", "system", "examples", "trials", "se", "averaging_effect",
    "budget_examples", "budget_se", "budget_variance_ratio",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class PassAtK(TableResult):
    """How often systems pass at least once, and every time, in k trials.

    Attributes:
        table: One row per task, criterion, scorer, system and k: ``pass_at_k`` (at least one of k
            trials passes) and ``pass_hat_k`` (all k pass), each with standard error and interval
            over examples; ``n_too_few`` examples with fewer than k trials are left out.
        examples: One row per system and example: trials made, passed and lost.
        differences: Candidate minus baseline, one row per measure and k; empty without them.
    """

    examples: pd.DataFrame = field(kw_only=True)
    differences: pd.DataFrame = field(kw_only=True)

    def summary(self) -> pd.DataFrame:
        """Give the table as people read it: few columns, rounded, as text."""
        level = fmt.format_percent(float(self.settings["level"]))
        return pd.DataFrame([_pass_summary(row, level) for row in rows_of(self.table)])


def _pass_summary(row: Row, level: str) -> dict[str, str]:
    cells = {name: str(row[name]) for name in ("system", "task", "criterion", "scorer", "k")}
    cells["examples"] = str(row["n_examples"])
    for measure, symbol in (("pass_at", "pass@k"), ("pass_hat", "pass^k")):
        low, high = (float(row[f"{measure}_{end}"]) for end in ("low", "high"))
        cells[symbol] = fmt.format_number(float(row[f"{measure}_k"]))
        cells[f"{symbol} {level} CI"] = fmt.format_interval(low, high)
    return cells


@dataclass(frozen=True, eq=False)
class VarianceShares(TableResult):
    """Where the noise of a mean comes from: different examples, or trials of one example.

    Attributes:
        table: One row per task, criterion, scorer and system (and the paired difference, where
            two systems were named): ``var_item`` and ``var_trial`` with intervals, ``icc`` (share
            of the variance between examples), ``se`` of the mean as measured, ``se_floor`` with
            endless trials of the same examples, ``variance_ratio`` (how much smaller the variance
            would be had the same trials been spent on one trial each of other examples), and
            ``optimal_trials`` per example at the given costs.
        designs: One row per number of examples and trials: the ``se`` to expect;
            ``averaging_effect`` is the variance against one trial of the same examples; the
            columns ``budget_...`` say what the cost of the present design would buy instead
            (variance against one trial of as many examples as the budget allows).
    """

    designs: pd.DataFrame = field(kw_only=True)

    def summary(self) -> pd.DataFrame:
        """Give the table as people read it: few columns, rounded, as text."""
        return pd.DataFrame([_shares_summary(row) for row in rows_of(self.table)])


def _shares_summary(row: Row) -> dict[str, str]:
    cells = {name: str(row[name]) for name in ("system", "task", "criterion", "scorer")}
    low, high = row["trials_min"], row["trials_max"]
    cells["examples"] = str(row["n_examples"])
    cells["trials"] = str(low) if low == high else f"{low}{fmt.EN_DASH}{high}"
    for name, head in (
        ("var_item", "between examples"),
        ("var_trial", "between trials"),
        ("icc", "ICC"),
    ):
        value, *ends = (float(row[n]) for n in (name, f"{name}_low", f"{name}_high"))
        digits = fmt.decimals_for(value, *ends)
        interval = fmt.format_interval(*ends, decimals=digits)
        cells[head] = f"{fmt.format_number(value, decimals=digits)} {interval}"
    cells["SE"] = fmt.format_number(float(row["se"]))
    cells["SE, endless trials"] = fmt.format_number(float(row["se_floor"]))
    optimal = float(row["optimal_trials"])
    cells["best trials"] = (
        "endless" if optimal == float("inf") else fmt.format_number(optimal, decimals=0)
    )
    return cells
