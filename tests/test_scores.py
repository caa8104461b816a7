"""The rules of the score table, one by one, and what duplicates may mean."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaltoolkit.errors import SchemaError
from evaltoolkit.schema import SCORES
from evaltoolkit.scores import (
    SCORE_KEY,
    check_scores,
    normalise_scores,
    resolve_duplicates,
)

# A busy machine says nothing about a law.
law = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def scores(**columns: object) -> pd.DataFrame:
    base = {
        "system": ["a", "b"],
        "example_id": ["1", "1"],
        "criterion": ["acc", "acc"],
        "score": [1.0, 0.0],
    }
    return pd.DataFrame({**base, **columns})


def test_status_follows_from_the_score_where_it_is_not_given() -> None:
    table = check_scores(scores(score=[1.0, None]))
    assert table["status"].tolist() == ["scored", "unscored"]
    given = check_scores(scores(score=[1.0, None], status=[None, "system_error"]))
    assert given["status"].tolist() == ["scored", "system_error"]


def test_a_good_table_comes_back_in_normal_form() -> None:
    table = check_scores(scores(topic=["x", "x"]))
    assert table.columns.tolist() == [*SCORES.names, "topic"]
    pd.testing.assert_frame_equal(check_scores(table), table)


RULES = [
    ("infinite_score", {"score": [np.inf, 0.0]}, "score is infinite.*label"),
    (
        "score_without_status",
        {"score": [np.nan, 0.0], "status": ["scored", "scored"]},
        "status is 'scored' but there is no score",
    ),
    (
        "status_without_score",
        {"status": ["scorer_error", "scored"]},
        "a score stands beside a status other than 'scored'",
    ),
    (
        "passed_without_score",
        {"score": [None, 0.0], "passed": [True, None]},
        "passed is given beside a status other than 'scored'",
    ),
    ("versus_itself", {"versus": ["a", None]}, "versus names the row's own system"),
    ("out_of_bounds", {"upper_bound": [0.5, 0.5]}, "score lies beyond upper_bound"),
    ("out_of_bounds", {"lower_bound": [0.5, 0.5]}, "score lies beyond lower_bound"),
    ("duplicate_keys", {"system": ["a", "a"]}, "1 key.*more than once, in 2 rows"),
    ("criterion_not_constant", {"kind": ["binary", "ordinal"]}, "kind differs.*'acc'"),
    ("criterion_not_constant", {"blocking": [True, False]}, "blocking differs.*'acc'"),
    ("criterion_not_constant", {"higher_is_better": [True, False]}, "higher_is_better differs"),
    ("criterion_not_constant", {"threshold": [0.1, 0.2]}, "threshold differs"),
    ("criterion_not_constant", {"weight": [1, 2]}, "weight differs"),
    ("criterion_not_constant", {"upper_bound": [1, 2]}, "upper_bound differs"),
    ("criterion_not_constant", {"lower_bound": [-1, 0]}, "lower_bound differs"),
    ("criterion_not_constant", {"self_referenced": [True, False]}, "self_referenced differs"),
]


@pytest.mark.parametrize(("code", "columns", "message"), RULES)
def test_a_broken_rule_is_named(code: str, columns: dict[str, object], message: str) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        check_scores(scores(**columns))
    assert caught.value.code == code
    assert caught.value.value == [code]


def test_all_broken_rules_are_reported_together_with_counts_and_first_rows() -> None:
    bad = pd.concat([scores(score=[np.inf, np.inf], versus=["a", None])] * 4, ignore_index=True)
    with pytest.raises(SchemaError, match=r"breaks 3 rule\(s\)") as caught:
        check_scores(bad)
    assert caught.value.value == ["infinite_score", "versus_itself", "duplicate_keys"]
    assert "8 row(s)" in str(caught.value)
    assert "and 3 more" in str(caught.value)


def test_bounds_leave_room_for_rounding() -> None:
    table = scores(score=[1 + 1e-12, -1e-12], lower_bound=[0, 0], upper_bound=[1, 1])
    assert len(check_scores(table)) == 2


def test_missing_facts_about_a_criterion_do_not_contradict_given_ones() -> None:
    assert len(check_scores(scores(blocking=[True, None], threshold=[None, 0.5]))) == 2


def test_the_same_example_id_in_two_tasks_is_no_duplicate() -> None:
    assert len(check_scores(scores(system=["a", "a"], task=["x", "y"]))) == 2


def test_a_pairwise_row_differs_from_a_plain_one_by_versus() -> None:
    assert len(check_scores(scores(system=["a", "a"], versus=["b", None]))) == 2


def repeated() -> pd.DataFrame:
    return normalise_scores(
        pd.DataFrame(
            {
                "system": "a",
                "example_id": ["1", "2", "1", "3", "1"],
                "criterion": "acc",
                "score": [1.0, 0.0, 0.5, 1.0, 0.0],
            }
        )
    )


def test_duplicates_are_refused_with_the_count_and_the_choices() -> None:
    rows = pd.DataFrame({"system": "a", "example_id": np.repeat(range(8), 2), "criterion": "acc"})
    with pytest.raises(SchemaError, match=r"8 key\(s\) occur more than once, in 16 rows") as caught:
        resolve_duplicates(normalise_scores(rows.assign(score=1)))
    text = str(caught.value)
    assert text.count("example_id=") == 5
    assert "and 3 more" in text
    assert all(word in text for word in ("duplicates='trials'", "duplicates='last'", "task="))


def test_last_keeps_the_last_in_file_order_without_times() -> None:
    kept = resolve_duplicates(repeated(), duplicates="last")
    assert kept[["example_id", "score"]].values.tolist() == [["2", 0.0], ["3", 1.0], ["1", 0.0]]


def test_last_goes_by_time_where_there_are_times() -> None:
    days = ["2026-01-03", "2026-01-01", "2026-01-02", "2026-01-01", None]
    kept = resolve_duplicates(
        normalise_scores(repeated().assign(timestamp=days)), duplicates="last"
    )
    assert kept[["example_id", "score"]].values.tolist() == [["1", 1.0], ["2", 0.0], ["3", 1.0]]


def test_trials_numbers_repeats_and_leaves_other_trials_alone() -> None:
    table = repeated()
    table.loc[3, "trial"] = 4
    numbered = resolve_duplicates(table, duplicates="trials")
    assert numbered["trial"].tolist() == [0, 0, 1, 4, 2]
    assert numbered["score"].tolist() == table["score"].tolist()


def test_trials_never_collide_with_those_that_exist() -> None:
    table = repeated()
    table.loc[4, "trial"] = 1
    numbered = resolve_duplicates(table, duplicates="trials")
    assert numbered["trial"].tolist() == [0, 0, 1, 0, 2]
    assert not numbered.duplicated(list(SCORE_KEY)).any()


def test_trials_of_pairwise_rows_without_versus_are_numbered_too() -> None:
    rows = pd.concat([scores(versus=[None, "a"])] * 2, ignore_index=True)
    numbered = resolve_duplicates(normalise_scores(rows), duplicates="trials")
    assert numbered["trial"].tolist() == [0, 0, 1, 1]


def test_an_unknown_choice_is_refused_even_without_duplicates() -> None:
    with pytest.raises(SchemaError, match="duplicates is 'first'.*'error', 'last' or 'trials'"):
        resolve_duplicates(normalise_scores(scores()), duplicates="first")  # type: ignore[arg-type]


keys = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2), st.integers(0, 2)), min_size=1)


@law
@given(keys)
def test_whatever_the_keys_trials_keeps_every_row_and_makes_keys_unique(
    rows: list[tuple[str, int, int]],
) -> None:
    raw = pd.DataFrame(rows, columns=["system", "example_id", "trial"])
    table = normalise_scores(raw.assign(criterion="c", score=np.arange(len(raw), dtype=float)))
    numbered = resolve_duplicates(table, duplicates="trials")
    assert numbered["score"].tolist() == table["score"].tolist()
    assert not numbered.duplicated(list(SCORE_KEY)).any()


@law
@given(keys)
def test_last_keeps_one_row_of_each_key(rows: list[tuple[str, int, int]]) -> None:
    raw = pd.DataFrame(rows, columns=["system", "example_id", "trial"])
    table = normalise_scores(raw.assign(criterion="c", score=np.arange(len(raw), dtype=float)))
    kept = resolve_duplicates(table, duplicates="last")
    last = {key: number for number, key in enumerate(rows)}
    assert kept["score"].tolist() == sorted(map(float, last.values()))
