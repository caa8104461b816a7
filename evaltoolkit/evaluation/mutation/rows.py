"""The rows that one run of a mutator gives to each table."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaltoolkit.evaluation.digests import clean, json_text
from evaltoolkit.evaluation.engine import cell as _text
from evaltoolkit.evaluation.mutation.mutator_runs import MutatorRun
from evaltoolkit.models import Criterion
from evaltoolkit.schema import CRITERION_COLUMNS
from evaltoolkit.scorers.state.compared_states import ComparedField
from evaltoolkit.scorers.state.interpretive import InterpretiveState, Ties, ValueConfidence
from evaltoolkit.scorers.state.measures import STATE_MEASURES, measure_states
from evaltoolkit.scorers.state.paths import split_path
from evaltoolkit.scorers.state.state_comparison import explain_states

Row = dict[str, Any]

SCORER = "StateComparison"

FACTS = tuple(
    name for name in CRITERION_COLUMNS if name not in ("weight", "blocking", "self_referenced")
)
"""What the score table says of a criterion; the rest is as usual in all of them."""

_OF_THE_EVALUATION = ("copy", "compare")
_TYPES: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "number": (int, float),
    "list": (list, tuple),
    "object": (dict,),
}
_RATIOS = ("accuracy", "precision", "recall", "f1", "jaccard", "overall_match", "value_match")


def key_of(run: MutatorRun, run_id: str) -> Row:
    """Give the key of a run, the same in every table."""
    return {
        "run_id": run_id,
        "system": run.mutator,
        "task": run.case.task,
        "example_id": run.case.id,
        "trial": run.trial,
    }


def run_row(run: MutatorRun, *, compatible: bool = False) -> Row:
    """Give the row of the runs, without its key: counts, ratios, time, and where it broke.

    Args:
        run: The run.
        compatible: Whether the accuracy is 0 where nothing is expected.
    """
    compared = run.compared
    counts: Row = {}
    if compared is not None:
        leaves = compared.leaves
        counts = {
            "matching": compared.matching_fields,
            "mismatched": compared.mismatched_fields,
            "missing": compared.missing_fields,
            "extra": compared.extra_fields,
            "leaf_correct": leaves["correct"],
            "leaf_wrong": leaves["wrong"],
            "leaf_missing": leaves["missing"],
            "leaf_extra": leaves["extra"],
            **{name: getattr(compared, name) for name in _RATIOS},
            **({"accuracy": compared.accuracy_score} if compatible else {}),
        }
    return {
        "model": _text(run.metadata.get("model")),
        "prompt_rev": _text(run.metadata.get("prompt_rev")),
        "prompt_digest": _text(run.metadata.get("prompt_digest")),
        "message_id": _text(run.case.mutation_input.message_id),
        "n_pre": len(run.case.pre_state),
        "n_expected": len(run.case.expected_post_state),
        "n_actual": None if run.actual is None else len(run.actual),
        **counts,
        "time_s": run.time_s,
        "status": "ok" if run.error_stage is None else "error",
        "error_stage": run.error_stage,
        "error_type": _text(run.error_type),
        "error": _text(run.error),
    }


def score_rows(run: MutatorRun, *, compatible: bool = False) -> Iterator[Row]:
    """Give a row of the score table for each measure.

    Args:
        run: The run.
        compatible: Whether the accuracy is 0 where nothing is expected.
    """
    measured: Sequence[float | str | None] = [None] * len(STATE_MEASURES)
    if run.compared is not None:
        measured = measure_states(run.compared, STATE_MEASURES, compatible=compatible)
    broken = "scorer_error" if run.error_stage in _OF_THE_EVALUATION else "system_error"
    for (criterion, facts), value in zip(_CRITERIA, measured, strict=True):
        number = value if isinstance(value, float) else None
        unmeasured = "scored" if number is not None else "unscored"
        yield {
            "criterion": criterion.name,
            "scorer": SCORER,
            "score": number,
            "passed": None if number is None else criterion.passes(number),
            "status": broken if run.error_stage else unmeasured,
            "message": _text(run.error if run.error_stage else value if number is None else None),
            **facts,
        }


def _facts(criterion: Criterion) -> Row:
    facts = criterion.model_dump()
    return {name: facts[name] for name in FACTS}


_CRITERIA = [(known, _facts(known)) for known in (each.criterion() for each in STATE_MEASURES)]


def output_row(run: MutatorRun) -> Row:
    """Give the row of the outputs table."""
    return {
        "input": clean(run.case.mutation_input.prompt),
        "output": None if run.actual is None else _cell(run.actual.to_dict()),
        "reference": _cell(run.case.expected_post_state.to_dict()),
        # What broke in the comparison is no error of the mutator.
        "error": None if run.error_stage == "compare" else _text(run.error),
        "cost_usd": _amount(run.metadata.get("cost_usd")),
        "tokens_in": _amount(run.metadata.get("tokens_in")),
        "tokens_out": _amount(run.metadata.get("tokens_out")),
        "latency_s": run.time_s,
    }


def _amount(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and 0 <= value < math.inf else None  # type: ignore[operator,return-value]


def detail_rows(run: MutatorRun) -> Iterator[Row]:
    """Give the row of the details table: the paths that are not as expected."""
    if run.compared is not None:
        details = clean(json_text(explain_states(run.compared)))
        yield {"criterion": "overall_match", "scorer": SCORER, "details": details}


def field_rows(run: MutatorRun) -> Iterator[Row]:
    """Give a row for each path."""
    for field in run.compared.fields if run.compared else ():
        expected, actual = field.expected_value, field.actual_value
        yield {
            "path": clean(field.field_path),
            "depth": len(split_path(field.field_path)),
            "is_leaf": field.is_leaf,
            "in_pre": field.in_pre,
            "in_expected": field.in_expected,
            "in_actual": field.in_actual,
            "class": field.field_class,
            "leaf_class": field.leaf_class,
            **_valued("expected", expected),
            **_valued("actual", actual),
            "value_equal": field.value_equal,
            "expected_conf": expected.confidence if expected else None,
            "actual_conf": actual.confidence if actual else None,
            "conf_diff": actual.confidence - expected.confidence if actual and expected else None,
            "conf_equal": field.confidence_equal,
            "changed_vs_pre": field.changed,
            "should_change": field.should_change,
            "difference": _text(field.difference),
        }


def transition_rows(run: MutatorRun) -> Iterator[Row]:
    """Give a row for each path that holds a value: what became of it."""
    for field in run.compared.fields if run.compared else ():
        if field.transition is not None:
            yield {"path": clean(field.field_path), **_three(field), "outcome": field.transition}


def _three(field: ComparedField) -> Row:
    return {
        **_valued("pre", field.pre_value),
        **_valued("expected", field.expected_value),
        **_valued("actual", field.actual_value),
    }


def candidate_rows(run: MutatorRun, ties: Ties) -> Iterator[Row]:
    """Give a row for each candidate of each of the three states."""
    sides = {
        "pre": run.case.pre_state,
        "expected": run.case.expected_post_state,
        "actual": run.actual,
    }
    for side, state in sides.items():
        for path, field in sorted(state.get_all_fields().items()) if state else ():
            values = field.values if field else ()
            best = field.best(ties=ties) if field else None
            falling = sorted(-each.confidence for each in values)
            for index, each in enumerate(values):
                yield {
                    "side": side,
                    "path": clean(path),
                    "index": index,
                    "value": _cell(each.value),
                    "value_type": _type(each.value),
                    "confidence": each.confidence,
                    "rank": 1 + bisect_left(falling, -each.confidence),
                    "is_best": each is best,
                    "tied_with_best": each is not best and -each.confidence == falling[0],
                    "new_in_this_run": _is_new(run, path, index, each)
                    if side == "actual"
                    else None,
                }


def _is_new(run: MutatorRun, path: str, index: int, candidate: ValueConfidence) -> bool:
    before = run.case.pre_state.get_field(path)
    if before is None or index >= len(before.values):
        return True
    old = before.values[index]
    same_value = _cell(old.value) == _cell(candidate.value)
    return not same_value or old.confidence != candidate.confidence


def inference_rows(run: MutatorRun, ties: Ties) -> Iterator[Row]:
    """Give a row for each inference of the state that came out."""
    state = run.actual or InterpretiveState()
    for path, field in sorted(state.get_all_fields().items()):
        if field is None or field.inference is None:
            continue
        best = field.best(ties=ties)
        yield {
            "path": clean(path),
            "content": clean(field.inference.content),
            "mutator_id": _text(field.inference.mutator_id),
            "message_id": _text(field.inference.message_id),
            # A mutator infers right after it adds, so the inference is of the last candidate.
            "belongs_to_best": best is field.values[-1] if field.values else None,
        }


def extraction_rows(run: MutatorRun) -> Iterator[Row]:
    """Give a row for each item that was read of the reply of a model."""
    for place, extraction in enumerate(run.extractions):
        # Any mutator may give extractions, and give what it likes.
        item = extraction if isinstance(extraction, Mapping) else {"value": extraction}
        valid = item.get("valid")
        yield {
            "index": place,
            **{f"raw_{name}": _cell(item.get(name)) for name in ("path", "value", "confidence")},
            "valid": valid if isinstance(valid, bool) else None,
            "error_kind": _text(item.get("error_kind")),
            "error": _text(item.get("error")),
        }


def _valued(side: str, best: ValueConfidence | None) -> Row:
    return {
        f"{side}_value": _cell(best.value) if best else None,
        f"{side}_type": _type(best.value) if best else None,
    }


def _cell(value: object) -> str:
    return clean(json_text(value, sort_keys=True))


def _type(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return next((name for name, kind in _TYPES.items() if isinstance(value, kind)), "other")
