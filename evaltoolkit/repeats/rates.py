"""pass@k and pass^k of one system, and their paired difference between two."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from evaltoolkit import stats
from evaltoolkit.repeats.selection import HYPOTHESIS, POOLED, UNIT
from evaltoolkit.stats.bounded import unit_mean

MEASURES = ("pass_at", "pass_hat")
SYMBOLS = {"pass_at": "pass@", "pass_hat": "pass^"}

FLIP_CLUSTERS = 8
"""From this many clusters on whole clusters are flipped, as in `compare`."""

Row = dict[str, Any]


@cache
def _rate(measure: str, n: int, c: int, k: int) -> float:
    return stats.pass_at_k(n, c, k) if measure == "pass_at" else stats.pass_hat_k(n, c, k)


def values_of(examples: pd.DataFrame, measure: str, k: int) -> np.ndarray:
    """Give the unbiased estimate of each example that has k trials or more."""
    pairs = zip(examples["n_trials"], examples["n_passed"], strict=True)
    return np.array([_rate(measure, int(n), int(c), k) for n, c in pairs], dtype=np.float64)


def grouped(examples: pd.DataFrame, keys: Sequence[str], *, pooled: bool) -> Any:  # noqa: ANN401 - a groupby
    """Group the examples, tasks apart or together."""
    shown = examples.assign(task_shown=POOLED if pooled else examples["task"])
    return shown.groupby(["task_shown", *keys], sort=True)


def rate_rows(
    part: pd.DataFrame, head: Mapping[str, Any], ks: Sequence[int], *, level: float
) -> list[Row]:
    """Compose the rows of one system and criterion, one for each k."""
    made = part[part["n_trials"] > 0]
    trials = made["n_trials"]
    common = {
        **head,
        "n_lost_trials": int(part["n_lost"].sum()),
        "n_errors_as_failures": int(part["n_errors_as_failures"].sum()),
        "trials_min": int(trials.min()) if len(made) else 0,
        "trials_max": int(trials.max()) if len(made) else 0,
    }
    return [{**common, **_rate_row(part, k, common["trials_max"], level)} for k in ks]


def _rate_row(part: pd.DataFrame, k: int, most: int, level: float) -> Row:
    used = part[part["n_trials"] >= k]
    row: Row = {
        "k": k,
        "n_examples": len(used),
        "n_too_few": len(part) - len(used),
        "n_clusters": len(used) if "code" not in used else int(used["code"].nunique()),
    }
    careful = False
    for measure in MEASURES:
        codes = used["code"].to_numpy() if "code" in used else None
        mean = unit_mean(values_of(used, measure, k), clusters=codes, level=level)
        careful |= mean.interval == "wilson" and not _plain(used, k, codes)
        row |= {
            f"{measure}_k": mean.mean,
            f"{measure}_se": mean.se,
            f"{measure}_low": mean.low,
            f"{measure}_high": mean.high,
            f"{measure}_interval": mean.interval,
        }
    return row | {"note": _rate_note(row, most, careful=careful)}


def _plain(used: pd.DataFrame, k: int, codes: np.ndarray | None) -> bool:
    """Whether Wilson's interval is the usual one: one 0/1 outcome of each example."""
    return codes is None and bool((used["n_trials"] == k).all())


def _rate_note(row: Row, most: int, *, careful: bool) -> str:
    notes = []
    if not row["n_examples"]:
        notes.append(
            f"no example has {row['k']} trials (at most {most}); ask for a smaller k or run more "
            "trials"
        )
    elif row["n_too_few"]:
        notes.append(f"{row['n_too_few']} examples with fewer than {row['k']} trials are left out")
    if careful and row["n_examples"]:
        notes.append(
            "nearly all examples are at 0 or nearly all at 1: Wilson's interval on examples, "
            "which is wide rather than narrow"
        )
    return "; ".join(notes)


