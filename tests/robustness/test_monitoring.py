"""Evidence that may be looked at after every pair keeps its promise."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evaltoolkit as et
from evaltoolkit.robustness import monitor
from evaltoolkit.robustness.evidence import Bets, decision, follow, shown_points
from tests.comparison.builders import many_criteria, paired_cells, two_systems

GPT5, SONNET = "20250807_mini-v1.7.0_gpt-5", "20250929_mini-v1.13.3_sonnet-4-5-20250929"
BETS = Bets(alpha=0.05, prior=1.0, tuning=10.0)


def in_turn(deltas: list[float], **columns: object) -> pd.DataFrame:
    """0/1 pairs with the given differences, whose rows stand pair by pair."""
    old = [1.0 if d <= 0 else 0.0 for d in deltas]
    frame = two_systems(old, [a + d for a, d in zip(old, deltas, strict=True)], **columns)
    return frame.sort_values("example_id", kind="stable", ignore_index=True)


def watched(frame: pd.DataFrame, **options: object) -> et.results.Monitoring:
    given = {"baseline": "old", "candidate": "new", "order": "table", **options}
    return monitor(frame, **given)  # type: ignore[arg-type]


def test_every_e_value_by_hand() -> None:
    """Beta(1, 1) mixture: e = 2**(w + l) * w! l! / (w + l + 1)!."""
    deltas = [1.0, 0.0, 1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0]
    table = watched(in_turn(deltas)).table
    wins, losses, expected = 0, 0, []
    for delta in deltas:
        wins, losses = wins + (delta > 0), losses + (delta < 0)
        ways = math.factorial(wins) * math.factorial(losses) / math.factorial(wins + losses + 1)
        expected.append(2 ** (wins + losses) * ways)
    assert table["e_value"].tolist() == pytest.approx(expected)
    assert table["p_anytime"].tolist() == pytest.approx(
        [min(1.0, 1 / max(expected[: k + 1])) for k in range(len(expected))]
    )
    assert table["n"].tolist() == list(range(1, 13))
    assert table["delta"].iloc[-1] == pytest.approx(8 / 12)
    assert table["decided_at"].isna().all()


def test_a_decision_stays_although_the_evidence_falls() -> None:
    deltas = [1.0] * 8 + [-1.0] * 8
    seen = watched(in_turn(deltas))
    last = seen.latest.iloc[0]
    # 2**7 / 8 = 16 is not enough, 2**8 / 9 = 28.4 is
    assert last.decided_at == 8
    assert last.direction == 1
    assert last.e_value < 1
    assert last.p_anytime == pytest.approx(9 / 2**8)
    assert "decided after 8 pairs, new higher" in seen.conclusion()
    assert "does not depend on what came out" in seen.conclusion()


def test_the_confidence_sequence_is_robbins_mixture() -> None:
    frame = in_turn([1.0, -1.0, 0.0, 1.0] * 50)
    table = watched(frame).table
    last = table.iloc[-1]
    half = math.sqrt((200 + 10) * math.log((200 + 10) / (0.05**2 * 10))) / 200
    assert (last.low, last.high) == pytest.approx((0.25 - half, 0.25 + half))
    wide = frame.assign(score=frame.score * 100, lower_bound=0.0, upper_bound=100.0)
    scaled = watched(wide).table.iloc[-1]
    assert (scaled.low, scaled.high) == pytest.approx((100 * last.low, 100 * last.high))
    assert math.isnan(scaled.e_value)
    assert table["low"].between(-1, 1).all()


@pytest.mark.parametrize("prior", [0.5, 1.0, 5.0])
def test_looking_at_every_pair_errs_rarely(prior: float) -> None:
    """2,000 sequences of 300 pairs without a difference, every one looked at 300 times."""
    rng = np.random.default_rng(7)
    bets = Bets(alpha=0.05, prior=prior, tuning=10.0)
    runs = rng.choice([-1.0, 0.0, 1.0], p=[0.15, 0.7, 0.15], size=(2000, 300))
    found = 0
    for values in runs:
        path = follow(values, values, bets, binary=True, span=math.nan)
        found += decision(path, alpha=0.05, by_e_value=True) is not None
    # At most 5 % is promised; three standard errors of 2,000 runs are 1.5 points.
    assert 0 < found <= 0.05 * 2000


def test_the_confidence_sequence_covers_at_all_times_together() -> None:
    rng = np.random.default_rng(11)
    missed = 0
    for _ in range(400):
        # Differences as widely spread as bounds allow: the hardest case.
        values = rng.choice([-1.0, 1.0], p=[0.45, 0.55], size=400)
        path = follow(values, values, BETS, binary=False, span=1.0)
        missed += bool(((path.low > 0.1) | (path.high < 0.1)).any())
    assert missed <= 0.05 * 400


def test_a_real_difference_is_found_before_the_end() -> None:
    rng = np.random.default_rng(2)
    values = rng.choice([-1.0, 0.0, 1.0], p=[0.05, 0.7, 0.25], size=400)
    path = follow(values, values, BETS, binary=True, span=1.0)
    at = decision(path, alpha=0.05, by_e_value=True)
    assert at is not None
    assert at < 150


def test_swebench(shared_data: Path) -> None:
    raw = pd.read_csv(shared_data / "paired" / "swebench_verified_miniswe_25x500.csv")
    scores = et.tidy_scores(
        raw, system="run", example_id="instance_id", criteria=["resolved"], attributes=["repo"]
    )
    seen = monitor(scores, baseline=GPT5, candidate=SONNET, order="table")
    last = seen.latest.iloc[0]
    assert (last.n, last.wins, last.losses) == (500, 53, 25)
    log_e = math.lgamma(54) + math.lgamma(26) - math.lgamma(80) + 78 * math.log(2)
    assert last.e_value == pytest.approx(math.exp(log_e))  # 22.40
    assert len(seen.table) <= 200
    assert seen.table["n"].iloc[-1] == 500
    assert int(last.decided_at) in seen.table["n"].tolist()
    assert "still covers 0" in seen.conclusion()

    clustered = monitor(scores, baseline=GPT5, candidate=SONNET, order="table", cluster="repo")
    last = clustered.latest.iloc[0]
    assert (last.n, last.unit) == (12, "cluster")
    assert math.isnan(last.e_value)
    assert last.decided_by == "confidence_sequence"
    means = et.compare(scores, baseline=GPT5, candidate=SONNET).pairs.groupby("repo").delta.mean()
    assert last.delta == pytest.approx(means.mean())
    assert "needs independent pairs" in last.note


def test_pairs_come_in_the_order_of_time() -> None:
    frame = in_turn([1.0, 1.0, -1.0])
    hours = pd.Series([9, 1, 2, 3, 5, 4], index=frame.index)  # pair e0000 is complete last
    frame["timestamp"] = pd.Timestamp("2026-01-01", tz="UTC") + pd.to_timedelta(hours, unit="h")
    timed = watched(frame.sample(frac=1, random_state=3), order="timestamp").table
    assert timed["delta"].tolist() == pytest.approx([1.0, 0.0, 1 / 3])
    by_column = watched(frame.assign(batch=[2, 2, 0, 0, 1, 1]), order="batch").table
    assert by_column["delta"].tolist() == pytest.approx([1.0, 0.0, 1 / 3])
    together = watched(frame.assign(batch=1).iloc[::-1], order="batch").table
    assert together["delta"].tolist() == pytest.approx([1.0, 1.0, 1 / 3])


def test_an_order_that_is_unknown_or_an_outcome_is_refused() -> None:
    frame = in_turn([1.0, 1.0, -1.0])
    with pytest.raises(et.PairingError, match="no such column .*order='table'"):
        watched(frame, order="timestamp")
    for name in ("score", "passed", "status", "label", "message"):
        with pytest.raises(et.PairingError, match="part of the outcome"):
            watched(frame, order=name)
    holes = frame.assign(batch=[1.0, 2.0, 3.0, 4.0, np.nan, 6.0])
    with pytest.raises(et.PairingError, match="1 of 6 scored rows have no batch"):
        watched(holes, order="batch")
    mixed = frame.assign(batch=pd.Series([1, "a", 2, "b", 3, "c"], dtype=object))
    with pytest.raises(et.PairingError, match="cannot be put in order"):
        watched(mixed, order="batch")


def test_what_cannot_be_bet_on_says_why() -> None:
    rating = many_criteria(30, 1, seed=1, effect=0.5)
    seen = watched(rating)
    assert seen.table["note"].str.contains("bounds of the criterion are not known").all()
    assert seen.table["decided_by"].eq("none").all()
    assert "cannot be followed" in seen.conclusion()
    narrow = watched(two_systems([1.0, 5.0], [2.0, 4.0]).assign(lower_bound=0.0, upper_bound=6.0))
    assert narrow.table["low"].notna().all()
    trials = pd.concat([in_turn([1.0] * 5), in_turn([1.0] * 5, trial=1)])
    assert watched(trials).table["note"].str.contains("several trials").all()
    assert watched(trials).table["low"].notna().all()


def test_alpha_is_shared_by_the_hypotheses() -> None:
    frames = [in_turn([1.0] * 9).assign(criterion=name) for name in ("a", "b")]
    frame = pd.concat(frames, ignore_index=True)
    shared = watched(frame).latest
    # 2**n / (n + 1) must reach 40: n = 9 (51.2); alone 20 is enough: n = 8 (28.4)
    assert shared["decided_at"].tolist() == [9, 9]
    alone = watched(frame, correction="none")
    assert alone.latest["decided_at"].tolist() == [8, 8]
    assert "each hypothesis errs" in alone.conclusion()
    assert "nothing was adjusted" in alone.methods()


def test_lower_is_better_turns_wins_not_the_difference() -> None:
    frame = in_turn([1.0] * 8).assign(criterion="failures", higher_is_better=False)
    last = watched(frame).latest.iloc[0]
    assert (last.wins, last.losses, last.delta, last.direction) == (0, 8, 1.0, 1.0)
    assert last.decided_at == 8


@pytest.mark.parametrize("deltas", [[0.0], [1.0], [0.0] * 7, [1.0, -1.0], [-1.0] * 30])
def test_short_and_one_sided_sequences(deltas: list[float]) -> None:
    seen = watched(in_turn(deltas))
    assert seen.table["p_anytime"].between(0, 1).all()
    assert (seen.table["high"] > seen.table["low"]).all()
    assert seen.conclusion()
    assert seen._repr_html_()


def test_lost_pairs_do_not_count() -> None:
    frame = in_turn([1.0] * 6)
    frame.loc[[0, 5], ["score", "status"]] = [np.nan, "system_error"]
    assert watched(frame).latest["n"].tolist() == [4]
    other = frame.assign(criterion="other", score=np.nan, status="unscored")
    both = watched(pd.concat([frame, other], ignore_index=True))
    assert both.latest.set_index("criterion")["n"].to_dict() == {"correct": 4, "other": 0}
    assert "other: no usable pair" in both.conclusion()


def test_pooled_tasks_and_equal_ids() -> None:
    frame = pd.concat(
        [in_turn([1.0] * 3).assign(task="x"), in_turn([-1.0] * 3).assign(task="y")],
        ignore_index=True,
    )
    pooled = watched(frame, tasks="pooled").table
    assert pooled["delta"].tolist() == pytest.approx([1, 1, 1, 1 / 2, 1 / 5, 0])
    assert watched(frame).latest["n"].tolist() == [3, 3]


def test_different_inputs_are_loud() -> None:
    frame = in_turn([1.0] * 3).assign(input_digest=["a", "b", "c", "c", "d", "d"])
    with pytest.warns(et.EvalToolkitWarning, match="different inputs"):
        seen = watched(frame)
    assert seen.conclusion().startswith("Note: 1 example was put")


@pytest.mark.parametrize(
    "options",
    [{"prior": 0.0}, {"tuning": -1.0}, {"alpha": 5}, {"correction": "holm"}, {"order": "nothing"}],
)
def test_bad_options_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(et.PairingError):
        watched(paired_cells(1, 2, 3, 4), **options)


@given(st.integers(1, 5000), st.integers(1, 5000))
def test_shown_points_hold_the_last_and_the_decision(n: int, at: int) -> None:
    decided = at if at <= n else None
    points = shown_points(n, decided).tolist()
    assert points == sorted(set(points))
    assert len(points) <= 200
    assert (points[0], points[-1]) == (1, n)
    assert decided is None or decided in points
