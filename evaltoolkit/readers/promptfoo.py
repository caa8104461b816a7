"""Results of promptfoo: the JSON and JSON lines that ``promptfoo eval -o`` writes, versions 1 to 3.

What becomes what: the eval the run; the provider the system, together with the prompt where the
file has several (a column of promptfoo's table is a system); a hash of the variables the example,
since test numbers hold only inside one config; repeats (``--repeat``), which get test numbers of
their own, trials; each assertion a criterion, named by its metric or type, beside ``overall``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from evaltoolkit.errors import listed, warn
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source, json_lines
from evaltoolkit.readers.flat_records import header
from evaltoolkit.readers.promptfoo_results import Result, add_lost_parts, identify
from evaltoolkit.readers.promptfoo_values import OVERALL, Part, crash, parts_of
from evaltoolkit.readers.records import (
    BAD_RECORD,
    as_cell,
    as_json,
    attribute_names,
    attributes,
    finite_number,
)
from evaltoolkit.readers.unnamed import time_or_none

_RESULT = frozenset({"provider", "prompt", "vars"})
_VERDICT = frozenset({"success", "score", "gradingResult", "manualGrading"})
_CSV_COLUMN = re.compile(r"\[.+\] ")
_CSV_CELLS = (b"[PASS]", b"[FAIL]", b"[ERROR]")
_SUMS = ("score", "testPassCount", "testFailCount", "testErrorCount")


def detect(source: Source) -> bool:
    """Say whether a file is an output of promptfoo, in any of its file types."""
    if source.is_folder or source.is_zip or source.is_parquet:
        return False
    if not source.looks_like_json:
        return _is_lossy(source)
    if source.is_json_lines:
        return _is_result(source.first_line) and "success" in source.first_line
    # Parsing a large document of another tool costs more than this look at it.
    return b'"results"' in source.head and _is_document(source.document)


def _is_lossy(source: Source) -> bool:
    return b"<promptfoo>" in source.head[:200] or _is_csv(source)


def _is_csv(source: Source) -> bool:
    if not any(cell in source.head for cell in _CSV_CELLS):
        return False
    return any(_CSV_COLUMN.match(name) for name in header(source))


def _is_document(document: object) -> bool:
    inner = document.get("results") if isinstance(document, Mapping) else None
    results = inner.get("results") if isinstance(inner, Mapping) else None
    if not isinstance(inner, Mapping) or not isinstance(results, list):
        return False
    if not results:
        return "stats" in inner and bool({"table", "prompts"} & set(inner))
    return _is_result(results[0])


def _is_result(value: object) -> bool:
    return isinstance(value, Mapping) and set(value) >= _RESULT and bool(_VERDICT & set(value))


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read one file; its rows come in one batch, since repeats can stand anywhere."""
    if not source.looks_like_json:
        why = "its cells hold rounded scores" if _is_csv(source) else "its values have no types"
        yield Batch(notes=[f"{why}; export json or jsonl (promptfoo eval -o)"])
        return
    whole = {} if source.is_json_lines else source.document
    results = [
        each
        for record, raw in _records(source, reading)
        if (each := _checked(source, record, raw, reading)) is not None
    ]
    inner = whole.get("results") or {}
    notes = identify(source, results, reading, run_id=str(whole.get("evalId") or ""))
    add_lost_parts(results)
    _check_counts(source, results, inner)
    time = time_or_none(inner.get("timestamp"))
    yield Batch(
        scores=_score_rows(source, results, time),
        outputs=[_output_row(source, each, time) for each in results],
        details=list(_detail_rows(source, results)) if "details" in reading.want else [],
        aggregates=list(_aggregates(results, inner)),
        notes=[f"{source.path.name}: {note}" for note in [*notes, *_cached(results)]],
    )


def _records(source: Source, reading: Reading) -> Iterator[tuple[str, Any]]:
    if source.is_json_lines:
        yield from json_lines(source.path, reading)
    else:
        for number, raw in enumerate(source.document["results"]["results"]):
            yield f"result {number}", raw


def _checked(source: Source, record: str, raw: Any, reading: Reading) -> Result | None:  # noqa: ANN401
    try:
        each = Result(record, _laid_out(raw), parts_of(raw))
        # What would go wrong with one result later would take the whole file along.
        hash(each.column)
        _described(each)
        _output_row(source, each, None)
    except BAD_RECORD as error:
        reading.bad_record(source.path, record, error)
        return None
    return each


def _laid_out(raw: Any) -> Row:  # noqa: ANN401 - whatever stands in the list
    """Give a result back if its parts are objects where they must be."""
    test = raw.get("testCase") or {}
    parts = {
        "vars": raw.get("vars"),
        "testCase": test,
        "testCase.metadata": test.get("metadata"),
        "response": raw.get("response"),
    }
    wrong = [name for name, part in parts.items() if part and not isinstance(part, Mapping)]
    if wrong:
        raise ValueError(f"{listed(wrong)} must be an object")
    return dict(raw)


def _check_counts(source: Source, results: list[Result], inner: Row) -> None:
    """Warn where the file counts other numbers of successes than its results show."""
    stats = inner.get("stats") or {}
    told = [stats.get(name) for name in ("successes", "failures", "errors")]
    crashed = sum(each.raw.get("failureReason") == 2 for each in results)
    passed = sum(each.raw.get("success") is True for each in results)
    found = [passed, len(results) - passed - crashed, crashed]
    wrong = [
        f"{number} {name} for {seen}"
        for name, number, seen in zip(("successes", "failures", "errors"), told, found, strict=True)
        if isinstance(number, int) and number != seen
    ]
    if wrong:
        warn(
            f"{source.path}: its stats do not agree with its results ({', '.join(wrong)} found); "
            "it may have been filtered or cut, so count with care"
        )


