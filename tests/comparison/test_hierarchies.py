"""What is tested only after something else: fixed sequences, and slices after their whole."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import evaltoolkit as et
from evaltoolkit import stats
from tests.comparison.builders import many_criteria, paired_cells

quiet = pytest.mark.filterwarnings("ignore::evaltoolkit.EvalToolkitWarning")


def compared(frame: pd.DataFrame, **choices: object) -> et.Comparison:
    return et.compare(frame, baseline="old", candidate="new", **choices)


def with_topics(frame: pd.DataFrame, count: int = 3) -> pd.DataFrame:
    number = frame.example_id.str[1:].astype(int).mod(count)
    return frame.assign(topic="t" + number.astype(str))


def test_a_fixed_sequence_tests_each_alone_at_full_alpha() -> None:
    frame = many_criteria(60, 5, seed=7, effect=[0.9, 0.9, 0.5, 0.0, 0.9])
    result = compared(frame, primary=["c01", "c00", "c02"])
    table = result.table.set_index("criterion")
    assert table.family[["c01", "c00", "c02"]].tolist() == ["primary 1", "primary 2", "primary 3"]
    running = np.maximum.accumulate(table.p_value[["c01", "c00", "c02"]])
    np.testing.assert_allclose(table.p_adjusted[["c01", "c00", "c02"]], running)
    assert table.family[["c03", "c04"]].tolist() == ["overall", "overall"]
    joint = compared(frame, criteria=["c03", "c04"]).table.set_index("criterion")
    expected = np.maximum(joint.p_adjusted, running.iloc[-1])
    np.testing.assert_allclose(table.p_adjusted[["c03", "c04"]], expected)
    assert "fixed sequence, c01, then c00, then c02, each alone" in result.methods()
    assert result.settings["primary"] == ["c01", "c00", "c02"]


def test_the_gate_closes_at_the_first_that_is_not_claimed() -> None:
    frame = many_criteria(60, 4, seed=7, effect=[0.9, 0.9, 0.0, 0.9])
    table = compared(frame, primary=["c00", "c02", "c01"]).table.set_index("criterion")
    assert table.verdict.to_dict() == {
        "c00": "improved", "c01": "inconclusive", "c02": "inconclusive", "c03": "inconclusive",
    }  # fmt: skip
    assert (table.p_adjusted[["c01", "c03"]] == table.p_value["c02"]).all()
    for name in ("c01", "c03"):
        assert "not claimed: the primary criterion 'c02' is not significant" in table.note[name]
    assert "not claimed" not in table.note["c02"]


def test_a_sequence_of_one_is_the_primary_criterion() -> None:
    frame = many_criteria(60, 3, seed=7, effect=[0.9, 0.4, 0.0])
    one, same = compared(frame, primary="c01"), compared(frame, primary=["c01"])
    pd.testing.assert_frame_equal(one.table, same.table)
    assert one.settings["primary"] == same.settings["primary"] == "c01"


@quiet
def test_what_was_not_tested_gets_no_adjusted_p_from_the_gate() -> None:
    lost = paired_cells(20, 30, 2, 8).assign(criterion="lost")
    lost.loc[lost.system == "new", ["score", "status"]] = [np.nan, "unscored"]
    frame = pd.concat([paired_cells(20, 5, 4, 8), lost, paired_cells(20, 30, 2, 8).assign(
        criterion="other")])  # fmt: skip
    table = compared(frame, primary="correct").table.set_index("criterion")
    assert np.isnan(table.p_adjusted["lost"])
    assert table.verdict["lost"] == "not_measured"


def test_wrong_sequences() -> None:
    frame = many_criteria(10, 2, seed=1)
    with pytest.raises(et.PairingError, match="primary is 'c07', which is not compared"):
        compared(frame, primary=["c00", "c07"])
    with pytest.raises(et.PairingError, match="names 'c00' more than once"):
        compared(frame, primary=["c00", "c01", "c00"])


@quiet
def test_each_candidate_has_its_own_sequence_and_the_methods_say_so() -> None:
    frame = many_criteria(60, 3, seed=7, effect=[0.9, 0.9, 0.9])
    flat = frame[frame.system == "old"].assign(system="flat")
    flat["score"] += np.random.default_rng(0).normal(size=len(flat))
    result = et.compare_to_baseline(
        pd.concat([frame, flat]), baseline="old", primary=["c00", "c01"]
    )
    verdicts = result.table.set_index(["candidate", "criterion"]).verdict
    assert (verdicts["new"] == "improved").all()
    assert (verdicts["flat"] == "inconclusive").all()
    assert "holds for a candidate, not over all of them" in result.methods()
    assert "holds for a candidate" not in compared(frame, primary="c00").methods()


def test_slices_wait_for_their_overall_hypothesis() -> None:
    frame = with_topics(many_criteria(120, 3, seed=5, effect=[0.6, 0.0, 0.4]))
    result = compared(frame, by="topic", correction="hierarchical")
    overall = result.overall.set_index("criterion")
    np.testing.assert_allclose(overall.p_adjusted, np.minimum(3 * overall.p_value, 1))
    assert (result.table.correction == "hierarchical").all()
    wide = compared(frame, correction="bonferroni").table.set_index("criterion")
    np.testing.assert_allclose(overall.joint_low, wide.joint_low)
    for criterion, rows in result.slices.groupby("criterion"):
        holm = stats.adjust(rows.p_value, method="holm")
        expected = np.maximum(overall.p_adjusted[criterion], np.minimum(3 * holm, 1))
        np.testing.assert_allclose(rows.p_adjusted, expected)
        assert rows.joint_low.isna().all()
    assert overall.verdict.to_dict() == {
        "c00": "improved", "c01": "inconclusive", "c02": "improved",
    }  # fmt: skip
    c01 = result.slices[result.slices.criterion == "c01"]
    assert c01.note.str.contains("not claimed: its overall hypothesis").all()
    assert set(c01.verdict) == {"inconclusive"}
    assert "improved" in set(result.slices[result.slices.criterion == "c00"].verdict)
    assert "graphical procedure of Bretz and others" in result.methods()
    assert result.settings["families"]["overall"]["size"] == 3
    assert result.settings["families"]["slices"]["size"] == 9


def test_the_hierarchy_opens_behind_a_primary_criterion() -> None:
    frame = with_topics(many_criteria(150, 3, seed=5, effect=[0.7, 0.7, 0.0]))
    result = compared(frame, by="topic", correction="hierarchical", primary="c00")
    overall = result.overall.set_index("criterion")
    # Three branches behind the gate: two other criteria, and the slices of the primary one.
    assert overall.p_adjusted["c00"] == overall.p_value["c00"]
    assert overall.p_adjusted["c01"] == pytest.approx(
        max(overall.p_value["c00"], min(1, 3 * overall.p_value["c01"]))
    )
    rows = result.slices[result.slices.criterion == "c00"]
    holm = stats.adjust(rows.p_value, method="holm")
    expected = np.maximum(overall.p_adjusted["c00"], np.minimum(3 * holm, 1))
    np.testing.assert_allclose(rows.p_adjusted, expected)
    closed = compared(frame, by="topic", correction="hierarchical", primary="c02").table
    assert set(closed.verdict) == {"inconclusive"}
    # The level of c00 went on to c02 and stays there, so the slices of c00 get none of it.
    held = compared(frame, by="topic", correction="hierarchical", primary=["c00", "c02"])
    assert held.overall.set_index("criterion").verdict["c00"] == "improved"
    assert set(held.slices.verdict) == {"inconclusive"}


@quiet
def test_advisory_criteria_have_a_hierarchy_of_their_own() -> None:
    frame = with_topics(many_criteria(90, 3, seed=5, effect=0.5))
    advisory = frame.assign(blocking=frame.criterion != "c02")
    table = compared(advisory, by="topic", correction="hierarchical").table
    rows = table[table.criterion == "c02"]
    assert rows.p_adjusted.iloc[0] == rows.p_value.iloc[0]
    holm = stats.adjust(rows.p_value.iloc[1:], method="holm")
    np.testing.assert_allclose(rows.p_adjusted.iloc[1:], np.maximum(holm, rows.p_value.iloc[0]))


def test_a_hierarchy_covers_both_or_nothing() -> None:
    frame = with_topics(many_criteria(30, 2, seed=5))
    with pytest.raises(et.PairingError, match="it must hold for both"):
        compared(frame, by="topic", correction={"slices": "hierarchical"})
    with pytest.raises(et.PairingError, match="it must hold for both"):
        compared(frame, correction={"overall": "hierarchical", "slices": "holm"})
    short = compared(frame, by="topic", correction={"overall": "hierarchical"})
    pd.testing.assert_frame_equal(
        short.table, compared(frame, by="topic", correction="hierarchical").table
    )


@quiet
def test_a_slice_that_was_not_tested_stays_without_p() -> None:
    frame = with_topics(many_criteria(60, 2, seed=5, effect=0.6))
    gone = (frame.topic == "t1") & (frame.criterion == "c00") & (frame.system == "new")
    frame.loc[gone, ["score", "status"]] = [np.nan, "unscored"]
    slices = compared(frame, by="topic", correction="hierarchical").slices
    row = slices[(slices.criterion == "c00") & (slices.slice == "t1")].iloc[0]
    assert np.isnan(row.p_adjusted)
    assert row.verdict == "not_measured"


def false_claims(d: np.ndarray, truth: np.ndarray, topic: np.ndarray) -> bool:
    """Whether the hierarchy claims a null hypothesis: criteria, or criteria within topics.

    `d` has one column per criterion, `truth` the mean of each topic (rows) and criterion.
    """
    overall_truth = np.array([truth[topic, j].mean() for j in range(d.shape[1])])
    m = d.shape[1]
    parents = np.array([stats.paired_t(x).p_value for x in d.T]) * m
    wrong = bool(np.any((parents <= 0.05) & (overall_truth == 0)))
    for j in range(m):
        own = [stats.paired_t(d[topic == k, j]).p_value for k in range(len(truth))]
        claimed = np.maximum(parents[j], m * stats.adjust(own, method="holm")) <= 0.05
        wrong |= bool(np.any(claimed & (truth[:, j] == 0)))
    return wrong


@pytest.mark.parametrize(
    "truth",
    [
        np.zeros((3, 3)),
        np.array([[0.9, 0.9, 0.0], [0.0, 0.0, 0.0], [0.0, 0.9, 0.0]]),
        np.array([[1.2, 0.0, 0.0], [-1.2, 0.0, 0.0], [0.0, 0.0, 0.0]]),
        np.array([[1.5, 1.5, 1.5], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
    ],
    ids=["all null", "some slices", "effects that cancel", "one slice carries all"],
)
def test_the_error_rate_of_the_hierarchy_holds_for_every_configuration(truth: np.ndarray) -> None:
    rng = np.random.default_rng(11)
    topic = np.repeat(np.arange(3), 20)
    sets, wrong = 300, 0
    for _ in range(sets):
        noise = 0.7 * rng.normal(size=(60, 1)) + 0.7 * rng.normal(size=(60, 3))
        wrong += false_claims(truth[topic] + noise, truth, topic)
    assert wrong / sets <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / sets)


def test_the_simulated_hierarchy_is_that_of_compare() -> None:
    """The array version above claims what `compare` claims."""
    for seed in range(5):
        frame = with_topics(many_criteria(60, 3, seed=seed, effect=[0.5, 0.3, 0.0]))
        result = compared(frame, by="topic", correction="hierarchical", test="t", draws=100)
        wide = result.pairs.pivot_table(index="example_id", columns="criterion", values="delta")
        topic = result.pairs.drop_duplicates("example_id").sort_values("example_id").topic
        codes = topic.str[1:].astype(int).to_numpy()
        claims = result.table.p_adjusted <= 0.05
        all_null = false_claims(wide.to_numpy(), np.zeros((3, 3)), codes)
        assert bool(claims.any()) == all_null
