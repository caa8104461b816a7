"""Showing that a difference is small: equivalence and non-inferiority of means.

The margin must be fixed before the scores are seen, and "not significantly different" is not
equivalence.
"""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.paired import paired_t
from evaltoolkit.stats.score_interval import Equivalence, tango_equivalence
from evaltoolkit.stats.tails import t_tail

__all__ = ["Equivalence", "noninferiority", "tango_equivalence", "tost", "tost_paired"]


def tost(mean: float, se: float, df: float, *, low: float, high: float) -> Equivalence:
    """Test with two one-sided tests whether a mean lies between two margins.

    Equivalence at level alpha means that the interval of level ``1 - 2 * alpha`` lies inside
    the margins.

    Args:
        mean: Estimated mean difference.
        se: Its standard error.
        df: Degrees of freedom; fractions and infinity are allowed.
        low: Lower margin.
        high: Upper margin, above `low`.

    Returns:
        One-sided p-values against "mean <= low" and "mean >= high", and the larger of them.
        NaN where `se` is 0 or unknown.

    Raises:
        EvalToolkitError: `low` is not below `high` (code ``bad_margin``).

    Source:
        Schuirmann, A comparison of the two one-sided tests procedure and the power approach,
        1987.

    Example:
        >>> round(tost(0.0, 0.1, 50, low=-0.3, high=0.3).p_value, 4)
        0.0021
    """
    if not low < high:
        raise EvalToolkitError(
            f"the margins are {low} and {high}; the lower one must be below the upper one",
            code="bad_margin",
            path="low",
            value=(low, high),
        )
    p_low = _one_sided(mean - low, se, df)
    p_high = _one_sided(high - mean, se, df)
    return Equivalence(p_low, p_high, max(p_low, p_high))


def tost_paired(d: ArrayLike, *, low: float, high: float) -> Equivalence:
    """Test whether the mean of paired differences lies between two margins.

    Args:
        d: Differences candidate - baseline.
        low: Lower margin.
        high: Upper margin, above `low`.

    Returns:
        As `tost`; NaN where all differences are equal.

    Raises:
        EvalToolkitError: A difference is not finite, or `low` is not below `high`.

    Example:
        >>> tost_paired([0.1, -0.1, 0.2, -0.2, 0.0], low=-0.5, high=0.5).p_value < 0.01
        True
    """
    estimate = paired_t(d)
    return tost(estimate.mean, estimate.se, estimate.df, low=low, high=high)


def noninferiority(mean: float, se: float, df: float, *, margin: float) -> float:
    """Test whether a mean is above ``-margin``.

    Args:
        mean: Estimated mean difference, higher is better.
        se: Its standard error.
        df: Degrees of freedom; fractions and infinity are allowed.
        margin: The loss that would matter, positive.

    Returns:
        One-sided p-value against "mean <= -margin"; NaN where `se` is 0 or unknown.

    Raises:
        EvalToolkitError: `margin` is not positive (code ``bad_margin``).

    Example:
        >>> round(noninferiority(0.0, 0.1, 50, margin=0.3), 4)
        0.0021
    """
    if not margin > 0:
        raise EvalToolkitError(
            f"margin is {margin}; it must be positive: the loss that would matter",
            code="bad_margin",
            path="margin",
            value=margin,
        )
    return _one_sided(mean + margin, se, df)


def _one_sided(distance: float, se: float, df: float) -> float:
    return t_tail(distance / se, df) if se > 0 and df > 0 else math.nan
