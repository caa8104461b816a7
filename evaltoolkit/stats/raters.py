"""Agreement of judges. High agreement is not validity: two judges can share an error."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.checks import choice, fraction
from evaltoolkit.stats.tails import normal_quantile
from evaltoolkit.stats.types import Floats


class Kappa(NamedTuple):
    """A chance-corrected agreement.

    Attributes:
        kappa: 1 is perfect, 0 what chance would give; NaN where chance agreement is certain.
        low: Lower end of the large-sample interval.
        high: Upper end.
        observed: Share of (weighted) agreement itself.
        expected: Share of (weighted) agreement by chance.
    """

    kappa: float
    low: float
    high: float
    observed: float
    expected: float


class IntraclassCorrelations(NamedTuple):
    """Shrout and Fleiss' six intraclass correlations.

    Attributes:
        icc1: One random judge per rating. `icc2`: judges are a random sample, absolute
            agreement. `icc3`: these very judges, consistency.
        icc1k: The same three for the mean of all judges: `icc1k`, `icc2k`, `icc3k`.
    """

    icc1: float
    icc2: float
    icc3: float
    icc1k: float
    icc2k: float
    icc3k: float


def agreement_table(
    first: Sequence[Hashable], second: Sequence[Hashable], *, grades: Sequence[Hashable]
) -> Floats:
    """Count how often each grade of the first judge meets each grade of the second.

    Args:
        first: Grades of the first judge.
        second: Grades of the second judge, in the same order.
        grades: All possible grades, in order.

    Raises:
        EvalToolkitError: Lengths differ or a grade is unknown.

    Example:
        >>> agreement_table("aab", "abb", grades="ab")
        array([[1., 1.],
               [0., 1.]])
    """
    place = {grade: i for i, grade in enumerate(grades)}
    unknown = {grade for grade in (*first, *second) if grade not in place}
    if len(first) != len(second) or unknown:
        raise EvalToolkitError(
            f"the judges gave {len(first)} and {len(second)} grades, of which {len(unknown)} "
            "are not among the grades allowed; give one grade of each for every example",
            code="bad_shape" if len(first) != len(second) else "unknown_option",
            path="grades",
            value=sorted(map(str, unknown)),
        )
    table = np.zeros((len(place), len(place)))
    np.add.at(table, ([place[g] for g in first], [place[g] for g in second]), 1.0)
    return table


def cohen_kappa(
    table: ArrayLike,
    *,
    weights: Literal["none", "linear", "quadratic"] = "none",
    level: float = 0.95,
) -> Kappa:
    """Return Cohen's kappa of two judges.

    Kappa depends on how common the grades are: report them beside it.

    Args:
        table: Square table of counts, see `agreement_table`; grades in order if weighted.
        weights: ``none``, ``linear`` or ``quadratic`` credit for near misses.
        level: Confidence level between 0 and 1.

    Raises:
        EvalToolkitError: The table is not square or `weights` is unknown.

    Source:
        Cohen, A coefficient of agreement for nominal scales, 1960; Fleiss, Cohen and Everitt,
        Large sample standard errors of kappa and weighted kappa, 1969.

    Example:
        >>> round(cohen_kappa([[88, 14, 18], [10, 40, 10], [2, 6, 12]]).kappa, 3)
        0.492
    """
    choice(weights, ["none", "linear", "quadratic"], name="weights")
    z = normal_quantile((1 + fraction(level, name="level")) / 2)
    share, n = _shares(table)
    credit = _credit(len(share), weights)
    rows, columns = share.sum(axis=1), share.sum(axis=0)
    observed = float(np.sum(credit * share))
    expected = float(rows @ credit @ columns)
    if not n or expected >= 1 - 1e-12:
        return Kappa(math.nan, math.nan, math.nan, observed, expected)
    kappa = (observed - expected) / (1 - expected)
    given = (credit @ columns)[:, None] + (rows @ credit)[None, :]
    variance = float(np.sum(share * (credit - given * (1 - kappa)) ** 2))
    variance -= (kappa - expected * (1 - kappa)) ** 2
    half = z * math.sqrt(max(variance, 0.0) / n) / (1 - expected)
    return Kappa(kappa, kappa - half, kappa + half, observed, expected)


def gwet_ac1(table: ArrayLike) -> float:
    """Return Gwet's AC1 of two judges, which stays sensible when one grade dominates.

    Args:
        table: Square table of counts, see `agreement_table`.

    Returns:
        The coefficient; NaN without ratings.

    Raises:
        EvalToolkitError: The table is not square.

    Source:
        Gwet, Computing inter-rater reliability and its variance in the presence of high
        agreement, 2008.

    Example:
        >>> round(gwet_ac1([[88, 14, 18], [10, 40, 10], [2, 6, 12]]), 3)
        0.576
    """
    share, n = _shares(table)
    if not n or len(share) < 2:
        return math.nan
    grade = (share.sum(axis=0) + share.sum(axis=1)) / 2
    expected = float(grade @ (1 - grade)) / (len(share) - 1)
    return (float(np.trace(share)) - expected) / (1 - expected)


def fleiss_kappa(counts: ArrayLike) -> float:
    """Return Fleiss' kappa of several judges.

    Args:
        counts: Array (examples, grades): how many judges gave each grade; equally many judges
            for all examples.

    Returns:
        The coefficient; NaN where only one grade was ever given.

    Raises:
        EvalToolkitError: Examples have different numbers of judges, or fewer than two.

    Source:
        Fleiss, Measuring nominal scale agreement among many raters, 1971.

    Example:
        >>> round(fleiss_kappa([[3, 0], [0, 3], [2, 1]]), 3)
        0.55
    """
    table = np.asarray(counts, dtype=np.float64)
    judges = table.sum(axis=1) if table.ndim == 2 and table.size else np.zeros(1)
    if np.ptp(judges) > 0 or judges[0] < 2:
        raise EvalToolkitError(
            "counts must be a table (examples, grades) with the same number of judges, two or "
            f"more, in every row; the rows have {sorted(set(judges.tolist()))}",
            code="bad_shape",
            path="counts",
            value=table.shape,
        )
    grade = table.sum(axis=0) / table.sum()
    agreed = np.sum(table * (table - 1), axis=1) / (judges * (judges - 1))
    expected = float(grade @ grade)
    if expected >= 1 - 1e-12:
        return math.nan
    return (float(agreed.mean()) - expected) / (1 - expected)


def krippendorff_alpha(ratings: ArrayLike, *, measure: str = "nominal") -> float:
    """Return Krippendorff's alpha for any number of judges, with missing ratings.

    Args:
        ratings: Array (judges, examples) of numbers; NaN where a judge gave none.
        measure: How far apart two grades are: ``nominal``, ``ordinal``, ``interval`` or
            ``ratio``.

    Returns:
        The coefficient; NaN where no two ratings can be compared, or all are equal.

    Raises:
        EvalToolkitError: `measure` is unknown.

    Source:
        Krippendorff, Computing Krippendorff's alpha-reliability, 2011.

    Example:
        >>> round(krippendorff_alpha([[1, 2, 3, np.nan], [1, 2, 2, 3]]), 3)
        0.545
    """
    choice(measure, list(_DISTANCES), name="measure")
    table = np.asarray(ratings, dtype=np.float64)
    grades, code = np.unique(table[~np.isnan(table)], return_inverse=True)
    cells = np.zeros((table.shape[1], grades.size))
    np.add.at(cells, (np.nonzero(~np.isnan(table))[1], code), 1.0)
    cells = cells[cells.sum(axis=1) > 1]
    if not cells.size:
        return math.nan
    pairs = 1 / (cells.sum(axis=1) - 1)
    coincidences = (cells * pairs[:, None]).T @ cells - np.diag(pairs @ cells)
    total = coincidences.sum(axis=1)
    distance = _DISTANCES[measure](grades, total)
    expected = float(total @ distance @ total) / float(total.sum() - 1)
    return 1 - float(np.sum(coincidences * distance)) / expected if expected > 0 else math.nan


def intraclass_correlations(ratings: ArrayLike) -> IntraclassCorrelations:
    """Return the intraclass correlations of several judges who rated all examples.

    Args:
        ratings: Array (examples, judges) of numbers without gaps; two of each or more.

    Raises:
        EvalToolkitError: The table is too small or has gaps.

    Source:
        Shrout and Fleiss, Intraclass correlations: uses in assessing rater reliability, 1979.

    Example:
        >>> round(intraclass_correlations([[9, 2, 5], [6, 1, 3], [8, 4, 6], [7, 1, 2]]).icc3, 2)
        0.71
    """
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2 or min(table.shape) < 2 or not np.isfinite(table).all():
        raise EvalToolkitError(
            f"ratings has shape {table.shape}; two examples and two judges or more, without "
            "gaps, are needed",
            code="bad_shape",
            path="ratings",
            value=table.shape,
        )
    n, k = table.shape
    rows, columns = table.mean(axis=1), table.mean(axis=0)
    residual = table - rows[:, None] - columns[None, :] + table.mean()
    between = k * float(np.var(rows, ddof=1))
    judges = n * float(np.var(columns, ddof=1))
    error = float(np.sum(residual**2)) / ((n - 1) * (k - 1))
    within = float(np.sum((table - rows[:, None]) ** 2)) / (n * (k - 1))
    return IntraclassCorrelations(
        (between - within) / (between + (k - 1) * within),
        (between - error) / (between + (k - 1) * error + k * (judges - error) / n),
        (between - error) / (between + (k - 1) * error),
        (between - within) / between,
        (between - error) / (between + (judges - error) / n),
        (between - error) / between,
    )


def _shares(table: ArrayLike) -> tuple[Floats, float]:
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or not np.all(counts >= 0):
        raise EvalToolkitError(
            f"table has shape {counts.shape}; a square table of non-negative counts is needed",
            code="bad_shape",
            path="table",
            value=counts.shape,
        )
    n = float(counts.sum())
    return counts / n if n else counts, n


def _credit(grades: int, weights: str) -> Floats:
    if weights == "none" or grades == 1:
        return np.eye(grades)
    steps = np.abs(np.subtract.outer(np.arange(grades), np.arange(grades))) / (grades - 1)
    credit: Floats = 1 - (steps if weights == "linear" else steps**2)
    return credit


def _nominal(grades: Floats, counts: Floats) -> Floats:
    del counts  # only the grades themselves matter
    return 1 - np.eye(grades.size)


def _ordinal(grades: Floats, counts: Floats) -> Floats:
    del grades  # only their order matters
    middle = np.cumsum(counts) - counts / 2
    return _squared(middle, middle)


def _interval(grades: Floats, counts: Floats) -> Floats:
    del counts  # only the grades themselves matter
    return _squared(grades, grades)


def _ratio(grades: Floats, counts: Floats) -> Floats:
    del counts  # only the grades themselves matter
    sums = np.add.outer(grades, grades)
    distance: Floats = _squared(grades, grades) / np.where(sums == 0, 1.0, sums) ** 2
    return distance


def _squared(first: Floats, second: Floats) -> Floats:
    squared: Floats = np.subtract.outer(first, second) ** 2
    return squared


_DISTANCES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "nominal": _nominal,
    "ordinal": _ordinal,
    "interval": _interval,
    "ratio": _ratio,
}
