"""Samples and results of lm-evaluation-harness (the ``lm_eval`` package).

What becomes what: the model in the results file the system, the task in the file name the task,
``doc_id`` the example, each metric a criterion. Where a file has several filters a criterion is
named as in lm-eval's own results, ``metric,filter``; there is one line for each filter, and such
lines are no duplicates. Repeated answers (``repeats``) are judged as one and stay one trial.

A metric that is only defined over all documents (a corpus score) is logged as a list for each
document. It has no score here and keeps its list as label. Results files are read for the report.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evaltoolkit.errors import listed, warn
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source, json_lines
from evaltoolkit.readers.lm_eval_layouts import answers_per_request, modern, points_up
from evaltoolkit.readers.lm_eval_results import (
    Results,
    criterion,
    find_results,
    is_results,
    time_stamp,
    without_time_stamp,
)
from evaltoolkit.readers.records import (
    BAD_RECORD,
    SHORT_TEXT,
    as_cell,
    as_json,
    attribute_names,
    attributes,
    finite_number,
    non_finite_name,
    shortened,
)

_SAMPLES_START = re.compile(rb'\s*\[?\s*\{\s*"doc_id"\s*:')
_RECORD_KEYS = frozenset(
    {
        "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
        "doc_hash", "prompt_hash", "target_hash",
    }
)  # fmt: skip
# Fields of a document that describe it. Others are its text, its answers or free-form.
_ATTRIBUTES = frozenset(
    {
        "category", "difficulty", "domain", "field", "genre", "grade", "lang", "language", "level",
        "skill", "solution_type", "source", "split", "subcategory", "subject", "subset", "subtask",
        "topic", "type",
    }
)  # fmt: skip
_BATCH = 500


@dataclass(frozen=True)
class _Line:
    """What the score table needs of one line, kept until the whole file has been seen."""

    record: str
    example_id: str
    filter: str | None
    block: int
    digest: str | None
    values: Row
    doc: Row


@dataclass
class _File:
    """One samples file: what it is about, and what was noticed on the way."""

    source: Source
    system: str
    task: str
    results: Results | None
    notes: list[str] = field(default_factory=list)
    lines: list[_Line] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    repeats: Counter[int] = field(default_factory=Counter)

    @property
    def key(self) -> Row:
        """The key columns that all rows of the file share."""
        inside = self.results.run_id if self.results else ""
        run_id = time_stamp(self.source.path) or inside
        return {"run_id": run_id, "system": self.system, "task": self.task}


def detect(source: Source) -> bool:
    """Say whether a file holds samples or results of lm-eval."""
    return _is_samples(source) or is_results(source)


def _is_samples(source: Source) -> bool:
    begins = _SAMPLES_START.match(source.head) is not None
    return begins or (b'"doc_id"' in source.head and b'resps"' in source.head)


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read samples (their scores come in the last batch) or results (for the report)."""
    if not _is_samples(source):
        results = Results(source.path, source.document)
        yield Batch(aggregates=list(results.aggregates()))
        return
    file = _opened(source, reading)
    outputs: list[Row] = []
    for record, written in _records(source, reading):
        try:
            raw = modern(written)
            line = _line(file, record, raw)
        except BAD_RECORD as error:
            reading.bad_record(source.path, record, error)
            continue
        file.lines.append(line)
        if "outputs" in reading.want and file.seen[line.example_id] == 1:
            outputs.append(_output_row(file, line, raw))
        if len(file.lines) % _BATCH == 0:
            yield Batch(outputs=outputs)
            outputs = []
    names = _filter_names(file)
    yield Batch(
        scores=list(_score_rows(file, names)),
        outputs=outputs,
        details=list(_detail_rows(file, names)) if "details" in reading.want else [],
        notes=[f"{source.path.name}: {note}" for note in (*file.notes, *_notes(file))],
    )


def _opened(source: Source, reading: Reading) -> _File:
    stem = without_time_stamp(source.path.name).partition(".json")[0]
    named = stem.removeprefix("samples_").removesuffix("_write_out_info")
    results = find_results(source.path, named)
    file = _File(source, "", named, results)
    if results and named not in results.tasks and len(results.single_tasks) == 1:
        file.task = results.single_tasks[0]
        file.notes.append(f"task {file.task!r} taken from {results.path.name}")
    file.system = _system(file, reading)
    return file


