"""Whether stated confidences can be believed: Brier score and reliability table."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evaltoolkit.errors import SchemaError
from evaltoolkit.scorers.base import shorten

Negative = Literal["leave_out", "rescale"]
"""What confidences below 0 are: no probability, and left out; or the lower half of a scale from
-1 to 1, which is then taken as (confidence + 1) / 2."""

_COLUMNS = (
    "bin_low", "bin_high", "n", "n_correct", "mean_confidence", "share_correct", "gap",
)  # fmt: skip


class ConfidenceCalibration(NamedTuple):
    """How far confidences can be believed.

    Attributes:
        brier: Mean squared distance from being right (1) or wrong (0), from 0 (best) to 1; NaN
            where there is no claim.
        brier_constant: The Brier score of always stating the share that is right: what a
            mutator that knows only its own hit rate gets. NaN where there is no claim.
        ece: Expected calibration error: the mean of ``|gap|`` over the claims; NaN likewise.
        n: Claims used.
        n_left_out: Claims left out, because their confidence is below 0.
        table: The reliability table, one row per bin that holds claims: ``bin_low``, ``bin_high``
            (a bin includes its upper end, the first one also 0), ``n``, ``n_correct``,
            ``mean_confidence``, ``share_correct`` and ``gap`` (their difference; above 0 where
            the confidences are too high).
    """

    brier: float
    brier_constant: float
    ece: float
    n: int
    n_left_out: int
    table: pd.DataFrame


def calibrate_confidences(
    confidences: Sequence[float],
    correct: Sequence[bool],
    *,
    bins: int = 10,
    negative: Negative = "leave_out",
) -> ConfidenceCalibration:
    """Hold confidences against what turned out right.

    Values from one conversation are not independent, so no interval is given; resample whole
    cases for one.

    Args:
        confidences: From -1 to 1.
        correct: Whether each claim was right.
        bins: How many bins of equal width the range from 0 to 1 is cut into.
        negative: What to do with confidences below 0; see `Negative`.

    Returns:
        The Brier score (Brier, Verification of forecasts expressed in terms of probability,
        1950), the calibration error and the reliability table.

    Raises:
        SchemaError: The lengths differ, a confidence is out of range, a verdict is neither true
            nor false, or an option does not exist.

    Example:
        >>> got = calibrate_confidences([0.9, 0.9, 0.9, 0.2], [True, True, False, False], bins=2)
        >>> round(got.brier, 4), round(got.ece, 4)
        (0.2175, 0.225)
        >>> got.table[["bin_high", "n", "share_correct"]].round(2).values.tolist()
        [[0.5, 1.0, 0.0], [1.0, 3.0, 0.67]]
    """
    _check(confidences, correct, bins, negative)
    stated = np.asarray(confidences, dtype=float)
    right = np.asarray(correct, dtype=float)
    if negative == "rescale":
        stated = (stated + 1) / 2
    kept = stated >= 0
    stated, right = stated[kept], right[kept]
    n_left_out = int((~kept).sum())
    if not len(stated):
        empty = pd.DataFrame(columns=list(_COLUMNS), dtype=float)
        return ConfidenceCalibration(math.nan, math.nan, math.nan, 0, n_left_out, empty)
    table = _reliability(stated, right, bins)
    share = float(right.mean())
    return ConfidenceCalibration(
        brier=float(np.mean((stated - right) ** 2)),
        brier_constant=share * (1 - share),
        ece=float(np.average(table["gap"].abs(), weights=table["n"])),
        n=len(stated),
        n_left_out=n_left_out,
        table=table,
    )


def brier_score(claims: Iterable[tuple[float, bool]]) -> float | None:
    """Give the Brier score of claims; confidences below 0 are left out; None if none is left.

    Example:
        >>> brier_score([(1.0, True), (0.5, False)]), brier_score([(-1.0, True)])
        (0.125, None)
    """
    losses = [(confidence - right) ** 2 for confidence, right in claims if confidence >= 0]
    return math.fsum(losses) / len(losses) if losses else None


def _reliability(
    stated: NDArray[np.float64], right: NDArray[np.float64], bins: int
) -> pd.DataFrame:
    edges = np.arange(bins + 1) / bins
    places = np.clip(np.searchsorted(edges, stated, side="left") - 1, 0, bins - 1)
    claims = pd.DataFrame({"place": places, "stated": stated, "right": right})
    grouped = claims.groupby("place", sort=True)
    table = grouped.agg(
        n=("right", "size"),
        n_correct=("right", "sum"),
        mean_confidence=("stated", "mean"),
        share_correct=("right", "mean"),
    ).reset_index()
    table["n_correct"] = table["n_correct"].astype("int64")
    table["gap"] = table["mean_confidence"] - table["share_correct"]
    table["bin_low"] = edges[table["place"]]
    table["bin_high"] = edges[table["place"] + 1]
    return table[list(_COLUMNS)]


def _check(
    confidences: Sequence[float], correct: Sequence[bool], bins: int, negative: Negative
) -> None:
    if len(confidences) != len(correct):
        msg = f"there are {len(confidences)} confidences and {len(correct)} verdicts"
        raise SchemaError(msg, code="lengths_differ")
    if isinstance(bins, bool) or not isinstance(bins, numbers.Integral) or bins < 1:
        msg = f"bins is {bins!r}; it must be a whole number from 1"
        raise SchemaError(msg, code="bad_option", path="bins", value=bins)
    if negative not in ("leave_out", "rescale"):
        msg = f"negative is {negative!r}; it must be 'leave_out' or 'rescale'"
        raise SchemaError(msg, code="bad_option", path="negative", value=negative)
    wrong = [value for value in confidences if not _is_confidence(value)]
    if wrong:
        msg = f"a confidence is {shorten(wrong[0])}; it must be a number from -1 to 1"
        raise SchemaError(msg, code="bad_confidence", value=wrong[0])
    unclear = [value for value in correct if not _is_verdict(value)]
    if unclear:
        msg = f"a verdict is {shorten(unclear[0])}; it must be True or False"
        raise SchemaError(msg, code="bad_verdict", value=unclear[0])


def _is_confidence(value: object) -> bool:
    return isinstance(value, numbers.Real) and -1 <= float(value) <= 1


def _is_verdict(value: object) -> bool:
    return isinstance(value, numbers.Real | np.bool) and value in (0, 1)
