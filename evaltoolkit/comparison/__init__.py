"""Paired comparison of two systems, joint over criteria."""

from evaltoolkit.comparison.analysis import compare

__all__ = ["compare"]
