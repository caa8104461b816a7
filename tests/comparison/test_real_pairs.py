"""Real paired data: every number against the oracles computed outside this project."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import evaltoolkit as et

GPT5, SONNET = "20250807_mini-v1.7.0_gpt-5", "20250929_mini-v1.13.3_sonnet-4-5-20250929"


@pytest.fixture(scope="module")
def swebench(shared_data: Path) -> pd.DataFrame:
    raw = pd.read_csv(shared_data / "paired" / "swebench_verified_miniswe_25x500.csv")
    return et.tidy_scores(
        raw, system="run", example_id="instance_id", criteria=["resolved"], attributes=["repo"]
    )


@pytest.fixture(scope="module")
def oracles(shared_data: Path) -> dict:
    return json.loads((shared_data / "paired" / "oracles.json").read_text("utf-8"))


def only_row(result: et.Comparison) -> pd.Series:
    assert len(result.table) == 1
    return result.table.iloc[0]


def test_swebench_headline(swebench: pd.DataFrame) -> None:
    row = only_row(et.compare(swebench, baseline=GPT5, candidate=SONNET))
    assert (row.n_pairs, row.wins, row.losses, row.ties) == (500, 53, 25, 422)
    assert row.delta == pytest.approx(0.056, abs=1e-12)
    assert (row.mean_baseline, row.mean_candidate) == pytest.approx((0.650, 0.706))
    assert row.test == "mcnemar_midp"
    assert row.interval == "bonett_price"
    # mid-p = exact - P(X = 25) for X ~ Bin(78, 1/2): .00203114 - .00056507 (scipy 1.17)
    assert row.p_value == pytest.approx(0.0014660719473423387, rel=1e-9)

    assert row.verdict == "improved"
    assert row.p_adjusted == row.p_value


def test_swebench_exact_p_is_selectable(swebench: pd.DataFrame, oracles: dict) -> None:
    row = only_row(et.compare(swebench, baseline=GPT5, candidate=SONNET, test="mcnemar_exact"))
    expected = oracles["swebench_pairs"][f"{SONNET} vs {GPT5}"]["mcnemar_exact_p"]
    assert expected == pytest.approx(0.0020311, abs=5e-8)
    assert row.p_value == pytest.approx(expected, rel=1e-9)
    assert row.test == "mcnemar_exact"


@pytest.mark.parametrize(
    ("interval", "kind", "oracle"),
    [("cr0_t", "CR0", "cluster_se_repo_CR0"), ("cr1_t", "CR1", "cluster_se_repo_CR1")],
)
def test_swebench_clustered_by_repo(
    swebench: pd.DataFrame, oracles: dict, interval: str, kind: str, oracle: str
) -> None:
    with pytest.warns(et.EvalToolkitWarning):
        result = et.compare(
            swebench, baseline=GPT5, candidate=SONNET, cluster="repo", interval=interval
        )
    row = only_row(result)
    pair = oracles["swebench_pairs"][f"{SONNET} vs {GPT5}"]
    assert row.se == pytest.approx(pair[oracle], rel=1e-9), kind
    assert row.n_clusters == 12


def test_swebench_cr2_warns_of_few_degrees_of_freedom(swebench: pd.DataFrame) -> None:
    with pytest.warns(et.EvalToolkitWarning, match="12 clusters .* degrees of freedom"):
        result = et.compare(swebench, baseline=GPT5, candidate=SONNET, cluster="repo")
    row = only_row(result)
    assert row.interval == "cr2_t"
    assert row.test == "cluster_flip"
    assert row.df < 5
    assert "degrees of freedom" in row.note
    assert row.delta == pytest.approx(0.056)


def test_every_swebench_oracle_pair(swebench: pd.DataFrame, oracles: dict) -> None:
    for name, pair in oracles["swebench_pairs"].items():
        candidate, baseline = name.split(" vs ")
        result = et.compare(swebench, baseline=baseline, candidate=candidate, test="mcnemar_exact")
        row = only_row(result)
        assert (row.wins, row.losses) == (pair["only_a"], pair["only_b"]), name
        assert row.delta == pytest.approx(pair["diff_a_minus_b"], abs=1e-12)
        assert row.p_value == pytest.approx(pair["mcnemar_exact_p"], rel=1e-9)


def test_terminal_bench_unbalanced_trials(shared_data: Path, oracles: dict) -> None:
    raw = pd.read_csv(shared_data / "paired" / "terminal_bench2_trials_16models.csv")
    scores = et.tidy_scores(
        raw, system="model_name", example_id="task_name", trial="trial", criteria=["reward"]
    )
    for name in ("gpt-5 vs claude-opus-4-1-20250805", "gpt-5 vs gpt-5-mini",
                 "claude-sonnet-4-20250514 vs gemini-2.5-pro"):  # fmt: skip
        candidate, baseline = name.split(" vs ")
        with pytest.warns(et.EvalToolkitWarning, match="unequal numbers of scored trials"):
            result = et.compare(scores, baseline=baseline, candidate=candidate, test="t")
        row, oracle = only_row(result), oracles["tb2"][name]
        assert row.n_pairs == 74
        assert row.delta == pytest.approx(oracle["diff"], rel=1e-9)
        assert row.mean_candidate == pytest.approx(oracle["mean_a_taskmean"], rel=1e-9)
        assert row.se == pytest.approx(oracle["se_paired"], rel=1e-9)
        assert row.p_value == pytest.approx(oracle["t_p"], rel=1e-9)
        assert row.wins + row.losses == oracle["nonzero"]


def test_tau2_pairs_need_the_domain(shared_data: Path, oracles: dict) -> None:
    raw = pd.read_csv(shared_data / "paired" / "tau2_gpt41_vs_finetune_140pairs.csv")
    with pytest.raises(et.SchemaError, match="occur more than once"):
        et.tidy_scores(raw, system="model", example_id="task_id", criteria=["reward"])
    scores = et.tidy_scores(
        raw, system="model", example_id="task_id", criteria=["reward"], task="domain"
    )
    first, second = raw["model"].unique()
    with pytest.warns(et.EvalToolkitWarning, match="fewer than 10 non-zero differences"):
        result = et.compare(scores, baseline=first, candidate=second, test="mcnemar_exact")
    table = result.table
    assert table.n_pairs.sum() == 140
    for row in table.itertuples():
        oracle = oracles["tau2"][row.task]
        assert (row.losses, row.wins) == (oracle["only_a"], oracle["only_b"]) or (
            row.wins,
            row.losses,
        ) == (oracle["only_a"], oracle["only_b"])
        assert abs(row.delta) == pytest.approx(abs(oracle["diff_a_minus_b"]), abs=1e-12)
        assert row.p_value == pytest.approx(oracle["mcnemar_exact_p"], rel=1e-9)
    pooled = et.compare(scores, baseline=first, candidate=second, tasks="pooled").table
    assert pooled.n_pairs.tolist() == [140]


def test_alpaca_paired_t(shared_data: Path, oracles: dict) -> None:
    raw = pd.read_csv(shared_data / "paired" / "alpaca_eval2_weighted_10models_x805.csv")
    raw["win"] = 100 * (raw["preference"] - 1)
    scores = et.tidy_scores(raw, system="model", example_id="instruction_idx", criteria=["win"])
    row = only_row(et.compare(scores, baseline="claude-2.1", candidate="claude-2", test="t"))
    oracle = oracles["alpaca_pair_claude2_vs_2.1"]
    assert row.delta == pytest.approx(oracle["diff"], rel=1e-9)
    assert row.se == pytest.approx(oracle["se"], rel=1e-9)
    assert row.p_value == pytest.approx(oracle["t_p"], rel=1e-9)
    assert row.mean_candidate == pytest.approx(oracles["alpaca"]["claude-2"]["win_rate"], rel=1e-9)


PRO, GPT5_OF_POPULARITY = "google/gemini-2.5-pro", "openai/gpt-5"


@pytest.fixture(scope="module")
def popularity(shared_data: Path) -> pd.DataFrame:
    return et.read_scores(shared_data / "paired" / "inspect_popularity_logs")


def test_popularity_logs_overlap_between_runs(popularity: pd.DataFrame) -> None:
    # gpt-5 and gemini-2.5-pro each ran 100 samples once and 10 of them five times again.
    with pytest.raises(et.PairingError, match="several runs") as caught:
        et.compare(popularity, baseline=GPT5_OF_POPULARITY, candidate=PRO)
    assert "bpkQiizurZbU5mMaYqLbL4" in str(caught.value)


def test_popularity_pair(popularity: pd.DataFrame, oracles: dict) -> None:
    sizes = popularity.groupby("run_id").example_id.nunique()
    full = popularity[popularity.run_id.isin(sizes[sizes == 100].index)]
    result = et.compare(full, baseline=GPT5_OF_POPULARITY, candidate=PRO)
    row = only_row(result)
    both = int(((result.pairs.baseline == 1) & (result.pairs.candidate == 1)).sum())
    neither = int(((result.pairs.baseline == 0) & (result.pairs.candidate == 0)).sum())
    assert (both, row.wins, row.losses, neither) == (51, 15, 1, 33)
    assert row.mean_baseline * 100 == pytest.approx(oracles["inspect"][GPT5_OF_POPULARITY])
    assert row.mean_candidate * 100 == pytest.approx(oracles["inspect"][PRO])
    # Exact McNemar of 15 against 1: 2 * (1 + 16) / 2**16 = .000518798828125
    exact = et.compare(full, baseline=GPT5_OF_POPULARITY, candidate=PRO, test="mcnemar_exact")
    assert only_row(exact).p_value == pytest.approx(0.000518798828125)


def test_popularity_counts_of_every_model(popularity: pd.DataFrame, oracles: dict) -> None:
    sizes = popularity.groupby("run_id").example_id.nunique()
    full = popularity[popularity.run_id.isin(sizes[sizes == 100].index)]
    correct = full.groupby(["system", "run_id"]).score.sum()
    expected = sorted(
        (name.split("#")[0], float(count)) for name, count in oracles["inspect"].items()
    )
    assert sorted((system, count) for (system, _), count in correct.items()) == expected
    lite = full[full.system == "google/gemini-2.5-flash-lite"]
    assert lite.run_id.nunique() == 2


def test_popularity_epochs_become_trials(popularity: pd.DataFrame, oracles: dict) -> None:
    sizes = popularity.groupby("run_id").example_id.nunique()
    epochs = popularity[popularity.run_id.isin(sizes[sizes == 10].index)]
    for system, facts in oracles["inspect_epochs"].items():
        rows = epochs[epochs.system == system]
        assert sorted(rows.trial.unique()) == [0, 1, 2, 3, 4]
        assert rows.score.sum() == facts["C"]
        per_sample = rows.groupby("example_id").score.sum().astype(int).to_dict()
        assert per_sample == facts["per_sample"]
