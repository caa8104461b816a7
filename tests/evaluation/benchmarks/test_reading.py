"""Benchmarks in both dialects become examples and scorers that score as published."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evaltoolkit.errors import ReadError, SchemaError, ScorerError
from evaltoolkit.evaluation import evaluate, score_outputs
from evaltoolkit.evaluation.benchmarks import (
    Benchmark,
    ScenarioScorer,
    merge_states,
    nest_paths,
    read_benchmark,
)
from evaltoolkit.evaluation.benchmarks.natives import NATIVE, options_of
from evaltoolkit.evaluation.digests import digest_of_scorer
from evaltoolkit.models import Example, Output
from evaltoolkit.scorers import Contains, ExactMatch

HOME = """
benchmark: home-v1
description: What the house can do
platform: {name: local, experiment: v1}
execution: {runs_per_scenario: 3, n_parallel_runs: 2}
capabilities:
  - name: lights
    scenarios:
      - id: 1
        name: kitchen on
        prompt: Turn on the kitchen light
        dimensions: {phrasing: imperative, depth: literal}
        success:
          state: {lights.kitchen.state: "on"}
      - id: 2
        name: kitchen off
        prompt: It is too bright in the kitchen
        dimensions: {phrasing: indirect}
        precondition:
          state: {lights.kitchen.state: "on", lights.hall: {level: 3}}
        success:
          state: {lights.kitchen.state: "off"}
          tool_use:
            match_calls: superset
            match_args: subset
            calls: [{name: set_light, args: {room: kitchen, state: "off"}}]
  - name: doors
    scenarios:
      - id: 1
        name: lock
        prompt: Lock the front door
        success:
          tool_use: {calls: [{name: lock, args: {door: front}}, {name: report}]}
"""

DRONE = """
capabilities:
  - id: land-where-asked
    prompt: Fly to (1, 2) and land.
    scorers:
      - type: ToolCallExactMatch
        tool_args_match_mode: exact
    reference_outputs:
      - role: assistant
        tool_calls: [{name: fly_to, args: {lat: 1, lon: 2}}]
      - role: assistant
        tool_calls: [{name: land, args: {soft: true}}]
  - id: say
    prompt: Where are you?
    expected: Paris
    expected_state: {asked: true}
    scorers: [ExactMatch, {type: StateMatch, threshold: 0.5}]
