"""How an Inspect log is laid out: where its header and its samples are.

A ``.eval`` file is a zip archive with one member per sample. A run that crashed has no
``header.json``; what it had done by then is in its journal. A ``.json`` file is the same in one
document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from evaltoolkit.errors import ReadError, listed
from evaltoolkit.readers.archives import Archive
from evaltoolkit.readers.base import Reading, Row, Source
from evaltoolkit.readers.inspect_values import Scorers

_HEADER = "header.json"
_START = "_journal/start.json"
_REDUCTIONS = "reductions.json"
_SUMMARIES = "summaries.json"
_JOURNAL = "_journal/summaries/"
_SAMPLES = "samples/"
_RUN_IDS = ("eval_id", "task_id", "run_id", "created")


class Record(NamedTuple):
    """One sample as it stands in the log; a summary is an abridged one."""

    name: str
    sample: Any
    is_summary: bool = False


@dataclass
class Log:
    """One log: its header, its samples in turn, and what was noticed on the way.

    Attributes:
        path: The file.
        header: The log without its samples.
        records: The samples, to be gone through once.
        evaluation: The part ``eval`` of the header.
        run: The key columns that all rows of the log share.
        scorers: Who judges what.
        notes: What a user should know about how the log was read.
        seen: Names of all scores that were met.
        reduced: Whether means over epochs stand in for samples.
    """

    path: Path
    header: Row
    records: Iterator[Record]
    evaluation: Row = field(init=False)
    run: Row = field(init=False)
    scorers: Scorers = field(init=False)
    notes: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    reduced: bool = False

    def __post_init__(self) -> None:
        self.evaluation = self.header["eval"]
        self.scorers = Scorers(self.header)
        run_id = next((self.evaluation[n] for n in _RUN_IDS if self.evaluation.get(n)), "")
        self.run = {
            "run_id": str(run_id),
            "system": str(self.evaluation["model"]),
            "task": str(self.evaluation.get("task") or ""),
        }


def _checked(header: object, path: Path) -> Row:
    evaluation = header.get("eval") if isinstance(header, dict) else None
    if isinstance(header, dict) and isinstance(evaluation, dict) and evaluation.get("model"):
        return header
    raise ReadError(
        f"{path}: the log does not say which model was evaluated (eval.model); it must be a whole "
        "log as Inspect writes it",
        code="no_system",
        path=str(path),
    )


def is_log(source: Source) -> bool:
    """Say whether a file is an Inspect log."""
    if source.is_zip:
        return not {_HEADER, _START}.isdisjoint(source.zip_names)
    if not source.looks_like_json or b'"eval"' not in source.head:
        return False
    log = source.document
    return isinstance(log, dict) and isinstance(log.get("eval"), dict) and "task" in log["eval"]


def document_log(source: Source) -> Log:
    """Take a log that is one JSON document."""
    document = source.document
    header = {name: part for name, part in document.items() if name != "samples"}
    return Log(source.path, _checked(header, source.path), _listed(document))


def _listed(document: Row) -> Iterator[Record]:
    for number, sample in enumerate(document.get("samples") or [], start=1):
        yield Record(f"samples[{number - 1}]", sample)


def archived_log(archive: Archive, reading: Reading) -> Log:
    """Take a log that is an archive; its members are read as the samples are asked for."""
    names = archive.names
    ended = _HEADER in names
    header = _checked(archive.json(_HEADER if ended else _START), archive.path)
    if _REDUCTIONS in names and _needs_reductions(names, reading):
        header["reductions"] = archive.json(_REDUCTIONS)
    log = Log(archive.path, header, _members(archive, names, reading))
    if not ended:
        log.notes.append(
            "the log has no header.json (the run crashed or is still going on): read from its "
            "journal"
        )
    return log


def _needs_reductions(names: list[str], reading: Reading) -> bool:
    return "report" in reading.want or not any(name.startswith(_SAMPLES) for name in names)


def _members(archive: Archive, names: list[str], reading: Reading) -> Iterator[Record]:
    """Go through the samples; summaries stand in for samples that were not written."""
    samples = [name for name in names if name.startswith(_SAMPLES) and name.endswith(".json")]
    known: set[tuple[str, str]] = set()
    for name in samples:
        for sample in _member(archive, name, reading):
            known.add(_identity(sample))
            yield Record(name, sample)
    if _HEADER in names and samples:
        return
    for name in names:
        if name == _SUMMARIES or name.startswith(_JOURNAL):
            for sample in _member(archive, name, reading):
                identity = _identity(sample)
                if identity not in known and sample.get("completed", True):
                    known.add(identity)
                    yield Record(f"{name}: sample {identity[0]}", sample, is_summary=True)


def _identity(sample: Mapping[str, Any]) -> tuple[str, str]:
    return str(sample.get("id")), str(sample.get("epoch", 1))


def _member(archive: Archive, name: str, reading: Reading) -> list[Mapping[str, Any]]:
    """Give the sample or the summaries in one member; a bad member is refused or noted."""
    try:
        found = archive.json(name)
    except ReadError as error:
        reading.bad_record(archive.path, name, error)
        return []
    samples = found if isinstance(found, list) else [found]
    strange = [type(sample).__name__ for sample in samples if not isinstance(sample, Mapping)]
    if strange:
        problem = TypeError(f"it must hold JSON objects and holds {listed(strange)}")
        reading.bad_record(archive.path, name, problem)
    return [sample for sample in samples if isinstance(sample, Mapping)]
