"""What a scenario says about success, as scorers and as references."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from evaltoolkit.errors import (
    EvalToolkitError,
    MissingDependencyError,
    ScorerError,
    listed,
    nearest,
)
from evaltoolkit.evaluation.benchmarks.fields import Fields
from evaltoolkit.evaluation.benchmarks.natives import (
    MATCH_ARGS,
    MATCH_CALLS,
    NATIVE,
    Need,
    need_of,
    options_of,
)
from evaltoolkit.evaluation.benchmarks.nodes import Node
from evaltoolkit.evaluation.benchmarks.places import Place, Problems
from evaltoolkit.models import describe_error
from evaltoolkit.scorers.base import Scorer
from evaltoolkit.scorers.functions import FunctionScorer, as_scorer

_BUILT_IN = ("state", "tool_use")


class Check(NamedTuple):
    """A scorer that a scenario names, where it does, and what it needs."""

    scorer: Scorer
    place: Place
    need: Need | None = None


class ToolUse(NamedTuple):
    """The calls that a scenario expects, and the scorer that compares them."""

    check: Check | None
    calls: list[dict[str, Any]]


@dataclass
class Checkers:
    """Makes scorers of what a benchmark names; equal settings share one scorer.

    Attributes:
        given: Functions and scorers of the caller by name.
        problems: Takes what is wrong.
    """

    given: Mapping[str, object]
    problems: Problems
    _made: dict[str, Scorer] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse names that are taken."""
        taken = sorted(set(self.given) & {*_BUILT_IN, *NATIVE})
        if taken:
            msg = f"checkers has the name(s) {listed(taken)}, which are built in; rename them"
            raise ScorerError(msg, code="reserved_name", path="checkers", value=taken)

    def success(self, name: str, payload: Node, place: Place) -> Check | None:
        """Make the scorer of a key of ``success`` other than ``state`` and ``tool_use``."""
        if name not in self.given:
            hint = nearest(name, [*_BUILT_IN, *self.given])
            text = f"success has the key {name!r}, which is neither built in nor in checkers="
            self.problems.add(place, "unknown_checker", f"{text} ({hint})")
            return None
        return self._own(name, payload.plain(), place)

    def state(self, place: Place) -> Check | None:
        """Make the scorer of ``success: state``."""
        return self._native("StateMatch", {}, place)

    def tool_use(self, node: Node) -> ToolUse:
        """Read ``success: tool_use``."""
        known = ("calls", "match_calls", "match_args")
        fields = Fields(node, "tool_use", known, self.problems)
        list_mode = fields.choice("match_calls", list(MATCH_CALLS))
        args_mode = fields.choice("match_args", MATCH_ARGS)
        calls = [self._call(item) for item in fields.items("calls", needed=True)]
        if "calls" in fields and not calls and list_mode in ("superset", "any_of"):
            outcome = "pass whatever happens" if list_mode == "superset" else "never pass"
            text = f"without calls, match_calls {list_mode!r} would {outcome}"
            self.problems.add(node.place, "vacuous", text)
        name = MATCH_CALLS[list_mode].__name__
        check = self._native(name, {"tool_args_match_mode": args_mode}, node.place)
        return ToolUse(check, [call for call in calls if call is not None])

    def _call(self, node: Node) -> dict[str, Any] | None:
        fields = Fields(node, "a call", ("name", "args"), self.problems)
        name = fields.text("name", needed=True)
        args = fields.node("args", (dict,))
        return None if name is None else {"name": name, "args": args.plain() if args else {}}

    def named(self, node: Node) -> Check | None:
        """Make the scorer of an entry of ``scorers``: a name, or a mapping with ``type``."""
        if isinstance(node.value, str):
            return self._by_type(node.value, {}, node)
        if not isinstance(node.value, dict) or not isinstance(
            kind := getattr(node.value.get("type"), "value", None), str
        ):
            text = "a scorer is a name, or a mapping with the name under 'type'"
            self.problems.add(node.place, "bad_scorer", text)
            return None
        options = {name: each.plain() for name, each in node.value.items() if name != "type"}
        return self._by_type(kind, options, node)

    def _by_type(self, kind: str, options: dict[str, Any], node: Node) -> Check | None:
        if kind in self.given:
            return self._own(kind, options, node.place)
        if kind not in NATIVE:
            text = (
                f"there is no scorer {kind!r} that a file may name "
                f"({nearest(kind, [*NATIVE, *self.given])}); pass your own in checkers="
            )
            self.problems.add(node.place, "unknown_scorer", text)
            return None
        allowed = options_of(NATIVE[kind])
        wrong = [name for name in options if name not in allowed]
        for name in wrong:
            text = f"{kind} has no option {name!r} for files ({nearest(name, allowed)})"
            self.problems.add(node.keys[name], "unknown_key", text)
        return None if wrong else self._native(kind, options, node.place)

    def _native(self, kind: str, options: dict[str, Any], place: Place) -> Check | None:
        scorer = self._make(kind, options, place, lambda: NATIVE[kind](**options))
        return None if scorer is None else Check(scorer, place, need_of(NATIVE[kind], options))

    def _own(self, name: str, payload: Any, place: Place) -> Check | None:  # noqa: ANN401
        given = self.given[name]
        takes = callable(given) and "payload" in _parameters(given)
        if not takes and payload is not True and payload not in (None, {}, []):
            text = f"the checker {name!r} has no argument 'payload', so it takes no settings"
            self.problems.add(place, "unwanted_payload", text)
            return None
        scorer = self._make(name, payload, place, lambda: _as_checker(name, given, payload, takes))
        return None if scorer is None else Check(scorer, place)

    def _make(
        self,
        name: str,
        options: Any,  # noqa: ANN401 - a JSON value
        place: Place,
        build: Callable[[], object],
    ) -> Scorer | None:
        key = f"{name} {json.dumps(options, sort_keys=True)}"
        if key not in self._made:
            try:
                self._made[key] = as_scorer(build())
            except MissingDependencyError:
                raise
            except (EvalToolkitError, TypeError, ValueError, AttributeError) as error:
                said = str(error) if isinstance(error, EvalToolkitError) else describe_error(error)
                self.problems.add(place, "bad_scorer", f"{name} cannot be made: {said}")
                return None
        return self._made[key]


def _as_checker(
    name: str,
    given: Any,  # noqa: ANN401 - a scorer or a function
    payload: Any,  # noqa: ANN401 - a JSON value
    takes: bool,
) -> Scorer:
    if takes:
        return FunctionScorer(partial(given, payload=payload), name=name)
    scorer = as_scorer(given)
    plain_function = isinstance(scorer, FunctionScorer) and scorer is not given
    return FunctionScorer(given, name=name) if plain_function else scorer


def _parameters(function: Any) -> list[str]:  # noqa: ANN401 - a callable
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []
