"""Examples that other tools publish, in this project's words, give the published numbers.

Sources: agent-evals 1.0.0 (Booz Allen Hamilton, 2026): its guide to scorers (the light switch and
the calculator), its guide to benchmarks (the house) and its README (the scoreboard); langstate
(Agentize, 2026): its guide to evaluating mutators (the registrant).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import evaltoolkit as et
from evaltoolkit.evaluation.benchmarks import Benchmark, merge_states
from evaltoolkit.models import Example, Output
from evaltoolkit.results import Evaluation

THIRD, TWO_THIRDS = pytest.approx(1 / 3), pytest.approx(2 / 3)


def read(folder: Path, text: str, **options: Any) -> Benchmark:
    path = folder / "benchmark.yaml"
    path.write_text(text, encoding="utf-8")
    return et.read_benchmark(path, **options)


# The light switch: published as pass_rates == {"StateMatch": 1.0}.


def switch(case: Any) -> Output:
    """Turn on the light of the kitchen if the prompt speaks of both."""
    words = (case["prompt"] if isinstance(case, dict) else case).lower()
    lights = {"kitchen": {"state": "on"}} if "kitchen" in words and "on" in words else {}
    return Output(text="", final_state={"lights": lights})


def assert_the_light_is_on(run: Evaluation) -> None:
    assert run.pass_rates()["agent"].to_dict() == {"StateMatch": 1.0}
    assert run.means()["agent"].to_dict() == {"StateMatch": 1.0}
    details = json.loads(run.details["details"].iloc[0])
    assert (details["paths_checked"], details["failures"]) == (1, {})


def test_the_light_switch() -> None:
    light = et.models.Example(
        id="1",
        input="Turn on the kitchen light",
        reference_state={"lights.kitchen.state": "on"},
    )
    run = et.evaluate([light], {"agent": switch}, [et.scorers.StateMatch()], progress=False)
    assert_the_light_is_on(run)


def test_the_light_switch_as_a_benchmark(tmp_path: Path) -> None:
    text = """
benchmark: lights
capabilities:
  - name: lights
    scenarios:
      - id: 1
        prompt: Turn on the kitchen light
        success: {state: {lights.kitchen.state: "on"}}
