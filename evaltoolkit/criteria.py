"""What is known of each criterion: its kind, direction and bounds, declared or inferred."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evaltoolkit.errors import SchemaError, listed
from evaltoolkit.scores import check_scores

KINDS = ("binary", "ordinal", "continuous")

MAX_ORDINAL_LEVELS = 11
"""Whole-number scores with at most this many levels count as a rating scale (0 to 10 fits)."""

_LOWER_IS_BETTER = frozenset({
    "latency", "duration", "runtime", "elapsed", "time", "cost", "price", "tokens", "loss",
    "perplexity", "ppl", "mae", "mse", "rmse", "wer", "cer", "ter", "brier", "ece", "nll",
    "distance", "error", "errors", "violation", "violations", "regression", "regressions",
    "hallucination", "hallucinations", "toxicity",
})  # fmt: skip
_UNITS = frozenset({
    "s", "sec", "secs", "second", "seconds", "ms", "us", "min", "mins", "minutes", "usd", "eur",
    "cents", "pct", "percent", "rate", "count", "total", "sum", "mean", "avg", "average", "median",
    "max", "p50", "p90", "p95", "p99", "in", "out", "input", "output", "prompt", "completion",
})  # fmt: skip
_VETO = frozenset({
    "no", "non", "not", "free", "without", "per", "accuracy", "precision", "recall", "score", "f1",
    "correct", "detection", "resistance", "effectiveness", "efficiency", "avoidance", "saved",
    "saving", "savings", "reduction",
})  # fmt: skip


@dataclass(frozen=True)
class CriterionInfo:
    """One criterion as the analysis sees it; ``*_from`` says how each fact is known."""

    criterion: str
    kind: str
    kind_from: str
    higher_is_better: bool
    direction_from: str
    lower_bound: float
    upper_bound: float
    bounds_from: str
    threshold: float
    weight: float
    blocking: bool
    self_referenced: bool

    @property
    def worst(self) -> float:
        """The bound that a failure takes; NaN where it is not known."""
        return self.lower_bound if self.higher_is_better else self.upper_bound

    @property
    def best(self) -> float:
        """The bound that a perfect answer takes; NaN where it is not known."""
        return self.upper_bound if self.higher_is_better else self.lower_bound


def describe_criteria(scores: pd.DataFrame) -> pd.DataFrame:
    """List the criteria of a score table with their kind, direction and bounds.

    Declared facts (optional columns of the score table) come first. What is not declared is
    inferred once per criterion over the whole table: *kind* from the values (only 0 and 1:
    binary; whole numbers on at most 11 levels: ordinal; otherwise continuous), *direction* from
    well-known names such as ``latency`` or ``perplexity`` (otherwise higher is assumed to be
    better), *bounds* only where the data prove them: 0 and 1 for a binary criterion, and for a
    continuous one that stays within and reaches both 0 and 1.

    Args:
        scores: A score table.

    Returns:
        One row per criterion, in order of first appearance. ``kind_from``, ``direction_from``
        and ``bounds_from`` hold ``declared``, ``inferred``, ``assumed`` or ``unknown``.

    Example:
        >>> from evaltoolkit.scores import normalise_scores
        >>> table = normalise_scores(pd.DataFrame({"system": ["a", "a"], "example_id": [1, 2],
        ...     "criterion": "latency_s", "score": [0.31, 1.7]}))
        >>> describe_criteria(table)[["kind", "higher_is_better"]].to_dict("records")
        [{'kind': 'continuous', 'higher_is_better': False}]
    """
    rows = [vars(info) for info in criteria_of(check_scores(scores)).values()]
    return pd.DataFrame(rows, columns=list(CriterionInfo.__dataclass_fields__))


def criteria_of(scores: pd.DataFrame) -> dict[str, CriterionInfo]:
    """Describe every criterion of a score table, by name; see `describe_criteria`."""
    return {
        str(name): _describe(str(name), rows)
        for name, rows in scores.groupby("criterion", sort=False)
    }


def infer_kind(values: np.ndarray) -> str:
    """Infer the kind of a criterion from its scores (a 1-D array without NaN).

    Example:
        >>> infer_kind(np.array([0.0, 1.0])), infer_kind(np.array([1.0, 3.0, 5.0]))
        ('binary', 'ordinal')
    """
    levels = np.unique(values)
    if levels.size == 0:
        return "continuous"
    if np.isin(levels, (0.0, 1.0)).all():
        return "binary"
    whole = bool((levels == np.floor(levels)).all())
    return "ordinal" if whole and levels.size <= MAX_ORDINAL_LEVELS else "continuous"


def lower_by_name(name: str) -> bool:
    """Whether a criterion's name says that lower is better.

    The last word counts, units left aside, and words such as "accuracy" or "per" forbid it.

    Example:
        >>> [lower_by_name(name) for name in ("latencyMs", "tokens_out", "no_errors")]
        [True, True, False]
    """
    split = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    words = re.findall(r"[a-z]+[0-9]*", split.lower())
    if _VETO & set(words):
        return False
    while words and words[-1] in _UNITS:
        words.pop()
    return bool(words) and words[-1] in _LOWER_IS_BETTER


def _describe(name: str, rows: pd.DataFrame) -> CriterionInfo:
    values = rows["score"].dropna().to_numpy()
    kind, kind_from = _kind(name, rows, values)
    higher, direction_from = _direction(name, rows)
    lower, upper, bounds_from = _bounds(rows, values, kind)
    threshold, weight = _declared(rows, "threshold"), _declared(rows, "weight")
    return CriterionInfo(
        criterion=name,
        kind=kind,
        kind_from=kind_from,
        higher_is_better=higher,
        direction_from=direction_from,
        lower_bound=lower,
        upper_bound=upper,
        bounds_from=bounds_from,
        threshold=np.nan if threshold is None else float(threshold),
        weight=np.nan if weight is None else float(weight),
        blocking=_flag(rows, "blocking", default=True),
        self_referenced=_flag(rows, "self_referenced", default=False),
    )


def _declared(rows: pd.DataFrame, column: str) -> float | str | bool | None:
    if column not in rows.columns:
        return None
    given = rows[column].dropna()
    return None if given.empty else given.iloc[0]


def _flag(rows: pd.DataFrame, column: str, *, default: bool) -> bool:
    value = _declared(rows, column)
    return default if value is None else bool(value)


def _kind(name: str, rows: pd.DataFrame, values: np.ndarray) -> tuple[str, str]:
    declared = _declared(rows, "kind")
    if declared is None:
        return infer_kind(values), "inferred"
    if declared not in KINDS:
        raise SchemaError(
            f"kind of the criterion {name!r} is {declared!r}; it must be one of {listed(KINDS)}",
            code="bad_kind",
            path=f"criterion {name}",
            value=declared,
        )
    if declared == "binary" and not np.isin(values, (0.0, 1.0)).all():
        other = np.unique(values[~np.isin(values, (0.0, 1.0))])
        raise SchemaError(
            f"the criterion {name!r} is declared binary but has scores such as "
            f"{listed(other.tolist())}; declare it ordinal or continuous, or map it to 0 and 1",
            code="bad_kind",
            path=f"criterion {name}",
            value=declared,
        )
    return str(declared), "declared"


def _direction(name: str, rows: pd.DataFrame) -> tuple[bool, str]:
    declared = _declared(rows, "higher_is_better")
    if declared is not None:
        return bool(declared), "declared"
    if lower_by_name(name):
        return False, "inferred"
    return True, "assumed"


def _bounds(rows: pd.DataFrame, values: np.ndarray, kind: str) -> tuple[float, float, str]:
    lower, upper = _declared(rows, "lower_bound"), _declared(rows, "upper_bound")
    if lower is not None or upper is not None:
        return (
            np.nan if lower is None else float(lower),
            np.nan if upper is None else float(upper),
            "declared",
        )
    if kind == "binary":
        return 0.0, 1.0, "inferred"
    spans_unit = values.size > 0 and values.min() == 0.0 and values.max() == 1.0
    if kind == "continuous" and spans_unit:
        return 0.0, 1.0, "inferred"
    return np.nan, np.nan, "unknown"
