"""One scorer for many scenarios, each of which may want it set differently."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaltoolkit.models import Criterion, Example, Output
from evaltoolkit.scorers.base import Scorer
from evaltoolkit.scorers.running import declared_criteria

Key = tuple[str, str]
"""Task and id of an example."""


class ScenarioScorer:
    """A scorer that is set for each scenario as its benchmark says.

    The scenarios of a benchmark may all be judged by ``ToolCallExactMatch``, some with exact
    arguments and some with a superset of them. They share one criterion, as published; each
    is scored by its own setting, and scenarios that do not name the scorer get no row.

    Args:
        by_example: The scorer for each (task, id). They have one name and one criterion.

    Example:
        >>> from evaltoolkit.scorers import Contains
        >>> rain, sun = Contains("rain"), Contains("sun")
        >>> judge = ScenarioScorer({("weather", "1"): rain, ("weather", "2"): sun})
        >>> judge.score(Output(text="sun"), Example(task="weather", id=2)).score
        1.0
        >>> judge.applies(Example(task="weather", id=3))
        False
    """

    def __init__(self, by_example: Mapping[Key, Scorer]) -> None:
        self._by_example = dict(by_example)
        self._first = next(iter(self._by_example.values()))

    @property
    def name(self) -> str:
        """Who judges; the ``scorer`` column of the score table."""
        return self._first.name

    @property
    def criterion(self) -> Criterion:
        """What is judged."""
        return self._first.criterion

    @property
    def parts(self) -> Sequence[Criterion]:
        """The criteria of its parts, if it has any."""
        declared = {
            each.name: each
            for scorer in self._by_example.values()
            for each in declared_criteria(scorer)
        }
        return () if set(declared) == {self.criterion.name} else list(declared.values())

    def applies(self, example: Example) -> bool:
        """Whether the scenario names this scorer."""
        return (example.task, example.id) in self._by_example

    def score(self, output: Output, example: Example, /) -> Any:  # noqa: ANN401 - shaped later
        """Measure one output as its scenario wants it measured."""
        return self._by_example[example.task, example.id].score(output, example)

    def __repr__(self) -> str:
        """Show the name and for how many scenarios it is meant."""
        return f"ScenarioScorer({self.name!r}, {len(self._by_example)} scenario(s))"
