"""Tables of MLflow: ``eval_results_table.json`` and the ``result_df`` of ``mlflow.genai``.

``mlflow.evaluate`` logs a table in the "split" layout of pandas: the columns ``inputs``,
``outputs`` (or ``predictions``) and ``ground_truth`` (or ``targets``), and ``<metric>/v1/score``
with ``<metric>/v1/justification``. ``mlflow.genai.evaluate`` gives a frame with ``trace_id``,
``request``, ``response`` and ``<scorer>/value``, ``/rationale``, ``/error_message``, which people
save as they like. Neither names a system or an example (a trace is one answer, not an example), so
the run or the folder is the system and a hash of the input the example.

A judge that fails leaves an empty score, and its error stands where the justification would be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from evaltoolkit.errors import listed
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source
from evaltoolkit.readers.cells import crashed, given, number_of
from evaltoolkit.readers.flat_records import flat_rows, header
from evaltoolkit.readers.mlflow_columns import (
    EXAMPLE,
    LATENCY,
    PARTS,
    Judge,
    asked,
    described_by,
    expectations,
    first,
    is_table,
    judges_of,
)
from evaltoolkit.readers.mlflow_values import assessments_of, facts_of, measured
from evaltoolkit.readers.records import (
    as_cell,
    as_json,
    attributes,
    digest,
    moment,
    shortened,
)
from evaltoolkit.readers.unnamed import content_ids, system_name, time_or_none, trial_numbers

_SPLIT = frozenset({"columns", "data", "index"})
_GENERIC_FILE = re.compile(r"(?i)(eval_results?_table|result_df|genai_results?|traces?).*")


def detect(source: Source) -> bool:
    """Say whether a file holds such a table, by its columns."""
    return is_table(_columns(source))


def _columns(source: Source) -> list[str]:
    if not _is_split(source):
        return header(source)
    columns = source.document["columns"]
    return [name for name in columns if isinstance(name, str)]


def _is_split(source: Source) -> bool:
    if source.is_folder or not source.looks_like_json or b'"columns"' not in source.head:
        return False
    document = source.document
    if not isinstance(document, dict) or not {"columns", "data"} <= set(document) <= _SPLIT:
        return False
    return isinstance(document["columns"], list) and isinstance(document["data"], list)


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read one table; its rows come in one batch, since repeats can stand anywhere."""
    found = list(_split_rows(source, reading) if _is_split(source) else flat_rows(source, reading))
    rows = [cells for _, cells in found]
    names = list(dict.fromkeys(name for cells in rows for name in cells))
    expected = expectations(rows, names)
    judges = judges_of([name for name in names if name not in expected])
    keys, notes = _keys(source.path, reading, rows)
    described = described_by(rows, names, keys, judges, expected)
    scores: list[Row] = []
    details: list[Row] = []
    outputs: list[Row] = []
    for (record, cells), key in zip(found, keys, strict=True):
        place = {**key, "source": f"{source.path.name}: {record}"}
        more = {
            **attributes(cells, described, prefix="input"),
            "timestamp": _time(cells),
            "input_digest": digest(first(cells, PARTS["input"])),
        }
        for row, text in _judgements(cells, judges):
            scores.append({**place, **row, **more})
            if text is not None and shortened(text) != text:
                judged: Row = {name: row[name] for name in ("criterion", "scorer") if name in row}
                details.append({**place, **judged, "details": as_json({"explanation": text})})
        outputs.append({**place, **_output(cells)})
    notes = [f"{source.path.name}: {note}" for note in (*notes, *_notes(expected, described))]
    yield Batch(scores=scores, outputs=outputs, details=details, notes=notes)


def _split_rows(source: Source, reading: Reading) -> Iterator[tuple[str, Row]]:
    names = [str(name) for name in source.document["columns"]]
    for number, cells in enumerate(source.document["data"]):
        record = f"data[{number}]"
        if isinstance(cells, list) and len(cells) == len(names):
            yield record, dict(zip(names, cells, strict=True))
            continue
        size = len(cells) if isinstance(cells, list) else "no"
        error = ValueError(f"it has {size} cell(s) where there are {len(names)} columns")
        reading.bad_record(source.path, record, error)


