"""All pairs of systems: difference, interval and test of each, adjusted together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evaltoolkit import stats
from evaltoolkit.ranking.blocks import Blocks

FLIP_CLUSTERS = 8
"""From this many clusters on whole clusters are flipped; below, p comes from CR2 and t."""

NORMAL_MAXT_FROM = 20_000
"""Above this many examples max-t uses the normal limit instead of sign flips."""

FEW_NONZERO = 10
"""With fewer non-zero differences no interval or test of a mean can be relied on."""

INTERVAL_OF = {"binary": "bonett_price", "plain": "t", "clustered": "cr2_t"}


@dataclass(frozen=True)
class Plan:
    """How pairs are tested: correction, level, and how random sign flips are drawn."""

    correction: str
    alpha: float
    draws: int
    seed: int


@dataclass(frozen=True)
class Family:
    """What the adjustment over all pairs came to.

    Attributes:
        p_adjusted: One per pair, NaN where it has no p-value.
        correction: The method that was used.
        alpha_star: Level at which each interval is joint; NaN where there is none.
        size: Number of distinct hypotheses.
        note: Why another method than the asked one was used; usually empty.
    """

    p_adjusted: stats.Floats
    correction: str
    alpha_star: float
    size: int
    note: str = ""


def all_pairs(blocks: Blocks, order: Sequence[int], plan: Plan) -> tuple[pd.DataFrame, Family]:
    """Compare every two systems, the one that is first in `order` minus the other.

    Returns:
        One row per pair, and the facts of the family that they form.
    """
    ends = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    values = blocks.values
    deltas = np.column_stack([stats.snap_ties(values[:, b], values[:, a]) for a, b in ends])
    rows = [
        {
            "system_a": blocks.systems[a],
            "system_b": blocks.systems[b],
            **_estimate(blocks, deltas[:, column], plan, family_size=len(ends)),
        }
        for column, (a, b) in enumerate(ends)
    ]
    table = pd.DataFrame(rows)
    family = adjust_pairs(deltas, table["p_value"].to_numpy(), blocks.clusters, plan)
    joint = [_joint(blocks, column, family.alpha_star) for column in deltas.T]
    table["joint_low"], table["joint_high"] = np.array(joint, dtype=np.float64).T
    table["p_adjusted"], table["correction"] = family.p_adjusted, family.correction
    return table, family


def _estimate(
    blocks: Blocks, delta: stats.Floats, plan: Plan, *, family_size: int
) -> dict[str, Any]:
    estimate = _mean_estimate(blocks, delta, 1 - plan.alpha)
    low, high = _interval(blocks, delta, 1 - plan.alpha)
    positive, negative = int((delta > 0).sum()), int((delta < 0).sum())
    wins, losses = (positive, negative)[:: 1 if blocks.higher_is_better else -1]
    test, p_value = _test(blocks, delta, plan, family_size=family_size)
    return {
        "n_pairs": blocks.n,
        "delta": float(delta.mean()),
        "se": estimate.se,
        "df": estimate.df,
        "ci_low": low,
        "ci_high": high,
        "interval": INTERVAL_OF[blocks.design],
        "wins": wins,
        "losses": losses,
        "ties": blocks.n - wins - losses,
        "test": test,
        "p_value": p_value,
        "note": _note(blocks, delta, estimate.se),
    }


def _mean_estimate(blocks: Blocks, delta: stats.Floats, level: float) -> stats.MeanEstimate:
    if blocks.clusters is None:
        return stats.paired_t(delta, level=level)
    return stats.cluster_mean(delta, blocks.clusters, level=level)


def _interval(blocks: Blocks, delta: stats.Floats, level: float) -> tuple[float, float]:
    if blocks.design == "binary":
        positive, negative = int((delta > 0).sum()), int((delta < 0).sum())
        low, high = stats.bonett_price(positive, negative, blocks.n, level=level)
        return float(low), float(high)
    estimate = _mean_estimate(blocks, delta, level)
    return estimate.low, estimate.high


def _joint(blocks: Blocks, delta: stats.Floats, alpha_star: float) -> tuple[float, float]:
    if math.isnan(alpha_star):
        return math.nan, math.nan
    return _interval(blocks, delta, 1 - alpha_star)


def _test(
    blocks: Blocks, delta: stats.Floats, plan: Plan, *, family_size: int
) -> tuple[str, float]:
    """Name and p-value of the test that goes with the design."""
    if blocks.design == "binary":
        wins, losses = int((delta > 0).sum()), int((delta < 0).sum())
        return "mcnemar_midp", float(stats.mcnemar_midp(wins, losses))
    # A p-value at the floor of the draws must be able to survive the correction.
    most = max(plan.draws, math.ceil(4 * family_size / plan.alpha))
    if blocks.clusters is None:
        flip = stats.sign_flip(delta, draws=plan.draws, max_draws=most, seed=plan.seed)
        return "sign_flip", float(flip.p_value)
    p_value = _mean_estimate(blocks, delta, 0.95).p_value
    if blocks.n_clusters < FLIP_CLUSTERS and not math.isnan(p_value):
        return "cr2_t", float(p_value)
    flip = stats.cluster_flip(
        delta, blocks.clusters, draws=plan.draws, max_draws=most, seed=plan.seed
    )
    return ("none" if math.isnan(flip.p_value) else "cluster_flip"), float(flip.p_value)


def _note(blocks: Blocks, delta: stats.Floats, se: float) -> str:
    if blocks.n == 1:
        return "one example: no variance"
    if blocks.n_clusters == 1:
        return "one cluster: no inference is possible"
    nonzero = int(np.count_nonzero(delta))
    if not nonzero:
        return "the two systems score the same on every example"
    few = f"only {nonzero} non-zero difference(s)" if nonzero < FEW_NONZERO else ""
    flat = "no variance, the p-value comes from sign flips" if se == 0 else ""
    return "; ".join(part for part in (few, flat) if part)


def adjust_pairs(
    deltas: stats.Floats, p_values: stats.Floats, clusters: NDArray[np.int64] | None, plan: Plan
) -> Family:
    """Adjust the p-values of all pairs; pairs with the same data count once.

    Args:
        deltas: Array (examples, pairs) of differences.
        p_values: Unadjusted p-values, NaN where a pair has none.
        clusters: Cluster codes of the examples, or None.
        plan: Correction, level, draws and seed.
    """
    first = _first_of_identical(deltas)
    distinct = np.unique(first[~np.isnan(p_values)])
    if distinct.size <= 1:
        return Family(p_values.copy(), "single", plan.alpha, int(distinct.size))
    adjusted = np.full(len(p_values), math.nan)
    used, note, alpha_star = plan.correction, "", math.nan
    if used == "maxt" and clusters is not None and np.unique(clusters).size < FLIP_CLUSTERS:
        used, note = "holm", f"fewer than {FLIP_CLUSTERS} clusters: Holm instead of max-t"
    if used == "maxt":
        joint = _max_t(deltas[:, distinct], clusters, plan)
        used = "maxt_normal" if joint.method == "normal" else "maxt"
        adjusted[distinct] = np.fmax(p_values[distinct], joint.p_step_down)
        alpha_star = joint.alpha_star
    else:
        adjusted[distinct] = stats.adjust(p_values[distinct], method=used, alpha=plan.alpha)
        if stats.METHODS[used].joint == "bonferroni":
            alpha_star = plan.alpha / distinct.size
    return Family(adjusted[first], used, float(alpha_star), int(distinct.size), note)


def _max_t(deltas: stats.Floats, clusters: NDArray[np.int64] | None, plan: Plan) -> stats.MaxT:
    if len(deltas) > NORMAL_MAXT_FROM:
        return stats.max_normal(deltas, clusters=clusters, alpha=plan.alpha, seed=plan.seed)
    return stats.max_t(
        deltas, clusters=clusters, alpha=plan.alpha, draws=plan.draws, seed=plan.seed
    )


def _first_of_identical(deltas: stats.Floats) -> NDArray[np.int64]:
    """Number of the first pair with the same differences, or the same with the other sign."""
    seen: dict[bytes, int] = {}
    first = []
    for number, column in enumerate(deltas.T):
        mirror = seen.get((0.0 - column).tobytes())
        own = seen.setdefault((column + 0.0).tobytes(), number if mirror is None else mirror)
        first.append(own)
    return np.array(first, dtype=np.int64)
