"""Included files: found below the folder, and nowhere else."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaltoolkit.errors import ReadError
from evaltoolkit.evaluation.benchmarks import includes, read_benchmark

CAPABILITY = """
name: {name}
scenarios:
  - id: 1
    prompt: Do it
    success: {{state: {{done: true}}}}
"""
OUTSIDE = "leads out of the folder of this file"
Write = Callable[[str, str], Path]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def write(home: Path) -> Write:
    def write(name: str, text: str) -> Path:
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write


def including(*addresses: str) -> str:
    return "benchmark: b\ncapabilities:\n" + "".join(f"  - '{each}'\n" for each in addresses)


def refused(path: Path) -> str:
    with pytest.raises(ReadError) as caught:
        read_benchmark(path)
    return str(caught.value)


def tasks(path: Path) -> list[str]:
    return [example.task for example in read_benchmark(path).examples]


def test_files_and_lists_of_files(write: Write) -> None:
    write("parts/lights.yaml", CAPABILITY.format(name="lights"))
    write("parts/more/doors.yml", CAPABILITY.format(name="doors"))
    write("parts/all.yaml", "- file://lights.yaml\n- file://more/doors.yml\n")
    write("last.yaml", CAPABILITY.format(name="last"))
    path = write("b.yaml", including("FILE://parts/all.yaml", "file://./last.yaml"))
    assert tasks(path) == ["lights", "doors", "last"]
    table = read_benchmark(path).table
    assert table["source"].tolist()[1] == "parts/more/doors.yml:4"


@pytest.mark.parametrize(
    "address",
    ["file://sub/../part.yaml", "file://{home}/part.yaml", "file://localhost{home}/part.yaml"],
)
def test_it_is_the_file_that_must_lie_inside_not_the_way_to_it(
    write: Write, home: Path, address: str
) -> None:
    write("sub/x.yaml", "")
    write("part.yaml", CAPABILITY.format(name="part"))
    path = write("b.yaml", including(address.format(home=home.as_posix())))
    assert tasks(path) == ["part"]
    message = refused(
        write("b.yaml", including(address.format(home=home.as_posix()), "file://part.yaml"))
    )
    assert "'part.yaml' is included already" in message


def test_percent_signs_are_read(write: Write) -> None:
    write("my part.yaml", CAPABILITY.format(name="part"))
    assert tasks(write("b.yaml", including("file://my%20part.yaml"))) == ["part"]


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("file://../secret.yaml", OUTSIDE),
        ("file://%2e%2e/secret.yaml", OUTSIDE),
        ("file://..%2fsecret.yaml", OUTSIDE),
        ("file://parts/../../secret.yaml", OUTSIDE),
        ("file://%2E%2E%2Fsecret.yaml", OUTSIDE),
        ("file://..", OUTSIDE),
        ("file:///etc/passwd", OUTSIDE),
        ("file://%2Fetc/passwd", OUTSIDE),
        ("file://localhost/etc/passwd", OUTSIDE),
        ("FILE://LocalHost/etc/passwd", OUTSIDE),
        ("file:////host/share/x.yaml", "names a drive or a host"),
        ("file://C:/secret.yaml", "names a drive or a host"),
        ("file://c%3A/secret.yaml", "names a drive or a host"),
        ("file://%252e%252e/secret.yaml", "there is no file '%2e%2e/secret.yaml'"),
        ("file://host/etc/passwd", "there is no file 'host/etc/passwd'"),
        ("file:/etc/passwd", "write a mapping, or file://"),
        pytest.param("file://" + "a" * 5000, "leads nowhere", id="a name too long"),
        pytest.param("file://" + "a/" * 5000, "leads nowhere", id="a path too long"),
        ("file://..\\secret.yaml", "forward slashes"),
        ("file://..%5csecret.yaml", "forward slashes"),
        ("file://a%00b", "forward slashes"),
        ("file://", "forward slashes"),
        ("file://absent.yaml", "there is no file 'absent.yaml'"),
        ("file://parts", "there is no file 'parts'"),
        ("https://host/x.yaml", "write a mapping, or file://"),
        ("lights.yaml", "write a mapping, or file://"),
    ],
)
def test_addresses_that_lead_elsewhere(write: Write, address: str, reason: str) -> None:
    write("../secret.yaml", CAPABILITY.format(name="secret"))
    write("parts/x.yaml", "")
    message = refused(write("b.yaml", including(address)))
    assert "b.yaml:3: " in message
    assert reason in message


def test_links(write: Write, home: Path) -> None:
    secret = write("../secret.yaml", CAPABILITY.format(name="secret"))
    write("real.yaml", CAPABILITY.format(name="real"))
    (home / "out.yaml").symlink_to(secret)
    (home / "up").symlink_to(home.parent)
    (home / "in.yaml").symlink_to("real.yaml")
    (home / "loop.yaml").symlink_to("loop.yaml")
    assert tasks(write("b.yaml", including("file://in.yaml"))) == ["real"]
    for address in ("file://out.yaml", "file://up/secret.yaml"):
        message = refused(write("b.yaml", including(address)))
        assert OUTSIDE in message
    assert "b.yaml:3: " in refused(write("b.yaml", including("file://loop.yaml")))


def test_an_included_file_cannot_reach_its_parents_folder(write: Write) -> None:
    write("top.yaml", CAPABILITY.format(name="top"))
    write("parts/a.yaml", "- file://../top.yaml\n")
    assert "parts/a.yaml:1: " in refused(write("b.yaml", including("file://parts/a.yaml")))


def test_a_benchmark_that_is_itself_a_link(write: Write, tmp_path: Path) -> None:
    write("part.yaml", CAPABILITY.format(name="part"))
    link = tmp_path / "link.yaml"
    link.symlink_to(write("b.yaml", including("file://part.yaml")))
    assert tasks(link) == ["part"]


def test_circles_are_named(write: Write) -> None:
    write("a.yaml", "- file://c.yaml\n")
    write("c.yaml", "- file://sub/d.yaml\n- file://a.yaml\n")
    write("sub/d.yaml", CAPABILITY.format(name="d"))
    message = refused(write("b.yaml", including("file://a.yaml")))
    assert "c.yaml:2: includes go in a circle: b.yaml -> a.yaml -> c.yaml -> a.yaml" in message
    message = refused(write("b.yaml", including("file://b.yaml")))
    assert "circle: b.yaml -> b.yaml" in message


def test_depth_is_bounded(write: Write) -> None:
    for number in range(12):
        write(f"n{number}.yaml", f"- file://n{number + 1}.yaml\n")
    assert "nested over 8 deep" in refused(write("b.yaml", including("file://n0.yaml")))


def test_number_of_files_is_bounded(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(includes, "MOST_FILES", 2)
    for number in range(3):
        write(f"n{number}.yaml", CAPABILITY.format(name=f"n{number}"))
    addresses = [f"file://n{number}.yaml" for number in range(3)]
    assert "b.yaml:5: more than 2 included files" in refused(write("b.yaml", including(*addresses)))


def test_size_is_bounded(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(includes, "MOST_BYTES", 200)
    write("big.yaml", "# " + "x" * 300)
    message = refused(write("b.yaml", including("file://big.yaml")))
    assert "b.yaml:3: 'big.yaml' is larger than 200 bytes" in message
    assert "larger than 200 bytes" in refused(write("c.yaml", "# " + "x" * 300))


def test_values_of_all_files_are_bounded(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(includes, "MOST_VALUES", 20)
    for number in range(4):
        write(f"n{number}.yaml", CAPABILITY.format(name=f"n{number}"))
    message = refused(
        write("b.yaml", including(*[f"file://n{number}.yaml" for number in range(4)]))
    )
    assert "b.yaml:6: the files before this one hold more than 20 values" in message


@pytest.mark.parametrize("text", ["", "just words", "[]", "{}", "3"])
def test_an_included_file_without_a_capability(write: Write, text: str) -> None:
    write("part.yaml", text)
    message = refused(write("b.yaml", including("file://part.yaml")))
    assert "part.yaml:1: an included file holds a capability or a list" in message


def test_problems_of_all_files_at_once(write: Write) -> None:
    write("bad.yaml", "name: [")
    write("odd.yaml", CAPABILITY.format(name="odd").replace("true", "on"))
    message = refused(write("b.yaml", including("file://bad.yaml", "file://odd.yaml")))
    assert "2 problem(s)" in message
    assert re.search(r"bad.yaml:[12]: this is no YAML", message)
    assert "odd.yaml:6: on is true" in message


def test_a_file_included_twice(write: Write) -> None:
    write("part.yaml", CAPABILITY.format(name="part"))
    message = refused(write("b.yaml", including("file://part.yaml", "file://./part.yaml")))
    assert "b.yaml:4: 'part.yaml' is included already at b.yaml:3" in message


def test_bytes_that_are_no_text(write: Write) -> None:
    write("part.yaml", "").write_bytes(b"name: \xff\xfe")
    message = refused(write("b.yaml", including("file://part.yaml")))
    assert "no UTF-8 text (byte 6, in line 1); save it as UTF-8" in message
    path = write("c.yaml", "")
    path.write_bytes("benchmark: b\n".encode("utf-16"))
    assert "c.yaml:1: 'c.yaml' is no UTF-8 text" in refused(path)
    path.write_bytes(b"\xef\xbb\xbf" + including("file://d.yaml").encode())
    write("d.yaml", CAPABILITY.format(name="d"))
    assert tasks(path) == ["d"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_not_opened(write: Write, home: Path) -> None:
    os.mkfifo(home / "pipe.yaml")
    assert "there is no file" in refused(write("b.yaml", including("file://pipe.yaml")))


def test_no_file(tmp_path: Path) -> None:
    assert "is no file; give the path" in refused(tmp_path / "absent.yaml")
    assert "is a folder" in refused(tmp_path)


@pytest.mark.parametrize(
    "source", [None, 3, "a\0b", "benchmark: b\ncapabilities:\n" + "- x\n" * 9999]
)
def test_no_path(source: Any) -> None:
    message = refused(source)
    assert "is no path; give the path of the YAML file of a benchmark" in message
    assert len(message) < 400
