"""`rank` on small tables that can be checked by hand, and its laws."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import pytest

import evaltoolkit as et
from evaltoolkit.errors import EvalToolkitError, EvalToolkitWarning, PairingError
from evaltoolkit.ranking import rank
from evaltoolkit.results import Ranking
from evaltoolkit.scores import normalise_scores


def table_of(
    scores: Mapping[str, Sequence[float]], *, criterion: str = "correct", **columns: object
) -> pd.DataFrame:
    """One row per system and example; NaN stands for unscored."""
    rows = [
        {"system": name, "example_id": f"e{i:03d}", "criterion": criterion, "score": value}
        for name, values in scores.items()
        for i, value in enumerate(values)
    ]
    return normalise_scores(pd.DataFrame(rows).assign(**columns))


def noise(k: int, n: int, *, seed: int, shift: float = 0.0) -> dict[str, list[float]]:
    """Continuous scores of k systems; each is better than the one before it by `shift`."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=n)
    return {f"s{j}": (shared + j * shift + rng.normal(size=n)).tolist() for j in range(k)}


def graded(k: int, n: int, *, seed: int) -> dict[str, list[float]]:
    """0/1 scores of systems of increasing strength."""
    rng = np.random.default_rng(seed)
    hard = rng.random(n)
    return {
        f"s{j}": (hard + rng.normal(0, 0.3, n) < (j + 1) / (k + 1)).astype(float).tolist()
        for j in range(k)
    }


def quiet(scores: pd.DataFrame, **options: object) -> Ranking:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvalToolkitWarning)
        return rank(scores, criterion="correct", **options)  # type: ignore[arg-type]


def test_pairs_are_those_of_compare() -> None:
    scores = table_of(graded(4, 80, seed=1))
    result = quiet(scores)
    for row in result.pairs.itertuples():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EvalToolkitWarning)
            pair = et.compare(scores, baseline=row.system_b, candidate=row.system_a).table.iloc[0]
        for name in ("n_pairs", "delta", "se", "df", "ci_low", "ci_high", "wins", "losses",
                     "ties", "p_value"):  # fmt: skip
            assert getattr(row, name) == pytest.approx(pair[name], rel=1e-12), name
        assert (row.interval, row.test) == (pair["interval"], pair["test"])


@pytest.mark.parametrize("clusters", [None, 12, 5])
def test_pairs_are_those_of_compare_for_means_and_clusters(clusters: int | None) -> None:
    scores = table_of(noise(3, 60, seed=2, shift=0.3))
    if clusters:
        numbers = scores["example_id"].str[1:].astype(int) % clusters
        scores = scores.assign(cluster="c" + numbers.astype(str))
    row = quiet(scores).pairs.iloc[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvalToolkitWarning)
        pair = et.compare(scores, baseline=row.system_b, candidate=row.system_a).table.iloc[0]
    names = ["delta", "se", "df", "ci_low", "ci_high"]
    assert row[names].tolist() == pytest.approx(pair[names].tolist(), rel=1e-12)
    assert (row.interval, row.test) == (pair["interval"], pair["test"])
    # both draw random flips with the same seed, compare up to more of them
    assert row.p_value == pytest.approx(pair["p_value"], abs=0.01)


def test_means_are_those_of_summarise() -> None:
    scores = table_of(graded(4, 60, seed=3))
    result, summary = quiet(scores), et.summarise(scores).set_index("system")
    for row in result.table.itertuples():
        for name in ("mean", "se", "df", "ci_low", "ci_high", "interval"):
            assert getattr(row, name) == summary.loc[row.system, name]


@pytest.mark.parametrize("correction", ["holm", "maxt", "bonferroni", "fdr_bh", "none"])
def test_rank_intervals_follow_from_the_pairs(correction: str) -> None:
    result = quiet(table_of(graded(6, 150, seed=4)), correction=correction)
    pairs, k = result.pairs, len(result.table)
    for row in result.table.itertuples():
        mine = pairs[(pairs.system_a == row.system) | (pairs.system_b == row.system)]
        sure = mine[mine["p_adjusted"] <= 0.05]
        won = (sure["better"] == row.system).sum()
        lost = len(sure) - won
        assert (row.n_better, row.n_worse) == (lost, won)
        assert (row.rank_low, row.rank_high) == (1 + lost, k - won)
        assert row.rank_low <= row.rank <= row.rank_high
    assert (pairs["p_adjusted"] >= pairs["p_value"]).all()
    joint = pairs.dropna(subset=["joint_low"])
    assert (joint["joint_low"] <= joint["ci_low"]).all()
    assert (joint["joint_high"] >= joint["ci_high"]).all()
    assert len(joint) == (len(pairs) if correction in ("holm", "maxt", "bonferroni") else 0)
    promises = "hold for all systems together" in result.methods()
    assert promises == (correction in ("holm", "maxt", "bonferroni"))


