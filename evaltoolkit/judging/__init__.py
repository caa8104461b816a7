"""Can a judge be trusted: agreement of scorers, labels of people, judge-corrected means."""

from evaltoolkit.judging.agreeing import agreement
from evaltoolkit.judging.calibration import calibrate
from evaltoolkit.judging.labelling import attach_labels

__all__ = ["agreement", "attach_labels", "calibrate"]
