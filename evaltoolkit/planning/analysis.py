"""`plan`: from what is known of the spread to examples, trials, smallest difference or power."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from evaltoolkit.errors import EvalToolkitError, warn
from evaltoolkit.planning import options, solving
from evaltoolkit.planning.options import Arguments, Question
from evaltoolkit.planning.pilot import Names, Pilot, read_pilot
from evaltoolkit.planning.sentences import conclusion_text, loud_texts, methods_text
from evaltoolkit.planning.spread import Spread, assumed_spread, pessimistic, possible
from evaltoolkit.results.planning import POWER_PLAN_COLUMNS, PowerPlan
from evaltoolkit.stats import Floats

FEW_CLUSTERS = 6


def plan(  # noqa: PLR0913 - every assumption of a plan is a keyword of its own
    pilot: pd.DataFrame | None = None,
    *,
    baseline: str | None = None,
    candidate: str | None = None,
    criterion: str | None = None,
    difference: float | None = None,
    power: float | None = None,
    alpha: float = 0.05,
    n: int | Sequence[int] | None = None,
    trials: int | Sequence[int] | None = None,
    sd: float | None = None,
    agreement: float | None = None,
    p_baseline: float | None = None,
    p_candidate: float | None = None,
    trial_variance: float | tuple[float, float] | None = None,
    icc: float | None = None,
    cluster_size: float | None = None,
    margin: float | None = None,
    families: int = 1,
    method: str | None = None,
    seed: int = 0,
) -> PowerPlan:
    """Say how many examples and trials a paired comparison needs, or what a given size can show.

    Two of `n`, `difference` and `power` are given (power is 0.8 unless said otherwise) and the
    third is solved for. How much the paired differences vary comes from a pilot, from `sd`, or
    for 0/1 outcomes from `agreement`. The power is that of the difference asked for; the
    difference that a pilot happened to show is not used.

    Args:
        pilot: A score table of two systems on the same examples; its spread is used.
        baseline: Reference system of the pilot.
        candidate: The other system of the pilot.
        criterion: Criterion of the pilot; may be left out where there is only one.
        difference: Mean difference, candidate less baseline, that the comparison should find.
            With `margin` the true difference assumed, a gain counting positive; 0 by default.
        power: Probability of finding it.
        alpha: Level of the two-sided test (one-sided with `margin`).
        n: Number of examples, or several.
        trials: Trials of each example, or several; by default 1, 2, 3, 5 and 10 where the
            variance between trials is known.
        sd: Standard deviation of the per-example differences. Together with `trial_variance`
            that of the examples' expected differences, without trial noise (as in Miller's
            formula); alone as measured, trial noise included.
        agreement: For 0/1 outcomes with one trial, the share of examples on which both systems
            agree, passed or failed alike.
        p_baseline: Pass rate of the baseline; with `p_candidate` it gives the difference, and
            without `agreement` the plan takes the systems to pass independently.
        p_candidate: Pass rate of the candidate.
        trial_variance: Mean variance between trials of one example, for each system or both.
        icc: Intraclass correlation of the differences within clusters, of the expected
            differences where `trial_variance` is given; 0 for independent examples, also where
            a pilot has clusters.
        cluster_size: Examples per cluster.
        margin: Plan for non-inferiority by this margin, or with ``method="tost"`` for
            equivalence within it.
        families: Number of criteria tested together; each test gets alpha divided by it.
        method: ``t``, ``mcnemar_midp``, ``mcnemar_exact``, ``connor``, ``miller``, ``tost`` or
            ``simulation`` (resamples the pilot). By default ``mcnemar_midp`` for 0/1 outcomes
            with one trial, without clusters and margin, and ``t`` otherwise.
        seed: Seed of the simulation.

    Returns:
        The `PowerPlan`: ``.table``, ``.answer``, ``.conclusion()``, ``.methods()``.

    Raises:
        EvalToolkitError: Nothing or too much is left to solve for, values are out of range or
            contradict one another, there is no spread, or the method does not apply.
        PairingError: The pilot cannot be paired as asked.
        SchemaError: The pilot breaks a rule of the score table.

    Source:
        Miller, Adding error bars to evals, 2024; Connor, 1987; Browne, 1995; Kish, 1965.

    Example:
        >>> plan(difference=0.1, sd=0.4).answer
        128.0
        >>> plan(difference=0.05, agreement=0.85).answer
        461.0
        >>> print(plan(difference=0.05, agreement=0.85).text.splitlines()[0])
        To see a difference of 0.05 with 80 % power, you need 461 examples × 1 trial.
    """
    given = options.arguments(
        sd=sd,
        agreement=agreement,
        p_baseline=p_baseline,
        p_candidate=p_candidate,
        trial_variance=trial_variance,
        icc=icc,
        cluster_size=cluster_size,
    )
    difference = options.rates_difference(given, difference)
    asked = options.question(
        n,
        difference,
        power,
        alpha=alpha,
        families=families,
        margin=margin,
        method=method,
        seed=seed,
    )
    grid = options.trial_grid(trials)
    if pilot is not None and not isinstance(pilot, pd.DataFrame):
        raise EvalToolkitError(
            f"pilot is {pilot!r}; it must be a score table (or left out)",
            code="bad_option",
            path="pilot",
            value=pilot,
        )
    _check_clusters(given, has_pilot=pilot is not None)
    names = Names(baseline, candidate, criterion)
    if pilot is None:
        _no_pilot_names(names)
        measured, scenarios = None, [assumed_spread(given, asked.difference)]
    else:
        _no_spread_beside_pilot(given)
        measured = read_pilot(pilot, names, given)
        scenarios = [measured.spread, pessimistic(measured.spread, measured.size)]
        if measured.spread.binary:
            possible(measured.spread.disagreement, given, asked.difference)
    table = _table(scenarios, asked, grid, measured)
    settings = _settings(table, asked, scenarios[0], measured) | {
        "given": {k: v for k, v in vars(given).items() if v is not None},
        "independent": given.p_candidate is not None and given.agreement is None,
    }
    texts = loud_texts(table, settings)
    for text in texts:
        warn(text)
    return PowerPlan(
        table, settings, conclusion_text(table, settings), methods_text(table, settings),
        warnings=texts,
    )  # fmt: skip


def _check_clusters(given: Arguments, *, has_pilot: bool) -> None:
    if given.icc and given.cluster_size is None:
        raise EvalToolkitError(
            "icc needs cluster_size, the number of examples per cluster",
            code="missing_option",
            path="cluster_size",
        )
    if given.cluster_size and given.cluster_size > 1 and given.icc is None and not has_pilot:
        raise EvalToolkitError(
            "cluster_size needs icc, how alike the differences within a cluster are (0 to 1)",
            code="missing_option",
            path="icc",
        )


def _no_pilot_names(names: Names) -> None:
    for name, value in vars(names).items():
        if value is not None:
            raise EvalToolkitError(
                f"{name} is {value!r}, but without a pilot there is no table to find it in; pass "
                "the score table first, plan(scores, ...)",
                code="missing_option",
                path="pilot",
                value=value,
            )


def _no_spread_beside_pilot(given: Arguments) -> None:
    for name in ("sd", "agreement", "p_baseline", "p_candidate", "trial_variance"):
        if getattr(given, name) is not None:
            raise EvalToolkitError(
                f"{name} and a pilot both say how outcomes vary; leave one of them out",
                code="bad_option",
                path=name,
                value=getattr(given, name),
            )


def _table(
    scenarios: Sequence[Spread],
    asked: Question,
    grid: tuple[int, ...] | None,
    measured: Pilot | None,
) -> pd.DataFrame:
    rows = []
    for spread in scenarios:
        for trials in _trials(spread, asked, grid, measured):
            method = _method(spread, trials, asked, measured)
            sample = _sample(spread, scenarios[0], measured)
            job = solving.Job(spread, trials, method, asked, sample)
            rows += [_row(job, n, measured) for n in asked.n or (None,)]
    table = pd.DataFrame(rows, columns=list(POWER_PLAN_COLUMNS))
    return table.astype({"n": "Int64", "n_clusters": "Int64", "n_scores": "Int64"})


def _trials(
    spread: Spread, asked: Question, grid: tuple[int, ...] | None, measured: Pilot | None
) -> tuple[int, ...]:
    fixed = 1 if measured is None else measured.trials
    if asked.method == "simulation":
        return _only(grid, fixed, "a simulation resamples the pilot with its own trials")
    if asked.method in options.ONE_TRIAL:
        return _only(grid, 1, "McNemar's test is for one trial of each example")
    if math.isnan(spread.noise):
        if measured is None and not spread.binary and grid is not None and len(grid) == 1:
            return grid  # the sd is then that of means over so many trials
        why = "the variance between trials is unknown; give trial_variance=" + (
            "" if measured is None else " without a pilot, or a pilot with repeated trials"
        )
        return _only(grid, fixed, why)
    return grid or options.TRIALS


def _only(grid: tuple[int, ...] | None, trials: int, why: str) -> tuple[int, ...]:
    if grid is not None and grid != (trials,):
        raise EvalToolkitError(
            f"trials is {list(grid)}, but {why}; here only {trials} can be planned",
            code="unknown_trial_variance",
            path="trials",
            value=grid,
        )
    return (trials,)


def _method(spread: Spread, trials: int, asked: Question, measured: Pilot | None) -> str:
    plain = spread.binary and trials == 1 and not spread.clustered and asked.margin is None
    if asked.method is None:
        return "mcnemar_midp" if plain else "t"
    wrong = None
    if asked.method in options.ONE_TRIAL and not plain:
        wrong = "it is for 0/1 outcomes with one trial, without clusters and margin"
    elif asked.method == "connor" and asked.solved == "difference":
        wrong = "Connor's formula gives n or the power; use mcnemar_midp for the difference"
    elif asked.method == "simulation":
        wrong = _no_simulation(spread, asked, measured)
    if wrong:
        raise EvalToolkitError(
            f"method {asked.method!r} does not apply here: {wrong}",
            code="method_not_applicable",
            path="method",
            value=asked.method,
        )
    return asked.method


def _no_simulation(spread: Spread, asked: Question, measured: Pilot | None) -> str | None:
    if measured is None:
        return "there is no pilot to resample"
    if spread.binary:
        return "for 0/1 outcomes McNemar's exact power is known; leave method= out"
    if spread.clustered or asked.margin is not None:
        return "it plans neither for clusters nor for a margin; use method='t'"
    return None


def _sample(spread: Spread, first: Spread, measured: Pilot | None) -> Floats:
    if measured is None:
        return np.empty(0)
    d = measured.differences
    if spread is first:
        return d
    ratio = spread.variance_at(measured.trials) / first.variance_at(measured.trials)
    return d * math.sqrt(ratio)


def _row(job: solving.Job, n: int | None, measured: Pilot | None) -> dict[str, object]:
    asked = job.question
    difference, reached, exact = asked.difference, asked.power, math.nan
    if job.variance <= 0:
        raise EvalToolkitError(
            f"with {job.trials} trials the differences have no spread left, so no number of "
            "examples follows",
            code="no_spread",
            path="trials",
            value=job.trials,
        )
    if asked.solved == "n":
        n, exact = solving.n_of(job, float(difference or 0.0))
        reached = solving.power_of(job, n, float(difference or 0.0))
    elif asked.solved == "power":
        reached = solving.power_of(job, int(n or 0), float(difference or 0.0))
    else:
        difference = solving.difference_of(job, int(n or 0))
    spread, size = job.spread, int(n or 0)
    found = math.nan if difference is None else float(difference)
    return {
        "scenario": spread.scenario,
        "trials": job.trials,
        "n": size,
        "n_exact": exact,
        "n_clusters": math.ceil(size / spread.cluster_size) if spread.clustered else pd.NA,
        "n_scores": size * job.trials,
        "difference": found,
        "power": reached,
        "sd": math.sqrt(job.variance),
        "design_effect": spread.design_effect(job.trials),
        "solved_for": asked.solved,
        "method": job.method,
        "margin": math.nan if asked.margin is None else asked.margin,
        "alpha_per_test": asked.level,
        "note": _note(job, size, found, math.inf if measured is None else measured.span),
    }


def _note(job: solving.Job, n: int, difference: float, span: float) -> str:
    notes = []
    if job.df(n) <= 0:
        notes.append("fewer than two clusters: nothing can be said")
    elif math.isnan(difference):
        notes.append("no difference that the disagreement allows is found with this power")
    elif abs(difference) > (1.0 if job.spread.binary else span):
        notes.append("wider than the range of the criterion")
    if job.spread.clustered and job.df(n) > 0 and n / job.spread.cluster_size < FEW_CLUSTERS:
        notes.append(f"fewer than {FEW_CLUSTERS} clusters: a test has hardly any power")
    exact = job.method in ("mcnemar_midp", "mcnemar_exact")
    if exact and n > solving.LARGEST_EXACT and job.question.solved != "difference":
        notes.append("by Connor's formula, which is close at this size")
    return "; ".join(notes)


def _settings(
    table: pd.DataFrame, asked: Question, spread: Spread, measured: Pilot | None
) -> dict[str, object]:
    noise = spread.noise
    fixed = spread.variance_at(1) - noise + (spread.cluster_size - 1) * spread.shared
    settings: dict[str, object] = {
        "solved_for": asked.solved,
        "difference": asked.difference,
        "power": None if asked.solved == "power" else asked.power,
        "n": list(asked.n) or None,
        "alpha": asked.alpha,
        "alpha_per_test": asked.level,
        "families": asked.families,
        "margin": asked.margin,
        "method": asked.method,
        "seed": asked.seed,
        "variance_of_expected": spread.variance,
        "variance_between_trials": noise,
        "noise_share": noise / spread.variance_at(1),
        # Cost of an example, in runs, from which on a second trial lowers the cost of the whole:
        # n grows with fixed + noise / K and costs n (example + K runs); K = 2 against K = 1.
        "second_trial_worth": 2 * fixed / noise if noise > 0 else math.nan,
        "disagreement": spread.disagreement,
        "shared_in_cluster": spread.shared,
        "icc": spread.icc_at(int(table["trials"].iloc[0])),
        "cluster_size": spread.cluster_size,
        "pilot": None,
    }
    if measured is not None:
        total = measured.size.n + measured.lost
        settings["pilot"] = vars(measured.names) | {
            "task": measured.task,
            "kind": measured.kind,
            "n_pairs": measured.size.n,
            "n_units": measured.size.units,
            "trials": measured.trials,
            "n_lost": measured.lost,
            "noise_exceeds": measured.spread.variance == 0,
            "sd": float(np.std(measured.differences, ddof=1)),
            "trial_variance_baseline": measured.trial_variances[0],
            "trial_variance_candidate": measured.trial_variances[1],
            "n_to_start": [math.ceil(int(n) * total / measured.size.n) for n in table["n"]],
        }
    return settings
