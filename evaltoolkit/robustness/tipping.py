"""How many lost pairs would have to go one way to change what a comparison claims."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from evaltoolkit.comparison.adjusting import Plan
from evaltoolkit.comparison.estimates import (
    Sample,
    choose_interval,
    choose_test,
    margin_tests,
    mean_estimate,
    run_test,
)
from evaltoolkit.robustness.rebuilding import Rebuilt

Side = Literal["baseline", "candidate"]

SCAN = 32
"""Up to this many lost pairs every number is tried; above, the number is found by bisection."""

MEAN_STEPS = 12
"""Halvings of the range in which the mean of the lost pairs is sought."""


class Tipping(NamedTuple):
    """Where a claim turns.

    Attributes:
        pairs: Smallest number of lost pairs that turns it, None where no number does.
        towards: The side that they must favour; empty where no number turns it.
        mean: Mean difference of all lost pairs at which it turns; NaN where none does.
        reason: Why there is no answer; empty where there is one.
    """

    pairs: int | None
    towards: str
    mean: float
    reason: str


@dataclass(frozen=True)
class Filled:
    """The pairs of a hypothesis with its lost ones filled in, by the side that they favour."""

    baseline: Rebuilt
    candidate: Rebuilt


def tipping_point(row: Mapping[Any, Any], filled: Filled, plan: Plan) -> Tipping:
    """Find where the claim of a row turns, by its own unadjusted test at alpha.

    The lost pairs that harm the claim most come first; those that are not needed stay left out.

    Args:
        row: Row of `Comparison.table` made without the lost pairs.
        filled: The same pairs and the lost ones, once in favour of each side.
        plan: The choices of the analysis.
    """
    verdict = str(row["verdict"])
    if verdict == "not_measured":
        return Tipping(None, "", math.nan, "nothing was measured")
    claim = _claim(verdict, plan)
    if not claim(_first(filled.baseline, 0)):
        return Tipping(None, "", math.nan, _UNADJUSTED.get(verdict, _NOT_ALONE))
    tried = [_one_way(claim, getattr(filled, side), side) for side in _against(row)]
    found = [one for one in tried if one.pairs is not None]
    if not found:
        return Tipping(None, "", math.nan, "")
    return min(found, key=lambda one: (one.pairs or 0, one.towards))


_NOT_ALONE = "the claim does not hold by the unadjusted test alone"
_UNADJUSTED = {
    "inconclusive": "the unadjusted test is already below alpha; only the adjustment leaves it open"
}


def _against(row: Mapping[Any, Any]) -> tuple[Side, ...]:
    """Name the sides that lost pairs must favour to harm the claim."""
    if row["verdict"] in ("improved", "noninferior"):
        return ("baseline",)
    return ("candidate",) if row["verdict"] == "regressed" else ("baseline", "candidate")


def _claim(verdict: str, plan: Plan) -> Callable[[Sample], bool]:
    """Give the test of what a verdict claims."""

    def significant(sample: Sample) -> bool:
        return run_test(sample, choose_test(sample, plan.test), plan.flips).p_value <= plan.alpha

    def holds(sample: Sample) -> bool:
        if verdict == "inconclusive":
            return not significant(sample)
        if verdict in ("improved", "regressed"):
            better = (sample.deltas.mean() > 0) == sample.criterion.higher_is_better
            return better == (verdict == "improved") and significant(sample)
        interval = choose_interval(sample, plan.interval)
        estimate = mean_estimate(sample, interval, 1 - plan.alpha)
        margin = plan.margins[sample.criterion.criterion]
        tests = margin_tests(sample, estimate, interval, margin=margin, alpha=plan.alpha)
        name = "p_equivalence" if verdict == "equivalent" else "p_noninferiority"
        return bool(tests[name] <= plan.alpha)

    return holds


def _one_way(claim: Callable[[Sample], bool], filled: Rebuilt, side: Side) -> Tipping:
    lost = int(filled.imputed.sum())
    pairs = _first_failure(lambda k: claim(_first(filled, k)), lost)
    if pairs is None:
        return Tipping(None, "", math.nan, "")
    return Tipping(pairs, side, _mean_at_turn(claim, filled), "")


def _first(filled: Rebuilt, count: int) -> Sample:
    """Take the measured pairs and the first lost ones, largest difference first."""
    return filled.take(np.concatenate([np.flatnonzero(~filled.imputed), _lost(filled)[:count]]))


def _lost(filled: Rebuilt) -> np.ndarray:
    lost = np.flatnonzero(filled.imputed)
    return lost[np.argsort(-np.abs(filled.sample.deltas[lost]), kind="stable")]


def _first_failure(holds: Callable[[int], bool], most: int) -> int | None:
    """Find the smallest number from 1 at which something no longer holds; it holds at 0."""
    if most <= SCAN:
        return next((k for k in range(1, most + 1) if not holds(k)), None)
    if holds(most):
        return None
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high


def _mean_at_turn(claim: Callable[[Sample], bool], filled: Rebuilt) -> float:
    """Find the mean difference of all lost pairs at which the claim turns."""
    if filled.sample.design == "binary":
        return _binary_mean(claim, filled)
    lost = _lost(filled)
    extreme = float(filled.sample.deltas[lost].mean())
    measured = filled.take(np.flatnonzero(~filled.imputed))
    good = next(
        (m for m in (float(measured.deltas.mean()), 0.0) if claim(_all_at(filled, m))), None
    )
    if good is None or claim(_all_at(filled, extreme)):
        return math.nan
    low, high = good, extreme
    for _ in range(MEAN_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if claim(_all_at(filled, middle)) else (low, middle)
    return high


def _binary_mean(claim: Callable[[Sample], bool], filled: Rebuilt) -> float:
    """Of 0/1 outcomes some lost pairs differ, the others tie."""
    lost = _lost(filled)

    def holds(count: int) -> bool:
        candidate = filled.sample.candidate.copy()
        candidate[lost[count:]] = filled.sample.baseline[lost[count:]]
        return claim(replace(filled.sample, candidate=candidate))

    if not holds(0):
        return 0.0
    count = _first_failure(holds, lost.size)
    if count is None:
        return math.nan
    return float(filled.sample.deltas[lost[:count]].sum()) / lost.size


def _all_at(filled: Rebuilt, mean: float) -> Sample:
    """Give every lost pair the same difference."""
    baseline, candidate = filled.sample.baseline.copy(), filled.sample.candidate.copy()
    baseline[filled.imputed], candidate[filled.imputed] = 0.0, mean
    return replace(filled.sample, baseline=baseline, candidate=candidate)