def difference_rows(
    examples: pd.DataFrame,
    systems: tuple[str, str],
    ks: Sequence[int],
    *,
    pooled: bool,
    level: float,
) -> pd.DataFrame:
    """Compose the paired differences, candidate less baseline, one row per measure and k."""
    rows = []
    for key, part in grouped(examples, HYPOTHESIS[1:], pooled=pooled):
        head = dict(zip(HYPOTHESIS, key, strict=True))
        sides = [part[part["system"] == name].set_index(UNIT) for name in systems]
        for k in ks:
            ready = [side[side["n_trials"] >= k] for side in sides]
            shared = ready[0].index.intersection(ready[1].index).sort_values()
            both = [side.loc[shared] for side in ready]
            lost = sides[0].index.union(sides[1].index).size - len(shared)
            for measure in MEASURES:
                row = _difference(both, measure, k, level)
                rows.append({**head, "measure": f"{SYMBOLS[measure]}{k}", "k": k, **row,
                             "n_unpaired": lost})  # fmt: skip
    return _adjusted(pd.DataFrame(rows), 1 - level)


def _difference(both: Sequence[pd.DataFrame], measure: str, k: int, level: float) -> Row:
    old, new = (values_of(side, measure, k) for side in both)
    d = stats.snap_ties(old, new)
    codes = both[0]["code"].to_numpy() if "code" in both[0] else None
    if codes is not None and np.unique(codes).size == codes.size:
        codes = None
    estimate = (
        stats.paired_t(d, level=level)
        if codes is None
        else stats.cluster_mean(d, codes, level=level)
    )
    low, high, interval = estimate.low, estimate.high, "t" if codes is None else "cr2_t"
    outcomes = codes is None and bool(np.isin([old, new], (0.0, 1.0)).all()) and d.size > 0
    if outcomes:
        interval = "bonett_price"
        low, high = stats.bonett_price(int((d > 0).sum()), int((d < 0).sum()), d.size, level=level)
    test, p = _test(d, codes, estimate, outcomes=outcomes)
    return {
        "n_pairs": d.size,
        "n_clusters": estimate.n_units,
        "baseline": float(old.mean()) if d.size else math.nan,
        "candidate": float(new.mean()) if d.size else math.nan,
        "delta": estimate.mean,
        "se": estimate.se,
        "df": estimate.df,
        "ci_low": low,
        "ci_high": high,
        "interval": "none" if math.isnan(low) else interval,
        "test": test,
        "p_value": p,
        "note": _difference_note(d, low),
    }


def _test(
    d: np.ndarray, codes: np.ndarray | None, estimate: stats.MeanEstimate, *, outcomes: bool
) -> tuple[str, float]:
    if not d.size:
        return "none", math.nan
    if outcomes:
        return "mcnemar_midp", stats.mcnemar_midp(int((d > 0).sum()), int((d < 0).sum()))
    if codes is None:
        name, p = "sign_flip", stats.sign_flip(d).p_value
    elif estimate.n_units >= FLIP_CLUSTERS or math.isnan(estimate.p_value):
        name, p = "cluster_flip", stats.cluster_flip(d, codes).p_value
    else:
        name, p = "cr2_t", estimate.p_value
    return ("none" if math.isnan(p) else name), p


def _difference_note(d: np.ndarray, low: float) -> str:
    if not d.size:
        return "no example has enough trials under both systems"
    if math.isnan(low):
        return "all differences are equal (or there is one): no interval"
    moved = int(np.count_nonzero(d))
    return f"only {moved} non-zero differences: fragile" if moved < 10 else ""


def _adjusted(rows: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Adjust by Holm; pass^1 is pass@1 and counts once."""
    again = rows["measure"] == "pass^1"
    own = rows.loc[~again, "p_value"]
    adjusted = pd.Series(stats.adjust(own.to_numpy(), method="holm"), index=own.index)
    rows["p_adjusted"] = adjusted.reindex(rows.index)
    twins = [*HYPOTHESIS, "k"]
    single = rows[rows["measure"] == "pass@1"].set_index(twins)["p_adjusted"]
    keys = pd.MultiIndex.from_frame(rows.loc[again, twins])
    rows.loc[again, "p_adjusted"] = single.reindex(keys).to_numpy()
    rows["correction"] = "holm" if own.notna().sum() > 1 else "single"
    significant = rows["p_adjusted"] <= alpha
    rows["verdict"] = np.select(
        [rows["n_pairs"] == 0, significant & (rows["delta"] > 0), significant],
        ["not_measured", "improved", "regressed"],
        "inconclusive",
    )
    return rows[[*(n for n in rows.columns if n != "note"), "note"]]