"""
Read = Callable[..., Benchmark]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read(text: str, **options: Any) -> Benchmark:
        path = tmp_path / "b.yaml"
        path.write_text(text, encoding="utf-8")
        return read_benchmark(path, **options)

    return read


def one(body: str) -> str:
    """Write a benchmark of one scenario; `body` starts at line 6."""
    head = "benchmark: b\ncapabilities:\n- name: c\n  scenarios:\n  - id: 1\n"
    return head + "".join(f"    {line}\n" for line in body.splitlines())


def problems_of(read: Read, text: str, **options: Any) -> list[str]:
    with pytest.raises(ReadError) as caught:
        read(text, **options)
    assert isinstance(caught.value.value, tuple)
    return list(caught.value.value)


def test_examples_of_the_first_dialect(read: Read) -> None:
    home = read(HOME)
    assert (home.name, home.description) == ("home-v1", "What the house can do")
    assert (home.trials, home.concurrency) == (3, 2)
    assert home.platform == {"name": "local", "experiment": "v1"}
    keys = [(e.task, e.id) for e in home.examples]
    assert keys == [("lights", "1"), ("lights", "2"), ("doors", "1")]
    first, second, third = home.examples
    assert first.input == {"prompt": "Turn on the kitchen light", "preconditions": {}}
    assert first.attributes == {
        "scenario_name": "kitchen on",
        "phrasing": "imperative",
        "depth": "literal",
    }
    assert first.reference_state == {"lights.kitchen.state": "on"}
    assert first.reference_tool_calls is None
    seeded = {"lights": {"kitchen": {"state": "on"}, "hall": {"level": 3}}}
    assert second.input["preconditions"] == {"state": seeded}
    assert home.preconditions == {("lights", "2"): {"state": seeded}}
    assert third.reference_tool_calls == [
        {"name": "lock", "args": {"door": "front"}},
        {"name": "report", "args": {}},
    ]
    assert home.dimensions == {"phrasing": ("imperative", "indirect"), "depth": ("literal",)}


def test_the_table(read: Read) -> None:
    home = read(HOME)
    assert home.table.columns.tolist() == [
        "task", "example_id", "scenario_name", "prompt", "phrasing", "depth", "scorers",
        "has_precondition", "source",
    ]  # fmt: skip
    assert home.table["scorers"].tolist() == [
        "StateMatch",
        "StateMatch, ToolCallSupersetMatch",
        "ToolCallExactMatch",
    ]
    assert home.table["has_precondition"].tolist() == [False, True, False]
    assert home.table["source"].tolist() == ["b.yaml:9", "b.yaml:15", "b.yaml:29"]
    assert "3 scenario(s), judged by StateMatch, ToolCallSupersetMatch" in repr(home)


def test_markup_in_a_benchmark_is_escaped(read: Read) -> None:
    text = one("prompt: <script>alert(1)</script>\nsuccess: {state: {a: 1}}")
    assert "<script>" not in read(text)._repr_html_()


def test_the_published_light_switch_passes(read: Read) -> None:
    """The example of agent-evals' guide to scorers: StateMatch passes with rate 1.0."""
    light = read(
        one('prompt: Turn on the kitchen light\nsuccess: {state: {lights.kitchen.state: "on"}}')
    )

    def agent(case: dict[str, Any]) -> Output:
        state: dict[str, Any] = {"lights": {}}
        if "kitchen" in case["prompt"] and "on" in case["prompt"]:
            state["lights"]["kitchen"] = {"state": "on"}
        return Output(text="", final_state=state)

    scores = evaluate(light.examples, {"agent": agent}, light.scorers, progress=False).scores
    assert scores[["criterion", "score", "passed"]].to_numpy().tolist() == [
        ["StateMatch", 1.0, True]
    ]


def test_a_benchmark_is_run_with_its_preconditions(read: Read) -> None:
    home = read(HOME)
    default = {"lights": {"kitchen": {"state": "off"}, "hall": {"level": 0}}}

    def agent(example: Example) -> Output:
        world = merge_states(default, example.input["preconditions"].get("state", {}))
        was = world["lights"]["kitchen"]["state"]
        world["lights"]["kitchen"]["state"] = "off" if was == "on" else "on"
        call = {"name": "set_light", "args": {"room": "kitchen", "state": "off"}}
        return Output(final_state=world, rounds=[[{"name": "look"}, call]])

    run = evaluate(
        home.examples, {"agent": agent}, home.scorers, trials=home.trials, progress=False
    )
    table = run.scores.groupby(["task", "example_id", "criterion"])["score"].agg(["mean", "size"])
    assert {key: tuple(row) for key, row in zip(table.index, table.to_numpy(), strict=True)} == {
        ("doors", "1", "ToolCallExactMatch"): (0.0, 3),
        ("lights", "1", "StateMatch"): (1.0, 3),
        ("lights", "2", "StateMatch"): (1.0, 3),
        ("lights", "2", "ToolCallSupersetMatch"): (1.0, 3),
    }
    assert default["lights"]["kitchen"] == {"state": "off"}


def scored(benchmark: Benchmark, *outputs: Output) -> pd.DataFrame:
    answers = [
        ("a", example.id, 0, output, example.task)
        for example, output in zip(benchmark.examples, outputs, strict=True)
    ]
    return score_outputs(benchmark.examples, answers, benchmark.scorers)


