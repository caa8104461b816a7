"""Composites over criteria: the weighted mean, what is missing, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evaltoolkit as et
from evaltoolkit.composites import combine_criteria
from evaltoolkit.criteria import criteria_of
from evaltoolkit.errors import EvalToolkitWarning, SchemaError
from evaltoolkit.scores import normalise_scores

FACTS = {
    "correct": {"lower_bound": 0.0, "upper_bound": 1.0, "higher_is_better": True},
    "stars": {"lower_bound": 1.0, "upper_bound": 5.0, "higher_is_better": True},
    "latency": {"lower_bound": 0.0, "upper_bound": 10.0, "higher_is_better": False},
}


def table_of(rows: list[tuple[Any, ...]], **columns: object) -> pd.DataFrame:
    """Rows (system, example, criterion, score) with the bounds of `FACTS`."""
    frame = pd.DataFrame(rows, columns=["system", "example_id", "criterion", "score"])
    for fact in ("lower_bound", "upper_bound", "higher_is_better"):
        frame[fact] = frame["criterion"].map({name: f[fact] for name, f in FACTS.items()})
    return normalise_scores(frame.assign(**columns))


def two_examples() -> pd.DataFrame:
    return table_of(
        [
            ("a", 1, "correct", 1.0), ("a", 1, "stars", 4.0), ("a", 1, "latency", 2.5),
            ("a", 2, "correct", 0.0), ("a", 2, "stars", 1.0), ("a", 2, "latency", 10.0),
        ]
    )  # fmt: skip


def composite(scores: pd.DataFrame, **options: Any) -> pd.DataFrame:
    return combine_criteria(scores, keep=False, **options)


def test_the_mean_by_hand() -> None:
    # stars 4 of 1..5 -> .75; latency 2.5 of 0..10, lower is better -> .75
    found = composite(two_examples(), weights={"correct": 2, "stars": 1, "latency": 1})
    assert found["score"].tolist() == pytest.approx([(2 * 1 + 0.75 + 0.75) / 4, 0.0])
    assert found["criterion"].unique().tolist() == ["composite"]
    assert found["scorer"].unique().tolist() == ["weighted mean of 3 criteria"]
    info = criteria_of(found)["composite"]
    assert (info.kind, info.higher_is_better) == ("continuous", True)
    assert (info.lower_bound, info.upper_bound) == (0.0, 1.0)


def test_equal_weights_are_the_default() -> None:
    assert composite(two_examples())["score"].tolist() == pytest.approx([2.5 / 3, 0.0])


def test_the_column_weight_is_used() -> None:
    weight = {"correct": 2.0, "stars": 1.0, "latency": 1.0}
    table = two_examples()
    weighted = table.assign(weight=table["criterion"].map(weight))
    named = composite(table, weights=weight)
    pd.testing.assert_series_equal(composite(weighted)["score"], named["score"])


def test_a_half_filled_weight_column_is_refused() -> None:
    table = two_examples()
    weighted = table.assign(weight=table["criterion"].map({"correct": 2.0, "stars": 1.0}))
    with pytest.raises(SchemaError, match="not for 'latency'") as caught:
        composite(weighted)
    assert caught.value.code == "bad_weight"
    found = composite(weighted, weights={"correct": 2, "stars": 1})
    assert found["score"].tolist() == pytest.approx([2.75 / 3, 0.0])


def test_it_is_appended_to_a_valid_table_and_compares_as_a_hypothesis() -> None:
    rng = np.random.default_rng(0)
    rows = [
        (system, i, name, float(rng.random() < p))
        for system, p in (("old", 0.4), ("new", 0.8))
        for i in range(60)
        for name in ("x", "y")
    ]
    table = pd.DataFrame(rows, columns=["system", "example_id", "criterion", "score"])
    both = combine_criteria(table, weights={"x": 1, "y": 3}, name="overall")
    assert len(both) == len(table) + 120
    result = et.compare(both, baseline="old", candidate="new")
    assert result.table["criterion"].tolist() == ["overall", "x", "y"]
    delta = result.table.set_index("criterion")["delta"]
    # linear: the difference of the composite is the weighted mean of the differences
    assert delta["overall"] == pytest.approx((delta["x"] + 3 * delta["y"]) / 4)
    assert result.table["n_pairs"].unique().tolist() == [60]
    assert result.settings["families"]["overall"]["size"] == 3


def test_missing_parts_make_the_composite_unscored_with_the_worst_cause() -> None:
    table = two_examples()
    table.loc[1, ["score", "status"]] = [math.nan, "scorer_error"]
    table.loc[3, ["score", "status"]] = [math.nan, "unscored"]
    table.loc[4, ["score", "status"]] = [math.nan, "system_error"]
    found = combine_criteria(table, keep=False)
    assert found["status"].tolist() == ["scorer_error", "system_error"]
    assert found["score"].isna().all()
    assert "stars scorer error" in found["message"][0]
    assert found["message"][1] == (
        "33.33 % of the weight scored: correct unscored, stars system error"
    )
    counts = found.attrs["coverage"]["composite"]
    assert (counts["n"], counts["full"], counts["partial"], counts["unscored"]) == (2, 0, 0, 2)
    assert counts["criteria"]["stars"] == {
        "weight": 1.0, "scored": 0, "unscored": 0, "scorer_error": 1, "system_error": 1,
        "absent": 0,
    }  # fmt: skip


def test_partial_composites_on_request() -> None:
    table = two_examples()
    table.loc[2, ["score", "status"]] = [math.nan, "scorer_error"]
    weights = {"correct": 2, "stars": 1, "latency": 1}
    with pytest.warns(EvalToolkitWarning, match="1 of 2 values of 'composite' rest on part"):
        found = composite(table, weights=weights, min_coverage=0.75)
    assert found["score"].tolist() == pytest.approx([2.75 / 3, 0.0])
    assert found["status"].tolist() == ["scored", "scored"]
    assert found["message"][0] == "75 % of the weight scored: latency scorer error"
    assert pd.isna(found["message"][1])
    stricter = composite(table, weights=weights, min_coverage=0.76)
    assert stricter["status"].tolist() == ["scorer_error", "scored"]


def test_a_criterion_without_a_row_counts_as_unscored_and_is_warned_of() -> None:
    table = two_examples().drop(index=5)
    with pytest.warns(EvalToolkitWarning, match="'latency in 1'"):
        found = composite(table)
    assert found["status"].tolist() == ["scored", "unscored"]
    assert "latency has no row" in found["message"][1]
    assert found.attrs["coverage"]["composite"]["criteria"]["latency"]["absent"] == 1


def test_trials_runs_and_tasks_stay_apart() -> None:
    table = pd.concat(
        [
            two_examples().assign(trial=0, task="x", run_id="r"),
            two_examples().assign(trial=1, task="x", run_id="r"),
            two_examples().assign(trial=0, task="y", run_id="q"),
        ]
    )
    found = composite(table)
    assert len(found) == 6
    assert found.groupby(["task", "run_id", "trial"]).size().tolist() == [2, 2, 2]


def test_attributes_stay_where_the_parts_agree() -> None:
    table = two_examples().assign(
        topic=["t", "t", "t", "u", "u", "u"],
        judge_note=["p", "q", "r", "s", "s", "s"],
        tags=[["k"]] * 6,
        cluster=["c"] * 6,
    )
    found = composite(table)
    assert found["topic"].tolist() == ["t", "u"]
    assert found["judge_note"].isna().tolist() == [True, False]
    assert found["tags"].tolist() == [["k"], ["k"]]
    assert found["cluster"].tolist() == ["c", "c"]
    assert "coverage" not in found.columns


def test_a_composite_of_self_referenced_or_advisory_parts_is_one_too() -> None:
    table = two_examples()
    first = composite(table.assign(self_referenced=table["criterion"] == "stars"))
    assert criteria_of(first)["composite"].self_referenced
    second = composite(table.assign(blocking=False))
    assert not criteria_of(second)["composite"].blocking
    third = composite(table.assign(blocking=table["criterion"] != "stars"))
    assert criteria_of(third)["composite"].blocking


def test_composites_are_no_parts_of_the_next_one_by_default() -> None:
    once = combine_criteria(two_examples(), name="first")
    twice = combine_criteria(once, name="second")
    scores = twice.set_index("criterion")["score"]
    assert scores["first"].tolist() == scores["second"].tolist()
    assert list(twice.attrs["coverage"]) == ["first", "second"]
    nested = composite(once, weights={"first": 1, "correct": 1}, name="third")
    assert nested["score"].tolist() == pytest.approx([(1 + 2.5 / 3) / 2, 0.0])


def test_pairwise_rows_keep_their_opponent() -> None:
    table = two_examples().assign(versus="b")
    assert composite(table)["versus"].tolist() == ["b", "b"]
    mixed = two_examples()
    mixed["versus"] = [None, None, "b"] * 2
    with pytest.raises(SchemaError) as caught:
        composite(mixed)
    assert caught.value.code == "mixed_forms"


def test_several_scorers_need_a_choice() -> None:
    table = pd.concat([two_examples(), two_examples().iloc[[0, 3]].assign(scorer="judge", score=0)])
    with pytest.raises(SchemaError, match="pick one: scorers=") as caught:
        composite(table)
    assert caught.value.code == "several_scorers"
    assert composite(table, scorers={"correct": "judge"})["score"].tolist() == pytest.approx(
        [0.5, 0.0]
    )
    with pytest.raises(SchemaError, match="did not score it"):
        composite(table, scorers={"correct": "jugde"})


def test_raw_scores() -> None:
    rows = [("a", 1, "correct", 1.0), ("a", 1, "extra", 0.5)]
    table = table_of(rows).assign(lower_bound=0.0, upper_bound=1.0, higher_is_better=True)
    found = composite(table, rescale="none")
    assert found["score"].tolist() == [0.75]
    assert (found["lower_bound"][0], found["upper_bound"][0]) == (0.0, 1.0)
    stars = table_of([("a", 1, "correct", 1.0), ("a", 1, "stars", 4.0)])
    with pytest.raises(SchemaError) as caught:
        composite(stars, rescale="none")
    assert caught.value.code == "mixed_scales"
    points = composite(stars, rescale="raw")
    assert points["score"].tolist() == [2.5]
    assert (points["lower_bound"][0], points["upper_bound"][0]) == (0.5, 3.0)
    with pytest.raises(SchemaError) as caught:
        composite(two_examples(), rescale="raw")
    assert caught.value.code == "mixed_directions"


def test_raw_scores_without_bounds_go_by_what_is_seen() -> None:
    rows = [("a", i, n, s * (1 + i)) for i in range(4) for n, s in (("u", 1.3), ("v", 2.6))]
    table = pd.DataFrame(rows, columns=["system", "example_id", "criterion", "score"])
    found = composite(table, rescale="none")
    assert found["score"].tolist() == pytest.approx([1.95 * (1 + i) for i in range(4)])
    assert found["lower_bound"].isna().all()
    far = table.assign(score=table["score"].where(table["criterion"] == "u", 100.5))
    with pytest.raises(SchemaError, match="u: 1.3 to 5.2"):
        composite(far, rescale="none")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"weights": {"corect": 1}}, "unknown_criterion"),
        ({"weights": {"correct": 0}}, "bad_weight"),
        ({"weights": {"correct": -1}}, "bad_weight"),
        ({"weights": {"correct": math.nan}}, "bad_weight"),
        ({"weights": {"correct": math.inf}}, "bad_weight"),
        ({"weights": {}}, "no_criteria"),
        ({"name": "stars"}, "name_taken"),
        ({"name": ""}, "name_taken"),
        ({"scorers": {"starz": ""}}, "unknown_criterion"),
        ({"min_coverage": 0}, "bad_option"),
        ({"min_coverage": 1.5}, "bad_option"),
        ({"min_coverage": math.nan}, "bad_option"),
        ({"rescale": "z"}, "bad_option"),
    ],
)
def test_what_is_refused(options: dict, code: str) -> None:
    with pytest.raises(SchemaError) as caught:
        composite(two_examples(), **options)
    assert caught.value.code == code


def test_the_nearest_name_is_offered() -> None:
    with pytest.raises(SchemaError, match="did you mean 'correct'"):
        composite(two_examples(), weights={"corect": 1})


def test_unknown_bounds_are_refused_with_the_remedy() -> None:
    table = two_examples().drop(columns=["lower_bound", "upper_bound"])
    with pytest.raises(SchemaError, match="declare them") as caught:
        composite(table)
    assert caught.value.value == ["latency", "stars"]


def test_an_empty_table_has_nothing_to_combine() -> None:
    with pytest.raises(SchemaError) as caught:
        composite(two_examples().iloc[:0])
    assert caught.value.code == "no_criteria"


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_order_and_unit_of_weights_do_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [(s, i, n, f["lower_bound"] + rng.random() * (f["upper_bound"] - f["lower_bound"]))
            for s in "ab" for i in range(5) for n, f in FACTS.items()]  # fmt: skip
    table = table_of(rows)
    weights = {name: float(rng.uniform(0.1, 3)) for name in FACTS}
    one = composite(table, weights=weights)
    shuffled = table.sample(frac=1, random_state=seed % 1000)
    other = dict(reversed([(name, 8 * weight) for name, weight in weights.items()]))
    two = composite(shuffled, weights=other)
    keys = ["system", "example_id"]
    pd.testing.assert_series_equal(
        one.set_index(keys)["score"].sort_index(),
        two.set_index(keys)["score"].sort_index(),
        rtol=1e-12,
    )
    assert one["score"].between(0, 1).all()
