"""What Arize Phoenix writes for one evaluation, and which way its own evaluators point."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from evaltoolkit.readers.base import Row
from evaltoolkit.readers.cells import given, number_of
from evaltoolkit.readers.records import (
    SHORT_TEXT,
    as_cell,
    as_json,
    as_label,
    shortened,
)

NOT_PARSABLE = "NOT_PARSABLE"
_NO_RUN = frozenset({"FAILED", "DID_NOT_RUN", "MISSING_INPUT"})
# Labels of Phoenix's own templates: which of a pair is the bad one.
_BAD = frozenset(
    {
        "hallucinated", "toxic", "incorrect", "unrelated", "irrelevant", "is_bug", "bad",
        "frustrated", "unreadable", "unfaithful",
    }
)  # fmt: skip
_GOOD = frozenset(
    {
        "factual", "non-toxic", "correct", "relevant", "bug_free", "good", "ok", "readable",
        "faithful",
    }
)  # fmt: skip
_MINIMISED = frozenset({"hallucination", "toxicity"})


def measured(evaluation: Mapping[str, Any]) -> Row:
    """Turn one evaluation into score, label, status and message.

    Phoenix gives an evaluation whose reply it could not read the label NOT_PARSABLE, often with
    the score 0: that is no score.

    Args:
        evaluation: ``label``, ``score``, ``explanation``; ``error`` or ``exceptions`` and
            ``execution_status``, where the evaluator kept them.

    Example:
        >>> row = measured({"label": "NOT_PARSABLE", "score": 0.0})
        >>> row["score"], row["status"], row["label"]
        (None, 'scorer_error', 'NOT_PARSABLE')
    """
    label, score = as_cell(given(evaluation.get("label"))), given(evaluation.get("score"))
    words = as_cell(given(evaluation.get("explanation")))
    label = None if label is None else shortened(label, limit=SHORT_TEXT)
    failure = _failure(evaluation, label)
    number = number_of(score)
    if failure is not None:
        wrote = "" if score is None else f"; the tool wrote the score {as_label(score)}"
        written = label if label is not None or score is None else as_label(score)
        return _lost("scorer_error", shortened(failure + wrote), label=written)
    if number is not None:
        message = None if words is None else shortened(words)
        return {"score": number, "label": label, "status": "scored", "message": message}
    if label is None:
        label = None if score is None else as_label(score)
        return _lost("unscored", shortened(words or "Phoenix gave no label or score"), label=label)
    return _lost("unscored", shortened(words or "there is a label and no score"), label=label)


def _failure(evaluation: Mapping[str, Any], label: str | None) -> str | None:
    error = given(evaluation.get("error"))
    if error is None and evaluation.get("execution_status") in _NO_RUN:
        error = given(evaluation.get("exceptions")) or evaluation["execution_status"]
    if error is not None:
        return as_cell(error)
    if label == NOT_PARSABLE:
        return "the judge's reply could not be parsed"
    return None


def _lost(status: str, message: str, *, label: str | None) -> Row:
    return {"score": None, "label": label, "status": status, "message": message}


def points_up(criterion: str, judged: Iterable[tuple[str | None, float | None]]) -> bool | None:
    """Say whether a higher score is better, by the labels that the highest score goes with.

    Args:
        criterion: Name of the evaluation.
        judged: Label and score of every row that was scored.

    Example:
        >>> points_up("Hallucination", [("hallucinated", 1.0), ("factual", 0.0)])
        False
        >>> points_up("custom", [("blue", 1.0)]) is None
        True
    """
    votes = set()
    for label, score in judged:
        word = (label or "").lower()
        if score in (0.0, 1.0) and word in _BAD | _GOOD:
            votes.add((word in _GOOD) == (score == 1.0))
    if len(votes) == 1:
        return votes.pop()
    return False if criterion.lower() in _MINIMISED and not votes else None


def explained(place: Row, explanation: Any) -> list[Row]:  # noqa: ANN401 - any cell
    """Keep an explanation that is too long for the score table."""
    text = as_cell(given(explanation))
    if text is None or shortened(text) == text:
        return []
    key = ("system", "example_id", "trial", "criterion", "scorer", "source")
    kept = {name: place[name] for name in key if name in place}
    return [{**kept, "details": as_json({"explanation": text})}]


def of_file(path: Path, notes: list[str]) -> list[str]:
    """Say of every note which file it is about."""
    return [f"{path.name}: {note}" for note in notes]
