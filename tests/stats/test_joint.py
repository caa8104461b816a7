"""Max-t, min-p and the corrections: what they are made of and what they promise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evaltoolkit import stats
from evaltoolkit.stats.tails import normal_quantile, normal_scores


def correlated(n: int, m: int, *, rho: float, seed: int, effect: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, 1))
    own = rng.normal(size=(n, m))
    return math.sqrt(rho) * common + math.sqrt(1 - rho) * own + effect


def test_missing_pairs_use_their_own_degrees_of_freedom() -> None:
    d = correlated(9, 3, rho=0.5, seed=1, effect=0.6)
    d[5:, 1] = math.nan
    joint = stats.max_t(d)
    assert joint.exact
    patterns = 1 - 2 * ((np.arange(512)[:, None] >> np.arange(9)) & 1)
    scores = []
    for column in d.T:
        t = [stats.paired_t(x[~np.isnan(x)]).statistic for x in patterns * column]
        scores.append(normal_scores(t, np.count_nonzero(~np.isnan(column)) - 1))
    table = np.array(scores).T
    observed = table[0]
    np.testing.assert_allclose(
        joint.p_raw, np.mean(table >= observed * (1 - 1e-9), axis=0), rtol=1e-12
    )
    np.testing.assert_allclose(
        joint.p_single_step,
        [np.mean(table.max(axis=1) >= z * (1 - 1e-9)) for z in observed],
        rtol=1e-12,
    )


def test_a_criterion_with_few_pairs_does_not_rule_the_maximum() -> None:
    d = correlated(200, 2, rho=0.0, seed=2)
    d[4:, 1] = math.nan
    joint = stats.max_t(d, draws=4000)
    # Four pairs have |t| > 3.18 in 5 % of flips, yet in normal scores they weigh like 1.96.
    assert joint.critical < 2.6
    assert joint.p_raw[0] == pytest.approx(stats.sign_flip(d[:, 0]).p_value, abs=0.03)


def test_the_joint_level_matches_the_correlation() -> None:
    independent = stats.max_t(correlated(150, 10, rho=0.0, seed=3))
    alike = stats.max_t(correlated(150, 10, rho=0.95, seed=3))
    assert independent.alpha_star == pytest.approx(1 - 0.95**0.1, rel=0.15)
    assert 3 * independent.alpha_star < alike.alpha_star < 0.05
    copies = stats.max_t(np.repeat(correlated(150, 1, rho=0, seed=4), 6, axis=1), draws=40_000)
    assert copies.alpha_star == pytest.approx(0.05, rel=0.05)
    assert copies.p_step_down == pytest.approx(copies.p_raw)


def test_flips_normal_draws_and_integration_give_one_critical_value() -> None:
    d = correlated(2000, 5, rho=0.5, seed=5)
    flipped, drawn = stats.max_t(d, draws=40_000), stats.max_normal(d)
    corr = np.full((5, 5), 0.5) + 0.5 * np.eye(5)
    integrated = stats.simultaneous_critical_value(corr)
    assert flipped.critical == pytest.approx(integrated, abs=0.04)
    assert drawn.critical == pytest.approx(integrated, abs=0.04)
    np.testing.assert_allclose(flipped.p_step_down, drawn.p_step_down, atol=0.02)
    corr[0, 1] = corr[1, 0] = 0.5 + 1e-6
    assert stats.simultaneous_critical_value(corr) == pytest.approx(integrated, abs=0.02)
    assert stats.simultaneous_critical_value([[1.0]]) == pytest.approx(normal_quantile(0.975))


def test_normal_draws_know_clusters_and_missing_pairs() -> None:
    d = correlated(3000, 3, rho=0.8, seed=6, effect=0.02)
    d[::7, 1] = math.nan
    ids = np.arange(3000) // 3
    flipped = stats.max_t(d, clusters=ids)
    drawn = stats.max_normal(d, clusters=ids)
    np.testing.assert_allclose(flipped.observed, drawn.observed)
    np.testing.assert_allclose(flipped.p_step_down, drawn.p_step_down, atol=0.02)
    assert flipped.critical == pytest.approx(drawn.critical, abs=0.05)


def test_clustered_statistics_are_those_of_the_cluster_means() -> None:
    d = correlated(40, 3, rho=0.3, seed=7, effect=0.4)
    d[3:9, 2] = math.nan
    ids = [f"c{i % 11}" for i in range(40)]
    joint = stats.max_t(d, clusters=ids)
    for j, column in enumerate(d.T):
        kept = ~np.isnan(column)
        alone = stats.cluster_mean(column[kept], [c for c, k in zip(ids, kept, strict=True) if k])
        assert joint.observed[j] == pytest.approx(alone.statistic)
    assert joint.exact
    assert joint.draws_used == 2**10


def test_special_criteria() -> None:
    d = np.zeros((12, 5))
    d[:, 1] = 0.2
    d[:, 2] = math.nan
    d[0, 3] = 1.0
    d[1:, 3] = math.nan
    d[:, 4] = correlated(12, 1, rho=0, seed=8)[:, 0]
    joint = stats.max_t(d)
    assert joint.p_step_down[0] == 1
    assert joint.observed[1] == math.inf
    assert joint.p_step_down[1] == 2.0**-11
    assert np.isnan(joint.p_step_down[2:4]).all()
    assert np.isnan(joint.observed[2:4]).all()
    assert stats.min_p(d).p_raw[1] == 2.0**-11
    assert np.isnan(stats.min_p(d).p_step_down[2:4]).all()
    assert joint.alpha_star >= 0.05 / 3


def test_random_flips_agree_with_all_flips() -> None:
    d = np.round(correlated(15, 4, rho=0.6, seed=9, effect=0.4), 1)
    exact = stats.max_t(d)
    padded = np.vstack([d, np.full((1, 4), 1e-7), np.full((1, 4), -1e-7)])
    drawn = stats.max_t(padded, draws=40_000)
    assert exact.exact
    assert not drawn.exact
    np.testing.assert_allclose(exact.p_step_down, drawn.p_step_down, atol=0.02)
    assert drawn.p_step_down.min() >= 1 / 40_001
    again = stats.max_t(padded, draws=40_000)
    np.testing.assert_array_equal(drawn.p_step_down, again.p_step_down)


def test_batches_change_nothing_but_memory() -> None:
    d = correlated(40, 300, rho=0.2, seed=10)
    joint = stats.max_t(d, draws=2000)
    assert joint.draws_used == 2000
    assert joint.p_step_down.shape == (300,)
    assert np.all(joint.p_raw <= joint.p_step_down)


@pytest.mark.parametrize("name", [*stats.METHODS, *stats.ALIASES])
def test_every_correction_runs_and_leaves_a_single_p_value_alone(name: str) -> None:
    assert stats.adjust([0.04], method=name).tolist() == [0.04]
    adjusted = stats.adjust([0.01, math.nan, 0.04, 1.0], method=name)
    assert math.isnan(adjusted[1])
    assert np.nanmax(adjusted) <= 1


def test_two_stage_corrections_know_alpha() -> None:
    p = np.array([0.001, 0.008, 0.02, 0.03, 0.2, 0.6])
    strict = stats.adjust(p, method="fdr_tsbky", alpha=0.001)
    loose = stats.adjust(p, method="fdr_tsbky", alpha=0.2)
    assert np.all(loose <= strict)
    assert np.any(loose < strict)


def test_the_table_of_corrections_says_what_they_control() -> None:
    assert {m.controls for m in stats.METHODS.values()} == {"fwer", "fdr", "none"}
    assert {name for name, m in stats.METHODS.items() if m.joint} == {
        "bonferroni",
        "sidak",
        "holm",
        "holm-sidak",
    }
    assert set(stats.ALIASES.values()) <= set(stats.METHODS)


def test_storey_counts_one_more_in_finite_samples() -> None:
    p = [0.001, 0.01, 0.02, 0.3, 0.7, 0.9]
    assert stats.storey(p).pi0 == pytest.approx(1.0)
    assert stats.storey(p, finite_sample=False).pi0 == pytest.approx(2 / 3)


def test_holm_is_that_of_statsmodels() -> None:
    from statsmodels.stats.multitest import multipletests

    rng = np.random.default_rng(12)
    for size in (2, 3, 20, 300):
        for p in (rng.random(size), rng.random(size).round(1), rng.random(size) ** 6):
            expected = multipletests(p, method="holm")[1]
            np.testing.assert_allclose(stats.adjust(p, method="holm"), expected, rtol=1e-12)
