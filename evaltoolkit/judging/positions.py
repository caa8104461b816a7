"""`position_bias`: does the place at which an answer is shown decide the judgement?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from evaltoolkit import stats
from evaltoolkit.errors import PairingError, listed, warn
from evaltoolkit.judging import position_texts as texts
from evaltoolkit.judging.preferences import PAIR, pairwise_rows, selected_rows
from evaltoolkit.judging.selection import EXAMPLE, block_codes, independent_clusters, versions
from evaltoolkit.judging.shifts import Shift, mean_shift
from evaltoolkit.results.biases import PositionBias
from evaltoolkit.stats.checks import fraction, whole

OUTCOMES = ("consistent", "first_wins_both", "second_wins_both", "tie_in_one")
"""What can happen to a comparison that was judged in both orders."""

_COMPARISON = [*PAIR, *EXAMPLE]
_SERIES = ["criterion", "scorer"]
COLUMNS = (
    "criterion", "scorer", "scope", "system_a", "system_b", "n", "n_blocks", "n_one_order",
    "n_not_scored", *OUTCOMES, "first_rate", "ci_low", "ci_high", "interval", "test", "p_value",
    "p_adjusted", "note",
)  # fmt: skip


def position_bias(
    scores: pd.DataFrame,
    *,
    criterion: str | None = None,
    scorer: str | None = None,
    cluster: str | bool | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> PositionBias:
    """Say whether a judge favours the answer that it sees first (or second).

    The same two answers must have been judged in both orders; the score table says so in the
    column ``position``: ``"first"`` or ``"second"``, the place of the answer of ``system``. The
    two orders are rows with different trials, or rows with system and versus exchanged. If the
    order did not matter, both verdicts would differ by chance only, to either side alike: that
    is what is tested. Several judgements of one comparison in one order are averaged.

    Args:
        scores: A score table with ``versus`` and ``position``; score is 1, 0.5 or 0 for a win,
            tie or loss of ``system`` (any preference from 0 to 1 will do).
        criterion: Name of the criterion; by default all that have pairwise rows.
        scorer: Name of the judge; by default all, each on its own.
        cluster: None uses the column ``cluster`` where it is filled, a name uses that column,
            False treats all examples as independent.
        level: Confidence level between 0 and 1.
        seed: Seed of random flips, where no exact test is open.

    Returns:
        The `PositionBias`: ``.table``, ``.preferences``, ``.comparisons``, ``.conclusion()``.

    Raises:
        SchemaError: The score table breaks a rule.
        PairingError: No pairwise rows, no usable column ``position``, scores outside 0 to 1, or
            unknown names.

    Source:
        Wang et al., Large language models are not fair evaluators, 2023; Zheng et al., Judging
        LLM-as-a-judge with MT-bench and Chatbot Arena, 2023.

    Example:
        >>> rows = [("a", "b", i, order, place, 1.0 if place == "first" or i < 10 else 0.0)
        ...         for i in range(30) for order, place in enumerate(("first", "second"))]
        >>> columns = ["system", "versus", "example_id", "trial", "position", "score"]
        >>> table = pd.DataFrame(rows, columns=columns).assign(criterion="better", scorer="judge")
        >>> result = position_bias(table)
        >>> result.table[["n", "consistent", "first_wins_both", "first_rate"]].round(3).values[0]
        array([30.   ,  0.333,  0.667,  0.833])
    """
    fraction(level, name="level")
    whole(seed, name="seed")
    rows = selected_rows(scores, criterion=criterion, scorer=scorer)
    pairs = pairwise_rows(rows)
    placed = _placed(pairs)
    comparisons = _comparisons(placed)
    comparisons["block"] = block_codes(comparisons, independent_clusters(rows, cluster))
    options = {"level": level, "seed": seed}
    table = _table(comparisons, options)
    preferences = _preferences(comparisons, options)
    settings = {
        "criteria": sorted(comparisons["criterion"].unique()),
        "scorers": sorted(comparisons["scorer"].unique()),
        "cluster": cluster,
        "by_cluster": bool(
            comparisons["block"].nunique() < comparisons[EXAMPLE].drop_duplicates().shape[0]
        ),
        "level": level,
        "seed": seed,
        "n_no_position": len(pairs) - len(placed),
        "versions": versions(),
    }
    notes = tuple(texts.cautions(table, settings))
    for note in notes:
        warn(note)
    return PositionBias(
        table,
        settings,
        texts.conclusion(table, preferences, settings),
        texts.methods(table, settings),
        warnings=notes,
        preferences=preferences,
        comparisons=comparisons.drop(columns="block"),
    )


def _placed(pairs: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows whose order is known; say for each whether a was shown first.

    Raises:
        PairingError: There are no pairwise rows, or their order is unknown.
    """
    if pairs.empty:
        raise PairingError(
            "no row has versus, the other system of a judgement; position bias is a matter of "
            "pairwise judgements",
            code="no_preferences",
            path="versus",
        )
    if "position" not in pairs.columns or pairs["position"].isna().all():
        raise PairingError(
            "the pairwise rows do not say which answer was shown first; add a column 'position' "
            "that holds 'first' or 'second', the place at which the answer of 'system' was shown "
            "(judge every pair in both orders, as two trials)",
            code="no_position",
            path="position",
        )
    known = pairs[pairs["position"].notna()]
    wrong = known[~known["position"].isin(["first", "second"])]
    if len(wrong):
        raise PairingError(
            f"position holds {listed(wrong['position'].unique())} in {len(wrong)} row(s); it must "
            "be 'first' or 'second', the place of the answer of 'system'",
            code="bad_position",
            path="position",
            value=wrong["position"].iloc[0],
        )
    return known.assign(a_first=(known["position"] == "first") != known["turned"])


