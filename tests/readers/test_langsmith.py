"""LangSmith: own small tables for each trap, real ones against totals that were counted by hand.

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
from evaltoolkit.readers import read_outputs, read_scores
from evaltoolkit.readers.base import Source
from evaltoolkit.readers.langsmith import FORMAT

ERROR = "TimeoutError('30 s')\n\nTraceback (most recent call last):\n  ...\nTimeoutError: 30 s\n"


def run_id(number: int) -> str:
    """A run id of version 7: they sort by time."""
    return f"01a22e06-7b{number:02x}-7a18-b151-1731dc4f7aa0"


def run(example: str, number: int, **more: Any) -> dict[str, Any]:
    """One row as ``to_pandas`` gives it."""
    return {
        "inputs.question": f"what is {example}?",
        "outputs.answer": f"answer {number}",
        "error": None,
        "reference.answer": "yes",
        "feedback.correct": True,
        "feedback.length": 2.0,
        "execution_time": 0.5,
        "example_id": example,
        "id": run_id(number),
        **more,
    }


def write(folder: Path, rows: Sequence[Mapping[str, Any]], *, name: str = "model-a.csv") -> Path:
    path = folder / name
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        table = csv.DictWriter(stream, fieldnames=list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return path


def test_an_experiment_becomes_rows(tmp_path: Path) -> None:
    path = write(tmp_path, [run("e1", 1), run("e2", 2, **{"feedback.correct": False})])
    scores = read_scores(path)
    assert scores["system"].unique().tolist() == ["model-a"]
    assert scores["example_id"].tolist() == ["e1", "e1", "e2", "e2"]
    assert scores["criterion"].tolist() == ["correct", "length"] * 2
    assert scores["score"].tolist() == [1.0, 2.0, 0.0, 2.0]
    assert scores["passed"].isna().all()
    assert scores["trial"].tolist() == [0] * 4
    assert scores["source"].tolist()[::2] == ["model-a.csv: line 2", "model-a.csv: line 3"]
    assert scores["input_digest"].nunique() == 2
    assert any("taken from the file name" in note for note in scores.attrs["notes"])


@pytest.mark.parametrize(
    ("name", "system"),
    [
        ("gpt-x.1.to_pandas.csv", "gpt-x.1"),
        ("model-b_to_pandas.csv", "model-b"),
        ("experiment_to_pandas.csv", "folder"),
        ("results.csv", "folder"),
    ],
)
def test_the_file_or_its_folder_names_the_system(tmp_path: Path, name: str, system: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    path = write(folder, [run("e1", 1)], name=name)
    assert read_scores(path)["system"].unique().tolist() == [system]
    assert read_scores(path, system="mine")["system"].unique().tolist() == ["mine"]


def test_two_experiments_are_two_systems(tmp_path: Path) -> None:
    write(tmp_path, [run("e1", 1)], name="old.csv")
    write(tmp_path, [run("e1", 9)], name="new.csv")
    scores = read_scores(tmp_path)
    assert scores["system"].unique().tolist() == ["new", "old"]
    assert scores["example_id"].unique().tolist() == ["e1"]


def test_repetitions_are_numbered_by_the_time_in_their_run_ids(tmp_path: Path) -> None:
    rows = [run("e1", 5), run("e2", 3), run("e1", 1)]
    scores = read_scores(write(tmp_path, rows))
    assert scores["trial"].tolist() == [1, 1, 0, 0, 0, 0]
    assert any("in the order of their run ids" in note for note in scores.attrs["notes"])
    for row in rows:
        row["id"] = row["id"].replace("-7a18-", "-4a18-")
    scores = read_scores(write(tmp_path, rows))
    assert scores["trial"].tolist() == [0, 0, 0, 0, 1, 1]
    assert any("in the order of the file" in note for note in scores.attrs["notes"])


def test_feedback_on_a_run_that_raised_is_no_score(tmp_path: Path) -> None:
    broken = run(
        "e2",
        2,
        error=ERROR,
        **{"outputs.answer": None, "feedback.correct": False, "feedback.length": None},
    )
    path = write(
        tmp_path, [{**run("e1", 1), "outputs.output": ""}, {**broken, "outputs.output": ""}]
    )
    scores = read_scores(path)
    lost = scores[scores["example_id"] == "e2"]
    assert lost["status"].tolist() == ["system_error"] * 2
    assert lost["score"].isna().all()
    assert lost["label"].fillna("").tolist() == ["False", ""]
    assert lost["message"].unique().tolist() == ["TimeoutError('30 s')"]
    outputs = read_outputs(path)
    assert outputs["output"].fillna("").tolist() == ["answer 1", ""]
    assert outputs["error"].fillna("").tolist() == ["", ERROR]


def test_empty_feedback_and_categories_are_unscored(tmp_path: Path) -> None:
    rows = [
        run("e1", 1, **{"feedback.correct": None, "feedback.tone": "warm"}),
        run("e2", 2, **{"feedback.correct": True, "feedback.tone": "nan?"}),
    ]
    scores = read_scores(write(tmp_path, rows))
    assert scores["status"].tolist() == [
        "unscored", "scored", "unscored", "scored", "scored", "unscored"
    ]  # fmt: skip
    assert scores["label"].fillna("").tolist() == ["", "", "warm", "", "", "nan?"]
    assert "gave none or raised" in scores["message"].iloc[0]
    assert "category" in scores["message"].iloc[2]


def test_a_column_without_any_feedback_is_kept(tmp_path: Path) -> None:
    rows = [run(f"e{n}", n, **{"feedback.never": None}) for n in (1, 2)]
    scores = read_scores(write(tmp_path, rows))
    assert scores[scores["criterion"] == "never"]["status"].tolist() == ["unscored"] * 2


@pytest.mark.parametrize("kind", ["jsonl", "json", "parquet"])
def test_other_files_of_the_same_table_give_the_same_scores(tmp_path: Path, kind: str) -> None:
    rows = [run("e1", 1), run("e2", 2, **{"feedback.correct": None}), run("e1", 3, error=ERROR)]
    expected = read_scores(write(tmp_path, rows))
    frame, path = pd.DataFrame(rows), tmp_path / f"model-a.{kind}"
    if kind == "parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=kind == "jsonl")
    found = read_scores(path)
    columns = ["system", "example_id", "trial", "criterion", "score", "status"]
    pd.testing.assert_frame_equal(found[columns], expected[columns])


def test_texts_of_several_columns_become_one_object(tmp_path: Path) -> None:
    rows = [run("e1", 1, **{"outputs.reason": "two\nlines", "outputs.none": None})]
    outputs = read_outputs(write(tmp_path, rows))
    assert json.loads(outputs["output"].iloc[0]) == {"answer": "answer 1", "reason": "two\nlines"}
    assert outputs["input"].tolist() == ["what is e1?"]
    assert outputs["reference"].tolist() == ["yes"]
    assert outputs["latency_s"].tolist() == [0.5]


def test_columns_that_are_not_read_are_named(tmp_path: Path) -> None:
    scores = read_scores(write(tmp_path, [run("e1", 1, surprise="x")]))
    assert any("column(s) not read: 'surprise'" in note for note in scores.attrs["notes"])


# --- the CSV of the page ----------------------------------------------------------------------


def page(question: str, **more: Any) -> dict[str, Any]:
    return {
        "id": "c0ffee",
        "name": "target",
        "status": "success",
        "inputs": json.dumps({"question": question}),
        "outputs": json.dumps({"answer": "a"}),
        "reference_outputs": json.dumps({"answer": "b"}),
        "correct": 1,
        "tone": "warm",
        "error": None,
        "latency": 1.5,
        "total_tokens": 30,
        "prompt_tokens": 20,
        "completion_tokens": 10,
        "total_cost": 0.01,
        "start_time": "2026-01-02T03:04:05Z",
        **more,
    }


def test_the_table_of_the_page(tmp_path: Path) -> None:
    path = write(tmp_path, [page("q1"), page("q2", correct=0), page("q1")])
    scores = read_scores(path)
    assert scores["criterion"].unique().tolist() == ["correct"]
    assert scores["score"].tolist() == [1.0, 0.0, 1.0]
    assert scores["trial"].tolist() == [0, 0, 1]
    assert scores["example_id"].nunique() == 2
    assert scores["timestamp"].iloc[0] == pd.Timestamp("2026-01-02T03:04:05Z")
    notes = scores.attrs["notes"]
    assert any("hash of its input" in note for note in notes)
    assert any("taken as feedback, since they hold numbers: 'correct'" in note for note in notes)
    assert any("column(s) not read: 'tone'" in note for note in notes)
    output = read_outputs(path).iloc[0]
    assert output["input"] == '{"question": "q1"}'
    assert output[["tokens_in", "tokens_out", "cost_usd", "latency_s"]].tolist() == [
        20.0, 10.0, 0.01, 1.5
    ]  # fmt: skip


def test_the_page_with_example_ids_and_prefixed_feedback(tmp_path: Path) -> None:
    rows = [page("q1", reference_example_id="x1", **{"feedback.good": 0.5})]
    scores = read_scores(write(tmp_path, rows))
    assert scores[["example_id", "criterion", "score"]].values.tolist() == [["x1", "good", 0.5]]


def test_a_data_set_without_feedback_has_no_scores(tmp_path: Path) -> None:
    row = page("q1")
    for name in ("correct", "tone"):
        del row[name]
    path = write(tmp_path, [row])
    with pytest.raises(ReadError, match="no scores"):
        read_scores(path)
    assert len(read_outputs(path)) == 1


# --- bad input --------------------------------------------------------------------------------


def test_a_line_of_the_wrong_length_is_a_bad_record(tmp_path: Path) -> None:
    path = write(tmp_path, [run("e1", 1), run("e2", 2)])
    text = path.read_text("utf-8-sig").splitlines()
    path.write_text("\n".join([text[0], text[1] + ",more", text[2]]), "utf-8")
    with pytest.raises(ReadError, match=r"line 2.*10 cell\(s\) where the header has 9"):
        read_scores(path)
    with pytest.warns(EvalToolkitWarning, match=r"1 record\(s\)"):
        assert read_scores(path, on_error="skip")["example_id"].unique().tolist() == ["e2"]


def test_a_first_record_longer_than_what_is_looked_at_does_not_hide_the_format(
    tmp_path: Path,
) -> None:
    path = write(tmp_path, [run("e1", 1, **{"outputs.answer": "long, " * 30_000})])
    assert len(read_scores(path)) == 2
    assert len(read_outputs(path)["output"].iloc[0]) == 180_000


def test_broken_files_are_named(tmp_path: Path) -> None:
    path = write(tmp_path, [run("e1", 1)])
    whole = path.read_bytes()
    path.write_bytes(whole.rstrip() + b'\n"cut')
    with pytest.raises(ReadError, match=r"model-a.csv: the CSV is cut off"):
        read_scores(path)
    path.write_bytes(whole.replace(b"answer 1", b"answer \xff"))
    with pytest.raises(ReadError, match="is not UTF-8"):
        read_scores(path)
    path = tmp_path / "model-a.json"
    path.write_text(json.dumps([run("e1", 1), 7]))
    with pytest.raises(ReadError, match="record 1.*not an object"):
        read_scores(path)


@pytest.mark.parametrize(
    "names",
    [
        ["example_id", "id", "score"],
        ["system", "example_id", "criterion", "score"],
        ["feedback.a", "id"],
        ["inputs", "outputs"],
        ["inputs.q", "outputs.a", "example_id"],
    ],
)
def test_other_tables_are_not_taken(tmp_path: Path, names: list[str]) -> None:
    assert not FORMAT.detect(Source(write(tmp_path, [dict.fromkeys(names, 1)])))
    assert not FORMAT.detect(Source(tmp_path))


# --- real files -------------------------------------------------------------------------------

REAL = "langsmith/experiment_to_pandas.csv"
GENERATED = {
    "gemini-2.5-pro": "langsmith/generated/gemini-2.5-pro.to_pandas.csv",
    "gpt-5": "langsmith/generated/gpt-5.to_pandas.csv",
}


def counts(scores: pd.DataFrame) -> dict[str, int]:
    return {str(k): int(n) for k, n in scores["status"].value_counts().items() if n}


def test_a_real_experiment(shared_data: Path) -> None:
    scores = read_scores(shared_data / REAL)
    assert len(scores) == 25
    assert counts(scores) == {"scored": 25}
    assert scores["example_id"].nunique() == 5
    assert scores.groupby("criterion")["score"].sum().round(9).to_dict() == {
        "correctness": 3.9,
        "citation_groundedness": 4.0,
        "localization": 4.6,
        "hallucination_risk": 3.5,
        "usefulness": 3.6,
    }
    outputs = read_outputs(shared_data / REAL)
    assert len(outputs) == 5
    assert outputs["latency_s"].sum() == pytest.approx(105.792254)
    assert "\n" in json.loads(outputs["output"].iloc[0])["answer"]


@pytest.mark.parametrize("system", GENERATED)
def test_real_experiments_with_repetitions_and_errors(shared_data: Path, system: str) -> None:
    scores = read_scores(shared_data / GENERATED[system])
    assert len(scores) == 120
    assert scores["system"].unique().tolist() == [system]
    assert counts(scores) == {"scored": 66, "unscored": 44, "system_error": 10}
    assert scores["example_id"].nunique() == 12
    assert scores["trial"].value_counts().to_dict() == {0: 60, 1: 60}
    by_criterion = scores[scores["status"] == "scored"].groupby("criterion")["score"]
    length = {"gemini-2.5-pro": 48.0, "gpt-5": 46.0}[system]
    assert by_criterion.sum().to_dict() == {"answer_len": length, "correctness": 0.0, "m1": 22.0}
    crashed = scores[scores["status"] == "system_error"]
    assert crashed["message"].unique().tolist() == ["RuntimeError('provider timeout')"]
    assert crashed["example_id"].nunique() == 1
    assert crashed[crashed["criterion"] == "correctness"]["label"].tolist() == ["False"] * 2
    labels = scores[(scores["criterion"] == "label") & (scores["status"] == "unscored")]
    assert labels["label"].isin(["yes", "no"]).all()
    assert len(read_outputs(shared_data / GENERATED[system])) == 24


def test_real_experiments_pair_by_example(shared_data: Path) -> None:
    scores = read_scores([shared_data / path for path in GENERATED.values()])
    wide = scores.pivot_table(
        index=["example_id", "trial", "criterion"], columns="system", values="score"
    )
    assert len(wide.dropna()) == 66


def test_no_other_real_file_is_taken(shared_data: Path) -> None:
    files = [path for path in sorted(shared_data.rglob("*")) if path.is_file()]
    taken = {
        path.relative_to(shared_data).as_posix() for path in files if FORMAT.detect(Source(path))
    }
    assert taken == {REAL, *GENERATED.values()}
