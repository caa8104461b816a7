"""Scorers of other packages: what they return becomes scores with a status, never a guess."""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias

from evaltoolkit.errors import MissingDependencyError, ScorerError
from evaltoolkit.models import Criterion, Example, Output, Score, describe_error
from evaltoolkit.scorers.base import NamedScorer, Unmeasurable, as_json, is_several, shorten

Arguments: TypeAlias = Mapping[str, Any] | Callable[[Output, Example], Mapping[str, Any]]
"""Further arguments of a call (context, criteria, ...), or a function that gives them."""

MAX_DEPTH = 20
"""Levels of nesting that the details of a score keep."""

MAX_TEXT = 4000
"""Characters that a single text in the details of a score keeps."""

MAX_MESSAGE = 300
"""Characters that the message of a score keeps."""


class Returned(NamedTuple):
    """One result of a foreign scorer, with whatever it explains."""

    value: object
    comment: str | None = None
    label: str | None = None
    details: dict[str, Any] | None = None
    part: str | None = None


class ForeignScorer(NamedScorer, ABC):
    """Base of the scorers that ask another package.

    Whatever happens there becomes a score: a number with the verdict of this scorer's threshold
    (without a threshold, a boolean is its own verdict), None and NaN ``unscored`` with the
    reason, an exception ``scorer_error`` with its text. Several results become parts.
    """

    def score(self, output: Output, example: Example, /) -> Score | list[Score]:
        """Have one output measured.

        Args:
            output: What the system answered.
            example: What it was asked, with the reference.

        Returns:
            A `Score` of this scorer's criterion, or one for each part.
        """
        name = self.criterion.name
        try:
            return scores_of(self.criterion, self.ask(output, example))
        except Unmeasurable as reason:
            return Score(criterion=name, status="unscored", message=str(reason))
        except MissingDependencyError:
            raise
        except Exception as error:  # whatever foreign code raises is a status of this row
            message = self.without_secrets(describe_error(error))
            return Score(criterion=name, status="scorer_error", message=cut(message))

    @abstractmethod
    def ask(self, output: Output, example: Example, /) -> Returned | list[Returned]:
        """Call the other package.

        Raises:
            Unmeasurable: There is nothing to measure; the text is the reason.
        """

    def without_secrets(self, text: str) -> str:
        """Take out of an error's text what must not be shown; nothing unless overridden."""
        return text


def scores_of(criterion: Criterion, returned: Returned | list[Returned]) -> Score | list[Score]:
    """Make scores of what a foreign scorer returned.

    Args:
        criterion: What it measures.
        returned: One result, or several; those become parts, numbered where they have no name
            or one name twice.

    Returns:
        One `Score`, or a list of them.

    Raises:
        Unmeasurable: It is an empty list.
        ScorerError: A value is no number or breaks the bounds of the criterion.

    Example:
        >>> scores_of(Criterion(name="near", threshold=0.5), Returned(math.nan)).message
        'the scorer returned NaN'
    """
    if isinstance(returned, Returned):
        return _score_of(criterion, returned)
    if not returned:
        msg = "the scorer returned an empty list"
        raise Unmeasurable(msg)
    names = _distinct([one.part or "part" for one in returned])
    parts = zip(names, returned, strict=True)
    return [_score_of(_part_of(criterion, name), one) for name, one in parts]


def plain(value: object, *, depth: int = 0) -> Any:  # noqa: ANN401 - a JSON value
    """Copy a value as JSON that can be stored: no foreign types, no NaN, no endless nesting.

    Example:
        >>> plain({"a": (1, float("nan"), {2})})
        {'a': [1, 'nan', '{2}']}
    """
    if depth > MAX_DEPTH:
        return "..."
    if isinstance(value, Mapping):
        return {str(key): plain(item, depth=depth + 1) for key, item in value.items()}
    if is_several(value):
        return [plain(item, depth=depth + 1) for item in value]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float | Decimal) or type(value).__module__ == "numpy":
        return _plain_number(value)
    as_dict = getattr(value, "as_dict", None)
    if callable(as_dict):
        return plain(as_dict(), depth=depth + 1)
    return cut(value if isinstance(value, str) else str(value), limit=MAX_TEXT)


def cut(text: str, *, limit: int = MAX_MESSAGE) -> str:
    """Cut a text that is too long for its place.

    Example:
        >>> cut("abcdef", limit=4)
        'a...'
    """
    return text if len(text) <= limit else text[: limit - 3] + "..."


def asked_text(value: object) -> str:
    """Give what a system was asked as text for a prompt: text as it is, the rest as JSON."""
    return value if isinstance(value, str) else as_json(value)


def checked_arguments(arguments: Arguments | None) -> Arguments | None:
    """Check what is given as `arguments`.

    Raises:
        ScorerError: It is neither a mapping nor a function.
    """
    if arguments is None or callable(arguments) or isinstance(arguments, Mapping):
        return arguments
    msg = (
        f"arguments is {shorten(arguments)}; it must be a dict of further arguments, or a function "
        "of the output and the example that gives one"
    )
    raise ScorerError(msg, code="bad_option", path="arguments", value=arguments)


def further_arguments(
    arguments: Arguments | None, output: Output, example: Example
) -> dict[str, Any]:
    """Give the further arguments of one call."""
    return dict(arguments(output, example) if callable(arguments) else arguments or {})


def _score_of(criterion: Criterion, returned: Returned) -> Score:
    value, name = returned.value, criterion.name
    comment = cut(returned.comment) if returned.comment else None
    details = plain(returned.details) if returned.details else None
    number = None if value is None else _number(name, value)
    if number is None or math.isnan(number):
        reason = f"the scorer returned {'None' if number is None else 'NaN'}"
        message = f"{reason}: {comment}" if comment else reason
        return Score(criterion=name, status="unscored", message=message, details=details)
    if broken := criterion.beyond(number):
        msg = f"the score of {name!r} {broken}"
        raise ScorerError(msg, code="out_of_bounds", path=name, value=number)
    passed = criterion.passes(number)
    if passed is None and _is_bool(value):
        passed = bool(value)
    return Score(
        criterion=name,
        score=number,
        passed=passed,
        label=returned.label,
        message=comment,
        details=details,
    )


def _number(name: str, value: object) -> float:
    if _is_bool(value):
        return float(bool(value))
    if not isinstance(value, numbers.Real | Decimal):
        msg = f"{name!r} gave {shorten(value)}, which is not a number"
        raise ScorerError(msg, code="bad_return", path=name, value=value)
    number = float(value)
    if math.isinf(number):
        msg = f"{name!r} gave {number}; a score must be finite"
        raise ScorerError(msg, code="infinite_score", path=name, value=number)
    return number


def _is_bool(value: object) -> bool:
    return type(value).__name__ in ("bool", "bool_")


def _part_of(criterion: Criterion, part: str) -> Criterion:
    return criterion.model_copy(update={"name": f"{criterion.name}.{part}"})


def _distinct(names: Iterable[str]) -> list[str]:
    """Number repeated names, so that no part overwrites another."""
    seen: dict[str, int] = {}
    distinct: list[str] = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        distinct.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return distinct


def _plain_number(value: Any) -> Any:  # noqa: ANN401 - a number of any package
    to_python = getattr(value, "tolist", None)  # numpy: a scalar, or an array as a list
    number = to_python() if callable(to_python) else value
    if is_several(number):
        return plain(number)
    if isinstance(number, Decimal):
        number = float(number)
    if isinstance(number, float) and not math.isfinite(number):
        return str(number)
    return number
