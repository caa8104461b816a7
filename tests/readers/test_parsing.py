"""JSON of any kind: the fast parser and the careful one agree, and no key is lost."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaltoolkit.errors import ReadError
from evaltoolkit.readers.base import Reading, json_lines
from evaltoolkit.readers.parsing import is_canonical_number, parse_json

PATH = Path("a.json")

json_values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False),
        st.text(),
        st.sampled_from([":", '":"', "\\u003a", "\\", "\ud83d"]),
    ),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(max_size=3), inner)),
    max_leaves=8,
)


def same(value: object, other: object) -> bool:
    """Equal, and of the same types, so that 1, 1.0 and true are three values."""
    return repr(value) == repr(other)


@given(value=json_values, escaped=st.booleans(), as_bytes=st.booleans())
def test_both_parsers_give_the_same(value: Any, escaped: bool, as_bytes: bool) -> None:
    text = json.dumps(value, ensure_ascii=escaped)
    if not escaped:
        text = text.encode("utf-8", "replace").decode("utf-8")
    given_text = text.encode("utf-8") if as_bytes else text
    expected = json.loads(text.encode("utf-8", "replace"))
    found = parse_json(given_text, path=PATH)
    assert same(found, json.loads(json.dumps(expected).replace("\\ud83d", "?"))) or same(
        found, expected
    )


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '[{"b": 1}, {"a": {"x": ":"}, "a": null}]',
        '{"a": "\\u003a:", "a": ""}',
        '{"a": NaN, "a": NaN}',
        '{"\\u0061": 1, "a": 1}',
    ],
)
def test_a_repeated_key_is_refused_by_name(text: str) -> None:
    for given_text in (text, text.encode()):
        with pytest.raises(ReadError, match="the key 'a' occurs more than once") as caught:
            parse_json(given_text, path=PATH, record="line 3")
        assert caught.value.code == "repeated_key"
        assert caught.value.path == "a.json: line 3"


@pytest.mark.parametrize(
    "text", ['{"a": ":", "b": [":", {"a": 1}]}', '{"a": "\\u003a"}', '{"a:": 1, "a": 2}', '"::"']
)
def test_colons_are_not_taken_for_repeated_keys(text: str) -> None:
    assert parse_json(text, path=PATH) == json.loads(text)


def test_numbers_that_are_no_json_are_accepted() -> None:
    nan, above, below = parse_json("[NaN, Infinity, -1e999]", path=PATH)
    assert math.isnan(nan)
    assert (above, below) == (math.inf, -math.inf)


def test_whole_numbers_of_any_size_stay_whole() -> None:
    assert parse_json(b"[123456789012345678901234567890, -0]", path=PATH) == [
        123456789012345678901234567890,
        0,
    ]
    with pytest.raises(ReadError, match="cannot be read"):
        parse_json("9" * 5_000, path=PATH)


def test_half_a_character_in_bytes_is_no_text() -> None:
    with pytest.raises(ReadError, match="byte 6 is not UTF-8"):
        parse_json(b'{"a": \xed\xa0\x80"', path=PATH)


@given(st.one_of(st.integers().map(str), st.floats(allow_nan=False, allow_infinity=False).map(str)))
def test_what_python_writes_is_canonical(text: str) -> None:
    assert is_canonical_number(text) == (json.dumps(json.loads(text)) == text)


def test_json_lines_skip_what_is_bad_and_go_on(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\n{"a": 1, "a": 2}\n[]\n{"a": NaN}\n{"a": "\xff"}\n')
    reading = Reading(want=frozenset(), on_error="skip")
    found = list(json_lines(path, reading))
    assert [record for record, _ in found] == ["line 1", "line 5"]
    assert [problem.record for problem in reading.problems] == ["line 3", "line 4", "line 6"]
    assert "'a' occurs more than once" in reading.problems[0].message
