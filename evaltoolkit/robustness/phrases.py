"""Turns of phrase that the sentences of this room share."""

from __future__ import annotations

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit import wording


def labels_of(table: pd.DataFrame) -> list[str]:
    """Name the hypotheses of a table's rows, task and scorer only where there are several.

    Example:
        >>> labels_of(pd.DataFrame({"task": ["a", "b"], "criterion": "ok", "scorer": ""}))
        ['ok (a)', 'ok (b)']
    """
    plain = table[["task", "criterion", "scorer"]].assign(slice_by=None, slice=None)
    return [wording.label(row) for row in wording.rows_of(wording.with_flags(plain))]


def p_text(name: str, p: float) -> str:
    """Write a named p-value.

    Example:
        >>> p_text("p", 0.0421), p_text("adjusted p", 1e-9)
        ('p = .042', 'adjusted p < .0001')
    """
    text = fmt.format_p(p)
    return f"{name} {text[0]} {text[1:]}" if text.startswith("<") else f"{name} = {text}"


def one_line(name: object) -> str:
    """Keep a foreign name from breaking the line that it stands in."""
    return " ".join(str(name).split()) or "(no name)"


def named(names: list[str], *, limit: int = 5) -> str:
    """List names, the first few of many.

    Example:
        >>> named(["a", "b", "c"], limit=2)
        'a, b and 1 more'
    """
    shown = ", ".join(one_line(name) for name in names[:limit])
    rest = len(names) - limit
    return f"{shown} and {rest} more" if rest > 0 else shown
