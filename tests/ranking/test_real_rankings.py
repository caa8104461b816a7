"""Real results of many systems: against oracles and tests computed outside this project."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import evaltoolkit as et
from evaltoolkit.errors import EvalToolkitWarning
from evaltoolkit.ranking import rank, rank_preferences


@pytest.fixture(scope="module")
def oracles(shared_data: Path) -> dict:
    return json.loads((shared_data / "paired" / "oracles.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def swebench(shared_data: Path) -> pd.DataFrame:
    return pd.read_csv(shared_data / "paired" / "swebench_verified_miniswe_25x500.csv")


def tidy(raw: pd.DataFrame, criterion: str) -> pd.DataFrame:
    return et.tidy_scores(
        raw, system="run", example_id="instance_id", criteria=[criterion], attributes=["repo"]
    )


def test_swebench_25_systems(swebench: pd.DataFrame, oracles: dict) -> None:
    from scipy import stats as scipy_stats
    from statsmodels.stats.contingency_tables import cochrans_q

    result = rank(tidy(swebench, "resolved"), criterion="resolved")
    table = result.table.set_index("system")
    counts = oracles["swebench_resolved_counts"]
    assert (table["mean"] * 500).round(9).to_dict() == pytest.approx(counts)
    assert table["n_examples"].unique().tolist() == [500]
    assert list(table.index[:2]) == [
        "20251124_mini-v1.16.0_claude-opus-4-5-20251101",
        "20251118_mini-v1.15.0_gemini-3-pro-preview-20251118",
    ]
    wide = swebench.pivot(index="instance_id", columns="run", values="resolved").to_numpy()
    tests = result.tests.set_index("test")
    # the p-value itself underflows; the statistic and df carry it
    q = cochrans_q(wide)
    assert tests.loc["cochran_q", "statistic"] == pytest.approx(q.statistic, rel=1e-9)
    assert tests.loc["cochran_q", "df"] == q.df == 24
    friedman = scipy_stats.friedmanchisquare(*wide.T)
    assert tests.loc["friedman", "statistic"] == pytest.approx(friedman.statistic, rel=1e-9)
    assert len(result.pairs) == 300
    assert "The top is not decided" in result.conclusion()


def test_swebench_pairs_are_the_oracles(swebench: pd.DataFrame, oracles: dict) -> None:
    pairs = rank(tidy(swebench, "resolved"), criterion="resolved").pairs
    by_names = pairs.set_index(["system_a", "system_b"])
    for names, oracle in oracles["swebench_pairs"].items():
        a, b = names.split(" vs ")
        turned = (a, b) not in by_names.index
        row = by_names.loc[(b, a) if turned else (a, b)]
        sign = -1 if turned else 1
        assert sign * row.delta == pytest.approx(oracle["diff_a_minus_b"], abs=1e-12)
        won = (row.losses, row.wins) if turned else (row.wins, row.losses)
        assert won == (oracle["only_a"], oracle["only_b"])
        # the oracle divides by n, not n - 1
        assert row.se == pytest.approx(oracle["paired_se"], rel=2e-3)


def test_swebench_cost_is_lower_better(swebench: pd.DataFrame) -> None:
    cheap = swebench.groupby("run")["cost_usd"].mean().sort_values()
    chosen = [*cheap.index[:3], *cheap.index[-2:]]
    result = rank(tidy(swebench, "cost_usd"), criterion="cost_usd", systems=chosen)
    assert result.table["system"].tolist() == chosen
    assert result.table["mean"].to_numpy() == pytest.approx(cheap[chosen].to_numpy())
    assert "lower is better" in result.conclusion()


def test_alpaca_win_rates(shared_data: Path, oracles: dict) -> None:
    raw = pd.read_csv(shared_data / "paired" / "alpaca_eval2_weighted_10models_x805.csv")
    raw["win"] = (raw["preference"] - 1).clip(0, 1)
    scores = et.tidy_scores(
        raw, system="model", example_id="instruction_idx", score="win", versus="baseline"
    )
    result = rank(scores, criterion="win", correction="maxt")
    assert result.settings["against"] == "gpt4_1106_preview"
    for row in result.table.itertuples():
        oracle = oracles["alpaca"][row.system]
        assert 100 * row.mean == pytest.approx(oracle["win_rate"], abs=1e-6)
        assert 100 * row.se == pytest.approx(oracle["se"], abs=1e-6)
    assert result.table["system"].iloc[0] == "NullModel"
    assert result.table["rank_high"].iloc[0] == 1
    abilities = rank_preferences(scores, criterion="win")
    assert len(abilities.table) == 11
    # everyone met only the baseline, so each distance to it is the logit of the win rate
    ability = abilities.table.set_index("system")["ability"]
    for row in result.table.itertuples():
        logit = np.log(row.mean / (1 - row.mean))
        assert ability[row.system] - ability["gpt4_1106_preview"] == pytest.approx(logit, abs=1e-8)


def test_terminal_bench_trials(shared_data: Path, oracles: dict) -> None:
    raw = pd.read_csv(shared_data / "paired" / "terminal_bench2_trials_16models.csv")
    scores = et.tidy_scores(
        raw, system="model_name", example_id="task_name", criteria=["reward"], duplicates="trials"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvalToolkitWarning)
        result = rank(scores, criterion="reward")
    assert len(result.table) == oracles["tb2"]["models"]
    assert result.table["n_examples"].unique().tolist() == [oracles["tb2"]["tasks"]]
    own = oracles["tb2"]["gpt-5 vs claude-opus-4-1-20250805"]
    pairs = result.pairs.set_index(["system_a", "system_b"])
    row = pairs.loc[("gpt-5", "claude-opus-4-1-20250805")]
    assert (row.delta, row.se) == pytest.approx((own["diff"], own["se_paired"]), rel=1e-9)
    assert row.wins + row.losses == own["nonzero"]
    # exact sign flips and the t test of the oracle agree closely at 47 non-zero differences
    assert row.p_value == pytest.approx(own["t_p"], abs=0.02)
