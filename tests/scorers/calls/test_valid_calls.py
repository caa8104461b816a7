"""Calls against the tools that were offered."""

from __future__ import annotations

from typing import Any

import pytest

from evaltoolkit.errors import MissingDependencyError
from evaltoolkit.models import Example, Output, Score
from evaltoolkit.scorers import Unmeasurable, ValidToolCalls, run_scorer
from evaltoolkit.scorers.calls.valid_calls import tool_schemas

SCHEMA = {
    "type": "object",
    "properties": {"x": {"type": "integer"}},
    "required": ["x"],
    "additionalProperties": False,
}
TOOLS: dict[str, Any] = {
    "openai": [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}],
    "flat": [{"type": "function", "name": "f", "parameters": SCHEMA}],
    "anthropic": [{"name": "f", "input_schema": SCHEMA}],
    "mcp": [{"name": "f", "inputSchema": SCHEMA}],
    "title": [{"title": "f", **SCHEMA}],
    "dict of schemas": {"f": SCHEMA},
    "dict of tools": {"f": {"description": "does f", "parameters": SCHEMA}},
    "dict of functions": {"f": {"type": "function", "function": {"parameters": SCHEMA}}},
}


def checked(calls: Any, tools: Any = TOOLS["flat"]) -> Score:
    return ValidToolCalls().score(Output(rounds=[calls]), Example(id=1, tools=tools))


@pytest.mark.parametrize("tools", TOOLS.values(), ids=TOOLS.keys())
@pytest.mark.parametrize(
    ("args", "label"),
    [
        ({"x": 1}, "valid"),
        ('{"x": 1}', "valid"),
        ({"x": "1"}, "breaks the schema"),
        ({}, "breaks the schema"),
        ({"x": 1, "y": 2}, "breaks the schema"),
        ('{"x": ', "malformed call"),
        ("[1]", "malformed call"),
    ],
)
def test_arguments_must_obey_the_schema(tools: Any, args: Any, label: str) -> None:
    found = checked([{"name": "f", "args": args}], tools)
    assert (found.score, found.label) == (float(label == "valid"), label)
    assert found.passed == (label == "valid")


def test_only_tools_that_were_offered_are_valid() -> None:
    found = checked([{"name": "f", "args": {"x": 1}}, {"name": "g", "args": {}}])
    assert (found.score, found.label) == (0, "unknown tool")
    assert found.message == "call 1 'g': no such tool was offered"
    assert checked([{"name": "g"}], []).score == 0
    assert checked([{"name": "g", "args": {"any": 1}}], ["g"]).score == 1
    assert checked([{"name": "g", "args": {"any": 1}}], [{"name": "g"}]).score == 1


def test_every_invalid_call_is_told() -> None:
    found = checked([{"name": "f", "args": {"x": "1"}}, {"x": 1}, {"name": "f", "args": {"x": 1}}])
    assert found.message is not None
    assert found.message.startswith("call 0 'f': $.x: ")
    assert found.message.endswith("; and 1 more")
    details = dict(found.details)  # type: ignore[arg-type,call-overload]
    assert details["calls"] == 3
    assert [(one["index"], one["class"]) for one in details["invalid"]] == [
        (0, "breaks the schema"),
        (1, "malformed call"),
    ]
    assert details["invalid"][0]["errors"][0]["path"] == "$.x"


@pytest.mark.parametrize(
    ("tools", "reason"),
    [
        (None, "the example has no tools"),
        (3, "tools is a int, neither a list nor a dict"),
        ([{"parameters": SCHEMA}], "has no name"),
        ([3], "tools[0] 3 has no name"),
        (["f", "f"], "tools[1] 'f' occurs twice"),
        ([{"name": "f", "parameters": {"type": "nonsense"}}], "the tool 'f' of the example"),
    ],
)
def test_tools_that_cannot_be_read_are_not_scored(tools: Any, reason: str) -> None:
    found = checked([{"name": "f"}], tools)
    assert found.status == "unscored"
    assert reason in (found.message or "")


def test_without_a_call_there_is_nothing_to_judge() -> None:
    found = checked([])
    assert (found.status, found.message) == ("unscored", "no tool call was made")
    found = ValidToolCalls().score(Output(), Example(id=1, tools=TOOLS["flat"]))
    assert found.message == "the output has neither messages nor rounds"


def test_schemas_are_read_from_every_shape() -> None:
    assert tool_schemas(TOOLS["title"])["f"]["required"] == ["x"]
    for name, tools in TOOLS.items():
        if name != "title":
            assert tool_schemas(tools) == {"f": SCHEMA}
    with pytest.raises(Unmeasurable):
        tool_schemas("f")


def test_references_to_other_files_are_never_fetched() -> None:
    far = {"$ref": "http://127.0.0.1:9/schema.json"}
    output = Output(rounds=[[{"name": "f"}]])
    example = Example(id=1, tools=[{"name": "f", "parameters": far}])
    [found] = run_scorer(ValidToolCalls(), output, example)
    assert found.status == "scorer_error"
    assert "Unresolvable" in (found.message or "")


def test_the_package_is_missed_when_the_scorer_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match="ValidToolCalls"):
        ValidToolCalls()
