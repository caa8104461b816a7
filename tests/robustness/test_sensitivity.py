"""What lost pairs could change: against compare itself, by hand, and where nothing can be said."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import evaltoolkit as et
from evaltoolkit import stats
from evaltoolkit.results import Sensitivity
from evaltoolkit.robustness import sensitivity
from tests.comparison.builders import paired_cells, two_systems

SAME = ["n_pairs", "n_imputed", "delta", "se", "ci_low", "ci_high", "interval", "test", "p_value",
        "p_adjusted", "verdict", "note"]  # fmt: skip


def quietly(function: object, frame: pd.DataFrame, **choices: object) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", et.EvalToolkitWarning)
        return function(frame, **{"baseline": "old", "candidate": "new", **choices})  # type: ignore[operator]


def asked(frame: pd.DataFrame, **choices: object) -> Sensitivity:
    found = quietly(sensitivity, frame, **choices)
    assert isinstance(found, Sensitivity)
    return found


def compared(frame: pd.DataFrame, **choices: object) -> et.Comparison:
    found = quietly(et.compare, frame, **choices)
    assert isinstance(found, et.Comparison)
    return found


def losing(
    frame: pd.DataFrame, count: int, *, system: str = "new", status: str = "system_error"
) -> pd.DataFrame:
    """Lose the scores of a system's last examples."""
    ids = sorted(frame.example_id.unique())[-count:] if count else []
    lost = frame.example_id.isin(ids) & (frame.system == system)
    status_text = frame["status"].astype("str").mask(lost, status)
    return frame.assign(score=frame["score"].mask(lost), status=status_text)


def three_criteria() -> pd.DataFrame:
    """A 0/1 criterion, ratings and lengths without bounds; each side loses some examples."""
    rng = np.random.default_rng(1)
    hard = rng.normal(size=80)
    old, new = hard + rng.normal(size=80) * 0.5, hard + 0.6 + rng.normal(size=80) * 0.5
    parts = [
        two_systems((old > -0.5).astype(float).tolist(), (new > -0.5).astype(float).tolist()),
        two_systems(
            np.clip(np.round(3 + old), 1, 5).tolist(),
            np.clip(np.round(3 + new), 1, 5).tolist(),
            criterion="rating",
            lower_bound=1.0,
            upper_bound=5.0,
        ),
        two_systems((10 * old).tolist(), (10 * new).tolist(), criterion="words"),
    ]
    frame = losing(pd.concat(parts, ignore_index=True), 9)
    early = frame.example_id.isin(sorted(frame.example_id.unique())[:4]) & (frame.system == "old")
    status = frame["status"].astype("str").mask(early, "scorer_error")
    return frame.assign(score=frame["score"].mask(early), status=status)


@pytest.mark.parametrize("margin", [None, 0.4])
def test_scenarios_are_those_of_compare(margin: float | None) -> None:
    frame = three_criteria()
    bounded = frame[frame.criterion != "words"]
    found = asked(bounded, margin=margin).scenarios.set_index(["missing", "criterion"])
    for missing in ("report", "worst", "as_failure"):
        table = compared(bounded, margin=margin, missing=missing).table
        expected = table.set_index("criterion")[SAME]
        pd.testing.assert_frame_equal(found.loc[missing][SAME], expected, check_dtype=False)


@pytest.mark.parametrize("margin", [None, 0.4])
def test_the_best_case_is_compare_on_scores_filled_in_by_hand(margin: float | None) -> None:
    frame = three_criteria()
    frame = frame[frame.criterion != "words"]
    worst = frame.criterion.map({"correct": 0.0, "rating": 1.0})
    best = frame.criterion.map({"correct": 1.0, "rating": 5.0})
    lost_ids = frame.loc[frame.score.isna(), "example_id"]
    lost, old = frame.example_id.isin(lost_ids), frame.system == "old"
    score = frame["score"].mask(lost & old, worst)
    score = score.mask(lost & ~old & frame.score.isna(), best)
    filled = frame.assign(score=score, status="scored")
    expected = compared(filled, margin=margin).table.set_index("criterion")
    found = asked(frame, margin=margin).scenarios.set_index(["missing", "criterion"]).loc["best"]
    same = [name for name in SAME if name != "n_imputed"]
    pd.testing.assert_frame_equal(found[same], expected[same], check_dtype=False)
    assert found.n_imputed.tolist() == [13, 13]


