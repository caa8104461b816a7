"""Results that their tool does not save itself: the ways in which people save them as JSON.

One object, a list, JSON lines, a list under a name such as ``results``, or an object by id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from evaltoolkit.readers.base import Reading, Row, Source, json_lines

_LISTS = ("results", "runs", "evaluations", "records")

Fits = Callable[[object], bool]
"""Whether a JSON value is a record of the format."""


class Entry(NamedTuple):
    """One record: where it stands, the id that the document files it under, its fields."""

    record: str
    name: str | None
    raw: Row


def first(source: Source) -> list[object]:
    """Give the values that may be the first record, without raising for files of other kinds."""
    if source.is_folder or source.is_zip or not source.looks_like_json:
        return []
    if source.is_json_lines:
        return [source.first_line]
    document = source.document
    inner = next((value for _, _, value in _parts(document)), None)
    return [document, inner]


def entries(source: Source, reading: Reading, fits: Fits) -> Iterator[Entry]:
    """Go through the records of a file; what is no object goes to `Reading.bad_record`."""
    if source.is_json_lines:
        for record, raw in json_lines(source.path, reading):
            yield Entry(record, None, raw)
        return
    document = source.document
    if fits(document):
        yield Entry("document", None, document)
        return
    for record, name, value in _parts(document):
        if isinstance(value, dict):
            yield Entry(record, name, value)
        else:
            error = ValueError(f"it is of type {type(value).__name__}, not an object")
            reading.bad_record(source.path, record, error)


def _parts(document: object) -> Iterator[tuple[str, str | None, Any]]:
    if isinstance(document, list):
        yield from ((f"record {number}", None, value) for number, value in enumerate(document))
        return
    if not isinstance(document, Mapping):
        return
    name = next((name for name in _LISTS if isinstance(document.get(name), list)), None)
    if name is not None:
        for number, value in enumerate(document[name]):
            yield f"{name}[{number}]", None, value
        return
    yield from ((f"record {key!r}", str(key), value) for key, value in document.items())
