"""`combine_criteria`: the weighted mean over criteria as a criterion of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd

from evaltoolkit.composites.carried_over import (
    check_new_name,
    check_one_form,
    codes_of_measurements,
    one_row_each,
)
from evaltoolkit.composites.parts import SCORER, Parts, parts_of
from evaltoolkit.errors import SchemaError, listed, warn
from evaltoolkit.formatting import counted, format_percent
from evaltoolkit.schema import STATUS_DTYPE, STATUSES
from evaltoolkit.scores import check_scores

ABSENT = len(STATUSES)
"""Code of a part that has no row at all; the codes below are positions in `STATUSES`."""

_NAMES = (*STATUSES, "absent")


def combine_criteria(  # noqa: PLR0913 - every choice of the analysis is a keyword of its own
    scores: pd.DataFrame,
    *,
    weights: Mapping[str, float] | None = None,
    name: str = "composite",
    scorers: Mapping[str, str] | None = None,
    rescale: Literal["bounds", "none", "raw"] = "bounds",
    min_coverage: float = 1.0,
    keep: bool = True,
) -> pd.DataFrame:
    """Combine criteria into one: per measurement the weighted mean of their scores.

    The composite is an ordinary criterion, so ``compare(combine_criteria(scores, ...), ...)``
    tests it as a hypothesis of its own, with an interval that knows how the parts go together.

    Where a part is not scored, the mean is over the other parts as long as these carry the share
    `min_coverage` of the weight; the message of such a row says what is missing. Below it the
    composite is not scored and takes the status of its worst part (system_error > scorer_error >
    unscored). A mean over fewer parts is another quantity: with ``min_coverage`` below 1 the two
    sides of a pair may rest on different criteria.

    Args:
        scores: A score table.
        weights: Weight of each criterion that counts, positive; others are left out. By default
            the column ``weight``, which must then be filled for all, else equal weights of all
            criteria that are not themselves composites.
        name: Name of the new criterion.
        scorers: The scorer that counts, for each criterion that has several.
        rescale: ``"bounds"`` maps each criterion to 0 (worst) to 1 (best) by its bounds and
            direction, known or declared; ``"none"`` takes the scores as they are and refuses
            criteria of different direction or visibly different scale; ``"raw"`` refuses only
            different directions.
        min_coverage: Least share of the weight that must be scored, above 0 up to 1.
        keep: Append the composite to the table; else return it alone.

    Returns:
        A checked score table. ``attrs["coverage"]`` says, per composite, how many measurements
        were full, partial and not scored, and per criterion its weight and the count of each
        status (``absent``: no row).

    Raises:
        SchemaError: The table breaks a rule, names are unknown or taken, weights are not
            positive, a criterion has several scorers, or scales cannot be brought together.

    Example:
        >>> table = pd.DataFrame({"system": "a", "example_id": [1, 1, 2, 2],
        ...     "criterion": ["correct", "polite"] * 2, "score": [1.0, 1.0, 1.0, 0.0]})
        >>> both = combine_criteria(table, weights={"correct": 3, "polite": 1}, keep=False)
        >>> both[["example_id", "criterion", "score"]].values.tolist()
        [['1', 'composite', 1.0], ['2', 'composite', 0.75]]
    """
    table = check_scores(scores)
    check_new_name(table, name)
    _check_coverage(min_coverage)
    parts = parts_of(table, weights=weights, scorers=scorers, rescale=rescale)
    rows = table[table["scorer"] == table["criterion"].map(parts.scorers)]
    check_one_form(rows)
    cells = _Cells(rows, parts, min_coverage)
    composite = _composite_rows(rows, cells, parts, name=name, partial=min_coverage < 1)
    _warn(cells, parts, name)
    out = pd.concat([table, composite], ignore_index=True) if keep else composite
    out = check_scores(out)
    earlier = scores.attrs.get("coverage", {}) if keep else {}
    out.attrs = {**scores.attrs, "coverage": {**earlier, name: cells.counts(parts)}}
    return out


def _check_coverage(min_coverage: float) -> None:
    if not 0 < min_coverage <= 1:
        raise SchemaError(
            f"min_coverage is {min_coverage!r}; it must be above 0 and at most 1",
            code="bad_option",
            path="min_coverage",
            value=min_coverage,
        )


class _Cells:
    """The parts side by side: one line per measurement, one column per criterion."""

    def __init__(self, rows: pd.DataFrame, parts: Parts, min_coverage: float) -> None:
        self.code = codes_of_measurements(rows)
        column = rows["criterion"].map({n: j for j, n in enumerate(parts.names)}).to_numpy()
        shape = (int(self.code.max(initial=-1)) + 1, len(parts.names))
        values = np.full(shape, np.nan)
        values[self.code, column] = rows["score"].to_numpy()
        self.status = np.full(shape, ABSENT)
        self.status[self.code, column] = rows["status"].cat.codes.to_numpy()
        scored = self.status == 0
        shares = parts.shares
        self.coverage = scored @ shares
        total = np.where(scored, parts.scaled(values), 0.0) @ shares
        self.enough = (self.coverage >= min_coverage - 1e-9) & scored.any(axis=1)
        self.score = np.full(shape[0], np.nan)
        np.divide(total, self.coverage, out=self.score, where=self.enough)
        self.partial = self.enough & ~scored.all(axis=1)

    def statuses(self) -> pd.Series:
        """Status of each composite; a part without a row counts as unscored."""
        worst = np.where(self.status == ABSENT, STATUSES.index("unscored"), self.status)
        codes = np.where(self.enough, 0, worst.max(axis=1))
        return pd.Series(pd.Categorical.from_codes(codes, dtype=STATUS_DTYPE))

    def messages(self, names: list[str]) -> list[str | None]:
        """Say which parts are missing, and how much weight is left."""
        out: list[str | None] = [None] * len(self.score)
        for i in np.flatnonzero((self.status != 0).any(axis=1)):
            line = self.status[i]
            causes = [f"{names[j]} {_cause(line[j])}" for j in np.flatnonzero(line)]
            out[i] = f"{format_percent(self.coverage[i])} of the weight scored: " + ", ".join(
                causes
            )
        return out

    def counts(self, parts: Parts) -> dict[str, Any]:
        """Count measurements by what became of them, and criteria by status."""
        full = self.enough & ~self.partial
        return {
            "n": len(self.score),
            "full": int(full.sum()),
            "partial": int(self.partial.sum()),
            "unscored": int((~self.enough).sum()),
            "criteria": {
                name: {
                    "weight": parts.weights[name],
                    **{_NAMES[s]: int((self.status[:, j] == s).sum()) for s in range(ABSENT + 1)},
                }
                for j, name in enumerate(parts.names)
            },
        }


def _cause(code: int) -> str:
    return "has no row" if code == ABSENT else _NAMES[code].replace("_", " ")


def _composite_rows(
    rows: pd.DataFrame, cells: _Cells, parts: Parts, *, name: str, partial: bool
) -> pd.DataFrame:
    lower, upper = parts.bounds(partial=partial)
    frame = one_row_each(rows, cells.code).assign(
        criterion=name,
        scorer=f"{SCORER} {counted(len(parts.names), 'criterion', 'criteria')}",
        score=cells.score,
        status=cells.statuses(),
        message=pd.Series(cells.messages(parts.names), dtype=object),
        kind="continuous",
        higher_is_better=parts.higher_is_better,
        lower_bound=lower,
        upper_bound=upper,
    )
    if any(info.self_referenced for info in parts.facts.values()):
        frame["self_referenced"] = True
    if not any(info.blocking for info in parts.facts.values()):
        frame["blocking"] = False
    return frame


def _warn(cells: _Cells, parts: Parts, name: str) -> None:
    absent = (cells.status == ABSENT).sum(axis=0)
    lacking = [f"{n} in {int(k)}" for n, k in zip(parts.names, absent, strict=True) if k]
    if lacking:
        warn(
            f"of {counted(len(cells.score), 'measurement')} these criteria have no row: "
            f"{listed(lacking)}. Parts meet where run_id, system, task, example_id and trial are "
            f"equal; {int((~cells.enough).sum())} of the values of {name!r} are not scored",
            stacklevel=4,
        )
    if cells.partial.any():
        warn(
            f"{int(cells.partial.sum())} of {counted(int(cells.enough.sum()), 'value')} of "
            f"{name!r} rest on part of the weight (min_coverage below 1), so that they are means "
            "over different criteria; the column message says which parts are missing",
            stacklevel=4,
        )
