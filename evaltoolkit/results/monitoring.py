"""The result of `evaltoolkit.monitor`."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from evaltoolkit.results.base import TableResult

MONITORING_COLUMNS = (
    "task", "criterion", "scorer", "unit", "n", "wins", "losses", "delta", "e_value", "p_anytime",
    "low", "high", "alpha_each", "decided_by", "decided_at", "direction", "note",
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Monitoring(TableResult):
    """Evidence that may be looked at after every pair, with a decision at any of them.

    ``table`` has one row per hypothesis and number ``n`` of pairs (``unit``: or clusters) so
    far, at most 200 numbers of each hypothesis, the last and that of the decision among them:

    * ``e_value`` after n pairs, and ``p_anytime``, one over the largest of those up to there;
    * ``low`` and ``high`` of the confidence sequence for the mean difference: all of them
      together, at every n, hold with probability 1 - ``alpha_each``;
    * ``decided_at``: the first n at which the bet (``decided_by`` ``e_value``), or else the
      confidence sequence, decides; missing if it never does. ``direction`` is the sign of the
      difference there.
    """

    @property
    def latest(self) -> pd.DataFrame:
        """The last row of each hypothesis."""
        keys = ["task", "criterion", "scorer"]
        return pd.DataFrame(self.table.groupby(keys, sort=False).tail(1).reset_index(drop=True))
