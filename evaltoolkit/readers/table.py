"""The table itself, as `write_scores` and `write_outputs` write it: CSV, JSON lines, Parquet.

Any file with the required columns will do. A file with other columns is refused with the call of
`evaltoolkit.tidy_scores` that would turn it into a score table.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from evaltoolkit import storage
from evaltoolkit.errors import ReadError, SchemaError, listed
from evaltoolkit.readers import table_lines
from evaltoolkit.readers.base import (
    Batch,
    Format,
    Reading,
    Row,
    Source,
    TableName,
    drop_bad_rows,
    json_lines,
)
from evaltoolkit.readers.records import as_cell
from evaltoolkit.schema import DETAILS, OUTPUTS, SCORES, Table
from evaltoolkit.scores import with_status

# What tells the three tables apart: the first whose columns are all there.
_SIGNS: tuple[tuple[TableName, Table, frozenset[str]], ...] = (
    ("scores", SCORES, frozenset({"system", "example_id", "criterion", "score"})),
    ("details", DETAILS, frozenset({"system", "example_id", "criterion", "details"})),
    ("outputs", OUTPUTS, frozenset({"system", "example_id", "output"})),
)
_ROWS_TO_LOOK_AT = 50
_SCORE_NAME = re.compile(
    r"score|reward|correct|resolved|success|accura|\bacc\b|pass|valid|rating|prefer|f1|win|match",
    re.IGNORECASE,
)
_SYSTEM_NAMES = ("system", "model", "model_name", "agent", "generator", "submission", "run")
_EXAMPLE_NAMES = ("example_id", "instance_id", "sample_id", "question_id", "task_id", "item", "id")


def column_names(source: Source) -> list[str]:
    """Name the columns of a file that may hold a table; empty where it is no table."""
    if source.is_parquet:
        return _parquet_columns(source.path)
    if source.is_json_lines:
        return [str(key) for key in source.first_line]
    return _csv_header(source)


def _csv_header(source: Source) -> list[str]:
    if source.is_folder or source.looks_like_json:
        return []
    lines = source.head.decode("utf-8", "replace").splitlines()
    records = csv.reader(line for line in lines if line.strip())
    header, first = next(records, []), next(records, None)
    if len(header) < 2 or not all(name.isprintable() for name in header):
        return []
    # Prose has commas too, but seldom as many in one line as in the next.
    looks_right = first is None or len(first) == len(header) or _kind(header) is not None
    return header if looks_right else []


def _parquet_columns(path: Path) -> list[str]:
    storage.need_pyarrow()
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return [str(name) for name in pq.read_schema(path).names]
    except (pa.ArrowException, OSError) as error:
        raise _damaged_parquet(path, error) from error


def _damaged_parquet(path: Path, error: Exception) -> ReadError:
    return ReadError(
        f"{path}: the Parquet file is cut off or damaged ({error}); copy it again or re-export it",
        code="damaged_parquet",
        path=str(path),
    )


def _kind(names: Iterable[str]) -> tuple[TableName, Table] | None:
    given = set(names)
    return next(((name, table) for name, table, sign in _SIGNS if sign <= given), None)


def _detect(source: Source) -> bool:
    return _kind(column_names(source)) is not None


def _read(source: Source, reading: Reading) -> Iterator[Batch]:
    kind = _kind(column_names(source))
    if kind is None:
        raise ReadError(describe_unknown(source), code="not_a_table", path=str(source.path))
    name, table = kind
    if name not in reading.want:
        return
    if source.is_json_lines:
        times = frozenset(each.name for each in table.known.values() if each.kind == "time")
        for frame in table_lines.line_frames(table_lines.Wanted(source.path, times), reading):
            yield _batch(name, _typed_lines(frame, source.path, table, reading))
        return
    frame = _load_parquet(source.path) if source.is_parquet else _load_csv(source.path, reading)
    yield _batch(name, _typed(frame, source.path, table, reading))


def _batch(name: TableName, frame: pd.DataFrame) -> Batch:
    if name == "scores":
        return Batch(scores=with_status(frame), checked=True)
    if name == "outputs":
        return Batch(outputs=frame, checked=True)
    return Batch(details=frame, checked=True)


def _typed(frame: pd.DataFrame, path: Path, table: Table, reading: Reading) -> pd.DataFrame:
    if "source" not in frame.columns:
        frame["source"] = [f"{path}: {record}" for record in frame.index]
    return drop_bad_rows(
        frame,
        lambda rows: storage.restore(rows.copy(), path, table=table),
        path=path,
        reading=reading,
    )


def _typed_lines(frame: pd.DataFrame, path: Path, table: Table, reading: Reading) -> pd.DataFrame:
    """Give a frame whose index holds line numbers its dtypes; records get names where needed."""
    try:
        return storage.restore(frame.copy(deep=False), path, table=table)
    except SchemaError:
        frame.index = pd.Index([f"line {number}" for number in frame.index])
        return _typed(frame, path, table, reading)


def _load_parquet(path: Path) -> pd.DataFrame:
    import pyarrow as pa

    try:
        frame = storage.load_parquet(path)
    except (pa.ArrowException, OSError) as error:
        raise _damaged_parquet(path, error) from error
    frame.index = pd.Index([f"row {number}" for number in range(1, len(frame) + 1)])
    return frame


def _load_csv(path: Path, reading: Reading) -> pd.DataFrame:
    lines, bad = _csv_lines(path)
    for line, message in bad:
        where = f"{path}: line {line}"
        error = ReadError(f"{where}: {message}", code="bad_csv", path=where)
        reading.bad_record(path, f"line {line}", error)
    frame = _csv_without_bad_rows(path) if bad else storage.load_csv(path)
    if len(frame) != len(lines):
        frame = _csv_without_bad_rows(path)
    frame.index = pd.Index([f"line {line}" for line in lines])
    return frame


def _csv_lines(path: Path) -> tuple[list[int], list[tuple[int, str]]]:
    """Find the line on which each record starts, and the records of a wrong length.

    pandas would fill short rows and take a column of surplus cells for an index.
    """
    good: list[int] = []
    bad: list[tuple[int, str]] = []
    with _csv_rows(path) as rows:
        header = next(rows)[1]
        _refuse_repeated(header, path)
        width = len(header)
        for line, cells in rows:
            if len(cells) == width:
                good.append(line)
            else:
                bad.append(
                    (
                        line,
                        f"{len(cells)} cell(s) where the header has {width}; correct the quoting "
                        "of that line, or read the other lines with on_error='skip'",
                    )
                )
    return good, bad


def _refuse_repeated(header: list[str], path: Path) -> None:
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        raise ReadError(
            f"{path}: the header has the column name {listed(repeated)} more than once; rename "
            "or remove one of them",
            code="repeated_column",
            path=str(path),
            value=repeated,
        )


def _csv_without_bad_rows(path: Path) -> pd.DataFrame:
    with _csv_rows(path) as rows:
        header = next(rows)[1]
        good = [cells for _, cells in rows if len(cells) == len(header)]
    return storage.as_cells(pd.DataFrame(good, columns=header, dtype="str"))


@contextmanager
def _csv_rows(path: Path) -> Iterator[Iterator[tuple[int, list[str]]]]:
    """Go through the non-empty records of a CSV file, each with the line that it starts on."""
    old_limit = csv.field_size_limit(sys.maxsize)
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            yield _numbered(csv.reader(stream, strict=True))
    except UnicodeDecodeError as error:
        raise ReadError(
            f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8 and read it again, "
            "or load it with pandas.read_csv(..., encoding=...) and use evaltoolkit.tidy_scores",
            code="bad_encoding",
            path=str(path),
        ) from error
    except csv.Error as error:
        raise ReadError(
            f"{path}: the CSV is cut off or malformed ({error}); correct its quoting or export it "
            "again",
            code="bad_csv",
            path=str(path),
        ) from error
    finally:
        csv.field_size_limit(old_limit)


def _numbered(rows: Any) -> Iterator[tuple[int, list[str]]]:  # noqa: ANN401 - csv has no type
    start = 1
    for cells in rows:
        if any("\0" in cell for cell in cells):
            raise csv.Error(f"line {start} holds a NUL byte")
        if len(cells) > 1 or (cells and cells[0].strip()):
            yield start, cells
        start = rows.line_num + 1


def describe_unknown(source: Source) -> str:
    """Say what a file of no known format holds and, for a table, how to use it all the same."""
    names = column_names(source) or _listed_columns(source)
    if not names:
        return _describe_other(source)
    what = f"{source.path}: a table with the columns {listed(names, limit=15)}, not a score table"
    system = _first_of(_SYSTEM_NAMES, names, "<column of the systems>")
    example = _first_of(_EXAMPLE_NAMES, names, "<column of the ids>")
    scores = _likely_scores(source, [name for name in names if name not in (system, example)])
    if not scores:
        return f"{what} (it needs system, example_id, criterion and score)"
    return (
        f"{what}. Say what its columns mean: et.tidy_scores(pd.{_loader(source)}, "
        f"system={system!r}, example_id={example!r}, criteria={scores!r})"
    )


def _listed_columns(source: Source) -> list[str]:
    """Name the keys of a JSON list of objects that names its systems; empty for other files."""
    names = list(dict.fromkeys(str(name) for row in _listed_rows(source) for name in row))
    return names if any(name.lower() in _SYSTEM_NAMES for name in names) else []


def _listed_rows(source: Source) -> list[Row]:
    document = source.document if source.looks_like_json else None
    rows = document[:_ROWS_TO_LOOK_AT] if isinstance(document, list) else []
    return [row for row in rows if isinstance(row, dict)]


def _likely_scores(source: Source, names: Sequence[str]) -> list[str]:
    """Guess which columns are scores: numeric ones, those with a telling name before others."""
    cells = pd.DataFrame(_first_rows(source, column_names(source)), columns=list(names))
    numbers = cells.apply(pd.to_numeric, errors="coerce")
    numeric = [n for n in names if numbers[n].notna().any() and not _is_text(cells[n], numbers[n])]
    telling = [name for name in numeric if _SCORE_NAME.search(name)]
    return (telling or numeric)[:3]


def _is_text(cells: pd.Series, numbers: pd.Series) -> bool:
    return bool((cells.notna() & (cells != "") & numbers.isna()).any())


def _describe_other(source: Source) -> str:
    keys = sorted(source.keys())
    if keys:
        return f"{source.path}: JSON with the keys {listed(keys, limit=15)}"
    if source.looks_like_json:
        return f"{source.path}: JSON without an object at its top"
    begin = source.head[:40]
    separator = next((char for char in "\t;" if char.encode() in source.head.split(b"\n")[0]), None)
    if separator and b"\0" not in source.head:
        return (
            f"{source.path}: a table separated by {separator!r}, which is not read as it is; use "
            f"et.tidy_scores(pd.read_csv({source.path.name!r}, sep={separator!r}), ...)"
        )
    return f"{source.path}: neither JSON nor a table with a header (begins {begin!r})"


def _first_of(candidates: Sequence[str], names: Sequence[str], fallback: str) -> str:
    by_lower = {name.lower(): name for name in reversed(names)}
    return next((by_lower[each] for each in candidates if each in by_lower), fallback)


def _loader(source: Source) -> str:
    name = source.path.name
    if source.is_parquet:
        return f"read_parquet({name!r})"
    if source.is_json_lines:
        return f"read_json({name!r}, lines=True)"
    return f"read_json({name!r})" if source.looks_like_json else f"read_csv({name!r})"


def _first_rows(source: Source, names: Sequence[str]) -> list[Row]:
    if source.is_parquet:
        import pyarrow.parquet as pq

        head = next(pq.ParquetFile(source.path).iter_batches(_ROWS_TO_LOOK_AT), None)
        return [] if head is None else head.to_pylist()
    if source.is_json_lines:
        lines = json_lines(source.path, Reading(want=frozenset(), on_error="skip"))
        return [row for _, row in islice(lines, _ROWS_TO_LOOK_AT)]
    if source.looks_like_json:
        return [
            {
                str(name): as_cell(cell) if isinstance(cell, dict | list) else cell
                for name, cell in row.items()
            }
            for row in _listed_rows(source)
        ]
    text = source.head.decode("utf-8", "replace")
    cells = islice(csv.reader(text.splitlines()[1:]), _ROWS_TO_LOOK_AT)
    return [dict(zip(names, row, strict=False)) for row in cells]


FORMAT = Format(
    name="table",
    title="Score, outputs or details table (CSV, JSON lines, Parquet)",
    detect=_detect,
    read=_read,
    tables=frozenset({"scores", "outputs", "details"}),
    signs="a header or keys with system, example_id, criterion, score (or details; or system, "
    "example_id, output)",
    quirks="ids become text, so that 7 and '7' meet; an empty cell is missing, the words NA and "
    "null are text; nested values become JSON text; further columns are attributes",
)
