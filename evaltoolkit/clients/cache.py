"""Answers kept in one SQLite file, so that a call is made and paid once.

Many threads and processes may use one file at a time. Two that ask the same at the same moment both
call; the first answer to arrive is kept and both get it, so a repeated run gives the same numbers.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from evaltoolkit.errors import ScorerError

CACHE_VERSION = 1
"""Part of every key: what was kept by a release that asked differently is not found again."""

_APPLICATION = 0x65744331
_BUSY_S = 30.0
_TABLE = """
CREATE TABLE IF NOT EXISTS calls (
    key TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    created REAL NOT NULL
) WITHOUT ROWID
"""


class Remembered(NamedTuple):
    """A value, and whether it was there before."""

    value: Any
    hit: bool


def call_key(kind: str, parts: Mapping[str, Any]) -> str:
    """Make a key of everything that decides the answer to a call.

    Args:
        kind: What sort of call: ``judge``, ``embedding``, ``system`` or another word.
        parts: All that matters, as a JSON value: endpoint, model, messages, settings. Never a
            key of an account.

    Returns:
        64 hexadecimal digits; the order of names in a dict does not matter.

    Raises:
        ScorerError: A part is not JSON.

    Example:
        >>> call_key("judge", {"a": 1, "b": 2}) == call_key("judge", {"b": 2, "a": 1})
        True
        >>> call_key("judge", {"a": 1}) == call_key("judge", {"a": 1.5})
        False
    """
    try:
        text = json.dumps([CACHE_VERSION, kind, dict(parts)], sort_keys=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        msg = f"a call of kind {kind!r} cannot be kept, for it is not JSON: {error}"
        raise ScorerError(msg, code="not_json", path="cache") from error
    return hashlib.sha256(text.encode("ascii")).hexdigest()


class CallCache:
    """A file of answers by key.

    Args:
        path: The file; it and its folder are made where they are missing. It should be on a disk
            of this machine: SQLite cannot lock safely over most network file systems.

    Raises:
        ScorerError: The file is no cache of this library, or cannot be opened.

    Example:
        >>> cache = CallCache(":memory:")
        >>> cache.remember("system", {"prompt": "2 + 2?"}, lambda: "4")
        Remembered(value='4', hit=False)
        >>> cache.remember("system", {"prompt": "2 + 2?"}, lambda: "never called")
        Remembered(value='4', hit=True)
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not isinstance(path, str | os.PathLike):
            msg = f"the cache is a {type(path).__name__}; give the path of a file or a CallCache"
            raise ScorerError(msg, code="bad_option", path="cache", value=path)
        self._path = os.fspath(path)
        self._lock = threading.Lock()
        self._open: sqlite3.Connection | None = None
        _OPEN.add(self)
        with self._lock:
            self._connection()

    @property
    def path(self) -> str:
        """Where the answers are."""
        return self._path

    def __repr__(self) -> str:
        """Show where the answers are."""
        return f"CallCache({self._path!r})"

    def __reduce__(self) -> tuple[type[CallCache], tuple[str]]:
        """Open the same file anew in another process."""
        return (CallCache, (self._path,))

    def __len__(self) -> int:
        """Count the answers."""
        return int(self._run("SELECT count(*) FROM calls")[0][0])

    def get(self, key: str) -> Remembered | None:
        """Look up an answer; None where there is none. A broken entry is dropped."""
        rows = self._run("SELECT value FROM calls WHERE key = ?", key)
        if not rows:
            return None
        try:
            return Remembered(json.loads(rows[0][0]), hit=True)
        except (ValueError, TypeError, RecursionError):
            self._run("DELETE FROM calls WHERE key = ?", key)
            return None

    def put(self, key: str, kind: str, value: object) -> Any:  # noqa: ANN401 - any JSON value
        """Keep an answer unless there is one already, and give back the one that is kept.

        Raises:
            ScorerError: The value is not JSON.
        """
        try:
            text = json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            msg = f"an answer of kind {kind!r} cannot be kept, for it is not JSON: {error}"
            raise ScorerError(msg, code="not_json", path="cache") from error
        insert = "INSERT OR IGNORE INTO calls (key, kind, value, created) VALUES (?, ?, ?, ?)"
        self._run(insert, key, kind, text, time.time())
        kept = self.get(key)
        return json.loads(text) if kept is None else kept.value

    def remember(
        self, kind: str, parts: Mapping[str, Any], call: Callable[[], object]
    ) -> Remembered:
        """Give the answer that is kept, or call and keep what comes back.

        Args:
            kind: What sort of call.
            parts: Everything that decides the answer, as a JSON value.
            call: Makes the call. What it raises is passed on and nothing is kept.

        Returns:
            The answer as a JSON value, and whether it was there before.
        """
        key = call_key(kind, parts)
        return self.get(key) or Remembered(self.put(key, kind, call()), hit=False)

    async def remember_async(
        self, kind: str, parts: Mapping[str, Any], call: Callable[[], Awaitable[object]]
    ) -> Remembered:
        """Do the same for an async call; the file is read and written beside the loop."""
        key = call_key(kind, parts)
        found = await asyncio.to_thread(self.get, key)
        if found is not None:
            return found
        answer = await call()
        return Remembered(await asyncio.to_thread(self.put, key, kind, answer), hit=False)

    def clear(self, *, kind: str | None = None) -> int:
        """Forget all answers, or those of one kind; give their number."""
        where, values = ("", ()) if kind is None else (" WHERE kind = ?", (kind,))
        # Asked for in one statement, so that nothing that others add meanwhile is miscounted.
        return len(self._run(f"DELETE FROM calls{where} RETURNING key", *values))

    def close(self) -> None:
        """Close the file; it is opened again when it is needed."""
        with self._lock:
            if self._open is not None:
                self._open.close()
            self._open = None

    def start_anew(self) -> None:
        """Leave the parent's lock and connection alone in a process that was forked off."""
        self._lock = threading.Lock()
        if self._open is not None:
            _INHERITED.append(self._open)
            self._open = None

    def _run(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock:
            try:
                return self._connection().execute(statement, values).fetchall()
            except sqlite3.Error as error:
                raise _broken(self._path, error) from error

    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            try:
                connection = _opened(self._path)
            except (sqlite3.Error, OSError) as error:
                raise _broken(self._path, error) from error
            weakref.finalize(self, _close_own, connection, os.getpid())
            self._open = connection
        return self._open


_OPEN: weakref.WeakSet[CallCache] = weakref.WeakSet()
_INHERITED: list[sqlite3.Connection] = []
"""Connections of a parent process; SQLite's may not be carried through a fork, nor closed there."""


def _start_all_anew() -> None:
    for cache in list(_OPEN):
        cache.start_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_all_anew)


