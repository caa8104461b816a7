"""Run directories of HELM (the ``crfm-helm`` package): one run of one model on one scenario.

``per_instance_stats.json`` holds the scores, ``run_spec.json`` names model and scenario,
``scenario_state.json`` has requests and answers, ``stats.json`` what HELM itself reports. An
example is an instance together with what was done to its text (a perturbation); the instance is
the cluster. The list of stats mixes scores with facts about the request (tokens, run time, finish
reasons); those are left out with a count, and tokens and times are in the outputs.

A request that failed is judged by HELM like an empty answer: here it is an error of the system.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evaltoolkit.errors import listed
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source
from evaltoolkit.readers.helm_metrics import facts_of
from evaltoolkit.readers.helm_outputs import aggregates, output_rows
from evaltoolkit.readers.helm_run import (
    PER_INSTANCE,
    SPEC,
    STATE,
    STATS,
    Key,
    Run,
    key_of,
    place_of,
    without_details,
)
from evaltoolkit.readers.records import (
    BAD_RECORD,
    finite_number,
    non_finite_name,
    shortened,
)

_SCENARIO = frozenset({"name", "tags", "definition_path"})


@dataclass
class _Stats:
    """The stats of all instances, and what was noticed on the way."""

    records: list[tuple[str, Key, Row]] = field(default_factory=list)
    described: Counter[str] = field(default_factory=Counter)
    merged: int = 0


def detect(source: Source) -> bool:
    """Say whether a folder is a run of HELM, or a file one of those that make up a run."""
    if source.is_folder:
        return _is_run(source)
    return source.looks_like_json and _kind(source) is not None


def _is_run(source: Source) -> bool:
    stats, spec = source.path / PER_INSTANCE, source.path / SPEC
    if not stats.is_file():
        return spec.is_file() and (source.path / STATS).is_file() and _kind(Source(spec)) == SPEC
    head = Source(stats).head
    return (b'"instance_id"' in head and b'"stats"' in head) or spec.is_file()


def _kind(source: Source) -> str | None:
    """Say which file of a run it is, by its content."""
    head = source.head
    if head.lstrip().startswith(b"["):
        return _kind_of_list(source)
    if b'"adapter_spec"' not in head and b'"definition_path"' not in head:
        return None
    keys = source.keys()
    if {"adapter_spec", "request_states"} <= keys:
        return STATE
    if {"name", "adapter_spec", "scenario_spec"} <= keys:
        return SPEC
    return "scenario.json" if keys >= _SCENARIO else None


def _kind_of_list(source: Source) -> str | None:
    head = source.head
    if b'"stats"' not in head and not (b'"sum_squared"' in head and b'"count"' in head):
        return None
    document = source.document
    first = document[0] if isinstance(document, list) and document else None
    if not isinstance(first, Mapping):
        return None
    if "instance_id" in first and isinstance(first.get("stats"), list):
        return PER_INSTANCE
    return STATS if isinstance(first.get("name"), Mapping) and "sum" in first else None


def _holds(source: Source) -> frozenset[str]:
    """Name the files that are read for a source: all of a folder, else the file itself."""
    if not source.is_folder:
        return frozenset({_kind(source) or ""})
    present = (PER_INSTANCE, STATS, STATE)
    return frozenset(name for name in present if (source.path / name).is_file())


def _companion(source: Source) -> bool:
    holds = _holds(source)
    return STATS in holds and PER_INSTANCE not in holds


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read a run directory as a whole, or what one of its files gives."""
    holds = _holds(source)
    if source.is_folder:
        run = Run(source.path, reading)
    else:
        run = Run(source.path.parent, reading, dict.fromkeys(holds, source.path))
    stats = _Stats()
    if PER_INSTANCE in holds or "outputs" in reading.want:
        document = source.document if PER_INSTANCE in holds and not source.is_folder else None
        stats = _stats(run, document)
    batch = Batch()
    if PER_INSTANCE in holds and "scores" in reading.want:
        batch.scores = list(_score_rows(run, stats))
        batch.notes.extend(_notes(stats))
    if STATE in holds and "outputs" in reading.want:
        batch.outputs = list(output_rows(run, [(k, dict(f["stats"])) for _, k, f in stats.records]))
    if STATS in holds and "report" in reading.want:
        batch.aggregates = list(aggregates(run))
    if not holds & {PER_INSTANCE, STATS}:
        batch.notes.append(f"the scores of the run are in {PER_INSTANCE} beside it")
    place = source.path.resolve().name
    batch.notes = [f"{place}: {note}" for note in (*run.notes, *batch.notes)]
    yield batch


