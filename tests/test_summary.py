"""Coverage and means of single systems."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import evaltoolkit as et
from evaltoolkit import stats


@pytest.fixture
def scores() -> pd.DataFrame:
    rows = [
        ("a", "1", 0, 1.0, "scored"), ("a", "2", 0, 0.0, "scored"),
        ("a", "3", 0, np.nan, "unscored"),
        ("b", "1", 0, 1.0, "scored"), ("b", "1", 1, 0.0, "scored"),
        ("b", "3", 0, np.nan, "system_error"), ("b", "4", 0, np.nan, "scorer_error"),
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["system", "example_id", "trial", "score", "status"])
    return frame.assign(criterion="correct")


def test_coverage_counts_rows_and_pairs(scores: pd.DataFrame) -> None:
    table = et.coverage(scores).set_index("system")
    a, b = table.loc["a"], table.loc["b"]
    assert (a.n_examples, a.n_rows, a.scored, a.unscored, a.missing, a.n_pairs) == (
        3,
        3,
        2,
        1,
        1,
        1,
    )
    assert (b.n_examples, b.n_rows, b.scored, b.system_error, b.scorer_error) == (3, 4, 2, 1, 1)
    assert (b.missing, b.n_pairs) == (1, 1)


def test_coverage_lists_a_system_that_was_never_measured(scores: pd.DataFrame) -> None:
    extra = pd.DataFrame(
        {"system": ["c"], "example_id": ["1"], "score": [1.0], "criterion": "tone"}
    )
    table = et.coverage(pd.concat([scores, extra]), baseline="a")
    absent = table[(table.system == "c") & (table.criterion == "correct")].iloc[0]
    assert (absent.n_rows, absent.missing, absent.n_pairs) == (0, 4, 0)
    assert table[(table.system == "b") & (table.criterion == "correct")].n_pairs.tolist() == [1]


def test_coverage_refuses_an_unknown_baseline(scores: pd.DataFrame) -> None:
    with pytest.raises(et.SchemaError, match="baseline is 'z'"):
        et.coverage(scores, baseline="z")


def test_summarise_averages_trials_within_examples(scores: pd.DataFrame) -> None:
    table = et.summarise(scores).set_index("system")
    assert table.loc["a", "mean"] == 0.5
    assert table.loc["a", "interval"] == "wilson"
    assert table.loc["b", "mean"] == 0.5
    assert table.loc["b", "n_scored"] == 1
    assert table.loc["b", "interval"] == "t"
    assert np.isnan(table.loc["b", "ci_low"])


def test_summarise_wilson_is_newcombes_table() -> None:
    # Newcombe 1998, Table I: 81 of 263 gives .2553 to .3662
    frame = pd.DataFrame({"system": "a", "example_id": range(263), "criterion": "ok",
                          "score": [1.0] * 81 + [0.0] * 182})  # fmt: skip
    row = et.summarise(frame).iloc[0]
    assert (row.ci_low, row.ci_high) == pytest.approx((0.2553, 0.3662), abs=5e-5)


def test_summarise_with_clusters_is_cr2() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"system": "a", "example_id": range(60), "criterion": "rating",
                          "score": rng.normal(size=60),
                          "cluster": [f"c{i % 9}" for i in range(60)]})  # fmt: skip
    row = et.summarise(frame).iloc[0]
    ordered = frame.assign(example_id=frame.example_id.astype(str)).sort_values("example_id")
    expected = stats.cluster_mean(ordered.score.to_numpy(), ordered.cluster.to_numpy())
    assert (row.se, row.ci_low) == pytest.approx((expected.se, expected.low))
    assert (row.n_clusters, row.interval) == (9, "cr2_t")
    assert et.summarise(frame, cluster=False).iloc[0].interval == "t"


def test_summarise_splits_by_attributes() -> None:
    frame = pd.DataFrame({"system": "a", "example_id": range(10), "criterion": "ok",
                          "score": [1.0, 0.0] * 5, "topic": ["x"] * 4 + ["y"] * 6})  # fmt: skip
    table = et.summarise(frame, by="topic")
    assert table.set_index("topic").n_examples.to_dict() == {"x": 4, "y": 6}
    with pytest.raises(et.SchemaError, match="no column 'topik'.*did you mean 'topic'"):
        et.summarise(frame, by="topik")


def test_resources_become_advisory_criteria() -> None:
    outputs = pd.DataFrame({
        "system": ["a", "b"] * 20, "example_id": np.repeat(range(20), 2), "output": "x",
        "latency_s": np.tile([1.0, 2.0], 20) + np.repeat(np.arange(20) / 100, 2),
        "tokens_out": [None, 5.0] * 20,
    })  # fmt: skip
    scores = et.resources(outputs)
    assert set(scores.criterion) == {"latency_s", "tokens_out"}
    assert not scores.blocking.any()
    assert (scores[scores.score.isna()].status == "unscored").all()
    result = et.compare(scores, baseline="a", candidate="b", criteria="latency_s")
    assert result.table.verdict.tolist() == ["regressed"]


def test_resources_without_numbers_are_refused() -> None:
    outputs = pd.DataFrame({"system": ["a"], "example_id": ["1"], "output": ["x"]})
    with pytest.raises(et.SchemaError, match="no number in any of 'cost_usd'"):
        et.resources(outputs)


def test_examples_without_a_cluster_stand_alone() -> None:
    frame = pd.DataFrame({"system": "a", "example_id": range(40), "criterion": "rating",
                          "score": np.random.default_rng(0).normal(size=40)})  # fmt: skip
    frame["cluster"] = ["c1" if i < 4 else None for i in range(40)]
    with pytest.warns(et.EvalToolkitWarning, match="36 of 40 examples have no cluster"):
        assert et.summarise(frame).n_clusters.tolist() == [37]


def test_summarise_refuses_what_it_cannot_do(scores: pd.DataFrame) -> None:
    with pytest.raises(et.SchemaError, match="no column 'nope'"):
        et.summarise(scores, cluster="nope")
    runs = pd.concat([scores.assign(run_id="one"), scores.assign(run_id="two")])
    with pytest.raises(et.PairingError, match="several runs"):
        et.summarise(runs)
    assert et.summarise(scores.iloc[:0]).columns[0] == "task"


def test_coverage_counts_pairwise_rows_only_against_the_baseline() -> None:
    rows = pd.DataFrame({"system": "b", "example_id": range(30), "criterion": "preference",
                         "score": 1.0, "versus": ["a"] * 10 + ["c"] * 20})  # fmt: skip
    mirror = rows.assign(system=rows.versus, versus="b", score=0.0)
    table = et.coverage(pd.concat([rows, mirror]), baseline="a").set_index("system")
    assert table.n_pairs["b"] == 10
