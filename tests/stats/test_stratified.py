"""Weighted means over strata, against the matrix formulas that the closed form stands for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltoolkit import stats
from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.stratified import stratified_mean

SEEDS = st.integers(0, 2**32 - 1)


def by_matrices(
    d: np.ndarray, strata: np.ndarray, shares: np.ndarray, clusters: np.ndarray
) -> tuple[float, float, float]:
    """Mean, CR2 standard error and Bell-McCaffrey df of a contrast of stratum means.

    Regression of d on indicators of the strata with working independence, all matrices written
    out; each stratum counts in the df with the variance that its own clusters show.
    """
    names = np.unique(strata)
    x = (strata[:, None] == names[None, :]).astype(float)
    inverse = np.linalg.inv(x.T @ x)
    hat = x @ inverse @ x.T
    residuals = d - hat @ d
    columns, scores = [], []
    for g in np.unique(clusters):
        rows = np.flatnonzero(clusters == g)
        values, vectors = np.linalg.eigh(np.eye(rows.size) - hat[np.ix_(rows, rows)])
        roots = np.where(values > 1e-10, 1 / np.sqrt(np.maximum(values, 1e-10)), 0.0)
        adjust = vectors @ np.diag(roots) @ vectors.T
        weights = adjust @ x[rows] @ inverse @ shares
        scores.append(weights @ residuals[rows])
        a = np.zeros(d.size)
        a[rows] = weights
        columns.append((np.eye(d.size) - hat) @ a)
    p = np.array(columns).T
    variance = np.zeros(d.size)
    for name in names:
        here = strata == name
        part = p.T @ np.diag(here.astype(float)) @ p
        own = sum((p[here, j] @ d[here]) ** 2 for j in range(p.shape[1]))
        variance[here] = own / np.trace(part)
    gram = p.T @ np.diag(variance) @ p
    df = np.trace(gram) ** 2 / np.trace(gram @ gram)
    return float(shares @ (inverse @ x.T @ d)), math.sqrt(sum(s**2 for s in scores)), float(df)


def drawn(seed: int, *, spanning: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n = 24
    strata = np.sort(rng.integers(0, 3, n))
    strata[:6] = [0, 0, 1, 1, 2, 2]
    strata.sort()
    clusters = rng.integers(0, 7, n) if spanning else rng.integers(0, 4, n) + 10 * strata
    for s in range(3):
        rows = np.flatnonzero(strata == s)
        # two clusters at least in every stratum
        clusters[rows[0]], clusters[rows[-1]] = (0, 1) if spanning else (10 * s, 10 * s + 1)
    return rng.normal(size=n), strata, rng.dirichlet(np.ones(3)), clusters


@given(SEEDS, st.booleans())
@settings(max_examples=40, deadline=None)
def test_it_is_the_cr2_contrast_of_a_regression(seed: int, spanning: bool) -> None:
    d, strata, shares, clusters = drawn(seed, spanning=spanning)
    weights = dict(enumerate(10 * shares))
    found = stratified_mean(d, strata.tolist(), weights=weights, clusters=clusters)
    mean, se, df = by_matrices(d, strata, shares, clusters)
    assert found.estimate.mean == pytest.approx(mean, abs=1e-12)
    assert found.estimate.se == pytest.approx(se, rel=1e-9)
    assert found.estimate.df == pytest.approx(df, rel=1e-9)
    assert (found.n_spanning > 0) == any(
        np.unique(strata[clusters == g]).size > 1 for g in np.unique(clusters)
    )


@given(SEEDS)
@settings(max_examples=25, deadline=None)
def test_one_stratum_is_the_cluster_mean(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d, clusters = rng.normal(size=15), [0, 1, *rng.integers(0, 5, 13).tolist()]
    found = stratified_mean(d, ["only"] * 15, clusters=clusters).estimate
    assert found == pytest.approx(stats.cluster_mean(d, clusters), rel=1e-9)


@given(SEEDS)
@settings(max_examples=25, deadline=None)
def test_without_clusters_it_is_welch_and_satterthwaite(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0, 1, 8), rng.normal(0, 5, 13)
    found = stratified_mean([*a, *b], ["a"] * 8 + ["b"] * 13, weights={"a": 1, "b": 3}).estimate
    va, vb = a.var(ddof=1) / 8 * 0.25**2, b.var(ddof=1) / 13 * 0.75**2
    assert found.mean == pytest.approx(0.25 * a.mean() + 0.75 * b.mean())
    assert found.se == pytest.approx(math.sqrt(va + vb))
    assert found.df == pytest.approx((va + vb) ** 2 / (va**2 / 7 + vb**2 / 12))
    assert found.n_units == 21


def test_a_difference_of_two_strata_is_welchs_t() -> None:
    """With weights 1 and 1 on a and -b, twice the pooled mean is Welch's difference."""
    a, b = [1.0, 4.0, 2.0, 8.0], [3.0, 1.0, 2.5]
    found = stratified_mean([*a, *(-x for x in b)], list("aaaabbb")).estimate
    welch = stats.welch(b, a)
    assert 2 * found.mean == pytest.approx(welch.mean)
    assert (found.df, found.p_value) == pytest.approx((welch.df, welch.p_value))


