"""The one line of a traceback that says what happened."""

from __future__ import annotations

from evaltoolkit.readers.records import shortened

_START = "Traceback (most recent call last)"


def reason(text: str) -> str:
    r"""Take the error out of a traceback, short enough for the score table.

    Example:
        >>> reason("Traceback (most recent call last):\n  File 'x', line 1\nKeyError: 'a'\n")
        "KeyError: 'a'"
        >>> reason("TimeoutError()\n\nTraceback (most recent call last):\n  File 'x'\n")
        'TimeoutError()'
    """
    before, found, after = text.partition(_START)
    if not found or before.strip():
        return shortened(before)
    lines = [line for line in after.splitlines() if line.strip()]
    # What is indented is the way to the error, not the error.
    errors = [line for line in lines[1:] if not line[0].isspace()]
    return shortened((errors or lines or [text])[-1])
