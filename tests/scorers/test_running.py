"""Functions and objects as scorers, and what becomes of whatever they return or raise."""

from __future__ import annotations

import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from evaltoolkit.errors import MissingDependencyError, ScorerError
from evaltoolkit.models import Criterion, Example, Output, Score
from evaltoolkit.scorers import (
    BaseScorer,
    ExactMatch,
    FunctionScorer,
    Scorer,
    Unmeasurable,
    Verdict,
    as_scorer,
    run_scorer,
)

EXAMPLE = Example(id="7", task="sums", input="2 + 2?", reference="4", attributes={"topic": "maths"})
OUTPUT = Output(text="4")


def run(candidate: Any, output: Output = OUTPUT) -> list[Score]:
    return run_scorer(as_scorer(candidate), output, EXAMPLE)


def only(candidate: Any, output: Output = OUTPUT) -> Score:
    scores = run(candidate, output)
    assert len(scores) == 1
    return scores[0]


def test_arguments_are_bound_by_name() -> None:
    seen: dict[str, object] = {}

    def all_names(
        result: Any, output: Any, reference: Any, expected: Any, example: Any, *,
        strict: bool = True, **context: Any,
    ) -> int:  # fmt: skip
        seen.update(locals())
        return 1

    assert only(all_names).score == 1.0
    assert seen["result"] is seen["output"] is OUTPUT
    assert seen["reference"] == seen["expected"] == "4"
    assert seen["example"] is EXAMPLE
    assert seen["strict"] is True
    assert seen["context"] == {
        "input": "2 + 2?",
        "task": "sums",
        "example_id": "7",
        "history": None,
        "attributes": {"topic": "maths"},
    }


def test_the_published_call_of_result_and_expected_works() -> None:
    def correct(result: Any, expected: Any, **context: Any) -> bool:
        return bool(result.text == expected)

    got = only(correct)
    assert (got.criterion, got.score, got.passed) == ("correct", 1.0, True)


@pytest.mark.parametrize(
    "function",
    [lambda o, e: 1, lambda output, expect: 1, lambda output, /: 1, pow],
    ids=["unknown names", "a misspelt name", "positional only", "a builtin"],
)
def test_an_argument_that_cannot_be_bound_is_refused_at_once(function: Any) -> None:
    with pytest.raises(ScorerError, match="cannot be bound by name; it may ask for 'output'"):
        as_scorer(function)


def test_a_misspelt_argument_gets_a_hint() -> None:
    with pytest.raises(ScorerError, match="did you mean 'expected'"):
        as_scorer(lambda output, expectd: 1)


@pytest.mark.parametrize(
    ("returned", "score", "passed"),
    [
        (1, 1.0, None),
        (0.25, 0.25, None),
        (-3, -3.0, None),
        (True, 1.0, True),
        (False, 0.0, False),
        (np.float32(0.5), 0.5, None),
        (np.int64(2), 2.0, None),
        (np.bool_(True), 1.0, True),
        (Decimal("0.5"), 0.5, None),
        (Fraction(1, 4), 0.25, None),
        (Score(criterion="mine", score=0.5, passed=False), 0.5, False),
    ],
)
def test_numbers_booleans_and_scores_are_scores(
    returned: Any, score: float, passed: bool | None
) -> None:
    got = only(lambda output: returned)
    assert (got.status, got.score, got.passed) == ("scored", score, passed)


@pytest.mark.parametrize(
    ("returned", "status", "message"),
    [
        (None, "unscored", "the scorer returned None"),
        (float("nan"), "unscored", "the scorer returned NaN"),
        ([], "unscored", "the scorer returned an empty list"),
        (float("inf"), "scorer_error", "a score must be finite"),
        ("0.5", "scorer_error", "returned a str; return a number"),
        ({"score": 1}, "scorer_error", "returned a dict; return a number"),
        (1j, "scorer_error", "returned a complex"),
        (np.array([1.0]), "scorer_error", "returned a ndarray"),
        ([1, 0], "scorer_error", "parts need names"),
        (10**400, "scorer_error", "OverflowError"),
    ],
)
def test_everything_else_gets_a_status_and_a_message(
    returned: Any, status: str, message: str
) -> None:
    got = only(lambda output: returned)
    assert (got.status, got.score) == (status, None)
    assert got.message is not None
    assert message in got.message


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("no JSON"), "ValueError: no JSON"),
        (KeyError("score"), "KeyError: 'score'"),
        (TimeoutError(), "TimeoutError"),
        (RecursionError("deep"), "RecursionError: deep"),
    ],
)
def test_an_exception_becomes_a_scorer_error_with_its_text(error: Exception, message: str) -> None:
    def broken(output: Output) -> float:
        raise error

    got = only(broken)
    assert (got.status, got.score, got.passed, got.message) == ("scorer_error", None, None, message)


def test_a_function_can_decline_with_a_reason() -> None:
    def declines(output: Output) -> float:
        reason = "nothing to judge"
        raise Unmeasurable(reason)

    assert only(declines).status == "unscored"
    assert only(declines).message == "nothing to judge"


