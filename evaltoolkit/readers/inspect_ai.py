"""Logs of Inspect (the ``inspect_ai`` package): ``.eval`` archives and ``.json`` documents.

What becomes what: ``eval.eval_id`` the run, ``eval.model`` the system, ``eval.task`` the task
(as written, with the prefix of its package: two packages may have tasks of one name),
``samples[].id`` the example, ``epoch`` − 1 the trial, the key of ``samples[].scores`` the
criterion (``name.key`` where the value is an object). Explanations, answers and score metadata go
to the details, since they can be whole transcripts.

An errored sample has no verdict: it becomes one ``system_error`` row for each criterion of the
log. Samples that never ran are counted in a note and not invented. The log's own aggregates are
only given by the report: a shortened log keeps those of the full run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evaltoolkit.errors import listed, warn
from evaltoolkit.readers.archives import Archive
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source
from evaltoolkit.readers.inspect_logs import Log, Record, archived_log, document_log, is_log
from evaltoolkit.readers.inspect_outputs import input_digest, output_row
from evaltoolkit.readers.inspect_values import Judged, Measured
from evaltoolkit.readers.records import (
    BAD_RECORD,
    as_json,
    attribute_names,
    attributes,
    finite_number,
    is_short_scalar,
    shortened,
)

_BATCH = 200
_LONG = object()  # stands for metadata that is no attribute, so that its text can be let go


@dataclass
class _Sample:
    """What the score table needs of one sample, kept until the whole log has been seen."""

    key: Row
    place: Row
    judged: list[Judged]
    error: str | None
    limit: str | None
    metadata: Row


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read one log: outputs and details in portions, its scores in the last batch."""
    if not source.is_zip:
        yield from _batches(document_log(source), reading)
        return
    with Archive(source.path) as archive:
        yield from _batches(archived_log(archive, reading), reading)


def _batches(log: Log, reading: Reading) -> Iterator[Batch]:
    kept: list[_Sample] = []
    outputs: list[Row] = []
    details: list[Row] = []
    for record in log.records:
        try:
            sample = _slim(log, record)
            texts = _texts(sample, record.sample, reading)
        except BAD_RECORD as error:
            reading.bad_record(log.path, record.name, error)
            continue
        kept.append(sample)
        outputs += texts[0]
        details += texts[1]
        if len(kept) % _BATCH == 0:
            yield Batch(outputs=outputs, details=details)
            outputs, details = [], []
    kept = kept or _reduced(log)
    scored = "scores" in reading.want
    if scored:
        _warn_of_words(log, kept)
    yield Batch(
        scores=_score_rows(log, kept) if scored else [],
        outputs=outputs,
        details=details,
        aggregates=list(_aggregates(log)) if "report" in reading.want else [],
        notes=[f"{log.path.name}: {note}" for note in (*_notes(log, kept), *log.notes)],
    )


def _slim(log: Log, record: Record) -> _Sample:
    sample = record.sample
    if not isinstance(sample, Mapping) or sample.get("id") is None:
        raise ValueError("it is no sample with an id")
    key = {
        **log.run,
        "example_id": str(sample["id"]),
        "trial": int(sample.get("epoch", 1)) - 1,
    }
    scores = sample.get("scores") or {}
    if not scores and isinstance(sample.get("score"), Mapping):
        scores = {log.scorers.first: sample["score"]}  # the only one, in logs of early 2024
    log.seen.update(scores)
    judged = list(log.scorers.judged(scores))
    if sample.get("invalidation"):
        judged = [_withdrawn(each, sample["invalidation"]) for each in judged]
    return _Sample(
        key=key,
        place={
            "source": f"{log.path.name}: {record.name}",
            "timestamp": sample.get("completed_at") or log.evaluation.get("created"),
            "input_digest": None if record.is_summary else input_digest(sample),
        },
        judged=judged,
        error=_error_text(sample.get("error")),
        limit=_limit_text(sample.get("limit")),
        metadata={
            name: value if value is None or is_short_scalar(value) else _LONG
            for name, value in (sample.get("metadata") or {}).items()
        },
    )


def _withdrawn(judged: Judged, invalidation: object) -> Judged:
    """Take back the verdict on a sample that somebody has marked as invalid since."""
    reason = invalidation.get("reason") if isinstance(invalidation, Mapping) else None
    return judged._replace(measured=_lost(judged.measured, f"invalidated: {reason or 'no reason'}"))


