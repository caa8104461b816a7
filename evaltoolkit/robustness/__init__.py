"""How robust a comparison is: to its method, its slices, its lost pairs, its thresholds."""

from evaltoolkit.robustness.combining import combine_tasks
from evaltoolkit.robustness.lost_pairs import sensitivity
from evaltoolkit.robustness.monitoring import monitor
from evaltoolkit.robustness.other_methods import alternatives
from evaltoolkit.robustness.slices_differing import heterogeneity
from evaltoolkit.robustness.threshold_rates import threshold_curve

__all__ = [
    "alternatives",
    "combine_tasks",
    "heterogeneity",
    "monitor",
    "sensitivity",
    "threshold_curve",
]
