"""Cells of tables that went through CSV: what counts as empty, and numbers that are text there."""

from __future__ import annotations

from typing import Any

from evaltoolkit.readers.records import finite_number


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
