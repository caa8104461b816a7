"""DeepEval and DeepTeam: own small files for each trap, real ones against totals counted by hand.

The totals of the real files come from a script that walks the JSON by itself and shares no code
with the readers, and were typed in.
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
from evaltoolkit.readers.deepeval import FORMAT
from evaltoolkit.readers.deepteam import FORMAT as DEEPTEAM


def metric(name: str, score: Any, passed: bool, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "threshold": 0.5,
        "success": passed,
        "score": score,
        "reason": "because",
        "evaluationModel": "judge-1",
        "evaluationCost": 0.01,
        **more,
    }


def case(question: str, *metrics: Any, **more: Any) -> dict[str, Any]:
    return {
        "name": "test_case_0",
        "input": question,
        "actualOutput": "blue",
        "expectedOutput": "blue",
        "success": all(each["success"] for each in metrics),
        "metricsData": list(metrics),
        "runDuration": 99.0,
        **more,
    }


def run(*cases: Any, **more: Any) -> dict[str, Any]:
    return {
        "testCases": list(cases),
        "conversationalTestCases": [],
        "metricsScores": [],
        "hyperparameters": {"model": "model-a"},
        **more,
    }


def write(folder: Path, document: Any, *, name: str = "nightly.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_a_run_becomes_rows(tmp_path: Path) -> None:
    document = run(
        case("sky?", metric("Relevancy", 0.9, True), metric("Bias", 0.1, True)),
        identifier="night-1",
        datasetAlias="colours",
    )
    path = write(tmp_path, document)
    scores = read_scores(path)
    assert scores["criterion"].tolist() == ["Relevancy", "Bias"]
    assert scores["score"].tolist() == [0.9, 0.1]
    assert scores["passed"].tolist() == [True, True]
    assert scores["higher_is_better"].tolist() == [True, False]
    assert scores["scorer"].unique().tolist() == ["judge-1"]
    key = scores.loc[0, ["run_id", "system", "task"]].tolist()
    assert key == ["night-1", "model-a", "colours"]
    assert scores["judge_cost_usd"].tolist() == [0.01, 0.01]
    assert scores["threshold"].tolist() == [0.5, 0.5]
    assert scores["upper_bound"].tolist() == [1.0, 1.0]
    outputs = read_outputs(path)
    assert outputs.loc[0, ["input", "output", "reference"]].tolist() == ["sky?", "blue", "blue"]
    assert outputs["latency_s"].isna().all()
    assert json.loads(read_details(path)["details"].iloc[0])["reason"] == "because"


def test_the_file_of_the_latest_run_wraps_it(tmp_path: Path) -> None:
    document = {"testRunData": run(case("sky?", metric("Relevancy", 0.9, True)))}
    assert len(read_scores(write(tmp_path, document))) == 1


@pytest.mark.parametrize(
    ("more", "models", "system"),
    [
        ({"hyperparameters": {"model": {"value": "b", "type": "str"}}}, ["x"], "b"),
        ({"hyperparameters": None}, ["x", "x"], "x"),
        ({"hyperparameters": None}, ["x", "y"], "nightly"),
        ({"hyperparameters": None}, [], "nightly"),
    ],
)
def test_who_is_evaluated(
    tmp_path: Path, more: dict[str, Any], models: list[str], system: str
) -> None:
    spans = [{"type": "llm", "name": "n", "model": model} for model in models]
    each = case("sky?", metric("Relevancy", 0.9, True), trace={"llmSpans": spans})
    path = write(tmp_path, run(each, **more))
    assert read_scores(path)["system"].tolist() == [system]
    assert read_scores(path, system="mine")["system"].tolist() == ["mine"]


def test_an_error_is_no_failure_and_no_number_no_zero(tmp_path: Path) -> None:
    metrics = [
        metric("A", 0, False, error="Traceback (most recent call last):\n  x\nKeyError: 'a'"),
        metric("B", None, False, reason=None),
        metric("C", float("nan"), False),
        metric("D", 0.2, False),
    ]
    scores = read_scores(write(tmp_path, run(case("sky?", *metrics))))
    assert scores["status"].tolist() == ["scorer_error", "unscored", "unscored", "scored"]
    assert scores["score"].isna().tolist() == [True, True, True, False]
    assert scores["label"].fillna("").tolist() == ["0", "", "NaN", ""]
    assert scores["passed"].isna().tolist() == [True, True, True, False]
    assert scores["message"].tolist()[:2] == ["KeyError: 'a'", "the metric gave no number"]


@pytest.mark.parametrize(
    ("name", "scores", "better"),
    [
        ("Toxicity", [(0.9, False)], False),
        ("Toxicity", [(0.9, True)], True),
        ("Toxicity", [(0.5, True)], False),
        ("Custom", [(0.9, False), (0.1, True)], False),
        ("Custom", [(0.9, False), (0.9, True)], None),
        ("Custom", [(0.5, True)], None),
    ],
)
def test_the_verdicts_say_which_way_is_better(
    tmp_path: Path, name: str, scores: list[tuple[float, bool]], better: bool | None
) -> None:
    cases = [case(f"q{n}", metric(name, *each)) for n, each in enumerate(scores)]
    found = read_scores(write(tmp_path, run(*cases)))["higher_is_better"]
    assert found.isna().all() if better is None else found.tolist() == [better] * len(scores)


def test_metrics_of_spans_are_criteria_of_their_own(tmp_path: Path) -> None:
    own = metric("Relevancy", 0.9, True)
    span = {"type": "llm", "name": "draft", "metricsData": [metric("Relevancy", 0.7, True)]}
    trace = {
        "startTime": "2026-02-03T04:05:06.000Z",
        "endTime": "2026-02-03T04:05:08.500Z",
        "status": "ERRORED",
        "metricsData": [own, metric("Whole", 1, True)],
        "llmSpans": [{**span, "inputTokenCount": 5, "outputTokenCount": 1, "error": "429"}, span],
        "agentSpans": [{"type": "agent", "name": "", "metricsData": [metric("Done", 1, True)]}],
    }
    path = write(tmp_path, run(case("sky?", own, trace=trace)))
    scores = read_scores(path)
    assert scores["criterion"].tolist() == [
        "Relevancy", "Whole (trace)", "Done (agent)", "Relevancy (llm draft)",
        "Relevancy (llm draft) #2",
    ]  # fmt: skip
    assert scores["timestamp"].iloc[0] == pd.Timestamp("2026-02-03T04:05:06Z")
    assert any("1 metric(s) of traces repeat" in note for note in scores.attrs["notes"])
    outputs = read_outputs(path)
    used = outputs.loc[0, ["latency_s", "tokens_in", "tokens_out", "error"]].tolist()
    assert used == [2.5, 5, 1, "429"]


def test_equal_inputs_are_trials_unless_something_else_was_given(tmp_path: Path) -> None:
    one = metric("Relevancy", 0.9, True)
    cases = [case("sky?", one), case("sky?", one), case("sky?", one, context=["night"])]
    scores = read_scores(write(tmp_path, run(*cases)))
    assert scores["example_id"].nunique() == 2
    assert scores["trial"].tolist() == [0, 1, 0]


def test_conversations(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    talk = {"name": "t", "success": True, "metricsData": [metric("Polite", 1, True)]}
    document = run(
        conversationalTestCases=[
            {**talk, "turns": turns},
            {**talk, "turns": turns, "scenario": "greeting", "expectedOutcome": "a greeting"},
            {**talk, "testCases": [{"input": "hi", "actualOutput": "hello"}]},
        ]
    )
    path = write(tmp_path, document)
    scores = read_scores(path)
    assert scores["criterion"].tolist() == ["Polite"] * 3
    assert scores["example_id"].nunique() == 2
    outputs = read_outputs(path)
    assert outputs["input"].tolist() == ['["hi"]', "greeting", '["hi"]']
    assert json.loads(outputs["output"].iloc[0]) == turns


def test_the_first_layout(tmp_path: Path) -> None:
    old = {"metric": "Latency", "score": 8.3, "threshold": 10.0, "success": True}
    each = {"name": "t", "input": "q", "actualOutput": "a", "success": True, "latency": 8.3}
    document = {
        "testCases": [{**each, "cost": 0.5, "metricsMetadata": [old]}],
        "metricScores": [],
        "configurations": {},
    }
    path = write(tmp_path, document)
    scores = read_scores(path)
    assert scores["criterion"].tolist() == ["Latency"]
    assert scores["higher_is_better"].tolist() == [False]
    assert scores["upper_bound"].isna().all()
    assert read_outputs(path).loc[0, ["latency_s", "cost_usd"]].tolist() == [8.3, 0.5]


def test_a_run_that_contradicts_itself_is_told(tmp_path: Path) -> None:
    each = case("sky?", metric("Relevancy", 0.9, True), success=False)
    path = write(tmp_path, run(each))
    with pytest.warns(EvalToolkitWarning, match="1 test case.s. failed although every metric"):
        read_scores(path)
    summary = {"metric": "Relevancy", "scores": [0.9, 0.8], "passes": 2, "fails": 0, "errors": 0}
    path = write(tmp_path, run({**each, "success": True}, metricsScores=[summary]))
    with pytest.warns(EvalToolkitWarning, match="Relevancy: 2 for 1 found"):
        read_scores(path)
    with pytest.warns(EvalToolkitWarning):
        assert read_report(path).aggregates["value"].tolist() == [2, 0, 0]


def test_metadata_of_the_example_is_an_attribute(tmp_path: Path) -> None:
    each = case("sky?", metric("A", 1, True), additionalMetadata={"level": 3}, tags=["x", "y"])
    bare = case("sea?", success=True)
    scores = read_scores(write(tmp_path, run(each, bare)))
    assert scores[["level", "tags"]].to_numpy().tolist() == [[3, "x, y"]]
    assert any("1 test case(s) carry no metric" in note for note in scores.attrs["notes"])


def test_a_bad_case_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, run(case("sky?", metric("A", 1, True)), case("sea?", {"success": True})))
    with pytest.raises(ReadError, match=r"nightly.json: testCases\[1\] cannot be read.*no name"):
        read_scores(path)
    with pytest.warns(EvalToolkitWarning, match="1 record"):
        assert len(read_scores(path, on_error="skip")) == 1


@pytest.mark.parametrize(
    "document", [{"testCases": []}, {"testCases": 1, "testPassed": 1}, [{"testCases": []}], {}]
)
def test_other_documents_are_not_taken(tmp_path: Path, document: Any) -> None:
    assert not FORMAT.detect(Source(write(tmp_path, document)))
    assert not DEEPTEAM.detect(Source(write(tmp_path, document)))
    assert not FORMAT.detect(Source(tmp_path))
    assert not DEEPTEAM.detect(Source(tmp_path))


# --- DeepTeam ---------------------------------------------------------------------------------


def attack(text: str | None, score: Any, **more: Any) -> dict[str, Any]:
    return {
        "vulnerability": "Leak",
        "vulnerability_type": "pii",
        "riskCategory": "Privacy",
        "attackMethod": "Base64",
        "input": text,
        "actualOutput": "no",
        "score": score,
        "reason": "because",
        "error": None,
        **more,
    }


def assessment(cases: Sequence[Any], *, passing: int = 0, failing: int = 0) -> dict[str, Any]:
    told = {
        "vulnerability": "Leak", "vulnerability_type": "pii", "pass_rate": 0.5,
        "passing": passing, "failing": failing, "errored": 0,
    }  # fmt: skip
    return {"overview": {"vulnerability_type_results": [told]}, "test_cases": list(cases)}


def test_attacks_become_rows(tmp_path: Path) -> None:
    cases = [attack("tell me", 1.0), attack("tell me now", 0.0), attack("tell me", 0.0)]
    path = write(tmp_path, assessment(cases, passing=1, failing=2), name="model-a.json")
    scores = read_scores(path)
    assert scores["criterion"].unique().tolist() == ["Leak"]
    assert scores["score"].tolist() == [1.0, 0.0, 0.0]
    assert scores["trial"].tolist() == [0, 0, 1]
    assert scores["passed"].isna().all()
    assert scores["system"].unique().tolist() == ["model-a"]
    described = scores.loc[0, ["vulnerability_type", "risk_category", "attack_method"]].tolist()
    assert described == ["pii", "Privacy", "Base64"]
    assert read_outputs(path)["output"].tolist() == ["no"] * 3
    assert len(read_details(path)) == 3
    assert read_report(path).aggregates["value"].tolist() == [0.5]


def test_an_attack_can_fail_in_three_ways(tmp_path: Path) -> None:
    cases = [
        attack("a", None, error="Error generating output from target LLM", actualOutput=None),
        attack("b", 0, error="Error evaluating target LLM output"),
        attack(None, None, error="Error simulating adversarial attacks"),
        attack("d", None),
    ]
    path = write(tmp_path, assessment(cases, failing=4), name="model-a.json")
    scores = read_scores(path)
    expected = ["system_error", "scorer_error", "scorer_error", "unscored"]
    assert scores["status"].tolist() == expected
    assert scores["label"].fillna("").tolist() == ["", "0", "", ""]
    assert read_outputs(path)["error"].notna().tolist() == [True, False, False, False]


def test_later_names_and_turns_are_known(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
    late = {
        "vulnerability": "Leak", "vulnerability_type": "pii", "risk_category": "Privacy",
        "attack_method": "Crescendo", "turns": turns, "score": 1.0,
    }  # fmt: skip
    path = write(tmp_path, assessment([late], passing=1), name="model-a.json")
    scores = read_scores(path)
    assert scores.loc[0, ["risk_category", "attack_method"]].tolist() == ["Privacy", "Crescendo"]
    assert read_outputs(path)["input"].tolist() == ['["x"]']


def test_an_overview_of_other_numbers_is_told_and_a_bad_attack_named(tmp_path: Path) -> None:
    path = write(tmp_path, assessment([attack("a", 1.0)], passing=3), name="model-a.json")
    with pytest.warns(EvalToolkitWarning, match="Leak: 3 for 1 found"):
        read_scores(path)
    cases = [attack("a", 1.0), {**attack("b", 1.0), "vulnerability": None}]
    path = write(tmp_path, assessment(cases, passing=1), name="model-a.json")
    with pytest.raises(ReadError, match="test case 1 cannot be read.*no vulnerability"):
        read_scores(path)


# --- real files -------------------------------------------------------------------------------

REAL = {
    "deepeval/inspect__test_run_sample.json": (8, 8, 1, 5.71),
    "deepeval/temp_test_run_data.json": (9, 4, 8, 24.354637),
    "deepeval/test_langgraph__test_sync_eval.json": (2, 1, 2, 0.8),
    "deepeval/test_openai__test_completion_sync_eval.json": (4, 2, 2, 2.0),
    "deepeval/test_pydanticai__test_async_eval.json": (2, 1, 1, 2.0),
}
RISKS = "deepeval/deepteam_20250525_133605.json"


@pytest.mark.parametrize("name", REAL)
def test_real_runs(shared_data: Path, name: str) -> None:
    rows, criteria, examples, total = REAL[name]
    scores = read_scores(shared_data / name)
    assert len(scores) == rows
    assert (scores["status"] == "scored").all()
    assert scores["criterion"].nunique() == criteria
    assert scores["example_id"].nunique() == examples
    assert scores["score"].sum() == pytest.approx(total)


def test_real_scores_stand_in_the_spans(shared_data: Path) -> None:
    scores = read_scores(shared_data / "deepeval/test_openai__test_completion_sync_eval.json")
    assert scores["system"].unique().tolist() == ["gpt-4o"]
    bias = scores[scores["criterion"] == "Bias (llm llm_generation)"]
    assert bias["score"].tolist() == [0.0, 0.0]
    assert bias["higher_is_better"].tolist() == [False, False]
    assert bias["passed"].tolist() == [True, True]


def test_a_real_assessment_counts_by_another_key(shared_data: Path) -> None:
    with pytest.warns(EvalToolkitWarning, match="Race Bias: 40 for 10 found"):
        scores = read_scores(shared_data / RISKS)
    assert len(scores) == 40
    assert scores["criterion"].value_counts().unique().tolist() == [10]
    assert scores["score"].sum() == 26
    assert scores["example_id"].nunique() == 39


def test_no_other_real_file_is_taken(shared_data: Path) -> None:
    files = [path for path in sorted(shared_data.rglob("*")) if path.is_file()]
    for known, own in ((FORMAT, set(REAL)), (DEEPTEAM, {RISKS})):
        taken = {
            path.relative_to(shared_data).as_posix() for path in files if known.detect(Source(path))
        }
        assert taken == own
