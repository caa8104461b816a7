"""Bootstrap intervals on request: of examples or of whole clusters, pointwise and joint."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

import evaltoolkit as et
from evaltoolkit import stats
from tests.comparison.builders import many_criteria, paired_cells, two_systems

BOOTSTRAPS = {
    "bootstrap_percentile": "percentile",
    "bootstrap_bca": "bca",
    "bootstrap_t": "studentized",
}
every = pytest.mark.parametrize("interval", BOOTSTRAPS)
quiet = pytest.mark.filterwarnings("ignore::evaltoolkit.EvalToolkitWarning")


def compared(frame: pd.DataFrame, **choices: object) -> et.Comparison:
    return et.compare(frame, baseline="old", candidate="new", **choices)


def clustered(frame: pd.DataFrame, clusters: int) -> pd.DataFrame:
    number = frame.example_id.str[1:].astype(int).mod(clusters)
    return frame.assign(cluster="k" + number.astype(str))


@every
def test_plain_and_joint_intervals_come_from_one_engine(interval: str) -> None:
    result = compared(many_criteria(60, 4, seed=3, effect=0.3), interval=interval, seed=5)
    star = result.settings["families"]["overall"]["alpha_star"]
    for row in result.table.itertuples():
        d = result.pairs[result.pairs.criterion == row.criterion].delta
        how = {"method": BOOTSTRAPS[interval], "seed": 5}
        assert (row.ci_low, row.ci_high) == stats.bootstrap_interval(d, **how)
        joint = stats.bootstrap_interval(d, level=1 - star, **how)
        assert (row.joint_low, row.joint_high) == pytest.approx(tuple(joint))
        assert row.joint_low < row.ci_low < row.ci_high < row.joint_high
        assert row.interval == interval
        assert row.se == pytest.approx(stats.paired_t(d).se)
    plain = compared(many_criteria(60, 4, seed=3, effect=0.3), seed=5).table
    pd.testing.assert_frame_equal(result.table[["p_value", "p_adjusted", "mde"]],
                                  plain[["p_value", "p_adjusted", "mde"]])  # fmt: skip


@every
def test_binary_outcomes_keep_their_test(interval: str) -> None:
    row = compared(paired_cells(60, 25, 8, 27), interval=interval).table.iloc[0]
    assert row.interval == interval
    assert row.test == "mcnemar_midp"
    d = np.repeat([0.0, 1.0, -1.0], [87, 25, 8])
    assert (row.ci_low, row.ci_high) == pytest.approx(
        tuple(stats.bootstrap_interval(d, method=BOOTSTRAPS[interval])), abs=1e-12
    )
    usual = stats.paired_t(d)
    assert (row.ci_low, row.ci_high) == pytest.approx((usual.low, usual.high), abs=0.01)


def test_percentile_and_bca_are_those_of_scipy() -> None:
    d = np.random.default_rng(1).gamma(2.0, size=80) - 1.5
    frame = two_systems([0.0] * 80, d.tolist(), criterion="rating")
    for interval, method in (("bootstrap_percentile", "percentile"), ("bootstrap_bca", "BCa")):
        row = compared(frame, interval=interval, draws=40_000).table.iloc[0]
        theirs = scipy_stats.bootstrap(
            (d,), np.mean, method=method, n_resamples=40_000, rng=np.random.default_rng(2)
        ).confidence_interval
        assert (row.ci_low, row.ci_high) == pytest.approx((theirs.low, theirs.high), abs=0.012)


@quiet
@every
def test_clusters_are_drawn_whole(interval: str) -> None:
    frame = clustered(many_criteria(120, 1, seed=3), 15)
    frame["score"] += frame.cluster.str[1:].astype(int) * (frame.system == "new") * 0.2
    row = compared(frame, interval=interval).table.iloc[0]
    alone = compared(frame, interval=interval, cluster=False).table.iloc[0]
    assert row.ci_high - row.ci_low > 1.5 * (alone.ci_high - alone.ci_low)
    assert row.test == "cluster_flip"
    cr2 = compared(frame).table.iloc[0]
    assert (row.se, row.df) == (cr2.se, cr2.df)
    width = (row.ci_high - row.ci_low) / (cr2.ci_high - cr2.ci_low)
    assert 0.8 < width < 1.2


def test_studentised_clusters_against_a_plain_loop() -> None:
    """The sums behind the standard error of a resample, written out once more."""
    rng = np.random.default_rng(4)
    ids = np.repeat(np.arange(12), rng.integers(1, 6, size=12))
    d = rng.normal(size=ids.size) + rng.normal(size=12)[ids]
    groups = [d[ids == g] for g in range(12)]

    def mean_and_se(drawn: list[np.ndarray]) -> tuple[float, float]:
        mean = float(np.concatenate(drawn).mean())
        total = sum(x.size for x in drawn)
        return mean, math.sqrt(sum((x.sum() - mean * x.size) ** 2 for x in drawn)) / total

    mean, se = mean_and_se(groups)
    t = []
    for _ in range(4000):
        m, s = mean_and_se([groups[g] for g in rng.integers(0, 12, size=12)])
        t.append((m - mean) / s)
    low, high = np.quantile(t, [0.025, 0.975])
    ours = stats.bootstrap_interval(d, method="studentized", clusters=ids)
    assert ours == pytest.approx((mean - high * se, mean - low * se), abs=0.5 * se)


@quiet
@every
@settings(max_examples=12, deadline=None)
@given(
    values=st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=30),
    groups=st.one_of(st.none(), st.integers(1, 6)),
)
def test_laws(interval: str, values: list[tuple[int, int]], groups: int | None) -> None:
    old, new = zip(*values, strict=True)
    frame = two_systems([float(x) for x in old], [float(x) for x in new], criterion="rating")
    other = two_systems([float(x) for x in new], [float(x) for x in reversed(old)], criterion="b")
    frame = pd.concat([frame, other], ignore_index=True)
    if groups is not None:
        frame = clustered(frame, groups)
    table = compared(frame, interval=interval, draws=200).table
    again = compared(frame.sample(frac=1, random_state=2), interval=interval, draws=200).table
    pd.testing.assert_frame_equal(table, again)
    for row in table.itertuples():
        ends = [row.ci_low, row.ci_high, row.joint_low, row.joint_high]
        assert not np.isinf(ends).any()
        if np.isnan(row.ci_low):
            assert row.note != ""
            continue
        assert row.ci_low < row.ci_high
        if not np.isnan(row.joint_low):
            assert row.joint_low <= row.ci_low
            assert row.ci_high <= row.joint_high


@quiet
def test_too_many_resamples_without_spread_are_told() -> None:
    frame = two_systems([1.0] * 12, [1.0] * 11 + [3.0], criterion="rating")
    row = compared(frame, interval="bootstrap_t").table.iloc[0]
    assert np.isnan([row.ci_low, row.ci_high]).all()
    assert "no bootstrap interval" in row.note
    same = compared(two_systems([1.0] * 9, [2.5] * 9, criterion="rating"), interval="bootstrap_bca")
    assert "every difference is 1.5" in same.table.note[0]
    assert np.isnan(same.table.ci_low[0])


@quiet
def test_a_joint_interval_that_resamples_cannot_resolve_is_not_given() -> None:
    frame = many_criteria(30, 2, seed=3, effect=0.3)
    result = compared(frame, interval="bootstrap_bca", correction="bonferroni", alpha=1.5e-4)
    assert result.table.ci_low.notna().all()
    assert result.table.joint_low.isna().all()
    assert result.table.note.str.contains("too few resamples").all()


def test_margins_are_tested_with_the_formula() -> None:
    frame = many_criteria(80, 1, seed=4)
    usual = compared(frame, margin=0.5).table.iloc[0]
    row = compared(frame, margin=0.5, interval="bootstrap_bca").table.iloc[0]
    assert (row.margin_low, row.margin_high) == (usual.margin_low, usual.margin_high)
    assert row.p_equivalence == usual.p_equivalence


def test_methods_say_what_was_resampled() -> None:
    frame = many_criteria(60, 2, seed=3, effect=0.3)
    text = compared(frame, interval="bootstrap_bca", draws=2000).methods()
    assert "95 % BCa bootstrap intervals" in text
    assert "at least 2,000 resamples of examples" in text
    with_clusters = compared(clustered(frame, 12), interval="bootstrap_t").methods()
    assert "resamples of whole clusters" in with_clusters
    assert "resamples" not in compared(frame).methods()
