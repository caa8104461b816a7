"""Raw and adjusted p-values stand where the table says, sorted, with the line at alpha."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.plots import correction_ladder
from evaltoolkit.plots.ladder import LEAST_P
from evaltoolkit.results import Comparison


def marks(ax: Axes, label: str) -> dict[float, Line2D]:
    return {float(line.get_ydata()[0]): line for line in ax.lines if line.get_label() == label}


@pytest.mark.parametrize("name", ["usual", "one", "many", "scales_mixed", "named_to_hurt"])
@pytest.mark.parametrize("width", [3.25, 5.5])
def test_no_text_is_cut_off_or_covered(
    name: str, width: float, request: pytest.FixtureRequest, drawn: Callable
) -> None:
    seen = drawn(correction_ladder(request.getfixturevalue(name), width=width))
    assert not seen.outside()
    assert not seen.overlapping()


def test_positions_are_the_columns_of_the_table(sliced: Comparison) -> None:
    chart = correction_ladder(sliced, family="slices")
    raw, adjusted = (marks(chart.axes[0], label) for label in ("_raw", "_adjusted"))
    expected = sliced.table[sliced.table["family"] == "slices"]
    assert sorted(chart.data["p_value"]) == sorted(expected["p_value"])
    assert chart.data["p_value"].is_monotonic_increasing
    for row in chart.data.to_dict("records"):
        assert raw[row["y"]].get_xdata()[0] == row["p_value"]
        assert adjusted[row["y"]].get_xdata()[0] == row["p_adjusted"]
        assert adjusted[row["y"]].get_marker() == ("o" if row["passes"] else "D")


def test_title_and_words_name_correction_size_and_what_passes(
    usual: Comparison, drawn: Callable
) -> None:
    chart = correction_ladder(usual)
    assert chart.title == "Step-down max-t over 8: 3 of 8 hypotheses pass at .05"
    words = drawn(chart).words
    assert chart.title in words
    passing = "Passing, improved: correctness, groundedness; regressed: tone."
    assert passing in words
    assert passing in chart.caption
    assert "tone: raw <.0001, adjusted <.0001, passes." in chart.alt


def test_the_line_stands_at_alpha(usual: Comparison) -> None:
    chart = correction_ladder(usual)
    line = next(line for line in chart.axes[0].lines if line.get_label() == "_alpha")
    assert line.get_xdata()[0] == usual.settings["alpha"]
    assert chart.axes[0].get_xscale() == "log"


def test_tiny_p_values_get_an_arrow_and_keep_their_number(usual: Comparison) -> None:
    table = usual.table.copy()
    table.loc[0, ["p_value", "p_adjusted"]] = [1e-12, 1e-11]
    chart = correction_ladder(replace(usual, table=table))
    row = chart.data.set_index("criterion").loc[table.loc[0, "criterion"]]
    assert row["p_value"] == 1e-12
    assert row["beyond_axis"]
    assert marks(chart.axes[0], "_beyond")[row["y"]].get_marker() == "<"
    assert row["y"] not in marks(chart.axes[0], "_adjusted")
    assert chart.axes[0].get_xlim()[0] == pytest.approx(0.7 * LEAST_P)


def test_hypotheses_without_p_are_counted(awkward: Comparison) -> None:
    chart = correction_ladder(awkward)
    assert "unscored" not in set(chart.data["criterion"])
    assert "1 without a p-value not drawn." in chart.caption


def test_unknown_families_are_refused(usual: Comparison) -> None:
    with pytest.raises(EvalToolkitError, match="'overall'"):
        correction_ladder(usual, family="overal")
