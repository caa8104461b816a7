"""Waits between tries: their growth, their bounds and what servers ask for."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaltoolkit.clients import Retries
from evaltoolkit.clients.retrying import asked_wait
from evaltoolkit.errors import ScorerError

NOW = datetime(2024, 5, 1, 12, 0, 0, tzinfo=UTC)


@given(
    attempts=st.integers(1, 12),
    first=st.floats(0, 10),
    factor=st.floats(1, 10),
    longest=st.floats(0, 60),
    seed=st.integers(0, 5),
)
def test_waits_grow_within_their_bounds(
    attempts: int, first: float, factor: float, longest: float, seed: int
) -> None:
    retries = Retries(attempts, first, factor, longest, seed)
    waits = list(retries.waits("call"))
    assert len(waits) == attempts - 1
    full = [min(first * factor**n, longest) for n in range(attempts - 1)]
    assert all(top / 2 <= wait <= top for wait, top in zip(waits, full, strict=True))
    assert waits == list(retries.waits("call"))


def test_waits_differ_between_calls_and_seeds() -> None:
    series = {tuple(Retries(seed=seed).waits(call)) for seed in range(3) for call in "abc"}
    assert len(series) == 9


def test_endless_growth_is_bounded() -> None:
    assert list(Retries(attempts=2000, factor=10).waits("x"))[-1] <= 30


@pytest.mark.parametrize(
    "bad",
    [
        {"attempts": 0},
        {"attempts": 2.5},
        {"first_s": "1"},
        {"first_s": -1},
        {"longest_s": float("nan")},
        {"factor": float("inf")},
    ],
)
def test_impossible_retries_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ScorerError, match="cannot be followed"):
        Retries(**bad)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None), ("", None), ("0", 0.0), ("1.5", 1.5), ("120", 120.0), ("-3", None),
        ("inf", None), ("nan", None), ("soon", None),
        ("Wed, 01 May 2024 12:00:30 GMT", 30.0),
        ("Wed, 01 May 2024 11:00:00 GMT", 0.0),
        ("Wed, 01 May 2024 14:00:10 +0200", 10.0),
        ("Wed, 01 May 2024 12:00:05", 5.0),
        ("Wed, 99 May 2024 12:00:30 GMT", None),
    ],
)  # fmt: skip
def test_retry_after(header: str | None, seconds: float | None) -> None:
    assert asked_wait(header, now=NOW) == seconds
