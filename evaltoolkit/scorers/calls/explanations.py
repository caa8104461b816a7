"""Why tool calls do not match: which were not made, which were not wanted, what differs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from evaltoolkit.scorers.base import shorten
from evaltoolkit.scorers.calls.call_arguments import ArgumentRule, Difference, showable
from evaltoolkit.scorers.calls.messages import ToolCall
from evaltoolkit.scorers.calls.pairing import Pair

MAX_SHOWN = 20
"""How many calls of each kind the details of a score list."""

_MAX_COMPARED = 200
_MAX_SENTENCES = 3


class Near(NamedTuple):
    """A wanted call beside the actual one of the same tool that comes nearest to it."""

    row: int
    column: int
    differences: list[Difference]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What stands against a match.

    Attributes:
        actual: The calls that were made.
        reference: The calls that were wanted.
        unmatched: Places of wanted calls without a partner.
        extra: Places of actual calls without a partner.
        near: Unmatched and extra calls that were made with other arguments or, where nothing
            differs, in another place.
    """

    actual: Sequence[ToolCall]
    reference: Sequence[ToolCall]
    unmatched: list[int]
    extra: list[int]
    near: list[Near]

    def details(self) -> dict[str, Any]:
        """Give it as JSON; what is empty is left out, but for unmatched and extra calls."""
        more: dict[str, list[Any]] = {
            "malformed": malformed_calls(self.actual),
            "differing": [self._shown(one) for one in self.near if one.differences],
            "misplaced": [self._shown(one) for one in self.near if not one.differences],
        }
        facts: dict[str, Any] = {
            "unmatched_reference": [
                _shown(i, self.reference[i]) for i in self.unmatched[:MAX_SHOWN]
            ],
            "extra_actual": [_shown(i, self.actual[i]) for i in self.extra[:MAX_SHOWN]],
        }
        return facts | {name: items for name, items in more.items() if items}

    def sentence(self, *, blames: Collection[str] = ("unmatched", "extra")) -> str | None:
        """Say the most important in words.

        Args:
            blames: Whether unmatched or extra calls stand against the match, or both; if neither
                does, only calls that cannot be read are told.
        """
        told = [_malformed_text(i, call) for i, call in enumerate(self.actual) if call.fault]
        if blames:
            told += [self._near_text(one) for one in self.near if one.differences]
            told += [self._near_text(one) for one in self.near if not one.differences]
        if "unmatched" in blames:
            near = {one.row for one in self.near}
            told += [
                f"{shorten(self.reference[i].name)}, call {i} of the reference, was not made"
                for i in self.unmatched
                if i not in near
            ]
        if "extra" in blames:
            near = {one.column for one in self.near}
            told += [
                f"{shorten(self.actual[i].name)} at {i} was not wanted"
                for i in self.extra
                if i not in near and not self.actual[i].fault
            ]
        rest = len(told) - _MAX_SENTENCES
        shown = [*told[:_MAX_SENTENCES], *([f"and {rest} more"] if rest > 0 else [])]
        return "; ".join(shown) or None

    def _shown(self, near: Near) -> dict[str, Any]:
        item = {
            "name": showable(self.reference[near.row].name),
            "reference_index": near.row,
            "actual_index": near.column,
        }
        if not near.differences:
            return item
        return {**item, "arguments": [one.details() for one in near.differences[:MAX_SHOWN]]}

    def _near_text(self, near: Near) -> str:
        name = f"{shorten(self.reference[near.row].name)}"
        if near.differences:
            texts = [one.sentence() for one in near.differences[:2]]
            more = len(near.differences) - len(texts)
            told = ", ".join([*texts, *([f"and {more} more"] if more else [])])
            return f"{name} at {near.column}: {told}"
        if near.row == near.column:
            return f"{name} at {near.column} does not stand where the reference has it"
        return (
            f"{name} came at {near.column}, out of the order of the reference, "
            f"where it is at {near.row}"
        )


def explain_calls(
    actual: Sequence[ToolCall],
    reference: Sequence[ToolCall],
    pairs: Iterable[Pair],
    rule: ArgumentRule,
) -> Explanation:
    """Say what stands against a match, given the pairs of calls (reference, actual) that do match.

    Example:
        >>> one, two = ToolCall("f", {"x": 9}), ToolCall("f", {"x": 1})
        >>> explain_calls([one], [two], [], ArgumentRule()).sentence()
        "'f' at 0: argument 'x' is 9, not 1"
    """
    rows, columns = {row for row, _ in pairs}, {column for _, column in pairs}
    lacking = [row for row in range(len(reference)) if row not in rows]
    beyond = [column for column in range(len(actual)) if column not in columns]
    near = [
        Near(row, column, rule.differences(actual[column], reference[row]))
        for row in lacking[:MAX_SHOWN]
        for column in _namesakes(reference[row].name, actual, beyond)
    ]
    return Explanation(actual, reference, lacking, beyond, _nearest(near))


def malformed_calls(calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    """List the calls that cannot be read, with the reason."""
    broken = [(place, call) for place, call in enumerate(calls) if call.fault]
    return [_shown(place, call) for place, call in broken[:MAX_SHOWN]]


def _namesakes(name: str, actual: Sequence[ToolCall], places: Sequence[int]) -> list[int]:
    found = [c for c in places if actual[c].name == name and not actual[c].fault]
    return found[:_MAX_COMPARED]


def _nearest(candidates: list[Near]) -> list[Near]:
    """Choose pairs, those with the fewest differences and the least distance first."""
    candidates.sort(key=lambda one: (len(one.differences), abs(one.column - one.row)))
    rows: set[int] = set()
    columns: set[int] = set()
    chosen: list[Near] = []
    for one in candidates:
        if one.row not in rows and one.column not in columns:
            rows.add(one.row)
            columns.add(one.column)
            chosen.append(one)
    return sorted(chosen)


def _shown(place: int, call: ToolCall) -> dict[str, Any]:
    facts = {"index": place, "name": showable(call.name)}
    if call.fault:
        return {**facts, "fault": showable(call.fault)}
    return {**facts, "args": showable(call.args)}


def _malformed_text(place: int, call: ToolCall) -> str:
    name = f" {shorten(call.name)}" if call.name else ""
    return f"call {place}{name} cannot be read: {showable(call.fault)}"
