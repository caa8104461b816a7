"""agentevals and openevals through the adapters, their judges answered by a script here."""

from __future__ import annotations

import json
import os
import socket
import sys
from copy import deepcopy
from functools import partial
from importlib import import_module
from inspect import isfunction
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest

from evaltoolkit.errors import ScorerError
from evaltoolkit.models import Example, Output, Score
from evaltoolkit.scorers import run_scorer
from evaltoolkit.scorers.adapters import agentevals_judges as judges
from evaltoolkit.scorers.adapters.agentevals_scorer import (
    AgentevalsScorer,
    AgentevalsTrajectoryMatch,
)
from support.openai_stub import Stub, running_stub, says

JUDGES: tuple[type[judges.EndpointJudge], ...] = (
    judges.GraphTrajectoryLLMAsJudge,
    judges.OpenevalsCodeLLMAsJudge,
    judges.OpenevalsLLMAsJudge,
    judges.TrajectoryLLMAsJudge,
)
every_judge = pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: judge.__name__)
peers = pytest.mark.peers

CALL = {"name": "f", "args": {"x": 1}}
MESSAGES = [
    {"role": "user", "content": "go {there}"},
    {"role": "assistant", "content": "", "tool_calls": [{**CALL, "id": "c"}]},
    {"role": "assistant", "content": "done"},
]
GRAPH = {"inputs": ["go"], "results": [{"x": 1}], "steps": [["__start__", "agent"]]}
ITEM = Example(id=1, input="a question", reference="the answer", reference_tool_calls=MESSAGES)
ANSWER = Output(text="an answer", messages=MESSAGES, final_state=GRAPH)


@pytest.fixture(autouse=True)
def tempting_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys and addresses that the packages would use if they were let."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-service")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/elsewhere")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-private")


def score(scorer: Any, output: Output = ANSWER, item: Example = ITEM) -> Score:
    [found] = run_scorer(scorer, output, item)
    return found


def verdict(value: object, reasoning: str = "because") -> dict[str, Any]:
    return says(json.dumps({"reasoning": reasoning, "score": value}))


def made(judge: type[judges.EndpointJudge], stub: Stub, **more: Any) -> judges.EndpointJudge:
    return judge(judge_base_url=stub.base_url, model="openai:judge-1", max_retries=0, **more)


@every_judge
def test_a_judge_without_an_endpoint_is_refused(judge: type[judges.EndpointJudge]) -> None:
    with pytest.raises(ScorerError, match="judge_base_url") as caught:
        judge(model="m")
    assert caught.value.code == "missing_endpoint"


@every_judge
def test_clear_text_to_another_machine_is_refused(judge: type[judges.EndpointJudge]) -> None:
    with pytest.raises(ScorerError, match="clear text"):
        judge(judge_base_url="http://judge.example/v1", model="m")


@peers
@every_judge
def test_a_judge_without_a_model_is_refused(judge: type[judges.EndpointJudge]) -> None:
    with pytest.raises(ScorerError, match="needs model="):
        judge(judge_base_url="http://127.0.0.1:9/v1")


@peers
@every_judge
def test_a_verdict_is_true_or_false(judge: type[judges.EndpointJudge]) -> None:
    with running_stub(lambda _: verdict(True)) as stub:
        scorer = made(judge, stub)
        found = score(scorer)
        assert (found.score, found.passed, found.message) == (1, True, "because")
        assert found.criterion == judge.__name__
        assert scorer.criterion.kind == "binary"
        stub.answer = lambda _: verdict(False)
        assert score(scorer).passed is False
        stub.answer = lambda _: verdict(0.7)
        refused = score(scorer)
        assert [request.path for request in stub.requests] == ["/v1/chat/completions"] * 3
        assert {request.body["model"] for request in stub.requests} == {"judge-1"}
        assert "authorization" not in stub.requests[0].headers
        assert "private" not in str(stub.requests)
    assert refused.status == "scorer_error"
    assert "true or false" in (refused.message or "")


