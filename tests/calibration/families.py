"""Experiments on several criteria at once, and on equivalence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evaltoolkit import stats
from tests.calibration import designs
from tests.calibration.experiments import Experiment, Outcomes, Promise
from tests.calibration.outcomes import (
    ALPHA,
    FLIPS,
    Floats,
    all_covered,
    by_table,
    discordant,
    false_share,
    flip_p_values,
    rejects,
)

CRITERIA, EXAMPLES = 20, 30
SHIFT, LARGE_SHIFT = 0.45, 0.6
"""Latent effects; the first gives about 60 % power without correction, the second 80 %."""

ERROR_HIGH = 0.055
SMALL_FAMILIES = 120


def family(
    correlation: float,
    *,
    effects: int,
    shift: float = SHIFT,
    shares: designs.Shares = designs.TOP_HEAVY,
    limit: bool = False,
) -> Experiment:
    """Twenty rated criteria, some of them with a true effect."""
    shifts = np.where(np.arange(CRITERIA) < effects, shift, 0.0)
    truth, moved = designs.rating_difference(shifts, shares=shares), shifts > 0

    def simulate(rng: np.random.Generator, size: int) -> Outcomes:
        latent = designs.latent_pairs(rng, size, EXAMPLES, m=CRITERIA, criteria=correlation)
        deltas = designs.rating_deltas(latent, shifts, shares=shares)
        rows = [_one(d, truth, moved) for d in deltas]
        return {key: np.array([row[key] for row in rows]) for key in rows[0]}

    effect = f"{effects} with an effect of {truth[0]:.2g}" if effects else "none with an effect"
    scale = "1 to 5" if shares == designs.TOP_HEAVY else "1 to 5 (central)"
    design = f"{CRITERIA} criteria rated {scale}, {effect}, correlation {correlation:g}"
    promises = _promises(power=effects > 0, limit=limit)
    return Experiment(
        "Several criteria", design, str(EXAMPLES), simulate, promises, SMALL_FAMILIES, 5_000
    )


def _one(d: Floats, truth: Floats, moved: NDArray[np.bool_]) -> dict[str, float]:
    """Judge one data set (examples, criteria)."""
    joint, p_values = stats.max_t(d, draws=FLIPS), flip_p_values(d)
    found = {
        "maxt": joint.p_step_down <= ALPHA,
        "holm": stats.adjust(p_values, method="holm") <= ALPHA,
        "bh": stats.adjust(p_values, method="fdr_bh") <= ALPHA,
    }
    power = {
        f"{name}_power": float(np.mean(rejected[moved])) if moved.any() else 0.0
        for name, rejected in found.items()
    }
    return power | {
        "maxt": float(np.any(found["maxt"] & ~moved)),
        "holm": float(np.any(found["holm"] & ~moved)),
        "fdr": false_share(found["bh"], moved),
        "joint": float(all_covered(d, truth, level=1 - joint.alpha_star)),
        "bonferroni": float(all_covered(d, truth, level=1 - ALPHA / CRITERIA)),
    }


def _promises(*, power: bool, limit: bool) -> tuple[Promise, ...]:
    always = (
        Promise("maxt", "max-t, step-down", "family-wise error", high=0.065),
        Promise("holm", "Holm on sign-flip mid-p", "family-wise error", high=0.065),
        Promise("fdr", "Benjamini–Hochberg", "false discovery rate", high=ERROR_HIGH),
        Promise("joint", "t at the joint level α*", "joint coverage", 0.93, 0.985, limit),
        Promise("bonferroni", "t at α/m", "joint coverage"),
    )
    for_comparison = (
        Promise("maxt_power", "max-t, step-down", "power"),
        Promise("holm_power", "Holm on sign-flip mid-p", "power"),
        Promise("bh_power", "Benjamini–Hochberg", "power"),
    )
    return always + for_comparison if power else always


def mean_at_the_margin(
    n: int, *, shift: float, shares: designs.Shares, limit: bool = False
) -> Experiment:
    """Two one-sided t tests where the true difference is the margin: every claim is false."""
    margin = float(designs.rating_difference(shift, shares=shares))

    def simulate(rng: np.random.Generator, size: int) -> Outcomes:
        latent = designs.latent_pairs(rng, size, n)[..., 0]
        deltas = designs.rating_deltas(latent, shift, shares=shares)
        tests = (stats.tost_paired(d, low=-margin, high=margin) for d in deltas)
        return {"tost": rejects(test.p_value for test in tests)}

    promise = Promise("tost", "two one-sided t tests", "error rate", None, ERROR_HIGH, limit)
    where = "top-heavy" if shares == designs.TOP_HEAVY else "central"
    design = f"{where} ratings 1 to 5, true difference = margin = {margin:.2g}"
    return Experiment("Equivalence", design, str(n), simulate, (promise,), 1_000, 20_000)


def rate_at_the_margin(n: int, *, candidate: float) -> Experiment:
    """Tango's equivalence test where the true difference is the margin."""
    rates, margin = np.array([[0.9], [candidate]]), round(0.9 - candidate, 10)

    def p_value(wins: int, losses: int) -> float:
        return stats.tango_equivalence(wins, losses, n, margin=margin).p_value

    def simulate(rng: np.random.Generator, size: int) -> Outcomes:
        latent = designs.latent_pairs(rng, size, n, pair=0.6)[..., 0]
        wins, losses = discordant(designs.passes(latent, rates))
        return {"tango": rejects(by_table(p_value, wins, losses))}

    promise = Promise("tango", "Tango score test", "error rate", high=ERROR_HIGH)
    design = f"pass rates 0.9 and {candidate:g}, margin {margin:g}"
    return Experiment("Equivalence", design, str(n), simulate, (promise,), 2_000, 50_000)


JOINT = (
    *(family(rho, effects=0) for rho in (0.0, 0.5, 0.9)),
    *(family(rho, effects=5, limit=rho < 0.9) for rho in (0.0, 0.5, 0.9)),
    family(0.0, effects=5, shift=LARGE_SHIFT, limit=True),
    family(0.0, effects=5, shares=designs.CENTRAL),
    *(mean_at_the_margin(n, shift=0.4, shares=designs.CENTRAL) for n in (20, 50, 100)),
    *(mean_at_the_margin(n, shift=0.4, shares=designs.TOP_HEAVY, limit=True) for n in (30, 100)),
    *(rate_at_the_margin(n, candidate=p) for n, p in ((50, 0.8), (100, 0.8), (200, 0.85))),
)
