"""The five tool-call matches: the published outcome table, their explanations, their laws."""

from __future__ import annotations

import json
import random
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltoolkit.errors import ScorerError
from evaltoolkit.evaluation import score_outputs
from evaltoolkit.models import Example, Output, Score
from evaltoolkit.scorers import (
    Near,
    OneOf,
    ToolCallAnyMatch,
    ToolCallExactMatch,
    ToolCallOverlap,
    ToolCallSubsetMatch,
    ToolCallSupersetMatch,
    ToolCallUnorderedMatch,
    run_scorer,
)
from evaltoolkit.scorers.calls.pairing import MAX_CALLS
from evaltoolkit.scorers.calls.tool_calls import ToolCallMatch

FIVE: tuple[type[ToolCallMatch], ...] = (
    ToolCallExactMatch,
    ToolCallSupersetMatch,
    ToolCallSubsetMatch,
    ToolCallUnorderedMatch,
    ToolCallAnyMatch,
)
every_match = pytest.mark.parametrize("match", FIVE, ids=lambda match: match.__name__)

A = {"name": "f", "args": {"x": 1}}
B = {"name": "g", "args": {"y": 2}}
C = {"name": "h", "args": {}}
F_P = {"name": "f", "args": {"p": 1}}
F_PQ = {"name": "f", "args": {"p": 1, "q": 2}}
BROKEN = {"function": {"name": "f", "arguments": '{"x": '}}


def f(**args: Any) -> dict[str, Any]:
    return {"name": "f", "args": args}


def item(reference: Any) -> Example:
    return Example(id=1, reference_tool_calls=reference)


def output(*calls: Any) -> Output:
    return Output(messages=[{"role": "assistant", "content": "", "tool_calls": list(calls)}])


def scored(scorer: Any, actual: Any, reference: Any) -> Score:
    [found] = run_scorer(scorer, output(*actual), item(reference))
    return found


def six(actual: Any, reference: Any, mode: Any = "exact") -> str:
    """Outcomes as in the published table: greedy stands before the best pairing."""
    scorers = [match(mode) for match in FIVE]
    scorers.insert(3, ToolCallUnorderedMatch(mode, greedy=True))
    found = [scored(scorer, actual, reference) for scorer in scorers]
    assert all(one.passed == (one.score == 1) for one in found)
    return "".join(f"{one.score:.0f}" for one in found)


# Restated from the published rules of agent_evals 1.0.0; columns: exact, superset, subset,
# unordered (greedy), unordered (best pairing), any.
@pytest.mark.parametrize(
    ("actual", "reference", "outcome"),
    [
        ([A, B], [A, B], "111111"),
        ([B, A], [A, B], "000111"),
        ([A, B, C], [A, B], "010001"),
        ([A, C, B], [A, B], "010001"),
        ([A], [A, B], "001001"),
        ([A, A], [A], "010001"),
        ([A], [A, A], "001001"),
        ([], [A], "001000"),
        ([A], [], "010000"),
        ([], [], "111110"),
        ([A, A, B], [A, B], "010001"),
    ],
)
def test_the_published_table(actual: Any, reference: Any, outcome: str) -> None:
    assert six(actual, reference) == outcome


@pytest.mark.parametrize(
    ("actual", "reference", "mode", "outcome"),
    [
        ([f(x=9)], [f(x=1)], "exact", "000000"),
        ([f(x=9)], [f(x=1)], "ignore", "111111"),
        ([f(x=1, z=3)], [f(x=1)], "exact", "000000"),
        ([f(x=1, z=3)], [f(x=1)], "subset", "000000"),
        ([f(x=1, z=3)], [f(x=1)], "superset", "111111"),
        ([f()], [f(x=1)], "subset", "111111"),
        ([f()], [f(x=1)], "superset", "000000"),
        ([F_P, F_PQ], [F_PQ, F_P], "subset", "000011"),
        ([F_PQ, F_P], [F_P, F_PQ], "superset", "000011"),
        ([f(x=1.0)], [f(x=1)], "exact", "111111"),
        ([f(x=True)], [f(x=1)], "exact", "111111"),
        ([f(x="1")], [f(x=1)], "exact", "000000"),
        ([f(u={"v": 1})], [f(u={"v": 1, "w": 2})], "subset", "000000"),
        ([f()], [f()], "subset", "111111"),
    ],
)
def test_the_published_argument_modes(actual: Any, reference: Any, mode: Any, outcome: str) -> None:
    assert six(actual, reference, mode) == outcome


