"""Nested states written as dotted paths, and how one is laid over another."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from evaltoolkit.errors import SchemaError
from evaltoolkit.scorers.state.paths import split_path


def clashing_paths(paths: Iterable[str]) -> list[tuple[str, str]]:
    """Find paths of which one leads through the value of another.

    Example:
        >>> clashing_paths(["door", "lamp", "door.lock"])
        [('door', 'door.lock')]
    """
    by_parts = {tuple(split_path(path)): path for path in paths}
    return [
        (by_parts[parts[:length]], path)
        for parts, path in by_parts.items()
        for length in range(1, len(parts))
        if parts[:length] in by_parts
    ]


def nest_paths(values: Mapping[str, Any]) -> dict[str, Any]:
    """Make a nested state of dotted paths.

    Args:
        values: Value by path; a backslash before a dot keeps the dot in the key.

    Returns:
        A new dict; values are copied.

    Raises:
        SchemaError: One path leads through the value of another.

    Example:
        >>> nest_paths({"lights.kitchen.state": "on", "doors.front": "locked"})
        {'lights': {'kitchen': {'state': 'on'}}, 'doors': {'front': 'locked'}}
    """
    clashes = clashing_paths(values)
    if clashes:
        outer, inner = clashes[0]
        msg = f"the path {inner!r} leads through the value of {outer!r}; keep one of them"
        raise SchemaError(msg, code="clashing_paths", path=inner, value=clashes)
    state: dict[str, Any] = {}
    for path, value in values.items():
        *folders, last = split_path(path)
        inner_state = state
        for folder in folders:
            inner_state = inner_state.setdefault(folder, {})
        inner_state[last] = copy.deepcopy(value)
    return state


def merge_states(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """Lay one state over another: dicts are merged, anything else of the change wins.

    Args:
        base: The state as it is.
        change: What is to be set, such as the ``state`` of a precondition.

    Returns:
        A new state; neither argument is changed or shared.

    Example:
        >>> merge_states({"lamp": {"on": False, "dim": 3}, "door": 1}, {"lamp": {"on": True}})
        {'lamp': {'on': True, 'dim': 3}, 'door': 1}
    """
    merged = copy.deepcopy(dict(base))
    for key, value in change.items():
        present = merged.get(key)
        if isinstance(present, dict) and isinstance(value, Mapping):
            merged[key] = merge_states(present, value)
        else:
            merged[key] = copy.deepcopy(value)
    return merged
