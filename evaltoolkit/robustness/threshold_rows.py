"""Which rows a threshold curve is drawn from, and where it cuts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evaltoolkit import stats
from evaltoolkit.criteria import CriterionInfo
from evaltoolkit.errors import PairingError, listed
from evaltoolkit.measurements import rows_named

MOST_THRESHOLDS = 21
"""At most so many thresholds are chosen; who wants more names them."""

Names = str | Sequence[str] | None


def absolute_rows(
    table: pd.DataFrame, *, criterion: str, systems: Names
) -> tuple[pd.DataFrame, list[str]]:
    """Keep the rows of one criterion and some systems, and name the systems.

    Raises:
        PairingError: An unknown name, a system named twice, or rows against opponents.
    """
    rows = rows_named(table, "criterion", [str(criterion)])
    chosen = [systems] if isinstance(systems, str) else [str(name) for name in systems or []]
    chosen = chosen or sorted(rows["system"].unique())
    repeated = sorted({name for name in chosen if chosen.count(name) > 1})
    if repeated:
        raise PairingError(
            f"{listed(repeated)} is named twice; name each system once",
            code="same_system",
            path="systems",
            value=repeated,
        )
    rows = rows_named(rows, "system", chosen)
    if rows["versus"].notna().any():
        raise PairingError(
            f"{criterion!r} has rows against another system (versus); thresholds need absolute "
            "scores: scores[scores.versus.isna()]",
            code="pairwise_rows",
            path="versus",
        )
    return rows, chosen


def one_scorer(rows: pd.DataFrame, scorer: str | None) -> pd.DataFrame:
    """Keep the rows of one scorer.

    Raises:
        PairingError: The scorer is unknown, or none is named and there are several.
    """
    if scorer is not None:
        return rows_named(rows, "scorer", [scorer])
    known = sorted(rows["scorer"].unique())
    if len(known) > 1:
        raise PairingError(
            f"the criterion has {len(known)} scorers ({listed(known)}); they may measure "
            "different things, so name one with scorer=...",
            code="several_scorers",
            path="scorer",
            value=known,
        )
    return rows


def thresholds_of(
    means: NDArray[np.float64], info: CriterionInfo, *, given: Sequence[float] | None
) -> NDArray[np.float64]:
    """Choose where to cut, in ascending order.

    Args:
        means: The example means of all systems, at least one.
        info: The criterion, whose own threshold is always among those chosen.
        given: Thresholds that the user named; they are taken as they are.

    Raises:
        PairingError: A given threshold is not finite, or there is none.
    """
    if given is not None:
        return _checked(given)
    chosen = _spread_out(np.sort(stats.merge_near(means)), higher=info.higher_is_better)
    if math.isnan(info.threshold):
        return chosen
    near = np.isclose(chosen, info.threshold, rtol=1e-9, atol=0.0)
    return np.sort(np.append(chosen[~near], info.threshold))


def _checked(given: Sequence[float]) -> NDArray[np.float64]:
    values = np.unique(np.asarray(list(given), dtype=np.float64))
    if not values.size or not np.isfinite(values).all():
        raise PairingError(
            f"thresholds are {list(given)!r}; give finite numbers in units of the criterion",
            code="bad_option",
            path="thresholds",
            value=list(given),
        )
    return values


def _spread_out(ascending: NDArray[np.float64], *, higher: bool) -> NDArray[np.float64]:
    """Take the observed values, or quantiles of many; not the one that every example passes."""
    distinct = np.unique(ascending)
    if distinct.size == 1:
        return distinct
    trivial = distinct[0 if higher else -1]
    useful: NDArray[np.float64] = distinct[distinct != trivial]
    if useful.size <= MOST_THRESHOLDS:
        return useful
    # Observed values, so that no cut falls between two.
    shares = (np.arange(MOST_THRESHOLDS) + 0.5) / MOST_THRESHOLDS
    kept = ascending[ascending != trivial]
    quantiles: NDArray[np.float64] = np.quantile(kept, shares, method="inverted_cdf")
    return np.unique(quantiles)
