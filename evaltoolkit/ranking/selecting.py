"""Which rows of a score table are ranked: one criterion, one scorer, chosen systems and tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from evaltoolkit.errors import PairingError, listed
from evaltoolkit.measurements import rows_named

Names = str | Iterable[str] | None


def select_rows(
    table: pd.DataFrame, *, criterion: str, scorer: str | None, task: Names, systems: Names
) -> tuple[pd.DataFrame, list[str]]:
    """Keep the rows to rank by, and name the systems in alphabetical order.

    Raises:
        PairingError: An unknown name, fewer than two systems, or a choice that is left open
            (several tasks or scorers).
    """
    rows = rows_named(table, "criterion", [str(criterion)])
    chosen = _several(systems, "systems") or sorted(rows["system"].unique())
    rows = rows_named(rows, "system", chosen)
    tasks = _several(task, "task")
    rows = rows_named(rows, "task", tasks) if tasks else _only(rows, "task", _TASKS)
    rows = rows_named(rows, "scorer", [scorer]) if scorer else _only(rows, "scorer", _SCORERS)
    absent = sorted(set(chosen) - set(rows["system"]))
    if absent:
        raise PairingError(
            f"no row of the chosen criterion, task and scorer is of the system {listed(absent)}; "
            "leave it out with systems=[...], or see et.coverage(scores)",
            code="unmeasured_system",
            path="systems",
            value=absent,
        )
    if len(chosen) < 2:
        raise PairingError(
            f"only {listed(chosen)} is there to rank; a ranking needs two systems at least",
            code="one_system",
            path="systems",
            value=chosen,
        )
    return rows, sorted(chosen)


_TASKS = "name one with task=..., or several with task=[...] to rank over all their examples"
_SCORERS = "they may measure different things, so name one with scorer=..."


def _several(names: Names, path: str) -> list[str]:
    """Accept one name or several, each once."""
    if names is None:
        return []
    given = [names] if isinstance(names, str) else [str(name) for name in names]
    repeated = sorted({name for name in given if given.count(name) > 1})
    if repeated or not given:
        what = f"{path} names {listed(repeated)} twice" if given else f"{path} is an empty list"
        raise PairingError(
            f"{what}; name each once, or leave the argument out to take all",
            code="bad_option",
            path=path,
            value=given,
        )
    return given


def _only(rows: pd.DataFrame, column: str, remedy: str) -> pd.DataFrame:
    known = sorted(rows[column].unique())
    if len(known) > 1:
        raise PairingError(
            f"the criterion has {len(known)} {column}s ({listed(known)}); {remedy}",
            code=f"several_{column}s",
            path=column,
            value=known,
        )
    return rows


def check_absolute(rows: pd.DataFrame, systems: Sequence[str]) -> str | None:
    """Return the common opponent of pairwise rows; None where rows are absolute.

    Raises:
        PairingError: Systems were judged against different opponents.
    """
    against = rows["versus"].dropna().unique()
    if not len(against):
        return None
    if len(against) == 1 and rows["versus"].notna().all() and against[0] not in systems:
        return str(against[0])
    raise PairingError(
        f"the criterion has rows against different opponents ({listed(sorted(against))}); their "
        "means are no common measure. Use et.rank_preferences for such judgements, or keep the "
        "absolute rows: scores[scores.versus.isna()]",
        code="pairwise_rows",
        path="versus",
        value=sorted(against),
    )
