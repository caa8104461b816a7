"""`rank_preferences`: Bradley-Terry abilities from judgements of one system against another."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit import stats
from evaltoolkit.errors import EvalToolkitError, PairingError, listed, warn
from evaltoolkit.measurements import Runs, cluster_codes, cluster_column, resolve_runs
from evaltoolkit.ranking import options, selecting, sentences, standings
from evaltoolkit.ranking.blocks import UNIT, cluster_of_examples
from evaltoolkit.results.ranking import Ranking
from evaltoolkit.schema import rows_text
from evaltoolkit.scores import check_scores
from evaltoolkit.stats.preferences import Abilities, clustered_abilities
from evaltoolkit.stats.tails import t_tail

FEW_UNITS = 20
"""With fewer examples or clusters the sandwich standard errors are too small."""

ABILITY_COLUMNS = (
    "rank", "rank_low", "rank_high", "system", "ability", "se", "df", "ci_low", "ci_high",
    "win_rate", "n_better", "n_worse", "n_examples", "n_judgements", "wins", "losses", "ties",
    "n_system_error", "n_scorer_error", "n_unscored",
)  # fmt: skip

PREFERENCE_PAIR_COLUMNS = (
    "system_a", "system_b", "n_pairs", "delta", "se", "df", "ci_low", "ci_high",
    "win_probability", "win_probability_low", "win_probability_high", "wins", "losses", "ties",
    "test", "p_value", "p_adjusted", "correction", "significant", "better",
)  # fmt: skip

_NOT_SCORED = ("system_error", "scorer_error", "unscored")


def rank_preferences(  # noqa: PLR0913 - every choice of the analysis is a keyword of its own
    scores: pd.DataFrame,
    *,
    criterion: str,
    systems: selecting.Names = None,
    scorer: str | None = None,
    task: selecting.Names = None,
    cluster: str | bool | None = None,
    correction: str = "holm",
    alpha: float = 0.05,
    runs: Runs = "error",
) -> Ranking:
    """Rank systems by Bradley-Terry ability from judgements of one against another.

    Rows with ``versus`` count; their score is how far ``system`` is preferred, from 0 to 1, a
    tie 0.5. Several judgements of one pair on one example (trials, both orders, a row for each
    side) are averaged, so that each pair counts once per example. Intervals come from a
    sandwich estimate over whole examples, or clusters, with the t distribution: not from the
    likelihood, which would take judgements of one example as independent.

    Args:
        scores: A score table with the column ``versus``.
        criterion: The criterion whose preferences count.
        systems: Names of two systems or more, opponents included; by default all.
        scorer: Which judge's rows to use; needed where there are several.
        task: Which task, or a list of tasks; needed where there are several.
        cluster: None uses the column ``cluster`` where it is filled, a name uses that column,
            False takes examples as independent.
        correction: Any method of `evaltoolkit.stats.METHODS`, over all pairs.
        alpha: Level of the tests; intervals have level 1 - alpha.
        runs: What several runs of one measurement mean: ``"error"``, ``"latest"``, ``"trials"``.

    Returns:
        The `Ranking`. ``ability`` is a log-odds relative to the mean of all systems; in
        ``.pairs`` ``delta`` is the difference of abilities and ``win_probability`` the chance
        that a is preferred to b.

    Raises:
        SchemaError: The score table breaks a rule.
        PairingError: No preferences, scores outside 0 to 1, fewer than two systems, or systems
            that never beat the others, so that no finite abilities fit.

    Source:
        Bradley and Terry, Rank analysis of incomplete block designs, 1952.

    Example:
        >>> games = [("a", "b", i, float(i % 4 > 0)) for i in range(40)]
        >>> table = pd.DataFrame(games, columns=["system", "versus", "example_id", "score"])
        >>> result = rank_preferences(table.assign(criterion="better"), criterion="better")
        >>> result.table[["system", "rank", "wins", "losses"]].values.tolist()
        [['a', 1, 30, 10], ['b', 2, 10, 30]]
    """
    options.check_numbers(alpha=alpha)
    method = options.checked_correction(correction, joint=False)
    rows, names = _rows(
        check_scores(scores), criterion=criterion, scorer=scorer, task=task, systems=systems
    )
    rows = resolve_runs(rows, runs=runs)
    column = cluster_column(rows, cluster)
    games = _games(rows)
    codes = _units(rows, games, column)
    fit = _fit(games, codes, names)
    pairs, size = _pairs(games, fit, names, method=method, alpha=alpha)
    table = _table(rows, games, fit, pairs, names, alpha=alpha)
    lost = rows.loc[rows["score"].isna(), [*UNIT, "system", "versus", "status"]]
    settings = {
        "method": "bradley_terry",
        "estimate": "ability",
        "criterion": str(criterion),
        "scorer": str(rows["scorer"].iloc[0]),
        "tasks": sorted(rows["task"].unique()),
        "systems": names,
        "higher_is_better": True,
        "alpha": alpha,
        "runs": runs,
        "cluster": column,
        "n_units": fit.n_clusters,
        "correction": correction,
        "correction_used": method if size > 1 else "single",
        "controls": stats.METHODS[method].controls if size > 1 else "fwer",
        "family_size": size,
        "leader_separated": bool(
            pairs["better"].isin(table.loc[table["rank"] == 1, "system"]).any()
        ),
        "overall_text": "",
        "n_lost": len(lost),
        "versions": options.versions(),
    }
    settings["decisive"] = settings["leader_separated"]
    warnings = tuple(_warnings(settings, fit))
    for text in warnings:
        warn(text, stacklevel=3)
    known = pairs["p_adjusted"].dropna()
    tests = pd.DataFrame(
        {"test": ["all_pairs"], "p_value": [known.min() if len(known) else math.nan],
         "note": ["smallest adjusted p-value"]}
    )  # fmt: skip
    return Ranking(
        table,
        settings,
        _conclusion(table, pairs, games, settings),
        _methods(settings),
        warnings=warnings,
        pairs=pairs,
        tests=tests,
        blocks=games,
        lost=lost.astype("str").reset_index(drop=True),
    )


def _rows(
    table: pd.DataFrame, *, criterion: str, scorer: str | None, task: selecting.Names,
    systems: selecting.Names,
) -> tuple[pd.DataFrame, list[str]]:  # fmt: skip
    """Keep the rows of judgements between the systems."""
    rows = table[(table["criterion"] == str(criterion)) & table["versus"].notna()]
    if rows.empty and (table["criterion"] == str(criterion)).any():
        raise PairingError(
            f"the criterion {criterion!r} has no row with versus, the other system of a "
            "judgement; rank absolute scores with et.rank",
            code="no_preferences",
            path="versus",
        )
    # Opponents are systems too: give each judgement a row of either side to choose from.
    both = pd.concat([rows, rows.assign(system=rows["versus"])])
    source = both if len(both) else table
    chosen, names = selecting.select_rows(
        source, criterion=criterion, scorer=scorer, task=task, systems=systems
    )
    keep = rows["task"].isin(chosen["task"].unique()) & rows["scorer"].isin(
        chosen["scorer"].unique()
    )
    rows = rows[keep & rows["system"].isin(names) & rows["versus"].isin(names)]
    outside = rows[(rows["score"] < 0) | (rows["score"] > 1)]
    if len(outside):
        raise PairingError(
            f"{len(outside)} score(s) are no preference from 0 to 1 (a tie "
            f"is 0.5): {rows_text(outside, ['system', 'versus', 'example_id', 'score'])}",
            code="bad_preference",
            path="score",
            value=outside["score"].head(5).tolist(),
        )
    if not rows["score"].notna().any():
        raise PairingError(
            f"no judgement between {listed(names)} was scored; see et.coverage(scores)",
            code="no_preferences",
            path="versus",
        )
    return rows, names


def _games(rows: pd.DataFrame) -> pd.DataFrame:
    """Average all judgements of one pair on one example, seen from the first in the alphabet."""
    scored = rows[rows["score"].notna()]
    turned = scored["system"] > scored["versus"]
    seen = scored.assign(
        system_a=scored["system"].where(~turned, scored["versus"]),
        system_b=scored["versus"].where(~turned, scored["system"]),
        preference=scored["score"].where(~turned, 1 - scored["score"]),
    )
    keys = [*UNIT, "system_a", "system_b"]
    ordered = seen.sort_values([*keys, "preference"], kind="stable")
    games = ordered.groupby(keys, sort=True)["preference"].agg(["mean", "size"]).reset_index()
    return games.rename(columns={"mean": "preference", "size": "n_judgements"})


def _units(rows: pd.DataFrame, games: pd.DataFrame, column: str | None) -> np.ndarray:
    """Number the independent unit of each game: its cluster, else its example."""
    if column is None:
        return games.groupby(UNIT, sort=True).ngroup().to_numpy()
    keys = pd.MultiIndex.from_frame(games[UNIT].drop_duplicates())
    named = cluster_of_examples(rows, column).reindex(keys)
    codes = cluster_codes(named.to_frame(column).reset_index(drop=True), column)
    by_example = pd.Series(codes.to_numpy(), index=keys)
    return by_example.reindex(pd.MultiIndex.from_frame(games[UNIT])).to_numpy()


def _fit(games: pd.DataFrame, codes: np.ndarray, names: Sequence[str]) -> Abilities:
    place = {name: i for i, name in enumerate(names)}
    first, second = (games[side].map(place).to_numpy() for side in ("system_a", "system_b"))
    try:
        return clustered_abilities(first, second, games["preference"].to_numpy(), codes)
    except EvalToolkitError as error:
        if error.code != "separated" or not isinstance(error.value, list):
            raise
        groups = pd.Series(names).groupby(error.value).apply(list).tolist()
        raise PairingError(
            f"no finite abilities fit: {'; '.join(listed(group) for group in groups)} are groups "
            "of which one never beats another (or never meets it). Leave systems out with "
            "systems=[...], or add judgements",
            code="separated",
            path="systems",
            value=groups,
        ) from error


def _pairs(
    games: pd.DataFrame, fit: Abilities, names: Sequence[str], *, method: str, alpha: float
) -> tuple[pd.DataFrame, int]:
    order = standings.best_first(names, fit.ability)
    direct = {
        (a, b): part["preference"].to_numpy()
        for (a, b), part in games.groupby(["system_a", "system_b"])
    }
    rows = []
    for i, a in enumerate(order):
        for b in order[i + 1 :]:
            ends = (names[a], names[b])
            shares = direct.get(ends, 1 - direct.get(ends[::-1], np.empty(0)))
            rows.append({**_contrast(fit, a, b, alpha=alpha), **_direct(shares)}
                        | {"system_a": ends[0], "system_b": ends[1]})  # fmt: skip
    pairs = pd.DataFrame(rows)
    pairs["p_adjusted"] = stats.adjust(pairs["p_value"], method=method, alpha=alpha)
    size = int(pairs["p_value"].notna().sum())
    pairs["correction"] = method if size > 1 else "single"
    pairs = standings.with_winner(pairs, higher_is_better=True, alpha=alpha)
    return pairs[list(PREFERENCE_PAIR_COLUMNS)], size


def _contrast(fit: Abilities, a: int, b: int, *, alpha: float) -> dict[str, Any]:
    delta = float(fit.ability[a] - fit.ability[b])
    v = fit.covariance
    se = _root(v[a, a] + v[b, b] - 2 * v[a, b])
    low, high = stats.t_interval(delta, se, fit.df, level=1 - alpha)
    p_value = 2 * t_tail(abs(delta) / se, fit.df) if se > 0 else math.nan
    return {
        "delta": delta,
        "se": se,
        "df": fit.df,
        "ci_low": low,
        "ci_high": high,
        "win_probability": _logistic(delta),
        "win_probability_low": _logistic(low),
        "win_probability_high": _logistic(high),
        "test": "none" if math.isnan(p_value) else "sandwich_t",
        "p_value": p_value,
    }


def _root(variance: float) -> float:
    """Standard error of a variance, NaN where the judgements do not vary at all."""
    return math.sqrt(variance) if variance > 1e-18 else math.nan


def _logistic(log_odds: float) -> float:
    return (1 + math.tanh(log_odds / 2)) / 2


def _direct(shares: stats.Floats) -> dict[str, int]:
    wins, losses = int((shares > 0.5).sum()), int((shares < 0.5).sum())
    return {
        "n_pairs": int(shares.size),
        "wins": wins,
        "losses": losses,
        "ties": int(shares.size) - wins - losses,
    }


def _table(
    rows: pd.DataFrame, games: pd.DataFrame, fit: Abilities, pairs: pd.DataFrame,
    names: Sequence[str], *, alpha: float,
) -> pd.DataFrame:  # fmt: skip
    order = standings.best_first(names, fit.ability)
    ranks = standings.ranks_of(fit.ability)
    out = []
    for i in order:
        se = _root(float(fit.covariance[i, i]))
        low, high = stats.t_interval(float(fit.ability[i]), se, fit.df, level=1 - alpha)
        out.append(
            {
                "rank": ranks[i],
                "system": names[i],
                "ability": float(fit.ability[i]),
                "se": se,
                "df": fit.df,
                "ci_low": low,
                "ci_high": high,
                **_record(games, names[i]),
                **_unscored(rows, names[i]),
            }
        )
    table = pd.DataFrame(out)
    intervals = standings.rank_intervals(pairs, list(table["system"]))
    return pd.concat([table, intervals], axis=1)[list(ABILITY_COLUMNS)]


def _record(games: pd.DataFrame, name: str) -> dict[str, Any]:
    """Count what a system was preferred in, over examples and opponents."""
    mine = games[(games["system_a"] == name) | (games["system_b"] == name)]
    flip = mine["system_a"] != name
    shares = mine["preference"].where(~flip, 1 - mine["preference"]).to_numpy()
    counts = _direct(shares)
    return {
        "win_rate": float(shares.mean()),
        "n_examples": int(mine.groupby(UNIT).ngroups),
        "n_judgements": int(mine["n_judgements"].sum()),
        **{key: counts[key] for key in ("wins", "losses", "ties")},
    }


def _unscored(rows: pd.DataFrame, name: str) -> dict[str, int]:
    mine = rows[(rows["system"] == name) | (rows["versus"] == name)]
    return {f"n_{cause}": int((mine["status"] == cause).sum()) for cause in _NOT_SCORED}


def _warnings(settings: dict[str, Any], fit: Abilities) -> Iterator[str]:
    if fit.n_clusters < FEW_UNITS:
        what = "cluster" if settings["cluster"] else "example"
        yield (
            f"only {fmt.counted(fit.n_clusters, what)}: intervals of abilities rest on many "
            "independent ones and are too short here"
        )
    if settings["n_lost"]:
        yield (
            f"{fmt.counted(settings['n_lost'], 'judgement')} without a score left out; see the "
            "counts of the table"
        )
    if settings["correction_used"] == "none":
        yield f"{settings['family_size']} pairs are compared without correction"


def _conclusion(
    table: pd.DataFrame, pairs: pd.DataFrame, games: pd.DataFrame, settings: dict[str, Any]
) -> str:
    examples = fmt.counted(int(games.groupby(UNIT).ngroups), "example")
    head = (
        f"{len(table)} systems ranked by Bradley\u2013Terry ability from "
        f"{fmt.counted(int(games['n_judgements'].sum()), 'judgement')} of "
        f"{sentences.plain(settings['criterion'])} on {examples}."
    )
    indirect = int((pairs["n_pairs"] == 0).sum())
    through = (
        f"{indirect} of {fmt.counted(len(pairs), 'pair')} never met and are compared through "
        "common opponents only."
        if indirect
        else ""
    )
    lines = [
        head,
        sentences.top_sentence(table, pairs, settings),
        sentences.pairs_sentence(pairs, settings),
        through,
    ]
    return "\n".join(line for line in lines if line)


def _methods(settings: dict[str, Any]) -> str:
    level = fmt.format_percent(1 - float(settings["alpha"]))
    unit = settings["cluster"] or "example"
    return " ".join([
        f"A Bradley\u2013Terry model was fitted to the preferences of {settings['criterion']} "
        "(ties one half; several judgements of one pair on one example averaged); abilities are "
        "log-odds relative to the mean of all systems and assume one scale for all pairs.",
        f"{level} intervals and two-sided p-values use sandwich standard errors over whole units "
        f"({unit}; {settings['n_units']} of them, factor G/(G\u22121)) and the t distribution.",
        f"P-values of the pairs were adjusted by {sentences.family_text(settings)}.",
        sentences.rank_interval_note(settings),
        f"Computed with evaltoolkit {settings['versions']['evaltoolkit']}.",
    ])  # fmt: skip
