"""Generated conversations with tool calls, in the shapes in which such calls come."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

Call = dict[str, Any]
Messages = list[dict[str, Any]]

VALUES: tuple[Any, ...] = (1, 2, 1.0, True, "1", "two", None, [1], {"v": 1}, {"v": 1, "w": 2})


def pairs(seed: int, count: int) -> Iterator[tuple[Messages, Messages]]:
    """Actual and reference conversations: the same, changed somewhere, or unrelated."""
    draw = random.Random(seed)
    for _ in range(count):
        reference = rounds(draw)
        if draw.random() < 0.85:
            actual = [list(calls) for calls in reference]
            for _ in range(draw.choice([0, 1, 1, 2, 3])):
                actual = change(draw, actual)
        else:
            actual = rounds(draw)
        yield conversation(draw, actual), conversation(draw, reference)


def rounds(draw: random.Random) -> list[list[Call]]:
    """Calls of each round."""
    return [[call(draw) for _ in range(draw.choice([1, 1, 2]))] for _ in range(draw.randrange(4))]


def call(draw: random.Random) -> Call:
    keys = draw.sample("xyz", draw.randrange(4))
    return {"name": draw.choice("ffg"), "args": {key: draw.choice(VALUES[:5]) for key in keys}}


def change(draw: random.Random, wanted: list[list[Call]]) -> list[list[Call]]:
    """One change: a call more, less, elsewhere, or with other arguments."""
    calls = [list(one) for one in wanted]
    if not calls or draw.random() < 0.2:
        return [*calls, [call(draw)]]
    place = draw.randrange(len(calls))
    kind = draw.randrange(6)
    if kind == 0:
        return calls[:place] + calls[place + 1 :]
    if kind == 1:
        draw.shuffle(calls)
        return calls
    if kind == 2:
        calls[place] = calls[place][::-1]
        return calls
    picked = draw.randrange(len(calls[place]))
    old = calls[place][picked]
    args = dict(old["args"])
    if kind == 3 and args:
        del args[draw.choice(list(args))]
    else:
        args[draw.choice("xyz")] = draw.choice(VALUES)
    calls[place][picked] = {"name": old["name"], "args": args}
    return calls


def conversation(draw: random.Random, wanted: list[list[Call]]) -> Messages:
    """Messages of user, assistant and tools; wire shape or flat shape, with and without prose."""
    messages: Messages = [{"role": "user", "content": draw.choice(["go", "please"])}]
    flat = draw.random() < 0.4
    for turn, calls in enumerate(wanted):
        ids = [f"c{turn}_{i}" for i in range(len(calls))]
        shaped = [_shaped(one, name, flat=flat) for one, name in zip(calls, ids, strict=True)]
        messages.append({"role": "assistant", "content": "", "tool_calls": shaped})
        messages += [{"role": "tool", "content": "ok", "tool_call_id": name} for name in ids]
    if draw.random() < 0.9:
        messages.append({"role": "assistant", "content": draw.choice(["done", "so be it"])})
    return messages


def _shaped(one: Call, name: str, *, flat: bool) -> Call:
    if flat:
        return {"name": one["name"], "args": one["args"], "id": name}
    function = {"name": one["name"], "arguments": json.dumps(one["args"])}
    return {"id": name, "type": "function", "function": function}
