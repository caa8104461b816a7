"""The measures of a comparison of states: what each is called, means and how it is bounded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from evaltoolkit.models import Criterion
from evaltoolkit.scorers.state.compared_states import ComparedStates
from evaltoolkit.scorers.state.confidences import brier_score

_NO_EXPECTED = "nothing is expected"
_NO_VALUE = "no side holds a value"

_SHARE = {"kind": "continuous", "higher_is_better": True, "lower_bound": 0.0, "upper_bound": 1.0}
_VERDICT = {**_SHARE, "kind": "binary", "threshold": 1.0}
_COUNT = {"higher_is_better": False, "lower_bound": 0.0}
_LOSS = {**_SHARE, "higher_is_better": False}


@dataclass(frozen=True)
class Measure:
    """One measure of a comparison of states.

    Attributes:
        name: Its name, that of langstate where it is langstate's.
        meaning: What it is, in words.
        value: Gives it; None where there is nothing to measure.
        otherwise: Why there is nothing then.
        facts: Kind, direction and bounds.
        is_count: Whether it is a count of paths, which grows with the state.
    """

    name: str
    meaning: str
    value: Callable[[ComparedStates], float | None]
    otherwise: str
    facts: Mapping[str, Any]
    is_count: bool = False

    def criterion(self) -> Criterion:
        """Give it as a criterion."""
        return Criterion(name=self.name, **self.facts)


def _since(compared: ComparedStates, share: float | None) -> float | None:
    return share if compared.has_pre else None


STATE_MEASURES: tuple[Measure, ...] = (
    Measure(
        "overall_match",
        "every path has the expected value and confidence (langstate)",
        lambda c: float(c.overall_match),
        _NO_VALUE,
        _VERDICT,
    ),
    Measure(
        "accuracy_score",
        "share of the expected paths, ancestors included, that match (langstate)",
        lambda c: c.accuracy,
        _NO_EXPECTED,
        _SHARE,
    ),
    Measure(
        "mismatched_fields",
        "paths of both states that do not match (langstate)",
        lambda c: float(c.mismatched_fields),
        _NO_VALUE,
        _COUNT,
        is_count=True,
    ),
    Measure(
        "missing_fields",
        "paths of the expected state only (langstate)",
        lambda c: float(c.missing_fields),
        _NO_VALUE,
        _COUNT,
        is_count=True,
    ),
    Measure(
        "extra_fields",
        "paths of the actual state only (langstate)",
        lambda c: float(c.extra_fields),
        _NO_VALUE,
        _COUNT,
        is_count=True,
    ),
    Measure(
        "value_match",
        "every value is right, none is missing or extra, whatever the confidences",
        lambda c: float(c.value_match),
        _NO_VALUE,
        _VERDICT,
    ),
    Measure(
        "precision",
        "share of the actual values that are right",
        lambda c: c.precision,
        "the actual state holds no value",
        _SHARE,
    ),
    Measure(
        "recall",
        "share of the expected values that are there",
        lambda c: c.recall,
        "no value is expected",
        _SHARE,
    ),
    Measure("f1", "harmonic mean of precision and recall", lambda c: c.f1, _NO_VALUE, _SHARE),
    Measure(
        "jaccard",
        "right values among all paths with a value on either side",
        lambda c: c.jaccard,
        _NO_VALUE,
        _SHARE,
    ),
    Measure(
        "confidence_match",
        "share of the right values whose confidence is right, too",
        lambda c: c.confidence_match,
        "no value is right, so no confidence can be",
        _SHARE,
    ),
    Measure(
        "delta_recall",
        "share of the paths that should have changed and are as expected now",
        lambda c: _since(c, c.delta_recall),
        "there is no state before, or nothing had to change",
        _SHARE,
    ),
    Measure(
        "preservation",
        "share of the values that should have stayed and did",
        lambda c: _since(c, c.preservation),
        "there is no state before, or nothing had to stay",
        _SHARE,
    ),
    Measure(
        "brier",
        "mean squared distance of the confidences from being right (1) or wrong (0); values "
        "inherited from the state before and confidences below 0 are left out",
        lambda c: brier_score(c.claims),
        "no new value has a confidence from 0 to 1",
        _LOSS,
    ),
)
"""Every measure, in the order of the tables."""

MEASURES: Mapping[str, Measure] = MappingProxyType({each.name: each for each in STATE_MEASURES})
"""The measures by name."""


def measure_states(
    compared: ComparedStates, measures: Iterable[Measure], *, compatible: bool = False
) -> list[float | str]:
    """Measure a comparison: for each measure the number, or in words why there is none.

    Args:
        compared: The comparison.
        measures: What to measure.
        compatible: Whether ``accuracy_score`` is 0 where nothing is expected, as langstate has it.
    """
    return [
        compared.accuracy_score
        if compatible and measure.name == "accuracy_score"
        else _number(compared, measure)
        for measure in measures
    ]


def _number(compared: ComparedStates, measure: Measure) -> float | str:
    value = measure.value(compared)
    return measure.otherwise if value is None else value
