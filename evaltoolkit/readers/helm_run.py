"""A run directory of HELM: which files it has, whose run it is, which requests failed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from evaltoolkit.errors import ReadError
from evaltoolkit.readers.base import Reading, Row, Source
from evaltoolkit.readers.helm_metrics import Role, role_of
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
        notes: What had to be decided.
        system: The model.
        task: The name of the run without its model.
    """

    folder: Path
    reading: Reading
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
        return self.folder / name

    def where(self, name: str) -> str:
        """Say which file a row is from; all runs have the same file names."""
        return f"{self.folder.resolve().name}/{name}"

    @cached_property
    def _spec(self) -> Mapping[str, Any]:
        return _mapping(self._document(SPEC))

    @cached_property
    def name(self) -> str:
        """The name that HELM gave the run, else that of the folder."""
        named = self._spec.get("name")
        return named if isinstance(named, str) and named else self.folder.resolve().name

    @cached_property
    def adapter(self) -> Mapping[str, Any]:
        """How the model was asked."""
        spec = _mapping(self._spec.get("adapter_spec"))
        return spec or _mapping(_mapping(self.state).get("adapter_spec"))

    @cached_property
    def state(self) -> Any:  # noqa: ANN401 - any JSON value
        """All requests and answers."""
        return self._document(STATE)

    @cached_property
    def declared(self) -> frozenset[str]:
        """The metrics that the run lists by name."""
        specs = self._spec.get("metric_specs")
        given = (_mapping(_mapping(each).get("args")) for each in specs or [])
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
        for _, _, request in request_states(self.state):
            result = request.get("result")
            if isinstance(result, Mapping) and result.get("success") is False:
                key = request_key(request)
                found[key] = str(result.get("error") or "the request failed")
        return found


def request_states(state: object) -> Iterator[tuple[str, Key, Row]]:
    """Go through the requests that are laid out like requests, as (record, key, request)."""
    for number, request in enumerate(_mapping(state).get("request_states") or []):
        if isinstance(request, dict) and isinstance(request.get("instance"), Mapping):
            yield f"request_states[{number}]", request_key(request), request


def request_key(request: Row) -> Key:
    """Give instance, perturbation and trial of a request."""
    instance = request["instance"]
    return key_of(instance.get("id"), instance.get("perturbation"), request)


def key_of(instance: object, perturbation: object, record: Row) -> Key:
    """Give the key of a record.

    Raises:
        ValueError: It does not say which instance it is about.
    """
    if instance is None:
        raise ValueError("it has no instance id")
    trial = int(record.get("train_trial_index") or 0)
    return str(instance), _perturbed(perturbation), trial


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


def _mentions(path: Path, pattern: re.Pattern[bytes]) -> bool:
    """Search a file that may be large without parsing it."""
    rest = b""
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            if pattern.search(rest + chunk):
                return True
            rest = chunk[-64:]
    return False


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
