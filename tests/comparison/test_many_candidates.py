"""Several candidates against one baseline, adjusted together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import evaltoolkit as et
from evaltoolkit import stats
from tests.comparison.builders import many_criteria, paired_cells


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    frame = many_criteria(60, 2, seed=4, effect=[0.5, 0.0])
    rng = np.random.default_rng(5)
    new = frame[frame.system == "new"]
    extra = [
        new.assign(system=f"c{k}", score=new.score + rng.normal(scale=0.5, size=len(new)) - 0.3 * k)
        for k in range(3)
    ]
    return pd.concat([frame[frame.system == "old"], *extra], ignore_index=True)


def test_one_candidate_is_compare(scores: pd.DataFrame) -> None:
    many = et.compare_to_baseline(scores, baseline="old", candidates="c1")
    one = et.compare(scores, baseline="old", candidate="c1")
    pd.testing.assert_frame_equal(many.table.drop(columns="candidate"), one.table)
    pd.testing.assert_frame_equal(many.comparisons["c1"].pairs, one.pairs)


def test_all_others_are_candidates_by_default(scores: pd.DataFrame) -> None:
    result = et.compare_to_baseline(scores, baseline="old")
    assert list(result.comparisons) == ["c0", "c1", "c2"]
    assert result.table.candidate.tolist() == ["c0", "c0", "c1", "c1", "c2", "c2"]
    assert result.settings["families"]["overall"]["size"] == 6
    assert result.settings["candidates"] == ["c0", "c1", "c2"]


def test_max_t_runs_over_candidates_and_criteria(scores: pd.DataFrame) -> None:
    result = et.compare_to_baseline(scores, baseline="old")
    columns = [
        result.comparisons[c].pairs.query("criterion == @k").delta.to_numpy()
        for c in ("c0", "c1", "c2")
        for k in ("c00", "c01")
    ]
    expected = stats.max_t(np.column_stack(columns))
    np.testing.assert_allclose(
        result.table.p_adjusted, np.maximum(result.table.p_value, expected.p_step_down)
    )
    alone = et.compare(scores, baseline="old", candidate="c0").table
    together = result.comparisons["c0"].table
    np.testing.assert_allclose(alone.p_value, together.p_value)
    assert (together.joint_high - together.joint_low > alone.joint_high - alone.joint_low).all()


def test_examples_and_clusters_are_numbered_alike(scores: pd.DataFrame) -> None:
    # c0 misses the first examples, so that its own numbering would be another.
    cluster = "k" + scores.example_id.str[-2:].astype(int).mod(12).astype(str)
    frame = scores.assign(cluster=cluster)
    frame = frame[(frame.system != "c0") | (frame.example_id >= "e0013")]
    result = et.compare_to_baseline(frame, baseline="old", criteria="c00")
    wide = pd.DataFrame(
        {c: r.pairs.set_index("example_id").delta for c, r in result.comparisons.items()}
    ).sort_index()
    codes = frame.drop_duplicates("example_id").set_index("example_id").cluster[wide.index]
    expected = stats.max_t(wide.to_numpy(), clusters=codes.to_numpy())
    np.testing.assert_allclose(
        result.table.p_adjusted, np.maximum(result.table.p_value, expected.p_step_down)
    )
    assert result.table.n_pairs.tolist() == [47, 60, 60]


def test_the_gate_of_a_primary_criterion_is_each_candidates_own(scores: pd.DataFrame) -> None:
    table = et.compare_to_baseline(scores, baseline="old", primary="c00").table
    primary = table[table.criterion == "c00"].set_index("candidate")
    others = table[table.criterion == "c01"].set_index("candidate")
    assert (primary.family == "primary").all()
    assert (others.p_adjusted >= primary.p_adjusted).all()
    assert primary.p_adjusted.nunique() > 1


def test_it_prints_for_people(scores: pd.DataFrame) -> None:
    result = et.compare_to_baseline(scores, baseline="old")
    said = result.conclusion()
    assert said.count(" against old: of 2 hypotheses") == 3
    assert "step-down max-t over 6" in said
    assert "3 candidates (c0, c1, c2) were compared with the baseline" in result.methods()
    assert result.summary().system.tolist() == ["c0", "c0", "c1", "c1", "c2", "c2"]
    assert result.to_markdown().count("\n") == 8
    assert "<table>" in result._repr_html_()
    assert repr(result) == "BaselineComparison(3 candidates against 'old')"


def test_warnings_are_said_once() -> None:
    few = paired_cells(30, 3, 1, 6)
    third = few[few.system == "new"].assign(system="third")
    with pytest.warns(et.EvalToolkitWarning, match="^new, third: fewer than 10") as caught:
        result = et.compare_to_baseline(pd.concat([few, third]), baseline="old")
    assert len(caught) == len(result.warnings) == 1


def test_what_cannot_be_compared(scores: pd.DataFrame) -> None:
    with pytest.raises(et.PairingError, match="no system but 'old'"):
        et.compare_to_baseline(scores[scores.system == "old"], baseline="old")
    with pytest.raises(et.PairingError, match="candidate is 'c9'"):
        et.compare_to_baseline(scores, baseline="old", candidates=["c0", "c9"])
    with pytest.raises(et.PairingError, match="baseline is 'odl'"):
        et.compare_to_baseline(scores, baseline="odl")
