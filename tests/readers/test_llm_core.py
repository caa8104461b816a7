"""llm-core: own results for each trap; no public file of results was to be had."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaltoolkit.errors import EvalToolkitWarning, ReadError
from evaltoolkit.readers import read_details, read_report, read_scores
from evaltoolkit.readers.base import Source
from evaltoolkit.readers.llm_core import FORMAT

CLARITY, TONE = "lab.clarity", "lab.tone"


def result(case: str = "lab.case-1", status: Any = "pass", **more: Any) -> dict[str, Any]:
    """One result with one score."""
    return {
        "caseId": case,
        "evaluator": {"evaluatorId": "lab.judge", "version": "1.0.0"},
        "status": status,
        "scores": [{"criterionId": CLARITY, "value": 0.75}],
        "explanations": ["Clear, but long.", "More."],
        "evidence": [{"evidenceId": "e1", "kind": "artifact"}],
        **more,
    }


def inconclusive(case: str = "lab.case-2") -> dict[str, Any]:
    return result(case, "inconclusive", scores=[], explanations=["The trace is missing."])


def case(name: str = "lab.case-1", **weights: float) -> dict[str, Any]:
    criteria = [
        {"criterionId": f"lab.{criterion}", "description": "words", "weight": weight}
        for criterion, weight in (weights or {"clarity": 1.0, "tone": 0.5}).items()
    ]
    return {"caseId": name, "criteria": criteria, "evidence": []}


def qualification(*results: dict[str, Any], minimum: float = 0.5, **more: Any) -> dict[str, Any]:
    return {
        "dataset": {"id": "lab.set"},
        "split": {"id": "lab.test", "datasetId": "lab.set", "kind": "held-out"},
        "baseline": {"id": "lab.old", "lineage": {"kind": "manual"}},
        "candidate": {"id": "lab.new", "lineage": {"kind": "manual"}},
        "evaluator": {"evaluatorId": "lab.judge", "version": "1.0.0"},
        "results": [{"result": each, "uncertainty": 0.1} for each in results],
        "assertions": [],
        "thresholds": [{"criterionId": CLARITY, "minimum": minimum}],
        "thresholdStatus": "qualified",
        **more,
    }


def write(folder: Path, value: object, *, name: str = "model-a.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(value), "utf-8")
    return path


def test_a_result_becomes_its_status_and_its_scores(tmp_path: Path) -> None:
    table = read_scores(write(tmp_path, [result()]))
    assert table["criterion"].tolist() == ["status", CLARITY]
    assert table["score"].tolist() == [1.0, 0.75]
    assert table["label"].fillna("").tolist() == ["pass", ""]
    assert table["passed"].isna().tolist() == [False, True]
    assert table["scorer"].unique().tolist() == ["lab.judge@1.0.0"]
    assert table["system"].unique().tolist() == ["model-a"]
    assert table["message"].fillna("").tolist() == ["Clear, but long.", ""]
    assert table[["lower_bound", "upper_bound"]].values.tolist() == [[0.0, 1.0]] * 2
    assert table["kind"].fillna("").tolist() == ["binary", ""]
    assert any("taken from the file name" in note for note in table.attrs["notes"])


def test_status_and_scores_need_not_agree(tmp_path: Path) -> None:
    rows = [result(scores=[{"criterionId": CLARITY, "value": 0}]), result("lab.case-2", "fail")]
    table = read_scores(write(tmp_path, rows))
    assert table["score"].tolist() == [1.0, 0.0, 0.0, 0.75]
    assert table["status"].astype(str).unique().tolist() == ["scored"]


def test_inconclusive_is_unscored_in_status_and_in_every_criterion(tmp_path: Path) -> None:
    table = read_scores(write(tmp_path, [inconclusive(), result()]))
    lost = table[table["example_id"] == "lab.case-2"]
    assert lost["criterion"].tolist() == ["status", CLARITY]
    assert lost["status"].astype(str).tolist() == ["unscored"] * 2
    assert lost["label"].fillna("").tolist() == ["inconclusive", ""]
    assert lost["message"].str.contains("The trace is missing").all()
    assert lost["passed"].isna().all()


def test_inconclusive_with_a_score_keeps_the_score(tmp_path: Path) -> None:
    table = read_scores(write(tmp_path, [result(status="inconclusive")]))
    assert table["status"].astype(str).tolist() == ["unscored", "scored"]


def test_cases_beside_the_results_say_what_was_left_unscored(tmp_path: Path) -> None:
    document = {"cases": [case(), case("lab.case-2", clarity=1.0)], "results": [result()]}
    table = read_scores(write(tmp_path, document))
    assert table["criterion"].tolist() == ["status", CLARITY, "lab.tone"]
    assert table["status"].astype(str).tolist() == ["scored", "scored", "unscored"]
    assert table["weight"].fillna(-1).tolist() == [-1, 1.0, 0.5]
    one = {"case": case(), "results": [result()]}
    assert len(read_scores(write(tmp_path, one))) == 3


def test_cases_among_lines(tmp_path: Path) -> None:
    path = tmp_path / "model-a.jsonl"
    path.write_text("\n".join(map(json.dumps, [case(), result(), case("lab.case-9")])), "utf-8")
    assert read_scores(path)["criterion"].tolist() == ["status", CLARITY, TONE]


def test_weights_that_differ_are_left_out_with_a_note(tmp_path: Path) -> None:
    cases = [case(clarity=1.0, tone=0.5), case("lab.case-2", clarity=0.2, tone=0.5)]
    table = read_scores(write(tmp_path, {"cases": cases, "results": [result()]}))
    assert table["weight"].fillna(-1).tolist() == [-1, -1, 0.5]
    assert any("differ within the file" in note for note in table.attrs["notes"])


@pytest.mark.parametrize("layout", ["cases", "list", "one"])
def test_cases_alone_have_no_scores(tmp_path: Path, layout: str) -> None:
    value = {"cases": {"cases": [case()]}, "list": [case()], "one": case()}[layout]
    path = write(tmp_path, value)
    assert FORMAT.detect(Source(path))
    with pytest.raises(ReadError, match="no scores: .*cases, which have no scores"):
        read_scores(path)


def test_a_qualification_names_candidate_data_set_and_thresholds(tmp_path: Path) -> None:
    table = read_scores(write(tmp_path, qualification(result(), inconclusive())))
    assert table["system"].unique().tolist() == ["lab.new"]
    assert table["task"].unique().tolist() == ["lab.set"]
    assert table["split"].unique().tolist() == ["held-out"]
    assert table[table["criterion"] == CLARITY]["threshold"].tolist() == [0.5, 0.5]
    assert table[table["criterion"] == "status"]["threshold"].isna().all()
    assert table["source"].iloc[-1] == "model-a.json: document, result 1"
    assert table.attrs["notes"] == []


def test_what_the_tool_reports(tmp_path: Path) -> None:
    promotion = {
        "qualification": qualification(result()),
        "policy": {},
        "decisionMaker": "lab.board",
        "decision": "promote",
    }
    report = read_report(write(tmp_path, promotion)).aggregates
    assert report["metric"].tolist() == ["qualified", "promoted"]
    assert report["value"].tolist() == [1.0, 1.0]
    assert report["n"].tolist() == [1, 1]
    assert len(read_scores(write(tmp_path, promotion))) == 2


@pytest.mark.parametrize(
    ("values", "minimum", "said"),
    [((0.9, 0.1), 0.5, "qualified"), ((0.1, 0.9), 0.5, "not-qualified"), ((), 0.0, "qualified")],
)
def test_a_status_that_does_not_follow_from_the_scores_warns(
    tmp_path: Path, values: tuple[float, ...], minimum: float, said: str
) -> None:
    """Only the last score of a criterion counts, and none at all is never enough."""
    results = [
        result(f"lab.case-{n}", scores=[{"criterionId": CLARITY, "value": value}])
        for n, value in enumerate(values)
    ] or [inconclusive()]
    path = write(tmp_path, qualification(*results, minimum=minimum, thresholdStatus=said))
    with pytest.warns(EvalToolkitWarning, match=f"thresholdStatus is '{said}', but"):
        read_scores(path)


def test_equal_to_the_minimum_is_enough(tmp_path: Path) -> None:
    assert len(read_scores(write(tmp_path, qualification(result(), minimum=0.75)))) == 2


def test_two_qualifications_in_one_file(tmp_path: Path) -> None:
    other = qualification(result(), minimum=0.7, candidate={"id": "lab.newer"})
    path = tmp_path / "all.jsonl"
    path.write_text(json.dumps(qualification(result())) + "\n" + json.dumps(other), "utf-8")
    table = read_scores(path)
    assert table["system"].unique().tolist() == ["lab.new", "lab.newer"]
    assert "threshold" not in table.columns
    assert any("differ within the file" in note for note in table.attrs["notes"])


def test_repeated_cases_are_trials_by_evaluator(tmp_path: Path) -> None:
    other = result(evaluator={"evaluatorId": "lab.judge", "version": "2.0.0"})
    table = read_scores(write(tmp_path, [result(), other, result()]))
    assert table[table["criterion"] == "status"]["trial"].tolist() == [0, 0, 1]
    assert any("repeats are numbered" in note for note in table.attrs["notes"])


def test_an_evaluator_that_threw_is_a_broken_measurement(tmp_path: Path) -> None:
    broken = result("lab.case-2", error="TypeError: no trace")
    del broken["status"], broken["scores"]
    table = read_scores(write(tmp_path, [broken, result()]))
    lost = table[table["example_id"] == "lab.case-2"]
    assert lost["criterion"].tolist() == ["status", CLARITY]
    assert lost["status"].astype(str).tolist() == ["scorer_error"] * 2
    assert lost["message"].unique().tolist() == ["TypeError: no trace"]


def test_nan_is_unscored(tmp_path: Path) -> None:
    rows = [result(scores=[{"criterionId": CLARITY, "value": float("nan")}]), result("lab.case-2")]
    table = read_scores(write(tmp_path, rows))
    assert table["status"].astype(str).tolist() == ["scored", "unscored", "scored", "scored"]
    assert table["label"].iloc[1] == "NaN"


def test_details_hold_explanations_evidence_and_uncertainty(tmp_path: Path) -> None:
    details = read_details(write(tmp_path, qualification(result())))
    assert details["criterion"].tolist() == ["status"]
    held = json.loads(details["details"].iloc[0])
    assert held["explanations"] == ["Clear, but long.", "More."]
    assert held["uncertainty"] == 0.1
    assert held["evidence"][0]["evidenceId"] == "e1"


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ({"status": ["pass"]}, "must be pass, fail or inconclusive"),
        ({"status": "PASS"}, "must be pass, fail or inconclusive"),
        ({"status": None}, "must be pass, fail or inconclusive"),
        ({"scores": [{"criterionId": CLARITY, "value": 1.5}]}, "not within 0 and 1"),
        ({"scores": [{"criterionId": CLARITY}]}, "value"),
        ({"evaluator": {"evaluatorId": "lab.judge"}}, "version"),
        ({"scores": 3}, "not iterable"),
    ],
)
@pytest.mark.parametrize("within", [False, True])
def test_a_malformed_result_is_a_bad_record(
    tmp_path: Path, damage: dict[str, Any], said: str, within: bool
) -> None:
    results = [result(), result("lab.case-2", **damage)]
    value = qualification(*results, thresholdStatus=None) if within else results
    path = write(tmp_path, value)
    where = "document, result 1" if within else "record 1"
    with pytest.raises(ReadError, match=rf"model-a.json: {where} cannot be read.*{said}"):
        read_scores(path)
    with pytest.warns(EvalToolkitWarning, match=r"1 record\(s\)"):
        table = read_scores(path, on_error="skip")
    assert table["example_id"].unique().tolist() == ["lab.case-1"]


def test_what_is_no_record_of_this_tool_is_a_bad_record(tmp_path: Path) -> None:
    path = write(tmp_path, [result(), {"caseId": "lab.case-2"}, 5])
    with pytest.warns(EvalToolkitWarning, match=r"2 record\(s\)"):
        assert len(read_scores(path, on_error="skip")) == 2


@pytest.mark.parametrize(
    "value",
    [
        [], {}, [1], {"caseId": "a"}, {"cases": [1]}, {"qualification": 3, "decision": "promote"},
        {"caseId": "a", "status": "pass"}, {"dataset": {}, "results": []}, {"results": [{}]},
    ],
)  # fmt: skip
def test_other_documents_are_not_taken(tmp_path: Path, value: object) -> None:
    assert not FORMAT.detect(Source(write(tmp_path, value)))
    assert not FORMAT.detect(Source(tmp_path))


def test_no_real_file_of_another_tool_is_taken(shared_data: Path) -> None:
    files = [path for path in sorted(shared_data.rglob("*")) if path.is_file()]
    assert [path.name for path in files if FORMAT.detect(Source(path))] == []
