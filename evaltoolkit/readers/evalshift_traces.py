"""Traces that were imported into an EvalShift run: what an agent of one's own did, event by event.

``traces.jsonl`` has one line for each side of an example. Its tool calls, final text and errors
stand in the outputs table where ``raw.jsonl`` has nothing of the kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from evaltoolkit.readers.base import Reading, Row, json_lines
from evaltoolkit.readers.records import BAD_RECORD, as_json, finite_number

TRACE_KEYS = frozenset({"run_id", "prompt_id", "example_id", "role", "events"})
"""What a line of ``traces.jsonl`` is recognised by."""

Side = tuple[str, str, str]
"""Prompt, example and role: what a trace is of."""

_EVENTS = frozenset(
    {"model_call", "tool_call", "tool_result", "retrieval", "guardrail", "final_output", "error"}
)
_CALL_FIELDS = ("call_id", "parent_call_id", "sequence_index")


def imported_traces(path: Path, reading: Reading, *, run_id: str) -> dict[Side, Row]:
    """Read the traces of one run: for each side the columns of the outputs table that they fill.

    Args:
        path: The ``traces.jsonl``; it need not exist.
        reading: The call that it is read for.
        run_id: The run; traces of another are left out.
    """
    found: dict[Side, Row] = {}
    if not path.is_file():
        return found
    for name, line in json_lines(path, reading):
        try:
            side, row = _trace(line)
            _count_unknown(path, line["events"], reading)
        except BAD_RECORD as error:
            reading.bad_record(path, name, error)
            continue
        if str(line.get("run_id")) == run_id:
            found[side] = {**row, "source": f"{path}: {name}"}
    return found


def _trace(line: Row) -> tuple[Side, Row]:
    if line["role"] not in ("source", "target"):
        raise ValueError(f"its role is {line['role']!r}; it must be 'source' or 'target'")
    events = sorted(line["events"], key=lambda event: event["sequence_index"])
    texts = [str(event.get("text") or "") for event in _of(events, "final_output")]
    errors = [str(event.get("message")) for event in _of(events, "error")]
    calls = [_call(event) for event in _of(events, "tool_call")]
    models = list(_of(events, "model_call"))
    latency = _total(models, "latency_ms")
    row = {
        "output": texts[-1] if texts else None,
        "error": "; ".join(errors) or None,
        "tool_calls": as_json(calls) if calls else None,
        "cost_usd": _total(models, "cost_usd"),
        "tokens_in": _total(models, "input_tokens"),
        "tokens_out": _total(models, "output_tokens"),
        "latency_s": None if latency is None else latency / 1000,
    }
    return (str(line["prompt_id"]), str(line["example_id"]), str(line["role"])), row


def _of(events: Iterable[Mapping[str, Any]], kind: str) -> Iterator[Mapping[str, Any]]:
    return (event for event in events if event.get("type") == kind)


def _call(event: Mapping[str, Any]) -> Row:
    given = {name: event[name] for name in _CALL_FIELDS if event.get(name) is not None}
    return {"tool_name": event["name"], "arguments": event.get("arguments") or {}, **given}


def _total(models: list[Mapping[str, Any]], name: str) -> float | None:
    """Add up what the model calls took; 0 stands where an import had no numbers."""
    return sum(finite_number(event.get(name)) or 0.0 for event in models) or None


def _count_unknown(path: Path, events: Iterable[Mapping[str, Any]], reading: Reading) -> None:
    for event in events:
        if event.get("type") not in _EVENTS:
            reading.unknown(path, f"event {event.get('type')!r}")
