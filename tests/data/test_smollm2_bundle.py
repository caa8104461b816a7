"""The bundled run is complete, consistent and worth analysing."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evaltoolkit as et
from evaltoolkit.scorers import find_phrase

pytest.importorskip("jsonschema")
pytest.importorskip("rapidfuzz")

PARTS = {
    "answer": {"answers"},
    "number": {"number"},
    "json_valid": {"schema"},
    "length": {"min_chars", "max_chars"},
    "edit_similarity": {"text"},
    "refusal_or_empty": set(),
}
YES_OR_NO = {"snow_school-4"}


@pytest.fixture(scope="module")
def scores(bundle: Path) -> pd.DataFrame:
    return et.read_scores(bundle / "scores.jsonl")


@pytest.fixture(scope="module")
def provenance(bundle: Path) -> dict[str, Any]:
    return json.loads((bundle / "provenance.json").read_text("utf-8"))


# --- examples -------------------------------------------------------------------------------------


def test_examples_are_of_many_kinds_and_come_in_clusters(rows: Any) -> None:
    ids = [row["id"] for row in rows.examples]
    assert 300 <= len(set(ids)) == len(ids) <= 340
    assert len({row["topic"] for row in rows.examples}) >= 6
    assert {row["difficulty"] for row in rows.examples} == {"easy", "medium", "hard"}
    sizes = Counter(row["cluster"] for row in rows.examples)
    assert min(sizes.values()) >= 2
    assert max(sizes.values()) <= 8
    assert len(set(sizes.values())) > 3
    assert len({(row["cluster"], row["topic"]) for row in rows.examples}) == len(sizes)


def test_a_cluster_shares_its_passage(rows: Any) -> None:
    passages = {(row["cluster"], row.get("context")) for row in rows.examples}
    assert len(passages) == len({row["cluster"] for row in rows.examples})


def skeletons(question: str) -> list[tuple[str, ...]]:
    """How a question begins and how it ends, with figures and quoted words left open."""
    opened = re.sub(r"\d[\d.,:]*", "#", re.sub(r'"[^"]*"', '"', question.lower()))
    words = re.findall(r'[a-z]+|[#"]', opened)
    return [("begins", *words[:2]), ("ends", *words[-3:]), ("is", *words)]


def test_at_most_a_tenth_of_the_prompts_share_a_template(rows: Any) -> None:
    shared = Counter(part for row in rows.examples for part in skeletons(row["input"]))
    (template, count), *_ = shared.most_common(1)
    assert count <= len(rows.examples) / 10, template


def test_the_template_check_sees_a_template() -> None:
    asked = [f"What is the capital of {land}?" for land in ("Peru", "Chad", "Fiji")]
    shared = Counter(part for question in asked for part in skeletons(question))
    assert shared["begins", "what", "is"] == 3
    assert skeletons("Is 4 more than 3?") == skeletons("Is 12 more than 8.5?")


def test_every_criterion_has_what_it_needs(rows: Any) -> None:
    from jsonschema import Draft202012Validator

    for row in rows.examples:
        needed = set().union(*(PARTS[criterion] for criterion in row["criteria"]))
        assert needed == set(row["reference"]), row["id"]
        assert row["criteria"] == [name for name in PARTS if name in row["criteria"]]
        assert row["reference"].get("min_chars", 0) <= row["reference"].get("max_chars", 0)
        Draft202012Validator.check_schema(row["reference"].get("schema", {}))


def test_answers_stand_in_the_passage_that_is_asked_about(rows: Any) -> None:
    told = [row for row in rows.examples if row["topic"] in ("reading", "persona")]
    lost = [
        row["id"]
        for row in told
        if not any(
            find_phrase(row["context"].lower(), part.lower()) >= 0
            for part in row["reference"]["answers"]
        )
    ]
    assert set(lost) <= YES_OR_NO


# --- outputs --------------------------------------------------------------------------------------


def test_every_system_answered_every_example_three_times(rows: Any, scripts: Any) -> None:
    keys = [(row["system"], row["example_id"], row["trial"]) for row in rows.outputs]
    wanted = [
        (system, row["id"], trial)
        for system in scripts.run_models.SYSTEMS
        for trial in range(3)
        for row in rows.examples
    ]
    assert keys == wanted


def test_outputs_record_what_was_asked_and_with_which_seed(rows: Any, scripts: Any) -> None:
    run = scripts.run_models
    prompts = {row["id"]: run.prompt_of(row) for row in rows.examples}
    for row in rows.outputs:
        assert row["input"] == prompts[row["example_id"]]
        assert row["seed"] == run.seed_of(row["example_id"], row["trial"])
        assert row["temperature"] == run.TEMPERATURE
        assert (row["task"], row["run_id"]) == (run.TASK, f"smollm2-{row['system']}")


def test_an_output_is_an_answer_or_an_error(rows: Any, scripts: Any) -> None:
    run = scripts.run_models
    for row in rows.outputs:
        if "error" in row:
            assert not {"output", "finish_reason", "tokens_in", "tokens_out"} & set(row)
            continue
        assert row["tokens_out"] <= run.MAX_TOKENS
        used = row["tokens_in"] + row["tokens_out"]
        is_full = row["tokens_out"] == run.MAX_TOKENS or used >= run.CONTEXT_TOKENS - 1
        assert row["finish_reason"] == "stop" or (row["finish_reason"] == "length" and is_full)


def test_real_failures_and_cut_off_answers_are_kept(rows: Any) -> None:
    failed = [row for row in rows.outputs if "error" in row]
    assert failed
    assert all(row["error"].startswith("exceed_context_size_error: ") for row in failed)
    assert {row["example_id"].rsplit("-", 1)[0] for row in failed} <= {"tenants", "bird_survey"}
    assert any(row.get("finish_reason") == "length" for row in rows.outputs)


def texts(rows: Any, system: str) -> dict[tuple[str, int], str]:
    return {
        (row["example_id"], row["trial"]): row["output"]
        for row in rows.outputs
        if row["system"] == system and "output" in row
    }


def test_the_weights_make_the_difference_that_they_should(rows: Any) -> None:
    baseline = texts(rows, "q4_1")

    def share_of_equal_texts(system: str) -> float:
        other = texts(rows, system)
        both = baseline.keys() & other.keys()
        return sum(other[key] == baseline[key] for key in both) / len(both)

    assert share_of_equal_texts("q4_0") < 0.5 * share_of_equal_texts("q8_0")
    assert share_of_equal_texts("q4_1_prompted") < 0.5


def test_trials_are_not_copies_of_each_other(rows: Any) -> None:
    baseline = texts(rows, "q4_1")
    ids = {example for example, _ in baseline}
    varied = [i for i in ids if len({baseline[i, trial] for trial in range(3)}) > 1]
    assert len(varied) > len(ids) / 2


# --- scores ---------------------------------------------------------------------------------------


def test_scores_follow_from_examples_and_outputs(
    rows: Any, scripts: Any, scores: pd.DataFrame
) -> None:
    again = et.normalise_scores(scripts.score_outputs.score_bundle(rows.examples, rows.outputs))
    pd.testing.assert_frame_equal(
        scores.drop(columns="source"), again.drop(columns="source"), check_like=True
    )


def test_scores_have_one_row_for_each_criterion_that_applies(
    rows: Any, scores: pd.DataFrame
) -> None:
    wanted = {(row["id"], criterion) for row in rows.examples for criterion in row["criteria"]}
    assert set(zip(scores["example_id"], scores["criterion"], strict=True)) == wanted
    assert len(scores) == 12 * len(wanted)


def test_a_failed_call_is_a_system_error_and_nothing_else_is(
    rows: Any, scores: pd.DataFrame
) -> None:
    failed = {
        (row["system"], row["example_id"], row["trial"]) for row in rows.outputs if "error" in row
    }
    keys = pd.Series(
        list(zip(scores["system"], scores["example_id"], scores["trial"], strict=True))
    )
    is_error = scores["status"] == "system_error"
    assert is_error.tolist() == keys.isin(failed).tolist()
    assert (scores.loc[~is_error, "status"] == "scored").all()
    assert scores["score"].isna().equals(is_error)
    assert scores.loc[is_error, "message"].str.startswith("exceed_context_size_error").all()


def test_two_criteria_leave_room_in_both_directions(scores: pd.DataFrame) -> None:
    baseline = scores[scores["system"] == "q4_1"].groupby("criterion")["score"].mean()
    assert baseline.between(0.2, 0.8).sum() >= 2


def test_the_readme_gives_the_measured_means(bundle: Path, scores: pd.DataFrame) -> None:
    text = (bundle / "README.md").read_text("utf-8")
    means = scores.pivot_table(index="criterion", columns="system", values="score", observed=True)
    systems = ["q4_1", "q4_0", "q8_0", "q4_1_prompted"]
    for criterion, row in means[systems].iterrows():
        cells = " | ".join(f"{mean:.3f}" for mean in row)
        assert re.search(rf"^\| `{criterion}` \|.*\| {cells} \|$", text, re.MULTILINE), criterion


# --- provenance -----------------------------------------------------------------------------------


def test_provenance_names_settings_versions_and_weights(
    provenance: dict[str, Any], scripts: Any
) -> None:
    run, weights = scripts.run_models, scripts.weights
    assert provenance["packages"] == run.VERSIONS
    assert provenance["settings"]["temperature"] == run.TEMPERATURE
    assert provenance["settings"]["max_tokens"] == run.MAX_TOKENS
    assert provenance["settings"]["context_tokens"] == run.CONTEXT_TOKENS
    systems = provenance["systems"]
    assert list(systems) == list(run.SYSTEMS)
    assert {n: s["system_prompt"] for n, s in systems.items()} == {
        n: s.system_prompt for n, s in run.SYSTEMS.items()
    }
    assert systems["q4_1"]["sha256"] == weights.SOURCE_SHA256 == systems["q4_1_prompted"]["sha256"]


def test_provenance_orders_the_quantisations(provenance: dict[str, Any]) -> None:
    systems = provenance["systems"]
    errors = {name: system["relative_rms_error"] for name, system in systems.items()}
    assert errors["q4_1"] == 0 == errors["q4_1_prompted"]
    assert 0 < errors["q8_0"] < 0.01 < errors["q4_0"] < 0.2
    assert math.isfinite(systems["q4_0"]["largest_error"])
    for name in ("q4_1", "q4_0", "q8_0"):
        assert systems[name]["tensor_types"][name.upper()] >= 210


def test_the_bundle_is_small_and_holds_no_weights(bundle: Path) -> None:
    kept = [path for path in bundle.iterdir() if path.is_file()]
    assert sum(path.stat().st_size for path in kept) <= 4 * 2**20
    assert {path.suffix for path in kept} <= {".jsonl", ".json", ".py", ".md"}
