"""What a comparison of langstate must hold, where it contradicts itself, what it says."""

from __future__ import annotations

import math

from evaltoolkit.readers.base import Row
from evaltoolkit.readers.records import as_written, finite_number
from evaltoolkit.readers.tracebacks import reason

ACCURACY, MATCH = "accuracy_score", "overall_match"
_WRONG = ("mismatched_fields", "missing_fields", "extra_fields")
_EXPECTED = ("matching_fields", "mismatched_fields", "missing_fields")
_SHARE = {"higher_is_better": True, "lower_bound": 0.0, "upper_bound": 1.0}
_COUNT = {"higher_is_better": False, "lower_bound": 0.0}

CRITERIA: dict[str, Row] = {
    MATCH: {**_SHARE, "kind": "binary"},
    ACCURACY: {**_SHARE, "kind": "continuous"},
    **dict.fromkeys(_WRONG, _COUNT),
}
"""The criteria of a comparison and what is known of them."""


def check(result: Row) -> None:
    """Refuse a result that langstate would not write.

    Raises:
        ValueError: A count, a verdict or the accuracy is malformed.
    """
    comparison = result["comparison"]
    if not isinstance(comparison[MATCH], bool):
        raise ValueError("its overall_match is neither true nor false")  # noqa: TRY004 - one kind of refusal
    for name in ("matching_fields", *_WRONG):
        count = comparison[name]
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise ValueError(f"its {name} is {count!r}, not a count")
    for each in comparison["fields"]:
        if not isinstance(each["field_path"], str) or not isinstance(each["matches"], bool):
            raise ValueError("one of its fields has no path or does not say whether it matches")  # noqa: TRY004
    accuracy = finite_number(result.get(ACCURACY))
    if accuracy is not None and not 0 <= accuracy <= 1:
        raise ValueError(f"its accuracy_score is {accuracy:g}, not within 0 and 1")


def contradiction(result: Row) -> str | None:
    """Say where the counts of a comparison do not fit its fields, its verdict or its accuracy."""
    comparison = result["comparison"]
    matching = comparison["matching_fields"]
    wrong = sum(comparison[name] for name in _WRONG)
    said = sum(each["matches"] for each in comparison["fields"])
    if said != matching or len(comparison["fields"]) != matching + wrong:
        return "its counts do not fit its fields"
    if comparison[MATCH] != (wrong == 0):
        return "overall_match does not fit the counts"
    accuracy = finite_number(result.get(ACCURACY))
    share = matching / _expected(comparison) if _expected(comparison) else 0.0
    if accuracy is not None and not math.isclose(accuracy, share, abs_tol=1e-9):
        return f"accuracy_score is {accuracy:g}, the counts give {share:g}"
    return None


def _expected(comparison: Row) -> int:
    return sum(comparison[name] for name in _EXPECTED)


def measured(result: Row, name: str) -> Row:
    """Give score, label, verdict, status and message of one criterion."""
    written = _written(result, name)
    if name == ACCURACY and not _expected(result["comparison"]):
        message = "the case expects nothing, so there is no accuracy"
        return _row(None, as_written(written), status="unscored", message=message)
    number = finite_number(float(written) if isinstance(written, bool) else written)
    if number is None:
        message = "the result holds no number"
        return _row(None, as_written(written), status="unscored", message=message)
    passed = written if name == MATCH else None
    return {**_row(number, None, status="scored", message=None), "passed": passed}


def lost(result: Row | None, name: str, error: str, *, status: str) -> Row:
    """Give one criterion of an evaluation that broke; a number beside the error is the label."""
    written = None if result is None else _written(result, name)
    return _row(None, as_written(written), status=status, message=reason(error))


def _written(result: Row, name: str) -> object:
    return {**result, **result["comparison"]}.get(name)


def _row(score: float | None, label: str | None, *, status: str, message: str | None) -> Row:
    return {
        "score": score, "label": label, "passed": None, "status": status, "message": message
    }  # fmt: skip
