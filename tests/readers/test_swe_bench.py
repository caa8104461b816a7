"""SWE-bench: what lists leave out, reports, submissions, and boards that contradict themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evaltoolkit as et


def document(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def report(resolved: object, *, passed: int = 1, failed: int = 1, **more: object) -> dict[str, Any]:
    tests = {
        "FAIL_TO_PASS": {
            "success": [f"t{n}" for n in range(passed)],
            "failure": [f"u{n}" for n in range(failed)],
        },
        "PASS_TO_PASS": {"success": [], "failure": []},
    }
    return {
        "patch_is_None": False,
        "patch_exists": True,
        "patch_successfully_applied": True,
        "resolved": resolved,
        "tests_status": tests,
        **more,
    }


def entry(name: str, resolved: int, total: int, percent: float | None) -> dict[str, Any]:
    details = {
        f"lab__tool-{number}": {"resolved": number < resolved, "cost": 0.5, "api_calls": 3}
        for number in range(total)
    }
    return {
        "name": name,
        "folder": f"run_{name}",
        "resolved": percent,
        "per_instance_details": details,
    }


LISTS = {"no_generation": ["lab__tool-1"], "no_logs": ["x__y-2"], "resolved": ["lab__tool-3"]}


class TestLists:
    def test_each_list_says_what_happened_and_the_missing_are_counted(self, tmp_path: Path) -> None:
        path = document(tmp_path / "agent-1" / "results" / "results.json", LISTS)
        document(path.with_name("resolved_by_repo.json"), {"lab/tool": {"resolved": 1, "total": 9}})
        with pytest.warns(et.EvalToolkitWarning, match=r"not resolved.*missing \(6 of 9\)"):
            scores = et.read_scores(path).set_index("example_id")
        assert scores["status"].to_dict() == {
            "lab__tool-1": "system_error", "x__y-2": "scorer_error", "lab__tool-3": "scored"
        }  # fmt: skip
        assert scores["cluster"].tolist() == ["lab/tool", "x/y", "lab/tool"]
        assert scores.loc["lab__tool-1", "label"] == "no_generation"
        assert scores.loc["lab__tool-3", "passed"]
        assert set(scores["system"]) == {"agent-1"}
        assert "folder name" in scores.attrs["notes"][0]

    def test_lists_of_what_was_attempted_hold_the_failures(self, tmp_path: Path) -> None:
        lists = {"generated": ["a__b-1", "a__b-2"], "no_apply": ["a__b-2"], "resolved": ["a__b-1"]}
        scores = et.read_scores(document(tmp_path / "results.json", lists))
        assert scores.set_index("example_id")["score"].to_dict() == {"a__b-1": 1.0, "a__b-2": 0.0}

    def test_a_list_of_unknown_meaning_is_counted(self, tmp_path: Path) -> None:
        lists = {"generated": ["a__b-1"], "resolved": ["a__b-1"], "haunted": ["a__b-7", "a__b-8"]}
        with pytest.warns(et.EvalToolkitWarning, match=r"2 record\(s\).*'haunted'"):
            scores = et.read_scores(document(tmp_path / "results.json", lists))
        assert len(scores) == 1

    def test_counts_are_for_the_report(self, tmp_path: Path) -> None:
        counts = {"lab/tool": {"resolved": 1, "total": 9}}
        path = document(tmp_path / "agent" / "results" / "resolved_by_repo.json", counts)
        with pytest.raises(et.ReadError, match="read_report"):
            et.read_scores(path)
        assert et.read_report(path).aggregates["value"].tolist() == [1.0]

    def test_the_summary_of_the_harness(self, tmp_path: Path) -> None:
        summary = {
            "total_instances": 5, "submitted_instances": 4, "completed_instances": 2,
            "resolved_instances": 1, "resolved_ids": ["a__b-1"], "unresolved_ids": ["a__b-2"],
            "completed_ids": ["a__b-1", "a__b-2"], "error_ids": ["a__b-3"],
            "empty_patch_ids": ["a__b-4"], "incomplete_ids": ["a__b-5"],
            "submitted_ids": ["a__b-1"], "unstopped_containers": ["c"], "schema_version": 2,
        }  # fmt: skip
        scores = et.read_scores(document(tmp_path / "lab__model-1.5.try.json", summary))
        found = scores.set_index("example_id")
        assert found["status"].to_dict() == {
            "a__b-1": "scored", "a__b-2": "scored", "a__b-3": "scorer_error",
            "a__b-4": "system_error", "a__b-5": "unscored",
        }  # fmt: skip
        assert found["score"].tolist().count(0.0) == 1
        assert set(scores["system"] + "|" + scores["run_id"]) == {"lab/model-1.5|try"}


class TestReports:
    def test_a_verdict_and_its_tests(self, tmp_path: Path) -> None:
        path = tmp_path / "agent" / "logs" / "a__b-1" / "report.json"
        scores = et.read_scores(document(path, {"a__b-1": report(False, passed=1, failed=3)}))
        found = scores.set_index("criterion")
        assert found["score"].to_dict() == {"resolved": 0.0, "fail_to_pass": 0.25}
        assert found["blocking"].to_dict() == {"resolved": True, "fail_to_pass": False}
        assert set(scores["system"]) == {"agent"}
        (details,) = et.read_details(path)["details"]
        assert json.loads(details)["tests_status"]["FAIL_TO_PASS"]["success"] == ["t0"]

    def test_no_patch_is_no_wrong_patch(self, tmp_path: Path) -> None:
        absent = report(False, patch_exists=False, patch_is_None=True)
        refused = report(False, patch_successfully_applied=False, tests_status=None)
        path = document(tmp_path / "mine.json", {"a__b-1": absent, "a__b-2": refused})
        scores = et.read_scores(path)
        verdicts = scores[scores["criterion"] == "resolved"].set_index("example_id")
        assert verdicts["status"].to_dict() == {"a__b-1": "system_error", "a__b-2": "scored"}
        assert verdicts.loc["a__b-2", "message"] == "the patch could not be applied"

    def test_the_layout_of_the_harness(self, tmp_path: Path) -> None:
        folder = tmp_path / "logs" / "run_evaluation" / "try" / "model-1" / "a__b-1"
        scores = et.read_scores(document(folder / "report.json", {"a__b-1": report(True)}))
        assert set(scores["system"] + "|" + scores["run_id"]) == {"model-1|try"}

    def test_a_verdict_that_is_none_is_a_bad_record(self, tmp_path: Path) -> None:
        path = document(tmp_path / "mine.json", {"a__b-1": report("yes"), "a__b-2": report(True)})
        with pytest.raises(et.ReadError, match="instance a__b-1"):
            et.read_scores(path)
        with pytest.warns(et.EvalToolkitWarning, match="1 record"):
            assert len(et.read_scores(path, on_error="skip")) == 2


class TestSubmission:
    def test_a_folder_joins_lists_and_reports(self, tmp_path: Path) -> None:
        folder = tmp_path / "20250101_agent"
        document(folder / "results" / "results.json", LISTS)
        for name, resolved in (("lab__tool-3", True), ("lab__tool-4", False)):
            document(folder / "logs" / name / "report.json", {name: report(resolved)})
        (folder / "metadata.yaml").write_text("name: 'Agent: the first'\noss: true\n", "utf-8")
        line = {"instance_id": "lab__tool-3", "model_patch": "diff"}
        (folder / "all_preds.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
        with pytest.warns(et.EvalToolkitWarning, match="how many is not told"):
            scores = et.read_scores(tmp_path)
        verdicts = scores[scores["criterion"] == "resolved"].set_index("example_id")
        assert verdicts["score"].dropna().to_dict() == {"lab__tool-3": 1.0, "lab__tool-4": 0.0}
        assert len(verdicts) == 4
        assert set(scores["system"] + "|" + scores["run_id"]) == {"Agent: the first|20250101_agent"}
        assert et.read_outputs(folder)["output"].tolist() == ["diff"]

    def test_a_report_that_contradicts_the_list_is_named(self, tmp_path: Path) -> None:
        folder = tmp_path / "agent"
        lists = {"generated": ["a__b-1"], "resolved": ["a__b-1"]}
        document(folder / "results" / "results.json", lists)
        document(folder / "logs" / "a__b-1" / "report.json", {"a__b-1": report(False)})
        with pytest.warns(et.EvalToolkitWarning, match=r"disagree on 1 instance\(s\): 'a__b-1'"):
            scores = et.read_scores(folder)
        assert scores["score"].tolist() == [1.0, 0.5]


class TestBoards:
    def board(self, path: Path, *entries: dict[str, Any]) -> Path:
        boards = [{"name": "shell", "results": list(entries)}]
        return document(path / "boards.json", {"leaderboards": boards})

    def test_an_entry_that_contradicts_itself_is_named_once(self, tmp_path: Path) -> None:
        path = self.board(tmp_path, entry("good", 20, 40, 50.0), entry("odd", 4, 40, 52.8))
        with pytest.warns(et.EvalToolkitWarning) as caught:
            scores = et.read_scores(path)
        (text,) = [str(each.message) for each in caught]
        assert "1 entry contradicts" in text
        assert "'odd' resolves 4 of 40 (10.0 %) and reports 52.8 %" in text
        assert "good" not in text
        assert scores.groupby("system")["score"].mean().to_dict() == {"good": 0.5, "odd": 0.1}

    def test_another_denominator_is_noted(self, tmp_path: Path) -> None:
        # 13 of 39 are 33.33 %, 13 of 40 are 32.5 %.
        scores = et.read_scores(self.board(tmp_path, entry("near", 13, 40, 33.33)))
        (note,) = scores.attrs["notes"]
        assert "33.33 % are 13 of 39, while its details have 40 instances" in note

    def test_entries_without_instances_are_for_the_report(self, tmp_path: Path) -> None:
        bare = {"name": "bare", "folder": "f", "resolved": 70.0}
        path = self.board(tmp_path, bare, entry("whole", 1, 2, 50.0))
        scores = et.read_scores(path)
        assert scores["system"].unique().tolist() == ["whole"]
        assert scores.attrs["notes"] == [
            "boards.json: 1 entry(ies) with a percentage and no instances"
        ]
        assert et.read_report(path).aggregates["value"].tolist() == [70.0, 50.0]
        outputs = et.read_outputs(path)
        assert outputs["cost_usd"].tolist() == [0.5, 0.5]

    def test_no_verdict_is_unscored(self, tmp_path: Path) -> None:
        one = entry("one", 1, 2, None)
        one["per_instance_details"]["lab__tool-1"]["resolved"] = None
        scores = et.read_scores(self.board(tmp_path, one))
        assert scores["status"].tolist() == ["scored", "unscored"]


def test_real_boards(shared_data: Path) -> None:
    # Counted apart: 353, 325 and 51 of 500; 500 instances of 12 repositories each.
    path = shared_data / "swe_bench" / "leaderboards.trimmed.json"
    with pytest.warns(et.EvalToolkitWarning, match=r"'Claude 3\.7 Sonnet .* 51 of 500") as caught:
        scores = et.read_scores(path)
    assert len(caught) == 1
    assert scores.groupby("run_id")["score"].sum().tolist() == [51.0, 325.0, 353.0]
    assert scores["cluster"].nunique() == 12
    assert et.read_outputs(path)["cost_usd"].sum() == pytest.approx(
        279.16737 + 140.19151 + 177.3077
    )


def test_a_real_submission(shared_data: Path) -> None:
    # 168 resolved, 11 without a patch, 3 without logs; 12 reports, one of them of a resolved one.
    folder = shared_data / "swe_bench" / "sweagent_claude3.5sonnet"
    with pytest.warns(et.EvalToolkitWarning, match=r"missing \(307 of 500\)"):
        scores = et.read_scores(folder)
    verdicts = scores[scores["criterion"] == "resolved"]
    assert len(verdicts) == 193
    assert verdicts["score"].value_counts().to_dict() == {1.0: 168, 0.0: 11}
    assert set(scores["system"]) == {"SWE-agent + Claude 3.5 Sonnet"}
    with pytest.warns(et.EvalToolkitWarning, match=r"missing \(318 of 500\)"):
        assert len(et.read_scores(folder / "results" / "results.json")) == 182
