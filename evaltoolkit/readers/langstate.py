"""Results of langstate's mutator evaluation, dumped as JSON.

What becomes what: the mutator is the system, a comparison of states the example, its match, its
accuracy and its counts of wrong fields the criteria. langstate saves nothing itself and its
results name neither case nor mutator, so both are looked for in a record around the result
(``{"case_id": ..., "mutator": ..., "result": {...}}``), in its metadata, and in the file name.

The accuracy 0 of a case that expects nothing measures nothing and is `unscored`. A mutator that
raised has no result; a record that holds its ``error`` is lost in every criterion. The time is
that of the mutator, so it stands in the outputs and is no criterion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evaltoolkit.errors import warn
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source
from evaltoolkit.readers.langstate_values import (
    ACCURACY,
    CRITERIA,
    MATCH,
    check,
    contradiction,
    lost,
    measured,
)
from evaltoolkit.readers.records import (
    BAD_RECORD,
    as_cell,
    as_json,
    attribute_names,
    attributes,
    finite_number,
)
from evaltoolkit.readers.unnamed import system_name, time_or_none, trial_numbers
from evaltoolkit.readers.wrapped_results import Entry, entries, first

_COMPARISON = frozenset({"fields", "matching_fields", "mismatched_fields", "overall_match"})
_SYSTEM = ("system", "mutator", "mutator_name", "model")
_EXAMPLE = ("example_id", "case_id", "case", "id")
_TASK = ("task", "suite", "dataset")
_TRIAL = ("trial", "repeat")
_NAMES = frozenset({*_SYSTEM, *_EXAMPLE, *_TASK, *_TRIAL, "timestamp"})
# Where the evaluation itself broke, not the mutator.
_STAGES_OF_THE_EVALUATOR = frozenset({"copy", "compare"})


@dataclass
class _Run:
    """One evaluation: where it stands, its result or its error, and what it is called."""

    entry: Entry
    result: Row | None
    error: str | None
    metadata: Row
    key: Row = field(default_factory=dict)

    def told(self, names: Iterable[str]) -> Any:  # noqa: ANN401 - any JSON value
        """Look a name up in the record around the result, then in the metadata."""
        holders = (self.entry.raw, self.metadata)
        found = (holder.get(name) for holder in holders for name in names)
        return next(
            (value for value in found if isinstance(value, str | int) and value != ""), None
        )


def detect(source: Source) -> bool:
    """Say whether a file holds comparisons of states."""
    values = first(source)
    if any(_is_record(value) and not _is_failure(value) for value in values):
        return True
    return any(map(_is_failure, values)) and b'"overall_match"' in source.head


def _is_result(value: object) -> bool:
    comparison = value.get("comparison") if isinstance(value, Mapping) else None
    return isinstance(comparison, Mapping) and set(comparison) >= _COMPARISON


def _is_failure(value: object) -> bool:
    """Say whether it is the record of a mutator that raised, which has no result."""
    if not isinstance(value, Mapping) or not value.get("error") or value.get("result"):
        return False
    return any(value.get(name) is not None for name in _EXAMPLE)


def _is_record(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    return _is_result(value) or _is_result(value.get("result")) or _is_failure(value)


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read one file; its rows come in one batch, since repeats can stand anywhere."""
    runs: list[_Run] = []
    for entry in entries(source, reading, _is_record):
        try:
            runs.append(_run(entry))
        except BAD_RECORD as error:
            reading.bad_record(source.path, entry.record, error)
    notes = _identify(source, runs, reading)
    _warn_of_contradictions(source, runs)
    scores, more = _score_rows(source, runs)
    yield Batch(
        scores=scores,
        outputs=[_output_row(source, run) for run in runs],
        details=list(_detail_rows(source, runs)) if "details" in reading.want else [],
        notes=[f"{source.path.name}: {note}" for note in (*notes, *more)],
    )


def _run(entry: Entry) -> _Run:
    raw = entry.raw
    if not _is_record(raw):
        raise ValueError("it is no result (it has no comparison with fields and overall_match)")
    result = raw if "comparison" in raw else raw.get("result")
    if result is not None:
        check(result)
    told = (result or {}).get("metadata") or raw.get("metadata")
    error = raw.get("error") or None
    text = None if error is None else as_cell(error)
    return _Run(entry, result, text, dict(told) if isinstance(told, Mapping) else {})


def _identify(source: Source, runs: list[_Run], reading: Reading) -> list[str]:
    """Give every run its system, task, example and trial."""
    notes: list[str] = []
    single = len(runs) == 1 and runs[0].entry.record == "document"
    unnamed = any(run.told(_SYSTEM) is None for run in runs)
    folder = source.path.resolve().parent.name
    told = [(folder, "the folder name: the file holds one case")] if single else []
    fallback, more = system_name(source.path, reading, told=told) if unnamed else ("", [])
    notes += more
    placed = False
    for number, run in enumerate(runs):
        example = run.told(_EXAMPLE)
        if example is None:
            example = run.entry.name or (source.path.stem if single else number)
            placed = placed or run.entry.name is None
        system = run.told(_SYSTEM)
        task = run.told(_TASK)
        run.key = {
            "system": fallback if system is None else str(system),
            "task": "" if task is None else str(task),
            "example_id": str(example),
        }
    if placed:
        how = "the file name" if single else "its place in the file"
        notes.append(f"case(s) without an id: {how} is the example id")
    return notes + _number(runs)


