"""`rank`: from a score table to a `Ranking` of many systems, step by step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from evaltoolkit import stats
from evaltoolkit.criteria import criteria_of
from evaltoolkit.errors import warn
from evaltoolkit.measurements import Runs, cluster_column, resolve_runs
from evaltoolkit.ranking import options, selecting, sentences, standings
from evaltoolkit.ranking.blocks import Blocks, Missing, complete_blocks
from evaltoolkit.ranking.contrasts import FEW_NONZERO, Family, Plan, all_pairs
from evaltoolkit.ranking.omnibus import omnibus_tests
from evaltoolkit.results.ranking import Ranking
from evaltoolkit.scores import check_scores
from evaltoolkit.wording import rows_of

PAIR_COLUMNS = (
    "system_a", "system_b", "n_pairs", "delta", "se", "df", "ci_low", "ci_high", "interval",
    "joint_low", "joint_high", "wins", "losses", "ties", "test", "p_value", "p_adjusted",
    "correction", "significant", "better", "note",
)  # fmt: skip

RANK_COLUMNS = (
    "rank", "rank_low", "rank_high", "system", "mean", "se", "df", "ci_low", "ci_high",
    "interval", "mean_rank", "n_better", "n_worse", "n_examples", "n_clusters", "n_system_error",
    "n_scorer_error", "n_unscored", "n_absent", "n_lost_to_others", "n_imputed", "note",
)  # fmt: skip


_GAPS = ("n_system_error", "n_scorer_error", "n_unscored", "n_absent", "n_lost_to_others")


def rank(  # noqa: PLR0913 - every choice of the analysis is a keyword of its own
    scores: pd.DataFrame,
    *,
    criterion: str,
    systems: selecting.Names = None,
    scorer: str | None = None,
    task: selecting.Names = None,
    cluster: str | bool | None = None,
    correction: str = "holm",
    alpha: float = 0.05,
    missing: Missing = "report",
    runs: Runs = "error",
    seed: int = 0,
    draws: int = 10_000,
) -> Ranking:
    """Rank systems by their mean on one criterion, and say which ranks are sure.

    Only examples that every system has scored count; the others are counted by system and
    cause. Every two systems are compared on these examples: Bonett-Price interval and McNemar
    mid-p test for 0/1 outcomes of one trial, paired t interval and sign-flip test for other
    means, CR2 with flips of whole clusters (from 8 clusters up) where examples come in clusters.
    A system's rank interval follows from the pairs that stay significant after adjustment.

    Args:
        scores: A score table (`read_scores`, `tidy_scores`).
        criterion: The criterion to rank by.
        systems: Names of two systems or more; by default all that the criterion was measured of.
        scorer: Which scorer's rows to use; needed where there are several.
        task: Which task, or a list of tasks to rank over all their examples; needed where there
            are several.
        cluster: None uses the column ``cluster`` where it is filled, a name uses that column,
            False treats all examples as independent.
        correction: Any method of `evaltoolkit.stats.METHODS` over all pairs, or ``"maxt"``
            (step-down max-t with shared sign flips).
        alpha: Level of the tests; intervals have level 1 - alpha.
        missing: ``"report"`` leaves incomplete examples out, ``"worst"`` gives a system without
            a score the worse bound of the criterion, ``"as_failure"`` does so only for system
            errors.
        runs: What several runs of one measurement mean: ``"error"``, ``"latest"``, ``"trials"``.
        seed: Seed of the random sign flips.
        draws: Number of random sign flips where they are not enumerated.

    Returns:
        The `Ranking`: ``.table``, ``.pairs``, ``.tests``, ``.conclusion()``, ``.methods()``.

    Raises:
        SchemaError: The score table breaks a rule.
        PairingError: Unknown or missing names, fewer than two systems, rows against different
            opponents, no example that all systems have scored.

    Source:
        Demšar, Statistical comparisons of classifiers over multiple data sets, 2006; Mohamad,
        Goeman and van Zwet, Simultaneous confidence intervals for ranks with application to
        ranking institutions, 2019.

    Example:
        >>> rows = [(s, i, float(i % 10 < level))
        ...         for s, level in (("a", 9), ("b", 8), ("c", 2)) for i in range(100)]
        >>> table = pd.DataFrame(rows, columns=["system", "example_id", "score"])
        >>> result = rank(table.assign(criterion="correct"), criterion="correct")
        >>> result.table[["rank", "rank_low", "rank_high", "system"]].values.tolist()
        [[1, 1, 1, 'a'], [2, 2, 2, 'b'], [3, 3, 3, 'c']]
    """
    options.check_numbers(alpha=alpha, seed=seed, draws=draws)
    options.check_missing(missing)
    plan = Plan(options.checked_correction(correction, joint=True), alpha, draws, seed)
    table = check_scores(scores)
    rows, names = selecting.select_rows(
        table, criterion=criterion, scorer=scorer, task=task, systems=systems
    )
    against = selecting.check_absolute(rows, names)
    rows = resolve_runs(rows, runs=runs)
    info = criteria_of(table[table["criterion"] == str(criterion)])[str(criterion)]
    column = cluster_column(rows, cluster)
    blocks = complete_blocks(rows, names, info, missing=missing, cluster=column)
    pairs, family = _pairs(blocks, plan)
    tests = omnibus_tests(blocks, family, alpha=alpha)
    standing = _table(blocks, pairs, alpha=alpha)
    settings = {
        "method": "means",
        "estimate": "mean",
        "criterion": info.criterion,
        "scorer": str(rows["scorer"].iloc[0]),
        "tasks": sorted(rows["task"].unique()),
        "systems": names,
        "against": against,
        "kind": f"{info.kind} ({info.kind_from})",
        "higher_is_better": info.higher_is_better,
        "direction_from": info.direction_from,
        "alpha": alpha,
        "missing": missing,
        "runs": runs,
        "cluster": column,
        "seed": seed,
        "draws": draws,
        **_cluster_facts(blocks),
        **_family_facts(family, plan),
        "smallest_p": smallest_p(pairs, family, blocks.n_clusters),
        **_verdict(standing, pairs, tests, alpha=alpha),
        "versions": options.versions(),
    }
    warnings = (
        *sentences.digest_warnings(rows),
        *sentences.ranking_warnings(standing, pairs, settings, few=FEW_NONZERO),
    )
    for text in warnings:
        warn(text, stacklevel=3)
    return Ranking(
        standing,
        settings,
        sentences.conclusion(standing, pairs, tests, settings),
        sentences.methods(standing, pairs, settings),
        warnings=warnings,
        pairs=pairs,
        tests=tests,
        blocks=_block_table(blocks, list(standing["system"])),
        lost=blocks.lost,
    )


def _pairs(blocks: Blocks, plan: Plan) -> tuple[pd.DataFrame, Family]:
    order = standings.best_first(blocks.systems, blocks.goodness.mean(axis=0))
    pairs, family = all_pairs(blocks, order, plan)
    pairs = standings.with_winner(pairs, higher_is_better=blocks.higher_is_better, alpha=plan.alpha)
    return pairs[list(PAIR_COLUMNS)], family


def _table(blocks: Blocks, pairs: pd.DataFrame, *, alpha: float) -> pd.DataFrame:
    """Put mean, ranks and accounting of each system in one row, best first."""
    goodness = blocks.goodness.mean(axis=0)
    order = standings.best_first(blocks.systems, goodness)
    means = pd.DataFrame([_mean_row(blocks, i, level=1 - alpha) for i in order])
    names = [blocks.systems[i] for i in order]
    ranks = np.array(standings.ranks_of(goodness))[order]
    counts = blocks.counts.iloc[order].reset_index(drop=True)
    parts = [means, counts, standings.rank_intervals(pairs, names)]
    table = pd.concat(parts, axis=1).assign(
        rank=ranks,
        mean_rank=_mean_ranks(blocks)[order],
        n_clusters=blocks.n_clusters,
    )
    return table[list(RANK_COLUMNS)]


def _mean_ranks(blocks: Blocks) -> stats.Floats:
    """Mean over examples of the rank within the example; 1 is best, ties share the average."""
    merged = pd.DataFrame(np.apply_along_axis(stats.merge_near, 1, blocks.goodness))
    return merged.rank(axis=1, ascending=False).mean().to_numpy(dtype=np.float64)


def _mean_row(blocks: Blocks, column: int, *, level: float) -> dict[str, Any]:
    values = blocks.values[:, column]
    if blocks.clusters is None:
        estimate, interval = stats.paired_t(values, level=level), "t"
    else:
        estimate = stats.cluster_mean(values, blocks.clusters, level=level)
        interval = "cr2_t"
    low, high = estimate.low, estimate.high
    if blocks.design == "binary":
        interval = "wilson"
        low, high = stats.wilson(int(values.sum()), values.size, level=level)
    flat = math.isnan(low)
    return {
        "mean": estimate.mean,
        "se": estimate.se,
        "df": estimate.df,
        "ci_low": low,
        "ci_high": high,
        "interval": interval,
        "note": "no variance between examples: no interval" if flat else "",
    }


def _verdict(
    table: pd.DataFrame, pairs: pd.DataFrame, tests: pd.DataFrame, *, alpha: float
) -> dict[str, Any]:
    """Decide whether the top is separated from anything."""
    leaders = table.loc[table["rank"] == 1, "system"]
    separated = bool(pairs["better"].isin(leaders).any())
    overall = _overall(tests, systems=len(table))
    rejected = overall is None or float(overall["p_value"]) <= alpha
    return {
        "leader_separated": separated,
        "overall_text": "" if overall is None else sentences.test_text(overall),
        "decisive": separated and rejected,
        "n_left_out": int(table[list(_GAPS)].iloc[0].sum()),
    }


def _overall(tests: pd.DataFrame, *, systems: int) -> Any:  # noqa: ANN401 - a row or None
    """Choose the overall test that speaks: Cochran's Q, else Iman and Davenport's F."""
    if systems < 3:
        return None
    known = {row["test"]: row for row in rows_of(tests[tests["p_value"].notna()])}
    return known.get("cochran_q", known.get("iman_davenport", known.get("friedman")))


def _family_facts(family: Family, plan: Plan) -> dict[str, Any]:
    used = family.correction
    joint = used in ("maxt", "maxt_normal", "single")
    return {
        "correction": plan.correction,
        "correction_used": used,
        "correction_note": family.note,
        "controls": "fwer" if joint else stats.METHODS[used].controls,
        "family_size": family.size,
        "alpha_star": family.alpha_star,
    }


def smallest_p(pairs: pd.DataFrame, family: Family, units: int) -> float:
    """Smallest adjusted p-value that any pair can reach with so many units; 0 where unbounded.

    Example:
        >>> pairs = pd.DataFrame({"test": ["mcnemar_midp"] * 10})
        >>> smallest_p(pairs, Family(np.ones(10), "holm", 0.005, 10), 7)
        0.078125
    """
    if "cr2_t" in set(pairs["test"]):
        return 0.0
    used = family.correction
    if used == "maxt":
        factor = 2.0  # the mirror image of a unanimous pattern is as extreme
    elif used in stats.METHODS and stats.METHODS[used].controls == "fwer":
        factor = float(family.size)
    else:
        factor = 1.0
    return float(min(1.0, factor * 0.5**units))


def _cluster_facts(blocks: Blocks) -> dict[str, Any]:
    if blocks.clusters is None:
        return {"clustered": False, "n_clusters": blocks.n, "df_clusters": math.nan}
    sizes = np.unique(blocks.clusters, return_counts=True)[1]
    return {
        "clustered": True,
        "n_clusters": blocks.n_clusters,
        "df_clusters": float(stats.satterthwaite_df(sizes)),
    }


def _block_table(blocks: Blocks, order: Sequence[str]) -> pd.DataFrame:
    index = pd.MultiIndex.from_frame(blocks.examples)
    values = pd.DataFrame(blocks.values, index=index, columns=list(blocks.systems))
    return values[list(order)]
