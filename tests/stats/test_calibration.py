"""Small simulations with fixed seeds: the defaults keep the promises that they make."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evaltoolkit import stats

# Two standard errors of a 5 % rate over 2,000 data sets are one percent point.
MOST_FALSE_ALARMS = 0.065


def ratings(rng: np.random.Generator, n: int, m: int = 1, *, rho: float = 0.5) -> np.ndarray:
    """Differences of ratings without a true difference, about 40 % ties, correlated criteria."""
    latent = math.sqrt(rho) * rng.normal(size=(n, 1)) + math.sqrt(1 - rho) * rng.normal(size=(n, m))
    return np.clip(np.rint(latent), -3, 3)


@pytest.mark.parametrize("n", [20, 50])
def test_sign_flip_and_t_interval(n: int) -> None:
    rng = np.random.default_rng(n)
    samples = [ratings(rng, n)[:, 0] for _ in range(2000)]
    alarms = np.mean([stats.sign_flip(d).p_value <= 0.05 for d in samples])
    estimates = [stats.paired_t(d) for d in samples]
    covered = np.mean([e.low <= 0 <= e.high for e in estimates])
    assert 0.03 <= alarms <= MOST_FALSE_ALARMS
    assert 0.935 <= covered <= 0.985


@pytest.mark.parametrize(("n", "p"), [(20, 0.9), (50, 0.8)])
def test_mcnemar_and_bonett_price(n: int, p: float) -> None:
    rng = np.random.default_rng(n)
    passed = rng.random((2, 2000, n)) < p
    wins = np.sum(passed[1] & ~passed[0], axis=1)
    losses = np.sum(passed[0] & ~passed[1], axis=1)
    alarms = np.mean([stats.mcnemar_midp(b, c) <= 0.05 for b, c in zip(wins, losses, strict=True)])
    intervals = stats.bonett_price(wins.astype(float), losses.astype(float), np.full(2000, n))
    covered = np.mean((intervals.low <= 0) & (intervals.high >= 0))
    assert alarms <= MOST_FALSE_ALARMS
    assert covered >= 0.935


@pytest.mark.parametrize("n", [20, 50])
def test_max_t_keeps_the_family_wise_error_rate(n: int) -> None:
    rng = np.random.default_rng(n)
    smallest, held = [], []
    for _ in range(1000):
        d = ratings(rng, n, 6)
        joint = stats.max_t(d, draws=399)
        smallest.append(np.nanmin(joint.p_step_down))
        level = 1 - joint.alpha_star
        ends = [stats.paired_t(column, level=level) for column in d.T]
        held.append(all(e.low <= 0 <= e.high for e in ends))
    assert np.mean(np.array(smallest) <= 0.05) <= MOST_FALSE_ALARMS
    assert np.mean(held) >= 0.93


def test_clusters() -> None:
    rng = np.random.default_rng(1)
    sizes = np.array([1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 10, 15])
    ids = np.repeat(np.arange(sizes.size), sizes)
    covered, naive, alarms = [], [], []
    for _ in range(1000):
        d = rng.normal(size=ids.size) + rng.normal(size=sizes.size)[ids]
        robust, plain = stats.cluster_mean(d, ids), stats.paired_t(d)
        covered.append(robust.low <= 0 <= robust.high)
        naive.append(plain.low <= 0 <= plain.high)
        alarms.append(stats.cluster_flip(d, ids).p_value <= 0.05)
    assert 0.935 <= np.mean(covered) <= 0.985
    assert np.mean(alarms) <= MOST_FALSE_ALARMS
    assert np.mean(naive) < 0.85
