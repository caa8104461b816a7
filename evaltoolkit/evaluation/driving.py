"""Drive a run: on which event loop, how its progress is shown, what an interrupt leaves."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol, Self

from evaltoolkit.errors import warn
from evaltoolkit.evaluation.planning_runs import Progressing
from evaltoolkit.formatting import counted
from evaltoolkit.models import describe_error
from evaltoolkit.progress import Progress
from evaltoolkit.results.evaluations import Evaluation
from evaltoolkit.results.mutators import MutatorEvaluation

LOOK_EVERY_S = 0.1
GRACE_S = 5.0
"""How long an interrupted run may take to stop its calls."""


class Interrupted(KeyboardInterrupt):
    """The user interrupted a run.

    Attributes:
        evaluation: What was finished until then: an `Evaluation` of `evaluate`, a
            `MutatorEvaluation` of `evaluate_mutators`.
    """

    def __init__(
        self, evaluation: Evaluation | MutatorEvaluation, *, noun: str, where: str
    ) -> None:
        done, planned = (evaluation.settings[name] for name in ("n_finished", "n_planned"))
        super().__init__(f"{done} of {counted(planned, noun)} finished; they are {where}")
        self.evaluation = evaluation


class Job(Protocol):
    """A run of many like parts, which can tell at any time what is finished of it."""

    async def work(self) -> None:
        """Do every part."""
        ...

    def shown(self) -> Shown:
        """Give the display of progress."""
        ...

    def keep(self) -> None:
        """Save what is finished, where there is a place for it."""
        ...

    def interrupted(self) -> Interrupted:
        """Give the exception that holds what is finished."""
        ...


class Shown:
    """The bar of the house, or the caller's own function, or nothing.

    Args:
        count: Gives how many parts are finished.
        total: How many there are.
        noun: What a part is called.
        asked: What the caller asked for.
    """

    def __init__(
        self, count: Callable[[], int], total: int, *, noun: str, asked: Progressing
    ) -> None:
        self._count = count
        self._total = total
        self._noun = noun
        self._asked = asked
        self._seen = 0
        self._broken = False
        self._bar = None if asked is False or callable(asked) else Progress(total)

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:  # noqa: ANN401 - passed on
        self()
        if self._bar is not None and not self._broken:
            self._bar.__exit__(*error)

    def __call__(self) -> None:
        """Show how far the run is; where that fails, say so once and go on without."""
        if self._broken:
            return
        try:
            self._show()
        except Exception as error:  # the caller's function, or a screen that is gone
            self._broken = True
            why = describe_error(error)
            warn(f"progress cannot be shown ({why}); the run goes on without", stacklevel=3)

    def _show(self) -> None:
        done = self._count()
        if callable(self._asked):
            self._asked(done, self._total)
        if self._bar is not None:
            text = f"{done} of {counted(self._total, self._noun)}"
            self._bar.advance(done - self._seen, text)
        self._seen = done


async def run_here(job: Job) -> None:
    """Run on the current event loop and show progress; keep what is there if cancelled."""
    watch = asyncio.ensure_future(_watch(job))
    try:
        await job.work()
    except BaseException:
        job.keep()
        raise
    finally:
        watch.cancel()
        await asyncio.wait((watch,))


async def _watch(job: Job) -> None:
    with job.shown() as show:
        while True:
            show()
            await asyncio.sleep(LOOK_EVERY_S)


def run_in_thread(job: Job) -> None:
    """Run on an event loop in a thread of its own, which also works where a loop runs already.

    Raises:
        Interrupted: The user interrupted the run.
        EvalToolkitError: The run could not go on; what is finished is kept.
    """
    over = threading.Event()
    raised: list[BaseException] = []
    loop = asyncio.new_event_loop()
    task = loop.create_task(job.work())

    def work() -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_until_complete(task)
        except BaseException as error:
            raised.append(error)
        finally:
            try:
                _close(loop)
            finally:
                over.set()

    context = contextvars.copy_context()
    thread = threading.Thread(target=lambda: context.run(work), name="evaltoolkit-run", daemon=True)
    try:
        thread.start()  # waits until the thread runs, so that it, too, can be interrupted
        with job.shown() as show:
            while not over.wait(LOOK_EVERY_S):
                show()
    except BaseException as error:
        with suppress(RuntimeError):  # the loop is closed: the run is over
            loop.call_soon_threadsafe(task.cancel)
        over.wait(GRACE_S)
        if isinstance(error, KeyboardInterrupt):
            raise job.interrupted() from None
        job.keep()
        raise
    if raised:
        job.keep()
        raise raised[0]


def _close(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel what is left on a loop; what ignores that is left behind."""
    left = asyncio.all_tasks(loop)
    for each in left:
        each.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left, timeout=1.0))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
