"""Tables to files and back without loss: CSV, JSON lines and Parquet.

Text formats cannot say everything: where the dtype of an attribute could not be told from its
text alone, `write_table` puts a small ``<file>-metadata.json`` beside the file (the place that
the W3C's CSV on the Web gives to such notes) and `load_table` reads it back.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evaltoolkit.errors import EvalToolkitError, MissingDependencyError
from evaltoolkit.schema import OUTPUTS, SCORES, Table, normalise
from evaltoolkit.scores import check_scores

_INT = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?|-?inf")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")


def write_scores(scores: pd.DataFrame, path: str | Path) -> Path:
    """Write a score table to ``.csv``, ``.jsonl`` or ``.parquet``; `read_scores` reads it back.

    In CSV, text that a spreadsheet would run as a formula gets a leading apostrophe, which the
    reader takes off again.

    Args:
        scores: A score table; it is checked first.
        path: The file; its suffix chooses the format.

    Returns:
        The path that was written.

    Raises:
        SchemaError: The table breaks a rule.
        EvalToolkitError: The suffix is not one of the three.
        MissingDependencyError: Parquet without pyarrow.
    """
    return write_table(check_scores(scores), path, table=SCORES)


def write_outputs(outputs: pd.DataFrame, path: str | Path) -> Path:
    """Write an outputs table to ``.csv``, ``.jsonl`` or ``.parquet``; see `write_scores`."""
    return write_table(normalise(outputs, OUTPUTS), path, table=OUTPUTS)


def write_table(frame: pd.DataFrame, path: str | Path, *, table: Table) -> Path:
    """Write a normalised table; the suffix of the path chooses the format."""
    path = Path(path)
    writer = _WRITERS.get(path.suffix)
    if writer is None:
        raise EvalToolkitError(
            f"cannot write {path.name!r}: the suffix {path.suffix!r} must be one of "
            ".csv, .jsonl, .parquet",
            code="bad_suffix",
            path=str(path),
            value=path.suffix,
        )
    writer(frame, path)
    _write_note(frame, path, table)
    return path


def load_table(path: str | Path, *, table: Table) -> pd.DataFrame:
    """Read a table that `write_table` wrote, or any file in one of the three forms.

    Raises:
        SchemaError: A required column is absent or a cell has the wrong type.
    """
    path = Path(path)
    frame = {".csv": load_csv, ".parquet": load_parquet}.get(path.suffix, load_jsonl)(path)
    return restore(frame, path, table=table)


def restore(frame: pd.DataFrame, path: Path, *, table: Table) -> pd.DataFrame:
    """Give raw columns their dtypes back: known ones by the table, attributes by note or text."""
    note = note_path(path)
    dtypes: dict[str, str] = json.loads(note.read_text("utf-8")) if note.is_file() else {}
    for name in table.attributes(frame):
        frame[name] = _typed(frame[name], dtypes.get(name), from_text=path.suffix == ".csv")
    return normalise(frame, table)


def load_csv(path: Path) -> pd.DataFrame:
    """Read a CSV file as text cells; empty cells are missing, nothing else is."""
    frame = pd.read_csv(
        path, dtype="str", keep_default_na=False, na_values=[""], encoding="utf-8-sig"
    )
    return as_cells(frame)


def as_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """Undo what CSV did to text cells: empty ones are missing, escaped formulas are plain."""
    return frame.apply(_unescaped)


def load_jsonl(path: Path) -> pd.DataFrame:
    """Read JSON lines, one object a line, as they are."""
    with path.open(encoding="utf-8-sig") as lines:
        return pd.DataFrame([json.loads(line) for line in lines if line.strip()])


def load_parquet(path: Path) -> pd.DataFrame:
    """Read a Parquet file."""
    need_pyarrow()
    return pd.read_parquet(path, engine="pyarrow")


def need_pyarrow() -> None:
    """Check that pyarrow is installed.

    Raises:
        MissingDependencyError: It is not.
    """
    try:
        import pyarrow as pa  # noqa: F401 - optional and heavy
    except ImportError as error:
        raise MissingDependencyError("pyarrow", extra="parquet", purpose="Parquet") from error


def write_csv(frame: pd.DataFrame, path: Path) -> Path:
    """Write any frame as CSV, with text that a spreadsheet would run as a formula defused."""
    as_text = frame.apply(_cells) if len(frame) else frame
    # A bare carriage return ends a line for most readers, but the csv module does not quote it.
    texts = as_text.select_dtypes(["str", "object"])
    returns = any(texts[name].astype("str").str.contains("\r").any() for name in texts)
    as_text.to_csv(
        path,
        index=False,
        quoting=csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL,
        lineterminator="\n",
    )
    return path


def _cells(values: pd.Series) -> pd.Series:
    if isinstance(values.dtype, pd.StringDtype) or values.dtype == object:
        risky = values.astype("str").str.startswith(_FORMULA).fillna(value=False)
        return values.mask(risky, "'" + values.astype("str"))
    if isinstance(values.dtype, pd.DatetimeTZDtype):
        return _iso(values)
    return values


def _unescaped(values: pd.Series) -> pd.Series:
    escaped = values.str.match(r"'[=+\-@\t\r']").fillna(value=False)
    return values.mask(escaped, values.str.slice(1)).mask(values == "")


def _iso(values: pd.Series) -> pd.Series:
    return values.map(lambda time: time.isoformat(), na_action="ignore").astype("str")


def _write_jsonl(frame: pd.DataFrame, path: Path) -> None:
    columns = {str(name): _json_values(frame[name]) for name in frame.columns}
    names = list(columns)
    with path.open("w", encoding="utf-8", newline="\n") as lines:
        for row in zip(*columns.values(), strict=True):
            text = json.dumps(
                dict(zip(names, row, strict=True)), ensure_ascii=False, allow_nan=False
            )
            lines.write(text + "\n")


def _json_read_back(frame: pd.DataFrame) -> pd.DataFrame:
    """Give what `load_jsonl` would make of these columns, without reading the whole file."""
    columns = {str(name): json.loads(json.dumps(_json_values(frame[name]))) for name in frame}
    rows = zip(*columns.values(), strict=True)
    return pd.DataFrame([dict(zip(columns, row, strict=True)) for row in rows])


def _json_values(values: pd.Series) -> list[object]:
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        values = _iso(values)
    if pd.api.types.is_float_dtype(values.dtype):
        values = values.mask(np.isinf(values.astype("float64")), values.astype(str))
    plain = values.astype(object).where(values.notna(), None)
    return [value.item() if isinstance(value, np.generic) else value for value in plain]


def _write_parquet(frame: pd.DataFrame, path: Path) -> None:
    need_pyarrow()
    frame.to_parquet(path, engine="pyarrow", index=False)


_WRITERS: Mapping[str, Callable[[pd.DataFrame, Path], object]] = {
    ".csv": write_csv,
    ".jsonl": _write_jsonl,
    ".parquet": _write_parquet,
}


def note_path(path: Path) -> Path:
    """Give the place of the note on the dtypes of a table."""
    return path.with_name(path.name + "-metadata.json")


def _write_note(frame: pd.DataFrame, path: Path, table: Table) -> None:
    note = note_path(path)
    note.unlink(missing_ok=True)
    names = table.attributes(frame)
    if path.suffix == ".parquet" or not names:
        return
    back = load_csv(path) if path.suffix == ".csv" else _json_read_back(frame[names])
    lost = {
        name: str(frame[name].dtype)
        for name in names
        if str(_typed(back[name], None, from_text=path.suffix == ".csv").dtype)
        != str(frame[name].dtype)
    }
    if lost:
        note.write_text(json.dumps(lost, indent=1, ensure_ascii=False) + "\n", "utf-8")


def _typed(values: pd.Series, dtype: str | None, *, from_text: bool) -> pd.Series:
    if dtype is not None:
        return _cast(values, dtype)
    return _inferred(values) if from_text else values.infer_objects()


def _cast(values: pd.Series, dtype: Any) -> pd.Series:  # noqa: ANN401 - any name of a dtype
    if dtype.startswith("datetime64"):
        values = pd.to_datetime(values, format="ISO8601")
    elif dtype in ("bool", "boolean"):
        values = values.astype("str").str.lower().map({"true": True, "false": False})
    cast: pd.Series = values.astype(dtype)
    return cast


def _inferred(values: pd.Series) -> pd.Series:
    given = values.dropna()
    if given.empty:
        return values
    if given.str.fullmatch(_INT).all():
        return values.astype("int64") if len(given) == len(values) else values.astype("Int64")
    if given.str.fullmatch(_FLOAT).all():
        return values.astype("float64")
    if given.isin(["True", "False"]).all():
        truth = values.map({"True": True, "False": False})
        return truth.astype("bool") if len(given) == len(values) else truth.astype("boolean")
    return values
