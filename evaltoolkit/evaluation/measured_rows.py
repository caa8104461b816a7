"""From single scores to the score table: names that clash, failures of parts, columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd
from pydantic import JsonValue

from evaltoolkit.errors import ScorerError
from evaltoolkit.evaluation.records import Answer, ExampleIndex
from evaltoolkit.models import Criterion, Example, Score, Status
from evaltoolkit.schema import CRITERION_COLUMNS
from evaltoolkit.scorers.base import Scorer
from evaltoolkit.scorers.running import declared_criteria
from evaltoolkit.scores import check_scores


class Cells(NamedTuple):
    """A score as plain cells; a run holds very many."""

    criterion: str
    score: float | None = None
    label: str | None = None
    passed: bool | None = None
    status: Status = "scored"
    message: str | None = None
    details: JsonValue = None
    cost_usd: float | None = None

    @classmethod
    def of(cls, score: Score) -> Cells:
        """Take them from a score."""
        return cls(
            score.criterion,
            score.score,
            score.label,
            score.passed,
            score.status,
            score.message,
            score.details,
            score.cost_usd,
        )


class Measured(NamedTuple):
    """One score with the answer that it is of and the scorer that gave it."""

    answer: Answer
    scorer: Scorer
    score: Cells


def all_criteria(scorer: Scorer) -> list[Criterion]:
    """List the criterion of a scorer and those of its parts, each once."""
    return list({c.name: c for c in (scorer.criterion, *declared_criteria(scorer))}.values())


def is_meant_for(scorer: Scorer, example: Example) -> bool:
    """Ask a scorer that has a method ``applies`` whether it is meant for an example."""
    own: Callable[[Example], bool] | None = getattr(scorer, "applies", None)
    return own is None or bool(own(example))


def collision(one: Scorer, other: Scorer, criterion: str) -> ScorerError:
    """Say that two scorers give scores of the same name."""
    return ScorerError(
        f"{one!r} and {other!r} both give the score {criterion!r} under the name "
        f"{one.name!r}, and one would overwrite the other; give one of them another name=",
        code="repeated_score",
        path=criterion,
        value=(one.name, other.name),
    )


def clashes(measured: Iterable[Measured]) -> Iterator[tuple[Measured, Scorer]]:
    """Find scores whose name another scorer gave before, however the two came to it."""
    seen: dict[tuple[str, str], Scorer] = {}
    for item in measured:
        other = seen.setdefault((item.scorer.name, item.score.criterion), item.scorer)
        if other is not item.scorer:
            yield item, other


def spread_failures(measured: Sequence[Measured]) -> Iterator[Measured]:
    """Count the failure of a scorer with undeclared parts for each part that it gave elsewhere.

    Otherwise its failures would stand under a criterion of their own, and the parts would look
    as if nothing had gone wrong.
    """
    if all(item.score.score is not None for item in measured):
        yield from measured
        return
    parts = _parts_seen(measured)
    for item in measured:
        own = item.scorer.criterion.name
        names = parts.get((id(item.scorer), item.answer.example.task), {})
        if item.score.score is not None or item.score.criterion != own or not names or own in names:
            yield item
            continue
        for name in names:
            yield item._replace(score=item.score._replace(criterion=name))


def _parts_seen(measured: Iterable[Measured]) -> dict[tuple[int, str], dict[str, None]]:
    parts: dict[tuple[int, str], dict[str, None]] = defaultdict(dict)
    for item in measured:
        if item.score.score is not None:
            place = (id(item.scorer), item.answer.example.task)
            parts[place][item.score.criterion] = None
    return parts


def score_table(
    measured: Iterable[Measured], scorers: Sequence[Scorer], known: ExampleIndex
) -> pd.DataFrame:
    """Make the score table, one row per score in the given order."""
    items = list(measured)
    answers, scores = [item.answer for item in items], [item.score for item in items]
    criteria = [score.criterion for score in scores]
    columns: dict[str, Sequence[object]] = {
        "run_id": [answer.run_id for answer in answers],
        "system": [answer.system for answer in answers],
        "task": [answer.example.task for answer in answers],
        "example_id": [answer.example.id for answer in answers],
        "trial": [answer.trial for answer in answers],
        "criterion": criteria,
        "scorer": [item.scorer.name for item in items],
        "score": [score.score for score in scores],
        "label": [score.label for score in scores],
        "passed": [score.passed for score in scores],
        "status": [score.status for score in scores],
        "message": [score.message for score in scores],
    }
    facts = {c.name: c.model_dump() for scorer in scorers for c in all_criteria(scorer)}
    shown = [facts[name] for name in dict.fromkeys(criteria) if name in facts]
    for name in CRITERION_COLUMNS:
        usual = _RARE_FACTS.get(name)
        if name not in _RARE_FACTS or any(fact[name] not in (None, usual) for fact in shown):
            declared = {criterion: fact[name] for criterion, fact in facts.items()}
            columns[name] = [declared.get(criterion) for criterion in criteria]
    if any(score.cost_usd is not None for score in scores):
        columns["judge_cost_usd"] = [score.cost_usd for score in scores]
    if any(example.cluster is not None for example in known.by_key.values()):
        columns["cluster"] = [answer.example.cluster for answer in answers]
    for name in known.attributes:
        columns[name] = [answer.example.attributes.get(name) for answer in answers]
    return check_scores(pd.DataFrame(columns))


_RARE_FACTS: Mapping[str, object] = {"weight": None, "blocking": True, "self_referenced": False}
"""Facts that are only shown where some criterion departs from what is usual."""
