"""Foreign text becomes harmless, stays recognisable and fits."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltoolkit.plots import style, text

SIZE = 8.0


@given(st.text(max_size=80))
def test_clean_text_is_one_line_without_controls(raw: str) -> None:
    cleaned = text.clean(raw)
    assert cleaned.isprintable() or "\u200c" in cleaned or "\u200d" in cleaned or not cleaned
    assert "\n" not in cleaned
    assert text.clean(cleaned) == cleaned
    cleaned.encode("utf-8")


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=120), st.floats(0.3, 3.0), st.integers(1, 3))
def test_fitted_text_fits(raw: str, width: float, lines: int) -> None:
    fitted = text.fit(text.drawable(raw), width, SIZE, lines=lines)
    assert len(fitted.split("\n")) <= lines
    assert text.width_of(fitted, SIZE) <= width + 0.01


@settings(deadline=None, max_examples=60)
@given(st.text("abcde_. ", min_size=1, max_size=60))
def test_text_that_has_room_is_complete(raw: str) -> None:
    shown = text.drawable(raw)
    fitted = text.fit(shown, 1.0, SIZE, lines=200)
    assert fitted.replace("\n", "").replace(" ", "") == shown.replace(" ", "")


def test_the_end_survives_the_cut() -> None:
    name = "judge." + "very_" * 30 + "long_without_reference"
    fitted = text.fit(name, 1.2, SIZE)
    assert fitted.startswith("judge.")
    assert fitted.endswith("_reference")
    assert "…" in fitted


def test_right_to_left_text_is_isolated_and_only_that() -> None:
    assert text.isolated("accuracy") == "accuracy"
    shown = text.isolated("דיוק")
    assert shown.strip("\u2068\u2069") == "דיוק"


def test_unknown_characters_are_replaced_one_by_one() -> None:
    assert text.drawable("a\ue000b") == "a\ufffdb"
    assert all(ord(char) in text.known_characters() for char in text.drawable("中文 $x_1$ é"))


def test_towers_of_marks_are_cut_down() -> None:
    assert len(text.clean("a" + "\u0301" * 40)) == 3


@pytest.mark.parametrize(
    "colour", [style.BETTER, style.WORSE, style.NEUTRAL, style.BAND_EDGE, style.CANDIDATE_FILL]
)
def test_marks_stand_out_from_white(colour: str) -> None:
    assert style.contrast(colour) >= 3


@pytest.mark.parametrize("colour", [style.INK, style.MUTED])
def test_texts_can_be_read_on_white(colour: str) -> None:
    assert style.contrast(colour) >= 4.5


@pytest.mark.parametrize("count", range(1, 12))
def test_texts_can_be_read_on_every_grade(count: int) -> None:
    for fill in style.grade_colours(count):
        assert style.contrast(fill, style.text_colour_on(fill)) >= 4.5


def test_no_text_is_smaller_than_six_points() -> None:
    assert min(style.BODY, style.SMALL, style.TINY) >= 6