def test_overall_tests_match_scipy_and_statsmodels() -> None:
    from scipy import stats as scipy_stats
    from statsmodels.stats.contingency_tables import cochrans_q

    binary = graded(5, 70, seed=5)
    tests = quiet(table_of(binary)).tests.set_index("test")
    q = cochrans_q(np.column_stack(list(binary.values())))
    assert tests.loc["cochran_q", ["statistic", "p_value", "df"]].tolist() == pytest.approx(
        [q.statistic, q.pvalue, q.df], rel=1e-9
    )
    scores = noise(4, 30, seed=6, shift=0.2)
    tests = quiet(table_of(scores)).tests.set_index("test")
    friedman = scipy_stats.friedmanchisquare(*scores.values())
    assert tests.loc["friedman", ["statistic", "p_value"]].tolist() == pytest.approx(
        [friedman.statistic, friedman.pvalue], rel=1e-9
    )
    chi, n, k = friedman.statistic, 30, 4
    f = (n - 1) * chi / (n * (k - 1) - chi)
    assert tests.loc["iman_davenport", "statistic"] == pytest.approx(f, rel=1e-9)
    assert tests.loc["iman_davenport", "p_value"] == pytest.approx(
        scipy_stats.f.sf(f, k - 1, (k - 1) * (n - 1)), rel=1e-9
    )
    # Demšar 2006, table 5: q = 2.569 for four systems at .05
    assert tests.loc["nemenyi", "critical_difference"] == pytest.approx(
        2.569 * math.sqrt(k * (k + 1) / (6 * n)), rel=1e-3
    )
    assert "0 or 1" in tests.loc["cochran_q", "note"]
    assert math.isnan(tests.loc["cochran_q", "p_value"])


def test_friedman_with_ties_is_cochrans_q_on_pass_fail() -> None:
    tests = quiet(table_of(graded(4, 50, seed=7))).tests.set_index("test")
    assert tests.loc["friedman", "statistic"] == pytest.approx(tests.loc["cochran_q", "statistic"])


def test_mean_ranks_average_to_the_middle() -> None:
    result = quiet(table_of(graded(5, 40, seed=8)))
    assert result.table["mean_rank"].mean() == pytest.approx(3.0)


@pytest.mark.parametrize("correction", ["holm", "maxt"])
@pytest.mark.parametrize("make", [graded, noise])
def test_row_order_is_irrelevant(make: object, correction: str) -> None:
    scores = table_of(make(4, 40, seed=9))  # type: ignore[operator]
    again = pd.concat([scores.assign(trial=0), scores.assign(trial=1, score=scores["score"] / 3)])
    for table in (scores, again):
        first = quiet(table, correction=correction)
        second = quiet(table.sample(frac=1, random_state=3), correction=correction)
        for name in ("table", "pairs", "tests", "blocks", "lost"):
            pd.testing.assert_frame_equal(
                getattr(first, name), getattr(second, name), check_exact=True
            )
        assert first.conclusion() == second.conclusion()


def test_names_do_not_matter() -> None:
    scores = table_of(graded(4, 60, seed=10))
    renamed = scores.assign(system=scores["system"].map(dict(zip(
        ["s0", "s1", "s2", "s3"], ["z", "y", "x", "w"], strict=True))).astype("str"))  # fmt: skip
    own, other = quiet(scores).table, quiet(renamed).table
    columns = ["rank", "rank_low", "rank_high", "mean", "ci_low", "mean_rank"]
    pd.testing.assert_frame_equal(own[columns], other[columns])


