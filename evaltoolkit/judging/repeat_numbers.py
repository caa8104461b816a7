"""The numbers of `repeatability`: one row for each judge and criterion."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evaltoolkit import stats
from evaltoolkit.judging.pairs import REASONS
from evaltoolkit.judging.shifts import mean_shift
from evaltoolkit.stats import rater_resamples as resampling
from evaltoolkit.stats.repeats import (
    REPEATABILITY_FACTOR,
    pair_agreement,
    repeat_parts,
    single_iccs,
    within_spread,
)

Row = dict[str, Any]
_ENDS = ("", "_low", "_high")

COLUMNS = (
    "n_outputs", "n_blocks", "n_repeats", "n_scores", "n_once", "n_not_scored",
    *(f"exact{end}" for end in _ENDS), "exact_interval",
    *(f"flips{end}" for end in _ENDS), "flips_interval", "n_verdicts",
    *(f"within_sd{end}" for end in _ENDS),
    *(f"repeatability{end}" for end in _ENDS),
    *(f"icc{end}" for end in _ENDS),
    *(f"kappa{end}" for end in _ENDS),
    "n_complete", "mean_range", "mean_sd", "note",
)  # fmt: skip
RUN_COLUMNS = ("repeat", "n", "mean", "delta", "delta_low", "delta_high", "interval", "note")


@dataclass(frozen=True)
class Series:
    """The scores that one judge gave repeatedly for one criterion.

    Attributes:
        values: The scores of outputs that have two or more.
        output: Number of the output of each score, from 0.
        repeat: Which repeat each score is.
        blocks: The example of each output.
        verdicts: What each score amounts to; NaN where it is no verdict.
        binary: Whether scores are 0 or 1.
        outputs: One row per output.
        n_once: Outputs with fewer than two scores.
        n_not_scored: Rows without a score.
    """

    values: stats.Floats
    output: NDArray[np.intp]
    repeat: NDArray[Any]
    blocks: NDArray[np.intp]
    verdicts: stats.Floats
    binary: bool
    outputs: pd.DataFrame
    n_once: int
    n_not_scored: int

    @property
    def n(self) -> int:
        """Number of outputs."""
        return len(self.outputs)

    def complete(self) -> pd.DataFrame:
        """Give the outputs that have every repeat, one column per repeat."""
        wide = pd.Series(self.values, index=[self.output, self.repeat]).unstack()
        return wide.dropna()


def row(series: Series, *, level: float, seed: int, draws: int) -> Row:
    """Compute everything about the repeats of one judge."""
    facts: Row = {
        "n_outputs": series.n,
        "n_blocks": int(np.unique(series.blocks).size),
        "n_repeats": int(np.unique(series.repeat).size),
        "n_scores": int(series.values.size),
        "n_once": series.n_once,
        "n_not_scored": series.n_not_scored,
        "n_verdicts": 0,
        "n_complete": 0,
        "exact_interval": "none",
        "flips_interval": "none",
    }
    if not series.n:
        return facts | {"note": "no output has two scores of this judge"}
    notes: list[str] = []
    exact = pair_agreement(series.values, series.output)
    facts |= _share("exact", exact, series.blocks, level)
    facts |= _flips(series, level)
    parts = repeat_parts(series.values, series.output)
    facts |= _spread(parts, series.blocks, level, notes)
    sums = resampling.block_sums(parts, series.blocks)
    totals = resampling.resampled_totals(sums, draws=draws, seed=seed)
    icc = float(single_iccs(parts.sum(axis=0)[None])[0])
    facts |= {"icc": icc} | _ends("icc", icc, single_iccs(totals), facts["n_blocks"], level, notes)
    if series.binary:
        facts |= _kappa(series, level=level, seed=seed, draws=draws, notes=notes)
    means = series.complete().mean().to_numpy()
    facts |= {"n_complete": len(series.complete()), **_drift(means)}
    return facts | {"note": "; ".join(dict.fromkeys(notes))}


def run_rows(series: Series, *, level: float, seed: int) -> Iterator[Row]:
    """Compare the mean of each repeat to the first, on outputs that have all of them."""
    if not series.n:
        return
    wide = series.complete()
    blocks = series.blocks[wide.index.to_numpy(dtype=np.intp)]
    for place, name in enumerate(wide.columns):
        values = wide[name].to_numpy(dtype=np.float64)
        own = {"repeat": str(name), "n": len(wide), "mean": _mean(values), "interval": "none"}
        if place == 0:
            yield own | {"note": "the first repeat"}
            continue
        d = stats.snap_ties(wide.iloc[:, 0].to_numpy(dtype=np.float64), values)
        shift = mean_shift(d, blocks, level=level, seed=seed)
        ends = {"delta": shift.mean, "delta_low": shift.low, "delta_high": shift.high}
        yield own | ends | {"interval": shift.interval, "note": shift.note}


def _mean(values: stats.Floats) -> float:
    return float(values.mean()) if values.size else math.nan


def _share(name: str, shares: stats.Floats, blocks: NDArray[np.intp], level: float) -> Row:
    """Average the shares of outputs: Wilson where they are 0 or 1, else t or CR2 t."""
    own = {name: _mean(shares)}
    if np.unique(blocks).size == shares.size and bool(np.isin(shares, (0.0, 1.0)).all()):
        ends = stats.wilson(int(shares.sum()), shares.size, level=level)
        return own | {
            f"{name}_low": ends.low,
            f"{name}_high": ends.high,
            f"{name}_interval": "wilson" if shares.size else "none",
        }
    estimate = stats.cluster_mean(shares, blocks, level=level)
    if math.isnan(estimate.low):
        return own | {f"{name}_interval": "none"}
    kind = "t" if np.unique(blocks).size == shares.size else "cr2_t"
    return own | {
        f"{name}_low": max(estimate.low, 0.0),
        f"{name}_high": min(estimate.high, 1.0),
        f"{name}_interval": kind,
    }


def _flips(series: Series, level: float) -> Row:
    """Give the share of pairs of verdicts that differ, over outputs with two verdicts."""
    given = ~np.isnan(series.verdicts)
    counts = np.bincount(series.output[given], minlength=series.n)
    usable = given & (counts[series.output] > 1)
    if not usable.any():
        return {"flips_interval": "none", "n_verdicts": 0}
    outputs, codes = np.unique(series.output[usable], return_inverse=True)
    changed = 1 - pair_agreement(series.verdicts[usable], codes)
    blocks = np.unique(series.blocks[outputs], return_inverse=True)[1]
    return _share("flips", changed, blocks, level) | {"n_verdicts": int(outputs.size)}


def _spread(parts: stats.Floats, blocks: NDArray[np.intp], level: float, notes: list[str]) -> Row:
    found = within_spread(parts, blocks, level=level)
    if math.isnan(found.low):
        reason = "no score changed" if found.sd == 0 else "too few examples, or equal spreads"
        notes.append(f"no interval of the within-output SD: {reason}")
    facts = dict(zip(_ENDS, (found.sd, found.low, found.high), strict=True))
    spread = {f"within_sd{end}": value for end, value in facts.items()}
    scaled = {f"repeatability{e}": REPEATABILITY_FACTOR * v for e, v in facts.items()}
    return spread | scaled


def _ends(
    name: str, value: float, drawn: stats.Floats, blocks: int, level: float, notes: list[str]
) -> Row:
    if math.isnan(value):
        notes.append(f"{name} does not exist where all scores are equal, or for a single output")
        return {}
    found = resampling.percentile_interval(drawn, blocks=blocks, level=level)
    if found.reason:
        notes.append(f"no interval of {name}: {REASONS[found.reason]}")
    return {f"{name}_low": found.low, f"{name}_high": found.high}


def _kappa(series: Series, *, level: float, seed: int, draws: int, notes: list[str]) -> Row:
    """Give Fleiss' kappa: repeats are interchangeable, so no repeat has margins of its own."""
    wide = series.complete()
    ones = wide.to_numpy(dtype=np.float64).sum(axis=1)
    counts = np.column_stack([wide.shape[1] - ones, ones])
    if not len(wide):
        notes.append("no kappa: no output has every repeat")
        return {}
    value = stats.fleiss_kappa(counts)
    codes = np.unique(series.blocks[wide.index.to_numpy(dtype=np.intp)], return_inverse=True)[1]
    parts = resampling.block_sums(resampling.fleiss_parts(counts), codes)
    totals = resampling.resampled_totals(parts, draws=draws, seed=seed)
    drawn = resampling.fleiss_kappas(totals)
    ends = _ends("kappa", value, drawn, int(codes.max()) + 1, level, notes)
    return {"kappa": value} | ends


def _drift(means: stats.Floats) -> Row:
    if means.size < 2 or np.isnan(means).any():
        return {"mean_range": math.nan, "mean_sd": math.nan}
    return {"mean_range": float(np.ptp(means)), "mean_sd": float(np.std(means, ddof=1))}
