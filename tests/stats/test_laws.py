"""Laws that hold for all data: symmetry, order, special cases that must coincide."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evaltoolkit import stats

laws = settings(max_examples=60, deadline=None, derandomize=True)

binary = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=60)
ratings = st.lists(st.integers(-4, 4).map(float), min_size=2, max_size=40)
trial_means = st.lists(st.integers(-6, 6).map(lambda k: k / 6), min_size=2, max_size=30)
continuous = st.lists(
    st.floats(-5, 5).filter(lambda x: x == 0 or abs(x) > 1e-3), min_size=2, max_size=12
)
differences = st.one_of(ratings, trial_means, continuous)
tables = hnp.arrays(
    np.float64, st.tuples(st.integers(3, 8), st.integers(1, 4)), elements=st.integers(-2, 2)
)


def same(first: float, second: float) -> bool:
    return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-12) or (
        math.isnan(first) and math.isnan(second)
    )


@laws
@given(differences)
def test_swapping_the_systems_negates_the_mean_and_keeps_the_p_values(d: list[float]) -> None:
    forward, backward = stats.paired_t(d), stats.paired_t(np.negative(d))
    assert same(forward.mean, -backward.mean)
    assert same(forward.low, -backward.high)
    assert same(forward.high, -backward.low)
    assert same(forward.p_value, backward.p_value)
    for mid_p in (True, False):
        there = stats.sign_flip(d, mid_p=mid_p).p_value
        assert there == stats.sign_flip(np.negative(d), mid_p=mid_p).p_value
    for zeros in ("pratt", "wilcox"):
        there, back = (stats.wilcoxon(s * np.array(d), zeros=zeros).p_value for s in (1, -1))
        assert same(there, back)
    assert same(stats.hodges_lehmann(d).estimate, -stats.hodges_lehmann(np.negative(d)).estimate)
    assert same(stats.rank_biserial(d), -stats.rank_biserial(np.negative(d)))


@laws
@given(binary)
def test_swapping_the_systems_mirrors_every_binary_interval(pairs: list[tuple[int, int]]) -> None:
    both, wins, losses, neither = stats.paired_counts(*zip(*pairs, strict=True))
    n = len(pairs)
    for interval in (stats.bonett_price, stats.tango, stats.agresti_min, stats.wald_paired):
        there, back = interval(wins, losses, n), interval(losses, wins, n)
        assert there.low == pytest.approx(-back.high, abs=1e-9)
        assert there.high == pytest.approx(-back.low, abs=1e-9)
    there = stats.newcombe(both, wins, losses, neither)
    back = stats.newcombe(both, losses, wins, neither)
    assert there.low == pytest.approx(-back.high, abs=1e-9)


@laws
@given(binary)
def test_mcnemar_is_the_sign_flip_test_on_0_1_scores(pairs: list[tuple[int, int]]) -> None:
    baseline, candidate = zip(*pairs, strict=True)
    counts = stats.paired_counts(baseline, candidate)
    d = stats.snap_ties(baseline, candidate)
    mid, plain = stats.sign_flip(d), stats.sign_flip(d, mid_p=False)
    assert same(mid.p_value, stats.mcnemar_midp(counts.wins, counts.losses))
    assert same(plain.p_value, stats.mcnemar_exact(counts.wins, counts.losses))


@laws
@given(differences, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_nothing_in_exact_methods(
    d: list[float], random: Random
) -> None:
    shuffled = random.sample(d, len(d))
    assert same(stats.paired_t(d).p_value, stats.paired_t(shuffled).p_value)
    assert stats.sign_flip(d)[1:4] == pytest.approx(stats.sign_flip(shuffled)[1:4])
    assert stats.wilcoxon(d) == pytest.approx(stats.wilcoxon(shuffled))


@laws
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=11))
def test_convolution_counts_what_enumeration_counts(d: list[int]) -> None:
    moved = [x for x in d if x]
    sums = [abs(sum(pattern)) for pattern in product(*((x, -x) for x in moved))]
    observed = abs(sum(d))
    test = stats.sign_flip(d)
    if moved:
        assert test.total == len(sums)
        assert test.greater == sum(s > observed for s in sums)
        assert test.equal == sum(s == observed for s in sums)


@laws
@given(differences)
def test_clusters_of_one_item_are_no_clusters(d: list[float]) -> None:
    ids = [f"item {i}" for i in range(len(d))]
    assert stats.cluster_mean(d, ids) == pytest.approx(stats.paired_t(d), nan_ok=True)
    assert stats.cluster_mean(d, ids, kind="CR1") == pytest.approx(stats.paired_t(d), nan_ok=True)
    if len(d) <= 10:
        flips = stats.cluster_flip(d, ids)
        assert same(flips.p_value, stats.sign_flip(d).p_value)


@laws
@given(tables)
def test_max_t_with_clusters_of_one_item_is_max_t_without(table: np.ndarray) -> None:
    plain, clustered = stats.max_t(table), stats.max_t(table, clusters=range(len(table)))
    for first, second in zip(plain[:4], clustered[:4], strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-9)
    assert same(plain.critical, clustered.critical)


@laws
@given(tables)
def test_max_t_is_coherent(table: np.ndarray) -> None:
    joint = stats.max_t(table)
    assert np.all(joint.p_raw <= joint.p_step_down + 1e-12)
    assert np.all(joint.p_step_down <= joint.p_single_step + 1e-12)
    assert np.all((joint.p_step_down > 0) & (joint.p_step_down <= 1))
    assert 0.05 / table.shape[1] - 1e-12 <= joint.alpha_star <= 0.05
    strongest_first = np.argsort(-np.abs(joint.observed), kind="stable")
    assert np.all(np.diff(joint.p_step_down[strongest_first]) >= 0)
    mirrored = stats.max_t(-table)
    np.testing.assert_allclose(joint.p_step_down, mirrored.p_step_down)
    np.testing.assert_allclose(joint.observed, -mirrored.observed)


@laws
@given(tables)
def test_one_criterion_needs_no_adjustment(table: np.ndarray) -> None:
    joint = stats.max_t(table[:, :1])
    alone = stats.sign_flip(table[:, 0], mid_p=False)
    assert joint.p_step_down[0] == pytest.approx(alone.p_value)
    assert joint.alpha_star == pytest.approx(0.05)


@laws
@given(tables)
def test_a_criterion_without_any_difference_changes_no_other(table: np.ndarray) -> None:
    joint = stats.max_t(table)
    wider = stats.max_t(np.column_stack([table, np.zeros(len(table))]))
    np.testing.assert_array_equal(wider.p_step_down[:-1], joint.p_step_down)
    np.testing.assert_array_equal(wider.p_single_step[:-1], joint.p_single_step)
    assert wider.p_step_down[-1] == 1
    assert wider.critical == joint.critical


@laws
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.sampled_from(sorted(stats.METHODS)))
def test_corrections_are_monotone_and_never_leave_0_to_1(p: list[float], method: str) -> None:
    adjusted = stats.adjust(p, method=method)
    assert np.all((adjusted >= 0) & (adjusted <= 1))
    order = np.argsort(p, kind="stable")
    assert np.all(np.diff(adjusted[order]) >= -1e-12)
    with_gap = stats.adjust([*p, math.nan], method=method)
    np.testing.assert_array_equal(with_gap[:-1], adjusted)
    assert math.isnan(with_gap[-1])


@laws
@given(st.integers(0, 40), st.integers(0, 40))
def test_intervals_of_a_proportion_mirror_each_other(x: int, extra: int) -> None:
    n = x + extra
    intervals: tuple[Callable[..., stats.Interval], ...] = (
        stats.wilson,
        stats.clopper_pearson,
        stats.jeffreys,
    )
    for interval in intervals:
        passes, fails = interval(x, n), interval(n - x, n)
        if n == 0:
            assert math.isnan(passes.low)
            continue
        assert passes.low == pytest.approx(1 - fails.high, abs=1e-12)
        assert 0 <= passes.low <= x / n + 1e-12 or interval is stats.jeffreys
        assert passes.low < passes.high


@laws
@given(differences)
def test_the_interval_and_the_t_test_agree(d: list[float]) -> None:
    t = stats.paired_t(d)
    if not math.isnan(t.p_value) and abs(t.p_value - 0.05) > 1e-9:
        assert (t.p_value < 0.05) == (not t.low <= 0 <= t.high)


@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_a_system_compared_with_its_copy_has_p_1(n: int) -> None:
    scores = np.random.default_rng(n).random(n)
    d = stats.snap_ties(scores, scores + 1e-17)
    assert stats.sign_flip(d).p_value == 1
    assert stats.wilcoxon(d).p_value == 1
    assert stats.sign_test(d).p_value == stats.sign_test(d).p_mid == 1
    joint = stats.max_t(np.column_stack([d, d]))
    assert joint.method == "none"
    assert np.isnan(joint.p_step_down).all() if n == 1 else (joint.p_step_down == 1).all()