def test_the_second_dialect(read: Read) -> None:
    drone = read(DRONE)
    assert drone.name == "b"
    assert [(e.task, e.id, e.reference) for e in drone.examples] == [
        ("b", "land-where-asked", None),
        ("b", "say", "Paris"),
    ]
    assert drone.examples[0].reference_tool_calls[1]["tool_calls"][0]["args"] == {"soft": True}
    wire = {"function": {"name": "fly_to", "arguments": '{"lat": 1, "lon": 2}'}}
    messages = [
        {"role": "user", "content": "Fly"},
        {"role": "assistant", "tool_calls": [wire]},
        {"role": "tool", "content": "done"},
        {"role": "assistant", "tool_calls": [{"name": "land", "args": {"soft": True}}]},
    ]
    table = scored(
        drone, Output(messages=messages), Output(text="Paris", final_state={"asked": True})
    )
    assert table[["example_id", "criterion", "score"]].to_numpy().tolist() == [
        ["land-where-asked", "ToolCallExactMatch", 1.0],
        ["say", "ExactMatch", 1.0],
        ["say", "StateMatch", 1.0],
    ]
    assert set(table.loc[table["criterion"] == "StateMatch", "threshold"]) == {0.5}


def test_both_dialects_in_one_file_and_scorers_of_a_capability(read: Read) -> None:
    text = (
        DRONE
        + """  - name: more
    scorers: [Levenshtein]
    scenarios:
      - {id: 1, prompt: Say hello, expected: hello}
      - {id: 2, prompt: Say more, expected: more, scorers: [ExactMatch]}
      - {id: 3, prompt: And act, expected: x, success: {tool_use: {calls: [{name: f}]}}}
"""
    )
    assert read(text).table["scorers"].tolist()[2:] == [
        "Levenshtein",
        "Levenshtein, ExactMatch",
        "ToolCallExactMatch, Levenshtein",
    ]


# The outcome table of the five rules: actual and reference calls, and who passes.
A, B, C = {"name": "f", "args": {"x": 1}}, {"name": "g", "args": {"y": 2}}, {"name": "h"}
RULES = ("exact", "superset", "subset", "unordered", "any_of")
F_AND_G = "[{name: f, args: {x: 1}}, {name: g, args: {y: 2}}]"


@pytest.mark.parametrize(
    ("actual", "reference", "passes"),
    [
        ([A, B], F_AND_G, "11111"),
        ([B, A], F_AND_G, "00011"),
        ([A, C, B], F_AND_G, "01001"),
        ([A], F_AND_G, "00101"),
        ([A, A], "[{name: f, args: {x: 1}}]", "01001"),
        ([], "[{name: f, args: {x: 1}}]", "00100"),
    ],
)
def test_match_calls_selects_the_published_scorer(
    read: Read, actual: list[Any], reference: str, passes: str
) -> None:
    for rule, expected in zip(RULES, passes, strict=True):
        body = f"prompt: p\nsuccess: {{tool_use: {{match_calls: {rule}, calls: {reference}}}}}"
        table = scored(read(one(body)), Output(rounds=[actual]))
        assert table["score"].tolist() == [float(expected)], rule


@pytest.mark.parametrize(
    ("args", "passes"),
    [({"x": 1}, "1111"), ({"x": 9}, "0001"), ({"x": 1, "z": 3}, "0011"), ({}, "0101")],
)
def test_match_args_has_the_published_direction(
    read: Read, args: dict[str, int], passes: str
) -> None:
    for mode, expected in zip(("exact", "subset", "superset", "ignore"), passes, strict=True):
        call = "{name: f, args: {x: 1}}"
        body = f"prompt: p\nsuccess: {{tool_use: {{match_args: {mode}, calls: [{call}]}}}}"
        table = scored(read(one(body)), Output(rounds=[[{"name": "f", "args": args}]]))
        assert table["score"].tolist() == [float(expected)], mode


def test_scenarios_share_a_criterion_though_set_differently(read: Read) -> None:
    call = "{name: f, args: {x: 1}}"
    text = one(f"prompt: p\nsuccess: {{tool_use: {{calls: [{call}]}}}}") + (
        f"  - {{id: 2, prompt: q, success: {{tool_use: {{match_args: ignore, calls: [{call}]}}}}}}"
    )
    both = read(text)
    assert [scorer.name for scorer in both.scorers] == ["ToolCallExactMatch"]
    wrong = Output(rounds=[[{"name": "f", "args": {"x": 9}}]])
    assert scored(both, wrong, wrong)["score"].tolist() == [0.0, 1.0]


