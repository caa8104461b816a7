"""The columns of MLflow's tables: which were judged, asked, answered and expected."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaltoolkit.readers.base import Row
from evaltoolkit.readers.cells import given
from evaltoolkit.readers.mlflow_values import assessments_of
from evaltoolkit.readers.records import attribute_names

_VERSIONED = re.compile(r".+/v\d+/(?:score|justification)")
_JUDGED = re.compile(r"(?P<base>.+)/(?P<part>score|value|rating)")
_NAME = re.compile(r"(?:response/llm_judged/)?(?P<name>.+?)(?P<version>/v\d+)?")
_EXPLAINED = ("justification", "rationale")
_FAILED = ("error_message", "error_code")
PARTS = {
    "input": ("inputs", "input", "request", "question", "query", "prompt", "messages"),
    "output": ("outputs", "predictions", "output", "prediction", "response"),
    "reference": (
        "ground_truth", "targets", "target", "expectations", "expected_response",
        "expected_response/value", "expected_output", "expected_facts/value",
    ),
}  # fmt: skip
EXAMPLE = ("example_id", "question_id", "id")
LATENCY = (("latency", 1.0), ("agent/latency_seconds", 1.0), ("execution_duration", 1000.0),
            ("execution_time_ms", 1000.0))  # fmt: skip
_ABOUT_THE_ANSWER = frozenset(
    {
        "trace_id", "trace", "client_request_id", "request_id", "state", "status", "request_time",
        "timestamp", "timestamp_ms", "token_count", "error_message", "trace_metadata", "tags",
        "spans", "assessments", "request_preview", "response_preview", "experiment_id", "index",
        *(name for name, _ in LATENCY),
    }
)  # fmt: skip


@dataclass(frozen=True)
class Judge:
    """One judged thing: its name, and the columns that belong to it."""

    criterion: str
    value: str
    explanation: tuple[str, ...]
    error: tuple[str, ...]
    is_grade: bool


def is_table(names: list[str]) -> bool:
    """Say whether columns are those of a table of MLflow."""
    if any(_VERSIONED.fullmatch(name) for name in names):
        return True
    traced = bool({"trace_id", "request"} & set(names))
    return any(name.startswith("response/llm_judged/") for name in names) or (
        traced
        and (
            "assessments" in names or any(name.endswith(("/value", "/rationale")) for name in names)
        )
    )


def expectations(rows: list[Row], names: list[str]) -> set[str]:
    """Find the columns that hold what was expected: they look like those of a judge."""
    told = {
        str(each.get("assessment_name") or each.get("name"))
        for cells in rows
        for each in assessments_of(cells.get("assessments"))
        if each.get("expectation") is not None
    }
    return {
        name
        for name in names
        if name.rpartition("/")[2] in ("value", *_EXPLAINED, *_FAILED)
        and (name.rpartition("/")[0] in told or name.startswith("expected_"))
    }


def judges_of(names: list[str]) -> list[Judge]:
    """Find what was judged, by the names of the columns."""
    found: dict[str, list[Judge]] = {}
    for name in names:
        matched = _JUDGED.fullmatch(name)
        named = _NAME.fullmatch(matched["base"]) if matched else None
        if not matched or not named:
            continue
        base = matched["base"]
        judge = Judge(
            criterion=named["name"],
            value=name,
            explanation=tuple(f"{base}/{part}" for part in _EXPLAINED),
            error=tuple(f"{base}/{part}" for part in _FAILED),
            is_grade=named["version"] is not None,
        )
        found.setdefault(named["name"], []).append(judge)
    return [
        # Two versions of a metric are two criteria.
        each if len(same) == 1 else Judge(**{**vars(each), "criterion": each.value})
        for same in found.values()
        for each in same
    ]


def asked(cells: Row) -> Any:  # noqa: ANN401 - any cell
    """Take the input; a table without such a column is hashed by whatever else it was given."""
    told = first(cells, PARTS["input"])
    if told is not None:
        return told
    known = {*_ABOUT_THE_ANSWER, *PARTS["output"], *PARTS["reference"]}
    return {name: cell for name, cell in cells.items() if name not in known and "/" not in name}


def first(cells: Row, names: Sequence[str]) -> Any:  # noqa: ANN401 - any cell
    """Give the first cell that holds anything."""
    return next((cells[n] for n in names if given(cells.get(n)) is not None), None)


def described_by(
    rows: list[Row], names: list[str], keys: list[Row], judges: list[Judge], expected: set[str]
) -> list[str]:
    """Find further columns that describe the example."""
    texts = {name for part in PARTS.values() for name in part}
    judged = {name for each in judges for name in (each.value, *each.explanation, *each.error)}
    known = {*_ABOUT_THE_ANSWER, *texts, *judged, *expected, *EXAMPLE}
    rest = [name for name in names if name not in known and "/" not in name]
    examples: dict[str, list[Row]] = {}
    for cells, key in zip(rows, keys, strict=True):
        found = {name: given(cells.get(name)) for name in rest}
        examples.setdefault(key["example_id"], []).append(found)
    return attribute_names(examples)
