"""What MLflow writes for one judgement: a number, a verdict, or why there is none."""

from __future__ import annotations

from evaltoolkit.readers.base import Row
from evaltoolkit.readers.cells import given, number_of
from evaltoolkit.readers.parsing import json_or_none
from evaltoolkit.readers.records import (
    SHORT_TEXT,
    as_cell,
    finite_number,
    non_finite_name,
    shortened,
)

_VERDICTS = {"yes": True, "no": False, "true": True, "false": False}
# What stands as justification where the judge could not be called or understood.
_FAILED = ("Failed to score model on payload", "Failed to extract score", "Failed to parse")

_GRADE = {"kind": "ordinal", "higher_is_better": True, "lower_bound": 1.0, "upper_bound": 5.0}
_SHARE = {"higher_is_better": True, "lower_bound": 0.0, "upper_bound": 1.0}
_FACTS: dict[str, Row] = {
    **dict.fromkeys(
        ("answer_correctness", "answer_similarity", "answer_relevance", "faithfulness",
         "relevance"),
        _GRADE,
    ),
    **dict.fromkeys(
        ("exact_match", "rouge1", "rouge2", "rougeL", "rougeLsum", "bleu", "precision_at_k",
         "recall_at_k", "ndcg_at_k"),
        _SHARE,
    ),
    "toxicity": {**_SHARE, "higher_is_better": False},
}  # fmt: skip


def facts_of(criterion: str, *, is_grade: bool) -> Row:
    """Give kind, direction and bounds of a metric of MLflow's own; others have none.

    Args:
        criterion: Name of the metric.
        is_grade: Whether it was written by ``mlflow.evaluate``, whose judges grade from 1 to 5;
            judges of the same name in ``mlflow.genai`` say yes or no.

    Example:
        >>> facts_of("toxicity", is_grade=True)["higher_is_better"]
        False
        >>> facts_of("readability", is_grade=True)
        {}
    """
    return dict(_FACTS.get(criterion, {})) if is_grade else {}


def measured(value: object, explanation: object, error: object) -> Row:
    """Turn one judgement into score, label, passed, status and message.

    Args:
        value: What the judge gave.
        explanation: Its justification or rationale.
        error: Why it gave nothing, where MLflow says so.

    Example:
        >>> row = measured("yes", "same city", None)
        >>> row["score"], row["passed"], row["label"]
        (1.0, True, 'yes')
        >>> measured(None, "Failed to score model on payload. Error: 429", None)["status"]
        'scorer_error'
    """
    words = as_cell(given(explanation))
    failure = given(error)
    if failure is None and words is not None and words.startswith(_FAILED):
        failure = words
    if failure is not None:
        return _lost("scorer_error", shortened(str(as_cell(failure))), label=_written(value))
    message = None if words is None else shortened(words)
    if given(value) is None:
        return _lost("unscored", message or "MLflow gave no value")
    return _judged(value, message)


def _judged(value: object, message: str | None) -> Row:
    verdict = value if isinstance(value, bool) else None
    if isinstance(value, str):
        verdict = _VERDICTS.get(value.strip().lower())
    number = number_of(value) if verdict is None else float(verdict)
    if number is None:
        reason = message or "the judgement is a category, which is no number"
        return _lost("unscored", reason, label=_written(value))
    return {
        "score": number,
        "label": value if isinstance(value, str) and verdict is not None else None,
        "passed": verdict,
        "status": "scored",
        "message": message,
    }


def _lost(status: str, message: str, *, label: str | None = None) -> Row:
    return {"score": None, "label": label, "passed": None, "status": status, "message": message}


def _written(value: object) -> str | None:
    """Write a value that is no score as a label."""
    if isinstance(value, float) and finite_number(value) is None:
        return None if value != value else non_finite_name(value)
    text = as_cell(given(value))
    return None if text is None else shortened(text, limit=SHORT_TEXT)


def assessments_of(cell: object) -> list[Row]:
    """Read the list of assessments of a row; CSV writes it as JSON text."""
    value = json_or_none(cell.encode("utf-8", "replace")) if isinstance(cell, str) else cell
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
