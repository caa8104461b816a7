"""tau-bench: attempts, simulations, and judges who answer in words of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evaltoolkit as et


def document(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def attempt(task: int, trial: int | None, reward: object, **info: object) -> dict[str, Any]:
    call = {"function": {"name": "book", "arguments": '{"seat": 4}'}, "id": "c"}
    traj = [
        {"role": "system", "content": "# Ferry Agent Policy\nBe kind."},
        {"role": "user", "content": "A ticket."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "assistant", "content": "Done."},
    ]
    found = {"reward": reward, "info": {}, "actions": []}
    more = {"task": {"instruction": "You want a ticket."}, "reward_info": found, **info}
    row = {"task_id": task, "reward": reward, "info": more, "traj": traj}
    return row if trial is None else {**row, "trial": trial}


class TestAttempts:
    def test_ids_trials_and_the_domain_of_the_policy(self, tmp_path: Path) -> None:
        rows = [attempt(7, 0, 1.0), attempt(7, 1, 0.0)]
        scores = et.read_scores(document(tmp_path / "model-1.json", rows))
        assert scores["example_id"].tolist() == ["7", "7"]
        assert scores["trial"].tolist() == [0, 1]
        assert scores["score"].tolist() == [1.0, 0.0]
        assert scores["passed"].isna().all()
        assert set(scores["task"] + "|" + scores["system"]) == {"tau_bench/ferry|model-1"}
        assert "file name" in scores.attrs["notes"][0]

    def test_a_crash_and_a_cut_are_no_wrong_outcome(self, tmp_path: Path) -> None:
        rows = [
            attempt(1, 0, 0.0, error="RateLimitError: slow down"),
            attempt(2, 0, 0.0, reward_info=None),
            attempt(3, 0, None),
        ]
        scores = et.read_scores(document(tmp_path / "m.json", rows))
        assert scores["status"].tolist() == ["system_error", "system_error", "unscored"]
        assert scores["label"].tolist()[:2] == ["0.0", "0.0"]
        assert scores["message"].tolist()[0] == "RateLimitError: slow down"

    def test_trials_are_numbered_where_they_are_not(self, tmp_path: Path) -> None:
        rows = [attempt(1, None, 1.0), attempt(1, None, 0.0)]
        scores = et.read_scores(document(tmp_path / "m.json", rows))
        assert scores["trial"].tolist() == [0, 1]
        assert any("numbered as trials" in note for note in scores.attrs["notes"])

    def test_outputs(self, tmp_path: Path) -> None:
        path = document(tmp_path / "m.json", [attempt(1, 0, 1.0)])
        (row,) = et.read_outputs(path).to_dict("records")
        assert (row["input"], row["output"]) == ("You want a ticket.", "Done.")
        assert json.loads(row["tool_calls"]) == [{"name": "book", "arguments": {"seat": 4}}]

    def test_a_bad_record_is_named(self, tmp_path: Path) -> None:
        path = document(tmp_path / "m.json", [attempt(1, 0, 1.0), attempt(2, 0, "high")])
        with pytest.raises(et.ReadError, match=r"record 1 .*reward is 'high'"):
            et.read_scores(path)
        with pytest.warns(et.EvalToolkitWarning, match="1 record"):
            assert len(et.read_scores(path, on_error="skip")) == 1


def simulation(task: str, reward: float | None, **more: object) -> dict[str, Any]:
    checks = {
        "reward": reward,
        "db_check": {"db_match": reward == 1, "db_reward": reward},
        "action_checks": [{"action_match": True}, {"action_match": False}],
        "nl_assertions": None,
        "communicate_checks": [{"info": "x", "met": True}],
        "env_assertions": [],
        "reward_basis": ["DB"],
    }
    usage = {"prompt_tokens": 10, "completion_tokens": 2}
    return {
        "id": f"s-{task}",
        "task_id": task,
        "trial": 0,
        "start_time": "2025-08-01T10:00:00",
        "duration": 3.5,
        "termination_reason": "user_stop",
        "agent_cost": 0.25,
        "reward_info": checks,
        "messages": [
            {"role": "assistant", "content": "Hello.", "usage": usage, "tool_calls": None},
            {"role": "user", "content": "Bye.", "usage": usage},
        ],
        **more,
    }


def run(*simulations: dict[str, Any]) -> dict[str, Any]:
    info = {
        "user_info": {"llm": "user-1"},
        "agent_info": {"llm": "model-1"},
        "environment_info": {"domain_name": "ferry"},
    }
    task = {"id": "a", "user_scenario": {"instructions": {"reason_for_call": "A ticket."}}}
    return {
        "timestamp": "2025-08-01T09:59:00",
        "info": info,
        "tasks": [task],
        "simulations": list(simulations),
    }


class TestSimulations:
    def test_checks_are_advisory_beside_the_reward(self, tmp_path: Path) -> None:
        path = document(tmp_path / "run.json", run(simulation("a", 1.0)))
        scores = et.read_scores(path)
        found = scores.set_index("criterion")
        assert found["score"].to_dict() == {
            "reward": 1.0, "db_match": 1.0, "action_match": 0.5, "communicate": 1.0
        }  # fmt: skip
        assert found["blocking"].to_dict()["reward"]
        assert not found["blocking"].drop("reward").any()
        assert found.loc["db_match", "passed"]
        assert set(scores["task"] + "|" + scores["system"]) == {"tau2_bench/ferry|model-1"}
        assert scores.attrs["notes"] == []
        assert str(scores["timestamp"].iloc[0]) == "2025-08-01 10:00:00+00:00"

    @pytest.mark.parametrize(
        ("reason", "status"),
        [
            ("agent_stop", "scored"),
            ("max_steps", "system_error"),
            ("too_many_errors", "system_error"),
            ("infrastructure_error", "scorer_error"),
            ("user_error", "scorer_error"),
        ],
    )
    def test_how_it_ended(self, tmp_path: Path, reason: str, status: str) -> None:
        cut = simulation("b", 0.0, termination_reason=reason)
        scores = et.read_scores(document(tmp_path / "run.json", run(simulation("a", 1.0), cut)))
        (row,) = scores[(scores["example_id"] == "b") & (scores["criterion"] == "reward")].to_dict(
            "records"
        )
        assert row["status"] == status
        if status != "scored":
            assert row["label"] == "0.0"
            assert reason in row["message"]

    def test_an_end_of_unknown_kind_is_noted(self, tmp_path: Path) -> None:
        path = document(tmp_path / "run.json", run(simulation("a", 1.0, termination_reason="fire")))
        scores = et.read_scores(path)
        assert "fire (1×)" in scores.attrs["notes"][0]
        assert scores["score"].tolist()[0] == 1.0

    def test_no_reward_is_unscored(self, tmp_path: Path) -> None:
        rows = [simulation("a", 1.0), simulation("b", 0.0, reward_info=None)]
        scores = et.read_scores(document(tmp_path / "run.json", run(*rows)))
        assert scores[scores["example_id"] == "b"]["status"].tolist() == ["unscored"]

    def test_a_bare_list_is_named_after_its_file(self, tmp_path: Path) -> None:
        scores = et.read_scores(document(tmp_path / "model-2.json", [simulation("a", 1.0)]))
        assert set(scores["system"]) == {"model-2"}
        assert set(scores["task"]) == {"tau2_bench"}

    def test_outputs_count_the_agent_alone_and_invent_no_cost(self, tmp_path: Path) -> None:
        rows = [simulation("a", 1.0), simulation("b", 1.0, agent_cost=0.0)]
        outputs = et.read_outputs(document(tmp_path / "run.json", run(*rows)))
        assert outputs["tokens_in"].tolist() == [10.0, 10.0]
        assert outputs["cost_usd"].tolist()[0] == 0.25
        assert outputs["cost_usd"].isna().tolist() == [False, True]
        assert "1 conversations cost 0" in outputs.attrs["notes"][0]
        assert outputs["latency_s"].tolist() == [3.5, 3.5]


def judged(task: str, verdict: object, **more: object) -> dict[str, Any]:
    return {
        "simulation_id": f"s-{task}",
        "task_id": task,
        "label": "model-1",
        "tau2_reward": 1.0,
        "tau2_success": True,
        "judge_verdict": verdict,
        "judge_justification": "because",
        "judge_issues": [],
        "judge_model": "judge-1",
        "judge_prompt": "Domain: ferry\n\nTranscript: ...",
        "judge_prompt_name": "outcome",
        "judge_cost_usd": 0.01,
        "agreement": True,
        **more,
    }


class TestJudges:
    def test_free_words_become_numbers_only_where_they_are_clear(self, tmp_path: Path) -> None:
        words = ["pass", "Satisfied", "unsatisfactory", "partially_satisfied", "unknown", None]
        rows = [
            judged(str(number), word, agreement=True if number < 2 else None)
            for number, word in enumerate(words)
        ]
        path = document(tmp_path / "judges.json", {"total_judged": 6, "entries": rows})
        with pytest.warns(et.EvalToolkitWarning, match=r"2 verdict\(s\).*partially_satisfied"):
            scores = et.read_scores(path)
        found = scores[scores["criterion"] == "outcome"]
        assert found["score"].fillna(-1).tolist() == [1.0, 1.0, 0.0, -1.0, -1.0, -1.0]
        assert found["status"].tolist() == ["scored"] * 3 + ["unscored"] * 2 + ["scorer_error"]
        assert found["passed"].notna().tolist() == [True, True, False, False, False, False]
        assert found["label"].tolist()[:4] == words[:4]
        assert set(found["scorer"]) == {"judge-1"}
        assert set(found["task"]) == {"tau2_bench/ferry"}
        rewards = scores[scores["criterion"] == "reward"]
        assert rewards["score"].tolist() == [1.0] * 6
        assert rewards["passed"].all()

    def test_json_lines_with_several_judges(self, tmp_path: Path) -> None:
        rows = [judged("1", "pass"), judged("1", "fail", judge_prompt_name="policy")]
        path = tmp_path / "judges.json"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        scores = et.read_scores(path)
        assert scores["criterion"].value_counts().to_dict() == {
            "outcome": 1, "reward": 1, "policy": 1
        }  # fmt: skip
        assert json.loads(et.read_details(path)["details"].iloc[0])["judge_justification"] == (
            "because"
        )


def test_real_attempts(shared_data: Path) -> None:
    # 8 tasks in 4 trials: 5 rewards of 1, 26 of 0, and one conversation without a reward.
    path = shared_data / "tau_bench" / "tau1_gpt-4o-airline.tasks0-7.json"
    scores = et.read_scores(path)
    assert scores["score"].value_counts(dropna=False).to_dict()[1.0] == 5
    assert scores["score"].isna().sum() == 1
    assert set(scores["task"]) == {"tau_bench/airline"}


def test_real_simulations(shared_data: Path) -> None:
    # Rewards: 10 of 20 and 13 of 20; the same 20 tasks in another order.
    runs = sorted((shared_data / "tau_bench").glob("tau2_*1trials.json"))
    scores = et.read_scores(runs)
    rewards = scores[scores["criterion"] == "reward"]
    assert rewards.groupby("system")["score"].sum().tolist() == [13.0, 10.0]
    assert rewards.groupby("example_id")["system"].nunique().tolist() == [2] * 20
    assert scores["criterion"].value_counts().to_dict() == {
        "reward": 40, "db_match": 40, "nl_assertions": 40, "action_match": 36, "communicate": 2
    }  # fmt: skip
    base = rewards[rewards["system"] == "gpt-4.1"]
    # One reward of 1 has an action that differs: it does not count.
    actions = scores[(scores["system"] == "gpt-4.1") & (scores["criterion"] == "action_match")]
    joined = base.merge(actions, on="example_id")
    assert ((joined["score_x"] == 1) & (joined["score_y"] < 1)).sum() == 1


def test_real_judges(shared_data: Path) -> None:
    # 46 pass and 4 fail; 23 rewards of 1; they agree on 25.
    path = shared_data / "tau_bench" / "tau2_judge_summary_quick_triage_airline.json"
    scores = et.read_scores(path)
    wide = scores.pivot(index="example_id", columns="criterion", values="score")
    assert wide.sum().to_dict() == {"quick_triage_v1": 46.0, "reward": 23.0}
    assert (wide["quick_triage_v1"] == wide["reward"]).sum() == 25
    assert scores["judge_cost_usd"].sum() == pytest.approx(0.427911, abs=1e-6)