def _number(runs: list[_Run]) -> list[str]:
    given = [run.told(_TRIAL) for run in runs]
    if runs and all(isinstance(trial, int) and trial >= 0 for trial in given):
        for run, trial in zip(runs, given, strict=True):
            run.key["trial"] = int(trial)
        return []
    trials, notes = trial_numbers(tuple(run.key.values()) for run in runs)
    for run, trial in zip(runs, trials, strict=True):
        run.key["trial"] = trial
    return notes


def _warn_of_contradictions(source: Source, runs: list[_Run]) -> None:
    found = [
        (run.entry.record, wrong)
        for run in runs
        if run.result is not None and (wrong := contradiction(run.result))
    ]
    if found:
        record, wrong = found[0]
        warn(
            f"{source.path}: {len(found)} result(s) contradict themselves, the first: {record}: "
            f"{wrong}; the numbers were read as they are written"
        )


def _score_rows(source: Source, runs: list[_Run]) -> tuple[list[Row], list[str]]:
    scored = any(run.result is not None and ACCURACY in run.result for run in runs)
    criteria = [name for name in CRITERIA if scored or name != ACCURACY]
    free: dict[str, list[Row]] = {}
    for run in runs:
        fields = {k: v for k, v in run.metadata.items() if k not in _NAMES}
        free.setdefault(run.key["task"] + "\n" + run.key["example_id"], []).append(fields)
    described = attribute_names(free)
    rows = [
        {
            **run.key,
            "criterion": name,
            **_judged(run, name),
            **CRITERIA[name],
            **attributes(run.metadata, described, prefix="metadata"),
            "timestamp": time_or_none(run.told(["timestamp"])),
            "source": f"{source.path.name}: {run.entry.record}",
        }
        for run in runs
        for name in criteria
    ]
    old = "results of an early version, which have no accuracy_score: none is made up"
    return rows, [] if scored or not runs else [old]


def _judged(run: _Run, name: str) -> Row:
    if run.error is None and run.result is not None:
        return measured(run.result, name)
    broken = run.entry.raw.get("error_stage") in _STAGES_OF_THE_EVALUATOR
    status = "scorer_error" if broken else "system_error"
    return lost(run.result, name, run.error or "", status=status)


def _output_row(source: Source, run: _Run) -> Row:
    context = run.entry.raw.get("context")
    holders = [run.entry.raw, context if isinstance(context, Mapping) else {}]
    given = next((h[n] for h in holders for n in ("mutation_input", "input") if n in h), None)
    prompt = given.get("prompt", given) if isinstance(given, Mapping) else given
    expected = next((h["expected_post_state"] for h in holders if "expected_post_state" in h), None)
    result = run.result or {}
    return {
        **run.key,
        "input": as_cell(prompt),
        "output": as_cell(result.get("actual_post_state")),
        "reference": as_cell(_expected(result) if expected is None else expected),
        "error": run.error,
        "latency_s": finite_number(result.get("time_used", run.entry.raw.get("time_used"))),
        "timestamp": time_or_none(run.told(["timestamp"])),
        "source": f"{source.path.name}: {run.entry.record}",
    }


def _expected(result: Row) -> Row | None:
    """Collect the expected values by path, where the state that they come from is not kept."""
    fields = (result.get("comparison") or {}).get("fields") or []
    values = {each["field_path"]: each.get("expected_value") for each in fields}
    given = {k: v.get("value") for k, v in values.items() if isinstance(v, Mapping)}
    return given or None


def _detail_rows(source: Source, runs: list[_Run]) -> Iterator[Row]:
    for run in runs:
        if run.result is not None:
            yield {
                **run.key,
                "criterion": MATCH,
                "details": as_json(run.result["comparison"]),
                "source": f"{source.path.name}: {run.entry.record}",
            }


FORMAT = Format(
    name="langstate",
    title="langstate mutator evaluations (results dumped as JSON)",
    detect=detect,
    read=read,
    tables=frozenset({"scores", "outputs", "details"}),
    signs="a comparison with fields, matching_fields and overall_match",
    quirks=(
        "langstate saves nothing itself: case and mutator are looked for in a record around the "
        "result, in its metadata, then in the file name. The accuracy 0 of a case that expects "
        "nothing is `unscored`; extra fields do not lower the accuracy, so they are a criterion "
        "of their own; ancestors of nested paths count as fields, as in langstate."
    ),
)
