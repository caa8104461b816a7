"""What the parts of llm-core results are, what they must hold and what they say."""

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

STATUS = "status"
"""Name of the criterion that holds the status of a result."""

_STATUSES = {"pass": True, "fail": False, "inconclusive": None}


def _has(value: object, *names: str) -> bool:
    return isinstance(value, Mapping) and set(names) <= set(value)


def is_result(value: object) -> bool:
    """Say whether a JSON value is the result of one evaluator on one case, or its failure."""
    judged = _has(value, "caseId", "evaluator", "status", "scores")
    return judged or _has(value, "caseId", "evaluator", "error")


def is_case(value: object) -> bool:
    """Say whether a JSON value is a case: criteria, and nothing judged yet."""
    return _has(value, "caseId", "criteria") and not _has(value, "status")


def is_qualification(value: object) -> bool:
    """Say whether a JSON value is a qualification."""
    return _has(value, "dataset", "candidate", "results", "thresholds")


def is_promotion(value: object) -> bool:
    """Say whether a JSON value is a promotion."""
    return _has(value, "qualification", "decision") and is_qualification(
        value["qualification"]  # type: ignore[index]
    )


def check_result(raw: Row) -> None:
    """Refuse a result that llm-core would not write.

    Raises:
        ValueError: Status, scores or ids are malformed; what is absent raises other errors.
    """
    if not is_result(raw):
        raise ValueError("it is no result (it needs caseId, evaluator, status and scores)")
    for name in ("evaluatorId", "version"):
        if not isinstance(raw["evaluator"][name], str):
            raise ValueError(f"its evaluator has no {name}")  # noqa: TRY004 - one kind of refusal
    if raw.get("error"):
        return
    if not isinstance(raw["status"], str) or raw["status"] not in _STATUSES:
        status = as_cell(raw["status"])
        raise ValueError(f"its status is {status!r}; it must be pass, fail or inconclusive")
    for score in raw["scores"]:
        number = finite_number(score["value"])
        if number is not None and not 0 <= number <= 1:
            name = score["criterionId"]
            raise ValueError(f"the score {name!r} is {number:g}, not within 0 and 1")


def verdict(raw: Row) -> Row:
    """Turn the status of a result into score, label, verdict, status and message."""
    if raw.get("error"):
        return lost(raw)
    status, passed = raw["status"], _STATUSES[raw["status"]]
    if passed is None:
        return {**lost(raw), "label": status}
    told = _explanation(raw)
    return {
        "score": float(passed), "label": status, "passed": passed, "status": "scored",
        "message": told,
    }  # fmt: skip


def lost(raw: Row) -> Row:
    """Say of one criterion why it has no score."""
    error = raw.get("error")
    if error:
        return {"score": None, "status": "scorer_error", "message": reason(as_cell(error) or "")}
    told = _explanation(raw)
    why = "the evaluator gave no score"
    message = why if told is None else shortened(f"{why}: {told}")
    return {"score": None, "label": None, "status": "unscored", "message": message}


def written(value: object) -> str | None:
    """Write down what stands in the place of a score."""
    if isinstance(value, float):
        return non_finite_name(value)
    text = as_cell(value)
    return None if text is None else shortened(text, limit=SHORT_TEXT)


def _explanation(raw: Row) -> str | None:
    explanations = raw.get("explanations")
    first = explanations[0] if isinstance(explanations, list) and explanations else None
    return shortened(str(first)) if first else None


def contradiction(raw: Row) -> str | None:
    """Say where the status of a qualification does not follow from its scores.

    llm-core compares with each minimum the last score of that criterion among all results.
    """
    said = raw.get("thresholdStatus")
    if said is None:
        return None
    last: dict[str, float] = {}
    for each in raw["results"]:
        result = each.get("result") if isinstance(each, Mapping) else None
        for score in (result or {}).get("scores") or []:
            number = finite_number(score.get("value"))
            last[str(score.get("criterionId"))] = -1.0 if number is None else number
    met = all(last.get(str(t["criterionId"]), -1.0) >= t["minimum"] for t in raw["thresholds"])
    if (said == "qualified") == met:
        return None
    word = shortened(str(said), limit=SHORT_TEXT)
    follows = "qualified" if met else "not-qualified"
    return f"thresholdStatus is {word!r}, but {follows!r} follows from the scores"