def _close_own(connection: sqlite3.Connection, pid: int) -> None:
    if pid == os.getpid():
        connection.close()


def as_cache(cache: CallCache | str | os.PathLike[str] | None) -> CallCache | None:
    """Open a cache from its path; pass on one that is open, and None."""
    return cache if cache is None or isinstance(cache, CallCache) else CallCache(cache)


def _opened(path: str) -> sqlite3.Connection:
    if path != ":memory:":
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(
        path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
    )
    try:
        _prepare(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: str) -> None:
    """Make the table in a new file; refuse a file of somebody else."""
    # In this order: another process may be making the table and its mark at this moment.
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    owner = connection.execute("PRAGMA application_id").fetchone()[0]
    if owner != _APPLICATION and tables:
        msg = (
            f"{path} is an SQLite file of something else; give the path of a new file, or of a "
            "cache that this library made"
        )
        raise ScorerError(msg, code="foreign_cache", path=path)
    if owner != _APPLICATION:
        _use_write_ahead_log(connection)
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_TABLE)
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute("COMMIT")
    connection.execute("PRAGMA synchronous = NORMAL")


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Let readers and a writer work at once; SQLite does not wait for the right to change this."""
    deadline = time.monotonic() + _BUSY_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _broken(path: str, error: Exception) -> ScorerError:
    told = str(error)
    if "malformed" in told or "not a database" in told:
        remedy = "give the path of another file, or delete this one if it is a damaged cache"
    elif "locked" in told:
        remedy = f"another process has held it for {_BUSY_S:g} s; try again when that has ended"
    else:
        remedy = "give the path of a file that can be written, in a folder that can be, too"
    msg = f"the cache {path} cannot be used: {told}; {remedy}"
    return ScorerError(msg, code="broken_cache", path=path)
