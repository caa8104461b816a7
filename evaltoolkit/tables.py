"""Tables for reading: what became of each single example."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit.errors import SchemaError, nearest
from evaltoolkit.results.breakdowns import Breakdown
from evaltoolkit.schema import STATUSES
from evaltoolkit.scores import check_scores

MARKS = {
    "passed": "\u2713",
    "failed": "\u2717",
    "unscored": "\u2013",
    "scorer_error": "! scorer",
    "system_error": "! system",
}
"""The marks of a breakdown; a score without a verdict stands as a number."""

_LONGEST_REASON = 80
_LONGEST_NAME = 40
_LEGEND = (
    "\u2713 passed, \u2717 not passed, a number alone: scored without a verdict, \u2013 unscored, "
    "! scorer: the measurement broke, ! system: the system broke."
)
_COLUMN_KEY = ("run_id", "system", "criterion", "scorer", "versus")


def examples(
    scores: pd.DataFrame,
    *,
    criteria: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    only_failures: bool = False,
) -> Breakdown:
    """Show what became of each example, with a mark for every system and criterion.

    Args:
        scores: A score table, such as ``.scores`` of `evaltoolkit.evaluate`.
        criteria: Only these criteria, in this order.
        systems: Only these systems, in this order.
        only_failures: Leave out examples where everything was passed or scored without a
            verdict.

    Returns:
        A `Breakdown`: print it, show it in a notebook, or take its ``table`` (tidy) or ``wide``.

    Raises:
        SchemaError: The table breaks a rule, or it has no such criterion or system.

    Example:
        >>> table = pd.DataFrame({"system": "m", "example_id": [1, 2], "criterion": "exact",
        ...     "score": [1.0, None], "passed": [True, None], "status": ["scored", "system_error"],
        ...     "message": [None, "TimeoutError: 5 s"]})
        >>> print(examples(table))  # doctest: +ELLIPSIS
        example  exact     why
        -------  --------  ------------------------
        1        ✓
        2        ! system  exact: TimeoutError: 5 s
        ✓ passed, ✗ not passed, ...
    """
    table = check_scores(scores)
    table = _chosen(table, "criterion", criteria)
    table = _chosen(table, "system", systems)
    tidy = table[["task", "example_id", "trial", *_COLUMN_KEY, "score", "passed", "status"]]
    tidy = tidy.assign(
        message=table["message"], column=_columns(table), mark=[_mark(r) for r in _rows(table)]
    )
    wide = _wide(tidy, only_failures=only_failures)
    counts = table["status"].value_counts()
    settings = {
        "criteria": list(dict.fromkeys(table["criterion"])),
        "systems": list(dict.fromkeys(table["system"])),
        "only_failures": only_failures,
        **{status: int(counts.get(status, 0)) for status in STATUSES},
    }
    return Breakdown(tidy, settings, _LEGEND, "", wide=wide)


def _chosen(table: pd.DataFrame, name: str, wanted: Sequence[str] | None) -> pd.DataFrame:
    if wanted is None:
        return table
    names = [wanted] if isinstance(wanted, str) else [str(each) for each in wanted]
    known = set(table[name])
    unknown = [each for each in names if each not in known]
    if unknown:
        raise SchemaError(
            f"the table has no {name} {unknown[0]!r}; {nearest(unknown[0], known)}",
            code=f"unknown_{name}",
            path=name,
            value=unknown,
        )
    order = {each: place for place, each in enumerate(names)}
    kept = table[table[name].isin(names)]
    places = kept[name].map(order)
    return kept.iloc[places.argsort(kind="stable")].reset_index(drop=True)


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.to_dict("records")  # type: ignore[assignment]
    return rows


def _mark(row: dict[str, Any]) -> str:
    if row["status"] != "scored":
        return MARKS[str(row["status"])]
    score = float(row["score"])
    number = fmt.format_number(score, decimals=0 if score.is_integer() else 2)
    if pd.isna(row["passed"]):
        return number
    mark = MARKS["passed" if row["passed"] else "failed"]
    return mark if score == float(bool(row["passed"])) else f"{mark} {number}"


def _columns(table: pd.DataFrame) -> list[str]:
    """Name the column of each row by what tells it from the others."""
    several = [name for name in _COLUMN_KEY if name == "criterion" or _tells_apart(table, name)]
    return [
        " / ".join(_one_line(row[name], _LONGEST_NAME) for name in several if not _blank(row[name]))
        for row in _rows(table[list(_COLUMN_KEY)])
    ]


def _tells_apart(table: pd.DataFrame, name: str) -> bool:
    if name in ("run_id", "system"):
        return bool(table[name].nunique() > 1)
    within = ["run_id", "system", "task", "example_id", "trial", "criterion"]
    return bool(table.groupby(within)[name].nunique(dropna=False).gt(1).any())


def _blank(value: object) -> bool:
    return value == "" or (isinstance(value, float) and math.isnan(value))


def _wide(tidy: pd.DataFrame, *, only_failures: bool) -> pd.DataFrame:
    keys = ["task", "example_id", "trial"]
    rows: dict[tuple[Any, ...], dict[str, str]] = {}
    reasons: dict[tuple[Any, ...], dict[str, list[str]]] = {}
    for row in _rows(tidy):
        key = tuple(row[name] for name in keys)
        rows.setdefault(key, {})[row["column"]] = row["mark"]
        if _is_no_pass(row):
            texts = reasons.setdefault(key, {})
            if isinstance(row["message"], str):
                message = _one_line(row["message"], _LONGEST_REASON)
                texts.setdefault(message, []).append(row["column"])
    shown = [key for key in rows if not only_failures or key in reasons]
    columns = list(dict.fromkeys(tidy["column"]))
    cells = {
        "task": [_one_line(key[0], _LONGEST_NAME) for key in shown],
        "example": [_one_line(key[1], _LONGEST_NAME) for key in shown],
        "trial": [str(key[2]) for key in shown],
        **{f" {name}": [rows[key].get(name, "") for key in shown] for name in columns},
        "why": [_why(reasons.get(key, {})) for key in shown],
    }
    wide = pd.DataFrame(cells).rename(columns=lambda name: name.removeprefix(" "))
    single = [n for n in ("task", "trial") if tidy[n].nunique() <= 1]
    keep = [
        place
        for place, name in enumerate(cells)
        if name not in single and not (name == "why" and not any(reasons.values()))
    ]
    return wide.iloc[:, keep]


def _is_no_pass(row: dict[str, Any]) -> bool:
    """Whether a measurement is neither passed nor scored without a verdict."""
    return row["status"] != "scored" or not (pd.isna(row["passed"]) or row["passed"])


def _why(texts: dict[str, list[str]]) -> str:
    """Say each message once, after the columns that it explains."""
    return "; ".join(f"{', '.join(columns)}: {message}" for message, columns in texts.items())


def _one_line(text: object, limit: int) -> str:
    line = " ".join(str(text)[: 4 * limit].split())
    plain = "".join(char if char.isprintable() else "?" for char in line)
    return plain if len(plain) <= limit else plain[: limit - 1] + "\u2026"
