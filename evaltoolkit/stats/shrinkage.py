"""How far do several estimated effects truly differ, and what is each one likely to be?"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.checks import finite_vector, fraction
from evaltoolkit.stats.types import Floats

GRID = 400
"""Values of the spread over which shrunken estimates are averaged."""


class EffectSpread(NamedTuple):
    """How much effects differ beyond their errors.

    Attributes:
        q: Cochran's Q, the weighted sum of squares about the weighted mean.
        df: Its degrees of freedom, one less than the number of effects.
        i2: Share of the variation that is not error, ``max(0, (q - df) / q)``.
        tau2: Variance of the true effects (Paule and Mandel).
        low: Lower end of the Q-profile interval of `tau2`; NaN where the interval is empty.
        high: Upper end.
    """

    q: float
    df: int
    i2: float
    tau2: float
    low: float
    high: float


class Shrunken(NamedTuple):
    """Effects drawn towards their common mean.

    Attributes:
        mean: Posterior mean of each effect.
        low: Lower end of its equal-tailed interval.
        high: Upper end.
        own_weight: How much of each estimate comes from the own data, 0 to 1.
        centre: Posterior mean of the common mean.
    """

    mean: Floats
    low: Floats
    high: Floats
    own_weight: Floats
    centre: float


def effect_spread(
    effects: ArrayLike, covariance: ArrayLike, *, level: float = 0.95
) -> EffectSpread:
    """Estimate the variance of true effects from estimates with known errors.

    `statsmodels.stats.meta_analysis.combine_effects` gives the same numbers for independent
    effects; here effects may be correlated, as those of slices that share clusters are, and the
    variance gets an interval.

    Args:
        effects: (k,) estimates.
        covariance: (k,) squared standard errors, or their (k, k) covariance.
        level: Confidence level of the interval.

    Returns:
        The spread; all NaN with fewer than two effects.

    Raises:
        EvalToolkitError: A variance is not positive, or the shapes do not fit.

    Source:
        Paule and Mandel, Consensus values and weighting factors, 1982; Viechtbauer, Confidence
        intervals for the amount of heterogeneity in meta-analysis, 2007.

    Example:
        >>> spread = effect_spread([0.0, 0.1, 0.5], [0.01, 0.01, 0.01])
        >>> round(spread.q, 2), round(spread.i2, 3), round(spread.tau2, 3)
        (14.0, 0.857, 0.06)
    """
    values, errors = _checked(effects, covariance)
    fraction(level, name="level")
    k = values.size
    if k < 2:
        return EffectSpread(math.nan, max(k - 1, 0), math.nan, math.nan, math.nan, math.nan)
    from scipy import special

    q = _generalised_q(values, errors, 0.0)
    i2 = max(0.0, (q - (k - 1)) / q) if q > 0 else 0.0
    ends = [float(special.chdtri(k - 1, tail)) for tail in ((1 - level) / 2, (1 + level) / 2)]
    low, high = (_where_q_is(target, values, errors) for target in ends)
    if high == 0.0:
        low = high = math.nan
    return EffectSpread(q, k - 1, i2, _where_q_is(k - 1.0, values, errors), low, high)


def shrink_effects(effects: ArrayLike, covariance: ArrayLike, *, level: float = 0.95) -> Shrunken:
    """Draw estimates towards their common mean, as far as the data say that they are alike.

    A normal model: estimates scatter about true effects with the given errors, true effects
    about a common mean (flat prior) with the standard deviation tau. The answer is averaged
    over tau, whose prior makes ``s0 / (s0 + tau)`` uniform, with ``s0**2`` the harmonic mean of
    the error variances. So the intervals carry the uncertainty of the mean and of tau, but take
    the errors as known.

    Args:
        effects: (k,) estimates, at least two.
        covariance: (k,) squared standard errors, or their (k, k) covariance.
        level: Probability of the intervals.

    Raises:
        EvalToolkitError: A variance is not positive, the shapes do not fit, or there is only
            one effect.

    Source:
        Efron and Morris, Data analysis using Stein's estimator and its generalizations, 1975;
        DuMouchel, Hierarchical Bayes linear models for meta-analysis, 1994.

    Example:
        >>> shrunken = shrink_effects([0.0, 0.1, 0.5], [0.01, 0.01, 0.01])
        >>> shrunken.mean.round(2).tolist()
        [0.05, 0.12, 0.43]
    """
    values, errors = _checked(effects, covariance)
    fraction(level, name="level")
    if values.size < 2:
        raise EvalToolkitError(
            "one effect has nothing to be drawn towards; two are needed",
            code="bad_count",
            path="effects",
            value=values.size,
        )
    scale = math.sqrt(values.size / float(np.sum(1 / np.diag(errors))))
    shares = (np.arange(GRID) + 0.5) / GRID
    fits = [_given_tau(values, errors, scale * (1 - share) / share) for share in shares]
    log_density = np.array([fit.log_density for fit in fits])
    weights = np.exp(log_density - log_density.max())
    weights /= weights.sum()
    means = np.stack([fit.means for fit in fits])
    sds = np.stack([fit.sds for fit in fits])
    low, high = (
        _mixture_quantile(p, means, sds, weights) for p in ((1 - level) / 2, (1 + level) / 2)
    )
    own = weights @ np.stack([fit.own for fit in fits])
    centre = float(weights @ np.array([fit.centre for fit in fits]))
    return Shrunken(weights @ means, low, high, own, centre)


class _Fit(NamedTuple):
    """The posterior of all effects at one value of tau."""

    log_density: float
    means: Floats
    sds: Floats
    own: Floats
    centre: float


def _given_tau(values: Floats, errors: Floats, tau: float) -> _Fit:
    total = errors + tau**2 * np.eye(values.size)
    precision = np.linalg.inv(total)
    weight = precision.sum(axis=0)
    centre = float(weight @ values / weight.sum())
    residuals = values - centre
    pull = errors @ precision
    variances = np.diag(errors) - np.sum(pull * errors, axis=1)
    variances = np.maximum(variances, 0.0) + pull.sum(axis=1) ** 2 / weight.sum()
    log_density = -0.5 * (
        float(np.linalg.slogdet(total)[1])
        + math.log(float(weight.sum()))
        + float(residuals @ precision @ residuals)
    )
    means = values - pull @ residuals
    return _Fit(log_density, means, np.sqrt(variances), 1 - np.diag(pull), centre)


def _mixture_quantile(p: float, means: Floats, sds: Floats, weights: Floats) -> Floats:
    """Invert the distribution function of each effect's mixture of normals by bisection."""
    from scipy import special

    low, high = (means - 40 * sds).min(axis=0), (means + 40 * sds).max(axis=0)
    for _ in range(80):
        middle = (low + high) / 2
        below = weights @ special.ndtr((middle - means) / sds) < p
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    quantile: Floats = (low + high) / 2
    return quantile


