"""Warnings that stand above every verdict, each once, with counts."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit.comparison.pairing import HYPOTHESIS, SIDES, UNIT
from evaltoolkit.comparison.verdicts import FEW_DF, FEW_NONZERO
from evaltoolkit.errors import listed


def table_warnings(table: pd.DataFrame) -> Iterator[str]:
    """Find what a reader of the overall rows must know first."""
    rows = table[table["slice_by"].isna()]
    measured = rows[rows["n_pairs"] > 0]
    unmeasured = rows[rows["n_pairs"] == 0]
    if len(unmeasured):
        yield (
            f"{fmt.counted(len(unmeasured), 'hypothesis has', 'hypotheses have')} no usable pair: "
            f"{listed(unmeasured['criterion'].unique())}"
        )
    yield from _lost(rows)
    yield from _few_differences(measured)
    yield from _few_df(measured)
    if len(measured) and not (measured["wins"] + measured["losses"]).any():
        yield (
            "the two systems score the same on every example of every criterion; check that "
            "these are two different runs"
        )


def _lost(rows: pd.DataFrame) -> Iterator[str]:
    for column, what in (("n_system_error", "system error"), ("n_scorer_error", "scorer error")):
        hit = rows[rows[column] > 0]
        if len(hit):
            yield (
                f"{what}s cost up to {fmt.counted(int(hit[column].max()), 'pair')} in "
                f"{fmt.counted(len(hit), 'hypothesis', 'hypotheses')}; see missing='worst' and "
                "missing='as_failure' for what they could change"
            )


def _few_differences(rows: pd.DataFrame) -> Iterator[str]:
    nonzero = rows["wins"] + rows["losses"]
    few = rows[(nonzero > 0) & (nonzero < FEW_NONZERO)]
    if len(few):
        yield (
            f"fewer than {FEW_NONZERO} non-zero differences in "
            f"{fmt.counted(len(few), 'hypothesis', 'hypotheses')} "
            f"({listed(few['criterion'].unique())}): intervals and p-values of a mean are fragile "
            "there; read wins, losses and the largest losses"
        )


def _few_df(rows: pd.DataFrame) -> Iterator[str]:
    few = rows[rows["df_clusters"] < FEW_DF]
    if len(few):
        first = few.sort_values("df_clusters", kind="stable").iloc[0]
        yield (
            f"{first['n_clusters']} clusters of such sizes carry only {first['df_clusters']:.1f} "
            f"degrees of freedom ({fmt.counted(len(few), 'hypothesis', 'hypotheses')} below "
            f"{FEW_DF:g}): cluster-robust intervals are wide and fragile; more "
            "clusters, not more examples, help"
        )


def row_warnings(rows: pd.DataFrame) -> Iterator[str]:
    """Find differences between the systems that are no difference in quality."""
    if "input_digest" in rows.columns:
        given = rows[rows["input_digest"].notna()]
        digests = given.groupby(UNIT)["input_digest"].nunique()
        both = given.groupby(UNIT)["side"].nunique() == 2
        changed = int(((digests > 1) & both).sum())
        if changed:
            yield (
                f"{fmt.counted(changed, 'example was', 'examples were')} put to the two systems "
                "with different inputs (input_digest differs): those pairs compare prompts or "
                "data as well as systems"
            )
    scorers = rows.groupby(["task", "criterion", "side"])["scorer"].agg(frozenset).unstack("side")
    scorers = scorers.reindex(columns=list(SIDES)).dropna()
    differing = scorers[scorers["baseline"] != scorers["candidate"]]
    if len(differing):
        names = listed(differing.index.get_level_values("criterion").unique())
        yield (
            f"the scorers of {names} differ between the two systems; only rows of the same scorer "
            "are paired"
        )


def unit_warnings(units: pd.DataFrame) -> Iterator[str]:
    """Find examples measured with other numbers of trials on the two sides."""
    pairs = units[units["cause"] == 0]
    uneven = pairs["n_trials_baseline"] != pairs["n_trials_candidate"]
    if uneven.any():
        hypotheses = pairs[uneven].groupby(HYPOTHESIS).ngroups
        yield (
            f"{fmt.counted(int(uneven.sum()), 'pair has', 'pairs have')} unequal numbers of scored "
            f"trials on the two sides ({fmt.counted(hypotheses, 'hypothesis', 'hypotheses')}); "
            "each side's mean is over its own trials"
        )
