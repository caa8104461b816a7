"""Pass rates and their difference at many thresholds."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest

import evaltoolkit as et
from evaltoolkit import stats
from evaltoolkit.results import ThresholdCurve
from evaltoolkit.robustness import threshold_curve
from tests.comparison.builders import paired_cells, two_systems


def drawn(frame: pd.DataFrame, **choices: object) -> ThresholdCurve:
    choices = {"criterion": "rating", "baseline": "old", "candidate": "new", **choices}
    return threshold_curve(frame, **choices)  # type: ignore[arg-type]


def ratings(n: int = 200, **columns: object) -> pd.DataFrame:
    """Ratings 1 to 5; the new system's are spread wider, so better above 3 and worse below."""
    rng = np.random.default_rng(0)
    hard = rng.normal(size=n)
    old = np.clip(np.round(3 + 0.6 * hard + 0.3 * rng.normal(size=n)), 1, 5)
    new = np.clip(np.round(3 + 1.1 * hard + 0.3 * rng.normal(size=n)), 1, 5)
    return two_systems(old.tolist(), new.tolist(), criterion="rating", **columns)


def test_rates_and_differences_by_hand() -> None:
    frame = ratings()
    curve = drawn(frame)
    assert curve.differences.threshold.tolist() == [2.0, 3.0, 4.0, 5.0]
    old, new = (
        frame[frame.system == s].sort_values("example_id").score.to_numpy() for s in ("old", "new")
    )
    for row in curve.differences.itertuples():
        a, b = old >= row.threshold, new >= row.threshold
        wins, losses = int((b & ~a).sum()), int((a & ~b).sum())
        assert (row.wins, row.losses, row.ties) == (wins, losses, 200 - wins - losses)
        assert row.delta == pytest.approx(b.mean() - a.mean())
        assert row.p_value == pytest.approx(stats.mcnemar_midp(wins, losses))
        assert (row.ci_low, row.ci_high) == pytest.approx(stats.bonett_price(wins, losses, 200))
        assert row.joint_low < row.ci_low < row.ci_high < row.joint_high
        assert row.p_adjusted >= row.p_value
    rates = curve.table[curve.table.system == "new"]
    for row in rates.itertuples():
        count = int((new >= row.threshold).sum())
        assert (row.n_passed, row.n_examples) == (count, 200)
        assert (row.ci_low, row.ci_high) == pytest.approx(stats.wilson(count, 200))


def test_p_values_are_those_of_max_t_over_the_thresholds() -> None:
    frame = ratings()
    curve = drawn(frame, seed=3)
    wide = frame.pivot_table(index="example_id", columns="system", values="score").sort_index()
    d = np.stack(
        [(wide["new"] >= t).astype(float) - (wide["old"] >= t).astype(float) for t in (2, 3, 4, 5)],
        axis=1,
    )
    expected = stats.max_t(d, draws=10_000, seed=3)
    np.testing.assert_allclose(
        curve.differences.p_adjusted,
        np.fmax(curve.differences.p_value, expected.p_step_down),
    )
    assert (curve.differences.correction == "maxt").all()
    bonferroni = drawn(frame, correction="bonferroni").differences
    np.testing.assert_allclose(bonferroni.p_adjusted, np.minimum(4 * bonferroni.p_value, 1))


def test_the_text_says_where_sign_and_significance_change() -> None:
    text = drawn(ratings(threshold=4.0)).conclusion()
    assert "the sign depends on the threshold" in text
    assert "new is better at 4 to 5 and worse at 2 to 3" in text
    assert "The verdict depends on the threshold." in text
    assert "at its own threshold of 4 the pass rates differ by +0.12" in text
    alike = ratings()
    alike["score"] = alike.groupby("example_id")["score"].transform("first")
    text = drawn(alike).conclusion()
    assert "significant at none of 4 thresholds" in text
    assert "The verdict does not depend on the threshold." in text


