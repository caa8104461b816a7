"""promptfoo: own small results for each trap, real ones against totals that were counted by hand.

The totals of the real files come from a script that walks the JSON by itself and shares no code
with the reader, and were typed in.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evaltoolkit.errors import EvalToolkitWarning, ReadError
from evaltoolkit.readers import read_details, read_outputs, read_report, read_scores
from evaltoolkit.readers.base import Source
from evaltoolkit.readers.promptfoo import FORMAT

EQUALS = {"type": "equals", "value": "blue", "metric": "Right"}
RUBRIC = {"type": "llm-rubric", "value": "is polite", "weight": 2, "threshold": 0.5}
SCRIPT = {"type": "javascript", "value": "output.length"}


def component(assertion: Any, score: Any, **more: Any) -> dict[str, Any]:
    told = {"pass": score == 1, "score": score, "reason": "because", **more}
    return told if assertion is None else {**told, "assertion": assertion}


def result(sky: str, *components: Any, **more: Any) -> dict[str, Any]:
    """One result with the given component gradings, as version 3 writes it."""
    scores = [float(part["score"]) for part in components]
    passed = all(part["pass"] for part in components)
    mean = sum(scores) / len(scores) if scores else 0
    return {
        "provider": {"id": "lab:model-a", "label": ""},
        "prompt": {"raw": f"What colour is {sky}?", "label": "What colour is {{sky}}?"},
        "promptIdx": 0,
        "promptId": "p0",
        "testIdx": 0,
        "vars": {"sky": sky},
        "testCase": {"vars": {"sky": sky}, "assert": [c.get("assertion", {}) for c in components]},
        "response": {
            "output": "blue",
            "tokenUsage": {"prompt": 7, "completion": 2},
            "cost": 0.25,
            "finishReason": "stop",
        },
        "success": passed,
        "score": mean,
        "failureReason": 0 if passed else 1,
        "error": None if passed else "because",
        "latencyMs": 1500,
        "cost": 0.25,
        "namedScores": {},
        "gradingResult": {
            "pass": passed,
            "score": mean,
            "reason": "because",
            "componentResults": list(components),
        },
        **more,
    }


def crashed(sky: str, **more: Any) -> dict[str, Any]:
    """One result of a provider that failed."""
    return {
        **result(sky),
        "testCase": {"vars": {"sky": sky}},
        "response": {"error": "429 too many"},
        "error": "429 too many",
        "success": False,
        "score": 0,
        "failureReason": 2,
        "gradingResult": None,
        "cost": 0,
        **more,
    }


def write(folder: Path, results: Sequence[Any], *, name: str = "out.json", **more: Any) -> Path:
    path = folder / name
    inner = {"version": 3, "timestamp": "2026-02-03T04:05:06.000Z", "results": list(results)}
    document = {"evalId": "eval-1", "results": {**inner, "prompts": [], "stats": {}, **more}}
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def by(scores: pd.DataFrame, criterion: str) -> dict[str, Any]:
    rows = scores[scores["criterion"] == criterion].to_dict("records")
    assert len(rows) == 1
    return {str(name): value for name, value in rows[0].items()}


def test_a_result_gives_the_whole_and_each_assertion(tmp_path: Path) -> None:
    path = write(tmp_path, [result("noon", component(EQUALS, 1), component(RUBRIC, 0.25))])
    scores = read_scores(path)
    assert scores["criterion"].tolist() == ["overall", "Right", "llm-rubric"]
    assert scores["score"].tolist() == [0.625, 1.0, 0.25]
    assert scores["passed"].tolist() == [False, True, False]
    assert scores["system"].unique().tolist() == ["lab:model-a"]
    assert scores["run_id"].unique().tolist() == ["eval-1"]
    assert scores["sky"].unique().tolist() == ["noon"]
    assert scores["source"].unique().tolist() == ["out.json: result 0"]
    assert scores["timestamp"].iloc[0] == pd.Timestamp("2026-02-03T04:05:06Z")
    assert by(scores, "llm-rubric")["weight"] == 2
    assert by(scores, "llm-rubric")["threshold"] == 0.5
    assert by(scores, "llm-rubric")["upper_bound"] == 1
    assert pd.isna(by(scores, "overall")["upper_bound"])
    outputs = read_outputs(path)
    assert outputs.loc[0, ["input", "output", "finish_reason"]].tolist() == [
        "What colour is noon?", "blue", "stop"
    ]  # fmt: skip
    used = outputs.loc[0, ["cost_usd", "tokens_in", "tokens_out", "latency_s"]].tolist()
    assert used == [0.25, 7, 2, 1.5]
    details = read_details(path)
    assert json.loads(details["details"].iloc[1])["assertion"] == EQUALS


def test_json_lines_are_the_same_without_a_run(tmp_path: Path) -> None:
    row = result("noon", component(EQUALS, 1))
    path = tmp_path / "out.jsonl"
    path.write_text(json.dumps({**row, "promptId": ""}) + "\n")
    scores = read_scores(path)
    assert scores["score"].tolist() == [1.0, 1.0]
    assert scores["run_id"].tolist() == ["", ""]
    assert scores["source"].iloc[0] == "out.jsonl: line 1"


def test_a_provider_error_is_no_wrong_answer(tmp_path: Path) -> None:
    rows = [result("noon", component(EQUALS, 1)), crashed("dusk", testIdx=1)]
    path = write(tmp_path, rows, stats={"successes": 1, "failures": 0, "errors": 1})
    scores = read_scores(path)
    lost = scores[scores["status"] == "system_error"]
    assert lost["criterion"].tolist() == ["overall", "Right"]
    assert lost["score"].isna().all()
    assert lost["label"].fillna("").tolist() == ["0", ""]
    assert lost["message"].unique().tolist() == ["429 too many"]
    outputs = read_outputs(path)
    assert outputs["error"].fillna("").tolist() == ["", "429 too many"]
    assert outputs["cost_usd"].isna().tolist() == [False, True]


def test_a_crash_is_counted_in_the_criteria_that_its_test_asks_for(tmp_path: Path) -> None:
    nested = {"type": "assert-set", "metric": "Both", "assert": [EQUALS, RUBRIC]}
    rows = [
        result("noon", component(SCRIPT, 1)),
        crashed("dusk", testIdx=1, testCase={"assert": [nested]}),
    ]
    scores = read_scores(write(tmp_path, rows))
    lost = scores[scores["status"] == "system_error"]
    assert lost["criterion"].tolist() == ["overall", "Both", "Right", "llm-rubric"]


def test_an_error_while_grading_is_not_the_systems(tmp_path: Path) -> None:
    row = crashed("noon", response={"output": "blue"}, error="TypeError: x is undefined")
    scores = read_scores(write(tmp_path, [row]))
    assert scores["status"].tolist() == ["scorer_error"]
    assert scores["message"].tolist() == ["TypeError: x is undefined"]


@pytest.mark.parametrize(
    ("reason", "metadata"),
    [
        ("Could not extract JSON from llm-rubric response", {}),
        ("llm-rubric produced malformed response: {", {}),
        ("API error: 401 Unauthorized", {}),
        ("No output", {}),
        ("the judge was away", {"graderError": True}),
    ],
)
def test_a_grader_that_failed_takes_the_whole_with_it(
    tmp_path: Path, reason: str, metadata: dict[str, Any]
) -> None:
    broken = component(RUBRIC, 0, reason=reason, metadata=metadata)
    scores = read_scores(write(tmp_path, [result("noon", component(EQUALS, 1), broken)]))
    assert scores["status"].tolist() == ["scorer_error", "scored", "scorer_error"]
    assert scores["label"].fillna("").tolist() == ["0.5", "", "0"]
    assert scores["passed"].isna().tolist() == [True, False, True]


def test_a_broken_assertion_without_weight_leaves_the_whole_alone(tmp_path: Path) -> None:
    script = {**SCRIPT, "weight": 0}
    broken = component(script, 0, reason="Custom function threw error: boom")
    scores = read_scores(write(tmp_path, [result("noon", component(EQUALS, 1), broken)]))
    assert scores["status"].tolist() == ["scored", "scored", "scorer_error"]


def test_an_assertion_that_left_no_result_is_missed(tmp_path: Path) -> None:
    whole = result("noon", component(EQUALS, 1), component(RUBRIC, 1))
    cut = result("noon", component(EQUALS, 1), promptIdx=1, testCase=whole["testCase"])
    cut["provider"] = {"id": "lab:model-b"}
    scores = read_scores(write(tmp_path, [whole, cut]))
    missed = scores[scores["status"] == "scorer_error"]
    assert missed[["system", "criterion"]].to_numpy().tolist() == [["lab:model-b", "llm-rubric"]]


def test_a_script_may_return_any_number_of_parts(tmp_path: Path) -> None:
    many = component(SCRIPT, 1, componentResults=[component(None, 1), component(None, 0)])
    few = component(SCRIPT, 1, componentResults=[component(None, 1)])
    rows = [result("noon", many), result("noon", few, promptIdx=1, provider={"id": "b"})]
    scores = read_scores(write(tmp_path, rows))
    assert scores["criterion"].value_counts()["javascript"] == 2
    assert (scores["status"] == "scored").all()
    assert len(scores) == 7


def test_nothing_checked_is_nothing_measured(tmp_path: Path) -> None:
    row = result("noon", score=1, success=True, failureReason=0)
    row["gradingResult"] = {"pass": True, "score": 1, "reason": "No assertions"}
    scores = read_scores(write(tmp_path, [row]))
    assert scores[["status", "label"]].to_numpy().tolist() == [["unscored", "1"]]
    assert scores["passed"].isna().all()


def test_assertions_of_one_name_are_numbered(tmp_path: Path) -> None:
    parts = [
        component(SCRIPT, 3),
        component(SCRIPT, 4),
        component({**EQUALS, "metric": "overall"}, 1),
    ]
    scores = read_scores(write(tmp_path, [result("noon", *parts)]))
    names = ["overall", "javascript", "javascript 2", "overall (assertion)"]
    assert scores["criterion"].tolist() == names
    assert pd.isna(by(scores, "javascript")["upper_bound"])


@pytest.mark.parametrize("listed_again", [False, True])
def test_what_an_assert_set_holds_is_read_once(tmp_path: Path, listed_again: bool) -> None:
    inner = [component(EQUALS, 1), component(RUBRIC, 0.5)]
    outer = component({"type": "assert-set", "metric": "Both"}, 0.75, componentResults=inner)
    again = [{**part, "metadata": {"parentAssertSetIndex": 0}} for part in inner]
    scores = read_scores(write(tmp_path, [result("noon", outer, *(again if listed_again else []))]))
    assert scores["criterion"].tolist()[1:] == ["Both", "Right", "llm-rubric"]


def test_named_scores_of_no_assertion_are_criteria(tmp_path: Path) -> None:
    row = result("noon", component(EQUALS, 1), namedScores={"Right": 1, "Derived": 2.5})
    scores = read_scores(write(tmp_path, [row]))
    assert scores["criterion"].tolist() == ["overall", "Right", "Derived"]
    assert by(scores, "Derived")["score"] == 2.5


def test_gradings_that_name_no_assertion_take_those_of_the_test(tmp_path: Path) -> None:
    row = result("noon", component(None, 1), namedScores={"Harm": 1})
    row["testCase"] = {"assert": [{"type": "promptfoo:redteam:harmful", "metric": "Harm"}]}
    assert read_scores(write(tmp_path, [row]))["criterion"].tolist() == ["overall", "Harm"]
    row["testCase"] = {}
    names = read_scores(write(tmp_path, [row]))["criterion"].tolist()
    assert names == ["overall", "assertion", "Harm"]


def test_repeats_have_test_numbers_of_their_own(tmp_path: Path) -> None:
    rows = [
        result("noon", component(EQUALS, 0), testIdx=1),
        result("noon", component(EQUALS, 1), testIdx=0),
    ]
    scores = read_scores(write(tmp_path, rows))
    assert scores["example_id"].nunique() == 1
    assert scores["trial"].tolist() == [1, 1, 0, 0]
    assert any("in the order of their test numbers" in note for note in scores.attrs["notes"])


def test_one_input_checked_for_two_things_is_two_examples(tmp_path: Path) -> None:
    rows = [
        result("noon", component(EQUALS, 1), testIdx=0),
        result("noon", component({**EQUALS, "value": "red"}, 0), testIdx=1),
    ]
    scores = read_scores(write(tmp_path, rows))
    assert scores["example_id"].nunique() == 2
    assert scores["trial"].unique().tolist() == [0]


def test_what_promptfoo_fills_in_is_no_part_of_the_example(tmp_path: Path) -> None:
    rows = []
    for place, name in enumerate(("a", "b")):
        row = result("noon", component(EQUALS, 1), promptIdx=place, provider={"id": name})
        row["vars"] = {"sky": "noon", "_conversation": [name], "sessionId": name}
        rows.append(row)
    assert read_scores(write(tmp_path, rows))["example_id"].nunique() == 1


def test_a_column_is_a_system(tmp_path: Path) -> None:
    rows = []
    for place, (provider, prompt) in enumerate(
        [("a", "short"), ("a", "long"), ("b", "short"), ("b", "short")]
    ):
        row = result("noon", component(EQUALS, 1), promptIdx=place)
        row |= {"provider": {"id": f"x:{provider}", "label": provider}}
        row |= {"prompt": {"raw": prompt, "label": prompt}}
        rows.append(row)
    scores = read_scores(write(tmp_path, rows[::-1]))
    systems = sorted(scores["system"].unique())
    assert systems == ["a | long", "a | short", "b | short", "b | short #2"]
    assert scores.loc[scores["source"] == "out.json: result 0", "system"].iloc[0] == "b | short #2"


def test_old_versions_have_no_numbers_and_no_failure_reasons(tmp_path: Path) -> None:
    rows = []
    for prompt in ("Say {{sky}}", "Tell {{sky}}"):
        row = result("noon", component(SCRIPT, 0))
        for name in ("promptIdx", "promptId", "testIdx", "testCase", "failureReason"):
            del row[name]
        row["provider"] = "lab:model-a" if "Tell" in prompt else {"id": "lab:model-a"}
        row["prompt"] = {"raw": "filled in", "display": prompt}
        rows.append(row)
    broken = {**rows[0], "vars": {"sky": "dusk"}, "error": "timeout", "response": None}
    rows.append({**broken, "gradingResult": None, "success": False, "score": 0})
    scores = read_scores(write(tmp_path, rows, version=2))
    assert scores["system"].unique().tolist() == [
        "lab:model-a | Say {{sky}}", "lab:model-a | Tell {{sky}}"
    ]  # fmt: skip
    assert scores["status"].tolist() == ["scored"] * 4 + ["system_error"] * 2


def test_a_person_is_a_scorer(tmp_path: Path) -> None:
    row = result("noon", component(EQUALS, 1))
    row["manualGrading"] = {"pass": False, "score": 0, "reason": "rude"}
    scores = read_scores(write(tmp_path, [row]))
    human = scores[scores["scorer"] == "human"]
    assert human[["criterion", "score", "message"]].to_numpy().tolist() == [
        ["overall", 0.0, "rude"]
    ]


def test_cost_and_time_of_the_cache_are_not_the_systems(tmp_path: Path) -> None:
    row = result("noon", component(EQUALS, 1))
    row["response"]["cached"] = True
    outputs = read_outputs(write(tmp_path, [row]))
    assert outputs[["cost_usd", "latency_s"]].isna().to_numpy().all()
    assert any("1 answer(s) came from the cache" in note for note in outputs.attrs["notes"])


def test_a_conversation_is_a_cluster(tmp_path: Path) -> None:
    row = result("noon", component(EQUALS, 1))
    row["testCase"]["metadata"] = {"conversationId": "c1", "level": "easy"}
    scores = read_scores(write(tmp_path, [row]))
    assert scores["cluster"].unique().tolist() == ["c1"]
    assert scores["level"].unique().tolist() == ["easy"]


def test_counts_that_disagree_are_told(tmp_path: Path) -> None:
    path = write(tmp_path, [result("noon", component(EQUALS, 1))], stats={"successes": 2})
    with pytest.warns(EvalToolkitWarning, match="2 successes for 1 found"):
        read_scores(path)


def test_the_report_says_that_the_score_is_a_sum(tmp_path: Path) -> None:
    metrics = {
        "score": 1, "testPassCount": 1, "namedScores": {"Right": 1}, "namedScoresCount": {}
    }  # fmt: skip
    path = write(
        tmp_path, [result("noon", component(EQUALS, 1))], prompts=[{"metrics": metrics}, {}]
    )
    told = read_report(path).aggregates
    assert told["metric"].tolist() == ["sum", "testPassCount", "sum"]
    assert told["criterion"].tolist() == ["overall", "overall", "Right"]


def test_a_bad_result_is_named(tmp_path: Path) -> None:
    bad = [{**result("noon"), "vars": "noon"}, 7]
    path = write(tmp_path, [result("noon", component(EQUALS, 1)), *bad])
    with pytest.raises(ReadError, match=r"out.json: result 1 cannot be read.*vars"):
        read_scores(path)
    with pytest.warns(EvalToolkitWarning, match="2 record"):
        assert len(read_scores(path, on_error="skip")) == 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("out.csv", 'sky,[lab:model-a] What?\nnoon,"[PASS] (0.63)\n\nblue"\n'),
        ("out.xml", "<promptfoo>\n  <evalId>eval-1</evalId>\n</promptfoo>\n"),
    ],
)
def test_lossy_exports_are_refused(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ReadError, match="export json"):
        read_scores(path)
    write(tmp_path, [result("noon", component(EQUALS, 1))])
    scores = read_scores(tmp_path)
    assert len(scores) == 2
    assert "export json" in scores.attrs["skipped"][0]["reason"]


@pytest.mark.parametrize(
    "document",
    [
        {"results": [{"provider": 1, "prompt": 1, "vars": {}}]},
        {"results": {"results": [{"score": 1}]}},
        {"results": {"acc": 1}},
        {"results": {"results": []}},
        [],
    ],
)
def test_other_documents_are_not_taken(tmp_path: Path, document: Any) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(document))
    assert not FORMAT.detect(Source(path))
    assert not FORMAT.detect(Source(tmp_path))


# --- real files -------------------------------------------------------------------------------

GENERATED = ["promptfoo/generated/out.json", "promptfoo/generated/out.jsonl"]
OLD = "promptfoo/v1_europa.json"
BY_HAND = "promptfoo/v1_smoke.scored.json"
REFUSED = ["promptfoo/generated/out.csv", "promptfoo/generated/out.xml"]


def counts(scores: pd.DataFrame) -> dict[str, int]:
    return {str(k): int(n) for k, n in scores["status"].value_counts().items() if n}


@pytest.mark.parametrize("name", GENERATED)
def test_a_real_run_of_two_providers_and_prompts(shared_data: Path, name: str) -> None:
    scores = read_scores(shared_data / name)
    assert len(scores) == 256
    assert counts(scores) == {"scored": 240, "system_error": 16}
    assert scores["system"].nunique() == 4
    assert scores["example_id"].nunique() == 8
    assert scores["trial"].value_counts().to_dict() == {0: 128, 1: 128}
    assert sorted(scores["criterion"].unique()) == ["Accuracy", "Brevity", "javascript", "overall"]
    whole = scores[scores["criterion"] == "overall"]
    assert int(whole["passed"].sum()) == 36
    assert int((whole["passed"] == False).sum()) == 24  # noqa: E712 - missing is neither
    first = scores[scores["system"] == "gemini-2.5-pro | Question {{sample_id}}"]
    sums = first.groupby("criterion")["score"].sum().to_dict()
    assert sums == {"Accuracy": 10.0, "Brevity": 16.0, "javascript": 8.0, "overall": 12.5}
    lost = scores[scores["status"] == "system_error"]
    assert lost["message"].unique().tolist() == ["provider timeout (simulated)"]
    assert lost["sample_id"].unique().tolist() == [7]
    assert 0.625 in whole["score"].tolist()
    assert read_outputs(shared_data / name)["cost_usd"].sum() == pytest.approx(0.006)


def test_real_old_results(shared_data: Path) -> None:
    scores = read_scores(shared_data / OLD)
    assert len(scores) == 6
    assert counts(scores) == {"scored": 4, "unscored": 2}
    assert scores["system"].nunique() == 2
    assert scores["example_id"].nunique() == 2
    assert scores["score"].sum() == 0
    scores = read_scores(shared_data / BY_HAND)
    assert scores[["scorer", "score", "passed"]].to_numpy().tolist() == [["human", 1.0, True]]


@pytest.mark.parametrize("name", REFUSED)
def test_real_lossy_exports_are_refused(shared_data: Path, name: str) -> None:
    with pytest.raises(ReadError, match="export json"):
        read_scores(shared_data / name)


def test_no_other_real_file_is_taken(shared_data: Path) -> None:
    files = [path for path in sorted(shared_data.rglob("*")) if path.is_file()]
    taken = {
        path.relative_to(shared_data).as_posix() for path in files if FORMAT.detect(Source(path))
    }
    assert taken == {*GENERATED, OLD, BY_HAND, *REFUSED}
