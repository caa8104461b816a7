"""Put one answer before all scorers, sync and async, and get a status from each."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Awaitable, Sequence
from functools import partial
from typing import Any, NamedTuple

from evaltoolkit.errors import MissingDependencyError
from evaltoolkit.evaluation.calls import Caller
from evaltoolkit.evaluation.measured_rows import is_meant_for
from evaltoolkit.evaluation.threads import Outcome
from evaltoolkit.models import Criterion, Example, Output, Score, describe_error
from evaltoolkit.scorers.base import Scorer
from evaltoolkit.scorers.running import failed_scores, run_scorer

Scores = dict[int, list[Score]]
"""Scores by the number of the scorer."""


class _Awaited(BaseException):
    """Carries what an async scorer returned past `run_scorer`, which only knows sync ones."""

    def __init__(self, awaitable: Awaitable[Any]) -> None:
        super().__init__()
        self.awaitable = awaitable


class _Stage:
    """A scorer as `run_scorer` sees it: what it returns may be known already, or come later."""

    def __init__(self, scorer: Scorer, known: Outcome | None = None) -> None:
        self.scorer = scorer
        self.name = scorer.name
        self.criterion = scorer.criterion
        self.parts: Sequence[Criterion] = getattr(scorer, "parts", ())
        self.is_async = inspect.iscoroutinefunction(scorer.score)
        self._known = known

    def replay(self, outcome: Outcome) -> _Stage:
        """Give the same scorer with a known outcome."""
        return _Stage(self.scorer, outcome)

    def score(self, output: Output, example: Example, /) -> Any:  # noqa: ANN401 - shaped later
        """Ask the scorer, or repeat what it is known to have come to."""
        if self._known is None:
            returned = self.scorer.score(output, example)
        elif self._known.error is not None:
            raise self._known.error
        else:
            returned = self._known.value
        if not isinstance(returned, Score) and inspect.isawaitable(returned):
            raise _Awaited(returned)
        return returned


def _settle(stage: _Stage, output: Output, example: Example) -> list[Score]:
    """Do what `run_scorer` does, also for what it lets pass."""
    try:
        return run_scorer(stage, output, example)
    except (_Awaited, MissingDependencyError):
        raise
    except Exception as error:  # the text of an exception cannot be had: its name must do
        return failed_scores(stage, "scorer_error", type(error.__context__ or error).__name__)
    except BaseException as error:
        return failed_scores(stage, "scorer_error", describe_error(error))


class _Job(NamedTuple):
    """One scorer that is to judge one answer; ``slot`` numbers the answers of a call."""

    slot: int
    number: int
    stage: _Stage
    output: Output
    example: Example

    def settle(self, outcome: Outcome | None = None) -> list[Score]:
        """Ask the scorer, or take what it is known to have come to."""
        stage = self.stage if outcome is None else self.stage.replay(outcome)
        return _settle(stage, self.output, self.example)


class AnswerJudges:
    """All scorers of a run.

    The sync scorers of the answers of one call share a thread, one after the other, so that quick
    ones cost little; each has its own time limit, and one that is stuck does not hold up the next.

    Attributes:
        all_sync: Whether no scorer is known to be async. A function may turn out to be only when
            it is called.
    """

    def __init__(self, scorers: Sequence[Scorer], caller: Caller) -> None:
        self._caller = caller
        self._stages = [_Stage(scorer) for scorer in scorers]
        self.all_sync = not any(stage.is_async for stage in self._stages)

    async def scores(self, answers: Sequence[tuple[Output, Example]]) -> list[Scores]:
        """Score answers; give for each the scores of every scorer that is meant for its example.

        Raises:
            MissingDependencyError: A scorer needs a package that is not installed.
        """
        found: list[Scores] = [{} for _ in answers]
        jobs: list[_Job] = []
        for slot, (output, example) in enumerate(answers):
            meant = self._meant(example, found[slot])
            if output.error is None:
                jobs += [_Job(slot, n, self._stages[n], output, example) for n in meant]
                continue
            for number in meant:
                stage = self._stages[number]
                found[slot][number] = failed_scores(stage, "system_error", output.error)
        await self._ask(jobs, found)
        return [{number: each[number] for number in sorted(each)} for each in found]

    def _meant(self, example: Example, failed: Scores) -> list[int]:
        numbers: list[int] = []
        for number, stage in enumerate(self._stages):
            try:
                if is_meant_for(stage.scorer, example):
                    numbers.append(number)
            except Exception as error:  # a broken scorer is a status of this row
                failed[number] = failed_scores(stage, "scorer_error", describe_error(error))
        return numbers

    async def _ask(self, jobs: Sequence[_Job], found: list[Scores]) -> None:
        sync = [job for job in jobs if not job.stage.is_async]
        work = [self._ask_async(job, found) for job in jobs if job.stage.is_async]
        if sync:
            work.insert(0, self._ask_sync(sync, found))
        if len(work) == 1:
            await work[0]
        elif work:
            await _all(work)

    async def _ask_async(self, job: _Job, found: list[Scores]) -> None:
        score = partial(job.stage.scorer.score, job.output, job.example)
        outcome = await self._caller.call(score, is_async=True)
        found[job.slot][job.number] = job.settle(outcome)

    async def _finish(self, job: _Job, awaitable: Awaitable[Any], found: list[Scores]) -> None:
        found[job.slot][job.number] = job.settle(await self._caller.finish(awaitable))

    async def _ask_sync(self, jobs: Sequence[_Job], found: list[Scores]) -> None:
        while jobs:
            batch = _Batch(jobs)
            outcome = await self._watch(batch)
            for job, scores in zip(jobs, batch.done, strict=False):
                if isinstance(scores, list):
                    found[job.slot][job.number] = scores
            waiting = [
                self._finish(job, later, found)
                for job, later in zip(jobs, batch.done, strict=False)
                if not isinstance(later, list)
            ]
            if waiting:
                self.all_sync = False
                await _all(waiting)
            if isinstance(outcome.error, MissingDependencyError):
                raise outcome.error
            jobs = jobs[len(batch.done) :]
            if jobs:
                stuck, *jobs = jobs
                found[stuck.slot][stuck.number] = stuck.settle(outcome)

    async def _watch(self, batch: _Batch) -> Outcome:
        """Wait for a batch, or until one scorer of it is not back in time."""
        future = self._caller.threads.run(batch.run)
        limit = self._caller.timeout
        if limit is None:
            return await future
        left = limit
        while True:
            done, _ = await asyncio.wait((future,), timeout=left)
            if done:
                return future.result()
            left = batch.seconds_left(limit)
            if left <= 0:
                return Outcome(error=self._caller.late())


async def _all(jobs: Sequence[Awaitable[Any]]) -> list[Any]:
    """Run jobs at the same time; if one raises, cancel the others before passing it on."""
    tasks = [asyncio.ensure_future(job) for job in jobs]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        raise


class _Batch:
    """Jobs of sync scorers, run one after the other in a thread.

    Attributes:
        done: For each job, as far as the batch came, the scores or what is to be awaited.
    """

    def __init__(self, jobs: Sequence[_Job]) -> None:
        self.done: list[list[Score] | Awaitable[Any]] = []
        self._jobs = jobs
        self._lock = threading.Lock()
        self._dropped = False
        self._since = time.monotonic()

    def run(self) -> None:
        """Run the jobs until all are done or the batch is dropped."""
        self._since = time.monotonic()
        for job in self._jobs:
            result: list[Score] | Awaitable[Any]
            try:
                result = job.settle()
            except _Awaited as awaited:
                result = awaited.awaitable
            with self._lock:
                if self._dropped:
                    _close(result)
                    return
                self.done.append(result)
                self._since = time.monotonic()

    def seconds_left(self, limit: float) -> float:
        """Give the seconds left for the job under way; 0 drops the batch at that job."""
        with self._lock:
            left = limit - (time.monotonic() - self._since)
            if len(self.done) == len(self._jobs):
                return limit  # the thread is about to say so
            if left > 0:
                return left
            self._dropped = True
            return 0.0


def _close(awaitable: object) -> None:
    """Close a coroutine that nobody will await, so that Python does not warn about it."""
    if inspect.iscoroutine(awaitable):
        awaitable.close()
