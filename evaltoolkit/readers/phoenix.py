"""Arize Phoenix: frames of evaluations, runs of an experiment, and flat runs of two arms.

An evaluations frame (Parquet, CSV, JSON) is indexed by ``context.span_id`` and has ``label``,
``score`` and ``explanation``; the span is the example, the name of the evaluation (kept in the
Parquet file, else in the file name) the criterion. An experiment is a list of runs with
``example_id``, ``repetition_number`` (from 1) and ``annotations``. A flat run has ``arm`` (the
system), ``question_id``, ``repeat``, and of the judge a grade (``score``), a verdict (``correct``)
and its reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from evaltoolkit.errors import warn
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source
from evaltoolkit.readers.cells import given, number_of
from evaltoolkit.readers.flat_records import header, records
from evaltoolkit.readers.parsing import json_or_none
from evaltoolkit.readers.phoenix_values import measured, points_up
from evaltoolkit.readers.records import (
    BAD_RECORD,
    as_cell,
    as_json,
    attribute_names,
    attributes,
    digest,
    finite_number,
    shortened,
)
from evaltoolkit.readers.unnamed import Criteria, system_name, time_or_none

_SPANS = ("context.span_id", "span_id")
_EVALUATION = frozenset({"label", "score"})
_RUN = frozenset({"example_id", "repetition_number", "annotations"})
_FLAT = frozenset({"arm", "question_id", "repeat", "correct", "score", "judge_explanation"})
_PREFIX = re.compile(r"(?i)^(evals?|evaluations?)[_-]+")
_UUID = re.compile(r"(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_JUDGED = {
    "criterion": "correct",
    "higher_is_better": True,
    "lower_bound": 0.0,
    "upper_bound": 1.0,
}


def detect(source: Source) -> bool:
    """Say whether a file is of one of the three kinds, by its columns."""
    return _kind(set(header(source))) is not None


def _kind(names: set[str]) -> str | None:
    if names >= _FLAT:
        return "flat"
    if names >= _RUN:
        return "experiment"
    indexed = _SPANS[0] in names or (_SPANS[1] in names and "explanation" in names)
    return "evaluations" if indexed and names & _EVALUATION else None


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read one file; its rows come in one batch."""
    kinds = {"flat": _flat, "experiment": _experiment, "evaluations": _evaluations}
    kind = _kind(set(header(source)))
    # Reached with another kind only where the caller forces the format.
    yield kinds[kind or "experiment"](source, reading)


def _evaluations(source: Source, reading: Reading) -> Batch:
    """Read a frame of evaluations, one row a span (or one retrieved document of a span)."""
    criterion, told = _evaluation_name(source)
    system, notes = system_name(source.path, reading, stem="evals")
    rows: list[Row] = []
    details: list[Row] = []
    for record, cells in records(source, reading):
        try:
            key = {"system": system, **_span(cells), "criterion": criterion}
        except BAD_RECORD as error:
            reading.bad_record(source.path, record, error)
            continue
        place = {**key, "source": f"{source.path.name}: {record}"}
        rows.append({**place, **measured(cells)})
        details.extend(_explained(place, cells.get("explanation")))
    better = points_up(criterion, ((row["label"], row["score"]) for row in rows))
    for row in rows:
        row["higher_is_better"] = better
    notes.append(f"criterion {criterion!r} taken from {told}")
    return Batch(scores=rows, details=details, notes=_named(source, notes))


def _evaluation_name(source: Source) -> tuple[str, str]:
    """Name the evaluation: Phoenix keeps the name in its Parquet files."""
    if source.is_parquet:
        import pyarrow.parquet as pq

        kept = (pq.read_schema(source.path).metadata or {}).get(b"arize", b"")
        named = json_or_none(kept)
        if isinstance(named, Mapping) and isinstance(named.get("eval_name"), str):
            return named["eval_name"], "the Parquet file"
    stem = _UUID.sub("", _PREFIX.sub("", source.path.stem)).strip("_-")
    return stem or "evaluation", "the file name"


def _span(cells: Row) -> Row:
    span = next((cells[name] for name in _SPANS if given(cells.get(name)) is not None), None)
    if span is None:
        raise ValueError("it has no span id")
    position = given(cells.get("document_position"))
    if position is None:
        return {"example_id": str(span)}
    place = int(float(position))
    # The documents that one question found are no independent examples.
    return {"example_id": f"{span}#{place}", "cluster": str(span), "document_position": place}


