"""One hypothesis at a time: estimate, interval and test of a paired difference."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltoolkit import stats
from evaltoolkit.criteria import CriterionInfo
from evaltoolkit.errors import PairingError, listed, nearest

Floats = NDArray[np.float64]
Design = Literal["binary", "plain", "clustered"]

FLIP_CLUSTERS = 8
"""From this many clusters on whole clusters are flipped; below, p comes from CR2 and t."""


@dataclass(frozen=True)
class Sample:
    """The pairs of one hypothesis as arrays, in the order of their units.

    Attributes:
        criterion: What is known of the criterion.
        units: Number of each pair's example among all examples.
        baseline: Per-example means of the baseline.
        candidate: Per-example means of the candidate.
        clusters: Cluster codes, or None where all pairs are independent.
        single_trial: Whether every mean is of one scored trial.
    """

    criterion: CriterionInfo
    units: NDArray[np.int64]
    baseline: Floats
    candidate: Floats
    clusters: NDArray[np.int64] | None
    single_trial: bool

    @cached_property
    def deltas(self) -> Floats:
        """Candidate minus baseline, ties within a relative 1e-9 exactly zero."""
        return stats.snap_ties(self.baseline, self.candidate)

    @property
    def n(self) -> int:
        """Number of pairs."""
        return int(self.deltas.size)

    @cached_property
    def n_clusters(self) -> int:
        """Number of clusters; the number of pairs where there are none."""
        return self.n if self.clusters is None else int(np.unique(self.clusters).size)

    @cached_property
    def df_clusters(self) -> float:
        """Satterthwaite degrees of freedom that the clusters carry; NaN without clusters."""
        if self.clusters is None:
            return math.nan
        return float(stats.satterthwaite_df(np.unique(self.clusters, return_counts=True)[1]))

    @property
    def positive(self) -> int:
        """Pairs in which the candidate's number is larger."""
        return int((self.deltas > 0).sum())

    @property
    def negative(self) -> int:
        """Pairs in which the candidate's number is smaller."""
        return int((self.deltas < 0).sum())

    @property
    def design(self) -> Design:
        """Which family of methods applies."""
        if self.clusters is not None:
            return "clustered"
        return "binary" if self.criterion.kind == "binary" and self.single_trial else "plain"

    @cached_property
    def counts(self) -> stats.PairedCounts:
        """The four cells of the paired 2 x 2 table (binary design only)."""
        return stats.paired_counts(self.baseline, self.candidate)


def _mean(kind: str) -> Callable[[Sample, float], stats.MeanEstimate]:
    def estimate(sample: Sample, level: float) -> stats.MeanEstimate:
        if kind == "t":
            return stats.paired_t(sample.deltas, level=level)
        if kind == "z":
            return stats.paired_z(sample.deltas, level=level)
        codes = np.arange(sample.n) if sample.clusters is None else sample.clusters
        return stats.cluster_mean(sample.deltas, codes, kind=kind, level=level)

    return estimate


_MEANS: Mapping[str, Callable[[Sample, float], stats.MeanEstimate]] = {
    "t": _mean("t"),
    "z": _mean("z"),
    "cr0_t": _mean("CR0"),
    "cr1_t": _mean("CR1"),
    "cr2_t": _mean("CR2"),
    "cr3_t": _mean("CR3"),
}

_BINARY: Mapping[str, Callable[[Sample, float], stats.Interval]] = {
    "bonett_price": lambda s, level: stats.bonett_price(s.positive, s.negative, s.n, level=level),
    "tango": lambda s, level: stats.tango(s.positive, s.negative, s.n, level=level),
    "newcombe": lambda s, level: stats.newcombe(*s.counts, level=level),
    "agresti_min": lambda s, level: stats.agresti_min(s.positive, s.negative, s.n, level=level),
    "wald": lambda s, level: stats.wald_paired(s.positive, s.negative, s.n, level=level),
}

_BOOTSTRAP: Mapping[str, Literal["percentile", "bca", "studentized"]] = {
    "bootstrap_percentile": "percentile",
    "bootstrap_bca": "bca",
    "bootstrap_t": "studentized",
}

MOST_RESAMPLES, LEAST_IN_TAIL = 100_000, 5
"""Resamples are extended up to the first number so that tails hold twice the second; an interval
whose tails would still hold fewer than the second is not given."""

