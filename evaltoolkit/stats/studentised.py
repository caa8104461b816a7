"""Studentised means of several criteria under sign flips of shared units.

A unit is an example or a whole cluster. With u the sum of a unit's differences and n its number
of items, the CR2 variance is a quadratic form in two linear ones, ``S = sum(s*u)`` and
``R = sum(s*w*n*u)``; so each flip costs two sums and no new pass over the data. Without
clusters R is a multiple of S.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evaltoolkit.stats.clusters import satterthwaite_df
from evaltoolkit.stats.signs import all_sums, random_sums
from evaltoolkit.stats.types import Floats

_ROUNDING = 1e-9
_NO_SPREAD = 1e-10


class Studentised:
    """Means of m criteria over shared units, and their t statistics under sign flips.

    Args:
        sums: Array (units, m): sum of the differences of each unit, 0 where it has none.
        sizes: Array (units, m): number of items behind each sum. Every criterion needs two
            units or more.

    Example:
        >>> d = np.array([[1.0], [2.0], [4.0]])
        >>> Studentised(d, np.ones((3, 1))).observed().round(3)
        array([2.646])
    """

    def __init__(self, sums: Floats, sizes: Floats) -> None:
        self.sums = sums
        self.sizes = sizes
        self.moves = np.any(sums != 0, axis=1)
        self._n = sizes.sum(axis=0)
        self._single = bool(np.all(sizes <= 1))
        weights = 1 / (1 - sizes / self._n)
        self._square = np.sum(weights * sums**2, axis=0)
        self._size_square = np.sum(weights * sizes**2, axis=0)
        self._total = np.abs(sums).sum(axis=0)
        self._forms = sums if self._single else np.hstack([sums, weights * sizes * sums])

    @property
    def df(self) -> Floats:
        """Degrees of freedom of each criterion: n - 1, or Satterthwaite's with clusters."""
        if self._single:
            fewer: Floats = self._n - 1
            return fewer
        return np.array([satterthwaite_df(column[column > 0]) for column in self.sizes.T])

    def observed(self) -> Floats:
        """Return the observed |t| of each criterion; infinity where all units agree."""
        return np.abs(self.signed())

    def signed(self) -> Floats:
        """Return the observed t of each criterion with its sign."""
        sums = self._forms.sum(axis=0)[None, :]
        signed: Floats = np.copysign(self._absolute_t(sums)[0], self.sums.sum(axis=0))
        return signed

    def all_flips(self) -> Iterator[Floats]:
        """Yield |t| (patterns, m) for all sign patterns, one of each mirror pair."""
        return map(self._absolute_t, all_sums(self._forms[self.moves]))

    def random_flips(self, draws: int, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield |t| (flips, m) for `draws` random sign patterns."""
        return map(self._absolute_t, random_sums(self._forms[self.moves], draws, rng))

    def _absolute_t(self, forms: Floats) -> Floats:
        m = self._n.size
        total = np.abs(forms[:, :m])
        total[total <= _ROUNDING * self._total] = 0.0
        mean = total / self._n
        if self._single:
            variance = self._square - mean * total * (self._n / (self._n - 1))
        else:
            variance = self._square + mean**2 * self._size_square
            variance -= 2 * mean * forms[:, m:] * np.sign(forms[:, :m])
        unanimous = variance <= _NO_SPREAD * self._square
        variance[unanimous] = 1.0
        t: Floats = total / np.sqrt(variance)
        t[unanimous & (total > 0)] = np.inf
        return t
