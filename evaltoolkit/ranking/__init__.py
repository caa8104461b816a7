"""Ranks of many systems: by their means on shared examples, or by paired preferences."""

from evaltoolkit.ranking.analysis import rank
from evaltoolkit.ranking.preferences import rank_preferences

__all__ = ["rank", "rank_preferences"]
