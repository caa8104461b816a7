"""Flat runs of Arize Phoenix: one line for each arm, question and repeat, judged already."""

from __future__ import annotations

from evaltoolkit.errors import warn
from evaltoolkit.readers.base import Batch, Reading, Row, Source
from evaltoolkit.readers.cells import count_of, crashed, given, number_of
from evaltoolkit.readers.flat_records import flat_rows
from evaltoolkit.readers.phoenix_values import explained, measured, of_file
from evaltoolkit.readers.records import (
    BAD_RECORD,
    as_cell,
    as_json,
    attribute_names,
    attributes,
)

_JUDGED = {
    "criterion": "correct",
    "higher_is_better": True,
    "lower_bound": 0.0,
    "upper_bound": 1.0,
}


def flat_runs(source: Source, reading: Reading) -> Batch:
    """Read flat runs: the judge gives a grade and, by it, a verdict."""
    kept: list[tuple[Row, Row]] = []
    for record, raw in flat_rows(source, reading):
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
            for row in explained({**place, "criterion": "correct"}, raw.get("judge_explanation"))
        ],
        notes=of_file(source.path, ["the arm of each run is its system"]),
    )


def _flat_key(raw: Row) -> Row:
    if given(raw.get("arm")) is None or given(raw.get("question_id")) is None:
        raise ValueError("it has no arm or no question_id")
    return {
        "system": str(raw["arm"]),
        "example_id": str(raw["question_id"]),
        "trial": count_of(raw.get("repeat")),
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
        row = crashed(row, error)
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
