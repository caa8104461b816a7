"""How far mean ranks lie apart, and how often chance alone would spread them as far."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from evaltoolkit.stats.checks import finite_vector, whole


def largest_rank_gap(ranks: ArrayLike) -> float:
    """Return the difference between the largest and the smallest mean rank.

    Example:
        >>> largest_rank_gap([1.5, 3.0, 1.5])
        1.5
    """
    return float(np.ptp(finite_vector(ranks, name="ranks")))


def nemenyi_p(gap: float, systems: int, tasks: int) -> float:
    """Return Nemenyi's p-value of a difference of mean ranks, adjusted for all pairs.

    It is the level at which `evaltoolkit.stats.nemenyi_difference` equals the gap.

    Args:
        gap: Difference of the mean ranks of two systems.
        systems: Number of systems, at least 2.
        tasks: Number of tasks or examples over which ranks were averaged.

    Source:
        Nemenyi, Distribution-free multiple comparisons, 1963; Demšar, Statistical comparisons
        of classifiers over multiple data sets, 2006.

    Example:
        >>> from evaltoolkit.stats import nemenyi_difference
        >>> round(nemenyi_p(nemenyi_difference(4, 14, alpha=0.05), 4, 14), 6)
        0.05
    """
    from scipy import stats

    whole(systems, name="systems", least=2)
    whole(tasks, name="tasks", least=1)
    scaled = abs(gap) * math.sqrt(12 * tasks / (systems * (systems + 1)))
    return float(min(1.0, stats.studentized_range.sf(scaled, systems, math.inf)))
