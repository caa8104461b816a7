"""The scorers that a benchmark file may name, and what each needs to be held against.

A file names them by text, so the list is closed: nothing is imported by name, and no scorer that
sends data to a judge can be had from a file.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from evaltoolkit.scorers.base import NamedScorer, Naming
from evaltoolkit.scorers.calls.overlap import ToolCallOverlap
from evaltoolkit.scorers.calls.tool_calls import (
    ToolCallAnyMatch,
    ToolCallExactMatch,
    ToolCallSubsetMatch,
    ToolCallSupersetMatch,
    ToolCallUnorderedMatch,
)
from evaltoolkit.scorers.calls.trajectories import (
    TrajectoryStrictMatch,
    TrajectorySubsetMatch,
    TrajectorySupsetMatch,
    TrajectoryUnorderedMatch,
)
from evaltoolkit.scorers.numeric import NumericAnswer, NumericDiff
from evaltoolkit.scorers.state.state_match import StateMatch
from evaltoolkit.scorers.structure import JSONDiff, ListContains, ValidJSON
from evaltoolkit.scorers.text import Contains, ExactMatch, LengthBounds, Levenshtein, Refusal

Need = Literal["expected_state", "reference_outputs", "expected"]

MATCH_CALLS: Mapping[str, type[NamedScorer]] = {
    "exact": ToolCallExactMatch,
    "superset": ToolCallSupersetMatch,
    "subset": ToolCallSubsetMatch,
    "unordered": ToolCallUnorderedMatch,
    "any_of": ToolCallAnyMatch,
}
"""The scorer behind each published word of ``match_calls``."""

MATCH_ARGS: Sequence[str] = ("exact", "subset", "superset", "ignore")
"""The published words of ``match_args``."""

_OF_CALLS: tuple[type[NamedScorer], ...] = (
    *MATCH_CALLS.values(),
    ToolCallOverlap,
    TrajectoryStrictMatch,
    TrajectoryUnorderedMatch,
    TrajectorySubsetMatch,
    TrajectorySupsetMatch,
)
_OF_ANSWERS: tuple[type[NamedScorer], ...] = (
    ExactMatch,
    JSONDiff,
    Levenshtein,
    ListContains,
    NumericAnswer,
    NumericDiff,
)
_OF_NOTHING: tuple[type[NamedScorer], ...] = (Contains, LengthBounds, Refusal, ValidJSON)

_ALL: tuple[type[NamedScorer], ...] = (StateMatch, *_OF_CALLS, *_OF_ANSWERS, *_OF_NOTHING)

NATIVE: Mapping[str, type[NamedScorer]] = {each.__name__: each for each in _ALL}
"""The scorers by their published names."""

# What is code or a pattern is not taken from a file.
_NOT_FROM_FILES = frozenset({"pairwise_scorer", "number_scorer", "patterns", "string_scorer"})


def options_of(scorer: type[NamedScorer]) -> list[str]:
    """List the options that a file may give to a scorer.

    Example:
        >>> options_of(ToolCallExactMatch)[:3]
        ['tool_args_match_mode', 'tool_args_match_overrides', 'name']
    """
    parameters = inspect.signature(scorer.__init__).parameters.values()
    own = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    allowed = [name for name in own if name not in _NOT_FROM_FILES | {"self"}]
    return list(dict.fromkeys([*allowed, *Naming.__annotations__]))


def need_of(scorer: type[NamedScorer], options: Mapping[str, Any]) -> Need | None:
    """Name the field of a scenario without which a scorer has nothing to measure."""
    if scorer is StateMatch:
        return None if options.get("expected_state") is not None else "expected_state"
    if scorer in _OF_CALLS:
        return "reference_outputs"
    if scorer in _OF_ANSWERS:
        return "expected"
    return "expected" if scorer is Contains and options.get("phrases") is None else None
