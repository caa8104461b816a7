"""Length bias: known slopes, joins that are stated, what does not meet, no finite answer."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from evaltoolkit.errors import EvalToolkitWarning, PairingError
from evaltoolkit.judging import length_bias
from evaltoolkit.stats.robust import fractional_logit

pytestmark = pytest.mark.filterwarnings("ignore::evaltoolkit.errors.EvalToolkitWarning")


def answers(sizes: dict[str, list[int]], **columns: object) -> pd.DataFrame:
    """Outputs of these lengths in characters, one word each."""
    parts = [
        pd.DataFrame(
            {
                "system": name,
                "example_id": [f"e{i:03d}" for i in range(len(lengths))],
                "output": ["x" * n for n in lengths],
            }
        )
        for name, lengths in sizes.items()
    ]
    return pd.concat(parts, ignore_index=True).assign(**columns)


def preferred(shares: list[float], **columns: object) -> pd.DataFrame:
    """How far a is preferred to b on each example."""
    ids = [f"e{i:03d}" for i in range(len(shares))]
    own = {"system": "a", "versus": "b", "criterion": "better", "scorer": "judge"}
    return pd.DataFrame({"example_id": ids, "score": shares}).assign(**(own | columns))


def lengths(n: int, *, seed: int, shift: float = 0.0) -> list[int]:
    rng = np.random.default_rng(seed)
    return [int(v) for v in np.ceil(np.exp(rng.normal(5 + shift, 0.6, size=n)))]


def simulated(n: int, *, slope: float, intercept: float, seed: int) -> tuple[pd.DataFrame, ...]:
    """A judge whose log-odds grow by `slope` per doubling."""
    rng = np.random.default_rng(seed)
    a, b = lengths(n, seed=seed + 1, shift=0.4), lengths(n, seed=seed + 2)
    x = np.log2(np.divide(a, b))
    won = rng.random(n) < 1 / (1 + np.exp(-intercept - slope * x))
    shares = np.where(rng.random(n) < 0.1, 0.5, won).tolist()
    return preferred(shares), answers({"a": a, "b": b})


def row(scores: pd.DataFrame, outputs: pd.DataFrame, model: str, **options: object) -> pd.Series:
    table = length_bias(scores, outputs, **options).table  # type: ignore[arg-type]
    rows = table[table["model"] == model]
    assert len(rows) == 1
    return rows.iloc[0]


def test_the_pairwise_model_is_a_fractional_logit() -> None:
    scores, outputs = simulated(250, slope=0.9, intercept=-0.2, seed=4)
    found = row(scores, outputs, "pairwise_pair")
    sizes = outputs["output"].str.len().to_numpy()
    x = np.log2(sizes[:250] / sizes[250:])
    fit = fractional_logit(
        np.column_stack([x, np.ones(250)]), scores["score"].to_numpy(), np.arange(250)
    )
    assert found.slope == pytest.approx(fit.estimate[0])
    assert found.slope_low < found.slope < found.slope_high
    assert found.odds_ratio == pytest.approx(math.exp(found.slope))
    assert found.per_sd == pytest.approx(found.slope * np.std(x, ddof=1))
    assert found.p_value < 1e-4
    longer = np.where(x > 0, scores["score"], 1 - scores["score"])[x != 0]
    assert found.longer_higher == pytest.approx(longer.mean())
    everything = row(scores, outputs, "pairwise_all")
    assert everything.slope == pytest.approx(found.slope)


def test_the_rate_at_equal_length_is_the_intercept() -> None:
    """a is worse at equal length but writes more, and so looks better."""
    scores, outputs = simulated(600, slope=1.5, intercept=-0.5, seed=9)
    result = length_bias(scores, outputs)
    rates = result.rates.set_index("estimate")
    assert rates.loc["as_judged", "win_rate"] == pytest.approx(scores["score"].mean())
    assert rates.loc["equal_length", "high"] < 0.5
    assert rates.loc["as_judged", "win_rate"] > rates.loc["equal_length", "win_rate"] + 0.05
    assert "association" in result.conclusion()
    assert "a model and no count" in result.conclusion()
    assert "p_value" not in result.rates.columns


def test_intervals_cover_the_true_slope() -> None:
    inside = 0
    for seed in range(25):
        scores, outputs = simulated(120, slope=0.6, intercept=0.2, seed=100 * seed)
        # ties pull a fractional slope to 0: judge it without them
        scores["score"] = scores["score"].where(scores["score"] != 0.5)
        found = row(scores, outputs, "pairwise_pair")
        inside += found.slope_low <= 0.6 <= found.slope_high
    assert inside >= 22


def test_pairs_have_intercepts_of_their_own() -> None:
    """c always writes more and always wins: no evidence about length, so it is left out."""
    scores, outputs = simulated(150, slope=0.8, intercept=0.0, seed=2)
    long = answers({"c": [900] * 150})
    wins = preferred([1.0] * 150, system="c", versus="a")
    alone = row(scores, outputs, "pairwise_all")
    both = length_bias(pd.concat([scores, wins]), pd.concat([outputs, long]))
    found = both.table[both.table["model"] == "pairwise_all"].iloc[0]
    assert (found.n, found.n_used, found.n_blocks) == (300, 150, 150)
    assert found.slope == pytest.approx(alone.slope)
    pair = both.table[(both.table["model"] == "pairwise_pair") & (both.table["system_b"] == "c")]
    assert math.isnan(pair["slope"].iloc[0])
    assert pair["note"].iloc[0]


def test_both_orders_are_one_comparison() -> None:
    scores, outputs = simulated(80, slope=0.8, intercept=0.0, seed=3)
    second = scores.assign(trial=1, position="second")
    ordered = pd.concat([scores.assign(trial=0, position="first"), second])
    result = length_bias(ordered, outputs)
    assert result.settings["joined_by"] == {"pairwise": ["system", "task", "example_id"]}
    assert (result.table["n"] == 80).all()
    mirrored = scores.assign(system="b", versus="a", score=1 - scores["score"])
    expected = length_bias(scores, outputs).table
    pd.testing.assert_frame_equal(length_bias(mirrored, outputs).table, expected)
    pd.testing.assert_frame_equal(
        length_bias(scores.sample(frac=1, random_state=0), outputs.iloc[::-1]).table, expected
    )


def ratings(n: int = 60, *, seed: int = 0, slope: float = 0.5) -> tuple[pd.DataFrame, ...]:
    """Two systems; b is 1 point better and writes twice as much, and length adds `slope`."""
    rng = np.random.default_rng(seed)
    sizes = {"a": lengths(n, seed=seed), "b": lengths(n, seed=seed + 9, shift=math.log(2))}
    outputs = answers(sizes)
    hard = np.tile(rng.normal(size=n), 2)
    x = np.log2(outputs["output"].str.len().to_numpy())
    noise = rng.normal(size=2 * n, scale=0.3)
    score = slope * x + hard + np.repeat([0.0, 1.0], n) + noise
    scores = outputs[["system", "example_id"]].assign(
        criterion="quality", scorer="judge", score=score
    )
    return scores, outputs


def test_ratings_within_examples_and_systems() -> None:
    """With two systems the second model is the line through the differences of pairs."""
    scores, outputs = ratings()
    apart = row(scores, outputs, "within_examples_and_systems")
    x = np.log2(outputs["output"].str.len().to_numpy()).reshape(2, -1)
    y = scores["score"].to_numpy().reshape(2, -1)
    slope, _ = np.polyfit(x[1] - x[0], y[1] - y[0], 1)
    assert apart.slope == pytest.approx(slope)
    assert apart.slope_low < 0.5 < apart.slope_high
    plain = row(scores, outputs, "within_examples")
    assert plain.slope == pytest.approx(
        np.sum((x[1] - x[0]) * (y[1] - y[0])) / np.sum((x[1] - x[0]) ** 2)
    )
    assert plain.slope > apart.slope_high  # the better system happens to write more
    higher = (x[1] > x[0]) == (y[1] > y[0])
    assert plain.longer_higher == pytest.approx(higher[x[1] != x[0]].mean())


def test_one_system_needs_several_trials() -> None:
    scores, outputs = ratings()
    one = [frame[frame["system"] == "a"] for frame in (scores, outputs)]
    result = length_bias(*one)
    assert result.table["model"].tolist() == ["within_examples"]
    assert math.isnan(result.table["slope"].iloc[0])
    assert "fewer than 10" in result.table["note"].iloc[0]
    assert "p_value" not in result.summary().columns


def test_words_and_columns_measure_length() -> None:
    scores, outputs = ratings()
    counted = outputs.assign(tokens_out=outputs["output"].str.len())
    by_tokens = row(scores, counted, "within_examples", length="tokens_out")
    assert by_tokens.slope == pytest.approx(row(scores, outputs, "within_examples").slope)
    spaced = outputs.assign(output=outputs["output"].str.replace("x", "x y ", regex=False))
    doubled = row(scores, spaced, "within_examples", length="words")
    assert doubled.slope == pytest.approx(by_tokens.slope)
    with pytest.raises(PairingError, match="'characters', 'words', or a column of numbers"):
        length_bias(scores, outputs, length="colour")


def test_what_does_not_meet_is_counted() -> None:
    scores, outputs = ratings()
    holes = outputs.iloc[5:].copy()
    holes.loc[holes.index[:3], "output"] = ""
    scores.loc[scores.index[-4:], "score"] = np.nan
    with pytest.warns(EvalToolkitWarning, match="5 without an output to measure, 3 whose output"):
        result = length_bias(scores, holes)
    found = result.table[result.table["model"] == "within_examples"].iloc[0]
    assert (found.n_no_output, found.n_empty, found.n_not_scored) == (5, 3, 4)
    assert found.n == 120 - 12
    with pytest.raises(PairingError, match="116 row\\(s\\) find no output") as caught:
        length_bias(scores, outputs.assign(system="old " + outputs["system"]))
    assert caught.value.code == "no_common_output"


def test_runs_join_where_they_are_shared() -> None:
    scores, outputs = ratings()
    apart = length_bias(scores.assign(run_id="judge-1"), outputs.assign(run_id="run-1"))
    assert apart.settings["joined_by"] == {"single": ["system", "task", "example_id", "trial"]}
    same = length_bias(scores.assign(run_id="r"), outputs.assign(run_id="r"))
    assert "run_id" in same.settings["joined_by"]["single"]
    pd.testing.assert_frame_equal(apart.table, same.table)
    two = pd.concat([outputs.assign(run_id="run-1"), outputs.assign(run_id="run-2")])
    with pytest.raises(PairingError, match="240 outputs share the key") as caught:
        length_bias(scores.assign(run_id="judge-1"), two)
    assert caught.value.code == "ambiguous_outputs"


def test_attributes_do_not_get_in_the_way() -> None:
    scores, outputs = ratings()
    named = scores.assign(length=1, x="y", block="z", found="no", size=3)
    pd.testing.assert_frame_equal(
        length_bias(named, outputs).table, length_bias(scores, outputs).table
    )


def test_perfect_prediction_has_an_answer() -> None:
    a, b = lengths(40, seed=1), lengths(40, seed=2)
    shares = [float(x > y) for x, y in zip(a, b, strict=True)]
    result = length_bias(preferred(shares), answers({"a": a, "b": b}))
    found = result.table.iloc[0]
    assert found.longer_higher == 1
    assert math.isnan(found.slope)
    assert math.isnan(found.p_value)
    assert "no finite slope" in found.note
    assert "longer answer always wins" in result.conclusion()
    equal = result.rates[result.rates["estimate"] == "equal_length"].iloc[0]
    assert math.isnan(equal.win_rate)
    shorter = length_bias(preferred([1 - s for s in shares]), answers({"a": a, "b": b}))
    assert "shorter answer always wins" in shorter.table["note"].iloc[0]


@pytest.mark.parametrize(
    ("shares", "sizes"),
    [
        ([0.5] * 30, None),
        ([1.0] * 30, None),
        ([1.0, 0.0] * 15, [50] * 30),
        ([1.0], None),
        ([1.0, 0.0, 1.0], None),
    ],
    ids=["all ties", "all one way", "equal lengths", "one", "three"],
)
def test_degenerate_pairwise(shares: list[float], sizes: list[int] | None) -> None:
    n = len(shares)
    a, b = sizes or lengths(n, seed=5), sizes or lengths(n, seed=6)
    result = length_bias(preferred(shares), answers({"a": a, "b": b}))
    for found in result.table.itertuples():
        assert math.isnan(found.slope_low) or found.slope_low < found.slope_high
        assert math.isnan(found.slope_low) == bool(found.note)
        assert math.isnan(found.p_value) == math.isnan(found.slope_low)
    assert result.to_markdown()
    assert result.methods()


def test_degenerate_ratings() -> None:
    scores, outputs = ratings()
    constant = row(scores.assign(score=3.0), outputs, "within_examples")
    assert "do not vary" in constant.note
    assert math.isnan(constant.slope)
    level = answers({"a": [10] * 60, "b": [20] * 60})
    by_system = row(scores, level, "within_examples_and_systems")
    assert "length and system cannot be told apart" in by_system.note
    assert not math.isnan(row(scores, level, "within_examples").slope)
    few = scores.assign(cluster=scores["example_id"].str[-1].astype(int).mod(4).astype(str))
    assert "independent examples or clusters" in row(few, outputs, "within_examples").note


def test_an_extrapolation_says_so() -> None:
    rng = np.random.default_rng(0)
    b = lengths(60, seed=3)
    a = [2 * n + int(k) for n, k in zip(b, rng.integers(0, 200, 60), strict=True)]
    shares = (rng.random(60) < 0.6).astype(float).tolist()
    rates = length_bias(preferred(shares), answers({"a": a, "b": b})).rates
    assert "extrapolation" in rates[rates["estimate"] == "equal_length"]["note"].iloc[0]
