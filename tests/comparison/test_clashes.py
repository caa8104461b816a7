"""Where the mean and the wins point to different systems, the largest losses are named."""

from __future__ import annotations

import pandas as pd
import pytest

import evaltoolkit as et
from tests.comparison.builders import two_systems


@pytest.fixture
def clash() -> pd.DataFrame:
    """The candidate wins 30 times by 0.1 and loses 5 times by 1 and more."""
    new = [0.1] * 30 + [-1.0, -2.5, -1.5, -2.0, -1.0]
    return two_systems([5.0] * 35, [5.0 + d for d in new], criterion="quality", kind="continuous")


def test_the_largest_losses_are_listed(clash: pd.DataFrame) -> None:
    result = et.compare(clash, baseline="old", candidate="new")
    assert "rank evidence points the other way" in result.table.note[0]
    last = result.conclusion().splitlines()[-1]
    assert last == (
        "quality: the mean and the number of wins point to different systems, so look at the "
        "largest losses, of 5: e0031 (−2.50), e0033 (−2.00), e0032 (−1.50)."
    )


def test_lower_is_better_lists_the_largest_rises(clash: pd.DataFrame) -> None:
    flipped = clash.assign(score=10 - clash["score"], higher_is_better=False)
    text = et.compare(flipped, baseline="old", candidate="new").conclusion()
    assert "e0031 (+2.50), e0033 (+2.00), e0032 (+1.50)" in text


def test_pooled_examples_are_named_with_their_task(clash: pd.DataFrame) -> None:
    pooled = clash.assign(task=["a\nb"] * 35 + ["a\nb"] * 35)
    text = et.compare(pooled, baseline="old", candidate="new", tasks="pooled").conclusion()
    assert "a b/e0031 (−2.50)" in text


def test_without_a_clash_nothing_is_added() -> None:
    frame = two_systems([5.0] * 30, [5.1] * 30, kind="continuous")
    text = et.compare(frame, baseline="old", candidate="new").conclusion()
    assert "largest losses" not in text
