"""From what a user passes (path, glob, folder or a list of those) to the files to look at."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from evaltoolkit.errors import EvalToolkitError, ReadError, nearest

Place = str | Path
"""A path or a glob pattern."""

_NEVER_ENTERED = frozenset(
    {".git", ".hg", ".venv", ".tox", ".ipynb_checkpoints", "__pycache__", "node_modules"}
)
_GLOB_CHARACTERS = frozenset("*?[")
_NOTE_SUFFIX = "-metadata.json"
_RUN_NOTE = "run.json"
_RUN_NOTE_START = b'{\n "evaltoolkit_run"'


@dataclass(frozen=True)
class Found:
    """A file or run directory to read; ``named`` when the user named this very path."""

    path: Path
    named: bool


def find_sources(source: Place | Iterable[Place], *, is_run: Callable[[Path], bool]) -> list[Found]:
    """List the files behind a source, in a fixed order.

    Args:
        source: A path, a glob pattern, a folder (searched to the bottom) or a list of those;
            ``~`` stands for the home folder.
        is_run: Whether a folder is a run directory, which is read as one.

    Returns:
        Files in sorted order within each part of the source.

    Raises:
        ReadError: A path does not exist, a pattern matches nothing, a folder is empty, or a
            file is reached twice.
    """
    found = [item for part in _parts(source) for item in _expand(part, is_run)]
    _refuse_repeats(found)
    return found


def _parts(source: Place | Iterable[Place]) -> list[Place]:
    if isinstance(source, str | Path):
        return [source]
    parts = list(source) if isinstance(source, list | tuple | set | Iterator) else []
    strange = [part for part in parts if not isinstance(part, str | Path)]
    if strange or not parts:
        wrong = strange[0] if strange else source
        what = "empty" if not strange and isinstance(source, list | tuple | set) else "no path"
        raise EvalToolkitError(
            f"source is {what} ({type(wrong).__name__}); give a path, a glob pattern, a folder or "
            "a list of those (a DataFrame becomes a score table by evaltoolkit.tidy_scores)",
            code="bad_source",
            path="source",
        )
    return parts


def _expand(part: Place, is_run: Callable[[Path], bool]) -> Iterator[Found]:
    path = Path(part).expanduser()
    if path.is_dir():
        yield from _folder(path, is_run, named=True)
    elif path.is_file():
        yield Found(path, named=True)
    elif _GLOB_CHARACTERS & set(str(path)):
        yield from _pattern(path, is_run)
    else:
        raise ReadError(
            f"{path}: there is no such file or folder; {_neighbours(path)}",
            code="file_not_found",
            path=str(path),
        )


def _pattern(path: Path, is_run: Callable[[Path], bool]) -> Iterator[Found]:
    matches = sorted(Path(name) for name in glob.glob(str(path), recursive=True))
    if not matches:
        fixed = Path(*_before_glob(path))
        raise ReadError(
            f"the pattern {str(path)!r} matches no file; {_neighbours(fixed / path.name)}",
            code="nothing_matches",
            path=str(path),
        )
    inside = [match for match in matches if not any(p in matches for p in match.parents)]
    for match in inside:
        if match.is_dir():
            yield from _folder(match, is_run, named=False)
        elif not _is_note(match):
            yield Found(match, named=False)


def _before_glob(path: Path) -> Iterator[str]:
    for part in path.parts[:-1]:
        if _GLOB_CHARACTERS & set(part):
            return
        yield part


def _folder(path: Path, is_run: Callable[[Path], bool], *, named: bool) -> Iterator[Found]:
    if is_run(path):
        yield Found(path, named=named)
        return
    files = [Found(file, named=False) for file in _walk(path, is_run)]
    if not files and named:
        raise ReadError(
            f"{path}: the folder holds no files; give the folder that the results were written to",
            code="empty_folder",
            path=str(path),
        )
    yield from files


def _walk(folder: Path, is_run: Callable[[Path], bool]) -> Iterator[Path]:
    for entry in sorted(folder.iterdir()):
        if entry.is_dir():
            # A link could lead out of the folder or back into it.
            if entry.name in _NEVER_ENTERED or entry.is_symlink():
                continue
            if is_run(entry):
                yield entry
            else:
                yield from _walk(entry, is_run)
        elif entry.is_file() and not entry.name.startswith(".") and not _is_note(entry):
            yield entry


def _is_note(path: Path) -> bool:
    """Whether it is what this library puts beside a table: dtypes, or how a run was made."""
    if path.name == _RUN_NOTE:
        return _starts_with(path, _RUN_NOTE_START)
    return (
        path.name.endswith(_NOTE_SUFFIX)
        and path.with_name(path.name.removesuffix(_NOTE_SUFFIX)).exists()
    )


def _starts_with(path: Path, start: bytes) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(start)) == start
    except OSError:
        return False


def _neighbours(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f"its folder {str(folder)!r} does not exist either; check the path"
    names = sorted(entry.name for entry in folder.iterdir())
    return f"in the folder {str(folder)!r}: {nearest(path.name, names)}"


def _refuse_repeats(found: list[Found]) -> None:
    seen: set[Path] = set()
    for item in found:
        path = item.path.resolve()
        if path in seen:
            raise ReadError(
                f"{item.path}: reached twice by the given source; its rows would count double, "
                "so name each file once",
                code="file_twice",
                path=str(item.path),
            )
        seen.add(path)
