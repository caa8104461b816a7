"""What is refused, and what the refusal says."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import evaltoolkit as et
from tests.comparison.builders import paired_cells, two_systems


@pytest.fixture
def frame() -> pd.DataFrame:
    return paired_cells(10, 8, 5, 7)


@pytest.mark.parametrize(
    ("choices", "code", "message"),
    [
        ({"baseline": "odl"}, "unknown_system", "baseline is 'odl'.*did you mean 'old'"),
        ({"candidate": "zzz"}, "unknown_system", "candidate is 'zzz'.*known: 'new', 'old'"),
        ({"candidate": "old"}, "same_system", "both 'old'"),
        ({"criteria": ["corect"]}, "unknown_criterion", "did you mean 'correct'"),
        ({"scorers": "judge"}, "unknown_scorer", "scorer 'judge'"),
        ({"by": "topik"}, "unknown_attribute", "no column 'topik'"),
        ({"cluster": "repo"}, "unknown_attribute", "no column 'repo'"),
        ({"alpha": 5}, "bad_option", r"alpha is 5; .* \(did you mean 0.05\?\)"),
        ({"correction": "bonferoni"}, None, "bonferroni"),
        ({"correction": {"slice": "holm"}}, "bad_option", "allowed are 'overall' and 'slices'"),
        ({"test": "wilcoxon"}, "other_estimand", "does not test the mean difference"),
        ({"test": "mcnemar"}, "bad_option", "did you mean 'mcnemar_"),
        ({"interval": "bca"}, "bad_option", "interval is 'bca'"),
        ({"missing": "drop"}, "bad_option", "missing is 'drop'"),
        ({"tasks": "all"}, "bad_option", "'separate', 'pooled'"),
        ({"measure": "passed"}, "no_verdicts", "column passed is empty"),
        ({"primary": "speed"}, "unknown_criterion", "primary is 'speed'"),
        ({"margin": {"speed": 1.0}}, "unknown_criterion", "margin names the criterion 'speed'"),
        ({"runs": "first"}, "bad_option", "runs is 'first'"),
    ],
)
def test_wrong_choices(
    frame: pd.DataFrame, choices: dict[str, object], code: str | None, message: str
) -> None:
    with pytest.raises(et.EvalToolkitError, match=message) as caught:
        et.compare(frame, **{"baseline": "old", "candidate": "new", **choices})
    if code is not None:
        assert caught.value.code == code


def test_no_common_example_shows_both_sides(frame: pd.DataFrame) -> None:
    moved = frame.assign(example_id=np.where(frame.system == "new", "n" + frame.example_id, "o"))
    moved = moved.drop_duplicates(["system", "example_id"])
    with pytest.raises(et.PairingError, match="no common example") as caught:
        et.compare(moved, baseline="old", candidate="new")
    assert "('correct', '', 'o')" in str(caught.value)
    assert "('correct', '', 'ne0000')" in str(caught.value)


def test_common_examples_without_scores_say_why(frame: pd.DataFrame) -> None:
    broken = frame.assign(score=np.nan, status="system_error")
    with pytest.raises(et.PairingError, match="30 system_error"):
        et.compare(broken, baseline="old", candidate="new")


def test_duplicate_keys_are_counted(frame: pd.DataFrame) -> None:
    doubled = pd.concat([frame, frame.head(12)])
    with pytest.raises(et.SchemaError, match=r"12 key\(s\) occur more than once") as caught:
        et.compare(doubled, baseline="old", candidate="new")
    assert str(caught.value).count("example_id=") == 5
    assert "and 7 more" in str(caught.value)


def test_a_score_column_of_text_is_refused(frame: pd.DataFrame) -> None:
    words = frame.assign(score=np.where(frame.score == 1, "good", "bad"))
    with pytest.raises(et.SchemaError, match="column 'score' holds .*'good'"):
        et.compare(words, baseline="old", candidate="new")


def test_several_runs_raise_with_their_names(frame: pd.DataFrame) -> None:
    again = pd.concat([frame.assign(run_id="monday"), frame.assign(run_id="tuesday")])
    with pytest.raises(et.PairingError, match="several runs") as caught:
        et.compare(again, baseline="old", candidate="new")
    assert re.search("'old': 'monday', 'tuesday'", str(caught.value))
    with pytest.warns(et.EvalToolkitWarning, match="carry no timestamps"):
        latest = et.compare(again, baseline="old", candidate="new", runs="latest").table
    one = et.compare(frame, baseline="old", candidate="new").table
    pd.testing.assert_frame_equal(latest, one)
    trials = et.compare(again, baseline="old", candidate="new", runs="trials")
    assert trials.pairs.n_trials_baseline.eq(2).all()


def test_the_latest_run_is_that_of_the_latest_time(frame: pd.DataFrame) -> None:
    late = frame.assign(run_id="a", timestamp="2026-01-02T00:00:00Z")
    early = frame.assign(run_id="b", timestamp="2026-01-01T00:00:00Z", score=1.0)
    both = pd.concat([late, early])
    result = et.compare(both, baseline="old", candidate="new", runs="latest").table
    pd.testing.assert_frame_equal(result, et.compare(frame, baseline="old", candidate="new").table)


def test_attributes_must_be_constant_within_an_example(frame: pd.DataFrame) -> None:
    topic = frame.system.where(frame.example_id == "e0003", "same")
    with pytest.raises(et.PairingError, match=r"'topic' differs within 1 example\(s\)"):
        et.compare(frame.assign(topic=topic), baseline="old", candidate="new", by="topic")


def test_different_inputs_warn_with_counts(frame: pd.DataFrame) -> None:
    digest = np.where((frame.system == "new") & (frame.example_id < "e0004"), "x", "y")
    with pytest.warns(et.EvalToolkitWarning, match="4 examples were put to the two systems"):
        et.compare(frame.assign(input_digest=digest), baseline="old", candidate="new")


def test_different_scorers_warn() -> None:
    one = two_systems([0.0, 1.0] * 10, [1.0, 1.0] * 10, scorer="judge-a")
    other = one.assign(criterion="tone")
    other.loc[other.system == "new", "scorer"] = "judge-b"
    with (
        pytest.warns(et.EvalToolkitWarning, match="no usable pair: 'tone'"),
        pytest.warns(et.EvalToolkitWarning, match="the scorers of 'tone' differ"),
    ):
        table = et.compare(pd.concat([one, other]), baseline="old", candidate="new").table
    assert (table[table.criterion == "tone"].verdict == "not_measured").all()
