"""What a sheet shall hold, and how large its parts become: texts are measured, never guessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaltoolkit.plots import style, text

if TYPE_CHECKING:
    from matplotlib.artist import Artist

PAD = 0.08
GAP = 0.11
"""Between the columns of the gutter, and between it and the panels."""
TICKS = 0.22
BETWEEN = 0.12
LINE = 1.25 / 72
"""Height of a line of text, in inches per point of its size."""
_SPACES, _INDENT = "  ", 0.09
_NARROW = 5.0
_LABEL_SHARE = 0.34
_LEAST_PLOT = 0.95
_GIVEN_AXES_LABEL = 1.7
KEY_HANDLE = 0.3
KEY_GAP = 0.18


@dataclass(frozen=True)
class Row:
    """One row: its name, a remark under the name, and the texts of the gutter.

    Attributes:
        name: Drawable text, wrapped or shortened as needed.
        identity: What the name stands for: equal names that differ in it get numbers.
        cells: One text for each column of the gutter; a single one spans them all. Lines of a
            cell stand a ``pitch`` apart.
        remark: A short second line, never shortened.
        height: Least height, in rows.
        bold: Whether the name is a heading.
        indent: Steps from the left.
        pitch: Distance in inches between the lines of a cell.
    """

    name: str
    identity: str
    cells: tuple[str, ...]
    remark: str = ""
    height: float = 1.0
    bold: bool = False
    indent: int = 0
    pitch: float = 0.0

    @property
    def weight(self) -> str:
        """Weight of the font of the name."""
        return "bold" if self.bold else "normal"


@dataclass(frozen=True)
class Plan:
    """What a sheet shall hold.

    Attributes:
        panels: The rows of each panel, top to bottom.
        headers: Heads of the gutter's columns.
        title: Printed above; nothing where empty.
        axis_titles: Printed below the panels; a single one stands below the last.
        key: Handles and words of the key.
        notes: Lines under the key.
    """

    panels: tuple[tuple[Row, ...], ...]
    headers: tuple[str, ...]
    title: str = ""
    axis_titles: tuple[str, ...] = ("",)
    key: tuple[tuple[Artist, str], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> list[Row]:
        """The rows of all panels."""
        return [row for panel in self.panels for row in panel]


@dataclass(frozen=True)
class Measures:
    """Sizes of the parts of a sheet, in inches and points."""

    body: float
    small: float
    label_width: float
    labels: tuple[tuple[str, ...], ...]
    heights: tuple[tuple[float, ...], ...]
    gutter: tuple[float, ...]
    plot_width: float
    stacked: bool
    """Whether the last column of the gutter stands below the others, to save width."""

    @property
    def gutter_width(self) -> float:
        """Width of all columns with their gaps."""
        return sum(self.gutter) + GAP * len(self.gutter)


def title_height(plan: Plan, measures: Measures) -> float:
    """Return how far the title reaches above the first panel, in inches."""
    lines = len(title_lines(plan, measures))
    return head_height(plan, measures) + lines * (measures.body + 1) * LINE


def measure(plan: Plan, width: float | None) -> Measures:
    """Measure all texts and share the width out; without a width only texts are measured."""
    narrow = width is not None and width < _NARROW
    body, small = (style.SMALL, style.TINY) if narrow else (style.BODY, style.SMALL)
    stacked = narrow and len(plan.headers) > 2
    gutter = _gutter_widths(plan, small, stacked=stacked)
    side = sum(gutter) + GAP * len(gutter)
    room = _label_room(width, side)
    labels = tuple(tuple(_labels(panel, room, body)) for panel in plan.panels)
    label_width = 0.02 + max(
        text.width_of(label, body, row.weight)
        for panel, shown in zip(plan.panels, labels, strict=True)
        for row, label in zip(panel, shown, strict=True)
    )
    heights = tuple(
        tuple(
            _height(row, label, body) + 0.05 * stacked
            for row, label in zip(panel, shown, strict=True)
        )
        for panel, shown in zip(plan.panels, labels, strict=True)
    )
    plot = 0.0 if width is None else width - 2 * PAD - label_width - GAP - side
    return Measures(body, small, label_width, labels, heights, gutter, plot, stacked)


def _label_room(width: float | None, side: float) -> float:
    if width is None:
        return _GIVEN_AXES_LABEL
    left = width - 2 * PAD - side - GAP
    return max(min(_LABEL_SHARE * width, left - _LEAST_PLOT), 0.6)


def _labels(rows: Sequence[Row], room: float, size: float) -> list[str]:
    names = [
        text.fit(row.name, room - _INDENT * row.indent, size, weight=row.weight) for row in rows
    ]
    names = text.distinct(names, [row.identity for row in rows])
    full = [
        f"{name}\n{row.remark}" if row.remark else name
        for name, row in zip(names, rows, strict=True)
    ]
    return [
        "\n".join(_SPACES * row.indent + line for line in name.split("\n"))
        for name, row in zip(full, rows, strict=True)
    ]


def _height(row: Row, label: str, size: float) -> float:
    lines = label.count("\n") + 1
    return max(row.height * style.ROW, lines * size * LINE + 0.06)


def _gutter_widths(plan: Plan, size: float, *, stacked: bool) -> tuple[float, ...]:
    lines = [plan.headers, *(row.cells for row in plan.rows)]
    full = [cells for cells in lines if len(cells) == len(plan.headers)]
    columns = range(len(plan.headers) - stacked)
    widths = [text.widest((cells[i] for cells in full), size) for i in columns]
    spanning = [cells[0] for cells in lines if len(cells) == 1 != len(plan.headers)]
    spanning += [cells[-1] for cells in full if stacked]
    if widths:
        total = sum(widths) + GAP * (len(widths) - 1)
        widths[0] += max(text.widest(spanning, size) - total, 0.0)
    return tuple(widths)


def head_height(plan: Plan, measures: Measures) -> float:
    """Return the height of the heads of the gutter in inches."""
    lines = (1 + measures.stacked) * any(plan.headers)
    return lines * measures.small * LINE + 0.05


def title_lines(plan: Plan, measures: Measures) -> list[str]:
    """Give the wrapped lines of the title."""
    if not plan.title:
        return []
    room = full_width(measures)
    return text.fit(plan.title, room, measures.body + 1, weight="bold").split("\n")


def full_width(measures: Measures) -> float:
    """Return the width between the edges of the sheet in inches."""
    return measures.label_width + GAP + measures.plot_width + measures.gutter_width


def axis_title(plan: Plan, measures: Measures, panel: int) -> str:
    """Give the wrapped title of the axis of a panel; empty where it has none."""
    if len(plan.axis_titles) == 1 and panel < len(plan.panels) - 1:
        return ""
    words = plan.axis_titles[min(panel, len(plan.axis_titles) - 1)]
    sides = min(measures.label_width + GAP, measures.gutter_width)
    return text.fit(words, measures.plot_width + 2 * sides, measures.body, lines=3) if words else ""


def axis_height(plan: Plan, measures: Measures, panel: int) -> float:
    """Return how far ticks and title of an axis reach below its panel, in inches."""
    words = axis_title(plan, measures, panel)
    lines = words.count("\n") + 1 if words else 0
    return TICKS + 0.02 + lines * measures.body * LINE


def key_height(plan: Plan, measures: Measures) -> float:
    """Return the height of the key in inches; 0 where there is none."""
    if not plan.key:
        return 0.0
    lines = -(-len(plan.key) // key_columns(plan, measures))
    return 0.06 + lines * measures.small * 1.4 / 72


def note_lines(plan: Plan, measures: Measures) -> list[str]:
    """Give the wrapped lines under the key."""
    room = full_width(measures)
    notes = [text.fit(note, room, measures.small, lines=6) for note in plan.notes]
    return [line for note in notes for line in note.split("\n")]


def notes_height(plan: Plan, measures: Measures) -> float:
    """Return the height of the lines under the key in inches."""
    lines = len(note_lines(plan, measures))
    return lines * measures.small * LINE + (0.04 if lines else 0.0)


def key_columns(plan: Plan, measures: Measures) -> int:
    """Choose the most columns in which the key fits between the edges of the sheet."""
    widths = [KEY_HANDLE + KEY_GAP + text.width_of(words, measures.small) for _, words in plan.key]
    room = full_width(measures)
    for columns in range(len(widths), 1, -1):
        per_column = -(-len(widths) // columns)
        columns_used = [max(widths[i : i + per_column]) for i in range(0, len(widths), per_column)]
        if sum(columns_used) - KEY_GAP <= room and len(columns_used) == columns:
            return columns
    return 1
