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
from typing import Any

from evaltoolkit.errors import listed, warn
from evaltoolkit.readers.archives import Archive
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source
from evaltoolkit.readers.inspect_logs import Log, archived_log, document_log, is_log
from evaltoolkit.readers.inspect_outputs import output_row
from evaltoolkit.readers.inspect_reported import aggregates, single_scores
from evaltoolkit.readers.inspect_rows import Expected, sample_rows
from evaltoolkit.readers.inspect_samples import LONG, Sample, error_text, slim
from evaltoolkit.readers.records import (
    BAD_RECORD,
    as_json,
    attribute_names,
    attributes,
    shortened,
)

_BATCH = 200


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read one log: outputs and details in portions, its scores in the last batch."""
    if not source.is_zip:
        yield from _batches(document_log(source), reading)
        return
    with Archive(source.path) as archive:
        yield from _batches(archived_log(archive, reading), reading)


def _batches(log: Log, reading: Reading) -> Iterator[Batch]:
    kept: list[Sample] = []
    outputs: list[Row] = []
    details: list[Row] = []
    record = None
    for record in log.records:
        try:
            sample = slim(log, record)
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
    if record is None:
        kept = _reduced(log)
    scored = "scores" in reading.want
    if scored:
        _warn_of_words(log, kept)
    yield Batch(
        scores=_score_rows(log, kept) if scored else [],
        outputs=outputs,
        details=details,
        aggregates=list(aggregates(log)) if "report" in reading.want else [],
        notes=[f"{log.path.name}: {note}" for note in (*_notes(log, kept), *log.notes)],
    )


def _texts(sample: Sample, raw: Mapping[str, Any], reading: Reading) -> tuple[list[Row], list[Row]]:
    """Give the rows of the outputs and the details table, as far as they are wanted."""
    outputs: list[Row] = []
    if "outputs" in reading.want:
        texts = output_row(raw, system=sample.key["system"])
        if sample.limit:
            texts["finish_reason"] = sample.limit
        place = {name: sample.place[name] for name in ("source", "timestamp")}
        if sample.retries is not None:
            place["retries"] = sample.retries
        outputs.append({**sample.key, **texts, "error": sample.error, **place})
    return outputs, list(_detail_rows(sample, raw)) if "details" in reading.want else []


def _detail_rows(sample: Sample, raw: Mapping[str, Any]) -> Iterator[Row]:
    retries = [shortened(error_text(each) or "") for each in raw.get("error_retries") or []]
    scores = raw.get("scores") or {}
    for judged in sample.judged:
        score = scores.get(judged.name)
        told = score if isinstance(score, Mapping) else {}
        parts = {name: told.get(name) for name in ("answer", "explanation", "metadata")}
        parts["error_retries"] = retries or sample.retries or None
        given = {name: part for name, part in parts.items() if part not in (None, {}, "")}
        if given:
            key = {"criterion": judged.criterion, "scorer": judged.scorer}
            yield {**sample.key, **key, "details": as_json(given), "source": sample.place["source"]}


def _reduced(log: Log) -> list[Sample]:
    """Take the scores from the reductions, where nothing else is left and nothing was reduced."""
    try:
        return [slim(log, record) for record in single_scores(log)]
    except BAD_RECORD as error:
        log.notes.append(f"its reductions could not be read: {error}")
        return []


def _score_rows(log: Log, samples: list[Sample]) -> list[Row]:
    if _never_scored(log, samples):
        log.notes.append(
            f"{len(samples)} sample(s), none of them scored (scoring was off, or the task has no "
            "scorer): score the log with Inspect first"
        )
        return []
    names = attribute_names(_by_example(samples))
    clusters = log.scorers.cluster
    expected = Expected(log, samples)
    rows: list[Row] = []
    for sample in samples:
        extra = attributes(sample.metadata, names, prefix="metadata")
        if clusters is not None:
            value = sample.metadata.get(clusters)
            extra["cluster"] = str(value) if value not in (None, LONG) else None
        for row in sample_rows(sample, expected):
            rows.append({**sample.key, **row, **sample.place, **extra})
    return rows


def _never_scored(log: Log, samples: list[Sample]) -> bool:
    """Whether the run ended well without a single verdict."""
    ended_well = log.header.get("status") == "success" and not log.scorers.reported
    return bool(samples) and ended_well and not any(s.judged or s.error for s in samples)


def _by_example(samples: list[Sample]) -> dict[str, list[Row]]:
    grouped: dict[str, list[Row]] = {}
    for sample in samples:
        grouped.setdefault(sample.key["example_id"], []).append(sample.metadata)
    return grouped


def _notes(log: Log, samples: list[Sample]) -> Iterator[str]:
    if not log.evaluation.get("eval_id"):
        yield f"the log has no eval_id (before 2025): its run_id is {log.run['run_id']!r}"
    status = log.header.get("status")
    if status not in ("success", None):
        yield f"the run did not end well (status {status!r}); what it holds was read"
        if status != "started":
            task = log.evaluation.get("task_id")
            yield (
                f"if the run was retried, the later log (its task_id is {task!r} too) repeats the "
                "finished samples of this one: read only that one"
            )
    yield from _samples_notes(samples)
    if log.header.get("invalidated"):
        yield "the log has been marked as invalid since it was written"
    if roles := log.scorers.roles:
        yield f"models in other roles: {listed(f'{k} = {v}' for k, v in roles.items())}"
    absent = 0 if log.reduced else _never_ran(log, samples)
    if absent:
        yield f"{absent} sample(s) of the run's plan are not in the log: they never ran or ended"
    if log.scorers.cluster:
        yield (
            f"cluster is taken from the metadata field {log.scorers.cluster!r}, by which the "
            "task's own standard error is clustered"
        )


def _samples_notes(samples: list[Sample]) -> Iterator[str]:
    """Count the samples that were tried again, and those that were stopped at a limit."""
    retried = [s.retries for s in samples if s.retries and s.error is None]
    if retried:
        yield (
            f"{len(retried)} sample(s) were tried again after errors ({sum(retried)} failed "
            "attempts): their last attempt is read"
        )
    limits = Counter(sample.limit for sample in samples if sample.limit)
    if limits:
        counts = listed(f"{limit} ({count}×)" for limit, count in limits.most_common())
        yield f"{limits.total()} sample(s) were stopped at a limit: {counts}"


def _warn_of_words(log: Log, samples: list[Sample]) -> None:
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


def _never_ran(log: Log, samples: list[Sample]) -> int:
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
    signs="a zip with header.json or _journal/start.json; JSON with eval.task",
    quirks=(
        "C, P, I and N are 1, 0.5, 0 and 0 and stay labels; other words, NaN and lists are no "
        "scores. The keys of an object are criteria. Errored samples are system errors in every "
        "criterion; a limit ends a sample, its score stands; retries are counted. Scores reduced "
        "over epochs are for the report; a run without a header is read from its journal."
    ),
)
