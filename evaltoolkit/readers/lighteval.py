"""Results of lighteval: details (Parquet, one row for each example) and ``results_*.json``.

A details file holds ``doc``, ``metric`` and ``model_response`` (before 2025: flat columns with
``metrics`` and ``predictions``). It does not name the model, which is in the results file of the
same time; lighteval keeps both in trees of the same shape, ``details/<model>/<time>/`` and
``results/<model>/``. Metrics that are only defined over all documents keep what they are computed
from as label and have no score here. Results files are read for the report.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaltoolkit.errors import ReadError, listed
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source
from evaltoolkit.readers.flat_records import flat_rows, header
from evaltoolkit.readers.lighteval_results import Results, is_results, mapping_of
from evaltoolkit.readers.records import (
    BAD_RECORD,
    SHORT_TEXT,
    as_cell,
    as_json,
    digest,
    finite_number,
    non_finite_name,
    shortened,
)
from evaltoolkit.readers.unnamed import system_name, trial_numbers

_NESTED = frozenset({"doc", "metric", "model_response"})
_FLAT = frozenset({"full_prompt", "metrics", "predictions"})
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d[-:]\d\d[-:]\d\d(?:\.\d+)?")
_LONGEST_LITERAL = 1_000_000


@dataclass
class _File:
    """One details file: what it is about, and what was noticed on the way."""

    source: Source
    system: str
    task: str
    run_id: str
    results: Results | None
    notes: list[str] = field(default_factory=list)
    lists: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Example:
    """One row, in either layout."""

    record: str
    example_id: str
    task: str
    metrics: Mapping[str, Any]
    output: Row


def detect(source: Source) -> bool:
    """Say whether a file holds details or results of lighteval."""
    return _is_details(source) or is_results(source)


def _is_details(source: Source) -> bool:
    if not source.is_parquet:
        return False
    names = set(header(source))
    return names >= _NESTED or names >= _FLAT


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read details (in one batch, since repeats can stand anywhere) or results."""
    if not _is_details(source):
        yield Batch(aggregates=list(Results(source.path, mapping_of(source.document)).aggregates()))
        return
    file = _opened(source, reading)
    examples = list(_examples(file, reading))
    trials, more = trial_numbers((each.task, each.example_id) for each in examples)
    file.notes.extend(f"{note} in the order of the file" for note in more)
    scores: list[Row] = []
    outputs: list[Row] = []
    details: list[Row] = []
    for each, trial in zip(examples, trials, strict=True):
        key = {
            "run_id": file.run_id,
            "system": file.system,
            "task": each.task,
            "example_id": each.example_id,
            "trial": trial,
            "source": f"{source.path.name}: {each.record}",
        }
        asked = digest(each.output.get("input"))
        for row, value in _measurements(file, each):
            scores.append({**key, **row, "input_digest": asked})
            if isinstance(value, list | dict):
                judged = {"criterion": row["criterion"], "details": as_json({"value": value})}
                details.append({**key, **judged})
        outputs.append({**key, **each.output})
    if file.lists:
        named = listed(f"{name} ({count}×)" for name, count in file.lists.items())
        file.notes.append(f"metric(s) without a score for each document stay unscored: {named}")
    notes = [f"{source.path.name}: {note}" for note in file.notes]
    yield Batch(scores=scores, outputs=outputs, details=details, notes=notes)


def _opened(source: Source, reading: Reading) -> _File:
    path = source.path
    found = _STAMP.findall(path.name) or _STAMP.findall(path.resolve().parent.name)
    stamp = found[-1] if found else ""
    model = _model_folders(path)
    results = _find_results(path, stamp, model)
    told = [
        (results.system if results else None, results.path.name if results else ""),
        ("/".join(model), "the names of the folders"),
    ]
    system, notes = system_name(path, reading, told=told)
    stem = path.stem.removeprefix("details_")
    task = (stem.removesuffix(stamp) if stamp else stem).rstrip("_")
    return _File(source, system, task, stamp, results, notes)


def _model_folders(path: Path) -> list[str]:
    """Take the folders between ``details`` and the time, which spell the model."""
    parts = path.resolve().parent.parts
    if "details" not in parts:
        return []
    start = len(parts) - parts[::-1].index("details")
    return [part for part in parts[start:] if not _STAMP.fullmatch(part)]


def _find_results(path: Path, stamp: str, model: list[str]) -> Results | None:
    """Find the results file of the same time, in its own tree or beside the details."""
    if not stamp:
        return None
    name = f"results_{stamp}.json"
    folder = path.resolve().parent
    places = [folder / name, folder.parent / name]
    tree = next((each for each in folder.parents if each.name == "details"), None)
    if tree is not None:
        places.insert(0, tree.parent.joinpath("results", *model, name))
    for place in places:
        if place.is_file():
            other = Source(place)
            try:
                if is_results(other):
                    return Results(place, mapping_of(other.document))
            except ReadError:
                # A broken neighbour has its own message when it is read itself.
                continue
    return None