_DESIGN_OF_INTERVAL: Mapping[str, tuple[Design, ...]] = {
    **dict.fromkeys(_BOOTSTRAP, ("binary", "plain", "clustered")),
    **dict.fromkeys(_BINARY, ("binary",)),
    "t": ("binary", "plain"),
    "z": ("binary", "plain"),
    **dict.fromkeys(("cr0_t", "cr1_t", "cr2_t", "cr3_t"), ("clustered",)),
}

_DESIGN_OF_TEST: Mapping[str, tuple[Design, ...]] = {
    **dict.fromkeys(("mcnemar_midp", "mcnemar_exact", "mcnemar_score"), ("binary",)),
    **dict.fromkeys(("sign_flip", "sign_flip_exact", "t", "z"), ("binary", "plain")),
    **dict.fromkeys(("cluster_flip", "cr0_t", "cr1_t", "cr2_t", "cr3_t"), ("clustered",)),
}

_DEFAULT_INTERVAL: Mapping[Design, str] = {
    "binary": "bonett_price",
    "plain": "t",
    "clustered": "cr2_t",
}

_OTHER_ESTIMAND = ("wilcoxon", "sign", "sign_test", "mann_whitney", "friedman")


def check_methods(test: str | None, interval: str | None) -> None:
    """Refuse unknown tests and intervals, and tests of another estimand than the mean."""
    if test in _OTHER_ESTIMAND:
        raise PairingError(
            f"test={test!r} does not test the mean difference, so its p-value must not stand "
            "beside an interval of the mean; rank evidence that points the other way is named in "
            f"the column note. Allowed are {listed(_DESIGN_OF_TEST, limit=20)}",
            code="other_estimand",
            path="test",
            value=test,
        )
    for name, value, known in (
        ("test", test, _DESIGN_OF_TEST),
        ("interval", interval, _DESIGN_OF_INTERVAL),
    ):
        if value is not None and value not in known:
            raise PairingError(
                f"{name} is {value!r}; it must be one of {listed(known, limit=20)} "
                f"({nearest(value, known)})",
                code="bad_option",
                path=name,
                value=value,
            )


def choose_interval(sample: Sample, wanted: str | None) -> str:
    """Name the interval of a sample: the wanted one where it applies, else the default."""
    if wanted is not None and sample.design in _DESIGN_OF_INTERVAL[wanted]:
        return wanted
    return _DEFAULT_INTERVAL[sample.design]


def choose_test(sample: Sample, wanted: str | None) -> str:
    """Name the test of a sample: the wanted one where it applies, else the default."""
    if wanted is not None and sample.design in _DESIGN_OF_TEST[wanted]:
        return wanted
    if sample.design == "clustered":
        return "cluster_flip" if sample.n_clusters >= FLIP_CLUSTERS else "cr2_t"
    return "mcnemar_midp" if sample.design == "binary" else "sign_flip"


@dataclass(frozen=True)
class Flips:
    """How random sign flips and bootstrap resamples are drawn."""

    draws: int
    max_draws: int
    seed: int


USUAL_FLIPS = Flips(10_000, 10_000, 0)


def interval_at(
    sample: Sample, name: str, level: float, flips: Flips = USUAL_FLIPS
) -> tuple[float, float]:
    """Compute a named interval of the mean difference at a level."""
    if name in _BOOTSTRAP:
        return _resampled(sample, name, level, flips)
    if name in _BINARY:
        low, high = _BINARY[name](sample, level)
    else:
        estimate = _MEANS[name](sample, level)
        low, high = estimate.low, estimate.high
    return float(low), float(high)


def _resampled(sample: Sample, name: str, level: float, flips: Flips) -> tuple[float, float]:
    needed = math.ceil(4 * LEAST_IN_TAIL / (1 - level))
    draws = max(flips.draws, min(needed, MOST_RESAMPLES))
    if draws * (1 - level) / 2 < LEAST_IN_TAIL:
        return math.nan, math.nan
    low, high = stats.bootstrap_interval(
        sample.deltas,
        method=_BOOTSTRAP[name],
        clusters=sample.clusters,
        level=level,
        draws=draws,
        seed=flips.seed,
    )
    # Too many resamples without spread leave an end of the studentised interval open.
    return (low, high) if math.isfinite(low) and math.isfinite(high) else (math.nan, math.nan)


def is_bootstrap(interval: str) -> bool:
    """Whether a named interval comes from resampling."""
    return interval in _BOOTSTRAP


