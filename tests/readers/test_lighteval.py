"""lighteval: own small files for each trap, real ones against totals counted by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from evaltoolkit.errors import EvalToolkitWarning, ReadError
from evaltoolkit.readers import read_details, read_outputs, read_report, read_scores
from evaltoolkit.readers.base import Source
from evaltoolkit.readers.lighteval import FORMAT
from evaltoolkit.readers.lighteval_results import Results

pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
pq = pytest.importorskip("pyarrow.parquet", reason="Parquet needs pyarrow")

STAMP = "2026-01-02T03-04-05.678901"


def row(name: str, metric: Any, *, text: Sequence[str] = ("yes",), **doc: Any) -> dict[str, Any]:
    return {
        "doc": {
            "id": name,
            "query": f"what is {name}?",
            "choices": ["yes", "no"],
            "gold_index": [1],
            "task_name": "birds|2",
            **doc,
        },
        "metric": metric,
        "model_response": {
            "input": None,
            "text": list(text),
            "logprobs": [-0.5, -1.5],
            "input_tokens": [1, 2, 3],
            "output_tokens": [[1, 2], [3]],
        },
    }


def details(folder: Path, rows: Sequence[Mapping[str, Any]], *, model: str = "lab/owl") -> Path:
    place = folder / "details" / model / STAMP
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"details_birds|2_{STAMP}.parquet"
    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return path


def results(folder: Path, *, model: str = "lab/owl") -> Path:
    place = folder / "results" / model
    place.mkdir(parents=True)
    path = place / f"results_{STAMP}.json"
    metrics = [
        {"metric_name": "acc", "higher_is_better": True, "corpus_level_fn": "mean"},
        {
            "metric_name": ["mae", "spread"],
            "higher_is_better": {"mae": False, "spread": None},
            "corpus_level_fn": {"mae": "mean", "spread": "lambda x: x"},
        },
    ]
    document = {
        "config_general": {"model_name": "lab/owl-7b"},
        "results": {
            "birds|2": {"acc": 0.5, "acc_stderr": 0.1, "mae": 3.0, "spread": float("nan")},
            "all": {"acc": 0.5},
        },
        "config_tasks": {"birds|2": {"metrics": metrics, "effective_num_docs": 40}},
    }
    path.write_text(json.dumps(document), "utf-8")
    return path


def test_details_become_rows(tmp_path: Path) -> None:
    results(tmp_path)
    path = details(
        tmp_path, [row("d1", {"acc": 1, "mae": 2.5}), row("d2", {"acc": 0, "mae": None})]
    )
    scores = read_scores(path)
    assert scores["system"].unique().tolist() == ["lab/owl-7b"]
    assert scores["task"].unique().tolist() == ["birds|2"]
    assert scores["run_id"].unique().tolist() == [STAMP]
    assert scores["example_id"].tolist() == ["d1", "d1", "d2", "d2"]
    assert scores["score"].tolist()[:3] == [1.0, 2.5, 0.0]
    assert scores["status"].tolist() == ["scored", "scored", "scored", "unscored"]
    assert scores["higher_is_better"].tolist() == [True, False] * 2
    assert any(f"taken from results_{STAMP}.json" in note for note in scores.attrs["notes"])


def test_a_whole_run_reads_from_its_folder(tmp_path: Path) -> None:
    results(tmp_path)
    details(tmp_path, [row("d1", {"acc": 1})])
    scores = read_scores(tmp_path)
    assert len(scores) == 1
    assert read_report(tmp_path).aggregates["criterion"].tolist() == ["acc", "mae", "spread", "acc"]


def test_without_results_the_folders_name_the_model(tmp_path: Path) -> None:
    path = details(tmp_path, [row("d1", {"acc": 1})])
    scores = read_scores(path)
    assert scores["system"].tolist() == ["lab/owl"]
    assert any("the names of the folders" in note for note in scores.attrs["notes"])
    assert "higher_is_better" not in scores or scores["higher_is_better"].isna().all()
    assert read_scores(path, system="x")["system"].tolist() == ["x"]


def test_a_broken_results_file_does_not_stop_the_details(tmp_path: Path) -> None:
    results(tmp_path).write_text('{"config_general": {', "utf-8")
    assert read_scores(details(tmp_path, [row("d1", {"acc": 1})]))["system"].tolist() == ["lab/owl"]


def test_a_corpus_metric_has_no_score_for_one_document(tmp_path: Path) -> None:
    path = details(tmp_path, [row("d1", {"bleu": ["gold", "said"]})])
    scores = read_scores(path)
    assert (scores["status"][0], scores["label"][0]) == ("unscored", '["gold", "said"]')
    assert json.loads(read_details(path)["details"].item()) == {"value": ["gold", "said"]}
    assert any("'bleu (1×)'" in note for note in scores.attrs["notes"])


def test_values_that_are_no_scores(tmp_path: Path) -> None:
    path = details(tmp_path, [row("d1", {"a": float("nan")}), row("d2", {"a": float("inf")})])
    scores = read_scores(path)
    assert scores["status"].tolist() == ["unscored", "unscored"]
    assert scores["label"].tolist() == ["NaN", "Infinity"]


def test_outputs(tmp_path: Path) -> None:
    rows = [row("d1", {"acc": 1}), row("d2", {"acc": 1}, text=[]), row("d3", {"acc": 1}, text="ab")]
    outputs = read_outputs(details(tmp_path, rows))
    assert outputs["output"].tolist() == ["yes", '{"logprobs": [-0.5, -1.5]}', '["a", "b"]']
    assert outputs["reference"].tolist() == ["no"] * 3
    assert outputs["input"].tolist()[0] == "what is d1?"
    assert (outputs["tokens_in"][0], outputs["tokens_out"][0]) == (3, 3)


def test_a_document_without_an_id_is_named_by_its_question(tmp_path: Path) -> None:
    scores = read_scores(details(tmp_path, [row("", {"acc": n}) for n in (0, 1)]))
    assert scores["example_id"].nunique() == 1
    assert scores["trial"].tolist() == [0, 1]
    assert any("numbered as trials" in note for note in scores.attrs["notes"])


def test_fields_that_were_written_as_python_text(tmp_path: Path) -> None:
    whole = {name: str(value) for name, value in row("d1", {"acc": 1}).items()}
    broken = {**whole, "doc": "<Doc object at 0x1>"}
    path = details(tmp_path, [whole, broken])
    with pytest.raises(ReadError, match=r"row 2.*its doc is of type str"):
        read_scores(path)
    with pytest.warns(EvalToolkitWarning):
        scores = read_scores(path, on_error="skip")
    assert scores["example_id"].tolist() == ["d1"]
    assert scores["score"].tolist() == [1.0]


def test_the_layout_before_2025(tmp_path: Path) -> None:
    rows = [
        {
            "example": f"question {n}",
            "full_prompt": f"Answer. question {n}",
            "gold": "['no']",
            "predictions": "['yes']",
            "metrics": {"acc": n},
            "input_tokens": [1, 2],
        }
        for n in range(2)
    ]
    path = details(tmp_path, rows)
    scores = read_scores(path)
    assert scores["score"].tolist() == [0.0, 1.0]
    assert scores["task"].unique().tolist() == ["birds|2"]
    assert scores["example_id"].nunique() == 2
    (first, _) = read_outputs(path).to_dict("records")
    assert (first["output"], first["reference"], first["tokens_in"]) == ("yes", "no", 2)


def test_results_are_for_the_report(tmp_path: Path) -> None:
    path = results(tmp_path)
    with pytest.raises(ReadError, match="et.read_report"):
        read_scores(path)
    found = read_report(path).aggregates
    assert found["task"].tolist() == ["birds|2"] * 3 + ["all"]
    assert found["value"].isna().tolist() == [False, False, True, False]
    assert found["metric"].tolist() == ["mean", "mean", "custom", "mean over tasks"]
    assert found["stderr"].tolist()[0] == 0.1
    assert found["n"].tolist()[0] == 40


def test_minus_one_document_is_no_count() -> None:
    config = {"t": {"effective_num_docs": -1, "original_num_docs": -1, "metrics": []}}
    one = Results(Path("results.json"), {"results": {"t": {"acc": 1}}, "config_tasks": config})
    (found,) = one.aggregates()
    assert found["n"] is None
    assert (found["metric"], found["system"]) == ("reported", "")


def test_other_files_are_left_to_others(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"doc": ["x"], "metric": [1]}), path)
    assert not FORMAT.detect(Source(path))
    path = tmp_path / "file.json"
    path.write_text('{"config_general": {}, "results": {"a": 1}}', "utf-8")
    assert not FORMAT.detect(Source(path))


def test_the_real_run(shared_data: Path) -> None:
    folder = shared_data / "lighteval" / "lighteval_smoke"
    scores = read_scores(folder)
    assert len(scores) == 4
    assert scores["system"].unique().tolist() == ["eee-smoke/dummy-model"]
    assert scores.groupby("task")["criterion"].first().to_dict() == {
        "anli:r1|0": "acc",
        "squad_v2|0": "em",
    }
    assert scores["score"].tolist() == [0.0] * 4
    assert sorted(scores["example_id"]) == ["3506", "507", "5230", "776"]
    assert read_outputs(folder)["reference"].tolist() == [
        " False", " False", " Colonizing empires", " Economist",
    ]  # fmt: skip


def test_the_real_results(shared_data: Path) -> None:
    tree = shared_data / "lighteval" / "lighteval" / "results"
    found = read_report(tree).aggregates
    assert len(found) == 9
    assert found["system"].unique().tolist() == ["HuggingFaceTB/SmolLM2-1.7B-Instruct"]
    by = found.set_index(["task", "criterion"])
    assert by.loc[("mmlu:abstract_algebra|5", "acc"), "value"] == 0.31
    assert by.loc[("glue:cola|0", "mcc"), "metric"] == "matthews_corrcoef"
    assert found["value"].isna().sum() == 1
    assert by.loc[("mmlu:anatomy|5", "acc"), "n"] == 135
