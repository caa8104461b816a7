"""Which rows can share an axis, how far the axis reaches, and how its numbers are written."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evaltoolkit import formatting as fmt

UNIT = ("unit",)
_OWN_PANELS = 4
"""Up to this many criteria without bounds get a panel each; more are grouped by size."""
_SAME_SIZE = 10.0
"""Sizes within this factor can be read on one axis."""
_OUTLIER = 6.0
"""A row that reaches this many times as far as the middle row may be cut at the axis."""
_OUTLIER_SHARE = 0.25
_MARGIN = 1.08
_ENDS = ["delta", "ci_low", "ci_high", "joint_low", "joint_high"]


def scale_keys(
    rows: pd.DataFrame, pairs: pd.DataFrame, *, separate: bool = False
) -> list[Hashable]:
    """Say for each row which axis it belongs to: equal keys share one.

    Scores between -1 and 1 share an axis, so do equal known bounds and rating scales. A
    criterion without bounds (seconds, tokens) gets its own.

    Args:
        rows: Rows of a comparison's table.
        pairs: Its pairs; their range stands in for bounds that are not declared.
        separate: Never put criteria without bounds on one axis, however many there are.
    """
    ranges = _observed_ranges(pairs)
    keys = [_scale_of(row, ranges) for row in rows.to_dict("records")]
    own = {key for key in keys if key[0] == "own"}
    if separate or len(own) <= _OWN_PANELS:
        return list(keys)
    return _grouped_by_size(keys, extents(rows))


def _observed_ranges(pairs: pd.DataFrame) -> dict[str, tuple[float, float]]:
    if pairs.empty:
        return {}
    sides = pairs[["baseline", "candidate"]].astype(float)
    by = [pairs["criterion"]]
    low = sides.min(axis=1).groupby(by).min()
    high = sides.max(axis=1).groupby(by).max()
    return {str(name): (float(low[name]), float(high[name])) for name in low.index}


def _scale_of(
    row: dict[Hashable, object], ranges: dict[str, tuple[float, float]]
) -> tuple[object, ...]:
    criterion = str(row["criterion"])
    lower, upper = (float(str(row[name])) for name in ("lower_bound", "upper_bound"))
    known = math.isfinite(lower) and math.isfinite(upper)
    low, high = (lower, upper) if known else ranges.get(criterion, (-math.inf, math.inf))
    if row["kind"] == "binary" or (low >= -1 and high <= 1):
        return UNIT
    if known:
        return ("bounds", lower, upper)
    return ("rating",) if row["kind"] == "ordinal" else ("own", criterion)


def _grouped_by_size(keys: Sequence[tuple[object, ...]], sizes: np.ndarray) -> list[Hashable]:
    size: dict[tuple[object, ...], float] = {}
    for key, extent in zip(keys, sizes, strict=True):
        size[key] = max(size.get(key, 0.0), float(extent))
    group: dict[tuple[object, ...], tuple[object, ...]] = {}
    start = 0.0
    for key in sorted((k for k in size if k[0] == "own"), key=lambda k: size[k]):
        if size[key] > _SAME_SIZE * start:
            start = size[key]
        group[key] = ("size", start)
    return [group.get(key, key) for key in keys]


def extents(rows: pd.DataFrame) -> np.ndarray:
    """Return how far each row reaches from zero; 0 where it has no number."""
    ends = rows[_ENDS].to_numpy(dtype=float)
    finite = np.where(np.isfinite(ends), np.abs(ends), 0.0)
    reach: np.ndarray = finite.max(axis=1, initial=0.0)
    return reach


@dataclass(frozen=True)
class Limits:
    """The two ends of an axis."""

    low: float
    high: float

    def cuts(self, value: float) -> bool:
        """Say whether a value lies beyond the axis."""
        return value < self.low or value > self.high


def limits_of(rows: pd.DataFrame) -> Limits:
    """Choose the ends of a difference axis: zero inside, single far outliers cut.

    Args:
        rows: The rows of one panel, with ``delta``, intervals and ``margin``.
    """
    reach = extents(rows)
    kept = rows[reach <= _cap(reach)]
    margin = kept["margin"].dropna().to_numpy(dtype=float)
    values = np.concatenate([kept[_ENDS].to_numpy(dtype=float).ravel(), margin, -margin, [0.0]])
    values = values[np.isfinite(values)]
    low, high = float(values.min()), float(values.max())
    span = (high - low) or 1.0
    pad = (_MARGIN - 1) * span
    # Zero stands free of the edge even where every row lies on one side of it.
    return Limits(min(low - pad, -0.12 * span), max(high + pad, 0.12 * span))


def _cap(reach: np.ndarray) -> float:
    present = reach[reach > 0]
    if present.size < 3:
        return math.inf
    cap = _OUTLIER * float(np.median(present))
    beyond = int((present > cap).sum())
    return cap if 0 < beyond <= _OUTLIER_SHARE * present.size else math.inf


def tick_text(value: float, step: float) -> str:
    """Write a number on an axis: as many decimals as its step needs, thousands shortened.

    Example:
        >>> tick_text(-0.25, 0.25), tick_text(20000, 10000), tick_text(1500000, 500000)
        ('−0.25', '20k', '1.5M')
    """
    if abs(value) < 1e-9 * step:
        return "0"
    for size, suffix, least in ((1e6, "M", 5e5), (1e3, "k", 1e3)):
        if step >= least:
            return tick_text(value / size, step / size) + suffix
    decimals = next((d for d in range(7) if abs(round(step, d) - step) < 1e-9 * step), 6)
    return fmt.format_number(value, decimals=decimals)
