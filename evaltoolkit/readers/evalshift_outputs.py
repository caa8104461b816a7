"""What the two systems of an EvalShift run answered: its calls, and traces that were imported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from evaltoolkit.readers.base import Batch, Reading, Row, json_lines
from evaltoolkit.readers.evalshift_run import Run
from evaltoolkit.readers.records import as_cell, as_json, finite_number

_ROWS_AT_A_TIME = 5_000


def called_outputs(path: Path, run: Run, reading: Reading) -> Iterator[Batch]:
    """Read the calls of ``raw.jsonl`` in portions."""
    replayed = 0
    rows: list[Row] = []
    for name, call in json_lines(path, reading):
        try:
            row = _output(call, run)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            reading.bad_record(path, name, error)
            continue
        replayed += bool(row["cached"])
        if not row["trial"]:
            side = (str(row["task"]), str(row["example_id"]), str(call["role"]))
            row = _with_trace(row, run.traces.get(side))
        rows.append({**row, "source": f"{path}: {name}"})
        if len(rows) == _ROWS_AT_A_TIME:
            yield Batch(outputs=rows)
            rows = []
    if replayed:
        run.notes.append(f"{replayed} call(s) came from the cache: their latency is left empty")
    yield Batch(outputs=rows)


def _output(call: Row, run: Run) -> Row:
    trace = call.get("trace")
    replayed = bool(call.get("cached") or call.get("cached_rounds"))
    latency = None if replayed else finite_number(call.get("latency_ms"))
    example = str(call["example_id"])
    return {
        "run_id": call.get("run_id") or run.run_id,
        "system": run.systems[str(call["role"])],
        "task": call.get("prompt_id") or "",
        "example_id": example,
        "trial": call.get("sample_index", 0),
        **run.text(example),
        "output": as_cell(call.get("text")),
        "error": as_cell(call.get("error")),
        "finish_reason": call.get("finish_reason"),
        "tool_calls": None if trace is None else as_json(trace.get("calls") or []),
        "cost_usd": call.get("cost_usd"),
        "tokens_in": call.get("input_tokens"),
        "tokens_out": call.get("output_tokens"),
        "latency_s": None if latency is None else latency / 1000,
        "cached": replayed,
        **run.example(example),
    }


def _with_trace(row: Row, trace: Row | None) -> Row:
    """Fill in from an imported trace what the call itself does not hold."""
    # That a call has no error is no gap.
    lacking = {name for name, value in row.items() if value in (None, "")} - {"error"}
    return {**row, **{name: value for name, value in (trace or {}).items() if name in lacking}}


def traced_outputs(run: Run) -> Iterator[Row]:
    """Give the imported traces of which no call was recorded."""
    alone = {side: trace for side, trace in run.traces.items() if side not in run.called}
    run.notes.append(
        f"{len(run.traces)} trace(s) were imported; {len(alone)} of them have no call in raw.jsonl "
        "and are outputs of their own, the others fill in what their calls lack"
    )
    for (prompt, example, role), trace in alone.items():
        yield {
            "run_id": run.run_id,
            "system": run.systems[role],
            "task": prompt,
            "example_id": example,
            **run.text(example),
            **trace,
            **run.example(example),
        }
