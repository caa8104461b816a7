"""BFCL: the passes are what the failures leave of the answers, if both are of one run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evaltoolkit as et


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def totals(correct: int, total: int) -> dict[str, Any]:
    return {"accuracy": correct / total, "correct_count": correct, "total_count": total}


def failure(number: int, kind: str = "value_error:string", **more: object) -> dict[str, Any]:
    return {
        "id": f"parallel_{number}",
        "model_name": "model-1",
        "test_category": "parallel",
        "valid": False,
        "error": ["Wrong value.", {"sub_error": ["x"]}],
        "error_type": kind,
        "possible_answer": [{"f": {"a": [1]}}],
        **more,
    }


def answer(number: int, **more: object) -> dict[str, Any]:
    return {
        "id": f"parallel_{number}",
        "result": [{"f": '{"a": 1}'}],
        "input_token_count": 10,
        "output_token_count": 2,
        "latency": 0.5,
        **more,
    }


def pair(folder: Path, correct: int, *failures: dict[str, Any], count: int = 3) -> Path:
    lines(folder / "BFCL_v4_parallel_result.json", *(answer(n) for n in range(count)))
    return lines(folder / "BFCL_v4_parallel_score.json", totals(correct, 3), *failures)


def test_the_passes_are_the_other_ids(tmp_path: Path) -> None:
    scores = et.read_scores(pair(tmp_path, 2, failure(1)))
    assert scores.set_index("example_id")["score"].to_dict() == {
        "parallel_1": 0.0, "parallel_0": 1.0, "parallel_2": 1.0
    }  # fmt: skip
    assert scores["passed"].tolist() == [False, True, True]
    assert set(scores["system"] + "|" + scores["task"]) == {"model-1|bfcl/parallel"}
    assert scores["label"].tolist()[0] == "value_error:string"
    assert scores["message"].tolist()[0].startswith("Wrong value.")
    assert scores.attrs["notes"] == []


def test_a_folder_is_read_once(tmp_path: Path) -> None:
    pair(tmp_path, 2, failure(1))
    assert len(et.read_scores(tmp_path)) == 3
    assert len(et.read_outputs(tmp_path)) == 3


def test_the_trees_of_the_tool(tmp_path: Path) -> None:
    inner = Path("model-2", "non_live")
    lines(tmp_path / "result-new" / inner / "BFCL_v4_parallel_result.json", answer(0), answer(1))
    path = lines(tmp_path / "score-new" / inner / "BFCL_v4_parallel_score.json", totals(2, 2))
    scores = et.read_scores(path)
    assert scores["score"].tolist() == [1.0, 1.0]
    assert set(scores["system"]) == {"model-2"}
    assert "folder name" in scores.attrs["notes"][0]


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("ast_decoder:decoder_failed", "system_error"),
        ("multi_turn:force_terminated", "system_error"),
        ("multi_turn:inference_error", "system_error"),
        ("simple_function_checker:wrong_count", "scored"),
    ],
)
def test_no_call_is_no_wrong_call(tmp_path: Path, kind: str, status: str) -> None:
    scores = et.read_scores(pair(tmp_path, 2, failure(1, kind)))
    row = scores.set_index("example_id").loc["parallel_1"]
    assert (row["status"], row["label"]) == (status, kind)


def test_the_kind_of_error_may_be_inside(tmp_path: Path) -> None:
    inside = {"error_message": ["State differs."], "error_type": "multi_turn:state_mismatch"}
    row = {key: value for key, value in failure(1).items() if key != "error_type"}
    scores = et.read_scores(pair(tmp_path, 2, {**row, "error": inside}))
    assert scores["label"].tolist()[0] == "multi_turn:state_mismatch"
    assert scores["message"].tolist()[0] == "State differs."


def test_failures_alone_are_no_scores(tmp_path: Path) -> None:
    path = lines(tmp_path / "BFCL_v4_parallel_score.json", totals(2, 3), failure(1))
    with pytest.raises(et.ReadError, match=r"1 failures of 3.*BFCL_v4_parallel_result\.json"):
        et.read_scores(path)
    assert et.read_report(path).aggregates["value"].tolist() == [pytest.approx(2 / 3)]
    assert len(et.read_details(path)) == 1


def test_failures_alone_are_enough_where_nothing_passed(tmp_path: Path) -> None:
    path = lines(tmp_path / "a_score.json", totals(0, 2), failure(0), failure(1))
    assert et.read_scores(path)["score"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("correct", "failures", "count"), [(1, [1], 3), (2, [1], 2), (2, [7], 3), (2, [1], 4)]
)
def test_files_of_different_runs_are_refused(
    tmp_path: Path, correct: int, failures: list[int], count: int
) -> None:
    path = pair(tmp_path, correct, *(failure(n) for n in failures), count=count)
    with pytest.raises(et.ReadError, match="two files of one run") as caught:
        et.read_scores(path)
    assert caught.value.code == "contradiction"


def test_a_failure_that_cannot_be_read_does_not_pass(tmp_path: Path) -> None:
    path = pair(tmp_path, 1, failure(1), failure(2))
    path.write_text(path.read_text("utf-8").rstrip()[:-3] + "\n", "utf-8")
    lines(tmp_path / "other_score.json", totals(0, 1), failure(0))
    with pytest.warns(et.EvalToolkitWarning, match=r"2 record\(s\)"):
        scores = et.read_scores(tmp_path, on_error="skip")
    assert scores["source"].unique().tolist() == ["other_score.json: line 2"]


def test_answers_are_outputs(tmp_path: Path) -> None:
    pair(tmp_path, 3)
    path = lines(
        tmp_path / "BFCL_v4_parallel_result.json",
        answer(0),
        answer(1, input_token_count=[[1, 2], [3]], latency=[[0.25], [0.5]], result=[["f(1)"]]),
        answer(2, result="Error during inference: no reply"),
    )
    outputs = et.read_outputs(path)
    assert outputs["tokens_in"].tolist() == [10.0, 6.0, 10.0]
    assert outputs["latency_s"].tolist() == [0.5, 0.75, 0.5]
    assert json.loads(outputs["tool_calls"][0]) == [{"f": '{"a": 1}'}]
    assert outputs["error"].fillna("").tolist() == ["", "", "Error during inference: no reply"]
    with pytest.raises(et.ReadError, match="answers only"):
        et.read_scores(path)


def test_real_files(shared_data: Path) -> None:
    # 400 answers, 22 failures, and the totals say 378.
    folder = shared_data / "bfcl"
    scores = et.read_scores(folder / "glyphh.simple_python_score.json")
    assert scores["score"].value_counts().to_dict() == {1.0: 378, 0.0: 22}
    assert scores["label"].value_counts().to_dict() == {
        "value_error:others": 9,
        "value_error:string": 5,
        "type_error:nested": 4,
        "simple_function_checker:wrong_count": 4,
    }
    assert set(scores["system"]) == {"glyphh-ada-1.1"}
    outputs = et.read_outputs(folder / "glyphh.simple_python_result.json")
    assert set(outputs["example_id"]) == set(scores["example_id"])
    assert set(outputs["system"]) == {"glyphh-ada-1.1"}
    with pytest.raises(et.ReadError, match="8 failures of 400"):
        et.read_scores(folder / "claude-sonnet-4-5.simple_python_score.json")
