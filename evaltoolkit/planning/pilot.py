"""What a pilot tells about the spread: paired differences, trial noise, clusters, losses."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evaltoolkit import stats
from evaltoolkit.criteria import CriterionInfo, criteria_of
from evaltoolkit.errors import EvalToolkitError, PairingError, listed, nearest
from evaltoolkit.measurements import cluster_codes, cluster_column, resolve_runs
from evaltoolkit.planning.options import Arguments
from evaltoolkit.planning.spread import Size, Spread
from evaltoolkit.scores import check_scores
from evaltoolkit.stats import Floats
from evaltoolkit.stats.differences import is_constant

SIDES = ("baseline", "candidate")


@dataclass(frozen=True)
class Names:
    """Which two systems and which criterion of the pilot to use."""

    baseline: str | None
    candidate: str | None
    criterion: str | None


@dataclass(frozen=True)
class Pilot:
    """The pilot, reduced to what planning needs.

    Attributes:
        names: Systems and criterion, resolved.
        task: Task that the examples belong to.
        differences: Candidate less baseline, one per pair, in order of example id.
        size: Numbers of pairs and of independent units.
        trials: Fewest trials of a paired example.
        trial_variances: Variance between trials, for each system; NaN without repeats.
        spread: The estimated spread.
        lost: Examples of either system that gave no pair.
        span: Width of the criterion's range; infinite where unknown.
        kind: Kind of the criterion.
    """

    names: Names
    task: str
    differences: Floats
    size: Size
    trials: int
    trial_variances: tuple[float, float]
    spread: Spread
    lost: int
    span: float
    kind: str


def read_pilot(scores: pd.DataFrame, names: Names, given: Arguments) -> Pilot:
    """Pair a pilot's scores and estimate what varies.

    Raises:
        SchemaError: The score table breaks a rule.
        PairingError: Names are unknown or left open where there are several, or fewer than two
            examples are scored on both sides.
        EvalToolkitError: The differences have no spread.
    """
    table = check_scores(scores)
    names = _resolved(table, names)
    rows = _rows(table, names)
    facts = criteria_of(table[table["criterion"] == names.criterion])[str(names.criterion)]
    units = _units(rows)
    paired = units[units["n_baseline"].gt(0) & units["n_candidate"].gt(0)]
    if len(paired) < 2:
        raise PairingError(
            f"the pilot has {len(paired)} example(s) that both systems were scored on, of "
            f"{len(units)}; variances need at least 2, and say little below about 20",
            code="too_few_pairs",
            path="pilot",
            value=len(paired),
        )
    d = stats.snap_ties(paired["mean_baseline"].to_numpy(), paired["mean_candidate"].to_numpy())
    _check_spread(d, names)
    codes = _clusters(rows, paired) if given.icc is None else None
    noise = _trial_variances(rows, paired)
    return Pilot(
        names=names,
        task=str(rows["task"].iloc[0]),
        differences=d,
        size=Size(d.size, d.size if codes is None else int(codes.max()) + 1),
        trials=int(paired[["n_baseline", "n_candidate"]].to_numpy().min()),
        trial_variances=noise,
        spread=_spread(d, codes, _noise(paired, noise), facts, given),
        lost=len(units) - len(paired),
        span=_span(facts),
        kind=facts.kind,
    )


def _resolved(table: pd.DataFrame, names: Names) -> Names:
    systems = sorted(table["system"].unique())
    for role, name in (("baseline", names.baseline), ("candidate", names.candidate)):
        if name is None:
            raise PairingError(
                f"{role} is missing; a pilot needs baseline= and candidate=, two of "
                f"{listed(systems)}",
                code="missing_option",
                path=role,
            )
        if name not in systems:
            raise PairingError(
                f"{role} is {name!r}, which is no system of the pilot; {nearest(name, systems)}",
                code="unknown_system",
                path=role,
                value=name,
            )
    if names.baseline == names.candidate:
        raise PairingError(
            f"baseline and candidate are both {names.baseline!r}; name two different systems",
            code="same_system",
            value=names.baseline,
        )
    here = table[table["system"].isin([names.baseline, names.candidate])]
    return Names(names.baseline, names.candidate, _criterion(here, names.criterion))


def _criterion(here: pd.DataFrame, name: str | None) -> str:
    known = sorted(here["criterion"].unique())
    if name is None and len(known) == 1:
        return str(known[0])
    if name is None or name not in known:
        raise PairingError(
            "the pilot has several criteria; name one with criterion=: " + listed(known, limit=9)
            if name is None
            else f"criterion is {name!r}, which the two systems do not have; "
            f"{nearest(name, known)}",
            code="unknown_criterion",
            path="criterion",
            value=name,
        )
    return name


def _rows(table: pd.DataFrame, names: Names) -> pd.DataFrame:
    other = {names.baseline: names.candidate, names.candidate: names.baseline}
    rows = table[table["system"].isin(list(other)) & (table["criterion"] == names.criterion)]
    rows = rows[rows["versus"].isna() | (rows["versus"] == rows["system"].map(other))]
    if rows["versus"].isna().nunique() > 1:
        raise PairingError(
            "the pilot has absolute rows and pairwise rows (versus) of this criterion; keep one "
            "kind, e.g. pilot[pilot.versus.isna()]",
            code="mixed_forms",
            path="versus",
        )
    for column in ("task", "scorer"):
        known = sorted(rows[column].unique())
        if len(known) > 1:
            raise PairingError(
                f"the criterion {names.criterion!r} has several {column}s in the pilot, which "
                f"vary each in its own way: {listed(known)}; keep one, e.g. "
                f"pilot[pilot.{column} == {known[0]!r}]",
                code="several_hypotheses",
                path=column,
                value=known,
            )
    rows = resolve_runs(rows, runs="error")
    side = np.where(rows["system"] == names.baseline, *SIDES)
    return rows.assign(side=side).sort_values(["example_id", "side", "trial"], kind="stable")


def _units(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean score and number of scored trials of every example, both systems side by side."""
    by_side = rows.groupby(["example_id", "side"], sort=True)["score"].agg(["mean", "count"])
    wide = pd.DataFrame(by_side.unstack("side"))
    return pd.DataFrame(
        {
            **{f"mean_{s}": _column(wide, "mean", s) for s in SIDES},
            **{f"n_{s}": _column(wide, "count", s).fillna(0).astype("int64") for s in SIDES},
        }
    )


