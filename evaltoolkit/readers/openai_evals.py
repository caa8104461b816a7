"""Records of OpenAI evals: the JSON lines that ``oaieval`` writes.

What becomes what: the run of the spec the run; the completion function the system; the eval the
task; the sample the example. Events are of several types: ``match`` gives the criterion ``match``
with the tool's verdict, ``metrics`` one criterion for each number in it, ``error`` says that a
sample crashed. Sampling events are the answers; several can belong to one score. The final report
may stand anywhere, or be absent where the run was interrupted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evaltoolkit.errors import ReadError, warn
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source, json_lines
from evaltoolkit.readers.records import (
    BAD_RECORD,
    SHORT_TEXT,
    as_cell,
    as_json,
    digest,
    finite_number,
    non_finite_name,
    shortened,
)
from evaltoolkit.readers.unnamed import Criteria, system_name, time_or_none, trial_numbers

_SPEC, _REPORT = "spec", "final_report"
_EVENT = frozenset({"run_id", "sample_id", "type", "data"})
_MATCH = "match"
# Events that say how an answer came about, and judge nothing.
_STEPS = frozenset({"sampling", "function_call", "cond_logp", "pick_option", "raw_sample", "extra"})
_ERROR = "error"


@dataclass
class _Record:
    """What one file holds."""

    spec: Row = field(default_factory=dict)
    report: Row | None = None
    scores: list[Row] = field(default_factory=list)
    answers: dict[str, list[Row]] = field(default_factory=dict)
    crashed: dict[str, Row] = field(default_factory=dict)
    samples: dict[str, None] = field(default_factory=dict)
    unknown: Counter[str] = field(default_factory=Counter)


def detect(source: Source) -> bool:
    """Say whether a file is a record: its first line is the spec, the report or an event."""
    if source.is_folder or source.is_zip or not source.is_json_lines:
        return False
    first = source.first_line
    spec = first.get(_SPEC)
    if isinstance(spec, Mapping):
        return {"completion_fns", "eval_name"} <= set(spec)
    if isinstance(first.get(_REPORT), Mapping):
        return len(first) == 1
    return set(first) >= _EVENT and isinstance(first["data"], Mapping) and "event_id" in first


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read one record in one batch: a sample's events stand wherever threads wrote them."""
    found = _Record()
    for record, raw in json_lines(source.path, reading):
        try:
            _add(found, f"{source.path.name}: {record}", raw)
        except BAD_RECORD as error:
            reading.bad_record(source.path, record, error)
    for kind, count in found.unknown.items():
        reading.unknown(source.path, kind, count)
    key, notes = _key(source, found, reading)
    _check_accuracy(source, found)
    rows, more = _score_rows(found, key)
    if found.report is None:
        notes.append("it has no final report: the run was interrupted")
    yield Batch(
        scores=rows,
        outputs=list(_output_rows(found, key)),
        aggregates=list(_aggregates(found, key)),
        notes=[f"{source.path.name}: {note}" for note in [*notes, *more]],
    )


def _add(found: _Record, place: str, raw: Row) -> None:
    if isinstance(raw.get(_SPEC), dict):
        if found.spec:
            raise ReadError(
                f"{place}: a second run begins in this file; events of several runs cannot be "
                "told apart safely, so split the file at its spec lines",
                code="several_runs",
                path=place,
            )
        found.spec = raw[_SPEC]
    elif isinstance(raw.get(_REPORT), dict):
        found.report = raw[_REPORT]
    elif set(raw) >= _EVENT:
        _add_event(found, place, raw)
    else:
        found.unknown["line that is neither spec nor report nor event"] += 1


def _add_event(found: _Record, place: str, raw: Row) -> None:
    data, sample, kind = raw["data"], str(raw["sample_id"]), str(raw["type"])
    if not isinstance(data, Mapping):
        raise ValueError(f"the data of its {kind} event is no object")  # noqa: TRY004 - one kind of refusal
    event = {"source": place, "sample": sample, "data": data, "time": raw.get("created_at")}
    found.samples[sample] = None
    if kind == _ERROR:
        found.crashed.setdefault(sample, event)
    elif kind == _MATCH:
        found.scores.append({**event, "criterion": _MATCH, **_matched(data)})
    elif kind == "metrics":
        found.scores += [
            {**event, "criterion": f"metrics.{name}", **row} for name, row in _metrics(data)
        ]
    elif kind in _STEPS:
        if kind == "sampling":
            found.answers.setdefault(sample, []).append(event)
    else:
        found.unknown[f"event {kind!r}"] += 1


def _matched(data: Mapping[str, Any]) -> Row:
    """Turn a match into a score; what was picked is the verdict in words."""
    correct = data.get("correct")
    picked = data.get("picked")
    words = None if picked is None else shortened(as_cell(picked) or "", limit=SHORT_TEXT)
    if not isinstance(correct, bool):
        message = "the event does not say whether it is correct"
        return _row(None, label=words, message=message)
    return {**_row(float(correct), label=words), "passed": correct}


def _metrics(data: Mapping[str, Any]) -> Iterator[tuple[str, Row]]:
    """Give every number of a metrics event; a word beside a score is its verdict."""
    choice = data.get("choice")
    words = choice if isinstance(choice, str) and "score" in data else None
    for name, value in data.items():
        if name == "choice" and words is not None:
            continue
        number = finite_number(float(value) if isinstance(value, bool) else value)
        label = words if name == "score" else None
        if number is not None:
            yield name, _row(number, label=label)
        elif value is None:
            yield name, _row(None, label=label, message="the event gives no number")
        elif isinstance(value, float):
            yield name, _row(None, label=non_finite_name(value), message="it is no finite number")
        elif isinstance(value, str) and len(value) <= SHORT_TEXT:
            yield name, _row(None, label=value, message="it is a category, which is no number")


