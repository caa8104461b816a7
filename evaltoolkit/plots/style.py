"""Colours, sizes and settings that all charts share.

Colours are those of Okabe and Ito (Color universal design, 2008): told apart with every common
colour vision. No chart relies on colour alone: shape, position or words say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BETTER = "#0072B2"
WORSE = "#D55E00"
NEUTRAL = "#8A8A8A"
INK = "#222222"
MUTED = "#595959"
"""Secondary text: 7:1 on white."""
GUIDE = "#DDDDDD"
"""Hairlines that lead the eye along a row; they carry no information."""
BAND = "#ECECEC"
BAND_EDGE = "#767676"
BASELINE_FILL = "#B8B8B8"
CANDIDATE_FILL = "#4D4D4D"

GRADES = ("#B35806", "#F1A340", "#D8D8D8", "#67A9CF", "#2166AC")
"""From worst to best; dark at both ends, so order is also given by position and key."""

COLUMN, TEXT, PAGE = 3.25, 5.5, 6.9
"""Widths in inches: one column, the text of a one-column page, both columns."""
ROW = 0.28
"""Height in inches of one row."""

BODY, SMALL, TINY = 8.0, 7.0, 6.5
"""Sizes in points; nothing is set below 6."""

SPINE = 0.6
SAVED_DPI = 200
SCREEN_DPI = 100
HASH_SALT = "evaltoolkit"


def settings() -> dict[str, Any]:
    """Give the matplotlib settings of all charts, on top of matplotlib's own defaults."""
    from evaltoolkit.plots.text import font_families

    return {
        "font.family": list(font_families()),
        "font.size": BODY,
        "text.color": INK,
        "text.usetex": False,
        "text.parse_math": False,
        "axes.unicode_minus": True,
        "axes.labelsize": BODY,
        "axes.titlesize": BODY,
        "axes.linewidth": SPINE,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "axes.formatter.useoffset": False,
        "xtick.labelsize": SMALL,
        "ytick.labelsize": BODY,
        "xtick.major.width": SPINE,
        "ytick.major.width": SPINE,
        "xtick.color": INK,
        "ytick.color": INK,
        "xtick.major.size": 2.5,
        "figure.dpi": SCREEN_DPI,
        "figure.facecolor": "white",
        "savefig.facecolor": "auto",
        "savefig.bbox": None,
        "svg.fonttype": "none",
        "svg.hashsalt": HASH_SALT,
        "pdf.fonttype": 42,
    }


def chart_style() -> AbstractContextManager[None]:
    """Apply the settings for the length of a ``with`` block and restore the reader's own after it.

    Starts from matplotlib's defaults, so that a chart looks the same whatever style is in use.
    """
    from matplotlib import style

    context: AbstractContextManager[None] = style.context(["default", settings()])
    return context


_COLOURS = {"improved": BETTER, "regressed": WORSE, "significant": INK}
_CIRCLES = ("improved", "regressed", "significant")


def colour_of(state: str) -> str:
    """Return the colour of a finding: blue is better, vermilion worse, all else grey."""
    return _COLOURS.get(state, NEUTRAL)


def marker_of(state: str) -> str:
    """Return the marker of a finding: a circle where it is significant, else a diamond."""
    return "o" if state in _CIRCLES else "D"


def marker(state: str) -> dict[str, Any]:
    """Give matplotlib's properties of the marker of a finding.

    Args:
        state: ``improved``, ``regressed`` or ``significant`` (open circle), ``not_significant``
            (full diamond), ``no_difference`` or ``not_measured`` (hollow diamond).
    """
    is_open = state != "not_significant"
    return {
        "marker": marker_of(state),
        "markersize": 5.2 if state in _CIRCLES else 4.6,
        "markerfacecolor": "white" if is_open else MUTED,
        "markeredgecolor": colour_of(state) if is_open else "white",
        "markeredgewidth": 1.2 if is_open else 0.7,
    }


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour (WCAG 2.2), from 0 (black) to 1 (white).

    Example:
        >>> luminance("#FFFFFF"), luminance("#000000")
        (1.0, 0.0)
    """
    from matplotlib.colors import to_rgb

    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str = "#FFFFFF") -> float:
    """Return the contrast ratio of two colours (WCAG 2.2), from 1 to 21.

    Example:
        >>> round(contrast("#000000"), 1)
        21.0
    """
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def text_colour_on(fill: str) -> str:
    """Choose black or white, whichever reads best on a fill: at least 4.5 to 1 on any.

    Example:
        >>> text_colour_on("#2166AC"), text_colour_on("#D8D8D8")
        ('#FFFFFF', '#000000')
    """
    return max(("#FFFFFF", "#000000"), key=lambda colour: contrast(fill, colour))


def grade_colours(count: int) -> list[str]:
    """Give colours for ordered grades, worst first.

    Args:
        count: Number of grades, at least 1.

    Example:
        >>> grade_colours(2)
        ['#F1A340', '#2166AC']
        >>> len(grade_colours(11))
        11
    """
    if count == 1:
        return [GRADES[-1]]
    if count == 2:
        return [GRADES[1], GRADES[-1]]
    from matplotlib.colors import LinearSegmentedColormap, to_hex

    ramp = LinearSegmentedColormap.from_list("grades", GRADES)
    return [to_hex(ramp(i / (count - 1))).upper() for i in range(count)]


def bare(ax: Axes, *, keep: Sequence[str] = ("bottom",)) -> None:
    """Take away the frame of an axes but for the named sides."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in keep)
    ax.tick_params(axis="y", length=0)
    ax.set_axisbelow(True)
