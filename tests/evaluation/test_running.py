"""Systems of every form are run, scored and brought into tables in the order of the examples."""

from __future__ import annotations

import asyncio
import functools
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evaltoolkit as et
from evaltoolkit.errors import (
    EvalToolkitError,
    EvalToolkitWarning,
    PairingError,
    SchemaError,
    ScorerError,
)
from evaltoolkit.evaluation import evaluate, evaluate_async, score_outputs
from evaltoolkit.evaluation.threads import Threads
from evaltoolkit.models import Example, Output, Score
from evaltoolkit.scorers import Contains, ExactMatch, Levenshtein

ITEMS = [
    Example(id=n, input=f"q{n}", reference=f"A{n}", attributes={"even": n % 2 == 0})
    for n in range(6)
]


def right(text: str) -> str:
    return text.replace("q", "A")


def rows(table: pd.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    picked = table[list(columns)].astype(object)
    return list(picked.where(picked.notna(), None).itertuples(index=False, name=None))


def run(systems: object, scorers: Any = None, **options: Any) -> Any:
    given = [ExactMatch()] if scorers is None else scorers
    return evaluate(ITEMS, systems, given, progress=False, **options)


class TestSystems:
    def test_a_function_of_the_input(self) -> None:
        assert run({"m": right}).scores["score"].tolist() == [1.0] * 6

    @pytest.mark.parametrize("form", ["async", "object", "partial", "lambda", "returns coroutine"])
    def test_every_sort_of_callable(self, form: str) -> None:
        async def slow(text: str) -> str:
            await asyncio.sleep(0)
            return right(text)

        class Model:
            async def __call__(self, text: str) -> str:
                return right(text)

        forms = {
            "async": slow,
            "object": Model(),
            "partial": functools.partial(slow),
            "lambda": lambda text: right(text),
            "returns coroutine": lambda text: slow(text),
        }
        result = run({"m": forms[form]})
        assert result.scores["score"].tolist() == [1.0] * 6

    def test_a_function_that_wants_the_example_gets_it(self) -> None:
        def annotated(item: Example) -> str:
            return f"A{item.id}"

        def named(example) -> str:  # type: ignore[no-untyped-def]  # noqa: ANN001
            return f"A{example.id}"

        async def by_keyword(text: str, *, example: Example, trial: int, extra: int = 3) -> str:
            assert (trial, extra) == (0, 3)
            return f"A{example.id}"

        result = run({"annotated": annotated, "named": named, "keyword": by_keyword})
        assert set(result.scores["score"]) == {1.0}

    def test_a_function_that_asks_for_something_else_is_refused_before_the_first_call(self) -> None:
        def strange(text: str, temprature: float) -> str:
            raise AssertionError

        with pytest.raises(ScorerError, match="asks for 'temprature'") as caught:
            run({"m": strange})
        assert caught.value.code == "unknown_argument"
        with pytest.raises(ScorerError, match="asks for nothing"):
            run({"m": lambda: "x"})

    def test_builtins_that_hide_their_signature_get_the_input(self) -> None:
        result = evaluate(
            [Example(id=1, input={"a": 1}, reference="1")], {"m": dict}, [ExactMatch()]
        )
        assert rows(result.outputs, "output") == [('{"a": 1}',)]

    def test_structured_answers_and_outputs_are_kept(self) -> None:
        answers = iter(["x", {"a": [1]}, 3, None, Output(text="t", tokens_in=4, latency_s=2.5), ""])
        result = run({"m": lambda _: next(answers)}, concurrency=1)
        assert rows(result.outputs, "output") == [
            ("x",), ('{"a": [1]}',), ("3",), (None,), ("t",), ("",),
        ]  # fmt: skip
        assert rows(result.outputs, "tokens_in", "error")[4] == (4.0, None)
        assert result.outputs["latency_s"].iloc[4] == 2.5
        assert result.outputs["latency_s"].iloc[0] >= 0
        assert rows(result.scores, "status", "message")[3] == ("unscored", "the output has no text")

    def test_a_system_cannot_change_what_the_next_one_is_asked(self) -> None:
        def greedy(messages: list[str]) -> str:
            messages.append("more")
            return str(len(messages))

        def whole(example: Example) -> str:
            example.input.append("more")
            return str(len(example.input))

        item = Example(id=1, input=["one"], reference="2")
        result = evaluate([item], {"a": greedy, "b": whole}, [ExactMatch()], trials=3)
        assert set(result.outputs["output"]) == {"2"}
        assert item.input == ["one"]

    def test_recorded_answers_are_scored_like_by_score_outputs(self) -> None:
        answers = {n: f"A{n % 4}" for n in range(6)}
        by_mapping = run({"m": answers}, run_id="r").scores
        table = pd.DataFrame({"example_id": list(answers), "output": list(answers.values())})
        by_table = run({"m": table}, run_id="r").scores
        several = run(table.assign(system="m"), run_id="r").scores
        records = [("m", n, 0, Output(text=text)) for n, text in answers.items()]
        direct = score_outputs(ITEMS, records, [ExactMatch()], run_id="r")
        for scores in (by_mapping, by_table, several, run({"m": records}, run_id="r").scores):
            pd.testing.assert_frame_equal(scores.drop(columns="input_digest"), direct)

    def test_recorded_trials_and_gaps(self) -> None:
        result = run({"m": {0: [Output(text="A0"), Output(text="x")], ("", 1): "A1"}}, trials=5)
        assert rows(result.scores, "example_id", "trial", "score") == [
            ("0", 0, 1.0), ("0", 1, 0.0), ("1", 0, 1.0),
        ]  # fmt: skip
        assert "4 examples of 6 without a recorded answer" in result.warnings[0]

    @pytest.mark.parametrize(
        ("systems", "error", "words"),
        [
            ({}, SchemaError, "systems is empty"),
            ("m", SchemaError, "systems is a str"),
            ({"m": 3}, SchemaError, "'m' is a int"),
            ({"": right}, SchemaError, "empty name"),
            ({1: right, "1": right}, SchemaError, "more than once"),
            ({"m": {}}, SchemaError, "nothing is recorded"),
            ({"m": {77: "x"}}, PairingError, "belong to no example"),
            (pd.DataFrame({"example_id": [1], "output": ["x"]}), SchemaError, "names no system"),
        ],
    )
    def test_what_cannot_be_run_is_refused(
        self, systems: object, error: type[Exception], words: str
    ) -> None:
        with pytest.raises(error, match=words):
            run(systems)


class TestWhatGoesWrong:
    def test_an_exception_is_a_row(self) -> None:
        def fails(text: str) -> str:
            if text == "q2":
                raise LookupError("no such thing")
            return right(text)

        result = run({"m": fails}, [ExactMatch(), Contains()])
        assert rows(result.scores, "status")[:4] == [("scored",)] * 4
        bad = result.scores[result.scores["example_id"] == "2"]
        message = "LookupError: no such thing"
        assert rows(bad, "criterion", "status", "message") == [
            ("ExactMatch", "system_error", message), ("Contains", "system_error", message),
        ]  # fmt: skip
        assert result.outputs["error"].dropna().tolist() == [message]
        assert result.failures.to_dict("records") == [
            {"system": "m", "n_answers": 6, "successful": 5, "failed": 1}
        ]

    def test_nothing_that_a_system_does_stops_the_run(self) -> None:
        class Mute(Exception):
            def __str__(self) -> str:
                raise ValueError

        circular: list[Any] = []
        circular.append(circular)
        answers: dict[str, Any] = {
            "q0": lambda: (_ for _ in ()).throw(SystemExit(3)),
            "q1": lambda: object(),
            "q2": lambda: (_ for _ in ()).throw(Mute()),
            "q3": lambda: circular,
            "q4": lambda: "\ud83d half a character",
            "q5": lambda: Output(text={"set": {1}}, rounds=[[object()]]),
        }
        result = run({"m": lambda text: answers[text]()})
        assert rows(result.outputs, "error")[:3] == [
            ("SystemExit: 3",),
            ("SchemaError: the system returned a object; return a text, a JSON value or an "
             "Output(text=...)",),
            ("Mute",),
        ]  # fmt: skip
        texts = [text for (text,) in rows(result.outputs, "output")[3:]]
        assert texts == ['["<circular>"]', "\\ud83d half a character", '{"set": [1]}']
        assert result.outputs["tool_calls"].iloc[5] == '[["<object object>"]]'

    def test_an_async_system_that_cancels_itself_is_a_row(self) -> None:
        async def gives_up(text: str) -> str:
            raise asyncio.CancelledError

        for timeout in (None, 5):
            result = run({"m": gives_up}, timeout=timeout)
            assert set(result.scores["message"]) == {"CancelledError"}

    @pytest.mark.parametrize("error", [KeyboardInterrupt, type("Stop", (BaseException,), {})])
    @pytest.mark.parametrize("timeout", [None, 5])
    def test_an_async_system_that_raises_no_exception_but_a_stop_is_a_row(
        self, error: type[BaseException], timeout: float | None
    ) -> None:
        async def stops(text: str) -> str:
            raise error

        result = run({"m": stops}, timeout=timeout)
        assert set(result.scores["message"]) == {error.__name__}

    def test_a_sync_system_that_never_returns(self) -> None:
        forever = threading.Event()

        def stuck(text: str) -> str:
            if text == "q1":
                forever.wait()
            return right(text)

        result = run({"m": stuck}, timeout=0.2, concurrency=2)
        forever.set()
        assert rows(result.scores, "status").count(("scored",)) == 5
        assert rows(result.scores, "status", "message")[1] == (
            "system_error", "TimeoutError: nothing came back within 0.2 s",
        )  # fmt: skip
        assert result.warnings[0].startswith("1 call did not come back within 0.2 s")

    def test_an_async_system_that_never_returns_even_when_cancelled(self) -> None:
        async def stuck(text: str) -> str:
            while text == "q1":
                try:
                    await asyncio.sleep(30)
                except asyncio.CancelledError:
                    continue
            return right(text)

        start = time.monotonic()
        result = run({"m": stuck}, timeout=0.2)
        assert time.monotonic() - start < 20
        assert rows(result.scores, "status")[1] == ("system_error",)

    def test_a_huge_error_is_cut_in_the_score_table_only(self) -> None:
        def fails(text: str) -> str:
            raise ValueError("x" * 100_000)

        result = run({"m": fails})
        assert result.scores["message"].str.len().max() == 2_000
        assert result.outputs["error"].str.len().min() > 100_000

    def test_where_the_machine_gives_no_thread_the_rows_say_so(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuses(self: Threads) -> None:
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr(Threads, "_start", refuses)
        result = run({"m": right, "n": {0: "A0"}})
        assert set(result.scores["status"]) == {"system_error", "scorer_error"}
        assert set(result.scores["message"]) == {"RuntimeError: can't start new thread"}


class TestOrderAndTrials:
    def test_rows_are_in_the_order_of_the_examples_whatever_ends_first(self) -> None:
        async def later_ones_first(text: str) -> str:
            await asyncio.sleep(0.02 * (6 - int(text[1:])))
            return right(text)

        result = run({"b": later_ones_first, "a": right}, [ExactMatch(), Contains()], trials=2)
        expected = [
            (str(n), system, trial, criterion)
            for n in range(6)
            for system in ("b", "a")
            for trial in (0, 1)
            for criterion in ("ExactMatch", "Contains")
        ]
        assert rows(result.scores, "example_id", "system", "trial", "criterion") == expected
        assert rows(result.outputs, "example_id", "system", "trial") == list(
            dict.fromkeys(place[:3] for place in expected)
        )

    def test_the_same_numbers_however_many_at_a_time(self) -> None:
        systems = {"m": right, "n": lambda text: text}
        one = run(systems, [ExactMatch(), Levenshtein()], concurrency=1)
        many = run(systems, [ExactMatch(), Levenshtein()], concurrency=32, timeout=10)
        pd.testing.assert_frame_equal(one.scores, many.scores)
        pd.testing.assert_frame_equal(one.details, many.details)

    def test_never_more_at_a_time_than_asked_for_and_sync_ones_do_overlap(self) -> None:
        lock, now, most = threading.Lock(), 0, 0
        meet = threading.Barrier(3, timeout=10)

        def counts(text: str) -> str:
            nonlocal now, most
            with lock:
                now += 1
                most = max(most, now)
            meet.wait()
            with lock:
                now -= 1
            return text

        run({"m": counts}, concurrency=3)
        assert most == 3

    def test_a_blocking_system_does_not_block_the_loop(self) -> None:
        ticks = 0

        async def main() -> None:
            async def tick() -> None:
                nonlocal ticks
                while True:
                    await asyncio.sleep(0.01)
                    ticks += 1

            beside = asyncio.create_task(tick())

            def blocks(text: str) -> str:
                time.sleep(0.2)
                return text

            await evaluate_async(ITEMS[:1], {"m": blocks}, [ExactMatch()], progress=False)
            beside.cancel()

        asyncio.run(main())
        assert ticks >= 5

    def test_it_works_where_a_loop_runs_already(self) -> None:
        async def notebook() -> int:
            return len(run({"m": right}).scores)

        assert asyncio.run(notebook()) == 6


class TestCacheAndProgress:
    def test_a_second_run_from_the_cache_makes_no_call_but_errors_are_tried_again(
        self, tmp_path: Path
    ) -> None:
        calls: list[str] = []

        def counts(text: str) -> Output:
            calls.append(text)
            if text == "q5":
                raise OSError("busy")
            return Output(text=right(text), tokens_in=3)

        path = tmp_path / "calls.sqlite"
        first = run({"m": counts}, cache=path, run_id="one")
        assert sorted(calls) == ["q0", "q1", "q2", "q3", "q4", "q5"]
        second = run({"m": counts}, cache=path, run_id="one")
        assert calls[6:] == ["q5"]
        pd.testing.assert_frame_equal(first.outputs, second.outputs)
        run({"other": counts}, cache=path)
        assert len(calls) == 13

    def test_a_corrected_reference_asks_nothing_again_but_another_input_does(
        self, tmp_path: Path
    ) -> None:
        calls: list[str] = []

        def counts(text: str) -> str:
            calls.append(text)
            return "a"

        def sees_all(example: Example) -> str:
            calls.append(f"whole {example.id}")
            return "a"

        def ask(item: Example) -> None:
            systems = {"input": counts, "whole": sees_all}
            evaluate([item], systems, [ExactMatch()], cache=tmp_path / "c.sqlite", progress=False)

        ask(Example(id="1", input="q", reference="b"))
        ask(Example(id="1", input="q", reference="a"))
        assert sorted(calls) == ["q", "whole 1", "whole 1"]
        calls.clear()
        ask(Example(id="1", input="p", reference="a"))
        ask(Example(id="2", input="p", reference="a"))
        assert sorted(calls) == ["p", "p", "whole 1", "whole 2"]

    def test_progress_is_told_before_the_async_form_returns(self) -> None:
        async def main() -> list[tuple[int, int]]:
            told: list[tuple[int, int]] = []
            await evaluate_async(
                ITEMS, {"m": right}, [ExactMatch()], progress=lambda *at: told.append(at)
            )
            return list(told)

        assert asyncio.run(main())[-1] == (6, 6)

    def test_progress_that_cannot_be_shown_does_not_end_the_run(self) -> None:
        def fails(done: int, total: int) -> None:
            raise OSError("screen is gone")

        with pytest.warns(EvalToolkitWarning, match="screen is gone") as caught:
            result = evaluate(ITEMS, {"m": right}, [ExactMatch()], progress=fails)
        assert len(caught) == 1
        assert result.scores["score"].tolist() == [1.0] * 6

    def test_progress_is_told(self) -> None:
        told: list[tuple[int, int]] = []
        evaluate(ITEMS, {"m": right}, [ExactMatch()], progress=lambda *at: told.append(at))
        assert told[-1] == (6, 6)
        assert told == sorted(told)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"trials": 0}, "trials is 0; it must be a whole number from 1"),
        ({"trials": True}, "trials is True"),
        ({"concurrency": 1.5}, "concurrency is 1.5"),
        ({"timeout": 0}, "timeout is 0; it must be a number of seconds above 0"),
        ({"timeout": float("inf")}, "timeout is inf"),
        ({"run_id": "../up"}, "run_id is '../up'"),
        ({"run_id": ".."}, "run_id is '..'"),
        ({"run_id": ""}, "run_id is ''"),
        ({"progress": "yes"}, "progress is 'yes'"),
        ({"cache": 7}, "cache is 7"),
        ({"folder": 7}, "folder is 7; it must be the path of a folder"),
    ],
)
def test_choices_out_of_range_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(EvalToolkitError, match=words.replace("..", r"\.\.")):
        evaluate(ITEMS, {"m": right}, [ExactMatch()], **options)


