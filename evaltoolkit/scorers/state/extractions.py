"""Read what a model extracted: a JSON array of paths, values, confidences and reasons."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import islice
from typing import Any, ClassVar, NamedTuple

from pydantic import ConfigDict, JsonValue

from evaltoolkit.errors import SchemaError
from evaltoolkit.models import Model
from evaltoolkit.scorers.base import Unmeasurable, is_array, shorten
from evaltoolkit.scorers.parsing import parse_json
from evaltoolkit.scorers.state.interpretive import Confidence
from evaltoolkit.scorers.state.mutation import MutationError

_START = re.compile(r"\[\s*[{\]]")
_MAX_STARTS = 100


class FieldExtraction(Model):
    """One thing that a model read out of a message; further keys are ignored.

    Attributes:
        path: Dotted path of the field.
        value: The value.
        confidence: From -1 to 1.
        inference: Why.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="ignore")

    path: str
    value: Any
    confidence: Confidence
    inference: str


class TextExtraction(FieldExtraction):
    """One whose value is a text, as langstate has it."""

    value: str


class JSONExtraction(FieldExtraction):
    """One whose value is any JSON value."""

    value: JsonValue


class Extractions(NamedTuple):
    """What was read of a reply: the valid items, and one row for each item, valid or not."""

    items: tuple[FieldExtraction, ...]
    rows: tuple[Mapping[str, Any], ...]


def read_extractions(reply: object, *, strict: bool = True) -> Extractions:
    """Read the reply of a model.

    Args:
        reply: The reply.
        strict: As langstate reads it: the whole reply is a JSON array, every value a text, and
            one bad item spoils all. Otherwise the array may stand in a fence or in prose (the
            only array of objects there), a value may be any JSON value, and bad items are left
            out.

    Returns:
        The valid items, and a row for each item: ``index``, ``path``, ``value``, ``confidence``,
        ``valid``, ``error`` and ``error_kind`` (``not_an_object``, or ``missing`` or ``wrong``
        and the name of the first bad field: ``missing_path``, ``wrong_value``).

    Raises:
        MutationError: The reply is no text (stage ``client``), no JSON (``json``), no array
            (``shape``), or, if strict, has a bad item (``item``).

    Example:
        >>> reply = '[{"path": "name", "value": "Ada", "confidence": 0.9, "inference": "said so"}]'
        >>> read_extractions(reply).items[0].value
        'Ada'
    """
    if not isinstance(reply, str):
        msg = f"the client gave a {type(reply).__name__}, not a text"
        raise MutationError(msg, stage="client", value=reply)
    found = _parsed(reply, strict=strict)
    if not is_array(found):
        msg = f"the reply is {shorten(found)}, not a JSON array"
        raise MutationError(msg, stage="shape", value=reply)
    kind = TextExtraction if strict else JSONExtraction
    read = [_item(kind, index, item) for index, item in enumerate(found)]
    rows = tuple(row for _, row in read)
    bad = [row for row in rows if not row["valid"]]
    if bad and strict:
        first = bad[0]
        msg = (
            f"{len(bad)} of {len(rows)} item(s) of the reply are malformed, so none is applied; "
            f"the first, item {first['index']}: {first['error']}"
        )
        raise MutationError(msg, stage="item", extractions=rows, value=reply)
    return Extractions(tuple(item for item, _ in read if item is not None), rows)


def _item(
    kind: type[FieldExtraction], index: int, item: object
) -> tuple[FieldExtraction | None, dict[str, Any]]:
    raw: Mapping[str, Any] = item if isinstance(item, Mapping) else {}
    row = {
        "index": index,
        **{name: raw.get(name) for name in ("path", "value", "confidence")},
        "valid": True,
        "error": None,
        "error_kind": None,
    }
    if not isinstance(item, Mapping):
        error = f"{shorten(item)} is not an object"
        return None, {**row, "valid": False, "error": error, "error_kind": "not_an_object"}
    try:
        return kind(**item), row
    except SchemaError as error:
        fault = "missing" if error.code == "missing" else "wrong"
        # The place of a bad part of a value begins with the field.
        field = str(error.path).split(".")[0]
        return None, {
            **row, "valid": False, "error": str(error), "error_kind": f"{fault}_{field}",
        }  # fmt: skip


def _parsed(reply: str, *, strict: bool) -> object:
    try:
        return parse_json(reply)
    except Unmeasurable as error:
        raise MutationError(str(error), stage="json", cause=error, value=reply) from error
    except ValueError as error:
        found = None if strict else _inside(reply)
        if found is None:
            msg = f"the reply is not JSON ({error}): {shorten(reply)}"
            raise MutationError(msg, stage="json", cause=error, value=reply) from error
        return found


def _inside(reply: str) -> object | None:
    """Find the array of objects that stands in a fence or in prose; None if several differ."""
    found: list[object] = []
    stop = 0
    for start in islice(_START.finditer(reply), _MAX_STARTS):
        if start.start() < stop:
            continue  # inside the array before
        try:
            array, stop = json.JSONDecoder().raw_decode(reply, start.start())
        except (ValueError, RecursionError):
            continue
        if array not in found:
            found.append(array)
    # An empty one beside others is an example of the prose.
    filled = [array for array in found if array] or found
    return filled[0] if len(filled) == 1 else None
