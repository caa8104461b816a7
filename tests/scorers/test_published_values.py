"""The deterministic scorers of autoevals 0.4.1, value by value.

Every number was obtained by running that release; where this library departs from it, on purpose,
the case stands in a table of its own with the reason.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest

from evaltoolkit.models import Example, Output, Score
from evaltoolkit.scorers import (
    ComparingScorer,
    ExactMatch,
    JSONDiff,
    Levenshtein,
    ListContains,
    NumericDiff,
    ValidJSON,
)

NAN, INF = math.nan, math.inf


def score(scorer: ComparingScorer | ValidJSON, output: Any, expected: Any = None) -> Score:
    return scorer.score(Output(text=output), Example(id="1", reference=expected))


@pytest.mark.parametrize(
    ("output", "expected", "value"),
    [
        ("hello wrld", "hello world", 0.9090909090909091),
        ("kitten", "sitting", 0.5714285714285714),
        ("flaw", "lawn", 0.5),
        ("abc", "axc", 0.6666666666666667),
        ("xabxcdxxefxgx", "1ab2cd34ef5g6", 0.5384615384615384),
        ("Hello", "hello", 0.8),
        ("", "", 1.0),
        ("", "a", 0.0),
        (123, "123", 1.0),
        ("café", "cafe\u0301", 0.6),
        ("日本語", "日本", 0.6666666666666667),
        (1.0, "1", 0.33333333333333337),
        ("hello", "hallo", 0.8),
        ("a", "a", 1.0),
        ("ab", "ac", 0.5),
        ("ac", "bc", 0.5),
    ],
)
def test_levenshtein(output: Any, expected: Any, value: float) -> None:
    assert score(Levenshtein(), output, expected).score == value


@pytest.mark.parametrize(
    ("output", "expected", "value"),
    [
        ("hello", "hello", 1),
        ("Hello", "hello", 0),
        ("hello ", "hello", 0),
        (123, "123", 1),
        (1.0, 1, 0),
        (1, True, 0),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, 0),
        ({"a": 1}, '{"a":1}', 1),
        ('{"a":1}', '{"a": 1}', 0),
        ({"a": 1.0}, {"a": 1}, 0),
        ([1, 2], "[1, 2]", 1),
        ([1], "not JSON", 0),
    ],
)
def test_exact_match(output: Any, expected: Any, value: float) -> None:
    assert score(ExactMatch(), output, expected).score == value


@pytest.mark.parametrize(("output", "expected"), [([1], 5), (5, [1]), ([1, 2], (1, 2))])
def test_exact_match_gives_0_where_the_original_raises_type_error(
    output: Any, expected: Any
) -> None:
    assert score(ExactMatch(), output, expected).score == 0


@pytest.mark.parametrize(
    ("output", "expected", "value"),
    [
        (105, 100, 0.975609756097561),
        (100, 99, 0.9949748743718593),
        (100, 50, 0.6666666666666667),
        (42.5, 42.0, 0.9940828402366864),
        (1, 2, 0.6666666666666667),
        (0, 1, 0.0),
        (1e-9, 0, 0.0),
        (-1, 2, 0.0),
        (-5, -5, 1.0),
        (0, 0, 1.0),
        (True, 1, 1.0),
        (Decimal(105), 100, 0.975609756097561),
        (Decimal("0.1"), Decimal("0.1"), 1.0),
    ],
)
def test_numeric_diff(output: Any, expected: Any, value: float) -> None:
    assert score(NumericDiff(), output, expected).score == value


@pytest.mark.parametrize(
    ("output", "expected"), [(NAN, 1), (INF, 1), (INF, INF), (1, NAN), (1, Decimal("sNaN"))]
)
def test_numeric_diff_does_not_score_what_the_original_makes_nan(
    output: Any, expected: Any
) -> None:
    got = score(NumericDiff(), output, expected)
    assert got.status == "unscored"
    assert got.message is not None
    assert got.message.endswith("is not a finite number")


def test_numeric_diff_survives_sums_beyond_the_largest_float() -> None:
    assert score(NumericDiff(), 1e308, -1e308).score == 0.0
    assert score(NumericDiff(), 1.5e308, 0.5e308).score == 0.5


PERSON = {"name": "John Smith", "age": 30, "skills": ["python", "javascript"]}
OTHER_PERSON = {"name": "John A. Smith", "age": 31, "skills": ["python", "typescript"]}


@pytest.mark.parametrize(
    ("output", "expected", "value"),
    [
        ({"a": 1}, {"a": 2}, 0.6666666666666667),
        ({"a": 1}, ["a", 1], 0.5714285714285714),
        ({"a": 1}, {"b": {"a": 1}}, 0.0),
        (PERSON, OTHER_PERSON, 0.8509457755359394),
        (
            {"mapping": {"a": "foo", "b": "bar"}},
            {"mapping": {"a": "Foo", "b": "Bar"}, "Extra": 5},
            0.33333333333333337,
        ),
        ({"x": 1, "y": 2}, {"x": 1, "z": 2}, 0.3333333333333333),
        ("[1, 2]", "[2, 1]", 0.6666666666666667),
        ([1, 2, 3], [1, 2], 0.6666666666666666),
        ([1], [1, 2, 3], 0.3333333333333333),
        ([], {}, 0.0),
        ([], [], 1.0),
        ({}, {"a": None}, 1.0),
        ({"a": True}, {"a": "True"}, 0.5),
        (1, "1", 0.33333333333333337),
        ({"a": '{"b":1}'}, {"a": {"b": 1}}, 1.0),
    ],
)
def test_json_diff(output: Any, expected: Any, value: float) -> None:
    assert score(JSONDiff(), output, expected).score == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(("one", "other", "value"), [(None, None, 1.0), (None, "", 0.0)])
def test_json_diff_of_null(one: Any, other: Any, value: float) -> None:
    assert JSONDiff().compare(one, other).score == value
    assert score(JSONDiff(), {"a": one}, {"a": other}).score == value


def test_json_diff_options() -> None:
    nested = {"a": '{"b":1}'}, {"a": {"b": 1}}
    kept = score(JSONDiff(preserve_strings=True), *nested).score
    assert kept == pytest.approx(0.6363636363636364, rel=1e-12)
    exact = JSONDiff(number_scorer=ExactMatch())
    assert score(exact, {"a": 1}, {"a": 2}).score == 0.0
    assert score(JSONDiff(absent_is_null=False), {}, {"a": None}).score == 0.0


WORDS = ["workspaces", "section", "view", "others", "workspace", "team", "pinning"]


@pytest.mark.parametrize(
    ("output", "expected", "value"),
    [
        (["a"], ["a", "b"], 0.5),
        (["a", "b"], ["a"], 0.5),
        (["python", "java"], ["python", "java", "javascript"], 0.6666666666666666),
        (["apple", "banan"], ["banana", "apple"], 0.9166666666666667),
        (WORDS, ["starred", "multiple different workspaces", "shortcuts"], 0.12182344202048635),
        (("a",), ["a", "b"], 0.5),
        ([], [], 1.0),
        (["a"], [], 0.0),
        ([], ["a"], 0.0),
        ([1, 2], ["1", "3"], 0.5),
    ],
)
def test_list_contains(output: Any, expected: Any, value: float) -> None:
    assert score(ListContains(), output, expected).score == pytest.approx(value, rel=1e-12)


def test_list_contains_options() -> None:
    extras = ListContains(allow_extra_entities=True)
    assert score(extras, ["a", "b"], ["a"]).score == 1.0
    assert score(extras, ["a"], []).score == 0.0
    exact = ListContains(pairwise_scorer=ExactMatch())
    assert score(exact, ["ab", "cd"], ["ab", "ce"]).score == 0.5


@pytest.mark.parametrize(
    ("output", "value"),
    [
        ("1", 0), (1, 0), ("100", 0), (100, 0), ("null", 0), ("true", 0), (True, 0), ('"x"', 0),
        ("", 0),
        ('{ "a": 1 }', 1), ('[{"a":1}]', 1), ({"a": 1}, 1), ([1], 1), ("[NaN]", 1),
        ('{"a":1,"a":2}', 1), ('{"a":1} trailing', 0), ('```json\n{"a":1}\n```', 0),
    ],
)  # fmt: skip
def test_valid_json(output: Any, value: float) -> None:
    assert score(ValidJSON(), output).score == value


def test_valid_json_honours_the_schema_that_the_original_ignores() -> None:
    schema = {"type": "object", "required": ["a"]}
    assert score(ValidJSON(schema=schema), '{"b": 1}').score == 0
    assert score(ValidJSON(schema=schema), '{"a": 1}').score == 1
    assert score(ValidJSON(schema={"type": "integer"}), "4").score == 1


def test_valid_json_never_takes_the_reference_for_a_schema() -> None:
    assert score(ValidJSON(), '{"a": 1}', {"type": "array"}).score == 1


@pytest.mark.parametrize(
    "scorer", [ExactMatch(), Levenshtein(), NumericDiff(), JSONDiff(), ListContains()], ids=repr
)
def test_nothing_is_scored_without_an_answer_or_a_reference(scorer: ComparingScorer) -> None:
    no_answer, no_reference = score(scorer, None, "x"), score(scorer, "x", None)
    assert (no_answer.status, no_answer.message) == ("unscored", "the output has no text")
    assert (no_reference.status, no_reference.message) == (
        "unscored",
        "the example has no reference",
    )


@pytest.mark.parametrize(
    ("scorer", "threshold"),
    [(Levenshtein(), 1.0), (ExactMatch(), 1.0), (NumericDiff(), 0.9), (JSONDiff(), 1.0),
     (ListContains(), 1.0), (ValidJSON(), 1.0)],
    ids=repr,
)  # fmt: skip
def test_thresholds_are_those_of_the_agent_evals_wrappers(
    scorer: ComparingScorer, threshold: float
) -> None:
    assert scorer.criterion.threshold == threshold
