"""Results of Ragas: ``EvaluationResult.to_pandas()`` and experiments, as CSV, JSON or Parquet.

What becomes what: a hash of the question (and reference) the example, since rows have no id;
columns of numbers the criteria, and so are columns of the words pass and fail; the column
``experiment_name``, else the file name the system; other short columns attributes.

NaN is what is left of a judge that failed and also of one that could not decide; Ragas leaves it
out of its means, so that a crashing system scores higher. Nothing tells the two apart.
"""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from evaltoolkit.errors import listed
from evaltoolkit.readers import ragas_annotations
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source
from evaltoolkit.readers.flat_records import flat_rows, header
from evaltoolkit.readers.parsing import read_text
from evaltoolkit.readers.ragas_metrics import facts, is_metric
from evaltoolkit.readers.records import (
    SHORT_TEXT,
    as_cell,
    as_json,
    attribute_names,
    attributes,
    digest,
    finite_number,
    shortened,
)
from evaltoolkit.readers.unnamed import content_ids, system_name, trial_numbers

_PARTS = {
    "input": ("user_input", "question", "query"),
    "output": ("response", "answer"),
    "reference": ("reference", "ground_truth", "ground_truths"),
    "contexts": ("retrieved_contexts", "contexts"),
}
_OTHER_INPUTS = frozenset(
    {"reference_contexts", "multi_responses", "rubrics", "rubric", "reference_tool_calls",
     "reference_topics", "persona_name", "query_style", "query_length"}
)  # fmt: skip
# Columns that say something about the row and judge nothing.
_ABOUT_THE_ROW = re.compile(
    r"(?i)(.*_)?(id|ids|index|idx|row|number|name|status|type|error|seed|turn)|unnamed: \d+"
    r"|.*(time|_at|latency|tokens?|cost|length)(_.*)?"
)
_SYSTEM = "experiment_name"
_VERDICTS = {"pass": True, "fail": False}
_TRUTH = {"true": 1.0, "false": 0.0}
_REASON = "_reason"
_LONGEST_LIST = 1_000_000


@dataclass
class _Sample:
    """One row: where it stands, its cells, its key."""

    record: str
    cells: Row
    key: Row = field(default_factory=dict)

    def part(self, name: str) -> Any:  # noqa: ANN401 - any cell
        """Give the question, answer, reference or contexts, by whatever name they have."""
        return next((c for n in _PARTS[name] if (c := _given(self.cells.get(n))) is not None), None)


def detect(source: Source) -> bool:
    """Say whether a file holds results of Ragas, by its columns."""
    if ragas_annotations.detect(source):
        return True
    names = header(source)
    if not names or len(set(names)) < len(names):
        return False
    metrics = [name for name in names if is_metric(name)]
    if len(metrics) == len(names):
        return len(names) > 1
    own = set(names)
    if "user_input" in own and own & {"response", "retrieved_contexts", "reference"}:
        return True
    if {"question", "answer"} <= own and metrics:
        return True
    return {"query", "response"} <= own and _has_verdicts(source)


