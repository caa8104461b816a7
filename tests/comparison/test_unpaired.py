"""Two systems on different examples."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats

import evaltoolkit as et
from evaltoolkit import stats
from tests.comparison.builders import paired_cells


def groups(old: list[float], new: list[float], criterion: str = "correct") -> pd.DataFrame:
    return pd.DataFrame(
        {
            "system": ["old"] * len(old) + ["new"] * len(new),
            "example_id": [f"o{i}" for i in range(len(old))] + [f"n{i}" for i in range(len(new))],
            "criterion": criterion,
            "score": [*old, *new],
        }
    )


def test_newcombes_example_of_two_proportions() -> None:
    # Newcombe 1998, Table II, example (a): 56/70 against 48/80, method 10: .0524 to .3339
    frame = groups([1.0] * 48 + [0.0] * 32, [1.0] * 56 + [0.0] * 14)
    row = et.compare_unpaired(frame, baseline="old", candidate="new").table.iloc[0]
    assert (row.ci_low, row.ci_high) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    table = [[48, 32], [56, 14]]
    chi2 = scipy_stats.chi2_contingency(table, correction=False)
    assert row.p_value == pytest.approx(chi2.pvalue, rel=1e-9)
    assert (row.delta, row.verdict) == (pytest.approx(0.2), "improved")


def test_welch_agrees_with_scipy() -> None:
    rng = np.random.default_rng(1)
    old, new = rng.normal(size=25), rng.normal(0.4, 2.0, size=40)
    frame = groups(old.tolist(), new.tolist(), "latency_s")
    row = et.compare_unpaired(frame, baseline="old", candidate="new").table.iloc[0]
    test = scipy_stats.ttest_ind(new, old, equal_var=False)
    assert row.p_value == pytest.approx(test.pvalue)
    interval = test.confidence_interval()
    assert (row.ci_low, row.ci_high) == pytest.approx((interval.low, interval.high))
    assert row.df == pytest.approx(test.df)


def test_several_criteria_are_adjusted_and_said() -> None:
    rng = np.random.default_rng(2)
    parts = [
        groups(rng.normal(size=30).tolist(), rng.normal(shift, 1, size=30).tolist(), f"c{i}")
        for i, shift in enumerate((1.0, 0.3, 0.0))
    ]
    result = et.compare_unpaired(pd.concat(parts), baseline="old", candidate="new")
    np.testing.assert_allclose(
        result.table.p_adjusted, stats.adjust(result.table.p_value, method="holm")
    )
    assert "no pairs" in result.conclusion()
    assert "c0 improved: new on 30 examples against old on 30" in result.conclusion()
    assert "adjusted by Holm over 3 hypotheses" in result.methods()
    assert result.to_markdown().count("\n") == 5


def test_shared_examples_call_for_pairs() -> None:
    with pytest.warns(et.EvalToolkitWarning, match="30 examples were measured under both"):
        et.compare_unpaired(paired_cells(10, 8, 5, 7), baseline="old", candidate="new")


def test_trials_and_losses() -> None:
    frame = groups([1.0, 0.0] * 10, [1.0] * 20)
    twice = pd.concat([frame.assign(trial=0), frame.assign(trial=1)])
    lost = (twice.example_id == "o3") & (twice.system == "old")
    twice.loc[lost, "score"] = np.nan
    with pytest.warns(et.EvalToolkitWarning, match="up to 1 example in a hypothesis"):
        row = et.compare_unpaired(twice, baseline="old", candidate="new").table.iloc[0]
    assert (row.n_baseline, row.n_lost_baseline, row.interval) == (19, 1, "welch_t")


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ([1.0] * 8, [1.0] * 9, "inconclusive"),
        ([0.0], [1.0], "inconclusive"),
        ([2.5], [3.5, 4.5], "inconclusive"),
        ([2.5, 2.5], [3.5, 3.5], "inconclusive"),
    ],
)
def test_too_little_is_never_certain(old: list[float], new: list[float], verdict: str) -> None:
    row = et.compare_unpaired(groups(old, new), baseline="old", candidate="new").table.iloc[0]
    assert row.verdict == verdict
    assert np.isnan(row.ci_low) or row.ci_low < row.ci_high
    assert np.isnan(row.p_value) or 0 < row.p_value <= 1


def test_one_side_without_scores_is_not_measured() -> None:
    frame = groups([1.0, 0.0], [np.nan, np.nan])
    with pytest.warns(et.EvalToolkitWarning, match="up to 2 examples"):
        result = et.compare_unpaired(frame, baseline="old", candidate="new")
    assert result.table.verdict.tolist() == ["not_measured"]
    assert "no scored example" in result.conclusion()
