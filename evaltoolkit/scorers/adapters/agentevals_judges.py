"""The LLM judges of agentevals and openevals: each asks one named endpoint, and nothing else."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from copy import deepcopy
from importlib import import_module
from string import Formatter
from typing import Any, ClassVar, Unpack

from evaltoolkit.errors import ScorerError
from evaltoolkit.models import Example, Output
from evaltoolkit.scorers.adapters.agentevals_scorer import (
    check_choice,
    messages_of,
    need_packages,
    quietly,
    returned_of,
    trajectory_of,
)
from evaltoolkit.scorers.adapters.foreign import (
    Arguments,
    ForeignScorer,
    Returned,
    asked_text,
    checked_arguments,
    further_arguments,
)
from evaltoolkit.scorers.adapters.judge_access import (
    JudgeAccess,
    JudgeOptions,
    naming_of,
    need_model,
    open_access,
)
from evaltoolkit.scorers.base import (
    Unmeasurable,
    answer_of,
    is_array,
    is_object,
    reference_of,
    shorten,
)
from evaltoolkit.scorers.parsing import object_or_array


class EndpointJudge(ForeignScorer):
    """Base of the evaluators that ask a model.

    The score is True or False, a number from 0 to 1 with `continuous`, or one of `choices`. What
    the model answers beside that, which goes through there unchecked, is a scorer error here.
    LangSmith is switched off for the call. What the prompt asks for and is not there leaves the
    example unscored. The endpoint must support structured output (``response_format``).

    Args:
        prompt: Prompt with the fields of `str.format`; None for the package's own.
        continuous: Whether the score is a number from 0 to 1.
        choices: The numbers that the score may be.
        settings: Further arguments of the package's factory, such as ``use_reasoning``.
        arguments: Further fields of the prompt, or a function of output and example.
        **options: See `JudgeOptions` and `Naming`.

    Raises:
        ScorerError: The endpoint or model is missing or unsafe, or the prompt has stray braces.
        MissingDependencyError: The packages are not installed.
    """

    default_threshold: ClassVar[float | None] = None
    factory: ClassVar[tuple[str, str]]
    """Module and name of what makes the evaluator."""
    own_prompt: ClassVar[tuple[str, str]]
    """Module and name of the package's own prompt."""
    optional: ClassVar[tuple[str, ...]] = ()
    """Fields of the prompt that may stay empty."""

    def __init__(
        self,
        prompt: str | None = None,
        *,
        continuous: bool = False,
        choices: Sequence[float] | None = None,
        settings: Mapping[str, Any] | None = None,
        arguments: Arguments | None = None,
        **options: Unpack[JudgeOptions],
    ) -> None:
        super().__init__(**naming_of(options, kind=type(self)))
        self._access = checked_access(self.name, options)
        self._continuous, self._choices = continuous, _as_choices(choices, continuous)
        self._describe_scale()
        text = prompt if prompt is not None else _found(self.own_prompt)
        self._fields = _fields_of(text)
        self._arguments = checked_arguments(arguments)
        self._evaluator = _made(
            self.name,
            self.factory,
            {
                "prompt": text,
                "judge": self._access.client(),
                "model": self._access.model,
                "continuous": continuous,
                "choices": list(self._choices) or None,
                **_checked_settings(self.name, settings),
            },
        )

    def ask(self, output: Output, example: Example, /) -> Returned:
        """Have the model judge."""
        given = self.material(output, example)
        given |= further_arguments(self._arguments, output, example)
        for field in self._fields:
            if given.get(field) is None and field not in self.optional:
                msg = f"the prompt of {self.name} asks for {field!r}, which is not there"
                raise Unmeasurable(msg)
        result = returned_of(quietly(lambda: self._evaluator(**deepcopy(given))))
        if isinstance(result, list):
            msg = f"{self.name} gave {len(result)} scores where one was asked for"
            raise ScorerError(msg, code="bad_return", path=self.name)
        self._check_value(result.value)
        details = {**(result.details or {}), "judge": self._access.shown()}
        return result._replace(details=details)

    @abstractmethod
    def material(self, output: Output, example: Example) -> dict[str, Any]:
        """Give the outputs, reference outputs and inputs, as far as there are any."""

    def without_secrets(self, text: str) -> str:
        """Take the key out of an error's text."""
        return self._access.hide_key(text)

    def _describe_scale(self) -> None:
        scale: dict[str, Any] = {"kind": "continuous" if self._continuous else "binary"}
        if self._choices:
            scale = {
                "kind": "ordinal",
                "lower_bound": min(self._choices),
                "upper_bound": max(self._choices),
            }
        self._criterion = self._criterion.model_copy(update=scale)

    def _check_value(self, value: object) -> None:
        if self._choices:
            fits, wanted = value in self._choices, f"one of {list(self._choices)}"
        elif self._continuous:
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            fits, wanted = is_number, "a number from 0 to 1"
        else:
            fits, wanted = isinstance(value, bool), "true or false"
        if not fits:
            msg = f"the judge answered {value!r}, but was asked for {wanted}"
            raise ScorerError(msg, code="bad_reply", path=self.name, value=value)


