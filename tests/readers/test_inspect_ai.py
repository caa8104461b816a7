"""Inspect logs: own small ones for each trap, and real ones against counts typed by hand.

The counts in `REAL` were derived once with a script that shares no code with the reader (the
members of each archive and document, read with the json and zipfile modules), then typed in.
"""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaltoolkit.errors import EvalToolkitWarning, MissingDependencyError, ReadError, SchemaError
from evaltoolkit.readers import archives, read_details, read_outputs, read_report, read_scores
from evaltoolkit.readers.base import Reading, Source
from evaltoolkit.readers.inspect_ai import FORMAT
from evaltoolkit.readers.inspect_values import measure

HEADER_SIZE = 30
ZSTANDARD = 93


# --- small logs -------------------------------------------------------------------------------


def header(**changes: Any) -> dict[str, Any]:
    """The part of a log without samples; ``eval_x=...`` changes ``eval.x``."""
    evaluation = {
        "eval_id": "E1",
        "run_id": "shared-by-all-models",
        "task_id": "T1",
        "created": "2025-06-01T10:00:00+02:00",
        "task": "zoo/animals",
        "model": "lab/model-a",
        "dataset": {"name": "animals"},
        "config": {"epochs": 1},
        "scorers": [{"name": "match", "options": {}, "metrics": [{"name": "inspect_ai/mean"}]}],
    }
    log: dict[str, Any] = {"version": 2, "status": "success", "eval": evaluation, "results": None}
    for name, value in changes.items():
        (evaluation if name.startswith("eval_") else log)[name.removeprefix("eval_")] = value
    return log


def sample(number: object, value: object = "C", *, epoch: int = 1, **fields: Any) -> dict[str, Any]:
    """A sample with one score; ``value=...`` is what the scorer ``match`` said."""
    return {
        "id": number,
        "epoch": epoch,
        "input": f"question {number}",
        "target": "yes",
        "scores": {"match": {"value": value, "answer": "yes", "explanation": "long words"}},
        "metadata": {},
        **fields,
    }


def write_json(path: Path, samples: Sequence[Any], **changes: Any) -> Path:
    path.write_text(json.dumps({**header(**changes), "samples": samples}), encoding="utf-8")
    return path


def members(samples: Sequence[Mapping[str, Any]], **changes: Any) -> dict[str, Any]:
    return {
        "_journal/start.json": {k: v for k, v in header(**changes).items() if k != "status"},
        **{f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in samples},
        "summaries.json": [],
        "header.json": header(**changes),
    }


def write_eval(path: Path, content: Mapping[str, Any]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in content.items():
            archive.writestr(name, part if isinstance(part, bytes) else json.dumps(part))
    return path


def write_zstandard(path: Path, content: Mapping[str, Any]) -> Path:
    """Write an archive as Inspect does since 2026, which zipfile learns with Python 3.14."""
    zstandard = pytest.importorskip("zstandard")
    body, directory = b"", b""
    for name, part in content.items():
        raw = json.dumps(part).encode()
        packed = zstandard.ZstdCompressor().compress(raw)
        sizes = struct.pack("<LLLHH", zlib.crc32(raw), len(packed), len(raw), len(name), 0)
        common = struct.pack("<HHHHH", 20, 0, ZSTANDARD, 0, 33) + sizes
        place = struct.pack("<HHHLL", 0, 0, 0, 0, len(body))
        directory += b"PK\x01\x02" + struct.pack("<H", 20) + common + place + name.encode()
        body += b"PK\x03\x04" + common + name.encode() + packed
    count = len(content)
    end = struct.pack("<HHHHLLH", 0, 0, count, count, len(directory), len(body), 0)
    path.write_bytes(body + directory + b"PK\x05\x06" + end)
    return path


def statuses(scores: pd.DataFrame) -> dict[str, int]:
    return {str(k): int(v) for k, v in scores["status"].value_counts().items() if v}


# --- what a value means -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "score", "label"),
    [
        ("C", 1.0, "C"),
        ("P", 0.5, "P"),
        ("I", 0.0, "I"),
        ("N", 0.0, "N"),
        ("yes", 1.0, "yes"),
        ("False", 0.0, "False"),
        ("0.25", 0.25, "0.25"),
        ("1e2", 100.0, "1e2"),
        (True, 1.0, None),
        (False, 0.0, None),
        (3, 3.0, None),
        (0.65, 0.65, None),
        (None, None, None),
        ("nan", None, "nan"),
        ("1_0", None, "1_0"),
        (float("nan"), None, "NaN"),
        (float("-inf"), None, "-Infinity"),
        (10**400, None, "Infinity"),
        ([1, 0], None, "[1, 0]"),
        ("partially correct", None, "partially correct"),
    ],
    ids=lambda value: f"{value!r:.20}",
)
def test_values(value: object, score: float | None, label: str | None) -> None:
    measured = measure(value)
    assert (measured.score, measured.label) == (score, label)
    assert (measured.message is None) == (score is not None)


@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()))
def test_no_value_becomes_a_number_that_it_does_not_say(value: object) -> None:
    measured = measure(value)
    if isinstance(value, str) and measured.score is not None:
        words = {"C": 1, "P": 0.5, "I": 0, "N": 0, "yes": 1, "true": 1, "no": 0, "false": 0}
        assert measured.score == (words[value] if value in words else _number(value))
    elif isinstance(value, int | float) and measured.score is not None:
        assert measured.score == float(value)
    assert measured.score is not None or measured.message


def _number(text: str) -> float:
    lowered = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}.get(text.lower())
    return float(text) if lowered is None else lowered


# --- rows of the score table ------------------------------------------------------------------


