"""CR2 errors of regressions: closed forms, brute force with dummies, separation."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.robust import (
    fractional_logit,
    least_squares,
    separation,
    within_groups,
)

Floats = NDArray[np.float64]


def brute_force(
    x: Floats, residuals: Floats, clusters: NDArray[np.intp], which: int
) -> tuple[float, float]:
    """CR2 and Satterthwaite by their definitions, with whole n x n matrices."""
    n = len(x)
    bread = np.linalg.pinv(x.T @ x)
    rest = np.eye(n) - x @ bread @ x.T
    meat = np.zeros_like(bread)
    columns = []
    for g in np.unique(clusters):
        here = np.flatnonzero(clusters == g)
        values, vectors = np.linalg.eigh(rest[np.ix_(here, here)])
        half = np.where(values > 1e-8, np.maximum(values, 1e-8) ** -0.5, 0.0)
        adjust = vectors @ np.diag(half) @ vectors.T
        score = x[here].T @ adjust @ residuals[here]
        meat += np.outer(score, score)
        columns.append(rest[:, here] @ adjust @ x[here] @ bread[:, which])
    gram = np.column_stack(columns).T @ np.column_stack(columns)
    df = np.trace(gram) ** 2 / np.sum(gram**2)
    return math.sqrt((bread @ meat @ bread)[which, which]), float(df)


def clustered(seed: int, n: int = 40, groups: int = 9) -> tuple[Floats, Floats, NDArray[np.intp]]:
    rng = np.random.default_rng(seed)
    clusters = np.sort(rng.integers(groups, size=n))
    x = rng.normal(size=n) + 0.5 * rng.normal(size=groups)[clusters]
    return x, 0.3 * x + rng.normal(size=n) + rng.normal(size=groups)[clusters], clusters


def test_an_intercept_alone_is_the_cluster_mean() -> None:
    """Numbers of clubSandwich (R), from the entry cluster_se_unequal of the reference values."""
    path = Path(__file__).with_name("reference_values.json")
    entries = {each["id"]: each for each in json.loads(path.read_text("utf-8"))["values"]}
    given, expected = (entries["cluster_se_unequal"][name] for name in ("input", "expected"))
    fit = least_squares([[1.0]] * len(given["delta"]), given["delta"], given["cluster"])
    assert fit.estimate[0] == pytest.approx(expected["mean"])
    assert fit.se[0] == pytest.approx(expected["CR2"], abs=1e-7)
    assert fit.df[0] == pytest.approx(expected["CR2_df"], abs=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_least_squares_against_the_definition(seed: int) -> None:
    x, y, clusters = clustered(seed)
    design = np.column_stack([x, np.ones_like(x)])
    fit = least_squares(design, y, clusters)
    slope, intercept = np.polyfit(x, y, 1)
    assert fit.estimate == pytest.approx([slope, intercept])
    residuals = y - design @ fit.estimate
    for which in (0, 1):
        expected = brute_force(design, residuals, clusters, which)
        assert (fit.se[which], fit.df[which]) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(4))
def test_absorbed_groups_equal_dummies(seed: int) -> None:
    """Groups within clusters may be subtracted: slope, error and df stay the same."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(15), 3)
    clusters = groups // 2
    x, y = rng.normal(size=(45, 2)), rng.normal(size=45)
    fit = least_squares(within_groups(x, groups), within_groups(y[:, None], groups)[:, 0], clusters)
    full = np.column_stack([x, np.eye(15)[groups]])
    coefficients = np.linalg.lstsq(full, y, rcond=None)[0]
    assert fit.estimate == pytest.approx(coefficients[:2])
    expected = brute_force(full, y - full @ coefficients, clusters, 0)
    assert (fit.se[0], fit.df[0]) == pytest.approx(expected)


def test_single_rows_give_hc2() -> None:
    from statsmodels.regression.linear_model import OLS

    x, y, _ = clustered(3)
    design = np.column_stack([x, np.ones_like(x)])
    fit = least_squares(design, y, np.arange(len(x)))
    assert fit.se == pytest.approx(OLS(y, design).fit().HC2_se)


