"""Evaluation: examples, outputs and scorers become a score table."""

from __future__ import annotations

from evaltoolkit.evaluation.records import OutputRecord
from evaltoolkit.evaluation.scoring import check_scorers, score_outputs

__all__ = ["OutputRecord", "check_scorers", "score_outputs"]
