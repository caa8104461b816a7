"""Whatever a scorer does in a run is a status of its row, as in `score_outputs`."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evaltoolkit.errors import MissingDependencyError
from evaltoolkit.evaluation import evaluate, score_outputs
from evaltoolkit.evaluation.judging_answers import _Batch
from evaltoolkit.models import Criterion, Example, Output, Score
from evaltoolkit.scorers import BaseScorer, ExactMatch, Unmeasurable, Verdict

ITEMS = [Example(id=n, input=f"q{n}", reference=f"A{n}") for n in range(4)]
ANSWERS = {n: f"A{n}" for n in range(4)}


def run(scorers: list[Any], **options: Any) -> Any:
    return evaluate(ITEMS, {"m": ANSWERS}, scorers, progress=False, run_id="r", **options)


def statuses(result: Any) -> list[tuple[Any, ...]]:
    picked = result.scores[["criterion", "score", "passed", "status", "message"]].astype(object)
    return list(picked.where(picked.notna(), None).itertuples(index=False, name=None))


RETURNS: list[tuple[Any, tuple[Any, ...]]] = [
    (None, (None, None, "unscored", "the scorer returned None")),
    (float("nan"), (None, None, "unscored", "the scorer returned NaN")),
    (pd.NA, (None, None, "unscored", "the scorer returned <NA>")),
    (np.float64(0.5), (0.5, None, "scored", None)),
    (np.bool_(False), (0.0, False, "scored", None)),
    ([0.5], (None, None, "scorer_error", "ScorerError: 'f' returned a list with a float")),
    (True, (1.0, True, "scored", None)),
    (0.25, (0.25, None, "scored", None)),
    (float("inf"), (None, None, "scorer_error", "ScorerError: 'f' is inf")),
    ({"score": 1}, (None, None, "scorer_error", "ScorerError: 'f' returned a dict")),
    ("good", (None, None, "scorer_error", "ScorerError: 'f' returned a str")),
    ([], (None, None, "unscored", "the scorer returned an empty list")),
]


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(("returned", "expected"), RETURNS, ids=[repr(r) for r, _ in RETURNS])
def test_strange_returns(returned: Any, expected: tuple[Any, ...], *, is_async: bool) -> None:
    def f(output: Output) -> Any:
        return returned

    async def g(output: Output) -> Any:
        await asyncio.sleep(0)
        return returned

    g.__name__ = "f"
    for row in statuses(run([g if is_async else f])):
        assert row[:4] == ("f", *expected[:3])
        assert row[4] == expected[3] or str(row[4]).startswith(str(expected[3]))


@pytest.mark.parametrize("timeout", [None, 5.0])
def test_sync_and_async_scorers_side_by_side_give_what_score_outputs_gives(
    timeout: float | None,
) -> None:
    def length(output: Output) -> float:
        return float(len(output.text))

    def broken(output: Output) -> float:
        raise ZeroDivisionError("no")

    async def waits(output: Output, expected: str) -> bool:
        await asyncio.sleep(0.001)
        return bool(output.text == expected)

    def waits_sync(output: Output, expected: str) -> bool:
        return bool(output.text == expected)

    waits_sync.__name__ = "waits"
    result = run([length, waits, broken, ExactMatch()], timeout=timeout)
    records = [("m", n, 0, Output(text=text)) for n, text in ANSWERS.items()]
    direct = score_outputs(ITEMS, records, [length, waits_sync, broken, ExactMatch()], run_id="r")
    pd.testing.assert_frame_equal(result.scores.drop(columns="input_digest"), direct)


class TestStuck:
    def test_a_sync_scorer_that_never_returns_holds_up_no_other(self) -> None:
        forever = threading.Event()

        def stuck(output: Output, example_id: str) -> float:
            if example_id in ("1", "2"):
                forever.wait()
            return 1.0

        def after(output: Output) -> float:
            return 1.0

        result = run([stuck, after, ExactMatch()], timeout=0.2)
        forever.set()
        late = ("stuck", None, None, "scorer_error", "TimeoutError: nothing came back within 0.2 s")
        found = statuses(result)
        assert [found[3], found[6]] == [late, late]
        assert sum(row[3] == "scored" for row in found) == 10

    def test_an_async_scorer_that_never_returns(self) -> None:
        async def stuck(output: Output, example_id: str) -> float:
            await asyncio.sleep(60 if example_id == "3" else 0)
            return 1.0

        found = statuses(run([stuck, ExactMatch()], timeout=0.2))
        assert found[6][3:] == ("scorer_error", "TimeoutError: nothing came back within 0.2 s")
        assert [row[3] for row in found].count("scored") == 7

    def test_a_stuck_scorer_is_given_up_when_its_own_time_is_over(self) -> None:
        batch = _Batch([object(), object()])  # type: ignore[list-item]
        batch.done.append([])
        batch._since = time.monotonic() - 6
        assert 3 < batch.seconds_left(10) <= 4
        batch._since = time.monotonic() - 11
        assert batch.seconds_left(10) == 0

    def test_an_async_function_is_called_no_more_often_at_a_time_than_asked_for(self) -> None:
        now = most = 0

        async def counts(output: Output) -> float:
            nonlocal now, most
            now += 1
            most = max(most, now)
            await asyncio.sleep(0)
            now -= 1
            return 1.0

        items = [Example(id=n) for n in range(200)]
        evaluate(items, {"m": dict.fromkeys(range(200), "x")}, [counts], concurrency=3)
        assert most <= 3

    def test_each_call_has_the_whole_time_limit(self) -> None:
        def slow(output: Output) -> float:
            time.sleep(0.15)
            return 1.0

        def slow_again(output: Output) -> float:
            time.sleep(0.15)
            return 1.0

        def slow_once_more(output: Output) -> float:
            time.sleep(0.15)
            return 1.0

        result = run([slow, slow_again, slow_once_more], timeout=0.4)
        assert set(result.scores["status"]) == {"scored"}


class Judge:
    """A whole scorer with an async `score`, parts, and examples that it is not meant for."""

    name = "judge"
    criterion = Criterion(name="judge", kind="continuous")
    parts = (Criterion(name="judge.tone"), Criterion(name="judge.facts"))

    def applies(self, example: Example) -> bool:
        if example.id == "3":
            raise RuntimeError("undecided")
        return example.id != "0"

    async def score(self, output: Output, example: Example) -> list[Score]:
        if example.id == "2":
            raise Unmeasurable("too short")
        return [Score(criterion="tone", score=0.5, details={"why": ["calm"]}),
                Score(criterion="facts", score=1)]  # fmt: skip


def test_async_scorers_of_parts() -> None:
    result = run([Judge()])
    assert [row[:2] + row[3:] for row in statuses(result)] == [
        ("judge.tone", 0.5, "scored", None),
        ("judge.facts", 1.0, "scored", None),
        ("judge.tone", None, "unscored", "too short"),
        ("judge.facts", None, "unscored", "too short"),
        ("judge.tone", None, "scorer_error", "RuntimeError: undecided"),
        ("judge.facts", None, "scorer_error", "RuntimeError: undecided"),
    ]
    assert result.details["details"].tolist() == ['{"why": ["calm"]}']
    assert result.details["criterion"].tolist() == ["judge.tone"]


def test_exits_and_nameless_exceptions_of_scorers_are_rows() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError

    def leaves(output: Output) -> float:
        raise SystemExit(1)

    def mute(output: Output) -> float:
        raise Mute

    async def leaves_async(output: Output) -> float:
        raise SystemExit(2)

    found = statuses(run([leaves, mute, leaves_async]))[:3]
    assert [row[3:] for row in found] == [
        ("scorer_error", "SystemExit: 1"),
        ("scorer_error", "Mute"),
        ("scorer_error", "SystemExit: 2"),
    ]


def test_details_that_are_no_json_are_an_error_of_the_scorer() -> None:
    circular: dict[str, Any] = {}
    circular["self"] = circular

    def boasts(output: Output) -> Score:
        return Score(criterion="boasts", score=1, details=circular)

    assert {row[3] for row in statuses(run([boasts]))} == {"scorer_error"}


class NeedsPackage(BaseScorer):
    def measure(self, output: Output, example: Example, /) -> Verdict:
        raise MissingDependencyError("nothing", extra="scorers", purpose="NeedsPackage")


@pytest.mark.parametrize("timeout", [None, 5.0])
def test_a_missing_package_ends_the_run_at_once(timeout: float | None) -> None:
    with pytest.raises(MissingDependencyError, match="evaltoolkit\\[scorers\\]"):
        run([ExactMatch(), NeedsPackage()], timeout=timeout)


def test_where_no_scorer_is_meant_for_an_example_there_is_no_row() -> None:
    result = run([Judge()])
    assert "0" not in set(result.scores["example_id"])
    assert len(result.outputs) == 4
