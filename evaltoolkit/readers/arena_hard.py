"""Judgements of Arena-Hard, in the layout of its releases and in the one before them.

A release judges each answer against a named baseline in two games: the first shows the baseline as
A, the second the model. The verdict (``A>>B`` ... ``B>>A``) becomes how far the model is preferred,
0, 0.5 or 1, one row for each game; how strongly stays in the label. The tool itself counts a
double mark three times, as if one verdict were three independent ones: that is not repeated here.

Before the first release an answer had a rating from 1 to 10, and null where none could be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from evaltoolkit.errors import listed
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source, json_lines
from evaltoolkit.readers.records import BAD_RECORD, as_json, finite_number, moment

_GAMES = frozenset({"model", "games"})
_RATED = frozenset({"question_id", "model", "judgment", "score"})
_OF_OTHERS = frozenset({"turn", "judge", "criterion", "example_id"})
_VERDICT = re.compile(r"\[*\s*([AB])\s*(>>|>|=|<|<<)\s*([AB])\s*\]*")
_BATCH = 1_000
# Who is shown as A in each game, as the tool plays them.
_POSITIONS = ("second", "first")

_PREFERENCE = {
    "criterion": "preference",
    "kind": "ordinal",
    "higher_is_better": True,
    "lower_bound": 0.0,
    "upper_bound": 1.0,
}
_RATING = {
    "criterion": "rating",
    "kind": "ordinal",
    "higher_is_better": True,
    "lower_bound": 1.0,
    "upper_bound": 10.0,
}


def detect(source: Source) -> bool:
    """Say whether a file holds judgements of either layout."""
    if b'"model"' not in source.head or not source.is_json_lines:
        return False
    keys = source.keys()
    named = bool(keys & {"question_id", "uid"})
    return (keys >= _GAMES and named) or (keys >= _RATED and not keys & _OF_OTHERS)


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read one row for each game, or for each rated answer."""
    scores: list[Row] = []
    details: list[Row] = []
    models: set[str] = set()
    for record, raw in json_lines(source.path, reading):
        try:
            rows = list(_games(raw) if "games" in raw else _rated(source.path, raw))
        except BAD_RECORD as error:
            reading.bad_record(source.path, record, error)
            continue
        origin = f"{source.path.name}: {record}"
        models.add(str(raw["model"]))
        for row, judgment in rows:
            scores.append({**row, "source": origin})
            if judgment is not None:
                details.append(_detail(row, judgment, origin))
        if len(scores) >= _BATCH:
            yield Batch(scores=scores, details=details)
            scores, details = [], []
    notes = []
    if models and source.path.stem not in models:
        notes.append(
            f"{source.path.name} is about {listed(sorted(models))}: the name in the records is "
            "used, not that of the file"
        )
    yield Batch(scores=scores, details=details, notes=notes)


def _shared(raw: Row, scorer: object) -> Row:
    example = raw.get("question_id", raw.get("uid"))
    if example is None:
        raise ValueError("it has neither question_id nor uid")
    return {
        "system": str(raw["model"]),
        "task": "arena_hard",
        "example_id": str(example),
        "scorer": str(scorer or ""),
        "category": raw.get("category"),
        "timestamp": moment(raw.get("tstamp")),
    }


def _rated(path: Path, raw: Row) -> Iterator[tuple[Row, object]]:
    folder = path.resolve().parent
    judge = folder.name if folder.parent.name == "model_judgment" else None
    number = finite_number(raw["score"])
    measured: Row = {"score": number, "status": "scored"}
    if number is None:
        reason = "no rating could be read from the judge's reply"
        measured = {"score": None, "status": "unscored", "message": reason}
    yield {**_shared(raw, judge), **_RATING, **measured}, raw.get("judgment")


def _games(raw: Row) -> Iterator[tuple[Row, object]]:
    games = raw["games"]
    if not isinstance(games, list):
        raise TypeError(f"its games are a {type(games).__name__}, not a list")
    baseline = raw.get("baseline")
    if not baseline:
        raise ValueError("it does not name the baseline that the model was judged against")
    for trial, game in enumerate(games):
        given = game or {}
        position = _POSITIONS[trial % 2]
        row = {
            **_shared(raw, raw.get("judge")),
            **_PREFERENCE,
            "versus": str(baseline),
            "trial": trial,
            "position": position,
            **_verdict(given.get("score"), model_is="A" if position == "first" else "B"),
        }
        yield row, given.get("judgment")


def _verdict(label: object, *, model_is: str) -> Row:
    if label is None:
        reason = "no verdict could be read from the judge's reply"
        return {"score": None, "label": None, "status": "unscored", "message": reason}
    match = _VERDICT.fullmatch(str(label).strip())
    if match is None or match[1] == match[3]:
        raise ValueError(f"its verdict is {label!r}; known are A>>B, A>B, A=B, B>A, B>>A")
    left, sign, right = match.groups()
    winner = None if sign == "=" else left if ">" in sign else right
    score = 0.5 if winner is None else float(winner == model_is)
    return {"score": score, "label": str(label), "status": "scored", "message": None}


_DETAIL_KEYS = ("system", "task", "example_id", "trial", "criterion", "scorer", "versus")


def _detail(row: Row, judgment: object, origin: str) -> Row:
    key = {name: row[name] for name in _DETAIL_KEYS if name in row}
    return {**key, "details": as_json({"judgment": judgment}), "source": origin}


FORMAT = Format(
    name="arena_hard",
    title="Arena-Hard judgements",
    detect=detect,
    read=read,
    tables=frozenset({"scores", "details"}),
)
