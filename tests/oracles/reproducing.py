"""From public results to the shape in which the oracles are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pandas as pd

import evaltoolkit as et
from evaltoolkit import stats

Reproduction = Callable[[Path], Any]
"""Takes the folder of the CSV files, returns the facts of one oracle in the oracle's shape."""


def leaves(tree: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every number and name of nested mappings and lists with its path."""
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            yield from leaves(value, (*path, str(key)))
    elif isinstance(tree, list):
        for place, value in enumerate(tree):
            yield from leaves(value, (*path, str(place)))
    else:
        yield path, tree


def only_row(table: pd.DataFrame) -> Any:
    (row,) = table.itertuples()
    return row


def pass_fail_pair(
    scores: pd.DataFrame, *, candidate: str, baseline: str, **choices: Any
) -> dict[str, float]:
    """The paired table of "candidate vs baseline", McNemar's tests, and the difference.

    The oracles' standard error has the divisor n, as has the unadjusted Wald interval.
    """
    result = et.compare(
        scores,
        baseline=baseline,
        candidate=candidate,
        test="mcnemar_exact",
        interval="wald",
        **choices,
    )
    row, pairs = only_row(result.table), result.pairs
    assert (row.test, row.interval) == ("mcnemar_exact", "wald")
    return {
        "n": row.n_pairs,
        "both": int(((pairs["baseline"] == 1) & (pairs["candidate"] == 1)).sum()),
        "only_a": row.wins,
        "only_b": row.losses,
        "neither": int(((pairs["baseline"] == 0) & (pairs["candidate"] == 0)).sum()),
        "mcnemar_exact_p": row.p_value,
        "mcnemar_chi2_cc_p": stats.mcnemar_score(row.wins, row.losses, continuity=True).p_value,
        "diff_a_minus_b": row.delta,
        "paired_se": (row.ci_high - row.ci_low) / 2 / NormalDist().inv_cdf(0.975),
    }


def wilcoxon_p(result: et.Comparison) -> float:
    """Wilcoxon's test as the oracles have it: zeros left out, normal approximation."""
    deltas = result.pairs["delta"].to_numpy()
    return stats.wilcoxon(deltas, zeros="wilcox", exact=False).p_value
