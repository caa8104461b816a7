"""AlpacaEval 2, MT-bench and four judges of agents: scores given by language models."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evaltoolkit as et
from tests.oracles.reproducing import Reproduction, only_row, wilcoxon_p

TUNED, CHAT = "finetune_llama2_chat_7b", "llama2_chat_7b"


@cache
def alpaca_scores(folder: Path) -> pd.DataFrame:
    """The probability of a win in percent, and whether it is above one half."""
    raw = pd.read_csv(folder / "alpaca_eval2_weighted_10models_x805.csv")
    return et.tidy_scores(
        raw.assign(win=100 * (raw["preference"] - 1), won=raw["preference"] > 1.5),
        system="model",
        example_id="instruction_idx",
        criteria=["win", "won"],
        attributes=["dataset"],
    )


def alpaca(folder: Path) -> dict[str, dict[str, float]]:
    """The file has no leaderboard; its numbers must come out of the annotations all the same."""
    table = et.summarise(alpaca_scores(folder)).set_index(["criterion", "system"])
    wins = table.loc["won", "mean"] * table.loc["won", "n_scored"]
    return {
        row.Index: {
            "win_rate": row.mean,
            "se": row.se,
            "lb_win_rate": row.mean,
            "lb_se": row.se,
            "n_wins": wins[row.Index],
            "lb_n_wins": wins[row.Index],
        }
        for row in table.loc["win"].itertuples()
    }


def alpaca_win(folder: Path) -> pd.DataFrame:
    scores = alpaca_scores(folder)
    return scores[scores["criterion"] == "win"]


def alpaca_pair(folder: Path) -> dict[str, float]:
    result = et.compare(alpaca_win(folder), baseline="claude-2.1", candidate="claude-2", test="t")
    row = only_row(result.table)
    return {
        "diff": row.delta,
        "se": row.se,
        "t_p": row.p_value,
        "wilcoxon_p": wilcoxon_p(result),
        "corr": result.pairs["baseline"].corr(result.pairs["candidate"]),
    }


@cache
def mtbench_judgements(folder: Path) -> pd.DataFrame:
    """Every judgement, with the id of its question and turn; what is off the scale is a failure."""
    raw = pd.read_csv(folder / "mtbench_gpt4_single_raw.csv")
    rating = raw["score"].where(raw["score"].between(1, 10))
    return raw.assign(
        system=raw["source_repo"] + "|" + raw["model"],
        item=raw["question_id"].astype(str) + "." + raw["turn"].astype(str),
        line=raw["source_repo"] + "|" + raw["line"].astype(str),
        rating=rating,
        verdict=raw["score"].astype(str),
        status=rating.isna().map({True: "scorer_error", False: "scored"}),
    )


def _mtbench(raw: pd.DataFrame, **columns: str) -> pd.DataFrame:
    return et.tidy_scores(
        raw,
        system="system",
        criteria=["rating"],
        status="status",
        label="verdict",
        cluster="category",
        attributes=[],
        **columns,
    )


def mtbench_means(folder: Path) -> dict[str, dict[str, float]]:
    """Every judgement counts, also the second one of a question: each is an example here."""
    scores = _mtbench(mtbench_judgements(folder), example_id="line")
    table = et.summarise(scores, cluster=False).set_index("system")
    return {row.Index: {"mean": row.mean, "n": row.n_scored} for row in table.itertuples()}


def mtbench_minus1(folder: Path) -> int:
    """Two judgements of 0 are off the scale as well, but no oracle."""
    scores = _mtbench(mtbench_judgements(folder), example_id="line")
    failed = scores[scores["status"] == "scorer_error"]
    assert int(et.coverage(scores)["scorer_error"].sum()) == len(failed) == 125 + 2
    return int((failed["label"] == "-1.0").sum())


def mtbench_dup_keys(folder: Path) -> int:
    with pytest.raises(et.SchemaError) as caught:
        _mtbench(mtbench_judgements(folder), example_id="item")
    found = re.match(r"(\d+) key\(s\) occur more than once", str(caught.value))
    assert found
    return int(found.group(1))


def mtbench_pair(folder: Path) -> dict[str, Any]:
    raw = mtbench_judgements(folder)
    raw = raw[raw["source_repo"] == "don-tpanic/FastChat"].assign(system=raw["model"])
    choices: dict[str, Any] = {
        "baseline": TUNED, "candidate": CHAT, "test": "t", "cluster": False
    }  # fmt: skip
    by_turn = et.compare(_mtbench(raw, example_id="item"), **choices)
    scores = _mtbench(raw, example_id="question_id", trial="turn")
    by_question = only_row(et.compare(scores, **choices).table)
    row = only_row(by_turn.table)
    assert by_question.n_pairs == 80
    assert by_question.delta == pytest.approx(row.delta)
    return {
        "a": by_turn.settings["candidate"],
        "b": by_turn.settings["baseline"],
        "n": row.n_pairs,
        "diff": row.delta,
        "wins": row.wins,
        "ties": row.ties,
        "losses": row.losses,
        "wilcoxon_p": wilcoxon_p(by_turn),
        "t_p_160": row.p_value,
        "t_p_by_question80": by_question.p_value,
    }


def judges(folder: Path) -> dict[str, dict[str, float]]:
    """Only the verdicts pass and fail are usable; ten other spellings are no verdict."""
    raw = pd.read_csv(folder / "tau2_4judges_vs_reward.csv", dtype={"task_id": str})
    raw["system"], raw["success"] = "agent", raw["judge_verdict"].map({"pass": 1.0, "fail": 0.0})
    verdicts = et.tidy_scores(
        raw,
        system="system",
        example_id="simulation_id",
        task="domain",
        scorer="judge_prompt",
        score="success",
        attributes=[],
    )
    rewards = raw[["domain", "simulation_id", "tau2_reward"]].drop_duplicates()
    rewards = rewards.set_axis(["task", "example_id", "reward"], axis=1)
    scores = et.attach_labels(verdicts, rewards, scorer="reward")
    return {
        f"{domain}|{row.scorer_a}": {
            "n": row.n + row.n_not_scored,
            "usable": row.n,
            "agree": row.observed,
            "kappa": row.kappa,
            "pass_judge": row.mean_a,
            "pass_reward": row.mean_b,
        }
        for domain, rows in scores.groupby("task")
        for row in et.agreement(rows, criterion="success", draws=100).table.itertuples()
        if row.scorer_b == "reward"
    }


FACTS: Mapping[str, Reproduction] = {
    "alpaca": alpaca,
    "alpaca_pair_claude2_vs_2.1": alpaca_pair,
    "mtbench_means": mtbench_means,
    "mtbench_minus1": mtbench_minus1,
    "mtbench_dup_keys": mtbench_dup_keys,
    "mtbench_pair": mtbench_pair,
    "judges": judges,
}