def _experiment(source: Source, reading: Reading) -> Batch:
    """Read the runs of an experiment; what each was judged by stands in its annotations."""
    system, notes = system_name(source.path, reading, stem=_UUID.sub("", source.path.stem))
    runs: list[tuple[str, Row, Row]] = []
    seen = Criteria()
    for record, raw in records(source, reading):
        try:
            key = _run_key(raw)
            annotations = _annotations(raw)
        except BAD_RECORD as error:
            reading.bad_record(source.path, record, error)
            continue
        seen.add(key["example_id"], (str(each["name"]) for each in annotations))
        place = {"system": system, **key, "source": f"{source.path.name}: {record}"}
        runs.append((record, place, raw))
    if not seen.all:
        notes.append("no run has an annotation: no evaluator was run on this experiment")
    scores = [row for _, place, raw in runs for row in _run_scores(place, raw, seen)]
    _direct(scores)
    return Batch(
        scores=scores,
        outputs=[{**place, **_run_output(raw)} for _, place, raw in runs],
        details=[
            row
            for _, place, raw in runs
            for each in _annotations(raw)
            for row in _explained({**place, **_judge(each)}, each.get("explanation"))
        ],
        notes=_named(source, notes),
    )


def _run_key(raw: Row) -> Row:
    if given(raw.get("example_id")) is None:
        raise ValueError("it has no example_id")
    # Phoenix counts repetitions from 1.
    return {
        "example_id": str(raw["example_id"]),
        "trial": max(int(raw.get("repetition_number") or 1) - 1, 0),
    }


def _annotations(raw: Row) -> list[Row]:
    cell = raw.get("annotations")
    found = json_or_none(cell.encode("utf-8", "replace")) if isinstance(cell, str) else cell
    annotations = [each for each in found or [] if isinstance(each, dict)]
    if any(given(each.get("name")) is None for each in annotations):
        raise ValueError("an annotation has no name")
    return annotations


def _judge(annotation: Row) -> Row:
    kind = annotation.get("annotator_kind")
    return {"criterion": str(annotation["name"]), "scorer": str(kind or "")}


def _run_scores(place: Row, raw: Row, seen: Criteria) -> Iterator[Row]:
    error = as_cell(given(raw.get("error")))
    more = {
        "timestamp": time_or_none(raw.get("start_time")),
        "input_digest": digest(raw.get("input")),
    }
    annotations = _annotations(raw)
    for each in annotations:
        row = {**place, **_judge(each), **measured(each), **more}
        yield row if error is None else {**row, **_crashed(row, error)}
    if error is not None:
        missing = [n for n in seen.of(place["example_id"]) if n not in
                   {str(each["name"]) for each in annotations}]  # fmt: skip
        for name in missing:
            lost = _crashed({"score": None, "label": None}, error)
            yield {**place, "criterion": name, **lost, **more}


def _crashed(row: Row, error: str) -> Row:
    """Keep what was said about an answer that never came as label only."""
    written = row["label"] if row["score"] is None else row["label"] or str(row["score"])
    return {
        "score": None,
        "label": written,
        "status": "system_error",
        "message": shortened(error),
    }


def _direct(scores: list[Row]) -> None:
    """Say of each criterion which way it points, as far as its labels tell."""
    for criterion in {row["criterion"] for row in scores}:
        own = [row for row in scores if row["criterion"] == criterion]
        better = points_up(criterion, ((row["label"], row["score"]) for row in own))
        for row in own:
            row["higher_is_better"] = better


def _run_output(raw: Row) -> Row:
    latency = finite_number(raw.get("latency_ms"))
    return {
        "input": as_cell(given(raw.get("input"))),
        "output": as_cell(given(raw.get("output"))),
        "reference": as_cell(given(raw.get("reference_output"))),
        "error": as_cell(given(raw.get("error"))),
        "tokens_in": finite_number(raw.get("prompt_token_count")),
        "tokens_out": finite_number(raw.get("completion_token_count")),
        "latency_s": None if latency is None else latency / 1000,
        "timestamp": time_or_none(raw.get("start_time")),
    }


