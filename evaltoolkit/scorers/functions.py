"""Plain functions, and objects with only a `score` method, as scorers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from evaltoolkit.errors import ScorerError, listed, nearest
from evaltoolkit.models import Criterion, Example, Output
from evaltoolkit.scorers.base import Scorer

BINDABLE = (
    "output",
    "result",
    "expected",
    "reference",
    "example",
    "input",
    "task",
    "example_id",
    "history",
    "attributes",
)
"""Names of arguments that a scoring function may ask for."""

_FACTS = ("kind", "higher_is_better", "lower_bound", "upper_bound", "threshold", "weight")


class FunctionScorer:
    """A plain function as a scorer; its arguments are bound by name.

    The function asks for what it needs: ``output`` or ``result`` (the `Output`), ``expected`` or
    ``reference`` (the reference of the example), ``example``, ``input``, ``task``,
    ``example_id``, ``history``, ``attributes``; ``**context`` takes whatever it did not ask for.
    Other arguments need a default and keep it. It returns a number, True or False, None (nothing
    to measure), a `Score`, or a list of them; an async function is awaited by an async runner.

    Args:
        function: The function.
        name: Who judges; default the function's own name.
        criterion: What is judged: a name, or a `Criterion` that also declares kind, direction,
            bounds and threshold; default the name.

    Raises:
        ScorerError: The function asks for something that there is not, or has no name.

    Example:
        >>> def shorter(output, expected):
        ...     return len(output.text) < len(expected)
        >>> scorer = FunctionScorer(shorter)
        >>> scorer.score(Output(text="ab"), Example(id=1, reference="abc"))
        True
    """

    def __init__(
        self,
        function: Callable[..., object],
        *,
        name: str | None = None,
        criterion: str | Criterion | None = None,
    ) -> None:
        self._function = function
        self._name = name or _name_of(function)
        self._wanted, self._takes_rest = _arguments(function, self._name)
        named = criterion or self._name
        self._criterion = named if isinstance(named, Criterion) else Criterion(name=named)

    @property
    def name(self) -> str:
        """Who judges; the ``scorer`` column of the score table."""
        return self._name

    @property
    def criterion(self) -> Criterion:
        """What is judged, as far as it was declared."""
        return self._criterion

    def score(self, output: Output, example: Example, /) -> Any:  # noqa: ANN401 - shaped later
        """Call the function with the arguments that it asks for; give back what it returns."""
        given = _offer(output, example)
        wanted = {name: given[name] for name in self._wanted}
        rest = {name: given[name] for name in given if name not in wanted}
        return self._function(**wanted, **(rest if self._takes_rest else {}))

    def __repr__(self) -> str:
        """Show the name and the criterion."""
        return f"FunctionScorer(name={self.name!r}, criterion={self.criterion.name!r})"


class ObjectScorer:
    """An object with a `score` method and perhaps some of the further facts of a scorer."""

    def __init__(self, wrapped: Any) -> None:  # noqa: ANN401 - that is the point
        self._wrapped = wrapped
        self._name = str(getattr(wrapped, "name", None) or type(wrapped).__name__)
        self._criterion = _criterion_from(wrapped, self._name)

    @property
    def name(self) -> str:
        """Its own name, else its class."""
        return self._name

    @property
    def criterion(self) -> Criterion:
        """Its own criterion, else one made of the facts that it declares."""
        return self._criterion

    def score(self, output: Output, example: Example, /) -> Any:  # noqa: ANN401 - shaped later
        """Call its `score`."""
        return self._wrapped.score(output, example)

    def __getattr__(self, attribute: str) -> object:
        """Find ``parts``, ``applies`` and the like on the object itself."""
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        return getattr(self._wrapped, attribute)


def as_scorer(candidate: object) -> Scorer:
    """Make a scorer of anything that can score.

    Args:
        candidate: A scorer, an object with a `score` method, or a plain function.

    Returns:
        A `Scorer`: the same object if it is one already.

    Raises:
        ScorerError: It is a class (make an object of it), or nothing that scores.

    Example:
        >>> as_scorer(lambda output, expected: output.text == expected).name
        '<lambda>'
    """
    if isinstance(candidate, type):
        msg = f"{candidate.__name__} is a class, not a scorer; write {candidate.__name__}()"
        raise ScorerError(msg, code="scorer_is_class", value=candidate)
    if isinstance(candidate, Scorer) and _is_criterion(candidate.criterion):
        return candidate
    if callable(getattr(candidate, "score", None)):
        return ObjectScorer(candidate)
    if callable(candidate):
        return FunctionScorer(candidate)
    msg = (
        f"{candidate!r} cannot score; give a scorer, an object with a method "
        "score(output, example), or a function of output and expected"
    )
    raise ScorerError(msg, code="not_a_scorer", value=candidate)


def _is_criterion(declared: object) -> bool:
    """Whether it is one: a protocol only checks that the attribute is there."""
    return isinstance(declared, Criterion)


def _criterion_from(wrapped: object, name: str) -> Criterion:
    declared = getattr(wrapped, "criterion", None)
    if isinstance(declared, Criterion):
        return declared
    facts: dict[str, Any] = {fact: getattr(wrapped, fact, None) for fact in _FACTS}
    return Criterion(name=str(declared or name), **facts)


def _name_of(function: Callable[..., object]) -> str:
    name = getattr(function, "__name__", None)
    return str(name) if name else type(function).__name__


def _arguments(function: Callable[..., object], name: str) -> tuple[list[str], bool]:
    """Sort out what the function asks for, and whether it takes the rest as ``**context``."""
    parameters = inspect.signature(function).parameters.values()
    takes_rest = any(p.kind is p.VAR_KEYWORD for p in parameters)
    named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    nameless = [p.name for p in parameters if p.kind is p.POSITIONAL_ONLY]
    unknown = [p.name for p in named if p.name not in BINDABLE and p.default is p.empty]
    if nameless or unknown:
        asked = nameless + unknown
        hint = nearest(asked[0], BINDABLE)
        msg = (
            f"the scoring function {name!r} asks for {listed(asked)}, which cannot be bound by "
            f"name; it may ask for {listed(BINDABLE, limit=len(BINDABLE))} ({hint}), and other "
            "arguments need a default"
        )
        raise ScorerError(msg, code="unknown_argument", path=name, value=asked)
    return [p.name for p in named if p.name in BINDABLE], takes_rest


def _offer(output: Output, example: Example) -> Mapping[str, object]:
    return {
        "output": output,
        "result": output,
        "expected": example.reference,
        "reference": example.reference,
        "example": example,
        "input": example.input,
        "task": example.task,
        "example_id": example.id,
        "history": example.history,
        "attributes": example.attributes,
    }
