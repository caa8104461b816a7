"""`variance_components`: more examples, or more trials of each?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from evaltoolkit.errors import PairingError
from evaltoolkit.measurements import Runs
from evaltoolkit.repeats.selection import HYPOTHESIS, select_rows, two_systems, whole_numbers
from evaltoolkit.repeats.shares_texts import conclusion_text, methods_text
from evaltoolkit.results.repeats import DESIGN_COLUMNS, VARIANCE_COLUMNS, VarianceShares
from evaltoolkit.stats.components import (
    Components,
    best_trials,
    difference_components,
    trial_components,
)

FEW_EXAMPLES = 20

Row = dict[str, Any]


def variance_components(  # noqa: PLR0913 - every choice of the analysis is a keyword of its own
    scores: pd.DataFrame,
    *,
    system: str | Sequence[str] | None = None,
    baseline: str | None = None,
    candidate: str | None = None,
    criterion: str | Sequence[str] | None = None,
    scorers: str | Sequence[str] | None = None,
    example_cost: float = 0.0,
    trial_cost: float = 1.0,
    examples: int | Sequence[int] | None = None,
    trials: Sequence[int] = (1, 2, 3, 5, 10),
    runs: Runs = "error",
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> VarianceShares:
    """Say how much of the noise lies between examples and how much between trials of one.

    The variance of a mean over n examples with k trials each is
    ``(var_item + var_trial / k) / n``. More trials shrink only the second part; more examples
    shrink both. So for the same number of calls further examples always say at least as much,
    and trials pay where examples are scarce or costly (``example_cost``), or where the
    reliability of the system is itself the question (`pass_at_k`).

    Args:
        scores: A score table with trials. Examples are taken as independent.
        system: Names to use; by default all.
        baseline: With `candidate`: also split the variance of the paired difference, trials of
            both systems counting as noise.
        candidate: System that is judged against the baseline.
        criterion: Names to use; by default all.
        scorers: Names of scorers to use; by default all, each in rows of its own.
        example_cost: Cost of a further example before its first trial, in the unit of
            `trial_cost`.
        trial_cost: Cost of one trial (of a pair of trials, for a difference).
        examples: Numbers of examples to give the standard error for; by default as many as
            there are.
        trials: Numbers of trials to give it for.
        runs: What several runs of one measurement mean: ``"error"``, ``"latest"``, ``"trials"``.
        level: Confidence level of the intervals.
        draws: Number of bootstrap samples of examples.
        seed: Seed of the bootstrap.

    Returns:
        A `VarianceShares`: ``.table`` with the components, ``.designs`` with the standard error
        to expect from other numbers of examples and trials.

    Raises:
        SchemaError: The score table breaks a rule.
        PairingError: Unknown names or options, or no example has two scored trials (code
            ``no_repeats``).
        EvalToolkitError: A cost is not possible.

    Source:
        Searle, Casella and McCulloch, Variance components, 1992; Miller, Adding error bars to
        evals, 2024.

    Example:
        >>> rows = [("a", i, t, float((i + t) % 4 < i % 5)) for i in range(40) for t in range(4)]
        >>> table = pd.DataFrame(rows, columns=["system", "example_id", "trial", "score"])
        >>> result = variance_components(table.assign(criterion="solved"), example_cost=8)
        >>> result.table[["var_item", "var_trial", "optimal_trials"]].round(3).values.tolist()
        [[0.087, 0.167, 4.0]]
    """
    best_trials(1.0, 1.0, example_cost=example_cost, trial_cost=trial_cost)
    pair = two_systems(baseline, candidate)
    wanted = list(pair) if system is None and pair else system
    rows = select_rows(scores, systems=wanted, criteria=criterion, scorers=scorers, runs=runs)
    costs = Costs(float(example_cost), float(trial_cost))
    sizes = [] if examples is None else whole_numbers("examples", examples)
    grid = _Grid(sizes, whole_numbers("trials", trials))
    options = {"level": level, "draws": draws, "seed": seed}
    found = [*_one_by_one(rows, options), *(_differences(rows, pair, options) if pair else ())]
    if all(math.isnan(part.components.var_trial) for part in found):
        raise PairingError(
            "no example of these systems has two scored trials (on both sides, for a difference), "
            "so nothing tells trials from examples; run each example twice or more, or read "
            "repeats with duplicates='trials' or runs='trials'",
            code="no_repeats",
            path="trial",
        )
    table = pd.DataFrame([_row(part, costs) for part in found])[list(VARIANCE_COLUMNS)]
    lines = [row for part in found for row in _design_rows(part, grid, costs)]
    designs = pd.DataFrame(lines, columns=list(DESIGN_COLUMNS))
    settings = {
        "baseline": pair and pair[0],
        "candidate": pair and pair[1],
        "example_cost": costs.example,
        "trial_cost": costs.trial,
        "runs": runs,
        "level": level,
        "draws": draws,
        "seed": seed,
        "has_clusters": bool("cluster" in rows and rows["cluster"].notna().any()),
    }
    return VarianceShares(
        table,
        settings,
        conclusion_text(table, settings),
        methods_text(settings),
        designs=designs,
    )


@dataclass(frozen=True)
class Costs:
    """What a further example and a further trial cost."""

    example: float
    trial: float

    def of(self, trials: float) -> float:
        """Cost of one example with this many trials."""
        return self.example + trials * self.trial


@dataclass(frozen=True)
class _Grid:
    """The designs to give a standard error for."""

    examples: list[int]
    trials: list[int]


@dataclass(frozen=True)
class _Part:
    """The components of one system or difference, and what they rest on."""

    head: Row
    components: Components
    n_examples: int
    counts: list[int]
    lost: int

    @property
    def typical_trials(self) -> float:
        """Harmonic mean of the numbers of trials: what decides the noise of the mean."""
        return len(self.counts) / sum(1 / count for count in self.counts)


def _trials_of(rows: pd.DataFrame) -> pd.Series:
    """Scores of the trials of each example, by example id."""
    scored = rows[rows["score"].notna()].sort_values(["example_id", "trial"], kind="stable")
    return scored.groupby("example_id", sort=True)["score"].apply(list)


def _one_by_one(rows: pd.DataFrame, options: Mapping[str, Any]) -> Iterator[_Part]:
    names = [*HYPOTHESIS, "system"]
    for key, part in rows.groupby(names, sort=True):
        trials = _trials_of(part).tolist()
        counts = [len(each) for each in trials]
        head = dict(zip(names, key, strict=True))
        lost = len(part) - sum(counts)
        yield _Part(head, trial_components(trials, **options), len(trials), counts, lost)


def _differences(
    rows: pd.DataFrame, pair: tuple[str, str], options: Mapping[str, Any]
) -> Iterator[_Part]:
    for key, part in rows.groupby(HYPOTHESIS, sort=True):
        old, new = (_trials_of(part[part["system"] == name]) for name in pair)
        shared = old.index.intersection(new.index).sort_values()
        sides = [side.loc[shared].tolist() for side in (old, new)]
        counts = [len(trials) for side in sides for trials in side]
        head = dict(zip(HYPOTHESIS, key, strict=True)) | {"system": f"{pair[1]} − {pair[0]}"}
        yield _Part(
            head,
            difference_components(*sides, **options),
            len(shared),
            counts,
            int(part["score"].isna().sum()),
        )


def _row(part: _Part, costs: Costs) -> Row:
    found, n = part.components, part.n_examples
    typical = part.typical_trials if part.counts else math.nan
    return {
        **part.head,
        "n_examples": n,
        "n_trials": sum(part.counts),
        "n_lost_trials": part.lost,
        "trials_min": min(part.counts, default=0),
        "trials_max": max(part.counts, default=0),
        "mean": found.mean,
        "se": found.se,
        "se_floor": math.sqrt(found.var_item / n) if n else math.nan,
        **{
            key: value
            for name in ("var_item", "var_trial", "icc")
            for key, value in _with_ends(found, name).items()
        },
        "truncated": found.truncated,
        "variance_ratio": 1 + (typical - 1) * found.icc,
        "optimal_trials": best_trials(
            found.var_item, found.var_trial, example_cost=costs.example, trial_cost=costs.trial
        ),
        "note": _note(part),
    }


def _with_ends(found: Components, name: str) -> Row:
    low, high = getattr(found, f"{name}_ends")
    return {name: getattr(found, name), f"{name}_low": low, f"{name}_high": high}


def _note(part: _Part) -> str:
    found, notes = part.components, []
    if math.isnan(found.var_trial):
        return (
            "no example has two scored trials (on both sides, for a difference): repeat the "
            "examples to tell trials from examples"
            if part.n_examples > 1
            else "fewer than two examples"
        )
    if found.truncated:
        notes.append(
            "the means of examples vary less than trials alone would make them, so the variance "
            "between examples came out negative and was set to 0"
        )
    if found.var_trial == 0:
        notes.append("all trials of an example scored alike: more trials would tell nothing new")
    if part.n_examples < FEW_EXAMPLES:
        notes.append(f"only {part.n_examples} examples: the components are rough guesses")
    return "; ".join(notes)


def _design_rows(part: _Part, grid: _Grid, costs: Costs) -> Iterator[Row]:
    found = part.components
    if math.isnan(found.var_trial):
        return
    total = found.var_item + found.var_trial
    budget = part.n_examples * costs.of(part.typical_trials)
    single = total * costs.of(1) / budget
    for examples in grid.examples or [part.n_examples]:
        for trials in grid.trials:
            one = found.var_item + found.var_trial / trials
            bought = budget / costs.of(trials)
            yield {
                **part.head,
                "examples": examples,
                "trials": trials,
                "se": math.sqrt(one / examples),
                "averaging_effect": one / total if total > 0 else math.nan,
                "budget_examples": bought,
                "budget_se": math.sqrt(one / bought),
                "budget_variance_ratio": one / bought / single if total > 0 else math.nan,
            }
