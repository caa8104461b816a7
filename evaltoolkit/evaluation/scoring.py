"""Score recorded outputs: examples, outputs and scorers in, a score table out.

A pure function on purpose: it calls the scorers one after the other, keeps nothing and starts
nothing. Whoever runs systems, caches or judges concurrently builds on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pandas as pd

from evaltoolkit.errors import ScorerError, listed
from evaltoolkit.evaluation.measured_rows import (
    Cells,
    Measured,
    all_criteria,
    clashes,
    collision,
    is_meant_for,
    score_table,
    spread_failures,
)
from evaltoolkit.evaluation.records import (
    Answer,
    ExampleIndex,
    OutputRecord,
    locate,
    read_records,
    warn_of_gaps,
)
from evaltoolkit.models import Criterion, Example
from evaltoolkit.scorers.base import Scorer
from evaltoolkit.scorers.functions import as_scorer
from evaltoolkit.scorers.running import run_scorer

Applies = Callable[[Scorer, Example], bool]
"""Says whether a scorer is meant for an example."""


def score_outputs(
    examples: Iterable[Example],
    outputs: pd.DataFrame | Iterable[OutputRecord | tuple[Any, ...]],
    scorers: Iterable[object],
    *,
    system: str | None = None,
    run_id: str | None = None,
    applies: Applies | None = None,
) -> pd.DataFrame:
    """Score every output with every scorer that is meant for its example.

    Nothing is dropped: an output with an error gets rows with status ``system_error``, a scorer
    that breaks ``scorer_error``, one with nothing to measure ``unscored``. Where a scorer of
    several parts breaks, each part that it gave elsewhere in the same task gets such a row.

    Args:
        examples: The test items; (task, id) must not repeat.
        outputs: Records (system, example_id, trial, output), perhaps with task and run_id, or an
            outputs table with at least ``system`` (or the argument), ``example_id``, ``output``.
            In a table a missing output is no answer, an empty text is an answer without a word.
        scorers: Scorers, objects with a `score` method, or plain functions; see `as_scorer`.
        system: Name of the system where the outputs do not give one.
        run_id: Name of this run where the outputs do not give one; default "".
        applies: Says whether a scorer is meant for an example; no row where it is not. Scorers
            may also have a method ``applies(example)`` of their own.

    Returns:
        A score table in the order of the outputs, then of the scorers. Columns: the 14 of every
        score table, ``cluster`` where examples have one, what the scorers declare of their
        criteria, and the attributes of the examples.

    Raises:
        PairingError: An output belongs to no example, or to one of several tasks.
        SchemaError: Examples repeat, an output is no `Output`, or a key is missing or repeats.
        ScorerError: Something is no scorer, or two scorers would give scores of the same name.

    Example:
        >>> from evaltoolkit.models import Output
        >>> from evaltoolkit.scorers import ExactMatch
        >>> item = Example(id=7, input="2 + 2?", reference="4")
        >>> table = score_outputs([item], [("m1", 7, 0, Output(text="4"))], [ExactMatch()])
        >>> table[["system", "example_id", "criterion", "score"]].to_dict("records")
        [{'system': 'm1', 'example_id': '7', 'criterion': 'ExactMatch', 'score': 1.0}]
    """
    known = ExampleIndex.of(examples)
    judges = [as_scorer(candidate) for candidate in scorers]
    check_scorers(judges)
    answers = locate(known, read_records(outputs, system=system, run_id=run_id))
    warn_of_gaps(known, answers)
    measured = list(_measure(answers, judges, applies or _always))
    for item, other in clashes(measured):
        raise collision(other, item.scorer, item.score.criterion)
    return score_table(spread_failures(measured), judges, known)


def check_scorers(scorers: Sequence[Scorer]) -> None:
    """Check that no two scorers would give scores of the same name.

    Several scorers may share a criterion, but then their names must differ, and what they
    declare of the criterion must be the same.

    Raises:
        ScorerError: It names both.
    """
    by_name: dict[tuple[str, str], Scorer] = {}
    by_criterion: dict[str, tuple[Scorer, Criterion]] = {}
    for scorer in scorers:
        for criterion in all_criteria(scorer):
            other = by_name.setdefault((scorer.name, criterion.name), scorer)
            if other is not scorer:
                raise collision(other, scorer, criterion.name)
            first, declared = by_criterion.setdefault(criterion.name, (scorer, criterion))
            if declared != criterion:
                raise _contradiction(first, scorer, declared, criterion)


def _contradiction(
    one: Scorer, other: Scorer, declared: Criterion, again: Criterion
) -> ScorerError:
    facts = declared.model_dump()
    differing = [name for name, value in again.model_dump().items() if facts[name] != value]
    return ScorerError(
        f"{one!r} and {other!r} share the criterion {declared.name!r} but declare "
        f"{listed(differing)} differently; make them equal or give one another criterion=",
        code="criterion_not_constant",
        path=declared.name,
        value=differing,
    )


def _always(scorer: Scorer, example: Example) -> bool:
    return True


def _measure(
    answers: Iterable[Answer], scorers: Sequence[Scorer], applies: Applies
) -> Iterator[Measured]:
    for answer in answers:
        for scorer in scorers:
            if is_meant_for(scorer, answer.example) and applies(scorer, answer.example):
                for score in run_scorer(scorer, answer.output, answer.example):
                    yield Measured(answer, scorer, Cells.of(score))
