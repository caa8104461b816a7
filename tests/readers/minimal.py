"""The smallest valid file of every format, for tests that treat all formats alike.

`MINIMAL` maps a name to a function that writes one file into an empty folder and returns the path
to read. The name is that of the format, or ``format:variant`` for a further layout of it. Such a
file holds at least two examples with one scored number each, reads with `read_scores(path)` alone
(no option, no warning), is UTF-8 text of ASCII characters where the format is text, and, where it
is JSON lines, has its examples on lines of their own.

A new format adds one function and one line of the table. The tests of bad input and of the round
trip (`test_bad_input.py`, `test_round_trip.py`) then try it with everybody else's.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

Write = Callable[[Path], Path]


def json_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write one JSON object a line."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def document(path: Path, value: object) -> Path:
    """Write one JSON document."""
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def table_jsonl(folder: Path) -> Path:
    row = {"system": "a", "criterion": "acc"}
    rows = [{**row, "example_id": "e1", "score": 1}, {**row, "example_id": "e2", "score": 0}]
    return json_lines(folder / "scores.jsonl", rows)


def table_csv(folder: Path) -> Path:
    path = folder / "scores.csv"
    path.write_text("system,example_id,criterion,score\na,e1,acc,1\na,e2,acc,0\n", "utf-8")
    return path


def lm_eval(folder: Path) -> Path:
    document(
        folder / "results_2025-03-04T05-06-07.890123.json",
        {
            "results": {"sums": {"acc,none": 0.5}},
            "configs": {},
            "versions": {"sums": 1},
            "n-samples": {"sums": {"original": 2, "effective": 2}},
            "config": {"model": "hf", "model_args": "pretrained=lab/model-a"},
            "model_name": "lab/model-a",
            "date": 1741064767.5,
        },
    )
    rows = [
        {
            "doc_id": number,
            "doc": {"question": f"question {number}"},
            "target": str(number),
            "arguments": {"gen_args_0": {"arg_0": f"prompt {number}", "arg_1": {"until": []}}},
            "resps": [[f"answer {number}"]],
            "filtered_resps": [f"answer {number}"],
            "filter": "none",
            "metrics": ["acc"],
            "doc_hash": f"{number:064x}",
            "acc": 1 - number,
        }
        for number in range(2)
    ]
    return json_lines(folder / "samples_sums_2025-03-04T05-06-07.890123.jsonl", rows)


def _inspect_log() -> dict[str, Any]:
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": "E1",
            "task": "zoo/animals",
            "model": "lab/model-a",
            "created": "2025-06-01T10:00:00+00:00",
            "dataset": {"name": "animals"},
            "config": {"epochs": 1},
            "scorers": [{"name": "match", "options": {}, "metrics": []}],
        },
    }


def _inspect_samples() -> list[dict[str, Any]]:
    return [
        {
            "id": number,
            "epoch": 1,
            "input": f"question {number}",
            "target": "yes",
            "scores": {"match": {"value": value, "answer": "yes", "explanation": "words"}},
            "metadata": {},
        }
        for number, value in ((1, "C"), (2, "I"))
    ]


def inspect_json(folder: Path) -> Path:
    return document(folder / "log.json", {**_inspect_log(), "samples": _inspect_samples()})


def inspect_eval(folder: Path) -> Path:
    path = folder / "log.eval"
    members: dict[str, Any] = {
        f"samples/{sample['id']}_epoch_1.json": sample for sample in _inspect_samples()
    }
    members |= {"_journal/start.json": _inspect_log(), "header.json": _inspect_log()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in members.items():
            archive.writestr(name, json.dumps(part))
    return path


def evalshift(folder: Path) -> Path:
    document(
        folder / "state.json",
        {
            "run_id": "r1",
            "status": "completed",
            "config_hash": "c0ffee",
            "models": {"source": "old", "target": "new"},
            "evaluator_coverage": [],
            "skipped_evaluators": [],
        },
    )
    rows = [
        {
            "run_id": "r1",
            "prompt_id": "triage",
            "example_id": f"e{number}",
            "evaluator_name": "structural.length",
            "kind": "structural",
            "source_score": 1.0,
            "target_score": 0.5,
            "delta": -0.5,
            "explanation": "",
            "metadata": {},
            "error": None,
            "blocking": True,
        }
        for number in (1, 2)
    ]
    return json_lines(folder / "scores.jsonl", rows)


def agent_evals(folder: Path) -> Path:
    rows: list[dict[str, Any]] = [
        {
            "input": f"question {number}",
            "output": "yes",
            "expected": "yes",
            "scores": {"StateMatch": {"name": "StateMatch", "value": value, "passed": value == 1}},
            "metadata": {},
            "duration": 0.5,
            "error": None,
        }
        for number, value in ((1, 1.0), (2, 0.5))
    ]
    return json_lines(folder / "model-a.jsonl", rows)


def agent_evals_result(folder: Path) -> Path:
    lines = agent_evals(folder)
    examples = [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
    lines.unlink()
    return document(
        folder / "result.json",
        {
            "experiment_id": "nightly",
            "platform": "local",
            "scores": {"StateMatch": 0.75},
            "pass_rates": {"StateMatch": 0.5},
            "examples": examples,
            "summary": {"total_examples": 2, "failed_examples": 0},
        },
    )


def braintrust(folder: Path) -> Path:
    rows = [
        {
            "input": f"question {number}",
            "output": "yes",
            "expected": "yes",
            "scores": {"Exact": 1 - number},
            "metadata": {},
            "tags": None,
            "error": None,
        }
        for number in range(2)
    ]
    return json_lines(folder / "model-a.jsonl", rows)


def braintrust_logs(folder: Path) -> Path:
    rows = [
        {
            "id": f"row-{number}",
            "span_id": f"span-{number}",
            "root_span_id": f"span-{number}",
            "experiment_id": "experiment-1",
            "created": "2026-02-03T04:05:06Z",
            "input": f"question {number}",
            "output": "yes",
            "scores": {"Exact": 1 - number},
            "span_attributes": {"name": "eval", "type": "eval"},
        }
        for number in range(2)
    ]
    return json_lines(folder / "model-a.jsonl", rows)


def autoevals(folder: Path) -> Path:
    rows = [{"name": "Exact", "score": 1 - number, "metadata": {}} for number in range(2)]
    return json_lines(folder / "model-a.jsonl", rows)


def agentevals(folder: Path) -> Path:
    rows = [{"key": "match", "score": number == 0, "comment": None} for number in range(2)]
    return json_lines(folder / "model-a.jsonl", rows)


def langsmith(folder: Path) -> Path:
    path = folder / "model-a.csv"
    path.write_text(
        "inputs.question,outputs.answer,error,feedback.correct,execution_time,example_id,id\n"
        "one?,1,,True,0.5,e1,r1\ntwo?,3,,False,0.5,e2,r2\n",
        "utf-8",
    )
    return path


def alpaca_eval(folder: Path) -> Path:
    rows = [
        {
            "instruction": f"instruction {number}",
            "output_1": "one",
            "generator_1": "house",
            "output_2": "two",
            "generator_2": "guest",
            "annotator": "judge",
            "preference": 1.0 + number,
        }
        for number in range(2)
    ]
    return json_lines(folder / "annotations.jsonl", rows)


def mt_bench(folder: Path) -> Path:
    rows = [
        {
            "question_id": number,
            "model": "model-a",
            "judge": ["judge", "single-v1"],
            "judgment": f"Rating: [[{number}]]",
            "score": number,
            "turn": 1,
            "tstamp": 1700000000.5,
        }
        for number in (5, 6)
    ]
    return json_lines(folder / "judge_single.jsonl", rows)


def mt_bench_pairs(folder: Path) -> Path:
    rows = [
        {
            "question_id": number,
            "model_1": "model-a",
            "model_2": "model-b",
            "g1_winner": "model_1",
            "g2_winner": "tie",
            "judge": ["judge", "pair-v2"],
            "turn": 1,
            "tstamp": 1700000000.5,
        }
        for number in (5, 6)
    ]
    return json_lines(folder / "judge_pair.jsonl", rows)


def arena_hard(folder: Path) -> Path:
    rows = [
        {
            "uid": f"q{number}",
            "judge": "judge",
            "model": "model-a",
            "baseline": "model-b",
            "games": [{"score": "A>B", "judgment": "..."}, {"score": "A=B", "judgment": "..."}],
        }
        for number in (1, 2)
    ]
    return json_lines(folder / "model-a.jsonl", rows)


def arena_hard_ratings(folder: Path) -> Path:
    rows = [
        {"question_id": f"q{number}", "model": "model-a", "judgment": "ok", "score": number}
        for number in (1, 2)
    ]
    return json_lines(folder / "model-a.jsonl", rows)


def langstate(folder: Path) -> Path:
    def result(number: int) -> dict[str, Any]:
        best = {"value": f"name {number}", "confidence": 1.0}
        other = best if number else {"value": "?", "confidence": 0.5}
        return {
            "comparison": {
                "fields": [
                    {
                        "field_path": "name",
                        "matches": bool(number),
                        "expected_value": best,
                        "actual_value": other,
                        "difference": None if number else "they differ",
                    }
                ],
                "matching_fields": number,
                "mismatched_fields": 1 - number,
                "missing_fields": 0,
                "extra_fields": 0,
                "overall_match": bool(number),
            },
            "actual_post_state": {"nodes": []},
            "accuracy_score": float(number),
            "time_used": 0.5,
            "metadata": {"case_id": f"case {number}"},
        }

    return json_lines(folder / "model-a.jsonl", [result(number) for number in range(2)])


def _llm_core_results() -> list[dict[str, Any]]:
    return [
        {
            "caseId": f"lab.case-{number}",
            "evaluator": {"evaluatorId": "lab.judge", "version": "1.0.0"},
            "status": "pass" if number else "fail",
            "scores": [{"criterionId": "lab.clarity", "value": number}],
            "explanations": ["clear enough"],
            "evidence": [],
        }
        for number in range(2)
    ]


def llm_core(folder: Path) -> Path:
    return json_lines(folder / "model-a.jsonl", _llm_core_results())


def llm_core_qualification(folder: Path) -> Path:
    return document(
        folder / "qualification.json",
        {
            "dataset": {"id": "lab.set"},
            "split": {"id": "lab.test", "datasetId": "lab.set", "kind": "held-out"},
            "baseline": {"id": "lab.old"},
            "candidate": {"id": "lab.new"},
            "evaluator": {"evaluatorId": "lab.judge", "version": "1.0.0"},
            "results": [{"result": each} for each in _llm_core_results()],
            "assertions": [],
            "thresholds": [{"criterionId": "lab.clarity", "minimum": 0.5}],
            "thresholdStatus": "qualified",
        },
    )


def otel(folder: Path) -> Path:
    def attributes(**values: Any) -> list[dict[str, Any]]:
        kinds = {str: "stringValue", float: "doubleValue"}
        return [
            {"key": name.replace("__", "."), "value": {kinds[type(value)]: value}}
            for name, value in values.items()
        ]

    spans = [
        {
            "traceId": f"{number:032x}",
            "spanId": f"{number:016x}",
            "name": "chat model-a",
            "startTimeUnixNano": f"{number}700000000000000000",
            "endTimeUnixNano": f"{number}700000000500000000",
            "attributes": attributes(
                gen_ai__request__model="model-a", test__case__id=f"case {number}"
            ),
            "events": [
                {
                    "name": "gen_ai.evaluation.result",
                    "timeUnixNano": f"{number}700000001000000000",
                    "attributes": attributes(
                        gen_ai__evaluation__name="Relevance",
                        gen_ai__evaluation__score__value=0.5,
                    ),
                }
            ],
        }
        for number in (1, 2)
    ]
    exports = [{"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]} for span in spans]
    return json_lines(folder / "traces.jsonl", exports)


def junit(folder: Path) -> Path:
    path = folder / "model-a.xml"
    cases = [
        f'<testcase classname="test_sums" name="test_sum[{n}]" time="0.1">{ending}</testcase>'
        for n, ending in ((1, ""), (2, '<failure message="assert 3 == 4">two</failure>'))
    ]
    suite = '<testsuite name="pytest" tests="2" failures="1" errors="0" skipped="0">'
    body = "\n".join([suite, *cases, "</testsuite>"])
    path.write_text(f'<?xml version="1.0"?>\n<testsuites>{body}</testsuites>\n', "utf-8")
    return path


def _promptfoo_results() -> list[dict[str, Any]]:
    return [
        {
            "provider": {"id": "lab:model-a", "label": ""},
            "prompt": {"raw": f"question {number}", "label": "question {{n}}"},
            "promptIdx": 0,
            "testIdx": number,
            "vars": {"n": number},
            "response": {"output": "yes"},
            "success": number == 0,
            "score": 1 - number,
            "failureReason": number,
            "namedScores": {},
            "gradingResult": {
                "pass": number == 0,
                "score": 1 - number,
                "reason": "compared",
                "componentResults": [
                    {
                        "pass": number == 0,
                        "score": 1 - number,
                        "reason": "compared",
                        "assertion": {"type": "equals", "value": "yes"},
                    }
                ],
            },
        }
        for number in range(2)
    ]


def promptfoo(folder: Path) -> Path:
    inner = {"version": 3, "timestamp": "2026-02-03T04:05:06Z", "results": _promptfoo_results()}
    return document(folder / "out.json", {"evalId": "e1", "results": inner})


def promptfoo_lines(folder: Path) -> Path:
    return json_lines(folder / "out.jsonl", _promptfoo_results())


def deepeval(folder: Path) -> Path:
    cases = [
        {
            "name": f"test_case_{number}",
            "input": f"question {number}",
            "actualOutput": "yes",
            "success": number == 0,
            "metricsData": [
                {"name": "Relevancy", "threshold": 0.5, "success": number == 0, "score": 1 - number}
            ],
        }
        for number in range(2)
    ]
    return document(folder / "model-a.json", {"testCases": cases, "testPassed": 1, "testFailed": 1})


def deepteam(folder: Path) -> Path:
    cases = [
        {
            "vulnerability": "Leak",
            "vulnerability_type": "pii",
            "riskCategory": "Privacy",
            "attackMethod": "Base64",
            "input": f"attack {number}",
            "actualOutput": "no",
            "score": 1.0 - number,
        }
        for number in range(2)
    ]
    return document(folder / "model-a.json", {"overview": {}, "test_cases": cases})


def ragas(folder: Path) -> Path:
    path = folder / "model-a.csv"
    path.write_text(
        "user_input,retrieved_contexts,response,reference,faithfulness,context_recall\n"
        "one?,['a'],1,1,1.0,0.5\ntwo?,['b'],3,2,0.25,1.0\n",
        "utf-8",
    )
    return path


def openai_evals(folder: Path) -> Path:
    spec = {"completion_fns": ["model-a"], "eval_name": "sums.test.v0", "run_id": "r1"}
    events = [
        {
            "run_id": "r1",
            "event_id": number,
            "sample_id": f"sums.{number}",
            "type": "match",
            "data": {"correct": number == 0, "expected": "yes", "picked": "yes"},
            "created_at": "2026-02-03 04:05:06+00:00",
        }
        for number in range(2)
    ]
    return json_lines(folder / "record.jsonl", [{"spec": spec}, *events])


def _helm_stats(score: float) -> list[dict[str, Any]]:
    return [
        {
            "name": {"name": name, "split": "test"},
            "count": 1,
            "sum": value,
            "sum_squared": value**2,
            "min": value,
            "max": value,
            "mean": value,
            "variance": 0.0,
            "stddev": 0.0,
        }
        for name, value in (("num_output_tokens", 3.0), ("exact_match", score))
    ]


def helm_file(folder: Path) -> Path:
    rows = [
        {"instance_id": f"id{n}", "train_trial_index": 0, "stats": _helm_stats(1.0 - n)}
        for n in range(2)
    ]
    return document(folder / "per_instance_stats.json", rows)


def helm(folder: Path) -> Path:
    run = folder / "sums:model=lab_model-a"
    run.mkdir()
    spec = {"name": run.name, "scenario_spec": {}, "adapter_spec": {"model": "lab/model-a"}}
    document(run / "run_spec.json", {**spec, "metric_specs": []})
    helm_file(run)
    return run


def mlflow(folder: Path) -> Path:
    columns = ["inputs", "ground_truth", "outputs", "exact_match/v1/score"]
    data = [[f"question {number}", "yes", "yes", 1 - number] for number in range(2)]
    return document(folder / "eval_results_table.json", {"columns": columns, "data": data})


def mlflow_genai(folder: Path) -> Path:
    rows = [
        {
            "trace_id": f"tr-{number}",
            "request": f"question {number}",
            "response": "yes",
            "safety/value": "yes" if number else "no",
            "safety/rationale": "words",
        }
        for number in range(2)
    ]
    return json_lines(folder / "model-a.jsonl", rows)


def phoenix(folder: Path) -> Path:
    rows = [
        {
            "example_id": f"e{number}",
            "repetition_number": 1,
            "input": {"question": f"question {number}"},
            "output": "yes",
            "error": None,
            "annotations": [{"name": "exact", "label": None, "score": 1 - number}],
        }
        for number in range(2)
    ]
    return document(folder / "model-a.json", rows)


def phoenix_flat(folder: Path) -> Path:
    rows = [
        {
            "arm": "model-a",
            "question_id": f"q{number}",
            "repeat": 0,
            "answer": "yes",
            "error": None,
            "correct": number == 0,
            "score": 1.0 - number,
            "judge_explanation": "words",
        }
        for number in range(2)
    ]
    return json_lines(folder / "runs.jsonl", rows)


def phoenix_spans(folder: Path) -> Path:
    path = folder / "evals_relevance.csv"
    path.write_text(
        "context.span_id,label,score,explanation\na1,relevant,1,words\na2,unrelated,0,words\n",
        "utf-8",
    )
    return path


def lighteval(folder: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    place = folder / "details" / "lab" / "model-a" / "2026-01-02T03-04-05.678901"
    place.mkdir(parents=True)
    rows = [
        {
            "doc": {
                "id": f"d{number}",
                "query": f"question {number}",
                "choices": ["yes", "no"],
                "gold_index": [0],
                "task_name": "sums|0",
            },
            "metric": {"acc": 1 - number},
            "model_response": {"text": ["yes"], "logprobs": [0.5]},
        }
        for number in range(2)
    ]
    path = place / "details_sums|0_2026-01-02T03-04-05.678901.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def swe_bench(folder: Path) -> Path:
    reports = {
        f"lab__tool-{number}": {
            "patch_is_None": False,
            "patch_exists": True,
            "patch_successfully_applied": True,
            "resolved": number == 1,
        }
        for number in (1, 2)
    }
    return document(folder / "model-a.json", reports)


def tau_bench(folder: Path) -> Path:
    rows = [
        {"task_id": number, "reward": float(number), "info": {}, "traj": [], "trial": 0}
        for number in range(2)
    ]
    return document(folder / "model-a.json", rows)


def tau_bench_simulations(folder: Path) -> Path:
    rows = [
        {
            "id": f"s{number}",
            "task_id": str(number),
            "trial": 0,
            "termination_reason": "user_stop",
            "reward_info": {"reward": float(number)},
        }
        for number in range(2)
    ]
    info = {"user_info": {}, "agent_info": {"llm": "model-a"}}
    return document(folder / "run.json", {"info": info, "tasks": [], "simulations": rows})


def tau_bench_judges(folder: Path) -> Path:
    rows = [
        {
            "simulation_id": f"s{number}",
            "task_id": str(number),
            "label": "model-a",
            "tau2_reward": 1.0,
            "judge_verdict": "pass",
            "judge_prompt_name": "outcome",
        }
        for number in range(2)
    ]
    return json_lines(folder / "judges.jsonl", rows)


def terminal_bench(folder: Path) -> Path:
    rows = [
        {
            "trial_name": f"task-{number}.1-of-1",
            "task_id": f"task-{number}",
            "is_resolved": number == 1,
            "failure_mode": "unset",
            "parser_results": {"test": "passed" if number == 1 else "failed"},
        }
        for number in range(2)
    ]
    return document(folder / "model-a.json", {"id": "r1", "results": rows})


def bfcl(folder: Path) -> Path:
    failure = {"model_name": "model-a", "valid": False, "error": ["wrong"], "error_type": "value"}
    rows: list[dict[str, Any]] = [{"accuracy": 0.0, "correct_count": 0, "total_count": 2}]
    rows += [{"id": f"simple_{number}", **failure} for number in range(2)]
    return json_lines(folder / "BFCL_v4_simple_score.json", rows)


MINIMAL: dict[str, Write] = {
    "lighteval": lighteval,
    "table": table_jsonl,
    "table:csv": table_csv,
    "inspect": inspect_json,
    "inspect:eval": inspect_eval,
    "lm_eval": lm_eval,
    "evalshift": evalshift,
    "agent_evals": agent_evals,
    "agent_evals:result": agent_evals_result,
    "braintrust": braintrust,
    "braintrust:logs": braintrust_logs,
    "autoevals": autoevals,
    "agentevals": agentevals,
    "langsmith": langsmith,
    "alpaca_eval": alpaca_eval,
    "mt_bench": mt_bench,
    "mt_bench:pairs": mt_bench_pairs,
    "arena_hard": arena_hard,
    "arena_hard:ratings": arena_hard_ratings,
    "promptfoo": promptfoo,
    "promptfoo:lines": promptfoo_lines,
    "deepeval": deepeval,
    "deepteam": deepteam,
    "ragas": ragas,
    "openai_evals": openai_evals,
    "langstate": langstate,
    "llm_core": llm_core,
    "llm_core:qualification": llm_core_qualification,
    "otel": otel,
    "junit": junit,
    "helm": helm,
    "helm:file": helm_file,
    "mlflow": mlflow,
    "mlflow:genai": mlflow_genai,
    "phoenix": phoenix,
    "phoenix:flat": phoenix_flat,
    "phoenix:spans": phoenix_spans,
    "swe_bench": swe_bench,
    "tau_bench": tau_bench,
    "tau_bench:simulations": tau_bench_simulations,
    "tau_bench:judges": tau_bench_judges,
    "terminal_bench": terminal_bench,
    "bfcl": bfcl,
}
"""How to write the smallest valid file of each format; new formats go below, one line each."""