def test_lower_is_better_turns_ranks_and_wins_but_no_number() -> None:
    scores = table_of(noise(3, 50, seed=11, shift=0.8))
    up = quiet(scores)
    down = quiet(scores.assign(higher_is_better=False))
    assert up.table["system"].tolist() == ["s2", "s1", "s0"]
    assert down.table["system"].tolist() == ["s0", "s1", "s2"]
    assert (up.pairs["delta"] > 0).all()
    assert (down.pairs["delta"] < 0).all()
    assert (down.pairs["wins"] > down.pairs["losses"]).all()
    assert down.table["rank_low"].tolist() == up.table["rank_low"].tolist()
    assert down.table["mean"].tolist() == up.table["mean"].tolist()[::-1]
    assert down.leaders == ["s0"]
    assert "lower is better" in down.conclusion()
    statistic = [r.tests.set_index("test").loc["friedman", "statistic"] for r in (up, down)]
    assert statistic[0] == pytest.approx(statistic[1])


def test_direction_by_name_is_seen() -> None:
    times = {"slow": [9.0 + i for i in range(12)], "fast": [1.0 + i / 2 for i in range(12)]}
    result = rank(table_of(times, criterion="latency_s"), criterion="latency_s")
    assert result.table["system"].tolist() == ["fast", "slow"]
    assert result.settings["direction_from"] == "inferred"


def with_statuses() -> pd.DataFrame:
    scores = table_of({"a": [1.0] * 8, "b": [1.0, 0] * 4, "c": [0.0, 0, 1, 1] * 2})
    gone = (scores["system"] == "a") & (scores["example_id"] == "e000")
    status = {("b", "e001"): "system_error", ("b", "e002"): "scorer_error",
              ("c", "e002"): "unscored"}  # fmt: skip
    keys = list(zip(scores["system"], scores["example_id"], strict=True))
    scores["status"] = [status.get(key, "scored") for key in keys]
    scores.loc[scores["status"] != "scored", "score"] = math.nan
    return normalise_scores(scores[~gone])


def test_what_is_left_out_is_counted_by_system_and_cause() -> None:
    with pytest.warns(EvalToolkitWarning) as caught:
        result = rank(with_statuses(), criterion="correct")
    assert "3 examples are left out" in str(caught[0].message)
    table = result.table.set_index("system")
    causes = ["n_system_error", "n_scorer_error", "n_unscored", "n_absent", "n_lost_to_others"]
    assert table.loc["a", causes].tolist() == [0, 0, 0, 1, 2]
    assert table.loc["b", causes].tolist() == [1, 1, 0, 0, 1]
    assert table.loc["c", causes].tolist() == [0, 0, 1, 0, 2]
    assert (table["n_examples"] + table[causes].sum(axis=1) == 8).all()
    assert len(result.lost) == 4
    assert set(result.lost["cause"]) == {"absent", "system_error", "scorer_error", "unscored"}
    assert "Left out: 3 of 8 examples" in result.conclusion()
    assert result.blocks.shape == (5, 3)


def test_missing_scores_can_count_as_failures() -> None:
    failures = quiet(with_statuses(), missing="as_failure").table.set_index("system")
    assert failures["n_examples"].tolist() == [6, 6, 6]
    assert failures.loc["b", "n_imputed"] == 1
    worst = quiet(with_statuses(), missing="worst").table.set_index("system")
    assert worst["n_examples"].tolist() == [8, 8, 8]
    assert worst.loc[["a", "b", "c"], "n_imputed"].tolist() == [1, 2, 1]
    assert worst.loc["a", "mean"] == pytest.approx(7 / 8)
    unbounded = with_statuses().assign(kind="continuous")
    unbounded["score"] *= 3
    with pytest.raises(PairingError, match="worse bound"):
        rank(unbounded, criterion="correct", missing="worst")


def test_trials_are_averaged_and_no_longer_pass_fail() -> None:
    scores = table_of(graded(3, 30, seed=12))
    twice = pd.concat([scores, scores.assign(trial=1)])
    one, two = quiet(scores), quiet(twice)
    assert one.table["interval"].unique().tolist() == ["wilson"]
    assert two.table["interval"].unique().tolist() == ["t"]
    assert one.table["mean"].tolist() == two.table["mean"].tolist()
    assert two.pairs["test"].unique().tolist() == ["sign_flip"]


