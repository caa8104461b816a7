"""The harness for mutators: what breaks becomes a row, what is measured is what langstate says."""

from __future__ import annotations

import asyncio
import json
import math
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import evaltoolkit as et
from evaltoolkit.errors import EvalToolkitError, EvalToolkitWarning, SchemaError
from evaltoolkit.evaluation import (
    Interrupted,
    MutatorCase,
    evaluate_mutators,
    evaluate_mutators_async,
)
from evaltoolkit.results import MutatorEvaluation
from evaltoolkit.scorers import (
    STATE_MEASURES,
    InterpretiveState,
    LLMMutator,
    MutationContext,
    MutationResult,
    ValueConfidence,
)
from evaltoolkit.scorers.state.mutation import MutationError

TABLES = ("fields", "transitions", "candidates", "inferences", "extractions")


def state(**fields: tuple[Any, float]) -> InterpretiveState:
    made = InterpretiveState()
    for path, (value, confidence) in fields.items():
        made.add_value(path, value, confidence)
    return made


class Says:
    def __init__(self, *items: Any, text: str | None = None) -> None:
        self.text = json.dumps(list(items)) if text is None else text

    async def generate(self, prompt: str) -> str:
        return self.text


NAME = {
    "path": "registrant.name",
    "value": "Ada Lovelace",
    "confidence": 0.95,
    "inference": "She gives her name.",
}
EXPECTED = InterpretiveState()
EXPECTED.add_value("registrant.name", ValueConfidence(value="Ada Lovelace", confidence=0.95))


def case(**changes: Any) -> MutatorCase:
    usual = {"id": 1, "mutation_input": "My name is Ada", "expected_post_state": EXPECTED}
    return MutatorCase(**{**usual, **changes})


def run(mutators: Any, *cases: MutatorCase, **options: Any) -> MutatorEvaluation:
    return evaluate_mutators(cases or [case()], mutators, **options)


def only(result: MutatorEvaluation) -> dict[str, Any]:
    (row,) = result.table.to_dict("records")
    return {str(key): value for key, value in row.items()}


def idle(context: MutationContext) -> InterpretiveState:
    return context.state


def test_the_registrant() -> None:
    """The published example: two matching paths, overall match, accuracy 1.0."""
    said = {"prompt": "My name is Ada Lovelace", "message_id": "message-1"}
    result = run(LLMMutator(Says(NAME)), case(mutation_input=said))
    row = only(result)
    assert row["system"] == "LLMMutator"
    assert (row["matching"], row["overall_match"], row["accuracy"]) == (2, True, 1.0)
    assert row["message_id"] == "message-1"
    assert row["status"] == "ok"
    assert row["time_s"] >= 0
    scores = result.scores.set_index("criterion")["score"]
    assert scores[["overall_match", "accuracy_score", "f1"]].tolist() == [1.0, 1.0, 1.0]
    assert result.inferences["message_id"].tolist() == ["message-1"]


def returns(value: Any) -> Callable[[MutationContext], Any]:
    return lambda context: value


def broken(context: MutationContext) -> InterpretiveState:
    context.state.add_value("registrant.name", "half done")
    raise RuntimeError("boom")


@pytest.mark.parametrize(
    ("mutator", "stage", "error_type", "text"),
    [
        (broken, "mutate", "RuntimeError", "RuntimeError: boom"),
        (LLMMutator(Says(text="no")), "json", "JSONDecodeError", "the reply is not JSON"),
        (LLMMutator(Says(text="{}")), "shape", "MutationError", "not a JSON array"),
        (LLMMutator(Says(NAME, 3)), "item", "MutationError", "item 1: 3 is not an object"),
        (returns(None), "mutate", "TypeError", "a mutator returns the new state"),
        (returns({"a": 1}), "mutate", "TypeError", "neither a MutationResult nor"),
    ],
)
def test_what_breaks_becomes_a_row(mutator: Any, stage: str, error_type: str, text: str) -> None:
    pre = state(kept=("x", 0.5))
    result = run({"m": mutator}, case(pre_state=pre))
    row = only(result)
    assert (row["status"], row["error_stage"], row["error_type"]) == ("error", stage, error_type)
    assert text in row["error"]
    assert row["time_s"] >= 0
    assert math.isnan(row["accuracy"])
    assert set(result.scores["status"]) == {"system_error"}
    assert len(result.scores) == len(STATE_MEASURES)
    assert result.outputs["error"].notna().all()
    assert pre == state(kept=("x", 0.5))


