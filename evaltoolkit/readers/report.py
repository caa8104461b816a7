"""What reading did: file by file, what the tools themselves reported, and what was lost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

import pandas as pd

from evaltoolkit.readers.base import OnError
from evaltoolkit.readers.finding import Place
from evaltoolkit.readers.per_file import FileRead, load
from evaltoolkit.schema import STATUSES

_AGGREGATES = (
    "file", "run_id", "system", "task", "criterion", "metric", "value", "stderr", "n"
)  # fmt: skip
_ROWS_SHOWN = 20


@dataclass(frozen=True)
class ReadReport:
    """What `read_report` found.

    Attributes:
        files: One row per file: ``file``, ``format``, counts of ``rows``, ``systems``,
            ``tasks`` and ``criteria``, rows by status, and ``skipped`` (the reason, if any).
        aggregates: What the tools themselves reported, one row per number: ``file, run_id,
            system, task, criterion, metric, value, stderr, n``. They may describe other
            examples than the file holds, so compare before you trust them.
        problems: One row per record that could not be read: ``file``, ``record``, ``message``.
        notes: What readers had to decide.
    """

    files: pd.DataFrame
    aggregates: pd.DataFrame
    problems: pd.DataFrame
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        read = self.files["skipped"].isna()
        return (
            f"ReadReport: {int(read.sum())} of {len(read)} file(s) read, "
            f"{int(self.files['rows'].sum())} score rows, {len(self.aggregates)} reported "
            f"number(s), {len(self.problems)} bad record(s), {len(self.notes)} note(s)"
        )

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        tables = [
            ("Files", self.files),
            ("Reported by the tools", self.aggregates),
            ("Records that could not be read", self.problems),
        ]
        return (
            f"<p>{escape(repr(self))}</p>"
            + "".join(_html(title, frame) for title, frame in tables if len(frame))
            + (f"<h4>Notes</h4><ul>{notes}</ul>" if notes else "")
        )


def _html(title: str, frame: pd.DataFrame) -> str:
    rest = len(frame) - _ROWS_SHOWN
    more = f"<p>and {rest} more row(s)</p>" if rest > 0 else ""
    # An empty cell reads better than NaN; to_html escapes what the files say.
    table = frame.head(_ROWS_SHOWN).to_html(index=False, border=0, na_rep="", escape=True)
    return f"<h4>{escape(title)}</h4>{table}{more}"


def read_report(
    source: Place | Iterable[Place],
    *,
    format: str | None = None,
    on_error: OnError = "skip",
) -> ReadReport:
    """Say what reading the scores behind a source gives, and what the tools themselves reported.

    Args:
        source: A file, a glob pattern, a folder, or a list of those.
        format: Name of the format, to force one; see `formats`.
        on_error: ``"skip"`` lists broken files and records in the report, ``"raise"`` stops.

    Returns:
        A `ReadReport`; in a notebook it shows itself as tables.

    Raises:
        ReadError: A path does not exist, or a file is broken and ``on_error="raise"``.
    """
    loaded = load(source, "report", format=format, on_error=on_error)
    rows = [{"file": str(f.path), **row} for f in loaded.files for row in f.aggregates]
    problems = [vars(problem) for problem in loaded.problems]
    aggregates = pd.DataFrame(rows)
    further = [name for name in aggregates.columns if name not in _AGGREGATES]
    return ReadReport(
        files=pd.DataFrame([_file_row(each) for each in loaded.files]),
        aggregates=aggregates.reindex(columns=[*_AGGREGATES, *further]),
        problems=pd.DataFrame(problems, columns=["file", "record", "message"]),
        notes=tuple(loaded.notes),
    )


def _file_row(file: FileRead) -> dict[str, object]:
    frame = file.frame
    names = {"systems": "system", "tasks": "task", "criteria": "criterion"}
    statuses = {} if frame is None else frame["status"].value_counts().to_dict()
    return {
        "file": str(file.path),
        "format": file.format or None,
        "rows": 0 if frame is None else len(frame),
        **{k: 0 if frame is None else frame[column].nunique() for k, column in names.items()},
        **{status: int(statuses.get(status, 0)) for status in STATUSES},
        "skipped": file.reason or None,
    }
