"""Braintrust: own small files for each trap, real ones against totals that were counted by hand.

The totals of the real files come from a script that walks the raw JSON and shares no code with the
reader, and were typed in.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evaltoolkit.errors import EvalToolkitWarning, ReadError
from evaltoolkit.readers import read_details, read_outputs, read_report, read_scores
from evaltoolkit.readers.base import Reading, Source
from evaltoolkit.readers.braintrust import FORMAT

TRACEBACK = (
    "Traceback (most recent call last):\n"
    '  File "judge.py", line 3, in boom\n'
    "    raise ValueError('no JSON')\n"
    "ValueError: no JSON\n"
)


def result(question: object, **more: Any) -> dict[str, Any]:
    """One row as ``Eval`` returns it."""
    return {
        "input": question,
        "output": f"answer to {question}",
        "scores": {"Exact": 1, "Close": 0.5},
        "classifications": None,
        "expected": "yes",
        "metadata": {"topic": "law"},
        "tags": None,
        "error": None,
        "origin": None,
        **more,
    }


def span(name: str, *, root: str | None = None, **more: Any) -> dict[str, Any]:
    """One log row; without ``root`` it is one."""
    return {
        "id": f"row-{name}",
        "span_id": name,
        "root_span_id": root or name,
        "span_parents": [root] if root else None,
        "experiment_id": "exp-1",
        "created": "2026-02-03T04:05:06.789Z",
        "input": f"question {name}",
        "output": "fine",
        "span_attributes": {"name": "eval", "type": "eval"},
        **more,
    }


def write(folder: Path, value: object, *, name: str = "model-a.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def write_lines(folder: Path, rows: Sequence[object], *, name: str = "model-a.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


# --- results of Eval --------------------------------------------------------------------------


def test_results_become_rows(tmp_path: Path) -> None:
    path = write_lines(tmp_path, [result("q1"), result("q2", tags=["b", "a"])])
    scores = read_scores(path)
    assert scores["system"].unique().tolist() == ["model-a"]
    assert scores["criterion"].tolist() == ["Exact", "Close"] * 2
    assert scores["score"].tolist() == [1.0, 0.5, 1.0, 0.5]
    assert scores["passed"].isna().all()
    assert scores["topic"].unique().tolist() == ["law"]
    assert scores["tags"].fillna("").tolist() == ["", "", "b, a", "b, a"]
    assert scores["lower_bound"].unique().tolist() == [0.0]
    assert scores["upper_bound"].unique().tolist() == [1.0]
    assert scores["source"].iloc[2] == "model-a.jsonl: line 2"
    notes = scores.attrs["notes"]
    assert any("taken from the file name" in note for note in notes)
    assert any("hash of its input" in note for note in notes)


def test_a_file_with_a_name_that_says_nothing_is_named_after_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "model-b"
    folder.mkdir()
    path = write_lines(folder, [result("q1")], name="eval_results.jsonl")
    scores = read_scores(path)
    assert scores["system"].unique().tolist() == ["model-b"]
    assert any("taken from the folder name" in note for note in scores.attrs["notes"])
    assert read_scores(path, system="mine")["system"].unique().tolist() == ["mine"]


def test_repeats_are_trials_and_a_record_of_a_data_set_has_an_id(tmp_path: Path) -> None:
    rows = [
        result("q1"),
        result("q1"),
        result("q2", origin={"object_type": "dataset", "object_id": "d", "id": "r7"}),
    ]
    scores = read_scores(write_lines(tmp_path, rows))
    assert scores["trial"].tolist() == [0, 0, 1, 1, 0, 0]
    assert scores["example_id"].tolist()[-1] == "r7"
    assert scores["example_id"].nunique() == 2
    assert any("1 example(s) occur more than once" in note for note in scores.attrs["notes"])


def test_null_and_what_is_no_number_are_unscored(tmp_path: Path) -> None:
    path = tmp_path / "model-a.jsonl"
    row = json.dumps(result("q", scores={"A": None, "B": math.nan, "C": True, "D": 1}))
    path.write_text(row + "\n")
    scores = read_scores(path)
    assert scores["status"].tolist() == ["unscored", "unscored", "scored", "scored"]
    assert scores["label"].fillna("").tolist() == ["", "NaN", "", ""]
    assert scores["message"].iloc[0] == "the scorer declined"
    assert scores["score"].tolist()[2:] == [1.0, 1.0]


def test_a_scorer_that_raised_is_absent_and_becomes_a_scorer_error(tmp_path: Path) -> None:
    broken = result(
        "q2", scores={"Exact": 0}, metadata={"topic": "law", "scorer_errors": {"Close": TRACEBACK}}
    )
    path = write_lines(tmp_path, [result("q1"), broken])
    scores = read_scores(path)
    row = scores.iloc[-1]
    assert (row["criterion"], row["status"]) == ("Close", "scorer_error")
    assert row["message"] == "ValueError: no JSON"
    assert pd.isna(row["score"])
    assert "scorer_errors" not in scores.columns
    details = read_details(path)
    assert details["criterion"].tolist() == ["Close"]
    assert json.loads(details["details"].iloc[0]) == {"error": TRACEBACK}


def test_a_task_that_raised_is_a_system_error_in_every_criterion(tmp_path: Path) -> None:
    broken = result("q2", output=None, scores={}, error="RuntimeError('down')")
    path = write_lines(tmp_path, [broken, result("q1")])
    scores = read_scores(path)
    lost = scores[scores["status"] == "system_error"]
    assert lost["criterion"].tolist() == ["Exact", "Close"]
    assert lost["message"].unique().tolist() == ["RuntimeError('down')"]
    outputs = read_outputs(path)
    assert outputs["error"].fillna("").tolist() == ["RuntimeError('down')", ""]
    assert outputs["output"].isna().tolist() == [True, False]


def test_a_zero_beside_an_error_of_the_task_is_no_score(tmp_path: Path) -> None:
    zero = result("q", output=None, scores={"Exact": 0, "Close": 0}, error="down")
    scores = read_scores(write_lines(tmp_path, [zero]))
    assert scores["status"].tolist() == ["system_error"] * 2
    assert scores["label"].tolist() == ["0", "0"]
    assert scores["score"].isna().all()


def test_an_error_beside_crashed_scorers_and_an_answer_is_theirs(tmp_path: Path) -> None:
    row = result(
        "q",
        scores={"Exact": 1},
        metadata={"scorer_errors": {"Close": TRACEBACK}},
        error="scorers raised",
    )
    scores = read_scores(write_lines(tmp_path, [row]))
    assert scores[["criterion", "status"]].values.tolist() == [
        ["Exact", "scored"],
        ["Close", "scorer_error"],
    ]


def test_results_that_all_crashed_have_no_row_to_give(tmp_path: Path) -> None:
    broken = result("q", output=None, scores={}, error="down")
    with pytest.raises(ReadError, match=r"1 result\(s\), 1 of them crashed, and no score is named"):
        read_scores(write_lines(tmp_path, [broken]))


def test_scores_beyond_one_have_no_bounds(tmp_path: Path) -> None:
    scores = read_scores(write_lines(tmp_path, [result("q", scores={"Length": 12})]))
    assert scores["score"].tolist() == [12.0]
    assert "upper_bound" not in scores.columns


def test_a_summary_with_its_results_names_the_experiment(tmp_path: Path) -> None:
    summary = {
        "project_name": "p",
        "experiment_name": "try-3",
        "scores": {"Exact": {"name": "Exact", "score": 0.75, "diff": None}},
        "metrics": {},
    }
    path = write(tmp_path, {"summary": summary, "results": [result("q1"), result("q2")]})
    scores = read_scores(path)
    assert scores["system"].unique().tolist() == ["try-3"]
    assert scores["source"].iloc[0] == "model-a.json: record 0"
    table = read_report(path).aggregates
    assert table[["system", "criterion", "metric", "value"]].values.tolist() == [
        ["try-3", "Exact", "mean", 0.75]
    ]


def test_classifications_are_counted(tmp_path: Path) -> None:
    row = result("q", classifications={"intent": [{"id": "buy"}], "tone": [{"id": "calm"}]})
    path = write_lines(tmp_path, [row, result("q2")])
    reading = Reading(want=frozenset({"scores"}))
    assert sum(len(batch.scores) for batch in FORMAT.read(Source(path), reading)) == 4
    assert list(reading.unknowns.values()) == [2]


@pytest.mark.parametrize(
    "bad", [result("q", scores=[1]), result("q", metadata="x"), result("q", scores="0.5")]
)
def test_bad_records_are_named(tmp_path: Path, bad: dict[str, Any]) -> None:
    path = write_lines(tmp_path, [result("q1"), bad])
    with pytest.raises(ReadError, match="line 2 cannot be read"):
        read_scores(path)
    with pytest.warns(EvalToolkitWarning, match=r"1 record\(s\)"):
        assert len(read_scores(path, on_error="skip")) == 2


# --- log rows ---------------------------------------------------------------------------------


def test_roots_carry_the_scores_and_merge_rows_complete_them(tmp_path: Path) -> None:
    rows = [
        span("a", output=None, metadata={"topic": "law"}, metrics={"start": 1.0}),
        span("b", scores={"Exact": 0}),
        {
            "id": "row-a",
            "span_id": "a",
            "root_span_id": "a",
            "_is_merge": True,
            "scores": {"Exact": 1},
            "metadata": {"split": "test"},
            "metrics": {"end": 3.5},
            "output": "late",
        },
    ]
    path = write(tmp_path, rows)
    scores = read_scores(path)
    assert scores["run_id"].unique().tolist() == ["exp-1"]
    assert scores["system"].unique().tolist() == ["model-a"]
    assert scores["score"].tolist() == [1.0, 0.0]
    assert scores["topic"].fillna("").tolist() == ["law", ""]
    assert scores["split"].fillna("").tolist() == ["test", ""]
    assert scores["timestamp"].iloc[0] == pd.Timestamp("2026-02-03T04:05:06.789Z")
    outputs = read_outputs(path)
    assert outputs["output"].tolist() == ["late", "fine"]
    assert outputs["latency_s"].tolist()[0] == 2.5


def test_a_row_without_the_merge_mark_replaces_and_a_deleted_one_goes(tmp_path: Path) -> None:
    rows = [
        span("a", scores={"Exact": 0, "Old": 1}),
        span("a", scores={"Exact": 1}),
        span("b", scores={"Exact": 1}),
        {**span("b"), "_object_delete": True},
    ]
    scores = read_scores(write_lines(tmp_path, rows))
    assert scores[["criterion", "score"]].values.tolist() == [["Exact", 1.0]]


def test_spans_below_the_root_tell_time_tokens_and_reasons(tmp_path: Path) -> None:
    rows = [
        span("r", scores={"Judge": 0.5}, metrics={"start": 0, "end": 9}),
        span(
            "t", root="r", span_attributes={"name": "task", "type": "task"},
            metrics={"start": 0, "end": 2},
        ),
        span(
            "l1", root="r", span_parents=["t"], span_attributes={"type": "llm"},
            metrics={"prompt_tokens": 10, "completion_tokens": 3, "estimated_cost": 0.25},
        ),
        span(
            "l2", root="r", span_parents=["t"], span_attributes={"type": "llm"},
            metrics={"prompt_tokens": 5, "completion_tokens": 1, "estimated_cost": 0.5},
        ),
        span(
            "s", root="r", span_attributes={"name": "Judge", "type": "score"},
            scores={"Judge": 0.5}, metadata={"choice": "B"}, output=None,
        ),
        span(
            "l3", root="r", span_parents=["s"], span_attributes={"type": "llm"},
            metrics={"prompt_tokens": 999},
        ),
    ]  # fmt: skip
    path = write(tmp_path, {"events": rows})
    scores = read_scores(path)
    assert scores[["criterion", "score"]].values.tolist() == [["Judge", 0.5]]
    output = read_outputs(path).iloc[0]
    assert output[["tokens_in", "tokens_out", "cost_usd", "latency_s"]].tolist() == [15, 4, 0.75, 2]
    details = read_details(path)
    assert json.loads(details["details"].iloc[0]) == {"metadata": {"choice": "B"}}
    assert not any("inside a trace" in note for note in scores.attrs["notes"])


def test_an_error_on_the_span_of_a_scorer_is_a_scorer_error(tmp_path: Path) -> None:
    rows = [
        span("r", scores={"Exact": 1}),
        span(
            "s", root="r", span_attributes={"name": "Judge", "type": "score"}, error=TRACEBACK
        ),
    ]  # fmt: skip
    scores = read_scores(write(tmp_path, rows))
    assert scores[["criterion", "status"]].values.tolist() == [
        ["Exact", "scored"],
        ["Judge", "scorer_error"],
    ]


def test_scores_that_are_not_read_are_counted(tmp_path: Path) -> None:
    rows = [
        span("r", scores={"Exact": 1}),
        span("x", root="r", span_attributes={"type": "function"}, scores={"Inner": 1, "More": 0}),
        span("y", root="elsewhere", scores={"Exact": 1}),
    ]
    scores = read_scores(write(tmp_path, rows))
    assert len(scores) == 1
    notes = scores.attrs["notes"]
    assert any("2 score(s) on spans inside a trace were not read" in note for note in notes)
    assert any("1 trace(s) with scores have no root" in note for note in notes)


def test_a_failed_expectation_of_a_test_framework_is_a_verdict(tmp_path: Path) -> None:
    failed = "expected 1 to be 2\n\nAssertionError: expected 1 to be 2\n    at test.ts"
    rows = [
        span("a", input=None, scores={"pass": 0}, error=failed,
             span_attributes={"name": "adds up", "type": "task"}),
        span("b", input=None, scores={"pass": 0}, error="TypeError: x is undefined",
             span_attributes={"name": "takes away", "type": "task"}),
    ]  # fmt: skip
    scores = read_scores(write(tmp_path, rows))
    assert scores["example_id"].tolist() == ["adds up", "takes away"]
    assert scores["status"].tolist() == ["scored", "system_error"]
    assert scores["score"].fillna(-1).tolist() == [0.0, -1.0]
    assert scores["message"].iloc[0].startswith("expected 1 to be 2")
    assert scores["label"].fillna("").tolist() == ["", "0"]


def test_several_experiments_in_one_file_are_several_systems(tmp_path: Path) -> None:
    rows = [
        span("a", input="q", scores={"Exact": 1}),
        span("b", input="q", scores={"Exact": 0}, experiment_id="exp-2"),
    ]
    path = write(tmp_path, rows)
    scores = read_scores(path)
    assert scores["system"].tolist() == ["exp-1", "exp-2"]
    assert scores["example_id"].nunique() == 1
    assert scores["trial"].tolist() == [0, 0]
    assert any("2 experiments" in note for note in scores.attrs["notes"])
    renamed = read_scores(path, system={"exp-1": "old", "exp-2": "new"})
    assert renamed["system"].tolist() == ["old", "new"]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"scores": {"Exact": 1}}, "no span with id"),
        (span("b", metrics=[1]), "metrics is no object"),
        (span("b", span_attributes="eval"), "span_attributes is no object"),
    ],
)
def test_a_log_row_of_another_shape_is_bad(
    tmp_path: Path, bad: dict[str, Any], reason: str
) -> None:
    path = write(tmp_path, [span("a", scores={"Exact": 1}), bad])
    with pytest.raises(ReadError, match=f"record 1.*{reason}"):
        read_scores(path)
    with pytest.warns(EvalToolkitWarning, match=r"1 record\(s\)"):
        assert len(read_scores(path, on_error="skip")) == 1


def test_placeholders_for_times_are_left_out(tmp_path: Path) -> None:
    row = span("a", scores={"Exact": 1}, created="<timestamp>")
    assert read_scores(write(tmp_path, [row]))["timestamp"].isna().all()


def test_other_objects_are_not_taken(tmp_path: Path) -> None:
    others: list[object] = [
        {"input": 1, "output": "x", "scores": {"A": 1}, "error": None},
        {"input": 1, "output": "x", "scores": {"A": {"value": 1}}, "error": None, "tags": []},
        {"input": 1, "output": "x", "scores": [], "error": None, "tags": []},
        {"span_id": "a", "id": "b"},
        {"results": []},
        {"results": {"a": 1}},
        [],
        [1],
        [[1]],
    ]
    for value in others:
        assert not FORMAT.detect(Source(write(tmp_path, value)))
    assert not FORMAT.detect(Source(tmp_path))


# --- real files -------------------------------------------------------------------------------

FOLDER = "braintrust_autoevals"
RESULTS = f"{FOLDER}/generated/eval_results.jsonl"
VITEST = (
    f"{FOLDER}/sdk_test-framework-evals-vitest_v2.log-payloads.json_2c6eb9.json",
    f"{FOLDER}/sdk_test-framework-evals-vitest_v3.log-payloads.json_a37c9b.json",
)
WITHOUT_SCORES = (
    f"{FOLDER}/sdk_test-framework-evals-jest_log-payloads.json_303f72.json",
    f"{FOLDER}/sdk_test-framework-evals-jest_log-payloads.json_99552d.json",
)


def counts(scores: pd.DataFrame) -> dict[str, int]:
    return {str(k): int(n) for k, n in scores["status"].value_counts().items() if n}


def test_real_results(shared_data: Path) -> None:
    scores = read_scores(shared_data / RESULTS)
    assert len(scores) == 80
    assert counts(scores) == {
        "scored": 54, "unscored": 14, "scorer_error": 2, "system_error": 10
    }  # fmt: skip
    assert scores["example_id"].nunique() == 8
    assert sorted(scores["trial"].unique()) == [0, 1]
    assert sorted(scores["criterion"].unique()) == [
        "ExactMatch", "Levenshtein", "boom", "len_ok", "na"
    ]  # fmt: skip
    broken = scores[scores["status"] == "scorer_error"]
    assert broken["criterion"].unique().tolist() == ["boom"]
    assert broken["message"].unique().tolist() == ["ValueError: judge returned no JSON"]
    crashed = scores[scores["status"] == "system_error"]
    assert crashed["message"].unique().tolist() == ["RuntimeError('provider timeout')"]
    assert crashed["example_id"].nunique() == 1
    declined = scores[scores["status"] == "unscored"]
    assert declined["criterion"].unique().tolist() == ["na"]
    # "No" against " No" is 1 edit in 3 characters, in 8 of 14 answers; the others share nothing.
    near = scores[scores["criterion"] == "Levenshtein"]["score"].dropna()
    assert near.sum() == pytest.approx(8 * 2 / 3)
    assert len(read_outputs(shared_data / RESULTS)) == 16
    assert len(read_details(shared_data / RESULTS)) == 2


@pytest.mark.parametrize("name", VITEST)
def test_real_log_rows(shared_data: Path, name: str) -> None:
    scores = read_scores(shared_data / name)
    assert len(scores) == 7
    assert counts(scores) == {"scored": 7}
    assert scores.groupby("criterion")["score"].sum().to_dict() == {
        "correctness": 1.0,
        "pass": 4.0,
        "quality": 0.9,
    }
    assert scores["example_id"].nunique() == 5
    failed = scores[scores["score"] == 0]
    assert failed["example_id"].tolist() == ["vitest expected failure"]
    assert failed["message"].iloc[0].startswith("expected 'wrong' to be 'right'")
    assert len(read_outputs(shared_data / name)) == 5


@pytest.mark.parametrize("name", WITHOUT_SCORES)
def test_real_log_rows_without_scores_are_refused(shared_data: Path, name: str) -> None:
    with pytest.raises(ReadError, match=r"5 result\(s\), 0 of them crashed, and no score is named"):
        read_scores(shared_data / name)
    assert len(read_outputs(shared_data / name)) == 5


def test_no_other_real_file_is_taken(shared_data: Path) -> None:
    files = [path for path in sorted(shared_data.rglob("*")) if path.is_file()]
    taken = {
        path.relative_to(shared_data).as_posix() for path in files if FORMAT.detect(Source(path))
    }
    assert taken == {RESULTS, *VITEST, *WITHOUT_SCORES}
