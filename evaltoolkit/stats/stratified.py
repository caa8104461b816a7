"""Weighted means over strata: one difference over several tasks, each with a weight of its own.

The estimate is ``sum(w_t * mean_t)`` with weights that add up to 1: a sum over independent
clusters (single items where there are none), also where a cluster has items in several strata.
Its variance is the CR2 one: with n_t items in stratum t, n_gt of them in cluster g and residuals e
from the mean of the stratum, cluster g adds the square of
``sum_t(w_t / n_t * sum_gt(e) / sqrt(1 - n_gt / n_t))``. With one stratum that is `cluster_mean`,
without clusters the usual stratified t.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaltoolkit.errors import EvalToolkitError, listed
from evaltoolkit.stats.checks import cluster_codes, finite_vector
from evaltoolkit.stats.differences import is_constant
from evaltoolkit.stats.paired import mean_estimate
from evaltoolkit.stats.types import Floats, MeanEstimate


class Stratum(NamedTuple):
    """What one stratum adds to a weighted mean.

    Attributes:
        name: Its id.
        weight: Its share of all weight.
        n: Number of its items.
        n_clusters: Number of clusters that have an item here.
        mean: Mean of its items.
        variance: Its own part of the variance of the weighted mean; NaN with one cluster.
    """

    name: Hashable
    weight: float
    n: int
    n_clusters: int
    mean: float
    variance: float


class StratifiedMean(NamedTuple):
    """A weighted mean over strata.

    Attributes:
        estimate: The weighted mean with its uncertainty; `n_units` is the number of clusters.
        strata: Its parts, in order of first appearance.
        n_spanning: Number of clusters with items in more than one stratum.
    """

    estimate: MeanEstimate
    strata: tuple[Stratum, ...]
    n_spanning: int


def stratified_mean(
    d: ArrayLike,
    strata: Iterable[Hashable],
    *,
    weights: Mapping[Hashable, float] | None = None,
    clusters: Iterable[Hashable] | None = None,
    level: float = 0.95,
) -> StratifiedMean:
    """Estimate a weighted mean of the means of strata.

    Args:
        d: Differences, one per item.
        strata: The stratum (task) of each item.
        weights: Weight of each stratum, in any unit; equal when not given.
        clusters: The cluster of each item; each item is one of its own when not given.
        level: Confidence level between 0 and 1.

    Returns:
        The estimate, with the degrees of freedom that match the first two moments of its
        variance, each stratum counting with its own spread (Welch and Satterthwaite's where no
        cluster spans strata). Interval and p-value are NaN where a stratum has a single cluster,
        so that nothing tells how much it varies, or where no stratum has any spread.

    Raises:
        EvalToolkitError: A difference is not finite, an id is missing, a stratum has no weight
            (code ``bad_weight``) or a weight is not positive and finite.

    Source:
        Cochran, Sampling techniques, 1977, chapter 5; Bell and McCaffrey, Bias reduction in
        standard errors for linear regression with multi-stage samples, 2002.

    Example:
        >>> pooled = stratified_mean([1, 0, 1, 1, 0, -1], ["a", "a", "a", "a", "b", "b"])
        >>> pooled.estimate.mean, round(pooled.estimate.se, 4), round(pooled.estimate.df, 2)
        (0.125, 0.2795, 1.53)
    """
    values = finite_vector(d)
    names = list(strata)
    codes = cluster_codes(names, values.size)
    keys = list(dict.fromkeys(names))
    own = range(values.size) if clusters is None else clusters
    groups = cluster_codes(own, values.size)
    shares = _shares(keys, weights)
    if not values.size:
        return StratifiedMean(mean_estimate(*[math.nan] * 3, level=level, n=0, n_units=0), (), 0)
    pieces = _Pieces(values, codes, groups, shares)
    estimate = mean_estimate(
        float(shares @ pieces.means),
        pieces.se,
        pieces.df,
        level=level,
        n=values.size,
        n_units=int(groups.max()) + 1,
    )
    parts = tuple(
        Stratum(key, *numbers)
        for key, *numbers in zip(
            keys,
            shares.tolist(),
            pieces.sizes.astype(int).tolist(),
            pieces.clusters.tolist(),
            pieces.means.tolist(),
            pieces.variances.tolist(),
            strict=True,
        )
    )
    return StratifiedMean(estimate, parts, pieces.spanning)


def _shares(keys: list[Hashable], weights: Mapping[Hashable, float] | None) -> Floats:
    if weights is None:
        return np.full(len(keys), 1 / max(len(keys), 1))
    absent = [key for key in keys if key not in weights]
    given = [float(weights[key]) for key in keys if key in weights]
    bad = [weight for weight in given if not (weight > 0 and math.isfinite(weight))]
    if absent or bad:
        raise EvalToolkitError(
            f"weights lacks the strata {listed(absent)}; give each a positive number, or leave "
            "their items out"
            if absent
            else f"weights has {listed(bad)}; a weight must be a positive number, and a stratum "
            "that shall not count must be left out",
            code="bad_weight",
            path="weights",
            value=absent or bad,
        )
    shares = np.array(given)
    # Scaled first, since a sum of very large weights would overflow.
    shares /= shares.max(initial=1.0)
    return np.asarray(shares / shares.sum(), dtype=np.float64)


class _Pieces:
    """The parts of a weighted mean by cell: the items of one cluster in one stratum."""

    def __init__(
        self,
        values: Floats,
        codes: NDArray[np.intp],
        groups: NDArray[np.intp],
        shares: Floats,
    ) -> None:
        self.sizes = np.bincount(codes).astype(np.float64)
        self.means = np.bincount(codes, weights=values) / self.sizes
        strata = self.sizes.size
        cells, owner = np.unique(groups * strata + codes, return_inverse=True)
        self._stratum, self._group = cells % strata, cells // strata
        self._n = np.bincount(owner).astype(np.float64)
        self.clusters = np.bincount(self._stratum, minlength=strata)
        self.spanning = int(np.sum(np.bincount(self._group) > 1))
        sums = np.bincount(owner, weights=_residuals(values, codes, self.means))
        noise = 1e-9 * np.bincount(owner, weights=np.abs(values))
        sums[np.abs(sums) <= noise] = 0.0
        self._factor = self._factors(shares)
        self._scores = self._factor * sums
        self.variances = np.bincount(self._stratum, weights=self._scores**2, minlength=strata)
        self._alone = self.clusters < 2
        self.variances[self._alone] = math.nan

    def _factors(self, shares: Floats) -> Floats:
        size = self.sizes[self._stratum]
        left = 1 - self._n / size
        adjust = np.zeros_like(left)
        np.divide(1.0, np.sqrt(left), out=adjust, where=left > 0)
        return np.asarray(shares[self._stratum] / size * adjust, dtype=np.float64)

    @property
    def se(self) -> float:
        """Standard error of the weighted mean."""
        if self._alone.any():
            return math.nan
        by_cluster = np.bincount(self._group, weights=self._scores)
        return math.sqrt(float(by_cluster @ by_cluster))

    @property
    def df(self) -> float:
        """Degrees of freedom: twice the squared mean of the variance over its variance.

        The variance is a quadratic form in the items, taken as independent with the variance
        that each stratum shows. Its matrix over clusters is a diagonal less one product of
        vectors per stratum, so both moments are sums over cells.
        """
        if self._alone.any():
            return math.nan
        strata = self.sizes.size
        mass = self._factor * self._n
        square = self._factor**2 * self._n
        expected = np.bincount(self._stratum, weights=square - mass**2 / self.sizes[self._stratum])
        scale = self.variances / expected
        self_part = np.bincount(self._group, weights=scale[self._stratum] * square)
        shared = scale[self._stratum] * mass**2 / self.sizes[self._stratum]
        shared_part = np.bincount(self._group, weights=shared)
        table = np.zeros((self_part.size, strata))
        table[self._group, self._stratum] = mass
        cross = table.T @ table
        outer = scale / self.sizes
        second = self_part @ self_part - 2 * self_part @ shared_part
        second += outer @ cross**2 @ outer
        first = float(scale @ expected)
        return first**2 / float(second) if second > 0 else math.nan


def _residuals(values: Floats, codes: NDArray[np.intp], means: Floats) -> Floats:
    residuals = values - means[codes]
    for code in range(means.size):
        here = codes == code
        if is_constant(values[here]):
            residuals[here] = 0.0
    return residuals
