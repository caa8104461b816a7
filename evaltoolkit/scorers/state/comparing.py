"""Compare an interpreted state with the expected one, path by path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evaltoolkit.scorers.base import Unmeasurable, shorten
from evaltoolkit.scorers.state.compared_states import (
    ComparedField,
    ComparedStates,
    FieldClass,
    LeafClass,
    Transition,
)
from evaltoolkit.scorers.state.equality import Equality, check_tolerance
from evaltoolkit.scorers.state.interpretive import (
    InterpretiveState,
    Ties,
    ValueConfidence,
    as_state,
    check_ties,
)
from evaltoolkit.scorers.state.paths import ancestors

_PUBLISHED = Equality()
_HAIR = 1e-9

_Best = ValueConfidence | None


@dataclass(frozen=True)
class Comparing:
    """How two states are compared; make one with `of`, which checks the choices.

    Attributes:
        equality: How values are compared.
        confidence_tol: How far two confidences may be apart, inclusive.
        ties: Which of several candidates of the highest confidence is the best.
    """

    equality: Equality
    confidence_tol: float
    ties: Ties

    @classmethod
    def of(
        cls,
        *,
        typed: bool = False,
        abs_tol: float = 0.0,
        rel_tol: float = 0.0,
        confidence_tol: float = 0.0,
        ties: Ties = "first",
    ) -> Comparing:
        """Check the choices and keep them.

        Raises:
            ScorerError: A tolerance is negative or no number.
            SchemaError: There is no such rule for ties.
        """
        check_ties(ties)
        equality = Equality(typed=typed, abs_tol=abs_tol, rel_tol=rel_tol)
        return cls(equality, check_tolerance(confidence_tol, "confidence_tol"), ties)

    def compare(
        self,
        expected: InterpretiveState,
        actual: InterpretiveState,
        pre: InterpretiveState | None = None,
    ) -> ComparedStates:
        """Compare two states with each other, and with the one before.

        Raises:
            Unmeasurable: Two values cannot be compared.
        """
        sides = _Sides(self, expected, actual, pre)
        fields = tuple(map(sides.field, sides.paths()))
        return ComparedStates(fields, has_pre=pre is not None)


def compare_states(  # noqa: PLR0913 - every choice is a keyword of its own
    expected: InterpretiveState | Mapping[str, object],
    actual: InterpretiveState | Mapping[str, object],
    *,
    pre: InterpretiveState | Mapping[str, object] | None = None,
    typed: bool = False,
    abs_tol: float = 0.0,
    rel_tol: float = 0.0,
    confidence_tol: float = 0.05,
    ties: Ties = "first",
) -> ComparedStates:
    """Compare an interpreted state with the expected one.

    The counts of ``matching``, ``mismatched``, ``missing`` and ``extra`` paths, `overall_match`
    and `accuracy_score` follow langstate: nodes that hold nothing count, the best candidates
    must agree in value and, exactly, in confidence, and the first of equally confident ones is
    the best. The tolerances, `typed` and `ties` do not touch them; they shape the other
    measures, which look at the paths that hold a value and judge value and confidence apart.

    Args:
        expected: The expected state, or its plain form (`InterpretiveState.to_dict`). Its values
            may be `OneOf` or `Near`.
        actual: The state that came out.
        pre: The state before.
        typed: Whether True is not 1; see `Equality`.
        abs_tol: Difference that numbers may have, as a number.
        rel_tol: Difference that numbers may have, as a share of the expected one.
        confidence_tol: How far two confidences may be apart, inclusive.
        ties: Which candidate is the best of several with the highest confidence; an
            ``"ambiguous"`` one counts as no value.

    Returns:
        The comparison; see `ComparedStates`.

    Raises:
        SchemaError: A state is malformed.
        ScorerError: A choice is out of range.
        Unmeasurable: Two values cannot be compared.

    Example:
        >>> expected, actual = InterpretiveState(), InterpretiveState()
        >>> for path, value in {"guest.name": "Ada", "guest.age": 36}.items():
        ...     expected.add_value(path, value, 0.9)
        >>> actual.add_value("guest.name", "Ada", 0.88)
        >>> got = compare_states(expected, actual)
        >>> [(field.field_path, field.field_class, field.leaf_class) for field in got.fields]
        [('guest', 'matching', None), ('guest.age', 'missing', 'missing'), ('guest.name', \
'mismatched', 'correct')]
        >>> round(got.accuracy_score, 3), got.recall, got.precision, got.confidence_match
        (0.333, 0.5, 1.0, 1.0)
    """
    how = Comparing.of(
        typed=typed, abs_tol=abs_tol, rel_tol=rel_tol, confidence_tol=confidence_tol, ties=ties
    )
    before = None if pre is None else as_state(pre)
    return how.compare(as_state(expected), as_state(actual), before)


class _Sides:
    """The states of one comparison."""

    def __init__(
        self,
        how: Comparing,
        expected: InterpretiveState,
        actual: InterpretiveState,
        pre: InterpretiveState | None,
    ) -> None:
        self._how = how
        self._expected, self._actual, self._pre = expected, actual, pre
        self._before = InterpretiveState() if pre is None else pre
        self._inner = {outer for path in self._nodes() for outer in ancestors(path)}

    def _nodes(self) -> set[str]:
        sides = (self._expected, self._actual, self._before)
        return {path for side in sides for path in side.get_all_fields()}

    def paths(self) -> list[str]:
        """List the paths to compare: those of either side, and values of before that are gone."""
        lost = {path for path in self._before.get_all_fields() if self._before.is_filled(path)}
        return sorted({*self._expected.get_all_fields(), *self._actual.get_all_fields(), *lost})

    def field(self, path: str) -> ComparedField:
        try:
            return self._compared(path)
        except Unmeasurable as reason:
            msg = f"at the path {shorten(path)}: {reason}"
            raise Unmeasurable(msg) from reason

    def _compared(self, path: str) -> ComparedField:
        field_class, difference = self._published(path)
        ties = self._how.ties
        expected = self._expected.get_best_value(path, ties=ties)
        actual = self._actual.get_best_value(path, ties=ties)
        before = self._before.get_best_value(path, ties=ties)
        equal = self._same(actual, expected) if expected and actual else None
        transition, changed, should_change = self._movement(before, expected, actual)
        return ComparedField(
            field_path=path,
            field_class=field_class,
            leaf_class=_leaf_class(expected, actual, equal=equal),
            expected_value=expected,
            actual_value=actual,
            difference=difference,
            value_equal=equal,
            confidence_equal=self._near(expected, actual) if expected and actual else None,
            pre_value=before,
            transition=transition,
            in_expected=path in self._expected,
            in_actual=path in self._actual,
            in_pre=path in self._before,
            changed=changed,
            should_change=should_change,
            is_leaf=path not in self._inner,
        )

    def _published(self, path: str) -> tuple[FieldClass | None, str | None]:
        """Class a path as langstate does, whatever was chosen for the other measures."""
        if path not in self._expected and path not in self._actual:
            return None, "gone, and not expected"
        if path not in self._actual:
            return "missing", "expected, but not there"
        if path not in self._expected:
            return "extra", "there, but not expected"
        expected = self._expected.get_best_value(path)
        actual = self._actual.get_best_value(path)
        difference = _published_difference(expected, actual)
        return ("matching" if difference is None else "mismatched"), difference

    def _movement(
        self, before: _Best, expected: _Best, actual: _Best
    ) -> tuple[Transition | None, bool | None, bool | None]:
        """Say what became of a path, whether it changed, and whether it should have."""
        if self._pre is None or not (before or expected or actual):
            return None, None, None
        changed = not self._same_or_none(actual, before)
        should_change = not self._same_or_none(before, expected)
        if self._same_or_none(actual, expected):
            return ("corrected" if should_change else "kept"), changed, should_change
        if before is None and expected is None:
            return "spurious", changed, should_change
        # Within a tolerance a value can leave the expected one and be unchanged at once.
        missed = should_change and (before is None or not changed)
        return ("missed" if missed else "wrongly_overwritten"), changed, should_change

    def _same_or_none(self, actual: _Best, expected: _Best) -> bool:
        if actual is None or expected is None:
            return actual is expected
        return self._same(actual, expected)

    def _same(self, actual: ValueConfidence, expected: ValueConfidence) -> bool:
        return self._how.equality.same(actual.value, expected.value)

    def _near(self, one: ValueConfidence, other: ValueConfidence) -> bool:
        return abs(one.confidence - other.confidence) <= self._how.confidence_tol + _HAIR


def _leaf_class(expected: _Best, actual: _Best, *, equal: bool | None) -> LeafClass | None:
    if expected is not None and actual is not None:
        return "correct" if equal else "wrong"
    if expected is not None:
        return "missing"
    return None if actual is None else "extra"


def _published_difference(expected: _Best, actual: _Best) -> str | None:
    if expected is None and actual is None:
        return None
    if expected is None or actual is None:
        holder = "expected" if actual is None else "actual"
        return f"only the {holder} side holds a value"
    value = _PUBLISHED.difference(actual.value, expected.value)
    if value is not None:
        return value
    if actual.confidence != expected.confidence:
        return f"the confidence is {actual.confidence!r}, not {expected.confidence!r}"
    return None
