"""The ``results_*.json`` of lighteval: the model, which way metrics point, what it reports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaltoolkit.readers.base import Row, Source
from evaltoolkit.readers.records import finite_number

_STDERR = "_stderr"
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d[-:]\d\d[-:]\d\d(?:\.\d+)?")
_FUNCTION = re.compile(r"\w{1,30}")


@dataclass(frozen=True)
class Results:
    """One results file.

    Attributes:
        path: The file.
        document: Its content.
    """

    path: Path
    document: Mapping[str, Any]

    @property
    def system(self) -> str | None:
        """The model."""
        general = mapping_of(self.document.get("config_general"))
        named = general.get("model_name") or mapping_of(general.get("model_config")).get(
            "model_name"
        )
        return str(named) if named else None

    def higher_is_better(self, task: str, metric: str) -> bool | None:
        """Say which way a metric points, as far as the file tells."""
        told = self._metric(task, metric).get("higher_is_better")
        told = told.get(metric) if isinstance(told, Mapping) else told
        return told if isinstance(told, bool) else None

    def aggregates(self) -> Iterator[Row]:
        """Give the reported numbers as rows of the report, means over tasks among them."""
        stamp = _STAMP.search(self.path.name)
        for task, reported in mapping_of(self.document.get("results")).items():
            for metric, value in mapping_of(reported).items():
                if metric.endswith(_STDERR):
                    continue
                yield {
                    "run_id": stamp[0] if stamp else "",
                    "system": self.system or "",
                    "task": task,
                    "criterion": metric,
                    "metric": self._aggregation(task, metric),
                    "value": finite_number(value),
                    "stderr": finite_number(reported.get(f"{metric}{_STDERR}")),
                    "n": self._size(task),
                }

    def _aggregation(self, task: str, metric: str) -> str:
        """Name how a number came about, where the file says so."""
        if task == "all" or "_average" in task:
            return "mean over tasks"
        declared = self._metric(task, metric).get("corpus_level_fn")
        declared = declared.get(metric) if isinstance(declared, Mapping) else declared
        if declared is None:
            return "reported"
        return declared if isinstance(declared, str) and _FUNCTION.fullmatch(declared) else "custom"

    def _metric(self, task: str, metric: str) -> Mapping[str, Any]:
        """Find how a metric was configured; several can be computed together."""
        metrics = self._config(task).get("metrics")
        for each in metrics if isinstance(metrics, list) else []:
            named = mapping_of(each).get("metric_name")
            if named == metric or (isinstance(named, list) and metric in named):
                return mapping_of(each)
        return {}

    def _size(self, task: str) -> int | None:
        """Give the number of documents; -1 says that all were taken, not how many."""
        config = self._config(task)
        sizes = (config.get("effective_num_docs"), config.get("original_num_docs"))
        return next((n for n in sizes if isinstance(n, int) and n >= 0), None)

    def _config(self, task: str) -> Mapping[str, Any]:
        tasks = mapping_of(self.document.get("config_tasks"))
        # Older files name the task without the number of examples in the prompt.
        return mapping_of(tasks.get(task) or tasks.get(task.rpartition("|")[0]))


def is_results(source: Source) -> bool:
    """Say whether a file is a results file of lighteval."""
    if source.is_folder or not source.looks_like_json or b'"config_general"' not in source.head:
        return False
    document = source.document
    if not isinstance(document, Mapping) or not {"config_general", "results"} <= set(document):
        return False
    results = document["results"]
    return isinstance(results, Mapping) and all(isinstance(v, Mapping) for v in results.values())


def mapping_of(value: object) -> Mapping[str, Any]:
    """Give the value where it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}
