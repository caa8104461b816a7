"""Spread of repeats, ICC(1) and agreement of pairs: hand-computed and independent values."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaltoolkit import stats
from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.repeats import (
    REPEATABILITY_FACTOR,
    pair_agreement,
    repeat_parts,
    single_iccs,
    within_spread,
)

SHROUT_FLEISS = [
    [9, 2, 5, 8],
    [6, 1, 3, 2],
    [8, 4, 6, 8],
    [7, 1, 2, 6],
    [10, 5, 6, 9],
    [6, 2, 4, 7],
]


def test_shrout_and_fleiss_1979() -> None:
    """ICC(1,1) of their Table 2 is .17; the within mean square is 6.26."""
    values, outputs = np.ravel(SHROUT_FLEISS), np.repeat(np.arange(6), 4)
    parts = repeat_parts(values, outputs)
    assert single_iccs(parts.sum(axis=0)[None])[0] == pytest.approx(0.1657, abs=5e-5)
    spread = within_spread(parts, np.arange(6))
    assert spread.sd**2 == pytest.approx(6.2639, abs=5e-5)
    assert spread.df == 18
    assert spread.low < spread.sd < spread.high


def test_unequal_repeats_are_pooled_like_analysis_of_variance() -> None:
    rng = np.random.default_rng(1)
    outputs = np.repeat(np.arange(12), rng.integers(2, 5, size=12))
    values = rng.normal(size=outputs.size) + outputs
    parts = repeat_parts(values, outputs)
    anova = stats.anova_icc(values, outputs)
    assert single_iccs(parts.sum(axis=0)[None])[0] == pytest.approx(anova.icc)
    assert within_spread(parts, np.arange(12)).sd ** 2 == pytest.approx(anova.within)


def test_the_factor_of_bland_and_altman() -> None:
    assert pytest.approx(2.77, abs=0.005) == REPEATABILITY_FACTOR


@pytest.mark.parametrize("values", [[1, 1, 2, 2, 3, 3], [5, 5, 5, 5, 5, 5]])
def test_no_change_has_no_interval(values: list[float]) -> None:
    parts = repeat_parts(values, np.array([0, 0, 1, 1, 2, 2]))
    spread = within_spread(parts, np.arange(3))
    assert spread.sd == 0
    assert math.isnan(spread.low)
    icc = single_iccs(parts.sum(axis=0)[None])[0]
    assert icc == 1 if len(set(values)) > 1 else math.isnan(icc)


def test_too_little_data() -> None:
    assert math.isnan(within_spread(repeat_parts([1.0, 2.0], np.array([0, 1])), np.arange(2)).sd)
    two = within_spread(repeat_parts([1, 2, 4, 6], np.array([0, 0, 1, 1])), np.arange(2))
    assert two.sd == pytest.approx(math.sqrt((0.5 + 2) / 2))
    assert math.isnan(two.low)
    one = repeat_parts([1.0, 2.0], np.array([0, 0]))
    assert math.isnan(single_iccs(one.sum(axis=0)[None])[0])
    assert pair_agreement([], np.empty(0, dtype=np.intp)).size == 0
    with pytest.raises(EvalToolkitError, match="not finite"):
        repeat_parts([1.0, math.nan], np.array([0, 0]))


@given(st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=5), min_size=1, max_size=6))
def test_pair_agreement_counts_pairs(rows: list[list[int]]) -> None:
    outputs = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    found = pair_agreement(np.concatenate(rows), outputs)
    for row, share in zip(rows, found, strict=True):
        pairs = list(itertools.combinations(row, 2))
        assert share == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))


@given(st.floats(-50, 50), st.floats(0.1, 20))
def test_shift_and_scale(shift: float, scale: float) -> None:
    values, outputs = np.ravel(SHROUT_FLEISS), np.repeat(np.arange(6), 4)
    before, after = (repeat_parts(v, outputs) for v in (values, shift + scale * values))
    iccs = [single_iccs(p.sum(axis=0)[None])[0] for p in (before, after)]
    assert iccs[0] == pytest.approx(iccs[1], rel=1e-6)
    spreads = [within_spread(p, np.arange(6)) for p in (before, after)]
    assert spreads[1].sd == pytest.approx(scale * spreads[0].sd, rel=1e-6)
    assert spreads[1].low == pytest.approx(scale * spreads[0].low, rel=1e-6)


def test_the_interval_keeps_its_promise_on_grades() -> None:
    """Where one repeat in ten differs by a grade, the chi-square interval covers about 75 %."""
    rng, inside = np.random.default_rng(7), 0
    outputs = np.repeat(np.arange(40), 2)
    for _ in range(400):
        values = np.repeat(rng.integers(1, 6, 40), 2) + (rng.random(80) < 0.1)
        spread = within_spread(repeat_parts(values, outputs), np.arange(40))
        inside += spread.low <= 0.3 <= spread.high
    assert 0.92 <= inside / 400 <= 0.99
