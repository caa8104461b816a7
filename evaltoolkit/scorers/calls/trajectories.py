"""The trajectory matches of agentevals and openevals, without those packages."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Unpack

from evaltoolkit.errors import ScorerError, nearest
from evaltoolkit.models import Example, Kind, Output
from evaltoolkit.scorers.base import (
    BaseScorer,
    Naming,
    Unmeasurable,
    Verdict,
    is_object,
    is_several,
    shorten,
)
from evaltoolkit.scorers.calls.call_arguments import (
    ArgsMatchMode,
    ArgsOverride,
    ArgumentRule,
    showable,
)
from evaltoolkit.scorers.calls.messages import ToolCall, Turn, reference_turns, turns_of
from evaltoolkit.scorers.calls.pairing import Pair, candidates, first_pairs, most_pairs
from evaltoolkit.scorers.calls.tool_calls import ToolCallMatch

Compatibility = Literal["agentevals-0.0.9", "openevals-0.2.2"]
"""Published behaviour that can be had instead of the corrected one."""

_PUBLISHED = ("agentevals-0.0.9", "openevals-0.2.2")


class TrajectoryMatch(ToolCallMatch):
    """Base of the trajectory matches: the calls of the assistant against the reference's.

    Messages are read from the output's ``messages``, else from its ``rounds``. Texts, tool results
    and ids are never compared, and the order of calls only by the strict match. Argument modes
    always read (actual, reference), and calls are paired so that as many as possible match. A
    missing reference is unscored (there it passes as a superset), and a call that cannot be read
    matches nothing (there it is an exception).

    Args:
        tool_args_match_mode: See `ToolCallMatch`.
        tool_args_match_overrides: See `ToolCallMatch`.
        compatibility: ``"agentevals-0.0.9"``: calls are paired first come, first served; the
            subset match and the way back of the unordered match exchange the two sides of the
            arguments, so that modes ``subset`` and ``superset`` mean each other; dotted keys that
            are absent count as null. ``"openevals-0.2.2"``: first come, first served only.
        **naming: See `Naming`.
    """

    def __init__(
        self,
        tool_args_match_mode: ArgsMatchMode = "exact",
        *,
        tool_args_match_overrides: Mapping[str, ArgsOverride] | None = None,
        compatibility: Compatibility | None = None,
        **naming: Unpack[Naming],
    ) -> None:
        if compatibility is not None and compatibility not in _PUBLISHED:
            msg = f"compatibility is {compatibility!r}; {nearest(compatibility, _PUBLISHED)}"
            raise ScorerError(msg, code="bad_option", path="compatibility", value=compatibility)
        super().__init__(
            tool_args_match_mode, tool_args_match_overrides=tool_args_match_overrides, **naming
        )
        self._published = compatibility
        self._is_greedy = compatibility is not None
        self._swaps = compatibility == "agentevals-0.0.9"
        self._rule = ArgumentRule(
            tool_args_match_mode, tool_args_match_overrides, lax_paths=self._swaps
        )

    def _judge(self, output: Output, example: Example) -> Verdict:
        actual, reference = turns_of(output), reference_turns(example)
        return self.compare(_all_calls(actual), _all_calls(reference))

    def compare(self, actual: Sequence[ToolCall], reference: Sequence[ToolCall], /) -> Verdict:
        """Pair the calls, whatever their order."""
        pairs = self._paired(actual, reference)
        passed = self._passes(actual, reference, pairs)
        verdict = self._verdict(actual, reference, pairs, None if passed else {})
        if passed or not len(pairs) == len(actual) == len(reference):
            return verdict
        return verdict._replace(message=f"the calls match, but not as {self._published} pairs them")

    @abstractmethod
    def _passes(
        self, actual: Sequence[ToolCall], reference: Sequence[ToolCall], pairs: Sequence[Pair]
    ) -> bool: ...

    def _paired(self, actual: Sequence[ToolCall], reference: Sequence[ToolCall]) -> list[Pair]:
        pairing = first_pairs if self._is_greedy else most_pairs
        return pairing(candidates(reference, actual, self._rule.matches))

    def _finds_all_actual(
        self, actual: Sequence[ToolCall], reference: Sequence[ToolCall], pairs: Sequence[Pair]
    ) -> bool:
        """Whether every actual call is in the reference."""
        if not self._is_greedy:
            return len(pairs) == len(actual)

        def fits(wanted: ToolCall, made: ToolCall) -> bool:
            one, other = (wanted, made) if self._swaps else (made, wanted)
            return self._rule.matches(one, other)

        return len(first_pairs(candidates(actual, reference, fits))) == len(actual)


class TrajectoryUnorderedMatch(TrajectoryMatch):
    """1 if the calls are those of the reference, one for one, in any order.

    Example:
        >>> example = Example(id=1, reference_tool_calls=[{"name": "f"}, {"name": "g"}])
        >>> output = Output(rounds=[[{"name": "g"}, {"name": "f"}]])
        >>> TrajectoryUnorderedMatch().score(output, example).score
        1.0
    """

    def _passes(
        self, actual: Sequence[ToolCall], reference: Sequence[ToolCall], pairs: Sequence[Pair]
    ) -> bool:
        whole = len(pairs) == len(reference)
        return whole and self._finds_all_actual(actual, reference, pairs)


class TrajectorySubsetMatch(TrajectoryMatch):
    """1 if no call was made beyond those of the reference, whatever the order.

    Example:
        >>> example = Example(id=1, reference_tool_calls=[{"name": "f"}, {"name": "g"}])
        >>> TrajectorySubsetMatch().score(Output(rounds=[[{"name": "g"}]]), example).score
        1.0
    """

    blames: ClassVar[tuple[str, ...]] = ("extra",)

    def _passes(
        self, actual: Sequence[ToolCall], reference: Sequence[ToolCall], pairs: Sequence[Pair]
    ) -> bool:
        return self._finds_all_actual(actual, reference, pairs)


class TrajectorySupsetMatch(TrajectoryMatch):
    """1 if every call of the reference was made, whatever the order and whatever else.

    Example:
        >>> example = Example(id=1, reference_tool_calls=[{"name": "f"}])
        >>> output = Output(rounds=[[{"name": "g"}, {"name": "f"}]])
        >>> TrajectorySupsetMatch().score(output, example).score
        1.0
    """

    blames: ClassVar[tuple[str, ...]] = ("unmatched",)

    def _passes(
        self, actual: Sequence[ToolCall], reference: Sequence[ToolCall], pairs: Sequence[Pair]
    ) -> bool:
        return len(pairs) == len(reference)


class TrajectoryStrictMatch(TrajectoryMatch):
    """1 if the conversation goes as in the reference, message by message.

    There must be as many messages, of the same roles, with the same calls; calls within one
    message may come in any order. Both sides must be whole conversations, no bare calls.

    Example:
        >>> talk = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "done"}]
        >>> score = TrajectoryStrictMatch().score(
        ...     Output(messages=talk[:1]), Example(id=1, reference_tool_calls=talk)
        ... )
        >>> score.score, score.message
        (0.0, '1 message(s) against 2 of the reference')
    """

    def _judge(self, output: Output, example: Example) -> Verdict:
        actual, reference = turns_of(output), reference_turns(example)
        _check_whole(actual, "messages")
        _check_whole(reference, "reference_tool_calls")
        calls, wanted = _all_calls(actual), _all_calls(reference)
        if len(actual) != len(reference):
            told = f"{len(actual)} message(s) against {len(reference)} of the reference"
            facts = {"actual_messages": len(actual), "reference_messages": len(reference)}
            verdict = self._verdict(calls, wanted, self._in_order(calls, wanted), facts)
            why = verdict.message if len(calls) != len(wanted) else None
            return verdict._replace(message=f"{told}; {why}" if why else told)
        pairs = self._pairs_by_turn(actual, reference)
        place = self._first_mismatch(actual, reference, {column for _, column in pairs})
        if place is None:
            return self._verdict(calls, wanted, pairs, None)
        verdict = self._verdict(calls, wanted, pairs, {"mismatch_message": place})
        roles = (actual[place].role, reference[place].role)
        if roles[0] == roles[1]:
            return verdict
        told = f"message {place} is of {shorten(roles[0])}, not {shorten(roles[1])}"
        return verdict._replace(message=told)

    def _passes(
        self, actual: Sequence[ToolCall], reference: Sequence[ToolCall], pairs: Sequence[Pair]
    ) -> bool:
        return len(pairs) == len(actual) == len(reference)

    def _pairs_by_turn(self, actual: Sequence[Turn], reference: Sequence[Turn]) -> list[Pair]:
        pairs: list[Pair] = []
        row = column = 0
        for one, other in zip(actual, reference, strict=True):
            made, wanted = _calls(one), _calls(other)
            pairs += [(row + r, column + c) for r, c in self._paired(made, wanted)]
            row, column = row + len(wanted), column + len(made)
        return pairs

    def _paired(self, actual: Sequence[ToolCall], reference: Sequence[ToolCall]) -> list[Pair]:
        if not self._is_greedy:
            return most_pairs(candidates(reference, actual, self._rule.matches))

        def fits(wanted: ToolCall, made: ToolCall) -> bool:
            return self._rule.matches(made, wanted)

        turned = first_pairs(candidates(actual, reference, fits))
        return sorted((wanted, made) for made, wanted in turned)

    def _first_mismatch(
        self, actual: Sequence[Turn], reference: Sequence[Turn], paired: set[int]
    ) -> int | None:
        """Find the first message with another role, or with a call that has no partner."""
        column = 0
        for place, (one, other) in enumerate(zip(actual, reference, strict=True)):
            made, wanted = _calls(one), _calls(other)
            columns = range(column, column + len(made))
            if one.role != other.role or len(made) != len(wanted) or not paired.issuperset(columns):
                return place
            column += len(made)
        return None


class GraphTrajectoryStrictMatch(BaseScorer):
    """1 if a graph went through the same nodes in the same order, turn by turn.

    The trajectory is a dict with ``steps`` (for each turn, the names of the nodes), also inside
    the pair ``{"inputs": ..., "outputs": ...}`` that agentevals extracts from a thread. It is
    looked for in the output's messages, then in its final state; the reference in the example's
    reference_tool_calls, then in its reference. Inputs and results are not compared.

    Example:
        >>> example = Example(id=1, reference={"steps": [["__start__", "agent", "tools"]]})
        >>> output = Output(final_state={"steps": [["__start__", "agent"]]})
        >>> GraphTrajectoryStrictMatch().score(output, example).message
        "turn 0, step 2: the end, not 'tools'"
    """

    kind: ClassVar[Kind] = "binary"

    def measure(self, output: Output, example: Example, /) -> Verdict:
        """Compare the steps of every turn."""
        actual = _steps_of(output.messages, output.final_state, what="the output")
        wanted = (example.reference_tool_calls, example.reference)
        reference = _steps_of(*wanted, what="the example")
        details: dict[str, Any] = {"actual_turns": len(actual), "reference_turns": len(reference)}
        if len(actual) != len(reference):
            told = f"{len(actual)} turn(s) against {len(reference)} of the reference"
            return Verdict(0.0, told, details, "no match")
        for turn, (one, other) in enumerate(zip(actual, reference, strict=True)):
            if one != other:
                step = _first_step(one, other)
                here, there = _at(one, step), _at(other, step)
                told = f"turn {turn}, step {step}: {here}, not {there}"
                facts = {
                    "turn": turn,
                    "step": step,
                    "actual_steps": showable(one),
                    "reference_steps": showable(other),
                }
                return Verdict(0.0, told, details | facts, "no match")
        return Verdict(1.0, details=details, label="match")


def _calls(turn: Turn) -> tuple[ToolCall, ...]:
    return turn.calls if turn.role in ("assistant", "") else ()


def _all_calls(turns: Sequence[Turn]) -> list[ToolCall]:
    return [call for turn in turns for call in _calls(turn)]


def _check_whole(turns: Sequence[Turn], what: str) -> None:
    for place, turn in enumerate(turns):
        if not turn.is_message:
            msg = f"{what}[{place}] is a bare tool call; a strict match needs whole conversations"
            raise Unmeasurable(msg)
        if not turn.role:
            msg = f"{what}[{place}] has no role, which a strict match compares"
            raise Unmeasurable(msg)


def _steps_of(*places: object, what: str) -> list[list[str]]:
    steps = next((found for place in places if (found := _graph_steps(place)) is not None), None)
    if steps is None:
        msg = f"{what} has no graph trajectory: a dict with steps"
        raise Unmeasurable(msg)
    if not is_several(steps) or not all(map(is_several, steps)):
        msg = f"the steps of {what} are {shorten(steps)}, not a list of steps for each turn"
        raise Unmeasurable(msg)
    turns = [list(turn) for turn in steps]
    if not all(isinstance(step, str) for turn in turns for step in turn):
        msg = f"the steps of {what} hold something that is not the name of a node"
        raise Unmeasurable(msg)
    return turns


def _graph_steps(value: object) -> Any:  # noqa: ANN401 - of any shape
    if not is_object(value):
        return None
    inner = value.get("outputs")
    return inner.get("steps") if is_object(inner) else value.get("steps")


def _first_step(one: Sequence[str], other: Sequence[str]) -> int:
    both = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in both if a != b), min(len(one), len(other)))


def _at(steps: Sequence[str], place: int) -> str:
    return shorten(steps[place]) if place < len(steps) else "the end"
