"""The headline figure: every paired difference with its intervals, on an axis with zero."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit import wording
from evaltoolkit.plots import captions, layout, marks, measures, rows, scales, style, text
from evaltoolkit.plots.chart import Chart
from evaltoolkit.results import Comparison

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_KEY_WORDS = {
    "improved": "improved, significant",
    "regressed": "regressed, significant",
    "not_significant": "not significant",
}
_THICK, _THIN = 3.2, 1.0

DRAWN_COLUMNS = [
    *rows.HYPOTHESIS,
    "slice_by",
    "slice",
    "name",
    "shown",
    "panel",
    "y",
    "n_pairs",
    "delta",
    "ci_low",
    "ci_high",
    "interval",
    "joint_low",
    "joint_high",
    "p_value",
    "p_adjusted",
    "correction",
    "family",
    "wins",
    "ties",
    "losses",
    "higher_is_better",
    "margin",
    "verdict",
    "state",
    "colour",
    "marker",
    "cut",
]
"""Columns of the tidy frame behind the chart."""


def paired_deltas(
    result: Comparison,
    *,
    ax: Axes | None = None,
    width: float | None = None,
    slices: rows.Slices = None,
    order: str = "delta",
    title: str | None = None,
) -> Chart:
    """Draw every mean paired difference, candidate − baseline, with its intervals.

    A thick bar is the pointwise interval, a thin line the simultaneous one. An open circle
    marks a difference that is significant after correction, a diamond one that is not; blue is
    better and vermilion worse, whatever the direction of the criterion. The gutter gives the
    difference, its p-value and wins, ties and losses of the candidate. Criteria on different
    scales get panels of their own; an axis is never flipped.

    Args:
        result: A comparison.
        ax: Draw into this axes instead of a new figure.
        width: Width in inches: 3.25 for a column, 5.5 (default) for a page, 6.9 for two columns.
        slices: ``None``: overall rows; ``True``: overall rows, each with its slices; the name of
            an attribute: only the slices by it; ``False``: never slices.
        order: ``"delta"`` (largest first) or ``"table"``.
        title: Title; by default the names of the systems; empty for none.

    Returns:
        The chart; ``.data`` has one row per row drawn.

    Raises:
        EvalToolkitError: There is nothing to draw, or an argument is not one of the above.

    Example:
        >>> paired_deltas(result).save("figures/deltas")  # doctest: +SKIP
    """
    result = rows.check_result(result)
    every = rows.chosen_rows(result, slices)
    table = rows.named(rows.ordered(rows.most_telling(every), order))
    table = _with_looks(table, result)
    heading = _title(result) if title is None else text.drawable(title)
    with style.chart_style():
        plan = _plan(result, table, heading, left=len(every) - len(table))
        sheet = layout.draw_sheet(plan, width=width, ax=ax)
        drawn = _draw(sheet, table)
    return Chart(
        figure=sheet.figure,
        axes=sheet.axes,
        data=drawn[DRAWN_COLUMNS].reset_index(drop=True),
        title=_title(result),
        caption=_caption(result, table, left=len(every) - len(table)),
        alt=_alt(result, table),
    )


def _title(result: Comparison) -> str:
    baseline, candidate = (text.shortened(name) for name in (result.baseline, result.candidate))
    return f"{candidate} against {baseline}"


def _with_looks(table: pd.DataFrame, result: Comparison) -> pd.DataFrame:
    """Add panel, state, colour and marker, and sort the rows into their panels."""
    states = [_state(row, float(result.settings["alpha"])) for row in wording.rows_of(table)]
    keys = scales.scale_keys(table, result.pairs)
    # The common 0-to-1 panel stands first, the others as their rows come.
    places: dict[Hashable, int] = {}
    for key in [*(k for k in keys if k == scales.UNIT), *keys]:
        places.setdefault(key, len(places))
    looks = table.assign(
        panel=[places[key] for key in keys],
        state=states,
        colour=[style.colour_of(state) for state in states],
        marker=[style.marker_of(state) for state in states],
    ).sort_values("panel", kind="stable")
    parts = [part.assign(cut=_cut(part)) for _, part in looks.groupby("panel", sort=False)]
    return pd.concat(parts)


def _state(row: wording.Row, alpha: float) -> str:
    if row["verdict"] == "not_measured" or math.isnan(float(row["delta"])):
        return "not_measured"
    if row["wins"] + row["losses"] == 0:
        return "no_difference"
    if float(row["p_adjusted"]) <= alpha and row["verdict"] in ("improved", "regressed"):
        return str(row["verdict"])
    return "not_significant"


def _plan(result: Comparison, table: pd.DataFrame, title: str, *, left: int) -> measures.Plan:
    has_slices = bool(table["slice_by"].notna().any())
    panels = tuple(
        _panel_rows(part, has_slices=has_slices) for _, part in table.groupby("panel", sort=False)
    )
    own = "; each panel has its own scale" if len(panels) > 1 else ""
    n = ["n"] if has_slices else []
    plain = table["correction"].isin(["none", "single"]).all()
    return measures.Plan(
        panels=panels,
        headers=(*n, "\u0394", "p" if plain else "adj. p", "win/tie/loss"),
        title=title,
        axis_titles=(f"mean paired difference, candidate {fmt.MINUS} baseline{own}",),
        key=tuple(_key(result, table)),
        notes=_notes(left),
    )


def _notes(left: int) -> tuple[str, ...]:
    return (f"{left:,} more rows, with larger p, are not drawn.",) if left else ()


def _panel_rows(part: pd.DataFrame, *, has_slices: bool) -> tuple[measures.Row, ...]:
    every = wording.rows_of(part)
    # As many decimals as the row that needs most, so that a column can be read downwards.
    decimals = max(_decimals(row) for row in every)
    return tuple(_row(row, decimals, has_slices=has_slices) for row in every)


def _decimals(row: wording.Row) -> int:
    if math.isnan(float(row["delta"])):
        return 0
    return fmt.decimals_for(float(row["delta"]), float(row["ci_high"]) - float(row["ci_low"]))


def _row(row: wording.Row, decimals: int, *, has_slices: bool) -> measures.Row:
    is_slice = isinstance(row["slice_by"], str)
    remark = "" if row["higher_is_better"] or is_slice else "(lower is better)"
    return measures.Row(
        name=str(row["shown"]),
        identity=str(row["identity"]),
        cells=_cells(row, decimals, with_n=has_slices),
        remark=remark,
        bold=has_slices and not is_slice,
        indent=int(is_slice),
    )


def _cells(row: wording.Row, decimals: int, *, with_n: bool) -> tuple[str, ...]:
    if math.isnan(float(row["delta"])) or row["state"] == "not_measured":
        return ("not measured",)
    if row["state"] == "no_difference":
        return ("no differing example",)
    return (
        *([f"{int(row['n_pairs']):,}"] if with_n else []),
        fmt.format_number(float(row["delta"]), decimals=decimals, signed=True),
        fmt.format_p(float(row["p_adjusted"])),
        f"{row['wins']}/{row['ties']}/{row['losses']}",
    )


def _key(result: Comparison, table: pd.DataFrame) -> list[tuple[Artist, str]]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    key: list[tuple[Artist, str]] = [
        (Line2D([], [], linestyle="none", **style.marker(state)), words)
        for state, words in _KEY_WORDS.items()
        if (table["state"] == state).any()
    ]
    level = captions.level(result)
    shown = table[~table["state"].isin(["not_measured"])]
    ink: dict[str, Any] = {"color": style.MUTED, "solid_capstyle": "butt"}
    if shown["ci_low"].notna().any():
        key.append((Line2D([], [], linewidth=_THICK, **ink), f"{level} pointwise"))
    if shown["joint_low"].notna().any():
        key.append((Line2D([], [], linewidth=_THIN, **ink), f"{level} simultaneous"))
    if table["margin"].notna().any():
        band = Patch(facecolor=style.BAND, edgecolor=style.BAND_EDGE, linewidth=0.5)
        key.append((band, "margin"))
    if table["cut"].any():
        arrow = Line2D([], [], marker=">", markersize=4.5, color=style.MUTED, linestyle="none")
        key.append((arrow, "beyond the axis"))
    return key


def _draw(sheet: layout.Sheet, table: pd.DataFrame) -> pd.DataFrame:
    parts = []
    groups = [part for _, part in table.groupby("panel", sort=False)]
    for ax, centres, part in zip(sheet.axes, sheet.centres, groups, strict=True):
        limits = scales.limits_of(part)
        placed = part.assign(y=centres)
        _draw_panel(ax, placed, limits)
        marks.set_number_ticks(ax, sheet.measures)
        parts.append(placed)
    return pd.concat(parts)


def _cut(part: pd.DataFrame) -> list[bool]:
    limits = scales.limits_of(part)
    ends = part[["delta", "ci_low", "ci_high", "joint_low", "joint_high"]].to_numpy(dtype=float)
    return [bool(any(limits.cuts(value) for value in row)) for row in ends]


def _draw_panel(ax: Axes, part: pd.DataFrame, limits: scales.Limits) -> None:
    ax.set_xlim(limits.low, limits.high)
    _draw_margins(ax, part)
    ax.hlines(part["y"], limits.low, limits.high, color=style.GUIDE, linewidth=0.5, zorder=0.5)
    ax.axvline(0.0, color=style.INK, linewidth=0.8, zorder=1, label="_zero")
    for row in wording.rows_of(part):
        if not math.isnan(float(row["delta"])):
            _draw_row(ax, row, limits)


def _draw_margins(ax: Axes, part: pd.DataFrame) -> None:
    """Fill the margin of each row; neighbours with the same margin make one band."""
    edges = _row_edges(ax, part)
    margins = part["margin"].to_numpy(dtype=float)
    start = 0
    for i in range(1, len(margins) + 1):
        if i < len(margins) and (margins[i] == margins[start]):
            continue
        if not math.isnan(margins[start]):
            box = ([-margins[start], margins[start]], edges[start], edges[i])
            ax.fill_between(*box, color=style.BAND, linewidth=0, zorder=0)
            for side in (-margins[start], margins[start]):
                line: dict[str, Any] = {
                    "color": style.BAND_EDGE,
                    "linewidth": 0.6,
                    "linestyle": (0, (3, 2)),
                }
                ax.vlines(side, edges[start], edges[i], zorder=0.6, **line)
        start = i


def _row_edges(ax: Axes, part: pd.DataFrame) -> list[float]:
    """Return where rows end: panel edges, and the middle between the centres of neighbours."""
    y = part["y"].to_numpy(dtype=float)
    bottom, top = ax.get_ylim()
    return [top, *((y[1:] + y[:-1]) / 2).tolist(), bottom]


def _draw_row(ax: Axes, row: wording.Row, limits: scales.Limits) -> None:
    y, colour = float(row["y"]), str(row["colour"])
    for name, width in (("joint", _THIN), ("ci", _THICK)):
        ends = (float(row[f"{name}_low"]), float(row[f"{name}_high"]))
        if not any(map(math.isnan, ends)):
            line = _draw_interval(ax, ends, y, limits, colour)
            line.set(linewidth=width, label=f"_{name}")
    delta = float(row["delta"])
    if not limits.cuts(delta):
        looks = style.marker(str(row["state"]))
        ax.plot([delta], [y], linestyle="none", zorder=4, label="_delta", **looks)
    else:
        edge = limits.high if delta > 0 else limits.low
        marks.draw_arrow(ax, (edge, y), right=delta > 0, colour=colour)


def _draw_interval(
    ax: Axes, ends: tuple[float, float], y: float, limits: scales.Limits, colour: str
) -> Line2D:
    low, high = ends
    if low < limits.low:
        marks.draw_arrow(ax, (limits.low, y), right=False, colour=colour)
    if high > limits.high:
        marks.draw_arrow(ax, (limits.high, y), right=True, colour=colour)
    inside = [min(max(end, limits.low), limits.high) for end in ends]
    return ax.plot(inside, [y, y], solid_capstyle="butt", zorder=3, color=colour)[0]


def _caption(result: Comparison, table: pd.DataFrame, *, left: int) -> str:
    baseline, candidate = captions.systems(result)
    parts = [
        f"Mean paired differences, {candidate} (candidate) {fmt.MINUS} {baseline} (baseline), "
        f"for {captions.counted_rows(table)}; {captions.pairs_text(table)}.",
        captions.intervals_text(result, table),
        f"Circles: p \u2264 {captions.alpha_text(result)} "
        f"({captions.corrections_text(result, table)}); diamonds: not.",
        _margin_text(table),
        "Win/tie/loss counts examples from the candidate's side, by each criterion's direction.",
        captions.excluded_text(table),
        f"{left:,} rows with larger p are not drawn." if left else "",
    ]
    return " ".join(part for part in parts if part)


def _margin_text(table: pd.DataFrame) -> str:
    if table["margin"].isna().all():
        return ""
    equivalent = table.loc[table["verdict"] == "equivalent", "name"].tolist()
    said = f" Equivalent within it: {captions.listed_names(equivalent)}." if equivalent else ""
    return f"Grey band: equivalence margin.{said}"


def _alt(result: Comparison, table: pd.DataFrame) -> str:
    baseline, candidate = captions.systems(result)
    head = (
        f"Forest plot of mean paired differences, {candidate} minus {baseline}, "
        f"{fmt.counted(len(table), 'row')}."
    )
    lines = [captions.row_sentence(result, row) for row in wording.rows_of(table)]
    return " ".join([head, *lines])
