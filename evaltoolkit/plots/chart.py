"""What every chart function returns: the figure, what was drawn, its caption and its alt text."""

from __future__ import annotations

import base64
import io
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from evaltoolkit.errors import EvalToolkitError, listed
from evaltoolkit.formatting import escape_html
from evaltoolkit.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("svg", "pdf", "png")


@dataclass(frozen=True, eq=False)
class Chart:
    """A drawn chart. Shows itself in a notebook; ``save`` writes it for a paper.

    Attributes:
        figure: The matplotlib figure, free of pyplot.
        axes: The axes that hold the data, top to bottom.
        data: Tidy frame of everything drawn, with full names.
        title: What the chart is, in a few words.
        caption: Sentences for below the chart: intervals, level, correction, n, exclusions.
        alt: The content in words for those who do not see it; never empty.
    """

    figure: Figure
    axes: tuple[Axes, ...]
    data: pd.DataFrame
    title: str
    caption: str
    alt: str

    def __post_init__(self) -> None:
        if not self.alt.strip():
            raise EvalToolkitError(
                "the alt text of a chart is empty; give the content of the chart in words",
                code="empty_alt",
                path="alt",
                value=self.alt,
            )

    def save(
        self,
        path: str | Path,
        *,
        formats: Sequence[str] | None = None,
        dpi: int = style.SAVED_DPI,
    ) -> tuple[Path, ...]:
        """Write the chart to files; the same chart gives the same bytes.

        Args:
            path: A path without extension, or with one of ``.svg``, ``.pdf``, ``.png``.
            formats: Some of ``svg``, ``pdf``, ``png``; by default the extension of the path,
                or all three where it has none of these.
            dpi: Pixels per inch of the PNG.

        Returns:
            The paths written.

        Raises:
            EvalToolkitError: A format is unknown.
        """
        target = Path(path)
        extension = target.suffix.lower().removeprefix(".")
        stem = target.with_suffix("") if extension in FORMATS else target
        wanted = formats or ((extension,) if extension in FORMATS else FORMATS)
        _check_formats(wanted)
        stem.parent.mkdir(parents=True, exist_ok=True)
        return tuple(self._write(stem.with_name(f"{stem.name}.{each}"), dpi) for each in wanted)

    def _write(self, target: Path, dpi: int) -> Path:
        target.write_bytes(self.to_bytes(target.suffix.removeprefix("."), dpi=dpi))
        return target

    def to_bytes(self, format: str, *, dpi: int = style.SAVED_DPI) -> bytes:
        """Give the content of a file in one of the formats ``svg``, ``pdf``, ``png``."""
        _check_formats((format,))
        buffer = io.BytesIO()
        with style.chart_style():
            self.figure.savefig(buffer, format=format, dpi=dpi, metadata=self._metadata(format))
        return buffer.getvalue()

    def _metadata(self, format: str) -> dict[str, Any]:
        # A date would make two runs differ.
        if format == "pdf":
            dates = {"CreationDate": None, "ModDate": None}
            return {"Title": self.title, "Subject": self.alt, "Creator": "evaltoolkit", **dates}
        words = {"Title": self.title, "Description": self.alt}
        return words | ({"Date": None} if format == "svg" else {"Software": "evaltoolkit"})

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> tuple[dict[str, str], dict[str, Any]]:
        png = self._screen_png()
        width, height = self._screen_size()
        bundle = {
            "text/plain": f"{self!r}\n{self.caption}",
            "text/html": self._html(png),
            "image/png": png,
        }
        # Without the size, Jupyter shows the sharp picture twice as large.
        size = {"width": width, "height": height, "alt": self.alt}
        shown = {
            mime: content
            for mime, content in bundle.items()
            if (not include or mime in include) and (not exclude or mime not in exclude)
        }
        return shown, {"image/png": size}

    def to_html(self) -> str:
        """Give the chart as one self-contained ``<figure>``: picture, alt text and caption."""
        return self._html(self._screen_png())

    def _screen_png(self) -> str:
        """Give the picture at twice the pixels of a plain screen, in base 64."""
        return base64.b64encode(self.to_bytes("png", dpi=2 * style.SCREEN_DPI)).decode("ascii")

    def _screen_size(self) -> tuple[int, int]:
        width, height = self.figure.get_size_inches()
        return round(width * style.SCREEN_DPI), round(height * style.SCREEN_DPI)

    def _html(self, png: str) -> str:
        return (
            '<figure style="margin:0">'
            f'<img src="data:image/png;base64,{png}" alt="{escape_html(self.alt)}" '
            f'style="width:{self._screen_size()[0]}px;max-width:100%;height:auto">'
            f"<figcaption>{escape_html(self.caption)}</figcaption></figure>"
        )

    def __repr__(self) -> str:
        return f"Chart({self.title!r}, {len(self.data)} rows drawn)"


def _check_formats(formats: Sequence[str]) -> None:
    unknown = [each for each in formats if each not in FORMATS]
    if unknown or isinstance(formats, str):
        raise EvalToolkitError(
            f"unknown format {formats if isinstance(formats, str) else unknown[0]!r}; "
            f"formats is a list of some of {listed(FORMATS)}",
            code="unknown_format",
            path="formats",
            value=formats,
        )
