"""From a source to what each of its files gave: detection, bad files, progress, one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

import pandas as pd

from evaltoolkit.errors import EvalToolkitError, MissingDependencyError, ReadError, listed
from evaltoolkit.progress import Progress
from evaltoolkit.readers.base import (
    Batch,
    Format,
    OnError,
    Problem,
    Reading,
    Row,
    Source,
    TableName,
    drop_bad_rows,
)
from evaltoolkit.readers.columns import unified
from evaltoolkit.readers.finding import Found, Place, find_sources
from evaltoolkit.readers.registry import all_formats, detect_format, format_named
from evaltoolkit.readers.table import describe_unknown
from evaltoolkit.schema import DETAILS, OUTPUTS, SCORES, Table, normalise
from evaltoolkit.scores import normalise_scores

TABLES: dict[TableName, Table] = {"scores": SCORES, "outputs": OUTPUTS, "details": DETAILS}

_RESULT_SUFFIXES = frozenset({".json", ".jsonl", ".csv", ".parquet", ".eval"})
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
# What a reader may stumble over where a file has the right keys and the wrong shape.
_SHAPE_ERRORS = (AttributeError, IndexError, KeyError, TypeError, ValueError)


@dataclass
class FileRead:
    """What one file or run directory gave.

    Attributes:
        path: The file.
        format: Name of its format; empty where it was not read.
        frame: Its rows of the wanted table.
        aggregates: What the tool itself reported.
        reason: Why it gave no rows; empty where it gave some.
        outcome: ``"read"``, ``"empty"`` (a known format without rows of the wanted table),
            ``"unknown"`` (no format fits) or ``"broken"``.
        is_problem: Whether the reason is worth a warning.
        count: How many rows it gave to the joined table.
    """

    path: Path
    format: str = ""
    frame: pd.DataFrame | None = None
    aggregates: list[Row] = field(default_factory=list)
    reason: str = ""
    outcome: Literal["read", "empty", "unknown", "broken"] = "read"
    is_problem: bool = False
    count: int = 0


@dataclass
class Loaded:
    """Everything that one call read."""

    files: list[FileRead]
    problems: list[Problem]
    notes: list[str]
    unknowns: Counter[tuple[str, str, str]]


def load(
    source: Place | Iterable[Place],
    table: TableName,
    *,
    format: str | None = None,
    on_error: OnError = "raise",
    system: str | None = None,
) -> Loaded:
    """Read one table from every file behind a source, file by file.

    Args:
        source: Files, as in `read_scores`.
        table: The table that is wanted; ``"report"`` gives scores and aggregates, and no file
            without scores is refused.
        format: Name of the format, to force one.
        on_error: ``"raise"`` or ``"skip"``.
        system: Name of the system, where the caller gave one.

    Raises:
        ReadError: As in `read_scores`.
    """
    if on_error not in ("raise", "skip"):
        raise EvalToolkitError(
            f"on_error is {on_error!r}; it must be 'raise' or 'skip'",
            code="bad_option",
            path="on_error",
            value=on_error,
        )
    forced = None if format is None else format_named(format)
    want: set[TableName] = {"scores", "report"} if table == "report" else {table}
    reading = Reading(want=frozenset(want), on_error=on_error, system=system)
    found = find_sources(source, is_run=_is_run)
    one_file = _OneFile(reading, forced)
    files = list(_each(found, one_file))
    if table != "report" or on_error == "raise":
        _refuse_nothing(files, "scores" if table == "report" else table, reading)
    notes = list(dict.fromkeys(one_file.notes))
    return Loaded(files, reading.problems, notes, reading.unknowns)


def _is_run(folder: Path) -> bool:
    try:
        return detect_format(Source(folder)) is not None
    except ReadError:
        # A broken file in it is named when the files are read one by one.
        return False


def _each(found: list[Found], one_file: _OneFile) -> Iterator[FileRead]:
    sizes = [item.path.stat().st_size for item in found]
    with Progress(total=sum(sizes)) as progress:
        for number, (item, size) in enumerate(zip(found, sizes, strict=True), start=1):
            text = f"{number} of {len(found)}: {item.path.name}"
            yield one_file.read(item, tick=partial(progress.advance, 0, text))
            progress.advance(size, text)


class _OneFile:
    """Reads one file after the other for one call."""

    def __init__(self, reading: Reading, forced: Format | None) -> None:
        self.reading = reading
        self.forced = forced
        self.notes: list[str] = []
        self.table: TableName = "scores"
        if "scores" not in reading.want:
            (self.table,) = reading.want

    def read(self, item: Found, *, tick: Callable[[], None]) -> FileRead:
        """Read one file; a failure is raised or becomes the reason why the file was skipped."""
        source = Source(item.path)
        looks_like_results = source.is_folder or item.path.suffix in _RESULT_SUFFIXES
        known = None
        try:
            known = self._format(source)
            if known is None:
                return _unread(item, "unknown", describe_unknown(source), looks_like_results)
            return self._read(source, known, tick)
        except MissingDependencyError as error:
            if item.named:
                raise
            return _unread(item, "broken", str(error), True)
        except ReadError as error:
            # In a folder, a file that is no result file at all is nobody's broken result.
            is_result = item.named or known is not None or looks_like_results
            if self.reading.on_error == "raise" and is_result:
                raise error if item.named else _with_way_out(error) from error
            return _unread(item, "broken" if is_result else "unknown", str(error), is_result)

    def _format(self, source: Source) -> Format | None:
        if not source.is_folder:
            _refuse_unreadable(source)
        return self.forced or detect_format(source)

    def _read(self, source: Source, known: Format, tick: Callable[[], None]) -> FileRead:
        result = FileRead(source.path, known.name)
        self.reading.format = known.name
        if not self.reading.want & known.tables:
            result.outcome = "empty"
            result.reason = f"{source.path}: {known.title}: this format holds no {self.table}"
            return result
        frames: list[pd.DataFrame] = []
        notes: list[str] = []
        for batch in _batches(source, known, self.reading):
            notes.extend(batch.notes)
            result.aggregates.extend(batch.aggregates)
            frames.extend(_frames(batch, self.table, source.path, self.reading))
            tick()
        self.notes.extend(notes)
        result.frame = concat_tables(frames)
        reported = bool(result.aggregates) and "report" in self.reading.want
        if result.frame is None and not reported:
            result.outcome = "empty"
            result.reason = _without_rows(source, known, self.table, notes)
        return result


def _with_way_out(error: ReadError) -> ReadError:
    """Add to the error of one file of many how to read the others."""
    text = str(error)
    if "on_error='skip'" not in text:
        text += "; on_error='skip' reads the other files and lists this one"
    return ReadError(text, code=error.code, path=error.path, value=error.value)


def _unread(
    item: Found, outcome: Literal["unknown", "broken"], reason: str, is_problem: bool
) -> FileRead:
    return FileRead(item.path, reason=reason, outcome=outcome, is_problem=is_problem)


def _refuse_unreadable(source: Source) -> None:
    try:
        is_empty = not source.head.strip()
    except OSError as error:
        raise ReadError(
            f"{source.path}: the file cannot be opened ({error.strerror}); check its permissions",
            code="cannot_open",
            path=str(source.path),
        ) from error
    if is_empty:
        raise ReadError(
            f"{source.path}: the file is empty; the run that wrote it may have been stopped, so "
            "run it again or leave the file out",
            code="empty_file",
            path=str(source.path),
        )
    if source.head.startswith(_UTF16):
        raise ReadError(
            f"{source.path}: the text is UTF-16, not UTF-8; save the file as UTF-8 and read it "
            "again",
            code="bad_encoding",
            path=str(source.path),
        )


def _batches(source: Source, known: Format, reading: Reading) -> Iterator[Batch]:
    try:
        yield from known.read(source, reading)
    except EvalToolkitError:
        raise
    except _SHAPE_ERRORS as error:
        raise ReadError(
            f"{source.path}: it looks like {known.title}, but is not laid out like one "
            f"({type(error).__name__}: {error}); check that the file is whole and was not edited",
            code="bad_layout",
            path=str(source.path),
        ) from error


def _frames(batch: Batch, name: TableName, path: Path, reading: Reading) -> Iterator[pd.DataFrame]:
    rows = {"scores": batch.scores, "outputs": batch.outputs, "details": batch.details}[name]
    if len(rows) == 0:
        return
    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows)
    if batch.checked:
        yield frame
        return
    yield drop_bad_rows(frame, partial(_normalised, name), path=path, reading=reading)


def _normalised(name: TableName, frame: pd.DataFrame) -> pd.DataFrame:
    return normalise_scores(frame) if name == "scores" else normalise(frame, TABLES[name])


def _without_rows(source: Source, known: Format, table: TableName, notes: list[str]) -> str:
    if known.companions(source):
        remedy = f"; for scores {known.remedy}" if known.remedy and table == "scores" else ""
        instead = f"it holds results without single scores; et.read_report shows them{remedy}"
    else:
        instead = listed(notes[-1:]) if notes else "none is recorded in it"
    return f"{source.path}: {known.title}, but no {table}: {instead}"


def _refuse_nothing(files: list[FileRead], table: TableName, reading: Reading) -> None:
    """Refuse a source in which nothing at all could be read as what was asked for."""
    outcomes = {each.outcome for each in files}
    lost = bool(reading.problems) or "broken" in outcomes
    if "read" in outcomes or (lost and reading.on_error == "skip"):
        return
    reasons = [each.reason for each in files]
    shown = " | ".join(reasons[:3]) + (f" | and {len(reasons) - 3} more" if reasons[3:] else "")
    known = listed((each.name for each in all_formats()), limit=40)
    many = f"no {table} in any of {len(files)} files: " if len(files) > 1 else ""
    raise ReadError(
        f"{many}{shown}. Known formats: {known}",
        code="no_rows" if "empty" in outcomes else "unknown_format",
        path=str(files[0].path) if files else None,
    )


def concat_tables(frames: list[pd.DataFrame]) -> pd.DataFrame | None:
    """Put tables below each other, whole numbers and truth values kept; None where no row is."""
    frames = [frame for frame in frames if len(frame)]
    if len(frames) < 2:
        return frames[0] if frames else None
    wanted = _common_dtypes(frames)
    return pd.concat([_fitting(frame, wanted) for frame in frames], ignore_index=True)


def _fitting(frame: pd.DataFrame, wanted: dict[str, str]) -> pd.DataFrame:
    dtypes = {name: wanted[name] for name in frame.columns if name in wanted}
    return frame.astype(dtypes) if dtypes else frame


def _common_dtypes(frames: list[pd.DataFrame]) -> dict[str, str]:
    """Name the dtypes that columns must be given; rows of other files may have no value."""
    wider = {"int64": "Int64", "bool": "boolean"}
    wanted: dict[str, str] = {}
    for name in dict.fromkeys(name for frame in frames for name in frame.columns):
        parts = [frame[name] for frame in frames if name in frame.columns]
        several = len({str(part.dtype) for part in parts}) > 1
        dtype = unified(parts) if several else None
        if len(parts) < len(frames):
            dtype = wider.get(dtype or str(parts[0].dtype), dtype)
        if dtype is not None:
            wanted[name] = dtype
    return wanted
