"""Critical values of the largest of several correlated statistics."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.checks import fraction
from evaltoolkit.stats.tails import standard_error_nodes
from evaltoolkit.stats.types import Floats

_GRID = np.linspace(-8.5, 8.5, 1701)


def simultaneous_critical_value(
    corr: ArrayLike,
    *,
    alpha: float = 0.05,
    df: float = math.inf,
    draws: int = 200_000,
    seed: int = 0,
) -> float:
    """Return the two-sided critical value for the largest |t| of correlated estimates.

    Intervals ``estimate ± value · se`` then hold jointly. Equal non-negative correlations are
    integrated numerically (to about 1e-6); any other matrix is answered by random draws (to
    about 0.01).

    Args:
        corr: Correlation matrix (m, m) of the estimates.
        alpha: Joint error rate, between 0 and 1.
        df: Degrees of freedom of the common standard error; infinite for known ones.
        draws: Random draws for unequal correlations.
        seed: Seed of the draws.

    Raises:
        EvalToolkitError: `corr` is no correlation matrix (code ``bad_correlation``).

    Source:
        Dunnett, A multiple comparison procedure for comparing several treatments with a
        control, 1955; Hothorn, Bretz and Westfall, 2008.

    Example:
        >>> round(simultaneous_critical_value([[1, 0.5, 0.5], [0.5, 1, 0.5], [0.5, 0.5, 1]]), 3)
        2.349
    """
    matrix = _checked(corr)
    fraction(alpha, name="alpha")
    others = matrix[~np.eye(len(matrix), dtype=bool)]
    rho = float(others.mean()) if others.size else 0.0
    if 0 <= rho < 1 and np.allclose(others, rho, atol=1e-12):
        return _integrated(len(matrix), rho, alpha, df)
    return _drawn(matrix, alpha, df, np.random.default_rng(seed).spawn(2), draws)


def _checked(corr: ArrayLike) -> Floats:
    matrix = np.asarray(corr, dtype=np.float64)
    square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] and matrix.size > 0
    valid = square and np.allclose(matrix, matrix.T) and np.allclose(np.diag(matrix), 1)
    if not (valid and np.linalg.eigvalsh(matrix).min() > -1e-8):
        raise EvalToolkitError(
            f"corr, of shape {matrix.shape}, is no correlation matrix: square, symmetric, with "
            "ones on the diagonal and no negative eigenvalue",
            code="bad_correlation",
            path="corr",
            value=matrix.shape,
        )
    return matrix


def _integrated(m: int, rho: float, alpha: float, df: float) -> float:
    """Condition on the common part of the estimates, and on the common standard error."""
    from scipy import optimize, special

    scales, weights = standard_error_nodes(df)
    density = np.exp(-(_GRID**2) / 2) / math.sqrt(2 * math.pi) * (_GRID[1] - _GRID[0])
    common, own = math.sqrt(rho) * _GRID, math.sqrt(1 - rho)

    def excess(value: float) -> float:
        bound = value * scales[:, None]
        inside = special.ndtr((bound - common) / own) - special.ndtr((-bound - common) / own)
        return float(weights @ (inside**m @ density)) - (1 - alpha)

    return float(optimize.brentq(excess, 1e-6, 1e4, xtol=1e-10))


def _drawn(
    matrix: Floats, alpha: float, df: float, rngs: list[np.random.Generator], draws: int
) -> float:
    values, vectors = np.linalg.eigh(matrix)
    root = (vectors * np.sqrt(np.clip(values, 0.0, None))).T
    largest = np.abs(rngs[0].standard_normal((draws, len(matrix))) @ root).max(axis=1)
    if not math.isinf(df):
        largest /= np.sqrt(rngs[1].chisquare(df, size=draws) / df)
    return float(np.quantile(largest, 1 - alpha))