@pytest.mark.parametrize("mode", ["exact", "subset", "superset", "ignore"])
@pytest.mark.parametrize("reference", [f(), f(x=1)], ids=["f()", "f(x=1)"])
def test_malformed_arguments_match_nothing_whatever_the_mode(mode: Any, reference: Any) -> None:
    # There they are read as {}, so that exact passes against f() and subset against anything.
    assert six([BROKEN], [reference], mode) == "000000"
    found = scored(ToolCallExactMatch(mode), [BROKEN], [reference])
    assert found.label == "malformed call"
    assert "call 0 'f' cannot be read: its arguments are not JSON" in (found.message or "")
    [told] = found.details["malformed"]  # type: ignore[index,call-overload]
    assert told["index"] == 0
    assert told["name"] == "f"


def test_malformed_calls_beside_a_match_are_told() -> None:
    found = scored(ToolCallSupersetMatch(), [A, BROKEN], [A])
    assert (found.score, found.label) == (1.0, "match")
    assert "call 1 'f' cannot be read" in (found.message or "")


def test_unknown_shapes_do_not_match_each_other() -> None:
    # There both are a call without name and arguments, so they are equal.
    odd = {"tool": "f", "x": 1}
    assert scored(ToolCallExactMatch(), [odd], [A]).score == 0
    found = scored(ToolCallExactMatch(), [odd], [odd])
    assert found.status == "unscored"


@pytest.mark.parametrize("key", ["args", "arguments", "input"])
def test_arguments_as_text_or_under_other_keys_are_read(key: str) -> None:
    # There they count as {}.
    assert six([{"name": "f", key: json.dumps({"x": 1})}], [A]) == "111111"
    assert six([{"name": "f", key: {"x": 1}}], [A]) == "111111"


def test_wire_and_flat_shape_are_equal_and_other_messages_do_not_count() -> None:
    talk = [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "tool_calls": [{"function": {"name": "f", "arguments": '{"x": 1}'}}],
        },
        {"role": "tool", "content": "ok", "tool_call_id": "c"},
        {"role": "assistant", "content": "done"},
    ]
    for match in FIVE:
        assert match().score(Output(messages=talk), item([A])).score == 1
        assert match().score(Output(rounds=[[A]]), item(talk)).score == 1


def test_exact_match_names_the_first_mismatch() -> None:
    wanted = [{"name": "take_off"}, {"name": "land"}]
    found = scored(ToolCallExactMatch(), [{"name": "take_off"}, {"name": "crash"}], wanted)
    details = dict(found.details)  # type: ignore[arg-type,call-overload]
    assert details["mismatch_index"] == 1
    assert (details["expected_name"], details["actual_name"]) == ("land", "crash")
    turned = scored(ToolCallExactMatch(), wanted[::-1], wanted)
    assert turned.details["mismatch_index"] == 0  # type: ignore[index,call-overload]
    found = scored(ToolCallExactMatch(), [f(x=9)], [f(x=1)])
    assert found.details == {
        "tool_args_match_mode": "exact",
        "actual_count": 1,
        "reference_count": 1,
        "unmatched_reference": [{"index": 0, "name": "f", "args": {"x": 1}}],
        "extra_actual": [{"index": 0, "name": "f", "args": {"x": 9}}],
        "differing": [
            {
                "name": "f",
                "reference_index": 0,
                "actual_index": 0,
                "arguments": [
                    {"argument": "x", "problem": "different", "actual": 9, "reference": 1}
                ],
            }
        ],
        "mismatch_index": 0,
        "tool_name": "f",
        "expected_args": {"x": 1},
        "actual_args": {"x": 9},
    }


