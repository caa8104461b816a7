"""Generated texts, numbers and structures, and pairs of an answer and a reference made of them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

Make = Callable[[random.Random], Any]

TEXTS = ("abc", "hello world", "ÀéîöÜ ß", "日本語テキスト", "0123456789.-", "\u0301e\u200b😀 \n")


def inputs(seed: int, make: Make, count: int) -> Iterator[tuple[Any, Any]]:
    """Pairs of an answer and a reference: unrelated, equal, or the one a change of the other."""
    draw = random.Random(seed)
    for _ in range(count):
        expected = make(draw)
        kind = draw.random()
        if kind < 0.15:
            yield expected, expected
        elif kind < 0.6:
            yield changed(draw, expected, make), expected
        else:
            yield make(draw), expected


def changed(draw: random.Random, value: Any, make: Make) -> Any:
    """A value that differs in one place, more or less."""
    if isinstance(value, str) and value:
        place = draw.randrange(len(value))
        return value[:place] + draw.choice(["", "x", value[place].upper()]) + value[place + 1 :]
    if isinstance(value, dict) and value:
        key = draw.choice(list(value))
        return {k: (changed(draw, v, make) if k == key else v) for k, v in value.items()}
    if isinstance(value, list) and value:
        place = draw.randrange(len(value))
        return [
            *value[:place],
            *draw.choice([[], [changed(draw, value[place], make)]]),
            *value[place + 1 :],
        ]
    if isinstance(value, int | float) and abs(value) < 10**300:
        return value + draw.choice([1, -1, 0.5])
    return make(draw)


def text(draw: random.Random) -> str:
    alphabet = draw.choice(TEXTS)
    return "".join(draw.choice(alphabet) for _ in range(draw.randrange(12)))


def number(draw: random.Random) -> Any:
    return draw.choice(
        [
            draw.randint(-5, 5),
            draw.randint(-(10**6), 10**6),
            draw.uniform(-3, 3),
            draw.uniform(0, 1) * 10 ** draw.randint(-12, 12),
            draw.random() < 0.5,
        ]
    )


def leaf(draw: random.Random) -> Any:
    return draw.choice([text, text, number, lambda _: None])(draw)


def structure(draw: random.Random, depth: int = 3) -> Any:
    if depth == 0 or draw.random() < 0.35:
        return leaf(draw)
    size = draw.randrange(4)
    if draw.random() < 0.5:
        return [structure(draw, depth - 1) for _ in range(size)]
    return {draw.choice("abcdef"): structure(draw, depth - 1) for _ in range(size)}


def sometimes(share: float, rare: Make, usual: Make) -> Make:
    return lambda draw: rare(draw) if draw.random() < share else usual(draw)


def one_of(*values: Any) -> Make:
    return lambda draw: draw.choice(values)


def anywhere(value: Any, test: Callable[[Any], bool]) -> bool:
    """Whether something holds for a value or for anything inside it."""
    if test(value):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return isinstance(value, dict | list | tuple) and any(anywhere(v, test) for v in inner)


def parsed(value: Any) -> Any:
    """What the scorers make of a text that holds an object or array, everywhere inside."""
    if isinstance(value, str):
        try:
            read = json.loads(value)
        except ValueError:
            return value
        return parsed(read) if isinstance(read, dict | list) else value
    if isinstance(value, dict):
        return {key: parsed(item) for key, item in value.items()}
    return [parsed(item) for item in value] if isinstance(value, list) else value
