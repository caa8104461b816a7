"""Which rows an analysis of trials is about."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evaltoolkit.errors import PairingError
from evaltoolkit.measurements import Runs, resolve_runs, rows_named
from evaltoolkit.scores import check_scores

UNIT = ["task", "example_id"]
HYPOTHESIS = ["task", "criterion", "scorer"]
POOLED = "(pooled)"

Names = str | Sequence[str] | None


def select_rows(
    scores: pd.DataFrame, *, systems: Names, criteria: Names, scorers: Names, runs: Runs
) -> pd.DataFrame:
    """Keep the rows of some systems, criteria and scorers; pairwise judgements are left out.

    Raises:
        SchemaError: The table breaks a rule.
        PairingError: An unknown name, or no row is left.
    """
    rows = check_scores(scores)
    rows = rows[rows["versus"].isna()]
    if rows.empty:
        raise PairingError(
            "the table has no row that judges a system by itself (pairwise rows, with versus, "
            "have no trials to pass)",
            code="no_rows",
        )
    for column, names in (("system", systems), ("criterion", criteria), ("scorer", scorers)):
        rows = _named(rows, column, names)
    return resolve_runs(rows, runs=runs)


def _named(rows: pd.DataFrame, column: str, names: Names) -> pd.DataFrame:
    if names is None:
        return rows
    wanted = [names] if isinstance(names, str) else [str(name) for name in names]
    if not wanted:
        raise PairingError(
            f"an empty list of {column} names selects nothing; leave it out to take all",
            code="bad_option",
            path=column,
            value=names,
        )
    return rows_named(rows, column, wanted, where="no row that is left")


def two_systems(baseline: str | None, candidate: str | None) -> tuple[str, str] | None:
    """Resolve ``baseline=`` and ``candidate=``, which come together or not at all.

    Raises:
        PairingError: Only one is given, or both are the same.
    """
    if baseline is None and candidate is None:
        return None
    if baseline is None or candidate is None:
        missing = "baseline" if baseline is None else "candidate"
        raise PairingError(
            f"{missing} is missing; a difference needs both baseline= and candidate=",
            code="missing_option",
            path=missing,
        )
    if baseline == candidate:
        raise PairingError(
            f"baseline and candidate are both {baseline!r}; name two different systems",
            code="same_system",
            value=baseline,
        )
    return str(baseline), str(candidate)


def whole_numbers(name: str, given: int | Sequence[int]) -> list[int]:
    """Resolve one number or several to a sorted list of whole numbers from 1.

    Raises:
        PairingError: There is none, or one is no whole number from 1.
    """
    values = list(given) if isinstance(given, Sequence) else [given]
    for value in values:
        if not _is_count(value):
            raise PairingError(
                f"{name} has {value!r}; it must be a whole number from 1",
                code="bad_option",
                path=name,
                value=value,
            )
    if not values:
        raise PairingError(
            f"{name} is empty; name a number from 1", code="bad_option", path=name, value=given
        )
    return sorted({int(value) for value in values})


def _is_count(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return False
    return bool(value >= 1)
