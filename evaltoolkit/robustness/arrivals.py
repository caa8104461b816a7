"""In which order did the pairs arrive? It must not depend on what came out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evaltoolkit.comparison.pairing import HYPOTHESIS, UNIT, attribute_name
from evaltoolkit.errors import PairingError, nearest
from evaltoolkit.schema import SCORES

_OUTCOMES = ("score", "label", "passed", "status", "message")
TIMESTAMP, TABLE = "timestamp", "table"


def arrival_column(rows: pd.DataFrame, order: str) -> pd.Series:
    """Give each selected row the value that it is ordered by.

    Args:
        rows: Rows of the two systems, in the order of the score table.
        order: ``"timestamp"``, ``"table"`` or the name of a column.

    Raises:
        PairingError: There is no such column, it has no order, or it is an outcome.
    """
    if order == TABLE:
        return pd.Series(np.arange(len(rows)), index=rows.index)
    if order in _OUTCOMES:
        raise PairingError(
            f"order is {order!r}, which is part of the outcome; evidence ordered by what came "
            "out is worthless. Order by time, by table or by a column fixed beforehand",
            code="outcome_order",
            path="order",
            value=order,
        )
    name = order if order in SCORES.known else attribute_name(order)
    if name not in rows.columns:
        remedy = nearest(order, [TIMESTAMP, TABLE, *SCORES.attributes(rows)])
        raise PairingError(
            f"order is {order!r}, but the table has no such column ({remedy}); where rows stand "
            "in the order in which they were measured, pass order='table'",
            code="unknown_order",
            path="order",
            value=order,
        )
    return rows[name]


def arrivals_of(rows: pd.DataFrame, order: str) -> pd.DataFrame:
    """Say when each example of each hypothesis was complete: with the last of its scored rows.

    Returns:
        Columns of hypothesis and example, and ``arrival``.
    """
    timed = rows.assign(arrival=arrival_column(rows, order))
    timed = timed[timed["status"] == "scored"]
    missing = timed["arrival"].isna()
    if missing.any():
        raise PairingError(
            f"{int(missing.sum())} of {len(timed)} scored rows have no {order}, so the order in "
            "which the pairs arrived is not known; fill it in, or pass order='table' where rows "
            "stand in the order in which they were measured",
            code="unknown_order",
            path="order",
            value=order,
        )
    try:
        found = timed.groupby([*HYPOTHESIS, *UNIT], sort=False)["arrival"].max()
        found.sort_values()
    except TypeError:
        raise PairingError(
            f"the values of {order!r} cannot be put in order (mixed kinds); make it a column of "
            "numbers, times or text",
            code="unknown_order",
            path="order",
            value=order,
        ) from None
    return found.reset_index()


def in_order(pairs: pd.DataFrame, arrivals: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Sort pairs by arrival; those that arrived together by the names of their examples.

    Args:
        pairs: Rows of `Comparison.pairs` with the columns `keys`.
        arrivals: Result of `arrivals_of`.
        keys: Columns of hypothesis and example.
    """
    timed = pairs.merge(arrivals, on=list(keys), how="left", validate="one_to_one")
    return timed.sort_values(["arrival", *UNIT], kind="stable", ignore_index=True)