def test_without_bounds_the_row_says_so_and_the_others_go_on() -> None:
    frame = three_criteria()
    found = asked(frame)
    table = found.table.set_index("criterion")
    words = table.loc["words"]
    assert words[["verdict_worst", "verdict_best", "verdict_as_failure"]].tolist() == [
        "unknown", "unknown", "unknown",
    ]  # fmt: skip
    assert pd.isna(words.unchanged)
    assert pd.isna(words.tipping_pairs)
    assert "bounds of the criterion are not known" in words.note
    assert "What they could change cannot be said" in found.conclusion()
    assert table.loc["correct", "verdict_worst"] != "unknown"
    # It stays in the family with its measured pairs.
    report = compared(frame).table.set_index("criterion")
    rows = found.scenarios.set_index(["missing", "criterion"])
    assert rows.loc[("report", "correct"), "p_adjusted"] == report.p_adjusted["correct"]
    assert math.isnan(rows.loc[("worst", "words"), "delta"])


def smallest_by_hand(wins: int, losses: int, most: int) -> int | None:
    """Smallest number of additional losses at which McNemar's mid-p exceeds .05."""
    for k in range(1, most + 1):
        n, low = wins + losses + k, min(wins, losses + k)
        p = 2 * binom.cdf(low, n, 0.5) - binom.pmf(low, n, 0.5)
        if min(p, 1.0) > 0.05:
            return k
    return None


@pytest.mark.parametrize("lost", [3, 20, 60])
def test_tipping_pairs_of_an_improvement(lost: int) -> None:
    # 30 wins, 8 losses; the lost ones were right under the old system.
    frame = losing(paired_cells(40 + lost, 30, 8, 0).sort_values("example_id"), 0)
    right = frame.loc[(frame.system == "old") & (frame.score == 1), "example_id"]
    both = set(right) & set(frame.loc[(frame.system == "new") & (frame.score == 1), "example_id"])
    hit = frame.example_id.isin(sorted(both)[:lost]) & (frame.system == "new")
    status = frame["status"].astype("str").mask(hit, "system_error")
    frame = frame.assign(score=frame["score"].mask(hit), status=status)
    row = asked(frame).table.iloc[0]
    expected = smallest_by_hand(30, 8, lost)
    assert row.verdict == "improved"
    assert (row.n_lost, row.n_system_error) == (lost, lost)
    if expected is None:
        assert pd.isna(row.tipping_pairs)
        assert row.tipping_towards == ""
        assert math.isnan(row.tipping_mean)
        assert row.verdict_worst == "improved"
        assert bool(row.unchanged)
    else:
        assert row.tipping_pairs == expected
        assert row.tipping_share == pytest.approx(expected / lost)
        assert row.tipping_towards == "baseline"
        assert row.tipping_mean == pytest.approx(-expected / lost)


def test_a_lost_pair_that_cannot_be_a_loss_harms_nothing() -> None:
    # The old system failed all of the lost examples: no score of the new one could be worse.
    frame = losing(paired_cells(20, 12, 0, 15), 15)
    row = asked(frame).table.iloc[0]
    assert row.n_lost == 15
    assert row.verdict_worst == "improved"
    assert pd.isna(row.tipping_pairs)
    text = asked(frame).conclusion()
    assert "No number of the lost pairs turns this claim" in text
    assert "would stand whatever" in text


