"""One call, in every shape in which providers and frameworks give it."""

from __future__ import annotations

import enum
import json
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltoolkit.models import Example, Output
from evaltoolkit.scorers import ToolCall, Unmeasurable, read_call
from evaltoolkit.scorers.calls.messages import (
    calls_of,
    read_turns,
    reference_calls,
    rounds_of,
    turns_of,
)

CALL = ToolCall("f", {"x": 1})
TEXT = '{"x": 1}'

SHAPES: dict[str, Any] = {
    "wire": {"id": "c", "type": "function", "function": {"name": "f", "arguments": TEXT}},
    "wire with a dict": {"function": {"name": "f", "arguments": {"x": 1}}},
    "flat args": {"name": "f", "args": {"x": 1}},
    "flat args as text": {"name": "f", "args": TEXT},
    "flat arguments": {"name": "f", "arguments": {"x": 1}},
    "flat arguments as text": {"name": "f", "arguments": TEXT},
    "flat input": {"name": "f", "input": {"x": 1}},
    "tool_use": {"type": "tool_use", "id": "c", "name": "f", "input": {"x": 1}},
    "responses": {"type": "function_call", "call_id": "c", "name": "f", "arguments": TEXT},
    "langchain": {"name": "f", "args": {"x": 1}, "id": "c", "type": "tool_call"},
    "inspect": {"id": "c", "function": "f", "arguments": {"x": 1}, "parse_error": None},
    "evalshift": {"tool_name": "f", "arguments": {"x": 1}},
    "object": SimpleNamespace(
        id="c", type="function", function=SimpleNamespace(name="f", arguments=TEXT)
    ),
}
every_shape = pytest.mark.parametrize("entry", SHAPES.values(), ids=SHAPES.keys())


def plain(calls: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, call.args) for call in calls]


@every_shape
def test_every_shape_is_the_same_call(entry: Any) -> None:
    read = read_call(entry)
    assert (read.name, read.args, read.fault) == ("f", {"x": 1}, None)
    assert read.id in ("c", None)


@every_shape
def test_every_shape_is_found_in_a_message_a_round_and_a_bare_list(entry: Any) -> None:
    one = [("f", {"x": 1})]
    message = {"role": "assistant", "content": None, "tool_calls": [entry]}
    assert plain(calls_of(Output(messages=[message]))) == one
    assert plain(calls_of(Output(rounds=[[entry]]))) == one
    assert plain(reference_calls(Example(id=1, reference_tool_calls=[entry]))) == one
    assert plain(reference_calls(Example(id=1, reference_tool_calls=[[entry]]))) == one


@pytest.mark.parametrize("nothing", [None, "", "  ", "{}", {}])
def test_no_arguments_are_no_fault(nothing: Any) -> None:
    for entry in (
        {"name": "f", "args": nothing},
        {"function": {"name": "f", "arguments": nothing}},
        {"function": {"name": "f"}},
        {"name": "f"},
    ):
        assert read_call(entry) == ToolCall("f")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ('{"x": ', "not JSON: Expecting value"),
        ("x=1", "not JSON"),
        ("[1]", "are [1], not an object"),
        ("null", "are null, not an object"),
        ("3", "are 3, not an object"),
        ([1], "are [1], not an object"),
        (7, "are 7, not an object"),
        ("[" * 100_000, "nested too deeply"),
        ({"_parse_error": "cut off"}, "could not be read: 'cut off'"),
    ],
)
def test_malformed_arguments_are_a_fault_and_never_an_empty_call(
    arguments: Any, reason: str
) -> None:
    for entry in (
        {"name": "f", "args": arguments},
        {"function": {"name": "f", "arguments": arguments}},
        {"type": "tool_use", "name": "f", "input": arguments},
    ):
        read = read_call(entry)
        assert read.name == "f"
        assert reason in (read.fault or "")
        assert read.args == {}


@pytest.mark.parametrize(
    "entry", ["f", 7, None, [], {}, {"x": 1}, {"name": ""}, {"name": 3}, {"function": {}}]
)
def test_what_is_no_call_has_a_fault(entry: Any) -> None:
    read = read_call(entry)
    assert read.name == ""
    assert "is not a tool call" in (read.fault or "")


def test_a_parse_error_that_a_framework_reports_is_a_fault() -> None:
    inspect = {"function": "f", "arguments": {}, "parse_error": "no JSON"}
    assert "'no JSON'" in (read_call(inspect).fault or "")


def messages_with(*entries: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "tool_calls": list(entries)}


