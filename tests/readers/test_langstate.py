"""langstate: own results for each trap; no public file of results was to be had."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evaltoolkit.errors import EvalToolkitWarning, ReadError
from evaltoolkit.readers import read_details, read_outputs, read_scores
from evaltoolkit.readers.base import Source
from evaltoolkit.readers.langstate import FORMAT

COUNTS = ["mismatched_fields", "missing_fields", "extra_fields"]


def best(value: Any, confidence: float = 1.0) -> dict[str, Any]:
    return {"value": value, "confidence": confidence}


def compared(path: str, kind: str) -> dict[str, Any]:
    """One compared field as langstate reports it."""
    return {
        "field_path": path,
        "matches": kind == "matching",
        "expected_value": None if kind == "extra" else best(f"good {path}"),
        "actual_value": None if kind == "missing" else best(f"{kind} {path}"),
        "difference": None if kind == "matching" else f"{kind}: {path}",
    }


def result(
    matching: int = 1, mismatched: int = 0, missing: int = 0, extra: int = 0, **more: Any
) -> dict[str, Any]:
    """One result with so many fields of each class."""
    sizes = {"matching": matching, "mismatched": mismatched, "missing": missing, "extra": extra}
    kinds = [kind for kind, size in sizes.items() for _ in range(size)]
    expected = matching + mismatched + missing
    return {
        "comparison": {
            "fields": [compared(f"guest.{n}", kind) for n, kind in enumerate(kinds)],
            **{f"{kind}_fields": size for kind, size in sizes.items()},
            "overall_match": mismatched + missing + extra == 0,
        },
        "actual_post_state": {"nodes": [{"path": "guest", "value": None}]},
        "accuracy_score": matching / expected if expected else 0.0,
        "time_used": 1.25,
        "metadata": None,
        **more,
    }


def write(folder: Path, value: object, *, name: str = "model-a.json") -> Path:
    path = folder / name
    if path.suffix == ".jsonl":
        assert isinstance(value, list)
        path.write_text("".join(json.dumps(each) + "\n" for each in value), "utf-8")
    else:
        path.write_text(json.dumps(value), "utf-8")
    return path


def scores_of(path: Path, example: str) -> Mapping[str, Any]:
    table = read_scores(path)
    rows = table[table["example_id"] == example]
    return dict(zip(rows["criterion"], rows["score"], strict=True))


def test_a_result_becomes_a_match_an_accuracy_and_counts(tmp_path: Path) -> None:
    path = write(tmp_path, [{"case_id": "c1", "mutator": "m1", "result": result(2, 1, 1, 1)}])
    table = read_scores(path)
    assert table["criterion"].tolist() == ["overall_match", "accuracy_score", *COUNTS]
    assert table["score"].tolist() == [0.0, 0.5, 1.0, 1.0, 1.0]
    assert table["passed"].isna().tolist() == [False, True, True, True, True]
    assert not table["passed"].iloc[0]
    assert table["higher_is_better"].tolist() == [True, True, False, False, False]
    assert table["lower_bound"].tolist() == [0.0] * 5
    assert table["upper_bound"].fillna(-1).tolist() == [1.0, 1.0, -1, -1, -1]
    assert table["system"].unique().tolist() == ["m1"]
    assert table["source"].unique().tolist() == ["model-a.json: record 0"]
    assert table.attrs["notes"] == []


def test_an_accuracy_of_nothing_expected_is_no_score(tmp_path: Path) -> None:
    path = write(
        tmp_path, [{"id": "e", "result": result(0)}, {"id": "x", "result": result(0, 0, 0, 2)}]
    )
    table = read_scores(path)
    accuracy = table[table["criterion"] == "accuracy_score"]
    assert accuracy["status"].tolist() == ["unscored"] * 2
    assert accuracy["label"].tolist() == ["0.0"] * 2
    assert "expects nothing" in accuracy["message"].iloc[0]
    assert scores_of(path, "e")["overall_match"] == 1.0
    assert scores_of(path, "x")["overall_match"] == 0.0
    assert scores_of(path, "x")["extra_fields"] == 2.0


def test_an_early_version_has_no_accuracy_and_none_is_made_up(tmp_path: Path) -> None:
    early = result(1, 1)
    del early["accuracy_score"], early["time_used"]
    table = read_scores(write(tmp_path, [early, early]))
    assert table["criterion"].unique().tolist() == ["overall_match", *COUNTS]
    assert any("early version" in note for note in table.attrs["notes"])


def test_an_accuracy_that_is_no_number_is_unscored(tmp_path: Path) -> None:
    path = tmp_path / "model-a.jsonl"
    path.write_text(
        json.dumps(result(1, accuracy_score=float("nan"))) + "\n" + json.dumps(result(1))
    )
    table = read_scores(path)
    accuracy = table[table["criterion"] == "accuracy_score"]
    assert accuracy["status"].tolist() == ["unscored", "scored"]
    assert accuracy["label"].iloc[0] == "NaN"


@pytest.mark.parametrize(
    ("stage", "status"),
    [("client", "system_error"), (None, "system_error"), ("compare", "scorer_error")],
)
def test_a_mutator_that_raised_is_lost_in_every_criterion(
    tmp_path: Path, stage: str | None, status: str
) -> None:
    failed = {"case_id": "c2", "error": "TimeoutError: 30 s", "error_stage": stage, "time_s": 30}
    path = write(tmp_path, [{"case_id": "c1", "result": result()}, failed])
    table = read_scores(path)
    lost = table[table["example_id"] == "c2"]
    assert lost["status"].astype(str).tolist() == [status] * 5
    assert lost["score"].isna().all()
    assert lost["message"].unique().tolist() == ["TimeoutError: 30 s"]
    assert read_outputs(path)["error"].fillna("").tolist() == ["", "TimeoutError: 30 s"]


def test_a_file_that_begins_with_a_failure_is_still_recognised(tmp_path: Path) -> None:
    rows = [{"case_id": "c2", "error": "boom"}, {"case_id": "c1", "result": result()}]
    assert len(read_scores(write(tmp_path, rows, name="model-a.jsonl"))) == 10
    assert not FORMAT.detect(Source(write(tmp_path, rows[:1], name="other.jsonl")))


def test_a_number_beside_an_error_is_a_label(tmp_path: Path) -> None:
    path = write(tmp_path, [{"case_id": "c1", "error": "late", "result": result(1, 1)}])
    table = read_scores(path)
    assert table["status"].astype(str).unique().tolist() == ["system_error"]
    assert table["label"].tolist() == ["false", "0.5", "1", "0", "0"]


def test_outputs_hold_time_state_and_what_was_expected(tmp_path: Path) -> None:
    inputs = {"mutation_input": {"prompt": "Book a room", "message_id": "m"}}
    path = write(
        tmp_path,
        [
            {"case_id": "c1", **inputs, "result": result(1, 0, 0, 1)},
            {
                "case_id": "c2",
                "context": {**inputs, "expected_post_state": {"a": 1}},
                "result": result(),
            },
        ],
    )
    outputs = read_outputs(path)
    assert outputs["input"].tolist() == ["Book a room"] * 2
    assert outputs["latency_s"].tolist() == [1.25] * 2
    assert outputs["reference"].tolist() == ['{"guest.0": "good guest.0"}', '{"a": 1}']
    assert json.loads(outputs["output"].iloc[0])["nodes"][0]["path"] == "guest"


def test_details_hold_the_compared_fields(tmp_path: Path) -> None:
    details = read_details(write(tmp_path, [{"case_id": "c1", "result": result(1, 0, 1)}]))
    assert details["criterion"].tolist() == ["overall_match"]
    fields = json.loads(details["details"].iloc[0])["fields"]
    assert [each["difference"] for each in fields] == [None, "missing: guest.1"]


def test_names_in_the_metadata(tmp_path: Path) -> None:
    told = {"case_id": 7, "model": "m1", "task": "booking", "repeat": 3, "language": "it",
            "timestamp": "2026-02-03T04:05:06Z"}  # fmt: skip
    table = read_scores(write(tmp_path, [result(metadata=told)]))
    first = table.iloc[0]
    assert first[["system", "task", "example_id", "trial"]].tolist() == ["m1", "booking", "7", 3]
    assert first["language"] == "it"
    assert first["timestamp"].isoformat() == "2026-02-03T04:05:06+00:00"


@pytest.mark.parametrize(
    ("value", "name", "system", "examples"),
    [
        ([result(), result()], "m1.json", "m1", ["0", "1"]),
        ([result(), result()], "m1.jsonl", "m1", ["0", "1"]),
        ({"c1": result(), "c2": result()}, "m1.json", "m1", ["c1", "c2"]),
        ({"results": [result(), result()]}, "m1.json", "m1", ["0", "1"]),
        (result(), "case-4.json", "folder", ["case-4"]),
    ],
)
def test_the_ways_in_which_results_are_saved(
    tmp_path: Path, value: Any, name: str, system: str, examples: list[str]
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    table = read_scores(write(folder, value, name=name))
    assert table["system"].unique().tolist() == [system]
    assert table["example_id"].unique().tolist() == examples
    assert any("taken from the" in note for note in table.attrs["notes"])
    told = read_scores(folder / name, system="mine")
    assert told["system"].unique().tolist() == ["mine"]


def test_repeats_are_numbered(tmp_path: Path) -> None:
    rows = [{"case_id": "c1", "result": result()}, {"case_id": "c1", "result": result(1, 1)}]
    table = read_scores(write(tmp_path, rows))
    assert table["trial"].tolist() == [0] * 5 + [1] * 5
    assert any("repeats are numbered" in note for note in table.attrs["notes"])


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("accuracy_score", 0.9, "accuracy_score is 0.9, the counts give 0.5"),
        ("overall_match", True, "overall_match does not fit the counts"),
        ("missing_fields", 4, "counts do not fit its fields"),
    ],
)
def test_a_result_that_contradicts_itself_warns(
    tmp_path: Path, part: str, value: Any, said: str
) -> None:
    wrong = result(1, 1)
    (wrong if part == "accuracy_score" else wrong["comparison"])[part] = value
    with pytest.warns(EvalToolkitWarning, match=f"1 result.*record 1: .*{said}"):
        table = read_scores(write(tmp_path, [result(), wrong]))
    assert value in table["score"].tolist()


@pytest.mark.parametrize(
    "damage",
    [
        {"overall_match": "yes"},
        {"overall_match": None},
        {"matching_fields": -1},
        {"extra_fields": True},
        {"fields": [{"field_path": 3, "matches": True}]},
        {"fields": None},
    ],
)
def test_a_malformed_comparison_is_a_bad_record(tmp_path: Path, damage: dict[str, Any]) -> None:
    wrong = result()
    wrong["comparison"] |= damage
    path = write(tmp_path, [result(), wrong, 7])
    with pytest.raises(ReadError, match=r"model-a.json: record 1 cannot be read"):
        read_scores(path)
    with pytest.warns(EvalToolkitWarning, match=r"2 record\(s\)"):
        assert read_scores(path, on_error="skip")["example_id"].unique().tolist() == ["0"]


def test_an_accuracy_beyond_one_is_a_bad_record(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="not within 0 and 1"):
        read_scores(write(tmp_path, [result(), result(accuracy_score=1.5)]))


@pytest.mark.parametrize(
    "value",
    [
        [], {}, 3, [3], {"comparison": {}}, {"error": "x", "id": 1},
        [{"comparison": {"fields": []}}], {"comparison": [1]}, {"results": []},
    ],
)  # fmt: skip
def test_other_documents_are_not_taken(tmp_path: Path, value: object) -> None:
    assert not FORMAT.detect(Source(write(tmp_path, value)))
    assert not FORMAT.detect(Source(tmp_path))


def test_no_real_file_of_another_tool_is_taken(shared_data: Path) -> None:
    files = [path for path in sorted(shared_data.rglob("*")) if path.is_file()]
    assert [path.name for path in files if FORMAT.detect(Source(path))] == []
