"""Marks and ticks that several charts use."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evaltoolkit.plots import scales, text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evaltoolkit.plots.measures import Measures


def draw_arrow(ax: Axes, at: tuple[float, float], *, right: bool, colour: str) -> None:
    """Mark at the edge of a panel that a row goes on beyond it."""
    how: dict[str, Any] = {
        "linestyle": "none",
        "clip_on": False,
        "zorder": 4,
        "label": "_beyond",
    }
    ax.plot([at[0]], [at[1]], marker=">" if right else "<", markersize=5, color=colour, **how)


def set_number_ticks(ax: Axes, measures: Measures, *, both_ways: bool = False) -> None:
    """Mark round numbers below a panel, as many as have room for their texts.

    Args:
        ax: The panel.
        measures: Sizes of the sheet.
        both_ways: The axis counts up to both sides of zero: no minus signs.
    """
    low, high = ax.get_xlim()
    words: dict[float, str] = {}
    for count in range(max(int(measures.plot_width / 0.45), 2), 0, -1):
        ticks, step = _round_numbers(low, high, count)
        words = {tick: scales.tick_text(abs(tick) if both_ways else tick, step) for tick in ticks}
        room = measures.plot_width * step / (high - low)
        if text.widest(words.values(), measures.small) + 0.08 <= room:
            break
    place_ticks(ax, words, measures)


def _round_numbers(low: float, high: float, count: int) -> tuple[list[float], float]:
    """Return round numbers between two ends, and their step."""
    from matplotlib.ticker import MaxNLocator

    values = MaxNLocator(nbins=count, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    inside = [float(value) for value in values if low <= value <= high]
    return inside, float(values[1] - values[0])


def set_log_ticks(ax: Axes, measures: Measures) -> None:
    """Mark 1, 2 and 5 of each decade below a logarithmic panel, or fewer if crowded."""
    low, high = ax.get_xlim()
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    decade = measures.plot_width / math.log10(high / low)
    words: dict[float, str] = {}
    # The second number is the smallest distance between neighbours, as a share of a decade.
    for steps, distance in (((1, 2, 5), 0.3), ((1, 3), 0.47), ((1,), 1.0)):
        every = [step * 10.0**power for power in decades for step in steps]
        words = {tick: _plain_number(tick) for tick in every if low <= tick <= high}
        if text.widest(words.values(), measures.small) + 0.08 <= decade * distance:
            break
    place_ticks(ax, words, measures)


def _plain_number(value: float) -> str:
    return scales.tick_text(value, 10.0 ** math.floor(math.log10(value)))


def place_ticks(ax: Axes, words: dict[float, str], measures: Measures) -> None:
    """Mark positions below a panel with words."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    ax.xaxis.set_major_locator(FixedLocator(list(words)))
    ax.xaxis.set_major_formatter(FixedFormatter(list(words.values())))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.tick_params(axis="x", labelsize=measures.small)
    # Ticks take the settings in force when they are first made, so they are made here.
    for label in ax.get_xticklabels():
        label.set_parse_math(False)