def test_clusters_leave_rank_tests_out_and_singletons_change_nothing() -> None:
    scores = table_of(graded(3, 60, seed=13))
    own = quiet(scores.assign(cluster=scores["example_id"]))
    plain = quiet(scores)
    pd.testing.assert_frame_equal(own.table, plain.table)
    pd.testing.assert_frame_equal(own.pairs, plain.pairs)
    grouped = quiet(scores.assign(cluster="c" + scores["example_id"].str[3:]))
    assert grouped.table["interval"].unique().tolist() == ["cr2_t"]
    tests = grouped.tests.set_index("test")
    assert tests.drop("all_pairs")["p_value"].isna().all()
    assert tests["note"].str.contains("independent").sum() == 4
    assert "Friedman" not in grouped.methods()


def test_few_clusters_say_that_nothing_can_be_found() -> None:
    scores = table_of(graded(6, 90, seed=14))
    clustered = scores.assign(cluster=(scores["example_id"].str[1:].astype(int) % 8).astype(str))
    with pytest.warns(EvalToolkitWarning, match="no pair can reach alpha"):
        result = rank(clustered, criterion="correct")
    assert not result.pairs["significant"].any()
    assert result.settings["smallest_p"] == pytest.approx(15 / 256)


def test_fewer_than_eight_clusters_use_holm_for_max_t() -> None:
    scores = table_of(noise(3, 40, seed=15, shift=1.0))
    clustered = scores.assign(cluster=(scores["example_id"].str[1:].astype(int) % 5).astype(str))
    result = quiet(clustered, correction="maxt")
    assert result.pairs["correction"].unique().tolist() == ["holm"]
    assert result.pairs["test"].unique().tolist() == ["cr2_t"]
    assert "instead of max-t" in result.methods()


def test_noise_is_not_decisive() -> None:
    result = quiet(table_of(noise(5, 40, seed=16)))
    assert not result.decisive
    assert "The ranking is not decisive" in result.conclusion()
    assert len(result.leaders) == 5
    assert (result.table["rank_low"] == 1).all()
    assert (result.table["rank_high"] == 5).all()


def test_a_clear_leader_is_named() -> None:
    result = quiet(table_of(noise(3, 60, seed=17, shift=1.5)))
    assert result.decisive
    assert result.leaders == ["s2"]
    assert "s2 comes first" in result.conclusion()
    assert "better than every other system" in result.conclusion()


def test_a_shared_top_is_not_decided() -> None:
    scores = noise(3, 60, seed=18)
    scores["weak"] = (np.array(scores["s0"]) - 3).tolist()
    result = quiet(table_of(scores))
    assert result.decisive
    assert "The top is not decided" in result.conclusion()
    assert set(result.leaders) == {"s0", "s1", "s2"}


def test_an_overall_test_that_does_not_reject_makes_it_not_decisive() -> None:
    # Two systems differ by a little on each example, in means; the ranks of eight are noise.
    rng = np.random.default_rng(4)
    scores = {f"s{j}": rng.normal(size=30).tolist() for j in range(8)}
    low = np.array(scores["s0"])
    scores["s1"] = (low + np.where(np.arange(30) < 9, 0.002, 0.0)).tolist()
    result = quiet(table_of(scores), correction="none")
    friedman = result.tests.set_index("test").loc["iman_davenport", "p_value"]
    assert friedman > 0.05
    assert not result.decisive
    assert "not decisive" in result.conclusion()


def test_all_ties_have_p_one_and_a_shared_first_place() -> None:
    same = [0.0, 1.0] * 10
    with pytest.warns(EvalToolkitWarning, match="the same on every example"):
        result = rank(table_of({"a": same, "b": same, "c": same}), criterion="correct")
    assert result.table["rank"].tolist() == [1, 1, 1]
    assert (result.pairs["p_value"] == 1).all()
    assert (result.pairs["ci_low"] < 0).all()
    assert result.tests.set_index("test").loc["cochran_q", "p_value"] == 1
    assert "a, b, c share the first place" in result.conclusion()
    # three identical pairs are one hypothesis
    assert result.settings["family_size"] == 1


