"""From what came of a run to its three tables, in the order of the examples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd

from evaltoolkit.evaluation.digests import clean, digest_of_input
from evaltoolkit.evaluation.engine import Finished, Unit, cell
from evaltoolkit.evaluation.measured_rows import (
    Cells,
    Measured,
    clashes,
    collision,
    score_table,
    spread_failures,
)
from evaltoolkit.evaluation.records import Answer, ExampleIndex
from evaltoolkit.models import Example, Output
from evaltoolkit.schema import DETAILS, OUTPUTS, normalise
from evaltoolkit.scorers.base import Scorer
from evaltoolkit.scorers.running import failed_scores

Done = Sequence[tuple[Unit, Finished]]

_NO_OUTPUT = Output()


def plain_attributes(example: Example) -> Example:
    """Make every attribute, id and name of an example a cell that a file can hold.

    Structures become JSON text, halves of characters are written out.
    """
    names = {"id": example.id, "task": example.task, "cluster": example.cluster}
    if all(map(_is_cell, [*names.values(), *example.attributes.values()])):
        return example
    cells = {name: _as_cell(value) for name, value in example.attributes.items()}
    plain_names = {name: _as_cell(value) for name, value in names.items()}
    return example.model_copy(update={"attributes": cells, **plain_names})


def _is_cell(value: object) -> bool:
    if isinstance(value, str):
        return clean(value) == value
    return value is None or isinstance(value, bool | int | float)


def _as_cell(value: Any) -> Any:  # noqa: ANN401 - any attribute
    if isinstance(value, np.generic):
        value = value.item()
    return value if _is_cell(value) else cell(value)


def scores_and_details(
    done: Done, scorers: Sequence[Scorer], known: ExampleIndex, run_id: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make the score table and the details table."""
    found = list(_without_clashes(list(_measured(done, scorers, run_id))))
    measured = list(spread_failures(found))
    scores = score_table(measured, scorers, known)
    digests = {key: digest_of_input(example) for key, example in known.by_key.items()}
    asked = [digests[item.answer.example.task, item.answer.example.id] for item in measured]
    scores.insert(_place_of(scores, known), "input_digest", pd.Series(asked, dtype="str"))
    return scores, _details(measured, scores)


def _place_of(scores: pd.DataFrame, known: ExampleIndex) -> int:
    """Find where the known columns end and the attributes begin."""
    return len(scores.columns) - len(known.attributes)


def _measured(done: Done, scorers: Sequence[Scorer], run_id: str) -> Iterator[Measured]:
    for unit, finished in done:
        answer = Answer(run_id, unit.system.name, unit.trial, unit.example, _NO_OUTPUT)
        for number, scores in sorted(finished.scores.items()):
            for score in scores:
                yield Measured(answer, scorers[number], score)


def _without_clashes(measured: Sequence[Measured]) -> Iterator[Measured]:
    """Make a failure of what would overwrite the score of another scorer.

    `score_outputs` refuses such scorers; a run that has taken hours is not thrown away for it.
    """
    lost: dict[tuple[int, int], str] = {}
    for item, other in clashes(measured):
        text = str(collision(other, item.scorer, item.score.criterion))
        lost.setdefault((id(item.answer), id(item.scorer)), text)
    if not lost:
        yield from measured
        return
    for place, items in groupby(measured, key=lambda item: (id(item.answer), id(item.scorer))):
        first, *rest = items
        if place not in lost:
            yield from (first, *rest)
            continue
        for score in failed_scores(first.scorer, "scorer_error", lost[place]):
            yield first._replace(score=Cells.of(score))


def _details(measured: Sequence[Measured], scores: pd.DataFrame) -> pd.DataFrame:
    places = [i for i, item in enumerate(measured) if item.score.details is not None]
    texts = [measured[i].score.details for i in places]
    keys = scores[list(DETAILS.key)].iloc[places].reset_index(drop=True)
    return normalise(keys.assign(details=pd.Series(texts, dtype="str")), DETAILS)


def outputs_table(done: Done, known: ExampleIndex, run_id: str) -> pd.DataFrame:
    """Make the outputs table."""
    rows = [
        {
            "run_id": run_id,
            "system": unit.system.name,
            "task": unit.example.task,
            "example_id": unit.example.id,
            "trial": unit.trial,
            "input": cell(unit.example.input),
            "reference": cell(unit.example.reference),
            **finished.cells,
        }
        for unit, finished in done
    ]
    names = list(dict.fromkeys([*OUTPUTS.names, *_names(rows)]))
    frame = pd.DataFrame(rows, columns=names)
    frame["source"] = None
    if any(example.cluster is not None for example in known.by_key.values()):
        frame["cluster"] = [unit.example.cluster for unit, _ in done]
    for name in known.attributes:
        if name not in OUTPUTS.known:
            frame[name] = [unit.example.attributes.get(name) for unit, _ in done]
    return normalise(frame, OUTPUTS)


def _names(rows: Iterable[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))
