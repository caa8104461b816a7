"""Lists of autoevals scores: ``[score.as_dict() for score in scores]``, saved as JSON.

A null score means that the scorer declined. The choice of a judge is the label, its rationale the
message.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evaltoolkit.readers import score_lists
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source
from evaltoolkit.readers.records import finite_number
from evaltoolkit.readers.tracebacks import reason


def _judge(raw: Row) -> Row:
    metadata = raw["metadata"] if isinstance(raw["metadata"], dict) else {}
    found = score_lists.measured(
        raw["score"], label=metadata.get("choice"), message=metadata.get("rationale")
    )
    if not raw.get("error"):
        return found
    number = finite_number(raw["score"])
    label = found["label"] if number is None else f"{number:g}"
    message = reason(str(raw["error"]))
    return {"score": None, "label": label, "status": "scorer_error", "message": message}


def _facts(name: str, scores: list[Any]) -> Row:
    del name
    numbers = [number for score in scores if (number := finite_number(score)) is not None]
    # Its own check lets everything else through only where somebody has edited the file.
    within = all(0 <= number <= 1 for number in numbers)
    return {"lower_bound": 0.0, "upper_bound": 1.0} if within else {}


LAYOUT = score_lists.Layout(
    name="name",
    required=frozenset({"name", "score", "metadata"}),
    allowed=frozenset({"name", "score", "metadata", "error", "example_id"}),
    judge=_judge,
    facts=_facts,
)


def _detect(source: Source) -> bool:
    return score_lists.detect(source, LAYOUT)


def _read(source: Source, reading: Reading) -> Iterator[Batch]:
    return score_lists.read(source, reading, LAYOUT)


FORMAT = Format(
    name="autoevals",
    title="Lists of autoevals scores",
    detect=_detect,
    read=_read,
    tables=frozenset({"scores", "details"}),
    signs="objects of name, score and metadata, and nothing else",
    quirks=(
        "Neither example nor system is named: an example is numbered by its place (or named by "
        "`example_id` or the key of the list), the system by the file. A null score is `unscored`, "
        "one with an error `scorer_error`; a judge's choice is the label."
    ),
)
