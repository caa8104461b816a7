"""pass@k and pass^k from score tables: oracles, intervals, losses, differences."""

from __future__ import annotations

import json
import math
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evaltoolkit as et
from evaltoolkit import stats
from evaltoolkit.errors import EvalToolkitError, EvalToolkitWarning, PairingError
from evaltoolkit.repeats import pass_at_k
from evaltoolkit.scores import normalise_scores


def trials_table(
    outcomes: dict[str, list[list[float]]], *, criterion: str = "solved", **columns: object
) -> pd.DataFrame:
    """Score rows from, per system, the outcomes of the trials of each example."""
    rows = [
        (system, f"e{i:03d}", t, score)
        for system, examples in outcomes.items()
        for i, trials in enumerate(examples)
        for t, score in enumerate(trials)
    ]
    frame = pd.DataFrame(rows, columns=["system", "example_id", "trial", "score"])
    return normalise_scores(frame.assign(criterion=criterion, **columns))


def drawn(n: int, k: int, *, seed: int, ability: float = 1.0) -> list[list[float]]:
    rng = np.random.default_rng(seed)
    return (rng.random((n, k)) < rng.beta(ability, 1.0, (n, 1))).astype(float).tolist()


@pytest.fixture(scope="module")
def oracles(shared_data: Path) -> dict[str, Any]:
    return json.loads((shared_data / "paired" / "oracles.json").read_text("utf-8"))


def test_tau_bench(shared_data: Path, oracles: dict[str, Any]) -> None:
    raw = pd.read_csv(shared_data / "paired" / "tau1_airline_gpt4o_50x4.csv").assign(m="gpt-4o")
    scores = et.tidy_scores(
        raw, system="m", example_id="task_id", trial="trial", criteria="reward", attributes=[]
    )
    table = pass_at_k(scores, k=range(1, 5)).table.set_index("k")
    for k in range(1, 5):
        assert table["pass_at_k"][k] == pytest.approx(oracles["tau1"]["pass_at_k"][str(k)])
        assert table["pass_hat_k"][k] == pytest.approx(oracles["tau1"]["pass_hat_k"][str(k)])
    assert table["pass_hat_k"].tolist() == pytest.approx([0.42, 0.82 / 3, 0.22, 0.20])
    assert table["n_examples"].unique().tolist() == [50]
    # at k = 4 of 4 trials each example is one 0/1 outcome: 36 and 10 of 50
    assert tuple(table.loc[4, ["pass_at_low", "pass_at_high"]]) == pytest.approx(
        tuple(stats.wilson(36, 50))
    )
    assert tuple(table.loc[4, ["pass_hat_low", "pass_hat_high"]]) == pytest.approx(
        tuple(stats.wilson(10, 50))
    )
    assert table["pass_at_interval"].tolist() == ["t", "t", "t", "wilson"]


def test_terminal_bench_pair(shared_data: Path, oracles: dict[str, Any]) -> None:
    raw = pd.read_csv(shared_data / "paired" / "terminal_bench_core011_11agents_x80x5.csv")
    resolved = raw["is_resolved"].map({True: 1.0, False: 0.0})
    raw = raw.assign(resolved=resolved, status=np.where(resolved.isna(), "system_error", "scored"))
    scores = et.tidy_scores(
        raw, system="submission", example_id="task_id", trial="trial", criteria="resolved",
        status="status", attributes=[],
    )  # fmt: skip
    pair = oracles["tbcore_pair"]
    names = {"baseline": pair["b"], "candidate": pair["a"]}
    result = pass_at_k(scores, k=(1, 5), missing="as_failure", **names)
    first = result.differences.iloc[0]
    assert (first["delta"], first["se"]) == pytest.approx((pair["diff"], pair["se"]))
    compared = et.compare(scores, missing="as_failure", **names).table.iloc[0]
    columns = ["delta", "se", "df", "ci_low", "ci_high", "p_value"]
    assert first[columns].tolist() == pytest.approx(compared[columns].tolist())
    nulls = oracles["tbcore_null"]
    lost = result.table.set_index(["system", "k"])["n_errors_as_failures"]
    assert {name: lost[name, 1] for name in names.values()} == {n: nulls[n] for n in names.values()}
    with (
        pytest.warns(EvalToolkitWarning, match="27 trials without a verdict"),
        pytest.warns(EvalToolkitWarning, match="2 of 80 for"),
    ):
        reported = pass_at_k(scores, k=1, **names)
    assert reported.table["n_lost_trials"].sum() == 27


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
@settings(max_examples=20, deadline=None)
def test_it_is_the_share_of_all_choices_of_k_trials(seed: int, k: int) -> None:
    examples = drawn(6, 4, seed=seed)
    found = pass_at_k(trials_table({"a": examples}), k=k).table.iloc[0]
    once = [np.mean([max(c) for c in combinations(trials, k)]) for trials in examples]
    always = [np.mean([min(c) for c in combinations(trials, k)]) for trials in examples]
    assert found["pass_at_k"] == pytest.approx(np.mean(once))
    assert found["pass_hat_k"] == pytest.approx(np.mean(always))
    assert 0 <= found["pass_at_low"] <= found["pass_at_k"] <= found["pass_at_high"] <= 1