MANY_PROBLEMS = """benchmark: ../b
platfrom: local
execution: {runs_per_scenario: 0, n_parallel_runs: yes}
platform: {name: local, project: p}
capabilities:
  - name: c
    scenario: []
    scenarios:
      - id: 1.5
        prompt: p
        sucess: {}
      - id: 2
        prompt: on
        success: {state: {}, tool_use: {match_calls: exactly, calls: [{nam: f}]}, stat: {}}
      - id: 2
        prompt: ""
        dimensions: {score: 1, tone: [a]}
        precondition: {cookies: {}, state: {a: 1, a.b: 2}}
        success: {state: {a: 1}}
"""


def test_every_problem_at_once_with_file_and_line(read: Read) -> None:
    found = problems_of(read, MANY_PROBLEMS)
    expected = [
        ("b.yaml:1: ", "the name of the benchmark is '../b'"),
        ("b.yaml:2: ", "no key 'platfrom' (did you mean 'platform'?)"),
        ("b.yaml:3: ", "'runs_per_scenario' of execution must be 1 or more"),
        ("b.yaml:3: ", 'quote it: "yes"'),
        ("b.yaml:3: ", "'n_parallel_runs' of execution must be a whole number, not a text"),
        ("b.yaml:4: ", "platform 'local' has no key 'project'"),
        ("b.yaml:7: ", "no key 'scenario' (did you mean 'scenarios'"),
        ("b.yaml:9: ", "'id' of the scenario must be a whole number or a text, not a number"),
        ("b.yaml:9: ", "names nothing that judges it"),
        ("b.yaml:11: ", "no key 'sucess' (did you mean 'success'"),
        ("b.yaml:13: ", "on is true in YAML 1.1"),
        ("b.yaml:14: ", "the expected state is empty"),
        ("b.yaml:14: ", "'match_calls' of tool_use is 'exactly'; it must be one of 'exact'"),
        ("b.yaml:14: ", "a call has no key 'nam' (did you mean 'name'?)"),
        ("b.yaml:14: ", "a call needs the key 'name'"),
        ("b.yaml:14: ", "the key 'stat', which is neither built in"),
        ("b.yaml:15: ", "the id '2' is taken by b.yaml:12"),
        ("b.yaml:16: ", "'prompt' of the scenario is empty"),
        ("b.yaml:17: ", "the dimension 'score' has the name of a column"),
        ("b.yaml:17: ", "the dimension 'tone' must be a text"),
        ("b.yaml:18: ", "the precondition 'cookies' is neither 'state' nor in appliers="),
        ("b.yaml:18: ", "the path 'a.b' leads through the value of 'a'"),
    ]
    for place, text in expected:
        assert any(place in each and text in each for each in found), (place, text, found)
    assert len(found) == len(expected)


