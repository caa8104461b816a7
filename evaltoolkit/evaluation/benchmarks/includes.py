"""Read a benchmark file with everything that it includes, and nothing outside its folder.

An entry of ``capabilities`` may be ``file://lights.yaml``. The path is relative to the folder of
the file that names it. However it is written (with ``..``, percent signs or links, or absolute),
the file that it leads to must lie at or below that folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PureWindowsPath
from urllib.parse import unquote

from evaltoolkit.errors import ReadError
from evaltoolkit.evaluation.benchmarks.nodes import Node, parse_nodes
from evaltoolkit.evaluation.benchmarks.places import Place, Problem, Problems, UnreadableError

DEEPEST_INCLUDE = 8
"""How far includes may be nested."""

MOST_FILES = 500
"""How many files a benchmark may include."""

MOST_BYTES = 2_000_000
"""How large a file may be."""

MOST_VALUES = 1_000_000
"""How many values the files may hold together; the last one read may go beyond."""

_LONGEST_SHOWN = 200
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://", re.ASCII)
_LOCALHOST = re.compile(r"\Alocalhost/", re.ASCII | re.IGNORECASE)


@dataclass
class Files:
    """Reads the files of one benchmark.

    Attributes:
        root: Folder of the benchmark; files are named relative to it in messages.
        problems: Takes what is wrong with them.
    """

    root: Path
    problems: Problems
    _read: dict[Path, Place] = field(default_factory=dict)
    _values: int = 0

    def top(self, path: Path) -> Node:
        """Read the benchmark file itself.

        Raises:
            ReadError: It is not there, cannot be decoded or cannot be parsed.
        """
        try:
            return self._parse(path, Place(path.name, 1))
        except UnreadableError as error:
            self.problems.add(*error.problem)
            self.problems.check()
            raise  # never reached: there is a problem

    def entries(self, node: Node, chain: tuple[Path, ...]) -> Iterator[Node]:
        """Give the entries of a list; an included list stands for its entries.

        Args:
            node: A list of capabilities or addresses of files.
            chain: The files on the way to it, from the benchmark itself on.
        """
        items = node.value if isinstance(node.value, list) else []
        for item in items:
            if isinstance(item.value, str):
                yield from self._included(item, item.value, chain)
            else:
                yield item

    def _included(self, item: Node, address: str, chain: tuple[Path, ...]) -> Iterator[Node]:
        try:
            path = _contained(address, chain[-1].parent, item.place)
            self._check_chain(path, chain, item.place)
            self._read[path] = item.place
            node = self._parse(path, item.place)
        except UnreadableError as error:
            self.problems.add(*error.problem)
            return
        if isinstance(node.value, list) and node.value:
            yield from self.entries(node, (*chain, path))
        elif isinstance(node.value, dict) and node.value:
            yield node
        else:
            text = f"an included file holds a capability or a list of them, not {node.kind}"
            self.problems.add(node.place, "bad_include", text)

    def _check_chain(self, path: Path, chain: tuple[Path, ...], place: Place) -> None:
        if path in chain:
            names = " -> ".join(self._name(each) for each in (*chain, path))
            raise _refused(place, "circular_include", f"includes go in a circle: {names}")
        if len(chain) > DEEPEST_INCLUDE:
            raise _refused(place, "deep_include", f"includes nested over {DEEPEST_INCLUDE} deep")
        if path in self._read:
            text = f"{path.name!r} is included already at {self._read[path]}"
            raise _refused(place, "repeated_include", text)
        if len(self._read) >= MOST_FILES:
            raise _refused(place, "many_includes", f"more than {MOST_FILES} included files")
        if self._values > MOST_VALUES:
            text = f"the files before this one hold more than {MOST_VALUES:,} values"
            raise _refused(place, "too_large", text)

    def _parse(self, path: Path, place: Place) -> Node:
        text = _text_of(path, place)
        node = parse_nodes(text, file=self._name(path), problems=self.problems)
        self._values += node.size
        return node

    def _name(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()


def open_benchmark(source: str | Path, problems: Problems) -> tuple[Files, Path]:
    """Find the benchmark file.

    Raises:
        ReadError: There is no such file.
    """
    what = "is no file"
    try:
        path = Path(source).resolve()
        if path.is_file():
            return Files(path.parent, problems), path
        what = "is a folder" if path.is_dir() else what
    except (OSError, RuntimeError, ValueError, TypeError):
        what = "is no path"
    shown = str(source)[:_LONGEST_SHOWN]
    msg = f"{shown!r} {what}; give the path of the YAML file of a benchmark"
    raise ReadError(msg, code="no_file", path=shown, value=source)


def _contained(address: str, folder: Path, place: Place) -> Path:
    """Turn an address into the path of a file inside a folder.

    Raises:
        UnreadableError: It has another form, or leads out of the folder.
    """
    scheme = _SCHEME.match(address)
    if scheme is None or scheme[1].lower() != "file":
        text = f"{address!r} is no capability; write a mapping, or file://<path> to include one"
        raise _refused(place, "bad_include", text)
    relative = unquote(_LOCALHOST.sub("/", address[scheme.end() :]))
    if "\\" in relative or "\0" in relative or not relative:
        raise _refused(place, "bad_include", f"{address!r} is no path; use forward slashes")
    # Drives and shares are refused before anything looks at them: looking may call a host.
    if PureWindowsPath(relative).drive:
        text = f"{address!r} names a drive or a host; give a path relative to this file"
        raise _refused(place, "include_outside", text)
    try:
        path = (folder / relative).resolve()
        inside = path.is_relative_to(folder.resolve())
        found = inside and path.is_file()
    except (OSError, RuntimeError, ValueError):
        text = f"{address!r} leads nowhere; give the path of a file"
        raise _refused(place, "bad_include", text) from None
    if not inside:
        text = (
            f"{address!r} leads out of the folder of this file; included files must lie at or "
            "below it, links followed"
        )
        raise _refused(place, "include_outside", text)
    if not found:
        raise _refused(place, "no_file", f"there is no file {relative!r} at or below this one")
    return path


def _text_of(path: Path, place: Place) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        text = f"{path.name!r} cannot be read: {error.strerror}"
        raise _refused(place, "unreadable", text) from None
    if len(content) > MOST_BYTES:
        text = f"{path.name!r} is larger than {MOST_BYTES:,} bytes; split it by file:// includes"
        raise _refused(place, "too_large", text)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        text = (
            f"{path.name!r} is no UTF-8 text (byte {error.start}, in line {line}); save it as UTF-8"
        )
        raise _refused(place, "not_utf8", text) from None


def _refused(place: Place, code: str, text: str) -> UnreadableError:
    return UnreadableError(Problem(place, code, text))
