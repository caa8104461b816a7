"""Evaluation: examples, systems or their outputs, and scorers become tables."""

from __future__ import annotations

from evaltoolkit.evaluation.benchmarks import Benchmark, read_benchmark
from evaltoolkit.evaluation.driving import Interrupted
from evaltoolkit.evaluation.evaluating import evaluate, evaluate_async
from evaltoolkit.evaluation.judged_pairs import judge_pairs
from evaltoolkit.evaluation.mutation.mutator_runs import MutatorCase
from evaltoolkit.evaluation.mutation.mutators import evaluate_mutators, evaluate_mutators_async
from evaltoolkit.evaluation.records import OutputRecord
from evaltoolkit.evaluation.scoring import check_scorers, score_outputs

__all__ = [
    "Benchmark",
    "Interrupted",
    "MutatorCase",
    "OutputRecord",
    "check_scorers",
    "evaluate",
    "evaluate_async",
    "evaluate_mutators",
    "evaluate_mutators_async",
    "judge_pairs",
    "read_benchmark",
    "score_outputs",
]
