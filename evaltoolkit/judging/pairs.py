"""How two scorers agree: one row of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaltoolkit import stats
from evaltoolkit.judging.ratings import Ratings
from evaltoolkit.stats import rater_resamples as resampling

Row = dict[str, Any]

REASONS = {
    "too_few": f"fewer than {resampling.FEWEST_BLOCKS} examples or clusters to draw from",
    "undefined": "in many draws the coefficient does not exist",
    "no_spread": "no draw differs from another, so the data do not show how sure it is",
}
"""Why a coefficient has no interval."""


@dataclass(frozen=True)
class Draws:
    """How intervals are drawn."""

    count: int
    seed: int
    level: float


def pair_row(ratings: Ratings, first: str, second: str, draws: Draws) -> Row:
    """Compute everything about two scorers."""
    present = ratings.present[[first, second]].to_numpy(dtype=np.bool_)
    given = ratings.scores[[first, second]].notna().to_numpy(dtype=np.bool_)
    both, here = np.logical_and(*given.T), np.logical_and(*present.T)
    pair = ratings.part(both, [first, second])
    a, b = pair.scores.to_numpy().T
    row: Row = {
        "scorer_a": first,
        "scorer_b": second,
        "level": ratings.level,
        "n": int(both.sum()),
        "n_blocks": int(np.unique(pair.blocks).size),
        "n_not_scored": int((here & ~both).sum()),
        "n_only_a": int((present[:, 0] & ~present[:, 1]).sum()),
        "n_only_b": int((present[:, 1] & ~present[:, 0]).sum()),
        "mean_a": float(a.mean()) if a.size else math.nan,
        "mean_b": float(b.mean()) if b.size else math.nan,
    }
    if ratings.level == "nominal" and ratings.grades.size != 2:
        row |= {"mean_a": math.nan, "mean_b": math.nan}  # numbers of names have no mean
    notes: list[str] = []
    row |= _observed(pair, a == b, draws)
    row |= _coefficients(pair, draws, notes) if both.any() else {}
    row |= _bias(pair, a, b, draws, notes)
    if not both.any():
        notes = ["no output that both scored"]
    return row | {"note": "; ".join(dict.fromkeys(notes))}


def _observed(pair: Ratings, same: np.ndarray, draws: Draws) -> Row:
    n = int(same.size)
    if pair.independent:
        name = "wilson" if n else "none"
        ends = stats.wilson(int(same.sum()), n, level=draws.level)
    else:
        estimate = stats.cluster_mean(same.astype(np.float64), pair.blocks, level=draws.level)
        name = "none" if math.isnan(estimate.low) else "cr2_t"
        ends = stats.Interval(max(estimate.low, 0.0), min(estimate.high, 1.0))
        ends = ends if name != "none" else stats.Interval(math.nan, math.nan)
    return {
        "observed": float(same.mean()) if n else math.nan,
        "observed_low": ends.low,
        "observed_high": ends.high,
        "observed_interval": name,
    }


def _coefficients(pair: Ratings, draws: Draws, notes: list[str]) -> Row:
    if pair.level == "interval":
        return _icc(pair, draws, notes)
    cells = _tables(pair)
    k = pair.grades.size
    if k < 2:
        notes.append("only one grade was ever given, so chance agreement is certain")
        return {}
    table = cells.sum(axis=0).reshape(k, k)
    drawn = _drawn(cells, draws).reshape(-1, k, k)
    row = {
        "kappa": stats.cohen_kappa(table).kappa,
        **_ends("kappa", resampling.kappas(drawn), pair, draws, notes),
        "ac1": stats.gwet_ac1(table),
        **_ends("ac1", resampling.ac1s(drawn), pair, draws, notes),
    }
    if pair.level == "ordinal":
        for name in ("linear", "quadratic"):
            key = f"kappa_{name}"
            row[key] = stats.cohen_kappa(table, weights=name).kappa
            row |= _ends(key, resampling.kappas(drawn, weights=name), pair, draws, notes)
    if math.isnan(stats.cohen_kappa(table).kappa):
        notes.append("both scorers always gave the same single grade, so kappa does not exist")
    return row


def _tables(pair: Ratings) -> stats.Floats:
    k = pair.grades.size
    codes = pair.codes()
    cells = np.zeros((int(pair.blocks.max()) + 1, k * k))
    np.add.at(cells, (pair.blocks, codes[:, 0] * k + codes[:, 1]), 1.0)
    return cells


def _drawn(sums: stats.Floats, draws: Draws) -> stats.Floats:
    return resampling.resampled_totals(sums, draws=draws.count, seed=draws.seed)


def _icc(pair: Ratings, draws: Draws, notes: list[str]) -> Row:
    parts = resampling.icc_parts(pair.scores.to_numpy())
    if len(parts) < 2:
        notes.append("one output shows no intraclass correlation")
        return {"icc": math.nan}
    value = float(resampling.absolute_iccs(parts.sum(axis=0)[None])[0])
    if math.isnan(value):
        notes.append("all scores are equal, so the intraclass correlation does not exist")
        return {"icc": math.nan}
    drawn = _drawn(resampling.block_sums(parts, pair.blocks), draws)
    ends = _ends("icc", resampling.absolute_iccs(drawn), pair, draws, notes)
    return {"icc": value, **ends}


def _ends(
    name: str, drawn: stats.Floats, pair: Ratings, draws: Draws, notes: list[str]
) -> dict[str, float]:
    blocks = int(np.unique(pair.blocks).size)
    found = resampling.percentile_interval(drawn, blocks=blocks, level=draws.level)
    if found.reason:
        notes.append(f"no interval of {name}: {REASONS[found.reason]}")
    return {f"{name}_low": found.low, f"{name}_high": found.high}


def _bias(pair: Ratings, a: stats.Floats, b: stats.Floats, draws: Draws, notes: list[str]) -> Row:
    """Test whether the second scorer scores higher or lower than the first."""
    binary = pair.grades.size == 2 and bool(np.isin(pair.grades, (0.0, 1.0)).all())
    if pair.level == "nominal" and not binary:
        return _homogeneity(pair, notes)
    tested: Callable[..., Row] = _binary_bias if binary and pair.independent else _mean_bias
    row = tested(pair, a, b, draws)
    if pair.level == "ordinal" and pair.independent and a.size:
        row |= _homogeneity(pair, notes)
    if a.size and math.isnan(row["bias_low"]):
        notes.append("the differences have no spread, so their mean has no interval")
    return row


def _binary_bias(pair: Ratings, a: stats.Floats, b: stats.Floats, draws: Draws) -> Row:
    del pair
    counts = stats.paired_counts(a, b)
    ends = stats.bonett_price(counts.wins, counts.losses, a.size, level=draws.level)
    return {
        "bias": float((b - a).mean()) if a.size else math.nan,
        "bias_low": ends.low,
        "bias_high": ends.high,
        "bias_interval": "bonett_price" if a.size else "none",
        "p_bias": stats.mcnemar_midp(counts.wins, counts.losses) if a.size else math.nan,
        "bias_test": "mcnemar_midp" if a.size else "none",
    }


def _mean_bias(pair: Ratings, a: stats.Floats, b: stats.Floats, draws: Draws) -> Row:
    d = stats.snap_ties(a, b)
    estimate = stats.cluster_mean(d, pair.blocks, level=draws.level)
    name = "t" if pair.independent else "cr2_t"
    usable = not math.isnan(estimate.low)
    tied = a.size > 0 and not d.any()
    return {
        "bias": estimate.mean,
        "bias_low": estimate.low,
        "bias_high": estimate.high,
        "bias_interval": name if usable else "none",
        "p_bias": 1.0 if tied else estimate.p_value,
        "bias_test": name if usable else ("all_ties" if tied else "none"),
    }


def _homogeneity(pair: Ratings, notes: list[str]) -> Row:
    if not pair.independent:
        notes.append("grades are names and outputs depend on one another: no test of bias")
        return {"bias_test": "none"}
    k = pair.grades.size
    p_value = stats.marginal_homogeneity(_tables(pair).sum(axis=0).reshape(k, k)).p_value
    if math.isnan(p_value):
        notes.append("the marginal-homogeneity test does not exist for this table")
    return {"p_bias": p_value, "bias_test": "stuart_maxwell"}
