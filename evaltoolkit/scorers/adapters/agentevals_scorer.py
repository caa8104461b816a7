"""Evaluators of the packages agentevals and openevals as scorers of this library."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextvars import Context
from copy import deepcopy
from functools import partial
from importlib import import_module
from typing import Any, ClassVar, Literal, TypeVar, Unpack

from evaltoolkit.errors import ScorerError
from evaltoolkit.models import Example, Kind, Output
from evaltoolkit.scorers.adapters.foreign import (
    Arguments,
    ForeignScorer,
    Returned,
    asked_text,
    checked_arguments,
    further_arguments,
)
from evaltoolkit.scorers.base import (
    Naming,
    Unmeasurable,
    answer_of,
    is_array,
    is_object,
    is_several,
    need_package,
    reference_of,
    shorten,
)
from evaltoolkit.scorers.calls.call_arguments import ArgsMatchMode, ArgsOverride, ArgumentRule

Evaluator = Callable[..., Any]
ListMode = Literal["strict", "unordered", "subset", "superset"]

LIST_MODES = ("strict", "unordered", "subset", "superset")

_SENDING_MODULES = (
    "agentevals.graph_trajectory.llm",
    "agentevals.trajectory.llm",
    "openevals.code.e2b",
    "openevals.llm",
    "openevals.string.embedding_similarity",
    "openevals.trajectory.llm",
)
_PACKAGES = ("agentevals.", "openevals.")
_SENDING_SETTINGS = ("client", "judge", "model")
_SWAPPED: dict[str, str] = {"subset": "superset", "superset": "subset"}

T = TypeVar("T")


class AgentevalsScorer(ForeignScorer):
    """A ready evaluator: any function of ``outputs`` and ``reference_outputs`` by keyword.

    A list of results becomes parts, named by their keys; None and NaN are unscored, an exception
    is a scorer error. The evaluator gets copies, for agentevals writes into its arguments. Nothing
    is traced: LangSmith is switched off for the call, whatever the environment says.

    Args:
        evaluator: The evaluator. One that sends data to a model, or code to a sandbox elsewhere, is
            refused, also inside a function of your own: take `TrajectoryLLMAsJudge`,
            `OpenevalsLLMAsJudge`, `EmbeddingSimilarity` or the like, which know the endpoint.
        compares: ``"answer"`` with the example's reference, or ``"messages"`` with its
            trajectory; see `messages_of` and `trajectory_of`.
        arguments: Further arguments of the call: a mapping, or a function of output and example.
        **naming: See `Naming`; there is no threshold by default, a boolean is its own verdict.

    Raises:
        ScorerError: The evaluator is async, sends data to a model, or is none.
        MissingDependencyError: agentevals or openevals is not installed.
    """

    default_threshold: ClassVar[float | None] = None

    def __init__(
        self,
        evaluator: Evaluator,
        *,
        compares: Literal["answer", "messages"] = "answer",
        arguments: Arguments | None = None,
        **naming: Unpack[Naming],
    ) -> None:
        check_choice("compares", compares, ("answer", "messages"))
        naming["name"] = naming.get("name") or _name_of(evaluator)
        super().__init__(**naming)
        need_packages(self.name)
        self._evaluator = _checked(evaluator)
        self._compares = compares
        self._arguments = checked_arguments(arguments)

    def ask(self, output: Output, example: Example, /) -> Returned | list[Returned]:
        """Call the evaluator with copies of what it compares."""
        given = further_arguments(self._arguments, output, example)
        if self._compares == "messages":
            given |= {"outputs": messages_of(output), "reference_outputs": trajectory_of(example)}
        else:
            given |= {"outputs": answer_of(output), "reference_outputs": reference_of(example)}
        if example.input is not None:
            given.setdefault("inputs", asked_text(example.input))
        return returned_of(quietly(lambda: self._evaluator(**deepcopy(given))))


class AgentevalsTrajectoryMatch(ForeignScorer):
    """The trajectory match of agentevals 0.0.9 or openevals 0.2, run by the package itself.

    agentevals up to 0.0.9 swaps the two sides of the arguments in its list modes ``subset`` and,
    on the way back, ``unordered``, so that ``tool_args_match_mode`` "subset" and "superset" mean
    each other there. That is corrected: an argument mode always reads (actual, reference). With
    ``argument_modes="published"`` the package is left as it is. Whether a version swaps is tried
    out, not looked up; the details of each score say what was found. Its other traits remain:
    the greedy pairing, and malformed arguments, which are a scorer error. A missing reference,
    which passes there as superset, is unscored.

    Args:
        trajectory_match_mode: ``"strict"`` (message by message), ``"unordered"``, ``"subset"``
            (no call beyond the reference) or ``"superset"`` (every call of the reference).
        tool_args_match_mode: ``"exact"``, ``"ignore"``, ``"subset"`` (no argument beyond the
            reference's) or ``"superset"`` (all of the reference's).
        tool_args_match_overrides: By tool: a mode, a list of dotted keys, or a function of the
            actual and the reference arguments.
        package: Which package runs it.
        argument_modes: ``"corrected"`` or ``"published"``.
        **naming: See `Naming`; the default name is the package's, ``trajectory_<mode>_match``.

    Raises:
        ScorerError: A mode or an override does not exist.
        MissingDependencyError: The packages are not installed.
    """

    kind: ClassVar[Kind] = "binary"

    def __init__(
        self,
        trajectory_match_mode: ListMode = "strict",
        *,
        tool_args_match_mode: ArgsMatchMode = "exact",
        tool_args_match_overrides: Mapping[str, ArgsOverride] | None = None,
        package: Literal["agentevals", "openevals"] = "agentevals",
        argument_modes: Literal["corrected", "published"] = "corrected",
        **naming: Unpack[Naming],
    ) -> None:
        check_choice("trajectory_match_mode", trajectory_match_mode, LIST_MODES)
        overrides = _checked_overrides(tool_args_match_mode, tool_args_match_overrides)
        check_choice("package", package, ("agentevals", "openevals"))
        check_choice("argument_modes", argument_modes, ("corrected", "published"))
        naming["name"] = naming.get("name") or f"trajectory_{trajectory_match_mode}_match"
        super().__init__(**naming)
        need_packages(self.name)
        swaps = _swaps_arguments(package)
        self._mode = trajectory_match_mode
        self._steps = _steps(
            trajectory_match_mode,
            {"mode": tool_args_match_mode, "overrides": overrides},
            package=package,
            corrects=swaps and argument_modes == "corrected",
        )
        self._facts = {
            "package": _version_of(package),
            "trajectory_match_mode": trajectory_match_mode,
            "tool_args_match_mode": tool_args_match_mode,
            "swaps_arguments": swaps,
            "argument_modes": argument_modes,
        }

    def ask(self, output: Output, example: Example, /) -> Returned:
        """Match the messages with the reference."""
        actual = messages_of(output)
        reference = trajectory_of(example, whole=self._mode == "strict")
        for step in self._steps:
            pair = deepcopy({"outputs": actual, "reference_outputs": reference})
            result = returned_of(quietly(lambda step=step, pair=pair: step(**pair)))  # type: ignore[misc]
            if isinstance(result, list) or not result.value:
                return Returned(False, details=self._facts)
        return Returned(True, details=self._facts)


def quietly(action: Callable[[], T]) -> T:
    """Call an evaluator in a context of its own, in which LangSmith traces nothing."""

    def untraced() -> T:
        from langsmith import tracing_context

        with tracing_context(enabled=False):
            return action()

    return Context().run(untraced)


def returned_of(result: object) -> Returned | list[Returned]:
    """Read what an evaluator returned: a dict with ``score``, a list of them, or a bare value.

    Example:
        >>> returned_of({"key": "near", "score": 0.5, "comment": "half"}).value
        0.5
    """
    if is_several(result):
        parts = [returned_of(item) for item in result]
        return [one for part in parts for one in (part if isinstance(part, list) else [part])]
    if not is_object(result):
        return Returned(result)
    if "score" not in result:
        msg = f"the evaluator returned a dict without a score; its keys: {sorted(result)[:5]}"
        raise ScorerError(msg, code="bad_return", value=result)
    comment, metadata = result.get("comment"), result.get("metadata")
    return Returned(
        result["score"],
        comment=None if comment is None else str(comment),
        details=dict(metadata) if is_object(metadata) else None,
        part=None if result.get("key") is None else str(result["key"]),
    )


def messages_of(output: Output) -> list[Any]:
    """Give the conversation, or say what is wrong with it.

    Raises:
        Unmeasurable: There is none, or it is no list.
    """
    return _message_list(output.messages, "the output has no messages", "messages")


def trajectory_of(example: Example, *, whole: bool = False) -> list[Any]:
    """Give the reference trajectory: messages, or calls as one message of the assistant.

    Args:
        example: Its ``reference_tool_calls`` hold either.
        whole: Whether bare calls are not enough.

    Raises:
        Unmeasurable: There is none, or it is no list.
    """
    missing = "the example has no reference_tool_calls"
    items = _message_list(example.reference_tool_calls, missing, "reference_tool_calls")
    if all(_is_message(item) for item in items):
        return items
    if whole:
        msg = "the reference holds bare tool calls; a strict match needs the whole conversation"
        raise Unmeasurable(msg)
    return [{"role": "assistant", "content": "", "tool_calls": items}]


def need_packages(purpose: str) -> None:
    """Check that the packages are there.

    Raises:
        MissingDependencyError: One is not.
    """
    for package in ("agentevals", "openevals"):
        need_package(package, purpose=purpose, extra="agentevals")


def _message_list(value: object, missing: str, name: str) -> list[Any]:
    if value is None:
        raise Unmeasurable(missing)
    if is_object(value) and "messages" in value:
        value = value["messages"]
    if not is_array(value):
        msg = f"{name} is a {type(value).__name__}, not a list"
        raise Unmeasurable(msg)
    return value


def _is_message(item: object) -> bool:
    return ("role" in item) if is_object(item) else hasattr(item, "content")


def _name_of(evaluator: Evaluator) -> str:
    name = getattr(evaluator, "__name__", None) or type(evaluator).__name__
    made_by = getattr(evaluator, "__qualname__", "").partition(".<locals>")[0]
    return made_by.lstrip("_").removeprefix("create_").removesuffix("_evaluator") or str(name)


def _checked(evaluator: Evaluator) -> Evaluator:
    name = _name_of(evaluator)
    if isinstance(evaluator, type) or not callable(evaluator):
        msg = (
            f"evaluator is {shorten(evaluator)}; it must be a function of outputs and "
            "reference_outputs, such as a create_... function of the packages returns"
        )
        raise ScorerError(msg, code="not_a_scorer", path="evaluator", value=evaluator)
    if any(map(inspect.iscoroutinefunction, (evaluator, type(evaluator).__call__))):
        msg = f"the evaluator {name!r} is async; give its sync twin, which runs in a thread"
        raise ScorerError(msg, code="async_scorer", path="evaluator")
    if _reaches_a_model(evaluator):
        msg = (
            f"the evaluator {name!r} sends data to a model at an address that cannot be seen here; "
            "use TrajectoryLLMAsJudge, GraphTrajectoryLLMAsJudge, OpenevalsLLMAsJudge, "
            "OpenevalsJSONMatch or EmbeddingSimilarity with the address of the endpoint"
        )
        raise ScorerError(msg, code="missing_endpoint", path="evaluator")
    return evaluator


def _reaches_a_model(evaluator: object, depth: int = 5) -> bool:
    """Whether an evaluator, or one that it calls, was made with a model or a client.

    The factories of the packages return closures, so what they were given can be seen.
    """
    if depth == 0:
        return False
    if not inspect.isfunction(evaluator):
        return any(_reaches_a_model(value, depth - 1) for value in _parts_of(evaluator))
    module = evaluator.__module__ or ""
    if module.startswith(_SENDING_MODULES):
        return True
    seen = inspect.getclosurevars(evaluator)
    if module.startswith(_PACKAGES) and any(seen.nonlocals.get(key) for key in _SENDING_SETTINGS):
        return True
    globals_too = {} if module.startswith(_PACKAGES) else seen.globals
    used = (*seen.nonlocals.values(), *globals_too.values())
    return any(_reaches_a_model(value, depth - 1) for value in used)


def _parts_of(value: object) -> list[object]:
    """Give what a partial, a bound method or a callable object calls, as far as can be seen."""
    if isinstance(value, partial):
        return [value.func]
    if inspect.ismethod(value):
        return [value.__func__, *_parts_of(value.__self__)]
    if isinstance(value, type) or not callable(value):
        return []
    return list(getattr(value, "__dict__", {}).values())


def check_choice(name: str, value: object, allowed: tuple[object, ...]) -> None:
    """Refuse, by a ScorerError, a value that is none of the allowed ones."""
    if value not in allowed:
        msg = f"{name} is {shorten(value)}; it must be one of {', '.join(map(repr, allowed))}"
        raise ScorerError(msg, code="bad_option", path=name, value=value)


def _checked_overrides(
    mode: ArgsMatchMode, overrides: Mapping[str, ArgsOverride] | None
) -> dict[str, Any]:
    """Refuse what the packages would take for ``ignore``, or fail on in each row."""
    if overrides is not None and not isinstance(overrides, Mapping):
        msg = (
            f"tool_args_match_overrides is {shorten(overrides)}; it must be a dict from the name "
            "of a tool to how its arguments are compared"
        )
        raise ScorerError(msg, code="bad_option", path="tool_args_match_overrides", value=overrides)
    ArgumentRule(mode, overrides)
    given = dict(overrides or {})
    return {tool: list(how) if is_several(how) else how for tool, how in given.items()}


def _steps(
    mode: str, arguments: dict[str, Any], *, package: str, corrects: bool
) -> list[Evaluator]:
    """Give the evaluators that must all pass.

    Unordered is superset and subset at once, which is how the packages work it out, too; taken
    apart, its second half can be turned the right way round.
    """
    if not corrects or mode not in ("subset", "unordered"):
        return [_evaluator(package, mode, arguments["mode"], arguments["overrides"])]
    swapped = _SWAPPED.get(arguments["mode"], arguments["mode"])
    turned = {tool: _turned(override) for tool, override in arguments["overrides"].items()}
    steps = [_evaluator(package, "subset", swapped, turned)]
    if mode == "unordered":
        superset = _evaluator(package, "superset", arguments["mode"], arguments["overrides"])
        steps.insert(0, superset)
    return steps


def _turned(override: Any) -> Any:  # noqa: ANN401 - a mode, keys or a function
    if callable(override):
        return lambda actual, reference: override(reference, actual)
    return _SWAPPED.get(override, override) if isinstance(override, str) else override


def _evaluator(package: str, mode: str, args_mode: str, overrides: dict[str, Any]) -> Evaluator:
    module = "openevals" if package == "openevals" else "agentevals.trajectory.match"
    create = import_module(module).create_trajectory_match_evaluator
    choices = {"trajectory_match_mode": mode, "tool_args_match_mode": args_mode}
    evaluator: Evaluator = create(**choices, tool_args_match_overrides=overrides or None)
    return evaluator


def _swaps_arguments(package: str) -> bool:
    """Try out whether ``subset`` lets an argument pass that only the actual call has."""
    evaluator = _evaluator(package, "subset", "superset", {})
    more, less = ([_assistant({"x": 1, "z": 2})], [_assistant({"x": 1})])
    result = returned_of(quietly(lambda: evaluator(outputs=more, reference_outputs=less)))
    return isinstance(result, Returned) and not result.value


def _assistant(args: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "tool_calls": [{"name": "f", "args": args}]}


def _version_of(package: str) -> str:
    from importlib.metadata import version

    return f"{package} {version(package)}"
