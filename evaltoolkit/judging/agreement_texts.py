"""The sentences of `agreement`: composed from its table, nothing is computed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit.errors import listed
from evaltoolkit.stats.rater_resamples import FEWEST_BLOCKS
from evaltoolkit.wording import Row, rows_of

FEW_OUTPUTS = 30

_NAMES = {
    "kappa": "Cohen's kappa",
    "kappa_quadratic": "quadratic kappa",
    "ac1": "Gwet's AC1",
    "icc": "ICC(2,1)",
    "krippendorff_alpha": "Krippendorff's alpha",
    "fleiss_kappa": "Fleiss' kappa",
    "icc2": "ICC(2,1)",
    "icc3": "ICC(3,1)",
}
_TESTS = {
    "mcnemar_midp": "McNemar mid-p",
    "stuart_maxwell": "Stuart\u2013Maxwell",
    "t": "paired t",
    "cr2_t": "CR2 t",
}


def cautions(table: pd.DataFrame) -> Iterator[str]:
    """Say what a reviewer must know about the pairs, once per cause."""
    few = table[(table["n"] > 0) & (table["n"] < FEW_OUTPUTS)]
    if len(few):
        yield (
            f"{fmt.counted(len(few), 'pair')} of scorers met on fewer than {FEW_OUTPUTS} outputs "
            f"(fewest: {int(few['n'].min())}); coefficients of agreement are fragile there"
        )
    apart = table[table["n"] == 0]
    if len(apart):
        names = [f"{row['scorer_a']} / {row['scorer_b']}" for row in rows_of(apart)]
        yield f"no output was scored by both of: {listed(names)}"
    lost = table[table["n_not_scored"] > 0]
    if len(lost):
        yield (
            "outputs where one of two scorers gave no score are left out, up to "
            f"{int(lost['n_not_scored'].max())} in {fmt.counted(len(lost), 'pair')}; if hard "
            "outputs go unscored, agreement looks better than it is"
        )


def conclusion(table: pd.DataFrame, overall: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Say the result in sentences."""
    lines = [_pair_sentence(row, settings) for row in rows_of(table)]
    if len(settings["scorers"]) > 2:
        parts = [_coefficient(row, str(row["coefficient"])) for row in rows_of(overall)]
        said = ", ".join(part for part in parts if part)
        count = len(settings["scorers"])
        lines.append(f"All {count} scorers: {said or 'no coefficient exists'}.")
    lines.append("Agreement is not validity: scorers can share an error.")
    return "\n".join(lines)


def _pair_sentence(row: Row, settings: Mapping[str, Any]) -> str:
    a, b = _one_line(row["scorer_a"]), _one_line(row["scorer_b"])
    if not row["n"]:
        return f"{a} and {b} scored no output in common."
    n = fmt.counted(int(row["n"]), "output")
    level = fmt.format_percent(1 - float(settings["alpha"]))
    names = {
        "nominal": ("kappa", "ac1"),
        "ordinal": ("kappa_quadratic", "kappa", "ac1"),
        "interval": ("icc",),
    }[str(settings["level"])]
    found = [part for name in names if (part := _pair_coefficient(row, name))]
    same = fmt.format_percent(float(row["observed"]))
    ends = _ends(float(row["observed_low"]), float(row["observed_high"]))
    parts = [
        f"{a} and {b} give the same score on {same} of {n}{ends} ({level} intervals)",
        ", ".join(found) or "no coefficient exists",
        _bias(row, a, b),
    ]
    return "; ".join(part for part in parts if part) + "."


def _pair_coefficient(row: Row, name: str) -> str:
    value = float(row[name])
    if math.isnan(value):
        return ""
    ends = _ends(float(row[f"{name}_low"]), float(row[f"{name}_high"]))
    return f"{_NAMES[name]} {fmt.format_number(value, decimals=2)}{ends}"


def _coefficient(row: Row, name: str) -> str:
    value = float(row["value"])
    ends = _ends(float(row["low"]), float(row["high"]))
    text = f"{_NAMES[name]} {fmt.format_number(value, decimals=2)}{ends} on {row['n']} outputs"
    return "" if math.isnan(value) else text


def _ends(low: float, high: float) -> str:
    return "" if math.isnan(low) else f" {fmt.format_interval(low, high, decimals=2)}"


def _bias(row: Row, a: str, b: str) -> str:
    if math.isnan(float(row["mean_a"])):
        return ""
    means = [fmt.format_number(float(row[name]), decimals=2) for name in ("mean_a", "mean_b")]
    text = f"mean scores are {means[0]} ({a}) and {means[1]} ({b})"
    if math.isnan(float(row["p_bias"])):
        return text
    p = fmt.format_p(float(row["p_bias"]))
    test = _TESTS.get(str(row["bias_test"]), "all differences are 0:")
    p_text = p if p.startswith("<") else f"= {p}"
    return f"{text}, {test} p {p_text}"


def _one_line(name: object) -> str:
    return " ".join(str(name).split()) or "(no name)"


def methods(table: pd.DataFrame, overall: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Compose the paragraph on methods."""
    what = "clusters of examples" if settings["by_cluster"] else "examples"
    level = fmt.format_percent(1 - float(settings["alpha"]))
    names = [_NAMES[str(name)] for name in overall["coefficient"]]
    used = [_TESTS[t] for t in dict.fromkeys(table["bias_test"]) if t in _TESTS]
    sentences = [
        f"Scorers of {_one_line(settings['criterion'])} were compared on the same outputs (run, "
        "system, task, example and trial); outputs that one of two scorers did not score were "
        "left out and counted.",
        f"Scores were treated as {settings['level']}.",
        "Per pair of scorers: observed agreement"
        + (
            " and ICC(2,1), absolute agreement of single scorers"
            if settings["level"] == "interval"
            else ", Cohen's kappa and Gwet's AC1"
            + (", with linear and quadratic weights" if settings["level"] == "ordinal" else "")
        )
        + f"; over all scorers: {', '.join(names)}.",
        f"Intervals of coefficients are {level} percentile bootstrap intervals over "
        f"{settings['draws']:,} resamples of whole {what} (seed {settings['seed']}), given from "
        f"{FEWEST_BLOCKS} {what} up; those of observed agreement are Wilson intervals"
        + (
            "."
            if settings["independent"]
            else ", or CR2 t intervals where outputs of one example or cluster depend on each "
            "other."
        ),
        f"Whether one scorer scores higher was tested by {' and '.join(used)}; p-values are "
        "also given Holm-adjusted over pairs."
        if used
        else "",
        f"Computed with evaltoolkit {settings['versions']['evaltoolkit']}.",
    ]
    return " ".join(text for text in sentences if text)