@peers
@pytest.mark.parametrize(
    ("scale", "value", "status"),
    [
        ({"continuous": True}, 0.25, "scored"),
        ({"continuous": True}, 7, "scorer_error"),
        ({"continuous": True}, True, "scorer_error"),
        ({"choices": [1, 3, 5]}, 3, "scored"),
        ({"choices": [1, 3, 5]}, 2, "scorer_error"),
        ({"choices": [0.0, 0.5]}, None, "scorer_error"),
    ],
)
def test_scores_off_the_scale_are_errors(scale: dict[str, Any], value: Any, status: str) -> None:
    with running_stub(lambda _: verdict(value)) as stub:
        found = score(made(judges.OpenevalsLLMAsJudge, stub, threshold=0.5, **scale))
    assert found.status == status
    assert found.score == (value if status == "scored" else None)


@peers
@pytest.mark.parametrize(
    "reply",
    [says("no"), says('```json\n{"score": true}\n```'), says('{"score": true}'), says("")],
)
def test_a_malformed_reply_is_a_scorer_error(reply: dict[str, Any]) -> None:
    with running_stub(lambda _: reply) as stub:
        assert score(made(judges.TrajectoryLLMAsJudge, stub)).status == "scorer_error"


@peers
@pytest.mark.parametrize(
    ("judge", "output", "item", "part"),
    [
        (judges.TrajectoryLLMAsJudge, Output(text="x"), ITEM, "no messages"),
        (judges.TrajectoryLLMAsJudge, Output(messages="x"), ITEM, "not a list"),
        (judges.TrajectoryLLMAsJudge, ANSWER, Example(id=1), "no reference_tool_calls"),
        (judges.OpenevalsLLMAsJudge, Output(), ITEM, "no text"),
        (judges.OpenevalsLLMAsJudge, ANSWER, Example(id=1, input="q"), "'reference_outputs'"),
        (judges.OpenevalsLLMAsJudge, ANSWER, Example(id=1, reference="r"), "'inputs'"),
        (judges.GraphTrajectoryLLMAsJudge, Output(messages=MESSAGES), ITEM, "no graph trajectory"),
    ],
)
def test_what_is_missing_is_never_judged(
    judge: type[judges.EndpointJudge], output: Output, item: Example, part: str
) -> None:
    with running_stub(lambda _: verdict(True)) as stub:
        found = score(made(judge, stub), output, item)
        assert stub.requests == []
    assert found.status == "unscored"
    assert part in (found.message or "")


@peers
def test_prompts_of_ones_own_take_what_they_name() -> None:
    prompt = 'Given {inputs}, is {outputs} kind to {whom}? Write {{"score": ...}}.'
    with running_stub(lambda _: verdict(True)) as stub:
        scorer = made(judges.OpenevalsLLMAsJudge, stub, prompt=prompt, arguments={"whom": "{her}"})
        assert score(scorer, item=Example(id=1, input="a {brace}")).score == 1
        asked = stub.requests[0].prompt
    assert asked == 'Given a {brace}, is an answer kind to {her}? Write {"score": ...}.'
    for stray in ["{", "a {} b", '{"score": 1}', "{a.b}"]:
        with pytest.raises(ScorerError, match="literal braces"):
            made(judges.OpenevalsLLMAsJudge, stub, prompt=stray)


@peers
def test_the_graph_of_a_thread_is_found_with_its_inputs_and_reference() -> None:
    thread = {"inputs": ["go"], "outputs": {**GRAPH, "inputs": []}}
    item = Example(id=1, reference={**GRAPH, "steps": [["wanted"]]})
    with running_stub(lambda _: verdict(True)) as stub:
        assert score(
            made(judges.GraphTrajectoryLLMAsJudge, stub), Output(messages=thread), item
        ).passed
        prompt = stub.requests[0].prompt
    assert "['wanted']" in prompt
    assert "__start__" in prompt


