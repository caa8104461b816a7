"""OpenTelemetry: own exports for each trap and layout; no public log of such events was found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaltoolkit.errors import EvalToolkitWarning, ReadError
from evaltoolkit.readers import read_details, read_outputs, read_scores
from evaltoolkit.readers.base import Source
from evaltoolkit.readers.otel import FORMAT
from evaltoolkit.readers.otlp import attributes_of

RESULT = "gen_ai.evaluation.result"
START = 1_770_000_000_000_000_000
SECOND = 1_000_000_000


def wrapped(value: Any) -> dict[str, Any]:
    """One value as OTLP wraps it."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [wrapped(each) for each in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": attributes(value)}}
    return {"stringValue": value}


def attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": wrapped(value)} for key, value in values.items()]


def said(name: str = "Relevance", value: Any = 0.5, **more: Any) -> dict[str, Any]:
    """The attributes of one evaluation; None leaves one out."""
    told = {
        "gen_ai.evaluation.name": name,
        "gen_ai.evaluation.score.value": value,
        "gen_ai.evaluation.score.label": more.get("label"),
        "gen_ai.evaluation.explanation": more.get("explanation"),
        "gen_ai.response.id": more.get("response"),
        "error.type": more.get("error"),
    }
    return {key: each for key, each in told.items() if each is not None}


def event(**more: Any) -> dict[str, Any]:
    return {"name": RESULT, "timeUnixNano": str(START), "attributes": attributes(said(**more))}


