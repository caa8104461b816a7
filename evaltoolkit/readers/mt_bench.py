"""Judgements of MT-bench (FastChat's ``llm_judge``): ratings of one answer, or pairs of answers.

A question has two turns and each is judged: they are two examples, and since the second depends on
the first, the question is their cluster. The judge model is the scorer; its template, which
differs between categories and turns, is an attribute. A rating of -1 means that no rating could be
read from the judge's reply: a broken measurement, not a low score. Judging again appends to the
file; such repeats share a key and are refused until the caller says what they mean.

In a pair the judge sees both orders: game 1 shows ``model_1`` first, game 2 ``model_2``, and the
winner is already mapped back to the model. Both games are kept, as trials 0 and 1, and score how
far ``model_1`` is preferred to ``model_2`` (the baseline where a baseline was set).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evaltoolkit.errors import ReadError
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source, json_lines
from evaltoolkit.readers.records import BAD_RECORD, as_json, finite_number, moment

_SINGLE = frozenset({"question_id", "model", "judge", "score", "turn"})
_PAIR = frozenset({"question_id", "model_1", "model_2", "g1_winner", "g2_winner"})
_QUESTION = frozenset({"question_id", "category", "turns"})
_QUESTIONS = "question.jsonl"
_BATCH = 1_000

_RATING = {
    "criterion": "rating",
    "kind": "ordinal",
    "higher_is_better": True,
    "lower_bound": 1.0,
    "upper_bound": 10.0,
}
_PREFERENCE = {
    "criterion": "preference",
    "kind": "ordinal",
    "higher_is_better": True,
    "lower_bound": 0.0,
    "upper_bound": 1.0,
}
_WINNERS = {"model_1": 1.0, "tie": 0.5, "model_2": 0.0}


def detect(source: Source) -> bool:
    """Say whether a file holds judgements of MT-bench, or its questions."""
    if b'"question_id"' not in source.head or not source.is_json_lines:
        return False
    keys = source.keys()
    return keys >= _SINGLE or keys >= _PAIR or _is_questions(keys)


def _is_questions(keys: set[str]) -> bool:
    return keys >= _QUESTION and "model" not in keys


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read ratings or pairs; a list of questions gives no rows."""
    if _is_questions(source.keys()):
        yield Batch(notes=[f"{source.path.name} is the list of questions, which has no scores"])
        return
    categories, notes = _categories(source.path)
    yield Batch(notes=notes)
    scores: list[Row] = []
    details: list[Row] = []
    for record, raw in json_lines(source.path, reading):
        try:
            rows, explained = _rows(source, record, raw, categories)
        except BAD_RECORD as error:
            reading.bad_record(source.path, record, error)
            continue
        scores.extend(rows)
        details.extend(explained)
        if len(scores) >= _BATCH:
            yield Batch(scores=scores, details=details)
            scores, details = [], []
    yield Batch(scores=scores, details=details)


def _categories(path: Path) -> tuple[dict[str, str], list[str]]:
    """Look up the category of each question in the list of questions beside or above the file."""
    for folder in list(path.resolve().parents)[:3]:
        questions = folder / _QUESTIONS
        if questions.is_file() and _is_questions(Source(questions).keys()):
            lenient = Reading(want=frozenset({"scores"}), on_error="skip")
            try:
                found = {
                    str(raw["question_id"]): str(raw["category"])
                    for _, raw in json_lines(questions, lenient)
                    if "question_id" in raw and "category" in raw
                }
            except (OSError, ReadError):
                return {}, [f"{questions.name} beside the judgements could not be read"]
            return found, [f"categories taken from {questions.name}"]
    return {}, []


def _rows(
    source: Source, record: str, raw: Row, categories: Mapping[str, str]
) -> tuple[list[Row], list[Row]]:
    shared = _shared(source, record, raw, categories)
    if "g1_winner" in raw:
        return _games(shared, raw)
    row = {**shared, "system": str(raw["model"]), **_RATING, **_rated(raw["score"])}
    return [row], _details(row, raw.get("judgment"))


def _shared(source: Source, record: str, raw: Row, categories: Mapping[str, str]) -> Row:
    question, turn = str(raw["question_id"]), raw["turn"]
    judge = raw.get("judge")
    model, template = judge if isinstance(judge, list) and len(judge) == 2 else (judge, None)
    # The template is that of the turn and of the category, so it is the same for all systems.
    return {
        "task": "mt_bench",
        "example_id": f"{question}.{turn}",
        "scorer": str(model or ""),
        "cluster": question,
        "turn": turn,
        "judge_template": template,
        "category": categories.get(question),
        "timestamp": moment(raw.get("tstamp")),
        "source": f"{source.path.name}: {record}",
    }


def _rated(score: object) -> Row:
    number = finite_number(score)
    if number is not None and number > 0:
        return {"score": number, "status": "scored", "label": None, "message": None}
    label = None if score is None else f"{score}"
    reason = "no rating could be read from the judge's reply"
    return {"score": None, "status": "scorer_error", "label": label, "message": reason}


def _games(shared: Row, raw: Row) -> tuple[list[Row], list[Row]]:
    rows: list[Row] = []
    details: list[Row] = []
    for trial, (game, position) in enumerate((("g1", "first"), ("g2", "second"))):
        row = {
            **shared,
            "system": str(raw["model_1"]),
            "versus": str(raw["model_2"]),
            "trial": trial,
            "position": position,
            **_PREFERENCE,
            **_won(raw[f"{game}_winner"]),
        }
        rows.append(row)
        details.extend(_details(row, raw.get(f"{game}_judgment")))
    return rows, details


def _won(winner: Any) -> Row:  # noqa: ANN401 - any JSON value
    if winner in _WINNERS:
        return {"score": _WINNERS[winner], "status": "scored", "label": winner, "message": None}
    if winner is None or winner == "error":
        reason = "no verdict could be read from the judge's reply"
        return {"score": None, "status": "scorer_error", "label": winner, "message": reason}
    raise ValueError(f"its winner is {winner!r}; it must be model_1, model_2, tie or error")


_DETAIL_KEYS = ("system", "task", "example_id", "trial", "criterion", "scorer", "versus", "source")


def _details(row: Row, judgment: object) -> list[Row]:
    if judgment is None:
        return []
    key = {name: row[name] for name in _DETAIL_KEYS if name in row}
    return [{**key, "details": as_json({"judgment": judgment})}]


FORMAT = Format(
    name="mt_bench",
    title="MT-bench judgements (FastChat llm_judge)",
    detect=detect,
    read=read,
    tables=frozenset({"scores", "details"}),
)
