"""Judge-corrected means of several arms that share examples, and their differences.

A corrected mean is (to first order) a sum of one small contribution per example. Differences of
such means have the differences of the contributions, so examples that two arms share count as
pairs without any assumption that the judge's bias is the same in both.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evaltoolkit.stats.checks import cluster_codes, finite_vector, same_length, whole
from evaltoolkit.stats.types import Floats


class Contributions(NamedTuple):
    """What each example adds to the error of a corrected mean.

    Attributes:
        labelled: Of the labelled examples, in their order.
        judge_only: Of the examples without a label, in their order.
    """

    labelled: Floats
    judge_only: Floats


def mean_contributions(values: ArrayLike) -> Floats:
    """Return what each value adds to the error of the plain mean.

    Example:
        >>> mean_contributions([0.0, 1.0])
        array([-0.25,  0.25])
    """
    array = finite_vector(values, name="values")
    return (array - array.mean()) / array.size if array.size else array


def ppi_contributions(
    human: ArrayLike, judge: ArrayLike, judge_only: ArrayLike, *, weight: float
) -> Contributions:
    """Return what each example adds to the error of a prediction-powered mean.

    Args:
        human: People's scores of the labelled examples.
        judge: The judge's scores of the same examples.
        judge_only: The judge's scores of the examples without labels.
        weight: The judge's weight, see `evaltoolkit.stats.ppi_mean`.

    Source:
        Angelopoulos et al., Prediction-powered inference, 2023: the sum of their squares is
        the squared standard error given there.

    Example:
        >>> ppi_contributions([1, 0], [1, 1], [1, 0], weight=1.0).labelled
        array([ 0.25, -0.25])
    """
    y, f = finite_vector(human, name="human"), finite_vector(judge, name="judge")
    same_length(y, f, names=("human", "judge"))
    others = weight * finite_vector(judge_only, name="judge_only")
    return Contributions(mean_contributions(y - weight * f), mean_contributions(others))


def contributions_se(
    contributions: ArrayLike, clusters: Iterable[Hashable], *, units: int
) -> float:
    """Return the standard error of what the contributions add up to.

    Args:
        contributions: One per example; of a difference: candidate's minus baseline's.
        clusters: The id of each example's cluster, or of the example itself.
        units: Number of clusters (or examples) that carry labels, in the arm with fewer:
            the small-sample factor is units / (units - 1).

    Returns:
        The standard error; NaN with fewer than two units.

    Source:
        Liang and Zeger, Longitudinal data analysis using generalized linear models, 1986
        (clustered sums of influence values), with the factor of CR1.

    Example:
        >>> d = [1.0, 0.0, 2.0, 1.0]
        >>> round(contributions_se(mean_contributions(d), range(4), units=4), 4)
        0.4082
    """
    values = finite_vector(contributions, name="contributions")
    codes = cluster_codes(clusters, values.size)
    if whole(units, name="units") < 2:
        return math.nan
    sums = np.bincount(codes, weights=values)
    return math.sqrt(float(sums @ sums) * units / (units - 1))
