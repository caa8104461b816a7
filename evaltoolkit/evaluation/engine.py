"""Work through a run: every (example, system, trial) answered and scored, some at a time."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

from evaltoolkit.clients.cache import CallCache
from evaltoolkit.errors import SchemaError
from evaltoolkit.evaluation.calls import Caller
from evaltoolkit.evaluation.digests import clean, json_text
from evaltoolkit.evaluation.journal import Line, Log
from evaltoolkit.evaluation.judging_answers import AnswerJudges, Scores
from evaltoolkit.evaluation.measured_rows import Cells
from evaltoolkit.evaluation.runnable_systems import System, as_output
from evaltoolkit.evaluation.threads import Threads
from evaltoolkit.models import Example, Output, Score, describe_error
from evaltoolkit.scorers.base import Scorer

MESSAGE_LIMIT = 2_000
"""Longest message in the score table; a transcript does not belong there."""


_QUICK_S = 0.02
_MOST_AT_ONCE = 64


@dataclass(frozen=True, eq=False, slots=True)
class Unit:
    """One call to make: an example, a system and the number of the repeat."""

    number: int
    example: Example
    system: System
    trial: int

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What tells it apart from all others of the run."""
        return self.system.name, self.example.task, self.example.id, self.trial


@dataclass(frozen=True, eq=False, slots=True)
class Finished:
    """What came of a unit: cells of the outputs table, and scores with details as JSON text."""

    cells: Mapping[str, Any]
    scores: Mapping[int, Sequence[Cells]]
    error: str | None


def units_of(examples: Sequence[Example], systems: Sequence[System], trials: int) -> list[Unit]:
    """List the calls in the order of the examples, then of the systems, then of the trials."""
    places = [
        (example, system, trial)
        for example in examples
        for system in systems
        for trial in system.trials_of(example, trials)
    ]
    return [Unit(number, *place) for number, place in enumerate(places)]


@dataclass(eq=False)
class Engine:
    """One run under way.

    Attributes:
        units: All calls of the run.
        scorers: The scorers.
        log: Where finished work is written down.
        concurrency: How many units are worked on at a time.
        timeout: Seconds for each call of a system or a scorer.
        cache: Answers of earlier runs.
        cache_keys: Key of each unit's answer in the cache, by number.
        finished: What is done, by number of the unit.
        answered: Answers from an earlier start that are not scored yet.
        given_up: Calls that were not back in time.
        cache_failures: How often the cache could not be read or written.
    """

    units: Sequence[Unit]
    scorers: Sequence[Scorer]
    log: Log
    concurrency: int
    timeout: float | None
    cache: CallCache | None = None
    cache_keys: Mapping[int, str] = field(default_factory=dict)
    finished: dict[int, Finished] = field(default_factory=dict)
    answered: dict[int, Output] = field(default_factory=dict)
    given_up: int = 0
    cache_failures: int = 0

    async def run(self) -> None:
        """Do all that is left to do.

        Raises:
            MissingDependencyError: A scorer needs a package that is not installed.
        """
        threads = Threads(asyncio.get_running_loop())
        caller = Caller(threads, self.timeout)
        judges = AnswerJudges(self.scorers, caller)
        to_do = [unit for unit in self.units if unit.number not in self.finished]
        left = iter(to_do)
        workers = [
            asyncio.ensure_future(self._work(left, caller, judges))
            for _ in range(min(self.concurrency, len(to_do)))
        ]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            self.given_up = caller.given_up
            threads.close()

    async def _work(self, left: Iterator[Unit], caller: Caller, judges: AnswerJudges) -> None:
        size = 1
        recorded = all(unit.system.call is None for unit in self.units)
        while units := list(islice(left, size if recorded and judges.all_sync else 1)):
            start = time.monotonic()
            outputs = [await self._answer(unit, caller) for unit in units]
            examples = [unit.example for unit in units]
            found = await judges.scores(list(zip(outputs, examples, strict=True)))
            for unit, output, scores in zip(units, outputs, found, strict=True):
                done = _finish(output, scores)
                if self.log.keeps:
                    self.log.write({**_place(unit), **_finished_line(done)})
                self.finished[unit.number] = done
            size = _next_size(size, time.monotonic() - start)
            # Even where nothing has to be waited for, others get their turn.
            await asyncio.sleep(0)

    async def _answer(self, unit: Unit, caller: Caller) -> Output:
        system = unit.system
        if system.call is None:
            return system.recorded_output(unit.example, unit.trial)
        if unit.number in self.answered:
            return self.answered.pop(unit.number)
        output = await self._cached(unit, caller)
        if output is None:
            output = await self._keep(unit, await _call(unit, caller), caller)
        if self.log.keeps:
            text = output_text(output)
            if text is not None:
                self.log.write({**_place(unit), "answer": text})
        return output

    async def _cached(self, unit: Unit, caller: Caller) -> Output | None:
        if self.cache is None:
            return None
        found = await caller.threads.run(partial(self.cache.get, self.cache_keys[unit.number]))
        self.cache_failures += found.error is not None
        return None if found.value is None else output_from(found.value.value)

    async def _keep(self, unit: Unit, output: Output, caller: Caller) -> Output:
        """Put an answer into the cache; take the one that another process put there before."""
        text = None if self.cache is None or output.error is not None else output_text(output)
        if self.cache is None or text is None:
            return output
        keep = partial(self.cache.put, self.cache_keys[unit.number], "system", text)
        kept = await caller.threads.run(keep)
        self.cache_failures += kept.error is not None
        return output_from(kept.value) or output


