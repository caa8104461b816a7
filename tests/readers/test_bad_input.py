"""What happens to every format when its files are damaged, by accident or by an editor.

Each test damages the minimal file of a format (see `minimal.py`). A damaged file is refused by a
`ReadError` that names it, or it gives exactly what is still good in it; where records are skipped
they are counted in ``attrs["problems"]``, where the file is skipped in ``attrs["skipped"]``.
Nothing else may come out: no other exception, no invented row.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from evaltoolkit.errors import EvalToolkitError, EvalToolkitWarning, ReadError
from evaltoolkit.readers import read_scores
from evaltoolkit.scores import SCORE_KEY
from tests.readers.minimal import MINIMAL

every_format = pytest.mark.parametrize("name", list(MINIMAL))


def _is_archive(path: Path) -> bool:
    return path.read_bytes().startswith((b"PK", b"PAR1"))


@pytest.fixture
def file(name: str, tmp_path: Path) -> Path:
    """The minimal file of a format; formats of run directories are not damaged here."""
    path = MINIMAL[name](tmp_path)
    if path.is_dir():
        pytest.skip(f"{name} is a run directory")
    return path


@pytest.fixture
def text_file(file: Path) -> Path:
    if _is_archive(file):
        pytest.skip("an archive has no text of its own")
    return file


@pytest.fixture
def lines_file(text_file: Path) -> Path:
    if text_file.suffix != ".jsonl":
        pytest.skip("not JSON lines")
    return text_file


def skipping(path: Path) -> pd.DataFrame:
    """Read what is good; warnings are looked at by the tests that expect them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvalToolkitWarning)
        return read_scores(path, on_error="skip")


def keys(table: pd.DataFrame) -> set[tuple[object, ...]]:
    return set(table[list(SCORE_KEY)].astype(object).fillna("-").itertuples(index=False))


def damage(path: Path, change: Callable[[bytes], bytes]) -> set[tuple[object, ...]]:
    """Read the whole file, then damage it; gives the keys of the whole one."""
    whole = keys(read_scores(path))
    path.write_bytes(change(path.read_bytes()))
    return whole


def assert_refused(path: Path, *, whole: set[tuple[object, ...]]) -> ReadError:
    """The damaged file is refused by name, and skipping it leaves no invented row."""
    with pytest.raises(ReadError) as caught:
        read_scores(path)
    assert path.name in str(caught.value)
    assert_counted(path, whole)
    return caught.value


def assert_counted(path: Path, whole: set[tuple[object, ...]]) -> None:
    found = outcome(lambda: skipping(path))
    if isinstance(found, EvalToolkitError):
        # It no longer looks like results of any kind.
        assert path.name in str(found)
        return
    assert keys(found) <= whole
    assert found.attrs["problems"] or found.attrs["skipped"]


def assert_all_there_or_counted(table: pd.DataFrame, whole: set[tuple[object, ...]]) -> None:
    """A further field is read over; a format that goes by all keys may take it for another kind."""
    if table.attrs["unknown"]:
        assert keys(table) < whole
        assert [each["count"] for each in table.attrs["unknown"]] == [1]
    else:
        assert keys(table) == whole


def outcome(read: Callable[[], pd.DataFrame]) -> pd.DataFrame | EvalToolkitError:
    try:
        return read()
    except EvalToolkitError as error:
        return error


@every_format
def test_the_minimal_file_reads_as_its_own_format(name: str, tmp_path: Path) -> None:
    table = read_scores(MINIMAL[name](tmp_path), format=name.partition(":")[0])
    assert table["example_id"].nunique() >= 2
    assert (table["status"] == "scored").any()
    assert table.attrs["problems"] == table.attrs["skipped"] == table.attrs["unknown"] == []


@every_format
@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_truncated_file(name: str, file: Path, share: float) -> None:
    whole = damage(file, lambda content: content[: int(len(content) * share)].rstrip(b"\n}],"))
    found = outcome(lambda: read_scores(file))
    if isinstance(found, EvalToolkitError):
        assert file.name in str(found)
        assert_counted(file, whole)
    else:
        # Cut between two records of text: what is left is right.
        assert not _is_archive(file)
        assert keys(found) <= whole


@every_format
def test_an_empty_file(name: str, file: Path) -> None:
    whole = damage(file, lambda content: b"")
    assert assert_refused(file, whole=whole).code == "empty_file"


@every_format
def test_a_binary_file(name: str, file: Path) -> None:
    assert_refused(file, whole=damage(file, lambda content: bytes(range(256)) * 40))


@every_format
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16(name: str, text_file: Path, encoding: str) -> None:
    whole = damage(text_file, lambda content: content.decode().encode(encoding))
    assert_refused(text_file, whole=whole)


@every_format
def test_latin_1(name: str, text_file: Path) -> None:
    text = text_file.read_text("utf-8")
    letter = next(char for char in reversed(text) if char.isalpha())
    place = text.rindex(letter)
    text_file.write_bytes(f"{text[:place]}é{text[place + 1 :]}".encode("latin-1"))
    with pytest.raises(ReadError, match="not UTF-8") as caught:
        read_scores(text_file)
    assert text_file.name in str(caught.value)


@every_format
def test_a_byte_order_mark_and_windows_line_ends_change_nothing(name: str, text_file: Path) -> None:
    whole = read_scores(text_file)
    content = text_file.read_bytes().replace(b"\n", b"\r\n")
    text_file.write_bytes(b"\xef\xbb\xbf" + content)
    pd.testing.assert_frame_equal(read_scores(text_file), whole)


