"""The accounting of a run: errors count as errors, and the published examples come out."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evaltoolkit as et
from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.evaluation import evaluate
from evaltoolkit.models import Criterion, Example, Output, Score
from evaltoolkit.results import Evaluation
from evaltoolkit.scorers import Contains, ExactMatch, FunctionScorer, ValidJSON
from evaltoolkit.scorers.state.state_match import StateMatch


def run(examples: list[Example], systems: Any, scorers: list[Any], **options: Any) -> Evaluation:
    return evaluate(examples, systems, scorers, progress=False, run_id="r", **options)


def number(text: object) -> float | None:
    """Read the result out of a calculator's answer."""
    try:
        held = json.loads(str(text))
    except ValueError:
        return None
    return held.get("result") if isinstance(held, dict) else None


class TestPublishedExamples:
    """The numbers that the published systems report for their introductory examples."""

    def test_the_light_switch_passes(self) -> None:
        def switch(command: str) -> Output:
            return Output(text="done", final_state={"light": {"on": command == "turn it on"}})

        item = Example(id="on", input="turn it on", reference_state={"light.on": True})
        result = run([item], {"switch": switch}, [StateMatch()])
        assert result.pass_rates().loc["StateMatch", "switch"] == 1.0
        assert result.means().loc["StateMatch", "switch"] == 1.0
        assert json.loads(result.details["details"].iloc[0])["paths_checked"] == 1

    @pytest.mark.parametrize("errors", ["apart", "failed"])
    def test_the_calculator(self, errors: Any) -> None:
        """Two of three answers are JSON, one of three is right: .67 and .33."""
        answers = {"2 + 2": '{"result": 4}', "3 * 3": '{"result": 6}', "9 / 3": "it is three"}

        def correct(output: Output, expected: float) -> bool:
            return number(output.text) == expected

        items = [
            Example(id=1, input="2 + 2", reference=4),
            Example(id=2, input="3 * 3", reference=9),
            Example(id=3, input="9 / 3", reference=3),
        ]
        valid = ValidJSON(criterion="valid_json")
        result = run(items, {"calculator": answers.get}, [valid, correct])
        for table in (result.pass_rates(errors=errors), result.means(errors=errors)):
            assert table["calculator"].round(2).to_dict() == {"valid_json": 0.67, "correct": 0.33}

    def test_the_registrant_matches(self) -> None:
        def fills_in(prompt: str) -> Output:
            return Output(final_state={"registrant.name": ["Ada", 1.0]})

        def overall_match(output: Output, example: Example) -> bool:
            return bool(output.final_state == example.reference_state)

        def accuracy_score(output: Output, example: Example) -> float:
            expected, actual = example.reference_state, output.final_state
            return sum(actual.get(k) == v for k, v in expected.items()) / len(expected)

        item = Example(id=1, input="I am Ada", reference_state={"registrant.name": ["Ada", 1.0]})
        result = run([item], {"mutator": fills_in}, [overall_match, accuracy_score])
        assert result.means()["mutator"].to_dict() == {"overall_match": 1.0, "accuracy_score": 1.0}


def crashing(text: str) -> str:
    if text.startswith("crash"):
        raise RuntimeError(text)
    return text


def example(number: int, text: str, reference: str = "ok") -> Example:
    return Example(id=number, input=text, reference=reference)


