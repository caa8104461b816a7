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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaltoolkit.errors import listed
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source
from evaltoolkit.readers.cells import given, number_of
from evaltoolkit.readers.flat_records import header, records
from evaltoolkit.readers.mlflow_values import assessments_of, facts_of, measured
from evaltoolkit.readers.records import (
    as_cell,
    as_json,
    attribute_names,
    attributes,
    digest,
    moment,
    shortened,
)
from evaltoolkit.readers.unnamed import content_ids, system_name, time_or_none, trial_numbers

_VERSIONED = re.compile(r".+/v\d+/(?:score|justification)")
_JUDGED = re.compile(r"(?P<base>.+)/(?P<part>score|value|rating)")
_NAME = re.compile(r"(?:response/llm_judged/)?(?P<name>.+?)(?P<version>/v\d+)?")
_EXPLAINED = ("justification", "rationale")
_FAILED = ("error_message", "error_code")
_SPLIT = frozenset({"columns", "data", "index"})
_PARTS = {
    "input": ("inputs", "input", "request", "question", "query", "prompt", "messages"),
    "output": ("outputs", "predictions", "output", "prediction", "response"),
    "reference": (
        "ground_truth", "targets", "target", "expectations", "expected_response",
        "expected_response/value", "expected_output", "expected_facts/value",
    ),
}  # fmt: skip
_EXAMPLE = ("example_id", "question_id", "id")
_LATENCY = (("latency", 1.0), ("agent/latency_seconds", 1.0), ("execution_duration", 1000.0),
            ("execution_time_ms", 1000.0))  # fmt: skip
_ABOUT_THE_ANSWER = frozenset(
    {
        "trace_id", "trace", "client_request_id", "request_id", "state", "status", "request_time",
        "timestamp", "timestamp_ms", "token_count", "error_message", "trace_metadata", "tags",
        "spans", "assessments", "request_preview", "response_preview", "experiment_id", "index",
        *(name for name, _ in _LATENCY),
    }
)  # fmt: skip
_GENERIC_FILE = re.compile(r"(?i)(eval_results?_table|result_df|genai_results?|traces?).*")


@dataclass(frozen=True)
class _Judge:
    """One judged thing: its name, and the columns that belong to it."""

    criterion: str
    value: str
    explanation: tuple[str, ...]
    error: tuple[str, ...]
    is_grade: bool


