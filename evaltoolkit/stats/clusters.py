"""Means of items that come in clusters: conversations, repositories, passages.

Items are weighted equally; clusters change only the standard error and its degrees of
freedom. With the residual e = d - mean, the cluster sums u_g of e and the cluster sizes n_g,
the variance of the mean is ``sum(w_g * u_g**2) / n**2``, where the weight w_g depends on the
kind.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaltoolkit.stats.checks import choice, cluster_codes, finite_vector
from evaltoolkit.stats.differences import is_constant
from evaltoolkit.stats.paired import mean_estimate, paired_t
from evaltoolkit.stats.types import Floats, MeanEstimate

KINDS = ("CR0", "CR1", "CR2", "CR3")


class ClusterVariance(NamedTuple):
    """How alike the items of a cluster are.

    Attributes:
        n0: Typical cluster size, corrected for unequal sizes.
        between: Mean square between clusters.
        within: Mean square within clusters.
        icc: Intraclass correlation; may be negative.
    """

    n0: float
    between: float
    within: float
    icc: float


class DesignEffect(NamedTuple):
    """How much clustering inflates the variance of a mean.

    Attributes:
        kish: ``1 + (mean cluster size - 1) * icc``.
        observed: Cluster-robust (CR0) over naive squared standard error.
    """

    kish: float
    observed: float


def cluster_mean(
    d: ArrayLike, clusters: Iterable[Hashable], *, kind: str = "CR2", level: float = 0.95
) -> MeanEstimate:
    """Estimate a mean with a cluster-robust standard error.

    Args:
        d: Differences, one per item.
        clusters: The id of each item's cluster: text, numbers, any hashable.
        kind: ``CR2`` with Satterthwaite degrees of freedom (keeps its promise from few and
            unequal clusters on), or ``CR0``, ``CR1``, ``CR3`` with one less than the number
            of clusters.
        level: Confidence level between 0 and 1.

    Returns:
        The estimate; `n_units` is the number of clusters. Interval and p-value are NaN with
        fewer than two clusters or without spread between them.

    Raises:
        EvalToolkitError: A difference is not finite, an id is missing, `kind` is unknown.

    Source:
        Bell and McCaffrey, Bias reduction in standard errors for linear regression with
        multi-stage samples, 2002; Pustejovsky and Tipton, Small-sample methods for
        cluster-robust variance estimation, 2018.

    Example:
        >>> estimate = cluster_mean([0, 1, 1, 1, -1, 0], ["a", "a", "b", "b", "c", "c"])
        >>> round(estimate.se, 4), round(estimate.df, 2), estimate.n_units
        (0.441, 2.0, 3)
    """
    choice(kind, KINDS, name="kind")
    values = finite_vector(d)
    codes = cluster_codes(clusters, values.size)
    sizes = np.bincount(codes).astype(np.float64)
    if kind in ("CR1", "CR2") and sizes.size == values.size:
        return paired_t(values, level=level)
    mean = float(np.mean(values)) if values.size else math.nan
    se = _robust_se(values, codes, sizes, kind=kind)
    df = satterthwaite_df(sizes) if kind == "CR2" else float(max(sizes.size - 1, 0))
    return mean_estimate(mean, se, df, level=level, n=values.size, n_units=sizes.size)


def cluster_weights(sizes: Floats, *, kind: str = "CR2") -> Floats:
    """Return the weight of each cluster's squared residual sum.

    Args:
        sizes: Number of items in each of at least two clusters.
        kind: ``CR0``, ``CR1``, ``CR2`` or ``CR3``.

    Example:
        >>> cluster_weights(np.array([2.0, 2.0]))
        array([2., 2.])
    """
    share = sizes / sizes.sum()
    weights: Floats
    if kind == "CR2":
        weights = 1 / (1 - share)
    elif kind == "CR3":
        weights = (1 - share) ** -2.0
    else:
        weights = np.full(sizes.shape, sizes.size / (sizes.size - 1) if kind == "CR1" else 1.0)
    return weights


def _robust_se(values: Floats, codes: NDArray[np.intp], sizes: Floats, *, kind: str) -> float:
    if sizes.size < 2:
        return math.nan
    sums = np.bincount(codes, weights=values - values.mean())
    noise = 1e-9 * np.max(np.abs(values)) * sizes
    if is_constant(values) or bool(np.all(np.abs(sums) <= noise)):
        return 0.0
    return math.sqrt(float(cluster_weights(sizes, kind=kind) @ sums**2)) / values.size


def satterthwaite_df(sizes: ArrayLike) -> float:
    """Return the degrees of freedom of the CR2 variance of a mean.

    They are those of the chi-square that matches the first two moments of the variance
    estimate when items are independent: ``G - 1`` for G equal clusters, fewer for unequal.

    Args:
        sizes: Number of items in each cluster.

    Returns:
        Degrees of freedom; NaN with fewer than two clusters.

    Source:
        Bell and McCaffrey, 2002, in closed form for a mean.

    Example:
        >>> satterthwaite_df([5, 5, 5, 5])
        3.0
        >>> round(satterthwaite_df([17, 1, 1, 1]), 2)
        1.24
    """
    n = np.asarray(sizes, dtype=np.float64)
    if n.size < 2:
        return math.nan
    total = n.sum()
    weighted = n**2 / (1 - n / total)
    spread = np.sum(n**2) + (weighted.sum() ** 2 - np.sum(weighted**2)) / total**2
    return float(total**2 / spread)


def anova_icc(d: ArrayLike, clusters: Iterable[Hashable]) -> ClusterVariance:
    """Estimate the intraclass correlation from one-way analysis of variance.

    Args:
        d: Values, one per item.
        clusters: The id of each item's cluster.

    Returns:
        Mean squares and correlation; NaN with fewer than two clusters, or without two items
        in any cluster.

    Source:
        Donner, A review of inference procedures for the intraclass correlation coefficient,
        1986.

    Example:
        >>> round(anova_icc([1, 1, 0, 0, 1, 0], ["a", "a", "b", "b", "c", "c"]).icc, 3)
        0.5
    """
    values = finite_vector(d)
    codes = cluster_codes(clusters, values.size)
    sizes = np.bincount(codes).astype(np.float64)
    n, groups = values.size, sizes.size
    if groups < 2 or n == groups:
        return ClusterVariance(math.nan, math.nan, math.nan, math.nan)
    n0 = (n - float(sizes @ sizes) / n) / (groups - 1)
    means = np.bincount(codes, weights=values) / sizes
    between = float(sizes @ (means - values.mean()) ** 2) / (groups - 1)
    within = float(np.sum((values - means[codes]) ** 2)) / (n - groups)
    scale = between + (n0 - 1) * within
    return ClusterVariance(n0, between, within, (between - within) / scale if scale else math.nan)


def design_effect(d: ArrayLike, clusters: Iterable[Hashable]) -> DesignEffect:
    """Say how much clustering inflates the variance of the mean, in theory and as observed.

    Args:
        d: Values, one per item.
        clusters: The id of each item's cluster.

    Source:
        Kish, Survey sampling, 1965.

    Example:
        >>> design_effect([1, 1, 0, 0, 1, 0], ["a", "a", "b", "b", "c", "c"]).kish
        1.5
    """
    values = finite_vector(d)
    ids = cluster_codes(clusters, values.size)
    groups = int(ids.max(initial=-1)) + 1
    icc = anova_icc(values, ids).icc
    kish = 1 + (values.size / groups - 1) * icc if groups else math.nan
    naive, robust = paired_t(values).se, cluster_mean(values, ids, kind="CR0").se
    return DesignEffect(kish, (robust / naive) ** 2 if naive > 0 else math.nan)
