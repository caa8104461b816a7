"""What a correction for many looks does: raw and adjusted p-values of one family, side by side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit import wording
from evaltoolkit.errors import EvalToolkitError, nearest
from evaltoolkit.plots import captions, layout, marks, measures, rows, style, text
from evaltoolkit.plots.chart import Chart
from evaltoolkit.results import Comparison

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

LEAST_P = 1e-5
"""Where the axis ends; smaller p-values get an arrow, their text stands in the gutter."""

_DECADES = {1e-5: "10⁻⁵", 1e-4: ".0001", 1e-3: ".001", 1e-2: ".01", 1e-1: ".1", 1.0: "1"}

DRAWN_COLUMNS = [
    *rows.HYPOTHESIS,
    "slice_by",
    "slice",
    "name",
    "shown",
    "y",
    "p_value",
    "p_adjusted",
    "correction",
    "family",
    "alpha",
    "passes",
    "verdict",
    "beyond_axis",
]
"""Columns of the tidy frame behind the chart."""


def correction_ladder(
    result: Comparison,
    *,
    family: str | None = None,
    ax: Axes | None = None,
    width: float | None = None,
    title: str | None = None,
) -> Chart:
    """Draw raw and adjusted p-values of a family of hypotheses, smallest first.

    A small bar is the raw p-value, joined by a line to the adjusted one: an open circle where
    it passes alpha, a diamond where it does not. The axis is logarithmic.

    Args:
        result: A comparison.
        family: Name of the family, e.g. ``"overall"`` (default) or ``"slices"``.
        ax: Draw into this axes instead of a new figure.
        width: Width in inches, 5.5 by default.
        title: Title; by default the correction and the number that pass; empty for none.

    Returns:
        The chart; ``.data`` has one row per hypothesis drawn.

    Raises:
        EvalToolkitError: The family is unknown or has no p-value.

    Example:
        >>> correction_ladder(result, family="slices")  # doctest: +SKIP
    """
    result = rows.check_result(result)
    members = _members(result, family)
    measured = members[members["p_value"].notna()].sort_values("p_value", kind="stable")
    table = rows.named(rows.most_telling(measured))
    alpha = float(result.settings["alpha"])
    table = table.assign(alpha=alpha, passes=table["p_adjusted"] <= alpha)
    least = _least(table)
    table = table.assign(beyond_axis=table[["p_value", "p_adjusted"]].min(axis=1) < least)
    left = _left_out(members, table)
    heading = _title(result, measured)
    with style.chart_style():
        shown = heading if title is None else text.drawable(title)
        sheet = layout.draw_sheet(_plan(table, shown, left), width=width, ax=ax)
        drawn = table.assign(y=sheet.centres[0])
        _draw(sheet, drawn, least)
    return Chart(
        figure=sheet.figure,
        axes=sheet.axes,
        data=drawn[DRAWN_COLUMNS].reset_index(drop=True),
        title=heading,
        caption=" ".join([_caption(result, table), *left]),
        alt=_alt(heading, table),
    )


def _members(result: Comparison, family: str | None) -> pd.DataFrame:
    table = wording.with_flags(result.table)
    known = [str(name) for name in dict.fromkeys(table["family"].dropna())]
    chosen = family or ("overall" if "overall" in known or not known else known[0])
    members = table[table["family"] == chosen]
    if members["p_value"].notna().any():
        return members
    raise EvalToolkitError(
        f"the comparison has no p-value in a family {chosen!r}; {nearest(chosen, known)}",
        code="unknown_family",
        path="family",
        value=chosen,
    )


def _least(table: pd.DataFrame) -> float:
    """Choose the lower end of the axis: a decade below what is drawn, but no further than it."""
    smallest = float(table[["p_value", "p_adjusted", "alpha"]].min().min())
    if smallest <= LEAST_P:
        return LEAST_P
    return float(max(10.0 ** math.floor(math.log10(smallest)), LEAST_P))


def _left_out(members: pd.DataFrame, table: pd.DataFrame) -> tuple[str, ...]:
    unmeasured = int(members["p_value"].isna().sum())
    undrawn = len(members) - unmeasured - len(table)
    return (
        *([f"{unmeasured:,} without a p-value not drawn."] if unmeasured else []),
        *([f"{undrawn:,} with larger p not drawn."] if undrawn else []),
    )


def _title(result: Comparison, measured: pd.DataFrame) -> str:
    passing = int((measured["p_adjusted"] <= float(result.settings["alpha"])).sum())
    how = captions.corrections_text(result, measured)
    hypotheses = fmt.counted(len(measured), "hypothesis", "hypotheses")
    head = f"{how[:1].upper()}{how[1:]}"
    verb = "passes" if passing == 1 else "pass"
    return f"{head}: {passing} of {hypotheses} {verb} at {captions.alpha_text(result)}"


def _plan(table: pd.DataFrame, title: str, left: tuple[str, ...]) -> measures.Plan:
    return measures.Plan(
        panels=(tuple(_row(row) for row in wording.rows_of(table)),),
        headers=("raw p", "adjusted p"),
        title=title,
        axis_titles=("p-value, logarithmic",),
        key=tuple(_key(table)),
        notes=(_passing(table), *left),
    )


def _passing(table: pd.DataFrame) -> str:
    passing = table[table["passes"]]
    parts = [
        f"{str(verdict).replace('_', ' ')}: {captions.listed_names(part['shown'].tolist())}"
        for verdict, part in passing.groupby("verdict", sort=False)
    ]
    return f"Passing, {'; '.join(parts)}." if parts else "None passes."


def _row(row: wording.Row) -> measures.Row:
    return measures.Row(
        name=str(row["shown"]),
        identity=str(row["identity"]),
        cells=(
            fmt.format_p(float(row["p_value"])),
            fmt.format_p(float(row["p_adjusted"])),
        ),
    )


def _look(row: wording.Row) -> str:
    if not row["passes"]:
        return "not_significant"
    return str(row["verdict"]) if row["verdict"] in ("improved", "regressed") else "significant"


def _key(table: pd.DataFrame) -> list[tuple[Artist, str]]:
    from matplotlib.lines import Line2D

    looks = {_look(row) for row in wording.rows_of(table)}
    words = {
        "improved": "adjusted: improved",
        "regressed": "adjusted: regressed",
        "significant": "adjusted: passes",
        "not_significant": "adjusted: does not pass",
    }
    key: list[tuple[Artist, str]] = [
        (Line2D([], [], linestyle="none", **_RAW), "raw"),
        *(
            (Line2D([], [], linestyle="none", **style.marker(look)), said)
            for look, said in words.items()
            if look in looks
        ),
        (Line2D([], [], **_ALPHA), "alpha"),
    ]
    if table["beyond_axis"].any():
        arrow = Line2D([], [], marker="<", markersize=4.5, color=style.MUTED, linestyle="none")
        key.append((arrow, "beyond the axis"))
    return key


_RAW: dict[str, Any] = {
    "marker": "|",
    "markersize": 7.0,
    "markeredgecolor": style.MUTED,
    "markeredgewidth": 1.4,
}
_ALPHA: dict[str, Any] = {"color": style.INK, "linewidth": 0.8, "linestyle": (0, (4, 2))}


def _draw(sheet: layout.Sheet, table: pd.DataFrame, least: float) -> None:
    ax = sheet.axes[0]
    ax.set_xscale("log")
    ax.set_xlim(least * 0.7, 1.4)
    ax.axvline(float(table["alpha"].iloc[0]), zorder=1, label="_alpha", **_ALPHA)
    ax.hlines(table["y"], *ax.get_xlim(), color=style.GUIDE, linewidth=0.5, zorder=0.5)
    for row in wording.rows_of(table):
        _draw_row(ax, row, least)
    _set_ticks(sheet, least)


def _draw_row(ax: Axes, row: wording.Row, least: float) -> None:
    y = float(row["y"])
    raw, adjusted = (float(row[name]) for name in ("p_value", "p_adjusted"))
    edge = ax.get_xlim()[0]
    ends = [p if p >= least else edge for p in (raw, adjusted)]
    ax.plot(ends, [y, y], color=style.MUTED, linewidth=0.8, zorder=2)
    if raw >= least:
        ax.plot([raw], [y], linestyle="none", zorder=3, label="_raw", **_RAW)
    if adjusted >= least:
        ax.plot(
            [adjusted],
            [y],
            linestyle="none",
            zorder=4,
            label="_adjusted",
            **style.marker(_look(row)),
        )
    if min(raw, adjusted) < least:
        marks.draw_arrow(ax, (edge, y), right=False, colour=style.colour_of(_look(row)))


def _set_ticks(sheet: layout.Sheet, least: float) -> None:
    ticks = [p for p in _DECADES if p >= least * 0.99]
    decade = sheet.measures.plot_width / math.log10(1.4 / (0.7 * least))
    if text.widest(_DECADES.values(), sheet.measures.small) + 0.06 > decade:
        ticks = ticks[::-2]
    marks.place_ticks(sheet.axes[0], {p: _DECADES[p] for p in ticks}, sheet.measures)


def _caption(result: Comparison, table: pd.DataFrame) -> str:
    baseline, candidate = captions.systems(result)
    tests = dict.fromkeys(wording.TESTS.get(kind, str(kind)) for kind in table["test"])
    return (
        f"Raw (bars) and adjusted (circles and diamonds) two-sided p-values, {candidate} "
        f"(candidate) against {baseline} (baseline); tests: {', '.join(tests)}; adjusted by "
        f"{captions.corrections_text(result, table)}; line: alpha = "
        f"{captions.alpha_text(result)}; {captions.pairs_text(table)}. "
        f"{_passing(table.assign(shown=table['name']))} {captions.excluded_text(table)}"
    )


def _alt(heading: str, table: pd.DataFrame) -> str:
    lines = [
        f"{row['name']}: raw {fmt.format_p(float(row['p_value']))}, adjusted "
        f"{fmt.format_p(float(row['p_adjusted']))}, "
        f"{'passes' if row['passes'] else 'does not pass'}."
        for row in wording.rows_of(table)
    ]
    return " ".join([f"Raw and adjusted p-values on a log axis. {heading}.", *lines])
