"""What `pool_tasks` says: sentences composed from its tables; nothing is computed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit.wording import Row, rows_of

Settings = Mapping[str, Any]

_VERDICTS = {
    "improved": "improved",
    "regressed": "regressed",
    "inconclusive": "shows no conclusive change",
    "not_measured": "was not measured",
}
_WEIGHTS = {"equal": "equal weight", "examples": "weight by number of examples"}


def conclusion_text(table: pd.DataFrame, tasks: pd.DataFrame, settings: Settings) -> str:
    """Say the weighted differences in sentences, one a line."""
    several = table["criterion"].duplicated(keep=False)
    lines = [_headline(settings)]
    for row, show_scorer in zip(rows_of(table), several, strict=True):
        here = tasks[(tasks["criterion"] == row["criterion"]) & (tasks["scorer"] == row["scorer"])]
        lines.append(_sentence(row, here, settings, show_scorer=bool(show_scorer)))
    return "\n".join(lines)


def _headline(settings: Settings) -> str:
    left = settings["tasks_left_out"]
    out = f" Left out: {', '.join(left)}." if left else ""
    return (
        f"{settings['candidate']} against {settings['baseline']} over "
        f"{fmt.counted(len(settings['tasks']), 'task')}, {_weights(settings)}.{out}"
    )


def _weights(settings: Settings) -> str:
    given = settings["weights"]
    if isinstance(given, str):
        return _WEIGHTS[given]
    return "weights " + ", ".join(f"{task} {weight:g}" for task, weight in given.items())


def _sentence(row: Row, tasks: pd.DataFrame, settings: Settings, *, show_scorer: bool) -> str:
    name = f"{row['criterion']} ({row['scorer']})" if show_scorer else str(row["criterion"])
    head = f"{name} {_VERDICTS[str(row['verdict'])]}"
    if not row["n_pairs"]:
        return f"{head}: no task has a usable pair."
    digits = fmt.decimals_for(float(row["delta"]), float(row["ci_high"]) - float(row["ci_low"]))
    delta = fmt.format_number(float(row["delta"]), decimals=digits, signed=True)
    direction = "" if row["higher_is_better"] else " (lower is better)"
    ends = [fmt.format_number(v, decimals=digits, signed=True)
            for v in (tasks["delta"].min(), tasks["delta"].max())]  # fmt: skip
    parts = [
        f"weighted difference {delta}{direction}{_evidence(row, settings, digits)}",
        f"{fmt.counted(int(row['n_pairs']), 'pair')} in {fmt.counted(int(row['n_tasks']), 'task')}",
    ]
    if row["n_tasks"] > 1:
        parts.append(f"single tasks range from {ends[0]} to {ends[1]}")
    if row["tasks_missing"]:
        share = fmt.format_percent(float(row["coverage"]))
        parts.append(f"{share} of the weight measured, without {row['tasks_missing']}")
    note = f" Note: {row['note']}." if row["note"] else ""
    return f"{head}: {'; '.join(parts)}.{note}"


def _evidence(row: Row, settings: Settings, digits: int) -> str:
    if math.isnan(float(row["ci_low"])):
        return ""
    level = fmt.format_percent(float(settings["level"]))
    ends = fmt.format_interval(float(row["ci_low"]), float(row["ci_high"]), decimals=digits)
    parts = [f"{level} CI {ends}"]
    if not math.isnan(float(row["p_value"])):
        parts.append(f"p {fmt.format_p(float(row['p_value']))}")
        if row["correction"] != "single":
            parts.append(f"adjusted {fmt.format_p(float(row['p_adjusted']))}")
    return f" ({'; '.join(parts)})"


def methods_text(table: pd.DataFrame, settings: Settings) -> str:
    """Write the paragraph on methods."""
    level = fmt.format_percent(float(settings["level"]))
    clustered = (
        f" Examples of one {settings['cluster']} were treated as dependent, also across tasks "
        "(bias-reduced CR2 variance of the weighted sum)."
        if settings["clustered"]
        else ""
    )
    family = (
        f" P-values were Holm-adjusted over {len(table)} hypotheses."
        if (table["correction"] == "holm").any()
        else ""
    )
    return (
        f"The paired mean differences of {len(settings['tasks'])} tasks were combined with "
        f"{_weights(settings)}; tasks were taken as fixed, so the uncertainty is that of other "
        "examples of the same tasks. The variance of the weighted difference is the sum over "
        f"independent examples; intervals ({level}) and tests use Student's t with Satterthwaite "
        f"degrees of freedom.{clustered}{family} Tasks without a pair were left out and their "
        "weight reported."
    )
