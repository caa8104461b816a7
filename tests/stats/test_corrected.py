"""Contributions of examples: their standard errors are the known ones in the known cases."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evaltoolkit import stats
from evaltoolkit.stats import corrected

RNG = np.random.default_rng(0)
HUMAN = RNG.integers(2, size=60).astype(float)
JUDGE = np.where(RNG.random(60) < 0.85, HUMAN, 1 - HUMAN)
REST = RNG.integers(2, size=300).astype(float)


def test_plain_mean_and_paired_t() -> None:
    parts = corrected.mean_contributions(HUMAN)
    assert parts.sum() == pytest.approx(0, abs=1e-12)
    se = corrected.contributions_se(parts, range(60), units=60)
    assert se == pytest.approx(stats.paired_t(HUMAN).se, rel=1e-12)
    paired = corrected.mean_contributions(JUDGE) - parts
    se = corrected.contributions_se(paired, range(60), units=60)
    assert se == pytest.approx(stats.paired_t(JUDGE - HUMAN).se, rel=1e-12)


@pytest.mark.parametrize("weight", [0.0, 0.4, 1.0])
def test_squares_add_up_to_the_published_standard_error(weight: float) -> None:
    parts = corrected.ppi_contributions(HUMAN, JUDGE, REST, weight=weight)
    total = sum(float(part @ part) for part in parts)
    # Angelopoulos et al. 2023, algorithm 1: weight^2 var(f) / N + var(y - weight f) / n
    expected = weight**2 * REST.var() / 300 + (HUMAN - weight * JUDGE).var() / 60
    assert total == pytest.approx(expected, rel=1e-12)
    if weight == 1.0:
        assert math.sqrt(total) == pytest.approx(stats.ppi_mean(HUMAN, JUDGE, REST).se, rel=1e-12)


def test_clusters_are_cr1() -> None:
    clusters = np.arange(60) // 4
    parts = corrected.mean_contributions(HUMAN)
    se = corrected.contributions_se(parts, clusters, units=15)
    assert se == pytest.approx(stats.cluster_mean(HUMAN, clusters, kind="CR1").se, rel=1e-12)


def test_one_unit_says_nothing() -> None:
    assert math.isnan(corrected.contributions_se([0.0], ["a"], units=1))
    assert corrected.mean_contributions([]).size == 0
