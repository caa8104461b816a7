"""Comparison of states: the rules of langstate, and the better definitions beside them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltoolkit.errors import SchemaError, ScorerError
from evaltoolkit.scorers import (
    ComparedStates,
    InterpretiveState,
    Near,
    OneOf,
    Unmeasurable,
    compare_states,
)


def state(**fields: Any) -> InterpretiveState:
    """Make a state: path (``__`` for a dot) to a value, (value, confidence) or list of those."""
    made = InterpretiveState()
    for name, held in fields.items():
        path = name.replace("__", ".")
        candidates = held if isinstance(held, list) else [held]
        for candidate in candidates:
            value, confidence = candidate if isinstance(candidate, tuple) else (candidate, 0.9)
            made.add_value(path, value, confidence)
        if not candidates:
            made.add_inference(path, "mentioned")
    return made


def node(*paths: str) -> InterpretiveState:
    return InterpretiveState(dict.fromkeys(paths))


def classes(compared: ComparedStates) -> dict[str, Any]:
    return {field.field_path: field.field_class for field in compared.fields}


EMPTY = InterpretiveState()


@pytest.mark.parametrize(
    ("expected", "actual", "field_class"),
    [
        (node("a"), node("a"), "matching"),
        (node("a"), state(a=[]), "matching"),  # an inference alone is no value
        (state(a="x"), node("a"), "mismatched"),
        (node("a"), state(a="x"), "mismatched"),
        (state(a="x"), state(a="x"), "matching"),
        (state(a="x"), state(a="y"), "mismatched"),
        (state(a=("x", 0.9)), state(a=("x", 0.8)), "mismatched"),
        (state(a=("x", 0.3)), state(a=("x", 0.1 + 0.2)), "mismatched"),
        (state(a=1), state(a=True), "matching"),
        (state(a=1), state(a=1.0), "matching"),
        (state(a="42"), state(a=42), "mismatched"),
        (state(a="X "), state(a="x"), "mismatched"),
        (state(a=[([1, 2], 1.0)]), state(a=[([2, 1], 1.0)]), "mismatched"),
        (state(a=("x", 0.9)), state(a=[("y", 0.1), ("x", 0.9), ("z", 0.5)]), "matching"),
        (state(a=("old", 0.9)), state(a=[("old", 0.9), ("new", 0.9)]), "matching"),
        (state(a="x"), EMPTY, "missing"),
        (EMPTY, state(a="x"), "extra"),
        (node("a"), EMPTY, "missing"),
        (EMPTY, node("a"), "extra"),
    ],
)
def test_published_classes(
    expected: InterpretiveState, actual: InterpretiveState, field_class: str
) -> None:
    compared = compare_states(expected, actual, confidence_tol=0.5, abs_tol=5)
    (field,) = compared.fields
    assert field.field_class == field_class
    assert field.matches is (field_class == "matching")
    assert (field.difference is None) is field.matches
    assert compared.overall_match is field.matches
    if field_class == "missing":
        assert field.actual_value is None
    if field_class == "extra":
        assert field.expected_value is None


def test_one_of_each() -> None:
    compared = compare_states(state(a="x", b="x", c="x"), state(a="x", b="y", d="x"))
    assert classes(compared) == {
        "a": "matching",
        "b": "mismatched",
        "c": "missing",
        "d": "extra",
    }
    assert compared.to_dict()["leaves"] == {"correct": 1, "wrong": 1, "missing": 1, "extra": 1}
    assert compared.accuracy_score == 1 / 3
    assert (compared.precision, compared.recall, compared.f1) == (1 / 3, 1 / 3, 1 / 3)
    assert compared.jaccard == 1 / 4
    assert not compared.overall_match


def test_two_empty_states_match_with_accuracy_0() -> None:
    compared = compare_states(EMPTY, EMPTY)
    assert compared.overall_match
    assert compared.value_match
    assert compared.accuracy_score == 0.0
    assert compared.accuracy is None
    ratios = ("precision", "recall", "f1", "jaccard", "confidence_match")
    assert all(getattr(compared, name) is None for name in ratios)


def test_nothing_expected_and_something_there() -> None:
    compared = compare_states(EMPTY, state(a="x"))
    assert (compared.accuracy_score, compared.accuracy) == (0.0, None)
    assert (compared.precision, compared.recall, compared.f1, compared.jaccard) == (0, None, 0, 0)


def test_half() -> None:
    assert compare_states(state(a="x", b="x"), state(a="x", b="y")).accuracy_score == 0.5


def test_extras_are_free_in_the_published_accuracy_only() -> None:
    compared = compare_states(state(a="x"), state(a="x", b="y", c="z"))
    assert compared.accuracy_score == 1.0
    assert not compared.overall_match
    assert (compared.precision, compared.recall, compared.jaccard) == (1 / 3, 1.0, 1 / 3)
    assert compared.f1 == 0.5


def test_the_registrant() -> None:
    """The published example: two paths match, for the ancestor counts."""
    expected = state(registrant__name=("Ada Lovelace", 0.95))
    compared = compare_states(expected, expected.copy())
    assert compared.overall_match
    assert compared.accuracy_score == 1.0
    assert compared.matching_fields == 2
    assert compared.leaves == Counter(correct=1)


def test_ancestors_inflate_the_published_accuracy() -> None:
    expected = state(registrant__name="Ada", registrant__email="a@b.c")
    compared = compare_states(expected, state(registrant__name="Ada"))
    assert (compared.matching_fields, compared.missing_fields) == (2, 1)
    assert round(compared.accuracy_score, 3) == 0.667
    assert compared.recall == 0.5


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_a_wrong_leaf_at_a_depth_has_free_matches(depth: int) -> None:
    path = ".".join("abcde"[:depth])
    expected, actual = InterpretiveState(), InterpretiveState()
    expected.add_value(path, "right")
    actual.add_value(path, "wrong")
    compared = compare_states(expected, actual)
    assert (compared.matching_fields, compared.mismatched_fields) == (depth - 1, 1)
    assert compared.accuracy_score == (depth - 1) / depth
    assert (compared.recall, compared.precision) == (0, 0)
    assert compare_states(expected, EMPTY).missing_fields == depth


def test_paths_are_sorted_as_texts() -> None:
    made = InterpretiveState()
    for path in ("guests.2", "guests.10", "b"):
        made.add_value(path, 1)
    paths = [field.field_path for field in compare_states(made, made).fields]
    assert paths == ["b", "guests", "guests.10", "guests.2"]


def test_value_and_confidence_are_judged_apart() -> None:
    compared = compare_states(
        state(a=("x", 0.9), b=("x", 0.9), c=("x", 0.9)),
        state(a=("x", 0.85), b=("x", 0.5), c=("y", 0.9)),
    )
    flags = [(field.value_equal, field.confidence_equal) for field in compared.fields]
    assert flags == [(True, True), (True, False), (False, True)]
    assert compared.confidence_match == 0.5
    assert compared.matching_fields == 0
    assert compared.recall == 2 / 3


def test_the_tolerance_of_confidences_is_inclusive() -> None:
    compared = compare_states(state(a=("x", 0.3)), state(a=("x", 0.25)), confidence_tol=0.05)
    assert compared.confidence_match == 1.0
    compared = compare_states(state(a=("x", 0.3)), state(a=("x", 0.25)), confidence_tol=0)
    assert compared.confidence_match == 0.0


def test_options_shape_the_leaves_and_not_the_published_counts() -> None:
    expected, actual = state(a=1, b=10.0), state(a=True, b=10.4)
    compared = compare_states(expected, actual, typed=True, abs_tol=0.5)
    assert classes(compared) == {"a": "matching", "b": "mismatched"}
    assert [field.leaf_class for field in compared.fields] == ["wrong", "correct"]


def test_alternatives_and_tolerances_of_a_case() -> None:
    expected = state(who=OneOf("Ada", "A. Lovelace"), age=Near(36, abs_tol=1))
    compared = compare_states(expected, state(who="A. Lovelace", age=37))
    assert compared.overall_match
    assert compared.recall == 1.0


def test_ties() -> None:
    expected, actual = state(a=("new", 0.9)), state(a=[("old", 0.9), ("new", 0.9)])
    leaves = {
        ties: compare_states(expected, actual, ties=ties).fields[0].leaf_class  # type: ignore[arg-type]
        for ties in ("first", "latest", "ambiguous")
    }
    assert leaves == {"first": "wrong", "latest": "correct", "ambiguous": "missing"}
    assert compare_states(expected, actual, ties="latest").mismatched_fields == 1


@pytest.mark.parametrize(
    ("pre", "expected", "actual", "transition", "changed", "should_change"),
    [
        ("x", "x", "x", "kept", False, False),
        ("x", "x", "y", "wrongly_overwritten", True, False),
        ("x", "x", None, "wrongly_overwritten", True, False),
        ("x", "y", "y", "corrected", True, True),
        ("x", "y", "x", "missed", False, True),
        ("x", "y", "z", "wrongly_overwritten", True, True),
        ("x", "y", None, "wrongly_overwritten", True, True),
        ("x", None, None, "corrected", True, True),
        ("x", None, "x", "missed", False, True),
        ("x", None, "y", "wrongly_overwritten", True, True),
        (None, "y", "y", "corrected", True, True),
        (None, "y", None, "missed", False, True),
        (None, "y", "z", "missed", True, True),
        (None, None, "y", "spurious", True, False),
    ],
)
def test_what_became_of_a_path(
    pre: Any, expected: Any, actual: Any, transition: str, changed: bool, should_change: bool
) -> None:
    sides = [EMPTY if value is None else state(a=value) for value in (expected, actual, pre)]
    (field,) = compare_states(sides[0], sides[1], pre=sides[2]).fields
    assert field.transition == transition
    assert field.changed is changed
    assert field.should_change is should_change


def test_only_a_state_before_tells_of_changes() -> None:
    compared = compare_states(state(a="x"), state(a="x"))
    assert compared.fields[0].transition is None
    assert not compared.has_pre
    assert compared.delta_recall is None
    compared = compare_states(node("a"), node("a"), pre=EMPTY)
    assert compared.fields[0].transition is None


def test_an_idle_mutator_gets_no_credit_for_what_was_there() -> None:
    pre = state(a="x", b="x", c="x")
    expected = state(a="x", b="x", c="x", d="new")
    compared = compare_states(expected, pre, pre=pre)
    assert compared.accuracy_score == 0.75
    assert compared.delta_recall == 0.0
    assert compared.preservation == 1.0
    assert compared.transitions == Counter(kept=3, missed=1)


def test_a_value_that_is_gone_counts_in_no_published_count() -> None:
    compared = compare_states(state(a="x"), state(a="x"), pre=state(a="x", b="gone"))
    assert compared.fields[1].field_class is None
    assert compared.fields[1].transition == "corrected"
    assert compared.overall_match
    assert compared.accuracy_score == 1.0


def test_claims_are_of_the_values_that_came_out() -> None:
    compared = compare_states(
        state(a="x", b="x", m="x"), state(a=("x", 0.8), b=("y", 0.6), e=("z", 0.4))
    )
    assert compared.claims == [(0.8, True), (0.6, False), (0.4, False)]


def test_plain_forms_will_do() -> None:
    plain = {"a.b": {"values": [{"value": 1, "confidence": 0.5}]}}
    assert compare_states(plain, plain, pre={}).overall_match
    with pytest.raises(SchemaError, match="no interpreted state"):
        compare_states(plain, [1])  # type: ignore[arg-type]


def test_wrong_choices_are_refused() -> None:
    with pytest.raises(ScorerError, match="confidence_tol"):
        compare_states(EMPTY, EMPTY, confidence_tol=-1)
    with pytest.raises(SchemaError, match="ties"):
        compare_states(EMPTY, EMPTY, ties="last")  # type: ignore[arg-type]


def test_values_without_end_are_named() -> None:
    one: list[Any] = []
    one.append(one)
    other: list[Any] = []
    other.append(other)
    with pytest.raises(Unmeasurable, match="at the path 'a'"):
        compare_states(state(a=[(one, 1.0)]), state(a=[(other, 1.0)]))


PATHS = ["a", "a.b", "a.b.c", "d", "d.e"]
states = st.dictionaries(
    st.sampled_from(PATHS),
    st.none()
    | st.lists(st.tuples(st.sampled_from(["x", "y", 1, True]), st.sampled_from([0.1, 0.5]))),
).map(
    lambda fields: InterpretiveState(
        {
            path: None
            if held is None
            else {"values": [{"value": v, "confidence": c} for v, c in held]}
            for path, held in fields.items()
        }
    )
)


def published_counts(expected: InterpretiveState, actual: InterpretiveState) -> list[int]:
    """The published rules in their own few lines."""
    counts = {"matching": 0, "mismatched": 0, "missing": 0, "extra": 0}
    for path in set(expected) | set(actual):
        if path not in actual:
            counts["missing"] += 1
        elif path not in expected:
            counts["extra"] += 1
        else:
            pair = []
            for side in (expected, actual):
                values = getattr(side[path], "values", ())
                pair.append(max(values, key=lambda v: v.confidence) if values else None)
            counts["matching" if pair[0] == pair[1] else "mismatched"] += 1
    return list(counts.values())


@given(states, states)
@settings(max_examples=300, deadline=None)
def test_the_published_rules_on_any_states(
    expected: InterpretiveState, actual: InterpretiveState
) -> None:
    compared = compare_states(expected, actual)
    matching, mismatched, missing, extra = published_counts(expected, actual)
    assert compared.matching_fields == matching
    assert compared.mismatched_fields == mismatched
    assert compared.missing_fields == missing
    assert compared.extra_fields == extra
    total = matching + mismatched + missing
    assert compared.accuracy_score == (matching / total if total else 0.0)
    assert compared.overall_match is (mismatched + missing + extra == 0)


@given(states, states, states)
@settings(max_examples=300, deadline=None)
def test_laws(
    expected: InterpretiveState, actual: InterpretiveState, pre: InterpretiveState
) -> None:
    compared = compare_states(expected, actual, pre=pre)
    mirrored = compare_states(actual, expected)
    assert compared.precision == mirrored.recall
    assert compared.f1 == mirrored.f1
    assert compared.jaccard == mirrored.jaccard
    assert compared.value_match is mirrored.value_match
    if compared.precision and compared.recall and compared.f1:
        harmonic = 2 / (1 / compared.precision + 1 / compared.recall)
        assert compared.f1 == pytest.approx(harmonic)
    assert compare_states(expected, expected).overall_match
    assert not compared.overall_match or compared.value_match
    held = [f for f in compared.fields if f.leaf_class or f.pre_value]
    assert sum(compared.transitions.values()) == len(held)
    for field in held:
        if field.transition in ("kept", "corrected"):
            assert field.leaf_class in (None, "correct")
        else:
            assert field.leaf_class != "correct"


@pytest.mark.parametrize(
    ("before", "expected", "actual", "outcome"),
    [
        ("x", "x", "x", "kept"),
        ("x", "y", "y", "corrected"),
        ("x", None, None, "corrected"),
        ("x", "x", None, "wrongly_overwritten"),
        ("x", "y", "z", "wrongly_overwritten"),
        ("x", None, "z", "wrongly_overwritten"),
        ("x", None, "x", "missed"),
        ("x", "y", "x", "missed"),
        (None, "y", None, "missed"),
        (None, "y", "z", "missed"),
        (None, None, "z", "spurious"),
        (1.0, 1.1, 0.9, "wrongly_overwritten"),  # unchanged within the tolerance, and wrong
    ],
)
def test_every_transition(before: Any, expected: Any, actual: Any, outcome: str) -> None:
    sides = [EMPTY if side is None else state(a=side) for side in (expected, actual, before)]
    (field,) = compare_states(*sides[:2], pre=sides[2], abs_tol=0.11).fields
    assert field.transition == outcome


def test_inherited_values_are_no_claims() -> None:
    pre = state(a=("x", 0.8), b=("y", 0.6), c=("z", 0.4))
    actual = state(a=("x", 0.8), b=("y", 0.7), c=("w", 0.4))
    assert compare_states(pre, actual, pre=pre).claims == [(0.7, True), (0.4, False)]
