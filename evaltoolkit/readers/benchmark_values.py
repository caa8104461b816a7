"""What benchmarks of agents share: verdicts, shares of passed checks, measurements that were lost.

The verdict of the benchmark itself is the criterion that counts. How many of its checks an attempt
passed is written beside it and is advisory (``blocking`` is false): it explains a verdict and is
no second one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from evaltoolkit.readers.base import Row

Lost = Literal["unscored", "scorer_error", "system_error"]

_UNIT = {"higher_is_better": True, "lower_bound": 0.0, "upper_bound": 1.0}


def verdict_of(criterion: str, *, blocking: bool = True) -> Row:
    """Describe a criterion that is met or not."""
    return {"criterion": criterion, "kind": "binary", **_UNIT, "blocking": blocking}


def share_of(criterion: str) -> Row:
    """Describe a criterion that is the share of checks that passed."""
    return {"criterion": criterion, "kind": "continuous", **_UNIT, "blocking": False}


def told(value: bool, *, label: str | None = None, message: str | None = None) -> Row:
    """Give the columns of a verdict that the tool gave as true or false.

    Example:
        >>> told(True)["score"], told(False)["passed"]
        (1.0, False)
    """
    return {
        "score": float(value),
        "passed": value,
        "status": "scored",
        "label": label,
        "message": message,
    }


def share(passed: Iterable[bool]) -> Row:
    """Give the columns of a share; unscored where there was nothing to pass.

    Example:
        >>> share([True, False])["score"], share([])["status"]
        (0.5, 'unscored')
    """
    checks = list(passed)
    if not checks:
        return lost("unscored", "there was nothing to check")
    return {"score": sum(checks) / len(checks), "status": "scored", "label": None, "message": None}


def lost(status: Lost, message: str, *, label: object = None) -> Row:
    """Give the columns of a measurement that did not happen; a number written there is its label.

    Example:
        >>> lost("system_error", "cut off", label=0.0)["label"]
        '0.0'
    """
    text = None if label is None else str(label)
    return {"score": None, "status": status, "label": text, "message": message}


def counted(number: int, names: Sequence[str]) -> str:
    """Say how many of something there are, in the singular or the plural.

    Example:
        >>> counted(1, ("entry", "entries")), counted(3, ("entry", "entries"))
        ('1 entry', '3 entries')
    """
    return f"{number} {names[0] if number == 1 else names[1]}"