def test_one_trial_and_k_1_is_the_summary() -> None:
    scores = trials_table({"a": drawn(40, 1, seed=3)})
    found, plain = pass_at_k(scores).table.iloc[0], et.summarise(scores).iloc[0]
    assert (found["pass_at_k"], found["pass_at_low"], found["pass_at_high"]) == pytest.approx(
        (plain["mean"], plain["ci_low"], plain["ci_high"])
    )
    assert found["pass_at_interval"] == plain["interval"] == "wilson"


def test_several_trials_and_k_1_is_the_summary() -> None:
    scores = trials_table({"a": drawn(60, 3, seed=4)})
    scores["cluster"] = scores["example_id"].str[:3]
    for cluster, name in ((False, "t"), (None, "cr2_t")):
        found = pass_at_k(scores, cluster=cluster).table.iloc[0]
        plain = et.summarise(scores, cluster=cluster).iloc[0]
        assert found["pass_at_k"] == pytest.approx(plain["mean"])
        assert found["pass_at_se"] == pytest.approx(plain["se"])
        assert found["n_clusters"] == plain["n_clusters"]
        if found["pass_at_interval"] == name:
            assert found["pass_at_low"] == pytest.approx(plain["ci_low"])


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_all_alike_still_has_a_width(score: float) -> None:
    row = pass_at_k(trials_table({"a": [[score] * 4] * 20}), k=2).table.iloc[0]
    assert row["pass_at_k"] == row["pass_hat_k"] == score
    assert row["pass_at_high"] - row["pass_at_low"] == pytest.approx(0.1611, abs=1e-4)
    assert row["pass_hat_interval"] == "wilson"
    assert "wide rather than narrow" in row["note"]


def test_examples_with_too_few_trials_are_left_out_and_counted() -> None:
    scores = trials_table({"a": [[1.0, 0.0, 1.0]] * 12 + [[0.0]] * 3})
    with pytest.warns(EvalToolkitWarning, match="3 of 15 for 'a' at k = 2"):
        result = pass_at_k(scores, k=(1, 2, 4))
    table = result.table.set_index("k")
    assert table["n_examples"].to_dict() == {1: 15, 2: 12, 4: 0}
    assert table["n_too_few"].to_dict() == {1: 0, 2: 3, 4: 15}
    assert (table["trials_min"][1], table["trials_max"][1]) == (1, 3)
    assert table["pass_at_k"][1] == pytest.approx(12 * (2 / 3) / 15)
    assert table["pass_at_k"][2] == 1.0
    assert math.isnan(table["pass_at_k"][4])
    assert math.isnan(table["pass_hat_low"][4])
    assert "at most 3" in table["note"][4]
    assert "no example has 4 trials" in result.text


def test_errors_are_lost_or_failures() -> None:
    scores = trials_table({"a": [[1.0, 1.0, 0.0]] * 12})
    scores.loc[0, ["score", "status"]] = [math.nan, "system_error"]
    scores.loc[1, ["score", "status"]] = [math.nan, "scorer_error"]
    with pytest.warns(EvalToolkitWarning, match="2 trials without a verdict"):
        found = pass_at_k(scores)
    assert found.examples.iloc[0][["n_trials", "n_passed", "n_lost"]].tolist() == [1, 0, 2]
    with pytest.warns(EvalToolkitWarning, match="1 trial without"):
        found = pass_at_k(scores, missing="as_failure")
    row = found.examples.iloc[0]
    assert row[["n_trials", "n_passed", "n_lost", "n_errors_as_failures"]].tolist() == [2, 0, 1, 1]
    assert "failed" in found.methods()


def test_all_trials_lost() -> None:
    scores = trials_table({"a": [[1.0, 0.0]] * 3, "b": [[1.0, 0.0]] * 3})
    gone = scores["system"] == "b"
    scores.loc[gone, "score"] = math.nan
    scores["status"] = scores["status"].astype("str").mask(gone, "system_error")
    with pytest.warns(EvalToolkitWarning):
        result = pass_at_k(scores, baseline="a", candidate="b")
    row = result.table.set_index("system").loc["b"]
    assert (row["n_examples"], row["trials_max"]) == (0, 0)
    assert result.differences["verdict"].unique().tolist() == ["not_measured"]
    assert result.differences["p_value"].isna().all()


