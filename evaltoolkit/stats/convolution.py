"""The exact distribution of a sum of whole numbers, each taken or left with probability 1/2.

This is the distribution behind every sign-flip test on a lattice. Only positive numbers are
added, so that even a tail of 2**-1000 keeps its relative precision; a Fourier transform would
lose everything below 1e-16.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from evaltoolkit.stats.types import Floats

Wholes = NDArray[np.int64]


def cost(multiples: Wholes) -> int:
    """Return the number of additions that `sum_distribution` needs.

    Example:
        >>> cost(np.array([1, 1, 1, 2]))
        8
    """
    sizes, counts = _groups(multiples)
    lengths = np.cumsum(sizes * counts) + 1
    return int(lengths[-1] if sizes.size == 1 else (counts[1:] + 1) @ lengths[:-1])


def sum_distribution(multiples: Wholes) -> Floats:
    """Return the probability of each possible sum 0, 1, ..., all of them.

    Args:
        multiples: Positive whole numbers, at least one.

    Returns:
        Array of length ``sum(multiples) + 1``. Up to 52 numbers the probabilities are exact.

    Example:
        >>> sum_distribution(np.array([1, 2]))
        array([0.25, 0.25, 0.25, 0.25])
    """
    result = np.ones(1)
    for size, count in zip(*_groups(multiples), strict=True):
        result = _with_group(result, int(size), int(count))
    return result


def _groups(multiples: Wholes) -> tuple[Wholes, Wholes]:
    """Return distinct numbers and how often they occur, the most frequent first (cheapest)."""
    sizes, counts = np.unique(multiples, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return sizes[order].astype(np.int64), counts[order].astype(np.int64)


def _with_group(distribution: Floats, size: int, count: int) -> Floats:
    """Add `count` numbers of the same size: together they are `size` times a binomial."""
    weights = _binomial(count)
    if distribution.size == 1:
        only = np.zeros(size * count + 1)
        only[::size] = weights
        return only
    wider = np.zeros(distribution.size + size * count)
    for taken in np.flatnonzero(weights):
        start = int(taken) * size
        wider[start : start + distribution.size] += weights[taken] * distribution
    return wider


def _binomial(count: int) -> Floats:
    if count <= 60:
        return np.array([math.comb(count, k) / 2**count for k in range(count + 1)])
    from scipy import special

    k = np.arange(count + 1)
    log_ways = special.gammaln(count + 1) - special.gammaln(k + 1) - special.gammaln(count - k + 1)
    weights: Floats = np.exp(log_ways - count * math.log(2))
    return weights
