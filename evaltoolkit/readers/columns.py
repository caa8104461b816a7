"""Columns of a table from the values of many records, with one dtype rule for every reader.

Text becomes ``str``; truth values ``bool``, with gaps ``boolean``; whole numbers ``int64``, with
gaps ``Int64``; other numbers ``float64``; nested values JSON text. A column of several kinds of
values, or of none, stays as it is (``object``).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from evaltoolkit.readers.records import as_cell

if TYPE_CHECKING:
    import pyarrow as pa

_EXACT = 2**53


def frame_of(rows: Sequence[Mapping[str, Any]], index: Iterable[Hashable]) -> pd.DataFrame:
    """Make a frame of records; its columns are in the order in which their names first occur.

    Args:
        rows: The records, with JSON values.
        index: One label for each.
    """
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row))
    labels = pd.Index(list(index))
    cells = {name: series_of([row.get(name) for row in rows], labels) for name in names}
    return pd.DataFrame(cells, index=labels)


def series_of(values: list[Any], index: pd.Index) -> pd.Series:
    """Make one column of JSON values.

    Example:
        >>> series_of([1, None, 3], pd.RangeIndex(3)).dtype
        Int64Dtype()
    """
    kinds = set(map(type, values)) - {type(None)}
    if dict in kinds or list in kinds:
        values = [as_cell(each) if isinstance(each, dict | list) else each for each in values]
        kinds = set(map(type, values)) - {type(None)}
    if kinds == {str}:
        return pd.Series(values, index=index, dtype="str")
    if kinds == {bool}:
        return pd.Series(values, index=index, dtype="boolean" if None in values else "bool")
    if kinds == {int}:
        return _whole(values, index)
    if kinds in ({float}, {float, int}) and not _loses_digits(values, kinds):
        return pd.Series(np.array(values, dtype="float64"), index=index)
    return pd.Series(values, index=index, dtype=object)


def _whole(values: list[Any], index: pd.Index) -> pd.Series:
    try:
        if None not in values:
            return pd.Series(np.array(values, dtype="int64"), index=index)
        return pd.Series(pd.array(values, dtype="Int64"), index=index)
    except OverflowError:
        return pd.Series(values, index=index, dtype=object)


def _loses_digits(values: list[Any], kinds: set[type]) -> bool:
    whole = (each for each in values if isinstance(each, int)) if int in kinds else ()
    return any(abs(each) > _EXACT for each in whole)


def series_of_arrow(values: pa.ChunkedArray, index: pd.Index) -> pd.Series:
    """Make one column of an Arrow column of text, truth values, numbers or nulls."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_large_string(kind):
        text: Any = pd.StringDtype(na_value=np.nan)
        return pd.Series(text.__from_arrow__(values), index=index)
    if pa.types.is_timestamp(kind):
        return pd.Series(values.to_pandas().set_axis(index))
    if pa.types.is_null(kind):
        return pd.Series([None] * len(values), index=index, dtype=object)
    if values.null_count and not pa.types.is_floating(kind):
        wider: Any = pd.BooleanDtype() if pa.types.is_boolean(kind) else pd.Int64Dtype()
        return pd.Series(wider.__from_arrow__(values), index=index)
    return pd.Series(values.to_numpy(), index=index)


def unified(columns: Sequence[pd.Series]) -> str | None:
    """Name the dtype that the parts of one column get before they are put below each other.

    None stands for parts that fit as they are. A part without any value fits everywhere.

    Example:
        >>> unified([pd.Series([1, 2]), pd.Series([None], dtype=object)])
        'Int64'
    """
    given = [part for part in columns if not is_blank(part)]
    dtypes, gaps = {str(part.dtype) for part in given}, len(given) < len(columns)
    if dtypes <= {"int64", "Int64"} and dtypes:
        return "Int64" if gaps or "Int64" in dtypes else None
    if dtypes <= {"bool", "boolean"} and dtypes:
        return "boolean" if gaps or "boolean" in dtypes else None
    if dtypes <= {"int64", "Int64", "float64"} and "float64" in dtypes:
        return "float64"
    return "str" if dtypes == {"str"} and gaps else None


def is_blank(column: pd.Series) -> bool:
    """Say whether a column has no value at all, and no dtype because of that."""
    return column.dtype == object and bool(column.isna().all())
