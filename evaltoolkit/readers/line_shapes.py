"""The shape of a JSON line: its text with a gap wherever a text, number or truth value stands.

A program writes its lines in one go of the same code, so that most have one shape: the same keys
in the same order with the same spaces. Such lines need no parser: see `plain_lines`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from evaltoolkit.readers.parsing import with_distinct_keys
from evaltoolkit.readers.records import as_json

_TOKEN = re.compile(r'("[^"\\]*")|([{}\[\],:])|([^\s{}\[\],:"\\]+)|(\s+)')
_MAX_GAPS = 200
MAX_BYTES = 65_536
"""Longer lines are few; they are not worth the trouble."""

# Stands in the gaps while the text around them is written again.
_MARK = 987_654_321_987


@dataclass(frozen=True)
class Field:
    """One key of the object: which gaps its value takes up, and how.

    Attributes:
        name: The key.
        first: Number of its first gap.
        count: How many gaps; a scalar has one.
        nested: Whether its value is an object or array.
        opening: For a nested value, its text before its first gap.
        closing: For a nested value, its text after its last gap.
        pieces: For a nested value, the texts around its gaps as `records.as_json` writes them,
            one more than there are gaps; None where the value already is written like that.
    """

    name: str
    first: int
    count: int = 1
    nested: bool = False
    opening: str = ""
    closing: str = ""
    pieces: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Shape:
    """The shape of a line.

    Attributes:
        literals: The texts around the gaps, one more than there are gaps.
        fields: The keys, in their order.
    """

    literals: tuple[bytes, ...]
    fields: tuple[Field, ...]


def shape_of(line: bytes) -> Shape | None:
    """Find the shape of a line; None where it has none that could be followed safely."""
    if len(line) > MAX_BYTES:
        return None
    try:
        text = line.decode("utf-8")
        value = json.loads(text, object_pairs_hook=with_distinct_keys)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not value:
        return None
    walk = _Walk()
    if not walk.run(text) or len(walk.literals) > _MAX_GAPS:
        return None
    fields = [_field(walk, number, name) for number, name in enumerate(value)]
    if any(each.pieces is not None and len(each.pieces) != each.count + 1 for each in fields):
        return None
    return Shape(tuple(each.encode() for each in walk.literals), tuple(fields))


def _field(walk: _Walk, number: int, name: str) -> Field:
    first, after = walk.bounds[number]
    text = walk.texts[number]
    if text is None:
        return Field(name, first)
    inner = walk.literals[first + 1 : after]
    opening, closing = walk.edges[number]
    own = (opening, *inner, closing) if after > first else (opening,)
    pieces = tuple(as_json(json.loads(str(_MARK).join(own))).split(str(_MARK)))
    return Field(
        name,
        first,
        after - first,
        nested=True,
        opening=opening,
        closing=closing,
        pieces=None if pieces == own else pieces,
    )


class _Walk:
    """One pass over the tokens of a line, which is known to be valid JSON."""

    def __init__(self) -> None:
        self.literals: list[str] = [""]
        self.bounds: list[tuple[int, int]] = []
        self.texts: list[str | None] = []
        self.edges: list[tuple[str, str]] = []
        self._stack: list[str] = []
        self._expect_key = False
        self._start = 0
        self._first = 0
        self._place = 0
        self._opening: str | None = None

    def run(self, line: str) -> bool:
        """Go through the line; False where it holds an escape."""
        place = 0
        while place < len(line):
            match = _TOKEN.match(line, place)
            if match is None:
                return False
            self._take(match, line)
            place = match.end()
        return not self._stack

    def _take(self, match: re.Match[str], line: str) -> None:
        text, mark, scalar, _ = match.groups()
        if mark is not None:
            self._punctuation(mark, match, line)
        elif text is not None and self._expect_key and self._stack[-1] == "{":
            self._expect_key = False
            self.literals[-1] += text
        elif text is not None or scalar is not None:
            self._gap()
        else:
            self.literals[-1] += match.group()

    def _gap(self) -> None:
        if len(self._stack) == 1:
            self.bounds.append((len(self.literals) - 1, len(self.literals)))
            self.texts.append(None)
            self.edges.append(("", ""))
        elif self._opening is None:
            self._opening = self.literals[-1][self._start :]
        self.literals.append("")

    def _punctuation(self, mark: str, match: re.Match[str], line: str) -> None:
        if mark in "{[" and len(self._stack) == 1:
            self._start, self._first = len(self.literals[-1]), len(self.literals) - 1
            self._opening, self._place = None, match.start()
        self.literals[-1] += mark
        if mark in "{[":
            self._stack.append(mark)
        elif mark in "}]":
            self._stack.pop()
            if len(self._stack) == 1:
                self._close(line[self._place : match.end()])
        self._expect_key = mark == "{" or (mark == "," and self._stack[-1:] == ["{"])

    def _close(self, text: str) -> None:
        after = len(self.literals) - 1
        self.bounds.append((self._first, after))
        self.texts.append(text)
        if self._opening is None:
            self.edges.append((self.literals[-1][self._start :], ""))
        else:
            self.edges.append((self._opening, self.literals[-1]))
