from __future__ import annotations

from typing import Any

import pytest

from evaltoolkit.errors import ScorerError
from evaltoolkit.evaluation import evaluate, score_outputs
from evaltoolkit.models import Example, Output, Score
from evaltoolkit.scorers import (
    STATE_MEASURES,
    InterpretiveState,
    Scorer,
    StateComparison,
    run_scorer,
)

EMPTY = InterpretiveState()


def state(**fields: Any) -> InterpretiveState:
    made = InterpretiveState()
    for path, (value, confidence) in fields.items():
        made.add_value(path, value, confidence)
    return made


def scores(
    actual: Any, expected: Any, given: Any = None, scorer: StateComparison | None = None
) -> dict[str, Score]:
    item = Example(id="1", input=given, reference_state=expected)
    got = (scorer or StateComparison()).score(Output(final_state=actual), item)
    return {score.criterion.removeprefix("StateComparison."): score for score in got}


def test_it_is_a_scorer_whose_parts_are_declared() -> None:
    scorer = StateComparison()
    assert isinstance(scorer, Scorer)
    assert [part.name for part in scorer.parts] == [
        f"StateComparison.{measure.name}" for measure in STATE_MEASURES if not measure.is_count
    ]
    everything = StateComparison([measure.name for measure in STATE_MEASURES], criterion="slots")
    assert everything.parts[2].name == "slots.mismatched_fields"
    assert everything.parts[2].higher_is_better is False
    assert everything.parts[2].upper_bound is None


def test_every_part() -> None:
    expected = state(a=("x", 0.9), b=("x", 0.9))
    got = scores(state(a=("x", 0.5), c=("y", 0.5)), expected, {"pre_state": state(b=("x", 0.9))})
    assert {name: score.score for name, score in got.items()} == {
        "overall_match": 0.0,
        "accuracy_score": 0.0,
        "value_match": 0.0,
        "precision": 0.5,
        "recall": 0.5,
        "f1": 0.5,
        "jaccard": 1 / 3,
        "confidence_match": 0.0,
        "delta_recall": 1.0,
        "preservation": 0.0,
        "brier": 0.25,
    }
    assert got["overall_match"].passed is False
    assert got["precision"].passed is None


def test_the_details_name_the_paths_that_differ() -> None:
    got = scores(state(a=("x", 0.9), b=("y", 0.9)), state(a=("x", 0.9), b=("x", 0.9)))
    details = got["overall_match"].details
    assert details == {
        "matching_fields": 1,
        "mismatched_fields": 1,
        "missing_fields": 0,
        "extra_fields": 0,
        "overall_match": False,
        "leaves": {"correct": 1, "wrong": 1},
        "fields": [
            {
                "field_path": "b",
                "class": "mismatched",
                "leaf_class": "wrong",
                "difference": "'y' is not 'x'",
                "expected": {"value": "x", "confidence": 0.9},
                "actual": {"value": "y", "confidence": 0.9},
            }
        ],
    }
    many = {f"p{n:03}": (n, 0.5) for n in range(250)}
    details = scores(state(**many), EMPTY)["overall_match"].details
    assert isinstance(details, dict)
    assert len(details["fields"]) == 100  # type: ignore[arg-type]
    assert details["fields_not_shown"] == 150


def test_a_correct_nothing_is_no_zero() -> None:
    got = scores(EMPTY, EMPTY)
    assert got["overall_match"].score == 1.0
    assert got["accuracy_score"].status == "unscored"
    assert got["accuracy_score"].message == "nothing is expected"
    compatible = scores(EMPTY, EMPTY, scorer=StateComparison(compatible=True))
    assert compatible["accuracy_score"].score == 0.0


@pytest.mark.parametrize(
    ("actual", "expected", "given", "reason"),
    [
        (EMPTY, None, None, "the example has no reference state"),
        (None, EMPTY, None, "the output has no final state"),
        ("on", EMPTY, None, "the final state cannot be used: 'on' is no interpreted state"),
        (EMPTY, [1], None, "the reference state cannot be used: [1] is no interpreted state"),
        ({"a": "x"}, EMPTY, None, "the final state cannot be used: the field 'a' is 'x'"),
        (EMPTY, EMPTY, {"pre_state": 3}, "the state before cannot be used: 3 is no"),
    ],
)
def test_what_cannot_be_compared_is_unscored(
    actual: Any, expected: Any, given: Any, reason: str
) -> None:
    got = scores(actual, expected, given)
    assert len(got) == 11
    for score in got.values():
        assert (score.status, score.score) == ("unscored", None)
        assert score.message is not None
        assert score.message.startswith(reason)


def test_foreign_values_are_unscored_and_named() -> None:
    class Odd:
        def __eq__(self, other: object) -> bool:
            raise RuntimeError("never ask")

        __hash__ = None  # type: ignore[assignment]

    got = scores(state(a=(Odd(), 1)), state(a=("x", 1)))
    assert got["recall"].status == "unscored"
    assert got["recall"].message is not None
    assert got["recall"].message.startswith("at the path 'a': the values cannot be compared")


def test_a_broken_system_is_counted_in_every_part() -> None:
    broken = run_scorer(StateComparison(["recall", "f1"]), Output(error="boom"), Example(id="1"))
    assert [score.criterion for score in broken] == ["StateComparison.recall", "StateComparison.f1"]
    assert {score.status for score in broken} == {"system_error"}


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"measures": ["recal"]}, "did you mean 'recall'"),
        ({"measures": []}, "is empty"),
        ({"measures": ["f1", "f1"]}, "twice"),
        ({"confidence_tol": -1}, "confidence_tol"),
    ],
)
def test_wrong_options(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ScorerError, match=text):
        StateComparison(**options)


def test_a_threshold_is_for_parts_where_more_is_better() -> None:
    scorer = StateComparison(["recall", "brier"], threshold=0.5)
    assert [part.threshold for part in scorer.parts] == [0.5, None]


def test_in_a_run_of_systems() -> None:
    """The published example: the registrant gives overall match and accuracy 1.0."""
    expected = state(**{"registrant.name": ("Ada Lovelace", 0.95)})

    def listens(given: dict[str, Any]) -> Output:
        after = InterpretiveState(given["pre_state"])
        after.add_value("registrant.name", given["prompt"].removeprefix("My name is "), 0.95)
        return Output(final_state=after)

    item = Example(
        id=17,
        input={"prompt": "My name is Ada Lovelace", "pre_state": EMPTY},
        reference_state=expected,
    )
    result = evaluate(
        [item], {"listens": listens}, [StateComparison(["overall_match", "accuracy_score"])]
    )
    assert result.means()["listens"].to_dict() == {
        "StateComparison.overall_match": 1.0,
        "StateComparison.accuracy_score": 1.0,
    }
    assert result.pass_rates().loc["StateComparison.overall_match", "listens"] == 1.0


def test_plain_states_score_the_same() -> None:
    expected = state(a=("x", 0.9))
    item = Example(id=1, reference_state=expected.to_dict())
    output = Output(final_state=state(a=("x", 0.9)).to_dict())
    table = score_outputs([item], [("m", 1, 0, output)], [StateComparison()])
    scored = table[table["status"] == "scored"]
    *others, brier = scored["score"]
    assert others == [1.0] * 8
    assert brier == pytest.approx(0.01)
