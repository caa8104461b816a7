"""What the lost pairs could change, in sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit.robustness.phrases import labels_of, one_line
from evaltoolkit.wording import TESTS, Row, lost_text, rows_of


def conclusion(table: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Say for each hypothesis whether its lost pairs could change the verdict."""
    lines = [_headline(table, settings)]
    lines += [
        _sentence(name, row, settings)
        for name, row in zip(labels_of(table), rows_of(table), strict=True)
    ]
    if settings["n_trials_lost"]:
        lines.append(
            f"Besides, {fmt.counted(settings['n_trials_lost'], 'trial')} of pairs that remain "
            "gave no score; they are not filled in."
        )
    return "\n".join(lines)


def _headline(table: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    names = f"{one_line(settings['candidate'])} against {one_line(settings['baseline'])}"
    losing = table[table["n_lost"] > 0]
    if losing.empty:
        return f"{names}: no pair was lost, so nothing depends on how lost pairs are treated."
    firm = int(losing["unchanged"].fillna(value=False).sum())
    return (
        f"{names}: {fmt.counted(len(losing), 'hypothesis', 'hypotheses')} lost pairs; the verdict "
        f"of {firm} would stand whatever the lost pairs had shown."
    )


def _sentence(name: str, row: Row, settings: Mapping[str, Any]) -> str:
    verdict = str(row["verdict"]).replace("_", " ")
    pairs = fmt.counted(int(row["n_pairs"]), "pair")
    if not row["n_lost"]:
        return f"{name}: {verdict} on {pairs}; no pair was lost."
    head = f"{name}: {verdict} on {pairs}; lost: {lost_text(row)}."
    if row["verdict_worst"] == "unknown":
        return f"{head} What they could change cannot be said: {row['note']}."
    return " ".join([head, _extremes(row), _tipping(row, settings)])


def _extremes(row: Row) -> str:
    worst, best = (str(row[f"verdict_{name}"]).replace("_", " ") for name in ("worst", "best"))
    if row["unchanged"]:
        return "The verdict stays the same with all of them against either system."
    return f"With all of them against the candidate: {worst}; against the baseline: {best}."


def _tipping(row: Row, settings: Mapping[str, Any]) -> str:
    if row["note"]:
        return f"No tipping point: {row['note']}."
    test = TESTS.get(str(row["test"]), str(row["test"]))
    if row["verdict"] in ("equivalent", "noninferior"):
        test = "margin test"
    basis = f"unadjusted {test} at alpha {settings['alpha']:g}"
    if pd.isna(row["tipping_pairs"]):
        return f"No number of the lost pairs turns this claim ({basis})."
    share = fmt.format_percent(round(float(row["tipping_share"]), 3))
    side = one_line(settings[str(row["tipping_towards"])])
    needed = int(row["tipping_pairs"])
    said = (
        f"{fmt.counted(needed, 'lost pair')} ({share} of the lost) in favour of {side} would turn "
        f"this claim ({basis})"
    )
    mean = float(row["tipping_mean"])
    if math.isnan(mean):
        return f"{said}."
    text = fmt.format_number(mean, decimals=fmt.decimals_for(mean), signed=True)
    return f"{said}, or a mean difference of {text} over all lost pairs."


def methods(table: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Write the paragraph on methods."""
    return (
        "The comparison was repeated with every lost pair counted against the candidate, with "
        "every lost pair counted against the baseline, and with system errors as failures; a "
        "missing side took a bound of its criterion, a scored side kept its score, and p-values "
        "were adjusted anew over the whole family. The tipping point is the smallest number of "
        "lost pairs that, each at its most harmful value and the others left out, turns the "
        "claim of the verdict by the hypothesis' own test, unadjusted, at alpha "
        f"{settings['alpha']:g}. These are bounds on what loss could do, not estimates of what "
        "it did. "
        f"Computed with evaltoolkit {settings['versions']['evaltoolkit']} (seed "
        f"{settings['seed']})."
    )
