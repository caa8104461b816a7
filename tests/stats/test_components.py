"""Components of variance, their intervals, and how many trials pay."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltoolkit import stats
from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.components import best_trials, difference_components, trial_components

SEEDS = st.integers(0, 2**32 - 1)

# Davies, Statistical methods in research and production, 1947 (yield of dyestuff, 6 x 5)
DYESTUFF = [
    [1545, 1440, 1440, 1520, 1580],
    [1540, 1555, 1490, 1560, 1495],
    [1595, 1550, 1605, 1510, 1560],
    [1445, 1440, 1595, 1465, 1545],
    [1595, 1630, 1515, 1635, 1625],
    [1520, 1455, 1450, 1480, 1445],
]


def test_dyestuff() -> None:
    """As lme4 and the analysis of variance give it: 1764.05, 2451.25, SE 19.383412."""
    found = trial_components(DYESTUFF)
    assert found.var_item == pytest.approx(1764.05)
    assert found.var_trial == pytest.approx(2451.25)
    assert found.se == pytest.approx(19.383412, abs=1e-6)
    assert not found.truncated
    assert found.var_trial_ends.low < 2451.25 < found.var_trial_ends.high


@given(SEEDS)
@settings(max_examples=25, deadline=None)
def test_uneven_trials_agree_with_the_analysis_of_variance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    trials = [rng.normal(rng.normal(), 1, rng.integers(1, 6)) for _ in range(12)]
    found, plain = trial_components(trials, draws=50), stats.variance_components(trials)
    assert (found.var_item, found.var_trial, found.mean) == pytest.approx(
        (plain.var_item, plain.var_trial, plain.mean), rel=1e-9, abs=1e-12
    )


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_a_difference_from_a_constant_system_is_the_other_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    trials = (rng.normal(size=(15, 1)) + rng.normal(size=(15, 3))).tolist()
    still = [[0.5, 0.5]] * 15
    found, plain = difference_components(still, trials), trial_components(trials)
    assert (found.var_item, found.var_trial, found.se) == pytest.approx(
        (plain.var_item, plain.var_trial, plain.se), rel=1e-9, abs=1e-12
    )
    assert found.mean == pytest.approx(plain.mean - 0.5)


def test_swapping_the_systems_changes_only_the_sign() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(20, 3)).tolist(), rng.normal(size=(20, 2)).tolist()
    one, two = difference_components(a, b), difference_components(b, a)
    assert one.mean == pytest.approx(-two.mean)
    assert (one.var_item, one.var_trial, *one.icc_ends) == pytest.approx(
        (two.var_item, two.var_trial, *two.icc_ends)
    )


def test_differences_find_the_truth() -> None:
    rng = np.random.default_rng(8)
    items = []
    for _ in range(200):
        shared, effect = rng.normal(size=(100, 1)), 0.7 * rng.normal(size=(100, 1))
        old = shared + 1.0 * rng.normal(size=(100, 3))
        new = shared + effect + 0.5 * rng.normal(size=(100, 4))
        found = difference_components(old.tolist(), new.tolist(), draws=2)
        items.append((found.var_item, found.var_trial))
    assert np.mean(items, axis=0) == pytest.approx([0.49, 1.25], rel=0.05)


def test_negative_estimates_are_cut_off_and_said_so() -> None:
    found = trial_components([[0, 1], [1, 0], [0, 1]])
    assert (found.var_item, found.icc, found.truncated) == (0.0, 0.0, True)
    assert found.var_trial == pytest.approx(0.5)


def test_trials_that_agree_leave_no_noise_and_no_interval_without_width() -> None:
    found = trial_components([[0.1] * 3, [0.7] * 3, [0.1] * 3, [0.2] * 3])
    assert (found.var_trial, found.icc, found.truncated) == (0.0, 1.0, False)
    assert math.isnan(found.var_trial_ends.low)
    assert math.isnan(found.icc_ends.high)
    assert found.var_item == pytest.approx(np.var([0.1, 0.7, 0.1, 0.2], ddof=1))


def test_constant_scores_have_no_shares() -> None:
    found = trial_components([[1.0, 1.0]] * 5)
    assert (found.var_item, found.var_trial, found.truncated) == (0.0, 0.0, False)
    assert math.isnan(found.icc)
    assert math.isnan(found.var_item_ends.low)


@pytest.mark.parametrize("trials", [[], [[1.0, 0.0]], [[1.0], [0.0], [1.0]]])
def test_too_little_gives_nothing(trials: list[list[float]]) -> None:
    found = trial_components(trials)
    assert math.isnan(found.var_item)
    assert math.isnan(found.var_trial)


def test_one_side_without_repeats_gives_nothing() -> None:
    found = difference_components([[1.0], [0.0], [1.0]], [[1.0, 0.0]] * 3)
    assert math.isnan(found.var_trial)
    assert found.mean == pytest.approx(-1 / 6)


def test_bad_input_is_refused() -> None:
    with pytest.raises(EvalToolkitError, match=r"trials\[1\] is empty"):
        trial_components([[1.0], []])
    with pytest.raises(EvalToolkitError, match="pair them first"):
        difference_components([[1.0, 0.0]], [])
    with pytest.raises(EvalToolkitError):
        trial_components([[math.nan, 1.0], [1.0, 0.0]])


def test_the_same_seed_gives_the_same_numbers() -> None:
    assert trial_components(DYESTUFF, seed=4) == trial_components(DYESTUFF, seed=4)


def test_intervals_of_pass_fail_trials_keep_their_promise() -> None:
    """50 examples, 4 trials, beta-binomial: 95 % nominal, at least 90 % for each part."""
    rng = np.random.default_rng(5)
    a, b = 1.0, 1.5
    p = a / (a + b)
    item = p * (1 - p) / (a + b + 1)
    truth = np.array([item, p * (1 - p) - item, 1 / (a + b + 1)])
    hits = np.zeros(3)
    for _ in range(300):
        scores = rng.random((50, 4)) < rng.beta(a, b, (50, 1))
        found = trial_components(scores.astype(float).tolist(), draws=400)
        ends = np.array([found.var_item_ends, found.var_trial_ends, found.icc_ends])
        hits += (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    assert (hits / 300 >= 0.90).all()


@pytest.mark.parametrize(
    ("item", "trial", "costs", "expected"),
    [
        (0.04, 0.16, (0, 1), 1),  # examples are free: never repeat
        (0.04, 0.16, (9, 1), 6),  # sqrt(4 * 9)
        (0.04, 0.16, (9, 4), 3),
        (0.16, 0.04, (1, 1), 1),  # sqrt(.25) rounds up to the least
        (0.0, 0.2, (0, 1), 1),
        (0.0, 0.2, (1, 1), math.inf),
        (0.2, 0.0, (5, 1), 1),
    ],
)
def test_best_trials(
    item: float, trial: float, costs: tuple[float, float], expected: float
) -> None:
    found = best_trials(item, trial, example_cost=costs[0], trial_cost=costs[1])
    assert found == expected
    if item > 0 and math.isfinite(expected):
        ks = np.arange(1, 60)
        price = (item + trial / ks) * (costs[0] + ks * costs[1])
        assert price[int(expected) - 1] == pytest.approx(price.min())


def test_unknown_components_and_bad_costs() -> None:
    assert math.isnan(best_trials(math.nan, 0.1))
    for costs in ({"example_cost": -1}, {"trial_cost": 0}, {"example_cost": math.inf}):
        with pytest.raises(EvalToolkitError) as caught:
            best_trials(0.1, 0.1, **costs)
        assert caught.value.code == "bad_cost"
