"""Do several groups of examples have the same mean difference?"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.checks import cluster_codes, finite_vector
from evaltoolkit.stats.differences import is_constant
from evaltoolkit.stats.types import Floats


class GroupTest(NamedTuple):
    """A test that all groups have one mean.

    Attributes:
        test: ``welch_f``, ``brown_forsythe_f``, ``cluster_wald_f`` or ``none``.
        statistic: F; NaN where it is undefined.
        df1: Degrees of freedom above.
        df2: Degrees of freedom below.
        p_value: P-value; NaN where the test is undefined.
        reason: Why it is undefined; empty where it is not.
    """

    test: str
    statistic: float
    df1: float
    df2: float
    p_value: float
    reason: str


class GroupMeans(NamedTuple):
    """Means of groups with their cluster-robust covariance.

    Attributes:
        means: (k,) means.
        covariance: (k, k) CR2 covariance; NaN rows for groups in one cluster only.
        n_clusters: (k,) clusters that each group touches.
    """

    means: Floats
    covariance: Floats
    n_clusters: Floats


def no_group_test(reason: str) -> GroupTest:
    """Answer where no test is possible, with the reason.

    Example:
        >>> no_group_test("one group").reason
        'one group'
    """
    return GroupTest("none", math.nan, math.nan, math.nan, math.nan, reason)


def equal_means(groups: Sequence[ArrayLike]) -> GroupTest:
    """Test that independent groups of any variances have the same mean.

    Welch's F. Where the values of a group are all equal Welch's weights are infinite, so the
    test of Brown and Forsythe with Mehrotra's degrees of freedom takes over: it holds its level
    with such groups, and a group of ties only is evidence that must not be dropped.

    Args:
        groups: The values of each group, at least two in each.

    Returns:
        The test, undefined with fewer than two groups or without spread in any.

    Raises:
        EvalToolkitError: A value is not finite or a group has fewer than two.

    Source:
        Welch, On the comparison of several mean values, 1951; Brown and Forsythe, The small
        sample behavior of some statistics which test the equality of several means, 1974;
        Mehrotra, Improving the Brown-Forsythe solution to the generalized Behrens-Fisher
        problem, 1997.

    Example:
        >>> result = equal_means([[1, 2, 3, 4], [2, 2, 3, 3], [5, 6, 8, 9]])
        >>> result.test, round(result.p_value, 4)
        ('welch_f', 0.0188)
        >>> equal_means([[0, 0, 0, 0], [1, 1, 0, 1]]).test
        'brown_forsythe_f'
    """
    values = [finite_vector(group) for group in groups]
    if any(group.size < 2 for group in values):
        raise EvalToolkitError(
            "a group has fewer than two values; leave it out or pool it with another",
            code="bad_count",
            path="groups",
        )
    if len(values) < 2:
        return no_group_test("fewer than two slices have two pairs")
    flat = [is_constant(group) for group in values]
    if all(flat):
        return no_group_test("no slice has any variance")
    # Constant but for rounding must be constant, or its weight is huge instead of infinite.
    values = [np.full_like(g, g[0]) if f else g for g, f in zip(values, flat, strict=True)]
    name, use_var = ("brown_forsythe_f", "bf") if any(flat) else ("welch_f", "unequal")
    result = _oneway(values, use_var)
    df1, df2 = (float(df) for df in result.df)
    return GroupTest(name, float(result.statistic), df1, df2, float(result.pvalue), "")


def _oneway(values: Sequence[Floats], use_var: str) -> Any:  # noqa: ANN401 - untyped library
    from statsmodels.stats.oneway import anova_oneway

    scale = max(float(np.max(np.abs(group))) for group in values)
    return anova_oneway([group / scale for group in values], use_var=use_var)


def group_means(
    d: ArrayLike, groups: Iterable[Hashable], clusters: Iterable[Hashable]
) -> GroupMeans:
    """Estimate the means of groups whose members come in clusters, with their covariance.

    Clusters may cross groups; then the means are correlated. The covariance is CR2 for the
    regression on one indicator per group. Its diagonal is the squared CR2 error of each group
    alone, and with clusters of size one it is the plain ``s**2 / n``.

    Args:
        d: Values.
        groups: Group of each value; groups are numbered in order of first appearance.
        clusters: Cluster of each value.

    Raises:
        EvalToolkitError: A value is not finite, an id is missing, or the lengths differ.

    Source:
        Pustejovsky and Tipton, Small-sample methods for cluster-robust variance estimation,
        2018.

    Example:
        >>> found = group_means([1, 2, 3, 5], ["x", "x", "y", "y"], [0, 1, 2, 3])
        >>> found.covariance.round(9).tolist()
        [[0.25, 0.0], [0.0, 1.0]]
    """
    values = finite_vector(d)
    columns = cluster_codes(groups, values.size)
    rows = cluster_codes(clusters, values.size)
    counts, sums = _cells(values, columns, rows)
    sizes = counts.sum(axis=0)
    share = counts / sizes
    inside = share < 1
    adjusted = np.where(inside, sums / np.sqrt(np.where(inside, 1 - share, 1.0)), math.nan)
    adjusted = np.where(counts > 0, adjusted, 0.0) / sizes
    means = np.bincount(columns, weights=values) / sizes
    return GroupMeans(means, adjusted.T @ adjusted, (counts > 0).sum(axis=0).astype(np.float64))


def _cells(values: Floats, columns: np.ndarray, rows: np.ndarray) -> tuple[Floats, Floats]:
    """Return number and residual sum of each cluster (rows) in each group (columns)."""
    shape = (int(rows.max(initial=-1)) + 1, int(columns.max(initial=-1)) + 1)
    counts, sums = np.zeros(shape), np.zeros(shape)
    np.add.at(counts, (rows, columns), 1.0)
    means = np.bincount(columns, weights=values) / np.bincount(columns)
    residuals = values - means[columns]
    noise = 1e-9 * np.max(np.abs(values), initial=0.0)
    np.add.at(sums, (rows, columns), np.where(np.abs(residuals) <= noise, 0.0, residuals))
    sums[np.abs(sums) <= noise * np.maximum(counts, 1.0)] = 0.0
    return counts, sums


def equal_cluster_means(
    d: ArrayLike, groups: Iterable[Hashable], clusters: Iterable[Hashable]
) -> GroupTest:
    """Test that groups have the same mean when members of a cluster depend on one another.

    The Wald statistic with the CR2 covariance, referred to Hotelling's T-squared with degrees
    of freedom that match its mean and variance (AHZ) for independent members of one variance.
    Clusters may cross groups.

    Args:
        d: Values.
        groups: Group of each value.
        clusters: Cluster of each value; each group needs two at least.

    Returns:
        The test, undefined where the clusters are too few for so many groups or do not vary.

    Raises:
        EvalToolkitError: As `group_means`.

    Source:
        Tipton and Pustejovsky, Small-sample adjustments for tests of moderators and model fit
        using robust variance estimation in meta-regression, 2015.

    Example:
        >>> d = [0, 1, 0, 1, 1, 0, 2, 1, 2, 2, 1, 3]
        >>> result = equal_cluster_means(d, [0] * 6 + [1] * 6, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5])
        >>> round(result.statistic, 2), round(result.df2, 2)
        (64.0, 4.0)
    """
    values = finite_vector(d)
    columns = cluster_codes(groups, values.size)
    rows = cluster_codes(clusters, values.size)
    found = group_means(values, columns, rows)
    k = found.means.size
    if k < 2:
        return no_group_test("fewer than two slices have two clusters")
    if np.any(found.n_clusters < 2):
        return no_group_test("a slice lies in one cluster")
    contrasts = np.eye(k)[1:] - np.eye(k)[0]
    spread = contrasts @ found.covariance @ contrasts.T
    if not _positive(spread):
        return no_group_test("the clusters are too few, or too much alike, for so many slices")
    counts, _ = _cells(values, columns, rows)
    eta = _hotelling_df(counts, contrasts)
    df2 = eta - (k - 1) + 1
    if not df2 >= 1:
        return no_group_test("the clusters are too few for so many slices")
    from scipy import special

    gap = contrasts @ found.means
    statistic = df2 / (eta * (k - 1)) * float(gap @ np.linalg.solve(spread, gap))
    p = float(special.fdtrc(k - 1, df2, statistic))
    return GroupTest("cluster_wald_f", statistic, float(k - 1), df2, p, "")


def _positive(matrix: Floats) -> bool:
    ends = np.linalg.eigvalsh(matrix)
    return bool(ends[0] > 1e-10 * ends[-1] and ends[-1] > 0)


def _hotelling_df(counts: Floats, contrasts: Floats) -> float:
    """Match the variance of the standardised CR2 covariance by a Wishart distribution.

    With indicators of groups as regressors every inner product of the adjusted residual makers
    is known in closed form: ``kappa[j, l]`` sums the product of those of groups j and l over
    all pairs of clusters.
    """
    sizes = counts.sum(axis=0)
    adjust = np.where(counts > 0, 1 / (1 - counts / sizes), 0.0)
    own = adjust * counts
    cross = np.sqrt(adjust) * counts
    linear = own.T @ (own * counts)
    kappa = own.T @ own - linear / sizes - linear.T / sizes[:, None]
    kappa += (cross.T @ cross) ** 2 / np.outer(sizes, sizes)
    kappa /= np.outer(sizes**2, sizes**2)
    expected = contrasts @ np.diag(1 / sizes) @ contrasts.T
    metric = contrasts.T @ np.linalg.solve(expected, contrasts)
    diagonal = np.diag(metric)
    variance = float(np.sum(kappa * (metric**2 + np.outer(diagonal, diagonal))))
    q = len(contrasts)
    return q * (q + 1) / variance
