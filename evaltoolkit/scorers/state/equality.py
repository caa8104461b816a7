"""When two values count as the same: exactly, by type, within a tolerance, one of several."""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from evaltoolkit.errors import ScorerError
from evaltoolkit.models import describe_error
from evaltoolkit.scorers.base import Unmeasurable, is_several, shorten
from evaltoolkit.scorers.state.paths import join_path

_MAX_DEPTH = 100
_MAX_NODES = 1_000_000

_Path = tuple[str | int, ...]


class OneOf:
    """An expected value that stands for several: any of them is right.

    Args:
        *values: The alternatives, at least one; each may be a `OneOf` or `Near` itself.

    Raises:
        ScorerError: There is no alternative.

    Example:
        >>> Equality().same("Dr Lovelace", OneOf("Ada Lovelace", "Dr Lovelace"))
        True
    """

    def __init__(self, *values: object) -> None:
        if not values:
            msg = "OneOf needs at least one value, or nothing could ever be right"
            raise ScorerError(msg, code="bad_option", path="OneOf")
        self.values = values

    def __repr__(self) -> str:
        return f"OneOf({', '.join(map(repr, self.values))})"


class Near:
    """An expected number with a tolerance of its own.

    Args:
        value: The number.
        abs_tol: Allowed difference as a number.
        rel_tol: Allowed difference as a share of the expected number.

    Raises:
        ScorerError: The number or a tolerance is out of range.

    Example:
        >>> Equality().same(20.4, Near(20, abs_tol=0.5))
        True
    """

    def __init__(self, value: float, *, abs_tol: float = 0.0, rel_tol: float = 0.0) -> None:
        if not _is_number(value) or not math.isfinite(value):
            msg = f"Near needs a finite number, not {shorten(value)}"
            raise ScorerError(msg, code="bad_option", path="Near", value=value)
        self.value = value
        self.abs_tol = check_tolerance(abs_tol, "abs_tol")
        self.rel_tol = check_tolerance(rel_tol, "rel_tol")

    def __repr__(self) -> str:
        return f"Near({self.value}, abs_tol={self.abs_tol}, rel_tol={self.rel_tol})"


class Equality:
    """How values are compared.

    By default as Python does: 1, 1.0 and True are equal, "1" is not, NaN equals nothing, lists
    are compared in order, objects whole. Arrays and numbers of numpy count as lists and numbers.

    Args:
        typed: Whether the types of JSON must agree too: then True is not 1 (1 and 1.0 are both
            numbers and still equal).
        abs_tol: Difference that numbers may have, as a number.
        rel_tol: Difference that numbers may have, as a share of the expected one.

    Raises:
        ScorerError: A tolerance is negative or no number, or `typed` is not True or False.

    Example:
        >>> Equality().same({"on": True}, {"on": 1}), Equality(typed=True).same(True, 1)
        (True, False)
        >>> Equality(abs_tol=0.1).difference({"t": [20.0, 21.5]}, {"t": [20.05, 21]})
        'at t.1: 21.5 is not 21'
    """

    def __init__(self, *, typed: bool = False, abs_tol: float = 0.0, rel_tol: float = 0.0) -> None:
        if not isinstance(typed, bool):
            msg = f"typed is {shorten(typed)}; it must be True or False"
            raise ScorerError(msg, code="bad_option", path="typed", value=typed)
        self.typed = typed
        self.abs_tol = check_tolerance(abs_tol, "abs_tol")
        self.rel_tol = check_tolerance(rel_tol, "rel_tol")

    def same(self, actual: object, expected: object) -> bool:
        """Say whether a value is the expected one.

        Raises:
            Unmeasurable: They cannot be compared.
        """
        return self.difference(actual, expected) is None

    def difference(self, actual: object, expected: object) -> str | None:
        """Say in words where a value first differs from the expected one; None if nowhere.

        Raises:
            Unmeasurable: They cannot be compared: foreign types, nesting without end.
        """
        return _Walk(self).difference(actual, expected, ())

    def near(self, actual: object, expected: object, *, marker: Near | None = None) -> bool:
        """Say whether two numbers are equal within the tolerance (or that of the marker)."""
        tolerances = marker or self
        if _same_plainly(actual, expected, ()):
            return True
        if tolerances.abs_tol == tolerances.rel_tol == 0:
            return False
        abs_tol, rel_tol = tolerances.abs_tol, tolerances.rel_tol
        try:
            if isinstance(actual, int) and isinstance(expected, int):
                # As floats, neighbouring identifiers of 17 digits would be the same number.
                return abs(actual - expected) <= max(abs_tol, rel_tol * abs(expected))
            one, other = float(actual), float(expected)  # type: ignore[arg-type]
        except (OverflowError, ValueError):
            return False
        if not (math.isfinite(one) and math.isfinite(other)):
            return False
        # 0.3 - 0.25 is a hair above 0.05; a bound that was meant to be inclusive stays so.
        hair = 4 * sys.float_info.epsilon * max(abs(one), abs(other))
        return abs(one - other) <= max(abs_tol, rel_tol * abs(other)) + hair


