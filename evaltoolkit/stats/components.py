"""What repeating is worth: components of variance with intervals, and the best number of trials."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.bootstrap import resampled_means
from evaltoolkit.stats.checks import finite_vector, fraction
from evaltoolkit.stats.types import Floats, Interval

MOST_LOST = 0.05
"""Share of bootstrap samples without repeats beyond which there is no interval."""

Reader = Callable[[Floats, int], tuple[Floats, Floats]]


class Components(NamedTuple):
    """Components of the variance of scores, or of paired differences.

    Attributes:
        var_item: Variance of the examples' expected values; not below 0.
        var_trial: Variance between trials of one example; for differences the sum over both
            systems, as for one trial each.
        icc: Share of the variance that lies between examples, 0 to 1; NaN without variance.
        truncated: Whether the estimate of `var_item` was negative and was set to 0.
        mean: Mean over examples of the examples' means.
        se: Its standard error as measured.
        var_item_ends: Bootstrap interval of `var_item`.
        var_trial_ends: Bootstrap interval of `var_trial`.
        icc_ends: Bootstrap interval of `icc`.
    """

    var_item: float
    var_trial: float
    icc: float
    truncated: bool
    mean: float
    se: float
    var_item_ends: Interval
    var_trial_ends: Interval
    icc_ends: Interval


def trial_components(
    trials: Sequence[ArrayLike], *, level: float = 0.95, draws: int = 2000, seed: int = 0
) -> Components:
    """Split the variance of one system's scores into examples and trials, with intervals.

    The estimates are those of `variance_components` (analysis of variance), the intervals
    bootstrap percentiles over examples.

    Args:
        trials: For each example the scores of its trials, one or more.
        level: Confidence level between 0 and 1.
        draws: Number of bootstrap samples.
        seed: Seed of the draws.

    Returns:
        The components; NaN with fewer than two examples or without repeated trials. An interval
        without width (all scores equal) is NaN.

    Raises:
        EvalToolkitError: A score is not finite, or an example has no trial.

    Source:
        Searle, Casella and McCulloch, Variance components, 1992.

    Example:
        >>> parts = trial_components([[1, 1, 0], [0, 0, 0], [1, 1, 1], [1, 0, 0]])
        >>> round(parts.var_item, 3), round(parts.var_trial, 3), parts.truncated
        (0.13, 0.167, False)
    """
    fraction(level, name="level")
    side = _Side(trials, name="trials")
    forms = np.column_stack(
        [side.n, side.n**2, side.within, side.n * side.means, side.n * side.means**2, 1 / side.n]
    )
    return _finish(forms, _one_system, side.means, level=level, draws=draws, seed=seed)


def difference_components(
    baseline: Sequence[ArrayLike],
    candidate: Sequence[ArrayLike],
    *,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> Components:
    """Split the variance of paired differences into examples and trials, with intervals.

    The variance of the examples' mean differences, less what the trials of either system
    contribute to it, is that of the expected differences. Trials of the two systems are taken as
    independent (they share no seed that makes both lucky).

    Args:
        baseline: For each example the baseline's scores, one or more.
        candidate: The candidate's, of the same examples in the same order.
        level: Confidence level between 0 and 1.
        draws: Number of bootstrap samples.
        seed: Seed of the draws.

    Returns:
        The components; NaN with fewer than two examples, or where a system has no repeats.

    Raises:
        EvalToolkitError: A score is not finite, an example has no trial, or the numbers of
            examples differ.

    Source:
        Miller, Adding error bars to evals, 2024 (the variance of paired differences).

    Example:
        >>> old, new = [[1, 0], [0, 0], [1, 1], [0, 0]], [[1, 1], [1, 0], [1, 1], [1, 1]]
        >>> parts = difference_components(old, new)
        >>> round(parts.var_item, 4), round(parts.var_trial, 4), parts.mean
        (0.0417, 0.25, 0.5)
    """
    fraction(level, name="level")
    old, new = _Side(baseline, name="baseline"), _Side(candidate, name="candidate")
    if old.n.size != new.n.size:
        raise EvalToolkitError(
            f"baseline has {old.n.size} examples and candidate {new.n.size}; pair them first",
            code="bad_shape",
            path="candidate",
        )
    d = new.means - old.means
    forms = np.column_stack([d, d**2, old.n, old.within, 1 / old.n, new.n, new.within, 1 / new.n])
    return _finish(forms, _two_systems, d, level=level, draws=draws, seed=seed)


def best_trials(
    var_item: float, var_trial: float, *, example_cost: float = 0.0, trial_cost: float = 1.0
) -> float:
    """Return the number of trials per example that gives the least variance for the money.

    With n examples of k trials the cost is ``n * (example_cost + k * trial_cost)`` and the
    variance ``(var_item + var_trial / k) / n``.

    Args:
        var_item: Variance between examples.
        var_trial: Variance between trials.
        example_cost: What a further example costs before its first trial (writing, labelling).
        trial_cost: What a trial costs.

    Returns:
        A whole number from 1; infinite where examples cost something and do not differ; NaN
        where a component is unknown. Without a cost of examples always 1.

    Raises:
        EvalToolkitError: A cost is negative or not finite, or trials are free.

    Source:
        Cochran, Sampling techniques, 1977, section 10.6 (optimum subsampling).

    Example:
        >>> best_trials(0.04, 0.16), best_trials(0.04, 0.16, example_cost=9)
        (1.0, 6.0)
    """
    for name, cost, least in (
        ("example_cost", example_cost, 0.0),
        ("trial_cost", trial_cost, 1e-300),
    ):
        if not (math.isfinite(cost) and cost >= least):
            raise EvalToolkitError(
                f"{name} is {cost!r}; it must be a number "
                + ("that is not negative" if name == "example_cost" else "above 0"),
                code="bad_cost",
                path=name,
                value=cost,
            )
    if math.isnan(var_item) or math.isnan(var_trial):
        return math.nan
    if var_trial == 0 or example_cost == 0:
        return 1.0
    if var_item == 0:
        return math.inf
    ideal = math.sqrt(var_trial / var_item * (example_cost / trial_cost))
    around = {max(1.0, float(math.floor(ideal))), max(1.0, float(math.ceil(ideal)))}
    return min(
        sorted(around), key=lambda k: (var_item + var_trial / k) * (example_cost + k * trial_cost)
    )


class _Side:
    """The trials of one system, reduced to numbers per example."""

    def __init__(self, trials: Sequence[ArrayLike], *, name: str) -> None:
        rows = [finite_vector(row, name=f"{name}[{i}]") for i, row in enumerate(trials)]
        empty = [i for i, row in enumerate(rows) if not row.size]
        if empty:
            raise EvalToolkitError(
                f"{name}[{empty[0]}] is empty; leave out examples without a trial",
                code="bad_shape",
                path=f"{name}[{empty[0]}]",
            )
        self.n = np.array([row.size for row in rows], dtype=np.float64)
        self.means = np.array([row.mean() for row in rows], dtype=np.float64)
        self.within = np.array([_squares(row) for row in rows], dtype=np.float64)


def _squares(row: Floats) -> float:
    """Sum of squares about the mean, 0 but for rounding where all are equal."""
    if np.ptp(row) <= 1e-9 * np.max(np.abs(row)):
        return 0.0
    return float(np.sum((row - row.mean()) ** 2))


def _one_system(m: Floats, n: int) -> tuple[Floats, Floats]:
    """Components of one system from means (samples, 6) of the forms, untruncated."""
    trials, squares, within, sums, sums_squared, _ = (m * n).T
    var_trial = _ratio(within, trials - n)
    between = (sums_squared - sums**2 / trials) / (n - 1)
    typical = (trials - squares / trials) / (n - 1)
    return (between - var_trial) / typical, var_trial


def _two_systems(m: Floats, n: int) -> tuple[Floats, Floats]:
    """Components of differences from means (samples, 8) of the forms, untruncated."""
    d, d_squared, n_old, within_old, share_old, n_new, within_new, share_new = m.T
    old, new = _ratio(within_old, n_old - 1), _ratio(within_new, n_new - 1)
    spread = (d_squared - d**2) * n / (n - 1)
    return spread - old * share_old - new * share_new, old + new


def _ratio(above: Floats, below: Floats) -> Floats:
    out = np.full(above.shape, np.nan)
    np.divide(above, below, out=out, where=below > 1e-9)
    return out


def _finish(
    forms: Floats, read: Reader, values: Floats, *, level: float, draws: int, seed: int
) -> Components:
    """Read the components off all examples, and off bootstrap samples of them."""
    n = values.size
    mean = float(values.mean()) if n else math.nan
    if n < 2:
        return _unknown(mean)
    raw, trial = (float(part[0]) for part in read(forms.mean(axis=0)[None, :], n))
    if math.isnan(trial):
        return _unknown(mean)
    scale = max(float(np.var(values)), trial)
    item = 0.0 if raw <= 1e-9 * scale else raw
    drawn = read(resampled_means(forms, draws=draws, seed=seed).means, n)
    items = np.maximum(drawn[0], 0.0)
    shares = _ratio(items, items + drawn[1])
    return Components(
        item,
        trial,
        item / (item + trial) if item + trial > 0 else math.nan,
        raw < -1e-9 * scale,
        mean,
        float(np.std(values, ddof=1)) / math.sqrt(n),
        *(_percentiles(part, level) for part in (items, drawn[1], shares)),
    )


def _unknown(mean: float) -> Components:
    nan, ends = math.nan, Interval(math.nan, math.nan)
    return Components(nan, nan, nan, False, mean, nan, ends, ends, ends)


def _percentiles(drawn: Floats, level: float) -> Interval:
    known = drawn[~np.isnan(drawn)]
    if known.size < (1 - MOST_LOST) * drawn.size:
        return Interval(math.nan, math.nan)
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    if high - low <= 1e-9 * max(abs(high), 1e-300):
        return Interval(math.nan, math.nan)
    return Interval(float(low), float(high))
