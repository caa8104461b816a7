"""Repeatability: a real judge who judged twice, hand-computed numbers, declared repeats."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltoolkit import stats
from evaltoolkit.errors import EvalToolkitWarning, PairingError
from evaltoolkit.judging import repeatability

pytestmark = pytest.mark.filterwarnings("ignore::evaltoolkit.errors.EvalToolkitWarning")


def rejudged(table: list[list[float | None]], **columns: object) -> pd.DataFrame:
    """One row of scores per output, one column per repeat (None: not scored)."""
    rows = [
        ("agent", f"e{i:03d}", again, score)
        for i, scores in enumerate(table)
        for again, score in enumerate(scores)
    ]
    frame = pd.DataFrame(rows, columns=["system", "example_id", "trial", "score"])
    return frame.assign(**({"criterion": "quality", "scorer": "judge"} | columns))


def only(scores: pd.DataFrame, **options: object) -> pd.Series:
    chosen = {"repeats": "trial"} | options
    table = repeatability(scores, **chosen).table  # type: ignore[arg-type]
    assert len(table) == 1
    return table.iloc[0]


def test_runs_judged_twice(shared_data: Path) -> None:
    """48 runs of two agents judged again: 45 verdicts agree."""
    files = [shared_data / "phoenix" / f"mcp_runs{end}.jsonl" for end in ("", "-rejudged")]
    if not all(path.is_file() for path in files):
        pytest.skip("the rejudged runs are not among the shared files")
    rows = [
        {
            "run_id": path.stem,
            "system": each["arm"],
            "example_id": each["question_id"],
            "trial": each["repeat"],
            "score": float(each["correct"]),
        }
        for path in files
        for each in map(json.loads, path.read_text("utf-8").splitlines())
    ]
    scores = pd.DataFrame(rows).assign(criterion="correct", scorer="judge")
    found = only(scores, repeats="run_id")
    assert (found.n_outputs, found.n_repeats) == (48, 2)
    assert found.exact == pytest.approx(45 / 48)
    assert found.flips == pytest.approx(3 / 48)


def test_gpt4_rejudged_mt_bench(shared_data: Path) -> None:
    """Answers that were judged twice, against numbers from the pivoted file alone."""
    raw = pd.read_csv(shared_data / "paired" / "mtbench_gpt4_single_raw.csv")
    raw = raw[raw["score"] != -1]
    key = ["source_repo", "model", "question_id", "turn"]
    raw["again"] = raw.groupby(key).cumcount()
    scores = raw.rename(columns={"model": "system", "question_id": "example_id"}).assign(
        task=raw["source_repo"] + " " + raw["turn"].astype(str),
        trial=raw["again"],
        criterion="quality",
        scorer="gpt-4",
    )
    result = repeatability(
        scores[["system", "task", "example_id", "trial", "criterion", "scorer", "score"]],
        repeats="trial",
    )
    found = result.table.iloc[0]
    wide = raw.pivot_table(index=key, columns="again", values="score").dropna()
    d = wide[1] - wide[0]
    assert (found.n_outputs, found.n_once) == (165, 2755)
    assert found.exact == pytest.approx((d == 0).mean())
    assert found.within_sd == pytest.approx(math.sqrt(np.mean(d**2) / 2))
    assert found.mean_range == pytest.approx(abs(d.mean()))
    second = result.runs[result.runs["repeat"] == "1"].iloc[0]
    assert second.delta == pytest.approx(d.mean())
    assert second.delta_low > 0  # the second round was kinder


def test_hand_computed() -> None:
    found = only(rejudged([[1, 3], [2, 2], [4, 5], [5, 5]]))
    assert found.exact == pytest.approx(0.5)
    assert (found.exact_low, found.exact_high) == pytest.approx(stats.wilson(2, 4))
    assert found.within_sd == pytest.approx(math.sqrt((2 + 0 + 0.5 + 0) / 4))
    assert found.repeatability == pytest.approx(1.96 * math.sqrt(2) * found.within_sd)
    # between-outputs mean square 6.125 from means 2, 2, 4.5, 5
    between = 2 * np.var([2, 2, 4.5, 5], ddof=1)
    assert found.icc == pytest.approx((between - 0.625) / (between + 0.625))
    assert found.mean_range == pytest.approx(0.75)
    assert found.mean_sd == pytest.approx(np.std([3, 3.75], ddof=1))
    assert math.isnan(found.kappa)
    assert math.isnan(found.flips)
    assert "fewer than 10 examples" in found.note


def test_binary_verdicts() -> None:
    table = [[1, 1]] * 40 + [[0, 0]] * 15 + [[1, 0]] * 6 + [[0, 1]] * 3
    found = only(rejudged(table))
    assert found.exact == pytest.approx(55 / 64)
    assert found.flips == pytest.approx(9 / 64)
    assert (found.flips_low, found.flips_high) == pytest.approx(stats.wilson(9, 64))
    share = (46 + 43) / 128
    chance = share**2 + (1 - share) ** 2
    assert found.kappa == pytest.approx((55 / 64 - chance) / (1 - chance))
    assert found.kappa_low < found.kappa < found.kappa_high
    assert found.icc == pytest.approx(found.kappa, abs=0.01)
    runs = repeatability(rejudged(table), repeats="trial").runs
    assert runs["mean"].tolist() == pytest.approx([46 / 64, 43 / 64])
    ends = stats.bonett_price(3, 6, 64)
    assert runs[["delta_low", "delta_high"]].iloc[1].tolist() == pytest.approx(list(ends))


def test_a_threshold_or_passed_makes_a_verdict() -> None:
    scores = rejudged([[0.4, 0.6], [0.8, 0.9], [0.1, 0.2], [0.6, 0.7]], threshold=0.5)
    assert only(scores).flips == pytest.approx(0.25)
    assert only(scores.assign(higher_is_better=False)).flips == pytest.approx(0.25)
    passed = scores.drop(columns="threshold").assign(passed=scores["score"] >= 0.65)
    assert only(passed).flips == pytest.approx(0.25)
    pairwise = scores.drop(columns="threshold").assign(versus="other")
    assert only(pairwise).flips == pytest.approx(0.25)


def test_examples_of_several_systems_are_blocks() -> None:
    one = rejudged([[1, 1]] * 10 + [[1, 0]] * 10 + [[0, 0]] * 10)
    both = pd.concat([one, one.assign(system="other")])
    found = only(both)
    assert (found.n_outputs, found.n_blocks) == (60, 30)
    assert found.exact_interval == "cr2_t"
    shares = np.tile([1.0] * 10 + [0.0] * 10 + [1.0] * 10, 2)
    estimate = stats.cluster_mean(shares, np.tile(np.arange(30), 2))
    assert (found.exact_low, found.exact_high) == pytest.approx((estimate.low, estimate.high))
    single = only(one)
    # the copies add nothing, so nothing gets surer
    assert found.within_sd == pytest.approx(single.within_sd)
    assert (found.within_sd_low, found.icc_low) == pytest.approx(
        (single.within_sd_low, single.icc_low), abs=0.02
    )


def test_repeats_must_be_declared() -> None:
    scores = rejudged([[1, 2], [3, 3]])
    with pytest.raises(TypeError, match="repeats"):
        repeatability(scores)  # type: ignore[call-arg]
    for wrong in ("score", "scorer", "system", "colour"):
        with pytest.raises(PairingError, match="judge has judged the same output") as caught:
            repeatability(scores, repeats=wrong)
        assert caught.value.code == "bad_repeats"
    with pytest.raises(PairingError, match="2 row\\(s\\) have no look"):
        repeatability(scores.assign(look=["1", None, None, "2"]), repeats="look")
    text = repeatability(scores, repeats="trial").conclusion()
    assert "declared that trials are repeats of the judge" in text


def test_trials_of_the_system_are_no_repeats_of_the_judge() -> None:
    """Two answers of the system, each judged in two runs: only runs are repeats."""
    first = rejudged([[1, 5], [2, 4]] * 8, run_id="look-1")
    second = first.assign(run_id="look-2")
    found = only(pd.concat([first, second]), repeats="run_id")
    assert (found.n_outputs, found.within_sd, found.exact) == (32, 0, 1)


def test_a_further_column_numbers_the_repeats() -> None:
    first = rejudged([[1, 5], [2, 4]] * 8, run_id="r1", look="x")
    second = first.assign(run_id="r2", look="y", score=first["score"] + 1)
    result = repeatability(pd.concat([first, second]), repeats="look")
    assert "run_id" not in result.settings["output_keys"]
    assert "trial" in result.settings["output_keys"]
    assert result.table["n_outputs"].iloc[0] == 32
    assert result.runs["delta"].iloc[1] == 1
    clash = pd.concat([first, first.assign(run_id="r2"), second.assign(run_id="r3")])
    with pytest.raises(PairingError, match="share output and look") as caught:
        repeatability(clash, repeats="look")
    assert caught.value.code == "repeated_rows"


def test_the_other_order_is_another_question() -> None:
    scores = rejudged([[1.0, 0.0]] * 5, versus="other")
    scores["position"] = ["first", "second"] * 5
    with pytest.warns(EvalToolkitWarning, match="position"):
        result = repeatability(scores, repeats="trial")
    assert result.table["n_outputs"].iloc[0] == 0
    assert "nothing can be said" in result.conclusion()


@pytest.mark.parametrize(
    "table",
    [
        [[1.0, 1.0]] * 20,
        [[1.0, 1.0], [0.0, 0.0]] * 10,
        [[1.0, 0.0]] * 20,
        [[3.5, 4.5]] * 20,
        [[1.0, 0.0]],
        [[1.0, None], [0.0, 1.0]],
        [[1.0, None]],
        [[2.0, 2.5, 3.0], [1.0, None, 2.0], [4.0, 4.0, None]],
    ],
    ids=["constant", "perfect", "all flip", "shift", "one", "one pair", "none", "gaps"],
)
def test_degenerate_repeats(table: list[list[float | None]]) -> None:
    result = repeatability(rejudged(table), repeats="trial")
    found = result.table.iloc[0]
    for name in ("exact", "flips", "within_sd", "repeatability", "icc", "kappa"):
        low, high = found[f"{name}_low"], found[f"{name}_high"]
        assert math.isnan(low) or low < high
        assert not math.isnan(found[name]) or math.isnan(low)
    assert result.to_markdown()
    assert result.methods()
    assert result._repr_html_()


def test_a_constant_shift_is_drift_with_a_reason_for_no_interval() -> None:
    runs = repeatability(rejudged([[3.5, 4.0]] * 20), repeats="trial").runs
    assert runs["delta"].iloc[1] == pytest.approx(0.5)
    assert math.isnan(runs["delta_low"].iloc[1])
    assert "all differences are equal" in runs["note"].iloc[1]


@settings(deadline=None, max_examples=15)
@given(
    st.lists(st.lists(st.integers(1, 5), min_size=3, max_size=3), min_size=2, max_size=15),
    st.permutations([0, 1, 2]),
)
def test_laws(table: list[list[int]], order: list[int]) -> None:
    scores = rejudged([[float(v) for v in row] for row in table])
    found = only(scores)
    shuffled = only(scores.sample(frac=1, random_state=3))
    pd.testing.assert_series_equal(found, shuffled)
    renamed = only(scores.assign(trial=scores["trial"].map(dict(enumerate(order)))))
    for name in ("exact", "within_sd", "icc", "icc_low", "mean_range"):
        assert renamed[name] == pytest.approx(found[name], nan_ok=True)
    lifted = only(scores.assign(score=scores["score"] + 7))
    assert lifted.within_sd == pytest.approx(found.within_sd)
    assert lifted.icc == pytest.approx(found.icc, nan_ok=True)
