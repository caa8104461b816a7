"""Several criteria on shared examples: gaps, clusters, all ties, and how the means correlate."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.checks import cluster_codes
from evaltoolkit.stats.studentised import Studentised
from evaltoolkit.stats.types import Floats

RTOL = 1e-9
"""Statistics that differ by less, relatively, count as equal."""

_CELLS = 2**21


class JointSample(NamedTuple):
    """Which criteria can be tested, and how.

    Attributes:
        signed: (m,) t of each criterion; 0 where all are ties, NaN without data.
        p_empty: (m,) p-value of criteria outside the maximum: 1 for all ties, NaN without data.
        active: Indices of the others.
        studentised: These, studentised together.
    """

    signed: Floats
    p_empty: Floats
    active: NDArray[np.intp]
    studentised: Studentised

    @property
    def n_tested(self) -> int:
        """Number of criteria with a p-value."""
        return int(np.count_nonzero(~np.isnan(self.p_empty)))

    def spread(self, values: Floats) -> Floats:
        """Put the values of the active criteria among the p-values of the others."""
        full = self.p_empty.copy()
        full[self.active] = values
        return full


def joint_table(d: ArrayLike) -> Floats:
    """Return the differences as an array (examples, criteria), refusing infinity.

    Raises:
        EvalToolkitError: `d` is not a table or holds infinity.

    Example:
        >>> joint_table([[1, 2], [3, float("nan")]]).shape
        (2, 2)
    """
    table = np.asarray(d, dtype=np.float64)
    if table.ndim != 2 or np.isinf(table).any():
        raise EvalToolkitError(
            f"d has shape {table.shape}; a table (examples, criteria) of finite differences is "
            "needed, NaN only where a criterion has no pair",
            code="bad_shape" if table.ndim != 2 else "not_finite",
            path="d",
            value=table.shape,
        )
    return table


def prepare(table: Floats, clusters: Iterable[Hashable] | None) -> JointSample:
    """Sort the criteria into those that can be tested, all ties, and those without data.

    Args:
        table: Array (examples, m) of differences, NaN where a criterion has no pair.
        clusters: One id per example, or None.

    Example:
        >>> prepare(joint_table([[1, 0], [2, 0]]), None).p_empty
        array([1., 1.])
    """
    sums, sizes = _unit_sums(table, clusters)
    largest = np.max(np.abs(np.nan_to_num(table)), axis=0, initial=0.0)
    sums[np.abs(sums) <= RTOL * largest] = 0.0
    tested = np.sum(sizes > 0, axis=0) >= 2
    active = np.flatnonzero(tested & np.any(sums != 0, axis=0))
    signed = np.where(tested, 0.0, math.nan)
    p_empty = np.where(tested, 1.0, math.nan)
    studentised = Studentised(sums[:, active], sizes[:, active])
    signed[active] = studentised.signed()
    return JointSample(signed, p_empty, active, studentised)


def correlation_root(table: Floats, clusters: Iterable[Hashable] | None) -> Floats:
    """Return a square root of the correlation matrix of the estimated means.

    Args:
        table: Array (examples, m) of differences with some non-zero value in every column.
        clusters: One id per example, or None.

    Example:
        >>> root = correlation_root(np.array([[1.0, 2.0], [2.0, 4.0], [4.0, 8.0]]), None)
        >>> (root.T @ root).round(6)
        array([[1., 1.],
               [1., 1.]])
    """
    residuals = table - np.nanmean(table, axis=0)
    flat = np.nanmax(np.abs(residuals), axis=0) <= RTOL * np.nanmax(np.abs(table), axis=0)
    residuals[:, flat] = table[:, flat]
    sums, _ = _unit_sums(residuals, clusters)
    length = np.sqrt(np.sum(sums**2, axis=0))
    sums /= np.where(length > 0, length, 1.0)
    values, vectors = np.linalg.eigh(sums.T @ sums)
    root: Floats = (vectors * np.sqrt(np.clip(values, 0.0, None))).T
    return root


def normal_draws(root: Floats, draws: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield normal draws (rows) with a correlation matrix given by its root, batch by batch.

    Example:
        >>> batches = normal_draws(np.eye(2), 5, np.random.default_rng(0))
        >>> [batch.shape for batch in batches]
        [(5, 2)]
    """
    batch = max(1, _CELLS // len(root))
    for start in range(0, draws, batch):
        yield rng.standard_normal((min(batch, draws - start), len(root))) @ root


def _unit_sums(table: Floats, clusters: Iterable[Hashable] | None) -> tuple[Floats, Floats]:
    """Return sum and number of the differences of each unit (example or cluster)."""
    present = ~np.isnan(table)
    filled, counted = np.where(present, table, 0.0), present.astype(np.float64)
    if clusters is None:
        return filled, counted
    codes = cluster_codes(clusters, len(table))
    shape = (int(codes.max(initial=-1)) + 1, table.shape[1])
    sums, sizes = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, codes, filled)
    np.add.at(sizes, codes, counted)
    return sums, sizes
