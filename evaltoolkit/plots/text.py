"""Foreign text in figures: cleaned, never parsed as mathematics, measured, shortened.

Names of criteria, systems and slices come from files. They may hold ``$``, control characters,
direction overrides, towers of combining marks or scripts that no installed font has.
"""

from __future__ import annotations

import bisect
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.font_manager import FontProperties

MAIN_FONT = "DejaVu Sans"
"""Comes with matplotlib: the same widths on every machine."""

FALLBACK_FONTS = (
    "Noto Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans Devanagari",
    "Noto Sans Thai",
    "Noto Emoji",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "PingFang SC",
    "Hiragino Sans",
    "Apple SD Gothic Neo",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "Nirmala UI",
    "Leelawadee UI",
    "Segoe UI Symbol",
    "Arial Unicode MS",
)
"""Asked for in this order where the main font lacks a character and the machine has them."""

UNKNOWN = "\ufffd"
ELLIPSIS = "\u2026"
ISOLATE, POP_ISOLATE = "\u2068", "\u2069"
_MAX_MARKS = 2
_SHAPES_TEXT = (3, 11)
"""The matplotlib release from which text is shaped and its direction resolved."""
_BREAK_AFTER = re.compile(r"(?<=[\s._/:\-|,=])(?=\S)")
_DPIS = (100, 200)
"""On screen and saved: glyphs are fitted to pixels, so widths differ a little."""
_LONGEST = 200
"""Characters of a line that are looked at; more fit on no sheet."""


def clean(text: object) -> str:
    r"""Make foreign text safe for one line: no controls, direction overrides or mark towers.

    Example:
        >>> clean("a\tb\u202ecod.exe")
        'a bcod.exe'
    """
    kept: list[str] = []
    marks = 0
    for char in " ".join(str(text).split()):
        category = unicodedata.category(char)
        marks = marks + 1 if category in ("Mn", "Me") else 0
        invisible = category == "Cc" or (category == "Cf" and char not in "\u200c\u200d")
        if marks > _MAX_MARKS or invisible:
            continue
        kept.append(UNKNOWN if category in ("Cs", "Co", "Cn") else char)
    return " ".join("".join(kept).split())


def drawable(text: object) -> str:
    r"""Clean text and replace what no available font can draw.

    Example:
        >>> ascii(drawable("caf\u00e9 \ue000"))
        "'caf\\xe9 \\ufffd'"
    """
    known = known_characters()
    return "".join(char if ord(char) in known else UNKNOWN for char in clean(text))


def isolated(text: object) -> str:
    """Give drawable text that cannot reorder what stands beside it.

    Right-to-left text is enclosed in Unicode isolates where matplotlib resolves directions.

    Example:
        >>> isolated("accuracy")
        'accuracy'
    """
    shown = drawable(text)
    if _directions_resolved() and any(
        unicodedata.bidirectional(char) in ("R", "AL", "AN") for char in shown
    ):
        return f"{ISOLATE}{shown}{POP_ISOLATE}"
    return shown


