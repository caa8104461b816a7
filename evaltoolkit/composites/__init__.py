"""One number out of many: a weighted mean over criteria, a weighted difference over tasks."""

from evaltoolkit.composites.combining import combine_criteria
from evaltoolkit.composites.pooling import pool_tasks

__all__ = ["combine_criteria", "pool_tasks"]