def test_items_of_a_broken_reply_are_kept() -> None:
    result = run(LLMMutator(Says(NAME, 3)))
    assert result.extractions["valid"].tolist() == [True, False]
    assert result.extractions["raw_path"].tolist() == ['"registrant.name"', "null"]


def test_errors_of_the_measurement_are_told_apart() -> None:
    class NoCopy(InterpretiveState):
        def copy(self) -> Any:
            return {"not": "a state"}

    row = only(run({"m": idle}, case(pre_state=NoCopy())))
    assert (row["error_stage"], row["error_type"]) == ("copy", "TypeError")
    assert "is a dict, not a state" in row["error"]
    assert math.isnan(row["time_s"])

    class Odd:
        def __eq__(self, other: object) -> bool:
            raise RuntimeError("never ask")

        __hash__ = None  # type: ignore[assignment]

    result = run({"m": returns(state(a=(Odd(), 1)))}, case(expected_post_state=state(a=("x", 1))))
    assert only(result)["error_stage"] == "compare"
    assert set(result.scores["status"]) == {"scorer_error"}
    uncopied = run({"m": idle}, case(pre_state=state(a=(threading.Lock(), 1))))
    assert only(uncopied)["error_stage"] == "copy"


def test_nothing_expected_is_not_an_accuracy_of_0() -> None:
    result = run({"m": idle}, case(expected_post_state=InterpretiveState()))
    scores = result.scores.set_index("criterion")
    assert scores.loc["overall_match", "score"] == 1.0
    assert scores.loc["accuracy_score", "status"] == "unscored"
    assert result.totals["n_vacuous"].tolist() == [1]
    assert "1 run expected nothing, without accuracy" in result.text
    published = run({"m": idle}, case(expected_post_state=InterpretiveState()), compatible=True)
    scores = published.scores.set_index("criterion")
    assert scores.loc[["overall_match", "accuracy_score"], "score"].tolist() == [1.0, 0.0]
    assert published.table["accuracy"].tolist() == [0.0]
    assert published.totals["n_vacuous"].tolist() == [1]
    assert "1 run expected nothing, counted as an accuracy of 0, as in langstate" in published.text


def test_the_state_before_is_a_fresh_copy_each_time() -> None:
    seen: list[int] = []

    def greedy(context: MutationContext) -> MutationResult:
        seen.append(len(context.state))
        context.state.add_value(f"field{len(seen)}", 1)
        return MutationResult(updated_state=context.state)

    pre = state(a=("x", 0.5))
    result = run({"m": greedy}, case(pre_state=pre), trials=3)
    assert seen == [1, 1, 1]
    assert len(pre) == 1
    assert result.table["n_actual"].tolist() == [2, 2, 2]


def test_a_state_that_changes_after_it_was_returned_is_judged_as_it_was() -> None:
    shared = InterpretiveState()

    def hoards(context: MutationContext) -> InterpretiveState:
        shared.add_value(context.input.prompt, "x", 0.5)
        return shared

    cases = [case(id=n, mutation_input=f"f{n}") for n in range(3)]
    result = run({"m": hoards}, *cases)
    assert result.table["n_actual"].tolist() == [1, 2, 3]
    assert result.fields.groupby("example_id")["in_actual"].sum().tolist() == [1, 2, 3]


