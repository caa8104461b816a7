"""Does the effect differ between slices? Real data, hand computations, degenerate slices."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, t
from statsmodels.stats.meta_analysis import combine_effects
from statsmodels.stats.oneway import anova_oneway

import evaltoolkit as et
from evaltoolkit import stats
from evaltoolkit.robustness import heterogeneity
from tests.comparison.builders import two_systems


def compared(frame: pd.DataFrame, **choices: object) -> et.Comparison:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", et.EvalToolkitWarning)
        return et.compare(frame, baseline="old", candidate="new", **choices)  # type: ignore[arg-type]


def sliced(deltas: Mapping[str, list[float]], **columns: object) -> pd.DataFrame:
    """Scores whose differences in each topic are given."""
    topics = [name for name, values in deltas.items() for _ in values]
    new = [value for values in deltas.values() for value in values]
    frame = two_systems([0.0] * len(new), new, topic=topics * 2, kind="continuous")
    return frame.assign(**columns)


@pytest.fixture(scope="module")
def tau2(shared_data: Path) -> et.Comparison:
    raw = pd.read_csv(shared_data / "paired" / "tau2_gpt41_vs_finetune_140pairs.csv")
    scores = et.tidy_scores(
        raw, system="model", example_id="task_id", criteria=["reward"], task="domain"
    )
    return et.compare(scores, baseline="gpt-4.1", candidate="gpt-4.1-ft", tasks="pooled", by="task")


def test_telecom_gains_and_retail_does_not(tau2: et.Comparison) -> None:
    found = heterogeneity(tau2)
    row = found.table.iloc[0]
    # Counts of the file: wins and losses of the fine-tuned model by domain.
    cells = {"airline": (6, 3, 20), "retail": (6, 6, 40), "telecom": (12, 0, 40),
             "telecom_no-user": (16, 2, 40)}  # fmt: skip
    deltas = {
        name: np.array([1.0] * wins + [-1.0] * losses + [0.0] * (n - wins - losses))
        for name, (wins, losses, n) in cells.items()
    }
    expected = anova_oneway(list(deltas.values()), use_var="unequal")
    assert row.test == "welch_f"
    assert row.p_value == pytest.approx(expected.pvalue)
    assert row.p_value == pytest.approx(0.030544, abs=1e-6)
    assert row.p_adjusted == row.p_value
    assert bool(row.differs)
    means = np.array([d.mean() for d in deltas.values()])
    variances = np.array([d.var(ddof=1) / d.size for d in deltas.values()])
    meta = combine_effects(means, variances, method_re="iterated")
    assert (row.q, row.i2) == pytest.approx((meta.q, meta.i2))
    assert row.tau2 == pytest.approx(meta.tau2, rel=1e-5)
    slices = found.slices.set_index("slice")
    assert slices.delta.to_dict() == pytest.approx(
        {"airline": 0.15, "retail": 0.0, "telecom": 0.3, "telecom_no-user": 0.35}
    )
    n = np.array([cell[2] for cell in cells.values()])
    drawn = stats.shrink_effects(means, variances * (t.ppf(0.975, n - 1) / norm.ppf(0.975)) ** 2)
    np.testing.assert_allclose(slices.shrunken, drawn.mean)
    assert slices.shrunken["retail"] > 0.05
    assert slices.shrunken["telecom_no-user"] < 0.33
    assert "the effect differs between the 4 slices of task" in found.conclusion()
    assert "From retail 0.00" in found.conclusion()


def test_holm_over_criteria_and_attributes() -> None:
    rng = np.random.default_rng(2)
    parts = []
    for name, gap in (("a", 1.5), ("b", 0.0)):
        topic = np.repeat(["x", "y"], 30)
        new = rng.normal(size=60) + gap * (topic == "x")
        frame = two_systems([0.0] * 60, new.tolist(), criterion=name, topic=[*topic] * 2)
        parts.append(frame.assign(level=[*np.tile(["1", "2", "3"], 20)] * 2))
    result = compared(pd.concat(parts, ignore_index=True), by=["topic", "level"])
    table = heterogeneity(result).table
    assert table[["criterion", "slice_by"]].to_numpy().tolist() == [
        ["a", "topic"], ["b", "topic"], ["a", "level"], ["b", "level"],
    ]  # fmt: skip
    np.testing.assert_allclose(table.p_adjusted, stats.adjust(table.p_value, method="holm"))
    assert (table.correction == "holm").all()
    assert table.differs.tolist() == [True, False, False, False]


def test_a_slice_of_ties_and_a_slice_of_one() -> None:
    found = heterogeneity(
        compared(sliced({"gain": [1.0, 1, 0, 1, 1, 1], "one": [0.5], "ties": [0.0] * 8}),
                 by="topic")
    )  # fmt: skip
    row, slices = found.table.iloc[0], found.slices.set_index("slice")
    assert (row.n_slices, row.n_tested, row.test) == (3, 2, "brown_forsythe_f")
    assert "left out of the test, without two pairs: one" in row.note
    assert slices.se_from.tolist() == ["own", "pooled", "pooled"]
    # Pooled: (5 * s_gain**2 + 7 * 0) / 12, over n.
    pooled = 5 * np.var([1.0, 1, 0, 1, 1, 1], ddof=1) / 12
    assert slices.se_used["ties"] == pytest.approx(math.sqrt(pooled / 8))
    assert slices.se_used["one"] == pytest.approx(math.sqrt(pooled))
    assert slices.se["ties"] == 0
    assert math.isnan(slices.se["one"])
    assert slices.tested.tolist() == [True, False, True]
    assert (slices.shrunken_low < slices.shrunken).all()
    assert (slices.shrunken < slices.shrunken_high).all()
    assert slices.own_weight["one"] < slices.own_weight["ties"]


@pytest.mark.parametrize(
    ("deltas", "reason"),
    [
        ({"a": [0.0] * 5, "b": [0.0] * 5}, "no slice has any variance"),
        ({"a": [1.0] * 5, "b": [0.0] * 5}, "no slice has any variance"),
        ({"a": [1.0, 0.0, 2.0]}, "fewer than two slices"),
        ({"a": [1.0], "b": [2.0], "c": [0.0]}, "fewer than two slices have two pairs"),
    ],
)
def test_without_a_test_there_is_a_reason(deltas: dict[str, list[float]], reason: str) -> None:
    found = heterogeneity(compared(sliced(deltas), by="topic"))
    row = found.table.iloc[0]
    assert reason in row.note
    assert row.test == "none"
    assert math.isnan(row.p_value)
    assert math.isnan(row.p_adjusted)
    assert pd.isna(row.differs)
    assert row.n_tested == 0
    assert found.slices.shrunken.isna().all()
    assert reason in found.conclusion()
    assert found.methods()
    assert found.to_markdown()


def test_clusters_are_kept_together() -> None:
    rng = np.random.default_rng(4)
    clusters = np.repeat(np.arange(16), 4)
    topic = np.where(clusters % 2, "x", "y")
    d = rng.normal(size=16)[clusters] + rng.normal(size=64)
    frame = two_systems([0.0] * 64, d.tolist(), topic=[*topic] * 2, cluster=[*clusters] * 2)
    found = heterogeneity(compared(frame, by="topic"))
    row = found.table.iloc[0]
    expected = stats.equal_cluster_means(d, topic, clusters)
    assert row.test == "cluster_wald_f"
    assert (row.p_value, row.df2) == pytest.approx((expected.p_value, expected.df2))
    assert row.n_clusters == 16
    slices = found.slices.set_index("slice")
    for name in ("x", "y"):
        alone = stats.cluster_mean(d[topic == name], clusters[topic == name])
        assert slices.se[name] == pytest.approx(alone.se)
    plain = heterogeneity(compared(frame, by="topic", cluster=False)).table.iloc[0]
    assert plain.test == "welch_f"
    assert plain.p_value < row.p_value
    single = frame.assign(cluster=[*range(64)] * 2)
    assert heterogeneity(compared(single, by="topic")).table.iloc[0].p_value == plain.p_value


def test_a_slice_in_one_cluster_is_left_out_and_named() -> None:
    rng = np.random.default_rng(5)
    clusters = np.array([0] * 6 + [*np.repeat(np.arange(1, 13), 3)])
    topic = np.array(["lone"] * 6 + ["x", "y", "z"] * 12)
    d = rng.normal(size=42)
    frame = two_systems([0.0] * 42, d.tolist(), topic=[*topic] * 2, cluster=[*clusters] * 2)
    found = heterogeneity(compared(frame, by="topic"))
    row, slices = found.table.iloc[0], found.slices.set_index("slice")
    assert row.n_tested == 3
    assert "without two clusters that vary: lone" in row.note
    kept = topic != "lone"
    expected = stats.equal_cluster_means(d[kept], topic[kept], clusters[kept])
    assert row.p_value == pytest.approx(expected.p_value)
    assert slices.note["lone"] == "one cluster: standard error pooled from the other slices"
    assert slices.own_weight["lone"] < slices.own_weight["x"]


def test_examples_without_the_attribute_and_slices_without_pairs_have_rows() -> None:
    frame = sliced({"a": [1.0, 2.0, 0.0], "b": [0.0, 1.0, -1.0], "gone": [1.0, 1.0]})
    frame["topic"] = frame["topic"].astype(object)
    ids = sorted(frame.example_id.unique())
    frame.loc[frame.example_id == ids[0], "topic"] = None
    lost = frame.example_id.isin(ids[-2:]) & (frame.system == "new")
    frame.loc[lost, "score"] = np.nan
    frame["status"] = frame["status"].astype("str").mask(lost, "system_error")
    slices = heterogeneity(compared(frame, by="topic")).slices.set_index("slice")
    assert slices.n_pairs.to_dict() == {"a": 2, "b": 3, "gone": 0, "(missing)": 1}
    assert slices.note["gone"] == "no usable pair"
    assert slices.se_from["gone"] == "none"
    assert math.isnan(slices.shrunken["gone"])


def test_swapping_systems_negates_and_row_order_does_not_matter() -> None:
    rng = np.random.default_rng(6)
    frame = sliced({name: rng.normal(size=12).tolist() for name in "abc"})
    found = heterogeneity(compared(frame, by="topic"))
    shuffled = frame.sample(frac=1, random_state=1).reset_index(drop=True)
    again = heterogeneity(compared(shuffled, by="topic"))
    pd.testing.assert_frame_equal(found.table, again.table)
    pd.testing.assert_frame_equal(found.slices, again.slices)
    swapped = frame.assign(system=frame["system"].map({"old": "new", "new": "old"}))
    other = heterogeneity(compared(swapped, by="topic"))
    assert other.table.p_value[0] == pytest.approx(found.table.p_value[0])
    np.testing.assert_allclose(other.slices.shrunken, -found.slices.shrunken, atol=1e-9)
    np.testing.assert_allclose(other.slices.shrunken_low, -found.slices.shrunken_high, atol=1e-9)


def test_level_decides_alpha_and_intervals() -> None:
    rng = np.random.default_rng(7)
    result = compared(sliced({n: rng.normal(size=20).tolist() for n in "ab"}), by="topic")
    usual, wide = heterogeneity(result), heterogeneity(result, level=0.99)
    assert usual.settings["level"] == 0.95
    assert (wide.slices.shrunken_low < usual.slices.shrunken_low).all()
    assert wide.table.p_value[0] == usual.table.p_value[0]
    with pytest.raises(et.EvalToolkitError, match="between 0 and 1"):
        heterogeneity(result, level=95)


def test_a_comparison_without_slices_is_refused() -> None:
    with pytest.raises(et.PairingError, match="has no slices") as caught:
        heterogeneity(compared(sliced({"a": [1.0, 0.0, 2.0]})))
    assert caught.value.code == "no_slices"
    with pytest.raises(et.PairingError, match="a result of et.compare is needed, not DataFrame"):
        heterogeneity(pd.DataFrame())  # type: ignore[arg-type]


def test_the_test_keeps_its_level_on_small_slices() -> None:
    """600 data sets of 4 slices of 20 pairs of 0/1 outcomes without any difference."""
    rng = np.random.default_rng(8)
    hits = 0
    for _ in range(600):
        groups = rng.choice([-1.0, 0.0, 1.0], size=(4, 20), p=[0.06, 0.88, 0.06])
        hits += stats.equal_means(list(groups)).p_value <= 0.05
    assert hits / 600 <= 0.065


@pytest.mark.long
@pytest.mark.parametrize("crossing", [False, True])
@pytest.mark.parametrize(("k", "n_clusters"), [(2, 12), (4, 20), (4, 40)])
def test_the_cluster_test_keeps_its_level(k: int, n_clusters: int, crossing: bool) -> None:
    """Clusters of 5 with an intraclass correlation of .3; 2 standard errors above 5 %."""
    rng = np.random.default_rng(9)
    clusters = np.repeat(np.arange(n_clusters), 5)
    hits = 0
    for _ in range(3000):
        d = math.sqrt(0.3) * rng.normal(size=n_clusters)[clusters]
        d = d + math.sqrt(0.7) * rng.normal(size=clusters.size)
        groups = rng.integers(0, k, clusters.size) if crossing else clusters % k
        hits += stats.equal_cluster_means(d, groups, clusters).p_value <= 0.05
    assert hits / 3000 <= 0.058


@pytest.mark.long
@pytest.mark.parametrize("n", [10, 20, 50])
@pytest.mark.parametrize("rare", [False, True])
def test_the_test_keeps_its_level_in_many_data_sets(n: int, rare: bool) -> None:
    rng = np.random.default_rng(10)
    hits = 0
    for _ in range(3000):
        d = rng.choice([-1.0, 0, 1], size=(4, n), p=[0.06, 0.88, 0.06]) if rare else rng.normal(
            size=(4, n)
        )  # fmt: skip
        hits += stats.equal_means(list(d)).p_value <= 0.05
    assert hits / 3000 <= 0.06
