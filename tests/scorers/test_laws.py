"""Laws that hold for every input, however odd."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaltoolkit.models import Example, Output
from evaltoolkit.scorers import (
    BaseScorer,
    Contains,
    ExactMatch,
    JSONDiff,
    LengthBounds,
    Levenshtein,
    ListContains,
    NumericAnswer,
    NumericDiff,
    Refusal,
    ValidJSON,
    find_numbers,
    find_phrase,
    fold_text,
    parse_number,
)

laws = settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
texts = st.text(max_size=30)
finite = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
present_json = json_values.filter(lambda value: value is not None)

ALL: list[BaseScorer] = [
    ExactMatch(),
    ExactMatch(fold=("case", "accents", "punctuation", "whitespace"), ignore_key_order=True),
    Contains(),
    Contains(fold=("punctuation", "accents"), require="all"),
    Levenshtein(),
    NumericDiff(),
    NumericAnswer(),
    NumericAnswer(which="only", decimal=","),
    ValidJSON(),
    ValidJSON({"type": "object"}, allow_fence=True, strict=True),
    JSONDiff(),
    JSONDiff(absent_is_null=False, preserve_strings=True),
    ListContains(),
    ListContains(allow_extra_entities=True),
    LengthBounds(least=2, most=9),
    LengthBounds(most=3, unit="words", graded=True),
    Refusal(),
]

circular: dict[str, Any] = {}
circular["self"] = circular
deep: list[Any] = []
for _ in range(5000):
    deep = [deep]

ODD = [
    None, "", " ", "\x00", "\ud800", math.nan, math.inf, -math.inf, 0, 10**400, "9" * 10_000,
    True, b"bytes", {1, 2}, {1: 2}, (1, 2), object(), 1j, circular, deep, [circular],
    "[" * 5000, '{"a": NaN}', "[1e999]", "-", "1e", ".", "1/0", "\u0661\u0662",
]  # fmt: skip


@pytest.mark.parametrize("scorer", ALL, ids=repr)
def test_every_odd_pair_gets_a_status_and_bounds_hold(scorer: BaseScorer) -> None:
    criterion = scorer.criterion
    for output in ODD:
        for expected in ODD:
            got = scorer.score(Output(text=output), Example(id="1", reference=expected))
            assert got.criterion == criterion.name
            assert got.status in ("scored", "unscored")
            if got.score is None:
                assert got.message
            else:
                assert criterion.beyond(got.score) is None
                assert got.passed is criterion.passes(got.score)
            json.dumps(got.details, allow_nan=False)


@pytest.mark.parametrize("scorer", ALL, ids=repr)
@laws
@given(output=json_values, expected=json_values)
def test_scores_stay_within_their_bounds(
    scorer: BaseScorer, output: object, expected: object
) -> None:
    got = scorer.score(Output(text=output), Example(id="1", reference=expected))
    assert got.score is None or scorer.criterion.beyond(got.score) is None
    assert got.score is None or scorer.criterion.kind != "binary" or got.score in (0.0, 1.0)


@pytest.mark.parametrize("scorer", [ExactMatch(), Levenshtein(), JSONDiff()], ids=repr)
@laws
@given(value=present_json)
def test_a_value_is_like_itself(scorer: BaseScorer, value: object) -> None:
    assert scorer.score(Output(text=value), Example(id="1", reference=value)).score == 1.0


@laws
@given(texts, texts)
def test_levenshtein_is_symmetric(one: str, other: str) -> None:
    scorer = Levenshtein()
    assert scorer.compare(one, other).score == scorer.compare(other, one).score


@laws
@given(texts, texts)
def test_levenshtein_is_1_only_for_equal_texts(one: str, other: str) -> None:
    assert (Levenshtein().compare(one, other).score == 1.0) is (one == other)


@laws
@given(finite, finite)
def test_numeric_diff_is_symmetric_and_bounded(one: float, other: float) -> None:
    scorer = NumericDiff()
    score = scorer.compare(one, other).score
    assert score == scorer.compare(other, one).score
    assert 0.0 <= score <= 1.0


@laws
@given(st.lists(texts, max_size=5), st.randoms(use_true_random=False))
def test_list_contains_ignores_order(items: list[str], random: Any) -> None:
    shuffled = list(items)
    random.shuffle(shuffled)
    assert ListContains().compare(shuffled, items).score == 1.0


@laws
@given(json_values)
def test_all_json_text_is_valid_json(value: object) -> None:
    got = ValidJSON(strict=True).score(Output(text=json.dumps(value)), Example(id="1"))
    assert got.score == float(isinstance(value, dict | list))


@laws
@given(finite)
def test_a_written_number_is_read_back(number: float) -> None:
    assert parse_number(repr(number)) == number
    assert find_numbers(f"it is {number!r}, I think") == [number]


@laws
@given(st.integers(min_value=-(10**12), max_value=10**12))
def test_thousands_separators_are_read(number: int) -> None:
    assert find_numbers(f"total: {number:,}.") == [number]


@laws
@given(texts, st.sets(st.sampled_from(["case", "accents", "punctuation", "whitespace"])))
def test_folding_twice_is_folding_once(text: str, folds: Any) -> None:
    once = fold_text(text, folds)
    if "accents" not in folds or "case" not in folds:
        assert fold_text(once, folds) == once


@laws
@given(texts, texts.filter(bool), texts)
def test_a_phrase_is_found_as_a_piece_where_python_finds_it(
    before: str, phrase: str, after: str
) -> None:
    text = before + phrase + after
    assert find_phrase(text, phrase, whole_words=False) == text.find(phrase)
    assert find_phrase(f"{before} {phrase} {after}", phrase) >= 0 or phrase[0] in "0123456789"
