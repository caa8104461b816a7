from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltoolkit.errors import ScorerError
from evaltoolkit.scorers import Equality, Near, OneOf, Unmeasurable

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.text("ab", max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("ab", max_size=1), inner, max_size=3)
        | st.tuples(inner)
    ),
    max_leaves=6,
)


@given(json_values, json_values)
@settings(max_examples=300, deadline=None)
def test_by_default_it_is_the_equality_of_python(one: Any, other: Any) -> None:
    assert Equality().same(one, other) == (one == other)
    assert Equality().same(one, one)


@given(json_values, json_values)
@settings(max_examples=200, deadline=None)
def test_typed_is_stricter_and_tolerance_laxer(one: Any, other: Any) -> None:
    plain = Equality().same(one, other)
    assert plain or not Equality(typed=True).same(one, other)
    assert Equality(abs_tol=0.5).same(one, other) or not plain


@pytest.mark.parametrize(
    ("one", "other", "plain", "typed"),
    [
        (True, 1, True, False),
        (False, 0.0, True, False),
        (1, 1.0, True, True),
        ([{"a": True}], [{"a": 1}], True, False),
        ("1", 1, False, False),
        (None, 0, False, False),
        (None, None, True, True),
        (math.nan, math.nan, False, False),
        ([1, 2], [2, 1], False, False),
        ([1], (1,), False, False),
        ({"a": 1}, {"a": 1, "b": 2}, False, False),
        (Decimal("0.5"), 0.5, True, True),
        (Fraction(1, 2), 0.5, True, True),
        (np.float64(0.5), 0.5, True, True),
        (np.bool_(True), True, True, True),
        (np.array([1, 2]), [1, 2], True, True),
        (10**400, 10**400, True, True),
    ],
)
def test_kinds_of_values(one: Any, other: Any, plain: bool, typed: bool) -> None:
    for left, right in ((one, other), (other, one)):
        assert Equality().same(left, right) is plain
        assert Equality(typed=True).same(left, right) is typed


@pytest.mark.parametrize(
    ("actual", "expected", "same"),
    [
        (0.1 + 0.2, 0.3, True),
        (1.05, 1.0, True),
        (0.95, 1.0, True),
        (1.0501, 1.0, False),
        (0.3, 0.25, True),  # 0.3 - 0.25 is above 0.05 by a rounding error
        (True, 0.96, False),
        (math.inf, math.inf, True),
        (math.inf, 1.0, False),
        (math.nan, math.nan, False),
        (10**400, 1.0, False),
        (Decimal("1.04"), 1, True),
        ("1.0", 1.0, False),
    ],
)
def test_absolute_tolerance(actual: Any, expected: Any, same: bool) -> None:
    assert Equality(abs_tol=0.05).same(actual, expected) is same


def test_relative_tolerance_is_a_share_of_the_expected_number() -> None:
    assert Equality(rel_tol=0.1).same(110, 100)
    assert not Equality(rel_tol=0.1).same(100, 111.2)
    assert Equality(rel_tol=0.1).same([{"x": -90}], [{"x": -100}])


def test_one_of_several() -> None:
    assert Equality().same("b", OneOf("a", "b"))
    assert not Equality().same("c", OneOf("a", "b"))
    assert Equality().same({"x": [3.2]}, {"x": [OneOf(None, Near(3, abs_tol=0.5))]})
    assert not Equality(typed=True).same(True, OneOf(1, 2))
    assert Equality().difference("c", OneOf("a", "b")) == "'c' is not OneOf('a', 'b')"


def test_near_has_its_own_tolerance() -> None:
    assert Equality().same(9.6, Near(10, rel_tol=0.05))
    assert not Equality(abs_tol=5).same(9, Near(10, abs_tol=0.5))
    assert not Equality().same("10", Near(10))
    assert not Equality().same(math.nan, Near(10, abs_tol=1))


@pytest.mark.parametrize(
    ("actual", "expected", "text"),
    [
        ({"a": {"b": 1}}, {"a": {"b": 2}}, "at a.b: 1 is not 2"),
        ({"a": {}}, {"a": {"b": 2}}, "at a: the key 'b' is missing"),
        ({"a": 1, "z": 2}, {"a": 1}, "the key 'z' is not expected"),
        ([1, [2]], [1, [2, 3]], "at 1: 1 item(s), not 2"),
        ([1], (1,), "[1] is not (1,)"),
        ({"k.1": [0, "x"]}, {"k.1": [0, "y"]}, r"at k\.1.1: 'x' is not 'y'"),
        (math.nan, math.nan, "nan does not equal nan"),
    ],
)
def test_where_values_differ(actual: Any, expected: Any, text: str) -> None:
    assert Equality().difference(actual, expected) == text


class Odd:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("never ask")

    __hash__ = None  # type: ignore[assignment]


def test_what_cannot_be_compared() -> None:
    endless: list[Any] = []
    endless.extend([endless, endless])
    again: list[Any] = []
    again.extend([again, again])
    with pytest.raises(Unmeasurable, match="more than 100 levels"):
        Equality().same(endless, again)
    with pytest.raises(Unmeasurable, match=r"at a: the values cannot be compared: RuntimeError"):
        Equality().same({"a": Odd()}, {"a": 1})


def test_shared_parts_do_not_take_for_ever() -> None:
    wide: list[Any] = [1]
    other: list[Any] = [1]
    for _ in range(60):
        wide, other = [wide, wide], [other, other]
    with pytest.raises(Unmeasurable, match="too large"):
        Equality().same(wide, other)


def test_huge_texts_are_compared_and_shown_short() -> None:
    difference = Equality().difference("a" * 10**7, "b" * 10**7)
    assert difference is not None
    assert len(difference) < 300


@pytest.mark.parametrize("bad", [-0.1, math.nan, math.inf, "0.1", None])
def test_wrong_tolerances_are_refused(bad: Any) -> None:
    for name in ("abs_tol", "rel_tol"):
        with pytest.raises(ScorerError, match=name):
            Equality(**{name: bad})
        with pytest.raises(ScorerError, match=name):
            Near(1, **{name: bad})


def test_wrong_markers_are_refused() -> None:
    with pytest.raises(ScorerError, match="at least one value"):
        OneOf()
    for bad in (math.nan, "1", None):
        with pytest.raises(ScorerError, match="finite number"):
            Near(bad)  # type: ignore[arg-type]


def test_a_tolerance_does_not_make_neighbouring_identifiers_equal() -> None:
    order = 12_345_678_901_234_567
    assert not Equality(abs_tol=0.5).same(order + 1, order)
    assert Equality(abs_tol=1).same(order + 1, order)
    assert Equality(rel_tol=1e-3).same(1001, 1000)
    assert not Equality(rel_tol=0.1).same(10**400, 2 * 10**400)


def test_a_tiny_tolerance_is_kept() -> None:
    assert not Equality(abs_tol=1e-15).same(1e-13, 2e-13)
    assert Equality(abs_tol=1e-13).same(1e-13, 2e-13)


def test_a_switch_is_near_no_number() -> None:
    assert not Equality().same(True, Near(0.9, abs_tol=0.2))
    assert Equality().same(True, Near(1, abs_tol=0.2))
    assert not Equality(typed=True).same(True, Near(1, abs_tol=0.2))


@pytest.mark.parametrize("bad", ["no", 1, None])
def test_typed_is_true_or_false(bad: Any) -> None:
    with pytest.raises(ScorerError, match="typed is"):
        Equality(typed=bad)