def test_clusters_inside_strata_add_up() -> None:
    d = np.array([0.0, 1, 1, 1, -1, 0, 2, 2, 0, 1, 5])
    strata = ["a"] * 6 + ["b"] * 5
    clusters = ["p", "p", "q", "q", "r", "r", "s", "s", "t", "u", "u"]
    parts = [stats.cluster_mean(d[:6], clusters[:6]), stats.cluster_mean(d[6:], clusters[6:])]
    found = stratified_mean(d, strata, weights={"a": 1, "b": 3}, clusters=clusters)
    v = [(0.25 * parts[0].se) ** 2, (0.75 * parts[1].se) ** 2]
    assert found.estimate.se == pytest.approx(math.sqrt(sum(v)))
    assert found.estimate.df == pytest.approx(
        sum(v) ** 2 / (v[0] ** 2 / parts[0].df + v[1] ** 2 / parts[1].df)
    )
    assert [part.variance for part in found.strata] == pytest.approx(v)
    assert [part.n_clusters for part in found.strata] == [3, 3]


def test_a_shared_cluster_counts_once() -> None:
    """Two strata with the same clusters and the same values: as if each value stood once."""
    d = [0.0, 1.0, 3.0, -1.0]
    both = stratified_mean(d * 2, ["a"] * 4 + ["b"] * 4, clusters=[1, 2, 3, 4] * 2)
    assert both.estimate.se == pytest.approx(stats.paired_t(d).se)
    assert both.n_spanning == 4
    apart = stratified_mean(d * 2, ["a"] * 4 + ["b"] * 4)
    assert apart.estimate.se == pytest.approx(stats.paired_t(d).se / math.sqrt(2))


def test_a_stratum_with_one_item_has_no_interval() -> None:
    found = stratified_mean([1.0, 0.0, 1.0], ["a", "b", "b"])
    assert found.estimate.mean == 0.75
    assert math.isnan(found.estimate.se)
    assert math.isnan(found.estimate.low)
    assert math.isnan(found.estimate.p_value)
    assert math.isnan(found.strata[0].variance)


def test_a_stratum_that_is_one_cluster_has_no_interval() -> None:
    found = stratified_mean([1.0, 0.0, 1.0, 2.0], ["a", "a", "b", "b"], clusters=[1, 1, 2, 3])
    assert math.isnan(found.estimate.low)


def test_constant_data_have_no_interval() -> None:
    found = stratified_mean([0.1, 0.1, 0.1, 0.3, 0.3, 0.3], list("aaabbb"))
    assert found.estimate.mean == pytest.approx(0.2)
    assert found.estimate.se == 0.0
    assert math.isnan(found.estimate.low)
    assert math.isnan(found.estimate.p_value)


def test_a_constant_stratum_adds_no_spread() -> None:
    d, strata = [0.1] * 3 + [0.0, 1.0, 0.0], list("aaabbb")
    found = stratified_mean(d, strata)
    assert found.estimate.se == pytest.approx(stats.paired_t(d[3:]).se / 2)
    assert found.estimate.df == pytest.approx(2.0)


def test_nothing_gives_nothing() -> None:
    found = stratified_mean([], [])
    assert math.isnan(found.estimate.mean)
    assert found.strata == ()


def test_row_order_and_unit_of_weights_do_not_matter() -> None:
    d, strata, shares, clusters = drawn(5, spanning=True)
    order = np.random.default_rng(1).permutation(d.size)
    one = stratified_mean(d, strata.tolist(), weights=dict(enumerate(shares)), clusters=clusters)
    two = stratified_mean(
        d[order],
        strata[order].tolist(),
        weights=dict(enumerate(1e6 * shares)),
        clusters=clusters[order],
    )
    assert one.estimate == pytest.approx(two.estimate, rel=1e-9)


@pytest.mark.parametrize(
    "weights", [{"a": 1.0}, {"a": 1, "b": 0}, {"a": 1, "b": -2}, {"a": 1, "b": math.nan}]
)
def test_weights_must_be_positive_and_complete(weights: dict) -> None:
    with pytest.raises(EvalToolkitError) as caught:
        stratified_mean([1.0, 2.0], ["a", "b"], weights=weights)
    assert caught.value.code == "bad_weight"


def test_intervals_keep_their_promise() -> None:
    """Skewed strata of unlike size and spread, clusters across strata: 95 % within noise."""
    rng = np.random.default_rng(20)
    strata = np.repeat([0, 1, 2], [12, 20, 40])
    clusters = np.tile(np.arange(12), 6)
    hits = 0
    for _ in range(600):
        shared = rng.normal(size=12)[clusters]
        d = shared + rng.exponential(1.0, 72) * np.array([3.0, 1.0, 1.0])[strata]
        found = stratified_mean(d, strata.tolist(), clusters=clusters).estimate
        hits += found.low <= 5 / 3 <= found.high
    assert 0.92 <= hits / 600 <= 0.985
