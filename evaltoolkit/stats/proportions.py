"""Intervals for one proportion."""

from __future__ import annotations

import math

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.checks import fraction, whole
from evaltoolkit.stats.tails import normal_quantile
from evaltoolkit.stats.types import Interval


def wilson(x: int, n: int, *, level: float = 0.95) -> Interval:
    """Return Wilson's score interval: the default for a pass rate.

    Args:
        x: Number of passes.
        n: Number of examples.
        level: Confidence level between 0 and 1.

    Returns:
        The interval; NaN without examples.

    Raises:
        EvalToolkitError: Counts are impossible or `level` is not between 0 and 1.

    Source:
        Wilson, Probable inference, the law of succession, and statistical inference, 1927.

    Example:
        >>> [round(end, 4) for end in wilson(18, 20)]
        [0.699, 0.9721]
    """
    _check(x, n)
    z = normal_quantile((1 + fraction(level, name="level")) / 2)
    if n == 0:
        return Interval(math.nan, math.nan)
    centre = (x + z * z / 2) / (n + z * z)
    half = z * math.sqrt(x * (n - x) / n + z * z / 4) / (n + z * z)
    # At the borders the formula gives 0 and 1 but for rounding.
    return Interval(
        0.0 if x == 0 else centre - half,
        1.0 if x == n else centre + half,
    )


def clopper_pearson(x: int, n: int, *, level: float = 0.95) -> Interval:
    """Return Clopper and Pearson's exact interval: covers at least `level`, often much more.

    Args:
        x: Number of passes.
        n: Number of examples.
        level: Confidence level between 0 and 1.

    Returns:
        The interval; NaN without examples.

    Raises:
        EvalToolkitError: Counts are impossible or `level` is not between 0 and 1.

    Source:
        Clopper and Pearson, The use of confidence or fiducial limits, 1934.

    Example:
        >>> [round(end, 4) for end in clopper_pearson(0, 20)]
        [0.0, 0.1684]
    """
    _check(x, n)
    tail = (1 - fraction(level, name="level")) / 2
    if n == 0:
        return Interval(math.nan, math.nan)
    return Interval(
        0.0 if x == 0 else _beta_quantile(tail, x, n - x + 1),
        1.0 if x == n else _beta_quantile(1 - tail, x + 1, n - x),
    )


def jeffreys(x: int, n: int, *, level: float = 0.95) -> Interval:
    """Return the equal-tailed Bayesian interval under Jeffreys' prior.

    Args:
        x: Number of passes.
        n: Number of examples.
        level: Probability of the interval, between 0 and 1.

    Returns:
        The interval; NaN without examples. At 0 or n passes it does not reach 0 or 1.

    Raises:
        EvalToolkitError: Counts are impossible or `level` is not between 0 and 1.

    Source:
        Brown, Cai and DasGupta, Interval estimation for a binomial proportion, 2001.

    Example:
        >>> [round(end, 4) for end in jeffreys(18, 20)]
        [0.7161, 0.9786]
    """
    _check(x, n)
    tail = (1 - fraction(level, name="level")) / 2
    if n == 0:
        return Interval(math.nan, math.nan)
    a, b = x + 0.5, n - x + 0.5
    return Interval(_beta_quantile(tail, a, b), _beta_quantile(1 - tail, a, b))


def _check(x: int, n: int) -> None:
    whole(x, name="x")
    whole(n, name="n")
    if x > n:
        raise EvalToolkitError(
            f"x = {x} passes of n = {n} examples; x must not exceed n",
            code="bad_count",
            path="x",
            value=x,
        )


def _beta_quantile(probability: float, a: float, b: float) -> float:
    from scipy import special

    return float(special.betaincinv(a, b, probability))
