"""`pool_tasks`: one weighted difference over the tasks of a comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from evaltoolkit import stats
from evaltoolkit.composites.pooling_texts import conclusion_text, methods_text
from evaltoolkit.errors import PairingError, listed, nearest
from evaltoolkit.measurements import cluster_codes
from evaltoolkit.results.comparison import Comparison
from evaltoolkit.results.composites import POOLED_COLUMNS, PooledTasks
from evaltoolkit.stats.stratified import StratifiedMean, stratified_mean

_LOSSES = ["n_unscored", "n_scorer_error", "n_system_error", "n_unpaired"]
_GROUP = ["criterion", "scorer"]

FEW_CLUSTERS = 6

Weights = Literal["equal", "examples"] | Mapping[str, float]


def pool_tasks(
    result: Comparison, *, weights: Weights = "equal", level: float = 0.95
) -> PooledTasks:
    """Weight the differences of several tasks into one, per criterion and scorer.

    The estimand is ``sum(w * delta) / sum(w)`` over tasks, where delta is the task's own mean
    paired difference. Tasks count as fixed: the interval is about other examples of these tasks,
    not about other tasks. Examples are independent between tasks unless they share a cluster.

    Args:
        result: A `compare` with ``tasks="separate"`` (the default) over several tasks.
        weights: ``"equal"`` counts every task alike, ``"examples"`` by its number of examples,
            lost ones included, so that losses do not shift the weight; or a positive number for
            each task that shall count.
        level: Confidence level of the intervals; tests use 1 - level.

    Returns:
        The pooled differences: ``.table`` per criterion and scorer, ``.tasks`` with what each
        task contributes.

    Raises:
        PairingError: The comparison pooled its tasks already, a task is unknown, or a weight is
            not positive.
        EvalToolkitError: `level` is not between 0 and 1.

    Source:
        Cochran, Sampling techniques, 1977, chapter 5; with clusters Bell and McCaffrey, 2002.

    Example:
        >>> from evaltoolkit.comparison import compare
        >>> every = {"maths": 2, "code": 4}
        >>> rows = [(s, t, i, float(i % 3 > 0 or (s == "new" and i % every[t] > 0)))
        ...         for s in ("old", "new") for t in every for i in range(60)]
        >>> table = pd.DataFrame(rows, columns=["system", "task", "example_id", "score"])
        >>> result = compare(table.assign(criterion="correct"), baseline="old", candidate="new")
        >>> pooled = pool_tasks(result, weights={"maths": 2, "code": 1})
        >>> pooled.tasks[["task", "delta", "share"]].round(3).values.tolist()
        [['code', 0.25, 0.333], ['maths', 0.167, 0.667]]
        >>> pooled.table[["n_pairs", "delta", "verdict"]].round(3).values.tolist()
        [[120, 0.194, 'improved']]
    """
    _check_result(result)
    overall = result.overall
    chosen = _weights(overall, weights)
    groups = [
        _Group(result, part, chosen, weights == "examples")
        for _, part in overall.groupby(_GROUP, sort=True)
    ]
    rows = [group.row(level) for group in groups]
    table = _adjusted(pd.DataFrame(rows), 1 - level)
    tasks = pd.DataFrame([row for group in groups for row in group.task_rows(level)])
    settings = {
        "baseline": result.baseline,
        "candidate": result.candidate,
        "weights": weights if isinstance(weights, str) else dict(weights),
        "tasks": chosen,
        "tasks_left_out": sorted(set(overall["task"]) - set(chosen)),
        "level": level,
        "cluster": result.settings["cluster"],
        "clustered": bool((tasks["n_clusters"] < tasks["n_pairs"]).any()),
        "missing": result.settings["missing"],
        "versions": result.settings["versions"],
    }
    return PooledTasks(
        table,
        settings,
        conclusion_text(table, tasks, settings),
        methods_text(table, settings),
        tasks=tasks,
    )


def _check_result(result: object) -> None:
    if not isinstance(result, Comparison):
        raise PairingError(
            f"result is a {type(result).__name__}; pool_tasks needs what compare(...) returns (of "
            "compare_to_baseline one of .comparisons)",
            code="bad_option",
            path="result",
        )
    if result.settings["tasks"] != "separate":
        raise PairingError(
            "the comparison has pooled its tasks already; use compare(..., tasks='separate')",
            code="pooled_already",
            path="result",
        )


def _examples(overall: pd.DataFrame) -> pd.Series:
    """Number of distinct examples of each row: pairs and lost ones."""
    return pd.Series(overall[["n_pairs", *_LOSSES]].sum(axis=1))


def _weights(overall: pd.DataFrame, weights: Weights) -> dict[str, float]:
    """Resolve ``weights=`` to a positive number per task that counts."""
    known = sorted(overall["task"].unique())
    if isinstance(weights, str):
        if weights not in ("equal", "examples"):
            raise PairingError(
                f"weights is {weights!r}; it must be 'equal', 'examples' or a number per task, "
                f"such as {{{known[0]!r}: 1}}",
                code="bad_option",
                path="weights",
                value=weights,
            )
        if weights == "equal":
            return dict.fromkeys(known, 1.0)
        most = _examples(overall).groupby(overall["task"]).max()
        return {task: float(most[task]) for task in known}
    return {str(task): _weight(str(task), w, known) for task, w in sorted(weights.items())}


def _weight(task: str, weight: float, known: list[str]) -> float:
    if task not in known:
        raise PairingError(
            f"weights names the task {task!r}, which was not compared; {nearest(task, known)}",
            code="unknown_task",
            path=f"weights[{task!r}]",
            value=task,
        )
    if not (weight > 0 and math.isfinite(weight)):
        raise PairingError(
            f"the weight of the task {task!r} is {weight!r}; it must be a positive number, and a "
            "task that shall not count must be left out",
            code="bad_weight",
            path=f"weights[{task!r}]",
            value=weight,
        )
    return float(weight)


@dataclass(frozen=True)
class _Group:
    """One criterion of one scorer over its tasks."""

    result: Comparison
    overall: pd.DataFrame
    weights: dict[str, float]
    by_examples: bool

    @property
    def rows(self) -> pd.DataFrame:
        """Rows of the comparison for the tasks that count and have pairs, by name of task."""
        rows = self.overall.set_index("task")
        here = rows.index.isin(list(self.weights)) & (rows["n_pairs"] > 0)
        return pd.DataFrame(rows[here])

    @property
    def task_weights(self) -> dict[str, float]:
        """Weight of every task that counts; by examples each criterion counts its own."""
        if not self.by_examples:
            return self.weights
        own = _examples(self.overall).set_axis(self.overall["task"])
        return {task: float(own.get(task, weight)) for task, weight in self.weights.items()}

    @property
    def pairs(self) -> pd.DataFrame:
        """Pairs of the tasks that count, in order of task and example."""
        pairs = self.result.pairs
        head = self.overall.iloc[0]
        here = (pairs["criterion"] == head["criterion"]) & (pairs["scorer"] == head["scorer"])
        pairs = pairs[here & pairs["task"].isin(list(self.weights))]
        return pd.DataFrame(pairs.sort_values(["task", "example_id"], ignore_index=True))

    def pooled(self, level: float) -> StratifiedMean:
        """Estimate the weighted difference."""
        pairs = self.pairs
        return stratified_mean(
            pairs["delta"].to_numpy(),
            pairs["task"].tolist(),
            weights=dict(self.task_weights.items()),
            clusters=_clusters(self.result, pairs),
            level=level,
        )

    def row(self, level: float) -> dict[str, Any]:
        """Compose the row of the table."""
        pooled, rows, weights = self.pooled(level), self.rows, self.task_weights
        estimate = pooled.estimate
        measured = [part.name for part in pooled.strata]
        shares = {str(part.name): part.weight for part in pooled.strata}
        asked = sum(weights.values())
        counted = self.overall[self.overall["task"].isin(list(self.weights))]
        drift = bool(self.overall["self_referenced"].any())
        tested = not (drift or math.isnan(estimate.p_value))
        clustered = estimate.n_units < estimate.n
        return {
            **{name: str(self.overall[name].iloc[0]) for name in _GROUP},
            "n_tasks": len(measured),
            "n_pairs": estimate.n,
            "n_lost": int(counted[_LOSSES].to_numpy().sum()),
            "n_clusters": estimate.n_units,
            "n_spanning": pooled.n_spanning if clustered else 0,
            "coverage": sum(weights[str(task)] for task in measured) / asked,
            "tasks_missing": ", ".join(task for task in weights if task not in measured),
            **{side: _weighted(rows[side], shares) for side in ("mean_baseline", "mean_candidate")},
            "delta": estimate.mean,
            "se": estimate.se,
            "df": estimate.df,
            "ci_low": estimate.low,
            "ci_high": estimate.high,
            "interval": _interval(estimate, clustered=clustered),
            "statistic": estimate.statistic if tested else math.nan,
            "test": _interval(estimate, clustered=clustered) if tested else "none",
            "p_value": estimate.p_value if tested else math.nan,
            "higher_is_better": bool(self.overall["higher_is_better"].iloc[0]),
            "self_referenced": drift,
            "note": "; ".join(_notes(pooled, clustered=clustered)),
        }

    def task_rows(self, level: float) -> list[dict[str, Any]]:
        """Compose the rows of the tasks."""
        pooled, weights = self.pooled(level), self.task_weights
        parts = {str(part.name): part for part in pooled.strata}
        total = sum(part.variance for part in pooled.strata)
        rows = []
        for task, weight in weights.items():
            part = parts.get(task)
            rows.append(
                {
                    **{name: str(self.overall[name].iloc[0]) for name in _GROUP},
                    "task": task,
                    "weight": weight,
                    "share": part.weight if part else 0.0,
                    "n_pairs": part.n if part else 0,
                    "n_clusters": part.n_clusters if part else 0,
                    "delta": part.mean if part else math.nan,
                    "se": math.sqrt(part.variance) / part.weight if part else math.nan,
                    "contribution": part.weight * part.mean if part else math.nan,
                    "variance_share": part.variance / total if part and total > 0 else math.nan,
                }
            )
        return rows


def _weighted(means: pd.Series, shares: Mapping[str, float]) -> float:
    if means.empty:
        return math.nan
    return sum(shares[str(task)] * float(mean) for task, mean in means.items())


def _interval(estimate: stats.MeanEstimate, *, clustered: bool) -> str:
    if math.isnan(estimate.low):
        return "none"
    return "stratified_cr2_t" if clustered else "stratified_t"


def _clusters(result: Comparison, pairs: pd.DataFrame) -> np.ndarray | None:
    """Cluster of each pair, by the column that the comparison used."""
    name = result.settings["cluster"]
    if name is None or not result.settings["clustered"] or pairs.empty:
        return None
    # compare renames attributes whose names its own columns have
    renamed = f"example.{name}"
    column = renamed if renamed in pairs.columns else name
    if column not in pairs.columns:
        raise PairingError(
            f"the pairs of the comparison have no column {name!r}, by which it was clustered; "
            "compare anew and pool that result",
            code="no_clusters",
            path="result",
            value=name,
        )
    return cluster_codes(pairs, column).to_numpy()


def _notes(pooled: StratifiedMean, *, clustered: bool) -> list[str]:
    parts, unit = pooled.strata, "cluster" if clustered else "pair"
    alone = [part.name for part in parts if part.n_clusters < 2]
    still = [part.name for part in parts if part.variance == 0]
    notes = []
    if alone:
        notes.append(
            f"no interval: only one {unit} in the task {listed(alone)}, so nothing says how much "
            "it varies; leave it out of weights= or get more"
        )
    if still:
        notes.append(f"all differences are equal in the task {listed(still)}: no spread to add")
    if clustered and pooled.estimate.n_units < FEW_CLUSTERS:
        notes.append(f"only {pooled.estimate.n_units} clusters: read the interval with care")
    if pooled.n_spanning and clustered:
        notes.append(f"{pooled.n_spanning} clusters have examples in several tasks")
    return notes


def _adjusted(table: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Adjust over the rows and decide verdicts."""
    table = table.assign(p_adjusted=stats.adjust(table["p_value"].to_numpy(), method="holm"))
    table["correction"] = "holm" if table["p_value"].notna().sum() > 1 else "single"
    better = (table["delta"] > 0) == table["higher_is_better"]
    significant = table["p_adjusted"] <= alpha
    unmeasured = table["self_referenced"] | (table["n_pairs"] == 0)
    table["verdict"] = np.select(
        [unmeasured, significant & better, significant],
        ["not_measured", "improved", "regressed"],
        "inconclusive",
    )
    return table[list(POOLED_COLUMNS)]
