"""The metrics of Ragas by name: which there are, their bounds and their direction."""

from __future__ import annotations

import re

from evaltoolkit.readers.base import Row

# From 0 to 1 by definition. A mean cosine (answer relevancy, similarity) can be negative.
_UNIT = frozenset(
    {
        "faithfulness", "faithfulness_with_hhem", "context_precision", "context_recall",
        "context_relevancy", "context_relevance", "context_utilization", "context_entity_recall",
        "context_entities_recall", "llm_context_precision_with_reference",
        "llm_context_precision_without_reference", "non_llm_context_precision_with_reference",
        "non_llm_context_recall", "llm_context_recall", "answer_correctness",
        "factual_correctness", "noise_sensitivity", "noise_sensitivity_relevant",
        "noise_sensitivity_irrelevant", "harmfulness", "maliciousness", "coherence",
        "conciseness", "correctness", "aspect_critic", "exact_match", "string_present",
        "non_llm_string_similarity", "bleu_score", "rouge_score", "tool_call_accuracy",
        "tool_call_f1", "agent_goal_accuracy", "topic_adherence", "summary_score",
        "summarization_score", "nv_accuracy", "nv_context_relevance", "nv_response_groundedness",
        "response_groundedness", "answer_accuracy", "llm_sql_equivalence",
        "execution_accuracy", "datacompy_score", "multi_modal_faithfulness",
        "multi_modal_relevance",
    }
)  # fmt: skip
_UNBOUNDED = frozenset(
    {"answer_relevancy", "answer_similarity", "semantic_similarity", "response_relevancy",
     "domain_specific_rubrics", "instance_rubrics", "rubrics_score", "simple_criteria"}
)  # fmt: skip
# Words that other tables use for columns of their own.
_ORDINARY_WORDS = frozenset({"correctness", "coherence", "conciseness", "exact_match"})
_LOWER_IS_BETTER = frozenset(
    {"noise_sensitivity", "noise_sensitivity_relevant", "noise_sensitivity_irrelevant",
     "harmfulness", "maliciousness"}
)  # fmt: skip
_MODE = re.compile(r"\(.*\)$")


def is_metric(name: str) -> bool:
    """Say whether a column has the name of a metric that only Ragas writes.

    Example:
        >>> [is_metric(name) for name in ("faithfulness", "factual_correctness(mode=f1)", "type")]
        [True, True, False]
    """
    base = _base(name)
    return base in (_UNIT | _UNBOUNDED) - _ORDINARY_WORDS


def facts(name: str) -> Row:
    """Give bounds and direction of a metric, as far as its definition states them."""
    base = _base(name)
    within = base in _UNIT
    return {
        "lower_bound": 0.0 if within else None,
        "upper_bound": 1.0 if within else None,
        "higher_is_better": base not in _LOWER_IS_BETTER if base in _UNIT | _UNBOUNDED else None,
    }


def _base(name: str) -> str:
    """Leave out the mode that newer versions write behind the name."""
    return _MODE.sub("", name).strip()
