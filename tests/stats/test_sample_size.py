"""Sample sizes with clusters and margins, and McNemar's exact power, against independent ways."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from evaltoolkit import EvalToolkitError, stats
from evaltoolkit.stats.discordance import mcnemar_power, mde_mcnemar, n_mcnemar_exact
from evaltoolkit.stats.sample_size import n_clustered_t, power_tost, upper_variance_ratio


@pytest.mark.parametrize(("difference", "sd"), [(0.1, 0.4), (0.5, 1.0), (2.0, 1.0)])
def test_clusters_of_one_give_the_plain_sample_size(difference: float, sd: float) -> None:
    assert n_clustered_t(difference, sd) == pytest.approx(stats.n_paired_t(difference, sd))


def test_the_clustered_size_reaches_its_power_at_the_clusters_degrees_of_freedom() -> None:
    n = n_clustered_t(0.3, 1.0, cluster_size=8, icc=0.25)
    shift = 0.3 / math.sqrt((1 + 7 * 0.25) / n)
    df = n / 8 - 1
    reach = scipy_stats.t.ppf(0.975, df)
    assert scipy_stats.nct.sf(reach, df, shift) == pytest.approx(0.8, abs=1e-4)


def test_no_spread_and_no_difference_give_no_size() -> None:
    assert math.isnan(n_clustered_t(0.3, 0.0))
    assert math.isnan(n_clustered_t(0.0, 1.0))


def test_the_upper_bound_of_a_variance_covers_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    variances = rng.normal(size=(20_000, 12)).var(axis=1, ddof=1)
    covered = np.mean(variances * upper_variance_ratio(11) >= 1)
    assert covered == pytest.approx(0.8, abs=0.01)
    assert math.isnan(upper_variance_ratio(0))


def test_equivalence_power_is_how_often_both_tests_reject() -> None:
    rng = np.random.default_rng(2)
    d = rng.normal(0.02, 0.5, size=(20_000, 60))
    mean, se = d.mean(axis=1), d.std(axis=1, ddof=1) / math.sqrt(60)
    reach = scipy_stats.t.ppf(0.95, 59) * se
    both = np.mean((mean - reach > -0.2) & (mean + reach < 0.2))
    power = power_tost(0.02, 0.5 / math.sqrt(60), 59, margin=0.2)
    assert power == pytest.approx(both, abs=0.01)
    assert math.isnan(power_tost(0.0, 0.0, 59, margin=0.2))
    with pytest.raises(EvalToolkitError, match="positive") as caught:
        power_tost(0.0, 0.1, 59, margin=0.0)
    assert caught.value.code == "bad_margin"


def enumerated_power(n: int, p_win: float, p_loss: float, *, mid_p: bool, alpha: float) -> float:
    """Add up every outcome that McNemar's test of the package rejects."""
    test = stats.mcnemar_midp if mid_p else stats.mcnemar_exact
    power = 0.0
    for m in range(n + 1):
        chance = scipy_stats.binom.pmf(m, n, p_win + p_loss)
        if chance > 1e-15:
            rejected = [k for k in range(m + 1) if test(k, m - k) <= alpha]
            share = scipy_stats.binom.pmf(rejected, m, p_win / (p_win + p_loss)).sum()
            power += float(chance * share)
    return power


@settings(max_examples=20, deadline=None)
@given(
    n=st.integers(1, 60),
    disagreement=st.floats(0.02, 0.98),
    share=st.floats(0.0, 1.0),
    mid_p=st.booleans(),
    alpha=st.sampled_from([0.01, 0.05, 0.1]),
)
def test_quick_and_plain_enumeration_agree(
    n: int, disagreement: float, share: float, mid_p: bool, alpha: float
) -> None:
    difference = share * disagreement
    wins, losses = (disagreement + difference) / 2, (disagreement - difference) / 2
    quick = mcnemar_power(n, difference, disagreement, mid_p=mid_p, alpha=alpha)
    plain = enumerated_power(n, wins, losses, mid_p=mid_p, alpha=alpha)
    assert quick == pytest.approx(plain, abs=1e-9)


@pytest.mark.parametrize(("difference", "disagreement"), [(0.05, 0.15), (0.1, 0.1), (0.3, 0.4)])
@pytest.mark.parametrize("mid_p", [True, False])
def test_the_exact_size_holds_from_there_on(
    difference: float, disagreement: float, mid_p: bool
) -> None:
    n = n_mcnemar_exact(difference, disagreement, mid_p=mid_p)

    def power(size: int) -> float:
        return mcnemar_power(size, difference, disagreement, mid_p=mid_p)

    assert power(n - 1) < 0.8
    assert min(power(k) for k in range(n, n + 50)) >= 0.8


def test_the_smallest_difference_has_the_power() -> None:
    smallest = mde_mcnemar(300, 0.2)
    assert mcnemar_power(300, smallest, 0.2) == pytest.approx(0.8, abs=1e-6)
    assert math.isnan(mde_mcnemar(5, 0.2))
    assert mcnemar_power(0, 0.1, 0.2) == 0.0