def test_a_log_becomes_rows(tmp_path: Path) -> None:
    path = write_eval(tmp_path / "a.eval", members([sample(7), sample("x y", "I")]))
    scores = read_scores(path)
    row = scores.iloc[0]
    assert row["run_id"] == "E1"
    assert row["system"] == "lab/model-a"
    assert row["task"] == "zoo/animals"
    assert scores["example_id"].tolist() == ["7", "x y"]
    assert scores["trial"].tolist() == [0, 0]
    assert scores["criterion"].tolist() == ["match", "match"]
    assert scores["scorer"].tolist() == ["match", "match"]
    assert scores["score"].tolist() == [1.0, 0.0]
    assert scores["label"].tolist() == ["C", "I"]
    assert scores["passed"].isna().all()
    assert row["source"] == "a.eval: samples/7_epoch_1.json"
    assert row["timestamp"] == pd.Timestamp("2025-06-01T08:00:00Z")


def test_the_two_layouts_say_the_same(tmp_path: Path) -> None:
    samples = [sample(1, "C", epoch=1), sample(1, "P", epoch=2), sample(2, None)]
    first = read_scores(write_json(tmp_path / "log.json", samples)).drop(columns="source")
    second = read_scores(write_eval(tmp_path / "log.eval", members(samples)))
    pd.testing.assert_frame_equal(first, second.drop(columns="source"))


def test_epochs_are_trials_and_words_without_a_number_are_counted_loudly(tmp_path: Path) -> None:
    values = ["C", "mostly", "mostly", None, float("nan"), "N"]
    samples = [sample(1, value, epoch=number) for number, value in enumerate(values, start=1)]
    path = write_json(tmp_path / "log.json", samples)
    with pytest.warns(EvalToolkitWarning, match=r"2 score\(s\) are words .*match: mostly \(2×\)"):
        scores = read_scores(path)
    assert scores["trial"].tolist() == [0, 1, 2, 3, 4, 5]
    assert scores["score"].fillna(-1).tolist() == [1.0, -1, -1, -1, -1, 0.0]
    assert scores["label"].fillna("").tolist() == ["C", "mostly", "mostly", "", "NaN", "N"]
    assert statuses(scores) == {"scored": 2, "unscored": 4}


def test_the_keys_of_an_object_are_criteria_and_the_judge_is_named(tmp_path: Path) -> None:
    judge = {"scorer_model": {"model": "lab/judge"}}
    value = {"quality": 4, "safe": "C", "parts": [1, 2], "lost": None}
    samples = [sample(1, scores={"grade": {"value": value}, "model_graded_qa": {"value": "P"}})]
    scorers = [{"name": "grade", "options": judge}, {"name": "inspect_ai/model_graded_qa"}]
    roles = {"grader": {"model": "lab/other-judge"}}
    path = write_json(tmp_path / "log.json", samples, eval_scorers=scorers, eval_model_roles=roles)
    scores = read_scores(path).set_index("criterion")
    assert scores["score"].to_dict() == pytest.approx(
        {
            "grade.quality": 4.0,
            "grade.safe": 1.0,
            "grade.parts": float("nan"),
            "grade.lost": float("nan"),
            "model_graded_qa": 0.5,
        },
        nan_ok=True,
    )
    assert scores.loc["grade.parts", "label"] == "[1, 2]"
    assert scores.loc["grade.quality", "scorer"] == "grade (lab/judge)"
    assert scores.loc["model_graded_qa", "scorer"] == "model_graded_qa (lab/other-judge)"


def test_an_errored_sample_counts_for_each_criterion(tmp_path: Path) -> None:
    scored = sample(1, {"a": 1, "b": 0})
    broken = sample(2, scores={}, error={"message": "Timeout()\n  at line 3", "traceback": "..."})
    both = sample(3, {"a": 1, "b": "C"}, error={"message": "killed"})
    scores = read_scores(write_json(tmp_path / "log.json", [scored, broken, both]))
    assert scores["criterion"].tolist() == ["match.a", "match.b"] * 3
    assert statuses(scores) == {"scored": 2, "system_error": 4}
    assert scores["message"].dropna().unique().tolist() == ["Timeout() at line 3", "killed"]
    # What a tool wrote beside an error is a label and no score.
    assert scores.loc[4:, "label"].tolist() == ["1", "C"]
    assert scores.loc[4:, "score"].isna().all()


def test_where_all_samples_broke_the_declared_criteria_count(tmp_path: Path) -> None:
    metrics = [{"overall": [{"name": "inspect_ai/mean"}]}, {"name": "pkg/bootstrapped"}]
    scorers = [{"name": "rubric", "metrics": metrics}, {"name": "pkg/judge", "metrics": {"*": []}}]
    broken = sample(1, scores={}, error={"message": "no server"})
    path = write_json(tmp_path / "log.json", [broken], eval_scorers=scorers, status="error")
    scores = read_scores(path)
    assert scores["criterion"].tolist() == ["rubric.overall", "judge"]
    assert statuses(scores) == {"system_error": 2}
    assert scores.attrs["notes"] == [
        "log.json: the run did not end well (status 'error'); what it holds was read",
        "log.json: if the run was retried, the later log (its task_id is 'T1' too) repeats the "
        "finished samples of this one: read only that one",
    ]


def test_a_score_given_at_a_limit_stands_and_a_missing_one_is_lost(tmp_path: Path) -> None:
    limit = {"type": "message", "limit": 50.0}
    samples = [
        sample(1),
        sample(2, "I", limit=limit),
        sample(3, scores={}, limit=limit),
        sample(4, scores={}),
    ]
    path = write_json(tmp_path / "log.json", samples)
    scores = read_scores(path)
    assert scores["status"].tolist() == ["scored", "scored", "system_error", "unscored"]
    assert scores["message"].fillna("").tolist() == [
        "",
        "stopped at its message limit of 50",
        "stopped at its message limit of 50 and not scored",
        "not scored",
    ]
    assert read_outputs(path)["finish_reason"].fillna("").tolist() == [
        "",
        "message limit of 50",
        "message limit of 50",
        "",
    ]


