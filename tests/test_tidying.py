"""From a user's frame to the score table, wide and long."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evaltoolkit.errors import SchemaError
from evaltoolkit.scores import check_scores
from evaltoolkit.tidying import tidy_scores

WIDE = pd.DataFrame(
    {
        "model": ["a", "a", "b", "b"],
        "item": [1, 2, 1, 2],
        "correct": [True, False, True, None],
        "rating": [4, 3, 5, 2],
        "topic": ["law", "art", "law", "art"],
        "seconds": [0.1, 0.2, 0.3, 0.4],
    }
)
LONG = pd.DataFrame(
    {
        "model": ["a", "a", "b", "b"],
        "item": [1, 1, 1, 1],
        "metric": ["acc", "f1", "acc", "f1"],
        "value": [1.0, 0.5, 0.0, None],
        "judge": ["j", "j", "j", "j"],
    }
)


def test_wide_gives_one_row_per_cell_and_keeps_rows_of_one_example_together() -> None:
    table = tidy_scores(WIDE, system="model", example_id="item", criteria=["correct", "rating"])
    assert table[["system", "example_id", "criterion", "score"]].values.tolist()[:4] == [
        ["a", "1", "correct", 1.0],
        ["a", "1", "rating", 4.0],
        ["a", "2", "correct", 0.0],
        ["a", "2", "rating", 3.0],
    ]
    assert len(table) == 8
    lost = table[table["status"] != "scored"]
    assert lost[["system", "example_id", "criterion", "status"]].values.tolist() == [
        ["b", "2", "correct", "unscored"]
    ]


def test_only_columns_that_describe_the_example_become_attributes() -> None:
    table = tidy_scores(WIDE, system="model", example_id="item", criteria="correct")
    assert "topic" in table.columns
    # Different for the two systems, so they describe the answer, not the example.
    assert not {"seconds", "rating"} & set(table.columns)


def test_attributes_can_be_chosen() -> None:
    chosen = tidy_scores(
        WIDE, system="model", example_id="item", criteria="correct", attributes=["seconds"]
    )
    assert chosen["seconds"].tolist() == [0.1, 0.2, 0.3, 0.4]
    assert "topic" not in chosen.columns


def test_long_takes_names_from_a_column() -> None:
    table = tidy_scores(
        LONG, system="model", example_id="item", criterion="metric", score="value", scorer="judge"
    )
    assert table["criterion"].tolist() == ["acc", "f1", "acc", "f1"]
    assert table["scorer"].unique().tolist() == ["j"]
    assert table["status"].tolist() == ["scored", "scored", "scored", "unscored"]


def test_long_without_criterion_is_named_like_its_score_column() -> None:
    table = tidy_scores(LONG.iloc[[0, 2]], system="model", example_id="item", score="value")
    assert table["criterion"].unique().tolist() == ["value"]


def test_every_named_column_lands_where_it_belongs() -> None:
    raw = pd.DataFrame(
        {
            "m": ["a"], "i": ["x"], "s": [np.nan], "t": ["gsm8k"], "n": [2], "r": ["run"],
            "v": ["b"], "l": ["C"], "p": [None], "st": ["system_error"], "e": ["boom"],
            "w": ["2026-01-01"], "c": ["repo"],
        }
    )  # fmt: skip
    row = tidy_scores(
        raw, system="m", example_id="i", score="s", task="t", trial="n", run_id="r", versus="v",
        label="l", passed="p", status="st", message="e", timestamp="w", cluster="c",
    ).iloc[0]  # fmt: skip
    expected = {
        "system": "a", "example_id": "x", "task": "gsm8k", "trial": 2, "run_id": "run",
        "versus": "b", "label": "C", "status": "system_error", "message": "boom",
        "cluster": "repo", "criterion": "s",
    }  # fmt: skip
    assert row[list(expected)].to_dict() == expected


def test_declared_facts_reach_their_criterion_only() -> None:
    table = tidy_scores(
        WIDE,
        system="model",
        example_id="item",
        criteria=["correct", "rating"],
        declare={"rating": {"kind": "ordinal", "lower_bound": 1, "upper_bound": 5}},
    )
    by_name = table.groupby("criterion")[["kind", "lower_bound"]].first()
    assert by_name.loc["rating"].tolist() == ["ordinal", 1.0]
    assert by_name.loc["correct"].isna().all()


def test_the_frame_itself_is_not_changed() -> None:
    before = WIDE.copy(deep=True)
    tidy_scores(WIDE, system="model", example_id="item", criteria=["correct"])
    pd.testing.assert_frame_equal(WIDE, before)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"give either criteria=\[...\].*or score="),
        ({"criteria": ["correct"], "score": "rating"}, r"give either criteria=\[...\]"),
        ({"criteria": ["correct"], "criterion": "topic"}, "belongs to the long form"),
        ({"criteria": ["corect"]}, "no column 'corect'.*did you mean 'correct'"),
        ({"score": "rating", "trial": "trail"}, "no column 'trail'"),
        ({"criteria": ["correct"], "attributes": ["topics"]}, "did you mean 'topic'"),
        ({"criteria": ["topic"]}, "column 'score' holds 'law', 'art' in 4 row.*map words"),
        ({"criteria": ["correct"], "declare": {"corect": {}}}, "did you mean 'correct'"),
        (
            {"criteria": ["correct"], "declare": {"correct": {"higher": 1}}},
            r"declare\['correct'\] has 'higher'; allowed are 'kind', 'higher_is_better'",
        ),
    ],
)
def test_mistakes_are_named_with_what_was_meant(options: dict[str, object], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        tidy_scores(WIDE, system="model", example_id="item", **options)  # type: ignore[arg-type]


def test_missing_id_columns_are_explained() -> None:
    with pytest.raises(SchemaError, match="no column 'system'.*df.assign"):
        tidy_scores(WIDE, system="system", example_id="item", criteria=["correct"])


def test_duplicates_three_ways() -> None:
    twice = pd.concat([WIDE, WIDE.assign(correct=False)])
    named = {"system": "model", "example_id": "item", "criteria": ["correct"]}
    with pytest.raises(SchemaError, match=r"4 key\(s\) occur more than once, in 8 rows"):
        tidy_scores(twice, **named)  # type: ignore[arg-type]
    last = tidy_scores(twice, **named, duplicates="last")  # type: ignore[arg-type]
    assert last["score"].tolist() == [0.0] * 4
    trials = tidy_scores(twice, **named, duplicates="trials")  # type: ignore[arg-type]
    assert trials["trial"].value_counts().to_dict() == {0: 4, 1: 4}


def test_ids_that_repeat_across_data_sets_need_task() -> None:
    raw = pd.DataFrame({"m": "a", "i": [1, 1], "d": ["x", "y"], "s": [1, 0]})
    with pytest.raises(SchemaError, match="give task="):
        tidy_scores(raw, system="m", example_id="i", score="s")
    assert len(tidy_scores(raw, system="m", example_id="i", score="s", task="d")) == 2


def test_the_result_is_a_checked_table() -> None:
    table = tidy_scores(WIDE, system="model", example_id="item", criteria=["correct", "rating"])
    pd.testing.assert_frame_equal(check_scores(table), table)


def test_swebench_25_systems_by_500_issues(shared_data: Path) -> None:
    raw = pd.read_csv(shared_data / "paired" / "swebench_verified_miniswe_25x500.csv")
    table = tidy_scores(raw, system="model", example_id="instance_id", criteria=["resolved"])
    assert len(table) == 12_500
    assert table["system"].nunique() == 25
    assert table["example_id"].nunique() == 500
    # The repository describes the issue; what a run cost does not.
    assert table["repo"].nunique() == 12
    assert "cost_usd" not in table.columns
    resolved = table.groupby("system")["score"].sum()
    # oracles of the data set: counted there with another program
    assert resolved.filter(like="Claude 4.5 Sonnet").tolist() == [353.0]
    assert resolved.filter(regex=r"^GPT-5 \(").max() == 325.0
