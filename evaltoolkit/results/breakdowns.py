"""The table of single examples with marks, as `evaltoolkit.tables.examples` gives it."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field

import pandas as pd

from evaltoolkit.results.base import TableResult


@dataclass(frozen=True, eq=False)
class Breakdown(TableResult):
    """What became of each example: one mark for each system and criterion.

    ``print`` shows it as text, a notebook as HTML, `to_markdown` writes Markdown.

    Attributes:
        table: One row per measurement, in the order of the score table, with its ``mark`` and
            the ``column`` of the breakdown that it stands in.
        wide: One row per example (and trial), one column per system and criterion, and ``why``:
            the messages of what was not passed.
    """

    wide: pd.DataFrame = field(kw_only=True)

    def summary(self) -> pd.DataFrame:
        """Give the breakdown as text cells."""
        return self.wide

    def __str__(self) -> str:
        """Give the breakdown as aligned text, with the meaning of the marks below."""
        lines = _aligned(self.wide) if len(self.wide) else []
        return "\n".join([*lines, self.conclusion()])


def _aligned(frame: pd.DataFrame) -> list[str]:
    rows = [[str(name) for name in frame.columns], *frame.astype(str).to_numpy().tolist()]
    widths = [max(_width(row[i]) for row in rows) for i in range(len(rows[0]))]
    padded = [
        [_padded(cell, width) for cell, width in zip(row, widths, strict=True)] for row in rows
    ]
    rule = ["-" * width for width in widths]
    return ["  ".join(row).rstrip() for row in (padded[0], rule, *padded[1:])]


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - _width(cell))


def _width(text: str) -> int:
    """Count the columns of a terminal: two for a wide character, none for an accent."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) > 0 for char in text)
