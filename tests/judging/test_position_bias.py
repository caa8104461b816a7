"""Position bias: a real judge, hand-counted verdicts, laws, awkward input."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltoolkit import stats
from evaltoolkit.errors import EvalToolkitError, EvalToolkitWarning, PairingError
from evaltoolkit.judging import position_bias

pytestmark = pytest.mark.filterwarnings("ignore::evaltoolkit.errors.EvalToolkitWarning")
Verdicts = Sequence[tuple[float | None, float | None]]


def judged(
    verdicts: Verdicts, *, a: str = "a", b: str = "b", scorer: str = "judge"
) -> pd.DataFrame:
    """Rows of a against b: what the judge said with a shown first, and with a shown second."""
    rows = [
        (a, b, f"e{i:03d}", order, place, score)
        for i, pair in enumerate(verdicts)
        for order, (place, score) in enumerate(zip(("first", "second"), pair, strict=True))
    ]
    columns = ["system", "versus", "example_id", "trial", "position", "score"]
    return pd.DataFrame(rows, columns=columns).assign(criterion="better", scorer=scorer)


def overall(scores: pd.DataFrame, **options: object) -> pd.Series:
    table = position_bias(scores, **options).table  # type: ignore[arg-type]
    rows = table[table["scope"] == "all"]
    assert len(rows) == 1
    return rows.iloc[0]


def test_gpt4_on_two_phi3_models(shared_data: Path) -> None:
    """18 and 20 the same winner, 8 two ties, 16 against 2 decided by the place, 2 with an error."""
    path = shared_data / "mt_bench" / "gpt-4_pair.phi-3_vs_phi-3-dpo.jsonl"
    raw = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    score = {"model_1": 1.0, "tie": 0.5, "model_2": 0.0, "error": None}
    rows = [
        {
            "system": each["model_1"],
            "versus": each["model_2"],
            "example_id": each["question_id"],
            "trial": order,
            "position": place,
            "score": score[each[game]],
            "status": "scorer_error" if each[game] == "error" else "scored",
        }
        for each in raw
        for order, (place, game) in enumerate([("first", "g1_winner"), ("second", "g2_winner")])
    ]
    table = pd.DataFrame(rows).assign(criterion="better", scorer="gpt-4")
    with pytest.warns(EvalToolkitWarning, match="1 comparison judged in one order only, 1 without"):
        result = position_bias(table)
    row = result.table[result.table["scope"] == "all"].iloc[0]
    counts = result.comparisons["outcome"].value_counts()
    same = result.comparisons[result.comparisons["outcome"] == "consistent"]
    assert same["a_shown_first"].value_counts().to_dict() == {0.0: 20, 1.0: 18, 0.5: 8}
    assert (counts["first_wins_both"], counts["second_wins_both"], counts["tie_in_one"]) == (
        16,
        2,
        9,
    )
    assert (row.n, row.n_one_order, row.n_not_scored) == (73, 1, 1)
    assert (row.consistent, row.first_wins_both) == pytest.approx((46 / 73, 16 / 73))
    # 8 of the 9 single ties lean to the first place
    assert row.first_rate == pytest.approx(0.5 + (16 - 2 + 0.5 * 8 - 0.5 * 1) / 73 / 2)
    assert row.ci_low > 0.5
    assert row.p_value < 1e-4
    by_order = result.preferences.set_index("order")
    # either order alone would have named a winner, and not the same one
    assert by_order.loc["a_first", "ci_low"] > 0.5
    assert by_order.loc["b_first", "ci_high"] < 0.5
    assert by_order.loc["both", "ci_low"] < 0.5 < by_order.loc["both", "ci_high"]
    sums = same["a_shown_first"].sum()
    assert by_order.loc["both", "preference"] == pytest.approx(
        (sums + (16 + 2) * 0.5 + 5 * 0.75 + 3 * 0.25 + 1 * 0.25) / 73
    )
    assert "favours the first place" in result.conclusion()


def test_decided_verdicts_are_mcnemars_table() -> None:
    verdicts = [(1.0, 1.0)] * 9 + [(0.0, 0.0)] * 7 + [(1.0, 0.0)] * 12 + [(0.0, 1.0)] * 3
    row = overall(judged(verdicts))
    assert (row.first_wins_both, row.second_wins_both) == pytest.approx((12 / 31, 3 / 31))
    assert row.test == "mcnemar_midp"
    assert row.p_value == pytest.approx(stats.mcnemar_midp(12, 3))
    low, high = stats.bonett_price(12, 3, 31)
    assert (row.ci_low, row.ci_high) == pytest.approx((0.5 + low / 2, 0.5 + high / 2))


def test_orders_may_be_rows_of_either_side() -> None:
    """Both orders as two trials, or with system and versus exchanged: the same numbers."""
    verdicts = [(1.0, 0.0)] * 9 + [(1.0, 1.0)] * 4 + [(0.5, 0.0)] * 3
    one = judged(verdicts)
    other = one.copy()
    turn = other["position"] == "second"
    other.loc[turn, ["system", "versus"]] = ["b", "a"]
    other.loc[turn, "score"] = 1 - other.loc[turn, "score"]
    other.loc[turn, "position"] = "first"
    other["trial"] = 0
    expected, found = position_bias(one), position_bias(other)
    pd.testing.assert_frame_equal(expected.table, found.table)
    pd.testing.assert_frame_equal(expected.preferences, found.preferences)


def test_several_pairs_share_their_examples() -> None:
    verdicts = [(1.0, 0.0)] * 12 + [(1.0, 1.0)] * 12
    scores = pd.concat([judged(verdicts), judged(verdicts, b="c"), judged(verdicts, a="b", b="c")])
    result = position_bias(scores)
    row = result.table[result.table["scope"] == "all"].iloc[0]
    pairs = result.table[result.table["scope"] == "pair"]
    assert (row.n, row.n_blocks, len(pairs)) == (72, 24, 3)
    assert (row.interval, row.test) == ("cr2_t", "cluster_flip")
    d = np.tile([1.0] * 12 + [0.0] * 12, 3)
    estimate = stats.cluster_mean(d, np.tile(np.arange(24), 3))
    assert row.ci_low == pytest.approx(0.5 + estimate.low / 2)
    assert (pairs["p_adjusted"] == (3 * pairs["p_value"]).clip(upper=1)).all()
    assert "over judges" in result.methods()


def test_clusters_widen() -> None:
    verdicts = [(1.0, 0.0)] * 10 + [(1.0, 1.0)] * 10
    scores = judged(verdicts)
    scores["cluster"] = (scores["example_id"].str[1:].astype(int) // 5).astype(str)
    row = overall(scores)
    assert (row.n_blocks, row.interval, row.test) == (4, "cr2_t", "cr2_t")
    assert overall(scores, cluster=False).interval == "bonett_price"


def test_scorers_stand_apart_and_can_be_chosen() -> None:
    scores = pd.concat(
        [judged([(1.0, 0.0)] * 8, scorer="x"), judged([(1.0, 1.0), (0.0, 0.0)] * 4, scorer="y")]
    )
    table = position_bias(scores).table.query("scope == 'all'").set_index("scorer")
    assert table["first_rate"].to_dict() == {"x": 1.0, "y": 0.5}
    assert overall(scores, scorer="y").p_value == 1
    with pytest.raises(PairingError, match="did you mean|known"):
        position_bias(scores, scorer="z")


def test_without_positions_the_remedy_is_named() -> None:
    scores = judged([(1.0, 0.0)])
    for bare in (scores.drop(columns="position"), scores.assign(position=None)):
        with pytest.raises(PairingError, match="add a column 'position'") as caught:
            position_bias(bare)
        assert caught.value.code == "no_position"
    with pytest.raises(PairingError, match="must be 'first' or 'second'"):
        position_bias(scores.assign(position=["first", "left"]))
    with pytest.raises(PairingError, match="no row has versus"):
        position_bias(scores.assign(versus=None, system=["a", "b"]))
    with pytest.raises(PairingError, match="no preference from 0 to 1"):
        position_bias(scores.assign(score=[7.0, 0.0]))
    with pytest.raises(PairingError, match="lower scores are declared better"):
        position_bias(scores.assign(higher_is_better=False))
    with pytest.raises(EvalToolkitError, match="level"):
        position_bias(scores, level=95)


def test_one_order_only_is_an_answer_with_a_reason() -> None:
    scores = judged([(1.0, None)] * 5)
    result = position_bias(scores)
    row = result.table.iloc[0]
    assert (row.n, row.n_one_order) == (0, 5)
    assert math.isnan(row.first_rate)
    assert math.isnan(row.p_value)
    assert row.note == "no comparison was judged in both orders"
    assert "nothing can be said" in result.conclusion()


@pytest.mark.parametrize(
    ("verdicts", "rate", "p_value"),
    [
        ([(0.5, 0.5)] * 12, 0.5, 1.0),
        ([(1.0, 1.0)] * 12, 0.5, 1.0),
        ([(1.0, 0.0)] * 12, 1.0, 2.0**-12),
        ([(0.0, 1.0)] * 12, 0.0, 2.0**-12),
        ([(1.0, 0.0)], 1.0, 0.5),
        ([(0.5, 0.0)] * 12, 0.75, 2.0**-12),
    ],
    ids=["all ties", "all the same", "always first", "always second", "one example", "half"],
)
def test_degenerate_verdicts(verdicts: Verdicts, rate: float, p_value: float) -> None:
    result = position_bias(judged(verdicts))
    row = result.table.iloc[0]
    assert row.first_rate == pytest.approx(rate)
    assert row.p_value == pytest.approx(p_value)
    assert math.isnan(row.ci_low) or row.ci_low < row.ci_high
    assert math.isnan(row.ci_low) == bool(row.note)
    assert result.to_markdown()
    assert result._repr_html_()


@settings(deadline=None, max_examples=8)
@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0])),
        min_size=1,
        max_size=25,
    ),
)
def test_laws(verdicts: list[tuple[float, float]]) -> None:
    scores = judged(verdicts)
    row = overall(scores)
    shares = [row.consistent, row.first_wins_both, row.second_wins_both, row.tie_in_one]
    assert sum(shares) == pytest.approx(1)
    shuffled = position_bias(scores.sample(frac=1, random_state=1))
    pd.testing.assert_frame_equal(shuffled.table, position_bias(scores).table)
    # who is called a does not matter; showing the other first mirrors the bias
    renamed = overall(scores.assign(system="z"))
    assert (renamed.first_rate, renamed.p_value) == pytest.approx((row.first_rate, row.p_value))
    swapped = scores.assign(position=scores["position"].map({"first": "second", "second": "first"}))
    mirrored = overall(swapped)
    assert mirrored.first_rate == pytest.approx(1 - row.first_rate)
    assert mirrored.p_value == pytest.approx(row.p_value)


def test_hostile_names_are_escaped() -> None:
    result = position_bias(judged([(1.0, 0.0)] * 3, a="<b>|x", b="y\n$"))
    assert "<b>" not in result._repr_html_()
    assert "\n$" not in result.conclusion()
