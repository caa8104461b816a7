"""The result of `evaltoolkit.plan`."""

from __future__ import annotations

from dataclasses import dataclass

from evaltoolkit.results.base import TableResult

POWER_PLAN_COLUMNS = (
    "scenario", "trials", "n", "n_exact", "n_clusters", "n_scores", "difference", "power", "sd",
    "design_effect", "solved_for", "method", "margin", "alpha_per_test", "note",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class PowerPlan(TableResult):
    """How many examples and trials a comparison needs, what it can show, or how likely.

    ``table`` has one row per scenario (``assumed``; or ``pilot`` and ``pilot_upper_80``, the
    upper 80 % bound of what a pilot estimates), number of trials and, where given, n:

    * ``n`` examples with ``trials`` each (``n_exact`` before rounding up, where a formula gives
      it), in ``n_clusters`` clusters; ``n_scores`` scores of each system in all;
    * ``difference`` and ``power``: what was asked for, or what was found (``solved_for``); where
      n was found, ``power`` is what the rounded n reaches;
    * ``sd``, ``design_effect``: spread of one example's difference with that many trials, and
      how much clusters inflate the variance;
    * ``method``, ``margin``, ``alpha_per_test``: the test that the plan is for.
    """

    @property
    def answer(self) -> float:
        """What was solved for, in the first scenario at the first number of trials.

        A number of examples, a difference or a power, as ``settings["solved_for"]`` says.
        """
        return float(self.table[str(self.settings["solved_for"])].iloc[0])
