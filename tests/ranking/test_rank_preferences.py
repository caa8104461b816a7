"""`rank_preferences`: Bradley-Terry abilities from a score table."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pandas as pd
import pytest

from evaltoolkit.errors import EvalToolkitError, EvalToolkitWarning, PairingError
from evaltoolkit.ranking import rank_preferences
from evaltoolkit.results import Ranking
from evaltoolkit.scores import normalise_scores


def arena(n: int, *, seed: int, steps: float = 1.0) -> pd.DataFrame:
    """Wins among the systems a < b < c < d, `steps` apart in log-odds."""
    rng = np.random.default_rng(seed)
    rows = []
    for (i, one), (j, two) in itertools.combinations(enumerate("abcd"), 2):
        chance = 1 / (1 + math.exp(steps * (j - i)))
        rows += [(one, two, f"e{e:03d}", float(rng.random() < chance)) for e in range(n)]
    frame = pd.DataFrame(rows, columns=["system", "versus", "example_id", "score"])
    return normalise_scores(frame.assign(criterion="better"))


def quiet(scores: pd.DataFrame, **options: object) -> Ranking:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvalToolkitWarning)
        return rank_preferences(scores, criterion="better", **options)  # type: ignore[arg-type]


def test_abilities_are_recovered_and_ranked() -> None:
    result = rank_preferences(arena(400, seed=1), criterion="better")
    table = result.table.set_index("system")
    assert list(table.index) == ["d", "c", "b", "a"]
    truth = {"d": 1.5, "c": 0.5, "b": -0.5, "a": -1.5}
    for name, ability in truth.items():
        assert table.loc[name, "ci_low"] < ability < table.loc[name, "ci_high"]
    assert table["rank_low"].tolist() == table["rank_high"].tolist() == [1, 2, 3, 4]
    assert table["n_examples"].tolist() == [400] * 4
    assert (table[["wins", "losses", "ties"]].sum(axis=1) == 1200).all()
    assert result.decisive
    assert "Bradley\u2013Terry" in result.conclusion()
    assert "sandwich" in result.methods()
    row = result.pairs.iloc[0]
    assert (row.system_a, row.system_b) == ("d", "c")
    assert row.win_probability == pytest.approx(1 / (1 + math.exp(-row.delta)))
    assert row.win_probability_low < row.win_probability < row.win_probability_high


def test_the_other_side_of_the_same_judgement_does_not_count_twice() -> None:
    scores = arena(40, seed=2)
    mirrored = scores.assign(
        system=scores["versus"], versus=scores["system"], score=1 - scores["score"]
    )
    one, both = quiet(scores), quiet(pd.concat([scores, mirrored]))
    columns = ["system", "ability", "se", "ci_low", "wins", "losses"]
    pd.testing.assert_frame_equal(one.table[columns], both.table[columns])
    assert (both.table["n_judgements"] == 2 * one.table["n_judgements"]).all()
    trials = quiet(pd.concat([scores, scores.assign(trial=1)]))
    pd.testing.assert_frame_equal(one.table[columns], trials.table[columns])


def test_row_order_is_irrelevant() -> None:
    scores = arena(30, seed=3)
    first, second = quiet(scores), quiet(scores.sample(frac=1, random_state=1))
    for name in ("table", "pairs", "blocks"):
        pd.testing.assert_frame_equal(getattr(first, name), getattr(second, name), check_exact=True)


def test_equal_systems_are_not_decisive() -> None:
    result = quiet(arena(40, seed=4, steps=0.0))
    assert "The ranking is not decisive" in result.conclusion()
    assert len(result.leaders) == 4


def test_clusters_are_whole_units() -> None:
    scores = arena(60, seed=5)
    repos = (scores["example_id"].str[1:].astype(int) % 25).astype(str)
    clustered = rank_preferences(scores.assign(cluster=repos), criterion="better")
    assert clustered.settings["n_units"] == 25
    assert clustered.table["df"].tolist() == [24.0] * 4
    plain = quiet(scores.assign(cluster=repos), cluster=False)
    assert clustered.table["ability"].tolist() == plain.table["ability"].tolist()
    with pytest.warns(EvalToolkitWarning, match="only 4 clusters"):
        rank_preferences(
            scores.assign(cluster=scores["example_id"].str[3:].astype(int).mod(4).astype(str)),
            criterion="better",
        )


def test_all_ties_have_no_interval_and_no_winner() -> None:
    result = quiet(arena(30, seed=6).assign(score=0.5))
    assert result.table["ability"].tolist() == pytest.approx([0.0] * 4)
    assert result.table["rank"].tolist() == [1] * 4
    assert result.table["ci_low"].isna().all()
    assert result.pairs["p_value"].isna().all()
    assert result.pairs["ties"].tolist() == [30] * 6
    assert "not decisive" in result.conclusion()


def test_unscored_judgements_are_counted() -> None:
    scores = arena(30, seed=7)
    broken = (scores["example_id"] == "e003") & (scores["system"] == "a")
    scores.loc[broken, "score"] = math.nan
    scores.loc[broken, "status"] = "scorer_error"
    with pytest.warns(EvalToolkitWarning, match="3 judgements without a score"):
        result = rank_preferences(scores, criterion="better")
    assert result.table.set_index("system")["n_scorer_error"].to_dict() == {
        "a": 3, "b": 1, "c": 1, "d": 1,
    }  # fmt: skip
    assert len(result.lost) == 3


def test_pairs_that_never_met_are_named() -> None:
    scores = arena(100, seed=8)
    star = scores[(scores["system"] == "a") | (scores["versus"] == "a")]
    result = rank_preferences(star, criterion="better")
    assert "3 of 6 pairs never met" in result.conclusion()
    assert (result.pairs["n_pairs"] == 0).sum() == 3


def test_two_systems_equal_the_log_odds_of_the_wins() -> None:
    scores = arena(50, seed=9)
    result = quiet(scores, systems=["a", "b"])
    wins = scores.loc[(scores["system"] == "a") & (scores["versus"] == "b"), "score"]
    p, n = wins.mean(), len(wins)
    row = result.pairs.iloc[0]
    assert row.delta == pytest.approx(math.log((1 - p) / p))
    # delta method: se of the logit with the n - 1 variance of the wins
    assert row.se == pytest.approx(math.sqrt(p * (1 - p) / (n - 1)) / (p * (1 - p)))


@pytest.mark.parametrize(
    ("change", "options", "code"),
    [
        ({"score": 1.0}, {}, "separated"),
        ({"score": 3.0}, {}, "bad_preference"),
        ({"versus": "a"}, {}, "versus_itself"),
        ({"score": math.nan, "status": "unscored"}, {}, "no_preferences"),
        ({}, {"criterion": "bettr"}, "unknown_criterion"),
        ({}, {"systems": ["a"]}, "one_system"),
        ({}, {"systems": ["a", "x"]}, "unknown_system"),
        ({}, {"correction": "maxt"}, "bad_option"),
        ({}, {"correction": "hulm"}, "unknown_correction"),
        ({}, {"cluster": "repo"}, "unknown_attribute"),
    ],
)
def test_mistakes_are_named(change: dict, options: dict, code: str) -> None:
    scores = arena(20, seed=10).assign(**change)
    with pytest.raises(EvalToolkitError) as error:
        rank_preferences(scores, **{"criterion": "better", **options})
    assert error.value.code == code


def test_absolute_scores_belong_to_rank() -> None:
    scores = arena(20, seed=10)
    scores = scores[scores["system"] + scores["versus"] == "ab"].assign(versus=None)
    with pytest.raises(PairingError, match=r"no row with versus.*et\.rank"):
        rank_preferences(scores, criterion="better")


def test_separated_systems_are_named() -> None:
    scores = arena(20, seed=11)
    scores["score"] = np.where(scores["versus"] == "d", 0.0, scores["score"])
    with pytest.raises(PairingError, match="'a', 'b', 'c'; 'd' are groups|'d'; 'a', 'b', 'c'"):
        rank_preferences(scores, criterion="better")