def test_a_copy_shares_the_rank_and_adds_no_hypothesis() -> None:
    scores = noise(3, 40, seed=19, shift=0.5)
    plain = quiet(table_of(scores))
    doubled = quiet(table_of({**scores, "t2": scores["s2"]}))
    assert doubled.settings["family_size"] == plain.settings["family_size"] + 1
    assert doubled.table["rank"].tolist() == [1, 1, 3, 4]
    own = doubled.pairs[(doubled.pairs.system_a == "s2") & (doubled.pairs.system_b == "t2")]
    assert own["p_adjusted"].tolist() == [1.0]
    both = doubled.pairs[doubled.pairs.system_b == "s0"].set_index("system_a")["p_adjusted"]
    assert both["s2"] == both["t2"]


def test_unanimous_constant_differences_have_no_interval_but_a_p_value() -> None:
    base = np.linspace(0, 1, 12)
    result = quiet(table_of({"a": base.tolist(), "b": (base + 0.5).tolist()}))
    row = result.pairs.iloc[0]
    assert math.isnan(row.ci_low)
    assert row.se == 0
    assert row.p_value == pytest.approx(2.0**-12)
    assert "no variance" in row.note


def test_one_example_and_one_cluster_allow_no_inference() -> None:
    result = quiet(table_of({"a": [0.3], "b": [0.7], "c": [0.1]}))
    assert result.table["ci_low"].isna().all()
    assert result.pairs["note"].str.contains("one example").all()
    assert not result.pairs["significant"].any()
    assert result.tests.set_index("test").drop("all_pairs")["p_value"].isna().all()
    clustered = quiet(table_of(noise(3, 9, seed=20)).assign(cluster="only"))
    assert clustered.pairs["p_value"].isna().all()
    assert clustered.pairs["note"].str.contains("one cluster").all()
    assert "not decisive" in clustered.conclusion()


def test_two_systems_have_one_pair() -> None:
    result = quiet(table_of(graded(2, 60, seed=21)))
    assert result.pairs["correction"].tolist() == ["single"]
    assert result.pairs["p_adjusted"].tolist() == result.pairs["p_value"].tolist()
    assert "three systems" in result.tests.set_index("test").loc["friedman", "note"]


def test_perfect_agreement_has_no_f() -> None:
    scores = {f"s{j}": [j + i / 100 for i in range(10)] for j in range(3)}
    tests = quiet(table_of(scores)).tests.set_index("test")
    assert math.isnan(tests.loc["iman_davenport", "p_value"])
    assert "alike" in tests.loc["iman_davenport", "note"]
    assert tests.loc["friedman", "statistic"] == pytest.approx(20)


def test_a_common_opponent_is_allowed_and_different_ones_are_not() -> None:
    scores = table_of(noise(3, 20, seed=22)).assign(versus="gpt")
    assert quiet(scores).settings["against"] == "gpt"
    with pytest.raises(PairingError, match="different opponents"):
        rank(scores.assign(versus=["x", "y"] * 30), criterion="correct")
    among = scores[scores["system"] != "s1"].assign(versus="s1")
    mixed = pd.concat([among, scores[scores["system"] == "s1"].assign(versus=None)])
    with pytest.raises(PairingError, match="rank_preferences"):
        rank(mixed, criterion="correct")


def test_different_inputs_are_warned_of() -> None:
    scores = table_of(noise(2, 20, seed=23))
    scores["input_digest"] = scores["system"].where(scores["example_id"] == "e003", "same")
    with pytest.warns(EvalToolkitWarning, match="1 example was put to the systems with different"):
        rank(scores, criterion="correct")


@pytest.mark.parametrize(
    ("change", "options", "code"),
    [
        ({}, {"criterion": "corect"}, "unknown_criterion"),
        ({}, {"systems": ["s0", "nobody"]}, "unknown_system"),
        ({}, {"systems": ["s0"]}, "one_system"),
        ({}, {"systems": "s0"}, "one_system"),
        ({}, {"systems": []}, "bad_option"),
        ({}, {"systems": ["s0", "s0"]}, "bad_option"),
        ({}, {"scorer": "nobody"}, "unknown_scorer"),
        ({}, {"task": "nowhere"}, "unknown_task"),
        ({}, {"alpha": 5}, "bad_fraction"),
        ({}, {"draws": 0}, "bad_count"),
        ({}, {"seed": -1}, "bad_count"),
        ({}, {"missing": "drop"}, "bad_option"),
        ({}, {"runs": "first"}, "bad_option"),
        ({}, {"correction": "hulm"}, "unknown_correction"),
        ({}, {"cluster": "repo"}, "unknown_attribute"),
        ({"task": ["x", "y"] * 30}, {}, "several_tasks"),
        ({"scorer": ["x", "y"] * 30}, {}, "several_scorers"),
        ({"cluster": [str(i) for i in range(60)]}, {}, "attribute_not_constant"),
    ],
)
def test_mistakes_are_named(change: dict, options: dict, code: str) -> None:
    scores = table_of(noise(3, 20, seed=24)).assign(**change)
    with pytest.raises(EvalToolkitError) as error:
        rank(scores, **{"criterion": "correct", **options})
    assert error.value.code == code