def test_the_error_can_be_acted_on(read: Read) -> None:
    with pytest.raises(ReadError) as caught:
        read(one("prompt: p\nsuccess: {state: {a: on}}"))
    assert caught.value.code == "ambiguous_word"
    assert caught.value.path == "b.yaml:7"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("success: {state: {a: 1}}", "needs the key 'prompt'"),
        ("prompt: p\nsuccess: {state: [a]}", "must be a mapping from dotted paths"),
        ("prompt: p\nsuccess: {tool_use: {}}", "tool_use needs the key 'calls'"),
        ("prompt: p\nsuccess: {tool_use: [1]}", "tool_use must be a mapping, not a list"),
        (
            "prompt: p\nsuccess: {tool_use: {calls: [], match_calls: superset}}",
            "would pass whatever happens",
        ),
        ("prompt: p\nsuccess: {tool_use: {calls: [], match_calls: any_of}}", "would never pass"),
        (
            "prompt: p\nsuccess: {tool_use: {calls: [{name: f, args: [1]}]}}",
            "'args' of a call must be a mapping, not a list",
        ),
        ("prompt: p\nscorers: [StateMatch]", "StateMatch has nothing to compare with"),
        ("prompt: p\nscorers: [ExactMatch]", "add 'expected'"),
        ("prompt: p\nscorers: [ToolCallAnyMatch]", "add 'reference_outputs'"),
        ("prompt: p\nscorers: [Exactmatch]", "did you mean 'ExactMatch'"),
        ("prompt: p\nscorers: [{typ: ExactMatch}]", "the name under 'type'"),
        ("prompt: p\nscorers: [3]", "the name under 'type'"),
        (
            "prompt: p\nexpected: x\nscorers: [{type: ExactMatch, folds: [case]}]",
            "ExactMatch has no option 'folds' for files (did you mean 'fold'",
        ),
        (
            "prompt: p\nscorers: [{type: Refusal, patterns: ['(a+)+$']}]",
            "Refusal has no option 'patterns' for files",
        ),
        (
            "prompt: p\nreference_outputs: []\n"
            "scorers: [{type: ToolCallExactMatch, tool_args_match_mode: all}]",
            "ToolCallExactMatch cannot be made",
        ),
        (
            "prompt: p\nexpected: x\nscorers: [ExactMatch, {type: ExactMatch, fold: [case]}]",
            "is judged by ExactMatch twice",
        ),
        (
            "prompt: p\nexpected_state: {a: 1}\nsuccess: {state: {a: 1}}",
            "has 'expected_state' besides this",
        ),
        (
            "prompt: p\nreference_outputs: []\nsuccess: {tool_use: {calls: []}}",
            "has 'reference_outputs' besides this",
        ),
        (
            "prompt: p\nreference_outputs: [{name: f, args: '{'}]\nscorers: [ToolCallExactMatch]",
            "the reference calls of the scenario cannot be read",
        ),
        ("prompt: p\nsuccess: {state: {1: a}}", "the key 1 is a whole number; put it in quotes"),
        ("prompt: p\nsuccess: {state: {a..b: 1}}", "the path 'a..b' has an empty part"),
        ("prompt: p\nsuccess: {state: {'': 1}}", "the path '' has an empty part"),
        (
            "prompt: p\nprecondition: {state: {a.: 1}}\nsuccess: {state: {a: 1}}",
            "the path 'a.' has an empty part",
        ),
        (
            f"prompt: p\nsuccess: {{state: {{{'.'.join('a' * 60)}: 1}}}}",
            "has more than 50 parts; make it shorter",
        ),
        ("prompt: p\ndimensions: {'': x}\nsuccess: {state: {a: 1}}", "has an empty name"),
        ("prompt: p\nsuccess: {}", "names nothing that judges it"),
        ("prompt: [p]\nsuccess: {state: {a: 1}}", "'prompt' of the scenario must be a text"),
    ],
)
def test_what_a_scenario_may_not_say(read: Read, body: str, reason: str) -> None:
    found = problems_of(read, one(body))
    assert any(reason in each for each in found), found


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the benchmark must be a mapping, not an empty value"),
        ("- a", "the benchmark must be a mapping, not a list"),
        ("benchmark: b", "needs the key 'capabilities'"),
        ("capabilities: []", "has no capability"),
        ("capabilities: [{name: c}]", "a capability needs the key 'scenarios'"),
        ("capabilities: [{name: c, scenarios: []}]", "the capability 'c' has no scenario"),
        ("capabilities: [{name: a/b, scenarios: []}]", "the name of a capability is 'a/b'"),
        ("capabilities: [{name: .., scenarios: []}]", "the name of a capability is '..'"),
        ("platform: aws\ncapabilities: []", "platform must name one of local"),
    ],
)
def test_what_a_benchmark_may_not_say(read: Read, text: str, reason: str) -> None:
    found = problems_of(read, text)
    assert any(reason in each for each in found), found


@pytest.mark.parametrize(
    "name", ["prompt", "scorers", "has_precondition", "source", "task", "score", "output"]
)
def test_a_dimension_cannot_hide_a_column(read: Read, name: str) -> None:
    body = f"prompt: p\ndimensions: {{{name}: x}}\nsuccess: {{state: {{a: 1}}}}"
    [problem] = problems_of(read, one(body))
    assert problem.endswith(f"the dimension {name!r} has the name of a column; rename it")


def test_values_of_a_dimension_keep_their_types(read: Read) -> None:
    text = one("prompt: p\ndimensions: {loud: true}\nsuccess: {state: {a: 1}}") + (
        "  - {id: 2, prompt: q, dimensions: {loud: 1}, success: {state: {a: 1}}}\n"
    )
    [values] = read(text).dimensions.values()
    assert [(type(value), value) for value in values] == [(bool, True), (int, 1)]


