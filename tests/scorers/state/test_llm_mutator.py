"""`LLMMutator`: how replies are read, value by value as langstate reads them, and beyond."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from typing import Any

import pytest

from evaltoolkit.errors import ScorerError
from evaltoolkit.scorers import (
    InterpretiveState,
    LLMMutator,
    MutationContext,
    MutationError,
    MutationResult,
    StructuredInput,
    Unmeasurable,
    read_extractions,
)


def item(**changes: Any) -> dict[str, Any]:
    usual = {"path": "name", "value": "Ada", "confidence": 0.9, "inference": "She says so."}
    return {key: value for key, value in {**usual, **changes}.items() if value is not ...}


class Says:
    """A client that gives one reply and remembers what it was asked."""

    def __init__(self, reply: Any) -> None:
        self.reply = reply
        self.asked: list[str] = []

    def generate(self, prompt: str) -> Any:
        self.asked.append(prompt)
        return self.reply


class SaysLater(Says):
    async def generate(self, prompt: str) -> Any:
        await asyncio.sleep(0)
        return super().generate(prompt)


def mutate(reply: Any, *, state: InterpretiveState | None = None, **options: Any) -> MutationResult:
    client = reply if hasattr(reply, "generate") else Says(reply)
    said = StructuredInput(prompt="I am Ada", message_id="message-1")
    context = MutationContext(input=said, state=InterpretiveState() if state is None else state)
    return asyncio.run(LLMMutator(client, **options).mutate(context))


def stage(reply: Any, **options: Any) -> str:
    with pytest.raises(MutationError) as caught:
        mutate(reply, **options)
    assert isinstance(caught.value, ValueError)
    return caught.value.stage


@pytest.mark.parametrize("reply", ["[]", "[]\n", "  [ ]  "])
def test_nothing_to_add(reply: str) -> None:
    assert mutate(reply).updated_state == InterpretiveState()


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("", "json"),
        ("```json\n[]\n```", "json"),
        ("[] and that is all", "json"),
        ("[" * 10**6, "json"),
        ("null", "shape"),
        ("{}", "shape"),
        ("3", "shape"),
        ("[null]", "item"),
        ("[3]", "item"),
        ('["text"]', "item"),
        ("[[]]", "item"),
        (None, "client"),
        (b"[]", "client"),
        ({"text": "[]"}, "client"),
    ],
)
def test_replies_that_cannot_be_read(reply: Any, expected: str) -> None:
    assert stage(reply) == expected


@pytest.mark.parametrize(
    "changes",
    [
        *({"value": value} for value in (3, 0.5, True, None, [], {})),
        {"inference": ...},
        {"path": ...},
        {"value": ...},
        {"confidence": ...},
        {"path": 3},
        {"confidence": 1.5},
        {"confidence": -1.1},
        {"confidence": float("nan")},
        {"confidence": "sure"},
        {"confidence": None},
    ],
)
def test_bad_items_spoil_the_whole_reply(changes: dict[str, Any]) -> None:
    assert stage(json.dumps([item(), item(**changes)])) == "item"


@pytest.mark.parametrize(
    ("changes", "confidence"),
    [({"confidence": "0.5"}, 0.5), ({"confidence": -1}, -1.0), ({"more": 1}, 0.9)],
)
def test_items_that_are_accepted(changes: dict[str, Any], confidence: float) -> None:
    best = mutate(json.dumps([item(**changes)])).updated_state.get_best_value("name")
    assert best is not None
    assert best.confidence == confidence


def test_an_empty_path_is_a_path() -> None:
    assert "" in mutate(json.dumps([item(path="")])).updated_state


def test_two_items_of_one_path() -> None:
    """Both are candidates; the inference is that of the last, even if it is not the best."""
    reply = json.dumps([item(), item(value="Ida", confidence=0.4, inference="A typo?")])
    field = mutate(reply, mutator_id="m").updated_state["name"]
    assert field is not None
    assert [candidate.value for candidate in field.values] == ["Ada", "Ida"]
    assert field.best() == field.values[0]
    assert field.inference is not None
    assert field.inference.content == "A typo?"
    assert (field.inference.mutator_id, field.inference.message_id) == ("m", "message-1")


def test_the_state_before_stays_as_it_was() -> None:
    state = InterpretiveState()
    state.add_value("name", "Bob", 0.5)
    before = state.to_json()
    after = mutate(json.dumps([item()]), state=state).updated_state
    assert state.to_json() == before
    assert len(after["name"].values) == 2  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("reply", "paths"),
    [
        ("```json\n{}\n```", None),
        ("```json\n%s\n```", ["name"]),
        ("Here you are: %s. Done.", ["name"]),
        ("As you say [1], [sic]: %s", ["name"]),
        ("If there is nothing, []. Here: ```json\n%s\n```", ["name"]),
        ("%s\nOnce more:\n%s", ["name"]),
        ('%s or [{"path": "a"}]', None),
        ("[{" * 50_000, None),
        ("nothing at all", None),
        ("[1, 2", None),
    ],
)
def test_lenient_reading_finds_the_array(reply: str, paths: list[str] | None) -> None:
    text = reply.replace("%s", json.dumps([item()]))
    if paths is None:
        assert stage(text, strict=False) in ("json", "shape")
    else:
        assert list(mutate(text, strict=False).updated_state) == paths


def test_lenient_reading_leaves_bad_items_out_and_says_so() -> None:
    reply = json.dumps([item(value=[1, 2]), item(path=3), "text", item(path="b", value=True)])
    read = read_extractions(reply, strict=False)
    assert [each.value for each in read.items] == [[1, 2], True]
    assert [row["valid"] for row in read.rows] == [True, False, False, True]
    assert read.rows[1]["path"] == 3
    assert read.rows[2]["error"] == "'text' is not an object"


def test_the_error_keeps_what_was_read() -> None:
    with pytest.raises(MutationError, match="item 1: 'text' is not an object") as caught:
        mutate(json.dumps([item(), "text"]))
    assert [row["valid"] for row in caught.value.extractions] == [True, False]


def test_sync_and_async_clients() -> None:
    reply = json.dumps([item()])
    for client in (Says(reply), SaysLater(reply)):
        result = mutate(client)
        assert list(result.updated_state) == ["name"]
        assert len(client.asked) == 1
        assert "I am Ada" in client.asked[0]

    class Delayed:
        def generate(self, prompt: str) -> Any:
            return SaysLater(reply).generate(prompt)

    assert list(mutate(Delayed()).updated_state) == ["name"]


def test_a_sync_client_does_not_hold_up_the_loop() -> None:
    class Slow(Says):
        def generate(self, prompt: str) -> Any:
            time.sleep(0.2)
            return super().generate(prompt)

    async def both() -> int:
        context = MutationContext(input="x", state=InterpretiveState())
        task = asyncio.create_task(LLMMutator(Slow("[]")).mutate(context))
        ticks = 0
        while not task.done():
            await asyncio.sleep(0.005)
            ticks += 1
        await task
        return ticks

    assert asyncio.run(both()) > 2


@pytest.mark.parametrize("error", [ConnectionError("refused"), StopIteration(), KeyError("x")])
def test_a_client_that_raises(error: Exception) -> None:
    class Breaks:
        def generate(self, prompt: str) -> str:
            raise error

    class BreaksLater:
        async def generate(self, prompt: str) -> str:
            raise error

    for client in (Breaks(), BreaksLater()):
        with pytest.raises(MutationError, match="the client failed") as caught:
            mutate(client)
        assert caught.value.stage == "client"
    with pytest.raises(MutationError, match="refused") as caught:
        mutate(type("C", (), {"generate": lambda *_: (_ for _ in ()).throw(OSError("refused"))})())
    assert caught.value.error_type == "OSError"


def test_equal_states_give_equal_prompts() -> None:
    prompts = []
    for order in (["a", "b"], ["b", "a"]):
        state = InterpretiveState()
        for path in order:
            state.add_value(path, "x", 0.5)
        mutator = LLMMutator(Says("[]"))
        context = MutationContext(input="hello", state=state.copy())
        prompts.append(mutator.prompt(context))
    assert prompts[0] == prompts[1]
    digests = {mutate("[]").metadata["prompt_digest"] for _ in range(3)}  # type: ignore[index]
    assert len(digests) == 1


def test_a_state_that_is_not_json_cannot_be_shown() -> None:
    state = InterpretiveState()
    state.add_value("a", {1, 2})
    with pytest.raises(Unmeasurable, match="not JSON"):
        mutate("[]", state=state)


def test_every_mutator_has_a_name_of_its_own() -> None:
    one, other = LLMMutator(Says("[]")), LLMMutator(Says("[]"))
    assert one.mutator_id != other.mutator_id
    assert uuid.UUID(one.mutator_id).version == 4
    assert LLMMutator(Says("[]"), mutator_id="mine").mutator_id == "mine"


@pytest.mark.parametrize("bad", [None, "text", 3, Says, object()])
def test_what_is_no_client(bad: Any) -> None:
    with pytest.raises(ScorerError, match="is no client"):
        LLMMutator(bad)
