"""Histograms with quantile dots, for scores with many values; binning for the eye only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evaltoolkit.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = 31
DOTS = 20
_HEIGHT = 0.17
"""Height of the tallest bin in inches."""
_WIDE_RANGE = 100.0


@dataclass(frozen=True)
class Scale:
    """The axis of one panel."""

    low: float
    high: float
    log: bool

    @property
    def edges(self) -> np.ndarray:
        """Edges of the bins."""
        space = np.geomspace if self.log else np.linspace
        edges: np.ndarray = space(self.low, self.high, BINS + 1)
        return edges


def scale_of(values: np.ndarray, *, unit: bool) -> Scale:
    """Choose an axis: 0 to 1 for shares, logarithmic where values span two orders of magnitude.

    Example:
        >>> scale_of(np.array([0.2, 0.7]), unit=True).low < 0
        True
        >>> scale_of(np.array([1.0, 1000.0]), unit=False).log
        True
    """
    low, high = float(values.min()), float(values.max())
    if unit:
        # Half a bin more on both sides, so that 0, 1 and simple fractions stand amid a bin.
        start = -1.0 if low < 0 else 0.0
        half = (1.0 - start) / (BINS - 1) / 2
        return Scale(start - half, 1.0 + half, log=False)
    if low > 0 and high / low > _WIDE_RANGE:
        return Scale(low / 1.1, high * 1.1, log=True)
    pad = 0.03 * (high - low) or max(abs(high) * 0.1, 0.5)
    # Zero belongs to amounts that cannot be negative and are not far from it.
    start = 0.0 if 0 <= low < 0.5 * high else low - pad
    return Scale(start, high + pad, log=False)


def quantile_dots(values: np.ndarray) -> np.ndarray:
    """Give dots that each stand for the same share of the examples; few values as they are.

    Example:
        >>> quantile_dots(np.arange(1000.0)).size
        20
    """
    if values.size <= DOTS:
        return np.sort(values)
    dots: np.ndarray = np.quantile(values, (np.arange(DOTS) + 0.5) / DOTS)
    return dots


def draw_strip(
    ax: Axes,
    base: float,
    counts: np.ndarray,
    edges: np.ndarray,
    *,
    tallest: int,
    candidate: bool,
) -> None:
    """Draw a histogram that stands on a base line.

    Args:
        ax: The panel; its y axis points down, in inches.
        base: Where the histogram stands.
        counts: Examples per bin.
        edges: Edges of the bins.
        tallest: Count that gets the full height.
        candidate: Whose scores these are; decides the fill.
    """
    fill = style.CANDIDATE_FILL if candidate else style.BASELINE_FILL
    tops = base - _HEIGHT * counts / max(tallest, 1)
    how: dict[str, Any] = {"facecolor": fill, "edgecolor": style.BAND_EDGE, "linewidth": 0.4}
    ax.stairs(tops, edges, baseline=base, fill=True, zorder=2, **how)
    ax.hlines(base, edges[0], edges[-1], color=style.BAND_EDGE, linewidth=0.5, zorder=2)


def draw_points(ax: Axes, base: float, dots: np.ndarray, mean: float) -> None:
    """Draw quantile dots below a base line and the mean on it."""
    below = np.full(dots.shape, base + 0.04)
    ax.plot(dots, below, "o", markersize=1.7, color=style.MUTED, markeredgewidth=0, zorder=3)
    how: dict[str, Any] = {
        "markerfacecolor": "white",
        "markeredgecolor": style.INK,
        "markeredgewidth": 0.9,
    }
    ax.plot([mean], [base], "D", markersize=4.2, zorder=4, label="_mean", **how)