@peers
def test_nothing_goes_anywhere_but_to_the_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    reached: list[Any] = []
    connect = socket.socket.connect
    monkeypatch.setattr(
        socket.socket, "connect", lambda self, to: (reached.append(to), connect(self, to))[1]
    )
    with running_stub(lambda _: {}) as tracing, running_stub(lambda _: verdict(True)) as stub:
        for prefix in ("LANGSMITH", "LANGCHAIN"):
            monkeypatch.setenv(f"{prefix}_TRACING", "true")
            monkeypatch.setenv(f"{prefix}_TRACING_V2", "true")
            monkeypatch.setenv(f"{prefix}_API_KEY", "ls-private")
            monkeypatch.setenv(f"{prefix}_ENDPOINT", tracing.base_url)
        from langsmith import utils

        utils.get_env_var.cache_clear()
        assert utils.tracing_is_enabled()
        try:
            for judge in JUDGES:
                assert score(made(judge, stub)).passed
            assert score(AgentevalsTrajectoryMatch()).passed
        finally:
            monkeypatch.undo()
            utils.get_env_var.cache_clear()
        assert tracing.requests == []
        assert len(stub.requests) == len(JUDGES)
        assert {port for _, port in reached} == {int(stub.base_url.split(":")[2].split("/")[0])}


@peers
@pytest.mark.parametrize("package", ["agentevals", "openevals"])
def test_a_match_says_how_it_was_made_and_leaves_its_input_alone(package: Any) -> None:
    messages = [{"role": "assistant", "tool_calls": [CALL]}]
    before = deepcopy(messages)
    scorer = AgentevalsTrajectoryMatch("superset", package=package)
    found = score(scorer, Output(messages=messages), Example(id=1, reference_tool_calls=[CALL]))
    assert messages == before
    assert found.passed is True
    assert found.criterion == "trajectory_superset_match"
    assert isinstance(found.details, dict)
    assert str(found.details["package"]).startswith(f"{package} 0.")
    assert found.details["swaps_arguments"] is (package == "agentevals")


@peers
@pytest.mark.parametrize(
    ("list_mode", "args_mode", "corrected", "published"),
    [
        ("subset", "subset", False, True),
        ("subset", "superset", True, False),
        ("unordered", "superset", True, False),
        ("unordered", "subset", False, False),
        ("superset", "superset", True, True),
        ("strict", "superset", True, True),
    ],
)
def test_swapped_arguments(
    list_mode: Any, args_mode: Any, corrected: bool, published: bool
) -> None:
    more = [{"role": "assistant", "tool_calls": [{"name": "f", "args": {"x": 1, "z": 2}}]}]
    less = [{"role": "assistant", "tool_calls": [CALL]}]
    for how, wanted in [("corrected", corrected), ("published", published)]:
        scorer = AgentevalsTrajectoryMatch(
            list_mode,
            tool_args_match_mode=args_mode,
            argument_modes=how,  # type: ignore[arg-type]
        )
        found = score(scorer, Output(messages=more), Example(id=1, reference_tool_calls=less))
        assert found.passed is wanted, how


@peers
def test_overrides_read_actual_and_reference_in_this_order() -> None:
    actual = [{"role": "assistant", "tool_calls": [{"name": "f", "args": {"x": 9}}]}]
    example = Example(id=1, reference_tool_calls=[CALL])
    for list_mode in ("unordered", "subset", "superset"):
        grown = AgentevalsTrajectoryMatch(
            list_mode,  # type: ignore[arg-type]
            tool_args_match_overrides={"f": lambda got, known: got["x"] > known["x"]},
        )
        assert score(grown, Output(messages=actual), example).passed is True
        by_key = AgentevalsTrajectoryMatch(
            list_mode,  # type: ignore[arg-type]
            tool_args_match_overrides={"f": ["x"]},
        )
        assert score(by_key, Output(messages=actual), example).passed is False


@peers
@pytest.mark.parametrize(
    ("messages", "reference", "status"),
    [
        (MESSAGES, None, "unscored"),
        (None, MESSAGES, "unscored"),
        ("text", MESSAGES, "unscored"),
        (MESSAGES, [CALL], "unscored"),
        ([{"role": "nobody", "content": ""}], MESSAGES, "scorer_error"),
        (["text"], MESSAGES, "scorer_error"),
    ],
)
def test_malformed_trajectories_get_a_status(messages: Any, reference: Any, status: str) -> None:
    item = Example(id=1, reference_tool_calls=reference)
    found = score(AgentevalsTrajectoryMatch(), Output(messages=messages), item)
    assert found.status == status
    assert found.message


