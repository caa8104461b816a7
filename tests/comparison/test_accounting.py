"""What is counted, what is lost and why; the unit and the estimand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evaltoolkit as et
from tests.comparison.builders import paired_cells, two_systems

LOSSES = ["n_unpaired", "n_unscored", "n_scorer_error", "n_system_error"]
STATUS = st.sampled_from(["scored", "scored", "scored", "unscored", "scorer_error", "system_error"])


def scored_rows(rows: list[tuple[str, str, int, str, float]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["system", "example_id", "trial", "status", "score"])
    frame["score"] = frame["score"].where(frame["status"] == "scored")
    return frame.assign(criterion="correct")


def test_a_pair_is_lost_for_its_worst_side() -> None:
    rows = [
        ("old", "a", 0, "scored", 1.0), ("new", "a", 0, "scored", 0.0),
        ("old", "b", 0, "unscored", 0.0), ("new", "b", 0, "system_error", 0.0),
        ("old", "c", 0, "scorer_error", 0.0), ("new", "c", 0, "unscored", 0.0),
        ("old", "d", 0, "scored", 1.0),
        ("new", "e", 0, "unscored", 0.0),
        ("old", "f", 0, "scored", 1.0), ("new", "f", 0, "unscored", 0.0),
        ("old", "g", 0, "scored", 1.0), ("new", "g", 0, "scored", 1.0),
    ]  # fmt: skip
    with pytest.warns(et.EvalToolkitWarning):
        result = et.compare(scored_rows(rows), baseline="old", candidate="new")
    row = result.table.iloc[0]
    assert row.n_pairs == 2
    assert row[LOSSES].tolist() == [1, 2, 1, 1]
    causes = dict(zip(result.lost.example_id, result.lost.cause, strict=True))
    assert causes == {
        "b": "system_error", "c": "scorer_error", "d": "unpaired", "e": "unscored", "f": "unscored",
    }  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 7), st.sampled_from(["old", "new"]), STATUS, st.integers(0, 1)),
        min_size=1,
        max_size=40,
    )
)
def test_pairs_and_losses_add_up_to_the_examples(rows: list[tuple[int, str, str, int]]) -> None:
    seen: dict[tuple[str, str], int] = {}
    table = []
    for example, system, status, score in rows:
        key = (system, str(example))
        seen[key] = seen.get(key, -1) + 1
        table.append((system, str(example), seen[key], status, float(score)))
    # One sure pair, so that there is something to compare.
    table += [("old", "sure", 0, "scored", 1.0), ("new", "sure", 0, "scored", 0.0)]
    frame = scored_rows(table)
    with pytest.warns(et.EvalToolkitWarning):
        row = et.compare(frame, baseline="old", candidate="new").table.iloc[0]
    assert row.n_pairs + row[LOSSES].sum() == frame.example_id.nunique()


def test_trials_are_averaged_within_examples_first() -> None:
    rows = [("old", "a", t, "scored", float(t == 0)) for t in range(4)]
    rows += [("new", "a", t, "scored", 1.0) for t in range(4)]
    rows += [("old", "b", 0, "scored", 1.0), ("new", "b", 0, "scored", 0.0)]
    rows += [("new", "b", 1, "scorer_error", 0.0)]
    with pytest.warns(et.EvalToolkitWarning):
        result = et.compare(scored_rows(rows), baseline="old", candidate="new")
    row = result.table.iloc[0]
    assert row.delta == pytest.approx((0.75 - 1.0) / 2)
    assert row.n_trials_lost == 1
    assert row.interval == "t"  # several trials: no longer a 0/1 outcome per pair
    assert result.pairs.n_trials_baseline.tolist() == [4, 1]


def test_rows_of_other_systems_and_other_pairings_do_not_count() -> None:
    frame = paired_cells(5, 6, 2, 7)
    third = frame[frame.system == "old"].assign(system="third", score=1.0)
    pairwise = frame.assign(criterion="preference", versus="third", score=1.0)
    own = frame.assign(
        criterion="preference", versus=frame.system.map({"old": "new", "new": "old"})
    )
    mixed = pd.concat([frame, third, pairwise, own], ignore_index=True)
    with pytest.warns(et.EvalToolkitWarning):
        table = et.compare(mixed, baseline="old", candidate="new").table.set_index("criterion")
    assert table.loc["correct", ["wins", "losses"]].tolist() == [6, 2]
    assert table.loc["preference", ["wins", "losses"]].tolist() == [6, 2]


def test_lower_is_better_turns_wins_and_verdict_but_not_delta() -> None:
    old, new = np.arange(30.0) + 10, np.arange(30.0) + 9 + 0.1 * (np.arange(30) % 3)
    frame = two_systems(old.tolist(), new.tolist(), criterion="latency_s")
    row = et.compare(frame, baseline="old", candidate="new").table.iloc[0]
    assert row.delta < 0
    assert row.ci_high < 0
    assert (row.wins, row.losses) == (30, 0)
    assert row.verdict == "improved"


def test_missing_worst_counts_every_loss_against_the_candidate() -> None:
    frame = paired_cells(20, 12, 0, 8)
    frame.loc[(frame.system == "new") & frame.example_id.isin(["e0000", "e0001"]), "score"] = np.nan
    frame = frame.drop(columns="status")
    missing_old = ~((frame.system == "old") & (frame.example_id == "e0025"))
    frame = frame[missing_old]
    result = et.compare(frame, baseline="old", candidate="new", missing="worst")
    row = result.table.iloc[0]
    assert row.n_pairs == 40
    assert row[LOSSES].sum() == 0
    pairs = result.pairs.set_index("example_id")
    assert pairs.loc["e0000", ["baseline", "candidate"]].tolist() == [1.0, 0.0]
    assert pairs.loc["e0025", ["baseline", "candidate"]].tolist() == [1.0, 0.0]
    assert pairs.imputed.sum() == 3


def test_missing_as_failure_scores_system_errors_only() -> None:
    frame = paired_cells(20, 12, 0, 8)
    new = frame.system == "new"
    crashed = new & frame.example_id.isin(["e0000", "e0001"])
    declined = new & (frame.example_id == "e0002")
    frame.loc[crashed | declined, "score"] = np.nan
    frame.loc[crashed, "status"] = "system_error"
    frame.loc[declined, "status"] = "unscored"
    row = et.compare(frame, baseline="old", candidate="new", missing="as_failure").table.iloc[0]
    assert (row.n_pairs, row.n_unscored, row.n_system_error) == (39, 1, 0)
    assert row.losses == 2


@pytest.mark.parametrize("missing", ["worst", "as_failure"])
def test_unknown_bounds_raise(missing: str) -> None:
    frame = two_systems([1.5, 2.5, 3.0], [1.0, 2.0, 2.2], criterion="rating")
    frame.loc[0, ["score", "status"]] = [np.nan, "system_error"]
    with pytest.raises(et.PairingError, match="needs the bounds of the criterion 'rating'"):
        et.compare(frame, baseline="old", candidate="new", missing=missing)


def test_passed_is_compared_on_request() -> None:
    frame = two_systems([0.2, 0.9] * 20, [0.8, 0.9] * 20, criterion="rating")
    frame["passed"] = (frame.score > 0.5).astype("boolean")
    row = et.compare(frame, baseline="old", candidate="new", measure="passed").table.iloc[0]
    assert (row.kind, row.wins, row.delta) == ("binary", 20, 0.5)


def test_differences_within_rounding_are_ties() -> None:
    old = [0.1 + 0.2, 0.7, 1.0, 0.3] * 6
    new = [0.3, 0.7, 1.0, 0.1 + 0.2] * 6
    with pytest.warns(et.EvalToolkitWarning, match="same on every example"):
        result = et.compare(two_systems(old, new), baseline="old", candidate="new")
    assert result.table.ties.tolist() == [24]
    assert result.table.delta.tolist() == [0.0]
    assert result.table.p_value.tolist() == [1.0]


def test_flips_list_newly_failing_and_newly_fixed() -> None:
    result = et.compare(paired_cells(10, 7, 5, 3), baseline="old", candidate="new")
    flips = result.flips()
    assert flips.flip.value_counts().to_dict() == {"newly_fixed": 7, "newly_failing": 5}
    assert flips.flip.iloc[0] == "newly_failing"
    assert flips[flips.flip == "newly_failing"].example_id.tolist() == [
        f"e{i:04d}" for i in range(17, 22)
    ]
