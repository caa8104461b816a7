"""Run systems over examples and score what they answer: `evaluate` and its async form."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from evaltoolkit.evaluation.driving import run_here, run_in_thread
from evaltoolkit.evaluation.planning_runs import Options, Plan, Progressing, make_plan
from evaltoolkit.evaluation.supervising import Supervisor
from evaltoolkit.models import Example
from evaltoolkit.results.evaluations import Evaluation


def evaluate(  # noqa: PLR0913 - every choice of the run is a keyword of its own
    examples: Iterable[Example],
    systems: object,
    scorers: Iterable[object],
    *,
    trials: int = 1,
    concurrency: int = 8,
    timeout: float | None = None,
    run_id: str | None = None,
    folder: str | Path | None = None,
    cache: object = None,
    progress: Progressing = None,
) -> Evaluation:
    """Run systems over examples, score every answer, and return the tables.

    The run always completes: a system that raises, returns something strange or is not back in
    time gives rows with status ``system_error``, a scorer that does so ``scorer_error``, one with
    nothing to measure ``unscored``; each with its reason. Systems and scorers may be sync or
    async. Sync ones run in threads, so that ``concurrency`` of them are under way at a time; a
    sync call that is not back within the timeout is left behind in its thread, which Python
    cannot end: it uses its processor and memory until it returns or the program ends.

    With a folder, everything finished is on disk before the next call starts. Call again with
    the same choices, after a kill or an interrupt, and only the rest is run. The choices are the
    examples, the scorers and the systems: their code, the functions of the same module that they
    call, and the fixed values (texts, numbers) that they use; what stands in lists, dicts and
    objects of other libraries is not looked at.

    Args:
        examples: The test items; (task, id) must not repeat.
        systems: A mapping from names to systems, or an outputs table with several. A system is

            * a function, sync or async, whose first argument gets the input of the example, or
              the whole `Example` where it is annotated so or named ``example``; it may also ask
              for ``history``, ``tools``, ``attributes`` and ``trial`` by name. It returns a text,
              a JSON value or an `Output`;
            * recorded answers: an outputs table, a mapping from example ids (or (task, id)) to
              outputs (a list of `Output` holds trials), or records as in `score_outputs`.
        scorers: Scorers, objects with a `score` method, or plain functions, sync or async.
        trials: How often each function is called for each example, from 1. Recorded answers
            have the trials that were recorded.
        concurrency: How many (example, system, trial) are worked on at a time, from 1.
        timeout: Seconds for each single call of a system or a scorer; None for no limit, and
            then a call that never returns holds up the run.
        run_id: Name of the run in the tables; default ``run-`` and a digest of the choices.
        folder: Where runs are kept; this one goes to ``folder/<run_id>/`` as ``scores.jsonl``,
            ``outputs.jsonl``, ``details.jsonl`` and ``run.json``, which `read_scores`,
            `read_outputs` and `read_details` read. An answer with an error is finished, too; to
            try those again, give a ``cache`` and another run_id. None keeps nothing.
        cache: Remembers answers of systems from one run to the next, by the name, code and
            configuration of the system, what it is given of the example, and the trial: the path
            of a cache file or a `CallCache`; it may be the one that judges use. Errors are not
            kept, nor are answers that JSON cannot hold.
        progress: None shows a bar in a notebook or terminal when the run takes long, False
            shows none; or a function of (answers done, answers in all).

    Returns:
        An `Evaluation` with ``scores``, ``outputs``, ``details``, the accounting in ``table``
        and the choices in ``settings``. Rows are in the order of the examples, then of the
        systems, trials and scorers, whatever was finished first.

    Raises:
        EvalToolkitError: A choice is out of range; the run in the folder was begun with other
            choices or is being worked on.
        SchemaError: Examples repeat, there is none, or a system is nothing that can be run.
        ScorerError: Something is no scorer, or two give scores of the same name.
        PairingError: A recorded answer belongs to no example.
        MissingDependencyError: A scorer needs a package that is not installed.
        Interrupted: The user interrupted the run (a KeyboardInterrupt); ``.evaluation`` holds
            what was finished.

    Example:
        >>> from evaltoolkit.models import Example
        >>> from evaltoolkit.scorers import ExactMatch
        >>> items = [Example(id=1, input="3", reference="4"),
        ...          Example(id=2, input="three", reference="four")]
        >>> run = evaluate(items, {"adds": lambda text: str(int(text) + 1)}, [ExactMatch()])
        >>> run.scores[["example_id", "score", "status"]].values.tolist()
        [['1', 1.0, 'scored'], ['2', nan, 'system_error']]
        >>> run.scores["message"].iloc[1]
        "ValueError: invalid literal for int() with base 10: 'three'"
        >>> run.pass_rates(errors="failed").to_dict("index")
        {'ExactMatch': {'adds': 0.5}}
    """
    options = Options(trials, concurrency, timeout, run_id, folder, cache, progress)
    with _begin(examples, systems, scorers, options) as supervisor:
        run_in_thread(supervisor)
        return supervisor.result()


async def evaluate_async(  # noqa: PLR0913 - as above
    examples: Iterable[Example],
    systems: object,
    scorers: Iterable[object],
    *,
    trials: int = 1,
    concurrency: int = 8,
    timeout: float | None = None,
    run_id: str | None = None,
    folder: str | Path | None = None,
    cache: object = None,
    progress: Progressing = None,
) -> Evaluation:
    """Do what `evaluate` does, on the event loop of the caller.

    Async systems and scorers run on that loop, so that they may share clients with the rest of a
    program. When the task is cancelled, what is finished is kept in the folder.

    Args:
        examples: As in `evaluate`, and so are all others.
        systems: See `evaluate`.
        scorers: See `evaluate`.
        trials: See `evaluate`.
        concurrency: See `evaluate`.
        timeout: See `evaluate`.
        run_id: See `evaluate`.
        folder: See `evaluate`.
        cache: See `evaluate`.
        progress: See `evaluate`.

    Returns:
        An `Evaluation`.

    Raises:
        EvalToolkitError: As in `evaluate`.

    Example:
        >>> import asyncio
        >>> async def shout(text: str) -> str:
        ...     return text.upper()
        >>> items = [Example(id=1, input="yes", reference="YES")]
        >>> def same(output, expected):
        ...     return output.text == expected
        >>> asyncio.run(evaluate_async(items, {"shout": shout}, [same])).scores["score"].tolist()
        [1.0]
    """
    options = Options(trials, concurrency, timeout, run_id, folder, cache, progress)
    with _begin(examples, systems, scorers, options) as supervisor:
        await run_here(supervisor)
        return supervisor.result()


def _begin(
    examples: Iterable[Example], systems: object, scorers: Iterable[object], options: Options
) -> Supervisor:
    plan: Plan = make_plan(examples, systems, scorers, options)
    return Supervisor(plan)
