"""Checks of arguments: one place, so that the same mistake reads the same everywhere."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaltoolkit.errors import EvalToolkitError, listed, nearest
from evaltoolkit.stats.types import Floats


def finite_vector(values: ArrayLike, *, name: str = "d") -> Floats:
    """Return the values as a one-dimensional float array, refusing NaN and infinity.

    Raises:
        EvalToolkitError: A value is not finite (code ``not_finite``) or the shape is wrong
            (code ``bad_shape``).

    Example:
        >>> finite_vector([1, 2])
        array([1., 2.])
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise EvalToolkitError(
            f"{name} has {array.ndim} dimensions; a flat list of numbers is needed",
            code="bad_shape",
            path=name,
            value=array.shape,
        )
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise _not_finite(array, bad, name)
    return array


def _not_finite(array: Floats, bad: NDArray[np.intp], name: str) -> EvalToolkitError:
    first = int(bad[0])
    return EvalToolkitError(
        f"{name} has {bad.size} value(s) that are not finite, at position(s) "
        f"{listed(bad.tolist())}; leave such pairs out and report them, "
        "a test cannot guess what they would have been",
        code="not_finite",
        path=f"{name}[{first}]",
        value=float(array[first]),
    )


def same_length(first: Floats, second: Floats, *, names: tuple[str, str]) -> None:
    """Refuse two arrays of different length.

    Raises:
        EvalToolkitError: The lengths differ (code ``bad_shape``).
    """
    if first.shape != second.shape:
        raise EvalToolkitError(
            f"{names[0]} has {first.shape[0]} values and {names[1]} has {second.shape[0]}; "
            "pair them first, one value of each for every example",
            code="bad_shape",
            path=names[1],
            value=second.shape,
        )


def fraction(value: float, *, name: str) -> float:
    """Return a number that lies strictly between 0 and 1.

    Raises:
        EvalToolkitError: It does not (code ``bad_fraction``).

    Example:
        >>> fraction(0.95, name="level")
        0.95
    """
    number = float(value)
    if not 0 < number < 1:
        raise EvalToolkitError(
            f"{name} is {value!r}; it must lie between 0 and 1"
            + (f" (did you mean {number / 100:g}?)" if 1 < number < 100 else ""),
            code="bad_fraction",
            path=name,
            value=value,
        )
    return number


def whole(value: float, *, name: str, least: int = 0) -> int:
    """Return a whole number that is not below `least`.

    Raises:
        EvalToolkitError: It is not whole or too small (code ``bad_count``).

    Example:
        >>> whole(3.0, name="wins")
        3
    """
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = int(value) if float(value).is_integer() else least - 1
    if number < least:
        raise EvalToolkitError(
            f"{name} is {value!r}; it must be a whole number of at least {least}",
            code="bad_count",
            path=name,
            value=value,
        )
    return number


def choice(value: str, allowed: Iterable[str], *, name: str) -> str:
    """Return a value that is one of those allowed.

    Raises:
        EvalToolkitError: It is not (code ``unknown_option``).

    Example:
        >>> choice("CR2", ["CR1", "CR2"], name="kind")
        'CR2'
    """
    names = list(allowed)
    if value not in names:
        raise EvalToolkitError(
            f"{name} {value!r} is unknown; {nearest(value, names)}",
            code="unknown_option",
            path=name,
            value=value,
        )
    return value


def cluster_codes(clusters: Iterable[Hashable], n: int) -> NDArray[np.intp]:
    """Number the clusters from 0 in order of first appearance.

    Raises:
        EvalToolkitError: There is not exactly one id per value (code ``bad_shape``) or an id
            is missing (code ``missing_cluster``).

    Example:
        >>> cluster_codes(["b", "a", "b"], 3)
        array([0, 1, 0])
    """
    ids = clusters.tolist() if isinstance(clusters, np.ndarray) else list(clusters)
    if len(ids) != n:
        raise EvalToolkitError(
            f"clusters has {len(ids)} ids for {n} values; give one id per value",
            code="bad_shape",
            path="clusters",
            value=len(ids),
        )
    missing = [i for i, key in enumerate(ids) if _is_missing(key)]
    if missing:
        raise EvalToolkitError(
            f"{len(missing)} cluster id(s) are missing, at position(s) {listed(missing)}; "
            "give such an example a cluster of its own or leave it out",
            code="missing_cluster",
            path=f"clusters[{missing[0]}]",
        )
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in ids], dtype=np.intp)


def _is_missing(key: Hashable) -> bool:
    """Recognise None, and whatever does not equal itself (NaN)."""
    try:
        return key is None or not bool(key == key)
    except TypeError:
        return True  # a marker of missing values that is neither true nor false