def _keys(path: Path, reading: Reading, rows: list[Row]) -> tuple[list[Row], list[str]]:
    """Give every row its system, example and trial."""
    stem = "results" if _GENERIC_FILE.fullmatch(path.stem) else path.stem
    system, notes = system_name(path, reading, told=_run_names(path), stem=stem)
    column = next((n for n in EXAMPLE if rows and all(given(r.get(n)) is not None for r in rows)),
                  None)  # fmt: skip
    if column is None:
        contents = [(asked(cells), first(cells, PARTS["reference"])) for cells in rows]
        examples = content_ids(contents)
        notes.append("no example id: each example is named by a hash of its input")
    else:
        examples = [str(cells[column]) for cells in rows]
    trials, more = trial_numbers(examples)
    keys = [
        {"system": system, "example_id": example, "trial": trial}
        for example, trial in zip(examples, trials, strict=True)
    ]
    return keys, [*notes, *(f"{note} in the order of the file" for note in more)]


def _run_names(path: Path) -> list[tuple[object, str]]:
    """Find the name of the run, which MLflow keeps beside the folder of its artifacts."""
    folder = path.resolve().parent
    if folder.name != "artifacts":
        return []
    tag = folder.parent / "tags" / "mlflow.runName"
    try:
        named = tag.read_text(encoding="utf-8").strip()[:200] if tag.is_file() else ""
    except (OSError, UnicodeDecodeError):
        named = ""
    return [(named, "the name of the run"), (folder.parent.name, "the id of the run")]


def _judgements(cells: Row, judges: list[Judge]) -> Iterator[tuple[Row, str | None]]:
    """Go through the judgements of one row, each with its whole explanation."""
    crash = _crash(cells)
    for judge in judges:
        text = first(cells, judge.explanation)
        row = measured(cells.get(judge.value), text, first(cells, judge.error))
        facts = facts_of(judge.criterion, is_grade=judge.is_grade)
        yield (
            {
                "criterion": judge.criterion,
                **facts,
                **(row if crash is None else crashed(row, crash)),
            },
            as_cell(text),
        )
    if judges:
        return
    for each in assessments_of(cells.get("assessments")):
        feedback = each.get("feedback")
        if not isinstance(feedback, dict) or each.get("valid") is False:
            continue
        named = str(each.get("assessment_name") or each.get("name") or "feedback")
        judge_of = each.get("source") if isinstance(each.get("source"), dict) else {}
        text = each.get("rationale")
        row = measured(feedback.get("value"), text, _error_of(feedback.get("error")))
        scorer = str((judge_of or {}).get("source_id") or "")
        yield (
            {
                "criterion": named,
                "scorer": scorer,
                **(row if crash is None else crashed(row, crash)),
            },
            as_cell(text),
        )


def _error_of(error: object) -> object:
    if isinstance(error, dict):
        return error.get("error_message") or error.get("error_code") or as_cell(error)
    return error


def _crash(cells: Row) -> str | None:
    """Say why the system gave no answer, if it crashed."""
    error = given(cells.get("error_message"))
    if error is None and cells.get("state") == "ERROR":
        error = "the trace ended in an error"
    return as_cell(error)


def _output(cells: Row) -> Row:
    latency = next(
        (
            (number_of(cells[name]) or 0.0) / unit
            for name, unit in LATENCY
            if number_of(given(cells.get(name))) is not None
        ),
        None,
    )
    return {
        **{part: as_cell(first(cells, names)) for part, names in PARTS.items()},
        "error": _crash(cells),
        "tokens_out": number_of(given(cells.get("token_count"))),
        "latency_s": latency,
        "timestamp": _time(cells),
    }


def _time(cells: Row) -> str | None:
    """Read when the answer was given: ISO text or milliseconds."""
    told = first(cells, ("request_time", "timestamp_ms", "timestamp"))
    number = number_of(told)
    return time_or_none(told) if number is None else moment(number / 1000)


def _notes(expected: set[str], described: list[str]) -> Iterator[str]:
    if expected:
        yield f"column(s) that hold what was expected are no scores: {listed(sorted(expected))}"
    if described:
        yield f"taken as attributes of the example: {listed(described)}"


FORMAT = Format(
    name="mlflow",
    title="MLflow evaluation tables (eval_results_table.json, genai result_df)",
    detect=detect,
    read=read,
    tables=frozenset({"scores", "outputs", "details"}),
    signs="columns <metric>/v1/score; or trace_id or request with <scorer>/value or assessments",
    quirks=(
        "No system and no example id: the name of the run, else the folder or the file, is the "
        "system, and a hash of the input the example. An empty score whose justification says "
        "that the judge failed is `scorer_error`; yes, no and truth values are the judge's "
        "verdict. Grades of the built-in judges run from 1 to 5, toxicity is lower-is-better."
    ),
)
