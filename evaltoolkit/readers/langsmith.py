"""Experiments of LangSmith: ``evaluate(...).to_pandas()`` in any file, and the CSV of its pages.

What becomes what: ``example_id`` the example, each column of feedback a criterion, the file name
the system (the table names none, so each experiment needs a file of its own). Repetitions are not
numbered; run ids that carry their time (UUID version 7) give their order.

Evaluators also run where the target raised, so what they say there is no score. An evaluator that
raised leaves an empty cell, and so does one that declined: which it was, the file does not tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaltoolkit.errors import listed
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source
from evaltoolkit.readers.flat_records import flat_rows, header
from evaltoolkit.readers.records import (
    SHORT_TEXT,
    as_cell,
    as_json,
    as_written,
    digest,
    finite_number,
    shortened,
)
from evaltoolkit.readers.tracebacks import reason
from evaltoolkit.readers.unnamed import content_ids, system_name, time_or_none, trial_numbers

_FEEDBACK = "feedback."
_PAGE = frozenset({"inputs", "outputs", "reference_outputs"})
_EXAMPLE = ("example_id", "reference_example_id")
_RUN = ("run_id", "id")
# Columns of the page's table that say something about the run and judge nothing.
_ABOUT_THE_RUN = re.compile(
    r"(?i)(.*_)?(id|ids|name|status|type|error|notes?|metadata|tags|split|url|order)"
    r"|.*(time|_at|latency|tokens|cost)(_.*)?"
)
_UUID7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-")
_SUFFIX = re.compile(r"[._-]?to_pandas$")
_WORDS = {"true": 1.0, "false": 0.0}
_PARTS = {
    "input": ("inputs", "inputs.", "input."),
    "output": ("outputs", "outputs."),
    "reference": ("reference", "reference_outputs", "reference."),
}


@dataclass
class _Run:
    """One row: where it stands, its cells, and what it is called."""

    record: str
    cells: Row
    key: Row
    error: str | None


def detect(source: Source) -> bool:
    """Say whether a file holds an experiment, by its columns."""
    return _is_experiment(set(header(source)))


def _is_experiment(names: set[str]) -> bool:
    if names >= _PAGE:
        return True
    told = any(name.startswith((_FEEDBACK, "inputs.", "input.")) for name in names)
    return told and "example_id" in names and bool(names & {*_RUN, "execution_time"})


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read one experiment; its rows come in one batch, since repetitions can stand anywhere."""
    runs = [
        _Run(record, cells, {}, as_cell(_given(cells.get("error"))))
        for record, cells in flat_rows(source, reading)
    ]
    names = list(dict.fromkeys(name for run in runs for name in run.cells))
    judged, notes = _feedback(runs, names)
    stem = _SUFFIX.sub("", source.path.stem)
    system, more = system_name(source.path, reading, stem=stem)
    notes = [*more, *_identify(runs, system), *notes]
    texts = {part: _columns(runs, names, fields) for part, fields in _PARTS.items()}
    yield Batch(
        scores=[row for run in runs for row in _score_rows(source.path, run, judged, texts)],
        outputs=[_output_row(source.path, run, texts) for run in runs],
        notes=[f"{source.path.name}: {note}" for note in notes],
    )


def _given(cell: Any) -> Any:  # noqa: ANN401 - any cell
    """Give the cell, or None where it is empty: tables write nothing, NaN or an empty text."""
    return None if cell is None or cell == "" or cell != cell else cell


def _feedback(runs: list[_Run], names: list[str]) -> tuple[dict[str, str], list[str]]:
    """Find the columns of feedback: by their prefix, else the numbers of the page's table."""
    prefixed = {name: name.removeprefix(_FEEDBACK) for name in names if name.startswith(_FEEDBACK)}
    others = [
        name
        for name in names
        if name not in prefixed and not _is_text(name) and not _ABOUT_THE_RUN.fullmatch(name)
    ]
    if prefixed or not set(names) >= _PAGE:
        return prefixed, [f"column(s) not read: {listed(others)}"] if others else []
    numeric = {name: name for name in others if _is_numeric([run.cells.get(name) for run in runs])}
    rest = [name for name in others if name not in numeric]
    notes = [f"taken as feedback, since they hold numbers: {listed(numeric)}"] if numeric else []
    return numeric, notes + ([f"column(s) not read: {listed(rest)}"] if rest else [])


def _is_text(name: str) -> bool:
    fields = [field for fields in _PARTS.values() for field in fields]
    return any(name == field or (field[-1] == "." and name.startswith(field)) for field in fields)


def _is_numeric(cells: list[Any]) -> bool:
    given = [cell for cell in map(_given, cells) if cell is not None]
    return bool(given) and all(_number(cell) is not None for cell in given)


def _number(cell: object) -> float | None:
    if isinstance(cell, bool):
        return float(cell)
    if not isinstance(cell, str):
        return finite_number(cell)
    if cell.lower() in _WORDS:
        return _WORDS[cell.lower()]
    try:
        # Python reads "1_0" as 10, no tool writes that.
        return None if "_" in cell else finite_number(float(cell))
    except ValueError:
        return None


