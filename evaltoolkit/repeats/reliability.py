"""`pass_at_k`: passing at least once, or every time, in k trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pandas as pd

from evaltoolkit.criteria import criteria_of
from evaltoolkit.errors import PairingError, listed, warn
from evaltoolkit.formatting import counted
from evaltoolkit.measurements import Runs, cluster_column, example_clusters
from evaltoolkit.repeats.passing import Passing, example_counts, usable_rows
from evaltoolkit.repeats.rates import difference_rows, grouped, rate_rows
from evaltoolkit.repeats.reliability_texts import conclusion_text, methods_text
from evaltoolkit.repeats.selection import (
    UNIT,
    select_rows,
    two_systems,
    whole_numbers,
)
from evaltoolkit.results.repeats import PASS_AT_K_COLUMNS, PASS_DIFFERENCE_COLUMNS, PassAtK
from evaltoolkit.stats.checks import fraction


def pass_at_k(  # noqa: PLR0913 - every choice of the analysis is a keyword of its own
    scores: pd.DataFrame,
    *,
    k: int | Sequence[int] = (1,),
    criterion: str | Sequence[str] | None = None,
    scorers: str | Sequence[str] | None = None,
    systems: str | Sequence[str] | None = None,
    baseline: str | None = None,
    candidate: str | None = None,
    cluster: str | bool | None = None,
    tasks: Literal["separate", "pooled"] = "separate",
    measure: Literal["score", "passed"] = "score",
    threshold: float | None = None,
    missing: Literal["report", "as_failure"] = "report",
    runs: Runs = "error",
    level: float = 0.95,
) -> PassAtK:
    """Estimate how often a system passes at least once (pass@k) and every time (pass^k).

    Per example the unbiased estimates from its n trials, c of which passed:
    ``1 - C(n-c, k) / C(n, k)`` and ``C(c, k) / C(n, k)``; then the mean over examples with an
    interval over examples. With ``baseline`` and ``candidate`` also the paired difference of
    both over the examples that have k trials under both systems.

    A trial passes with the best score of a 0/1 criterion, from a threshold on, or by the scorer's
    own verdict (``measure="passed"``). Examples with fewer than k trials are left out and counted;
    where trials are lost because they are hard this flatters the system.

    Args:
        scores: A score table with trials.
        k: Numbers of trials that are asked about.
        criterion: Names to use; by default all on which a trial can pass.
        scorers: Names of scorers to use; by default all, each in rows of its own.
        systems: Names to use; by default all, or baseline and candidate where these are given.
        baseline: Reference system of the difference.
        candidate: System that is judged against it.
        cluster: None uses the column ``cluster`` where it is filled, a name uses that column,
            False treats all examples as independent.
        tasks: ``"separate"`` gives each task rows of its own, ``"pooled"`` averages over the
            examples of all tasks.
        measure: ``"score"``, or ``"passed"`` for the scorers' own verdicts.
        threshold: Score from which a trial passes (down from which, where lower is better); by
            default the declared one where the criterion is not 0/1.
        missing: ``"report"`` leaves trials without a verdict out and counts them,
            ``"as_failure"`` counts a system error as a trial that failed.
        runs: What several runs of one measurement mean: ``"error"``, ``"latest"``, ``"trials"``.
        level: Confidence level of the intervals; tests of differences use 1 - level.

    Returns:
        A `PassAtK`: ``.table`` with a row per task, criterion, scorer, system and k, ``.examples``
        with the counts behind it, ``.differences``.

    Raises:
        SchemaError: The score table breaks a rule.
        PairingError: Unknown names or options, or nothing says when a trial passes.

    Source:
        Chen et al., Evaluating large language models trained on code, 2021; Yao et al.,
        tau-bench, 2024.

    Example:
        >>> rows = [("a", i, t, float((i + t) % 4 < i % 5)) for i in range(40) for t in range(4)]
        >>> table = pd.DataFrame(rows, columns=["system", "example_id", "trial", "score"])
        >>> result = pass_at_k(table.assign(criterion="solved"), k=(1, 4))
        >>> result.table[["k", "pass_at_k", "pass_hat_k"]].values.tolist()
        [[1.0, 0.5, 0.5], [4.0, 0.8, 0.2]]
    """
    ks = whole_numbers("k", k)
    fraction(level, name="level")
    if tasks not in ("separate", "pooled"):
        raise PairingError(
            f"tasks is {tasks!r}; it must be 'separate' or 'pooled'",
            code="bad_option",
            path="tasks",
            value=tasks,
        )
    passing = Passing(measure, threshold, missing)
    pair = two_systems(baseline, candidate)
    wanted = list(pair) if systems is None and pair else systems
    rows = select_rows(scores, systems=wanted, criteria=criterion, scorers=scorers, runs=runs)
    _check_pair(rows, pair)
    facts = criteria_of(rows)
    rows, unfit = usable_rows(rows, facts, passing, named=criterion is not None)
    examples = example_counts(rows, facts, passing)
    column = cluster_column(rows, cluster)
    examples, clustered = _with_clusters(examples, example_clusters(rows, column))
    pooled = tasks == "pooled"
    table = _table(examples, ks, pooled=pooled, level=level)
    differences = pd.DataFrame(columns=list(PASS_DIFFERENCE_COLUMNS))
    if pair:
        found = difference_rows(examples, pair, ks, pooled=pooled, level=level)
        differences = found[list(PASS_DIFFERENCE_COLUMNS)]
    settings = {
        "k": ks,
        "baseline": pair and pair[0],
        "candidate": pair and pair[1],
        "cluster": column,
        "clustered": clustered,
        "tasks": tasks,
        "measure": measure,
        "threshold": threshold,
        "missing": missing,
        "runs": runs,
        "level": level,
        "criteria_left_out": unfit,
    }
    warnings = _warnings(table)
    for text in warnings:
        warn(text)
    return PassAtK(
        table,
        settings,
        conclusion_text(table, differences, settings),
        methods_text(table, differences, settings),
        warnings=warnings,
        examples=examples.drop(columns="code", errors="ignore"),
        differences=differences,
    )


def _check_pair(rows: pd.DataFrame, pair: tuple[str, str] | None) -> None:
    known = set(rows["system"])
    absent = [name for name in pair or () if name not in known]
    if absent:
        raise PairingError(
            f"systems= leaves out {listed(absent)}, which the difference needs; name it as well",
            code="unknown_system",
            path="systems",
            value=absent,
        )


def _with_clusters(examples: pd.DataFrame, codes: pd.Series | None) -> tuple[pd.DataFrame, bool]:
    """Add the column ``code`` where examples are not all clusters of their own."""
    if codes is None or not codes.duplicated().any():
        return examples, False
    keys = pd.MultiIndex.from_frame(examples[UNIT])
    return examples.assign(code=codes.reindex(keys).to_numpy()), True


def _table(
    examples: pd.DataFrame, ks: Sequence[int], *, pooled: bool, level: float
) -> pd.DataFrame:
    names = ["criterion", "scorer", "system"]
    rows = []
    for key, part in grouped(examples, names, pooled=pooled):
        head = dict(zip(["task", *names], key, strict=True))
        rows += rate_rows(part, head, ks, level=level)
    return pd.DataFrame(rows)[list(PASS_AT_K_COLUMNS)]


def _warnings(table: pd.DataFrame) -> tuple[str, ...]:
    first = table[table["k"] == table["k"].min()]
    lost = int(first["n_lost_trials"].sum())
    few = table[(table["n_too_few"] > 0) & (table["n_examples"] > 0)]
    texts = []
    if lost:
        texts.append(
            f"{counted(lost, 'trial')} without a verdict left out; where hard examples lose more "
            "of them, the rates flatter (see n_lost_trials, and missing='as_failure')"
        )
    if len(few):
        worst = few.sort_values("n_too_few", kind="stable").iloc[-1]
        texts.append(
            f"examples with fewer than k trials are left out in {counted(len(few), 'row')} of the "
            f"table, {worst['n_too_few']} of {worst['n_too_few'] + worst['n_examples']} for "
            f"{worst['system']!r} at k = {worst['k']}"
        )
    return tuple(texts)
