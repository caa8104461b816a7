"""A run that is killed or interrupted loses nothing and does nothing twice."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evaltoolkit as et
from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.evaluation import Interrupted, evaluate, evaluate_async, supervising
from evaltoolkit.evaluation.journal import JOURNAL, Journal
from evaltoolkit.models import Example, Output
from evaltoolkit.scorers import ExactMatch, Levenshtein

from . import killed_run

SCRIPT = Path(killed_run.__file__)
ROOT = Path(et.__file__).resolve().parents[1]
UNITS = killed_run.COUNT * killed_run.TRIALS

posix = pytest.mark.skipif(os.name != "posix", reason="SIGKILL and SIGINT are sent")


def journal_of(folder: Path) -> list[dict[str, Any]]:
    raw = (folder / JOURNAL).read_bytes() if (folder / JOURNAL).exists() else b""
    return [json.loads(line) for line in raw[: raw.rfind(b"\n") + 1].splitlines()]


def calls_of(log: Path) -> Counter[str]:
    return Counter(log.read_text().splitlines()) if log.exists() else Counter()


def answered(folder: Path) -> set[str]:
    """What needs no further call: answered, whether scored already or not."""
    return {f"{line['example_id']} {line['trial']}" for line in journal_of(folder)}


@posix
def test_killed_at_five_points_and_taken_up_again(tmp_path: Path) -> None:
    rng = random.Random(20240229)
    points = sorted(rng.sample(range(1, UNITS), 5))
    log, folder = tmp_path / "calls.txt", tmp_path / "runs" / "killed"
    command = [sys.executable, str(SCRIPT), str(tmp_path / "runs"), str(log)]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    for point in points:
        before, known = calls_of(log), answered(folder)
        process = subprocess.Popen(command, env=env)
        deadline = time.monotonic() + 120
        while calls_of(log).total() < point and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.002)
        process.kill()
        assert process.wait() == -signal.SIGKILL
        repeated = calls_of(log) - before
        assert not known & set(repeated)
    with (folder / JOURNAL).open("ab") as file:
        file.write(b'{"system": "sut", "task": "", "exam')
    known, before = answered(folder), calls_of(log)
    assert 0 < len(known) < UNITS
    assert not (folder / "scores.jsonl").exists()
    assert subprocess.run(command, env=env, timeout=120, check=False).returncode == 0
    assert not known & set(calls_of(log) - before)

    calls = calls_of(log)
    assert len(calls) == UNITS
    # Only what was under way at a kill was asked twice: at most the eight of each.
    assert calls.total() - UNITS <= 5 * 8
    whole = killed_run.result(None, None)
    assert_same_tables(folder, whole)
    assert json.loads((folder / "run.json").read_text())["state"] == "finished"


def assert_same_tables(folder: Path, whole: Any) -> None:
    """The saved tables are those of a run without interruption, read by the public readers."""
    for read, table in (
        (et.read_scores, whole.scores),
        (et.read_outputs, whole.outputs),
        (et.read_details, whole.details),
    ):
        saved = read(folder)
        kept = [name for name in table.columns if name != "source"]
        pd.testing.assert_frame_equal(saved[kept], table[kept])


ITEMS = [Example(id=n, input=f"q{n}", reference=f"A{n}") for n in range(40)]


class Counted:
    """A system that counts its calls and can be told to fail at one."""

    def __init__(
        self, stop_at: int | None = None, error: type[BaseException] | None = None
    ) -> None:
        self.calls: list[str] = []
        self.stop_at = stop_at
        self.error = error

    def __call__(self, text: str) -> str:
        self.calls.append(text)
        return text.replace("q", "A")


def run(system: Any, folder: Path | None, **options: Any) -> Any:
    chosen: dict[str, Any] = {"run_id": "r", "progress": False, **options}
    return evaluate(ITEMS, {"m": system}, [ExactMatch(), Levenshtein()], folder=folder, **chosen)


def test_a_finished_run_is_read_without_a_call(tmp_path: Path) -> None:
    system = Counted()
    first = run(system, tmp_path)
    second = run(system, tmp_path)
    assert len(system.calls) == 40
    pd.testing.assert_frame_equal(first.scores, second.scores)
    pd.testing.assert_frame_equal(first.outputs, second.outputs)
    pd.testing.assert_frame_equal(first.details, second.details)
    pd.testing.assert_frame_equal(first.table, second.table)
    assert_same_tables(tmp_path / "r", first)


def test_without_a_name_the_same_choices_are_the_same_run(tmp_path: Path) -> None:
    system = Counted()
    first = run(system, tmp_path, run_id=None)
    second = run(system, tmp_path, run_id=None)
    other = run(system, tmp_path, run_id=None, trials=2)
    assert first.run_id == second.run_id != other.run_id
    assert len(system.calls) == 40 + 80


@pytest.mark.parametrize("cut", [1, 7, 30, 200])
def test_any_torn_end_of_the_journal_is_cut_off(tmp_path: Path, cut: int) -> None:
    system = Counted()
    whole = run(system, tmp_path)
    path = tmp_path / "r" / JOURNAL
    path.write_bytes(path.read_bytes()[:-cut])
    again = run(system, tmp_path)
    # The answer of the last example stands in a line of its own unless that was lost, too.
    assert len(system.calls) <= 41
    pd.testing.assert_frame_equal(again.scores, whole.scores)


def test_a_damaged_line_in_the_middle_costs_that_example_only(tmp_path: Path) -> None:
    system = Counted()
    whole = run(system, tmp_path, concurrency=1)
    path = tmp_path / "r" / JOURNAL
    lines = path.read_bytes().splitlines(keepends=True)
    lines[10:12] = [b"\x00\xff garbage\n", b'{"system": "m"}\n', b"[1]\n"]
    path.write_bytes(b"".join(lines))
    again = run(system, tmp_path, concurrency=1)
    assert system.calls[40:] == ["q5"]
    pd.testing.assert_frame_equal(again.scores, whole.scores)


def test_an_answer_that_is_not_scored_yet_is_not_asked_for_again(tmp_path: Path) -> None:
    system = Counted()
    whole = run(system, tmp_path)
    path = tmp_path / "r" / JOURNAL
    lines = [line for line in path.read_bytes().splitlines(keepends=True) if b'"answer"' in line]
    path.write_bytes(b"".join(lines))
    again = run(system, tmp_path)
    assert len(system.calls) == 40
    pd.testing.assert_frame_equal(again.outputs, whole.outputs)
    pd.testing.assert_frame_equal(again.scores, whole.scores)


def test_answers_that_json_cannot_hold_are_taken_up_as_the_tables_show_them(tmp_path: Path) -> None:
    calls: list[str] = []

    def foreign(text: str) -> Output:
        calls.append(text)
        return Output(text={"set": {text}, 1: (2, 3)}, final_state={"x": object()})

    first = run(foreign, tmp_path)
    second = run(foreign, tmp_path)
    assert len(calls) == 40
    pd.testing.assert_frame_equal(first.outputs, second.outputs)


class TestChanged:
    def refused(self, folder: Path, *changed: str, **options: Any) -> None:
        chosen = {"systems": {"m": Counted()}, "scorers": [ExactMatch(), Levenshtein()], **options}
        examples = chosen.pop("examples", ITEMS)
        with pytest.raises(EvalToolkitError, match="begun with other choices") as caught:
            evaluate(examples, folder=folder, run_id="r", progress=False, **chosen)
        assert caught.value.value == list(changed)
        assert "give another run_id=" in str(caught.value)

    def test_choices_are_named(self, tmp_path: Path) -> None:
        run(Counted(), tmp_path)
        self.refused(tmp_path, "trials", trials=2)
        self.refused(tmp_path, "examples", examples=ITEMS[:-1])
        self.refused(tmp_path, "systems: m", systems={"m": lambda text: text})
        self.refused(tmp_path, "systems: m", "systems: n", systems={"n": Counted()})
        strict = [ExactMatch(), Levenshtein(threshold=0.5)]
        self.refused(tmp_path, "scorers: 1: Levenshtein", scorers=strict)
        run(Counted(), tmp_path, concurrency=2, timeout=9)

    def test_what_a_function_does_and_was_made_with_counts_but_not_where_it_stands(
        self, tmp_path: Path
    ) -> None:
        def made(model: str) -> Any:
            def system(text: str) -> str:
                return model + text

            return system

        run(made("a"), tmp_path)
        run(made("a"), tmp_path)
        self.refused(tmp_path, "systems: m", systems={"m": made("b")})

    def test_decorated_functions_and_helpers_count(self, tmp_path: Path) -> None:
        def twice(function: Any) -> Any:
            @functools.wraps(function)
            def system(text: str) -> str:
                return str(function(text) or function(text))

            return system

        def answers(text: str) -> str:
            return text

        def other(text: str) -> str:
            return text.upper()

        run(twice(answers), tmp_path)
        self.refused(tmp_path, "systems: m", systems={"m": twice(other)})

    def test_configured_objects_count_but_not_what_they_remember(self, tmp_path: Path) -> None:
        run(Counted(stop_at=3), tmp_path)
        self.refused(tmp_path, "systems: m", systems={"m": Counted(stop_at=4)})

    def test_recorded_answers_count(self, tmp_path: Path) -> None:
        run({0: "A0"}, tmp_path)
        self.refused(tmp_path, "systems: m", systems={"m": {0: "A1"}})

    def test_a_foreign_run_file_is_not_overwritten(self, tmp_path: Path) -> None:
        (tmp_path / "r").mkdir()
        (tmp_path / "r" / "run.json").write_text('{"of": "another tool"}')
        with pytest.raises(EvalToolkitError, match="no description of a run"):
            run(Counted(), tmp_path)


def test_a_kill_while_the_tables_are_written_leaves_no_half_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(frame: pd.DataFrame, path: Path, **_: Any) -> None:
        path.write_text('{"half": ')
        raise OSError("no space left")

    system = Counted()
    monkeypatch.setattr(supervising, "write_table", killed)
    with pytest.raises(OSError, match="no space"):
        run(system, tmp_path)
    assert not (tmp_path / "r" / "scores.jsonl").exists()
    monkeypatch.undo()
    whole = run(system, tmp_path)
    assert len(system.calls) == 40
    assert_same_tables(tmp_path / "r", whole)
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == [
        ".journal.jsonl", "details.jsonl", "outputs.jsonl", "run.json", "scores.jsonl",
    ]  # fmt: skip


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(EvalToolkitError, match=r"cannot be kept .* give another folder="):
        run(Counted(), tmp_path / "file")


@posix
def test_two_processes_cannot_work_on_one_run(tmp_path: Path) -> None:
    with Journal(tmp_path / "r"), pytest.raises(EvalToolkitError, match="another process"):
        run(Counted(), tmp_path)
    assert run(Counted(), tmp_path).settings["n_finished"] == 40


def test_what_comes_after_the_end_is_not_written(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.write({"a": 1})
    with (tmp_path / "other").open("w") as other:
        journal.write({"b": 2})
        assert other.tell() == 0
    assert journal_of(tmp_path) == [{"a": 1}]


@posix
@pytest.mark.parametrize("kept", [True, False])
def test_an_interrupt_keeps_what_is_finished(tmp_path: Path, *, kept: bool) -> None:
    system = Counted()
    interrupted = False

    def interrupts(text: str) -> str:
        nonlocal interrupted
        if text == "q20" and not interrupted:
            interrupted = True
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.3)
        return system(text)

    folder = tmp_path if kept else None
    with pytest.raises(KeyboardInterrupt, match="of 40 answers finished") as caught:
        run(interrupts, folder, concurrency=2)
    assert isinstance(caught.value, Interrupted)
    part = caught.value.evaluation
    assert 1 <= len(part.outputs) < 40
    assert part.scores["status"].eq("scored").all()
    assert f"{len(part.outputs)} of 40 answers finished" in str(part)
    if kept:
        assert_same_tables(tmp_path / "r", part)
        assert json.loads((tmp_path / "r" / "run.json").read_text())["state"] == "interrupted"
        whole = run(interrupts, folder, concurrency=2)
        assert len(whole.outputs) == 40
        assert set(whole.scores["score"]) == {1.0}
        again = Counter(system.calls)
        assert max(again[text.replace("A", "q")] for text in part.outputs["output"]) == 1


def test_a_cancelled_task_keeps_what_is_finished(tmp_path: Path) -> None:
    calls: list[str] = []
    hang: list[bool] = []

    async def main(*, stop: bool) -> Any:
        hang[:] = [stop]

        async def system(text: str) -> str:
            calls.append(text)
            if hang[0] and text == "q20":
                await asyncio.sleep(30)
            await asyncio.sleep(0.001)
            return text.replace("q", "A")

        task = asyncio.create_task(
            evaluate_async(
                ITEMS, {"m": system}, [ExactMatch()], concurrency=2, folder=tmp_path, run_id="r"
            )
        )
        if stop:
            while len(calls) < 40:
                await asyncio.sleep(0.001)
            task.cancel()
        return await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main(stop=True))
    finished = set(et.read_outputs(tmp_path / "r")["input"])
    assert 30 <= len(finished) < 40
    before = len(calls)
    result = asyncio.run(main(stop=False))
    assert result.scores["score"].tolist() == [1.0] * 40
    assert not finished & set(calls[before:])
