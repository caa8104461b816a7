"""What an EvalShift run knows about rows that it did not write: ``evaluator_coverage``.

For each evaluator ``state.json`` counts the pairs that were tried (attempted), that have a row
(recorded) and names those on which nothing was measured (unmeasured).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from evaltoolkit.errors import warn
from evaltoolkit.readers.base import Row
from evaltoolkit.readers.evalshift_run import Run, criterion_of

_COUNTS = ("attempted", "recorded")


def coverage_of(run: Run) -> Iterator[tuple[str, Row]]:
    """Go through the entries of the coverage, each with its criterion."""
    for entry in run.state.get("evaluator_coverage") or []:
        yield criterion_of(str(entry["evaluator_name"]), entry.get("kind"))[1], entry


def coverage_counts(run: Run) -> Iterator[Row]:
    """Give the counts as rows of the report."""
    for criterion, entry in coverage_of(run):
        counts = {name: entry.get(name) for name in _COUNTS}
        counts["unmeasured"] = len(entry.get("unmeasured") or [])
        for name, count in counts.items():
            yield {
                "run_id": run.run_id,
                "system": run.systems["target"],
                "task": "",
                "criterion": criterion,
                "metric": f"pairs {name}",
                "value": count,
                "versus": run.systems["source"],
            }


def check_coverage(run: Run, rows: Iterable[tuple[str, Row]]) -> None:
    """Compare the coverage with the rows that are there: warn of lost ones, note unknown ones.

    Args:
        run: The run.
        rows: The criterion and the line of each row of ``scores.jsonl``.
    """
    found: Counter[str] = Counter()
    broken: Counter[str] = Counter()
    folded: Counter[str] = Counter()
    samples = run.state.get("samples_per_example")
    for criterion, row in rows:
        found[criterion] += 1
        broken[criterion] += row.get("error") is not None
        folded[criterion] += isinstance(samples, int) and _sample_count(row) > samples
    entries = Counter(criterion for criterion, _ in coverage_of(run))
    for criterion, entry in coverage_of(run):
        if entries[criterion] == 1 and samples in (1, None):
            _check_entry(run, criterion, entry, found[criterion], broken[criterion])
    for criterion, count in folded.items():
        if count:
            warn(
                f"{run.folder}: {count} row(s) of {criterion!r} average more measurements than the "
                f"run has samples ({samples}): EvalShift folds several evaluators of one type "
                "into one, so what is read as its trials are different checks; give them names "
                "of their own in a run each"
            )


def _sample_count(row: Row) -> int:
    metadata = row.get("metadata")
    samples: Any = metadata.get("samples") if isinstance(metadata, dict) else None
    return int(samples.get("n") or 0) if isinstance(samples, dict) else 0


def _check_entry(run: Run, criterion: str, entry: Row, found: int, broken: int) -> None:
    attempted, recorded = (int(entry.get(name) or 0) for name in _COUNTS)
    # An older version may not count rows with an error as recorded.
    if not found - broken <= recorded <= found:
        warn(
            f"{run.folder}: state.json counts {recorded} row(s) of {criterion!r}, scores.jsonl "
            f"has {found}; it may be cut off or be of another evaluation, so evaluate the run again"
        )
    lost = attempted - max(found, recorded) - len(entry.get("unmeasured") or [])
    if lost > 0:
        run.notes.append(
            f"state.json counts {lost} pair(s) on which {criterion!r} was tried and that have "
            "neither a row nor an entry as unmeasured: they are not in the table"
        )
