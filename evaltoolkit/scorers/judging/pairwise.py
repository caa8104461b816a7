"""`PairwiseJudge`: a language model says which of two answers is better, in both orders."""

from __future__ import annotations

from typing import Any, Literal, Unpack

from evaltoolkit.clients import Message
from evaltoolkit.clients.options import check_option
from evaltoolkit.models import Criterion, Example, Output, PairedScore, Score
from evaltoolkit.scorers.base import NamedScorer, Unmeasurable, answer_of
from evaltoolkit.scorers.judging.calling import (
    Bench,
    Brief,
    JudgeClientOptions,
    ReferenceUse,
    ReplyFormat,
    Ruling,
    find_judge,
)
from evaltoolkit.scorers.judging.replies import ChoiceList

Position = Literal["first", "second"]
POSITIONS: tuple[Position, Position] = ("first", "second")

_TASK = "You are a strict and fair grader. Say which of two answers is better by one criterion."
_FIRST, _SECOND, _TIE = "first answer is better", "second answer is better", "tie"
_LABELS = {1.0: "win", 0.5: "tie", 0.0: "loss"}


class PairwiseJudge(NamedScorer):
    """A language model compares two answers, twice: once in each order of presentation.

    Judges favour the answer that they see first (or second) more often than one would wish. Both
    orders are asked, so that this averages out and can be measured: see `position_bias`.

    Args:
        rubric: What makes an answer better, in your words.
        criterion: Name of what is judged.
        reference: ``"required"``, ``"optional"`` (shown where there is one) or ``"hidden"``.
        ties: Whether the judge may call it a tie.
        reply_format: See `LLMJudge`.
        repeat: See `LLMJudge`.
        max_chars: Longer inputs, answers and references are not sent.
        name: Who judges; default the model.
        **judge: See `JudgeClientOptions`.

    Raises:
        ScorerError: The judge is not named, its address is clear text to a remote host, or an
            option cannot be used.
        MissingDependencyError: The package httpx is not installed.

    Example:
        >>> PairwiseJudge(
        ...     rubric="Prefer the answer that is right and short.",
        ...     model="smollm2",
        ...     judge_base_url="http://localhost:8080/v1",
        ... )
        PairwiseJudge(name='smollm2', criterion='preference')
    """

    def __init__(  # noqa: PLR0913 - every choice of the measurement is a keyword of its own
        self,
        *,
        rubric: str,
        criterion: str = "preference",
        reference: ReferenceUse = "optional",
        ties: bool = True,
        reply_format: ReplyFormat = None,
        repeat: int = 0,
        max_chars: int = 100_000,
        name: str | None = None,
        **judge: Unpack[JudgeClientOptions],
    ) -> None:
        check_option("ties", ties, "give True or False", fits=isinstance(ties, bool))
        choices = ChoiceList([_FIRST, _SECOND, _TIE] if ties else [_FIRST, _SECOND])
        self._brief = Brief(_TASK, criterion, rubric, reference, max_chars)
        self._bench = Bench(find_judge(judge), choices, reply_format, repeat)
        super().__init__(name=name or self._bench.client.model, criterion=criterion)
        self._criterion = Criterion(
            name=criterion,
            kind="ordinal" if ties else "binary",
            higher_is_better=True,
            lower_bound=0.0,
            upper_bound=1.0,
        )

    def preferences(
        self, output: Output, versus: Output, example: Example, /
    ) -> dict[Position, Score]:
        """Ask in both orders how far one output is preferred to another.

        Args:
            output: The output that the scores are about.
            versus: The output that it is held against.
            example: What both were asked.

        Returns:
            A `Score` by the place at which `output` was shown: 1 where it is preferred, 0.5 for a
            tie, 0 where the other is. An error of `output` is a ``system_error``; one of `versus`
            leaves nothing to compare and is ``unscored``.
        """
        failed = self._not_comparable(output, versus)
        if failed is not None:
            return dict.fromkeys(POSITIONS, failed)
        try:
            questions = {
                place: self._question(output, versus, example, place) for place in POSITIONS
            }
        except Unmeasurable as reason:
            return dict.fromkeys(POSITIONS, self._without_score("unscored", str(reason)))
        return {
            place: self._scored(self._bench.ask(messages), place)
            for place, messages in questions.items()
        }

    def score_pair(
        self, baseline_output: Output, candidate_output: Output, example: Example, /
    ) -> PairedScore:
        """Give the preference for the candidate, averaged over both orders, and its complement.

        Args:
            baseline_output: What the baseline answered.
            candidate_output: What the candidate answered.
            example: What both were asked.

        Returns:
            A `PairedScore`; its halves add up to 1. Where the two orders disagree, its failure
            modes have ``position_dependent``. Where either order gave no score, neither half has.
        """
        asked = self.preferences(candidate_output, baseline_output, example)
        details: dict[str, Any] = {place: score.model_dump() for place, score in asked.items()}
        missing = next((score for score in asked.values() if score.score is None), None)
        if missing is not None:
            half = missing.model_copy(update={"details": details})
            return PairedScore(baseline=half, candidate=half)
        values = [score.score or 0.0 for score in asked.values()]
        mean = sum(values) / len(values)
        name = self.criterion.name
        return PairedScore(
            baseline=Score(criterion=name, score=1 - mean),
            candidate=Score(criterion=name, score=mean, details=details),
            failure_modes=("position_dependent",) if len(set(values)) > 1 else (),
        )

    def _not_comparable(self, output: Output, versus: Output) -> Score | None:
        if output.error is not None:
            return self._without_score("system_error", output.error)
        if versus.error is not None:
            reason = f"the output that it is held against broke: {versus.error}"
            return self._without_score("unscored", reason)
        return None

    def _question(
        self, output: Output, versus: Output, example: Example, place: Position
    ) -> list[Message]:
        answers = [answer_of(output), answer_of(versus)]
        first, second = answers if place == "first" else reversed(answers)
        shown = {"FIRST ANSWER": first, "SECOND ANSWER": second}
        return self._brief.messages(self._brief.material(shown, example), self._bench.choices)

    def _scored(self, ruling: Ruling, place: Position) -> Score:
        details = ruling.details | {"position": place}
        if ruling.reading is None:
            failed = self._without_score("scorer_error", ruling.message or "")
            return failed.model_copy(update={"details": details, "cost_usd": ruling.cost_usd})
        wins = _FIRST if place == "first" else _SECOND
        choice = ruling.reading.choice
        value = 0.5 if choice == _TIE else float(choice == wins)
        return Score(
            criterion=self.criterion.name,
            score=value,
            label=_LABELS[value],
            message=ruling.message,
            details=details,
            cost_usd=ruling.cost_usd,
        )

    def _without_score(
        self, status: Literal["unscored", "scorer_error", "system_error"], message: str
    ) -> Score:
        return Score(criterion=self.criterion.name, status=status, message=message)
