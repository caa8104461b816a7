"""The sentences of `position_bias`: composed from its tables, nothing is computed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit.judging.naming import ends_text, one_line, p_text, series
from evaltoolkit.wording import Row, rows_of

FEW = 30


def cautions(table: pd.DataFrame, settings: Mapping[str, Any]) -> Iterator[str]:
    """Say what a reviewer must know, once per cause."""
    overall = table[table["scope"] == "all"]
    alone, lost = int(overall["n_one_order"].sum()), int(overall["n_not_scored"].sum())
    if settings["n_no_position"]:
        count = fmt.counted(settings["n_no_position"], "pairwise row")
        yield f"{count} without a position left out"
    if alone or lost:
        yield (
            f"left out: {fmt.counted(alone, 'comparison')} judged in one order only, "
            f"{lost} without a score in any order"
        )
    few = overall[(overall["n"] > 0) & (overall["n"] < FEW)]
    if len(few):
        yield (
            f"fewer than {FEW} comparisons were judged in both orders (fewest: "
            f"{int(few['n'].min())}); shares are coarse there"
        )


def conclusion(table: pd.DataFrame, preferences: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Say the result in sentences."""
    lines = []
    for row in rows_of(table[table["scope"] == "all"]):
        lines.append(_sentence(row, settings))
        here = (table["criterion"] == row["criterion"]) & (table["scorer"] == row["scorer"])
        pairs = rows_of(table[here & (table["scope"] == "pair")])
        if len(pairs) > 1:
            lines += [_sentence(each, settings) for each in pairs]
    own = ["criterion", "scorer", "system_a", "system_b"]
    for _, part in preferences.groupby(own):
        text = _preference(rows_of(part), settings)
        lines += [text] if text else []
    return "\n".join(lines)


def _sentence(row: Row, settings: Mapping[str, Any]) -> str:
    head = series(row, settings)
    if row["scope"] == "pair":
        head += f", {one_line(row['system_a'])} against {one_line(row['system_b'])}"
    if not row["n"]:
        return f"{head}: no comparison was judged in both orders, so nothing can be said."
    shares = [fmt.format_percent(_round(row[name])) for name in _SHARES]
    level = fmt.format_percent(float(settings["level"]))
    rate = fmt.format_percent(_round(row["first_rate"]))
    ends = ends_text(float(row["ci_low"]), float(row["ci_high"]), level=level, percent=True)
    return (
        f"{head}: of {fmt.counted(int(row['n']), 'comparison')} judged in both orders {shares[0]} "
        f"had the same verdict twice; the first answer won both times in {shares[1]}, the second "
        f"in {shares[2]}; in {shares[3]} one order was a tie. The answer shown first won {rate}"
        f"{ends}{p_text(row)}{_verdict(row, settings)}."
    )


_SHARES = ("consistent", "first_wins_both", "second_wins_both", "tie_in_one")


def _round(share: object) -> float:
    return round(float(str(share)), 3)


def _verdict(row: Row, settings: Mapping[str, Any]) -> str:
    p = float(row["p_adjusted"])
    if math.isnan(p):
        return ""
    if p > 1 - float(settings["level"]):
        return ": no preference for a place is shown, which is no proof that there is none"
    side = "first" if float(row["first_rate"]) > 0.5 else "second"
    return f": the judge favours the {side} place"


def _preference(rows: list[Row], settings: Mapping[str, Any]) -> str:
    by_order = {str(row["order"]): row for row in rows}
    both = by_order["both"]
    if not both["n"]:
        return ""
    level = fmt.format_percent(float(settings["level"]))
    a, b = one_line(both["system_a"]), one_line(both["system_b"])
    rates = {k: fmt.format_percent(_round(row["preference"])) for k, row in by_order.items()}
    ends = ends_text(float(both["ci_low"]), float(both["ci_high"]), level=level, percent=True)
    return (
        f"{series(both, settings)}: with the place balanced out {a} is preferred to {b} in "
        f"{rates['both']}{ends}; shown first in {rates['a_first']}, shown second in "
        f"{rates['b_first']}."
    )


_TESTS = {
    "mcnemar_midp": "McNemar's mid-p test of the comparisons whose verdict changed",
    "sign_flip": "a sign-flip test (mid-p)",
    "cluster_flip": "sign flips of whole blocks (mid-p)",
    "cr2_t": "the CR2 t test",
}
_INTERVALS = {
    "bonett_price": "Bonett and Price's interval",
    "t": "the t interval",
    "cr2_t": "the CR2 interval with Satterthwaite degrees of freedom",
}


def methods(table: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Compose the paragraph on methods."""
    blocks = "clusters of examples" if settings["by_cluster"] else "examples"
    tests = [_TESTS[t] for t in dict.fromkeys(table["test"]) if t in _TESTS]
    intervals = [_INTERVALS[t] for t in dict.fromkeys(table["interval"]) if t in _INTERVALS]
    sentences = [
        "Each pair of answers was judged in both orders of presentation (Zheng et al., Judging "
        "LLM-as-a-judge with MT-bench and Chatbot Arena, 2023; Wang et al., Large language "
        "models are not fair evaluators, 2023). Several judgements in one order were averaged; "
        "comparisons judged in one order only were left out and counted.",
        "Without position bias the two verdicts are exchangeable. The share of wins of the "
        "answer shown first, the mean over both orders and all comparisons, was tested against "
        f"one half by {' and '.join(tests)}"
        + (f", with {' and '.join(intervals)}" * bool(intervals))
        + f" at level {fmt.format_percent(float(settings['level']))}."
        if tests
        else "",
        f"Independent blocks are {blocks}; p-values are also given Holm-adjusted, over judges "
        "and criteria, and over pairs of systems.",
        "Preferences are the mean of both orders, which balances a constant favour for a place.",
        _sources(table),
        f"Computed with evaltoolkit {settings['versions']['evaltoolkit']}.",
    ]
    return " ".join(text for text in sentences if text)


def _sources(table: pd.DataFrame) -> str:
    known = {
        "mcnemar_midp": "Fagerland, Lydersen and Laake, The McNemar test for binary matched-pairs "
        "data, 2013",
        "bonett_price": "Bonett and Price, Adjusted Wald confidence interval for a difference of "
        "binomial proportions based on paired data, 2012",
        "sign_flip": "Fisher, The design of experiments, 1935",
        "cr2_t": "Bell and McCaffrey, Bias reduction in standard errors for linear regression "
        "with multi-stage samples, 2002",
        "cluster_flip": "Canay, Romano and Shaikh, Randomization tests under an approximate "
        "symmetry assumption, 2017",
    }
    used = {*table["test"], *table["interval"]}
    cited = [text for name, text in known.items() if name in used]
    return f"Sources: {'; '.join(cited)}." if cited else ""
