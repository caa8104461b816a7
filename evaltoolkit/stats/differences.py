"""Differences between two systems: which are ties, and do they live on a lattice?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evaltoolkit.stats.checks import finite_vector, same_length
from evaltoolkit.stats.types import Floats

MAX_MULTIPLE = 100_000
"""A lattice whose largest difference has more steps than this is of no practical use."""


def snap_ties(baseline: ArrayLike, candidate: ArrayLike, *, rtol: float = 1e-9) -> Floats:
    """Subtract baseline from candidate; what differs by rounding only becomes exactly 0.

    Args:
        baseline: Scores of the baseline, one per example.
        candidate: Scores of the candidate, in the same order.
        rtol: Largest difference, relative to the larger of the two sizes, that is a tie.

    Returns:
        ``candidate - baseline``, with exact zeros for ties.

    Raises:
        EvalToolkitError: A score is not finite, or the lengths differ.

    Example:
        >>> snap_ties([0.3, 1.0], [0.1 + 0.2, 2.0])
        array([0., 1.])
    """
    a = finite_vector(baseline, name="baseline")
    b = finite_vector(candidate, name="candidate")
    same_length(a, b, names=("baseline", "candidate"))
    difference = b - a
    difference[np.abs(difference) <= rtol * np.maximum(np.abs(a), np.abs(b))] = 0.0
    return difference


def snap(d: ArrayLike, *, scale: float | Floats | None = None, rtol: float = 1e-9) -> Floats:
    """Set to exactly 0 the differences that are zero but for rounding.

    Args:
        d: Differences.
        scale: Size of the scores behind them, a number or one per difference; the largest
            difference when not given.
        rtol: Largest difference, relative to `scale`, that is a tie.

    Raises:
        EvalToolkitError: A difference is not finite.

    Example:
        >>> snap([1.0, 5e-17, -2.0])
        array([ 1.,  0., -2.])
    """
    values = finite_vector(d).copy()
    size = np.max(np.abs(values), initial=0.0) if scale is None else np.abs(scale)
    values[np.abs(values) <= rtol * size] = 0.0
    return values


def merge_near(values: ArrayLike, *, rtol: float = 1e-9) -> Floats:
    """Give values that agree but for rounding one common value, so that they tie in ranks.

    In binary arithmetic 1.9 - 0.7 and 1.3 - 0.1 are not equal; as differences they are.

    Args:
        values: Numbers.
        rtol: Largest gap to the next smaller value, relative to the largest size, that is
            rounding only.

    Example:
        >>> np.unique(merge_near([1.9 - 0.7, 1.3 - 0.1])).size
        1
    """
    array = finite_vector(values, name="values")
    order = np.argsort(array, kind="stable")
    ascending = array[order]
    new_group = np.diff(ascending, prepend=-np.inf) > rtol * np.max(np.abs(array), initial=0.0)
    merged = np.empty_like(array)
    merged[order] = ascending[new_group][np.cumsum(new_group) - 1]
    return merged


def is_constant(values: Floats, *, rtol: float = 1e-9) -> bool:
    """Say whether all values agree but for rounding.

    Example:
        >>> is_constant(np.array([0.1, 0.3 - 0.2])), is_constant(np.array([0.1, 0.2]))
        (True, False)
    """
    return bool(np.ptp(values) <= rtol * np.max(np.abs(values))) if values.size else True


def lattice_step(d: ArrayLike, *, rtol: float = 1e-9) -> float | None:
    """Find the largest step of which all differences are whole multiples.

    0/1 scores have the step 1, ratings 1 or 0.5, means over 6 trials 1/6, and means over 6
    trials mixed with means over 7 the step 1/42. On a lattice the exact distribution of a sum
    can be computed.

    Args:
        d: Differences; zeros are ignored.
        rtol: Largest distance from a multiple, relative to the largest size, that is rounding.

    Returns:
        The step, or None when there is none of use (continuous data, or only zeros).

    Raises:
        EvalToolkitError: A difference is not finite.

    Example:
        >>> lattice_step([0, 1, -1]), lattice_step([0.5, -2.0, 1.5])
        (1.0, 0.5)
        >>> round(1 / lattice_step([1 / 6, -3 / 7]), 9)
        42.0
        >>> lattice_step([1.0, np.pi, np.e]) is None
        True
    """
    sizes = np.unique(np.abs(snap(d, rtol=rtol)))
    sizes = sizes[sizes > 0]
    if not sizes.size:
        return None
    noise = rtol * float(sizes[-1])
    step = 0.0
    for size in sizes:
        step = _common_divisor(float(size), step, noise)
        if step * MAX_MULTIPLE < sizes[-1]:
            return None
    return _refined(sizes, step, noise)


def _common_divisor(a: float, b: float, noise: float) -> float:
    """Euclid's algorithm, where a remainder below the noise, or close to a whole step, is 0."""
    while b > noise:
        remainder = a % b
        a, b = b, min(remainder, b - remainder)
    return a


def _refined(sizes: Floats, step: float, noise: float) -> float | None:
    """Fit the step to all multiples (Euclid piles up rounding) and check that it holds."""
    multiples = np.rint(sizes / step)
    fitted = float(sizes @ multiples / (multiples @ multiples))
    misfit = np.max(np.abs(sizes - multiples * fitted))
    return fitted if misfit <= noise else None
