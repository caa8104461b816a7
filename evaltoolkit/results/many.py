"""The result of `compare_to_baseline`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from evaltoolkit.formatting import counted
from evaltoolkit.results.base import Printed
from evaltoolkit.results.comparison import Comparison


@dataclass(frozen=True, eq=False)
class BaselineComparison(Printed):
    """Several candidates compared with one baseline, all adjusted together.

    Attributes:
        comparisons: A `Comparison` for each candidate, by name; their adjusted p-values and
            joint intervals hold over all of them.
        warnings: Sentences that stand above every verdict.
    """

    comparisons: Mapping[str, Comparison]
    warnings: tuple[str, ...] = ()

    @property
    def baseline(self) -> str:
        """Name of the baseline system."""
        return next(iter(self.comparisons.values())).baseline

    @property
    def settings(self) -> Mapping[str, object]:
        """The choices that all comparisons share, and the candidates."""
        first = dict(next(iter(self.comparisons.values())).settings)
        first.pop("candidate")
        return {**first, "candidates": list(self.comparisons)}

    @property
    def table(self) -> pd.DataFrame:
        """The rows of all comparisons, with the column ``candidate`` first."""
        parts = [result.table.assign(candidate=name) for name, result in self.comparisons.items()]
        table = pd.concat(parts, ignore_index=True)
        return table[["candidate", *[name for name in table.columns if name != "candidate"]]]

    def conclusion(self) -> str:
        """Say the results of all candidates in sentences, warnings first."""
        lines = [f"Note: {text}" for text in self.warnings]
        for result in self.comparisons.values():
            said = result.conclusion().splitlines()
            lines += [line for line in said if not line.startswith("Note: ")]
        return "\n".join(lines)

    def methods(self) -> str:
        """Write the paragraph on methods for a paper or report."""
        first = next(iter(self.comparisons.values()))
        names = ", ".join(self.comparisons)
        return (
            f"{counted(len(self.comparisons), 'candidate')} ({names}) were compared with the "
            "baseline; the hypotheses of all of them were adjusted together, with the signs of an "
            f"example flipped for all at once. For the first of them: {first.methods()}"
        )

    def summary(self) -> pd.DataFrame:
        """Give the table as people read it: few columns, rounded, as text."""
        parts = [result.summary() for result in self.comparisons.values()]
        for name, part in zip(self.comparisons, parts, strict=True):
            # The common column "candidate" holds a mean, so the name gets its own.
            part.insert(0, "system", name)
        return pd.concat(parts, ignore_index=True)

    def __repr__(self) -> str:
        return (
            f"BaselineComparison({counted(len(self.comparisons), 'candidate')} against "
            f"{self.baseline!r})"
        )
