"""One run of one mutator on one case: copy the state before, run, time it, compare."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from evaltoolkit.errors import ScorerError, listed
from evaltoolkit.evaluation.calls import Caller
from evaltoolkit.evaluation.digests import clean
from evaltoolkit.models import Model, OptionalId, as_id, describe_error
from evaltoolkit.scorers.base import is_several, shorten
from evaltoolkit.scorers.state.compared_states import ComparedStates
from evaltoolkit.scorers.state.comparing import Comparing
from evaltoolkit.scorers.state.interpretive import InterpretiveState, as_state
from evaltoolkit.scorers.state.mutation import (
    ErrorStage,
    MutationContext,
    MutationError,
    MutationResult,
    StructuredInput,
    as_input,
)

_MUTATOR_STAGES = ("client", "json", "shape", "item", "mutate")

State = Annotated[InterpretiveState, BeforeValidator(as_state)]


class MutatorCase(Model):
    """One test of a mutator: a state, what is said, and the state that should come of it.

    Attributes:
        id: Name of the case, unique within its task; numbers become text.
        mutation_input: What is said: a `StructuredInput` or a bare text.
        expected_post_state: The state that should come of it: an `InterpretiveState` or its plain
            form; values may be `OneOf` or `Near`.
        pre_state: The state before; default an empty one. It is never changed.
        task: Data set or suite.
        metadata: Passed to the mutator.
        attributes: Facts such as language or topic; columns of the tables.
        cluster: Name shared by cases that are not independent, such as turns of a conversation.
    """

    id: Annotated[str, BeforeValidator(as_id), Field(min_length=1)]
    mutation_input: Annotated[StructuredInput, BeforeValidator(as_input)]
    expected_post_state: State
    pre_state: State = Field(default_factory=InterpretiveState)
    task: Annotated[str, BeforeValidator(as_id)] = ""
    metadata: Mapping[str, Any] | None = None
    attributes: dict[str, Any] = Field(default_factory=dict)
    cluster: OptionalId = None


@dataclass(frozen=True)
class NamedMutator:
    """A mutator with its name, as a function of a context."""

    name: str
    function: Callable[[MutationContext], Any]
    is_async: bool


@dataclass(frozen=True)
class MutatorRun:
    """What came of one run.

    Attributes:
        case: The case.
        mutator: Name of the mutator.
        trial: Which repeat, from 0.
        actual: The state that came out; None where none did.
        compared: The comparison; None where something broke.
        time_s: Seconds that the mutator took, also where it broke; None where it never ran.
        error_stage: Where it broke; None where it did not.
        error_type: The type of what was raised.
        error: What was raised, in words.
        metadata: What the mutator said beside.
        extractions: One row per item that was read of a reply.
    """

    case: MutatorCase
    mutator: str
    trial: int
    actual: InterpretiveState | None = None
    compared: ComparedStates | None = None
    time_s: float | None = None
    error_stage: ErrorStage | None = None
    error_type: str | None = None
    error: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    extractions: tuple[Any, ...] = ()

    def broken(self, stage: ErrorStage, error: BaseException) -> MutatorRun:
        """Say where and how it broke; a mutator knows better, but only of its own stages."""
        if isinstance(error, MutationError):
            return replace(
                self,
                error_stage=error.stage if error.stage in _MUTATOR_STAGES else stage,
                error_type=error.error_type,
                error=str(error),
                extractions=_as_rows(error.extractions),
            )
        return replace(
            self,
            error_stage=stage,
            error_type=type(error).__name__,
            error=describe_error(error),
        )


def name_mutators(mutators: object) -> list[NamedMutator]:
    """Make functions of mutators.

    Args:
        mutators: A mapping from names to mutators, or one mutator. A mutator has a method
            ``mutate(context)`` or is itself such a function, sync or async.

    Raises:
        ScorerError: There is none, one cannot mutate, or a name is empty or repeats.
    """
    if not isinstance(mutators, Mapping):
        mutators = {_own_name(mutators): mutators}
    if not mutators:
        msg = "there is no mutator"
        raise ScorerError(msg, code="no_mutator", path="mutators")
    named = [_named(clean(str(as_id(name))), mutator) for name, mutator in mutators.items()]
    names = [mutator.name for mutator in named]
    if not all(map(str.strip, names)):
        msg = "a mutator has an empty name; give it one"
        raise ScorerError(msg, code="missing_mutator", path="mutators", value=names)
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        msg = f"the mutator name(s) {listed(repeated)} occur more than once as text"
        raise ScorerError(msg, code="duplicate_keys", path="mutators", value=repeated)
    return named


def _own_name(mutator: object) -> str:
    own = getattr(mutator, "name", None) or getattr(mutator, "__name__", None)
    return str(own or type(mutator).__name__)


def _named(name: str, mutator: object) -> NamedMutator:
    function = getattr(mutator, "mutate", mutator)
    if isinstance(mutator, type) or not callable(function):
        msg = (
            f"the mutator {name!r} is {shorten(mutator)}; give an object with a method "
            "mutate(context), or a function of a MutationContext; several go into a mapping from "
            "names to mutators"
        )
        raise ScorerError(msg, code="bad_mutator", path=name, value=mutator)
    own_call = getattr(function, "__call__", None)  # noqa: B004 - asked for its kind, below
    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(own_call)
    return NamedMutator(name, function, is_async)


async def run_mutator(
    mutator: NamedMutator, case: MutatorCase, trial: int, *, how: Comparing, caller: Caller
) -> MutatorRun:
    """Run a mutator once; whatever breaks becomes a run that says where."""
    run = MutatorRun(case, mutator.name, trial)
    try:
        context = MutationContext(
            input=case.mutation_input, state=_copied(case.pre_state), metadata=case.metadata
        )
    except Exception as error:  # the values of a state may do anything when they are copied
        return run.broken("copy", error)
    started = time.monotonic()
    outcome = await caller.call(lambda: mutator.function(context), is_async=mutator.is_async)
    run = replace(run, time_s=time.monotonic() - started)
    if outcome.error is not None:
        return run.broken("mutate", outcome.error)
    try:
        result = _result(outcome.value)
    except TypeError as error:
        return run.broken("mutate", error)
    return _compared(run, result, how)


def _copied(state: InterpretiveState) -> InterpretiveState:
    copied: object = state.copy()
    if not isinstance(copied, InterpretiveState):
        msg = f"the copy of the state before is a {type(copied).__name__}, not a state"
        raise TypeError(msg)
    return copied


def _result(returned: object) -> MutationResult:
    if isinstance(returned, MutationResult):
        return returned
    if isinstance(returned, InterpretiveState):
        return MutationResult(updated_state=returned)
    hint = "; a mutator returns the new state, also where it changed the one it got"
    msg = (
        f"the mutator returned {shorten(returned)}, which is neither a MutationResult nor an "
        f"InterpretiveState{hint if returned is None else ''}"
    )
    raise TypeError(msg)


def _as_rows(extractions: object) -> tuple[Any, ...]:
    """Take the extractions that a mutator says it made, whatever they are."""
    return tuple(extractions) if is_several(extractions) else (extractions,)


def _compared(run: MutatorRun, result: MutationResult, how: Comparing) -> MutatorRun:
    metadata = dict(result.metadata or {})
    run = replace(
        run,
        actual=result.updated_state,
        metadata=metadata,
        extractions=_as_rows(metadata.pop("extractions", ())),
    )
    try:
        compared = how.compare(
            run.case.expected_post_state, result.updated_state, run.case.pre_state
        )
    except Exception as error:  # the values of a state may do anything when they are compared
        return run.broken("compare", error)
    return replace(run, compared=compared)


def check_cases(cases: list[MutatorCase]) -> None:
    """Refuse what is no case.

    Raises:
        ScorerError: There is such, or there is no case at all.
    """
    if not cases:
        msg = "there is no case"
        raise ScorerError(msg, code="no_case", path="cases")
    for place, case in enumerate(cases):
        if not isinstance(case, MutatorCase):
            kind = type(case).__name__
            msg = f"cases[{place}] is a {kind}; make it MutatorCase(id=..., mutation_input=...)"
            raise ScorerError(msg, code="bad_case", path=f"cases[{place}]", value=case)
