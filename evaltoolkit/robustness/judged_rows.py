"""The rows of a finished comparison, each with the sample behind it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd

from evaltoolkit.comparison.cells import MISSING_SLICE
from evaltoolkit.comparison.estimates import Sample
from evaltoolkit.errors import EvalToolkitError, PairingError, nearest
from evaltoolkit.results import Comparison
from evaltoolkit.robustness.rebuilding import grouping_column, key_of, samples_of
from evaltoolkit.schema import as_text
from evaltoolkit.wording import Row, rows_of, with_flags


class JudgedRow(NamedTuple):
    """One row of a comparison, with the flags that `wording.label` needs, and its pairs."""

    row: Row
    sample: Sample


def each_row(
    result: Comparison, *, criterion: str | None = None, slices: bool = False
) -> Iterator[JudgedRow]:
    """Give every overall row of a comparison, then its slices if wanted, with the samples.

    Args:
        result: A comparison of two systems.
        criterion: Only this criterion; by default all.
        slices: Whether the slices come too.
    """
    samples = samples_of(result.pairs, result)
    for row in rows_of(with_flags(result.overall)):
        if criterion in (None, row["criterion"]):
            yield JudgedRow(row, samples[key_of(row)].sample)
    if slices:
        yield from _slices(result, criterion)


def check_result(result: object, criterion: str | None) -> None:
    """Refuse what is no comparison of two systems, and criteria that it does not have.

    Raises:
        EvalToolkitError: `result` is no `Comparison` (code ``not_a_comparison``).
        PairingError: The comparison has no such criterion.
    """
    if not isinstance(result, Comparison):
        raise EvalToolkitError(
            f"a result of et.compare is needed, not {type(result).__name__}; of "
            "et.compare_to_baseline pass one of the values of result.comparisons",
            code="not_a_comparison",
            path="result",
        )
    known = result.table["criterion"].unique()
    if criterion is not None and criterion not in known:
        raise PairingError(
            f"criterion is {criterion!r}, which was not compared; {nearest(criterion, known)}",
            code="unknown_criterion",
            path="criterion",
            value=criterion,
        )


def _slices(result: Comparison, criterion: str | None) -> Iterator[JudgedRow]:
    rows = rows_of(with_flags(result.slices))
    for name, label in dict.fromkeys((row["slice_by"], row["slice"]) for row in rows):
        labels = as_text(grouping_column(result.pairs, name)).fillna(MISSING_SLICE)
        samples = samples_of(_rows(result.pairs, labels == label), result)
        for row in rows:
            wanted = criterion in (None, row["criterion"])
            if wanted and (row["slice_by"], row["slice"]) == (name, label):
                yield JudgedRow(row, samples[key_of(row)].sample)


def _rows(pairs: pd.DataFrame, wanted: pd.Series) -> pd.DataFrame:
    return pd.DataFrame(pairs[wanted.to_numpy(dtype=bool)])
