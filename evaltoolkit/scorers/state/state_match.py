"""`StateMatch`: whether the world is in the state that was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Unpack

from evaltoolkit.errors import ScorerError, nearest
from evaltoolkit.models import Example, Output
from evaltoolkit.scorers.base import BaseScorer, Naming, Unmeasurable, Verdict, shorten
from evaltoolkit.scorers.calls.call_arguments import showable
from evaltoolkit.scorers.state.equality import Equality
from evaltoolkit.scorers.state.interpretive import InterpretiveState
from evaltoolkit.scorers.state.paths import Missing, follow_path, leaf_paths

Nested = Literal["whole", "leaves"]
WhenEmpty = Literal["unscored", "passed"]

_MAX_SHOWN = 100
_MAX_NAMED = 5
_MAX_NAME = 80


class StateMatch(BaseScorer):
    r"""The share of expected paths at which the final state holds the expected value.

    Expected is a mapping from dotted paths to values: the ``reference_state`` of the example,
    else the `expected_state` given here. Whatever else the state holds does not matter. The
    rules and values are those of the published StateMatch (agent_evals 1.0.0), with these
    differences: a path also leads through lists (``lamps.0.on``); ``\.`` is a dot within a key;
    a missing expectation or a state that is no object leaves the example unscored and is no 0;
    so does an expectation without a path, which there passes.

    Args:
        expected_state: Expected values by path for examples that bring none of their own. A value
            may be a `OneOf` (any of several) or `Near` (a number with its own tolerance).
        nested: What an expected object is: ``"whole"``, one value, which must be equal whole;
            ``"leaves"``, a path for each of its innermost values, so that a nested state can be
            given as it is and further keys of the world do not matter.
        typed: Whether True is not 1; see `Equality`.
        abs_tol: Difference that numbers may have, as a number.
        rel_tol: Difference that numbers may have, as a share of the expected one.
        when_empty: ``"passed"`` scores an expectation without a path 1, as published.
        **naming: See `Naming`; the threshold is 1.

    Raises:
        ScorerError: The expectation is no mapping from texts, or an option is out of range.

    Example:
        >>> item = Example(id=1, reference_state={"light.on": True, "light.level": 3})
        >>> got = StateMatch().score(Output(final_state={"light": {"on": True}}), item)
        >>> got.score, got.details["failures"]["light.level"]["reason"]
        (0.5, 'path missing')
        >>> world = {"lamps": [{"level": 0.49, "colour": "red"}]}
        >>> near = StateMatch({"lamps": [{"level": 0.5, "colour": "red"}]}, abs_tol=0.05)
        >>> near.score(Output(final_state=world), Example(id=1)).passed
        True
    """

    def __init__(
        self,
        expected_state: Mapping[str, Any] | None = None,
        *,
        nested: Nested = "whole",
        typed: bool = False,
        abs_tol: float = 0.0,
        rel_tol: float = 0.0,
        when_empty: WhenEmpty = "unscored",
        **naming: Unpack[Naming],
    ) -> None:
        super().__init__(**naming)
        _check_option("nested", nested, ("whole", "leaves"))
        _check_option("when_empty", when_empty, ("unscored", "passed"))
        if expected_state is not None and (fault := _fault(expected_state)):
            raise ScorerError(
                f"expected_state {fault}; give a mapping from dotted paths to values",
                code="bad_option",
                path="expected_state",
                value=expected_state,
            )
        self._expected = expected_state
        self._nested = nested
        self._when_empty = when_empty
        self._equality = Equality(typed=typed, abs_tol=abs_tol, rel_tol=rel_tol)

    def measure(self, output: Output, example: Example, /) -> Verdict:
        """Check path by path."""
        expected = self._paths(example)
        state = output.final_state
        if not isinstance(state, Mapping):
            kind = "missing" if state is None else f"a {type(state).__name__}"
            raise Unmeasurable(f"the final state is {kind}, not an object")
        if isinstance(state, InterpretiveState):
            raise Unmeasurable("the final state is an interpreted one; use StateComparison")
        failures = {
            path: failure
            for path, value in sorted(expected.items())
            if (failure := self._check(state, path, value)) is not None
        }
        return _verdict(failures, checked=len(expected))

    def _paths(self, example: Example) -> Mapping[str, Any]:
        expected = example.reference_state
        if expected is None:
            expected = self._expected
        if expected is None:
            raise Unmeasurable("there is no expected state, neither here nor in the example")
        if fault := _fault(expected):
            raise Unmeasurable(f"the reference state {fault}; it maps dotted paths to values")
        if not expected and self._when_empty == "unscored":
            raise Unmeasurable("the expected state is empty, so there is nothing to check")
        return leaf_paths(expected) if self._nested == "leaves" else expected

    def _check(
        self, state: Mapping[str, Any], path: str, expected: object
    ) -> dict[str, Any] | None:
        found = follow_path(state, path)
        if isinstance(found, Missing):
            where = f"in {found.reached!r} " if found.reached else ""
            return {
                "expected": showable(expected),
                "actual": None,
                "reason": "path missing",
                "explanation": f"{where}{found.why}",
            }
        try:
            difference = self._equality.difference(found, expected)
        except Unmeasurable as reason:
            raise Unmeasurable(f"at the path {path!r}: {reason}") from reason
        if difference is None:
            return None
        return {
            "expected": showable(expected),
            "actual": showable(found),
            "reason": difference,
        }


def _verdict(failures: dict[str, dict[str, Any]], *, checked: int) -> Verdict:
    shown = dict(list(failures.items())[:_MAX_SHOWN])
    details: dict[str, Any] = {"failures": shown, "paths_checked": checked}
    if len(failures) > len(shown):
        details["failures_in_all"] = len(failures)
    if not failures:
        message = f"all {checked} path(s) as expected" if checked else "no path to check"
        return Verdict(1.0, message, details)
    rest = len(failures) - _MAX_NAMED
    named = [path if len(path) <= _MAX_NAME else shorten(path) for path in failures][:_MAX_NAMED]
    names = ", ".join(named) + (f" and {rest} more" if rest > 0 else "")
    message = f"{len(failures)} of {checked} path(s) not as expected: {names}"
    return Verdict((checked - len(failures)) / checked, message, details)


def _fault(expected: object) -> str | None:
    if not isinstance(expected, Mapping):
        return f"is a {type(expected).__name__}"
    wrong = [path for path in expected if not isinstance(path, str)]
    return f"has the path {wrong[0]!r}, which is no text" if wrong else None


def _check_option(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        msg = f"{name} is {value!r}; {nearest(value, allowed)}"
        raise ScorerError(msg, code="bad_option", path=name, value=value)
