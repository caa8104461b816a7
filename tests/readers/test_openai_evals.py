"""OpenAI evals: own small records for each trap, a real one against totals counted by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evaltoolkit.errors import EvalToolkitWarning, ReadError
from evaltoolkit.readers import read_outputs, read_report, read_scores
from evaltoolkit.readers.base import Source
from evaltoolkit.readers.openai_evals import FORMAT

SPEC = {
    "spec": {
        "completion_fns": ["model-a"],
        "eval_name": "sums.test.v0",
        "base_eval": "sums",
        "split": "test",
        "run_id": "R1",
        "created_at": "2026-02-03 04:05:06.5",
    }
}


def event(sample: str, kind: str, **data: Any) -> dict[str, Any]:
    return {
        "run_id": "R1",
        "event_id": 0,
        "sample_id": sample,
        "type": kind,
        "data": data,
        "created_by": "",
        "created_at": "2026-02-03 04:05:07.5+00:00",
    }


def sampling(sample: str, answer: Any, **more: Any) -> dict[str, Any]:
    return event(sample, "sampling", prompt=f"what is {sample}?", sampled=answer, **more)


def match(sample: str, correct: Any, **more: Any) -> dict[str, Any]:
    return event(sample, "match", correct=correct, expected="2", picked="2", **more)


def write(folder: Path, *lines: Any, name: str = "record.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_matches_become_rows(tmp_path: Path) -> None:
    lines = [sampling("s.1", ["2"], usage={"prompt_tokens": 3}), match("s.1", True)]
    lines += [match("s.2", False), sampling("s.2", "3")]
    path = write(tmp_path, SPEC, {"final_report": {"accuracy": 0.5}}, *lines)
    scores = read_scores(path)
    assert scores["score"].tolist() == [1.0, 0.0]
    assert scores["passed"].tolist() == [True, False]
    assert scores["criterion"].unique().tolist() == ["match"]
    assert scores["example_id"].tolist() == ["s.1", "s.2"]
    key = scores.loc[0, ["run_id", "system", "task", "label"]].tolist()
    assert key == ["R1", "model-a", "sums.test.v0", "2"]
    assert scores["timestamp"].iloc[0] == pd.Timestamp("2026-02-03T04:05:07.5Z")
    assert scores["input_digest"].nunique() == 2
    outputs = read_outputs(path)
    assert outputs["output"].tolist() == ["2", "3"]
    assert outputs["reference"].tolist() == ["2", "2"]
    assert outputs["tokens_in"].iloc[0] == 3
    assert read_report(path).aggregates["value"].tolist() == [0.5]


def test_metrics_give_a_criterion_for_each_number(tmp_path: Path) -> None:
    lines = [
        event("s.1", "metrics", choice="A", score=1.0, length=7, note="x" * 100),
        event("s.2", "metrics", choice="E", score=None, length=float("inf"), style="dry"),
    ]
    scores = read_scores(write(tmp_path, SPEC, *lines))
    found = scores.set_index(["example_id", "criterion"])
    assert found.loc[("s.1", "metrics.score"), ["score", "label"]].tolist() == [1.0, "A"]
    assert found.loc[("s.1", "metrics.length"), "score"] == 7
    assert found.loc[("s.2", "metrics.score"), ["status", "label"]].tolist() == ["unscored", "E"]
    assert found.loc[("s.2", "metrics.length"), "label"] == "Infinity"
    assert found.loc[("s.2", "metrics.style"), ["status", "label"]].tolist() == ["unscored", "dry"]
    assert len(scores) == 5


def test_a_crashed_sample_is_lost_in_every_criterion(tmp_path: Path) -> None:
    crash = event("s.2", "error", type="TimeoutError", message="30 s")
    path = write(tmp_path, SPEC, match("s.1", True), crash, sampling("s.3", "4"))
    scores = read_scores(path)
    lost = scores[scores["status"] == "system_error"]
    assert lost[["example_id", "criterion"]].to_numpy().tolist() == [["s.2", "match"]]
    assert lost["message"].tolist() == ["TimeoutError: 30 s"]
    notes = " ".join(scores.attrs["notes"])
    assert "no final report" in notes
    assert "1 sample(s) were answered and never judged" in notes
    outputs = read_outputs(path)
    assert outputs["error"].fillna("").tolist() == ["TimeoutError: 30 s", ""]


def test_a_sample_judged_twice_gives_trials(tmp_path: Path) -> None:
    scores = read_scores(write(tmp_path, SPEC, match("s.1", True), match("s.1", False)))
    assert scores["trial"].tolist() == [0, 1]
    assert scores["score"].tolist() == [1.0, 0.0]


def test_unknown_events_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path, SPEC, match("s.1", True), event("s.1", "dance"), {"hello": 1})
    with pytest.warns(EvalToolkitWarning) as caught:
        scores = read_scores(path)
    assert len(scores) == 1
    told = " ".join(str(each.message) for each in caught)
    assert "1 record(s) of the unknown kind event 'dance'" in told
    assert "neither spec nor report nor event" in told


def test_without_a_spec_the_file_names_the_system(tmp_path: Path) -> None:
    path = write(tmp_path, match("s.1", True), name="model-b.jsonl")
    assert read_scores(path)["system"].tolist() == ["model-b"]
    several = {"spec": {**SPEC["spec"], "completion_fns": ["model-a", "judge"]}}
    scores = read_scores(write(tmp_path, several, match("s.1", True)))
    assert scores["system"].tolist() == ["model-a"]
    assert any("2 completion functions" in note for note in scores.attrs["notes"])


def test_a_report_that_disagrees_is_told(tmp_path: Path) -> None:
    path = write(tmp_path, SPEC, match("s.1", True), {"final_report": {"accuracy": 0.25}})
    with pytest.warns(EvalToolkitWarning, match="accuracy 0.25, its 1 matches give 1"):
        read_scores(path)


def test_two_runs_in_one_file_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, SPEC, match("s.1", True), SPEC, match("s.1", False))
    with pytest.raises(ReadError, match="line 3: a second run begins"):
        read_scores(path)


def test_bad_events_are_named(tmp_path: Path) -> None:
    bad = {**match("s.2", True), "data": [1]}
    path = write(tmp_path, SPEC, match("s.1", True), bad, match("s.3", "yes"))
    with pytest.raises(ReadError, match="line 3 cannot be read"):
        read_scores(path)
    with pytest.warns(EvalToolkitWarning, match="1 record"):
        scores = read_scores(path, on_error="skip")
    assert scores["status"].tolist() == ["scored", "unscored"]


@pytest.mark.parametrize(
    "line",
    [
        {"spec": 1},
        {"spec": {"name": "x"}},
        {"run_id": "r", "sample_id": "s", "type": "t", "data": {}},
        {"sample_id": "s", "score": 1},
        {"final_report": {}, "other": 1},
    ],
)
def test_other_lines_are_not_taken(tmp_path: Path, line: Any) -> None:
    assert not FORMAT.detect(Source(write(tmp_path, line)))
    assert not FORMAT.detect(Source(tmp_path))


# --- real files -------------------------------------------------------------------------------

REAL = "openai_evals/auto-gpt_test-match.jsonl"


def test_a_real_record(shared_data: Path) -> None:
    scores = read_scores(shared_data / REAL)
    assert len(scores) == 3
    assert (scores["status"] == "scored").all()
    assert scores["system"].unique().tolist() == ["auto_gpt_completion_fn"]
    assert scores["task"].unique().tolist() == ["test-match.s1.simple-v0"]
    by_example = scores.set_index("example_id")["score"].to_dict()
    assert by_example == {"test-match.s1.0": 0.0, "test-match.s1.1": 1.0, "test-match.s1.2": 0.0}
    report = read_report(shared_data / REAL)
    assert report.aggregates["value"].tolist() == pytest.approx([1 / 3])
    assert len(read_outputs(shared_data / REAL)) == 3


def test_no_other_real_file_is_taken(shared_data: Path) -> None:
    files = [path for path in sorted(shared_data.rglob("*")) if path.is_file()]
    taken = {
        path.relative_to(shared_data).as_posix() for path in files if FORMAT.detect(Source(path))
    }
    assert taken == {REAL}
