"""What analyses of a judge's own habits return."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from evaltoolkit import wording
from evaltoolkit.results.base import TableResult


@dataclass(frozen=True, eq=False)
class _Habit(TableResult):
    """A result whose summary leaves out what nothing fills."""

    def summary(self) -> pd.DataFrame:
        """Give the table as people read it, without the columns that nothing fills."""
        return wording.rounded_table(self.table.dropna(axis="columns", how="all"))


@dataclass(frozen=True, eq=False)
class PositionBias(_Habit):
    """Whether the place at which an answer is shown decides a pairwise judgement.

    Attributes:
        table: One row per criterion, scorer and pair of systems (``scope`` is ``"pair"``), and
            one over all pairs (``"all"``): ``n`` comparisons judged in both orders,
            ``n_one_order``, ``n_not_scored``; the shares ``consistent``, ``first_wins_both``,
            ``second_wins_both``, ``tie_in_one``; ``first_rate``, the share of wins of the answer
            shown first, with ``ci_low``, ``ci_high`` and ``p_value`` for 0.5.
        preferences: How far ``system_a`` is preferred to ``system_b``, by both orders together
            (``order`` is ``"both"``: the place is balanced out) and by each order alone.
        comparisons: One row per comparison: the verdict in either order, and the ``outcome``.
    """

    preferences: pd.DataFrame = field(kw_only=True)
    comparisons: pd.DataFrame = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class LengthBias(_Habit):
    """Whether a judge's scores go with the length of the answers.

    Attributes:
        table: One row per criterion, scorer and ``model``: pairwise judgements of all pairs of
            systems (``pairwise_all``) and of each (``pairwise_pair``), single ratings within
            examples (``within_examples``) and with systems taken out as well
            (``within_examples_and_systems``). ``slope`` is for a doubling of the length
            (log-odds of a win, or points of the score), with ``slope_low``, ``slope_high`` and
            ``p_value``; ``per_sd`` is the same for one standard deviation, ``odds_ratio`` the
            same as odds of a win. ``longer_higher`` is the share of comparisons in which the
            longer answer wins (scores higher), a tie half. Then counts and ``note``.
        rates: For pairwise judgements, how often ``system_a`` wins: as judged (``estimate`` is
            ``"as_judged"``) and as the model has it at equal length (``"equal_length"``).
        units: One row per comparison or rated output, with its lengths.
    """

    rates: pd.DataFrame = field(kw_only=True)
    units: pd.DataFrame = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class Repeatability(_Habit):
    """How far the same judge gives the same output the same score again.

    Attributes:
        table: One row per criterion and scorer: ``n_outputs`` judged at least twice,
            ``n_repeats``; ``exact`` agreement and ``flips`` (pairs of verdicts that differ),
            ``within_sd``, ``repeatability`` coefficient, ``icc``, ``kappa``, each with ``_low``
            and ``_high``; ``mean_range`` and ``mean_sd`` of the means of the repeats; ``note``.
        runs: One row per repeat: its mean, and the difference to the first repeat.
        outputs: One row per output that was judged at least twice, with what varied.
    """

    runs: pd.DataFrame = field(kw_only=True)
    outputs: pd.DataFrame = field(kw_only=True)
