"""Columns and dtypes of the three tables that everyone shares.

The tables are plain long pandas DataFrames: *scores* (one row per measurement), *outputs* (one
row per answer of a system) and *details* (one JSON column, keyed like scores). This module only
says what their columns are and puts a frame into that form; rules that rows must obey are in
`evaltoolkit.scores`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from evaltoolkit.errors import SchemaError, listed, nearest

STATUSES = ("scored", "unscored", "scorer_error", "system_error")
"""What can have happened to one measurement, from fine to worst."""

STATUS_DTYPE = pd.CategoricalDtype(list(STATUSES))

_TEXT = pd.StringDtype(na_value=np.nan)
_TIME = pd.DatetimeTZDtype("us", "UTC")

Kind = Literal["id", "nullable_text", "verbatim", "int", "float", "bool", "status", "time", "json"]


@dataclass(frozen=True)
class Column:
    """One column of a table: its name, what it holds and what stands where nothing is given."""

    name: str
    kind: Kind
    default: object = None
    required: bool = False


@dataclass(frozen=True)
class Table:
    """A table: its name, the columns that are always there, the known optional ones, its key."""

    name: str
    columns: tuple[Column, ...]
    optional: tuple[Column, ...]
    key: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """Names of the columns that are always present, in order."""
        return [column.name for column in self.columns]

    @property
    def known(self) -> dict[str, Column]:
        """Every column that the table knows, required or optional, by name."""
        return {column.name: column for column in (*self.columns, *self.optional)}

    def attributes(self, frame: pd.DataFrame) -> list[str]:
        """Names of the further columns: attributes of the example such as topic or language."""
        known = self.known
        return [str(name) for name in frame.columns if name not in known]


_RUN_KEY = (
    Column("run_id", "id", ""),
    Column("system", "id", required=True),
    Column("task", "id", ""),
    Column("example_id", "id", required=True),
    Column("trial", "int", 0),
)
_SCORE_KEY = (
    *_RUN_KEY,
    Column("criterion", "id", required=True),
    Column("scorer", "id", ""),
    Column("versus", "nullable_text"),
)

SCORES = Table(
    "score table",
    columns=(
        *_SCORE_KEY,
        Column("score", "float", np.nan, required=True),
        Column("label", "nullable_text"),
        Column("passed", "bool"),
        Column("status", "status"),
        Column("message", "nullable_text"),
        Column("source", "nullable_text"),
    ),
    optional=(
        Column("cluster", "nullable_text"),
        Column("kind", "nullable_text"),
        Column("blocking", "bool"),
        Column("higher_is_better", "bool"),
        Column("lower_bound", "float"),
        Column("upper_bound", "float"),
        Column("threshold", "float"),
        Column("weight", "float"),
        Column("self_referenced", "bool"),
        Column("timestamp", "time"),
        Column("judge_cost_usd", "float"),
        Column("input_digest", "nullable_text"),
        Column("position", "nullable_text"),
    ),
    key=tuple(column.name for column in _SCORE_KEY),
)

OUTPUTS = Table(
    "outputs table",
    columns=(
        *_RUN_KEY,
        Column("input", "verbatim"),
        Column("output", "verbatim"),
        Column("reference", "verbatim"),
        Column("error", "nullable_text"),
        Column("finish_reason", "nullable_text"),
        Column("tool_calls", "json"),
        Column("cost_usd", "float", np.nan),
        Column("tokens_in", "float", np.nan),
        Column("tokens_out", "float", np.nan),
        Column("latency_s", "float", np.nan),
        Column("source", "nullable_text"),
    ),
    optional=(Column("cluster", "nullable_text"), Column("timestamp", "time")),
    key=tuple(column.name for column in _RUN_KEY),
)

DETAILS = Table(
    "details table",
    columns=(*_SCORE_KEY, Column("details", "json")),
    optional=(Column("source", "nullable_text"),),
    key=tuple(column.name for column in _SCORE_KEY),
)

CRITERION_COLUMNS = (
    "kind",
    "blocking",
    "higher_is_better",
    "lower_bound",
    "upper_bound",
    "threshold",
    "weight",
    "self_referenced",
)
"""Optional columns of the score table that must be constant within a criterion."""


def normalise(frame: pd.DataFrame, table: Table) -> pd.DataFrame:
    """Put a frame into the columns, order and dtypes of a table; never drop or reorder rows.

    Missing columns with a default are added, ids become text (so 7, 7.0 and "7" meet), empty
    text in a nullable column becomes missing (but an empty answer stays one), and further
    columns are kept as attributes.

    Args:
        frame: Any DataFrame with at least the required columns of the table.
        table: One of `SCORES`, `OUTPUTS`, `DETAILS`.

    Returns:
        A new DataFrame with a fresh index.

    Raises:
        SchemaError: A required column is absent, a column name occurs twice, or a cell cannot
            be converted; the message names the column, the rows and the remedy.
    """
    _check_names(frame, table)
    out: dict[str, pd.Series] = {}
    for column in (*table.columns, *table.optional):
        if column.name in frame.columns:
            out[column.name] = _CONVERTERS[column.kind](frame[column.name], column)
        elif column in table.columns:
            out[column.name] = _filled(column, frame.index)
    for name in table.attributes(frame):
        out[name] = frame[name]
    return pd.DataFrame(out, index=frame.index).reset_index(drop=True)


def empty(table: Table) -> pd.DataFrame:
    """Give a table without rows, with the right columns and dtypes."""
    return normalise(pd.DataFrame({name: [] for name in table.names}), table)


def as_text(values: pd.Series) -> pd.Series:
    """Turn ids into text: whole floats lose their ".0", missing values stay missing.

    Example:
        >>> as_text(pd.Series([7, "7", 7.0, "a b"], dtype=object)).tolist()
        ['7', '7', '7', 'a b']
    """
    if isinstance(values.dtype, pd.StringDtype):
        return values if values.dtype == _TEXT else values.astype(_TEXT)
    if values.dtype == object and values.isna().all():
        return pd.Series(np.nan, index=values.index, dtype=_TEXT, name=values.name)
    if pd.api.types.is_float_dtype(values.dtype) or values.dtype == object:
        values = values.map(_whole_as_int, na_action="ignore").astype(object)
    return values.astype(_TEXT)


def _whole_as_int(value: object) -> object:
    is_whole = isinstance(value, float | np.floating) and np.isfinite(value) and value == int(value)
    return int(value) if is_whole else value  # type: ignore[call-overload]


def _check_names(frame: pd.DataFrame, table: Table) -> None:
    repeated = frame.columns[frame.columns.duplicated()].unique().tolist()
    if repeated:
        raise SchemaError(
            f"the {table.name} has the column name {listed(repeated)} more than once; "
            "rename or drop one of them",
            code="repeated_column",
            value=repeated,
        )
    absent = [c.name for c in table.columns if c.required and c.name not in frame.columns]
    if absent:
        hints = "; ".join(f"{name!r}: {nearest(name, frame.columns)}" for name in absent)
        raise SchemaError(
            f"the {table.name} needs the column(s) {listed(absent)}; the frame has "
            f"{listed(frame.columns, limit=12)} ({hints}). Rename columns, or build the table "
            "with evaltoolkit.tidy_scores(...)",
            code="missing_column",
            value=absent,
        )


def _filled(column: Column, index: pd.Index) -> pd.Series:
    if column.kind in ("id", "nullable_text", "verbatim", "json"):
        given = np.nan if column.default is None else column.default
        return pd.Series(given, index=index, dtype=_TEXT)
    values = pd.Series([column.default], dtype=object)
    one = _CONVERTERS[column.kind](values, column)
    return one.take(np.zeros(len(index), dtype="int64")).set_axis(index)


def _broken(values: pd.Series, bad: pd.Series, column: Column, expected: str) -> SchemaError:
    rows = values.index[bad.to_numpy()].tolist()
    error = SchemaError(
        f"column {column.name!r} holds {listed(values[bad].unique())} in {len(rows)} row(s) "
        f"(first rows: {listed(rows)}); {expected}",
        code="bad_value",
        path=column.name,
        value=values[bad].iloc[0],
    )
    error.rows = tuple(rows)
    return error


def _to_id(values: pd.Series, column: Column) -> pd.Series:
    text = as_text(values)
    missing = text.isna()
    if not missing.any():
        return text
    if not column.required:
        return text.fillna(str(column.default))
    rows = values.index[missing.to_numpy()].tolist()
    error = SchemaError(
        f"column {column.name!r} is empty in {len(rows)} row(s) (first rows: "
        f"{listed(rows)}); every row needs a {column.name}, so fill it in or remove those "
        "rows yourself",
        code="missing_id",
        path=column.name,
    )
    error.rows = tuple(rows)
    raise error


def _to_nullable_text(values: pd.Series, column: Column) -> pd.Series:
    del column
    text = as_text(values)
    blank = text == ""
    return text.mask(blank) if blank.any() else text


def _to_verbatim(values: pd.Series, column: Column) -> pd.Series:
    """Keep text as it is: an empty answer is an answer."""
    del column
    return as_text(values)


def _to_int(values: pd.Series, column: Column) -> pd.Series:
    if values.dtype == "int64" and (values >= 0).all():
        return values
    given = values.astype(object).where(values.notna(), column.default)
    numbers = pd.to_numeric(given, errors="coerce").astype("float64")
    bad = ~(numbers.abs().lt(np.inf) & (numbers % 1 == 0) & (numbers >= 0))
    if bad.any():
        raise _broken(values, bad, column, "it must be a whole number from 0")
    return numbers.astype("int64")


def _to_float(values: pd.Series, column: Column) -> pd.Series:
    if values.dtype == "float64":
        return values
    given = values.notna()
    numbers = pd.to_numeric(values.where(given, np.nan), errors="coerce").astype("float64")
    bad = given & numbers.isna()
    if bad.any():
        raise _broken(
            values,
            bad,
            column,
            "it must be a number; map words to numbers first, e.g. "
            f"df[{column.name!r}].map({{'correct': 1, 'incorrect': 0}}), or keep them as label",
        )
    return numbers


_TRUE = frozenset({"true", "1", "1.0"})
_FALSE = frozenset({"false", "0", "0.0"})


def _to_bool(values: pd.Series, column: Column) -> pd.Series:
    if values.dtype == "boolean" or pd.api.types.is_bool_dtype(values.dtype):
        return values.astype("boolean")
    given = values.notna() & (values.astype("str") != "")
    words = values.astype("str").str.lower()
    bad = given & ~words.isin(_TRUE | _FALSE)
    if bad.any():
        raise _broken(values, bad, column, "it must be true, false or empty")
    return words.isin(_TRUE).astype("boolean").mask(~given.astype(bool))


def _to_status(values: pd.Series, column: Column) -> pd.Series:
    if values.dtype == STATUS_DTYPE:
        return values
    text = values.astype("str")
    bad = text.notna() & ~text.isin(STATUSES)
    if bad.any():
        raise _broken(values, bad, column, f"it must be one of {listed(STATUSES)}")
    return text.astype(STATUS_DTYPE)


def _to_time(values: pd.Series, column: Column) -> pd.Series:
    if values.dtype == _TIME:
        return values
    given = values.notna()
    times = pd.to_datetime(values.where(given), utc=True, errors="coerce", format="ISO8601").astype(
        "datetime64[us, UTC]"
    )
    bad = given & times.isna()
    if bad.any():
        raise _broken(values, bad, column, "it must be an ISO 8601 date and time")
    return times


_CONVERTERS: Mapping[Kind, Callable[[pd.Series, Column], pd.Series]] = {
    "id": _to_id,
    "nullable_text": _to_nullable_text,
    "verbatim": _to_verbatim,
    "json": _to_nullable_text,
    "int": _to_int,
    "float": _to_float,
    "bool": _to_bool,
    "status": _to_status,
    "time": _to_time,
}


def rows_text(frame: pd.DataFrame, columns: Sequence[str], *, limit: int = 5) -> str:
    """Show the first few rows of some columns in one line, for error messages."""
    shown = frame.loc[:, list(columns)].head(limit)
    parts = ["(" + ", ".join(f"{k}={v!r}" for k, v in row.items()) + ")" for row in _dicts(shown)]
    rest = len(frame) - len(shown)
    return "; ".join(parts) + (f"; and {rest} more" if rest > 0 else "")


def _dicts(frame: pd.DataFrame) -> list[dict[str, object]]:
    return [
        {str(k): (None if pd.isna(v) else v) for k, v in row.items()}
        for row in frame.to_dict(orient="records")
    ]
