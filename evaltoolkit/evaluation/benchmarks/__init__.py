"""Benchmarks in YAML: from a file to examples and scorers."""

from __future__ import annotations

from evaltoolkit.evaluation.benchmarks.reading import Benchmark, read_benchmark
from evaltoolkit.evaluation.benchmarks.scenario_scorers import ScenarioScorer
from evaltoolkit.evaluation.benchmarks.states import merge_states, nest_paths

__all__ = ["Benchmark", "ScenarioScorer", "merge_states", "nest_paths", "read_benchmark"]