class TestFailureAccounting:
    """The worked cases of the published runner's aggregation: crashes, and zeros that are none."""

    def test_one_crash_of_three(self) -> None:
        items = [example(1, "ok"), example(2, "ok"), example(3, "crash")]
        result = run(items, {"m": crashing}, [ExactMatch()])
        assert result.pass_rates(errors="failed").loc["ExactMatch", "m"] == pytest.approx(2 / 3)
        assert result.pass_rates().loc["ExactMatch", "m"] == 1.0
        assert result.failures.to_dict("records") == [
            {"system": "m", "n_answers": 3, "successful": 2, "failed": 1}
        ]

    def test_one_crash_of_five(self) -> None:
        items = [example(n, "crash" if n == 2 else "ok") for n in range(5)]
        result = run(items, {"m": crashing}, [ExactMatch()])
        assert result.failures[["successful", "failed"]].to_numpy().tolist() == [[4, 1]]

    def test_every_scorer_crashes(self) -> None:
        def broken(output: Output) -> float:
            raise ValueError("broken")

        result = run([example(n, "ok") for n in range(3)], {"m": crashing}, [broken])
        assert result.failures[["successful", "failed"]].to_numpy().tolist() == [[0, 3]]
        row = result.table.iloc[0]
        assert (row["n_scored"], row["n_scorer_error"]) == (0, 3)
        assert math.isnan(row["mean"])
        assert math.isnan(row["pass_rate"])
        assert row["pass_rate_errors_failed"] == 0.0
        assert "m, broken: not measured (3 scorer errors)." in result.conclusion()

    def test_a_score_of_zero_is_no_failure(self) -> None:
        result = run([example(n, "wrong") for n in range(3)], {"m": crashing}, [ExactMatch()])
        assert result.failures[["successful", "failed"]].to_numpy().tolist() == [[3, 0]]
        assert result.pass_rates().loc["ExactMatch", "m"] == 0.0

    def test_what_was_declined_counts_in_no_share(self) -> None:
        items = [example(1, "ok"), Example(id=2, input="ok"), example(3, "crash")]
        result = run(items, {"m": crashing}, [ExactMatch()])
        row = result.table.iloc[0]
        counts = ["n_rows", "n_scored", "n_unscored", "n_scorer_error", "n_system_error"]
        assert row[counts].tolist() == [3, 1, 1, 0, 1]
        assert (row["mean"], row["mean_errors_failed"]) == (1.0, 0.5)
        assert (row["pass_rate"], row["pass_rate_errors_failed"]) == (1.0, 0.5)


def test_examples_count_equally_however_many_trials_were_scored() -> None:
    trials = iter([1.0, 0.0, 1.0, None, None, 0.0])

    def drawn(output: Output) -> float | None:
        return next(trials)

    items = [example(1, "a"), example(2, "b")]
    result = run(items, {"m": crashing}, [drawn], trials=3, concurrency=1)
    assert result.table.loc[0, "mean"] == pytest.approx((2 / 3 + 0) / 2)
    assert result.table.loc[0, "n_rows"] == 6


@pytest.mark.parametrize(
    ("facts", "scores", "expected"),
    [
        ({}, [1.0, 0.5], 0.5),
        ({}, [1.0, 3.0], math.nan),
        ({"lower_bound": -1.0}, [1.0, 0.0], 0.0),
        ({"higher_is_better": False}, [0.5, 0.5], math.nan),
        ({"higher_is_better": False, "upper_bound": 2.0}, [0.5, 0.5], 1.0),
    ],
)
def test_the_worst_score_of_an_error(
    facts: dict[str, Any], scores: list[float], expected: float
) -> None:
    given = {str(n): score for n, score in enumerate(scores)}

    def value(output: Output, example_id: str) -> float:
        return given[example_id]

    scorer = FunctionScorer(value, criterion=Criterion(name="value", **facts))
    items = [example(0, "a"), example(1, "b"), example(2, "crash")]
    found = run(items, {"m": crashing}, [scorer]).table.loc[0, "mean_errors_failed"]
    assert found == pytest.approx(expected, nan_ok=True)


def test_several_systems_tasks_and_judges_stay_apart() -> None:
    items = [
        Example(id=1, task="sums", input="2", reference="2"),
        Example(id=1, task="words", input="a", reference="b"),
    ]
    judges = [ExactMatch(name=name, criterion="same") for name in ("x", "y")]
    result = run(items, {"echo": crashing, "other": lambda text: "b"}, judges)
    wide = result.means()
    assert wide.index.names == ["criterion", "task", "scorer"]
    assert wide.loc[("same", "sums", "x")].to_dict() == {"echo": 1.0, "other": 0.0}
    assert wide.loc[("same", "words", "y")].to_dict() == {"echo": 0.0, "other": 1.0}
    with pytest.raises(EvalToolkitError, match="errors is 'none'"):
        result.means(errors="none")  # type: ignore[arg-type]