@every_format
def test_one_huge_line(name: str, lines_file: Path) -> None:
    *before, last = lines_file.read_text("utf-8").splitlines()
    huge = json.dumps({**json.loads(last), "notes_of_the_author": "x" * 3_000_000})
    whole = read_scores(lines_file)
    lines_file.write_text("\n".join([*before, huge]) + "\n", "utf-8")
    assert_all_there_or_counted(skipping(lines_file), keys(whole))


@every_format
def test_deep_nesting_in_one_record(name: str, lines_file: Path) -> None:
    whole = keys(read_scores(lines_file))
    with lines_file.open("a", encoding="utf-8") as lines:
        lines.write('{"a": ' * 50_000 + "1" + "}" * 50_000 + "\n")
    with pytest.raises(ReadError, match="nested too deeply"):
        read_scores(lines_file)
    table = skipping(lines_file)
    assert keys(table) == whole
    assert len(table.attrs["problems"]) == 1


@every_format
def test_a_document_that_is_nested_too_deeply(name: str, text_file: Path) -> None:
    whole = damage(text_file, lambda content: b'{"a": ' * 50_000 + b"\n1" + b"}" * 50_000)
    assert "nested too deeply" in str(assert_refused(text_file, whole=whole))


@every_format
def test_a_broken_record_among_good_ones(name: str, lines_file: Path) -> None:
    whole = keys(read_scores(lines_file))
    with lines_file.open("a", encoding="utf-8") as lines:
        lines.write('{"cut": "off\n[1, 2]\n"text"\n\n')
    number = len(lines_file.read_text("utf-8").splitlines()) - 3
    with pytest.raises(ReadError, match=rf"{lines_file.name}: line {number}"):
        read_scores(lines_file)
    with pytest.warns(EvalToolkitWarning, match=r"3 record\(s\) could not be read"):
        table = read_scores(lines_file, on_error="skip")
    assert keys(table) == whole
    assert [each["record"] for each in table.attrs["problems"]] == [
        f"line {number + offset}" for offset in range(3)
    ]


@every_format
def test_a_repeated_key_in_a_record(name: str, lines_file: Path) -> None:
    whole = keys(read_scores(lines_file))
    first, *rest = lines_file.read_text("utf-8").splitlines()
    key = next(iter(json.loads(rest[-1])))
    doubled = rest[-1].rstrip().removesuffix("}") + f', "{key}": "again"}}'
    lines_file.write_text("\n".join([first, *rest[:-1], doubled]) + "\n", "utf-8")
    with pytest.raises(ReadError, match="occurs more than once in one JSON object") as caught:
        read_scores(lines_file)
    assert repr(key) in str(caught.value)
    assert f"line {len(rest) + 1}" in str(caught.value)
    table = skipping(lines_file)
    assert keys(table) < whole
    assert len(table.attrs["problems"]) == 1


@every_format
def test_a_repeated_key_in_a_document(name: str, text_file: Path) -> None:
    if text_file.suffix != ".json":
        pytest.skip("no single document")
    document = text_file.read_text("utf-8").rstrip()
    place = document.index("{") + 1
    key = document[place:].split('"')[1]
    text_file.write_text(f'{document[:place]}"{key}": 0, {document[place:]}', "utf-8")
    with pytest.raises(ReadError, match="occurs more than once in one JSON object") as caught:
        read_scores(text_file)
    assert repr(key) in str(caught.value)


@every_format
@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity"])
def test_a_token_that_is_no_json(name: str, lines_file: Path, token: str) -> None:
    """It stands in a field of its own, where it may only be read over."""
    whole = read_scores(lines_file)
    *before, last = lines_file.read_text("utf-8").splitlines()
    marked = last.rstrip().removesuffix("}") + f', "remark_of_the_author": {token}}}'
    lines_file.write_text("\n".join([*before, marked]) + "\n", "utf-8")
    assert_all_there_or_counted(skipping(lines_file), keys(whole))


# --- scores that are no numbers, ids that differ only in type or case: the table itself ---

ROW = '{"system": "a", "example_id": %s, "criterion": "acc", "score": %s}\n'


@pytest.mark.parametrize(("token", "status"), [("NaN", "unscored"), ("null", "unscored")])
def test_a_score_that_is_not_a_number_is_no_score(tmp_path: Path, token: str, status: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(ROW % (1, token) + ROW % (2, 1), "utf-8")
    table = read_scores(path)
    assert table["status"].tolist() == [status, "scored"]
    assert table["score"].isna().tolist() == [True, False]


@pytest.mark.parametrize("token", ["Infinity", "-Infinity", "1e999"])
def test_an_infinite_score_is_refused(tmp_path: Path, token: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(ROW % (1, token) + ROW % (2, 1), "utf-8")
    with pytest.raises(EvalToolkitError, match="infinite") as caught:
        read_scores(path)
    assert caught.value.code == "infinite_score"


def test_ids_that_differ_in_type_are_one_and_in_case_are_two(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    ids = ["7", '"7"', "7.0"]
    rows = [ROW.replace('"a"', f'"{n}"') % (each, 1) for n, each in enumerate(ids)]
    path.write_text("".join(rows) + ROW % ('"A"', 1) + ROW % ('"a"', 0), "utf-8")
    table = read_scores(path)
    assert table["example_id"].tolist() == ["7", "7", "7", "A", "a"]
    path.write_text(ROW % ("7", 1) + ROW % ('"7"', 0), "utf-8")
    with pytest.raises(EvalToolkitError, match="example_id='7'"):
        read_scores(path)
