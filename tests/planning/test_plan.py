"""`et.plan`: reference values, laws, what it says, and what it refuses."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltoolkit import EvalToolkitError, EvalToolkitWarning, stats
from evaltoolkit.planning import plan
from evaltoolkit.results import POWER_PLAN_COLUMNS, PowerPlan


def test_reference_values_come_out() -> None:
    """Values of tests/stats/reference_values.json: R, statsmodels, closed forms, enumeration."""
    assert plan(n=50, difference=0.1, sd=0.4).answer == pytest.approx(0.4102702, rel=2e-4)
    assert plan(difference=0.5, sd=1).table["n_exact"].iloc[0] == pytest.approx(33.3672, rel=2e-4)
    assert plan(n=100, sd=0.5).answer == pytest.approx(0.1414867756749, abs=2e-4)
    miller = plan(difference=0.03, sd=1 / 3, trial_variance=1 / 6, method="miller").table
    by_trials = miller.set_index("trials")["n_exact"]
    assert by_trials[1] == pytest.approx(3875.9899922711543, rel=1e-6)
    assert by_trials[10] == pytest.approx(1259.6967474881253, rel=1e-6)
    plain = plan(difference=0.03, sd=1 / 3, method="miller").table
    assert plain["n_exact"].iloc[0] == pytest.approx(968.9974980677886, rel=1e-6)
    smallest = plan(n=198, sd=1 / 3, trial_variance=(1 / 6, 1 / 6), method="miller").table
    by_trials = smallest.set_index("trials")["difference"]
    assert by_trials[1] == pytest.approx(0.1327333278739942, rel=1e-6)
    assert by_trials[10] == pytest.approx(0.0756696392667773, rel=1e-6)
    exact = plan(n=100, difference=0.05, agreement=0.85, method="mcnemar_exact")
    assert exact.answer == pytest.approx(0.1783174251799716, rel=1e-6)
    assert plan(n=100, difference=0.05, agreement=0.85).answer == pytest.approx(0.2394355144, 1e-6)
    assert plan(n=300, difference=0.05, agreement=0.89).answer == pytest.approx(0.7509130823, 1e-6)
    connor = plan(difference=0.05, agreement=0.85, method="connor").table
    assert connor["n_exact"].iloc[0] == pytest.approx(468.56797946031924, rel=1e-6)
    assert connor["n"].iloc[0] == 469


def test_the_table_has_its_columns_and_no_gap() -> None:
    result = plan(difference=0.1, sd=0.3, trial_variance=0.05, trials=[3, 1])
    assert isinstance(result, PowerPlan)
    assert list(result.table.columns) == list(POWER_PLAN_COLUMNS)
    assert result.table["trials"].tolist() == [1, 3]
    assert (result.table["n_scores"] == result.table["n"] * result.table["trials"]).all()
    assert result.table["sd"].tolist() == pytest.approx(
        [math.sqrt(0.09 + 0.1), math.sqrt(0.09 + 0.1 / 3)]
    )
    for text in (result.to_markdown(), result.to_latex(), result._repr_html_()):
        assert "trials" in text


@settings(max_examples=25, deadline=None)
@given(difference=st.floats(0.02, 0.5), sd=st.floats(0.1, 2.0), power=st.floats(0.5, 0.95))
def test_n_difference_and_power_are_three_sides_of_one_thing(
    difference: float, sd: float, power: float
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvalToolkitWarning)
        n = int(plan(difference=difference, sd=sd, power=power).answer)
        reached = plan(n=n, difference=difference, sd=sd).answer
        smallest = plan(n=n, sd=sd, power=power).answer
        if n > 3:
            assert plan(n=n - 1, difference=difference, sd=sd).answer < power
    assert reached >= power - 1e-9
    assert smallest <= difference * (1 + 1e-6)


def test_more_trials_never_ask_for_more_examples_nor_fewer_scores() -> None:
    table = plan(difference=0.03, sd=0.3, trial_variance=0.1, icc=0.2, cluster_size=5).table
    assert table["n"].is_monotonic_decreasing
    assert table["n_scores"].is_monotonic_increasing
    # Trials reduce noise, not what a cluster shares: the design effect grows.
    assert table["design_effect"].is_monotonic_increasing
    assert table["design_effect"].iloc[0] == pytest.approx(1 + 4 * 0.2 * 0.09 / 0.29)


@pytest.mark.parametrize("clusters", [{}, {"icc": 0.3, "cluster_size": 6}])
def test_where_a_second_trial_begins_to_pay_costs_are_equal(clusters: dict[str, Any]) -> None:
    spread = {"sd": 0.3, "trial_variance": 0.1, **clusters}
    result = plan(difference=0.01, trials=[1, 2], method="miller", **spread)
    example = result.settings["second_trial_worth"]
    costs = result.table["n_exact"].to_numpy() * (example + np.array([1, 2]))
    assert costs[0] == pytest.approx(costs[1])


def test_notes_name_the_designs_that_they_are_about() -> None:
    said = plan(n=[30, 300], sd=1, icc=0.1, cluster_size=10).conclusion()
    assert "At 30 × 1: fewer than 6 clusters" in said


def test_the_planned_cluster_design_has_its_power_in_simulated_evals() -> None:
    variance, shared, noise, size, trials = 0.2, 0.05, 0.15, 5, 2
    row = plan(
        difference=0.3,
        sd=math.sqrt(variance),
        icc=shared / variance,
        cluster_size=size,
        trial_variance=(noise / 2, noise / 2),
        trials=trials,
    ).table.iloc[0]
    groups = int(row["n_clusters"])
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(1000):
        common = rng.normal(0, math.sqrt(shared), size=(groups, 1))
        own = rng.normal(0, math.sqrt(variance - shared + noise / trials), size=(groups, size))
        d = (0.3 + common + own).ravel()
        found += stats.cluster_mean(d, np.repeat(np.arange(groups), size)).p_value < 0.05
    assert found / 1000 == pytest.approx(float(row["power"]), abs=0.05)


def test_the_planned_mcnemar_size_has_its_power_in_simulated_evals() -> None:
    n = int(plan(difference=0.1, agreement=0.7).answer)
    rng = np.random.default_rng(6)
    cells = rng.multinomial(n, [0.2, 0.1, 0.7], size=2000)
    p = np.array([stats.mcnemar_midp(int(wins), int(losses)) for wins, losses, _ in cells])
    assert np.mean(p <= 0.05) == pytest.approx(0.8, abs=0.03)


def test_margins_ask_for_one_sided_tests() -> None:
    plain = plan(margin=0.1, sd=0.5).table.iloc[0]
    assert plain["n"] == math.ceil(stats.n_paired_t(0.1, 0.5, alpha=0.1))
    both = plan(margin=0.1, sd=0.5, method="tost").table.iloc[0]
    assert both["n"] > plain["n"]
    assert both["power"] >= 0.8
    assert "equivalence within ±0.1" in plan(margin=0.1, sd=0.5, method="tost").conclusion()


def test_families_share_alpha() -> None:
    many = plan(difference=0.1, sd=0.4, families=5)
    assert many.answer == plan(difference=0.1, sd=0.4, alpha=0.01).answer
    assert "0.01 each" in many.conclusion()


def test_pass_rates_without_agreement_are_taken_as_independent_and_said_so() -> None:
    with pytest.warns(EvalToolkitWarning, match="independently"):
        loud = plan(p_baseline=0.8, p_candidate=0.9)
    with pytest.warns(EvalToolkitWarning, match="independently"):
        assert "independently" in plan(p_baseline=0.8, p_candidate=0.9).conclusion()
    assert loud.settings["disagreement"] == pytest.approx(0.8 * 0.1 + 0.9 * 0.2)
    assert loud.answer > plan(p_baseline=0.8, p_candidate=0.9, agreement=0.85).answer


def test_too_few_examples_for_any_difference_is_said() -> None:
    result = plan(n=10, agreement=0.85)
    assert math.isnan(result.answer)
    assert "no difference is found" in result.conclusion()
    with pytest.warns(EvalToolkitWarning, match="fewer than 10 examples"):
        lonely = plan(n=5, difference=1, sd=1, icc=0.1, cluster_size=10)
    assert math.isnan(lonely.answer)
    assert "nothing can be said" in lonely.conclusion()


def test_beyond_enumeration_connors_formula_is_named() -> None:
    row = plan(difference=0.005, agreement=0.8).table.iloc[0]
    assert row["n"] == math.ceil(stats.n_mcnemar(0.1025, 0.0975))
    assert "Connor" in row["note"]


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("nothing_to_solve", {"sd": 1}),
        ("nothing_to_solve", {"sd": 1, "n": 50, "difference": 0.1, "power": 0.8}),
        ("no_spread", {"difference": 0.1}),
        ("no_spread", {"difference": 0.1, "sd": 0}),
        ("no_spread", {"difference": 0.1, "agreement": 1}),
        ("no_spread", {"difference": 0.1, "p_baseline": 0.5}),
        ("bad_option", {"difference": 0, "sd": 1}),
        ("bad_option", {"difference": math.nan, "sd": 1}),
        ("bad_option", {"difference": 0.1, "sd": math.inf}),
        ("bad_option", {"difference": 0.1, "sd": 1, "agreement": 0.9}),
        ("bad_option", {"difference": 0.1, "agreement": 90}),
        ("bad_option", {"difference": 0.1, "agreement": 0.8, "p_baseline": 0.95}),
        ("bad_option", {"difference": 0.1, "p_baseline": 0.5, "p_candidate": 0.55}),
        ("bad_option", {"difference": 0.1, "sd": 1, "alpha": 0.5}),
        ("bad_option", {"difference": 0.1, "sd": 1, "power": 0.05}),
        ("bad_option", {"difference": 0.1, "sd": 1, "trial_variance": -1}),
        ("bad_option", {"n": "many", "sd": 1}),
        ("bad_option", {"n": [], "sd": 1}),
        ("bad_option", {"difference": 0.1, "sd": 1, "cluster_size": 0.5}),
        ("bad_fraction", {"difference": 0.1, "sd": 1, "power": 80}),
        ("bad_count", {"n": 1, "sd": 1}),
        ("bad_count", {"difference": 0.1, "sd": 1, "families": 0}),
        ("bad_count", {"difference": 0.1, "sd": 1, "trials": 0}),
        ("bad_margin", {"sd": 1, "margin": 0}),
        ("bad_margin", {"sd": 1, "difference": 0.1, "method": "tost"}),
        ("bad_option", {"sd": 1, "margin": 0.1, "difference": -0.1}),
        ("bad_option", {"sd": 1, "margin": 0.1, "difference": 0.1, "method": "tost"}),
        ("missing_option", {"difference": 0.1, "sd": 1, "icc": 0.1}),
        ("missing_option", {"difference": 0.1, "sd": 1, "cluster_size": 4}),
        ("missing_option", {"difference": 0.1, "sd": 1, "baseline": "old"}),
        ("impossible_agreement", {"difference": 0.2, "agreement": 0.9}),
        ("impossible_agreement", {"difference": 0.02, "p_baseline": 0.98, "agreement": 0.9}),
        (
            "impossible_agreement",
            {"difference": 0.01, "agreement": 0.9, "trial_variance": 0.2},
        ),
        ("unknown_trial_variance", {"difference": 0.1, "sd": 1, "trials": [1, 2]}),
        ("unknown_option", {"difference": 0.1, "sd": 1, "method": "z"}),
        ("method_not_applicable", {"difference": 0.1, "sd": 1, "method": "mcnemar_midp"}),
        ("method_not_applicable", {"n": 50, "agreement": 0.9, "method": "connor"}),
        ("method_not_applicable", {"difference": 0.1, "sd": 1, "method": "simulation"}),
        ("out_of_reach", {"difference": 1e-9, "sd": 1}),
        ("bad_option", {"pilot": 0.03, "difference": 0.1}),
    ],
)
def test_what_has_no_answer_is_a_named_error(code: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(EvalToolkitError) as caught:
        plan(**arguments)
    assert caught.value.code == code
