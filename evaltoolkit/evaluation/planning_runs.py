"""Check what a run was asked for and name it by its choices."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from evaltoolkit.clients.cache import CallCache, call_key
from evaltoolkit.errors import EvalToolkitError, SchemaError, ScorerError
from evaltoolkit.evaluation.digests import digest, digest_of_example, digest_of_scorer
from evaltoolkit.evaluation.engine import Unit, units_of
from evaltoolkit.evaluation.records import ExampleIndex
from evaltoolkit.evaluation.run_tables import plain_attributes
from evaltoolkit.evaluation.runnable_systems import System, read_systems
from evaltoolkit.evaluation.scoring import check_scorers
from evaltoolkit.models import Example
from evaltoolkit.scorers.base import Scorer
from evaltoolkit.scorers.functions import as_scorer

Progressing = bool | Callable[[int, int], object] | None
"""Whether and how progress is shown."""

_RUN_ID = re.compile(r"[\w.-]{1,96}", re.ASCII)


class Options(NamedTuple):
    """The keywords of `evaluate`."""

    trials: int
    concurrency: int
    timeout: float | None
    run_id: str | None
    folder: str | Path | None
    cache: object
    progress: Progressing


@dataclass(frozen=True, eq=False)
class Plan:
    """A run that can start.

    Attributes:
        known: The examples by key.
        systems: The systems.
        scorers: The scorers.
        units: All calls, in order.
        choices: Digests of all that shapes the run; equal for the same run.
        run_id: Name of the run.
        folder: Folder of this run, None if nothing is kept.
        cache: Answers of earlier runs.
        cache_keys: Keys of the answers in the cache, by number of the unit.
        options: What was asked for.
    """

    known: ExampleIndex
    systems: Sequence[System]
    scorers: Sequence[Scorer]
    units: Sequence[Unit]
    choices: Mapping[str, Any]
    run_id: str
    folder: Path | None
    cache: CallCache | None
    cache_keys: Mapping[int, str]
    options: Options


def make_plan(
    examples: Iterable[Example], systems: object, scorers: Iterable[object], options: Options
) -> Plan:
    """Check everything that can be checked before the first call.

    Raises:
        EvalToolkitError: As `evaltoolkit.evaluate` says.
    """
    check_options(options)
    given = _several(examples, Example, "examples")
    items = [plain_attributes(_example(place, item)) for place, item in enumerate(given)]
    if not items:
        msg = "there is no example to run; give at least one"
        raise SchemaError(msg, code="no_examples", path="examples")
    known = ExampleIndex.of(items)
    judges = [as_scorer(candidate) for candidate in _several(scorers, Scorer, "scorers")]
    if not judges:
        msg = "there is no scorer; give at least one"
        raise ScorerError(msg, code="no_scorers", path="scorers")
    check_scorers(judges)
    read = read_systems(systems, known)
    choices = _choices([digest_of_example(item) for item in items], read, judges, options.trials)
    run_id = options.run_id if options.run_id is not None else f"run-{digest(choices)[:12]}"
    units = units_of(items, read, options.trials)
    cache = _cache(options.cache)
    return Plan(
        known=known,
        systems=read,
        scorers=judges,
        units=units,
        choices=choices,
        run_id=run_id,
        folder=None if options.folder is None else Path(options.folder).expanduser() / run_id,
        cache=cache,
        cache_keys={} if cache is None else _cache_keys(units),
        options=options,
    )


def _several(given: Any, single: type, name: str) -> Iterable[Any]:  # noqa: ANN401 - checked here
    if isinstance(given, single | str | Mapping) or not isinstance(given, Iterable):
        msg = f"{name} is a {type(given).__name__}; give a list, also of a single one"
        raise EvalToolkitError(msg, code="bad_option", path=name, value=given)
    return given


def _example(place: int, item: object) -> Example:
    if not isinstance(item, Example):
        msg = f"examples[{place}] is a {type(item).__name__}; make it Example(id=..., input=...)"
        raise SchemaError(msg, code="bad_example", path=f"examples[{place}]", value=item)
    return item


def _choices(
    examples: Sequence[str], systems: Sequence[System], scorers: Sequence[Scorer], trials: int
) -> dict[str, Any]:
    judged = {f"{n}: {s.name}": digest_of_scorer(s) for n, s in enumerate(scorers)}
    return {
        "examples": digest(examples),
        "systems": {system.name: system.digest for system in systems},
        "scorers": judged,
        "trials": trials,
    }


def _cache_keys(units: Sequence[Unit]) -> dict[int, str]:
    """Key answers by what the system is given: a corrected reference asks nothing again.

    Examples that ask the same keep answers of their own, since these count as independent.
    """
    return {unit.number: call_key("system", _asked(unit)) for unit in units if unit.system.call}


def _asked(unit: Unit) -> dict[str, object]:
    example, seen = unit.example, unit.system.sees
    return {
        "system": unit.system.name,
        "digest": unit.system.digest,
        "example": [example.task, example.id],
        "seen": digest_of_example(example, fields=seen),
        "trial": unit.trial,
    }


def _cache(given: object) -> CallCache | None:
    if given is None or isinstance(given, CallCache):
        return given
    if isinstance(given, str | PathLike):
        return CallCache(Path(given).expanduser())
    raise _bad("cache", given, "it must be the path of a file, a CallCache, or None")


def check_options(options: Options) -> None:
    """Refuse keywords that are out of range.

    Raises:
        EvalToolkitError: One is.
    """
    for name in ("trials", "concurrency"):
        value = getattr(options, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise _bad(name, value, "it must be a whole number from 1")
    limit: object = options.timeout
    if limit is not None and not _is_positive(limit):
        raise _bad("timeout", limit, "it must be a number of seconds above 0, or None")
    folder: object = options.folder
    if folder is not None and not isinstance(folder, str | PathLike):
        raise _bad("folder", folder, "it must be the path of a folder, or None")
    run_id: object = options.run_id
    if run_id is not None and not _is_run_id(run_id):
        allowed = "it must be a name of up to 96 letters, digits, dots, - and _, not only dots"
        raise _bad("run_id", run_id, allowed)
    shown: object = options.progress
    if not (shown is None or isinstance(shown, bool) or callable(shown)):
        raise _bad("progress", shown, "it must be True, False, None or a function")


def _is_positive(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 < value < math.inf  # type: ignore[operator]


def _is_run_id(value: object) -> bool:
    return isinstance(value, str) and bool(_RUN_ID.fullmatch(value) and value.strip("."))


def _bad(name: str, value: object, allowed: str) -> EvalToolkitError:
    return EvalToolkitError(
        f"{name} is {value!r}; {allowed}", code="bad_option", path=name, value=value
    )
