"""Test runs of DeepEval: what it saves of ``evaluate`` and ``deepeval test run``, since 2023.

What becomes what: the run's identifier the run; the model of the hyperparameters, else the one
model of the traced calls, else the file name the system; a hash of the input the example, since
names such as ``test_case_0`` are places in a list; each metric a criterion. A metric of a span
inside the trace has the span in its name. Equal inputs are repeats and numbered as trials.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from evaltoolkit.errors import listed, warn
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source
from evaltoolkit.readers.deepeval_values import Case, Metric, case_of, facts
from evaltoolkit.readers.records import (
    BAD_RECORD,
    as_cell,
    as_json,
    attribute_names,
    attributes,
    finite_number,
)
from evaltoolkit.readers.unnamed import content_ids, system_name, time_or_none, trial_numbers

_LISTS = ("testCases", "conversationalTestCases")
_RUN = frozenset(
    {"metricsScores", "metricScores", "testPassed", "hyperparameters", "configurations"}
)
_WRAPPER = "testRunData"


def detect(source: Source) -> bool:
    """Say whether a file is a saved test run."""
    if source.is_folder or source.is_zip or source.is_json_lines:
        return False
    # Parsing a large document of another tool costs more than this look at it.
    if not any(f'"{name}"'.encode() in source.head for name in _LISTS):
        return False
    run = _run(source.document)
    return any(isinstance(run.get(name), list) for name in _LISTS) and bool(_RUN & set(run))


def _run(document: object) -> Row:
    """Give the run, also out of the file of the latest run, which wraps it."""
    run = document if isinstance(document, dict) else {}
    inner = run.get(_WRAPPER)
    return inner if isinstance(inner, dict) else run


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read one run; its rows come in one batch, since repeats can stand anywhere."""
    run = _run(source.document)
    cases = list(_cases(source, run, reading))
    notes = _identify(source, run, cases, reading)
    _check_counts(source, run, cases)
    _check_verdicts(source, cases)
    yield Batch(
        scores=_score_rows(source, cases),
        outputs=[_output_row(source, each) for each in cases],
        details=list(_detail_rows(source, cases)) if "details" in reading.want else [],
        aggregates=list(_aggregates(run, cases)),
        notes=[f"{source.path.name}: {note}" for note in notes],
    )


def _cases(source: Source, run: Row, reading: Reading) -> Iterator[Case]:
    for name in _LISTS:
        for number, raw in enumerate(run.get(name) or []):
            record = f"{name}[{number}]"
            try:
                case = case_of(record, raw)
                # What would go wrong with one case later would take the whole file along.
                _output_row(source, case)
                [each.measured for each in case.metrics]
            except BAD_RECORD as error:
                reading.bad_record(source.path, record, error)
            else:
                yield case


def _identify(source: Source, run: Row, cases: list[Case], reading: Reading) -> list[str]:
    """Give every case its key: run, system, task, example, trial."""
    told = [
        (_hyperparameter(run, "model"), "the hyperparameters"),
        (_span_model(cases), "its spans"),
    ]
    system, notes = system_name(source.path, reading, told=told)
    shared = {
        "run_id": str(run.get("identifier") or ""),
        "system": system,
        "task": str(run.get("datasetAlias") or ""),
    }
    hashed = content_ids(
        [(each.input, [each.reference, each.raw.get("context")]) for each in cases]
    )
    trials, more = trial_numbers(hashed)
    for each, example, trial in zip(cases, hashed, trials, strict=True):
        each.key = {**shared, "example_id": example, "trial": trial}
    repeated = sum(each.repeated for each in cases)
    if repeated:
        notes.append(f"{repeated} metric(s) of traces repeat those of the test case: read once")
    unmeasured = sum(not each.metrics for each in cases)
    if unmeasured:
        notes.append(f"{unmeasured} test case(s) carry no metric")
    return [*notes, "examples are named by a hash of their input", *more]


def _hyperparameter(run: Row, name: str) -> object:
    given = run.get("hyperparameters") or run.get("configurations") or {}
    found = given.get(name) if isinstance(given, Mapping) else None
    # Newer versions wrap the value.
    return found.get("value") if isinstance(found, Mapping) else found


def _span_model(cases: list[Case]) -> object:
    models = {model for each in cases for model in each.models}
    return models.pop() if len(models) == 1 else None


