"""EvalShift: a run directory (``state.json``, ``scores.jsonl``, ``raw.jsonl``) or its files alone.

How its rows become the three tables:

* A row of ``scores.jsonl`` holds both sides of a pair. It becomes a row of the source model and
  one of the target model, each ``versus`` the other; ``task`` is the prompt id.
* ``criterion`` is the evaluator's name after its kind (``tool_selection.divergence.routing``),
  since one name can have several kinds; a name that begins with its kind stays as it is
  (``structural.length``).
* A row with an error holds 0.5 for both sides, which nobody measured: there is no score, the
  number stays as ``label``. Where a call failed or was cut off, ``raw.jsonl`` tells which side.
* A pair on which nothing was measured has no row; ``state.json`` lists it: ``unscored``.
* Kinds that fix the source at 1 measure drift from the source, not quality: ``self_referenced``.
* Repeated samples, which EvalShift averages, are read one by one as trials.
* The suite that ``state.json`` names gives ``cluster`` (the conversation), ``turn_index`` and
  ``tags`` (joined by "; "); where an example has several tags, also one column ``tag:<name>``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from evaltoolkit.errors import ReadError
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source, json_lines
from evaltoolkit.readers.evalshift_coverage import check_coverage, coverage_counts, coverage_of
from evaltoolkit.readers.evalshift_outputs import called_outputs, traced_outputs
from evaltoolkit.readers.evalshift_run import ROLES, Run, criterion_of, open_run
from evaltoolkit.readers.evalshift_traces import TRACE_KEYS
from evaltoolkit.readers.records import as_json, finite_number

_SCORE_KEYS = frozenset({"evaluator_name", "example_id", "source_score", "target_score"})
_CALL_KEYS = frozenset({"role", "model_id", "prompt_id", "example_id", "text"})
_ANALYSIS_KEYS = frozenset({"comparisons", "n_records", "slices"})
_STATE_KEYS = frozenset({"run_id", "models", "config_hash"})

_FILES = {_SCORE_KEYS: "scores.jsonl", _CALL_KEYS: "raw.jsonl", TRACE_KEYS: "traces.jsonl"}

_DRIFT_KINDS = frozenset(
    {
        "semantic",
        "tool_selection.divergence",
        "tool_arguments",
        "tool_trace_structure",
        "agent_trace",
    }
)
_CALL_TROUBLE = ("upstream call failed", "output truncated")
_NOT_MEASURED = "EvalShift measured nothing on this pair"
_METRICS = ("delta_avg_score", "effect_size", "p_value", "p_value_corrected")
_ROWS_AT_A_TIME = 5_000


class _Record(NamedTuple):
    """One line of scores.jsonl, looked at once."""

    name: str
    row: Row
    kind: str
    criterion: str


class _Trial(NamedTuple):
    """One measurement of one side."""

    number: int
    score: float | None
    status: str
    message: str | None


def _detect(source: Source) -> bool:
    if source.is_folder:
        return _is_run_folder(source.path)
    if source.is_json_lines:
        keys = source.keys()
        return any(keys >= known for known in (_SCORE_KEYS, _CALL_KEYS, TRACE_KEYS))
    return _is_companion(source)


def _is_run_folder(folder: Path) -> bool:
    has_rows = any((folder / name).is_file() for name in _FILES.values())
    state = folder / "state.json"
    return has_rows and state.is_file() and Source(state).keys() >= _STATE_KEYS


def _is_companion(source: Source) -> bool:
    keys = source.keys()
    return keys >= _ANALYSIS_KEYS or keys >= _STATE_KEYS


def _read(source: Source, reading: Reading) -> Iterator[Batch]:
    run = open_run(source, reading)
    if reading.want & {"scores", "details"} and (path := _file(source, _SCORE_KEYS, run)):
        yield from _scores(path, run, reading)
    if "outputs" in reading.want and (path := _file(source, _CALL_KEYS, run)):
        yield from called_outputs(path, run, reading)
    if "outputs" in reading.want and _file(source, TRACE_KEYS, run):
        yield Batch(outputs=list(traced_outputs(run)))
    if "report" in reading.want:
        yield Batch(aggregates=[*_aggregates(run), *coverage_counts(run)])
    yield Batch(notes=run.notes)


def _file(source: Source, keys: frozenset[str], run: Run) -> Path | None:
    if source.is_folder:
        path = run.folder / _FILES[keys]
        return path if path.is_file() else None
    return source.path if source.is_json_lines and source.keys() >= keys else None


def _scores(path: Path, run: Run, reading: Reading) -> Iterator[Batch]:
    records = list(_records(path, reading))
    drift = _self_referenced(records)
    check_coverage(run, ((record.criterion, record.row) for record in records))
    rows = _unless_bad(path, records, run, reading, drift)
    while chunk := list(islice(rows, _ROWS_AT_A_TIME)):
        scores = [row for row, _ in chunk]
        details = [{**_key(row), "details": text} for row, text in chunk if text is not None]
        yield Batch(scores=scores, details=details if "details" in reading.want else [])
    yield Batch(scores=list(_unmeasured(run, drift)))


def _records(path: Path, reading: Reading) -> Iterator[_Record]:
    for name, row in json_lines(path, reading):
        absent = sorted(_SCORE_KEYS - row.keys())
        if absent:
            error = ReadError(
                f"{path}: {name} has no {', '.join(absent)}; a line of EvalShift's scores.jsonl "
                "has them, so write the run again or read the rest with on_error='skip'",
                code="bad_record",
                path=f"{path}: {name}",
            )
            reading.bad_record(path, name, error)
            continue
        yield _Record(name, row, *criterion_of(str(row["evaluator_name"]), row.get("kind")))


def _self_referenced(records: list[_Record]) -> dict[str, bool]:
    """Say which criteria fix the source at 1, by their kind and by the rows that were measured."""
    drift: dict[str, bool] = {}
    for record in records:
        if record.row.get("error") is None:
            fixed = record.kind in _DRIFT_KINDS and record.row["source_score"] == 1
            against = _metadata(record.row).get("against", "source") == "source"
            drift[record.criterion] = drift.get(record.criterion, True) and fixed and against
    return drift


def _metadata(row: Row) -> Row:
    metadata = row.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _unless_bad(
    path: Path, records: list[_Record], run: Run, reading: Reading, drift: dict[str, bool]
) -> Iterator[tuple[Row, str | None]]:
    for record in records:
        try:
            rows = list(_rows(record, run, drift.get(record.criterion)))
        except (TypeError, ValueError) as error:
            reading.bad_record(path, record.name, error)
            continue
        details = _details(record.row)
        for row in rows:
            row["source"] = f"{path}: {record.name}"
            yield row, details if row["trial"] == rows[0]["trial"] else None


def _rows(record: _Record, run: Run, drift: bool | None) -> Iterator[Row]:
    row = record.row
    common = {
        **_facts(run, row, record.criterion, drift),
        "blocking": row.get("blocking", True),
        "label": str(row.get("explanation") or "") if record.kind == "llm_judge" else None,
    }
    for role in ROLES:
        for trial in _trials(row, role, run):
            broken = trial.status != "scored" and row.get("error") is not None
            yield {
                **common,
                **run.side(role),
                "trial": trial.number,
                "score": trial.score,
                "status": trial.status,
                "message": trial.message,
                **({"label": str(row[f"{role}_score"])} if broken else {}),
            }


def _facts(run: Run, row: Row, criterion: str, drift: bool | None) -> Row:
    return {
        "run_id": row.get("run_id") or run.run_id,
        "task": row.get("prompt_id") or "",
        "example_id": row["example_id"],
        "criterion": criterion,
        "scorer": "evalshift",
        "higher_is_better": True,
        "lower_bound": 0.0,
        "upper_bound": 1.0,
        "self_referenced": drift,
        **run.example(str(row["example_id"])),
    }


def _trials(row: Row, role: str, run: Run) -> list[_Trial]:
    pair = (str(row.get("prompt_id") or ""), str(row["example_id"]))
    error = row.get("error")
    if error is not None:
        failed = [side for side in ROLES if run.failed_samples(pair, side)]
        return [_Trial(0, None, *_cause(str(error), role, failed))]
    scores = _sample_scores(row, role)
    lost = _lost(row, len(scores))
    message = str(row.get("explanation") or "") or None
    if not lost:
        return [_Trial(i, score, "scored", message) for i, score in enumerate(scores)]
    return _with_lost(scores, lost, message, {s: run.failed_samples(pair, s) for s in ROLES}, role)


def _cause(error: str, role: str, failed: list[str]) -> tuple[str, str]:
    """Say what an error means for one side, given the sides whose calls failed (if known)."""
    if not error.startswith(_CALL_TROUBLE):
        return "scorer_error", error
    if failed and role not in failed:
        return "unscored", f"not measured, since the other side failed: {error}"
    return "system_error", error


def _sample_scores(row: Row, role: str) -> list[float]:
    samples = _metadata(row).get("samples")
    values = samples.get(f"{role}_scores") if isinstance(samples, dict) else None
    if not values:
        values = [row[f"{role}_score"]]
    numbers = [finite_number(value) for value in values]
    if any(number is None for number in numbers):
        raise ValueError(f"{role}_score is {values!r}; it must be a finite number")
    return [number for number in numbers if number is not None]


def _lost(row: Row, scored: int) -> int:
    samples = _metadata(row).get("samples")
    total = samples.get("n", scored) if isinstance(samples, dict) else scored
    return max(0, int(total) - scored)


def _with_lost(
    scores: list[float], lost: int, message: str | None, failed: dict[str, set[int]], role: str
) -> list[_Trial]:
    """Number the scored samples, and keep the lost ones as trials without a score."""
    total = len(scores) + lost
    gone = set().union(*failed.values())
    if len(gone) == lost and max(gone) < total:
        kept = [number for number in range(total) if number not in gone]
    else:
        kept, gone = list(range(len(scores))), set(range(len(scores), total))
        failed = {}
    trials = [
        _Trial(number, score, "scored", message) for number, score in zip(kept, scores, strict=True)
    ]
    for number in sorted(gone):
        status = "system_error" if number in failed.get(role, ()) else "unscored"
        why = f"{lost} of {total} samples not scored"
        if not failed:
            status, why = "scorer_error", f"{why}; the files do not say which or why"
        trials.append(_Trial(number, None, status, why))
    return trials


def _details(row: Row) -> str | None:
    details = dict(_metadata(row))
    if row.get("explanation"):
        details["explanation"] = row["explanation"]
    return as_json(details) if details else None


def _key(row: Row) -> Row:
    names = ("run_id", "system", "versus", "task", "example_id", "trial", "criterion", "scorer")
    return {name: row[name] for name in (*names, "source")}


def _unmeasured(run: Run, drift: dict[str, bool]) -> Iterator[Row]:
    for criterion, coverage in coverage_of(run):
        for pair in coverage.get("unmeasured") or []:
            for role in ROLES:
                yield {
                    **_facts(run, pair, criterion, drift.get(criterion)),
                    **run.side(role),
                    "trial": 0,
                    "score": None,
                    "status": "unscored",
                    "message": _NOT_MEASURED,
                    "blocking": coverage.get("blocking", True),
                    "source": f"{run.folder / 'state.json'}: evaluator_coverage",
                }


def _aggregates(run: Run) -> Iterator[Row]:
    path = run.folder / "analysis.json"
    if not path.is_file():
        return
    analysis: Any = Source(path).document
    for each in analysis.get("comparisons") or []:
        criterion = criterion_of(str(each["evaluator_name"]), each.get("kind"))[1]
        for metric in _METRICS:
            yield {
                "run_id": analysis.get("run_id") or run.run_id,
                "system": run.systems["target"],
                "task": each.get("prompt_id") or "",
                "criterion": criterion,
                "metric": metric,
                "value": each.get(metric),
                "n": each.get("n"),
                "slice": each.get("slice_name"),
                "test": each.get("test"),
                "versus": run.systems["source"],
            }


FORMAT = Format(
    name="evalshift",
    title="EvalShift run directory or its scores.jsonl",
    detect=_detect,
    read=_read,
    tables=frozenset({"scores", "outputs", "details", "report"}),
    signs="a folder with state.json and scores.jsonl; lines with source_score and target_score",
    quirks=(
        "A row holds both sides of a pair and becomes two rows, each versus the other. The 0.5 of "
        "a row with an error is a label; raw.jsonl tells which side failed. Pairs that only "
        "state.json knows are unscored. Samples are trials; kinds that fix the source at 1 are "
        "self_referenced; imported traces fill the outputs."
    ),
    folders=True,
    companions=lambda source: not source.is_folder and _is_companion(source),
)
