"""How much per-example differences vary: what every plan rests on, given or from a pilot."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

from evaltoolkit import stats
from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.planning.options import Arguments
from evaltoolkit.stats.sample_size import upper_variance_ratio

UPPER = 0.8
"""One-sided confidence of the pessimistic scenario that a pilot gives."""


@dataclass(frozen=True)
class Spread:
    """One scenario of how paired differences vary.

    Attributes:
        scenario: ``assumed``, ``pilot`` or ``pilot_upper_80``.
        variance: Variance of the per-example differences. Where `noise` is known, of the
            expected scores alone; otherwise as measured, trial noise included. NaN where
            `disagreement` stands in for it.
        noise: Variance between trials of one example, summed over both systems; NaN unknown.
        disagreement: For 0/1 outcomes with one trial, the share of examples on which the
            systems differ; NaN for other outcomes.
        shared: Covariance of the differences of two examples of one cluster; trial noise, which
            examples do not share, is no part of it.
        cluster_size: Examples per cluster; 1 without clusters.
    """

    scenario: str
    variance: float
    noise: float
    disagreement: float
    shared: float
    cluster_size: float

    @property
    def binary(self) -> bool:
        """Whether this is about 0/1 outcomes with one trial."""
        return not math.isnan(self.disagreement)

    @property
    def clustered(self) -> bool:
        """Whether examples come in clusters."""
        return self.cluster_size > 1

    def variance_at(self, trials: int) -> float:
        """Variance of one example's difference when each system has this many trials.

        For 0/1 outcomes it is the disagreement, the variance under no difference.
        """
        base = self.disagreement if self.binary else self.variance
        if math.isnan(self.noise):
            return base
        if self.binary:
            base -= self.noise
        return base + self.noise / trials

    def icc_at(self, trials: int) -> float:
        """Intraclass correlation of differences that rest on this many trials.

        More trials reduce the noise but not what a cluster shares, so it grows with them.
        """
        variance = self.variance_at(trials)
        return min(self.shared / variance, 1.0) if variance > 0 else 0.0

    def design_effect(self, trials: int) -> float:
        """How much clusters inflate the variance of a mean."""
        return 1 + (self.cluster_size - 1) * self.icc_at(trials)


def assumed_spread(given: Arguments, difference: float | None) -> Spread:
    """Make the scenario that the arguments describe.

    Raises:
        EvalToolkitError: Nothing says how much differences vary, or the numbers contradict
            one another.
    """
    if given.binary:
        disagreement = _disagreement(given)
        possible(disagreement, given, difference)
        variance = math.nan
    elif given.sd is None:
        raise EvalToolkitError(
            "nothing says how much the paired differences vary; give a pilot score table, or sd= "
            "(standard deviation of the per-example differences), or for 0/1 outcomes "
            "agreement= (share of examples on which both systems agree)",
            code="no_spread",
            path="sd",
        )
    else:
        disagreement, variance = math.nan, given.sd**2
    noise = math.nan if given.trial_variance is None else sum(given.trial_variance)
    if noise > disagreement:
        raise EvalToolkitError(
            f"trial_variance adds up to {noise:g} over both systems, more than the whole variance "
            f"that a disagreement of {disagreement:g} leaves; lower one or the other",
            code="impossible_agreement",
            path="trial_variance",
            value=given.trial_variance,
        )
    shared = (given.icc or 0.0) * (disagreement if given.binary else variance)
    return Spread("assumed", variance, noise, disagreement, shared, given.cluster_size or 1.0)


def _disagreement(given: Arguments) -> float:
    if given.agreement is not None:
        return 1 - given.agreement
    old, new = given.p_baseline, given.p_candidate
    if old is None or new is None:
        raise EvalToolkitError(
            "one pass rate does not say how often the two systems differ; give agreement= (share "
            "of examples on which both agree), or both p_baseline= and p_candidate= to plan as if "
            "the systems passed independently of one another",
            code="no_spread",
            path="agreement",
        )
    return old * (1 - new) + new * (1 - old)


def possible(disagreement: float, given: Arguments, difference: float | None) -> None:
    """Refuse a disagreement that does not go with the difference and the pass rates.

    Raises:
        EvalToolkitError: It does not (code ``impossible_agreement`` or ``no_spread``).
    """
    if disagreement <= 0:
        raise EvalToolkitError(
            "the systems agree on every example, so the paired differences have no spread and "
            "no number of examples follows; give a smaller agreement=",
            code="no_spread",
            path="agreement",
        )
    size = 0.0 if difference is None else abs(difference)
    if size > disagreement + 1e-12:
        raise EvalToolkitError(
            f"a difference of {size:g} needs disagreement on at least that share of examples, but "
            f"only {disagreement:g} is left (agreement {1 - disagreement:g}); agreement can be "
            f"{1 - size:g} at most",
            code="impossible_agreement",
            path="agreement",
            value=1 - disagreement,
        )
    old, new = given.p_baseline, given.p_candidate
    if difference is not None:
        old = new - difference if old is None and new is not None else old
        new = old + difference if new is None and old is not None else new
    if old is None or new is None:
        return
    most = old + new - 2 * max(old + new - 1, 0.0)
    if disagreement > most + 1e-12:
        raise EvalToolkitError(
            f"pass rates of {old:g} and {new:g} allow disagreement on "
            f"at most {most:g} of the examples, not {disagreement:g}; agreement must be at least "
            f"{1 - most:g}",
            code="impossible_agreement",
            path="agreement",
            value=1 - disagreement,
        )


class Size(NamedTuple):
    """How large the pilot was: pairs, and independent units among them."""

    n: int
    units: int


def pessimistic(spread: Spread, size: Size) -> Spread:
    """Give the scenario at the upper 80 % bound of the pilot's spread.

    Variances are multiplied by the chi-square ratio; a disagreement gets its Wilson bound.
    """
    ratio = upper_variance_ratio(size.units - 1, confidence=UPPER)
    disagreement, shared = spread.disagreement, spread.shared * ratio
    if spread.binary:
        # The upper end of the two-sided interval at 1 - 2 (1 - .8) is the one-sided bound.
        bound = stats.wilson(round(disagreement * size.n), size.n, level=2 * UPPER - 1)
        disagreement = bound.high
        shared = spread.shared * disagreement / spread.disagreement
    return replace(
        spread,
        scenario="pilot_upper_80",
        variance=spread.variance * ratio,
        noise=spread.noise * ratio,
        disagreement=disagreement,
        shared=shared,
    )