def test_the_tables_hold_what_happened() -> None:
    pre = state(**{"r.name": ("Bob", 0.2), "r.city": ("Paris", 0.9), "r.age": (36, 0.5)})
    expected = state(**{"r.name": ("Ada", 0.9), "r.city": ("Paris", 0.9), "r.mail": ("a@b", 0.9)})

    def learns(context: MutationContext) -> InterpretiveState:
        context.state.add_value("r.name", "Ada", 0.8)
        context.state.add_value("r.name", "Ida", 0.8)
        context.state.add_inference("r.name", "She says so.")
        context.state.add_value("r.city", "Rome", 0.95)
        context.state.add_value("r.pet", "cat", 0.4)
        return context.state

    result = run({"m": learns}, case(pre_state=pre, expected_post_state=expected))
    outcomes = result.transitions.set_index("path")["outcome"].to_dict()
    assert outcomes == {
        "r.age": "missed",  # it was to go
        "r.city": "wrongly_overwritten",
        "r.mail": "missed",
        "r.name": "corrected",
        "r.pet": "spurious",
    }
    fields = result.fields.set_index("path")
    assert fields["class"].to_dict() == {
        "r": "matching",
        "r.age": "extra",
        "r.city": "mismatched",
        "r.mail": "missing",
        "r.name": "mismatched",
        "r.pet": "extra",
    }
    assert fields.loc["r.name", ["value_equal", "conf_equal"]].tolist() == [True, False]
    assert fields.loc["r.name", "conf_diff"] == pytest.approx(-0.1)
    assert (fields.loc["r", "is_leaf"], fields.loc["r", "depth"]) == (False, 1)
    assert fields.loc["r.age", "actual_value"] == "36"
    assert fields.loc["r.age", "actual_type"] == "number"
    names = result.candidates.query("side == 'actual' and path == 'r.name'")
    assert names["rank"].tolist() == [3, 1, 1]
    assert names["is_best"].tolist() == [False, True, False]
    assert names["tied_with_best"].tolist() == [False, False, True]
    assert names["new_in_this_run"].tolist() == [False, True, True]
    assert result.inferences["belongs_to_best"].tolist() == [False]
    row = only(result)
    assert (row["leaf_correct"], row["leaf_wrong"], row["leaf_missing"]) == (1, 1, 1)
    assert (row["precision"], row["recall"], row["jaccard"]) == (1 / 4, 1 / 3, 1 / 5)
    # r.age stands as it did before: the mutator claims nothing of it
    assert result.totals["n_claims"].iloc[0] == 3
    assert result.totals["brier"].iloc[0] == pytest.approx((0.2**2 + 0.95**2 + 0.4**2) / 3)


def test_totals_are_ratios_of_summed_counts() -> None:
    one = case(id=1, expected_post_state=state(a=("x", 1), b=("x", 1), c=("x", 1)))
    other = case(id=2, expected_post_state=state(a=("x", 1)))
    result = run({"m": returns(state(a=("x", 1)))}, one, other)
    totals = result.totals.iloc[0]
    assert totals["recall"] == 2 / 4
    assert totals["accuracy"] == 2 / 4
    assert totals["mean_accuracy"] == pytest.approx((1 / 3 + 1) / 2)
    assert result.summary()["accuracy"].tolist() == ["0.50"]


def test_errors_are_counted_and_are_in_no_ratio() -> None:
    def moody(context: MutationContext) -> InterpretiveState:
        if context.input.prompt == "crash":
            raise RuntimeError("boom")
        return EXPECTED

    result = run({"m": moody}, case(id=1), case(id=2, mutation_input="crash"))
    totals = result.totals.iloc[0]
    assert (totals["n_runs"], totals["n_errors"], totals["n_timed"]) == (2, 1, 2)
    assert (totals["overall_match"], totals["accuracy"]) == (1.0, 1.0)
    assert result.text == (
        "m: 2 runs, 1 of them broke; 1 of 1 matched in every path, and 1 of 1 expected values "
        "were right, with 0 values that nothing asked for."
    )


def test_all_runs_break() -> None:
    result = run({"m": broken})
    assert result.text == "m: 1 run, 1 of them broke; there is nothing to measure."
    assert len(result.reliability) == 0
    assert result.summary()["F1"].tolist() == [""]
    assert all(isinstance(getattr(result, name), pd.DataFrame) for name in TABLES)