def shortened(text: object, *, most: int = 40) -> str:
    """Give isolated text of so many characters at most, its middle cut.

    Example:
        >>> shortened("model-2026-11-30", most=9)
        'mode…1-30'
    """
    shown = drawable(text)
    if len(shown) > most:
        shown = _joined(shown[: (most - 1) // 2], shown[-((most - 1) // 2) :])
    return isolated(shown)


@lru_cache(maxsize=1)
def _directions_resolved() -> bool:
    import matplotlib

    return matplotlib.__version_info__[:2] >= _SHAPES_TEXT


@lru_cache(maxsize=1)
def font_families() -> tuple[str, ...]:
    """Name the fonts of all charts: the main font, then the fallbacks that are installed."""
    from matplotlib import font_manager

    installed = {entry.name for entry in font_manager.fontManager.ttflist}
    return (MAIN_FONT, *(name for name in FALLBACK_FONTS if name in installed))


@lru_cache(maxsize=1)
def known_characters() -> frozenset[int]:
    """Return the code points that the available fonts can draw."""
    from matplotlib import font_manager

    known: set[int] = set()
    for family in font_families():
        path = font_manager.findfont(font_manager.FontProperties(family=family))
        known.update(font_manager.get_font(path).get_charmap())
    return frozenset(known)


@lru_cache(maxsize=64)
def _font(size: float, weight: str) -> FontProperties:
    from matplotlib.font_manager import FontProperties

    return FontProperties(family=list(font_families()), size=size, weight=weight)


@lru_cache(maxsize=8192)
def width_of(text: str, size: float, weight: str = "normal") -> float:
    """Measure the width of text in inches; of the widest line where there are several."""
    font = _font(size, weight)
    return max(_width_at(dpi, line, font) for dpi in _DPIS for line in text.split("\n"))


def _width_at(dpi: int, line: str, font: FontProperties) -> float:
    from matplotlib.backends.backend_agg import RendererAgg

    # Any: matplotlib has types for the class, none for its methods.
    renderer: Any = RendererAgg(1, 1, dpi)  # type: ignore[no-untyped-call]
    return float(renderer.get_text_width_height_descent(line, font, False)[0]) / dpi


def widest(texts: Iterable[str], size: float, weight: str = "normal") -> float:
    """Measure the widest of some texts in inches; 0 where there is none."""
    return max((width_of(text, size, weight) for text in texts), default=0.0)


def fit(text: str, width: float, size: float, *, lines: int = 2, weight: str = "normal") -> str:
    r"""Wrap text into a width, and cut its middle where it needs more lines than allowed.

    The middle goes, since names of criteria often differ at the end only.

    Args:
        text: Drawable text.
        width: Room in inches.
        size: Size in points.
        lines: Most lines allowed.
        weight: Weight of the font.

    Returns:
        The text with line breaks, complete or with an ellipsis.

    Example:
        >>> fit("judge.helpfulness", 2.0, 8.0)
        'judge.helpfulness'
        >>> fit("judge.helpfulness", 0.8, 8.0)
        'judge.\nhelpfulness'
        >>> short = fit("judge.helpfulness.without_reference", 0.8, 8.0)
        >>> short.startswith("judge.helpf"), short.endswith("_reference"), len(short) < 30
        (True, True, True)
    """
    face = _Face(width, size, weight)
    wrapped = face.wrapped(text) if len(text) <= _LONGEST * lines else []
    if 0 < len(wrapped) <= lines:
        return "\n".join(wrapped)
    heads = []
    rest = text
    for _ in range(lines - 1):
        heads.append(face.head(rest, 1.0))
        rest = rest[len(heads[-1]) :].lstrip()
    half = face.head(rest, 0.5) if lines == 1 else ""
    return "\n".join([*map(str.rstrip, heads), face.tail(half.rstrip(), rest[len(half) :])])


class _Face:
    """A font at a size, and the room for a line of it."""

    def __init__(self, width: float, size: float, weight: str) -> None:
        self.width, self.size, self.weight = width, size, weight

    def holds(self, line: str, share: float = 1.0) -> bool:
        return width_of(line, self.size, self.weight) <= self.width * share

    def head(self, text: str, share: float) -> str:
        """Return the longest beginning that fits, at least one character."""
        most = min(len(text), _LONGEST)
        count = bisect.bisect_left(
            range(1, most + 1), True, key=lambda n: not self.holds(text[:n], share)
        )
        return text[: max(count, 1)]

    def tail(self, before: str, text: str) -> str:
        """Return an ellipsis and the longest end that fits behind it."""
        most = min(len(text), _LONGEST)
        count = bisect.bisect_left(
            range(1, most + 1), True, key=lambda n: not self.holds(_joined(before, text[-n:]))
        )
        return _joined(before, text[-count:] if count else "")

    def wrapped(self, text: str) -> list[str]:
        lines = [""]
        for piece in _BREAK_AFTER.split(text):
            if not lines[-1] or self.holds((lines[-1] + piece).rstrip()):
                lines[-1] += piece
            else:
                lines.append(piece)
        return [part for line in lines for part in self._broken(line.rstrip())]

    def _broken(self, word: str) -> list[str]:
        """Break a word that is wider than a line wherever the line ends."""
        parts = []
        while word and not self.holds(word):
            parts.append(self.head(word, 1.0))
            word = word[len(parts[-1]) :]
        return [*parts, word] if word or not parts else parts


def _joined(head: str, tail: str) -> str:
    """Put an ellipsis for what is missing; no combining mark may start the rest."""
    tail = tail.lstrip()
    while tail and unicodedata.combining(tail[0]):
        tail = tail[1:]
    return head.rstrip() + ELLIPSIS + tail


def distinct(labels: Sequence[str], identities: Sequence[str]) -> list[str]:
    """Number labels that shortening has made equal although they stand for different things.

    Example:
        >>> distinct(["a…c", "b", "a…c"], ["a1c", "b", "a2c"])
        ['a…c (1)', 'b', 'a…c (2)']
        >>> distinct(["law", "law"], ["law", "law"])
        ['law', 'law']
    """
    meanings: dict[str, list[str]] = {}
    for label, identity in zip(labels, identities, strict=True):
        known = meanings.setdefault(label, [])
        if identity not in known:
            known.append(identity)
    return [
        f"{label} ({meanings[label].index(identity) + 1})" if len(meanings[label]) > 1 else label
        for label, identity in zip(labels, identities, strict=True)
    ]
