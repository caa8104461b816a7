"""Cells of tables of judgements: what is empty, numbers that are text, judgements on a crash."""

from __future__ import annotations

from typing import Any

from evaltoolkit.readers.base import Row
from evaltoolkit.readers.records import finite_number, shortened

_MOST = 2**53


def given(cell: Any) -> Any:  # noqa: ANN401 - any cell
    """Give the cell, or None where it is empty: tables write nothing, NaN or an empty text.

    Example:
        >>> given(""), given(float("nan")), given(0)
        (None, None, 0)
    """
    return None if cell is None or cell == "" or cell != cell else cell


def number_of(cell: object) -> float | None:
    """Read a finite number, which CSV writes as text; None for anything else.

    Example:
        >>> number_of("0.5"), number_of(2), number_of("two"), number_of(True)
        (0.5, 2.0, None, None)
    """
    if not isinstance(cell, str):
        return finite_number(cell)
    try:
        # Python reads "1_0" as 10, no tool writes that.
        return None if "_" in cell else finite_number(float(cell))
    except ValueError:
        return None


def crashed(row: Row, error: str) -> Row:
    """Turn a judgement on an answer that never came into an error of the system.

    Args:
        row: ``score`` and ``label`` as they were written; they are kept as label only.
        error: Why there is no answer.

    Example:
        >>> crashed({"score": 0.0, "label": None}, "timeout")["label"]
        '0.0'
    """
    written = row["label"] if row["score"] is None else row["label"] or str(row["score"])
    lost = {"score": None, "label": written, "passed": None, "status": "system_error"}
    return {**row, **lost, "message": shortened(error)}


def count_of(cell: object, *, default: int = 0) -> int:
    """Read the number of a repeat or a place.

    Args:
        cell: A whole number from 0, in CSV as text; empty for the default.
        default: What stands for an empty cell.

    Raises:
        ValueError: It is something else.

    Example:
        >>> count_of("2"), count_of(None), count_of(1.0)
        (2, 0, 1)
    """
    if given(cell) is None:
        return default
    number = number_of(cell)
    if number is None or number != int(number) or not 0 <= number < _MOST:
        raise ValueError(f"{cell!r:.40} is no number of a repeat or a place")
    return int(number)