def _error_text(error: object) -> str | None:
    if isinstance(error, Mapping):
        error = error.get("message") or "an error without a message"
    return str(error) if error else None


def _limit_text(limit: object) -> str | None:
    if not isinstance(limit, Mapping):
        return f"{limit} limit" if limit else None
    size = finite_number(limit.get("limit"))
    return f"{limit.get('type')} limit" + ("" if size is None else f" of {size:g}")


def _texts(
    sample: _Sample, raw: Mapping[str, Any], reading: Reading
) -> tuple[list[Row], list[Row]]:
    """Give the rows of the outputs and the details table, as far as they are wanted."""
    outputs: list[Row] = []
    if "outputs" in reading.want:
        texts = output_row(raw, system=sample.key["system"])
        if sample.limit:
            texts["finish_reason"] = sample.limit
        place = {name: sample.place[name] for name in ("source", "timestamp")}
        outputs.append({**sample.key, **texts, "error": sample.error, **place})
    return outputs, list(_detail_rows(sample, raw)) if "details" in reading.want else []


def _detail_rows(sample: _Sample, raw: Mapping[str, Any]) -> Iterator[Row]:
    retries = len(raw.get("error_retries") or []) or raw.get("retries") or None
    scores = raw.get("scores") or {}
    for judged in sample.judged:
        score = scores.get(judged.criterion, scores.get(judged.criterion.partition(".")[0]))
        told = score if isinstance(score, Mapping) else {}
        parts = {name: told.get(name) for name in ("answer", "explanation", "metadata")}
        parts["error_retries"] = retries
        given = {name: part for name, part in parts.items() if part not in (None, {}, "")}
        if given:
            key = {"criterion": judged.criterion, "scorer": judged.scorer}
            yield {**sample.key, **key, "details": as_json(given), "source": sample.place["source"]}


def _reduced(log: Log) -> list[_Sample]:
    """Take the means over epochs, where the log keeps nothing else about its samples."""
    reductions = log.header.get("reductions") or []
    log.reduced = bool(reductions)
    several = Counter(entry["scorer"] for entry in reductions)
    found = [
        _slim(log, _as_record(each, entry, number=number, named=several[entry["scorer"]] > 1))
        for number, entry in enumerate(reductions)
        for each in entry.get("samples") or []
    ]
    instead = (
        f"{len(found)} scores were taken from its reductions, one mean over all epochs for each "
        "example"
    )
    log.notes.append(f"the log holds no samples: {instead if found else 'only totals are left'}")
    return found


def _as_record(reduced: Row, entry: Row, *, number: int, named: bool) -> Record:
    criterion = f"{entry['scorer']}[{entry.get('reducer')}]" if named else entry["scorer"]
    sample = {"id": reduced.get("sample_id"), "scores": {criterion: reduced}}
    return Record(f"reductions[{number}]", sample, is_summary=True)


def _score_rows(log: Log, samples: list[_Sample]) -> list[Row]:
    if _never_scored(log, samples):
        log.notes.append(
            f"{len(samples)} sample(s), none of them scored (scoring was off, or the task has no "
            "scorer): score the log with Inspect first"
        )
        return []
    names = attribute_names(_by_example(samples))
    clusters = log.scorers.cluster
    criteria = _criteria(log, samples)
    rows: list[Row] = []
    for sample in samples:
        extra = attributes(sample.metadata, names, prefix="metadata")
        if clusters is not None:
            value = sample.metadata.get(clusters)
            extra["cluster"] = str(value) if value not in (None, _LONG) else None
        for row in _sample_rows(sample, criteria):
            rows.append({**sample.key, **row, **sample.place, **extra})
    return rows


def _never_scored(log: Log, samples: list[_Sample]) -> bool:
    """Whether the run ended well without a single verdict."""
    ended_well = log.header.get("status") == "success" and not log.scorers.reported
    return bool(samples) and ended_well and not any(s.judged or s.error for s in samples)


def _by_example(samples: list[_Sample]) -> dict[str, list[Row]]:
    grouped: dict[str, list[Row]] = {}
    for sample in samples:
        grouped.setdefault(sample.key["example_id"], []).append(sample.metadata)
    return grouped


def _criteria(log: Log, samples: list[_Sample]) -> list[tuple[str, str]]:
    """Name what a sample without scores was to be judged by: criteria and scorers."""
    seen = dict.fromkeys((j.criterion, j.scorer) for s in samples for j in s.judged)
    return list(seen) or [(name, log.scorers.title(name)) for name in log.scorers.declared]


