from __future__ import annotations

import math
from typing import Any

import pytest

from evaltoolkit.errors import ScorerError
from evaltoolkit.models import Example, Output
from evaltoolkit.scorers import NumericAnswer, NumericDiff, find_numbers, parse_number


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", []),
        ("none at all", []),
        ("42", [42]),
        ("is 42.", [42]),
        ("-42 and +7 and \u22123", [-42, 7, -3]),
        ("1,234,567.89", [1234567.89]),
        ("1,2,3", [1, 2, 3]),
        ("1,2345", [1, 2345]),
        ("12'345 or 12\u202f345", [12345, 12345]),
        ("0.5 .5 -.5", [0.5, 0.5, -0.5]),
        ("1e3 and 2.5E-2", [1000, 0.025]),
        ("3/4 of 8", [0.75, 8]),
        ("5-3=2", [5, 3, 2]),
        ("pages 10-12", [10, 12]),
        ("f(2)-1", [2, 1]),
        ("H2O, GPT4, x_1", [1]),
        ("v1.2.3", []),
        ("1.2.3", [1.2]),
        ("$5, 50% and 3km", [5, 50, 3]),
        ("\\boxed{42}", [42]),
        ("#### 1,200", [1200]),
        ("2e", [2]),
        ("7/0", [math.nan]),
        ("1e9999", [math.inf]),
    ],
)
def test_numbers_in_running_text(text: str, numbers: list[float]) -> None:
    assert find_numbers(text) == pytest.approx(numbers, nan_ok=True)


def test_numbers_with_a_decimal_comma() -> None:
    assert find_numbers("1.234.567,89 und 0,5", decimal=",") == [1234567.89, 0.5]


@pytest.mark.parametrize("text", ["", "x", "1 2", "12 apples", "1,23", "--1", "1..2"])
def test_what_is_more_than_a_number_is_not_parsed(text: str) -> None:
    assert parse_number(text) is None


HOSTILE = ["9" * 10**5, "1," * 50_000, "1,111" * 20_000, "1/" * 50_000, "." * 10**5, "-" * 10**5,
           "1e" * 50_000, "1" + ",111" * 25_000 + "x"]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:6])
def test_no_text_makes_the_number_pattern_run_away(text: str) -> None:
    assert len(find_numbers(text)) <= len(text)
    parse_number(text)


@pytest.mark.parametrize(
    ("answer", "reference", "options", "score"),
    [
        ("5 boxes make 60 eggs.", "60", {}, 1.0),
        ("60, then 61", 60, {}, 0.0),
        ("60, then 61", 60, {"which": "first"}, 1.0),
        ("so it is 1,200 dollars", "... #### 1200", {}, 1.0),
        ("about 3.14", math.pi, {}, 0.0),
        ("about 3.14", math.pi, {"abs_tol": 0.01}, 1.0),
        ("about 3.14", math.pi, {"rel_tol": 0.001}, 1.0),
        ("0.1 + 0.2 = 0.3", 0.1 + 0.2, {}, 1.0),
        ("I do not know", 60, {}, 0.0),
        ("1e9999", 60, {}, 0.0),
        ("7/0", 60, {}, 0.0),
        (60, 60.0, {}, 1.0),
        ("3/4", 0.75, {}, 1.0),
        ("60 = 60", 60, {"which": "only"}, 1.0),
        ("-5", 5, {}, 0.0),
        ("12,5 Liter", "12,5", {"decimal": ","}, 1.0),
    ],
)
def test_numeric_answer(answer: Any, reference: Any, options: Any, score: float) -> None:
    got = NumericAnswer(**options).score(Output(text=answer), Example(id="1", reference=reference))
    assert got.score == score


def test_numeric_answer_says_which_numbers_it_held_together() -> None:
    got = NumericAnswer().score(Output(text="60 or 61"), Example(id="1", reference=60))
    assert got.message == "61 against 60"
    assert got.details == {"found": 61.0, "expected": 60.0}
    assert got.label == "wrong"


@pytest.mark.parametrize(
    ("answer", "reference", "options", "message"),
    [
        ("60", "none", {}, "the reference 'none' holds no number that can be compared"),
        ("60", "1e9999", {}, "the reference '1e9999' holds no number that can be compared"),
        ("60 or 61", "60", {"which": "only"}, "'60 or 61' holds several numbers"),
        (math.nan, 60, {}, "nan is not a finite number"),
    ],
)
def test_numeric_answer_declines(answer: Any, reference: Any, options: Any, message: str) -> None:
    got = NumericAnswer(**options).score(Output(text=answer), Example(id="1", reference=reference))
    assert (got.status, got.message) == ("unscored", message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("about 5", "'about 5' is not a number"),
        ("", "'' is not a number"),
        ([5], "[5] is not a number"),
        ("1e999", "'1e999' is not a finite number"),
    ],
)
def test_numeric_diff_scores_nothing_but_numbers(text: Any, message: str) -> None:
    got = NumericDiff().score(Output(text=text), Example(id="1", reference=5))
    assert (got.status, got.message) == ("unscored", message)


def test_numeric_diff_reads_text_that_is_a_number() -> None:
    got = NumericDiff().score(Output(text=" 1,050 "), Example(id="1", reference="1000"))
    assert got.score == 1 - 50 / 2050
    assert got.passed is True


@pytest.mark.parametrize(
    "make",
    [
        lambda: NumericAnswer(which="middle"),
        lambda: NumericAnswer(rel_tol=-1),
        lambda: NumericAnswer(abs_tol="1"),  # type: ignore[arg-type]
        lambda: NumericAnswer(abs_tol=math.nan),
        lambda: NumericDiff(decimal=";"),
    ],
)
def test_wrong_options_are_refused(make: Any) -> None:
    with pytest.raises(ScorerError, match="it must be"):
        make()
