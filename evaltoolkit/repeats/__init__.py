"""Repeated trials of the same examples: reliability over trials, and what repeating is worth."""

from evaltoolkit.repeats.reliability import pass_at_k
from evaltoolkit.repeats.shares import variance_components

__all__ = ["pass_at_k", "variance_components"]
