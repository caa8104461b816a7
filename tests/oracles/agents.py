"""tau-bench, tau2-bench, Inspect's popularity task and BFCL: agents and single calls."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

import evaltoolkit as et
from evaltoolkit.repeats import pass_at_k
from tests.oracles.reproducing import Reproduction, pass_fail_pair

BFCL_PAIRS = (
    ("claude-sonnet-4-5-FC", "deepseek-v3.1-terminus-FC"),
    ("claude-sonnet-4-5-FC", "glyphh-ada-1.1"),
    ("deepseek-v3.1-terminus-FC", "glyphh-ada-1.1"),
)


def tau1(folder: Path) -> dict[str, Any]:
    raw = pd.read_csv(folder / "tau1_airline_gpt4o_50x4.csv")
    scores = et.tidy_scores(
        raw.assign(agent="gpt-4o"),
        system="agent",
        example_id="task_id",
        trial="trial",
        criteria=["reward"],
        attributes=[],
    )
    trials = [et.summarise(scores[scores["trial"] == trial]) for trial in range(4)]
    result = pass_at_k(scores, k=range(1, 5))
    table = result.table.set_index("k")
    return {
        "trial_means": pd.concat(trials)["mean"].tolist(),
        "pass_hat_k": table["pass_hat_k"].to_dict(),
        "pass_at_k": table["pass_at_k"].to_dict(),
        "count_dist": result.examples["n_passed"].value_counts().to_dict(),
    }


def tau2(folder: Path) -> dict[str, dict[str, float]]:
    raw = pd.read_csv(folder / "tau2_gpt41_vs_finetune_140pairs.csv")
    scores = et.tidy_scores(
        raw, system="model", example_id="task_id", task="domain", criteria=["reward"], attributes=[]
    )
    pair = {"candidate": "gpt-4.1", "baseline": "gpt-4.1-ft"}
    facts = {domain: pass_fail_pair(rows, **pair) for domain, rows in scores.groupby("task")}
    return facts | {"ALL": pass_fail_pair(scores, tasks="pooled", **pair)}


@cache
def popularity(folder: Path) -> pd.DataFrame:
    raw = pd.read_csv(folder / "inspect_popularity_6models.csv")
    return et.tidy_scores(
        raw.assign(correct=raw["value"].map({"C": 1.0, "I": 0.0}), log=raw["log_file"]),
        system="model",
        example_id="sample_id",
        run_id="eval_id",
        trial="epoch",
        criteria=["correct"],
        label="value",
        attributes=["log"],
    )


def inspect(folder: Path) -> dict[str, float]:
    """The full runs in the order of their logs; the second run of a model is its #2."""
    scores = popularity(folder)
    facts: dict[str, float] = {}
    for _, rows in scores.groupby("log"):
        summary = et.summarise(rows)
        if summary["n_scored"].tolist() == [100]:
            name = summary["system"][0]
            facts[f"{name}#2" if name in facts else name] = summary["mean"][0] * 100
    return facts


def inspect_epochs(folder: Path) -> dict[str, Any]:
    scores = popularity(folder)
    repeated = scores[scores.groupby("run_id")["trial"].transform("nunique") == 5]
    return {
        system: {
            "C": int((rows["label"] == "C").sum()),
            "per_sample": rows.groupby("example_id")["score"].sum().to_dict(),
        }
        for system, rows in repeated.groupby("system")
    }


def bfcl(folder: Path) -> dict[str, dict[str, float]]:
    scores = et.tidy_scores(
        pd.read_csv(folder / "bfcl_simple_python_3models_x400.csv"),
        system="model",
        example_id="id",
        criteria=["valid"],
        attributes=[],
    )
    return {f"{a} vs {b}": pass_fail_pair(scores, candidate=a, baseline=b) for a, b in BFCL_PAIRS}


FACTS: Mapping[str, Reproduction] = {
    "tau1": tau1,
    "tau2": tau2,
    "inspect": inspect,
    "inspect_epochs": inspect_epochs,
    "bfcl": bfcl,
}
