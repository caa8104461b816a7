"""Bare scores of autoevals, agentevals and openevals: own small files for each way to save them."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evaltoolkit.criteria import describe_criteria
from evaltoolkit.errors import EvalToolkitWarning, ReadError
from evaltoolkit.readers import agentevals, autoevals, read_details, read_scores
from evaltoolkit.readers.base import Reading, Source


def write(folder: Path, value: object, *, name: str = "model-a.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def write_lines(folder: Path, rows: Sequence[object], *, name: str = "model-a.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def auto(name: str, score: object, **metadata: Any) -> dict[str, Any]:
    return {"name": name, "score": score, "metadata": metadata}


def feedback(key: str, score: object, **more: Any) -> dict[str, Any]:
    return {"key": key, "score": score, "comment": None, "metadata": None, **more}


# --- ways to save them, the same for both -----------------------------------------------------

A, B = feedback("strict", True), feedback("strict", False)


@pytest.mark.parametrize(
    ("value", "examples"),
    [
        ([A, B], ["0", "1"]),
        ([[A], [B]], ["0", "1"]),
        ({"x": A, "y": B}, ["x", "y"]),
        ({"x": [A], "y": [B]}, ["x", "y"]),
        ([{"example_id": 7, "results": [A]}, {"id": "z", "evaluation_results": [B]}], ["7", "z"]),
        ([{"results": [A]}, {"results": [B]}], ["0", "1"]),
        ([{**A, "example_id": 3}, {**B, "example_id": "4"}], ["3", "4"]),
        ({"results": [A, feedback("other", 0)]}, ["0", "0"]),
        (A, ["0"]),
    ],
)
def test_each_way_to_save_scores_gives_their_examples(
    tmp_path: Path, value: object, examples: list[str]
) -> None:
    scores = read_scores(write(tmp_path, value))
    assert scores["example_id"].tolist() == examples
    assert scores["score"].iloc[0] == 1.0
    assert scores["system"].unique().tolist() == ["model-a"]
    named = not any("name no example" in note for note in scores.attrs["notes"])
    assert named == (value not in ([A, B], A))


def test_lines_are_read_like_a_list(tmp_path: Path) -> None:
    scores = read_scores(write_lines(tmp_path, [A, B]))
    assert scores["example_id"].tolist() == ["0", "1"]
    assert scores["source"].tolist() == ["model-a.jsonl: line 1", "model-a.jsonl: line 2"]
    wrapped = [{"example_id": n, "results": [each]} for n, each in enumerate([A, B, A])]
    scores = read_scores(write_lines(tmp_path, wrapped))
    assert scores["example_id"].tolist() == ["0", "1", "2"]
    assert scores["source"].iloc[2] == "model-a.jsonl: line 3[0]"


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 1, 3)])
def test_scores_of_a_flat_list_meet_by_their_place_among_those_of_their_name(
    tmp_path: Path, order: tuple[int, ...]
) -> None:
    items = [feedback("a", 0.1), feedback("a", 0.2), feedback("b", 0.3), feedback("b", 0.4)]
    scores = read_scores(write(tmp_path, [items[n] for n in order]))
    found = scores.set_index(["criterion", "example_id"])["score"].to_dict()
    assert found == {("a", "0"): 0.1, ("a", "1"): 0.2, ("b", "0"): 0.3, ("b", "1"): 0.4}


def test_names_that_do_not_occur_equally_often_are_told(tmp_path: Path) -> None:
    path = write(tmp_path, [feedback("a", 1), feedback("a", 0), feedback("b", 1)])
    with pytest.warns(EvalToolkitWarning, match=r"equally often \('a \(2×\)', 'b \(1×\)'\)"):
        assert len(read_scores(path)) == 3


def test_repeats_of_an_example_are_trials(tmp_path: Path) -> None:
    scores = read_scores(write(tmp_path, {"x": [A, B], "y": [A]}))
    assert scores["trial"].tolist() == [0, 1, 0]
    assert any("occur more than once" in note for note in scores.attrs["notes"])


def test_a_generic_file_name_gives_way_to_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "model-b"
    folder.mkdir()
    path = write(folder, [A], name="scores.json")
    assert read_scores(path)["system"].tolist() == ["model-b"]
    assert read_scores(path, system="mine")["system"].tolist() == ["mine"]


# --- autoevals --------------------------------------------------------------------------------


def test_autoevals_scores(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        [
            [
                auto("Factuality", 0.6, choice="B", rationale="It adds\nto the answer."),
                auto("X", 1),
            ],
            [auto("Factuality", None), auto("X", math.nan)],
        ],
    )
    scores = read_scores(path)
    assert scores["criterion"].tolist() == ["Factuality", "X"] * 2
    assert scores["status"].tolist() == ["scored", "scored", "unscored", "unscored"]
    assert scores["label"].fillna("").tolist() == ["B", "", "", "NaN"]
    assert scores["message"].iloc[0] == "It adds to the answer."
    assert scores["passed"].isna().all()
    assert scores["upper_bound"].unique().tolist() == [1.0]
    details = read_details(path)
    assert json.loads(details["details"].iloc[0])["metadata"]["choice"] == "B"


def test_an_autoevals_error_is_no_score(tmp_path: Path) -> None:
    rows = [{**auto("F", 0), "error": "KeyError: 'choice'"}, {**auto("F", 1), "error": None}]
    scores = read_scores(write(tmp_path, rows))
    assert scores["status"].tolist() == ["scorer_error", "scored"]
    assert scores["label"].fillna("").tolist() == ["0", ""]
    assert scores["message"].iloc[0] == "KeyError: 'choice'"


def test_an_edited_score_beyond_one_takes_the_bounds_away(tmp_path: Path) -> None:
    scores = read_scores(write(tmp_path, [auto("F", 5), auto("F", 1)]))
    assert scores["score"].tolist() == [5.0, 1.0]
    assert "upper_bound" not in scores.columns


# --- agentevals and openevals -----------------------------------------------------------------


def test_agentevals_results(tmp_path: Path) -> None:
    rows = [
        feedback("trajectory_strict_match", True),
        feedback("trajectory_accuracy", False, comment="It asked twice."),
        feedback("helpfulness", 0.25),
        feedback("tone", None, value="warm"),
        feedback("language", "French"),
        feedback("empty", None),
    ]
    scores = read_scores(write(tmp_path, rows)).set_index("criterion")
    assert scores["score"].fillna(-1).tolist() == [1.0, 0.0, 0.25, -1, -1, -1]
    assert scores["status"].tolist() == ["scored"] * 3 + ["unscored"] * 3
    assert scores["passed"].isna().tolist() == [False] + [True] * 5
    assert scores["passed"].iloc[0]
    assert scores.loc["trajectory_accuracy", "message"] == "It asked twice."
    assert scores.loc["tone", "label"] == "warm"
    assert scores.loc["language", "label"] == "French"
    assert scores["label"].isna().tolist() == [True, True, True, False, False, True]
    assert scores.loc["empty", "message"] == "the evaluator gave no score"


def test_a_long_comment_is_cut_in_the_message_and_whole_in_the_details(tmp_path: Path) -> None:
    path = write(tmp_path, [feedback("a", 1, comment="word " * 200, metadata={"n": 1})])
    assert len(read_scores(path)["message"].iloc[0]) <= 300
    told = json.loads(read_details(path)["details"].iloc[0])
    assert told == {"comment": "word " * 200, "metadata": {"n": 1}}


def test_the_levenshtein_distance_of_openevals_is_a_similarity(tmp_path: Path) -> None:
    scores = read_scores(write(tmp_path, [feedback("levenshtein_distance", 0.9)]))
    assert describe_criteria(scores)["higher_is_better"].tolist() == [True]


def test_results_without_key_and_score_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path, [feedback("a", 1), {"grade": "A"}, [feedback("a", 0), {"grade": "B"}]])
    reading = Reading(want=frozenset({"scores"}))
    (batch,) = agentevals.FORMAT.read(Source(path), reading)
    assert len(batch.scores) == 2
    assert list(reading.unknowns.values()) == [2]


def test_bad_records_are_named(tmp_path: Path) -> None:
    path = write(tmp_path, [feedback("a", 1), 7])
    with pytest.raises(ReadError, match="record 1 cannot be read: it is of type int"):
        read_scores(path)
    with pytest.warns(EvalToolkitWarning, match=r"1 record\(s\)"):
        assert len(read_scores(path, on_error="skip")) == 1


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        [[]],
        [7],
        [{"key": "a", "score": 1, "input": "x"}],
        [{"name": "a", "score": 1}],
        [{"name": "a", "score": 1, "metadata": {}, "input": "x"}],
        [{"key": 3, "score": 1}],
        {"results": 3},
        {"results": [{"key": "a"}]},
        {"system": "a", "example_id": 1, "criterion": "c", "score": 1},
    ],
)
def test_other_objects_are_not_taken(tmp_path: Path, value: object) -> None:
    source = Source(write(tmp_path, value))
    assert not autoevals.FORMAT.detect(source)
    assert not agentevals.FORMAT.detect(source)
    assert not autoevals.FORMAT.detect(Source(tmp_path))


def test_no_real_file_of_another_tool_is_taken(shared_data: Path) -> None:
    files = [path for path in sorted(shared_data.rglob("*")) if path.is_file()]
    found = [
        path.name
        for path in files
        if autoevals.FORMAT.detect(Source(path)) or agentevals.FORMAT.detect(Source(path))
    ]
    assert found == []
