"""Paired grades: do both systems give each grade equally often?"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.checks import choice
from evaltoolkit.stats.types import Floats, Significance


def marginal_homogeneity(
    table: ArrayLike, *, method: Literal["stuart_maxwell", "bhapkar"] = "stuart_maxwell"
) -> Significance:
    """Test whether two paired systems give each grade equally often.

    Args:
        table: Square table: examples with the row's grade from the baseline and the column's
            from the candidate.
        method: ``stuart_maxwell``, or ``bhapkar`` which is a little more powerful.

    Returns:
        Chi-square and p-value; 0 and 1 where no example changes its grade.

    Raises:
        EvalToolkitError: The table is not square or the method unknown.

    Source:
        Stuart, 1955; Maxwell, 1970; Bhapkar, A note on the equivalence of two test criteria
        for hypotheses in categorical data, 1966.

    Example:
        >>> round(marginal_homogeneity([[20, 10, 5], [3, 30, 15], [0, 5, 40]]).p_value, 5)
        0.00103
    """
    choice(method, ["stuart_maxwell", "bhapkar"], name="method")
    counts = _square(table)
    moving = counts - np.diag(np.diag(counts))
    involved = (moving.sum(axis=0) + moving.sum(axis=1)) > 0
    if not involved.any():
        return Significance(0.0, 1.0)
    return _tested(counts[np.ix_(involved, involved)], method)


def bowker(table: ArrayLike) -> Significance:
    """Test whether two paired systems exchange grades evenly: as often a to b as b to a.

    Even exchange (symmetry) implies equal shares of each grade, but not the reverse, so this
    test finds more kinds of change than `marginal_homogeneity` and says less about them. Pairs
    of grades that no example moved between carry no evidence and no degree of freedom; nothing
    is added to empty cells.

    Args:
        table: Square table: examples with the row's grade from the baseline and the column's
            from the candidate.

    Returns:
        Chi-square and p-value; 0 and 1 where no example changes its grade.

    Raises:
        EvalToolkitError: The table is not square, or a count is negative or not finite.

    Source:
        Bowker, A test for symmetry in contingency tables, 1948.

    Example:
        >>> [round(part, 4) for part in bowker([[20, 10, 5], [3, 30, 15], [0, 5, 40]])]
        [13.7692, 0.0032]
    """
    from scipy import special

    counts = _square(table)
    upper = np.triu_indices(len(counts), k=1)
    up, down = counts[upper], counts.T[upper]
    moved = up + down > 0
    if not moved.any():
        return Significance(0.0, 1.0)
    statistic = float(np.sum((up - down)[moved] ** 2 / (up + down)[moved]))
    return Significance(statistic, float(special.chdtrc(np.count_nonzero(moved), statistic)))


def _square(table: ArrayLike) -> Floats:
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
        raise EvalToolkitError(
            f"table has shape {counts.shape}; rows and columns must be the same grades",
            code="bad_shape",
            path="table",
            value=counts.shape,
        )
    if not (np.isfinite(counts) & (counts >= 0)).all():
        raise EvalToolkitError(
            "table has counts that are negative or not finite; each cell counts examples",
            code="bad_count",
            path="table",
        )
    return counts


def _tested(counts: np.ndarray, method: str) -> Significance:
    from statsmodels.stats import contingency_tables

    square = contingency_tables.SquareTable(counts, shift_zeros=False)
    try:
        test = square.homogeneity(method=method)
    except np.linalg.LinAlgError:
        return Significance(math.nan, math.nan)
    return Significance(float(test.statistic), float(test.pvalue))
