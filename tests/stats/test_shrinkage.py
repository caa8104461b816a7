"""Spread of effects and shrunken effects: other implementations, definitions, limits, laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate
from scipy import stats as scipy_stats

from evaltoolkit import stats
from evaltoolkit.errors import EvalToolkitError

# Rubin (1981): the effects of coaching in eight schools.
SCHOOLS = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
SCHOOL_SE = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])


@pytest.mark.parametrize("seed", range(5))
def test_spread_agrees_with_statsmodels(seed: int) -> None:
    from statsmodels.stats.meta_analysis import combine_effects

    rng = np.random.default_rng(seed)
    effects, variances = rng.normal(0, 1.5, size=6), rng.uniform(0.2, 1.5, size=6)
    expected = combine_effects(effects, variances, method_re="iterated")
    found = stats.effect_spread(effects, variances)
    assert found.q == pytest.approx(expected.q)
    assert found.i2 == pytest.approx(max(expected.i2, 0.0))
    assert found.tau2 == pytest.approx(max(expected.tau2, 0.0), rel=1e-5, abs=1e-6)


def test_ends_of_the_interval_are_where_q_meets_its_quantiles() -> None:
    effects, variances = np.array([0.0, 0.4, 1.1, 2.0]), np.array([0.1, 0.05, 0.2, 0.1])
    found = stats.effect_spread(effects, variances)
    for tau2, target in ((found.tau2, 3.0), (found.low, scipy_stats.chi2.ppf(0.975, 3)),
                         (found.high, scipy_stats.chi2.ppf(0.025, 3))):  # fmt: skip
        w = 1 / (variances + tau2)
        centre = w @ effects / w.sum()
        assert w @ (effects - centre) ** 2 == pytest.approx(target, rel=1e-6)
    assert found.low < found.tau2 < found.high


def test_effects_more_alike_than_chance_have_no_interval_of_zero_width() -> None:
    found = stats.effect_spread([1.0, 1.0, 1.0, 1.0], [4.0, 4.0, 4.0, 4.0])
    assert (found.q, found.i2, found.tau2) == (0.0, 0.0, 0.0)
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_shrunken_schools_agree_with_numerical_integration() -> None:
    found = stats.shrink_effects(SCHOOLS, SCHOOL_SE**2)
    scale = math.sqrt(8 / np.sum(SCHOOL_SE**-2.0))

    def integrand(tau: float, school: int | None) -> float:
        w = 1 / (SCHOOL_SE**2 + tau**2)
        centre = float(w @ SCHOOLS / w.sum())
        density = scale / (scale + tau) ** 2 * math.sqrt(np.prod(w) / w.sum())
        density *= math.exp(-0.5 * float(w @ (SCHOOLS - centre) ** 2)) * 1e8
        if school is None:
            return density
        own = tau**2 * w[school]
        return density * (own * SCHOOLS[school] + (1 - own) * centre)

    total = integrate.quad(integrand, 0, np.inf, args=(None,), limit=200)[0]
    for school in range(8):
        mean = integrate.quad(integrand, 0, np.inf, args=(school,), limit=200)[0] / total
        assert found.mean[school] == pytest.approx(mean, abs=0.02)
    assert (found.low < found.mean).all()
    assert (found.mean < found.high).all()


def test_far_apart_effects_are_left_alone_and_equal_ones_pooled() -> None:
    apart = stats.shrink_effects([0.0, 100.0, 200.0, 300.0], [1.0] * 4)
    np.testing.assert_allclose(apart.mean, [0, 100, 200, 300], atol=0.1)
    assert (apart.own_weight > 0.99).all()
    np.testing.assert_allclose(apart.high - apart.low, 2 * 1.96, rtol=0.01)
    alike = stats.shrink_effects([1.0] * 30, [1.0] * 30)
    assert (alike.own_weight < 0.2).all()
    assert (alike.high - alike.low < 2.0).all()
    assert alike.centre == pytest.approx(1.0)


def test_the_less_sure_effect_moves_more() -> None:
    found = stats.shrink_effects([0.0, 0.0, 3.0, 3.0], [0.01, 1.0, 0.01, 1.0])
    assert found.mean[1] > found.mean[0]
    assert found.mean[3] < found.mean[2]
    assert found.own_weight[0] > found.own_weight[1]


def test_correlated_effects_use_their_covariance() -> None:
    effects = [0.0, 1.0, 2.0]
    shared = np.full((3, 3), 0.9) + np.diag([0.1] * 3)
    # What all three share cannot make them differ: the spread is that of errors of 0.1.
    assert stats.effect_spread(effects, shared).tau2 == pytest.approx(
        stats.effect_spread(effects, [0.1] * 3).tau2
    )
    assert stats.shrink_effects(effects, shared).own_weight.min() > 0.5
    diagonal = stats.shrink_effects(effects, np.diag([0.1, 0.2, 0.3]))
    plain = stats.shrink_effects(effects, [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(diagonal.mean, plain.mean)


@given(
    st.lists(st.floats(-3, 3), min_size=2, max_size=6),
    st.floats(-5, 5),
    st.sampled_from([-2.0, 0.5, 1e4]),
)
@settings(max_examples=10, deadline=None)
def test_shift_and_scale_carry_over(values: list[float], shift: float, scale: float) -> None:
    variances = np.linspace(0.5, 1.5, len(values))
    found = stats.shrink_effects(values, variances)
    moved = stats.shrink_effects(scale * (np.array(values) + shift), scale**2 * variances)
    size = abs(scale) * 10
    np.testing.assert_allclose(moved.mean, scale * (found.mean + shift), atol=1e-7 * size)
    low, high = (found.low, found.high) if scale > 0 else (found.high, found.low)
    np.testing.assert_allclose(moved.low, scale * (low + shift), atol=1e-7 * size)
    np.testing.assert_allclose(moved.high, scale * (high + shift), atol=1e-7 * size)


def test_bad_input_has_named_errors() -> None:
    one = stats.effect_spread([1.0], [1.0])
    assert one.df == 0
    assert math.isnan(one.tau2)
    with pytest.raises(EvalToolkitError, match="two are needed"):
        stats.shrink_effects([1.0], [1.0])
    with pytest.raises(EvalToolkitError, match="must be positive"):
        stats.effect_spread([1.0, 2.0], [0.0, 1.0])
    with pytest.raises(EvalToolkitError, match=r"shape \(3,\) for 2 effects"):
        stats.effect_spread([1.0, 2.0], [1.0, 1.0, 1.0])
    with pytest.raises(EvalToolkitError, match="not finite|finite"):
        stats.shrink_effects([1.0, math.nan], [1.0, 1.0])
    with pytest.raises(EvalToolkitError, match="between 0 and 1"):
        stats.shrink_effects([1.0, 2.0], [1.0, 1.0], level=95)
