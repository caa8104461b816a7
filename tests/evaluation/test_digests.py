"""Digests are the same for the same thing, in any process, and never fail."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evaltoolkit
from evaltoolkit.evaluation.digests import (
    clean,
    describe,
    digest,
    digest_of_example,
    digest_of_scorer,
    json_text,
    plain,
)
from evaltoolkit.models import Example, Output
from evaltoolkit.scorers import Contains, ExactMatch, Levenshtein, ValidJSON, as_scorer

ROOT = Path(evaltoolkit.__file__).resolve().parents[1]

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(JSON)
def test_json_stays_what_it_is(value: Any) -> None:
    assert plain(value) == json.loads(json_text(value)) or "inf" in repr(value)
    assert digest(value) == digest(json.loads(json_text(value)))


@given(st.text(alphabet=st.characters()))
def test_clean_text_can_be_written_and_is_left_alone_otherwise(text: str) -> None:
    clean(text).encode("utf-8")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return
    assert clean(text) == text


class Hostile:
    def __repr__(self) -> str:
        raise RuntimeError

    def item(self) -> int:
        raise RuntimeError


@pytest.mark.parametrize(
    "value",
    [10**5_000, {10**5_000: 1}, {Hostile(): 1}, [[Hostile()]]],
    ids=["number", "key", "hostile key", "hostile item"],
)
def test_json_is_made_of_what_python_refuses_to_show(value: Any) -> None:
    assert json.loads(json_text(value)) is not None
    assert digest(value) == digest(value)


def test_whatever_it_holds_it_becomes_json() -> None:
    circular: list[Any] = []
    circular.append({"again": circular})
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    value = {
        ("a", 1): circular,
        "deep": deep,
        "numpy": [np.float64(0.5), np.int8(3), np.bool_(True), np.array([1, 2])],
        "none": [float("nan"), float("-inf"), b"x", Hostile(), object()],
        "model": Output(text="t"),
    }
    held = json.loads(json_text(value))
    assert held["('a', 1)"] == [{"again": "<circular>"}]
    assert held["numpy"] == [0.5, 3, True, [1, 2]]
    assert held["none"] == ["NaN", "-Infinity", "b'x'", "<Hostile instance>", "<object object>"]
    assert held["model"]["text"] == "t"
    assert digest(value) == digest(value)


def test_every_field_of_an_example_counts() -> None:
    item = Example(id=1, input="q")
    changed = [
        {"input": "r"}, {"reference": "x"}, {"reference_state": {}}, {"tools": []},
        {"attributes": {"a": 1}}, {"cluster": "c"}, {"task": "t"}, {"history": ["m"]},
    ]  # fmt: skip
    digests = {digest_of_example(item.model_copy(update=update)) for update in changed}
    assert len(digests | {digest_of_example(item)}) == len(changed) + 1


def test_scorers_differ_by_name_criterion_configuration_and_code() -> None:
    def one(output: Output) -> bool:
        return output.text == "1"

    def two(output: Output) -> bool:
        return output.text == "2"

    two.__name__ = two.__qualname__ = one.__name__
    scorers = [
        ExactMatch(), ExactMatch(name="n"), ExactMatch(criterion="c"), Levenshtein(),
        Levenshtein(threshold=0.5), Contains(), ValidJSON(), ValidJSON(schema={"type": "object"}),
        as_scorer(one), as_scorer(two),
    ]  # fmt: skip
    assert len({digest_of_scorer(scorer) for scorer in scorers}) == len(scorers)
    assert digest_of_scorer(ExactMatch()) == digest_of_scorer(ExactMatch())


class Configured:
    def __init__(self, model: str, api_key: str) -> None:
        self._model = model
        self.api_key = api_key
        self.seen: list[str] = []

    def __call__(self, text: str) -> str:
        self.seen.append(text)
        return self._model


def test_what_an_object_remembers_and_its_secrets_do_not_count() -> None:
    used = Configured("m", "secret one")
    used("x")
    assert digest(describe(used)) == digest(describe(Configured("m", "secret two")))
    assert digest(describe(used)) != digest(describe(Configured("n", "secret one")))
    assert "secret one" not in json_text(describe(used))
    bound = [digest(describe(Configured(name, "").__call__)) for name in "mn"]
    assert bound[0] != bound[1]
    parts = [functools.partial(used, text=text) for text in "ab"]
    assert digest(describe(parts[0])) != digest(describe(parts[1]))


MODEL = "a"


def asks(text: str) -> str:
    return MODEL + text


def test_what_a_function_uses_counts_but_not_what_it_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def made(temperature: float, *, top: int = 1) -> Any:
        seen: list[str] = []
        count = 0

        def system(text: str, *, top: int = top) -> str:
            nonlocal count
            count += 1
            seen.append(asks(text))
            return f"{temperature} {top}"

        return system

    used = made(0.5)
    before = digest(describe(used))
    used("x")
    assert digest(describe(used)) == before == digest(describe(made(0.5)))
    assert before != digest(describe(made(0.7)))
    assert before != digest(describe(made(0.5, top=2)))
    monkeypatch.setitem(globals(), "MODEL", "b")
    assert digest(describe(used)) != before


def test_settings_that_only_sound_like_secrets_count() -> None:
    class Model:
        def __init__(self, max_tokens: int) -> None:
            self.max_tokens = max_tokens

        def __call__(self, text: str) -> str:
            return self.ask(text)

        def ask(self, text: str) -> str:
            return text

    class Changed(Model):
        def ask(self, text: str) -> str:
            return text + "!"

    Changed.__qualname__ = Model.__qualname__
    assert digest(describe(Model(1))) != digest(describe(Model(2)))
    assert digest(describe(Model(1))) != digest(describe(Changed(1)))


@pytest.mark.parametrize("seed", ["0", "1", "2"])
def test_the_digest_of_code_is_the_same_in_every_process(seed: str) -> None:
    code = (
        "from evaltoolkit.evaluation.digests import describe, digest\n"
        "def f(text):\n"
        "    inner = lambda word: word in {'alpha', 'beta', 'gamma'}\n"
        "    return [w for w in text.split() if inner(w)], {1, 'x'}\n"
        "print(digest(describe(f)), digest({'a', 'b', 'c'}))"
    )
    namespace: dict[str, Any] = {}
    exec(code.rsplit("\n", 1)[0], namespace)
    here = [digest(describe(namespace["f"])), digest({"a", "b", "c"})]
    env = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == here
