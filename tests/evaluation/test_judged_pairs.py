"""A judge's comparisons as a score table that the analyses take."""

from __future__ import annotations

import json
from typing import Any

import pytest

import evaltoolkit as et
from evaltoolkit.clients import ChatReply, ChatRequest, Retries
from evaltoolkit.errors import PairingError, SchemaError, ScorerError
from evaltoolkit.evaluation.judged_pairs import judge_pairs
from evaltoolkit.models import Example, Output
from evaltoolkit.scorers import PairwiseJudge
from support.endpoint import Reply, Request, ScriptedEndpoint, chat_reply

EXAMPLES = [
    Example(id=n, task="sums", input=f"{n}?", attributes={"topic": "even" if n % 2 else "odd"})
    for n in range(30)
]


def judge_at(url: str) -> PairwiseJudge:
    return PairwiseJudge(
        rubric="r", model="m", judge_base_url=url, name="judge", retries=Retries(attempts=1)
    )


def longer_wins_unless_equal(request: Request) -> Reply:
    """Prefer the longer answer, and of two equally long ones always the first."""
    lines = request.body["messages"][1]["content"].splitlines()
    shown = [lines[n + 1] for n, line in enumerate(lines) if line.startswith("BEGIN")]
    return chat_reply(json.dumps({"reason": "r", "choice": "AB"[len(shown[2]) > len(shown[1])]}))


def test_rows_are_in_order_and_go_to_the_analyses() -> None:
    lengths = {"short": 3, "long": 9, "same": 3}
    outputs = [
        (system, example.id, 0, Output(text="x" * length))
        for system, length in lengths.items()
        for example in EXAMPLES
    ]
    with ScriptedEndpoint(longer_wins_unless_equal) as server:
        rows = judge_pairs(EXAMPLES, outputs, judge_at(server.url), versus="short", run_id="r1")
    assert len(rows) == 120
    keys = rows[["system", "example_id", "trial", "position", "versus", "topic"]]
    assert keys.head(3).to_numpy().tolist() == [
        ["long", "0", 0, "first", "short", "odd"],
        ["long", "0", 1, "second", "short", "odd"],
        ["long", "1", 0, "first", "short", "even"],
    ]
    assert rows["scorer"].unique().tolist() == ["judge"]
    means = rows.groupby(["system", "position"])["score"].mean()
    assert means.to_dict() == {
        ("long", "first"): 1.0, ("long", "second"): 1.0,
        ("same", "first"): 1.0, ("same", "second"): 0.0,
    }  # fmt: skip
    bias = et.position_bias(rows)
    assert bias.table["n"].tolist() == [60, 30, 30]  # all, then long and same against short
    assert bias.table["consistent"].tolist() == [0.5, 1.0, 0.0]
    assert bias.table["first_wins_both"].tolist() == [0.5, 0.0, 1.0]


def test_gaps_and_errors_become_rows() -> None:
    outputs = [
        ("a", 0, 0, Output(text="x")),
        ("a", 1, 0, Output(error="down")),
        ("b", 0, 0, Output(error="timeout")),
        ("b", 1, 0, Output(text="y")),
        ("b", 2, 0, Output(text="z")),
        ("b", 0, 1, Output(text="again")),
    ]
    with ScriptedEndpoint([Reply(status=500)]) as server:
        rows = judge_pairs(EXAMPLES, outputs, judge_at(server.url), versus="a")
        assert server.requests == []
    found = rows.groupby(["example_id", "trial"])["status"].first()
    assert found.astype(str).to_dict() == {
        ("0", 0): "system_error", ("0", 1): "system_error",
        ("0", 2): "unscored", ("0", 3): "unscored",
        ("1", 0): "unscored", ("1", 1): "unscored",
        ("2", 0): "unscored", ("2", 1): "unscored",
    }  # fmt: skip
    assert set(rows["message"]) == {
        "timeout", "the output that it is held against broke: down",
        "there is no output to hold it against",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("systems", "match"), [(["b"], "outputs are of 'b'"), (["a"], "there is no other system")]
)
def test_nothing_to_compare(systems: list[str], match: str) -> None:
    outputs = [(system, 0, 0, Output(text="x")) for system in systems]
    with pytest.raises(PairingError, match=match):
        judge_pairs(EXAMPLES, outputs, judge_at("http://localhost:1"), versus="a")


def test_repeated_outputs_are_refused() -> None:
    outputs = [("a", 0, 0, Output(error="x")), *[("b", 0, 0, Output(error="x"))] * 2]
    with pytest.raises(SchemaError):
        judge_pairs(EXAMPLES, outputs, judge_at("http://localhost:1"), versus="a")


class Moody:
    """A judge that breaks on one of the items."""

    model = "moody"

    def settings(self) -> dict[str, Any]:
        return {}

    def complete(self, request: ChatRequest, *, accept: Any = None) -> ChatReply:
        if "1?" in request.messages[1]["content"]:
            raise RuntimeError("out of paper")
        return ChatReply('{"reason": "r", "choice": "A"}', cost_usd=0.25)

    async def complete_async(self, request: ChatRequest, *, accept: Any = None) -> ChatReply:
        return self.complete(request)


def test_a_comparison_that_breaks_does_not_lose_the_others() -> None:
    outputs = [(system, n, 0, Output(text="x")) for system in "ab" for n in range(3)]
    judge = PairwiseJudge(rubric="r", client=Moody())
    rows = judge_pairs(EXAMPLES, outputs, judge, versus="a")
    assert rows["status"].astype(str).tolist() == [
        "scored", "scored", "scorer_error", "scorer_error", "scored", "scored",
    ]  # fmt: skip
    assert set(rows["message"]) == {"r", "RuntimeError: out of paper"}
    assert rows["judge_cost_usd"].sum() == 1.0


@pytest.mark.parametrize("concurrency", [0, 1.5, "4", None])
def test_the_concurrency_is_checked(concurrency: Any) -> None:
    with pytest.raises(ScorerError, match="concurrency is"):
        judge_pairs([], [], judge_at("http://localhost:1"), versus="a", concurrency=concurrency)
