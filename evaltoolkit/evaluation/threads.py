"""Daemon threads that run blocking calls for an event loop, and can be left behind.

The executors of the standard library wait for their threads when the program ends. A call that
never returns would keep the program alive for ever, so the threads here are daemons: one that is
given up goes on in the background, and dies with the program at the latest.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, NamedTuple


class Outcome(NamedTuple):
    """What a call came to: a value, or the exception that it raised."""

    value: Any = None
    error: BaseException | None = None


_Task = tuple[Callable[[], Any], contextvars.Context, "asyncio.Future[Outcome]"]


class Threads:
    """As many threads as calls are in flight, used again; all methods belong to the loop's thread.

    Args:
        loop: The event loop that gets the outcomes.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._idle: list[SimpleQueue[_Task | None]] = []
        self._closed = False

    def run(self, call: Callable[[], Any]) -> asyncio.Future[Outcome]:
        """Run a call in a thread of its own; the future gets its outcome and never raises.

        A future that nobody waits for any more leaves its thread to itself; when the call comes
        back after all, the thread is used again.
        """
        future: asyncio.Future[Outcome] = self._loop.create_future()
        try:
            queue = self._idle.pop() if self._idle else self._start()
        except RuntimeError as error:  # the machine gives no further thread
            future.set_result(Outcome(error=error))
            return future
        queue.put((call, contextvars.copy_context(), future))
        return future

    def close(self) -> None:
        """End the idle threads; the others end when their call comes back."""
        self._closed = True
        for queue in self._idle:
            queue.put(None)
        self._idle.clear()

    def _start(self) -> SimpleQueue[_Task | None]:
        queue: SimpleQueue[_Task | None] = SimpleQueue()
        threading.Thread(
            target=self._serve, args=(queue,), name="evaltoolkit-call", daemon=True
        ).start()
        return queue

    def _serve(self, queue: SimpleQueue[_Task | None]) -> None:
        while (task := queue.get()) is not None:
            call, context, future = task
            outcome = _attempt(call, context)
            try:
                self._loop.call_soon_threadsafe(self._finished, queue, future, outcome)
            except RuntimeError:  # the loop is closed: nobody waits any more
                return
            del task, call, context, future, outcome

    def _finished(
        self, queue: SimpleQueue[_Task | None], future: asyncio.Future[Outcome], outcome: Outcome
    ) -> None:
        if not future.done():
            future.set_result(outcome)
        if self._closed:
            queue.put(None)
        else:
            self._idle.append(queue)


def _attempt(call: Callable[[], Any], context: contextvars.Context) -> Outcome:
    try:
        return Outcome(context.run(call))
    except BaseException as error:
        return Outcome(error=error)
