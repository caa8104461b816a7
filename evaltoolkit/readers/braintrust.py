"""Results of Braintrust: what ``Eval`` returns and log rows of experiments.

What becomes what: the experiment the run; the caller, the experiment's name or the file name the
system, since rows name none; the record of the data set the example, else a hash of the input;
each key of ``scores`` a criterion. Repeats (``trial_count``) are not numbered in the rows.

A scorer that raised has no key in ``scores``: its traceback stands in the metadata. A task that
raised has no scores at all. A null score means that the scorer declined.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source, json_lines
from evaltoolkit.readers.braintrust_logs import Traces, is_log_row
from evaltoolkit.readers.braintrust_values import judged
from evaltoolkit.readers.records import (
    BAD_RECORD,
    as_cell,
    as_json,
    attribute_names,
    attributes,
    digest,
    finite_number,
)
from evaltoolkit.readers.unnamed import (
    Criteria,
    content_ids,
    system_name,
    time_or_none,
    trial_numbers,
)

_RESULT_KEYS = frozenset({"input", "output", "scores", "error"})
_FURTHER_KEYS = frozenset({"classifications", "expected", "origin", "tags"})
_LISTS = ("results", "events", "rows")
_SCORER_ERRORS = "scorer_errors"


@dataclass
class _Result:
    """One answer with its scores, as it is kept until the whole file has been seen."""

    record: str
    raw: Row
    scores: Row
    metadata: Row
    tags: str | None
    lost: dict[str, str]
    error: str | None
    key: Row

    @property
    def item(self) -> str:
        """What tells the example from others."""
        return str(self.key["example_id"])


def detect(source: Source) -> bool:
    """Say whether a file holds results or log rows of Braintrust."""
    first = _first(source)
    return is_log_row(first) or _is_result(first)


def _first(source: Source) -> object:
    if source.is_folder or source.is_zip:
        return None
    if source.is_json_lines:
        return source.first_line
    rows = _rows(source.document)
    return rows[0] if rows else None


def _rows(document: object) -> list[Any]:
    """Find the rows in a document: itself, or the one list of a saved summary or API reply."""
    if isinstance(document, Mapping):
        parts = (document.get(name) for name in _LISTS)
        return next((part for part in parts if isinstance(part, list)), [])
    return document if isinstance(document, list) else []


def _is_result(value: object) -> bool:
    if not isinstance(value, Mapping) or not set(value) >= _RESULT_KEYS:
        return False
    scores = value["scores"]
    if not _FURTHER_KEYS & set(value) or not isinstance(scores, Mapping):
        return False
    return all(score is None or isinstance(score, int | float) for score in scores.values())


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read one file; its rows come in one batch, since repeats can stand anywhere."""
    notes: list[str] = []
    results = [
        each
        for record, raw in _records(source, reading, notes)
        if (each := _checked(source, record, raw, reading)) is not None
    ]
    summary = _summary(source)
    _name(source, results, reading, summary, notes)
    yield Batch(
        scores=_score_rows(source, results, notes),
        outputs=[_output_row(source, each) for each in results],
        details=list(_detail_rows(source, results)) if "details" in reading.want else [],
        aggregates=list(_aggregates(summary, results)),
        notes=[f"{source.path.name}: {note}" for note in notes],
    )
    classes = [each.raw.get("classifications") for each in results]
    classified = sum(len(each) for each in classes if isinstance(each, Mapping))
    if classified:
        reading.unknown(source.path, "classification", classified)


def _records(source: Source, reading: Reading, notes: list[str]) -> Iterator[tuple[str, Any]]:
    if source.is_json_lines:
        rows: Iterator[tuple[str, Any]] = json_lines(source.path, reading)
    else:
        rows = ((f"record {n}", row) for n, row in enumerate(_rows(source.document)))
    if not is_log_row(_first(source)):
        yield from rows
        return
    traces = Traces()
    traces.add(rows)
    for record, error in traces.bad:
        reading.bad_record(source.path, record, error)
    yield from traces.results()
    if traces.inner:
        notes.append(f"{traces.inner} score(s) on spans inside a trace were not read")
    if traces.rootless:
        notes.append(f"{traces.rootless} trace(s) with scores have no root here: not read")


def _checked(source: Source, record: str, raw: Any, reading: Reading) -> _Result | None:  # noqa: ANN401
    try:
        return _result(record, raw)
    except BAD_RECORD as error:
        reading.bad_record(source.path, record, error)
        return None


def _result(record: str, raw: Row) -> _Result:
    scores, metadata = raw.get("scores") or {}, raw.get("metadata") or {}
    if not isinstance(scores, Mapping) or not isinstance(metadata, Mapping):
        raise ValueError("scores and metadata must be objects")  # noqa: TRY004 - one kind of refusal
    raised = {**(raw.get(_SCORER_ERRORS) or {}), **(metadata.get(_SCORER_ERRORS) or {})}
    error = raw.get("error")
    # With an answer, an error beside crashed scorers is theirs.
    is_theirs = bool(raised) and raw.get("output") is not None
    return _Result(
        record=record,
        raw=raw,
        scores=dict(scores),
        metadata={name: part for name, part in metadata.items() if name != _SCORER_ERRORS},
        tags=", ".join(map(str, raw.get("tags") or [])) or None,
        lost={str(name): str(text) for name, text in raised.items() if name not in scores},
        error=None if error is None or is_theirs else as_cell(error) or "an unnamed error",
        key={},
    )


