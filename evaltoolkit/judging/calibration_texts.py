"""The sentences of `calibrate`: composed from its table, nothing is computed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit.errors import listed
from evaltoolkit.wording import Row, rows_of

UNLIKE = 0.01
"""P-value below which labelled examples count as unlike the rest."""

_METHODS = {
    "human_only": "people alone",
    "ppi": "judge corrected by people",
    "ppi_tuned": "judge corrected by people, tuned weight",
}
_INTERVALS = {
    "wilson": "Wilson",
    "t": "t",
    "cr2_t": "CR2 t",
    "cr1_t": "CR1 t",
    "bonett_price": "Bonett\u2013Price",
    "contributions_t": "t on the contributions of the examples",
}


def cautions(table: pd.DataFrame, settings: Mapping[str, Any]) -> Iterator[str]:
    """Say what a reviewer must know, once per cause."""
    means = table[table["quantity"] == "mean"]
    bare = means[means["n_labelled"] == 0]
    if len(bare):
        yield f"no labels of {_one_line(settings['human'])} for {_names(bare)}: not corrected"
    unlike = means[means["p_labelled_like_rest"] < UNLIKE]
    if len(unlike):
        yield (
            f"the judge scores labelled examples unlike the others for {_names(unlike)}; the "
            "correction holds only where labelled examples are a random sample of all"
        )
    alone = means["n_labelled"] > means["n_both"]
    if alone.any():
        yield (
            "labels without a score of the judge on the same output do not help to correct it: "
            f"{_names(means[alone])}"
        )
    lost = means[means["n_judge_lost"] > 0]
    if len(lost):
        yield (
            f"the judge gave no score on up to {int(lost['n_judge_lost'].max())} examples, for "
            f"{_names(lost)}; they count only where people labelled them and stand alone"
        )
    unshared = table[(table["quantity"] == "difference") & (table["n_judge_lost"] > 0)]
    if len(unshared):
        yield (
            f"up to {int(unshared['n_judge_lost'].max())} examples are judged for one of the two "
            "systems only; the difference of means is over unlike sets there"
        )


def _names(rows: pd.DataFrame) -> str:
    return listed([_one_line(_head(row)) for row in rows_of(rows)])


def _head(row: Row) -> str:
    task = _one_line(row["task"]) if row["task"] else ""
    return _one_line(row["system"]) + (f" ({task})" if task and task != "(pooled)" else "")


def conclusion(table: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Say the result in sentences."""
    return "\n".join(
        _mean_sentence(row, settings)
        if row["quantity"] == "mean"
        else _difference_sentence(row, settings)
        for row in rows_of(table)
    )


def _mean_sentence(row: Row, settings: Mapping[str, Any]) -> str:
    judge = _one_line(settings["judge"])
    naive = (
        f"{judge} alone says {_number(row, 'judge_mean')}{_ends(row, 'judge')}"
        if not math.isnan(float(row["judge_mean"]))
        else f"{judge} gave no score"
    )
    if row["method"] == "none":
        return f"{_head(row)}: {naive}, and there are no labels to correct it."
    how = _METHODS[str(row["method"])]
    labels = fmt.counted(int(row["n_labelled"]), "label")
    text = (
        f"{_head(row)}: {_number(row, 'estimate')}{_ends(row, 'ci', settings)} from {labels} on "
        f"{row['n_examples']} examples ({how}); {naive}"
    )
    return f"{text}{_bias(row, judge)}{_errors(row)}."


def _bias(row: Row, judge: str) -> str:
    if math.isnan(float(row["judge_bias"])):
        return ""
    return f"; where both scored, {judge} is off by {_signed(row, 'judge_bias')}" + _ends(
        row, "bias"
    )


def _errors(row: Row) -> str:
    parts = [
        f"{name} {_number(row, name)}{_ends(row, name)}"
        for name in ("sensitivity", "specificity")
        if not math.isnan(float(row[name]))
    ]
    return f"; {', '.join(parts)}" if parts else ""