def _examples(file: _File, reading: Reading) -> Iterator[_Example]:
    for record, raw in flat_rows(file.source, reading):
        try:
            yield _nested(file, record, raw) if raw.keys() >= _NESTED else _flat(file, record, raw)
        except BAD_RECORD as error:
            reading.bad_record(file.source.path, record, error)


def _nested(file: _File, record: str, raw: Row) -> _Example:
    doc, answer = _object(raw, "doc"), _object(raw, "model_response")
    return _Example(
        record=record,
        example_id=_identity(doc.get("id"), doc.get("query")),
        task=str(doc.get("task_name") or file.task),
        metrics=_object(raw, "metric"),
        output={
            "input": as_cell(answer.get("input") or doc.get("query")),
            "output": _answer(answer.get("text"), answer.get("logprobs")),
            "reference": _chosen(doc.get("choices"), doc.get("gold_index")),
            "tokens_in": _count(answer.get("input_tokens")),
            "tokens_out": _count(answer.get("output_tokens")),
        },
    )


def _flat(file: _File, record: str, raw: Row) -> _Example:
    prompt = raw.get("full_prompt")
    return _Example(
        record=record,
        example_id=_identity(None, raw.get("example") or prompt),
        task=file.task,
        metrics=_object(raw, "metrics"),
        output={
            "input": as_cell(prompt),
            "output": _answer(_literal(raw.get("predictions")), None),
            "reference": as_cell(_single(_literal(raw.get("gold")))),
            "tokens_in": _count(raw.get("input_tokens")),
            "tokens_out": None,
        },
    )


def _identity(named: object, asked: object) -> str:
    """Name an example; a document without an id is named by what it asks."""
    if named not in (None, ""):
        return str(named)
    if asked in (None, ""):
        raise ValueError("it has neither an id nor a question")
    return digest(asked)


def _object(raw: Row, name: str) -> Mapping[str, Any]:
    value = _literal(raw[name])
    if not isinstance(value, Mapping):
        raise TypeError(f"its {name} is of type {type(value).__name__}, not an object")
    return value


def _literal(cell: object) -> Any:  # noqa: ANN401 - any literal
    """Read what lighteval wrote as Python text because its fields did not fit one another."""
    if not isinstance(cell, str) or cell[:1] not in "[{" or len(cell) > _LONGEST_LITERAL:
        return cell
    try:
        return ast.literal_eval(cell)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return cell


def _measurements(file: _File, example: _Example) -> Iterator[tuple[Row, object]]:
    for name, value in example.metrics.items():
        if isinstance(value, list | dict):
            file.lists[name] = file.lists.get(name, 0) + 1
        better = file.results.higher_is_better(example.task, name) if file.results else None
        yield {"criterion": name, "higher_is_better": better, **_measured(value)}, value


def _measured(value: object) -> Row:
    """Turn one metric value into score, label, status and message."""
    number = finite_number(int(value) if isinstance(value, bool) else value)
    if number is not None:
        return {"score": number, "label": None, "status": "scored", "message": None}
    if value is None:
        label, reason = None, "lighteval gave no value"
    elif isinstance(value, float):
        label = non_finite_name(value)
        reason = f"lighteval gave {label}, which is no score"
    elif isinstance(value, list | dict):
        label = shortened(as_json(value), limit=SHORT_TEXT)
        reason = "a corpus metric: it is defined over all documents and has no score for one"
    else:
        label = shortened(str(value), limit=SHORT_TEXT)
        reason = "lighteval gave no number"
    return {"score": None, "label": label, "status": "unscored", "message": reason}


def _answer(texts: object, chances: object) -> str | None:
    """Take the one answer as text, several as JSON; of choices, their log probabilities."""
    if isinstance(texts, list) and texts:
        return as_cell(_single(texts))
    if isinstance(chances, list) and chances:
        return as_json({"logprobs": chances})
    return as_cell(texts) if texts else None


def _chosen(choices: object, gold: object) -> str | None:
    """Take the right choices as text; one as it is, several as JSON."""
    places = gold if isinstance(gold, list) else [gold]
    if not isinstance(choices, list):
        return None
    right = [choices[n] for n in places if isinstance(n, int) and 0 <= n < len(choices)]
    return as_cell(_single(right) if right else None)


def _single(values: Any) -> Any:  # noqa: ANN401 - any JSON value
    return values[0] if isinstance(values, list) and len(values) == 1 else values


def _count(tokens: object) -> float | None:
    """Count tokens; lists of lists are the tokens of several answers."""
    if not isinstance(tokens, list) or not tokens:
        return None
    inner = [each for each in tokens if isinstance(each, list)]
    return float(sum(map(len, inner)) if inner else len(tokens))


FORMAT = Format(
    name="lighteval",
    title="lighteval details and results",
    detect=detect,
    read=read,
    tables=frozenset({"scores", "outputs", "details", "report"}),
    companions=is_results,
    signs="Parquet with doc, metric and model_response; JSON with config_general and results",
    quirks=(
        "The model of a details file is taken from the results file of the same time, else from "
        "the folders. Task names keep their number of examples in the prompt (`anli:r1|0`). A "
        "document without an id is named by a hash of its question. Corpus metrics are `unscored` "
        "for each document."
    ),
)
