"""Driving a run: both harnesses are stopped, shown and resumed by the same code."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

import evaltoolkit as et
from evaltoolkit.evaluation import Interrupted, driving
from evaltoolkit.models import Example
from evaltoolkit.scorers import ExactMatch, InterpretiveState


async def slow(_: Any) -> str:
    await asyncio.sleep(20)
    return "late"


def of_systems() -> Any:
    return et.evaluate([Example(id=1, input="a", reference="a")], {"m": slow}, [ExactMatch()])


def of_mutators() -> Any:
    case = et.MutatorCase(id=1, mutation_input="a", expected_post_state=InterpretiveState())
    return et.evaluate_mutators([case], {"m": slow})


both = pytest.mark.parametrize(
    ("begin", "noun"), [(of_systems, "answer"), (of_mutators, "run")], ids=["systems", "mutators"]
)


@both
def test_an_interrupt_while_the_thread_starts_is_one_of_the_run(
    begin: Callable[[], Any], noun: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupting(threading.Thread):
        def start(self) -> None:
            super().start()
            raise KeyboardInterrupt

    monkeypatch.setattr(driving.threading, "Thread", Interrupting)
    with pytest.raises(Interrupted, match=f"0 of 1 {noun} finished; they are in .evaluation"):
        begin()


@both
def test_what_else_ends_a_run_is_raised_as_it_is(
    begin: Callable[[], Any], noun: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leaves(shown: driving.Shown) -> None:
        raise SystemExit(noun)

    monkeypatch.setattr(driving.Shown, "__call__", leaves)
    with pytest.raises(SystemExit, match=noun):
        begin()
