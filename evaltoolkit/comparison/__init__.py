"""Paired comparison of systems, joint over criteria and candidates."""

from evaltoolkit.comparison.analysis import compare, compare_to_baseline
from evaltoolkit.comparison.unpaired import compare_unpaired

__all__ = ["compare", "compare_to_baseline", "compare_unpaired"]
