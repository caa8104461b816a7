"""Read a benchmark in YAML: `read_benchmark`, and what it gives."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from evaltoolkit.errors import ScorerError
from evaltoolkit.evaluation.benchmarks.checks import Checkers
from evaltoolkit.evaluation.benchmarks.fields import Fields
from evaltoolkit.evaluation.benchmarks.includes import open_benchmark
from evaltoolkit.evaluation.benchmarks.places import Place, Problems
from evaltoolkit.evaluation.benchmarks.scenario_scorers import Key, ScenarioScorer
from evaltoolkit.evaluation.benchmarks.scenarios import (
    NAME_FIELD,
    Scenario,
    ScenarioReader,
    check_agreement,
    check_name,
)
from evaltoolkit.evaluation.scoring import check_scorers
from evaltoolkit.models import Example
from evaltoolkit.scorers.base import Scorer

_TOP = ("benchmark", "description", "platform", "execution", "capabilities")
_EXECUTION = ("runs_per_scenario", "n_parallel_runs")
_PLATFORMS: Mapping[str, tuple[str, ...]] = {
    "local": ("experiment", "output_dir"),
    "braintrust": ("project", "experiment", "metadata"),
    "mlflow": ("experiment",),
    "langfuse": ("experiment", "description", "metadata"),
}


@dataclass(frozen=True)
class Benchmark:
    """A benchmark as examples and scorers.

    Attributes:
        name: Its name.
        description: What it says of itself.
        examples: An example for each scenario. The task is the capability; where a capability
            is itself the scenario, the task is the benchmark. The input is the mapping
            ``{"prompt": ..., "preconditions": ...}``, as published; the attributes are the
            dimensions, and ``scenario_name``.
        scorers: What judges them; each applies to the scenarios that name it.
        preconditions: By (task, id), what is to be done before the prompt; only scenarios that
            have any. ``state`` is a nested state to lay over the world with
            `evaltoolkit.evaluation.benchmarks.merge_states`.
        dimensions: The dimensions, each with the values that occur.
        trials: How often each scenario is to be run (``runs_per_scenario``).
        concurrency: How many runs may be under way at a time (``n_parallel_runs``).
        platform: Where the published runner would send results; nothing here does.
        table: One row for each scenario: ``task``, ``example_id``, ``scenario_name``,
            ``prompt``, the dimensions, ``scorers``, ``has_precondition`` and ``source`` (file and
            line).
    """

    name: str
    description: str | None
    examples: tuple[Example, ...]
    scorers: tuple[Scorer, ...]
    preconditions: Mapping[Key, dict[str, Any]]
    dimensions: Mapping[str, tuple[Any, ...]]
    trials: int
    concurrency: int
    platform: Mapping[str, Any] | None
    table: pd.DataFrame

    def __repr__(self) -> str:
        """Show the name and the sizes."""
        names = ", ".join(scorer.name for scorer in self.scorers)
        return f"Benchmark({self.name!r}, {len(self.examples)} scenario(s), judged by {names})"

    def _repr_html_(self) -> str:
        return self.table.to_html(escape=True)


def read_benchmark(
    source: str | Path,
    *,
    checkers: Mapping[str, object] | None = None,
    appliers: Collection[str] = (),
) -> Benchmark:
    r"""Read a benchmark of agents in YAML.

    Both dialects of agent-evals are known, also mixed in one file: capabilities with scenarios,
    each with its ``success`` (``state``, ``tool_use``); and capabilities with ``scorers`` and
    ``reference_outputs``, ``expected_state`` or ``expected``. Entries of ``capabilities`` may be
    ``file://`` addresses of files at or below the folder of the file that names them.

    Nothing is guessed and nothing in the file is run. Unknown and repeated keys, tags, words that
    YAML 1.1 and 1.2 read differently (``on``, ``yes``, ``010``, dates), scorers without a
    reference and checks that could never fail are refused, all at once, with file and line.

    Args:
        source: Path of the file.
        checkers: What the file may name besides the scorers of this library, by name: scorers, or
            functions as in `FunctionScorer`. A function with an argument ``payload`` gets what
            the file says under its name. Judges come in this way only.
        appliers: Names of preconditions other than ``state`` that your systems know.

    Returns:
        A `Benchmark`; its ``examples``, ``scorers``, ``trials`` and ``concurrency`` are what
        `evaluate` takes.

    Raises:
        ReadError: There is no such file, or there are problems, which it lists.
        ScorerError: A checker has a name that is built in, or an option is of another type.
        MissingDependencyError: A scorer that the file names needs a package.

    Example:
        >>> import tempfile
        >>> from evaltoolkit.evaluation import score_outputs
        >>> from evaltoolkit.models import Output
        >>> text = '''
        ... benchmark: home
        ... capabilities:
        ...   - name: lights
        ...     scenarios:
        ...       - id: 1
        ...         name: kitchen on
        ...         prompt: Turn on the kitchen light
        ...         dimensions: {phrasing: imperative}
        ...         success: {state: {lights.kitchen.state: "on"}}
        ... '''
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "home.yaml")
        ...     _ = path.write_text(text)
        ...     benchmark = read_benchmark(path)
        >>> benchmark
        Benchmark('home', 1 scenario(s), judged by StateMatch)
        >>> world = {"lights": {"kitchen": {"state": "on"}}}
        >>> answers = [("agent", 1, 0, Output(final_state=world), "lights")]
        >>> table = score_outputs(benchmark.examples, answers, benchmark.scorers)
        >>> table[["task", "criterion", "score", "phrasing"]].to_dict("records")
        [{'task': 'lights', 'criterion': 'StateMatch', 'score': 1.0, 'phrasing': 'imperative'}]
    """
    problems = Problems(str(source))
    _check_options(checkers, appliers)
    made = Checkers(checkers or {}, problems)
    files, path = open_benchmark(source, problems)
    fields = Fields(files.top(path), "the benchmark", _TOP, problems)
    name = fields.text("benchmark") or path.stem
    if "benchmark" in fields:
        check_name(name, "the name of the benchmark", fields, problems)
    trials, concurrency = _execution(fields, problems)
    platform = _platform(fields, problems)
    description = fields.text("description")
    node = fields.node("capabilities", (list,), needed=True)
    reader = ScenarioReader(name, made, appliers, problems)
    scenarios = list(reader.read(files.entries(node, (path,)))) if node else []
    if node and not node.value:
        problems.add(node.place, "empty", "the benchmark has no capability")
    check_agreement(scenarios, problems)
    problems.check()
    scorers = _scorers(scenarios)
    _check_together(scorers, Place(path.name, 1), problems)
    problems.check()
    return Benchmark(
        name=name,
        description=description,
        examples=tuple(scenario.example for scenario in scenarios),
        scorers=scorers,
        preconditions={each.key: each.precondition for each in scenarios if each.precondition},
        dimensions=_dimensions(scenarios),
        trials=trials,
        concurrency=concurrency,
        platform=platform,
        table=_table(scenarios),
    )


def _check_options(checkers: object, appliers: object) -> None:
    if checkers is not None and not isinstance(checkers, Mapping):
        msg = f"checkers must map names to scorers or functions, not be a {type(checkers).__name__}"
        raise ScorerError(msg, code="bad_option", path="checkers", value=checkers)
    if isinstance(appliers, str) or not isinstance(appliers, Collection):
        msg = f"appliers must be a list of names, not {appliers!r}; put it into a list"
        raise ScorerError(msg, code="bad_option", path="appliers", value=appliers)


def _execution(fields: Fields, problems: Problems) -> tuple[int, int]:
    node = fields.node("execution", (dict,))
    if node is None:
        return 1, 1
    inner = Fields(node, "execution", _EXECUTION, problems)
    return inner.count("runs_per_scenario"), inner.count("n_parallel_runs")


def _platform(fields: Fields, problems: Problems) -> dict[str, Any] | None:
    node = fields.node("platform", (str, dict))
    if node is None:
        return None
    if isinstance(node.value, str):
        known, found = _PLATFORMS.get(node.value), {"name": node.value}
    else:
        found = node.plain()
        known = _PLATFORMS.get(str(found.get("name")))
    if known is None:
        names = ", ".join(_PLATFORMS)
        problems.add(node.place, "bad_choice", f"platform must name one of {names}")
    elif isinstance(node.value, dict):
        Fields(node, f"platform {found['name']!r}", ("name", *known), problems)
    return found


def _scorers(scenarios: Iterable[Scenario]) -> tuple[Scorer, ...]:
    """Gather the settings of each scorer over all scenarios."""
    found: dict[tuple[str, str], dict[Key, Scorer]] = {}
    for scenario in scenarios:
        for check in scenario.checks:
            named = (check.scorer.name, check.scorer.criterion.name)
            found.setdefault(named, {})[scenario.key] = check.scorer
    return tuple(ScenarioScorer(by_example) for by_example in found.values())


def _check_together(scorers: Sequence[Scorer], place: Place, problems: Problems) -> None:
    try:
        check_scorers(scorers)
    except ScorerError as error:
        problems.add(place, error.code, " ".join(str(error).split()))


def _dimensions(scenarios: Iterable[Scenario]) -> dict[str, tuple[Any, ...]]:
    found: dict[str, dict[str, Any]] = {}
    for scenario in scenarios:
        for name, value in scenario.dimensions.items():
            # By their text: 1, 1.0 and True are equal, but not the same value of a dimension.
            found.setdefault(name, {})[repr(value)] = value
    return {name: tuple(values.values()) for name, values in found.items()}


def _table(scenarios: Iterable[Scenario]) -> pd.DataFrame:
    rows = [
        {
            "task": each.example.task,
            "example_id": each.example.id,
            NAME_FIELD: each.example.attributes.get(NAME_FIELD),
            "prompt": each.example.input["prompt"],
            **each.dimensions,
            "scorers": ", ".join(check.scorer.name for check in each.checks),
            "has_precondition": bool(each.precondition),
            "source": str(each.place),
        }
        for each in scenarios
    ]
    table = pd.DataFrame(rows)
    last = ["scorers", "has_precondition", "source"]
    return table[[*(name for name in table.columns if name not in last), *last]]
