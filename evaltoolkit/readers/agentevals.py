"""Results of agentevals and openevals evaluators, saved as JSON lists.

A truth value is 1 or 0; it is also the verdict of the evaluators that match (their judges answer
all kinds of questions, so for them it is not). Text in place of a score is a category.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evaltoolkit.readers import score_lists
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source

# Named after a distance, it gives a similarity.
_SIMILARITIES = frozenset({"levenshtein_distance"})
_MATCHES = "_match"


def _judge(raw: Row) -> Row:
    score = raw["score"]
    row = score_lists.measured(score, label=raw.get("value"), message=raw.get("comment"))
    is_verdict = isinstance(score, bool) and raw["key"].endswith(_MATCHES)
    return {**row, "passed": score if is_verdict else None}


def _facts(name: str, scores: list[Any]) -> Row:
    del scores
    return {"higher_is_better": True} if name in _SIMILARITIES else {}


LAYOUT = score_lists.Layout(
    name="key",
    required=frozenset({"key", "score"}),
    allowed=frozenset(
        {
            "comment", "correction", "evaluator_info", "example_id", "extra", "feedback_config",
            "key", "metadata", "score", "source_run_id", "target_run_id", "value",
        }
    ),
    judge=_judge,
    facts=_facts,
)  # fmt: skip


def _detect(source: Source) -> bool:
    return score_lists.detect(source, LAYOUT)


def _read(source: Source, reading: Reading) -> Iterator[Batch]:
    return score_lists.read(source, reading, LAYOUT)


FORMAT = Format(
    name="agentevals",
    title="Result lists of agentevals and openevals evaluators",
    detect=_detect,
    read=_read,
    tables=frozenset({"scores", "details"}),
    signs="objects of key and score, with comment and metadata at most",
    quirks=(
        "Neither example nor system is named: an example is numbered by its place (or named by "
        "`example_id` or the key of the list), the system by the file. A truth value is a verdict "
        "only of evaluators that match; null is `unscored`, text a label."
    ),
)
