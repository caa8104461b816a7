"""Name things by what they are: JSON of any value, and digests of examples, systems and scorers.

A digest answers one question: is a run that is taken up again still the same run? It covers data
and the code and configuration of callables, not what they remember while they run.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import re
import reprlib
from collections.abc import Iterable, Iterator, Mapping
from dis import get_instructions
from functools import partial
from types import CodeType, FunctionType
from typing import Any

from pydantic import BaseModel

from evaltoolkit.models import Example
from evaltoolkit.scorers.base import Scorer

_DIGITS = 16
_DEPTH = 60
_BITS = 4_096
"""Python refuses to write out whole numbers of more than 4300 digits."""
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_LEFT_OUT = re.compile(r"key|token|secret|password|credential|cache", re.IGNORECASE)
_AS_IT_IS = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_SORTED = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True)
_SHOW = reprlib.Repr()
_SHOW.maxother = _SHOW.maxstring = 2_000


def plain(value: object) -> Any:  # noqa: ANN401 - any JSON value
    """Give a value as JSON can hold it; what it cannot hold becomes a text that names it.

    Example:
        >>> plain({1: (True, float("nan"), {2})})
        {'1': [True, 'NaN', [2]]}
    """
    return _plain(value, ())


def _plain(value: object, inside: tuple[int, ...]) -> Any:  # noqa: ANN401 - any JSON value
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return value if value.bit_length() <= _BITS else f"{value:#x}"
    if isinstance(value, float):
        return value if math.isfinite(value) else _not_finite(value)
    try:
        return _structure(value, inside)
    except Exception:  # foreign code may raise whatever it likes, even when asked for its name
        return f"<{type(value).__name__}>"


def _structure(value: object, inside: tuple[int, ...]) -> Any:  # noqa: ANN401 - as above
    if id(value) in inside:
        return "<circular>"
    if len(inside) >= _DEPTH:
        return "<nested too deeply>"
    inside = (*inside, id(value))
    if isinstance(value, BaseModel):
        value = {name: getattr(value, name) for name in type(value).model_fields}
    if isinstance(value, Mapping):
        return {str(key): _plain(item, inside) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((_plain(item, inside) for item in value), key=repr)
    if isinstance(value, list | tuple):
        return [_plain(item, inside) for item in value]
    return _foreign(value, inside)


def _not_finite(value: float) -> str:
    return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")


def _foreign(value: object, inside: tuple[int, ...]) -> Any:  # noqa: ANN401 - a number or a text
    """Show an object of another library: numbers of numpy as such, the rest by its repr."""
    as_list = getattr(value, "tolist", None)
    if callable(as_list) and not isinstance(value, type):
        return _plain(as_list(), inside)
    return _ADDRESS.sub("", _SHOW.repr(value))


def json_text(value: object, *, sort_keys: bool = False) -> str:
    """Write any value as JSON; never fail.

    Example:
        >>> json_text({"b": 1, "a": {3}}, sort_keys=True)
        '{"a": [3], "b": 1}'
    """
    try:
        return (_SORTED if sort_keys else _AS_IT_IS).encode(value)
    except Exception:  # the text of a foreign key may raise anything
        return json.dumps(plain(value), sort_keys=sort_keys, ensure_ascii=False)


def clean(text: str) -> str:
    r"""Give text that every file can hold: halves of characters are written out.

    Example:
        >>> clean("é \ud83d")
        'é \\ud83d'
    """
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def digest(value: object) -> str:
    """Give a short hash of any value, equal for equal content.

    Example:
        >>> digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1})
        True
    """
    text = json_text(value, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def digest_of_example(example: Example, *, fields: Iterable[str] | None = None) -> str:
    """Give a short hash of some fields of an example, or of all that it holds."""
    names = type(example).model_fields if fields is None else fields
    return digest({name: getattr(example, name) for name in names})


def digest_of_input(example: Example) -> str:
    """Give a short hash of what a system is asked: input, history and tools."""
    return digest([example.input, example.history, example.tools])[:12]


def digest_of_scorer(scorer: Scorer) -> str:
    """Give a short hash of a scorer: name, criteria, configuration and code."""
    criteria = [scorer.criterion, *getattr(scorer, "parts", ())]
    return digest([scorer.name, criteria, describe(scorer)])


def describe(thing: object, *, depth: int = 3) -> Any:  # noqa: ANN401 - any JSON value
    """Say what a callable or an object is: its type, its code and how it was configured.

    Of an object's attributes only those count that its constructor takes by that name (``x`` or
    ``_x``): the others may be what it remembers. What looks like a secret or a cache is left
    out.
    """
    if isinstance(thing, partial):
        return ["partial", describe(thing.func, depth=depth), thing.args, thing.keywords]
    bound = getattr(thing, "__self__", None)
    if inspect.ismethod(thing):
        return [_code(thing), describe(bound, depth=depth - 1)] if depth else _code(thing)
    if inspect.isfunction(thing):
        given = [thing.__defaults__, thing.__kwdefaults__]
        return [thing.__qualname__, _code(thing), _nested(given, depth), _around(thing, depth)]
    if inspect.isbuiltin(thing) or isinstance(thing, type):
        return getattr(thing, "__qualname__", repr(thing))
    methods = inspect.getmembers_static(type(thing), inspect.isfunction)
    code = {name: _code(method) for name, method in methods}
    settings = _settings(thing, depth - 1) if depth else {}
    return [type(thing).__qualname__, code, settings]


def _settings(thing: object, depth: int) -> dict[str, Any]:
    """What shapes an object, by name. Scorers of this library remember nothing: all counts."""
    try:
        held = {**_slots(thing), **(vars(thing) if hasattr(thing, "__dict__") else {})}
        names = list(inspect.signature(type(thing)).parameters)
    except (TypeError, ValueError):
        return {}
    if type(thing).__module__.startswith("evaltoolkit.scorers."):
        found = held
    else:
        found = {name: held.get(name, held.get(f"_{name}")) for name in names}
    return {
        name: _nested(value, depth)
        for name, value in sorted(found.items())
        if value is not None and not _is_left_out(name, value)
    }


def _is_left_out(name: str, value: object) -> bool:
    """Whether it is a secret or a cache; ``max_tokens`` and ``keywords`` only sound like one."""
    return bool(_LEFT_OUT.search(name)) and not isinstance(value, int | float | list | tuple)


def _nested(value: object, depth: int) -> object:
    if isinstance(value, dict):
        return {str(name): _nested(item, depth) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_nested(item, depth) for item in value]
    own = type(value).__module__.startswith("evaltoolkit.") and not isinstance(value, BaseModel)
    describable = own or callable(value) or callable(getattr(value, "score", None))
    return describe(value, depth=depth) if describable and depth >= 0 else value


def _slots(thing: object) -> dict[str, Any]:
    names = getattr(type(thing), "__slots__", ())
    names = [names] if isinstance(names, str) else names
    return {name: getattr(thing, name) for name in names if hasattr(thing, name)}


def _around(function: FunctionType, depth: int) -> dict[str, Any]:
    """What a function takes from where it was made, such as the name of a model, by name.

    Fixed values and other functions count. What can change on the way does not: lists, dicts,
    and names that the function sets itself.
    """
    codes = list(_codes(function.__code__))
    set_here = {i.argval for code in codes for i in get_instructions(code) if i.opname in _SETS}
    names = {name for code in codes for name in code.co_names}
    held = {name: function.__globals__[name] for name in names & function.__globals__.keys()}
    helpers = {name: v for name, v in held.items() if _is_fixed(v) or _is_helper(v, function)}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    closed = {name: cell.cell_contents for name, cell in cells if _is_filled(cell)}
    found = helpers | {name: v for name, v in closed.items() if _is_fixed(v) or callable(v)}
    return {
        name: _nested(value, depth - 1)
        for name, value in sorted(found.items())
        if name not in set_here
        and not _is_left_out(name, value)
        and (depth > 0 or _is_fixed(value))
    }


_SETS = ("STORE_GLOBAL", "STORE_DEREF")


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Give the code of a function and of all that stand within it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)


def _is_fixed(value: object) -> bool:
    if isinstance(value, tuple):
        return all(_is_fixed(item) for item in value)
    return isinstance(value, str | bytes | int | float)


def _is_helper(value: object, function: FunctionType) -> bool:
    """Whether it is a function of the same module or notebook; libraries have versions."""
    return inspect.isfunction(value) and value.__module__ == function.__module__


def _is_filled(cell: Any) -> bool:  # noqa: ANN401 - a cell, which may be empty
    try:
        cell.cell_contents  # noqa: B018 - reading it is the test
    except ValueError:
        return False
    return True


def _code(function: object) -> str | None:
    code = getattr(function, "__code__", None)
    return _digest_of_code(code) if isinstance(code, CodeType) else None


def _digest_of_code(code: CodeType) -> str:
    """Hash what a function does, but not where it stands or how its lines are laid out."""
    constants = [
        _digest_of_code(each) if isinstance(each, CodeType) else _constant(each)
        for each in code.co_consts
    ]
    return digest([code.co_code.hex(), code.co_names, constants])


def _constant(value: object) -> str:
    # The order in which a frozenset shows its members changes from one process to the next.
    return repr(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)
