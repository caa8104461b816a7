"""MLflow: own small tables for each trap, the real one against totals counted by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evaltoolkit.errors import EvalToolkitWarning, ReadError
from evaltoolkit.readers import read_details, read_outputs, read_scores
from evaltoolkit.readers.base import Source
from evaltoolkit.readers.mlflow import FORMAT

COLUMNS = [
    "inputs", "ground_truth", "outputs", "latency", "token_count", "topic",
    "readability/v1/score", "answer_correctness/v1/score", "answer_correctness/v1/justification",
]  # fmt: skip


def cells(question: str, grade: float | None, reason: str | None) -> list[Any]:
    return [question, "yes", "no", 1.5, 42, "birds", 7.5, grade, reason]


def split(folder: Path, rows: Sequence[Any], *, columns: Sequence[str] = COLUMNS) -> Path:
    path = folder / "eval_results_table.json"
    path.write_text(json.dumps({"columns": list(columns), "data": list(rows)}), "utf-8")
    return path


def genai(folder: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path = folder / "owl.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def answered(number: int, **more: Any) -> dict[str, Any]:
    return {"trace_id": f"tr-{number}", "request": {"q": number}, "response": "yes", **more}


def test_the_split_layout_becomes_rows(tmp_path: Path) -> None:
    path = split(tmp_path, [cells("a?", 4.0, "close"), cells("b?", 2.0, "far")])
    scores = read_scores(path)
    assert scores["criterion"].tolist() == ["readability", "answer_correctness"] * 2
    assert scores["score"].tolist() == [7.5, 4.0, 7.5, 2.0]
    assert scores["message"].tolist()[1] == "close"
    assert scores["topic"].unique().tolist() == ["birds"]
    assert scores["example_id"].nunique() == 2
    graded = scores[scores["criterion"] == "answer_correctness"]
    assert graded[["kind", "lower_bound", "upper_bound"]].iloc[0].tolist() == ["ordinal", 1.0, 5.0]
    assert scores["higher_is_better"].isna().tolist() == [True, False] * 2
    assert scores["source"].tolist()[2] == "eval_results_table.json: data[1]"


def test_the_system_is_the_folder_or_the_run(tmp_path: Path) -> None:
    scores = read_scores(split(tmp_path, [cells("a?", 4.0, "close")]))
    assert scores["system"].tolist() == [tmp_path.name] * 2
    assert any("taken from the folder name" in note for note in scores.attrs["notes"])
    folder = tmp_path / "5f2a" / "artifacts"
    folder.mkdir(parents=True)
    path = split(folder, [cells("a?", 4.0, "close")])
    assert read_scores(path)["system"].tolist() == ["5f2a"] * 2
    (folder.parent / "tags").mkdir()
    (folder.parent / "tags" / "mlflow.runName").write_text("brave-owl", "utf-8")
    named = read_scores(path)
    assert named["system"].tolist() == ["brave-owl"] * 2
    assert any("'brave-owl' taken from the name of the run" in n for n in named.attrs["notes"])
    assert read_scores(path, system="x")["system"].tolist() == ["x", "x"]


@pytest.mark.parametrize(
    "reason",
    [
        "Failed to score model on payload. Error: 429 Too Many Requests",
        "Failed to extract score and justification. Raw output: {}",
    ],
)
def test_a_judge_that_failed_is_no_missing_score(reason: str, tmp_path: Path) -> None:
    scores = read_scores(split(tmp_path, [cells("a?", None, reason), cells("b?", None, None)]))
    graded = scores[scores["criterion"] == "answer_correctness"]
    assert graded["status"].tolist() == ["scorer_error", "unscored"]
    assert graded["message"].tolist()[0] == reason


def test_toxicity_is_better_when_lower_and_versions_are_told_apart(tmp_path: Path) -> None:
    columns = ["inputs", "toxicity/v1/score", "tone/v1/score", "tone/v2/score"]
    scores = read_scores(split(tmp_path, [["a?", 0.1, 1, 2]], columns=columns))
    assert scores["criterion"].tolist() == ["toxicity", "tone/v1/score", "tone/v2/score"]
    assert scores["higher_is_better"].tolist()[0] is False


def test_repeats_of_an_input_are_trials(tmp_path: Path) -> None:
    scores = read_scores(split(tmp_path, [cells("a?", 4.0, "x"), cells("a?", 5.0, "y")]))
    assert scores["example_id"].nunique() == 1
    assert scores["trial"].tolist() == [0, 0, 1, 1]
    assert any("numbered as trials" in note for note in scores.attrs["notes"])


def test_an_id_column_names_the_examples(tmp_path: Path) -> None:
    columns = ["id", "inputs", "exact_match/v1/score"]
    scores = read_scores(split(tmp_path, [[7, "a?", 1], [8, "a?", 0]], columns=columns))
    assert scores["example_id"].tolist() == ["7", "8"]


def test_outputs_and_long_justifications(tmp_path: Path) -> None:
    path = split(tmp_path, [cells("a?", 4.0, "why " * 100), cells("b?", 4.0, "short")])
    outputs = read_outputs(path)
    assert outputs["latency_s"].tolist() == [1.5, 1.5]
    assert outputs["tokens_out"].tolist() == [42, 42]
    assert outputs[["input", "output", "reference"]].iloc[0].tolist() == ["a?", "no", "yes"]
    details = read_details(path)
    assert json.loads(details["details"].item())["explanation"] == "why " * 100
    assert len(read_scores(path)["message"].dropna().iloc[0]) == 300


def test_verdicts_of_genai_judges(tmp_path: Path) -> None:
    values = ["yes", "no", True, 0.25, "unsure", None]
    rows = [
        answered(n, **{"safety/value": value, "safety/rationale": "words"})
        for n, value in enumerate(values)
    ]
    scores = read_scores(genai(tmp_path, rows))
    assert scores["system"].unique().tolist() == ["owl"]
    assert scores["score"].tolist()[:4] == [1.0, 0.0, 1.0, 0.25]
    assert scores["passed"].tolist()[:3] == [True, False, True]
    assert scores["passed"].isna().tolist()[3:] == [True, True, True]
    assert scores["label"].dropna().tolist() == ["yes", "no", "unsure"]
    assert scores["status"].tolist() == ["scored"] * 4 + ["unscored"] * 2
    assert scores["example_id"].nunique() == 6


def test_errors_of_genai_judges_and_of_the_system(tmp_path: Path) -> None:
    rows = [
        answered(1, **{"safety/value": None, "safety/error_message": "rate limit"}),
        answered(2, **{"safety/value": "yes", "error_message": "ValueError: boom"}),
        answered(3, **{"safety/value": False, "state": "ERROR"}),
    ]
    path = genai(tmp_path, rows)
    scores = read_scores(path)
    assert scores["status"].tolist() == ["scorer_error", "system_error", "system_error"]
    assert scores["message"].tolist()[:2] == ["rate limit", "ValueError: boom"]
    assert scores["label"].tolist()[1:] == ["yes", "0.0"]
    assert scores["passed"].isna().all()
    assert read_outputs(path)["error"].isna().tolist() == [True, False, False]


def test_what_was_expected_is_no_judgement(tmp_path: Path) -> None:
    told = [{"assessment_name": "right_tone", "expectation": {"value": "warm"}}]
    row = answered(
        1,
        **{
            "safety/value": "yes",
            "expected_response/value": "no",
            "right_tone/value": "warm",
            "assessments": told,
        },
    )
    path = genai(tmp_path, [row])
    scores = read_scores(path)
    assert scores["criterion"].tolist() == ["safety"]
    assert any("'right_tone/value'" in note for note in scores.attrs["notes"])
    assert read_outputs(path)["reference"].tolist() == ["no"]


def test_assessments_alone_name_their_judges(tmp_path: Path) -> None:
    def feedback(value: object, judge: str, **more: Any) -> dict[str, Any]:
        told = {"assessment_name": "safe", "source": {"source_id": judge}, "rationale": "words"}
        return {**told, "feedback": {"value": value}, **more}

    given = [
        feedback(True, "judge-a"),
        feedback(False, "ann"),
        feedback(True, "bob", valid=False),
        {"assessment_name": "facts", "expectation": {"value": 1}},
        {
            "assessment_name": "calm",
            "feedback": {"value": None, "error": {"error_code": "TIMEOUT"}},
        },
    ]
    times = {"request_time": 1750000000000, "execution_duration": 250}
    path = genai(tmp_path, [answered(1, assessments=given, **times)])
    scores = read_scores(path)
    assert scores[["criterion", "scorer"]].to_numpy().tolist() == [
        ["safe", "judge-a"],
        ["safe", "ann"],
        ["calm", ""],
    ]
    assert scores["status"].tolist() == ["scored", "scored", "scorer_error"]
    assert str(scores["timestamp"][0]) == "2025-06-15 15:06:40+00:00"
    assert read_outputs(path)["latency_s"].tolist() == [0.25]


def test_the_same_table_in_csv_gives_the_same_scores(tmp_path: Path) -> None:
    path = tmp_path / "owl.csv"
    text = "trace_id,request,response,safety/value,length/value\nt1,a?,b,yes,12\nt2,c?,d,no,\n"
    path.write_text(text, "utf-8")
    scores = read_scores(path)
    assert scores["score"].tolist()[:3] == [1.0, 12.0, 0.0]
    assert scores["status"].tolist() == ["scored", "scored", "scored", "unscored"]


def test_a_row_of_the_wrong_length_is_a_bad_record(tmp_path: Path) -> None:
    path = split(tmp_path, [cells("a?", 4.0, "x"), ["b?"], 3])
    with pytest.raises(ReadError, match=r"data\[1\].*1 cell\(s\) where there are 9 columns"):
        read_scores(path)
    with pytest.warns(EvalToolkitWarning):
        scores = read_scores(path, on_error="skip")
    assert [each["record"] for each in scores.attrs["problems"]] == ["data[1]", "data[2]"]
    assert len(scores) == 2


@pytest.mark.parametrize(
    "content",
    [
        '{"columns": ["a", "b"], "data": [[1, 2]]}',
        '{"columns": ["x/v1/score"], "data": [], "more": 1}',
        '{"columns": 3, "data": []}',
        '{"request": "a", "value": 1}\n{"request": "b", "value": 2}\n',
    ],
)
def test_other_files_are_left_to_others(content: str, tmp_path: Path) -> None:
    path = tmp_path / "file.jsonl"
    path.write_text(content, "utf-8")
    assert not FORMAT.detect(Source(path))


def test_the_real_table(shared_data: Path) -> None:
    path = shared_data / "mlflow" / "eval_results_table.json"
    scores = read_scores(path)
    assert len(scores) == 30
    assert scores["example_id"].nunique() == 10
    by = scores.groupby("criterion")
    assert by["score"].sum().round(9).to_dict() == {
        "answer_correctness": 10.0,
        "ari_grade_level": 89.0,
        "flesch_kincaid_grade_level": 65.5,
    }
    lost = scores[scores["status"] == "scorer_error"]
    assert len(lost) == 6
    assert lost["criterion"].unique().tolist() == ["answer_correctness"]
    assert lost["message"].str.startswith("Failed to score model on payload").all()
    outputs = read_outputs(path)
    assert outputs["tokens_out"].sum() == 2718
    assert outputs["latency_s"].sum() == pytest.approx(245.315810442)
    assert len(read_details(path)) == 10