def test_a_verdict_that_was_taken_back_is_unscored(tmp_path: Path) -> None:
    path = write_json(
        tmp_path / "log.json", [sample(1), sample(2, "C", invalidation={"reason": "wrong image"})]
    )
    row = read_scores(path).iloc[1]
    assert (row["status"], row["label"], row["message"]) == (
        "unscored",
        "C",
        "invalidated: wrong image",
    )


@pytest.mark.parametrize("kind", ["token", "time", "working", "context", "cost", "operator"])
def test_every_kind_of_limit_is_named_and_counted(tmp_path: Path, kind: str) -> None:
    stopped = sample(1, scores={}, limit={"type": kind, "limit": 1.5})
    path = write_json(tmp_path / "log.json", [stopped, sample(2)])
    scores = read_scores(path)
    assert scores["status"].tolist() == ["system_error", "scored"]
    assert scores["message"].iloc[0] == f"stopped at its {kind} limit of 1.5 and not scored"
    assert scores.attrs["notes"] == [
        f"log.json: 1 sample(s) were stopped at a limit: '{kind} limit of 1.5 (1×)'"
    ]
    assert read_outputs(path)["finish_reason"].iloc[0] == f"{kind} limit of 1.5"


def test_a_sample_that_succeeded_after_retries_is_scored(tmp_path: Path) -> None:
    attempts = [{"message": "503 busy", "traceback": "..."}, {"message": "x" * 900}]
    gone = sample(3, scores={}, error={"message": "503 again"}, error_retries=attempts[:1])
    samples = [sample(1, error_retries=attempts), sample(2, error_retries=[]), gone]
    path = write_json(tmp_path / "log.json", samples)
    scores = read_scores(path)
    assert scores["status"].tolist() == ["scored", "scored", "system_error"]
    assert scores["message"].fillna("").tolist() == ["", "", "503 again"]
    assert scores.attrs["notes"] == [
        "log.json: 1 sample(s) were tried again after errors (2 failed attempts): their last "
        "attempt is read"
    ]
    outputs = read_outputs(path)
    assert outputs["retries"].tolist() == [2, 0, 1]
    assert outputs["error"].fillna("").tolist() == ["", "", "503 again"]
    told = json.loads(read_details(path)["details"].iloc[0])["error_retries"]
    assert told == ["503 busy", "x" * 299 + "…"]


def test_logs_that_count_no_retries_have_no_column_of_them(tmp_path: Path) -> None:
    assert "retries" not in read_outputs(write_json(tmp_path / "log.json", [sample(1)])).columns


def test_a_scorer_of_several_criteria_that_gives_one_nothing_has_measured_none(
    tmp_path: Path,
) -> None:
    values: list[Any] = [{"a": 1, "b": 0}, float("nan"), None, {}, {"a": 0, "b": 1}]
    scores = read_scores(
        write_json(tmp_path / "log.json", [sample(n, value) for n, value in enumerate(values)])
    )
    assert scores["criterion"].tolist() == ["match.a", "match.b"] * 5
    assert statuses(scores) == {"scored": 4, "unscored": 6}
    assert scores["label"].dropna().tolist() == ["NaN", "NaN"]
    assert scores.loc[4:7, "message"].unique().tolist() == ["the scorer gave no value"]


def test_keys_that_differ_from_sample_to_sample_are_not_spread(tmp_path: Path) -> None:
    values = [{"polite": 1}, {"short": 0}, None]
    scores = read_scores(
        write_json(tmp_path / "log.json", [sample(n, value) for n, value in enumerate(values)])
    )
    assert scores["criterion"].tolist() == ["match.polite", "match.short", "match"]
    assert statuses(scores) == {"scored": 2, "unscored": 1}


def test_a_sample_that_one_scorer_left_out_is_unscored_by_it(tmp_path: Path) -> None:
    both = sample(1, scores={"match": {"value": "C"}, "tone": {"value": {"warm": 3, "dry": 1}}})
    scores = read_scores(write_json(tmp_path / "log.json", [both, sample(2, "I")]))
    assert scores["example_id"].tolist() == ["1"] * 3 + ["2"] * 3
    assert scores["criterion"].tolist() == ["match", "tone.warm", "tone.dry"] * 2
    assert scores["status"].tolist() == ["scored"] * 4 + ["unscored"] * 2
    assert scores["scorer"].tolist() == ["match", "tone", "tone"] * 2
    assert scores["message"].iloc[5] == "this scorer gave the sample no score"


def test_roles_are_noted_and_the_system_stays_the_evaluated_model(tmp_path: Path) -> None:
    roles = {
        "grader": [{"model": "lab/judge-1"}, {"model": "lab/judge-2"}],
        "attacker": {"model": "lab/red"},
        "nobody": {},
    }
    graded = sample(1, scores={"model_graded_fact": {"value": "C"}})
    path = write_json(tmp_path / "log.json", [graded], eval_model_roles=roles)
    scores = read_scores(path)
    assert scores["system"].tolist() == ["lab/model-a"]
    assert scores["scorer"].tolist() == ["model_graded_fact (lab/judge-1, lab/judge-2)"]
    assert scores.attrs["notes"] == [
        "log.json: models in other roles: 'grader = lab/judge-1, lab/judge-2', 'attacker = lab/red'"
    ]


