"""Plans from a pilot: what is estimated, what is said, what is refused."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import evaltoolkit as et
from evaltoolkit import stats
from evaltoolkit.planning import plan
from tests.comparison.builders import paired_cells, two_systems

NAMES = {"baseline": "old", "candidate": "new"}


def repeated(n: int, trials: int, *, seed: int = 0, noise: float = 1.0) -> pd.DataFrame:
    """Scores with variance 1 of the expected differences, and noise in every trial."""
    rng = np.random.default_rng(seed)
    shift = {"old": np.zeros(n), "new": rng.normal(size=n)}
    level = rng.normal(size=n)
    parts = [
        two_systems(
            (level + shift["old"] + noise * rng.normal(size=n)).tolist(),
            (level + shift["new"] + noise * rng.normal(size=n)).tolist(),
            criterion="quality",
            trial=trial,
        )
        for trial in range(trials)
    ]
    return pd.concat(parts, ignore_index=True)


def test_variance_components_of_a_pilot_are_found() -> None:
    result = plan(repeated(3000, 3), **NAMES, difference=0.1)
    assert result.settings["variance_of_expected"] == pytest.approx(1.0, abs=0.1)
    assert result.settings["variance_between_trials"] == pytest.approx(2.0, abs=0.1)
    rows = result.table[result.table["scenario"] == "pilot"].set_index("trials")
    pilot = result.settings["pilot"]
    assert rows.loc[3, "sd"] == pytest.approx(pilot["sd"])
    assert rows.loc[10, "n"] < rows.loc[1, "n"] / 2


def test_the_sd_at_the_pilots_own_trials_is_the_observed_one() -> None:
    pilot = repeated(40, 2, seed=3)
    means = pilot.groupby(["system", "example_id"])["score"].mean().unstack("system")
    d = (means["new"] - means["old"]).to_numpy()
    table = plan(pilot, **NAMES, difference=0.3).table.set_index(["scenario", "trials"])
    assert table.loc[("pilot", 2), "sd"] == pytest.approx(np.std(d, ddof=1))
    ratio = table.loc[("pilot_upper_80", 2), "sd"] / table.loc[("pilot", 2), "sd"]
    assert ratio**2 == pytest.approx(39 / 29.8, rel=0.15)
    assert ratio > 1


def test_zero_one_pilots_plan_for_mcnemar_and_bound_the_disagreement() -> None:
    result = plan(paired_cells(50, 12, 8, 30), **NAMES, difference=0.05)
    table = result.table.set_index("scenario")
    assert result.settings["disagreement"] == pytest.approx(0.2)
    assert table.loc["pilot", "n"] == plan(difference=0.05, agreement=0.8).answer
    upper = stats.wilson(20, 100, level=0.6).high
    assert table.loc["pilot_upper_80", "n"] == plan(difference=0.05, agreement=1 - upper).answer
    assert "cannot say what more trials would bring" in result.conclusion()
    assert "upper 80 % bound" in result.conclusion()


def test_the_observed_difference_plays_no_part() -> None:
    pilot = repeated(60, 2)
    moved = pilot.assign(score=pilot["score"].where(pilot["system"] == "old", pilot["score"] + 5))
    before, after = (plan(p, **NAMES, difference=0.3).table["n_exact"] for p in (pilot, moved))
    assert after.tolist() == pytest.approx(before.tolist())


def test_row_order_is_irrelevant() -> None:
    pilot = repeated(60, 2).assign(cluster=lambda t: t["example_id"].str[-2:].astype(int) % 25)
    for method in (None, "t"):
        one = plan(pilot, **NAMES, difference=0.5, method=method)
        other = plan(pilot.sample(frac=1, random_state=4), **NAMES, difference=0.5, method=method)
        pd.testing.assert_frame_equal(one.table, other.table, check_exact=True)
    free = pilot.drop(columns="cluster")
    simulated = [
        plan(p, **NAMES, n=40, difference=0.5, method="simulation").answer
        for p in (free, free.sample(frac=1, random_state=4))
    ]
    assert simulated[0] == simulated[1]


def test_clusters_of_a_pilot_count_and_can_be_set_aside() -> None:
    rng = np.random.default_rng(8)
    common = np.repeat(rng.normal(size=30), 5)
    d = common + rng.normal(size=150)
    pilot = two_systems([0.0] * 150, d.tolist(), cluster=[f"c{i // 5}" for i in range(150)] * 2)
    clustered = plan(pilot, **NAMES, difference=0.4)
    assert clustered.settings["icc"] == pytest.approx(stats.anova_icc(d, np.arange(150) // 5).icc)
    assert clustered.settings["cluster_size"] == pytest.approx(5)
    assert clustered.settings["pilot"]["n_units"] == 30
    free = plan(pilot, **NAMES, difference=0.4, icc=0)
    assert free.answer < clustered.answer / 2
    assert "clusters of about 5" in clustered.conclusion()


def test_simulation_agrees_with_the_t_formula_for_tame_differences() -> None:
    pilot = repeated(200, 1)
    formula = plan(pilot, **NAMES, n=100, difference=0.5).answer
    simulated = plan(pilot, **NAMES, n=100, difference=0.5, method="simulation").answer
    assert simulated == pytest.approx(formula, abs=0.03)
    smallest = plan(pilot, **NAMES, n=100, method="simulation").answer
    assert smallest == pytest.approx(plan(pilot, **NAMES, n=100).answer, rel=0.05)


def test_lost_pairs_are_planned_for() -> None:
    pilot = repeated(40, 1)
    lost = pilot["example_id"].isin(["e0000", "e0001", "e0002", "e0003"])
    pilot.loc[lost & (pilot["system"] == "new"), ["score", "status"]] = [np.nan, "system_error"]
    result = plan(pilot, **NAMES, difference=0.5)
    start = math.ceil(result.answer * 40 / 36)
    assert f"start with about {start:,}" in result.conclusion()


def test_a_tiny_pilot_is_loud() -> None:
    with pytest.warns(et.EvalToolkitWarning, match="only 8 pairs"):
        result = plan(repeated(8, 1), **NAMES, difference=0.5)
    assert result.conclusion().startswith("Note: the pilot has only 8 pairs")


def test_what_a_pilot_cannot_tell_is_a_named_error() -> None:
    good = repeated(30, 2)
    other = good.assign(criterion="tone")
    one = good[(good["system"] == "old") | (good["trial"] == 0)]
    single = good.assign(cluster="only")
    cases = [
        ("missing_option", good, {"candidate": None}),
        ("unknown_system", good, {"candidate": "newer"}),
        ("same_system", good, {"candidate": "old"}),
        ("unknown_criterion", pd.concat([good, other]), {}),
        ("unknown_criterion", good, {"criterion": "tone"}),
        ("several_hypotheses", pd.concat([good.assign(task="a"), good.assign(task="b")]), {}),
        ("too_few_pairs", good[good["example_id"] == "e0001"], {}),
        ("no_spread", two_systems([0.5] * 9, [0.7] * 9), {}),
        ("no_spread", paired_cells(10, 0, 0, 10), {}),
        ("uneven_trials", one, {}),
        ("one_cluster", single, {}),
        ("bad_option", good, {"sd": 1.0}),
        ("impossible_agreement", paired_cells(40, 1, 1, 40), {}),
        ("unknown_trial_variance", good[good["trial"] == 0], {"trials": [1, 3]}),
    ]
    for code, pilot, change in cases:
        with pytest.raises(et.EvalToolkitError) as caught:
            plan(pilot, **{**NAMES, "difference": 0.3, **change})
        assert caught.value.code == code, (code, str(caught.value))


def test_the_bundled_run_answers_more_items_or_more_trials(bundled_data: Path) -> None:
    scores = et.read_scores(bundled_data / "smollm2_quantisation" / "scores.jsonl")
    result = plan(scores, baseline="q8_0", candidate="q4_0", criterion="answer", difference=0.03)
    said = result.conclusion()
    first = result.table.iloc[0]
    assert f"you need {first['n']:,} examples" in said
    assert "To see a difference of 0.03 in answer (q4_0 against q8_0) with 80 % power" in said
    assert "More examples or more trials?" in said
    assert "upper 80 % bound" in said
    # At the run's own three trials the table must repeat what the pairs themselves show.
    answers = scores[(scores["criterion"] == "answer") & scores["score"].notna()]
    means = answers.groupby(["system", "example_id"])["score"].mean().unstack("system")
    d = (means["q4_0"] - means["q8_0"]).dropna()
    own = result.table[(result.table["scenario"] == "pilot") & (result.table["trials"] == 3)]
    assert own["sd"].iloc[0] == pytest.approx(d.std())
    assert "observed" in result.methods()
