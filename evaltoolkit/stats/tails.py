"""Tails and quantiles of the t and normal distributions, exact far out in the tails."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from evaltoolkit.stats.types import Floats


def normal_quantile(probability: float) -> float:
    """Return the quantile of the standard normal distribution.

    Example:
        >>> round(normal_quantile(0.975), 4)
        1.96
    """
    from scipy import special

    return float(special.ndtri(probability))


def normal_tail(statistic: float) -> float:
    """Return the probability above `statistic` under the standard normal distribution.

    Example:
        >>> round(normal_tail(1.96), 4)
        0.025
    """
    from scipy import special

    return float(special.ndtr(-statistic))


def t_tail(statistic: float, df: float) -> float:
    """Return the probability above `statistic` under t with `df` degrees of freedom.

    Example:
        >>> round(t_tail(2.262, 9), 4)
        0.025
    """
    from scipy import special

    if math.isinf(df):
        return normal_tail(statistic)
    return float(special.stdtr(df, -statistic))


def t_quantile(probability: float, df: float) -> float:
    """Return the quantile of t with `df` degrees of freedom (fractions and infinity allowed).

    Example:
        >>> round(t_quantile(0.975, 9), 3)
        2.262
    """
    from scipy import special

    if math.isinf(df):
        return normal_quantile(probability)
    return float(special.stdtrit(df, probability))


def normal_scores(t: ArrayLike, df: ArrayLike) -> Floats:
    """Map |t| to the normal deviate of the same tail probability.

    Criteria with different degrees of freedom become comparable this way. The upper tail is
    used throughout, so that large values keep their precision.

    Args:
        t: Statistics of any shape; only their size counts. Infinity stays infinity.
        df: Degrees of freedom, broadcast against `t`.

    Example:
        >>> normal_scores([0.0, 2.262, np.inf], 9).round(2)
        array([0.  , 1.96,  inf])
    """
    from scipy import special

    tail = special.stdtr(np.asarray(df, dtype=np.float64), -np.abs(np.asarray(t, dtype=float)))
    scores: Floats = -special.ndtri(tail)
    return scores + 0.0


def standard_error_nodes(df: float) -> tuple[Floats, Floats]:
    """Return nodes and weights that average over the estimated relative to the true error.

    Args:
        df: Degrees of freedom of the estimated standard error, or infinity.

    Example:
        >>> nodes, weights = standard_error_nodes(9)
        >>> round(float(weights @ nodes**2), 3)
        1.0
    """
    if math.isinf(df):
        return np.ones(1), np.ones(1)
    from scipy import special

    nodes, weights = _legendre_nodes()
    ends = special.gammaincinv(df / 2, 1e-17), special.gammainccinv(df / 2, 1e-17)
    low, high = ((end * 2 / df) ** (1 / 6) for end in ends)
    # In the cube root of the ratio the density is smooth even with two degrees of freedom.
    root = low + (nodes + 1) / 2 * (high - low)
    scale = np.asarray(root**3, dtype=np.float64)
    log_density = df * np.log(scale) - df * scale**2 / 2 - np.log(root)
    density: Floats = weights * np.exp(log_density - log_density.max())
    return scale, density / density.sum()


@cache
def _legendre_nodes() -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(128)
