"""Complete blocks: the examples that every system has scored, and what was left out, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evaltoolkit import stats
from evaltoolkit.criteria import CriterionInfo
from evaltoolkit.errors import PairingError, listed, nearest
from evaltoolkit.measurements import cluster_codes
from evaltoolkit.schema import STATUSES, rows_text

Floats = stats.Floats
Missing = Literal["report", "worst", "as_failure"]
Design = Literal["binary", "plain", "clustered"]

UNIT = ["task", "example_id"]
CAUSES = ("", "absent", "unscored", "scorer_error", "system_error")
"""Why a system has no score of an example, by code; 0 means that it has one."""

_CODE_OF_STATUS = dict(zip(STATUSES, (0, 2, 3, 4), strict=True))


@dataclass(frozen=True)
class Blocks:
    """Scores of all systems on the examples that all of them have scored.

    Attributes:
        systems: Names, in the order of the columns.
        values: Array (examples, systems) of per-example means over scored trials.
        examples: Task and id of each example, one row each.
        clusters: Cluster code of each example, or None where all are independent.
        kind: Kind of the criterion.
        higher_is_better: Direction of the criterion.
        single_trial: Whether every value is of one scored trial.
        counts: One row per system: what became of its examples (a partition of all).
        lost: One row per system and example that it has no score of, with the cause.
    """

    systems: tuple[str, ...]
    values: Floats
    examples: pd.DataFrame
    clusters: NDArray[np.int64] | None
    kind: str
    higher_is_better: bool
    single_trial: bool
    counts: pd.DataFrame
    lost: pd.DataFrame

    @property
    def n(self) -> int:
        """Number of complete examples."""
        return len(self.values)

    @cached_property
    def n_clusters(self) -> int:
        """Number of clusters; the number of examples where there are none."""
        return self.n if self.clusters is None else int(np.unique(self.clusters).size)

    @property
    def design(self) -> Design:
        """Which family of methods applies."""
        if self.clusters is not None:
            return "clustered"
        return "binary" if self.kind == "binary" and self.single_trial else "plain"

    @property
    def goodness(self) -> Floats:
        """The values, turned so that higher is better."""
        return self.values if self.higher_is_better else -self.values


def complete_blocks(
    rows: pd.DataFrame,
    systems: Sequence[str],
    info: CriterionInfo,
    *,
    missing: Missing,
    cluster: str | None,
) -> Blocks:
    """Average the trials of each example and keep the examples that all systems have scored.

    Raises:
        PairingError: No example is left, a bound is needed and unknown, or the cluster column
            is absent or differs within an example.
    """
    # One order of summation, whatever the order of the rows.
    rows = rows.sort_values([*UNIT, "system", "trial"], kind="stable")
    rows = _failures_as_worst(rows, info, missing=missing)
    cells = _cells(rows, systems)
    mean, cause, imputed = cells["mean"].to_numpy(), _causes(cells), cells["imputed"].to_numpy()
    if missing == "worst":
        _need_bound(info, missing, needed=bool((cause > 0).any()))
        imputed = cause > 0
        mean, cause = np.where(imputed, info.worst, mean), np.zeros_like(cause)
    complete = (cause == 0).all(axis=1)
    counts = _counts(systems, cause, imputed & complete[:, None])
    if not complete.any():
        raise PairingError(_none_complete(counts), code="no_complete_example")
    examples = cells.index.to_frame(index=False)
    kept = examples[complete].reset_index(drop=True)
    return Blocks(
        systems=tuple(systems),
        values=mean[complete].astype(np.float64),
        examples=kept,
        clusters=None if cluster is None else _clusters(rows, kept, cluster),
        kind=info.kind,
        higher_is_better=info.higher_is_better,
        single_trial=bool((cells["scored"].to_numpy()[complete] <= 1).all()),
        counts=counts,
        lost=_lost(examples, cause, systems),
    )


def _failures_as_worst(
    rows: pd.DataFrame, info: CriterionInfo, *, missing: Missing
) -> pd.DataFrame:
    failed = (rows["status"] == "system_error") & (missing == "as_failure")
    _need_bound(info, missing, needed=bool(failed.any()))
    return rows.assign(
        score=rows["score"].mask(failed, info.worst),
        code=rows["status"].map(_CODE_OF_STATUS).astype("int64").mask(failed, 0),
        imputed=failed,
    )


def _need_bound(info: CriterionInfo, missing: str, *, needed: bool) -> None:
    if needed and np.isnan(info.worst):
        raise PairingError(
            f"missing={missing!r} needs the worse bound of the criterion {info.criterion!r}, "
            "which is not known; declare it (columns lower_bound and upper_bound, or "
            "tidy_scores(declare=...))",
            code="unknown_bounds",
            path="missing",
            value=info.criterion,
        )


def _cells(rows: pd.DataFrame, systems: Sequence[str]) -> pd.DataFrame:
    """Put mean, number of scored trials and worst status of each example and system in columns."""
    cells = rows.groupby([*UNIT, "system"], sort=True).agg(
        mean=("score", "mean"),
        scored=("score", "count"),
        worst=("code", "max"),
        imputed=("imputed", "max"),
    )
    wide = pd.DataFrame(cells.unstack("system"))
    wide = wide.reindex(columns=pd.MultiIndex.from_product([cells.columns, list(systems)]))
    return _without_gaps(wide)


def _without_gaps(wide: pd.DataFrame) -> pd.DataFrame:
    """Say what an absent cell is: no trial, cause 1 (absent), nothing filled in."""
    parts = {
        "mean": wide["mean"],
        "scored": wide["scored"].fillna(0).astype("int64"),
        "worst": wide["worst"].fillna(1).astype("int64"),
        "imputed": wide["imputed"].eq(True),
    }
    return pd.concat(parts, axis=1)


def _causes(cells: pd.DataFrame) -> NDArray[np.int64]:
    scored, worst = cells["scored"].to_numpy(), cells["worst"].to_numpy()
    return np.where(scored > 0, 0, worst).astype(np.int64)


def _counts(
    systems: Sequence[str], cause: NDArray[np.int64], imputed: NDArray[np.bool_]
) -> pd.DataFrame:
    complete = (cause == 0).all(axis=1)
    columns: dict[str, object] = {"system": list(systems), "n_examples": int(complete.sum())}
    for code, name in enumerate(CAUSES):
        if code:
            columns[f"n_{name}"] = (cause == code).sum(axis=0)
    columns["n_lost_to_others"] = ((cause == 0) & ~complete[:, None]).sum(axis=0)
    columns["n_imputed"] = imputed.sum(axis=0)
    return pd.DataFrame(columns)


def _none_complete(counts: pd.DataFrame) -> str:
    names = [f"n_{name}" for name in CAUSES if name]
    gaps = counts.set_index("system")[names].sum(axis=1).sort_values(ascending=False)
    most = ", ".join(f"{system!r} ({gap})" for system, gap in gaps.head(3).items())
    return (
        "no example was scored by all systems; examples without a score, most first: "
        f"{most}. Leave such systems out with systems=[...], check that ids and tasks are named "
        "alike, or see et.coverage(scores)"
    )


def _lost(examples: pd.DataFrame, cause: NDArray[np.int64], systems: Sequence[str]) -> pd.DataFrame:
    example, system = np.nonzero(cause)
    return pd.DataFrame(
        {
            "task": examples["task"].to_numpy()[example],
            "example_id": examples["example_id"].to_numpy()[example],
            "system": np.array(systems)[system],
            "cause": np.array(CAUSES)[cause[example, system]],
        }
    ).astype("str")


def cluster_of_examples(rows: pd.DataFrame, column: str) -> pd.Series:
    """Give each example (task, id) its cluster.

    Raises:
        PairingError: The column is absent or differs within an example.
    """
    if column not in rows.columns:
        raise PairingError(
            f"the table has no column {column!r} to group examples by; "
            f"{nearest(column, rows.columns)}",
            code="unknown_attribute",
            path="cluster",
            value=column,
        )
    named = rows.loc[rows[column].notna(), UNIT].assign(cluster_name=rows[column].astype("str"))
    distinct = named.drop_duplicates()
    mixed = distinct[distinct.duplicated(UNIT, keep=False)]
    if len(mixed):
        raise PairingError(
            f"{column!r} differs within {int(mixed.groupby(UNIT).ngroups)} example(s): "
            f"{rows_text(mixed, list(mixed.columns))}; a cluster must be the same in all rows of "
            "an example",
            code="attribute_not_constant",
            path="cluster",
            value=listed(mixed["example_id"].unique()),
        )
    return distinct.set_index(UNIT)["cluster_name"]


def _clusters(rows: pd.DataFrame, kept: pd.DataFrame, column: str) -> NDArray[np.int64] | None:
    named = cluster_of_examples(rows, column).reindex(pd.MultiIndex.from_frame(kept))
    codes = cluster_codes(named.to_frame(column).reset_index(drop=True), column)
    numbers = codes.to_numpy(dtype=np.int64)
    return numbers if np.unique(numbers).size < numbers.size else None