def test_a_log_that_was_marked_as_invalid_says_so(tmp_path: Path) -> None:
    scores = read_scores(write_json(tmp_path / "log.json", [sample(1)], invalidated=True))
    assert scores.attrs["notes"] == [
        "log.json: the log has been marked as invalid since it was written"
    ]


def test_metrics_of_a_shortened_log_are_told_and_never_compared(tmp_path: Path) -> None:
    metrics = {"accuracy": {"value": 0.72}}
    results = {"scores": [{"name": "match", "scorer": "match", "metrics": metrics}]}
    path = write_json(tmp_path / "log.json", [sample(1, "I")], results=results)
    assert read_scores(path)["score"].tolist() == [0.0]
    assert read_report(path).aggregates["value"].tolist() == [0.72]


def test_samples_that_never_ran_are_counted_and_not_invented(tmp_path: Path) -> None:
    path = write_json(
        tmp_path / "log.json",
        [sample(1), sample(2)],
        status="cancelled",
        eval_dataset={"sample_ids": [1, "2", 3]},
        eval_config={"epochs": 2},
    )
    scores = read_scores(path)
    assert len(scores) == 2
    assert any(
        "4 sample(s) of the run's plan are not in the log" in n for n in scores.attrs["notes"]
    )


def test_a_run_without_any_verdict_is_refused_alone_and_skipped_in_a_folder(tmp_path: Path) -> None:
    results = {"scores": []}
    bare = write_json(tmp_path / "bare.json", [sample(1, scores={})], results=results)
    with pytest.raises(ReadError, match="1 sample.* none of them scored"):
        read_scores(bare)
    write_json(tmp_path / "scored.json", [sample(1)])
    scores = read_scores(tmp_path)
    assert len(scores) == 1
    assert [Path(each["file"]).name for each in scores.attrs["skipped"]] == ["bare.json"]


def test_metadata_becomes_attributes_only_where_it_describes_the_example(tmp_path: Path) -> None:
    def about(number: int, epoch: int, **metadata: Any) -> dict[str, Any]:
        return sample(number, epoch=epoch, metadata=metadata)

    samples = [
        about(1, 1, topic="cats", level=2, source="web", note="x", text="t" * 81, answer="yes"),
        about(1, 2, topic="cats", level=2, source="web", note="y", text="short", answer="yes"),
        about(2, 1, topic="dogs", hard=True, tags=["a"], answer="no"),
    ]
    scores = read_scores(write_json(tmp_path / "log.json", samples))
    known = {"timestamp", "input_digest"}
    attributes = [name for name in scores.columns[14:] if name not in known]
    assert attributes == ["topic", "level", "metadata.source", "hard"]
    assert scores["topic"].tolist() == ["cats", "cats", "dogs"]
    assert scores["metadata.source"].fillna("").tolist() == ["web", "web", ""]


def test_the_cluster_of_the_task_s_own_standard_error_is_used(tmp_path: Path) -> None:
    metrics = [{"name": "inspect_ai/stderr", "options": {"cluster": "passage"}}]
    samples = [sample(n, metadata={"passage": f"p{n // 2}"}) for n in range(4)]
    path = write_json(
        tmp_path / "log.json", samples, eval_scorers=[{"name": "match", "metrics": metrics}]
    )
    scores = read_scores(path)
    assert scores["cluster"].tolist() == ["p0", "p0", "p1", "p1"]
    assert any("'passage'" in note for note in scores.attrs["notes"])


def test_the_digest_follows_the_question_and_not_the_ids_of_messages(tmp_path: Path) -> None:
    def asked(text: str, message_id: str) -> list[dict[str, str]]:
        return [{"id": message_id, "role": "user", "content": text}]

    stored = {"attachments": {"0" * 32: "one"}}
    samples = [
        sample(1, input=asked("one", "m1")),
        sample(2, input=asked("one", "m2")),
        sample(3, input=asked("attachment://" + "0" * 32, "m3"), **stored),
        sample(4, input=asked("two", "m1")),
        sample(5, input=asked("one", "m1"), choices=["a", "b"]),
    ]
    digests = read_scores(write_json(tmp_path / "log.json", samples))["input_digest"].tolist()
    assert digests[0] == digests[1] == digests[2]
    assert len({digests[0], digests[3], digests[4]}) == 3


def test_logs_of_early_2024_have_one_score_and_no_eval_id(tmp_path: Path) -> None:
    old = {"id": 1, "epoch": 1, "input": "q", "target": "a", "score": {"value": "C"}}
    results = {"scorer": {"name": "match"}, "metrics": {"accuracy": {"value": 1.0}}}
    path = write_json(
        tmp_path / "log.json", [old], results=results, eval_eval_id=None, eval_scorers=None
    )
    scores = read_scores(path)
    assert scores[["run_id", "criterion", "score"]].values.tolist() == [["T1", "match", 1.0]]
    assert any("no eval_id" in note for note in scores.attrs["notes"])
    assert read_report(path).aggregates["value"].tolist() == [1.0]


