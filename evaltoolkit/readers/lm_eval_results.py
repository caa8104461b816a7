"""The ``results_*.json`` of lm-evaluation-harness: what it reports, and which samples it is for.

A samples file says neither which model wrote it nor which way a metric points. Both are in the
results file of the same run, which lies next to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaltoolkit.errors import ReadError
from evaltoolkit.readers.base import Row, Source
from evaltoolkit.readers.lm_eval_layouts import points_up
from evaltoolkit.readers.records import moment

_TIMESTAMP = re.compile(r"_?(\d{4}-\d\d-\d\dT\d\d[-:]\d\d[-:]\d\d(?:\.\d+)?)")
_STDERR = "_stderr"
# Entries of a task that describe it and are no metric.
_NO_METRIC = frozenset({"alias", "name", "sample_len", "sample_count", "samples"})
_AGGREGATION_WORD = re.compile(r"\w{1,30}")


@dataclass(frozen=True)
class Results:
    """One results file.

    Attributes:
        path: The file.
        document: Its content.
    """

    path: Path
    document: Row

    @property
    def system(self) -> str | None:
        """The model, as lm-eval names it; older files only have its arguments."""
        config = _mapping(self.document.get("config"))
        named = self.document.get("model_name") or _model_argument(config.get("model_args"))
        return str(named or config.get("model") or "") or None

    @property
    def run_id(self) -> str:
        """The time stamp in the file name, else the date inside."""
        stamped = time_stamp(self.path)
        return stamped or self.date or ""

    @property
    def date(self) -> str | None:
        """When the run began, as ISO 8601 text."""
        return moment(self.document.get("date"))

    @property
    def tasks(self) -> list[str]:
        """The tasks and groups that it reports on."""
        return list(_mapping(self.document.get("results")))

    @property
    def single_tasks(self) -> list[str]:
        """The tasks alone, without groups of tasks."""
        groups = _mapping(self.document.get("groups"))
        return [task for task in self.tasks if task not in groups]

    def entries(self, task: str) -> Row:
        """Give the reported numbers of one task by ``metric,filter``, without standard errors."""
        reported = _mapping(_mapping(self.document.get("results")).get(task))
        return {
            key: value
            for key, value in reported.items()
            if key not in _NO_METRIC and not key.partition(",")[0].endswith(_STDERR)
        }

    def filters(self, task: str) -> list[str]:
        """Name the filters of a task in the order in which lm-eval applied them."""
        declared = self.config(task).get("filter_list")
        if isinstance(declared, list):
            names = [each.get("name") for each in declared if isinstance(each, Mapping)]
            if names and all(isinstance(name, str) for name in names):
                return [str(name) for name in names]
        reported = (key.partition(",")[2] for key in self.entries(task))
        return list(dict.fromkeys(name for name in reported if name))

    def metrics(self, task: str) -> list[str]:
        """Name the metrics of a task."""
        return list(dict.fromkeys(key.partition(",")[0] for key in self.entries(task)))

    def higher_is_better(self, task: str, metric: str) -> bool | None:
        """Say which way a metric points, as far as the file or the harness tells."""
        direction = _mapping(_mapping(self.document.get("higher_is_better")).get(task)).get(metric)
        if not isinstance(direction, bool):
            direction = self._metric(task, metric).get("higher_is_better")
        return direction if isinstance(direction, bool) else points_up(metric)

    def aggregates(self) -> Iterator[Row]:
        """Give the reported numbers as rows of the report."""
        for task in self.tasks:
            entries = self.entries(task)
            several = len({key.partition(",")[2] for key in entries}) > 1
            for key, value in entries.items():
                metric, _, name = key.partition(",")
                yield {
                    "run_id": self.run_id,
                    "system": self.system or "",
                    "task": task,
                    "criterion": criterion(metric, name, several=several),
                    "metric": self._aggregation(task, metric),
                    "value": _number(value),
                    "stderr": _number(self._stderr(task, metric, name)),
                    "n": self._size(task),
                }

    def _stderr(self, task: str, metric: str, name: str) -> object:
        key = f"{metric}{_STDERR},{name}" if name else f"{metric}{_STDERR}"
        return _mapping(_mapping(self.document.get("results")).get(task)).get(key)

    def _size(self, task: str) -> object:
        counts = _mapping(_mapping(self.document.get("n-samples")).get(task))
        reported = _mapping(_mapping(self.document.get("results")).get(task))
        return counts.get("effective", reported.get("sample_len"))

    def _aggregation(self, task: str, metric: str) -> str:
        """Name how a metric is aggregated; a function of its own stands there as source code."""
        name = self._metric(task, metric).get("aggregation", "mean")
        return name if isinstance(name, str) and _AGGREGATION_WORD.fullmatch(name) else "custom"

    def _metric(self, task: str, metric: str) -> Mapping[str, Any]:
        declared = self.config(task).get("metric_list")
        for each in declared if isinstance(declared, list) else []:
            if isinstance(each, Mapping) and each.get("metric") == metric:
                return each
        return {}

    def config(self, task: str) -> Mapping[str, Any]:
        """Give the configuration of a task, empty where the file has none."""
        return _mapping(_mapping(self.document.get("configs")).get(task))


def is_results(source: Source) -> bool:
    """Say whether a file is a results file of lm-eval, of 2023 or later."""
    if source.is_folder or not source.looks_like_json or b'"results"' not in source.head:
        return False
    return _has_results(source.document)


def _has_results(document: object) -> bool:
    if not isinstance(document, Mapping):
        return False
    results = document.get("results")
    by_task = isinstance(results, Mapping) and all(isinstance(v, Mapping) for v in results.values())
    return by_task and {"config", "versions"} <= set(document)


def find_results(samples: Path, task: str) -> Results | None:
    """Find the results file of a samples file: of the same time, else the only one that fits.

    Args:
        samples: The samples file.
        task: Its task, by its file name.
    """
    stamp = time_stamp(samples)
    if stamp is not None:
        same_time = samples.with_name(f"results_{stamp}.json")
        return _load(same_time) if same_time.is_file() else None
    loaded = (_load(path) for path in sorted(samples.parent.glob("*results*.json")))
    beside = [results for results in loaded if results is not None]
    fitting = [results for results in beside if task in results.tasks]
    if not fitting:
        fitting = [results for results in beside if len(results.single_tasks) == 1]
        fitting = fitting if len(beside) == 1 else []
    return fitting[0] if len(fitting) == 1 else None


def _load(path: Path) -> Results | None:
    source = Source(path)
    try:
        fits = is_results(source)
    except ReadError:
        # A broken neighbour has its own message when it is read itself.
        return None
    return Results(path, source.document) if fits else None


def time_stamp(path: Path) -> str | None:
    """Give the time stamp at the end of a file name, if there is one."""
    found = _TIMESTAMP.search(path.name)
    return found[1] if found else None


def without_time_stamp(name: str) -> str:
    """Give a file name up to its time stamp.

    Example:
        >>> without_time_stamp("samples_gsm8k_2025-01-02T03-04-05.678.jsonl")
        'samples_gsm8k.jsonl'
    """
    return _TIMESTAMP.sub("", name)


def criterion(metric: str, name: str, *, several: bool) -> str:
    """Name a criterion as lm-eval does: the filter is added where there are several.

    Example:
        >>> criterion("exact_match", "strict-match", several=True), criterion("acc", "none",
        ...                                                                   several=False)
        ('exact_match,strict-match', 'acc')
    """
    return f"{metric},{name}" if several and name else metric


def _model_argument(arguments: object) -> str | None:
    if isinstance(arguments, Mapping):
        found = arguments.get("pretrained") or arguments.get("model")
        return str(found) if found else None
    pairs = (part.partition("=") for part in str(arguments or "").split(","))
    parts = {name.strip(): value for name, _, value in pairs}
    return parts.get("pretrained") or parts.get("model")


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
