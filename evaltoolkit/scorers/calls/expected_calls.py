"""What an example expects of tool calls: which tools, in which round, how many, or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Unpack

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
from evaltoolkit.scorers.calls.call_arguments import showable
from evaltoolkit.scorers.calls.explanations import malformed_calls
from evaltoolkit.scorers.calls.messages import (
    ToolCall,
    calls_of,
    check_readable,
    has_arguments,
    read_call,
    rounds_of,
)
from evaltoolkit.scorers.calls.pairing import candidates, pairs_in_order

SelectionMode = Literal["expected", "expected_set"]
"""``expected``: in the order expected. ``expected_set``: in any order."""

_MODES = ("expected", "expected_set")
_STRATEGIES = ("exact", "subset", "contains_per_field")


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A call that an example expects.

    Attributes:
        call: Its name and arguments.
        has_arguments: Whether anything is expected of the arguments.
        is_exact: Whether further arguments count against it.
    """

    call: ToolCall
    has_arguments: bool
    is_exact: bool


class ToolSelection(BaseScorer):
    """How many of the expected tools were called, from 0 to 1; arguments do not count.

    By EvalShift's rules (``tool_selection.conformance``). With ``expected_no_tools``: 1 if there
    is no call. Else round by round against ``expected_tool_rounds``, or ``expected_tools`` as the
    only round: the share of the expected names that were called; calls beside them cost nothing
    in a round, but a round in which nothing is expected is 0 if there are calls. The score is
    the mean over the rounds in which something was expected or called. An example that expects
    nothing is unscored.

    Args:
        mode: ``"expected"``: names count as far as they keep their order (the longest common
            subsequence); ``"expected_set"``: in any order, each as often as expected.
        greedy: Whether names are looked for one after another and never skipped, as published, so
            that a missing first call costs all that follow.
        **naming: See `Naming`; the default criterion is ``tool_selection.conformance``.

    Raises:
        ScorerError: The mode does not exist.

    Example:
        >>> example = Example(id=1, expected_tools=["look_up", "refund"])
        >>> score = ToolSelection().score(Output(rounds=[[{"name": "refund"}]]), example)
        >>> score.score, score.message
        (0.5, "not called: 'look_up'")
    """

    kind: ClassVar[Kind] = "continuous"

    def __init__(
        self,
        mode: SelectionMode = "expected",
        *,
        greedy: bool = False,
        **naming: Unpack[Naming],
    ) -> None:
        if mode not in _MODES:
            msg = f"mode is {mode!r}; {nearest(mode, _MODES)}"
            raise ScorerError(msg, code="bad_option", path="mode", value=mode)
        naming["criterion"] = naming.get("criterion") or _CONFORMANCE
        super().__init__(**naming)
        self._mode = mode
        self._is_greedy = greedy

    def measure(self, output: Output, example: Example, /) -> Verdict:
        """Compare the names of the calls with those expected."""
        wanted = expected_rounds(example)
        if example.expected_no_tools:
            if wanted and any(wanted):
                msg = "the example expects tool calls, and with expected_no_tools none"
                raise Unmeasurable(msg)
            return _none_expected(calls_of(output))
        if wanted is None or not any(wanted):
            msg = "the example expects no particular tool"
            raise Unmeasurable(msg)
        return self._by_round(rounds_of(output), [[e.call.name for e in one] for one in wanted])

    def _by_round(self, made: list[list[ToolCall]], wanted: list[list[str]]) -> Verdict:
        rounds: list[_Round] = []
        for place in range(max(len(made), len(wanted))):
            names = [call.name for call in made[place]] if place < len(made) else []
            expected = wanted[place] if place < len(wanted) else []
            if names or expected:
                rounds.append(_Round(place, expected, names, self._share(names, expected)))
        score = sum(one.score for one in rounds) / len(rounds)
        calls = [call for one in made for call in one]
        details = {"mode": self._mode, "rounds": [one.details() for one in rounds]}
        broken = malformed_calls(calls)
        return Verdict(
            score,
            _selection_text(rounds) if score < 1 else None,
            details | ({"malformed": broken} if broken else {}),
        )

    def _share(self, names: Sequence[str], expected: Sequence[str]) -> float:
        if not expected:
            return float(not names)
        if self._mode == "expected_set":
            return (Counter(names) & Counter(expected)).total() / len(expected)
        if self._is_greedy:
            found = 0
            for name in names:
                found += found < len(expected) and name == expected[found]
            return found / len(expected)
        options = candidates(expected, names, lambda one, other: one == other)
        return len(pairs_in_order(options, len(names))) / len(expected)


