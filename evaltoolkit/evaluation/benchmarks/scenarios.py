"""The capabilities and scenarios of a benchmark file, in both published dialects.

In one dialect a capability has ``scenarios``, and each says under ``success`` what it takes. In
the other a capability is itself one scenario, with ``scorers`` and ``reference_outputs``. The two
may be mixed: all fields of a scenario are known in both.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from evaltoolkit.errors import listed, nearest
from evaltoolkit.evaluation.benchmarks.checks import Check, Checkers
from evaltoolkit.evaluation.benchmarks.fields import Fields
from evaltoolkit.evaluation.benchmarks.nodes import DEEPEST, Node
from evaltoolkit.evaluation.benchmarks.places import Place, Problems
from evaltoolkit.evaluation.benchmarks.states import clashing_paths, nest_paths
from evaltoolkit.models import Example
from evaltoolkit.schema import OUTPUTS, SCORES
from evaltoolkit.scorers.base import Unmeasurable
from evaltoolkit.scorers.calls.messages import reference_calls
from evaltoolkit.scorers.state.paths import split_path

NAME_FIELD = "scenario_name"
"""The attribute that holds the name of a scenario, as published result files call it."""

_CAPABILITY = ("name", "description", "scorers", "scenarios")
_SCENARIO = (
    "id", "name", "prompt", "dimensions", "precondition", "success", "scorers",
    "reference_outputs", "expected_state", "expected",
)  # fmt: skip
_SAFE_NAME = re.compile(r"(?!\.+\Z)[A-Za-z0-9._-]{1,96}\Z")
_TAKEN = frozenset(
    {NAME_FIELD, "capability", "scenario_id", "run_index", "prompt", "scorers", "has_precondition"}
)


@dataclass
class Scenario:
    """One scenario, read."""

    example: Example
    place: Place
    precondition: dict[str, Any]
    dimensions: dict[str, Any]
    checks: list[Check] = field(default_factory=list)

    @property
    def key(self) -> tuple[str, str]:
        """Its task and id."""
        return self.example.task, self.example.id


@dataclass
class ScenarioReader:
    """Reads capabilities.

    Attributes:
        benchmark: Name of the benchmark.
        checkers: Makes the scorers.
        appliers: Preconditions that the caller's systems apply, besides ``state``.
        problems: Takes what is wrong.
    """

    benchmark: str
    checkers: Checkers
    appliers: Collection[str]
    problems: Problems
    _seen: dict[tuple[str, str], Place] = field(default_factory=dict)
    _names: dict[str, Place] = field(default_factory=dict)

    def read(self, capabilities: Iterable[Node]) -> Iterator[Scenario]:
        """Read the scenarios of capabilities."""
        for node in capabilities:
            if isinstance(node.value, dict) and "scenarios" in node.value:
                yield from self._capability(node)
            elif isinstance(node.value, dict) and "prompt" in node.value:
                yield from self._scenario(node, self.benchmark, (), "the capability")
            else:
                text = "a capability needs the key 'scenarios', or is a scenario with a 'prompt'"
                self.problems.add(node.place, "bad_capability", text)

    def _capability(self, node: Node) -> Iterator[Scenario]:
        fields = Fields(node, "the capability", _CAPABILITY, self.problems)
        name = fields.text("name", needed=True) or ""
        if name:
            check_name(name, "the name of a capability", fields, self.problems)
            if name in self._names:
                text = f"there is another capability {name!r} at {self._names[name]}; rename one"
                self.problems.add(node.place, "repeated_capability", text)
            self._names[name] = node.place
        fields.text("description")
        shared = fields.items("scorers")
        scenarios = fields.items("scenarios", needed=True)
        if "scenarios" in fields and not scenarios:
            self.problems.add(node.place, "empty", f"the capability {name!r} has no scenario")
        for each in scenarios:
            yield from self._scenario(each, name, shared, "the scenario")

    def _scenario(
        self, node: Node, task: str, shared: Iterable[Node], what: str
    ) -> Iterator[Scenario]:
        fields = Fields(node, what, _SCENARIO, self.problems)
        example_id = self._id(fields, task)
        prompt = fields.text("prompt", needed=True)
        name = fields.text("name")
        dimensions = self._dimensions(fields)
        precondition = self._precondition(fields)
        references, checks = self._expectations(fields, shared)
        if example_id is None or prompt is None:
            return
        example = Example(
            id=example_id,
            task=task,
            input={"prompt": prompt, "preconditions": precondition},
            attributes={**({} if name is None else {NAME_FIELD: name}), **dimensions},
            **references,
        )
        self._check_calls(fields, example)
        yield Scenario(example, fields.place, precondition, dimensions, checks)

    def _id(self, fields: Fields, task: str) -> str | None:
        node = fields.node("id", (int, str), needed=True)
        if node is None:
            return None
        example_id = str(node.value)
        if not example_id.strip():
            fields.note(node.place, "empty", f"the id of {fields.what} is empty")
            return None
        first = self._seen.get((task, example_id))
        if first is not None:
            text = f"the id {example_id!r} is taken by {first}; ids are unique in a capability"
            fields.note(node.place, "repeated_id", text)
        self._seen[task, example_id] = node.place
        return example_id

    def _dimensions(self, fields: Fields) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, node in fields.entries("dimensions").items():
            if not name.strip():
                fields.note(node.place, "empty", "a dimension has an empty name; give it one")
            elif name in _TAKEN or name in SCORES.known or name in OUTPUTS.known:
                text = f"the dimension {name!r} has the name of a column; rename it"
                fields.note(node.place, "reserved_dimension", text)
            elif isinstance(node.value, str | int | float):
                found[name] = node.value
            else:
                text = f"the dimension {name!r} must be a text, a number or a truth value"
                fields.note(node.place, "wrong_type", f"{text}, not {node.kind}")
        return found

    def _precondition(self, fields: Fields) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, node in fields.entries("precondition").items():
            if name == "state":
                found[name] = self._seeded(fields, node)
            elif name in self.appliers:
                found[name] = node.plain()
            else:
                hint = nearest(name, ["state", *self.appliers])
                text = f"the precondition {name!r} is neither 'state' nor in appliers= ({hint})"
                fields.note(node.place, "unknown_key", text)
        return found

    def _seeded(self, fields: Fields, node: Node) -> dict[str, Any]:
        paths = self._paths(fields, node, "the state of a precondition")
        clashes = clashing_paths(paths)
        if not clashes:
            return nest_paths(paths)
        outer, inner = clashes[0]
        text = f"the path {inner!r} leads through the value of {outer!r}; keep one of them"
        fields.note(node.keys[inner], "clashing_paths", text)
        return {}

    def _paths(self, fields: Fields, node: Node, what: str) -> dict[str, Any]:
        if not isinstance(node.value, dict):
            text = f"{what} must be a mapping from dotted paths to values, not {node.kind}"
            fields.note(node.place, "wrong_type", text)
            return {}
        if not node.value:
            fields.note(node.place, "vacuous", f"{what} is empty, so it says nothing")
        for path in node.value:
            keys = split_path(path)
            if "" in keys:
                text = f"the path {path!r} has an empty part; drop the dot, or escape it as '\\.'"
                fields.note(node.keys[path], "bad_path", text)
            elif len(keys) > DEEPEST:
                text = f"the path {path!r} has more than {DEEPEST} parts; make it shorter"
                fields.note(node.keys[path], "too_deep", text)
        values: dict[str, Any] = node.plain()
        return values

    def _expectations(
        self, fields: Fields, shared: Iterable[Node]
    ) -> tuple[dict[str, Any], list[Check]]:
        """Read what is right, and by which scorers that is judged."""
        references = self._references(fields)
        checks: list[Check | None] = []
        for name, node in fields.entries("success").items():
            if name == "state":
                self._once(fields, references, "expected_state", node)
                references["reference_state"] = self._paths(fields, node, "the expected state")
                checks.append(self.checkers.state(node.place))
            elif name == "tool_use":
                self._once(fields, references, "reference_outputs", node)
                use = self.checkers.tool_use(node)
                references["reference_tool_calls"] = use.calls
                checks.append(use.check)
            else:
                checks.append(self.checkers.success(name, node, node.place))
        checks += [self.checkers.named(node) for node in [*shared, *fields.items("scorers")]]
        if not checks and fields.is_mapping and not fields.wrong & {"success", "scorers"}:
            text = f"{fields.what} names nothing that judges it: give success or scorers"
            fields.note(fields.place, "nothing_judges", text)
        made = [check for check in checks if check is not None]
        self._check_each(fields, references, made)
        return references, made

    def _references(self, fields: Fields) -> dict[str, Any]:
        found: dict[str, Any] = {}
        state = fields.node("expected_state", (dict,))
        if state is not None:
            found["reference_state"] = self._paths(fields, state, "the expected state")
        calls = fields.node("reference_outputs", (list,))
        if calls is not None:
            found["reference_tool_calls"] = calls.plain()
        answer = fields.node("expected", (str, int, float, bool, list, dict))
        if answer is not None:
            found["reference"] = answer.plain()
        return found

    def _once(self, fields: Fields, references: dict[str, Any], name: str, node: Node) -> None:
        if _REFERENCE_OF[name] in references:
            text = f"{fields.what} has {name!r} besides this; keep one of them"
            fields.note(node.place, "two_references", text)

    def _check_each(self, fields: Fields, references: dict[str, Any], checks: list[Check]) -> None:
        """Every scorer has something to be held against, and none stands twice."""
        seen: dict[tuple[str, str], Check] = {}
        for check in checks:
            scorer = check.scorer
            need = check.need
            if need and _REFERENCE_OF[need] not in references and need not in fields.wrong:
                text = f"{scorer.name} has nothing to compare with: add {need!r}"
                fields.note(check.place, "no_reference", text)
            other = seen.setdefault((scorer.name, scorer.criterion.name), check)
            if other is not check:
                text = (
                    f"{fields.what} at {fields.place} is judged by {scorer.name} twice; drop one "
                    "or give it another 'name'"
                )
                fields.note(check.place, "repeated_scorer", text)

    def _check_calls(self, fields: Fields, example: Example) -> None:
        if example.reference_tool_calls is None:
            return
        try:
            reference_calls(example)
        except Unmeasurable as reason:
            text = f"the reference calls of {fields.what} cannot be read: {reason}"
            fields.note(fields.place, "bad_reference", text)


_REFERENCE_OF = {
    "expected_state": "reference_state",
    "reference_outputs": "reference_tool_calls",
    "expected": "reference",
}


def check_name(name: str, what: str, fields: Fields, problems: Problems) -> None:
    """Note a name that could not be part of a file name; published tools refuse it, too."""
    if not _SAFE_NAME.match(name):
        text = (
            f"{what} is {name!r}; it may have up to 96 letters, digits, dots, '_' and '-', and "
            "must not be dots only"
        )
        problems.add(fields.place, "unsafe_name", text)


def check_agreement(scenarios: Iterable[Scenario], problems: Problems) -> None:
    """Note scorers of one criterion that declare it differently."""
    first: dict[str, Check] = {}
    for scenario in scenarios:
        for check in scenario.checks:
            criterion = check.scorer.criterion
            other = first.setdefault(criterion.name, check)
            facts = other.scorer.criterion.model_dump()
            differing = [k for k, v in criterion.model_dump().items() if facts[k] != v]
            if differing:
                text = (
                    f"the criterion {criterion.name!r} has another {listed(differing)} at "
                    f"{other.place}; make them equal, or give one scorer another 'name'"
                )
                problems.add(check.place, "criterion_not_constant", text)
