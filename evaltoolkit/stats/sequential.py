"""Evidence that may be looked at as often as one likes while examples come in."""

from __future__ import annotations

import math
from typing import NamedTuple

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.checks import fraction, whole


class AnytimeEvidence(NamedTuple):
    """An e-value and the p-value that holds at any time.

    Attributes:
        e_value: How much the data have multiplied a bet against equal win chances. Reject at
            level alpha as soon as it reaches ``1 / alpha``.
        p_value: ``1 / e_value``, at most 1.
    """

    e_value: float
    p_value: float


def discordant_e_value(wins: int, losses: int, *, prior: float = 1.0) -> AnytimeEvidence:
    """Test at any time whether wins and losses are equally likely.

    Unlike a p-value it may be computed after every example, with a decision at any of them; the
    price is power.

    Args:
        wins: Examples so far that only the candidate passes.
        losses: Examples so far that only the baseline passes.
        prior: Both parameters of the Beta mixture; larger bets on small differences.

    Raises:
        EvalToolkitError: A count is negative or `prior` is not positive.

    Source:
        Ramdas, Grünwald, Vovk and Shafer, Game-theoretic statistics and safe anytime-valid
        inference, 2023.

    Example:
        >>> round(discordant_e_value(15, 5).e_value, 4)
        3.2206
    """
    whole(wins, name="wins")
    whole(losses, name="losses")
    _positive(prior, "prior")
    log_e = _log_beta(wins + prior, losses + prior) - _log_beta(prior, prior)
    log_e += (wins + losses) * math.log(2)
    e_value = math.exp(min(log_e, 700.0))
    return AnytimeEvidence(e_value, min(1.0, 1 / e_value) if e_value else 1.0)


def confidence_sequence_half_width(
    n: int, *, variance: float, tuning: float = 10.0, alpha: float = 0.05
) -> float:
    """Return the half width of an interval for a mean that holds at all times together.

    Args:
        n: Number of examples so far.
        variance: Sub-Gaussian variance proxy: a quarter of the squared range for bounded
            differences.
        tuning: Where the sequence is tightest: larger for later looks.
        alpha: Probability that the mean is ever missed.

    Raises:
        EvalToolkitError: `n` is below 1, or `variance` or `tuning` is not positive.

    Source:
        Robbins, Statistical methods related to the law of the iterated logarithm, 1970;
        Howard et al., Time-uniform confidence sequences, 2021.

    Example:
        >>> round(confidence_sequence_half_width(100, variance=1.0), 4)
        0.3038
    """
    whole(n, name="n", least=1)
    fraction(alpha, name="alpha")
    _positive(variance, "variance")
    _positive(tuning, "tuning")
    spread = n * variance + tuning
    return math.sqrt(spread * math.log(spread / (alpha**2 * tuning))) / n


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _positive(value: float, name: str) -> None:
    if not value > 0:
        raise EvalToolkitError(
            f"{name} is {value}; it must be positive", code="bad_value", path=name, value=value
        )