def _comparisons(placed: pd.DataFrame) -> pd.DataFrame:
    """Put the verdicts of both orders side by side, one row per comparison."""
    ordered = placed.sort_values([*_COMPARISON, "preference"], kind="stable")
    means = ordered.groupby([*_COMPARISON, "a_first"])["preference"].mean().unstack("a_first")
    means = means.reindex(columns=[True, False])
    seen = ordered.groupby([*_COMPARISON, "a_first"]).size().unstack("a_first", fill_value=0)
    out = means.set_axis(["a_shown_first", "b_shown_first"], axis=1).reset_index()
    out["n_judgements"] = seen.sum(axis=1).to_numpy()
    both = out[["a_shown_first", "b_shown_first"]].to_numpy()
    out["outcome"] = [_outcome(a, b) for a, b in both]
    return out


def _outcome(a_first: float, b_first: float) -> str:
    """Name what the two orders say, from how far a is preferred in either."""
    if math.isnan(a_first) and math.isnan(b_first):
        return "not_scored"
    if math.isnan(a_first) or math.isnan(b_first):
        return "one_order"
    first, second = _verdict(a_first), _verdict(b_first)
    if first == second:
        return "consistent"
    if 0 in (first, second):
        return "tie_in_one"
    return "first_wins_both" if first > second else "second_wins_both"


def _verdict(preference: float) -> int:
    return 0 if abs(preference - 0.5) <= 1e-9 else (1 if preference > 0.5 else -1)


def _table(comparisons: pd.DataFrame, options: dict[str, Any]) -> pd.DataFrame:
    everything = [
        _row(part, "all", dict(zip(_SERIES, names, strict=True)), options)
        for names, part in comparisons.groupby(_SERIES)
    ]
    pairs = [
        _row(part, "pair", dict(zip(PAIR, names, strict=True)), options)
        for names, part in comparisons.groupby(PAIR)
    ]
    table = pd.DataFrame([*everything, *pairs]).reindex(columns=list(COLUMNS))
    table = table.astype({"system_a": "str", "system_b": "str"})
    for scope in ("all", "pair"):
        here = table["scope"] == scope
        table.loc[here, "p_adjusted"] = stats.adjust(table.loc[here, "p_value"], method="holm")
    ordered = table.sort_values([*_SERIES, "scope", "system_a", "system_b"], kind="stable")
    return ordered.astype({"p_adjusted": "float64"}).reset_index(drop=True)


def _row(
    part: pd.DataFrame, scope: str, names: dict[str, Any], options: dict[str, Any]
) -> dict[str, Any]:
    both = part[part["outcome"].isin(OUTCOMES)]
    n, counts = len(both), both["outcome"].value_counts()
    d = (both["a_shown_first"] - both["b_shown_first"]).to_numpy(dtype=np.float64)
    shift = mean_shift(stats.snap(d, scale=1.0), both["block"].to_numpy(), **options)
    note = shift.note if n else "no comparison was judged in both orders"
    return names | {
        "scope": scope,
        "n": n,
        "n_blocks": int(both["block"].nunique()),
        "n_one_order": int((part["outcome"] == "one_order").sum()),
        "n_not_scored": int((part["outcome"] == "not_scored").sum()),
        **{name: counts.get(name, 0) / n if n else math.nan for name in OUTCOMES},
        **_rate("first_rate", shift),
        "note": note,
    }


def _rate(name: str, shift: Shift) -> dict[str, Any]:
    """Turn a mean shift of verdicts, from -1 to 1, into a rate about one half."""
    return {
        name: 0.5 + shift.mean / 2,
        "ci_low": _bounded(shift.low),
        "ci_high": _bounded(shift.high),
        "interval": shift.interval,
        "test": shift.test,
        "p_value": shift.p_value,
    }


def _bounded(end: float) -> float:
    return end if math.isnan(end) else min(max(0.5 + end / 2, 0.0), 1.0)


def _preferences(comparisons: pd.DataFrame, options: dict[str, Any]) -> pd.DataFrame:
    rows = []
    for names, part in comparisons.groupby(PAIR):
        both = part[part["outcome"].isin(OUTCOMES)]
        first, second = both["a_shown_first"], both["b_shown_first"]
        orders = {"both": (first + second) / 2, "a_first": first, "b_first": second}
        for order, preference in orders.items():
            d = stats.snap(2 * preference.to_numpy(dtype=np.float64) - 1, scale=1.0)
            shift = mean_shift(d, both["block"].to_numpy(), **options)
            rows.append(
                dict(zip(PAIR, names, strict=True))
                | {"order": order, "n": len(both)}
                | _rate("preference", shift)
                | {"note": shift.note}
            )
    return pd.DataFrame(rows)