class TrajectoryLLMAsJudge(EndpointJudge):
    """Is the trajectory good, by the judge of agentevals: messages against the reference."""

    factory: ClassVar[tuple[str, str]] = (
        "agentevals.trajectory.llm",
        "create_trajectory_llm_as_judge",
    )
    own_prompt: ClassVar[tuple[str, str]] = (
        "agentevals.trajectory.llm",
        "TRAJECTORY_ACCURACY_PROMPT_WITH_REFERENCE",
    )

    def material(self, output: Output, example: Example) -> dict[str, Any]:
        """Give the messages and, where the prompt asks for them, the reference's."""
        given: dict[str, Any] = {"outputs": messages_of(output)}
        if "reference_outputs" in self._fields:
            given["reference_outputs"] = trajectory_of(example)
        return given | _inputs_of(example)


class GraphTrajectoryLLMAsJudge(EndpointJudge):
    """Is the path through a graph good, by the judge of agentevals.

    The trajectory is a dict with ``inputs``, ``results`` and ``steps``, also inside the pair
    ``{"inputs": ..., "outputs": ...}`` that agentevals extracts from a thread. It is looked for in
    the output's messages, then in its final state; a reference, which may be missing, in the
    example's reference_tool_calls, then in its reference.
    """

    factory: ClassVar[tuple[str, str]] = (
        "agentevals.graph_trajectory.llm",
        "create_graph_trajectory_llm_as_judge",
    )
    own_prompt: ClassVar[tuple[str, str]] = (
        "agentevals.graph_trajectory.llm",
        "DEFAULT_REF_COMPARE_PROMPT",
    )
    optional: ClassVar[tuple[str, ...]] = ("reference_outputs", "thread")

    def material(self, output: Output, example: Example) -> dict[str, Any]:
        """Give the graph's trajectory, its inputs and the reference."""
        actual = _graph_of(output.messages) or _graph_of(output.final_state)
        if actual is None:
            msg = "the output has no graph trajectory: a dict with inputs, results and steps"
            raise Unmeasurable(msg)
        if actual.get("inputs") is None:
            msg = "the graph trajectory has no inputs, which this judge needs"
            raise Unmeasurable(msg)
        reference = _graph_of(example.reference_tool_calls) or _graph_of(example.reference)
        given = {"inputs": actual["inputs"], "outputs": actual}
        return given if reference is None else given | {"reference_outputs": reference}


class OpenevalsLLMAsJudge(EndpointJudge):
    """Is the answer good, by the judge of openevals: answer, reference and input in a prompt."""

    factory: ClassVar[tuple[str, str]] = ("openevals.llm", "create_llm_as_judge")
    own_prompt: ClassVar[tuple[str, str]] = ("openevals.prompts", "CORRECTNESS_PROMPT")

    def material(self, output: Output, example: Example) -> dict[str, Any]:
        """Give the answer, and the reference where there is one."""
        given: dict[str, Any] = {"outputs": answer_of(output)}
        if example.reference is not None:
            given["reference_outputs"] = example.reference
        return given | _inputs_of(example)


class OpenevalsCodeLLMAsJudge(OpenevalsLLMAsJudge):
    """Is the code in the answer right, by the judge of openevals."""

    factory: ClassVar[tuple[str, str]] = ("openevals.code.llm", "create_code_llm_as_judge")
    own_prompt: ClassVar[tuple[str, str]] = ("openevals.prompts", "CODE_CORRECTNESS_PROMPT")


class OpenevalsJSONMatch(ForeignScorer):
    """Do the keys of a JSON answer match, by openevals: a part for each key, or their aggregate.

    A text that holds a JSON object or array is read first.

    Args:
        settings: Arguments of ``create_json_match_evaluator``: ``aggregator``,
            ``list_aggregator``, ``exclude_keys``, ``list_match_mode``, ``rubric``. With a rubric
            a judge is asked, whose endpoint must be named.
        **options: See `JudgeOptions` and `Naming`.

    Raises:
        ScorerError: A setting is wrong, or there is a rubric and the endpoint or model is missing
            or unsafe.
        MissingDependencyError: The packages are not installed.
    """

    default_threshold: ClassVar[float | None] = None

    def __init__(
        self, *, settings: Mapping[str, Any] | None = None, **options: Unpack[JudgeOptions]
    ) -> None:
        super().__init__(**naming_of(options, kind=type(self)))
        own = _checked_settings(self.name, settings)
        for key, allowed in _JSON_CHOICES.items():
            check_choice(f"settings.{key}", own.get(key, allowed[0]), allowed)
        self._access = checked_access(self.name, options) if own.get("rubric") else None
        need_packages(self.name)
        if self._access:
            own |= {"judge": self._access.client(), "model": self._access.model}
        factory = ("openevals.json", "create_json_match_evaluator")
        self._evaluator = _made(self.name, factory, own)

    def ask(self, output: Output, example: Example, /) -> Returned | list[Returned]:
        """Compare the answer with the reference, key by key."""
        given = {
            "outputs": _records(answer_of(output), "answer"),
            "reference_outputs": _records(reference_of(example), "reference"),
        }
        if is_object(given["outputs"]) != is_object(given["reference_outputs"]):
            msg = "of the answer and the reference one is a JSON object and the other a list"
            raise Unmeasurable(msg)
        return returned_of(quietly(lambda: self._evaluator(**deepcopy(given))))

    def without_secrets(self, text: str) -> str:
        """Take the key out of an error's text."""
        return self._access.hide_key(text) if self._access else text


