"""SWE-bench Verified, Terminal-Bench 2 and Terminal-Bench core: agents that write code."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

import evaltoolkit as et
from tests.oracles.reproducing import Reproduction, only_row, pass_fail_pair, wilcoxon_p

LEFT_OUT = "20250720_mini-v0.0.0-claude-3-7-sonnet-20250219"
GPT5, SONNET = "20250807_mini-v1.7.0_gpt-5", "20250929_mini-v1.13.3_sonnet-4-5-20250929"
SWEBENCH_PAIRS = (
    (
        "20251124_mini-v1.16.0_claude-opus-4-5-20251101",
        "20251118_mini-v1.15.0_gemini-3-pro-preview-20251118",
    ),
    (SONNET, GPT5),
    ("20251124_mini-v1.16.0_gpt-5.1-codex", "20251120_mini-v1.15.0_gpt-5.1-2025-11-13"),
    (GPT5, "20250807_mini-v1.7.0_gpt-5-mini"),
    ("20250726_mini-v1.0.0_claude-sonnet-4-20250514", GPT5),
)
TB2_PAIRS = (
    ("gpt-5", "claude-opus-4-1-20250805"),
    ("gpt-5", "gpt-5-mini"),
    ("claude-sonnet-4-20250514", "gemini-2.5-pro"),
)
TBCORE_PAIR = ("20250924_droid_gpt-5", "20250923_droid_claude-4-sonnet")


@cache
def swebench(folder: Path) -> pd.DataFrame:
    return et.tidy_scores(
        pd.read_csv(folder / "swebench_verified_miniswe_25x500.csv"),
        system="run",
        example_id="instance_id",
        criteria=["resolved", "cost_usd"],
        attributes=["repo"],
        declare={"cost_usd": {"higher_is_better": False}},
    )


def resolved(folder: Path) -> pd.DataFrame:
    scores = swebench(folder)
    return scores[scores["criterion"] == "resolved"]


def resolved_counts(folder: Path) -> dict[str, float]:
    table = et.summarise(resolved(folder))
    assert set(table["interval"]) == {"wilson"}
    return dict(zip(table["system"], table["mean"] * table["n_scored"], strict=True))


def repo_sizes(folder: Path) -> dict[str, int]:
    scores = resolved(folder)
    table = et.summarise(scores[scores["system"] == GPT5], by="repo")
    return dict(zip(table["repo"], table["n_examples"], strict=True))


def swebench_pairs(folder: Path) -> dict[str, Any]:
    scores = resolved(folder)
    return {f"{a} vs {b}": _with_clusters(scores, a, b) for a, b in SWEBENCH_PAIRS}


def _with_clusters(scores: pd.DataFrame, candidate: str, baseline: str) -> dict[str, float]:
    facts = pass_fail_pair(scores, candidate=candidate, baseline=baseline, cluster=False)
    for kind in ("CR0", "CR1"):
        table = et.compare(
            scores,
            baseline=baseline,
            candidate=candidate,
            cluster="repo",
            interval=f"{kind.lower()}_t",
        ).table
        facts[f"cluster_se_repo_{kind}"] = only_row(table).se
    return facts


@cache
def ranking_of_24(folder: Path) -> et.Ranking:
    """All systems but one, on whose run something went wrong (51 of 500)."""
    scores = resolved(folder)
    return et.rank(scores[scores["system"] != LEFT_OUT], criterion="resolved")


def never_resolved(folder: Path) -> int:
    blocks = ranking_of_24(folder).blocks
    return int((blocks[blocks.columns].sum(axis=1) == 0).sum())


def resolved_by_all(folder: Path) -> int:
    blocks = ranking_of_24(folder).blocks
    return int((blocks.sum(axis=1) == 24).sum())


def cost(folder: Path) -> dict[str, float]:
    result = et.compare(
        swebench(folder), baseline=GPT5, candidate=SONNET, criteria="cost_usd", test="t"
    )
    row = only_row(result.table)
    return {
        "n": row.n_pairs,
        "mean": row.delta,
        "wilcoxon_p": wilcoxon_p(result),
        "t_p": row.p_value,
    }


@cache
def terminal_bench(folder: Path) -> pd.DataFrame:
    return et.tidy_scores(
        pd.read_csv(folder / "terminal_bench2_trials_16models.csv"),
        system="model_name",
        example_id="task_name",
        trial="trial",
        criteria=["reward"],
    )


def tb2(folder: Path) -> dict[str, Any]:
    table = et.coverage(terminal_bench(folder))
    shape = {
        "models": table["system"].nunique(),
        "tasks": int(table["n_examples"].max()),
        "rows": int(table["scored"].sum()),
    }
    return shape | {f"{a} vs {b}": _tb2_pair(folder, a, b) for a, b in TB2_PAIRS}


def _tb2_pair(folder: Path, a: str, b: str) -> dict[str, float]:
    scores = terminal_bench(folder)
    result = et.compare(scores, baseline=b, candidate=a, test="t")
    row, trials = only_row(result.table), scores.groupby("system")["score"]
    return {
        "mean_a_taskmean": row.mean_candidate,
        "mean_b_taskmean": row.mean_baseline,
        "pooled_a": trials.mean()[a],
        "pooled_b": trials.mean()[b],
        "diff": row.delta,
        "se_paired": row.se,
        "t_p": row.p_value,
        "wilcoxon_p": wilcoxon_p(result),
        "nonzero": row.wins + row.losses,
        "n_trials_a": int(trials.count()[a]),
        "n_trials_b": int(trials.count()[b]),
    }


@cache
def terminal_bench_core(folder: Path) -> pd.DataFrame:
    """A trial without a verdict (time-out, crash) is an error of the system, with no score."""
    raw = pd.read_csv(
        folder / "terminal_bench_core011_11agents_x80x5.csv", dtype={"is_resolved": str}
    )
    raw["resolved"] = raw["is_resolved"].map({"true": 1.0, "false": 0.0})
    raw["status"] = raw["resolved"].isna().map({True: "system_error", False: "scored"})
    return et.tidy_scores(
        raw,
        system="submission",
        example_id="task_id",
        trial="trial",
        criteria=["resolved"],
        status="status",
        label="failure_mode",
        attributes=[],
    )


def tbcore(folder: Path) -> dict[str, list[float]]:
    scores = terminal_bench_core(folder)
    runs = [et.summarise(scores[scores["trial"] == trial]) for trial in range(1, 6)]
    counts = pd.concat(runs)
    counts["resolved"] = counts["mean"] * counts["n_scored"]
    return {name: run["resolved"].tolist() for name, run in counts.groupby("system")}


def tbcore_null(folder: Path) -> dict[str, int]:
    table = et.coverage(terminal_bench_core(folder))
    assert table["n_rows"].eq(400).all()
    return dict(zip(table["system"], table["system_error"], strict=True))


def tbcore_failure_mode(folder: Path) -> dict[str, list[float]]:
    groups = terminal_bench_core(folder).groupby("label")
    return {
        mode: [len(rows), rows["score"].sum(), int((rows["status"] == "system_error").sum())]
        for mode, rows in groups
    }


def tbcore_pair(folder: Path) -> dict[str, Any]:
    a, b = TBCORE_PAIR
    result = et.compare(
        terminal_bench_core(folder), baseline=b, candidate=a, test="t", missing="as_failure"
    )
    row = only_row(result.table)
    return {
        "a": result.settings["candidate"],
        "b": result.settings["baseline"],
        "diff": row.delta,
        "se": row.se,
        "t_p": row.p_value,
        "wilcoxon_p": wilcoxon_p(result),
    }


FACTS: Mapping[str, Reproduction] = {
    "swebench_resolved_counts": resolved_counts,
    "swebench_pairs": swebench_pairs,
    "swebench_repo_sizes": repo_sizes,
    "swebench_never_resolved": never_resolved,
    "swebench_resolved_by_all24": resolved_by_all,
    "swebench_cost_sonnet45_minus_gpt5": cost,
    "tb2": tb2,
    "tbcore": tbcore,
    "tbcore_null": tbcore_null,
    "tbcore_failure_mode": tbcore_failure_mode,
    "tbcore_pair": tbcore_pair,
}
