"""The simulations of the second tau-bench: a reward, and the checks that it was worked out from.

Which checks count for the reward is said by ``reward_basis``, task by task; the others are made
all the same. So all of them are advisory criteria beside the reward.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from evaltoolkit.errors import listed
from evaltoolkit.readers.base import Batch, Reading, Row
from evaltoolkit.readers.benchmark_values import Lost, lost, share, share_of, told, verdict_of
from evaltoolkit.readers.records import BAD_RECORD, as_cell, as_json, finite_number
from evaltoolkit.readers.unnamed import system_name, time_or_none, trial_numbers

KEYS = frozenset({"task_id", "reward_info", "termination_reason"})
REWARD: Row = {
    "criterion": "reward",
    "higher_is_better": True,
    "lower_bound": 0.0,
    "upper_bound": 1.0,
    "blocking": True,
}
# Each list of checks, and what says in it that one passed.
_CHECKS = {
    "action_checks": ("action_match", "action_match"),
    "nl_assertions": ("nl_assertions", "met"),
    "communicate_checks": ("communicate", "met"),
    "env_assertions": ("env_assertions", "met"),
}
_ENDED = frozenset({"agent_stop", "user_stop"})
_CUT_OFF: dict[str, Lost] = {
    "agent_error": "system_error",
    "context_window_exceeded": "system_error",
    "infrastructure_error": "scorer_error",
    "max_steps": "system_error",
    "timeout": "system_error",
    "too_many_errors": "system_error",
    "unexpected_error": "scorer_error",
    "user_error": "scorer_error",
}


def read_simulations(
    path: Path, records: Iterable[tuple[str, Row]], document: Row, reading: Reading
) -> Batch:
    """Read the simulations of one run."""
    info = document.get("info") or {}
    agent, domain = info.get("agent_info") or {}, info.get("environment_info") or {}
    named = [(agent.get("llm"), "agent_info in the file")]
    # A name that the file holds is no decision that needs a note.
    system, notes = system_name(path, reading, told=named)
    notes = [] if system == agent.get("llm") else notes
    tasks = {str(task.get("id")): task for task in document.get("tasks") or []}
    name = domain.get("domain_name")
    shared = {
        "run_id": str(document.get("timestamp") or ""),
        "system": system,
        "task": f"tau2_bench/{name}" if name else "tau2_bench",
    }
    good = list(_good(path, records, reading))
    trials, more = _trials([raw for _, raw in good])
    batch = Batch(notes=[*notes, *more])
    scores: list[Row] = []
    outputs: list[Row] = []
    details: list[Row] = []
    for (record, raw), trial in zip(good, trials, strict=True):
        key = {
            **shared,
            "example_id": str(raw["task_id"]),
            "trial": trial,
            "source": f"{path.name}: {record}",
        }
        started = time_or_none(raw.get("start_time"))
        scores += [{**key, "timestamp": started, **row} for row in _measured(raw)]
        task = tasks.get(str(raw["task_id"]), {})
        outputs.append({**key, "timestamp": started, **_output(raw, task)})
        if raw["reward_info"]:
            more_told = as_json(raw["reward_info"])
            details.append({**key, "criterion": "reward", "details": more_told})
    batch.scores, batch.outputs, batch.details = scores, outputs, details
    batch.notes += _unknown_costs(path, [raw for _, raw in good], outputs)
    batch.notes += _other_ends(path, [raw for _, raw in good])
    return batch


def _good(
    path: Path, records: Iterable[tuple[str, Row]], reading: Reading
) -> Iterator[tuple[str, Row]]:
    for record, raw in records:
        try:
            _measured(raw)
            _output(raw, {})
            str(raw["task_id"])
        except BAD_RECORD as error:
            reading.bad_record(path, record, error)
            continue
        yield record, raw


def _trials(records: list[Row]) -> tuple[list[int], list[str]]:
    given = [raw.get("trial") for raw in records]
    numbers = [trial for trial in given if isinstance(trial, int)]
    if len(numbers) == len(records):
        return numbers, []
    return trial_numbers(str(raw["task_id"]) for raw in records)


def _measured(raw: Row) -> list[Row]:
    reason, info = str(raw["termination_reason"]), raw["reward_info"]
    reward = info["reward"] if info else None
    status = _CUT_OFF.get(reason)
    if status is not None:
        message = f"the conversation was cut off: {reason}"
        return [{**REWARD, **lost(status, message, label=reward)}]
    if info is None:
        return [{**REWARD, **lost("unscored", "no reward was worked out")}]
    number = finite_number(reward)
    if number is None:
        gone = lost("unscored", "no reward is recorded", label=reward)
        return [{**REWARD, **gone}]
    return [{**REWARD, "score": number, "status": "scored"}, *_parts(info)]


def _parts(info: Row) -> Iterator[Row]:
    database = info.get("db_check")
    if database and isinstance(database.get("db_match"), bool):
        yield {**verdict_of("db_match", blocking=False), **told(database["db_match"])}
    for field, (criterion, passed) in _CHECKS.items():
        checks = info.get(field)
        if checks:
            yield {**share_of(criterion), **share(check[passed] is True for check in checks)}


def _output(raw: Row, task: Row) -> Row:
    messages: list[Any] = raw.get("messages") or []
    own = [message for message in messages if message.get("role") == "assistant"]
    answers = [message["content"] for message in own if message.get("content")]
    calls = [call for message in own for call in message.get("tool_calls") or []]
    kept = [{"name": call.get("name"), "arguments": call.get("arguments")} for call in calls]
    tokens_in, tokens_out = _used(own, "prompt_tokens"), _used(own, "completion_tokens")
    cost = finite_number(raw.get("agent_cost"))
    return {
        "input": as_cell((task.get("user_scenario") or {}).get("instructions")),
        "output": as_cell(answers[-1]) if answers else None,
        "reference": as_cell((task.get("evaluation_criteria") or {}).get("actions")),
        "error": str(raw["termination_reason"]) if _was_cut_off(raw) else None,
        "finish_reason": as_cell(raw["termination_reason"]),
        "tool_calls": as_json(kept) if kept else None,
        "cost_usd": None if cost == 0 and tokens_out else cost,
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
        "latency_s": finite_number(raw.get("duration")),
    }


def _was_cut_off(raw: Row) -> bool:
    return str(raw["termination_reason"]) in _CUT_OFF


def _used(messages: list[Row], name: str) -> float | None:
    counts = [finite_number((message.get("usage") or {}).get(name)) for message in messages]
    given = [count for count in counts if count is not None]
    return sum(given) if given else None


def _unknown_costs(path: Path, records: list[Row], outputs: list[Row]) -> list[str]:
    pairs = zip(records, outputs, strict=True)
    count = sum(raw.get("agent_cost") == 0 and row["cost_usd"] is None for raw, row in pairs)
    if not count:
        return []
    return [
        f"{path.name}: {count} conversations cost 0 although the model wrote tokens: the tool "
        "knows no price of that model, so the cost is left out"
    ]


def _other_ends(path: Path, records: list[Row]) -> list[str]:
    reasons = Counter(str(raw["termination_reason"]) for raw in records)
    other = {name: count for name, count in reasons.items() if name not in {*_ENDED, *_CUT_OFF}}
    if not other:
        return []
    shown = listed(f"{name} ({count}×)" for name, count in other.items())
    return [f"{path.name}: ends of unknown kinds, rewards read as they stand: {shown}"]