def test_time_is_a_latency_and_no_criterion() -> None:
    def slow(context: MutationContext) -> InterpretiveState:
        time.sleep(0.05)
        return context.state

    async def slow_too(context: MutationContext) -> InterpretiveState:
        await asyncio.sleep(0.05)
        return context.state

    result = run({"sync": slow, "async": slow_too})
    assert (result.table["time_s"] >= 0.049).all()
    assert result.outputs["latency_s"].tolist() == result.table["time_s"].tolist()
    assert set(result.scores["criterion"]) == {measure.name for measure in STATE_MEASURES}


def test_what_is_not_back_in_time_breaks_with_its_time() -> None:
    release = threading.Event()

    def never(context: MutationContext) -> InterpretiveState:
        release.wait(20)
        return context.state

    async def never_too(context: MutationContext) -> InterpretiveState:
        await asyncio.sleep(20)
        return context.state

    result = run({"sync": never, "async": never_too, "fine": idle}, timeout=0.1)
    release.set()
    assert result.table["error_type"].tolist()[:2] == ["TimeoutError"] * 2
    assert result.table["status"].tolist() == ["error", "error", "ok"]
    assert (result.table["time_s"].iloc[:2] >= 0.09).all()


def test_order_is_that_of_the_cases_whatever_is_finished_first() -> None:
    async def uneven(context: MutationContext) -> InterpretiveState:
        await asyncio.sleep(0.03 if context.input.prompt == "1" else 0)
        return context.state

    cases = [case(id=n, mutation_input=str(n)) for n in (1, 2, 3)]
    result = run({"a": uneven, "b": uneven}, *cases, trials=2, concurrency=6)
    assert result.table["example_id"].tolist() == ["1"] * 4 + ["2"] * 4 + ["3"] * 4
    assert result.table["system"].tolist() == ["a", "a", "b", "b"] * 3
    assert result.table["trial"].tolist() == [0, 1] * 6


def test_one_at_a_time_unless_asked_otherwise() -> None:
    under_way, most = 0, 0

    async def counts(context: MutationContext) -> InterpretiveState:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.01)
        under_way -= 1
        return context.state

    run({"m": counts}, trials=4)
    assert most == 1
    run({"m": counts}, trials=4, concurrency=3)
    assert most == 3


def test_on_the_loop_of_the_caller() -> None:
    async def main() -> MutatorEvaluation:
        inside = run({"m": idle})  # the sync form works where a loop is running, too
        outside = await evaluate_mutators_async([case()], {"m": idle})
        assert inside.scores.equals(outside.scores)
        return outside

    assert len(asyncio.run(main()).table) == 1


def test_kinds_of_mutators() -> None:
    class WithMethod:
        name = "named"

        async def mutate(self, context: MutationContext) -> MutationResult:
            return MutationResult(updated_state=EXPECTED, metadata={"model": "m1"})

    class AsyncCall:
        async def __call__(self, context: MutationContext) -> InterpretiveState:
            return EXPECTED

    for mutator, name in ((WithMethod(), "named"), (AsyncCall(), "AsyncCall"), (idle, "idle")):
        row = only(run(mutator))
        assert (row["system"], row["status"]) == (name, "ok")
    assert only(run(WithMethod()))["model"] == "m1"


def test_the_mutator_hears_the_metadata_of_the_case() -> None:
    def looks(context: MutationContext) -> InterpretiveState:
        assert context.metadata == {"hint": 1}
        return EXPECTED

    assert only(run(looks, case(metadata={"hint": 1})))["status"] == "ok"


def test_attributes_and_clusters_are_columns() -> None:
    cases = [
        case(id=1, attributes={"language": "en", "model": "taken"}, cluster="talk"),
        case(id=2, attributes={"language": "fr"}),
    ]
    result = run({"m": idle}, *cases)
    for table in (result.table, result.outputs, result.scores):
        assert set(table["language"]) == {"en", "fr"}
        assert table["cluster"].iloc[0] == "talk"
    assert result.table["attribute_model"].dropna().tolist() == ["taken"]