def _sample_rows(sample: _Sample, criteria: list[tuple[str, str]]) -> Iterator[Row]:
    given = {(judged.criterion, judged.scorer): judged.measured for judged in sample.judged}
    if sample.error is not None:
        for criterion, scorer in criteria:
            measured = given.get((criterion, scorer), Measured(None))
            yield _row(criterion, scorer, _lost(measured, sample.error), "system_error")
    elif not given:
        cut_off = sample.limit is not None
        reason = f"stopped at its {sample.limit} and not scored" if cut_off else "not scored"
        for criterion, scorer in criteria:
            lost = Measured(None, message=reason)
            yield _row(criterion, scorer, lost, "system_error" if cut_off else "unscored")
    else:
        stopped = f"stopped at its {sample.limit}" if sample.limit else None
        for (criterion, scorer), measured in given.items():
            told = measured._replace(message=measured.message or stopped)
            yield _row(criterion, scorer, told, "unscored" if told.score is None else "scored")


def _lost(measured: Measured, error: str) -> Measured:
    """Keep what a tool wrote beside an error as label: it is no score."""
    label = measured.label
    if label is None and measured.score is not None:
        label = f"{measured.score:g}"
    return Measured(None, label, shortened(error))


def _row(criterion: str, scorer: str, measured: Measured, status: str) -> Row:
    return {
        "criterion": criterion,
        "scorer": scorer,
        "score": measured.score,
        "label": measured.label,
        "status": status,
        "message": measured.message,
    }


def _aggregates(log: Log) -> Iterator[Row]:
    """Give the metrics that the log itself reports."""
    entries = [(log.scorers.criterion_of(entry, log.seen), entry) for entry in log.scorers.reported]
    repeated = Counter(criterion for criterion, _ in entries)
    for criterion, entry in entries:
        metrics = entry.get("metrics") or {}
        values = {
            name: metric.get("value") if isinstance(metric, Mapping) else metric
            for name, metric in metrics.items()
        }
        error = values.pop("stderr", None)
        reducer = f"{entry.get('reducer')}/" if repeated[criterion] > 1 else ""
        for name, value in values.items():
            yield {
                **log.run,
                "criterion": criterion,
                "metric": f"{reducer}{name}",
                "value": value,
                # Inspect's stderr is that of the mean; other metrics have none.
                "stderr": error if name in ("accuracy", "mean") else None,
                "n": entry.get("scored_samples"),
            }


def _notes(log: Log, samples: list[_Sample]) -> Iterator[str]:
    if not log.evaluation.get("eval_id"):
        yield f"the log has no eval_id (before 2025): its run_id is {log.run['run_id']!r}"
    status = log.header.get("status")
    if status not in ("success", None):
        yield f"the run did not end well (status {status!r}); what it holds was read"
    absent = 0 if log.reduced else _never_ran(log, samples)
    if absent:
        yield f"{absent} sample(s) of the run's plan are not in the log: they never ran or ended"
    if log.scorers.cluster:
        yield (
            f"cluster is taken from the metadata field {log.scorers.cluster!r}, by which the "
            "task's own standard error is clustered"
        )


def _warn_of_words(log: Log, samples: list[_Sample]) -> None:
    """Say loudly which verdicts were not understood: Inspect itself counts them as 0."""
    unknown = Counter(
        f"{judged.criterion}: {judged.measured.label}"
        for sample in samples
        for judged in sample.judged
        if judged.measured.unknown
    )
    if unknown:
        warn(
            f"{log.path}: {unknown.total()} score(s) are words that stand for no number; they are "
            "unscored and keep the word as label (Inspect itself counts them as 0): "
            f"{listed(f'{word} ({count}×)' for word, count in unknown.most_common())}"
        )


def _never_ran(log: Log, samples: list[_Sample]) -> int:
    dataset, config = log.evaluation.get("dataset") or {}, log.evaluation.get("config") or {}
    planned = {str(name) for name in dataset.get("sample_ids") or []}
    epochs = range(int(config.get("epochs") or 1))
    done = {(sample.key["example_id"], sample.key["trial"]) for sample in samples}
    return sum((name, epoch) not in done for name in planned for epoch in epochs)


FORMAT = Format(
    name="inspect",
    title="Inspect logs (.eval and .json)",
    detect=is_log,
    read=read,
    tables=frozenset({"scores", "outputs", "details", "report"}),
)