def checked_access(name: str, options: JudgeOptions) -> JudgeAccess:
    """Check where the judge is and that its model is named, then that the packages are there.

    Raises:
        ScorerError: The endpoint or the model is missing or unsafe.
        MissingDependencyError: A package is not installed.
    """
    access = open_access(name, options, extra="agentevals")
    need_model(access.model, purpose=name)
    need_packages(name)
    return access


_JSON_CHOICES: dict[str, tuple[str | None, ...]] = {
    "aggregator": (None, "average", "all"),
    "list_aggregator": ("all", "average"),
    "list_match_mode": ("same_elements", "subset", "superset", "ordered"),
}
"""What the settings of `OpenevalsJSONMatch` may be; there anything else counts as a default."""


def _records(value: object, what: str) -> Any:  # noqa: ANN401 - an object or a list of them
    value = object_or_array(value, otherwise=value) if isinstance(value, str) else value
    if not is_object(value) and not (is_array(value) and all(map(is_object, value))):
        msg = f"the {what} {shorten(value)} is not a JSON object or a list of them"
        raise Unmeasurable(msg)
    return value


def _made(name: str, factory: tuple[str, str], arguments: Mapping[str, Any]) -> Any:  # noqa: ANN401
    try:
        return _found(factory)(**arguments)
    except (TypeError, ValueError) as error:
        msg = f"{name} cannot be made with these settings: {error}"
        raise ScorerError(msg, code="bad_option", path="settings") from error


def _found(place: tuple[str, str]) -> Any:  # noqa: ANN401 - of a package without types
    module, name = place
    return getattr(import_module(module), name)


def _checked_settings(name: str, settings: Mapping[str, Any] | None) -> dict[str, Any]:
    own = dict(settings or {})
    taken = sorted({"judge", "model", "prompt", "continuous", "choices"} & own.keys())
    if taken:
        msg = f"settings of {name} hold {taken[0]!r}, which is an argument of its own or forbidden"
        raise ScorerError(msg, code="bad_option", path=f"settings.{taken[0]}", value=taken)
    return own


def _as_choices(choices: Sequence[float] | None, continuous: bool) -> tuple[float, ...]:
    if choices is None:
        return ()
    given: Sequence[object] = choices
    numbers = [c for c in given if isinstance(c, int | float) and math.isfinite(c)]
    if len(numbers) < len(given) or len(set(numbers)) < 2:
        msg = f"choices is {shorten(choices)}; there must be at least two different numbers"
        raise ScorerError(msg, code="bad_option", path="choices", value=choices)
    if continuous:
        msg = "continuous and choices are both given; a score is either any number or one of a few"
        raise ScorerError(msg, code="bad_option", path="choices", value=choices)
    return tuple(choices)


def _fields_of(prompt: object) -> tuple[str, ...]:
    if not isinstance(prompt, str):
        msg = f"prompt is a {type(prompt).__name__}; it must be a text with fields like {{outputs}}"
        raise ScorerError(msg, code="bad_option", path="prompt", value=prompt)
    try:
        found = [name for _, name, _, _ in Formatter().parse(prompt) if name is not None]
    except ValueError as error:
        found, problem = [], str(error)
    else:
        problem = "" if all(name.isidentifier() for name in found) else f"it holds {found[0]!r}"
    if problem:
        msg = f"the prompt cannot be filled in: {problem}; write literal braces as {{{{ and }}}}"
        raise ScorerError(msg, code="bad_option", path="prompt", value=problem)
    return tuple(dict.fromkeys(found))


def _inputs_of(example: Example) -> dict[str, Any]:
    return {} if example.input is None else {"inputs": asked_text(example.input)}


def _graph_of(value: object) -> dict[str, Any] | None:
    if not is_object(value):
        return None
    inner = value.get("outputs")
    if is_object(inner) and "steps" in inner:
        return {**inner, "inputs": inner.get("inputs") or value.get("inputs")}
    return dict(value) if "steps" in value and "results" in value else None