def test_no_complete_example_names_the_gaps() -> None:
    scores = table_of({"a": [1.0, math.nan], "b": [math.nan, 1.0]})
    with pytest.raises(PairingError, match="no example was scored by all systems.*'a' .1."):
        rank(scores, criterion="correct")


def test_a_system_without_rows_for_the_task_is_named() -> None:
    scores = table_of(noise(3, 20, seed=25))
    scores["task"] = np.where(scores["system"] == "s2", "other", "main")
    with pytest.raises(PairingError, match="is of the system 's2'"):
        rank(scores, criterion="correct", task="main", systems=["s0", "s1", "s2"])
    scores.loc[scores["system"] != "s2", "task"] = "main"
    assert len(rank(scores, criterion="correct", task="main", systems=["s0", "s1"]).table) == 2


def test_several_tasks_are_ranked_over_all_their_examples() -> None:
    scores = table_of(graded(3, 40, seed=26))
    both = pd.concat([scores.assign(task="x"), scores.assign(task="y")])
    pooled = quiet(both, task=["x", "y"])
    assert pooled.table["n_examples"].tolist() == [80] * 3
    assert pooled.table["mean"].tolist() == quiet(scores).table["mean"].tolist()


def test_result_prints_safely_and_arranges_a_matrix() -> None:
    scores = graded(3, 60, seed=27)
    hostile = {"<b>a|_$": scores["s0"], "two\nlines": scores["s1"], "c": scores["s2"]}
    result = quiet(table_of(hostile))
    assert "<b>" not in result._repr_html_()
    assert "two\nlines" not in result.conclusion()
    assert r"\|" in result.to_markdown()
    assert r"\$" in result.to_latex()
    square = result.matrix()
    assert np.allclose(square, -square.T, equal_nan=True)
    assert list(square.index) == list(result.table["system"])
    p = result.matrix("p_adjusted")
    assert np.allclose(p, p.T, equal_nan=True)
    assert repr(result) == "Ranking(3 rows)"


@pytest.mark.long
@pytest.mark.parametrize("correction", ["holm", "maxt"])
def test_equal_systems_are_seldom_told_apart(correction: str) -> None:
    """The chance of any significant pair among four equal systems: at most .05, here + 3 s.e."""
    from evaltoolkit.ranking.blocks import Blocks
    from evaltoolkit.ranking.contrasts import Plan, all_pairs

    rng, found, sets = np.random.default_rng(28), 0, 1000
    empty, names = pd.DataFrame(), ("a", "b", "c", "d")
    for _ in range(sets):
        values = (rng.normal(size=(40, 1)) + rng.normal(size=(40, 4)) > 0).astype(float)
        blocks = Blocks(names, values, empty, None, "binary", True, True, empty, empty)
        plan = Plan(correction, 0.05, 1000, int(rng.integers(2**31)))
        family = all_pairs(blocks, range(4), plan)[1]
        found += bool((family.p_adjusted <= 0.05).any())
    assert found / sets <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / sets)


def test_every_rank_interval_of_hand_made_pairs() -> None:
    from evaltoolkit.ranking.standings import rank_intervals

    names = ["a", "b", "c", "d"]
    ends = list(itertools.combinations(names, 2))
    better = [None, "a", "a", None, "b", None]
    pairs = pd.DataFrame(ends, columns=["system_a", "system_b"]).assign(better=better)
    table = rank_intervals(pairs, names)
    assert table["rank_low"].tolist() == [1, 1, 2, 3]
    assert table["rank_high"].tolist() == [2, 3, 4, 4]
