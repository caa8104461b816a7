"""Tests of all systems at once: do they differ at all?"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator

import numpy as np
import pandas as pd

from evaltoolkit import stats
from evaltoolkit.ranking.blocks import Blocks
from evaltoolkit.ranking.contrasts import Family
from evaltoolkit.stats.rank_spread import largest_rank_gap, nemenyi_p

TEST_COLUMNS = (
    "test", "statistic", "df", "df2", "p_value", "critical_difference", "note",
)  # fmt: skip

_DEPENDENT = "takes examples as independent, which they are not within clusters; see all_pairs"


def omnibus_tests(blocks: Blocks, family: Family, *, alpha: float) -> pd.DataFrame:
    """Run Friedman's, Iman and Davenport's, Nemenyi's and Cochran's tests, and sum up the pairs.

    Returns:
        One row per test; where it does not apply its numbers are NaN and ``note`` says why.
    """
    rows = [*_rank_tests(blocks, alpha=alpha), _cochran(blocks), _all_pairs(family)]
    return pd.DataFrame(rows, columns=list(TEST_COLUMNS))


def _row(test: str, *, note: str = "", **numbers: float) -> dict[str, object]:
    empty = dict.fromkeys(TEST_COLUMNS[1:6], math.nan)
    return {"test": test, **empty, **numbers, "note": note}


def _possible(p: float) -> float:
    """A tail below the smallest float is still not impossible."""
    return max(p, sys.float_info.min)


def _rank_tests(blocks: Blocks, *, alpha: float) -> Iterator[dict[str, object]]:
    k, n = len(blocks.systems), blocks.n
    reason = ""
    if blocks.clusters is not None:
        reason = _DEPENDENT
    elif k < 3 or n < 2:
        reason = f"needs three systems and two examples; here are {k} and {n}"
    if reason:
        yield from (_row(name, note=reason) for name in ("friedman", "iman_davenport", "nemenyi"))
        return
    test = stats.friedman(blocks.goodness)
    ties = "all examples rank all systems alike" if not test.statistic else ""
    yield _row(
        "friedman", statistic=test.statistic, df=k - 1, p_value=_possible(test.p_value), note=ties
    )
    if math.isinf(test.f_statistic):
        yield _row("iman_davenport", note="every example ranks the systems alike: F is unbounded")
    else:
        yield _row(
            "iman_davenport",
            statistic=test.f_statistic,
            df=k - 1,
            df2=(k - 1) * (n - 1),
            p_value=_possible(test.f_p_value),
            note=ties,
        )
    gap = largest_rank_gap(test.ranks)
    yield _row(
        "nemenyi",
        statistic=gap,
        df=k,
        p_value=_possible(nemenyi_p(gap, k, n)),
        critical_difference=stats.nemenyi_difference(k, n, alpha=alpha),
        note=_tie_note(blocks),
    )


def _tie_note(blocks: Blocks) -> str:
    ordered = np.sort(blocks.values, axis=1)
    ties = bool((np.diff(ordered, axis=1) == 0).any())
    return "assumes untied ranks: with ties it is too careful" if ties else ""


def _cochran(blocks: Blocks) -> dict[str, object]:
    reason = ""
    if blocks.clusters is not None:
        reason = _DEPENDENT
    elif blocks.design != "binary":
        reason = "needs one trial of 0 or 1 per example"
    elif blocks.n < 2:
        reason = "needs two examples"
    if reason:
        return _row("cochran_q", note=reason)
    test = stats.cochran_q(blocks.values)
    note = "" if test.statistic else "no example tells the systems apart"
    return _row(
        "cochran_q",
        statistic=test.statistic,
        df=len(blocks.systems) - 1,
        p_value=_possible(test.p_value),
        note=note,
    )


def _all_pairs(family: Family) -> dict[str, object]:
    known = family.p_adjusted[~np.isnan(family.p_adjusted)]
    if family.correction == "none":
        return _row("all_pairs", note="without a correction the smallest p-value is no test of all")
    if not known.size:
        return _row("all_pairs", note="no pair could be tested")
    return _row("all_pairs", p_value=float(known.min()), note="smallest adjusted p-value")
