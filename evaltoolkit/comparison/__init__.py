"""Paired comparison of systems, joint over criteria and candidates."""

from evaltoolkit.comparison.analysis import compare, compare_to_baseline

__all__ = ["compare", "compare_to_baseline"]
