"""Laws that hold for every comparison."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evaltoolkit as et
from evaltoolkit import stats
from tests.comparison.builders import many_criteria, paired_cells, two_systems

pytestmark = pytest.mark.filterwarnings("ignore::evaltoolkit.EvalToolkitWarning")

CELLS = st.tuples(*[st.integers(0, 12)] * 4).filter(lambda cells: sum(cells) > 0)
RATINGS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=40)
NUMBERS = ["delta", "se", "ci_low", "ci_high", "p_value", "p_adjusted", "mde"]


def table_of(
    frame: pd.DataFrame, baseline: str = "old", candidate: str = "new", **choices: object
) -> pd.DataFrame:
    return et.compare(frame, baseline=baseline, candidate=candidate, **choices).table


@settings(max_examples=12, deadline=None)
@given(CELLS)
def test_swapping_the_systems_negates_everything(cells: tuple[int, ...]) -> None:
    frame = paired_cells(*cells)
    there = table_of(frame).iloc[0]
    back = table_of(frame, "new", "old").iloc[0]
    assert there.delta == -back.delta
    assert (there.ci_low, there.ci_high) == pytest.approx((-back.ci_high, -back.ci_low))
    assert (there.wins, there.losses) == (back.losses, back.wins)
    assert there.p_value == back.p_value


@settings(max_examples=12, deadline=None)
@given(RATINGS, st.randoms(use_true_random=False))
def test_row_order_changes_nothing(pairs: list[tuple[int, int]], random: object) -> None:
    old, new = zip(*pairs, strict=True)
    frame = two_systems([float(x) for x in old], [float(x) for x in new], criterion="rating")
    order = list(range(len(frame)))
    random.shuffle(order)  # type: ignore[attr-defined]
    pd.testing.assert_frame_equal(table_of(frame), table_of(frame.iloc[order]))


@settings(max_examples=12, deadline=None)
@given(CELLS)
def test_the_mcnemar_midp_is_the_sign_flip_midp(cells: tuple[int, ...]) -> None:
    frame = paired_cells(*cells)
    by_flips = table_of(frame, test="sign_flip").p_value[0]
    assert table_of(frame).p_value[0] == pytest.approx(by_flips, rel=1e-9)


def test_row_order_changes_nothing_in_monte_carlo_either() -> None:
    frame = many_criteria(150, 5, seed=0, effect=0.2)
    shuffled = frame.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(table_of(frame), table_of(shuffled))


def test_the_seed_fixes_and_changes_the_monte_carlo() -> None:
    frame = many_criteria(150, 3, seed=0, effect=0.15)
    first, again, other = (table_of(frame, seed=seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first, again)
    assert (first.p_value != other.p_value).any()
    np.testing.assert_allclose(first.p_value, other.p_value, atol=0.02)


def test_another_criterion_never_changes_unadjusted_numbers() -> None:
    frame = many_criteria(100, 4, seed=3, effect=0.2)
    alone = table_of(frame[frame.criterion == "c01"])
    among = table_of(frame).query("criterion == 'c01'")
    columns = ["delta", "se", "ci_low", "ci_high", "p_value", "mde"]
    pd.testing.assert_frame_equal(alone[columns], among[columns].reset_index(drop=True))


def test_an_all_tie_criterion_costs_the_others_nothing() -> None:
    frame = many_criteria(60, 4, seed=4, effect=0.3)
    ties = two_systems([1.5] * 60, [1.5] * 60, criterion="same")
    before = table_of(frame).set_index("criterion")
    after = table_of(pd.concat([frame, ties])).set_index("criterion")
    np.testing.assert_allclose(before.p_adjusted, after.p_adjusted[before.index])
    assert after.p_adjusted["same"] == 1.0


def test_clusters_of_one_count_as_none() -> None:
    frame = paired_cells(20, 9, 4, 17)
    single = frame.assign(cluster="c" + frame.example_id)
    pd.testing.assert_frame_equal(table_of(frame), table_of(single))


def test_cluster_false_ignores_the_column() -> None:
    frame = paired_cells(20, 9, 4, 17)
    grouped = frame.assign(cluster=frame.example_id.str[-1])
    pd.testing.assert_frame_equal(table_of(frame), table_of(grouped, cluster=False))
    assert table_of(grouped).interval[0] == "cr2_t"


def test_clustered_numbers_are_those_of_the_statistics_room() -> None:
    frame = many_criteria(90, 2, seed=5, effect=0.2)
    cluster = frame.example_id.str[-2:].astype(int).mod(11).astype(str)
    result = et.compare(frame.assign(cluster=cluster), baseline="old", candidate="new")
    for row in result.table.itertuples():
        pairs = result.pairs[result.pairs.criterion == row.criterion]
        expected = stats.cluster_mean(pairs.delta.to_numpy(), pairs.cluster.to_numpy())
        assert (row.delta, row.se, row.df) == pytest.approx(
            (expected.mean, expected.se, expected.df)
        )
        assert (row.ci_low, row.ci_high) == pytest.approx((expected.low, expected.high))
        assert row.n_clusters == 11


def test_one_trial_given_twice_changes_no_mean() -> None:
    frame = paired_cells(10, 6, 3, 11)
    doubled = pd.concat([frame, frame.assign(trial=1)])
    one, two = table_of(frame).iloc[0], table_of(doubled).iloc[0]
    assert (one.delta, one.se) == pytest.approx((two.delta, two.se))
    assert one.interval == "bonett_price"
    assert two.interval == "t"


def test_a_system_compared_with_its_copy_shows_nothing() -> None:
    frame = many_criteria(40, 3, seed=6)
    copy = frame[frame.system == "old"].assign(system="new")
    table = table_of(pd.concat([frame[frame.system == "old"], copy]))
    assert (table.p_value == 1).all()
    assert (table.delta == 0).all()


def test_every_number_can_be_recomputed_from_the_pairs() -> None:
    result = et.compare(many_criteria(50, 3, seed=7, effect=0.2), baseline="old", candidate="new")
    groups = result.pairs.groupby("criterion")
    np.testing.assert_allclose(result.table.delta, groups.delta.mean())
    np.testing.assert_allclose(result.table.mean_baseline, groups.baseline.mean())
    np.testing.assert_allclose(result.table.se, groups.delta.std() / np.sqrt(50))
    assert result.table.wins.tolist() == (
        result.pairs.outcome.eq("win").groupby(result.pairs.criterion).sum().tolist()
    )
