"""`require_all`: whether an answer passed everything, as a criterion of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evaltoolkit.composites.carried_over import (
    check_new_name,
    check_one_form,
    codes_of_measurements,
    one_row_each,
)
from evaltoolkit.errors import SchemaError, nearest
from evaltoolkit.schema import STATUS_DTYPE
from evaltoolkit.scores import check_scores

SCORER = "passed everything"
"""The scorer of such a composite."""


def require_all(
    scores: pd.DataFrame,
    *,
    criteria: Sequence[str] | None = None,
    name: str = "all_passed",
    keep: bool = True,
) -> pd.DataFrame:
    """Ask whether each answer passed all that it was judged by: 1 or 0.

    One verdict "not passed" settles it: 0. An answer that passed everything gets 1. Where a
    verdict is missing and none is "not passed", the answer is open: it takes the status of its
    worst part (system_error > scorer_error > unscored), and a score without a verdict counts as
    unscored. An answer is only judged by the criteria that have a row for it, so examples may
    have different ones.

    The composite is an ordinary criterion: ``summarise(require_all(scores), by="topic")`` gives
    rates with intervals, ``compare`` tests the change of the rate.

    Args:
        scores: A score table with verdicts (``passed``), such as that of `evaluate`.
        criteria: The criteria that count; by default all.
        name: Name of the new criterion.
        keep: Append the composite to the table; else return it alone.

    Returns:
        A checked score table; the message says what was not passed or is open.

    Raises:
        SchemaError: The table breaks a rule, a name is unknown or taken, or no verdict is there.

    Example:
        >>> table = pd.DataFrame({"system": "a", "example_id": [1, 1, 2, 2],
        ...     "criterion": ["correct", "polite"] * 2, "score": [1.0, 1.0, 1.0, 0.0],
        ...     "passed": [True, True, True, False]})
        >>> both = require_all(table, keep=False)
        >>> both[["example_id", "score"]].values.tolist(), both["message"].iloc[1]
        ([['1', 1.0], ['2', 0.0]], 'not passed: polite')
    """
    table = check_scores(scores)
    check_new_name(table, name)
    rows = _chosen(table, criteria)
    check_one_form(rows)
    composite = _composite(rows, name)
    out = pd.concat([table, composite], ignore_index=True) if keep else composite
    out = check_scores(out)
    out.attrs = dict(scores.attrs)
    return out


def _chosen(table: pd.DataFrame, criteria: Sequence[str] | None) -> pd.DataFrame:
    known = sorted(table["criterion"].unique())
    wanted = known if criteria is None else [criteria] if isinstance(criteria, str) else criteria
    for each in wanted:
        if each not in known:
            raise SchemaError(
                f"criteria names {each!r}, which the table does not have; {nearest(each, known)}",
                code="unknown_criterion",
                path="criteria",
                value=each,
            )
    rows = table[table["criterion"].isin(wanted)].reset_index(drop=True)
    if not rows["passed"].notna().any():
        raise SchemaError(
            "no row says whether it was passed; give the scorers a threshold, or fill the column "
            "passed",
            code="no_verdicts",
            path="passed",
        )
    return rows


def _composite(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    codes = codes_of_measurements(rows)
    count = int(codes.max(initial=-1)) + 1
    passed = rows["passed"].astype("boolean")
    is_open = passed.isna().to_numpy(dtype=bool)
    is_failed = (~passed.fillna(value=True)).to_numpy(dtype=bool)
    lost = _any(is_failed, codes, count)
    undecided = _any(is_open, codes, count) & ~lost
    # A score without a verdict is open for want of one.
    severity = np.where(is_open, np.maximum(rows["status"].cat.codes.to_numpy(), 1), 0)
    worst = np.zeros(count, dtype=np.int64)
    np.maximum.at(worst, codes, severity)
    status = pd.Categorical.from_codes(np.where(undecided, worst, 0), dtype=STATUS_DTYPE)
    return one_row_each(rows, codes).assign(
        criterion=name,
        scorer=SCORER,
        score=np.where(undecided, np.nan, (~lost).astype(np.float64)),
        passed=pd.Series(~lost, dtype="boolean").mask(undecided),
        status=status,
        message=pd.Series(_messages(rows, codes, is_failed, is_open), dtype=object),
        kind="binary",
        higher_is_better=True,
        lower_bound=0.0,
        upper_bound=1.0,
    )


def _any(flags: np.ndarray, codes: np.ndarray, count: int) -> np.ndarray:
    """Whether any row of each measurement has the flag."""
    return np.bincount(codes, weights=flags, minlength=count) > 0


def _messages(
    rows: pd.DataFrame, codes: np.ndarray, is_failed: np.ndarray, is_open: np.ndarray
) -> list[str | None]:
    count = int(codes.max(initial=-1)) + 1
    lost: list[list[str]] = [[] for _ in range(count)]
    undecided: list[list[str]] = [[] for _ in range(count)]
    criteria, statuses = rows["criterion"].tolist(), rows["status"].astype(str).tolist()
    for place in np.flatnonzero(is_failed | is_open):
        if is_failed[place]:
            lost[codes[place]].append(criteria[place])
        else:
            undecided[codes[place]].append(f"{criteria[place]} ({_why_open(statuses[place])})")
    parts = ("not passed: ", lost), ("open: ", undecided)
    return [
        "; ".join(words + ", ".join(found[code]) for words, found in parts if found[code]) or None
        for code in range(count)
    ]


def _why_open(status: str) -> str:
    return "no verdict" if status == "scored" else status.replace("_", " ")
