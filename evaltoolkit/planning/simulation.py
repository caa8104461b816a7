"""Power of the paired t test by resampling a pilot's differences, moved to the true difference."""

from __future__ import annotations

import math

import numpy as np

from evaltoolkit.planning.options import Question
from evaltoolkit.stats import Floats
from evaltoolkit.stats.tails import t_quantile

DRAWS = 4_000
_CELLS = 4_000_000


def simulated_power(sample: Floats, n: int, difference: float, question: Question) -> float:
    """Share of simulated evals of n examples in which the t test finds the difference.

    The same seed is used for every n and difference, so that a search is not led astray by
    chance. A simulated eval without spread finds nothing.

    Args:
        sample: The pilot's differences; their own mean is taken away.
        n: Number of examples of a simulated eval.
        difference: True difference.
        question: Level and seed.
    """
    means, errors = _evals(sample, n, question.seed)
    reach = t_quantile(1 - question.level / 2, n - 1) * errors
    towards = math.copysign(1.0, difference) * (means + difference)
    return float(np.mean((towards > reach) & (errors > 0)))


def smallest_difference(sample: Floats, n: int, question: Question) -> float:
    """Smallest positive difference found with the power asked for.

    Args:
        sample: The pilot's differences.
        n: Number of examples.
        question: Level, power and seed.

    Returns:
        The difference; NaN where too many simulated evals have no spread at all.
    """
    means, errors = _evals(sample, n, question.seed)
    needed = t_quantile(1 - question.level / 2, n - 1) * errors - means
    needed = np.sort(np.where(errors > 0, needed, math.inf))
    value = float(needed[math.ceil(question.power * DRAWS) - 1])
    return max(value, 0.0) if math.isfinite(value) else math.nan


def _evals(sample: Floats, n: int, seed: int) -> tuple[Floats, Floats]:
    """Means and standard errors of resampled evals, around a true mean of 0."""
    centred = sample - sample.mean()
    rng = np.random.default_rng(seed)
    means, errors = np.empty(DRAWS), np.empty(DRAWS)
    step = max(1, min(DRAWS, _CELLS // n))
    for start in range(0, DRAWS, step):
        stop = min(start + step, DRAWS)
        drawn = centred[rng.integers(centred.size, size=(stop - start, n))]
        means[start:stop] = drawn.mean(axis=1)
        errors[start:stop] = drawn.std(axis=1, ddof=1) / math.sqrt(n)
    noise = 1e-12 * float(np.max(np.abs(centred)))
    return means, np.where(errors > noise, errors, 0.0)