def check_tolerance(value: float, name: str) -> float:
    """Refuse a tolerance that is negative, infinite or no number.

    Raises:
        ScorerError: It is.
    """
    if not _is_number(value) or not math.isfinite(value) or value < 0:
        msg = f"{name} is {shorten(value)}; it must be a finite number from 0"
        raise ScorerError(msg, code="bad_option", path=name, value=value)
    return float(value)


class _Walk:
    """One comparison, which may not go on for ever."""

    def __init__(self, how: Equality) -> None:
        self._how = how
        self._left = _MAX_NODES

    def difference(self, actual: object, expected: object, path: _Path) -> str | None:
        self._left -= 1
        if len(path) > _MAX_DEPTH or self._left < 0:
            where = f"nested more than {_MAX_DEPTH} levels deep"
            raise Unmeasurable(f"the values are {where if self._left >= 0 else 'too large'}")
        actual, expected = _plain(actual), _plain(expected)
        if isinstance(expected, OneOf):
            return self._alternatives(actual, expected, path)
        if isinstance(expected, Near):
            near = self._near(actual, expected, path)
            return None if near else _differs(actual, expected, path)
        if isinstance(actual, Mapping) and isinstance(expected, Mapping):
            return self._objects(actual, expected, path)
        if _are_lists(actual, expected):
            return self._lists(actual, expected, path)  # type: ignore[arg-type]
        return None if self._leaf(actual, expected, path) else _differs(actual, expected, path)

    def _alternatives(self, actual: object, expected: OneOf, path: _Path) -> str | None:
        if any(self.difference(actual, value, path) is None for value in expected.values):
            return None
        return _differs(actual, expected, path)

    def _objects(
        self, actual: Mapping[Any, Any], expected: Mapping[Any, Any], path: _Path
    ) -> str | None:
        for key, value in expected.items():
            if key not in actual:
                return f"{_at(path)}the key {shorten(key)} is missing"
            if found := self.difference(actual[key], value, (*path, str(key))):
                return found
        for key in actual:
            if key not in expected:
                return f"{_at(path)}the key {shorten(key)} is not expected"
        return None

    def _lists(self, actual: list[Any], expected: list[Any], path: _Path) -> str | None:
        if len(actual) != len(expected):
            return f"{_at(path)}{len(actual)} item(s), not {len(expected)}"
        pairs = enumerate(zip(actual, expected, strict=True))
        found = (self.difference(one, other, (*path, place)) for place, (one, other) in pairs)
        return next(filter(None, found), None)

    def _near(self, actual: object, expected: Near, path: _Path) -> bool:
        if _is_number(actual) and not isinstance(actual, bool):
            return self._how.near(actual, expected.value, marker=expected)
        return self._leaf(actual, expected.value, path)

    def _leaf(self, actual: object, expected: object, path: _Path) -> bool:
        if self._how.typed and isinstance(actual, bool) != isinstance(expected, bool):
            return False
        if _is_number(actual) and _is_number(expected):
            # A switch that is on is not near a dimmer at 0.9.
            if isinstance(actual, bool) or isinstance(expected, bool):
                return _same_plainly(actual, expected, path)
            return self._how.near(actual, expected)
        return _same_plainly(actual, expected, path)


def _plain(value: object) -> object:
    """Make lists and numbers of those of numpy and its kin, whose ``==`` gives an array."""
    convert: Callable[[], object] | None = getattr(value, "tolist", None)
    if convert is None or isinstance(value, type) or not callable(convert):
        return value
    return convert()


def _are_lists(actual: object, expected: object) -> bool:
    # A list never equals a tuple, as in Python.
    return (
        is_several(actual)
        and is_several(expected)
        and isinstance(actual, list) == isinstance(expected, list)
    )


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real | Decimal)


def _same_plainly(actual: object, expected: object, path: _Path) -> bool:
    try:
        return bool(actual == expected)
    except Exception as error:  # values of foreign types may do anything
        msg = f"{_at(path)}the values cannot be compared: {describe_error(error)}"
        raise Unmeasurable(msg) from error


def _differs(actual: object, expected: object, path: _Path) -> str:
    one, other = shorten(actual), shorten(expected)
    if one != other:
        return f"{_at(path)}{one} is not {other}"
    kinds = (type(actual).__name__, type(expected).__name__)
    if kinds[0] != kinds[1]:
        return f"{_at(path)}{one} is a {kinds[0]}, not a {kinds[1]}"
    return f"{_at(path)}{one} does not equal {other}"


def _at(path: _Path) -> str:
    return f"at {join_path(path)}: " if path else ""
