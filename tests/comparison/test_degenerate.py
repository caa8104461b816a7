"""Awkward inputs get a defined answer with a reason, never a false certainty."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import evaltoolkit as et
from tests.comparison.builders import paired_cells, two_systems

pytestmark = pytest.mark.filterwarnings("ignore::evaltoolkit.EvalToolkitWarning")


def row_of(frame: pd.DataFrame, **choices: object) -> pd.Series:
    table = et.compare(frame, baseline="old", candidate="new", **choices).table
    assert len(table) == 1
    return table.iloc[0]


# (both, wins, losses, neither) -> p exact, p mid, Bonett-Price low and high. Sources: exact and
# mid-p by the binomial distribution; intervals by the closed form of Bonett and Price (2012).
AWKWARD = {
    "all 20 pairs tie": ((12, 0, 0, 8), 1.0, 1.0, -0.125991, 0.125991),
    "all one way, n = 10": ((0, 10, 0, 0), 0.001953125, 0.0009765625, 0.520580, 1.0),
    "b = 1, c = 7, n = 21": ((1, 7, 1, 12), 0.0703125, 0.0390625, 0.013380, 0.508359),
    "two losses of 20": ((18, 0, 2, 0), 0.5, 0.25, -0.264991, 0.083173),
    "n = 1": ((0, 1, 0, 0), 1.0, 0.5, -0.733536, 1.0),
}


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_binary_pairs(name: str) -> None:
    cells, exact, midp, low, high = AWKWARD[name]
    frame = paired_cells(*cells)
    row = row_of(frame)
    assert row.p_value == pytest.approx(midp, abs=1e-9)
    assert (row.ci_low, row.ci_high) == pytest.approx((low, high), abs=1e-6)
    assert row.ci_low < row.ci_high
    assert row_of(frame, test="mcnemar_exact").p_value == pytest.approx(exact, abs=1e-9)


def test_one_missing_score_per_side_is_left_out_and_counted() -> None:
    frame = paired_cells(6, 5, 1, 8)
    frame.loc[[0, 25], ["score", "status"]] = [np.nan, "unscored"]
    row = row_of(frame)
    assert (row.n_pairs, row.n_unscored) == (18, 2)
    assert 0 < row.p_value < 1


def test_a_constant_change_has_no_variance_but_a_p_value() -> None:
    row = row_of(two_systems([1.0] * 12, [1.5] * 12, criterion="rating"))
    assert row.se == 0
    assert math.isnan(row.ci_low)
    assert math.isnan(row.mde)
    assert row.p_value == pytest.approx(2.0**-12)  # mid-p: half of 2 of 4,096 arrangements
    assert row.verdict == "improved"
    assert "no variance" in row.note


def test_all_ties_of_a_mean_give_p_1_and_no_interval() -> None:
    row = row_of(two_systems([1.5, 2.5, 3.5], [1.5, 2.5, 3.5], criterion="rating"))
    assert row.p_value == 1.0
    assert math.isnan(row.ci_low)
    assert math.isnan(row.mde)
    assert row.verdict == "inconclusive"
    assert "no differing example" in row.note


def test_one_pair_of_a_mean_has_no_interval() -> None:
    row = row_of(two_systems([1.5], [2.5], criterion="rating"))
    assert math.isnan(row.se)
    assert math.isnan(row.ci_low)
    assert math.isnan(row.mde)
    assert row.p_value == 0.5
    assert "one pair" in row.note


def test_one_cluster_allows_no_inference() -> None:
    row = row_of(two_systems([1.0, 0.0] * 10, [1.0, 1.0] * 10, cluster="only"))
    assert math.isnan(row.ci_low)
    assert math.isnan(row.p_value)
    assert row.verdict == "inconclusive"
    assert "one cluster" in row.note


def test_a_hypothesis_without_pairs_is_not_measured() -> None:
    frame = paired_cells(5, 5, 5, 5)
    lonely = frame[frame.system == "old"].assign(criterion="extra")
    table = et.compare(pd.concat([frame, lonely]), baseline="old", candidate="new").table.set_index(
        "criterion"
    )
    row = table.loc["extra"]
    assert row.verdict == "not_measured"
    assert (row.n_pairs, row.n_unpaired) == (0, 20)
    assert row[["delta", "p_value", "p_adjusted", "ci_low", "mde"]].isna().all()
    assert row.note == "no usable pair"


def test_a_shared_miss_is_not_measured() -> None:
    row = row_of(two_systems([0.0] * 15, [0.0] * 15))
    assert row.verdict == "not_measured"
    assert "nothing was measured" in row.note
    assert row.p_value == 1.0
    assert row.ci_low < 0 < row.ci_high


def test_a_self_referenced_criterion_needs_a_margin() -> None:
    rng = np.random.default_rng(3)
    new = 1 - 0.05 * rng.random(60)
    frame = two_systems([1.0] * 60, new.tolist(), criterion="drift", self_referenced=True)
    plain = row_of(frame)
    assert (plain.verdict, plain.test) == ("not_measured", "none")
    assert math.isnan(plain.p_value)
    assert plain.delta < 0
    assert row_of(frame, margin=0.1).verdict == "equivalent"


def test_evidence_of_ranks_against_the_mean_is_named() -> None:
    # 300 pairs: 9 fall by 4, 15 rise by 1, 6 rise by 2 (mean -0.03; sign test p = .0428)
    deltas = np.array([-4.0] * 9 + [1.0] * 15 + [2.0] * 6 + [0.0] * 270)
    row = row_of(two_systems([5.0] * 300, (5 + deltas).tolist(), criterion="rating"))
    assert row.delta == pytest.approx(-0.03)
    assert (row.wins, row.losses, row.ties) == (21, 9, 270)
    assert "rank evidence points the other way" in row.note
    assert row.test == "sign_flip"
    assert row.verdict == "inconclusive"


def test_few_differences_warn() -> None:
    with pytest.warns(et.EvalToolkitWarning, match="fewer than 10 non-zero differences"):
        result = et.compare(paired_cells(30, 3, 1, 6), baseline="old", candidate="new")
    assert "only 4 non-zero differences" in result.table.note[0]
    assert any("fewer than 10" in text for text in result.warnings)
