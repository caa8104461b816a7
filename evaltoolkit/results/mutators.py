"""The result of `evaluate_mutators`."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit.results.base import TableResult
from evaltoolkit.wording import rows_of


@dataclass(frozen=True, eq=False)
class MutatorEvaluation(TableResult):
    """What came of running mutators over cases.

    Every table of runs has the key of the outputs table: ``run_id``, ``system`` (the mutator),
    ``task``, ``example_id`` (the case) and ``trial``, so that they can be joined. Values are
    JSON text beside their type.

    Attributes:
        table: One row per case, mutator and trial: counts of paths as langstate has them
            (``matching``, ``mismatched``, ``missing``, ``extra``) and of those that hold a value
            (``leaf_*``), ``accuracy``, ``precision``, ``recall``, ``f1``, ``jaccard`` (missing
            where there is nothing below the line), ``overall_match``, ``value_match``,
            ``time_s``, ``status`` and, where something broke, ``error_stage`` and ``error_type``.
        totals: One row per mutator: runs, errors, vacuous runs (nothing expected), the share of
            overall matches, ratios of the summed counts, the mean accuracy of the runs, the Brier
            score and calibration error of the confidences, median and 95th percentile of the time.
        scores: The score table: one row per run and measure. The criteria have the bare names of
            `STATE_MEASURES`, which are langstate's where the measure is, as from its reader;
            `StateComparison` in `evaluate` puts its own name before them.
        outputs: The outputs table; ``latency_s`` is the time of the mutator, cost and tokens are
            what it said of them.
        details: The details table: the paths that are not as expected.
        fields: One row per run and path.
        transitions: One row per run and path that holds a value: kept, corrected,
            wrongly_overwritten, missed or spurious.
        candidates: One row per run, side (pre, expected, actual), path and candidate.
        inferences: One row per run and inference of the state that came out.
        extractions: One row per run and item of a model's reply.
        reliability: The reliability table of the confidences, one row per mutator and bin; like
            the Brier score without values inherited from the state before, and without
            confidences below 0, whose meaning is up to the mutator.
        run_id: Name of the run, the same in all tables.
    """

    totals: pd.DataFrame = field(kw_only=True)
    scores: pd.DataFrame = field(kw_only=True)
    outputs: pd.DataFrame = field(kw_only=True)
    details: pd.DataFrame = field(kw_only=True)
    fields: pd.DataFrame = field(kw_only=True)
    transitions: pd.DataFrame = field(kw_only=True)
    candidates: pd.DataFrame = field(kw_only=True)
    inferences: pd.DataFrame = field(kw_only=True)
    extractions: pd.DataFrame = field(kw_only=True)
    reliability: pd.DataFrame = field(kw_only=True)
    run_id: str = field(kw_only=True)

    def summary(self) -> pd.DataFrame:
        """Give the totals as people read them: few columns, rounded, as text."""
        columns = {
            "match": "overall_match",
            "accuracy": "accuracy",
            "precision": "precision",
            "recall": "recall",
            "F1": "f1",
            "Brier": "brier",
            "median s": "time_median_s",
        }
        rows = [
            {
                "system": str(row["system"]),
                "runs": str(row["n_runs"]),
                "errors": str(row["n_errors"]),
                **{name: _shown(float(row[source])) for name, source in columns.items()},
            }
            for row in rows_of(self.totals)
        ]
        return pd.DataFrame(rows, columns=["system", "runs", "errors", *columns])


def _shown(value: float) -> str:
    return "" if value != value else fmt.format_number(value, decimals=fmt.decimals_for(value))