class ToolCallCount(BaseScorer):
    """1 if there are as many tool calls as ``expected_tool_count`` says, else 0.

    Calls that cannot be read count, too.

    Args:
        **naming: See `Naming`; the default criterion is EvalShift's name of this check,
            ``tool_trace_structure.expected_count``.

    Example:
        >>> example = Example(id=1, expected_tool_count=2)
        >>> ToolCallCount().score(Output(rounds=[[{"name": "f"}]]), example).message
        '1 tool call(s), 2 expected'
    """

    kind: ClassVar[Kind] = "binary"

    def __init__(self, **naming: Unpack[Naming]) -> None:
        naming["criterion"] = naming.get("criterion") or _COUNT
        super().__init__(**naming)

    def measure(self, output: Output, example: Example, /) -> Verdict:
        """Count the calls."""
        expected = example.expected_tool_count
        if expected is None:
            msg = "the example has no expected_tool_count"
            raise Unmeasurable(msg)
        count = len(calls_of(output))
        details = {"actual_count": count, "expected_count": expected}
        told = None if count == expected else f"{count} tool call(s), {expected} expected"
        return Verdict(float(count == expected), told, details)


def expected_rounds(example: Example) -> list[list[ExpectedCall]] | None:
    """Give the calls expected in each round; None where an example says nothing of them.

    ``expected_tool_rounds`` comes first, else ``expected_tools`` is the only round. A call is a
    bare name, or a dict with ``tool_name`` (or any name that `read_call` knows) and perhaps
    ``arguments`` and ``match_strategy`` (``exact``, ``subset`` or ``contains_per_field``).

    Raises:
        Unmeasurable: They cannot be read.

    Example:
        >>> [[one]] = expected_rounds(Example(id=1, expected_tools=[{"tool_name": "f"}]))
        >>> one.call.name, one.has_arguments
        ('f', False)
    """
    if example.expected_tool_rounds is not None:
        what = "expected_tool_rounds"
        rounds = _as_list(example.expected_tool_rounds, what)
        return [_expected(one, f"{what}[{place}]") for place, one in enumerate(rounds)]
    if example.expected_tools is not None:
        return [_expected(example.expected_tools, "expected_tools")]
    return None


_CONFORMANCE = "tool_selection.conformance"
_COUNT = "tool_trace_structure.expected_count"


class _Round(NamedTuple):
    place: int
    expected: Sequence[str]
    names: Sequence[str]
    score: float

    def details(self) -> dict[str, Any]:
        return {
            "round": self.place,
            "expected_names": showable(list(self.expected)),
            "actual_names": showable(list(self.names)),
            "score": self.score,
        }


def _none_expected(calls: Sequence[ToolCall]) -> Verdict:
    names = showable([call.name for call in calls])
    details = {"mode": "expected_no_tools", "actual_count": len(calls), "actual_names": names}
    if not calls:
        return Verdict(1.0, details=details)
    return Verdict(0.0, f"{len(calls)} tool call(s), none expected", details)


def _selection_text(rounds: Sequence[_Round]) -> str:
    wanted = Counter((one.place, name) for one in rounds for name in one.expected)
    made = Counter((one.place, name) for one in rounds for name in one.names)
    lacking = [shorten(name) for _, name in (wanted - made).elements()]
    if lacking:
        more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
        return f"not called: {', '.join(lacking[:3])}{more}"
    idle = next((one for one in rounds if not one.expected), None)
    if idle is not None:
        return f"round {idle.place} has {len(idle.names)} tool call(s), none expected"
    return "called in another order than expected"


def _as_list(value: object, what: str) -> Sequence[Any]:
    if not is_several(value):
        msg = f"{what} is a {type(value).__name__}, not a list"
        raise Unmeasurable(msg)
    return value


def _expected(value: object, what: str) -> list[ExpectedCall]:
    if value is None:
        return []
    entries = _as_list(value, what)
    found = [_expected_call(entry, f"{what}[{place}]") for place, entry in enumerate(entries)]
    check_readable([one.call for one in found], what=what)
    return found


def _expected_call(entry: object, what: str) -> ExpectedCall:
    if isinstance(entry, str):
        return ExpectedCall(ToolCall(entry), has_arguments=False, is_exact=False)
    call = read_call(entry)
    strategy = entry.get("match_strategy") if is_object(entry) else None
    if strategy is not None and strategy not in _STRATEGIES:
        msg = f"match_strategy of {what} is {shorten(strategy)}; {nearest(strategy, _STRATEGIES)}"
        raise Unmeasurable(msg)
    return ExpectedCall(call, has_arguments=has_arguments(entry), is_exact=strategy == "exact")
