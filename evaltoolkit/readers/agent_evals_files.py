"""The files of agent_evals: which layout one is in, and the runs that it holds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaltoolkit.errors import ReadError
from evaltoolkit.readers.base import Reading, Row, Source, json_lines
from evaltoolkit.readers.unnamed import time_or_none

_UUID = re.compile(r"-?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_RESULT_KEYS = frozenset({"examples", "pass_rates", "scores", "summary"})
_SUMMARY_KEYS = frozenset({"experiment_id", "pass_rates", "platform", "summary"})
_NOTE_KEYS = frozenset({"experiment_id", "experiment_name", "created_at_iso", "platform"})
_BENCHMARK_KEYS = frozenset({"benchmark", "eval_results"})
_SCORE_KEYS = frozenset({"value", "passed"})
_AGENT_FIELDS = ("agent_name", "agent", "system", "model")
_COMPANION_STEMS = frozenset({"metadata", "summary"})


@dataclass
class Run:
    """The examples of one experiment, and what is said about it.

    Attributes:
        records: Name and content of each example.
        result: The fields of the result beside its examples; empty for bare examples.
        capability: The capability of a benchmark that the run measured, if any.
        told: Names that may be the system's, each with where it was found.
        run_id: The experiment.
        created: When it was run, where the file beside it says so.
    """

    records: Iterator[tuple[str, Any]]
    result: Row = field(default_factory=dict)
    capability: str = ""
    told: list[tuple[object, str]] = field(default_factory=list)
    run_id: str = ""
    created: object = None


def is_example(value: object) -> bool:
    """Say whether a JSON value is one dumped example with its scores."""
    if not isinstance(value, Mapping) or not {"input", "output", "scores"} <= set(value):
        return False
    scores = value["scores"]
    if not isinstance(scores, Mapping):
        return False
    if not scores:
        return {"duration", "metadata"} <= set(value)
    return all(isinstance(each, Mapping) and set(each) >= _SCORE_KEYS for each in scores.values())


def is_result(value: object) -> bool:
    """Say whether a JSON value is a dumped result: examples and what they add up to."""
    if not isinstance(value, Mapping) or not set(value) >= _RESULT_KEYS:
        return False
    return isinstance(value["examples"], list)


def is_benchmark(value: object) -> bool:
    """Say whether a JSON value is a dumped benchmark: a result for each capability."""
    if not isinstance(value, Mapping) or not set(value) >= _BENCHMARK_KEYS:
        return False
    return isinstance(value["eval_results"], Mapping)


def is_envelope(value: object) -> bool:
    """Say whether a JSON value is encrypted: agent_evals never writes anything else to disk."""
    if not isinstance(value, Mapping) or {"scores", "examples"} & set(value):
        return False
    return isinstance(value.get("ciphertext"), str)


def encrypted(path: Path, record: str | None = None) -> ReadError:
    """Say that a file or record is encrypted, and what to do."""
    where = f"{path}: {record}" if record else str(path)
    return ReadError(
        f"{where}: it is encrypted (a JSON envelope with a ciphertext, which is how agent_evals "
        "writes its files); decrypt it first, with agent_evals and the key in "
        "FOUNDRY_EVALS_ENCRYPTION_KEY: write each record that read_encrypted_jsonl(path, key) "
        "gives as one line of JSON, or what read_encrypted_file(path, key) gives as one document, "
        "and read that file",
        code="encrypted",
        path=where,
    )


def first_value(source: Source) -> object:
    """Give the first record of a file, or its document."""
    if source.is_folder or source.is_zip:
        return None
    value = source.first_line if source.is_json_lines else source.document
    return value[0] if isinstance(value, list) and value else value


def is_companion(source: Source) -> bool:
    """Say whether a file only accompanies the examples: what a run is called and adds up to."""
    value = first_value(source)
    if not isinstance(value, Mapping) or is_result(value):
        return False
    if is_envelope(value):
        return source.path.stem in _COMPANION_STEMS
    return set(value) >= _SUMMARY_KEYS or set(value) >= _NOTE_KEYS


def runs(source: Source, reading: Reading) -> Iterator[Run]:
    """Go through the runs in a file; examples that stand alone are one run."""
    if source.is_json_lines and not (
        is_result(source.first_line) or is_benchmark(source.first_line)
    ):
        yield _bare(source, json_lines(source.path, reading))
        return
    if source.is_json_lines:
        values: Any = [value for _, value in json_lines(source.path, reading)]
    else:
        values = source.document if isinstance(source.document, list) else [source.document]
    if values and is_example(values[0]):
        yield _bare(source, ((f"record {n}", value) for n, value in enumerate(values)))
        return
    for number, value in enumerate(values):
        place = f"[{number}]." if len(values) > 1 else ""
        if is_benchmark(value):
            for capability, result in value["eval_results"].items():
                where = f"{place}eval_results.{capability}.examples"
                yield _of_result(result, where=where, capability=capability, benchmark=value)
        else:
            yield _of_result(value, where=f"{place}examples")


def _of_result(
    result: Row, *, where: str, capability: str = "", benchmark: Mapping[str, Any] | None = None
) -> Run:
    experiment = str(result.get("experiment_id") or "")
    metadata = result.get("metadata") or {}
    told: list[tuple[object, str]] = [((benchmark or {}).get("agent_name"), "the agent_name")]
    told += [(metadata.get(name), f"the metadata field {name!r}") for name in _AGENT_FIELDS]
    told.append((_UUID.sub("", experiment), "the experiment"))
    return Run(
        records=((f"{where}[{n}]", each) for n, each in enumerate(result["examples"])),
        result={name: part for name, part in result.items() if name != "examples"},
        capability=capability,
        told=told,
        run_id=experiment,
    )


def _bare(source: Source, records: Iterator[tuple[str, Any]]) -> Run:
    """Describe examples that stand alone by the two files that agent_evals puts beside them."""
    note, summary = (_neighbour(source.path, f"{stem}.json") for stem in ("metadata", "summary"))
    folder = source.path.resolve().parent.name
    experiment = note.get("experiment_id") or summary.get("experiment_id") or ""
    return Run(
        records=records,
        result=summary,
        told=[
            (note.get("experiment_name"), "metadata.json beside it"),
            (_UUID.sub("", str(experiment)), "the experiment"),
            (_UUID.sub("", folder) if _UUID.search(folder) else None, "the folder name"),
        ],
        run_id=str(experiment) or (folder if _UUID.search(folder) else ""),
        created=time_or_none(note.get("created_at_iso")),
    )


def _neighbour(path: Path, name: str) -> Row:
    """Read a file beside the examples; one that is encrypted or of another tool says nothing."""
    beside = path.with_name(name)
    if not beside.is_file() or beside == path:
        return {}
    try:
        value = json.loads(beside.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    keys = set(value) if isinstance(value, dict) else set()
    return value if keys >= _NOTE_KEYS or keys >= _SUMMARY_KEYS else {}