def test_two_models_of_one_set_of_runs_stay_apart(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", [sample(1)])
    write_json(tmp_path / "b.json", [sample(1, "I")], eval_eval_id="E2", eval_model="lab/model-b")
    scores = read_scores(tmp_path)
    assert scores["run_id"].tolist() == ["E1", "E2"]
    assert read_scores(tmp_path / "a.json", system="mine")["system"].tolist() == ["mine"]


def test_a_sample_that_stands_twice_is_refused_with_its_places(tmp_path: Path) -> None:
    path = write_json(tmp_path / "log.json", [sample(1), sample(1, "I")])
    with pytest.raises(SchemaError, match=r"samples\[0\].*samples\[1\]"):
        read_scores(path)


# --- outputs, details, report -----------------------------------------------------------------


def test_outputs_hold_texts_and_resources_of_the_evaluated_model(tmp_path: Path) -> None:
    usage = {
        "lab/model-a": {
            "input_tokens": 10,
            "input_tokens_cache_read": 5,
            "output_tokens": 2,
            "reasoning_tokens": 30,
            "total_tokens": 47,
        },
        "lab/judge": {"input_tokens": 999, "output_tokens": 999, "total_tokens": 1998},
    }
    asked = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "attachment://" + "a" * 32}]},
    ]
    call = {"id": "1", "function": "look", "arguments": {"at": "cat"}}
    full = sample(
        1,
        input=asked,
        target=["cat", "tom cat"],
        output={"choices": [{"message": {"content": "A cat."}, "stop_reason": "stop"}]},
        messages=[*asked, {"role": "assistant", "content": "", "tool_calls": [call]}],
        attachments={"a" * 32: "What is this?"},
        model_usage=usage,
        total_time=1.5,
        completed_at="2025-06-01T10:00:05+02:00",
    )
    row = read_outputs(write_json(tmp_path / "log.json", [full])).iloc[0]
    assert row["input"] == "system: Be brief.\n\nuser: What is this?"
    assert row["output"] == "A cat."
    assert json.loads(row["reference"]) == ["cat", "tom cat"]
    assert json.loads(row["tool_calls"]) == [{"name": "look", "arguments": {"at": "cat"}}]
    # 15 in; 2 written and 30 reasoned, which this provider counts apart: 47 in all.
    assert (row["tokens_in"], row["tokens_out"], row["latency_s"]) == (15.0, 32.0, 1.5)
    assert row["finish_reason"] == "stop"
    assert row["timestamp"] == pd.Timestamp("2025-06-01T08:00:05Z")


def test_reasoning_inside_the_output_tokens_is_not_counted_twice(tmp_path: Path) -> None:
    usage = {"input_tokens": 60, "output_tokens": 199, "total_tokens": 259, "reasoning_tokens": 192}
    path = write_json(tmp_path / "log.json", [sample(1, model_usage={"lab/model-a": usage})])
    assert read_outputs(path)["tokens_out"].tolist() == [199.0]


def test_details_hold_what_is_too_long_for_the_score_table(tmp_path: Path) -> None:
    scores = {"match": {"value": "C", "explanation": "e" * 5000, "metadata": {"x": float("nan")}}}
    path = write_json(tmp_path / "log.json", [sample(1, scores=scores)])
    details = json.loads(read_details(path)["details"].iloc[0])
    assert details == {"explanation": "e" * 5000, "metadata": {"x": "NaN"}}
    assert read_scores(path)["message"].isna().all()


def test_the_report_repeats_what_the_log_claims(tmp_path: Path) -> None:
    def entry(name: str, reducer: str | None, **metrics: float) -> dict[str, Any]:
        values = {metric: {"value": value} for metric, value in metrics.items()}
        return {"name": name, "scorer": "match", "reducer": reducer, "metrics": values}

    results = {
        "scores": [
            entry("match", "mean", accuracy=0.7, stderr=0.1),
            entry("match", "max", accuracy=0.9),
            entry("tone", None, mean=0.2),
        ]
    }
    path = write_json(tmp_path / "log.json", [sample(1)], results=results)
    told = read_report(path).aggregates.set_index(["criterion", "metric"])
    assert told["value"].to_dict() == {
        ("match", "mean/accuracy"): 0.7,
        ("match", "max/accuracy"): 0.9,
        ("match.tone", "mean"): 0.2,
    }
    assert told["stderr"].dropna().to_dict() == {("match", "mean/accuracy"): 0.1}


# --- archives ---------------------------------------------------------------------------------


def test_a_crashed_log_is_read_from_its_journal(tmp_path: Path) -> None:
    content = members([sample(1), sample(2, "I")])
    for name in ("header.json", "summaries.json"):
        content.pop(name)
    content["_journal/summaries/1.json"] = [
        {**sample(2, "I"), "completed": True},
        {**sample(3, "C"), "error": "out of memory", "completed": True},
        {**sample(4, "C"), "completed": False},
    ]
    scores = read_scores(write_eval(tmp_path / "log.eval", content))
    assert scores["example_id"].tolist() == ["1", "2", "3"]
    assert scores["status"].tolist() == ["scored", "scored", "system_error"]
    assert scores["message"].iloc[2] == "out of memory"
    # A summary may be abridged, so nothing is said about what was asked.
    assert scores["input_digest"].notna().tolist() == [True, True, False]
    assert any("no header.json" in note for note in scores.attrs["notes"])


def reductions(*reducers: str | None) -> list[dict[str, Any]]:
    reduced = [{"sample_id": 1, "value": 0.75}, {"sample_id": 2, "value": "I"}]
    return [{"scorer": "match", "reducer": name, "samples": reduced} for name in reducers]


def test_scores_reduced_over_epochs_are_for_the_report_only(tmp_path: Path) -> None:
    content = members([sample(1), sample(1, "I", epoch=2)], eval_config={"epochs": 2})
    content["reductions.json"] = [
        {"scorer": "match", "reducer": "mean", "samples": [{"sample_id": 1, "value": 0.5}]},
        {"scorer": "tone", "samples": [{"sample_id": 1, "value": {"warm": 3, "dry": "NaN"}}]},
    ]
    path = write_eval(tmp_path / "log.eval", content)
    assert read_scores(path)["score"].tolist() == [1.0, 0.0]
    told = read_report(path).aggregates
    assert told[["criterion", "metric", "example_id", "n"]].values.tolist() == [
        ["match", "reduced/mean", "1", 2],
        ["tone.warm", "reduced/mean", "1", 2],
        ["tone.dry", "reduced/mean", "1", 2],
    ]
    assert told["value"].fillna(-1).tolist() == [0.5, 3.0, -1]


