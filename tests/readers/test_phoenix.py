"""Arize Phoenix: own small files for each trap, real ones against totals counted by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evaltoolkit.errors import EvalToolkitWarning, ReadError
from evaltoolkit.readers import read_details, read_outputs, read_scores
from evaltoolkit.readers.base import Source
from evaltoolkit.readers.phoenix import FORMAT

LONG = "x" * 400
SPANS = "context.span_id,label,score,explanation\n"


def spans(folder: Path, *lines: str, name: str = "evals_mood.csv", header: str = SPANS) -> Path:
    path = folder / name
    path.write_text(header + "".join(f"{line}\n" for line in lines), "utf-8")
    return path


def run(example: str, *annotations: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "example_id": example,
        "repetition_number": 1,
        "input": {"question": example},
        "reference_output": "yes",
        "output": "no",
        "error": None,
        "latency_ms": 500.0,
        "start_time": "2026-02-03T04:05:06+00:00",
        "prompt_token_count": 7,
        "completion_token_count": 3,
        "annotations": list(annotations),
        **more,
    }


def note(name: str, score: float | None, label: str | None = None, **more: Any) -> dict[str, Any]:
    return {"name": name, "score": score, "label": label, "explanation": "words", **more}


def experiment(folder: Path, runs: Sequence[Any], *, name: str = "owl.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(list(runs)), "utf-8")
    return path


def flat(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "runs.jsonl"
    basis = {"arm": "owl", "question_id": "q1", "repeat": 0, "error": None, "shape": "lookup"}
    told = {"correct": True, "score": 1.0, "judge_explanation": "words", "answer": "yes"}
    path.write_text("".join(json.dumps({**basis, **told, **row}) + "\n" for row in rows), "utf-8")
    return path


def test_a_frame_of_evaluations_becomes_rows(tmp_path: Path) -> None:
    scores = read_scores(spans(tmp_path, "s1,good,1,fine", "s2,bad,0,poor"))
    assert scores["example_id"].tolist() == ["s1", "s2"]
    assert scores["criterion"].unique().tolist() == ["mood"]
    assert scores["label"].tolist() == ["good", "bad"]
    assert scores["score"].tolist() == [1.0, 0.0]
    assert scores["message"].tolist() == ["fine", "poor"]
    assert scores["higher_is_better"].tolist() == [True, True]
    assert scores["system"].unique().tolist() == [tmp_path.name]
    notes = " ".join(scores.attrs["notes"])
    assert "criterion 'mood' taken from the file name" in notes
    assert "taken from the folder name" in notes


def test_a_reply_that_could_not_be_parsed_is_no_zero(tmp_path: Path) -> None:
    path = spans(tmp_path, "s1,good,1,fine", "s2,NOT_PARSABLE,0.0,", "s3,NOT_PARSABLE,,")
    scores = read_scores(path)
    assert scores["status"].tolist() == ["scored", "scorer_error", "scorer_error"]
    assert scores["label"].tolist()[1:] == ["NOT_PARSABLE"] * 2
    assert scores["message"].tolist()[1].endswith("the tool wrote the score 0.0")
    assert "wrote" not in scores["message"].tolist()[2]


def test_a_label_without_a_score_and_nothing_at_all(tmp_path: Path) -> None:
    scores = read_scores(spans(tmp_path, "s1,blue,,", "s2,,,", "s3,red,2,"))
    assert scores["status"].tolist() == ["unscored", "unscored", "scored"]
    assert scores["label"].tolist()[0] == "blue"
    assert scores["higher_is_better"].isna().all()


def test_hallucinated_with_one_is_better_when_lower(tmp_path: Path) -> None:
    path = spans(tmp_path, "s1,hallucinated,1,", "s2,factual,0,", name="evals_x.csv")
    assert read_scores(path)["higher_is_better"].tolist() == [False, False]
    turned = spans(tmp_path, "s1,hallucinated,0,", "s2,factual,1,", name="evals_x.csv")
    assert read_scores(turned)["higher_is_better"].tolist() == [True, True]
    unlabelled = spans(tmp_path, "s1,,1,", name="evals_toxicity.csv")
    assert read_scores(unlabelled)["higher_is_better"].tolist() == [False]


def test_an_evaluator_that_failed(tmp_path: Path) -> None:
    header = "context.span_id,label,score,exceptions,execution_status\n"
    path = spans(
        tmp_path,
        "s1,good,1,,COMPLETED",
        "s2,,0,RateLimit,FAILED",
        "s3,,,,MISSING_INPUT",
        header=header,
    )
    scores = read_scores(path)
    assert scores["status"].tolist() == ["scored", "scorer_error", "scorer_error"]
    assert scores["message"].tolist()[1].startswith("RateLimit")
    assert scores["message"].tolist()[2] == "MISSING_INPUT"


def test_documents_of_one_span_share_a_cluster(tmp_path: Path) -> None:
    header = "context.span_id,document_position,label,score\n"
    scores = read_scores(spans(tmp_path, "s1,0,relevant,1", "s1,1,irrelevant,0", header=header))
    assert scores["example_id"].tolist() == ["s1#0", "s1#1"]
    assert scores["cluster"].tolist() == ["s1", "s1"]


def test_the_name_in_the_parquet_file_comes_first(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    import pyarrow.parquet as pq

    table = pa.table({"label": ["good"], "score": [1.0], "context.span_id": ["s1"]})
    kept = {"arize": json.dumps({"eval_name": "Mood of the day"})}
    path = tmp_path / "evaluations-2f1f3b52-0c1e-4d4e-9f5a-0a1b2c3d4e5f.parquet"
    pq.write_table(table.replace_schema_metadata(kept), path)
    assert read_scores(path)["criterion"].tolist() == ["Mood of the day"]
    pq.write_table(table.replace_schema_metadata({}), path)
    assert read_scores(path)["criterion"].tolist() == ["evaluation"]


def test_an_experiment_becomes_rows(tmp_path: Path) -> None:
    runs = [
        run("e1", note("exact", 1.0, annotator_kind="CODE"), note("tone", None, "warm")),
        run("e1", note("exact", 0.0, annotator_kind="CODE"), repetition_number=2),
    ]
    path = experiment(tmp_path, runs)
    scores = read_scores(path)
    assert scores["system"].unique().tolist() == ["owl"]
    assert scores["trial"].tolist() == [0, 0, 1]
    assert scores["criterion"].tolist() == ["exact", "tone", "exact"]
    assert scores["scorer"].tolist() == ["CODE", "", "CODE"]
    assert scores["status"].tolist() == ["scored", "unscored", "scored"]
    (first, _) = read_outputs(path).to_dict("records")
    assert (first["latency_s"], first["tokens_in"], first["tokens_out"]) == (0.5, 7, 3)
    assert (first["output"], first["reference"]) == ("no", "yes")


def test_a_run_that_failed_loses_its_scores(tmp_path: Path) -> None:
    runs = [
        run("e1", note("exact", 1.0), note("tone", 0.5, annotator_kind="LLM")),
        run("e2", note("exact", 0.0), error="TimeoutError: 30 s", output=None),
    ]
    scores = read_scores(experiment(tmp_path, runs))
    lost = scores[scores["example_id"] == "e2"]
    assert lost["status"].tolist() == ["system_error"] * 2
    assert lost["criterion"].tolist() == ["exact", "tone"]
    assert lost["scorer"].tolist() == ["", "LLM"]
    assert lost["label"].tolist()[0] == "0.0"
    assert lost["message"].tolist()[1] == "TimeoutError: 30 s"


def test_an_evaluator_that_raised_in_an_experiment(tmp_path: Path) -> None:
    scores = read_scores(experiment(tmp_path, [run("e1", note("exact", None, error="KeyError"))]))
    assert (scores["status"][0], scores["message"][0]) == ("scorer_error", "KeyError")


def test_an_experiment_without_annotations_has_outputs_only(tmp_path: Path) -> None:
    path = experiment(tmp_path, [run("e1"), run("e2")])
    with pytest.raises(ReadError, match="no evaluator was run") as caught:
        read_scores(path)
    assert caught.value.code == "no_rows"
    assert len(read_outputs(path)) == 2


def test_a_bad_run_is_named(tmp_path: Path) -> None:
    path = experiment(
        tmp_path,
        [run("e1", note("exact", 1.0)), run("e2", {"score": 1}), run("e3", example_id=None), 3],
    )
    with pytest.raises(ReadError, match=r"record 1.*an annotation has no name"):
        read_scores(path)
    with pytest.warns(EvalToolkitWarning):
        scores = read_scores(path, on_error="skip")
    assert len(scores) == 1
    assert len(scores.attrs["problems"]) == 3


def test_flat_runs(tmp_path: Path) -> None:
    path = flat(
        tmp_path,
        {"tool_call_sequence": ["look"], "input_tokens": 9, "output_tokens": 2},
        {"arm": "crow", "repeat": 1, "correct": False, "score": 0.25, "judge_explanation": LONG},
        {"question_id": "q2", "score": None},
        {"question_id": "q3", "error": "Timeout", "correct": False, "score": 0.0},
        {"question_id": "q4", "score": None, "correct": None},
    )  # fmt: skip
    scores = read_scores(path)
    assert scores["system"].tolist() == ["owl", "crow", "owl", "owl", "owl"]
    assert scores["trial"].tolist() == [0, 1, 0, 0, 0]
    assert scores["score"].tolist()[:3] == [1.0, 0.25, 1.0]
    assert scores["passed"].tolist()[:3] == [True, False, True]
    assert scores["status"].tolist() == ["scored"] * 3 + ["system_error", "unscored"]
    assert scores["label"].tolist()[3] == "0.0"
    assert scores["shape"].unique().tolist() == ["lookup"]
    assert len(scores["message"][1]) == 300
    assert len(read_details(path)) == 1
    outputs = read_outputs(path)
    assert outputs["tool_calls"].tolist()[0] == '["look"]'
    assert outputs["tokens_in"].tolist()[0] == 9


def test_a_verdict_that_contradicts_its_grade_warns(tmp_path: Path) -> None:
    path = flat(tmp_path, {"score": 0.0}, {"question_id": "q2", "correct": False, "score": 1.0})
    with pytest.warns(EvalToolkitWarning, match=r"2 run\(s\) are correct with score 0"):
        read_scores(path)


@pytest.mark.parametrize(
    "content", ["label,score\nx,1\n", "span_id,label\ns1,x\n", "arm,question_id,score\na,q,1\n"]
)
def test_other_files_are_left_to_others(content: str, tmp_path: Path) -> None:
    path = tmp_path / "file.csv"
    path.write_text(content, "utf-8")
    assert not FORMAT.detect(Source(path))


def test_the_real_evaluations(shared_data: Path) -> None:
    hallucination = read_scores(shared_data / "phoenix" / "evals_hallucination.parquet")
    assert len(hallucination) == hallucination["example_id"].nunique() == 100
    assert hallucination["label"].value_counts().to_dict() == {"factual": 80, "hallucinated": 20}
    assert hallucination["score"].sum() == 20
    assert not hallucination["higher_is_better"].any()
    relevance = read_scores(shared_data / "phoenix" / "evals_relevance.parquet")
    assert relevance["label"].value_counts().to_dict() == {"unrelated": 53, "relevant": 47}
    assert relevance["criterion"].unique().tolist() == ["Retrieval Relevance"]
    assert relevance["higher_is_better"].all()


def test_the_real_runs(shared_data: Path) -> None:
    scores = read_scores(shared_data / "phoenix" / "mcp_runs.jsonl")
    assert len(scores) == 48
    by = scores.groupby("system")
    assert by["score"].sum().round(9).to_dict() == {"code_mode": 23.9, "phoenix_mcp": 19.65}
    assert by["passed"].sum().to_dict() == {"code_mode": 24, "phoenix_mcp": 18}
    assert sorted(scores["trial"].unique()) == [0, 1, 2]
    assert scores["example_id"].nunique() == 8
    outputs = read_outputs(shared_data / "phoenix" / "mcp_runs.jsonl")
    tokens = outputs.groupby("system")["tokens_in"].sum().to_dict()
    assert tokens == {"code_mode": 905017, "phoenix_mcp": 2971242}
    real = shared_data / "phoenix" / "js_experiment_runs.json"
    assert len(read_outputs(real)) == 10
    with pytest.raises(ReadError, match="no evaluator was run"):
        read_scores(real)
