"""The forest of paired differences: every mark stands where the table says."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.plots import paired_deltas, style
from evaltoolkit.plots.rows import MOST_ROWS
from evaltoolkit.results import Comparison

Build = Callable[..., Comparison]
EVERY = ["usual", "one", "many", "scales_mixed", "sliced", "awkward", "with_outlier",
         "named_to_hurt"]  # fmt: skip


def marks(axes: tuple[Axes, ...], label: str) -> list[Line2D]:
    return [line for ax in axes for line in ax.lines if line.get_label() == label]


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("width", [3.25, 5.5, 6.9])
def test_no_text_is_cut_off_or_covered(
    name: str, width: float, request: pytest.FixtureRequest, drawn: Callable
) -> None:
    chart = paired_deltas(request.getfixturevalue(name), width=width, slices=None)
    seen = drawn(chart)
    assert not seen.outside()
    assert not seen.overlapping()
    assert chart.figure.get_size_inches()[0] == width


@pytest.mark.parametrize("width", [3.25, 5.5])
def test_slices_fit_too(sliced: Comparison, width: float, drawn: Callable) -> None:
    seen = drawn(paired_deltas(sliced, slices=True, width=width))
    assert not seen.outside()
    assert not seen.overlapping()


def test_positions_are_the_columns_of_the_table(usual: Comparison) -> None:
    chart = paired_deltas(usual)
    table = usual.table.set_index("criterion")
    centres = {float(line.get_ydata()[0]): line for line in marks(chart.axes, "_delta")}
    thick = {float(line.get_ydata()[0]): line.get_xdata() for line in marks(chart.axes, "_ci")}
    thin = {float(line.get_ydata()[0]): line.get_xdata() for line in marks(chart.axes, "_joint")}
    assert len(centres) == len(chart.data) == 8
    for row in chart.data.to_dict("records"):
        expected = table.loc[row["criterion"]]
        assert centres[row["y"]].get_xdata()[0] == expected["delta"] == row["delta"]
        assert list(thick[row["y"]]) == [expected["ci_low"], expected["ci_high"]]
        if not math.isnan(expected["joint_low"]):
            assert list(thin[row["y"]]) == [expected["joint_low"], expected["joint_high"]]


def test_rows_are_sorted_by_difference_or_as_in_the_table(usual: Comparison) -> None:
    by_delta = paired_deltas(usual).data
    assert by_delta["delta"].is_monotonic_decreasing
    assert by_delta["y"].is_monotonic_increasing
    as_given = paired_deltas(usual, order="table").data
    assert as_given["criterion"].tolist() == usual.table["criterion"].tolist()


def test_shape_and_colour_say_the_same(usual: Comparison) -> None:
    chart = paired_deltas(usual)
    by_y = {float(line.get_ydata()[0]): line for line in marks(chart.axes, "_delta")}
    alpha = usual.settings["alpha"]
    for row in chart.data.to_dict("records"):
        line = by_y[row["y"]]
        significant = row["p_adjusted"] <= alpha
        assert line.get_marker() == ("o" if significant else "D")
        if significant:
            colour = style.BETTER if row["verdict"] == "improved" else style.WORSE
            assert to_hex(line.get_markeredgecolor()).upper() == colour
            assert to_hex(line.get_markerfacecolor()) == "#ffffff"


def test_direction_decides_the_colour_and_never_flips_an_axis(
    scales_mixed: Comparison, drawn: Callable
) -> None:
    chart = paired_deltas(scales_mixed)
    data = chart.data.set_index("criterion")
    assert data.loc["refusal", "delta"] < 0
    assert data.loc["refusal", "colour"] == style.BETTER
    assert data.loc["tokens_out", "delta"] > 0
    assert data.loc["tokens_out", "colour"] == style.WORSE
    for ax in chart.axes:
        low, high = ax.get_xlim()
        assert low < 0 < high
    lower = [words for words in drawn(chart).words if words.endswith("(lower is better)")]
    assert {words.split("\n")[0] for words in lower} == {"refusal", "latency_s", "tokens_out"}


def test_scales_get_their_own_panels(scales_mixed: Comparison) -> None:
    data = paired_deltas(scales_mixed).data
    together = data.groupby("panel")["criterion"].agg(set).tolist()
    assert {"exact_match", "f1", "refusal"} in together
    assert {"judge.helpfulness", "judge.tone"} in together
    assert {"latency_s"} in together
    assert {"tokens_out"} in together
    assert data["panel"].iloc[0] == 0
    assert "exact_match" in together[0]


def test_many_criteria_without_bounds_are_grouped_by_size(build: Build) -> None:
    rng = np.random.default_rng(2)
    sizes = (1.0, 1.5, 2.0, 400.0, 500.0, 9000.0)
    criteria = {
        f"amount_{i}": {
            "kind": "continuous",
            "baseline": size * rng.uniform(1, 3, 40),
            "candidate": size * rng.uniform(1, 3, 40),
        }
        for i, size in enumerate(sizes)
    }
    data = paired_deltas(build(criteria)).data.set_index("criterion")
    groups = data.groupby("panel").groups
    assert 1 < len(groups) <= 4
    assert data.loc["amount_0", "panel"] == data.loc["amount_2", "panel"]
    assert data.loc["amount_0", "panel"] != data.loc["amount_5", "panel"]


def test_gutter_names_difference_p_and_counts(usual: Comparison, drawn: Callable) -> None:
    chart = paired_deltas(usual)
    seen = drawn(chart)
    row = usual.table.set_index("criterion").loc["correctness"]
    assert f"{row['wins']}/{row['ties']}/{row['losses']}" in seen.cells()
    assert "+0.200" in seen.cells()
    assert "<.0001" in seen.cells()
    assert {"Δ", "adj. p", "win/tie/loss"} <= set(seen.words)
    assert "mean paired difference, candidate − baseline" in seen.words


def test_one_hypothesis_has_a_plain_p(one: Comparison, drawn: Callable) -> None:
    chart = paired_deltas(one)
    words = drawn(chart).words
    assert "p" in words
    assert "adj. p" not in words
    assert not marks(chart.axes, "_joint")
    assert "simultaneous" not in chart.caption


def test_rows_that_say_nothing_are_named(awkward: Comparison, drawn: Callable) -> None:
    chart = paired_deltas(awkward)
    cells = drawn(chart).cells()
    assert cells.count("no differing example") == 1
    assert cells.count("not measured") == 1
    data = chart.data.set_index("criterion")
    flat = next(
        line
        for line in marks(chart.axes, "_delta")
        if line.get_ydata()[0] == data.loc["safety", "y"]
    )
    assert flat.get_marker() == "D"
    assert to_hex(flat.get_markerfacecolor()) == "#ffffff"
    drawn_at = {float(line.get_ydata()[0]) for line in marks(chart.axes, "_delta")}
    assert data.loc["unscored", "y"] not in drawn_at
    assert "unscored: not measured." in chart.alt


def test_missing_intervals_are_not_drawn_and_endless_ones_get_arrows(awkward: Comparison) -> None:
    chart = paired_deltas(awkward)
    data = chart.data.set_index("criterion")
    with_bar = {float(line.get_ydata()[0]) for line in marks(chart.axes, "_ci")}
    assert data.loc["conciseness", "y"] not in with_bar
    arrows = [
        line.get_marker()
        for line in marks(chart.axes, "_beyond")
        if line.get_ydata()[0] == data.loc["completeness", "y"]
    ]
    assert sorted(arrows) == ["<", ">"]
    assert data.loc["completeness", "cut"]
    low, high = chart.axes[0].get_xlim()
    assert math.isfinite(low)
    assert math.isfinite(high)


def test_margins_are_drawn_row_by_row(awkward: Comparison) -> None:
    chart = paired_deltas(awkward)
    data = chart.data.set_index("criterion")
    bands = [
        part.get_paths()[0].get_extents()
        for part in chart.axes[0].collections
        if isinstance(part, PolyCollection) and not isinstance(part, LineCollection)
    ]

    def band_at(criterion: str) -> list[float]:
        y = data.loc[criterion, "y"]
        return [round(box.x1, 9) for box in bands if box.y0 < y < box.y1]

    assert band_at("tone") == [0.05]
    assert band_at("correctness") == [0.1]
    assert band_at("format") == []
    assert "margin" in chart.caption


def test_an_outlier_does_not_squash_the_others(with_outlier: Comparison) -> None:
    chart = paired_deltas(with_outlier)
    assert chart.axes[0].get_xlim()[1] < 1
    data = chart.data.set_index("criterion")
    assert data.loc["format", "delta"] == 2.5
    assert data["cut"].sum() == 1
    ys = {float(line.get_ydata()[0]) for line in marks(chart.axes, "_beyond")}
    assert ys == {data.loc["format", "y"]}


def test_slices_follow_their_criterion(sliced: Comparison) -> None:
    data = paired_deltas(sliced, slices=True).data
    assert len(data) == 12
    for start in range(0, 12, 4):
        block = data.iloc[start : start + 4]
        assert block["criterion"].nunique() == 1
        assert pd.isna(block["slice"].iloc[0])
        assert block["delta"].iloc[1:].is_monotonic_decreasing
    assert len(paired_deltas(sliced).data) == 3
    assert len(paired_deltas(sliced, slices="topic").data) == 12
    assert len(paired_deltas(sliced, slices=False).data) == 3


def test_equal_slices_get_no_numbers_but_equal_cuts_do(
    sliced: Comparison, build: Build, drawn: Callable
) -> None:
    words = drawn(paired_deltas(sliced, slices=True)).words
    assert words.count("  topic = law") == 3
    one = {"kind": "binary", "baseline": np.array([0.0, 1, 0]), "candidate": np.array([1.0, 1, 0])}
    names = [f"{'a' * 60}{middle}{'z' * 60}" for middle in "xy"]
    labels = drawn(paired_deltas(build(dict.fromkeys(names, one)))).words
    assert len([label for label in labels if "…" in label and label.endswith(("(1)", "(2)"))]) == 2


def test_hostile_names_are_drawn_as_they_are(named_to_hurt: Comparison, drawn: Callable) -> None:
    chart = paired_deltas(named_to_hurt)
    words = " ".join(drawn(chart).words).replace("\n", "")
    assert r"accuracy_$\frac{1}{0}$" in words
    assert "<script>alert(1)</script>" in words
    assert "‮" not in words
    assert "\x00" not in words
    full = set(named_to_hurt.table["criterion"])
    assert set(chart.data["criterion"]) == full
    assert "strictly_following_the_rubric_version_2024_11_without_reference" in chart.alt
    assert not any(text.get_parse_math() for text, _ in drawn(chart).boxes)


def test_caption_says_what_a_reviewer_asks(usual: Comparison) -> None:
    caption = paired_deltas(usual).caption
    for part in (
        "v2 (candidate) − v1 (baseline)",
        "8 criteria",
        "n = 117–120 paired examples",
        "95 % pointwise intervals (Bonett–Price)",
        "step-down max-t over 8",
        "Left out per row: 0–3 system error.",
    ):
        assert part in caption


def test_alt_text_has_every_row(many: Comparison) -> None:
    alt = paired_deltas(many).alt
    assert all(name in alt for name in many.table["criterion"])


def test_more_rows_than_a_sheet_holds_keep_the_smallest_p(build: Build, drawn: Callable) -> None:
    rng = np.random.default_rng(0)
    base, cand = rng.integers(0, 2, (2, 20)).astype(float)
    names = [f"c{i}" for i in range(MOST_ROWS + 5)]
    result = build({n: {"kind": "binary", "baseline": base, "candidate": cand} for n in names})
    table = result.table.assign(p_adjusted=np.linspace(1, 0.5, len(names)))
    chart = paired_deltas(replace(result, table=table))
    assert len(chart.data) == MOST_ROWS
    assert "c0" not in set(chart.data["criterion"])
    assert "5 rows with larger p are not drawn." in chart.caption
    assert "5 more rows, with larger p, are not drawn." in drawn(chart).words


def test_drawing_into_given_axes(usual: Comparison, scales_mixed: Comparison) -> None:
    figure = Figure(figsize=(12, 5), layout="constrained")
    left, right = figure.subplots(1, 2)
    chart = paired_deltas(usual, ax=left)
    assert chart.figure is figure
    assert chart.axes == (left,)
    several = paired_deltas(scales_mixed, ax=right)
    assert several.figure is figure
    assert len(several.axes) == 4
    assert set(several.axes) == set(right.child_axes)


def test_the_title_can_be_changed_or_left_out(usual: Comparison, drawn: Callable) -> None:
    assert "v2 against v1" in drawn(paired_deltas(usual)).words
    assert "$mine$" in drawn(paired_deltas(usual, title="$mine$")).words
    assert "v2 against v1" not in drawn(paired_deltas(usual, title="")).words


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"order": "size"}, "unknown_order"),
        ({"slices": "topic"}, "unknown_slices"),
        ({"slices": True}, "unknown_slices"),
        ({"width": 0.5}, "bad_width"),
    ],
)
def test_wrong_arguments_say_what_is_allowed(
    usual: Comparison, arguments: dict[str, object], code: str
) -> None:
    with pytest.raises(EvalToolkitError) as caught:
        paired_deltas(usual, **arguments)
    assert caught.value.code == code


def test_width_and_axes_exclude_each_other(usual: Comparison) -> None:
    with pytest.raises(EvalToolkitError, match="leave width out"):
        paired_deltas(usual, width=5.0, ax=Figure().subplots())


def test_only_comparisons_can_be_drawn(usual: Comparison) -> None:
    with pytest.raises(EvalToolkitError, match="must be a Comparison"):
        paired_deltas(usual.table)  # type: ignore[arg-type]
    with pytest.raises(EvalToolkitError, match="no rows to draw"):
        paired_deltas(replace(usual, table=usual.table.head(0)))