def _cached(results: list[Result]) -> list[str]:
    count = sum(_is_cached(each.raw) for each in results)
    note = f"{count} answer(s) came from the cache: their cost and time are left out"
    return [note] if count else []


def _is_cached(raw: Row) -> bool:
    return (raw.get("response") or {}).get("cached") is True


def _score_rows(source: Source, results: list[Result], time: str | None) -> list[Row]:
    free: dict[str, list[Row]] = {}
    for each in results:
        free.setdefault(each.key["example_id"], []).append(_described(each))
    names = attribute_names(free)
    facts = _facts(results)
    rows: list[Row] = []
    for each in results:
        place = {
            "cluster": (each.test.get("metadata") or {}).get("conversationId"),
            "source": f"{source.path.name}: {each.record}",
            "timestamp": time,
            **attributes(_described(each), names, prefix="vars"),
        }
        rows += (
            {
                **each.key,
                "criterion": part.criterion,
                "scorer": part.scorer,
                **part.measured,
                **facts[part.criterion],
                **place,
            }
            for part in each.parts
        )
    return rows


def _described(each: Result) -> Row:
    described = {"description": each.test.get("description")}
    return {**described, **(each.test.get("metadata") or {}), **each.variables}


def _facts(results: list[Result]) -> dict[str, Row]:
    """Give what holds for all scores of a criterion: bounds, threshold, weight."""
    parts: dict[str, list[Part]] = {}
    for each in results:
        for part in each.parts:
            parts.setdefault(part.criterion, []).append(part)
    facts: dict[str, Row] = {}
    for name, all_parts in parts.items():
        own = [part for part in all_parts if part.assertion]
        bounded = bool(own) and all(part.is_bounded for part in own)
        facts[name] = {
            "lower_bound": 0.0 if bounded else None,
            "upper_bound": 1.0 if bounded else None,
            "threshold": _common([part.threshold for part in own]),
            "weight": _common([part.weight for part in own]),
        }
    return facts


def _common(values: list[float | None]) -> float | None:
    """Give what every assertion of a criterion states alike, else nothing."""
    return values[0] if len(set(values)) == 1 else None


def _output_row(source: Source, each: Result, time: str | None) -> Row:
    raw, response = each.raw, each.raw.get("response") or {}
    prompt, used = raw.get("prompt"), response.get("tokenUsage") or {}
    # Where the provider tells no cost, the result says 0.
    cost = finite_number(response.get("cost")) or finite_number(raw.get("cost")) or None
    latency = finite_number(raw.get("latencyMs"))
    error = crash(raw)
    is_cached = _is_cached(raw)
    return {
        **each.key,
        "input": as_cell(prompt.get("raw") if isinstance(prompt, Mapping) else prompt),
        "output": as_cell(response.get("output")),
        "error": error[1] if error is not None and error[0] == "system_error" else None,
        "finish_reason": as_cell(response.get("finishReason")),
        "cost_usd": None if is_cached else cost,
        "tokens_in": finite_number(used.get("prompt")),
        "tokens_out": finite_number(used.get("completion")),
        "latency_s": None if latency is None or is_cached else latency / 1000,
        "timestamp": time,
        "source": f"{source.path.name}: {each.record}",
    }


def _detail_rows(source: Source, results: list[Result]) -> Iterator[Row]:
    for each in results:
        place = f"{source.path.name}: {each.record}"
        for part in each.parts:
            told = {name: part.raw.get(name) for name in ("reason", "metadata", "tokensUsed")}
            given = {k: v for k, v in {**told, "assertion": part.assertion}.items() if v}
            if given:
                key = {**each.key, "criterion": part.criterion, "scorer": part.scorer}
                yield {**key, "details": as_json(given), "source": place}


def _aggregates(results: list[Result], inner: Row) -> Iterator[Row]:
    """Give what promptfoo counted for each column; its score there is a sum, not a mean."""
    by_column = {each.column: each for each in results}
    for place, prompt in enumerate(inner.get("prompts") or []):
        metrics, each = prompt.get("metrics") or {}, by_column.get(place)
        if each is None:
            continue
        key = {"run_id": each.key["run_id"], "system": each.key["system"], "task": ""}
        for name in _SUMS:
            if name in metrics:
                metric = "sum" if name == "score" else name
                yield {**key, "criterion": OVERALL, "metric": metric, "value": metrics[name]}
        counts = metrics.get("namedScoresCount") or {}
        for name, value in (metrics.get("namedScores") or {}).items():
            row = {"criterion": name, "metric": "sum", "value": value, "n": counts.get(name)}
            yield {**key, **row}


FORMAT = Format(
    name="promptfoo",
    title="promptfoo results (json, jsonl)",
    detect=detect,
    read=read,
    tables=frozenset({"scores", "outputs", "details", "report"}),
    signs="results.results with provider, prompt and vars; or such results as JSON lines",
    quirks=(
        "A provider error (written as score 0, failed) is `system_error` in every criterion of its "
        "test; a grader whose reply could not be read and an assertion that threw are "
        "`scorer_error`, and so is the overall score made of them. A test without assertions is "
        "`unscored`, although promptfoo writes 1. Repeats are found by equal variables and "
        "numbered as trials. With several prompts a system is a provider with a prompt. CSV and "
        "XML exports hold rounded or untyped scores and are refused: export json."
    ),
)
