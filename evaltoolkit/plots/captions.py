"""Captions and alt texts, written from the columns and settings of a result."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit import wording
from evaltoolkit.plots import text
from evaltoolkit.results import Comparison

_LOSSES = {
    "n_system_error": "system error",
    "n_scorer_error": "scorer error",
    "n_unscored": "unscored",
    "n_unpaired": "without a partner",
}


def systems(result: Comparison) -> tuple[str, str]:
    """Give the cleaned names of baseline and candidate."""
    return text.clean(result.baseline), text.clean(result.candidate)


def level(result: Comparison) -> str:
    """Write the confidence level of a result."""
    return fmt.format_percent(1 - float(result.settings["alpha"]))


def alpha_text(result: Comparison) -> str:
    """Write alpha like a p-value."""
    return f"{float(result.settings['alpha']):g}".removeprefix("0")


def counted_rows(rows: pd.DataFrame) -> str:
    """Count what is shown: criteria, or hypotheses and slices where these are more.

    Example:
        >>> counted_rows(pd.DataFrame({"criterion": ["a", "b"], "slice_by": [None, None]}))
        '2 criteria'
    """
    overall = rows[rows["slice_by"].isna()]
    slices = len(rows) - len(overall)
    criteria = fmt.counted(rows["criterion"].nunique(), "criterion", "criteria")
    parts = [criteria]
    if len(overall) > overall["criterion"].nunique():
        parts.append(fmt.counted(len(overall), "hypothesis", "hypotheses"))
    if slices:
        parts.append(fmt.counted(slices, "slice"))
    return ", ".join(parts)


def span(values: Iterable[int]) -> str:
    """Write whole numbers as one number or as a range.

    Example:
        >>> span([120, 120]), span([98, 120])
        ('120', '98–120')
    """
    numbers = sorted({int(value) for value in values})
    if len(numbers) == 1:
        return f"{numbers[0]:,}"
    return f"{numbers[0]:,}{fmt.EN_DASH}{numbers[-1]:,}"


def pairs_text(rows: pd.DataFrame) -> str:
    """Say how many pairs and clusters a row rests on."""
    pairs = f"n = {span(rows['n_pairs'])} paired examples"
    clustered = rows[rows["n_clusters"].fillna(0) > 0]
    differ = (clustered["n_clusters"] != clustered["n_pairs"]).any()
    return f"{pairs} in {span(clustered['n_clusters'])} clusters" if differ else pairs


def excluded_text(rows: pd.DataFrame) -> str:
    """Say what was left out, per row, by cause."""
    parts = [
        f"{span(rows[column])} {cause}" for column, cause in _LOSSES.items() if rows[column].any()
    ]
    if not parts:
        return "No example was left out."
    per_row = " per row" if len(rows) > 1 else ""
    return f"Left out{per_row}: {', '.join(parts)}."


def intervals_text(result: Comparison, rows: pd.DataFrame) -> str:
    """Name the intervals drawn as thick bars and thin lines."""
    used = rows.loc[rows["ci_low"].notna(), "interval"]
    names = [wording.INTERVALS.get(kind, str(kind)) for kind in dict.fromkeys(used)]
    if not names:
        return "No interval could be computed."
    thick = f"Thick bars: {level(result)} pointwise intervals ({', '.join(names)})"
    if rows["joint_low"].notna().any():
        return (
            f"{thick}; thin lines: {level(result)} simultaneous intervals "
            f"({corrections_text(result, rows[rows['joint_low'].notna()])})."
        )
    return f"{thick}."


def corrections_text(result: Comparison, rows: pd.DataFrame) -> str:
    """Name the correction and size of every family shown."""
    families = [str(name) for name in dict.fromkeys(rows["family"].dropna())]
    said = [wording.correction_text(result.settings, name) for name in families]
    if len(set(said)) <= 1:
        return "".join(said[:1])
    return "; ".join(f"{name}: {words}" for name, words in zip(families, said, strict=True))


def listed_names(names: Sequence[str], *, limit: int = 12) -> str:
    """List names in prose, the rest as a count.

    Example:
        >>> listed_names(["a", "b", "c"], limit=2)
        'a, b and 1 more'
    """
    shown = ", ".join(names[:limit])
    return f"{shown} and {len(names) - limit} more" if len(names) > limit else shown


def row_sentence(result: Comparison, row: wording.Row) -> str:
    """Say one row of a table in words, for alt texts."""
    name = f"{row['name']}"
    if math.isnan(float(row["delta"])):
        return f"{name}: not measured."
    digits = fmt.decimals_for(float(row["delta"]), float(row["ci_high"]) - float(row["ci_low"]))
    interval = fmt.format_interval(float(row["ci_low"]), float(row["ci_high"]), decimals=digits)
    direction = "" if row["higher_is_better"] else " (lower is better)"
    parts = [
        f"{name}{direction}: "
        f"{fmt.format_number(float(row['delta']), decimals=digits, signed=True)}",
        f"{level(result)} interval {interval}" if interval != fmt.EN_DASH else "no interval",
        f"adjusted p {fmt.format_p(float(row['p_adjusted']))}",
        f"{row['wins']} wins, {row['ties']} ties, {row['losses']} losses",
        str(row["verdict"]).replace("_", " "),
    ]
    return ", ".join(parts) + "."
