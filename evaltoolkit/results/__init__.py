"""The frozen results that analyses return, and how they print.

A result holds tidy DataFrames and the settings that shaped them. It computes no statistic: what
it shows are columns of its table.
"""

from evaltoolkit.results.base import TableResult
from evaltoolkit.results.comparison import COMPARISON_COLUMNS, VERDICTS, Comparison
from evaltoolkit.results.judging import Agreement, Calibration
from evaltoolkit.results.many import BaselineComparison
from evaltoolkit.results.planning import POWER_PLAN_COLUMNS, PowerPlan
from evaltoolkit.results.ranking import Ranking

__all__ = [
    "COMPARISON_COLUMNS",
    "POWER_PLAN_COLUMNS",
    "VERDICTS",
    "Agreement",
    "BaselineComparison",
    "Calibration",
    "Comparison",
    "PowerPlan",
    "Ranking",
    "TableResult",
]
