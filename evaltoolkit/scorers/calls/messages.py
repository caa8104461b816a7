"""Tool calls, read from whatever shape a provider or framework gives them.

A call that cannot be read is kept with its fault and matches nothing: it never turns into a call
without arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeGuard

from evaltoolkit.models import Example, Output
from evaltoolkit.scorers.base import Unmeasurable, is_object, is_several, shorten
from evaltoolkit.scorers.parsing import parse_json

_CALL_TYPES = ("tool_use", "tool_call", "invalid_tool_call", "function_call")
_NAME_KEYS = ("name", "tool_name")
_ARGUMENT_KEYS = ("arguments", "args", "input")
_MESSAGE_KEYS = ("content", "tool_calls", "function_call", "type")
_ELSEWHERE = {"additional_kwargs", "invalid_tool_calls", "function_call"}
_PECULIAR = {*_ELSEWHERE, "type", "lc", "data"}
_FAULTS = {"parse_error", "_parse_error"}
_ROLES = {
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "human": "user",
    "function_call_output": "tool",
}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool.

    Attributes:
        name: Name of the tool, "" where there is none.
        args: Its arguments; empty where there are none or they cannot be read.
        fault: Why the call cannot be read; None for a sound call.
        id: The provider's name of the call.
    """

    name: str
    args: dict[str, Any] = field(default_factory=dict[str, Any])
    fault: str | None = None
    id: str | None = None


class Turn(NamedTuple):
    """One message of a conversation, as far as tool calls are concerned.

    ``role`` is "" where it is not known, ``is_message`` false for bare calls.
    """

    role: str
    calls: tuple[ToolCall, ...] = ()
    is_message: bool = True


def read_call(entry: object) -> ToolCall:
    """Read one tool call.

    Known shapes, as dicts or as objects with the same attributes: the wire shape of OpenAI
    (``function`` with ``name`` and ``arguments`` as JSON text), the flat shape (``name`` and
    ``args``, ``arguments`` or ``input``), Anthropic's ``tool_use`` block, LangChain's tool calls
    and Inspect's (``function`` is the name). Arguments that are null, absent or an empty text are
    no arguments.

    Args:
        entry: The call.

    Returns:
        The call; one that cannot be read has a ``fault``.

    Example:
        >>> read_call({"function": {"name": "f", "arguments": '{"x": 1}'}}).args
        {'x': 1}
        >>> read_call({"name": "f", "args": '{"x": '}).fault
        'its arguments are not JSON: Expecting value: line 1 column 7 (char 6)'
    """
    if is_object(entry) and (simple := _simple_call(entry)) is not None:
        return simple
    fields = _fields(entry)
    function = fields.get("function")
    holder = _holder(fields, function)
    name = function if isinstance(function, str) else holder.get("name") or holder.get("tool_name")
    args, fault = _read_arguments(_first(holder, _ARGUMENT_KEYS))
    if not isinstance(name, str) or not name:
        name, fault = "", f"{shorten(entry)} is not a tool call with a name"
    declared = fields.get("parse_error") or fields.get("_parse_error") or args.get("_parse_error")
    if declared or fields.get("type") == "invalid_tool_call":
        why = declared or fields.get("error") or "marked as invalid"
        fault = fault or f"its arguments could not be read: {shorten(why)}"
    call_id = fields.get("id") or fields.get("call_id")
    return ToolCall(
        name, {} if fault else args, fault, call_id if isinstance(call_id, str) else None
    )


def _simple_call(entry: dict[str, Any]) -> ToolCall | None:
    """Read the commonest calls the short way: plain dicts, on the wire or flat, without a fault.

    None where there is anything else to look at; what it gives is what `read_call` would.
    """
    holder = entry.get("function")
    if holder is None:
        holder = entry
    if not is_object(holder) or not _FAULTS.isdisjoint(entry):
        return None
    name, args = holder.get("name"), holder.get("arguments")
    if args is None:
        args = holder.get("args")
    if isinstance(args, str):
        try:
            args = parse_json(args)
        except (ValueError, Unmeasurable):
            return None
    elif is_object(args):
        args = dict(args)
    if not is_object(args) or not isinstance(name, str) or not name:
        return None
    if "_parse_error" in args or entry.get("type") == "invalid_tool_call":
        return None
    call_id = entry.get("id") or entry.get("call_id")
    return ToolCall(name, args, None, call_id if isinstance(call_id, str) else None)


