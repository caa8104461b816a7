"""The frozen results that analyses return, and how they print.

A result holds tidy DataFrames and the settings that shaped them. It computes no statistic: what
it shows are columns of its table.
"""

from evaltoolkit.results.base import TableResult
from evaltoolkit.results.comparison import COMPARISON_COLUMNS, VERDICTS, Comparison
from evaltoolkit.results.many import BaselineComparison

__all__ = ["COMPARISON_COLUMNS", "VERDICTS", "BaselineComparison", "Comparison", "TableResult"]
