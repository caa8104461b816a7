"""Sums under random or all sign flips: the engine behind every flip test.

Eight signs make one byte, and one byte selects one of 256 precomputed partial sums. That is
many times faster than a matrix product, needs little memory, and adds in a fixed order, so
that the numbers do not depend on the number of cores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from evaltoolkit.stats.types import Floats

MAX_ROWS, MAX_CELLS = 16_384, 2**18
"""Flips, and numbers, that are computed at a time."""

_SIGNS = 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) - 1.0

ByteSource = Callable[[int], NDArray[np.integer]]


def random_sums(values: Floats, draws: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield the column sums of `values` under random signs of the rows, batch by batch.

    Args:
        values: Array of shape (units, columns); a row has one sign for all columns.
        draws: Number of random flips.
        rng: Source of the signs.

    Yields:
        Arrays of shape (flips in this batch, columns).

    Example:
        >>> sums = next(random_sums(np.ones((3, 1)), 100, np.random.default_rng(0)))
        >>> sums.shape, np.unique(np.abs(sums))
        ((100, 1), array([1., 3.]))
    """
    batch = _batch(values)
    for start in range(0, draws, batch):
        size = min(batch, draws - start)

        def random_bytes(_: int, size: int = size) -> NDArray[np.integer]:
            return rng.integers(0, 256, size=size, dtype=np.uint8)

        yield _sums(values, size, random_bytes)


def all_sums(values: Floats) -> Iterator[Floats]:
    """Yield the column sums under all sign patterns in which the last row keeps its sign.

    The patterns left out are the mirror images of those yielded.

    Args:
        values: Array of shape (units, columns) with at least one row.

    Yields:
        Arrays of shape (patterns in this batch, columns), 2**(units - 1) rows in total.

    Example:
        >>> next(all_sums(np.array([[1.0], [2.0], [4.0]]))).ravel()
        array([1., 3., 5., 7.])
    """
    patterns, batch = 2 ** (len(values) - 1), _batch(values)
    fixed, flipped = values[-1], values[:-1]
    for start in range(0, patterns, batch):
        index = np.arange(start, min(start + batch, patterns))

        def index_bytes(group: int, index: NDArray[np.integer] = index) -> NDArray[np.integer]:
            return (index >> (8 * group)) & 255

        yield fixed + _sums(flipped, len(index), index_bytes)


def _batch(values: Floats) -> int:
    columns: int = values.shape[1]
    return max(1, min(MAX_ROWS, MAX_CELLS // columns))


def _sums(values: Floats, size: int, byte_source: ByteSource) -> Floats:
    total = np.zeros((size, values.shape[1]))
    for group, start in enumerate(range(0, len(values), 8)):
        rows = values[start : start + 8][::-1]
        partial_sums = _SIGNS[:, 8 - len(rows) :] @ rows
        total += np.take(partial_sums, byte_source(group), axis=0)
    return total
