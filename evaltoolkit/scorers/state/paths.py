"""Dotted paths into nested states: how they are written, and what stands at their end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evaltoolkit.scorers.base import Unmeasurable, is_several, shorten

_MAX_DEPTH = 100
_MAX_LEAVES = 100_000


class Missing(NamedTuple):
    """A path that ends too early: how far it led, and why no further."""

    reached: str
    why: str


def split_path(path: str) -> list[str]:
    r"""Split a dotted path into its keys; a dot or backslash after a backslash is part of a key.

    Example:
        >>> split_path(r"rooms.no\.1.lamps.0")
        ['rooms', 'no.1', 'lamps', '0']
    """
    keys, escaped = [""], False
    for character in path:
        if escaped:
            keys[-1] += character if character in ".\\" else "\\" + character
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == ".":
            keys.append("")
        else:
            keys[-1] += character
    if escaped:
        keys[-1] += "\\"
    return keys


def join_path(keys: Sequence[str | int]) -> str:
    r"""Write keys as a dotted path, the opposite of `split_path`.

    Example:
        >>> join_path(["rooms", "no.1", 0])
        'rooms.no\\.1.0'
    """
    return ".".join(str(key).replace("\\", "\\\\").replace(".", "\\.") for key in keys)


def ancestors(path: str) -> list[str]:
    r"""List the paths that a path leads through, the outermost first.

    Example:
        >>> ancestors("guests.0.email"), ancestors(r"a\.b")
        (['guests', 'guests.0'], [])
    """
    found, escaped = [], False
    for place, character in enumerate(path):
        if character == "." and not escaped:
            found.append(path[:place])
        escaped = character == "\\" and not escaped
    return found


def follow_path(state: object, path: str) -> Any | Missing:  # noqa: ANN401 - any value of a state
    """Walk a path through objects by key and through lists by index (from 0).

    Where an object of Python has no text as the key, the whole number that it writes is taken.

    Args:
        state: Where the path begins.
        path: The path; see `split_path`.

    Returns:
        The value at its end, or `Missing`.

    Example:
        >>> follow_path({"lamps": [{"on": True}]}, "lamps.0.on")
        True
        >>> follow_path({"lamps": []}, "lamps.0.on")
        Missing(reached='lamps', why='a list of 0 item(s) has no index 0')
    """
    found = state
    keys = split_path(path)
    for depth, key in enumerate(keys):
        if isinstance(found, Mapping):
            held: str | int = int(key) if key not in found and _is_index(key) else key
            if held not in found:
                return Missing(join_path(keys[:depth]), f"there is no key {shorten(key)}")
            found = found[held]
        elif is_several(found):
            if not _is_index(key) or int(key) >= len(found):
                why = f"a list of {len(found)} item(s) has no index {_bare(key)}"
                return Missing(join_path(keys[:depth]), why)
            found = found[int(key)]
        else:
            why = f"{shorten(found)} holds nothing, so there is no {shorten(key)}"
            return Missing(join_path(keys[:depth]), why)
    return found


def leaf_paths(state: Mapping[str, Any]) -> dict[str, Any]:
    r"""Take an object apart into its innermost values, by their paths.

    Only objects are taken apart; a list, and an object without keys, is a value.

    Raises:
        Unmeasurable: Objects are nested without end, or hold too many values.

    Example:
        >>> leaf_paths({"lamp": {"on": True, "no.": 1}, "tags": ["a"]})
        {'lamp.on': True, 'lamp.no\\.': 1, 'tags': ['a']}
    """
    found: dict[str, Any] = {}
    waiting: list[tuple[tuple[str, ...], Any]] = [((), state)]
    while waiting:
        keys, value = waiting.pop()
        if len(keys) > _MAX_DEPTH:
            msg = f"the state is nested more than {_MAX_DEPTH} levels deep"
            raise Unmeasurable(msg)
        if isinstance(value, Mapping) and (value or not keys):
            inner = [((*keys, key), held) for key, held in value.items()]
            waiting += reversed(inner)
        else:
            found[join_path(keys)] = value
        if len(found) > _MAX_LEAVES:
            msg = f"the state holds more than {_MAX_LEAVES} values"
            raise Unmeasurable(msg)
    return found


def _is_index(key: str) -> bool:
    # A huge number of digits is no index of anything, and Python refuses to convert it.
    return key.isascii() and key.isdigit() and len(key) <= 18


def _bare(key: str) -> str:
    return key if _is_index(key) else shorten(key)
