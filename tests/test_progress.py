"""The progress bar shows only where somebody looks, only when it takes long, and goes away."""

from __future__ import annotations

import io
import sys
import types

import pytest

from evaltoolkit import progress
from evaltoolkit.progress import NotebookBar, Progress, TerminalLine, choose_display


class Recorder:
    def __init__(self) -> None:
        self.shown: list[tuple[float, str]] = []
        self.closed = False

    def show(self, fraction: float, text: str) -> None:
        self.shown.append((fraction, text))

    def close(self) -> None:
        self.closed = True


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_short_job_shows_nothing() -> None:
    clock, recorder = Clock(), Recorder()
    with Progress(3, clock=clock, display=lambda: recorder) as bar:
        for _ in range(3):
            clock.now += 0.6
            bar.advance(1, "x")
    assert recorder.shown == []
    assert not recorder.closed


def test_a_long_job_shows_how_much_is_done_not_too_often_and_closes() -> None:
    clock, recorder = Clock(), Recorder()
    with Progress(100, clock=clock, display=lambda: recorder) as bar:
        for number in range(100):
            clock.now += 0.05
            bar.advance(1, f"file {number}")
    assert recorder.shown[0] == (0.4, "file 39")
    assert len(recorder.shown) < 32
    assert recorder.closed


def test_it_closes_after_an_error_too() -> None:
    clock, recorder = Clock(), Recorder()

    def broken_read() -> None:
        with Progress(1, clock=clock, display=lambda: recorder) as bar:
            clock.now = 9
            bar.advance(0, "x")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken_read()
    assert recorder.closed


def test_more_work_than_announced_stays_at_the_full_bar() -> None:
    clock, recorder = Clock(), Recorder()
    with Progress(0, clock=clock, display=lambda: recorder) as bar:
        clock.now = 9
        bar.advance(5, "x")
    assert recorder.shown == [(1.0, "x")]


def test_where_nobody_looks_nothing_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert choose_display() is None
    monkeypatch.setattr(sys, "stderr", None)
    assert choose_display() is None


def test_a_terminal_gets_one_line_that_is_wiped(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    display = choose_display()
    assert isinstance(display, TerminalLine)
    display.show(0.5, "2 of 4: a\x1b[2Jb.eval")
    display.close()
    written = terminal.getvalue()
    assert "[############............]  50% 2 of 4: a?[2Jb.eval" in written
    assert "\n" not in written
    assert "\x1b" not in written
    assert written.endswith(" \r")


def fake_kernel(monkeypatch: pytest.MonkeyPatch, kernel: object) -> None:
    ipython = types.ModuleType("IPython")
    shell = types.SimpleNamespace(kernel=kernel)
    vars(ipython)["get_ipython"] = lambda: shell
    monkeypatch.setitem(sys.modules, "IPython", ipython)


def test_a_notebook_gets_a_bar_of_widgets(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[object] = []
    fake_kernel(monkeypatch, object())
    display_module = types.ModuleType("IPython.display")
    vars(display_module)["display"] = shown.append
    monkeypatch.setitem(sys.modules, "IPython.display", display_module)
    fake = types.ModuleType("ipywidgets")
    for name in ("FloatProgress", "Label", "HBox"):
        setattr(fake, name, _widget(name))
    monkeypatch.setitem(sys.modules, "ipywidgets", fake)
    bar = choose_display()
    assert isinstance(bar, NotebookBar)
    bar.show(0.25, "<b>1 of 4</b>")
    bar.close()
    (box,) = shown
    inner = box.args[0]  # type: ignore[attr-defined]
    assert [widget.value for widget in inner] == [0.25, "<b>1 of 4</b>"]
    # A label shows text as it is; an HTML widget would run it.
    assert type(inner[1]).__name__ == "Label"
    assert all(widget.closed for widget in (*inner, box))


def _widget(name: str) -> type:
    def init(self: object, *args: object, **options: object) -> None:
        vars(self).update(args=args, options=options, value=None, closed=False)

    def close(self: object) -> None:
        vars(self)["closed"] = True

    return type(name, (), {"__init__": init, "close": close})


def test_a_notebook_without_ipywidgets_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_kernel(monkeypatch, object())
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    assert choose_display() is None


def test_ipython_in_a_terminal_is_no_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_kernel(monkeypatch, None)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert isinstance(choose_display(), TerminalLine)


def test_the_module_does_not_import_what_it_looks_for() -> None:
    assert "ipywidgets" not in vars(progress)
    assert "IPython" not in vars(progress)