def _summary(source: Source) -> Mapping[str, Any]:
    document = None if source.is_json_lines else source.document
    summary = document.get("summary") if isinstance(document, Mapping) else None
    return summary if isinstance(summary, Mapping) else {}


def _name(
    source: Source,
    results: list[_Result],
    reading: Reading,
    summary: Mapping[str, Any],
    notes: list[str],
) -> None:
    """Give every result its key: run, system, example, trial."""
    experiments = {str(each.raw.get("experiment_id") or "") for each in results}
    told = summary.get("experiment_name") or summary.get("experimentName")
    system, more = system_name(source.path, reading, told=[(told, "the summary")])
    if len(experiments) > 1 and not reading.system:
        more = [f"{len(experiments)} experiments: the id of each names its system"]
    notes += more
    hashed = content_ids([(each.raw.get("input"), each.raw.get("expected")) for each in results])
    for each, content in zip(results, hashed, strict=True):
        run = str(each.raw.get("experiment_id") or "")
        several = len(experiments) > 1 and not reading.system
        each.key = {
            "run_id": run,
            "system": run if several else system,
            "example_id": _example_id(each.raw) or content,
        }
    unnamed = sum(_example_id(each.raw) is None for each in results)
    if unnamed:
        notes.append(f"{unnamed} result(s) have no id: each is named by a hash of its input")
    trials, more = trial_numbers(tuple(each.key.values()) for each in results)
    notes += more
    for each, trial in zip(results, trials, strict=True):
        each.key["trial"] = trial


def _example_id(raw: Row) -> str | None:
    """Name the record of the data set; a test that has no input is known by its name."""
    origin = raw.get("origin")
    found = origin.get("id") if isinstance(origin, Mapping) else None
    found = found or raw.get("dataset_record_id")
    if found is None and raw.get("input") is None:
        found = raw.get("name")
    return str(found) if found else None


def _score_rows(source: Source, results: list[_Result], notes: list[str]) -> list[Row]:
    criteria = Criteria()
    free: dict[str, list[Row]] = {}
    for each in results:
        criteria.add(each.item, [*each.scores, *each.lost])
        free.setdefault(each.item, []).append({**each.metadata, "tags": each.tags})
    described = attribute_names(free)
    values = [finite_number(score) for each in results for score in each.scores.values()]
    within = all(value is None or 0 <= value <= 1 for value in values)
    shared = {"lower_bound": 0.0, "upper_bound": 1.0} if within else {}
    rows: list[Row] = []
    for each in results:
        fields = {**each.metadata, "tags": each.tags}
        place = {
            "source": f"{source.path.name}: {each.record}",
            "timestamp": time_or_none(each.raw.get("created")),
            "input_digest": digest(each.raw.get("input")),
            **attributes(fields, described, prefix="metadata"),
        }
        for name, measured in judged(
            each.scores, criteria.of(each.item), raised=each.lost, error=each.error
        ).items():
            rows.append({**each.key, "criterion": name, **measured, **shared, **place})
    crashed = sum(each.error is not None for each in results)
    if not rows:
        notes.append(f"{len(results)} result(s), {crashed} of them crashed, and no score is named")
    return rows


def _output_row(source: Source, result: _Result) -> Row:
    raw = result.raw
    return {
        **result.key,
        "input": as_cell(raw.get("input")),
        "output": as_cell(raw.get("output")),
        "reference": as_cell(raw.get("expected")),
        "error": result.error,
        **(raw.get("used") or {}),
        "timestamp": time_or_none(raw.get("created")),
        "source": f"{source.path.name}: {result.record}",
    }


def _detail_rows(source: Source, results: list[_Result]) -> Iterator[Row]:
    for each in results:
        told = {name: {"error": text} for name, text in each.lost.items()}
        for name, part in {**(each.raw.get("explained") or {}), **told}.items():
            if part:
                place = f"{source.path.name}: {each.record}"
                yield {**each.key, "criterion": name, "details": as_json(part), "source": place}


def _aggregates(summary: Mapping[str, Any], results: list[_Result]) -> Iterator[Row]:
    key = {name: results[0].key[name] for name in ("run_id", "system")} if results else {}
    for name, entry in (summary.get("scores") or {}).items():
        value = entry.get("score") if isinstance(entry, Mapping) else entry
        yield {**key, "task": "", "criterion": name, "metric": "mean", "value": value}


FORMAT = Format(
    name="braintrust",
    title="Braintrust results of Eval and log rows of experiments",
    detect=detect,
    read=read,
    tables=frozenset({"scores", "outputs", "details", "report"}),
    signs="rows with scores by name and an origin, tags or reference; or spans with a root_span_id",
    quirks=(
        "A scorer that raised is absent from `scores` (its traceback is in the metadata) and "
        "becomes `scorer_error`; a task that raised is `system_error` in every criterion; null is "
        "`unscored`. Rows with `_is_merge` are merged by id and only roots of traces are read. "
        "Trials are numbered and examples named by a hash of the input where there is no data set."
    ),
)
