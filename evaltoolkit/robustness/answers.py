"""What each method answers on the pairs of one hypothesis: estimate, interval, p-value.

Every answer is candidate minus baseline in the criterion's own numbers, and 0 means no difference.
An interval and a p-value stand in one answer only if they are about the same quantity.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from evaltoolkit import stats
from evaltoolkit.comparison.estimates import Sample
from evaltoolkit.formatting import format_number

MEAN = "mean difference"
POSTERIOR = "posterior of the mean difference"
WALSH = "median of pairwise averages (Hodges-Lehmann)"
RANKS = "balance of signed ranks (rank-biserial)"
SIGNS = "P(higher) - P(lower) among pairs that differ"
ALL_SIGNS = "P(higher) - P(lower), ties included"

_CLUSTER_KINDS = {"cr0_t": "CR0", "cr1_t": "CR1", "cr2_t": "CR2", "cr3_t": "CR3"}


@dataclass(frozen=True)
class Ask:
    """How the methods are run: level of the intervals, random draws and their seed."""

    level: float
    draws: int
    seed: int


@dataclass(frozen=True)
class Answer:
    """What one method says.

    Attributes:
        method: Its key; see `METHOD_NAMES` of the sentences.
        estimand: What the numbers are about.
        estimate: NaN where the method has no direction.
        low: Lower end of the interval, NaN where there is none.
        high: Upper end.
        p_value: Two-sided and not adjusted, NaN where there is none.
        same_as: Method that answers alike by construction, so that both count once.
        replication: Whether it is only there to replicate published numbers.
        note: What a reader must know.
    """

    method: str
    estimand: str
    estimate: float
    low: float = math.nan
    high: float = math.nan
    p_value: float = math.nan
    same_as: str = ""
    replication: bool = False
    note: str = ""


def answers_of(sample: Sample, ask: Ask) -> list[Answer]:
    """Ask every method that applies to the design of a sample with at least one pair."""
    by_design = {"binary": _binary, "plain": _plain, "clustered": _clustered}
    return [_checked(answer) for answer in by_design[sample.design](sample, ask)]


def _checked(answer: Answer) -> Answer:
    """Take away intervals without a width, and say why there is no answer."""
    if answer.low == answer.high:
        answer = replace(
            answer, low=math.nan, high=math.nan, note=_joined(answer.note, "no width, not shown")
        )
    unbounded = math.isinf(answer.low) or math.isinf(answer.high)
    silent = math.isnan(answer.low) and math.isnan(answer.p_value)
    if silent and not answer.note:
        answer = replace(answer, note="not defined: too few pairs, or no variance")
    if unbounded:
        why = "unbounded: too many resamples without variance"
        answer = replace(answer, note=_joined(answer.note, why))
    return answer


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)


def _binary(sample: Sample, ask: Ask) -> Iterator[Answer]:
    yield from _mcnemar(sample)
    yield from _binary_intervals(sample, ask)
    yield from _means(sample, ask)
    yield from _flips(sample, ask, same_as={"sign_flip": "mcnemar_midp",
                                            "sign_flip_exact": "mcnemar_exact"})  # fmt: skip
    yield replace(_sign_test(sample, ask), same_as="mcnemar_exact")
    for answer in _wilcoxon(sample):
        exact = "exact" in answer.note
        yield replace(answer, same_as="mcnemar_exact" if exact else "mcnemar_score")
    yield from _bootstrap(sample, ask)
    yield _bayes(sample, ask)


def _plain(sample: Sample, ask: Ask) -> Iterator[Answer]:
    yield from _means(sample, ask)
    yield from _flips(sample, ask, same_as={})
    yield from _bootstrap(sample, ask)
    yield from _wilcoxon(sample)
    yield _hodges_lehmann(sample, ask)
    yield _sign_test(sample, ask)
    yield _win_rate(sample, ask)


def _clustered(sample: Sample, ask: Ask) -> Iterator[Answer]:
    codes = sample.clusters if sample.clusters is not None else np.arange(sample.n)
    for method, kind in _CLUSTER_KINDS.items():
        found = stats.cluster_mean(sample.deltas, codes, kind=kind, level=ask.level)
        yield _of_mean(method, found)
        if kind == "CR0":
            normal = stats.mean_estimate(
                found.mean, found.se, math.inf, level=ask.level, n=found.n, n_units=found.n_units
            )
            yield replace(_of_mean("cr0_z", normal), replication=True)
    for method, mid_p in (("cluster_flip", True), ("cluster_flip_exact", False)):
        flipped = stats.cluster_flip(
            sample.deltas, codes, mid_p=mid_p, draws=ask.draws, seed=ask.seed
        )
        yield _of_flips(method, sample, flipped)
    yield _of_flips("cluster_permutation", sample, _whole_clusters(sample, ask))
    yield from _bootstrap(sample, ask)
    naive = _of_mean("t", stats.paired_t(sample.deltas, level=ask.level))
    yield replace(naive, replication=True, note=_joined(naive.note, "ignores the clusters"))


def _mean(sample: Sample) -> float:
    return float(sample.deltas.mean())


def _of_mean(method: str, found: stats.MeanEstimate) -> Answer:
    return Answer(method, MEAN, found.mean, found.low, found.high, found.p_value)


def _means(sample: Sample, ask: Ask) -> Iterator[Answer]:
    yield _of_mean("t", stats.paired_t(sample.deltas, level=ask.level))
    normal = _of_mean("z", stats.paired_z(sample.deltas, level=ask.level))
    yield replace(normal, replication=True)


def _flips(sample: Sample, ask: Ask, *, same_as: dict[str, str]) -> Iterator[Answer]:
    for method, mid_p in (("sign_flip", True), ("sign_flip_exact", False)):
        flipped = stats.sign_flip(sample.deltas, mid_p=mid_p, draws=ask.draws, seed=ask.seed)
        yield replace(_of_flips(method, sample, flipped), same_as=same_as.get(method, ""))


def _of_flips(method: str, sample: Sample, flipped: stats.FlipTest) -> Answer:
    p = flipped.p_value
    if math.isnan(p):
        return Answer(method, MEAN, _mean(sample), note="not defined: one cluster")
    drawn = flipped.method == "monte_carlo"
    how = f"{int(flipped.total):,} random flips" if drawn else "exact"
    return Answer(method, MEAN, _mean(sample), p_value=p, note=how)


def _whole_clusters(sample: Sample, ask: Ask) -> stats.FlipTest:
    """Flip the sums of whole clusters, not studentised: a permutation test of the mean itself."""
    codes = np.arange(sample.n) if sample.clusters is None else sample.clusters
    numbers = np.unique(codes, return_inverse=True)[1]
    largest = float(np.max(np.abs(sample.deltas), initial=0.0))
    sums = stats.snap(np.bincount(numbers, weights=sample.deltas), scale=largest)
    if sums.size < 2:
        return stats.FlipTest(math.nan, 0, 0, 0, "none")
    return stats.sign_flip(sums, mid_p=False, draws=ask.draws, seed=ask.seed)


def _bootstrap(sample: Sample, ask: Ask) -> Iterator[Answer]:
    """Resample examples, or whole clusters; the same seed gives all methods the same samples."""
    whole = "cluster_" if sample.clusters is not None else ""
    found = stats.bootstrap_intervals(
        sample.deltas,
        methods=("percentile", "bca", "studentized"),
        clusters=None if sample.clusters is None else sample.clusters.tolist(),
        level=ask.level,
        draws=ask.draws,
        seed=ask.seed,
    )
    for kind, (low, high) in found.items():
        yield Answer(f"{whole}bootstrap_{kind}", MEAN, _mean(sample), low, high)


def _wilcoxon(sample: Sample) -> Iterator[Answer]:
    for zeros in ("wilcox", "pratt"):
        found = stats.wilcoxon(sample.deltas, zeros=zeros)
        estimate = stats.rank_biserial(sample.deltas, zeros=zeros)
        note = {"normal": "normal approximation", "all_ties": "every pair ties"}.get(
            found.method, found.method.replace("_", " ")
        )
        estimate = 0.0 if math.isnan(estimate) else estimate
        yield Answer(f"wilcoxon_{zeros}", RANKS, estimate, p_value=found.p_value, note=note)


def _hodges_lehmann(sample: Sample, ask: Ask) -> Answer:
    found = stats.hodges_lehmann(sample.deltas, level=ask.level)
    ties = sample.n - sample.positive - sample.negative
    note = f"{ties} ties count as 0 and pull it there" if ties else ""
    if math.isnan(found.low):
        note = _joined(note, f"no interval at this level from {sample.n} pairs")
    return Answer("hodges_lehmann", WALSH, found.estimate, found.low, found.high, note=note)


def _sign_test(sample: Sample, ask: Ask) -> Answer:
    """Test the signs, with the exact interval of the share, moved so that 0 is no difference."""
    found = stats.sign_test(sample.deltas)
    moved = found.wins + found.losses
    if not moved:
        return Answer("sign_test", SIGNS, 0.0, p_value=found.p_value, note="every pair ties")
    low, high = stats.clopper_pearson(found.wins, moved, level=ask.level)
    return Answer(
        "sign_test",
        SIGNS,
        (found.wins - found.losses) / moved,
        2 * low - 1,
        2 * high - 1,
        found.p_value,
        note=f"{found.wins} higher, {found.losses} lower, ties left out",
    )


def _win_rate(sample: Sample, ask: Ask) -> Answer:
    higher, lower = sample.positive, sample.negative
    low, high = stats.bonett_price(higher, lower, sample.n, level=ask.level)
    superiority = format_number(stats.prob_superiority(sample.deltas))
    return Answer(
        "win_rate",
        ALL_SIGNS,
        (higher - lower) / sample.n,
        low,
        high,
        stats.mcnemar_midp(higher, lower),
        note=f"probability of superiority {superiority}",
    )


def _mcnemar(sample: Sample) -> Iterator[Answer]:
    higher, lower = sample.positive, sample.negative
    p_values = {
        "mcnemar_midp": stats.mcnemar_midp(higher, lower),
        "mcnemar_exact": stats.mcnemar_exact(higher, lower),
        "mcnemar_score": stats.mcnemar_score(higher, lower).p_value,
    }
    for method, p in p_values.items():
        yield Answer(method, MEAN, _mean(sample), p_value=p)


def _binary_intervals(sample: Sample, ask: Ask) -> Iterator[Answer]:
    higher, lower, n, level = sample.positive, sample.negative, sample.n, ask.level
    intervals = {
        "bonett_price": stats.bonett_price(higher, lower, n, level=level),
        "tango": stats.tango(higher, lower, n, level=level),
        "newcombe": stats.newcombe(*sample.counts, level=level),
        "agresti_min": stats.agresti_min(higher, lower, n, level=level),
    }
    for method, (low, high) in intervals.items():
        # Tango's interval holds the differences that the score test does not reject.
        same_as = "mcnemar_score" if method == "tango" else ""
        yield Answer(method, MEAN, _mean(sample), low, high, same_as=same_as)


def _bayes(sample: Sample, ask: Ask) -> Answer:
    cells = sample.counts
    low, high = stats.dirichlet_interval(*cells, level=ask.level, seed=ask.seed)
    chance = stats.win_share(cells.wins, cells.losses).probability
    return Answer(
        "bayes_dirichlet",
        POSTERIOR,
        (cells.wins - cells.losses) / (sample.n + 4),
        low,
        high,
        note=f"uniform prior on the four cells; P(candidate higher) = {chance:.4f}",
    )
