"""lm-evaluation-harness: own small files for each trap, real ones against typed counts.

The counts in `REAL` were derived once by counting lines and adding up fields with a script that
shares no code with the reader, then typed in.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest

from evaltoolkit.errors import EvalToolkitWarning, ReadError, SchemaError
from evaltoolkit.readers import read_details, read_outputs, read_report, read_scores
from evaltoolkit.readers.base import Reading, Source
from evaltoolkit.readers.lm_eval import FORMAT

STAMP = "2025-03-04T05-06-07.890123"


def line(doc: int, *, name: str | None = "none", **metrics: Any) -> dict[str, Any]:
    """One line of a samples file as it is written since 2025; without ``name`` as before."""
    return {
        "doc_id": doc,
        "doc": {"question": f"question {doc}", "subject": "maths" if doc % 2 else "law"},
        "target": str(doc),
        "arguments": {"gen_args_0": {"arg_0": f"prompt {doc}", "arg_1": {"until": []}}},
        "resps": [[f"answer {doc}"]],
        "filtered_resps": [f"answer {doc}"],
        **({"filter": name, "metrics": list(metrics)} if name is not None else {}),
        "doc_hash": f"{doc:064x}"[::-1],
        "prompt_hash": "0" * 64,
        "target_hash": "0" * 64,
        **metrics,
    }


def write_samples(folder: Path, lines: Sequence[Mapping[str, Any]], *, task: str = "sums") -> Path:
    path = folder / f"samples_{task}_{STAMP}.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    return path


def results(**by_task: Mapping[str, Any]) -> dict[str, Any]:
    """A results file; each task is given by its reported numbers."""
    return {
        "results": {task: dict(values) for task, values in by_task.items()},
        "configs": {},
        "versions": dict.fromkeys(by_task, 1),
        "higher_is_better": {},
        "n-samples": {task: {"original": 100, "effective": 2} for task in by_task},
        "config": {"model": "hf", "model_args": "pretrained=lab/model-a,dtype=float16"},
        "model_name": "lab/model-a",
        "date": 1741064767.5,
    }


def write_results(folder: Path, document: Mapping[str, Any], *, stamp: str = STAMP) -> Path:
    path = folder / f"results_{stamp}.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


# --- rows of the score table ------------------------------------------------------------------


def test_samples_become_rows(tmp_path: Path) -> None:
    document = results(sums={"acc,none": 0.5, "mae,none": 2.0})
    document["higher_is_better"] = {"sums": {"acc": True, "mae": False}}
    write_results(tmp_path, document)
    path = write_samples(tmp_path, [line(0, acc=1, mae=0.5), line(1, acc=False, mae=3.5)])
    scores = read_scores(path)
    assert scores["run_id"].unique().tolist() == [STAMP]
    assert scores["system"].unique().tolist() == ["lab/model-a"]
    assert scores["task"].unique().tolist() == ["sums"]
    assert scores["example_id"].tolist() == ["0", "0", "1", "1"]
    assert scores["trial"].tolist() == [0, 0, 0, 0]
    assert scores["criterion"].tolist() == ["acc", "mae"] * 2
    assert scores["score"].tolist() == [1.0, 0.5, 0.0, 3.5]
    assert scores["higher_is_better"].tolist() == [True, False] * 2
    assert scores["subject"].tolist() == ["law", "law", "maths", "maths"]
    assert "question" not in scores.columns
    assert scores["input_digest"].tolist() == ["0" * 12] * 2 + ["1" + "0" * 11] * 2
    assert scores["timestamp"].iloc[0] == pd.Timestamp("2025-03-04T05:06:07.5Z")
    assert scores["source"].iloc[2] == f"{path.name}: line 2"
    assert scores["passed"].isna().all()


@pytest.mark.parametrize(
    ("value", "label"),
    [
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (math.nan, "NaN"),
        (None, None),
        ("A", "A"),
        ([["gold"], ["said"]], '[["gold"], ["said"]]'),
    ],
)
def test_what_is_no_number_is_unscored_with_its_label(
    tmp_path: Path, value: object, label: str | None
) -> None:
    path = write_samples(tmp_path, [line(0, f1=value), line(1, f1=0.5)])
    scores = read_scores(path, system="m")
    assert scores["status"].tolist() == ["unscored", "scored"]
    assert scores["label"].fillna("").iloc[0] == (label or "")
    assert scores["message"].notna().tolist() == [True, False]


def test_a_long_list_is_cut_in_the_label_and_whole_in_the_details(tmp_path: Path) -> None:
    value = ["x" * 100, "y" * 100]
    path = write_samples(tmp_path, [line(0, bleu=value, acc=1)])
    scores = read_scores(path, system="m")
    assert len(scores["label"].iloc[0]) == 80
    assert "corpus metric" in scores["message"].iloc[0]
    assert any("'bleu (1×)'" in note for note in scores.attrs["notes"])
    details = read_details(path, system="m")
    assert details["criterion"].tolist() == ["bleu"]
    assert json.loads(details["details"].iloc[0]) == {"value": value}


def test_one_line_for_each_filter_is_no_duplicate(tmp_path: Path) -> None:
    lines = [
        line(doc, name=name, exact_match=score)
        for name, right in (("strict-match", 0), ("flexible-extract", 1))
        for doc, score in ((0, right), (1, 1))
    ]
    scores = read_scores(write_samples(tmp_path, lines), system="m")
    assert scores.groupby("criterion")["score"].sum().to_dict() == {
        "exact_match,strict-match": 1.0,
        "exact_match,flexible-extract": 2.0,
    }
    assert len(read_outputs(write_samples(tmp_path, lines), system="m")) == 2


def test_a_single_filter_is_not_part_of_the_name(tmp_path: Path) -> None:
    path = write_samples(tmp_path, [line(0, name="flexible-extract", exact_match=1)])
    assert read_scores(path, system="m")["criterion"].tolist() == ["exact_match"]


@pytest.mark.parametrize("source", ["results", "configs", "nothing"])
def test_blocks_of_filters_without_a_name_are_named_in_order(tmp_path: Path, source: str) -> None:
    lines = [line(doc, name=None, exact_match=score) for score in (0, 1) for doc in (0, 1, 2)]
    expected = ["strict", "flexible"]
    if source != "nothing":
        reported = {"exact_match,strict": 0.0, "exact_match,flexible": 1.0}
        document = results(sums=reported if source == "results" else {"exact_match,x": 0})
        if source == "configs":
            filters = [{"name": name, "filter": []} for name in expected]
            document["configs"] = {"sums": {"filter_list": filters}}
        write_results(tmp_path, document)
    else:
        expected = ["filter-1", "filter-2"]
    scores = read_scores(write_samples(tmp_path, lines), system="m")
    assert scores.groupby("criterion", sort=False)["score"].sum().to_dict() == {
        f"exact_match,{expected[0]}": 0.0,
        f"exact_match,{expected[1]}": 3.0,
    }
    assert any("no filter is named" in n for n in scores.attrs["notes"]) == (source == "nothing")


def test_repeated_documents_of_one_filter_are_duplicates(tmp_path: Path) -> None:
    write_results(tmp_path, results(sums={"acc,none": 1.0}))
    path = write_samples(tmp_path, [line(0, name=None, acc=1), line(0, name=None, acc=0)])
    with pytest.raises(SchemaError, match=r"line 1.*line 2"):
        read_scores(path)
    assert read_scores(path, duplicates="trials")["trial"].tolist() == [0, 1]


def test_metrics_that_old_files_do_not_list_are_found(tmp_path: Path) -> None:
    old = line(0, name=None, acc=1, likely=True, bleu=["a", "b"], remark="odd")
    scores = read_scores(write_samples(tmp_path, [old]), system="m")
    assert scores["criterion"].tolist() == ["acc", "likely", "bleu"]
    assert any("'remark (1×)'" in note for note in scores.attrs["notes"])
    write_results(tmp_path, results(sums={"acc,none": 1.0, "acc_stderr,none": 0.1, "alias": "s"}))
    assert read_scores(write_samples(tmp_path, [old]))["criterion"].tolist() == ["acc"]


def test_a_field_that_is_not_listed_as_a_metric_is_no_score(tmp_path: Path) -> None:
    path = write_samples(
        tmp_path, [{**line(n, acc=1), "hallucination": "truthful"} for n in (0, 1)]
    )
    scores = read_scores(path, system="m")
    assert scores["criterion"].tolist() == ["acc", "acc"]
    assert any("'hallucination (2×)'" in note for note in scores.attrs["notes"])


def test_the_json_array_of_2024_is_read(tmp_path: Path) -> None:
    path = tmp_path / "samples_sums.json"
    path.write_text(json.dumps([line(0, name=None, acc=1), line(1, name=None, acc=0)], indent=1))
    scores = read_scores(path, system="m")
    assert scores["score"].tolist() == [1.0, 0.0]
    assert scores["source"].tolist() == [
        "samples_sums.json: record 0",
        "samples_sums.json: record 1",
    ]
    assert scores["run_id"].tolist() == ["", ""]


@pytest.mark.parametrize("told_by", ["answers", "configs"])
def test_repeated_answers_are_one_score_and_a_note(tmp_path: Path, told_by: str) -> None:
    answers = [["a", "b", "a"]] if told_by == "answers" else [["a"]]
    lines = [
        {**line(doc, name=name, exact_match=1), "resps": answers}
        for name in ("strict", "loose")
        for doc in (0, 1)
    ]
    document = results(sums={"exact_match,strict": 1.0, "exact_match,loose": 1.0})
    if told_by == "configs":
        document["configs"] = {"sums": {"repeats": 3}}
    write_results(tmp_path, document)
    scores = read_scores(write_samples(tmp_path, lines))
    assert scores["trial"].tolist() == [0, 0, 0, 0]
    assert any("(repeats: '3 answers (2×)')" in note for note in scores.attrs["notes"])


def test_options_of_a_choice_are_no_repeats(tmp_path: Path) -> None:
    options = {**line(0, acc=1), "resps": [[["-0.1", "True"]], [["-9.5", "False"]]]}
    single = {**line(1, acc=1), "resps": [[["-0.1", "True"]]]}
    scores = read_scores(write_samples(tmp_path, [options, single]), system="m")
    assert scores.attrs["notes"] == []


def test_the_layout_of_2023_is_read(tmp_path: Path) -> None:
    old = {
        "results": {"boolq": {"acc": 0.5, "word_perplexity": 3.0}},
        "versions": {"boolq": 1},
        "config": {"model": "hf-causal", "model_args": "pretrained=lab/old", "limit": None},
    }
    (tmp_path / "results.json").write_text(json.dumps(old))
    rows = [
        {
            "doc_id": doc, "prompt_0": f"is it {doc}? yes", "logit_0": -0.25,
            "prompt_1": f"is it {doc}? no", "logit_1": -2.5, "truth": 1, "acc": f"{doc}.0",
            "word_perplexity": "inf",
        }
        for doc in (0, 1)
    ]  # fmt: skip
    path = tmp_path / "boolq_write_out_info.json"
    path.write_text(json.dumps(rows, indent=4))
    scores = read_scores(path)
    assert scores["system"].unique().tolist() == ["lab/old"]
    assert scores["task"].unique().tolist() == ["boolq"]
    assert scores["criterion"].tolist() == ["acc", "word_perplexity"] * 2
    assert scores["score"].fillna(-1).tolist() == [0.0, -1, 1.0, -1]
    assert scores["label"].dropna().tolist() == ["Infinity", "Infinity"]
    assert scores["higher_is_better"].tolist() == [True, False] * 2
    outputs = read_outputs(path)
    assert outputs["input"].tolist() == ["is it 0? yes", "is it 1? yes"]
    assert outputs["output"].tolist() == ["[[-0.25], [-2.5]]"] * 2
    assert outputs["reference"].tolist() == ["1", "1"]


def test_metrics_of_the_harness_point_where_its_registry_says(tmp_path: Path) -> None:
    metrics = {"acc_norm": 1, "word_perplexity": 9.5, "brier_score": 0.1, "task_metric": 1}
    scores = read_scores(write_samples(tmp_path, [line(0, **metrics)]), system="m")
    points = scores["higher_is_better"].astype(object)
    assert points.where(points.notna(), None).tolist() == [True, False, False, None]
    document = results(sums={"acc_norm,none": 1.0})
    document["higher_is_better"] = {"sums": {"acc_norm": False}}
    write_results(tmp_path, document)
    assert not read_scores(write_samples(tmp_path, [line(0, acc_norm=1)]))["higher_is_better"].any()


def test_attributes_are_short_fields_with_a_known_name(tmp_path: Path) -> None:
    docs = [{"category": "a", "source": "web", "topic": "t" * 81, "question": "q", "idx": 1}]
    lines = [{**line(n, acc=1), "doc": doc} for n, doc in enumerate([*docs, {"category": "b"}])]
    scores = read_scores(write_samples(tmp_path, lines), system="m")
    known = {"higher_is_better", "timestamp", "input_digest"}
    assert [name for name in scores.columns[14:] if name not in known] == ["category", "doc.source"]


# --- which model, which task ------------------------------------------------------------------


def test_the_system_comes_from_the_folder_or_is_given(tmp_path: Path) -> None:
    folder = tmp_path / "lab__model-b"
    folder.mkdir()
    scores = read_scores(write_samples(folder, [line(0, acc=1)]))
    assert scores["system"].tolist() == ["lab/model-b"]
    assert any("from the folder name" in note for note in scores.attrs["notes"])
    assert read_scores(folder, system="mine")["system"].tolist() == ["mine"]


def test_a_folder_that_somebody_named_is_a_guess_and_said_loudly(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    path = write_samples(plain, [line(0, acc=1)])
    # The results of another run say nothing about these samples.
    write_results(plain, results(sums={"acc,none": 1.0}), stamp="2025-01-01T00-00-00.000000")
    with pytest.warns(EvalToolkitWarning, match="'plain' taken from the folder name: no results"):
        scores = read_scores(path)
    assert scores["system"].tolist() == ["plain"]
    assert "(system= names it)" in scores.attrs["notes"][0]
    assert read_scores(path, system="mine")["system"].tolist() == ["mine"]


def test_a_folder_is_read_although_one_of_its_files_names_no_model(tmp_path: Path) -> None:
    named, unnamed = tmp_path / "named", tmp_path / "unnamed"
    for folder in (named, unnamed):
        folder.mkdir()
        write_samples(folder, [line(0, acc=1), line(1, acc=0)])
    write_results(named, results(sums={"acc,none": 0.5}))
    with pytest.warns(EvalToolkitWarning, match="'unnamed' taken from the folder name"):
        scores = read_scores(tmp_path)
    assert scores["system"].tolist() == ["lab/model-a"] * 2 + ["unnamed"] * 2
    with pytest.warns(EvalToolkitWarning):
        renamed = read_scores(tmp_path, system={"unnamed": "lab/model-b"})
    assert sorted(renamed["system"].unique()) == ["lab/model-a", "lab/model-b"]


@pytest.mark.parametrize(
    "arguments",
    [
        "pretrained=lab/model-c,dtype=bfloat16",
        {"pretrained": "lab/model-c", "dtype": "bfloat16"},
        "model=lab/model-c,base_url=http://localhost",
    ],
)
def test_older_results_name_the_model_in_its_arguments(
    tmp_path: Path, arguments: str | dict[str, str]
) -> None:
    document = results(sums={"acc,none": 1.0})
    del document["model_name"]
    document["config"]["model_args"] = arguments
    write_results(tmp_path, document)
    scores = read_scores(write_samples(tmp_path, [line(0, acc=1)]))
    assert scores["system"].tolist() == ["lab/model-c"]


def test_the_only_results_file_names_system_and_task_of_renamed_samples(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(json.dumps(results(long_sums={"acc,none": 1.0})))
    path = tmp_path / "samples_mine.jsonl"
    path.write_text(json.dumps(line(0, acc=1)))
    scores = read_scores(path)
    assert scores["task"].tolist() == ["long_sums"]
    assert scores["run_id"].tolist() == ["2025-03-04T05:06:07.500000+00:00"]
    assert [note.partition(": ")[2] for note in scores.attrs["notes"]] == [
        "task 'long_sums' taken from results.json",
        "system 'lab/model-a' taken from results.json",
    ]


# --- outputs, report, bad input ---------------------------------------------------------------


def test_outputs(tmp_path: Path) -> None:
    repeated = {**line(1, acc=1), "resps": [["a", "b", "a"]]}
    options = {
        **line(2, acc=1),
        "arguments": [["which?", " yes"], ["which?", " no"]],
        "resps": [[["-0.1", "True"]], [["-9.5", "False"]]],
        "target": 0,
    }
    chat = {**line(3, acc=1), "arguments": {"gen_args_0": {"arg_0": ['[{"role": "user"}]']}}}
    path = write_samples(tmp_path, [line(0, acc=1), repeated, options, chat])
    outputs = read_outputs(path, system="m")
    assert outputs["input"].tolist() == ["prompt 0", "prompt 1", "which?", '[{"role": "user"}]']
    assert outputs["output"].iloc[0] == "answer 0"
    assert json.loads(outputs["output"].iloc[1]) == ["a", "b", "a"]
    assert json.loads(outputs["output"].iloc[2])[1] == [["-9.5", "False"]]
    assert outputs["reference"].tolist() == ["0", "1", "0", "3"]
    assert outputs["trial"].tolist() == [0, 0, 0, 0]


def test_results_are_for_the_report(tmp_path: Path) -> None:
    document = results(
        sums={
            "alias": "sums",
            "sample_len": 2,
            "exact_match,strict": 0.5,
            "exact_match_stderr,strict": 0.1,
            "exact_match,loose": 0.75,
            "exact_match_stderr,loose": "N/A",
        },
        names={"f1,none": math.inf},
    )
    code = "def f1(items):\n    return 0"
    document["configs"] = {"names": {"metric_list": [{"metric": "f1", "aggregation": code}]}}
    path = write_results(tmp_path, document)
    told = read_report(path).aggregates
    columns = ["system", "task", "criterion", "metric", "value", "n"]
    assert told[columns].values.tolist() == [
        ["lab/model-a", "sums", "exact_match,strict", "mean", 0.5, 2],
        ["lab/model-a", "sums", "exact_match,loose", "mean", 0.75, 2],
        ["lab/model-a", "names", "f1", "custom", math.inf, 2],
    ]
    assert told["stderr"].fillna(-1).tolist() == [0.1, -1, -1]
    with pytest.raises(ReadError, match=r"without single scores.*run .* with --log_samples"):
        read_scores(path)


def test_results_of_2023_have_no_filters(tmp_path: Path) -> None:
    old = {
        "results": {"boolq": {"acc": 0.6, "acc_stderr": 0.01}},
        "versions": {"boolq": 1},
        "config": {"model": "hf-causal", "model_args": "pretrained=lab/old", "limit": None},
    }
    path = tmp_path / "old.json"
    path.write_text(json.dumps(old))
    row = read_report(path).aggregates.iloc[0]
    assert (row["system"], row["task"], row["criterion"]) == ("lab/old", "boolq", "acc")
    assert (row["value"], row["stderr"]) == (0.6, 0.01)


def test_bad_lines_are_refused_or_listed(tmp_path: Path) -> None:
    path = write_samples(tmp_path, [line(0, acc=1), {**line(1, acc=1), "doc_id": None}])
    with path.open("a") as stream:
        stream.write('{"doc_id": 2, "doc"\n')
    with pytest.raises(ReadError, match="line 2 cannot be read: it has no doc_id"):
        read_scores(path, system="m")
    with pytest.warns(EvalToolkitWarning, match=r"2 record\(s\) could not be read"):
        scores = read_scores(path, system="m", on_error="skip")
    assert scores["example_id"].tolist() == ["0"]


def test_other_files_are_not_taken_for_this_format(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for other in ({"results": [1]}, {"results": {}, "config_general": {}, "versions": {}}, [1]):
        path.write_text(json.dumps(other))
        assert not FORMAT.detect(Source(path))


def test_texts_come_in_portions(tmp_path: Path) -> None:
    path = write_samples(tmp_path, [line(number, acc=1) for number in range(1100)])
    reading = Reading(want=frozenset({"outputs"}), system="m")
    sizes = [len(batch.outputs) for batch in FORMAT.read(Source(path), reading)]
    assert sizes == [500, 500, 100]


# --- real files -------------------------------------------------------------------------------


class Real(NamedTuple):
    """What one real samples file holds: documents, then for each criterion scored and sum."""

    system: str
    task: str
    documents: int
    criteria: dict[str, tuple[int, float]]


QWEN = "Qwen/Qwen3-8B"
NEGOTIATION = "negotiationtom_qwen3-8b/samples_negotiationtom"
LISTS = {"micro_f1": (0, 0.0), "macro_f1": (0, 0.0), "exact_match": (20, 4.0)}

REAL: dict[str, Real] = {
    "asdiv/samples_asdiv.jsonl": Real(
        "meta-llama/Meta-Llama-3-8B-Instruct", "asdiv", 50, {"acc": (50, 46)}
    ),
    "eee/samples_math_perturbed_full_2026-01-21T03-44-18.458309.jsonl": Real(
        "RylanSchaeffer/mem_Qwen3-93M_minerva_math_rep_0_sbst_1.0000_epch_1_ot_1",
        "math_perturbed_full",
        10,
        {"exact_match": (10, 0)},
    ),
    "infinity/samples_tgpred.jsonl": Real(
        "gpt-4o-mini", "polymer_tg_prediction", 24, {"mae": (7, 1308.297125215)}
    ),
    "masakhaner/samples_luo_prompt1_gemma-2b.first60.jsonl": Real(
        "google/gemma-2b", "masakhaner_luo_prompt_1", 60, {"f1": (0, 0)}
    ),
    f"{NEGOTIATION}_belief_2026-07-08T16-04-34.219874.jsonl": Real(
        QWEN, "negotiationtom_belief", 20, {"acc": (20, 9)}
    ),
    f"{NEGOTIATION}_belief_2026-07-08T18-15-33.115417.jsonl": Real(
        QWEN, "negotiationtom_belief", 20, {"acc": (20, 9)}
    ),
    f"{NEGOTIATION}_desire_2026-07-08T16-04-34.219874.jsonl": Real(
        QWEN, "negotiationtom_desire", 20, {"acc": (20, 12)}
    ),
    f"{NEGOTIATION}_desire_2026-07-08T18-15-33.115417.jsonl": Real(
        QWEN, "negotiationtom_desire", 20, {"acc": (20, 12)}
    ),
    f"{NEGOTIATION}_intention_2026-07-08T16-04-34.219874.jsonl": Real(
        QWEN, "negotiationtom_intention", 20, LISTS
    ),
    f"{NEGOTIATION}_intention_2026-07-08T17-38-51.316967.jsonl": Real(
        QWEN, "negotiationtom_intention", 20, LISTS
    ),
    f"{NEGOTIATION}_intention_2026-07-08T17-52-34.622576.jsonl": Real(
        QWEN, "negotiationtom_intention", 20, LISTS
    ),
    f"{NEGOTIATION}_intention_2026-07-08T18-15-33.115417.jsonl": Real(
        QWEN, "negotiationtom_intention", 20, LISTS
    ),
    "samples_truthfulqa_gen.jsonl": Real(
        "given",
        "truthfulqa_gen",
        817,
        {
            "bleu_max": (817, 11297.204884275077),
            "bleu_acc": (817, 320),
            "bleu_diff": (817, -250.9265827873795),
            "rouge1_max": (817, 27969.095435170813),
            "rouge1_acc": (817, 293),
            "rouge1_diff": (817, -1128.2914346611385),
            "rouge2_max": (817, 13136.617232290415),
            "rouge2_acc": (817, 156),
            "rouge2_diff": (817, -1682.432591514152),
            "rougeL_max": (817, 25891.108770934658),
            "rougeL_acc": (817, 299),
            "rougeL_diff": (817, -764.8103638093766),
        },
    ),
}

# Reported numbers in each results file: how many, and one of them as it stands there.
RESULTS: dict[str, tuple[int, str, str, float]] = {
    "asdiv/results_asdiv.json": (1, "asdiv", "acc", 0.92),
    "asdiv/results_asdiv_cot_llama_31-8B.json": (
        2, "asdiv_cot_llama", "exact_match,flexible-extract", 0.931640625,
    ),
    "asdiv/results_asdiv_cot_llama_8B.json": (
        2, "asdiv_cot_llama", "exact_match,strict-match", 0.884765625,
    ),
    "eee/results_2026-01-21T03-44-18.458309.json": (
        2, "math_rephrased_full", "exact_match", 0.0004,
    ),
    "infinity/results_tgpred.json": (1, "polymer_tg_prediction", "mae", math.inf),
    "masakhaner/results_gemma-2b_prompt1.json": (
        1, "masakhaner_luo_prompt_1", "f1", 0.0656270305392884,
    ),
    "negotiationtom_qwen3-8b/results_2026-07-08T16-04-34.219874.json": (
        9, "negotiationtom", "acc", 0.525,
    ),
    "negotiationtom_qwen3-8b/results_2026-07-08T17-38-51.316967.json": (
        9, "negotiationtom_belief", "acc", 0.45,
    ),
    "negotiationtom_qwen3-8b/results_2026-07-08T17-52-34.622576.json": (
        9, "negotiationtom_desire", "acc", 0.6,
    ),
    "negotiationtom_qwen3-8b/results_2026-07-08T18-15-33.115417.json": (
        9, "negotiationtom_intention", "micro_f1", 0.2857142857142857,
    ),
}  # fmt: skip


def test_every_real_file_has_a_typed_count(shared_data: Path) -> None:
    folder = shared_data / "lm_eval"
    found = {str(path.relative_to(folder)) for path in folder.rglob("*.json*")}
    assert found == set(REAL) | set(RESULTS)


@pytest.mark.parametrize("name", REAL)
def test_real_samples(shared_data: Path, name: str) -> None:
    expected = REAL[name]
    system = "given" if expected.system == "given" else None
    scores = read_scores(shared_data / "lm_eval" / name, system=system)
    assert len(scores) == expected.documents * len(expected.criteria)
    assert scores["system"].unique().tolist() == [expected.system]
    assert scores["task"].unique().tolist() == [expected.task]
    assert scores["example_id"].nunique() == expected.documents
    grouped = scores.groupby("criterion")["score"]
    counts, sums = grouped.count(), grouped.sum()
    assert {name: (counts[name], sums[name]) for name in counts.index} == {
        name: (count, pytest.approx(total)) for name, (count, total) in expected.criteria.items()
    }
    unscored = scores[scores["score"].isna()]
    assert (unscored["status"] == "unscored").all()
    assert unscored["label"].notna().all()
    outputs = read_outputs(shared_data / "lm_eval" / name, system=system)
    assert len(outputs) == expected.documents
    assert outputs["input"].notna().all()


@pytest.mark.parametrize("name", RESULTS)
def test_real_results(shared_data: Path, name: str) -> None:
    count, task, criterion, value = RESULTS[name]
    told = read_report(shared_data / "lm_eval" / name).aggregates
    assert len(told) == count
    row = told[(told["task"] == task) & (told["criterion"] == criterion)]
    assert row["value"].tolist() == [value]


def test_real_infinite_errors_are_labels_and_lower_is_better(shared_data: Path) -> None:
    scores = read_scores(shared_data / "lm_eval" / "infinity" / "samples_tgpred.jsonl")
    assert (scores["label"] == "Infinity").sum() == 17
    assert not scores["higher_is_better"].any()


def test_real_runs_of_one_model_stay_apart(shared_data: Path) -> None:
    scores = read_scores(shared_data / "lm_eval" / "negotiationtom_qwen3-8b")
    assert len(scores) == 4 * 20 + 4 * 60
    assert sorted(scores["run_id"].unique()) == [
        "2026-07-08T16-04-34.219874",
        "2026-07-08T17-38-51.316967",
        "2026-07-08T17-52-34.622576",
        "2026-07-08T18-15-33.115417",
    ]


@pytest.mark.parametrize(
    ("name", "criterion"),
    [
        ("asdiv/samples_asdiv.jsonl", "acc"),
        (f"{NEGOTIATION}_belief_2026-07-08T16-04-34.219874.jsonl", "acc"),
        (f"{NEGOTIATION}_desire_2026-07-08T18-15-33.115417.jsonl", "acc"),
        (f"{NEGOTIATION}_intention_2026-07-08T17-52-34.622576.jsonl", "exact_match"),
    ],
)
def test_means_of_the_rows_are_what_the_harness_reported(
    shared_data: Path, name: str, criterion: str
) -> None:
    path = shared_data / "lm_eval" / name
    scores = read_scores(path)
    row = scores.iloc[0]
    results_files = list(path.parent.glob("results_*.json"))
    told = pd.concat([read_report(p).aggregates for p in results_files])
    same = told[(told["run_id"] == row["run_id"]) & (told["task"] == row["task"])]
    reported = same.set_index("criterion").loc[criterion]
    values = scores.loc[scores["criterion"] == criterion, "score"]
    assert values.mean() == pytest.approx(reported["value"])
    assert values.std() / math.sqrt(len(values)) == pytest.approx(reported["stderr"])


def test_real_samples_without_a_model_are_named_by_their_folder(shared_data: Path) -> None:
    with pytest.warns(EvalToolkitWarning, match="system 'lm_eval' taken from the folder name"):
        scores = read_scores(shared_data / "lm_eval", on_error="skip")
    # 50 + 10 + 24 + 60 + 320 rows of named models, 817 documents with 12 metrics of the other
    assert len(scores) == 464 + 9804
    assert scores["system"].value_counts()["lm_eval"] == 9804