def _check_counts(source: Source, run: Row, cases: list[Case]) -> None:
    """Warn where the run counts other numbers of scores than its test cases hold."""
    found = Counter(metric.name for each in cases for metric in each.metrics if metric.is_number)
    wrong = [
        f"{entry['metric']}: {len(entry['scores'])} for {found[entry['metric']]} found"
        for entry in _summaries(run)
        if isinstance(entry.get("scores"), list) and len(entry["scores"]) != found[entry["metric"]]
    ]
    if wrong:
        warn(f"{source.path}: its metricsScores do not agree with its test cases ({listed(wrong)})")


def _check_verdicts(source: Source, cases: list[Case]) -> None:
    """Warn where a case failed although all its metrics passed, or the other way round."""
    wrong = [
        each.record
        for each in cases
        if isinstance(each.raw.get("success"), bool)
        and each.metrics
        and all(metric.raw.get("success") is True for metric in each.metrics)
        and each.raw["success"] is False
    ]
    if wrong:
        warn(f"{source.path}: {len(wrong)} test case(s) failed although every metric passed")


def _summaries(run: Row) -> list[Row]:
    entries = run.get("metricsScores") or run.get("metricScores") or []
    return [each for each in entries if isinstance(each, dict) and "metric" in each]


def _score_rows(source: Source, cases: list[Case]) -> list[Row]:
    free: dict[str, list[Row]] = {}
    for each in cases:
        free.setdefault(each.key["example_id"], []).append(each.described)
    names = attribute_names(free)
    known = facts([metric for each in cases for metric in each.metrics])
    rows: list[Row] = []
    for each in cases:
        place = {
            "source": f"{source.path.name}: {each.record}",
            "timestamp": time_or_none(each.trace.get("startTime")),
            **attributes(each.described, names, prefix="metadata"),
        }
        rows += (
            {**_score_key(each, metric), **metric.measured, **known[metric.criterion], **place}
            for metric in each.metrics
        )
    return rows


def _score_key(case: Case, metric: Metric) -> Row:
    return {**case.key, "criterion": metric.criterion, "scorer": metric.judge}


def _output_row(source: Source, case: Case) -> Row:
    raw = case.raw
    tools = raw.get("toolsCalled") or raw.get("toolsUsed")
    given = [raw.get(name) for name in ("completionTime", "latency")]
    latency = next((number for each in given if (number := finite_number(each)) is not None), None)
    costs = (finite_number(raw.get(name)) for name in ("tokenCost", "cost"))
    return {
        **case.key,
        "input": as_cell(case.input),
        "output": as_cell(case.output),
        "reference": as_cell(case.reference),
        "error": case.error,
        "tool_calls": as_json(tools) if tools else None,
        "cost_usd": next((cost for cost in costs if cost is not None), None),
        "tokens_in": case.tokens("inputTokenCount"),
        "tokens_out": case.tokens("outputTokenCount"),
        "latency_s": case.seconds if latency is None else latency,
        "timestamp": time_or_none(case.trace.get("startTime")),
        "source": f"{source.path.name}: {case.record}",
    }


def _detail_rows(source: Source, cases: list[Case]) -> Iterator[Row]:
    for each in cases:
        for metric in each.metrics:
            told = ("reason", "error", "verboseLogs", "strictMode", "threshold")
            given = {name: metric.raw[name] for name in told if metric.raw.get(name)}
            if given:
                place = {"source": f"{source.path.name}: {each.record}"}
                yield {**_score_key(each, metric), "details": as_json(given), **place}


def _aggregates(run: Row, cases: list[Case]) -> Iterator[Row]:
    key = {n: cases[0].key[n] for n in ("run_id", "system", "task")} if cases else {}
    for entry in _summaries(run):
        count = len(entry.get("scores") or [])
        for name in ("passes", "fails", "errors"):
            if name in entry:
                row = {"criterion": entry["metric"], "metric": name, "value": entry[name]}
                yield {**key, **row, "n": count}


FORMAT = Format(
    name="deepeval",
    title="DeepEval test runs",
    detect=detect,
    read=read,
    tables=frozenset({"scores", "outputs", "details", "report"}),
    signs="testCases or conversationalTestCases with metricsScores, testPassed or hyperparameters",
    quirks=(
        "Metrics of spans are criteria of their own, `Metric (llm span)`. A metric with an error "
        "is `scorer_error`, although written as failed; null and NaN are `unscored`. Where "
        "scores below the threshold pass, the metric is marked lower-is-better (Bias, Toxicity, "
        "Hallucination in most versions). The judge model is the scorer. Runs rarely name the "
        "system: give it, or name the file after it."
    ),
)
