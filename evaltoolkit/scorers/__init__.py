"""Scorers: each judges one output of a system against its example."""

from __future__ import annotations

from evaltoolkit.scorers.adapters.agentevals_judges import (
    GraphTrajectoryLLMAsJudge,
    OpenevalsCodeLLMAsJudge,
    OpenevalsJSONMatch,
    OpenevalsLLMAsJudge,
    TrajectoryLLMAsJudge,
)
from evaltoolkit.scorers.adapters.agentevals_scorer import (
    AgentevalsScorer,
    AgentevalsTrajectoryMatch,
)
from evaltoolkit.scorers.adapters.autoevals_judges import (
    AnswerCorrectness,
    AnswerRelevancy,
    AnswerSimilarity,
    Battle,
    ClosedQA,
    ContextEntityRecall,
    ContextPrecision,
    ContextRecall,
    ContextRelevancy,
    Factuality,
    Faithfulness,
    Humor,
    LLMClassifier,
    Moderation,
    Possible,
    Security,
    Sql,
    Summary,
    Translation,
)
from evaltoolkit.scorers.adapters.autoevals_scorer import AutoevalsScorer
from evaltoolkit.scorers.base import (
    BaseScorer,
    ComparingScorer,
    Scorer,
    Unmeasurable,
    Verdict,
)
from evaltoolkit.scorers.calls.expected_arguments import ToolArguments
from evaltoolkit.scorers.calls.expected_calls import ToolCallCount, ToolSelection
from evaltoolkit.scorers.calls.messages import ToolCall, read_call
from evaltoolkit.scorers.calls.overlap import ToolCallOverlap
from evaltoolkit.scorers.calls.tool_calls import (
    ToolCallAnyMatch,
    ToolCallExactMatch,
    ToolCallSubsetMatch,
    ToolCallSupersetMatch,
    ToolCallUnorderedMatch,
)
from evaltoolkit.scorers.calls.trajectories import (
    GraphTrajectoryStrictMatch,
    TrajectoryStrictMatch,
    TrajectorySubsetMatch,
    TrajectorySupsetMatch,
    TrajectoryUnorderedMatch,
)
from evaltoolkit.scorers.calls.valid_calls import ValidToolCalls
from evaltoolkit.scorers.folding import find_phrase, fold_text
from evaltoolkit.scorers.functions import FunctionScorer, as_scorer
from evaltoolkit.scorers.judging.embedding import EmbeddingSimilarity
from evaltoolkit.scorers.judging.llm_judge import LLMJudge
from evaltoolkit.scorers.judging.pairwise import PairwiseJudge
from evaltoolkit.scorers.numeric import NumericAnswer, NumericDiff, find_numbers, parse_number
from evaltoolkit.scorers.parsing import parse_json
from evaltoolkit.scorers.running import run_scorer
from evaltoolkit.scorers.state.compared_states import ComparedField, ComparedStates
from evaltoolkit.scorers.state.comparing import compare_states
from evaltoolkit.scorers.state.confidences import (
    ConfidenceCalibration,
    brier_score,
    calibrate_confidences,
)
from evaltoolkit.scorers.state.equality import Equality, Near, OneOf
from evaltoolkit.scorers.state.extractions import FieldExtraction, read_extractions
from evaltoolkit.scorers.state.interpretive import (
    Inference,
    InterpretiveField,
    InterpretiveState,
    ValueConfidence,
)
from evaltoolkit.scorers.state.llm_mutator import LLMMutator
from evaltoolkit.scorers.state.measures import STATE_MEASURES
from evaltoolkit.scorers.state.mutation import (
    MutationContext,
    MutationError,
    MutationResult,
    StructuredInput,
)
from evaltoolkit.scorers.state.paths import join_path, split_path
from evaltoolkit.scorers.state.state_comparison import StateComparison
from evaltoolkit.scorers.state.state_match import StateMatch
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
    "STATE_MEASURES",
    "AgentevalsScorer",
    "AgentevalsTrajectoryMatch",
    "AnswerCorrectness",
    "AnswerRelevancy",
    "AnswerSimilarity",
    "AutoevalsScorer",
    "BaseScorer",
    "Battle",
    "ClosedQA",
    "ComparedField",
    "ComparedStates",
    "ComparingScorer",
    "ConfidenceCalibration",
    "Contains",
    "ContextEntityRecall",
    "ContextPrecision",
    "ContextRecall",
    "ContextRelevancy",
    "EmbeddingSimilarity",
    "Equality",
    "ExactMatch",
    "Factuality",
    "Faithfulness",
    "FieldExtraction",
    "FunctionScorer",
    "GraphTrajectoryLLMAsJudge",
    "GraphTrajectoryStrictMatch",
    "Humor",
    "Inference",
    "InterpretiveField",
    "InterpretiveState",
    "JSONDiff",
    "LLMClassifier",
    "LLMJudge",
    "LLMMutator",
    "LengthBounds",
    "Levenshtein",
    "ListContains",
    "Moderation",
    "MutationContext",
    "MutationError",
    "MutationResult",
    "Near",
    "NumericAnswer",
    "NumericDiff",
    "OneOf",
    "OpenevalsCodeLLMAsJudge",
    "OpenevalsJSONMatch",
    "OpenevalsLLMAsJudge",
    "PairwiseJudge",
    "Possible",
    "Refusal",
    "Scorer",
    "Security",
    "Sql",
    "StateComparison",
    "StateMatch",
    "StructuredInput",
    "Summary",
    "ToolArguments",
    "ToolCall",
    "ToolCallAnyMatch",
    "ToolCallCount",
    "ToolCallExactMatch",
    "ToolCallOverlap",
    "ToolCallSubsetMatch",
    "ToolCallSupersetMatch",
    "ToolCallUnorderedMatch",
    "ToolSelection",
    "TrajectoryLLMAsJudge",
    "TrajectoryStrictMatch",
    "TrajectorySubsetMatch",
    "TrajectorySupsetMatch",
    "TrajectoryUnorderedMatch",
    "Translation",
    "Unmeasurable",
    "ValidJSON",
    "ValidToolCalls",
    "ValueConfidence",
    "Verdict",
    "as_scorer",
    "brier_score",
    "calibrate_confidences",
    "compare_states",
    "find_numbers",
    "find_phrase",
    "fold_text",
    "join_path",
    "parse_json",
    "parse_number",
    "read_call",
    "read_extractions",
    "run_scorer",
    "split_path",
]
