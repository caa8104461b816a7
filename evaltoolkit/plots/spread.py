"""Where the scores of both systems lie: bars of grades, histograms of everything finer."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit import wording
from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.plots import captions, grades, histograms, layout, marks, rows, scales, style, text
from evaltoolkit.plots import measures as sizes
from evaltoolkit.plots.chart import Chart
from evaltoolkit.results import Comparison

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

MOST_GRADES = 11
_ROLES: tuple[str, str] = ("baseline", "candidate")
_PITCH = {True: 0.19, False: 0.26}
"""Distance of the two systems in inches, for bars and for histograms."""
_GROUPS = ("binary", "grades", "unit", "other")

DRAWN_COLUMNS = [
    *rows.HYPOTHESIS,
    "name",
    "shown",
    "panel",
    "y",
    "role",
    "system",
    "part",
    "low",
    "high",
    "count",
    "percent",
    "n_pairs",
]
"""Columns of the tidy frame behind the chart; ``part`` is grade, bin, dot or mean."""


@dataclass(frozen=True)
class _Group:
    """Criteria that share an axis."""

    key: tuple[Hashable, ...]
    rows: tuple[wording.Row, ...]
    values: tuple[tuple[np.ndarray, np.ndarray], ...]
    grades: tuple[float, ...]

    @property
    def graded(self) -> bool:
        return bool(self.grades)

    @property
    def directions(self) -> set[bool]:
        return {bool(row["higher_is_better"]) for row in self.rows}


def distributions(
    result: Comparison,
    *,
    ax: Axes | None = None,
    width: float | None = None,
    order: str = "table",
    title: str | None = None,
) -> Chart:
    """Draw the scores of both systems for every criterion, baseline above candidate.

    Binary scores and ratings are stacked bars with per cents; ratings are centred on the middle
    grade. Scores with more values are histograms with 20 dots that each stand for one twentieth
    of the examples. The means stand in the margin; all scores are per-example means over trials.

    Args:
        result: A comparison.
        ax: Draw into this axes instead of a new figure.
        width: Width in inches, 5.5 by default.
        order: ``"table"`` or ``"delta"`` (largest difference first).
        title: Title; by default the names of the systems; empty for none.

    Returns:
        The chart; ``.data`` has one row per grade, bin, dot and mean.

    Raises:
        EvalToolkitError: No criterion has a pair, or an argument is not one of the above.

    Example:
        >>> distributions(result).save("figures/scores")  # doctest: +SKIP
    """
    result = rows.check_result(result)
    every = rows.ordered(rows.chosen_rows(result, False), order)
    table = rows.named(rows.most_telling(every[every["n_pairs"] > 0]))
    groups = _groups(table, result.pairs)
    heading = f"{text.shortened(result.candidate)} against {text.shortened(result.baseline)}"
    plan_title = heading if title is None else text.drawable(title)
    with style.chart_style():
        plan = _plan(result, groups, plan_title, left=len(every) - len(table))
        sheet = layout.draw_sheet(plan, width=width, ax=ax)
        drawn = [_draw_group(sheet, i, group, result) for i, group in enumerate(groups)]
    return Chart(
        figure=sheet.figure,
        axes=sheet.axes,
        data=pd.DataFrame([line for part in drawn for line in part], columns=DRAWN_COLUMNS),
        title=heading,
        caption=_caption(result, table, groups),
        alt=_alt(result, groups),
    )


def _groups(table: pd.DataFrame, pairs: pd.DataFrame) -> list[_Group]:
    by = dict(iter(pairs.groupby(rows.HYPOTHESIS, sort=False)))
    members: dict[tuple[Hashable, ...], list[tuple[wording.Row, pd.DataFrame]]] = {}
    for row, scale in zip(
        wording.rows_of(table), scales.scale_keys(table, pairs, separate=True), strict=True
    ):
        part = by.get(tuple(row[name] for name in rows.HYPOTHESIS))
        if part is not None:
            key = _group_key(row, part, scale)
            members.setdefault(key, []).append((row, part))
    if not members:
        raise EvalToolkitError(
            "no criterion has a pair to draw; see evaltoolkit.coverage for what is missing",
            code="nothing_to_draw",
            path="result.pairs",
        )
    ordered = sorted(members, key=lambda key: _GROUPS.index(str(key[0])))
    return [_group(key, members[key]) for key in ordered]


def _group_key(row: wording.Row, part: pd.DataFrame, scale: Hashable) -> tuple[Hashable, ...]:
    values = _both(part)
    whole = bool((values == np.floor(values)).all())
    if row["kind"] == "binary" and np.isin(values, (0, 1)).all():
        return ("binary",)
    if row["kind"] == "ordinal" and whole and np.ptp(values) < MOST_GRADES:
        return ("grades", scale, bool(row["higher_is_better"]))
    return ("unit",) if scale == scales.UNIT else ("other", scale)


def _both(part: pd.DataFrame) -> np.ndarray:
    return part[list(_ROLES)].to_numpy(dtype=float).ravel()


def _group(
    key: tuple[Hashable, ...], members: Sequence[tuple[wording.Row, pd.DataFrame]]
) -> _Group:
    values = tuple(
        (part["baseline"].to_numpy(dtype=float), part["candidate"].to_numpy(dtype=float))
        for _, part in members
    )
    levels: tuple[float, ...] = ()
    if key[0] == "binary":
        levels = (0.0, 1.0)
    elif key[0] == "grades":
        levels = _levels(members)
    return _Group(key, tuple(row for row, _ in members), values, levels)


def _levels(members: Sequence[tuple[wording.Row, pd.DataFrame]]) -> tuple[float, ...]:
    """List the grades from bound to bound, or as far as they were seen."""
    seen = np.concatenate([_both(part) for _, part in members])
    bounds = [float(row[name]) for row, _ in members for name in ("lower_bound", "upper_bound")]
    known = [bound for bound in bounds if np.isfinite(bound)]
    low, high = min([seen.min(), *known]), max([seen.max(), *known])
    if high - low >= MOST_GRADES or low != np.floor(low):
        return tuple(float(level) for level in np.unique(seen))
    return tuple(float(level) for level in np.arange(low, high + 1))


def _plan(result: Comparison, groups: Sequence[_Group], title: str, *, left: int) -> sizes.Plan:
    names = "\n".join(
        text.fit(text.shortened(name), 0.9, style.SMALL, lines=1)
        for name in (result.baseline, result.candidate)
    )
    return sizes.Plan(
        panels=tuple(tuple(_row(row, names, group) for row in group.rows) for group in groups),
        headers=("system", "mean"),
        title=title,
        axis_titles=tuple(_axis_title(group, last=group is groups[-1]) for group in groups),
        key=tuple(item for group in groups for item in _key(group, groups)),
        notes=(f"{left:,} without a pair or with larger p are not drawn.",) if left else (),
    )


def _row(row: wording.Row, systems: str, group: _Group) -> sizes.Row:
    means = [float(row[f"mean_{role}"]) for role in _ROLES]
    decimals = fmt.decimals_for(*means)
    pitch = _PITCH[group.graded]
    return sizes.Row(
        name=str(row["shown"]),
        identity=str(row["identity"]),
        cells=(systems, "\n".join(fmt.format_number(mean, decimals=decimals) for mean in means)),
        remark="" if row["higher_is_better"] else "(lower is better)",
        height=(2 * pitch + 0.09) / style.ROW,
        pitch=pitch,
    )


def _axis_title(group: _Group, *, last: bool) -> str:
    if group.key[0] == "binary":
        return "% of examples, those with score 1 first"
    if group.graded:
        return "% of examples, to both sides of the middle grade"
    return "score" if last else ""


def _key(group: _Group, groups: Sequence[_Group]) -> list[tuple[Artist, str]]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if group.graded:
        several = sum(other.graded for other in groups) > 1
        colours = grades.colours_of(len(group.grades), higher_is_better=True in group.directions)
        return [
            (Patch(facecolor=colour, edgecolor=style.INK, linewidth=0.4), words)
            for colour, words in zip(colours, _grade_names(group, several=several), strict=True)
        ]
    if group is not next(other for other in groups if not other.graded):
        return []
    mean: dict[str, Any] = {
        "markerfacecolor": "white",
        "markeredgecolor": style.INK,
        "markersize": 4.2,
    }
    dot: dict[str, Any] = {"markersize": 1.7, "color": style.MUTED, "linestyle": "none"}
    return [
        (Line2D([], [], marker="D", linestyle="none", **mean), "mean"),
        (Line2D([], [], marker="o", **dot), f"1/{histograms.DOTS} of the examples"),
    ]


def _grade_names(group: _Group, *, several: bool) -> list[str]:
    if len(group.directions) > 1:
        return ["worse of 0 and 1", "better of 0 and 1"]
    suffix = "" if True in group.directions else ", lower is better"
    tail = f" (of {group.grades[0]:g}{fmt.EN_DASH}{group.grades[-1]:g}{suffix})" if several else ""
    return [f"{grade:g}{tail}" for grade in group.grades]


def _draw_group(
    sheet: layout.Sheet, panel: int, group: _Group, result: Comparison
) -> list[dict[str, Any]]:
    ax, centres = sheet.axes[panel], sheet.centres[panel]
    draw = _draw_grades if group.graded else _draw_histograms
    lines = draw(ax, sheet.measures, group, centres)
    names: dict[str, str] = dict(zip(_ROLES, captions.systems(result), strict=True))
    facts = [*rows.HYPOTHESIS, "name", "shown", "n_pairs"]
    described = []
    for index, line in lines:
        row = group.rows[index]
        known = {name: row[name] for name in facts} | {"panel": panel}
        described.append(known | line | {"system": names[str(line["role"])]})
    return described


Lines = list[tuple[int, dict[str, Any]]]


def _strips(group: _Group, centres: Sequence[float]) -> list[tuple[int, str, float, np.ndarray]]:
    """List row, role, middle and values of both strips of each row."""
    half = _PITCH[group.graded] / 2
    return [
        (i, role, centre + side * half, values)
        for i, (centre, both) in enumerate(zip(centres, group.values, strict=True))
        for role, side, values in zip(_ROLES, (-1, 1), both, strict=True)
    ]


def _draw_grades(
    ax: Axes, measures: sizes.Measures, group: _Group, centres: Sequence[float]
) -> Lines:
    higher = [bool(row["higher_is_better"]) for row in group.rows]
    bars = [
        (i, role, y, grades.segments(values, group.grades, higher_is_better=higher[i]))
        for i, role, y, values in _strips(group, centres)
    ]
    low = min(parts[0].low for _, _, _, parts in bars)
    high = max(parts[-1].high for _, _, _, parts in bars)
    ax.set_xlim(low - (2.0 if low < 0 else 0.0), high + 2.0)
    inch = measures.plot_width / (ax.get_xlim()[1] - ax.get_xlim()[0])
    if low < 0:
        ax.axvline(0.0, color=style.INK, linewidth=0.6, zorder=0.5)
    lines: Lines = []
    for i, role, y, parts in bars:
        grades.draw_bar(ax, y, parts, inch=inch, size=max(measures.small - 0.5, 6.0))
        for part in parts:
            ends = {"low": part.grade, "high": part.grade}
            amounts = {"count": part.count, "percent": part.percent}
            lines.append((i, {"y": y, "role": role, "part": "grade", **ends, **amounts}))
        lines.append(_mean_line(group, i, role, y))
    marks.set_number_ticks(ax, measures, both_ways=True)
    return lines


def _mean_line(group: _Group, i: int, role: str, y: float) -> tuple[int, dict[str, Any]]:
    mean = float(group.rows[i][f"mean_{role}"])
    return i, {"y": y, "role": role, "part": "mean", "low": mean, "high": mean}


def _draw_histograms(
    ax: Axes, measures: sizes.Measures, group: _Group, centres: Sequence[float]
) -> Lines:
    every = np.concatenate([values for both in group.values for values in both])
    scale = histograms.scale_of(every, unit=group.key[0] == "unit")
    if scale.log:
        ax.set_xscale("log")
    ax.set_xlim(scale.low, scale.high)
    strips = _strips(group, centres)
    counts = [np.histogram(values, scale.edges)[0] for *_, values in strips]
    lines: Lines = []
    for n, (i, role, y, values) in enumerate(strips):
        tallest = int(max(counts[2 * i].max(), counts[2 * i + 1].max()))
        base, candidate = y + 0.07, role == "candidate"
        how: dict[str, Any] = {"tallest": tallest, "candidate": candidate}
        histograms.draw_strip(ax, base, counts[n], scale.edges, **how)
        dots = histograms.quantile_dots(values)
        histograms.draw_points(ax, base, dots, float(group.rows[i][f"mean_{role}"]))
        own = {"y": base, "role": role}
        for count, low, high in zip(counts[n], scale.edges[:-1], scale.edges[1:], strict=True):
            share = {"count": int(count), "percent": 100 * count / values.size}
            lines.append((i, {**own, "part": "bin", "low": low, "high": high, **share}))
        lines += [(i, {**own, "part": "dot", "low": dot, "high": dot}) for dot in dots]
        lines.append(_mean_line(group, i, role, base))
    (marks.set_log_ticks if scale.log else marks.set_number_ticks)(ax, measures)
    return lines


def _caption(result: Comparison, table: pd.DataFrame, groups: Sequence[_Group]) -> str:
    baseline, candidate = captions.systems(result)
    parts = [
        f"Scores of {baseline} (baseline, above) and {candidate} (candidate, below) for "
        f"{captions.counted_rows(table)}, as per-example means over scored trials of the "
        f"examples that both have; {captions.pairs_text(table)}.",
        "Bars: per cent of examples by score." if any(g.graded for g in groups) else "",
        f"Histograms: {histograms.BINS} bins; diamonds: means; dots: "
        f"{histograms.DOTS} equal shares of the examples."
        if not all(g.graded for g in groups)
        else "",
        captions.excluded_text(table),
    ]
    return " ".join(part for part in parts if part)


def _alt(result: Comparison, groups: Sequence[_Group]) -> str:
    baseline, candidate = captions.systems(result)
    lines = [_row_alt(group, i) for group in groups for i in range(len(group.rows))]
    return " ".join([f"Distributions of scores, {baseline} above {candidate}.", *lines])


def _row_alt(group: _Group, i: int) -> str:
    row = group.rows[i]
    means = [float(row[f"mean_{role}"]) for role in _ROLES]
    decimals = fmt.decimals_for(*means)
    said = [
        f"{role} mean {fmt.format_number(mean, decimals=decimals)}{_grade_words(group, values)}"
        for role, mean, values in zip(_ROLES, means, group.values[i], strict=True)
    ]
    direction = "" if row["higher_is_better"] else " (lower is better)"
    return f"{row['name']}{direction}: {'; '.join(said)}."


def _grade_words(group: _Group, values: np.ndarray) -> str:
    if not group.graded:
        return ""
    counts = [f"{int((values == grade).sum())} with {grade:g}" for grade in group.grades]
    return f" ({', '.join(counts)})"