def test_what_is_no_mapping_is_one_problem(read: Read) -> None:
    text = "capabilities: [{name: c, scenarios: [3]}]"
    assert problems_of(read, text) == [
        "b.yaml:1: the scenario must be a mapping, not a whole number"
    ]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("success: state", "7: 'success' of the scenario must be a mapping, not a text"),
        (
            "scorers: ExactMatch\nexpected: x",
            "7: 'scorers' of the scenario must be a list, not a text",
        ),
        (
            "expected:\nscorers: [ExactMatch]",
            "7: 'expected' of the scenario is empty; give it a value, or leave the key out",
        ),
        (
            "dimensions:\nsuccess: {state: {a: 1}}",
            "7: 'dimensions' of the scenario is empty; give it a mapping, or leave the key out",
        ),
    ],
)
def test_one_mistake_is_one_problem(read: Read, body: str, problem: str) -> None:
    assert problems_of(read, one(f"prompt: p\n{body}")) == [f"b.yaml:{problem}"]


def test_messages_stay_readable(read: Read) -> None:
    """A value of the file may be long and problems may be many; the remedy is seen anyway."""
    body = f"prompt: p\nsuccess: {{tool_use: {{match_calls: {'x' * 10**6}, calls: []}}}}"
    [problem] = problems_of(read, one(body))
    assert len(problem) < 700
    assert problem.endswith("(known: 'any_of', 'exact', 'subset', 'superset', 'unordered')")
    with pytest.raises(ReadError, match=r"1000 problem\(s\) or more") as caught:
        read("capabilities:\n" + "- 3\n" * 5000)
    assert len(str(caught.value)) < 6000


def test_an_aliased_capability_is_a_repeated_one(read: Read) -> None:
    text = one("prompt: p\nsuccess: {state: {a: 1}}").replace("- name", "- &c\n  name") + "- *c\n"
    assert any("another capability 'c'" in each for each in problems_of(read, text))


def test_anchors_spare_repetition(read: Read) -> None:
    text = one("prompt: p\nsuccess: &same {state: {a: 1}}") + (
        "  - {id: 2, prompt: q, success: *same}\n"
    )
    first, second = read(text).examples
    assert first.reference_state == second.reference_state == {"a": 1}
    assert first.reference_state is not second.reference_state


def test_thresholds_of_a_criterion_must_agree(read: Read) -> None:
    text = one("prompt: p\nexpected: x\nscorers: [{type: Levenshtein, threshold: 0.9}]") + (
        "  - {id: 2, prompt: q, expected: y, scorers: [{type: Levenshtein, threshold: 0.8}]}\n"
    )
    [problem] = problems_of(read, text)
    assert problem.startswith("b.yaml:9: the criterion 'Levenshtein' has another 'threshold'")
    named = text.replace("threshold: 0.8", "threshold: 0.8, name: lax")
    assert [scorer.name for scorer in read(named).scorers] == ["Levenshtein", "lax"]


def polite(output: Output, payload: dict[str, Any]) -> bool:
    return payload["word"] in str(output.text)


async def slow(output: Output, payload: float) -> float:
    await asyncio.sleep(0)
    return payload


def test_checkers_come_from_the_caller_only(read: Read) -> None:
    text = one("prompt: p\nsuccess: {polite: {word: please}, slow: 0.25, plain: true, short: {}}")
    given = {
        "polite": polite,
        "slow": slow,
        "plain": lambda output: len(output.text),
        "short": Contains("please", name="short one"),
    }
    benchmark = read(text, checkers=given)
    run = evaluate(
        benchmark.examples, {"a": lambda case: "please"}, benchmark.scorers, progress=False
    )
    found = run.scores.set_index("criterion")["score"].to_dict()
    assert found == {"polite": 1.0, "slow": 0.25, "plain": 6.0, "short one": 1.0}
    assert any("neither built in nor in checkers=" in each for each in problems_of(read, text))


