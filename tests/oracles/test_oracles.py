"""Every fact of the paired data sets' oracles comes out of the public functions.

The expected numbers were computed outside this project, with SciPy and statsmodels, and are read
from the file beside the data. A reproduction returns all facts of one oracle in the oracle's own
shape, so that a fact that is not reproduced is a missing key and not a silence.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import evaltoolkit as et
from evaltoolkit import stats
from tests.oracles import agents, coding, judging
from tests.oracles.reproducing import leaves

pytestmark = pytest.mark.filterwarnings("ignore::evaltoolkit.EvalToolkitWarning")

FACTS = {**coding.FACTS, **judging.FACTS, **agents.FACTS}
TOLERANCE = 1e-9

OTHER_CONVENTION = {
    ("swebench_pairs", f"{coding.SWEBENCH_PAIRS[2][0]} vs {coding.SWEBENCH_PAIRS[2][1]}"): 35,
    ("tau2", "retail"): 6,
}
"""Pairs with equally many wins and losses (how many), where the oracle's continuity correction
takes a distance of 0 to 1 and p below 1. R and this project never correct beyond 0."""

RANKED_ROUNDING = {
    **{("tb2", f"{a} vs {b}"): (coding.terminal_bench, a, b) for a, b in coding.TB2_PAIRS},
    ("tbcore_pair",): (coding.terminal_bench_core, *coding.TBCORE_PAIR),
    ("alpaca_pair_claude2_vs_2.1",): (judging.alpaca_win, "claude-2", "claude-2.1"),
}
"""Pairs (score table, candidate, baseline) whose oracle ranks .6 - .4 above .8 - .6, which differ
by the rounding of binary arithmetic only. Here such differences tie (relative 1e-9)."""


@pytest.fixture(scope="module")
def folder(shared_data: Path) -> Path:
    return shared_data / "paired"


@pytest.fixture(scope="module")
def oracles(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "oracles.json").read_text("utf-8"))


@cache
def reproduced(key: str, folder: Path) -> Any:
    return FACTS[key](folder)


def excused(path: tuple[str, ...]) -> bool:
    return (path[:-1] in OTHER_CONVENTION and path[-1] == "mcnemar_chi2_cc_p") or (
        path[:-1] in RANKED_ROUNDING and path[-1] == "wilcoxon_p"
    )


def differing(found: Any, expected: Any, key: str) -> Iterator[str]:
    """Tell every number that is not the oracle's, and every one that only one side has."""
    here, there = dict(leaves(found, (key,))), dict(leaves(expected, (key,)))
    yield from (f"{path} is on one side only" for path in sorted(here.keys() ^ there.keys()))
    for path in here.keys() & there.keys():
        if not excused(path) and not same(here[path], there[path]):
            yield f"{path}: {here[path]!r}, expected {there[path]!r}"


def same(found: Any, expected: Any) -> bool:
    if isinstance(expected, str):
        return bool(found == expected)
    return math.isclose(found, expected, rel_tol=TOLERANCE, abs_tol=0 if expected else 1e-12)


def test_every_oracle_is_reproduced(oracles: Mapping[str, Any]) -> None:
    assert set(FACTS) == set(oracles)


@pytest.mark.parametrize("key", FACTS)
def test_oracle(key: str, folder: Path, oracles: Mapping[str, Any]) -> None:
    assert not list(differing(reproduced(key, folder), oracles[key], key))


@pytest.mark.parametrize("key", FACTS)
def test_a_number_one_percent_off_is_told(
    key: str, folder: Path, oracles: Mapping[str, Any]
) -> None:
    """The comparison can fail, on every single number."""
    expected = list(leaves(oracles[key], (key,)))
    numbers = [path for path, value in expected if not isinstance(value, str) and value != 0]
    told = "\n".join(differing(reproduced(key, folder), scaled(oracles[key], 1.01), key))
    assert all(str(path) in told for path in numbers if not excused(path))


def scaled(tree: Any, factor: float) -> Any:
    if isinstance(tree, Mapping):
        return {key: scaled(value, factor) for key, value in tree.items()}
    if isinstance(tree, list):
        return [scaled(value, factor) for value in tree]
    return tree if isinstance(tree, str) else tree * factor


@pytest.mark.parametrize(("path", "each"), OTHER_CONVENTION.items())
def test_what_is_excused_is_the_correction_beyond_zero(
    path: tuple[str, str], each: int, folder: Path, oracles: Mapping[str, Any]
) -> None:
    oracle, ours = oracles[path[0]][path[1]], reproduced(path[0], folder)[path[1]]
    assert oracle["only_a"] == oracle["only_b"] == each
    # |b - c| - 1 = -1, squared and divided by b + c; half a chi-square is erfc
    beyond = math.erfc(math.sqrt(1 / (2 * each) / 2))
    assert oracle["mcnemar_chi2_cc_p"] == pytest.approx(beyond, rel=1e-9)
    assert ours["mcnemar_chi2_cc_p"] == 1.0


@pytest.mark.parametrize("path", RANKED_ROUNDING, ids=lambda path: path[-1])
def test_what_is_excused_are_ranks_of_rounding(
    path: tuple[str, ...], folder: Path, oracles: Mapping[str, Any]
) -> None:
    from scipy.stats import wilcoxon

    table, candidate, baseline = RANKED_ROUNDING[path]
    result = et.compare(table(folder), candidate=candidate, baseline=baseline, missing="as_failure")
    raw = (result.pairs["candidate"] - result.pairs["baseline"]).to_numpy()
    oracle, ours = oracles[path[0]], reproduced(path[0], folder)
    for key in path[1:]:
        oracle, ours = oracle[key], ours[key]
    options = {"zero_method": "wilcox", "method": "approx"}
    assert wilcoxon(raw, **options).pvalue == pytest.approx(oracle["wilcoxon_p"], rel=1e-9)
    assert wilcoxon(raw.round(7), **options).pvalue == pytest.approx(ours["wilcoxon_p"], rel=1e-9)


@pytest.mark.parametrize(
    ("method", "significant"),
    [("none", 231), ("bonferroni", 192), ("holm", 199), ("fdr_bh", 231), ("fdr_by", 212)],
)
def test_276_pairs_of_swebench(method: str, significant: int, folder: Path) -> None:
    """Counts at 5 % of the exact McNemar tests of 24 systems, computed outside this project."""
    pairs = coding.ranking_of_24(folder).pairs
    counts = zip(pairs["wins"], pairs["losses"], strict=True)
    adjusted = stats.adjust([stats.mcnemar_exact(*pair) for pair in counts], method=method)
    assert len(adjusted) == 276
    assert int((adjusted < 0.05).sum()) == significant
