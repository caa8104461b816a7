"""What HELM wrote about a run beside the scores: requests with their answers, and its report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evaltoolkit.readers.base import Row, Source
from evaltoolkit.readers.helm_run import (
    STATE,
    STATS,
    Key,
    Run,
    mapping_of,
    place_of,
    request_key,
    request_states,
    without_details,
)
from evaltoolkit.readers.records import BAD_RECORD, as_cell, as_json, finite_number, moment

_TOKENS = {
    "tokens_in": ("num_prompt_tokens",),
    "tokens_out": ("num_output_tokens", "num_completion_tokens"),
}


def output_rows(run: Run, stats: list[tuple[Key, Mapping[str, Row]]]) -> Iterator[Row]:
    """Give one row for each instance, perturbation and trial that was asked.

    Args:
        run: The run.
        stats: The stats of each instance by name, for the numbers of tokens.
    """
    requests: dict[Key, list[tuple[str, Row]]] = {}
    for record, request in request_states(run.state):
        try:
            requests.setdefault(request_key(request), []).append((record, request))
        except BAD_RECORD as error:
            run.reading.bad_record(run.path(STATE), record, error)
    measured = dict(stats)
    names = without_details(key[1] for key in [*measured, *requests])
    for key, group in requests.items():
        record, first = group[0]
        results = [mapping_of(request.get("result")) for _, request in group]
        yield {
            **place_of(run, key, names),
            "input": _prompt(first),
            "output": _answer(group),
            "reference": _reference(first),
            **_how_it_went(results),
            **{name: _mean(measured.get(key, {}), metrics) for name, metrics in _TOKENS.items()},
            "source": f"{run.where(STATE)}: {record}",
        }


def _prompt(request: Row) -> str | None:
    asked = mapping_of(request.get("request"))
    text = mapping_of(request["instance"].get("input")).get("text")
    return as_cell(asked.get("messages") or asked.get("prompt") or text)


def _answer(group: list[tuple[str, Row]]) -> str | None:
    """Take the answer as text; for options that were asked one by one, their log probabilities."""
    found = []
    for _, request in group:
        completions = mapping_of(request.get("result")).get("completions") or []
        found.append((request, [each for each in completions if isinstance(each, Mapping)]))
    if len(found) > 1:
        chances = [
            {
                "reference": request.get("reference_index"),
                "mode": request.get("request_mode"),
                "logprob": completions[0].get("logprob") if completions else None,
            }
            for request, completions in found
        ]
        return as_json(chances)
    texts = [each.get("text") for each in found[0][1]]
    return as_cell(texts[0] if len(texts) == 1 else texts or None)


def _reference(request: Row) -> str | None:
    references = request["instance"].get("references") or []
    right = [
        mapping_of(each.get("output")).get("text")
        for each in references
        if isinstance(each, Mapping) and "correct" in (each.get("tags") or [])
    ]
    return as_cell(right[0] if len(right) == 1 else right or None)


def _how_it_went(results: list[Mapping[str, Any]]) -> Row:
    times = [finite_number(result.get("request_time")) for result in results]
    spent = [time for time in times if time is not None]
    errors = [
        str(result.get("error") or "the request failed")
        for result in results
        if result.get("success") is False
    ]
    completions = results[0].get("completions") or [None]
    reason = mapping_of(completions[0]).get("finish_reason")
    return {
        "error": errors[0] if errors else None,
        "finish_reason": as_cell(mapping_of(reason).get("reason")),
        "latency_s": sum(spent) if spent else None,
        "timestamp": moment(results[0].get("request_datetime")),
    }


def _mean(stats: Mapping[str, Row], names: tuple[str, ...]) -> float | None:
    found = (finite_number(stats[name].get("mean")) for name in names if name in stats)
    return next((number for number in found if number is not None), None)


def aggregates(run: Run) -> Iterator[Row]:
    """Give what HELM reported about the metrics of a run as rows of the report."""
    document = Source(run.path(STATS)).document
    stats = [
        (each["name"], each)
        for each in (document if isinstance(document, list) else [])
        if isinstance(each, Mapping) and isinstance(each.get("name"), Mapping)
    ]
    sizes = {
        _context(name): finite_number(stat.get("mean"))
        for name, stat in stats
        if name.get("name") == "num_instances"
    }
    for name, stat in stats:
        metric = str(name.get("name"))
        if run.role(metric) == "describes":
            continue
        split, sub_split, perturbation, computed_on = _context(name)
        yield {
            "run_id": run.name,
            "system": run.system,
            "task": run.task,
            "criterion": metric,
            "metric": "mean",
            "value": finite_number(stat.get("mean")),
            "stderr": None,
            "n": sizes.get(_context(name)),
            "split": split,
            "sub_split": sub_split,
            "perturbation": perturbation,
            "computed_on": computed_on,
        }


def _context(name: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
    perturbation = mapping_of(name.get("perturbation"))
    return (
        name.get("split"),
        name.get("sub_split"),
        perturbation.get("name"),
        perturbation.get("computed_on"),
    )
