"""What a user may take for granted, on data that nobody chose: laws of `compare` as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import evaltoolkit as et
from evaltoolkit import stats
from evaltoolkit.scores import normalise_scores
from tests.comparison.builders import two_systems

pytestmark = pytest.mark.filterwarnings("ignore::evaltoolkit.EvalToolkitWarning")
promise = settings(max_examples=8, deadline=None, derandomize=True)

# (systems, examples, criteria): ratings with many ties, passes, or numbers without ties
PASSES = hnp.arrays(
    np.float64,
    st.tuples(st.just(2), st.integers(1, 25), st.integers(1, 4)),
    elements=st.integers(0, 1).map(float),
)
RATINGS = hnp.arrays(
    np.float64,
    st.tuples(st.just(2), st.integers(1, 25), st.integers(1, 4)),
    elements=st.integers(1, 5).map(float),
)
NUMBERS = hnp.arrays(
    np.float64,
    st.tuples(st.just(2), st.integers(1, 15), st.integers(1, 3)),
    elements=st.floats(-50, 50).map(lambda x: round(x, 3)),
)
SCORES = st.one_of(PASSES, RATINGS, NUMBERS)
CORRECTIONS = st.sampled_from(["maxt", *sorted(stats.METHODS)])
OUTCOMES = st.sampled_from(["scored", "scored", "unscored", "scorer_error", "system_error", ""])
PLACES = [(system, trial) for system in ("old", "new") for trial in (0, 1)]
LOSSES = ["n_unscored", "n_scorer_error", "n_system_error", "n_unpaired"]


def frame_of(scores: np.ndarray, **columns: Any) -> pd.DataFrame:
    old, new = scores
    return pd.concat(
        [
            two_systems(old[:, j].tolist(), new[:, j].tolist(), criterion=f"c{j}", **columns)
            for j in range(old.shape[1])
        ],
        ignore_index=True,
    )


def table_of(
    frame: pd.DataFrame, baseline: str = "old", candidate: str = "new", **choices: Any
) -> pd.DataFrame:
    return et.compare(frame, baseline=baseline, candidate=candidate, **choices).table


@promise
@given(SCORES, CORRECTIONS)
def test_swapping_the_systems_negates(scores: np.ndarray, correction: str) -> None:
    frame = frame_of(scores)
    there = table_of(frame, correction=correction)
    back = table_of(frame, "new", "old", correction=correction)
    close = {"rtol": 1e-9, "atol": 1e-12}
    np.testing.assert_allclose(there["delta"], -back["delta"], **close)
    np.testing.assert_allclose(there["se"], back["se"], **close)
    for low, high in (("ci_low", "ci_high"), ("joint_low", "joint_high")):
        np.testing.assert_allclose(there[low], -back[high], **close)
        np.testing.assert_allclose(there[high], -back[low], **close)
    for name in ("p_value", "p_adjusted"):
        np.testing.assert_allclose(there[name], back[name], **close)
    assert there["wins"].tolist() == back["losses"].tolist()
    mirrored = there["verdict"].replace({"improved": "regressed", "regressed": "improved"})
    assert mirrored.tolist() == back["verdict"].tolist()


@promise
@given(SCORES, st.integers(0, 2**32 - 1))
def test_the_order_of_rows_is_irrelevant(scores: np.ndarray, seed: int) -> None:
    frame = frame_of(scores)
    pd.testing.assert_frame_equal(
        table_of(frame), table_of(frame.sample(frac=1, random_state=seed))
    )


@promise
@given(SCORES, st.floats(-3, 3))
def test_a_criterion_of_ties_leaves_the_other_p_values(scores: np.ndarray, same: float) -> None:
    n = scores.shape[1]
    frame = frame_of(scores, kind="continuous")
    ties = two_systems([same] * n, [same] * n, criterion="ties", kind="continuous")
    alone, wider = table_of(frame), table_of(pd.concat([frame, ties])).set_index("criterion")
    others = wider.drop(index="ties")
    np.testing.assert_array_equal(others["p_value"], alone["p_value"])
    np.testing.assert_array_equal(others["p_adjusted"], alone["p_adjusted"])
    assert wider.loc["ties", "delta"] == 0
    assert wider.loc["ties", "p_adjusted"] == 1


@promise
@given(SCORES)
def test_clusters_of_one_example_are_no_clusters(scores: np.ndarray) -> None:
    frame = frame_of(scores)
    single = frame.assign(cluster="cluster of " + frame["example_id"])
    pd.testing.assert_frame_equal(table_of(frame), table_of(single))


@promise
@given(SCORES, st.integers(1, 9))
def test_one_trial_is_as_good_as_none(scores: np.ndarray, number: int) -> None:
    frame = frame_of(scores)
    pd.testing.assert_frame_equal(table_of(frame), table_of(frame.assign(trial=number)))


@promise
@given(SCORES, st.integers(2, 4))
def test_equal_trials_add_nothing(scores: np.ndarray, trials: int) -> None:
    """As many equal trials as one likes: the examples stay what is counted."""
    frame = frame_of(scores, kind="continuous")
    repeated = pd.concat([frame.assign(trial=trial) for trial in range(trials)])
    columns = ["n_pairs", "delta", "se", "ci_low", "ci_high", "p_value", "p_adjusted"]
    one, many = table_of(frame), table_of(repeated)
    np.testing.assert_allclose(one[columns], many[columns], rtol=1e-9, atol=1e-12)


@promise
@given(SCORES, st.booleans())
def test_a_copy_shows_nothing(scores: np.ndarray, clustered: bool) -> None:
    scores[1] = scores[0]
    frame = frame_of(scores)
    groups = frame["example_id"].str[-1:]
    table = table_of(frame.assign(cluster=groups) if clustered else frame)
    assert (table["delta"] == 0).all()
    assert (table["p_value"] == 1).all()
    assert (table["p_adjusted"] == 1).all()
    assert table["verdict"].isin(["inconclusive", "not_measured"]).all()
    for row in table.itertuples():
        around = row.ci_low < 0 < row.ci_high
        assert around or (np.isnan([row.ci_low, row.ci_high]).all() and row.note)


@promise
@given(PASSES)
def test_flips_of_passes_are_mcnemars_midp(scores: np.ndarray) -> None:
    frame = frame_of(scores)
    by_counts, by_flips = table_of(frame), table_of(frame, test="sign_flip")
    assume((by_counts["test"] == "mcnemar_midp").any())
    np.testing.assert_allclose(by_counts["p_value"], by_flips["p_value"], rtol=1e-9)


@promise
@given(SCORES, CORRECTIONS)
def test_adjusted_p_values_are_no_smaller(scores: np.ndarray, correction: str) -> None:
    table = table_of(frame_of(scores), correction=correction)
    known = table[["p_value", "p_adjusted"]].dropna()
    assert table["p_value"].isna().tolist() == table["p_adjusted"].isna().tolist()
    assert known["p_adjusted"].between(0, 1).all()
    assert (known["p_adjusted"] >= known["p_value"]).all()


@promise
@given(SCORES, CORRECTIONS)
def test_joint_intervals_contain_the_single_ones(scores: np.ndarray, correction: str) -> None:
    table = table_of(frame_of(scores), correction=correction)
    joint = table.dropna(subset=["joint_low", "joint_high"])
    assert (joint["joint_low"] <= joint["ci_low"]).all()
    assert (joint["joint_high"] >= joint["ci_high"]).all()
    if correction in ("maxt", "holm", "bonferroni"):
        assert joint.index.tolist() == table.dropna(subset=["ci_low"]).index.tolist()


@promise
@given(st.lists(st.tuples(OUTCOMES, OUTCOMES, OUTCOMES, OUTCOMES), min_size=1, max_size=20))
def test_pairs_and_losses_add_up(outcomes: list[tuple[str, ...]]) -> None:
    """Two systems, two trials of each example; some rows are absent, some without a score."""
    rows = [
        (system, f"e{example:02d}", trial, outcome)
        for example, of_example in enumerate(outcomes)
        for (system, trial), outcome in zip(PLACES, of_example, strict=True)
        if outcome
    ]
    frame = pd.DataFrame(rows, columns=["system", "example_id", "trial", "status"])
    examples = frame.groupby("system")["example_id"].agg(set)
    assume(len(examples) == 2 and examples["old"] & examples["new"])
    score = np.where(frame["status"] == "scored", frame.index % 3 / 2, np.nan)
    scores = normalise_scores(frame.assign(criterion="c", score=score))
    scored = frame[frame["status"] == "scored"].groupby("system")["example_id"].agg(set)
    both = scored.get("old", set()) & scored.get("new", set())
    if not both:
        with pytest.raises(et.PairingError, match="in none of them both sides"):
            table_of(scores)
        return
    (row,) = table_of(scores).to_dict("records")
    assert row["n_pairs"] == len(both)
    lost = sum(row[name] for name in LOSSES)
    assert row["n_pairs"] + lost == len(examples["old"] | examples["new"])
    assert row["wins"] + row["losses"] + row["ties"] == row["n_pairs"]


@settings(max_examples=3, deadline=None, derandomize=True)
@given(st.integers(0, 2**31), st.integers(60, 90))
def test_the_same_seed_gives_the_same_numbers(seed: int, n: int) -> None:
    """Also where signs are drawn, since so many cannot be enumerated."""
    scores = np.random.default_rng(seed).normal(size=(2, n, 2))
    frame = frame_of(scores)
    first, again = (et.compare(frame, baseline="old", candidate="new", seed=seed) for _ in "12")
    pd.testing.assert_frame_equal(first.table, again.table)
    assert first.settings == again.settings
    assert first.methods() == again.methods()