def _flat(source: Source, reading: Reading) -> Batch:
    """Read flat runs: the judge gives a grade and, by it, a verdict."""
    kept: list[tuple[Row, Row]] = []
    for record, raw in records(source, reading):
        try:
            place = _flat_key(raw)
        except BAD_RECORD as error:
            reading.bad_record(source.path, record, error)
            continue
        kept.append(({**place, "source": f"{source.path.name}: {record}"}, raw))
    fields: dict[str, list[Row]] = {}
    for place, raw in kept:
        fields.setdefault(place["example_id"], []).append({"shape": raw.get("shape")})
    described = attribute_names(fields)
    _warn_of_contradictions(source, kept)
    return Batch(
        scores=[_flat_row(place, raw, described) for place, raw in kept],
        outputs=[{**place, **_flat_output(raw)} for place, raw in kept],
        details=[
            row
            for place, raw in kept
            for row in _explained({**place, "criterion": "correct"}, raw.get("judge_explanation"))
        ],
        notes=_named(source, ["the arm of each run is its system"]),
    )


def _flat_key(raw: Row) -> Row:
    if given(raw.get("arm")) is None or given(raw.get("question_id")) is None:
        raise ValueError("it has no arm or no question_id")
    return {
        "system": str(raw["arm"]),
        "example_id": str(raw["question_id"]),
        "trial": int(raw.get("repeat") or 0),
    }


def _flat_row(place: Row, raw: Row, described: list[str]) -> Row:
    verdict, words = _truth(raw.get("correct")), raw.get("judge_explanation")
    grade = raw.get("score")
    if given(grade) is None and verdict is not None:
        grade = float(verdict)
    judged = measured({"score": grade, "explanation": words})
    passed = verdict if judged["status"] == "scored" else None
    row = {**place, **_JUDGED, "passed": passed, **judged}
    error = as_cell(given(raw.get("error")))
    if error is not None:
        row = {**row, "passed": None, **_crashed(row, error)}
    return {**row, **attributes(raw, described, prefix="run")}


def _truth(cell: object) -> bool | None:
    if isinstance(cell, str):
        return {"true": True, "false": False}.get(cell.lower())
    return cell if isinstance(cell, bool) else None


def _flat_output(raw: Row) -> Row:
    calls = raw.get("tool_call_sequence")
    return {
        "output": as_cell(given(raw.get("answer"))),
        "error": as_cell(given(raw.get("error"))),
        "tool_calls": as_json(calls) if isinstance(calls, list) else None,
        "tokens_in": number_of(raw.get("input_tokens")),
        "tokens_out": number_of(raw.get("output_tokens")),
        "latency_s": number_of(raw.get("wall_clock_s")),
    }


def _warn_of_contradictions(source: Source, kept: list[tuple[Row, Row]]) -> None:
    """Warn where the verdict and the graded score say opposite things."""
    opposite = {True: 0.0, False: 1.0}
    count = sum(
        (verdict := _truth(raw.get("correct"))) is not None
        and number_of(raw.get("score")) == opposite[verdict]
        for _, raw in kept
    )
    if count:
        warn(
            f"{source.path}: {count} run(s) are correct with score 0 or wrong with score 1; both "
            "are kept, the verdict as passed, so look at these runs before using either"
        )


def _explained(place: Row, explanation: Any) -> list[Row]:  # noqa: ANN401 - any cell
    """Keep an explanation that is too long for the score table."""
    text = as_cell(given(explanation))
    if text is None or shortened(text) == text:
        return []
    key = ("system", "example_id", "trial", "criterion", "scorer", "source")
    kept = {name: place[name] for name in key if name in place}
    return [{**kept, "details": as_json({"explanation": text})}]


def _named(source: Source, notes: list[str]) -> list[str]:
    return [f"{source.path.name}: {note}" for note in notes]


FORMAT = Format(
    name="phoenix",
    title="Arize Phoenix evaluations, experiment runs and flat runs",
    detect=detect,
    read=read,
    tables=frozenset({"scores", "outputs", "details"}),
    signs=(
        "columns context.span_id with label or score; example_id, repetition_number and "
        "annotations; or arm, question_id, repeat and judge_explanation"
    ),
    quirks=(
        "NOT_PARSABLE, which Phoenix scores 0, is `scorer_error`. Which way a score points is "
        "told by its labels: hallucinated with 1 is lower-is-better. Repetitions are trials from "
        "0. Annotations on a run that failed are `system_error`. A frame of evaluations names no "
        "system, so the folder does."
    ),
)