def test_it_prints_for_people_and_escapes_names() -> None:
    result = run([example(1, "ok")], {"<b>|x": crashing}, [ExactMatch()])
    assert "<b>" not in result._repr_html_()
    assert "&lt;b&gt;" in result._repr_html_()
    assert "\\|x" in result.to_markdown()
    assert str(result).splitlines() == [
        "Run r: 1 example, 1 system and 1 scorer; 1 answer finished.",
        "<b>|x, ExactMatch: mean 1.00 and passed 100 % on 1 score.",
    ]
    assert "time limit" in result.methods()
    assert list(result.summary().columns)[:3] == ["criterion", "system", "mean"]


def test_the_tables_obey_the_rules_and_compare(tmp_path: Path) -> None:
    items = [example(n, "ok" if n % 3 else "no") for n in range(30)]
    systems = {"old": crashing, "new": lambda text: "ok"}
    result = run(items, systems, [ExactMatch()], folder=tmp_path)
    pd.testing.assert_frame_equal(et.check_scores(result.scores), result.scores)
    comparison = et.compare(et.read_scores(tmp_path / "r"), baseline="old", candidate="new")
    assert comparison.table["wins"].tolist() == [10]
    assert et.resources(result.outputs)["criterion"].unique().tolist() == ["latency_s"]
    assert result.scores.groupby("example_id")["input_digest"].nunique().eq(1).all()
    note = json.loads((tmp_path / "r" / "run.json").read_text("utf-8"))
    assert note["settings"]["n_examples"] == 30
    assert note["choices"].keys() == {"examples", "systems", "scorers", "trials"}


def test_details_are_kept_with_their_key() -> None:
    def explains(output: Output) -> Score:
        return Score(criterion="explains", score=1, details={"é": [1, None], "nan": math.nan})

    result = run([example(1, "ok")], {"m": crashing}, [explains])
    assert result.details["details"].tolist() == ['{"é": [1, null], "nan": "NaN"}']
    assert result.details["criterion"].tolist() == ["explains"]


def test_only_combinations_that_were_measured_have_a_rate() -> None:
    items = [
        Example(id="1", task="sums", input="2 + 2", reference="4"),
        Example(id="2", task="words", input="a word", reference="word"),
    ]

    class OnlySums(ExactMatch):
        def applies(self, example: Example) -> bool:
            return example.task == "sums"

    run = evaluate(items, {"m": {"1": "4", "2": "word"}}, [OnlySums(), Contains()], progress=False)
    assert run.pass_rates()["m"].to_dict() == {
        ("OnlySums", "sums"): 1.0,
        ("Contains", "sums"): 1.0,
        ("Contains", "words"): 1.0,
    }


def test_an_attribute_with_the_name_of_an_outputs_column_is_told() -> None:
    item = Example(id="1", input="q", reference="a", attributes={"error": "typo"})
    run = evaluate([item], {"m": {"1": "a"}}, [ExactMatch()], progress=False)
    assert any("'error' are in the score table only" in note for note in run.warnings)
    assert run.scores["error"].tolist() == ["typo"]
    assert run.outputs["error"].isna().all()


def test_what_a_judge_costs_is_in_the_score_table() -> None:
    def judge(output: Output) -> Score:
        return Score(criterion="judge", score=1, cost_usd=0.25)

    items = [Example(id=str(n), input="q") for n in range(3)]
    answers = {str(n): "a" for n in range(3)}
    run = evaluate(items, {"m": answers}, [judge, ExactMatch()], progress=False)
    costs = run.scores.groupby("criterion")["judge_cost_usd"].sum()
    assert costs.to_dict() == {"ExactMatch": 0.0, "judge": 0.75}