def test_thresholds_directions_and_verdicts() -> None:
    scores = trials_table({"a": [[0.2, 0.8, 0.9]] * 4}, criterion="quality")
    with pytest.raises(PairingError, match="threshold=") as caught:
        pass_at_k(scores)
    assert caught.value.code == "no_verdicts"
    assert pass_at_k(scores, threshold=0.8).table["pass_at_k"][0] == pytest.approx(2 / 3)
    assert pass_at_k(scores.assign(threshold=0.9)).table["pass_at_k"][0] == pytest.approx(1 / 3)
    lower = scores.assign(higher_is_better=False)
    assert pass_at_k(lower, threshold=0.8).table["pass_at_k"][0] == pytest.approx(2 / 3)
    judged = scores.assign(passed=scores["score"] < 0.5)
    assert pass_at_k(judged, measure="passed").table["pass_at_k"][0] == pytest.approx(1 / 3)
    with pytest.raises(PairingError, match="measure='score'"):
        pass_at_k(scores, measure="passed")
    violation = trials_table(
        {"a": [[1.0, 0.0, 0.0]]}, criterion="violation", higher_is_better=False
    )
    assert pass_at_k(violation).table["pass_at_k"][0] == pytest.approx(2 / 3)


def test_criteria_without_a_verdict_are_left_out_and_named() -> None:
    scores = pd.concat(
        [
            trials_table({"a": drawn(15, 2, seed=1)}),
            trials_table({"a": [[0.3, 0.4]] * 15}, criterion="quality"),
        ]
    )
    result = pass_at_k(scores)
    assert result.table["criterion"].tolist() == ["solved"]
    assert "Left out, since nothing says when a trial passes: quality." in result.text
    with pytest.raises(PairingError, match="'quality'"):
        pass_at_k(scores, criterion=["solved", "quality"])


def test_tasks_apart_or_together() -> None:
    first, second = drawn(20, 3, seed=1), drawn(30, 3, seed=2, ability=3)
    scores = pd.concat(
        [trials_table({"a": first}, task="x"), trials_table({"a": second}, task="y")]
    )
    apart = pass_at_k(scores, k=2).table
    together = pass_at_k(scores, k=2, tasks="pooled").table.iloc[0]
    assert apart["task"].tolist() == ["x", "y"]
    assert together["n_examples"] == 50
    assert together["pass_hat_k"] == pytest.approx((apart["pass_hat_k"] * [20, 30]).sum() / 50)


def test_differences_are_paired() -> None:
    old, new = drawn(50, 4, seed=1), drawn(50, 4, seed=2, ability=2)
    scores = trials_table({"old": old, "new": new})
    result = pass_at_k(scores, k=(1, 2), baseline="old", candidate="new")
    rows = result.differences.set_index("measure")
    d = [
        stats.pass_hat_k(4, int(sum(b)), 2) - stats.pass_hat_k(4, int(sum(a)), 2)
        for a, b in zip(old, new, strict=True)
    ]
    expected = stats.paired_t(d)
    row = rows.loc["pass^2"]
    assert (row["delta"], row["ci_low"], row["ci_high"]) == pytest.approx(
        (expected.mean, expected.low, expected.high)
    )
    assert row["p_value"] == pytest.approx(stats.sign_flip(d).p_value)
    assert (rows["p_adjusted"] >= rows["p_value"]).all()
    # pass^1 is pass@1, one hypothesis of three
    assert rows.loc["pass^1", "p_adjusted"] == rows.loc["pass@1", "p_adjusted"]
    family = rows.loc[["pass@1", "pass@2", "pass^2"], "p_value"]
    assert rows.loc[family.idxmin(), "p_adjusted"] == pytest.approx(min(1, 3 * family.min()))
    swapped = pass_at_k(scores, k=(1, 2), baseline="new", candidate="old").differences
    assert swapped["delta"].tolist() == pytest.approx((-result.differences["delta"]).tolist())


def test_a_copy_differs_in_nothing() -> None:
    same = drawn(30, 3, seed=9)
    scores = trials_table({"old": same, "new": same})
    rows = pass_at_k(scores, k=(1, 3), baseline="old", candidate="new").differences
    assert rows["p_value"].tolist() == [1.0] * 4
    assert rows["interval"].tolist() == ["none", "none", "bonett_price", "bonett_price"]
    assert (rows["ci_low"].isna() | (rows["ci_low"] < 0)).all()
    assert rows["note"].str.len().gt(0).all()


