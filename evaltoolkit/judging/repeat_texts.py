"""The sentences of `repeatability`: composed from its table, nothing is computed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit.judging.naming import ends_text, one_line, series
from evaltoolkit.stats.rater_resamples import FEWEST_BLOCKS
from evaltoolkit.wording import Row, rows_of

FEW_OUTPUTS = 30


def cautions(table: pd.DataFrame, settings: Mapping[str, Any]) -> Iterator[str]:
    """Say what a reviewer must know, once per cause."""
    once = int(table["n_once"].sum())
    if once:
        yield (
            f"{fmt.counted(once, 'output')} with fewer than two scores left out; if hard outputs "
            "go unscored, repeatability looks better than it is"
        )
    few = table[(table["n_outputs"] > 0) & (table["n_outputs"] < FEW_OUTPUTS)]
    if len(few):
        yield (
            f"fewer than {FEW_OUTPUTS} outputs were judged again (fewest: "
            f"{int(few['n_outputs'].min())}); coefficients are fragile there"
        )
    if not table["n_outputs"].sum():
        yield (
            f"no output has two scores that differ in {settings['repeats']!r} only; see whether "
            f"{', '.join(settings['output_keys'])} name an output"
        )


def conclusion(table: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Say the result in sentences."""
    lines = [_sentence(row, settings) for row in rows_of(table)]
    lines.append(f"{_assumed(settings)} A judge that repeats itself can still be wrong every time.")
    return "\n".join(lines)


def _assumed(settings: Mapping[str, Any]) -> str:
    name = settings["repeats"]
    if name in ("trial", "run_id"):
        what = {"trial": "trials", "run_id": "runs"}[name]
        return (
            f"It was declared that {what} are repeats of the judge on the very same output; if the "
            f"system answered anew in each, its own variation is counted as the judge's."
        )
    return f"It was declared that {one_line(name)} numbers repeats of the judge on one output."


def _sentence(row: Row, settings: Mapping[str, Any]) -> str:
    head = series(row, settings)
    if not row["n_outputs"]:
        return f"{head}: no output was judged twice, so nothing can be said."
    level = fmt.format_percent(float(settings["level"]))
    n = fmt.counted(int(row["n_outputs"]), "output")
    binary = settings["kinds"][row["criterion"]] == "binary"
    spread = [] if binary else [_number(row, "within_sd", "SD within outputs", level)]
    spread += [] if binary else [_coefficient(row)]
    parts = [
        f"{n} judged up to {int(row['n_repeats'])} times: the same score again in "
        f"{_share(row, 'exact', level)} of pairs of repeats",
        f"{_share(row, 'flips', level)} of verdicts would flip" if row["n_verdicts"] else "",
        *spread,
        _number(row, "icc", "ICC(1)", level),
        _number(row, "kappa", "kappa", level),
        _drift(row),
    ]
    return f"{head}: {'; '.join(part for part in parts if part)}."


def _share(row: Row, name: str, level: str) -> str:
    ends = (float(row[f"{name}_low"]), float(row[f"{name}_high"]))
    share = fmt.format_percent(round(float(row[name]), 3))
    return f"{share}{ends_text(*ends, level=level, percent=True)}"


def _number(row: Row, name: str, label: str, level: str) -> str:
    value = float(row[name])
    if math.isnan(value):
        return ""
    ends = ends_text(float(row[f"{name}_low"]), float(row[f"{name}_high"]), level=level)
    return f"{label} {fmt.format_number(value, decimals=2)}{ends}"


def _coefficient(row: Row) -> str:
    value = float(row["repeatability"])
    if math.isnan(value) or value == 0:
        return ""
    return (
        "two scores of one output should lie within "
        f"{fmt.format_number(value, decimals=2)} of each other 95 times in 100"
    )


def _drift(row: Row) -> str:
    value = float(row["mean_range"])
    if math.isnan(value):
        return ""
    return f"means of the repeats lie within {fmt.format_number(value)} of each other"


def methods(table: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Compose the paragraph on methods."""
    level = fmt.format_percent(float(settings["level"]))
    kappa = bool(table["kappa"].notna().any())
    sentences = [
        f"Scores of the same output (same {', '.join(settings['output_keys'])}) that differ in "
        f"{one_line(settings['repeats'])} were taken as repeats of the judge; outputs with fewer "
        "than two scores were left out and counted.",
        "Exact agreement and flips are shares of pairs of repeats, averaged over outputs, with "
        "Wilson intervals where each output has one pair and stands alone, else t intervals (CR2 "
        "where an example has several outputs).",
        "The SD within outputs is pooled over outputs; the repeatability coefficient is 1.96 "
        "times the square root of 2 times this SD (Bland and Altman, Measurement error, 1996), "
        "which speaks of 95 in 100 only for roughly normal errors; the interval is a t interval "
        "of the logarithm of the variance with an error robust to the shape of the scores.",
        "ICC(1) is the share of variance that lies between outputs (Shrout and Fleiss, "
        "Intraclass correlations: uses in assessing rater reliability, 1979)"
        + (
            "; kappa is Fleiss' kappa over outputs that have every repeat (Fleiss, Measuring "
            "nominal scale agreement among many raters, 1971)"
            if kappa
            else ""
        )
        + f"; their {level} intervals are percentile bootstrap intervals over "
        f"{settings['draws']:,} resamples of whole examples (seed {settings['seed']}), given from "
        f"{FEWEST_BLOCKS} examples up (Efron, Bootstrap methods: another look at the jackknife, "
        "1979).",
        f"Computed with evaltoolkit {settings['versions']['evaltoolkit']}.",
    ]
    return " ".join(sentences)