def test_where_only_means_over_epochs_are_left_there_are_no_scores(tmp_path: Path) -> None:
    content = {**members([], eval_config={"epochs": 4}), "reductions.json": reductions("mean")}
    path = write_eval(tmp_path / "log.eval", content)
    with pytest.raises(ReadError, match=r"over 4 epochs and no single scores .* log_samples on"):
        read_scores(path)
    assert read_report(path).aggregates["value"].tolist() == [0.75, 0.0]


def test_what_is_left_of_a_single_epoch_is_no_mean_and_read(tmp_path: Path) -> None:
    content = {
        **members([], eval_config={"epochs": 1}),
        "reductions.json": reductions("at_least_1", None, "max"),
    }
    scores = read_scores(write_eval(tmp_path / "log.eval", content))
    assert scores[["example_id", "criterion", "score"]].values.tolist() == [
        ["1", "match", 0.75],
        ["2", "match", 0.0],
    ]
    assert scores.attrs["notes"] == [
        "log.eval: the log holds no samples: 2 scores were taken from its reductions, since a run "
        "with one epoch has nothing to reduce"
    ]


def test_samples_that_cannot_be_read_are_not_replaced_by_reductions(tmp_path: Path) -> None:
    path = write_json(tmp_path / "log.json", [{"epoch": 1}], reductions=reductions("mean"))
    with pytest.warns(EvalToolkitWarning, match=r"1 record\(s\) could not be read"):
        assert len(read_scores(path, on_error="skip")) == 0


def test_zstandard_members_are_read(tmp_path: Path) -> None:
    path = write_zstandard(tmp_path / "log.eval", members([sample(1), sample(2, "I")]))
    assert read_scores(path)["score"].tolist() == [1.0, 0.0]


def test_without_the_zstandard_package_the_error_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_zstandard(tmp_path / "log.eval", members([sample(1)]))
    if hasattr(zipfile, "ZIP_ZSTANDARD"):
        pytest.skip("this Python reads Zstandard archives by itself")
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    with pytest.raises(MissingDependencyError, match=r"evaltoolkit\[zstd\]"):
        read_scores(path)


def test_a_member_appended_again_replaces_the_first(tmp_path: Path) -> None:
    path = write_eval(tmp_path / "log.eval", members([sample(1, "I")]))
    with (
        pytest.warns(UserWarning, match="Duplicate name"),
        zipfile.ZipFile(path, "a") as archive,
    ):
        archive.writestr("samples/1_epoch_1.json", json.dumps(sample(1, "C")))
    assert read_scores(path)["score"].tolist() == [1.0]


def test_a_truncated_archive_says_so(tmp_path: Path) -> None:
    path = write_eval(tmp_path / "log.eval", members([sample(1)]))
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(ReadError, match="cut off or damaged"):
        read_scores(path)


def test_a_broken_member_is_refused_or_listed(tmp_path: Path) -> None:
    content: dict[str, Any] = members([sample(1), sample(2)])
    content["samples/3_epoch_1.json"] = b'{"id": 3, "epo'
    content["samples/4_epoch_1.json"] = {"epoch": 1}
    content["samples/5_epoch_1.json"] = {**sample(5), "scores": "none"}
    path = write_eval(tmp_path / "log.eval", content)
    with pytest.raises(ReadError, match=r"samples/3_epoch_1.json: the JSON is (cut off|malformed)"):
        read_scores(path)
    with pytest.warns(EvalToolkitWarning, match=r"3 record\(s\) could not be read"):
        scores = read_scores(path, on_error="skip")
    assert scores["example_id"].tolist() == ["1", "2"]
    assert [each["record"] for each in scores.attrs["problems"]] == [
        f"samples/{number}_epoch_1.json" for number in (3, 4, 5)
    ]


def test_a_member_with_flipped_bytes_is_named(tmp_path: Path) -> None:
    path = write_eval(tmp_path / "log.eval", members([sample(1, explanation="x" * 500)]))
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("samples/1_epoch_1.json")
    content = bytearray(path.read_bytes())
    content[info.header_offset + HEADER_SIZE + len(info.filename) + 40] ^= 0xFF
    path.write_bytes(bytes(content))
    with pytest.raises(ReadError, match=r"damaged \(samples/1_epoch_1.json"):
        read_scores(path)


@pytest.mark.parametrize(
    ("bound", "value", "message"),
    [
        ("MAX_MEMBERS", 3, "has 4 members"),
        ("MAX_MEMBER_BYTES", 50, "more than 50 bytes"),
        ("RATIO_COUNTS_FROM_BYTES", 1, "more than 1000 times"),
    ],
)
def test_hostile_archives_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str, value: int, message: str
) -> None:
    bomb = {**sample(1), "input": "0" * 3_000_000}
    path = write_eval(tmp_path / "log.eval", members([bomb]))
    monkeypatch.setattr(archives, bound, value)
    if bound == "RATIO_COUNTS_FROM_BYTES":
        monkeypatch.setattr(archives, "MAX_RATIO", 900)
        message = "more than 900 times"
    with pytest.raises(ReadError, match=message) as caught:
        read_scores(path)
    assert caught.value.code == "unsafe_archive"