"""
    light = read(tmp_path, text)
    assert_the_light_is_on(
        et.evaluate(light.examples, {"agent": switch}, light.scorers, progress=False)
    )


# The calculator: published as pass rate 67 % and mean 0.67 for ValidJSON, 33 % and 0.33 for the
# check of the result, and a mark per example: both pass, only the JSON passes, neither passes.

ANSWERS = {
    "What is 2 + 2?": '{"result": "4"}',
    "What is 10 * 5?": '{"result": "48"}',
    "What is 100 / 4?": '{"result": "25", invalid json',
}
RESULTS = ("4", "50", "25")
MARKS = [["✓", "✓"], ["✓", "✗"], ["✗", "✗"]]


def correct(output: Output, expected: str) -> bool:
    try:
        return bool(json.loads(output.text or "").get("result") == expected)
    except json.JSONDecodeError:
        return False


def assert_the_sums_are_as_published(run: Evaluation) -> None:
    published = {"ValidJSON": TWO_THIRDS, "correct": THIRD}
    assert run.pass_rates()["calculator"].to_dict() == published
    assert run.means()["calculator"].to_dict() == published
    shown = run.summary().set_index("criterion")["mean"].to_dict()
    assert shown == {"ValidJSON": "0.67", "correct": "0.33"}
    assert run.table[["n_scorer_error", "n_system_error", "n_unscored"]].to_numpy().sum() == 0
    breakdown = et.tables.examples(run.scores)
    assert breakdown.wide[["ValidJSON", "correct"]].to_numpy().tolist() == MARKS
    rows = str(breakdown).splitlines()[2:5]
    assert [re.findall("[✓✗]", row) for row in rows] == MARKS


def test_the_calculator() -> None:
    sums = [
        et.models.Example(id=str(number), input=query, reference=result)
        for number, (query, result) in enumerate(zip(ANSWERS, RESULTS, strict=True), 1)
    ]

    async def calculator(query: str) -> str:
        return ANSWERS[query]

    run = et.evaluate(
        sums, {"calculator": calculator}, [et.scorers.ValidJSON(), correct], progress=False
    )
    assert_the_sums_are_as_published(run)


def test_the_calculator_as_a_benchmark(tmp_path: Path) -> None:
    capabilities = "".join(
        f'  - {{id: {number}, prompt: "{query}", expected: "{result}", '
        "scorers: [ValidJSON, correct]}\n"
        for number, (query, result) in enumerate(zip(ANSWERS, RESULTS, strict=True), 1)
    )
    sums = read(tmp_path, f"capabilities:\n{capabilities}", checkers={"correct": correct})
    calculator = {"calculator": lambda case: ANSWERS[case["prompt"]]}
    assert_the_sums_are_as_published(
        et.evaluate(sums.examples, calculator, sums.scorers, progress=False)
    )


# The registrant: published as overall_match and accuracy_score == 1.0.


class Scripted:
    """A client that always says the same."""

    def __init__(self, *items: dict[str, Any]) -> None:
        self.reply = json.dumps(items)
        self.prompts: list[str] = []

    async def generate(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return self.reply


def test_the_registrant() -> None:
    expected = et.scorers.InterpretiveState()
    expected.add_value(
        "registrant.name", et.scorers.ValueConfidence(value="Ada Lovelace", confidence=0.95)
    )
    before = et.scorers.InterpretiveState()
    client = Scripted(
        {
            "path": "registrant.name",
            "value": "Ada Lovelace",
            "confidence": 0.95,
            "inference": "The name is given outright.",
        }
    )
    case = et.MutatorCase(
        id="registrant",
        mutation_input=et.scorers.StructuredInput(
            prompt="My name is Ada Lovelace", message_id="message-1"
        ),
        pre_state=before,
        expected_post_state=expected,
    )
    result = et.evaluate_mutators([case], et.scorers.LLMMutator(client))
    row = result.table.iloc[0]
    assert row["status"] == "ok"
    assert bool(row["overall_match"]) is True
    assert row["accuracy"] == 1.0
    # The parent of a path counts as a path of its own: registrant and registrant.name.
    assert row[["matching", "mismatched", "missing", "extra"]].tolist() == [2, 0, 0, 0]
    scores = result.scores.set_index("criterion")["score"]
    assert scores[["overall_match", "accuracy_score"]].tolist() == [1.0, 1.0]
    assert before == et.scorers.InterpretiveState()
    assert len(client.prompts) == 1
    assert "My name is Ada Lovelace" in client.prompts[0]


# The house: a benchmark of four capabilities. Published scoreboard: 4 of 5 scenarios pass, all of
# lights, doors and secure-house, and one of the two of status.

HOUSE = """
benchmark: home-automation
description: A house with lights and doors
platform: {name: local, experiment: v1}
execution: {runs_per_scenario: 1, n_parallel_runs: 2}
capabilities:
  - name: lights
    scenarios:
      - id: 1
        name: kitchen on
        prompt: Kitchen light on, please
        success: {state: {lights.kitchen.state: "on"}}
  - name: doors
    scenarios:
      - id: 2
        name: lock front
        prompt: Lock the door at the front
        success:
          tool_use:
            match_args: superset
            calls: [{name: lock_door, args: {door: front, locked: true}}]
  - name: secure-house
    scenarios:
      - id: 3
        name: lock back by tool and state
        prompt: Lock the door at the back
        success:
          tool_use:
            match_args: superset
            calls: [{name: lock_door, args: {door: back, locked: true}}]
          state: {doors.back: locked}
  - name: status
    scenarios:
      - id: 4
        name: status of lights
        prompt: Is a light on?
        success:
          tool_use:
            match_args: exact
            calls: [{name: get_device_status, args: {device_type: lights}}]
      - id: 5
        name: status of doors
        prompt: Is a door open?
        success:
          tool_use:
            match_args: exact
            calls: [{name: get_device_status, args: {device_type: doors}}]
