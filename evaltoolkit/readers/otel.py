"""Evaluation results in OpenTelemetry: events ``gen_ai.evaluation.result`` in OTLP JSON.

Such an event holds criterion, number, label and explanation, and nothing else: the model and the
answer are those of the span that it belongs to (or whose ``gen_ai.response.id`` it names). Read
are events of logs, events of spans, and spans that stand for events; also the drafts that came
before (`gen_ai.evaluation.score`, events named ``gen_ai.evaluation.<criterion>``).

No attribute names the example. An id of a test case or data set item is taken where there is one,
else a hash of the input messages, else the response or the span, which no other system shares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evaltoolkit.errors import ReadError
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source, json_lines
from evaltoolkit.readers.otel_values import (
    Result,
    criterion_of,
    details_of,
    example_of,
    is_evaluation,
    measured,
    output_of,
    told,
)
from evaltoolkit.readers.otlp import RESPONSE, Event, Span, Telemetry, is_export, time_of
from evaltoolkit.readers.records import BAD_RECORD, as_json
from evaltoolkit.readers.unnamed import system_name, trial_numbers

_MODEL = ("gen_ai.request.model", "gen_ai.response.model")
_AGENT = ("gen_ai.agent.name",)
_TASK = ("test.suite.name", "dataset.name", "gen_ai.evaluation.dataset.name")
_SCORER = ("gen_ai.evaluator.name", "gen_ai.evaluation.evaluator.name")
_CLUSTER = ("gen_ai.conversation.id", "session.id")
_NEIGHBOURS = 20


def detect(source: Source) -> bool:
    """Say whether a file holds OTLP exports."""
    if not any(mark in source.head for mark in (b'"resource', b'"resource_')):
        return False
    value = source.first_line if source.is_json_lines else source.document
    first = value[0] if isinstance(value, list) and value else value
    return is_export(first)


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read one file; its rows come in one batch, since spans can come after their events."""
    telemetry = _collected(source, reading)
    if telemetry.metrics:
        reading.unknown(source.path, "metrics of OpenTelemetry", telemetry.metrics)
    events = [each for each in telemetry.events if is_evaluation(each)]
    notes = _with_neighbours(source, telemetry, events)
    results = list(_results(source, telemetry, events, reading))
    results, more = _once(results)
    notes += more + _identify(source, results, reading)
    rows = [_score_row(source, each) for each in results]
    details = zip(rows, results, strict=True) if "details" in reading.want else ()
    yield Batch(
        scores=rows,
        outputs=list(_output_rows(source, results)),
        details=[row for pair in details if (row := _detail_row(*pair)) is not None],
        notes=[f"{source.path.name}: {note}" for note in notes],
    )


def _collected(source: Source, reading: Reading) -> Telemetry:
    telemetry = Telemetry()
    for record, export in _exports(source, reading):
        try:
            if not is_export(export):
                raise ValueError("it holds no traces, logs or metrics of OpenTelemetry")
            telemetry.add(export, record)
        except BAD_RECORD as error:
            reading.bad_record(source.path, record or "document", error)
    for record, problem in telemetry.bad:
        reading.bad_record(source.path, record, problem)
    return telemetry


def _exports(source: Source, reading: Reading) -> Iterator[tuple[str, Any]]:
    if source.is_json_lines:
        yield from json_lines(source.path, reading)
    elif isinstance(source.document, list):
        yield from ((f"record {n}", export) for n, export in enumerate(source.document))
    else:
        yield "", source.document


def _with_neighbours(source: Source, telemetry: Telemetry, events: list[Event]) -> list[str]:
    """Look for spans in the other files of the folder, where logs were exported apart."""
    notes: list[str] = []
    own = source.path.resolve()
    lost = _without_answer(events, telemetry.spans)
    others = sorted(own.parent.iterdir()) if lost else []
    others = [path for path in others if path.suffix in (".json", ".jsonl") and path != own]
    for path in others[:_NEIGHBOURS]:
        spans = {**_spans_in(path), **telemetry.spans}
        left = _without_answer(lost, spans)
        if len(left) < len(lost):
            notes.append(f"answers of {len(lost) - len(left)} evaluation(s) taken from {path.name}")
            telemetry.spans, lost = spans, left
        if not lost:
            break
    if lost:
        notes.append(
            f"the answers of {len(lost)} evaluation(s) are neither in the file nor beside it"
        )
    return notes


def _without_answer(events: list[Event], spans: dict[str, Span]) -> list[Event]:
    """Find evaluations that name a span or a response which is not among the spans."""
    known = _by_response(spans)
    return [
        each
        for each in events
        if (each.span or each.response) and each.span not in spans and each.response not in known
    ]


