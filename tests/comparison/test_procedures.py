"""Min-p, single-step max-t, the multivariate t, and families that are split."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evaltoolkit as et
from evaltoolkit import stats
from evaltoolkit.comparison import joint_procedures
from tests.comparison.builders import many_criteria, paired_cells, two_systems

JOINT = ("maxt", "maxt_single", "minp", "mvt")
quiet = pytest.mark.filterwarnings("ignore::evaltoolkit.EvalToolkitWarning")


def compared(frame: pd.DataFrame, **choices: object) -> et.Comparison:
    return et.compare(frame, baseline="old", candidate="new", **choices)


def deltas_of(result: et.Comparison) -> np.ndarray:
    pairs = result.pairs.pivot_table(index="example_id", columns="criterion", values="delta")
    return pairs.to_numpy()


def clustered(frame: pd.DataFrame, clusters: int) -> pd.DataFrame:
    number = frame.example_id.str[1:].astype(int).mod(clusters)
    return frame.assign(cluster="k" + number.astype(str))


def mixed(*, few: int = 1, many: int = 3) -> pd.DataFrame:
    """`many` criteria on 60 examples in 12 clusters, and `few` on 24 of them, in 6 clusters."""
    frame = many_criteria(60, many + few, seed=8, effect=0.35)
    frame = clustered(frame, 12)
    last = frame.criterion >= f"c{many:02d}"
    in_few = frame.cluster.isin([f"k{k}" for k in range(6)])
    return frame[~last | in_few]


@pytest.mark.parametrize("method", JOINT)
def test_joint_methods_are_those_of_the_statistics_room(method: str) -> None:
    result = compared(many_criteria(60, 5, seed=4, effect=[0.6, 0.4, 0.3, 0, 0]), correction=method)
    table, d = result.table, deltas_of(result)
    flipped = stats.max_t(d)
    expected, star = {
        "maxt": (flipped.p_step_down, flipped.alpha_star),
        "maxt_single": (flipped.p_single_step, flipped.alpha_star),
        "minp": (stats.min_p(d).p_step_down, stats.min_p(d).alpha_star),
        "mvt": (stats.joint_t(d, table.p_value).p_adjusted, stats.joint_t(d, table.p_value)[3]),
    }[method]
    np.testing.assert_allclose(table.p_adjusted, np.maximum(table.p_value, expected), rtol=1e-12)
    assert (table.correction == method).all()
    assert result.settings["families"]["overall"]["alpha_star"] == star
    wide = stats.paired_t(d[:, 0], level=1 - star)
    assert (table.joint_low[0], table.joint_high[0]) == pytest.approx((wide.low, wide.high))


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("maxt_single", "single-step max-t over the 3"),
        ("minp", "step-down min-p over the 3"),
        ("mvt", "multivariate t over the 3"),
    ],
)
def test_methods_name_the_correction(method: str, words: str) -> None:
    result = compared(many_criteria(40, 3, seed=1), correction=method)
    assert words in result.methods()
    assert result.settings["correction"]["overall"] == method
    assert "Joint intervals" in result.methods()


@quiet
@pytest.mark.parametrize("method", JOINT)
@settings(max_examples=10, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 25),
    groups=st.one_of(st.none(), st.integers(1, 12)),
    gaps=st.booleans(),
)
def test_laws_of_every_joint_method(
    method: str, seed: int, n: int, groups: int, gaps: bool
) -> None:
    rng = np.random.default_rng(seed)
    parts = [
        two_systems(old.tolist(), new.tolist(), criterion=f"c{j}")
        for j, (old, new) in enumerate(rng.integers(1, 5, size=(4, 2, n)).astype(float))
    ]
    parts.append(two_systems([1.5] * n, [1.5] * n, criterion="same"))
    frame = pd.concat(parts, ignore_index=True)
    if groups is not None:
        frame = clustered(frame, groups)
    if gaps:
        frame = frame[(frame.criterion != "c1") | (frame.example_id < f"e{max(1, n // 2):04d}")]
    result = compared(frame, correction=method, draws=200)
    table = result.table
    tested = table.p_value.notna()
    assert (table.p_adjusted >= table.p_value)[tested].all()
    assert table.p_adjusted[~tested].isna().all()
    has = table.joint_low.notna() & table.ci_low.notna()
    assert (table.joint_low <= table.ci_low)[has].all()
    assert (table.joint_high >= table.ci_high)[has].all()
    again = compared(frame.sample(frac=1, random_state=1), correction=method, draws=200).table
    pd.testing.assert_frame_equal(table, again)
    without = compared(frame[frame.criterion != "same"], correction=method, draws=200).table
    kept = table[table.criterion != "same"].reset_index(drop=True)
    if groups is None or groups >= 8 or method == "mvt":
        np.testing.assert_allclose(without.p_adjusted, kept.p_adjusted)


def test_the_multivariate_t_is_exact_with_t_tests() -> None:
    """With p-values of the t test the joint interval covers 0 just where p is above alpha."""
    for seed in range(20):
        frame = many_criteria(25, 4, seed=seed, effect=[0.5, 0.45, 0.4, 0.0])
        table = compared(frame, correction="mvt", test="t").table
        covers = (table.joint_low <= 0) & (table.joint_high >= 0)
        assert (covers == (table.p_adjusted > 0.05)).all()


@quiet
def test_the_multivariate_t_needs_no_eight_clusters() -> None:
    table = compared(clustered(many_criteria(60, 3, seed=8, effect=0.4), 5), correction="mvt").table
    assert (table.correction == "mvt").all()
    assert (table.test == "cr2_t").all()
    assert (table.p_adjusted > table.p_value).all()


def test_the_multivariate_t_says_where_it_is_too_sure() -> None:
    few = compared(many_criteria(12, 3, seed=8), correction="mvt")
    assert "from as few as 12 independent pairs" in few.methods()
    assert "as few as" not in compared(many_criteria(40, 3, seed=8), correction="mvt").methods()


@quiet
def test_a_family_is_split_where_only_some_can_be_flipped() -> None:
    result = compared(mixed(few=2, many=3))
    table = result.table.set_index("criterion")
    assert table.correction.to_dict() == {
        "c00": "maxt", "c01": "maxt", "c02": "maxt", "c03": "holm", "c04": "holm",
    }  # fmt: skip
    alone = compared(mixed(few=2, many=3).query("criterion < 'c03'"), alpha=0.05 * 3 / 5)
    inside = alone.table.set_index("criterion")
    np.testing.assert_allclose(
        table.p_adjusted[:3], np.minimum(inside.p_adjusted * 5 / 3, 1), rtol=1e-12
    )
    np.testing.assert_allclose(table.joint_low[:3], inside.joint_low)
    holm = stats.adjust(table.p_value[3:], method="holm")
    np.testing.assert_allclose(table.p_adjusted[3:], np.minimum(holm * 5 / 2, 1))
    low = table.p_value[3:].min()
    assert table.p_adjusted[3:].min() == pytest.approx(min(5 * low, 1))
    facts = result.settings["families"]["overall"]
    assert facts["correction"] == "maxt+holm"
    assert facts["alpha_star_by_correction"]["holm"] == pytest.approx(0.01)
    assert math.isnan(facts["alpha_star"])
    note = (
        "2 hypotheses have fewer than 8 clusters and are adjusted by Holm at alpha x 2/5, "
        "the other 3 by max-t at alpha x 3/5"
    )
    assert facts["note"] == note
    assert note in result.methods()
    assert "max-t and Holm in two parts over 5" in result.conclusion()


@quiet
@pytest.mark.parametrize("method", ["maxt_single", "minp"])
def test_other_flip_methods_are_split_alike(method: str) -> None:
    table = compared(mixed(), correction=method).table
    assert table.correction.tolist() == [method] * 3 + ["holm"]


@quiet
def test_a_part_of_one_keeps_its_own_p_value() -> None:
    table = compared(mixed(few=2, many=1)).table
    assert table.correction.tolist() == ["maxt", "holm", "holm"]
    assert table.p_adjusted[0] == pytest.approx(min(1, 3 * table.p_value[0]))
    assert table.joint_low[0] < table.ci_low[0]


@quiet
def test_ties_in_few_clusters_cost_the_others_nothing() -> None:
    frame = clustered(many_criteria(60, 3, seed=8, effect=0.35), 12)
    ties = clustered(two_systems([1.5] * 60, [1.5] * 60, criterion="same"), 12)
    ties = ties[ties.cluster.isin([f"k{k}" for k in range(6)])]
    before = compared(frame).table.set_index("criterion")
    after = compared(pd.concat([frame, ties])).table.set_index("criterion")
    assert (after.correction == "maxt").all()
    np.testing.assert_allclose(after.p_adjusted[before.index], before.p_adjusted)
    assert after.p_adjusted["same"] == 1.0


@quiet
def test_unclustered_criteria_keep_max_t_beside_few_clusters() -> None:
    single = many_criteria(40, 2, seed=3, effect=0.4)
    single["cluster"] = "own" + single.example_id
    few = clustered(many_criteria(30, 1, seed=4, effect=0.4), 5).assign(criterion="turns")
    few["example_id"] = "t" + few.example_id
    table = compared(pd.concat([single, few])).table.set_index("criterion")
    assert table.correction.to_dict() == {"c00": "maxt", "c01": "maxt", "turns": "holm"}


@quiet
def test_the_normal_limit_serves_every_method(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint_procedures, "NORMAL_MAXT_FROM", 50)
    frame = many_criteria(60, 3, seed=4, effect=[0.5, 0.2, 0])
    used = {m: compared(frame, correction=m).table for m in ("maxt", "maxt_single", "minp")}
    assert {m: table.correction[0] for m, table in used.items()} == {
        "maxt": "maxt_normal", "maxt_single": "maxt_single_normal", "minp": "maxt_normal",
    }  # fmt: skip
    assert (used["maxt_single"].p_adjusted >= used["maxt"].p_adjusted).all()
    for method in used:
        assert "multivariate normal max-t" in compared(frame, correction=method).methods()


def test_identical_hypotheses_count_once_in_every_method() -> None:
    frame = many_criteria(50, 3, seed=6, effect=0.3)
    twin = frame[frame.criterion == "c01"].assign(scorer="second")
    for method in JOINT:
        alone = compared(frame, correction=method).table.set_index("criterion")
        both = compared(pd.concat([frame, twin]), correction=method)
        table = both.table.set_index(["criterion", "scorer"])
        assert both.settings["families"]["overall"]["size"] == 3
        assert table.p_adjusted["c01", ""] == alone.p_adjusted["c01"]
        assert table.p_adjusted["c01", "second"] == alone.p_adjusted["c01"]


def test_a_family_of_one_is_not_adjusted_by_any_method() -> None:
    for method in (*JOINT, "hierarchical"):
        row = compared(paired_cells(20, 12, 3, 9), correction=method).table.iloc[0]
        assert row.p_adjusted == row.p_value
        assert (row.joint_low, row.joint_high) == (row.ci_low, row.ci_high)


def test_slices_can_be_adjusted_jointly() -> None:
    frame = many_criteria(80, 2, seed=2, effect=0.3)
    topic = frame.example_id.str[-1].astype(int).mod(4).map(lambda k: f"t{k}")
    result = compared(frame.assign(topic=topic), by="topic", correction={"slices": "minp"})
    assert (result.slices.correction == "minp").all()
    assert (result.overall.correction == "maxt").all()


def test_an_unknown_correction_is_told_with_the_nearest() -> None:
    with pytest.raises(et.PairingError, match="did you mean 'maxt_single'"):
        compared(paired_cells(5, 5, 5, 5), correction="maxt_singel")


@quiet
def test_candidates_share_every_joint_method() -> None:
    frame = many_criteria(60, 2, seed=4, effect=0.3)
    third = frame[frame.system == "new"].assign(system="third")
    third["score"] += 0.2
    for method in JOINT:
        result = et.compare_to_baseline(
            pd.concat([frame, third]), baseline="old", correction=method
        )
        assert result.settings["families"]["overall"]["size"] == 4
        assert (result.table.p_adjusted >= result.table.p_value).all()
