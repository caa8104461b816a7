"""What the tables promise about columns, order and dtypes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaltoolkit.errors import SchemaError
from evaltoolkit.schema import (
    DETAILS,
    OUTPUTS,
    SCORES,
    STATUSES,
    Table,
    as_text,
    empty,
    normalise,
    rows_text,
)

# A busy machine says nothing about a law.
law = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def frame(**columns: object) -> pd.DataFrame:
    base = {"system": ["a"], "example_id": ["1"], "criterion": ["acc"], "score": [1.0]}
    return pd.DataFrame({**base, **columns})


def test_the_score_table_has_the_14_columns_of_the_design_and_their_dtypes() -> None:
    table = normalise(frame(), SCORES)
    assert {name: str(dtype) for name, dtype in table.dtypes.items()} == {
        "run_id": "str",
        "system": "str",
        "task": "str",
        "example_id": "str",
        "trial": "int64",
        "criterion": "str",
        "scorer": "str",
        "versus": "str",
        "score": "float64",
        "label": "str",
        "passed": "boolean",
        "status": "category",
        "message": "str",
        "source": "str",
    }
    assert tuple(table["status"].cat.categories) == STATUSES


def test_keys_are_those_of_the_design() -> None:
    run = ("run_id", "system", "task", "example_id", "trial")
    assert OUTPUTS.key == run
    assert SCORES.key == DETAILS.key == (*run, "criterion", "scorer", "versus")


def test_missing_columns_get_their_defaults() -> None:
    row = normalise(frame(), SCORES).iloc[0]
    assert (row["run_id"], row["task"], row["scorer"], row["trial"]) == ("", "", "", 0)
    assert row[["versus", "label", "passed", "message", "source"]].isna().all()


def test_optional_columns_stay_optional_and_further_ones_are_attributes() -> None:
    raw = frame(topic=["law"], cluster=[3], blocking=[0], weight=["2"], timestamp=["2026-01-02"])
    table = normalise(raw, SCORES)
    assert list(table.columns[14:]) == ["cluster", "blocking", "weight", "timestamp", "topic"]
    assert SCORES.attributes(table) == ["topic"]
    assert table["cluster"].tolist() == ["3"]
    assert table["blocking"].tolist() == [False]
    assert table["weight"].tolist() == [2.0]
    assert table["timestamp"].tolist() == [pd.Timestamp("2026-01-02", tz="UTC")]


def test_rows_are_neither_dropped_nor_reordered_and_the_input_is_not_changed() -> None:
    raw = pd.DataFrame(
        {"system": list("cab"), "example_id": [3, 1, 2], "criterion": "acc", "score": [None, 1, 0]},
        index=[5, 5, 9],
    )
    before = raw.copy(deep=True)
    table = normalise(raw, SCORES)
    assert table["system"].tolist() == ["c", "a", "b"]
    assert table.index.tolist() == [0, 1, 2]
    pd.testing.assert_frame_equal(raw, before)


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([7, 8]),
        pd.Series([7.0, 8.0]),
        pd.Series(["7", "8"]),
        pd.Series([7, "8"], dtype=object),
        pd.Series([7, 8], dtype="Int64"),
        pd.Series(["7", "8"], dtype="category"),
        pd.Series([np.int32(7), np.float64(8)], dtype=object),
    ],
)
def test_ids_of_every_type_meet_as_text(values: pd.Series) -> None:
    assert normalise(frame(**_two(values)), SCORES)["example_id"].tolist() == ["7", "8"]


def _two(values: pd.Series) -> dict[str, object]:
    return {
        "system": ["a", "a"], "criterion": ["x", "x"], "score": [1, 1], "example_id": values
    }  # fmt: skip


def test_ids_that_only_look_alike_stay_apart() -> None:
    assert as_text(pd.Series(["007", "7", "7.0", "A", "a", " a"])).tolist() == [
        "007", "7", "7.0", "A", "a", " a",
    ]  # fmt: skip
    assert as_text(pd.Series([0.5, 2.0**60, True], dtype=object)).tolist() == [
        "0.5", str(2**60), "True",
    ]  # fmt: skip


@law
@given(st.lists(st.integers(-(2**62), 2**62), min_size=1))
def test_whole_numbers_become_their_digits(numbers: list[int]) -> None:
    assert as_text(pd.Series(numbers)).tolist() == [str(number) for number in numbers]


@law
@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise(frame(example_id=["x" + text], label=[text], topic=[text]), SCORES)
    pd.testing.assert_frame_equal(normalise(once, SCORES), once)


def test_empty_text_in_nullable_columns_is_missing() -> None:
    table = normalise(frame(label=[""], versus=[""], task=[""]), SCORES)
    assert table[["label", "versus"]].isna().all(axis=None)
    assert table["task"].tolist() == [""]


@pytest.mark.parametrize("table", [SCORES, OUTPUTS, DETAILS])
def test_an_empty_table_has_the_dtypes_of_a_full_one(table: Table) -> None:
    made = empty(table)
    assert len(made) == 0
    assert list(made.columns) == table.names
    pd.testing.assert_frame_equal(normalise(made, table), made)


def test_a_missing_column_is_named_with_the_nearest_one() -> None:
    with pytest.raises(SchemaError, match="'example_id'.*did you mean 'exampleid'") as caught:
        normalise(frame().rename(columns={"example_id": "exampleid"}), SCORES)
    assert "tidy_scores" in str(caught.value)
    assert caught.value.code == "missing_column"
    assert caught.value.value == ["example_id"]


def test_a_repeated_column_is_refused() -> None:
    raw = pd.concat([frame(), frame()[["score"]]], axis=1)
    with pytest.raises(SchemaError, match="'score' more than once"):
        normalise(raw, SCORES)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("score", "good", "column 'score' holds 'good' in 1 row.*must be a number.*map words"),
        ("trial", 1.5, "'trial' holds 1.5.*whole number from 0"),
        ("trial", -1, "'trial' holds -1.*whole number from 0"),
        ("trial", np.inf, "'trial' holds inf.*whole number from 0"),
        ("passed", "yes", "'passed' holds 'yes'.*true, false or empty"),
        ("status", "ok", "'status' holds 'ok'.*one of 'scored', 'unscored'"),
        ("timestamp", "yesterday", "'timestamp' holds 'yesterday'.*ISO 8601"),
        ("system", None, "'system' is empty in 1 row.*fill it in"),
        ("example_id", np.nan, "'example_id' is empty in 1 row"),
    ],
)
def test_a_cell_of_the_wrong_type_is_named_with_its_row(
    column: str, value: object, message: str
) -> None:
    raw = pd.concat([frame(timestamp="2026-01-01", status="scored", trial=0)] * 2)
    raw = raw.reset_index(drop=True).astype(object)
    raw["passed"] = pd.Series([True, True], dtype=object)
    raw.loc[1, column] = value
    raw.index = pd.Index([10, 11])
    with pytest.raises(SchemaError, match=message) as caught:
        normalise(raw, SCORES)
    assert caught.value.rows == (11,)
    assert caught.value.path == column


def test_words_for_truth_and_numbers_as_text_are_understood() -> None:
    raw = pd.DataFrame(
        {
            "system": "a",
            "example_id": range(6),
            "criterion": "c",
            "score": ["1", "0.5", True, 3, None, np.nan],
            "passed": ["true", "False", 1, 0.0, None, ""],
        }
    )
    table = normalise(raw, SCORES)
    assert table["score"].tolist()[:4] == [1.0, 0.5, 1.0, 3.0]
    assert table["score"].isna().tolist() == [False] * 4 + [True] * 2
    assert table["passed"].tolist()[:4] == [True, False, True, False]
    assert table["passed"].isna().tolist() == [False] * 4 + [True] * 2


def test_times_with_and_without_a_zone_become_utc() -> None:
    raw = pd.concat([frame()] * 4).assign(
        timestamp=["2026-01-02T03:04:05Z", "2026-01-02T05:04:05+02:00", "2026-01-02 03:04:05", None]
    )
    times = normalise(raw, SCORES)["timestamp"]
    assert times.nunique() == 1
    assert str(times.dtype) == "datetime64[us, UTC]"
    assert times.isna().sum() == 1


def test_rows_text_shows_the_first_few_and_counts_the_rest() -> None:
    rows = pd.DataFrame({"a": range(4), "b": "x"})
    assert rows_text(rows, ["a"], limit=2) == "(a=0); (a=1); and 2 more"
