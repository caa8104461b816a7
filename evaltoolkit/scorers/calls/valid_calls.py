"""`ValidToolCalls`: could the calls be executed with the tools that were offered?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Unpack

from evaltoolkit.errors import ScorerError
from evaltoolkit.models import Example, Kind, Output
from evaltoolkit.scorers.base import (
    BaseScorer,
    Naming,
    Unmeasurable,
    Verdict,
    as_json,
    is_object,
    is_several,
    need_package,
    shorten,
)
from evaltoolkit.scorers.calls.call_arguments import showable
from evaltoolkit.scorers.calls.explanations import MAX_SHOWN
from evaltoolkit.scorers.calls.messages import ToolCall, calls_of
from evaltoolkit.scorers.structure import ValidJSON

_SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema", "args_schema")
_MAX_KEPT = 1000
_NO_EXAMPLE = Example(id="none")


class ValidToolCalls(BaseScorer):
    """1 if every call names a tool that was offered and its arguments obey that tool's schema.

    The tools are those of the example; see `tool_schemas`. A call that cannot be read is invalid.
    Where no call was made there is nothing to judge: such an output is unscored.

    Args:
        **naming: See `Naming`.

    Raises:
        MissingDependencyError: The package jsonschema is not installed.

    Example:
        >>> schema = {"type": "object", "properties": {"x": {"type": "integer"}}}
        >>> example = Example(id=1, tools=[{"name": "f", "parameters": schema}])
        >>> output = Output(rounds=[[{"name": "f", "args": {"x": "1"}}]])
        >>> score = ValidToolCalls().score(output, example)
        >>> score.score, score.label
        (0.0, 'breaks the schema')
    """

    kind: ClassVar[Kind] = "binary"

    def __init__(self, **naming: Unpack[Naming]) -> None:
        super().__init__(**naming)
        need_package("jsonschema", purpose=self.name)
        self._validators: dict[str, ValidJSON] = {}

    def measure(self, output: Output, example: Example, /) -> Verdict:
        """Check call by call."""
        schemas = tool_schemas(example.tools)
        calls = calls_of(output)
        if not calls:
            msg = "no tool call was made"
            raise Unmeasurable(msg)
        found = [(place, call, self._fault(call, schemas)) for place, call in enumerate(calls)]
        wrong = [(place, call, fault) for place, call, fault in found if fault]
        details = {
            "calls": len(calls),
            "invalid": [
                {"index": place, "name": showable(call.name), **(fault or {})}
                for place, call, fault in wrong[:MAX_SHOWN]
            ],
        }
        if not wrong:
            return Verdict(1.0, details=details, label="valid")
        place, call, fault = wrong[0]
        more = f"; and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        problem = (fault or {})["problem"]
        named = f" {shorten(call.name)}" if call.name else ""
        label = (fault or {})["class"]
        return Verdict(0.0, f"call {place}{named}: {problem}{more}", details, label)

    def _fault(self, call: ToolCall, schemas: Mapping[str, Any]) -> dict[str, Any] | None:
        if call.fault:
            return {"class": "malformed call", "problem": showable(call.fault)}
        if call.name not in schemas:
            return {"class": "unknown tool", "problem": "no such tool was offered"}
        schema = schemas[call.name]
        if schema is None:
            return None
        verdict = self._validator(schema, call.name).measure(Output(text=call.args), _NO_EXAMPLE)
        if verdict.score:
            return None
        facts = (verdict.details or {}).get("errors", [])
        return {"class": "breaks the schema", "problem": verdict.message, "errors": facts}

    def _validator(self, schema: Any, tool: str) -> ValidJSON:  # noqa: ANN401 - JSON
        key = as_json(schema, compact=True)
        if key not in self._validators:
            try:
                made = ValidJSON(schema)
            except ScorerError as error:
                msg = f"the tool {shorten(tool)} of the example: {error}"
                raise Unmeasurable(msg) from error
            if len(self._validators) >= _MAX_KEPT:
                self._validators.clear()
            self._validators[key] = made
        return self._validators[key]


def tool_schemas(tools: object) -> dict[str, Any]:
    """Read which tools are offered, with the JSON Schema of the arguments of each.

    Args:
        tools: A list of tools in the shape of OpenAI (``function`` with ``name`` and
            ``parameters``, or flat), Anthropic (``input_schema``), MCP (``inputSchema``), of JSON
            Schemas with a ``title``, or of bare names; or a dict from names to schemas.

    Returns:
        By name, the schema; None where a tool has none.

    Raises:
        Unmeasurable: There are no tools, one has no name, or two have the same.

    Example:
        >>> tool_schemas([{"name": "f", "input_schema": {"type": "object"}}, "g"])
        {'f': {'type': 'object'}, 'g': None}
    """
    if tools is None:
        msg = "the example has no tools"
        raise Unmeasurable(msg)
    if is_object(tools):
        return {str(name): _schema_in(entry) for name, entry in tools.items()}
    if not is_several(tools):
        msg = f"tools is a {type(tools).__name__}, neither a list nor a dict"
        raise Unmeasurable(msg)
    found: dict[str, Any] = {}
    for place, entry in enumerate(tools):
        name, schema = _named_schema(entry)
        if not isinstance(name, str) or not name or name in found:
            problem = "occurs twice" if name in found else "has no name"
            msg = f"tools[{place}] {shorten(entry)} {problem}"
            raise Unmeasurable(msg)
        found[name] = schema
    return found


def _named_schema(entry: object) -> tuple[object, Any]:
    if isinstance(entry, str):
        return entry, None
    if not is_object(entry):
        return None, None
    tool = _inner_tool(entry)
    return (tool["name"], _first_schema(tool)) if "name" in tool else (tool.get("title"), tool)


def _schema_in(entry: object) -> Any:  # noqa: ANN401 - JSON
    """Give the schema of a tool that is named elsewhere: inside a tool, or the value itself."""
    if not is_object(entry):
        return entry
    tool = _inner_tool(entry)
    return _first_schema(tool) if any(key in tool for key in _SCHEMA_KEYS) else entry


def _inner_tool(entry: dict[str, Any]) -> dict[str, Any]:
    function = entry.get("function")
    return function if is_object(function) else entry


def _first_schema(entry: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
    return next((entry[key] for key in _SCHEMA_KEYS if entry.get(key) is not None), None)
