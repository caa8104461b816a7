"""What `heterogeneity` found, in sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit.robustness.phrases import labels_of, one_line, p_text
from evaltoolkit.wording import Row, rows_of

TESTS = {
    "welch_f": "Welch F",
    "brown_forsythe_f": "Brown\u2013Forsythe F",
    "cluster_wald_f": "cluster-robust F",
}

_SAME = ["task", "criterion", "scorer", "slice_by"]


def conclusion(table: pd.DataFrame, slices: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Say for each hypothesis and attribute whether the effect differs."""
    lines = [_headline(table, settings)]
    labels = labels_of(table)
    for name, row in zip(labels, rows_of(table), strict=True):
        same = (slices[_SAME] == pd.Series({key: row[key] for key in _SAME})).all(axis=1)
        lines.append(_sentence(name, row, slices[same], settings))
    if not table["differs"].fillna(value=False).all():
        lines.append(
            "Where no difference was found the slices are not shown to be alike: tests of "
            "interaction need about four times the examples of a test of the effect itself."
        )
    return "\n".join(lines)


def _headline(table: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    found = int(table["differs"].fillna(value=False).sum())
    tests = fmt.counted(int(table["p_value"].notna().sum()), "test")
    adjusted = ", Holm-adjusted" if settings["family_size"] > 1 else ""
    return (
        f"{one_line(settings['candidate'])} against {one_line(settings['baseline'])}: the effect "
        f"differs between slices in {found} of {tests} (alpha {1 - settings['level']:.4g}"
        f"{adjusted})."
    )


def _sentence(name: str, row: Row, slices: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    attribute = one_line(row["slice_by"])
    if math.isnan(float(row["p_value"])):
        return f"{name} by {attribute}: {row['note']}."
    said = "differs" if row["differs"] else "is not shown to differ"
    several = row["correction"] != "single"
    adjusted = f", {p_text('adjusted p', float(row['p_adjusted']))}" if several else ""
    test = (
        f"{TESTS[str(row['test'])]}({row['df1']:.0f}, {row['df2']:.1f}) = {row['statistic']:.2f}, "
        f"{p_text('p', float(row['p_value']))}{adjusted}"
    )
    parts = [
        f"{name}: the effect {said} between the {row['n_tested']} slices of {attribute} ({test})."
    ]
    parts += [text for text in (_range(slices), _spread(row, settings)) if text]
    if row["note"]:
        parts.append(f"Note: {row['note']}.")
    return " ".join(parts)


def _range(slices: pd.DataFrame) -> str:
    """Name the lowest and the highest slice, raw and shrunken."""
    known = slices[slices["shrunken"].notna()].sort_values("delta", kind="stable")
    if len(known) < 2:
        return ""
    digits = fmt.decimals_for(float(known["delta"].abs().max()))
    ends = [_slice_text(row, digits) for row in rows_of(known.iloc[[0, -1]])]
    return f"From {ends[0]} to {ends[1]}."


def _slice_text(row: Row, digits: int) -> str:
    raw, drawn, low, high = (
        float(row[name]) for name in ("delta", "shrunken", "shrunken_low", "shrunken_high")
    )
    return (
        f"{one_line(row['slice'])} {fmt.format_number(raw, decimals=digits, signed=True)} "
        f"(shrunken {fmt.format_number(drawn, decimals=digits, signed=True)}, "
        f"{fmt.format_interval(low, high, decimals=digits)})"
    )


def _spread(row: Row, settings: Mapping[str, Any]) -> str:
    tau2 = float(row["tau2"])
    if math.isnan(tau2):
        return ""
    digits = fmt.decimals_for(math.sqrt(tau2))
    ends = [math.sqrt(float(row[name])) for name in ("tau2_low", "tau2_high")]
    interval = ""
    if not math.isnan(ends[1]):
        level = fmt.format_percent(settings["level"])
        interval = f", {level} {fmt.format_interval(*ends, decimals=digits)}"
    tau = fmt.format_number(math.sqrt(tau2), decimals=digits)
    i2 = fmt.format_percent(round(float(row["i2"]), 2))
    return f"Standard deviation of the true effects {tau}{interval}; I\u00b2 {i2}."


def methods(table: pd.DataFrame, slices: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Write the paragraph on methods."""
    used = set(table["test"])
    parts = [
        "For each hypothesis and attribute the slices were tested for one mean difference"
        + _how(used, settings)
        + "."
    ]
    if settings["family_size"] > 1:
        parts.append(f"P-values were Holm-adjusted over {settings['family_size']} tests.")
    if slices["shrunken"].notna().any():
        level = fmt.format_percent(settings["level"])
        parts.append(
            "Cochran's Q, I\u00b2 and the variance tau\u00b2 of the true effects "
            f"(Paule\u2013Mandel, {level} Q-profile interval) treat the slices' standard errors "
            "as known. Shrunken differences are posterior means of a normal model with a flat "
            "prior on the common mean, averaged over tau with s0/(s0 + tau) uniform, s0\u00b2 "
            f"being the harmonic mean of the error variances; their {level} intervals carry the "
            "uncertainty of mean and tau, and standard errors that are themselves estimated were "
            "widened by the ratio of t to normal quantiles."
        )
    if (slices["se_from"] == "pooled").any():
        parts.append(
            "Slices without variance of their own, or with one pair, entered Q, tau\u00b2 and the "
            "shrinkage with the variance pooled over slices."
        )
    parts.append(f"Computed with evaltoolkit {settings['versions']['evaltoolkit']}.")
    return " ".join(parts)


def _how(used: set[str], settings: Mapping[str, Any]) -> str:
    ways = {
        "welch_f": "Welch's F",
        "brown_forsythe_f": "Brown and Forsythe's F with Mehrotra's degrees of freedom where a "
        "slice had no variance",
        "cluster_wald_f": f"a Wald test with the CR2 covariance for clusters of "
        f"{settings['cluster']} and approximate Hotelling degrees of freedom",
    }
    named = [text for test, text in ways.items() if test in used]
    return f" by {'; '.join(named)}" if named else ", where that was possible"
