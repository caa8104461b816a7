"""What `pass_at_k` says: sentences composed from its tables; nothing is computed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit.wording import INTERVALS, TESTS, Row, rows_of

Settings = Mapping[str, Any]

_GROUP = ["task", "criterion", "scorer", "system"]
_INTERVALS = {"t": "Student's t", "cr2_t": "CR2 t", "wilson": "Wilson's"}


def conclusion_text(table: pd.DataFrame, differences: pd.DataFrame, settings: Settings) -> str:
    """Say the rates of each system in a line, then the differences."""
    lines = [_rates(rows_of(part), settings) for _, part in table.groupby(_GROUP, sort=False)]
    lines += [
        _difference(row, settings) for row in rows_of(differences) if row["measure"] != "pass^1"
    ]
    left = settings["criteria_left_out"]
    if left:
        lines.append(f"Left out, since nothing says when a trial passes: {', '.join(left)}.")
    return "\n".join(lines)


def _label(row: Row) -> str:
    parts = [str(row[name]) for name in ("task", "scorer") if row[name]]
    return str(row["criterion"]) + (f" ({', '.join(parts)})" if parts else "")


def _rates(rows: list[Row], settings: Settings) -> str:
    first = rows[0]
    said = []
    for row in rows:
        if not row["n_examples"]:
            said.append(f"k = {row['k']}: {row['note']}")
            continue
        said.append(_rate(row, "pass_at", f"pass@{row['k']}"))
        if row["k"] > 1:
            said.append(_rate(row, "pass_hat", f"pass^{row['k']}"))
    low, high = first["trials_min"], first["trials_max"]
    trials = fmt.counted(int(high), "trial") if low == high else f"{low} to {high} trials"
    level = fmt.format_percent(float(settings["level"]))
    return (
        f"{first['system']} on {_label(first)}, "
        f"{fmt.counted(int(first['n_examples']), 'example')} with {trials} ({level} intervals): "
        f"{'; '.join(said)}."
    )


def _rate(row: Row, measure: str, symbol: str) -> str:
    ends = fmt.format_interval(float(row[f"{measure}_low"]), float(row[f"{measure}_high"]))
    return f"{symbol} {fmt.format_number(float(row[f'{measure}_k']))} {ends}"


def _difference(row: Row, settings: Settings) -> str:
    head = f"{row['measure']} of {settings['candidate']} against {settings['baseline']} on "
    if not row["n_pairs"]:
        return f"{head}{_label(row)}: {row['note']}."
    delta = fmt.format_number(float(row["delta"]), signed=True)
    parts = []
    if not math.isnan(float(row["ci_low"])):
        ends = fmt.format_interval(float(row["ci_low"]), float(row["ci_high"]))
        level = fmt.format_percent(float(settings["level"]))
        parts.append(f"{level} CI {ends}, {INTERVALS[str(row['interval'])]}")
    if not math.isnan(float(row["p_value"])):
        parts.append(f"{TESTS[str(row['test'])]} p {fmt.format_p(float(row['p_value']))}")
        if row["correction"] != "single":
            parts.append(f"adjusted {fmt.format_p(float(row['p_adjusted']))}")
    note = f" Note: {row['note']}." if row["note"] else ""
    return (
        f"{head}{_label(row)} {str(row['verdict']).replace('_', ' ')}: difference {delta} "
        f"({'; '.join(parts)}) on {fmt.counted(int(row['n_pairs']), 'pair')}.{note}"
    )


def methods_text(table: pd.DataFrame, differences: pd.DataFrame, settings: Settings) -> str:
    """Write the paragraph on methods."""
    used = dict.fromkeys(
        name for m in ("pass_at", "pass_hat") for name in table[f"{m}_interval"] if name != "none"
    )
    names = " and ".join(_INTERVALS[name] for name in used)
    level = fmt.format_percent(float(settings["level"]))
    sentences = [
        "Per example, pass@k (at least one of k trials passes) and pass^k (all k pass) were "
        "estimated without bias from all its trials and averaged over examples, equally weighted.",
        _passing(settings),
        f"Intervals ({level}) are over examples: {names}." if used else "",
        "Wilson's interval on examples stands in where nearly all examples are at 0 or nearly all "
        "at 1, and is too wide rather than too narrow there."
        if "wilson" in used
        else "",
        f"Examples of one {settings['cluster']} were treated as dependent."
        if settings["clustered"]
        else "",
        "Examples with fewer than k trials were left out.",
        _MISSING[str(settings["missing"])],
        "The examples of all tasks were pooled." if settings["tasks"] == "pooled" else "",
        _paired(differences),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


_MISSING = {
    "report": "Trials without a verdict were left out and counted.",
    "as_failure": "A system error counted as a trial that failed; other trials without a verdict "
    "were left out.",
}


def _passing(settings: Settings) -> str:
    if settings["measure"] == "passed":
        return "A trial passes by the scorer's own verdict."
    if settings["threshold"] is not None:
        return f"A trial passes at a score of {settings['threshold']:g} or better."
    return "A trial passes with the best score of a 0/1 criterion, or at its declared threshold."


def _paired(differences: pd.DataFrame) -> str:
    if differences.empty:
        return ""
    holm = (differences["correction"] == "holm").any()
    return "Differences are paired by example" + (
        ", p-values Holm-adjusted over criteria, tasks, k and both measures." if holm else "."
    )