@pytest.mark.parametrize("name", ["os.system", "builtins.eval", "LLMJudge", "TrajectoryLLMAsJudge"])
def test_names_are_never_imported(read: Read, name: str) -> None:
    for body in (f"success: {{{name}: {{}}}}", f"scorers: [{{type: {name}}}]"):
        assert any("checkers=" in each for each in problems_of(read, one(f"prompt: p\n{body}")))


def test_settings_for_a_checker_that_takes_none(read: Read) -> None:
    text = one("prompt: p\nsuccess: {mine: {a: 1}}")
    [problem] = problems_of(read, text, checkers={"mine": lambda output: 1})
    assert "has no argument 'payload'" in problem
    off = text.replace("{a: 1}", "false")
    [problem] = problems_of(read, off, checkers={"mine": Contains("x")})
    assert "takes no settings" in problem


@pytest.mark.parametrize("wrong", [3, ExactMatch, lambda banana: 1])
def test_something_that_cannot_score(read: Read, wrong: object) -> None:
    text = one("prompt: p\nsuccess: {mine: {}}")
    [problem] = problems_of(read, text, checkers={"mine": wrong})
    assert "mine cannot be made" in problem


@pytest.mark.parametrize("name", ["state", "tool_use", "StateMatch"])
def test_built_in_names_cannot_be_taken(read: Read, name: str) -> None:
    with pytest.raises(ScorerError, match="built in"):
        read(HOME, checkers={name: polite})


def test_options_of_another_type(read: Read) -> None:
    with pytest.raises(ScorerError, match="checkers must map names"):
        read(HOME, checkers=[polite])
    with pytest.raises(ScorerError, match="appliers must be a list of names, not 'cookies'"):
        read(HOME, appliers="cookies")


def test_further_preconditions_are_the_callers(read: Read) -> None:
    text = one("prompt: p\nprecondition: {cookies: {a: 1}}\nsuccess: {state: {a: 1}}")
    benchmark = read(text, appliers=["cookies"])
    assert benchmark.preconditions == {("c", "1"): {"cookies": {"a": 1}}}


def test_nothing_is_sent_anywhere(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        pytest.fail("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    text = HOME.replace("{name: local,", "{name: braintrust, project: p,")
    assert read(text).platform == {"name": "braintrust", "project": "p", "experiment": "v1"}


def test_options_of_every_scorer_can_be_listed() -> None:
    assert all({"name", "threshold"} <= set(options_of(scorer)) for scorer in NATIVE.values())
    assert not [name for name in NATIVE if "Judge" in name]


def test_a_scorer_of_several_parts(read: Read) -> None:
    text = one("prompt: p\nreference_outputs: [{name: f}]\nscorers: [ToolCallOverlap]")
    table = scored(read(text), Output(rounds=[[{"name": "f"}, {"name": "g"}]]))
    found = table.set_index("criterion")["score"].to_dict()
    assert found["ToolCallOverlap.recall"] == 1.0
    assert found["ToolCallOverlap.precision"] == 0.5


def test_a_resumed_run_knows_the_settings_of_each_scenario() -> None:
    key = ("t", "1")
    strict, lax = (
        ScenarioScorer({key: ExactMatch(fold=())}),
        ScenarioScorer({key: ExactMatch(fold=["case"])}),
    )
    assert digest_of_scorer(strict) == digest_of_scorer(ScenarioScorer({key: ExactMatch()}))
    assert digest_of_scorer(strict) != digest_of_scorer(lax)


def test_states_are_nested_and_merged_without_sharing() -> None:
    value = {"list": [1]}
    state = nest_paths({r"a\.b.c": value, "d": 2})
    assert state == {"a.b": {"c": {"list": [1]}}, "d": 2}
    state["a.b"]["c"]["list"].append(2)
    assert value == {"list": [1]}
    with pytest.raises(SchemaError, match="leads through"):
        nest_paths({"a.b.c": 1, "a.b": 2})
    base = {"a": {"b": 1}, "c": {"d": 1}}
    merged = merge_states(base, {"a": 3, "c": {"e": {"f": 1}}})
    assert merged == {"a": 3, "c": {"d": 1, "e": {"f": 1}}}
    assert base == {"a": {"b": 1}, "c": {"d": 1}}
