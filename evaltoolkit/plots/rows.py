"""Which hypotheses a chart shows, in which order, and what each is called on it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import pandas as pd

from evaltoolkit import wording
from evaltoolkit.errors import EvalToolkitError, listed, nearest
from evaltoolkit.plots import text
from evaltoolkit.results import Comparison

MOST_ROWS = 150
"""More rows cannot be read on one sheet."""

ORDERS = ("delta", "table")
HYPOTHESIS = ["task", "criterion", "scorer"]
_NAMES = (*HYPOTHESIS, "slice_by", "slice")

Slices = bool | str | None


def check_result(result: object) -> Comparison:
    """Return the result, or say what was expected.

    Raises:
        EvalToolkitError: It is no comparison.
    """
    if isinstance(result, Comparison):
        return result
    raise EvalToolkitError(
        f"result is a {type(result).__name__}; it must be a Comparison as `compare` returns it",
        code="not_a_comparison",
        path="result",
        value=type(result).__name__,
    )


def chosen_rows(result: Comparison, slices: Slices = None) -> pd.DataFrame:
    """Choose the rows of the table that a chart shows.

    Args:
        result: A comparison.
        slices: ``None``: the overall rows, or the slices where there is nothing else. ``False``:
            overall rows only. ``True``: each overall row followed by its slices. A name: the same
            with the slices by that attribute only.

    Raises:
        EvalToolkitError: There is no such row.
    """
    table = wording.with_flags(result.table)
    is_slice = table["slice_by"].notna()
    if slices is None:
        chosen = table[~is_slice] if (~is_slice).any() else table
    elif slices is False:
        chosen = table[~is_slice]
    else:
        wanted = is_slice if slices is True else table["slice_by"] == slices
        _check_slices(table, wanted, slices)
        chosen = table[~is_slice | wanted]
    if chosen.empty:
        raise EvalToolkitError(
            "the comparison has no rows to draw; compare at least one criterion of two systems",
            code="nothing_to_draw",
            path="result.table",
        )
    return chosen


def _check_slices(table: pd.DataFrame, wanted: pd.Series, slices: Slices) -> None:
    if wanted.any():
        return
    known = table["slice_by"].dropna().unique()
    hint = nearest(slices, known) if len(known) else "compare with by=[...] to get slices"
    raise EvalToolkitError(
        f"slices is {slices!r}, but the comparison has no such slices; {hint}",
        code="unknown_slices",
        path="slices",
        value=slices,
    )


def ordered(rows: pd.DataFrame, order: str) -> pd.DataFrame:
    """Sort rows by difference or leave them as in the table; slices stay with their hypothesis.

    Args:
        rows: Rows of a comparison's table.
        order: ``delta`` (largest difference first, missing ones last) or ``table``.

    Raises:
        EvalToolkitError: The order is unknown.
    """
    if order not in ORDERS:
        raise EvalToolkitError(
            f"order is {order!r}; it must be one of {listed(ORDERS)}",
            code="unknown_order",
            path="order",
            value=order,
        )
    if order == "delta":
        rows = rows.sort_values("delta", ascending=False, kind="stable", na_position="last")
    if rows["slice_by"].isna().all():
        return rows
    groups = rows.groupby(HYPOTHESIS, sort=False)
    first = {key: i for i, key in enumerate(_leaders(rows, groups.groups.keys()))}
    place = [first[key] for key in rows[HYPOTHESIS].itertuples(index=False, name=None)]
    keyed = rows.assign(_place=place, _by=rows["slice_by"].fillna("").astype(str))
    keyed = keyed.sort_values(["_place", "_by"], kind="stable")
    return keyed.drop(columns=["_place", "_by"])


def _leaders(rows: pd.DataFrame, every: Iterable[Hashable]) -> list[Hashable]:
    """List the hypotheses, those with an overall row in its order first."""
    overall = rows[rows["slice_by"].isna()]
    leading = list(overall[HYPOTHESIS].itertuples(index=False, name=None))
    return [*leading, *(key for key in every if key not in set(leading))]


def most_telling(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep as many rows as a sheet can hold: those with the smallest adjusted p, in place."""
    if len(rows) <= MOST_ROWS:
        return rows
    rank = rows["p_adjusted"].rank(method="first", na_option="bottom")
    return rows[rank <= MOST_ROWS]


def named(rows: pd.DataFrame) -> pd.DataFrame:
    """Add the columns ``name`` (in full) and ``shown`` (drawable, as short as is clear).

    ``identity`` is what ``shown`` stands for, before characters that cannot be drawn are lost.

    A slice below its overall row is called by the slice alone.
    """
    several_tasks = len(rows["task"].unique()) > 1
    has_overall = set(_leaders(rows, ()))
    names, shown, identities = [], [], []
    for row in wording.rows_of(rows):
        names.append(text.clean(wording.label(row)))
        below = _is_slice(row) and tuple(row[key] for key in HYPOTHESIS) in has_overall
        shown.append(slice_name(row) if below else short_name(row, several_tasks=several_tasks))
        identities.append(f"{row['slice_by']} = {row['slice']}" if below else names[-1])
    return rows.assign(name=names, shown=shown, identity=identities)


def _is_slice(row: wording.Row) -> bool:
    return isinstance(row["slice_by"], str)


def slice_name(row: wording.Row) -> str:
    """Name a slice by attribute and value."""
    return f"{text.isolated(row['slice_by'])} = {text.isolated(row['slice'])}"


def short_name(row: wording.Row, *, several_tasks: bool) -> str:
    """Name a hypothesis with drawable text; the task only where there are several."""
    safe: dict[Hashable, Any] = dict(row)
    for key in _NAMES:
        safe[key] = text.isolated(row[key]) if isinstance(row[key], str) else row[key]
    safe["show_task"] = several_tasks
    return wording.label(safe)
