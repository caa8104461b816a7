"""A test case of DeepEval, its metrics wherever they stand, and what their verdicts mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from evaltoolkit.readers.base import Row
from evaltoolkit.readers.records import (
    as_label,
    finite_number,
    shortened,
)
from evaltoolkit.readers.tracebacks import reason
from evaltoolkit.readers.unnamed import time_or_none

# Here less is better, unless the verdicts of a file say otherwise.
_LOWER_IS_BETTER = frozenset({"bias", "toxicity", "hallucination", "latency", "cost"})
_SPANS = ("baseSpans", "agentSpans", "llmSpans", "retrieverSpans", "toolSpans")
_METRICS = ("metricsData", "metricsMetadata")
_WHO = ("role", "content")


@dataclass(frozen=True)
class Metric:
    """One metric of one test case: its name, the name of the criterion, the raw record."""

    name: str
    criterion: str
    raw: Row

    @property
    def judge(self) -> str:
        """The model that judged, empty where there was none."""
        return str(self.raw.get("evaluationModel") or "")

    @property
    def is_number(self) -> bool:
        """Whether a score was written."""
        return finite_number(self.raw.get("score")) is not None

    @property
    def lower_passes(self) -> bool | None:
        """Whether it passed below its threshold or failed above it; None where nobody can tell."""
        score, limit = (
            finite_number(self.raw.get("score")),
            finite_number(self.raw.get("threshold")),
        )
        verdict = self.raw.get("success")
        if self.raw.get("error") or score is None or limit is None or score == limit:
            return None
        return (score < limit) == verdict if isinstance(verdict, bool) else None

    @property
    def measured(self) -> Row:
        """Score, label, verdict, status, message and cost."""
        raw, score = self.raw, self.raw.get("score")
        row: Row = {"score": None, "label": as_label(score), "passed": None}
        told = shortened(str(raw["reason"])) if raw.get("reason") else None
        if raw.get("error"):
            row |= {"status": "scorer_error", "message": reason(str(raw["error"]))}
        elif (number := finite_number(score)) is None:
            row |= {"status": "unscored", "message": told or "the metric gave no number"}
        else:
            verdict = raw.get("success")
            passed = verdict if isinstance(verdict, bool) else None
            row |= {"score": number, "label": None, "passed": passed, "status": "scored"}
            row["message"] = told
        return {**row, "judge_cost_usd": finite_number(raw.get("evaluationCost"))}


@dataclass
class Case:
    """One test case with its metrics; a conversation's input are the turns of its user.

    Attributes:
        record: Where it stands.
        raw: As it was written.
        metrics: Its metrics, those of spans among them.
        repeated: How many metrics of its trace were those of the case again.
        key: Run, system, task, example and trial, once the whole file has been seen.
    """

    record: str
    raw: Row
    metrics: list[Metric]
    repeated: int = 0
    key: Row = field(default_factory=dict)

    @property
    def trace(self) -> Row:
        """The trace of the run, empty where there is none."""
        return self.raw.get("trace") or {}

    @property
    def turns(self) -> list[Row] | None:
        """The turns of a conversation, in any of the layouts; None for a single answer."""
        return next((self.raw[n] for n in ("turns", "testCases") if n in self.raw), None)

    @property
    def input(self) -> Any:  # noqa: ANN401 - text, or a list of texts
        """What the system was asked."""
        turns = self.turns
        if turns is None:
            return self.raw.get("input")
        if self.raw.get("scenario"):
            return self.raw["scenario"]
        return [
            turn.get("content", turn.get("input"))
            for turn in turns
            if turn.get("role", "user") == "user"
        ]

    @property
    def output(self) -> Any:  # noqa: ANN401 - text, or a list of turns
        """What the system answered; for a conversation all turns."""
        turns = self.turns
        if turns is None:
            return self.raw.get("actualOutput")
        return [
            {name: turn[name] for name in (*_WHO, "input", "actualOutput") if name in turn}
            for turn in turns
        ]

    @property
    def reference(self) -> Any:  # noqa: ANN401 - any JSON value
        """What was expected."""
        return self.raw.get("expectedOutput") or self.raw.get("expectedOutcome")

    @property
    def described(self) -> Row:
        """Free fields that may describe the example."""
        tags = ", ".join(map(str, self.raw.get("tags") or [])) or None
        return {**(self.raw.get("additionalMetadata") or {}), "tags": tags}

    @property
    def spans(self) -> Iterator[Row]:
        """All spans of the trace."""
        for kind in _SPANS:
            yield from self.trace.get(kind) or []

    @property
    def models(self) -> set[str]:
        """Models that were called inside the trace."""
        return {
            str(span["model"]) for span in self.trace.get("llmSpans") or [] if span.get("model")
        }

    @property
    def error(self) -> str | None:
        """What went wrong in the system, where the whole trace failed."""
        if self.trace.get("status") != "ERRORED":
            return None
        told = [str(span["error"]) for span in self.spans if span.get("error")]
        return told[0] if told else "the trace is marked as failed, without a reason"

    @property
    def seconds(self) -> float | None:
        """How long the traced run took."""
        times = [time_or_none(self.trace.get(name)) for name in ("startTime", "endTime")]
        start, end = (datetime.fromisoformat(time) if time else None for time in times)
        return None if start is None or end is None else (end - start).total_seconds()

    def tokens(self, name: str) -> float | None:
        """Add up the tokens of all traced calls."""
        counts = [finite_number(span.get(name)) for span in self.trace.get("llmSpans") or []]
        given = [count for count in counts if count is not None]
        return sum(given) if given else None


def case_of(record: str, raw: Row) -> Case:
    """Take one test case apart.

    Raises:
        ValueError: It is not laid out like one.
    """
    parts = [raw.get("trace"), raw.get("additionalMetadata")]
    if any(part and not isinstance(part, Mapping) for part in parts):
        raise ValueError("its trace and its metadata must be objects")
    case = Case(record, raw, [])
    seen: Counter[str] = Counter()
    own = _metrics(raw)
    for each in own:
        case.metrics.append(_named(each, "", seen))
    gists = [_gist(each) for each in own]
    for each in _metrics(case.trace):
        if _gist(each) in gists:
            case.repeated += 1
        else:
            case.metrics.append(_named(each, "trace", seen))
    for span in case.spans:
        place = f"{span.get('type') or 'span'} {span.get('name') or ''}".strip()
        case.metrics += (_named(each, place, seen) for each in _metrics(span))
    return case


def _metrics(raw: Row) -> list[Row]:
    return next((raw[name] for name in _METRICS if raw.get(name)), [])


def _gist(metric: Row) -> object:
    return [metric.get(name) for name in ("name", "metric", "score", "success", "reason", "error")]


def _named(raw: Row, place: str, seen: Counter[str]) -> Metric:
    """Name the criterion; a span that ran several times numbers them from the second on."""
    name = raw.get("name") or raw.get("metric")
    if not isinstance(name, str):
        raise ValueError("a metric has no name")  # noqa: TRY004 - one kind of refusal
    criterion = f"{name} ({place})" if place else name
    seen[criterion] += 1
    number = seen[criterion]
    return Metric(name, criterion if number == 1 else f"{criterion} #{number}", raw)


def facts(metrics: list[Metric]) -> dict[str, Row]:
    """Give what holds for all scores of a criterion: direction, threshold, bounds."""
    by_criterion: dict[str, list[Metric]] = {}
    for metric in metrics:
        by_criterion.setdefault(metric.criterion, []).append(metric)
    return {name: _facts(own) for name, own in by_criterion.items()}


def _facts(metrics: list[Metric]) -> Row:
    limits = {finite_number(metric.raw.get("threshold")) for metric in metrics}
    scores = [finite_number(metric.raw.get("score")) for metric in metrics]
    given = [number for number in (*limits, *scores) if number is not None]
    # Metrics of DeepEval score from 0 to 1; those that a user writes need not.
    bounded = bool(given) and all(0 <= number <= 1 for number in given)
    return {
        "higher_is_better": _direction(metrics),
        "threshold": limits.pop() if len(limits) == 1 else None,
        "lower_bound": 0.0 if bounded else None,
        "upper_bound": 1.0 if bounded else None,
    }


def _direction(metrics: list[Metric]) -> bool | None:
    """Tell from the verdicts whether more is better; by the name where they do not tell."""
    told = {metric.lower_passes for metric in metrics} - {None}
    if len(told) == 1:
        return not told.pop()
    is_known = metrics[0].name.lower() in _LOWER_IS_BETTER
    return False if is_known and not told else None
