from __future__ import annotations

import re
from typing import Any

import pytest

from evaltoolkit.errors import MissingDependencyError, ScorerError
from evaltoolkit.models import Example, Output
from evaltoolkit.scorers import (
    REFUSAL_PHRASES,
    Contains,
    ExactMatch,
    LengthBounds,
    Levenshtein,
    Refusal,
    find_phrase,
    fold_text,
)

ALL_FOLDS = ("case", "accents", "punctuation", "whitespace")


def contains(text: str, reference: Any, **options: Any) -> float | None:
    scorer = Contains(**options)
    return scorer.score(Output(text=text), Example(id="1", reference=reference)).score


@pytest.mark.parametrize(
    ("text", "phrase", "found"),
    [
        ("14", "4", False),
        ("41", "4", False),
        ("4", "4", True),
        ("it is 4.", "4", True),
        ("it is 4, not 5", "4", True),
        ("4.5", "4", False),
        ("3.4", "4", False),
        ("1,400", "400", False),
        ("400,000", "400", False),
        ("-4", "4", False),
        ("x = \u22124", "4", False),
        ("-4", "-4", True),
        ("pages 2-4", "4", True),
        ("$4", "4", True),
        ("4%", "4", True),
        ("14 or 4", "4", True),
        ("scatter", "cat", False),
        ("a cat!", "cat", True),
        ("cat_food", "cat", False),
        ("C++ and C", "C++", True),
        ("I live in 東京都", "東京", True),
        ("答えは4です", "4", True),
        ("naïve", "na", False),
        ("हिन्दी", "हिन्द", False),
    ],
)
def test_only_whole_words_and_numbers_are_found(text: str, phrase: str, found: bool) -> None:
    assert (find_phrase(text, phrase) >= 0) is found


def test_pieces_count_on_request() -> None:
    assert contains("14", "4", whole_words=False) == 1.0


def test_contains_takes_any_or_all_of_several_phrases() -> None:
    several = ["Paris", "capital of France"]
    assert contains("PARIS!", several) == 1.0
    assert contains("PARIS!", several, require="all") == 0.0
    assert contains("Paris is the capital  of\nFrance", several, require="all") == 1.0
    assert contains("Rome", several) == 0.0
    assert contains("Rome, of course", None, phrases="rome") == 1.0


def test_contains_says_what_it_missed() -> None:
    got = Contains().score(Output(text="Rome"), Example(id="1", reference=["Paris", "Lutetia"]))
    assert got.message == "not found: 'Paris', 'Lutetia'"
    assert got.details == {"found": [], "missing": ["Paris", "Lutetia"]}


@pytest.mark.parametrize("empty", ["", "  ", [], ["Paris", ""]])
def test_an_empty_phrase_is_in_no_text(empty: Any) -> None:
    got = Contains().score(Output(text="Paris"), Example(id="1", reference=empty))
    assert got.status == "unscored"
    assert got.message is not None
    assert "empty" in got.message


@pytest.mark.parametrize(
    ("text", "folds", "folded"),
    [
        ("Straße", ("case",), "strasse"),
        ("CAFÉ", ("accents",), "CAFE"),
        ("cafe\u0301", ("accents",), "cafe"),
        ("हिन्दी", ("accents",), "हिन्दी"),
        ("\tone \n two ", ("whitespace",), "one two"),
        ("Don't, \u201cstop\u201d", ("punctuation", "whitespace"), "Dont stop"),
        ("the U.S.A.", ("punctuation", "whitespace"), "the USA"),
        ("-3.50 1,000 .5", ("punctuation", "whitespace"), "-3.50 1,000 .5"),
        ("well-known", ("punctuation", "whitespace"), "well known"),
        ("  ÉTÉ, 1.5!", ALL_FOLDS, "ete 1.5"),
    ],
)
def test_folding(text: str, folds: Any, folded: str) -> None:
    assert fold_text(text, folds) == folded


def test_folding_makes_exact_match_tolerant() -> None:
    example = Example(id="1", reference="café noir")
    assert ExactMatch().score(Output(text="Café  noir."), example).score == 0.0
    assert ExactMatch(fold=ALL_FOLDS).score(Output(text="Cafe  noir."), example).score == 1.0


def test_exact_match_can_ignore_the_order_of_keys() -> None:
    example = Example(id="1", reference={"b": 2, "a": {"d": 1, "c": 2}})
    output = Output(text='{"a": {"c": 2, "d": 1}, "b": 2}')
    assert ExactMatch().score(output, example).score == 0.0
    assert ExactMatch(ignore_key_order=True).score(output, example).score == 1.0


@pytest.mark.parametrize("fold", [("cases",), "upper", ["case", "spaces"]])
def test_unknown_foldings_are_refused(fold: Any) -> None:
    with pytest.raises(ScorerError, match="it may hold 'case', 'accents'"):
        ExactMatch(fold=fold)


