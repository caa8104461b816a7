"""The scores of one criterion side by side: one row per judged output, one column per scorer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evaltoolkit import stats
from evaltoolkit.criteria import CriterionInfo
from evaltoolkit.errors import PairingError
from evaltoolkit.judging.selection import UNIT, block_codes, scorers_text

Level = Literal["nominal", "ordinal", "interval"]

MAX_GRADES = 101
"""More distinct values than this are no grades (0 to 100 fits)."""

_LEVELS: dict[str, Level] = {"binary": "nominal", "ordinal": "ordinal", "continuous": "interval"}


@dataclass(frozen=True)
class Ratings:
    """The scores of several scorers on the same outputs.

    Attributes:
        scores: One row per judged output (index: its key), one column per scorer; NaN where
            the scorer gave no score.
        present: Whether the scorer has a row there, scored or not.
        blocks: Number of the example (or cluster) of each row.
        by_cluster: Whether blocks are clusters of examples.
        grades: All grades of the scale, in order.
        level: How grades are compared.
    """

    scores: pd.DataFrame
    present: pd.DataFrame
    blocks: NDArray[np.intp]
    by_cluster: bool
    grades: stats.Floats
    level: Level

    @property
    def scorers(self) -> list[str]:
        """Names of the scorers, in order."""
        return [str(name) for name in self.scores.columns]

    @property
    def independent(self) -> bool:
        """Whether every row is an example of its own."""
        return bool(np.unique(self.blocks).size == self.blocks.size)

    def part(self, rows: NDArray[np.bool_], scorers: Sequence[str]) -> Ratings:
        """Keep some rows and scorers, the grades as they are."""
        blocks = np.unique(self.blocks[rows], return_inverse=True)[1].astype(np.intp)
        names = list(scorers)
        return Ratings(
            self.scores.loc[rows, names],
            self.present.loc[rows, names],
            blocks,
            self.by_cluster,
            self.grades,
            self.level,
        )

    def codes(self) -> NDArray[np.intp]:
        """Give each score the number of its grade; -1 where there is none."""
        values = self.scores.to_numpy()
        found = np.searchsorted(self.grades, np.nan_to_num(values))
        codes: NDArray[np.intp] = np.where(np.isnan(values), -1, found).astype(np.intp)
        return codes

    def grade_counts(self) -> stats.Floats:
        """Count, for each row, how many scorers gave each grade."""
        codes = self.codes()
        counts = np.zeros((len(codes), self.grades.size))
        rows, columns = np.nonzero(codes >= 0)
        np.add.at(counts, (rows, codes[rows, columns]), 1.0)
        return counts


def side_by_side(
    rows: pd.DataFrame,
    clusters: pd.Series | None,
    *,
    info: CriterionInfo,
    level: Level | None,
    scorers: Sequence[str],
) -> Ratings:
    """Put the scores of the scorers side by side.

    Raises:
        PairingError: Fewer than two scorers, no output that two of them judged, or a criterion
            with too many values for grades.
    """
    if len(scorers) < 2:
        raise PairingError(
            f"agreement needs two scorers of the criterion {info.criterion!r}; the rows have "
            f"{scorers_text(rows)}. Attach labels of people with et.attach_labels(...)",
            code="one_scorer",
            path="scorers",
            value=list(scorers),
        )
    keyed = rows.assign(versus=rows["versus"].fillna("")).set_index([*UNIT, "scorer"])["score"]
    present = keyed.isna().unstack("scorer").sort_index()[list(scorers)].notna()
    scores = keyed.unstack("scorer").sort_index()[list(scorers)]
    if not (scores.notna().sum(axis=1) > 1).any():
        raise _never_meet(rows, scores, present)
    scores = _merged(scores)
    chosen = level or _LEVELS[info.kind]
    blocks = block_codes(scores.index.to_frame(index=False), clusters)
    grades = _grades(scores, info, chosen)
    return Ratings(scores, present, blocks, clusters is not None, grades, chosen)


def _never_meet(rows: pd.DataFrame, scores: pd.DataFrame, present: pd.DataFrame) -> PairingError:
    both = int((present.sum(axis=1) > 1).sum())
    if both:
        text = f"share {both} outputs, but on none of them two gave a score"
    else:
        names = [n for n in ("run_id", "trial") if scores.index.get_level_values(n).nunique() > 1]
        hint = f" (they differ in {' and '.join(names)})" if names else ""
        text = f"never judged the same run, system, task, example and trial{hint}"
    return PairingError(
        f"the scorers {text}: {scorers_text(rows)}. Check that ids are named alike; labels of "
        "people are attached with et.attach_labels(...)",
        code="no_common_output",
        path="scorers",
    )


def _merged(scores: pd.DataFrame) -> pd.DataFrame:
    values = scores.to_numpy(copy=True)
    given = ~np.isnan(values)
    values[given] = stats.merge_near(values[given])
    return pd.DataFrame(values, index=scores.index, columns=scores.columns)


def _grades(scores: pd.DataFrame, info: CriterionInfo, level: Level) -> stats.Floats:
    values = scores.to_numpy()
    seen = np.unique(values[~np.isnan(values)])
    if info.kind == "binary":
        return np.array([0.0, 1.0])
    if info.kind == "ordinal" and level != "nominal" and np.all(seen == np.floor(seen)):
        ends = [*seen[[0, -1]], info.lower_bound, info.upper_bound]
        scale = np.arange(np.floor(np.nanmin(ends)), np.ceil(np.nanmax(ends)) + 1)
        seen = scale if scale.size <= MAX_GRADES else seen
    if level != "interval" and seen.size > MAX_GRADES:
        raise PairingError(
            f"the criterion {info.criterion!r} has {seen.size} distinct scores, which are no "
            f"grades at level {level!r}; use level='interval', or round the scores",
            code="too_many_grades",
            path="level",
            value=int(seen.size),
        )
    return seen
