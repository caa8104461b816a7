"""How the sentences about judges name series, intervals and p-values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from evaltoolkit import formatting as fmt
from evaltoolkit.wording import TESTS, Row


def one_line(name: object) -> str:
    """Keep a foreign name from breaking the lines that sentences stand on."""
    return " ".join(str(name).split()) or "(no name)"


def series(row: Row, settings: Mapping[str, Any]) -> str:
    """Name a judge, and the criterion where there are several."""
    judge = one_line(row["scorer"])
    return f"{judge} on {one_line(row['criterion'])}" if len(settings["criteria"]) > 1 else judge


def ends_text(
    low: float, high: float, *, level: str, percent: bool = False, decimals: int = 2
) -> str:
    """Write an interval for the inside of a sentence; empty where there is none.

    Example:
        >>> ends_text(0.25, 0.5, level="95 %", percent=True)
        ' (95 % CI 25.0 to 50.0 %)'
    """
    if math.isnan(low) or math.isnan(high):
        return ""
    if percent:
        ends = [fmt.format_number(100 * end, decimals=1) for end in (low, high)]
        return f" ({level} CI {ends[0]} to {ends[1]} %)"
    return f" ({level} CI {fmt.format_interval(low, high, decimals=decimals)})"


def p_text(row: Row) -> str:
    """Write test and p-value of a row, the adjusted one where it differs; empty without."""
    p = float(row["p_value"])
    if math.isnan(p):
        return ""
    text = f", {TESTS.get(str(row['test']), 'all differences are 0:')} {_p('p', p)}"
    adjusted = float(row["p_adjusted"])
    return text if adjusted == p else f"{text}, {_p('adjusted p', adjusted)}"


def _p(name: str, p: float) -> str:
    text = fmt.format_p(p)
    return f"{name} {text}" if text.startswith("<") else f"{name} = {text}"
