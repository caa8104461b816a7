"""Distributions: counts add up to the pairs, means come from the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.plots import distributions
from evaltoolkit.plots.grades import segments
from evaltoolkit.plots.histograms import quantile_dots, scale_of
from evaltoolkit.results import Comparison

Build = Callable[..., Comparison]


@pytest.mark.parametrize("name", ["usual", "one", "many", "scales_mixed", "named_to_hurt"])
@pytest.mark.parametrize("width", [3.25, 5.5])
def test_no_text_is_cut_off_or_covered(
    name: str, width: float, request: pytest.FixtureRequest, drawn: Callable
) -> None:
    seen = drawn(distributions(request.getfixturevalue(name), width=width))
    assert not seen.outside()
    assert not seen.overlapping()


def test_counts_add_up_and_means_are_those_of_the_table(scales_mixed: Comparison) -> None:
    data = distributions(scales_mixed).data
    counted = data[data["part"].isin(["grade", "bin"])]
    totals = counted.groupby(["criterion", "role"])["count"].sum()
    assert (totals == 80).all()
    assert len(totals) == 14
    shares = counted.groupby(["criterion", "role"])["percent"].sum()
    assert np.allclose(shares, 100)
    means = data[data["part"] == "mean"].set_index(["criterion", "role"])["low"]
    for row in scales_mixed.table.to_dict("records"):
        for role in ("baseline", "candidate"):
            assert means[row["criterion"], role] == row[f"mean_{role}"]


def test_baseline_stands_above_candidate(usual: Comparison) -> None:
    data = distributions(usual).data
    means = data[data["part"] == "mean"]
    for _, both in means.groupby("criterion"):
        y = both.set_index("role")["y"]
        assert y["baseline"] < y["candidate"]
    ax = distributions(usual).axes[0]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]


def test_bars_have_the_lengths_of_the_shares(usual: Comparison) -> None:
    chart = distributions(usual)
    grade = chart.data[(chart.data["part"] == "grade") & (chart.data["count"] > 0)]
    widths = sorted(round(bar.get_width(), 6) for bar in chart.axes[0].patches)
    assert widths == sorted(round(share, 6) for share in grade["percent"])


def test_ratings_are_centred_on_the_middle_grade() -> None:
    values = np.array([1.0, 2, 3, 3, 4, 5, 5, 5])
    parts = segments(values, [1.0, 2, 3, 4, 5], higher_is_better=True)
    middle = parts[2]
    assert middle.low == -middle.high
    assert parts[0].low == pytest.approx(-100 * 3 / 8)
    assert parts[-1].high - parts[0].low == pytest.approx(100)
    even = segments(values, [1.0, 2, 3, 4, 5, 6], higher_is_better=True)
    assert even[2].high == pytest.approx(0)


def test_better_grades_are_blue_in_either_direction() -> None:
    up, down = (
        segments(np.array([0.0, 1]), [0.0, 1.0], higher_is_better=better)
        for better in (True, False)
    )
    assert [part.grade for part in up] == [part.grade for part in down] == [1.0, 0.0]
    assert up[0].colour == down[1].colour


def test_trial_means_become_histograms(build: Build) -> None:
    rng = np.random.default_rng(0)
    base, cand = (rng.binomial(5, p, 60) / 5 for p in (0.5, 0.7))
    given = {"kind": "binary", "baseline": base, "candidate": cand, "bounds": (0, 1)}
    data = distributions(build({"pass_rate": given})).data
    assert set(data["part"]) == {"bin", "dot", "mean"}
    bins = data[(data["part"] == "bin") & (data["role"] == "baseline")]
    middles = (bins["low"] + bins["high"]) / 2
    used = middles[bins["count"] > 0]
    assert np.allclose(sorted(set(used)), sorted(set(base)))


def test_the_grades_of_a_scale_are_complete(scales_mixed: Comparison) -> None:
    data = distributions(scales_mixed).data
    grades = data[(data["criterion"] == "judge.tone") & (data["part"] == "grade")]
    assert set(grades["low"]) == {1.0, 2.0, 3.0, 4.0, 5.0}


def test_wide_ranges_get_a_logarithmic_axis() -> None:
    assert scale_of(np.array([0.001, 5.0]), unit=False).log
    assert not scale_of(np.array([0.0, 5.0]), unit=False).log
    assert (
        scale_of(np.array([3.0, 3.0]), unit=False).low
        < 3
        < scale_of(np.array([3.0, 3.0]), unit=False).high
    )


def test_few_examples_are_shown_as_they_are() -> None:
    assert quantile_dots(np.array([3.0, 1.0])).tolist() == [1.0, 3.0]


def test_drawing_into_given_axes(usual: Comparison) -> None:
    figure = Figure(figsize=(8, 6), layout="constrained")
    ax = figure.subplots()
    assert distributions(usual, ax=ax).axes == (ax,)


def test_nothing_to_draw_is_said(usual: Comparison) -> None:
    with pytest.raises(EvalToolkitError, match="no criterion has a pair"):
        distributions(replace(usual, pairs=usual.pairs.head(0)))
