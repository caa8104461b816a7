"""Awkward but ordinary data: no interval of zero width, no p-value out of nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from evaltoolkit import stats
from evaltoolkit.errors import EvalToolkitError

# wins, losses, n, exact p, mid-p, Bonett-Price, Tango (shared definitions, to the digits shown)
BINARY_TABLE = [
    pytest.param(0, 0, 20, 1.0, 1.0, (-0.126, 0.126), (-0.161, 0.161), id="all ties"),
    pytest.param(10, 0, 10, 0.00195, 0.00098, (0.52, 1.0), (0.445, 1.0), id="all one way"),
    pytest.param(1, 7, 21, 0.0703, 0.0391, (-0.508, -0.013), (-0.517, -0.026), id="1 and 7 of 21"),
    pytest.param(0, 2, 20, 0.5, 0.25, (-0.265, 0.083), (-0.301, 0.077), id="two losses"),
    pytest.param(1, 0, 1, 1.0, 0.5, (-0.734, 1.0), (-0.587, 1.0), id="one pair"),
]


@pytest.mark.parametrize(
    ("wins", "losses", "n", "exact", "mid", "bonett_price", "tango"), BINARY_TABLE
)
def test_paired_pass_fail(
    wins: int,
    losses: int,
    n: int,
    exact: float,
    mid: float,
    bonett_price: tuple[float, float],
    tango: tuple[float, float],
) -> None:
    assert stats.mcnemar_exact(wins, losses) == pytest.approx(exact, abs=5e-5)
    assert stats.mcnemar_midp(wins, losses) == pytest.approx(mid, abs=5e-5)
    assert stats.bonett_price(wins, losses, n) == pytest.approx(bonett_price, abs=6e-4)
    assert stats.tango(wins, losses, n) == pytest.approx(tango, abs=6e-4)
    d = [1.0] * wins + [-1.0] * losses + [0.0] * (n - wins - losses)
    assert stats.sign_flip(d).p_value == pytest.approx(mid, abs=5e-5)
    assert stats.sign_flip(d, mid_p=False).p_value == pytest.approx(exact, abs=5e-5)


@pytest.mark.parametrize("value", [0.0, 0.1, -3.0])
def test_constant_differences_have_no_t_interval(value: float) -> None:
    estimate = stats.paired_t([value] * 12)
    assert estimate.mean == pytest.approx(value)
    assert estimate.se == 0
    assert math.isnan(estimate.low)
    assert math.isnan(estimate.high)
    assert math.isnan(estimate.p_value)
    assert math.isnan(stats.mde(estimate.se, estimate.df))
    assert math.isnan(stats.tost_paired([value] * 12, low=-1, high=1).p_value)
    assert math.isnan(stats.d_z([value] * 12))


def test_a_unanimous_change_is_as_significant_as_n_allows() -> None:
    assert stats.sign_flip([0.1] * 12).p_value == 2.0**-12
    assert stats.sign_flip([0.1] * 12, mid_p=False).p_value == 2.0**-11
    assert stats.sign_flip([1.0] * 100).p_value == pytest.approx(2.0**-100, rel=1e-12)
    assert 0 < stats.sign_flip([1.0] * 5000).p_value < 1e-300
    joint = stats.max_t(np.full((10, 1), 0.3))
    assert joint.observed[0] == math.inf
    assert joint.p_step_down[0] == 2.0**-9


def test_one_pair_and_none() -> None:
    one = stats.paired_t([0.5])
    assert (one.mean, one.n) == (0.5, 1)
    assert math.isnan(one.low)
    assert math.isnan(one.p_value)
    assert stats.sign_flip([0.5]).p_value == 0.5
    empty = stats.paired_t([])
    assert math.isnan(empty.mean)
    assert empty.n == 0
    assert math.isnan(stats.sign_flip([]).p_value)
    assert stats.sign_flip([]).method == "none"
    assert math.isnan(stats.wilcoxon([]).p_value)
    assert math.isnan(stats.hodges_lehmann([]).estimate)
    assert math.isnan(stats.bonett_price(0, 0, 0).low)
    assert math.isnan(stats.tango(0, 0, 0).low)
    assert math.isnan(stats.newcombe(0, 0, 0, 0).low)
    assert math.isnan(stats.tango_test(0, 0, 0, margin=0.1).p_value)
    assert math.isnan(stats.cluster_mean([], []).mean)
    assert stats.adjust([]).size == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda d: stats.paired_t(d),
        lambda d: stats.paired_z(d),
        lambda d: stats.sign_flip(d),
        lambda d: stats.snap_ties(d, [0.0, 0.0, 0.0]),
        lambda d: stats.snap_ties([0.0, 0.0, 0.0], d),
        lambda d: stats.cluster_mean(d, "aab"),
        lambda d: stats.cluster_flip(d, "aab"),
        lambda d: stats.wilcoxon(d),
        lambda d: stats.hodges_lehmann(d),
        lambda d: stats.d_z(d),
    ],
)
@pytest.mark.parametrize("hole", [math.nan, math.inf])
def test_a_hole_in_the_data_is_refused_with_its_place(call: Any, hole: float) -> None:
    with pytest.raises(EvalToolkitError, match="position") as caught:
        call([1.0, hole, 0.0])
    assert caught.value.code == "not_finite"
    assert "[1]" in (caught.value.path or "")


def test_clusters_that_cannot_carry_a_test() -> None:
    d = [1.0, 0.0, 2.0, 1.0]
    single = stats.cluster_mean(d, ["a"] * 4)
    assert single.mean == 1.0
    assert single.n_units == 1
    assert math.isnan(single.se)
    assert math.isnan(single.p_value)
    assert math.isnan(stats.satterthwaite_df([4]))
    assert stats.cluster_flip(d, ["a"] * 4).method == "none"
    balanced = stats.cluster_mean([1, -1, 1, -1], ["a", "a", "b", "b"])
    assert (balanced.mean, balanced.se) == (0.0, 0.0)
    assert math.isnan(balanced.low)
    assert stats.cluster_flip([1, -1, 1, -1], ["a", "a", "b", "b"]).p_value == 1
    noise = [0.1, 0.2, -0.3, 0.1, 0.2, -0.3]
    assert stats.cluster_flip(noise, "aaabbb").method == "all_ties"
    assert stats.cluster_mean(noise, "aaabbb").se == 0
    agreed = stats.cluster_flip([1.0] * 6, "aabbcc")
    assert agreed.p_value == 2.0**-3


@pytest.mark.parametrize("missing", [None, math.nan])
def test_a_missing_cluster_id_is_refused(missing: Any) -> None:
    with pytest.raises(EvalToolkitError, match="missing") as caught:
        stats.cluster_mean([1, 2, 3], ["a", missing, "b"])
    assert caught.value.code == "missing_cluster"


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: stats.paired_t([1, 2], level=95), "bad_fraction"),
        (lambda: stats.paired_t([[1, 2]]), "bad_shape"),
        (lambda: stats.snap_ties([1, 2], [1]), "bad_shape"),
        (lambda: stats.cluster_mean([1, 2], ["a"]), "bad_shape"),
        (lambda: stats.cluster_mean([1, 2], ["a", "b"], kind="CR9"), "unknown_option"),
        (lambda: stats.paired_counts([0, 2], [1, 1]), "not_binary"),
        (lambda: stats.mcnemar_exact(-1, 2), "bad_count"),
        (lambda: stats.mcnemar_exact(1.5, 2), "bad_count"),  # type: ignore[arg-type]
        (lambda: stats.tango(5, 5, 8), "bad_count"),
        (lambda: stats.bonett_price(5, 5, 8), "bad_count"),
        (lambda: stats.wilson(3, 2), "bad_count"),
        (lambda: stats.tango_test(1, 2, 8, margin=0), "bad_fraction"),
        (lambda: stats.tost(0, 1, 9, low=1, high=-1), "bad_margin"),
        (lambda: stats.noninferiority(0, 1, 9, margin=-1), "bad_margin"),
        (lambda: stats.adjust([0.1, 0.2], method="holmes"), "unknown_correction"),
        (lambda: stats.adjust([0.1, 1.2]), "bad_p_value"),
        (lambda: stats.max_t([1, 2]), "bad_shape"),
        (lambda: stats.max_t([[math.inf, 2]]), "not_finite"),
        (lambda: stats.simultaneous_critical_value([[1, 2], [2, 1]]), "bad_correlation"),
    ],
)
def test_mistakes_are_named(call: Any, code: str) -> None:
    with pytest.raises(EvalToolkitError) as caught:
        call()
    assert caught.value.code == code


def test_a_wrong_correction_names_the_nearest() -> None:
    with pytest.raises(EvalToolkitError, match="holm"):
        stats.adjust([0.1, 0.2], method="holmes")
    with pytest.raises(EvalToolkitError, match=r"did you mean 0\.95"):
        stats.paired_t([1, 2], level=95)