@pytest.mark.parametrize(
    ("match", "actual", "reference", "message"),
    [
        (ToolCallExactMatch, [A], [A, B], "'g', call 1 of the reference, was not made"),
        (ToolCallExactMatch, [A, C], [A], "'h' at 1 was not wanted"),
        (ToolCallExactMatch, [f(x=9)], [A], "'f' at 0: argument 'x' is 9, not 1"),
        (ToolCallExactMatch, [f()], [A], "'f' at 0: argument 'x' is missing (1)"),
        (ToolCallExactMatch, [f(x=1, z=3)], [A], "'f' at 0: argument 'z' was not wanted (3)"),
        (
            ToolCallExactMatch,
            [B, A],
            [A, B],
            "'f' came at 1, out of the order of the reference, where it is at 0",
        ),
        (ToolCallSupersetMatch, [C], [A], "'f', call 0 of the reference, was not made"),
        (ToolCallSubsetMatch, [C], [A], "'h' at 0 was not wanted"),
        (
            ToolCallUnorderedMatch,
            [C],
            [A],
            "'f', call 0 of the reference, was not made; 'h' at 0 was not wanted",
        ),
        (ToolCallAnyMatch, [], [A], "'f', call 0 of the reference, was not made"),
        (ToolCallAnyMatch, [], [], "0 call(s) against 0 of the reference"),
    ],
)
def test_every_verdict_explains_itself(
    match: Any, actual: Any, reference: Any, message: str
) -> None:
    assert scored(match(), actual, reference).message == message


def test_the_facts_of_a_failure_are_the_published_ones() -> None:
    def facts(scorer: Any, actual: Any, reference: Any) -> dict[str, Any]:
        return dict(scored(scorer, actual, reference).details)  # type: ignore[arg-type,call-overload]

    found = facts(ToolCallSupersetMatch(), [A, C], [A, B])
    assert (found["unmatched_reference_index"], found["unmatched_reference_name"]) == (1, "g")
    found = facts(ToolCallSubsetMatch(), [A, C], [A, B])
    assert (found["unmatched_actual_index"], found["unmatched_actual_name"]) == (1, "h")
    found = facts(ToolCallUnorderedMatch(), [C, A], [A, B])
    assert (found["unmatched_reference_index"], found["unmatched_reference_name"]) == (1, "g")
    assert facts(ToolCallAnyMatch(), [], [A])["failure_mode"] == "silence"
    assert facts(ToolCallAnyMatch(), [C], [A])["failure_mode"] == "no_match"
    assert facts(ToolCallAnyMatch(), [A], [])["failure_mode"] == "no_match"
    assert facts(ToolCallAnyMatch(), [C, A], [B, A])["matched_name"] == "f"
    assert facts(ToolCallExactMatch(), [A], [A, B])["actual_count"] == 1


def test_any_match_ignores_what_is_wrong_beside_it() -> None:
    assert scored(ToolCallAnyMatch(), [C, B, A], [A]).score == 1
    assert scored(ToolCallAnyMatch("subset"), [f()], [A]).score == 1
    assert scored(ToolCallAnyMatch("superset"), [f()], [A]).score == 0
    assert scored(ToolCallAnyMatch("ignore"), [f()], [A]).score == 1
    silent = Output(messages=[{"role": "assistant", "content": "words"}])
    found = ToolCallAnyMatch().score(silent, item([A]))
    assert found.details["failure_mode"] == "silence"  # type: ignore[index,call-overload]


@every_match
def test_what_is_missing_is_not_scored(match: Any) -> None:
    for given_output, example, reason in [
        (Output(text="x"), item([A]), "the output has neither messages nor rounds"),
        (output(A), Example(id=1), "the example has no reference_tool_calls"),
        (Output(messages="x"), item([A]), "messages is a str, not a list"),
        (output(A), item("x"), "reference_tool_calls is a str, not a list"),
        (output(A), item([BROKEN]), "call 0 of reference_tool_calls cannot be read: "),
    ]:
        found = match().score(given_output, example)
        assert found.status == "unscored"
        assert found.score is None
        assert (found.message or "").startswith(reason)


