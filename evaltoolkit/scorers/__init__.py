"""Scorers: each judges one output of a system against its example."""

from __future__ import annotations

from evaltoolkit.scorers.base import (
    BaseScorer,
    ComparingScorer,
    Scorer,
    Unmeasurable,
    Verdict,
)
from evaltoolkit.scorers.folding import find_phrase, fold_text
from evaltoolkit.scorers.functions import FunctionScorer, as_scorer
from evaltoolkit.scorers.numeric import NumericAnswer, NumericDiff, find_numbers, parse_number
from evaltoolkit.scorers.parsing import parse_json
from evaltoolkit.scorers.running import run_scorer
from evaltoolkit.scorers.structure import JSONDiff, ListContains, ValidJSON
from evaltoolkit.scorers.text import (
    REFUSAL_PHRASES,
    Contains,
    ExactMatch,
    LengthBounds,
    Levenshtein,
    Refusal,
)

__all__ = [
    "REFUSAL_PHRASES",
    "BaseScorer",
    "ComparingScorer",
    "Contains",
    "ExactMatch",
    "FunctionScorer",
    "JSONDiff",
    "LengthBounds",
    "Levenshtein",
    "ListContains",
    "NumericAnswer",
    "NumericDiff",
    "Refusal",
    "Scorer",
    "Unmeasurable",
    "ValidJSON",
    "Verdict",
    "as_scorer",
    "find_numbers",
    "find_phrase",
    "fold_text",
    "parse_json",
    "parse_number",
    "run_scorer",
]
