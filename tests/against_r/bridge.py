"""To R and back: tables of numbers as text, one call for all methods."""

from __future__ import annotations

import csv
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.against_r.draws import Arguments

SCRIPT = Path(__file__).with_name("methods.R")
HEADER = ("method", "case", "name", "numbers")

Answers = dict[str, dict[int, dict[str, np.ndarray]]]
"""Method, number of the data set, name of the result: its numbers."""


def ask_r(data_sets: Mapping[str, Sequence[Arguments]], folder: Path) -> Answers:
    """Compute every method on its data sets with one R process."""
    inputs, results = folder / "inputs.tsv", folder / "results.tsv"
    lines = [
        "\t".join((method, str(case), name, _text(numbers)))
        for method, cases in data_sets.items()
        for case, arguments in enumerate(cases)
        for name, numbers in arguments.items()
    ]
    inputs.write_text("\n".join(("\t".join(HEADER), *lines)) + "\n", encoding="ascii")
    command = ["Rscript", "--vanilla", str(SCRIPT), str(inputs), str(results)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    return _read(results)


def _text(numbers: Any) -> str:
    values = np.atleast_1d(np.asarray(numbers, dtype=np.float64))
    return " ".join("NA" if np.isnan(value) else f"{value:.17g}" for value in values)


def _read(path: Path) -> Answers:
    answers: Answers = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            assert row["name"] != "error", row
            numbers = [float("nan" if x == "NA" else x) for x in row["numbers"].split(" ")]
            of_method = answers.setdefault(row["method"], {})
            of_method.setdefault(int(row["case"]), {})[row["name"]] = np.array(numbers)
    return answers
