"""`StateComparison`: interpreted states as one scorer of several parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Unpack

from evaltoolkit.errors import SchemaError, ScorerError, nearest
from evaltoolkit.models import Criterion, Example, Output, Score
from evaltoolkit.scorers.base import NamedScorer, Naming, Unmeasurable
from evaltoolkit.scorers.calls.call_arguments import showable
from evaltoolkit.scorers.state.compared_states import ComparedField, ComparedStates
from evaltoolkit.scorers.state.comparing import Comparing
from evaltoolkit.scorers.state.interpretive import InterpretiveState, Ties, as_state
from evaltoolkit.scorers.state.measures import MEASURES, STATE_MEASURES, Measure, measure_states

_MAX_SHOWN = 100


class StateComparison(NamedScorer):
    """An interpreted state against the expected one, as several scores.

    Compares the ``final_state`` of the output with the ``reference_state`` of the example: each
    an `InterpretiveState` or its plain form. Where the ``input`` of the example is a mapping
    with ``pre_state``, what changed since is judged as well. Scores are named
    ``StateComparison.accuracy_score`` and so on, after the scorer; `evaluate_mutators` and the
    reader of langstate's files use the bare names. A part without anything to measure is
    unscored. What the parts mean stands in `STATE_MEASURES`.

    Args:
        measures: Which parts to give, by name; default all but the counts of langstate.
        typed: Whether True is not 1; see `Equality`.
        abs_tol: Difference that numbers may have, as a number.
        rel_tol: Difference that numbers may have, as a share of the expected one.
        confidence_tol: How far two confidences may be apart, inclusive.
        ties: Which candidate is the best of several; see `Ties`.
        compatible: Whether ``accuracy_score`` is 0 where nothing is expected, as langstate has
            it; by default it is unscored there.
        **naming: See `Naming`; `weight` and `blocking` go to every part, `threshold` to those
            where higher is better.

    Raises:
        ScorerError: A part does not exist, or a choice is out of range.

    Example:
        >>> expected, actual = InterpretiveState(), InterpretiveState()
        >>> expected.add_value("registrant.name", "Ada", 0.95)
        >>> actual.add_value("registrant.name", "Ada", 0.95)
        >>> scorer = StateComparison(measures=["overall_match", "accuracy_score"])
        >>> item = Example(id=1, reference_state=expected)
        >>> [(s.criterion, s.score) for s in scorer.score(Output(final_state=actual), item)]
        [('StateComparison.overall_match', 1.0), ('StateComparison.accuracy_score', 1.0)]
    """

    default_threshold: ClassVar[float | None] = None

    def __init__(  # noqa: PLR0913 - every choice is a keyword of its own
        self,
        measures: Sequence[str] | None = None,
        *,
        typed: bool = False,
        abs_tol: float = 0.0,
        rel_tol: float = 0.0,
        confidence_tol: float = 0.05,
        ties: Ties = "first",
        compatible: bool = False,
        **naming: Unpack[Naming],
    ) -> None:
        super().__init__(**naming)
        self._how = Comparing.of(
            typed=typed, abs_tol=abs_tol, rel_tol=rel_tol, confidence_tol=confidence_tol, ties=ties
        )
        self._measures = _chosen(measures)
        self._compatible = compatible
        self._parts = [self._part(measure) for measure in self._measures]

    @property
    def parts(self) -> list[Criterion]:
        """The criteria of the parts."""
        return list(self._parts)

    def _part(self, measure: Measure) -> Criterion:
        own = self.criterion
        facts = {**measure.facts, "weight": own.weight, "blocking": own.blocking}
        if own.threshold is not None and measure.facts["higher_is_better"]:
            facts["threshold"] = own.threshold
        return Criterion(name=f"{own.name}.{measure.name}", **facts)

    def score(self, output: Output, example: Example, /) -> list[Score]:
        """Compare the states and give every part."""
        try:
            compared = self.compare(
                _expected_of(example), _actual_of(output), pre=_pre_of(example.input)
            )
        except Unmeasurable as reason:
            return [_unscored(part, str(reason)) for part in self._parts]
        scores = [
            self._scored(part, measured)
            for part, measured in zip(
                self._parts,
                measure_states(compared, self._measures, compatible=self._compatible),
                strict=True,
            )
        ]
        return [scores[0].model_copy(update={"details": explain_states(compared)}), *scores[1:]]

    def compare(
        self,
        expected: InterpretiveState,
        actual: InterpretiveState,
        *,
        pre: InterpretiveState | None = None,
    ) -> ComparedStates:
        """Compare two states, without regard to where they come from.

        Raises:
            Unmeasurable: Two values cannot be compared.
        """
        return self._how.compare(expected, actual, pre)

    def _scored(self, part: Criterion, measured: float | str) -> Score:
        if isinstance(measured, str):
            return _unscored(part, measured)
        return Score(criterion=part.name, score=measured, passed=part.passes(measured))


def explain_states(compared: ComparedStates) -> dict[str, Any]:
    """Give the counts of a comparison and the paths that are not as expected, as JSON."""
    telling = [field for field in compared.fields if not _as_expected(field)]
    details: dict[str, Any] = {
        **compared.to_dict(),
        "fields": [_shown(field) for field in telling[:_MAX_SHOWN]],
    }
    if len(telling) > _MAX_SHOWN:
        details["fields_not_shown"] = len(telling) - _MAX_SHOWN
    return details


def _as_expected(field: ComparedField) -> bool:
    return field.matches and field.leaf_class in (None, "correct")


def _shown(field: ComparedField) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "field_path": field.field_path,
        "class": field.field_class,
        "leaf_class": field.leaf_class,
        "difference": field.difference,
    }
    for side in ("expected", "actual", "pre"):
        best = getattr(field, f"{side}_value")
        if best is not None:
            shown[side] = {"value": showable(best.value), "confidence": best.confidence}
    if field.transition is not None:
        shown["transition"] = field.transition
    return shown


def _unscored(part: Criterion, reason: str) -> Score:
    return Score(criterion=part.name, status="unscored", message=reason)


def _chosen(names: Sequence[str] | None) -> list[Measure]:
    if names is None:
        return [measure for measure in STATE_MEASURES if not measure.is_count]
    wanted = [names] if isinstance(names, str) else list(names)
    unknown = [name for name in wanted if name not in MEASURES]
    if unknown or not wanted or len(set(wanted)) < len(wanted):
        what = (
            f"has {unknown[0]!r}; {nearest(unknown[0], MEASURES)}"
            if unknown
            else ("names a part twice" if wanted else "is empty")
        )
        msg = f"measures {what}"
        raise ScorerError(msg, code="bad_option", path="measures", value=names)
    return [MEASURES[name] for name in wanted]


def _expected_of(example: Example) -> InterpretiveState:
    if example.reference_state is None:
        raise Unmeasurable("the example has no reference state")
    return _state(example.reference_state, "the reference state")


def _actual_of(output: Output) -> InterpretiveState:
    if output.final_state is None:
        raise Unmeasurable("the output has no final state")
    return _state(output.final_state, "the final state")


def _pre_of(given: object) -> InterpretiveState | None:
    if not isinstance(given, Mapping) or given.get("pre_state") is None:
        return None
    return _state(given["pre_state"], "the state before")


def _state(value: object, what: str) -> InterpretiveState:
    try:
        return as_state(value)
    except SchemaError as error:
        msg = f"{what} cannot be used: {error}"
        raise Unmeasurable(msg) from error
