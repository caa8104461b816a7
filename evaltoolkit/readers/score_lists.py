"""Lists of bare scores, as evaluators return them: no example, no system, no run is named.

Such a list is saved in several ways: flat, one list for each example, an object by example id, or
wrapped in records that have an id. Where nothing names the example, its place in the list does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from evaltoolkit.errors import listed, warn
from evaltoolkit.readers.base import Batch, Reading, Row, Source, json_lines
from evaltoolkit.readers.records import (
    BAD_RECORD,
    SHORT_TEXT,
    as_cell,
    as_json,
    finite_number,
    non_finite_name,
    shortened,
)
from evaltoolkit.readers.unnamed import system_name, trial_numbers

_WRAPPERS = ("results", "evaluation_results", "scores", "feedback")
_IDS = ("example_id", "id")


@dataclass(frozen=True)
class Layout:
    """How one tool writes a single score.

    Attributes:
        name: The field that names the criterion.
        required: Fields that each score has.
        allowed: All fields that a score can have.
        judge: Gives score, label, verdict, status and message of one score.
        facts: What is known of a criterion, from its name and all its raw scores.
    """

    name: str
    required: frozenset[str]
    allowed: frozenset[str]
    judge: Callable[[Row], Row]
    facts: Callable[[str, list[Any]], Row]

    def fits(self, value: object) -> bool:
        """Say whether a JSON value is one score of this layout."""
        if not isinstance(value, Mapping) or not self.required <= set(value) <= self.allowed:
            return False
        return isinstance(value[self.name], str)


@dataclass(frozen=True)
class _Item:
    """One score: where it stands, what example it is of (None: not told), its fields."""

    record: str
    example: str | None
    raw: Row


class _Entry(NamedTuple):
    """One line or one part of a document."""

    record: str
    example: str | None
    number: int


def detect(source: Source, layout: Layout) -> bool:
    """Say whether the first score of a file is of the layout."""
    if source.is_folder or source.is_zip:
        return False
    value = source.first_line if source.is_json_lines else source.document
    if isinstance(value, Mapping) and not layout.fits(value) and _wrapped(value) is None:
        value = next(iter(value.values()), None)
    for _ in range(3):
        if isinstance(value, Mapping) and not layout.fits(value):
            value = _wrapped(value)
        elif isinstance(value, list):
            value = value[0] if value else None
    return layout.fits(value)


def _wrapped(value: Mapping[str, Any]) -> list[Any] | None:
    return next((value[n] for n in _WRAPPERS if isinstance(value.get(n), list)), None)


def read(source: Source, reading: Reading, layout: Layout) -> Iterator[Batch]:
    """Read one file of such scores."""
    unknown: Counter[str] = Counter()
    items = list(_items(source, reading, layout, unknown))
    for kind, count in unknown.items():
        reading.unknown(source.path, kind, count)
    system, notes = system_name(source.path, reading)
    placed, more = _placed(source, items, layout)
    trials, repeats = trial_numbers((example, item.raw[layout.name]) for example, item in placed)
    raw_scores: dict[str, list[Any]] = {}
    for item in items:
        raw_scores.setdefault(item.raw[layout.name], []).append(item.raw["score"])
    facts = {name: layout.facts(name, values) for name, values in raw_scores.items()}
    rows = [
        {
            "system": system,
            "example_id": example,
            "trial": trial,
            "criterion": item.raw[layout.name],
            **layout.judge(item.raw),
            **facts[item.raw[layout.name]],
            "source": f"{source.path.name}: {item.record}",
        }
        for (example, item), trial in zip(placed, trials, strict=True)
    ]
    yield Batch(
        scores=rows,
        details=list(_details(rows, items)) if "details" in reading.want else [],
        notes=[f"{source.path.name}: {note}" for note in (*notes, *more, *repeats)],
    )


def _items(
    source: Source, reading: Reading, layout: Layout, unknown: Counter[str]
) -> Iterator[_Item]:
    if source.is_json_lines:
        entries: Iterator[tuple[str, str | None, Any]] = (
            (record, None, value) for record, value in json_lines(source.path, reading)
        )
    else:
        entries = _entries(source.document, layout)
    for number, (record, example, value) in enumerate(entries):
        try:
            scores = _of_entry(_Entry(record, example, number), value, layout)
        except BAD_RECORD as error:
            reading.bad_record(source.path, record, error)
            continue
        for item in scores:
            if layout.fits(item.raw):
                yield item
            else:
                unknown[f"result without {' and '.join(sorted(layout.required))}"] += 1


def _entries(document: Any, layout: Layout) -> Iterator[tuple[str, str | None, Any]]:  # noqa: ANN401
    """Go through a document: a score, a list, a wrapped list, or lists by example id."""
    if isinstance(document, Mapping):
        if layout.fits(document) or _wrapped(document) is not None:
            yield "record 0", None, document
            return
        for name, value in document.items():
            yield f"record {name!r}", str(name), value
        return
    for number, value in enumerate(document):
        yield f"record {number}", None, value


def _of_entry(entry: _Entry, value: object, layout: Layout) -> list[_Item]:
    """Give the scores of one entry; a list in it holds those of one example."""
    if isinstance(value, Mapping):
        named = next((value[name] for name in _IDS if value.get(name) is not None), None)
        example = entry.example if named is None else str(named)
        inner = None if layout.fits(value) else _wrapped(value)
        if inner is None:
            return [_Item(entry.record, example, dict(value))]
    elif isinstance(value, list):
        example, inner = entry.example, value
    else:
        raise ValueError(f"it is of type {type(value).__name__}, not a score or a list of scores")  # noqa: TRY004 - one kind of refusal
    example = str(entry.number) if example is None else example
    return [
        _Item(f"{entry.record}[{place}]", example, each if isinstance(each, dict) else {})
        for place, each in enumerate(inner)
    ]


def _placed(
    source: Source, items: list[_Item], layout: Layout
) -> tuple[list[tuple[str, _Item]], list[str]]:
    """Give every score its example: by id, else by its place among those of its name."""
    seen: Counter[str] = Counter()
    placed: list[tuple[str, _Item]] = []
    for item in items:
        example = item.example
        if example is None:
            example = str(seen[item.raw[layout.name]])
            seen[item.raw[layout.name]] += 1
        placed.append((example, item))
    if len(set(seen.values())) > 1:
        counts = listed(f"{name} ({count}×)" for name, count in seen.items())
        warn(
            f"{source.path}: the scores name no example and do not occur equally often ({counts}), "
            "so the examples of different criteria may not be the same; save them with an "
            "example_id"
        )
    note = "the scores name no example: each is numbered by its place among those of its name"
    return placed, [note] if seen else []


def _details(rows: list[Row], items: list[_Item]) -> Iterator[Row]:
    key = ("system", "example_id", "trial", "criterion", "source")
    for row, item in zip(rows, items, strict=True):
        parts = {name: item.raw.get(name) for name in ("comment", "metadata", "error")}
        given = {name: part for name, part in parts.items() if part}
        if given:
            yield {**{name: row[name] for name in key}, "details": as_json(given)}


def measured(score: object, *, label: object = None, message: object = None) -> Row:
    """Turn one raw score into score, label, status and message.

    Args:
        score: A number, a truth value, or what stands in its place.
        label: The verdict in words, if there is one.
        message: The explanation, if there is one.
    """
    number = finite_number(float(score) if isinstance(score, bool) else score)
    words = None if label is None else shortened(as_cell(label) or "", limit=SHORT_TEXT)
    told = shortened(str(message)) if message else None
    if number is not None:
        return {"score": number, "label": words, "status": "scored", "message": told}
    why = "the evaluator gave no score" if score is None else "the evaluator gave no number"
    if score is not None:
        written = non_finite_name(score) if isinstance(score, float) else as_cell(score) or ""
        words = words or shortened(written, limit=SHORT_TEXT)
    return {"score": None, "label": words, "status": "unscored", "message": told or why}