def _by_response(spans: dict[str, Span]) -> dict[str, Span]:
    found: dict[str, Span] = {}
    for span in spans.values():
        response = span.attributes.get(RESPONSE)
        if isinstance(response, str):
            found.setdefault(response, span)
    return found


def _spans_in(path: Path) -> dict[str, Span]:
    neighbour = Source(path)
    try:
        if neighbour.is_folder or not detect(neighbour):
            return {}
        return _collected(neighbour, Reading(want=frozenset(), on_error="skip")).spans
    except (OSError, ReadError):
        # It is not the file that was asked for, so it need not be whole.
        return {}


def _results(
    source: Source, telemetry: Telemetry, events: list[Event], reading: Reading
) -> Iterator[Result]:
    by_response = _by_response(telemetry.spans)
    for event in events:
        try:
            criterion = criterion_of(event)
        except BAD_RECORD as error:
            reading.bad_record(source.path, event.record, error)
            continue
        named = by_response.get(event.response)
        above = list(telemetry.ancestors(event.span))
        # An evaluation may be parented to its judge's span: the response says whose it is.
        line = list(telemetry.ancestors(named.id)) if named is not None else above
        yield Result(event, criterion, line)


def _once(results: list[Result]) -> tuple[list[Result], list[str]]:
    """Keep one of those that were exported as an event of a log and of a span at once."""
    kept: dict[str, Result] = {}
    for each in results:
        said = {k: v for k, v in each.event.attributes.items() if k != "event.name"}
        answer = each.line[0].id if each.line else each.event.span
        same = as_json([each.criterion, answer, said])
        kept.setdefault(same if answer else f"{same} {each.event.record}", each)
    lost = len(results) - len(kept)
    note = f"{lost} result(s) stand in the file twice, as events of a log and of a span: read once"
    return list(kept.values()), [note] if lost else []


def _identify(source: Source, results: list[Result], reading: Reading) -> list[str]:
    """Give every result its system, task, example and trial."""
    notes: list[str] = []
    fallback: str | None = None
    ways: Counter[str] = Counter()
    for each in results:
        system = told(each, _MODEL) or told(each, _AGENT)
        if system is None:
            if fallback is None:
                service = each.event.resource.get("service.name")
                by_service = [(service, "the name of the service")]
                fallback, more = system_name(source.path, reading, told=by_service)
                notes += more
            system = fallback
        example, way = example_of(each)
        ways[way] += 1
        each.key = {"system": system, "task": told(each, _TASK) or "", "example_id": example}
    notes += [f"{count} result(s): {way} is the example id" for way, count in ways.items() if way]
    return notes + _number(results)


def _number(results: list[Result]) -> list[str]:
    """Number the answers to each example in the order of their time."""
    answers: dict[tuple[object, ...], Result] = {}
    for each in sorted(results, key=lambda result: result.time):
        answers.setdefault((*each.key.values(), each.answer), each)
    trials, notes = trial_numbers(key[:-1] for key in answers)
    numbers = dict(zip(answers, trials, strict=True))
    for each in results:
        each.key["trial"] = numbers[(*each.key.values(), each.answer)]
    return notes


def _score_row(source: Source, each: Result) -> Row:
    cluster = told(each, _CLUSTER)
    return {
        **each.key,
        "criterion": each.criterion,
        "scorer": told(each, _SCORER, own=True) or "",
        **measured(each),
        **({} if cluster is None else {"cluster": cluster}),
        "timestamp": time_of(each.event.time),
        "source": f"{source.path.name}: {each.event.record}",
    }


def _output_rows(source: Source, results: list[Result]) -> Iterator[Row]:
    seen: set[tuple[object, ...]] = set()
    for each in results:
        key = tuple(each.key.values())
        if each.line and key not in seen:
            seen.add(key)
            where = f"{source.path.name}: span {each.line[0].id}"
            yield {**each.key, **output_of(each.line[0]), "source": where}


def _detail_row(row: Row, each: Result) -> Row | None:
    key = ("system", "task", "example_id", "trial", "criterion", "scorer", "source")
    given = details_of(each)
    return {**{name: row[name] for name in key}, "details": as_json(given)} if given else None


FORMAT = Format(
    name="otel",
    title="OpenTelemetry evaluation events (OTLP JSON of logs and traces)",
    detect=detect,
    read=read,
    tables=frozenset({"scores", "outputs", "details"}),
    signs="resourceSpans or resourceLogs; events named gen_ai.evaluation.result",
    quirks=(
        "Model and answer are those of the parent span (or of the span with the same "
        "gen_ai.response.id), also from a file beside it. An event with error.type is "
        "`scorer_error`, a label without a number `unscored`, an evaluation of a failed "
        "operation `system_error`. Nothing standard names the example: without a test case or "
        "data set id it is a hash of the input messages, else the response, else the span."
    ),
)
