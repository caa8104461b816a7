"""Ranks, and the intervals in which they are sure to lie."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from evaltoolkit import stats


def best_first(names: Sequence[str], values: stats.Floats) -> list[int]:
    """Order systems by descending value; those that tie but for rounding by name."""
    merged = stats.merge_near(values)
    return sorted(range(len(names)), key=lambda i: (-merged[i], names[i]))


def ranks_of(values: stats.Floats) -> list[int]:
    """Rank systems by descending value; ties share the better rank.

    Example:
        >>> import numpy as np
        >>> ranks_of(np.array([0.2, 0.9, 0.9, 0.1]))
        [3, 1, 1, 4]
    """
    merged = stats.merge_near(values)
    return [1 + int((merged > value).sum()) for value in merged]


def with_winner(pairs: pd.DataFrame, *, higher_is_better: bool, alpha: float) -> pd.DataFrame:
    """Name the better system of each pair that differs significantly, after adjustment."""
    delta = pairs["delta"] if higher_is_better else -pairs["delta"]
    significant = (pairs["p_adjusted"] <= alpha) & (delta != 0)
    better = pairs["system_a"].where(delta > 0, pairs["system_b"]).where(significant)
    return pairs.assign(significant=significant.astype(bool), better=better.astype("str"))


def rank_intervals(pairs: pd.DataFrame, systems: Sequence[str]) -> pd.DataFrame:
    """Bound each rank by the systems that are significantly better, and worse.

    Args:
        pairs: All pairs of the systems, with ``better``: the name of the significantly better
            system, missing where the two are not told apart.
        systems: Names, in the order of the rows wanted.

    Returns:
        For each system ``n_better`` and ``n_worse`` (how many others are significantly better
        and worse than it), ``rank_low`` and ``rank_high``.

    Source:
        Mohamad, Goeman and van Zwet, Simultaneous confidence intervals for ranks with
        application to ranking institutions, 2019.

    Example:
        >>> pairs = pd.DataFrame({"system_a": ["x", "x", "y"], "system_b": ["y", "z", "z"],
        ...                       "better": [None, "x", None]})
        >>> rank_intervals(pairs, ["x", "y", "z"])[["rank_low", "rank_high"]].values.tolist()
        [[1, 2], [1, 3], [2, 3]]
    """
    sure = pairs[pairs["better"].notna()]
    worse_name = sure["system_b"].where(sure["better"] == sure["system_a"], sure["system_a"])
    n_worse = [int((sure["better"] == name).sum()) for name in systems]
    n_better = [int((worse_name == name).sum()) for name in systems]
    return pd.DataFrame(
        {
            "n_better": n_better,
            "n_worse": n_worse,
            "rank_low": [1 + count for count in n_better],
            "rank_high": [len(systems) - count for count in n_worse],
        }
    )
