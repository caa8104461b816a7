"""Regressions whose standard errors hold for clusters and for few of them.

One sandwich serves least squares and the logistic model: both are least squares after the rows
are scaled by the square root of their working weight.
"""

from __future__ import annotations

import math
import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.checks import cluster_codes, finite_vector, same_length
from evaltoolkit.stats.types import Floats

SINGULAR = 1e-9
"""What is smaller than this, relative to 1, counts as no variation at all."""

VANISHED = 1e-4
"""Without finite coefficients the information of the logistic model runs below this."""


class Regression(NamedTuple):
    """Coefficients with cluster-robust standard errors.

    Attributes:
        estimate: One coefficient per column of the design.
        se: CR2 standard errors; NaN with fewer than two clusters.
        df: Satterthwaite degrees of freedom of each.
        n_clusters: Number of clusters.
    """

    estimate: Floats
    se: Floats
    df: Floats
    n_clusters: int


def within_groups(values: Floats, groups: NDArray[np.intp]) -> Floats:
    """Subtract from each row the mean of its group.

    Args:
        values: Array (rows, columns).
        groups: Number of each row's group, from 0.

    Example:
        >>> within_groups(np.array([[1.0], [3.0], [5.0]]), np.array([0, 0, 1])).ravel()
        array([-1.,  1.,  0.])
    """
    counts = np.maximum(np.bincount(groups), 1)
    sums = np.zeros((counts.size, values.shape[1]))
    np.add.at(sums, groups, values)
    centred: Floats = values - (sums / counts[:, None])[groups]
    return centred


def least_squares(design: ArrayLike, outcome: ArrayLike, clusters: ArrayLike) -> Regression:
    """Fit least squares with CR2 standard errors.

    Group effects may be removed beforehand by `within_groups`, as long as every group lies
    within one cluster: the CR2 errors are then those of the model with a dummy for each group.

    Args:
        design: Array (rows, columns) of full rank.
        outcome: One number per row.
        clusters: The cluster of each row.

    Raises:
        EvalToolkitError: The design is singular (code ``singular``) or the shapes differ.

    Source:
        Bell and McCaffrey, Bias reduction in standard errors for linear regression with
        multi-stage samples, 2002; Pustejovsky and Tipton, Small-sample methods for
        cluster-robust variance estimation and hypothesis testing in fixed effects models, 2018.

    Example:
        >>> fit = least_squares([[1.0]] * 6, [0, 1, 1, 1, -1, 0], list("aabbcc"))
        >>> round(float(fit.se[0]), 4), round(float(fit.df[0]), 2)
        (0.441, 2.0)
    """
    table, y, codes = _checked(design, outcome, clusters)
    estimate = np.asarray(np.linalg.solve(table.T @ table, table.T @ y), dtype=np.float64)
    residuals: Floats = y - table @ estimate
    residuals[np.abs(residuals) <= SINGULAR * np.max(np.abs(y), initial=0.0)] = 0.0
    return _with_errors(table, estimate, residuals, codes)


def fractional_logit(design: ArrayLike, share: ArrayLike, clusters: ArrayLike) -> Regression:
    """Fit a logistic model of shares from 0 to 1 with CR2 standard errors.

    Only the mean is modelled, so a tie may count as half a win. Ask `separation` first whether
    finite coefficients exist.

    Args:
        design: Array (rows, columns) of full rank.
        share: One number from 0 to 1 per row.
        clusters: The cluster of each row.

    Raises:
        EvalToolkitError: A share lies outside 0 to 1, or no finite coefficients fit (code
            ``separated``).

    Source:
        Papke and Wooldridge, Econometric methods for fractional response variables, 1996.

    Example:
        >>> fit = fractional_logit([[1.0]] * 4, [1, 1, 1, 0], [1, 2, 3, 4])
        >>> fit.estimate.round(4), fit.se.round(4)
        (array([1.0986]), array([1.3333]))
    """
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_linear_model import GLM
    from statsmodels.tools.sm_exceptions import ConvergenceWarning, PerfectSeparationWarning

    table, y, codes = _checked(design, share, clusters)
    if np.any((y < 0) | (y > 1)):
        raise EvalToolkitError(
            "a share lies outside 0 to 1; a share is 1 for a win, 0 for a loss, 0.5 for a tie",
            code="bad_share",
            path="share",
        )
    with warnings.catch_warnings(), np.errstate(over="ignore"):
        # outcomes that are all 0.5 are fitted exactly, which statsmodels takes for separation
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", PerfectSeparationWarning)
        fitted = GLM(y, table, family=Binomial()).fit(maxiter=200, tol=1e-12)
    chance = np.clip(np.asarray(fitted.fittedvalues, dtype=np.float64), 1e-12, 1 - 1e-12)
    weight = np.sqrt(chance * (1 - chance))
    scaled = table * weight[:, None]
    left = np.linalg.svd(scaled / np.linalg.norm(table, axis=0), compute_uv=False)[-1]
    if not left > VANISHED:
        raise EvalToolkitError(
            "the outcomes are predicted perfectly, so no finite coefficients fit",
            code="separated",
            path="share",
        )
    residuals = y - chance
    residuals[np.abs(residuals) <= SINGULAR] = 0.0
    estimate = np.asarray(fitted.params, dtype=np.float64)
    return _with_errors(scaled, estimate, residuals / weight, codes)