@peers
def test_malformed_arguments_are_a_scorer_error() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{"}}
    broken = [{"role": "assistant", "tool_calls": [call]}]
    scorer = AgentevalsTrajectoryMatch("superset", tool_args_match_mode="ignore")
    found = score(scorer, Output(messages=broken), Example(id=1, reference_tool_calls=[CALL]))
    assert found.status == "scorer_error"
    assert "JSON" in (found.message or "")


@peers
def test_ready_evaluators_with_one_result_and_with_several() -> None:
    from openevals.exact import exact_match
    from openevals.json import create_json_match_evaluator
    from openevals.string import levenshtein_distance

    item = Example(id=1, reference={"a": 1, "b": 2})
    near = Output(text={"b": 3, "a": 1})
    assert score(AgentevalsScorer(exact_match), near, item).passed is False
    assert AgentevalsScorer(exact_match).name == "exact_match"
    text = score(
        AgentevalsScorer(levenshtein_distance), Output(text="abc"), Example(id=1, reference="axc")
    )
    assert text.score == pytest.approx(2 / 3)
    several = run_scorer(AgentevalsScorer(create_json_match_evaluator(), name="json"), near, item)
    assert {one.criterion: one.score for one in several} == {
        "json.json_match:a": 1.0,
        "json.json_match:b": 0.0,
    }
    by_class = judges.OpenevalsJSONMatch(settings={"aggregator": "average"})
    [average] = run_scorer(by_class, near, item)
    assert (average.criterion, average.score) == ("OpenevalsJSONMatch.json_match:average", 0.5)
    assert score(by_class, Output(text="a"), item).status == "unscored"


@peers
def test_a_graph_and_a_trajectory_through_the_ready_adapter() -> None:
    from agentevals.graph_trajectory.strict import graph_trajectory_strict_match
    from openevals import create_trajectory_match_evaluator

    graph = AgentevalsScorer(graph_trajectory_strict_match)
    item = Example(id=1, reference=GRAPH)
    assert score(graph, Output(text=GRAPH), item).passed is True
    assert score(graph, Output(text={**GRAPH, "steps": []}), item).passed is False
    assert score(graph, Output(text={}), item).status == "scorer_error"
    match = AgentevalsScorer(create_trajectory_match_evaluator(), compares="messages")
    assert score(match).passed is True
    assert match.name == "trajectory_match"


@peers
def test_ready_evaluators_that_send_something_are_refused() -> None:
    from agentevals.graph_trajectory.llm import create_graph_trajectory_llm_as_judge
    from agentevals.trajectory.llm import create_trajectory_llm_as_judge
    from openevals import create_llm_as_judge, exact_match_async
    from openevals.code.llm import create_code_llm_as_judge
    from openevals.json import create_json_match_evaluator
    from openevals.string import create_embedding_similarity_evaluator

    for evaluator in (
        create_graph_trajectory_llm_as_judge(model="openai:m"),
        create_trajectory_llm_as_judge(model="openai:m"),
        create_llm_as_judge(prompt="{outputs}", model="openai:m"),
        create_code_llm_as_judge(prompt="{outputs}", model="openai:m"),
        create_json_match_evaluator(rubric={"a": "good"}, model="openai:m"),
        create_embedding_similarity_evaluator(),
    ):
        with pytest.raises(ScorerError, match="sends data") as caught:
            AgentevalsScorer(evaluator)
        assert caught.value.code == "missing_endpoint"
    with pytest.raises(ScorerError, match="sync twin"):
        AgentevalsScorer(exact_match_async)


@peers
def test_a_rubric_needs_a_judge_and_asks_it() -> None:
    settings = {"rubric": {"a": "is it kind"}, "aggregator": "average"}
    with pytest.raises(ScorerError, match="judge_base_url"):
        judges.OpenevalsJSONMatch(settings=settings)
    with running_stub(lambda _: says('{"a": {"reasoning": "so", "score": true}}')) as stub:
        scorer = judges.OpenevalsJSONMatch(
            settings=settings, judge_base_url=stub.base_url, model="m"
        )
        [found] = run_scorer(scorer, Output(text={"a": "x"}), Example(id=1, reference={"a": "y"}))
        assert len(stub.requests) == 1
    assert found.score == 1


@peers
@pytest.mark.parametrize(
    ("keyword", "value"),
    [
        ("trajectory_match_mode", "superst"),
        ("tool_args_match_mode", "exactly"),
        ("package", "other"),
        ("argument_modes", "both"),
    ],
)
def test_modes_are_checked(keyword: str, value: Any) -> None:
    with pytest.raises(ScorerError, match=value):
        AgentevalsTrajectoryMatch(**{keyword: value})


@peers
@pytest.mark.parametrize("choices", [[], [1], [1, 1]])
def test_choices_are_several(choices: list[float]) -> None:
    with pytest.raises(ScorerError, match="choices"):
        judges.OpenevalsLLMAsJudge(choices=choices, judge_base_url="http://[::1]/v1", model="m")


@peers
def test_a_judge_inside_something_else_is_refused_too() -> None:
    from openevals import create_llm_as_judge

    judge = create_llm_as_judge(prompt="{outputs}", model="openai:m")

    class Holder:
        def __init__(self) -> None:
            self.judge = judge

        def __call__(self, **given: Any) -> Any:
            return self.judge(**given)

        def evaluate(self, **given: Any) -> Any:
            return self.judge(**given)

    for evaluator in (partial(judge), lambda **given: judge(**given), Holder(), Holder().evaluate):
        with pytest.raises(ScorerError, match="sends data"):
            AgentevalsScorer(evaluator)


@peers
def test_a_function_of_ones_own_may_call_its_variables_as_it_likes() -> None:
    def with_model(model: Any) -> Any:
        return lambda outputs, **_: model(outputs)

    assert score(AgentevalsScorer(with_model(len)), Output(text="a")).score == 1


class Later:
    async def __call__(self, **_: Any) -> bool:
        return True


@peers
@pytest.mark.parametrize(
    ("evaluator", "options", "part"),
    [
        ("exact_match", {}, "evaluator is 'exact_match'; it must be a function"),
        (None, {}, "evaluator is None"),
        (Later, {}, "it must be a function"),
        (Later(), {}, "is async"),
        (len, {"compares": "message"}, "compares is 'message'; it must be one of 'answer'"),
        (len, {"arguments": 3}, "arguments is 3"),
    ],
)
def test_what_cannot_evaluate_is_refused(evaluator: Any, options: Any, part: str) -> None:
    with pytest.raises(ScorerError, match=part):
        AgentevalsScorer(evaluator, **options)


@peers
def test_no_result_of_a_list_in_a_list_is_lost() -> None:
    def several(**_: Any) -> Any:
        return [{"key": "a", "score": 1}, [{"key": "b", "score": 0}, {"key": "a", "score": None}]]

    found = run_scorer(AgentevalsScorer(several), ANSWER, ITEM)
    assert [(one.criterion.rpartition(".")[2], one.score) for one in found] == [
        ("a", 1.0),
        ("b", 0.0),
        ("a#2", None),
    ]


@peers
@pytest.mark.parametrize(
    ("overrides", "part"),
    [
        ({"f": "exactly"}, r"tool_args_match_overrides\['f'\] is 'exactly'"),
        ({"f": 3}, "it must be a mode, a list of dotted keys, or a function"),
        (["f"], "it must be a dict from the name of a tool"),
    ],
)
def test_overrides_are_checked(overrides: Any, part: str) -> None:
    with pytest.raises(ScorerError, match=part):
        AgentevalsTrajectoryMatch(tool_args_match_overrides=overrides)


@peers
@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"choices": "ab"}, "two different numbers"),
        ({"choices": [0, float("nan")]}, "two different numbers"),
        ({"choices": [0, 1], "continuous": True}, "both given"),
        ({"prompt": len}, "prompt is a builtin_function_or_method"),
        ({"settings": {"use_resoning": True}}, "use_resoning"),
        ({"settings": {"judge": object()}}, "settings of OpenevalsLLMAsJudge hold 'judge'"),
    ],
)
def test_what_no_judge_can_be_made_of_is_refused(options: Any, part: str) -> None:
    with pytest.raises(ScorerError, match=part):
        judges.OpenevalsLLMAsJudge(judge_base_url="http://[::1]/v1", model="m", **options)


