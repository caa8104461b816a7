"""Results of Terminal-Bench: attempts at tasks in a terminal, each with the tests it passed.

``is_resolved`` is the verdict, and true exactly where all tests passed. It is null where no test
result could be had, which the tool itself counts as not resolved; ``failure_mode`` says why, and
so whether the agent or the measurement broke. An agent that ran out of time may well have resolved
its task. Attempts are numbered by their names (``<task>.<k>-of-<n>``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from evaltoolkit.errors import warn
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source
from evaltoolkit.readers.benchmark_values import Lost, lost, share, share_of, told, verdict_of
from evaltoolkit.readers.parsing import json_or_none
from evaltoolkit.readers.records import BAD_RECORD, as_json, finite_number
from evaltoolkit.readers.unnamed import system_name, time_or_none, trial_numbers

_ATTEMPT = frozenset({"trial_name", "task_id", "is_resolved"})
_NUMBERED = re.compile(r"\.(\d+)-of-\d+(?:\.(?P<run>.+))?$")
_SUFFIX = re.compile(r"[._-]?results$")
_NO_FAILURE = frozenset({"unset", "none", "None"})
_BROKEN_MEASUREMENT = frozenset({"parse_error", "test_timeout"})
_BROKEN_SYSTEM = frozenset(
    {
        "agent_installation_failed", "agent_timeout", "context_length_exceeded",
        "fatal_llm_parse_error", "output_length_exceeded", "unknown_agent_error",
    }
)  # fmt: skip


def detect(source: Source) -> bool:
    """Say whether a file holds attempts at tasks of Terminal-Bench."""
    if b'"trial_name"' not in source.head or not source.looks_like_json:
        return False
    document = source.document
    return isinstance(document, dict) and (_is_run(document) or document.keys() >= _ATTEMPT)


def _is_run(document: Row) -> bool:
    attempts = document.get("results")
    first = attempts[0] if isinstance(attempts, list) and attempts else None
    return isinstance(first, dict) and first.keys() >= _ATTEMPT


def is_companion(source: Source) -> bool:
    """Say whether a file holds one attempt, whose run is in a file above."""
    document = source.document
    return isinstance(document, dict) and not _is_run(document) and _run_above(source.path)


def _run_above(path: Path) -> bool:
    return any((folder / "results.json").is_file() for folder in list(path.resolve().parents)[1:3])


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read all attempts of a run in one batch."""
    document, path = source.document, source.path
    if not _is_run(document):
        if _run_above(path):
            return
        document = {"results": [document]}
    system, notes = _system(path, reading)
    batch = Batch(notes=notes)
    good = list(_good(path, document["results"], reading))
    trials, more = _trials([attempt for _, attempt in good])
    batch.notes += more
    scores: list[Row] = []
    outputs: list[Row] = []
    details: list[Row] = []
    unmeasured = 0
    for (record, attempt), trial in zip(good, trials, strict=True):
        key = {
            "run_id": _run_id(document, attempt),
            "system": system,
            "task": "terminal_bench",
            "example_id": str(attempt["task_id"]),
            "trial": trial,
            "source": f"{path.name}: {record}",
        }
        scores += [{**key, **row} for row in _measured(attempt)]
        output = _output(attempt)
        unmeasured += attempt.get("total_output_tokens") == 0
        outputs.append({**key, **output})
        tests = attempt.get("parser_results")
        if tests:
            details.append({**key, "criterion": "resolved", "details": as_json({"tests": tests})})
    batch.scores, batch.outputs, batch.details = scores, outputs, details
    if unmeasured:
        batch.notes.append(
            f"{path.name}: {unmeasured} attempts report 0 tokens, as agents that do not count "
            "them do: their tokens are left out"
        )
    batch.aggregates = list(_aggregates(document, scores))
    _check_totals(path, document, reading)
    yield batch


def _good(path: Path, attempts: list[Row], reading: Reading) -> Iterator[tuple[str, Row]]:
    for number, attempt in enumerate(attempts):
        try:
            _measured(attempt)
            str(attempt["task_id"])
        except BAD_RECORD as error:
            reading.bad_record(path, f"result {number}", error)
            continue
        yield f"result {number}", attempt


