"""Experiments on one criterion: pass rates, pairs of passes, ratings, trials, clusters."""

from __future__ import annotations

import numpy as np

from evaltoolkit import stats
from tests.calibration import designs
from tests.calibration.experiments import Experiment, Outcomes, Promise
from tests.calibration.outcomes import (
    FLIPS,
    Floats,
    by_table,
    covered,
    covers,
    discordant,
    rejects,
    width,
)

COMMON = {"low": 0.935, "high": 0.985}
"""The band of a 95 % interval that is neither too short nor wastefully long."""

MID_P_HIGH, FLIP_HIGH = 0.055, 0.065
BINARY_PAIR = 0.6


def one_rate(n: int, *, rate: float = 0.9) -> Experiment:
    """Wilson's interval for one pass rate."""

    def simulate(rng: np.random.Generator, size: int) -> Outcomes:
        count = rng.binomial(n, rate, size=size)
        return {"wilson": by_table(lambda x: covers(stats.wilson(x, n), rate), count)}

    promise = Promise("wilson", "Wilson interval", "coverage", low=0.925)
    design = f"passes with probability {rate:g}"
    return Experiment("One pass rate", design, str(n), simulate, (promise,), 20_000, 100_000)


def binary_pairs(n: int, *, candidate: float) -> Experiment:
    """Intervals and the test for a difference of two pass rates, the baseline's being 0.9."""
    rates, truth = np.array([[0.9], [candidate]]), candidate - 0.9

    def simulate(rng: np.random.Generator, size: int) -> Outcomes:
        latent = designs.latent_pairs(rng, size, n, pair=BINARY_PAIR)[..., 0]
        wins, losses = discordant(designs.passes(latent, rates))
        bonett = stats.bonett_price(wins.astype(float), losses.astype(float), np.full(size, n))
        own_width = bonett.high - bonett.low
        tango_width = by_table(lambda b, c: width(stats.tango(b, c, n)), wins, losses)
        return {
            "bonett": ((bonett.low <= truth) & (truth <= bonett.high)).astype(float),
            "tango": by_table(lambda b, c: covers(stats.tango(b, c, n), truth), wins, losses),
            "width": own_width,
            "tango_width": tango_width,
            "excess": own_width - tango_width,
            "mid_p": rejects(by_table(_flip_of_counts, wins, losses)),
        }

    promises = (
        Promise("bonett", "Bonett–Price", "coverage", low=0.90 if n < 20 else 0.935),
        Promise("tango", "Tango", "coverage"),
        Promise("width", "Bonett–Price", "mean width"),
        Promise("tango_width", "Tango", "mean width"),
        Promise("excess", "Bonett–Price minus Tango", "mean width", high=0.0),
    )
    if truth == 0:
        promises += (Promise("mid_p", "sign flip = McNemar, mid-p", "error rate", high=MID_P_HIGH),)
    design = f"pass rates 0.9 and {candidate:g}, latent correlation {BINARY_PAIR:g}"
    return Experiment("Paired passes", design, str(n), simulate, promises, 2_000, 50_000)


def _flip_of_counts(wins: int, losses: int) -> float:
    return stats.sign_flip([1.0] * wins + [-1.0] * losses + [0.0]).p_value


def paired_ratings(n: int, *, shift: float) -> Experiment:
    """The t interval and sign flips on rating differences."""
    truth = float(designs.rating_difference(shift))

    def simulate(rng: np.random.Generator, size: int) -> Outcomes:
        deltas = designs.rating_deltas(designs.latent_pairs(rng, size, n)[..., 0], shift)
        return _means(deltas, truth)

    design = f"ratings 1 to 5, about 60 % ties, true difference {truth:.3g}"
    promises = _mean_promises(null=shift == 0)
    return Experiment("Paired means", design, str(n), simulate, promises, 1_000, 10_000)


def averaged_trials(n: int, *, unlike: float) -> Experiment:
    """The t interval and sign flips on differences of means over three trials."""

    def simulate(rng: np.random.Generator, size: int) -> Outcomes:
        return _means(designs.trial_means(rng, size, n, trials=3, unlike=unlike), 0.0)

    same = "alike on all examples" if unlike == 0 else f"unlike on {unlike:.0%} of the examples"
    design = f"three 0/1 trials averaged, systems {same}, true difference 0"
    promises = _mean_promises(null=True)
    return Experiment("Paired means", design, str(n), simulate, promises, 1_000, 10_000)


def rare_losses(n: int) -> Experiment:
    """A known limit: no interval of a mean knows of losses that it has not seen."""

    def simulate(rng: np.random.Generator, size: int) -> Outcomes:
        deltas = designs.rare_losses(rng, size, n)
        intervals = (stats.paired_t(d) for d in deltas)
        return {"t": covered(intervals, designs.RARE_LOSSES_MEAN)}

    design = "ratings, 90 % ties, 7 % small wins, 3 % losses of 4 points"
    promise = Promise("t", "paired t", "coverage")
    return Experiment("Known limits", design, str(n), simulate, (promise,), 500, 10_000)


def _means(deltas: Floats, truth: float) -> Outcomes:
    return {
        "t": covered((stats.paired_t(d) for d in deltas), truth),
        "flip": rejects(stats.sign_flip(d, draws=FLIPS).p_value for d in deltas),
    }


def _mean_promises(*, null: bool) -> tuple[Promise, ...]:
    interval = Promise("t", "paired t", "coverage", **COMMON)
    test = Promise("flip", "sign flip, mid-p", "error rate", high=MID_P_HIGH)
    return (interval, test) if null else (interval,)


def clustered(n: int, groups: int, *, kind: str, icc: float) -> Experiment:
    """CR2 and flips of whole clusters on clusters of unequal size."""
    sizes = designs.unequal_sizes(n, groups)
    codes = np.repeat(np.arange(groups), sizes)

    def simulate(rng: np.random.Generator, size: int) -> Outcomes:
        latent = designs.clustered_latents(rng, size, sizes, icc=icc)
        if kind == "0/1":
            passed = designs.passes(latent, 0.8)
            deltas = passed[:, 1] - passed[:, 0]
        else:
            deltas = designs.rating_deltas(latent)
        return {
            "cr2": covered((stats.cluster_mean(d, codes) for d in deltas), 0.0),
            "naive": covered((stats.paired_t(d) for d in deltas), 0.0),
            "flip": rejects(stats.cluster_flip(d, codes, draws=FLIPS).p_value for d in deltas),
        }

    promises = (
        Promise("cr2", "CR2, Satterthwaite t", "coverage", **COMMON),
        Promise("naive", "paired t, clusters ignored", "coverage"),
        Promise("flip", "cluster flip, mid-p", "error rate", high=FLIP_HIGH),
    )
    shape = f"{n} in {groups} clusters of {sizes.min()} to {sizes.max()}"
    design = f"{kind}, latent ICC {icc:g}, true difference 0"
    return Experiment("Clusters", design, shape, simulate, promises, 300, 10_000)


SINGLE = (
    *(one_rate(n) for n in (10, 20, 50)),
    *(binary_pairs(n, candidate=p) for p in (0.9, 0.8) for n in (10, 20, 50)),
    *(paired_ratings(n, shift=shift) for shift in (0.0, 0.3) for n in (20, 50)),
    *(averaged_trials(n, unlike=share) for share in (0.0, 0.3) for n in (20, 50)),
    *(
        clustered(n, groups, kind=kind, icc=icc)
        for n, groups in ((50, 10), (100, 20), (300, 30))
        for kind in ("0/1", "ratings")
        for icc in (0.2, 0.5)
    ),
    *(rare_losses(n) for n in (20, 50)),
)
