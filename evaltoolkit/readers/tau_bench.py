"""Results of tau-bench: conversations of an agent and a simulated user, rewarded at the end.

Three layouts: the list of attempts of the first version; the simulations of the second, with or
without what was asked of them; and the verdicts of LLM judges on such simulations. The tasks of
the two versions share numbers and not content, so they are of different names.

A conversation that was cut off (steps, errors, a crash) has the reward 0 because none was worked
out. That is kept apart, with the 0 as its label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source, json_lines
from evaltoolkit.readers.benchmark_values import lost
from evaltoolkit.readers.parsing import json_or_none
from evaltoolkit.readers.records import BAD_RECORD, as_cell, as_json, finite_number, shortened
from evaltoolkit.readers.tau_bench_judges import KEYS as JUDGED
from evaltoolkit.readers.tau_bench_judges import read_judges
from evaltoolkit.readers.tau_bench_simulations import KEYS as SIMULATED
from evaltoolkit.readers.tau_bench_simulations import REWARD, read_simulations
from evaltoolkit.readers.unnamed import system_name, trial_numbers

_ATTEMPT = frozenset({"task_id", "reward", "info", "traj"})
_MARKS = (b'"task_id"', b'"simulations"', b'"user_info"', b'"agent_info"', b'"simulation_id"')
_POLICY = re.compile(r"(?i)#\s*(\w+) agent policy")


def detect(source: Source) -> bool:
    """Say whether a file holds attempts, simulations or verdicts on them."""
    if not source.looks_like_json or not any(mark in source.head for mark in _MARKS):
        return False
    return _records(source) is not None


def _records(source: Source) -> tuple[str, Row] | None:
    """Name the layout, with the document's own fields where it has some."""
    if source.is_json_lines:
        return ("judges", {}) if source.keys() >= JUDGED else None
    document = source.document
    around = document if isinstance(document, dict) else {}
    inner = around.get("simulations", around.get("entries", document))
    first = inner[0] if isinstance(inner, list) and inner else None
    keys = first.keys() if isinstance(first, dict) else frozenset()
    for layout, needed in (("judges", JUDGED), ("attempts", _ATTEMPT), ("simulations", SIMULATED)):
        if keys >= needed:
            return layout, {**around, "records": inner}
    return None


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read all records of a file in one batch."""
    found = _records(source)
    if found is None:
        raise KeyError("no attempts, simulations or verdicts")
    layout, document = found
    if layout == "judges":
        lines = json_lines(source.path, reading) if source.is_json_lines else _each(document)
        yield read_judges(source.path, lines, document, reading)
    elif layout == "simulations":
        yield read_simulations(source.path, _each(document), document, reading)
    else:
        yield _attempts(source, document, reading)


def _each(document: Row) -> Iterator[tuple[str, Row]]:
    for number, record in enumerate(document["records"]):
        yield f"record {number}", record


def _attempts(source: Source, document: Row, reading: Reading) -> Batch:
    path = source.path
    system, notes = system_name(path, reading)
    batch = Batch(notes=notes)
    scores: list[Row] = []
    outputs: list[Row] = []
    details: list[Row] = []
    numbers, more = _trials(document["records"])
    notes += more
    for (record, raw), trial in zip(_each(document), numbers, strict=True):
        try:
            key = {
                "system": system,
                "task": _task(raw["traj"]),
                "example_id": str(raw["task_id"]),
                "trial": trial,
                "source": f"{path.name}: {record}",
            }
            row = {**key, **REWARD, **_rewarded(raw)}
            output = {**key, **_output(raw)}
        except BAD_RECORD as error:
            reading.bad_record(path, record, error)
            continue
        scores.append(row)
        outputs.append(output)
        found = raw["info"].get("reward_info")
        if found:
            details.append({**key, "criterion": "reward", "details": as_json(found)})
    batch.scores, batch.outputs, batch.details = scores, outputs, details
    return batch


def _trials(records: list[Any]) -> tuple[list[int], list[str]]:
    given = [raw.get("trial") if isinstance(raw, dict) else None for raw in records]
    numbers = [trial for trial in given if isinstance(trial, int)]
    if len(numbers) == len(records):
        return numbers, []
    names = (raw.get("task_id") if isinstance(raw, dict) else None for raw in records)
    return trial_numbers(str(name) for name in names)


def _task(traj: list[Row]) -> str:
    """Tell the domain from the policy that the agent was given."""
    found = _POLICY.search(str(traj[0].get("content"))) if traj else None
    return f"tau_bench/{found[1].lower()}" if found else "tau_bench"


def _rewarded(raw: Row) -> Row:
    info, reward = raw["info"], raw["reward"]
    if info.get("error"):
        return lost("system_error", shortened(str(info["error"])), label=reward)
    if reward is None:
        return lost("unscored", "no reward is recorded")
    if "reward_info" in info and info["reward_info"] is None:
        reason = "the conversation was cut off before its end, so no reward was worked out"
        return lost("system_error", reason, label=reward)
    number = finite_number(reward)
    if number is None:
        raise ValueError(f"its reward is {reward!r}; it must be a number")
    return {"score": number, "status": "scored"}


def _output(raw: Row) -> Row:
    task = raw["info"].get("task") or {}
    own = [message for message in raw["traj"] if message.get("role") == "assistant"]
    calls = [call["function"] for message in own for call in message.get("tool_calls") or []]
    answers = [message["content"] for message in own if message.get("content")]
    return {
        "input": as_cell(task.get("instruction")),
        "output": as_cell(answers[-1]) if answers else None,
        "reference": as_cell(task.get("actions")),
        "error": as_cell(raw["info"].get("error")),
        "tool_calls": as_json([_call(call) for call in calls]) if calls else None,
    }


def _call(call: Row) -> Row:
    """Write a call with its arguments as an object: here they are JSON inside a string."""
    arguments = call.get("arguments")
    if isinstance(arguments, str):
        parsed = json_or_none(arguments.encode("utf-8", "replace"))
        arguments = arguments if parsed is None else parsed
    return {"name": call.get("name"), "arguments": arguments}


FORMAT = Format(
    name="tau_bench",
    title="tau-bench results (both versions) and judges' verdicts on them",
    detect=detect,
    read=read,
    tables=frozenset({"scores", "outputs", "details", "report"}),
    signs="attempts with traj, simulations with reward_info, entries with judge_verdict",
    quirks=(
        "A conversation that was cut off or crashed is `system_error` (one that the simulated user "
        "or the infrastructure broke, `scorer_error`); its reward of 0 is the label. The checks "
        "beside the reward are advisory: actions often differ where the reward is 1. A cost of 0 "
        "with tokens is unknown. Free words of judges become numbers only where they are clear."
    ),
)