def test_no_example_no_scorer_and_strange_ones_are_refused() -> None:
    with pytest.raises(SchemaError, match="no example to run"):
        evaluate([], {"m": right}, [ExactMatch()])
    with pytest.raises(ScorerError, match="no scorer"):
        evaluate(ITEMS, {"m": right}, [])
    with pytest.raises(SchemaError, match=r"examples\[1\] is a dict"):
        evaluate([ITEMS[0], {"id": 1}], {"m": right}, [ExactMatch()])  # type: ignore[list-item]
    with pytest.raises(EvalToolkitError, match="scorers is a ExactMatch; give a list"):
        evaluate(ITEMS, {"m": right}, ExactMatch())  # type: ignore[arg-type]
    with pytest.raises(EvalToolkitError, match="examples is a Example; give a list"):
        evaluate(ITEMS[0], {"m": right}, [ExactMatch()])  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="occur more than once"):
        evaluate([ITEMS[0], ITEMS[0]], {"m": right}, [ExactMatch()])
    with pytest.raises(ScorerError, match="another name="):
        evaluate(ITEMS, {"m": right}, [ExactMatch(), ExactMatch()])


def test_awkward_attributes_and_inputs_become_cells(tmp_path: Path) -> None:
    circular: dict[str, Any] = {}
    circular["self"] = circular
    items = [
        Example(id=1, input=circular, reference="x", attributes={"tags": ["a"], "n": np.int64(3)}),
        Example(id=2, input=object(), reference={1, 2}, attributes={"tags": None, "n": 4}),
    ]
    result = evaluate(items, {"m": lambda _: "x"}, [Contains()], folder=tmp_path, run_id="r")
    assert rows(result.scores, "tags", "n") == [('["a"]', 3), (None, 4)]
    assert rows(result.outputs, "input", "reference") == [
        ('{"self": "<circular>"}', "x"), ('"<object object>"', "[1, 2]"),
    ]  # fmt: skip
    assert len(et.read_scores(tmp_path / "r")) == 2


def test_halves_of_characters_in_any_name_are_written_out(tmp_path: Path) -> None:
    half = "\ud83d"
    item = Example(id=half, task=half, input=half, attributes={"a": half}, cluster=half)
    result = evaluate([item], {half: str}, [Contains()], folder=tmp_path, run_id="r")
    names = ["system", "task", "example_id", "a", "cluster"]
    assert rows(result.scores, *names) == [("\\ud83d",) * 5]
    assert rows(et.read_scores(tmp_path / "r"), *names) == [("\\ud83d",) * 5]


def test_two_scorers_that_come_to_the_same_name_do_not_end_the_run() -> None:
    class Parts:
        def __init__(self, name: str) -> None:
            self.name = "judge"
            self.criterion = name

        def score(self, output: Output, example: Example) -> list[Score]:
            return [Score(criterion="a.b.c", score=1)]

    result = run({"m": right}, [Parts("a"), Parts("a.b")])
    assert rows(result.scores, "criterion", "status")[:2] == [
        ("a.b.c", "scored"), ("a.b", "scorer_error"),
    ]  # fmt: skip
    assert "would overwrite the other" in result.scores["message"].iloc[1]
    et.check_scores(result.scores)
