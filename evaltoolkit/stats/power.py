"""Power, sample size and the smallest difference that a comparison can find."""

from __future__ import annotations

import math
from functools import lru_cache

from evaltoolkit.stats.checks import fraction, whole
from evaltoolkit.stats.tails import normal_quantile, standard_error_nodes, t_quantile


def mde(se: float, df: float, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return the smallest true difference that a two-sided t test finds with this power.

    Args:
        se: Standard error of the mean difference.
        df: Its degrees of freedom; fractions and infinity are allowed.
        alpha: Level of the test.
        power: Probability of finding the difference.

    Returns:
        The difference, in the unit of `se`; NaN where `se` is 0 or unknown: without spread
        nothing can be said, least of all that every difference would be found.

    Raises:
        EvalToolkitError: `alpha` or `power` is not between 0 and 1.

    Example:
        >>> round(mde(0.05, 99), 4)
        0.1415
        >>> mde(0.0, 19)
        nan
    """
    fraction(alpha, name="alpha")
    fraction(power, name="power")
    if not (se > 0 and df > 0):
        return math.nan
    return _detectable_shift(df, alpha, power) * se


@lru_cache(maxsize=1024)
def _detectable_shift(df: float, alpha: float, power: float) -> float:
    """Return the smallest shift, in standard errors, that the t test finds with this power."""
    if power <= alpha / 2:
        return 0.0
    from scipy import optimize

    def missing(shift: float) -> float:
        return power_t(shift, df, alpha=alpha) - power

    enough = t_quantile(1 - alpha / 2, df) + t_quantile((1 + power) / 2, df)
    while missing(enough) < 0:
        enough *= 2
    return float(optimize.brentq(missing, 0.0, enough, xtol=1e-10))


def power_t(shift: float, df: float, *, alpha: float = 0.05) -> float:
    """Return the power of the two-sided t test, leaving out rejections on the wrong side.

    Args:
        shift: True difference in standard errors, not negative.
        df: Degrees of freedom.
        alpha: Level of the test.

    Example:
        >>> round(power_t(0.1 / (0.4 / 50**0.5), 49), 3)
        0.41
    """
    from scipy import special

    nodes, weights = standard_error_nodes(df)
    reached = special.ndtr(shift - t_quantile(1 - alpha / 2, df) * nodes)
    return float(weights @ reached)


def power_paired_t(difference: float, sd: float, n: int, *, alpha: float = 0.05) -> float:
    """Return the power of the paired t test with n examples.

    Args:
        difference: True mean difference; its sign does not matter.
        sd: Standard deviation of the differences, positive.
        n: Number of examples, at least 2.
        alpha: Level of the two-sided test.

    Returns:
        The power; NaN where `sd` is 0 or unknown.

    Example:
        >>> round(power_paired_t(0.1, 0.4, 50), 4)
        0.4103
    """
    whole(n, name="n", least=2)
    fraction(alpha, name="alpha")
    if not sd > 0:
        return math.nan
    return power_t(abs(difference) / sd * math.sqrt(n), n - 1, alpha=alpha)


def n_paired_t(difference: float, sd: float, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return how many examples the paired t test needs; round up.

    Args:
        difference: True mean difference to be found, not 0.
        sd: Standard deviation of the differences, positive.
        alpha: Level of the two-sided test.
        power: Probability of finding the difference.

    Returns:
        The number, with its fraction; NaN where nothing can be said.

    Example:
        >>> round(n_paired_t(0.5, 1.0), 2)
        33.37
    """
    fraction(alpha, name="alpha")
    fraction(power, name="power")
    if not (sd > 0 and difference != 0):
        return math.nan
    from scipy import optimize

    ratio = abs(difference) / sd
    normal = (normal_quantile(1 - alpha / 2) + normal_quantile((1 + power) / 2)) ** 2 / ratio**2

    def missing(n: float) -> float:
        return power_t(ratio * math.sqrt(n), n - 1, alpha=alpha) - power

    if missing(2.0) >= 0:
        return 2.0
    return float(optimize.brentq(missing, 2.0, 10 * normal + 100))


def n_questions(
    difference: float,
    variance: float,
    *,
    trial_variances: tuple[float, float] = (0.0, 0.0),
    trials: tuple[int, int] = (1, 1),
    alpha: float = 0.05,
    power: float = 0.8,
) -> float:
    """Return how many questions an eval needs, given variance over questions and trials.

    Args:
        difference: True difference to be found.
        variance: Variance of the difference of the two systems' expected scores over
            questions.
        trial_variances: Mean variance between trials of a question, for each system.
        trials: Trials of each question, for each system.
        alpha: Level of the two-sided test.
        power: Probability of finding the difference.

    Source:
        Miller, Adding error bars to evals, 2024.

    Example:
        >>> round(n_questions(0.03, 1 / 9), 1)
        969.0
    """
    total = _variance_per_question(variance, trial_variances, trials)
    return _quantiles(alpha, power) ** 2 * total / difference**2


def mde_questions(
    n: int,
    variance: float,
    *,
    trial_variances: tuple[float, float] = (0.0, 0.0),
    trials: tuple[int, int] = (1, 1),
    alpha: float = 0.05,
    power: float = 0.8,
) -> float:
    """Return the smallest difference that an eval of n questions can find.

    Args:
        n: Number of questions.
        variance: Variance of the difference of the expected scores over questions.
        trial_variances: Mean variance between trials of a question, for each system.
        trials: Trials of each question, for each system.
        alpha: Level of the two-sided test.
        power: Probability of finding the difference.

    Source:
        Miller, 2024.

    Example:
        >>> round(mde_questions(198, 1 / 9, trial_variances=(1 / 6, 1 / 6)), 3)
        0.133
    """
    whole(n, name="n", least=1)
    total = _variance_per_question(variance, trial_variances, trials)
    return _quantiles(alpha, power) * math.sqrt(total / n)


def n_mcnemar(p_win: float, p_loss: float, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return about how many examples McNemar's test needs; round up.

    Args:
        p_win: Share of examples that only the candidate passes.
        p_loss: Share of examples that only the baseline passes.
        alpha: Level of the two-sided test.
        power: Probability of finding the difference.

    Returns:
        The number, with its fraction; infinite where both shares are equal.

    Source:
        Connor, Sample size for testing differences in proportions for the paired-sample
        design, 1987.

    Example:
        >>> round(n_mcnemar(0.10, 0.05), 2)
        468.57
    """
    discordant, difference = p_win + p_loss, p_win - p_loss
    if difference == 0:
        return math.inf
    z_alpha = normal_quantile(1 - fraction(alpha, name="alpha") / 2)
    z_power = normal_quantile(fraction(power, name="power"))
    spread = math.sqrt(discordant - difference**2)
    return (z_alpha * math.sqrt(discordant) + z_power * spread) ** 2 / difference**2


def _quantiles(alpha: float, power: float) -> float:
    z_alpha = normal_quantile(1 - fraction(alpha, name="alpha") / 2)
    return z_alpha + normal_quantile(fraction(power, name="power"))


def _variance_per_question(
    variance: float, trial_variances: tuple[float, float], trials: tuple[int, int]
) -> float:
    within = [
        between_trials / whole(count, name="trials", least=1)
        for between_trials, count in zip(trial_variances, trials, strict=True)
    ]
    return variance + sum(within)
