"""The table itself as a file: what people's editors, spreadsheets and pipelines do to it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from evaltoolkit import storage
from evaltoolkit.errors import EvalToolkitWarning, MissingDependencyError, ReadError
from evaltoolkit.readers import read_details, read_outputs, read_scores
from evaltoolkit.readers.base import Source
from evaltoolkit.readers.table import column_names, describe_unknown

HEADER = "system,example_id,criterion,score"
LINE = '{"system": "a", "example_id": 1, "criterion": "acc", "score": %s}\n'


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    return write


Write = Callable[[str, str | bytes], Path]


def refusal(path: Path) -> ReadError:
    with pytest.raises(ReadError) as caught:
        read_scores(path)
    return caught.value


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_byte_order_marks_and_blank_lines_do_not_matter(
    file: Write, end: str, mark: bytes
) -> None:
    lines = ["", HEADER, "", "a,1,acc,1", "   ", "b,1,acc,0", ""]
    table = read_scores(file("a.csv", mark + end.join(lines).encode()))
    assert table[["system", "score"]].values.tolist() == [["a", 1.0], ["b", 0.0]]
    assert table["source"].str[-6:].tolist() == ["line 4", "line 6"]

    lines = ["", LINE.strip() % 1, " ", LINE.strip().replace('"a"', '"b"') % 0, ""]
    table = read_scores(file("a.jsonl", mark + end.join(lines).encode()))
    assert table[["system", "score"]].values.tolist() == [["a", 1.0], ["b", 0.0]]
    assert table["source"].str[-6:].tolist() == ["line 2", "line 4"]


def test_records_are_numbered_by_the_line_that_they_start_on(file: Write) -> None:
    text = f'{HEADER},label\na,1,acc,1,"two\nlines"\na,2,acc,1,x\n'
    assert read_scores(file("a.csv", text))["source"].str[-6:].tolist() == ["line 2", "line 4"]


def test_text_of_all_languages_stays_as_it_is(file: Write) -> None:
    name = "模型 é 🙂 \u202e"
    table = read_scores(file("a.csv", f"{HEADER}\n{name},ß,acc,1\n"))
    assert table[["system", "example_id"]].values.tolist() == [[name, "ß"]]
    escaped = LINE.replace('"a"', '"\\u6a21"') % 1
    assert read_scores(file("a.jsonl", escaped))["system"].tolist() == ["模"]


def test_numbers_and_texts_as_ids_meet(file: Write) -> None:
    lines = [
        '{"system": "a", "example_id": 7, "criterion": "acc", "score": 1}',
        '{"system": "b", "example_id": "7", "criterion": "acc", "score": 1}',
        '{"system": "c", "example_id": 7.0, "criterion": "acc", "score": 1}',
        '{"system": "d", "example_id": "07", "criterion": "acc", "score": 1}',
    ]
    table = read_scores(file("a.jsonl", "\n".join(lines)))
    assert table["example_id"].tolist() == ["7", "7", "7", "07"]


@pytest.mark.parametrize("token", ["NaN", "null"])
def test_a_nan_token_is_a_missing_score(file: Write, token: str) -> None:
    table = read_scores(file("a.jsonl", LINE % token))
    assert table["score"].isna().all()
    assert table["status"].tolist() == ["unscored"]


def test_words_for_missing_values_are_text_and_not_missing(file: Write) -> None:
    text = f"{HEADER},label\nNA,null,nan,1,None\n"
    row = read_scores(file("a.csv", text)).iloc[0]
    assert row[["system", "example_id", "criterion", "label"]].tolist() == [
        "NA", "null", "nan", "None",
    ]  # fmt: skip


def test_nested_values_become_json_text(file: Write) -> None:
    line = (LINE % 1).replace("}", ', "tags": ["x", "y"], "meta": {"k": [1]}}')
    row = read_scores(file("a.jsonl", line)).iloc[0]
    assert (row["tags"], row["meta"]) == ('["x", "y"]', '{"k": [1]}')
    details = read_details(file("d.jsonl", line.replace('"score": 1', '"details": {"a": [null]}')))
    assert details["details"].tolist() == ['{"a": [null]}']


def test_the_three_tables_are_told_apart_by_their_columns(file: Write) -> None:
    outputs = file("o.csv", "system,example_id,output\na,1,hello\n")
    assert read_outputs(outputs)["output"].tolist() == ["hello"]
    details = file("d.csv", "system,example_id,criterion,details\na,1,acc,{}\n")
    assert read_details(details)["details"].tolist() == ["{}"]


def test_a_first_line_longer_than_what_is_looked_at_is_read(file: Write) -> None:
    line = (LINE % 1).replace('"a"', '"' + "a" * 100_000 + '"')
    assert len(read_scores(file("a.jsonl", line + LINE % 0))) == 2
    assert len(read_scores(file("one.jsonl", line))) == 1
    assert len(read_scores(file("lines.json", line + LINE % 0))) == 2


def test_cells_longer_than_the_limit_of_the_csv_module_are_read(file: Write) -> None:
    text = f"{HEADER},label\na,1,acc,1,{'x' * 200_000}\n"
    assert len(read_scores(file("a.csv", text))["label"].iloc[0]) == 200_000


# --- bad records, named by their line ---


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a,3,acc,good", "line 4: column 'score' holds 'good'.*must be a number"),
        ("a,,acc,1", "line 4: column 'example_id' is empty"),
        ("a,3,acc", "line 4: 3 cell.* where the header has 4"),
        ("a,3,acc,1,2", "line 4: 5 cell.* where the header has 4"),
    ],
)
def test_a_bad_line_of_csv_is_named_or_skipped(file: Write, line: str, message: str) -> None:
    path = file("a.csv", f"{HEADER}\na,1,acc,1\n\n{line}\na,4,acc,0\n")
    with pytest.raises(ReadError, match=f"a.csv: {message}"):
        read_scores(path)
    with pytest.warns(EvalToolkitWarning, match=r"1 record\(s\) could not be read.*line 4"):
        table = read_scores(path, on_error="skip")
    assert table["example_id"].tolist() == ["1", "4"]
    assert table["source"].str[-6:].tolist() == ["line 2", "line 5"]
    assert [problem["record"] for problem in table.attrs["problems"]] == ["line 4"]


def test_bad_cells_in_several_columns_are_all_skipped(file: Write) -> None:
    lines = [f"{HEADER},trial", "a,1,acc,x,0", "a,2,acc,1,-1", ",3,acc,1,0", "a,4,acc,1,0"]
    with pytest.warns(EvalToolkitWarning, match="3 record"):
        table = read_scores(file("a.csv", "\n".join(lines)), on_error="skip")
    assert table["example_id"].tolist() == ["4"]


def test_a_score_column_of_text_is_refused_with_the_remedy(file: Write) -> None:
    words = ["correct", "incorrect"] * 9
    text = HEADER + "".join(f"\na,{i},acc,{word}" for i, word in enumerate(words))
    error = refusal(file("a.csv", text))
    assert "a.csv: line 2: column 'score' holds 'correct', 'incorrect' in 18 row(s)" in str(error)
    assert ".map({'correct': 1, 'incorrect': 0})" in str(error)


def test_a_bad_line_of_json_lines_is_named(file: Write) -> None:
    path = file("a.jsonl", (LINE % 1) * 16 + LINE % '"high"')
    assert "a.jsonl: line 17: column 'score' holds 'high'" in str(refusal(path))
    path = file("b.jsonl", (LINE % 1) * 16 + "{broken}\n")
    assert "b.jsonl: line 17: the JSON is malformed at column 2" in str(refusal(path))


def test_a_csv_with_nul_bytes_is_refused(file: Write) -> None:
    error = refusal(file("a.csv", f"{HEADER}\na,1,acc,1\n".encode() + b"a,2\0,acc,1\n"))
    assert error.code == "bad_csv"
    assert "line 3 holds a NUL byte" in str(error)
    late = f"{HEADER}\n".encode() + b"a,1,acc,1\n" * 10_000 + b"a,2\0,acc,1\n"
    assert "line 10002 holds a NUL byte" in str(refusal(file("b.csv", late)))


def test_an_open_quote_is_refused(file: Write) -> None:
    error = refusal(file("a.csv", f'{HEADER},label\na,1,acc,1,"open\na,2,acc,1,x\n'))
    assert error.code == "bad_csv"
    assert "cut off or malformed" in str(error)


def test_a_repeated_column_is_refused(file: Write) -> None:
    assert "'score' more than once" in str(refusal(file("a.csv", f"{HEADER},score\na,1,acc,1,2\n")))


def test_a_damaged_parquet_file_is_refused(file: Write, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    whole = tmp_path / "whole.parquet"
    pd.DataFrame({"system": ["a"], "example_id": ["1"]}).to_parquet(whole)
    error = refusal(file("a.parquet", whole.read_bytes()[:-20]))
    assert error.code == "damaged_parquet"
    assert "cut off or damaged" in str(error)


def test_parquet_without_pyarrow_says_what_to_install(
    file: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(MissingDependencyError) as caught:
            storage.need_pyarrow()
    assert "pip install 'evaltoolkit[parquet]'" in str(caught.value)

    def absent() -> None:
        raise caught.value

    monkeypatch.setattr(storage, "need_pyarrow", absent)
    path = file("a.parquet", b"PAR1....PAR1")
    with pytest.raises(MissingDependencyError):
        read_scores(path)
    file("b.csv", f"{HEADER}\na,1,acc,1\n")
    with pytest.warns(EvalToolkitWarning, match="pyarrow"):
        assert len(read_scores(tmp_path)) == 1


# --- what is said of other tables ---


def test_a_parquet_table_of_other_columns_is_refused_with_the_call(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    path = tmp_path / "runs.parquet"
    pd.DataFrame({"model": ["a"], "question_id": [1], "f1": [0.5]}).to_parquet(path)
    assert (
        "et.tidy_scores(pd.read_parquet('runs.parquet'), system='model', "
        "example_id='question_id', criteria=['f1'])" in str(refusal(path))
    )


def test_prose_with_commas_is_no_table(file: Write) -> None:
    text = "Results, as of May\n\nAll runs, with one exception, are in, or below, this folder.\n"
    assert column_names(Source(file("a.txt", text))) == []


def test_telling_names_are_guessed_before_other_numbers(file: Write) -> None:
    text = "model,id,trial,latency,reward,judge_score,comment\na,1,0,2.5,1,7,3 of 4\n"
    assert "criteria=['reward', 'judge_score'])" in describe_unknown(Source(file("a.csv", text)))


def test_columns_that_cannot_be_guessed_are_left_to_the_user(file: Write) -> None:
    text = describe_unknown(Source(file("a.csv", "x,y\n1,2\n")))
    assert "system='<column of the systems>', example_id='<column of the ids>'" in text
    assert "it needs system, example_id, criterion and score" in describe_unknown(
        Source(file("b.csv", "x,y\nu,v\n"))
    )


def test_a_json_list_that_names_its_systems_is_refused_with_the_call(file: Write) -> None:
    record = '{"model": "a", "sample_id": 1, "output": "x", "more": {"n": [1]}, "score": 1}'
    text = describe_unknown(Source(file("runs.json", f"[{record}, 3]")))
    assert (
        "et.tidy_scores(pd.read_json('runs.json'), system='model', example_id='sample_id', "
        "criteria=['score'])" in text
    )
    questions = describe_unknown(Source(file("q.json", '[{"question": "x", "number": 1}]')))
    assert "tidy_scores" not in questions


@pytest.mark.parametrize("separator", ["\t", ";"])
def test_other_separators_are_named(file: Write, separator: str) -> None:
    error = refusal(file("a.csv", f"{HEADER}\na,1,acc,1\n".replace(",", separator)))
    assert f"pd.read_csv('a.csv', sep={separator!r})" in str(error)


def test_what_is_no_table_has_no_columns(file: Write, tmp_path: Path) -> None:
    assert column_names(Source(file("a.txt", "just a line\n"))) == []
    assert column_names(Source(file("a.json", "[1, 2]"))) == []
    assert column_names(Source(tmp_path)) == []


def test_the_csv_limit_of_the_process_is_restored(file: Write) -> None:
    import csv

    before = csv.field_size_limit()
    read_scores(file("a.csv", f"{HEADER}\na,1,acc,1\n"))
    assert csv.field_size_limit() == before


def test_swebench_csv_is_refused_with_the_right_call(shared_data: Path) -> None:
    error = refusal(shared_data / "paired" / "swebench_verified_miniswe_25x500.csv")
    assert "system='model', example_id='instance_id', criteria=['resolved'" in str(error)