def _stats(run: Run, document: Any) -> _Stats:  # noqa: ANN401 - any JSON value
    """Take the instances that are laid out as HELM writes them; others are bad records."""
    path = run.path(PER_INSTANCE)
    stats = _Stats()
    if document is None and path.is_file():
        document = Source(path).document
    for number, raw in enumerate(document if isinstance(document, list) else []):
        record = f"record {number}"
        try:
            key = key_of(raw["instance_id"], raw.get("perturbation"), raw)
            named = [(str(stat["name"]["name"]), stat) for stat in raw["stats"]]
        except BAD_RECORD as error:
            run.reading.bad_record(path, record, error)
            continue
        stats.records.append((record, key, {"raw": raw, "stats": named}))
    return stats


def _score_rows(run: Run, stats: _Stats) -> Iterator[Row]:
    names = without_details(key[1] for _, key, _ in stats.records)
    failures = run.failures()
    unknown: Counter[str] = Counter()
    for record, key, found in stats.records:
        shared = {
            **place_of(run, key, names),
            "source": f"{run.where(PER_INSTANCE)}: {record}",
            **_attributes(key, found["raw"], found["stats"], names),
        }
        for metric, stat in found["stats"]:
            role = run.role(metric)
            if role == "judges":
                stats.merged += (finite_number(stat.get("count")) or 0) > 1
                measured = _measured(stat, failures.get(key))
                yield {**shared, "criterion": metric, **facts_of(metric), **measured}
            elif role == "describes":
                stats.described[metric] += 1
            else:
                unknown[metric] += 1
    for metric, count in unknown.items():
        run.reading.unknown(run.path(PER_INSTANCE), f"stat {metric!r}", count)


def _attributes(key: Key, raw: Row, stats: list[tuple[str, Row]], names: Mapping[str, str]) -> Row:
    contexts = [stat["name"] for _, stat in stats]
    found = {
        name: next((each[name] for each in contexts if each.get(name)), None)
        for name in ("split", "sub_split")
    }
    attributes = {name: value for name, value in found.items() if value}
    if not any(names.values()):
        return attributes
    described = raw.get("perturbation")
    kinds = {
        f"perturbation_{name}": bool(described.get(name))
        for name in ("robustness", "fairness")
        if isinstance(described, Mapping)
    }
    return {**attributes, "perturbation": names[key[1]] or None, **kinds}


def _measured(stat: Row, failure: str | None) -> Row:
    """Turn one stat into score, label, status and message; its mean is the score."""
    value = stat.get("mean")
    number = finite_number(value)
    label = None
    if isinstance(value, float) and number is None:
        label = non_finite_name(value)
    if failure is not None:
        written = None if value is None else label or str(value)
        lost = {"score": None, "label": written, "status": "system_error"}
        return {**lost, "message": shortened(failure)}
    if number is not None:
        return {"score": number, "label": None, "status": "scored", "message": None}
    message = "HELM measured nothing here" if not stat.get("count") else "HELM gave no number"
    return {"score": None, "label": label, "status": "unscored", "message": message}


def _notes(stats: _Stats) -> Iterator[str]:
    if stats.described:
        names = listed(sorted(stats.described), limit=40)
        yield (
            f"{stats.described.total()} stats of {len(stats.described)} kind(s) that describe the "
            f"requests and judge nothing were not read: {names}"
        )
    perturbed = sum(bool(key[1]) for _, key, _ in stats.records)
    if perturbed:
        yield (
            f"{perturbed} of {len(stats.records)} records are of perturbed copies of an instance; "
            "the column perturbation is empty for the originals"
        )
    if stats.merged:
        yield f"{stats.merged} score(s) are means over several values of one instance"


FORMAT = Format(
    name="helm",
    title="HELM run directories (per_instance_stats.json and its neighbours)",
    detect=detect,
    read=read,
    tables=frozenset({"scores", "outputs", "report"}),
    folders=True,
    companions=_companion,
    signs="a folder with per_instance_stats.json; lists of stats with instance_id; adapter_spec",
    quirks=(
        "Only stats that judge the answer become scores; run times, tokens and the like are left "
        "out with a count, and stats of unknown kind are named in a warning. A perturbed copy of "
        "an instance is an example of its own in the cluster of the instance. A stat with count 0 "
        "is `unscored`; where the request failed, its stats are `system_error`, since HELM scores "
        "the missing answer as an empty one."
    ),
)
