"""Pairwise judgements in a comparison: of the two systems, or of both against the same third one.

A preference for one system is a preference against the other, so a judgement that is recorded
from one side only gives the other side its mirror, 1 - score. Where both systems were judged
against the same third one, how far each is preferred to it can be compared like any score.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from evaltoolkit.errors import PairingError, listed
from evaltoolkit.schema import rows_text

_HYPOTHESIS = ["task", "criterion", "scorer"]
_TURNED = {"first": "second", "second": "first"}


def judged_together(rows: pd.DataFrame, *, baseline: str, candidate: str) -> pd.DataFrame:
    """Keep the rows of two systems that can pair, and complete one-sided preferences.

    Per task, criterion and scorer: rows without ``versus`` and judgements of the two systems
    against each other count; where there are none of either, judgements of both against the one
    third system that they share.

    Args:
        rows: Score rows in which the systems occur as ``system`` or ``versus``.
        baseline: One system.
        candidate: The other.

    Returns:
        The rows, with a column ``mirrored`` where a row is the mirror of another.

    Raises:
        PairingError: The two share several third systems, or a preference to be mirrored lies
            outside 0 to 1.
    """
    other = {baseline: candidate, candidate: baseline}
    own = rows[rows["system"].isin(list(other))]
    direct = own[own["versus"].isna() | (own["versus"] == own["system"].map(other))]
    left_out = len(direct) < len(own)
    direct = direct.assign(mirrored=False)
    if direct["versus"].notna().any():
        direct = _completed(direct, other)
    if not left_out:
        return direct
    rest = own[~_keys(own).isin(_keys(direct))]
    shared = list(_against_a_third(rest))
    return pd.concat([direct, *shared]) if shared else direct


def preference_forms(rows: pd.DataFrame) -> list[str]:
    """Say, for the settings, how preferences became scores of both systems."""
    forms = []
    mirrored = rows.loc[rows["mirrored"], "criterion"].unique()
    if len(mirrored):
        forms.append(
            f"{listed(mirrored)}: recorded from one side only; the other side is the mirror "
            "(1 - preference), so the difference is 2 x preference - 1"
        )
    judged = rows[rows["versus"].notna() & ~rows["versus"].isin(rows["system"].unique())]
    for (criterion, third), _ in judged.groupby(["criterion", "versus"]):
        forms.append(f"{criterion!r}: how far each system is preferred to {third!r}")
    return forms


def _keys(rows: pd.DataFrame) -> pd.Series:
    return pd.Series(list(rows[_HYPOTHESIS].itertuples(index=False, name=None)), index=rows.index)


def _completed(rows: pd.DataFrame, other: dict[str, str]) -> pd.DataFrame:
    sides = rows.groupby(_HYPOTHESIS)["system"].transform("nunique")
    lone = rows[(sides == 1) & rows["versus"].notna()]
    if lone.empty:
        return rows
    outside = lone[lone["score"].notna() & ~lone["score"].between(0, 1)]
    if len(outside):
        raise PairingError(
            f"{len(outside)} preference(s) lie outside 0 to 1, so their mirror is not known: "
            f"{rows_text(outside, ['system', 'versus', 'example_id', 'score'])}; rescale them, "
            "or add the rows of the other side",
            code="bad_preference",
            path="score",
        )
    turned = lone.assign(
        system=lone["versus"],
        versus=lone["system"],
        score=1 - lone["score"],
        passed=pd.array([pd.NA] * len(lone), dtype="boolean"),
        mirrored=True,
    )
    if "position" in turned.columns:
        turned["position"] = turned["position"].map(_TURNED)
    return pd.concat([rows, turned], ignore_index=True)


def _against_a_third(rows: pd.DataFrame) -> Iterator[pd.DataFrame]:
    for key, group in rows.groupby(_HYPOTHESIS, sort=True):
        judged = group.groupby("versus")["system"].nunique()
        thirds = judged[judged == 2].index.tolist()
        if len(thirds) > 1:
            raise PairingError(
                f"both systems were judged against several others on {key[1]!r}: "
                f"{listed(thirds)}; keep one of them, e.g. "
                f"scores[scores.versus == {thirds[0]!r}]",
                code="several_opponents",
                path="versus",
                value=thirds,
            )
        if thirds:
            yield group[group["versus"] == thirds[0]].assign(mirrored=False)
