"""Run mutators of interpreted states over cases: `evaluate_mutators` and its async form."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import product

from evaltoolkit.evaluation.calls import Caller
from evaltoolkit.evaluation.driving import Interrupted, Shown, run_here, run_in_thread
from evaltoolkit.evaluation.mutation.mutator_runs import (
    MutatorCase,
    NamedMutator,
    check_cases,
    name_mutators,
    run_mutator,
)
from evaltoolkit.evaluation.mutation.tables import RunRows, mutator_evaluation
from evaltoolkit.evaluation.planning_runs import Options, Progressing, check_options
from evaltoolkit.evaluation.records import ExampleIndex
from evaltoolkit.evaluation.run_tables import plain_attributes
from evaltoolkit.evaluation.threads import Threads
from evaltoolkit.models import Example
from evaltoolkit.results.mutators import MutatorEvaluation
from evaltoolkit.scorers.state.comparing import Comparing
from evaltoolkit.scorers.state.confidences import calibrate_confidences
from evaltoolkit.scorers.state.interpretive import Ties


def evaluate_mutators(  # noqa: PLR0913 - every choice of the run is a keyword of its own
    cases: Iterable[MutatorCase],
    mutators: object,
    *,
    trials: int = 1,
    concurrency: int = 1,
    timeout: float | None = None,
    run_id: str = "",
    typed: bool = False,
    abs_tol: float = 0.0,
    rel_tol: float = 0.0,
    confidence_tol: float = 0.05,
    ties: Ties = "first",
    bins: int = 10,
    compatible: bool = False,
    progress: Progressing = None,
) -> MutatorEvaluation:
    """Run mutators over cases and compare the states that come out with the expected ones.

    The state before is copied for every run and never changed. Whatever breaks becomes a row
    with its stage: ``copy``, ``client``, ``json``, ``shape``, ``item``, ``mutate`` or
    ``compare``; the first and the last are errors of the measurement (``scorer_error``), the
    others of the mutator (``system_error``). The time is that of the mutator alone.

    Args:
        cases: The cases; (task, id) must not repeat.
        mutators: A mapping from names to mutators, or one. A mutator has a method
            ``mutate(context)`` or is such a function, sync or async; it gets a
            `MutationContext` and returns a `MutationResult` or the new state.
        trials: How often each mutator runs on each case, from 1.
        concurrency: How many runs are under way at a time, from 1; more than 1 can lengthen the
            times of each.
        timeout: Seconds for each run; None for no limit, and then a mutator that never returns
            holds up everything. A sync mutator that is not back in time goes on in its thread.
        run_id: Name of this run in the tables.
        typed: Whether True is not 1; see `Equality`.
        abs_tol: Difference that numbers may have, as a number.
        rel_tol: Difference that numbers may have, as a share of the expected one.
        confidence_tol: How far two confidences may be apart, inclusive.
        ties: Which candidate is the best of several with the highest confidence.
        bins: Bins of the reliability table.
        compatible: Whether the accuracy is 0 where nothing is expected, as langstate has it; by
            default there is none, and the score is unscored.
        progress: None shows a bar in a notebook or terminal when the run takes long, False
            shows none; or a function of (runs done, runs in all).

    Returns:
        A `MutatorEvaluation`; its ``scores`` go to `compare`, `rank` and the rest. Their criteria
        have the bare names of `STATE_MEASURES`, as those that `read_scores` finds in files of
        langstate: ``accuracy_score``. From `evaluate` with `StateComparison` it is
        ``StateComparison.accuracy_score``: a scorer puts its own name before that of a part.

    Raises:
        EvalToolkitError: A choice is out of range.
        ScorerError: There is no case or mutator, or one is malformed.
        SchemaError: Cases repeat, or an attribute has the name of a column of the score table.
        Interrupted: The user interrupted the run (a KeyboardInterrupt); ``.evaluation`` holds
            what was finished.

    Example:
        >>> from evaltoolkit.scorers import InterpretiveState
        >>> expected = InterpretiveState()
        >>> expected.add_value("registrant.name", "Ada Lovelace", 0.95)
        >>> def hears_names(context):
        ...     if context.input.prompt.startswith("My name is "):
        ...         name = context.input.prompt.removeprefix("My name is ")
        ...         context.state.add_value("registrant.name", name, 0.95)
        ...     return context.state
        >>> case = MutatorCase(id=17, mutation_input="My name is Ada Lovelace",
        ...                    expected_post_state=expected)
        >>> result = evaluate_mutators([case], {"names": hears_names})
        >>> result.table[["matching", "overall_match", "accuracy", "status"]].values.tolist()
        [[2, True, 1.0, 'ok']]
    """
    named = None if run_id == "" else run_id
    options = Options(trials, concurrency, timeout, named, None, None, progress)
    how = Comparing.of(
        typed=typed, abs_tol=abs_tol, rel_tol=rel_tol, confidence_tol=confidence_tol, ties=ties
    )
    job = _begin(cases, mutators, options, how, bins=bins, compatible=compatible)
    run_in_thread(job)
    return job.result()


async def evaluate_mutators_async(  # noqa: PLR0913 - as above
    cases: Iterable[MutatorCase],
    mutators: object,
    *,
    trials: int = 1,
    concurrency: int = 1,
    timeout: float | None = None,
    run_id: str = "",
    typed: bool = False,
    abs_tol: float = 0.0,
    rel_tol: float = 0.0,
    confidence_tol: float = 0.05,
    ties: Ties = "first",
    bins: int = 10,
    compatible: bool = False,
    progress: Progressing = None,
) -> MutatorEvaluation:
    """Do what `evaluate_mutators` does, on the event loop of the caller.

    Args:
        cases: As in `evaluate_mutators`, and so are all others.
        mutators: See `evaluate_mutators`.
        trials: See `evaluate_mutators`.
        concurrency: See `evaluate_mutators`.
        timeout: See `evaluate_mutators`.
        run_id: See `evaluate_mutators`.
        typed: See `evaluate_mutators`.
        abs_tol: See `evaluate_mutators`.
        rel_tol: See `evaluate_mutators`.
        confidence_tol: See `evaluate_mutators`.
        ties: See `evaluate_mutators`.
        bins: See `evaluate_mutators`.
        compatible: See `evaluate_mutators`.
        progress: See `evaluate_mutators`.

    Returns:
        A `MutatorEvaluation`.

    Raises:
        EvalToolkitError: As in `evaluate_mutators`.
    """
    named = None if run_id == "" else run_id
    options = Options(trials, concurrency, timeout, named, None, None, progress)
    how = Comparing.of(
        typed=typed, abs_tol=abs_tol, rel_tol=rel_tol, confidence_tol=confidence_tol, ties=ties
    )
    job = _begin(cases, mutators, options, how, bins=bins, compatible=compatible)
    await run_here(job)
    return job.result()


@dataclass(frozen=True)
class _Job:
    """Every mutator on every case, and the rows of the runs that are finished, by number."""

    cases: list[MutatorCase]
    known: ExampleIndex
    mutators: list[NamedMutator]
    options: Options
    how: Comparing
    bins: int
    compatible: bool
    finished: dict[int, RunRows] = field(default_factory=dict)

    def runs(self) -> list[tuple[MutatorCase, NamedMutator, int]]:
        return list(product(self.cases, self.mutators, range(self.options.trials)))

    async def work(self) -> None:
        gate = asyncio.Semaphore(self.options.concurrency)
        threads = Threads(asyncio.get_running_loop())
        caller = Caller(threads, self.options.timeout)

        async def one(place: int, case: MutatorCase, mutator: NamedMutator, trial: int) -> None:
            async with gate:
                run = await run_mutator(mutator, case, trial, how=self.how, caller=caller)
                self.finished[place] = RunRows.of(
                    run,
                    run_id=self.options.run_id or "",
                    ties=self.how.ties,
                    compatible=self.compatible,
                )

        try:
            async with asyncio.TaskGroup() as group:
                for place, (case, mutator, trial) in enumerate(self.runs()):
                    group.create_task(one(place, case, mutator, trial))
        finally:
            threads.close()

    def shown(self) -> Shown:
        return Shown(
            lambda: len(self.finished), len(self.runs()), noun="run", asked=self.options.progress
        )

    def keep(self) -> None:
        """Do nothing: there is no folder."""

    def interrupted(self) -> Interrupted:
        return Interrupted(self.result(), noun="run", where="in .evaluation of this exception")

    def result(self) -> MutatorEvaluation:
        runs = [rows for _, rows in sorted(self.finished.items())]
        options, equality = self.options, self.how.equality
        settings = {
            "n_cases": len(self.cases),
            "n_planned": len(self.runs()),
            "n_finished": len(runs),
            "mutators": [mutator.name for mutator in self.mutators],
            "trials": options.trials,
            "concurrency": options.concurrency,
            "timeout": options.timeout,
            "typed": equality.typed,
            "abs_tol": equality.abs_tol,
            "rel_tol": equality.rel_tol,
            "confidence_tol": self.how.confidence_tol,
            "ties": self.how.ties,
            "bins": self.bins,
            "compatible": self.compatible,
        }
        return mutator_evaluation(runs, self.known, run_id=options.run_id or "", settings=settings)


def _begin(
    cases: Iterable[MutatorCase],
    mutators: object,
    options: Options,
    how: Comparing,
    *,
    bins: int,
    compatible: bool,
) -> _Job:
    check_options(options)
    calibrate_confidences([], [], bins=bins)  # a wrong number of bins is refused before any call
    given = list(cases)
    check_cases(given)
    known = ExampleIndex.of(map(_as_example, given))
    named = [
        case.model_copy(update={"task": task, "id": own})
        for case, (task, own) in zip(given, known.by_key, strict=True)
    ]
    return _Job(named, known, name_mutators(mutators), options, how, bins, compatible)


def _as_example(case: MutatorCase) -> Example:
    example = Example(id=case.id, task=case.task, attributes=case.attributes, cluster=case.cluster)
    return plain_attributes(example)
