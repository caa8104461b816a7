"""Checks of the options that clients and scorers share, for messages of one form."""

from __future__ import annotations

import math
from collections.abc import Iterable

from evaltoolkit.errors import ScorerError, nearest


def check_keywords(
    given: Iterable[str], known: Iterable[str], *, purpose: str, others: Iterable[str] = ()
) -> None:
    """Refuse keywords that nobody knows: a misspelt option would be left out without a word.

    Args:
        given: The keywords.
        known: Those that exist.
        purpose: Who was given them.
        others: Further options, which may have been meant.

    Raises:
        ScorerError: There is one.
    """
    for keyword in given:
        if keyword not in known:
            msg = f"{purpose} knows no option {keyword!r}; {nearest(keyword, [*others, *known])}"
            raise ScorerError(msg, code="unknown_option", path=keyword, value=keyword)


def is_number(value: object, *, least: float = 0, whole: bool = False) -> bool:
    """Whether a value is a finite number from `least` on, and no truth value.

    Example:
        >>> [is_number(value) for value in (0, 1.5, True, "1", float("nan"), -1)]
        [True, True, False, False, False, False]
        >>> is_number(1.5, whole=True)
        False
    """
    kind = int if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kind):
        return False
    return math.isfinite(value) and value >= least


def check_option(name: str, value: object, allowed: str, *, fits: bool) -> None:
    """Refuse an option that does not fit, and say what does.

    Raises:
        ScorerError: It does not.
    """
    if not fits:
        msg = f"{name} is {repr(value)[:200]}; {allowed}"
        raise ScorerError(msg, code="bad_option", path=name, value=value)
