"""How like two values of one argument are, from 0 to 1, by a strategy or by what is known."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Literal

from evaltoolkit.errors import ScorerError, nearest
from evaltoolkit.models import describe_error
from evaltoolkit.scorers.base import (
    ComparingScorer,
    Unmeasurable,
    is_array,
    is_object,
    shorten,
)
from evaltoolkit.scorers.state.equality import check_tolerance
from evaltoolkit.scorers.structure import Similarity, as_similarity

FieldStrategy = Literal["auto", "exact", "subset", "numeric", "text"]
"""How two values are compared; see `ArgumentLikeness`."""

_STRATEGIES = ("auto", "exact", "subset", "numeric", "text")
_EXACT_FORMATS = ("date", "date-time", "time", "uuid", "email", "uri")
_ID_NAME = re.compile(r"(^|_)ids?$")
_MAX_TEXT = 5000


class ArgumentLikeness:
    """Compares an actual argument with the expected one, by EvalShift's rules.

    * ``exact``: 1 where they are equal, else 0.
    * ``subset``: 1 where the expected value is contained in the actual one: all keys of a dict,
      every item of a list in some item, at any depth.
    * ``numeric``: 1 minus the relative deviation over the tolerance, at least 0; so it falls from
      the first deviation on.
    * ``text``: 1 where two texts are equal but for case and spacing, else difflib's ratio.
    * ``auto``: exact for what is an identifier by its name, an enumeration, a boolean or one of
      the formats date, time, uuid, email and uri by its schema; subset for objects and arrays;
      numeric for numbers; text for texts; else exact.

    Null is like null only.

    Args:
        strategies: By argument, how it is compared: a strategy, a `ComparingScorer` or a function
            of the actual and the expected value.
        default: How the others are.
        numeric_tolerance: Relative deviation at which ``numeric`` reaches 0, above 0.

    Raises:
        ScorerError: A strategy does not exist, or the tolerance is not above 0.

    Example:
        >>> likeness = ArgumentLikeness()
        >>> round(likeness.compare("price", 102, 100), 3), likeness.compare("user_id", 41, 42)
        (0.608, 0.0)
    """

    def __init__(
        self,
        strategies: Mapping[str, FieldStrategy | ComparingScorer | Similarity] | None = None,
        *,
        default: FieldStrategy = "auto",
        numeric_tolerance: float = 0.05,
    ) -> None:
        self._tolerance = check_tolerance(numeric_tolerance, "numeric_tolerance")
        if not self._tolerance:
            msg = "numeric_tolerance is 0; it must be above 0"
            raise ScorerError(msg, code="bad_option", path="numeric_tolerance")
        self._default = _checked(default, "default_strategy")
        self._named = {
            name: _checked(one, f"strategies[{name!r}]")
            if isinstance(one, str)
            else as_similarity(one)
            for name, one in (strategies or {}).items()
        }

    def compare(
        self, name: str, actual: object, expected: object, *, schema: object = None
    ) -> float:
        """Give the likeness of two values.

        Args:
            name: Name of the argument.
            actual: What it was.
            expected: What it should have been.
            schema: Its JSON Schema, where there is one.

        Raises:
            Unmeasurable: The values cannot be compared.
        """
        how = self._named.get(name, self._default)
        if not isinstance(how, str):
            return how(actual, expected)
        if actual is None or expected is None:
            return float(actual is expected)
        if how == "auto":
            how = _strategy_for(name, actual, expected, schema=schema)
        try:
            return self._by(how, actual, expected)
        except (RecursionError, ValueError, TypeError) as error:
            msg = f"the argument {shorten(name)} cannot be compared: {describe_error(error)}"
            raise Unmeasurable(msg) from error

    def _by(self, how: str, actual: Any, expected: Any) -> float:  # noqa: ANN401 - of any type
        if how == "subset":
            return float(_holds(actual, expected))
        if how == "numeric":
            return _near(actual, expected, self._tolerance)
        if how == "text" and isinstance(actual, str) and isinstance(expected, str):
            return _alike(actual, expected)
        return float(bool(actual == expected))


def _checked(strategy: str, path: str) -> str:
    if strategy not in _STRATEGIES:
        msg = f"{path} is {strategy!r}; {nearest(strategy, _STRATEGIES)}"
        raise ScorerError(msg, code="bad_option", path=path, value=strategy)
    return strategy


def _strategy_for(name: str, actual: object, expected: object, *, schema: object) -> str:
    declared = schema if is_object(schema) else {}
    kind = declared.get("type")
    if _ID_NAME.search(name) or "enum" in declared or declared.get("format") in _EXACT_FORMATS:
        return "exact"
    if kind in ("object", "array"):
        return "subset"
    if kind in ("boolean", "integer", "number"):
        return "exact" if kind == "boolean" else "numeric"
    if isinstance(actual, str) and isinstance(expected, str):
        return "text"
    if _is_number(actual) and _is_number(expected):
        return "numeric"
    same_shape = (is_object(actual) and is_object(expected)) or (
        is_array(actual) and is_array(expected)
    )
    return "subset" if same_shape else "exact"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _holds(actual: object, expected: object) -> bool:
    if is_object(expected):
        return is_object(actual) and all(
            key in actual and _holds(actual[key], value) for key, value in expected.items()
        )
    if is_array(expected):
        return is_array(actual) and all(_any_holds(actual, item) for item in expected)
    return bool(actual == expected)


def _any_holds(items: Sequence[object], wanted: object) -> bool:
    return any(_holds(item, wanted) for item in items)


def _near(actual: object, expected: object, tolerance: float) -> float:
    """Compare numbers, also written as text; anything else is unlike a number."""
    try:
        one, other = float(actual), float(expected)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return 0.0
    deviation = abs(one - other) / max(abs(one), abs(other), 1e-9)
    # NaN is near nothing.
    return max(0.0, 1 - deviation / tolerance) if deviation == deviation else 0.0


def _alike(actual: str, expected: str) -> float:
    one, other = (" ".join(text.casefold().split()) for text in (actual, expected))
    if one == other:
        return 1.0
    if max(len(actual), len(expected)) > _MAX_TEXT:
        msg = (
            f"two different texts of up to {max(len(actual), len(expected))} characters are too "
            f"long for a ratio (at most {_MAX_TEXT}); name a strategy for this argument"
        )
        raise Unmeasurable(msg)
    return SequenceMatcher(None, actual, expected).ratio()
