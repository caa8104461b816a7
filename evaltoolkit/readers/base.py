"""What every reader shares: the file as it is looked at, the batch it yields, the format itself.

A format is one small module that says how its files are recognised (by content) and turns them
into batches of plain rows. Everything else (globs and folders, detection, bad records,
duplicates, progress, dtypes) happens once, in `evaltoolkit.readers.loading`.
"""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from evaltoolkit.errors import EvalToolkitError, ReadError, SchemaError
from evaltoolkit.readers.parsing import json_or_none, parse_json, read_text

__all__ = [
    "Batch",
    "Format",
    "OnError",
    "Problem",
    "Reading",
    "Row",
    "Source",
    "TableName",
    "drop_bad_rows",
    "json_lines",
    "parse_json",
    "read_text",
    "record_of",
]

Row = dict[str, Any]
TableName = Literal["scores", "outputs", "details", "report"]
OnError = Literal["raise", "skip"]

_HEAD_BYTES = 65_536
_TEXT_SUFFIXES_OF_ONE_DOCUMENT = b"{["


class Source:
    """One file or folder that may hold results, opened only as far as somebody looks.

    Attributes:
        path: Where it is.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __repr__(self) -> str:
        return f"Source({str(self.path)!r})"

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.path.is_dir()

    @cached_property
    def head(self) -> bytes:
        """The first 64 KiB, without a byte order mark; empty for a folder."""
        if self.is_folder:
            return b""
        with self.path.open("rb") as stream:
            return stream.read(_HEAD_BYTES).removeprefix(b"\xef\xbb\xbf")

    @property
    def is_zip(self) -> bool:
        """Whether it begins like a zip archive."""
        return self.head.startswith(b"PK\x03\x04")

    @property
    def is_parquet(self) -> bool:
        """Whether it begins like a Parquet file."""
        return self.head.startswith(b"PAR1")

    @cached_property
    def zip_names(self) -> list[str]:
        """Names of the members of a zip archive; empty for any other file.

        Raises:
            ReadError: It begins like an archive but its directory is missing or broken.
        """
        if not self.is_zip:
            return []
        try:
            with zipfile.ZipFile(self.path) as archive:
                return archive.namelist()
        except zipfile.BadZipFile as error:
            raise ReadError(
                f"{self.path}: the zip archive is cut off or damaged ({error}); copy the file "
                "again or re-export it from the tool that wrote it",
                code="damaged_archive",
                path=str(self.path),
            ) from error

    @cached_property
    def first_line(self) -> Any:  # noqa: ANN401 - any JSON value
        """The first non-empty line parsed as JSON, or None where it is not a whole value."""
        return json_or_none(self._lines[0]) if self._lines else None

    @property
    def is_json_lines(self) -> bool:
        """Whether the first line is a JSON object of its own and something may follow."""
        return isinstance(self.first_line, dict) and not self._one_document

    @cached_property
    def _one_document(self) -> bool:
        return len(self._lines) == 1 and self.path.suffix == ".json"

    @cached_property
    def _lines(self) -> list[bytes]:
        """The first two non-empty lines, read whole: one line may be longer than the head."""
        if not self.looks_like_json:
            return []
        with self.path.open("rb") as stream:
            lines = (line.removeprefix(b"\xef\xbb\xbf").strip() for line in stream)
            return list(islice((line for line in lines if line), 2))

    @property
    def looks_like_json(self) -> bool:
        """Whether the first character opens a JSON object or array."""
        start = self.head.lstrip()[:1]
        return bool(start) and start in _TEXT_SUFFIXES_OF_ONE_DOCUMENT

    @cached_property
    def document(self) -> Any:  # noqa: ANN401 - any JSON value
        """The whole file parsed as one JSON document; None where it is not one.

        The tokens NaN, Infinity and -Infinity are accepted, since several tools write them.

        Raises:
            ReadError: It looks like one JSON document but is cut off or malformed.
        """
        if self.is_folder or self.is_zip or not self.looks_like_json or self.is_json_lines:
            return None
        return parse_json(read_text(self.path), path=self.path)

    def keys(self) -> set[str]:
        """Keys of the JSON object: of the first line of JSON lines, else of the document."""
        value = self.first_line if self.is_json_lines else self.document
        return set(value) if isinstance(value, dict) else set()


def drop_bad_rows(
    frame: pd.DataFrame,
    convert: Callable[[pd.DataFrame], pd.DataFrame],
    *,
    path: Path,
    reading: Reading,
) -> pd.DataFrame:
    """Convert a frame; rows that cannot be converted go to `Reading.bad_record`.

    Args:
        frame: Raw rows; the index says where each came from (``"line 17"``) and is unique.
        convert: Puts the frame into a table, e.g. by `evaltoolkit.schema.normalise`.
        path: The file that the rows come from.
        reading: The call that they are read for.

    Raises:
        ReadError: A row is bad and ``on_error="raise"``, or the columns are wrong.
    """
    while True:
        try:
            return convert(frame)
        except SchemaError as error:
            if not error.rows:
                raise ReadError(f"{path}: {error}", code=error.code, path=str(path)) from error
            for row in error.rows:
                record = row if isinstance(row, str) else f"row {row}"
                where = f"{path}: {record}"
                refusal = ReadError(f"{where}: {error}", code=error.code, path=where)
                reading.bad_record(path, record, refusal)
            frame = frame.drop(index=list(error.rows))


@dataclass
class Batch:
    """Some rows from one file: plain dicts keyed by column, or a ready DataFrame.

    Attributes:
        scores: Rows of the score table.
        outputs: Rows of the outputs table.
        details: Rows of the details table.
        aggregates: What the tool itself reported: ``run_id, system, task, criterion, metric,
            value, stderr, n``, and further columns where needed.
        notes: Sentences on what the reader had to decide ("system taken from ...").
        checked: Whether the tables are DataFrames in their normal form already
            (`evaltoolkit.scores.normalise_scores`), so that nobody needs to make it again.
    """

    scores: list[Row] | pd.DataFrame = field(default_factory=list)
    outputs: list[Row] | pd.DataFrame = field(default_factory=list)
    details: list[Row] | pd.DataFrame = field(default_factory=list)
    aggregates: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    checked: bool = False


@dataclass(frozen=True)
class Problem:
    """One record that could not be read."""

    file: str
    record: str
    message: str


@dataclass
class Reading:
    """One call of a public reader: what is wanted and what went wrong so far.

    Attributes:
        want: The tables that the caller needs; a reader may leave out the others.
        on_error: ``"raise"`` stops at the first bad record, ``"skip"`` collects them.
        problems: The bad records collected so far.
        system: The name that the caller gave (``system=``) for files that do not hold one; a
            reader takes it before it gives up.
        format: Name of the format that is being read; `loading` sets it.
        unknowns: How many records of which unknown kind each file held, by file, format, kind.
    """

    want: frozenset[TableName]
    on_error: Literal["raise", "skip"] = "raise"
    problems: list[Problem] = field(default_factory=list)
    system: str | None = None
    format: str = ""
    unknowns: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def unknown(self, path: Path, kind: str, count: int = 1) -> None:
        """Count records of a kind that the reader does not know and leaves out.

        The user gets one warning for each kind of a format, with the count; the counts by file
        are in ``attrs["unknown"]``.

        Args:
            path: The file.
            kind: What they call themselves, e.g. ``"event 'tool_call_v3'"``.
            count: How many.
        """
        self.unknowns[str(path), self.format, kind] += count

    def bad_record(self, path: Path, record: str, error: Exception) -> None:
        """Refuse or note one bad record; call it in an ``except`` block and go on.

        Raises:
            ReadError: ``on_error="raise"``; the message names file, record and remedy.
        """
        if self.on_error == "skip":
            message = str(error).removeprefix(f"{path}: ").removeprefix(f"{record}: ")
            self.problems.append(Problem(str(path), record, message))
            return
        if isinstance(error, EvalToolkitError):
            raise error
        raise ReadError(
            f"{path}: {record} cannot be read: {error}; correct it, or read the other records "
            "with on_error='skip'",
            code="bad_record",
            path=f"{path}: {record}",
        ) from error


@dataclass(frozen=True)
class Format:
    """One format of results files.

    Attributes:
        name: What a user passes as ``format=``, e.g. ``"inspect"``.
        title: What it is, for people.
        detect: Whether a source is of this format, by content; must be cheap and never raise
            for files of other kinds.
        read: Turns a source into batches; memory stays bounded by the batch.
        tables: The tables that it can give.
        folders: Whether a folder as a whole can be of this format (a run directory).
        companions: For files that only accompany others (aggregates next to samples): such a
            file is read for the report, but it is no error that it has no scores.
        remedy: What to do where only such companions are at hand, in a few words.
        signs: What its files are recognised by, in a few words for people.
        quirks: What a reader of its results should know: what was seen in real files and what
            becomes of it, in a sentence or two.
    """

    name: str
    title: str
    detect: Callable[[Source], bool]
    read: Callable[[Source, Reading], Iterator[Batch]]
    tables: frozenset[TableName] = frozenset({"scores"})
    folders: bool = False
    companions: Callable[[Source], bool] = lambda source: False
    remedy: str = ""
    signs: str = ""
    quirks: str = ""


def json_lines(path: Path, reading: Reading) -> Iterator[tuple[str, Row]]:
    """Go through JSON lines as (record name, object); bad lines go to `Reading.bad_record`."""
    with path.open("rb") as stream:
        for number, raw in enumerate(stream, start=1):
            line = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
            if not line.strip():
                continue
            record = f"line {number}"
            try:
                row = record_of(line, path, record)
            except ReadError as error:
                reading.bad_record(path, record, error)
                continue
            yield record, row


def record_of(line: bytes, path: Path, record: str) -> Row:
    """Parse one line that must hold a JSON object.

    Raises:
        ReadError: It does not; the message names file and record.
    """
    value = parse_json(line, path=path, record=record)
    if not isinstance(value, dict):
        raise ReadError(
            f"{path}: {record} is a {type(value).__name__}; each line must be a JSON object",
            code="bad_record",
            path=f"{path}: {record}",
        )
    return value