def has_arguments(entry: object) -> bool:
    """Whether a call says anything of its arguments, be it that there are none.

    Example:
        >>> has_arguments({"name": "f"}), has_arguments({"name": "f", "args": {}})
        (False, True)
    """
    fields = _fields(entry)
    return _first(_holder(fields, fields.get("function")), _ARGUMENT_KEYS) is not None


def read_turns(value: object, *, what: str) -> list[Turn]:
    """Read a conversation, bare tool calls, or lists of calls.

    Args:
        value: A list, or a dict with a list under ``messages``. Its items are messages (dicts,
            objects of OpenAI, Anthropic or LangChain, messages that LangChain has serialised),
            tool calls, or lists of tool calls.
        what: What the value is called in error messages.

    Returns:
        One turn for each item.

    Raises:
        Unmeasurable: It is no list, or an item is nothing of that kind.

    Example:
        >>> block = {"type": "tool_use", "name": "f", "input": {"x": 1}}
        >>> [turn] = read_turns([{"role": "assistant", "content": [block]}], what="messages")
        >>> turn.calls[0].name, turn.calls[0].args
        ('f', {'x': 1})
    """
    if is_object(value) and "messages" in value:
        value = value["messages"]
    if not is_several(value):
        msg = f"{what} is a {type(value).__name__}, not a list"
        raise Unmeasurable(msg)
    return [_read_turn(item, what, place) for place, item in enumerate(value)]


def turns_of(output: Output) -> list[Turn]:
    """Give the turns of an output: its messages, else its rounds.

    Raises:
        Unmeasurable: It has neither, or they cannot be read.
    """
    if output.messages is not None:
        return read_turns(output.messages, what="messages")
    return _rounds_or_fail(output)


def rounds_of(output: Output) -> list[list[ToolCall]]:
    """Give the calls of each round: of ``rounds``, else of each message of the assistant.

    Raises:
        Unmeasurable: The output has neither, or they cannot be read.
    """
    if output.rounds is not None:
        return [list(turn.calls) for turn in _rounds_or_fail(output)]
    return [list(turn.calls) for turn in turns_of(output) if turn.role in ("assistant", "")]


def calls_of(output: Output) -> list[ToolCall]:
    """Give all calls of an output in order: of ``rounds``, else of the messages, of any role.

    Raises:
        Unmeasurable: The output has neither, or they cannot be read.

    Example:
        >>> [call.name for call in calls_of(Output(rounds=[[{"name": "f"}], [{"name": "g"}]]))]
        ['f', 'g']
    """
    turns = turns_of(output) if output.rounds is None else _rounds_or_fail(output)
    return [call for turn in turns for call in turn.calls]


def reference_turns(example: Example) -> list[Turn]:
    """Give the turns of ``reference_tool_calls``: messages, or bare calls.

    Raises:
        Unmeasurable: There is no reference, or a call in it cannot be read.
    """
    if example.reference_tool_calls is None:
        msg = "the example has no reference_tool_calls"
        raise Unmeasurable(msg)
    turns = read_turns(example.reference_tool_calls, what="reference_tool_calls")
    check_readable([call for turn in turns for call in turn.calls], what="reference_tool_calls")
    return turns


def reference_calls(example: Example) -> list[ToolCall]:
    """Give the calls of ``reference_tool_calls`` in order.

    Raises:
        Unmeasurable: There is no reference, or a call in it cannot be read.
    """
    return [call for turn in reference_turns(example) for call in turn.calls]


def check_readable(calls: Sequence[ToolCall], *, what: str) -> None:
    """Refuse a ground truth with a call that cannot be read.

    Raises:
        Unmeasurable: There is one.
    """
    for place, call in enumerate(calls):
        if call.fault:
            msg = f"call {place} of {what} cannot be read: {call.fault}"
            raise Unmeasurable(msg)


def _rounds_or_fail(output: Output) -> list[Turn]:
    if output.rounds is None:
        msg = "the output has neither messages nor rounds"
        raise Unmeasurable(msg)
    turns = read_turns(output.rounds, what="rounds")
    return [turn._replace(role="assistant") for turn in turns]


class _Attributes:
    """An object of some framework, read like a dict."""

    def __init__(self, item: object) -> None:
        self._item = item

    def get(self, key: str) -> Any:  # noqa: ANN401 - of any shape
        return getattr(self._item, key, None)


_Fields = Mapping[str, Any] | _Attributes


def _fields(item: object) -> _Fields:
    # The check for a dict is by far the faster.
    return item if is_object(item) or _is_mapping(item) else _Attributes(item)


