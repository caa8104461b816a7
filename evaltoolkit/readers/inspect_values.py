"""What the values, scorers and metrics in an Inspect log mean.

Inspect itself turns a verdict that it does not know into 0 and only warns. Here it stays a
label without a score, so that it can be counted instead of being taken for a wrong answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from evaltoolkit.readers.base import Row
from evaltoolkit.readers.records import (
    SHORT_TEXT,
    as_json,
    finite_number,
    non_finite_name,
    shortened,
)

# Correct, partly correct, incorrect, no answer: the numbers that Inspect's own metrics use. The
# letter is kept as label, since "no answer" counts differently in a precision.
VERDICTS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_JUDGE_OPTIONS = ("model", "scorer_model", "judge_model", "grader_model", "judge", "grader")
_DEFAULT_ROLE = "grader"


class Measured(NamedTuple):
    """One value as a score: the number or None, the tool's own words, the reason for no number."""

    score: float | None
    label: str | None = None
    message: str | None = None
    unknown: bool = False


class Judged(NamedTuple):
    """One measurement of one sample; ``name`` is the key of its score in the log."""

    criterion: str
    scorer: str
    measured: Measured
    name: str

    @property
    def is_part(self) -> bool:
        """Whether it is one key of a value that is an object."""
        return self.criterion != self.name


def measure(value: object) -> Measured:
    """Turn one score value into a number, or say why there is none.

    Example:
        >>> measure("P").score, measure("0.25").score, measure(True).score
        (0.5, 0.25, 1.0)
        >>> measure("mostly fine")[:2]
        (None, 'mostly fine')
    """
    if isinstance(value, str):
        return _measure_text(value)
    if value is None or value == {}:
        return Measured(None, message="the scorer gave no value")
    if isinstance(value, bool):
        return Measured(float(value))
    if isinstance(value, int | float):
        number = finite_number(value)
        if number is not None:
            return Measured(number)
        name = non_finite_name(value)
        return Measured(None, name, f"the scorer gave {name}")
    kind = "list" if isinstance(value, list) else "nested object"
    label = shortened(as_json(value), limit=SHORT_TEXT)
    return Measured(None, label, f"the scorer gave a {kind}, which is no single score")


def _measure_text(text: str) -> Measured:
    number = VERDICTS.get(text, _WORDS.get(text.lower(), _number(text)))
    if number is not None:
        return Measured(number, text)
    label = shortened(text, limit=SHORT_TEXT)
    return Measured(None, label, "the scorer gave a word that stands for no number", unknown=True)


def _number(text: str) -> float | None:
    try:
        # Python reads "1_0" as 10, no tool writes that.
        return None if "_" in text else finite_number(float(text))
    except ValueError:
        return None


