"""The small result types that several statistics share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
"""An array of floats."""


class Interval(NamedTuple):
    """The two ends of an interval."""

    low: float
    high: float


class Significance(NamedTuple):
    """A test statistic and its p-value."""

    statistic: float
    p_value: float


class MeanEstimate(NamedTuple):
    """A mean with its uncertainty.

    Attributes:
        mean: The mean; NaN without data.
        se: Its standard error; NaN for a single unit, 0 for constant data.
        df: Degrees of freedom of the reference t distribution (infinite for the normal one).
        statistic: ``mean / se``; NaN where `se` is 0 or unknown.
        p_value: Two-sided, for a true mean of 0; NaN where `se` is 0 or unknown.
        low: Lower end of the interval; NaN where `se` is 0 or unknown, never a zero width.
        high: Upper end of the interval.
        n: Number of values.
        n_units: Number of independent units: clusters, or values without clusters.
    """

    mean: float
    se: float
    df: float
    statistic: float
    p_value: float
    low: float
    high: float
    n: int
    n_units: int
