"""The result of `compare`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit import method_texts, wording
from evaltoolkit.results.base import Printed
from evaltoolkit.results.clashing import clash_sentences

COMPARISON_COLUMNS = (
    "task",
    "criterion",
    "scorer",
    "slice_by",
    "slice",
    "n_pairs",
    "n_clusters",
    "n_unscored",
    "n_scorer_error",
    "n_system_error",
    "n_unpaired",
    "n_trials_lost",
    "mean_baseline",
    "mean_candidate",
    "delta",
    "se",
    "df",
    "ci_low",
    "ci_high",
    "interval",
    "joint_low",
    "joint_high",
    "wins",
    "losses",
    "ties",
    "effect_size",
    "effect_size_name",
    "test",
    "p_value",
    "p_adjusted",
    "correction",
    "family",
    "mde",
    "within_margin",
    "verdict",
    "note",
    # What the verdict rests on beside the above, so that it can be checked from the table.
    "kind",
    "higher_is_better",
    "blocking",
    "self_referenced",
    "lower_bound",
    "upper_bound",
    "margin",
    "margin_low",
    "margin_high",
    "p_equivalence",
    "p_noninferiority",
    "n_imputed",
)
"""Columns of `Comparison.table`, in order."""

VERDICTS = (
    "improved",
    "regressed",
    "equivalent",
    "noninferior",
    "inconclusive",
    "not_measured",
)
"""What can be said of one hypothesis."""


@dataclass(frozen=True, eq=False)
class Comparison(Printed):
    """A candidate compared with a baseline on the same examples.

    Attributes:
        table: One row per hypothesis (task, criterion, scorer) and slice; see
            `COMPARISON_COLUMNS`. ``delta`` is always candidate minus baseline.
        pairs: One row per pair: hypothesis, example, cluster, both means, delta, outcome
            (``win``, ``loss``, ``tie``), numbers of trials, attributes.
        lost: One row per example that gave no pair, with the cause.
        settings: Every choice that shaped the numbers.
        warnings: Sentences that stand above every verdict.
    """

    table: pd.DataFrame
    pairs: pd.DataFrame
    lost: pd.DataFrame
    settings: Mapping[str, Any]
    warnings: tuple[str, ...] = field(default=())

    @property
    def baseline(self) -> str:
        """Name of the baseline system."""
        return str(self.settings["baseline"])

    @property
    def candidate(self) -> str:
        """Name of the candidate system."""
        return str(self.settings["candidate"])

    @property
    def overall(self) -> pd.DataFrame:
        """The rows of the table that are no slices."""
        return self.table[self.table["slice_by"].isna()]

    @property
    def slices(self) -> pd.DataFrame:
        """The rows of the table that are slices."""
        return self.table[self.table["slice_by"].notna()]

    def flips(self) -> pd.DataFrame:
        """List the examples that newly fail or are newly fixed.

        Where a criterion is binary, an example passes when more than half of its trials score 1;
        where it has a threshold, when its mean reaches it. Criteria without either are left out.

        Returns:
            Rows of `pairs` with a column ``flip`` (``newly_failing`` or ``newly_fixed``),
            failing ones first.
        """
        pairs = self.pairs[self.pairs["passes_at"].notna()]
        before, after = (_passes(pairs, side) for side in ("baseline", "candidate"))
        flip = np.select([before & ~after, ~before & after], ["newly_failing", "newly_fixed"], "")
        found = pairs.assign(flip=flip)[flip != ""]
        order = ["flip", "task", "criterion", "scorer", "example_id"]
        return pd.DataFrame(found.sort_values(order, kind="stable").reset_index(drop=True))

    def worst(self, criterion: str | None = None, *, count: int = 10) -> pd.DataFrame:
        """List the pairs in which the candidate loses most.

        Args:
            criterion: Only this criterion; by default all.
            count: At most this many rows.

        Returns:
            Rows of `pairs`, largest loss first (in the criterion's own direction).
        """
        pairs = self.pairs
        if criterion is not None:
            pairs = pairs[pairs["criterion"] == criterion]
        losses = pairs[pairs["outcome"] == "loss"]
        size = losses["delta"].abs()
        order = size.sort_values(ascending=False, kind="stable").index
        return losses.loc[order].head(count).reset_index(drop=True)

    def conclusion(self) -> str:
        """Say in sentences which criteria changed, by how much, how sure, and what was left out."""
        said = wording.conclusion(self.table, self.settings, self.warnings)
        losses = self.worst(count=len(self.pairs))
        return "\n".join([said, *clash_sentences(self.table, losses)])

    def methods(self) -> str:
        """Write the paragraph on methods for a paper or report."""
        return method_texts.methods(self.table, self.settings)

    def summary(self) -> pd.DataFrame:
        """Give the table as people read it: few columns, rounded, as text."""
        return wording.summary_table(self.table, self.settings)

    def __repr__(self) -> str:
        return (
            f"Comparison({self.candidate!r} against {self.baseline!r}: "
            f"{fmt.counted(len(self.overall), 'hypothesis', 'hypotheses')}, "
            f"{fmt.counted(len(self.slices), 'slice')})"
        )


def _passes(pairs: pd.DataFrame, side: str) -> pd.Series:
    higher = pairs["higher_is_better"].astype(bool)
    reached = pairs[side] >= pairs["passes_at"]
    below = pairs[side] <= pairs["passes_at"]
    return reached.where(higher, below)
