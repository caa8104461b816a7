"""One number out of many: over criteria a mean or a conjunction, over tasks a difference."""

from evaltoolkit.composites.combining import combine_criteria
from evaltoolkit.composites.pooling import pool_tasks
from evaltoolkit.composites.requiring import require_all

__all__ = ["combine_criteria", "pool_tasks", "require_all"]
