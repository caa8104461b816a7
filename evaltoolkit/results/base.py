"""What every result has: a tidy table, the settings that shaped it, sentences, a print form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from evaltoolkit import wording


class Printed(ABC):
    """How every result prints, from its summary, its sentences and its warnings."""

    warnings: tuple[str, ...]

    @abstractmethod
    def conclusion(self) -> str:
        """Say the result in sentences, warnings first."""

    @abstractmethod
    def summary(self) -> pd.DataFrame:
        """Give the table as people read it, as text."""

    def to_markdown(self) -> str:
        """Give the summary as a Markdown table, foreign text escaped."""
        return wording.markdown_table(self.summary())

    def to_latex(self) -> str:
        """Give the summary as a LaTeX ``tabular`` (booktabs), foreign text escaped."""
        return wording.latex_table(self.summary())

    def __str__(self) -> str:
        return self.conclusion()

    def _repr_html_(self) -> str:
        return wording.html_block(self.summary(), self.conclusion(), self.warnings)


@dataclass(frozen=True, eq=False)
class TableResult(Printed):
    """A frozen result; analyses return subclasses of it.

    Attributes:
        table: Tidy DataFrame with every number.
        settings: Every choice that shaped the numbers: names, level, seed, versions.
        text: The result in sentences, one a line.
        methods_text: The paragraph on methods.
        warnings: Sentences that stand above everything else.
    """

    table: pd.DataFrame
    settings: Mapping[str, Any]
    text: str
    methods_text: str
    warnings: tuple[str, ...] = field(default=(), kw_only=True)

    def conclusion(self) -> str:
        """Say the result in sentences, warnings first."""
        return "\n".join([*(f"Note: {w}" for w in self.warnings), self.text])

    def methods(self) -> str:
        """Give the paragraph on methods for a paper or report."""
        return self.methods_text

    def summary(self) -> pd.DataFrame:
        """Give the table as people read it: rounded, as text."""
        return wording.rounded_table(self.table)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.table)} rows)"
