"""Compare the resampling engines with SciPy's, in one run: ratios, seconds, peak memory.

From the repository's root: ``python -m tests.benchmarks.speed``. Every measurement is warm (one
call before the clock starts) and the best of several. SciPy is timed in both ways that are open
to its users: on one criterion, multiplied by the number of criteria, and on the whole table in one
vectorised call (which still says nothing about the criteria jointly).
"""

from __future__ import annotations

import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats as scipy_stats

import evaltoolkit as et
from evaltoolkit import stats

Floats = NDArray[np.float64]

PAIRS, CRITERIA, DRAWS = 1_000, 20, 10_000
BATCH = 500
"""SciPy's own batching: all draws at once need hundreds of megabytes and are slower."""

MEGABYTE = 2**20


def differences(seed: int = 0) -> Floats:
    """Draw correlated differences (pairs, criteria)."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(PAIRS, 1)) + rng.normal(size=(PAIRS, CRITERIA)) + 0.05


def score_table(d: Floats) -> pd.DataFrame:
    """Return the score table of two systems with these differences."""
    baseline = np.random.default_rng(1).normal(size=d.shape)
    ids = [f"e{i}" for i in range(len(d))]
    criteria = [f"c{j:02d}" for j in range(d.shape[1])]
    wide = [
        pd.DataFrame(scores, columns=criteria).assign(system=name, example_id=ids)
        for name, scores in (("old", baseline), ("new", baseline + d))
    ]
    return et.tidy_scores(
        pd.concat(wide, ignore_index=True),
        system="system",
        example_id="example_id",
        criteria=criteria,
    )


def joint_bootstrap(d: Floats) -> Floats:
    """Percentile intervals of all criteria from shared resamples."""
    return np.quantile(stats.resampled_means(d, draws=DRAWS).means, [0.025, 0.975], axis=0)


def scipy_bootstrap(rows: Floats) -> None:
    """The percentile interval of each row."""
    scipy_stats.bootstrap(
        (rows,),
        np.mean,
        axis=-1,
        n_resamples=DRAWS,
        batch=BATCH,
        method="percentile",
        rng=np.random.default_rng(0),
    )


def scipy_sign_flip(rows: Floats) -> None:
    """The sign-flip test of each row."""
    scipy_stats.permutation_test(
        (rows,),
        np.mean,
        axis=-1,
        permutation_type="samples",
        n_resamples=DRAWS,
        batch=BATCH,
        vectorized=True,
        rng=np.random.default_rng(0),
    )


def seconds(work: Callable[[], object], *, times: int = 3) -> float:
    """Return the least time of several calls, after one that is not counted."""
    work()
    return min(_once(work) for _ in range(times))


def peak_megabytes(work: Callable[[], object]) -> float:
    """Return the largest memory that the call held at a time."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / MEGABYTE
    finally:
        tracemalloc.stop()


def main() -> None:
    """Measure and report."""
    d = differences()
    _say(f"{PAIRS:,} pairs, {CRITERIA} criteria, {DRAWS:,} resamples or flips")
    _versus("joint bootstrap", joint_bootstrap, scipy_bootstrap, d)
    _say("  (wanted: 5 times, under 200 MB)")
    _versus("sign-flip max-t", stats.max_t, scipy_sign_flip, d)
    _say("  (wanted: 100 times, under 200 MB)")
    scores = score_table(d)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", et.EvalToolkitWarning)
        took = seconds(lambda: et.compare(scores, baseline="old", candidate="new"))
    _say(f"compare: {took:.2f} s (wanted: under 1 s)")


def _versus(
    name: str, own: Callable[[Floats], object], other: Callable[[Floats], None], d: Floats
) -> None:
    rows = np.ascontiguousarray(d.T)
    took = seconds(lambda: own(d))
    singly, at_once = CRITERIA * seconds(lambda: other(rows[0])), seconds(lambda: other(rows))
    _say(f"{name}: {took:.3f} s, at most {peak_megabytes(lambda: own(d)):.0f} MB")
    _say(f"  SciPy, {CRITERIA} times one criterion: {singly:.2f} s = {singly / took:.1f} times")
    _say(f"  SciPy, the whole table at once: {at_once:.2f} s = {at_once / took:.1f} times")


def _once(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