def test_the_criterions_own_threshold_is_marked_and_added() -> None:
    curve = drawn(ratings(threshold=3.5))
    assert curve.differences.threshold.tolist() == [2.0, 3.0, 3.5, 4.0, 5.0]
    assert curve.differences.declared.tolist() == [False, False, True, False, False]
    assert curve.table.loc[curve.table.declared, "threshold"].unique().tolist() == [3.5]
    # 3.5 and 4 cut the same ratings: one hypothesis, counted once.
    same = curve.differences.set_index("threshold")
    assert same.p_adjusted[3.5] == same.p_adjusted[4.0]
    chosen = drawn(ratings(threshold=3.5), thresholds=[4, 2, 4])
    assert chosen.differences.threshold.tolist() == [2.0, 4.0]


def test_lower_is_better_passes_at_most() -> None:
    frame = ratings()
    mirrored = frame.assign(score=6 - frame["score"], higher_is_better=False)
    a, b = drawn(frame).differences, drawn(mirrored).differences
    assert b.threshold.tolist() == [1.0, 2.0, 3.0, 4.0]
    np.testing.assert_allclose(b.delta[::-1], a.delta)
    np.testing.assert_allclose(b.p_value[::-1], a.p_value)
    assert "was at most the threshold" in drawn(mirrored).methods()


def test_several_trials_pass_by_their_mean() -> None:
    first, second = ratings(40), ratings(40).assign(trial=1)
    second["score"] = (second["score"] + 1).clip(upper=5)
    both = pd.concat([first, second], ignore_index=True)
    curve = drawn(both)
    mean = both.groupby(["system", "example_id"])["score"].mean()
    row = curve.table[(curve.table.system == "old") & (curve.table.threshold == 3.5)].iloc[0]
    assert row.n_passed == (mean["old"] >= 3.5).sum()
    assert row.n_examples == 40
    assert row.interval == "wilson"
    assert "a share of examples, not of trials" in curve.methods()
    assert "not of trials" not in drawn(first).methods()


def test_rounding_does_not_move_an_example_over_the_bar() -> None:
    frame = two_systems([0.1 + 0.2] * 5, [0.3] * 5, criterion="rating", kind="continuous")
    curve = drawn(frame, thresholds=[0.3])
    assert curve.table.n_passed.tolist() == [5, 5]
    assert curve.differences.ties.tolist() == [5]


def test_clusters_give_cr2_intervals_and_flips() -> None:
    frame = ratings(cluster=[f"c{i // 10}" for i in range(200)] * 2)
    curve = drawn(frame)
    assert set(curve.table.interval) == {"cr2_t"}
    assert set(curve.differences.test) == {"cluster_flip"}
    new = frame[frame.system == "new"]
    row = curve.table[(curve.table.system == "new") & (curve.table.threshold == 4.0)].iloc[0]
    expected = stats.cluster_mean((new.score >= 4).astype(float), new.cluster.tolist())
    assert (row.ci_low, row.ci_high) == pytest.approx((expected.low, expected.high))
    assert curve.table.ci_low.min() >= 0
    assert set(drawn(frame, cluster=False).table.interval) == {"wilson"}


def test_tasks_and_more_systems() -> None:
    frame = pd.concat(
        [ratings(60).assign(task="a"), ratings(50).assign(task="b")], ignore_index=True
    )
    third = frame[frame.system == "old"].assign(system="third")
    frame = pd.concat([frame, third], ignore_index=True)
    separate = drawn(frame)
    assert separate.differences.task.unique().tolist() == ["a", "b"]
    assert separate.table.system.unique().tolist() == ["old", "new"]
    pooled = drawn(frame, tasks="pooled", systems=["new", "third"])
    assert pooled.differences.n_pairs.unique().tolist() == [110]
    assert pooled.table.system.unique().tolist() == ["new", "third"]
    rates = threshold_curve(frame, criterion="rating")
    assert rates.differences.empty
    assert rates.table.system.unique().tolist() == ["new", "old", "third"]
    assert "new passes" in rates.conclusion()
    assert rates.to_markdown()