def _next_size(size: int, seconds: float) -> int:
    """Judge more answers at a time while that is quick, so that a slow scorer delays no other."""
    if seconds < _QUICK_S:
        return min(2 * size, _MOST_AT_ONCE)
    return max(size // 2, 1) if seconds > 4 * _QUICK_S else size


async def _call(unit: Unit, caller: Caller) -> Output:
    """Ask the system; whatever goes wrong becomes the error of its output."""
    system = unit.system
    if system.call is None:
        return system.recorded_output(unit.example, unit.trial)
    start = time.monotonic()
    outcome = await caller.call(
        partial(system.call, unit.example, unit.trial), is_async=system.is_async
    )
    seconds = time.monotonic() - start
    if outcome.error is not None:
        return Output(error=_describe_safely(outcome.error))
    try:
        output = as_output(outcome.value)
    except SchemaError as error:
        return Output(error=describe_error(error))
    if output.error is None and output.latency_s is None:
        return output.model_copy(update={"latency_s": seconds})
    return output


def _describe_safely(error: BaseException) -> str:
    try:
        return describe_error(error)
    except Exception:  # its text cannot be had
        return type(error).__name__


def output_text(output: Output) -> str | None:
    """Write an output as JSON; None where reading it back would not give the same."""
    try:
        held = output.model_dump(exclude_defaults=True, warnings=False)
        text = json_text(held)
        return text if output_from(text) == output else None
    except Exception:  # circular, foreign or incomparable values inside
        return None


def output_from(text: object) -> Output | None:
    """Read what `output_text` wrote; None where it is something else."""
    try:
        return Output(**json.loads(str(text)))
    except (ValueError, TypeError, RecursionError):
        return None


def _finish(output: Output, scores: Scores) -> Finished:
    cells = {
        "output": cell(output.text),
        "error": cell(output.error),
        "finish_reason": cell(output.finish_reason),
        "tool_calls": None if output.rounds is None else clean(json_text(output.rounds)),
        "cost_usd": output.cost_usd,
        "tokens_in": output.tokens_in,
        "tokens_out": output.tokens_out,
        "latency_s": output.latency_s,
    }
    short = {number: [_presentable(score) for score in given] for number, given in scores.items()}
    return Finished({k: v for k, v in cells.items() if v is not None}, short, output.error)


def cell(value: object) -> str | None:
    """Give a value as the text of one cell: text as it is, the rest as JSON."""
    if value is None:
        return None
    return clean(value if isinstance(value, str) else json_text(value))


def _presentable(score: Score) -> Cells:
    """Cut a long message, make JSON of the details, see that all texts can be written."""
    if score.message is None and score.label is None and score.details is None:
        return Cells.of(score)
    return Cells(
        score.criterion,
        score.score,
        cell(score.label),
        score.passed,
        score.status,
        _short(score.message),
        None if score.details is None else clean(json_text(score.details)),
        score.cost_usd,
    )


def _short(text: str | None) -> str | None:
    if text is not None and len(text) > MESSAGE_LIMIT:
        text = text[: MESSAGE_LIMIT - 1] + "…"
    return cell(text)


def _place(unit: Unit) -> Line:
    system, task, example_id, trial = unit.key
    return {"system": system, "task": task, "example_id": example_id, "trial": trial}


def _finished_line(done: Finished) -> Line:
    return {
        "cells": done.cells,
        "scores": {
            str(number): [_score_line(score) for score in given]
            for number, given in done.scores.items()
        },
    }


def _score_line(score: Cells) -> Line:
    return {name: value for name, value in score._asdict().items() if value is not None}


def take_up(engine: Engine, lines: Iterator[Line]) -> None:
    """Put what a journal holds into an engine, so that it is not done again."""
    numbers = {unit.key: unit.number for unit in engine.units}
    for line in lines:
        try:
            key = (line["system"], line["task"], line["example_id"], line["trial"])
            number = numbers.get(key)
            if number is None:
                continue
            if "answer" in line:
                output = output_from(line["answer"])
                if output is not None:
                    engine.answered[number] = output
            else:
                engine.finished[number] = _finished_from(line)
                engine.answered.pop(number, None)
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
            continue  # a damaged line counts as never written


def _finished_from(line: Line) -> Finished:
    scores = {int(n): [Cells(**held) for held in given] for n, given in line["scores"].items()}
    return Finished(line["cells"], scores, line["cells"].get("error"))