@given(st.integers(0, 30), st.integers(8, 25), st.integers(0, 4), st.integers(1, 12))
@settings(max_examples=5, deadline=None)
def test_swapping_the_systems_mirrors_everything(
    both: int, wins: int, losses: int, neither: int
) -> None:
    frame = losing(paired_cells(both, wins, losses, neither), neither)
    table = asked(frame).table.iloc[0]
    swapped = frame.assign(system=frame["system"].map({"old": "new", "new": "old"}))
    other = asked(swapped).table.iloc[0]
    mirror = {"improved": "regressed", "regressed": "improved"}
    assert other.verdict == mirror.get(table.verdict, table.verdict)
    assert other.verdict_best == mirror.get(table.verdict_worst, table.verdict_worst)
    assert other.verdict_worst == mirror.get(table.verdict_best, table.verdict_best)
    assert (other.tipping_pairs is pd.NA) == (table.tipping_pairs is pd.NA)
    if table.tipping_pairs is not pd.NA:
        assert other.tipping_pairs == table.tipping_pairs
        assert {other.tipping_towards, table.tipping_towards} <= {"baseline", "candidate"}
        assert other.tipping_mean == pytest.approx(-table.tipping_mean)


def test_an_inconclusive_result_may_tip_either_way() -> None:
    # 7 wins and 5 losses; of 10 lost the new system's answers are missing.
    frame = losing(paired_cells(0, 7, 5, 10), 10)
    row = asked(frame).table.iloc[0]
    assert row.verdict == "inconclusive"
    # The old system failed them all, so only wins can be added.
    wins = next(k for k in range(1, 11) if stats.mcnemar_midp(7 + k, 5) <= 0.05)
    assert (row.tipping_pairs, row.tipping_towards) == (wins, "candidate")
    assert row.verdict_best == "improved"
    assert row.verdict_worst == "inconclusive"


def test_claims_of_equivalence_tip_by_the_margin_test() -> None:
    frame = losing(paired_cells(150, 4, 4, 0), 0)
    ids = sorted(frame.example_id.unique())[:30]
    hit = frame.example_id.isin(ids) & (frame.system == "new")
    status = frame["status"].astype("str").mask(hit, "unscored")
    frame = frame.assign(score=frame["score"].mask(hit), status=status)
    found = asked(frame, margin=0.08)
    row = found.table.iloc[0]
    assert row.verdict == "equivalent"
    expected = next(
        k for k in range(1, 31)
        if stats.tango_equivalence(4, 4 + k, 128 + k, margin=0.08).p_value > 0.05
    )  # fmt: skip
    assert (row.tipping_pairs, row.tipping_towards) == (expected, "baseline")
    assert "unadjusted margin test" in found.conclusion()


def continuous(n: int, lost: int, *, lower_is_better: bool = False) -> pd.DataFrame:
    rng = np.random.default_rng(11)
    old = rng.uniform(0.2, 0.6, size=n)
    new = old + rng.normal(0.1, 0.15, size=n)
    frame = two_systems(old.tolist(), np.clip(new, 0, 1).tolist(), kind="continuous",
                        lower_bound=0.0, upper_bound=1.0)  # fmt: skip
    if lower_is_better:
        frame = frame.assign(score=1 - frame["score"], higher_is_better=False)
    return losing(frame, lost)


@pytest.mark.parametrize("lower_is_better", [False, True])
def test_the_mean_at_which_a_continuous_claim_turns(lower_is_better: bool) -> None:
    frame = continuous(60, 12, lower_is_better=lower_is_better)
    row = asked(frame).table.iloc[0]
    assert row.verdict == "improved"
    assert 1 <= row.tipping_pairs <= 12
    assert row.tipping_towards == "baseline"
    measured = compared(frame).pairs["delta"].to_numpy()
    at = lambda mean: stats.sign_flip(np.append(measured, [mean] * 12), seed=0).p_value  # noqa: E731
    good = -0.02 if lower_is_better else 0.02
    assert at(row.tipping_mean) > 0.05 >= at(row.tipping_mean + good)
    # The most harmful come first: the old system's best, and their loss is as large as can be.
    worst = compared(frame, missing="worst").pairs
    harm = worst.loc[worst.imputed, "delta"].to_numpy()
    harm = harm[np.argsort(-np.abs(harm))]
    p = [stats.sign_flip(np.append(measured, harm[:k]), seed=0).p_value for k in range(13)]
    assert row.tipping_pairs == next(k for k in range(13) if p[k] > 0.05)


