"""`StateMatch`: the published values of agent_evals, and where this library departs from them."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evaltoolkit as et
from evaltoolkit.errors import ScorerError
from evaltoolkit.models import Example, Output, Score
from evaltoolkit.scorers import InterpretiveState, Near, OneOf, StateMatch, run_scorer


def score(state: Any, expected: Any = None, scorer: StateMatch | None = None) -> Score:
    scorer = scorer or StateMatch()
    return scorer.score(Output(final_state=state), Example(id="1", reference_state=expected))


WORLD = {"lights": {"kitchen": "on", "hall": "off"}, "door": {"locked": True, "code": None}}


@pytest.mark.parametrize(
    ("expected", "value", "failing"),
    [
        ({"lights.kitchen": "on", "door.locked": True}, 1.0, []),
        ({"lights.kitchen": "on", "lights.hall": "on"}, 0.5, ["lights.hall"]),
        (
            {"lights.kitchen": "on", "lights.hall": "off", "door.locked": False},
            2 / 3,
            ["door.locked"],
        ),
        ({"lights.kitchen": "off", "lights.hall": "on"}, 0.0, ["lights.hall", "lights.kitchen"]),
        ({"door.code": None}, 1.0, []),  # there and None
        ({"door.colour": None}, 0.0, ["door.colour"]),  # absent is not None
        ({"door.locked": 1}, 1.0, []),
        ({"door.locked": "True"}, 0.0, ["door.locked"]),
        ({"lights": {"hall": "off", "kitchen": "on"}}, 1.0, []),  # an object is compared whole
        ({"lights": {"hall": "off"}}, 0.0, ["lights"]),
    ],
)
def test_published_values(expected: Any, value: float, failing: list[str]) -> None:
    got = score(WORLD, expected)
    assert got.score == value
    assert got.passed is (value == 1.0)
    details = got.details
    assert isinstance(details, dict)
    assert details["paths_checked"] == len(expected)
    assert list(details["failures"]) == failing  # type: ignore[arg-type]


def test_a_failure_says_what_and_why() -> None:
    got = score(WORLD, {"door.colour": "red", "lights.hall": "on"})
    assert got.message == "2 of 2 path(s) not as expected: door.colour, lights.hall"
    assert got.details == {
        "failures": {
            "door.colour": {
                "expected": "red",
                "actual": None,
                "reason": "path missing",
                "explanation": "in 'door' there is no key 'colour'",
            },
            "lights.hall": {"expected": "on", "actual": "off", "reason": "'off' is not 'on'"},
        },
        "paths_checked": 2,
    }


def test_the_example_overrides_the_factory() -> None:
    scorer = StateMatch({"lights.kitchen": "off"})
    assert score(WORLD, None, scorer).score == 0.0
    assert score(WORLD, {"lights.kitchen": "on"}, scorer).score == 1.0
    # an empty expectation of an example overrides, too
    assert score(WORLD, {}, scorer).status == "unscored"


@pytest.mark.parametrize(
    ("state", "expected", "reason"),
    [
        (WORLD, None, "there is no expected state, neither here nor in the example"),
        (None, None, "there is no expected state, neither here nor in the example"),
        (None, {"a": 1}, "the final state is missing, not an object"),
        ("on", {"a": 1}, "the final state is a str, not an object"),
        ([1], {"0": 1}, "the final state is a list, not an object"),
        (WORLD, {}, "the expected state is empty, so there is nothing to check"),
        (WORLD, [1], "the reference state is a list; it maps dotted paths to values"),
        (
            WORLD,
            {3: 1},
            "the reference state has the path 3, which is no text; it maps dotted paths to values",
        ),
    ],
)
def test_what_the_original_scores_0_or_1_is_unscored(
    state: Any, expected: Any, reason: str
) -> None:
    got = score(state, expected)
    assert (got.status, got.score, got.passed, got.message) == ("unscored", None, None, reason)


def test_an_empty_expectation_passes_on_request_as_published() -> None:
    got = score(WORLD, {}, StateMatch(when_empty="passed"))
    assert (got.score, got.passed) == (1.0, True)
    assert got.details == {"failures": {}, "paths_checked": 0}


def test_lists_and_keys_with_dots() -> None:
    state = {"lamps": [{"on": True}, {"on": False}], "v1.2": {"ok": 1}}
    assert score(state, {"lamps.1.on": False, r"v1\.2.ok": 1}).score == 1.0
    got = score(state, {"lamps.2.on": True, "v1.2.ok": 1})
    assert got.score == 0.0
    assert got.details["failures"]["lamps.2.on"]["reason"] == "path missing"  # type: ignore[index,call-overload]


def test_types_tolerances_and_alternatives() -> None:
    state = {"on": True, "level": 0.49, "who": "Dr Lovelace"}
    assert score(state, {"on": 1}, StateMatch(typed=True)).score == 0.0
    assert score(state, {"level": 0.5}, StateMatch(abs_tol=0.01)).score == 1.0
    assert score(state, {"level": 0.5}, StateMatch(rel_tol=0.01)).score == 0.0
    expected = {"who": OneOf("Ada Lovelace", "Dr Lovelace"), "level": Near(0.5, abs_tol=0.02)}
    assert score(state, expected).score == 1.0
    assert score({**state, "who": "Ada"}, expected).score == 0.5


def test_leaves_of_a_nested_expectation() -> None:
    nested = {"lights": {"hall": "off"}, "door": {"locked": False}}
    assert score(WORLD, nested).score == 0.0
    got = score(WORLD, nested, StateMatch(nested="leaves"))
    assert got.score == 0.5
    assert got.details["paths_checked"] == 2  # type: ignore[index,call-overload]


def test_any_mapping_is_a_state() -> None:
    assert score(MappingProxyType({"a": MappingProxyType({"b": 1})}), {"a.b": 1}).score == 1.0


def test_bad_states_never_stop_a_run() -> None:
    circular: dict[str, Any] = {}
    circular["a"] = circular
    assert score(circular, {"a.a.a.b": 1}).score == 0.0
    other: dict[str, Any] = {}
    other["a"] = other
    got = score(circular, {"a": other})
    assert got.status == "unscored"
    assert got.message is not None
    assert "more than 100 levels deep" in got.message
    assert score({"a": {1, 2}}, {"a": 3}).score == 0.0
    huge = score({"a": "x" * 10**7}, {"a": "y" * 10**7})
    assert len(str(huge.details)) < 2_000
    broken = run_scorer(StateMatch({"a": 1}), Output(error="boom"), Example(id="1"))
    assert broken[0].status == "system_error"


def test_only_so_many_failures_are_shown() -> None:
    expected = {f"key{n:04}": n for n in range(1, 501)}
    got = score({"key0001": 1}, expected)
    assert got.score == 1 / 500
    assert len(got.details["failures"]) == 100  # type: ignore[index,call-overload,arg-type]
    assert got.details["failures_in_all"] == 499  # type: ignore[index,call-overload]
    assert got.message is not None
    assert got.message.endswith("and 494 more")


@pytest.mark.parametrize(
    "options",
    [
        {"nested": "deep"},
        {"when_empty": "failed"},
        {"abs_tol": -1},
        {"rel_tol": "x"},
        {"expected_state": [1]},
        {"expected_state": {1: 1}},
    ],
)
def test_wrong_options_are_refused_at_once(options: dict[str, Any]) -> None:
    with pytest.raises(ScorerError):
        StateMatch(**options)


states = st.dictionaries(
    st.text("ab.", min_size=1, max_size=2),
    st.recursive(
        st.none() | st.booleans() | st.integers(0, 2),
        lambda inner: st.dictionaries(st.text("ab.", min_size=1, max_size=2), inner, max_size=3),
        max_leaves=5,
    ),
    min_size=1,
    max_size=4,
)


def published(paths: dict[str, Any], state: dict[str, Any]) -> float:
    """The published rule in its own few lines: dicts only, no escapes."""
    hits = 0
    for path, expected in paths.items():
        found: Any = state
        for key in path.split("."):
            found = found.get(key, ...) if isinstance(found, dict) else ...
        hits += found is not ... and found == expected
    return hits / len(paths)


@given(states, states)
@settings(max_examples=300, deadline=None)
def test_the_published_rule_on_any_state(expected: dict[str, Any], state: dict[str, Any]) -> None:
    assert score(state, expected).score == published(expected, state)


@given(states)
@settings(max_examples=100, deadline=None)
def test_a_state_has_its_own_leaves(state: dict[str, Any]) -> None:
    assert score(state, state, StateMatch(nested="leaves", typed=True)).score == 1.0


def test_an_interpreted_state_is_for_another_scorer() -> None:
    interpreted = InterpretiveState({"a": {"values": [{"value": "x"}]}})
    got = StateMatch({"a": "x"}).score(Output(final_state=interpreted), Example(id="1"))
    assert (got.status, got.score) == ("unscored", None)
    assert "use StateComparison" in str(got.message)


def test_the_light_switch() -> None:
    """The published example of agent_evals: the agent turns the light on, and passes with 1.0."""

    def agent(prompt: str) -> Output:
        power = "on" if "on" in prompt.split() else "off"
        return Output(text="Done.", final_state={"light": {"power": power, "brightness": 80}})

    examples = [
        Example(id="on", input="Turn on the light", reference_state={"light.power": "on"}),
        Example(id="off", input="Turn it off", reference_state={"light.power": "off"}),
    ]
    result = et.evaluate(examples, {"agent": agent}, [StateMatch()], progress=False)
    assert result.scores["score"].tolist() == [1.0, 1.0]
    assert result.scores["passed"].tolist() == [True, True]
    factory = et.evaluate(
        examples, {"agent": agent}, [StateMatch({"light.power": "on"})], progress=False
    )
    assert factory.scores["score"].tolist() == [1.0, 1.0]  # the example goes before the factory
