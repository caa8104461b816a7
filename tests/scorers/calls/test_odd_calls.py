"""Every tool-call scorer gives a status for every odd input, and leaves the input alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaltoolkit.models import Example, Output
from evaltoolkit.scorers import (
    GraphTrajectoryStrictMatch,
    ToolArguments,
    ToolCallAnyMatch,
    ToolCallCount,
    ToolCallExactMatch,
    ToolCallOverlap,
    ToolCallSubsetMatch,
    ToolCallSupersetMatch,
    ToolCallUnorderedMatch,
    ToolSelection,
    TrajectoryStrictMatch,
    TrajectorySubsetMatch,
    TrajectorySupsetMatch,
    TrajectoryUnorderedMatch,
    ValidToolCalls,
    run_scorer,
)

SCORERS: list[Any] = [
    ToolCallExactMatch(),
    ToolCallSupersetMatch("superset"),
    ToolCallSubsetMatch("subset"),
    ToolCallUnorderedMatch("ignore"),
    ToolCallUnorderedMatch(greedy=True),
    ToolCallAnyMatch(),
    ToolCallOverlap(),
    TrajectoryStrictMatch(),
    TrajectoryUnorderedMatch(),
    TrajectorySubsetMatch("subset", compatibility="agentevals-0.0.9"),
    TrajectorySupsetMatch(),
    GraphTrajectoryStrictMatch(),
    ToolSelection(),
    ToolSelection("expected_set"),
    ToolArguments(),
    ToolCallCount(),
    ValidToolCalls(),
]
every_scorer = pytest.mark.parametrize("scorer", SCORERS, ids=repr)

circular: dict[str, Any] = {"role": "assistant", "content": "", "name": "f"}
circular["tool_calls"] = [circular]
circular["args"] = circular
loop: list[Any] = []
loop.append(loop)
deep: Any = {"x": 1}
for _ in range(3000):
    deep = {"x": deep}

ODD: list[Any] = [
    None, "", "x" * 1_000_000, "\ud800", 0, float("nan"), 10**5000, True, b"x", {1}, object(),
    [], {}, [None], [[]], [[[]]], [{}], ["f"], {"messages": None}, {"messages": [[]]}, [3, "f"],
    circular, [circular], loop, [deep], (), ({"name": "f"},), [{"name": "f", "args": deep}],
    [{"name": "f", "args": "[" * 100_000}], [{"name": 1}], [{"name": "\ud800", "args": {}}],
    [{"role": "assistant", "tool_calls": "x"}], [{"role": 7, "content": ["x", None, {}]}],
    [{"role": "assistant", "tool_calls": [None, [], "f", {"function": []}]}],
    [{"name": "f" * 100_000, "args": {"\udfff": "\ud800", "x": {1: {2}}}}],
    {"steps": None}, {"steps": [[None]]}, {"outputs": {"steps": "ab"}}, type, [type],
]  # fmt: skip


@every_scorer
@pytest.mark.parametrize("field", ["messages", "rounds", "final_state"])
def test_every_odd_output_gets_a_status(scorer: Any, field: str) -> None:
    wanted = [{"name": "f", "args": {"x": 1}}]
    example = Example(
        id=1,
        reference_tool_calls=[{"role": "assistant", "content": "", "tool_calls": wanted}],
        reference={"steps": [["a"]]},
        expected_tools=wanted,
        expected_tool_count=1,
        tools=["f"],
    )
    for odd in ODD:
        check(scorer, Output(**{field: odd}), example)


@every_scorer
def test_every_odd_expectation_gets_a_status(scorer: Any) -> None:
    fields = (
        "reference_tool_calls",
        "reference",
        "expected_tools",
        "expected_tool_rounds",
        "tools",
    )
    output = Output(rounds=[[{"name": "f", "args": {"x": 1}}]], final_state={"steps": [["a"]]})
    for odd in ODD:
        check(scorer, output, Example(id=1, **dict.fromkeys(fields, odd)))
        check(scorer, Output(messages=odd), Example(id=1, **dict.fromkeys(fields, odd)))


def check(scorer: Any, output: Output, example: Example) -> None:
    for score in run_scorer(scorer, output, example):
        assert score.status in ("scored", "unscored"), score.message
        assert score.status == "scored" or score.message
        assert len(score.message or "") < 2000
        assert len(json.dumps(score.details)) < 50_000
        score.model_dump_json()


def test_half_of_a_character_in_the_name_of_an_argument_breaks_no_score() -> None:
    example = Example(id=1, reference_tool_calls=[{"name": "f", "args": {"\ud800": 1}}])
    score = ToolCallExactMatch().score(Output(rounds=[[{"name": "f"}]]), example)
    assert score.score == 0
    assert score.details["unmatched_reference"][0]["args"] == "{'\\ud800': 1}"