def _difference_sentence(row: Row, settings: Mapping[str, Any]) -> str:
    if math.isnan(float(row["estimate"])):
        return f"{_head(row)}: no corrected difference, since {row['note']}."
    how = " and ".join(_METHODS[name] for name in str(row["method"]).split("+"))
    text = (
        f"{_head(row)}: corrected difference {_signed(row, 'estimate')}"
        f"{_ends(row, 'ci', settings)} ({how}){_verdict(row, settings)}; the judge alone says "
        f"{_signed(row, 'judge_mean')}{_ends(row, 'judge')}"
    )
    if not math.isnan(float(row["judge_bias"])):
        text += f", and its bias differs by {_signed(row, 'judge_bias')}{_ends(row, 'bias')}"
    return f"{text}."


def _verdict(row: Row, settings: Mapping[str, Any]) -> str:
    p_value = float(row["p_adjusted"])
    if math.isnan(p_value):
        return ", untestable"
    text = fmt.format_p(p_value)
    p = f", p {text}" if text.startswith("<") else f", p = {text}"
    if p_value > float(settings["alpha"]):
        return f"{p}, no conclusive change"
    better = (float(row["estimate"]) > 0) == bool(settings["higher_is_better"])
    return f"{p}, {'improved' if better else 'regressed'}"


def _number(row: Row, name: str) -> str:
    return fmt.format_number(float(row[name]), decimals=3)


def _signed(row: Row, name: str) -> str:
    return fmt.format_number(float(row[name]), decimals=3, signed=True)


def _ends(row: Row, name: str, settings: Mapping[str, Any] | None = None) -> str:
    low, high = float(row[f"{name}_low"]), float(row[f"{name}_high"])
    if math.isnan(low):
        return ", without an interval," if settings else ""
    ends = fmt.format_interval(low, high, decimals=3)
    if settings is None:
        return f" {ends}"
    level = fmt.format_percent(1 - float(settings["alpha"]))
    return f" ({level} CI {ends}, {_INTERVALS[str(row['interval'])]})"


def _one_line(name: object) -> str:
    return " ".join(str(name).split()) or "(no name)"


def methods(table: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Compose the paragraph on methods."""
    unit = "clusters" if settings["by_cluster"] else "examples"
    level = fmt.format_percent(1 - float(settings["alpha"]))
    several = int((table["quantity"] == "difference").sum())
    sentences = [
        f"The estimand is the mean score of {_one_line(settings['criterion'])} that "
        f"{_one_line(settings['human'])} would give, over examples, equally weighted, of the "
        "per-example means over scored trials"
        + (", all tasks pooled." if settings["tasks"] == "pooled" else ", for each task."),
        f"From {settings['ppi_from']} labelled {unit} up, {_one_line(settings['judge'])} helps by "
        f"prediction-powered inference (t quantile, labelled {unit} minus one degrees of "
        f"freedom; from {settings['tuned_from']} up with the judge's weight chosen from the data, "
        "PPI++); below, or where judge and people never differ, the labels stand alone (Wilson "
        "interval for single 0/1 scores, t otherwise).",
        "Labelled examples are taken as a random sample of all.",
        _difference_methods(several) if several else "",
        f"Dependent examples were treated as {unit}: CR2 t intervals for plain means, sums of "
        "contributions within clusters (CR1) for corrected ones."
        if settings["by_cluster"]
        else "",
        f"Intervals have level {level}. Computed with evaltoolkit "
        f"{settings['versions']['evaltoolkit']}.",
    ]
    return " ".join(text for text in sentences if text)


def _difference_methods(several: int) -> str:
    return (
        "In the difference each system is corrected by its own labels; its standard error is "
        "that of the examples' contributions to both estimates, so that shared examples count "
        "as pairs and no equal bias of the judge is assumed (where the same examples are "
        "labelled in both and people stand alone: Bonett\u2013Price interval and McNemar mid-p "
        "for single 0/1 scores, paired t otherwise)."
        + (f" P-values were Holm-adjusted over {several} tasks." if several > 1 else "")
    )
