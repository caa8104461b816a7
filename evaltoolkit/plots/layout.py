"""Rows of text and marks on one sheet: labels on the left, panels in the middle, a text gutter.

Everything beside the panels hangs on them by distances in points, so that the same code draws
on a sheet of its own and into an axes that the caller gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.plots import measures as sizes
from evaltoolkit.plots import style
from evaltoolkit.plots.measures import Measures, Plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation


@dataclass
class Sheet:
    """The drawn frame: the panels and where their rows are."""

    figure: Figure
    axes: tuple[Axes, ...]
    centres: tuple[tuple[float, ...], ...]
    measures: Measures
    texts: list[Annotation] = field(default_factory=list)


def draw_sheet(plan: Plan, *, width: float | None, ax: Axes | None) -> Sheet:
    """Draw labels, gutter, key and titles around empty panels.

    Args:
        plan: What the sheet shall hold.
        width: Width of the sheet in inches; 5.5 by default.
        ax: Draw into this axes instead of a figure of its own. With several panels it becomes
            their invisible frame.

    Returns:
        The panels, with the y positions of the rows (top to bottom, in inches).

    Raises:
        EvalToolkitError: Both ``width`` and ``ax`` are given, or the width is too small.
    """
    _check_width(width, ax)
    if ax is None:
        measures = sizes.measure(plan, width or style.TEXT)
        figure, axes = _own_panels(plan, measures, width or style.TEXT)
    else:
        measures = replace(sizes.measure(plan, None), plot_width=_width_of(ax))
        figure, axes = _figure_of(ax), _given_panels(plan, measures, ax)
    centres = tuple(_place_rows(*pair) for pair in zip(axes, measures.heights, strict=True))
    sheet = Sheet(figure, axes, centres, measures)
    _write_labels(sheet, plan)
    _write_gutter(sheet, plan)
    _write_titles(sheet, plan)
    _write_below(sheet, plan)
    return sheet


def _check_width(width: float | None, ax: Axes | None) -> None:
    if width is not None and ax is not None:
        raise EvalToolkitError(
            "width and ax are both given; the axes has a width already, so leave width out",
            code="width_and_ax",
            path="width",
            value=width,
        )
    if width is not None and not 2.5 <= width <= 40:
        raise EvalToolkitError(
            f"width is {width!r}; it must be between 2.5 and 40 inches "
            f"(a column is {style.COLUMN}, a page {style.PAGE})",
            code="bad_width",
            path="width",
            value=width,
        )


def _width_of(ax: Axes) -> float:
    return float(ax.get_window_extent().width) / _figure_of(ax).dpi


def _figure_of(ax: Axes) -> Figure:
    figure = ax.get_figure(root=True)
    if figure is None:
        raise EvalToolkitError(
            "the axes is on no figure any more; give one that is", code="bad_axes", path="ax"
        )
    return figure


def _own_panels(plan: Plan, measures: Measures, width: float) -> tuple[Figure, tuple[Axes, ...]]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    tops, total = _stacked(plan, measures)
    above = sizes.PAD + sizes.title_height(plan, measures)
    last = len(plan.panels) - 1
    below = sizes.axis_height(plan, measures, last) + sizes.key_height(plan, measures)
    height = above + total + below + sizes.notes_height(plan, measures) + sizes.PAD
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    left = (sizes.PAD + measures.label_width + sizes.GAP) / width
    axes = []
    for top, rows in zip(tops, measures.heights, strict=True):
        bottom = height - above - top - sum(rows)
        bounds = (left, bottom / height, measures.plot_width / width, sum(rows) / height)
        axes.append(figure.add_axes(bounds))
    return figure, tuple(axes)


def _stacked(plan: Plan, measures: Measures) -> tuple[list[float], float]:
    """Return where each panel starts below the first one's top, and where the last one ends."""
    tops, top, end = [], 0.0, 0.0
    for panel, rows in enumerate(measures.heights):
        tops.append(top)
        end = top + sum(rows)
        top = end + sizes.axis_height(plan, measures, panel) + sizes.BETWEEN
    return tops, end


def _given_panels(plan: Plan, measures: Measures, ax: Axes) -> tuple[Axes, ...]:
    if len(plan.panels) == 1:
        return (ax,)
    ax.set_axis_off()
    tops, total = _stacked(plan, measures)
    return tuple(
        ax.inset_axes((0.0, 1 - (top + sum(rows)) / total, 1.0, sum(rows) / total))
        for top, rows in zip(tops, measures.heights, strict=True)
    )


def _place_rows(ax: Axes, heights: Sequence[float]) -> tuple[float, ...]:
    centres, top = [], 0.0
    for height in heights:
        centres.append(top + height / 2)
        top += height
    ax.set_ylim(top, 0.0)
    return tuple(centres)


def write(
    ax: Axes,
    at: tuple[float, float],
    words: str,
    *,
    offset: tuple[float, float],
    looks: Mapping[str, Any],
    in_row: bool = False,
) -> Annotation:
    """Write text at a distance from a point of a panel.

    Args:
        ax: The panel.
        at: The point, as fractions of the panel.
        words: Drawable text.
        offset: Distance from the point, in points.
        looks: Properties of matplotlib's text.
        in_row: ``at[1]`` is the position of a row instead of a fraction.
    """
    return ax.annotate(
        words,
        at,
        xycoords=("axes fraction", "data" if in_row else "axes fraction"),
        xytext=offset,
        textcoords="offset points",
        annotation_clip=False,
        parse_math=False,
        **looks,
    )