def test_logit_against_the_definition_and_large_samples() -> None:
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_linear_model import GLM

    rng = np.random.default_rng(8)
    x = rng.normal(size=400)
    y = (rng.random(400) < 1 / (1 + np.exp(-0.8 * x - 0.2))).astype(float)
    y[::9] = 0.5
    clusters = np.arange(400) // 2
    design = np.column_stack([x, np.ones(400)])
    fit = fractional_logit(design, y, clusters)
    robust = GLM(y, design, family=Binomial()).fit(
        cov_type="cluster", cov_kwds={"groups": clusters}
    )
    assert fit.estimate == pytest.approx(robust.params)
    assert fit.se == pytest.approx(robust.bse, rel=0.02)
    chance = 1 / (1 + np.exp(-design @ fit.estimate))
    weight = np.sqrt(chance * (1 - chance))
    expected = brute_force(design * weight[:, None], (y - chance) / weight, clusters, 0)
    assert (fit.se[0], fit.df[0]) == pytest.approx(expected)


def test_logit_refuses_what_has_no_answer() -> None:
    with pytest.raises(EvalToolkitError, match="predicted perfectly") as caught:
        fractional_logit([[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1], [1, 2, 3, 4])
    assert caught.value.code == "separated"
    with pytest.raises(EvalToolkitError, match="outside 0 to 1"):
        fractional_logit([[1.0], [1.0]], [0, 2], [1, 2])
    with pytest.raises(EvalToolkitError, match="cannot be told apart") as caught:
        least_squares([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]], [1, 2, 4], [1, 2, 3])
    assert caught.value.code == "singular"
    with pytest.raises(EvalToolkitError, match="one row of finite numbers"):
        least_squares([[1.0], [math.nan]], [1, 2], [1, 2])


def test_one_cluster_has_no_error_and_a_perfect_fit_an_error_of_zero() -> None:
    fit = least_squares([[1.0], [2.0], [3.0]], [1, 2, 4], ["a", "a", "a"])
    assert math.isnan(fit.se[0])
    exact = least_squares([[1.0], [2.0], [3.0]], [2, 4, 6], [1, 2, 3])
    assert exact.se[0] == 0


@pytest.mark.parametrize(
    ("x", "share", "groups", "answer"),
    [
        ([1, 2, 3, 4], [0, 0, 1, 1], [0, 0, 0, 0], "up"),
        ([1, 2, 3, 4], [1, 1, 0, 0], [0, 0, 0, 0], "down"),
        ([1, 2, 2, 4], [0, 0, 1, 1], [0, 0, 0, 0], "up"),  # quasi-complete: they meet at 2
        ([1, 2, 3, 4], [0, 1, 0, 1], [0, 0, 0, 0], "none"),
        ([1, 2, 3, 4], [0.5, 0.5, 0.5, 0.5], [0, 0, 0, 0], "none"),
        ([2, 2, 2], [0, 1, 0], [0, 0, 0], "no_variation"),
        ([1, 2, 3], [1, 1, 1], [0, 0, 0], "no_variation"),
        ([1, 2, 8, 9], [0, 1, 0, 1], [0, 0, 1, 1], "up"),  # in each group, not over them
        ([], [], [], "no_variation"),
    ],
)
def test_separation(x: list[float], share: list[float], groups: list[int], answer: str) -> None:
    assert separation(x, share, groups) == answer


@given(st.lists(st.tuples(st.integers(-4, 4), st.sampled_from([0.0, 0.5, 1.0])), max_size=12))
def test_separation_mirrors(rows: list[tuple[int, float]]) -> None:
    x, share = [float(a) for a, _ in rows], [b for _, b in rows]
    mirror = {"up": "down", "down": "up"}
    answer = separation(x, share, [0] * len(x))
    if answer in mirror and separation([-v for v in x], share, [0] * len(x)) == answer:
        return  # both ways at once: all wins and losses at one point
    assert separation([-v for v in x], share, [0] * len(x)) == mirror.get(answer, answer)
