"""What stands at places of a buffer of JSON text: kinds of scalars, and Arrow columns of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evaltoolkit.readers.parsing import is_canonical_number

if TYPE_CHECKING:
    import pyarrow as pa

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
Kinds = NDArray[np.int8]
Mask = NDArray[np.bool_]
Words = NDArray[np.uint64]

NULL, STRING, TRUE, FALSE, SHORT, NUMBER, NESTED = range(7)
"""Kinds of values; ``SHORT`` is a whole number of one to eight digits without sign."""

BAD = -1

_NUMBER = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$"
_WHOLE = r"^-?[0-9]+$"
_LONGEST_EXACT = 15
# Whole numbers and short decimals that Python writes as they stand.
_AS_WRITTEN = r"^(0|-?[1-9][0-9]{0,14}|-?(0|[1-9][0-9]{0,9})\.(0|[0-9]{0,3}[1-9]))$"

_MASKS = np.array([(1 << (8 * n)) - 1 for n in range(9)], np.uint64)
_ZEROS = np.uint64(0x3030303030303030)
_HIGH = np.uint64(0xF0F0F0F0F0F0F0F0)
_SIX = np.uint64(0x0606060606060606)


def words_of(content: Bytes) -> Words:
    """View bytes as overlapping words of eight, little end first; the last seven bytes have none.

    Args:
        content: The bytes.
    """
    shape = (len(content) - 7,)
    return np.ndarray(shape, dtype="<u8", buffer=content, strides=(1,))


def kinds_of(start: Ints, end: Ints, is_text: Mask, content: Bytes) -> Kinds:
    """Say what kind of scalar stands at each place, ``BAD`` where none does."""
    word = words_of(content)[start]
    length = end - start
    kind = np.full(len(start), BAD, np.int8)
    for name, which in ((b"null", NULL), (b"true", TRUE), (b"false", FALSE)):
        same = (word & _MASKS[len(name)]) == np.uint64(int.from_bytes(name, "little"))
        kind[same & (length == len(name))] = which
    digits = (word & _MASKS[np.clip(length, 0, 8)]) | (_ZEROS & ~_MASKS[np.clip(length, 0, 8)])
    short = ((digits & _HIGH) == _ZEROS) & (((digits + _SIX) & _HIGH) == _ZEROS)
    short &= (length >= 1) & (length <= 8) & ((content[start] != 48) | (length == 1))
    kind[short] = SHORT
    kind[is_text] = STRING
    unsure = np.flatnonzero(kind == BAD)
    if len(unsure):
        tokens = texts(start[unsure], end[unsure], np.zeros(len(unsure), bool), content)
        kind[unsure[_matches(tokens, _NUMBER)]] = NUMBER
    return kind


def canonical(start: Ints, end: Ints, kind: Kinds, content: Bytes, good: Mask) -> Mask:
    """Say where a scalar stands as Python writes it: all but numbers such as 1.50 do.

    Args:
        start: Where the scalars begin.
        end: Where they end.
        kind: Their kinds.
        content: The bytes.
        good: Which to look at; the others are passed over.
    """
    fine = np.ones(len(start), dtype=bool)
    numbers = np.flatnonzero((kind == NUMBER) & good)
    if len(numbers) == 0:
        return fine
    tokens = texts(start[numbers], end[numbers], np.zeros(len(numbers), bool), content)
    unsure = np.flatnonzero(~_matches(tokens, _AS_WRITTEN))
    if len(unsure):
        encoded = tokens.take(_index(unsure)).dictionary_encode()
        verdicts = [is_canonical_number(text) for text in encoded.dictionary.to_pylist()]
        fine[numbers[unsure]] = np.array(verdicts)[encoded.indices.to_numpy()]
    return fine


def texts(start: Ints, end: Ints, is_null: Mask, content: Bytes) -> pa.Array:
    """Take texts out of a buffer of UTF-8; they must stand in ascending order in it."""
    import pyarrow as pa

    offsets = np.empty(2 * len(start) + 1, np.int64)
    offsets[0], offsets[1::2], offsets[2::2] = 0, start, end
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(content)]
    pieces = pa.Array.from_buffers(pa.large_string(), 2 * len(start), buffers)
    return pieces.take(_index(np.arange(1, 2 * len(start), 2), is_null))


@dataclass
class Spans:
    """Where the values of one key are, line by line.

    Attributes:
        start: Where each begins.
        end: Where each ends.
        kind: Its kind; null where the line lacks the key.
        written: Texts that replace what stands there: the numbers of their lines, and they.
    """

    start: Ints
    end: Ints
    kind: Kinds
    written: list[tuple[Ints, pa.Array]] = field(default_factory=list)

    @classmethod
    def nothing(cls, starts: Ints) -> Spans:
        """Begin with no value in any line; ``starts`` says where the lines begin."""
        return cls(starts.copy(), starts.copy(), np.full(len(starts), NULL, np.int8))

    def put(self, lines: Ints, start: Ints, end: Ints, kind: Kinds) -> None:
        """Write down the values of some lines."""
        if len(lines) == len(self.start):
            self.start, self.end, self.kind = start, end, kind
            return
        self.start[lines], self.end[lines], self.kind[lines] = start, end, kind

    def put_texts(self, lines: Ints, written: pa.Array) -> None:
        """Replace the texts of some lines."""
        self.written.append((lines, written))

    def at(self, lines: Ints) -> Spans:
        """Give the values of some lines only, all that have replaced texts among them."""
        if len(lines) == len(self.start):
            return self
        written = [(np.searchsorted(lines, numbers), texts) for numbers, texts in self.written]
        return Spans(self.start[lines], self.end[lines], self.kind[lines], written)


def column(spans: Spans, content: Bytes) -> pa.Array | None:
    """Make one Arrow column: text, truth values, whole numbers, numbers or all null.

    None stands for a column that has several kinds of values, or numbers that need care.
    """
    import pyarrow as pa

    kinds = {int(kind) for kind in np.flatnonzero(np.bincount(spans.kind, minlength=7))} - {NULL}
    is_null = spans.kind == NULL
    if not kinds:
        return pa.nulls(len(is_null))
    if kinds <= {STRING, NESTED}:
        return _text_column(spans, is_null, content)
    if kinds <= {TRUE, FALSE}:
        return pa.array(spans.kind == TRUE, mask=is_null)
    if kinds == {SHORT}:
        return pa.array(_short_numbers(spans, content), mask=is_null)
    return _number_column(spans, is_null, content) if kinds <= {SHORT, NUMBER} else None


def _text_column(spans: Spans, is_null: Mask, content: Bytes) -> pa.Array:
    import pyarrow as pa

    quoted = (spans.kind == STRING).astype(np.int64)
    found = texts(spans.start + quoted, spans.end - quoted, is_null, content)
    if not spans.written:
        return found
    chosen = np.arange(len(is_null))
    count = len(is_null)
    for lines, written in spans.written:
        chosen[lines] = np.arange(count, count + len(written))
        count += len(written)
    return pa.concat_arrays([found, *(each for _, each in spans.written)]).take(_index(chosen))


def _short_numbers(spans: Spans, content: Bytes) -> Ints:
    """Read whole numbers of up to eight digits, all digits of a number at once.

    Source: Daniel Lemire, "Quickly parsing eight digits" (2018).
    """
    length = np.where(spans.kind == NULL, 0, spans.end - spans.start)
    shift = (8 * (8 - np.maximum(length, 1))).astype(np.uint64)
    digits = (words_of(content)[spans.start] & _MASKS[length]) << shift
    digits |= _ZEROS & ((np.uint64(1) << shift) - np.uint64(1))
    digits -= _ZEROS
    digits = (digits * np.uint64(10) + (digits >> np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
    digits = (digits * np.uint64(100) + (digits >> np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
    digits = (digits * np.uint64(10_000) + (digits >> np.uint64(32))) & _MASKS[4]
    numbers: Ints = digits.astype(np.int64)
    return numbers


def _number_column(spans: Spans, is_null: Mask, content: Bytes) -> pa.Array | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    tokens = texts(spans.start, spans.end, is_null, content)
    whole = pc.match_substring_regex(tokens, _WHOLE)
    try:
        if pc.all(whole).as_py():
            return pc.cast(tokens, pa.int64())
        numbers = pc.cast(tokens, pa.float64())
    except pa.ArrowInvalid:
        return None
    long = pc.and_(whole, pc.greater(pc.binary_length(tokens), _LONGEST_EXACT))
    careful = pc.any(pc.or_(long, pc.invert(pc.is_finite(numbers)))).as_py()
    return None if careful else numbers


def _matches(tokens: pa.Array, pattern: str) -> Mask:
    import pyarrow.compute as pc

    found: Mask = pc.match_substring_regex(tokens, pattern).to_numpy(zero_copy_only=False)
    return found.astype(bool)


def _index(places: NDArray[Any], is_null: Mask | None = None) -> pa.Array:
    import pyarrow as pa

    return pa.array(places, mask=is_null if is_null is not None and is_null.any() else None)