@peers
@pytest.mark.parametrize(
    ("settings", "part"),
    [
        ({"aggregator": "mean"}, "it must be one of None, 'average', 'all'"),
        ({"list_aggregator": None}, "it must be one of 'all', 'average'"),
        ({"list_match_mode": "some"}, "it must be one of 'same_elements'"),
        ({"keys": []}, "cannot be made with these settings"),
    ],
)
def test_settings_of_the_json_match_are_checked(settings: Any, part: str) -> None:
    with pytest.raises(ScorerError, match=part):
        judges.OpenevalsJSONMatch(settings=settings)


AVERAGE: dict[str, Any] = {"aggregator": "average"}
BOTH: dict[str, Any] = {"aggregator": "average", "list_aggregator": "average"}


@peers
@pytest.mark.parametrize(
    ("output", "reference", "settings", "value"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, AVERAGE, 0.5),
        ('{"a": 1, "b": 2}', {"a": 1, "b": 3}, AVERAGE, 0.5),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, {"aggregator": "all"}, 0.0),
        ({"a": 1}, {"a": 1, "b": 3}, AVERAGE, 0.5),
        ({"a": 1, "z": 9}, {"a": 1}, AVERAGE, 0.5),
        ({"a": 1, "z": 9}, {"a": 1}, {**AVERAGE, "exclude_keys": ["z"]}, 1.0),
        ([{"a": 1, "b": 2}, {"a": 3, "b": 4}], [{"a": 1, "b": 2}, {"a": 3, "b": 5}], BOTH, 0.75),
        ([{"a": 1, "b": 2}], [{"a": 1, "b": 3}], AVERAGE, 0.0),
        ([{"a": 1}, {"a": 2}], [{"a": 2}, {"a": 1}], {**BOTH, "list_match_mode": "ordered"}, 0.0),
        ([{"a": 1}, {"a": 2}], [{"a": 2}, {"a": 1}], BOTH, 1.0),
        ([{"a": 1}, {"a": 2}], [{"a": 2}], {**BOTH, "list_match_mode": "superset"}, 1.0),
        ([{"a": 2}], [{"a": 2}, {"a": 1}], {**BOTH, "list_match_mode": "subset"}, 1.0),
        ([], [{"a": 1}], {**BOTH, "list_match_mode": "superset"}, 0.0),
        ({}, {}, AVERAGE, 0.0),
        ({}, {"a": None}, AVERAGE, 0.0),
        ([{"a": 1, "b": 1}, {"a": 1, "b": 2}], [{"a": 1, "b": 2}, {"a": 1, "b": 9}], BOTH, 0.5),
    ],
)
def test_json_match_gives_the_published_values(
    output: Any, reference: Any, settings: Any, value: float
) -> None:
    """Obtained by running openevals 0.2.2, its greedy pairing of lists included."""
    scorer = judges.OpenevalsJSONMatch(settings=settings)
    assert score(scorer, Output(text=output), Example(id=1, reference=reference)).score == value


