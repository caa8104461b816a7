"""Columns straight from the bytes of many JSON lines, where the lines are plain.

A line is plain if it has the shape of an earlier line (see `line_shapes`), holds no escape and no
control character, and has a text, an ordinary number, a truth value or null in every gap. That is
checked byte by byte, many lines at a time, so that it is exact: a plain line is valid JSON whose
keys are distinct, and its values are known without a parser. Every other line is given back as
odd, to be parsed with care, and nothing is decided about it here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evaltoolkit.readers.line_shapes import MAX_BYTES, Field, Shape, shape_of
from evaltoolkit.readers.plain_values import (
    BAD,
    NESTED,
    STRING,
    Spans,
    canonical,
    column,
    kinds_of,
    texts,
    words_of,
)

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_MAX_SHAPES = 12
_QUOTE, _NEWLINE, _RETURN, _BACKSLASH = 34, 10, 13, 92
_BLANK = 32
ROOM = MAX_BYTES + 16
"""Bytes to keep free behind the lines, so that a comparison may run over their end."""


@dataclass
class PlainLines:
    """What was found in the bytes.

    Attributes:
        columns: The values of the plain lines by key, null where a line lacks the key; the keys
            in the order in which they first occur.
        first: For each key, the line (from 0) and the place within it of its first occurrence.
        plain: Numbers of the plain lines, from 0, ascending.
        odd: Numbers of the other lines, ascending; blank lines without any character are neither.
    """

    columns: dict[str, pa.Array]
    first: dict[str, tuple[int, int]]
    plain: Ints
    odd: Ints


def take_apart(content: bytes | bytearray, size: int | None = None) -> PlainLines | None:
    """Take apart the lines of some bytes; None where that cannot be done for them as a whole.

    Args:
        content: Whole lines, the last one ended by a newline.
        size: How many of the bytes are lines, where at least `ROOM` zeros stand behind them;
            otherwise all are, and they are copied once.
    """
    if size is None:
        content, size = content + bytes(ROOM), len(content)
    try:
        str(memoryview(content)[:size], "utf-8")
    except UnicodeDecodeError:
        return None
    lines = _Lines(content, size)
    table = _Table(lines)
    for _ in range(_MAX_SHAPES):
        if len(lines.left) == 0:
            break
        number = int(lines.left[0])
        shape = shape_of(bytes(content[lines.starts[number] : lines.ends[number]]))
        if shape is None:
            lines.set_aside(1)
        else:
            table.take(shape, number)
    return table.finished()


class _Lines:
    """Where the lines and the quotation marks are."""

    def __init__(self, content: bytes | bytearray, size: int) -> None:
        self.size = size
        self.bytes = np.frombuffer(content, np.uint8)[: size + ROOM]
        self.words = words_of(self.bytes)
        low = np.flatnonzero(self.bytes[: self.size] < _BLANK)
        at = self.bytes[low]
        newlines = low[at == _NEWLINE]
        self.starts: Ints = np.concatenate([[0], newlines[:-1] + 1])
        self.ends: Ints = newlines - (self.bytes[np.maximum(newlines - 1, 0)] == _RETURN)
        self.ends = np.maximum(self.ends, self.starts)
        strange = low[at != _NEWLINE]
        strange = strange[self.ends[np.searchsorted(newlines, strange)] != strange]
        if content.find(b"\\", 0, size) >= 0:
            escapes = np.flatnonzero(self.bytes == _BACKSLASH)
            strange = np.concatenate([strange, escapes])
        # The last two stand for whatever quotation mark a broken line would look for.
        quotes = np.flatnonzero(self.bytes == _QUOTE)
        self.quotes: Ints = np.concatenate([quotes, np.full(2, self.size)])
        is_odd = self.ends == self.starts
        self.blank = np.flatnonzero(is_odd)
        is_odd[np.searchsorted(newlines, strange)] = True
        self.odd: list[Ints] = [np.flatnonzero(is_odd)]
        self.left: Ints = np.flatnonzero(~is_odd)

    def set_aside(self, count: int) -> None:
        """Count the next lines among the odd ones."""
        self.odd.append(self.left[:count])
        self.left = self.left[count:]


@dataclass
class _Table:
    """The fields of the plain lines found so far."""

    lines: _Lines
    first: dict[str, tuple[int, int]] = field(default_factory=dict)
    found: dict[str, Spans] = field(default_factory=dict)

    def take(self, shape: Shape, number: int) -> None:
        """Take the lines of one shape out of those that are left."""
        match = _Match(self.lines, shape)
        good = match.good
        if not good[0]:
            # Its own values are unusual: it would be tried again and again.
            self.lines.set_aside(1)
            good = good[1:]
            match.drop_first()
        numbers = self.lines.left[good]
        self.lines.left = self.lines.left[~good]
        if len(numbers) == 0:
            return
        for place, each in enumerate(shape.fields):
            self.first.setdefault(each.name, (number, place))
            spans = self.found.get(each.name)
            if spans is None:
                spans = self.found[each.name] = Spans.nothing(self.lines.starts)
            match.put(each, spans, numbers, good)

    def finished(self) -> PlainLines | None:
        """Make the columns."""
        lines = self.lines
        odd = np.sort(np.concatenate([*lines.odd, lines.left]))
        is_plain = np.ones(len(lines.starts), dtype=bool)
        is_plain[odd] = False
        plain = np.flatnonzero(is_plain)
        columns: dict[str, pa.Array] = {}
        for name in sorted(self.found, key=self.first.__getitem__):
            made = column(self.found[name].at(plain), lines.bytes)
            if made is None:
                return None
            columns[name] = made
        odd = odd[~np.isin(odd, lines.blank)]
        return PlainLines(columns, self.first, plain, odd)


class _Match:
    """The lines that are left, followed along one shape."""

    def __init__(self, lines: _Lines, shape: Shape) -> None:
        self.lines = lines
        self.shape = shape
        self.starts = lines.starts[lines.left]
        self.ends = lines.ends[lines.left]
        self.good: Mask = np.ones(len(self.starts), dtype=bool)
        self.gaps: list[tuple[Ints, Ints, NDArray[np.int8]]] = []
        self._place = self.starts
        self._quote: Ints = np.searchsorted(lines.quotes, self.starts)
        self._follow()

    def drop_first(self) -> None:
        """Leave out the first line, which is not good."""
        self.good = self.good[1:]
        self.starts, self.ends = self.starts[1:], self.ends[1:]
        self.gaps = [(start[1:], end[1:], kind[1:]) for start, end, kind in self.gaps]

    def _follow(self) -> None:
        *before, last = self.shape.literals
        for number, literal in enumerate(before):
            self._literal(literal)
            following = self.shape.literals[number + 1]
            self._gap(following, number == len(before) - 1)
        self._literal(last)
        self.good &= self._place == self.ends
        nested = {
            number
            for each in self.shape.fields
            if each.nested
            for number in range(each.first, each.first + each.count)
        }
        for number, (start, end, kind) in enumerate(self.gaps):
            self.good &= kind != BAD
            if number in nested:
                self.good &= canonical(start, end, kind, self.lines.bytes, self.good)

    def _literal(self, literal: bytes) -> None:
        words = self.lines.words
        place = np.minimum(self._place, self.lines.size)
        differs = np.zeros(len(place), np.uint64)
        for offset in range(0, len(literal), 8):
            part = literal[offset : offset + 8]
            found = words[offset:][place]
            found ^= np.uint64(int.from_bytes(part, "little"))
            if len(part) < 8:
                found &= np.uint64((1 << (8 * len(part))) - 1)
            differs |= found
        self.good &= differs == 0
        self._place = place + len(literal)
        self._quote = self._quote + literal.count(b'"')

    def _gap(self, following: bytes, is_last: bool) -> None:
        lines = self.lines
        start = np.minimum(self._place, lines.size)
        is_text = lines.bytes[start] == _QUOTE
        quote = np.minimum(self._quote, len(lines.quotes) - 2)
        end = lines.quotes[1:][quote] + 1
        if is_text.all():
            kind = np.full(len(start), STRING, np.int8)
            self._quote = quote + 2
        else:
            end = np.where(is_text, end, self._number_end(following, start, is_last))
            end = np.clip(end, start, lines.size)
            self.good &= end > start
            kind = kinds_of(start, end, is_text, lines.bytes)
            self._quote = quote + 2 * is_text
        self.gaps.append((start, end, kind))
        self._place = end

    def _number_end(self, following: bytes, start: Ints, is_last: bool) -> Ints:
        """Find the end of what is no text: what follows it up to the next quotation mark."""
        if b'"' in following:
            quote = np.minimum(self._quote, len(self.lines.quotes) - 1)
            end: Ints = self.lines.quotes[quote] - following.index(b'"')
            return end
        return self.ends - len(following) if is_last else self._before(following[:1], start)

    def _before(self, mark: bytes, start: Ints) -> Ints:
        """Find where a comma or bracket ends a number; none is longer than a few words."""
        found = np.full(len(start), -1)
        for offset in range(40):
            here = self.lines.bytes[np.minimum(start + offset, self.lines.size)] == mark[0]
            found = np.where((found < 0) & here, start + offset, found)
        return found

    def put(self, each: Field, spans: Spans, numbers: Ints, good: Mask) -> None:
        """Write down where the values of one key are."""
        if not each.nested:
            spans.put(numbers, *self._good_gap(each.first, good))
            return
        if each.count:
            last = each.first + each.count - 1
            start = self._good_gap(each.first, good)[0] - len(each.opening.encode())
            end = self._good_gap(last, good)[1] + len(each.closing.encode())
        else:
            # A value without gaps is the same in all lines.
            end = start = self.starts[good]
        spans.put(numbers, start, end, np.full(len(numbers), NESTED, np.int8))
        if each.pieces is not None or not each.count:
            spans.put_texts(numbers, self._written(each, good))

    def _good_gap(self, number: int, good: Mask) -> tuple[Ints, Ints, NDArray[np.int8]]:
        start, end, kind = self.gaps[number]
        return (start, end, kind) if good.all() else (start[good], end[good], kind[good])

    def _written(self, each: Field, good: Mask) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Write nested values anew, from the texts around their gaps and what is in those."""
        import pyarrow as pa
        import pyarrow.compute as pc

        pieces = each.pieces or (each.opening,)
        if not each.count:
            return pa.array([pieces[0]], pa.large_string()).take(
                pa.array(np.zeros(int(good.sum()), np.int64))
            )
        parts: list[Any] = [pieces[0]]
        for number, piece in enumerate(pieces[1:], start=each.first):
            start, end, kind = self._good_gap(number, good)
            is_null = np.zeros(len(kind), dtype=bool)
            parts += [texts(start, end, is_null, self.lines.bytes), piece]
        parts = [pa.scalar(p, pa.large_string()) if isinstance(p, str) else p for p in parts]
        return pc.binary_join_element_wise(*parts, pa.scalar("", pa.large_string()))
