"""Read JSON that nobody has vouched for: any size, any depth, any duplicate key."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from evaltoolkit.scorers.base import Unmeasurable, is_several, shorten

_MAX_INT_DIGITS = 4000


def parse_json(text: str, *, strict: bool = False) -> Any:  # noqa: ANN401 - any JSON value
    """Parse JSON text of any size.

    Args:
        text: The text.
        strict: Whether NaN, Infinity and repeated keys are refused.

    Returns:
        The value; whole numbers too long for an int become floats.

    Raises:
        ValueError: The text is not JSON.
        Unmeasurable: It is nested more deeply than the parser can follow.

    Example:
        >>> parse_json("[1, 2]")
        [1, 2]
    """
    # A short text cannot hold a number too long for an int.
    lax = _LAX if len(text) > _MAX_INT_DIGITS else _SHORT
    try:
        return (_STRICT if strict else lax).decode(text)
    except RecursionError as error:
        msg = "the text is nested too deeply to be parsed"
        raise Unmeasurable(msg) from error


def object_or_array(text: str, *, otherwise: object) -> object:
    """Parse a text that holds a JSON object or array; give something else for any other text.

    Example:
        >>> object_or_array('{"a": 1}', otherwise=None), object_or_array("12", otherwise=None)
        ({'a': 1}, None)
    """
    if text.lstrip()[:1] not in ("{", "["):
        return otherwise
    try:
        return parse_json(text)
    except ValueError:
        return otherwise


def as_list(value: object, what: str) -> list[Any]:
    """Give a list, or the one that a text holds.

    Args:
        value: A list, a tuple, or a text with a JSON array.
        what: What it is, for the message.

    Raises:
        Unmeasurable: It is no list.

    Example:
        >>> as_list('["a", "b"]', "answer")
        ['a', 'b']
    """
    value = object_or_array(value, otherwise=value) if isinstance(value, str) else value
    if not is_several(value):
        msg = f"the {what} {shorten(value)} is not a list"
        raise Unmeasurable(msg)
    return list(value)


def json_fault(value: object, *, strict: bool) -> str | None:
    """Say why a value that was never text cannot be JSON."""
    try:
        json.dumps(value, allow_nan=not strict)
    except (TypeError, ValueError) as error:
        return str(error)
    except RecursionError as error:
        msg = "the value is nested too deeply to be checked"
        raise Unmeasurable(msg) from error
    return None


def _parse_int(digits: str) -> int | float:
    # Python refuses to convert longer ones, but they are valid JSON.
    return int(digits) if len(digits) <= _MAX_INT_DIGITS else float(digits)


def _refuse_constant(name: str) -> NoReturn:
    msg = f"{name} is not a JSON number"
    raise ValueError(msg)


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            msg = f"the key {shorten(key)} occurs twice"
            raise ValueError(msg)
        found[key] = value
    return found


# Made once: json.loads would make a decoder for every text.
_SHORT = json.JSONDecoder()
_LAX = json.JSONDecoder(parse_int=_parse_int)
_STRICT = json.JSONDecoder(
    parse_int=_parse_int, parse_constant=_refuse_constant, object_pairs_hook=_refuse_repeats
)
