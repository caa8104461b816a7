"""How all scorers of a criterion agree: one row per coefficient."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from evaltoolkit import stats
from evaltoolkit.judging.pairs import REASONS, Draws, Row
from evaltoolkit.judging.ratings import Ratings
from evaltoolkit.stats import rater_resamples as resampling


def overall_rows(ratings: Ratings, draws: Draws) -> Iterator[Row]:
    """Compute the coefficients over all scorers that fit the level of the criterion."""
    given = ratings.scores.notna().to_numpy(dtype=np.bool_)
    complete = ratings.part(given.sum(axis=1) == len(ratings.scorers), ratings.scorers)
    some = ratings.part(given.sum(axis=1) > 1, ratings.scorers)
    yield _alpha(some, draws)
    if ratings.level != "interval":
        yield _fleiss(complete, draws)
    if ratings.level != "nominal":
        yield from _iccs(complete, draws)


def _row(name: str, value: float, drawn: stats.Floats, part: Ratings, draws: Draws) -> Row:
    blocks = int(np.unique(part.blocks).size)
    ends = resampling.percentile_interval(drawn, blocks=blocks, level=draws.level)
    return _facts(name, part) | {
        "value": value,
        "low": ends.low,
        "high": ends.high,
        "interval": "none" if ends.reason else "bootstrap",
        "note": REASONS.get(ends.reason, ""),
    }


def _facts(name: str, part: Ratings) -> Row:
    return {
        "coefficient": name,
        "level": part.level,
        "n": len(part.scores),
        "n_blocks": int(np.unique(part.blocks).size),
        "n_scorers": len(part.scorers),
    }


def _none(name: str, part: Ratings, note: str) -> Row:
    ends = {"value": math.nan, "low": math.nan, "high": math.nan, "interval": "none"}
    return _facts(name, part) | ends | {"note": note}


def _alpha(some: Ratings, draws: Draws) -> Row:
    name = "krippendorff_alpha"
    ratings = some.scores.to_numpy().T
    value = stats.krippendorff_alpha(ratings, measure=some.level)
    if math.isnan(value):
        return _none(name, some, "all scores are equal, so chance agreement is certain")
    if some.grades.size > _MANY_GRADES:
        return _facts(name, some) | {
            "value": value,
            "low": math.nan,
            "high": math.nan,
            "interval": "none",
            "note": f"more than {_MANY_GRADES} distinct scores: no interval is drawn, see icc2",
        }
    cells = resampling.block_sums(resampling.coincidences(some.grade_counts()), some.blocks)
    totals = resampling.resampled_totals(cells, draws=draws.count, seed=draws.seed)
    drawn = resampling.alphas(totals, some.grades, measure=some.level)
    return _row(name, value, drawn, some, draws)


_MANY_GRADES = 30  # the coincidences of more take too much memory for what they tell


def _fleiss(complete: Ratings, draws: Draws) -> Row:
    name = "fleiss_kappa"
    if not len(complete.scores):
        return _none(name, complete, "no output that all scorers scored")
    counts = complete.grade_counts()
    value = stats.fleiss_kappa(counts)
    if math.isnan(value):
        return _none(name, complete, "only one grade was ever given, so chance is certain")
    parts = resampling.block_sums(resampling.fleiss_parts(counts), complete.blocks)
    totals = resampling.resampled_totals(parts, draws=draws.count, seed=draws.seed)
    return _row(name, value, resampling.fleiss_kappas(totals), complete, draws)


def _iccs(complete: Ratings, draws: Draws) -> Iterator[Row]:
    table = complete.scores.to_numpy()
    names = ("icc2", "icc3")
    if len(table) < 2 or np.ptp(table) == 0:
        why = "fewer than two outputs that all scorers scored" if len(table) < 2 else "equal scores"
        yield from (_none(name, complete, f"no intraclass correlation: {why}") for name in names)
        return
    found = stats.intraclass_correlations(table)
    parts = resampling.block_sums(resampling.icc_parts(table), complete.blocks)
    totals = resampling.resampled_totals(parts, draws=draws.count, seed=draws.seed)
    yield _row(names[0], found.icc2, resampling.absolute_iccs(totals), complete, draws)
    if not np.ptp(table - table.mean(axis=1, keepdims=True), axis=0).any():
        yield _none(names[1], complete, "the scorers differ by a constant: icc3 is 1 exactly")
        return
    yield _none(names[1], complete, "no interval is drawn for consistency") | {"value": found.icc3}
