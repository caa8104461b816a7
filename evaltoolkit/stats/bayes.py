"""Bayesian answers for paired pass/fail scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evaltoolkit.stats.checks import fraction, whole
from evaltoolkit.stats.types import Interval


class WinShare(NamedTuple):
    """What is believed about the candidate's share of wins among discordant examples.

    Attributes:
        probability: Posterior probability that the share is above one half.
        low: Lower end of the equal-tailed credible interval of the share.
        high: Upper end.
    """

    probability: float
    low: float
    high: float


def win_share(wins: int, losses: int, *, prior: float = 1.0, level: float = 0.95) -> WinShare:
    """Return the posterior of the candidate's share of wins under a symmetric Beta prior.

    Args:
        wins: Examples that only the candidate passes.
        losses: Examples that only the baseline passes.
        prior: Both parameters of the Beta prior; 1 is uniform.
        level: Probability of the interval, between 0 and 1.

    Raises:
        EvalToolkitError: A count is negative or `level` is not between 0 and 1.

    Example:
        >>> [round(part, 4) for part in win_share(15, 5)]
        [0.9867, 0.5283, 0.8872]
    """
    from scipy import special

    a = whole(wins, name="wins") + prior
    b = whole(losses, name="losses") + prior
    tail = (1 - fraction(level, name="level")) / 2
    low, high = (float(special.betaincinv(a, b, p)) for p in (tail, 1 - tail))
    return WinShare(float(special.betaincc(a, b, 0.5)), low, high)


def dirichlet_interval(  # noqa: PLR0913
    both: int,
    wins: int,
    losses: int,
    neither: int,
    *,
    prior: float = 1.0,
    level: float = 0.95,
    draws: int = 100_000,
    seed: int = 0,
) -> Interval:
    """Return the Bayesian credible interval with a Dirichlet prior on the four cells.

    Args:
        both: Examples that both systems pass.
        wins: Examples that only the candidate passes.
        losses: Examples that only the baseline passes.
        neither: Examples that both systems fail.
        prior: Weight of the prior in each cell; 1 is uniform.
        level: Probability of the interval, between 0 and 1.
        draws: Posterior draws.
        seed: Seed of the draws.

    Returns:
        Equal-tailed interval for the difference; wide, not undefined, without examples.

    Raises:
        EvalToolkitError: A count is negative or `level` is not between 0 and 1.

    Example:
        >>> interval = dirichlet_interval(1, 7, 1, 12)
        >>> round(interval.low, 2), round(interval.high, 2)
        (0.01, 0.47)
    """
    agreed = whole(both, name="both") + whole(neither, name="neither")
    whole(wins, name="wins")
    whole(losses, name="losses")
    tail = (1 - fraction(level, name="level")) / 2
    weights = np.array([wins, losses, agreed]) + prior * np.array([1, 1, 2])
    cells = np.random.default_rng(seed).dirichlet(weights, size=draws)
    low, high = np.quantile(cells[:, 0] - cells[:, 1], [tail, 1 - tail])
    return Interval(float(low), float(high))