"""
DEFAULT: dict[str, Any] = {
    "lights": {"kitchen": {"state": "off"}},
    "doors": {"front": "unlocked", "back": "unlocked"},
}
# The agent of the published run looks at the lights, too, where only doors are asked for.
STATUS: dict[str, dict[str, Any]] = {
    kind: {"name": "get_device_status", "args": {"device_type": kind}} for kind in DEFAULT
}
CALLS: dict[str, list[dict[str, Any]]] = {
    "1": [{"name": "set_light", "args": {"room": "kitchen", "state": "on"}}],
    "2": [{"name": "lock_door", "args": {"door": "front", "locked": True}}],
    "3": [{"name": "lock_door", "args": {"door": "back", "locked": True}}],
    "4": [STATUS["lights"]],
    "5": [STATUS["doors"], STATUS["lights"]],
}


def housekeeper(example: Example) -> Output:
    """Make the calls, in the shape of the OpenAI API, and do to the world what they say."""
    world = merge_states(DEFAULT, example.input["preconditions"].get("state", {}))
    wire = []
    for call in CALLS[example.id]:
        args = call["args"]
        if call["name"] == "set_light":
            world["lights"][args["room"]]["state"] = args["state"]
        if call["name"] == "lock_door":
            world["doors"][args["door"]] = "locked"
        wire.append({"function": {"name": call["name"], "arguments": json.dumps(args)}})
    messages = [
        {"role": "user", "content": example.input["prompt"]},
        {"role": "assistant", "content": "", "tool_calls": wire},
        {"role": "tool", "content": "done"},
        {"role": "assistant", "content": "Done."},
    ]
    return Output(text="Done.", final_state=world, messages=messages)


def test_the_house(tmp_path: Path) -> None:
    house = read(tmp_path, HOUSE)
    run = et.evaluate(
        house.examples,
        {"home": housekeeper},
        house.scorers,
        trials=house.trials,
        concurrency=house.concurrency,
        progress=False,
    )
    passed = run.scores.groupby(["task", "example_id"], sort=False)["passed"].all()
    assert (int(passed.sum()), len(passed)) == (4, 5)
    by_capability = passed.groupby("task", sort=False).mean()
    assert by_capability.to_dict() == {
        "lights": 1.0,
        "doors": 1.0,
        "secure-house": 1.0,
        "status": 0.5,
    }
    assert bool(passed["status", "5"]) is False


GUIDE = """
benchmark: home-v1
platform: {name: local, experiment: v1}
capabilities:
  - file://capabilities/lights.yaml
  - name: doors
    scenarios:
      - id: 2
        name: lock front door
        prompt: Lock the front door
        dimensions: {phrasing: imperative, depth: literal}
        success:
          state: {doors.front: locked}
          tool_use:
            match_calls: exact
            match_args: subset
            calls:
              - name: lock_door
                args: {door: front, locked: true}
"""
LIGHTS = """
name: lights
scenarios:
  - id: 1
    name: kitchen off when on
    prompt: Turn off the kitchen light
    precondition: {state: {lights.kitchen.state: "on"}}
    success: {state: {lights.kitchen.state: "off"}}
"""


def test_a_precondition_makes_a_scenario_say_something(tmp_path: Path) -> None:
    """An agent that does nothing fails, though the light is off before the precondition."""
    (tmp_path / "capabilities").mkdir()
    (tmp_path / "capabilities" / "lights.yaml").write_text(LIGHTS, encoding="utf-8")
    house = read(tmp_path, GUIDE)
    assert [(example.task, example.id) for example in house.examples] == [
        ("lights", "1"),
        ("doors", "2"),
    ]

    def idle(example: Example) -> Output:
        seeded = example.input["preconditions"].get("state", {})
        return Output(final_state=merge_states(DEFAULT, seeded), messages=[])

    run = et.evaluate(house.examples, {"idle": idle}, house.scorers, progress=False)
    found = run.table.set_index(["task", "criterion"])["mean"].to_dict()
    assert found == {
        ("lights", "StateMatch"): 0.0,
        ("doors", "StateMatch"): 0.0,
        ("doors", "ToolCallExactMatch"): 0.0,
    }