def test_an_archive_that_hides_its_size_is_refused(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    assert zstandard
    path = write_zstandard(tmp_path / "log.eval", members([sample(1)]))
    content = path.read_bytes()
    raw = json.dumps(sample(1)).encode()
    lie = struct.pack("<L", len(raw)), struct.pack("<L", 10)
    path.write_bytes(content.replace(*lie))
    with pytest.raises(ReadError, match="holds more than the archive's directory says"):
        read_scores(path)


def test_other_files_are_not_taken_for_logs(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"eval": "text", "rows": []}))
    bare = write_eval(tmp_path / "other.zip", {"readme.txt": "hello"})
    assert not FORMAT.detect(Source(other))
    assert not FORMAT.detect(Source(bare))
    nobody = write_json(tmp_path / "log.json", [sample(1)], eval_model="")
    with pytest.raises(ReadError, match="which model was evaluated"):
        read_scores(nobody)


def test_texts_come_in_portions(tmp_path: Path) -> None:
    path = write_json(tmp_path / "log.json", [sample(number) for number in range(450)])
    reading = Reading(want=frozenset({"outputs"}))
    batches = list(FORMAT.read(Source(path), reading))
    assert [len(batch.outputs) for batch in batches] == [200, 200, 50]
    assert [len(batch.scores) for batch in batches] == [0, 0, 0]


# --- real logs --------------------------------------------------------------------------------


class Real(NamedTuple):
    """What one real file holds, counted by hand: samples, sum of scores by criterion, the rest."""

    samples: int
    sums: dict[str, float]
    statuses: dict[str, int]
    labels: dict[str, int]


def scored(samples: int, /, *, labels: dict[str, int] | None = None, **sums: float) -> Real:
    return Real(samples, sums, {"scored": samples * len(sums)}, labels or {})


_IF = "instruction_following"
REAL: dict[str, Real] = {
    "eval/2025-02-11T15-17-00-05-00_popularity_dPiJifoWeEQBrfWsAopzWr.eval": Real(10, {}, {}, {}),
    "eval/2025-02-11T15-18-04-05-00_popularity_mj7khqpMM4GBCfVQozKgzB.eval": scored(
        10, match=8, labels={"C": 8, "I": 2}
    ),
    "eval/log_formats.eval": scored(1, match=0, labels={"I": 1}),
    "eval/log_read_sample.eval": scored(1, match=1, labels={"C": 1}),
    "eval/log_streaming.eval": scored(4, match=3, labels={"C": 3, "I": 1}),
    "eval/mmlu-no-summary-choices.eval": scored(1, choice=0, labels={"I": 1}),
    "eval/zstd_legacy_retry-2-then-success.eval": Real(1, {}, {}, {}),
    "json/2024-08-29T15-11-17_00-00_popularity_5EAmX6wjMFqea6WY7XHzZp.json": Real(0, {}, {}, {}),
    "json/2025-05-12T20-27-36-04-00_browser.json": scored(1, includes=1, labels={"C": 1}),
    # Its three samples are gone; their means over one epoch are left.
    "json/2025-05-12T20-28-13-04-00_no-samples.json": Real(0, {"match": 2}, {"scored": 3}, {}),
    "json/2025-05-12T20-28-13-04-00_popularity.json": scored(3, match=2, labels={"C": 2, "I": 1}),
    "json/eee_data_arc_qwen.json": scored(3, choice=1, labels={"C": 1, "I": 2}),
    "json/eee_data_cvebench_empty_choices.json": Real(
        1, {"check_exploit": 0}, {"system_error": 1}, {}
    ),
    "json/eee_data_cyse2_vuln_exploit_challenges.json": scored(1, vul_exploit_scorer=0.65),
    "json/eee_data_intercode_ctf_local_path.json": scored(1, includes=0, labels={"I": 1}),
    "json/log_formats.json": scored(1, match=0, labels={"I": 1}),
    "json/log_images.json": scored(1, match=0, labels={"I": 1}),
    "json/log_read_sample.json": scored(1, match=1, labels={"C": 1}),
    "json/shortened_browse-comp.json": Real(
        5,
        {"browse_comp_scorer.score": 0, "browse_comp_scorer.confidence": 90 + 200 + 80 + 85},
        {"scored": 10},
        {"I": 5},
    ),
    "json/shortened_drop.json": scored(5, f1=1),
    "json/shortened_gsm8k.json": scored(5, match=5, labels={"C": 5}),
    "json/shortened_healthbench.json": Real(
        5, {"_scorer.healthbench_score": 0}, {"system_error": 5}, {}
    ),
    "json/shortened_ifeval.json": Real(
        5,
        {
            f"{_IF}.prompt_level_strict": 1,
            f"{_IF}.inst_level_strict": 3,
            f"{_IF}.prompt_level_loose": 1,
            f"{_IF}.inst_level_loose": 5,
            f"{_IF}.num_instructions": 9,
        },
        {"scored": 25},
        {},
    ),
    "json/shortened_lab-bench-cloning-scenarios.json": scored(
        5, precision_choice=1, labels={"I": 2, "N": 2, "C": 1}
    ),
    "json/shortened_lab-bench-litqa.json": scored(5, precision_choice=0, labels={"I": 1, "N": 4}),
    "json/shortened_math.json": scored(
        5,
        expression_equivalance=1,
        expression_exact_match=1,
        expression_exact_match_sympy=0,
        labels={"C": 2, "I": 13},
    ),
    "json/shortened_mmlu-0-shot.json": scored(5, choice=4, labels={"C": 4, "I": 1}),
    "json/shortened_personality-BFI.json": scored(5, any_choice=5, labels={"C": 5}),
    "json/shortened_sad-stages-oversight.json": scored(
        5, lenient_mcq_choice=1.5, labels={"I": 3, "C": 1}
    ),
}

