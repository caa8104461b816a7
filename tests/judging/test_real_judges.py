"""Four judges of agents against the reward: numbers computed outside this project."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from evaltoolkit.errors import EvalToolkitWarning
from evaltoolkit.judging import agreement, attach_labels
from evaltoolkit.tidying import tidy_scores


def test_every_judge_and_domain(shared_data: Path) -> None:
    raw = pd.read_csv(shared_data / "paired" / "tau2_4judges_vs_reward.csv", dtype={"task_id": str})
    verdict = raw["judge_verdict"].map({"pass": 1.0, "fail": 0.0})
    scores = tidy_scores(
        raw.assign(system="agent", success=verdict),
        system="system",
        example_id="simulation_id",
        task="domain",
        scorer="judge_prompt",
        score="success",
        attributes=[],
    )
    rewards = raw[["domain", "simulation_id", "tau2_reward"]].drop_duplicates()
    rewards = rewards.set_axis(["task", "example_id", "reward"], axis=1)
    both = attach_labels(scores, rewards, scorer="reward")
    oracles = json.loads((shared_data / "paired" / "oracles.json").read_text("utf-8"))["judges"]
    seen = set()
    for domain in raw["domain"].unique():
        with pytest.warns(EvalToolkitWarning):
            result = agreement(both[both["task"] == domain], criterion="success")
        table = result.table[result.table["scorer_b"] == "reward"]
        for row in table.itertuples():
            oracle = oracles[f"{domain}|{row.scorer_a}"]
            seen.add(f"{domain}|{row.scorer_a}")
            assert row.n == oracle["usable"]
            assert row.n + row.n_not_scored == oracle["n"]
            assert row.kappa == pytest.approx(oracle["kappa"], rel=1e-9)
            assert row.observed == pytest.approx(oracle["agree"], rel=1e-12)
            assert row.mean_a == pytest.approx(oracle["pass_judge"], rel=1e-12)
            assert row.mean_b == pytest.approx(oracle["pass_reward"], rel=1e-12)
    assert seen == set(oracles)
