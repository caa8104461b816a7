"""Keep what a run has finished on disk, one line at a time, so that a kill loses nothing.

A folder of a run holds ``run.json`` (what was asked for) and a hidden journal in JSON lines that
only ever grows: one line when a system has answered, one when the answer is scored. A line is
handed to the operating system before the next call starts, so that the death of the process
loses none; at most once a second it is also forced to the disk, so that the death of the machine
loses about a second. A last line that was torn off is cut away when the run is taken up again.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from evaltoolkit.errors import EvalToolkitError, listed
from evaltoolkit.evaluation.digests import clean, json_text

JOURNAL = ".journal.jsonl"
RUN_FILE = "run.json"
FORMAT = 1
FORCE_EVERY_S = 1.0

Line = dict[str, Any]


class Log(Protocol):
    """Where the engine writes down what is finished; ``keeps`` says whether it is read."""

    keeps: bool

    def write(self, line: Line) -> None:
        """Keep one line."""
        ...


class NoJournal:
    """Keeps nothing, for runs without a folder."""

    keeps = False

    def write(self, line: Line) -> None:
        """Keep nothing."""


class Journal:
    """The journal of one run, opened for appending; only one process may hold it.

    Args:
        folder: Folder of the run; it is made where it is missing.

    Raises:
        EvalToolkitError: Another process is at this run, or nothing can be written there.
    """

    keeps = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._path = folder / JOURNAL
        self._file = _opened(self._path)
        try:
            _lock(self._file, folder)
        except EvalToolkitError:
            os.close(self._file)
            raise
        self._forced = time.monotonic()
        self._lock = threading.Lock()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            self._closed = True
            os.fsync(self._file)
            os.close(self._file)

    def lines(self) -> Iterator[Line]:
        """Read the lines so far; cut off what is no whole line at the end."""
        content = self._path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.ftruncate(self._file, whole)
        for raw in content[:whole].splitlines():
            line = _read(raw)
            if line is not None:
                yield line

    def write(self, line: Line) -> None:
        """Append one line; what a call that was left behind writes after the end is dropped."""
        rest = json.dumps(line, separators=(",", ":")).encode("ascii") + b"\n"
        with self._lock:
            # The number of a closed file may belong to another file by now.
            if self._closed:
                return
            while rest:
                rest = rest[os.write(self._file, rest) :]
            now = time.monotonic()
            if now - self._forced >= FORCE_EVERY_S:
                os.fsync(self._file)
                self._forced = time.monotonic()


def _opened(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    except OSError as error:
        raise EvalToolkitError(
            f"the run cannot be kept in {path.parent}: {error.strerror}; give another folder=",
            code="bad_folder",
            path=str(path.parent),
        ) from error


def _read(raw: bytes) -> Line | None:
    """Read a line; one that is damaged counts as never written, so its work is done again."""
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) else None


def _lock(file: int, folder: Path) -> None:
    try:
        import fcntl
    except ImportError:  # Windows has no such lock; two runs at once are then the user's care
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise EvalToolkitError(
            f"{folder}: another process is working on this run; wait for it, end it, or give "
            "another run_id=",
            code="run_in_use",
            path=str(folder),
        ) from error
    except OSError:  # a network file system without locks: as on Windows
        return


def check_choices(folder: Path, choices: Mapping[str, Any]) -> None:
    """Check that a run that was begun is taken up with the same choices.

    Args:
        folder: Folder of the run.
        choices: Digests of all that shapes the run, perhaps in groups.

    Raises:
        EvalToolkitError: They differ; it names what, and what to do.
    """
    path = folder / RUN_FILE
    try:
        begun = json.loads(path.read_text("utf-8"))["choices"]
    except (FileNotFoundError, NotADirectoryError):
        return
    except (ValueError, LookupError, TypeError) as error:
        raise EvalToolkitError(
            f"{path} is no description of a run; move it away or give another run_id=",
            code="bad_run_file",
            path=str(path),
        ) from error
    changed = _changed(begun, dict(choices))
    if changed:
        raise EvalToolkitError(
            f"the run in {folder} was begun with other choices: {listed(changed, limit=8)} "
            "changed; finish it with the old ones, or give another run_id=",
            code="changed_choices",
            path=str(folder),
            value=changed,
        )


def _changed(begun: Any, now: Any, name: str = "") -> list[str]:  # noqa: ANN401 - JSON values
    if isinstance(begun, dict) and isinstance(now, dict):
        found: list[str] = []
        for each in dict.fromkeys([*begun, *now]):
            inner = f"{name}: {each}" if name else each
            found += _changed(begun.get(each), now.get(each), inner)
        return found
    return [] if begun == now else [name]


def write_run_file(folder: Path, facts: Mapping[str, Any]) -> None:
    """Write the description of a run in one step, so that it is never half there."""
    path = folder / RUN_FILE
    text = clean(json_text({"evaltoolkit_run": FORMAT, **facts}))
    pretty = json.dumps(json.loads(text), indent=1)
    beside = path.with_name(f".{RUN_FILE}.new")
    with beside.open("w", encoding="utf-8") as file:
        file.write(pretty + "\n")
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
