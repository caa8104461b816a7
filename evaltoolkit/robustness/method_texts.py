"""What `alternatives` says: sentences composed from its table; nothing is computed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit.wording import INTERVALS, TESTS, Row, label, rows_of

Settings = Mapping[str, Any]

METHOD_NAMES = {
    **INTERVALS,
    **TESTS,
    "cr0_z": "CR0 z",
    "cluster_flip_exact": "cluster sign-flip (plain)",
    "cluster_permutation": "permutation of whole clusters",
    "cluster_bootstrap_percentile": "percentile bootstrap of whole clusters",
    "cluster_bootstrap_bca": "BCa bootstrap of whole clusters",
    "cluster_bootstrap_studentized": "studentised bootstrap of whole clusters",
    "bootstrap_percentile": "percentile bootstrap",
    "bootstrap_bca": "BCa bootstrap",
    "bootstrap_studentized": "studentised bootstrap",
    "wilcoxon_wilcox": "Wilcoxon (ties left out)",
    "wilcoxon_pratt": "Wilcoxon (Pratt's ties)",
    "hodges_lehmann": "Hodges\u2013Lehmann",
    "sign_test": "sign test",
    "win_rate": "rate of wins",
    "bayes_dirichlet": "Bayesian interval (uniform Dirichlet)",
    "stuart_maxwell": "Stuart\u2013Maxwell",
    "bhapkar": "Bhapkar",
    "bowker": "Bowker",
}
"""Names of methods as people read them, by the value of the column ``method``."""

_KEYS = ("task", "criterion", "scorer", "slice_by", "slice")


def conclusion(rows: Sequence[Row], table: pd.DataFrame, settings: Settings) -> str:
    """Say for each row of the comparison how many methods agree with it, and which do not."""
    said = {_key(row): part for row, part in _parts(rows, table)}
    overall = [row for row in rows if not isinstance(row["slice_by"], str)]
    slices = [row for row in rows if isinstance(row["slice_by"], str)]
    lines = [_headline(table), *(_sentence(row, said[_key(row)], settings) for row in overall)]
    if slices:
        lines.append(_slices(slices, said))
    lines.append(
        f"All p-values here are unadjusted and held against alpha {settings['alpha']:g}; a "
        "verdict of the comparison rests on its adjusted p-value. Methods with another estimand "
        "than the mean difference may rightly answer otherwise."
    )
    return "\n".join(lines)


def _key(row: Row) -> tuple[str, ...]:
    return tuple("" if _missing(row[name]) else str(row[name]) for name in _KEYS)


def _missing(value: object) -> bool:
    return value is None or value is pd.NA or value != value


def _parts(rows: Sequence[Row], table: pd.DataFrame) -> list[tuple[Row, list[Row]]]:
    """Give each row of the comparison the answers to it."""
    answers: dict[tuple[str, ...], list[Row]] = {}
    for answer in rows_of(table):
        answers.setdefault(_key(answer), []).append(answer)
    return [(row, answers.get(_key(row), [])) for row in rows]


def _headline(table: pd.DataFrame) -> str:
    others = table[table["counted"] & ~table["own"].str.contains("test")]
    if not len(others):
        return "Nothing was tested, so no method could agree or disagree."
    against = others[others["agrees"].eq(other=False).fillna(value=False)]
    if not len(against):
        return "No counted method contradicts the comparison's own tests."
    hit = len(against.drop_duplicates(list(_KEYS)))
    asked = len(table.drop_duplicates(list(_KEYS)))
    return (
        f"The answer depends on the method in {hit} of "
        f"{fmt.counted(asked, 'row')} of the comparison."
    )


def _sentence(row: Row, answers: Sequence[Row], settings: Settings) -> str:
    if not answers:
        return f"{label(row)}: not tested ({row['note'] or 'no p-value'}), so left out."
    counted = [each for each in answers if each["counted"] and "test" not in each["own"]]
    given = [each for each in counted if not _missing(each["agrees"])]
    against = [each for each in given if not each["agrees"]]
    silent = [each for each in counted if _missing(each["agrees"])]
    agreed = len(given) - len(against)
    return (
        f"{label(row)}: {_own_test(row, settings)}; {agreed} of "
        f"{fmt.counted(len(given), 'other method')} "
        f"{'agrees' if agreed == 1 else 'agree'}"
        f"{' in sign and significance' if _found(row, settings) else ''}."
        + _against(against)
        + (f" Without an answer: {_names(silent)}." if silent else "")
        + _after_adjustment(row, settings)
    )


def _found(row: Row, settings: Settings) -> bool:
    return float(row["p_value"]) <= float(settings["alpha"])


def _own_test(row: Row, settings: Settings) -> str:
    p, delta = float(row["p_value"]), float(row["delta"])
    found = "significant" if _found(row, settings) else "not significant"
    width = float(row["ci_high"]) - float(row["ci_low"])
    size = fmt.format_number(delta, decimals=fmt.decimals_for(delta, width), signed=True)
    text = fmt.format_p(p)
    said = f"p {text}" if text.startswith("<") else f"p = {text}"
    return f"{found} by its own test (difference {size}, {TESTS[str(row['test'])]} {said})"


_DISSENT = {
    ("significance", True): "significant",
    ("significance", False): "not significant",
    ("sign", True): "opposite sign, also significant",
    ("both", True): "opposite sign, and significant",
    ("both", False): "opposite sign, and not significant",
}


def _against(answers: Sequence[Row]) -> str:
    if not answers:
        return ""
    kinds: dict[str, list[Row]] = {}
    for each in answers:
        what = _DISSENT[str(each["dissent"]), bool(each["significant"])]
        kinds.setdefault(what, []).append(each)
    said = "; ".join(f"{_named_estimands(each)} ({what})" for what, each in kinds.items())
    return f" Otherwise: {said}."


def _named_estimands(answers: Sequence[Row]) -> str:
    return ", ".join(
        METHOD_NAMES[str(each["method"])]
        + ("" if "mean difference" in str(each["estimand"]) else f" [{each['estimand']}]")
        for each in answers
    )


def _names(answers: Sequence[Row]) -> str:
    return ", ".join(METHOD_NAMES[str(each["method"])] for each in answers)


def _after_adjustment(row: Row, settings: Settings) -> str:
    adjusted, alpha = float(row["p_adjusted"]), settings["alpha"]
    if math.isnan(adjusted) or (adjusted <= alpha) == (float(row["p_value"]) <= alpha):
        return ""
    return f" After adjustment it is not significant (adjusted p = {fmt.format_p(adjusted)})."


def _slices(rows: Sequence[Row], said: Mapping[tuple[str, ...], Sequence[Row]]) -> str:
    disputed = [
        label(row)
        for row in rows
        if any(each["counted"] and each["dissent"] for each in said[_key(row)])
    ]
    tested = sum(bool(said[_key(row)]) for row in rows)
    shown = "; ".join(disputed[:5]) + (f" and {len(disputed) - 5} more" if disputed[5:] else "")
    return (
        f"Slices: {tested - len(disputed)} of {tested} are answered alike by all methods."
        + (f" Not: {shown}." if disputed else "")
        + (f" {len(rows) - tested} could not be tested." if len(rows) > tested else "")
    )


def methods(table: pd.DataFrame, settings: Settings) -> str:
    """Write the paragraph on methods."""
    level = fmt.format_percent(float(settings["level"]))
    used = ", ".join(METHOD_NAMES[name] for name in dict.fromkeys(table["method"]))
    sentences = [
        f"To see whether the conclusion depends on the method, the pairs of each hypothesis were "
        f"put to: {used or 'no method'}.",
        f"Intervals have level {level}; p-values are two-sided and not adjusted for the number "
        "of hypotheses or methods.",
        "A method agrees where it falls on the same side of alpha as the comparison's own test "
        "(by its p-value, else by whether its interval leaves out 0) and, where either is "
        "significant, has no opposite sign.",
        "Normal (z) results are there to replicate published numbers and were not counted, nor "
        "were methods that equal another by construction."
        if (~table["counted"]).any()
        else "",
        "Rank and sign methods need independent examples and were left out where examples come "
        "in clusters."
        if settings["clustered"]
        else "",
        f"Computed with evaltoolkit {settings['versions']['evaltoolkit']} (seed "
        f"{settings['seed']}, {settings['draws']:,} random flips and resamples where not exact).",
    ]
    return " ".join(sentence for sentence in sentences if sentence)
