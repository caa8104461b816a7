"""From files to tables: detection, folders, names, losses, and every refusal as a user reads it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evaltoolkit.errors import EvalToolkitError, EvalToolkitWarning, ReadError, SchemaError
from evaltoolkit.readers import read_details, read_outputs, read_report, read_scores

HEADER = "system,example_id,criterion,score\n"


@pytest.fixture
def here(tmp_path: Path) -> Callable[..., Path]:
    """``here(name, content)`` writes a file below the test's own folder."""

    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    return write


def rows(system: str, *, start: int = 0, count: int = 2) -> str:
    lines = [f"{system},{i},acc,{i % 2}" for i in range(start, start + count)]
    return HEADER + "\n".join(lines) + "\n"


def refusal(read: Callable[[], Any], kind: type[EvalToolkitError] = ReadError) -> EvalToolkitError:
    with pytest.raises(kind) as caught:
        read()
    return caught.value


# --- what can be given as a source ---


def test_a_file_a_glob_a_folder_and_a_list_give_the_same(
    here: Callable[..., Path], tmp_path: Path
) -> None:
    first = here("runs/a.csv", rows("a"))
    second = here("runs/deep/b.csv", rows("b"))
    whole = read_scores(tmp_path / "runs")
    assert whole["system"].tolist() == ["a", "a", "b", "b"]
    for source in (
        str(tmp_path / "runs"),
        str(tmp_path / "runs" / "**" / "*.csv"),
        [first, str(second)],
        (first, second),
        [str(tmp_path / "runs" / "*.csv"), tmp_path / "runs" / "deep"],
    ):
        pd.testing.assert_frame_equal(read_scores(source), whole)


def test_files_are_read_in_sorted_order_and_lists_as_given(
    here: Callable[..., Path], tmp_path: Path
) -> None:
    for name in "cab":
        here(f"{name}.csv", rows(name, count=1))
    assert read_scores(tmp_path)["system"].tolist() == ["a", "b", "c"]
    given = [tmp_path / "c.csv", tmp_path / "a.csv"]
    assert read_scores(given)["system"].tolist() == ["c", "a"]


