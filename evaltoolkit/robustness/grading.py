"""Tests of paired grades: is the distribution of grades the same, do grades change evenly?"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from evaltoolkit import stats
from evaltoolkit.comparison.estimates import Sample
from evaltoolkit.robustness.answers import Answer

MAX_GRADES = 7
"""With more grades the square table has too many cells for chi-square tests."""

SHARES = "shares of the grades (no direction)"
SYMMETRY = "symmetry of the table of grades (no direction)"

FEW_MOVED = 5
"""Chi-square needs about this many examples for every pair of grades that examples move between."""


def grade_answers(sample: Sample) -> Iterator[Answer]:
    """Ask the tests of graded outcomes, where they apply.

    They need an ordinal criterion with three to seven grades, one trial for each example and
    independent examples.
    """
    if sample.criterion.kind != "ordinal" or sample.design != "plain" or not sample.single_trial:
        return
    table = grade_table(sample)
    if not 3 <= len(table) <= MAX_GRADES:
        return
    note = _moved_note(table)
    tests = {
        "stuart_maxwell": (SHARES, stats.marginal_homogeneity(table)),
        "bhapkar": (SHARES, stats.marginal_homogeneity(table, method="bhapkar")),
        "bowker": (SYMMETRY, stats.bowker(table)),
    }
    for method, (estimand, found) in tests.items():
        singular = "" if not math.isnan(found.p_value) else "not defined: singular table of grades"
        yield Answer(method, estimand, math.nan, p_value=found.p_value, note=singular or note)


def grade_table(sample: Sample) -> NDArray[np.int64]:
    """Count the pairs with each grade of the baseline (rows) and the candidate (columns)."""
    both = stats.merge_near(np.concatenate([sample.baseline, sample.candidate]))
    grades, codes = np.unique(both, return_inverse=True)
    old, new = codes[: sample.n], codes[sample.n :]
    counts = np.bincount(old * grades.size + new, minlength=grades.size**2)
    return counts.reshape(grades.size, grades.size).astype(np.int64)


def _moved_note(table: NDArray[np.int64]) -> str:
    moved = (table + table.T)[np.triu_indices(len(table), k=1)]
    thin = int(np.count_nonzero((moved > 0) & (moved < FEW_MOVED)))
    if not thin:
        return ""
    return f"{thin} of the pairs of grades with fewer than {FEW_MOVED} moves: chi-square is rough"
