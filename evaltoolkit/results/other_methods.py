"""The results of `evaltoolkit.alternatives` and `evaltoolkit.combine_tasks`."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from evaltoolkit.results.base import TableResult

ALTERNATIVE_COLUMNS = (
    "task", "criterion", "scorer", "slice_by", "slice", "n_pairs", "design", "method", "own",
    "estimand", "estimate", "low", "high", "p_value", "significant", "agrees", "dissent",
    "counted", "same_as", "note",
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Alternatives(TableResult):
    """What other methods say of the same pairs; p-values are not adjusted.

    ``table`` has one row per row of the comparison and method:

    * ``estimand`` says what ``estimate``, ``low``, ``high`` and ``p_value`` are about. All are
      candidate minus baseline in the criterion's own numbers, and 0 is "no difference" in each;
    * ``own`` marks the test and the interval that the comparison itself used;
    * ``significant``: p at or below alpha or, without a p-value, an interval that leaves out 0;
    * ``agrees``: on the same side of alpha as the comparison's own test and, where either is
      significant, with no opposite sign; missing where the method gives no answer. ``dissent``
      says what differs: ``significance``, ``sign`` or ``both``;
    * ``counted``: whether it counts in the sentences. What is there for replication only does
      not, nor what answers by construction like another row (``same_as``).
    """

    @property
    def dissenting(self) -> pd.DataFrame:
        """The counted rows that do not agree with the comparison's own test."""
        answered = self.table["agrees"].fillna(value=True).astype(bool)
        return self.table[self.table["counted"] & ~answered]


@dataclass(frozen=True, eq=False, repr=False)
class CombinedTasks(TableResult):
    """Evidence on each criterion combined over independent tasks.

    ``table`` has one row per criterion and scorer: ``n_tasks``, how many of them point ``up``
    and ``down``, ``statistic`` and two-sided ``p_value`` of the method. It is evidence that
    something changed in some task, with no size of a common effect.
    """
