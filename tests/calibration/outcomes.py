"""What a method did on each data set: covered the truth or not, rejected or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evaltoolkit import stats

Floats = NDArray[np.float64]

ALPHA = 0.05

FLIPS = 999
"""Random flips per data set; `compare` takes 10,000, which only lessens the noise."""


class Ends(Protocol):
    """Anything with two ends."""

    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


def by_table(statistic: Callable[..., float], *counts: NDArray[np.intp]) -> Floats:
    """Apply a function of counts to every data set, but only once per distinct table."""
    tables, index = np.unique(np.stack(counts, axis=-1), axis=0, return_inverse=True)
    values = [statistic(*(int(count) for count in row)) for row in tables]
    return np.array(values, dtype=np.float64)[index.ravel()]


def covers(interval: Ends, truth: float) -> bool:
    """Say whether an interval holds the truth; one that does not exist (NaN) holds nothing."""
    return interval.low <= truth <= interval.high


def width(interval: Ends) -> float:
    """Return the length of an interval."""
    return interval.high - interval.low


def rejects(p_values: Iterable[float]) -> Floats:
    """Return 1 where a p-value is at most alpha, else 0."""
    return (np.fromiter(p_values, dtype=np.float64) <= ALPHA).astype(np.float64)


def covered(intervals: Iterable[Ends], truth: float) -> Floats:
    """Return 1 where an interval holds the truth, else 0."""
    return np.fromiter((covers(interval, truth) for interval in intervals), dtype=np.float64)


def discordant(passed: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Count wins and losses of 0/1 scores (data sets, 2, examples)."""
    delta = passed[:, 1] - passed[:, 0]
    return np.sum(delta > 0, axis=1), np.sum(delta < 0, axis=1)


def flip_p_values(d: Floats) -> Floats:
    """Return the sign-flip mid-p value of every criterion of one data set (examples, m)."""
    return np.array([stats.sign_flip(column, draws=FLIPS).p_value for column in d.T])


def all_covered(d: Floats, truth: Floats, *, level: float) -> bool:
    """Say whether the t intervals of all criteria, each at that level, hold their truths."""
    return all(
        covers(stats.paired_t(column, level=level), float(value))
        for column, value in zip(d.T, truth, strict=True)
    )


def false_share(rejected: NDArray[np.bool_], true_effect: NDArray[np.bool_]) -> float:
    """Return the share of false ones among the rejected hypotheses; 0 without any."""
    false = np.count_nonzero(rejected & ~true_effect)
    return false / max(np.count_nonzero(rejected), 1)
