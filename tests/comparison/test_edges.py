"""Corners in which a plausible shortcut gives a wrong verdict or a misleading sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import evaltoolkit as et
from tests.comparison.builders import many_criteria, paired_cells, two_systems


def compared(frame: pd.DataFrame, **choices: object) -> et.Comparison:
    return et.compare(frame, baseline="old", candidate="new", **choices)


def test_a_pass_is_good_whatever_the_criterion_is_called() -> None:
    frame = two_systems([2.0] * 40, [1.0] * 40, criterion="latency_s")
    frame["passed"] = pd.array([i % 2 == 0 for i in range(40)] + [True] * 40, dtype="boolean")
    row = compared(frame, measure="passed").table.iloc[0]
    assert row.delta == 0.5
    assert row.verdict == "improved"
    assert "verdicts (passed or not)" in compared(frame, measure="passed").methods()


def test_a_primary_criterion_that_was_not_measured_opens_nothing() -> None:
    strong = paired_cells(20, 30, 2, 8).assign(criterion="other")
    lost = paired_cells(20, 30, 2, 8).assign(criterion="first")
    lost.loc[lost.system == "new", ["score", "status"]] = [np.nan, "unscored"]
    with pytest.warns(et.EvalToolkitWarning, match="no usable pair: 'first'"):
        result = compared(pd.concat([strong, lost]), primary="first")
    row = result.table.set_index("criterion").loc["other"]
    assert row.p_adjusted == 1.0
    assert row.verdict == "inconclusive"
    assert "the primary criterion 'first' is not significant" in row.note


def test_a_closed_gate_is_seen_and_holds_for_margins_too() -> None:
    frame = many_criteria(80, 2, seed=3, effect=[0.9, 0.0])
    equal = two_systems([0.5, 0.7] * 40, [0.51, 0.69] * 40, criterion="same")
    result = compared(pd.concat([frame, equal]), primary="c01", margin={"same": 0.2})
    table = result.table.set_index("criterion")
    assert table.verdict["same"] == "inconclusive"
    assert "not claimed" in table.note["c00"]
    said = next(line for line in result.conclusion().splitlines() if line.startswith("c00"))
    assert "adjusted p = " in said
    assert "primary criterion, c01, was tested first and alone" in result.methods()


def test_the_latest_run_replaces_all_trials_of_an_earlier_one() -> None:
    base = pd.DataFrame({"system": "old", "run_id": "r", "example_id": range(20), "trial": 0,
                         "score": 1.0})  # fmt: skip
    early = pd.concat([base.assign(system="new", run_id="a", trial=t, score=0.0) for t in range(3)])
    late = base.assign(system="new", run_id="b")
    dated = [early.assign(timestamp="2026-01-01T00:00:00Z"),
             late.assign(timestamp="2026-01-02T00:00:00Z")]  # fmt: skip
    frame = pd.concat([base, *dated]).assign(criterion="acc")
    with pytest.warns(et.EvalToolkitWarning, match="same on every example"):
        result = compared(frame, runs="latest")
    assert result.table.mean_candidate[0] == 1.0
    assert "the latest run was used" in result.methods()


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"draws": 0}, "draws is 0; it must be a whole number from 1"),
        ({"draws": True}, "draws is True"),
        ({"seed": -1}, "seed is -1; it must be a whole number from 0"),
        ({"seed": None}, "seed is None"),
        ({"criteria": []}, "an empty list of names"),
        ({"margin": 1.0}, "margin of 'correct' is 1, as wide as its whole range"),
        ({"margin": 0.1, "alpha": 0.6}, "with a margin it must be below 0.5"),
    ],
)
def test_choices_that_cannot_work(choice: dict[str, object], message: str) -> None:
    with pytest.raises(et.PairingError, match=message):
        compared(paired_cells(5, 5, 5, 5), **choice)


def test_lists_among_the_attributes_are_left_alone() -> None:
    frame = paired_cells(10, 12, 2, 6)
    frame["tags"] = [["a", "b"]] * len(frame)
    assert "tags" not in compared(frame).pairs.columns
    with pytest.raises(et.PairingError, match="'tags' holds lists"):
        compared(frame, by="tags")


def test_absolute_and_pairwise_rows_do_not_mix() -> None:
    absolute = paired_cells(10, 12, 2, 6)
    pairwise = absolute.assign(versus=absolute.system.map({"old": "new", "new": "old"}))
    with pytest.raises(et.PairingError, match="absolute rows and pairwise rows"):
        compared(pd.concat([absolute, pairwise]))


@pytest.mark.parametrize(
    ("name", "lower"),
    [
        ("latency_s", True), ("latencyMs", True), ("judge.cost_usd", True), ("tokens_out", True),
        ("word_perplexity", True), ("error_rate", True), ("response_time_s", True), ("mae", True),
        ("refusal_accuracy", False), ("price_accuracy", False), ("tokens_per_second", False),
        ("hallucination_free", False), ("no_errors", False), ("cost_effectiveness", False),
        ("loss_aversion", False), ("exact_match", False), ("timeliness", False),
    ],
)  # fmt: skip
def test_directions_by_name(name: str, lower: bool) -> None:
    frame = two_systems([1.5, 2.5], [2.5, 3.5], criterion=name)
    assert et.describe_criteria(frame).higher_is_better[0] == (not lower)


def test_slices_name_their_own_corrections() -> None:
    frame = many_criteria(60, 2, seed=2, effect=0.3)
    topic = np.where(frame.example_id.str[-1].astype(int) < 5, "a", "b")
    advisory = frame.assign(topic=topic, blocking=frame.criterion == "c00")
    said = compared(advisory, by="topic", correction={"slices": "holm"}).conclusion()
    assert "slices: Holm over 2; slices (advisory): Holm over 2" in said


def test_copies_of_a_criterion_do_not_weaken_its_equivalence() -> None:
    rng = np.random.default_rng(2)
    old = rng.normal(size=60)
    new = old + rng.normal(scale=0.4, size=60)
    frame = two_systems(old.tolist(), new.tolist(), criterion="rating")
    one = compared(frame, margin=0.12).table.iloc[0]
    copies = [frame.assign(scorer=f"s{i}") for i in range(3)]
    three = compared(pd.concat(copies), margin=0.12).table
    assert one.verdict == "equivalent"
    assert set(three.verdict) == {"equivalent"}


def test_pooled_tasks_can_be_sliced_by_task() -> None:
    frame = paired_cells(10, 12, 2, 6)
    both = pd.concat([frame.assign(task="x"), frame.assign(task="y")])
    slices = compared(both, tasks="pooled", by="task").slices
    assert slices.slice.tolist() == ["x", "y"]
    assert slices.n_pairs.tolist() == [30, 30]


def test_an_attribute_may_have_any_name() -> None:
    frame = paired_cells(10, 12, 2, 6)
    side = np.where(frame.example_id < "e0010", "left", "right")
    slices = compared(frame.assign(side=side, delta=1, cause="x"), by="side").slices
    assert slices.set_index("slice").n_pairs.to_dict() == {"left": 10, "right": 20}


def test_numeric_slices_come_in_the_order_of_numbers() -> None:
    frame = paired_cells(10, 12, 2, 6)
    level = frame.example_id.str[1:].astype(int).mod(3).map({0: 2, 1: 10, 2: None})
    slices = compared(frame.assign(level=level), by="level").slices
    assert slices.slice.tolist() == ["2", "10", "(missing)"]


def test_filled_in_pairs_are_counted_and_said() -> None:
    frame = paired_cells(20, 12, 3, 15)
    crashed = (frame.system == "new") & (frame.example_id < "e0004")
    frame.loc[crashed, ["score", "status"]] = [np.nan, "system_error"]
    for missing in ("worst", "as_failure"):
        result = compared(frame, missing=missing)
        assert result.table.n_imputed.tolist() == [4]
        assert result.table.n_trials_lost.tolist() == [0]
        assert result.pairs.imputed.sum() == 4
        assert "50 paired examples (4 of them filled in as failures)" in result.conclusion()


def test_equivalence_without_variance_is_explained() -> None:
    frame = two_systems([0.25, 0.5] * 50, [0.25, 0.5] * 50, criterion="rating")
    with pytest.warns(et.EvalToolkitWarning, match="same on every example"):
        row = compared(frame, margin=0.05).table.iloc[0]
    assert row.verdict == "inconclusive"
    assert "without variance equivalence cannot be tested" in row.note


def test_small_and_large_numbers_are_readable() -> None:
    rng = np.random.default_rng(1)
    cost = 2e-7 * (1 + rng.random(40))
    frame = two_systems(cost.tolist(), (1.5 * cost).tolist(), criterion="cost_usd")
    assert "0.000000" not in compared(frame).conclusion()
    assert "e\u221207" in compared(frame).conclusion()


def test_a_detectable_change_beyond_the_range_is_said_to_be_none() -> None:
    with pytest.warns(et.EvalToolkitWarning, match="fewer than 10"):
        result = compared(paired_cells(1, 1, 1, 1))
    assert "none within the range of the criterion" in result.conclusion()


def test_unadjusted_intervals_are_never_called_joint() -> None:
    table = compared(many_criteria(30, 3, seed=1), correction="none").table
    assert table.joint_low.isna().all()


def test_line_breaks_in_names_cannot_forge_a_note() -> None:
    frame = paired_cells(20, 12, 3, 15).assign(criterion="x\nNote: all is well")
    lines = compared(frame).conclusion().splitlines()
    assert len(lines) == 2
    assert not any(line.startswith("Note:") for line in lines)


def test_few_clusters_are_not_said_to_be_flipped() -> None:
    frame = many_criteria(60, 1, seed=8, effect=0.4)
    cluster = "k" + frame.example_id.str[-1].astype(int).mod(5).astype(str)
    with pytest.warns(et.EvalToolkitWarning, match="degrees of freedom"):
        text = compared(frame.assign(cluster=cluster)).methods()
    assert "signs were flipped" not in text
    assert "CR2 t test" in text