# Letters after the last "_" of the file name: model, samples, epochs, how many are correct.
POPULARITY = {
    "L8g2GLGDDfsiXvdJ8LyZNJ": ("openai/gpt-5", 100, 1, 52),
    "LthYhadZHuQjsMYHHKRep2": ("anthropic/claude-sonnet-4-20250514", 100, 1, 57),
    "eF3BogZE3jzpiWBjjDWbik": ("google/gemini-2.5-pro", 100, 1, 66),
    "A2Ld8PcXe79grUc5trBXEb": ("google/gemini-2.5-flash-lite", 100, 1, 68),
    "CzDPvkooKpp4d24wMPkx5d": ("google/gemini-2.5-flash-lite", 100, 1, 70),
    "TrR56PVX4fHPUViCDMPg8g": ("google/gemini-2.5-flash", 100, 1, 58),
    "DN2wbX2ZvACsBpjwptzBRo": ("openai/gpt-4o-mini", 100, 1, 63),
    "CuCFPdqnwXupUkxp69nJ2a": ("openai/gpt-5", 10, 5, 30),
    "J5EskSJVsBD9iRd47twk8x": ("google/gemini-2.5-pro", 10, 5, 35),
    "jKN69eAYYpZFAZhRgMAztp": ("anthropic/claude-sonnet-4-20250514", 10, 5, 33),
}


def test_every_real_log_has_a_typed_count(shared_data: Path) -> None:
    folder = shared_data / "inspect"
    found = {str(path.relative_to(folder)) for path in folder.glob("*/*")}
    assert found == set(REAL)


@pytest.mark.parametrize("name", REAL)
def test_real_logs(shared_data: Path, name: str) -> None:
    path, expected = shared_data / "inspect" / name, REAL[name]
    if expected.samples:
        assert len(read_outputs(path)) == expected.samples
    if not expected.statuses:
        with pytest.raises(ReadError, match=r"none of them scored|no samples"):
            read_scores(path)
        return
    scores = read_scores(path)
    assert statuses(scores) == expected.statuses
    assert scores.groupby("criterion")["score"].sum().to_dict() == pytest.approx(expected.sums)
    assert scores["label"].value_counts().to_dict() == expected.labels


def test_the_real_limit_and_cluster(shared_data: Path) -> None:
    folder = shared_data / "inspect" / "json"
    stopped = read_scores(folder / "eee_data_intercode_ctf_local_path.json")
    assert stopped["message"].tolist() == ["stopped at its message limit of 50"]
    passages = read_scores(folder / "shortened_drop.json")
    assert passages["cluster"].notna().all()
    judged = read_scores(folder / "shortened_browse-comp.json")
    assert judged["scorer"].unique().tolist() == [
        "browse_comp_scorer (hf/Qwen/Qwen2.5-7B-Instruct)"
    ]


@pytest.fixture(scope="module")
def popularity(shared_data: Path) -> pd.DataFrame:
    return read_scores(shared_data / "paired" / "inspect_popularity_logs" / "*.eval")


def test_popularity_counts(popularity: pd.DataFrame) -> None:
    assert len(popularity) == 850
    assert statuses(popularity) == {"scored": 850}
    found = {}
    for source, rows in popularity.groupby(popularity["source"].str.split(":").str[0]):
        letters = str(source).removesuffix(".eval").rpartition("_")[2]
        examples, epochs = rows["example_id"].nunique(), rows["trial"].nunique()
        found[letters] = (rows["system"].iloc[0], examples, epochs, int(rows["score"].sum()))
        assert len(rows) == examples * epochs
    assert found == POPULARITY
    assert popularity["run_id"].nunique() == 10


def test_popularity_pairs_agree_with_the_oracles(
    popularity: pd.DataFrame, shared_data: Path
) -> None:
    counts = popularity.groupby("run_id")["example_id"].transform("nunique")
    wide = popularity[counts == 100].pivot_table("score", "example_id", ["system", "run_id"])
    first, second = wide["openai/gpt-5"].iloc[:, 0], wide["google/gemini-2.5-pro"].iloc[:, 0]
    pairs = pd.crosstab(first, second)
    both, only_first, only_second, neither = (
        pairs.loc[a, b] for a, b in ((1, 1), (1, 0), (0, 1), (0, 0))
    )
    assert (both, only_second, only_first, neither) == (51, 15, 1, 33)
    rerun = wide["google/gemini-2.5-flash-lite"]
    assert sorted(rerun.sum()) == [68.0, 70.0]
    again = pd.crosstab(rerun.iloc[:, 0], rerun.iloc[:, 1])
    assert (again.loc[1, 1], again.loc[0, 0]) == (65, 27)
    oracles = json.loads((shared_data / "paired" / "oracles.json").read_text())["inspect_epochs"]
    epochs = popularity[counts == 10]
    for system, facts in oracles.items():
        sums = epochs[epochs["system"] == system].groupby("example_id")["score"].sum()
        assert sums.sum() == facts["C"]
        assert sums.to_dict() == facts["per_sample"]


def test_popularity_questions_are_the_same_for_all_models(popularity: pd.DataFrame) -> None:
    assert (popularity.groupby("example_id")["input_digest"].nunique() == 1).all()


def test_popularity_tokens(shared_data: Path) -> None:
    folder = shared_data / "paired" / "inspect_popularity_logs"
    outputs = read_outputs(folder / "*_CuCFPdqnwXupUkxp69nJ2a.eval")
    # The totals that the log itself reports for gpt-5.
    assert (outputs["tokens_in"].sum(), outputs["tokens_out"].sum()) == (3050, 12766)
    assert outputs["reference"].isin([" Yes", " No"]).all()
    told = read_report(folder / "*_CuCFPdqnwXupUkxp69nJ2a.eval").aggregates.iloc[0]
    assert (told["value"], round(told["stderr"], 6), told["n"]) == (0.6, 0.163299, 10)