def _row(score: float | None, *, label: str | None = None, message: str | None = None) -> Row:
    status = "unscored" if score is None else "scored"
    return {"score": score, "label": label, "passed": None, "status": status, "message": message}


def _key(source: Source, found: _Record, reading: Reading) -> tuple[Row, list[str]]:
    spec = found.spec
    functions = [str(each) for each in spec.get("completion_fns") or []]
    name = functions[0] if functions else None
    system, notes = (name, []) if name else system_name(source.path, reading)
    if len(functions) > 1:
        notes = [f"it names {len(functions)} completion functions; the first is the system"]
    task = spec.get("eval_name") or spec.get("base_eval") or ""
    return {"run_id": str(spec.get("run_id") or ""), "system": system, "task": str(task)}, notes


def _check_accuracy(source: Source, found: _Record) -> None:
    """Warn where the reported accuracy is not the mean of the matches."""
    told = finite_number((found.report or {}).get("accuracy"))
    scores = [each["score"] for each in found.scores if each["criterion"] == _MATCH]
    given = [score for score in scores if score is not None]
    if told is None or not given or abs(told - sum(given) / len(given)) < 1e-6:
        return
    warn(
        f"{source.path}: its report says accuracy {told:g}, its {len(given)} matches give "
        f"{sum(given) / len(given):g}; the file may be cut or hold several runs"
    )


def _score_rows(found: _Record, key: Row) -> tuple[list[Row], list[str]]:
    trials, notes = trial_numbers((each["sample"], each["criterion"]) for each in found.scores)
    criteria = Criteria()
    for each in found.scores:
        criteria.add(each["sample"], [each["criterion"]])
    judged = {each["sample"] for each in found.scores}
    rows = []
    for each, trial in zip(found.scores, trials, strict=True):
        measured = {n: each[n] for n in ("score", "label", "passed", "status", "message")}
        rows.append(_placed(each, key, found, {**measured, "trial": trial, **_named(each)}))
    for sample, event in found.crashed.items():
        if sample in judged:
            continue
        why = shortened(_error(event["data"]))
        lost = {**_row(None, message=why), "status": "system_error", "trial": 0}
        rows += (
            _placed(event, key, found, {**lost, "criterion": name}) for name in criteria.of(sample)
        )
    unjudged = set(found.samples) - judged - set(found.crashed)
    if unjudged:
        notes.append(f"{len(unjudged)} sample(s) were answered and never judged")
    return rows, notes


def _named(each: Row) -> Row:
    name = each["criterion"]
    if name != _MATCH:
        return {"criterion": name}
    return {"criterion": name, "kind": "binary", "lower_bound": 0.0, "upper_bound": 1.0}


def _placed(event: Row, key: Row, found: _Record, measured: Row) -> Row:
    answers = found.answers.get(event["sample"]) or []
    prompt = answers[0]["data"].get("prompt") if answers else None
    return {
        **key,
        "example_id": event["sample"],
        **measured,
        "timestamp": _time(event["time"]),
        "input_digest": None if prompt is None else digest(prompt),
        "source": event["source"],
    }


def _time(value: object) -> str | None:
    """Write a time as ISO 8601; the spec of early versions has one without a zone."""
    return time_or_none(value.replace(" ", "T", 1)) if isinstance(value, str) else None


def _error(data: Mapping[str, Any]) -> str:
    told = [str(data[name]) for name in ("type", "message") if data.get(name)]
    return ": ".join(told) or "an unnamed error"


def _output_rows(found: _Record, key: Row) -> Iterator[Row]:
    """Give the answer of each sample's first sampling; later ones are often those of a judge."""
    wanted = {
        each["sample"]: each["data"].get("expected")
        for each in found.scores
        if each["criterion"] == _MATCH
    }
    for sample in found.samples:
        events = found.answers.get(sample) or []
        crash = found.crashed.get(sample)
        first = events[0] if events else crash
        if first is None:
            continue
        data = first["data"] if events else {}
        used = data.get("usage") or {}
        yield {
            **key,
            "example_id": sample,
            "input": as_cell(data.get("prompt")),
            "output": _sampled(data.get("sampled")),
            "reference": as_cell(wanted.get(sample)),
            "error": None if crash is None else _error(crash["data"]),
            "tokens_in": finite_number(used.get("prompt_tokens")),
            "tokens_out": finite_number(used.get("completion_tokens")),
            "timestamp": _time(first["time"]),
            "source": first["source"],
        }


def _sampled(value: object) -> str | None:
    """Give the text; newer versions write a list of samples, of which there is mostly one."""
    if isinstance(value, list) and len(value) == 1:
        return as_cell(value[0])
    return None if value is None else value if isinstance(value, str) else as_json(value)


def _aggregates(found: _Record, key: Row) -> Iterator[Row]:
    for name, value in (found.report or {}).items():
        if finite_number(value) is not None:
            yield {**key, "criterion": name, "metric": name, "value": value}


FORMAT = Format(
    name="openai_evals",
    title="OpenAI evals records (oaieval)",
    detect=detect,
    read=read,
    tables=frozenset({"scores", "outputs", "report"}),
    signs="JSON lines with a spec, a final_report and events with sample_id and type",
    quirks=(
        "`match` events carry the verdict; each number of a `metrics` event is a criterion, null "
        "there is `unscored`. An `error` event makes a sample `system_error`. The final report may "
        "be the second line, and is absent where the run was interrupted. A sample judged several "
        "times gives trials."
    ),
)
