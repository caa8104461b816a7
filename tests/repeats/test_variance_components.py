"""More examples or more trials: components from score tables."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evaltoolkit as et
from evaltoolkit import stats
from evaltoolkit.errors import EvalToolkitError, PairingError
from evaltoolkit.repeats import variance_components
from repeats.test_pass_at_k import drawn, trials_table


def test_the_components_of_one_system() -> None:
    examples = drawn(40, 4, seed=1)
    result = variance_components(trials_table({"a": examples}))
    row, plain = result.table.iloc[0], stats.variance_components(examples)
    assert (row["var_item"], row["var_trial"], row["icc"], row["mean"], row["se"]) == pytest.approx(
        (plain.var_item, plain.var_trial, plain.icc, plain.mean, plain.se)
    )
    assert row["variance_ratio"] == pytest.approx(1 + 3 * plain.icc)
    assert row["se_floor"] == pytest.approx(math.sqrt(plain.var_item / 40))
    assert row["var_item_low"] < row["var_item"] < row["var_item_high"]
    assert (row["n_examples"], row["n_trials"], row["optimal_trials"]) == (40, 160, 1)
    assert "More examples, not more trials" in result.text


def test_designs_by_hand() -> None:
    examples = drawn(40, 4, seed=1)
    result = variance_components(trials_table({"a": examples}), examples=[40, 100], trials=[1, 4])
    plain = stats.variance_components(examples)
    designs = result.designs.set_index(["examples", "trials"])
    assert designs.loc[(40, 4), "se"] == pytest.approx(plain.se)
    assert designs.loc[(100, 1), "se"] == pytest.approx(
        math.sqrt((plain.var_item + plain.var_trial) / 100)
    )
    assert designs.loc[(40, 4), "averaging_effect"] == pytest.approx((1 + 3 * plain.icc) / 4)
    # 160 calls: 160 examples once, or 40 four times
    assert designs.loc[(40, 1), "budget_examples"] == 160
    assert designs.loc[(40, 4), "budget_examples"] == 40
    assert designs.loc[(40, 4), "budget_se"] == pytest.approx(plain.se)
    assert designs.loc[(40, 1), "budget_variance_ratio"] == pytest.approx(1)
    assert designs.loc[(40, 4), "budget_variance_ratio"] == pytest.approx(1 + 3 * plain.icc)


def test_costs_move_the_best_number_of_trials() -> None:
    scores = trials_table({"a": drawn(40, 4, seed=1)})
    result = variance_components(scores, example_cost=20, trials=list(range(1, 30)))
    best = int(result.table["optimal_trials"][0])
    assert best > 1
    designs = result.designs.set_index("trials")["budget_se"]
    assert designs.idxmin() == best
    assert f"{best} trials per example" in result.text


def test_a_difference_has_the_noise_of_both() -> None:
    rng = np.random.default_rng(7)
    shared, effect = rng.normal(size=(60, 1)), 0.5 * rng.normal(size=(60, 1))
    old = (shared + rng.normal(size=(60, 3))).tolist()
    new = (shared + effect + 0.3 + rng.normal(size=(60, 3))).tolist()
    scores = trials_table({"old": old, "new": new}, criterion="quality")
    result = variance_components(scores, baseline="old", candidate="new")
    rows = result.table.set_index("system")
    assert list(rows.index) == ["new", "old", "new − old"]
    row = rows.loc["new − old"]
    assert row["var_trial"] == pytest.approx(rows["var_trial"]["old"] + rows["var_trial"]["new"])
    compared = et.compare(scores, baseline="old", candidate="new").table.iloc[0]
    assert (row["mean"], row["se"]) == pytest.approx((compared["delta"], compared["se"]))
    # what plan() takes from the same pilot
    spread = 60 * compared["se"] ** 2 - row["var_trial"] / 3
    assert row["var_item"] == pytest.approx(spread)
    assert "both systems" in result.methods()


def test_real_trials(shared_data: Path) -> None:
    raw = pd.read_csv(shared_data / "paired" / "tau1_airline_gpt4o_50x4.csv").assign(m="gpt-4o")
    scores = et.tidy_scores(
        raw, system="m", example_id="task_id", trial="trial", criteria="reward", attributes=[]
    )
    row = variance_components(scores).table.iloc[0]
    # counts of passes 0..4: 14, 12, 10, 4, 10 of 50 examples
    counts = np.repeat([0, 1, 2, 3, 4], [14, 12, 10, 4, 10])
    within = float((counts * (4 - counts) / 4).sum()) / 150
    between = 4 * float(np.var(counts / 4, ddof=1))
    assert row["var_trial"] == pytest.approx(within)
    assert row["var_item"] == pytest.approx((between - within) / 4)
    assert row["icc"] == pytest.approx(0.4046, abs=5e-5)


def test_one_trial_only_is_an_error_with_the_remedy() -> None:
    with pytest.raises(PairingError, match="run each example twice or more") as caught:
        variance_components(trials_table({"a": [[1.0], [0.0], [1.0]]}))
    assert caught.value.code == "no_repeats"


def test_a_system_without_repeats_beside_one_with_them_gets_the_reason() -> None:
    scores = trials_table({"a": drawn(30, 3, seed=1), "b": drawn(30, 1, seed=2)})
    result = variance_components(scores, baseline="a", candidate="b")
    rows = result.table.set_index("system")
    assert math.isfinite(rows["var_trial"]["a"])
    for name in ("b", "b − a"):
        assert math.isnan(rows["var_trial"][name])
        assert math.isnan(rows["optimal_trials"][name])
        assert "repeat the examples" in rows["note"][name]
    assert set(result.designs["system"]) == {"a"}


def test_lost_trials_are_left_out_and_counted() -> None:
    scores = trials_table({"a": drawn(30, 3, seed=1)})
    scores.loc[[0, 1, 2, 4], "score"] = math.nan
    scores.loc[[0, 1, 2, 4], "status"] = "system_error"
    row = variance_components(scores).table.iloc[0]
    assert (row["n_examples"], row["n_lost_trials"], row["trials_min"]) == (29, 4, 2)


def test_truncation_is_said() -> None:
    result = variance_components(trials_table({"a": [[1.0, 0.0]] * 25}))
    row = result.table.iloc[0]
    assert (row["var_item"], row["truncated"], row["variance_ratio"]) == (0.0, True, 1.0)
    assert "set to 0" in row["note"]
    assert "set to 0" in result.text
    assert "both say as much" in result.text
    assert "endless" not in result.text


def test_trials_that_agree_and_constant_scores() -> None:
    agree = variance_components(trials_table({"a": [[1.0, 1.0]] * 15 + [[0.0, 0.0]] * 15}))
    row = agree.table.iloc[0]
    assert (row["var_trial"], row["icc"], row["variance_ratio"]) == (0.0, 1.0, 2.0)
    assert math.isnan(row["var_trial_low"])
    assert "nothing new" in row["note"]
    still = variance_components(trials_table({"a": [[1.0, 1.0]] * 25}))
    assert math.isnan(still.table["icc"][0])
    assert "no noise to divide" in still.text
    assert still._repr_html_()


def test_few_examples_and_clusters_are_said() -> None:
    scores = trials_table({"a": drawn(8, 3, seed=1)}, cluster="c")
    result = variance_components(scores)
    assert "only 8 examples" in result.table["note"][0]
    assert "taken as independent" in result.text


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"example_cost": -1}, "bad_cost"),
        ({"trial_cost": 0}, "bad_cost"),
        ({"trials": [0]}, "bad_option"),
        ({"examples": 1.5}, "bad_option"),
        ({"system": "z"}, "unknown_system"),
        ({"criterion": "z"}, "unknown_criterion"),
        ({"candidate": "a"}, "missing_option"),
        ({"level": 2}, "bad_fraction"),
    ],
)
def test_what_is_refused(options: dict[str, Any], code: str) -> None:
    with pytest.raises(EvalToolkitError) as caught:
        variance_components(trials_table({"a": drawn(5, 2, seed=1)}), **options)
    assert caught.value.code == code


def test_row_order_and_seed() -> None:
    scores = trials_table({"a": drawn(30, 3, seed=1), "b": drawn(30, 3, seed=2)})
    names = {"baseline": "a", "candidate": "b"}
    one = variance_components(scores, **names)
    two = variance_components(scores.sample(frac=1, random_state=0), **names)
    pd.testing.assert_frame_equal(one.table, two.table)
    pd.testing.assert_frame_equal(one.designs, two.designs)
    other = variance_components(scores, seed=1, **names)
    assert other.table["icc_low"].tolist() != one.table["icc_low"].tolist()
    assert other.table["icc"].tolist() == one.table["icc"].tolist()
