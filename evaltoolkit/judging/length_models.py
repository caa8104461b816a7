"""The models behind `length_bias`: one row of numbers each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from evaltoolkit import stats
from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.judging.preferences import PAIR
from evaltoolkit.judging.selection import EXAMPLE
from evaltoolkit.judging.shifts import mean_shift
from evaltoolkit.stats.robust import (
    Regression,
    fractional_logit,
    least_squares,
    separation,
    within_groups,
)
from evaltoolkit.stats.tails import t_tail

Row = dict[str, Any]

FEWEST = 10
"""A model is fitted from this many informative comparisons, outputs or blocks up."""

REASONS = {
    "no_variation": "lengths or outcomes do not vary, so no slope exists",
    "up": "the longer answer always wins within each pair of systems: no finite slope fits",
    "down": "the shorter answer always wins within each pair of systems: no finite slope fits",
}


def pairwise_row(units: pd.DataFrame, level: float) -> tuple[Row, Regression | None]:
    """Regress the win on the logarithm of the ratio of lengths, an intercept per pair.

    Pairs of systems where one always wins say nothing about length and are left out.
    """
    groups = units.groupby(PAIR)["preference"]
    informative = units[(groups.transform("max") > 0) & (groups.transform("min") < 1)]
    x, y = (informative[name].to_numpy(dtype=np.float64) for name in ("x", "preference"))
    pair = informative.groupby(PAIR, sort=True).ngroup().to_numpy()
    blocks = informative["block"].to_numpy()
    row: Row = {
        "n": len(units),
        "n_blocks": int(units["block"].nunique()),
        "n_used": len(informative),
        "longer_higher": longer_wins(units["x"].to_numpy(), units["preference"].to_numpy()),
        "sd_log2": float(np.std(x, ddof=1)) if x.size > 1 else math.nan,
    }
    why = _too_few(x.size, blocks) or REASONS.get(separation(x, y, pair) if x.size else "", "")
    if why:
        return row | {"note": why}, None
    dummies = np.eye(int(pair.max()) + 1)[pair]
    fit = fractional_logit(np.column_stack([x, dummies]), y, blocks)
    found = _slope(fit, row["sd_log2"], level)
    odds = {f"odds_ratio{end}": _exp(found[f"slope{end}"]) for end in ("", "_low", "_high")}
    return row | found | odds, fit


def rating_row(units: pd.DataFrame, *, systems: bool, level: float) -> Row:
    """Regress the score on the logarithm of the length, within examples.

    Args:
        units: Rated outputs of one criterion and scorer.
        systems: Whether differences between systems are taken out as well.
        level: Confidence level between 0 and 1.
    """
    example = np.asarray(units.groupby(EXAMPLE, sort=True).ngroup(), dtype=np.intp)
    columns = [units["x"].to_numpy(dtype=np.float64)]
    if systems:
        codes = units.groupby("system", sort=True).ngroup().to_numpy()
        columns += list(np.eye(int(codes.max()) + 1)[codes].T[1:])
    design = within_groups(np.column_stack(columns), example)
    y = within_groups(units[["score"]].to_numpy(dtype=np.float64), example)[:, 0]
    used = np.bincount(example)[example] > 1
    x, blocks = design[used, 0], units["block"].to_numpy()[used]
    row: Row = {
        "n": len(units),
        "n_blocks": int(units["block"].nunique()),
        "n_used": int(used.sum()),
        "longer_higher": math.nan if systems else _longer_scores_higher(units, example),
        "sd_log2": float(np.std(x, ddof=1)) if x.size > 1 else math.nan,
    }
    why = _too_few(x.size, blocks) or _flat(design[used], y[used])
    if why:
        return row | {"note": why}
    try:
        fit = least_squares(design[used], y[used], blocks)
    except EvalToolkitError as error:
        if error.code != "singular":
            raise
        return row | {
            "note": "lengths differ by system only, so length and system cannot be told apart"
        }
    return row | _slope(fit, row["sd_log2"], level)


def longer_wins(x: stats.Floats, preference: stats.Floats) -> float:
    """Return how often the longer answer wins, a tie half; NaN where lengths are equal."""
    apart = np.abs(x) > 1e-12
    wins = np.where(x > 0, preference, 1 - preference)[apart]
    return float(wins.mean()) if wins.size else math.nan


def rate_rows(units: pd.DataFrame, fit: Regression | None, level: float) -> list[Row]:
    """Give how often a wins: as judged, and by the model of this pair at equal length."""
    d = stats.snap(2 * units["preference"].to_numpy(dtype=np.float64) - 1, scale=1.0)
    shift = mean_shift(d, units["block"].to_numpy(), level=level)
    ends = [e if math.isnan(e) else min(max(0.5 + e / 2, 0.0), 1.0) for e in shift[1:3]]
    judged = {
        "estimate": "as_judged",
        "n": len(units),
        "win_rate": 0.5 + shift.mean / 2,
        "low": ends[0],
        "high": ends[1],
        "interval": shift.interval,
        "note": shift.note,
    }
    equal: Row = {"estimate": "equal_length", "n": len(units), "interval": "none"}
    if fit is None:
        return [judged, equal | {"note": "no finite slope fits, so there is no model"}]
    centre = float(fit.estimate[1])
    low, high = stats.t_interval(centre, float(fit.se[1]), float(fit.df[1]), level=level)
    outside = not units["x"].min() < 0 < units["x"].max()
    equal |= {
        "win_rate": _logistic(centre),
        "low": _logistic(low),
        "high": _logistic(high),
        "interval": "none" if math.isnan(low) else "cr2_t",
        "note": "one system's answers are always longer: an extrapolation" if outside else "",
    }
    return [judged, equal]


def _exp(log_odds: float) -> float:
    return math.exp(min(log_odds, 700.0))


def _logistic(log_odds: float) -> float:
    return (1 + math.tanh(log_odds / 2)) / 2


def _too_few(n: int, blocks: np.ndarray) -> str:
    if n < FEWEST:
        return f"fewer than {FEWEST} informative comparisons or outputs: no model is fitted"
    if np.unique(blocks).size < FEWEST:
        return f"fewer than {FEWEST} independent examples or clusters: no model is fitted"
    return ""


def _flat(design: stats.Floats, y: stats.Floats) -> str:
    if np.ptp(design[:, 0]) <= 1e-9:
        return "lengths do not vary within examples, so no slope exists"
    return "" if np.ptp(y) > 1e-9 else "scores do not vary within examples"


def _slope(fit: Regression, sd: float, level: float) -> Row:
    """Write the first coefficient per doubling and per standard deviation."""
    slope, se, df = (float(part[0]) for part in (fit.estimate, fit.se, fit.df))
    low, high = stats.t_interval(slope, se, df, level=level)
    usable = not math.isnan(low)
    return {
        "slope": slope,
        "slope_low": low,
        "slope_high": high,
        "df": df,
        "p_value": 2 * t_tail(abs(slope) / se, df) if usable else math.nan,
        "test": "cr2_t" if usable else "none",
        "per_sd": slope * sd,
        "per_sd_low": low * sd,
        "per_sd_high": high * sd,
        "note": "" if usable else "the fit leaves no residuals, so it shows no uncertainty",
    }


def _longer_scores_higher(units: pd.DataFrame, example: np.ndarray) -> float:
    """Return how often the longer of two outputs of one example scores higher, a tie half."""
    shares = []
    for rows in pd.Series(range(len(units))).groupby(example).indices.values():
        if len(rows) < 2:
            continue
        first, second = np.triu_indices(len(rows), 1)
        x = units["x"].to_numpy()[rows]
        score = units["score"].to_numpy()[rows]
        won = (1 + np.sign(stats.snap_ties(score[second], score[first]))) / 2
        share = longer_wins(x[first] - x[second], won)
        if not math.isnan(share):
            shares.append(share)
    return float(np.mean(shares)) if shares else math.nan
