"""Tests of equal group means: definitions, other implementations, degenerate groups."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evaltoolkit import stats
from evaltoolkit.errors import EvalToolkitError

Floats = NDArray[np.float64]


def brute_force(d: Floats, groups: NDArray[np.intp], clusters: NDArray[np.intp]) -> Floats:
    """CR2, Wald and Hotelling degrees of freedom by their definitions, with n x n matrices."""
    x = (groups[:, None] == np.unique(groups)).astype(float)
    bread = np.linalg.inv(x.T @ x)
    rest = np.eye(d.size) - x @ bread @ x.T
    scores = []
    for g in np.unique(clusters):
        here = clusters == g
        values, vectors = np.linalg.eigh(rest[np.ix_(here, here)])
        scores.append(bread @ x[here].T @ (vectors * values**-0.5) @ vectors.T @ rest[here])
    covariance = sum(np.outer(s @ d, s @ d) for s in scores)
    c = np.eye(x.shape[1])[1:] - np.eye(x.shape[1])[0]
    gap = c @ bread @ x.T @ d
    wald = gap @ np.linalg.solve(c @ covariance @ c.T, gap)
    values, vectors = np.linalg.eigh(c @ bread @ c.T)
    standard = [(vectors * values**-0.5) @ vectors.T @ c @ s for s in scores]
    q = len(c)
    spread = 0.0
    for s in range(q):
        for t in range(q):
            form = sum(np.outer(p[s], p[t]) for p in standard)
            spread += np.trace(form @ form) + np.trace(form @ form.T)
    eta = q * (q + 1) / spread
    return np.array([wald * (eta - q + 1) / (eta * q), q, eta - q + 1])


def designs() -> Iterator[tuple[str, Floats, NDArray[np.intp], NDArray[np.intp]]]:
    rng = np.random.default_rng(3)
    clusters = rng.integers(0, 9, 50)
    d = rng.normal(size=50)
    yield "crossing", d, rng.integers(0, 3, 50), clusters
    yield "nested", d, clusters % 3, clusters
    yield "two groups", d, clusters % 2, clusters
    yield "single", d, rng.integers(0, 4, 50), np.arange(50)


@pytest.mark.parametrize(("name", "d", "groups", "clusters"), list(designs()))
def test_cluster_wald_is_its_definition(
    name: str, d: Floats, groups: NDArray[np.intp], clusters: NDArray[np.intp]
) -> None:
    found = stats.equal_cluster_means(d, groups, clusters)
    assert found.test == "cluster_wald_f", name
    expected = brute_force(d, groups, clusters)
    np.testing.assert_allclose([found.statistic, found.df1, found.df2], expected, rtol=1e-9)


def test_two_groups_of_single_clusters_have_the_degrees_of_freedom_of_cr2() -> None:
    # With two groups of n pairs and one variance the AHZ degrees of freedom are 2 (n - 1).
    d = np.random.default_rng(0).normal(size=24)
    found = stats.equal_cluster_means(d, np.arange(24) % 2, np.arange(24))
    assert found.df2 == pytest.approx(22.0)
    a, b = d[::2], d[1::2]
    t = (a.mean() - b.mean()) / math.sqrt(a.var(ddof=1) / 12 + b.var(ddof=1) / 12)
    assert found.statistic == pytest.approx(t**2)


def test_group_means_have_the_cr2_errors_of_each_group_alone() -> None:
    rng = np.random.default_rng(5)
    clusters, groups, d = rng.integers(0, 8, 60), rng.integers(0, 3, 60), rng.normal(size=60)
    order = np.argsort(groups, kind="stable")
    found = stats.group_means(d[order], groups[order], clusters[order])
    for g in range(3):
        alone = stats.cluster_mean(d[groups == g], clusters[groups == g])
        assert found.means[g] == pytest.approx(alone.mean)
        assert math.sqrt(found.covariance[g, g]) == pytest.approx(alone.se)
    assert np.abs(found.covariance[0, 1]) > 0


def test_welch_is_welch() -> None:
    # Welch (1951) by hand for three groups: weights n / s**2.
    groups = [[1.0, 2, 3, 4], [2.0, 2, 3, 3], [5.0, 6, 8, 9]]
    m = np.array([np.mean(g) for g in groups])
    w = np.array([len(g) / np.var(g, ddof=1) for g in groups])
    centre = w @ m / w.sum()
    slack = float(np.sum((1 - w / w.sum()) ** 2 / 3))
    f = float(w @ (m - centre) ** 2) / 2 / (1 + 2 / 8 * slack)
    found = stats.equal_means(groups)
    assert (found.test, found.df1) == ("welch_f", 2.0)
    assert found.statistic == pytest.approx(f)
    assert found.df2 == pytest.approx(8 / (3 * slack))


def test_two_groups_are_welchs_t_squared() -> None:
    from scipy import stats as scipy_stats

    a, b = [1.0, 4, 2, 8, 5], [3.0, 3, 4, 9, 9, 12]
    expected = scipy_stats.ttest_ind(a, b, equal_var=False)
    assert stats.equal_means([a, b]).p_value == pytest.approx(expected.pvalue)


def test_a_group_of_ties_stays_in_the_test() -> None:
    found = stats.equal_means([[0.0] * 40, [1.0] * 30 + [0.0] * 10])
    assert found.test == "brown_forsythe_f"
    assert found.p_value < 1e-6
    # One group constant: (mean gap)**2 over the other's variance of the mean, df of the other.
    d = np.array([1.0] * 30 + [0.0] * 10)
    assert found.statistic == pytest.approx(0.75**2 / (d.var(ddof=1) / 40))
    assert found.df2 == pytest.approx(39)


def test_rounding_does_not_make_variance() -> None:
    noisy = [0.3, 0.1 + 0.2, 0.3]
    assert stats.equal_means([noisy, [1.0, 0.0, 1.0]]).test == "brown_forsythe_f"
    assert stats.equal_means([noisy, [0.1, 0.1]]).reason == "no slice has any variance"


@given(
    st.lists(
        st.lists(st.integers(-3, 3).map(float), min_size=3, max_size=8), min_size=2, max_size=4
    ),
    st.sampled_from([1e-6, 1.0, 1e6]),
)
@settings(max_examples=40, deadline=None)
def test_scale_and_order_of_groups_do_not_matter(groups: list[list[float]], scale: float) -> None:
    found = stats.equal_means(groups)
    again = stats.equal_means([[scale * v for v in group] for group in reversed(groups)])
    assert found.test == again.test
    assert again.p_value == pytest.approx(found.p_value, rel=1e-6, abs=1e-12, nan_ok=True)
    assert math.isnan(found.p_value) == bool(found.reason)


def test_degenerate_groups_have_reasons() -> None:
    assert stats.equal_means([[1.0, 2.0]]).reason == "fewer than two slices have two pairs"
    assert stats.equal_means([[1.0, 1.0], [0.0, 0.0]]).reason == "no slice has any variance"
    with pytest.raises(EvalToolkitError, match="fewer than two values"):
        stats.equal_means([[1.0], [1.0, 2.0]])
    one_cluster = stats.equal_cluster_means([1, 2, 3, 4.0], [0, 0, 1, 1], [0, 0, 1, 2])
    assert one_cluster.reason == "a slice lies in one cluster"
    one_group = stats.equal_cluster_means([1, 2.0], [0, 0], [0, 1])
    assert one_group.reason == "fewer than two slices have two clusters"
    flat = stats.equal_cluster_means([1.0] * 8, [0, 1] * 4, [0, 0, 1, 1, 2, 2, 3, 3])
    assert "too much alike" in flat.reason
    few = stats.equal_cluster_means(
        np.arange(12.0) ** 2, np.repeat([0, 1, 2], 4), [0, 0, 0, 1, 0, 1, 1, 1, 0, 0, 1, 1]
    )
    assert "too few" in few.reason
    assert all(math.isnan(getattr(few, name)) for name in ("statistic", "df1", "df2", "p_value"))
