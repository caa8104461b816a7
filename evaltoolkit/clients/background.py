"""One event loop in a thread of its own, on which all calls run.

A call can then be made from ordinary code, from a notebook whose own loop is running and from any
thread, with one pool of connections, one set of time limits and one implementation.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
import weakref
from collections.abc import Awaitable, Coroutine
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Closable(Protocol):
    """A pool of connections that lives on the loop."""

    def aclose(self) -> Awaitable[None]:
        """Close every connection."""
        ...


_LOCK = threading.Lock()
_RUNNING: list[asyncio.AbstractEventLoop] = []
_POOLS: weakref.WeakSet[Closable] = weakref.WeakSet()
_STOP_S = 2.0


def background_loop() -> asyncio.AbstractEventLoop:
    """Give the loop of this process; start it on first use."""
    with _LOCK:
        if not _RUNNING:
            loop = asyncio.new_event_loop()
            thread = threading.Thread(
                target=_serve, args=(loop,), name="evaltoolkit-calls", daemon=True
            )
            thread.start()
            atexit.register(_stop, loop, thread)
            _RUNNING.append(loop)
        return _RUNNING[0]


def _start_anew() -> None:
    """Forget the loop of a parent process: a fork takes its sockets along, but not its thread."""
    global _LOCK
    _LOCK = threading.Lock()
    _RUNNING.clear()
    _POOLS.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)


def run_blocking(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the loop and wait for it; an interrupt cancels it."""
    future = asyncio.run_coroutine_threadsafe(work, background_loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


async def run_beside(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the loop and await it from another; cancelling one cancels both."""
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, background_loop()))


def close_with(owner: object, pool: Closable, loop: asyncio.AbstractEventLoop) -> None:
    """Close a pool when its owner is no longer used, or else when the interpreter ends."""
    _POOLS.add(pool)
    weakref.finalize(owner, _close_soon, pool, loop).atexit = False


def _close_soon(pool: Closable, loop: asyncio.AbstractEventLoop) -> None:
    if loop in _RUNNING and loop.is_running():
        asyncio.run_coroutine_threadsafe(_closed(pool), loop)


async def _closed(pool: Closable) -> None:
    await pool.aclose()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()


def _stop(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    """End the loop in order, so that nothing is left open when the interpreter goes."""
    if loop not in _RUNNING or not thread.is_alive():
        return
    asyncio.run_coroutine_threadsafe(_finish(), loop)
    thread.join(_STOP_S)
    if not thread.is_alive():
        loop.close()


async def _finish() -> None:
    loop = asyncio.get_running_loop()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.gather(*(_closed(pool) for pool in list(_POOLS)), return_exceptions=True)
    loop.call_soon(loop.stop)
