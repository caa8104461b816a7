"""Rows of a table in any of its usual files (CSV, JSON lines, a JSON list, Parquet) as they are.

For formats whose tool gives a DataFrame and leaves it to the user how to save it. A cell is what
the file says: text in CSV, with None where it is empty.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator

from evaltoolkit.errors import ReadError
from evaltoolkit.readers.base import Reading, Row, Source, json_lines
from evaltoolkit.readers.table import column_names
from evaltoolkit.storage import need_pyarrow


def header(source: Source) -> list[str]:
    """Name the columns of a file, those of the first record of a JSON list; empty for others."""
    if source.is_folder or source.is_zip:
        return []
    if source.looks_like_json and not source.is_json_lines:
        document = source.document
        first = document[0] if isinstance(document, list) and document else None
        return [str(name) for name in first] if isinstance(first, dict) else []
    if source.is_parquet or source.is_json_lines:
        return column_names(source)
    # By itself: the first record may be of the wrong length, or longer than the head.
    lines = source.head.decode("utf-8", "replace").splitlines()
    try:
        return next(csv.reader(line for line in lines if line), [])
    except csv.Error:
        return []


def flat_rows(source: Source, reading: Reading) -> Iterator[tuple[str, Row]]:
    """Go through the rows as (record name, cells); bad ones go to `Reading.bad_record`."""
    if source.is_parquet:
        yield from _parquet(source)
    elif source.is_json_lines:
        yield from json_lines(source.path, reading)
    elif source.looks_like_json:
        yield from _listed(source, reading)
    else:
        yield from _csv(source, reading)


def _parquet(source: Source) -> Iterator[tuple[str, Row]]:
    need_pyarrow()
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        for batch in pq.ParquetFile(source.path).iter_batches(10_000):
            for row in batch.to_pylist():
                number += 1
                yield f"row {number}", row
    except (pa.ArrowException, OSError) as error:
        raise ReadError(
            f"{source.path}: the Parquet file is cut off or damaged ({error}); export it again",
            code="damaged_parquet",
            path=str(source.path),
        ) from error


def _listed(source: Source, reading: Reading) -> Iterator[tuple[str, Row]]:
    for number, row in enumerate(source.document):
        record = f"record {number}"
        if isinstance(row, dict):
            yield record, row
            continue
        error = ValueError(f"it is of type {type(row).__name__}, not an object")
        reading.bad_record(source.path, record, error)


def _csv(source: Source, reading: Reading) -> Iterator[tuple[str, Row]]:
    old_limit = csv.field_size_limit(sys.maxsize)
    try:
        with source.path.open(encoding="utf-8-sig", newline="") as stream:
            yield from _csv_rows(source, csv.reader(stream, strict=True), reading)
    except UnicodeDecodeError as error:
        raise ReadError(
            f"{source.path}: byte {error.start} is not UTF-8; save the file as UTF-8 and read it "
            "again",
            code="bad_encoding",
            path=str(source.path),
        ) from error
    except csv.Error as error:
        raise ReadError(
            f"{source.path}: the CSV is cut off or malformed ({error}); export it again",
            code="bad_csv",
            path=str(source.path),
        ) from error
    finally:
        csv.field_size_limit(old_limit)


def _csv_rows(
    source: Source,
    rows: Iterator[list[str]],
    reading: Reading,
) -> Iterator[tuple[str, Row]]:
    names: list[str] = []
    line = 1
    for cells in rows:
        # The reader knows the line on which a record ends; cells may hold line breaks.
        record, line = f"line {line}", rows.line_num + 1  # type: ignore[attr-defined]
        # A blank line is nothing; a row of empty cells is a record without values.
        if not cells or (not names and not any(cells)):
            continue
        if not names:
            names = cells
        elif len(cells) != len(names):
            error = ValueError(f"{len(cells)} cell(s) where the header has {len(names)}")
            reading.bad_record(source.path, record, error)
        else:
            yield record, dict(zip(names, (cell or None for cell in cells), strict=True))
