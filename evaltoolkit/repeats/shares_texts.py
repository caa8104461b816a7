"""What `variance_components` says: sentences composed from its table; nothing is computed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit.wording import Row, rows_of

Settings = Mapping[str, Any]


def conclusion_text(table: pd.DataFrame, settings: Settings) -> str:
    """Answer, for each row, whether more examples or more trials would pay."""
    lines = [_sentence(row, settings) for row in rows_of(table)]
    if settings["has_clusters"]:
        lines.append(
            "Examples were taken as independent although the table has clusters; plan() counts "
            "with these."
        )
    return "\n".join(lines)


def _sentence(row: Row, settings: Settings) -> str:
    where = ", ".join(str(row[name]) for name in ("task", "scorer") if row[name])
    head = f"{row['system']} on {row['criterion']}" + (f" ({where})" if where else "")
    if math.isnan(float(row["var_trial"])):
        return f"{head}: {row['note']}."
    note = f" Note: {row['note']}." if row["note"] else ""
    return f"{head}: {_shares(row)} {_answer(row, settings)}{note}"


def _shares(row: Row) -> str:
    icc = float(row["icc"])
    if math.isnan(icc):
        return "all scores are alike, so there is no noise to divide."
    level = ""
    if not math.isnan(float(row["icc_low"])):
        ends = [fmt.format_percent(round(float(row[f"icc_{end}"]), 2)) for end in ("low", "high")]
        level = f" (interval {ends[0]} to {ends[1]})"
    return (
        f"{fmt.format_percent(round(icc, 2))}{level} of the variance of a single trial lies "
        "between examples, the rest between trials of one example. The standard error of the "
        f"mean is {fmt.format_number(float(row['se']))}{_floor(row)}."
    )


def _floor(row: Row) -> str:
    if row["truncated"] or float(row["se_floor"]) == 0:
        return ""
    return (
        f"; endless trials of the same {row['n_examples']} examples would bring it to "
        f"{fmt.format_number(float(row['se_floor']))}"
    )


def _answer(row: Row, settings: Settings) -> str:
    ratio, optimal = float(row["variance_ratio"]), float(row["optimal_trials"])
    if math.isnan(ratio):
        return ""
    if settings["example_cost"] > 0:
        costs = f"{settings['example_cost']:g} per example and {settings['trial_cost']:g} per trial"
        best = (
            "as many trials as can be had"
            if math.isinf(optimal)
            else fmt.counted(int(optimal), "trial") + " per example"
        )
        return f"At a cost of {costs}, {best} would give the least variance for the money."
    if ratio <= 1:
        return "More examples or more trials: for the same number of calls both say as much."
    return (
        "More examples, not more trials: the same number of calls spent on one trial each of "
        f"other examples would give a variance {fmt.format_number(ratio, decimals=2)} times "
        "smaller."
    )


def methods_text(settings: Settings) -> str:
    """Write the paragraph on methods."""
    level = fmt.format_percent(float(settings["level"]))
    paired = (
        " For the paired difference the variance between examples is that of the mean differences "
        "less what the trials of both systems, taken as independent, contribute to it."
        if settings["baseline"]
        else ""
    )
    return (
        "The variance of scores was split into a part between examples and a part between trials "
        "of one example by one-way analysis of variance, negative estimates set to 0; examples "
        f"were taken as independent.{paired} Intervals ({level}) are percentiles of "
        f"{settings['draws']:,} bootstrap samples of examples (seed {settings['seed']}). Standard "
        "errors of other designs follow from var_item / n + var_trial / (n * k)."
    )
