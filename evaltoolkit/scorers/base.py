"""What a scorer is, and the base classes of those that this library brings.

A scorer has a name, knows its criterion and turns an output and its example into one score or
several. Where there is nothing to measure it says so with a reason: it never invents a number.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Iterable, Sequence
from typing import (
    Any,
    ClassVar,
    NamedTuple,
    Protocol,
    TypedDict,
    TypeGuard,
    Unpack,
    runtime_checkable,
)

from evaltoolkit.clients.options import check_keywords
from evaltoolkit.errors import MissingDependencyError, ScorerError
from evaltoolkit.models import Criterion, Example, Kind, Output, Score


@runtime_checkable
class Scorer(Protocol):
    """Anything that scores: a name, a criterion and a `score` method, sync or async.

    A scorer of several parts names them ``<criterion>.<part>``. One that wants errors to be
    counted for every part, also when no output could be scored, has a further attribute
    ``parts: Sequence[Criterion]``. One that is meant for some examples only has a method
    ``applies(example) -> bool``.
    """

    @property
    def name(self) -> str:
        """Who judges; the ``scorer`` column of the score table."""
        ...

    @property
    def criterion(self) -> Criterion:
        """What is judged, with its kind, direction, bounds and threshold."""
        ...

    def score(
        self, output: Output, example: Example, /
    ) -> Score | list[Score] | Awaitable[Score | list[Score]]:
        """Measure one output."""
        ...


class Unmeasurable(Exception):
    """Raised inside a scorer where there is nothing to measure; becomes status ``unscored``."""


class Verdict(NamedTuple):
    """A number with its explanation, before it becomes a `Score`."""

    score: float
    message: str | None = None
    details: dict[str, Any] | None = None
    label: str | None = None


class Naming(TypedDict, total=False):
    """Keywords that every scorer of this library takes.

    ``name`` says who judges (default: the class), ``criterion`` what is judged (default: the
    name; give several scorers one criterion to measure how well they agree), ``threshold`` from
    which score on it passes, None for no verdict; ``weight`` and ``blocking`` are passed on.
    """

    name: str | None
    criterion: str | None
    threshold: float | None
    weight: float | None
    blocking: bool


class NamedScorer:
    """What every scorer of this library knows of itself: its name and its criterion.

    A subclass says what its numbers mean in class attributes.
    """

    kind: ClassVar[Kind] = "continuous"
    higher_is_better: ClassVar[bool] = True
    lower_bound: ClassVar[float | None] = 0.0
    upper_bound: ClassVar[float | None] = 1.0
    default_threshold: ClassVar[float | None] = 1.0

    def __init__(self, **naming: Unpack[Naming]) -> None:
        check_options(type(self), naming, Naming.__annotations__)
        self._name = naming.get("name") or type(self).__name__
        self._criterion = Criterion(
            name=naming.get("criterion") or self._name,
            kind=self.kind,
            higher_is_better=self.higher_is_better,
            lower_bound=self.lower_bound,
            upper_bound=self.upper_bound,
            threshold=naming.get("threshold", self.default_threshold),
            weight=naming.get("weight"),
            blocking=naming.get("blocking", True),
        )

    @property
    def name(self) -> str:
        """Who judges; the ``scorer`` column of the score table."""
        return self._name

    @property
    def criterion(self) -> Criterion:
        """What is judged, with its kind, direction, bounds and threshold."""
        return self._criterion

    def __repr__(self) -> str:
        """Show the class, the name and the criterion."""
        return f"{type(self).__name__}(name={self.name!r}, criterion={self.criterion.name!r})"


class BaseScorer(NamedScorer, ABC):
    """Base of the scorers that judge one output; a subclass measures in `measure`."""

    def score(self, output: Output, example: Example, /) -> Score:
        """Measure one output; where that is impossible, say why.

        Args:
            output: What the system answered.
            example: What it was asked, with the reference.

        Returns:
            A `Score` of this scorer's criterion.
        """
        try:
            verdict = self.measure(output, example)
        except Unmeasurable as reason:
            return Score(criterion=self.criterion.name, status="unscored", message=str(reason))
        return Score(
            criterion=self.criterion.name,
            score=verdict.score,
            label=verdict.label,
            passed=self.criterion.passes(verdict.score),
            message=verdict.message,
            details=verdict.details,
        )

    @abstractmethod
    def measure(self, output: Output, example: Example, /) -> Verdict:
        """Give the number and its explanation.

        Raises:
            Unmeasurable: There is nothing to measure; the text is the reason.
        """


class ComparingScorer(BaseScorer):
    """Base of the scorers that hold an answer against the reference of the example."""

    def measure(self, output: Output, example: Example, /) -> Verdict:
        """Compare the answer with the reference; see `compare`."""
        return self.compare(answer_of(output), reference_of(example))

    @abstractmethod
    def compare(self, actual: object, expected: object, /) -> Verdict:
        """Compare two values, without regard to where they come from.

        Raises:
            Unmeasurable: They cannot be compared; the text is the reason.
        """


def answer_of(output: Output) -> Any:  # noqa: ANN401 - a text or any JSON value
    """Give the answer, or say that there is none."""
    if output.text is None:
        msg = "the output has no text"
        raise Unmeasurable(msg)
    return output.text


def reference_of(example: Example) -> Any:  # noqa: ANN401 - a text or any JSON value
    """Give the reference, or say that there is none."""
    if example.reference is None:
        msg = "the example has no reference"
        raise Unmeasurable(msg)
    return example.reference


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a value is a JSON object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Whether a value is a JSON array."""
    return isinstance(value, list)


