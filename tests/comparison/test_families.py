"""Families, corrections, joint intervals, margins and verdicts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import evaltoolkit as et
from evaltoolkit import stats
from tests.comparison.builders import many_criteria, paired_cells, two_systems


def compared(frame: pd.DataFrame, **choices: object) -> et.Comparison:
    return et.compare(frame, baseline="old", candidate="new", **choices)


def deltas_of(result: et.Comparison) -> np.ndarray:
    pairs = result.pairs.pivot_table(index="example_id", columns="criterion", values="delta")
    return pairs.to_numpy()


def test_max_t_is_that_of_the_statistics_room() -> None:
    result = compared(many_criteria(60, 6, seed=4, effect=[0.6, 0.4, 0.2, 0, 0, 0]))
    expected = stats.max_t(deltas_of(result), seed=0)
    table = result.table
    assert (table.correction == "maxt").all()
    assert (table.family == "overall").all()
    np.testing.assert_allclose(
        table.p_adjusted, np.maximum(table.p_value, expected.p_step_down), rtol=1e-12
    )
    assert result.settings["families"]["overall"]["alpha_star"] == expected.alpha_star


def test_joint_intervals_are_the_named_interval_at_a_stricter_level() -> None:
    result = compared(many_criteria(60, 6, seed=4, effect=0.3))
    star = result.settings["families"]["overall"]["alpha_star"]
    assert 0.05 / 6 <= star < 0.05
    for row, d in zip(result.table.itertuples(), deltas_of(result).T, strict=True):
        wide = stats.paired_t(d, level=1 - star)
        assert (row.joint_low, row.joint_high) == pytest.approx((wide.low, wide.high))
        assert row.joint_low < row.ci_low < row.ci_high < row.joint_high


@pytest.mark.parametrize("method", ["holm", "bonferroni"])
def test_holm_and_bonferroni_give_bonferroni_intervals(method: str) -> None:
    result = compared(many_criteria(40, 5, seed=1, effect=0.3), correction=method)
    table = result.table
    np.testing.assert_allclose(table.p_adjusted, stats.adjust(table.p_value, method=method))
    wide = stats.paired_t(deltas_of(result)[:, 0], level=1 - 0.05 / 5)
    assert table.joint_low[0] == pytest.approx(wide.low)


@pytest.mark.parametrize(
    "method",
    [
        "sidak",
        "holm-sidak",
        "simes-hochberg",
        "hommel",
        "fdr_bh",
        "fdr_by",
        "fdr_tsbh",
        "fdr_tsbky",
    ],
)
def test_every_method_of_statsmodels(method: str) -> None:
    from statsmodels.stats.multitest import multipletests

    table = compared(many_criteria(40, 5, seed=1, effect=0.3), correction=method).table
    expected = np.maximum(multipletests(table.p_value, method=method)[1], table.p_value)
    np.testing.assert_allclose(table.p_adjusted, np.minimum(expected, 1), rtol=1e-9, atol=1e-12)
    if method.startswith("fdr") or method in ("simes-hochberg", "hommel"):
        assert table.joint_low.isna().all()


def test_a_family_of_one_is_not_adjusted() -> None:
    row = compared(paired_cells(20, 12, 3, 9)).table.iloc[0]
    assert row.p_adjusted == row.p_value
    assert (row.joint_low, row.joint_high) == (row.ci_low, row.ci_high)
    assert row.correction == "single"


def test_slices_are_a_family_of_their_own() -> None:
    frame = many_criteria(80, 2, seed=2, effect=0.3)
    topic = frame.example_id.str[-1].astype(int).mod(4).map(lambda k: f"t{k}")
    result = compared(frame.assign(topic=topic), by="topic")
    assert len(result.slices) == 8
    assert (result.slices.family == "slices").all()
    assert (result.slices.correction == "fdr_bh").all()
    np.testing.assert_allclose(
        result.slices.p_adjusted, stats.adjust(result.slices.p_value, method="fdr_bh")
    )
    alone = compared(frame)
    pd.testing.assert_frame_equal(
        result.overall.reset_index(drop=True), alone.table.reset_index(drop=True)
    )
    assert result.slices.groupby("criterion").n_pairs.sum().tolist() == [80, 80]


def test_examples_without_the_attribute_make_a_slice_of_their_own() -> None:
    frame = paired_cells(10, 10, 5, 5)
    topic = pd.Series(np.where(frame.example_id < "e0012", "a", None), dtype="str")
    slices = compared(frame.assign(topic=topic), by="topic").slices.set_index("slice")
    assert slices.n_pairs.to_dict() == {"a": 12, "(missing)": 18}


def test_a_lone_effect_among_a_thousand_slices_can_pass() -> None:
    rng = np.random.default_rng(0)
    n_slices, size = 1000, 24
    group = np.repeat(np.arange(n_slices), size)
    old = rng.normal(size=group.size)
    new = old + rng.normal(scale=0.5, size=group.size)
    new[group == 17] = old[group == 17] + 1 + 0.1 * rng.random(size)
    frame = two_systems(old.tolist(), new.tolist(), criterion="rating")
    frame["group"] = [f"g{k:04d}" for k in group] * 2
    slices = compared(frame, by="group").slices.set_index("slice")
    assert slices.p_adjusted["g0017"] < 0.05
    assert slices.verdict["g0017"] == "improved"
    assert (slices.p_adjusted < 0.05).sum() <= 3


def test_advisory_criteria_do_not_dilute_the_blocking_ones() -> None:
    frame = many_criteria(60, 3, seed=5, effect=0.35)
    advisory = frame.assign(blocking=frame.criterion != "c02")
    table = compared(advisory).table.set_index("criterion")
    assert table.family.to_dict() == {
        "c00": "overall",
        "c01": "overall",
        "c02": "overall (advisory)",
    }
    assert table.p_adjusted["c02"] == table.p_value["c02"]
    two = compared(frame[frame.criterion != "c02"]).table.set_index("criterion")
    np.testing.assert_allclose(table.p_adjusted[["c00", "c01"]], two.p_adjusted)


def test_identical_hypotheses_count_once() -> None:
    frame = many_criteria(50, 3, seed=6, effect=0.3)
    twin = frame[frame.criterion == "c01"].assign(scorer="second")
    result = compared(pd.concat([frame, twin]), correction="holm")
    assert result.settings["families"]["overall"]["size"] == 3
    table = result.table.set_index(["criterion", "scorer"])
    assert table.p_adjusted["c01", ""] == table.p_adjusted["c01", "second"]
    alone = compared(frame, correction="holm").table.set_index("criterion")
    assert table.p_adjusted["c01", ""] == alone.p_adjusted["c01"]


def test_the_primary_criterion_is_tested_first_and_alone() -> None:
    frame = many_criteria(60, 4, seed=7, effect=[0.9, 0.9, 0.0, 0.4])
    table = compared(frame, primary="c02").table.set_index("criterion")
    assert table.family["c02"] == "primary"
    assert table.p_adjusted["c02"] == table.p_value["c02"] > 0.05
    assert (table.p_adjusted.drop("c02") >= table.p_value["c02"]).all()
    assert set(table.verdict) == {"inconclusive"}
    strong = compared(frame, primary="c01").table.set_index("criterion")
    assert strong.verdict["c01"] == "improved"
    assert strong.verdict["c00"] == "improved"


def test_few_clusters_fall_back_to_holm() -> None:
    frame = many_criteria(60, 3, seed=8, effect=0.4)
    cluster = "k" + frame.example_id.str[-1].astype(int).mod(5).astype(str)
    with pytest.warns(et.EvalToolkitWarning, match="degrees of freedom"):
        result = compared(frame.assign(cluster=cluster))
    assert (result.table.correction == "holm").all()
    assert (result.table.test == "cr2_t").all()
    assert "Holm instead of max-t" in result.settings["families"]["overall"]["note"]


def test_margins_give_equivalence_only_by_a_test() -> None:
    equal = paired_cells(180, 4, 5, 11)
    with pytest.warns(et.EvalToolkitWarning):
        without = compared(equal).table.iloc[0]
    assert without.verdict == "inconclusive"
    assert pd.isna(without.within_margin)
    with pytest.warns(et.EvalToolkitWarning):
        row = compared(equal, margin=0.05).table.iloc[0]
    assert row.verdict == "equivalent"
    assert row.within_margin
    expected = stats.tango_equivalence(4, 5, 200, margin=0.05).p_value
    assert row.p_equivalence == pytest.approx(expected)
    assert (row.margin_low, row.margin_high) == pytest.approx(
        stats.tango(4, 5, 200, level=0.9), abs=1e-9
    )
    assert -0.05 < row.margin_low < row.margin_high < 0.05


def test_noninferiority_follows_the_direction() -> None:
    rng = np.random.default_rng(9)
    old = rng.normal(10, 1, size=80)
    new = old + rng.normal(-0.3, 1.2, size=80)
    slower = two_systems(new.tolist(), old.tolist(), criterion="latency_s")
    faster = two_systems(old.tolist(), new.tolist(), criterion="latency_s")
    row = compared(faster, margin={"latency_s": 0.2}).table.iloc[0]
    assert not row.higher_is_better
    assert row.verdict == "noninferior"
    assert compared(slower, margin={"latency_s": 0.2}).table.iloc[0].verdict == "inconclusive"


@pytest.mark.parametrize("margin", [0, -0.1, float("nan"), float("inf")])
def test_a_margin_must_be_positive(margin: float) -> None:
    with pytest.raises(et.PairingError, match="it must be a positive number"):
        compared(paired_cells(5, 5, 5, 5), margin=margin)


def test_above_twenty_thousand_pairs_the_normal_limit_takes_over() -> None:
    frame = many_criteria(20_050, 2, seed=10, effect=[0.03, 0.0])
    table = compared(frame).table.set_index("criterion")
    assert (table.correction == "maxt_normal").all()
    assert table.verdict.to_dict() == {"c00": "improved", "c01": "inconclusive"}
