"""Results of agent_evals (Booz Allen Hamilton): dumped result objects and decrypted records.

What becomes what: the experiment the run, the agent's or experiment's name the system, the
capability of a benchmark the task, its ``scenario_id`` the example and ``run_index`` the trial.
Other examples have neither id nor place (the records are written in the order in which they
ended), so they are named by a hash of their input. Each scorer is a criterion.

Its own averages count a crash as 0. Here a crashed task is ``system_error`` and a crashed scorer
``scorer_error``, also where a built-in scorer hides the problem in ``metadata["error"]`` beside
an ordinary 0; a missing reference leaves the example ``unscored``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evaltoolkit.readers.agent_evals_files import (
    Run,
    encrypted,
    first_value,
    is_benchmark,
    is_companion,
    is_envelope,
    is_example,
    is_result,
    runs,
)
from evaltoolkit.readers.agent_evals_values import (
    CLOSURE,
    aggregates,
    crashed,
    is_closure,
    lost,
    measured,
    thresholds,
    warn_of_totals,
)
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source
from evaltoolkit.readers.records import (
    BAD_RECORD,
    as_cell,
    as_json,
    attribute_names,
    attributes,
    digest,
    finite_number,
)
from evaltoolkit.readers.unnamed import Criteria, content_ids, system_name, trial_numbers

_BENCHMARK_FIELDS = frozenset({"scenario_id", "capability", "run_index"})
_NO_SCORES = "__no_scores__"
_LAST_TRIAL = 2**31


@dataclass
class _Example:
    """What is kept of one example until the whole run has been seen."""

    record: str
    input: object
    expected: object
    scores: Row
    error: str | None
    metadata: Row
    output: Row
    id: str
    trial: int | None

    @property
    def item(self) -> str:
        """What tells it from all other examples of the file."""
        return f"{self.metadata.get('capability')}/{self.id}"


def detect(source: Source) -> bool:
    """Say whether a file holds results of agent_evals, encrypted or not."""
    value = first_value(source)
    known = is_example(value) or is_result(value) or is_benchmark(value) or is_envelope(value)
    return known or is_companion(source)


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read each run of a file."""
    if is_companion(source):
        yield _companion(source, reading)
        return
    if is_envelope(first_value(source)):
        raise encrypted(source.path)
    for run in runs(source, reading):
        yield _batch(source, run, reading)


def _companion(source: Source, reading: Reading) -> Batch:
    value: Any = first_value(source)
    if is_envelope(value):
        return Batch(notes=[str(encrypted(source.path))])
    name = value.get("experiment_name") or value["experiment_id"]
    system, _ = system_name(source.path, reading, told=[(name, "the experiment")])
    key = {"run_id": value["experiment_id"], "system": system, "task": ""}
    return Batch(aggregates=list(aggregates(value, key)))


def _batch(source: Source, run: Run, reading: Reading) -> Batch:
    system, notes = system_name(source.path, reading, told=run.told)
    examples: list[_Example] = []
    for record, raw in run.records:
        try:
            if is_envelope(raw):
                raise encrypted(source.path, record)
            examples.append(_example(record, raw))
        except BAD_RECORD as error:
            reading.bad_record(source.path, record, error)
    failed = sum(each.error is not None or crashed(each.scores) for each in examples)
    warn_of_totals(source.path, run, total=len(examples), failed=failed)
    notes += _identify(examples)
    key = {"run_id": run.run_id, "system": system}
    wanted = "details" in reading.want
    scores, more = _score_rows(source, run, examples, key)
    return Batch(
        scores=scores,
        outputs=[_output_row(source, run, each, key) for each in examples],
        details=list(_detail_rows(source, run, examples, key)) if wanted else [],
        aggregates=list(aggregates(run.result, {**key, "task": run.capability})),
        notes=[f"{source.path.name}: {note}" for note in (*notes, *more)],
    )


def _example(record: str, raw: Any) -> _Example:  # noqa: ANN401 - any JSON value
    if not is_example(raw):
        raise ValueError("it is no example with input, output and scores")
    for name, score in raw["scores"].items():
        value = finite_number(score["value"])
        if value is not None and not 0 <= value <= 1:
            raise ValueError(f"the score {name!r} is {value:g}, not within 0 and 1")
        if not isinstance(score.get("metadata") or {}, Mapping):
            raise ValueError(f"the metadata of the score {name!r} is no object")  # noqa: TRY004 - one kind of refusal
    error, metadata = raw.get("error"), raw.get("metadata") or {}
    scenario, repeat = metadata.get("scenario_id"), metadata.get("run_index")
    return _Example(
        record=record,
        input=raw["input"],
        expected=raw.get("expected"),
        scores=raw["scores"],
        error=None if error is None else str(error) or "an error without a message",
        metadata=metadata,
        id="" if scenario is None else str(scenario),
        trial=None if repeat is None else _trial(repeat),
        output={
            "input": as_cell(raw["input"]),
            "output": as_cell(raw["output"]),
            "reference": as_cell(raw.get("expected")),
            "tool_calls": as_json(raw["tool_calls"]) if raw.get("tool_calls") else None,
            "latency_s": finite_number(raw.get("duration")),
        },
    )


