"""What comes of comparing two interpreted states: one line per path, and counts of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from evaltoolkit.scorers.state.interpretive import ValueConfidence

FieldClass = Literal["matching", "mismatched", "missing", "extra"]
"""How langstate classes a path: by value and confidence, nodes without a value included."""

LeafClass = Literal["correct", "wrong", "missing", "extra"]
"""How a path that holds a value on either side is classed by its value alone."""

Transition = Literal["kept", "corrected", "wrongly_overwritten", "missed", "spurious"]
"""What became of a path since the state before. ``kept``: it was as expected and still is.
``corrected``: it was not and now is. ``missed``: it was not and is not, but still as before or
wrong where there was nothing. ``wrongly_overwritten``: the value that it had was replaced by one
that is not expected, or removed. ``spurious``: there was nothing, nothing is expected, and now
there is."""


@dataclass(frozen=True)
class ComparedField:
    """One path of two states.

    Attributes:
        field_path: The path.
        field_class: The class as published; see `FieldClass`. None for a path of the state
            before that neither side has any more, which langstate does not look at.
        leaf_class: The class by value alone; None for a path that holds no value on either side.
        expected_value: The best expected candidate, None if there is none.
        actual_value: The best actual candidate, None if there is none.
        difference: What differs, in words; None where it is ``matching``.
        value_equal: Whether the values are equal; None unless both sides hold one.
        confidence_equal: Whether the confidences are equal within the tolerance; likewise.
        pre_value: The best candidate of the state before.
        transition: What became of it; None without a state before, and where no value is held.
        in_expected: Whether the expected state has the node.
        in_actual: Whether the actual state has it.
        in_pre: Whether the state before has it.
        changed: Whether the value differs from the one before; None without a state before.
        should_change: Whether the expected value differs from the one before; likewise.
        is_leaf: Whether no other path leads through it, in any of the states.
    """

    field_path: str
    field_class: FieldClass | None
    leaf_class: LeafClass | None
    expected_value: ValueConfidence | None
    actual_value: ValueConfidence | None
    difference: str | None
    value_equal: bool | None
    confidence_equal: bool | None
    pre_value: ValueConfidence | None = None
    transition: Transition | None = None
    in_expected: bool = False
    in_actual: bool = False
    in_pre: bool = False
    changed: bool | None = None
    should_change: bool | None = None
    is_leaf: bool = True

    @property
    def matches(self) -> bool:
        """Whether it is ``matching``, as published."""
        return self.field_class == "matching"

    @property
    def is_inherited(self) -> bool:
        """Whether value and confidence are those of the state before."""
        if self.pre_value is None or self.actual_value is None:
            return False
        return not self.changed and self.actual_value.confidence == self.pre_value.confidence


@dataclass(frozen=True)
class ComparedStates:
    """Every path of two states, with the counts.

    The counts, `overall_match` and `accuracy_score` are those of langstate. A ratio with nothing
    below its line is None; only `accuracy_score` keeps the 0 that langstate gives there.

    Attributes:
        fields: One line per path, sorted by path.
        has_pre: Whether a state before was given.
    """

    fields: tuple[ComparedField, ...]
    has_pre: bool = False

    @cached_property
    def _classes(self) -> Counter[str]:
        return Counter(field.field_class for field in self.fields if field.field_class)

    @cached_property
    def leaves(self) -> Counter[str]:
        """Counts of the leaf classes ``correct``, ``wrong``, ``missing`` and ``extra``."""
        return Counter(field.leaf_class for field in self.fields if field.leaf_class)

    @cached_property
    def transitions(self) -> Counter[str]:
        """Counts of what became of the paths since the state before."""
        return Counter(field.transition for field in self.fields if field.transition)

    @property
    def matching_fields(self) -> int:
        """Paths that match, as published."""
        return self._classes["matching"]

    @property
    def mismatched_fields(self) -> int:
        """Paths of both states that do not match, as published."""
        return self._classes["mismatched"]

    @property
    def missing_fields(self) -> int:
        """Paths of the expected state only."""
        return self._classes["missing"]

    @property
    def extra_fields(self) -> int:
        """Paths of the actual state only."""
        return self._classes["extra"]

    @property
    def overall_match(self) -> bool:
        """Whether every path matches, as published; True for two empty states."""
        return self.matching_fields == self._classes.total()

    @property
    def accuracy_score(self) -> float:
        """Matching among expected paths, as published; 0 where nothing is expected."""
        return self.accuracy or 0.0

    @property
    def accuracy(self) -> float | None:
        """`accuracy_score`, but None where nothing is expected."""
        return _ratio(self.matching_fields, self._classes.total() - self.extra_fields)

    @property
    def precision(self) -> float | None:
        """Share of the actual values that are right."""
        return _ratio(self._hits, self._hits + self.leaves["wrong"] + self.leaves["extra"])

    @property
    def recall(self) -> float | None:
        """Share of the expected values that are there."""
        return _ratio(self._hits, self._hits + self.leaves["wrong"] + self.leaves["missing"])

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall."""
        wrong, missing, extra = (self.leaves[name] for name in ("wrong", "missing", "extra"))
        return _ratio(2 * self._hits, 2 * self._hits + 2 * wrong + missing + extra)

    @property
    def jaccard(self) -> float | None:
        """Right values among all paths that hold a value on either side."""
        return _ratio(self._hits, sum(self.leaves.values()))

    @property
    def value_match(self) -> bool:
        """Whether every value is right, and none missing or extra, whatever the confidences."""
        return self._hits == sum(self.leaves.values())

    @property
    def confidence_match(self) -> float | None:
        """Share of the right values whose confidence is right, too, within the tolerance."""
        hits = [field.confidence_equal for field in self.fields if field.leaf_class == "correct"]
        return _ratio(sum(map(bool, hits)), len(hits))

    @property
    def delta_recall(self) -> float | None:
        """Share of the paths that should have changed and are now as expected."""
        due = [field for field in self.fields if field.should_change]
        return _ratio(sum(field.transition == "corrected" for field in due), len(due))

    @property
    def preservation(self) -> float | None:
        """Share of the values that should have stayed and did."""
        due = [field for field in self.fields if field.should_change is False and field.pre_value]
        return _ratio(sum(field.transition == "kept" for field in due), len(due))

    @property
    def claims(self) -> list[tuple[float, bool]]:
        """Confidence of each actual value, and whether it is right; an extra one is wrong.

        A value that stands as it did in the state before, confidence included, was claimed by
        nobody since and is left out.
        """
        return [
            (field.actual_value.confidence, field.leaf_class == "correct")
            for field in self.fields
            if field.actual_value is not None and not field.is_inherited
        ]

    @property
    def _hits(self) -> int:
        return self.leaves["correct"]

    def to_dict(self) -> dict[str, Any]:
        """Give langstate's counts by name, and those of the leaves and transitions."""
        return {
            "matching_fields": self.matching_fields,
            "mismatched_fields": self.mismatched_fields,
            "missing_fields": self.missing_fields,
            "extra_fields": self.extra_fields,
            "overall_match": self.overall_match,
            "leaves": dict(self.leaves),
            **({"transitions": dict(self.transitions)} if self.has_pre else {}),
        }


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
