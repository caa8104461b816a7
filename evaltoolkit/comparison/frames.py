"""The finished frames of a comparison: dtypes of the table, the pairs, the lost examples."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from evaltoolkit import stats
from evaltoolkit.comparison import pairing
from evaltoolkit.criteria import CriterionInfo
from evaltoolkit.results import COMPARISON_COLUMNS

_INTEGERS = (
    "n_pairs", "n_clusters", "n_unscored", "n_scorer_error", "n_system_error", "n_unpaired",
    "n_trials_lost", "n_imputed", "wins", "losses", "ties",
)  # fmt: skip
_TEXTS = (
    "task", "criterion", "scorer", "slice_by", "slice", "interval", "effect_size_name", "test",
    "correction", "family", "verdict", "note", "kind",
)  # fmt: skip
_FLAGS = ("within_margin", "higher_is_better", "blocking", "self_referenced")


def typed_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Give the table its columns, in order, and their dtypes."""
    table = rows[list(COMPARISON_COLUMNS)]
    dtypes = {
        **dict.fromkeys(_INTEGERS, "int64"),
        **dict.fromkeys(_TEXTS, "str"),
        **dict.fromkeys(_FLAGS, "boolean"),
    }
    return table.astype({name: dtypes.get(str(name), "float64") for name in table.columns})


def pair_tables(
    units: pd.DataFrame, facts: dict[str, CriterionInfo]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split units into pairs and lost examples, with everything that a reader needs."""
    own = {"cause", "lost_baseline", "lost_candidate", "unit", "cluster_code", "task_of_example"}
    pooled = (units["task"] == pairing.POOLED).all()
    attributes = [c for c in units.columns if c not in {*own, *_PAIR_COLUMNS, "imputed"}]
    used = (units["cause"] == 0) | units["imputed"]
    pairs = units[used].copy()
    pairs["delta"] = stats.snap_ties(pairs["baseline"].to_numpy(), pairs["candidate"].to_numpy())
    higher = pairs["criterion"].map({n: f.higher_is_better for n, f in facts.items()}).astype(bool)
    sign = np.sign(pairs["delta"]) * np.where(higher, 1, -1)
    pairs["outcome"] = np.select([sign > 0, sign < 0], ["win", "loss"], "tie")
    pairs["n_trials_lost"] = pairs["lost_baseline"] + pairs["lost_candidate"]
    pairs["kind"] = pairs["criterion"].map({n: f.kind for n, f in facts.items()})
    pairs["higher_is_better"] = higher
    pairs["passes_at"] = pairs["criterion"].map({n: _passes_at(f) for n, f in facts.items()})
    extra = ["task_of_example"] if pooled else []
    names = [*_PAIR_COLUMNS[:3], *extra, *_PAIR_COLUMNS[3:], *attributes]
    pairs = pairs.reindex(columns=names)
    lost = units[~used]
    lost = lost.assign(cause=lost["cause"].map(dict(enumerate(pairing.CAUSES))))
    lost_names = [*pairing.HYPOTHESIS, *extra, "example_id", "cause", *attributes]
    return pairs.reset_index(drop=True), lost[lost_names].reset_index(drop=True)


_PAIR_COLUMNS = (
    "task", "criterion", "scorer", "example_id", "baseline", "candidate", "delta", "outcome",
    "n_trials_baseline", "n_trials_candidate", "n_trials_lost", "kind", "higher_is_better",
    "passes_at", "imputed",
)  # fmt: skip


def _passes_at(info: CriterionInfo) -> float:
    """Number from which an example passes: its threshold, else more than half of 0/1 trials."""
    if not math.isnan(info.threshold):
        return info.threshold
    if info.kind != "binary":
        return math.nan
    return float(np.nextafter(0.5, 1.0 if info.higher_is_better else 0.0))
