"""Judge-corrected means and differences."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from evaltoolkit import stats
from evaltoolkit.errors import EvalToolkitError, EvalToolkitWarning
from evaltoolkit.judging import calibrate
from evaltoolkit.results.judging import Calibration
from evaltoolkit.scores import normalise_scores
from tests.judging.builders import judged, scored


def fit(table: pd.DataFrame, **options: object) -> Calibration:
    chosen = {"criterion": "helpful", "judge": "judge"} | options
    return calibrate(table, **chosen)  # type: ignore[arg-type]


def arrays(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    wide = table.pivot(index="example_id", columns="scorer", values="score")
    both = wide["human"].notna()
    return (
        wide.loc[both, "human"].to_numpy(),
        wide.loc[both, "judge"].to_numpy(),
        wide.loc[~both, "judge"].to_numpy(),
    )


@pytest.mark.parametrize(
    ("labelled", "method"), [(30, "human_only"), (50, "ppi"), (99, "ppi"), (100, "ppi_tuned")]
)
def test_the_method_follows_the_number_of_labels(labelled: int, method: str) -> None:
    table = judged(n=300, labelled=labelled, seed=1)
    row = fit(table).table.iloc[0]
    human, judge, rest = arrays(table)
    assert row.method == method
    assert (row.n_examples, row.n_labelled, row.n_both) == (300, labelled, labelled)
    if method == "human_only":
        ends = stats.wilson(int(human.sum()), human.size)
        assert (row.estimate, row.ci_low, row.ci_high) == pytest.approx((human.mean(), *ends))
        assert row.interval == "wilson"
    else:
        found = stats.ppi_mean(human, judge, rest, tuned=method == "ppi_tuned")
        assert (row.estimate, row.se, row.ci_low, row.ci_high, row.weight) == pytest.approx(found)
        assert row.df == labelled - 1
    everything = np.concatenate([judge, rest])
    assert row.judge_mean == pytest.approx(everything.mean())
    assert row.judge_bias == pytest.approx((judge - human).mean())


def test_sensitivity_and_specificity() -> None:
    human = [1.0] * 40 + [0.0] * 20
    judge = [1.0] * 36 + [0.0] * 4 + [1.0] * 5 + [0.0] * 15
    row = fit(scored({"judge": judge, "human": human})).table.iloc[0]
    assert (row.sensitivity, row.n_sensitivity) == (0.9, 40)
    assert (row.specificity, row.n_specificity) == (0.75, 20)
    assert (row.sensitivity_low, row.sensitivity_high) == pytest.approx(stats.wilson(36, 40))
    assert (row.specificity_low, row.specificity_high) == pytest.approx(stats.wilson(15, 20))
    assert "all examples are labelled" in row.note


def two(labelled: int, *, seed: int = 1) -> pd.DataFrame:
    old = judged(n=300, labelled=labelled, seed=seed, system="old", flip=0.1)
    new = judged(n=300, labelled=labelled, seed=seed + 1, system="new", flip=0.3)
    return pd.concat([old, new])


PAIR = {"baseline": "old", "candidate": "new"}


@pytest.mark.parametrize("labelled", [30, 60, 120])
def test_the_difference_is_that_of_the_two_rows(labelled: int) -> None:
    result = fit(two(labelled), **PAIR)
    old, new, gap = (result.table.iloc[i] for i in range(3))
    assert gap.quantity == "difference"
    for name in ("estimate", "human_mean", "judge_mean", "judge_bias"):
        assert gap[name] == pytest.approx(new[name] - old[name]), name
    assert gap.ci_low < gap.estimate < gap.ci_high
    mirrored = fit(two(labelled), baseline="new", candidate="old").table.iloc[2]
    assert mirrored.estimate == pytest.approx(-gap.estimate)
    assert (mirrored.ci_low, mirrored.ci_high) == pytest.approx((-gap.ci_high, -gap.ci_low))
    assert mirrored.p_value == pytest.approx(gap.p_value)


def test_same_few_labels_are_a_paired_comparison() -> None:
    table = two(40)
    gap = fit(table, **PAIR).table.iloc[2]
    old, new = (arrays(table[table["system"] == name])[0] for name in ("old", "new"))
    counts = stats.paired_counts(old, new)
    ends = stats.bonett_price(counts.wins, counts.losses, 40)
    assert (gap.ci_low, gap.ci_high) == pytest.approx(ends)
    assert gap.p_value == pytest.approx(stats.mcnemar_midp(counts.wins, counts.losses))
    assert gap.interval == "bonett_price"
    assert gap.n_labelled == 40


def test_disjoint_labels_add_their_variances() -> None:
    """With no shared example, labelled or not, the squared standard errors add up."""
    table = two(80)
    apart = table.assign(
        example_id=table["example_id"].where(table["system"] == "old", "x" + table["example_id"])
    )
    with pytest.warns(EvalToolkitWarning, match="judged for one of the two systems only"):
        result = fit(apart, **PAIR)
    old, new, gap = (result.table.iloc[i] for i in range(3))
    assert gap.se == pytest.approx(math.hypot(old.se, new.se) * math.sqrt(80 / 79))
    assert gap.interval == "contributions_t"
    assert gap.df == 79
    assert gap.n_labelled == 0


def test_shared_examples_narrow_the_interval() -> None:
    """The same answers twice: what is common to both systems cancels in the standard error."""
    old = judged(n=300, labelled=80, seed=1, system="old")
    other = judged(n=300, labelled=80, seed=1, system="new")
    change = other["example_id"].isin([f"e{i:04d}" for i in range(0, 300, 9)])
    new = other.assign(score=other["score"].mask(change, 0.0))
    gap = fit(pd.concat([old, new]), **PAIR).table.iloc[2]
    one = fit(old).table.iloc[0]
    assert gap.se < one.se


def test_bias_is_estimated_not_assumed_away() -> None:
    """A judge that is lenient to one system only: naive says better, the truth is no change."""
    rng = np.random.default_rng(3)
    truth = (rng.random(400) < 0.6).astype(float)
    lenient = np.where(rng.random(400) < 0.4, 1.0, truth)
    harsh = np.where(rng.random(400) < 0.05, 0.0, truth)
    marks = np.where(np.arange(400) < 120, truth, np.nan)
    parts = [
        scored({"judge": said, "human": marks}, system=name).dropna(subset="score")
        for name, said in (("old", harsh), ("new", lenient))
    ]
    result = fit(pd.concat(parts), **PAIR)
    gap = result.table.iloc[2]
    assert gap.judge_low > 0.05
    assert gap.ci_low < 0 < gap.ci_high
    assert gap.p_bias < 1e-6
    assert "no conclusive change" in result.conclusion()
    assert "its bias differs by +" in result.conclusion()


def test_trials_are_averaged_and_labels_meet_their_own_trial() -> None:
    judge = [scored({"judge": [1.0, 0.0, 1.0] * 20}, trial=t) for t in (0, 1)]
    human = scored({"human": [1.0, 1.0, 0.0] * 4}, trial=1)
    row = fit(pd.concat([*judge, human])).table.iloc[0]
    assert (row.n_examples, row.n_labelled, row.n_both) == (60, 12, 12)
    assert row.interval == "wilson"
    averaged = pd.concat([*judge, human, human.assign(trial=0, score=0.0)])
    assert fit(averaged).table.iloc[0].interval == "t"
    assert math.isnan(fit(averaged).table.iloc[0].sensitivity)


def test_clusters_widen_and_count_towards_the_limit() -> None:
    table = judged(n=400, labelled=240, seed=5)
    number = table["example_id"].str[1:].astype(int)
    few = fit(table.assign(cluster="c" + (number // 8).astype(str))).table.iloc[0]
    assert (few.method, few.interval, few.n_units) == ("human_only", "cr2_t", 30)
    many = fit(table.assign(cluster="c" + (number // 2).astype(str))).table.iloc[0]
    assert (many.method, many.interval, many.df) == ("ppi_tuned", "cr1_t", 119)
    assert fit(table.assign(cluster="c" + number.astype(str))).table.iloc[0].interval == "t"


def test_tasks_are_separate_or_pooled() -> None:
    table = pd.concat([two(40), two(60, seed=12).assign(task="second")])
    separate = fit(table, **PAIR).table
    assert separate["task"].tolist() == [""] * 3 + ["second"] * 3
    gaps = separate[separate["quantity"] == "difference"]
    assert (gaps["p_adjusted"] >= gaps["p_value"]).all()
    pooled = fit(table, **PAIR, tasks="pooled").table
    assert pooled["n_labelled"].tolist()[:2] == [100, 100]
    assert pooled["method"].tolist()[0] == "ppi_tuned"


def test_labels_of_hard_examples_only_are_noticed() -> None:
    table = judged(n=300, labelled=300, seed=6)
    failed = table.loc[(table["scorer"] == "judge") & (table["score"] == 0), "example_id"]
    hard = table[(table["scorer"] == "judge") | table["example_id"].isin(failed.head(60))]
    with pytest.warns(EvalToolkitWarning, match="unlike the others"):
        row = fit(hard).table.iloc[0]
    assert math.isnan(row.p_labelled_like_rest) or row.p_labelled_like_rest < 0.01


def test_row_order_changes_nothing() -> None:
    table = two(120)
    first = fit(table, **PAIR)
    second = fit(table.sample(frac=1, random_state=2), **PAIR)
    pd.testing.assert_frame_equal(first.table, second.table)
    pd.testing.assert_frame_equal(first.examples, second.examples)


def test_continuous_scores() -> None:
    rng = np.random.default_rng(7)
    truth = rng.normal(size=300)
    said = truth + 0.3 + 0.2 * rng.normal(size=300)
    table = scored({"judge": said, "human": truth[:60]})
    row = fit(table).table.iloc[0]
    people = stats.paired_t(truth[:60])
    assert (row.human_low, row.human_high) == pytest.approx((people.low, people.high))
    assert row.ci_high - row.ci_low < 0.6 * (people.high - people.low)
    assert math.isnan(row.sensitivity)
    assert row.bias_low < 0.3 < row.bias_high


@pytest.mark.parametrize(
    ("judge", "human", "method", "note"),
    [
        ([1.0] * 100, [1.0] * 60, "human_only", "never differ"),
        ([0.0, 1.0] * 50, [0.0, 1.0] * 30, "human_only", "never differ"),
        ([2.5] * 100, [2.5] * 20, "human_only", "fewer than 50"),
        ([0.0, 1.0] * 50, [1.0], "human_only", "1 labelled"),
        ([0.0, 1.0] * 50, [1.0, *[0.0, 1.0] * 30], "ppi", ""),
        ([0.0, 1.0] * 50, [1.0, *[0.0] * 49, *[1.0] * 9], "ppi", ""),
        ([0.0, 1.0] * 50, [1.0, 1.0, *[0.0, 1.0] * 29], "ppi", "only 1 labelled"),
    ],
)
def test_degenerate_labels_have_a_reason(
    judge: list[float], human: list[float], method: str, note: str
) -> None:
    row = fit(scored({"judge": judge, "human": human})).table.iloc[0]
    assert row.method == method
    assert note in row.note
    assert math.isnan(row.ci_low) or row.ci_low < row.ci_high
    assert math.isnan(row.judge_low) or row.judge_low < row.judge_high
    assert math.isnan(row.bias_low) or row.bias_low < row.bias_high


def test_a_system_without_labels() -> None:
    table = two(60)
    bare = table[(table["system"] == "old") | (table["scorer"] == "judge")]
    with pytest.warns(EvalToolkitWarning, match="no labels of human for 'new'"):
        result = fit(bare, **PAIR)
    assert result.table["method"].tolist() == ["ppi", "none", "none"]
    assert math.isnan(result.table.iloc[2].estimate)
    assert "no corrected difference, since a system has no labels" in result.conclusion()


def test_a_judge_that_gives_no_score_is_counted() -> None:
    table = judged(n=200, labelled=60, seed=8)
    lost = (table["scorer"] == "judge") & table["example_id"].isin(["e0001", "e0100"])
    gone = table.assign(
        score=table["score"].mask(lost), status=table["status"].mask(lost, "scorer_error")
    )
    with pytest.warns(EvalToolkitWarning) as caught:
        row = fit(normalise_scores(gone)).table.iloc[0]
    said = " ".join(str(w.message) for w in caught)
    assert "gave no score on up to 2 examples" in said
    assert "labels without a score of the judge" in said
    assert (row.n_labelled, row.n_both, row.n_judge_lost) == (60, 59, 2)


@pytest.mark.parametrize(
    ("change", "options", "code", "text"),
    [
        ({}, {"criterion": "helpfull"}, "unknown_criterion", "did you mean"),
        ({}, {"judge": "jugde"}, "unknown_scorer", "did you mean 'judge'"),
        ({}, {"human": "judge"}, "same_name", "both 'judge'"),
        ({}, {"baseline": "old"}, "bad_option", "both baseline= and candidate="),
        ({}, {"baseline": "old", "candidate": "old"}, "same_name", "both 'old'"),
        ({}, {"baseline": "old", "candidate": "mew"}, "unknown_system", "did you mean 'new'"),
        ({}, {"alpha": 0}, "bad_fraction", "alpha"),
        ({}, {"tasks": "all"}, "unknown_option", "tasks"),
        ({"versus": "x"}, {}, "pairwise_rows", "versus"),
    ],
)
def test_wrong_options_are_named(change: dict, options: dict, code: str, text: str) -> None:
    with pytest.raises(EvalToolkitError, match=text) as caught:
        fit(two(40).assign(**change), **options)
    assert caught.value.code == code


def test_several_runs_are_refused() -> None:
    table = pd.concat([two(40), two(40).assign(run_id="again")])
    with pytest.raises(EvalToolkitError, match="several runs.*'again'") as caught:
        fit(table)
    assert caught.value.code == "several_runs"


def test_words_and_prints() -> None:
    result = fit(two(120), **PAIR)
    said = result.conclusion()
    assert "from 120 labels on 300 examples" in said
    assert "sensitivity" in said
    assert "PPI++" in result.methods()
    assert "no equal bias of the judge is assumed" in result.methods()
    assert len(result.examples) == 600
    assert "<table>" in result._repr_html_()
    again = result.examples.groupby("system")["judge"].mean()
    assert again["old"] == pytest.approx(result.table.iloc[0].judge_mean)
