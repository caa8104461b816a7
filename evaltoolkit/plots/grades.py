"""Stacked bars of graded scores: how often each system got each grade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evaltoolkit.plots import style, text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BAR = 0.15
"""Height of a bar in inches."""
_EDGE: dict[str, Any] = {"edgecolor": style.INK, "linewidth": 0.4}


@dataclass(frozen=True)
class Segment:
    """One grade of one bar, in per cent of the examples."""

    grade: float
    count: int
    percent: float
    low: float
    high: float
    colour: str


def segments(
    values: np.ndarray, grades: Sequence[float], *, higher_is_better: bool
) -> list[Segment]:
    """Count grades and stack them: two grades from zero, more around their middle.

    Args:
        values: Scores, each one of the grades.
        grades: Grades in ascending order.
        higher_is_better: Direction of the criterion; decides which end is blue.

    Returns:
        Segments from left to right. Of two grades the higher one stands first, so that the
        lengths of bars can be compared from zero; more are in ascending order, half of the
        middle grade on each side of zero.

    Example:
        >>> import numpy as np
        >>> [(s.grade, s.percent) for s in segments(np.array([1.0, 1.0, 1.0, 0.0]), [0.0, 1.0],
        ...     higher_is_better=True)]
        [(1.0, 75.0), (0.0, 25.0)]
    """
    counts = [int((values == grade).sum()) for grade in grades]
    total = max(sum(counts), 1)
    shares = [100 * count / total for count in counts]
    colours = colours_of(len(grades), higher_is_better=higher_is_better)
    order = range(len(grades))
    if len(grades) <= 2:
        order, start = order[::-1], 0.0
    else:
        half, odd = divmod(len(grades), 2)
        start = -(sum(shares[:half]) + odd * shares[half] / 2)
    result = []
    for i in order:
        end = start + shares[i]
        result.append(Segment(grades[i], counts[i], shares[i], start, end, colours[i]))
        start = end
    return result


def colours_of(count: int, *, higher_is_better: bool) -> list[str]:
    """Give the colours of grades in ascending order; blue is the better end."""
    colours = style.grade_colours(count)
    return colours if higher_is_better else colours[::-1]


def draw_bar(ax: Axes, y: float, parts: Sequence[Segment], *, inch: float, size: float) -> None:
    """Draw one stacked bar, with the per cent on every segment that has room.

    Args:
        ax: The panel.
        y: Middle of the bar.
        parts: Its segments.
        inch: Width of one per cent in inches.
        size: Size of the texts in points.
    """
    for part in parts:
        if not part.count:
            continue
        ax.barh(y, part.percent, left=part.low, height=_BAR, color=part.colour, **_EDGE)
        words = f"{part.percent:.0f}"
        if text.width_of(words, size) + 0.04 <= part.percent * inch:
            ax.text(
                (part.low + part.high) / 2,
                y,
                words,
                ha="center",
                va="center_baseline",
                size=size,
                color=style.text_colour_on(part.colour),
                parse_math=False,
                clip_on=True,
            )