@peers
@pytest.mark.parametrize(("output", "reference"), [([1], [{}]), ("a", {}), ({}, []), ([], {})])
def test_what_has_no_keys_is_not_matched_by_key(output: Any, reference: Any) -> None:
    scorer = judges.OpenevalsJSONMatch()
    found = score(scorer, Output(text=output), Example(id=1, reference=reference))
    assert found.status == "unscored"
    assert "JSON object" in (found.message or "")


@peers
@pytest.mark.parametrize(
    ("name", "output", "reference", "value"),
    [
        ("exact_match", {"a": 1, "b": 2}, {"b": 2, "a": 1}, 1),
        ("exact_match", 1, 1.0, 0),
        ("exact_match", {"a": 1}, '{"a": 1}', 0),
        ("levenshtein_distance", "hello wrld", "hello world", 0.9090909090909091),
        ("levenshtein_distance", "kitten", "sitting", 0.5714285714285714),
        ("levenshtein_distance", "", "", 1.0),
    ],
)
def test_text_evaluators_of_openevals(name: str, output: Any, reference: Any, value: float) -> None:
    from openevals.exact import exact_match
    from openevals.string import levenshtein_distance

    evaluator = {"exact_match": exact_match, "levenshtein_distance": levenshtein_distance}[name]
    found = score(
        AgentevalsScorer(evaluator), Output(text=output), Example(id=1, reference=reference)
    )
    assert found.score == value
    assert found.passed is (bool(value) if name == "exact_match" else None)


