"""Power, number of examples and smallest difference of one planned test, by each method."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from evaltoolkit import stats
from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.planning import simulation
from evaltoolkit.planning.options import Question
from evaltoolkit.planning.spread import Spread
from evaltoolkit.stats import Floats
from evaltoolkit.stats.discordance import mcnemar_power, mde_mcnemar, n_mcnemar_exact
from evaltoolkit.stats.sample_size import n_clustered_t, power_tost
from evaltoolkit.stats.tails import normal_quantile

LARGEST = 10**9
LARGEST_EXACT = 20_000
LARGEST_SIMULATED = 20_000


@dataclass(frozen=True)
class Job:
    """One planned test: a scenario, a number of trials, a method.

    Attributes:
        spread: How differences vary.
        trials: Trials of each example.
        method: A name of `evaltoolkit.planning.options.METHODS`.
        question: What is asked.
        sample: Differences to resample, for simulation; empty otherwise.
    """

    spread: Spread
    trials: int
    method: str
    question: Question
    sample: Floats

    @property
    def variance(self) -> float:
        """Variance of one example's difference."""
        return self.spread.variance_at(self.trials)

    @property
    def two_sided_level(self) -> float:
        """Level of the two-sided test whose upper half is the test that is made."""
        one_sided = self.question.margin is not None
        return self.question.level * (2 if one_sided else 1)

    @property
    def inflated(self) -> float:
        """The same, inflated by the design effect of clusters."""
        return self.variance * self.spread.design_effect(self.trials)

    def se(self, n: int) -> float:
        """Standard error of the mean difference over n examples."""
        return math.sqrt(self.inflated / n)

    def df(self, n: int) -> float:
        """Degrees of freedom: independent units less one."""
        return n / self.spread.cluster_size - 1


def shift(job: Job, difference: float) -> float:
    """Distance between the true difference and the hypothesis that is to be rejected."""
    return difference + job.question.margin if job.question.margin else abs(difference)


def power_of(job: Job, n: int, difference: float) -> float:
    """Power with n examples; NaN where there are fewer than two independent units."""
    if job.df(n) <= 0:
        return math.nan
    if job.method in ("mcnemar_midp", "mcnemar_exact"):
        if n > LARGEST_EXACT:
            return _connor_power(job, n, difference)
        return mcnemar_power(
            n,
            difference,
            job.spread.disagreement,
            mid_p=job.method == "mcnemar_midp",
            alpha=job.question.level,
        )
    if job.method == "connor":
        return _connor_power(job, n, difference)
    if job.method == "simulation":
        return simulation.simulated_power(job.sample, n, difference, job.question)
    if job.method == "tost":
        margin = float(job.question.margin or math.nan)
        return power_tost(difference, job.se(n), job.df(n), margin=margin, alpha=job.question.level)
    df = math.inf if job.method == "miller" else job.df(n)
    return stats.power_t(shift(job, difference) / job.se(n), df, alpha=job.two_sided_level)


def n_of(job: Job, difference: float) -> tuple[int, float]:
    """Number of examples, and the same with its fraction where a formula gives one.

    Raises:
        EvalToolkitError: It would take more than a thousand million (code ``out_of_reach``).
    """
    rough = _normal_n(job, difference)
    if rough > LARGEST:
        raise EvalToolkitError(
            f"to see a difference of {difference:g} would take about {rough:.3g} examples; that "
            "is out of reach, plan for a larger difference",
            code="out_of_reach",
            path="difference",
            value=difference,
        )
    if job.method in ("mcnemar_midp", "mcnemar_exact") and rough <= LARGEST_EXACT:
        return _exact_n(job, difference), math.nan
    if job.method == "simulation" and rough > LARGEST_SIMULATED:
        raise EvalToolkitError(
            f"about {rough:,.0f} examples are needed, where the t test needs no simulation; leave "
            "method= out",
            code="out_of_reach",
            path="method",
            value="simulation",
        )
    if job.method in ("simulation", "tost"):
        least = max(2, math.ceil(2 * job.spread.cluster_size))
        return smallest(lambda n: power_of(job, n, difference), job.question.power, least), math.nan
    exact = _formula_n(job, difference, rough)
    return max(math.ceil(exact - 1e-9), 2), exact


def _exact_n(job: Job, difference: float) -> int:
    return n_mcnemar_exact(
        difference,
        job.spread.disagreement,
        mid_p=job.method == "mcnemar_midp",
        alpha=job.question.level,
        power=job.question.power,
    )


def _formula_n(job: Job, difference: float, rough: float) -> float:
    if job.method == "t":
        return n_clustered_t(
            shift(job, difference),
            math.sqrt(job.variance),
            cluster_size=job.spread.cluster_size,
            icc=job.spread.icc_at(job.trials),
            alpha=job.two_sided_level,
            power=job.question.power,
        )
    return rough


def _normal_n(job: Job, difference: float) -> float:
    level, power = job.two_sided_level, job.question.power
    if job.method in ("mcnemar_midp", "mcnemar_exact", "connor"):
        wins, losses = _shares(job, difference)
        return stats.n_mcnemar(wins, losses, alpha=level, power=power)
    return stats.n_questions(shift(job, difference), job.inflated, alpha=level, power=power)


def _shares(job: Job, difference: float) -> tuple[float, float]:
    half = abs(difference) / 2
    return job.spread.disagreement / 2 + half, max(job.spread.disagreement / 2 - half, 0.0)


def _connor_power(job: Job, n: int, difference: float) -> float:
    """Power from Connor's formula, solved for the power."""
    discordant, size = job.spread.disagreement, abs(difference)
    spread = math.sqrt(discordant - size**2)
    z = normal_quantile(1 - job.question.level / 2)
    if spread == 0:
        return 1.0 if size * math.sqrt(n) > z else 0.0
    return stats.power_t((size * math.sqrt(n) - z * math.sqrt(discordant)) / spread, math.inf)


def smallest(power: Callable[[int], float], wanted: float, least: int) -> int:
    """Find the smallest n from `least` with the power wanted, by halving.

    Raises:
        EvalToolkitError: There is none that can be reached (code ``out_of_reach``).
    """
    low, high = least - 1, least
    while not power(high) >= wanted:
        low, high = high, 2 * high
        if high > LARGEST:
            raise EvalToolkitError(
                "no number of examples within reach has this power; plan for a larger "
                "difference or margin",
                code="out_of_reach",
                path="n",
            )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle) >= wanted else (middle, high)
    return high


def difference_of(job: Job, n: int) -> float:
    """Smallest difference that n examples show; NaN where none reaches the power."""
    level, power = job.question.level, job.question.power
    if job.df(n) <= 0:
        return math.nan
    if job.method in ("mcnemar_midp", "mcnemar_exact"):
        return mde_mcnemar(
            n,
            job.spread.disagreement,
            mid_p=job.method == "mcnemar_midp",
            alpha=level,
            power=power,
        )
    if job.method == "simulation":
        return simulation.smallest_difference(job.sample, n, job.question)
    if job.method == "miller":
        return stats.mde_questions(n, job.inflated, alpha=level, power=power)
    return stats.mde(job.se(n), job.df(n), alpha=level, power=power)