def test_two_mutators_are_compared_like_any_systems() -> None:
    cases = [case(id=n) for n in range(12)]
    mutators = {"idle": idle, "llm": LLMMutator(Says(NAME))}
    result = run(mutators, *cases, run_id="r1")
    compared = et.compare(result.scores, baseline="idle", candidate="llm", criteria=["recall"])
    (row,) = compared.table.to_dict("records")
    assert (row["delta"], row["n_pairs"], row["verdict"]) == (1.0, 12, "improved")
    assert et.check_scores(result.scores)["run_id"].unique().tolist() == ["r1"]


def test_names_meet_those_of_the_reader() -> None:
    from evaltoolkit.readers.langstate_values import CRITERIA

    scores = run({"m": idle}).scores.set_index("criterion")
    for name, facts in CRITERIA.items():
        for fact, value in facts.items():
            assert scores.loc[name, fact] == value


def test_hostile_texts_survive() -> None:
    odd = state(**{"half \ud83d": ("\ud83d", 0.5), "<b>": (float("nan"), 0.5)})
    result = run({"<script>": returns(odd)}, case(mutation_input="\ud83d"))
    assert "<script>" not in result._repr_html_()
    for name in (*TABLES, "outputs", "details"):
        getattr(result, name).to_csv().encode()
    assert '"NaN"' in result.fields["actual_value"].tolist()


def test_names_that_no_file_can_hold_are_written_out() -> None:
    half = "\ud83d"
    said = {"prompt": "x", "message_id": half}
    item = case(id=half, task=half, cluster=half, attributes={"a": half}, mutation_input=said)
    result = run({half: LLMMutator(Says(NAME), mutator_id=half)}, item)
    assert (
        result.table[["system", "task", "example_id", "message_id"]].iloc[0].tolist()
        == [r"\ud83d"] * 4
    )
    assert result.inferences["mutator_id"].tolist() == [r"\ud83d"]


@pytest.mark.parametrize(
    ("cases", "mutators", "options", "text"),
    [
        ([], {"m": idle}, {}, "there is no case"),
        (["x"], {"m": idle}, {}, r"cases\[0\] is a str"),
        ([case()], [idle, idle], {}, "several go into a mapping"),
        ([case()], {"m": idle}, {"typed": "no"}, "typed is 'no'"),
        ([case()], {}, {}, "there is no mutator"),
        ([case()], {"m": 3}, {}, "the mutator 'm' is 3"),
        ([case()], {"m": InterpretiveState}, {}, "give an object with a method"),
        ([case()], {"m": idle}, {"trials": 0}, "trials is 0"),
        ([case()], {"m": idle}, {"trials": True}, "trials is True"),
        ([case()], {"m": idle}, {"concurrency": 1.5}, "concurrency is 1.5"),
        ([case()], {"m": idle}, {"timeout": 0}, "timeout is 0"),
        ([case()], {"m": idle}, {"timeout": math.nan}, "timeout is nan"),
        ([case()], {"m": idle}, {"bins": 0}, "bins is 0"),
        ([case()], {"m": idle}, {"confidence_tol": -1}, "confidence_tol"),
        ([case()], {"m": idle}, {"progress": "yes"}, "progress is 'yes'"),
        ([case()], {"m": idle}, {"run_id": 0}, "run_id is 0"),
        ([case()], {" ": idle}, {}, "a mutator has an empty name"),
        ([case()], {1: idle, "1": idle}, {}, "'1' occur more than once as text"),
    ],
)
def test_wrong_choices(cases: Any, mutators: Any, options: dict[str, Any], text: str) -> None:
    with pytest.raises(EvalToolkitError, match=text):
        evaluate_mutators(cases, mutators, **options)


