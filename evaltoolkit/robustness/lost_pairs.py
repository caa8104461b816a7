"""`sensitivity`: what the lost pairs of a comparison could change."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import pandas as pd

from evaltoolkit.comparison.adjusting import Plan
from evaltoolkit.comparison.engine import Choices, analyse
from evaltoolkit.comparison.estimates import Flips
from evaltoolkit.comparison.options import Margin, names_list
from evaltoolkit.comparison.pairing import HYPOTHESIS
from evaltoolkit.comparison.rows import estimate_rows
from evaltoolkit.errors import EvalToolkitWarning, warn
from evaltoolkit.measurements import Runs
from evaltoolkit.results import Comparison, Sensitivity
from evaltoolkit.robustness import lost_sentences as sentences
from evaltoolkit.robustness.rebuilding import Key, Rebuilt, key_of, samples_of
from evaltoolkit.robustness.tipping import Filled, Tipping, tipping_point
from evaltoolkit.wording import Row, rows_of

SCENARIOS = ("report", "worst", "best", "as_failure")
CAUSES = ("n_system_error", "n_scorer_error", "n_unscored", "n_unpaired")

SENSITIVITY_COLUMNS = (
    "task", "criterion", "scorer", "n_pairs", "n_lost", *CAUSES, "delta", "verdict",
    "verdict_worst", "verdict_best", "verdict_as_failure", "unchanged", "test", "tipping_pairs",
    "tipping_share", "tipping_towards", "tipping_mean", "note",
)  # fmt: skip
"""Columns of `Sensitivity.table`, in order."""

SCENARIO_COLUMNS = (
    "task", "criterion", "scorer", "missing", "n_pairs", "n_imputed", "delta", "se", "ci_low",
    "ci_high", "interval", "test", "p_value", "p_adjusted", "verdict", "note",
)  # fmt: skip
"""Columns of `Sensitivity.scenarios`, in order."""

_DRAWS = 10_000


def sensitivity(  # noqa: PLR0913 - every choice of the analysis is a keyword of its own
    scores: pd.DataFrame,
    *,
    baseline: str,
    candidate: str,
    criteria: str | Sequence[str] | None = None,
    scorers: str | Sequence[str] | None = None,
    cluster: str | bool | None = None,
    tasks: Literal["separate", "pooled"] = "separate",
    margin: Margin = None,
    primary: str | Sequence[str] | None = None,
    correction: str | Mapping[str, str] = "maxt",
    alpha: float = 0.05,
    test: str | None = None,
    measure: Literal["score", "passed"] = "score",
    runs: Runs = "error",
    seed: int = 0,
) -> Sensitivity:
    """Ask what the pairs that were lost could change in a comparison.

    The comparison is made four times: without the lost pairs (``report``, as `compare` does),
    with all of them against the candidate (``worst``), all of them against the baseline
    (``best``), and with system errors as failures (``as_failure``). A side that was scored
    keeps its score; only what is missing takes a bound of the criterion. Then the tipping
    point: the smallest number of lost pairs that, each at its worst for the claim and the
    others left out, would turn what the verdict claims. It uses the row's own test,
    unadjusted, at alpha. ``tipping_mean`` is the mean difference of all lost pairs at which
    the claim turns (0/1 outcomes: some differ and the others tie; otherwise all have that same
    difference, which makes them less scattered than real ones).

    Args:
        scores: A score table.
        baseline: Name of the reference system.
        candidate: Name of the system that is judged.
        criteria: See `compare`, as for all that follow.
        scorers: See `compare`.
        cluster: See `compare`.
        tasks: See `compare`.
        margin: See `compare`.
        primary: See `compare`.
        correction: See `compare`.
        alpha: See `compare`.
        test: See `compare`.
        measure: See `compare`.
        runs: See `compare`.
        seed: See `compare`.

    Returns:
        The `Sensitivity`: ``.table`` (verdicts and tipping points), ``.scenarios``.

    Raises:
        SchemaError: The score table breaks a rule.
        PairingError: As `compare`. Unknown bounds are no error here: the rows say so.

    Source:
        Yan, Lee and Li, Missing data handling methods in medical device clinical trials, 2009
        (tipping points); Manski, Partial identification of probability distributions, 2003
        (bounds).

    Example:
        >>> rows = [(s, i, float(s == "new" or i % 4 > 0)) for s in ("old", "new")
        ...         for i in range(60)]
        >>> scores = pd.DataFrame(rows, columns=["system", "example_id", "score"])
        >>> scores.loc[scores.index[-8:], "score"] = float("nan")
        >>> found = sensitivity(scores.assign(criterion="ok"), baseline="old", candidate="new")
        >>> found.table[["n_lost", "verdict", "verdict_worst", "tipping_pairs"]].values.tolist()
        [[8, 'improved', 'inconclusive', 5]]
    """
    choices = Choices(
        baseline=str(baseline),
        criteria=criteria,
        scorers=scorers,
        by=None,
        cluster=cluster,
        tasks=tasks,
        margin=margin,
        primary=primary,
        correction=correction,
        alpha=alpha,
        test=test,
        interval=None,
        measure=measure,
        missing="report",
        runs=runs,
        seed=seed,
        draws=_DRAWS,
    )
    (report,) = analyse(scores, choices, [str(candidate)])
    plan = _plan(report, names_list(primary) or [])
    pairs = _filled_pairs(scores, choices, report)
    samples = {name: samples_of(frame, report) for name, frame in pairs.items()}
    estimates = {name: _estimated(report, samples[name], plan) for name in SCENARIOS}
    heads = rows_of(report.overall)
    scenarios = pd.DataFrame(
        [
            _scenario_row(row, name, estimates[name][key_of(row)], samples["report"])
            for row in heads
            for name in SCENARIOS
        ],
        columns=list(SCENARIO_COLUMNS),
    )
    table = _table(heads, scenarios, samples, plan)
    settings = {
        **{
            name: report.settings[name]
            for name in ("baseline", "candidate", "alpha", "correction", "families", "primary",
                         "margin", "measure", "tasks", "runs", "cluster", "seed", "versions")
        },
        "n_trials_lost": int(report.overall["n_trials_lost"].sum()),
    }  # fmt: skip
    for text in report.warnings:
        warn(text)
    return Sensitivity(
        table,
        settings,
        sentences.conclusion(table, settings),
        sentences.methods(table, settings),
        warnings=report.warnings,
        scenarios=scenarios,
    )


def _plan(report: Comparison, primary: Sequence[str]) -> Plan:
    settings = report.settings
    return Plan(
        margins=settings["margin"],
        primary=tuple(primary),
        alpha=settings["alpha"],
        test=settings["test"],
        interval=settings["interval"],
        flips=Flips(settings["draws"], settings["draws"], settings["seed"]),
        corrections=settings["correction"],
    )


def _filled_pairs(
    scores: pd.DataFrame, choices: Choices, report: Comparison
) -> dict[str, pd.DataFrame]:
    """Give the pairs under each treatment; criteria without bounds keep their measured pairs."""
    worst = replace(choices, missing="worst", margin=None, primary=None)
    failure = replace(worst, missing="as_failure")
    bounded, failing = _fillable(report)
    candidate, baseline = report.candidate, report.baseline
    return {
        "report": report.pairs,
        "worst": _merged(scores, worst, candidate, bounded, report),
        "best": _merged(scores, replace(worst, baseline=candidate), baseline, bounded, report),
        "as_failure": _merged(scores, failure, candidate, failing, report),
    }


def _fillable(report: Comparison) -> tuple[list[str], list[str]]:
    """Name the criteria with lost pairs whose bounds allow them to be filled in.

    Returns:
        Criteria with both bounds and lost pairs, and criteria with a worse bound and system
        errors.
    """
    rows = report.overall
    lost = rows[list(CAUSES)].sum(axis=1) > 0
    lower, upper = rows["lower_bound"].notna(), rows["upper_bound"].notna()
    worse = lower.where(rows["higher_is_better"].astype(bool), upper)
    failed = rows["n_system_error"] > 0
    both = rows.loc[lost & lower & upper, "criterion"].unique().tolist()
    return both, rows.loc[failed & worse, "criterion"].unique().tolist()


def _merged(
    scores: pd.DataFrame,
    choices: Choices,
    other: str,
    criteria: Sequence[str],
    report: Comparison,
) -> pd.DataFrame:
    """Compare some criteria once more, and put their pairs beside the measured ones of others."""
    if not criteria:
        return report.pairs
    with warnings.catch_warnings():
        # The comparison without the lost pairs has said all this already.
        warnings.simplefilter("ignore", EvalToolkitWarning)
        (again,) = analyse(scores, replace(choices, criteria=list(criteria)), [other])
    pairs = again.pairs
    if again.candidate != report.candidate:
        pairs = _swapped(pairs)
    kept = report.pairs[~report.pairs["criterion"].isin(list(criteria))]
    return pd.concat([kept, pairs], ignore_index=True) if len(kept) else pairs


def _swapped(pairs: pd.DataFrame) -> pd.DataFrame:
    """Exchange the two sides of pairs."""
    names = {
        "baseline": "candidate",
        "candidate": "baseline",
        "n_trials_baseline": "n_trials_candidate",
        "n_trials_candidate": "n_trials_baseline",
    }
    return pairs.rename(columns=names).assign(delta=-pairs["delta"])


def _estimated(
    report: Comparison, samples: Mapping[Key, Rebuilt], plan: Plan
) -> dict[Key, dict[str, Any]]:
    heads = [
        {
            **{name: row[name] for name in (*HYPOTHESIS, *CAUSES, "n_trials_lost")},
            "slice_by": None,
            "slice": None,
            "candidate": report.candidate,
            "n_imputed": int(samples[key_of(row)].imputed.sum()),
        }
        for row in rows_of(report.overall)
    ]
    cells = [(head, samples[key_of(head)].sample) for head in heads]
    estimated, _ = estimate_rows(cells, plan)
    return {key_of(row): {str(k): v for k, v in row.items()} for row in rows_of(estimated)}


def _scenario_row(
    row: Row, missing: str, estimated: Mapping[Any, Any], measured: Mapping[Key, Rebuilt]
) -> dict[str, Any]:
    head = {**{name: row[name] for name in HYPOTHESIS}, "missing": missing}
    reason = _not_filled(row, missing)
    if reason:
        n_pairs = measured[key_of(row)].sample.n
        return {**head, "n_pairs": n_pairs, "n_imputed": 0, "verdict": "unknown", "note": reason}
    return {**{name: estimated[name] for name in SCENARIO_COLUMNS if name in estimated}, **head}


def _not_filled(row: Row, missing: str) -> str:
    """Say why lost pairs cannot be filled in; empty where they can, or where there are none."""
    lost = sum(int(row[name]) for name in CAUSES)
    lower, upper = float(row["lower_bound"]), float(row["upper_bound"])
    worse = lower if row["higher_is_better"] else upper
    if missing in ("worst", "best") and lost and math.isnan(lower + upper):
        return _UNBOUNDED
    if missing == "as_failure" and row["n_system_error"] and math.isnan(worse):
        return _UNBOUNDED
    return ""


_UNBOUNDED = (
    "the bounds of the criterion are not known, so its lost pairs could change anything; declare "
    "them (columns lower_bound and upper_bound)"
)


def _table(
    heads: Sequence[Row],
    scenarios: pd.DataFrame,
    samples: Mapping[str, Mapping[Key, Rebuilt]],
    plan: Plan,
) -> pd.DataFrame:
    verdicts = {
        (*key_of(row), str(row["missing"])): str(row["verdict"]) for row in rows_of(scenarios)
    }
    rows = []
    for row in heads:
        key = key_of(row)
        said = {name: verdicts[(*key, name)] for name in SCENARIOS}
        filled = Filled(baseline=samples["worst"][key], candidate=samples["best"][key])
        rows.append(_row(row, said, filled, plan))
    table = pd.DataFrame(rows, columns=list(SENSITIVITY_COLUMNS))
    return table.astype({"tipping_pairs": "Int64", "unchanged": "boolean"})


def _row(row: Row, said: Mapping[str, str], filled: Filled, plan: Plan) -> dict[str, Any]:
    lost = sum(int(row[name]) for name in CAUSES)
    reason = _not_filled(row, "worst")
    if not lost:
        found = Tipping(None, "", math.nan, "no pair was lost")
    elif reason:
        found = Tipping(None, "", math.nan, reason)
    else:
        found = tipping_point(row, filled, plan)
    extremes = {said["worst"], said["best"]}
    return {
        **{name: row[name] for name in (*HYPOTHESIS, "n_pairs", *CAUSES, "delta", "verdict")},
        "n_lost": lost,
        **{f"verdict_{name}": said[name] for name in SCENARIOS[1:]},
        "unchanged": None if "unknown" in extremes else extremes == {said["report"]},
        "test": row["test"],
        "tipping_pairs": found.pairs,
        "tipping_share": math.nan if found.pairs is None else found.pairs / lost,
        "tipping_towards": found.towards,
        "tipping_mean": found.mean,
        "note": found.reason,
    }
