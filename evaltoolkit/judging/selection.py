"""Which rows of a score table are judged, and who depends on whom."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import metadata

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evaltoolkit.errors import PairingError, listed, nearest
from evaltoolkit.measurements import cluster_codes, cluster_column
from evaltoolkit.schema import rows_text
from evaltoolkit.scores import check_scores

UNIT = ["run_id", "system", "task", "example_id", "trial", "versus"]
"""What one scorer judges once: one output, or one pair of outputs."""

EXAMPLE = ["task", "example_id"]


def criterion_rows(scores: pd.DataFrame, criterion: str) -> pd.DataFrame:
    """Check the table and keep the rows of one criterion.

    Raises:
        SchemaError: The table breaks a rule.
        PairingError: The criterion is not in the table.
    """
    return rows_named(check_scores(scores), "criterion", [criterion])


def rows_named(rows: pd.DataFrame, column: str, wanted: Iterable[str]) -> pd.DataFrame:
    """Keep the rows with one of the wanted names.

    Raises:
        PairingError: A name does not occur.
    """
    known = rows[column].unique()
    names = list(wanted)
    for name in names:
        if name not in known:
            raise PairingError(
                f"no row has the {column} {name!r}; {nearest(name, known)}",
                code=f"unknown_{column}",
                path=column,
                value=name,
            )
    return rows[rows[column].isin(names)]


def example_clusters(rows: pd.DataFrame, cluster: str | bool | None) -> pd.Series | None:
    """Number the cluster of each example, or None where all are independent.

    Raises:
        PairingError: The column is absent or differs within an example.
    """
    column = cluster_column(rows, cluster)
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
    distinct = rows.loc[rows[column].notna(), [*EXAMPLE, column]].drop_duplicates()
    mixed = distinct.duplicated(EXAMPLE, keep=False)
    if mixed.any():
        raise PairingError(
            f"{column!r} differs within {int(distinct[mixed].groupby(EXAMPLE).ngroups)} "
            f"example(s): {rows_text(distinct[mixed], [*EXAMPLE, column])}; a cluster belongs to "
            "the example",
            code="bad_attribute",
            path="cluster",
            value=column,
        )
    names = rows.groupby(EXAMPLE, sort=True)[column].first().to_frame()
    codes = cluster_codes(names, column)
    return codes if codes.nunique() < len(codes) else None


def block_codes(units: pd.DataFrame, clusters: pd.Series | None) -> NDArray[np.intp]:
    """Number the blocks that are independent of one another: examples, or their clusters."""
    keys = pd.MultiIndex.from_frame(units[EXAMPLE])
    if clusters is None:
        return np.asarray(units.groupby(EXAMPLE, sort=True).ngroup(), dtype=np.intp)
    return np.asarray(np.unique(clusters.loc[keys].to_numpy(), return_inverse=True)[1], np.intp)


def need_absolute(rows: pd.DataFrame) -> None:
    """Refuse pairwise judgements where only absolute scores make sense.

    Raises:
        PairingError: A row names an opponent in ``versus``.
    """
    if rows["versus"].notna().any():
        raise PairingError(
            f"{int(rows['versus'].notna().sum())} row(s) are pairwise judgements (versus), whose "
            "mean is no property of one system; keep scores[scores.versus.isna()]",
            code="pairwise_rows",
            path="versus",
        )


def two_names(first: str, second: str, *, what: str) -> None:
    """Refuse the same name twice.

    Raises:
        PairingError: The names are equal.
    """
    if first == second:
        raise PairingError(
            f"{what} are both {first!r}; name two different ones",
            code="same_name",
            value=first,
        )


def versions() -> dict[str, str]:
    """Name the versions that made the numbers."""
    return {name: metadata.version(name) for name in ("evaltoolkit", "numpy", "pandas", "scipy")}


def scorers_text(rows: pd.DataFrame) -> str:
    """List the scorers with their numbers of rows, for messages."""
    counts = rows["scorer"].value_counts().sort_index()
    return listed([f"{name} ({count} rows)" for name, count in counts.items()], limit=9)
