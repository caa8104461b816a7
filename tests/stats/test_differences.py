"""Ties and lattices: what counts as equal, and on which grid the differences lie."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from evaltoolkit import stats


def test_rounding_is_a_tie_and_a_small_difference_is_not() -> None:
    d = stats.snap_ties([0.3, 1e9, 1.0, 0.0, 2.0], [0.1 + 0.2, 1e9 + 0.5, 1.0 + 1e-7, 1e-12, 2.0])
    np.testing.assert_array_equal(d[[0, 1, 4]], 0.0)
    assert d[2] > 0
    assert d[3] == 1e-12


def test_snap_takes_its_scale_from_the_scores_where_they_are_given() -> None:
    assert stats.snap([1e-12, 2e-12]).tolist() == [1e-12, 2e-12]
    assert stats.snap([1e-12, 2e-12], scale=1.0).tolist() == [0.0, 0.0]
    scales = np.array([1.0, 1e-3])
    assert stats.snap([1e-11, 1e-11], scale=scales).tolist() == [0.0, 1e-11]
    given = np.array([1.0, 1e-17])
    stats.snap(given)
    assert given[1] == 1e-17


@pytest.mark.parametrize(
    ("d", "step"),
    [
        ([1, 0, -1], 1.0),
        ([2, -4, 6], 2.0),
        ([0.5, 1.5], 0.5),
        ([3.0], 3.0),
        ([1 / 3, 1 / 6, -0.5], 1 / 6),
        ([k / 5 - m / 7 for k in range(6) for m in range(8)], 1 / 35),
        ([k / 6 - m / 5 for k in range(7) for m in range(6)], 1 / 30),
        ([0.1 + 0.2, 0.7 - 0.1, 0.3], 0.3),
        ([1e4 + 0.25, 0.5], 0.25),
        ([49, -67, 8], 1.0),
        ([0.0, 0.0], None),
        ([], None),
        ([math.pi, math.e, math.sqrt(2)], None),
        ([1.0, 1e-7], None),
    ],
)
def test_lattice_step(d: list[float], step: float | None) -> None:
    found = stats.lattice_step(d)
    if step is None:
        assert found is None
    else:
        assert found == pytest.approx(step, rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_continuous_data_have_no_lattice_and_trial_means_have_theirs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    assert stats.lattice_step(rng.normal(size=30)) is None
    trials = rng.integers(2, 8, size=2)
    a, b = (rng.integers(0, k + 1, size=200) / k for k in trials)
    step = stats.lattice_step(b - a)
    assert step is not None
    whole_steps = Fraction(1, math.lcm(*trials.tolist())) / Fraction(step).limit_denominator(1000)
    assert whole_steps.denominator == 1 or (1 / whole_steps).denominator == 1


def test_values_that_agree_but_for_rounding_share_a_rank() -> None:
    d = np.array([0.1 + 0.2, 0.3, -0.1, 0.5])
    assert np.unique(d).size == 4
    assert np.unique(stats.merge_near(d)).size == 3
    assert stats.signed_ranks(d).tolist() == [2.5, 2.5, -1.0, 4.0]
    assert stats.merge_near([]).size == 0
