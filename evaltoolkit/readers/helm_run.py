"""A run directory of HELM: which files it has, whose run it is, which requests failed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from evaltoolkit.errors import ReadError
from evaltoolkit.readers.base import Reading, Row, Source
from evaltoolkit.readers.cells import count_of
from evaltoolkit.readers.helm_metrics import Role, role_of
from evaltoolkit.readers.records import BAD_RECORD
from evaltoolkit.readers.unnamed import system_name

PER_INSTANCE = "per_instance_stats.json"
STATS = "stats.json"
SPEC = "run_spec.json"
STATE = "scenario_state.json"

_MODEL_ARGUMENT = re.compile(r"[,:]?\bmodel(?:_deployment)?=[^,]*")
_FAILED = re.compile(rb'"success"\s*:\s*false')
_CHUNK = 1 << 20

Key = tuple[str, str, int]
"""Instance, perturbation (empty for the original) and training trial."""


@dataclass
class Run:
    """One run directory, its files opened when they are needed.

    Attributes:
        folder: The directory.
        reading: The call that it is read for.
        own: Files that the caller named, which may be called otherwise, by HELM's name.
        notes: What had to be decided.
        system: The model.
        task: The name of the run without its model.
    """

    folder: Path
    reading: Reading
    own: Mapping[str, Path] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Name the system and the task."""
        # HELM writes "/" of a model name as "_" in file names, where it cannot be told from "_".
        in_name = re.search(r"\bmodel=([^,]+)", self.name)
        told = [
            (self.adapter.get("model"), SPEC if self._spec else STATE),
            (self.adapter.get("model_deployment"), SPEC if self._spec else STATE),
            (in_name[1] if in_name else None, "the name of the run"),
        ]
        self.system, notes = system_name(self.folder / PER_INSTANCE, self.reading, told=told,
                                         stem="results")  # fmt: skip
        self.notes.extend(notes)
        task = _MODEL_ARGUMENT.sub("", self.name).rstrip(":,")
        self.task = task.replace(":,", ":")

    def path(self, name: str) -> Path:
        """Give the path of one of its files."""
        return self.own.get(name, self.folder / name)

    def where(self, name: str) -> str:
        """Say which file a row is from; all runs have the same file names."""
        return f"{self.folder.resolve().name}/{self.path(name).name}"

    @cached_property
    def _spec(self) -> Mapping[str, Any]:
        return mapping_of(self._document(SPEC))

    @cached_property
    def name(self) -> str:
        """The name that HELM gave the run, else that of the folder."""
        named = self._spec.get("name")
        return named if isinstance(named, str) and named else self.folder.resolve().name

    @cached_property
    def adapter(self) -> Mapping[str, Any]:
        """How the model was asked."""
        spec = mapping_of(self._spec.get("adapter_spec"))
        return spec or mapping_of(mapping_of(self.state).get("adapter_spec"))

    @cached_property
    def state(self) -> Any:  # noqa: ANN401 - any JSON value
        """All requests and answers."""
        return self._document(STATE)

    @cached_property
    def declared(self) -> frozenset[str]:
        """The metrics that the run lists by name."""
        specs = self._spec.get("metric_specs")
        given = (mapping_of(mapping_of(each).get("args")) for each in specs or [])
        return frozenset(
            str(name)
            for arguments in given
            for name in (arguments.get("names") or [])
            if isinstance(name, str)
        )

    def role(self, metric: str) -> Role:
        """Say whether a stat of this run judges answers."""
        method = str(self.adapter.get("method", ""))
        return role_of(metric, method=method, declared=self.declared)

    def _document(self, name: str) -> Any:  # noqa: ANN401 - any JSON value
        path = self.path(name)
        if not path.is_file():
            return None
        try:
            return Source(path).document
        except ReadError:
            if name != SPEC:
                raise
            # The name of the run is in that of the folder as well.
            self.notes.append(f"{name} is damaged and was not used")
            return None

    def failures(self) -> dict[Key, str]:
        """Find the requests that got no answer; HELM judges them as if it were empty."""
        path = self.path(STATE)
        if not path.is_file() or not _mentions(path, _FAILED):
            return {}
        found: dict[Key, str] = {}
        for _, request in request_states(self.state):
            result = request.get("result")
            if isinstance(result, Mapping) and result.get("success") is False:
                # A request that says not whose it is has its message when answers are read.
                with suppress(*BAD_RECORD):
                    found[request_key(request)] = str(result.get("error") or "the request failed")
        return found


def request_states(state: object) -> Iterator[tuple[str, Row]]:
    """Go through the requests as (record, request)."""
    found = mapping_of(state).get("request_states")
    for number, request in enumerate(found if isinstance(found, list) else []):
        yield f"request_states[{number}]", request if isinstance(request, dict) else {}


def request_key(request: Row) -> Key:
    """Give instance, perturbation and trial of a request.

    Raises:
        ValueError: It does not say which instance it is about.
    """
    instance = mapping_of(request.get("instance"))
    return key_of(instance.get("id"), instance.get("perturbation"), request)


def key_of(instance: object, perturbation: object, record: Row) -> Key:
    """Give the key of a record.

    Raises:
        ValueError: It does not say which instance it is about.
    """
    if instance is None:
        raise ValueError("it has no instance id")
    return str(instance), _perturbed(perturbation), count_of(record.get("train_trial_index"))


def _perturbed(perturbation: object) -> str:
    """Name what was done to the text of an instance, with all that tells two variants apart."""
    if not isinstance(perturbation, Mapping):
        return ""
    named = str(perturbation.get("name", "perturbed"))
    given = {
        key: value
        for key, value in perturbation.items()
        if key not in {"name", "robustness", "fairness", "computed_on"} and value is not None
    }
    details = ",".join(f"{key}={given[key]}" for key in sorted(given))
    return f"{named}({details})" if details else named


def without_details(perturbations: Iterable[str]) -> dict[str, str]:
    """Shorten the names of perturbations to their plain names where those are unambiguous.

    Example:
        >>> without_details(["", "typos(prob=0.1)", "gender(mode=a)", "gender(mode=b)"]).values()
        dict_values(['', 'typos', 'gender(mode=a)', 'gender(mode=b)'])
    """
    full = list(dict.fromkeys(perturbations))
    short = [name.partition("(")[0] for name in full]
    return {
        name: plain if short.count(plain) == 1 else name
        for name, plain in zip(full, short, strict=True)
    }


def place_of(run: Run, key: Key, names: Mapping[str, str]) -> Row:
    """Give the key columns of a row; ``names`` are the names of the perturbations."""
    instance, perturbation, trial = key
    named = names.get(perturbation, perturbation)
    place = {
        "run_id": run.name,
        "system": run.system,
        "task": run.task,
        "example_id": f"{instance}~{named}" if named else instance,
        "trial": trial,
    }
    # One instance, several times perturbed: the variants are no independent examples.
    return {**place, "cluster": instance} if any(names.values()) else place


def _mentions(path: Path, pattern: re.Pattern[bytes]) -> bool:
    """Search a file that may be large without parsing it."""
    rest = b""
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            if pattern.search(rest + chunk):
                return True
            rest = chunk[-64:]
    return False


def mapping_of(value: object) -> Mapping[str, Any]:
    """Give the value where it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}
