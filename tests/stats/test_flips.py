"""Sign-flip tests: the exact ways, the random way, and what is promised about both."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evaltoolkit import stats
from evaltoolkit.stats import flips, signs
from evaltoolkit.stats.convolution import sum_distribution


def skewed(n: int, seed: int = 0, shift: float = 0.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(shift, 1.0, size=n)


@pytest.mark.parametrize(
    ("d", "method"),
    [
        ([1, -1, 0, 1] * 100, "exact_convolution"),
        (np.arange(-40, 60) / 6, "exact_convolution"),
        (skewed(20), "exact_enumeration"),
        (skewed(21), "monte_carlo"),
        ([0.0] * 9, "all_ties"),
        ([], "none"),
    ],
)
def test_the_way_is_chosen_by_the_data(d: list[float], method: str) -> None:
    assert stats.sign_flip(d).method == method


def test_enumeration_agrees_with_the_definition() -> None:
    d = skewed(9)
    patterns = 1 - 2 * ((np.arange(512)[:, None] >> np.arange(9)) & 1)
    sums = np.abs(patterns @ d)
    test = stats.sign_flip(d, mid_p=False)
    assert test.total == 512
    assert test.p_value == np.mean(sums >= abs(d.sum()) - 1e-9)


def test_random_flips_agree_with_exact_ones() -> None:
    d = np.random.default_rng(3).integers(-3, 5, size=60).astype(float)
    exact = stats.sign_flip(d)
    # An irrational grain takes the data off the lattice but hardly moves the sums.
    grain = 1e-6 * skewed(60, seed=1)
    drawn = stats.sign_flip(d + grain, draws=200_000, mid_p=True)
    assert exact.method == "exact_convolution"
    assert drawn.method == "monte_carlo"
    in_between = exact.equal / exact.total / 2
    assert drawn.p_value == pytest.approx(exact.p_value, abs=in_between + 0.004)


def test_the_same_seed_gives_the_same_p_and_another_seed_another() -> None:
    d = skewed(50, shift=0.25)
    first = stats.sign_flip(d, seed=7)
    assert first == stats.sign_flip(d, seed=7)
    assert first.greater != stats.sign_flip(d, seed=8).greater


def test_more_draws_resolve_a_small_p() -> None:
    d = skewed(60, shift=0.65)
    short = stats.sign_flip(d, draws=1000)
    long = stats.sign_flip(d, draws=1000, max_draws=1_000_000)
    assert short.greater + short.equal == 0
    assert short.p_value == 1 / 1001
    assert long.total > 1000
    assert long.greater + long.equal >= 10 or long.total == 1_000_000
    assert long.p_value < 1e-4
    dull = stats.sign_flip(skewed(60), draws=1000, max_draws=1_000_000)
    assert dull.total == 1000


def test_tails_keep_their_relative_precision() -> None:
    chances = sum_distribution(np.full(400, 1))
    assert chances[0] == pytest.approx(2.0**-400, rel=1e-10)
    assert chances.sum() == pytest.approx(1.0, rel=1e-10)
    mixed = sum_distribution(np.array([1] * 70 + [2] * 70 + [3] * 3))
    assert mixed[0] == pytest.approx(2.0**-143, rel=1e-10)
    assert mixed[2] == pytest.approx((math.comb(70, 2) + 70) * 2.0**-143, rel=1e-10)
    d = [1.0] * 190 + [-1.0] * 10
    ways = sum(math.comb(200, k) for k in range(10)) + math.comb(200, 10) / 2
    assert stats.sign_flip(d).p_value == pytest.approx(2 * ways / 2**200, rel=1e-10)


def test_counts_beyond_a_float_become_probabilities() -> None:
    small, large = stats.sign_flip([1] * 50 + [-1]), stats.sign_flip([1] * 60 + [-1])
    assert (small.equal, small.total) == (2 * 51, 2**51)
    assert large.total == 1
    assert large.equal == pytest.approx(2 * 61 / 2**61)


def test_rounding_noise_makes_no_difference() -> None:
    clean = [0.3, 0.3, -0.1, 0.2, 0.0]
    noisy = [0.1 + 0.2, 0.3, 0.2 - 0.3, 0.3 - 0.1, 1e-17]
    assert stats.sign_flip(noisy)[:4] == stats.sign_flip(clean)[:4]


def test_large_rating_data_stay_exact_and_wide_lattices_do_not_run_away() -> None:
    rng = np.random.default_rng(0)
    assert stats.sign_flip(rng.integers(-4, 5, size=15_000)).method == "exact_convolution"
    cents = rng.integers(-40_000, 40_000, size=2_000) / 100
    assert stats.sign_flip(cents, draws=999).method == "monte_carlo"


def test_cluster_flips_agree_with_the_definition() -> None:
    d = np.array([1.0, 2.0, -1.0, 0.5, 3.0, 1.0, -0.5, 2.0])
    ids = ["a", "a", "b", "c", "c", "c", "d", "e"]
    codes = np.unique(ids, return_inverse=True)[1]

    def size_of_t(x: np.ndarray) -> float:
        return abs(stats.cluster_mean(x, ids).statistic)

    patterns = 1 - 2 * ((np.arange(32)[:, None] >> np.arange(5)) & 1)
    t = np.array([size_of_t(d * pattern[codes]) for pattern in patterns])
    observed = size_of_t(d)
    test = stats.cluster_flip(d, ids)
    assert test.total == 32
    assert test.greater == np.count_nonzero(t > observed * (1 + 1e-9))
    assert test.equal == np.count_nonzero(np.isclose(t, observed, rtol=1e-9))


def test_many_clusters_are_drawn_and_agree_with_the_t_test() -> None:
    rng = np.random.default_rng(5)
    ids = np.repeat(np.arange(60), rng.integers(1, 6, size=60))
    d = rng.normal(0.18, 1.0, size=ids.size) + rng.normal(0, 0.5, size=60)[ids]
    test = stats.cluster_flip(d, ids, draws=20_000)
    assert test.method == "monte_carlo"
    assert test.p_value == pytest.approx(stats.cluster_mean(d, ids).p_value, abs=0.02)
    assert test == stats.cluster_flip(d, ids, draws=20_000)


def test_batches_do_not_change_the_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    values = skewed(15)[:, None]
    whole = np.vstack(list(signs.all_sums(values)))
    monkeypatch.setattr(signs, "MAX_ROWS", 100)
    parts = np.vstack(list(signs.all_sums(values)))
    np.testing.assert_array_equal(whole, parts)
    assert whole.shape == (2**14, 1)
    assert len(np.unique(whole.round(9))) == 2**14


def test_the_limit_of_exact_clusters_is_kept() -> None:
    d = skewed(17)
    fewer = stats.cluster_flip(d[:16], range(16))
    assert fewer.method == "exact_enumeration"
    assert fewer.total == 2**flips.MAX_CLUSTERS
    assert stats.cluster_flip(d, range(17)).method == "monte_carlo"
