"""What one evaluation event of OpenTelemetry says, and what its span says of the answer."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from evaltoolkit.readers.base import Row
from evaltoolkit.readers.otlp import RESPONSE, Event, Span, time_of
from evaltoolkit.readers.records import (
    SHORT_TEXT,
    as_cell,
    as_written,
    digest,
    finite_number,
    shortened,
)

_RESULT = "gen_ai.evaluation.result"
_PREFIX = "gen_ai.evaluation."
# The first two are those of the draft before and of the standard now.
_EVENT_NAMES = frozenset({"gen_ai.evaluation", _RESULT})
_NAME = "gen_ai.evaluation.name"
_VALUES = ("gen_ai.evaluation.score.value", "gen_ai.evaluation.score")
_LABELS = (
    "gen_ai.evaluation.score.label", "gen_ai.evaluation.label", "gen_ai.evaluation.status"
)  # fmt: skip
_EXPLANATIONS = ("gen_ai.evaluation.explanation", "gen_ai.evaluation.reasoning")
_EXAMPLES = (
    "test.case.id", "test.case.name", "example_id", "example.id", "dataset.item.id",
    "dataset.example.id", "sample_id", "case_id",
)  # fmt: skip
_INPUTS = ("gen_ai.input.messages", "gen_ai.prompt")
_OUTPUTS = ("gen_ai.output.messages", "gen_ai.completion")
_TOKENS_IN = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
_TOKENS_OUT = ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")
_FINISHED = "gen_ai.response.finish_reasons"
_VERDICTS = {"pass": True, "passed": True, "fail": False, "failed": False}
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


@dataclass
class Result:
    """One evaluation: the event, its criterion, and the spans from the answer up to the root."""

    event: Event
    criterion: str
    line: list[Span]
    key: Row = field(default_factory=dict)

    @property
    def answer(self) -> str:
        """What tells this answer from other answers to the same example."""
        return self.line[0].id if self.line else self.event.span or self.event.response

    @property
    def time(self) -> int:
        """When the answer was given, else when it was evaluated."""
        start = self.line[0].start if self.line else None
        return start or self.event.time or 0


def is_evaluation(event: Event) -> bool:
    """Say whether an event holds an evaluation, in the standard's form or in an earlier one."""
    if event.name in _EVENT_NAMES or event.attributes.get("event.name") in _EVENT_NAMES:
        return True
    scored = any(name in event.attributes for name in (*_VALUES, *_LABELS[:2]))
    return scored and (_NAME in event.attributes or event.name.startswith(_PREFIX))


def criterion_of(event: Event) -> str:
    """Name the criterion of an event.

    Raises:
        ValueError: It has none.
    """
    name = event.attributes.get(_NAME) or event.attributes.get("gen_ai.evaluator.name")
    if name:
        return str(name)
    if event.name.startswith(_PREFIX) and event.name not in _EVENT_NAMES:
        return event.name.removeprefix(_PREFIX)
    raise ValueError(f"the evaluation has no {_NAME}")


def told(result: Result, names: tuple[str, ...], *, own: bool = False) -> str | None:
    """Look an attribute up in the event, then from the answer's span up to the root.

    Args:
        result: The evaluation.
        names: The attribute and its other names.
        own: Whether to look at the event only.
    """
    holders = [result.event.attributes]
    holders += [] if own else [span.attributes for span in result.line]
    for holder in holders:
        value = _first(holder, names)
        if isinstance(value, str | int) and value != "":
            return str(value)
    return None


def _first(attributes: Row, names: tuple[str, ...]) -> object:
    return next((attributes[name] for name in names if attributes.get(name) is not None), None)


def example_of(result: Result) -> tuple[str, str]:
    """Name the example and say how; the latter is empty where an attribute names it."""
    named = told(result, _EXAMPLES)
    if named is not None:
        return named, ""
    for span in result.line:
        messages = _first(span.attributes, _INPUTS)
        if messages is not None:
            return digest(messages), "a hash of the input messages"
    response = told(result, (RESPONSE,))
    if response is not None:
        return response, "the response (no other system shares it)"
    if result.event.span:
        return result.event.span, "the span (no other system shares it)"
    return result.event.record, "the place in the file"


def measured(result: Result) -> Row:
    """Give score, label, verdict, status and message of an evaluation."""
    attributes = result.event.attributes
    raw, word = _first(attributes, _VALUES), _first(attributes, _LABELS)
    number = _number(raw)
    label = None if word is None else shortened(as_cell(word) or "", limit=SHORT_TEXT)
    explanation = _first(attributes, _EXPLANATIONS)
    told_why = shortened(as_cell(explanation) or "") if explanation else None
    status, why = _status(result, number, label)
    if status != "scored":
        written = raw is not None and (label is None or number is not None)
        label = _written(raw) if written else label
        return {
            "score": None, "label": label, "passed": None, "status": status,
            "message": why or told_why,
        }  # fmt: skip
    passed = _VERDICTS.get(label.lower()) if label else None
    return {
        "score": number, "label": label, "passed": passed, "status": status, "message": told_why
    }  # fmt: skip


def _status(result: Result, number: float | None, label: str | None) -> tuple[str, str | None]:
    broken = result.event.attributes.get("error.type")
    crash = result.line[0].error if result.line else None
    if crash is not None and result.line[0].name != result.event.name:
        return "system_error", shortened(f"the operation failed: {crash}")
    if broken:
        return "scorer_error", shortened(f"the evaluation failed: {broken}")
    if number is not None:
        return "scored", None
    if label is not None:
        return "unscored", None
    return "unscored", "the event holds neither a number nor a label"


def _number(value: object) -> float | None:
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        # Some exporters write every value as text.
        return finite_number(float(value)) if _NUMBER.fullmatch(value.strip()) else None
    return finite_number(value)


def _written(value: object) -> str:
    return shortened(as_written(value) or "", limit=SHORT_TEXT)


def output_of(span: Span) -> Row:
    """Give the parts of an outputs row that the span of an answer holds."""
    attributes = span.attributes
    finished = attributes.get(_FINISHED)
    return {
        "input": as_cell(_first(attributes, _INPUTS)),
        "output": as_cell(_first(attributes, _OUTPUTS)),
        "error": span.error,
        "finish_reason": ", ".join(map(str, finished)) if isinstance(finished, list) else finished,
        "cost_usd": _number(_first(attributes, ("gen_ai.usage.cost",))),
        "tokens_in": _number(_first(attributes, _TOKENS_IN)),
        "tokens_out": _number(_first(attributes, _TOKENS_OUT)),
        "latency_s": (span.end - span.start) / 1e9 if span.start and span.end else None,
        "timestamp": time_of(span.start),
    }


def details_of(result: Result) -> Row:
    """Give what the event says beside score and label."""
    known = {*_VALUES, *_LABELS, *_INPUTS, *_OUTPUTS, _NAME, "event.name"}
    return {name: value for name, value in result.event.attributes.items() if name not in known}
