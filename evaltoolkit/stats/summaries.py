"""Robust summaries of one sample of scores."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from evaltoolkit.stats.checks import finite_vector, fraction, whole


def interquartile_mean(scores: ArrayLike) -> float:
    """Return the mean of the middle half of the scores.

    Args:
        scores: Scores; a quarter of them (rounded down) is cut off at either end.

    Returns:
        The mean; NaN without scores.

    Raises:
        EvalToolkitError: A score is not finite.

    Source:
        Agarwal et al., Deep reinforcement learning at the edge of the statistical precipice,
        2021.

    Example:
        >>> interquartile_mean([0, 1, 2, 9])
        1.5
    """
    ascending = np.sort(finite_vector(scores, name="scores"))
    cut = ascending.size // 4
    kept = ascending[cut : ascending.size - cut]
    return float(kept.mean()) if kept.size else math.nan


def ecdf_half_width(n: int, *, level: float = 0.95) -> float:
    """Return the half width of a band that holds the whole distribution function.

    Args:
        n: Number of scores.
        level: Probability that the band holds everywhere, between 0 and 1.

    Raises:
        EvalToolkitError: `n` is below 1 or `level` is not between 0 and 1.

    Source:
        Dvoretzky, Kiefer and Wolfowitz, 1956, with the constant of Massart, 1990.

    Example:
        >>> round(ecdf_half_width(100), 4)
        0.1358
    """
    whole(n, name="n", least=1)
    alpha = 1 - fraction(level, name="level")
    return math.sqrt(math.log(2 / alpha) / (2 * n))
