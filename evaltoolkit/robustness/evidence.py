"""Anytime-valid evidence along a sequence of pairs: arrays in, one value per pair out."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaltoolkit import stats

Floats = NDArray[np.float64]

MAX_POINTS = 200
"""A hypothesis has at most this many rows in the table."""


@dataclass(frozen=True)
class Path:
    """Evidence after each of n units.

    Attributes:
        delta: Mean difference so far.
        wins: Units so far in which the candidate is better.
        losses: Units so far in which it is worse.
        e_value: Bet against equal chances of wins and losses; NaN where it does not apply.
        p_anytime: One over the largest e-value so far, at most 1.
        low: Lower end of the confidence sequence; NaN where it does not apply.
        high: Upper end.
    """

    delta: Floats
    wins: NDArray[np.int64]
    losses: NDArray[np.int64]
    e_value: Floats
    p_anytime: Floats
    low: Floats
    high: Floats

    @property
    def n(self) -> int:
        """Number of units."""
        return int(self.delta.size)


@dataclass(frozen=True)
class Bets:
    """How the evidence is gathered, fixed before the first pair.

    Attributes:
        alpha: Level of one hypothesis.
        prior: Both parameters of the Beta mixture of bets.
        tuning: Where the confidence sequence is tightest, in units.
    """

    alpha: float
    prior: float
    tuning: float


def follow(values: Floats, better: Floats, bets: Bets, *, binary: bool, span: float) -> Path:
    """Follow the evidence along differences in the order in which they arrived.

    Args:
        values: Differences candidate - baseline.
        better: The same with a positive sign where the candidate is better.
        bets: How the evidence is gathered.
        binary: Whether differences are of single 0/1 outcomes, so that bets on signs are about
            the mean.
        span: Upper minus lower bound of the scores; NaN where it is not known.
    """
    n = np.arange(1, values.size + 1)
    wins = np.cumsum(better > 0, dtype=np.int64)
    losses = np.cumsum(better < 0, dtype=np.int64)
    delta = np.cumsum(values) / n
    nothing = np.full(values.size, math.nan)
    e_value = _e_values(better, wins, losses, bets.prior) if binary else nothing
    half = _half_widths(values.size, span, bets) if span > 0 else nothing
    p = np.minimum(1.0, 1 / np.maximum.accumulate(e_value)) if values.size else nothing
    # A mean of differences cannot leave the span, whatever the half width.
    low, high = np.maximum(delta - half, -span), np.minimum(delta + half, span)
    return Path(delta, wins, losses, e_value, p, low, high)


def _e_values(
    better: Floats, wins: NDArray[np.int64], losses: NDArray[np.int64], prior: float
) -> Floats:
    """Bet at each pair that differs; ties leave the wealth as it is."""
    values = np.ones(better.size)
    moved = np.flatnonzero(better)
    if not moved.size:
        return values
    bets = [
        stats.discordant_e_value(int(wins[i]), int(losses[i]), prior=prior).e_value for i in moved
    ]
    wealth = np.array([1.0, *bets])
    return wealth[np.searchsorted(moved, np.arange(better.size), side="right")]


def _half_widths(n: int, span: float, bets: Bets) -> Floats:
    """Half widths for differences within [-span, span], whose variance proxy is span squared."""
    variance = span**2
    tuning = bets.tuning * variance
    return np.array(
        [
            stats.confidence_sequence_half_width(
                k, variance=variance, tuning=tuning, alpha=bets.alpha
            )
            for k in range(1, n + 1)
        ]
    )


def decision(path: Path, *, alpha: float, by_e_value: bool) -> int | None:
    """Return after how many units the evidence first decides, or None."""
    if by_e_value:
        decided = path.e_value >= (1 / alpha) * (1 - 1e-12)
    else:
        decided = (path.low > 0) | (path.high < 0)
    found = np.flatnonzero(decided)
    return int(found[0]) + 1 if found.size else None


def shown_points(n: int, decided_at: int | None) -> NDArray[np.int64]:
    """Choose at most `MAX_POINTS` numbers of units, the last and the decision among them.

    Example:
        >>> shown_points(3, None), shown_points(1000, 777).size
        (array([1, 2, 3]), 200)
    """
    if n <= MAX_POINTS:
        return np.arange(1, n + 1)
    kept = [] if decided_at is None else [decided_at]
    spread = np.rint(np.linspace(1, n, MAX_POINTS - len(kept)))
    return np.unique(np.append(spread, kept).astype(np.int64))
