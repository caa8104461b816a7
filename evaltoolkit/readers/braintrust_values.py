"""What a score, an absent score and an error of Braintrust mean."""

from __future__ import annotations

from collections.abc import Mapping

from evaltoolkit.readers.base import Row
from evaltoolkit.readers.records import (
    SHORT_TEXT,
    as_cell,
    finite_number,
    non_finite_name,
    shortened,
)
from evaltoolkit.readers.tracebacks import reason


def judged(
    scores: Row, expected: list[str], *, raised: Mapping[str, str], error: str | None
) -> dict[str, Row]:
    """Give each criterion of one result its measurement, also those that a crash has lost.

    Args:
        scores: The values by criterion.
        expected: What the result was to be judged by.
        raised: The tracebacks of scorers that raised.
        error: What the task itself raised.
    """
    lost = {name: _row(None, "scorer_error", reason(text)) for name, text in raised.items()}
    if error is None:
        return {**{name: _measured(score) for name, score in scores.items()}, **lost}
    why = reason(error)
    if scores and "AssertionError" in error:
        # A test framework: a failed expectation is the verdict, no crash.
        told = {name: _measured(score) for name, score in scores.items()}
        return {name: {**row, "message": row["message"] or why} for name, row in told.items()}
    return {
        name: _row(None, "system_error", why, label=_label(scores.get(name)))
        for name in dict.fromkeys((*expected, *scores))
    }


def _measured(score: object) -> Row:
    number = finite_number(float(score) if isinstance(score, bool) else score)
    if number is not None:
        return _row(number, "scored", None)
    why = "the scorer declined" if score is None else "the scorer gave no number"
    return _row(None, "unscored", why, label=_label(score))


def _label(score: object) -> str | None:
    """Write what stands in place of a score, or beside an error."""
    number = finite_number(float(score) if isinstance(score, bool) else score)
    if number is not None:
        return f"{number:g}"
    if isinstance(score, float):
        return non_finite_name(score)
    return None if score is None else shortened(as_cell(score) or "", limit=SHORT_TEXT)


def _row(score: float | None, status: str, message: str | None, *, label: str | None = None) -> Row:
    return {"score": score, "label": label, "status": status, "message": message}