HERE = {
    "create_code_llm_as_judge": "OpenevalsCodeLLMAsJudge",
    "create_graph_trajectory_llm_as_judge": "GraphTrajectoryLLMAsJudge",
    "create_json_match_evaluator": "OpenevalsJSONMatch",
    "create_llm_as_judge": "OpenevalsLLMAsJudge",
    "create_trajectory_llm_as_judge": "TrajectoryLLMAsJudge",
    "create_trajectory_match_evaluator": "AgentevalsTrajectoryMatch",
    "exact_match": "ExactMatch",
    "graph_trajectory_strict_match": "GraphTrajectoryStrictMatch",
    "levenshtein_distance": "Levenshtein",
    "trajectory_strict_match": "TrajectoryStrictMatch",
    "trajectory_subset": "TrajectorySubsetMatch",
    "trajectory_superset": "TrajectorySupsetMatch",
    "trajectory_unordered_match": "TrajectoryUnorderedMatch",
    # Replaced: there the raw cosine, rounded to two decimals, of vectors from an address that
    # langchain chooses.
    "create_embedding_similarity_evaluator": "EmbeddingSimilarity",
    # Type checkers that run here: any evaluator that sends nothing goes through as it is.
    "create_mypy_evaluator": "AgentevalsScorer",
    "create_pyright_evaluator": "AgentevalsScorer",
}
"""Every evaluator of agentevals and openevals, and what stands for it in this library."""

NO_EVALUATORS = {
    "create_llm_simulated_user",  # talks to the system instead of judging it
    "extract_langgraph_trajectory_from_snapshots",
    "extract_langgraph_trajectory_from_thread",
    "run_multiturn_simulation",
}
REFUSED = {"create_e2b_execution_evaluator", "create_e2b_pyright_evaluator"}
"""They send the code to a service elsewhere, and need a package that is not installed here."""


@peers
def test_every_evaluator_of_the_packages_is_known() -> None:
    import evaltoolkit.scorers

    there: set[str] = set()
    for package in ("agentevals", "openevals"):
        for module in walk_packages(import_module(package).__path__, f"{package}."):
            if ".e2b" in module.name or "test" in module.name:
                continue
            for name, value in vars(import_module(module.name)).items():
                is_own = getattr(value, "__module__", "") == module.name
                if isfunction(value) and is_own and not name.startswith("_"):
                    there.add(name)
    no_twins = {name for name in there if "async" not in name and not name.startswith("aextract")}
    # The inner scorers give a bare number to the evaluators of the same module.
    evaluators = {name for name in no_twins if not name.endswith("_scorer")} - NO_EVALUATORS
    assert evaluators == set(HERE)
    assert set(HERE.values()) <= set(evaltoolkit.scorers.__all__)


@peers
@pytest.mark.filterwarnings("ignore:trajectory_:DeprecationWarning")
def test_older_trajectory_functions_go_through_as_they_are() -> None:
    """They ignore the arguments, but for the strict one."""
    from agentevals.trajectory.strict import trajectory_strict_match
    from agentevals.trajectory.subset import trajectory_subset
    from agentevals.trajectory.superset import trajectory_superset
    from agentevals.trajectory.unordered import trajectory_unordered_match

    other = [{"role": "assistant", "tool_calls": [{"name": "f", "args": {"x": 9}}]}]
    item = Example(id=1, reference_tool_calls=[{"role": "assistant", "tool_calls": [CALL]}])
    for evaluator, passed in (
        (trajectory_subset, True),
        (trajectory_superset, True),
        (trajectory_unordered_match, True),
        (trajectory_strict_match, False),
    ):
        scorer = AgentevalsScorer(evaluator, compares="messages")
        assert score(scorer, Output(messages=other), item).passed is passed


@peers
def test_a_type_checker_of_openevals_runs_here(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mypy")
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    from openevals.code.mypy import create_mypy_evaluator

    scorer = AgentevalsScorer(create_mypy_evaluator(), name="mypy")
    found = score(scorer, Output(text='x: int = "a"\n'), Example(id=1, reference="x = 1"))
    assert (found.criterion, found.passed) == ("mypy", False)
    assert "Incompatible types" in (found.message or "")