def _system(file: _File, reading: Reading) -> str:
    if reading.system:
        return reading.system
    if file.results and file.results.system:
        file.notes.append(f"system {file.results.system!r} taken from {file.results.path.name}")
        return file.results.system
    folder = file.source.path.resolve().parent.name
    system = folder.replace("__", "/")
    text = (
        f"system {system!r} taken from the folder name: no results file of the same run beside the "
        "samples names the model (system= names it)"
    )
    file.notes.append(text)
    if system == folder:
        # The harness itself names folders org__model; any other name is somebody's own.
        warn(f"{file.source.path}: {text}")
    return system


def _records(source: Source, reading: Reading) -> Iterator[tuple[str, Row]]:
    """Go through JSON lines, or through the JSON array of 2024."""
    if not source.head.lstrip().startswith(b"["):
        yield from json_lines(source.path, reading)
        return
    for number, record in enumerate(source.document):
        yield f"record {number}", record


def _line(file: _File, record: str, raw: Row) -> _Line:
    if raw.get("doc_id") is None:
        raise ValueError("it has no doc_id")
    example, name = str(raw["doc_id"]), raw.get("filter")
    # Lines of several filters that are not named: the second line of a document is of the second.
    block = file.seen[example] if name is None else 0
    file.seen[example] += 1
    if file.seen[example] == 1:
        config = file.results.config(file.task) if file.results else {}
        file.repeats[answers_per_request(raw, config)] += 1
    metrics = _metrics(file, raw)
    file.unknown.update(key for key in raw if key not in _RECORD_KEYS and key not in metrics)
    doc = raw.get("doc")
    hashed = raw.get("doc_hash")
    return _Line(
        record=record,
        example_id=example,
        filter=None if name is None else str(name),
        block=block,
        digest=str(hashed)[:12] if hashed else None,
        values={metric: raw.get(metric) for metric in metrics},
        doc={key: doc[key] for key in doc if key.lower() in _ATTRIBUTES}
        if isinstance(doc, Mapping)
        else {},
    )


def _metrics(file: _File, raw: Row) -> list[str]:
    """Name the metrics of a line; lines before 2025 do not list them."""
    listed_ones = raw.get("metrics")
    if isinstance(listed_ones, list):
        return [str(name) for name in listed_ones]
    reported = file.results.metrics(file.task) if file.results else []
    found = [name for name in reported if name in raw]
    return found or [
        key
        for key, value in raw.items()
        if key not in _RECORD_KEYS and isinstance(value, bool | int | float | list)
    ]


def _filter_names(file: _File) -> list[str]:
    """Name the filters of the file, those of blocks without a name in their order."""
    named = list(dict.fromkeys(line.filter for line in file.lines if line.filter is not None))
    blocks = 1 + max((line.block for line in file.lines), default=0)
    if named or blocks == 1:
        return named
    reported = file.results.filters(file.task) if file.results else []
    if len(reported) == blocks:
        return reported
    if len(reported) == 1:
        # One filter and repeated documents: real duplicates, which must not get new names.
        return []
    file.notes.append(
        f"each document occurs {blocks} times and no filter is named: the blocks are called "
        f"filter-1 to filter-{blocks}, in the order of the file"
    )
    return [f"filter-{number}" for number in range(1, blocks + 1)]


def _criterion(line: _Line, metric: str, names: list[str]) -> str:
    several = len(names) > 1
    name = names[line.block] if several and line.filter is None else line.filter
    return criterion(metric, name or "", several=several)


def _score_rows(file: _File, names: list[str]) -> Iterator[Row]:
    docs: dict[str, list[Row]] = {}
    for line in file.lines:
        docs.setdefault(line.example_id, []).append(line.doc)
    described = attribute_names(docs)
    shared = {**file.key, "trial": 0, "timestamp": file.results.date if file.results else None}
    points = _directions(file)
    for line in file.lines:
        place = {
            "example_id": line.example_id,
            "source": f"{file.source.path.name}: {line.record}",
            "input_digest": line.digest,
            **attributes(line.doc, described, prefix="doc"),
        }
        for metric, value in line.values.items():
            judged = {"criterion": _criterion(line, metric, names), **_measured(value)}
            yield {**shared, **place, **judged, "higher_is_better": points[metric]}


