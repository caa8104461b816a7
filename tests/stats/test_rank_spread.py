"""Nemenyi's p-value."""

from __future__ import annotations

import pytest

from evaltoolkit.stats import nemenyi_difference
from evaltoolkit.stats.rank_spread import largest_rank_gap, nemenyi_p


@pytest.mark.parametrize("alpha", [0.2, 0.1, 0.05, 0.01, 0.001])
@pytest.mark.parametrize(("systems", "tasks"), [(2, 5), (4, 14), (25, 500)])
def test_is_the_inverse_of_the_critical_difference(systems: int, tasks: int, alpha: float) -> None:
    gap = nemenyi_difference(systems, tasks, alpha=alpha)
    assert nemenyi_p(gap, systems, tasks) == pytest.approx(alpha, rel=1e-6)


def test_two_systems_give_the_normal_tail() -> None:
    from scipy import stats

    # with two systems the difference of mean ranks is a scaled sign test
    assert nemenyi_p(0.4, 2, 50) == pytest.approx(2 * stats.norm.sf(0.4 * 50**0.5), rel=1e-6)


def test_no_gap_has_p_one() -> None:
    assert nemenyi_p(largest_rank_gap([2, 2, 2]), 3, 10) == pytest.approx(1.0)
