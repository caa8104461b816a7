"""Tests of paired grades against independent computations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as sp
from statsmodels.stats.contingency_tables import SquareTable

from evaltoolkit import stats
from evaltoolkit.errors import EvalToolkitError

GRADES = np.array([[96, 13, 1], [77, 46, 8], [7, 0, 2]])


def test_bowker_by_hand_and_by_statsmodels() -> None:
    found = stats.bowker(GRADES)
    by_hand = (13 - 77) ** 2 / 90 + (1 - 7) ** 2 / 8 + (8 - 0) ** 2 / 8
    assert found.statistic == pytest.approx(by_hand)
    assert found.p_value == pytest.approx(sp.chi2.sf(by_hand, 3))
    reference = SquareTable(GRADES, shift_zeros=False).symmetry()
    assert found == pytest.approx((reference.statistic, reference.pvalue))


def test_half_an_example_in_every_cell_gives_the_shifted_numbers() -> None:
    """statsmodels adds 1/2 to all cells where one is empty; published as 3.084e-12, 2.688e-12."""
    assert stats.bowker(GRADES + 0.5).p_value == pytest.approx(3.084e-12, rel=1e-3)
    stuart_maxwell = stats.marginal_homogeneity(GRADES + 0.5)
    assert stuart_maxwell.p_value == pytest.approx(2.688e-12, rel=1e-3)


def test_bowker_on_two_grades_is_mcnemar() -> None:
    assert stats.bowker([[30, 12], [5, 20]]) == pytest.approx(stats.mcnemar_score(12, 5))


def test_grades_that_nothing_moves_between_carry_no_freedom() -> None:
    moved = stats.bowker([[9, 4, 0], [1, 9, 0], [0, 0, 9]])
    assert moved == pytest.approx(stats.mcnemar_score(4, 1))
    assert stats.bowker([[9, 0], [0, 4]]) == (0.0, 1.0)
    assert stats.bowker(np.zeros((0, 0))) == (0.0, 1.0)


def test_symmetric_exchange_is_no_evidence() -> None:
    assert stats.bowker([[1, 6, 3], [6, 1, 5], [3, 5, 1]]) == pytest.approx((0.0, 1.0))


@pytest.mark.parametrize(
    "table", [[[1, 2, 3], [4, 5, 6]], [[1, -1], [2, 3]], [[1, np.nan], [2, 3]]]
)
@pytest.mark.parametrize("test", [stats.bowker, stats.marginal_homogeneity])
def test_bad_tables_are_refused(test: object, table: list[list[float]]) -> None:
    with pytest.raises(EvalToolkitError, match="table has"):
        test(table)  # type: ignore[operator]