def _directions(file: _File) -> dict[str, bool | None]:
    """Say which way each metric points, as far as the results file tells."""
    metrics = dict.fromkeys(metric for line in file.lines for metric in line.values)
    results = file.results
    return {
        metric: results.higher_is_better(file.task, metric) if results else points_up(metric)
        for metric in metrics
    }


def _measured(value: object) -> Row:
    """Turn one metric value into score, label, status and reason."""
    if isinstance(value, bool):
        value = int(value)
    number = finite_number(value)
    if number is not None:
        return {"score": number, "label": None, "status": "scored", "message": None}
    if value is None:
        label, reason = None, "the harness gave no value"
    elif isinstance(value, float):
        label = non_finite_name(value)
        reason = f"the harness gave {label}, which is no score"
    elif isinstance(value, list):
        label = shortened(as_json(value), limit=SHORT_TEXT)
        reason = "a corpus metric: it is defined over all documents and has no score for one"
    else:
        label = shortened(str(as_cell(value)), limit=SHORT_TEXT)
        reason = "the harness gave no number"
    return {"score": None, "label": label, "status": "unscored", "message": reason}


def _detail_rows(file: _File, names: list[str]) -> Iterator[Row]:
    """Keep the lists of corpus metrics whole, since their labels are cut."""
    for line in file.lines:
        for metric, value in line.values.items():
            if isinstance(value, list):
                yield {
                    **file.key,
                    "example_id": line.example_id,
                    "criterion": _criterion(line, metric, names),
                    "details": as_json({"value": value}),
                    "source": f"{file.source.path.name}: {line.record}",
                }


def _output_row(file: _File, line: _Line, raw: Row) -> Row:
    return {
        **file.key,
        "example_id": line.example_id,
        "input": _prompt(raw.get("arguments")),
        "output": _answer(raw.get("resps")),
        "reference": as_cell(raw.get("target")),
        "source": f"{file.source.path.name}: {line.record}",
    }


def _prompt(arguments: Any) -> str | None:  # noqa: ANN401 - any JSON value
    """Take the prompt of the first request: a choice is asked as one request for each option."""
    requests = list(arguments.values()) if isinstance(arguments, Mapping) else arguments or []
    first = requests[0] if requests else None
    parts = list(first.values()) if isinstance(first, Mapping) else first
    prompt = parts[0] if isinstance(parts, list) and parts else parts
    # Chat prompts stand in a list of their own.
    return as_cell(prompt[0] if isinstance(prompt, list) and len(prompt) == 1 else prompt)


def _answer(responses: Any) -> str | None:  # noqa: ANN401 - any JSON value
    """Take the one answer as text; several (repeats, options) as JSON."""
    while isinstance(responses, list) and len(responses) == 1:
        responses = responses[0]
    return as_cell(responses)


def _notes(file: _File) -> Iterator[str]:
    if file.unknown:
        fields = listed(f"{name} ({count}×)" for name, count in file.unknown.items())
        yield f"field(s) that are not among the metrics of the file were not read: {fields}"
    repeated = {times: count for times, count in sorted(file.repeats.items()) if times > 1}
    if repeated:
        counts = listed(f"{times} answers ({count}×)" for times, count in repeated.items())
        yield (
            f"each document was answered several times (repeats: {counts}); the harness judges "
            "them as one, so there is one score and one trial for each, and no spread"
        )
    lists = Counter(
        metric
        for line in file.lines
        for metric, value in line.values.items()
        if isinstance(value, list)
    )
    if lists:
        yield (
            f"corpus metric(s) without a score for each document stay unscored: "
            f"{listed(f'{name} ({count}×)' for name, count in lists.items())}"
        )


FORMAT = Format(
    name="lm_eval",
    title="lm-evaluation-harness samples and results",
    detect=detect,
    read=read,
    tables=frozenset({"scores", "outputs", "details", "report"}),
    companions=is_results,
    remedy="run the harness with --log_samples and read the samples_*.jsonl that it adds",
    signs="JSON lines or a list with doc_id and resps; results with config and versions",
    quirks=(
        "Samples name no model: it comes from the results file of the same time beside them, else "
        "from the folder, and a note says so. One line for each filter; a list is a corpus metric "
        "without a score for one document; NaN and Infinity are labels; repeated answers are one "
        "trial. Results alone are for the report."
    ),
)