def test_only_common_examples_with_enough_trials_pair() -> None:
    scores = trials_table({"old": drawn(20, 3, seed=1), "new": drawn(15, 3, seed=2)})
    scores = scores[~((scores["example_id"] == "e000") & (scores["trial"] > 0))]
    with pytest.warns(EvalToolkitWarning):
        rows = pass_at_k(scores, k=(1, 2), baseline="old", candidate="new").differences
    assert rows.set_index("measure")["n_pairs"].to_dict() == {
        "pass@1": 15, "pass^1": 15, "pass@2": 14, "pass^2": 14,
    }  # fmt: skip
    assert rows["n_unpaired"].tolist() == [5, 5, 6, 6]


def test_clusters_reach_the_difference() -> None:
    scores = trials_table({"old": drawn(40, 2, seed=1), "new": drawn(40, 2, seed=2)})
    scores["cluster"] = scores["example_id"].str[:3] + scores["example_id"].str[3].map(
        lambda digit: "a" if digit < "5" else "b"
    )
    result = pass_at_k(scores, baseline="old", candidate="new")
    row = result.differences.iloc[0]
    plain = et.compare(scores, baseline="old", candidate="new").table.iloc[0]
    assert (row["n_clusters"], row["interval"], row["test"]) == (8, "cr2_t", "cluster_flip")
    columns = ["delta", "se", "df", "ci_low", "ci_high", "p_value"]
    assert row[columns].tolist() == pytest.approx(plain[columns].tolist())
    assert "dependent" in result.methods()


@pytest.mark.parametrize("k", [0, -1, 1.5, True, (), (1, 0), "2"])
def test_k_must_be_a_number_of_trials(k: Any) -> None:
    with pytest.raises(PairingError) as caught:
        pass_at_k(trials_table({"a": [[1.0, 0.0]]}), k=k)
    assert caught.value.path == "k"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"criterion": "solvd"}, "unknown_criterion"),
        ({"systems": "c"}, "unknown_system"),
        ({"systems": []}, "bad_option"),
        ({"scorers": "x"}, "unknown_scorer"),
        ({"baseline": "a"}, "missing_option"),
        ({"baseline": "a", "candidate": "a"}, "same_system"),
        ({"baseline": "a", "candidate": "b", "systems": "a"}, "unknown_system"),
        ({"tasks": "all"}, "bad_option"),
        ({"measure": "mean"}, "bad_option"),
        ({"missing": "drop"}, "bad_option"),
        ({"threshold": math.nan}, "bad_option"),
        ({"threshold": 1, "measure": "passed"}, "bad_option"),
        ({"cluster": "repo"}, "unknown_attribute"),
        ({"cluster": "trial"}, "attribute_not_constant"),
        ({"level": 95}, "bad_fraction"),
    ],
)
def test_what_is_refused(options: dict[str, Any], code: str) -> None:
    scores = trials_table({"a": [[1.0, 0.0]] * 3, "b": [[1.0, 0.0]] * 3})
    with pytest.raises(EvalToolkitError) as caught:
        pass_at_k(scores, **options)
    assert caught.value.code == code


def test_pairwise_rows_have_no_trials_to_pass() -> None:
    scores = trials_table({"a": [[1.0, 0.0]]}, versus="b")
    with pytest.raises(PairingError) as caught:
        pass_at_k(scores)
    assert caught.value.code == "no_rows"


def test_several_runs_are_decided_by_the_user() -> None:
    once = trials_table({"a": drawn(12, 1, seed=1)}, run_id="r1")
    twice = pd.concat([once, trials_table({"a": drawn(12, 1, seed=2)}, run_id="r2")])
    with pytest.raises(PairingError, match="runs='trials'"):
        pass_at_k(twice)
    assert pass_at_k(twice, k=2, runs="trials").table["n_examples"].tolist() == [12]


def test_row_order_does_not_matter_and_it_prints() -> None:
    scores = trials_table({"<i>a</i>": drawn(25, 3, seed=1), "b": drawn(25, 3, seed=2)})
    names = {"baseline": "b", "candidate": "<i>a</i>"}
    one = pass_at_k(scores, k=(1, 2), **names)
    two = pass_at_k(scores.sample(frac=1, random_state=0), k=(2, 1), **names)
    pd.testing.assert_frame_equal(one.table, two.table)
    pd.testing.assert_frame_equal(one.differences, two.differences)
    assert "<i>" not in one._repr_html_()
    assert "pass@2" in one.text
    assert r"\toprule" in one.to_latex()
