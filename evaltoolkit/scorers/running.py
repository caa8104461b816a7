"""Run one scorer on one output so that whatever happens becomes a score with a status."""

from __future__ import annotations

import inspect
import math
import numbers
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Literal

from evaltoolkit.errors import MissingDependencyError, ScorerError
from evaltoolkit.models import Criterion, Example, Output, Score, describe_error
from evaltoolkit.scorers.base import Scorer, Unmeasurable, is_several


def run_scorer(scorer: Scorer, output: Output, example: Example) -> list[Score]:
    """Score one output; never raise because of what is in it.

    An output with an error is not scored: its scores have status ``system_error``. A scorer that
    raises, or returns something that is no score, gives status ``scorer_error`` with the text of
    the exception.

    Args:
        scorer: A scorer; make one of a function with `as_scorer`.
        output: What the system answered.
        example: What it was asked.

    Returns:
        At least one score. After an error: one for each part that the scorer declares, else one
        for its criterion.

    Raises:
        MissingDependencyError: A package that the scorer needs is not installed.

    Example:
        >>> from evaltoolkit.scorers.functions import as_scorer
        >>> broken = as_scorer(lambda output: 1 / 0)
        >>> run_scorer(broken, Output(text="x"), Example(id=1))[0].message
        'ZeroDivisionError: division by zero'
    """
    if output.error is not None:
        return failed_scores(scorer, "system_error", output.error)
    try:
        return shape_scores(scorer, scorer.score(output, example))
    except MissingDependencyError:
        raise
    except Unmeasurable as reason:
        return failed_scores(scorer, "unscored", str(reason))
    except Exception as error:  # whatever foreign code raises is a status of this row
        return failed_scores(scorer, "scorer_error", describe_error(error))


def shape_scores(scorer: Scorer, returned: object) -> list[Score]:
    """Make a list of scores of whatever a scorer returned.

    Numbers and booleans get the scorer's criterion (True is 1 and passed); None and NaN mean
    that there was nothing to measure; in a list every score is a part of the scorer, so its name
    starts with that of the criterion.

    Args:
        scorer: The scorer that returned it.
        returned: A number, a boolean, None, a `Score` or a list of scores.

    Returns:
        At least one score; names do not repeat.

    Raises:
        ScorerError: It is nothing of that kind, a number breaks its bounds, or two scores have
            the same name.
    """
    if is_several(returned):
        scores = [_part(scorer, item) for item in returned]
        if not scores:
            return failed_scores(scorer, "unscored", "the scorer returned an empty list")
    else:
        scores = [_single(scorer, returned)]
    _check_bounds(scorer, scores)
    if len(scores) > 1:
        _check_names(scorer, scores)
    return scores


def failed_scores(
    scorer: Scorer, status: Literal["unscored", "scorer_error", "system_error"], message: str
) -> list[Score]:
    """Give scores without a number, one for each part that the scorer declares."""
    return [
        Score(criterion=criterion.name, status=status, message=message)
        for criterion in declared_criteria(scorer)
    ]


def declared_criteria(scorer: Scorer) -> list[Criterion]:
    """List the criteria that a scorer says it measures: its parts, else its one criterion."""
    parts: Sequence[Criterion] = getattr(scorer, "parts", ())
    return list(parts) or [scorer.criterion]


def _single(scorer: Scorer, returned: object) -> Score:
    if isinstance(returned, Score):
        return returned
    if inspect.isawaitable(returned):
        _close(returned)
        msg = f"{scorer.name!r} is async; score it with an async runner"
        raise ScorerError(msg, code="async_scorer", path=scorer.name)
    criterion = scorer.criterion
    if returned is None or type(returned).__name__ in ("NAType", "NaTType"):
        reason = f"the scorer returned {'None' if returned is None else returned}"
        return Score(criterion=criterion.name, status="unscored", message=reason)
    if type(returned).__name__ in ("bool", "bool_"):
        return Score(criterion=criterion.name, score=float(bool(returned)), passed=bool(returned))
    if isinstance(returned, numbers.Real | Decimal):
        return _from_number(criterion, float(returned))
    msg = (
        f"{scorer.name!r} returned a {type(returned).__name__}; return a number, True or False, "
        "None, a Score, or a list of Scores"
    )
    raise ScorerError(msg, code="bad_return", path=scorer.name, value=returned)


def _from_number(criterion: Criterion, number: float) -> Score:
    if math.isnan(number):
        reason = "the scorer returned NaN"
        return Score(criterion=criterion.name, status="unscored", message=reason)
    if math.isinf(number):
        msg = f"{criterion.name!r} is {number}; a score must be finite"
        raise ScorerError(msg, code="infinite_score", path=criterion.name, value=number)
    return Score(criterion=criterion.name, score=number, passed=criterion.passes(number))


def _part(scorer: Scorer, item: object) -> Score:
    if not isinstance(item, Score):
        msg = (
            f"{scorer.name!r} returned a list with a {type(item).__name__}; parts need names, so "
            "return Score(criterion=..., score=...)"
        )
        raise ScorerError(msg, code="bad_return", path=scorer.name, value=item)
    own = scorer.criterion.name
    if item.criterion == own or item.criterion.startswith(f"{own}."):
        return item
    return item.model_copy(update={"criterion": f"{own}.{item.criterion}"})


def _check_bounds(scorer: Scorer, scores: Iterable[Score]) -> None:
    for item in scores:
        criterion = _declared(scorer, item.criterion)
        broken = criterion.beyond(item.score) if criterion and item.score is not None else None
        if broken:
            msg = f"the score of {item.criterion!r} {broken}"
            raise ScorerError(msg, code="out_of_bounds", path=item.criterion, value=item.score)


def _declared(scorer: Scorer, name: str) -> Criterion | None:
    if name == scorer.criterion.name:
        return scorer.criterion
    return next((c for c in declared_criteria(scorer) if c.name == name), None)


def _check_names(scorer: Scorer, scores: Sequence[Score]) -> None:
    names = [item.criterion for item in scores]
    for place, name in enumerate(names):
        if name in names[:place]:
            first, second = scores[names.index(name)], scores[place]
            msg = (
                f"{scorer.name!r} returned two scores named {name!r} ({_shown(first)} and "
                f"{_shown(second)}); give each part its own name"
            )
            raise ScorerError(msg, code="repeated_score", path=name, value=names)


def _shown(score: Score) -> str:
    return f"{score.score:g}" if score.score is not None else score.status


def _close(awaitable: object) -> None:
    """Close a coroutine that nobody will await, so that Python does not warn about it."""
    if inspect.iscoroutine(awaitable):
        awaitable.close()
