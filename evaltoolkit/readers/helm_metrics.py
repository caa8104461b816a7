"""Which numbers of HELM judge an answer, and which only describe the request.

HELM writes both into one list. An allow-list (names and, for newer benchmarks, endings of names)
says what judges; directions and bounds are those of HELM's own schema files, where they are known.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from evaltoolkit.readers.base import Row

Role = Literal["judges", "describes", "unknown"]


class _Fact(NamedTuple):
    """What HELM's schema says about a metric."""

    higher_is_better: bool | None = True
    upper_bound: float | None = 1.0


_SHARE = _Fact()
_RATIO = _Fact(upper_bound=None)
_LOWER = _Fact(higher_is_better=False, upper_bound=None)
_LOWER_SHARE = _Fact(higher_is_better=False)
_NEUTRAL = _Fact(higher_is_better=None, upper_bound=None)

_FACTS = {
    **dict.fromkeys(
        (
            "exact_match", "quasi_exact_match", "prefix_exact_match", "quasi_prefix_exact_match",
            "quasi_leave_articles_exact_match", "exact_match_indicator", "exact_set_match",
            "final_number_exact_match", "iou_set_match", "f1_set_match", "f1_score", "rouge_1",
            "rouge_2", "rouge_l", "bleu_1", "bleu_4", "chinese_bleu_1", "chinese_rouge_1",
            "chinese_rouge_2", "chinese_rouge_l", "cleva_math_result_match", "math_equiv",
            "math_equiv_chain_of_thought", "code_eval_acc", "pass", "test_avg", "strict_acc",
            "classification_macro_f1", "classification_micro_f1", "ifeval_strict_accuracy",
            "chain_of_thought_correctness", "percent_valid", "NDCG", "RR", "MRR", "recall",
            "edit_similarity",
        ),
        _SHARE,
    ),
    **dict.fromkeys(
        (
            "bleu", "cider", "wildbench_score", "summac", "QAFactEval", "BERTScore-P",
            "BERTScore-R", "BERTScore-F", "HumanEval-faithfulness", "HumanEval-relevance",
            "HumanEval-coherence", "logprob", "logprob_per_byte",
        ),
        _RATIO,
    ),
    **dict.fromkeys(
        (
            "absolute_value_difference", "distance", "edit_distance", "perplexity",
            "bits_per_byte", "wer_score", "mer_score", "ter_score", "cer_score",
        ),
        _LOWER,
    ),
    **dict.fromkeys(
        ("expected_max_toxicity", "max_toxicity_probability", "toxic_frac", "ece_1_bin",
         "ece_10_bin"),
        _LOWER_SHARE,
    ),
    **dict.fromkeys(
        ("summarization_coverage", "summarization_density", "summarization_compression"),
        _NEUTRAL,
    ),
}  # fmt: skip
_QUALITY = re.compile(
    r"(?:.*[_\-/ ])?(?:score|rating|accuracy|acc|correctness|correct|match|f1|recall|precision"
    r"|success|equivalence|similarity|bleu|rouge|bertscore|ndcg|win_rate|em)(?:_rescaled)?",
    re.IGNORECASE,
)
_DESCRIBES = re.compile(
    r"(?:max_)?num_.*|finish_reason_.*|training_.*_cost|inference_.*|batch_size|prompt_truncated"
    r"|max_prob|predicted_index|estimated_.*|.*_runtime"
)
# Only where the model had to predict the text itself are these about quality. Elsewhere they are
# those of its own answer, and 0 for models that give no log probabilities.
_OF_TEXT = frozenset({"logprob", "logprob_per_byte", "perplexity", "bits_per_byte"})
_LANGUAGE_MODELING = "language_modeling"


def role_of(name: str, *, method: str, declared: frozenset[str]) -> Role:
    """Say whether a stat judges the answer.

    Args:
        name: Name of the stat, e.g. ``"exact_match@5"``.
        method: The adaptation method of the run, e.g. ``"multiple_choice_joint"``.
        declared: Names that the run itself lists as its metrics.

    Example:
        >>> [role_of(name, method="generation", declared=frozenset())
        ...  for name in ("exact_match@5", "num_output_tokens", "logprob", "vibes")]
        ['judges', 'describes', 'describes', 'unknown']
    """
    base = name.partition("@")[0]
    if base in _OF_TEXT and method != _LANGUAGE_MODELING:
        return "describes"
    if base in _FACTS or base in declared:
        return "judges"
    if _DESCRIBES.fullmatch(base):
        return "describes"
    return "judges" if _QUALITY.fullmatch(base) else "unknown"


def facts_of(name: str) -> Row:
    """Give direction and bounds of a metric, as far as HELM states them.

    Example:
        >>> facts_of("exact_match@5")["upper_bound"], facts_of("wer_score")["higher_is_better"]
        (1.0, False)
    """
    base = name.partition("@")[0]
    fact = _FACTS.get(base, _NEUTRAL)
    lower = 0.0 if base in _FACTS and fact.upper_bound is not None else None
    return {
        "higher_is_better": fact.higher_is_better,
        "lower_bound": lower,
        "upper_bound": fact.upper_bound,
    }
