"""Verdicts of LLM judges on tau-bench simulations, beside the reward that the benchmark gave.

A verdict is free text: judges write pass, satisfied, compliant and whatever else. Words that are
plainly for or against become 1 and 0; the others are unscored and keep the word as their label.
Only for some words the tool itself worked out whether the judge agrees with the reward.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from evaltoolkit.errors import listed, warn
from evaltoolkit.readers.base import Batch, Reading, Row
from evaltoolkit.readers.benchmark_values import lost, told, verdict_of
from evaltoolkit.readers.records import BAD_RECORD, as_json, finite_number, shortened
from evaltoolkit.readers.tau_bench_simulations import REWARD
from evaltoolkit.readers.unnamed import system_name, trial_numbers

KEYS = frozenset({"task_id", "tau2_reward", "judge_verdict"})

_FOR = frozenset(
    {"compliant", "correct", "pass", "passed", "satisfactory", "satisfied", "success", "yes"}
)
_AGAINST = frozenset(
    {
        "fail", "failed", "failure", "incorrect", "no", "non-compliant", "non compliant",
        "noncompliant", "not satisfied", "unsatisfactory", "unsatisfied",
    }
)  # fmt: skip
_DOMAIN = re.compile(r"^Domain:\s*(\w+)")


def read_judges(
    path: Path, records: Iterable[tuple[str, Row]], document: Row, reading: Reading
) -> Batch:
    """Read two rows for each entry: the verdict of the judge and the reward."""
    good: list[tuple[str, Row, Row]] = []
    for record, raw in records:
        try:
            good.append((record, raw, _judged(raw)))
        except BAD_RECORD as error:
            reading.bad_record(path, record, error)
    systems = [_system(path, raw, reading) for _, raw, _ in good]
    trials, notes = trial_numbers(
        (system, raw["task_id"], raw.get("judge_prompt_name"), raw.get("judge_model"))
        for (_, raw, _), (system, _) in zip(good, systems, strict=True)
    )
    notes = [*dict.fromkeys(note for _, more in systems for note in more), *notes]
    batch = Batch(notes=notes)
    scores: list[Row] = []
    details: list[Row] = []
    rewarded: set[tuple[object, ...]] = set()
    for (record, raw, judged), (system, _), trial in zip(good, systems, trials, strict=True):
        key = {
            "system": system,
            "task": _task(raw),
            "example_id": str(raw["task_id"]),
            "trial": trial,
            "source": f"{path.name}: {record}",
        }
        row = {**key, **_criterion(raw), **judged}
        scores.append(row)
        # Several judges of one simulation repeat its reward.
        if (system, key["task"], key["example_id"], trial) not in rewarded:
            scores.append({**key, **REWARD, **_reward(raw)})
            rewarded.add((system, key["task"], key["example_id"], trial))
        details.append(_detail(key, row, raw))
    batch.scores, batch.details = scores, details
    batch.aggregates = _aggregates(document, scores)
    _warn_of_words(path, good, reading)
    return batch


def _system(path: Path, raw: Row, reading: Reading) -> tuple[str, list[str]]:
    return system_name(path, reading, told=[(raw.get("label"), f"the labels in {path.name}")])


def _task(raw: Row) -> str:
    found = _DOMAIN.search(str(raw.get("judge_prompt") or ""))
    domain = raw.get("domain") or (found and found[1])
    return f"tau2_bench/{domain}" if domain else "tau2_bench"


def _criterion(raw: Row) -> Row:
    name = str(raw.get("judge_prompt_name") or "judge_verdict")
    cost = finite_number(raw.get("judge_cost_usd"))
    scorer = str(raw.get("judge_model") or "")
    return {**verdict_of(name, blocking=False), "scorer": scorer, "judge_cost_usd": cost}


def _judged(raw: Row) -> Row:
    verdict = raw["judge_verdict"]
    reason = shortened(str(raw.get("judge_justification") or "")) or None
    if verdict is None or str(verdict).strip().lower() in ("", "error"):
        return lost("scorer_error", reason or "the judge gave no verdict", label=verdict)
    word = str(verdict).strip().lower().replace("_", " ")
    if word not in _FOR | _AGAINST:
        return lost("unscored", reason or "the verdict is neither for nor against", label=verdict)
    row = told(word in _FOR, label=str(verdict), message=reason)
    # The tool took a side only where it says whether judge and reward agree.
    return row if isinstance(raw.get("agreement"), bool) else {**row, "passed": None}


def _reward(raw: Row) -> Row:
    number = finite_number(raw["tau2_reward"])
    if number is None:
        return lost("unscored", "no reward is recorded", label=raw["tau2_reward"])
    success = raw.get("tau2_success")
    passed = success if isinstance(success, bool) else None
    return {"score": number, "status": "scored", "passed": passed}


def _detail(key: Row, row: Row, raw: Row) -> Row:
    names = (
        "simulation_id", "judge_verdict", "judge_justification", "judge_issues", "agreement",
        "judge_system_prompt", "judge_temperature", "judge_prompt_tokens",
        "judge_completion_tokens",
    )  # fmt: skip
    found = {name: raw[name] for name in names if name in raw}
    place = {"criterion": row["criterion"], "scorer": row["scorer"]}
    return {**key, **place, "details": as_json(found)}


def _aggregates(document: Row, scores: list[Row]) -> list[Row]:
    agreed, total = document.get("agree_count"), document.get("total_judged")
    if not scores or agreed is None:
        return []
    names = ("system", "task", "criterion")
    key = {"run_id": "", **{name: scores[0][name] for name in names}}
    return [{**key, "metric": "agree_count", "value": agreed, "stderr": None, "n": total}]


def _warn_of_words(path: Path, good: list[tuple[str, Row, Row]], reading: Reading) -> None:
    words = Counter(row["label"] for _, _, row in good if row["status"] == "unscored")
    if words and "scores" in reading.want:
        shown = listed(f"{word} ({count}×)" for word, count in words.most_common())
        warn(
            f"{path}: {words.total()} verdict(s) are words that are neither for nor against; they "
            f"are unscored and keep the word as label: {shown}"
        )
