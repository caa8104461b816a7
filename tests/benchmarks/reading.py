"""Compare the reading of score tables with a polars scan, in one run: ratio, seconds, memory.

From the repository's root: ``python -m tests.benchmarks.reading``. The file has a million lines of
twelve fields, one of them nested metadata. Both sides read it in a process of their own, in turn,
after a short file that is not counted. Both give all twelve columns; the best of several turns
counts. evaltoolkit's time includes the checks of the score table, its memory is the peak of a
fresh process that does nothing else.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

ROWS = 1_000_000
TURNS = 4
RATIO, SPARE_MEGABYTES, TIMES_THE_TABLE = 1.5, 300, 2
MEGABYTE = 2**20


def write(path: Path, rows: int) -> None:
    """Write the file: two systems, five criteria, metadata with an own seed in each line."""
    rng = random.Random(0)
    topics = ("law", "maths", "history", "code")
    with path.open("w", encoding="utf-8") as lines:
        for number in range(rows):
            passed = rng.random() < 0.6
            row = {
                "run_id": f"run-{number % 2}",
                "system": ("model-a", "model-b")[number % 2],
                "task": "suite/zoo",
                "example_id": f"ex-{number // 10:07d}",
                "trial": 0,
                "criterion": f"criterion-{number % 10 // 2}",
                "scorer": "judge-1",
                "score": rng.random(),
                "label": "good" if passed else "bad",
                "passed": passed,
                "timestamp": f"2026-06-01T10:{number // 60_000 % 60:02d}:"
                f"{number // 1_000 % 60:02d}.{number % 1_000:03d}Z",
                "metadata": {
                    "topic": topics[number % 4],
                    "difficulty": number % 7,
                    "tags": ["x", "y"],
                    "generator": {"seed": number, "temperature": 0.5},
                },
            }
            lines.write(json.dumps(row) + "\n")


def read_with_polars(path: str) -> dict[str, float]:
    """Scan the file and collect all its columns."""
    import polars as pl

    pl.scan_ndjson(_first_lines(path)).collect()
    start = time.perf_counter()
    frame = pl.scan_ndjson(path).collect()
    return {"seconds": time.perf_counter() - start, "rows": len(frame)}


def read_with_evaltoolkit(path: str) -> dict[str, float]:
    """Read the file as a score table."""
    import evaltoolkit as et

    et.read_scores(_first_lines(path))
    start = time.perf_counter()
    table = et.read_scores(path)
    took = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MEGABYTE
    size = table.memory_usage(deep=True).sum() / MEGABYTE
    return {"seconds": took, "rows": len(table), "peak": peak, "table": size}


def _first_lines(path: str) -> Path:
    """Write a short file beside the long one: what is read before the clock starts."""
    with Path(path).open(encoding="utf-8") as lines:
        text = "".join(islice(lines, 100))
    short = Path(path).with_suffix(".short.jsonl")
    short.write_text(text, encoding="utf-8")
    return short


def main() -> None:
    """Measure and report; with a name and a path as arguments, do one turn of one side."""
    sides = {"polars": read_with_polars, "evaltoolkit": read_with_evaltoolkit}
    if len(sys.argv) == 3:
        _say(json.dumps(sides[sys.argv[1]](sys.argv[2])))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "scores.jsonl")
        write(path, ROWS)
        turns = [{name: _turn(name, path) for name in sides} for _ in range(TURNS)]
        size = path.stat().st_size / MEGABYTE
    best = {name: min(turn[name]["seconds"] for turn in turns) for name in sides}
    peak = max(turn["evaltoolkit"]["peak"] for turn in turns)
    table = turns[0]["evaltoolkit"]["table"]
    _say(f"{ROWS:,} rows of JSON lines, 12 fields, {size:.0f} MB")
    _say(f"polars scan: {best['polars']:.2f} s; read_scores: {best['evaltoolkit']:.2f} s")
    ratio = best["evaltoolkit"] / best["polars"]
    _say(f"  ratio {ratio:.2f} (wanted: at most {RATIO})")
    bound = TIMES_THE_TABLE * table + SPARE_MEGABYTES
    _say(f"  the table has {table:.0f} MB, peak of the process {peak:.0f} MB (wanted: {bound:.0f})")


def _turn(name: str, path: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.benchmarks.reading", name, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
