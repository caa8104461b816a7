"""Results of the Berkeley Function-Calling Leaderboard: a file of answers and a file of failures.

A score file begins with its totals and then lists the failures only. Which examples passed is
known from the file of results of the same run: its ids without the failures, as many as the totals
say. Without that file a score file is read only where nothing passed; else it has no scores.

An answer that could not be decoded into calls, or that was cut off, is no wrong call: it is kept
apart as `system_error`, with the tool's name for it (the tool counts it as a failure).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from evaltoolkit.errors import ReadError
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source, json_lines
from evaltoolkit.readers.benchmark_values import lost, told, verdict_of
from evaltoolkit.readers.records import BAD_RECORD, as_cell, as_json, finite_number, shortened
from evaltoolkit.readers.unnamed import system_name

_TOTALS = frozenset({"accuracy", "correct_count", "total_count"})
_RESULT = frozenset({"id", "result"})
_MEASURED = frozenset({"input_token_count", "output_token_count", "inference_log"})
_SCORE_NAME, _RESULT_NAME = "_score", "_result"
_NUMBER = re.compile(r"_\d+(?:-\d+)*$")
_VERSION = re.compile(r"^BFCL_v\d+_")
# No call to judge: the answer could not be decoded, or there is no whole answer.
_NO_CALL = re.compile(r"decoder_failed|inference_error|force_terminated|decode_fail")
_INFERENCE_FAILED = "Error during inference"
# Folders of categories between that of the model and the file.
_GROUPS = frozenset({"agentic", "format_sensitivity", "live", "memory", "multi_turn", "non_live"})
_BATCH = 1_000


def detect(source: Source) -> bool:
    """Say whether a file holds results or failures, by its first record."""
    if b'"correct_count"' in source.head:
        return source.keys() >= _TOTALS
    if b'"result"' not in source.head or not source.is_json_lines:
        return False
    keys = source.keys()
    return keys >= _RESULT and bool(keys & _MEASURED)


def _is_score(source: Source) -> bool:
    return source.keys() >= _TOTALS


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read verdicts from a score file, or answers from a file of results."""
    yield from _verdicts(source, reading) if _is_score(source) else _answers(source, reading)


def _answers(source: Source, reading: Reading) -> Iterator[Batch]:
    path = source.path
    score = _partner(path, _RESULT_NAME, _SCORE_NAME)
    system, notes = _system(path, reading, score)
    if "outputs" not in reading.want:
        where = score.name if score else f"{path.stem.replace(_RESULT_NAME, _SCORE_NAME)}.json"
        yield Batch(notes=[f"a file of results has answers only; the verdicts are in {where}"])
        return
    rows: list[Row] = []
    for record, raw in json_lines(path, reading):
        try:
            place = f"{path.name}: {record}"
            rows.append({**_key(system, str(raw["id"])), **_output(raw), "source": place})
        except BAD_RECORD as error:
            reading.bad_record(path, record, error)
        if len(rows) == _BATCH:
            yield Batch(outputs=rows)
            rows = []
    yield Batch(outputs=rows, notes=notes)


def _output(raw: Row) -> Row:
    result = raw["result"]
    failed = isinstance(result, str) and result.startswith(_INFERENCE_FAILED)
    calls = isinstance(result, list) and all(isinstance(call, dict) for call in result)
    return {
        "output": None if failed else as_cell(result),
        "error": shortened(result) if failed else None,
        "tool_calls": as_json(result) if calls and result else None,
        "tokens_in": _total(raw.get("input_token_count")),
        "tokens_out": _total(raw.get("output_token_count")),
        "latency_s": _total(raw.get("latency")),
    }


def _total(value: object) -> float | None:
    """Add up numbers, which are nested lists where an example has turns and steps."""
    if not isinstance(value, list):
        return finite_number(value)
    parts = [part for part in map(_total, value) if part is not None]
    return sum(parts) if parts else None


def _verdicts(source: Source, reading: Reading) -> Iterator[Batch]:
    path = source.path
    failures: dict[str, tuple[str, Row]] = {}
    totals: Row = {}
    for record, raw in _lines(source, reading):
        if raw.keys() >= _TOTALS:
            totals = raw
        elif "id" in raw and raw.get("valid") is not True:
            failures[str(raw["id"])] = record, raw
        else:
            reading.unknown(path, "line that is no failure")
    system, notes = _system(path, reading, path)
    results = _partner(path, _SCORE_NAME, _RESULT_NAME)
    passed, more = _passed(path, results, failures, totals, reading)
    notes += more
    whole = not more
    scores: list[Row] = []
    for example, (record, raw) in failures.items() if whole else ():
        scores.append({**_key(system, example), **_failed(raw), "source": f"{path.name}: {record}"})
    place = results.name if results else None
    scores += [{**_key(system, e), **_CALLS, **told(True), "source": place} for e in passed]
    yield Batch(
        scores=scores,
        details=[_detail(system, example, raw) for example, (_, raw) in failures.items()],
        aggregates=[_aggregate(path, system, failures, totals)] if totals else [],
        notes=notes,
    )


def _lines(source: Source, reading: Reading) -> Iterator[tuple[str, Row]]:
    if source.is_json_lines:
        yield from json_lines(source.path, reading)
    else:
        yield "line 1", source.document


