"""`agreement`: how the scorers of one criterion agree on the same outputs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from evaltoolkit import stats
from evaltoolkit.criteria import criteria_of
from evaltoolkit.errors import PairingError, warn
from evaltoolkit.judging import agreement_texts as texts
from evaltoolkit.judging.overall import overall_rows
from evaltoolkit.judging.pairs import Draws, pair_row
from evaltoolkit.judging.ratings import Level, Ratings, side_by_side
from evaltoolkit.judging.selection import (
    criterion_rows,
    independent_clusters,
    versions,
)
from evaltoolkit.measurements import rows_named
from evaltoolkit.results.judging import Agreement
from evaltoolkit.stats.checks import choice, fraction, whole

_COEFFICIENTS = ("kappa", "kappa_linear", "kappa_quadratic", "ac1", "icc")
COLUMNS = (
    "scorer_a", "scorer_b", "level", "n", "n_blocks", "n_not_scored", "n_only_a", "n_only_b",
    "mean_a", "mean_b", "observed", "observed_low", "observed_high", "observed_interval",
    *(f"{name}{end}" for name in _COEFFICIENTS for end in ("", "_low", "_high")),
    "bias", "bias_low", "bias_high", "bias_interval", "p_bias", "p_bias_adjusted", "bias_test",
    "note",
)  # fmt: skip
_TEXT = ("scorer_a", "scorer_b", "level", "observed_interval", "bias_interval", "bias_test", "note")
_COUNTS = ("n", "n_blocks", "n_not_scored", "n_only_a", "n_only_b")


def agreement(  # noqa: PLR0913 - every choice of the analysis is a keyword of its own
    scores: pd.DataFrame,
    *,
    criterion: str,
    scorers: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    level: Level | None = None,
    cluster: str | bool | None = None,
    alpha: float = 0.05,
    seed: int = 0,
    draws: int = 2000,
) -> Agreement:
    """Say how judges and people who scored the same outputs agree.

    Two scorers meet where they have a score of the same criterion for the same run, system,
    task, example, trial and opponent. Kappa stands next to the base rates on which it depends,
    and next to Gwet's AC1. Agreement is not validity: judges can share an error.

    Args:
        scores: A score table in which the criterion has several scorers; labels of people come
            in by `attach_labels`.
        criterion: Name of the criterion.
        scorers: Names of the scorers, in the order of the table; by default all.
        systems: Names of the systems whose outputs count; by default all, pooled.
        level: ``"nominal"``, ``"ordinal"`` (adds weighted kappas) or ``"interval"`` (intraclass
            correlation instead of kappa); by default from the kind of the criterion (binary,
            ordinal, continuous).
        cluster: None uses the column ``cluster`` where it is filled, a name uses that column,
            False treats all examples as independent.
        alpha: Intervals have level 1 - alpha.
        seed: Seed of the resamples.
        draws: Number of resamples; whole examples (clusters) are drawn.

    Returns:
        The `Agreement`: ``.table`` (pairs), ``.overall``, ``.ratings``, ``.conclusion()``.

    Raises:
        SchemaError: The score table breaks a rule.
        PairingError: Unknown names, one scorer only, or no output that two scored.
        EvalToolkitError: An option is out of range.

    Example:
        >>> rows = [("a", i, who, float(i % 3 > 0) if who == "human" else float(i % 4 > 0))
        ...         for i in range(60) for who in ("human", "judge")]
        >>> table = pd.DataFrame(rows, columns=["system", "example_id", "scorer", "score"])
        >>> result = agreement(table.assign(criterion="correct"), criterion="correct")
        >>> result.table[["n", "observed", "kappa", "bias"]].round(3).values.tolist()
        [[60.0, 0.583, 0.0, 0.083]]
    """
    confidence = 1 - fraction(alpha, name="alpha")
    options = Draws(whole(draws, name="draws", least=100), whole(seed, name="seed"), confidence)
    if level is not None:
        choice(level, ["nominal", "ordinal", "interval"], name="level")
    rows = criterion_rows(scores, criterion)
    info = criteria_of(rows)[criterion]
    if systems is not None:
        rows = rows_named(rows, "system", _listed(systems))
    names = sorted(rows["scorer"].unique()) if scorers is None else _listed(scorers)
    rows = rows_named(rows, "scorer", names)
    clusters = independent_clusters(rows, cluster)
    ratings = side_by_side(rows, clusters, info=info, level=level, scorers=names)
    table = _pair_table(ratings, options)
    overall = pd.DataFrame(overall_rows(ratings, options))
    settings = {
        "criterion": criterion,
        "kind": f"{info.kind} ({info.kind_from})",
        "level": ratings.level,
        "grades": ratings.grades.tolist() if ratings.level != "interval" else [],
        "scorers": names,
        "systems": sorted(rows["system"].unique()),
        "by_cluster": ratings.by_cluster,
        "independent": ratings.independent,
        "alpha": alpha,
        "seed": seed,
        "draws": draws,
        "versions": versions(),
    }
    notes = tuple(texts.cautions(table))
    for note in notes:
        warn(note)
    side = ratings.scores.rename_axis(columns=None).reset_index()
    return Agreement(
        table,
        settings,
        texts.conclusion(table, overall, settings),
        texts.methods(table, overall, settings),
        warnings=notes,
        overall=overall,
        ratings=side,
    )


def _listed(names: str | Sequence[str]) -> list[str]:
    given = [names] if isinstance(names, str) else [str(name) for name in names]
    if len(set(given)) < len(given) or not given:
        raise PairingError(
            f"the names {given} must be different ones, at least one; leave the argument out to "
            "take all",
            code="bad_option",
            value=given,
        )
    return given


def _pair_table(ratings: Ratings, draws: Draws) -> pd.DataFrame:
    pairs = combinations(ratings.scorers, 2)
    table = pd.DataFrame([pair_row(ratings, a, b, draws) for a, b in pairs])
    table = table.reindex(columns=list(COLUMNS))
    numbers = [name for name in COLUMNS if name not in (*_TEXT, *_COUNTS)]
    table = table.astype(dict.fromkeys(numbers, "float64"))
    p_values = table["p_bias"].to_numpy(dtype=np.float64)
    return table.assign(p_bias_adjusted=stats.adjust(p_values, method="holm"))
