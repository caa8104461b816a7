"""Resampled coefficients: the formulas are those of the single ones, the draws whole blocks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaltoolkit import stats
from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats import rater_resamples as resampling

ratings = st.lists(
    st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=4, max_size=30
).map(lambda rows: np.asarray(rows, dtype=np.float64))
GRADES = np.arange(4.0)


def same(first: float, second: float) -> bool:
    return first == pytest.approx(second, abs=1e-9, nan_ok=True)


@given(ratings)
def test_tables_give_the_single_coefficients(table: np.ndarray) -> None:
    a, b = table[:, 0], table[:, 1]
    counts = stats.agreement_table(a.tolist(), b.tolist(), grades=GRADES.tolist())
    for weights in ("none", "linear", "quadratic"):
        single = stats.cohen_kappa(counts, weights=weights).kappa
        assert same(float(resampling.kappas(counts[None], weights=weights)[0]), single)
    assert same(float(resampling.ac1s(counts[None])[0]), stats.gwet_ac1(counts))


@given(ratings)
def test_sums_over_examples_give_the_single_coefficients(table: np.ndarray) -> None:
    counts = (table[:, :, None] == GRADES).sum(axis=1).astype(float)
    cells = resampling.coincidences(counts).sum(axis=0)[None]
    for measure in ("nominal", "ordinal", "interval"):
        single = stats.krippendorff_alpha(table.T, measure=measure)
        assert same(float(resampling.alphas(cells, GRADES, measure=measure)[0]), single)
    total = resampling.fleiss_parts(counts).sum(axis=0)[None]
    assert same(float(resampling.fleiss_kappas(total)[0]), stats.fleiss_kappa(counts))


def test_shrout_and_fleiss() -> None:
    # Shrout and Fleiss 1979, table 2: ICC(2,1) = .29
    table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    value = resampling.absolute_iccs(resampling.icc_parts(table).sum(axis=0)[None])[0]
    assert value == pytest.approx(0.2898, abs=5e-5)
    assert value == pytest.approx(stats.intraclass_correlations(table).icc2, rel=1e-12)
    shifted = np.asarray(table) + 1e6
    moved = resampling.absolute_iccs(resampling.icc_parts(shifted).sum(axis=0)[None])[0]
    assert moved == pytest.approx(value, rel=1e-6)
    assert np.isnan(
        resampling.absolute_iccs(resampling.icc_parts(np.ones((5, 2))).sum(axis=0)[None])
    )


def test_draws_are_seeded_and_take_whole_blocks() -> None:
    sums = np.arange(24.0).reshape(12, 2)
    first, again = (resampling.resampled_totals(sums, draws=500, seed=3) for _ in range(2))
    assert np.array_equal(first, again)
    assert np.array_equal(first[:, 1] - first[:, 0], np.full(500, 12.0))
    other = resampling.resampled_totals(sums, draws=500, seed=4)
    assert not np.array_equal(first, other)
    # mean and spread of a bootstrapped sum: n * mean and n * sd (divisor n)
    many = resampling.resampled_totals(sums[:, :1], draws=20_000, seed=1)[:, 0]
    assert many.mean() == pytest.approx(sums[:, 0].sum(), rel=0.005)
    assert many.std() == pytest.approx(math.sqrt(12) * sums[:, 0].std(), rel=0.02)


def test_clusters_widen_the_interval() -> None:
    rng = np.random.default_rng(5)
    judge = np.repeat(rng.integers(2, size=40), 5)
    table = np.zeros((200, 4))
    table[np.arange(200), judge * 2 + np.repeat(rng.integers(2, size=40), 5)] = 1.0
    whole = resampling.block_sums(table, np.repeat(np.arange(40), 5))
    widths = []
    for sums in (table, whole):
        drawn = resampling.kappas(resampling.resampled_totals(sums).reshape(-1, 2, 2))
        found = resampling.percentile_interval(drawn, blocks=len(sums))
        widths.append(found.high - found.low)
    assert widths[1] > 1.8 * widths[0]  # sqrt(5) in theory


@pytest.mark.parametrize(
    ("values", "blocks", "reason"),
    [
        (np.linspace(0, 1, 100), 9, "too_few"),
        (np.r_[np.full(10, np.nan), np.linspace(0, 1, 90)], 50, "undefined"),
        (np.ones(100), 50, "no_spread"),
        (np.r_[np.full(2, np.nan), np.linspace(0, 1, 98)], 50, ""),
    ],
)
def test_an_interval_or_a_reason(values: np.ndarray, blocks: int, reason: str) -> None:
    found = resampling.percentile_interval(values, blocks=blocks)
    assert found.reason == reason
    assert math.isnan(found.low) == bool(reason)


def test_bad_input_is_named() -> None:
    with pytest.raises(EvalToolkitError, match="one row for each example"):
        resampling.resampled_totals(np.zeros((0, 2)))
    with pytest.raises(EvalToolkitError, match="draws is 0"):
        resampling.resampled_totals(np.ones((3, 2)), draws=0)
