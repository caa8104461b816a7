"""Terminal-Bench: verdicts that are null for different reasons, attempts, and totals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evaltoolkit as et


def document(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def attempt(task: str, resolved: object, mode: str = "unset", **more: object) -> dict[str, Any]:
    tests = {"test_a": "passed", "test_b": "passed" if resolved else "failed"}
    return {
        "trial_name": f"{task}.1-of-1.run-1",
        "task_id": task,
        "instruction": f"Do {task}.",
        "is_resolved": resolved,
        "failure_mode": mode,
        "parser_results": None if resolved is None else tests,
        "total_input_tokens": 100,
        "total_output_tokens": 20,
        "trial_started_at": "2025-09-01T10:00:00+00:00",
        "agent_started_at": "2025-09-01T10:00:05+00:00",
        "agent_ended_at": "2025-09-01T10:00:35.5+00:00",
        **more,
    }


def run(*attempts: dict[str, Any], **more: object) -> dict[str, Any]:
    return {"id": "r1", "results": list(attempts), **more}


@pytest.mark.parametrize(
    ("resolved", "mode", "status"),
    [
        (True, "agent_timeout", "scored"),
        (False, "agent_timeout", "scored"),
        (None, "agent_timeout", "system_error"),
        (None, "unknown_agent_error", "system_error"),
        (None, "parse_error", "scorer_error"),
        (None, "test_timeout", "scorer_error"),
        (None, "unset", "unscored"),
        (None, "something new", "unscored"),
    ],
)
def test_what_a_verdict_means(tmp_path: Path, resolved: object, mode: str, status: str) -> None:
    path = document(tmp_path / "a.json", run(attempt("x", resolved, mode), attempt("y", True)))
    scores = et.read_scores(path)
    rows = scores[scores["example_id"] == "x"]
    assert rows["criterion"].tolist() == ["resolved", "tests_passed"]
    assert set(rows["status"]) == {status}
    if resolved is not None:
        assert rows["passed"].tolist()[0] is resolved
        assert rows["score"].tolist() == [float(bool(resolved)), 1.0 if resolved else 0.5]
    if mode != "unset":
        assert rows["label"].tolist()[0] == mode


def test_names_of_attempts_give_trials_and_runs(tmp_path: Path) -> None:
    rows = [
        attempt("x.hard", True, trial_name="x.hard.3-of-5"),
        attempt("x.hard", False, trial_name="x.hard.1-of-5"),
    ]
    scores = et.read_scores(document(tmp_path / "a.json", run(*rows)))
    verdicts = scores[scores["criterion"] == "resolved"]
    assert verdicts["trial"].tolist() == [2, 0]
    assert set(scores["run_id"]) == {"r1"}
    named = et.read_scores(document(tmp_path / "b.json", run(attempt("x", True))))
    assert set(named["run_id"]) == {"run-1"}


def test_attempts_of_other_names_are_numbered(tmp_path: Path) -> None:
    rows = [attempt("x", True, trial_name="one"), attempt("x", False, trial_name="two")]
    scores = et.read_scores(document(tmp_path / "a.json", run(*rows)))
    assert scores[scores["criterion"] == "resolved"]["trial"].tolist() == [0, 1]
    assert any("numbered as trials" in note for note in scores.attrs["notes"])


def test_whose_run_it_is(tmp_path: Path) -> None:
    published = tmp_path / "results" / "core@0.1" / "agent-9_model-9" / "monday" / "results.json"
    assert set(et.read_scores(document(published, run(attempt("x", True))))["system"]) == {
        "agent-9_model-9"
    }
    own = document(tmp_path / "monday" / "results.json", run(attempt("x", True)))
    assert set(et.read_scores(own)["system"]) == {"monday"}
    document(own.with_name("run_metadata.json"), {"agent_name": "a", "model_name": "m/1"})
    assert set(et.read_scores(own)["system"]) == {"a / m/1"}
    assert set(et.read_scores(own, system="mine")["system"]) == {"mine"}


def test_single_attempts_accompany_the_file_of_their_run(tmp_path: Path) -> None:
    whole = document(tmp_path / "monday" / "results.json", run(attempt("x", True)))
    one = document(whole.parent / "x" / "x.1-of-1" / "results.json", attempt("x", True))
    assert len(et.read_scores(tmp_path)) == 2
    with pytest.raises(et.ReadError, match="no scores"):
        et.read_scores(one)
    whole.unlink()
    assert len(et.read_scores(one)) == 2


def test_outputs_leave_out_tokens_that_were_not_counted(tmp_path: Path) -> None:
    none = attempt("y", True, total_input_tokens=0, total_output_tokens=0, agent_ended_at=None)
    path = document(tmp_path / "a.json", run(attempt("x", None, "parse_error"), none))
    outputs = et.read_outputs(path)
    assert outputs["tokens_in"].fillna(-1).tolist() == [100.0, -1.0]
    assert outputs["latency_s"].fillna(-1).tolist() == [30.5, -1.0]
    assert outputs["error"].tolist()[0] == "parse_error"
    assert any("1 attempts report 0 tokens" in note for note in outputs.attrs["notes"])


def test_totals_that_do_not_fit_warn(tmp_path: Path) -> None:
    path = document(tmp_path / "a.json", run(attempt("x", True), n_resolved=5, accuracy=1.0))
    with pytest.warns(et.EvalToolkitWarning, match="n_resolved is 5, but 1"):
        et.read_scores(path)


def test_a_verdict_that_is_none_is_a_bad_record(tmp_path: Path) -> None:
    path = document(tmp_path / "a.json", run(attempt("x", True), attempt("y", "maybe")))
    with pytest.raises(et.ReadError, match=r"result 1 .*'maybe'"):
        et.read_scores(path)
    with pytest.warns(et.EvalToolkitWarning, match="1 record"):
        assert len(et.read_scores(path, on_error="skip")) == 2


def test_real_runs(shared_data: Path) -> None:
    # One run: 39 of 80 resolved, 3 of them by an agent that ran out of time; 3 null.
    # Five attempts: 144 of 400 resolved, 27 out of time; null: 19 by the tests, 10 by the agent.
    folder = shared_data / "terminal_bench"
    scores = et.read_scores(folder / "20250924_droid_gpt-5.run1.results.json")
    verdicts = scores[scores["criterion"] == "resolved"]
    assert verdicts["score"].sum() == 39
    late = verdicts[verdicts["label"] == "agent_timeout"]
    assert late["score"].tolist().count(1.0) == 3
    assert len(late) == 7

    path = folder / "orchestrator_claude-4-sonnet.5trials.results.json"
    scores = et.read_scores(path)
    verdicts = scores[scores["criterion"] == "resolved"]
    assert verdicts["score"].sum() == 144
    assert (
        verdicts.groupby("example_id")["trial"].agg(lambda t: sorted(t)).tolist()
        == [[0, 1, 2, 3, 4]] * 80
    )
    assert verdicts["status"].value_counts().to_dict() == {
        "scored": 371, "scorer_error": 19, "system_error": 10, "unscored": 0
    }  # fmt: skip
    tests = scores[scores["criterion"] == "tests_passed"].set_index(["example_id", "trial"])
    joined = verdicts.set_index(["example_id", "trial"]).join(tests["score"].rename("share"))
    measured = joined[joined["status"] == "scored"]
    assert ((measured["share"] == 1) == (measured["score"] == 1)).all()
    reported = et.read_report(path).aggregates.set_index("metric")["value"]
    assert reported.to_dict() == {
        "accuracy": 0.36, "pass_at_2": 0.4625, "pass_at_4": 0.5475, "pass_at_5": 0.575
    }  # fmt: skip
