"""A progress bar for long jobs: shown only where somebody looks, only when it takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

SHOW_AFTER_S = 2.0
"""A shorter wait needs no bar."""

_EVERY_S = 0.1
_WIDTH = 24


class Display(Protocol):
    """Where progress is shown."""

    def show(self, fraction: float, text: str) -> None:
        """Show how much is done (0 to 1) and a few words on it."""
        ...

    def close(self) -> None:
        """Take the bar away."""
        ...


class Progress:
    """Progress of one long job, as a context manager; it closes itself.

    Args:
        total: The amount of work, in any unit.
        clock: Gives the time in seconds.
        display: Chooses the display when one is first needed; None shows nothing.

    Example:
        >>> with Progress(total=3) as progress:
        ...     for _ in range(3):
        ...         progress.advance(1, "reading")
    """

    def __init__(
        self,
        total: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        display: Callable[[], Display | None] | None = None,
    ) -> None:
        self._total = total
        self._done = 0.0
        self._clock = clock
        self._choose = display or choose_display
        self._display: Display | None = None
        self._next = clock() + SHOW_AFTER_S
        self._chosen = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._display is not None:
            self._display.close()

    def advance(self, amount: float, text: str) -> None:
        """Count finished work (0 is allowed: only the text is new)."""
        self._done += amount
        if self._clock() < self._next:
            return
        self._next = self._clock() + _EVERY_S
        if not self._chosen:
            self._display, self._chosen = self._choose(), True
        if self._display is not None:
            share = self._done / self._total if self._total > 0 else 1.0
            self._display.show(min(share, 1.0), text)


def choose_display() -> Display | None:
    """Choose a bar for a notebook, a line for a terminal, nothing elsewhere."""
    if _in_notebook():
        return _notebook_bar()
    return TerminalLine() if sys.stderr is not None and sys.stderr.isatty() else None


def _in_notebook() -> bool:
    """Whether an IPython kernel runs this code; IPython is looked up, never imported."""
    ipython = sys.modules.get("IPython")
    shell = getattr(ipython, "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def _notebook_bar() -> Display | None:
    try:
        return NotebookBar()
    except ImportError:
        return None


class NotebookBar:
    """A bar of ipywidgets below the running cell."""

    def __init__(self) -> None:
        import ipywidgets as widgets
        from IPython.display import display

        self._bar = widgets.FloatProgress(min=0.0, max=1.0)
        # Text, not HTML: file names are not to be trusted.
        self._text = widgets.Label()
        self._box = widgets.HBox([self._bar, self._text])
        display(self._box)  # type: ignore[no-untyped-call]

    def show(self, fraction: float, text: str) -> None:
        """Move the bar."""
        self._bar.value = fraction
        self._text.value = text

    def close(self) -> None:
        """Remove the widgets."""
        for widget in (self._box, self._bar, self._text):
            widget.close()


class TerminalLine:
    """One line on the standard error stream, rewritten in place."""

    def __init__(self) -> None:
        self._length = 0

    def show(self, fraction: float, text: str) -> None:
        """Rewrite the line."""
        full = round(fraction * _WIDTH)
        plain = "".join(char if char.isprintable() else "?" for char in text)
        line = f"[{'#' * full}{'.' * (_WIDTH - full)}] {fraction:4.0%} {plain}"[:100]
        self._write(line.ljust(self._length))
        self._length = len(line)

    def close(self) -> None:
        """Wipe the line."""
        self._write(" " * self._length + "\r")

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text)
        sys.stderr.flush()
