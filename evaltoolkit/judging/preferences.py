"""Pairwise judgements of a score table, each pair of systems seen from one side."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evaltoolkit.criteria import criteria_of
from evaltoolkit.errors import PairingError, listed
from evaltoolkit.measurements import rows_named
from evaltoolkit.schema import rows_text
from evaltoolkit.scores import check_scores

PAIR = ["criterion", "scorer", "system_a", "system_b"]
"""What names one series of judgements."""


def selected_rows(
    scores: pd.DataFrame, *, criterion: str | None, scorer: str | None
) -> pd.DataFrame:
    """Check the table and keep the rows of one criterion and scorer, or of all.

    Raises:
        SchemaError: The table breaks a rule.
        PairingError: A name does not occur, or the table is empty.
    """
    rows = check_scores(scores)
    if criterion is not None:
        rows = rows_named(rows, "criterion", [criterion])
    if scorer is not None:
        rows = rows_named(rows, "scorer", [scorer])
    if rows.empty:
        raise PairingError(
            "the score table has no rows; read or filter it again", code="no_rows", path="scores"
        )
    return rows


def pairwise_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep judgements of one system against another, seen from the first in the alphabet.

    Returns:
        The rows with ``versus``, and with ``system_a`` < ``system_b``, ``preference`` (how far
        a is preferred, 0 to 1) and ``turned`` (whether the row's own system is b).

    Raises:
        PairingError: A score is no preference, or lower scores are declared better.
    """
    pairs = rows[rows["versus"].notna()]
    outside = pairs[(pairs["score"] < 0) | (pairs["score"] > 1)]
    if len(outside):
        raise PairingError(
            f"{len(outside)} score(s) are no preference from 0 to 1 (a win is 1, a tie 0.5): "
            f"{rows_text(outside, ['criterion', 'system', 'versus', 'score'])}",
            code="bad_preference",
            path="score",
            value=outside["score"].head(5).tolist(),
        )
    infos = criteria_of(pairs).values()
    lower = [
        i.criterion for i in infos if i.direction_from == "declared" and not i.higher_is_better
    ]
    if lower:
        raise PairingError(
            f"lower scores are declared better for {listed(lower)}; of pairwise judgements the "
            "higher score is the win, so turn score into 1 - score and drop higher_is_better",
            code="bad_preference",
            path="higher_is_better",
            value=lower,
        )
    turned = pairs["system"] > pairs["versus"]
    return pairs.assign(
        turned=turned,
        system_a=pairs["system"].where(~turned, pairs["versus"]),
        system_b=pairs["versus"].where(~turned, pairs["system"]),
        preference=np.where(turned, 1 - pairs["score"], pairs["score"]),
    )
