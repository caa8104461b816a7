"""What an Inspect log reports itself: metrics over all samples, and scores reduced over epochs.

Both are for `read_report`. A shortened log keeps the metrics of the full run, and a score reduced
over epochs is no single measurement; so neither becomes a row of the score table. One exception: a
log that holds no samples any more, of a run with a single epoch, where nothing was reduced.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from evaltoolkit.readers.base import Row
from evaltoolkit.readers.inspect_logs import Log, Record

# What leaves the score of a single epoch as it is.
_PLAIN_REDUCERS = (None, "mean", "median", "mode", "max")


def aggregates(log: Log) -> Iterator[Row]:
    """Give the metrics that the log reports, then the scores that it has reduced over epochs."""
    yield from _metrics(log)
    for entry in _reductions(log):
        for sample in entry.get("samples") or []:
            for judged in log.scorers.judged({entry["scorer"]: sample}):
                yield {
                    **log.run,
                    "criterion": judged.criterion,
                    "metric": f"reduced/{entry.get('reducer') or 'mean'}",
                    "value": judged.measured.score,
                    "stderr": None,
                    "n": _epochs(log),
                    "example_id": str(sample.get("sample_id")),
                }


def _metrics(log: Log) -> Iterator[Row]:
    entries = [(log.scorers.criterion_of(entry, log.seen), entry) for entry in log.scorers.reported]
    repeated = Counter(criterion for criterion, _ in entries)
    for criterion, entry in entries:
        metrics = entry.get("metrics") or {}
        values = {
            name: metric.get("value") if isinstance(metric, Mapping) else metric
            for name, metric in metrics.items()
        }
        error = values.pop("stderr", None)
        reducer = f"{entry.get('reducer')}/" if repeated[criterion] > 1 else ""
        for name, value in values.items():
            yield {
                **log.run,
                "criterion": criterion,
                "metric": f"{reducer}{name}",
                "value": value,
                # Inspect's stderr is that of the mean; other metrics have none.
                "stderr": error if name in ("accuracy", "mean") else None,
                "n": entry.get("scored_samples"),
            }


def _reductions(log: Log) -> list[Mapping[str, Any]]:
    entries = log.header.get("reductions")
    return [
        entry
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, Mapping) and isinstance(entry.get("scorer"), str)
    ]


def _epochs(log: Log) -> int:
    return int((log.evaluation.get("config") or {}).get("epochs") or 1)


def single_scores(log: Log) -> list[Record]:
    """Take the scores of a log without samples from its reductions, where there was one epoch."""
    entries = _reductions(log)
    epochs = _epochs(log)
    if not entries or epochs > 1:
        left = "only totals are left"
        if entries:
            left = (
                f"its reductions are over {epochs} epochs and no single scores (et.read_report "
                "shows them); run Inspect with log_samples on"
            )
        log.notes.append(f"the log holds no samples: {left}")
        return []
    plain = {e["scorer"]: e for e in reversed(entries) if e.get("reducer") in _PLAIN_REDUCERS}
    found = [
        Record(
            f"reductions: {scorer}",
            {"id": sample.get("sample_id"), "scores": {scorer: sample}},
            is_summary=True,
        )
        for scorer, entry in reversed(plain.items())
        for sample in entry.get("samples") or []
    ]
    log.reduced = True
    log.notes.append(
        f"the log holds no samples: {len(found)} scores were taken from its reductions, since a "
        "run with one epoch has nothing to reduce"
    )
    return found