def separation(x: ArrayLike, share: ArrayLike, groups: ArrayLike) -> str:
    """Say why the slope of a logistic model with an intercept per group does not exist.

    Args:
        x: The only covariate.
        share: Outcomes from 0 to 1.
        groups: The group of each row; a group has an intercept of its own.

    Returns:
        ``none`` where a finite slope exists; ``no_variation`` where x or all outcomes are
        constant within every group; ``up`` or ``down`` where outcomes follow x perfectly.

    Source:
        Albert and Anderson, On the existence of maximum likelihood estimates in logistic
        regression models, 1984, for one slope in closed form.

    Example:
        >>> separation([1, 2, 3], [0, 0, 1], [0, 0, 0]), separation([1, 2, 3], [0, 1, 0], [0] * 3)
        ('up', 'none')
    """
    values, y = finite_vector(x, name="x"), finite_vector(share, name="share")
    same_length(values, y, names=("x", "share"))
    codes = cluster_codes(np.asarray(groups), values.size)
    up = down = True
    informative = False
    for group in range(int(codes.max(initial=-1)) + 1):
        here = codes == group
        won, lost = values[here & (y > 0)], values[here & (y < 1)]
        if not won.size or not lost.size or np.ptp(values[here]) == 0:
            continue
        informative = True
        up &= bool(lost.max() <= won.min())
        down &= bool(won.max() <= lost.min())
    if not informative:
        return "no_variation"
    return "up" if up else "down" if down else "none"


def _checked(
    design: ArrayLike, outcome: ArrayLike, clusters: ArrayLike
) -> tuple[Floats, Floats, NDArray[np.intp]]:
    table = np.asarray(design, dtype=np.float64)
    y = finite_vector(outcome, name="outcome")
    if table.ndim != 2 or len(table) != y.size or not np.isfinite(table).all():
        raise EvalToolkitError(
            f"design has shape {table.shape} for {y.size} outcomes; one row of finite numbers "
            "for each is needed",
            code="bad_shape",
            path="design",
            value=table.shape,
        )
    codes = cluster_codes(np.asarray(clusters), y.size)
    scale = np.max(np.abs(table), axis=0, initial=0.0)
    spread = np.linalg.svd(table / np.where(scale > 0, scale, 1.0), compute_uv=False)
    if not table.size or len(table) < table.shape[1] or spread[-1] <= SINGULAR * spread[0]:
        raise EvalToolkitError(
            f"the {table.shape[1]} columns of the design do not vary apart from one another in "
            f"its {len(table)} rows, so their effects cannot be told apart",
            code="singular",
            path="design",
            value=table.shape,
        )
    return table, y, codes


def _with_errors(
    table: Floats, estimate: Floats, residuals: Floats, codes: NDArray[np.intp]
) -> Regression:
    groups, k = int(codes.max()) + 1, table.shape[1]
    if groups < 2:
        unknown = np.full(k, math.nan)
        return Regression(estimate, unknown, unknown, groups)
    bread = np.asarray(np.linalg.inv(table.T @ table), dtype=np.float64)
    hat = table @ np.linalg.cholesky(bread)
    moved = table @ bread
    meat = np.zeros((k, k))
    squares, pulls = np.zeros((groups, k)), np.zeros((k, groups, k))
    order = np.argsort(codes, kind="stable")
    for g, rows in enumerate(np.split(order, np.cumsum(np.bincount(codes))[:-1])):
        both = np.column_stack([residuals[rows], moved[rows]])
        adjusted = _adjusted(hat[rows], both)
        score = table[rows].T @ adjusted[:, 0]
        meat += np.outer(score, score)
        squares[g] = np.sum(adjusted[:, 1:] ** 2, axis=0)
        pulls[:, g, :] = (table[rows].T @ adjusted[:, 1:]).T
    variance = np.maximum(np.diag(bread @ meat @ bread), 0.0)
    df = np.array([_satterthwaite(squares[:, c], pulls[c], bread) for c in range(k)])
    return Regression(estimate, np.sqrt(variance), df, groups)


def _adjusted(hat: Floats, values: Floats) -> Floats:
    """Multiply by ``(I - H)**-1/2`` of one cluster, whose H is ``hat @ hat.T``.

    Only the few directions in which H is not 0 are touched; those that it takes up wholly carry
    no residual and are dropped.
    """
    left, sizes, _ = np.linalg.svd(hat, full_matrices=False)
    rest = 1 - sizes**2
    factor = np.where(rest > SINGULAR, 1 / np.sqrt(np.maximum(rest, SINGULAR)), 0.0) - 1
    adjusted: Floats = values + left @ (factor[:, None] * (left.T @ values))
    return adjusted


def _satterthwaite(squares: Floats, pulls: Floats, bread: Floats) -> float:
    """Match the first two moments of the variance estimate when rows are independent."""
    taken = np.einsum("gi,ij,gj->g", pulls, bread, pulls)
    mixed = bread @ (pulls.T @ pulls)
    trace = float(squares.sum() - taken.sum())
    size = float(squares @ squares - 2 * squares @ taken + np.trace(mixed @ mixed))
    return trace**2 / size if size > 0 else math.nan
