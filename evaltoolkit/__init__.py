"""Analyse evaluation results of language models: from score files to a paired verdict.

Every public name is found here and loaded from its module on first use, so that
``import evaltoolkit as et`` is quick and pulls no heavy package. To add one, name it in
`_NAMES` and import it under ``TYPE_CHECKING``; a test holds the two together.

Example:
    >>> import evaltoolkit as et
    >>> et.__version__
    '0.1.0'
    >>> "compare" in dir(et)
    True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaltoolkit.errors import (
    EvalToolkitError,
    EvalToolkitWarning,
    MissingDependencyError,
    PairingError,
    PolicyError,
    ReadError,
    SchemaError,
    ScorerError,
)

if TYPE_CHECKING:
    from evaltoolkit import clients as clients
    from evaltoolkit import models as models
    from evaltoolkit import plots as plots
    from evaltoolkit import scorers as scorers
    from evaltoolkit import stats as stats
    from evaltoolkit import tables as tables
    from evaltoolkit.comparison import compare as compare
    from evaltoolkit.comparison import compare_to_baseline as compare_to_baseline
    from evaltoolkit.comparison import compare_unpaired as compare_unpaired
    from evaltoolkit.comparison import declare as declare
    from evaltoolkit.composites import combine_criteria as combine_criteria
    from evaltoolkit.composites import pool_tasks as pool_tasks
    from evaltoolkit.composites import require_all as require_all
    from evaltoolkit.criteria import describe_criteria as describe_criteria
    from evaltoolkit.evaluation import MutatorCase as MutatorCase
    from evaltoolkit.evaluation import evaluate as evaluate
    from evaltoolkit.evaluation import evaluate_async as evaluate_async
    from evaltoolkit.evaluation import evaluate_mutators as evaluate_mutators
    from evaltoolkit.evaluation import evaluate_mutators_async as evaluate_mutators_async
    from evaltoolkit.evaluation import judge_pairs as judge_pairs
    from evaltoolkit.evaluation import read_benchmark as read_benchmark
    from evaltoolkit.evaluation import score_outputs as score_outputs
    from evaltoolkit.judging import agreement as agreement
    from evaltoolkit.judging import attach_labels as attach_labels
    from evaltoolkit.judging import calibrate as calibrate
    from evaltoolkit.judging import length_bias as length_bias
    from evaltoolkit.judging import position_bias as position_bias
    from evaltoolkit.judging import repeatability as repeatability
    from evaltoolkit.planning import plan as plan
    from evaltoolkit.ranking import rank as rank
    from evaltoolkit.ranking import rank_preferences as rank_preferences
    from evaltoolkit.readers import formats as formats
    from evaltoolkit.readers import read_details as read_details
    from evaltoolkit.readers import read_outputs as read_outputs
    from evaltoolkit.readers import read_report as read_report
    from evaltoolkit.readers import read_scores as read_scores
    from evaltoolkit.repeats import pass_at_k as pass_at_k
    from evaltoolkit.repeats import variance_components as variance_components
    from evaltoolkit.reports import write_report as write_report
    from evaltoolkit.results import Agreement as Agreement
    from evaltoolkit.results import Alternatives as Alternatives
    from evaltoolkit.results import BaselineComparison as BaselineComparison
    from evaltoolkit.results import Breakdown as Breakdown
    from evaltoolkit.results import Calibration as Calibration
    from evaltoolkit.results import CombinedTasks as CombinedTasks
    from evaltoolkit.results import Comparison as Comparison
    from evaltoolkit.results import Evaluation as Evaluation
    from evaltoolkit.results import Heterogeneity as Heterogeneity
    from evaltoolkit.results import LengthBias as LengthBias
    from evaltoolkit.results import Monitoring as Monitoring
    from evaltoolkit.results import MutatorEvaluation as MutatorEvaluation
    from evaltoolkit.results import PassAtK as PassAtK
    from evaltoolkit.results import PooledTasks as PooledTasks
    from evaltoolkit.results import PositionBias as PositionBias
    from evaltoolkit.results import PowerPlan as PowerPlan
    from evaltoolkit.results import Ranking as Ranking
    from evaltoolkit.results import Repeatability as Repeatability
    from evaltoolkit.results import Sensitivity as Sensitivity
    from evaltoolkit.results import ThresholdCurve as ThresholdCurve
    from evaltoolkit.results import VarianceShares as VarianceShares
    from evaltoolkit.robustness import alternatives as alternatives
    from evaltoolkit.robustness import combine_tasks as combine_tasks
    from evaltoolkit.robustness import heterogeneity as heterogeneity
    from evaltoolkit.robustness import monitor as monitor
    from evaltoolkit.robustness import sensitivity as sensitivity
    from evaltoolkit.robustness import threshold_curve as threshold_curve
    from evaltoolkit.scores import check_scores as check_scores
    from evaltoolkit.scores import normalise_scores as normalise_scores
    from evaltoolkit.storage import write_outputs as write_outputs
    from evaltoolkit.storage import write_scores as write_scores
    from evaltoolkit.summary import coverage as coverage
    from evaltoolkit.summary import summarise as summarise
    from evaltoolkit.tidying import resources as resources
    from evaltoolkit.tidying import tidy_scores as tidy_scores
    from evaltoolkit.widgets import explore as explore

__version__ = "0.1.0"

# module -> the public names that it holds; a module without names is public itself (`et.plots`)
_NAMES: dict[str, tuple[str, ...]] = {
    "clients": (),
    "comparison": ("compare", "compare_to_baseline", "compare_unpaired", "declare"),
    "composites": ("combine_criteria", "pool_tasks", "require_all"),
    "criteria": ("describe_criteria",),
    "evaluation": (
        "MutatorCase",
        "evaluate",
        "evaluate_async",
        "evaluate_mutators",
        "evaluate_mutators_async",
        "judge_pairs",
        "read_benchmark",
        "score_outputs",
    ),
    "judging": (
        "agreement",
        "attach_labels",
        "calibrate",
        "length_bias",
        "position_bias",
        "repeatability",
    ),
    "models": (),
    "planning": ("plan",),
    "plots": (),
    "ranking": ("rank", "rank_preferences"),
    "readers": ("formats", "read_details", "read_outputs", "read_report", "read_scores"),
    "repeats": ("pass_at_k", "variance_components"),
    "reports": ("write_report",),
    "results": (
        "Agreement",
        "Alternatives",
        "BaselineComparison",
        "Breakdown",
        "Calibration",
        "CombinedTasks",
        "Comparison",
        "Evaluation",
        "Heterogeneity",
        "LengthBias",
        "Monitoring",
        "MutatorEvaluation",
        "PassAtK",
        "PooledTasks",
        "PositionBias",
        "PowerPlan",
        "Ranking",
        "Repeatability",
        "Sensitivity",
        "ThresholdCurve",
        "VarianceShares",
    ),
    "robustness": (
        "alternatives",
        "combine_tasks",
        "heterogeneity",
        "monitor",
        "sensitivity",
        "threshold_curve",
    ),
    "scorers": (),
    "scores": ("check_scores", "normalise_scores"),
    "stats": (),
    "storage": ("write_outputs", "write_scores"),
    "summary": ("coverage", "summarise"),
    "tables": (),
    "tidying": ("resources", "tidy_scores"),
    "widgets": ("explore",),
}
_ROOM_OF = {name: room for room, names in _NAMES.items() for name in names or (room,)}

__all__ = [
    "EvalToolkitError",
    "EvalToolkitWarning",
    "MissingDependencyError",
    "PairingError",
    "PolicyError",
    "ReadError",
    "SchemaError",
    "ScorerError",
    *_ROOM_OF,
]


# Hidden from type checkers: to them a name that is not imported above is a mistake.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Load a public name from its module on first use."""
        from importlib import import_module

        if name not in _ROOM_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        room = _ROOM_OF[name]
        module = import_module(f"{__name__}.{room}")
        value = module if name == room else getattr(module, name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_ROOM_OF})
