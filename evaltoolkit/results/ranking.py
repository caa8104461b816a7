"""The result of `rank` and `rank_preferences`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit.results.base import TableResult
from evaltoolkit.wording import Row, rows_of


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(TableResult):
    """Systems ranked on one criterion.

    Attributes:
        table: One row per system, best first: ``estimate`` columns (mean or ability) with
            interval, ``rank``, ``rank_low`` and ``rank_high`` (the ranks that the significant
            pairs leave open), and what became of its examples.
        pairs: One row per pair of systems, better-ranked one first (``system_a``); ``delta`` is
            a minus b. ``better`` names the winner where the pair is significant.
        tests: One row per test of all systems at once.
        blocks: The scores behind the numbers. `rank`: one row per example (the index), one
            column per system. `rank_preferences`: one row per example and pair.
        lost: One row per system and example without a score, with the cause.
    """

    pairs: pd.DataFrame = field(kw_only=True)
    tests: pd.DataFrame = field(kw_only=True)
    blocks: pd.DataFrame = field(kw_only=True)
    lost: pd.DataFrame = field(kw_only=True)

    @property
    def decisive(self) -> bool:
        """Whether something separates the top: see the first lines of the conclusion."""
        return bool(self.settings["decisive"])

    @property
    def leaders(self) -> list[str]:
        """The systems that may be the best: no other is significantly better."""
        return [str(name) for name in self.table.loc[self.table["rank_low"] == 1, "system"]]

    def matrix(self, column: str = "delta") -> pd.DataFrame:
        """Arrange one column of `pairs` as a square, systems best first.

        Args:
            column: ``delta`` (row minus column, so that the two halves have opposite signs),
                ``p_value``, ``p_adjusted`` or any other numeric column of `pairs` that does not
                depend on the order of the two.

        Returns:
            Frame (systems, systems) with NaN on the diagonal.
        """
        names = list(self.table["system"])
        place = {name: i for i, name in enumerate(names)}
        square = np.full((len(names), len(names)), math.nan)
        a, b = (self.pairs[side].map(place).to_numpy() for side in ("system_a", "system_b"))
        values = self.pairs[column].to_numpy(dtype=np.float64)
        square[a, b] = values
        square[b, a] = -values if column == "delta" else values
        return pd.DataFrame(square, index=names, columns=names)

    def summary(self) -> pd.DataFrame:
        """Give the table as people read it: few columns, rounded, as text."""
        level = fmt.format_percent(1 - float(self.settings["alpha"]))
        what = str(self.settings["estimate"])
        return pd.DataFrame([_summary_row(row, what, level) for row in rows_of(self.table)])


def _summary_row(row: Row, what: str, level: str) -> dict[str, str]:
    estimate, low, high = (float(row[name]) for name in (what, "ci_low", "ci_high"))
    digits = fmt.decimals_for(estimate if math.isnan(low) else high - low)
    cells = {
        "rank": str(row["rank"]),
        "rank interval": rank_text(row),
        "system": str(row["system"]),
        what: fmt.format_number(estimate, decimals=digits),
        f"{level} CI": fmt.format_interval(low, high, decimals=digits),
    }
    if "mean_rank" in row:
        cells["mean rank"] = fmt.format_number(float(row["mean_rank"]), decimals=2)
    return {**cells, "examples": str(row["n_examples"])}


def rank_text(row: Row) -> str:
    """Write the ranks that are open to a system.

    Example:
        >>> rank_text({"rank_low": 1, "rank_high": 4}), rank_text({"rank_low": 5, "rank_high": 5})
        ('1\u20134', '5')
    """
    low, high = int(row["rank_low"]), int(row["rank_high"])
    return str(low) if low == high else f"{low}{fmt.EN_DASH}{high}"
