"""Compare a scorer with its counterpart elsewhere: where they differ must be where it was meant.

A class of intended differences has a name, a reason and a rule that says from the input alone
whether it belongs there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pytest

from evaltoolkit.models import Score
from evaltoolkit.scorers.base import shorten

Outcome = float | str
"""A number, or in words why there is none."""


@dataclass(frozen=True)
class Intended:
    """One class of inputs for which this library answers otherwise, on purpose."""

    name: str
    reason: str
    holds: Callable[[Any, Any], bool]
    theirs: str | None = None
    """What comes out there: the name of an exception or "nan", several with "or" between them,
    None for any number, or "anything"."""
    ours: str | None = None
    """What comes out here: a status, None for any number, or "anything"."""
    always: bool = True
    """Whether every such input differs, or only where the two ways happen to give two numbers."""
    right: Callable[[Any, Any], Outcome] | None = None
    """What must come out here for every such input, worked out in another way."""


@dataclass(frozen=True)
class Case:
    """One input with what both sides say to it."""

    actual: Any
    expected: Any
    theirs: Outcome
    ours: Outcome

    def __str__(self) -> str:
        return (
            f"{shorten(self.actual)} against {shorten(self.expected)}: "
            f"{self.theirs} there, {self.ours} here"
        )

    @property
    def differs(self) -> bool:
        return not _agree(self.theirs, self.ours)


def outcome_there(evaluate: Callable[[], Any]) -> Outcome:
    """Give the number of a foreign scorer, "nan", or the name of the exception."""
    try:
        value = evaluate()
    except Exception as error:
        return type(error).__name__
    if value is None:
        return "None"
    return "nan" if math.isnan(value) else float(value)


def outcome_here(score: Score) -> Outcome:
    """Give the number of a score, or its status."""
    return score.status if score.score is None else score.score


def assert_differs_as_intended(cases: Iterable[Case], classes: Iterable[Intended]) -> None:
    """Check that the inputs that differ are those of the intended classes, each with members.

    The first class whose rule holds is that of a case. What came out on either side must then be
    what the class says, also where both say the same, and no other input may differ.
    """
    classes = list(classes)
    members: dict[str, int] = {one.name: 0 for one in classes}
    for case in cases:
        found = next((one for one in classes if one.holds(case.actual, case.expected)), None)
        if found is not None and found.right is not None:
            right = found.right(case.actual, case.expected)
            if not _agree(case.ours, right):
                pytest.fail(f"should be {right} in the class {found.name!r}: {case}")
        if not case.differs:
            if found is not None and found.always:
                pytest.fail(f"is of the class {found.name!r} and does not differ: {case}")
            continue
        if found is None:
            pytest.fail(f"belongs to no class: {case}")
        if not (_fits(case.theirs, found.theirs) and _fits(case.ours, found.ours)):
            pytest.fail(f"not what the class {found.name!r} says: {case}")
        members[found.name] += 1
    empty = [name for name, count in members.items() if not count]
    assert not empty, f"nothing differs in the classes {empty}"


def _agree(one: Outcome, other: Outcome) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12)


def _fits(outcome: Outcome, said: str | None) -> bool:
    if said is None:
        return not isinstance(outcome, str)
    return said == "anything" or outcome in said.split(" or ")