def _holder(fields: _Fields, function: object) -> _Fields:
    """Give the fields among which name and arguments of a call are."""
    return fields if function is None or isinstance(function, str) else _fields(function)


def _is_mapping(item: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(item, Mapping)


def _first(fields: _Fields, keys: Sequence[str]) -> Any:  # noqa: ANN401 - of any shape
    for key in keys:
        found = fields.get(key)
        if found is not None:
            return found
    return None


def _read_arguments(raw: object) -> tuple[dict[str, Any], str | None]:
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        return {}, None
    if isinstance(raw, str):
        try:
            raw = parse_json(raw)
        except (ValueError, Unmeasurable) as error:
            return {}, f"its arguments are not JSON: {error}"
    if _is_mapping(raw):
        return dict(raw), None
    shown = "null" if raw is None else shorten(raw)
    return {}, f"its arguments are {shown}, not an object"


def _read_turn(item: object, what: str, place: int) -> Turn:
    if is_several(item):
        return Turn("assistant", tuple(map(read_call, item)), is_message=False)
    if is_object(item) and _is_plain_message(item):  # the commonest by far
        role = item["role"]
        return Turn(_ROLES.get(role, role), tuple(map(read_call, item.get("tool_calls") or ())))
    item = _unwrapped(item)
    fields = _fields(item)
    role = fields.get("role")
    if _is_call(fields, role):
        return Turn("assistant", (read_call(item),), is_message=False)
    if role is None:
        if isinstance(item, str | bytes) or _first(fields, _MESSAGE_KEYS) is None:
            msg = f"{what}[{place}] is {shorten(item)}, which is neither a message nor a tool call"
            raise Unmeasurable(msg)
        role = fields.get("type") or ""
    role = role if isinstance(role, str) else str(role)
    try:
        return Turn(_ROLES.get(role, role), tuple(_calls_in(fields)))
    except Unmeasurable as reason:
        msg = f"{what}[{place}]: {reason}"
        raise Unmeasurable(msg) from reason


def _is_plain_message(item: dict[str, Any]) -> bool:
    """Whether calls can only be among its ``tool_calls``, and those are a list."""
    return (
        isinstance(item.get("role"), str)
        and _PECULIAR.isdisjoint(item)
        and not is_several(item.get("content"))
        and is_several(item.get("tool_calls") or ())
    )


def _unwrapped(item: object) -> object:
    """Take a message out of the two forms in which LangChain serialises it."""
    if not is_object(item):
        return item
    if "lc" in item and is_object(item.get("kwargs")):
        return item["kwargs"]
    if is_object(item.get("data")) and "content" in item["data"]:
        return {"type": item.get("type"), **item["data"]}
    return item


def _is_call(fields: _Fields, role: object) -> bool:
    if fields.get("type") in _CALL_TYPES:
        return True
    if role is not None or _first(fields, ("content", "tool_calls")) is not None:
        return False
    return _first(fields, ("function", *_NAME_KEYS)) is not None


def _calls_in(message: _Fields) -> list[ToolCall]:
    """Collect the calls of a message, each once, though frameworks repeat them elsewhere."""
    declared = _entries(message, "tool_calls")
    content = message.get("content")
    more = _fields(message.get("additional_kwargs"))
    broken = _entries(message, "invalid_tool_calls")
    original = _entries(more, "tool_calls")
    if original and (broken or not declared):  # here they stand in the order they were made in
        calls = list(map(read_call, original))
    else:
        invalid = (_as_invalid(read_call(entry)) for entry in broken)
        calls = [*map(read_call, declared), *invalid]
    if not calls and (single := message.get("function_call") or more.get("function_call")):
        calls = [read_call(single)]
    blocks = content if is_several(content) else ()
    found = [read_call(block) for block in blocks if _fields(block).get("type") in _CALL_TYPES]
    return calls + [call for call in found if not any(_is_repeated(call, one) for one in calls)]


def _is_repeated(call: ToolCall, known: ToolCall) -> bool:
    if call.id is not None and known.id is not None:
        return call.id == known.id
    # One that could not be read is told with its arguments in one place, without in the other.
    return call.name == known.name and (known.fault is not None or call.args == known.args)


def _entries(holder: _Fields, key: str) -> Sequence[Any]:
    found = holder.get(key) or ()
    if not is_several(found):
        msg = f"{key} is a {type(found).__name__}, not a list"
        raise Unmeasurable(msg)
    return found


def _as_invalid(call: ToolCall) -> ToolCall:
    return replace(call, args={}, fault=call.fault or "its arguments could not be read")
