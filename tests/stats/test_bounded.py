"""Intervals for means of rates: always a width, never beyond 0 and 1."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaltoolkit import stats
from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.bounded import FEW, unit_mean, wilson_mean

RATES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=60)


@given(st.integers(1, 200), st.integers(0, 200))
def test_whole_counts_give_wilsons_interval(n: int, x: int) -> None:
    x = min(x, n)
    assert wilson_mean(x / n, n) == pytest.approx(stats.wilson(x, n), abs=1e-12)


@given(RATES)
def test_there_is_always_an_interval_with_the_mean_inside(values: list[float]) -> None:
    found = unit_mean(values)
    assert 0 <= found.low <= found.mean <= found.high <= 1
    assert found.high - found.low > 0.01
    mirrored = unit_mean([1 - v for v in values])
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - found.high, 1 - found.low))


def test_enough_mixed_values_get_students_t() -> None:
    values = [0.0] * 20 + [0.5] * 15 + [1.0] * 15
    found, plain = unit_mean(values), stats.paired_t(values)
    assert found.interval == "t"
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high))


def test_few_values_off_the_border_get_the_largest_spread() -> None:
    few = unit_mean([0.0] * 50 + [0.5] * (FEW - 1))
    assert few.interval == "wilson"
    assert few.high > stats.paired_t([0.0] * 50 + [0.5] * (FEW - 1)).high


def test_clusters_that_agree_count_as_one_item_each() -> None:
    found = unit_mean([0.0] * 20, clusters=[i // 5 for i in range(20)])
    assert (found.low, found.high) == pytest.approx(tuple(stats.wilson(0, 4)))
    assert (found.interval, found.n_units) == ("wilson", 4)


def test_clusters_get_cr2() -> None:
    rng = np.random.default_rng(3)
    values, clusters = rng.integers(0, 5, 90) / 4, np.arange(90) // 3
    found, plain = unit_mean(values, clusters=clusters), stats.cluster_mean(values, clusters)
    assert found.interval == "cr2_t"
    assert (found.low, found.high, found.se) == pytest.approx((plain.low, plain.high, plain.se))


def test_nothing_gives_nothing() -> None:
    found = unit_mean([])
    assert found.interval == "none"
    assert math.isnan(found.low)
    assert math.isnan(found.mean)


def test_a_number_outside_is_refused() -> None:
    with pytest.raises(EvalToolkitError, match="outside 0 to 1"):
        unit_mean([0.5, 1.5])


def test_rare_passes_are_covered() -> None:
    """pass^2 of 4 trials with 3 % true mean: t would cover about 70 %."""
    rng = np.random.default_rng(11)
    table = np.array([stats.pass_hat_k(4, c, 2) for c in range(5)])
    # E[p^2] of Beta(0.2, 2)
    truth = 0.2 * 1.2 / (2.2 * 3.2)
    hits = 0
    for _ in range(800):
        found = unit_mean(table[rng.binomial(4, rng.beta(0.2, 2.0, 20))])
        hits += found.low <= truth <= found.high
    assert hits / 800 >= 0.93
