"""What is evaluated: functions that answer, or answers that were recorded before."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from evaltoolkit.errors import SchemaError, ScorerError, listed, nearest
from evaltoolkit.evaluation.digests import clean, describe, digest
from evaltoolkit.evaluation.records import (
    ExampleIndex,
    OutputRecord,
    locate,
    read_records,
)
from evaltoolkit.models import Example, Output, as_id

Key = tuple[str, str]
"""Task and id of an example."""

BY_NAME = ("example", "input", "history", "tools", "attributes", "trial")
"""Names of arguments that a system may ask for beside its first one."""

_POSITIONAL = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
)
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_IMMUTABLE = (str, bytes, int, float, type(None))


@dataclass(frozen=True, eq=False)
class System:
    """One system: its name and either a function to call or answers by example and trial.

    Attributes:
        name: Its name in the tables.
        call: Gives what the function returns for an example and a trial; None if recorded.
        is_async: Whether the function is a coroutine function, to be called on the event loop.
        recorded: For each example the trials and their outputs.
        digest: Short hash of what it is.
        sees: The fields of the example that the function is given; None for the whole example.
    """

    name: str
    call: Callable[[Example, int], Any] | None
    is_async: bool
    recorded: Mapping[Key, Mapping[int, Output]]
    digest: str
    sees: tuple[str, ...] | None = None

    def trials_of(self, example: Example, trials: int) -> list[int]:
        """List the trials to run: as asked for, or those that were recorded."""
        if self.call is not None:
            return list(range(trials))
        return sorted(self.recorded.get((example.task, example.id), ()))

    def recorded_output(self, example: Example, trial: int) -> Output:
        """Look a recorded answer up."""
        return self.recorded[example.task, example.id][trial]


def read_systems(systems: object, known: ExampleIndex) -> list[System]:
    """Make systems of what the user gave.

    Args:
        systems: A mapping from names to functions or recorded outputs, or an outputs table.
        known: The examples.

    Raises:
        SchemaError: There is none, a name is empty or repeats, or it is nothing of that kind.
        PairingError: A recorded output belongs to no example.
        ScorerError: A function asks for an argument that there is not.
    """
    if isinstance(systems, pd.DataFrame):
        if "system" not in systems.columns:
            msg = "the outputs table names no system; give it as {'name': table}"
            raise SchemaError(msg, code="missing_system", path="systems")
        systems = dict.fromkeys(systems["system"].dropna().unique().tolist(), systems)
    if not isinstance(systems, Mapping) or not systems:
        kind = "empty" if isinstance(systems, Mapping) else f"a {type(systems).__name__}"
        msg = (
            f"systems is {kind}; give a mapping from names to functions or recorded outputs, "
            "such as {'v1': answer}, or an outputs table"
        )
        raise SchemaError(msg, code="bad_systems", path="systems")
    read = [_read(_name(name), system, known) for name, system in systems.items()]
    names = [system.name for system in read]
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        msg = f"the system name(s) {listed(sorted(repeated))} occur more than once as text"
        raise SchemaError(msg, code="duplicate_keys", path="systems", value=repeated)
    return read


def _name(name: object) -> str:
    text = clean(str(as_id(name)))
    if not text.strip():
        msg = "a system has an empty name; give it one"
        raise SchemaError(msg, code="missing_system", path="systems", value=name)
    return text


def _read(name: str, system: object, known: ExampleIndex) -> System:
    if isinstance(system, pd.DataFrame | Mapping):
        return _recorded(name, system, known)
    if callable(system):
        call, sees = bind(system, name)
        is_async = is_coroutine_function(system)
        return System(name, call, is_async, {}, digest(describe(system)), sees)
    if isinstance(system, Iterable) and not isinstance(system, str | bytes):
        return _recorded(name, system, known)
    msg = (
        f"the system {name!r} is a {type(system).__name__}; give a function of the input (or of "
        "the Example), a mapping from example ids to outputs, or an outputs table"
    )
    raise SchemaError(msg, code="bad_system", path=f"systems[{name!r}]", value=system)


def is_coroutine_function(function: object) -> bool:
    """Whether calling it gives a coroutine: also for partials and objects with `__call__`."""
    call = getattr(type(function), "__call__", None)  # noqa: B004 - the function itself is wanted
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


class Binding(NamedTuple):
    """How a function is called with an example and a trial, and the fields that it then sees."""

    call: Callable[[Example, int], Any]
    sees: tuple[str, ...] | None


def bind(function: Callable[..., Any], name: str) -> Binding:
    """Find out what a system wants to be called with.

    Its first argument gets the `Example` if it is annotated as one or named ``example``, else
    the input of the example. Further arguments may be those of `BY_NAME`; others need a default.

    Raises:
        ScorerError: It asks for something else.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some functions written in C do not say
        return Binding(lambda example, trial: function(_own_copy(example.input)), ("input",))
    leading = bool(parameters) and parameters[0].kind in _POSITIONAL
    whole = leading and _wants_example(parameters[0])
    rest = [p for p in parameters[leading:] if p.kind in _NAMED]
    unknown = [p.name for p in rest if p.name not in BY_NAME and p.default is p.empty]
    if not parameters or unknown:
        raise _cannot_bind(name, unknown)
    wanted = [p.name for p in rest if p.name in BY_NAME]

    def call(example: Example, trial: int) -> Any:  # noqa: ANN401 - whatever the system answers
        asked = example if not (whole or wanted) else _own_example(example)
        given = {n: trial if n == "trial" else _part(asked, n) for n in wanted}
        if not leading:
            return function(**given)
        return function(asked if whole else _own_copy(example.input), **given)

    if whole or "example" in wanted:
        return Binding(call, None)
    fields = [*(["input"] if leading else []), *(n for n in wanted if n != "trial")]
    return Binding(call, tuple(sorted(set(fields))))


