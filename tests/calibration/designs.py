"""Simulated evaluations whose true difference is known exactly, many data sets at a time."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Floats = NDArray[np.float64]

Shares = tuple[float, ...]

TOP_HEAVY: Shares = (0.04, 0.06, 0.10, 0.25, 0.55)
"""Shares of the ratings 1 to 5 as judges give them. An improvement meets the ceiling, so the
differences of two unlike systems are skewed."""

CENTRAL: Shares = (0.10, 0.20, 0.40, 0.20, 0.10)
"""Shares of the ratings 1 to 5 in the middle of the scale: differences are hardly skewed."""

PAIR_CORRELATION = 0.77
"""Latent correlation of the two systems on one example; about 60 % of the ratings then tie."""


def correlated(
    rng: np.random.Generator, shape: tuple[int, ...], m: int, correlation: float
) -> Floats:
    """Draw standard normal numbers (*shape, m) with equal correlation along the last axis."""
    shared, own = rng.normal(size=(*shape, 1)), rng.normal(size=(*shape, m))
    return math.sqrt(correlation) * shared + math.sqrt(1 - correlation) * own


def latent_pairs(
    rng: np.random.Generator,
    size: int,
    n: int,
    *,
    m: int = 1,
    pair: float = PAIR_CORRELATION,
    criteria: float = 0.0,
) -> Floats:
    """Draw latent qualities (data sets, 2 systems, n examples, m criteria), a Gaussian copula.

    Args:
        rng: Source of the draws.
        size: Number of data sets.
        n: Examples in each.
        m: Criteria.
        pair: Correlation of the two systems on one example and criterion.
        criteria: Correlation of two criteria of one system on one example.
    """
    example = correlated(rng, (size, 1, n), m, criteria)
    own = correlated(rng, (size, 2, n), m, criteria)
    return math.sqrt(pair) * example + math.sqrt(1 - pair) * own


def clustered_latents(
    rng: np.random.Generator, size: int, sizes: NDArray[np.intp], *, icc: float
) -> Floats:
    """Draw latent qualities (data sets, 2, items) that clusters shift, each system by itself."""
    codes = np.repeat(np.arange(sizes.size), sizes)
    cluster = rng.normal(size=(size, 2, sizes.size))[:, :, codes]
    item = latent_pairs(rng, size, codes.size)[..., 0]
    return math.sqrt(icc) * cluster + math.sqrt(1 - icc) * item


def unequal_sizes(n: int, groups: int) -> NDArray[np.intp]:
    """Share n items among clusters in proportion to the quantiles of an exponential law."""
    raw = -np.log1p(-(np.arange(groups) + 0.5) / groups)
    edges = np.rint(np.cumsum(raw) / raw.sum() * (n - groups))
    return 1 + np.diff(edges, prepend=0.0).astype(np.intp)


def passes(latent: Floats, rate: ArrayLike) -> Floats:
    """Turn latent qualities into 0/1 scores with the given pass rate."""
    return (latent < special.ndtri(rate)).astype(np.float64)


def ratings(latent: Floats, shift: ArrayLike = 0.0, *, shares: Shares = TOP_HEAVY) -> Floats:
    """Turn latent qualities into ratings from 1 to 5; `shift` moves the latent mean."""
    moved = latent + np.asarray(shift, dtype=np.float64)
    return 1.0 + np.sum(moved[..., None] > _cuts(shares), axis=-1)


def rating_difference(shift: ArrayLike, *, shares: Shares = TOP_HEAVY) -> Floats:
    """Return the exact mean difference of ratings that a latent shift makes."""
    moved, cuts = np.asarray(shift, dtype=np.float64)[..., None], _cuts(shares)
    return np.sum(special.ndtr(moved - cuts) - special.ndtr(-cuts), axis=-1)


def rating_deltas(latent: Floats, shift: ArrayLike = 0.0, *, shares: Shares = TOP_HEAVY) -> Floats:
    """Return rating differences, the second system having the shift; axis 1 are the systems."""
    return ratings(latent[:, 1], shift, shares=shares) - ratings(latent[:, 0], shares=shares)


def trial_means(
    rng: np.random.Generator, size: int, n: int, *, trials: int, unlike: float
) -> Floats:
    """Draw differences (data sets, n) of pass rates over repeated trials, true mean 0.

    Args:
        rng: Source of the draws.
        size: Number of data sets.
        n: Examples in each.
        trials: Trials of each example by each system.
        unlike: Share of the examples on which the systems' chances are independent.
    """
    chances = rng.beta(4, 1, size=(size, 2, n))
    alike = rng.random((size, n)) >= unlike
    chances[:, 1][alike] = chances[:, 0][alike]
    means = rng.binomial(trials, chances) / trials
    return means[:, 1] - means[:, 0]


def rare_losses(rng: np.random.Generator, size: int, n: int) -> Floats:
    """Draw rating differences that are mostly 0, sometimes small wins, rarely large losses."""
    return rng.choice([0.0, 1.0, 2.0, -4.0], p=[0.90, 0.05, 0.02, 0.03], size=(size, n))


RARE_LOSSES_MEAN = 0.05 + 2 * 0.02 - 4 * 0.03


def _cuts(shares: Shares) -> Floats:
    return special.ndtri(np.cumsum(shares)[:-1])
