"""From a finished comparison back to the samples behind its rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evaltoolkit.comparison.estimates import Sample
from evaltoolkit.comparison.pairing import HYPOTHESIS, SIDES, attribute_name
from evaltoolkit.criteria import CriterionInfo
from evaltoolkit.results import Comparison
from evaltoolkit.wording import Row, rows_of

Key = tuple[str, ...]
"""Task, criterion and scorer of a hypothesis."""


def info_of(row: Row) -> CriterionInfo:
    """Rebuild what is known of a criterion from a row of `Comparison.table`."""
    return CriterionInfo(
        criterion=str(row["criterion"]),
        kind=str(row["kind"]),
        kind_from="declared",
        higher_is_better=bool(row["higher_is_better"]),
        direction_from="declared",
        lower_bound=float(row["lower_bound"]),
        upper_bound=float(row["upper_bound"]),
        bounds_from="declared",
        threshold=math.nan,
        weight=math.nan,
        blocking=bool(row["blocking"]),
        self_referenced=bool(row["self_referenced"]),
    )


def key_of(row: Mapping[Any, Any]) -> Key:
    """Name the hypothesis of a row."""
    return tuple(str(row[name]) for name in HYPOTHESIS)


def grouping_column(pairs: pd.DataFrame, name: str) -> pd.Series:
    """Take the values of an attribute, or of the examples' task, from `Comparison.pairs`."""
    if name == "task":
        return pairs["task_of_example" if "task_of_example" in pairs.columns else "task"]
    return pairs[attribute_name(name)]


class Rebuilt(NamedTuple):
    """A sample and, for each of its pairs, how it was measured.

    Attributes:
        sample: The pairs, in the order of their examples.
        imputed: Whether the pair is a lost one that was filled in.
        repeated: Whether a side has several scored trials.
    """

    sample: Sample
    imputed: NDArray[np.bool_]
    repeated: NDArray[np.bool_]

    def take(self, rows: NDArray[np.intp]) -> Sample:
        """Make a sample of some of the pairs, in the given order."""
        whole = self.sample
        return replace(
            whole,
            units=whole.units[rows],
            baseline=whole.baseline[rows],
            candidate=whole.candidate[rows],
            clusters=own_clusters(whole.clusters, rows),
            single_trial=not self.repeated[rows].any(),
        )


def samples_of(pairs: pd.DataFrame, result: Comparison) -> dict[Key, Rebuilt]:
    """Rebuild the sample of each overall hypothesis.

    Args:
        pairs: Rows like those of ``result.pairs``; a hypothesis may have none.
        result: The comparison that says what is known of criteria and clusters.
    """
    infos = {key_of(row): info_of(row) for row in rows_of(result.overall)}
    units = example_numbers(pairs)
    clusters = cluster_numbers(pairs, units, result)
    rows: dict[Any, Any] = dict(pairs.groupby(HYPOTHESIS, sort=False).indices)
    nothing = np.empty(0, dtype=np.intp)
    baseline, candidate = (pairs[side].to_numpy(dtype=np.float64) for side in SIDES)
    trials = pairs[["n_trials_baseline", "n_trials_candidate"]].to_numpy(dtype=np.int64)
    repeated = np.greater(trials, 1).any(axis=1)
    imputed = pairs["imputed"].to_numpy(dtype=np.bool_)
    found = {}
    for key, info in infos.items():
        own = rows.get(key, nothing)
        own = own[np.argsort(units[own], kind="stable")]
        codes = own_clusters(clusters, own)
        single = not repeated[own].any()
        sample = Sample(info, units[own], baseline[own], candidate[own], codes, single)
        found[key] = Rebuilt(sample, imputed[own], repeated[own])
    return found


def own_clusters(
    clusters: NDArray[np.int64] | None, rows: NDArray[np.intp]
) -> NDArray[np.int64] | None:
    """Take the clusters of some pairs; None where each pair is a cluster of its own."""
    if clusters is None:
        return None
    own = clusters[rows]
    return own if np.unique(own).size < own.size else None


def example_numbers(pairs: pd.DataFrame) -> NDArray[np.int64]:
    """Number the examples of pairs in the order of their names, as `compare` does."""
    names = [grouping_column(pairs, "task").astype("str"), pairs["example_id"].astype("str")]
    numbers = pd.DataFrame(dict(enumerate(names))).groupby([0, 1], sort=True).ngroup()
    return np.array(numbers, dtype=np.int64)


def cluster_numbers(
    pairs: pd.DataFrame, units: NDArray[np.int64], result: Comparison
) -> NDArray[np.int64] | None:
    """Number the clusters of pairs; an example without one is a cluster of its own."""
    name = result.settings["cluster"]
    if name is None:
        return None
    factors = pd.factorize(grouping_column(pairs, name).astype("str"), sort=True)[0]
    codes: NDArray[np.int64] = np.array(factors, dtype=np.int64)
    alone = codes < 0
    codes[alone] = codes.max(initial=-1) + 1 + units[alone]
    return codes