def is_several(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether a value holds several: a list or a tuple, but no text."""
    return isinstance(value, _SEVERAL)


_SEVERAL = (list, tuple)  # a union would be made anew for every question


def as_text(value: object) -> str:
    """Give a value as text: text as it is, dicts and lists as JSON, anything else by str().

    Example:
        >>> as_text({"b": [1]}), as_text(1.0)
        ('{"b": [1]}', '1.0')
    """
    if isinstance(value, str):
        return value
    return as_json(value) if is_object(value) or is_array(value) else str(value)


def as_json(value: object, *, compact: bool = False) -> str:
    """Give a value as JSON text; `compact` drops spaces and sorts keys.

    Raises:
        Unmeasurable: It holds itself, something that is not JSON, or is nested too deeply.
    """
    try:
        if compact:
            return json.dumps(value, separators=(",", ":"), sort_keys=True)
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        msg = f"a value of type {type(value).__name__} is not JSON: {error}"
        raise Unmeasurable(msg) from error


def shorten(value: object, *, limit: int = 80) -> str:
    """Show a value in a message, cut in the middle where it is long.

    Example:
        >>> shorten("abcdefghijkl", limit=9)
        "'abc...l'"
    """
    # Only the ends of a huge text are ever looked at.
    if isinstance(value, str) and len(value) > 3 * limit:
        value = value[: 2 * limit] + value[-limit:]
    try:
        shown = repr(value) if isinstance(value, str) else _SHOW.repr(value)
    except ValueError:  # Python refuses to write out whole numbers of thousands of digits
        shown = f"a huge {type(value).__name__}"
    if len(shown) <= limit:
        return shown
    tail = max(limit // 4, 1)
    return f"{shown[: limit - tail - 3]}...{shown[-tail:]}"


_SHOW = reprlib.Repr()
_SHOW.maxstring = _SHOW.maxother = _SHOW.maxlong = 80


def check_options(kind: type, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse keywords that a class does not know, and hint at its own arguments as well.

    Raises:
        ScorerError: One does not exist.
    """
    parameters = inspect.signature(kind).parameters.values()
    own = [each.name for each in parameters if each.kind is not each.VAR_KEYWORD]
    check_keywords(given, known, purpose=kind.__name__, others=own)


def check_whole(name: str, value: object, *, least: int = 0, or_none: bool = True) -> None:
    """Check an option that is a whole number, where `or_none` also None for no limit.

    Raises:
        ScorerError: It is something else, or too small.
    """
    if value is None and or_none:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        also = ", or None for no limit" if or_none else ""
        msg = f"{name} is {shorten(value)}; it must be a whole number from {least}{also}"
        raise ScorerError(msg, code="bad_option", path=name, value=value)


def need_package(package: str, *, purpose: str, extra: str = "scorers") -> None:
    """Fail when a scorer is made, not in each of its ten thousand rows."""
    if importlib.util.find_spec(package) is None:
        raise MissingDependencyError(package, extra=extra, purpose=purpose)
