"""Ragas: own small files for each trap, real ones against totals that were counted by hand.

The totals of the real files come from a script that splits the CSV by itself and shares no code
with the reader, and were typed in.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evaltoolkit.errors import EvalToolkitWarning, ReadError
from evaltoolkit.readers import read_details, read_outputs, read_scores
from evaltoolkit.readers.base import Source
from evaltoolkit.readers.ragas import FORMAT

CONTEXTS = ["the sky is blue", "don't stare"]


def sample(question: str, **more: Any) -> dict[str, Any]:
    """One row as ``to_pandas().to_csv()`` writes it."""
    return {
        "user_input": question,
        "retrieved_contexts": str(CONTEXTS),
        "response": "blue",
        "reference": "blue",
        "faithfulness": 1.0,
        "answer_relevancy": 0.5,
        "type": "nature",
        **more,
    }


def write(folder: Path, rows: Sequence[Mapping[str, Any]], *, name: str = "model-a.csv") -> Path:
    path = folder / name
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, fieldnames=list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return path


def test_results_become_rows(tmp_path: Path) -> None:
    path = write(tmp_path, [sample("sky?"), sample("sea?", faithfulness=0.9999999999)])
    scores = read_scores(path)
    assert scores["criterion"].tolist() == ["faithfulness", "answer_relevancy"] * 2
    assert scores["score"].tolist() == [1.0, 0.5, 0.9999999999, 0.5]
    assert scores["system"].unique().tolist() == ["model-a"]
    assert scores["type"].unique().tolist() == ["nature"]
    assert scores["example_id"].nunique() == 2
    assert scores["upper_bound"].fillna(9).tolist() == [1.0, 9.0] * 2
    assert scores["passed"].isna().all()
    outputs = read_outputs(path)
    assert outputs.loc[0, ["input", "output", "reference"]].tolist() == ["sky?", "blue", "blue"]
    assert json.loads(outputs["retrieved_contexts"].iloc[0]) == CONTEXTS


@pytest.mark.parametrize("cell", ["", "nan", "NaN"])
def test_nan_is_neither_zero_nor_gone(tmp_path: Path, cell: str) -> None:
    scores = read_scores(write(tmp_path, [sample("sky?"), sample("sea?", faithfulness=cell)]))
    assert len(scores) == 4
    assert scores["status"].tolist() == ["scored", "scored", "unscored", "scored"]
    assert "failed or could not decide" in scores["message"].iloc[2]


def test_the_first_names_of_the_columns(tmp_path: Path) -> None:
    row = {
        "question": "sky?", "contexts": "['a']", "answer": "blue", "ground_truths": "['blue']",
        "context_recall": 0.5,
    }  # fmt: skip
    path = write(tmp_path, [row])
    assert read_scores(path)["score"].tolist() == [0.5]
    assert read_outputs(path)["reference"].tolist() == ['["blue"]']


def test_json_and_parquet_are_the_same(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    listed = {"retrieved_contexts": CONTEXTS}
    rows = [sample("sky?", **listed), sample("sea?", faithfulness=None, **listed)]
    lines = tmp_path / "lines" / "model-a.jsonl"
    lines.parent.mkdir()
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    parquet = tmp_path / "model-a.parquet"
    pd.DataFrame(rows).to_parquet(parquet)
    one, other = read_scores(lines), read_scores(parquet)
    assert one["score"].fillna(9).tolist() == other["score"].fillna(9).tolist() == [1, 0.5, 9, 0.5]
    assert one["example_id"].tolist() == other["example_id"].tolist()
    assert json.loads(read_outputs(lines)["retrieved_contexts"].iloc[0]) == CONTEXTS


def test_repeats_are_trials_and_other_references_other_examples(tmp_path: Path) -> None:
    rows = [sample("sky?"), sample("sky?", response="red"), sample("sky?", reference="grey")]
    scores = read_scores(write(tmp_path, rows))
    assert scores["example_id"].nunique() == 2
    assert scores["trial"].tolist() == [0, 0, 1, 1, 0, 0]


def test_further_numbers_are_metrics_and_counters_are_not(tmp_path: Path) -> None:
    row = sample("sky?", my_score=3, latency_s=2.5, row_id=7, **{"Unnamed: 0": 0})
    scores = read_scores(write(tmp_path, [row]))
    assert scores["criterion"].tolist() == ["faithfulness", "answer_relevancy", "my_score"]
    assert pd.isna(scores["higher_is_better"].iloc[2])
    assert any("taken as metrics" in note for note in scores.attrs["notes"])


def test_truth_values_judge_only_in_a_known_metric(tmp_path: Path) -> None:
    scores = read_scores(write(tmp_path, [sample("sky?", harmfulness=False, follow_up=True)]))
    assert scores["criterion"].tolist() == ["faithfulness", "answer_relevancy", "harmfulness"]
    assert scores["score"].tolist() == [1.0, 0.5, 0.0]
    assert scores["follow_up"].unique().tolist() == ["True"]


def test_lower_is_better_where_the_metric_says_so(tmp_path: Path) -> None:
    names = ["noise_sensitivity(mode=relevant)", "harmfulness", "factual_correctness(mode=f1)"]
    scores = read_scores(write(tmp_path, [sample("sky?", **dict.fromkeys(names, 0.5))]))
    better = scores.set_index("criterion")["higher_is_better"]
    assert better[names].tolist() == [False, False, True]


def test_an_experiment_of_words(tmp_path: Path) -> None:
    rows = [
        {"query": "1+1", "response": "2", "grade": "pass", "grade_reason": "right"},
        {"query": "1+2", "response": "4", "grade": "fail", "grade_reason": "wrong"},
        {"query": "1+3", "response": "5", "grade": "", "grade_reason": ""},
    ]
    scores = read_scores(write(tmp_path, rows))
    assert scores["score"].fillna(9).tolist() == [1.0, 0.0, 9.0]
    assert scores["passed"].tolist()[:2] == [True, False]
    assert scores["label"].tolist()[:2] == ["pass", "fail"]
    assert scores["message"].tolist()[:2] == ["right", "wrong"]
    assert scores["status"].tolist() == ["scored", "scored", "unscored"]


def test_a_column_can_name_the_experiment(tmp_path: Path) -> None:
    rows = [sample("sky?", experiment_name="one"), sample("sky?", experiment_name="two")]
    path = write(tmp_path, rows)
    scores = read_scores(path)
    assert scores["system"].unique().tolist() == ["one", "two"]
    assert scores["trial"].unique().tolist() == [0]


def test_rows_of_nothing_but_nan_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "model-a.csv"
    path.write_text("faithfulness,context_recall\n,\n1.0,\n,\n\n")
    scores = read_scores(path)
    assert len(scores) == 6
    assert scores["example_id"].unique().tolist() == ["0", "1", "2"]
    assert (scores["status"] == "scored").tolist() == [False, False, True, False, False, False]
    with pytest.raises(ReadError, match="no outputs"):
        read_outputs(path)
    path.write_text("faithfulness,context_recall\n1.0\n1.0,1.0\n")
    with pytest.raises(ReadError, match="line 2 cannot be read"):
        read_scores(path)


def test_lists_are_read_as_lists_only_where_nothing_is_lost(tmp_path: Path) -> None:
    joined = "['a' 'b']"
    rows = [
        sample("sky?", retrieved_contexts=joined),
        sample("sea?", retrieved_contexts="[__import__('os')]"),
    ]
    found = read_outputs(write(tmp_path, rows))["retrieved_contexts"].tolist()
    assert [json.loads(cell) for cell in found] == [joined, "[__import__('os')]"]


def test_annotations_of_the_app(tmp_path: Path) -> None:
    entries = [
        {"metric_input": {"user_input": "sky?", "response": "blue"}, "metric_output": 1,
         "is_accepted": False},
        {"metric_input": {"user_input": "sky?", "response": "red"}, "metric_output": None,
         "is_accepted": True},
    ]  # fmt: skip
    path = tmp_path / "model-a.json"
    path.write_text(json.dumps({"polite": entries, "faithfulness": entries[:1]}))
    scores = read_scores(path)
    assert scores["criterion"].tolist() == ["polite", "polite", "faithfulness"]
    assert scores["trial"].tolist() == [0, 1, 0]
    assert scores["status"].tolist() == ["scored", "unscored", "scored"]
    assert scores["example_id"].nunique() == 1
    assert read_outputs(path)["output"].tolist() == ["blue", "red"]
    assert json.loads(read_details(path)["details"].iloc[0]) == {"is_accepted": False}
    path.write_text(json.dumps({"polite": [entries[0], {"metric_output": 1}]}))
    with pytest.raises(ReadError, match=r"polite\[1\] cannot be read"):
        read_scores(path)


def test_marked_answers(tmp_path: Path) -> None:
    rows = [
        {"id": "q1", "question": "sky?", "answers": ["blue", "red"], "scores": [1, 0]},
        {"question": "sea?", "answers": ["wet"], "scores": [0.5]},
    ]
    path = tmp_path / "marks.json"
    path.write_text(json.dumps(rows))
    scores = read_scores(path)
    assert scores["score"].tolist() == [1.0, 0.0, 0.5]
    assert scores["trial"].tolist() == [0, 1, 0]
    assert scores["example_id"].iloc[0] == "q1"
    path.write_text(json.dumps([rows[0], {**rows[1], "scores": []}]))
    with pytest.warns(EvalToolkitWarning, match="1 record"):
        assert len(read_scores(path, on_error="skip")) == 2


@pytest.mark.parametrize(
    "names",
    [
        ["system", "example_id", "criterion", "score"],
        ["question", "answer", "score"],
        ["query", "response", "score"],
        ["user_input", "score"],
        ["faithfulness"],
        ["inputs", "outputs", "reference_outputs"],
    ],
)
def test_other_tables_are_not_taken(tmp_path: Path, names: list[str]) -> None:
    assert not FORMAT.detect(Source(write(tmp_path, [dict.fromkeys(names, 1)])))
    assert not FORMAT.detect(Source(tmp_path))


# --- real files -------------------------------------------------------------------------------

REAL = {
    "ragas/ragas_results_detail_ko.csv": (64, 0, 16, 45.871136),
    "ragas/ragas_results_nan.metrics_only.csv": (40, 32, 10, 5.438605),
    "ragas/evaluation_results.csv": (10, 0, 10, 6.0),
    "ragas/hotpotqa_factual.json": (20, 0, 10, 10.0),
}


@pytest.mark.parametrize("name", REAL)
def test_real_results(shared_data: Path, name: str) -> None:
    rows, unscored, examples, total = REAL[name]
    scores = read_scores(shared_data / name)
    assert len(scores) == rows
    assert int((scores["status"] == "unscored").sum()) == unscored
    assert int((scores["status"] == "scored").sum()) == rows - unscored
    assert scores["example_id"].nunique() == examples
    assert scores["score"].sum() == pytest.approx(total)


def test_facts_of_the_real_files(shared_data: Path) -> None:
    scores = read_scores(shared_data / "ragas/ragas_results_nan.metrics_only.csv")
    lost = scores[scores["status"] == "unscored"].groupby("criterion", sort=False).size()
    assert lost.to_dict() == {
        "faithfulness": 9, "answer_relevancy": 7, "context_precision": 10, "context_recall": 6
    }  # fmt: skip
    scores = read_scores(shared_data / "ragas/ragas_results_detail_ko.csv")
    kinds = scores.drop_duplicates("example_id")["type"].value_counts().to_dict()
    assert kinds == {"faq": 8, "product": 5, "review": 3}
    outputs = read_outputs(shared_data / "ragas/ragas_results_detail_ko.csv")
    assert all(isinstance(json.loads(cell), list) for cell in outputs["retrieved_contexts"])
    scores = read_scores(shared_data / "ragas/evaluation_results.csv")
    assert scores["label"].value_counts().to_dict() == {"pass": 6, "fail": 4}


def test_no_other_real_file_is_taken(shared_data: Path) -> None:
    files = [path for path in sorted(shared_data.rglob("*")) if path.is_file()]
    taken = {
        path.relative_to(shared_data).as_posix() for path in files if FORMAT.detect(Source(path))
    }
    assert taken == set(REAL)
