"""How lines of lm-evaluation-harness changed over the years, and what its own metrics mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from evaltoolkit.readers.base import Row
from evaltoolkit.readers.records import finite_number

_WRITTEN_OUT = re.compile(r"(prompt|logit)_\d+")

# Which way the metrics point that the harness itself defines, as its registry says. They are
# asked for where no results file tells; a task may define further ones of any name.
_HIGHER_IS_BETTER = {
    **dict.fromkeys(
        (
            "acc", "acc_bytes", "acc_mutual_info", "acc_norm", "bleu", "chrf", "exact_match", "f1",
            "likelihood", "mcc",
        ),
        True,
    ),
    **dict.fromkeys(
        (
            "bits_per_byte", "brier_score", "byte_perplexity", "perplexity", "ter",
            "word_perplexity",
        ),
        False,
    ),
}  # fmt: skip


def points_up(metric: str) -> bool | None:
    """Say which way a metric of the harness itself points; None for a metric of a task.

    Example:
        >>> points_up("acc_norm"), points_up("word_perplexity"), points_up("bleu_max")
        (True, False, None)
    """
    return _HIGHER_IS_BETTER.get(metric)


def modern(raw: Row) -> Row:
    """Give a line of 2023 (``--write_out``) the fields of later ones; leave others as they are.

    Prompts and answers were numbered fields then, and every metric was written as text.

    Example:
        >>> old = {"doc_id": 1, "prompt_0": "2+2=", "logit_0": -0.5, "truth": 4, "acc": "1.0"}
        >>> modern(old)["acc"], modern(old)["resps"]
        (1.0, [[-0.5]])
    """
    if "prompt_0" not in raw or "resps" in raw or "arguments" in raw:
        return raw
    known = {"doc_id", "truth", *filter(_WRITTEN_OUT.fullmatch, raw)}
    return {
        "doc_id": raw.get("doc_id"),
        "target": raw.get("truth"),
        "arguments": [[raw["prompt_0"]]],
        "resps": [[value] for name, value in raw.items() if name.startswith("logit_")],
        **{name: _number_of(value) for name, value in raw.items() if name not in known},
    }


def _number_of(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return float(value)
    except ValueError:
        return value


def answers_per_request(raw: Row, config: Mapping[str, Any]) -> int:
    """Count how often a document was answered (``repeats``), which gives one score all the same.

    Args:
        raw: The line.
        config: The configuration of its task, where a results file has it.

    Example:
        >>> answers_per_request({"resps": [["a", "b", "a"]]}, {})
        3
    """
    declared = finite_number(config.get("repeats"))
    if declared is not None:
        return int(declared)
    responses = raw.get("resps")
    # Several requests are the options of a choice, each with a likelihood of its own.
    one = isinstance(responses, list) and len(responses) == 1
    answers = responses[0] if one and isinstance(responses, list) else None
    texts = isinstance(answers, list) and all(isinstance(each, str) for each in answers)
    return len(answers) if texts and isinstance(answers, list) else 1
