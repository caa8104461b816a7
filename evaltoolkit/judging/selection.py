"""Which rows of a score table are judged, and who depends on whom."""

from __future__ import annotations

from importlib import metadata

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evaltoolkit.errors import PairingError, listed
from evaltoolkit.measurements import cluster_column, example_clusters, rows_named
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


def independent_clusters(rows: pd.DataFrame, cluster: str | bool | None) -> pd.Series | None:
    """Number the cluster of each example, or None where all are independent.

    Raises:
        PairingError: The column is absent or differs within an example.
    """
    codes = example_clusters(rows, cluster_column(rows, cluster))
    return codes if codes is not None and codes.nunique() < len(codes) else None


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