class Stubborn:
    def __eq__(self, other: object) -> bool:
        msg = "no"
        raise RuntimeError(msg)

    __hash__ = None  # type: ignore[assignment]


@every_match
def test_values_that_cannot_be_compared_are_not_scored(match: Any) -> None:
    circular: dict[str, Any] = {}
    circular["self"] = circular
    again: dict[str, Any] = {}
    again["self"] = again
    for one, other in [(circular, again), (Stubborn(), 1)]:
        found = match().score(output(f(x=one)), item([f(x=other)]))
        assert found.status == "unscored"
        assert "the argument 'x' cannot be compared" in (found.message or "")


@every_match
def test_values_that_are_no_json_are_shown_and_huge_ones_cut(match: Any) -> None:
    odd = {
        "set": {1},
        "bytes": b"x",
        "nan": float("nan"),
        "half": "\ud800",
        "long": "x" * 1_000_000,
        "whole": 10**5000,
        "deep": json.loads("[" * 400 + "]" * 400),
        7: "a key that is no text",
    }
    found = match().score(output({"name": "f", "args": odd}), item([{"name": "g", "args": odd}]))
    assert found.score == 0
    assert len(json.dumps(found.details)) < 10_000
    assert len(found.message or "") < 1000


def test_nan_matches_nothing() -> None:
    nan = json.loads("NaN")
    assert six([f(x=nan)], [{"name": "f", "args": '{"x": NaN}'}]) == "000000"


@pytest.mark.parametrize(
    ("overrides", "actual", "outcome"),
    [
        ({"f": "ignore"}, f(x=9), 1),
        ({"f": "superset"}, f(x=1, z=3), 1),
        ({"g": "ignore"}, f(x=9), 0),
        ({"f": ["x"]}, f(x=1, z=3), 1),
        ({"f": ["x"]}, f(x=2), 0),
        ({"f": ["x"]}, f(), 0),
        ({"f": ["z"]}, f(x=1), 0),
        ({"f": ("x",)}, f(x=1), 1),
        ({"f": lambda one, other: one["x"] > other["x"]}, f(x=2), 1),
        ({"f": lambda one, other: one["x"] > other["x"]}, f(x=1), 0),
    ],
)
def test_tools_can_have_their_own_rule(overrides: Any, actual: Any, outcome: int) -> None:
    for match in FIVE:
        scorer = match(tool_args_match_overrides=overrides)
        assert scored(scorer, [actual], [A]).score == outcome


def test_dotted_keys_reach_inside() -> None:
    wanted = [f(q={"text": "a", "page": 1})]
    scorer = ToolCallExactMatch(tool_args_match_overrides={"f": ["q.text"]})
    assert scored(scorer, [f(q={"text": "a", "page": 2})], wanted).score == 1
    found = scored(scorer, [f(q={"text": "b", "page": 1})], wanted)
    assert found.message == "'f' at 0: argument 'q.text' is 'b', not 'a'"
    assert scored(scorer, [f(q="a")], wanted).message == (
        "'f' at 0: argument 'q.text' is missing ('a')"
    )


def test_a_function_that_refuses_is_named() -> None:
    scorer = ToolCallExactMatch(tool_args_match_overrides={"f": lambda *_: False})
    assert scored(scorer, [A], [A]).message == (
        "'f' at 0: the arguments were refused by the function of the user"
    )


@every_match
@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"tool_args_match_mode": "exakt"}, "tool_args_match_mode"),
        ({"tool_args_match_mode": None}, "tool_args_match_mode"),
        ({"tool_args_match_overrides": {"f": "sub"}}, "tool_args_match_overrides['f']"),
        ({"tool_args_match_overrides": {"f": []}}, "tool_args_match_overrides['f']"),
        ({"tool_args_match_overrides": {"f": [1]}}, "tool_args_match_overrides['f']"),
        ({"tool_args_match_overrides": {"f": 3}}, "tool_args_match_overrides['f']"),
    ],
)
def test_wrong_options_are_refused(match: Any, options: Any, path: str) -> None:
    with pytest.raises(ScorerError) as caught:
        match(**options)
    assert caught.value.path == path


