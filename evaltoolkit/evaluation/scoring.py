"""Score recorded outputs: examples, outputs and scorers in, a score table out.

A pure function on purpose: it calls the scorers one after the other, keeps nothing and starts
nothing. Whoever runs systems, caches or judges concurrently builds on it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from evaltoolkit.errors import ScorerError, listed
from evaltoolkit.evaluation.records import (
    Answer,
    ExampleIndex,
    OutputRecord,
    locate,
    read_records,
    warn_of_gaps,
)
from evaltoolkit.models import Criterion, Example, Score
from evaltoolkit.schema import CRITERION_COLUMNS
from evaltoolkit.scorers.base import Scorer
from evaltoolkit.scorers.functions import as_scorer
from evaltoolkit.scorers.running import declared_criteria, run_scorer
from evaltoolkit.scores import check_scores

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
    _check_collisions(measured)
    return _table(_spread_failures(measured), judges, known)


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
        for criterion in _all_criteria(scorer):
            other = by_name.setdefault((scorer.name, criterion.name), scorer)
            if other is not scorer:
                raise _collision(other, scorer, criterion.name)
            first, declared = by_criterion.setdefault(criterion.name, (scorer, criterion))
            if declared != criterion:
                raise _contradiction(first, scorer, declared, criterion)


def _all_criteria(scorer: Scorer) -> list[Criterion]:
    """List the criterion of a scorer and those of its parts, each once."""
    return list({c.name: c for c in (scorer.criterion, *declared_criteria(scorer))}.values())


def _collision(one: Scorer, other: Scorer, criterion: str) -> ScorerError:
    return ScorerError(
        f"{one!r} and {other!r} both give the score {criterion!r} under the name "
        f"{one.name!r}, and one would overwrite the other; give one of them another name=",
        code="repeated_score",
        path=criterion,
        value=(one.name, other.name),
    )


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


class _Measured(NamedTuple):
    answer: Answer
    scorer: Scorer
    score: Score


def _always(scorer: Scorer, example: Example) -> bool:
    return True


def _measure(
    answers: Iterable[Answer], scorers: Sequence[Scorer], applies: Applies
) -> Iterator[_Measured]:
    for answer in answers:
        for scorer in scorers:
            own: Callable[[Example], bool] | None = getattr(scorer, "applies", None)
            if (own is None or own(answer.example)) and applies(scorer, answer.example):
                for score in run_scorer(scorer, answer.output, answer.example):
                    yield _Measured(answer, scorer, score)


def _check_collisions(measured: Iterable[_Measured]) -> None:
    """Refuse two scorers that gave the same name to scores, however they came to it."""
    seen: dict[tuple[str, str], Scorer] = {}
    for item in measured:
        other = seen.setdefault((item.scorer.name, item.score.criterion), item.scorer)
        if other is not item.scorer:
            raise _collision(other, item.scorer, item.score.criterion)


def _spread_failures(measured: Sequence[_Measured]) -> Iterator[_Measured]:
    """Count the failure of a scorer with undeclared parts for each part that it gave elsewhere.

    Otherwise its failures would stand under a criterion of their own, and the parts would look
    as if nothing had gone wrong.
    """
    parts = _parts_seen(measured)
    for item in measured:
        own = item.scorer.criterion.name
        names = parts.get((id(item.scorer), item.answer.example.task), {})
        if item.score.score is not None or item.score.criterion != own or not names or own in names:
            yield item
            continue
        for name in names:
            yield item._replace(score=item.score.model_copy(update={"criterion": name}))


def _parts_seen(measured: Iterable[_Measured]) -> dict[tuple[int, str], dict[str, None]]:
    parts: dict[tuple[int, str], dict[str, None]] = defaultdict(dict)
    for item in measured:
        if item.score.score is not None:
            place = (id(item.scorer), item.answer.example.task)
            parts[place][item.score.criterion] = None
    return parts


def _table(
    measured: Iterable[_Measured], scorers: Sequence[Scorer], known: ExampleIndex
) -> pd.DataFrame:
    items = list(measured)
    columns: dict[str, Sequence[object]] = {
        name: [value_of(i) for i in items] for name, value_of in _COLUMNS.items()
    }
    facts = {c.name: c.model_dump() for scorer in scorers for c in _all_criteria(scorer)}
    for name in CRITERION_COLUMNS:
        values = [facts.get(item.score.criterion, {}).get(name) for item in items]
        if name not in _RARE_FACTS or any(v not in (None, _RARE_FACTS[name]) for v in values):
            columns[name] = values
    if any(example.cluster is not None for example in known.by_key.values()):
        columns["cluster"] = [item.answer.example.cluster for item in items]
    for name in known.attributes:
        columns[name] = [item.answer.example.attributes.get(name) for item in items]
    return check_scores(pd.DataFrame(columns))


_COLUMNS: Mapping[str, Callable[[_Measured], object]] = {
    "run_id": lambda item: item.answer.run_id,
    "system": lambda item: item.answer.system,
    "task": lambda item: item.answer.example.task,
    "example_id": lambda item: item.answer.example.id,
    "trial": lambda item: item.answer.trial,
    "criterion": lambda item: item.score.criterion,
    "scorer": lambda item: item.scorer.name,
    "score": lambda item: item.score.score,
    "label": lambda item: item.score.label,
    "passed": lambda item: item.score.passed,
    "status": lambda item: item.score.status,
    "message": lambda item: item.score.message,
}

_RARE_FACTS: Mapping[str, object] = {"weight": None, "blocking": True, "self_referenced": False}
"""Facts that are only shown where some criterion departs from what is usual."""
