"""Time and memory of the runner: recorded answers, async calls, a re-run.

From the repository's root: ``python -m tests.benchmarks.running``. Seconds are of this machine and
this moment; the megabytes are what the process needed beyond its imports.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import tempfile
import time
from typing import Any

import rapidfuzz
import scipy.stats

from evaltoolkit.evaluation import evaluate
from evaltoolkit.models import Example, Output
from evaltoolkit.scorers import (
    Contains,
    ExactMatch,
    JSONDiff,
    LengthBounds,
    Levenshtein,
    Refusal,
    StateMatch,
    ToolCallExactMatch,
)

COUNT = 10_000

LOADED = (rapidfuzz, scipy.stats)
"""Imported beforehand, so that the first measurement does not pay for them."""


def examples() -> list[Example]:
    """The items: a short question and answer each."""
    return [
        Example(id=n, input=f"question {n}", reference=f"answer number {n}") for n in range(COUNT)
    ]


def deterministic() -> list[object]:
    """Five scorers without a model."""
    return [ExactMatch(), Contains(), Levenshtein(), Refusal(), LengthBounds(most=50)]


def orders() -> list[Example]:
    """Items with a JSON answer, a state and tool calls to reach."""
    calls = [
        {"name": "look_up", "args": {"order": 7}},
        {"name": "refund", "args": {"order": 7, "amount": 3.5}},
    ]
    return [
        Example(
            id=n,
            input="please",
            reference=json.dumps({"total": 10, "name": "abc"}),
            reference_state={"order.total": 1, "order.name": "x"},
            reference_tool_calls=calls,
        )
        for n in range(COUNT)
    ]


def handled(number: int) -> Output:
    """What a system did with one of the orders; half of the answers are wrong."""
    arguments = json.dumps({"order": 7 + number % 2})
    wire = {"id": "c", "type": "function", "function": {"name": "look_up", "arguments": arguments}}
    return Output(
        text=json.dumps({"total": 10 - number % 2, "name": "abc"}),
        final_state={"order": {"total": 1, "name": "x" if number % 3 else "y"}},
        messages=[{"role": "assistant", "content": None, "tool_calls": [wire]}],
    )


def peak_megabytes() -> float:
    """The most memory that the process has held so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 if sys.platform != "darwin" else 1024**2)


async def echo(text: str) -> str:
    """A system that costs nothing, so that what is left is the runner's own."""
    await asyncio.sleep(0)
    return text


def say(line: str) -> None:
    """Print one line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Measure and print."""
    items, before = examples(), peak_megabytes()
    recorded = {n: f"answer number {n if n % 3 else 0}" for n in range(COUNT)}

    def measure(what: str, system: object, scorers: list[object], **options: Any) -> float:
        start = time.perf_counter()
        evaluate(items, {"m": system}, scorers, progress=False, **options)
        seconds = time.perf_counter() - start
        say(f"{what:<56}{seconds:7.2f} s{peak_megabytes() - before:7.0f} MB")
        return seconds

    measure("10,000 recorded answers x 5 scorers", recorded, deterministic())
    asked, acted = orders(), {n: handled(n) for n in range(COUNT)}
    explained: list[object] = [
        ExactMatch(),
        Levenshtein(),
        JSONDiff(),
        StateMatch(),
        ToolCallExactMatch(),
    ]
    start = time.perf_counter()
    evaluate(asked, {"m": acted}, explained, progress=False)
    seconds = time.perf_counter() - start
    say(f"{'10,000 with JSON, state and tool calls x 5, with details':<56}{seconds:7.2f} s")
    with tempfile.TemporaryDirectory() as folder:
        cache = f"{folder}/calls.sqlite"
        measure("the same, saved as it goes", recorded, deterministic(), folder=folder)
        measure("the same again, all finished before", recorded, deterministic(), folder=folder)
        exact: list[object] = [ExactMatch()]
        seconds = measure("10,000 async calls with a time limit", echo, exact, timeout=60.0)
        say(f"{'that is, per call':<56}{1000 * seconds / COUNT:7.2f} ms")
        measure("the same, into a cache", echo, exact, cache=cache)
        measure("the same from the cache, no call", echo, exact, cache=cache)


if __name__ == "__main__":
    main()