def test_too_many_calls_are_not_paired_but_still_compared_in_order() -> None:
    many = [A] * (MAX_CALLS + 1)
    assert scored(ToolCallExactMatch(), many, many).score == 1
    assert scored(ToolCallExactMatch(), [*many[1:], B], many).score == 0
    assert scored(ToolCallSupersetMatch(), many, many[1:]).score == 1
    found = scored(ToolCallUnorderedMatch(), many, many)
    assert (found.status, found.score) == ("unscored", None)
    assert f"at most {MAX_CALLS}" in (found.message or "")


def parts(actual: Any, reference: Any, mode: Any = "exact") -> list[Any]:
    found = run_scorer(ToolCallOverlap(mode), output(*actual), item(reference))
    names = ["precision", "recall", "f1", "lcs"]
    assert [one.criterion for one in found] == [f"ToolCallOverlap.{name}" for name in names]
    return [one.score for one in found]


@pytest.mark.parametrize(
    ("actual", "reference", "expected"),
    [
        ([A, B], [A, B], [1, 1, 1, 1]),
        ([B, A], [A, B], [1, 1, 1, 1 / 2]),
        ([A, B, C], [A, B], [2 / 3, 1, 4 / 5, 2 / 3]),
        ([A], [A, B], [1, 1 / 2, 2 / 3, 1 / 2]),
        ([A, A], [A], [1 / 2, 1, 2 / 3, 1 / 2]),
        ([C], [A], [0, 0, 0, 0]),
        ([BROKEN, A], [A], [1 / 2, 1, 2 / 3, 1 / 2]),
        ([], [A], [None, 0, 0, 0]),
        ([A], [], [0, None, 0, 0]),
        ([], [], [None, None, 1, 1]),
        ([C, A, B], [A, B, C], [1, 1, 1, 2 / 3]),
    ],
)
def test_partial_credit(actual: Any, reference: Any, expected: Any) -> None:
    assert parts(actual, reference) == expected


def test_partial_credit_pairs_as_many_as_possible() -> None:
    assert parts([F_P, F_PQ], [F_PQ, F_P], "subset") == [1, 1, 1, 1 / 2]


def test_a_part_without_a_number_says_why() -> None:
    found = ToolCallOverlap().score(output(), item([]))
    assert [one.status for one in found] == ["unscored", "unscored", "scored", "scored"]
    assert [one.message for one in found[:2]] == ["no call was made", "the reference has no call"]
    found = ToolCallOverlap().score(Output(), item([]))
    assert {one.status for one in found} == {"unscored"}
    assert len(found) == 4


def test_the_parts_stand_beside_the_verdicts_and_overwrite_none() -> None:
    table = score_outputs(
        [item([A, B])],
        [("s", "1", 0, Output(rounds=[[B, A]]))],
        [*(match() for match in FIVE), ToolCallOverlap(), ToolCallOverlap("ignore", name="names")],
    )
    assert len(table) == 5 + 4 + 4
    assert table["criterion"].is_unique
    by_name = table.set_index("criterion")["score"]
    assert by_name["ToolCallExactMatch"] == 0
    assert by_name["names.lcs"] == 0.5


def facts(found: Score) -> dict[str, Any]:
    return dict(found.details)  # type: ignore[arg-type,call-overload]


def test_any_match_calls_nothing_unmatched_that_was_made() -> None:
    found = scored(ToolCallAnyMatch(), [BROKEN, B, A], [A, B, C])
    assert [one["name"] for one in facts(found)["unmatched_reference"]] == ["h"]
    assert [one["index"] for one in facts(found)["extra_actual"]] == [0]
    assert "misplaced" not in facts(found)
    assert (found.message or "").startswith("call 0 'f' cannot be read")
    assert "order" not in (found.message or "")


