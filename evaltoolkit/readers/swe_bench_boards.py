"""The leaderboards of SWE-bench: entries with a verdict on every instance, and entries without.

An entry is checked against itself: the share of its own instances that it says are resolved must
be the percentage that it reports. Some fit only with another denominator (an instance that was
taken out later); at least one published entry fits with none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evaltoolkit.errors import listed, warn
from evaltoolkit.readers.base import Batch, Reading, Row
from evaltoolkit.readers.benchmark_values import counted, lost, told
from evaltoolkit.readers.records import BAD_RECORD, finite_number
from evaltoolkit.readers.swe_bench_instances import RESOLVED, TASK, instance_key

_DETAILS = "per_instance_details"
# Percentages are printed with one or two digits.
_ROUNDING = 0.051
_FEW = 5
_CONTRADICT = ("entry contradicts", "entries contradict")


def is_boards(document: Mapping[str, Any]) -> bool:
    """Say whether a document holds leaderboards."""
    boards = document.get("leaderboards")
    return (
        isinstance(boards, list)
        and bool(boards)
        and all(isinstance(board, Mapping) and "results" in board for board in boards)
    )


def read_boards(path: Path, document: Row, reading: Reading) -> Iterator[Batch]:
    """Read one batch for each entry: its instances where it has them, and what it reports."""
    bare, contradictions = 0, []
    for board in document["leaderboards"]:
        for number, entry in enumerate(board["results"]):
            record = f"{board.get('name')}: entry {number}"
            try:
                batch = _entry(path, str(board.get("name")), entry)
                problem = _contradiction(entry)
            except BAD_RECORD as error:
                reading.bad_record(path, record, error)
                continue
            bare += not batch.scores
            contradictions += [problem] if problem else []
            yield batch
    if bare:
        yield Batch(notes=[f"{path.name}: {bare} entry(ies) with a percentage and no instances"])
    if contradictions and "scores" in reading.want:
        warn(
            f"{path}: {counted(len(contradictions), _CONTRADICT)} by the instances the percentage "
            f"reported beside them: {'; '.join(contradictions)}; the instances were read, so ask "
            "the publisher before you use them"
        )


def _entry(path: Path, board: str, entry: Row) -> Batch:
    details = entry.get(_DETAILS) or {}
    run = {"run_id": str(entry.get("folder") or ""), "system": str(entry["name"]), "task": TASK}
    batch = Batch(aggregates=[_aggregate(run, board, entry)])
    scores: list[Row] = []
    outputs: list[Row] = []
    for instance, found in details.items():
        place = f"{path.name}: {board}: {entry['name']}"
        key = {**run, **instance_key(instance), "source": place}
        scores.append({**key, **RESOLVED, **_verdict(found.get("resolved"))})
        cost, calls = finite_number(found.get("cost")), finite_number(found.get("api_calls"))
        outputs.append({**key, "cost_usd": cost, "api_calls": calls})
    batch.scores, batch.outputs = scores, outputs
    other = _other_denominator(entry)
    if other:
        batch.notes.append(f"{path.name}: {entry['name']!r}: {other}")
    return batch


def _verdict(resolved: object) -> Row:
    if isinstance(resolved, bool):
        return told(resolved, label="resolved" if resolved else "unresolved")
    if resolved is None:
        return lost("unscored", "no verdict is recorded")
    raise TypeError(f"its 'resolved' is {resolved!r}, not true or false")


def _aggregate(run: Row, board: str, entry: Row) -> Row:
    return {
        **run,
        "criterion": "resolved",
        "metric": "percent",
        "value": finite_number(entry.get("resolved")),
        "stderr": None,
        "n": len(entry.get(_DETAILS) or {}) or None,
        "board": board,
    }


def _counts(entry: Row) -> tuple[int, int, float | None]:
    details = (entry.get(_DETAILS) or {}).values()
    verdicts = [found["resolved"] for found in details if found.get("resolved") is not None]
    return sum(verdicts), len(details), finite_number(entry.get("resolved"))


def _other_denominator(entry: Row) -> str | None:
    """Say which denominator the reported percentage has, if it is a little smaller."""
    resolved, total, reported = _counts(entry)
    if reported is None or not total or _fits(resolved, total, reported):
        return None
    near = (total - less for less in range(1, min(_FEW, total - 1) + 1))
    other = next((count for count in near if _fits(resolved, count, reported)), None)
    if other is None:
        return None
    return f"its {reported:g} % are {resolved} of {other}, while its details have {total} instances"


def _contradiction(entry: Row) -> str | None:
    resolved, total, reported = _counts(entry)
    if reported is None or not total or _fits(resolved, total, reported):
        return None
    if _other_denominator(entry):
        return None
    share = 100 * resolved / total
    names = listed([entry["name"]])
    return f"{names} resolves {resolved} of {total} ({share:.1f} %) and reports {reported:g} %"


def _fits(resolved: int, total: int, reported: float) -> bool:
    return abs(100 * resolved / total - reported) <= _ROUNDING
