"""Which rows are one measurement, and which examples depend on one another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import pandas as pd

from evaltoolkit.errors import PairingError, listed, nearest, warn
from evaltoolkit.schema import rows_text

_EXAMPLE = ["task", "example_id"]
_MEASUREMENT = ["system", "task", "example_id", "trial", "criterion", "scorer", "versus"]

Runs = Literal["error", "latest", "trials"]


def resolve_runs(rows: pd.DataFrame, *, runs: Runs) -> pd.DataFrame:
    """Decide what several runs of one measurement mean.

    Raises:
        PairingError: Several runs measured the same thing and ``runs="error"``.
    """
    if runs not in ("error", "latest", "trials"):
        raise PairingError(
            f"runs is {runs!r}; it must be 'error', 'latest' or 'trials'",
            code="bad_option",
            path="runs",
            value=runs,
        )
    repeated = rows.duplicated(_MEASUREMENT, keep=False)
    if not repeated.any():
        return rows
    if runs == "error":
        raise PairingError(_runs_text(rows[repeated]), code="several_runs", path="runs")
    rank = rows["run_id"].map(_run_order(rows, runs=runs))
    others = [name for name in _MEASUREMENT if name != "trial"]
    if runs == "latest":
        # A run replaces an earlier one whole, with all its trials.
        newest = rank.groupby([rows[name] for name in others], dropna=False).transform("max")
        return rows[rank == newest]
    ranked = rows.assign(run_rank=rank).sort_values(["run_rank", "trial"], kind="stable")
    trial = ranked.groupby(others, dropna=False, sort=False).cumcount()
    return rows.assign(trial=trial.reindex(rows.index))


def _run_order(rows: pd.DataFrame, *, runs: Runs) -> dict[str, int]:
    names = list(dict.fromkeys(rows["run_id"]))
    if "timestamp" in rows.columns and rows["timestamp"].notna().any():
        last = rows.groupby("run_id")["timestamp"].max()
        names.sort(key=lambda run: (pd.notna(last[run]), last[run] if pd.notna(last[run]) else 0))
    elif runs == "latest":
        warn(
            "the runs carry no timestamps, so runs='latest' takes the run whose rows come last in "
            f"the table ({names[-1]!r} among them)",
            stacklevel=6,
        )
    else:
        names.sort()
    return {run: rank for rank, run in enumerate(names)}


def _runs_text(rows: pd.DataFrame) -> str:
    names = rows.groupby("system", sort=True)["run_id"].unique()
    which = "; ".join(f"{system!r}: {listed(runs)}" for system, runs in names.items())
    keys = rows.drop_duplicates(_MEASUREMENT)
    return (
        f"{len(keys)} measurement(s) occur in several runs ({which}); the first: "
        f"{rows_text(keys, ['system', 'task', 'example_id', 'trial', 'criterion'])}. Keep one run "
        "(e.g. scores[scores.run_id == ...]), or pass runs='latest' or runs='trials'"
    )


def cluster_column(rows: pd.DataFrame, cluster: str | bool | None) -> str | None:
    """Resolve ``cluster=`` to the name of a column, or None where examples are independent."""
    if cluster is True:
        cluster = "cluster"
    if isinstance(cluster, str):
        return cluster
    has_column = "cluster" in rows.columns and rows["cluster"].notna().any()
    return "cluster" if cluster is None and has_column else None


def rows_named(
    rows: pd.DataFrame, column: str, wanted: Iterable[str], *, where: str = "no row"
) -> pd.DataFrame:
    """Keep the rows whose column holds one of the wanted names.

    Raises:
        PairingError: A name does not occur; the message has the nearest ones.
    """
    names, known = list(wanted), rows[column].unique()
    for name in names:
        if name not in known:
            raise PairingError(
                f"{where} has the {column} {name!r}; {nearest(name, known)}",
                code=f"unknown_{column}",
                path=column,
                value=name,
            )
    return rows[rows[column].isin(names)]


def example_clusters(rows: pd.DataFrame, column: str | None) -> pd.Series | None:
    """Number the cluster of each example, by (task, example_id); None without a column.

    Raises:
        PairingError: The column is absent, or differs within an example.
    """
    if column is None:
        return None
    if column not in rows.columns:
        raise PairingError(
            f"the table has no column {column!r} to group examples by; "
            f"{nearest(column, rows.columns)}",
            code="unknown_attribute",
            path="cluster",
            value=column,
        )
    distinct = rows.loc[rows[column].notna(), [*_EXAMPLE, column]].drop_duplicates()
    mixed = distinct[distinct.duplicated(_EXAMPLE, keep=False)]
    if len(mixed):
        raise PairingError(
            f"{column!r} differs within {mixed.groupby(_EXAMPLE).ngroups} example(s): "
            f"{rows_text(mixed, [*_EXAMPLE, column])}; a cluster belongs to the example, so it "
            "must be the same in all its rows",
            code="attribute_not_constant",
            path="cluster",
            value=column,
        )
    names = rows.groupby(_EXAMPLE, sort=True)[column].first().to_frame()
    return cluster_codes(names, column)


def cluster_codes(units: pd.DataFrame, column: str) -> pd.Series:
    """Number the clusters of the units; an example without one is a cluster of its own."""
    names = units[column].astype("str")
    codes = pd.Series(pd.factorize(names, sort=True)[0], index=units.index)
    lonely = codes < 0
    if lonely.any() and not lonely.all():
        warn(
            f"{int(lonely.sum())} of {len(units)} examples have no {column}; each counts as a "
            "cluster of its own",
            stacklevel=5,
        )
    own = codes.max() + 1 + pd.Series(range(len(codes)), index=codes.index)
    return codes.where(~lonely, own)
