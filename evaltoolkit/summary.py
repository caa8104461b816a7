"""One table about one score table: what was measured (coverage) and how each system did."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from evaltoolkit import stats
from evaltoolkit.criteria import CriterionInfo, criteria_of
from evaltoolkit.errors import SchemaError, nearest
from evaltoolkit.measurements import Runs, cluster_codes, cluster_column, resolve_runs
from evaltoolkit.schema import STATUSES
from evaltoolkit.scores import check_scores

_MEAN_COLUMNS = (
    "n_examples", "n_clusters", "n_scored", "mean", "se", "df", "ci_low", "ci_high", "interval",
)  # fmt: skip
_GROUP = ["task", "criterion", "scorer"]
_EXAMPLE = ["task", "example_id"]


def coverage(scores: pd.DataFrame, *, baseline: str | None = None) -> pd.DataFrame:
    """Count what was measured, per system, task, criterion and scorer.

    Args:
        scores: A score table.
        baseline: Count the pairs with this system; by default the examples that every system
            of the group has scored.

    Returns:
        One row per task, criterion, scorer and system that occurs anywhere in the task, with
        ``n_examples`` (distinct examples with a row), ``n_rows``, one column per status
        (``scored``, ``unscored``, ``scorer_error``, ``system_error``: rows), ``missing``
        (examples of the task that have no row here) and ``n_pairs``.

    Raises:
        SchemaError: The table breaks a rule, or the baseline is unknown.

    Example:
        >>> table = pd.DataFrame({"system": ["a", "a", "b"], "example_id": [1, 2, 1],
        ...     "criterion": "acc", "score": [1.0, None, 0.0]})
        >>> coverage(table)[["system", "scored", "unscored", "missing", "n_pairs"]].values.tolist()
        [['a', 1, 1, 0, 1], ['b', 1, 0, 1, 1]]
    """
    table = check_scores(scores)
    systems = sorted(table["system"].unique())
    if baseline is not None and baseline not in systems:
        raise SchemaError(
            f"baseline is {baseline!r}, which is no system of the table; "
            f"{nearest(baseline, systems)}",
            code="unknown_system",
            path="baseline",
            value=baseline,
        )
    parts = [_coverage_of(part, table, systems, baseline) for _, part in table.groupby(_GROUP)]
    columns = [*_GROUP, "system", "n_examples", "n_rows", *STATUSES, "missing", "n_pairs"]
    rows = [row for part in parts for row in part]
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(columns[4:], "int64"))


def _coverage_of(
    part: pd.DataFrame, table: pd.DataFrame, systems: Sequence[str], baseline: str | None
) -> list[dict[str, object]]:
    head = {name: part[name].iloc[0] for name in _GROUP}
    known = table.loc[table["task"] == head["task"], "example_id"].nunique()
    here = {str(system): rows for system, rows in part.groupby("system")}
    scored = {s: _scored_ids(rows, here, baseline) for s, rows in here.items()}
    shared = set.intersection(*scored.values()) if scored else set()
    out: list[dict[str, object]] = []
    for system in systems:
        rows = here.get(system, part.iloc[:0])
        mine = scored.get(system, set())
        pairs = mine & scored.get(baseline, set()) if baseline is not None else mine & shared
        counts = rows["status"].value_counts()
        n_examples = rows["example_id"].nunique()
        out.append(
            {
                **head,
                "system": system,
                "n_examples": n_examples,
                "n_rows": len(rows),
                **{status: int(counts.get(status, 0)) for status in STATUSES},
                "missing": known - n_examples,
                "n_pairs": len(pairs),
            }
        )
    return out


def _scored_ids(rows: pd.DataFrame, here: Mapping[str, object], baseline: str | None) -> set[str]:
    """Examples with a score, pairwise rows counted only where they are against the baseline."""
    counts = rows["score"].notna()
    if baseline is not None:
        against = rows["versus"].isna() | (rows["versus"] == baseline)
        counts &= against | ((rows["system"] == baseline) & rows["versus"].isin(list(here)))
    return set(rows.loc[counts, "example_id"])


def summarise(
    scores: pd.DataFrame,
    *,
    by: str | Sequence[str] | None = None,
    cluster: str | bool | None = None,
    runs: Runs = "error",
    level: float = 0.95,
) -> pd.DataFrame:
    """Give the mean of each system with an interval, per task, criterion and scorer.

    The mean is over examples, equally weighted, of the per-example means over scored trials.
    Paired comparisons belong to `compare`: overlapping intervals of two systems say little about
    their difference.

    Args:
        scores: A score table.
        by: Attribute(s) to split by.
        cluster: Column with groups of dependent examples; None uses ``cluster`` where filled,
            False ignores it.
        runs: What several runs of one measurement mean: ``"error"``, ``"latest"``, ``"trials"``.
        level: Level of the intervals.

    Returns:
        One row per group and system: ``n_examples``, ``n_clusters``, ``n_scored``, ``mean``,
        ``se``, ``df``, ``ci_low``, ``ci_high``, ``interval`` (Wilson for 0/1 outcomes with one
        trial, t otherwise, CR2 with clusters).

    Raises:
        SchemaError: The table breaks a rule, or a column to split or group by is absent.
        PairingError: Several runs measured the same thing and ``runs="error"``.

    Example:
        >>> table = pd.DataFrame({"system": "a", "example_id": range(20), "criterion": "acc",
        ...     "score": [1.0] * 18 + [0.0] * 2})
        >>> summarise(table)[["mean", "ci_low", "ci_high"]].round(3).values.tolist()
        [[0.9, 0.699, 0.972]]
    """
    table = resolve_runs(check_scores(scores), runs=runs)
    facts = criteria_of(table)
    splits = [by] if isinstance(by, str) else list(by or [])
    column = cluster_column(table, cluster)
    needed = [*splits, *([column] if column else [])]
    unknown = [name for name in needed if name not in table.columns]
    if unknown:
        raise SchemaError(
            f"the table has no column {unknown[0]!r} to group examples by; "
            f"{nearest(unknown[0], table.columns)}",
            code="unknown_attribute",
            path=unknown[0],
            value=unknown[0],
        )
    keys = [*_GROUP, *splits, "system"]
    rows = [
        dict(zip(keys, key, strict=True))
        | _mean_row(part, facts[str(part["criterion"].iloc[0])], column, level)
        for key, part in table.groupby(keys, dropna=False, sort=True)
    ]
    return pd.DataFrame(rows, columns=[*keys, *_MEAN_COLUMNS])


def _mean_row(
    part: pd.DataFrame, info: CriterionInfo, cluster: str | None, level: float
) -> dict[str, object]:
    scored = part[part["score"].notna()]
    means = scored.groupby(_EXAMPLE, sort=True)["score"].mean().to_numpy()
    n_examples = part[_EXAMPLE].drop_duplicates().shape[0]
    single = len(scored) == len(means)
    codes = None
    if cluster is not None:
        names = scored.groupby(_EXAMPLE, sort=True)[cluster].first()
        numbers = cluster_codes(names.to_frame(), cluster).to_numpy()
        codes = numbers if np.unique(numbers).size < numbers.size else None
    if codes is None and info.kind == "binary" and single:
        estimate, interval = stats.paired_t(means, level=level), "wilson"
        low, high = stats.wilson(int(means.sum()), means.size, level=level)
    elif codes is None:
        estimate, interval = stats.paired_t(means, level=level), "t"
        low, high = estimate.low, estimate.high
    else:
        estimate, interval = stats.cluster_mean(means, codes, level=level), "cr2_t"
        low, high = estimate.low, estimate.high
    return {
        "n_examples": n_examples,
        "n_clusters": means.size if codes is None else int(np.unique(codes).size),
        "n_scored": int(means.size),
        "mean": estimate.mean if means.size else math.nan,
        "se": estimate.se,
        "df": estimate.df,
        "ci_low": low,
        "ci_high": high,
        "interval": interval,
    }