def _write_labels(sheet: Sheet, plan: Plan) -> None:
    measures = sheet.measures
    for ax, centres, labels, rows in zip(
        sheet.axes, sheet.centres, measures.labels, plan.panels, strict=True
    ):
        ax.set_yticks(centres, labels=list(labels))
        ax.tick_params(
            axis="y", pad=72 * (measures.label_width + sizes.GAP), labelsize=measures.body
        )
        for tick, row in zip(ax.get_yticklabels(), rows, strict=True):
            tick.set(ha="left", parse_math=False, fontweight=row.weight)
        style.bare(ax)


def _write_gutter(sheet: Sheet, plan: Plan) -> None:
    measures = sheet.measures
    line = 72 * measures.small * sizes.LINE
    looks = {"size": measures.small, "ha": "right", "va": "bottom", "color": style.MUTED}
    for x, y, header in _cell_places(measures, plan.headers, line):
        offset = (x, y + 3.0 + line / 2 * measures.stacked)
        write(sheet.axes[0], (1, 1), header, offset=offset, looks=looks)
    for ax, centres, rows in zip(sheet.axes, sheet.centres, plan.panels, strict=True):
        for centre, row in zip(centres, rows, strict=True):
            places = _cell_places(measures, row.cells, line)
            for x, y, cell in _cell_lines(places, row.pitch):
                second = measures.stacked and y < 0
                looks |= {"va": "center_baseline", "color": style.MUTED if second else style.INK}
                written = write(ax, (1, centre), cell, offset=(x, y), looks=looks, in_row=True)
                sheet.texts.append(written)


def _cell_places(
    measures: Measures, cells: Sequence[str], line: float
) -> list[tuple[float, float, str]]:
    """Return where the right end of each cell stands, in points from the panel."""
    ends = _column_ends(measures)
    if len(cells) == 1:
        return [(ends[-1], 0.0, cells[0])]
    if not measures.stacked:
        return [(x, 0.0, cell) for x, cell in zip(ends, cells, strict=True)]
    first = [(x, line / 2, cell) for x, cell in zip(ends, cells[:-1], strict=True)]
    return [*first, (ends[-1], -line / 2, cells[-1])]


def _cell_lines(
    places: Sequence[tuple[float, float, str]], pitch: float
) -> list[tuple[float, float, str]]:
    """Split cells of several lines; the first line stands above the middle of the row."""
    result = []
    for x, y, cell in places:
        lines = cell.split("\n")
        for i, words in enumerate(lines):
            result.append((x, y + 72 * pitch * ((len(lines) - 1) / 2 - i), words))
    return result


def _column_ends(measures: Measures) -> list[float]:
    ends, right = [], 0.0
    for width in measures.gutter:
        right += sizes.GAP + width
        ends.append(72 * right)
    return ends


def _write_titles(sheet: Sheet, plan: Plan) -> None:
    measures = sheet.measures
    if not plan.title:
        return
    words = "\n".join(sizes.title_lines(plan, measures))
    offset = (-72 * (measures.label_width + sizes.GAP), 72 * sizes.head_height(plan, measures))
    looks = {"va": "bottom", "ha": "left", "size": measures.body + 1, "weight": "bold"}
    write(sheet.axes[0], (0, 1), words, offset=offset, looks=looks)


def _write_below(sheet: Sheet, plan: Plan) -> None:
    measures, ax, last = sheet.measures, sheet.axes[-1], len(sheet.axes) - 1
    looks = {"va": "top", "ha": "center", "size": measures.body}
    for panel, each in enumerate(sheet.axes):
        if words := sizes.axis_title(plan, measures, panel):
            offset = (0.0, -72 * (sizes.TICKS + 0.01))
            write(each, (0.5, 0), words, offset=offset, looks=looks)
    left = -(measures.label_width + sizes.GAP)
    below = sizes.axis_height(plan, measures, last) + 0.05
    if plan.key:
        _write_key(sheet, plan, (left, -below))
        below += sizes.key_height(plan, measures)
    if plan.notes:
        notes = "\n".join(sizes.note_lines(plan, measures))
        looks = {"va": "top", "ha": "left", "size": measures.small, "color": style.MUTED}
        write(ax, (0, 0), notes, offset=(72 * left, -72 * below), looks=looks)


def _write_key(sheet: Sheet, plan: Plan, corner: tuple[float, float]) -> None:
    from matplotlib.transforms import ScaledTranslation

    measures, ax = sheet.measures, sheet.axes[-1]
    size = measures.small
    legend = ax.legend(
        handles=[handle for handle, _ in plan.key],
        labels=[words for _, words in plan.key],
        loc="upper left",
        bbox_to_anchor=(0, 0),
        bbox_transform=ax.transAxes + ScaledTranslation(*corner, sheet.figure.dpi_scale_trans),
        ncols=sizes.key_columns(plan, measures),
        frameon=False,
        fontsize=size,
        borderpad=0,
        borderaxespad=0,
        handlelength=(sizes.KEY_HANDLE - 0.06) * 72 / size,
        handletextpad=0.06 * 72 / size,
        columnspacing=sizes.KEY_GAP * 72 / size,
        labelspacing=0.3,
    )
    for words in legend.get_texts():
        words.set_parse_math(False)