def _system(path: Path, reading: Reading) -> tuple[str, list[str]]:
    """Name the agent and its model, or the submission that the run is part of."""
    beside = path.with_name("run_metadata.json")
    metadata = json_or_none(beside.read_bytes()) if beside.is_file() else None
    found = metadata if isinstance(metadata, dict) else {}
    parts = [str(found[name]) for name in ("agent_name", "model_name") if found.get(name)]
    stem = _SUFFIX.sub("", path.stem) or "results"
    told: list[tuple[object, str]] = [(" / ".join(parts), beside.name)]
    if stem == "results":
        # As published: results/<data set>@<version>/<submission>/<run>/results.json
        inside = pairwise(path.resolve().parents)
        name = next((inner.name for inner, outer in inside if "@" in outer.name), None)
        told.append((name, "the folder of the submission: the file names none"))
    return system_name(path, reading, told=told, stem=stem)


def _trials(attempts: list[Row]) -> tuple[list[int], list[str]]:
    found = [_NUMBERED.search(str(attempt["trial_name"])) for attempt in attempts]
    if all(found):
        return [int(match[1]) - 1 for match in found if match], []
    return trial_numbers(str(attempt["task_id"]) for attempt in attempts)


def _run_id(document: Row, attempt: Row) -> str:
    match = _NUMBERED.search(str(attempt["trial_name"]))
    return str((match and match["run"]) or document.get("id") or "")


def _measured(attempt: Row) -> list[Row]:
    resolved, mode = attempt["is_resolved"], str(attempt.get("failure_mode") or "unset")
    label = None if mode in _NO_FAILURE else mode
    if resolved is None:
        gone = _lost(mode)
        return [{**verdict_of("resolved"), **gone}, {**share_of("tests_passed"), **gone}]
    if not isinstance(resolved, bool):
        raise TypeError(f"its is_resolved is {resolved!r}; it must be true, false or null")
    tests = attempt.get("parser_results") or {}
    passed = share(result == "passed" for result in tests.values())
    return [
        {**verdict_of("resolved"), **told(resolved, label=label)},
        {**share_of("tests_passed"), **passed},
    ]


def _lost(mode: str) -> Row:
    status: Lost = "unscored"
    if mode in _BROKEN_MEASUREMENT:
        status = "scorer_error"
    elif mode in _BROKEN_SYSTEM:
        status = "system_error"
    return lost(status, f"no test result: {mode}", label=mode)


def _output(attempt: Row) -> Row:
    mode = str(attempt.get("failure_mode") or "unset")
    return {
        "input": attempt.get("instruction"),
        "error": None if mode in _NO_FAILURE else mode,
        "tokens_in": finite_number(attempt.get("total_input_tokens")) or None,
        "tokens_out": finite_number(attempt.get("total_output_tokens")) or None,
        "latency_s": _seconds(attempt.get("agent_started_at"), attempt.get("agent_ended_at")),
        "timestamp": time_or_none(attempt.get("trial_started_at")),
    }


def _seconds(start: object, end: object) -> float | None:
    begun, ended = time_or_none(start), time_or_none(end)
    if begun is None or ended is None:
        return None
    moments = datetime.fromisoformat(begun), datetime.fromisoformat(ended)
    # One of them without a zone: their distance is not known.
    if (moments[0].tzinfo is None) != (moments[1].tzinfo is None):
        return None
    return (moments[1] - moments[0]).total_seconds()


def _aggregates(document: Row, scores: list[Row]) -> Iterator[Row]:
    if not scores:
        return
    names = ("run_id", "system", "task", "criterion")
    key = {name: scores[0][name] for name in names}
    reported = {"accuracy": document.get("accuracy")}
    reported |= {f"pass_at_{k}": v for k, v in (document.get("pass_at_k") or {}).items()}
    for metric, value in reported.items():
        number = finite_number(value)
        if number is not None:
            size = len(document["results"])
            yield {**key, "metric": metric, "value": number, "stderr": None, "n": size}


def _check_totals(path: Path, document: Row, reading: Reading) -> None:
    resolved = sum(attempt.get("is_resolved") is True for attempt in document["results"])
    reported = document.get("n_resolved")
    if reported is not None and reported != resolved and "scores" in reading.want:
        warn(f"{path}: n_resolved is {reported}, but {resolved} attempts are resolved")


FORMAT = Format(
    name="terminal_bench",
    title="Terminal-Bench results",
    detect=detect,
    read=read,
    tables=frozenset({"scores", "outputs", "details", "report"}),
    companions=is_companion,
    signs="attempts with trial_name, task_id and is_resolved",
    quirks=(
        "A null verdict, which the tool counts as a failure, is `scorer_error` (parse_error, "
        "test_timeout) or `system_error` (the agent broke). An agent's timeout with a verdict is "
        "scored. 0 tokens mean that the agent counts none. The share of tests passed is advisory."
    ),
)