class Scorers:
    """The scorers of one log: who judges, what they measure, how their errors are clustered.

    Args:
        header: The log without its samples.
    """

    def __init__(self, header: Row) -> None:
        evaluation = _mapping(header.get("eval"))
        self._titles: dict[str, str] = {}
        self._roles = _mapping(evaluation.get("model_roles"))
        self.reported = _reported(_mapping(header.get("results")))
        specs = evaluation.get("scorers")
        self._specs = {
            _short(spec["name"]): spec
            for spec in (specs if isinstance(specs, list) else [])
            if isinstance(spec, Mapping) and isinstance(spec.get("name"), str)
        }

    @property
    def declared(self) -> list[str]:
        """The criteria that the log promises, for samples that have no scores of their own."""
        if self._specs:
            return [
                name
                for scorer, spec in self._specs.items()
                for name in _keyed(scorer, _metric_keys(spec.get("metrics")))
            ]
        return list(dict.fromkeys(self.criterion_of(entry, set()) for entry in self.reported))

    @property
    def cluster(self) -> str | None:
        """The metadata field by which the task's own standard errors are clustered, if any."""
        named = {
            options["cluster"]
            for spec in self._specs.values()
            for metric in _flat_metrics(spec.get("metrics"))
            if isinstance((options := _mapping(metric.get("options"))).get("cluster"), str)
        }
        return str(named.pop()) if len(named) == 1 else None

    @property
    def roles(self) -> dict[str, str]:
        """Which model played which further role, e.g. that of a grader or an attacker."""
        named = ((str(role), _model_name(model)) for role, model in self._roles.items())
        return {role: model for role, model in named if model}

    @property
    def first(self) -> str:
        """The name of the only scorer, for logs of the time when there was just one."""
        names = [*self._specs, *(str(entry["scorer"]) for entry in self.reported)]
        return names[0] if names else "score"

    def judged(self, scores: Mapping[str, Any]) -> Iterator[Judged]:
        """Go through the scores of one sample; the keys of a dict value become criteria."""
        for name, score in scores.items():
            value = score.get("value") if isinstance(score, Mapping) else score
            scorer = self.title(name)
            if isinstance(value, Mapping) and value:
                for key, part in value.items():
                    yield Judged(f"{name}.{key}", scorer, measure(part), name)
            else:
                yield Judged(name, scorer, measure(value), name)

    def title(self, criterion: str) -> str:
        """Name the scorer of a criterion, with its judge model where the log tells it."""
        if criterion not in self._titles:
            self._titles[criterion] = self._title(criterion)
        return self._titles[criterion]

    def _title(self, criterion: str) -> str:
        name = criterion if criterion in self._specs else criterion.partition(".")[0]
        # A second scorer of the same name is called "name1" by Inspect.
        spec = self._specs.get(name, self._specs.get(name.rstrip("0123456789")))
        judge = self._judge(name, _mapping((spec or {}).get("options")))
        return f"{name} ({judge})" if judge else name

    def _judge(self, name: str, options: Mapping[str, Any]) -> str | None:
        for option in _JUDGE_OPTIONS:
            if found := _model_name(options.get(option)):
                return found
        role = options.get("model_role")
        if role is None and name.startswith("model_graded"):
            role = _DEFAULT_ROLE
        return _model_name(self._roles.get(role)) if isinstance(role, str) else None

    def criterion_of(self, entry: Row, seen: set[str]) -> str:
        """Name the criterion that an entry of the reported results is about."""
        name, scorer = str(entry["name"]), str(entry["scorer"])
        return name if name == scorer or name in seen else f"{scorer}.{name}"


def _reported(results: Mapping[str, Any]) -> list[Row]:
    """Give the reported results, one entry per scorer or key, also those of early 2024."""
    entries = results.get("scores")
    if not isinstance(entries, list):
        scorer = _mapping(results.get("scorer")).get("name")
        entries = [{"name": scorer, "metrics": results.get("metrics")}] if scorer else []
    return [
        {"scorer": entry.get("scorer") or entry["name"], **entry}
        for entry in entries
        if isinstance(entry, Mapping) and isinstance(entry.get("name"), str)
    ]


def _metric_keys(metrics: object) -> list[str]:
    """Keys of the dict values that the metrics are declared for; none for patterns."""
    groups = metrics if isinstance(metrics, list) else [metrics]
    keys = [
        str(key)
        for group in groups
        if isinstance(group, Mapping) and not isinstance(group.get("name"), str)
        for key in group
    ]
    return [] if any("*" in key for key in keys) else keys


def _flat_metrics(metrics: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(metrics, list):
        for metric in metrics:
            yield from _flat_metrics(metric)
    elif isinstance(metrics, Mapping):
        if isinstance(metrics.get("name"), str):
            yield metrics
        else:
            for inner in metrics.values():
                yield from _flat_metrics(inner)


def _keyed(scorer: str, keys: list[str]) -> list[str]:
    return [f"{scorer}.{key}" for key in keys] or [scorer]


def _model_name(value: object) -> str | None:
    """Name a model; a role can be played by several."""
    if isinstance(value, list):
        return ", ".join(name for name in map(_model_name, value) if name) or None
    name = value.get("model") if isinstance(value, Mapping) else value
    return name if isinstance(name, str) and name else None


def _short(name: str) -> str:
    return name.rpartition("/")[2]


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
