"""Joint tests by the multivariate t distribution, and the joint level of min-p."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from evaltoolkit import stats
from evaltoolkit.errors import EvalToolkitError


def correlated(n: int, m: int, *, rho: float, seed: int, effect: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    common, own = rng.normal(size=(n, 1)), rng.normal(size=(n, m))
    return math.sqrt(rho) * common + math.sqrt(1 - rho) * own + effect


def t_p_values(d: np.ndarray) -> np.ndarray:
    return np.array([stats.paired_t(x[~np.isnan(x)]).p_value for x in d.T])


def test_p_values_are_those_of_scipys_multivariate_t() -> None:
    d = correlated(25, 3, rho=0.6, seed=1, effect=0.3)
    p = t_p_values(d)
    joint = stats.joint_t(d, p)
    reference = scipy_stats.multivariate_t(shape=np.corrcoef(d.T), df=24, seed=0)
    for adjusted, one in zip(joint.p_adjusted, p, strict=True):
        bound = scipy_stats.t.isf(one / 2, 24)
        inside = reference.cdf([bound] * 3, lower_limit=[-bound] * 3)
        assert adjusted == pytest.approx(1 - inside, abs=0.003)
    assert joint.df == 24


def test_equal_correlations_give_the_integrated_critical_value() -> None:
    rng = np.random.default_rng(2)
    table = rng.normal(size=(30, 4))
    table -= table.mean(axis=0)
    # Make the sample correlations exactly one half.
    whitened = np.linalg.solve(np.linalg.cholesky(np.cov(table.T)), table.T).T
    d = whitened @ np.linalg.cholesky(np.full((4, 4), 0.5) + 0.5 * np.eye(4)).T
    joint = stats.joint_t(d, [0.5] * 4)
    expected = stats.simultaneous_critical_value(np.corrcoef(d.T), df=29)
    assert joint.critical == pytest.approx(expected, abs=0.02)
    assert joint.alpha_star == pytest.approx(2 * scipy_stats.t.sf(expected, 29), rel=0.04)


def test_dunnetts_own_table() -> None:
    """Dunnett, New tables (1964): 3 two-sided comparisons, 20 degrees of freedom: 2.54."""
    corr = np.full((3, 3), 0.5) + 0.5 * np.eye(3)
    assert stats.simultaneous_critical_value(corr, df=20) == pytest.approx(2.54, abs=0.005)


def test_adjusted_p_values_stay_between_their_own_and_bonferronis() -> None:
    d = correlated(40, 6, rho=0.4, seed=3, effect=0.2)
    p = np.array([1e-12, 0.001, 0.01, 0.05, 0.4, 1.0])
    adjusted = stats.joint_t(d, p).p_adjusted
    assert (adjusted >= p).all()
    assert (adjusted <= np.minimum(6 * p, 1)).all()
    assert (np.diff(adjusted) >= 0).all()


def test_the_joint_level_and_the_p_values_agree() -> None:
    d = correlated(30, 5, rho=0.5, seed=4)
    star = stats.joint_t(d, [0.5] * 5).alpha_star
    p = [star * 0.98, star * 1.02, 0.5, 0.5, 0.5]
    adjusted = stats.joint_t(d, p).p_adjusted
    assert adjusted[0] <= 0.05 < adjusted[1]


def test_copies_cost_nothing_and_ties_stay_out() -> None:
    one = correlated(50, 1, rho=0, seed=5, effect=0.3)
    copies = stats.joint_t(np.repeat(one, 5, axis=1), [0.03] * 5)
    assert copies.p_adjusted == pytest.approx([0.03] * 5, abs=0.002)
    with_ties = np.column_stack([one, np.zeros(50)])
    assert stats.joint_t(with_ties, [0.03, 1.0]).p_adjusted == pytest.approx([0.03, 1.0])


def test_corners_of_joint_t() -> None:
    nothing = stats.joint_t(np.zeros((5, 2)), [1.0, 1.0])
    assert nothing.p_adjusted.tolist() == [1.0, 1.0]
    assert math.isnan(nothing.df)
    assert nothing.alpha_star == 0.05
    d = correlated(10, 3, rho=0, seed=6)
    untested = stats.joint_t(d, [0.01, math.nan, 0.5])
    assert math.isnan(untested.p_adjusted[1])
    assert untested.p_adjusted[0] == pytest.approx(0.02, abs=0.002)
    unanimous = np.column_stack([np.ones(10), d[:, 0]])
    assert stats.joint_t(unanimous, [0.001, 0.5]).p_adjusted[0] == pytest.approx(0.002, abs=5e-4)
    lone = d.copy()
    lone[1:, 2] = math.nan
    assert stats.joint_t(lone, [0.2, 0.3, 0.5]).p_adjusted[2] == 1.0
    with pytest.raises(EvalToolkitError, match="give one of each"):
        stats.joint_t(d, [0.1])


def test_whole_clusters_carry_the_correlation() -> None:
    rng = np.random.default_rng(7)
    ids = np.repeat(np.arange(20), 5)
    shared = rng.normal(size=(20, 1))[ids]
    d = shared + 0.3 * rng.normal(size=(100, 4))
    alone, grouped = stats.joint_t(d, [0.02] * 4), stats.joint_t(d, [0.02] * 4, clusters=ids)
    assert grouped.df == pytest.approx(19)
    assert grouped.p_adjusted[0] < alone.p_adjusted[0]
    single = stats.joint_t(d, [0.02] * 4, clusters=np.arange(100))
    np.testing.assert_allclose(single.p_adjusted, alone.p_adjusted)
    assert single.alpha_star == pytest.approx(alone.alpha_star)


def test_the_joint_level_of_min_p_is_kept_by_its_flips() -> None:
    d = correlated(40, 6, rho=0.5, seed=8)
    low, high = stats.min_p(d, seed=0), stats.max_t(d, seed=0)
    assert low.alpha_star == pytest.approx(high.alpha_star, rel=0.15)
    assert 0.05 / 6 <= low.alpha_star <= 0.05


def test_min_p_knows_gaps_ties_and_clusters_as_max_t_does() -> None:
    d = correlated(60, 4, rho=0.5, seed=9, effect=0.35)
    d[40:, 1] = math.nan
    ids = np.repeat(np.arange(20), 3)
    low, high = stats.min_p(d, clusters=ids, seed=3), stats.max_t(d, clusters=ids, seed=3)
    np.testing.assert_allclose(low.p_raw, high.p_raw)
    np.testing.assert_allclose(low.p_step_down, high.p_step_down, atol=0.02)
    ties = np.column_stack([d, np.zeros(60)])
    with_ties = stats.min_p(ties, clusters=ids, seed=3)
    np.testing.assert_allclose(with_ties.p_step_down[:4], low.p_step_down)
    assert with_ties.p_step_down[4] == 1.0
    one_each = stats.min_p(d, clusters=np.arange(60), seed=3)
    np.testing.assert_allclose(one_each.p_step_down, stats.min_p(d, seed=3).p_step_down)


def test_few_patterns_leave_min_p_with_bonferronis_level() -> None:
    # Sixteen patterns: no p-value can fall below .0625, so no flip tells where alpha lies.
    d = correlated(5, 3, rho=0.0, seed=10)
    assert stats.min_p(d).alpha_star == pytest.approx(0.05 / 3)
    assert stats.min_p(np.zeros((5, 3))).alpha_star == 0.05
