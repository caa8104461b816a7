"""Scorers of structured answers: valid JSON, likeness of JSON values, likeness of lists."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Unpack

import numpy as np

from evaltoolkit.errors import ScorerError
from evaltoolkit.models import Example, Kind, Output
from evaltoolkit.scorers.base import (
    BaseScorer,
    ComparingScorer,
    Naming,
    Unmeasurable,
    Verdict,
    answer_of,
    as_json,
    check_whole,
    is_array,
    is_object,
    need_package,
    shorten,
)
from evaltoolkit.scorers.numeric import NumericDiff
from evaltoolkit.scorers.parsing import as_list, json_fault, object_or_array, parse_json
from evaltoolkit.scorers.text import Levenshtein

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

Similarity = Callable[[Any, Any], float]
"""A function of an actual and an expected value that gives a number from 0 to 1."""

MAX_DEPTH = 100
"""Levels of nesting that `JSONDiff` follows; deeper values are not scored."""

MAX_SHOWN = 20
"""How many differences, pairs or schema errors the details of a score list."""

_FENCE = re.compile(r"```[A-Za-z0-9]*[ \t]*\n")


class ValidJSON(BaseScorer):
    """1 where the answer is a JSON object or array (or obeys the schema), else 0.

    Validity is what is measured, so a text that cannot be parsed scores 0, with the place of the
    first mistake. As in autoevals 0.4.1, bare numbers and strings do not count unless a schema
    allows them, and NaN and repeated keys pass unless `strict`. The schema is honoured, however
    it is given there; the reference never takes its place.

    Args:
        schema: JSON Schema that the value must obey, in the draft it names (default 2020-12);
            references to other files are never fetched.
        allow_fence: Whether a text that is one fenced code block and nothing else is unwrapped.
        strict: Whether NaN, Infinity and repeated keys make it invalid, as in RFC 8259.
        **naming: See `Naming`.

    Raises:
        ScorerError: The schema is not valid.
        MissingDependencyError: There is a schema, and the package jsonschema is not installed.

    Example:
        >>> ValidJSON().score(Output(text='{"a": 1,}'), Example(id=1)).score
        0.0
    """

    kind: ClassVar[Kind] = "binary"

    def __init__(
        self,
        schema: dict[str, Any] | bool | None = None,
        *,
        allow_fence: bool = False,
        strict: bool = False,
        **naming: Unpack[Naming],
    ) -> None:
        super().__init__(**naming)
        self._validator = None if schema is None else _validator(schema)
        self._allow_fence = allow_fence
        self._strict = strict

    def measure(self, output: Output, example: Example, /) -> Verdict:
        """Parse, then validate."""
        del example
        value = answer_of(output)
        if isinstance(value, str):
            try:
                value = parse_json(self._unfenced(value), strict=self._strict)
            except ValueError as error:
                return Verdict(0.0, f"not JSON: {error}", label="not JSON")
        elif fault := json_fault(value, strict=self._strict):
            return Verdict(0.0, f"not JSON: {fault}", label="not JSON")
        if self._validator is not None:
            return self._validated(self._validator, value)
        if isinstance(value, dict | list):
            return Verdict(1.0, label="valid")
        return Verdict(0.0, f"a bare {_json_type(value)}, not an object or array", label="not JSON")

    def _unfenced(self, text: str) -> str:
        stripped = text.strip()
        opening = _FENCE.match(stripped) if self._allow_fence else None
        if opening is None or not stripped.endswith("\n```"):
            return text
        return stripped[opening.end() : -len("```")]

    def _validated(self, validator: Validator, value: Any) -> Verdict:  # noqa: ANN401 - JSON
        try:
            errors = [_schema_fault(e) for e in islice(validator.iter_errors(value), MAX_SHOWN)]
        except RecursionError as error:
            msg = "the value is nested too deeply for its schema"
            raise Unmeasurable(msg) from error
        if not errors:
            return Verdict(1.0, label="valid")
        first = errors[0]
        message = f"{first['path']}: {first['problem']}"
        return Verdict(0.0, message, {"errors": errors}, "breaks the schema")


class JSONDiff(ComparingScorer):
    """Likeness of two JSON values, from 0 to 1.

    The rules and values are those of autoevals 0.4.1. Texts that hold an object or array are
    parsed. Objects: the mean over all keys of either side, an absent key counting as null. Lists:
    element by element, divided by the longer length. Two texts: `string_scorer`; two numbers
    (booleans are numbers): `number_scorer`; null with null 1, with anything else 0; values of
    different types: `string_scorer` on their JSON text. Unlike there, a leaf that cannot be
    compared (NaN) leaves the whole value unscored and names its path.

    Args:
        string_scorer: Compares two texts: a `ComparingScorer` or a function of two values;
            default `Levenshtein`.
        number_scorer: Compares two numbers; default `NumericDiff`.
        preserve_strings: Whether texts inside are left as they are.
        absent_is_null: False if an absent key is 0 against a null, too.
        **naming: See `Naming`.

    Example:
        >>> JSONDiff().score(Output(text='{"a": 1}'), Example(id=1, reference={"a": 2})).score
        0.6666666666666667
    """

    def __init__(
        self,
        *,
        string_scorer: ComparingScorer | Similarity | None = None,
        number_scorer: ComparingScorer | Similarity | None = None,
        preserve_strings: bool = False,
        absent_is_null: bool = True,
        **naming: Unpack[Naming],
    ) -> None:
        super().__init__(**naming)
        self._strings = as_similarity(string_scorer or Levenshtein())
        self._numbers = as_similarity(number_scorer or NumericDiff())
        self._preserves = preserve_strings
        self._absent: object = None if absent_is_null else _ABSENT

    def compare(self, actual: object, expected: object, /) -> Verdict:
        """Give the likeness of two values, with the paths at which they differ."""
        leaves: list[_Leaf] = []
        pair = (_plain_json(actual), _plain_json(expected))
        score = min(max(self._likeness(*pair, path=(), leaves=leaves), 0.0), 1.0)
        unlike = [leaf for leaf in leaves if leaf.score < 1]
        shown = [{"path": _path_text(path), "score": value} for path, value in unlike[:MAX_SHOWN]]
        message = f"{len(unlike)} of {len(leaves)} leaves differ" if unlike else None
        return Verdict(score, message, {"differing": shown, "leaves": len(leaves)})

    def _likeness(
        self, actual: object, expected: object, *, path: _Path, leaves: list[_Leaf]
    ) -> float:
        if len(path) > MAX_DEPTH:
            msg = f"the value is nested more than {MAX_DEPTH} levels deep"
            raise Unmeasurable(msg)
        one, other = self._parsed(actual), self._parsed(expected)
        children = self._children(one, other)
        if children is None:
            leaves.append(_Leaf(path, self._leaf(one, other, path)))
            return leaves[-1].score
        parts = [
            self._likeness(left, right, path=(*path, key), leaves=leaves)
            for key, left, right in children
        ]
        return sum(parts) / len(parts) if parts else 1.0

    def _children(
        self, one: object, other: object
    ) -> list[tuple[str | int, object, object]] | None:
        if is_object(one) and is_object(other):
            keys = dict.fromkeys([*other, *one])
            return [(k, one.get(k, self._absent), other.get(k, self._absent)) for k in keys]
        if is_array(one) and is_array(other):
            longest = range(max(len(one), len(other)))
            return [(i, _at(one, i), _at(other, i)) for i in longest]
        return None

    def _leaf(self, one: object, other: object, path: _Path) -> float:
        if one is None and other is None:
            return 1.0
        if one in (None, _ABSENT) or other in (None, _ABSENT):
            return 0.0
        try:
            if isinstance(one, str) and isinstance(other, str):
                return self._strings(one, other)
            if isinstance(one, int | float) and isinstance(other, int | float):
                return self._numbers(one, other)
            return self._strings(as_json(one, compact=True), as_json(other, compact=True))
        except Unmeasurable as reason:
            msg = f"at {_path_text(path)}: {reason}"
            raise Unmeasurable(msg) from reason

    def _parsed(self, value: object) -> object:
        if self._preserves or not isinstance(value, str):
            return value
        return object_or_array(value, otherwise=value)


class ListContains(ComparingScorer):
    """How well two lists cover each other: the best one-to-one pairing of their items.

    The rules and values are those of autoevals 0.4.1: the likeness of the paired items, summed
    and divided by the longer length, or by the length of the reference if extra items are
    allowed; both empty 1, one empty 0. Unlike there, a text is a list only if it holds a JSON
    array (there it is taken apart into characters).

    Args:
        pairwise_scorer: Compares two items: a `ComparingScorer` or a function of two values;
            default `Levenshtein`. Items that cannot be compared have likeness 0.
        allow_extra_entities: Whether items of the answer beyond the reference cost nothing.
        max_items: Longer lists are not scored, for the time grows with the product of lengths;
            None for no limit.
        **naming: See `Naming`.

    Raises:
        ScorerError: `pairwise_scorer` can compare nothing, or `max_items` is no limit.

    Example:
        >>> item = Example(id=1, reference=["banana", "apple"])
        >>> ListContains().score(Output(text='["apple", "banan"]'), item).score
        0.9166666666666667
    """

    def __init__(
        self,
        *,
        pairwise_scorer: ComparingScorer | Similarity | None = None,
        allow_extra_entities: bool = False,
        max_items: int | None = 1000,
        **naming: Unpack[Naming],
    ) -> None:
        super().__init__(**naming)
        self._pairwise = as_similarity(pairwise_scorer or Levenshtein())
        self._allows_extra = allow_extra_entities
        check_whole("max_items", max_items)
        self._max_items = max_items

    def compare(self, actual: object, expected: object, /) -> Verdict:
        """Give the coverage of two lists, with the items that were paired."""
        given, wanted = self._items(actual, "answer"), self._items(expected, "reference")
        counts = f"{len(given)} item(s) against {len(wanted)}"
        if not given or not wanted:
            return Verdict(float(not given and not wanted), counts)
        likeness = np.array([[self._item(one, other) for other in wanted] for one in given])
        rows, columns = _best_pairs(likeness)
        per_pair = likeness[rows, columns]
        longest = len(wanted) if self._allows_extra else max(len(given), len(wanted))
        score = float(min(max(sum(per_pair) / longest, 0.0), 1.0))
        pairs = [
            {"output": shorten(given[r]), "reference": shorten(wanted[c]), "score": float(s)}
            for r, c, s in islice(zip(rows, columns, per_pair, strict=True), MAX_SHOWN)
        ]
        return Verdict(score, counts, {"pairs": pairs})

    def _items(self, value: object, what: str) -> list[Any]:
        items = as_list(value, what)
        if self._max_items is not None and len(items) > self._max_items:
            msg = f"the {what} has {len(items)} items; at most {self._max_items} are compared"
            raise Unmeasurable(msg)
        return items

    def _item(self, one: object, other: object) -> float:
        try:
            return self._pairwise(one, other)
        except Unmeasurable:
            return 0.0


def as_similarity(scorer: ComparingScorer | Similarity) -> Similarity:
    """Give the bare comparison of a scorer, for use inside another one.

    Raises:
        ScorerError: It can compare nothing.

    Example:
        >>> as_similarity(Levenshtein())("abc", "axc")
        0.6666666666666667
    """
    if isinstance(scorer, ComparingScorer):
        return lambda actual, expected: scorer.compare(actual, expected).score
    if isinstance(scorer, type) or not callable(scorer):
        msg = (
            f"{scorer!r} cannot compare two values; give a scorer such as Levenshtein(), or a "
            "function of an actual and an expected value"
        )
        raise ScorerError(msg, code="not_a_comparison", value=scorer)
    return lambda actual, expected: _checked_likeness(scorer(actual, expected))


class _Absent:
    def __repr__(self) -> str:
        return "absent"


_ABSENT = _Absent()

_Path = tuple[str | int, ...]


class _Leaf(NamedTuple):
    path: _Path
    score: float


def _checked_likeness(value: float | None) -> float:
    if value is None or not 0 <= value <= 1:
        msg = f"the comparison gave {value}, which is not a number from 0 to 1"
        raise Unmeasurable(msg)
    return float(value)


def _plain_json(value: object) -> object:
    """Copy a value through JSON: what comes back has no cycles and no foreign types."""
    return value if isinstance(value, str) else parse_json(as_json(value))


def _at(items: list[Any], place: int) -> object:
    return items[place] if place < len(items) else _ABSENT


def _path_text(path: _Path) -> str:
    text = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)
    return "$" + text


def _json_type(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "text"
    return "number" if isinstance(value, int | float) else type(value).__name__


def _best_pairs(likeness: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(likeness, maximize=True)
    return rows, columns


def _validator(schema: dict[str, Any] | bool) -> Validator:
    need_package("jsonschema", purpose="ValidJSON with a schema")
    import jsonschema
    from jsonschema.validators import validator_for
    from referencing import Registry

    kind: Any = validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except jsonschema.SchemaError as error:
        msg = f"the schema is not a valid JSON Schema: {error.json_path}: {error.message}"
        raise ScorerError(msg, code="bad_schema", path=error.json_path, value=schema) from error
    # An empty registry keeps references from being fetched over the network.
    registry: Any = Registry()
    validator: Validator = kind(schema, registry=registry)
    return validator


def _schema_fault(error: Any) -> dict[str, str]:  # noqa: ANN401 - untyped in the package
    return {"path": str(error.json_path), "problem": shorten(str(error.message), limit=200)}