def _passed(
    path: Path,
    results: Path | None,
    failures: dict[str, tuple[str, Row]],
    totals: Row,
    reading: Reading,
) -> tuple[list[str], list[str]]:
    """Name the examples that passed; a note says why they cannot be told."""
    correct, total = totals["correct_count"], totals["total_count"]
    if results is None:
        if correct == 0 and total == len(failures):
            return [], []
        return [], [
            f"{path.name} lists {len(failures)} failures of {total}; which {correct} examples "
            f"passed is in the file of results ({_expected(path)}), which is not there"
        ]
    ids = {str(raw.get("id")): None for _, raw in json_lines(results, reading)}
    passed = [example for example in ids if example not in failures]
    strangers = [example for example in failures if example not in ids]
    if len(passed) == correct and not strangers:
        return passed, []
    reading.bad_record(
        path,
        "line 1",
        ReadError(
            f"{path}: line 1 counts {correct} of {total} as correct, but {results.name} has "
            f"{len(ids)} examples, of which {len(passed)} are not among the {len(failures)} "
            f"failures, and lacks {len(strangers)} of those; give the two files of one run",
            code="contradiction",
            path=str(path),
        ),
    )
    return [], [f"{path.name} and {results.name} do not fit, so nothing of them was read"]


def _expected(path: Path) -> str:
    return path.name.replace(_SCORE_NAME, _RESULT_NAME)


def _partner(path: Path, own: str, other: str) -> Path | None:
    """Find the other file of the run: beside it, or in the tree of the other kind."""
    if not path.stem.endswith(own):
        return None
    name = path.stem.removesuffix(own) + other + path.suffix
    beside = path.with_name(name)
    if beside.is_file():
        return beside
    word, wanted = own.strip("_"), other.strip("_")
    folders = path.resolve().parent
    for place, part in reversed(list(enumerate(folders.parts))):
        if part.startswith(word):
            swapped = part.replace(word, wanted, 1)
            there = Path(*folders.parts[:place], swapped, *folders.parts[place + 1 :], name)
            return there if there.is_file() else None
    return None


def _system(path: Path, reading: Reading, score: Path | None) -> tuple[str, list[str]]:
    folder = path.resolve().parent
    while folder.name in _GROUPS:
        folder = folder.parent
    in_tree = folder.parent.name.startswith(("score", "result"))
    told = [
        (_stated(score), "its failures in the score file"),
        (folder.name if in_tree else None, "the folder name"),
    ]
    stem = path.stem.removesuffix(_SCORE_NAME).removesuffix(_RESULT_NAME)
    system, notes = system_name(path, reading, told=told, stem=stem)
    # What the file itself says is no decision.
    return system, [] if score == path and system == told[0][0] else notes


def _stated(score: Path | None) -> str | None:
    """Take the name of the model from the first failure that is listed."""
    if score is None:
        return None
    quiet = Reading(want=frozenset(), on_error="skip")
    lines = (raw.get("model_name") for _, raw in _lines(Source(score), quiet))
    return next((str(name) for name in lines if name), None)


_CALLS = verdict_of("correct_call")


def _key(system: str, example: str) -> Row:
    return {"system": system, "task": f"bfcl/{_category(example)}", "example_id": example}


def _category(example: str) -> str:
    """Take the category from an id.

    Example:
        >>> _category("live_parallel_0-0-0"), _category("simple_python_13")
        ('live_parallel', 'simple_python')
    """
    return _NUMBER.sub("", example)


def _failed(raw: Row) -> Row:
    error = raw.get("error")
    nested = error.get("error_type") if isinstance(error, dict) else None
    label = str(raw.get("error_type") or nested or "invalid")
    text = error.get("error_message", error) if isinstance(error, dict) else error
    parts = text if isinstance(text, list) else [text]
    message = shortened(" ".join(as_cell(part) or "" for part in parts)) or None
    if _NO_CALL.search(label):
        return {**_CALLS, **lost("system_error", message or label, label=label)}
    return {**_CALLS, **told(False, label=label, message=message)}


def _detail(system: str, example: str, raw: Row) -> Row:
    names = ("error_type", "error", "model_result_raw", "model_result_decoded", "possible_answer")
    told_more = {name: raw[name] for name in names if name in raw}
    key = _key(system, example)
    return {**key, "criterion": _CALLS["criterion"], "details": as_json(told_more)}


def _aggregate(path: Path, system: str, failures: dict[str, tuple[str, Row]], totals: Row) -> Row:
    example = next(iter(failures), None)
    named = _VERSION.sub("", path.stem.removesuffix(_SCORE_NAME))
    category = _category(example) if example else named
    return {
        "run_id": "",
        "system": system,
        "task": f"bfcl/{category}",
        "criterion": _CALLS["criterion"],
        "metric": "accuracy",
        "value": finite_number(totals["accuracy"]),
        "stderr": None,
        "n": totals["total_count"],
    }


FORMAT = Format(
    name="bfcl",
    title="Berkeley Function-Calling Leaderboard, score and result files",
    detect=detect,
    read=read,
    tables=frozenset({"scores", "outputs", "details", "report"}),
    signs="totals with correct_count and then failures, or answers with id, result and tokens",
    quirks=(
        "A score file lists failures only: the passes are the other ids of the file of results, "
        "and must be as many as the totals say. Without that file it is read only where nothing "
        "passed. An answer that could not be decoded is `system_error`, no wrong call."
    ),
)