def test_bisection_finds_what_a_scan_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = continuous(120, 50)
    few = asked(frame).table
    monkeypatch.setattr("evaltoolkit.robustness.tipping.SCAN", 100)
    pd.testing.assert_frame_equal(asked(frame).table, few)
    assert few.tipping_pairs[0] >= 1


def test_nothing_lost() -> None:
    found = asked(paired_cells(10, 12, 3, 10))
    row = found.table.iloc[0]
    assert row.n_lost == 0
    assert row.note == "no pair was lost"
    assert bool(row.unchanged)
    assert len(set(found.scenarios.p_value)) == 1
    assert "no pair was lost, so nothing depends" in found.conclusion()
    assert found.methods()


def test_unpaired_examples_count_and_clusters_stay_together() -> None:
    rng = np.random.default_rng(3)
    clusters = [f"c{i // 5:02d}" for i in range(60)]
    old = (rng.uniform(size=60) < 0.5).astype(float)
    new = np.maximum(old, (rng.uniform(size=60) < 0.6).astype(float))
    frame = two_systems(old.tolist(), new.tolist(), cluster=clusters * 2)
    ids = sorted(frame.example_id.unique())
    frame = frame[~((frame.system == "new") & frame.example_id.isin(ids[:10]))]
    found = asked(frame.reset_index(drop=True))
    row = found.table.iloc[0]
    assert (row.n_unpaired, row.n_lost, row.test) == (10, 10, "cluster_flip")
    worst = compared(frame, missing="worst").table.iloc[0]
    mine = found.scenarios.set_index("missing").loc["worst"]
    assert (mine.p_value, mine.se) == (worst.p_value, worst.se)
    assert row.tipping_towards in ("baseline", "")


def test_several_trials_are_partly_lost() -> None:
    frame = pd.concat(
        [continuous(40, 6).assign(trial=0), continuous(40, 0).assign(trial=1)], ignore_index=True
    )
    found = asked(frame)
    assert found.table.n_lost[0] == 0
    assert "6 trials of pairs that remain gave no score" in found.conclusion()


def test_verdicts_of_scorers_have_bounds() -> None:
    frame = losing(paired_cells(10, 20, 2, 8), 8)
    passed = frame.assign(passed=(frame["score"] == 1).where(frame.score.notna()), score=3.0)
    passed["score"] = passed["score"].where(frame.score.notna())
    row = asked(passed, measure="passed").table.iloc[0]
    assert row.verdict_worst != "unknown"
    assert row.n_lost == 8


def test_row_order_and_seed_do_not_matter() -> None:
    frame = three_criteria()
    found = asked(frame)
    again = asked(frame.sample(frac=1, random_state=5).reset_index(drop=True))
    pd.testing.assert_frame_equal(found.table, again.table)
    pd.testing.assert_frame_equal(found.scenarios, again.scenarios)


def test_a_claim_that_only_the_adjustment_leaves_open() -> None:
    # p = .039 alone, but Bonferroni over two criteria: inconclusive.
    first = losing(paired_cells(20, 14, 5, 10), 10)
    second = paired_cells(20, 6, 6, 17).assign(criterion="other")
    table = asked(pd.concat([first, second], ignore_index=True), correction="bonferroni").table
    row = table.set_index("criterion").loc["correct"]
    assert row.verdict == "inconclusive"
    assert "only the adjustment leaves it open" in row.note
    assert pd.isna(row.tipping_pairs)


def test_primary_and_errors_are_those_of_compare() -> None:
    frame = three_criteria()
    found = asked(frame, primary="correct").scenarios
    report = compared(frame, primary="correct").table
    mine = found[found.missing == "report"]
    assert mine.p_adjusted.tolist() == report.p_adjusted.tolist()
    with pytest.raises(et.PairingError, match="no system of the table"):
        asked(frame, candidate="newer")
