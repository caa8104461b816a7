"""Small things that readers of nested records share: digests, JSON cells, attributes, numbers."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from evaltoolkit.readers.base import Row
from evaltoolkit.schema import SCORES

SHORT_TEXT = 80
"""Longest text that may stand in the score table as an attribute or a label."""

BAD_RECORD = (
    ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError
)  # fmt: skip
"""What goes wrong in a record that is not laid out as its tool writes it."""

_MESSAGE_TEXT = 300
# The right answer is no attribute of an example that one could slice by.
_GROUND_TRUTH = frozenset({"answer", "answers", "gold", "label", "reference", "solution", "target"})
_DIGEST_DIGITS = 12


def digest(value: object) -> str:
    """Give a short hash of anything that JSON can hold, equal for equal content.

    Example:
        >>> digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1}), len(digest("x"))
        (True, 12)
    """
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
    hashed = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    return hashed.hexdigest()[:_DIGEST_DIGITS]


def as_json(value: object) -> str:
    """Write one value as a JSON cell; NaN and infinities become text, since JSON has none.

    Example:
        >>> as_json({"é": [1, float("nan")]})
        '{"é": [1, "NaN"]}'
    """
    return json.dumps(_finite(value), ensure_ascii=False, default=str)


def _finite(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return non_finite_name(value)
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def non_finite_name(value: float) -> str:
    """Name NaN and what is beyond all floats as tools write it: NaN, Infinity, -Infinity."""
    # Not math.isnan: a whole number may be too large for it.
    if value != value:
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def as_cell(value: object) -> str | None:
    """Turn a text, list or object into one text cell: text as it is, the rest as JSON."""
    if value is None or isinstance(value, str):
        return value
    return as_json(value)


def as_written(value: object) -> str | None:
    """Write any value of a file as text, for a label: NaN and infinities by their names.

    Example:
        >>> as_written(float("nan")), as_written("tie"), as_written(None)
        ('NaN', 'tie', None)
    """
    if isinstance(value, float) and not math.isfinite(value):
        return non_finite_name(value)
    return as_cell(value)


def as_label(value: object) -> str | None:
    """Write what stands in the place of a score, short: numbers and truth values as numbers.

    Example:
        >>> as_label(True), as_label(0.50), as_label("not parsable"), as_label(None)
        ('1', '0.5', 'not parsable', None)
    """
    number = finite_number(float(value) if isinstance(value, bool) else value)
    if number is not None:
        return f"{number:g}"
    text = as_written(value)
    return None if text is None else shortened(text, limit=SHORT_TEXT)


def shortened(text: str, *, limit: int = _MESSAGE_TEXT) -> str:
    r"""Put text on one line and cut it, so that no transcript enters the score table.

    Example:
        >>> shortened("a\n  b " * 9, limit=8)
        'a b a b…'
    """
    # Only the beginning is looked at: an error text can be megabytes long.
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit and len(text) <= 4 * limit else line[: limit - 1] + "…"


def finite_number(value: object) -> float | None:
    """Give a finite number, or None for anything else (a Boolean is no number here)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def moment(seconds: object) -> str | None:
    """Write seconds since 1970 as a time of day; None for anything that is no such number.

    Example:
        >>> moment(1705687844.5), moment("yesterday")
        ('2024-01-19T18:10:44.500000+00:00', None)
    """
    number = finite_number(seconds)
    try:
        return None if number is None else datetime.fromtimestamp(number, tz=UTC).isoformat()
    except (OverflowError, OSError, ValueError):
        return None


def is_short_scalar(value: object) -> bool:
    """Say whether a value may be an attribute: a truth value, a finite number or a short text."""
    if isinstance(value, str):
        return len(value) <= SHORT_TEXT
    return isinstance(value, bool) or finite_number(value) is not None


def attribute_names(examples: Mapping[str, Iterable[Mapping[str, Any]]]) -> list[str]:
    """Find the fields that describe the example: short scalars, the same in all its trials.

    A field that holds the right answer, or a long text for a single example, is left out.

    Args:
        examples: For each example id, the free fields that its records carry.

    Returns:
        The names, in order of first appearance.
    """
    first: dict[str, dict[str, Any]] = {}
    refused = set(_GROUND_TRUTH)
    for example, records in examples.items():
        for record in records:
            for name, value in record.items():
                known = first.setdefault(name, {})
                same = known.setdefault(example, value) == value
                if value is not None and not (same and is_short_scalar(value)):
                    refused.add(name)
    return [
        name
        for name, values in first.items()
        if name not in refused and any(value is not None for value in values.values())
    ]


def attributes(record: Mapping[str, Any], names: Iterable[str], *, prefix: str) -> Row:
    """Take the named fields as columns; a name that a table column has gets the prefix.

    Example:
        >>> attributes({"topic": "law", "source": "exam"}, ["topic", "source"], prefix="metadata")
        {'topic': 'law', 'metadata.source': 'exam'}
    """
    return {
        (f"{prefix}.{name}" if name in SCORES.known else name): record.get(name) for name in names
    }
