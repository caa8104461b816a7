from __future__ import annotations

import copy
from typing import Any

import pandas as pd
import pytest

from evaltoolkit.errors import EvalToolkitWarning, PairingError, SchemaError, ScorerError
from evaltoolkit.evaluation import OutputRecord, check_scorers, score_outputs
from evaltoolkit.models import Criterion, Example, Output, Score
from evaltoolkit.schema import SCORES, STATUSES
from evaltoolkit.scorers import Contains, ExactMatch, FunctionScorer, Levenshtein, Refusal, Scorer
from evaltoolkit.scores import check_scores

EXAMPLES = [
    Example(id=1, input="2 + 2?", reference="4", attributes={"topic": "sums"}),
    Example(id=2, input="Capital of France?", reference="Paris", attributes={"level": 3}),
]
RECORDS = [
    ("old", 1, 0, Output(text="4")),
    ("old", 2, 0, Output(text="Rome")),
    ("new", 1, 0, Output(text="14")),
    ("new", "2", 0, Output(error="timeout")),
]


def rows(table: pd.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    picked = table[list(columns)].astype(object)
    return list(picked.where(picked.notna(), None).itertuples(index=False, name=None))


def test_records_become_a_score_table() -> None:
    table = score_outputs(EXAMPLES, RECORDS, [ExactMatch(), Contains()], run_id="r1")
    assert rows(table, "system", "example_id", "criterion", "score", "passed", "status") == [
        ("old", "1", "ExactMatch", 1.0, True, "scored"),
        ("old", "1", "Contains", 1.0, True, "scored"),
        ("old", "2", "ExactMatch", 0.0, False, "scored"),
        ("old", "2", "Contains", 0.0, False, "scored"),
        ("new", "1", "ExactMatch", 0.0, False, "scored"),
        ("new", "1", "Contains", 0.0, False, "scored"),
        ("new", "2", "ExactMatch", None, None, "system_error"),
        ("new", "2", "Contains", None, None, "system_error"),
    ]
    assert set(table["run_id"]) == {"r1"}
    assert table["message"].tolist()[-1] == "timeout"


def test_columns_and_dtypes_are_those_of_the_score_table() -> None:
    table = score_outputs(EXAMPLES, RECORDS, [ExactMatch()])
    known = ["kind", "higher_is_better", "lower_bound", "upper_bound", "threshold"]
    assert table.columns.tolist() == [*SCORES.names, *known, "topic", "level"]
    dtypes = table.dtypes.astype(str)
    assert dtypes["trial"] == "int64"
    assert dtypes["score"] == "float64"
    assert dtypes["passed"] == "boolean"
    assert dtypes[["run_id", "system", "example_id", "criterion", "message"]].eq("str").all()
    assert table["status"].cat.categories.tolist() == list(STATUSES)
    assert rows(table, "topic", "level")[:2] == [("sums", None), (None, 3)]
    pd.testing.assert_frame_equal(check_scores(table), table)


def test_a_table_without_outputs_has_the_same_columns() -> None:
    table = score_outputs([], [], [ExactMatch()])
    assert len(table) == 0
    assert table.columns.tolist()[:14] == list(SCORES.names)


def test_what_a_scorer_declares_is_in_its_rows() -> None:
    table = score_outputs(EXAMPLES, RECORDS, [Levenshtein(), Refusal(weight=2, blocking=False)])
    facts = table.drop_duplicates("criterion").set_index("criterion")
    assert rows(facts, "kind", "higher_is_better", "lower_bound", "upper_bound", "threshold") == [
        ("continuous", True, 0.0, 1.0, 1.0),
        ("binary", False, 0.0, 1.0, 0.0),
    ]
    assert rows(facts, "weight", "blocking") == [(None, True), (2.0, False)]


def test_clusters_are_kept_where_there_are_some() -> None:
    clustered = [EXAMPLES[0].model_copy(update={"cluster": "talk"}), EXAMPLES[1]]
    table = score_outputs(clustered, RECORDS, [ExactMatch()])
    assert rows(table, "example_id", "cluster")[:2] == [("1", "talk"), ("2", None)]
    assert "cluster" not in score_outputs(EXAMPLES, RECORDS, [ExactMatch()]).columns


OUTPUTS = pd.DataFrame(
    {
        "system": ["a", "a", "a"],
        "example_id": [1, 2, 2],
        "trial": [0, 0, 1],
        "output": ["4", "", None],
        "error": [None, None, "boom"],
        "tokens_in": [12, None, 3],
        "finish_reason": ["stop", "stop", None],
    }
)


def test_an_outputs_table_is_scored_like_records() -> None:
    seen: list[Output] = []

    def spy(output: Output) -> float:
        seen.append(output)
        return 1.0

    before = OUTPUTS.copy(deep=True)
    table = score_outputs(EXAMPLES, OUTPUTS, [Refusal(), spy])
    assert rows(table, "example_id", "trial", "criterion", "score", "status") == [
        ("1", 0, "Refusal", 0.0, "scored"),
        ("1", 0, "spy", 1.0, "scored"),
        ("2", 0, "Refusal", 1.0, "scored"),
        ("2", 0, "spy", 1.0, "scored"),
        ("2", 1, "Refusal", None, "system_error"),
        ("2", 1, "spy", None, "system_error"),
    ]
    assert seen[0] == Output(text="4", tokens_in=12, finish_reason="stop")
    assert seen[1].text == ""
    pd.testing.assert_frame_equal(OUTPUTS, before)


def test_a_missing_output_without_an_error_is_not_scored() -> None:
    frame = pd.DataFrame({"system": "a", "example_id": [1, 2], "output": ["4", None]})
    table = score_outputs(EXAMPLES, frame, [ExactMatch()])
    assert rows(table, "status", "message")[1] == ("unscored", "the output has no text")


def test_the_system_and_run_can_be_named_for_all_outputs() -> None:
    frame = OUTPUTS.drop(columns="system")
    table = score_outputs(EXAMPLES, frame, [ExactMatch()], system="mine", run_id="r")
    assert set(rows(table, "system", "run_id")) == {("mine", "r")}
    nameless = [OutputRecord(None, 1, 0, Output(text="4")), OutputRecord("b", 1, 0, Output())]
    with pytest.warns(EvalToolkitWarning):
        table = score_outputs(EXAMPLES, nameless, [ExactMatch()], system="mine")
    assert table["system"].tolist() == ["mine", "b"]
    with pytest.raises(SchemaError, match="output 0 names no system; give system="):
        score_outputs(EXAMPLES, nameless, [ExactMatch()])


def test_unknown_examples_are_named_all_together() -> None:
    strays = [*RECORDS, ("new", "3", 0, Output(text="x")), ("new", "4", 0, Output(text="x"))]
    with pytest.raises(PairingError, match=r"2 output\(s\) belong to no example: '3', '4'"):
        score_outputs(EXAMPLES, strays, [ExactMatch()])


def test_ids_are_looked_up_within_their_task() -> None:
    both = [Example(id=1, task="a", reference="x"), Example(id=1, task="b", reference="y")]
    outputs = [OutputRecord("m", 1, 0, Output(text="y"), task=task) for task in ("a", "b")]
    table = score_outputs(both, outputs, [ExactMatch()])
    assert rows(table, "task", "score") == [("a", 0.0), ("b", 1.0)]
    with pytest.raises(PairingError, match="occur in several tasks; say which task"):
        score_outputs(both, [("m", 1, 0, Output(text="y"))], [ExactMatch()])


def test_the_task_of_the_example_is_found_where_the_outputs_give_none() -> None:
    tasked = [Example(id=1, task="sums", reference="4"), Example(id=2, task="sums")]
    table = score_outputs(tasked, OUTPUTS.assign(task=""), [ExactMatch()])
    assert set(table["task"]) == {"sums"}


def test_examples_must_not_repeat() -> None:
    with pytest.raises(SchemaError, match=r"1 example\(s\) occur more than once"):
        score_outputs([*EXAMPLES, Example(id="1")], RECORDS, [ExactMatch()])


def test_attributes_must_not_hide_columns_of_the_table() -> None:
    hidden = [Example(id=1, attributes={"score": 3})]
    with pytest.raises(SchemaError, match="'score'"):
        score_outputs(hidden, [], [ExactMatch()])


@pytest.mark.parametrize("record", [("m", 1), 3, ("m", 1, 0, "4"), ("m", 1, 0, "4", "t", "r", "x")])
def test_what_is_no_record_is_refused(record: Any) -> None:
    with pytest.raises(SchemaError, match="no output record|wrap it"):
        score_outputs(EXAMPLES, [record], [ExactMatch()])


def test_repeated_outputs_are_refused() -> None:
    with pytest.raises(SchemaError, match="occur more than once"):
        score_outputs(EXAMPLES, [*RECORDS, RECORDS[0]], [ExactMatch()])


def test_examples_without_output_are_counted_in_one_warning() -> None:
    with pytest.warns(EvalToolkitWarning, match="of 2 examples some have no output") as caught:
        score_outputs(EXAMPLES, RECORDS[:3], [ExactMatch()])
    assert len(caught) == 1
    assert "'new': 1 example(s)" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_two_scorers_of_one_name_are_refused_and_both_are_named() -> None:
    scorers = [ExactMatch(), ExactMatch(fold=("case",))]
    with pytest.raises(ScorerError, match="both give the score 'ExactMatch'") as caught:
        score_outputs(EXAMPLES, RECORDS, scorers)
    assert str(caught.value).count("ExactMatch(name='ExactMatch', criterion='ExactMatch')") == 2
    assert caught.value.code == "repeated_score"


def test_scores_that_only_turn_out_to_have_one_name_are_refused() -> None:
    def one(output: Output) -> Score:
        return Score(criterion="same", score=1)

    twice = [FunctionScorer(one, criterion="a"), FunctionScorer(one, criterion="b")]
    with pytest.raises(ScorerError, match="both give the score 'same' under the name 'one'"):
        score_outputs(EXAMPLES, RECORDS, twice)


def test_several_scorers_may_share_a_criterion_that_they_declare_alike() -> None:
    shared = [ExactMatch(criterion="correct"), Contains(criterion="correct")]
    table = score_outputs(EXAMPLES, RECORDS, shared)
    assert set(rows(table, "criterion", "scorer")) == {
        ("correct", "ExactMatch"),
        ("correct", "Contains"),
    }
    with pytest.raises(ScorerError, match=r"share the criterion 'correct' but declare 'kind'"):
        check_scorers([ExactMatch(criterion="correct"), Levenshtein(criterion="correct")])


def test_scorers_can_be_kept_to_the_examples_they_are_meant_for() -> None:
    def applies(scorer: Scorer, example: Example) -> bool:
        return scorer.name == "Contains" or "topic" in example.attributes

    table = score_outputs(EXAMPLES, RECORDS, [ExactMatch(), Contains()], applies=applies)
    assert table.groupby("criterion")["example_id"].agg(set).to_dict() == {
        "Contains": {"1", "2"},
        "ExactMatch": {"1"},
    }


def test_scorers_can_say_themselves_which_examples_they_are_meant_for() -> None:
    class Sums(ExactMatch):
        def applies(self, example: Example) -> bool:
            return example.attributes.get("topic") == "sums"

    table = score_outputs(EXAMPLES, RECORDS, [Sums()])
    assert table["example_id"].tolist() == ["1", "1"]


def test_failures_of_undeclared_parts_are_counted_for_each_part() -> None:
    def judge(output: Output, expected: str) -> list[Score]:
        if output.text == "Rome":
            message = "cannot read it"
            raise ValueError(message)
        return [Score(criterion="tone", score=1), Score(criterion="length", score=0)]

    table = score_outputs(EXAMPLES, RECORDS, [judge])
    assert rows(table, "system", "example_id", "criterion", "status") == [
        ("old", "1", "judge.tone", "scored"),
        ("old", "1", "judge.length", "scored"),
        ("old", "2", "judge.tone", "scorer_error"),
        ("old", "2", "judge.length", "scorer_error"),
        ("new", "1", "judge.tone", "scored"),
        ("new", "1", "judge.length", "scored"),
        ("new", "2", "judge.tone", "system_error"),
        ("new", "2", "judge.length", "system_error"),
    ]


def test_failures_stay_with_the_scorer_where_no_part_was_ever_seen() -> None:
    broken = [("m", 1, 0, Output(error="x")), ("m", 2, 0, Output(error="y"))]
    table = score_outputs(EXAMPLES, broken, [ExactMatch()])
    assert rows(table, "criterion", "message") == [("ExactMatch", "x"), ("ExactMatch", "y")]


def test_every_output_gets_a_row_of_every_scorer() -> None:
    def moody(output: Output) -> Any:
        return {"4": None, "Rome": 1 / 3, "14": float("nan")}[output.text]

    table = score_outputs(EXAMPLES, RECORDS, [moody, lambda output: 1 / 0, ExactMatch()])
    assert len(table) == 3 * len(RECORDS)
    counts = table.groupby(["scorer", "status"], observed=True).size().to_dict()
    assert counts == {
        ("moody", "unscored"): 2,
        ("moody", "scored"): 1,
        ("moody", "system_error"): 1,
        ("<lambda>", "scorer_error"): 3,
        ("<lambda>", "system_error"): 1,
        ("ExactMatch", "scored"): 3,
        ("ExactMatch", "system_error"): 1,
    }


def test_facts_of_declared_parts_go_with_their_rows() -> None:
    class Parts:
        name = "p"
        criterion = Criterion(name="p")
        parts = (Criterion(name="p.cost", higher_is_better=False, lower_bound=0),)

        def score(self, output: Output, example: Example) -> list[Score]:
            return [Score(criterion="cost", score=3)]

    table = score_outputs(EXAMPLES, RECORDS, [Parts()])
    assert set(rows(table, "criterion", "higher_is_better", "lower_bound")) == {
        ("p.cost", False, 0.0)
    }


def test_nothing_that_goes_in_is_changed() -> None:
    examples, records = copy.deepcopy(EXAMPLES), copy.deepcopy(RECORDS)
    first = score_outputs(EXAMPLES, RECORDS, [ExactMatch(), Levenshtein()])
    again = score_outputs(EXAMPLES, RECORDS, [ExactMatch(), Levenshtein()])
    assert examples == EXAMPLES
    assert records == RECORDS
    pd.testing.assert_frame_equal(first, again)
