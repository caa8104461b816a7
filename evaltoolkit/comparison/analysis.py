"""`compare`: from a score table to a `Comparison`, step by step."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import metadata
from typing import Literal

import numpy as np
import pandas as pd

from evaltoolkit.comparison import families, pairing, warning_texts
from evaltoolkit.comparison.cells import cells_of
from evaltoolkit.comparison.estimates import Flips, check_methods
from evaltoolkit.comparison.frames import pair_tables, typed_table
from evaltoolkit.comparison.options import (
    Margin,
    at_least,
    margins_of,
    names_list,
    one_of,
    share,
)
from evaltoolkit.comparison.rows import Plan, estimate_rows
from evaltoolkit.criteria import CriterionInfo, criteria_of
from evaltoolkit.errors import PairingError, listed, nearest, warn
from evaltoolkit.measurements import Runs, cluster_codes, cluster_column
from evaltoolkit.results import Comparison
from evaltoolkit.scores import check_scores


def compare(  # noqa: PLR0913 - every choice of the analysis is a keyword of its own
    scores: pd.DataFrame,
    *,
    baseline: str,
    candidate: str,
    criteria: str | Sequence[str] | None = None,
    scorers: str | Sequence[str] | None = None,
    by: str | Sequence[str] | None = None,
    cluster: str | bool | None = None,
    tasks: Literal["separate", "pooled"] = "separate",
    margin: Margin = None,
    primary: str | None = None,
    correction: str | Mapping[str, str] = "maxt",
    alpha: float = 0.05,
    test: str | None = None,
    interval: str | None = None,
    measure: Literal["score", "passed"] = "score",
    missing: pairing.Missing = "report",
    runs: Runs = "error",
    seed: int = 0,
    draws: int = 10_000,
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
        baseline: Name of the reference system.
        candidate: Name of the system that is judged.
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
            if it is (their adjusted p is at least its p).
        correction: ``"maxt"`` or any method of `evaltoolkit.stats.METHODS` for the overall
            rows; a mapping ``{"overall": ..., "slices": ...}`` sets both (slices: ``fdr_bh``).
        alpha: Level of tests; intervals have level 1 - alpha.
        test: Use this test where it applies: mcnemar_midp, mcnemar_exact, mcnemar_score,
            sign_flip, sign_flip_exact, t, z, cluster_flip, cr0_t, cr1_t, cr2_t, cr3_t.
        interval: Use this interval where it applies: bonett_price, tango, newcombe,
            agresti_min, wald, t, z, cr0_t, cr1_t, cr2_t, cr3_t.
        measure: ``"score"``, or ``"passed"`` for the scorers' own verdicts as 0 and 1.
        missing: ``"report"`` leaves lost pairs out and counts them by cause, ``"worst"`` counts
            every lost pair against the candidate, ``"as_failure"`` gives system errors the
            worse bound.
        runs: What several runs of one measurement mean: ``"error"``, ``"latest"``, ``"trials"``.
        seed: Seed of the random sign flips.
        draws: Number of random sign flips where they are not enumerated.

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
    one_of("tasks", tasks, ("separate", "pooled"))
    one_of("measure", measure, ("score", "passed"))
    one_of("missing", missing, ("report", "worst", "as_failure"))
    share("alpha", alpha)
    at_least("draws", draws, 1)
    at_least("seed", seed, 0)
    check_methods(test, interval)
    corrections = families.check_correction(correction)
    table = check_scores(scores)
    request = pairing.Request(
        str(baseline), str(candidate), names_list(criteria), names_list(scorers),
        tasks, measure, missing, runs,
    )  # fmt: skip
    rows = pairing.select_rows(table, request)
    facts = _criteria(table, rows, measure=measure)
    column = cluster_column(rows, cluster)
    slices = names_list(by) or []
    own = {name: _grouping_column(name) for name in [*slices, *([column] if column else [])]}
    needed = [name for name in own.values() if name != "task_of_example"]
    units = _units(rows, facts, needed=needed, missing=missing)
    _check_common(units, rows, request)
    if column is not None:
        units["cluster_code"] = cluster_codes(units, own[column])
    plan = Plan(
        margins=margins_of(margin, facts, alpha=alpha),
        primary=_checked_primary(primary, units),
        alpha=alpha,
        test=test,
        interval=interval,
        flips=Flips(draws, draws, seed),
        corrections=corrections,
    )
    cells = list(cells_of(units, own, facts, slices=slices, order=request.criteria))
    estimated, family_facts = estimate_rows(cells, plan)
    settings = {
        "baseline": request.baseline,
        "candidate": request.candidate,
        "alpha": alpha,
        "correction": corrections,
        "families": family_facts,
        "primary": primary,
        "margin": plan.margins,
        "missing": missing,
        "runs": runs,
        "measure": measure,
        "tasks": tasks,
        "by": slices,
        "cluster": column,
        "clustered": any(sample.clusters is not None for _, sample in cells),
        "test": test,
        "interval": interval,
        "seed": seed,
        "draws": draws,
        "direction_assumed": [n for n, f in facts.items() if f.direction_from == "assumed"],
        "direction_inferred": [n for n, f in facts.items() if f.direction_from == "inferred"],
        "kinds": {name: f"{f.kind} ({f.kind_from})" for name, f in facts.items()},
        "versions": _versions(),
    }
    texts = [
        *warning_texts.row_warnings(rows),
        *warning_texts.unit_warnings(units),
        *warning_texts.table_warnings(estimated),
    ]
    for text in texts:
        warn(text, stacklevel=3)
    pairs, lost = pair_tables(units, facts)
    return Comparison(typed_table(estimated), pairs, lost, settings, tuple(texts))


def _grouping_column(name: str) -> str:
    return "task_of_example" if name == "task" else pairing.attribute_name(name)


def _criteria(table: pd.DataFrame, rows: pd.DataFrame, *, measure: str) -> dict[str, CriterionInfo]:
    used = table[table["criterion"].isin(rows["criterion"].unique())]
    if measure == "passed":
        declared = ["kind", "lower_bound", "upper_bound", "threshold", "higher_is_better"]
        used = used.drop(columns=[name for name in declared if name in used.columns])
        passed = used["passed"].astype("Float64").astype("float64")
        used = used.assign(score=passed, higher_is_better=True)
    return criteria_of(used)


def _units(
    rows: pd.DataFrame,
    facts: dict[str, CriterionInfo],
    *,
    needed: Sequence[str],
    missing: pairing.Missing,
) -> pd.DataFrame:
    attributes = pairing.unit_attributes(rows, needed=needed)
    units = pairing.pair_units(pairing.impute_failures(rows, facts, missing=missing))
    if missing == "worst":
        units = pairing.impute_worst(units, facts)
    codes = attributes.assign(unit=np.arange(len(attributes)))
    return units.merge(codes, on=pairing.UNIT, how="left", validate="many_to_one")


def _check_common(units: pd.DataFrame, rows: pd.DataFrame, request: pairing.Request) -> None:
    if ((units["cause"] == 0) | units["imputed"]).any():
        return
    shared = units["cause"] > 1
    if shared.any():
        causes = units.loc[shared, "cause"].map(dict(enumerate(pairing.CAUSES))).value_counts()
        raise PairingError(
            "the systems share examples, but in none of them both sides have a scored trial "
            f"({', '.join(f'{count} {cause}' for cause, count in causes.items())}); "
            "see et.coverage(scores)",
            code="no_scored_pair",
        )
    seen = {
        side: rows.loc[rows["side"] == side, ["criterion", *pairing.UNIT]].drop_duplicates()
        for side in pairing.SIDES
    }
    first = {
        side: listed(map(tuple, part[["criterion", *pairing.UNIT]].head(2).to_numpy().tolist()))
        for side, part in seen.items()
    }
    raise PairingError(
        f"{request.baseline!r} and {request.candidate!r} have no common example: their "
        f"(criterion, task, example_id) never meet; baseline has {len(seen['baseline'])}, such as "
        f"{first['baseline']}, candidate {len(seen['candidate'])}, such as {first['candidate']}. "
        "Check that ids, tasks and criteria are named alike",
        code="no_common_example",
    )


def _checked_primary(primary: str | None, units: pd.DataFrame) -> str | None:
    known = units["criterion"].unique()
    if primary is not None and primary not in known:
        raise PairingError(
            f"primary is {primary!r}, which is not compared; {nearest(primary, known)}",
            code="unknown_criterion",
            path="primary",
            value=primary,
        )
    return primary


def _versions() -> dict[str, str]:
    names = ("evaltoolkit", "numpy", "pandas", "scipy", "statsmodels")
    return {"python": platform.python_version(), **{n: _version(n) for n in names}}


@cache
def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "unknown"
