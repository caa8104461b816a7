from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from evaltoolkit.errors import ScorerError
from evaltoolkit.models import Criterion, Example, Output, Score
from evaltoolkit.scorers import run_scorer
from evaltoolkit.scorers.adapters.foreign import ForeignScorer, Returned, plain, scores_of
from evaltoolkit.scorers.base import Unmeasurable

HALF = Criterion(name="c", threshold=0.5, lower_bound=0, upper_bound=1)
BARE = Criterion(name="c")


def only(criterion: Criterion, value: object, **more: Any) -> Score:
    score = scores_of(criterion, Returned(value, **more))
    assert isinstance(score, Score)
    return score


@pytest.mark.parametrize(
    ("value", "score", "passed"),
    [
        (1, 1.0, True),
        (0.4, 0.4, False),
        (True, 1.0, True),
        (np.float64(0.5), 0.5, True),
        (np.bool_(False), 0.0, False),
        (Decimal("0.25"), 0.25, False),
    ],
)
def test_numbers_get_the_verdict_of_the_threshold(value: Any, score: float, passed: bool) -> None:
    found = only(HALF, value)
    assert (found.score, found.passed, found.status) == (score, passed, "scored")


def test_without_a_threshold_only_a_boolean_is_a_verdict() -> None:
    assert only(BARE, False).passed is False
    assert only(BARE, 1.0).passed is None


@pytest.mark.parametrize("value", [None, math.nan, np.nan, Decimal("nan")])
def test_none_and_nan_are_unscored_with_the_comment(value: Any) -> None:
    found = only(HALF, value, comment="too vague")
    assert found.status == "unscored"
    assert "too vague" in (found.message or "")


@pytest.mark.parametrize("value", [math.inf, 1.5, -0.1, "0.5", [1], {"score": 1}])
def test_what_is_no_score_is_refused(value: Any) -> None:
    with pytest.raises(ScorerError):
        scores_of(HALF, Returned(value))


def test_several_results_become_parts_and_none_overwrites_another() -> None:
    several = [Returned(1.0, part="a"), Returned(0.0, part="a"), Returned(None, part="b")]
    found = scores_of(HALF, [*several, Returned(0.5)])
    assert isinstance(found, list)
    assert [one.criterion for one in found] == ["c.a", "c.a#2", "c.b", "c.part"]
    assert [one.status for one in found] == ["scored", "scored", "unscored", "scored"]


def test_an_empty_list_is_nothing_measured() -> None:
    with pytest.raises(Unmeasurable):
        scores_of(HALF, [])


def test_details_can_be_stored_whatever_they_hold() -> None:
    @dataclass
    class Inner:
        score: float

        def as_dict(self) -> dict[str, Any]:
            return {"score": self.score}

    deep: list[Any] = []
    deep.append(deep)
    found = plain(
        {1: np.array([1.5, np.nan]), "inner": Inner(math.inf), "deep": deep, "x": "y" * 9999}
    )
    assert found["1"] == [1.5, "nan"]
    assert found["inner"] == {"score": "inf"}
    assert len(found["x"]) == 4000
    assert "..." in str(found["deep"])


def test_an_exception_is_a_scorer_error_of_this_row() -> None:
    class Broken(ForeignScorer):
        def ask(self, output: Output, example: Example, /) -> Returned:
            raise ConnectionError("x" * 5000)

    [score] = run_scorer(Broken(), Output(text="a"), Example(id=1))
    assert score.status == "scorer_error"
    assert (score.message or "").startswith("ConnectionError: xxx")
    assert len(score.message or "") == 300
