"""`LLMJudge`: a language model grades one answer by a rubric, with a closed list of choices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Unpack

from evaltoolkit.models import Criterion, Example, Output, Score
from evaltoolkit.scorers.base import NamedScorer, Unmeasurable, answer_of
from evaltoolkit.scorers.judging.calling import (
    Bench,
    Brief,
    JudgeClientOptions,
    ReferenceUse,
    ReplyFormat,
    Ruling,
    checked_scores,
    find_judge,
)
from evaltoolkit.scorers.judging.replies import ChoiceList

_TASK = "You are a strict and fair grader. Grade one ANSWER by one criterion."


class LLMJudge(NamedScorer):
    """A language model grades the answer: it picks one of the choices and says why.

    The endpoint must be named; nothing is sent anywhere by default. Answer, input and reference
    go to the judge as fenced data. A reply without one plain choice is a ``scorer_error`` that
    shows the reply; no score is ever guessed. Judges err and have habits: hold them against
    people's labels before you rely on them.

    Args:
        criterion: Name of what is judged.
        rubric: How to judge it, in your words.
        choices: What each choice is worth, in the order in which they are shown; None for a
            choice that gives no score, such as "cannot tell".
        reference: ``"required"``: without one the example is not scored; ``"optional"``: shown
            where there is one; ``"hidden"``: never shown.
        reply_format: ``"json_schema"`` or ``"json_object"`` where the server can hold the model
            to it.
        repeat: Number of the repetition. Judges that differ only in this ask again instead of
            finding the answer of the other in the cache.
        max_chars: Longer inputs, answers and references are not sent.
        higher_is_better: Direction of the scores.
        threshold: Score from which on it passes; default the better score of two, else none.
        name: Who judges; default the model.
        weight: Passed on.
        blocking: Passed on.
        **judge: See `JudgeClientOptions`, `ChatOptions` and `ConnectionOptions`: ``model``,
            ``judge_base_url``, ``api_key_env``, ``temperature``, ``seed``, ``cache``, ...

    Raises:
        ScorerError: The judge is not named, its address is clear text to a remote host, or an
            option cannot be used.
        MissingDependencyError: The package httpx is not installed.

    Example:
        >>> judge = LLMJudge(
        ...     "correct",
        ...     rubric="The answer must agree with the reference.",
        ...     choices={"correct": 1, "incorrect": 0},
        ...     model="smollm2",
        ...     judge_base_url="http://localhost:8080/v1",
        ... )
        >>> judge
        LLMJudge(name='smollm2', criterion='correct')
        >>> judge.score(Output(text="Paris"), Example(id=1)).message[:28]
        'the example has no reference'
    """

    def __init__(  # noqa: PLR0913 - every choice of the measurement is a keyword of its own
        self,
        criterion: str,
        *,
        rubric: str,
        choices: Mapping[str, float | None],
        reference: ReferenceUse = "required",
        reply_format: ReplyFormat = None,
        repeat: int = 0,
        max_chars: int = 100_000,
        higher_is_better: bool = True,
        threshold: float | Literal["default"] | None = "default",
        name: str | None = None,
        weight: float | None = None,
        blocking: bool = True,
        **judge: Unpack[JudgeClientOptions],
    ) -> None:
        self._brief = Brief(_TASK, criterion, rubric, reference, max_chars)
        self._choices = checked_scores(choices)
        self._bench = Bench(find_judge(judge), ChoiceList(list(choices)), reply_format, repeat)
        self._judge = self._bench.judge()
        super().__init__(name=name or self._bench.client.model, criterion=criterion)
        facts = {"name": criterion, "weight": weight, "blocking": blocking}
        self._criterion = _criterion(
            [worth for worth in self._choices.values() if worth is not None],
            higher_is_better=higher_is_better,
            threshold=threshold,
            facts=facts,
        )

    def score(self, output: Output, example: Example, /) -> Score:
        """Ask the judge and wait for it.

        Args:
            output: What the system answered.
            example: What it was asked, with the reference.

        Returns:
            A `Score`; ``details`` has the choice, the reason, the model, its settings, tokens,
            cost, latency and whether the verdict came from the cache.
        """
        try:
            material = self._brief.material({"ANSWER": answer_of(output)}, example)
        except Unmeasurable as reason:
            return self._unscored(str(reason))
        question = self._brief.messages(material, self._bench.choices)
        return self._scored(self._bench.ask(question), material)

    async def score_async(self, output: Output, example: Example, /) -> Score:
        """Do the same without blocking; many can wait at once."""
        try:
            material = self._brief.material({"ANSWER": answer_of(output)}, example)
        except Unmeasurable as reason:
            return self._unscored(str(reason))
        question = self._brief.messages(material, self._bench.choices)
        return self._scored(await self._bench.ask_async(question), material)

    def _unscored(self, reason: str) -> Score:
        return Score(criterion=self.criterion.name, status="unscored", message=reason)

    def _scored(self, ruling: Ruling, material: Mapping[str, str]) -> Score:
        name = self.criterion.name
        details = ruling.details | {"shown": list(material)}
        if ruling.reading is None:
            return Score(
                criterion=name,
                status="scorer_error",
                message=ruling.message,
                details=details,
                cost_usd=ruling.cost_usd,
            )
        choice, message = ruling.reading.choice, ruling.message
        worth = self._choices[choice]
        if worth is None:
            told = f"the judge chose {choice!r}" + (f": {message}" if message else "")
            return Score(
                criterion=name,
                status="unscored",
                label=choice,
                message=told,
                details=details,
                cost_usd=ruling.cost_usd,
            )
        return Score(
            criterion=name,
            score=worth,
            label=choice,
            passed=self.criterion.passes(worth),
            message=message,
            details=details,
            cost_usd=ruling.cost_usd,
        )


def _criterion(
    scores: list[float],
    *,
    higher_is_better: bool,
    threshold: float | Literal["default"] | None,
    facts: dict[str, Any],
) -> Criterion:
    """Say what the choices make of the criterion."""
    is_binary = set(scores) == {0.0, 1.0}
    if threshold == "default":
        threshold = float(higher_is_better) if is_binary else None
    return Criterion(
        kind="binary" if is_binary else "ordinal",
        higher_is_better=higher_is_better,
        lower_bound=min(scores),
        upper_bound=max(scores),
        threshold=threshold,
        **facts,
    )
