"""Ranks, effects, power, trials, judges, bootstrap: what the reference values leave open."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from evaltoolkit import stats
from evaltoolkit.errors import EvalToolkitError

RNG = np.random.default_rng(2)
SMALL = np.round(RNG.normal(0.4, 1.0, size=9), 2)
LONG = RNG.normal(0.1, 1.0, size=400)


def plain(value: Any) -> bool:
    """Say whether a value is a Python number or text, or a tuple of such, or an array."""
    if isinstance(value, np.generic):
        return False
    if isinstance(value, tuple):
        return all(plain(part) for part in value)
    return isinstance(value, bool | int | float | str | np.ndarray)


@pytest.mark.parametrize(
    "result",
    [
        stats.paired_t(SMALL),
        stats.sign_flip(SMALL),
        stats.sign_flip(LONG, draws=99),
        stats.cluster_mean(LONG, np.arange(400) // 7),
        stats.cluster_flip(SMALL, "aabbccdde"),
        stats.anova_icc(SMALL, "aabbccdde"),
        stats.design_effect(SMALL, "aabbccdde"),
        stats.paired_counts([1, 0, 1], [0, 0, 1]),
        stats.mcnemar_exact(3, 5),
        stats.mcnemar_midp(3, 5),
        stats.mcnemar_score(np.int64(3), np.int64(5)),
        stats.bonett_price(3, 5, 20),
        stats.tango(3, 5, 20),
        stats.newcombe(3, 5, 2, 20),
        stats.tango_test(3, 5, 20, margin=0.1),
        stats.tango_equivalence(3, 5, 20, margin=0.1),
        stats.dirichlet_interval(3, 5, 2, 20),
        stats.wilson(3, 5),
        stats.max_t(np.column_stack([SMALL, SMALL**2])),
        stats.max_normal(np.column_stack([LONG, LONG**2]), draws=100),
        stats.min_p(np.column_stack([SMALL, SMALL**2])),
        stats.tost_paired(SMALL, low=-1, high=1),
        stats.noninferiority(0.1, 0.2, 9, margin=0.3),
        stats.mde(0.1, 9.5),
        stats.wilcoxon(SMALL),
        stats.wilcoxon(LONG),
        stats.hodges_lehmann(LONG),
        stats.sign_test(SMALL),
        stats.d_z(SMALL),
        stats.hedges_g_z(SMALL),
        stats.d_av(SMALL, SMALL + 1),
        stats.cliffs_delta(SMALL, SMALL + 1),
        stats.rank_biserial(SMALL),
        stats.prob_superiority(SMALL),
        stats.lattice_step([1.0, 2.0]),
        stats.satterthwaite_df([1, 2, 3]),
        stats.simultaneous_critical_value(np.eye(3)),
        stats.combine_pvalues([0.1, 0.2]),
        stats.variance_components([[1, 0], [1, 1]]),
        stats.friedman([[1, 2, 3], [2, 1, 3]]),
        stats.cochran_q([[1, 0], [1, 1], [1, 0]]),
        stats.cohen_kappa([[3, 1], [1, 3]]),
        stats.krippendorff_alpha([[1, 2, 1], [1, 2, 2]]),
        stats.intraclass_correlations([[1, 2], [2, 4], [5, 5]]),
        stats.ppi_mean([1, 0, 1], [1, 0, 0], [1, 1, 0], tuned=True),
        stats.rogan_gladen(3, 5, sensitivity=0.9, specificity=0.9),
        stats.bootstrap_interval(SMALL, draws=99),
        stats.abc_interval(SMALL),
        stats.win_share(3, 5),
        stats.discordant_e_value(3, 5),
        stats.marginal_homogeneity([[3, 1], [2, 3]]),
        stats.power_mcnemar(20, 0.2, 0.1),
    ],
    ids=lambda result: type(result).__name__,
)
def test_results_are_plain_numbers(result: Any) -> None:
    assert plain(result)


class TestRanks:
    def test_wilcoxon_without_ties_is_that_of_scipy(self) -> None:
        ours, theirs = stats.wilcoxon(SMALL), scipy_stats.wilcoxon(SMALL, method="exact")
        assert ours.method == "exact"
        assert ours.p_value == pytest.approx(theirs.pvalue)
        normal = scipy_stats.wilcoxon(LONG, method="asymptotic", correction=False)
        assert stats.wilcoxon(LONG).p_value == pytest.approx(normal.pvalue)

    def test_one_sided_p_values_add_up(self) -> None:
        for d in (SMALL, -SMALL, np.array([1.0, -1.0, 2.0, -2.0])):
            up, down = stats.wilcoxon(d).p_greater, stats.wilcoxon(-d).p_greater
            assert 1 <= up + down <= 2
            assert stats.wilcoxon(d).p_value == pytest.approx(min(1, 2 * min(up, down)))

    def test_all_ties(self) -> None:
        assert stats.wilcoxon([0, 0])[1:] == (1.0, 1.0, 0, "all_ties")
        assert math.isnan(stats.rank_biserial([0, 0]))

    def test_pseudomedian_of_a_long_sample_needs_no_table_of_averages(self) -> None:
        averages = np.sort(((LONG[:, None] + LONG) / 2)[np.triu_indices(LONG.size)])
        found = stats.hodges_lehmann(LONG)
        assert found.estimate == pytest.approx(float(np.median(averages)), abs=1e-12)
        assert np.min(np.abs(averages - found.low)) < 1e-12
        inside = stats.wilcoxon(LONG - found.low - 1e-9).p_value
        assert inside == pytest.approx(0.05, abs=0.002)

    def test_too_few_differences_have_no_interval(self) -> None:
        assert math.isnan(stats.hodges_lehmann([1, 2, 3, 4, 5]).low)
        assert stats.hodges_lehmann([1, 2, 3, 4, 5], level=0.9).low == 1


class TestEffects:
    def test_undefined_effects_are_nan(self) -> None:
        for value in (
            stats.d_z([1.0]),
            stats.hedges_g_z([1.0]),
            stats.hedges_g_z([1.0, 2.0]),
            stats.d_av([1, 1], [2, 2]),
            stats.cliffs_delta([], [1.0]),
            stats.cohens_g(0, 0),
            stats.prob_superiority([]),
        ):
            assert math.isnan(value)

    def test_extremes(self) -> None:
        assert stats.cliffs_delta([1, 2], [3, 4]) == 1
        assert stats.rank_biserial([-1, -2]) == -1
        assert stats.cohens_g(0, 4) == -0.5
        assert stats.prob_superiority([1, 1]) == 1


class TestPower:
    @pytest.mark.parametrize("df", [1.0, 2.7, 19.0, 1e4])
    def test_the_smallest_difference_has_just_the_power(self, df: float) -> None:
        shift = stats.mde(1.0, df)
        exact = scipy_stats.nct.sf(scipy_stats.t.ppf(0.975, df), df, shift)
        assert exact == pytest.approx(0.8, abs=1e-5)
        assert stats.mde(2.5, df) == pytest.approx(2.5 * shift)

    def test_limits(self) -> None:
        z = scipy_stats.norm.ppf([0.975, 0.8]).sum()
        assert stats.mde(1.0, math.inf) == pytest.approx(z, abs=1e-6)
        assert math.isnan(stats.mde(math.nan, 9))
        assert math.isnan(stats.mde(1.0, 0))
        assert stats.mde(1.0, 9, power=0.01) == 0
        assert math.isnan(stats.power_paired_t(0.1, 0.0, 20))
        assert math.isnan(stats.n_paired_t(0.0, 1.0))
        assert stats.n_paired_t(1e9, 1.0) == 2.0
        assert stats.n_mcnemar(0.1, 0.1) == math.inf
        assert stats.power_mcnemar(0, 0.1, 0.2) == 0

    def test_the_size_found_has_the_power_asked_for(self) -> None:
        n = math.ceil(stats.n_paired_t(0.2, 0.7, power=0.9))
        assert stats.power_paired_t(0.2, 0.7, n) >= 0.9
        assert stats.power_paired_t(0.2, 0.7, n - 1) < 0.9
        assert stats.power_mcnemar(300, 0.1, 0.1) == pytest.approx(0.045, abs=0.01)


class TestTrials:
    def test_impossible_counts(self) -> None:
        for call in (stats.pass_at_k, stats.pass_hat_k):
            with pytest.raises(EvalToolkitError, match="neither c nor k"):
                call(3, 1, 4)

    def test_large_counts_are_exact(self) -> None:
        assert stats.pass_at_k(10_000, 1, 5_000) == 0.5

    def test_components_of_unequal_trials(self) -> None:
        rng = np.random.default_rng(1)
        items = rng.normal(0, 2.0, size=400)
        trials = [item + rng.normal(0, 1.0, size=rng.integers(1, 5)) for item in items]
        parts = stats.variance_components(trials)
        assert parts.var_item == pytest.approx(4.0, rel=0.2)
        assert parts.var_trial == pytest.approx(1.0, rel=0.2)
        by_item = stats.paired_t([float(row.mean()) for row in trials])
        assert parts.mean == pytest.approx(by_item.mean)
        assert parts.se == pytest.approx(by_item.se, rel=0.1)

    def test_too_little_to_split(self) -> None:
        single = stats.variance_components([[1.0], [0.0]])
        assert single.mean == 0.5
        assert math.isnan(single.var_item)
        with pytest.raises(EvalToolkitError, match="is empty"):
            stats.variance_components([[1.0], []])


class TestJudges:
    def test_a_perfect_judge_shortens_the_interval_and_a_random_one_does_not(self) -> None:
        rng = np.random.default_rng(3)
        truth = rng.integers(0, 2, size=1000).astype(float)
        human, rest = truth[:80], truth[80:]
        alone = stats.paired_t(human)
        perfect = stats.ppi_mean(human, human, rest)
        assert perfect.high - perfect.low < 0.4 * (alone.high - alone.low)
        noise = rng.integers(0, 2, size=1000).astype(float)
        useless = stats.ppi_mean(human, noise[:80], noise[80:], tuned=True)
        assert 0 <= useless.weight < 0.3
        constant = stats.ppi_mean(human, np.ones(80), np.ones(500), tuned=True)
        assert constant.weight == 0
        assert constant.mean == pytest.approx(alone.mean)

    def test_mistakes(self) -> None:
        with pytest.raises(EvalToolkitError, match="two of each"):
            stats.ppi_mean([1], [1], [1, 0])
        with pytest.raises(EvalToolkitError, match="chance"):
            stats.rogan_gladen(1, 2, sensitivity=0.5, specificity=0.5)
        assert math.isnan(stats.rogan_gladen(0, 0, sensitivity=0.9, specificity=0.9).rate)
        assert stats.rogan_gladen(0, 50, sensitivity=0.9, specificity=0.9).rate == 0

    def test_agreement_that_chance_makes_certain_is_undefined(self) -> None:
        assert math.isnan(stats.cohen_kappa([[5, 0], [0, 0]]).kappa)
        assert math.isnan(stats.fleiss_kappa([[3, 0], [3, 0]]))
        assert math.isnan(stats.krippendorff_alpha([[1, 1], [1, 1]]))
        assert math.isnan(stats.krippendorff_alpha([[1, math.nan], [math.nan, 1]]))
        assert stats.gwet_ac1([[5, 0], [0, 0]]) == 1
        assert math.isnan(stats.gwet_ac1([[0, 0], [0, 0]]))

    def test_perfect_agreement(self) -> None:
        assert stats.cohen_kappa([[5, 0], [0, 5]])[:3] == (1.0, 1.0, 1.0)
        assert stats.krippendorff_alpha([[1, 2, 3], [1, 2, 3]], measure="ordinal") == 1
        for weights in ("linear", "quadratic"):
            assert stats.cohen_kappa(np.eye(3), weights=weights).kappa == pytest.approx(1)

    def test_unknown_grades_and_shapes(self) -> None:
        with pytest.raises(EvalToolkitError, match="not among"):
            stats.agreement_table("abz", "abb", grades="ab")
        for call in (stats.cohen_kappa, stats.gwet_ac1, stats.marginal_homogeneity):
            with pytest.raises(EvalToolkitError, match="shape"):
                call([[1, 2, 3], [1, 2, 3]])
        with pytest.raises(EvalToolkitError, match="same number of judges"):
            stats.fleiss_kappa([[3, 0], [2, 0]])
        with pytest.raises(EvalToolkitError, match="gaps"):
            stats.intraclass_correlations([[1, math.nan], [1, 2]])


class TestRankings:
    def test_equal_systems(self) -> None:
        test = stats.friedman(np.ones((4, 3)))
        assert test.ranks.tolist() == [2, 2, 2]
        assert (test.statistic, test.p_value) == (0.0, 1.0)
        assert stats.cochran_q(np.ones((4, 3))) == (0.0, 1.0)
        assert stats.marginal_homogeneity([[3, 0], [0, 3]]) == (0.0, 1.0)

    def test_cochran_q_of_two_systems_is_mcnemar(self) -> None:
        passed = [[1, 0]] * 7 + [[0, 1]] * 2 + [[1, 1]] * 5
        assert stats.cochran_q(passed) == pytest.approx(stats.mcnemar_score(7, 2))

    def test_abilities_reproduce_the_odds_and_know_when_they_cannot(self) -> None:
        fit = stats.bradley_terry([[0, 30, 40], [10, 0, 25], [5, 15, 0]], reference=1)
        assert fit.ability[1] == fit.se[1] == 0
        assert fit.ability[0] > 0 > fit.ability[2]
        with pytest.raises(EvalToolkitError, match="never beats") as caught:
            stats.bradley_terry([[0, 5], [0, 0]])
        assert caught.value.code == "separated"

    def test_unusable_tables(self) -> None:
        with pytest.raises(EvalToolkitError, match="at least 2 rows"):
            stats.friedman([[1, 2, 3]])
        with pytest.raises(EvalToolkitError, match="finite"):
            stats.friedman([[1, 2, 3], [1, 2, math.nan]])
        with pytest.raises(EvalToolkitError, match="square"):
            stats.bradley_terry([[1, 2, 3]])


class TestBootstrap:
    @pytest.mark.parametrize("method", ["percentile", "basic", "bca", "studentized"])
    def test_intervals_agree_with_t_in_a_long_sample(self, method: Any) -> None:
        t = stats.paired_t(LONG)
        ends = stats.bootstrap_interval(LONG, method=method)
        assert ends == pytest.approx((t.low, t.high), abs=0.012)
        assert ends == stats.bootstrap_interval(LONG, method=method)

    def test_all_kinds_at_once_are_each_on_its_own(self) -> None:
        together = stats.bootstrap_intervals(SMALL, draws=500, seed=3)
        assert len(together) == 4
        for kind, ends in together.items():
            assert ends == stats.bootstrap_interval(SMALL, method=kind, draws=500, seed=3)

    def test_bca_is_that_of_scipy(self) -> None:
        skewed = np.random.default_rng(4).exponential(size=40)
        theirs = scipy_stats.bootstrap(
            (skewed,), np.mean, method="BCa", n_resamples=40_000, rng=np.random.default_rng(1)
        ).confidence_interval
        ours = stats.bootstrap_interval(skewed, draws=40_000)
        assert ours == pytest.approx((theirs.low, theirs.high), abs=0.012)

    def test_clusters_are_drawn_whole(self) -> None:
        ids = np.repeat(np.arange(40), 5)
        d = np.random.default_rng(5).normal(size=40)[ids]
        plain_ends = stats.bootstrap_interval(d, method="percentile")
        ends = stats.bootstrap_interval(d, method="percentile", clusters=ids)
        wider = (ends.high - ends.low) / (plain_ends.high - plain_ends.low)
        assert wider == pytest.approx(math.sqrt(5), rel=0.1)
        for method in ("percentile", "basic", "bca", "studentized"):
            # Clusters of one size are to a resample what single values are.
            whole = stats.bootstrap_interval(d, method=method, clusters=ids)
            assert whole == pytest.approx(stats.bootstrap_interval(d[::5], method=method))

    def test_criteria_share_their_samples(self) -> None:
        table = np.column_stack([LONG, LONG, -LONG])
        means = stats.resampled_means(table, draws=50).means
        np.testing.assert_allclose(means[:, 0], means[:, 1])
        np.testing.assert_allclose(means[:, 0], -means[:, 2])

    def test_degenerate_samples(self) -> None:
        for d in ([], [1.0], [2.0, 2.0, 2.0]):
            assert math.isnan(stats.bootstrap_interval(d).low)
            assert math.isnan(stats.abc_interval(d).low)
        unbounded = stats.bootstrap_interval([0, 0, 0, 1], method="studentized")
        assert unbounded.low == -math.inf or unbounded.high == math.inf
        with pytest.raises(EvalToolkitError, match="without gaps"):
            stats.resampled_means([1.0, math.nan])
        with pytest.raises(EvalToolkitError, match="enumerated"):
            stats.exhaustive_means(range(8))


def test_anytime_evidence_grows_with_the_imbalance_only() -> None:
    even, odd = stats.discordant_e_value(30, 30), stats.discordant_e_value(60, 0)
    assert even.e_value < 1
    assert even.p_value == 1
    assert odd.p_value < 1e-12
    assert stats.discordant_e_value(5000, 0).p_value > 0
    assert stats.discordant_e_value(0, 0).e_value == 1
    with pytest.raises(EvalToolkitError, match="positive"):
        stats.discordant_e_value(1, 1, prior=0)


def test_the_bayesian_interval_needs_no_data_and_follows_them() -> None:
    nothing = stats.dirichlet_interval(0, 0, 0, 0)
    assert -0.9 < nothing.low < -0.5 < 0.5 < nothing.high < 0.9
    much = stats.dirichlet_interval(400, 80, 20, 500)
    assert much == pytest.approx(stats.bonett_price(80, 20, 1000), abs=0.003)


def test_empty_summaries() -> None:
    assert math.isnan(stats.interquartile_mean([]))
    assert math.isnan(stats.bootstrap_se([]))
    assert stats.interquartile_mean([3.0]) == 3.0
