"""The judges of autoevals under their published names.

Each is an `AutoevalsScorer`: it needs ``judge_base_url`` and ``model``, and leaves an example
unscored where it lacks what its prompt asks for. The default thresholds are those of agent_evals.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Unpack

from evaltoolkit.models import Kind
from evaltoolkit.scorers.adapters.autoevals_scorer import AutoevalsScorer
from evaltoolkit.scorers.adapters.foreign import Arguments
from evaltoolkit.scorers.adapters.judge_access import JudgeOptions


class AutoevalsJudge(AutoevalsScorer):
    """Base of the judges that are called like their class.

    Args:
        arguments: Further arguments of the call, or a function of output and example.
        settings: Arguments of the judge's own constructor, such as ``use_cot``.
        **options: See `JudgeOptions` and `Naming`.

    Raises:
        ScorerError: The judge's endpoint or model is missing or unsafe.
        MissingDependencyError: autoevals is not installed.
    """

    def __init__(
        self,
        *,
        arguments: Arguments | None = None,
        settings: Mapping[str, Any] | None = None,
        **options: Unpack[JudgeOptions],
    ) -> None:
        name = type(self).__name__
        super().__init__(name, arguments=arguments, settings=settings, **options)


class Factuality(AutoevalsJudge):
    """Do the facts of the answer agree with the reference: 0, 0.4, 0.6 or 1."""

    kind: ClassVar[Kind] = "ordinal"
    default_threshold: ClassVar[float | None] = 0.7


class ClosedQA(AutoevalsJudge):
    """Does the answer meet ``criteria``: 0 or 1."""

    kind: ClassVar[Kind] = "binary"
    default_threshold: ClassVar[float | None] = 0.8


class Humor(AutoevalsJudge):
    """Is the answer funny: 0, 0.5 (unsure) or 1."""

    kind: ClassVar[Kind] = "ordinal"
    default_threshold: ClassVar[float | None] = 0.6


class Security(AutoevalsJudge):
    """Is the answer harmless: 0, 0.5 (unsure) or 1."""

    kind: ClassVar[Kind] = "ordinal"
    default_threshold: ClassVar[float | None] = 0.8


class Battle(AutoevalsJudge):
    """Is the answer better than the reference at ``instructions``: 0 or 1."""

    kind: ClassVar[Kind] = "binary"
    default_threshold: ClassVar[float | None] = 0.7


class Possible(AutoevalsJudge):
    """Does the answer offer a solution rather than call the task impossible: 0 or 1."""

    kind: ClassVar[Kind] = "binary"
    default_threshold: ClassVar[float | None] = 0.7


class Sql(AutoevalsJudge):
    """Does the query mean the same as the reference: 0 or 1."""

    kind: ClassVar[Kind] = "binary"
    default_threshold: ClassVar[float | None] = 0.8


class Summary(AutoevalsJudge):
    """Is the answer the better summary, compared with the reference: 0 or 1."""

    kind: ClassVar[Kind] = "binary"
    default_threshold: ClassVar[float | None] = 0.7


class Translation(AutoevalsJudge):
    """Is the answer as good a translation from ``language`` into English as the reference."""

    kind: ClassVar[Kind] = "binary"
    default_threshold: ClassVar[float | None] = 0.8


class LLMClassifier(AutoevalsScorer):
    """A judge with a prompt and choices of your own.

    Args:
        prompt_template: Prompt with ``{{output}}`` and other variables; all of them are needed.
        choice_scores: The choices and what each counts, from 0 to 1; None for unscored.
        arguments: Further arguments of the call, or a function of output and example.
        settings: Further arguments of the judge's own constructor, such as ``use_cot``.
        **options: See `JudgeOptions` and `Naming`.

    Raises:
        ScorerError: The judge's endpoint or model is missing or unsafe.
        MissingDependencyError: autoevals is not installed.
    """

    default_threshold: ClassVar[float | None] = 0.8

    def __init__(
        self,
        prompt_template: str,
        choice_scores: Mapping[str, float | None],
        *,
        arguments: Arguments | None = None,
        settings: Mapping[str, Any] | None = None,
        **options: Unpack[JudgeOptions],
    ) -> None:
        own = {
            "name": options.get("name") or "LLMClassifier",
            "prompt_template": prompt_template,
            "choice_scores": dict(choice_scores),
            **(settings or {}),
        }
        super().__init__("LLMClassifier", arguments=arguments, settings=own, **options)


class Moderation(AutoevalsJudge):
    """1 where the endpoint's moderation does not flag the answer; needs no ``model``.

    With ``settings={"threshold": t}`` a category's score above t counts instead of the flag.
    """

    kind: ClassVar[Kind] = "binary"
    default_threshold: ClassVar[float | None] = 0.5


class ContextEntityRecall(AutoevalsJudge):
    """Share of the reference's entities that ``context`` holds."""


class ContextRelevancy(AutoevalsJudge):
    """Share of ``context``, in characters, that is relevant to the input."""


class ContextRecall(AutoevalsJudge):
    """Share of the reference's statements that ``context`` supports."""


class ContextPrecision(AutoevalsJudge):
    """Was ``context`` useful for arriving at the reference: 0 or 1."""

    kind: ClassVar[Kind] = "binary"


class Faithfulness(AutoevalsJudge):
    """Share of the answer's statements that ``context`` supports.

    The share is taken over the verdicts that the judge gave; where it found more statements, the
    message says so.
    """


class AnswerRelevancy(AutoevalsJudge):
    """How near questions made from the answer come to the input; needs ``embedding_model``."""


class AnswerSimilarity(AutoevalsJudge):
    """Nearness of answer and reference as vectors; needs ``embedding_model`` only."""


class AnswerCorrectness(AutoevalsJudge):
    """Statements shared with the reference, and nearness; needs ``embedding_model``."""
