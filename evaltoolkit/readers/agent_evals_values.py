"""What the scores and totals of agent_evals mean.

Only exceptions set ``Score.error``. What the built-in scorers could not measure (no reference, no
final state, an unreadable judge) they report in ``metadata["error"]`` beside an ordinary 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from evaltoolkit.errors import listed, warn
from evaltoolkit.readers.agent_evals_files import Run
from evaltoolkit.readers.base import Row
from evaltoolkit.readers.records import finite_number, non_finite_name, shortened

CLOSURE = "scorer"
"""What every scorer that a factory made is called; its crash is filed under this name."""

_NO_REFERENCE = re.compile(r"(?i)\b(expected|reference)\w*'? .*(required|missing|provided)")


def crashed(scores: Mapping[str, Any]) -> bool:
    """Say whether any scorer of an example raised."""
    return any(score.get("error") is not None for score in scores.values())


def is_closure(name: str, score: Mapping[str, Any]) -> bool:
    """Say whether it is a crash whose scorer cannot be told from its name."""
    return name == CLOSURE and score.get("error") is not None


def measured(score: Mapping[str, Any]) -> Row:
    """Turn one dumped score into score, label, verdict, status and message."""
    noted = (score.get("metadata") or {}).get("error")
    value = finite_number(score["value"])
    if score.get("error") is not None:
        return lost("scorer_error", str(score["error"]), score)
    if noted and value == 0 and not score["passed"]:
        status = "unscored" if _NO_REFERENCE.search(str(noted)) else "scorer_error"
        return lost(status, str(noted), score)
    if value is None:
        return lost("unscored", "the scorer gave no number", score)
    told = noted or score.get("reasoning")
    message = shortened(str(told)) if told else None
    passed = bool(score["passed"])
    return {"score": value, "passed": passed, "status": "scored", "message": message}


def lost(status: str, reason: str, score: Mapping[str, Any] | None) -> Row:
    """Keep what stands beside an error as label: it is a placeholder and no score."""
    label = None
    if score is not None and isinstance(score["value"], int | float):
        value = finite_number(score["value"])
        label = non_finite_name(score["value"]) if value is None else f"{value:g}"
    return {"score": None, "label": label, "status": status, "message": shortened(reason)}


def thresholds(examples: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Give the pass mark of each criterion, where it has just one."""
    found: dict[str, set[float]] = {}
    for scores in examples:
        for name, score in scores.items():
            mark = finite_number((score.get("metadata") or {}).get("_threshold"))
            if mark is not None:
                found.setdefault(name, set()).add(mark)
    return {name: marks.pop() for name, marks in found.items() if len(marks) == 1}


def aggregates(result: Mapping[str, Any], key: Row) -> Iterator[Row]:
    """Give the averages that the tool itself reports."""
    total = (result.get("summary") or {}).get("total_examples")
    for metric, part in (("mean", "scores"), ("pass_rate", "pass_rates")):
        for name, value in (result.get(part) or {}).items():
            row = {"criterion": name, "metric": metric, "value": value, "stderr": None}
            yield {**key, **row, "n": total}


def warn_of_totals(path: Path, run: Run, *, total: int, failed: int) -> None:
    """Say where a result counts other examples than it holds: a merged one keeps the first."""
    summary = run.result.get("summary") or {}
    found = {"total_examples": total, "failed_examples": failed}
    wrong = [
        f"{name} is {summary[name]}, the examples give {count}"
        for name, count in found.items()
        if summary.get(name) is not None and summary[name] != count
    ]
    if wrong:
        where = f"{path}" + (f": capability {run.capability!r}" if run.capability else "")
        warn(f"{where}: the summary does not fit the examples ({listed(wrong)}); they were read")
