"""What `monitor` says: sentences composed from its table; nothing is computed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit.wording import Row, label, rows_of, with_flags

Settings = Mapping[str, Any]


def conclusion(table: pd.DataFrame, settings: Settings) -> str:
    """Say for each hypothesis whether, when and how the evidence decides."""
    last = table.groupby(["task", "criterion", "scorer"], sort=False).tail(1)
    flagged = with_flags(last.assign(slice_by=None, slice=None))
    lines = [_sentence(row, settings) for row in rows_of(flagged)]
    order = {"table": "the rows of the table"}.get(settings["order"], str(settings["order"]))
    each = settings["correction"] == "none" and settings["hypotheses"] > 1
    lines.append(
        "You may look after every pair and stop at any: a decision stays valid, and "
        f"{'each hypothesis' if each else 'all of this'} errs with probability at most "
        f"{settings['alpha']:g} if pairs are independent and their order "
        f"({' '.join(order.split())}) does not depend on what came out."
    )
    return "\n".join(lines)


def _sentence(row: Row, settings: Settings) -> str:
    names = [" ".join(str(settings[side]).split()) for side in ("candidate", "baseline")]
    if not row["n"]:
        return f"{label(row)}: no usable pair."
    digits = fmt.decimals_for(float(row["delta"]))
    delta = fmt.format_number(float(row["delta"]), decimals=digits, signed=True)
    parts = [
        f"{label(row)}: {_decision(row, names[0])}",
        f"{names[0]} against {names[1]} after {fmt.counted(int(row['n']), str(row['unit']))}: "
        f"difference {delta}",
    ]
    level = fmt.format_percent(1 - float(row["alpha_each"]))
    if not math.isnan(row["low"]):
        interval = fmt.format_interval(float(row["low"]), float(row["high"]), decimals=digits)
        parts.append(f"{level} confidence sequence {interval}")
    if not math.isnan(row["e_value"]):
        p = fmt.format_p(float(row["p_anytime"]))
        parts.append(
            f"{fmt.counted(int(row['wins']), 'win')}, "
            f"{fmt.counted(int(row['losses']), 'loss', 'losses')}, e-value "
            f"{float(row['e_value']):.3g} (needed {1 / float(row['alpha_each']):.3g}), anytime p "
            f"{p if p.startswith('<') else f'= {p}'}"
        )
    note = f" ({row['note']})" if row["note"] else ""
    return f"{'; '.join(parts)}.{_clash(row)}{note}"


def _clash(row: Row) -> str:
    """Say why e-value and confidence sequence can differ."""
    by_bet = row["decided_by"] == "e_value" and not math.isnan(row["low"])
    covers = by_bet and row["low"] <= 0 <= row["high"]
    if not covers or _open(row):
        return ""
    return (
        " The confidence sequence still covers 0: it allows for any spread within the bounds and "
        "is wider than the bet on the pairs that differ needs."
    )


def _open(row: Row) -> bool:
    return row["decided_at"] is pd.NA or row["decided_at"] is None


def _decision(row: Row, candidate: str) -> str:
    if row["decided_by"] == "none":
        return "cannot be followed"
    if _open(row):
        return "not decided yet"
    way = "higher" if row["direction"] > 0 else "lower"
    return (
        f"decided after {fmt.counted(int(row['decided_at']), str(row['unit']))}, {candidate} {way}"
    )


def methods(table: pd.DataFrame, settings: Settings) -> str:
    """Write the paragraph on methods."""
    used = set(table["decided_by"])
    sentences = [
        "Pairs were taken in the order of "
        + {"table": "the rows of the table", "timestamp": "their time stamps"}.get(
            settings["order"], f"the column {settings['order']}"
        )
        + ", each arriving with the last of its scored rows and ties broken by the names of "
        "examples.",
        "For 0/1 outcomes the evidence against equal chances of a win and a loss is an e-value: "
        f"the Beta({settings['prior']:g}, {settings['prior']:g}) mixture of bets on the pairs "
        "that differ, which decides once it reaches 1/alpha (Ramdas et al., 2023); the anytime "
        "p-value is one over its largest value so far."
        if "e_value" in used
        else "",
        "Mean differences of scores with known bounds have a normal-mixture confidence sequence "
        "for bounded variables (Robbins, 1970; Howard et al., 2021), with tuning "
        f"{settings['tuning']:g}, which decides once it leaves out 0."
        if table["low"].notna().any()
        else "",
        f"Examples of one {settings['cluster']} were averaged and count as one unit."
        if (table["unit"] == "cluster").any()
        else "",
        _shared(settings),
        f"Computed with evaltoolkit {settings['versions']['evaltoolkit']}.",
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _shared(settings: Settings) -> str:
    m = settings["hypotheses"]
    if m == 1:
        return f"Alpha is {settings['alpha']:g}."
    if settings["correction"] == "none":
        return (
            f"Each of the {m} hypotheses has alpha {settings['alpha']:g}; nothing was adjusted for "
            "their number."
        )
    return (
        f"Alpha {settings['alpha']:g} was shared by the {m} hypotheses (Bonferroni): "
        f"{settings['alpha_each']:.3g} each."
    )
