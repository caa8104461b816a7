from __future__ import annotations

import json
from typing import Any

import pytest

from evaltoolkit.errors import MissingDependencyError, ScorerError
from evaltoolkit.models import Example, Output
from evaltoolkit.scorers import JSONDiff, Levenshtein, ListContains, ValidJSON, parse_json


def valid(text: Any, **options: Any) -> float | None:
    return ValidJSON(**options).score(Output(text=text), Example(id="1")).score


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ('```json\n{"a": 1}\n```', 1.0),
        ('```\n{"a": 1}\n```', 1.0),
        ('  ```json\n{"a": 1}\n```  ', 1.0),
        ('{"a": 1}', 1.0),
        ('Here: ```json\n{"a": 1}\n```', 0.0),
        ('```json\n{"a": 1}', 0.0),
        ("```json\n{}\n```\n```json\n{}\n```", 0.0),
    ],
)
def test_a_single_fence_is_unwrapped_on_request(text: str, score: float) -> None:
    assert valid(text, allow_fence=True) == score
    assert valid(text) == (score if text.startswith("{") else 0.0)


@pytest.mark.parametrize("text", ["[NaN]", "[-Infinity]", '{"a": 1, "a": 2}', [float("nan")]])
def test_strict_json_has_no_nan_and_no_repeated_key(text: Any) -> None:
    assert valid(text) == 1.0
    assert valid(text, strict=True) == 0.0


def test_invalid_json_is_located() -> None:
    got = ValidJSON().score(Output(text='{"a": 1,}'), Example(id="1"))
    assert got.message is not None
    assert got.message.startswith("not JSON: ")
    assert "line 1 column" in got.message


def test_values_that_were_never_json_are_invalid() -> None:
    circular: list[Any] = []
    circular.append(circular)
    assert valid(circular) == 0.0
    assert valid({"a": {1, 2}}) == 0.0


def test_depth_that_the_parser_cannot_follow_is_not_scored() -> None:
    got = ValidJSON().score(Output(text="[" * 10**6 + "]" * 10**6), Example(id="1"))
    assert (got.status, got.message) == ("unscored", "the text is nested too deeply to be parsed")


def test_whole_numbers_of_any_length_are_json() -> None:
    assert valid("[" + "9" * 10_000 + "]") == 1.0
    assert parse_json("9" * 10_000) == float("inf")


SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["n"],
}


def test_breaches_of_the_schema_are_listed() -> None:
    got = ValidJSON(SCHEMA).score(Output(text='{"n": "1", "tags": ["a", 2]}'), Example(id="1"))
    assert got.score == 0.0
    assert got.label == "breaks the schema"
    details = got.details
    assert isinstance(details, dict)
    paths = [error["path"] for error in details["errors"]]  # type: ignore[union-attr,index,call-overload]
    assert sorted(paths) == ["$.n", "$.tags[1]"]


def test_a_wrong_schema_is_refused_at_once() -> None:
    with pytest.raises(ScorerError, match="not a valid JSON Schema"):
        ValidJSON({"type": "objekt"})


def test_a_schema_fetches_nothing() -> None:
    remote = {"$ref": "http://127.0.0.1:9/schema.json"}
    scorer = ValidJSON(remote)
    with pytest.raises(Exception, match="Unresolvable"):
        scorer.score(Output(text="{}"), Example(id="1"))


def test_a_missing_package_is_told_when_the_scorer_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match="ValidJSON with a schema"):
        ValidJSON(SCHEMA)
    assert valid("{}") == 1.0


def test_json_diff_names_the_leaves_that_differ() -> None:
    example = Example(id="1", reference={"a": {"b": [1, "x"]}, "c": 3})
    got = JSONDiff().score(Output(text='{"a": {"b": [1, "y"]}}'), example)
    assert got.message == "2 of 3 leaves differ"
    assert got.details == {
        "differing": [{"path": "$.a.b[1]", "score": 0.0}, {"path": "$.c", "score": 0.0}],
        "leaves": 3,
    }
    assert got.score == 0.25


