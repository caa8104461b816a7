"""`PairwiseJudge`: both orders, what it makes of them, and what it refuses to compare."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaltoolkit.clients import Retries
from evaltoolkit.errors import ScorerError
from evaltoolkit.models import Example, Output
from evaltoolkit.scorers import PairwiseJudge
from support.endpoint import Reply, Request, ScriptedEndpoint, chat_reply

EXAMPLE = Example(id=1, input="2 + 2?", reference="4")
GOOD, BAD = Output(text="It is 4."), Output(text="It is 5.")


def verdict(choice: str) -> Reply:
    return chat_reply(json.dumps({"reason": "r", "choice": choice}))


def blocks(request: Request) -> list[str]:
    """Name what was shown, with its first line."""
    lines = request.body["messages"][1]["content"].splitlines()
    return [
        f"{line.split()[1]}: {lines[place + 1]}"
        for place, line in enumerate(lines)
        if line.startswith("BEGIN")
    ]


def fair(request: Request) -> Reply:
    first = next(block for block in blocks(request) if block.startswith("FIRST"))
    return verdict("A" if "4" in first else "B")


def judge_at(url: str, **options: Any) -> PairwiseJudge:
    return PairwiseJudge(
        **{
            "rubric": "Prefer the right answer.", "model": "m", "judge_base_url": url,
            "retries": Retries(attempts=1), **options,
        }
    )  # fmt: skip


def test_a_fair_judge_agrees_with_itself() -> None:
    with ScriptedEndpoint(fair) as server:
        judge = judge_at(server.url)
        asked = judge.preferences(GOOD, BAD, EXAMPLE)
        assert {place: (s.score, s.label) for place, s in asked.items()} == {
            "first": (1.0, "win"), "second": (1.0, "win"),
        }  # fmt: skip
        assert [blocks(request) for request in server.requests] == [
            ["INPUT: 2 + 2?", "REFERENCE: 4", "FIRST: It is 4.", "SECOND: It is 5."],
            ["INPUT: 2 + 2?", "REFERENCE: 4", "FIRST: It is 5.", "SECOND: It is 4."],
        ]
        lost = judge.preferences(BAD, GOOD, EXAMPLE)
        assert [(s.score, s.label) for s in lost.values()] == [(0.0, "loss")] * 2
        pair = judge.score_pair(BAD, GOOD, EXAMPLE)
    assert (pair.baseline.score, pair.candidate.score, pair.delta) == (0.0, 1.0, 1.0)
    assert pair.failure_modes == ()
    assert isinstance(pair.candidate.details, dict)
    assert sorted(pair.candidate.details) == ["first", "second"]


@pytest.mark.parametrize(("always", "first"), [("A", 1.0), ("B", 0.0)])
def test_a_judge_of_positions_is_found_out(always: str, first: float) -> None:
    with ScriptedEndpoint([verdict(always)]) as server:
        judge = judge_at(server.url)
        asked = judge.preferences(GOOD, BAD, EXAMPLE)
        pair = judge.score_pair(BAD, GOOD, EXAMPLE)
    assert (asked["first"].score, asked["second"].score) == (first, 1 - first)
    assert (pair.delta, pair.failure_modes) == (0.0, ("position_dependent",))


def test_ties() -> None:
    with ScriptedEndpoint([verdict("C")]) as server:
        asked = judge_at(server.url).preferences(GOOD, BAD, EXAMPLE)
        strict = judge_at(server.url, ties=False)
        refused = strict.preferences(GOOD, BAD, EXAMPLE)
    assert [(s.score, s.label) for s in asked.values()] == [(0.5, "tie")] * 2
    assert [s.status for s in refused.values()] == ["scorer_error"] * 2
    assert strict.criterion.kind == "binary"


def test_one_unclear_order_leaves_no_score_for_the_pair() -> None:
    with ScriptedEndpoint([verdict("A"), chat_reply("Both are fine.")]) as server:
        pair = judge_at(server.url).score_pair(BAD, GOOD, EXAMPLE)
    assert (pair.candidate.status, pair.baseline.status, pair.delta) == ("scorer_error",) * 2 + (
        None,
    )
    assert "states no choice" in str(pair.candidate.message)


@pytest.mark.parametrize(
    ("output", "versus", "example", "options", "status", "said"),
    [
        (Output(error="boom"), GOOD, EXAMPLE, {}, "system_error", "boom"),
        (GOOD, Output(error="boom"), EXAMPLE, {}, "unscored", "held against broke: boom"),
        (Output(), GOOD, EXAMPLE, {}, "unscored", "no text"),
        (GOOD, Output(), EXAMPLE, {}, "unscored", "no text"),
        (GOOD, BAD, Example(id=1), {"reference": "required"}, "unscored", "no reference"),
        (GOOD, Output(text="x" * 99), EXAMPLE, {"max_chars": 50}, "unscored", "answer has 99"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_not_sent(
    output: Output, versus: Output, example: Example, options: Any, status: str, said: str
) -> None:
    with ScriptedEndpoint(fair) as server:
        asked = judge_at(server.url, **options).preferences(output, versus, example)
        assert server.requests == []
    assert [score.status for score in asked.values()] == [status] * 2
    assert all(said in str(score.message) for score in asked.values())


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"judge_base_url": None}, "no endpoint is named"),
        ({"judge_base_url": "http://example.com"}, "clear text"),
        ({"rubric": ""}, "the rubric is empty"),
        ({"reference": "maybe"}, "reference is 'maybe'"),
    ],
)
def test_mistakes_are_named_at_construction(options: dict[str, Any], match: str) -> None:
    with pytest.raises(ScorerError, match=match):
        judge_at("http://localhost:1", **options)
