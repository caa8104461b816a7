from __future__ import annotations

import subprocess
import sys
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltoolkit import schema
from evaltoolkit.criteria import KINDS
from evaltoolkit.errors import SchemaError
from evaltoolkit.models import Criterion, Example, Kind, Output, PairedScore, Score, Status


@pytest.mark.parametrize("given_id", [7, 7.0, "7", np.int64(7), np.float64(7)])
def test_ids_meet_as_text(given_id: Any) -> None:
    assert Example(id=given_id).id == "7"
    assert Example(id="x", task=given_id, cluster=given_id).cluster == "7"


def test_large_whole_ids_keep_every_digit() -> None:
    assert Example(id=2**60 + 1).id == str(2**60 + 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [None, "", True, float("nan"), float("inf"), 7.5, ["7"]])
def test_an_id_must_be_text_or_a_whole_number(bad: Any) -> None:
    with pytest.raises(SchemaError, match="Example has 1 wrong field") as caught:
        Example(id=bad)
    assert caught.value.path == "id"


def test_all_problems_of_a_record_come_at_once_with_a_hint() -> None:
    with pytest.raises(SchemaError) as caught:
        Example(idd="7", expected_tool_count=-1)  # type: ignore[call-arg]
    message = str(caught.value)
    assert "3 wrong field(s)" in message
    assert "'idd' is not a field of it (did you mean 'id'?)" in message
    assert "expected_tool_count is -1" in message


def test_a_model_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Example(id="1").task = "other"  # type: ignore[misc]


def test_examples_do_not_share_attributes() -> None:
    first = Example(id="1")
    first.attributes["topic"] = "maths"
    assert Example(id="2").attributes == {}


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_missing_cells_of_a_table_become_none(missing: Any) -> None:
    output = Output(
        error=missing, cost_usd=missing, tokens_in=missing, latency_s=missing, finish_reason=missing
    )
    assert output == Output()


@pytest.mark.parametrize(
    ("error", "text"),
    [
        ("", None),
        ("boom", "boom"),
        (TimeoutError("60 s"), "TimeoutError: 60 s"),
        (TimeoutError(), "TimeoutError"),
        (KeyError("x"), "KeyError: 'x'"),
    ],
)
def test_errors_of_an_output_are_text(error: Any, text: str | None) -> None:
    assert Output(error=error).error == text


@pytest.mark.parametrize("field", ["cost_usd", "tokens_in", "tokens_out", "latency_s"])
def test_amounts_cannot_be_negative(field: str) -> None:
    with pytest.raises(SchemaError, match=f"{field} is -1"):
        Output(**{field: -1})


def test_malformed_structures_are_kept_for_the_scorers() -> None:
    circular: list[Any] = []
    circular.append(circular)
    output = Output(text={1, 2}, messages="not a list", rounds=3, final_state=circular)
    assert output.messages == "not a list"
    assert output.final_state is circular


def test_an_output_is_not_its_text() -> None:
    output = Output(text="Paris")
    with pytest.raises(TypeError, match=r"compare output\.text"):
        _ = output == "Paris"
    with pytest.raises(TypeError, match=r"compare output\.text"):
        _ = "Paris" == output  # noqa: SIM300 - the order is what is tested
    with pytest.raises(TypeError, match=r"search in output\.text"):
        _ = "Par" in output
    assert output == Output(text="Paris")
    assert output != Output(text="Rome")


@settings(deadline=None, derandomize=True)
@given(st.one_of(st.none(), st.floats()), st.sampled_from(get_args(Status)))
def test_a_score_is_finite_exactly_when_it_is_scored(value: float | None, status: Any) -> None:
    is_finite = value is not None and np.isfinite(value)
    legal = is_finite if status == "scored" else value is None
    if legal:
        assert Score(criterion="c", score=value, status=status).score == value
    else:
        with pytest.raises(SchemaError):
            Score(criterion="c", score=value, status=status)


@pytest.mark.parametrize("number", [1, True, 1.0, np.float32(1), np.int64(1), np.float64(1)])
def test_scores_become_plain_floats(number: Any) -> None:
    score = Score(criterion="c", score=number).score
    assert type(score) is float
    assert score == 1.0


def test_a_score_refuses_text_a_stray_verdict_and_odd_details() -> None:
    with pytest.raises(SchemaError, match="a text is not a number"):
        Score(criterion="c", score="0.5")  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="must be left out"):
        Score(criterion="c", status="unscored", passed=False)
    with pytest.raises(SchemaError, match="details"):
        Score(criterion="c", score=1, details={"x": {1, 2}})  # type: ignore[dict-item]
    circular: dict[str, Any] = {}
    circular["self"] = circular
    with pytest.raises(SchemaError, match="details"):
        Score(criterion="c", score=1, details=circular)


def test_statuses_and_kinds_are_those_of_the_tables() -> None:
    assert get_args(Status) == schema.STATUSES
    assert get_args(Kind) == KINDS


UNSCORED = Score(criterion="c", status="unscored", message="no reference")


@pytest.mark.parametrize(
    ("baseline", "candidate", "delta"),
    [
        (Score(criterion="c", score=0.25), Score(criterion="c", score=1), 0.75),
        (Score(criterion="c", score=1), Score(criterion="c", score=0), -1.0),
        (UNSCORED, Score(criterion="c", score=0), None),
        (Score(criterion="c", score=0), UNSCORED, None),
    ],
)
def test_delta_is_candidate_minus_baseline(
    baseline: Score, candidate: Score, delta: float | None
) -> None:
    assert PairedScore(baseline=baseline, candidate=candidate).delta == delta
    assert PairedScore(baseline=baseline, candidate=candidate, delta=delta).delta == delta


def test_a_pair_must_be_consistent() -> None:
    one = Score(criterion="c", score=1)
    with pytest.raises(SchemaError, match="both must be of one criterion"):
        PairedScore(baseline=one, candidate=Score(criterion="d", score=1))
    with pytest.raises(SchemaError, match=r"delta is 0\.5, but candidate minus baseline is 0\.0"):
        PairedScore(baseline=one, candidate=one, delta=0.5)
    with pytest.raises(SchemaError, match=r"candidate minus baseline is None"):
        PairedScore(baseline=one, candidate=UNSCORED, delta=0.5)


def test_bounds_of_a_criterion_must_be_in_order() -> None:
    with pytest.raises(SchemaError, match="the lower one must be smaller"):
        Criterion(name="c", lower_bound=1, upper_bound=1)
    with pytest.raises(SchemaError, match="weight is 0"):
        Criterion(name="c", weight=0)
    with pytest.raises(SchemaError, match="kind is 'nominal'"):
        Criterion(name="c", kind="nominal")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("higher", "score", "passed"),
    [(True, 0.5, True), (True, 0.4, False), (False, 0.5, True), (False, 0.6, False),
     (None, 0.6, True)],
)  # fmt: skip
def test_thresholds_follow_the_direction(higher: bool | None, score: float, passed: bool) -> None:
    assert Criterion(name="c", threshold=0.5, higher_is_better=higher).passes(score) is passed
    assert Criterion(name="c", higher_is_better=higher).passes(score) is None


def test_bounds_are_checked_with_a_hair_of_slack() -> None:
    unit = Criterion(name="c", lower_bound=0, upper_bound=1)
    assert unit.beyond(1 + 1e-12) is None
    assert unit.beyond(1.5) == "1.5 lies above the upper bound 1"
    assert unit.beyond(-0.5) == "-0.5 lies below the lower bound 0"


def test_the_package_itself_does_not_load_pydantic() -> None:
    code = "import evaltoolkit, sys; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
