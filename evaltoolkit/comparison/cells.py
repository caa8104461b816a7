"""From paired units to the samples of hypotheses and slices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evaltoolkit.comparison.estimates import Sample
from evaltoolkit.comparison.pairing import CAUSES, HYPOTHESIS
from evaltoolkit.criteria import CriterionInfo
from evaltoolkit.schema import as_text

MISSING_SLICE = "(missing)"
"""Name of the slice of examples that lack the attribute."""

Cell = tuple[dict[str, Any], Sample]
"""Names and accounting of one hypothesis or slice, and its pairs."""


class _Columns:
    """The units as arrays, so that many slices cost no pandas overhead each."""

    def __init__(self, units: pd.DataFrame) -> None:
        self.cause = units["cause"].to_numpy(dtype=np.int64)
        imputed = units["imputed"].to_numpy(dtype=np.bool_)
        self.used: NDArray[np.bool_] = np.logical_or(np.equal(self.cause, 0), imputed)
        self.imputed = imputed
        self.baseline = units["baseline"].to_numpy(dtype=np.float64)
        self.candidate = units["candidate"].to_numpy(dtype=np.float64)
        self.unit = units["unit"].to_numpy(dtype=np.int64)
        trials = units[["n_trials_baseline", "n_trials_candidate"]].to_numpy()
        self.repeated: NDArray[np.bool_] = np.greater(trials, 1).any(axis=1)
        self.trials_lost = units[["lost_baseline", "lost_candidate"]].to_numpy().sum(axis=1)
        self.clusters: NDArray[np.int64] | None = None
        if "cluster_code" in units.columns:
            self.clusters = units["cluster_code"].to_numpy(dtype=np.int64)

    def cell(self, head: dict[str, Any], rows: NDArray[np.intp], info: CriterionInfo) -> Cell:
        """Take the rows of one hypothesis or slice."""
        used = rows[self.used[rows]]
        lost = np.bincount(self.cause[rows[~self.used[rows]]], minlength=len(CAUSES))
        counts = {f"n_{cause}": int(lost[code]) for code, cause in enumerate(CAUSES) if cause}
        sample = Sample(
            criterion=info,
            units=self.unit[used],
            baseline=self.baseline[used],
            candidate=self.candidate[used],
            clusters=self._clusters(used),
            single_trial=not self.repeated[used].any(),
        )
        counts["n_trials_lost"] = int(self.trials_lost[used].sum())
        counts["n_imputed"] = int(self.imputed[used].sum())
        return {**head, **counts}, sample

    def _clusters(self, rows: NDArray[np.intp]) -> NDArray[np.int64] | None:
        if self.clusters is None:
            return None
        codes = self.clusters[rows]
        return codes if np.unique(codes).size < codes.size else None


def cells_of(
    units: pd.DataFrame,
    columns_of: Mapping[str, str],
    criteria: dict[str, CriterionInfo],
    *,
    slices: Sequence[str],
    order: Sequence[str] | None,
) -> Iterator[Cell]:
    """Give each hypothesis, then each slice, its names, accounting and pairs.

    Args:
        units: Paired units with attributes, sorted by hypothesis and example.
        columns_of: Column of the units for each attribute to slice by.
        criteria: What is known of each criterion.
        slices: Attributes to slice by.
        order: Criteria in the order in which they shall come; by default alphabetical.
    """
    columns = _Columns(units)
    groups: dict[Any, Any] = dict(units.groupby(HYPOTHESIS, sort=True).indices)
    keys = sorted(groups)
    if order is not None:
        keys.sort(key=lambda key: list(order).index(key[1]))
    heads = {key: dict(zip(HYPOTHESIS, key, strict=True)) for key in keys}
    for key in keys:
        head = {**heads[key], "slice_by": None, "slice": None}
        yield columns.cell(head, np.sort(groups[key]), criteria[key[1]])
    for name in slices:
        labels, codes = _slice_codes(units[columns_of[name]])
        for key in keys:
            rows = np.sort(groups[key])
            for code in np.unique(codes[rows]):
                head = {**heads[key], "slice_by": name, "slice": labels[code]}
                yield columns.cell(head, rows[codes[rows] == code], criteria[key[1]])


def _slice_codes(values: pd.Series) -> tuple[list[str], NDArray[np.intp]]:
    """Number the slices in the order of their values (numbers as numbers), missing ones last."""
    codes, distinct = pd.factorize(values, sort=True)
    labels = [*as_text(pd.Series(distinct, dtype=object)), MISSING_SLICE]
    return labels, np.where(codes < 0, len(labels) - 1, codes)
