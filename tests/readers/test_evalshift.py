"""EvalShift runs: pairs, placeholders, what was not measured, samples, suites, and real files."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evaltoolkit.errors import EvalToolkitWarning, ReadError, SchemaError
from evaltoolkit.readers import read_details, read_outputs, read_report, read_scores

STATE = {
    "run_id": "r1",
    "status": "completed",
    "config_hash": "c0ffee",
    "models": {"source": "old", "target": "new"},
    "suite_path": "suites/golden.jsonl",
    "evaluator_coverage": [],
    "skipped_evaluators": [],
}


def score(example: str = "e1", **changes: Any) -> dict[str, Any]:
    row = {
        "run_id": "r1", "prompt_id": "triage", "example_id": example,
        "evaluator_name": "structural.length", "kind": "structural", "source_score": 1.0,
        "target_score": 0.5, "delta": -0.5, "explanation": "", "metadata": {}, "error": None,
        "blocking": True,
    }  # fmt: skip
    return {**row, **changes}


def call(example: str = "e1", role: str = "source", **changes: Any) -> dict[str, Any]:
    row = {
        "run_id": "r1", "prompt_id": "triage", "example_id": example, "role": role,
        "model_id": f"model-{role}", "sample_index": 0, "text": f"text of {role}",
        "input_tokens": 10, "output_tokens": 5, "cost_usd": 0.01, "latency_ms": 1500,
        "cached": False, "cached_rounds": 0, "error": None, "trace": None, "finish_reason": "stop",
    }  # fmt: skip
    return {**row, **changes}


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Path]:
    """``run(scores, state=..., calls=..., suite=...)`` writes a run directory."""

    def write(
        scores: list[dict[str, Any]],
        *,
        state: dict[str, Any] | None = None,
        calls: list[dict[str, Any]] | None = None,
        suite: list[dict[str, Any]] | None = None,
    ) -> Path:
        folder = tmp_path / "project" / ".evalshift" / "runs" / "r1"
        folder.mkdir(parents=True)
        (folder / "scores.jsonl").write_text(lines(scores), "utf-8")
        (folder / "state.json").write_text(json.dumps({**STATE, **(state or {})}, indent=1))
        if calls is not None:
            (folder / "raw.jsonl").write_text(lines(calls), "utf-8")
        if suite is None:
            suite = [{"id": "e1", "tags": []}, {"id": "e2", "tags": []}]
        (tmp_path / "project" / "suites").mkdir()
        (tmp_path / "project" / "suites" / "golden.jsonl").write_text(lines(suite), "utf-8")
        return folder

    return write


Make = Callable[..., Path]


def cells(table: pd.DataFrame, *names: str) -> list[list[Any]]:
    return table[list(names)].values.tolist()


def test_a_row_becomes_a_row_of_each_side_versus_the_other(run: Make) -> None:
    table = read_scores(run([score(blocking=False)]))
    assert cells(table, "system", "versus", "score", "status") == [
        ["old", "new", 1.0, "scored"],
        ["new", "old", 0.5, "scored"],
    ]
    row = table.iloc[1]
    assert row[["run_id", "task", "example_id", "criterion", "scorer", "trial"]].tolist() == [
        "r1", "triage", "e1", "structural.length", "evalshift", 0,
    ]  # fmt: skip
    assert row[["blocking", "higher_is_better", "lower_bound", "upper_bound"]].tolist() == [
        False, True, 0.0, 1.0,
    ]  # fmt: skip
    assert row["source"].endswith("scores.jsonl: line 1")
    assert table.attrs["notes"] == []


def test_the_file_alone_gives_the_same_as_the_directory(run: Make) -> None:
    folder = run([score()], calls=[call()])
    whole = read_scores(folder)
    pd.testing.assert_frame_equal(read_scores(folder / "scores.jsonl"), whole)


def test_a_run_below_a_project_folder_is_read_once_and_as_one(run: Make) -> None:
    folder = run([score()], calls=[call()])
    with pytest.warns(EvalToolkitWarning, match=r"1 of 2 file\(s\).*golden.jsonl"):
        found = read_scores(folder.parents[2])
    pd.testing.assert_frame_equal(found, read_scores(folder))


@pytest.mark.parametrize(
    ("name", "kind", "criterion"),
    [
        ("structural.length", "structural", "structural.length"),
        ("llm_judge.tone", "llm_judge", "llm_judge.tone"),
        ("routing", "tool_selection.divergence", "tool_selection.divergence.routing"),
        ("routing", "tool_selection.conformance", "tool_selection.conformance.routing"),
        ("semantic.cosine", "", "semantic.cosine"),
        ("routing", "", "routing"),
        ("structurally", "structural", "structural.structurally"),
    ],
)
def test_criteria_are_named_by_kind_and_evaluator(
    run: Make, name: str, kind: str, criterion: str
) -> None:
    table = read_scores(run([score(evaluator_name=name, kind=kind)]))
    assert table["criterion"].unique().tolist() == [criterion]


def test_one_name_with_two_kinds_gives_two_criteria(run: Make) -> None:
    kinds = ("tool_selection.divergence", "tool_selection.conformance")
    table = read_scores(run([score(evaluator_name="routing", kind=kind) for kind in kinds]))
    assert table["criterion"].nunique() == 2


DRIFT = ("semantic", "tool_selection.divergence", "tool_arguments", "tool_trace_structure",
         "agent_trace")  # fmt: skip


@pytest.mark.parametrize("kind", DRIFT)
def test_kinds_that_fix_the_source_at_1_are_self_referenced(run: Make, kind: str) -> None:
    table = read_scores(run([score(evaluator_name="x", kind=kind)]))
    assert table["self_referenced"].tolist() == [True, True]


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "structural"},
        {"kind": "trace_invariants"},
        {"kind": "tool_selection.conformance"},
        {"kind": "llm_judge"},
        {"kind": "tool_arguments", "metadata": {"against": "expected"}},
        # Not 1 after all: what the rows say counts more than the kind.
        {"kind": "semantic", "source_score": 0.9},
    ],
)
def test_criteria_that_grade_both_sides_are_not(run: Make, changes: dict[str, Any]) -> None:
    table = read_scores(run([score("e1"), score("e2", **{"source_score": 1.0, **changes})]))
    graded = table[table["example_id"] == "e2"]
    assert graded["self_referenced"].tolist() == [False, False]


def test_an_evaluator_error_leaves_no_number_behind(run: Make) -> None:
    error = "evaluator error: judge said maybe"
    table = read_scores(run([score(source_score=0.5, target_score=0.5, error=error)]))
    assert table["score"].isna().all()
    assert cells(table, "status", "label", "message") == [["scorer_error", "0.5", error]] * 2


@pytest.mark.parametrize("error", ["upstream call failed: 503", "output truncated (token cap)"])
def test_trouble_of_a_call_is_a_system_error_of_the_side_that_failed(run: Make, error: str) -> None:
    bad = {"error": "503"} if "503" in error else {"finish_reason": "length"}
    calls = [call(), call(role="target", **bad), call("e2"), call("e2", "target")]
    placeholder = {"source_score": 0.5, "target_score": 0.5, "error": error}
    folder = run([score(**placeholder), score("e2")], calls=calls)
    table = read_scores(folder)
    assert table["system"].tolist() == ["old", "new", "old", "new"]
    assert table["label"].fillna("").tolist() == ["0.5", "0.5", "", ""]
    assert table["status"].tolist() == ["unscored", "system_error", "scored", "scored"]
    assert table["message"].iloc[0] == f"not measured, since the other side failed: {error}"
    assert table["message"].iloc[1] == error


def test_without_the_calls_both_sides_carry_the_error(run: Make) -> None:
    error = "upstream call failed: 503"
    table = read_scores(run([score(error=error, source_score=0.5, target_score=0.5)]))
    assert table["status"].tolist() == ["system_error"] * 2


def test_pairs_without_a_row_are_unscored(run: Make) -> None:
    coverage = {
        "evaluator_name": "routing", "kind": "tool_selection.conformance", "attempted": 2,
        "recorded": 1, "blocking": False,
        "unmeasured": [{"prompt_id": "triage", "example_id": "e2"}],
    }  # fmt: skip
    measured = score(evaluator_name="routing", kind="tool_selection.conformance", blocking=False)
    table = read_scores(run([measured], state={"evaluator_coverage": [coverage]}))
    assert cells(table, "example_id", "system", "status", "blocking") == [
        ["e1", "old", "scored", False],
        ["e1", "new", "scored", False],
        ["e2", "old", "unscored", False],
        ["e2", "new", "unscored", False],
    ]
    assert table["criterion"].nunique() == 1
    assert table["message"].iloc[2] == "EvalShift measured nothing on this pair"


def test_samples_become_trials(run: Make) -> None:
    samples = {
        "n": 3, "scored": 3, "source_scores": [1, 0.5, 0], "target_scores": [0, 0, 1],
        "deltas": [-1, -0.5, 1], "delta_variance": 0.7,
    }  # fmt: skip
    row = score(source_score=0.5, target_score=1 / 3, metadata={"samples": samples})
    table = read_scores(run([row]))
    assert cells(table, "system", "trial", "score") == [
        ["old", 0, 1.0], ["old", 1, 0.5], ["old", 2, 0.0],
        ["new", 0, 0.0], ["new", 1, 0.0], ["new", 2, 1.0],
    ]  # fmt: skip


SAMPLES = {"n": 3, "scored": 2, "source_scores": [1, 0], "target_scores": [0, 1]}


def test_a_lost_sample_keeps_its_number_and_its_cause(run: Make) -> None:
    calls = [call(role=role, sample_index=i) for role in ("source", "target") for i in range(3)]
    calls[4]["error"] = "timeout"
    table = read_scores(run([score(metadata={"samples": SAMPLES})], calls=calls))
    assert cells(table, "system", "trial", "status") == [
        ["old", 0, "scored"], ["old", 2, "scored"], ["old", 1, "unscored"],
        ["new", 0, "scored"], ["new", 2, "scored"], ["new", 1, "system_error"],
    ]  # fmt: skip
    assert "1 of 3 samples not scored" in table.loc[table["trial"] == 1, "message"].iloc[0]


def test_a_sample_lost_for_reasons_unknown_is_counted(run: Make) -> None:
    table = read_scores(run([score(metadata={"samples": SAMPLES})]))
    lost = table[table["status"] != "scored"]
    assert cells(lost, "system", "trial", "status") == [
        ["old", 2, "scorer_error"],
        ["new", 2, "scorer_error"],
    ]
    assert lost["message"].str.contains("the files do not say which or why").all()


def test_the_suite_gives_tags_clusters_and_turns(run: Make) -> None:
    suite = [
        {"id": "e1", "tags": ["billing"], "conversation_id": "c9", "turn_index": 0},
        {"id": "e2", "tags": ["login"], "conversation_id": "c9", "turn_index": 1},
    ]
    table = read_scores(run([score("e1"), score("e2")], suite=suite))
    assert table["tags"].tolist() == ["billing", "billing", "login", "login"]
    assert table["cluster"].tolist() == ["c9"] * 4
    assert table["turn_index"].tolist() == [0, 0, 1, 1]
    assert not [name for name in table.columns if name.startswith("tag:")]


def test_several_tags_of_one_example_get_a_column_each(run: Make) -> None:
    suite = [{"id": "e1", "tags": ["billing", "long"]}, {"id": "e2", "tags": []}]
    table = read_scores(run([score("e1"), score("e2")], suite=suite))
    assert table["tags"].iloc[0] == "billing; long"
    assert pd.isna(table["tags"].iloc[2])
    assert table["tag:billing"].tolist() == [True, True, False, False]
    assert table["tag:long"].tolist() == [True, True, False, False]
    assert "cluster" not in table.columns


def test_a_suite_that_is_not_here_is_noted(run: Make) -> None:
    folder = run([score()], state={"suite_path": "elsewhere/cases.jsonl"})
    table = read_scores(folder)
    assert "the suite 'elsewhere/cases.jsonl' is not here" in table.attrs["notes"][0]
    assert "tags" not in table.columns
    (folder / "cases.jsonl").write_text(lines([{"id": "e1", "tags": ["x"]}]))
    assert read_scores(folder)["tags"].tolist() == ["x", "x"]


def test_systems_come_from_the_calls_where_there_is_no_state(run: Make) -> None:
    folder = run([score()], calls=[call(), call(role="target")])
    (folder / "state.json").unlink()
    table = read_scores(folder / "scores.jsonl")
    assert table["system"].tolist() == ["model-source", "model-target"]


def test_systems_without_any_name_are_called_by_their_role_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_text(lines([score()]))
    table = read_scores(path)
    assert table["system"].tolist() == ["source", "target"]
    assert "called 'source' and 'target'" in table.attrs["notes"][0]
    renamed = read_scores(path, system={"source": "v1", "target": "v2"})
    assert cells(renamed, "system", "versus") == [["v1", "v2"], ["v2", "v1"]]
    with pytest.raises(ReadError, match="2 were read: 'source', 'target'"):
        read_scores(path, system="v1")


def test_one_model_on_both_sides_is_told_apart_by_its_role(run: Make) -> None:
    folder = run([score()], state={"models": {"source": "m", "target": "m"}})
    table = read_scores(folder)
    assert table["system"].tolist() == ["m (source)", "m (target)"]
    assert "told apart by their role" in table.attrs["notes"][0]


def test_the_state_of_another_run_is_not_used(run: Make) -> None:
    folder = run([score(run_id="r2")])
    table = read_scores(folder / "scores.jsonl")
    assert table["system"].tolist() == ["source", "target"]
    assert "is of another run ('r1')" in table.attrs["notes"][0]


def test_judges_keep_their_verdict_and_details_the_order_of_presentation(run: Make) -> None:
    metadata = {"target_was_a": True, "verdict": "B"}
    row = score(evaluator_name="llm_judge.tone", kind="llm_judge", source_score=1.0,
                target_score=0.0, explanation="target lost", metadata=metadata)  # fmt: skip
    folder = run([row])
    assert read_scores(folder)["label"].tolist() == ["target lost"] * 2
    details = read_details(folder)
    assert details["system"].tolist() == ["old", "new"]
    assert json.loads(details["details"].iloc[1]) == {**metadata, "explanation": "target lost"}


def test_old_rows_without_kind_blocking_and_error_are_read(run: Make) -> None:
    row = {k: v for k, v in score().items() if k not in ("kind", "blocking", "error", "metadata")}
    table = read_scores(run([{**row, "unknown_field": 1}]))
    assert table["criterion"].tolist() == ["structural.length"] * 2
    assert table["blocking"].tolist() == [True, True]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target_score": None}, "line 2 cannot be read: target_score is .None.; it must be a"),
        ({"target_score": math.nan}, "must be a finite number"),
        ({"source_score": "high"}, "source_score is .'high'."),
        ({"evaluator_name": None}, ""),
    ],
)
def test_a_bad_line_is_named_or_skipped(run: Make, changes: dict[str, Any], message: str) -> None:
    bad = score("e2", **changes)
    if not message:
        del bad["evaluator_name"]
        message = "line 2 has no evaluator_name"
    folder = run([score(), bad])
    with pytest.raises(ReadError, match=message):
        read_scores(folder)
    with pytest.warns(EvalToolkitWarning, match="1 record"):
        assert len(read_scores(folder, on_error="skip")) == 2


def test_outputs_come_from_the_calls(run: Make) -> None:
    trace = {"calls": [{"tool_name": "refund", "arguments": {"id": 7}}], "round_count": 1}
    calls = [
        call(trace=trace),
        call(role="target", cached=True, error="503", text="", finish_reason=None),
        call(role="target", sample_index=1),
    ]
    suite = [{"id": "e1", "tags": ["x"], "inputs": {"question": "Hi?"}, "expected": "Hello"}]
    outputs = read_outputs(run([score()], calls=calls, suite=suite))
    first, second, third = (row for _, row in outputs.iterrows())
    said = ["system", "task", "example_id", "trial", "output", "input", "reference"]
    assert first[said].tolist() == ["old", "triage", "e1", 0, "text of source", "Hi?", "Hello"]
    assert first[["cost_usd", "tokens_in", "tokens_out", "latency_s"]].tolist() == [
        0.01, 10.0, 5.0, 1.5,
    ]  # fmt: skip
    assert json.loads(first["tool_calls"]) == trace["calls"]
    assert first["finish_reason"] == "stop"
    assert second["error"] == "503"
    # The time of a call that was replayed from a cache is nobody's latency.
    assert math.isnan(second["latency_s"])
    assert third["trial"] == 1
    assert "1 call(s) came from the cache" in outputs.attrs["notes"][0]


def test_the_report_holds_the_numbers_of_the_tool(run: Make) -> None:
    folder = run([score()], state={"skipped_evaluators": [
        {"evaluator_name": "semantic.cosine", "label": "semantic", "note": "no key"}]})  # fmt: skip
    analysis = {
        "run_id": "r1", "n_records": 1, "slices": ["all"],
        "comparisons": [{
            "prompt_id": "triage", "evaluator_name": "routing", "kind": "tool_selection.divergence",
            "slice_name": "all", "n": 7, "test": "wilcoxon", "p_value": 0.25,
            "p_value_corrected": 0.5, "effect_size": -0.1, "delta_avg_score": -0.02,
        }],
    }  # fmt: skip
    (folder / "analysis.json").write_text(json.dumps(analysis))
    (folder / "migration_decision.json").write_text('{"verdict": "conditional_pass"}')
    report = read_report(folder)
    assert cells(report.aggregates, "criterion", "metric", "value", "n") == [
        ["tool_selection.divergence.routing", "delta_avg_score", -0.02, 7],
        ["tool_selection.divergence.routing", "effect_size", -0.1, 7],
        ["tool_selection.divergence.routing", "p_value", 0.25, 7],
        ["tool_selection.divergence.routing", "p_value_corrected", 0.5, 7],
    ]
    assert report.notes == (
        "EvalShift skipped the evaluator 'semantic': no key",
        "EvalShift's own verdict on the run 'r1': conditional_pass",
    )
    alone = read_report(folder / "analysis.json")
    assert len(alone.aggregates) == 4


# --- what state.json knows of rows that are not there -----------------------------------------


def covered(attempted: int, recorded: int, *unmeasured: str) -> dict[str, Any]:
    pairs = [{"prompt_id": "triage", "example_id": example} for example in unmeasured]
    return {
        "evaluator_coverage": [
            {
                "evaluator_name": "structural.length", "kind": "structural", "blocking": True,
                "attempted": attempted, "recorded": recorded, "unmeasured": pairs,
            }
        ]
    }  # fmt: skip


def test_the_report_repeats_the_coverage(run: Make) -> None:
    told = read_report(run([score()], state=covered(3, 1, "e2", "e3"))).aggregates
    assert cells(told, "criterion", "metric", "value") == [
        ["structural.length", "pairs attempted", 3],
        ["structural.length", "pairs recorded", 1],
        ["structural.length", "pairs unmeasured", 2],
    ]


def test_a_score_file_that_lost_rows_is_named(run: Make) -> None:
    folder = run([score()], state=covered(2, 2))
    with pytest.warns(EvalToolkitWarning, match=r"counts 2 row\(s\) of 'structural.length', sco"):
        table = read_scores(folder)
    assert len(table) == 2


def test_rows_with_an_error_need_not_be_counted_as_recorded(run: Make) -> None:
    rows = [score("e1"), score("e2", error="evaluator error: no", source_score=0.5)]
    table = read_scores(run(rows, state=covered(2, 1)))
    assert table.attrs["notes"] == []


def test_pairs_that_were_tried_and_left_no_trace_are_counted_and_not_invented(run: Make) -> None:
    table = read_scores(run([score()], state=covered(4, 1, "e2")))
    assert len(table) == 4
    assert table.attrs["notes"] == [
        "state.json counts 2 pair(s) on which 'structural.length' was tried and that have neither "
        "a row nor an entry as unmeasured: they are not in the table"
    ]


def test_evaluators_that_were_folded_into_one_are_no_trials(run: Make) -> None:
    samples = {"n": 2, "source_scores": [1, 1], "target_scores": [0, 1]}
    folder = run([score(metadata={"samples": samples})], state={"samples_per_example": 1})
    with pytest.warns(EvalToolkitWarning, match=r"average more measurements than .* samples \(1\)"):
        assert len(read_scores(folder)) == 4


def test_rounds_stay_in_the_details(run: Make) -> None:
    rounds = [{"round": 0, "source_score": 1.0, "target_score": 0.5, "expected_names": ["a"]}]
    folder = run([score(metadata={"mode": "set", "rounds": rounds})])
    details = json.loads(read_details(folder)["details"].iloc[1])
    assert details == {"mode": "set", "rounds": rounds}
    assert read_scores(folder)["score"].tolist() == [1.0, 0.5]


# --- imported traces --------------------------------------------------------------------------


def event(number: int, kind: str, **fields: Any) -> dict[str, Any]:
    time = f"2026-01-01T00:00:{number:02d}Z"
    return {"type": kind, "sequence_index": number, "timestamp": time, "metadata": {}, **fields}


def trace(example: str = "e1", role: str = "target", *events: dict[str, Any]) -> dict[str, Any]:
    return {
        "run_id": "r1", "prompt_id": "triage", "example_id": example, "role": role,
        "events": list(events),
    }  # fmt: skip


def test_imported_traces_fill_what_the_calls_lack(run: Make) -> None:
    folder = run([score()], calls=[call(), call(role="target", text="")])
    events = [
        event(3, "final_output", text="Refunded."),
        event(1, "tool_call", name="refund", arguments={"id": 7}, call_id="c1"),
        event(2, "tool_result", name="refund", call_id="c1", result="ok"),
        event(0, "model_call", model_id="m", input_tokens=90, cost_usd=0.5, latency_ms=2500),
        event(4, "error", message="late"),
    ]
    (folder / "traces.jsonl").write_text(
        lines([trace("e1", "target", *events), trace("e2", "target", *events)])
    )
    outputs = read_outputs(folder).set_index(["example_id", "system"])
    kept = outputs.loc[("e1", "new")]
    # What the call itself holds stays; the trace adds the rest.
    assert kept[["output", "cost_usd", "tokens_in"]].tolist() == ["Refunded.", 0.01, 10.0]
    calls = json.loads(kept["tool_calls"])
    expected = {"tool_name": "refund", "arguments": {"id": 7}, "call_id": "c1", "sequence_index": 1}
    assert calls == [expected]
    # A call that went well stays well, whatever its agent met on the way.
    assert pd.isna(kept["error"])
    alone = outputs.loc[("e2", "new")]
    assert alone[["output", "cost_usd", "tokens_in", "latency_s"]].tolist() == [
        "Refunded.", 0.5, 90.0, 2.5,
    ]  # fmt: skip
    assert alone["source"].endswith("traces.jsonl: line 2")
    assert pd.isna(outputs.loc[("e1", "old"), "tool_calls"])
    assert len(outputs) == 3


def test_a_file_of_traces_alone_gives_outputs(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    failed = event(0, "error", message="tool crashed")
    said = trace("e1", "source", event(0, "final_output", text="Hi"))
    path.write_text(
        lines([said, trace("e1", "target", failed, event(1, "error", message="gave up"))])
    )
    outputs = read_outputs(path)
    assert cells(outputs, "system", "task", "example_id") == [
        ["source", "triage", "e1"],
        ["target", "triage", "e1"],
    ]
    assert outputs["output"].fillna("").tolist() == ["Hi", ""]
    assert outputs["error"].fillna("").tolist() == ["", "tool crashed; gave up"]
    # Nothing was recorded of what it took, which is not 0.
    assert outputs[["cost_usd", "tokens_in", "latency_s"]].isna().all(axis=None)
    with pytest.raises(ReadError, match="no scores"):
        read_scores(path)


def test_events_of_an_unknown_kind_are_counted_and_bad_traces_named(run: Make) -> None:
    folder = run([score()], calls=[call()])
    bad = {**trace("e2"), "events": [{"type": "tool_call"}]}
    strange = trace("e1", "target", event(0, "telepathy"), event(1, "telepathy"))
    (folder / "traces.jsonl").write_text(lines([strange, bad]))
    with pytest.warns(EvalToolkitWarning) as caught:
        outputs = read_outputs(folder, on_error="skip")
    texts = [str(each.message) for each in caught]
    assert any("2 record(s) of the unknown kind event 'telepathy'" in text for text in texts)
    assert any("1 record(s) could not be read" in text for text in texts)
    assert len(outputs) == 2
    with pytest.raises(ReadError, match=r"traces.jsonl: line 2 cannot be read"):
        read_outputs(folder)
    (folder / "traces.jsonl").write_text(lines([trace("e1", "judge")]))
    with pytest.raises(ReadError, match="its role is 'judge'; it must be 'source' or 'target'"):
        read_outputs(folder)


# --- two runs in one folder -------------------------------------------------------------------


def two_runs(tmp_path: Path, **changes: Any) -> Path:
    for name, fields in (("r1", {}), ("r2", changes)):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        rows = [score(example, run_id=name, **fields) for example in ("e1", "e2")]
        (folder / "scores.jsonl").write_text(lines(rows))
        state = {**STATE, "run_id": name, "suite_path": None}
        (folder / "state.json").write_text(json.dumps(state))
    return tmp_path / "runs"


def test_runs_that_differ_in_what_blocks_are_read_together(tmp_path: Path) -> None:
    folder = two_runs(tmp_path, blocking=False)
    with pytest.warns(
        EvalToolkitWarning,
        match=r"blocking of the criterion 'structural.length' differs between .*\(True, False\)",
    ):
        table = read_scores(folder)
    assert len(table) == 8
    assert table["blocking"].isna().all()
    assert read_scores(folder / "r2")["blocking"].tolist() == [False] * 4


def test_runs_that_agree_keep_what_blocks(tmp_path: Path) -> None:
    assert read_scores(two_runs(tmp_path))["blocking"].tolist() == [True] * 8


def test_a_run_that_disagrees_with_itself_is_refused(run: Make) -> None:
    folder = run([score("e1"), score("e2", blocking=False)])
    with pytest.raises(SchemaError, match="blocking differs within the criterion"):
        read_scores(folder)


# --- a real run: gpt-4.1 and a fine-tuned version on 100 tasks of tau2-bench ---

CONFORMANCE = "tool_selection.conformance.routing"


def test_a_real_run_is_read_without_loss(shared_data: Path) -> None:
    """Counts and means typed from the files, by a script of its own over scores.jsonl."""
    table = read_scores(shared_data / "evalshift")
    # 4 evaluators x 100 pairs x 2 sides, and 100 pairs x 2 sides on which nothing was measured
    assert len(table) == 1000
    assert table["status"].value_counts()[["scored", "unscored"]].tolist() == [800, 200]
    assert table.loc[table["status"] == "unscored", "criterion"].unique().tolist() == [CONFORMANCE]
    scored = table[table["status"] == "scored"]
    sums = scored.groupby(["criterion", "system"])["score"].sum().to_dict()
    assert sums == pytest.approx(
        {
            ("structural.length", "gpt-4.1"): 93.67,
            ("structural.length", "ft-gpt-4.1"): 95.54,
            ("structural.regex", "gpt-4.1"): 64,
            ("structural.regex", "ft-gpt-4.1"): 69,
            ("tool_selection.divergence.routing", "gpt-4.1"): 100,
            ("tool_selection.divergence.routing", "ft-gpt-4.1"): 75.27738095238095,
            ("tool_trace_structure.shape", "gpt-4.1"): 100,
            ("tool_trace_structure.shape", "ft-gpt-4.1"): 89.62496669996669,
        },
        abs=1e-9,
    )
    facts = table.groupby("criterion")[["blocking", "self_referenced"]].first()
    assert facts["blocking"].sum() == 4
    assert not facts.loc["structural.regex", "blocking"]
    drift = facts.index[facts["self_referenced"].fillna(value=False)].tolist()
    assert drift == ["tool_selection.divergence.routing", "tool_trace_structure.shape"]
    per_tag = scored.groupby("tags")["example_id"].nunique().to_dict()
    assert per_tag == {"airline": 20, "retail": 40, "telecom": 40}


def test_the_calls_of_a_real_run(shared_data: Path) -> None:
    outputs = read_outputs(shared_data / "evalshift")
    assert outputs["system"].value_counts().to_dict() == {"gpt-4.1": 100, "ft-gpt-4.1": 100}
    assert outputs["cost_usd"].sum() == pytest.approx(5.782916)
    assert outputs["output"].notna().all()
    assert outputs["tool_calls"].notna().all()
    first = outputs.iloc[0]
    assert first[["example_id", "cost_usd", "latency_s"]].tolist() == [
        "airline_13", 0.02746, 19.226,
    ]  # fmt: skip


def test_the_coverage_of_a_real_run(shared_data: Path) -> None:
    reported = read_report(shared_data / "evalshift").aggregates
    pairs = reported[reported["metric"].str.startswith("pairs ")]
    counts = pairs.pivot_table("value", "criterion", "metric").astype(int)
    assert counts.loc[CONFORMANCE].tolist() == [100, 0, 100]
    assert counts.loc["structural.regex"].tolist() == [100, 100, 0]
    assert len(counts) == 5


def test_the_tools_own_numbers_of_a_real_run(shared_data: Path) -> None:
    reported = read_report(shared_data / "evalshift").aggregates
    p_values = reported[reported["metric"] == "p_value"].set_index("criterion")["value"]
    # analysis.json, as the EvalShift program wrote it
    assert p_values["structural.regex"] == pytest.approx(0.456056540250256)
    assert p_values["structural.length"] == pytest.approx(0.24519030932096386)
    assert p_values["tool_selection.divergence.routing"] == pytest.approx(1.5238861060457958e-11)