def test_a_tilde_is_the_home_folder(
    here: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here("a.csv", rows("a"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert len(read_scores("~/a.csv")) == 2
    assert len(read_scores("~/*.csv")) == 2


def test_a_name_with_glob_characters_is_first_taken_as_a_name(here: Callable[..., Path]) -> None:
    assert len(read_scores(here("run[1].csv", rows("a")))) == 2


def test_format_is_found_by_content_not_by_suffix(here: Callable[..., Path]) -> None:
    lines = '{"system": "a", "example_id": 7, "criterion": "acc", "score": 1}\n'
    assert read_scores(here("one.txt", rows("a")))["system"].tolist() == ["a", "a"]
    assert read_scores(here("two.csv", lines * 1))["example_id"].tolist() == ["7"]
    assert read_scores(here("three", lines))["example_id"].tolist() == ["7"]


def test_caches_and_links_are_not_searched(here: Callable[..., Path], tmp_path: Path) -> None:
    here("a.csv", rows("a"))
    here(".ipynb_checkpoints/a.csv", rows("a"))
    here(".git/a.csv", rows("a"))
    here(".hidden.csv", "nonsense")
    (tmp_path / "again").symlink_to(tmp_path, target_is_directory=True)
    scores = read_scores(tmp_path)
    assert len(scores) == 2
    assert scores.attrs["skipped"] == []


def test_the_note_beside_a_written_table_is_no_result_file(
    here: Callable[..., Path], tmp_path: Path
) -> None:
    here("a.csv", HEADER.replace("\n", ",level\n") + "a,1,acc,1,007\n")
    here("a.csv-metadata.json", '{"level": "str"}')
    assert read_scores(tmp_path).attrs["skipped"] == []
    assert read_scores(str(tmp_path / "*"))["level"].tolist() == ["007"]


def test_attributes_of_some_files_only_keep_whole_numbers(
    here: Callable[..., Path], tmp_path: Path
) -> None:
    here("a.csv", HEADER.replace("\n", ",level,hard\n") + "a,1,acc,1,3,True\n")
    here("b.csv", rows("b"))
    scores = read_scores(tmp_path)
    assert scores["level"].fillna(-1).tolist() == [3, -1, -1]
    assert str(scores["level"].dtype) == "Int64"
    assert str(scores["hard"].dtype) == "boolean"


# --- names of systems ---


def test_system_names_what_is_read(here: Callable[..., Path]) -> None:
    path = here("a.csv", rows("x"))
    assert read_scores(path, system="gpt")["system"].unique().tolist() == ["gpt"]
    assert read_scores(path, system={"x": "gpt"})["system"].unique().tolist() == ["gpt"]


def test_a_renaming_reaches_versus_too(here: Callable[..., Path]) -> None:
    text = "system,versus,example_id,criterion,score\na,b,1,win,1\nb,a,1,win,0\n"
    scores = read_scores(here("a.csv", text), system={"a": "b", "b": "a"})
    assert scores[["system", "versus"]].values.tolist() == [["b", "a"], ["a", "b"]]


def test_one_name_for_several_systems_is_refused(here: Callable[..., Path]) -> None:
    path = here("a.csv", rows("x") + rows("y").removeprefix(HEADER))
    error = refusal(lambda: read_scores(path, system="gpt"))
    assert error.code == "several_systems"
    assert "2 were read: 'x', 'y'" in str(error)
    assert "system={old: new" in str(error)


def test_renaming_an_unknown_system_names_the_nearest(here: Callable[..., Path]) -> None:
    path = here("a.csv", rows("gpt-4.1"))
    error = refusal(lambda: read_scores(path, system={"gpt-41": "base"}))
    assert error.code == "unknown_system"
    assert "did you mean 'gpt-4.1'?" in str(error)


# --- refusals of what was asked ---


def test_a_missing_file_names_its_neighbours(here: Callable[..., Path], tmp_path: Path) -> None:
    here("results.csv", rows("a"))
    error = refusal(lambda: read_scores(tmp_path / "result.csv"))
    assert error.code == "file_not_found"
    assert "there is no such file" in str(error)
    assert "did you mean 'results.csv'" in str(error)
    far = refusal(lambda: read_scores(tmp_path / "no" / "result.csv"))
    assert "does not exist either" in str(far)


def test_a_glob_without_matches_names_what_is_there(
    here: Callable[..., Path], tmp_path: Path
) -> None:
    here("results.csv", rows("a"))
    error = refusal(lambda: read_scores(str(tmp_path / "*.eval")))
    assert error.code == "nothing_matches"
    assert "matches no file" in str(error)
    assert "results.csv" in str(error)


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    error = refusal(lambda: read_scores(tmp_path))
    assert error.code == "empty_folder"
    assert "holds no files" in str(error)


@pytest.mark.parametrize("source", [[], 7, pd.DataFrame({"a": [1]}), [pd.DataFrame()], {"a": 1}])
def test_what_is_no_path_is_refused(source: Any) -> None:
    error = refusal(lambda: read_scores(source), EvalToolkitError)
    assert error.code == "bad_source"
    assert "tidy_scores" in str(error)


def test_options_are_checked(here: Callable[..., Path]) -> None:
    path = here("a.csv", rows("a"))
    error = refusal(lambda: read_scores(path, format="inspekt"), EvalToolkitError)
    assert error.code == "unknown_format"
    assert "did you mean 'inspect'?" in str(error)
    error = refusal(lambda: read_scores(path, on_error="ignore"), EvalToolkitError)  # type: ignore[arg-type]
    assert "on_error is 'ignore'; it must be 'raise' or 'skip'" in str(error)
    with pytest.raises(SchemaError, match="'error', 'last' or 'trials'"):
        read_scores(path, duplicates="first")  # type: ignore[arg-type]


# --- refusals of what was found ---


@pytest.mark.parametrize("content", [b"", b" \n\r\n\t", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_an_empty_file_is_refused(here: Callable[..., Path], content: bytes) -> None:
    error = refusal(lambda: read_scores(here("a.jsonl", content)))
    assert error.code == "empty_file"
    assert "a.jsonl: the file is empty" in str(error)


def test_a_truncated_zip_is_refused(here: Callable[..., Path]) -> None:
    error = refusal(lambda: read_scores(here("a.eval", b"PK\x03\x04" + b"x" * 100)))
    assert error.code == "damaged_archive"
    assert "a.eval: the zip archive is cut off or damaged" in str(error)


def test_truncated_json_is_refused_with_its_place(here: Callable[..., Path]) -> None:
    error = refusal(lambda: read_scores(here("a.json", '{\n "a": [1,\n 2')))
    assert error.code == "bad_json"
    assert "a.json: the JSON is cut off at line 3, column" in str(error)


def test_malformed_json_is_refused_with_its_place(here: Callable[..., Path]) -> None:
    error = refusal(lambda: read_scores(here("a.json", '{\n "a": oops,\n "b": [1, 2, 3]\n}\n')))
    assert "the JSON is malformed at line 2, column 7" in str(error)


def test_deep_nesting_is_refused(here: Callable[..., Path]) -> None:
    error = refusal(lambda: read_scores(here("a.json", "[" * 100_000 + "\n" + "]" * 100_000)))
    assert error.code == "bad_json"
    assert "nested too deeply" in str(error)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le"])
def test_utf16_is_refused(here: Callable[..., Path], encoding: str) -> None:
    mark = "" if encoding == "utf-16" else "\ufeff"
    error = refusal(lambda: read_scores(here("a.csv", (mark + rows("a")).encode(encoding))))
    assert error.code == "bad_encoding"
    assert "UTF-16, not UTF-8" in str(error)


def test_latin_1_is_refused(here: Callable[..., Path]) -> None:
    error = refusal(lambda: read_scores(here("a.csv", rows("café").encode("latin-1"))))
    assert error.code == "bad_encoding"
    assert "a.csv: byte 37 is not UTF-8" in str(error)
    line = '{"system": "café", "example_id": 1, "criterion": "c", "score": 1}\n'
    error = refusal(
        lambda: read_scores(
            here("a.jsonl", line.replace("é", "e").encode() + line.encode("cp1252"))
        )
    )
    assert error.code == "bad_encoding"
    assert "a.jsonl: line 2: byte 15 is not UTF-8" in str(error)


def test_an_unknown_table_is_refused_with_the_call_that_reads_it(here: Callable[..., Path]) -> None:
    text = "model,instance_id,resolved,notes\ngpt,django-1,1,fine\n"
    error = refusal(lambda: read_scores(here("runs.csv", text)))
    assert error.code == "unknown_format"
    assert "columns 'model', 'instance_id', 'resolved', 'notes'" in str(error)
    assert (
        "et.tidy_scores(pd.read_csv('runs.csv'), system='model', example_id='instance_id', "
        "criteria=['resolved'])" in str(error)
    )
    assert "Known formats: 'inspect', 'lm_eval', 'evalshift'" in str(error)


def test_unknown_json_lines_are_refused_with_the_call_that_reads_them(
    here: Callable[..., Path],
) -> None:
    error = refusal(lambda: read_scores(here("runs.jsonl", '{"agent": "x", "reward": 0.5}\n' * 2)))
    assert "pd.read_json('runs.jsonl', lines=True), system='agent'" in str(error)
    assert "criteria=['reward']" in str(error)


def test_an_unknown_document_is_refused_with_its_keys(here: Callable[..., Path]) -> None:
    error = refusal(lambda: read_scores(here("a.json", '{"name": "x",\n "version": 3}')))
    assert error.code == "unknown_format"
    assert "JSON with the keys 'name', 'version'" in str(error)
    error = refusal(lambda: read_scores(here("a.bin", b"\x00\x01\x02")))
    assert "neither JSON nor a table" in str(error)


def test_a_folder_without_any_known_format_is_refused(
    here: Callable[..., Path], tmp_path: Path
) -> None:
    here("readme.md", "# hello\n")
    here("config.json", '{"name":\n "x"}')
    error = refusal(lambda: read_scores(tmp_path))
    assert error.code == "unknown_format"
    assert "no scores in any of 2 files" in str(error)
    assert "keys 'name'" in str(error)
    assert "Known formats" in str(error)


def test_a_table_without_rows_is_refused(here: Callable[..., Path]) -> None:
    error = refusal(lambda: read_scores(here("a.csv", HEADER)))
    assert error.code == "no_rows"
    assert "no scores: none is recorded in it" in str(error)


def test_asking_for_another_table_than_the_file_holds_is_refused(here: Callable[..., Path]) -> None:
    path = here("a.csv", rows("a"))
    assert "no outputs" in str(refusal(lambda: read_outputs(path)))
    assert "no details" in str(refusal(lambda: read_details(path)))


def test_files_with_totals_only_point_to_the_report(here: Callable[..., Path]) -> None:
    path = here(
        "analysis.json",
        json.dumps({"run_id": "r", "n_records": 0, "slices": [], "comparisons": []}, indent=1),
    )
    error = refusal(lambda: read_scores(path))
    assert error.code == "no_rows"
    assert "without single scores; et.read_report shows them" in str(error)


def test_a_file_of_the_right_keys_and_the_wrong_shape_is_refused(here: Callable[..., Path]) -> None:
    here("r/scores.jsonl", '{"evaluator_name": "e", "example_id": "1", "source_score": 1, '
         '"target_score": 1, "run_id": "r"}\n')  # fmt: skip
    state = {"run_id": "r", "models": {}, "config_hash": "", "evaluator_coverage": ["oops"]}
    path = here("r/state.json", json.dumps(state)).parent
    error = refusal(lambda: read_scores(path))
    assert error.code == "bad_layout"
    assert "is not laid out like one" in str(error)


# --- duplicates ---


def test_duplicates_across_files_name_the_keys_and_the_files(
    here: Callable[..., Path], tmp_path: Path
) -> None:
    here("a.csv", rows("a", count=8))
    here("copy of a.csv", rows("a", count=8))
    error = refusal(lambda: read_scores(tmp_path), SchemaError)
    assert error.code == "duplicate_keys"
    assert "8 key(s) occur more than once, in 16 rows" in str(error)
    assert str(error).count("example_id=") == 5
    assert "a.csv: line 2" in str(error)
    assert "duplicates='trials'" in str(error)
    assert len(read_scores(tmp_path, duplicates="last")) == 8
    assert read_scores(tmp_path, duplicates="trials")["trial"].tolist() == [0] * 8 + [1] * 8


@pytest.mark.parametrize("duplicates", ["error", "last", "trials"])
def test_the_same_file_twice_is_a_mistake_whatever_duplicates_says(
    here: Callable[..., Path], tmp_path: Path, duplicates: Any
) -> None:
    path = here("a.csv", rows("a"))
    error = refusal(lambda: read_scores([path, tmp_path], duplicates=duplicates))
    assert error.code == "file_twice"
    assert "a.csv: reached twice" in str(error)


def test_repeated_keys_of_outputs_are_counted(here: Callable[..., Path]) -> None:
    path = here("a.csv", "system,example_id,output\na,1,x\na,1,y\n")
    with pytest.warns(EvalToolkitWarning, match="1 row.*repeat the key"):
        assert len(read_outputs(path)) == 2


# --- mixed folders and losses ---


def test_files_of_no_known_format_are_skipped_counted_and_reported_once(
    here: Callable[..., Path], tmp_path: Path
) -> None:
    here("a.csv", rows("a"))
    here("notes.md", "# no results\n[a link](x)\n")
    here("pyproject.toml", "[project]\nname = 'x'\n")
    here("plot.png", b"\x89PNG\r\n\x1a\n\x00")
    assert read_scores(tmp_path).attrs["skipped"][0]["file"].endswith("notes.md")
    here("other.csv", "a,b\n1,2\n")
    here("settings.json", '{"a":\n 1}')
    with pytest.warns(EvalToolkitWarning, match=r"2 of 6 file\(s\) could not be read") as caught:
        scores = read_scores(tmp_path)
    assert len(caught) == 1
    assert len(scores) == 2
    assert len(scores.attrs["skipped"]) == 5
    assert set(scores.attrs["skipped"][0]) == {"file", "reason"}


def test_a_warning_points_at_the_line_of_the_caller(
    here: Callable[..., Path], tmp_path: Path
) -> None:
    here("a.csv", rows("a"))
    here("other.csv", "a,b\n1,2\n")
    with pytest.warns(EvalToolkitWarning) as caught:
        read_scores(tmp_path)
    assert caught[0].filename == __file__
    here("b.csv", "system,example_id,output\na,1,x\n")
    with pytest.warns(EvalToolkitWarning) as caught:
        read_outputs(tmp_path)
    assert {warning.filename for warning in caught} == {__file__}


def test_a_broken_file_stops_a_folder_unless_it_may_be_skipped(
    here: Callable[..., Path], tmp_path: Path
) -> None:
    here("a.csv", rows("a"))
    here("b.eval", b"PK\x03\x04broken")
    here("c.json", "")
    assert refusal(lambda: read_scores(tmp_path)).code == "damaged_archive"
    with pytest.warns(EvalToolkitWarning, match=r"2 of 3 file\(s\).*b.eval: the zip archive"):
        scores = read_scores(tmp_path, on_error="skip")
    assert len(scores) == 2
    assert [item["file"][-6:] for item in scores.attrs["skipped"]] == ["b.eval", "c.json"]


def test_bad_records_stop_reading_unless_they_may_be_skipped(here: Callable[..., Path]) -> None:
    good = '{"system": "a", "example_id": %d, "criterion": "acc", "score": 1}\n'
    path = here("a.jsonl", good % 1 + "{oops\n" + "[1, 2]\n" + good % 2 + '{"system": "a", "ex')
    error = refusal(lambda: read_scores(path))
    assert "a.jsonl: line 2: the JSON is malformed at column 2" in str(error)
    assert "on_error='skip'" in str(error)
    with pytest.warns(EvalToolkitWarning, match=r"3 record\(s\) could not be read") as caught:
        scores = read_scores(path, on_error="skip")
    assert len(caught) == 1
    assert scores["example_id"].tolist() == ["1", "2"]
    problems = scores.attrs["problems"]
    assert [problem["record"] for problem in problems] == ["line 2", "line 3", "line 5"]
    assert "line 3 is a list; each line must be a JSON object" in problems[1]["message"]
    assert problems[2]["message"].startswith("the JSON is cut off at column 17")


def test_when_everything_is_broken_skipping_gives_an_empty_table(here: Callable[..., Path]) -> None:
    path = here("a.json", "{")
    with pytest.warns(EvalToolkitWarning, match=r"1 of 1 file\(s\)"):
        scores = read_scores(path, on_error="skip")
    assert len(scores) == 0
    assert str(scores["score"].dtype) == "float64"


def test_a_broken_rule_names_the_files(here: Callable[..., Path]) -> None:
    text = "system,example_id,criterion,score,status\na,1,acc,1,scorer_error\n"
    error = refusal(lambda: read_scores(here("a.csv", text)), SchemaError)
    assert error.code == "status_without_score"
    assert "read from" in str(error)
    assert "a.csv" in str(error)


def test_attrs_are_plain_and_survive_parquet(here: Callable[..., Path], tmp_path: Path) -> None:
    scores = read_scores(here("a.csv", rows("a")))
    assert scores.attrs == {"skipped": [], "problems": [], "notes": [], "unknown": []}
    scores.to_parquet(tmp_path / "a.parquet")
    assert len(read_scores(tmp_path / "a.parquet")) == 2


# --- the report ---


def test_the_report_counts_file_by_file(here: Callable[..., Path], tmp_path: Path) -> None:
    here("a.csv", rows("a") + "b,1,f1,\n")
    here("b.csv", "x,y\n1,2\n")
    here("c.jsonl", "{oops\n" + '{"system": "c", "example_id": 1, "criterion": "x", "score": 1}\n')
    here("d.jsonl", '{"system": "c", "example_id": 1, "criterion": "x", "score": 1}\n{oops\n')
    report = read_report(tmp_path)
    files = report.files.set_index(report.files["file"].map(lambda name: Path(name).name))
    assert files.loc["a.csv", ["format", "rows", "systems", "tasks", "criteria"]].tolist() == [
        "table", 3, 2, 1, 2,
    ]  # fmt: skip
    assert files.loc["a.csv", ["scored", "unscored", "scorer_error", "system_error"]].tolist() == [
        2, 1, 0, 0,
    ]  # fmt: skip
    assert "tidy_scores" in files.loc["b.csv", "skipped"]
    assert report.problems["record"].tolist() == ["line 2"]
    assert repr(report).startswith("ReadReport: 2 of 4 file(s) read, 4 score rows")


def test_the_report_escapes_what_files_say(here: Callable[..., Path]) -> None:
    path = here("<b>a.csv", rows("<script>alert(1)</script>"))
    html = read_report(path)._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;a.csv" in html
    other = here("x.csv", "<img src=x>,b\n1,2\n").parent
    assert "<img" not in read_report(other)._repr_html_()


def test_the_report_may_be_strict(here: Callable[..., Path], tmp_path: Path) -> None:
    here("a.csv", rows("a"))
    here("b.json", "{")
    assert "cut off" in str(refusal(lambda: read_report(tmp_path, on_error="raise")))
    assert len(read_report(tmp_path).files) == 2


# --- one run in two files, and kinds that a reader does not know ---

RUN = HEADER.replace("\n", ",run_id\n")


def run_rows(run: str, scores: list[int]) -> str:
    return RUN + "".join(f"a,{i},acc,{score},{run}\n" for i, score in enumerate(scores))


def test_copies_of_a_run_are_read_once_and_counted(
    here: Callable[..., Path], tmp_path: Path
) -> None:
    here("a.csv", run_rows("r1", [1, 0, 1]))
    here("b.csv", run_rows("r1", [1, 0, 1, 0]))
    with pytest.warns(EvalToolkitWarning, match=r"3 row\(s\) of '.*b.csv' equal those") as caught:
        scores = read_scores(tmp_path)
    assert caught[0].filename == __file__
    assert scores["example_id"].tolist() == ["0", "1", "2", "3"]
    assert scores["source"].str.contains("a.csv").tolist() == [True, True, True, False]
    assert "read once" in scores.attrs["notes"][0]
    with pytest.warns(EvalToolkitWarning, match="read once"):
        assert len(read_scores(tmp_path, duplicates="trials")) == 4


def test_one_run_with_other_scores_is_a_duplicate_and_names_both_files(
    here: Callable[..., Path], tmp_path: Path
) -> None:
    here("a.csv", run_rows("r1", [1, 0]))
    here("b.csv", run_rows("r1", [0, 1]))
    error = refusal(lambda: read_scores(tmp_path), SchemaError)
    assert error.code == "duplicate_keys"
    text = str(error)
    assert "one run stands in more than one file, so give only one of" in text
    assert "a.csv'" in text
    assert "b.csv'" in text


def test_equal_rows_within_one_file_are_no_copies(here: Callable[..., Path]) -> None:
    path = here("a.csv", run_rows("r1", [1]) + "a,0,acc,1,r1\n")
    assert refusal(lambda: read_scores(path), SchemaError).code == "duplicate_keys"
    assert len(read_scores(path, duplicates="trials")) == 2


def test_equal_rows_of_unnamed_runs_are_no_copies(
    here: Callable[..., Path], tmp_path: Path
) -> None:
    here("a.csv", rows("a"))
    here("b.csv", rows("a"))
    assert refusal(lambda: read_scores(tmp_path), SchemaError).code == "duplicate_keys"


def test_copies_among_outputs_are_left_out_too(here: Callable[..., Path], tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        here(name, "run_id,system,example_id,output\nr,a,1,x\n")
    with pytest.warns(EvalToolkitWarning, match="read once") as caught:
        assert len(read_outputs(tmp_path)) == 1
    assert caught[0].filename == __file__


def test_unknown_kinds_are_reported_once_each_with_counts(
    here: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evaltoolkit.readers import per_file
    from evaltoolkit.readers.base import Batch, Format

    def read(source: Any, reading: Any) -> Any:
        reading.unknown(source.path, "event 'x'", 2)
        reading.unknown(source.path, "event 'y'")
        reading.unknown(source.path, "event 'x'")
        yield Batch(scores=[{"system": source.path.name, "example_id": "1", "criterion": "c",
                             "score": 1}])  # fmt: skip

    made = Format("made", "Made up", lambda source: True, read)
    monkeypatch.setattr(
        per_file, "detect_format", lambda source: None if source.is_folder else made
    )
    here("a.txt", "x")
    here("b.txt", "x")
    with pytest.warns(EvalToolkitWarning) as caught:
        scores = read_scores(tmp_path)
    assert sorted(str(warning.message).partition(" were")[0] for warning in caught) == [
        "made: 2 record(s) of the unknown kind event 'y'",
        "made: 6 record(s) of the unknown kind event 'x'",
    ]
    assert scores.attrs["unknown"][0] == {
        "file": str(tmp_path / "a.txt"),
        "format": "made",
        "kind": "event 'x'",
        "count": 3,
    }
    assert len(scores.attrs["unknown"]) == 4


def test_a_broken_file_among_others_says_how_to_read_the_rest(
    here: Callable[..., Path], tmp_path: Path
) -> None:
    here("a.csv", rows("a"))
    here("b.json", b"\xff{".replace(b"\xff", b"{"))
    assert "on_error='skip'" in str(refusal(lambda: read_scores(tmp_path)))
    here("b.json", "")
    assert "on_error='skip' reads the other files" in str(refusal(lambda: read_scores(tmp_path)))


def test_a_folder_of_mixed_formats_is_read_file_by_file(tmp_path: Path) -> None:
    from tests.readers.minimal import MINIMAL

    own = ("table", "table:csv", "inspect", "lm_eval", "evalshift")
    for name in own:
        folder = tmp_path / name.replace(":", "-")
        folder.mkdir()
        MINIMAL[name](folder)
    (tmp_path / "notes.md").write_text("# notes", "utf-8")
    scores = read_scores(tmp_path, duplicates="trials")
    assert len(scores) == 2 + 2 + 2 + 2 + 4
    reasons = {Path(each["file"]).name for each in scores.attrs["skipped"]}
    assert reasons == {"notes.md", "results_2025-03-04T05-06-07.890123.json"}
