"""Does the conclusion depend on the method? Every answer against an independent computation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as sp

import evaltoolkit as et
from evaltoolkit.robustness import alternatives, combine_tasks
from tests.comparison.builders import many_criteria, paired_cells, two_systems

pytestmark = pytest.mark.filterwarnings("ignore::evaltoolkit.errors.EvalToolkitWarning")

GPT5, SONNET = "20250807_mini-v1.7.0_gpt-5", "20250929_mini-v1.13.3_sonnet-4-5-20250929"


def compared(frame: pd.DataFrame, **options: object) -> et.Comparison:
    return et.compare(frame, baseline="old", candidate="new", **options)  # type: ignore[arg-type]


def by_method(table: pd.DataFrame) -> pd.DataFrame:
    assert not table["method"].duplicated().any()
    return table.set_index("method")


# Darwin's maize plants: reference values of R and scipy in the survey of methods.
DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]


def test_darwin_every_plain_method() -> None:
    frame = two_systems([0.0] * 15, [float(d) for d in DARWIN], criterion="height")
    rows = by_method(alternatives(compared(frame)).table)
    assert rows.loc["t", ["low", "high", "p_value"]].tolist() == pytest.approx(
        [0.031193, 41.835473, 0.0497029], rel=1e-4
    )
    assert rows.loc["z", ["low", "high"]].tolist() == pytest.approx([1.832393, 40.034273], rel=1e-6)
    assert rows.loc["sign_flip_exact", "p_value"] == pytest.approx(1726 / 32768)
    assert rows.loc["sign_flip", "p_value"] == pytest.approx((1670 + 56 / 2) / 32768)
    assert rows.loc["wilcoxon_wilcox", "p_value"] == pytest.approx(0.04125977, rel=1e-6)
    assert rows.loc["wilcoxon_pratt", "p_value"] == pytest.approx(0.04125977, rel=1e-6)
    hodges_lehmann = rows.loc["hodges_lehmann", ["estimate", "low", "high"]].tolist()
    assert hodges_lehmann == pytest.approx([25, 4, 41.5])
    assert np.isnan(rows.loc["hodges_lehmann", "p_value"])
    assert rows.loc["sign_test", "p_value"] == pytest.approx(0.00738525, rel=1e-5)
    # 13 of 15: Clopper-Pearson .5953973, .9834241 (scipy binomtest), moved to 2 x - 1
    exact = sp.binomtest(13, 15).proportion_ci(method="exact")
    assert rows.loc["sign_test", ["low", "high"]].tolist() == pytest.approx(
        [2 * exact.low - 1, 2 * exact.high - 1]
    )
    bca = rows.loc["bootstrap_bca", ["low", "high"]].tolist()
    assert bca == pytest.approx([-1.612349, 36.356423], abs=1.5)  # the limit of the ABC interval
    assert "mcnemar_midp" not in rows.index


def test_who_disagrees_with_darwin() -> None:
    frame = two_systems([0.0] * 15, [float(d) for d in DARWIN], criterion="height")
    result = alternatives(compared(frame))  # own test: sign flips mid-p, p = .0518
    rows = by_method(result.table)
    assert rows.loc["sign_flip", "own"] == "test"
    assert rows.loc["t", "own"] == "interval"
    assert not rows.loc["sign_flip", "significant"]
    assert set(result.dissenting.method) == {
        "t", "wilcoxon_wilcox", "wilcoxon_pratt", "hodges_lehmann", "sign_test", "win_rate",
        *{m for m in rows.index if m.startswith("bootstrap") and rows.loc[m, "low"] > 0},
    }  # fmt: skip
    assert set(result.dissenting.dissent) == {"significance"}
    said = result.conclusion()
    assert "depends on the method in 1 of 1 row" in said
    assert "not significant by its own test (difference +20.9, sign-flip mid-p p = .052)" in said
    assert "sign test [P(higher) - P(lower) among pairs that differ]" in said
    assert "unadjusted" in said


def test_airway_every_binary_method() -> None:
    """Both 1, wins 7, losses 1, neither 12: numbers of Fagerland et al. and R."""
    rows = by_method(alternatives(compared(paired_cells(1, 7, 1, 12))).table)
    p = rows["p_value"]
    assert p["mcnemar_score"] == pytest.approx(0.0338949, rel=1e-5)
    assert p["mcnemar_exact"] == pytest.approx(0.0703125)
    assert p["mcnemar_midp"] == pytest.approx(0.0390625)
    expected = {
        "tango": (0.026003, 0.517232),
        "newcombe": (0.025559, 0.506920),
        "bonett_price": (0.013380, 0.508359),
    }
    for method, ends in expected.items():
        assert rows.loc[method, ["low", "high"]].tolist() == pytest.approx(ends, abs=1e-6)
        assert np.isnan(p[method])
    half = sp.norm.ppf(0.975) * np.sqrt((9 / 23 - (6 / 23) ** 2) / 23)
    agresti_min = rows.loc["agresti_min", ["low", "high"]].tolist()
    assert agresti_min == pytest.approx([6 / 23 - half, 6 / 23 + half])
    bayes = rows.loc["bayes_dirichlet"]
    assert bayes.estimate == pytest.approx(6 / 25)
    assert 0.01 < bayes.low < 0.03
    assert f"P(candidate higher) = {sp.beta(8, 2).sf(0.5):.4f}" in bayes.note
    assert rows.loc["mcnemar_exact", "dissent"] == "significance"


@settings(max_examples=8, deadline=None)
@given(st.tuples(*[st.integers(0, 12)] * 4).filter(lambda cells: sum(cells) > 0))
def test_what_is_the_same_by_construction_is_the_same(cells: tuple[int, int, int, int]) -> None:
    table = alternatives(compared(paired_cells(*cells)), draws=50).table
    rows = by_method(table)
    for method, twin in rows["same_as"].dropna().items():
        if method != "tango":
            assert rows.loc[method, "p_value"] == pytest.approx(rows.loc[twin, "p_value"], rel=1e-9)
        assert not rows.loc[method, "counted"]
    tango, score = rows.loc["tango"], rows.loc["mcnemar_score"]
    assert bool(tango.significant) == bool(score.significant)
    widths = rows["high"] - rows["low"]
    assert not (widths <= 0).any()
    assert rows["p_value"].dropna().between(0, 1).all()
    assert table["agrees"].notna().eq(table["p_value"].notna() | table["low"].notna()).all()
    assert table.loc[table["agrees"].isna(), "note"].ne("").all()


def test_estimand_clash_is_named() -> None:
    """270 ties, 21 small wins, 9 losses of 4: the mean falls, the ranks rise."""
    deltas = [0.0] * 270 + [1.0] * 15 + [2.0] * 6 + [-4.0] * 9
    old = [5.0] * 300
    result = compared(two_systems(old, [a + d for a, d in zip(old, deltas, strict=True)]))
    other = alternatives(result)
    rows = by_method(other.table)
    assert rows.loc["t", "p_value"] == pytest.approx(0.507, abs=5e-4)
    assert rows.loc["sign_test", "p_value"] == pytest.approx(0.0428, abs=5e-5)
    assert et.stats.wilcoxon(deltas, exact=False).p_value == pytest.approx(0.0385, abs=5e-5)
    assert rows.loc["wilcoxon_pratt", "p_value"] == pytest.approx(0.0385, abs=0.005)  # exact
    assert rows.loc["wilcoxon_pratt", "dissent"] == "both"
    assert rows.loc["hodges_lehmann", "note"].endswith("no width, not shown")
    assert rows.loc["win_rate", "estimate"] == pytest.approx(12 / 300)
    assert "opposite sign, and significant" in other.conclusion()


def test_swapping_the_systems_negates() -> None:
    frame = many_criteria(40, 1, seed=3, effect=0.2)
    forth = by_method(alternatives(compared(frame), draws=500).table)
    back = et.compare(frame, baseline="new", candidate="old")
    there = by_method(alternatives(back, draws=500).table)
    exact = [m for m in forth.index if not m.startswith("bootstrap")]
    assert np.allclose(forth.loc[exact, "estimate"], -there.loc[exact, "estimate"])
    assert np.allclose(forth.loc[exact, "low"], -there.loc[exact, "high"], equal_nan=True)
    assert np.allclose(forth.loc[exact, "p_value"], there.loc[exact, "p_value"], equal_nan=True)


def test_row_order_is_irrelevant_and_the_seed_decides() -> None:
    frame = many_criteria(45, 2, seed=5, effect=0.3)
    first = alternatives(compared(frame), draws=300).table
    mixed = alternatives(compared(frame.sample(frac=1, random_state=1)), draws=300).table
    pd.testing.assert_frame_equal(first, mixed)
    other = alternatives(compared(frame), draws=300, seed=9).table
    assert not other["low"].equals(first["low"])


def test_clustered_methods(shared_data: Path) -> None:
    raw = pd.read_csv(shared_data / "paired" / "swebench_verified_miniswe_25x500.csv")
    scores = et.tidy_scores(
        raw, system="run", example_id="instance_id", criteria=["resolved"], attributes=["repo"]
    )
    plain = et.compare(scores, baseline=GPT5, candidate=SONNET)
    rows = by_method(alternatives(plain).table)
    assert rows.loc["mcnemar_exact", "p_value"] == pytest.approx(0.0020311, abs=5e-8)
    assert rows.loc["mcnemar_midp", "own"] == "test"
    assert "10 of 10 other methods agree" in alternatives(plain).conclusion()
    assert alternatives(plain).dissenting.empty

    clustered = et.compare(scores, baseline=GPT5, candidate=SONNET, cluster="repo", by="repo")
    other = alternatives(clustered, slices=True)
    rows = by_method(other.table[other.table.slice_by.isna()])
    assert rows["design"].eq("clustered").all()
    # 12 repositories: flips of whole clusters have 4096 patterns
    sums = clustered.pairs.groupby("repo").delta.sum().to_numpy()
    patterns = 1 - 2 * ((np.arange(4096)[:, None] >> np.arange(12)) & 1)
    reached = np.abs(patterns @ sums) >= abs(sums.sum()) - 1e-9
    assert rows.loc["cluster_permutation", "p_value"] == pytest.approx(reached.mean())
    assert rows.loc["cr2_t", "own"] == "interval"
    assert rows.loc["cluster_flip", "p_value"] == clustered.overall.p_value.iloc[0]
    assert rows.loc["cr0_z", "high"] - rows.loc["cr0_z", "low"] == pytest.approx(
        2 * sp.norm.ppf(0.975) * 0.0080742, rel=1e-3
    )
    assert not rows.loc["t", "counted"]
    assert "ignores the clusters" in rows.loc["t", "note"]
    assert "11 could not be tested" in other.conclusion()


def test_slices_are_answered_from_their_own_pairs() -> None:
    frame = paired_cells(60, 25, 10, 25)
    topic = frame.example_id.str[-1].astype(int).mod(2).map({0: "even", 1: "odd"})
    result = compared(frame.assign(topic=topic), by="topic")
    table = alternatives(result, slices=True).table
    for name in ("even", "odd"):
        part = frame[topic == name]
        alone = alternatives(compared(part)).table
        mine = table[table["slice"] == name].reset_index(drop=True)
        names = ["n_pairs", "method", "estimate", "low", "high", "p_value", "agrees"]
        pd.testing.assert_frame_equal(mine[names], alone[names])


def test_grades_are_tested_where_there_are_three_to_seven() -> None:
    # 3 grades; the square table is [[96, 13, 1], [77, 46, 8], [7, 0, 2]].
    table = np.array([[96, 13, 1], [77, 46, 8], [7, 0, 2]])
    old = np.repeat(np.repeat([0.0, 1.0, 2.0], 3), table.ravel())
    new = np.repeat(np.tile([0.0, 1.0, 2.0], 3), table.ravel())
    rows = by_method(alternatives(compared(two_systems(old.tolist(), new.tolist()))).table)
    # (13-77)^2/90 + (1-7)^2/8 + (8-0)^2/8 on 3 degrees of freedom
    assert rows.loc["bowker", "p_value"] == pytest.approx(sp.chi2.sf(4096 / 90 + 4.5 + 8, 3))
    assert rows.loc["stuart_maxwell", "p_value"] < 1e-10
    assert rows.loc["bhapkar", "p_value"] < rows.loc["stuart_maxwell", "p_value"]
    assert np.isnan(rows.loc["bowker", "estimate"])
    eight = two_systems([float(i % 8) for i in range(40)], [float(i % 7) for i in range(40)])
    assert "bowker" not in set(alternatives(compared(eight)).table["method"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ([0.0], [1.0]),
        ([0.0, 1.0], [1.0, 1.0]),
        ([0.0] * 10, [1.0] * 10),
        ([1.0, 0.0] * 10, [1.0, 0.0] * 10),
        ([2.5], [3.5]),
        ([2.5, 1.5], [3.5, 3.0]),
        ([1.5] * 9, [2.5] * 9),
        ([1.5, 2.5] * 9, [1.5, 2.5] * 9),
        ([1.0, 2.0, 3.0] * 9, [1.0, 2.0, 3.0] * 9),
        ([1.0, 2.0, 3.0] * 9, [2.0, 3.0, 1.0] * 9),
    ],
)
@pytest.mark.parametrize("clusters", [0, 1, 2])
def test_awkward_pairs_get_a_defined_answer(
    old: list[float], new: list[float], clusters: int
) -> None:
    frame = two_systems(old, new, criterion="quality")
    if clusters:
        frame["cluster"] = [f"c{i % clusters}" for i in range(len(old))] * 2
    result = alternatives(compared(frame), draws=100)
    table = result.table
    assert not (table["high"] - table["low"] <= 0).any()
    assert table["p_value"].dropna().between(0, 1).all()
    silent = table[table["agrees"].isna()]
    assert silent["note"].ne("").all()
    assert result.conclusion()
    assert result.methods()
    assert result._repr_html_()


def test_all_ties_agree_on_nothing_changed() -> None:
    result = alternatives(compared(two_systems([1.5, 2.5] * 9, [1.5, 2.5] * 9)))
    answered = result.table[result.table["p_value"].notna()]
    assert answered["p_value"].eq(1).all()
    assert result.dissenting.empty


def test_one_cluster_is_left_out_with_its_reason() -> None:
    frame = two_systems([0.5, 0.25, 0.75] * 4, [0.75, 0.5, 0.5] * 4)
    result = alternatives(compared(frame.assign(cluster="all")))
    assert result.table.empty
    assert "not tested (" in result.conclusion()
    assert "one cluster" in result.conclusion()


def test_lower_is_better_keeps_the_sign_of_the_numbers() -> None:
    frame = two_systems([1.0 + 0.01 * i for i in range(20)], [0.5] * 20, criterion="latency_s")
    rows = by_method(alternatives(compared(frame)).table)
    assert (rows["estimate"].dropna() < 0).all()
    assert rows.loc["sign_test", "estimate"] == -1.0


def test_the_level_moves_alpha() -> None:
    result = compared(paired_cells(1, 7, 1, 12))
    wide = alternatives(result, level=0.9)
    assert wide.settings["alpha"] == pytest.approx(0.1)
    assert by_method(wide.table).loc["mcnemar_exact", "agrees"]
    assert not by_method(alternatives(result).table).loc["mcnemar_exact", "agrees"]


def test_significant_alone_but_not_after_adjustment_is_said() -> None:
    frames = [paired_cells(1, 7, 1, 12).assign(criterion="c0")]
    frames += [paired_cells(5, k, k, 10).assign(criterion=f"c{k}") for k in range(1, 6)]
    result = compared(pd.concat(frames), correction="bonferroni")
    said = alternatives(result, criterion="c0").conclusion()
    assert "After adjustment it is not significant (adjusted p = .234)" in said


def test_wrong_arguments_are_named() -> None:
    result = compared(paired_cells(3, 4, 2, 1))
    with pytest.raises(et.PairingError, match="did you mean 'correct'"):
        alternatives(result, criterion="corect")
    with pytest.raises(et.PairingError, match=r"level is 95; .*0\.95"):
        alternatives(result, level=95)
    with pytest.raises(et.EvalToolkitError, match="result of et.compare is needed"):
        alternatives("no result")  # type: ignore[arg-type]
    many = et.compare_to_baseline(paired_cells(3, 4, 2, 1), baseline="old")
    with pytest.raises(et.EvalToolkitError, match="values of result.comparisons"):
        alternatives(many)  # type: ignore[arg-type]


def tasks_frame(*cells: tuple[int, int, int, int]) -> pd.DataFrame:
    return pd.concat(
        [paired_cells(*each).assign(task=f"t{k}") for k, each in enumerate(cells)],
        ignore_index=True,
    )


def test_stouffer_adds_signed_evidence_and_fisher_does_not() -> None:
    agree = compared(tasks_frame((9, 9, 2, 9), (9, 8, 2, 9)), correction="none")
    p = agree.table["p_value"].to_numpy()
    z = sp.norm.isf(p / 2).sum() / np.sqrt(2)
    row = combine_tasks(agree).table.iloc[0]
    assert row.p_value == pytest.approx(2 * sp.norm.sf(z))
    assert (row.n_tasks, row.up, row.down) == (2, 2, 0)
    oppose = compared(tasks_frame((9, 9, 2, 9), (9, 2, 9, 9)), correction="none")
    assert combine_tasks(oppose).table.iloc[0].p_value == pytest.approx(1.0)
    fisher = combine_tasks(oppose, method="fisher").table.iloc[0]
    p = oppose.table["p_value"].to_numpy()
    assert fisher.p_value == pytest.approx(sp.chi2.sf(-2 * np.log(p).sum(), 4))
    extreme = compared(tasks_frame((0, 300, 0, 0), (0, 0, 280, 0)), correction="none")
    assert 0 < combine_tasks(extreme).table.iloc[0].p_value < 1


def test_combining_needs_independent_tasks() -> None:
    frame = tasks_frame((9, 9, 2, 9), (9, 8, 2, 9))
    shared = frame.assign(cluster=frame.example_id.str[-1])
    with pytest.raises(et.PairingError, match="reach over several tasks"):
        combine_tasks(compared(shared))
    with pytest.raises(et.PairingError, match="two tasks or more"):
        combine_tasks(compared(paired_cells(9, 9, 2, 9)))
    text = combine_tasks(compared(frame)).conclusion()
    assert "takes the tasks as independent" in text
