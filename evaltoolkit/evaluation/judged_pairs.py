"""Let a judge compare the answers of systems with those of one of them, in both orders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, NamedTuple

import pandas as pd

from evaltoolkit.clients.options import check_option, is_number
from evaltoolkit.errors import PairingError, listed, nearest
from evaltoolkit.evaluation.records import (
    Answer,
    ExampleIndex,
    OutputRecord,
    locate,
    read_records,
)
from evaltoolkit.models import Output, Score, describe_error
from evaltoolkit.schema import CRITERION_COLUMNS
from evaltoolkit.scorers.judging.pairwise import POSITIONS, PairwiseJudge, Position
from evaltoolkit.scores import check_scores

_Place = tuple[str, str, str, int]


class _Comparison(NamedTuple):
    """An answer and the output that it is held against; None where there is none."""

    answer: Answer
    versus: Output | None


def judge_pairs(
    examples: Iterable[Any],
    outputs: pd.DataFrame | Iterable[OutputRecord | tuple[Any, ...]],
    judge: PairwiseJudge,
    *,
    versus: str,
    run_id: str | None = None,
    concurrency: int = 4,
) -> pd.DataFrame:
    """Compare every output with that of one system on the same example and trial.

    Args:
        examples: The test items.
        outputs: Records (system, example_id, trial, output) or an outputs table; see
            `score_outputs`. Those of `versus` must be among them.
        judge: The judge.
        versus: Name of the system that the others are held against.
        run_id: Name of this run where the outputs do not give one.
        concurrency: How many comparisons are under way at once.

    Returns:
        A score table with ``versus`` and ``position`` ("first" or "second": the place at which
        the answer of ``system`` was shown), two rows for each comparison: trial 2t is the one
        where the answer of trial t was shown first, trial 2t + 1 the other. Where prices are
        known, ``judge_cost_usd`` is what the verdict cost when it was made. It can go to
        `position_bias`, `rank` and `compare`. The order is that of the outputs.

    Raises:
        ScorerError: `concurrency` is no whole number from 1.
        PairingError: `versus` has no output, there is nothing to compare, or an output belongs to
            no example.
        SchemaError: Examples or outputs repeat or are malformed.

    Example:
        >>> from evaltoolkit.models import Example
        >>> judge = PairwiseJudge(
        ...     rubric="r", model="m", judge_base_url="http://localhost:8080/v1"
        ... )
        >>> answers = [("a", 1, 0, Output(text="4")), ("b", 1, 0, Output(error="timeout"))]
        >>> rows = judge_pairs([Example(id=1)], answers, judge, versus="a")
        >>> rows[["system", "versus", "position", "status"]].values.tolist()
        [['b', 'a', 'first', 'system_error'], ['b', 'a', 'second', 'system_error']]
    """
    fits = is_number(concurrency, least=1, whole=True)
    check_option("concurrency", concurrency, "give a whole number from 1", fits=fits)
    known = ExampleIndex.of(examples)
    answers = locate(known, read_records(outputs, system=None, run_id=run_id))
    comparisons = list(_comparisons(answers, versus))
    with ThreadPoolExecutor(max_workers=concurrency) as pool:
        asked = list(pool.map(lambda comparison: _ask(judge, comparison), comparisons))
    rows = [
        _row(comparison, place, score, judge, versus)
        for comparison, scores in zip(comparisons, asked, strict=True)
        for place, score in scores.items()
    ]
    return check_scores(pd.DataFrame(rows))


def _comparisons(answers: Sequence[Answer], versus: str) -> Iterator[_Comparison]:
    baseline = {_place(answer): answer.output for answer in answers if answer.system == versus}
    others = [answer for answer in answers if answer.system != versus]
    if not baseline or not others:
        systems = list(dict.fromkeys(answer.system for answer in answers))
        hint = nearest(versus, systems) if not baseline else "there is no other system"
        msg = f"nothing can be held against {versus!r}: outputs are of {listed(systems)} ({hint})"
        raise PairingError(msg, code="unknown_system", path="versus", value=versus)
    for answer in others:
        yield _Comparison(answer, baseline.get(_place(answer)))


def _place(answer: Answer) -> _Place:
    return answer.run_id, answer.example.task, answer.example.id, answer.trial


def _ask(judge: PairwiseJudge, comparison: _Comparison) -> dict[Position, Score]:
    if comparison.versus is None:
        reason = "there is no output to hold it against"
        return dict.fromkeys(POSITIONS, _lost(judge, "unscored", reason))
    answer = comparison.answer
    try:
        return judge.preferences(answer.output, comparison.versus, answer.example)
    except Exception as error:  # one that fails must not lose those that are paid
        return dict.fromkeys(POSITIONS, _lost(judge, "scorer_error", describe_error(error)))


def _lost(judge: PairwiseJudge, status: Literal["unscored", "scorer_error"], message: str) -> Score:
    return Score(criterion=judge.criterion.name, status=status, message=message)


def _row(
    comparison: _Comparison, place: Position, score: Score, judge: PairwiseJudge, versus: str
) -> dict[str, Any]:
    answer = comparison.answer
    facts = judge.criterion.model_dump()
    declared = {name: facts[name] for name in CRITERION_COLUMNS if facts.get(name) is not None}
    return {
        **answer.example.attributes,
        "run_id": answer.run_id,
        "system": answer.system,
        "task": answer.example.task,
        "example_id": answer.example.id,
        "trial": 2 * answer.trial + POSITIONS.index(place),
        "criterion": score.criterion,
        "scorer": judge.name,
        "versus": versus,
        "position": place,
        "score": score.score,
        "label": score.label,
        "status": score.status,
        "message": score.message,
        "cluster": answer.example.cluster,
        **({} if score.cost_usd is None else {"judge_cost_usd": score.cost_usd}),
        **declared,
    }