def _has_verdicts(source: Source) -> bool:
    """Say whether a cell of the first row is the word pass or fail, as experiments write it."""
    reading = Reading(frozenset(), on_error="skip")
    first = next(iter(flat_rows(source, reading)), ("", {}))[1]
    return any(isinstance(cell, str) and cell.lower() in _VERDICTS for cell in first.values())


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read one file; its rows come in one batch, since repeats can stand anywhere."""
    if ragas_annotations.detect(source):
        yield from ragas_annotations.read(source, reading)
        return
    rows = _bare_rows(source, reading) if _is_bare(source) else flat_rows(source, reading)
    samples = [_Sample(record, cells) for record, cells in rows]
    names = list(dict.fromkeys(name for each in samples for name in each.cells))
    criteria, notes = _criteria(samples, names)
    notes += _identify(source, samples, reading)
    yield Batch(
        scores=_score_rows(source, samples, names, criteria),
        outputs=_output_rows(source, samples, names),
        notes=[f"{source.path.name}: {note}" for note in notes],
    )


def _is_bare(source: Source) -> bool:
    """Say whether it is a CSV of metrics and nothing else."""
    return (
        not source.is_parquet and not source.looks_like_json and all(map(is_metric, header(source)))
    )


def _bare_rows(source: Source, reading: Reading) -> Iterator[tuple[str, Row]]:
    """Go through a CSV of bare metrics: there a row of empty cells is an example, all of it NaN."""
    rows = csv.reader(read_text(source.path).splitlines())
    names: list[str] = []
    for number, cells in enumerate(rows, start=1):
        if not names:
            names = cells
        elif cells and len(cells) != len(names):
            error = ValueError(f"{len(cells)} cell(s) where the header has {len(names)}")
            reading.bad_record(source.path, f"line {number}", error)
        elif cells:
            yield f"line {number}", dict(zip(names, cells, strict=True))


def _given(cell: Any) -> Any:  # noqa: ANN401 - any cell
    """Give the cell, or None where it is empty: tables write nothing, NaN or an empty text."""
    return None if cell is None or cell == "" or cell != cell else cell


def _criteria(samples: list[_Sample], names: list[str]) -> tuple[list[str], list[str]]:
    """Find the columns that judge: known metrics, other numbers, the words pass and fail."""
    texts = {name for part in _PARTS.values() for name in part}
    criteria: list[str] = []
    guessed: list[str] = []
    for name in names:
        if name in texts or name in _OTHER_INPUTS:
            continue
        if is_metric(name):
            criteria.append(name)
        elif not _ABOUT_THE_ROW.fullmatch(name) and _judges([each.cells[name] for each in samples]):
            criteria.append(name)
            guessed.append(name)
    kind = "taken as metrics, since they hold numbers or the words pass and fail"
    return criteria, [f"{kind}: {listed(guessed)}"] if guessed else []


def _judges(cells: list[Any]) -> bool:
    """Say whether an unknown column judges: a truth value rather describes the example."""
    given = [cell for cell in map(_given, cells) if cell is not None]
    if any(isinstance(cell, bool) or str(cell).lower() in _TRUTH for cell in given):
        return False
    return bool(given) and all(_number(cell) is not None for cell in given)


def _number(cell: object) -> float | None:
    if isinstance(cell, bool):
        return float(cell)
    if not isinstance(cell, str):
        return finite_number(cell)
    if cell.lower() in _VERDICTS:
        return float(_VERDICTS[cell.lower()])
    if cell.lower() in _TRUTH:
        return _TRUTH[cell.lower()]
    try:
        # Python reads "1_0" as 10, no tool writes that.
        return None if "_" in cell else finite_number(float(cell))
    except ValueError:
        return None


def _identify(source: Source, samples: list[_Sample], reading: Reading) -> list[str]:
    """Give every row its system, example and trial."""
    named = [_given(each.cells.get(_SYSTEM)) for each in samples]
    notes: list[str] = []
    fallback = ""
    if not all(named) or reading.system or not samples:
        fallback, notes = system_name(source.path, reading)
    asked = [each.part("input") for each in samples]
    is_told = any(part is not None for part in asked)
    if is_told:
        hashed = content_ids(
            [(part, each.part("reference")) for part, each in zip(asked, samples, strict=True)]
        )
        notes.append("examples are named by a hash of their input")
    else:
        hashed = [str(number) for number in range(len(samples))]
        notes.append("it has no texts: examples are named by the number of their row")
    for each, name, example in zip(samples, named, hashed, strict=True):
        each.key = {"system": fallback or str(name), "example_id": example}
    trials, more = trial_numbers(tuple(each.key.values()) for each in samples)
    for each, trial in zip(samples, trials, strict=True):
        each.key["trial"] = trial
    return [*notes, *more]


def _score_rows(
    source: Source, samples: list[_Sample], names: list[str], criteria: list[str]
) -> list[Row]:
    texts = {name for part in _PARTS.values() for name in part}
    told = {*texts, *_OTHER_INPUTS, *criteria, _SYSTEM, *(f"{name}{_REASON}" for name in criteria)}
    others = [name for name in names if name not in told]
    free: dict[str, list[Row]] = {}
    for each in samples:
        cells = {name: _given(each.cells[name]) for name in others}
        free.setdefault(each.key["example_id"], []).append(cells)
    described = attribute_names(free)
    known = {name: facts(name) for name in criteria}
    rows: list[Row] = []
    for each in samples:
        asked = each.part("input")
        place = {
            "source": f"{source.path.name}: {each.record}",
            "input_digest": None if asked is None else digest(asked),
            **attributes(each.cells, described, prefix="column"),
        }
        rows += (
            {**each.key, "criterion": name, **_measured(each, name), **known[name], **place}
            for name in criteria
        )
    return rows


def _measured(sample: _Sample, name: str) -> Row:
    """Turn one cell into score, label, verdict, status and message."""
    cell = _given(sample.cells[name])
    told = _given(sample.cells.get(f"{name}{_REASON}"))
    row: Row = {"label": None, "passed": None, "message": shortened(str(told)) if told else None}
    number = _number(cell)
    if isinstance(cell, str) and cell.lower() in _VERDICTS:
        row |= {"label": cell, "passed": _VERDICTS[cell.lower()]}
    if number is not None:
        return {**row, "score": number, "status": "scored"}
    why = "no number: the judge failed or could not decide, the file does not say which"
    label = None if cell is None else shortened(as_cell(cell) or "", limit=SHORT_TEXT)
    return {
        **row, "score": None, "label": label, "status": "unscored", "message": row["message"] or why
    }  # fmt: skip


def _output_rows(source: Source, samples: list[_Sample], names: list[str]) -> list[Row]:
    """Give the texts; a file of bare metrics has none."""
    if not any(name in _PARTS["output"] for name in names):
        return []
    return [
        {
            **each.key,
            "input": as_cell(_listed(each.part("input"))),
            "output": as_cell(_listed(each.part("output"))),
            "reference": as_cell(_listed(each.part("reference"))),
            "retrieved_contexts": _contexts(each.part("contexts")),
            "source": f"{source.path.name}: {each.record}",
        }
        for each in samples
    ]


def _contexts(cell: Any) -> str | None:  # noqa: ANN401 - any cell
    return None if cell is None else as_json(_listed(cell))


def _listed(cell: Any) -> Any:  # noqa: ANN401 - any cell
    """Turn a Python list that CSV holds as text back into the list, if nothing is lost by it."""
    if not isinstance(cell, str) or not cell.startswith("[") or len(cell) > _LONGEST_LIST:
        return cell
    try:
        value = ast.literal_eval(cell)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return cell
    # Python joins texts without a comma between them, as numpy writes them.
    return value if isinstance(value, list) and repr(value) == cell else cell


FORMAT = Format(
    name="ragas",
    title="Ragas results, experiments and annotations",
    detect=detect,
    read=read,
    tables=frozenset({"scores", "outputs", "details"}),
    signs="columns user_input and response (or question, answer and contexts) with metrics",
    quirks=(
        "An empty or NaN cell is `unscored`: the judge failed or could not decide, and the mean "
        "that Ragas reports leaves it out. Examples are named by a hash of question and reference, "
        "in files of bare metrics by the row. Columns of pass and fail give score and verdict. "
        "Noise sensitivity, harmfulness and maliciousness are lower-is-better."
    ),
)
