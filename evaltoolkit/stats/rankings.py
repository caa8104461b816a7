"""Comparing many systems: rank tests over tasks and Bradley-Terry abilities."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.checks import fraction, whole
from evaltoolkit.stats.differences import merge_near
from evaltoolkit.stats.types import Floats, Significance


class Friedman(NamedTuple):
    """Friedman's test of equal ranks.

    Attributes:
        ranks: Mean rank of each system; 1 is best.
        statistic: Chi-square.
        p_value: Its p-value.
        f_statistic: Iman and Davenport's F, which is less conservative.
        f_p_value: Its p-value.
    """

    ranks: Floats
    statistic: float
    p_value: float
    f_statistic: float
    f_p_value: float


class BradleyTerry(NamedTuple):
    """Log-abilities of the systems relative to a reference, with standard errors."""

    ability: Floats
    se: Floats


def friedman(scores: ArrayLike, *, tie_correction: bool = True) -> Friedman:
    """Test whether several systems rank equally over tasks (or examples).

    Args:
        scores: Array (tasks, systems), higher is better; two tasks and three systems or more.
        tie_correction: Correct the statistic for ties within a task.

    Raises:
        EvalToolkitError: The table is too small or holds a missing score.

    Source:
        Friedman, The use of ranks, 1937; Iman and Davenport, 1980; Demšar, Statistical
        comparisons of classifiers over multiple data sets, 2006.

    Example:
        >>> friedman([[1, 2, 3], [1, 3, 2], [1, 2, 3]]).ranks.round(2)
        array([3.  , 1.67, 1.33])
    """
    from scipy import special, stats

    table = _table(scores, least_columns=3)
    n, k = table.shape
    ranks = stats.rankdata(-np.apply_along_axis(merge_near, 1, table), axis=1)
    spread = n * k * (k + 1) / 12
    if tie_correction:
        spread = float(np.sum((ranks - (k + 1) / 2) ** 2)) / (k - 1)
    means: Floats = ranks.mean(axis=0)
    statistic = n**2 * float(np.sum((means - (k + 1) / 2) ** 2)) / spread if spread else 0.0
    rest = n * (k - 1) - statistic
    f_statistic = (n - 1) * statistic / rest if rest > 0 else math.inf
    return Friedman(
        means,
        statistic,
        float(special.chdtrc(k - 1, statistic)),
        f_statistic,
        float(special.fdtrc(k - 1, (k - 1) * (n - 1), f_statistic)),
    )


def nemenyi_difference(systems: int, tasks: int, *, alpha: float = 0.05) -> float:
    """Return the difference of mean ranks that is significant between any two systems.

    Args:
        systems: Number of systems, at least 2.
        tasks: Number of tasks over which ranks were averaged.
        alpha: Family-wise error rate, between 0 and 1.

    Source:
        Nemenyi, Distribution-free multiple comparisons, 1963; Demšar, 2006.

    Example:
        >>> round(nemenyi_difference(4, 14), 2)
        1.25
    """
    from scipy import stats

    whole(systems, name="systems", least=2)
    whole(tasks, name="tasks", least=1)
    tail = fraction(alpha, name="alpha")
    quantile = float(stats.studentized_range.ppf(1 - tail, systems, math.inf)) / math.sqrt(2)
    return quantile * math.sqrt(systems * (systems + 1) / (6 * tasks))


def cochran_q(passed: ArrayLike) -> Significance:
    """Test whether several systems pass equally many examples.

    Args:
        passed: Array (examples, systems) of 0 and 1.

    Returns:
        Chi-square statistic and p-value; 0 and 1 where no example tells systems apart.

    Raises:
        EvalToolkitError: The table is too small or holds a missing score.

    Source:
        Cochran, The comparison of percentages in matched samples, 1950.

    Example:
        >>> round(cochran_q([[1, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]]).p_value, 4)
        0.097
    """
    table = _table(passed, least_columns=2)
    told_apart = table[np.ptp(table, axis=1) > 0]
    if not told_apart.size:
        return Significance(0.0, 1.0)
    from statsmodels.stats import contingency_tables

    test = contingency_tables.cochrans_q(told_apart)
    return Significance(float(test.statistic), float(test.pvalue))


def bradley_terry(wins: ArrayLike, *, reference: int = 0) -> BradleyTerry:
    """Fit Bradley-Terry abilities to counts of pairwise wins.

    Args:
        wins: Square array: how often the row's system beat the column's; the diagonal is
            ignored, ties count half a win for each.
        reference: Index of the system whose ability is 0.

    Returns:
        Log-abilities (a difference of 1 means odds of e to 1) and standard errors of their
        distance from the reference.

    Raises:
        EvalToolkitError: The table is not square, or some systems never lose to the others,
            so that no finite abilities fit (code ``separated``).

    Source:
        Bradley and Terry, Rank analysis of incomplete block designs, 1952; Ford, 1957.

    Example:
        >>> bradley_terry([[0, 3], [1, 0]]).ability.round(4)
        array([ 0.    , -1.0986])
    """
    counts = _win_table(wins)
    free = np.flatnonzero(np.arange(len(counts)) != reference)
    ability = np.zeros(len(counts))
    for _ in range(100):
        gradient, information = _slope_and_information(counts, ability)
        solved = np.linalg.solve(information[np.ix_(free, free)], gradient[free])
        step = np.asarray(solved, dtype=np.float64)
        ability[free] += np.clip(step, -1, 1)
        if np.max(np.abs(step)) < 1e-12:
            break
    _, information = _slope_and_information(counts, ability)
    se = np.zeros(len(counts))
    se[free] = np.sqrt(np.diag(np.linalg.inv(information[np.ix_(free, free)])))
    return BradleyTerry(ability, se)


def _slope_and_information(counts: Floats, ability: Floats) -> tuple[Floats, Floats]:
    """Return the gradient of the log-likelihood and the Fisher information."""
    games = counts + counts.T
    chance = 1 / (1 + np.exp(ability[None, :] - ability[:, None]))
    weights = games * chance * (1 - chance)
    slope: Floats = np.sum(counts - games * chance, axis=1)
    return slope, np.diag(weights.sum(axis=1)) - weights


def _win_table(wins: ArrayLike) -> Floats:
    counts = np.array(wins, dtype=np.float64)
    square = counts.ndim == 2 and counts.shape[0] == counts.shape[1] and len(counts) > 1
    if not square or not np.all(counts >= 0):
        raise EvalToolkitError(
            f"wins has shape {counts.shape}; a square table of non-negative counts is needed",
            code="bad_shape",
            path="wins",
            value=counts.shape,
        )
    np.fill_diagonal(counts, 0.0)
    from scipy.sparse import csgraph

    groups, labels = csgraph.connected_components(counts > 0, connection="strong")
    if groups > 1:
        raise EvalToolkitError(
            f"the systems fall into {groups} groups ({labels.tolist()}) of which one never "
            "beats another, so their distance is infinite; drop systems or add comparisons",
            code="separated",
            path="wins",
            value=labels.tolist(),
        )
    return counts


def _table(scores: ArrayLike, *, least_columns: int) -> Floats:
    table = np.asarray(scores, dtype=np.float64)
    wide = table.ndim == 2 and table.shape[0] >= 2 and table.shape[1] >= least_columns
    if not wide or not np.isfinite(table).all():
        raise EvalToolkitError(
            f"scores has shape {table.shape}; at least 2 rows and {least_columns} columns of "
            "finite scores are needed",
            code="bad_shape" if not wide else "not_finite",
            path="scores",
            value=table.shape,
        )
    return table