def mean_estimate(sample: Sample, interval: str, level: float) -> stats.MeanEstimate:
    """Give mean, standard error and degrees of freedom that go with a named interval."""
    if interval in _BINARY:
        return stats.paired_t(sample.deltas, level=level)
    return _MEANS[_with_formula(sample, interval)](sample, level)


def _with_formula(sample: Sample, interval: str) -> str:
    """Name the interval whose standard error and margin tests stand beside a resampled one."""
    if interval not in _BOOTSTRAP:
        return interval
    return "cr2_t" if sample.design == "clustered" else "t"


class TestResult(NamedTuple):
    """A p-value, the name of the test that gave it, and a remark ("" for the usual)."""

    test: str
    p_value: float
    remark: str


def run_test(sample: Sample, name: str, flips: Flips) -> TestResult:
    """Compute the two-sided p-value of a named test.

    Where a t test has no variance to divide by, the flips decide (their name is returned).
    """
    if sample.n == 0:
        return TestResult("none", math.nan, "")
    if name in _FLIPS:
        return _flip(sample, name, flips)
    if name in _MCNEMAR:
        return TestResult(name, _MCNEMAR[name](sample.positive, sample.negative), "")
    p = float(_MEANS[name](sample, 0.95).p_value)
    if not math.isnan(p):
        return TestResult(name, p, "")
    return _flip(sample, "sign_flip" if sample.clusters is None else "cluster_flip", flips)


_FLIPS = ("sign_flip", "sign_flip_exact", "cluster_flip")

_MCNEMAR: Mapping[str, Callable[[int, int], float]] = {
    "mcnemar_midp": lambda wins, losses: float(stats.mcnemar_midp(wins, losses)),
    "mcnemar_exact": lambda wins, losses: float(stats.mcnemar_exact(wins, losses)),
    "mcnemar_score": lambda wins, losses: float(stats.mcnemar_score(wins, losses).p_value),
}


def _flip(sample: Sample, name: str, flips: Flips) -> TestResult:
    draws, most, seed = flips.draws, flips.max_draws, flips.seed
    if sample.clusters is not None:
        test = stats.cluster_flip(
            sample.deltas, sample.clusters, draws=draws, max_draws=most, seed=seed
        )
    else:
        mid_p = name != "sign_flip_exact"
        test = stats.sign_flip(sample.deltas, mid_p=mid_p, draws=draws, max_draws=most, seed=seed)
    at_floor = test.method == "monte_carlo" and test.greater + test.equal == 0
    remark = f"none of {int(test.total):,} random flips reached the observed mean"
    p = float(test.p_value)
    return TestResult("none" if math.isnan(p) else name, p, remark if at_floor else "")


def effect_size(sample: Sample) -> tuple[float, str]:
    """Give the standardised effect: Cohen's g of discordant pairs, else Hedges' g of d_z."""
    if sample.design == "binary":
        return float(stats.cohens_g(sample.positive, sample.negative)), "cohens_g"
    return float(stats.hedges_g_z(sample.deltas)), "hedges_g_z"


def margin_tests(
    sample: Sample, estimate: stats.MeanEstimate, interval: str, *, margin: float, alpha: float
) -> dict[str, Any]:
    """Test equivalence and non-inferiority against a margin; NaN where no margin is given."""
    if math.isnan(margin) or sample.n == 0:
        nan = math.nan
        return {
            "margin_low": nan, "margin_high": nan, "p_equivalence": nan, "p_noninferiority": nan
        }  # fmt: skip
    better = 1 if sample.criterion.higher_is_better else -1
    if sample.design == "binary":
        wins, losses = (sample.positive, sample.negative)[::better]
        low, high = interval_at(sample, "tango", 1 - 2 * alpha)
        equivalence = stats.tango_equivalence(wins, losses, sample.n, margin=margin).p_value
        noninferior = stats.tango_test(wins, losses, sample.n, margin=margin).p_value
    else:
        low, high = interval_at(sample, _with_formula(sample, interval), 1 - 2 * alpha)
        mean, se, df = estimate.mean, estimate.se, estimate.df
        equivalence = stats.tost(mean, se, df, low=-margin, high=margin).p_value
        noninferior = stats.noninferiority(better * mean, se, df, margin=margin)
    return {
        "margin_low": low,
        "margin_high": high,
        "p_equivalence": float(equivalence),
        "p_noninferiority": float(noninferior),
    }
