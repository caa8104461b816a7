from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltoolkit.errors import SchemaError
from evaltoolkit.scorers import brier_score, calibrate_confidences

claims = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30)


def test_by_hand() -> None:
    got = calibrate_confidences([1.0, 0.8, 0.8, 0.0, 0.1], [True, True, False, False, True])
    losses = [0, 0.04, 0.64, 0, 0.81]
    assert got.brier == pytest.approx(sum(losses) / 5)
    assert got.brier_constant == pytest.approx(0.6 * 0.4)
    # bins (0, .1], (.7, .8], (.9, 1]; 0 belongs to the first
    assert got.table["n"].tolist() == [2, 2, 1]
    assert got.table["bin_high"].tolist() == [0.1, 0.8, 1.0]
    assert got.table["n_correct"].tolist() == [1, 1, 1]
    assert got.table["gap"].tolist() == pytest.approx([0.05 - 0.5, 0.8 - 0.5, 0.0])
    assert got.ece == pytest.approx((2 * 0.45 + 2 * 0.3) / 5)


def test_no_claim_gives_no_number() -> None:
    got = calibrate_confidences([], [])
    assert all(math.isnan(value) for value in (got.brier, got.brier_constant, got.ece))
    assert (got.n, len(got.table)) == (0, 0)
    assert brier_score([]) is None


def test_one_claim() -> None:
    got = calibrate_confidences([0.7], [True], bins=1)
    assert got.brier == pytest.approx(0.09)
    assert got.ece == pytest.approx(0.3)


def test_confidences_below_0_are_no_probabilities() -> None:
    got = calibrate_confidences([-0.5, 0.5], [False, True])
    assert (got.n, got.n_left_out, got.brier) == (1, 1, 0.25)
    scaled = calibrate_confidences([-1.0, 1.0], [False, True], negative="rescale")
    assert (scaled.n, scaled.n_left_out, scaled.brier) == (2, 0, 0.0)


@given(claims, st.integers(1, 20))
@settings(max_examples=60, deadline=None)
def test_laws(made: list[tuple[float, bool]], bins: int) -> None:
    stated, right = [c for c, _ in made], [r for _, r in made]
    got = calibrate_confidences(stated, right, bins=bins)
    assert got.table["n"].sum() == len(made)
    assert got.table["n_correct"].sum() == sum(right)
    assert 0 <= got.ece <= 1
    assert got.brier == pytest.approx(brier_score(made))
    table = got.table
    assert (table["bin_low"] <= table["mean_confidence"] + 1e-12).all()
    assert (table["mean_confidence"] <= table["bin_high"] + 1e-12).all()
    order = np.random.default_rng(1).permutation(len(made))
    again = calibrate_confidences([stated[i] for i in order], [right[i] for i in order], bins=bins)
    assert again.brier == pytest.approx(got.brier)
    assert again.ece == pytest.approx(got.ece)


@given(claims)
def test_the_ends_of_the_brier_score(made: list[tuple[float, bool]]) -> None:
    assert brier_score([(float(right), right) for _, right in made]) == 0
    assert brier_score([(float(not right), right) for _, right in made]) == 1


@pytest.mark.parametrize(
    ("confidences", "correct", "options"),
    [
        ([0.5], [], {}),
        ([1.5], [True], {}),
        ([math.nan], [True], {}),
        ([0.5], [True], {"bins": 0}),
        ([0.5], [True], {"bins": True}),
        ([0.5], [True], {"bins": 2.5}),
        ([0.5], [True], {"negative": "drop"}),
    ],
)
def test_wrong_input(confidences: Any, correct: Any, options: dict[str, Any]) -> None:
    with pytest.raises(SchemaError):
        calibrate_confidences(confidences, correct, **options)


@pytest.mark.parametrize("bad", [0.5, 2, None, "yes"])
def test_a_verdict_is_true_or_false(bad: Any) -> None:
    with pytest.raises(SchemaError, match="a verdict is"):
        calibrate_confidences([0.5], [bad])
    assert calibrate_confidences([0.5, 0.5], np.array([True, False])).brier == 0.25  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", ["0.5", None, math.nan, 1.1])
def test_a_confidence_is_a_number(bad: Any) -> None:
    with pytest.raises(SchemaError, match="a confidence is"):
        calibrate_confidences([bad], [True])
