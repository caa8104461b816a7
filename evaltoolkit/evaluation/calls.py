"""Call sync and async functions with a time limit, so that nothing they do stops the run."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable
from typing import Any

from evaltoolkit.evaluation.threads import Outcome, Threads


class Caller:
    """Calls functions for one run.

    A sync function runs in a thread and never blocks the event loop. One that is not back in
    time is left behind: Python cannot end a thread, so it goes on in the background. An async
    one is cancelled; if it ignores that, it is left behind likewise. An async function that
    itself blocks (``time.sleep`` in a coroutine) holds up the loop, and no time limit helps.

    Attributes:
        threads: The threads of the run.
        timeout: Seconds for each call; None for no limit.
        given_up: How many calls were not back in time.
    """

    def __init__(self, threads: Threads, timeout: float | None) -> None:
        self.threads = threads
        self.timeout = timeout
        self.given_up = 0
        self._left: set[asyncio.Task[Outcome]] = set()

    async def call(self, function: Callable[[], Any], *, is_async: bool) -> Outcome:
        """Call a function without arguments and wait for what it comes to."""
        if is_async:
            try:
                awaitable = function()
            except Exception as error:  # the caller turns it into a status
                return Outcome(error=error)
            return await self.finish(awaitable)
        future = self.threads.run(function)
        outcome = await future if self.timeout is None else await self._in_time(future)
        if outcome.error is None and inspect.isawaitable(outcome.value):
            return await self.finish(outcome.value)
        return outcome

    async def finish(self, awaitable: Awaitable[Any]) -> Outcome:
        """Await what an async function returned."""
        if self.timeout is None:
            return await _attempt(awaitable)
        return await self._in_time(asyncio.ensure_future(_attempt(awaitable)))

    def late(self) -> TimeoutError:
        """Count a call that is not back in time and say so."""
        self.given_up += 1
        return TimeoutError(f"nothing came back within {self.timeout:g} s")

    async def _in_time(self, future: asyncio.Future[Outcome]) -> Outcome:
        try:
            done, _ = await asyncio.wait((future,), timeout=self.timeout)
        except asyncio.CancelledError:
            self._leave(future)
            raise
        if done:
            return future.result()
        self._leave(future)
        return Outcome(error=self.late())

    def _leave(self, future: asyncio.Future[Outcome]) -> None:
        future.cancel()
        if isinstance(future, asyncio.Task):
            # Python keeps no hold of a task of its own; without one it would vanish half-way.
            self._left.add(future)
            future.add_done_callback(self._left.discard)


async def _attempt(awaitable: Awaitable[Any]) -> Outcome:
    try:
        return Outcome(await awaitable)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        # Something inside cancelled itself; the run was not asked to stop.
        return Outcome(error=error)
    except GeneratorExit:
        raise
    except KeyboardInterrupt as error:
        # The user's own interrupt only ever comes to the main thread.
        if threading.current_thread() is threading.main_thread():
            raise
        return Outcome(error=error)
    except BaseException as error:  # some libraries derive theirs from BaseException
        return Outcome(error=error)
