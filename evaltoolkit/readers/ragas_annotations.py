"""Annotations of Ragas: metric outputs that people accepted or not, and answers with their marks.

The app exports, by metric, what went into it, what came out, and whether the annotator agreed. The
early data sets for testing a metric list several answers to a question with one mark for each;
whose answers they are is told nowhere, so they are numbered as trials of one system.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evaltoolkit.readers.base import Batch, Reading, Row, Source
from evaltoolkit.readers.ragas_metrics import facts
from evaltoolkit.readers.records import BAD_RECORD, as_cell, as_json, digest, finite_number
from evaltoolkit.readers.unnamed import system_name, trial_numbers

_ANNOTATION = frozenset({"metric_input", "metric_output"})
_MARKED = frozenset({"question", "answers", "scores"})
_ANSWER = frozenset({"response", "retrieved_contexts"})


def detect(source: Source) -> bool:
    """Say whether a file holds annotations, in either of their layouts."""
    if source.is_folder or source.is_zip or not source.looks_like_json:
        return False
    if b'"metric_input"' not in source.head and b'"answers"' not in source.head:
        return False
    document = source.first_line if source.is_json_lines else source.document
    return _is_export(document) or _is_marked(document)


def _is_export(document: object) -> bool:
    if not isinstance(document, Mapping):
        return False
    lists = [part for part in document.values() if isinstance(part, list) and part]
    return bool(lists) and len(lists) == len(document) and all(map(_is_annotation, lists))


def _is_annotation(part: list[Any]) -> bool:
    return isinstance(part[0], Mapping) and set(part[0]) >= _ANNOTATION


def _is_marked(document: object) -> bool:
    first = document[0] if isinstance(document, list) and document else None
    if not isinstance(first, Mapping) or not set(first) >= _MARKED:
        return False
    return isinstance(first["answers"], list) and isinstance(first["scores"], list)


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read all annotations of a file."""
    system, notes = system_name(source.path, reading)
    batch = Batch(notes=[f"{source.path.name}: {note}" for note in notes])
    document = source.first_line if source.is_json_lines else source.document
    if _is_marked(document):
        _add_marked(source, reading, batch, {"system": system})
    else:
        _add_export(source, reading, batch, {"system": system})
    yield batch


def _add_export(source: Source, reading: Reading, batch: Batch, shared: Row) -> None:
    document: Row = source.first_line if source.is_json_lines else source.document
    entries = [
        (f"{metric}[{number}]", metric, raw)
        for metric, part in document.items()
        for number, raw in enumerate(part)
    ]
    found: list[tuple[str, str, Row]] = []
    for record, metric, raw in entries:
        try:
            found.append((record, metric, {**raw, "example_id": _example(raw["metric_input"])}))
        except BAD_RECORD as error:
            reading.bad_record(source.path, record, error)
    trials, more = trial_numbers((metric, raw["example_id"]) for _, metric, raw in found)
    batch.notes += [f"{source.path.name}: {note}" for note in more]
    scores: list[Row] = []
    details: list[Row] = []
    outputs: dict[tuple[str, int], Row] = {}
    for (record, metric, raw), trial in zip(found, trials, strict=True):
        place = {"source": f"{source.path.name}: {record}"}
        key = {**shared, "example_id": raw["example_id"], "trial": trial}
        scores.append({**key, "criterion": metric, **_measured(raw), **facts(metric), **place})
        given = raw["metric_input"]
        outputs.setdefault(
            (raw["example_id"], trial),
            {
                **key,
                "input": as_cell(given.get("user_input")),
                "output": as_cell(given.get("response")),
                "reference": as_cell(given.get("reference")),
                **place,
            },
        )
        told = {name: raw[name] for name in ("is_accepted", "prompts") if name in raw}
        details.append({**key, "criterion": metric, "details": as_json(told), **place})
    batch.scores, batch.outputs, batch.details = scores, list(outputs.values()), details


def _example(given: Mapping[str, Any]) -> str:
    """Name an example by what the system was given, not by what it answered."""
    return digest({name: part for name, part in given.items() if name not in _ANSWER})


def _measured(raw: Row) -> Row:
    number = finite_number(raw["metric_output"])
    if number is not None:
        return {"score": number, "status": "scored", "label": None, "message": None}
    label = as_cell(raw["metric_output"])
    return {"score": None, "status": "unscored", "label": label, "message": "no number came out"}


def _add_marked(source: Source, reading: Reading, batch: Batch, shared: Row) -> None:
    note = "several answers to one question are numbered as trials: whose they are is not told"
    batch.notes.append(f"{source.path.name}: {note}")
    scores, outputs = [], []
    for number, raw in enumerate(source.document):
        record = f"record {number}"
        try:
            pairs = list(zip(raw["answers"], raw["scores"], strict=True))
            question = as_cell(raw["question"])
            example = str(raw["id"]) if raw.get("id") is not None else digest(question)
        except BAD_RECORD as error:
            reading.bad_record(source.path, record, error)
            continue
        for trial, (answer, score) in enumerate(pairs):
            place = {"source": f"{source.path.name}: {record}"}
            key = {**shared, "example_id": example, "trial": trial}
            mark = _measured({"metric_output": score})
            scores.append({**key, "criterion": "score", **mark, **place})
            outputs.append({**key, "input": question, "output": as_cell(answer), **place})
    batch.scores, batch.outputs = scores, outputs