def _generalised_q(values: Floats, errors: Floats, tau2: float) -> float:
    precision = np.linalg.inv(errors + tau2 * np.eye(values.size))
    weight = precision.sum(axis=0)
    residuals = values - weight @ values / weight.sum()
    return float(residuals @ precision @ residuals)


def _where_q_is(target: float, values: Floats, errors: Floats) -> float:
    """Find the variance at which Q, which falls with it, takes a value; 0 where it starts below."""
    if _generalised_q(values, errors, 0.0) <= target:
        return 0.0
    from scipy import optimize

    high = float(np.max(np.diag(errors))) + float(np.ptp(values)) ** 2
    while _generalised_q(values, errors, high) > target:
        high *= 4
    root = optimize.brentq(lambda tau2: _generalised_q(values, errors, tau2) - target, 0.0, high,
                           xtol=1e-14 * high, rtol=1e-12)  # fmt: skip
    return float(root)


def _checked(effects: ArrayLike, covariance: ArrayLike) -> tuple[Floats, Floats]:
    values = finite_vector(effects, name="effects")
    given = np.asarray(covariance, dtype=np.float64)
    errors = np.diag(given) if given.ndim == 1 else given
    if errors.shape != (values.size, values.size):
        raise EvalToolkitError(
            f"covariance has shape {given.shape} for {values.size} effects; give one variance "
            "per effect or their covariance matrix",
            code="bad_shape",
            path="covariance",
            value=given.shape,
        )
    if values.size and not (np.isfinite(errors).all() and np.linalg.eigvalsh(errors)[0] > 0):
        raise EvalToolkitError(
            "the variances of the effects must be positive and finite (a covariance matrix "
            "positive definite)",
            code="bad_variance",
            path="covariance",
        )
    return values, errors