ONE, TWO = SHAPES["wire"], {"name": "g", "args": {}, "id": "d"}
MESSAGES: dict[str, Any] = {
    "tool_calls": messages_with(ONE, TWO),
    "content blocks": {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "so"},
            {"type": "tool_use", "id": "c", "name": "f", "input": {"x": 1}},
            {"type": "tool_use", "id": "d", "name": "g", "input": {}},
        ],
    },
    "additional_kwargs": {
        "type": "ai",
        "content": "",
        "additional_kwargs": messages_with(ONE, TWO),
    },
    "told twice, with ids": {
        **messages_with(ONE, TWO),
        "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {"x": 1}}],
        "additional_kwargs": messages_with(ONE, TWO),
    },
    "told half here, half there": {
        **messages_with(ONE),
        "content": [{"type": "tool_use", "id": "d", "name": "g", "input": {}}],
    },
    "messages_to_dict": {"type": "ai", "data": {**messages_with(ONE, TWO), "role": None}},
    "langchain serialised": {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", "AIMessage"],
        "kwargs": {"type": "ai", **messages_with(ONE, TWO), "role": None},
    },
    "object": SimpleNamespace(role="assistant", content=None, tool_calls=[ONE, TWO]),
    "langchain object": SimpleNamespace(
        type="ai", content="", tool_calls=[ONE, TWO], additional_kwargs={}, invalid_tool_calls=[]
    ),
}


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES.keys())
def test_every_message_holds_the_same_calls_once(message: Any) -> None:
    [turn] = read_turns([message], what="messages")
    assert turn.role == "assistant"
    assert plain(turn.calls) == [("f", {"x": 1}), ("g", {})]


@pytest.mark.parametrize("known", ["c", None])
def test_a_call_told_twice_without_an_id_counts_once_and_another_is_kept(known: Any) -> None:
    message = {
        "role": "assistant",
        "tool_calls": [{"name": "f", "args": {"x": 1}, "id": known}],
        "content": [
            {"type": "tool_use", "name": "f", "input": {"x": 1}},
            {"type": "tool_use", "name": "f", "input": {"x": 2}},
        ],
    }
    found = calls_of(Output(messages=[message]))
    assert plain(found) == [("f", {"x": 1}), ("f", {"x": 2})]


def test_the_older_function_call_is_read() -> None:
    message = {"role": "assistant", "function_call": {"name": "f", "arguments": TEXT}}
    assert plain(calls_of(Output(messages=[message]))) == [("f", {"x": 1})]
    message = {"type": "ai", "content": "", "additional_kwargs": message}
    assert plain(calls_of(Output(messages=[message]))) == [("f", {"x": 1})]


def test_calls_that_langchain_could_not_parse_keep_their_place_and_their_fault() -> None:
    broken = {"id": "b", "function": {"name": "f", "arguments": "{"}}
    invalid = [{"name": "f", "args": "{", "id": "b", "error": "bad", "type": "invalid_tool_call"}]
    message = SimpleNamespace(
        type="ai",
        content="",
        tool_calls=[TWO],
        invalid_tool_calls=invalid,
        additional_kwargs={"tool_calls": [broken, TWO]},
    )
    calls = calls_of(Output(messages=[message]))
    assert [(call.name, bool(call.fault)) for call in calls] == [("f", True), ("g", False)]
    message.additional_kwargs = {}
    calls = calls_of(Output(messages=[message]))
    assert [(call.name, bool(call.fault)) for call in calls] == [("g", False), ("f", True)]


@pytest.mark.peers
def test_real_langchain_messages_are_read() -> None:
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, message_to_dict

    talk = [
        HumanMessage("go"),
        AIMessage("", tool_calls=[{"name": "f", "args": {"x": 1}, "id": "c"}]),
        ToolMessage("ok", tool_call_id="c"),
        AIMessage([{"type": "tool_use", "name": "g", "input": {}, "id": "d"}]),
        AIMessage("done"),
    ]
    for messages in (talk, [message_to_dict(one) for one in talk], {"messages": talk}):
        output = Output(messages=messages)
        assert plain(calls_of(output)) == [("f", {"x": 1}), ("g", {})]
        roles = [turn.role for turn in turns_of(output)]
        assert roles == ["user", "assistant", "tool", "assistant", "assistant"]


def test_roles_have_one_name() -> None:
    roles = ["user", "human", "assistant", "ai", "tool", "system"]
    turns = read_turns([{"role": role, "content": ""} for role in roles], what="messages")
    assert [t.role for t in turns] == ["user", "user", "assistant", "assistant", "tool", "system"]
    assert read_turns([{"content": "x"}], what="messages")[0].role == ""


def test_calls_of_any_role_and_in_any_message_are_found_in_order() -> None:
    talk = [
        {"role": "user", "content": "go", "tool_calls": [{"name": "a"}]},
        messages_with({"name": "b"}, {"name": "c"}),
        {"role": "tool", "content": "ok", "name": "d"},
        messages_with({"name": "e"}),
    ]
    assert [call.name for call in calls_of(Output(messages=talk))] == ["a", "b", "c", "e"]


