"""The paragraph on methods, composed from the table and settings of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit.wording import CORRECTIONS, INTERVALS, TESTS, listing


def methods(table: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Compose the paragraph on methods."""
    sentences = [
        f"Systems were compared on the same examples: for each criterion the estimand is the mean "
        f"over examples, equally weighted, of the difference (candidate minus baseline) of the "
        f"per-example means over scored trials. The baseline is {settings['baseline']}, the "
        f"candidate {settings['candidate']}.",
        _scope_sentence(settings),
        _preference_sentence(settings),
        _missing_sentence(settings),
        _interval_sentence(table, settings),
        _test_sentence(table),
        _cluster_sentence(table, settings),
        _family_sentence(settings),
        _joint_sentence(table, settings),
        _primary_sentence(settings),
        _hierarchy_sentence(settings),
        _declaration_sentence(settings),
        _margin_sentence(settings),
        _looks_sentence(settings),
        f"Computed with evaltoolkit {settings['versions']['evaltoolkit']} (seed "
        f"{settings['seed']}, {settings['draws']:,} random sign flips where not exact).",
    ]
    return " ".join(sentence for sentence in sentences if sentence)


_MISSING = {
    "report": "Examples without a scored trial on both sides were left out and counted by cause.",
    "worst": "Every example without a scored trial on both sides was counted against the "
    "candidate at the bounds of the criterion.",
    "as_failure": "A system error took the worse bound of the criterion; other examples without "
    "a scored trial on both sides were left out and counted by cause.",
}


def _preference_sentence(settings: Mapping[str, Any]) -> str:
    forms = settings.get("preferences")
    return f"Pairwise judgements: {'; '.join(forms)}." if forms else ""


def _missing_sentence(settings: Mapping[str, Any]) -> str:
    return _MISSING[str(settings["missing"])]


def _named(values: pd.Series, names: Mapping[str, str]) -> str:
    used = [names[v] for v in dict.fromkeys(values) if v != "none"]
    return listing(used)


def _interval_sentence(table: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    used = _named(table["interval"], INTERVALS)
    level = fmt.format_percent(1 - float(settings["alpha"]))
    if not used:
        return ""
    return (
        f"Intervals are {level} {used} intervals of that mean difference."
        f"{_bootstrap_caveat(table, settings)}"
    )


def _bootstrap_caveat(table: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    if not table["interval"].str.startswith("bootstrap").any():
        return ""
    what = "whole clusters" if settings["clustered"] else "examples"
    return (
        f" Bootstrap intervals rest on at least {settings['draws']:,} resamples of {what}; with "
        "few examples or many ties they are known to be too short. Standard errors, minimum "
        "detectable effects and p-values do not come from the resamples."
    )


def _test_sentence(table: pd.DataFrame) -> str:
    used = _named(table["test"], TESTS)
    if not used:
        return ""
    flips = table["test"].isin(["sign_flip", "sign_flip_exact", "cluster_flip"]).any()
    caveat = (
        " Sign-flip tests assume differences symmetric about zero under the null hypothesis, "
        "which is more than a zero mean."
        if flips
        else ""
    )
    return f"Two-sided p-values come from the {used} test.{caveat}"


def _cluster_sentence(table: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    if not settings["clustered"]:
        return ""
    flipped = (table["test"] == "cluster_flip").any()
    return (
        f"Examples of one {settings['cluster']} were treated as dependent: standard errors are "
        "cluster-robust (bias-reduced CR2 with Satterthwaite degrees of freedom unless named "
        "otherwise)" + (" and signs were flipped for whole clusters." if flipped else ".")
    )


def _scope_sentence(settings: Mapping[str, Any]) -> str:
    parts = []
    if settings["measure"] == "passed":
        parts.append("The scorers' own verdicts (passed or not) were compared as 1 and 0.")
    if settings["tasks"] == "pooled":
        parts.append("The examples of all tasks were pooled.")
    if settings["runs"] != "error":
        how = {"latest": "the latest run was used", "trials": "they were used as trials"}
        parts.append(f"Where several runs measured the same, {how[settings['runs']]}.")
    return " ".join(parts)


def _joint_sentence(table: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    several = any(f["size"] > 1 for f in settings["families"].values())
    if not several or table["joint_low"].isna().all():
        return ""
    level = fmt.format_percent(1 - float(settings["alpha"]))
    return (
        f"Joint intervals are the same intervals at the stricter level at which all of a family "
        f"hold together with {level} confidence."
    )


def _primary_sentence(settings: Mapping[str, Any]) -> str:
    primary = settings["primary"]
    if primary is None:
        return ""
    scope = (
        f" for each of the {settings['n_candidates']} candidates, so that the error rate of what "
        "follows it holds for a candidate, not over all of them"
        if settings.get("n_candidates", 1) > 1
        else ""
    )
    if isinstance(primary, str):
        return (
            f"The primary criterion, {primary}, was tested first and alone; other criteria are "
            f"claimed only where it is significant{scope}."
        )
    return (
        f"The primary criteria were tested in a fixed sequence, {', then '.join(primary)}, each "
        "alone at the full alpha; a criterion, and all that follow, are claimed only where every "
        f"one before it is significant{scope}."
    )


def _hierarchy_sentence(settings: Mapping[str, Any]) -> str:
    if settings["correction"]["slices"] != "hierarchical":
        return ""
    return (
        "The overall hypotheses share alpha equally (Bonferroni); the slices of a hypothesis are "
        "claimed only where it is, by Holm at its share (graphical procedure of Bretz and others, "
        "2009), so that the chance of any false claim, overall or slice, is at most alpha."
    )


def _declaration_sentence(settings: Mapping[str, Any]) -> str:
    declared = settings.get("declaration")
    if not declared:
        return ""
    deviations = "; ".join(declared["deviations"]) or "none"
    return (
        f"The family was declared on {declared['declared_at']} (digest "
        f"{declared['digest'][:12]}); deviations: {deviations}."
    )


def _family_sentence(settings: Mapping[str, Any]) -> str:
    parts = []
    for name, facts in settings["families"].items():
        if facts["size"] > 1:
            how = CORRECTIONS.get(facts["correction"], facts["correction"])
            note = f" ({facts['note']})" if facts["note"] else ""
            parts.append(f"{how} over the {facts['size']} hypotheses of the family '{name}'{note}")
    if not parts:
        return ""
    return f"P-values were adjusted by {'; '.join(parts)} (alpha {settings['alpha']:g})."


def _looks_sentence(settings: Mapping[str, Any]) -> str:
    looks = settings.get("analyses_viewed", 0)
    if not looks:
        return ""
    return (
        f"This is one of {fmt.counted(looks, 'distinct analysis', 'distinct analyses')} that were "
        "viewed interactively; the adjustment does not cover that choice."
    )


def _margin_sentence(settings: Mapping[str, Any]) -> str:
    if not settings["margin"]:
        return ""
    return (
        "Equivalence and non-inferiority were tested against the stated margins by two one-sided "
        "tests (Tango score tests for paired 0/1 outcomes), Holm-adjusted over the family; they "
        "and the tests of a difference each use the full alpha."
    )
