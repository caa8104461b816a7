"""From choices to comparisons: one baseline, one or more candidates, all adjusted together."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import Any, Literal

import numpy as np
import pandas as pd

from evaltoolkit.comparison import families, pairing, warning_texts
from evaltoolkit.comparison.adjusting import Plan
from evaltoolkit.comparison.cells import Cell, cells_of
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
from evaltoolkit.comparison.preferences import preference_forms
from evaltoolkit.comparison.rows import estimate_rows
from evaltoolkit.criteria import CriterionInfo, criteria_of
from evaltoolkit.errors import PairingError, listed, nearest
from evaltoolkit.measurements import Runs, cluster_codes, cluster_column
from evaltoolkit.results import Comparison
from evaltoolkit.scores import check_scores


@dataclass(frozen=True)
class Choices:
    """Every choice of an analysis but the candidate; see `evaltoolkit.compare` for what they mean.

    Raises:
        PairingError: An option is not one of those allowed.
    """

    baseline: str
    criteria: str | Sequence[str] | None
    scorers: str | Sequence[str] | None
    by: str | Sequence[str] | None
    cluster: str | bool | None
    tasks: Literal["separate", "pooled"]
    margin: Margin
    primary: str | Sequence[str] | None
    correction: str | Mapping[str, str]
    alpha: float
    test: str | None
    interval: str | None
    measure: Literal["score", "passed"]
    missing: pairing.Missing
    runs: Runs
    seed: int
    draws: int
    declaration: Mapping[str, Any] | None = None
    deviation: str = ""

    def __post_init__(self) -> None:
        one_of("tasks", self.tasks, ("separate", "pooled"))
        one_of("measure", self.measure, ("score", "passed"))
        one_of("missing", self.missing, ("report", "worst", "as_failure"))
        share("alpha", self.alpha)
        at_least("draws", self.draws, 1)
        at_least("seed", self.seed, 0)
        check_methods(self.test, self.interval)
        families.check_correction(self.correction)

    @property
    def slices(self) -> list[str]:
        """The attributes to slice by."""
        return names_list(self.by) or []

    def request(self, candidate: str) -> pairing.Request:
        """Say what is to be paired with one candidate."""
        return pairing.Request(
            baseline=self.baseline,
            candidate=candidate,
            criteria=names_list(self.criteria),
            scorers=names_list(self.scorers),
            tasks=self.tasks,
            measure=self.measure,
            missing=self.missing,
            runs=self.runs,
        )


@dataclass
class _Paired:
    """One candidate paired with the baseline; `units` are numbered with those of the others."""

    candidate: str
    rows: pd.DataFrame
    units: pd.DataFrame
    facts: dict[str, CriterionInfo]
    cluster: str | None
    columns: dict[str, str]


def analyse(scores: pd.DataFrame, choices: Choices, candidates: Sequence[str]) -> list[Comparison]:
    """Compare each candidate with the baseline, all hypotheses adjusted together."""
    table = check_scores(scores)
    paired = [_pair(table, choices, candidate) for candidate in candidates]
    _number_units(paired)
    facts = {name: info for each in paired for name, info in each.facts.items()}
    plan = Plan(
        margins=margins_of(choices.margin, facts, alpha=choices.alpha),
        primary=_checked_primary(names_list(choices.primary) or [], facts),
        alpha=choices.alpha,
        test=choices.test,
        interval=choices.interval,
        flips=Flips(choices.draws, choices.draws, choices.seed),
        corrections=families.check_correction(choices.correction),
    )
    cells = [cell for each in paired for cell in _cells(each, choices)]
    estimated, family_facts = estimate_rows(cells, plan)
    owner = np.array([head["candidate"] for head, _ in cells])
    return [
        _finish(
            each,
            choices,
            plan,
            estimated[owner == each.candidate],
            {"families": family_facts, "n_candidates": len(paired)},
        )
        for each in paired
    ]


def _pair(table: pd.DataFrame, choices: Choices, candidate: str) -> _Paired:
    request = choices.request(candidate)
    rows = pairing.select_rows(table, request)
    facts = _criteria(table, rows, measure=choices.measure)
    cluster = cluster_column(rows, choices.cluster)
    names = [*choices.slices, *([cluster] if cluster else [])]
    columns = {name: _grouping_column(name) for name in names}
    needed = [name for name in columns.values() if name != "task_of_example"]
    units = _units(rows, facts, needed=needed, missing=choices.missing)
    _check_common(units, rows, request)
    return _Paired(candidate, rows, units, facts, cluster, columns)


def _number_units(paired: Sequence[_Paired]) -> None:
    """Number examples, and clusters, alike for all candidates, so that flips are shared."""
    column = next((each.columns[each.cluster] for each in paired if each.cluster), None)
    names = list(dict.fromkeys([*pairing.UNIT, *([column] if column else [])]))
    every = pd.concat([each.units[[n for n in names if n in each.units]] for each in paired])
    every = every.drop_duplicates(pairing.UNIT).sort_values(pairing.UNIT, ignore_index=True)
    numbers = every[pairing.UNIT].assign(unit=np.arange(len(every)))
    if column is not None:
        numbers["cluster_code"] = cluster_codes(every, column)
    for each in paired:
        each.units = each.units.merge(numbers, on=pairing.UNIT, how="left", validate="many_to_one")


def _cells(each: _Paired, choices: Choices) -> list[Cell]:
    found = cells_of(
        each.units,
        each.columns,
        each.facts,
        slices=choices.slices,
        order=names_list(choices.criteria),
    )
    return [({**head, "candidate": each.candidate}, sample) for head, sample in found]


def _finish(
    each: _Paired,
    choices: Choices,
    plan: Plan,
    estimated: pd.DataFrame,
    shared: Mapping[str, object],
) -> Comparison:
    facts = each.facts
    settings = {
        "baseline": choices.baseline,
        "candidate": each.candidate,
        "alpha": choices.alpha,
        "correction": plan.corrections,
        **shared,
        "primary": _primary_setting(plan.primary),
        "margin": plan.margins,
        "missing": choices.missing,
        "runs": choices.runs,
        "measure": choices.measure,
        "tasks": choices.tasks,
        "preferences": preference_forms(each.rows),
        "by": choices.slices,
        "cluster": each.cluster,
        "clustered": bool(estimated["df_clusters"].notna().any()),
        "test": choices.test,
        "interval": choices.interval,
        "seed": choices.seed,
        "draws": choices.draws,
        "declaration": choices.declaration,
        "direction_assumed": [n for n, f in facts.items() if f.direction_from == "assumed"],
        "direction_inferred": [n for n, f in facts.items() if f.direction_from == "inferred"],
        "kinds": {name: f"{f.kind} ({f.kind_from})" for name, f in facts.items()},
        "versions": _versions(),
    }
    texts = (
        *([choices.deviation] if choices.deviation else []),
        *warning_texts.row_warnings(each.rows),
        *warning_texts.unit_warnings(each.units),
        *warning_texts.table_warnings(estimated),
    )
    pairs, lost = pair_tables(each.units, facts)
    table = typed_table(estimated).reset_index(drop=True)
    return Comparison(table, pairs, lost, settings, texts)


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
    return units.merge(attributes, on=pairing.UNIT, how="left", validate="many_to_one")


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


def _checked_primary(primary: Sequence[str], known: Mapping[str, object]) -> tuple[str, ...]:
    for name in primary:
        if name not in known:
            raise PairingError(
                f"primary is {name!r}, which is not compared; {nearest(name, known)}",
                code="unknown_criterion",
                path="primary",
                value=name,
            )
    repeated = [name for name in dict.fromkeys(primary) if list(primary).count(name) > 1]
    if repeated:
        raise PairingError(
            f"primary names {listed(repeated)} more than once; each criterion has one place in "
            "the sequence",
            code="bad_option",
            path="primary",
            value=repeated,
        )
    return tuple(primary)


def _primary_setting(primary: Sequence[str]) -> str | list[str] | None:
    return (list(primary) if len(primary) > 1 else primary[0]) if primary else None


def _versions() -> dict[str, str]:
    names = ("evaltoolkit", "numpy", "pandas", "scipy", "statsmodels")
    return {"python": platform.python_version(), **{n: _version(n) for n in names}}


@cache
def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "unknown"