def test_rounds_are_those_given_else_messages_of_the_assistant() -> None:
    talk = [
        {"role": "user", "content": "go"},
        messages_with({"name": "a"}, {"name": "b"}),
        {"role": "assistant", "content": "done"},
    ]
    names = [[call.name for call in one] for one in rounds_of(Output(messages=talk))]
    assert names == [["a", "b"], []]
    given = Output(messages=talk, rounds=[[{"name": "z"}], []])
    assert [[call.name for call in one] for one in rounds_of(given)] == [["z"], []]
    assert [call.name for call in calls_of(given)] == ["z"]


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ("text", "messages is a str, not a list"),
        (7, "messages is a int, not a list"),
        ({"role": "user"}, "messages is a dict, not a list"),
        (["text"], r"messages\[0\] is 'text', which is neither a message nor a tool call"),
        ([None], r"messages\[0\] is None, which is neither"),
        ([{}], r"messages\[0\] is \{\}, which is neither"),
        ([{"role": "assistant", "tool_calls": 5}], r"messages\[0\]: tool_calls is a int"),
    ],
)
def test_what_is_no_conversation_is_not_scored(messages: Any, reason: str) -> None:
    with pytest.raises(Unmeasurable, match=reason):
        calls_of(Output(messages=messages))


def test_an_output_without_calls_and_one_without_messages_are_two_things() -> None:
    assert calls_of(Output(messages=[])) == []
    assert calls_of(Output(rounds=[])) == []
    with pytest.raises(Unmeasurable, match="neither messages nor rounds"):
        calls_of(Output(text="no"))


def test_a_reference_that_cannot_be_read_is_no_reference() -> None:
    with pytest.raises(Unmeasurable, match="no reference_tool_calls"):
        reference_calls(Example(id=1))
    broken = [{"name": "f"}, {"name": "g", "args": "{"}]
    with pytest.raises(Unmeasurable, match="call 1 of reference_tool_calls cannot be read"):
        reference_calls(Example(id=1, reference_tool_calls=broken))


def test_what_is_read_leaves_the_input_alone() -> None:
    before = json.dumps([MESSAGES["tool_calls"], MESSAGES["content blocks"]])
    given = json.loads(before)
    [call, *_] = calls_of(Output(messages=given))
    call.args["x"] = 99
    assert json.dumps(given) == before


# As many frameworks define it; str() of such a member is not its value.
Role = enum.Enum("Role", {"ASSISTANT": "assistant"}, type=str)

# What a key of a call may hold, right and wrong, so that every way of reading is taken.
_NAMES = st.sampled_from([None, "", "f", 1, ["f"]])
_ODD_ARGUMENTS = st.sampled_from(
    [{"_parse_error": "cut"}, '{"_parse_error": "cut"}', "1" * 5000, f'{{"x": {"1" * 4200}}}']
)
_ARGUMENTS = _ODD_ARGUMENTS | st.sampled_from(
    [None, "", " ", "{}", TEXT, ' {"x": 1} ', "[1]", "null", '{"x": ', {}, {"x": 1}, [1], 0]
)
_FIELDS = {
    **dict.fromkeys(("name", "tool_name"), _NAMES),
    **dict.fromkeys(("arguments", "args", "input"), _ARGUMENTS),
    **dict.fromkeys(("id", "call_id"), st.sampled_from([None, "", "c", 7])),
    **dict.fromkeys(("parse_error", "_parse_error", "error"), st.sampled_from([None, "broken"])),
    "type": st.sampled_from([None, "function", "tool_use", "invalid_tool_call", "function_call"]),
}
_FLAT = st.fixed_dictionaries({}, optional=_FIELDS)
_CALLS = st.fixed_dictionaries({}, optional={**_FIELDS, "function": _NAMES | _FLAT})
_MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["assistant", "ai", "", "user", Role.ASSISTANT])},
    optional={
        "content": st.sampled_from([None, "", "text"]) | st.lists(_FLAT, max_size=2),
        "tool_calls": st.sampled_from([None, "", 1, {}]) | st.lists(_CALLS, max_size=2),
        "invalid_tool_calls": st.lists(_FLAT, max_size=1),
        "additional_kwargs": st.fixed_dictionaries({"tool_calls": st.lists(_FLAT, max_size=1)}),
        "function_call": st.none() | _FLAT,
        "type": st.sampled_from(["message", "ai"]),
    },
)


@given(entry=_CALLS)
@settings(max_examples=500)
def test_the_short_way_to_read_a_call_gives_what_the_long_way_gives(entry: dict[str, Any]) -> None:
    # Only plain dicts are read the short way.
    short, long = read_call(entry), read_call(MappingProxyType(entry))
    if short.fault and "is not a tool call with a name" in short.fault:
        assert "is not a tool call with a name" in (long.fault or "")
    else:
        assert short == long


@given(message=_MESSAGES)
@settings(max_examples=300)
def test_the_short_way_to_read_a_message_gives_what_the_long_way_gives(
    message: dict[str, Any],
) -> None:
    def read(item: object) -> object:
        try:
            return read_turns([item], what="messages")
        except Unmeasurable as reason:
            return str(reason)

    assert read(message) == read(MappingProxyType(message))


def test_a_role_of_an_enumeration_is_that_role() -> None:
    block = {"type": "tool_use", "name": "f", "input": {"x": 1}}
    told: tuple[dict[str, Any], ...] = ({"tool_calls": [SHAPES["wire"]]}, {"content": [block]})
    for held in told:
        output = Output(messages=[{"role": Role.ASSISTANT, **held}])
        assert [plain(calls) for calls in rounds_of(output)] == [plain([CALL])]
