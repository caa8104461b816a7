"""HELM: own small run directories for each trap, real ones against totals counted by hand.

The totals of the real files come from a script of their own that shares no code with the reader,
and were typed in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from evaltoolkit.errors import EvalToolkitWarning, ReadError
from evaltoolkit.readers import read_outputs, read_report, read_scores
from evaltoolkit.readers.base import Source
from evaltoolkit.readers.helm import FORMAT

NAME = "riddles:topic=birds,model=lab_owl-2"


def stat(name: str, value: float | None, *, count: int = 1, **context: Any) -> dict[str, Any]:
    return {
        "name": {"name": name, "split": "test", **context},
        "count": count,
        "sum": value or 0.0,
        "sum_squared": 0.0,
        "mean": value,
    }


def instance(name: str, *stats: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"instance_id": name, "train_trial_index": 0, "stats": list(stats), **more}


def request(name: str, text: str, **more: Any) -> dict[str, Any]:
    return {
        "instance": {
            "id": name,
            "input": {"text": f"what is {name}?"},
            "references": [
                {"output": {"text": "a wren"}, "tags": ["correct"]},
                {"output": {"text": "a rook"}, "tags": []},
            ],
        },
        "train_trial_index": 0,
        "request": {"prompt": f"Answer. What is {name}?"},
        "result": {
            "success": True,
            "completions": [{"text": text, "logprob": -1.0, "finish_reason": {"reason": "stop"}}],
            "request_time": 0.25,
            "request_datetime": 1750000000,
        },
        **more,
    }


def run(
    folder: Path,
    instances: Sequence[Any],
    *,
    method: str = "generation",
    requests: Sequence[Any] | None = None,
    metrics: Sequence[str] = (),
) -> Path:
    """Write a run directory."""
    place = folder / "suite" / NAME
    place.mkdir(parents=True)
    adapter = {"method": method, "model": "lab/owl-2"}
    spec = {
        "name": NAME,
        "scenario_spec": {},
        "adapter_spec": adapter,
        "metric_specs": [{"class_name": "m", "args": {"names": list(metrics)}}],
    }
    (place / "run_spec.json").write_text(json.dumps(spec), "utf-8")
    (place / "per_instance_stats.json").write_text(json.dumps(list(instances)), "utf-8")
    if requests is not None:
        state = {"adapter_spec": adapter, "request_states": list(requests)}
        (place / "scenario_state.json").write_text(json.dumps(state), "utf-8")
    return place


def test_a_run_directory_becomes_rows(tmp_path: Path) -> None:
    place = run(tmp_path, [instance("id1", stat("exact_match", 1.0), stat("f1_score", 0.5))])
    scores = read_scores(tmp_path)
    assert scores["criterion"].tolist() == ["exact_match", "f1_score"]
    assert scores["score"].tolist() == [1.0, 0.5]
    row = scores.iloc[0]
    assert (row["system"], row["task"]) == ("lab/owl-2", "riddles:topic=birds")
    assert (row["run_id"], row["example_id"], row["trial"]) == (NAME, "id1", 0)
    assert (row["lower_bound"], row["upper_bound"], row["higher_is_better"]) == (0.0, 1.0, True)
    assert row["split"] == "test"
    assert row["source"] == f"{place.name}/per_instance_stats.json: record 0"
    assert "cluster" not in scores
    assert any("'lab/owl-2' taken from run_spec.json" in note for note in scores.attrs["notes"])


def test_what_describes_the_request_is_left_out_with_a_count(tmp_path: Path) -> None:
    names = ("num_output_tokens", "finish_reason_stop", "training_co2_cost", "logprob")
    place = run(tmp_path, [instance("id1", stat("exact_match", 0.0), *(stat(n, 1) for n in names))])
    scores = read_scores(place)
    assert len(scores) == 1
    (note,) = [note for note in scores.attrs["notes"] if "describe the requests" in note]
    assert "4 stats of 4 kind(s)" in note
    assert all(name in note for name in names)


def test_log_probabilities_judge_a_language_model(tmp_path: Path) -> None:
    place = run(tmp_path, [instance("id1", stat("logprob", -9.5))], method="language_modeling")
    assert read_scores(place)["criterion"].tolist() == ["logprob"]


def test_stats_of_unknown_kind_are_counted_unless_the_run_declares_them(tmp_path: Path) -> None:
    rows = [instance(f"id{n}", stat("vibes", 3.0), stat("exact_match", 1.0)) for n in range(2)]
    with pytest.warns(EvalToolkitWarning, match="vibes"):
        scores = read_scores(run(tmp_path / "a", rows))
    assert scores["criterion"].unique().tolist() == ["exact_match"]
    assert [each["count"] for each in scores.attrs["unknown"]] == [2]
    declared = read_scores(run(tmp_path / "b", rows, metrics=["vibes"]))
    assert declared["criterion"].tolist() == ["vibes", "exact_match"] * 2
    assert declared["higher_is_better"].isna().tolist() == [True, False] * 2


def test_a_metric_at_k_and_one_where_less_is_better(tmp_path: Path) -> None:
    rows = [instance("id1", stat("exact_match@5", 1.0), stat("wer_score", 1.75))]
    scores = read_scores(run(tmp_path, rows)).set_index("criterion")
    assert scores.loc["exact_match@5", "upper_bound"] == 1.0
    assert scores["higher_is_better"].tolist() == [True, False]
    assert scores["upper_bound"].isna().tolist() == [False, True]


def test_a_stat_that_measured_nothing_is_no_zero(tmp_path: Path) -> None:
    rows = [
        instance("id1", stat("exact_match", None, count=0)),
        instance("id2", stat("exact_match", float("nan"))),
        instance("id3", stat("exact_match", 0.75, count=4)),
    ]
    scores = read_scores(run(tmp_path, rows))
    assert scores["status"].tolist() == ["unscored", "unscored", "scored"]
    assert scores["label"].tolist()[1] == "NaN"
    assert scores["score"].tolist()[2] == 0.75
    assert any("1 score(s) are means over several" in note for note in scores.attrs["notes"])


def test_a_perturbed_copy_is_an_example_in_the_cluster_of_its_instance(tmp_path: Path) -> None:
    typos = {"name": "typos", "robustness": True, "fairness": False, "prob": 0.1}
    rows = [
        instance("id1", stat("exact_match", 1.0)),
        instance("id1", stat("exact_match", 0.0, perturbation=typos), perturbation=typos),
    ]
    scores = read_scores(run(tmp_path, rows))
    assert scores["example_id"].tolist() == ["id1", "id1~typos"]
    assert scores["cluster"].tolist() == ["id1", "id1"]
    assert scores["perturbation"].isna().tolist() == [True, False]
    assert scores["perturbation_robustness"].tolist()[1] is True
    assert any("1 of 2 records are of perturbed copies" in n for n in scores.attrs["notes"])


def test_perturbations_of_one_name_are_told_apart(tmp_path: Path) -> None:
    rows = [
        instance("id1", stat("f1_score", n / 2), perturbation={"name": "gender", "mode": mode})
        for n, mode in enumerate(("nouns", "pronouns"))
    ]
    scores = read_scores(run(tmp_path, rows))
    assert scores["example_id"].tolist() == ["id1~gender(mode=nouns)", "id1~gender(mode=pronouns)"]


def test_training_trials_are_trials(tmp_path: Path) -> None:
    rows = [instance("id1", stat("f1_score", n / 4), train_trial_index=n) for n in range(3)]
    assert read_scores(run(tmp_path, rows))["trial"].tolist() == [0, 1, 2]


def test_a_failed_request_is_an_error_of_the_system(tmp_path: Path) -> None:
    failed = request("id2", "")
    failed["result"] = {"success": False, "error": "content policy", "completions": []}
    rows = [instance(name, stat("exact_match", 0.0)) for name in ("id1", "id2")]
    place = run(tmp_path, rows, requests=[request("id1", "a crow"), failed])
    scores = read_scores(place)
    assert scores["status"].tolist() == ["scored", "system_error"]
    assert (scores["label"][1], scores["message"][1]) == ("0.0", "content policy")
    assert read_outputs(place)["error"].tolist()[1] == "content policy"


def test_outputs(tmp_path: Path) -> None:
    tokens = (stat("num_prompt_tokens", 12.0), stat("num_output_tokens", 3.0))
    rows = [instance("id1", stat("exact_match", 1.0), *tokens)]
    place = run(tmp_path, rows, requests=[request("id1", "a wren")])
    (row,) = read_outputs(place).to_dict("records")
    assert row["input"] == "Answer. What is id1?"
    assert (row["output"], row["reference"], row["finish_reason"]) == ("a wren", "a wren", "stop")
    assert (row["tokens_in"], row["tokens_out"], row["latency_s"]) == (12.0, 3.0, 0.25)
    assert str(row["timestamp"]) == "2025-06-15 15:06:40+00:00"
    alone = read_outputs(place / "scenario_state.json")
    assert alone["tokens_in"].tolist() == [12.0]
    assert alone["system"].tolist() == ["lab/owl-2"]


def test_options_that_were_asked_one_by_one_are_one_answer(tmp_path: Path) -> None:
    asked = [request("id1", "echo", reference_index=n, request_mode="original") for n in range(2)]
    place = run(tmp_path, [instance("id1", stat("exact_match", 1.0))], requests=asked)
    (row,) = read_outputs(place).to_dict("records")
    assert [each["reference"] for each in json.loads(row["output"])] == [0, 1]
    assert row["latency_s"] == 0.5


def test_without_a_run_spec_the_name_of_the_folder_tells(tmp_path: Path) -> None:
    place = run(tmp_path, [instance("id1", stat("exact_match", 1.0))])
    (place / "run_spec.json").unlink()
    scores = read_scores(place)
    assert scores["system"].tolist() == ["lab_owl-2"]
    assert scores["task"].tolist() == ["riddles:topic=birds"]
    assert any("taken from the name of the run" in note for note in scores.attrs["notes"])
    assert read_scores(place, system="owl")["system"].tolist() == ["owl"]


def test_the_report_has_what_helm_reported(tmp_path: Path) -> None:
    place = run(tmp_path, [instance("id1", stat("exact_match", 1.0))])
    worst = {"name": "robustness", "computed_on": "worst"}
    stats = [
        stat("exact_match", 0.5),
        stat("exact_match", 0.25, perturbation=worst),
        stat("num_instances", 8.0),
        stat("batch_size", 1.0),
    ]
    (place / "stats.json").write_text(json.dumps(stats), "utf-8")
    found = read_report(place).aggregates
    assert found["value"].tolist() == [0.5, 0.25]
    assert found["n"].tolist()[0] == 8.0
    assert found["computed_on"].tolist()[1] == "worst"
    alone = read_report(place / "stats.json").aggregates
    assert alone["system"].tolist() == ["lab/owl-2"] * 2


def test_a_renamed_file_is_read_and_named_as_it_is(tmp_path: Path) -> None:
    rows = [instance("id1", stat("exact_match", 1.0)), 7]
    path = tmp_path / "owl.json"
    path.write_text(json.dumps(rows), "utf-8")
    with pytest.warns(EvalToolkitWarning):
        scores = read_scores(path, on_error="skip")
    assert scores["source"].tolist() == [f"{tmp_path.name}/owl.json: record 0"]
    assert scores["system"].tolist() == [tmp_path.name]
    assert scores.attrs["problems"][0]["file"] == str(path)


@pytest.mark.parametrize("name", ["run_spec.json", "stats.json", "scenario.json"])
def test_a_neighbour_alone_has_no_scores(name: str, tmp_path: Path) -> None:
    place = run(tmp_path, [instance("id1", stat("exact_match", 1.0))])
    (place / "stats.json").write_text(json.dumps([stat("exact_match", 0.5)]), "utf-8")
    scenario = {"name": "riddles", "description": "", "tags": [], "definition_path": "x.py"}
    (place / "scenario.json").write_text(json.dumps(scenario), "utf-8")
    with pytest.raises(ReadError, match=rf"{name}.*HELM.*no scores") as caught:
        read_scores(place / name)
    assert caught.value.code == "no_rows"


def test_a_bad_record_is_named(tmp_path: Path) -> None:
    rows = [instance("id1", stat("exact_match", 1.0)), {"instance_id": None, "stats": []}, 7]
    place = run(tmp_path, rows)
    with pytest.raises(ReadError, match=r"per_instance_stats\.json: record 1"):
        read_scores(place)
    with pytest.warns(EvalToolkitWarning):
        scores = read_scores(place, on_error="skip")
    assert len(scores) == 1
    assert [each["record"] for each in scores.attrs["problems"]] == ["record 1", "record 2"]


def test_a_request_that_belongs_to_nobody_is_a_bad_record(tmp_path: Path) -> None:
    lost = {"train_trial_index": 0, "result": {"success": False}}
    wrong = request("id1", "a wren", train_trial_index=-1)
    rows = [instance("id1", stat("exact_match", 1.0))]
    place = run(tmp_path, rows, requests=[request("id1", "a wren"), lost, wrong])
    assert read_scores(place)["status"].tolist() == ["scored"]
    with pytest.raises(ReadError, match=r"scenario_state\.json: request_states\[1\]"):
        read_outputs(place)
    with pytest.warns(EvalToolkitWarning):
        outputs = read_outputs(place, on_error="skip")
    assert len(outputs) == 1
    assert len(outputs.attrs["problems"]) == 2


@pytest.mark.parametrize(
    "content",
    ['[{"instance_id": "x", "stats": 3}]', '{"adapter_spec": 1}', "[1]", '[{"stats": []}]'],
)
def test_other_files_are_left_to_others(content: str, tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text(content, "utf-8")
    assert not FORMAT.detect(Source(path))
    assert not FORMAT.detect(Source(tmp_path))


HELLASWAG = (
    "helm/commonsense-dataset=hellaswag,method=multiple_choice_joint,model=eleutherai_pythia-1b-v0"
)
NARRATIVE = "helm/narrative_qa-model=openai_gpt2"


def test_hellaswag(shared_data: Path) -> None:
    scores = read_scores(shared_data / HELLASWAG)
    assert len(scores) == 80
    assert scores["system"].unique().tolist() == ["eleutherai/pythia-1b-v0"]
    assert scores["task"].unique().tolist() == [
        "commonsense:dataset=hellaswag,method=multiple_choice_joint"
    ]
    assert scores["example_id"].nunique() == 10
    assert scores.groupby("criterion")["score"].mean().round(9).tolist() == [0.3] * 8
    assert any("190 stats of 19 kind(s)" in note for note in scores.attrs["notes"])
    assert len(read_report(shared_data / HELLASWAG).aggregates) == 24


def test_narrative_qa(shared_data: Path) -> None:
    scores = read_scores(shared_data / NARRATIVE)
    assert len(scores) == 30
    assert scores.groupby("split")["example_id"].nunique().to_dict() == {"test": 4, "valid": 1}
    means = scores[scores["split"] == "test"].groupby("criterion")["score"].mean()
    assert means["f1_score"] == pytest.approx(0.17424242424242425)
    assert means["rouge_l"] == pytest.approx(0.05365510777881912)
    outputs = read_outputs(shared_data / NARRATIVE)
    assert outputs["latency_s"].sum() == pytest.approx(6.438657999038696)
    assert (outputs["tokens_in"].sum(), outputs["tokens_out"].sum()) == (3536, 209)
    assert len(read_report(shared_data / NARRATIVE).aggregates) == 36


def test_a_folder_of_runs(shared_data: Path) -> None:
    scores = read_scores(shared_data / "helm")
    mine = scores[scores["run_id"].str.startswith(("commonsense:", "narrative_qa:"))]
    assert len(mine) == 110
    assert len(read_outputs(shared_data / NARRATIVE)) == 5
