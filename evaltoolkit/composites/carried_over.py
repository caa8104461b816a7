"""What the rows of a composite over criteria take over from their parts."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import pandas as pd

from evaltoolkit.errors import SchemaError
from evaltoolkit.schema import SCORES

MEASUREMENT = ["run_id", "system", "task", "example_id", "trial", "versus"]
"""Rows that agree on these are parts of one composite."""

_CONSTANT = ("cluster", "input_digest", "position")
"""Known columns that a composite takes over where its parts agree on them."""


def check_new_name(table: pd.DataFrame, name: str) -> None:
    """Refuse a name for a composite that is empty or taken.

    Raises:
        SchemaError: It is.
    """
    if not name or name in set(table["criterion"]):
        raise SchemaError(
            f"the table already has a criterion {name!r}; give the composite another name="
            if name
            else "name is empty; give the composite a name=",
            code="name_taken",
            path="name",
            value=name,
        )


def check_one_form(rows: pd.DataFrame) -> None:
    """Refuse a composite of pairwise and other criteria.

    Raises:
        SchemaError: Some of the rows are pairwise and some are not.
    """
    if rows["versus"].isna().nunique() > 1:
        raise SchemaError(
            "some of the criteria have pairwise rows (versus) and some have not, which measure "
            "different things; keep one kind, e.g. scores[scores.versus.isna()]",
            code="mixed_forms",
            path="versus",
        )


def codes_of_measurements(rows: pd.DataFrame) -> np.ndarray:
    """Number the measurements of the rows, from 0 in order of appearance."""
    return rows.groupby(MEASUREMENT, dropna=False, sort=False).ngroup().to_numpy()


def one_row_each(rows: pd.DataFrame, codes: np.ndarray) -> pd.DataFrame:
    """Give one row for each measurement: its key, and what its parts agree on.

    Args:
        rows: Rows of a score table.
        codes: The number of the measurement of each.
    """
    order = pd.Series(codes, index=rows.index)
    frame = rows.loc[~order.duplicated(), MEASUREMENT].reset_index(drop=True)
    taken = [*SCORES.attributes(rows), *(n for n in _CONSTANT if n in rows.columns)]
    for column in taken:
        frame[column] = _agreed(rows[column], order).to_numpy()
    if "timestamp" in rows.columns:
        frame["timestamp"] = rows["timestamp"].groupby(codes).max()
    return frame


def _agreed(values: pd.Series, owner: pd.Series) -> pd.Series:
    """Give each measurement the value that its parts share, or none where they differ."""
    given = values[values.notna()]
    keys = given.map(_hashable) if given.dtype == object else given
    groups = owner[given.index]
    single = keys.groupby(groups).nunique() == 1
    first = given[~groups.duplicated()]
    first.index = pd.Index(groups[first.index])
    return first[single.reindex(first.index)].reindex(range(int(owner.max()) + 1))


def _hashable(value: Hashable) -> Hashable:
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value
