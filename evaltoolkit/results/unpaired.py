"""The result of `compare_unpaired`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit import wording
from evaltoolkit.results.base import TableResult

_INTERVALS = {"newcombe": "Newcombe", "welch_t": "Welch t"}
_TESTS = {"score": "score test", "welch_t": "Welch t"}


@dataclass(frozen=True, eq=False)
class UnpairedComparison(TableResult):
    """Two systems compared on different examples; ``delta`` is candidate minus baseline."""


def unpaired_result(
    table: pd.DataFrame, settings: Mapping[str, Any], warnings: tuple[str, ...]
) -> UnpairedComparison:
    """Put table, sentences and methods together."""
    lines = ["Different examples, no pairs: differences between examples count as noise."]
    lines += [_sentence(row, settings) for row in wording.rows_of(table)]
    methods = _methods(table, settings)
    return UnpairedComparison(table, settings, "\n".join(lines), methods, warnings=warnings)


def _sentence(row: wording.Row, settings: Mapping[str, Any]) -> str:
    words = str(row["verdict"]).replace("_", " ")
    if math.isnan(row["delta"]):
        return f"{row['criterion']} {words}: a system has no scored example."
    width = float(row["ci_high"]) - float(row["ci_low"])
    digits = fmt.decimals_for(float(row["delta"]), width)
    delta = fmt.format_number(float(row["delta"]), decimals=digits, signed=True)
    level = fmt.format_percent(1 - float(settings["alpha"]))
    interval = fmt.format_interval(row["ci_low"], row["ci_high"], decimals=digits)
    return (
        f"{row['criterion']} {words}: {settings['candidate']} on "
        f"{fmt.counted(int(row['n_candidate']), 'example')} against {settings['baseline']} on "
        f"{row['n_baseline']:,}; difference {delta} ({level} CI {interval}, "
        f"{_INTERVALS[row['interval']]}; {_TESTS[row['test']]} p {fmt.format_p(row['p_value'])}, "
        f"adjusted {fmt.format_p(row['p_adjusted'])})."
    )


def _methods(table: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    correction = wording.CORRECTIONS.get(settings["correction"], settings["correction"])
    return (
        "The systems were measured on different examples, so they were compared without pairs, "
        "taking examples as independent: the difference of the means over examples of the "
        "per-example means over scored trials, with Newcombe's interval and the score test for "
        "0/1 outcomes and Welch's t otherwise. P-values were adjusted by "
        f"{correction} over {fmt.counted(len(table), 'hypothesis', 'hypotheses')} (alpha "
        f"{settings['alpha']:g})."
    )