def _trial(repeat: object) -> int:
    if isinstance(repeat, int) and 0 <= repeat <= _LAST_TRIAL:
        return int(repeat)
    raise ValueError(f"run_index is {as_cell(repeat)}, not a whole number from 0")


def _identify(examples: list[_Example]) -> list[str]:
    """Give id and trial to the examples that have none; those of a benchmark have both."""
    notes = []
    hashed = content_ids([(each.input, each.expected) for each in examples])
    for each, content in zip(examples, hashed, strict=True):
        if not each.id:
            each.id = content
            notes = ["examples have no id: each is named by a hash of its input"]
    unnumbered = [each for each in examples if each.trial is None]
    trials, more = trial_numbers(each.item for each in unnumbered)
    for each, trial in zip(unnumbered, trials, strict=True):
        each.trial = trial
    return notes + more


def _key(run: Run, example: _Example, key: Row) -> Row:
    task = example.metadata.get("capability") or run.capability
    return {**key, "task": str(task), "example_id": example.id, "trial": example.trial}


def _score_rows(
    source: Source, run: Run, examples: list[_Example], key: Row
) -> tuple[list[Row], list[str]]:
    criteria = Criteria()
    for each in examples:
        names = (name for name, score in each.scores.items() if not is_closure(name, score))
        criteria.add(each.item, names)
    free: dict[str, list[Row]] = {}
    for each in examples:
        fields = {k: v for k, v in each.metadata.items() if k not in _BENCHMARK_FIELDS}
        free.setdefault(each.item, []).append(fields)
    described = attribute_names(free)
    marks = thresholds(each.scores for each in examples)
    rows: list[Row] = []
    closures = 0
    for each in examples:
        place = {
            "source": f"{source.path.name}: {each.record}",
            "input_digest": digest(each.input),
            "timestamp": run.created,
            "lower_bound": 0.0,
            "upper_bound": 1.0,
            **attributes(each.metadata, described, prefix="metadata"),
        }
        judged = _judged(each, criteria, _reported_criteria(run))
        closures += any(is_closure(name, score) for name, score in each.scores.items())
        for name, measurement in judged.items():
            judgement = {"criterion": name, "threshold": marks.get(name), **measurement}
            rows.append({**_key(run, each, key), **judgement, **place})
    return rows, list(_score_notes(examples, rows, closures))


def _reported_criteria(run: Run) -> list[str]:
    return [name for name in run.result.get("scores") or {} if name != _NO_SCORES]


def _judged(example: _Example, criteria: Criteria, reported: list[str]) -> dict[str, Row]:
    """Give each criterion of one example its measurement, also those that a crash has lost."""
    if example.error is not None:
        expected = criteria.of(example.item) or reported
        return {
            name: lost("system_error", example.error, example.scores.get(name))
            for name in dict.fromkeys((*expected, *example.scores))
        }
    judged = {name: measured(score) for name, score in example.scores.items()}
    crash = example.scores.get(CLOSURE)
    absent = [name for name in criteria.all if name not in judged]
    # A scorer may really be called so: then it has measured elsewhere.
    closure = crash is not None and is_closure(CLOSURE, crash) and CLOSURE not in criteria.all
    if closure and absent:
        del judged[CLOSURE]
        judged |= {name: measured(example.scores[CLOSURE]) for name in absent}
    return judged


def _score_notes(examples: list[_Example], rows: list[Row], closures: int) -> Iterator[str]:
    if closures:
        yield (
            f"{closures} crash(es) are filed under {CLOSURE!r}, the name that every scorer made "
            "by a factory has: they were given to the criteria that the example lacks"
        )
    hidden = sum(row["status"] == "scorer_error" for row in rows)
    if hidden:
        yield f"{hidden} score(s) of crashed scorers; agent_evals counts them as 0"
    failed = sum(each.error is not None for each in examples)
    if failed and not rows:
        yield f"{failed} example(s), all crashed, and no scorer is named: there is no row to give"


def _output_row(source: Source, run: Run, example: _Example, key: Row) -> Row:
    place = {"source": f"{source.path.name}: {example.record}", "timestamp": run.created}
    return {**_key(run, example, key), **example.output, "error": example.error, **place}


def _detail_rows(source: Source, run: Run, examples: list[_Example], key: Row) -> Iterator[Row]:
    for each in examples:
        for name, score in each.scores.items():
            parts = {part: score.get(part) for part in ("metadata", "reasoning", "error")}
            given = {part: value for part, value in parts.items() if value}
            if given:
                yield {
                    **_key(run, each, key),
                    "criterion": name,
                    "details": as_json(given),
                    "source": f"{source.path.name}: {each.record}",
                }


FORMAT = Format(
    name="agent_evals",
    title="agent_evals results (dumped objects, decrypted records)",
    detect=detect,
    read=read,
    tables=frozenset({"scores", "outputs", "details", "report"}),
    companions=is_companion,
    signs="input, output and scores with value and passed; or examples with pass_rates",
    quirks=(
        "A crashed task is `system_error` in every criterion, a crashed scorer `scorer_error` "
        "(also where its 0 stands beside `metadata.error`), a missing reference `unscored`; the 0 "
        "goes to the label. Examples without an id are named by a hash of their input. Encrypted "
        "files are refused with the way to decrypt them."
    ),
)
