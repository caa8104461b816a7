"""Paired comparison of systems, joint over criteria and candidates."""

from evaltoolkit.comparison.analysis import compare, compare_to_baseline
from evaltoolkit.comparison.declarations import Declaration, declare
from evaltoolkit.comparison.unpaired import compare_unpaired

__all__ = ["Declaration", "compare", "compare_to_baseline", "compare_unpaired", "declare"]
