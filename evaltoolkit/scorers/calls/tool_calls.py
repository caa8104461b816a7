"""The five tool-call matches: the calls of an output against those of the reference."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Unpack

from evaltoolkit.models import Example, Kind, Output
from evaltoolkit.scorers.base import BaseScorer, Naming, Verdict, shorten
from evaltoolkit.scorers.calls.call_arguments import (
    ArgsMatchMode,
    ArgsOverride,
    ArgumentRule,
    showable,
)
from evaltoolkit.scorers.calls.explanations import explain_calls
from evaltoolkit.scorers.calls.messages import ToolCall, calls_of, reference_calls
from evaltoolkit.scorers.calls.pairing import (
    MAX_CALLS,
    Pair,
    candidates,
    check_size,
    first_in_order,
    first_pairs,
    most_pairs,
    pairs_in_order,
)


class ToolCallMatch(BaseScorer):
    """Base of the tool-call matches: 1 if the calls match, else 0, with what stands against it.

    Calls are read from the output's ``rounds``, else from its ``messages``; the reference is
    ``reference_tool_calls``: bare calls or messages, in any shape that `read_call` knows. Only
    names and arguments count; texts and tool results do not. A missing reference, and one with a
    call that cannot be read, leave the example unscored. An actual call that cannot be read (its
    arguments are no JSON object, say) matches nothing, even if arguments are ignored. The output's
    ``parse_errors`` are told in message and details but do not change the verdict, for they need
    not be about calls.

    Args:
        tool_args_match_mode: ``"exact"``; ``"subset"`` (the actual call has no argument beyond
            those of the reference); ``"superset"`` (it has all of them); ``"ignore"``. Top level
            only: values inside are compared whole.
        tool_args_match_overrides: By tool: a mode, a list of dotted keys that must be the same,
            or a function of the actual and the reference arguments.
        **naming: See `Naming`.

    Raises:
        ScorerError: A mode or an override does not exist.
    """

    kind: ClassVar[Kind] = "binary"
    blames: ClassVar[tuple[str, ...]] = ("unmatched", "extra")
    """Which calls without a partner stand against a match."""

    def __init__(
        self,
        tool_args_match_mode: ArgsMatchMode = "exact",
        *,
        tool_args_match_overrides: Mapping[str, ArgsOverride] | None = None,
        **naming: Unpack[Naming],
    ) -> None:
        super().__init__(**naming)
        self._rule = ArgumentRule(tool_args_match_mode, tool_args_match_overrides)

    def measure(self, output: Output, example: Example, /) -> Verdict:
        """Compare the calls of the output with those of the reference."""
        verdict = self._judge(output, example)
        if not output.parse_errors:
            return verdict
        told = f"the system itself could not read: {shorten('; '.join(output.parse_errors))}"
        return verdict._replace(
            message=f"{verdict.message}; {told}" if verdict.message else told,
            details={**(verdict.details or {}), "parse_errors": showable(output.parse_errors)},
        )

    def _judge(self, output: Output, example: Example) -> Verdict:
        return self.compare(calls_of(output), reference_calls(example))

    @abstractmethod
    def compare(self, actual: Sequence[ToolCall], reference: Sequence[ToolCall], /) -> Verdict:
        """Compare two sequences of calls.

        Raises:
            Unmeasurable: There are too many, or two values cannot be compared.
        """

    def _verdict(
        self,
        actual: Sequence[ToolCall],
        reference: Sequence[ToolCall],
        pairs: Sequence[Pair],
        failure: Mapping[str, Any] | None,
    ) -> Verdict:
        """Make a verdict of the pairs (reference, actual) and the facts of a failure."""
        why = explain_calls(actual, reference, pairs, self._rule)
        details = {
            "tool_args_match_mode": self._rule.mode,
            "actual_count": len(actual),
            "reference_count": len(reference),
            **why.details(),
        }
        if failure is None:
            return Verdict(1.0, why.sentence(blames=()), details, "match")
        malformed = any(call.fault for call in actual)
        told = why.sentence(blames=self.blames) or _counts(actual, reference)
        return Verdict(
            0.0, told, details | dict(failure), "malformed call" if malformed else "no match"
        )

    def _in_order(self, actual: Sequence[ToolCall], reference: Sequence[ToolCall]) -> list[Pair]:
        """Pair calls in order, for the explanation; very long sequences only from the front."""
        if max(len(actual), len(reference)) > MAX_CALLS:
            return first_in_order(reference, actual, self._rule.surely_matches)
        options = candidates(reference, actual, self._rule.surely_matches)
        return pairs_in_order(options, len(actual))


class ToolCallExactMatch(ToolCallMatch):
    """1 if the calls are those of the reference, one for one and in the same order.

    Example:
        >>> example = Example(id=1, reference_tool_calls=[{"name": "f", "args": {"x": 1}}])
        >>> score = ToolCallExactMatch().score(Output(rounds=[[{"name": "f"}]]), example)
        >>> score.score, score.message
        (0.0, "'f' at 0: argument 'x' is missing (1)")
    """

    def compare(self, actual: Sequence[ToolCall], reference: Sequence[ToolCall], /) -> Verdict:
        """Compare call by call."""
        if len(actual) != len(reference):
            return self._verdict(actual, reference, self._in_order(actual, reference), {})
        for place, (one, other) in enumerate(zip(actual, reference, strict=True)):
            if not self._rule.matches(one, other):
                facts = {"mismatch_index": place, **_mismatch(one, other)}
                return self._verdict(actual, reference, self._in_order(actual, reference), facts)
        whole = [(place, place) for place in range(len(actual))]
        return self._verdict(actual, reference, whole, None)


class ToolCallSupersetMatch(ToolCallMatch):
    """1 if all calls of the reference were made, in its order; others may stand between them.

    Example:
        >>> example = Example(id=1, reference_tool_calls=[{"name": "f"}])
        >>> output = Output(rounds=[[{"name": "g"}, {"name": "f"}]])
        >>> ToolCallSupersetMatch().score(output, example).score
        1.0
    """

    blames: ClassVar[tuple[str, ...]] = ("unmatched",)

    def compare(self, actual: Sequence[ToolCall], reference: Sequence[ToolCall], /) -> Verdict:
        """Look for the calls of the reference, one after another."""
        pairs = first_in_order(reference, actual, self._rule.matches)
        if len(pairs) == len(reference):
            return self._verdict(actual, reference, pairs, None)
        facts = _unmatched("reference", len(pairs), reference)
        return self._verdict(actual, reference, self._in_order(actual, reference), facts)


class ToolCallSubsetMatch(ToolCallMatch):
    """1 if no call was made beyond the reference and those made are in its order.

    No call at all is a subset of everything.

    Example:
        >>> example = Example(id=1, reference_tool_calls=[{"name": "f"}])
        >>> score = ToolCallSubsetMatch().score(Output(rounds=[[{"name": "g"}]]), example)
        >>> score.score, score.message
        (0.0, "'g' at 0 was not wanted")
    """

    blames: ClassVar[tuple[str, ...]] = ("extra",)

    def compare(self, actual: Sequence[ToolCall], reference: Sequence[ToolCall], /) -> Verdict:
        """Look for the actual calls in the reference, one after another."""

        def fits(wanted: ToolCall, made: ToolCall) -> bool:
            return self._rule.matches(made, wanted)

        pairs = first_in_order(actual, reference, fits)
        if len(pairs) == len(actual):
            turned = [(wanted, made) for made, wanted in pairs]
            return self._verdict(actual, reference, turned, None)
        facts = _unmatched("actual", len(pairs), actual)
        return self._verdict(actual, reference, self._in_order(actual, reference), facts)


class ToolCallUnorderedMatch(ToolCallMatch):
    """1 if the calls are those of the reference, one for one, in any order.

    Args:
        tool_args_match_mode: See `ToolCallMatch`.
        tool_args_match_overrides: See `ToolCallMatch`.
        greedy: Whether every reference call takes the first call that fits, as published, instead
            of the best pairing of all; then two lists may fail for their order with the modes
            ``subset`` and ``superset``.
        **naming: See `Naming`.

    Example:
        >>> example = Example(id=1, reference_tool_calls=[{"name": "f"}, {"name": "g"}])
        >>> output = Output(rounds=[[{"name": "g"}, {"name": "f"}]])
        >>> ToolCallUnorderedMatch().score(output, example).score
        1.0
    """

    def __init__(
        self,
        tool_args_match_mode: ArgsMatchMode = "exact",
        *,
        tool_args_match_overrides: Mapping[str, ArgsOverride] | None = None,
        greedy: bool = False,
        **naming: Unpack[Naming],
    ) -> None:
        super().__init__(
            tool_args_match_mode, tool_args_match_overrides=tool_args_match_overrides, **naming
        )
        self._pairing = first_pairs if greedy else most_pairs

    def compare(self, actual: Sequence[ToolCall], reference: Sequence[ToolCall], /) -> Verdict:
        """Pair the calls, whatever their order."""
        pairs = self._pairing(candidates(reference, actual, self._rule.matches))
        if len(pairs) == len(reference) == len(actual):
            return self._verdict(actual, reference, pairs, None)
        paired = {row for row, _ in pairs}
        lacking = next((row for row in range(len(reference)) if row not in paired), None)
        counts_differ = len(actual) != len(reference) or lacking is None
        facts = {} if counts_differ else _unmatched("reference", lacking or 0, reference)
        return self._verdict(actual, reference, pairs, facts)


class ToolCallAnyMatch(ToolCallMatch):
    """1 if at least one call of the reference was made.

    The details tell silence (no call at all) from calls of which none fits. Against an empty
    reference nothing can match.

    Example:
        >>> example = Example(id=1, reference_tool_calls=[{"name": "f"}, {"name": "g"}])
        >>> score = ToolCallAnyMatch().score(Output(rounds=[]), example)
        >>> score.score, score.details["failure_mode"]
        (0.0, 'silence')
    """

    blames: ClassVar[tuple[str, ...]] = ("unmatched",)

    def compare(self, actual: Sequence[ToolCall], reference: Sequence[ToolCall], /) -> Verdict:
        """Look for one call that fits."""
        check_size(actual, reference)
        fitting = (
            (row, column)
            for column, made in enumerate(actual)
            for row, wanted in enumerate(reference)
            if self._rule.matches(made, wanted)
        )
        first = next(fitting, None)
        if first is None:
            mode = "no_match" if actual else "silence"
            return self._verdict(actual, reference, [], {"failure_mode": mode})
        pairs = most_pairs(candidates(reference, actual, self._rule.surely_matches))
        verdict = self._verdict(actual, reference, pairs, None)
        details = {**(verdict.details or {}), "matched_name": showable(actual[first[1]].name)}
        return verdict._replace(details=details)


def _mismatch(actual: ToolCall, reference: ToolCall) -> dict[str, Any]:
    if actual.fault:
        return {"expected_name": showable(reference.name), "fault": showable(actual.fault)}
    if actual.name != reference.name:
        names = {"expected_name": reference.name, "actual_name": actual.name}
        return {key: showable(name) for key, name in names.items()}
    facts = {"expected_args": reference.args, "actual_args": actual.args}
    shown = {key: showable(args) for key, args in facts.items()}
    return {"tool_name": showable(actual.name), **shown}


def _unmatched(side: str, place: int, calls: Sequence[ToolCall]) -> dict[str, Any]:
    return {
        f"unmatched_{side}_index": place,
        f"unmatched_{side}_name": showable(calls[place].name),
    }


def _counts(actual: Sequence[ToolCall], reference: Sequence[ToolCall]) -> str:
    return f"{len(actual)} call(s) against {len(reference)} of the reference"
