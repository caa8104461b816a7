"""How scorers agree: published values, base rates, missing scores, degenerate data."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from evaltoolkit import stats
from evaltoolkit.errors import EvalToolkitError, EvalToolkitWarning, PairingError
from evaltoolkit.judging import agreement
from tests.judging.builders import from_table, scored

COHEN = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]  # Fleiss, Cohen and Everitt 1969


def only_pair(scores: pd.DataFrame, **options: object) -> pd.Series:
    table = agreement(scores, criterion="helpful", **options).table  # type: ignore[arg-type]
    assert len(table) == 1
    return table.iloc[0]


def test_published_kappas_and_ac1() -> None:
    row = only_pair(from_table(COHEN, [1.0, 2.0, 3.0]))
    assert row.level == "ordinal"
    assert row.n == 200
    assert row.kappa == pytest.approx(0.4915254, abs=1e-7)
    assert row.kappa_linear == pytest.approx(0.4736842, abs=1e-7)
    assert row.kappa_quadratic == pytest.approx(0.4545455, abs=1e-7)
    assert row.ac1 == pytest.approx(0.5759717, abs=1e-7)
    assert row.observed == pytest.approx(0.70)
    assert (row.observed_low, row.observed_high) == pytest.approx(stats.wilson(140, 200))
    for name in ("kappa", "kappa_linear", "kappa_quadratic", "ac1"):
        assert row[f"{name}_low"] < row[name] < row[f"{name}_high"]
    # the bootstrap comes close to the large-sample interval of the 1969 paper
    published = stats.cohen_kappa(COHEN)
    assert (row.kappa_low, row.kappa_high) == pytest.approx(
        (published.low, published.high), abs=0.02
    )


def test_marginal_homogeneity_is_the_test_of_bias_for_grades() -> None:
    row = only_pair(from_table([[20, 10, 5], [3, 30, 15], [0, 5, 40]], [1.0, 2.0, 3.0]))
    assert row.bias_test == "stuart_maxwell"
    assert row.p_bias == pytest.approx(math.exp(-13.764706 / 2), rel=1e-6)  # chi-square of 2 df
    assert row.bias == pytest.approx((10 + 15 + 2 * 5 - 3 - 5) / 128)
    assert row.bias_interval == "t"


def test_kappa_stands_beside_base_rates() -> None:
    """90 % agreement, but hardly better than chance when both pass nearly everything."""
    row = only_pair(from_table([[0, 5], [5, 90]], [0.0, 1.0]))
    assert (row.observed, row.mean_a, row.mean_b) == pytest.approx((0.9, 0.95, 0.95))
    assert row.kappa == pytest.approx(-0.05 / 0.95)
    assert row.ac1 > 0.88
    assert row.bias == 0
    assert row.p_bias == pytest.approx(1 - 252 / 1024 / 2)  # mid-p of 5 against 5
    assert row.bias_low < 0 < row.bias_high


def test_mcnemar_for_two_outcomes() -> None:
    row = only_pair(from_table([[40, 12], [3, 45]], [0.0, 1.0]))
    assert row.bias_test == "mcnemar_midp"
    assert row.p_bias == pytest.approx(stats.mcnemar_midp(12, 3))
    assert row.bias == pytest.approx(0.09)
    assert (row.bias_low, row.bias_high) == pytest.approx(stats.bonett_price(12, 3, 100))


def test_three_scorers_and_missing_scores() -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(1, 6, size=60).astype(float)
    marks = {
        who: np.clip(truth + rng.integers(-1, 2, size=60), 1, 5).astype(float) for who in "abc"
    }
    marks["c"][:12] = np.nan
    with pytest.warns(EvalToolkitWarning, match="gave no score are left out, up to 12 in 2 pairs"):
        result = agreement(scored(marks), criterion="helpful")
    table = result.table.set_index(["scorer_a", "scorer_b"])
    assert table["n"].tolist() == [60, 48, 48]
    assert table["n_not_scored"].tolist() == [0, 12, 12]
    overall = result.overall.set_index("coefficient")
    everything = np.array([marks[who] for who in "abc"])
    assert overall.loc["krippendorff_alpha", "value"] == pytest.approx(
        stats.krippendorff_alpha(everything, measure="ordinal")
    )
    complete = everything[:, 12:]
    counts = (complete[:, :, None] == np.arange(1.0, 6.0)).sum(axis=0)
    assert overall.loc["fleiss_kappa", "value"] == pytest.approx(stats.fleiss_kappa(counts))
    found = stats.intraclass_correlations(complete.T)
    assert overall.loc[["icc2", "icc3"], "value"].tolist() == pytest.approx(
        [found.icc2, found.icc3]
    )
    assert overall["n"].tolist() == [60, 48, 48, 48]
    p_values = table["p_bias"].to_numpy()
    assert (table["p_bias_adjusted"] >= table["p_bias"]).all()
    assert table["p_bias_adjusted"].tolist() == pytest.approx(stats.adjust(p_values).tolist())


def test_absent_rows_are_counted_on_their_side() -> None:
    table = scored({"a": [0, 1] * 30, "b": [0, 1] * 20})
    row = only_pair(table)
    assert (row.n, row.n_only_a, row.n_only_b, row.n_not_scored) == (40, 20, 0, 0)


def test_numbers_get_an_icc() -> None:
    rng = np.random.default_rng(3)
    first = rng.normal(size=50)
    second = first + 0.5 + 0.2 * rng.normal(size=50)
    result = agreement(scored({"a": first, "b": second}), criterion="helpful")
    row = result.table.iloc[0]
    assert row.level == "interval"
    found = stats.intraclass_correlations(np.column_stack([first, second]))
    assert row.icc == pytest.approx(found.icc2)
    assert row.icc_low < row.icc < row.icc_high
    assert math.isnan(row.kappa)
    estimate = stats.paired_t(second - first)
    assert (row.bias_low, row.bias_high, row.p_bias) == pytest.approx(
        (estimate.low, estimate.high, estimate.p_value)
    )
    assert "kappa" not in result.summary().columns


def test_trials_of_an_example_are_drawn_together() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.integers(2, size=(2, 30)).astype(float)
    parts = [scored({"a": a, "b": b}, trial=trial) for trial in range(4)]
    many, one = only_pair(pd.concat(parts)), only_pair(parts[0])
    assert (many.n, many.n_blocks) == (120, 30)
    assert many.kappa == pytest.approx(one.kappa)
    assert (many.kappa_low, many.kappa_high) == pytest.approx((one.kappa_low, one.kappa_high))
    assert many.observed_interval == "cr2_t"
    assert many.bias_test == "cr2_t"
    clustered = scored({"a": a, "b": b}, cluster=[f"c{i // 3}" for i in range(30)] * 2)
    assert only_pair(clustered).n_blocks == 10
    assert only_pair(clustered, cluster=False).n_blocks == 30


def test_row_order_changes_nothing() -> None:
    rng = np.random.default_rng(6)
    table = scored({who: rng.integers(1, 5, size=40).astype(float) for who in "abc"})
    shuffled = table.sample(frac=1, random_state=1)
    first, second = (agreement(t, criterion="helpful") for t in (table, shuffled))
    pd.testing.assert_frame_equal(first.table, second.table)
    pd.testing.assert_frame_equal(first.overall, second.overall)
    third = agreement(table, criterion="helpful", seed=1)
    assert not first.table["kappa_low"].equals(third.table["kappa_low"])


def test_swapping_scorers_mirrors_the_row() -> None:
    table = from_table([[40, 12], [3, 45]], [0.0, 1.0])
    row, mirrored = only_pair(table), only_pair(table, scorers=["b", "a"])
    assert (mirrored.scorer_a, mirrored.mean_a) == ("b", row.mean_b)
    assert mirrored.kappa == pytest.approx(row.kappa)
    assert mirrored.bias == pytest.approx(-row.bias)
    assert mirrored.bias_low == pytest.approx(-row.bias_high)
    assert mirrored.p_bias == row.p_bias


@pytest.mark.parametrize(
    ("a", "b", "note"),
    [
        ([1.0] * 40, [1.0] * 40, "kappa does not exist"),
        ([0.0, 1.0] * 20, [0.0, 1.0] * 20, "no interval of kappa: no draw differs"),
        ([2.5] * 40, [2.5] * 40, "all scores are equal"),
        ([1.0, 2.0, 3.0] * 12, [1.0, 2.0, 3.0] * 12, "no interval of kappa: no draw differs"),
    ],
)
def test_perfect_agreement_has_no_zero_width_interval(
    a: list[float], b: list[float], note: str
) -> None:
    row = only_pair(scored({"a": a, "b": b}))
    assert note in row.note
    assert row.observed == 1.0
    assert row.observed_low < 1.0
    assert math.isnan(row.kappa_low)
    assert row.p_bias == 1.0


@pytest.mark.parametrize("n", [1, 2, 9])
def test_few_outputs_get_numbers_but_no_interval(n: int) -> None:
    table = scored({"a": [0.0, 1.0, 1.0] * 3, "b": [1.0, 1.0, 0.0] * 3})
    table = table[table["example_id"] < f"e{n:04d}"]
    with pytest.warns(EvalToolkitWarning, match=f"fewest: {n}"):
        row = only_pair(table)
    assert row.n == n
    assert math.isnan(row.kappa_low)
    assert "fewer than 10 examples" in row.note
    assert 0 <= row.observed_low < row.observed_high <= 1


def test_grades_may_be_names() -> None:
    row = only_pair(from_table(COHEN, [1.0, 2.0, 3.0]), level="nominal")
    assert math.isnan(row.mean_a)
    assert math.isnan(row.kappa_quadratic)
    assert row.kappa == pytest.approx(0.4915254, abs=1e-7)
    assert row.bias_test == "stuart_maxwell"


def test_a_gap_in_the_scale_counts_its_full_distance() -> None:
    """Grades 1, 2 and 5 of a five-point scale are not three equal steps."""
    row = only_pair(from_table([[20, 2, 4], [3, 20, 1], [2, 3, 20]], [1.0, 2.0, 5.0]))
    assert row.kappa_quadratic == pytest.approx(1 - _cost(20, 2, 4, 3, 1, 2, 3), abs=1e-12)


def _cost(*counts: int) -> float:
    """Share of quadratic disagreement, with the distances 1, 3 and 4."""
    same, ab, ac, ba, bc, ca, cb = counts
    table = np.array([[same, ab, ac], [ba, same, bc], [ca, cb, same]], float) / (3 * same + 15)
    far = np.subtract.outer([1.0, 2.0, 5.0], [1.0, 2.0, 5.0]) ** 2
    return float((table * far).sum() / (table.sum(axis=1) @ far @ table.sum(axis=0)))


@pytest.mark.parametrize(
    ("options", "code", "text"),
    [
        ({"criterion": "helpfull"}, "unknown_criterion", "did you mean 'helpful'"),
        ({"scorers": ["a", "jugde"]}, "unknown_scorer", "jugde"),
        ({"scorers": ["a"]}, "one_scorer", "needs two scorers"),
        ({"scorers": ["a", "a"]}, "bad_option", "different"),
        ({"systems": ["x"]}, "unknown_system", "'agent'"),
        ({"cluster": "repo"}, "unknown_attribute", "no column 'repo'"),
        ({"level": "ratio"}, "unknown_option", "ratio"),
        ({"alpha": 5}, "bad_fraction", "0.05"),
        ({"draws": 5}, "bad_count", "at least 100"),
        ({"seed": -1}, "bad_count", "seed"),
    ],
)
def test_wrong_options_are_named(options: dict, code: str, text: str) -> None:
    table = scored({"a": [0.0, 1.0] * 20, "b": [0.0, 1.0] * 20})
    with pytest.raises(EvalToolkitError, match=text) as caught:
        agreement(table, **({"criterion": "helpful"} | options))
    assert caught.value.code == code


def test_scorers_that_never_meet() -> None:
    table = pd.concat([scored({"a": [0.0, 1.0]}, run_id="r1"), scored({"b": [1.0, 1.0]})])
    with pytest.raises(PairingError, match="they differ in run_id") as caught:
        agreement(table, criterion="helpful")
    assert caught.value.code == "no_common_output"
    apart = scored({"a": [1.0, math.nan], "b": [math.nan, 0.0]})
    with pytest.raises(PairingError, match="share 2 outputs, but on none"):
        agreement(apart, criterion="helpful")


def test_one_pair_of_three_that_never_meets_is_said() -> None:
    gap = [math.nan] * 30
    marks = {"a": [0.0, 1.0] * 30, "b": [*gap, *[0.0, 1.0] * 15], "c": [*[0.0, 1.0] * 15, *gap]}
    table = scored(marks).dropna(subset="score")
    with pytest.warns(EvalToolkitWarning, match="no output was scored by both of: 'b / c'"):
        result = agreement(table, criterion="helpful")
    row = result.table.iloc[2]
    assert row.n == 0
    assert math.isnan(row.observed)
    assert "b and c scored no output in common." in result.conclusion()
    assert result.overall.set_index("coefficient").loc["fleiss_kappa", "note"].startswith("no out")


def test_words_and_prints() -> None:
    result = agreement(from_table(COHEN, [1.0, 2.0, 3.0]), criterion="helpful")
    said = result.conclusion()
    assert "a and b give the same score on 70 % of 200 outputs" in said
    assert "quadratic kappa 0.45" in said
    assert "not validity" in said
    assert "2,000 resamples of whole examples (seed 0)" in result.methods()
    assert "Stuart\u2013Maxwell" in result.methods()
    assert "<table>" in result._repr_html_()
    assert len(result.ratings) == 200
    assert result.ratings[["a", "b"]].notna().all(axis=None)
    hostile = scored({"<b>|x": [0.0, 1.0] * 20, "y\nz": [0.0, 1.0] * 20})
    printed = agreement(hostile, criterion="helpful")
    assert "<b>" not in printed._repr_html_()
    assert "y z" in printed.conclusion()