def test_calls_are_compared_with_those_that_come_nearest() -> None:
    found = scored(ToolCallExactMatch(), [f(x=9, y=8)], [f(x=1, y=1), f(x=9, y=9)])
    assert found.message == (
        "'f' at 0: argument 'y' is 8, not 9; 'f', call 0 of the reference, was not made"
    )


def test_all_calls_are_counted_though_few_are_shown() -> None:
    many = [{"name": f"t{place}"} for place in range(50)]
    found = scored(ToolCallExactMatch(), [], many)
    assert (found.message or "").endswith("; and 47 more")
    assert len(facts(found)["unmatched_reference"]) == 20


def test_nan_matches_nothing_inside_a_value_either() -> None:
    nan = float("nan")  # one object, which Python's lists would call equal to itself
    assert six([f(x=[nan])], [f(x=[nan])]) == "000000"
    found = scored(ToolCallExactMatch(), [f(x=nan)], [f(x=nan)])
    assert found.message == (
        "'f' at 0: argument 'x' is nan, which is not equal to the reference's nan"
    )


@pytest.mark.parametrize(
    ("actual", "reference", "message"),
    [
        ({"v": [1, {"w": 3}]}, {"v": [1, {"w": 4}]}, "argument 'x' at v.1.w: 3 is not 4"),
        ({"v": 1}, {"v": 1, "w": 2}, "argument 'x': the key 'w' is missing"),
        ([1], [1, 2], "argument 'x': 1 item(s), not 2"),
        ("LA", OneOf("NYC", "New York"), "'LA' is not OneOf('NYC', 'New York')"),
        ("a" * 300, "a" * 301, "which is not equal to the reference's"),
    ],
)
def test_a_difference_inside_a_value_is_located(actual: Any, reference: Any, message: str) -> None:
    found = scored(ToolCallExactMatch(), [f(x=actual)], [f(x=reference)])
    assert found.score == 0
    assert message in (found.message or "")


def test_a_reference_may_allow_several_values_or_a_tolerance() -> None:
    wanted = [f(city=OneOf("NYC", "New York"), level=Near(20, abs_tol=0.5))]
    assert six([f(city="NYC", level=20.4)], wanted) == "111111"
    assert six([f(city="NYC", level=21)], wanted) == "000000"


def loop() -> dict[str, Any]:
    made: dict[str, Any] = {}
    made["self"] = made
    return made


def test_what_cannot_be_compared_does_not_spoil_a_verdict_that_is_certain() -> None:
    odd, wanted = f(x=loop()), f(x=loop())
    assert scored(ToolCallAnyMatch(), [A, odd], [A, wanted]).score == 1
    found = scored(ToolCallExactMatch(), [odd], [wanted, B])
    assert found.score == 0
    assert "'f' at 0: argument 'x' cannot be compared: " in (found.message or "")
    assert scored(ToolCallExactMatch(), [f(x=loop(), z=1)], [wanted]).score == 0
    json.dumps(found.details)


def test_a_dotted_key_that_neither_side_has_is_missing() -> None:
    scorer = ToolCallExactMatch(tool_args_match_overrides={"f": ["z"]})
    assert scored(scorer, [A], [A]).message == "'f' at 0: argument 'z' is missing"


@pytest.mark.parametrize("wrong", [[1], "f", 3])
def test_overrides_go_by_the_name_of_the_tool(wrong: Any) -> None:
    with pytest.raises(ScorerError, match="a dict from the names of tools to rules"):
        ToolCallExactMatch(tool_args_match_overrides=wrong)


def test_what_the_system_could_not_read_is_told_and_changes_no_verdict() -> None:
    output = Output(rounds=[], parse_errors=("call f: cut off",))
    found = ToolCallSubsetMatch().score(output, item([A]))
    assert (found.score, found.message) == (
        1,
        "the system itself could not read: 'call f: cut off'",
    )
    assert facts(found)["parse_errors"] == ["call f: cut off"]
    found = ToolCallExactMatch().score(output, item([A]))
    assert (found.message or "").startswith(
        "'f', call 0 of the reference, was not made; the system"
    )


def test_any_match_does_not_compare_for_ever() -> None:
    many = [f(x=place) for place in range(MAX_CALLS + 1)]
    found = scored(ToolCallAnyMatch(), many, [A])
    assert (found.status, found.score) == ("unscored", None)