@pytest.mark.parametrize(
    "changes",
    [
        {"id": ""},
        {"mutation_input": None},
        {"mutation_input": {"text": "x"}},
        {"expected_post_state": None},
        {"expected_post_state": {"a": 1}},
        {"pre_state": "x"},
        {"unknown": 1},
    ],
)
def test_malformed_cases(changes: dict[str, Any]) -> None:
    with pytest.raises(SchemaError):
        case(**changes)


@pytest.mark.parametrize(
    ("cases", "text"),
    [
        ([case(), case()], "occur more than once"),
        ([case(attributes={"score": 1})], "columns of the"),
    ],
)
def test_what_the_tables_cannot_hold_is_refused_before_the_first_call(
    cases: list[MutatorCase], text: str
) -> None:
    calls: list[str] = []

    def counts(context: MutationContext) -> InterpretiveState:
        calls.append(context.input.prompt)
        return context.state

    with pytest.raises(SchemaError, match=text):
        run({"m": counts}, *cases)
    assert calls == []


class Unshowable:
    def __repr__(self) -> str:
        raise RuntimeError("never show")


@pytest.mark.parametrize("extractions", [5, ["text"], {"a": 1}, [{"index": "x", "valid": "y"}]])
def test_whatever_a_mutator_says_beside_becomes_rows(extractions: Any) -> None:
    said = {"extractions": extractions, "model": Unshowable(), "tokens_in": 7, "cost_usd": "dear"}
    result = run({"m": returns(MutationResult(updated_state=EXPECTED, metadata=said))})
    assert only(result)["status"] == "ok"
    assert result.extractions["index"].tolist() == [0]
    assert result.extractions["valid"].isna().all()
    assert result.outputs["tokens_in"].tolist() == [7]
    assert result.outputs["cost_usd"].isna().all()


def test_an_error_without_a_text_is_a_row() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("never say")

    def breaks(context: MutationContext) -> InterpretiveState:
        raise Mute

    row = only(run(breaks))
    assert (row["error_stage"], row["error_type"], row["error"]) == ("mutate", "Mute", "Mute")


def test_a_mutator_cannot_blame_the_measurement() -> None:
    def blames(context: MutationContext) -> InterpretiveState:
        raise MutationError("not me", stage="compare", extractions=5)  # type: ignore[arg-type]

    result = run(blames)
    assert only(result)["error_stage"] == "mutate"
    assert set(result.scores["status"]) == {"system_error"}


def test_a_state_that_cannot_be_shown_breaks_one_row_only() -> None:
    class Shy(InterpretiveState):
        def to_dict(self) -> dict[str, Any]:
            raise RuntimeError("never show")

    result = run({"shy": returns(Shy()), "fine": idle})
    assert result.table["error_stage"].tolist()[0] == "compare"
    assert result.table["status"].tolist() == ["error", "ok"]
    assert result.outputs["error"].isna().all()  # the mutators did what they should


def test_ranks_and_ties_of_candidates() -> None:
    def guesses(context: MutationContext) -> InterpretiveState:
        for place, confidence in enumerate((0.5, -0.5, 0.9, 0.5, 0.9)):
            context.state.add_value("a", place, confidence)
        return context.state

    actual = run(guesses).candidates.query("side == 'actual'")
    assert actual["rank"].tolist() == [3, 5, 1, 3, 1]
    assert actual["is_best"].tolist() == [False, False, True, False, False]
    assert actual["tied_with_best"].tolist() == [False, False, False, False, True]


def test_a_state_that_was_right_before_earns_no_calibration() -> None:
    pre = state(**{f"f{n}": (n, 1.0) for n in range(9)})
    expected = state(**{f"f{n}": (n, 1.0) for n in range(9)}, new=("x", 1.0))

    def errs(context: MutationContext) -> InterpretiveState:
        context.state.add_value("new", "y", 0.9)
        return context.state

    totals = run(errs, case(pre_state=pre, expected_post_state=expected)).totals.iloc[0]
    assert (totals["n_claims"], totals["brier"]) == (1, pytest.approx(0.81))


