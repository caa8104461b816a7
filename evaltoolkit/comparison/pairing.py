"""From a score table to pairs: which rows count, per-example means, and why pairs are lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from evaltoolkit.comparison.preferences import judged_together
from evaltoolkit.criteria import CriterionInfo
from evaltoolkit.errors import PairingError, listed, nearest
from evaltoolkit.measurements import Runs, resolve_runs, rows_named
from evaltoolkit.schema import SCORES, STATUSES, rows_text

HYPOTHESIS = ["task", "criterion", "scorer"]
UNIT = ["task_of_example", "example_id"]
SIDES = ("baseline", "candidate")
POOLED = "(pooled)"

CAUSES = ("", "unpaired", "unscored", "scorer_error", "system_error")
"""Why an example gave no pair, by code; 0 means that it did."""

_CODE_OF_STATUS = dict(zip(STATUSES, (0, 2, 3, 4), strict=True))
Missing = Literal["report", "worst", "as_failure"]


@dataclass(frozen=True)
class Request:
    """What the user asked to be paired."""

    baseline: str
    candidate: str
    criteria: Sequence[str] | None
    scorers: Sequence[str] | None
    tasks: Literal["separate", "pooled"]
    measure: Literal["score", "passed"]
    missing: Missing
    runs: Runs


def select_rows(scores: pd.DataFrame, request: Request) -> pd.DataFrame:
    """Keep the rows of the two systems that can pair, with the column ``side``.

    Raises:
        PairingError: An unknown name, the same system twice, or no row that can pair.
    """
    _check_systems(scores, request)
    rows = judged_together(scores, baseline=request.baseline, candidate=request.candidate)
    for column, wanted in (("criterion", request.criteria), ("scorer", request.scorers)):
        if wanted is not None:
            rows = rows_named(rows, column, wanted, where="no row of the two systems")
    _check_one_form(rows)
    clashing = {name: attribute_name(name) for name in SCORES.attributes(rows)}
    rows = rows.rename(columns=clashing).assign(
        side=np.where(rows["system"] == request.baseline, *SIDES),
        task_of_example=rows["task"],
        imputed=False,
    )
    if request.measure == "passed":
        rows = _use_passed(rows)
    rows = resolve_runs(rows, runs=request.runs)
    return rows.assign(task=POOLED) if request.tasks == "pooled" else rows


def _check_systems(scores: pd.DataFrame, request: Request) -> None:
    # A baseline of pairwise judgements may occur as the other system only.
    known = [*scores["system"].unique(), *scores["versus"].dropna().unique()]
    for role in SIDES:
        name = getattr(request, role)
        if name not in known:
            raise PairingError(
                f"{role} is {name!r}, which is no system of the table; {nearest(name, known)}",
                code="unknown_system",
                path=role,
                value=name,
            )
    if request.baseline == request.candidate:
        raise PairingError(
            f"baseline and candidate are both {request.baseline!r}; name two different systems",
            code="same_system",
            value=request.baseline,
        )


def _check_one_form(rows: pd.DataFrame) -> None:
    forms = rows["versus"].isna().groupby([rows[name] for name in HYPOTHESIS]).nunique()
    mixed = forms[forms > 1].index.get_level_values("criterion").unique().tolist()
    if mixed:
        raise PairingError(
            f"the criterion {listed(mixed)} has absolute rows and pairwise rows (versus) of the "
            "same two systems and scorer, which measure different things; keep one kind, e.g. "
            "scores[scores.versus.isna()]",
            code="mixed_forms",
            path="versus",
            value=mixed,
        )


def _use_passed(rows: pd.DataFrame) -> pd.DataFrame:
    if rows["passed"].notna().sum() == 0:
        raise PairingError(
            "measure='passed' needs the scorers' own verdicts, but the column passed is empty for "
            "these systems; use measure='score'",
            code="no_verdicts",
            path="measure",
        )
    scored = (rows["status"] == "scored") & rows["passed"].notna()
    status = rows["status"].astype("str").mask((rows["status"] == "scored") & ~scored, "unscored")
    return rows.assign(
        score=rows["passed"].astype("Float64").astype("float64").where(scored),
        status=status.astype(rows["status"].dtype),
    )


def impute_failures(
    rows: pd.DataFrame, criteria: dict[str, CriterionInfo], *, missing: Missing
) -> pd.DataFrame:
    """With ``missing="as_failure"`` give each system error the worse bound of its criterion."""
    if missing != "as_failure":
        return rows
    failed = rows["status"] == "system_error"
    worst = rows["criterion"].map({name: info.worst for name, info in criteria.items()})
    _need_bounds(rows.loc[failed & worst.isna(), "criterion"], missing)
    status = rows["status"].mask(failed, "scored")
    score = rows["score"].where(~failed, worst)
    return rows.assign(score=score, status=status, imputed=failed)


def _need_bounds(names: pd.Series, missing: str) -> None:
    if len(names):
        raise PairingError(
            f"missing={missing!r} needs the bounds of the criterion {listed(names.unique())}, "
            "which are not known; declare them (columns lower_bound and upper_bound, or "
            "tidy_scores(declare=...)), or leave those criteria out with criteria=[...]",
            code="unknown_bounds",
            path="missing",
            value=sorted(names.unique()),
        )


def pair_units(rows: pd.DataFrame) -> pd.DataFrame:
    """Average the trials of each example and put both systems side by side.

    Returns:
        One row per hypothesis and distinct example: the means and numbers of trials of both
        sides and ``cause``, the code of why there is no pair (0: there is one).
    """
    coded = rows.assign(code=rows["status"].map(_CODE_OF_STATUS).astype("int64"))
    keys = [*HYPOTHESIS, *UNIT]
    grouped = coded.groupby([*keys, "side"], sort=True)
    cells = grouped.agg(
        mean=("score", "mean"),
        scored=("score", "count"),
        rows=("score", "size"),
        worst=("code", "max"),
        imputed=("imputed", "max"),
    )
    wide = pd.DataFrame(cells.unstack("side"))
    wide = wide.reindex(columns=pd.MultiIndex.from_product([cells.columns, SIDES]))
    units = wide.index.to_frame(index=False)
    cause = np.zeros(len(wide), dtype=int)
    for side in SIDES:
        scored = wide["scored", side].fillna(0).to_numpy(dtype=int)
        present = wide["rows", side].fillna(0).to_numpy(dtype=int)
        worst = wide["worst", side].fillna(1).to_numpy(dtype=int)
        units[side] = wide["mean", side].to_numpy()
        units[f"n_trials_{side}"] = scored
        units[f"lost_{side}"] = present - scored
        cause = np.maximum(cause, np.where(scored > 0, 0, worst))
    imputed = np.zeros(len(wide), dtype=np.bool_)
    for side in SIDES:
        imputed |= wide["imputed", side].fillna(0).to_numpy(dtype=np.bool_)
    return units.assign(cause=cause, imputed=imputed)


def impute_worst(units: pd.DataFrame, criteria: dict[str, CriterionInfo]) -> pd.DataFrame:
    """Count every lost pair against the candidate: it gets the worst, the baseline the best."""
    lost = units["cause"] > 0
    worst = units["criterion"].map({n: i.worst for n, i in criteria.items()}).astype("float64")
    best = units["criterion"].map({n: i.best for n, i in criteria.items()}).astype("float64")
    _need_bounds(units.loc[lost & (worst.isna() | best.isna()), "criterion"], "worst")
    return units.assign(
        baseline=units["baseline"].fillna(best),
        candidate=units["candidate"].where(~lost, worst),
        imputed=lost,
        lost_baseline=units["lost_baseline"].where(~lost, 0),
        lost_candidate=units["lost_candidate"].where(~lost, 0),
    )


_OWN_COLUMNS = frozenset(
    {
        *HYPOTHESIS, *UNIT, *SIDES, "side", "cause", "unit", "imputed", "cluster_code", "delta",
        "outcome", "kind", "higher_is_better", "passes_at", "flip", "n_trials_lost",
        *(f"{what}_{side}" for what in ("n_trials", "lost") for side in SIDES),
    }
)  # fmt: skip


def attribute_name(name: str) -> str:
    """Name of an attribute among the columns of units: prefixed where it would clash.

    Example:
        >>> attribute_name("topic"), attribute_name("baseline")
        ('topic', 'example.baseline')
    """
    return f"example.{name}" if name in _OWN_COLUMNS else name


def attribute_columns(rows: pd.DataFrame) -> list[str]:
    """Names of the example attributes in selected rows."""
    own = {"side", "task_of_example", "imputed", "mirrored"}
    return [name for name in SCORES.attributes(rows) if name not in own]


def unit_attributes(rows: pd.DataFrame, *, needed: Sequence[str]) -> pd.DataFrame:
    """Give each example its attributes, one row per unit.

    Args:
        rows: Selected rows.
        needed: Columns that must be constant within each example (slices, clusters); others
            are kept where they are constant and left out where not.

    Raises:
        PairingError: A needed column is absent or differs within an example.
    """
    for name in needed:
        if name not in rows.columns:
            known = [*attribute_columns(rows), "cluster"]
            raise PairingError(
                f"the table has no column {name!r} to group examples by; {nearest(name, known)}",
                code="unknown_attribute",
                path=name,
                value=name,
            )
    optional = [n for n in (*attribute_columns(rows), "cluster") if n in rows.columns]
    names = list(dict.fromkeys([*needed, *optional]))
    units = rows[UNIT].drop_duplicates().set_index(UNIT).sort_index()
    for name in names:
        if rows[name].dtype == object and rows[name].map(_unhashable).any():
            if name in needed:
                raise PairingError(
                    f"{name!r} holds lists or dictionaries, which cannot group examples; make "
                    "a column of text or numbers from it",
                    code="bad_attribute",
                    path=name,
                )
            continue
        distinct = rows.loc[rows[name].notna(), [*UNIT, name]].drop_duplicates()
        mixed = distinct.duplicated(UNIT, keep=False)
        if mixed.any() and name in needed:
            raise PairingError(
                f"{name!r} differs within {int(distinct[mixed].groupby(UNIT).ngroups)} "
                f"example(s): {rows_text(distinct[mixed], [*UNIT, name])}; an attribute must be "
                "the same in all rows of an example",
                code="attribute_not_constant",
                path=name,
            )
        if not mixed.any():
            units[name] = distinct.set_index(UNIT)[name]
    return units.reset_index()


def _unhashable(value: object) -> bool:
    return isinstance(value, list | dict | set | np.ndarray)
