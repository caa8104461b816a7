from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaltoolkit.scorers import Unmeasurable, join_path, split_path
from evaltoolkit.scorers.state.paths import Missing, ancestors, follow_path, leaf_paths

keys = st.text(alphabet="ab.\\ 0é", max_size=4)


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("a.b", ["a", "b"]),
        ("a", ["a"]),
        ("", [""]),
        ("a..b", ["a", "", "b"]),
        (".", ["", ""]),
        (r"a\.b.c", ["a.b", "c"]),
        (r"a\\.b", ["a\\", "b"]),
        (r"a\b", [r"a\b"]),
        ("a\\", ["a\\"]),
    ],
)
def test_splitting(path: str, parts: list[str]) -> None:
    assert split_path(path) == parts


@given(st.lists(keys, min_size=1, max_size=5))
def test_joining_and_splitting_are_opposites(parts: list[str]) -> None:
    assert split_path(join_path(parts)) == parts


@given(st.lists(keys, min_size=1, max_size=5))
def test_ancestors_are_the_shorter_paths(parts: list[str]) -> None:
    expected = [join_path(parts[:depth]) for depth in range(1, len(parts))]
    assert ancestors(join_path(parts)) == expected


STATE: dict[str, Any] = {
    "a": {"b": 1, "none": None, "x.y": {"z": 2}},
    "list": [{"on": True}, [10, 20]],
    "pair": (1, 2),
    "": {"": "empty"},
    "0": "zero",
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a.b", 1),
        ("a.none", None),
        (r"a.x\.y.z", 2),
        ("list.0.on", True),
        ("list.1.1", 20),
        ("pair.1", 2),
        (".", "empty"),
        ("0", "zero"),
    ],
)
def test_what_stands_at_a_path(path: str, value: object) -> None:
    assert follow_path(STATE, path) == value


@pytest.mark.parametrize(
    ("path", "reached", "why"),
    [
        ("c", "", "there is no key 'c'"),
        ("a.c", "a", "there is no key 'c'"),
        ("a.x.y", "a", "there is no key 'x'"),
        ("a.b.c", "a.b", "1 holds nothing, so there is no 'c'"),
        ("list.2", "list", "a list of 2 item(s) has no index 2"),
        ("list.-1", "list", "a list of 2 item(s) has no index '-1'"),
        ("list.on", "list", "a list of 2 item(s) has no index 'on'"),
        ("list.²", "list", "a list of 2 item(s) has no index '²'"),
        (r"a.x\.y.q", r"a.x\.y", "there is no key 'q'"),
    ],
)
def test_how_far_a_path_leads(path: str, reached: str, why: str) -> None:
    assert follow_path(STATE, path) == Missing(reached, why)


def test_an_index_of_thousands_of_digits_is_no_index() -> None:
    found = follow_path({"list": [1]}, "list." + "9" * 10_000)
    assert isinstance(found, Missing)
    assert len(found.why) < 200


def test_leaves_are_found_again() -> None:
    leaves = leaf_paths(STATE)
    assert list(leaves) == ["a.b", "a.none", r"a.x\.y.z", "list", "pair", ".", "0"]
    assert all(follow_path(STATE, path) == value for path, value in leaves.items())
    assert leaf_paths({}) == {}
    assert leaf_paths({"a": {}}) == {"a": {}}


def test_endless_objects_are_refused() -> None:
    endless: dict[str, Any] = {}
    endless.update(one=endless, other=endless)
    with pytest.raises(Unmeasurable, match="more than 100 levels"):
        leaf_paths(endless)


def test_whole_numbers_as_keys() -> None:
    """Objects of Python may have them; a text with the same digits goes first."""
    state = {"lamps": {1: "on", "2": "text", 2: "number"}}
    assert follow_path(state, "lamps.1") == "on"
    assert follow_path(state, "lamps.2") == "text"
    assert isinstance(follow_path(state, "lamps.3"), Missing)
    assert follow_path({"lamps": {1: "on"}}, next(iter(leaf_paths({"lamps": {1: "on"}})))) == "on"


def test_shared_objects_do_not_take_for_ever() -> None:
    shared: dict[str, Any] = {"x": 1}
    for _ in range(40):
        shared = {"one": shared, "other": shared}
    with pytest.raises(Unmeasurable, match="more than 100000 values"):
        leaf_paths(shared)
