"""What a result of promptfoo says: the parts it was graded by, and what broke where.

promptfoo writes 0 and ``false`` for whatever went wrong: a provider that failed, a grader whose
reply was no JSON, an assertion that threw. Only the reason tells them from a wrong answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evaltoolkit.readers.base import Row
from evaltoolkit.readers.records import (
    as_label,
    finite_number,
    shortened,
)
from evaltoolkit.readers.tracebacks import reason

OVERALL = "overall"
"""The criterion of the whole result: its score is a weighted mean, its verdict needs all parts."""

HUMAN = "human"

_ERROR = 2
_NOTHING_TO_CHECK = "No assertions"
# How a reason begins where the grader or the assertion itself failed, as promptfoo words it.
_BROKEN = re.compile(
    r"Could not extract JSON|\S+ produced malformed response|No output$|API (call )?error"
    r"|Custom function threw error|(Python|Ruby) code execution failed|Webhook error"
)
# Assertions whose score is whatever their author returns; all others score from 0 to 1.
_FREE = frozenset({"javascript", "python", "ruby", "webhook"})
# Their threshold is one of dollars, milliseconds, edits and perplexity, not of the score.
_OTHER_UNITS = frozenset({"cost", "latency", "levenshtein", "perplexity"})


@dataclass(frozen=True)
class Part:
    """One thing that a result was graded by.

    Attributes:
        criterion: Its name.
        measured: Score, label, verdict, status and message.
        assertion: The assertion that was checked; empty where none is told.
        scorer: Who judged, where it was a person.
        raw: The grading as it was written.
    """

    criterion: str
    measured: Row
    assertion: Mapping[str, Any] = field(default_factory=dict)
    scorer: str = ""
    raw: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_bounded(self) -> bool:
        """Whether promptfoo itself makes the score, from 0 to 1."""
        kind = str(self.assertion.get("type") or "").removeprefix("not-")
        number = self.measured["score"]
        return bool(kind) and kind not in _FREE and (number is None or 0 <= number <= 1)

    @property
    def threshold(self) -> float | None:
        """The score from which it passes, where the assertion states one."""
        in_other_units = str(self.assertion.get("type")) in _OTHER_UNITS
        return None if in_other_units else finite_number(self.assertion.get("threshold"))

    @property
    def weight(self) -> float | None:
        """Its weight in the overall score."""
        return finite_number(self.assertion.get("weight", 1)) if self.assertion else None


def parts_of(raw: Row) -> list[Part]:
    """Give the parts of one result: overall, each assertion, further named scores, a human."""
    error = crash(raw)
    if error is not None:
        status, why = error
        row = _row(label=as_label(raw.get("score")), status=status, message=why)
        return [Part(OVERALL, row)]
    grading = raw.get("gradingResult") or {}
    parts = list(_components(grading.get("componentResults") or [], _asserts(raw)))
    names = {part.criterion for part in parts}
    named = raw.get("namedScores") or grading.get("namedScores") or {}
    further = [
        Part(str(name), _measured(score, None, None))
        for name, score in named.items()
        if name not in names
    ]
    return [*_overall(raw, grading, parts), *parts, *further, *_manual(raw)]


def crash(raw: Row) -> tuple[str, str] | None:
    """Say whether nothing was measured: the status and the reason, else None."""
    told, response = raw.get("error"), raw.get("response") or {}
    failure = raw.get("failureReason")
    # Before there were failure reasons an error without a grading was one of the provider.
    is_old_error = failure is None and bool(told) and not raw.get("gradingResult")
    if failure != _ERROR and not is_old_error:
        return None
    why = reason(str(told or response.get("error") or "an unnamed error"))
    answered = response.get("output") is not None and not response.get("error")
    return ("scorer_error" if answered else "system_error"), why


def _overall(raw: Row, grading: Row, parts: list[Part]) -> Iterator[Part]:
    success, score = raw.get("success"), raw.get("score")
    if success is None and score is None:
        return
    told = grading.get("reason") or raw.get("error")
    if told == _NOTHING_TO_CHECK and not parts:
        why = "no assertions: promptfoo writes 1 where nothing is checked"
        row = _row(label=as_label(score), status="unscored", message=why)
    elif broken := [part for part in parts if _counts_although_broken(part)]:
        why = f"made of {len(broken)} assertion(s) that broke: {broken[0].measured['message']}"
        row = _row(label=as_label(score), status="scorer_error", message=shortened(why))
    else:
        row = _measured(score, success, told)
    yield Part(OVERALL, row, raw=grading)


def _counts_although_broken(part: Part) -> bool:
    return part.measured["status"] == "scorer_error" and part.assertion.get("weight") != 0


def _manual(raw: Row) -> Iterator[Part]:
    """Give the verdict that a person put beside the result in the viewer."""
    manual = raw.get("manualGrading")
    if isinstance(manual, Mapping):
        row = _measured(manual.get("score"), manual.get("pass"), manual.get("reason"))
        yield Part(OVERALL, row, scorer=HUMAN, raw=manual)


def _components(components: list[Any], asserts: list[Row]) -> Iterator[Part]:
    gradings = list(_flat(components, "componentResults"))
    seen: Counter[str] = Counter()
    for place, each in enumerate(gradings):
        # Red-team gradings name no assertion; those of the test stand in the same order.
        planned_here = asserts[place] if len(asserts) == len(gradings) else {}
        assertion = each.get("assertion") or planned_here
        yield Part(
            criterion=_name(assertion, seen),
            measured=_component(each),
            assertion=assertion,
            scorer=HUMAN if assertion.get("type") == HUMAN else "",
            raw=each,
        )


def planned(raw: Row) -> list[str]:
    """Name the criteria that the test case asks for."""
    seen: Counter[str] = Counter()
    return [_name(assertion, seen) for assertion in _asserts(raw)]


def _asserts(raw: Row) -> list[Row]:
    return list(_flat((raw.get("testCase") or {}).get("assert") or [], "assert"))


def _name(assertion: Mapping[str, Any], seen: Counter[str]) -> str:
    """Name a criterion by metric or type of its assertion, and by a number from the second on."""
    name = str(assertion.get("metric") or assertion.get("type") or "assertion")
    # A metric must not meet the criterion of the whole.
    name = f"{name} (assertion)" if name == OVERALL else name
    seen[name] += 1
    return name if seen[name] == 1 else f"{name} {seen[name]}"


def _flat(components: list[Any], inside: str) -> Iterator[Row]:
    """Go through a list and what is inside an assert-set, which newer files list again after it."""
    place = 0
    while place < len(components):
        each = components[place]
        place += 1
        if not isinstance(each, dict):
            continue
        yield each
        inner = [part for part in each.get(inside) or [] if isinstance(part, dict)]
        if not inner:
            continue
        following = components[place : place + len(inner)]
        if [*map(_gist, following)] != [*map(_gist, inner)]:
            yield from _flat(inner, inside)


def _gist(component: Any) -> object:  # noqa: ANN401 - whatever stands in the list
    if not isinstance(component, Mapping):
        return None
    return [component.get(name) for name in ("pass", "score", "reason", "type", "value")]


def _component(each: Row) -> Row:
    told = str(each.get("reason") or "")
    is_error = (each.get("metadata") or {}).get("graderError") is True
    if is_error or (each.get("pass") is not True and _BROKEN.match(told)):
        why = shortened(told) or "the grader failed"
        return _row(label=as_label(each.get("score")), status="scorer_error", message=why)
    return _measured(each.get("score"), each.get("pass"), told)


def _measured(score: object, verdict: object, told: object) -> Row:
    """Turn score and verdict into one row; where only a verdict was written, it is the score."""
    value = verdict if score is None else score
    number = finite_number(float(value) if isinstance(value, bool) else value)
    message = shortened(str(told)) if told else None
    if number is not None:
        passed = verdict if isinstance(verdict, bool) else None
        return _row(score=number, passed=passed, status="scored", message=message)
    why = message or "no number was written"
    return _row(label=as_label(value), status="unscored", message=why)


def _row(
    *,
    status: str,
    message: str | None,
    score: float | None = None,
    label: str | None = None,
    passed: bool | None = None,
) -> Row:
    return {
        "score": score, "label": label, "passed": passed, "status": status, "message": message
    }  # fmt: skip


def lost_part(criterion: str, *, overall: Part) -> Part:
    """Give the row of a criterion that a result should have and has not."""
    measured = overall.measured
    if measured["status"] in ("system_error", "scorer_error") and not overall.raw:
        return Part(criterion, {**measured, "label": None})
    why = "no result of this assertion is written: it threw, or was not run after a failure"
    return Part(criterion, _row(status="scorer_error", message=why))
