"""Random data for every method: small and large, tied and untied, near and far from zero."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Arguments = Mapping[str, Any]
"""Numbers and arrays by name; whole tables are flat, row by row."""

LEVELS = (0.8, 0.9, 0.95, 0.99)


def size(rng: np.random.Generator, low: int, high: int) -> int:
    """Draw a size on a logarithmic scale, so that small ones are as common as large ones."""
    return int(np.exp(rng.uniform(np.log(low), np.log(high + 1))))


def level(rng: np.random.Generator) -> float:
    return float(rng.choice(LEVELS))


def untied(rng: np.random.Generator, low: int, high: int) -> np.ndarray:
    """Differences of different sizes, none of them zero."""
    n = size(rng, low, high)
    return rng.normal(rng.choice([0, 0, 0.3, -1]), rng.uniform(0.1, 10), size=n)


def ratings(rng: np.random.Generator, shape: int | tuple[int, ...], grades: int = 5) -> np.ndarray:
    weights = rng.dirichlet(np.full(grades, 2.0))
    return rng.choice(np.arange(1, grades + 1), p=weights, size=shape).astype(float)


def paired_scores(rng: np.random.Generator) -> Arguments:
    n = size(rng, 2, 300)
    baseline = rng.normal(rng.normal(), rng.uniform(0.2, 3), size=n)
    candidate = rng.uniform(-1, 1) * baseline + rng.normal(size=n) + rng.normal() / 2
    return {"baseline": baseline, "candidate": candidate, "level": level(rng)}


def unpaired_scores(rng: np.random.Generator) -> Arguments:
    groups = [rng.normal(rng.normal(), rng.uniform(0.1, 4), size=size(rng, 2, 200)) for _ in "ab"]
    return {"baseline": groups[0], "candidate": groups[1], "level": level(rng)}


def unpaired_ratings(rng: np.random.Generator) -> Arguments:
    return {name: ratings(rng, size(rng, 1, 120)) for name in ("baseline", "candidate")}


def few_untied(rng: np.random.Generator) -> Arguments:
    return {"d": untied(rng, 1, 49)}


def rating_differences(rng: np.random.Generator) -> Arguments:
    """Many ties and zeros, but never only zeros."""
    n = size(rng, 2, 300)
    d = ratings(rng, n) - ratings(rng, n)
    d[0] = d[0] or 1.0
    return {"d": d / rng.choice([1, 10, 3]), "correct": int(rng.integers(2))}


def untied_from_10(rng: np.random.Generator) -> Arguments:
    """At 99 % an interval needs eight differences."""
    return {"d": untied(rng, 10, 49), "level": level(rng)}


def untied_above_50(rng: np.random.Generator) -> Arguments:
    return {"d": untied(rng, 51, 120), "level": level(rng)}


def paired_cells(rng: np.random.Generator) -> Arguments:
    """At least one example is discordant; often as many wins as losses."""
    cells = rng.multinomial(size(rng, 1, 1000), rng.dirichlet(np.full(4, 0.7)))
    both, wins, losses, neither = (int(count) for count in cells)
    losses = wins if rng.random() < 0.1 else losses
    return {"both": both, "wins": wins or int(not losses), "losses": losses, "neither": neither}


def one_proportion(rng: np.random.Generator) -> Arguments:
    n = size(rng, 1, 2000)
    candidates = (0, n, int(rng.integers(0, n + 1)), int(rng.binomial(n, 0.9)))
    x = candidates[rng.choice(4, p=[0.1, 0.1, 0.4, 0.4])]
    return {"x": x, "n": n, "level": level(rng)}


def two_proportions(rng: np.random.Generator) -> Arguments:
    n = [size(rng, 2, 1000) for _ in "ab"]
    x = [rng.binomial(n[0], rng.random()), rng.binomial(n[1], rng.random())]
    if sum(x) in (0, sum(n)):
        x = [1, n[1] - 1]
    return {"x": x, "n": n}


def systems_by_tasks(rng: np.random.Generator) -> Arguments:
    n, k = size(rng, 4, 100), int(rng.integers(3, 9))
    quality = rng.normal(scale=0.3, size=k)
    scores = quality + rng.normal(size=(n, k))
    if rng.random() < 0.6:
        scores = np.round(scores * rng.choice([1, 3]))
    scores[0] = np.arange(k)
    return {"scores": scores.ravel(), "systems": k}


def passes(rng: np.random.Generator) -> Arguments:
    n, k = size(rng, 6, 60), int(rng.integers(3, 7))
    table = rng.random((n, k)) < rng.uniform(0.2, 0.9, size=k)
    table[:k] = np.eye(k)
    return {"passed": table.astype(float).ravel(), "systems": k}


def paired_grades(rng: np.random.Generator) -> Arguments:
    """Every grade changes at least once, so that none is redundant."""
    n, k = size(rng, 12, 100), int(rng.integers(3, 6))
    baseline, candidate = ratings(rng, n, k), ratings(rng, n, k)
    baseline[:k], candidate[:k] = np.arange(1, k + 1), np.roll(np.arange(1, k + 1), 1)
    return {"baseline": baseline, "candidate": candidate, "grades": k}


def graded_counts(rng: np.random.Generator) -> Arguments:
    """More than two grades, for R corrects a two-by-two table for continuity."""
    k = int(rng.integers(3, 7))
    return {"counts": 1 + rng.poisson(rng.uniform(0, 20, size=k * k)), "grades": k}


def groups(rng: np.random.Generator) -> Arguments:
    sizes = [size(rng, 2, 60) for _ in range(rng.integers(2, 9))]
    parts = [rng.normal(rng.normal() / 2, rng.uniform(0.2, 3), size=n) for n in sizes]
    return {"d": np.concatenate(parts), "group": np.repeat(np.arange(len(sizes)), sizes)}


def p_values(rng: np.random.Generator) -> Arguments:
    p = rng.random(size(rng, 2, 60)) ** rng.choice([1, 3, 8])
    if rng.random() < 0.3:
        p = np.round(p, 2)
    if rng.random() < 0.3:
        p[rng.integers(p.size)] = np.nan
    return {"p": p}


def independent_p_values(rng: np.random.Generator) -> Arguments:
    return {"p": rng.random(size(rng, 1, 30)) ** rng.choice([1, 2, 4])}


def power_design(rng: np.random.Generator) -> Arguments:
    n, sd = size(rng, 2, 2000), rng.uniform(0.1, 5)
    shift = rng.uniform(0.05, 6)
    return {"n": n, "sd": sd, "difference": shift * sd / np.sqrt(n), "alpha": _alpha(rng)}


def size_design(rng: np.random.Generator) -> Arguments:
    sd = rng.uniform(0.1, 5)
    difference = sd * rng.uniform(0.03, 1)
    power = rng.uniform(0.6, 0.99)
    return {"sd": sd, "difference": difference, "alpha": _alpha(rng), "power": power}


def mde_design(rng: np.random.Generator) -> Arguments:
    sd, power = rng.uniform(0.1, 5), rng.uniform(0.3, 0.99)
    return {"n": size(rng, 4, 2000), "sd": sd, "alpha": _alpha(rng), "power": power}


def _alpha(rng: np.random.Generator) -> float:
    return float(rng.choice([0.01, 0.05, 0.1]))


def many_systems(rng: np.random.Generator) -> Arguments:
    systems = int(rng.integers(2, 51))
    return {"systems": systems, "tasks": size(rng, 1, 500), "alpha": rng.uniform(0.005, 0.2)}


def wins(rng: np.random.Generator) -> Arguments:
    """Everyone beats everyone at least once."""
    k = int(rng.integers(2, 8))
    table = 1 + rng.poisson(rng.uniform(0, 30, size=(k, k)))
    return {"wins": (table * (1 - np.eye(k))).ravel(), "systems": k}


def clustered(rng: np.random.Generator) -> Arguments:
    groups = int(rng.integers(2, 20))
    cluster = np.concatenate([np.repeat(g, size(rng, 1, 15)) for g in range(groups)] + [[0]])
    d = rng.normal(size=groups)[cluster] * rng.uniform(0, 2) + rng.normal(size=cluster.size)
    return {"d": d, "cluster": cluster}


def judged(rng: np.random.Generator) -> Arguments:
    n, k = size(rng, 3, 80), int(rng.integers(2, 6))
    table = rng.normal(size=(n, 1)) * rng.uniform(0.2, 2) + rng.normal(size=k)
    return {"ratings": (table + rng.normal(size=(n, k))).ravel(), "judges": k}
