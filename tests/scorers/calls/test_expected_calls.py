"""What examples expect of tool calls; numbers that EvalShift 1.6.1 was seen to give are marked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltoolkit.errors import ScorerError
from evaltoolkit.models import Example, Output, Score
from evaltoolkit.scorers import Levenshtein, ToolArguments, ToolCallCount, ToolSelection
from evaltoolkit.scorers.calls.likeness import ArgumentLikeness


def rounds(*names: str) -> Output:
    """One round for each text, one call for each letter."""
    return Output(rounds=[[{"name": name} for name in one] for one in names])


def selected(
    output: Output, mode: Any = "expected", greedy: bool = False, **expected: Any
) -> Score:
    return ToolSelection(mode, greedy=greedy).score(output, Example(id=1, **expected))


# Seen in EvalShift 1.6.1 with its greedy scan: columns are greedy, ours, and in any order.
@pytest.mark.parametrize(
    ("expected", "actual", "scores"),
    [
        ("ab", "ab", (1, 1, 1)),
        ("ab", "a", (1 / 2, 1 / 2, 1 / 2)),
        ("ab", "b", (0, 1 / 2, 1 / 2)),
        ("abc", "bc", (0, 2 / 3, 2 / 3)),
        ("aba", "ba", (1 / 3, 2 / 3, 2 / 3)),
        ("ab", "ba", (1 / 2, 1 / 2, 1)),
        ("ab", "xaxbx", (1, 1, 1)),
        ("ab", "", (0, 0, 0)),
        ("aa", "a", (1 / 2, 1 / 2, 1 / 2)),
        ("a", "aa", (1, 1, 1)),
    ],
)
def test_the_share_of_expected_tools(expected: str, actual: str, scores: Any) -> None:
    wanted = list(expected)
    found = [
        selected(rounds(actual), greedy=True, expected_tools=wanted),
        selected(rounds(actual), expected_tools=wanted),
        selected(rounds(actual), "expected_set", expected_tools=wanted),
    ]
    assert tuple(one.score for one in found) == scores


def test_expecting_no_tool() -> None:
    assert selected(rounds(""), expected_no_tools=True).score == 1
    found = selected(rounds("ab"), expected_no_tools=True)
    assert (found.score, found.message) == (0, "2 tool call(s), none expected")
    found = selected(rounds("a"), expected_no_tools=True, expected_tools=["a"])
    assert found.status == "unscored"
    assert selected(rounds("a"), expected_no_tools=False, expected_tools=["a"]).score == 1


@pytest.mark.parametrize(
    "nothing", [{}, {"expected_tools": []}, {"expected_tool_rounds": [[], []]}]
)
def test_an_example_that_expects_nothing_is_not_scored(nothing: Any) -> None:
    found = selected(rounds("a"), **nothing)
    assert (found.status, found.message) == ("unscored", "the example expects no particular tool")


@pytest.mark.parametrize(
    ("expected", "actual", "score"),
    [
        ([["a"], ["b"]], ("a", "b"), 1),
        ([["a"], ["b"]], ("b", "a"), 0),
        ([["a"], ["b"]], ("a",), 1 / 2),
        ([["a"], [], ["b"]], ("a", "", "b"), 1),
        ([["a"], [], ["b"]], ("a", "x", "b"), 2 / 3),
        ([["a"]], ("a", "b"), 1 / 2),
        ([["a"]], ("a", "", ""), 1),
        ([["a", "b"], None], ("b", ""), 1 / 2),
    ],
)
def test_round_by_round(expected: Any, actual: Any, score: float) -> None:
    assert selected(rounds(*actual), expected_tool_rounds=expected).score == score


def test_expected_tools_are_the_only_round() -> None:
    assert selected(rounds("a", "b"), expected_tools=["a", "b"]).score == 1 / 4
    talk = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "tool_calls": [{"name": "a"}, {"name": "b"}]},
        {"role": "tool", "content": "ok"},
        {"role": "assistant", "content": "done"},
    ]
    assert selected(Output(messages=talk), expected_tools=["a", "b"]).score == 1


@pytest.mark.parametrize(
    ("actual", "message"),
    [
        (("b", ""), "not called: 'a', 'c'"),
        (("ab", "c", "x"), "round 2 has 1 tool call(s), none expected"),
        (("ba", "c"), "called in another order than expected"),
    ],
)
def test_selection_explains_itself(actual: Any, message: str) -> None:
    found = selected(rounds(*actual), expected_tool_rounds=[["a", "b"], ["c"]])
    assert found.message == message
    assert found.details["rounds"][0]["expected_names"] == ["a", "b"]  # type: ignore[index,call-overload]


def test_a_tool_that_was_chosen_counts_though_its_arguments_cannot_be_read() -> None:
    output = Output(rounds=[[{"name": "a", "args": "{"}]])
    found = selected(output, expected_tools=["a"])
    assert found.score == 1
    assert found.details["malformed"][0]["name"] == "a"  # type: ignore[index,call-overload]


def test_calls_are_expected_by_name_or_in_any_shape() -> None:
    for entry in ("a", {"tool_name": "a"}, {"name": "a"}, {"function": {"name": "a"}}):
        assert selected(rounds("a"), expected_tools=[entry]).score == 1


@pytest.mark.parametrize(
    ("expected", "reason"),
    [
        ({"expected_tools": "a"}, "expected_tools is a str, not a list"),
        ({"expected_tools": [3]}, "call 0 of expected_tools cannot be read"),
        ({"expected_tools": [{"name": "a", "args": "{"}]}, "cannot be read"),
        ({"expected_tool_rounds": ["a"]}, "expected_tool_rounds[0] is a str, not a list"),
        (
            {"expected_tools": [{"name": "a", "match_strategy": "subst"}]},
            "match_strategy of expected_tools[0] is 'subst'; did you mean 'subset'",
        ),
    ],
)
def test_expectations_that_cannot_be_read_are_not_scored(expected: Any, reason: str) -> None:
    for scorer in (ToolSelection(), ToolArguments()):
        found = scorer.score(rounds("a"), Example(id=1, **expected))
        assert found.status == "unscored"
        assert reason in (found.message or "")


@pytest.mark.parametrize("scorer", [ToolSelection(), ToolArguments(), ToolCallCount()], ids=repr)
def test_without_messages_and_rounds_nothing_is_scored(scorer: Any) -> None:
    wanted = [{"name": "a", "args": {"x": 1}}]
    example = Example(id=1, expected_tools=wanted, expected_tool_count=1)
    for output in (Output(), Output(messages="x"), Output(rounds=3)):
        assert scorer.score(output, example).status == "unscored"


def test_default_criteria_are_the_published_names() -> None:
    made = [ToolSelection(), ToolArguments(), ToolCallCount()]
    assert [one.name for one in made] == ["ToolSelection", "ToolArguments", "ToolCallCount"]
    assert [one.criterion.name for one in made] == [
        "tool_selection.conformance",
        "tool_arguments",
        "tool_trace_structure.expected_count",
    ]
    assert ToolSelection(criterion="tools").criterion.name == "tools"


@pytest.mark.parametrize(
    ("count", "actual", "score"), [(0, (), 1), (0, ("a",), 0), (2, ("a", "b"), 1), (3, ("ab",), 0)]
)
def test_the_number_of_calls(count: int, actual: Any, score: int) -> None:
    found = ToolCallCount().score(rounds(*actual), Example(id=1, expected_tool_count=count))
    assert found.score == score
    assert found.details["expected_count"] == count  # type: ignore[index,call-overload]


def test_no_expected_number_is_not_zero() -> None:
    assert ToolCallCount().score(rounds("a"), Example(id=1)).status == "unscored"


@pytest.mark.parametrize("wrong", ["set", None])
def test_unknown_modes_are_refused(wrong: Any) -> None:
    with pytest.raises(ScorerError, match="mode is"):
        ToolSelection(wrong)


# Arguments


def likeness(actual: Any, expected: Any, name: str = "x", schema: Any = None, **more: Any) -> float:
    return ArgumentLikeness(**more).compare(name, actual, expected, schema=schema)


# Seen in EvalShift 1.6.1.
@pytest.mark.parametrize(
    ("actual", "expected", "score"),
    [
        (102, 100, 0.608),
        (105, 100, 0.048),
        (42, 41, 0.524),
        (0, 0, 1),
        (0.0, 0, 1),
        (-5, 5, 0),
        ("A", "a", 1),
        ("  a  b", "a b", 1),
        ([1, 2], [1], 1),
        ([1], [1, 2], 0),
        (None, None, 1),
    ],
)
def test_published_likenesses(actual: Any, expected: Any, score: float) -> None:
    assert likeness(actual, expected) == pytest.approx(score, abs=5e-4)


@pytest.mark.parametrize(
    ("actual", "expected", "options", "score"),
    [
        ("kitten", "kitchen", {}, 2 * 5 / 13),
        (None, 1, {}, 0),
        (0, None, {}, 0),
        (True, 1, {}, 1),
        (True, False, {}, 0),
        ({"a": 1, "b": 2}, {"a": 1}, {}, 1),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [2]}}, {}, 1),
        ({"a": 1}, {"a": 1, "b": 2}, {}, 0),
        ("1", 1, {}, 0),
        ("102", 100, {"default": "numeric"}, 0.608),
        ("x", 100, {"default": "numeric"}, 0),
        (float("nan"), 1.0, {}, 0),
        (110, 100, {"numeric_tolerance": 0.2}, 0.545),
        (41, 42, {"name": "user_id"}, 0),
        ("A1", "a1", {"name": "ids"}, 0),
        ("kid", "kit", {"name": "paid"}, 2 / 3),
        ("A", "a", {"schema": {"enum": ["a", "A"]}}, 0),
        ("2026-01-01", "2026-01-02", {"schema": {"format": "date"}}, 0),
        (41, 42, {"schema": {"type": "boolean"}}, 0),
        ([1, 2], [1], {"default": "exact"}, 0),
        ("abc", "axc", {"strategies": {"x": Levenshtein()}}, 2 / 3),
        ("abc", "axc", {"strategies": {"x": lambda one, other: 0.25}}, 0.25),
    ],
)
def test_likenesses(actual: Any, expected: Any, options: Any, score: float) -> None:
    assert likeness(actual, expected, **options) == pytest.approx(score, abs=5e-4)


@pytest.mark.parametrize(
    "options",
    [
        {"default": "close"},
        {"strategies": {"x": "close"}},
        {"numeric_tolerance": 0},
        {"numeric_tolerance": "5 %"},
        {"numeric_tolerance": float("nan")},
    ],
)
def test_unknown_strategies_are_refused(options: Any) -> None:
    with pytest.raises(ScorerError):
        ArgumentLikeness(**options)


def argued(made: Any, wanted: Any, **more: Any) -> Score:
    example = Example(id=1, expected_tools=wanted, **more)
    return ToolArguments().score(Output(rounds=[made]), example)


def pay(**args: Any) -> dict[str, Any]:
    return {"tool_name": "pay", "arguments": args}


@pytest.mark.parametrize(
    ("made", "wanted", "score"),
    [
        ([pay(a=1, b="x")], [pay(a=1, b="x")], 1),
        ([pay(a=1)], [pay(a=1, b="x")], 1 / 2),
        ([pay(a=1, z=3)], [pay(a=1)], 1),
        ([pay(a=1, z=3)], [{**pay(a=1), "match_strategy": "exact"}], 1 / 2),
        ([pay(a=1, _note="n")], [{**pay(a=1, _seed=3), "match_strategy": "exact"}], 1),
        ([pay(a=1)], [pay(a=1, b=None)], 1),
        ([], [pay(a=1)], 0),
        ([{"name": "x"}], [pay(a=1)], 0),
        ([pay(a=1)], [pay(a=1), pay(a=1)], 1 / 2),
        ([pay(a="b"), pay(a="a")], [pay(a="a"), pay(a="b")], 1),
        ([{"name": "pay", "args": "{"}], [pay(a=1)], 0),
        ([pay(a=1)], [{"tool_name": "pay"}, pay(a=1)], 1),
        ([pay(a=1)], [pay(), pay(a=1)], 1 / 2),
        ([pay(a=1)], ["other", pay(a=1)], 1),
    ],
)
def test_arguments_against_what_is_expected(made: Any, wanted: Any, score: float) -> None:
    assert argued(made, wanted).score == score


def test_arguments_know_the_schema_of_their_tool() -> None:
    schema = {"type": "object", "properties": {"code": {"type": "string", "enum": ["ab", "AB"]}}}
    tools = [{"type": "function", "function": {"name": "pay", "parameters": schema}}]
    assert argued([pay(code="AB")], [pay(code="ab")]).score == 1
    assert argued([pay(code="AB")], [pay(code="ab")], tools=tools).score == 0


def test_arguments_round_by_round() -> None:
    example = Example(id=1, expected_tool_rounds=[[pay(a=1)], [], [pay(a=2), pay(a=3)]])
    output = Output(rounds=[[pay(a=1)], [pay(a=9)], [pay(a=3)]])
    assert ToolArguments().score(output, example).score == pytest.approx((1 + 0.5) / 2)
    assert ToolArguments().score(Output(rounds=[]), example).score == 0


def test_arguments_explain_themselves() -> None:
    found = argued([pay(a=1, b="x")], [pay(a=2, b="x")])
    assert found.message == "'pay': argument 'a' is 1, not 2"
    assert found.details == {
        "calls": [
            {
                "round": 0,
                "name": "pay",
                "score": 0.5,
                "arguments": [{"argument": "a", "score": 0.0, "actual": 1, "expected": 2}],
            }
        ]
    }
    assert argued([], [pay(a=1)]).message == "'pay': not called"
    found = argued([{"name": "pay", "args": "{"}], [pay(a=1)])
    assert "'pay': its arguments are not JSON" in (found.message or "")


def test_an_object_says_of_its_arguments_what_a_dict_says() -> None:
    found = argued([pay(a=1)], [SimpleNamespace(name="pay", arguments=None)])
    assert found.status == "unscored"
    assert argued([pay(a=1)], [SimpleNamespace(name="pay", arguments={"a": 1})]).score == 1


def test_missing_cells_of_a_table_are_missing_expectations() -> None:
    example = Example(id=1, expected_no_tools=pd.NA, expected_tool_count=float("nan"))
    assert (example.expected_no_tools, example.expected_tool_count) == (None, None)
    output = Output(refusal=float("nan"), parse_errors=None)
    assert (output.refusal, output.parse_errors) == (None, ())
    assert Output(parse_errors="cut off").parse_errors == ("cut off",)


def test_no_expected_arguments_are_not_scored() -> None:
    for wanted in (["pay"], [{"tool_name": "pay", "arguments": None}], []):
        found = argued([pay(a=1)], wanted)
        assert found.status == "unscored"
        assert found.message == "the example expects no particular arguments of a tool call"


def test_odd_values_get_a_status() -> None:
    circular: dict[str, Any] = {}
    circular["self"] = circular
    again: dict[str, Any] = {}
    again["self"] = again
    assert argued([pay(a=circular)], [pay(a=again)]).status == "unscored"
    found = argued([pay(a="x" * 100_000)], [pay(a="y" * 100_000)])
    assert "name a strategy" in (found.message or "")
    assert argued([pay(a=10**400)], [pay(a=1)]).score == 0
    assert argued([pay(a={1, 2})], [pay(a={1, 2})]).score == 1


values = st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=3)
arguments = st.dictionaries(st.sampled_from("pqr"), values, max_size=3)
laws = settings(max_examples=150, deadline=None, derandomize=True)


@laws
@given(st.lists(arguments, max_size=3), st.lists(arguments, min_size=1, max_size=3), st.randoms())
def test_arguments_lie_between_0_and_1_and_order_does_not_matter(
    made: Any, wanted: Any, draw: Any
) -> None:
    calls, expected = [pay(**a) for a in made], [pay(**a) for a in wanted]
    score = argued(calls, expected).score
    assert score is not None
    assert 0 <= score <= 1
    shuffled = draw.sample(calls, len(calls)), draw.sample(expected, len(expected))
    assert argued(*shuffled).score == pytest.approx(score)
    assert argued(expected, expected).score == 1


@laws
@given(st.text("abc", max_size=5), st.text("abc", min_size=1, max_size=5))
def test_the_greedy_scan_never_finds_more(actual: str, expected: str) -> None:
    wanted = list(expected)
    greedy = selected(rounds(actual), greedy=True, expected_tools=wanted).score
    best = selected(rounds(actual), expected_tools=wanted).score
    anyhow = selected(rounds(actual), "expected_set", expected_tools=wanted).score
    assert greedy is not None
    assert best is not None
    assert anyhow is not None
    assert greedy <= best <= anyhow
