"""Tables written as JSON lines, block by block: plain lines fast, the others with care.

A block of lines becomes one frame. Its plain lines are taken apart by `plain_lines` (which needs
pyarrow); what is left, or everything where pyarrow is missing, is parsed line by line. Both ways
give the same frame. Only a few blocks are in memory at a time, however long the file is.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from evaltoolkit.errors import ReadError
from evaltoolkit.readers.base import Reading, Row, record_of
from evaltoolkit.readers.columns import frame_of, is_blank, series_of_arrow, unified
from evaltoolkit.readers.plain_lines import ROOM, Ints, PlainLines, take_apart

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_BYTES = 1 << 24
_MOST_THREADS = 4
# A block with more odd lines than this share is parsed as a whole.
_TOO_ODD = 0.5
_WITH_GAPS = {"int64": "Int64", "bool": "boolean"}
_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Block:
    """Some whole lines of a file.

    Attributes:
        content: The lines, the last one ended, and zeros behind them.
        size: How many bytes the lines have.
        number: The number of the first line, from 1.
    """

    content: bytearray
    size: int
    number: int


@dataclass(frozen=True)
class Wanted:
    """What is to be read: the file, and which columns hold times."""

    path: Path
    times: frozenset[str] = frozenset()


def cut_blocks(path: Path, *, size: int | None = None) -> Iterator[Block]:
    """Cut a file into blocks of whole lines; one line is never cut, however long it is."""
    size = min(size or BLOCK_BYTES, path.stat().st_size + 1)
    number, rest = 1, b""
    with path.open("rb", buffering=0) as stream:
        if stream.read(len(_MARK)) != _MARK:
            stream.seek(0)
        while True:
            room = max(size, 2 * len(rest))
            content = bytearray(room + ROOM)
            content[: len(rest)] = rest
            with memoryview(content) as view:
                count = stream.readinto(view[len(rest) : room]) or 0
            total = len(rest) + count
            if not count:
                break
            end = content.rfind(b"\n", 0, total) + 1
            rest = bytes(memoryview(content)[end:total])
            if end:
                content[end:total] = bytes(total - end)
                yield Block(content, end, number)
                number += content.count(b"\n", 0, end)
    if rest.strip():
        content[len(rest) : len(rest) + 1] = b"\n"
        yield Block(content, len(rest) + 1, number)


def line_frames(wanted: Wanted, reading: Reading) -> Iterator[pd.DataFrame]:
    """Give the cells of a table of JSON lines as they are, block by block.

    The index holds the number of each row's line, and the column ``source``, where the file has
    none, its place. Lines that are no JSON object go to `Reading.bad_record`.
    """
    for block, fast in _taken_apart(wanted):
        frame = _frame(block, fast, wanted.path, reading)
        if len(frame):
            if "source" not in frame.columns:
                frame["source"] = [f"{wanted.path}: line {each}" for each in frame.index]
            yield frame


def has_pyarrow() -> bool:
    """Say whether lines can be taken apart fast."""
    try:
        import pyarrow as pa  # noqa: F401 - optional and heavy
    except ImportError:
        return False
    return True


@dataclass(frozen=True)
class _Fast:
    """The plain lines of a block as a frame, and what is left of it."""

    plain: PlainLines
    frame: pd.DataFrame


def _taken_apart(wanted: Wanted) -> Iterator[tuple[Block, _Fast | None]]:
    """Look some blocks ahead, in threads: numpy and pyarrow work without Python's lock."""
    if not has_pyarrow():
        yield from ((block, None) for block in cut_blocks(wanted.path))
        return
    threads = min(_MOST_THREADS, os.cpu_count() or 1)
    ahead: deque[tuple[Block, Future[_Fast | None]]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for block in cut_blocks(wanted.path):
                ahead.append((block, pool.submit(_fast, block, wanted)))
                if len(ahead) > threads:
                    first, result = ahead.popleft()
                    yield first, result.result()
            while ahead:
                first, result = ahead.popleft()
                yield first, result.result()
        finally:
            # Where reading stops at an error nobody waits for the rest.
            pool.shutdown(wait=False, cancel_futures=True)


def _fast(block: Block, wanted: Wanted) -> _Fast | None:
    plain = take_apart(block.content, block.size)
    if plain is None or len(plain.odd) > _TOO_ODD * (len(plain.odd) + len(plain.plain)):
        return None
    return _Fast(plain, _of_arrow(plain, block.number, wanted))


def _frame(block: Block, fast: _Fast | None, path: Path, reading: Reading) -> pd.DataFrame:
    if fast is None:
        return _parsed(block, None, path, reading)[0]
    if len(fast.plain.odd) == 0:
        return fast.frame
    before = len(reading.problems)
    slow, first = _parsed(block, fast.plain.odd, path, reading)
    if len(slow) == 0:
        return fast.frame
    if "source" not in fast.plain.first:
        slow["source"] = [f"{path}: line {each}" for each in slow.index]
    merged = _merged(fast, slow, first, block.size)
    if merged is None:
        # A column of several kinds of values: they must be kept as they are, all of them.
        del reading.problems[before:]
        merged = _parsed(block, None, path, reading)[0]
    return merged


def _of_arrow(plain: PlainLines, number: int, wanted: Wanted) -> pd.DataFrame:
    import pyarrow as pa

    numbers = plain.plain + number
    whole = len(numbers) > 0 and len(numbers) == numbers[-1] - numbers[0] + 1
    index = pd.RangeIndex(int(numbers[0]), int(numbers[-1]) + 1) if whole else pd.Index(numbers)
    cells = {
        name: _as_time(values) if name in wanted.times else values
        for name, values in plain.columns.items()
    }
    cells.setdefault("source", _sources(wanted.path, numbers))
    series = {
        name: series_of_arrow(pa.chunked_array([values]), index) for name, values in cells.items()
    }
    return pd.DataFrame(series, index=index)


def _as_time(values: pa.Array) -> pa.Array:
    """Read times where all are complete, with a zone; others are left as text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_large_string(values.type):
        return values
    try:
        return pc.cast(values, pa.timestamp("us", "UTC"))
    except pa.ArrowInvalid:
        return values


def _sources(path: Path, numbers: Ints) -> pa.Array:
    """Say for each row which line of which file it came from."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.cast(pa.array(numbers), pa.large_string())
    start = pa.scalar(f"{path}: line ", pa.large_string())
    return pc.binary_join_element_wise(start, text, pa.scalar("", pa.large_string()))


def _parsed(
    block: Block, lines: Ints | None, path: Path, reading: Reading
) -> tuple[pd.DataFrame, dict[str, tuple[int, int]]]:
    """Parse lines one by one; also say where each key first occurs."""
    texts = bytes(memoryview(block.content)[: block.size]).split(b"\n")
    rows: list[Row] = []
    numbers: list[int] = []
    first: dict[str, tuple[int, int]] = {}
    for offset in range(len(texts) - 1) if lines is None else lines.tolist():
        text = texts[offset]
        if not text.strip():
            continue
        record = f"line {block.number + offset}"
        try:
            row = record_of(text, path, record)
        except ReadError as error:
            reading.bad_record(path, record, error)
            continue
        rows.append(row)
        numbers.append(block.number + offset)
        if not row.keys() <= first.keys():
            for place, name in enumerate(row):
                first.setdefault(name, (offset, place))
    return frame_of(rows, numbers), first


def _merged(
    fast: _Fast, slow: pd.DataFrame, slow_first: dict[str, tuple[int, int]], end: int
) -> pd.DataFrame | None:
    """Put both kinds of lines together; None where a column has different kinds in them."""
    first = {**slow_first, **fast.plain.first}
    first |= {name: min(each, slow_first.get(name, each)) for name, each in first.items()}
    names = sorted(fast.frame.columns.union(slow.columns), key=lambda n: first.get(n, (end, 0)))
    parts = [_with_columns(each, names) for each in (fast.frame, slow)]
    wanted: dict[str, str] = {}
    for name in names:
        columns = [part[name] for part in parts]
        kinds = {_WITH_GAPS.get(str(c.dtype), str(c.dtype)) for c in columns if not is_blank(c)}
        if len(kinds) > 1:
            return None
        dtype = unified(columns)
        if dtype is not None:
            wanted[name] = dtype
    return pd.concat([part.astype(wanted) for part in parts]).sort_index()


def _with_columns(frame: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    none = pd.Series([None] * len(frame), index=frame.index, dtype=object)
    return pd.DataFrame({name: frame.get(name, none) for name in names}, index=frame.index)
