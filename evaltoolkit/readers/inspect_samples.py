"""One sample of an Inspect log, reduced to what the tables need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaltoolkit.readers.base import Row
from evaltoolkit.readers.inspect_logs import Log, Record
from evaltoolkit.readers.inspect_outputs import input_digest
from evaltoolkit.readers.inspect_values import Judged, Measured
from evaltoolkit.readers.records import finite_number, is_short_scalar, shortened

LONG = object()
"""Stands for metadata that is no attribute, so that its text can be let go."""


@dataclass
class Sample:
    """What the score table needs of one sample, kept until the whole log has been seen."""

    key: Row
    place: Row
    judged: list[Judged]
    error: str | None
    limit: str | None
    retries: int | None
    metadata: Row


def slim(log: Log, record: Record) -> Sample:
    """Keep of one sample what the tables need, so that its transcript can be let go.

    Raises:
        ValueError: It is no sample.
    """
    sample = record.sample
    if not isinstance(sample, Mapping) or sample.get("id") is None:
        raise ValueError("it is no sample with an id")
    key = {
        **log.run,
        "example_id": str(sample["id"]),
        "trial": int(sample.get("epoch", 1)) - 1,
    }
    scores = sample.get("scores") or {}
    if not scores and isinstance(sample.get("score"), Mapping):
        scores = {log.scorers.first: sample["score"]}  # the only one, in logs of early 2024
    log.seen.update(scores)
    judged = list(log.scorers.judged(scores))
    if sample.get("invalidation"):
        judged = [_withdrawn(each, sample["invalidation"]) for each in judged]
    return Sample(
        key=key,
        place={
            "source": f"{log.path.name}: {record.name}",
            "timestamp": sample.get("completed_at") or log.evaluation.get("created"),
            "input_digest": None if record.is_summary else input_digest(sample),
        },
        judged=judged,
        error=error_text(sample.get("error")),
        limit=_limit_text(sample.get("limit")),
        retries=_retries(sample),
        metadata={
            name: value if value is None or is_short_scalar(value) else LONG
            for name, value in (sample.get("metadata") or {}).items()
        },
    )


def _withdrawn(judged: Judged, invalidation: object) -> Judged:
    """Take back the verdict on a sample that somebody has marked as invalid since."""
    reason = invalidation.get("reason") if isinstance(invalidation, Mapping) else None
    return judged._replace(measured=lost(judged.measured, f"invalidated: {reason or 'no reason'}"))


def error_text(error: object) -> str | None:
    """Give the message of an error; None where there is none."""
    if isinstance(error, Mapping):
        error = error.get("message") or "an error without a message"
    return str(error) if error else None


def _limit_text(limit: object) -> str | None:
    if not isinstance(limit, Mapping):
        return f"{limit} limit" if limit else None
    size = finite_number(limit.get("limit"))
    return f"{limit.get('type')} limit" + ("" if size is None else f" of {size:g}")


def _retries(sample: Mapping[str, Any]) -> int | None:
    """Count the attempts that failed before the one that is told; None where nobody counted."""
    tried = sample.get("error_retries", sample.get("retries"))
    return len(tried) if isinstance(tried, list) else tried if isinstance(tried, int) else None


def lost(measured: Measured, error: str) -> Measured:
    """Keep what a tool wrote beside an error as label: it is no score."""
    label = measured.label
    if label is None and measured.score is not None:
        label = f"{measured.score:g}"
    return Measured(None, label, shortened(error))
