"""The sentences of `length_bias`: composed from its tables, nothing is computed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from importlib import metadata
from typing import Any

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit.judging.naming import ends_text, one_line, p_text, series
from evaltoolkit.wording import Row, rows_of

FEW_BLOCKS = 30

_LOST = (
    ("n_no_output", "without an output to measure"),
    ("n_empty", "whose output is empty or has no length"),
    ("n_not_scored", "without a score"),
)
_HEADLINES = ("pairwise_all", "within_examples", "within_examples_and_systems")


def statsmodels_version() -> dict[str, str]:
    """Name the version of the package that fits the logistic model."""
    return {"statsmodels": metadata.version("statsmodels")}


def cautions(table: pd.DataFrame) -> Iterator[str]:
    """Say what a reviewer must know, once per cause."""
    once = table[table["model"].isin(["pairwise_all", "within_examples"])]
    lost = [f"{n} {text}" for name, text in _LOST if (n := int(once[name].sum()))]
    if lost:
        yield f"score rows left out: {', '.join(lost)}"
    fitted = once[once["slope"].notna() & (once["n_blocks"] < FEW_BLOCKS)]
    if len(fitted):
        yield (
            f"fewer than {FEW_BLOCKS} independent examples or clusters (fewest: "
            f"{int(fitted['n_blocks'].min())}); slopes are fragile there"
        )


def conclusion(table: pd.DataFrame, rates: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Say the result in sentences."""
    shown = table[table["model"].isin(_HEADLINES)]
    lines = [_sentence(row, settings) for row in rows_of(shown)]
    for _, part in rates.groupby(["criterion", "scorer", "system_a", "system_b"]):
        text = _controlled(*rows_of(part), settings=settings)
        lines += [text] if text else []
    lines.append(
        "This is association: longer answers may also be better ones. That length itself sways "
        "the judge is shown only where the same content is judged at different lengths."
    )
    return "\n".join(lines)


def _sentence(row: Row, settings: Mapping[str, Any]) -> str:
    pairwise = row["model"] == "pairwise_all"
    unit = "comparison" if pairwise else "rated output"
    head = f"{series(row, settings)}, {_MODELS[str(row['model'])]}, {_n(row, unit)}"
    share = float(row["longer_higher"])
    parts = []
    if not math.isnan(share):
        verb = "wins" if pairwise else "scores higher in"
        parts.append(
            f"the longer answer {verb} {fmt.format_percent(round(share, 3))} of comparisons (ties "
            "half)"
        )
    parts.append(_slope(row, settings, pairwise=pairwise))
    return f"{head}: {'; '.join(parts)}."


_MODELS = {
    "pairwise_all": "pairwise",
    "within_examples": "outputs of the same example",
    "within_examples_and_systems": "outputs of the same example, differences of systems taken out",
}


def _n(row: Row, unit: str) -> str:
    used, n = int(row["n_used"]), int(row["n"])
    text = fmt.counted(n, unit)
    return text if used == n else f"{text} ({used} of them informative)"


def _slope(row: Row, settings: Mapping[str, Any], *, pairwise: bool) -> str:
    name = "odds_ratio" if pairwise else "slope"
    value = float(row[name])
    if math.isnan(value):
        return str(row["note"])
    level = fmt.format_percent(float(settings["level"]))
    low, high = float(row[f"{name}_low"]), float(row[f"{name}_high"])
    ends = ends_text(low, high, level=level, decimals=3)
    number = fmt.format_number(value, signed=not pairwise)
    if pairwise:
        return f"twice the length multiplies the odds of a win by {number}{ends}{p_text(row)}"
    return f"twice the length goes with {number} points{ends}{p_text(row)}"


def _controlled(judged: Row, equal: Row, *, settings: Mapping[str, Any]) -> str:
    if math.isnan(float(equal["win_rate"])):
        return ""
    level = fmt.format_percent(float(settings["level"]))
    texts = []
    for row in (judged, equal):
        ends = ends_text(float(row["low"]), float(row["high"]), level=level, percent=True)
        texts.append(f"{fmt.format_percent(round(float(row['win_rate']), 3))}{ends}")
    note = f" ({equal['note']})" if equal["note"] else ""
    a, b = one_line(judged["system_a"]), one_line(judged["system_b"])
    return (
        f"{series(judged, settings)}: {a} wins {texts[0]} against {b} as judged, and {texts[1]} "
        f"at equal length, which is a model and no count{note}."
    )


def methods(table: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Compose the paragraph on methods."""
    blocks = "clusters of examples" if settings["by_cluster"] else "examples"
    models = set(table["model"])
    joined = "; ".join(f"{k} by {', '.join(v)}" for k, v in settings["joined_by"].items())
    sentences = [
        f"The length of an answer is its {_length(settings['length'])}. Scores and outputs were "
        f"joined ({joined}); rows without a score, an output or a length were left out and "
        "counted.",
        "Pairwise judgements: the win (a tie is half a win) was regressed on the base-2 logarithm "
        "of the ratio of lengths in a fractional logistic model with an intercept for each pair "
        "of systems (Papke and Wooldridge, Econometric methods for fractional response "
        "variables, 1996); judgements of the same two answers were averaged before, and pairs of "
        "systems of which one always wins were left out. The win rate at equal length is the "
        "model's prediction at a ratio of 1, in the manner of Dubois et al., Length-controlled "
        "AlpacaEval, 2024."
        if "pairwise_all" in models
        else "",
        "Single ratings: the score was regressed on the base-2 logarithm of the length with an "
        "effect for each example, and again with an effect for each system."
        if "within_examples" in models
        else "",
        f"Standard errors are CR2 over {blocks} with Satterthwaite degrees of freedom (Bell and "
        "McCaffrey, Bias reduction in standard errors for linear regression with multi-stage "
        "samples, 2002; Pustejovsky and Tipton, Small-sample methods for cluster-robust variance "
        f"estimation, 2018), intervals of level {fmt.format_percent(float(settings['level']))}; "
        "p-values are also given Holm-adjusted over the rows of each model.",
        "The slopes are associations, not effects of length.",
        f"Computed with evaltoolkit {settings['versions']['evaltoolkit']}.",
    ]
    return " ".join(text for text in sentences if text)


def _length(name: str) -> str:
    known = {"characters": "number of characters", "words": "number of words"}
    return known.get(name, f"{one_line(name)} in the outputs table")