def test_confidences_below_0_are_counted_but_are_no_probabilities() -> None:
    result = run(returns(state(**{"a": ("x", -0.4), "registrant.name": ("Ada Lovelace", 0.6)})))
    totals = result.totals.iloc[0]
    assert (totals["n_claims"], totals["n_claims_left_out"]) == (1, 1)
    assert totals["brier"] == pytest.approx(0.16)
    (row,) = result.reliability.to_dict("records")
    assert (row["bin_low"], row["bin_high"], row["n_correct"]) == (0.5, 0.6, 1)


def test_kinds_of_faults_in_a_reply() -> None:
    lacking = {name: value for name, value in NAME.items() if name != "path"}
    items = (NAME, 3, {**NAME, "value": 3}, lacking, {**NAME, "confidence": 2})
    kinds = ["", "not_an_object", "wrong_value", "missing_path", "wrong_confidence"]
    assert run(LLMMutator(Says(*items))).extractions["error_kind"].fillna("").tolist() == kinds


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_an_interrupt_keeps_what_is_finished() -> None:
    release = threading.Event()

    def interrupts(context: MutationContext) -> InterpretiveState:
        if context.input.prompt == "3":
            os.kill(os.getpid(), signal.SIGINT)
            release.wait(20)
        return EXPECTED

    cases = [case(id=n, mutation_input=str(n)) for n in range(6)]
    with pytest.raises(Interrupted, match="3 of 6 runs finished") as caught:
        run({"m": interrupts}, *cases)
    release.set()
    part = caught.value.evaluation
    assert part.table["example_id"].tolist() == ["0", "1", "2"]
    assert isinstance(part, MutatorEvaluation)
    assert part.totals["overall_match"].tolist() == [1.0]


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_an_interrupt_before_anything_is_finished_gives_empty_tables() -> None:
    async def interrupts(context: MutationContext) -> InterpretiveState:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(20)
        return EXPECTED

    item = case(attributes={"language": "en"}, cluster="talk")
    with pytest.raises(Interrupted, match="0 of 2 runs finished") as caught:
        run({"m": interrupts}, item, trials=2)
    part, whole = caught.value.evaluation, run({"m": idle}, item)
    assert isinstance(part, MutatorEvaluation)
    assert str(part) == "m: 0 runs, 0 of them broke; there is nothing to measure."
    for name in ("table", "totals", "scores", "outputs", "details", "reliability", *TABLES):
        empty, filled = getattr(part, name), getattr(whole, name)
        assert empty.columns.tolist() == filled.columns.tolist(), name
        assert len(empty) == (name == "totals")
    assert part.summary()["runs"].tolist() == ["0"]


def test_tables_of_runs_join_by_the_key_of_the_outputs() -> None:
    pre = state(**{"registrant.name": ("Bob", 0.2)})
    cases = [case(id=n, pre_state=pre) for n in range(2)]
    mutators = {"idle": idle, "llm": LLMMutator(Says(NAME))}
    result = run(mutators, *cases, trials=2, run_id="r")
    key = ["run_id", "system", "task", "example_id", "trial"]
    for name in ("outputs", "scores", "details", *TABLES):
        table = getattr(result, name)
        assert len(table)
        joined = table.merge(result.table[[*key, "status"]], on=key, suffixes=("", "_of_run"))
        assert len(joined) == len(table), name
    assert result.totals["system"].tolist() == ["idle", "llm"]
    assert set(result.reliability["system"]) == {"llm"}


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    run({"m": idle}, case(id=1), case(id=2), trials=2, progress=lambda *at: told.append(at))
    assert told[-1] == (4, 4)

    async def main() -> None:
        await evaluate_mutators_async([case()], {"m": idle}, progress=lambda *at: told.append(at))

    asyncio.run(main())
    assert told[-1] == (1, 1)


def test_progress_that_cannot_be_shown_does_not_end_the_run() -> None:
    def fails(done: int, planned: int) -> None:
        raise OSError("the screen is gone")

    with pytest.warns(EvalToolkitWarning, match="progress cannot be shown.*the screen is gone"):
        assert only(run({"m": idle}, progress=fails))["status"] == "ok"
