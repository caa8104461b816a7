"""Small score tables for tests of comparisons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evaltoolkit.scores import normalise_scores


def two_systems(
    baseline: Sequence[float],
    candidate: Sequence[float],
    *,
    criterion: str = "correct",
    **columns: object,
) -> pd.DataFrame:
    """Score rows of the systems "old" and "new" on the same examples, one trial each."""
    n = len(baseline)
    frame = pd.DataFrame(
        {
            "system": ["old"] * n + ["new"] * n,
            "example_id": [f"e{i:04d}" for i in range(n)] * 2,
            "criterion": criterion,
            "score": [*baseline, *candidate],
        }
    )
    return normalise_scores(frame.assign(**columns))


def paired_cells(both: int, wins: int, losses: int, neither: int) -> pd.DataFrame:
    """A 0/1 criterion with the given cells of the paired table (wins: only the candidate)."""
    old = [1.0] * both + [0.0] * wins + [1.0] * losses + [0.0] * neither
    new = [1.0] * both + [1.0] * wins + [0.0] * losses + [0.0] * neither
    return two_systems(old, new)


def many_criteria(
    n: int, m: int, *, seed: int, effect: Sequence[float] | float = 0.0, correlation: float = 0.5
) -> pd.DataFrame:
    """Continuous criteria c00, c01, ... with correlated paired differences."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(n, 1))
    noise = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * rng.normal(size=(n, m))
    old = rng.normal(size=(n, m))
    new = old + noise + np.broadcast_to(np.asarray(effect), (m,))
    tables = [
        two_systems(old[:, j].tolist(), new[:, j].tolist(), criterion=f"c{j:02d}") for j in range(m)
    ]
    return pd.concat(tables, ignore_index=True)
