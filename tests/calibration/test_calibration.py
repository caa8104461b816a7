"""The promises of the defaults, by simulation: few data sets here, thousands in the long run."""

from __future__ import annotations

import numpy as np
import pytest

from evaltoolkit import stats
from tests.calibration import designs, table
from tests.calibration.experiments import Experiment, Measured, Promise, broken, run

each_experiment = pytest.mark.parametrize("experiment", table.EXPERIMENTS, ids=lambda e: e.name)


@each_experiment
def test_small(experiment: Experiment) -> None:
    """The promise, widened by the noise of a small run."""
    assert not broken(run(experiment, experiment.small), small=True)


@pytest.mark.long
@each_experiment
def test_long(experiment: Experiment) -> None:
    """The promise itself."""
    assert experiment.full >= 5_000
    assert not broken(run(experiment, experiment.full), small=False)


def measured(value: float, datasets: int, *, limit: bool = False) -> list[Measured]:
    promise = Promise("key", "a method", "error rate", high=0.05, limit=limit)
    return [Measured(promise, value, 0.001, datasets)]


def test_a_broken_promise_is_told() -> None:
    (line,) = broken(measured(0.0501, 10_000), small=False)
    assert line == (
        "a method: error rate 0.0501 (s.e. 0.0010, 10000 data sets), promised: at most 0.05"
    )
    assert not broken(measured(0.05, 10_000), small=False)


def test_a_small_run_gets_two_standard_errors() -> None:
    allowance = 2 * np.sqrt(0.05 * 0.95 / 400)
    assert not broken(measured(0.05 + allowance - 1e-9, 400), small=True)
    assert broken(measured(0.05 + allowance + 1e-9, 400), small=True)


def test_a_known_limit_that_vanished_is_told() -> None:
    assert not broken(measured(0.08, 10_000, limit=True), small=False)
    assert "known limit" in broken(measured(0.04, 10_000, limit=True), small=False)[0]
    assert not broken(measured(0.04, 400, limit=True), small=True)


def test_runs_repeat() -> None:
    experiment = table.EXPERIMENTS[0]
    assert run(experiment, 700) == run(experiment, 700)


def test_a_method_that_is_too_sure_is_caught() -> None:
    """The suite can fail: the normal interval on ten ratings leaves the band of the t interval."""
    rng = np.random.default_rng(3)
    deltas = designs.rating_deltas(designs.latent_pairs(rng, 2_000, 10)[..., 0])
    ends = [stats.paired_z(d) for d in deltas]
    share = float(np.mean([e.low <= 0 <= e.high for e in ends]))
    promise = Promise("z", "paired z", "coverage", low=0.935)
    assert broken([Measured(promise, share, 0.0, 2_000)], small=True)


def test_designs_are_what_they_say() -> None:
    rng = np.random.default_rng(1)
    latent = designs.latent_pairs(rng, 2_000, 50, m=2, criteria=0.5)
    same, moved = designs.rating_deltas(latent), designs.rating_deltas(latent, 0.45)
    assert np.mean(same == 0) == pytest.approx(0.6, abs=0.01)
    assert np.mean(moved) == pytest.approx(float(designs.rating_difference(0.45)), abs=0.01)
    across = np.corrcoef(latent[:, 0].reshape(-1, 2).T)[0, 1]
    assert across == pytest.approx(0.5, abs=0.01)
    assert np.mean(designs.passes(latent, 0.9)) == pytest.approx(0.9, abs=0.005)
    losses = designs.rare_losses(rng, 2_000, 50)
    assert np.mean(losses) == pytest.approx(designs.RARE_LOSSES_MEAN, abs=0.01)


@pytest.mark.parametrize(("n", "groups", "df"), [(50, 10, 6), (100, 20, 12), (300, 30, 15)])
def test_clusters_are_unequal(n: int, groups: int, df: int) -> None:
    sizes = designs.unequal_sizes(n, groups)
    assert sizes.sum() == n
    assert sizes.min() >= 1
    assert sizes.size == groups
    assert stats.satterthwaite_df(sizes) == pytest.approx(df, abs=1.5)


def page_rows() -> list[tuple[str, ...]]:
    lines = table.PAGE.read_text(encoding="utf-8").splitlines()
    cells = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
    rows = [row for row in cells if len(row) == len(table.COLUMNS)]
    return [row for row in rows if row != table.COLUMNS and row[0] != "---"]


def test_the_page_lists_every_promise_of_these_experiments() -> None:
    expected = [
        (one.design, one.n, promise.method, promise.quantity, f"{one.full:,}", promise.band)
        for one in table.EXPERIMENTS
        for promise in one.promises
    ]
    assert [(*row[:4], *row[6:8]) for row in page_rows()] == expected


def test_the_page_hides_no_broken_promise() -> None:
    known = [p.limit for one in table.EXPERIMENTS for p in one.promises]
    for row, limit in zip(page_rows(), known, strict=True):
        assert row[-1] == ("no (known)" if limit else "yes" if row[-2] else "")
