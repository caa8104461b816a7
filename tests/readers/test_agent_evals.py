"""agent_evals: own small dumps for each layout and each way of failing (no public file exists)."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evaltoolkit.errors import EvalToolkitWarning, ReadError
from evaltoolkit.readers import read_details, read_outputs, read_report, read_scores
from evaltoolkit.readers.agent_evals import FORMAT
from evaltoolkit.readers.base import Source

UUID = "0f5b0e0c-3d5e-4f0a-9d39-0a1b2c3d4e5f"


def score(name: str, value: float, **more: Any) -> dict[str, Any]:
    """One dumped score; a value of 1 has passed."""
    return {
        "name": name,
        "value": value,
        "passed": value == 1,
        "error": None,
        "metadata": {},
        "reasoning": None,
        "execution_time_ms": 0.4,
        **more,
    }


def example(question: object, *scores: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "input": question,
        "output": f"answer to {question}",
        "expected": "yes",
        "scores": {each["name"]: each for each in scores},
        "metadata": {},
        "duration": 0.25,
        "error": None,
        "trajectory": None,
        "tool_calls": None,
        **more,
    }


def result(examples: Sequence[Mapping[str, Any]], **more: Any) -> dict[str, Any]:
    return {
        "experiment_id": f"nightly-{UUID}",
        "experiment_url": "file:///somewhere",
        "platform": "local",
        "scores": {"StateMatch": 0.75},
        "pass_rates": {"StateMatch": 0.5},
        "examples": list(examples),
        "summary": {
            "total_examples": len(examples),
            "successful_examples": len(examples),
            "failed_examples": 0,
        },
        "metadata": {},
        "duration": 3.0,
        **more,
    }


def write(folder: Path, value: object, *, name: str = "result.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def write_lines(folder: Path, rows: Sequence[object], *, name: str = "results.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_result_becomes_rows(tmp_path: Path) -> None:
    good = score("StateMatch", 1.0, reasoning="all 2 paths match")
    half = score("StateMatch", 0.5, metadata={"failures": {"a.b": {"expected": 1, "actual": 2}}})
    path = write(
        tmp_path,
        result(
            [example("q1", good, metadata={"topic": "law"}), example({"prompt": "q2"}, half)],
        ),
    )
    scores = read_scores(path)
    assert scores["run_id"].unique().tolist() == [f"nightly-{UUID}"]
    assert scores["system"].unique().tolist() == ["nightly"]
    assert scores["criterion"].tolist() == ["StateMatch"] * 2
    assert scores["score"].tolist() == [1.0, 0.5]
    assert scores["passed"].tolist() == [True, False]
    assert scores["message"].iloc[0] == "all 2 paths match"
    assert scores["lower_bound"].tolist() == [0.0, 0.0]
    assert scores["upper_bound"].tolist() == [1.0, 1.0]
    assert scores["topic"].fillna("").tolist() == ["law", ""]
    assert scores["example_id"].nunique() == 2
    assert scores["source"].tolist() == [
        "result.json: examples[0]",
        "result.json: examples[1]",
    ]
    assert any("taken from the experiment" in note for note in scores.attrs["notes"])
    assert any("hash of its input" in note for note in scores.attrs["notes"])


def test_the_records_on_disk_give_the_same_rows_as_the_result(tmp_path: Path) -> None:
    """The records stand in the order in which they ended, and pair all the same."""
    rows = [example(f"q{n}", score("StateMatch", n / 4)) for n in range(4)]
    whole = read_scores(write(tmp_path, result(rows)))
    folder = tmp_path / f"nightly-{UUID}"
    folder.mkdir()
    lines = read_scores(write_lines(folder, rows[::-1]))
    columns = ["run_id", "system", "example_id", "trial", "criterion", "score", "passed"]
    left = whole[columns].sort_values("example_id").reset_index(drop=True)
    right = lines[columns].sort_values("example_id").reset_index(drop=True)
    pd.testing.assert_frame_equal(left, right)
    assert any("the folder name" in note for note in lines.attrs["notes"])


def test_the_files_beside_the_records_name_the_run(tmp_path: Path) -> None:
    path = write_lines(tmp_path, [example("q", score("Own", 1.0))])
    note = {
        "experiment_id": f"spring-{UUID}",
        "experiment_name": "spring",
        "created_at": 1.0,
        "created_at_iso": "2026-03-01T10:00:00+00:00",
        "config": {},
        "platform": "local",
    }
    write(tmp_path, note, name="metadata.json")
    scores = read_scores(tmp_path)
    assert scores["run_id"].tolist() == [f"spring-{UUID}"]
    assert scores["system"].tolist() == ["spring"]
    assert scores["timestamp"].iloc[0] == pd.Timestamp("2026-03-01T10:00Z")
    assert any("metadata.json beside it" in note for note in scores.attrs["notes"])
    assert read_scores(path, system="mine")["system"].tolist() == ["mine"]


def test_a_neighbour_of_another_tool_says_nothing(tmp_path: Path) -> None:
    path = write_lines(tmp_path, [example("q", score("Own", 1.0))], name="mine.jsonl")
    write(tmp_path, {"experiment_name": "other"}, name="metadata.json")
    (tmp_path / "summary.json").write_text("{broken")
    scores = read_scores(path)
    assert scores["system"].tolist() == ["mine"]
    assert scores["run_id"].tolist() == [""]


def test_a_crashed_task_is_an_error_of_the_system_in_every_criterion(tmp_path: Path) -> None:
    rows = [
        example("q1", score("A", 1.0), score("B", 0.0)),
        example("q2", output="", error="timeout after 30 s"),
    ]
    totals = {"total_examples": 2, "successful_examples": 1, "failed_examples": 1}
    scores = read_scores(write(tmp_path, result(rows, summary=totals)))
    lost = scores[scores["status"] == "system_error"]
    assert lost["criterion"].tolist() == ["A", "B"]
    assert lost["score"].isna().all()
    assert lost["passed"].isna().all()
    assert lost["message"].unique().tolist() == ["timeout after 30 s"]
    assert (scores["status"] == "scored").sum() == 2


def test_a_crash_is_charged_to_the_criteria_of_the_other_repeats(tmp_path: Path) -> None:
    rows = [
        example("q1", score("A", 1.0)),
        example("q2", score("B", 1.0)),
        example("q2", output="", error="timeout"),
    ]
    scores = read_scores(write_lines(tmp_path, rows))
    assert scores[scores["status"] == "system_error"]["criterion"].tolist() == ["B"]
    assert scores["trial"].tolist() == [0, 0, 1]


def test_examples_that_all_crashed_lose_the_criteria_that_the_totals_name(tmp_path: Path) -> None:
    rows = [example("q1", output="", error="down")]
    totals = {"total_examples": 1, "successful_examples": 0, "failed_examples": 1}
    named = result(rows, summary=totals, scores={"A": 0.0})
    assert read_scores(write(tmp_path, named))["criterion"].tolist() == ["A"]
    unnamed = result(rows, summary=totals, scores={"__no_scores__": 0.0}, pass_rates={})
    with pytest.raises(ReadError, match=r"1 example\(s\), all crashed, and no scorer is named"):
        read_scores(write(tmp_path, unnamed))


def test_an_absent_score_of_an_example_that_ran_is_no_row(tmp_path: Path) -> None:
    rows = [example("q1", score("A", 1.0)), example("q2", score("B", 1.0))]
    scores = read_scores(write_lines(tmp_path, rows))
    assert scores[["criterion", "status"]].values.tolist() == [["A", "scored"], ["B", "scored"]]


@pytest.mark.parametrize(
    ("more", "status", "message"),
    [
        ({"error": "KeyError: x", "metadata": {"error": "x"}}, "scorer_error", "KeyError: x"),
        ({"metadata": {"error": "judge gave no JSON"}}, "scorer_error", "judge gave no JSON"),
        (
            {"metadata": {"error": "'final_state' missing or not a dict", "got_type": "str"}},
            "scorer_error",
            "'final_state' missing or not a dict",
        ),
        (
            {"metadata": {"error": "'outputs' missing from context"}},
            "scorer_error",
            "'outputs' missing from context",
        ),
        (
            {"metadata": {"error": "no expected_state provided"}},
            "unscored",
            "no expected_state provided",
        ),
        (
            {"metadata": {"error": "'reference_outputs' missing from ExpectedResult.context"}},
            "unscored",
            "'reference_outputs' missing from ExpectedResult.context",
        ),
        (
            {"metadata": {"error": "Expected value is required for Levenshtein"}},
            "unscored",
            "Expected value is required for Levenshtein",
        ),
    ],
)
def test_a_zero_beside_an_error_is_no_score(
    tmp_path: Path, more: dict[str, Any], status: str, message: str
) -> None:
    row = read_scores(write_lines(tmp_path, [example("q", score("S", 0.0, **more))])).iloc[0]
    assert row["status"] == status
    assert pd.isna(row["score"])
    assert pd.isna(row["passed"])
    assert row["label"] == "0"
    assert row["message"] == message


def test_a_genuine_zero_and_a_score_with_a_remark_stay_scores(tmp_path: Path) -> None:
    rows = [
        example("q1", score("S", 0.0, metadata={"paths_checked": 2})),
        example("q2", score("S", 0.4, metadata={"error": "one part was cut"})),
    ]
    scores = read_scores(write_lines(tmp_path, rows))
    assert scores["status"].tolist() == ["scored", "scored"]
    assert scores["score"].tolist() == [0.0, 0.4]
    assert scores["message"].fillna("").tolist() == ["", "one part was cut"]


def test_a_crash_filed_under_scorer_is_given_to_the_criterion_that_is_absent(
    tmp_path: Path,
) -> None:
    crash = score("scorer", 0.0, error="ZeroDivisionError", metadata={"error": "x"})
    rows = [example("q1", score("A", 1.0), score("B", 1.0)), example("q2", score("B", 1.0), crash)]
    scores = read_scores(write_lines(tmp_path, rows))
    assert scores["criterion"].tolist() == ["A", "B", "B", "A"]
    assert scores["status"].tolist() == ["scored", "scored", "scored", "scorer_error"]
    assert any("1 crash(es) are filed under 'scorer'" in n for n in scores.attrs["notes"])


def test_a_crash_filed_under_scorer_keeps_its_name_where_nothing_is_absent(tmp_path: Path) -> None:
    crash = score("scorer", 0.0, error="ZeroDivisionError")
    alone = read_scores(write_lines(tmp_path, [example("q1", crash)]))
    assert alone[["criterion", "status"]].values.tolist() == [["scorer", "scorer_error"]]
    rows = [example("q1", score("A", 1.0), score("scorer", 1.0)), example("q2", crash)]
    really = read_scores(write_lines(tmp_path, rows))
    assert really["criterion"].tolist() == ["A", "scorer", "scorer"]


def test_repeats_are_trials_and_other_references_are_other_examples(tmp_path: Path) -> None:
    rows = [
        example("same", score("A", 1.0)),
        example("same", score("A", 0.0)),
        example("name one", score("A", 1.0), expected="red"),
        example("name one", score("A", 1.0), expected="blue"),
    ]
    scores = read_scores(write_lines(tmp_path, rows))
    assert scores["trial"].tolist() == [0, 1, 0, 0]
    assert scores["example_id"].nunique() == 3
    assert any("1 example(s) occur more than once" in n for n in scores.attrs["notes"])


def test_the_pass_mark_is_the_threshold_of_the_criterion(tmp_path: Path) -> None:
    rows = [
        example("q1", score("F", 0.6, metadata={"_threshold": 0.7}), score("G", 1.0)),
        example("q2", score("F", 1.0, metadata={"_threshold": 0.7})),
    ]
    scores = read_scores(write_lines(tmp_path, rows))
    assert scores["threshold"].tolist()[0] == 0.7
    assert pd.isna(scores["threshold"].iloc[1])
    rows[1]["scores"]["F"]["metadata"]["_threshold"] = 0.9
    assert read_scores(write_lines(tmp_path, rows))["threshold"].isna().all()


def scenario(number: int, repeat: int, capability: str, *scores: dict[str, Any]) -> dict[str, Any]:
    metadata = {
        "scenario_id": number,
        "scenario_name": f"scene {number}",
        "capability": capability,
        "run_index": repeat,
        "level": "hard",
    }
    question = {"prompt": f"{capability} {number}", "preconditions": {}}
    return example(question, *scores, metadata=metadata, expected="")


def test_a_benchmark_gives_capabilities_scenarios_and_repeats(tmp_path: Path) -> None:
    parts = {
        name: result(
            [
                scenario(1, repeat, name, score("StateMatch", float(repeat == 0)))
                for repeat in (1, 0)
            ]
        )
        for name in ("lights", "doors")
    }
    value = {
        "benchmark": "house",
        "agent_name": "butler",
        "agent_version": "2",
        "config": None,
        "config_path": None,
        "eval_results": parts,
    }
    scores = read_scores(write(tmp_path, value))
    assert scores["system"].unique().tolist() == ["butler"]
    assert scores["task"].tolist() == ["lights", "lights", "doors", "doors"]
    assert scores["example_id"].tolist() == ["1"] * 4
    assert scores["trial"].tolist() == [1, 0, 1, 0]
    assert scores["score"].tolist() == [0.0, 1.0, 0.0, 1.0]
    assert scores["scenario_name"].unique().tolist() == ["scene 1"]
    assert scores["level"].unique().tolist() == ["hard"]
    assert scores["source"].iloc[2] == "result.json: eval_results.doors.examples[0]"
    assert not any("hash" in note for note in scores.attrs["notes"])
    single = read_scores(write_lines(tmp_path, parts["doors"]["examples"]))
    assert single["task"].unique().tolist() == ["doors"]


def test_totals_that_do_not_fit_the_examples_are_told(tmp_path: Path) -> None:
    rows = [example(f"q{n}", score("A", 1.0)) for n in range(3)]
    merged = result(rows, summary={"total_examples": 1, "failed_examples": 0})
    with pytest.warns(EvalToolkitWarning, match="total_examples is 1, the examples give 3"):
        scores = read_scores(write(tmp_path, merged))
    assert len(scores) == 3


def test_records_that_the_summary_beside_them_counts_and_the_file_lacks_are_told(
    tmp_path: Path,
) -> None:
    summary = {
        "experiment_id": "e",
        "platform": "local",
        "scores": {"A": 1.0},
        "pass_rates": {"A": 1.0},
        "summary": {"total_examples": 3, "successful_examples": 3, "failed_examples": 0},
        "duration": 1.0,
        "total_examples": 3,
    }
    write(tmp_path, summary, name="summary.json")
    path = write_lines(tmp_path, [example(f"q{n}", score("A", 1.0)) for n in range(2)])
    with pytest.warns(EvalToolkitWarning, match="total_examples is 3, the examples give 2"):
        read_scores(path)


def test_the_other_tables(tmp_path: Path) -> None:
    calls = [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]
    judged = score("S", 0.5, metadata={"paths_checked": 2}, reasoning="one path differs")
    rows = [
        example("q1", judged, tool_calls=calls),
        example("q2", output="", error="timeout"),
    ]
    path = write_lines(tmp_path, rows)
    outputs = read_outputs(path)
    assert outputs["input"].tolist() == ["q1", "q2"]
    assert outputs["output"].tolist() == ["answer to q1", ""]
    assert outputs["reference"].tolist() == ["yes", "yes"]
    assert outputs["error"].fillna("").tolist() == ["", "timeout"]
    assert outputs["latency_s"].tolist() == [0.25, 0.25]
    assert json.loads(outputs["tool_calls"].iloc[0]) == calls
    assert pd.isna(outputs["tool_calls"].iloc[1])
    details = read_details(path)
    assert json.loads(details["details"].iloc[0]) == {
        "metadata": {"paths_checked": 2},
        "reasoning": "one path differs",
    }
    scores = read_scores(path)
    merged = scores.merge(outputs, on=["run_id", "system", "task", "example_id", "trial"])
    assert len(merged) == len(scores)


def test_the_report_has_the_averages_of_the_tool(tmp_path: Path) -> None:
    path = write(tmp_path, result([example("q", score("StateMatch", 0.75))]))
    table = read_report(path).aggregates
    assert table[["criterion", "metric", "value", "n"]].values.tolist() == [
        ["StateMatch", "mean", 0.75, 1],
        ["StateMatch", "pass_rate", 0.5, 1],
    ]


def test_a_file_that_only_accompanies_is_no_error_in_a_folder(tmp_path: Path) -> None:
    write_lines(tmp_path, [example("q", score("A", 1.0))])
    summary = result([], scores={"A": 1.0}, summary={"total_examples": 1, "failed_examples": 0})
    del summary["examples"]
    path = write(tmp_path, summary, name="summary.json")
    assert len(read_scores(tmp_path)) == 1
    with pytest.raises(ReadError, match="results without single scores"):
        read_scores(path)
    assert read_report(path).aggregates["value"].tolist() == [1.0, 0.5]


ENVELOPE = {"v": 1, "nonce": "AAAA", "ciphertext": "c2VjcmV0", "tag": "BBBB"}


@pytest.mark.parametrize("suffix", ["jsonl", "json"])
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_an_encrypted_file_says_that_it_is_and_what_to_do(
    tmp_path: Path, suffix: str, on_error: Any
) -> None:
    path = write_lines(tmp_path, [ENVELOPE] * 2, name="results.jsonl")
    if suffix == "json":
        path = write(tmp_path, ENVELOPE, name="whole.json")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvalToolkitWarning)
        if on_error == "raise":
            with pytest.raises(ReadError, match="it is encrypted.*read_encrypted_jsonl") as caught:
                read_scores(path)
            assert caught.value.code == "encrypted"
            assert str(path) in str(caught.value)
        else:
            scores = read_scores(path, on_error="skip")
            assert len(scores) == 0
            assert "it is encrypted" in scores.attrs["skipped"][0]["reason"]


def test_an_encrypted_line_among_others_is_a_bad_record(tmp_path: Path) -> None:
    path = write_lines(tmp_path, [example("q", score("A", 1.0)), ENVELOPE])
    with pytest.raises(ReadError, match="line 2: it is encrypted"):
        read_scores(path)
    with pytest.warns(EvalToolkitWarning, match=r"1 record\(s\) could not be read"):
        scores = read_scores(path, on_error="skip")
    assert len(scores) == 1
    assert [problem["record"] for problem in scores.attrs["problems"]] == ["line 2"]


def test_encrypted_companions_do_not_stop_a_decrypted_run(tmp_path: Path) -> None:
    write_lines(tmp_path, [example("q", score("A", 1.0))])
    path = write(tmp_path, ENVELOPE, name="metadata.json")
    assert len(read_scores(tmp_path)) == 1
    with pytest.raises(ReadError, match="metadata.json"):
        read_scores(path)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"question": "q"}, "no example with input, output and scores"),
        (example("q", score("A", 1.5)), "'A' is 1.5, not within 0 and 1"),
        (example("q", score("A", 1.0, metadata=[1])), "metadata of the score 'A' is no object"),
        (example("q", score("A", 1.0), metadata={"run_index": "x"}), "run_index is x, not a whole"),
        (example("q") | {"scores": {"A": 1.0}}, "no example with input, output and scores"),
    ],
)
def test_bad_records_are_named(tmp_path: Path, bad: dict[str, Any], reason: str) -> None:
    path = write_lines(tmp_path, [example("q0", score("A", 1.0)), bad])
    with pytest.raises(ReadError, match=f"line 2.*{reason}"):
        read_scores(path)
    with pytest.warns(EvalToolkitWarning, match=r"1 record\(s\)"):
        scores = read_scores(path, on_error="skip")
    assert len(scores) == 1


def test_other_objects_are_not_taken(tmp_path: Path) -> None:
    others: list[object] = [
        {"input": 1, "output": "x", "scores": {"A": 0.5}, "error": None, "metadata": {}},
        {"input": 1, "output": "x", "scores": {}},
        {"input": 1, "output": "x", "scores": []},
        {"system": "a", "example_id": 1, "criterion": "c", "score": 1},
        {"examples": 3, "scores": {}, "pass_rates": {}, "summary": {}},
        [],
        [1, 2],
        {},
    ]
    for value in others:
        assert not FORMAT.detect(Source(write(tmp_path, value)))
    csv = tmp_path / "x.csv"
    csv.write_text("input,output,scores\n1,2,3\n")
    assert not FORMAT.detect(Source(csv))
    assert not FORMAT.detect(Source(tmp_path))


def test_no_real_file_of_another_tool_is_taken(shared_data: Path) -> None:
    files = [path for path in sorted(shared_data.rglob("*")) if path.is_file()]
    assert [path.name for path in files if FORMAT.detect(Source(path))] == []
