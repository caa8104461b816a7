from __future__ import annotations

import math
from typing import Any

import pytest

from evaltoolkit.errors import SchemaError
from evaltoolkit.scorers import (
    Inference,
    InterpretiveField,
    InterpretiveState,
    Unmeasurable,
    ValueConfidence,
)
from evaltoolkit.scorers.state.interpretive import as_state


@pytest.mark.parametrize("confidence", [-1.0, 1.0, 0.0, -0.5])
def test_confidences_from_minus_1_to_1(confidence: float) -> None:
    assert ValueConfidence(value="x", confidence=confidence).confidence == confidence


@pytest.mark.parametrize("confidence", [-1.1, 1.1, 1.0000000001, math.nan, math.inf, None, "high"])
def test_other_confidences_are_refused(confidence: Any) -> None:
    with pytest.raises(SchemaError, match="confidence"):
        ValueConfidence(value="x", confidence=confidence)


def test_confidences_are_coerced_as_in_langstate() -> None:
    assert ValueConfidence(value="x", confidence="0.5").confidence == 0.5  # type: ignore[arg-type]
    assert ValueConfidence(value="x", confidence=True).confidence == 1.0
    assert ValueConfidence(value=None).confidence == 0.0
    with pytest.raises(SchemaError, match="value"):
        ValueConfidence(confidence=0.5)  # type: ignore[call-arg]


def test_a_candidate_cannot_be_changed_later() -> None:
    candidate = ValueConfidence(value="x")
    with pytest.raises(Exception, match="frozen"):
        candidate.confidence = 7  # type: ignore[misc]


def filled(*candidates: tuple[Any, float]) -> InterpretiveState:
    state = InterpretiveState()
    for value, confidence in candidates:
        state.add_value("name", value, confidence)
    return state


def best(state: InterpretiveState, **options: Any) -> Any:
    found = state.get_best_value("name", **options)
    return None if found is None else found.value


def test_the_best_of_three() -> None:
    assert best(filled(("a", 0.3), ("b", 0.9), ("c", 0.5))) == "b"
    assert best(filled(("a", -0.9), ("b", -0.1))) == "b"


def test_the_first_of_equals_is_the_best_unless_asked_otherwise() -> None:
    state = filled(("old", 0.8), ("low", 0.1), ("new", 0.8))
    assert best(state) == "old"
    assert best(state, ties="latest") == "new"
    assert best(state, ties="ambiguous") is None
    assert best(filled(("a", 0.8), ("b", 0.2)), ties="ambiguous") == "a"
    with pytest.raises(SchemaError, match="ties is 'last'"):
        best(state, ties="last")


def test_no_candidate_no_best() -> None:
    state = InterpretiveState()
    assert best(state) is None
    state.add_inference("name", "mentioned")
    assert best(state) is None
    assert not state.is_filled("name")
    state.set_field("name", None)
    assert best(state) is None


def test_a_path_makes_its_ancestors() -> None:
    state = InterpretiveState()
    state.add_value("guests.0.email", "a@b.c")
    assert dict(state) == {
        "guests": None,
        "guests.0": None,
        "guests.0.email": state.get_field("guests.0.email"),
    }
    state.add_value("guests", "one", 0.5)
    assert best(InterpretiveState({"name": state["guests"]})) == "one"
    state.add_value(r"v1\.2", 3)
    assert "v1" not in state
    state.add_value("", "the empty path is a path")
    assert len(state) == 5


def test_values_are_appended_and_inferences_replaced() -> None:
    state = filled(("a", 0.5), ("a", 0.5))
    state.add_inference("name", Inference(content="one", mutator_id="m", message_id="1"))
    state.add_inference("name", Inference(content="two"))
    field = state.get_field("name")
    assert field is not None
    assert len(field.values) == 2
    assert field.inference == Inference(content="two")


def test_complete_means_every_field_that_is_more_than_a_node() -> None:
    state = InterpretiveState()
    assert state.is_complete()
    state.add_value("guest.name", "Ada")
    assert state.is_complete()
    assert not state.is_complete(["guest.name", "guest.email"])
    state.add_inference("guest.email", "asked for")
    assert not state.is_complete()
    assert state.is_complete(["guest.name"])


def test_a_copy_shares_nothing() -> None:
    state = InterpretiveState()
    state.add_value("a.b", ["x"], 0.5)
    copied = state.copy()
    assert copied == state
    copied.add_value("a.b", "y")
    copied.get_field("a.b").values[0].value.append("z")  # type: ignore[union-attr]
    assert state.to_dict()["a.b"]["values"] == [{"value": ["x"], "confidence": 0.5}]


def test_a_lonely_node_that_holds_nothing_is_not_copied() -> None:
    state = InterpretiveState({"alone": None, "a.b": None, "empty": InterpretiveField()})
    assert sorted(state.copy()) == ["a", "a.b", "empty"]


def test_a_copy_has_the_class_of_the_state() -> None:
    class Own(InterpretiveState):
        pass

    assert type(Own().copy()) is Own


def test_the_plain_form_goes_round() -> None:
    state = InterpretiveState()
    state.add_value("b.c", {"deep": [1]}, -0.25)
    state.add_inference("b.c", Inference(content="why", message_id="m1"))
    state.add_value("a", None, 1)
    assert list(state.to_dict()) == ["a", "b", "b.c"]
    assert InterpretiveState(state.to_dict()) == state
    assert InterpretiveState(state) == state
    assert as_state(state) is state
    assert state.to_json() == InterpretiveState(state.to_dict()).to_json()


def test_early_forms_are_read() -> None:
    early = {"name": {"inference": [{"content": "one"}, {"content": "two"}], "values": []}}
    field = InterpretiveState(early).get_field("name")
    assert field == InterpretiveField(inference=Inference(content="two"))
    assert InterpretiveState({"n": {"inference": "why"}})["n"] == InterpretiveField(
        inference=Inference(content="why")
    )


@pytest.mark.parametrize(
    "bad",
    [
        "text",
        [1],
        None,
        3,
        {"name": "Ada"},
        {"name": {"value": "Ada"}},
        {"name": {"values": [{"confidence": 1}]}},
        {"name": {"values": [{"value": 1, "confidence": 2}]}},
        {"name": {"values": [], "more": 1}},
        {3: None},
    ],
)
def test_what_is_no_state(bad: Any) -> None:
    with pytest.raises(SchemaError):
        as_state(bad)


def test_a_confidence_is_given_once() -> None:
    with pytest.raises(SchemaError, match="brings its confidence"):
        InterpretiveState().add_value("a", ValueConfidence(value=1), 0.5)
    with pytest.raises(SchemaError, match="no text"):
        InterpretiveState().add_value(3, 1)  # type: ignore[arg-type]


def test_what_is_not_json_cannot_be_written() -> None:
    state = InterpretiveState()
    state.add_value("a", {1, 2})
    with pytest.raises(Unmeasurable, match="not JSON"):
        state.to_json()
