"""The frozen results that analyses return, and how they print.

A result holds tidy DataFrames and the settings that shaped them. It computes no statistic: what
it shows are columns of its table.
"""

from evaltoolkit.results.base import TableResult
from evaltoolkit.results.biases import LengthBias, PositionBias, Repeatability
from evaltoolkit.results.breakdowns import Breakdown
from evaltoolkit.results.comparison import COMPARISON_COLUMNS, VERDICTS, Comparison
from evaltoolkit.results.composites import PooledTasks
from evaltoolkit.results.evaluations import EVALUATION_COLUMNS, Evaluation
from evaltoolkit.results.judging import Agreement, Calibration
from evaltoolkit.results.many import BaselineComparison
from evaltoolkit.results.monitoring import MONITORING_COLUMNS, Monitoring
from evaltoolkit.results.mutators import MutatorEvaluation
from evaltoolkit.results.other_methods import ALTERNATIVE_COLUMNS, Alternatives, CombinedTasks
from evaltoolkit.results.planning import POWER_PLAN_COLUMNS, PowerPlan
from evaltoolkit.results.ranking import Ranking
from evaltoolkit.results.repeats import PassAtK, VarianceShares
from evaltoolkit.results.stability import Heterogeneity, Sensitivity, ThresholdCurve

__all__ = [
    "ALTERNATIVE_COLUMNS",
    "COMPARISON_COLUMNS",
    "EVALUATION_COLUMNS",
    "MONITORING_COLUMNS",
    "POWER_PLAN_COLUMNS",
    "VERDICTS",
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
    "TableResult",
    "ThresholdCurve",
    "VarianceShares",
]
