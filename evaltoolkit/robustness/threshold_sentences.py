"""How much a verdict depends on the threshold, in sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit.robustness.phrases import named, one_line, p_text
from evaltoolkit.wording import CORRECTIONS, INTERVALS, TESTS, Row, rows_of


def conclusion(rates: pd.DataFrame, differences: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Say how the rates run, and where sign or significance of the difference change."""
    several = rates["task"].nunique() > 1
    lines = []
    for task, part in rates.groupby("task", sort=True):
        where = f"{one_line(settings['criterion'])}" + (f" ({one_line(task)})" if several else "")
        lines += [f"{where}: {_run(row_set)}" for row_set in _by_system(part)]
        own = differences[differences["task"] == task]
        if len(own):
            lines.append(f"{where}: {_dependence(own, settings)}")
            lines += [f"{where}: {_at_declared(row, settings)}" for row in rows_of(own)
                      if row["declared"]]  # fmt: skip
    return "\n".join(lines)


def _by_system(part: pd.DataFrame) -> list[pd.DataFrame]:
    return [rows for _, rows in part.groupby("system", sort=False)]


def _run(rows: pd.DataFrame) -> str:
    """Say how one system's rate runs from the first to the last threshold."""
    known = rows[rows["pass_rate"].notna()]
    system = one_line(rows["system"].iloc[0])
    if known.empty:
        return f"{system} has no scored example."
    ends = rows_of(known.iloc[[0, -1]]) if len(known) > 1 else rows_of(known)
    said = " to ".join(
        f"{fmt.format_percent(round(float(row['pass_rate']), 3))} at {_number(row['threshold'])}"
        for row in ends
    )
    n = fmt.counted(int(known["n_examples"].iloc[0]), "example")
    return f"{system} passes {said} ({n})."


def _dependence(own: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Say whether sign or significance change with the threshold."""
    candidate = one_line(settings["candidate"])
    by_direction = {name: own["direction"] == name for name in ("better", "worse")}
    significant = own["significant"].astype(bool)
    sure = own[significant]
    if len(own) == 1:
        said = "significant" if len(sure) else "not significant"
        only = _number(own["threshold"].iloc[0])
        return f"the difference is {said} at the only threshold, {only}."
    parts = []
    if all(chosen.any() for chosen in by_direction.values()):
        places = [f"{name} at {_places(own, chosen)}" for name, chosen in by_direction.items()]
        parts.append(f"the sign depends on the threshold: {candidate} is {' and '.join(places)}")
    if len(sure) == len(own):
        parts.append(f"the difference is significant at all {len(own)} thresholds (jointly)")
    elif len(sure):
        parts.append(
            "significance depends on the threshold: it holds jointly at "
            f"{_places(own, significant)} ({len(sure)} of {len(own)})"
        )
    else:
        parts.append(f"the difference is significant at none of {len(own)} thresholds (jointly)")
    changes = set(sure["direction"]) == {"better", "worse"} or 0 < len(sure) < len(own)
    verdict = "depends" if changes else "does not depend"
    return f"{'; '.join(parts)}. The verdict {verdict} on the threshold."


def _at_declared(row: Row, settings: Mapping[str, Any]) -> str:
    digits = fmt.decimals_for(float(row["delta"]), 0.1)
    delta = fmt.format_number(float(row["delta"]), decimals=digits, signed=True)
    evidence = ""
    if not math.isnan(float(row["ci_low"])):
        ends = fmt.format_interval(float(row["ci_low"]), float(row["ci_high"]), decimals=digits)
        level = fmt.format_percent(settings["level"])
        evidence = f" ({level} CI {ends}, {INTERVALS[str(row['interval'])]}"
        evidence += f"; {TESTS[str(row['test'])]} {p_text('p', float(row['p_value']))})"
    return (
        f"at its own threshold of {_number(row['threshold'])} the pass rates differ by "
        f"{delta}{evidence}."
    )


def _places(own: pd.DataFrame, chosen: pd.Series) -> str:
    """Name the chosen of several thresholds, neighbours as a range."""
    run = (chosen != chosen.shift()).cumsum()[chosen]
    ranges = own.loc[chosen, "threshold"].groupby(run).agg(["first", "last"])
    texts = [
        _number(low) if low == high else f"{_number(low)} to {_number(high)}"
        for low, high in ranges.itertuples(index=False)
    ]
    return named(texts)


def _number(value: float) -> str:
    return f"{float(value):.4g}".replace("-", fmt.MINUS)


def methods(rates: pd.DataFrame, differences: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Write the paragraph on methods."""
    reach = "at least" if settings["higher_is_better"] else "at most"
    level = fmt.format_percent(settings["level"])
    parts = [
        f"An example passed when the mean of its scored trials was {reach} the threshold"
        + ("; a rate is a share of examples, not of trials." if settings["repeated"] else "."),
        f"Pass rates have {level} {_intervals(rates['interval'])} intervals.",
    ]
    if settings["thresholds_from"] == "observed":
        parts.append("Thresholds are observed example means; those that all pass are left out.")
    if settings["n_not_scored"]:
        count = fmt.counted(settings["n_not_scored"], "example of a system",
                            "examples of a system")  # fmt: skip
        parts.append(f"{count} had no scored trial and are left out.")
    if len(differences):
        used = TESTS[str(differences["test"].iloc[0])]
        how = CORRECTIONS.get(settings["correction"], settings["correction"])
        parts.append(
            f"Paired differences have {level} {_intervals(differences['interval'])} intervals and "
            f"{used} tests, adjusted by {how} over {len(differences)} thresholds and tasks; "
            "joint intervals hold at all of them together."
        )
    return " ".join(parts)


def _intervals(names: pd.Series) -> str:
    known = {**INTERVALS, "wilson": "Wilson", "cr2_t": "CR2 t"}
    used = [known[name] for name in dict.fromkeys(names) if name != "none"]
    return " and ".join(used) or "no"
