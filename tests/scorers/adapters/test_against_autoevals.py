"""Our scorers beside those of the installed autoevals, on thousands of generated inputs.

Both get the same input. Where they differ, the input must belong to a class of differences that
are meant, each with its reason; a difference outside of them, or a class without a member, fails.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest

from evaltoolkit.models import Example, Output
from evaltoolkit.scorers import (
    BaseScorer,
    ExactMatch,
    JSONDiff,
    Levenshtein,
    ListContains,
    NumericDiff,
    ValidJSON,
    run_scorer,
)
from evaltoolkit.scorers.judging.embedding import EmbeddingSimilarity
from support.differences import (
    Case,
    Intended,
    assert_differs_as_intended,
    outcome_here,
    outcome_there,
)
from support.generated import (
    Make,
    anywhere,
    inputs,
    number,
    one_of,
    parsed,
    sometimes,
    structure,
    text,
)

pytestmark = pytest.mark.peers

COUNT = 2_000
A_NUMBER = re.compile(r"-?([0-9]{1,3}(,[0-9]{3})+|[0-9]+)?([.][0-9]+)?(?<=[0-9])")


def cases(
    seed: int,
    make: Make,
    theirs: Callable[[Any, Any], Any],
    ours: BaseScorer,
    *,
    count: int = COUNT,
) -> Iterator[Case]:
    for actual, expected in inputs(seed, make, count):
        [score] = run_scorer(ours, Output(text=actual), Example(id=1, reference=expected))
        yield Case(
            actual,
            expected,
            outcome_there(lambda a=actual, e=expected: theirs(a, e)),  # type: ignore[misc]
            outcome_here(score),
        )


def holds_structure(actual: Any, expected: Any) -> bool:
    return isinstance(actual, dict | list) or isinstance(expected, dict | list)


def one_structure_only(actual: Any, expected: Any) -> bool:
    """Whether a dict or list stands against what is neither that nor a text that may hold one."""
    other = expected if isinstance(actual, dict | list) else actual
    return holds_structure(actual, expected) and not isinstance(other, dict | list | str)


def not_json(value: Any) -> bool:
    return anywhere(value, lambda v: isinstance(v, set))


def is_odd(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


NO_REFERENCE = Intended(
    "no reference",
    "without a reference there is nothing to compare with, and no exception either",
    lambda _, e: e is None,
    "ValueError",
    "unscored",
)
NO_ANSWER = Intended(
    "no answer",
    "an absent answer is not the text 'None'",
    lambda a, _: a is None,
    None,
    "unscored",
)


def autoeval(name: str, **settings: Any) -> Callable[[Any, Any], Any]:
    import autoevals

    scorer = getattr(autoevals, name)(**settings)
    return lambda actual, expected: scorer.eval(actual, expected).score


def json_text(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict | list) else value


def through_json(value: Any) -> Any:
    """A value as JSON knows it: lists for tuples, texts for keys."""
    return value if isinstance(value, str) else json.loads(json.dumps(value))


def as_if(theirs: Callable[[Any, Any], Any], change: Callable[[Any], Any]) -> Any:
    """What comes out there once both sides are what this library takes them for."""
    return lambda a, e: outcome_there(lambda: theirs(change(a), change(e)))


def test_levenshtein() -> None:
    odd = one_of(None, {"a": [True, "x"]}, [None, 2], '{"a": [true, "x"]}', "[null, 2]")
    make = sometimes(0.08, odd, sometimes(0.2, number, text))
    theirs = autoeval("Levenshtein")
    assert_differs_as_intended(
        cases(1, make, theirs, Levenshtein()),
        [
            NO_REFERENCE,
            NO_ANSWER,
            Intended(
                "structures as text",
                "a dict or list is compared as JSON, not in Python's own notation",
                holds_structure,
                always=False,
                right=as_if(theirs, json_text),
            ),
        ],
    )


def test_exact_match() -> None:
    as_text = sometimes(0.5, lambda draw: json.dumps(structure(draw, 1)), text)
    usual = sometimes(0.5, lambda draw: structure(draw, 2), sometimes(0.3, number, as_text))
    alike = one_of(1, "1", True, "True", {"a": [1]}, '{"a":[1]}', [2], "[2]")
    odd = one_of(None, {"a": {1, 2}}, (1, 2))
    make = sometimes(0.08, odd, sometimes(0.4, alike, usual))
    assert_differs_as_intended(
        cases(2, make, autoeval("ExactMatch"), ExactMatch()),
        [
            Intended(
                "no reference",
                "without a reference there is nothing to compare with",
                lambda _, e: e is None,
                "anything",
                "unscored",
            ),
            Intended(
                "no answer",
                "an absent answer is not the text 'None'",
                lambda a, _: a is None,
                "anything",
                "unscored",
            ),
            Intended(
                "not JSON",
                "a set inside a structure has no JSON text: a reason instead of an exception",
                lambda a, e: not_json(a) or not_json(e),
                "TypeError",
                "unscored",
            ),
            Intended(
                "structure against another kind",
                "a list is not the number 5: that is unequal, not a TypeError",
                one_structure_only,
                "TypeError",
                None,
                right=lambda _, __: 0.0,
            ),
        ],
    )


def test_numeric_diff() -> None:
    odd = one_of(None, math.nan, math.inf, -math.inf, 10**400, 1.5e308, -1.5e308)
    words = one_of("12", "-3.5", "1,200", "twelve", "")
    make = sometimes(0.1, odd, sometimes(0.15, words, number))

    def is_text(a: Any, e: Any) -> bool:
        return isinstance(a, str) or isinstance(e, str)

    def is_huge(v: Any) -> bool:
        return isinstance(v, int) and abs(v) > 10**308

    def word(v: Any) -> bool:
        return isinstance(v, str) and not A_NUMBER.fullmatch(v)

    def read(v: Any) -> Any:
        return float(v.replace(",", "")) if isinstance(v, str) else v

    def exactly(a: Any, e: Any) -> float:
        given, known = Fraction(a), Fraction(e)
        return float(1 - abs(known - given) / (abs(known) + abs(given)))

    theirs = autoeval("NumericDiff")
    assert_differs_as_intended(
        cases(3, make, theirs, NumericDiff()),
        [
            NO_REFERENCE,
            Intended(
                "no answer",
                "an absent answer is a reason, not a TypeError",
                lambda a, _: a is None,
                "TypeError",
                "unscored",
            ),
            Intended(
                "not finite",
                "NaN went through as a score; infinity is no measurement either",
                lambda a, e: is_odd(a) or is_odd(e),
                "nan or TypeError or OverflowError",
                "unscored",
            ),
            Intended(
                "beyond floating point",
                "whole numbers beyond the range of floating point are not compared",
                lambda a, e: is_huge(a) or is_huge(e),
                "anything",
                "unscored",
            ),
            Intended(
                "no number",
                "a text that is no number is a reason, not a TypeError",
                lambda a, e: word(a) or word(e),
                "TypeError",
                "unscored",
            ),
            Intended(
                "number as text",
                "a text that is a number and nothing else is read as one",
                is_text,
                "TypeError",
                None,
                right=as_if(theirs, read),
            ),
            Intended(
                "overflowing sum",
                "the sum of two huge numbers is infinite there, so their distance vanishes",
                lambda a, e: math.isinf(abs(float(a)) + abs(float(e))),
                "anything",
                None,
                always=False,
                right=exactly,
            ),
        ],
    )


def test_json_diff() -> None:
    odd = one_of(None, {"a": math.nan}, [1, math.inf], {1: "x", "b": 2}, {"a": (1, 2)}, {"a": {1}})
    as_text = lambda draw: json.dumps(structure(draw, 2))  # noqa: E731 - it is an argument
    make = sometimes(0.1, odd, sometimes(0.2, as_text, structure))

    def some(test: Callable[[Any], bool]) -> Callable[[Any, Any], bool]:
        return lambda a, e: anywhere(parsed(a), test) or anywhere(parsed(e), test)

    theirs = autoeval("JSONDiff")

    def measured(a: Any, e: Any) -> Any:
        found = as_if(theirs, through_json)(a, e)
        return "unscored" if found == "nan" else found

    assert_differs_as_intended(
        cases(4, make, theirs, JSONDiff()),
        [
            Intended(
                "no reference",
                "an absent reference is not the value null",
                lambda _, e: e is None,
                "anything",
                "unscored",
            ),
            Intended(
                "no answer",
                "an absent answer is not the value null",
                lambda a, _: a is None,
                "anything",
                "unscored",
            ),
            Intended(
                "not JSON",
                "a set has no JSON text: a reason instead of an exception, or of being passed by",
                lambda a, e: not_json(a) or not_json(e),
                "anything",
                "unscored",
            ),
            Intended(
                "keys that are no text",
                "JSON has only texts as keys, so 1 and '1' are one key",
                some(lambda v: isinstance(v, dict) and any(not isinstance(k, str) for k in v)),
                "anything",
                "anything",
                always=False,
                right=lambda a, e: measured(a, e),
            ),
            Intended(
                "tuples",
                "a tuple is a JSON array like a list",
                some(lambda v: isinstance(v, tuple)),
                "anything",
                "anything",
                always=False,
                right=lambda a, e: measured(a, e),
            ),
            Intended(
                "not finite",
                "NaN went through as the score of the whole",
                some(is_odd),
                "nan",
                "unscored",
                always=False,
            ),
        ],
    )


@pytest.mark.parametrize("extra", [False, True])
def test_list_contains(extra: bool) -> None:
    def items(draw: random.Random) -> list[Any]:
        return [sometimes(0.15, number, text)(draw) for _ in range(draw.randrange(6))]

    odd = one_of(None, "abc", '["abc", "b"]', {"a": 1}, ["x", None], ["x", {"a": True}], 7)
    odd = sometimes(0.1, one_of(['{"a": true}', "x"]), odd)
    make = sometimes(0.12, odd, items)

    def kinds(kind: type) -> Callable[[Any, Any], bool]:
        return lambda a, e: isinstance(a, kind) or isinstance(e, kind)

    def inside(v: Any, kind: type) -> bool:
        return isinstance(v, list) and any(isinstance(item, kind) for item in v)

    def items_of(value: Any) -> list[Any]:
        found = json.loads(value) if isinstance(value, str) else value
        return ["None" if item is None else json_text(item) for item in found]

    theirs = autoeval("ListContains", allow_extra_entities=extra)
    plainly = as_if(theirs, items_of)
    assert_differs_as_intended(
        cases(5, make, theirs, ListContains(allow_extra_entities=extra), count=1_200),
        [
            NO_REFERENCE,
            Intended(
                "no answer",
                "an absent answer is a reason, not a TypeError",
                lambda a, _: a is None,
                "TypeError or ValueError",
                "unscored",
            ),
            Intended(
                "number for a list",
                "a number is no list: a reason, not a TypeError",
                kinds(int),
                "TypeError",
                "unscored",
            ),
            Intended(
                "object for a list",
                "an object is no list; there its keys were compared",
                kinds(dict),
                "anything",
                "unscored",
            ),
            Intended(
                "text for a list",
                "a text is no list unless it holds a JSON array; there its characters were",
                lambda a, e: any(isinstance(parsed(v), str) for v in (a, e)),
                "anything",
                "unscored",
            ),
            Intended(
                "list as text",
                "a text that holds a JSON array is read as one",
                kinds(str),
                "anything",
                None,
                always=False,
                right=plainly,
            ),
            Intended(
                "null in the reference",
                "one null among the items is no reason to lose the example to a ValueError",
                lambda a, e: a != [] and inside(e, type(None)),
                "ValueError",
                None,
                right=plainly,
            ),
            Intended(
                "structures as items",
                "a dict is compared as JSON, not in Python's own notation",
                lambda a, e: inside(a, dict) or inside(e, dict),
                always=False,
                right=plainly,
            ),
        ],
    )


SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", None]}},
    "required": ["a"],
}


@pytest.mark.parametrize(
    ("schema", "accepts_any_dict"),
    [(None, True), (SCHEMA, False), ({"type": "number"}, False), ({"minItems": 2}, True)],
)
def test_valid_json(schema: dict[str, Any] | None, accepts_any_dict: bool) -> None:
    broken = one_of(
        "{'a': 1}", '{"a": 1,}', "[1, 2", '```json\n{"a": 1}\n```', "[NaN]", '{"a": 1, "a": 2}', " "
    )

    def as_text(draw: random.Random) -> str:
        whole = json.dumps(structure(draw))
        return whole if draw.random() < 0.7 else whole[: draw.randrange(len(whole) + 1)]

    odd = one_of(None, {"a": {1}}, "[" * 20_000, {"b": (1, 2)})
    make = sometimes(0.06, odd, sometimes(0.1, broken, sometimes(0.5, as_text, structure)))
    theirs = autoeval("ValidJSON")
    foreign = Intended(
        "not JSON inside", "a dict that holds a set is no JSON value", lambda a, _: not_json(a)
    )
    classes = [
        NO_ANSWER,
        *([foreign] if accepts_any_dict else []),
        Intended(
            "nested too deeply",
            "what the parser gives up on is a reason, not a RecursionError",
            lambda a, _: isinstance(a, str) and a.startswith("[" * 1000),
            "RecursionError",
            "unscored",
        ),
    ]
    assert_differs_as_intended(
        cases(6, make, lambda actual, _: theirs(actual, schema), ValidJSON(schema), count=800),
        classes,
    )


@pytest.mark.parametrize("expected_min", [0.0, 0.5, 0.7])
def test_embedding_similarity(expected_min: float) -> None:
    import autoevals
    from autoevals.oai import LLMClient

    draw = random.Random(7)
    vectors = {f"text {i}": [draw.gauss(0, 1) for _ in range(3)] for i in range(60)}
    vectors |= {"zero": [0.0] * 3, "nan": [math.nan, 1.0, 0.0], " ": [1.0, 0.0, 0.0]}
    # A client that hands out these vectors and knows no network.
    client: Any = object.__new__(LLMClient)
    client.embed = lambda **asked: {"data": [{"embedding": vectors[asked["input"]]}]}
    client._is_wrapped = False
    client.RateLimitError = TimeoutError
    there = autoevals.EmbeddingSimilarity(client=client, model="local", expected_min=expected_min)
    ours = EmbeddingSimilarity(
        lambda texts: [vectors[text] for text in texts], expected_min=expected_min
    )
    make = sometimes(0.05, one_of(None, "zero", "nan", " "), one_of(*list(vectors)[:60]))
    one = lambda word: lambda a, e: word in (a, e)  # noqa: E731 - it is an argument
    pairs = ((make(draw), make(draw)) for _ in range(800))
    assert_differs_as_intended(
        (
            Case(
                a,
                e,
                outcome_there(lambda a=a, e=e: there.eval(a, e).score),  # type: ignore[misc]
                outcome_here(run_scorer(ours, Output(text=a), Example(id=1, reference=e))[0]),
            )
            for a, e in pairs
        ),
        [
            NO_REFERENCE,
            Intended(
                "no answer",
                "an absent answer is not the text 'None'",
                lambda a, _: a is None,
                "KeyError",
                "unscored",
            ),
            Intended(
                "blank text", "an empty text has no meaning", one(" "), "anything", "unscored"
            ),
            Intended(
                "NaN",
                "a broken vector is an error, not a score",
                one("nan"),
                "anything",
                "scorer_error",
            ),
            Intended("zero vector", "no direction, so no angle", one("zero"), None, "unscored"),
        ],
    )
