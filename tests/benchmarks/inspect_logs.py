"""Compare the reading of an Inspect log with inspect_ai's own frame of samples, in one run.

From the repository's root, where inspect_ai is installed beside this package:
``python -m tests.benchmarks.inspect_logs``. The log has 4,000 samples, each scored by a dictionary
of four numbers. evaltoolkit's time gives one row for each number; inspect_ai's leaves the
dictionaries in one column. Where inspect_ai is missing only the first is measured.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

SAMPLES = 4_000
KEYS = ("clarity", "depth", "style", "truth")
TURNS = 3
CREATED = "2026-06-01T10:00:00+00:00"


def write(path: Path, samples: int = SAMPLES) -> None:
    """Write a log with its header, journal and samples, as inspect_ai lays it out."""
    evaluation = {
        "eval_id": "bench",
        "run_id": "bench",
        "created": CREATED,
        "task": "bench",
        "task_id": "bench",
        "task_version": 0,
        "model": "mockllm/model",
        "dataset": {"name": "bench", "samples": samples},
        "config": {"epochs": 1},
        "packages": {},
    }
    plan = {"name": "plan", "steps": []}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        start = {"version": 2, "eval": evaluation, "plan": plan}
        archive.writestr("_journal/start.json", json.dumps(start))
        for number in range(samples):
            archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(_sample(number)))
        header = {**start, "status": "success", "stats": {}, "results": {"scores": []}}
        archive.writestr("header.json", json.dumps(header))


def _sample(number: int) -> dict[str, object]:
    answer = f"answer {number} " * 40
    return {
        "id": number,
        "epoch": 1,
        "input": f"question {number} " * 20,
        "target": "yes",
        "messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": answer}],
        "output": {"model": "mockllm/model", "choices": []},
        "scores": {"judge": {"value": {key: (number + i) % 5 for i, key in enumerate(KEYS)}}},
        "metadata": {"topic": "law" if number % 2 else "art"},
        "store": {},
        "events": [],
        "attachments": {},
    }


def _with_evaltoolkit(path: Path) -> int:
    import evaltoolkit as et

    return len(et.read_scores(path))


def _with_inspect(path: Path) -> int:
    from inspect_ai.analysis import samples_df

    return len(samples_df(str(path), full=True))


def best_time(read: Callable[[Path], int], path: Path) -> float:
    """Time a reading several times, the first turn not counted."""
    times = []
    for _ in range(TURNS + 1):
        begin = time.perf_counter()
        read(path)
        times.append(time.perf_counter() - begin)
    return min(times[1:])


def main() -> int:
    """Measure and write the figures to the terminal."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "bench.eval")
        write(path)
        rows = _with_evaltoolkit(path)
        own = best_time(_with_evaltoolkit, path)
        sys.stdout.write(f"evaltoolkit: {own:.2f} s for {rows:,} rows\n")
        try:
            other = best_time(_with_inspect, path)
        except ImportError:
            sys.stdout.write("inspect_ai is not installed: nothing to compare with\n")
            return 0
        sys.stdout.write(f"inspect_ai:  {other:.2f} s for {SAMPLES:,} samples\n")
        sys.stdout.write(f"ratio {own / other:.2f} (promise: below 1)\n")
        return int(own >= other)


if __name__ == "__main__":
    sys.exit(main())
