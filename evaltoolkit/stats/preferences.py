"""Bradley-Terry abilities from preferences that come in clusters, such as examples."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.checks import cluster_codes, finite_vector, same_length, whole
from evaltoolkit.stats.rankings import bradley_terry
from evaltoolkit.stats.types import Floats


class Abilities(NamedTuple):
    """Log-abilities of systems with a cluster-robust covariance.

    Attributes:
        ability: (k,) log-abilities that sum to 0; a difference of 1 means odds of e to 1.
        covariance: (k, k) of the abilities; NaN with fewer than two clusters.
        df: Degrees of freedom for t intervals: clusters - 1.
        n_clusters: Number of clusters.
    """

    ability: Floats
    covariance: Floats
    df: float
    n_clusters: int


def clustered_abilities(
    first: ArrayLike, second: ArrayLike, preference: ArrayLike, clusters: ArrayLike
) -> Abilities:
    """Fit Bradley-Terry abilities with standard errors that respect clusters.

    One example is judged for many pairs, and graded preferences vary less than coin flips, so
    the standard errors of the likelihood are wrong in both directions. The sandwich sums the
    score contributions of each cluster and carries the factor G / (G - 1).

    Args:
        first: Index of one system of each judgement, from 0.
        second: Index of the other.
        preference: How far the first is preferred, from 0 to 1; a tie is 0.5.
        clusters: The cluster of each judgement, usually its example.

    Raises:
        EvalToolkitError: A preference lies outside 0 to 1, lengths differ, or some systems
            never lose to the others (code ``separated``).

    Source:
        Liang and Zeger, Longitudinal data analysis using generalized linear models, 1986;
        Papke and Wooldridge, Econometric methods for fractional response variables, 1996.

    Example:
        >>> fit = clustered_abilities([0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, 0], [1, 2, 3, 4])
        >>> fit.ability.round(4), round(float(fit.covariance[0, 0]) ** 0.5, 4)
        (array([ 0.5493, -0.5493]), 0.6667)
    """
    share = finite_vector(preference, name="preference")
    ends = [finite_vector(each, name=n).astype(int) for each, n in ((first, "f"), (second, "s"))]
    for each in ends:
        same_length(each.astype(np.float64), share, names=("first", "preference"))
    bad = np.flatnonzero((share < 0) | (share > 1))
    if bad.size:
        raise EvalToolkitError(
            f"{bad.size} preference(s) lie outside 0 to 1, first {share[bad[0]]:g}; a preference "
            "is the share of a win, a tie 0.5",
            code="bad_preference",
            path=f"preference[{int(bad[0])}]",
            value=float(share[bad[0]]),
        )
    k = whole(1 + max(int(each.max(initial=0)) for each in ends), name="systems", least=2)
    wins = np.zeros((k, k))
    np.add.at(wins, (ends[0], ends[1]), share)
    np.add.at(wins, (ends[1], ends[0]), 1 - share)
    ability = bradley_terry(wins).ability
    codes = cluster_codes(np.asarray(clusters), share.size)
    return _centred(ability, _sandwich(ability, ends[0], ends[1], share, codes), codes)


def _sandwich(
    ability: Floats, first: Floats, second: Floats, share: Floats, codes: np.ndarray
) -> Floats:
    """Covariance of the abilities relative to system 0, whose row and column are 0."""
    k, groups = ability.size, int(codes.max(initial=-1)) + 1
    covariance = np.full((k, k), math.nan)
    if groups < 2:
        return covariance
    design = np.eye(k)[first] - np.eye(k)[second]
    chance = 1 / (1 + np.exp(-(design @ ability)))
    scores = np.zeros((groups, k))
    residual = share - chance
    residual[np.abs(residual) <= 1e-9] = 0.0
    np.add.at(scores, codes, residual[:, None] * design)
    information = (design * (chance * (1 - chance))[:, None]).T @ design
    bread = np.linalg.inv(information[1:, 1:])
    covariance[:] = 0.0
    meat = scores[:, 1:].T @ scores[:, 1:] * (groups / (groups - 1))
    covariance[1:, 1:] = bread @ meat @ bread
    return covariance


def _centred(ability: Floats, covariance: Floats, codes: np.ndarray) -> Abilities:
    """Turn abilities relative to one system into abilities that sum to 0."""
    k, groups = ability.size, int(codes.max(initial=-1)) + 1
    turn = np.eye(k) - 1 / k
    return Abilities(ability - ability.mean(), turn @ covariance @ turn, groups - 1.0, groups)
