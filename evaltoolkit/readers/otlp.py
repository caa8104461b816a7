"""OTLP in JSON: records of logs and spans with their wrapped values taken out.

Field names are read in both spellings of protocol buffers in JSON (``traceId``, ``trace_id``), and
in the containers of early versions (``instrumentationLibrarySpans``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evaltoolkit.readers.base import Row
from evaltoolkit.readers.records import BAD_RECORD, moment

RESPONSE = "gen_ai.response.id"
"""The attribute that names an answer."""

_SPANS, _LOGS = "resourceSpans", "resourceLogs"
_KINDS = (_SPANS, _LOGS, "resourceMetrics")
_SCOPES = ("scopeSpans", "scopeLogs", "instrumentationLibrarySpans", "instrumentationLibraryLogs")
_FAILED = frozenset({2, "STATUS_CODE_ERROR", "ERROR"})
_DEEPEST = 50
_EVALUATION = "gen_ai.evaluation"


@dataclass
class Span:
    """One operation: its attributes, its parent, its times (nanoseconds), and its error."""

    id: str
    trace: str
    parent: str
    name: str
    attributes: Row
    start: int | None
    end: int | None
    error: str | None


@dataclass
class Event:
    """One event of a log or a span (or a span that stands for one).

    Attributes:
        record: Where it stands.
        name: What it calls itself.
        attributes: Its attributes, and the fields of its body where that is an object.
        span: Id of the span that it belongs to; empty where none is given.
        time: Nanoseconds since 1970.
        resource: What produced it.
    """

    record: str
    name: str
    attributes: Row
    span: str
    time: int | None
    resource: Row

    @property
    def response(self) -> str:
        """Id of the answer, where the event names it; else empty."""
        response = self.attributes.get(RESPONSE)
        return response if isinstance(response, str) else ""


@dataclass
class Telemetry:
    """Everything that was collected from one or more exports.

    Attributes:
        spans: The spans by id.
        events: The events of logs and spans, and the spans, which can stand for events.
        metrics: How many groups of metrics there were; they are not read.
        bad: Records that are not laid out as they must be, and what is wrong.
    """

    spans: dict[str, Span] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    metrics: int = 0
    bad: list[tuple[str, Exception]] = field(default_factory=list)

    def add(self, export: Row, record: str) -> None:
        """Take up one export (a whole document, or a line of what a collector writes)."""
        self.metrics += len(_get(export, "resourceMetrics") or [])
        for kind, take in ((_SPANS, self._span), (_LOGS, self._log)):
            for number, group in enumerate(_get(export, kind) or []):
                resource = attributes_of(_get(group, "resource") or {})
                records = [each for name in _SCOPES for each in _scoped(group, name)]
                for place, each in enumerate(records):
                    where = f"{record}, {kind}[{number}] record {place}".lstrip(", ")
                    try:
                        take(each, where, resource)
                    except BAD_RECORD as error:
                        self.bad.append((where, error))

    def _span(self, raw: Row, record: str, resource: Row) -> None:
        status = _get(raw, "status") or {}
        attributes = attributes_of(raw)
        failed = _get(status, "code") in _FAILED
        span = Span(
            id=str(_get(raw, "spanId") or ""),
            trace=str(_get(raw, "traceId") or ""),
            parent=str(_get(raw, "parentSpanId") or ""),
            name=str(_get(raw, "name") or ""),
            attributes=attributes,
            start=_nanoseconds(_get(raw, "startTimeUnixNano")),
            end=_nanoseconds(_get(raw, "endTimeUnixNano")),
            error=_error(status, attributes) if failed else None,
        )
        self.spans[span.id] = span
        # Some bridges can write no event and write a span of no length instead; others put the
        # evaluation on the very span that it is of.
        is_answer = "gen_ai.request.model" in attributes and not span.name.startswith(_EVALUATION)
        of = span.id if is_answer else span.parent
        own = Event(record, span.name, attributes, of, span.start, resource)
        self.events.append(own)
        for number, each in enumerate(_get(raw, "events") or []):
            name = str(_get(each, "name") or "")
            time = _nanoseconds(_get(each, "timeUnixNano"))
            where = f"{record} event {number}"
            self.events.append(Event(where, name, attributes_of(each), span.id, time, resource))

    def _log(self, raw: Row, record: str, resource: Row) -> None:
        body = _unwrapped(_get(raw, "body"))
        attributes = {**(body if isinstance(body, dict) else {}), **attributes_of(raw)}
        time = _nanoseconds(_get(raw, "timeUnixNano")) or _nanoseconds(
            _get(raw, "observedTimeUnixNano")
        )
        names = (_get(raw, "eventName"), attributes.get("event.name"), body)
        name = next((each for each in names if isinstance(each, str) and each), "")
        span = str(_get(raw, "spanId") or "")
        self.events.append(Event(record, name, attributes, span, time, resource))

    def ancestors(self, span: str) -> Iterator[Span]:
        """Go from a span up to its root."""
        for _ in range(_DEEPEST):
            if span not in self.spans:
                return
            yield self.spans[span]
            span = self.spans[span].parent


def is_export(value: object) -> bool:
    """Say whether a JSON value is an export of traces, logs or metrics."""
    return isinstance(value, Mapping) and any(
        isinstance(_get(value, kind), list) for kind in _KINDS
    )


def attributes_of(raw: Row) -> Row:
    """Give the attributes of a record as a plain object.

    Example:
        >>> attributes_of({"attributes": [{"key": "n", "value": {"intValue": "7"}}]})
        {'n': 7}
    """
    given = raw.get("attributes") or []
    if isinstance(given, Mapping):
        return {str(key): _unwrapped(value) for key, value in given.items()}
    return {str(each["key"]): _unwrapped(each.get("value")) for each in given}


def _unwrapped(value: Any, depth: int = 0) -> Any:  # noqa: ANN401 - any JSON value
    """Take a value out of its wrapper; one that has none stays as it is."""
    if not isinstance(value, Mapping) or len(value) != 1 or depth > _DEEPEST:
        return value
    ((kind, inner),) = value.items()
    kind = _camel(str(kind))
    if kind == "intValue":
        return int(inner)
    if kind == "doubleValue":
        return float(inner)
    if kind == "arrayValue":
        return [_unwrapped(each, depth + 1) for each in inner.get("values") or []]
    if kind == "kvlistValue":
        pairs = inner.get("values") or []
        return {str(each["key"]): _unwrapped(each.get("value"), depth + 1) for each in pairs}
    return inner if kind in ("stringValue", "boolValue", "bytesValue") else value


def _scoped(group: Row, name: str) -> list[Row]:
    inner = ("logRecords", "logs") if name.endswith("Logs") else ("spans",)
    scopes = _get(group, name) or []
    return [each for scope in scopes for key in inner for each in _get(scope, key) or []]


def _get(raw: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401 - any JSON value
    """Give a field by its name in either spelling."""
    if name in raw:
        return raw[name]
    return raw.get("".join(f"_{char.lower()}" if char.isupper() else char for char in name))


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def _nanoseconds(value: object) -> int | None:
    """Read nanoseconds since 1970 (text, or a number); 0 means not known."""
    text = str(value)
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 25 else 0
    return number or None


def _error(status: Row, attributes: Row) -> str:
    told = (_get(status, "message"), attributes.get("error.type"))
    return next((str(each) for each in told if each), "the operation failed")


def time_of(nanoseconds: int | None) -> str | None:
    """Write a time of day."""
    return None if nanoseconds is None else moment(nanoseconds / 1e9)
