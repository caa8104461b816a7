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

from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source
from evaltoolkit.readers.cells import count_of, crashed, given
from evaltoolkit.readers.flat_records import flat_rows, header
from evaltoolkit.readers.parsing import json_or_none
from evaltoolkit.readers.phoenix_flat import flat_runs
from evaltoolkit.readers.phoenix_values import explained, measured, of_file, points_up
from evaltoolkit.readers.records import (
    BAD_RECORD,
    as_cell,
    digest,
    finite_number,
)
from evaltoolkit.readers.unnamed import Criteria, system_name, time_or_none

_SPANS = ("context.span_id", "span_id")
_EVALUATION = frozenset({"label", "score"})
_RUN = frozenset({"example_id", "repetition_number", "annotations"})
_FLAT = frozenset({"arm", "question_id", "repeat", "correct", "score", "judge_explanation"})
_PREFIX = re.compile(r"(?i)^(evals?|evaluations?)[_-]+")
_UUID = re.compile(r"(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


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
    kinds = {"flat": flat_runs, "experiment": _experiment, "evaluations": _evaluations}
    kind = _kind(set(header(source)))
    # Reached with another kind only where the caller forces the format.
    yield kinds[kind or "experiment"](source, reading)


def _evaluations(source: Source, reading: Reading) -> Batch:
    """Read a frame of evaluations, one row a span (or one retrieved document of a span)."""
    criterion, told = _evaluation_name(source)
    system, notes = system_name(source.path, reading, stem="evals")
    rows: list[Row] = []
    details: list[Row] = []
    for record, cells in flat_rows(source, reading):
        try:
            key = {"system": system, **_span(cells), "criterion": criterion}
        except BAD_RECORD as error:
            reading.bad_record(source.path, record, error)
            continue
        place = {**key, "source": f"{source.path.name}: {record}"}
        rows.append({**place, **measured(cells)})
        details.extend(explained(place, cells.get("explanation")))
    better = points_up(criterion, ((row["label"], row["score"]) for row in rows))
    for row in rows:
        row["higher_is_better"] = better
    notes.append(f"criterion {criterion!r} taken from {told}")
    return Batch(scores=rows, details=details, notes=of_file(source.path, notes))


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
    if given(cells.get("document_position")) is None:
        return {"example_id": str(span)}
    place = count_of(cells["document_position"])
    # The documents that one question found are no independent examples.
    return {"example_id": f"{span}#{place}", "cluster": str(span), "document_position": place}


def _experiment(source: Source, reading: Reading) -> Batch:
    """Read the runs of an experiment; what each was judged by stands in its annotations."""
    system, notes = system_name(source.path, reading, stem=_UUID.sub("", source.path.stem))
    runs: list[tuple[Row, Row]] = []
    seen = Criteria()
    judges: dict[str, Row] = {}
    for record, raw in flat_rows(source, reading):
        try:
            key = _run_key(raw)
            annotations = _annotations(raw)
        except BAD_RECORD as error:
            reading.bad_record(source.path, record, error)
            continue
        judges.update({str(each["name"]): _judge(each) for each in annotations})
        if given(raw.get("error")) is None:
            seen.add(key["example_id"], (str(each["name"]) for each in annotations))
        place = {"system": system, **key, "source": f"{source.path.name}: {record}"}
        runs.append((place, raw))
    if not judges:
        notes.append("no run has an annotation: no evaluator was run on this experiment")
    scores: list[Row] = []
    for place, raw in runs:
        scores.extend(_run_scores(place, raw))
        given_names = {str(each["name"]) for each in _annotations(raw)}
        missing = [name for name in seen.of(place["example_id"]) if name not in given_names]
        scores.extend(_lost_scores(place, raw, [judges[name] for name in missing]))
    _direct(scores)
    return Batch(
        scores=scores,
        outputs=[{**place, **_run_output(raw)} for place, raw in runs],
        details=[
            row
            for place, raw in runs
            for each in _annotations(raw)
            for row in explained({**place, **_judge(each)}, each.get("explanation"))
        ],
        notes=of_file(source.path, notes),
    )


def _run_key(raw: Row) -> Row:
    if given(raw.get("example_id")) is None:
        raise ValueError("it has no example_id")
    # Phoenix counts repetitions from 1.
    return {
        "example_id": str(raw["example_id"]),
        "trial": max(count_of(raw.get("repetition_number"), default=1) - 1, 0),
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


def _run_scores(place: Row, raw: Row) -> Iterator[Row]:
    error = as_cell(given(raw.get("error")))
    for each in _annotations(raw):
        row = {**place, **_judge(each), **measured(each), **_circumstances(raw)}
        yield row if error is None else crashed(row, error)


def _lost_scores(place: Row, raw: Row, judges: list[Row]) -> Iterator[Row]:
    """Give a run that failed the criteria that others of its example were judged by."""
    error = as_cell(given(raw.get("error")))
    for judge in judges if error is not None else []:
        lost = crashed({"score": None, "label": None}, error or "")
        yield {**place, **judge, **lost, **_circumstances(raw)}


def _circumstances(raw: Row) -> Row:
    return {
        "timestamp": time_or_none(raw.get("start_time")),
        "input_digest": digest(raw.get("input")),
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