def detect(source: Source) -> bool:
    """Say whether a file holds such a table, by its columns."""
    names = _columns(source)
    if any(_VERSIONED.fullmatch(name) for name in names):
        return True
    traced = bool({"trace_id", "request"} & set(names))
    return any(name.startswith("response/llm_judged/") for name in names) or (
        traced
        and (
            "assessments" in names or any(name.endswith(("/value", "/rationale")) for name in names)
        )
    )


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
    found = list(_split_rows(source, reading) if _is_split(source) else records(source, reading))
    rows = [cells for _, cells in found]
    names = list(dict.fromkeys(name for cells in rows for name in cells))
    expected = _expectations(rows, names)
    judges = _judges([name for name in names if name not in expected])
    keys, notes = _keys(source.path, reading, rows)
    described = _described(rows, names, keys, judges, expected)
    scores: list[Row] = []
    details: list[Row] = []
    outputs: list[Row] = []
    for (record, cells), key in zip(found, keys, strict=True):
        place = {**key, "source": f"{source.path.name}: {record}"}
        more = {
            **attributes(cells, described, prefix="input"),
            "timestamp": _time(cells),
            "input_digest": digest(_first(cells, _PARTS["input"])),
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


def _expectations(rows: list[Row], names: list[str]) -> set[str]:
    """Find the columns that hold what was expected: they look like those of a judge."""
    told = {
        str(each.get("assessment_name") or each.get("name"))
        for cells in rows
        for each in assessments_of(cells.get("assessments"))
        if each.get("expectation") is not None
    }
    return {
        name
        for name in names
        if name.rpartition("/")[2] in ("value", *_EXPLAINED, *_FAILED)
        and (name.rpartition("/")[0] in told or name.startswith("expected_"))
    }


def _judges(names: list[str]) -> list[_Judge]:
    found: dict[str, list[_Judge]] = {}
    for name in names:
        matched = _JUDGED.fullmatch(name)
        named = _NAME.fullmatch(matched["base"]) if matched else None
        if not matched or not named:
            continue
        base = matched["base"]
        judge = _Judge(
            criterion=named["name"],
            value=name,
            explanation=tuple(f"{base}/{part}" for part in _EXPLAINED),
            error=tuple(f"{base}/{part}" for part in _FAILED),
            is_grade=named["version"] is not None,
        )
        found.setdefault(named["name"], []).append(judge)
    return [
        # Two versions of a metric are two criteria.
        each if len(same) == 1 else _Judge(**{**vars(each), "criterion": each.value})
        for same in found.values()
        for each in same
    ]


def _keys(path: Path, reading: Reading, rows: list[Row]) -> tuple[list[Row], list[str]]:
    """Give every row its system, example and trial."""
    stem = "results" if _GENERIC_FILE.fullmatch(path.stem) else path.stem
    system, notes = system_name(path, reading, told=_run_names(path), stem=stem)
    column = next((n for n in _EXAMPLE if rows and all(given(r.get(n)) is not None for r in rows)),
                  None)  # fmt: skip
    if column is None:
        contents = [(_asked(cells), _first(cells, _PARTS["reference"])) for cells in rows]
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


def _asked(cells: Row) -> Any:  # noqa: ANN401 - any cell
    """Take the input; a table without such a column is hashed by whatever else it was given."""
    asked = _first(cells, _PARTS["input"])
    if asked is not None:
        return asked
    known = {*_ABOUT_THE_ANSWER, *_PARTS["output"], *_PARTS["reference"]}
    return {name: cell for name, cell in cells.items() if name not in known and "/" not in name}


def _first(cells: Row, names: Sequence[str]) -> Any:  # noqa: ANN401 - any cell
    return next((cells[n] for n in names if given(cells.get(n)) is not None), None)


def _described(
    rows: list[Row], names: list[str], keys: list[Row], judges: list[_Judge], expected: set[str]
) -> list[str]:
    """Find further columns that describe the example."""
    texts = {name for part in _PARTS.values() for name in part}
    judged = {name for each in judges for name in (each.value, *each.explanation, *each.error)}
    known = {*_ABOUT_THE_ANSWER, *texts, *judged, *expected, *_EXAMPLE}
    rest = [name for name in names if name not in known and "/" not in name]
    examples: dict[str, list[Row]] = {}
    for cells, key in zip(rows, keys, strict=True):
        found = {name: given(cells.get(name)) for name in rest}
        examples.setdefault(key["example_id"], []).append(found)
    return attribute_names(examples)


def _judgements(cells: Row, judges: list[_Judge]) -> Iterator[tuple[Row, str | None]]:
    """Go through the judgements of one row, each with its whole explanation."""
    crash = _crash(cells)
    for judge in judges:
        text = _first(cells, judge.explanation)
        row = measured(cells.get(judge.value), text, _first(cells, judge.error))
        facts = facts_of(judge.criterion, is_grade=judge.is_grade)
        yield {"criterion": judge.criterion, **facts, **_or_crash(row, crash)}, as_cell(text)
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
        yield {"criterion": named, "scorer": scorer, **_or_crash(row, crash)}, as_cell(text)


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


def _or_crash(row: Row, crash: str | None) -> Row:
    """Keep what was said about an answer that never came as label only."""
    if crash is None:
        return row
    said = row["label"] if row["score"] is None else row["label"] or str(row["score"])
    lost = {"score": None, "label": said, "passed": None, "status": "system_error"}
    return {**row, **lost, "message": shortened(crash)}


def _output(cells: Row) -> Row:
    latency = next(
        (
            (number_of(cells[name]) or 0.0) / unit
            for name, unit in _LATENCY
            if number_of(given(cells.get(name))) is not None
        ),
        None,
    )
    return {
        **{part: as_cell(_first(cells, names)) for part, names in _PARTS.items()},
        "error": _crash(cells),
        "tokens_out": number_of(given(cells.get("token_count"))),
        "latency_s": latency,
        "timestamp": _time(cells),
    }


def _time(cells: Row) -> str | None:
    """Read when the answer was given: ISO text or milliseconds."""
    told = _first(cells, ("request_time", "timestamp_ms", "timestamp"))
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
