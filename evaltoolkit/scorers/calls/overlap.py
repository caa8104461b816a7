"""`ToolCallOverlap`: how much of the reference's tool calls was made, and how much beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Unpack

from evaltoolkit.models import Criterion, Example, Output, Score
from evaltoolkit.scorers.base import NamedScorer, Naming, Unmeasurable
from evaltoolkit.scorers.calls.call_arguments import ArgsMatchMode, ArgsOverride, ArgumentRule
from evaltoolkit.scorers.calls.explanations import Explanation, explain_calls
from evaltoolkit.scorers.calls.messages import ToolCall, calls_of, reference_calls
from evaltoolkit.scorers.calls.pairing import candidates, most_pairs, pairs_in_order

_PARTS = ("precision", "recall", "f1", "lcs")


class ToolCallOverlap(NamedScorer):
    """Partial credit for tool calls, beside the verdict of a match: four parts from 0 to 1.

    With n actual calls, m of the reference and k pairs of them that match in the best pairing of
    all: ``precision`` k / n, ``recall`` k / m, ``f1`` 2k / (n + m), whatever the order; ``lcs``,
    which keeps the order, is the length of the longest common subsequence over max(n, m). Where
    nothing was called, precision is unscored; where nothing was to be called, recall is; both
    empty are alike, so f1 and lcs are 1. What cannot be read matches nothing.

    Args:
        tool_args_match_mode: See `ToolCallMatch`.
        tool_args_match_overrides: See `ToolCallMatch`.
        **naming: See `Naming`; there is no threshold by default. The parts are called
            ``<criterion>.precision`` and so on.

    Raises:
        ScorerError: A mode or an override does not exist.

    Example:
        >>> example = Example(id=1, reference_tool_calls=[{"name": "f"}, {"name": "g"}])
        >>> output = Output(rounds=[[{"name": "g"}, {"name": "f"}, {"name": "h"}]])
        >>> for score in ToolCallOverlap().score(output, example):
        ...     print(score.criterion, round(score.score, 3))
        ToolCallOverlap.precision 0.667
        ToolCallOverlap.recall 1.0
        ToolCallOverlap.f1 0.8
        ToolCallOverlap.lcs 0.333
    """

    default_threshold: ClassVar[float | None] = None

    def __init__(
        self,
        tool_args_match_mode: ArgsMatchMode = "exact",
        *,
        tool_args_match_overrides: Mapping[str, ArgsOverride] | None = None,
        **naming: Unpack[Naming],
    ) -> None:
        super().__init__(**naming)
        self._rule = ArgumentRule(tool_args_match_mode, tool_args_match_overrides)
        own = self.criterion
        self._parts = {p: own.model_copy(update={"name": f"{own.name}.{p}"}) for p in _PARTS}

    @property
    def parts(self) -> Sequence[Criterion]:
        """The criteria of the four parts."""
        return list(self._parts.values())

    def score(self, output: Output, example: Example, /) -> list[Score]:
        """Measure the four parts.

        Args:
            output: What the system answered; its ``rounds``, else its ``messages``.
            example: What it was asked, with its ``reference_tool_calls``.

        Returns:
            One `Score` for each part.
        """
        try:
            actual, reference = calls_of(output), reference_calls(example)
            shares, counts, why = self._shares(actual, reference)
        except Unmeasurable as reason:
            return [_unscored(c, str(reason)) for c in self._parts.values()]
        details = dict.fromkeys(_PARTS, counts)
        details["f1"] = counts | why.details()  # once is enough
        return [
            _scored(self._parts[part], shares[part], details[part], why.sentence())
            for part in _PARTS
        ]

    def _shares(
        self, actual: Sequence[ToolCall], reference: Sequence[ToolCall]
    ) -> tuple[dict[str, float | str], dict[str, Any], Explanation]:
        """Give every part as a number, or in words why there is none."""
        made, wanted = len(actual), len(reference)
        options = candidates(reference, actual, self._rule.matches)
        pairs = most_pairs(options)
        in_order = len(pairs_in_order(options, made))
        shares: dict[str, float | str] = {
            "precision": len(pairs) / made if made else "no call was made",
            "recall": len(pairs) / wanted if wanted else "the reference has no call",
            "f1": 2 * len(pairs) / (made + wanted) if made or wanted else 1.0,
            "lcs": in_order / max(made, wanted) if made or wanted else 1.0,
        }
        counts: dict[str, Any] = {
            "tool_args_match_mode": self._rule.mode,
            "actual_count": made,
            "reference_count": wanted,
            "matched": len(pairs),
            "matched_in_order": in_order,
        }
        return shares, counts, explain_calls(actual, reference, pairs, self._rule)


def _scored(
    criterion: Criterion, share: float | str, details: dict[str, Any], why: str | None
) -> Score:
    if isinstance(share, str):
        return _unscored(criterion, share)
    return Score(
        criterion=criterion.name,
        score=share,
        passed=criterion.passes(share),
        message=why if share < 1 else None,
        details=details,
    )


def _unscored(criterion: Criterion, reason: str) -> Score:
    return Score(criterion=criterion.name, status="unscored", message=reason)