def _column(wide: pd.DataFrame, what: str, side: str) -> pd.Series:
    if (what, side) in wide.columns:
        return pd.Series(wide[what, side])
    return pd.Series(math.nan, index=wide.index)


def _check_spread(d: Floats, names: Names) -> None:
    if is_constant(d):
        raise EvalToolkitError(
            f"all {d.size} paired differences of {names.criterion!r} in the pilot are "
            f"{d[0]:g}: without spread no number of examples follows. Run a larger pilot, or "
            "give sd= or agreement= from what you know",
            code="no_spread",
            path="pilot",
            value=float(d[0]),
        )


def _clusters(rows: pd.DataFrame, paired: pd.DataFrame) -> np.ndarray | None:
    column = cluster_column(rows, None)
    if column is None:
        return None
    names = rows.groupby("example_id", sort=True)[column].agg(["first", "nunique"])
    names = names.loc[paired.index]
    if names["nunique"].gt(1).any():
        raise PairingError(
            f"the cluster differs within {int(names['nunique'].gt(1).sum())} example(s) of the "
            f"pilot, such as {names.index[names['nunique'].gt(1)][0]!r}; it must be the same in "
            "all rows of an example",
            code="attribute_not_constant",
            path="cluster",
        )
    codes = cluster_codes(names.reset_index(), "first").to_numpy()
    codes = np.unique(codes, return_inverse=True)[1]
    if codes.max() == 0:
        raise EvalToolkitError(
            "all examples of the pilot belong to one cluster, so nothing can be said about "
            "other clusters; give icc= and cluster_size=, or icc=0 for independent examples",
            code="one_cluster",
            path="cluster",
        )
    return codes if int(codes.max()) + 1 < codes.size else None


def _trial_variances(rows: pd.DataFrame, paired: pd.DataFrame) -> tuple[float, float]:
    here = rows[rows["example_id"].isin(paired.index) & rows["score"].notna()]
    old, new = (_trial_variance(here[here["side"] == side]) for side in SIDES)
    if math.isnan(old) != math.isnan(new):
        raise PairingError(
            "one system of the pilot has repeated trials and the other has none; keep one trial "
            "of each (pilot[pilot.trial == 0]) or repeat both",
            code="uneven_trials",
            path="trial",
        )
    return old, new


def _trial_variance(rows: pd.DataFrame) -> float:
    trials = [part.to_numpy() for _, part in rows.groupby("example_id", sort=True)["score"]]
    return stats.variance_components(trials).var_trial


def _noise(paired: pd.DataFrame, variances: tuple[float, float]) -> tuple[float, float]:
    """Trial noise for one trial of each system, and as it is contained in the differences."""
    shares = [float((1 / paired[f"n_{side}"]).mean()) for side in SIDES]
    return sum(variances), sum(v * s for v, s in zip(variances, shares, strict=True))


def _spread(
    d: Floats,
    codes: np.ndarray | None,
    noise: tuple[float, float],
    facts: CriterionInfo,
    given: Arguments,
) -> Spread:
    icc, size = given.icc or 0.0, given.cluster_size or 1.0
    if codes is not None:
        sizes = np.bincount(codes).astype(np.float64)
        icc = max(stats.anova_icc(d, codes).icc, 0.0)
        size = given.cluster_size or float(sizes @ sizes) / d.size
    per_trial, contained = noise
    total = float(np.var(d, ddof=1))
    if facts.kind == "binary" and math.isnan(per_trial) and codes is None:
        differing = float(np.mean(d != 0))
        return Spread("pilot", math.nan, math.nan, differing, icc * differing, size)
    # Without repeats the noise cannot be told apart; it then stays in the total.
    variance = total if math.isnan(per_trial) else max(total - contained, 0.0)
    return Spread("pilot", variance, per_trial, math.nan, icc * total, size)


def _span(facts: CriterionInfo) -> float:
    span = facts.upper_bound - facts.lower_bound
    return math.inf if math.isnan(span) else span
