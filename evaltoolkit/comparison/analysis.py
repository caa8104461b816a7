"""`compare` and `compare_to_baseline`: the public ways into the comparison."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import pandas as pd

from evaltoolkit.comparison import pairing
from evaltoolkit.comparison.declarations import Choice, Declaration, load_declaration
from evaltoolkit.comparison.declared import Resolved, resolve
from evaltoolkit.comparison.engine import Choices, analyse
from evaltoolkit.comparison.options import Margin, names_list
from evaltoolkit.errors import PairingError, listed, warn
from evaltoolkit.measurements import Runs
from evaltoolkit.results import BaselineComparison, Comparison


def compare(  # noqa: PLR0913 - every choice of the analysis is a keyword of its own
    scores: pd.DataFrame,
    *,
    baseline: str | None = None,
    candidate: str | None = None,
    criteria: str | Sequence[str] | None = None,
    scorers: str | Sequence[str] | None = None,
    by: str | Sequence[str] | None = None,
    cluster: str | bool | None = None,
    tasks: Literal["separate", "pooled"] = "separate",
    margin: Margin = None,
    primary: str | Sequence[str] | None = None,
    correction: str | Mapping[str, str] | None = None,
    alpha: float | None = None,
    test: str | None = None,
    interval: str | None = None,
    measure: Literal["score", "passed"] | None = None,
    missing: pairing.Missing | None = None,
    runs: Runs = "error",
    seed: int = 0,
    draws: int = 10_000,
    declaration: str | os.PathLike[str] | Declaration | None = None,
) -> Comparison:
    """Compare a candidate with a baseline on the same examples, jointly over all criteria.

    The estimand is the mean over examples, equally weighted, of the difference (candidate minus
    baseline) of the per-example means over scored trials. Defaults: paired 0/1 outcomes get the
    Bonett-Price interval and the McNemar mid-p test, other means the paired t interval and a
    sign-flip test on the mean; with clusters CR2 with Satterthwaite degrees of freedom and flips
    of whole clusters (from 8 clusters up). P-values are adjusted over criteria by step-down
    max-t, whose quantile also gives the joint intervals.

    Args:
        scores: A score table (`read_scores`, `tidy_scores`).
        baseline: Name of the reference system; only a declaration makes it dispensable.
        candidate: Name of the system that is judged; likewise.
        criteria: Names to compare; by default all that either system has.
        scorers: Names of scorers to use; by default all, each a hypothesis of its own.
        by: Attribute(s) of the examples; each value becomes a slice with a row of its own,
            adjusted in a family of slices.
        cluster: None uses the column ``cluster`` where it is filled, a name uses that column,
            False treats all examples as independent.
        tasks: ``"separate"`` makes each task a hypothesis, ``"pooled"`` averages over the
            examples of all tasks.
        margin: Largest difference that does not matter, in units of the criterion, for all
            criteria or by name; makes the verdicts ``equivalent`` and ``noninferior`` possible.
        primary: The criterion that is tested first and alone; the others are only significant
            if it is (their adjusted p is at least its p). Several names make a fixed sequence:
            each is tested alone at the full alpha, and the first that is not significant
            closes the gate for all that follow.
        correction: ``"maxt"`` (the default: step-down max-t), ``"maxt_single"`` (single-step,
            which is the test behind the joint intervals), ``"minp"`` (step-down min-p),
            ``"mvt"`` (multivariate t from the correlation matrix, for 30 pairs or clusters
            and more), ``"hierarchical"``
            (Bonferroni over the overall hypotheses, whose slices are claimed only after them,
            by Holm), or any method of `evaltoolkit.stats.METHODS`, for the overall rows; a
            mapping ``{"overall": ..., "slices": ...}`` sets both (slices: ``fdr_bh``).
        alpha: Level of tests, 0.05 by default; intervals have level 1 - alpha.
        test: Use this test where it applies: mcnemar_midp, mcnemar_exact, mcnemar_score,
            sign_flip, sign_flip_exact, t, z, cluster_flip, cr0_t, cr1_t, cr2_t, cr3_t.
        interval: Use this interval where it applies: bonett_price, tango, newcombe,
            agresti_min, wald, t, z, cr0_t, cr1_t, cr2_t, cr3_t; anywhere (with clusters, by
            whole clusters): bootstrap_percentile, bootstrap_bca, bootstrap_t.
        measure: ``"score"`` (the default), or ``"passed"`` for the scorers' own verdicts as 0
            and 1.
        missing: ``"report"`` (the default) leaves lost pairs out and counts them by cause,
            ``"worst"`` counts every lost pair against the candidate, ``"as_failure"`` gives
            system errors the worse bound.
        runs: What several runs of one measurement mean: ``"error"``, ``"latest"``, ``"trials"``.
        seed: Seed of the random sign flips and bootstrap resamples.
        draws: Number of random sign flips where they are not enumerated, and of resamples.
        declaration: What `declare` returned, or its file. Arguments that are left out (or None)
            are filled in from it; what deviates is warned of and listed in the settings and in
            the methods.

    Returns:
        The `Comparison`: ``.table``, ``.pairs``, ``.conclusion()``, ``.methods()``.

    Raises:
        SchemaError: The score table breaks a rule.
        PairingError: Unknown names or options, no common example, several runs of one
            measurement, unknown bounds where they are needed.

    Example:
        >>> rows = [(s, i, float(i % 3 > 0 or (s == "new" and i % 2)))
        ...         for s in ("old", "new") for i in range(60)]
        >>> table = pd.DataFrame(rows, columns=["system", "example_id", "score"])
        >>> result = compare(table.assign(criterion="correct"), baseline="old", candidate="new")
        >>> result.table[["n_pairs", "wins", "losses", "verdict"]].values.tolist()
        [[60, 10, 0, 'improved']]
    """
    resolved = resolve(
        {
            "baseline": baseline,
            "candidates": None if candidate is None else str(candidate),
            "criteria": criteria,
            "primary": primary,
            "margin": margin,
            "correction": correction,
            "alpha": alpha,
            "by": by,
            "cluster": cluster,
            "test": test,
            "interval": interval,
            "measure": measure,
            "missing": missing,
        },
        None if declaration is None else load_declaration(declaration),
        scores,
    )
    names = names_list(resolved.choices.pop("candidates"))
    choices = _choices(resolved, scorers=scorers, tasks=tasks, runs=runs, seed=seed, draws=draws)
    (result,) = analyse(scores, choices, [_only(names)])
    for text in result.warnings:
        warn(text)
    return result


def compare_to_baseline(  # noqa: PLR0913 - every choice of the analysis is a keyword of its own
    scores: pd.DataFrame,
    *,
    baseline: str | None = None,
    candidates: str | Sequence[str] | None = None,
    criteria: str | Sequence[str] | None = None,
    scorers: str | Sequence[str] | None = None,
    by: str | Sequence[str] | None = None,
    cluster: str | bool | None = None,
    tasks: Literal["separate", "pooled"] = "separate",
    margin: Margin = None,
    primary: str | Sequence[str] | None = None,
    correction: str | Mapping[str, str] | None = None,
    alpha: float | None = None,
    test: str | None = None,
    interval: str | None = None,
    measure: Literal["score", "passed"] | None = None,
    missing: pairing.Missing | None = None,
    runs: Runs = "error",
    seed: int = 0,
    draws: int = 10_000,
    declaration: str | os.PathLike[str] | Declaration | None = None,
) -> BaselineComparison:
    """Compare several candidates with one baseline, jointly over candidates and criteria.

    Each candidate is compared as by `compare`, but all hypotheses, of every candidate, form one
    family: signs are flipped for an example (or cluster) in all of them at once, so that max-t
    knows how alike the candidates are, as Dunnett's procedure does for normal data.

    Args:
        scores: A score table.
        baseline: Name of the reference system.
        candidates: Names of the systems that are judged; by default all others.
        criteria: See `compare`, as for all that follow.
        scorers: See `compare`.
        by: See `compare`.
        cluster: See `compare`.
        tasks: See `compare`.
        margin: See `compare`.
        primary: See `compare`; the gate opens for each candidate on its own, so that the error
            rate of what follows it holds for a candidate, not over all of them.
        correction: See `compare`.
        alpha: See `compare`.
        test: See `compare`.
        interval: See `compare`.
        measure: See `compare`.
        missing: See `compare`.
        runs: See `compare`.
        seed: See `compare`.
        draws: See `compare`.
        declaration: See `compare`.

    Returns:
        A `BaselineComparison`: ``.table`` has the rows of all candidates, ``.comparisons`` a
        `Comparison` for each, with jointly adjusted p-values and intervals.

    Raises:
        SchemaError: The score table breaks a rule.
        PairingError: As `compare`, or there is no other system.

    Source:
        Dunnett, A multiple comparison procedure for comparing several treatments with a
        control, 1955; Westfall and Young, Resampling-based multiple testing, 1993.

    Example:
        >>> rows = [(s, i, float((i + k) % 4 > 0)) for k, s in enumerate("abc") for i in range(40)]
        >>> table = pd.DataFrame(rows, columns=["system", "example_id", "score"])
        >>> result = compare_to_baseline(table.assign(criterion="correct"), baseline="a")
        >>> result.table[["candidate", "n_pairs", "verdict"]].values.tolist()
        [['b', 40, 'inconclusive'], ['c', 40, 'inconclusive']]
    """
    resolved = resolve(
        {
            "baseline": baseline,
            "candidates": candidates,
            "criteria": criteria,
            "primary": primary,
            "margin": margin,
            "correction": correction,
            "alpha": alpha,
            "by": by,
            "cluster": cluster,
            "test": test,
            "interval": interval,
            "measure": measure,
            "missing": missing,
        },
        None if declaration is None else load_declaration(declaration),
        scores,
    )
    names = names_list(resolved.choices.pop("candidates"))
    choices = _choices(resolved, scorers=scorers, tasks=tasks, runs=runs, seed=seed, draws=draws)
    names = names or _others(scores, choices.baseline)
    results = analyse(scores, choices, names)
    comparisons = dict(zip(names, results, strict=True))
    texts = tuple(_said_once((name, r.warnings) for name, r in comparisons.items()))
    for text in texts:
        warn(text)
    return BaselineComparison(comparisons, texts)


def _choices(resolved: Resolved, **others: Choice) -> Choices:
    chosen = resolved.choices
    if chosen["baseline"] is None:
        raise PairingError("name the baseline: baseline='...'", code="no_system", path="baseline")
    chosen["baseline"] = str(chosen["baseline"])
    return Choices(**chosen, **others, declaration=resolved.declaration, deviation=resolved.warning)


def _only(names: Sequence[str] | None) -> str:
    if names is None or len(names) != 1:
        raise PairingError(
            "name the candidate: candidate='...'"
            + (f"; declared are {listed(names)}" if names else ""),
            code="no_system",
            path="candidate",
        )
    return names[0]


def _others(scores: pd.DataFrame, baseline: str) -> list[str]:
    systems = sorted(str(name) for name in scores.get("system", pd.Series(dtype=str)).unique())
    others = [name for name in systems if name != baseline]
    if not others:
        raise PairingError(
            f"the table has no system but {baseline!r}; read the candidates' files as well",
            code="one_system",
            path="candidates",
        )
    return others


def _said_once(warnings: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
    """Put equal warnings of several candidates into one."""
    owners: dict[str, list[str]] = {}
    for name, texts in warnings:
        for text in texts:
            owners.setdefault(text, []).append(name)
    return [f"{', '.join(names)}: {text}" for text, names in owners.items()]
