"""Score tables as JSON lines: taken apart fast or parsed with care, they are the same table."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaltoolkit.errors import EvalToolkitWarning, ReadError
from evaltoolkit.readers import read_scores, table_lines
from evaltoolkit.readers.base import Reading
from evaltoolkit.readers.line_shapes import shape_of
from evaltoolkit.readers.plain_lines import take_apart

pytest.importorskip("pyarrow", reason="the fast way needs pyarrow")

NASTY = [
    "",
    " ",
    "null",
    "true",
    "[1, 2]",
    "7",
    "{oops",
    '{"system": "a"',
    '{"system": "a", "example_id": "1", "criterion": "c", "score": 1} x',
    '{"system": "a", "example_id": "1", "criterion": "c", "score": 1}{}',
    '{"system": "a", "example_id": "1", "criterion": "c", "score": 1, "score": 0}',
    '{"system": "a", "example_id": "1", "criterion": "c", "score": 1, "m": {"k": 1, "k": 2}}',
    '{"system": "a", "example_id": "1", "criterion": "c", "score": 01}',
    '{"system": "a", "example_id": "1", "criterion": "c", "score": +1}',
    '{"system": "a", "example_id": "1", "criterion": "c", "score": .5}',
    '{"system": "a", "example_id": "1", "criterion": "c", "score": 1.}',
    '{"system": "a", "example_id": "1", "criterion": "c", "score": 0x1F}',
    '{"system": "a", "example_id": "1", "criterion": "c", "score": 1 2}',
    '{"system": "a", "example_id": "1", "criterion": "c", "score": nul}',
    '{"system": "a", "example_id": "1", "criterion": "c", "score": }',
    '{"system": "a", "example_id": "1", "criterion": "c", "score": 1,}',
    '{"system": "a", "example_id": "1", "criterion": "c" "score": 1}',
    '{"system": "a", "example_id": "1" , "criterion": "c", "score": 1}',
    '{"system": "a", "example_id": "1", "criterion": "c\x01", "score": 1}',
    '{"system": "a", "example_id": "1", "criterion": "c", "score": "1"}',
    '{"system": "a", "example_id": 12345678901234567890123, "criterion": "c", "score": 1}',
    '{"system": "a", "example_id": 7.50, "criterion": "c", "score": 1}',
    '{"system": "a", "example_id": 9007199254740993, "criterion": "c", "score": 1}',
    '{"system": "\\ud83d", "example_id": "1", "criterion": "c", "score": 1}',
    '{"system": "a\\"b", "example_id": "\\u00e9", "criterion": "c", "score": 1}',
    '{"score": NaN, "system": "a", "example_id": "1", "criterion": "c"}',
    '{"score": Infinity, "system": "a", "example_id": "1", "criterion": "c"}',
    '{"score": 1e999, "system": "a", "example_id": "1", "criterion": "c"}',
    '{"score": 5e-324, "system": "a", "example_id": "1", "criterion": "c", "new": [[[]]]}',
]

values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.integers(),
    st.floats(allow_nan=True),
    st.sampled_from([0.1, 1.50, 2.0, 1e-5, 1e16, -0.0, 123456.789]),
    st.text(max_size=5),
    st.sampled_from(["", "é", "模型", "a b", "2026-01-01T00:00:00Z", "\u2028", "\x7f"]),
)
nested = st.recursive(
    values,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["k", "k2", "é", "system", ":"]), inner, max_size=3),
    ),
    max_leaves=5,
)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """A file of one to four kinds of lines in random order, with nasty ones among them."""
    kinds = [
        draw(st.dictionaries(st.sampled_from("bcdefg"), st.just(draw(nested)), max_size=3))
        for _ in range(draw(st.integers(1, 4)))
    ]
    spaces = draw(st.sampled_from([(", ", ": "), (",", ":")]))
    plain = draw(st.booleans())
    lines: list[str] = []
    for number in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from(kinds))
        row: dict[str, Any] = {
            "system": draw(st.sampled_from(["a", "b"])),
            "example_id": draw(st.sampled_from([number, str(number), number + 0.5])),
            "criterion": "c",
            "score": draw(st.sampled_from([0, 1, 0.25, None, True, 0.1234567890123456])),
        }
        extra = {name: value if draw(st.booleans()) else draw(values)
                 for name, value in kind.items()}  # fmt: skip
        lines.append(json.dumps({**row, **extra}, separators=spaces, ensure_ascii=not plain))
        if draw(st.integers(0, 6)) == 0:
            lines.append(draw(st.sampled_from(NASTY)))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return (end.join(lines) + draw(st.sampled_from(["", end]))).encode("utf-8", "replace")


def raw(path: Path, *, fast: bool, block: int = 1 << 24) -> tuple[list[pd.DataFrame], list[Any]]:
    """Read the cells of a file in one of the two ways."""
    reading = Reading(want=frozenset({"scores"}), on_error="skip")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_lines, "BLOCK_BYTES", block)
        if not fast:
            patch.setattr(table_lines, "has_pyarrow", lambda: False)
        frames = list(table_lines.line_frames(table_lines.Wanted(path), reading))
    return frames, [vars(problem) for problem in reading.problems]


@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(content=files())
def test_both_ways_give_the_same_cells_and_the_same_problems(
    content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("lines") / "a.jsonl"
    path.write_bytes(content)
    fast, fast_problems = raw(path, fast=True)
    slow, slow_problems = raw(path, fast=False)
    assert fast_problems == slow_problems
    assert len(fast) == len(slow)
    for one, other in zip(fast, slow, strict=True):
        pd.testing.assert_frame_equal(
            one.reindex(columns=other.columns), other, check_index_type=False, check_exact=True
        )
        attributes = [name for name in one.columns if name != "source"]
        assert attributes == [name for name in other.columns if name != "source"]


@pytest.mark.parametrize("line", NASTY)
def test_a_nasty_line_among_plain_ones_is_treated_with_care(tmp_path: Path, line: str) -> None:
    good = '{"system": "a", "example_id": "%d", "criterion": "c", "score": 0.5}\n'
    path = tmp_path / "a.jsonl"
    path.write_text(good % 1 + good % 2 + line + "\n" + good % 3, encoding="utf-8", newline="")
    (fast,), fast_problems = raw(path, fast=True)
    (slow,), slow_problems = raw(path, fast=False)
    assert fast_problems == slow_problems
    pd.testing.assert_frame_equal(
        fast.reindex(columns=slow.columns), slow, check_index_type=False, check_exact=True
    )
    assert {1, 2, 4} <= set(fast.index)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(content=files(), block=st.integers(1, 400))
def test_where_a_file_is_cut_into_blocks_does_not_matter(
    content: bytes, block: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("lines") / "a.jsonl"
    path.write_bytes(content)
    found = [
        (each.number, bytes(each.content[: each.size]))
        for each in table_lines.cut_blocks(path, size=block)
    ]
    whole = content if content.endswith(b"\n") or not content.strip() else content + b"\n"
    assert b"".join(part for _, part in found).strip() == whole.strip()
    assert all(part.endswith(b"\n") for _, part in found)
    for number, part in found:
        assert whole.split(b"\n")[number - 1] == part.split(b"\n")[0]


def rows(count: int, **fields: Callable[[int], Any]) -> str:
    lines = []
    for number in range(count):
        row = {"system": "a", "example_id": number, "criterion": "c", "score": number / 7}
        lines.append(json.dumps({**row, **{name: make(number) for name, make in fields.items()}}))
    return "\n".join(lines) + "\n"


def test_attributes_keep_their_kind_over_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    text = rows(
        200,
        level=lambda n: None if n < 150 else n,
        hard=lambda n: n % 2 == 0 if n > 20 else None,
        topic=lambda n: None if n < 100 else "law",
        share=lambda n: n if n < 100 else n / 3,
        nothing=lambda n: None,
        mixed=lambda n: "x" if n == 199 else n,
    )
    path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(table_lines, "BLOCK_BYTES", 4_000)
    table = read_scores(path)
    assert {name: str(table[name].dtype) for name in ("level", "hard", "topic", "share")} == {
        "level": "Int64",
        "hard": "boolean",
        "topic": "str",
        "share": "float64",
    }
    assert table["level"].fillna(-1).tolist() == [-1] * 150 + list(range(150, 200))
    assert table["nothing"].isna().all()
    assert table["mixed"].tolist() == [*range(199), "x"]
    assert table["score"].tolist() == [number / 7 for number in range(200)]
    assert table["source"].iloc[[0, 199]].str.partition(": ")[2].tolist() == ["line 1", "line 200"]


def test_times_are_the_same_moments_in_both_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = ["2026-01-01T10:00:00Z", "2026-01-01T12:00:00.123456+02:00", "2026-01-01 10:00:00Z"]
    path = tmp_path / "a.jsonl"
    for stamps in (times, [*times, "2026-01-01"], [*times, "2026-01-01T10:00:00"]):
        path.write_text(rows(len(stamps), timestamp=stamps.__getitem__), encoding="utf-8")
        fast = read_scores(path)
        with monkeypatch.context() as patch:
            patch.setattr(table_lines, "has_pyarrow", lambda: False)
            slow = read_scores(path)
        pd.testing.assert_frame_equal(fast, slow)
        assert str(fast["timestamp"].dtype) == "datetime64[us, UTC]"
        assert fast["timestamp"].iloc[1] == pd.Timestamp("2026-01-01T10:00:00.123456Z")


def test_lines_of_several_shapes_are_all_plain() -> None:
    lines = rows(50, m=lambda n: {"tags": ["x"] * (n % 3), **({"k": n} if n % 2 else {})})
    found = take_apart(lines.encode())
    assert found is not None
    assert len(found.odd) == 0
    expected = [json.dumps(json.loads(line)["m"]) for line in lines.splitlines()]
    assert found.columns["m"].to_pylist() == expected


def test_compact_metadata_is_written_like_all_json_cells() -> None:
    lines = rows(3, m=lambda n: {"a": [n, 0.5], "b": {"c": "x: y, z"}}).replace(": ", ":")
    found = take_apart(lines.replace(", ", ",").encode())
    assert found is not None
    assert found.columns["m"].to_pylist()[2] == '{"a": [2, 0.5], "b": {"c": "x:y,z"}}'


@pytest.mark.parametrize("line", [b"[1]", b"{}", b'{"a": 1', b'{"a": "\\n"}', b'{"a":1,"a":2}'])
def test_some_lines_have_no_shape(line: bytes) -> None:
    assert shape_of(line) is None


def test_a_bad_cell_in_a_plain_line_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    bad = '{"system": "a", "example_id": null, "criterion": "c", "score": 1}\n'
    path.write_text(rows(5) + bad + rows(2).replace('"a"', '"b"'), encoding="utf-8")
    with pytest.raises(ReadError, match="line 6: column 'example_id' is empty"):
        read_scores(path)
    with pytest.warns(EvalToolkitWarning, match=r"1 record\(s\) could not be read"):
        table = read_scores(path, on_error="skip")
    assert len(table) == 7
    assert table.attrs["problems"][0]["record"] == "line 6"


def test_it_is_noticed_that_pyarrow_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert table_lines.has_pyarrow()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert not table_lines.has_pyarrow()
