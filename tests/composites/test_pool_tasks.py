"""Differences over tasks: weights, coverage, clusters, and agreement with `compare`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evaltoolkit as et
from evaltoolkit import stats
from evaltoolkit.composites import pool_tasks
from evaltoolkit.errors import EvalToolkitError, PairingError
from evaltoolkit.results import Comparison

pytestmark = pytest.mark.filterwarnings("ignore::evaltoolkit.errors.EvalToolkitWarning")


def scores_of(tasks: Mapping[str, int], *, seed: int = 0, **columns: object) -> pd.DataFrame:
    """Continuous scores of "old" and "new"; each task with its own effect and spread."""
    rng = np.random.default_rng(seed)
    rows = []
    for k, (task, n) in enumerate(tasks.items()):
        for i in range(n):
            old = rng.normal()
            rows.append(("old", task, i, old))
            rows.append(("new", task, i, old + 0.2 * k + (1 + k) * rng.normal()))
    frame = pd.DataFrame(rows, columns=["system", "task", "example_id", "score"])
    return frame.assign(criterion="quality", **columns)


def compared(scores: pd.DataFrame, **options: Any) -> Comparison:
    return et.compare(scores, baseline="old", candidate="new", **options)


TASKS = {"code": 12, "maths": 20, "prose": 40}


def test_equal_weights_by_hand() -> None:
    result = compared(scores_of(TASKS))
    pooled = pool_tasks(result)
    by_task = result.table.set_index("task")
    row = pooled.table.iloc[0]
    assert row["delta"] == pytest.approx(by_task["delta"].mean())
    v = (by_task["se"] / 3) ** 2
    assert row["se"] == pytest.approx(math.sqrt(v.sum()))
    df = v.sum() ** 2 / (v**2 / by_task["df"]).sum()
    assert row["df"] == pytest.approx(df)
    interval = stats.t_interval(row["delta"], row["se"], df)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(tuple(interval))
    assert (row["n_tasks"], row["n_pairs"], row["coverage"]) == (3, 72, 1.0)
    assert row["mean_candidate"] - row["mean_baseline"] == pytest.approx(row["delta"])
    assert (row["interval"], row["test"]) == ("stratified_t", "stratified_t")


def test_examples_as_weights_give_the_pooled_mean() -> None:
    scores = scores_of(TASKS)
    pooled = pool_tasks(compared(scores), weights="examples").table.iloc[0]
    plain = compared(scores, tasks="pooled").table.iloc[0]
    assert pooled["delta"] == pytest.approx(plain["delta"])


def test_own_weights_leave_tasks_out() -> None:
    result = compared(scores_of(TASKS))
    pooled = pool_tasks(result, weights={"maths": 3, "code": 1})
    delta = result.table.set_index("task")["delta"]
    assert pooled.table["delta"][0] == pytest.approx((3 * delta["maths"] + delta["code"]) / 4)
    assert pooled.settings["tasks_left_out"] == ["prose"]
    assert "Left out: prose" in pooled.text
    assert pooled.tasks["share"].tolist() == [0.25, 0.75]


def test_contributions_add_up() -> None:
    pooled = pool_tasks(compared(scores_of(TASKS)), weights="examples")
    assert pooled.tasks["contribution"].sum() == pytest.approx(pooled.table["delta"][0])
    assert pooled.tasks["variance_share"].sum() == pytest.approx(1)
    assert pooled.tasks["share"].sum() == pytest.approx(1)
    parts = compared(scores_of(TASKS)).table.set_index("task")
    found = pooled.tasks.set_index("task")
    assert found["se"].to_dict() == pytest.approx(parts["se"].to_dict())


def test_one_task_is_the_comparison() -> None:
    result = compared(scores_of({"maths": 30}), test="t")
    row, plain = pool_tasks(result).table.iloc[0], result.table.iloc[0]
    names = ["delta", "se", "df", "ci_low", "ci_high", "p_value"]
    assert row[names].tolist() == pytest.approx(plain[names].tolist())


def test_swapping_the_systems_negates() -> None:
    scores = scores_of(TASKS)
    one = pool_tasks(compared(scores)).table.iloc[0]
    two = pool_tasks(et.compare(scores, baseline="new", candidate="old")).table.iloc[0]
    assert (two["delta"], two["ci_low"], two["ci_high"]) == pytest.approx(
        (-one["delta"], -one["ci_high"], -one["ci_low"])
    )
    assert two["p_value"] == pytest.approx(one["p_value"])


def test_a_missing_task_is_named_and_lowers_the_coverage() -> None:
    scores = scores_of(TASKS)
    second = scores[scores["task"] != "prose"].assign(criterion="style")
    pooled = pool_tasks(compared(pd.concat([scores, second])), weights={**TASKS})
    rows = pooled.table.set_index("criterion")
    assert rows["coverage"].to_dict() == pytest.approx({"quality": 1.0, "style": 32 / 72})
    assert rows["tasks_missing"].to_dict() == {"quality": "", "style": "prose"}
    assert "44.44 % of the weight measured, without prose" in pooled.text
    prose = pooled.tasks.set_index(["criterion", "task"]).loc[("style", "prose")]
    assert (prose["share"], prose["n_pairs"]) == (0.0, 0)
    assert math.isnan(prose["delta"])
    assert rows["correction"].tolist() == ["holm", "holm"]
    assert (rows["p_adjusted"] >= rows["p_value"]).all()


def test_lost_examples_keep_their_weight() -> None:
    scores = scores_of({"code": 10, "maths": 30})
    lost = (scores["task"] == "maths") & (scores["example_id"] >= 10) & (scores["system"] == "new")
    scores.loc[lost, "score"] = math.nan
    result = compared(scores)
    pooled = pool_tasks(result, weights="examples")
    delta = result.table.set_index("task")["delta"]
    expected = (10 * delta["code"] + 30 * delta["maths"]) / 40
    assert pooled.table["delta"][0] == pytest.approx(expected)
    assert pooled.table["n_lost"][0] == 20


def test_clusters_inside_tasks_are_cr2_pieces() -> None:
    scores = scores_of(TASKS)
    scores["cluster"] = scores["task"] + (scores["example_id"] // 3).astype(str)
    result = compared(scores)
    pooled = pool_tasks(result)
    row, by_task = pooled.table.iloc[0], result.table.set_index("task")
    v = (by_task["se"] / 3) ** 2
    assert by_task["interval"].unique().tolist() == ["cr2_t"]
    assert row["se"] == pytest.approx(math.sqrt(v.sum()))
    assert row["df"] == pytest.approx(v.sum() ** 2 / (v**2 / by_task["df"]).sum())
    assert (row["interval"], row["n_spanning"]) == ("stratified_cr2_t", 0)
    assert pooled.settings["clustered"]
    assert "CR2" in pooled.methods()


def test_a_cluster_across_tasks_counts_once() -> None:
    """Every task repeats the same differences: three tasks say no more than one."""
    one = scores_of({"a": 15})
    scores = pd.concat([one.assign(task=t) for t in "abc"])
    scores["cluster"] = scores["example_id"].astype(str)
    result = compared(scores)
    # Without repeated clusters inside a task compare treats examples as independent ...
    assert not result.settings["clustered"]
    scores = pd.concat([scores, scores.assign(example_id=scores["example_id"] + 100)])
    result = compared(scores)
    row = pool_tasks(result).table.iloc[0]
    first = result.table.iloc[0]
    assert row["n_spanning"] == row["n_clusters"] == 15
    assert row["se"] == pytest.approx(first["se"])
    assert "15 clusters have examples in several tasks" in row["note"]


def test_clustering_by_an_attribute_with_a_clashing_name() -> None:
    scores = scores_of(TASKS).assign(outcome=lambda t: t["task"] + (t["example_id"] // 2).map(str))
    pooled = pool_tasks(compared(scores, cluster="outcome"))
    assert pooled.table["n_clusters"][0] == 36


def test_a_task_with_one_pair_gives_no_interval_but_the_reason() -> None:
    pooled = pool_tasks(compared(scores_of({"code": 1, "maths": 20})))
    row = pooled.table.iloc[0]
    assert math.isfinite(row["delta"])
    assert math.isnan(row["ci_low"])
    assert math.isnan(row["p_value"])
    assert (row["interval"], row["test"], row["verdict"]) == ("none", "none", "inconclusive")
    assert "only one pair in the task 'code'" in row["note"]


def test_all_ties_give_no_interval_but_the_reason() -> None:
    scores = scores_of(TASKS).assign(score=1.0)
    row = pool_tasks(compared(scores)).table.iloc[0]
    assert (row["delta"], row["se"], row["interval"]) == (0.0, 0.0, "none")
    assert math.isnan(row["p_value"])
    assert "all differences are equal" in row["note"]


def test_verdicts_follow_the_direction() -> None:
    scores = scores_of({"a": 30, "b": 30})
    scores.loc[scores["system"] == "new", "score"] += 5
    assert pool_tasks(compared(scores)).table["verdict"].tolist() == ["improved"]
    lower = pool_tasks(compared(scores.assign(higher_is_better=False)))
    assert lower.table["verdict"].tolist() == ["regressed"]
    assert "lower is better" in lower.text


def test_drift_is_not_judged() -> None:
    pooled = pool_tasks(compared(scores_of(TASKS, self_referenced=True)))
    assert pooled.table["verdict"].tolist() == ["not_measured"]
    assert pooled.table["p_value"].isna().all()


@pytest.mark.parametrize(
    ("weights", "code"),
    [
        ({"cod": 1}, "unknown_task"),
        ({"code": 0}, "bad_weight"),
        ({"code": math.inf}, "bad_weight"),
        ("by size", "bad_option"),
    ],
)
def test_what_is_refused(weights: Any, code: str) -> None:
    with pytest.raises(PairingError) as caught:
        pool_tasks(compared(scores_of(TASKS)), weights=weights)
    assert caught.value.code == code


def test_pooled_comparisons_and_bad_levels_are_refused() -> None:
    scores = scores_of(TASKS)
    with pytest.raises(PairingError, match="tasks='separate'"):
        pool_tasks(compared(scores, tasks="pooled"))
    with pytest.raises(EvalToolkitError, match="did you mean 0.95"):
        pool_tasks(compared(scores), level=95)
    with pytest.raises(PairingError):
        pool_tasks(scores)  # type: ignore[arg-type]


def test_it_prints_everywhere() -> None:
    scores = scores_of({"<b>a</b>": 20, "b": 20})
    pooled = pool_tasks(compared(scores))
    assert "<b>" not in pooled._repr_html_()
    assert "CI" in pooled.to_markdown()
    assert r"\toprule" in pooled.to_latex()
    assert str(pooled) == pooled.text
    assert "fixed" in pooled.methods()


def test_real_tasks(shared_data: Path) -> None:
    """tau2: reward over four domains; the deltas are counts over 20 and 40 examples."""
    raw = pd.read_csv(shared_data / "paired" / "tau2_gpt41_vs_finetune_140pairs.csv")
    scores = et.tidy_scores(
        raw, system="model", example_id="task_id", task="domain", criteria="reward", attributes=[]
    )
    result = et.compare(scores, baseline="gpt-4.1", candidate="gpt-4.1-ft")
    equal, sized = (pool_tasks(result, weights=w).table.iloc[0] for w in ("equal", "examples"))
    assert equal["delta"] == pytest.approx((3 / 20 + 0 + 12 / 40 + 14 / 40) / 4)
    assert sized["delta"] == pytest.approx((3 + 0 + 12 + 14) / 140)
    assert sized["verdict"] == "improved"
