"""Log rows of Braintrust: spans that are put together to one result for each trace.

A trace is a tree of spans. Its root carries the scores of the example; spans of type ``score``
below it repeat them with an explanation, those of type ``task`` and ``llm`` tell time and tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evaltoolkit.readers.base import Row
from evaltoolkit.readers.records import BAD_RECORD, finite_number

_LOG_KEYS = frozenset({"id", "span_id", "root_span_id"})
_OBJECTS = ("metadata", "metrics", "scores", "span_attributes")


def is_log_row(value: object) -> bool:
    """Say whether a JSON value is a span as Braintrust logs it."""
    return isinstance(value, Mapping) and set(value) >= _LOG_KEYS


@dataclass
class Traces:
    """The spans of a file, merged and sorted by trace.

    Attributes:
        bad: Record and error of each row that is no span.
        inner: How many scores stand on spans inside a trace that are no repeat of the root's.
        rootless: How many traces have scores and no root in this file.
    """

    bad: list[tuple[str, Exception]] = field(default_factory=list)
    inner: int = 0
    rootless: int = 0
    _spans: dict[str, Row] = field(default_factory=dict)
    _records: dict[str, str] = field(default_factory=dict)

    def add(self, rows: Iterable[tuple[str, Any]]) -> None:
        """Take in rows; one with ``_is_merge`` completes the row of the same id."""
        for record, row in rows:
            try:
                self._add(record, row)
            except BAD_RECORD as error:
                self.bad.append((record, error))

    def _add(self, record: str, row: Any) -> None:  # noqa: ANN401 - any JSON value
        if not is_log_row(row):
            raise ValueError("it is no span with id, span_id and root_span_id")
        wrong = [n for n in _OBJECTS if not isinstance(row.get(n) or {}, Mapping)]
        if wrong:
            raise ValueError(f"{wrong[0]} is no object")
        name = str(row["id"])
        if row.get("_object_delete"):
            self._spans.pop(name, None)
            return
        known = self._spans.get(name)
        self._records.setdefault(name, record)
        self._spans[name] = _merged(known, row) if known and row.get("_is_merge") else row

    def results(self) -> Iterator[tuple[str, Row]]:
        """Give one result for each trace, in the order in which the roots were logged."""
        by_trace: dict[str, list[Row]] = {}
        for span in self._spans.values():
            by_trace.setdefault(str(span["root_span_id"]), []).append(span)
        for spans in by_trace.values():
            root = next((s for s in spans if s["span_id"] == s["root_span_id"]), None)
            rest = [span for span in spans if span is not root]
            if root is not None:
                own = [span for span in rest if _type(span) != "score"]
                self.inner += sum(len(span.get("scores") or {}) for span in own)
                yield self._records[str(root["id"])], _result(root, rest)
            elif any(span.get("scores") for span in rest):
                self.rootless += 1


def _merged(known: Mapping[str, Any], new: Mapping[str, Any]) -> Row:
    result = dict(known)
    for name, value in new.items():
        old = result.get(name)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        result[name] = _merged(old, value) if both else value  # type: ignore[arg-type]
    return result


def _type(span: Mapping[str, Any]) -> str | None:
    kind = (span.get("span_attributes") or {}).get("type")
    return str(kind) if kind else None


def _result(root: Row, spans: list[Row]) -> Row:
    judges = [span for span in spans if _type(span) == "score"]
    names = [(span.get("span_attributes") or {}).get("name") for span in judges]
    return {
        **root,
        "name": (root.get("span_attributes") or {}).get("name"),
        "scorer_errors": {
            str(name): str(span["error"])
            for name, span in zip(names, judges, strict=True)
            if name and span.get("error")
        },
        "explained": {
            criterion: {part: span[part] for part in ("metadata", "output") if span.get(part)}
            for span in judges
            for criterion in span.get("scores") or {}
        },
        "used": _used(root, spans),
    }


def _used(root: Row, spans: list[Row]) -> Row:
    """Add up what the system used; what happens below a scorer is the judge's."""
    parents = {span["span_id"]: (span.get("span_parents") or [None])[0] for span in spans}
    judging = {span["span_id"] for span in spans if _type(span) == "score"}
    own = [span for span in spans if not _is_below(span["span_id"], parents, judging)]
    calls = [span for span in own if _type(span) == "llm"] or [root]
    tasks = [span for span in own if _type(span) == "task"]
    # The root of an evaluation lasts until its scorers have ended, its task does not.
    timed = tasks[0] if len(tasks) == 1 and _type(root) == "eval" else root
    names = {"tokens_in": "prompt_tokens", "tokens_out": "completion_tokens",
             "cost_usd": "estimated_cost"}  # fmt: skip
    used = {column: _total(calls, name) for column, name in names.items()}
    metrics = timed.get("metrics") or {}
    start, end = finite_number(metrics.get("start")), finite_number(metrics.get("end"))
    return {**used, "latency_s": None if start is None or end is None else end - start}


def _is_below(span: object, parents: Mapping[object, object], judging: set[object]) -> bool:
    seen: set[object] = set()
    while span is not None and span not in seen:
        if span in judging:
            return True
        seen.add(span)
        span = parents.get(span)
    return False


def _total(spans: list[Row], name: str) -> float | None:
    values = [finite_number((span.get("metrics") or {}).get(name)) for span in spans]
    given = [value for value in values if value is not None]
    return sum(given) if given else None
