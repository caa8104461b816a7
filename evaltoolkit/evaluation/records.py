"""Find out which output belongs to which example, whatever form the outputs come in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from evaltoolkit.errors import PairingError, SchemaError, listed, nearest, warn
from evaltoolkit.models import Example, Output, as_id
from evaltoolkit.schema import OUTPUTS, SCORES, normalise
from evaltoolkit.scorers.base import is_several


class OutputRecord(NamedTuple):
    """One answer of one system, with its key; a plain tuple in this order will do.

    ``system`` may be None where `score_outputs` names it; ``task`` may be None where example ids
    are unique over all tasks.
    """

    system: str | None
    example_id: str | int
    trial: int
    output: Output
    task: str | None = None
    run_id: str | None = None


class Answer(NamedTuple):
    """One output with everything that is known of it."""

    run_id: str
    system: str
    trial: int
    example: Example
    output: Output


@dataclass(frozen=True)
class ExampleIndex:
    """The examples by (task, id), and the tasks in which an id occurs."""

    by_key: Mapping[tuple[str, str], Example]
    tasks: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, examples: Iterable[Example]) -> ExampleIndex:
        """Index examples.

        Raises:
            SchemaError: Some repeat, or an attribute has the name of a score column.
        """
        by_key: dict[tuple[str, str], Example] = {}
        tasks: dict[str, list[str]] = defaultdict(list)
        repeated: list[tuple[str, str]] = []
        for example in examples:
            key = (example.task, example.id)
            if key in by_key:
                repeated.append(key)
            by_key[key] = example
            tasks[example.id].append(example.task)
        if repeated:
            msg = (
                f"{len(repeated)} example(s) occur more than once; first (task, id): "
                f"{listed(repeated)}; ids must be unique within a task"
            )
            raise SchemaError(msg, code="duplicate_keys", value=repeated)
        known = cls(by_key, tasks)
        known._check_attributes()
        return known

    @property
    def attributes(self) -> list[str]:
        """Names of the attributes that any example has, in order of appearance."""
        return list(dict.fromkeys(name for e in self.by_key.values() for name in e.attributes))

    def find(self, example_id: str, task: str | None) -> Example | None:
        """Find an example; without a task, the only one of that id, or the one of no task."""
        if task is None:
            places = self.tasks.get(example_id, ())
            task = places[0] if len(places) == 1 else ""
        return self.by_key.get((task, example_id))

    def _check_attributes(self) -> None:
        taken = [name for name in self.attributes if name in SCORES.known]
        if taken:
            msg = (
                f"the examples have the attribute(s) {listed(taken)}, which are columns of the "
                "score table; rename them"
            )
            raise SchemaError(msg, code="reserved_attribute", value=taken)


def read_records(
    outputs: pd.DataFrame | Iterable[OutputRecord | tuple[Any, ...]],
    *,
    system: str | None,
    run_id: str | None,
) -> Iterator[OutputRecord]:
    """Give the outputs one by one, with the system and the run filled in.

    Raises:
        SchemaError: An output names no system, or something is no output record.
    """
    records = _from_table(outputs) if isinstance(outputs, pd.DataFrame) else map(_record, outputs)
    for place, record in enumerate(records):
        named = system if record.system is None else record.system
        if named is None:
            msg = f"output {place} names no system; give system=, or put it into the outputs"
            raise SchemaError(msg, code="missing_system", path=f"outputs[{place}]")
        yield record._replace(
            system=str(as_id(named)),
            example_id=str(as_id(record.example_id)),
            run_id=record.run_id or run_id or "",
        )


def _record(item: object) -> OutputRecord:
    if not is_several(item) or not 4 <= len(item) <= len(OutputRecord._fields):
        msg = f"{item!r} is no output record; give (system, example_id, trial, output)"
        raise SchemaError(msg, code="bad_record", value=item)
    example_id, output = item[1], item[3]
    if not isinstance(output, Output):
        kind = type(output).__name__
        msg = f"the output of example {example_id!r} is a {kind}; wrap it: Output(text=...)"
        raise SchemaError(msg, code="bad_record", value=output)
    return OutputRecord(*item)


_AMOUNTS = ("error", "finish_reason", "cost_usd", "tokens_in", "tokens_out", "latency_s")


def _from_table(frame: pd.DataFrame) -> Iterator[OutputRecord]:
    table = normalise(frame if "system" in frame.columns else frame.assign(system=""), OUTPUTS)
    # An empty answer is an answer: the table's own form would make it missing.
    texts = frame["output"] if "output" in frame.columns else table["output"]
    for row, text in zip(table.to_dict("records"), texts.tolist(), strict=True):
        yield OutputRecord(
            system=row["system"] or None,
            example_id=row["example_id"],
            trial=row["trial"],
            output=Output(
                text=None if _is_missing(text) else text, **{name: row[name] for name in _AMOUNTS}
            ),
            task=row["task"] or None,
            run_id=row["run_id"] or None,
        )


def _is_missing(value: Any) -> bool:  # noqa: ANN401 - a cell
    return bool(pd.api.types.is_scalar(value) and pd.isna(value))


def locate(known: ExampleIndex, records: Iterable[OutputRecord]) -> list[Answer]:
    """Find the example of each output; name all outputs that have none."""
    answers: list[Answer] = []
    lost: list[OutputRecord] = []
    for record in records:
        example = known.find(str(record.example_id), record.task)
        if example is None:
            lost.append(record)
        else:
            run, name = str(record.run_id), str(record.system)
            answers.append(Answer(run, name, record.trial, example, record.output))
    if lost:
        raise _unknown_examples(known, lost)
    return answers


def _unknown_examples(known: ExampleIndex, lost: Sequence[OutputRecord]) -> PairingError:
    first = lost[0]
    ambiguous = first.task is None and len(known.tasks.get(str(first.example_id), ())) > 1
    ids = listed(dict.fromkeys((r.task, r.example_id) if r.task else r.example_id for r in lost))
    if ambiguous:
        message = (
            f"the example(s) {ids} occur in several tasks; say which task the outputs belong to"
        )
        return PairingError(message, code="ambiguous_example", value=first.example_id)
    hint = nearest(first.example_id, known.tasks)
    return PairingError(
        f"{len(lost)} output(s) belong to no example: {ids} (the first is of system "
        f"{first.system!r}; {hint}); add those examples or leave the outputs out",
        code="unknown_example",
        value=first.example_id,
    )


def warn_of_gaps(known: ExampleIndex, answers: Iterable[Answer]) -> None:
    """Say, once, for which systems examples have no output at all."""
    seen: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for answer in answers:
        seen[answer.system].add((answer.example.task, answer.example.id))
    gaps = {name: len(known.by_key) - len(keys) for name, keys in seen.items()}
    short = [f"{name!r}: {count}" for name, count in gaps.items() if count]
    if short:
        warn(
            f"of {len(known.by_key)} examples some have no output and get no score "
            f"({', '.join(short)} example(s))",
            stacklevel=4,
        )
