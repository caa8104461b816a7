"""Annotations of AlpacaEval: a judge's preference between a model and its named baseline.

Each record has two answers to one instruction: ``generator_1`` is the baseline, ``generator_2`` the
model. The preference runs from 1 (the baseline's answer) to 2 (the model's); discrete annotators
write 1, 1.5 and 2, old files 0 for a draw, and null means that nothing was annotated. The score is
how far the model is preferred, from 0 to 1: its mean is the win rate of the leaderboard, and so it
is right for weighted annotators, for whom the share of won examples is another number.

The instruction is the only name that an example has, so its hash is the id. In which order the
judge saw the two answers is not recorded.
"""

from __future__ import annotations

from collections.abc import Iterator

from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source, json_lines
from evaltoolkit.readers.records import BAD_RECORD, digest, finite_number

_KEYS = frozenset({"instruction", "generator_1", "generator_2", "preference"})
_BATCH = 1_000
_CRITERION = {
    "criterion": "preference",
    "kind": "continuous",
    "higher_is_better": True,
    "lower_bound": 0.0,
    "upper_bound": 1.0,
}
_DRAW_OF_OLD_FILES = 0


def detect(source: Source) -> bool:
    """Say whether a file holds annotated pairs of answers."""
    if b'"generator_2"' not in source.head or b'"generator_1"' not in source.head:
        return False
    return source.keys() >= _KEYS if source.is_json_lines else _first(source).keys() >= _KEYS


def _first(source: Source) -> Row:
    records = source.document
    first = records[0] if isinstance(records, list) and records else {}
    return first if isinstance(first, dict) else {}


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read one score row for each annotated pair."""
    scores: list[Row] = []
    outputs: list[Row] = []
    for record, raw in _records(source, reading):
        try:
            score = _score_row(source, record, raw)
        except BAD_RECORD as error:
            reading.bad_record(source.path, record, error)
            continue
        scores.append(score)
        outputs.extend(_output_rows(source, record, raw))
        if len(scores) == _BATCH:
            yield Batch(scores=scores, outputs=outputs)
            scores, outputs = [], []
    yield Batch(scores=scores, outputs=outputs)


def _records(source: Source, reading: Reading) -> Iterator[tuple[str, Row]]:
    if source.is_json_lines:
        yield from json_lines(source.path, reading)
    else:
        for number, record in enumerate(source.document):
            yield f"record {number}", record


def _score_row(source: Source, record: str, raw: Row) -> Row:
    cost = finite_number(raw.get("price_per_example"))
    return {
        **_key(raw, raw["generator_2"]),
        **_CRITERION,
        "scorer": raw.get("annotator") or "",
        "versus": raw["generator_1"],
        **_measured(raw["preference"]),
        "dataset": raw.get("dataset"),
        "judge_cost_usd": cost,
        "source": f"{source.path.name}: {record}",
    }


def _key(raw: Row, system: object) -> Row:
    instruction = raw["instruction"]
    if not isinstance(instruction, str):
        raise TypeError("its instruction is no text, so the example cannot be told")
    return {"system": str(system), "task": "alpaca_eval", "example_id": digest(instruction)}


def _measured(preference: object) -> Row:
    if preference is None:
        return {"score": None, "status": "unscored", "message": "no preference was annotated"}
    number = finite_number(preference)
    if number is None:
        reason = "the annotator gave no number"
        return {
            "score": None, "label": str(preference), "status": "scorer_error", "message": reason
        }  # fmt: skip
    if number == _DRAW_OF_OLD_FILES:
        return {"score": 0.5, "label": "0 (draw)", "status": "scored", "message": None}
    if not 1 <= number <= 2:
        raise ValueError(
            f"its preference is {number:g}; it must lie between 1 (baseline) and 2 (model), or be "
            "0 for a draw"
        )
    return {"score": number - 1, "status": "scored", "message": None}


def _output_rows(source: Source, record: str, raw: Row) -> Iterator[Row]:
    for number in (1, 2):
        if f"output_{number}" in raw:
            yield {
                **_key(raw, raw[f"generator_{number}"]),
                "input": raw["instruction"],
                "output": raw[f"output_{number}"],
                "source": f"{source.path.name}: {record}",
            }


FORMAT = Format(
    name="alpaca_eval",
    title="AlpacaEval annotations",
    detect=detect,
    read=read,
    tables=frozenset({"scores", "outputs"}),
)
