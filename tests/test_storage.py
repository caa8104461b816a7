"""Tables survive a trip through CSV, JSON lines and Parquet."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaltoolkit.errors import EvalToolkitError, SchemaError
from evaltoolkit.readers import read_details, read_outputs, read_scores
from evaltoolkit.schema import DETAILS, OUTPUTS, SCORES, normalise
from evaltoolkit.scores import check_scores
from evaltoolkit.storage import load_table, write_outputs, write_scores, write_table

SUFFIXES = (".csv", ".jsonl", ".parquet")

TRICKY = st.sampled_from(
    [
        "7", "007", "1.0", "1e5", "inf", "nan", "NaN", "NA", "None", "null", "True", "false", "-",
        "=1+1", "+1", "-1", "@cmd", "'=x", "'", "\t", "a,b", 'say "hi"', '"', "line\nbreak",
        "line\r\nbreak", "bare\rreturn", "\r", " padded ", "2026-01-02", "é漢🙂", "\u202eabc", "#x",
        "\u2028", "\x85", "\ufeffx", "\\N", "a;b", "\x1c",
    ]
)  # fmt: skip
# A lone surrogate is no text that UTF-8 can hold, a NUL byte none that CSV readers accept.
TEXT = TRICKY | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
NAME = TEXT.filter(bool)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def score_tables(draw: st.DrawFn) -> pd.DataFrame:
    ids = draw(st.lists(NAME, min_size=1, max_size=4, unique=True))
    n = len(ids)

    def column(values: st.SearchStrategy[object]) -> list[object]:
        return draw(st.lists(values, min_size=n, max_size=n))

    raw = pd.DataFrame(
        {
            "run_id": column(TEXT),
            "system": column(NAME),
            "task": column(TEXT),
            "example_id": ids,
            "trial": column(st.integers(0, 2**40)),
            "criterion": column(NAME),
            "score": column(NUMBER | st.none()),
            "label": column(TEXT | st.none()),
            "message": column(TEXT | st.none()),
            "cluster": column(TEXT | st.none()),
            "timestamp": column(st.datetimes(min_value=pd.Timestamp("1980").to_pydatetime())),
            "topic": column(NAME | st.none()),
            "length": column(st.integers(-(2**62), 2**62)),
            "share": column(NUMBER | st.none()),
            "hard": column(st.booleans()),
        }
    )
    raw["passed"] = pd.Series(column(st.booleans() | st.none()), dtype="boolean").mask(
        raw["score"].isna()
    )
    raw["rank"] = pd.Series(column(st.integers(0, 9) | st.none()), dtype="Int64")
    raw["known"] = pd.Series(column(st.booleans() | st.none()), dtype="boolean")
    raw["topic"] = raw["topic"].astype("str")
    raw["share"] = raw["share"].astype("float64")
    return check_scores(raw)


def back(table: pd.DataFrame, suffix: str) -> pd.DataFrame:
    with tempfile.TemporaryDirectory() as folder:
        path = write_scores(table, Path(folder) / f"scores{suffix}")
        return read_scores(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(table=score_tables())
def test_every_score_table_comes_back_as_it_was(table: pd.DataFrame, suffix: str) -> None:
    pd.testing.assert_frame_equal(back(table, suffix), table, check_exact=True)


def table_of(**columns: object) -> pd.DataFrame:
    base = {"system": ["a", "b"], "example_id": ["1", "1"], "criterion": "acc", "score": [1.0, 0.0]}
    return check_scores(pd.DataFrame({**base, **columns}))


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "values",
    [
        pd.Series(["7", "8"], dtype="str"),
        pd.Series(["x", None], dtype="str"),
        pd.Series([None, None], dtype="str"),
        pd.Series([1, 2]),
        pd.Series([1, None], dtype="Int64"),
        pd.Series([1.0, 2.0]),
        pd.Series([np.inf, -np.inf]),
        pd.Series([np.nan, np.nan]),
        pd.Series([True, False]),
        pd.Series([True, None], dtype="boolean"),
        pd.Series(["True", "False"], dtype="str"),
        pd.Series(["lo", "hi"], dtype="category"),
        pd.Series(pd.to_datetime(["2026-01-02", "2026-01-03"])),
        pd.Series(pd.to_datetime(["2026-01-02", None], utc=True)),
    ],
    ids=lambda values: f"{values.dtype}-{values.iloc[0]}",
)
def test_attributes_keep_their_dtype(values: pd.Series, suffix: str) -> None:
    table = table_of(attribute=values)
    pd.testing.assert_frame_equal(back(table, suffix), table)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_outputs_and_details_come_back_too(suffix: str, tmp_path: Path) -> None:
    outputs = normalise(
        pd.DataFrame(
            {
                "system": ["a"], "example_id": [1], "output": ["=SUM(A1)\nline"], "cost_usd": [0.1],
                "tool_calls": ['[{"name": "f"}]'],
            }
        ),
        OUTPUTS,
    )  # fmt: skip
    path = write_outputs(outputs, tmp_path / f"outputs{suffix}")
    pd.testing.assert_frame_equal(read_outputs(path), outputs)

    raw = {"system": ["a"], "example_id": [1], "criterion": ["c"], "details": ['{"a": [1, 2]}']}
    details = normalise(pd.DataFrame(raw), DETAILS)
    path = write_table(details, tmp_path / f"details{suffix}", table=DETAILS)
    pd.testing.assert_frame_equal(read_details(path)[details.columns.tolist()], details)


def test_a_spreadsheet_finds_no_formula_in_the_csv(tmp_path: Path) -> None:
    table = table_of(label=["=cmd|' /C calc'!A0", "@x"], system=["+a", "-b"])
    path = write_scores(table, tmp_path / "scores.csv")
    cells = [cell for line in path.read_text("utf-8").splitlines() for cell in line.split(",")]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
    pd.testing.assert_frame_equal(read_scores(path), table)


def test_files_are_plain_and_stable(tmp_path: Path) -> None:
    table = table_of()
    first = write_scores(table, tmp_path / "one.csv").read_bytes()
    assert first == write_scores(table, tmp_path / "two.csv").read_bytes()
    assert first.startswith(b"run_id,system,task,example_id,trial,criterion,scorer,versus,score")
    assert b"\r" not in first
    line = write_scores(table, tmp_path / "one.jsonl").read_text("utf-8").splitlines()[0]
    assert json.loads(line)["score"] == 1.0
    assert json.loads(line)["label"] is None


def test_a_note_is_written_only_where_text_cannot_tell_the_dtype(tmp_path: Path) -> None:
    write_scores(table_of(topic=["x", "y"]), tmp_path / "plain.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["plain.csv"]
    write_scores(table_of(topic=["1", "2"]), tmp_path / "plain.csv")
    note = tmp_path / "plain.csv-metadata.json"
    assert json.loads(note.read_text("utf-8")) == {"topic": "str"}
    write_scores(table_of(), tmp_path / "plain.csv")
    assert not note.exists()


def test_a_table_that_breaks_a_rule_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="infinite"):
        write_scores(table_of().assign(score=np.inf), tmp_path / "scores.csv")
    assert not list(tmp_path.iterdir())


def test_other_suffixes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EvalToolkitError, match=r"'scores.xlsx'.*must be one of .csv, .jsonl"):
        write_scores(table_of(), tmp_path / "scores.xlsx")


def test_load_table_reads_any_file_with_the_columns(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("system,example_id,criterion,score,level\na,1,acc,0.5,3\n")
    table = load_table(path, table=SCORES)
    assert table[["score", "level"]].values.tolist() == [[0.5, 3]]
