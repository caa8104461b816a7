"""`compare_unpaired`: two systems that were measured on different examples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from evaltoolkit import stats, wording
from evaltoolkit.comparison import pairing
from evaltoolkit.comparison.options import names_list, share
from evaltoolkit.criteria import CriterionInfo, criteria_of
from evaltoolkit.errors import warn
from evaltoolkit.formatting import counted
from evaltoolkit.measurements import Runs
from evaltoolkit.results.unpaired import UnpairedComparison, unpaired_result
from evaltoolkit.scores import check_scores


def compare_unpaired(  # noqa: PLR0913 - every choice of the analysis is a keyword of its own
    scores: pd.DataFrame,
    *,
    baseline: str,
    candidate: str,
    criteria: str | Sequence[str] | None = None,
    scorers: str | Sequence[str] | None = None,
    correction: str = "holm",
    alpha: float = 0.05,
    runs: Runs = "error",
) -> UnpairedComparison:
    """Compare two systems whose examples do not meet, and say so.

    Use it only where `compare` cannot pair: without pairs, the differences between examples are
    noise, and the same number of examples shows far less. Examples are taken as independent.

    Args:
        scores: A score table.
        baseline: Name of the reference system.
        candidate: Name of the system that is judged.
        criteria: Names to compare; by default all that both systems have.
        scorers: Names of scorers to use; by default all.
        correction: A method of `evaltoolkit.stats.METHODS` for the family of all rows.
        alpha: Level of tests; intervals have level 1 - alpha.
        runs: What several runs of one measurement mean: ``"error"``, ``"latest"``, ``"trials"``.

    Returns:
        An `UnpairedComparison`. 0/1 outcomes with one trial get Newcombe's interval and the
        score test, other means Welch's t.

    Raises:
        SchemaError: The score table breaks a rule.
        PairingError: An unknown name or option.

    Example:
        >>> rows = [("old", f"a{i}", float(i % 5 > 1)) for i in range(80)]
        >>> rows += [("new", f"b{i}", float(i % 5 > 0)) for i in range(70)]
        >>> table = pd.DataFrame(rows, columns=["system", "example_id", "score"])
        >>> result = compare_unpaired(table.assign(criterion="correct"), baseline="old",
        ...                           candidate="new")
        >>> result.table[["n_baseline", "n_candidate", "verdict"]].values.tolist()
        [[80, 70, 'improved']]
    """
    share("alpha", alpha)
    method = stats.method_name(correction)
    table = check_scores(scores)
    request = pairing.Request(
        baseline=str(baseline),
        candidate=str(candidate),
        criteria=names_list(criteria),
        scorers=names_list(scorers),
        tasks="separate",
        measure="score",
        missing="report",
        runs=runs,
    )
    rows = pairing.select_rows(table, request)
    facts = criteria_of(table[table["criterion"].isin(rows["criterion"].unique())])
    groups = rows.groupby(pairing.HYPOTHESIS, sort=True)
    found = [_row(part, facts, alpha=alpha) for _, part in groups]
    frame = pd.DataFrame(found)
    frame["p_adjusted"] = stats.adjust(frame["p_value"].to_numpy(), method=method, alpha=alpha)
    frame["correction"] = method if frame["p_value"].notna().sum() > 1 else "single"
    frame["verdict"] = [_verdict(row, alpha) for row in wording.rows_of(frame)]
    warnings = _warnings(rows, frame)
    for text in warnings:
        warn(text, stacklevel=3)
    settings = {
        "baseline": request.baseline,
        "candidate": request.candidate,
        "alpha": alpha,
        "correction": method,
        "runs": runs,
    }
    return unpaired_result(frame, settings, warnings)


def _row(part: pd.DataFrame, facts: dict[str, CriterionInfo], *, alpha: float) -> dict[str, Any]:
    names = {name: str(part[name].iloc[0]) for name in pairing.HYPOTHESIS}
    info = facts[names["criterion"]]
    sides = {side: part[part["side"] == side] for side in pairing.SIDES}
    means = {side: _example_means(rows) for side, rows in sides.items()}
    first, second = (means[side] for side in pairing.SIDES)
    examples = {side: rows[pairing.UNIT].drop_duplicates().shape[0] for side, rows in sides.items()}
    estimate = stats.welch(first, second, level=1 - alpha)
    single = all(int(rows["score"].notna().sum()) == means[s].size for s, rows in sides.items())
    low, high, p, interval, test = (
        estimate.low,
        estimate.high,
        estimate.p_value,
        "welch_t",
        "welch_t",
    )
    if info.kind == "binary" and single:
        counts = (int(first.sum()), first.size, int(second.sum()), second.size)
        low, high = stats.newcombe_unpaired(*counts, level=1 - alpha)
        p, interval, test = stats.proportions_score_test(*counts).p_value, "newcombe", "score"
    return {
        **names,
        "n_baseline": first.size,
        "n_candidate": second.size,
        "n_lost_baseline": examples["baseline"] - first.size,
        "n_lost_candidate": examples["candidate"] - second.size,
        "mean_baseline": float(first.mean()) if first.size else math.nan,
        "mean_candidate": float(second.mean()) if second.size else math.nan,
        "delta": estimate.mean,
        "se": estimate.se,
        "df": estimate.df,
        "ci_low": low,
        "ci_high": high,
        "interval": interval,
        "test": test,
        "p_value": p,
        "kind": info.kind,
        "higher_is_better": info.higher_is_better,
    }


def _example_means(rows: pd.DataFrame) -> np.ndarray:
    scored = rows[rows["score"].notna()]
    return scored.groupby(pairing.UNIT, sort=True)["score"].mean().to_numpy(dtype=np.float64)


def _verdict(row: wording.Row, alpha: float) -> str:
    if not (row["n_baseline"] and row["n_candidate"]):
        return "not_measured"
    if math.isnan(row["p_adjusted"]) or row["p_adjusted"] > alpha:
        return "inconclusive"
    return "improved" if (row["delta"] > 0) == row["higher_is_better"] else "regressed"


def _warnings(rows: pd.DataFrame, frame: pd.DataFrame) -> tuple[str, ...]:
    keys = ["criterion", *pairing.UNIT]
    shared = int((rows.groupby(keys)["side"].nunique() == 2).groupby(pairing.UNIT).any().sum())
    texts = []
    if shared:
        texts.append(
            f"{counted(shared, 'example was', 'examples were')} measured under both systems; "
            "compare() pairs them and is sharper"
        )
    lost = int((frame["n_lost_baseline"] + frame["n_lost_candidate"]).max())
    if lost:
        texts.append(
            f"up to {counted(lost, 'example')} in a hypothesis had no scored trial and are left out"
        )
    return tuple(texts)