def test_many_values_are_thinned_to_observed_quantiles() -> None:
    rng = np.random.default_rng(5)
    old, new = rng.normal(size=150), rng.normal(0.5, 1, size=150)
    frame = two_systems(old.tolist(), new.tolist(), criterion="rating")
    curve = drawn(frame)
    values = curve.differences.threshold.to_numpy()
    assert values.size == 21
    assert np.isin(values, frame.score).all()
    assert values[0] > frame.score.min()
    rates = curve.table[curve.table.system == "old"].pass_rate.to_numpy()
    assert (np.diff(rates) <= 0).all()


@pytest.mark.parametrize(("n", "value"), [(1, 1.0), (2, 0.0), (5, 3.0)])
def test_constant_scores(n: int, value: float) -> None:
    curve = drawn(two_systems([value] * n, [value] * n, criterion="rating"))
    assert curve.differences.threshold.tolist() == [value]
    assert curve.differences.p_value.tolist() == [1.0]
    assert curve.table.pass_rate.tolist() == [1.0, 1.0]
    assert (curve.table.ci_low < 1).all()
    assert f"not significant at the only threshold, {value:g}." in curve.conclusion()


def test_a_binary_criterion_gives_what_compare_gives() -> None:
    frame = paired_cells(20, 12, 3, 15)
    curve = drawn(frame, criterion="correct")
    row, same = curve.differences.iloc[0], et.compare(frame, baseline="old", candidate="new").table
    assert curve.differences.threshold.tolist() == [1.0]
    for name in ("delta", "ci_low", "ci_high", "p_value", "p_adjusted", "wins", "losses"):
        assert row[name] == same[name][0], name
    assert row.correction == "single"


def test_lost_examples_are_left_out_and_said() -> None:
    frame = ratings(50)
    lost = (frame.system == "new") & (frame.example_id < "e0005")
    status = frame["status"].astype("str").mask(lost, "system_error")
    frame = frame.assign(score=frame["score"].mask(lost), status=status)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        curve = drawn(frame)
    assert curve.differences.n_pairs.unique().tolist() == [45]
    assert curve.table.groupby("system").n_examples.first().to_dict() == {"new": 45, "old": 50}
    assert "5 examples of a system had no scored trial" in curve.methods()


def test_row_order_does_not_matter() -> None:
    frame = ratings(60)
    again = frame.sample(frac=1, random_state=2).reset_index(drop=True)
    pd.testing.assert_frame_equal(drawn(frame).differences, drawn(again).differences)
    pd.testing.assert_frame_equal(drawn(frame).table, drawn(again).table)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"criterion": "ratings"}, "did you mean 'rating'"),
        ({"candidate": None}, "needs both baseline and candidate"),
        ({"candidate": "newer"}, "no row has the system 'newer'"),
        ({"candidate": "old"}, "named twice"),
        ({"thresholds": []}, "give finite numbers"),
        ({"thresholds": [math.nan]}, "give finite numbers"),
        ({"scorer": "judge"}, "no row has the scorer"),
        ({"cluster": "repo"}, "no column 'repo'"),
        ({"correction": "bonf"}, "unknown"),
        ({"level": 95}, "between 0 and 1"),
        ({"tasks": "all", "baseline": None, "candidate": None}, "tasks is 'all'"),
    ],
)
def test_what_is_refused(choices: dict[str, object], message: str) -> None:
    with pytest.raises(et.EvalToolkitError, match=message):
        drawn(ratings(20), **choices)


def test_scorers_and_opponents_are_not_mixed() -> None:
    frame = ratings(20)
    two = pd.concat([frame.assign(scorer="a"), frame.assign(scorer="b")], ignore_index=True)
    with pytest.raises(et.PairingError, match="has 2 scorers"):
        drawn(two)
    assert drawn(two, scorer="b").settings["scorer"] == "b"
    against = frame.assign(versus=frame["system"].map({"old": "new", "new": "old"}))
    with pytest.raises(et.PairingError, match="absolute scores"):
        drawn(against)
    with pytest.raises(et.PairingError, match="has a score"):
        drawn(frame.assign(score=np.nan, status="unscored"), baseline=None, candidate=None)