def test_levenshtein_explains_itself_and_takes_a_threshold() -> None:
    example = Example(id="1", reference="kitten")
    got = Levenshtein(threshold=0.5).score(Output(text="sitting"), example)
    assert got.passed is True
    assert got.message == "3 edit(s) in 7 characters"
    assert Levenshtein(threshold=None).score(Output(text="sitting"), example).passed is None
    assert Levenshtein(fold="case").score(Output(text="KITTEN"), example).score == 1.0  # type: ignore[arg-type]


def test_levenshtein_does_not_start_on_huge_texts() -> None:
    got = Levenshtein(max_chars=10).score(Output(text="x" * 11), Example(id="1", reference="x"))
    assert got.status == "unscored"
    assert got.message == "the text has 11 characters; at most 10 are compared"


def test_a_missing_package_is_told_when_the_scorer_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'evaltoolkit\[scorers\]'"):
        Levenshtein()


@pytest.mark.parametrize(
    ("text", "options", "score"),
    [
        ("abc", {"least": 3}, 1.0),
        ("ab", {"least": 3}, 0.0),
        ("abc", {"most": 3}, 1.0),
        ("abcd", {"most": 3}, 0.0),
        ("ab", {"least": 4, "graded": True}, 0.5),
        ("abcd", {"most": 3, "graded": True}, 0.75),
        ("abcd", {"most": 0, "graded": True}, 0.0),
        ("", {"least": 1, "graded": True}, 0.0),
        ("one  two\nthree", {"least": 3, "most": 3, "unit": "words"}, 1.0),
        ("", {"most": 0}, 1.0),
    ],
)
def test_length_bounds(text: str, options: Any, score: float) -> None:
    assert LengthBounds(**options).score(Output(text=text), Example(id="1")).score == score


def test_length_bounds_are_binary_unless_graded() -> None:
    assert LengthBounds(most=1).criterion.kind == "binary"
    assert LengthBounds(most=1, graded=True).criterion.kind == "continuous"


@pytest.mark.parametrize("options", [{}, {"least": -1}, {"least": 3, "most": 2}])
def test_impossible_length_bounds_are_refused(options: Any) -> None:
    with pytest.raises(ScorerError, match="least is"):
        LengthBounds(**options)


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I\u2019m sorry but I cannot assist with this request.",
        "I cannot  comply\nwith that.",
        "As an AI language model, I don't have opinions.",
        "I am unable to answer.",
        "I must decline.",
        "Unfortunately, I won't provide that.",
        "",
        "  \n",
    ],
)
def test_refusals(text: str) -> None:
    got = Refusal().score(Output(text=text), Example(id="1"))
    assert (got.score, got.passed, got.label) == (1.0, False, "refused")


@pytest.mark.parametrize(
    "text", ["Paris.", "I can help.", "I'm sorry to hear that. Try this:", "The model refused."]
)
def test_answers(text: str) -> None:
    got = Refusal().score(Output(text=text), Example(id="1"))
    assert (got.score, got.passed, got.label) == (0.0, True, "answered")


def test_refusal_options() -> None:
    example = Example(id="1")
    assert Refusal().score(Output(text="Sure", refusal=True), example).score == 1.0
    assert Refusal().score(Output(refusal="policy"), example).score == 1.0
    assert Refusal().score(Output(), example).status == "unscored"
    assert Refusal(empty_counts=False).score(Output(text=""), example).score == 0.0
    late = "Here is the answer. " * 30 + "I cannot help further."
    assert Refusal().score(Output(text=late), example).score == 0.0
    german = Refusal(patterns=[r"\bich kann (?:dabei )?nicht\b", re.compile("Nein")])
    assert german.score(Output(text="Das kann ich. Ich kann nicht."), example).score == 1.0
    assert german.score(Output(text="nein"), example).score == 0.0
    alone = Refusal(patterns=re.compile("Nein"))
    assert alone.score(Output(text="Nein!"), example).score == 1.0
    assert Refusal().criterion.higher_is_better is False


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Refusal(patterns=["("]), "no regular expression"),
        (lambda: Contains(require="some"), "it must be 'any' or 'all'"),
        (lambda: LengthBounds(most=1, unit="lines"), "it must be 'chars' or 'words'"),
        (lambda: LengthBounds(most=2.5), "most is 2.5; it must be a whole number"),
        (lambda: LengthBounds(least="3"), "least is '3'; it must be a whole number"),
        (lambda: Refusal(window="all"), "window is 'all'; it must be a whole number"),
        (lambda: Refusal(patterns=[3]), "patterns holds 3, which is no regular expression"),
        (lambda: Contains(phrases=3), "phrases is 3; it must be a text or a list of texts"),
        (lambda: ExactMatch(fold=None), "fold is None; it must be a list of 'case'"),
        (lambda: ExactMatch(fold=[["case"]]), "it may hold 'case', 'accents'"),
    ],
)
def test_wrong_options_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ScorerError, match=message):
        make()


HOSTILE = ["i" * 10**5, "i am " * 20_000, "'" * 10**5, " " * 10**5, "i'm sorry," * 10_000]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:6])
def test_no_text_makes_the_patterns_run_away(text: str) -> None:
    for phrase in REFUSAL_PHRASES:
        assert re.search(phrase, text) is None
    assert contains(text, "4", fold=ALL_FOLDS) == 0.0
