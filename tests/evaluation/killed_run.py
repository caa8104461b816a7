"""A run that is meant to be killed: each call of the system is logged before it is answered.

``python killed_run.py FOLDER LOG``; the test starts it again until it has finished.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from typing import Any

from evaltoolkit.evaluation import evaluate
from evaltoolkit.models import Example, Output
from evaltoolkit.scorers import ExactMatch, Levenshtein

COUNT = 1_000
TRIALS = 2


def items() -> list[Example]:
    return [
        Example(id=n, input=f"question {n}", reference=f"answer {n % 7}", attributes={"n": n % 3})
        for n in range(COUNT)
    ]


def result(folder: str | None, log: str | None) -> Any:
    file = None if log is None else os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    async def system(example: Example, trial: int) -> Output:
        if file is not None:
            os.write(file, f"{example.id} {trial}\n".encode())
            await asyncio.sleep(0.002)
        number = int(example.id)
        if number % 50 == 0:
            raise TimeoutError("upstream")
        return Output(text=f"answer {(number + trial) % 7}", tokens_in=number, latency_s=0.25)

    def slow(output: Output) -> float:
        if file is not None:
            time.sleep(0.0005)
        return float(len(str(output.text)))

    return evaluate(
        items(),
        {"sut": system},
        [ExactMatch(), Levenshtein(), slow],
        trials=TRIALS,
        folder=folder,
        run_id="killed",
        progress=False,
        timeout=30,
    )


if __name__ == "__main__":
    result(sys.argv[1], sys.argv[2])