def span(number: int, *events: dict[str, Any], **more: Any) -> dict[str, Any]:
    """One operation of a model."""
    own = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": more.pop("model", "lab/m-1"),
        "gen_ai.response.id": f"r{number}",
        "gen_ai.input.messages": more.pop("prompt", f"question {number}"),
        "gen_ai.output.messages": f"answer {number}",
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 3,
        **more.pop("own", {}),
    }
    return {
        "traceId": "t1",
        "spanId": f"s{number}",
        "name": "chat",
        "startTimeUnixNano": str(START + number * SECOND),
        "endTimeUnixNano": str(START + number * SECOND + SECOND // 4),
        "attributes": attributes(own),
        "events": list(events),
        **more,
    }


def log(of: int | None = None, *, name: str | None = RESULT, **more: Any) -> dict[str, Any]:
    record = {"timeUnixNano": str(START), "attributes": attributes(said(**more))}
    if name:
        record["eventName"] = name
    return record if of is None else {**record, "traceId": "t1", "spanId": f"s{of}"}


def traces(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


def logs(*records: dict[str, Any], **resource: Any) -> dict[str, Any]:
    group = {
        "resource": {"attributes": attributes(resource)},
        "scopeLogs": [{"logRecords": list(records)}],
    }
    return {"resourceLogs": [group]}


def write(folder: Path, *exports: object, name: str = "telemetry.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(each) + "\n" for each in exports), "utf-8")
    return path


def test_events_of_spans(tmp_path: Path) -> None:
    first = span(1, event(), event(name="Tone", value=1.0, label="pass", explanation="Kind."))
    table = read_scores(write(tmp_path, traces(first), traces(span(2, event(value=0.25)))))
    assert table["system"].unique().tolist() == ["lab/m-1"]
    assert table["criterion"].tolist() == ["Relevance", "Tone", "Relevance"]
    assert table["score"].tolist() == [0.5, 1.0, 0.25]
    assert table["label"].fillna("").tolist() == ["", "pass", ""]
    assert table["passed"].isna().tolist() == [True, False, True]
    assert table["passed"].iloc[1]
    assert table["message"].fillna("").tolist() == ["", "Kind.", ""]
    assert table["example_id"].nunique() == 2
    assert table["timestamp"].iloc[0].isoformat() == "2026-02-02T02:40:00+00:00"
    assert table["source"].iloc[0] == "telemetry.jsonl: line 1, resourceSpans[0] record 0 event 0"
    assert table.attrs["notes"] == [
        "telemetry.jsonl: 3 result(s): a hash of the input messages is the example id"
    ]


def test_events_of_logs_take_model_and_answer_from_their_span(tmp_path: Path) -> None:
    """The log may come before the span, and one without a span names the response."""
    path = write(tmp_path, logs(log(1), log(response="r2", value=1)), traces(span(1), span(2)))
    table = read_scores(path)
    assert table["system"].tolist() == ["lab/m-1"] * 2
    assert table["score"].tolist() == [0.5, 1.0]
    outputs = read_outputs(path)
    assert outputs["input"].tolist() == ["question 1", "question 2"]
    assert outputs["output"].tolist() == ["answer 1", "answer 2"]
    assert outputs["finish_reason"].tolist() == ["stop", "stop"]
    assert outputs[["tokens_in", "tokens_out", "latency_s"]].values.tolist() == [[10, 3, 0.25]] * 2
    assert outputs["example_id"].tolist() == table["example_id"].tolist()


def test_two_systems_pair_by_their_input(tmp_path: Path) -> None:
    other = span(2, event(value=1.0), model="m-2", prompt="question 1")
    table = read_scores(write(tmp_path, traces(span(1, event()), other)))
    assert table["system"].tolist() == ["lab/m-1", "m-2"]
    assert table["example_id"].nunique() == 1


@pytest.mark.parametrize("place", ["event", "span", "parent"])
@pytest.mark.parametrize("name", ["test.case.id", "dataset.item.id", "example_id"])
def test_an_id_names_the_example(tmp_path: Path, place: str, name: str) -> None:
    told = {name: "e-7"}
    held = event()
    held["attributes"] += attributes(told) if place == "event" else []
    child = span(1, held, own=told if place == "span" else {}, parentSpanId="s9")
    parent = span(9, own=told if place == "parent" else {}, model="other")
    table = read_scores(write(tmp_path, traces(child, parent)))
    assert table[["system", "example_id"]].values.tolist() == [["lab/m-1", "e-7"]]
    assert table.attrs["notes"] == []


def test_task_scorer_and_conversation(tmp_path: Path) -> None:
    held = event()
    held["attributes"] += attributes({"gen_ai.evaluator.name": "judge-1"})
    own = {"gen_ai.conversation.id": "c1", "test.suite.name": "zoo"}
    table = read_scores(write(tmp_path, traces(span(1, held, own=own))))
    assert table[["task", "scorer", "cluster"]].values.tolist() == [["zoo", "judge-1", "c1"]]


def test_the_model_of_an_evaluated_agent_is_found_above(tmp_path: Path) -> None:
    """The evaluation is parented to a span of the judge's work, inside the agent's."""
    work = {"spanId": "w", "parentSpanId": "s1", "name": "evaluate", "attributes": [],
            "events": [event()]}  # fmt: skip
    judge = span(5, model="judge", parentSpanId="w")
    table = read_scores(write(tmp_path, traces(judge, work, span(1))))
    assert table["system"].tolist() == ["lab/m-1"]


@pytest.mark.parametrize(
    ("more", "status", "label", "message"),
    [
        ({"value": None, "label": "fail"}, "unscored", "fail", ""),
        ({"value": None}, "unscored", "", "the event holds neither a number nor a label"),
        ({"value": float("nan")}, "unscored", "NaN", "neither"),
        ({"value": "NaN"}, "unscored", "NaN", "neither"),
        ({"value": 0.0, "error": "timeout"}, "scorer_error", "0.0", "evaluation failed: timeout"),
        ({"value": None, "error": "timeout"}, "scorer_error", "", "evaluation failed: timeout"),
    ],
)
def test_what_is_no_score(
    tmp_path: Path, more: dict[str, Any], status: str, label: str, message: str
) -> None:
    row = read_scores(write(tmp_path, traces(span(1, event(**more), event(name="x"))))).iloc[0]
    assert row["status"] == status
    assert row.fillna("")["label"] == label
    assert message in row.fillna("")["message"]
    assert row[["score", "passed"]].isna().all()


@pytest.mark.parametrize(("value", "score"), [("0.8", 0.8), (True, 1.0), (3, 3.0), ("-1e-1", -0.1)])
def test_numbers_in_other_wrappers(tmp_path: Path, value: Any, score: float) -> None:
    assert read_scores(write(tmp_path, traces(span(1, event(value=value)))))["score"].tolist() == [
        score
    ]


@pytest.mark.parametrize("code", [2, "STATUS_CODE_ERROR"])
def test_an_evaluation_of_a_failed_operation_is_no_score(tmp_path: Path, code: object) -> None:
    failed = span(1, event(value=0.0, label="fail"), status={"code": code, "message": "no route"})
    path = write(tmp_path, traces(failed, span(2, event())))
    row = read_scores(path).iloc[0]
    assert row["status"] == "system_error"
    assert row["label"] == "0.0"
    assert row["message"] == "the operation failed: no route"
    assert read_outputs(path)["error"].fillna("").tolist() == ["no route", ""]


def test_answers_to_one_example_are_numbered_by_their_time(tmp_path: Path) -> None:
    told = {"test.case.id": "e1"}
    late, early = (span(n, event(), event(name="Tone"), own=told) for n in (5, 2))
    path = write(tmp_path, traces(late, early))
    table = read_scores(path)
    assert table["trial"].tolist() == [1, 1, 0, 0]
    assert any("numbered as trials" in note for note in table.attrs["notes"])
    outputs = read_outputs(path)
    assert outputs[["trial", "output"]].values.tolist() == [[1, "answer 5"], [0, "answer 2"]]


def test_what_was_exported_as_log_and_as_span_event_is_read_once(tmp_path: Path) -> None:
    table = read_scores(write(tmp_path, traces(span(1, event(), event(name="x"))), logs(log(1))))
    assert len(table) == 2
    assert any("1 result(s) stand in the file twice" in note for note in table.attrs["notes"])


def test_one_answer_judged_twice_is_refused_with_the_choice(tmp_path: Path) -> None:
    path = write(tmp_path, traces(span(1, event(), event(value=0.75))))
    with pytest.raises(ValueError, match="duplicates"):
        read_scores(path)
    assert read_scores(path, duplicates="trials")["score"].tolist() == [0.5, 0.75]


# --- layouts ----------------------------------------------------------------------------------


def snake(value: Any) -> Any:
    """The other spelling of protocol buffers in JSON."""
    if isinstance(value, list):
        return [snake(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        "".join(f"_{c.lower()}" if c.isupper() else c for c in key): snake(each)
        for key, each in value.items()
    }


def early(value: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(value)
    text = text.replace('"scopeSpans"', '"instrumentationLibrarySpans"')
    text = text.replace('"scopeLogs"', '"instrumentationLibraryLogs"')
    old: dict[str, Any] = json.loads(text.replace('"logRecords"', '"logs"'))
    return old


@pytest.mark.parametrize("spelling", [lambda value: value, snake, early])
@pytest.mark.parametrize("form", ["lines", "list", "document"])
def test_layouts_old_and_new(tmp_path: Path, spelling: Any, form: str) -> None:
    exports = [spelling(traces(span(1, event()))), spelling(logs(log(1, value=1.0)))]
    if form == "document":
        path = write(tmp_path, {**exports[0], **exports[1]}, name="all.json")
    elif form == "list":
        path = write(tmp_path, exports, name="all.json")
    else:
        path = write(tmp_path, *exports)
    table = read_scores(path, duplicates="trials")
    assert table["score"].tolist() == [0.5, 1.0]
    assert table["system"].tolist() == ["lab/m-1"] * 2


@pytest.mark.parametrize(
    ("record", "criterion"),
    [
        ({"attributes": attributes({"event.name": RESULT, **said()})}, "Relevance"),
        ({"body": wrapped(RESULT), "attributes": attributes(said())}, "Relevance"),
        ({"eventName": RESULT, "body": wrapped(said())}, "Relevance"),
        ({"eventName": RESULT, "attributes": said()}, "Relevance"),
        ({"eventName": "gen_ai.evaluation", "attributes": attributes(
            {"gen_ai.evaluation.name": "tone", "gen_ai.evaluation.score": 0.5})}, "tone"),
        ({"eventName": "gen_ai.evaluation.fluency", "attributes": attributes(
            {"gen_ai.evaluation.score": 0.5})}, "fluency"),
        ({"attributes": attributes(
            {"gen_ai.evaluator.name": "fluency", "gen_ai.evaluation.score": 0.5,
             "event.name": "gen_ai.evaluation"})}, "fluency"),
    ],
)  # fmt: skip
def test_events_of_earlier_drafts(tmp_path: Path, record: dict[str, Any], criterion: str) -> None:
    table = read_scores(write(tmp_path, logs({**record, "spanId": "s1"}), traces(span(1))))
    assert table[["criterion", "score"]].values.tolist() == [[criterion, 0.5]]


def test_a_span_that_stands_for_an_event(tmp_path: Path) -> None:
    stand_in = {"spanId": "x", "parentSpanId": "s1", "name": RESULT, "startTimeUnixNano": "5",
                "attributes": attributes(said())}  # fmt: skip
    path = write(tmp_path, traces(span(1), stand_in))
    assert read_scores(path)[["system", "score"]].values.tolist() == [["lab/m-1", 0.5]]
    assert read_outputs(path)["output"].tolist() == ["answer 1"]
    on_itself = span(1, own=said())
    path = write(tmp_path, traces(on_itself))
    assert read_outputs(path)["output"].tolist() == ["answer 1"]


def test_values_are_unwrapped() -> None:
    values = {"a": 1, "b": 0.5, "c": True, "d": ["x", 2], "e": {"f": "g"}, "h": "text"}
    assert attributes_of({"attributes": attributes(values)}) == values
    assert attributes_of({"attributes": [{"key": "none"}]}) == {"none": None}
    assert attributes_of({}) == {}


# --- names that the file does not hold ----------------------------------------------------------


def test_spans_beside_the_logs(tmp_path: Path) -> None:
    write(tmp_path, traces(span(1)), name="traces.jsonl")
    (tmp_path / "broken.jsonl").write_text('{"resourceSpans": [\n')
    table = read_scores(write(tmp_path, logs(log(1)), name="logs.jsonl"))
    assert table["system"].tolist() == ["lab/m-1"]
    assert any("taken from traces.jsonl" in note for note in table.attrs["notes"])
    table = read_scores(write(tmp_path, logs(log(response="r1")), name="logs.jsonl"))
    assert table["system"].tolist() == ["lab/m-1"]


def test_without_a_span_service_file_and_response_name_what_they_can(tmp_path: Path) -> None:
    path = write(tmp_path, logs(log(3, response="r3"), log(4), log(), **{"service.name": "bot"}))
    table = read_scores(path)
    assert table["system"].tolist() == ["bot"] * 3
    assert table["example_id"].tolist() == ["r3", "s4", "line 1, resourceLogs[0] record 2"]
    notes = " ".join(table.attrs["notes"])
    assert "the answers of 2 evaluation(s) are neither in the file nor beside it" in notes
    assert "'bot' taken from the name of the service" in notes
    assert "the response (no other system shares it) is the example id" in notes
    assert read_scores(path, system="mine")["system"].unique().tolist() == ["mine"]
    path = write(tmp_path, logs(log()), name="m-3.json")
    assert read_scores(path)["system"].tolist() == ["m-3"]


def test_details_hold_the_rest_of_the_event(tmp_path: Path) -> None:
    held = event(explanation="why " * 200, response="r1")
    details = read_details(write(tmp_path, traces(span(1, held, event(name="x")))))
    assert details["criterion"].tolist() == ["Relevance"]
    assert json.loads(details["details"].iloc[0]) == {
        "gen_ai.evaluation.explanation": "why " * 200, "gen_ai.response.id": "r1"
    }  # fmt: skip


# --- bad input ----------------------------------------------------------------------------------


def test_a_bad_event_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    unnamed = {"name": RESULT, "attributes": attributes({"gen_ai.evaluation.score.value": 1.0})}
    worse = {**event(), "attributes": [{"key": "n", "value": {"intValue": "many"}}]}
    path = write(tmp_path, traces(span(1, event(), unnamed), span(2, worse)))
    with pytest.raises(ReadError, match=r"record 1 cannot be read"):
        read_scores(path)
    with pytest.warns(EvalToolkitWarning, match=r"2 record\(s\)"):
        table = read_scores(path, on_error="skip")
    assert table["score"].tolist() == [0.5]
    records = [each["record"] for each in table.attrs["problems"]]
    assert records == [
        "line 1, resourceSpans[0] record 1", "line 1, resourceSpans[0] record 0 event 1"
    ]  # fmt: skip


def test_spans_in_a_circle_end(tmp_path: Path) -> None:
    one, two = (
        {"spanId": a, "parentSpanId": b, "name": "x", "attributes": [], "events": [event()]}
        for a, b in (("a", "b"), ("b", "a"))
    )
    assert len(read_scores(write(tmp_path, traces(one, two)))) == 2


def test_telemetry_without_evaluations_has_no_scores(tmp_path: Path) -> None:
    path = write(tmp_path, traces(span(1)))
    assert FORMAT.detect(Source(path))
    with pytest.raises(ReadError, match="no scores"):
        read_scores(path)


def test_metrics_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path, {"resourceMetrics": [{}, {}]}, traces(span(1, event())))
    with pytest.warns(EvalToolkitWarning, match=r"2 record\(s\) of the unknown kind metrics"):
        assert len(read_scores(path)) == 1


@pytest.mark.parametrize(
    "value",
    [[], {}, [1], {"resourceSpans": 3}, {"resources": []}, {"spans": []}, {"resource": {}}],
)
def test_other_documents_are_not_taken(tmp_path: Path, value: object) -> None:
    assert not FORMAT.detect(Source(write(tmp_path, value, name="other.json")))
    assert not FORMAT.detect(Source(tmp_path))


def test_no_real_file_of_another_tool_is_taken(shared_data: Path) -> None:
    files = [path for path in sorted(shared_data.rglob("*")) if path.is_file()]
    assert [path.name for path in files if FORMAT.detect(Source(path))] == []
