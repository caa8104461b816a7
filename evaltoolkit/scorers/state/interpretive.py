"""A state that is still being interpreted: candidate values with confidences, and their reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Annotated, Any, Literal

from pydantic import Field

from evaltoolkit.errors import SchemaError, nearest
from evaltoolkit.models import Model, OptionalText
from evaltoolkit.scorers.base import as_json, is_several, shorten
from evaltoolkit.scorers.state.paths import ancestors

Ties = Literal["first", "latest", "ambiguous"]
"""Which of several candidates with the highest confidence is the best: the one that was added
first (as in langstate), the one added last, or none."""

TIES: tuple[Ties, ...] = ("first", "latest", "ambiguous")

Confidence = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]


class ValueConfidence(Model):
    """A candidate value with the confidence in it.

    Attributes:
        value: Any value; None is one, too.
        confidence: From -1 to 1. What a negative number means is up to who gives it; it takes
            part in the order like any other.

    Example:
        >>> ValueConfidence(value="Ada", confidence=0.9).confidence
        0.9
    """

    value: Any
    confidence: Confidence = 0.0


class Inference(Model):
    """Why a field was filled as it was.

    Attributes:
        content: The reason.
        mutator_id: Who inferred it.
        message_id: The message that it was inferred from.
    """

    content: str
    mutator_id: OptionalText = None
    message_id: OptionalText = None


class InterpretiveField(Model):
    """What is known at one path.

    Attributes:
        values: The candidates in the order in which they were added.
        inference: The latest inference.
    """

    values: tuple[ValueConfidence, ...] = ()
    inference: Inference | None = None

    def best(self, *, ties: Ties = "first") -> ValueConfidence | None:
        """Give the candidate of the highest confidence; None if there is none.

        Args:
            ties: See `Ties`.
        """
        if not self.values:
            return None
        top = max(candidate.confidence for candidate in self.values)
        leading = [candidate for candidate in self.values if candidate.confidence == top]
        if ties == "ambiguous" and len(leading) > 1:
            return None
        return leading[-1 if ties == "latest" else 0]


class InterpretiveState(Mapping[str, InterpretiveField | None]):
    """Fields by dotted path, as langstate keeps them.

    A field also makes its ancestors: ``guests.0.email`` makes ``guests`` and ``guests.0``, which
    hold nothing (None). Candidates are appended, never replaced; an inference replaces the one
    before it. The state can be changed; what stands in it cannot. It reads like a mapping from
    paths to fields, nodes that hold nothing included.

    Args:
        fields: Fields by path to begin with: each an `InterpretiveField`, None, or a mapping with
            ``values`` and ``inference``, as `to_dict` gives it.

    Raises:
        SchemaError: A field is malformed.

    Example:
        >>> state = InterpretiveState()
        >>> state.add_value("registrant.name", ValueConfidence(value="Ada", confidence=0.9))
        >>> state.add_value("registrant.name", "Ida", confidence=0.4)
        >>> state.get_best_value("registrant.name").value, list(state.get_all_fields())
        ('Ada', ['registrant', 'registrant.name'])
    """

    def __init__(self, fields: Mapping[str, object] | None = None) -> None:
        self._fields: dict[str, InterpretiveField | None] = {}
        for path, field in (fields or {}).items():
            self.set_field(path, _as_field(field, path))

    def add_value(self, path: str, value: object, confidence: float | None = None) -> None:
        """Add a candidate, after those that are there.

        Args:
            path: Dotted path; a backslash before a dot makes it part of a key.
            value: A `ValueConfidence`, or the bare value.
            confidence: Of a bare value, from -1 to 1; default 0.

        Raises:
            SchemaError: The path is no text, the confidence is out of range, or given twice.
        """
        if isinstance(value, ValueConfidence):
            if confidence is not None:
                msg = "the value brings its confidence along; leave out confidence="
                raise SchemaError(msg, code="bad_option", path=path, value=confidence)
            candidate = value
        else:
            known = 0.0 if confidence is None else confidence
            candidate = ValueConfidence(value=value, confidence=known)
        field = self.get_field(path) or InterpretiveField()
        values = (*field.values, candidate)
        self.set_field(path, InterpretiveField(values=values, inference=field.inference))

    def add_inference(self, path: str, inference: Inference | str) -> None:
        """Set the inference of a field; the latest one stands.

        Raises:
            SchemaError: The path or the inference is no text.
        """
        known = inference if isinstance(inference, Inference) else Inference(content=inference)
        field = self.get_field(path) or InterpretiveField()
        self.set_field(path, InterpretiveField(values=field.values, inference=known))

    def set_field(self, path: str, field: InterpretiveField | None) -> None:
        """Put a field, or a node that holds nothing, in the place of what is there.

        Raises:
            SchemaError: The path is no text, or the field is none.
        """
        if not isinstance(path, str):
            msg = f"the path {path!r} is no text"
            raise SchemaError(msg, code="bad_path", value=path)
        if field is not None and not isinstance(field, InterpretiveField):
            msg = f"the field {path!r} is {shorten(field)}, not an InterpretiveField"
            raise SchemaError(msg, code="bad_field", path=path, value=field)
        for outer in ancestors(path):
            self._fields.setdefault(outer, None)
        self._fields[path] = field

    def get_field(self, path: str) -> InterpretiveField | None:
        """Give the field at a path; None where there is none, or a node that holds nothing."""
        return self._fields.get(path)

    def get_all_fields(self) -> dict[str, InterpretiveField | None]:
        """Give every node by path, those that hold nothing included."""
        return dict(self._fields)

    def get_best_value(self, path: str, *, ties: Ties = "first") -> ValueConfidence | None:
        """Give the candidate of the highest confidence at a path; None where there is none.

        Args:
            path: Dotted path.
            ties: Which one is the best of several: ``"first"`` added (as in langstate),
                ``"latest"``, or ``"ambiguous"`` for none.

        Raises:
            SchemaError: There is no such rule for ties.
        """
        check_ties(ties)
        field = self.get_field(path)
        return None if field is None else field.best(ties=ties)

    def candidates(self) -> Iterator[tuple[str, ValueConfidence]]:
        """Give every candidate with its path."""
        for path, field in self._fields.items():
            for candidate in () if field is None else field.values:
                yield path, candidate

    def is_filled(self, path: str) -> bool:
        """Say whether a field has a candidate; an inference alone fills nothing."""
        field = self.get_field(path)
        return field is not None and bool(field.values)

    def is_complete(self, required: Iterable[str] | None = None) -> bool:
        """Say whether all of these fields, or all that are more than a node, are filled."""
        if required is None:
            required = [path for path, field in self._fields.items() if field is not None]
        return all(map(self.is_filled, required))

    def copy(self) -> InterpretiveState:
        """Copy the state, values included.

        As in langstate, a node that holds nothing and stands alone is not copied.

        Raises:
            Exception: A value cannot be copied.
        """
        copied = type(self)()
        for path, field in self._fields.items():
            if field is not None:
                copied.set_field(path, deepcopy(field))
            elif ancestors(path):
                for node in (*ancestors(path), path):
                    copied._fields.setdefault(node, None)
        return copied

    def to_dict(self) -> dict[str, Any]:
        """Give the fields as plain values by path, sorted; `InterpretiveState` takes it back.

        Example:
            >>> state = InterpretiveState()
            >>> state.add_value("name", "Ada", 1)
            >>> state.to_dict()
            {'name': {'inference': None, 'values': [{'value': 'Ada', 'confidence': 1.0}]}}
        """
        return {path: _as_dict(self._fields[path]) for path in sorted(self._fields)}

    def to_json(self) -> str:
        """Give `to_dict` as JSON text, the same one each time.

        Raises:
            Unmeasurable: A value is not JSON.
        """
        return as_json(self.to_dict())

    def __getitem__(self, path: str) -> InterpretiveField | None:
        """Give the field at a path, None for a node that holds nothing."""
        return self._fields[path]

    def __iter__(self) -> Iterator[str]:
        """Give the paths, in the order in which they came."""
        return iter(self._fields)

    def __len__(self) -> int:
        """Count the nodes."""
        return len(self._fields)

    def __contains__(self, path: object) -> bool:
        """Say whether there is a node at a path."""
        return path in self._fields

    def __eq__(self, other: object) -> bool:
        """Two states are equal if they have the same nodes with the same fields."""
        if not isinstance(other, InterpretiveState):
            return NotImplemented
        return self._fields == other._fields

    __hash__ = None  # type: ignore[assignment]  # it can be changed

    def __repr__(self) -> str:
        filled = sum(map(self.is_filled, self._fields))
        return f"InterpretiveState({len(self)} nodes, {filled} filled)"


def as_state(value: object) -> InterpretiveState:
    """Make a state of a state or of its plain form.

    Args:
        value: An `InterpretiveState`, or a mapping from dotted paths to fields, as its `to_dict`
            gives them.

    Raises:
        SchemaError: It is neither.

    Example:
        >>> as_state({"name": {"values": [{"value": "Ada", "confidence": 1}]}})
        InterpretiveState(1 nodes, 1 filled)
    """
    if isinstance(value, InterpretiveState):
        return value
    if isinstance(value, Mapping):
        return InterpretiveState(value)
    msg = (
        f"{shorten(value)} is no interpreted state; give an InterpretiveState, or a mapping from "
        "dotted paths to fields with 'values' and 'inference'"
    )
    raise SchemaError(msg, code="bad_state", value=value)


def check_ties(ties: object) -> None:
    """Refuse a rule for ties that does not exist.

    Raises:
        SchemaError: It does not.
    """
    if ties not in TIES:
        msg = f"ties is {ties!r}; {nearest(ties, TIES)}"
        raise SchemaError(msg, code="bad_option", path="ties", value=ties)


def _as_field(value: object, path: object) -> InterpretiveField | None:
    if value is None or isinstance(value, InterpretiveField):
        return value
    if not isinstance(value, Mapping) or not {"values", "inference"} & set(value):
        msg = (
            f"the field {path!r} is {shorten(value)}; it must be None, an InterpretiveField, or a "
            "mapping with 'values' (a list of value and confidence) and 'inference'"
        )
        raise SchemaError(msg, code="bad_field", path=str(path), value=value)
    inference = value.get("inference")
    if is_several(inference):  # early versions of langstate kept them all
        inference = inference[-1] if inference else None
    if isinstance(inference, str):
        inference = {"content": inference}
    return InterpretiveField(**{**value, "inference": inference})


def _as_dict(field: InterpretiveField | None) -> dict[str, Any] | None:
    if field is None:
        return None
    return {
        "inference": None if field.inference is None else field.inference.model_dump(),
        "values": [
            {"value": candidate.value, "confidence": candidate.confidence}
            for candidate in field.values
        ],
    }