calls = st.lists(
    st.builds(
        lambda name, args: {"name": name, "args": args},
        st.sampled_from("fg"),
        st.dictionaries(st.sampled_from("pq"), st.integers(0, 1), max_size=2),
    ),
    max_size=4,
)
modes = st.sampled_from(["exact", "subset", "superset", "ignore"])
laws = settings(max_examples=150, deadline=None, derandomize=True)


def number(scorer: Any, actual: Any, reference: Any) -> float:
    found = scored(scorer, actual, reference).score
    assert found is not None
    return found


@laws
@given(calls, calls, modes)
def test_the_best_pairing_is_what_trying_all_orders_finds(
    actual: Any, reference: Any, mode: Any
) -> None:
    exact = ToolCallExactMatch(mode)
    tried = any(number(exact, list(order), reference) for order in permutations(actual))
    assert number(ToolCallUnorderedMatch(mode), actual, reference) == tried
    assert number(ToolCallUnorderedMatch(mode, greedy=True), actual, reference) <= tried


@laws
@given(calls, calls, modes, st.randoms(use_true_random=False))
def test_order_does_not_matter_where_it_should_not(
    actual: Any, reference: Any, mode: Any, draw: random.Random
) -> None:
    shuffled = draw.sample(actual, len(actual)), draw.sample(reference, len(reference))
    for match in (ToolCallUnorderedMatch, ToolCallAnyMatch):
        assert number(match(mode), actual, reference) == number(match(mode), *shuffled)
    assert parts(actual, reference, mode)[:3] == parts(*shuffled, mode)[:3]


@laws
@given(calls, calls, modes)
def test_the_matches_imply_each_other(actual: Any, reference: Any, mode: Any) -> None:
    exact, superset, subset, unordered, any_ = (
        number(match(mode), actual, reference) for match in FIVE
    )
    precision, recall, f1, lcs = parts(actual, reference, mode)
    assert exact == (superset and subset and len(actual) == len(reference))
    assert exact == (lcs == 1)
    assert unordered == (f1 == 1)
    assert exact <= unordered
    assert any_ == bool(precision)
    if superset:
        assert recall in (1, None)
    if subset:
        assert precision in (1, None)
    assert lcs <= 1


@laws
@given(calls, calls)
def test_subset_and_superset_mirror_each_other(actual: Any, reference: Any) -> None:
    mirrored = {"exact": "exact", "subset": "superset", "superset": "subset", "ignore": "ignore"}
    for mode, turned in mirrored.items():
        one = number(ToolCallSubsetMatch(mode), actual, reference)  # type: ignore[arg-type]
        other = number(ToolCallSupersetMatch(turned), reference, actual)  # type: ignore[arg-type]
        assert one == other


@laws
@given(calls, modes)
def test_everything_matches_itself(actual: Any, mode: Any) -> None:
    for match in FIVE[:4]:
        assert number(match(mode), actual, actual) == 1
    assert number(ToolCallAnyMatch(mode), actual, actual) == bool(actual)


@laws
@given(calls, calls, modes)
def test_explanations_leave_as_few_calls_unmatched_as_possible(
    actual: Any, reference: Any, mode: Any
) -> None:
    overlap = run_scorer(ToolCallOverlap(mode), output(*actual), item(reference))[2]
    for match in FIVE:
        found = facts(scored(match(mode), actual, reference))
        in_order = match not in (ToolCallUnorderedMatch, ToolCallAnyMatch)
        best = facts(overlap)["matched_in_order" if in_order else "matched"]
        assert len(found["unmatched_reference"]) == len(reference) - best
        assert len(found["extra_actual"]) == len(actual) - best
        for one in found.get("differing", []):
            made, wanted = actual[one["actual_index"]], reference[one["reference_index"]]
            assert made["name"] == wanted["name"]
            differing = {name["argument"] for name in one["arguments"]}
            assert differing <= dict(made["args"].items() ^ wanted["args"].items()).keys()