def test_interrupts_and_missing_packages_are_not_swallowed() -> None:
    def interrupted(output: Output) -> float:
        raise KeyboardInterrupt

    def lacking(output: Output) -> float:
        raise MissingDependencyError("x", extra="scorers", purpose="it")

    with pytest.raises(KeyboardInterrupt):
        run(interrupted)
    with pytest.raises(MissingDependencyError):
        run(lacking)


def test_a_broken_output_is_not_shown_to_the_scorer() -> None:
    calls: list[Output] = []
    got = only(lambda output: calls.append(output), Output(text="4", error="timeout"))
    assert (got.status, got.message, calls) == ("system_error", "timeout", [])


def test_an_async_function_is_refused_without_a_warning() -> None:
    async def later(output: Output) -> float:
        return 1.0

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = only(later)
    assert got.status == "scorer_error"
    assert got.message is not None
    assert "async" in got.message


def test_parts_carry_the_name_of_the_scorer() -> None:
    def judge(output: Output) -> list[Score]:
        return [
            Score(criterion="tone", score=1),
            Score(criterion="judge.length", score=0.5),
            Score(criterion="judge", score=0.75),
        ]

    assert [s.criterion for s in run(judge)] == ["judge.tone", "judge.length", "judge"]


def test_two_parts_of_one_name_do_not_overwrite_each_other() -> None:
    def judge(output: Output) -> list[Score]:
        return [Score(criterion="tone", score=1), Score(criterion="judge.tone", score=0)]

    got = only(judge)
    assert got.status == "scorer_error"
    assert got.message == (
        "ScorerError: 'judge' returned two scores named 'judge.tone' (1 and 0); give each part "
        "its own name"
    )


class Strict:
    """A scorer with parts and without a base class."""

    name = "strict"
    criterion = Criterion(name="strict", upper_bound=1)
    parts = (Criterion(name="strict.a", lower_bound=0), Criterion(name="strict.b"))

    def score(self, output: Output, example: Example) -> list[Score]:
        return [Score(criterion="a", score=-1), Score(criterion="b", score=5)]


def test_declared_parts_all_share_a_failure() -> None:
    scores = run(Strict(), Output(error="boom"))
    assert [(s.criterion, s.status) for s in scores] == [
        ("strict.a", "system_error"),
        ("strict.b", "system_error"),
    ]


def test_a_score_beyond_its_declared_bounds_is_an_error_of_the_scorer() -> None:
    scores = run(Strict())
    assert {s.status for s in scores} == {"scorer_error"}
    assert scores[0].message == (
        "ScorerError: the score of 'strict.a' -1 lies below the lower bound 0"
    )


def test_what_satisfies_the_protocol_is_taken_as_it_is() -> None:
    for scorer in (ExactMatch(), Strict()):
        assert as_scorer(scorer) is scorer
        assert isinstance(scorer, Scorer)


def test_an_object_with_only_a_score_method_is_adapted() -> None:
    class Polite:
        kind = "binary"
        higher_is_better = True
        threshold = 1.0

        def score(self, o: Output, e: Example) -> float:
            return float("please" in str(o.text))

        def applies(self, example: Example) -> bool:
            return example.task == "letters"

    scorer = as_scorer(Polite())
    assert scorer.name == "Polite"
    assert scorer.criterion == Criterion(
        name="Polite", kind="binary", higher_is_better=True, threshold=1
    )
    assert scorer.applies(EXAMPLE) is False  # type: ignore[attr-defined]
    assert not hasattr(scorer, "parts")
    got = run_scorer(scorer, Output(text="yes please"), EXAMPLE)[0]
    assert (got.score, got.passed) == (1.0, True)


@pytest.mark.parametrize(
    ("candidate", "message"),
    [(ExactMatch, r"write ExactMatch\(\)"), (3, "cannot score"), ("exact", "cannot score")],
)
def test_what_cannot_score_is_refused(candidate: Any, message: str) -> None:
    with pytest.raises(ScorerError, match=message):
        as_scorer(candidate)


def test_a_function_can_declare_its_criterion() -> None:
    scorer = FunctionScorer(
        lambda output: len(output.text),
        name="counter",
        criterion=Criterion(name="length", higher_is_better=False, threshold=3),
    )
    got = run_scorer(scorer, Output(text="four"), EXAMPLE)[0]
    assert (scorer.name, got.criterion, got.score, got.passed) == ("counter", "length", 4.0, False)


def test_names_and_criteria_can_be_set() -> None:
    scorer = ExactMatch(name="strict", criterion="correct", weight=2, blocking=False)
    assert (scorer.name, scorer.criterion.name) == ("strict", "correct")
    assert (scorer.criterion.weight, scorer.criterion.blocking) == (2, False)
    assert ExactMatch(name="strict").criterion.name == "strict"
    assert repr(scorer) == "ExactMatch(name='strict', criterion='correct')"


def test_an_own_scorer_needs_one_method() -> None:
    class Shouting(BaseScorer):
        kind = "binary"
        higher_is_better = False
        default_threshold = 0.0

        def measure(self, output: Output, example: Example, /) -> Verdict:
            del example
            return Verdict(float(output.text.isupper()), "loud", label="caps")

    got = run_scorer(Shouting(), Output(text="NO"), EXAMPLE)[0]
    assert (got.criterion, got.score, got.passed, got.label) == ("Shouting", 1.0, False, "caps")