def _cannot_bind(name: str, unknown: list[str]) -> ScorerError:
    asked = f"{listed(unknown)} ({nearest(unknown[0], BY_NAME)})" if unknown else "nothing"
    return ScorerError(
        f"the system {name!r} asks for {asked}; its first argument gets the input, or the whole "
        f"Example where it is named or annotated so, and by name it may ask for "
        f"{listed(BY_NAME, limit=len(BY_NAME))}",
        code="unknown_argument",
        path=f"systems[{name!r}]",
        value=unknown,
    )


def _wants_example(parameter: inspect.Parameter) -> bool:
    noted = parameter.annotation
    if isinstance(noted, str):
        return noted.strip("'\" ").rsplit(".", 1)[-1] == "Example"
    if noted is not parameter.empty:
        return isinstance(noted, type) and issubclass(noted, Example)
    return parameter.name == "example"


def _part(example: Example, name: str) -> object:
    return example if name == "example" else getattr(example, name)


def _own_copy(value: Any) -> Any:  # noqa: ANN401 - any input
    """Copy an input, so that a system that changes it changes nothing for the next one."""
    if isinstance(value, _IMMUTABLE):
        return value
    try:
        return copy.deepcopy(value)
    except Exception:  # an object that cannot be copied is passed on as it is
        return value


def _own_example(example: Example) -> Example:
    try:
        return example.model_copy(deep=True)
    except Exception:  # as above
        return example


def as_output(returned: object) -> Output:
    """Make an `Output` of what a system returned.

    An `Output` stays one; a text, a number, a dict or a list becomes its ``text``; None is no
    answer.

    Raises:
        SchemaError: It is something else.

    Example:
        >>> as_output("4").text, as_output(None).text, as_output({"sum": 4}).text
        ('4', None, {'sum': 4})
    """
    if isinstance(returned, Output):
        return returned
    if returned is None or isinstance(returned, str | bool | int | float | dict | list):
        return Output(text=returned)
    msg = (
        f"the system returned a {type(returned).__name__}; return a text, a JSON value or an "
        "Output(text=...)"
    )
    raise SchemaError(msg, code="bad_output", value=type(returned).__name__)


def _recorded(name: str, given: object, known: ExampleIndex) -> System:
    """Sort recorded outputs by example and trial."""
    records = list(read_records(_as_records(name, given), system=name, run_id=None))
    found: dict[Key, dict[int, Output]] = {}
    for answer in locate(known, [r for r in records if r.system == name]):
        trials = found.setdefault((answer.example.task, answer.example.id), {})
        if answer.trial in trials:
            msg = (
                f"the system {name!r} has two recorded outputs for example "
                f"{answer.example.id!r}, trial {answer.trial}; number the trials"
            )
            raise SchemaError(msg, code="duplicate_keys", path=f"systems[{name!r}]")
        trials[answer.trial] = answer.output
    if not found:
        msg = f"nothing is recorded for the system {name!r}"
        raise SchemaError(msg, code="no_outputs", path=f"systems[{name!r}]")
    return System(name, None, False, found, _digest_of_recorded(found))


def _digest_of_recorded(found: Mapping[Key, Mapping[int, Output]]) -> str:
    fields = list(Output.model_fields)
    return digest(
        [
            [*key, trial, [getattr(output, name) for name in fields]]
            for key, outputs in sorted(found.items())
            for trial, output in sorted(outputs.items())
        ]
    )


def _as_records(name: str, given: object) -> pd.DataFrame | Iterable[OutputRecord]:
    if isinstance(given, pd.DataFrame):
        if "system" not in given.columns:
            return given
        return given[given["system"].map(as_id).astype(str) == name]
    if not isinstance(given, Mapping):
        return list(given)  # type: ignore[call-overload, no-any-return]
    return [
        OutputRecord(name, example_id, trial, as_output(output), task)
        for (task, example_id), outputs in _by_key(given).items()
        for trial, output in enumerate(outputs)
    ]


def _by_key(given: Mapping[Any, Any]) -> dict[tuple[str | None, Any], list[Any]]:
    """Read keys (id, or task and id) and values (an output, or a list of `Output` as trials)."""
    found: dict[tuple[str | None, Any], list[Any]] = {}
    for key, value in given.items():
        place = key if isinstance(key, tuple) else (None, key)
        several = isinstance(value, list) and value and all(isinstance(v, Output) for v in value)
        found[place] = list(value) if several else [value]
    return found
