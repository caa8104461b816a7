"""Can a judge be trusted: agreement, habits (place, length), repeats, labels, corrected means."""

from evaltoolkit.judging.agreeing import agreement
from evaltoolkit.judging.calibration import calibrate
from evaltoolkit.judging.labelling import attach_labels
from evaltoolkit.judging.lengths import length_bias
from evaltoolkit.judging.positions import position_bias
from evaltoolkit.judging.repeats import repeatability

__all__ = [
    "agreement",
    "attach_labels",
    "calibrate",
    "length_bias",
    "position_bias",
    "repeatability",
]