def test_json_diff_stops_at_deep_and_foreign_values() -> None:
    deep: list[Any] = []
    for _ in range(150):
        deep = [deep]
    example = Example(id="1", reference=deep)
    got = JSONDiff().score(Output(text=json.dumps(deep)), example)
    assert got.message == "the value is nested more than 100 levels deep"
    foreign = JSONDiff().score(Output(text={"a": {1}}), example)
    assert foreign.status == "unscored"
    assert foreign.message is not None
    assert "not JSON" in foreign.message


def test_own_comparisons_can_be_functions() -> None:
    scorer = JSONDiff(string_scorer=lambda a, b: float(a.lower() == b.lower()))
    example = Example(id="1", reference={"a": "X"})
    assert scorer.score(Output(text={"a": "x"}), example).score == 1.0
    none = JSONDiff(string_scorer=lambda a, b: None)  # type: ignore[arg-type,return-value]
    got = none.score(Output(text={"a": "x"}), example)
    assert got.message == "at $.a: the comparison gave None, which is not a number from 0 to 1"


@pytest.mark.parametrize("bad", [Levenshtein, 3, ValidJSON()])
def test_what_cannot_compare_is_refused(bad: Any) -> None:
    with pytest.raises(ScorerError, match="cannot compare two values"):
        JSONDiff(string_scorer=bad)


def test_list_contains_shows_its_pairs() -> None:
    got = ListContains().score(Output(text=["b", "a"]), Example(id="1", reference=["a", "b", "c"]))
    assert got.details == {
        "pairs": [
            {"output": "'b'", "reference": "'b'", "score": 1.0},
            {"output": "'a'", "reference": "'a'", "score": 1.0},
        ]
    }
    assert got.message == "2 item(s) against 3"


def test_list_contains_pairs_optimally_where_greed_fails() -> None:
    table = {("p", "x"): 0.9, ("p", "y"): 0.8, ("q", "x"): 0.8, ("q", "y"): 0.0}
    scorer = ListContains(pairwise_scorer=lambda a, b: table[a, b])
    assert scorer.compare(["p", "q"], ["x", "y"]).score == pytest.approx(0.8)


@pytest.mark.parametrize("text", ["abc", '{"a": 1}', 5, {"a": 1}, "a, b"])
def test_list_contains_takes_lists_only(text: Any) -> None:
    got = ListContains().score(Output(text=text), Example(id="1", reference=["a"]))
    assert got.status == "unscored"
    assert got.message is not None
    assert got.message.endswith("is not a list")


def test_a_misspelt_option_is_refused_with_the_one_that_was_meant() -> None:
    with pytest.raises(ScorerError, match="did you mean 'pairwise_scorer'"):
        ListContains(pairwise_evaluator=Levenshtein())  # type: ignore[call-arg]
    with pytest.raises(ScorerError, match="JSONDiff knows no option 'treshold'") as caught:
        JSONDiff(treshold=0.5)  # type: ignore[call-arg]
    assert caught.value.code == "unknown_option"


@pytest.mark.parametrize("limit", [-1, 2.5, "3", True])
def test_limits_are_whole_numbers_or_none(limit: Any) -> None:
    with pytest.raises(ScorerError, match=r"max_items is .*; it must be a whole number from 0, or"):
        ListContains(max_items=limit)
    with pytest.raises(ScorerError, match="max_chars is"):
        Levenshtein(max_chars=limit)
    assert ListContains(max_items=None).compare([1], [1]).score == 1.0


@pytest.mark.parametrize(("value", "kind"), [((1,), "tuple"), ("1", "number"), ('"x"', "text")])
def test_what_is_no_object_is_called_by_its_kind(value: Any, kind: str) -> None:
    got = ValidJSON().score(Output(text=value), Example(id=1))
    assert got.message == f"a bare {kind}, not an object or array"


def test_list_contains_does_not_start_on_huge_lists() -> None:
    got = ListContains(max_items=2).score(Output(text=[1, 2, 3]), Example(id="1", reference=[1]))
    assert got.message == "the answer has 3 items; at most 2 are compared"
