"""Pairwise judgements as a comparison: mirrored, or of both systems against a third."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import evaltoolkit as et


def games(*rows: tuple[str, str, int, float]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["system", "versus", "example_id", "score"])
    return table.assign(criterion="preference", scorer="judge")


ONE_SIDED = games(*(("guest", "house", i, [1.0, 0.5, 0.0, 1.0][i % 4]) for i in range(40)))


def test_a_judgement_from_one_side_gives_the_other_its_mirror() -> None:
    result = et.compare(ONE_SIDED, baseline="house", candidate="guest")
    (row,) = result.table.itertuples()
    assert (row.n_pairs, row.wins, row.losses, row.ties) == (40, 20, 10, 10)
    assert row.mean_candidate == pytest.approx(0.625)
    assert row.mean_baseline == pytest.approx(0.375)
    assert "mirror" in result.methods()


def test_the_mirror_is_what_both_sides_written_out_give() -> None:
    turned = ONE_SIDED.assign(system="house", versus="guest", score=1 - ONE_SIDED["score"])
    both = pd.concat([ONE_SIDED, turned])
    one = et.compare(ONE_SIDED, baseline="house", candidate="guest")
    two = et.compare(both, baseline="house", candidate="guest")
    pd.testing.assert_frame_equal(one.table, two.table)
    assert two.settings["preferences"] == []


def test_two_systems_against_one_third_are_compared_by_their_preferences() -> None:
    rows = [("a", "ref", i, float(i % 3 > 0)) for i in range(30)]
    rows += [("b", "ref", i, float(i % 3 > 1)) for i in range(30)]
    result = et.compare(games(*rows), baseline="a", candidate="b")
    (row,) = result.table.itertuples()
    assert (row.n_pairs, row.losses) == (30, 10)
    assert "preferred to 'ref'" in result.methods()


def test_judgements_of_each_other_come_before_those_of_a_third() -> None:
    rows = games(*(("guest", "third", i, 1.0) for i in range(40)))
    third = pd.concat([rows, rows.assign(system="house", score=0.0)])
    alone = et.compare(ONE_SIDED, baseline="house", candidate="guest")
    with_third = et.compare(pd.concat([ONE_SIDED, third]), baseline="house", candidate="guest")
    pd.testing.assert_frame_equal(alone.table, with_third.table)


def test_several_third_systems_need_a_choice() -> None:
    rows = [(s, ref, i, float(i % 2)) for s in "ab" for ref in ("r1", "r2") for i in range(10)]
    with pytest.raises(et.PairingError, match=r"scores\[scores.versus == 'r1'\]"):
        et.compare(games(*rows), baseline="a", candidate="b")


def test_no_mirror_of_a_score_that_is_no_preference() -> None:
    with pytest.raises(et.PairingError, match="outside 0 to 1"):
        et.compare(ONE_SIDED.assign(score=3.0), baseline="house", candidate="guest")


def test_real_annotations_of_two_models_against_one_baseline(shared_data: Path) -> None:
    folder = shared_data / "alpaca_eval"
    scores = et.read_scores(sorted(folder.glob("*.annotations.first60.json")))
    result = et.compare(scores, baseline="claude-2.1", candidate="gpt-3.5-turbo-1106_verbose")
    (row,) = result.table.itertuples()
    assert row.n_pairs == 60
    assert row.delta == pytest.approx(0.08044222717 - 0.10899943414, abs=1e-9)
    against = et.compare(scores, baseline="gpt4_1106_preview", candidate="claude-2.1")
    assert against.table["mean_candidate"][0] == pytest.approx(0.10899943414)
