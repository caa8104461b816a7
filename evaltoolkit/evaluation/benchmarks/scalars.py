"""Unquoted words of YAML: read only where YAML 1.1 and YAML 1.2 agree on what they mean.

The published loader reads YAML 1.1, in which ``state: on`` means true; an author reads "on". The
same holds for ``yes``, ``010``, ``12:30``, ``1_000``, dates and more. Each such word has a second
reading in the other version, so it is refused with both.
"""

from __future__ import annotations

import math
import re
from functools import cache
from typing import Any, NamedTuple

Scalar = str | int | float | bool | None


class Reading(NamedTuple):
    """What an unquoted word is, and why it must not stay unquoted, if so."""

    value: Scalar
    trap: str | None = None


_NULL = re.compile(r"(?:null|Null|NULL|~|)\Z")
_BOOL = re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z")
_INT = re.compile(r"[-+]?[0-9]+\Z")
_HEX = re.compile(r"0x[0-9a-fA-F]+\Z")
_OCTAL = re.compile(r"0o[0-7]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_NOT_FINITE = re.compile(r"(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+\Z")

_MEANINGS = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "null": "nothing",
    "timestamp": "a date",
    "str": "a text",
}
_LONGEST_NUMBER = 400


def read_word(word: str) -> Reading:
    """Read an unquoted word.

    Args:
        word: The text as it stands in the file.

    Returns:
        The value by YAML 1.2, and a sentence if YAML 1.1 reads it otherwise, or if it is a
        number that JSON does not have. Source: YAML Ain't Markup Language, version 1.2.2 (2021),
        section 10.3, and the type repository of version 1.1 (2005).

    Example:
        >>> read_word("12"), read_word("kitchen")
        (Reading(value=12, trap=None), Reading(value='kitchen', trap=None))
        >>> read_word("on").trap
        'on is true in YAML 1.1 but a text in YAML 1.2; quote it: "on" (or write true)'
    """
    kind = _core_kind(word)
    if kind in ("int", "float") and len(word) > _LONGEST_NUMBER:
        return Reading(word, f"a number of {len(word)} digits; quote it if it is a text")
    if _NOT_FINITE.match(word) or (kind == "float" and not math.isfinite(float(word))):
        return Reading(word, f"{word} is no finite number; quote it if it is a text")
    older = _older_kind(word)
    if older != kind or _LEADING_ZERO.match(word):
        return Reading(word, _trap(word, older, kind))
    return Reading(_value(word, kind))


def _core_kind(word: str) -> str:
    """Name the type of a word by the core schema of YAML 1.2."""
    for kind, patterns in (
        ("null", (_NULL,)),
        ("bool", (_BOOL,)),
        ("int", (_INT, _HEX, _OCTAL)),
        ("float", (_FLOAT,)),
    ):
        if any(pattern.match(word) for pattern in patterns):
            return kind
    return "str"


@cache
def _resolver() -> Any:  # noqa: ANN401 - an object of PyYAML
    import yaml

    return yaml.resolver.Resolver()


def _older_kind(word: str) -> str:
    """Name the type of a word by YAML 1.1, as PyYAML has it."""
    import yaml

    tag: str = _resolver().resolve(yaml.ScalarNode, word, (True, False))
    return tag.rpartition(":")[2]


def _value(word: str, kind: str) -> Scalar:
    if kind == "null":
        return None
    if kind == "bool":
        return word.lower() == "true"
    if kind == "int":
        return int(word, 16) if _HEX.match(word) else int(word)
    return float(word) if kind == "float" else word


def _trap(word: str, older: str, kind: str) -> str:
    remedy = f'quote it: "{word}"'
    if older == "bool":
        truth = "true" if word.lower() in ("yes", "on") else "false"
        return f"{word} is {truth} in YAML 1.1 but a text in YAML 1.2; {remedy} (or write {truth})"
    if _LEADING_ZERO.match(word):
        return f"{word} may be read as octal, as decimal or as a text; {remedy}, or drop the zero"
    one, two = (_MEANINGS.get(each, f"special ({each})") for each in (older, kind))
    plainer = " or write the number out" if "number" in one + two else ""
    return f"{word} is {one} in YAML 1.1 but {two} in YAML 1.2; {remedy}{plainer}"
