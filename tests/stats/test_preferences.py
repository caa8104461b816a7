"""Clustered Bradley-Terry abilities against statsmodels' binomial GLM with cluster sandwich."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.preferences import clustered_abilities
from evaltoolkit.stats.rankings import bradley_terry


def games(k: int, n: int, *, seed: int, graded: bool) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    pairs = np.array(list(itertools.combinations(range(k), 2)))
    first, second = np.tile(pairs, (n, 1)).T
    clusters = np.repeat(np.arange(n), len(pairs))
    taste = rng.normal(size=(n, k)) + np.linspace(0, 1, k)
    share = 1 / (1 + np.exp(taste[clusters, second] - taste[clusters, first]))
    if not graded:
        share = (rng.random(share.size) < share).astype(float)
    return first, second, share, clusters


@pytest.mark.parametrize("graded", [False, True])
def test_equals_the_binomial_glm_with_cluster_sandwich(graded: bool) -> None:
    import statsmodels.api as sm

    k, n = 4, 60
    first, second, share, clusters = games(k, n, seed=3, graded=graded)
    fit = clustered_abilities(first, second, share, clusters)
    design = (np.eye(k)[first] - np.eye(k)[second])[:, 1:]
    options = {"groups": clusters, "use_correction": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # statsmodels remarks on fractions
        glm = sm.GLM(share, design, family=sm.families.Binomial()).fit(
            cov_type="cluster", cov_kwds=options, tol=1e-13
        )
    relative = fit.ability - fit.ability[0]
    assert relative[1:] == pytest.approx(glm.params, abs=1e-8)
    v = fit.covariance
    variance = v.diagonal()[1:] + v[0, 0] - 2 * v[0, 1:]
    assert np.sqrt(variance) == pytest.approx(glm.bse * math.sqrt(n / (n - 1)), rel=1e-6)
    assert (fit.df, fit.n_clusters) == (n - 1, n)
    assert fit.ability.sum() == pytest.approx(0)


def test_swapping_sides_changes_nothing() -> None:
    first, second, share, clusters = games(3, 30, seed=4, graded=True)
    one = clustered_abilities(first, second, share, clusters)
    two = clustered_abilities(second, first, 1 - share, clusters)
    assert one.ability == pytest.approx(two.ability)
    assert one.covariance == pytest.approx(two.covariance)


def test_independent_games_come_close_to_the_likelihood() -> None:
    rng = np.random.default_rng(5)
    first, second = np.tile(np.array(list(itertools.combinations(range(3), 2))), (800, 1)).T
    chance = 1 / (1 + np.exp(0.5 * (second - first)))
    share = (rng.random(first.size) < chance).astype(float)
    fit = clustered_abilities(first, second, share, np.arange(first.size))
    wins = np.zeros((3, 3))
    np.add.at(wins, (first, second), share)
    np.add.at(wins, (second, first), 1 - share)
    v = fit.covariance
    robust = np.sqrt(v.diagonal() + v[0, 0] - 2 * v[0])
    assert robust[1:] == pytest.approx(bradley_terry(wins).se[1:], rel=0.05)


def test_one_cluster_has_no_covariance() -> None:
    fit = clustered_abilities([0, 0], [1, 1], [1, 0], ["e", "e"])
    assert np.isnan(fit.covariance).all()


@pytest.mark.parametrize(
    ("share", "code"),
    [([1.2, 0.5], "bad_preference"), ([1.0, 1.0], "separated"), ([math.nan, 1], "not_finite"),
     ([1.0], "bad_shape")],
)  # fmt: skip
def test_mistakes_are_named(share: list[float], code: str) -> None:
    with pytest.raises(EvalToolkitError) as error:
        clustered_abilities([0, 0], [1, 1], share, [0, 1])
    assert error.value.code == code