def _identify(runs: list[_Run], system: str) -> list[str]:
    """Give every run its system, example and trial."""
    notes: list[str] = []
    hashed = content_ids([(_whole(run, "input"), None) for run in runs])
    for run, content in zip(runs, hashed, strict=True):
        named = _first(run, _EXAMPLE)
        run.key = {"system": system, "example_id": content if named is None else str(named)}
        if named is None:
            notes = ["no example id: each example is named by a hash of its input"]
    ids = [str(_first(run, _RUN)) for run in runs]
    timed = all(map(_UUID7.match, ids))
    order = sorted(range(len(runs)), key=ids.__getitem__) if timed else range(len(runs))
    trials, more = trial_numbers(runs[place].key["example_id"] for place in order)
    for place, trial in zip(order, trials, strict=True):
        runs[place].key["trial"] = trial
    how = "in the order of their run ids" if timed else "in the order of the file"
    return [*notes, *(f"{note} {how}" for note in more)]


def _first(run: _Run, names: tuple[str, ...]) -> Any:  # noqa: ANN401 - any cell
    return next((run.cells[n] for n in names if _given(run.cells.get(n)) is not None), None)


def _whole(run: _Run, part: str) -> Row:
    fields = _PARTS[part]
    return {
        name: cell
        for name, cell in run.cells.items()
        if name in fields or name.startswith(tuple(f for f in fields if f[-1] == "."))
    }


def _columns(runs: list[_Run], names: list[str], fields: tuple[str, ...]) -> list[str]:
    """Name the columns of one part that hold anything: an error adds an empty one."""
    dotted = tuple(field for field in fields if field[-1] == ".")
    own = [name for name in names if name in fields or name.startswith(dotted)]
    return [n for n in own if any(_given(run.cells.get(n)) is not None for run in runs)]


def _text(run: _Run, columns: list[str]) -> str | None:
    """Write one part of a run as text: a single column as it is, several as an object."""
    if len(columns) == 1:
        return as_cell(_given(run.cells.get(columns[0])))
    cells = {name.partition(".")[2] or name: _given(run.cells.get(name)) for name in columns}
    given = {name: cell for name, cell in cells.items() if cell is not None}
    return as_json(given) if given else None


def _score_rows(
    path: Path, run: _Run, judged: dict[str, str], texts: dict[str, list[str]]
) -> Iterator[Row]:
    place = {
        "source": f"{path.name}: {run.record}",
        "timestamp": time_or_none(_given(run.cells.get("start_time"))),
        "input_digest": digest(_text(run, texts["input"])),
    }
    for column, criterion in judged.items():
        cell = _given(run.cells.get(column))
        yield {**run.key, "criterion": criterion, **_measured(cell, run.error), **place}


def _measured(cell: object, error: str | None) -> Row:
    """Turn one cell of feedback into score, label, status and message."""
    number = _number(cell)
    words = None if cell is None else shortened(_written(cell), limit=SHORT_TEXT)
    if error is not None:
        lost = {"score": None, "label": words, "status": "system_error"}
        return {**lost, "message": reason(error)}
    if number is not None:
        return {"score": number, "label": None, "status": "scored", "message": None}
    if cell is None:
        message = "no feedback: the evaluator gave none or raised, the file does not say which"
    else:
        message = "the feedback is a category, which is no number"
    return {"score": None, "label": words, "status": "unscored", "message": message}


def _written(cell: object) -> str:
    return as_written(cell) or ""


def _output_row(path: Path, run: _Run, texts: dict[str, list[str]]) -> Row:
    cells = run.cells
    latency = next((cells[n] for n in ("execution_time", "latency") if n in cells), None)
    return {
        **run.key,
        **{part: _text(run, columns) for part, columns in texts.items()},
        "error": run.error,
        "tokens_in": _number(_given(cells.get("prompt_tokens"))),
        "tokens_out": _number(_given(cells.get("completion_tokens"))),
        "cost_usd": _number(_given(cells.get("total_cost"))),
        "latency_s": _number(_given(latency)),
        "timestamp": time_or_none(_given(cells.get("start_time"))),
        "source": f"{path.name}: {run.record}",
    }


FORMAT = Format(
    name="langsmith",
    title="LangSmith experiments (to_pandas tables, CSV of the page)",
    detect=detect,
    read=read,
    tables=frozenset({"scores", "outputs"}),
    signs="columns example_id, inputs.* and feedback.*; or inputs, outputs and reference_outputs",
    quirks=(
        "One file for each experiment: the table names no system, so the file name does. "
        "Repetitions are numbered by their run ids. Feedback on a run that raised is "
        "`system_error` with what was written as label, an empty cell is `unscored` (the "
        "evaluator declined or raised), a category is an `unscored` label."
    ),
)
