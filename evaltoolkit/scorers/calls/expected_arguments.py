"""`ToolArguments`: how well the arguments of the calls are those that the example expects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Unpack

from evaltoolkit.models import Example, Kind, Output
from evaltoolkit.scorers.base import (
    BaseScorer,
    ComparingScorer,
    Naming,
    Unmeasurable,
    Verdict,
    is_object,
    shorten,
)
from evaltoolkit.scorers.calls.call_arguments import showable
from evaltoolkit.scorers.calls.expected_calls import ExpectedCall, expected_rounds
from evaltoolkit.scorers.calls.explanations import MAX_SHOWN, malformed_calls
from evaltoolkit.scorers.calls.likeness import ArgumentLikeness, FieldStrategy
from evaltoolkit.scorers.calls.messages import ToolCall, rounds_of
from evaltoolkit.scorers.calls.pairing import check_size
from evaltoolkit.scorers.calls.valid_calls import tool_schemas
from evaltoolkit.scorers.structure import Similarity


class ToolArguments(BaseScorer):
    """How like the arguments of the calls are to those that the example expects, from 0 to 1.

    By EvalShift's rules (``tool_arguments`` against what is expected). Each expected call that
    names arguments is paired with an actual call of that tool in the same round, so that the sum
    of the likenesses is greatest (there, the first call of that name). A call that was not made or
    cannot be read counts 0. Compared are the expected arguments, and with ``match_strategy``
    ``exact`` all of both sides; a name that begins with "_" is skipped. A call scores the mean over
    its arguments, a round the mean over its expected calls, the example the mean over its rounds.

    Args:
        strategies: By argument, how it is compared; see `ArgumentLikeness`.
        default_strategy: How the others are.
        numeric_tolerance: Relative deviation at which a number counts 0.
        **naming: See `Naming`; the default criterion is ``tool_arguments``.

    Raises:
        ScorerError: A strategy does not exist.

    Example:
        >>> wanted = {"tool_name": "pay", "arguments": {"sum": 100, "to": "Ann"}}
        >>> example = Example(id=1, expected_tools=[wanted])
        >>> output = Output(rounds=[[{"name": "pay", "args": {"sum": 102, "to": "ann"}}]])
        >>> score = ToolArguments().score(output, example)
        >>> round(score.score, 3), score.message
        (0.804, "'pay': argument 'sum' is 102, not 100")
    """

    kind: ClassVar[Kind] = "continuous"

    def __init__(
        self,
        strategies: Mapping[str, FieldStrategy | ComparingScorer | Similarity] | None = None,
        *,
        default_strategy: FieldStrategy = "auto",
        numeric_tolerance: float = 0.05,
        **naming: Unpack[Naming],
    ) -> None:
        naming["criterion"] = naming.get("criterion") or "tool_arguments"
        super().__init__(**naming)
        self._likeness = ArgumentLikeness(
            strategies, default=default_strategy, numeric_tolerance=numeric_tolerance
        )

    def measure(self, output: Output, example: Example, /) -> Verdict:
        """Compare round by round."""
        wanted = expected_rounds(example) or []
        wanted = [[one for one in calls if one.has_arguments] for calls in wanted]
        if not any(wanted):
            msg = "the example expects no particular arguments of a tool call"
            raise Unmeasurable(msg)
        made = rounds_of(output)
        schemas = {} if example.tools is None else tool_schemas(example.tools)
        rounds = [
            self._paired(made[place] if place < len(made) else [], calls, schemas)
            for place, calls in enumerate(wanted)
        ]
        means = [sum(c.score for c in calls) / len(calls) for calls in rounds if calls]
        score = sum(means) / len(means)
        found = [(place, call) for place, calls in enumerate(rounds) for call in calls]
        details: dict[str, Any] = {
            "calls": [{"round": place, **call.details()} for place, call in found[:MAX_SHOWN]]
        }
        if broken := malformed_calls([call for calls in made for call in calls]):
            details["malformed"] = broken
        worst = min((call for _, call in found), key=lambda call: call.score)
        return Verdict(score, worst.sentence() if score < 1 else None, details)

    def _paired(
        self, made: Sequence[ToolCall], wanted: Sequence[ExpectedCall], schemas: Mapping[str, Any]
    ) -> list[_Compared]:
        check_size(wanted, made)
        by_name: defaultdict[str, list[int]] = defaultdict(list)
        for place, one in enumerate(wanted):
            by_name[one.call.name].append(place)
        found: dict[int, _Compared] = {}
        for name, places in by_name.items():
            namesakes = [call for call in made if call.name == name]
            grid = [
                [self._compared(wanted[p], call, schemas) for call in namesakes] for p in places
            ]
            for row, column in _best_pairs([[one.score for one in line] for line in grid]):
                found[places[row]] = grid[row][column]
        missing = [_Compared(one.call.name, {}, "not called") for one in wanted]
        return [found.get(place, missing[place]) for place in range(len(wanted))]

    def _compared(
        self, wanted: ExpectedCall, made: ToolCall, schemas: Mapping[str, Any]
    ) -> _Compared:
        if made.fault:
            return _Compared(made.name, {}, made.fault)
        expected = wanted.call.args
        names = [*expected, *(key for key in made.args if wanted.is_exact and key not in expected)]
        fields = {
            key: _Field(
                self._field(key, made.args, expected, schemas.get(made.name)),
                made.args.get(key, _ABSENT),
                expected.get(key, _ABSENT),
            )
            for key in names
            if not str(key).startswith("_")
        }
        return _Compared(made.name, fields)

    def _field(
        self,
        key: str,
        made: Mapping[str, Any],
        expected: Mapping[str, Any],
        schema: object,
    ) -> float:
        if key not in made or key not in expected:
            # A null that is left out is no difference.
            return float(made.get(key) is None and expected.get(key) is None)
        properties = schema.get("properties") if is_object(schema) else None
        known = properties.get(key) if is_object(properties) else None
        return self._likeness.compare(key, made[key], expected[key], schema=known)


_ABSENT = "(absent)"


class _Field(NamedTuple):
    score: float
    actual: object
    expected: object


class _Compared(NamedTuple):
    """An expected call beside the actual one, or the reason why there is none."""

    name: str
    fields: dict[str, _Field]
    fault: str | None = None

    @property
    def score(self) -> float:
        if self.fault:
            return 0.0
        scores = [one.score for one in self.fields.values()]
        return sum(scores) / len(scores) if scores else 1.0

    def details(self) -> dict[str, Any]:
        facts: dict[str, Any] = {"name": showable(self.name), "score": self.score}
        if self.fault:
            return {**facts, "fault": showable(self.fault)}
        unlike = [(key, one) for key, one in self.fields.items() if one.score < 1]
        shown = [
            {
                "argument": str(key),
                "score": one.score,
                "actual": showable(one.actual),
                "expected": showable(one.expected),
            }
            for key, one in unlike[:MAX_SHOWN]
        ]
        return {**facts, "arguments": shown}

    def sentence(self) -> str:
        if self.fault:
            return f"{shorten(self.name)}: {self.fault}"
        key = min(self.fields, key=lambda name: self.fields[name].score)
        one = self.fields[key]
        actual, expected = (shorten(v, limit=40) for v in (one.actual, one.expected))
        return f"{shorten(self.name)}: argument {shorten(key)} is {actual}, not {expected}"


def _best_pairs(scores: list[list[float]]) -> list[tuple[int, int]]:
    """Pair rows with columns so that the sum is greatest; one column needs no optimiser."""
    if not scores or not scores[0]:
        return []
    if len(scores) == len(scores[0]) == 1:
        return [(0, 0)]
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(scores, maximize=True)
    return [(int(row), int(column)) for row, column in zip(rows, columns, strict=True)]
