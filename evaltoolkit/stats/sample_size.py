"""Sample sizes beyond the plain paired t: clusters, margins, and how uncertain a pilot's sd is."""

from __future__ import annotations

import math

import numpy as np

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.checks import fraction
from evaltoolkit.stats.power import power_t
from evaltoolkit.stats.tails import normal_quantile, standard_error_nodes, t_quantile


def upper_variance_ratio(df: float, *, confidence: float = 0.8) -> float:
    """Return by how much the true variance may exceed an estimated one.

    Multiplied with the estimate it gives the one-sided upper confidence bound of the variance
    of normal values; the root of it does so for the standard deviation.

    Args:
        df: Degrees of freedom of the estimate, positive.
        confidence: One-sided confidence, between 0 and 1.

    Returns:
        The ratio; NaN where there are no degrees of freedom.

    Source:
        Browne, On the use of a pilot sample for sample size determination, 1995.

    Example:
        >>> round(upper_variance_ratio(19), 3)
        1.385
    """
    from scipy import special

    fraction(confidence, name="confidence")
    if not df > 0:
        return math.nan
    return float(df / special.chdtri(df, confidence))


def n_clustered_t(
    difference: float,
    sd: float,
    *,
    cluster_size: float = 1.0,
    icc: float = 0.0,
    alpha: float = 0.05,
    power: float = 0.8,
) -> float:
    """Return how many examples the paired t test needs when examples come in clusters.

    The variance of the mean is inflated by ``1 + (cluster_size - 1) * icc`` and the degrees of
    freedom are the number of clusters less one.

    Args:
        difference: True mean difference to be found, not 0.
        sd: Standard deviation of the differences, positive.
        cluster_size: Examples per cluster, at least 1.
        icc: Intraclass correlation of the differences, from 0 to 1.
        alpha: Level of the two-sided test.
        power: Probability of finding the difference.

    Returns:
        The number of examples with its fraction, in at least two clusters; NaN where nothing
        can be said.

    Source:
        Kish, Survey sampling, 1965 (design effect); the t test on clusters as in Donner and
        Klar, Design and analysis of cluster randomization trials, 2000.

    Example:
        >>> round(n_clustered_t(0.5, 1.0), 2)
        33.37
        >>> round(n_clustered_t(0.5, 1.0, cluster_size=5, icc=0.2), 1)
        66.7
    """
    fraction(alpha, name="alpha")
    fraction(power, name="power")
    if not (sd > 0 and difference != 0):
        return math.nan
    from scipy import optimize

    per_root = abs(difference) / (sd * math.sqrt(1 + (cluster_size - 1) * icc))
    least = 2.0 * cluster_size

    def missing(n: float) -> float:
        return power_t(per_root * math.sqrt(n), n / cluster_size - 1, alpha=alpha) - power

    if missing(least) >= 0:
        return least
    enough = normal_quantile(1 - alpha / 2) + normal_quantile((1 + power) / 2)
    high = 10 * (enough / per_root) ** 2 + 100 * cluster_size
    while missing(high) < 0:
        high *= 2
    return float(optimize.brentq(missing, least, high, xtol=1e-9))


def power_tost(
    difference: float, se: float, df: float, *, margin: float, alpha: float = 0.05
) -> float:
    """Return the power of two one-sided t tests to show equivalence within a margin.

    Args:
        difference: True mean difference.
        se: True standard error of the mean difference, positive.
        df: Its degrees of freedom; fractions and infinity are allowed.
        margin: Largest difference that does not matter, positive.
        alpha: Level of each one-sided test.

    Returns:
        The chance that both tests reject; NaN where `se` is 0 or unknown.

    Raises:
        EvalToolkitError: `margin` is not positive (code ``bad_margin``).

    Source:
        Phillips, Power of the two one-sided tests procedure in bioequivalence, 1990.

    Example:
        >>> round(power_tost(0.0, 0.05, 99, margin=0.15), 3)
        0.818
    """
    from scipy import special

    fraction(alpha, name="alpha")
    if not (margin > 0 and math.isfinite(margin)):
        raise EvalToolkitError(
            f"margin is {margin!r}; it must be a positive number", code="bad_margin",
            path="margin", value=margin,
        )  # fmt: skip
    if not (se > 0 and df > 0):
        return math.nan
    nodes, weights = standard_error_nodes(df)
    reach = t_quantile(1 - alpha, df) * nodes
    both = special.ndtr((margin - difference) / se - reach) - special.ndtr(
        reach - (margin + difference) / se
    )
    return float(weights @ np.maximum(both, 0.0))
