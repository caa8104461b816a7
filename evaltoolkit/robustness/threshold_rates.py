"""`threshold_curve`: pass rates, and their difference, at every threshold that matters."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evaltoolkit import stats
from evaltoolkit.comparison.engine import Choices, analyse
from evaltoolkit.comparison.estimates import (
    Flips,
    Sample,
    choose_interval,
    choose_test,
    interval_at,
    run_test,
)
from evaltoolkit.comparison.families import adjust_family, check_correction
from evaltoolkit.comparison.joint_procedures import Resampling
from evaltoolkit.comparison.options import one_of
from evaltoolkit.comparison.pairing import POOLED
from evaltoolkit.criteria import CriterionInfo, criteria_of
from evaltoolkit.errors import EvalToolkitWarning, PairingError
from evaltoolkit.measurements import cluster_codes, cluster_column, resolve_runs
from evaltoolkit.ranking.options import versions
from evaltoolkit.results import Comparison, ThresholdCurve
from evaltoolkit.robustness import threshold_sentences as sentences
from evaltoolkit.robustness.rebuilding import Rebuilt, samples_of
from evaltoolkit.robustness.threshold_rows import (
    Names,
    absolute_rows,
    one_scorer,
    thresholds_of,
)
from evaltoolkit.scores import check_scores

RATE_COLUMNS = (
    "task", "threshold", "declared", "system", "n_examples", "n_clusters", "n_passed",
    "pass_rate", "ci_low", "ci_high", "interval", "note",
)  # fmt: skip
"""Columns of `ThresholdCurve.table`, in order."""

DIFFERENCE_COLUMNS = (
    "task", "threshold", "declared", "n_pairs", "n_clusters", "rate_baseline", "rate_candidate",
    "delta", "ci_low", "ci_high", "interval", "joint_low", "joint_high", "wins", "losses", "ties",
    "test", "p_value", "p_adjusted", "correction", "direction", "significant",
)  # fmt: skip
"""Columns of `ThresholdCurve.differences`, in order."""

_DRAWS = 10_000


def threshold_curve(  # noqa: PLR0913 - every choice of the analysis is a keyword of its own
    scores: pd.DataFrame,
    *,
    criterion: str,
    baseline: str | None = None,
    candidate: str | None = None,
    systems: Names = None,
    thresholds: Sequence[float] | None = None,
    scorer: str | None = None,
    cluster: str | bool | None = None,
    tasks: Literal["separate", "pooled"] = "separate",
    level: float = 0.95,
    correction: str = "maxt",
    seed: int = 0,
) -> ThresholdCurve:
    """Show how a pass rate, and a verdict built on it, depend on where the bar is set.

    An example passes when the mean of its scored trials reaches the threshold: at least it
    where higher is better, at most it where lower is. (With one trial this is the share of
    trials that pass; with several it is not.) Each system's rate has a Wilson interval, with
    clusters a CR2 interval. With ``baseline`` and ``candidate`` the paired difference at every
    threshold has the Bonett-Price interval and McNemar's mid-p (with clusters CR2 and flips of
    whole clusters), and p-values and intervals that hold jointly over all thresholds and tasks:
    to report the threshold that looks best, use those.

    Args:
        scores: A score table.
        criterion: The criterion to cut.
        baseline: Reference system of the difference; together with `candidate`.
        candidate: System that is judged.
        systems: Systems whose rates to show; by default baseline and candidate, else all.
        thresholds: Where to cut; by default the observed example means, or 21 quantiles of them
            where there are more, and the criterion's own threshold. Cuts that every example
            passes are left out.
        scorer: Which scorer's rows to use; needed where there are several.
        cluster: None uses the column ``cluster`` where it is filled, a name uses that column,
            False treats all examples as independent.
        tasks: ``"separate"`` gives each task a curve, ``"pooled"`` takes the examples of all.
        level: Level of the intervals; the tests use one minus it.
        correction: How p-values are adjusted over thresholds and tasks: ``"maxt"`` or any
            method of `compare`.
        seed: Seed of the random sign flips.

    Returns:
        The `ThresholdCurve`: ``.table`` (rates) and ``.differences``.

    Raises:
        SchemaError: The score table breaks a rule.
        PairingError: Unknown names or options, several scorers, rows against opponents, no
            score at all, or only one of baseline and candidate.

    Source:
        Wilson, 1927; Bonett and Price, 2012; Westfall and Young, 1993.

    Example:
        >>> rows = [(s, i, float(i % 5 + (s == "new" and i % 3 == 0)))
        ...         for s in ("old", "new") for i in range(60)]
        >>> scores = pd.DataFrame(rows, columns=["system", "example_id", "score"])
        >>> curve = threshold_curve(scores.assign(criterion="rating"), criterion="rating",
        ...                         baseline="old", candidate="new")
        >>> curve.differences[["threshold", "delta"]].round(3).values.tolist()
        [[1.0, 0.067], [2.0, 0.067], [3.0, 0.067], [4.0, 0.067], [5.0, 0.067]]
    """
    one_of("tasks", tasks, ("separate", "pooled"))
    methods = check_correction(correction)
    stats.t_interval(0.0, 1.0, 1.0, level=level)
    pair = _pair_of(baseline, candidate)
    table = check_scores(scores)
    rows, names = absolute_rows(table, criterion=criterion, systems=systems or pair or None)
    rows = one_scorer(rows, scorer)
    info = criteria_of(table[table["criterion"] == criterion])[criterion]
    compared = _compared(scores, pair, rows, cluster=cluster, tasks=tasks)
    means = _example_means(rows, cluster_column(rows, cluster), tasks)
    cut = _Cut(info, thresholds_of(means["mean"].to_numpy(), info, given=thresholds), level)
    rates = pd.DataFrame(list(_rate_rows(means, names, cut)), columns=list(RATE_COLUMNS))
    differences = pd.DataFrame(columns=list(DIFFERENCE_COLUMNS))
    if compared is not None:
        how = Resampling(1 - level, _DRAWS, seed)
        differences = _differences(compared, cut, method=methods["overall"], how=how)
    settings = {
        "criterion": info.criterion,
        "scorer": str(rows["scorer"].iloc[0]),
        "baseline": baseline,
        "candidate": candidate,
        "systems": names,
        "thresholds": cut.values.tolist(),
        "declared_threshold": info.threshold,
        "thresholds_from": "given" if thresholds is not None else "observed",
        "higher_is_better": info.higher_is_better,
        "tasks": tasks,
        "cluster": cluster_column(rows, cluster),
        "level": level,
        "correction": methods["overall"],
        "repeated": bool(means["n_trials"].gt(1).any()),
        "seed": seed,
        "versions": versions(),
        "n_not_scored": int((rows.groupby(_EXAMPLE)["score"].count() == 0).sum()),
    }
    return ThresholdCurve(
        rates,
        settings,
        sentences.conclusion(rates, differences, settings),
        sentences.methods(rates, differences, settings),
        differences=differences,
    )


_EXAMPLE = ["system", "task", "example_id"]


@dataclass(frozen=True)
class _Cut:
    """What is cut, where, and the level of the intervals."""

    info: CriterionInfo
    values: NDArray[np.float64]
    level: float

    def passes(self, means: NDArray[np.float64], threshold: float) -> NDArray[np.float64]:
        """Give 1 where a mean reaches the threshold, equality but for rounding included."""
        slack = 1e-9 * abs(threshold)
        reached = means >= threshold - slack
        if not self.info.higher_is_better:
            reached = means <= threshold + slack
        return reached.astype(np.float64)

    def is_declared(self, threshold: float) -> bool:
        """Whether this is the criterion's own threshold."""
        return math.isclose(threshold, self.info.threshold, rel_tol=1e-9)


def _pair_of(baseline: str | None, candidate: str | None) -> list[str]:
    if (baseline is None) != (candidate is None):
        raise PairingError(
            "a difference needs both baseline and candidate; name both, or neither to see pass "
            "rates only",
            code="one_system",
            path="candidate" if candidate is None else "baseline",
        )
    return [] if baseline is None or candidate is None else [str(baseline), str(candidate)]


def _compared(
    scores: pd.DataFrame,
    pair: Sequence[str],
    rows: pd.DataFrame,
    *,
    cluster: str | bool | None,
    tasks: Literal["separate", "pooled"],
) -> Comparison | None:
    """Pair the two systems; only the pairs of the result count."""
    if not pair:
        return None
    choices = Choices(
        baseline=pair[0],
        criteria=str(rows["criterion"].iloc[0]),
        scorers=str(rows["scorer"].iloc[0]),
        by=None,
        cluster=cluster,
        tasks=tasks,
        margin=None,
        primary=None,
        correction="none",
        alpha=0.05,
        test="t",
        interval=None,
        measure="score",
        missing="report",
        runs="error",
        seed=0,
        draws=1,
    )
    with warnings.catch_warnings():
        # What is to be said of clusters is said once, where the rates are computed.
        warnings.simplefilter("ignore", EvalToolkitWarning)
        return analyse(scores, choices, [pair[1]])[0]


def _example_means(
    rows: pd.DataFrame, cluster: str | None, tasks: Literal["separate", "pooled"]
) -> pd.DataFrame:
    """Average the scored trials of each example of each system."""
    scored = resolve_runs(rows, runs="error")
    scored = scored[scored["score"].notna()]
    if scored.empty:
        raise PairingError(
            "no row of the chosen criterion, scorer and systems has a score; see "
            "et.coverage(scores)",
            code="no_score",
            path="criterion",
        )
    grouped = scored.groupby(_EXAMPLE, sort=True)
    means = grouped.agg(mean=("score", "mean"), n_trials=("score", "size")).reset_index()
    if cluster is not None:
        if cluster not in scored.columns:
            raise PairingError(
                f"the table has no column {cluster!r} to group examples by",
                code="unknown_attribute",
                path=cluster,
                value=cluster,
            )
        first = grouped[cluster].first().reset_index()
        means["cluster_code"] = cluster_codes(first, cluster)
    return means.assign(task=POOLED) if tasks == "pooled" else means


def _rate_rows(means: pd.DataFrame, names: Sequence[str], cut: _Cut) -> Iterator[dict[str, Any]]:
    for task, of_task in means.groupby("task", sort=True):
        for threshold in cut.values:
            for name in names:
                part = of_task[of_task["system"] == name]
                head = {
                    "task": task,
                    "threshold": float(threshold),
                    "declared": cut.is_declared(threshold),
                    "system": name,
                }
                yield {**head, **_rate(part, cut, float(threshold))}


def _rate(part: pd.DataFrame, cut: _Cut, threshold: float) -> dict[str, Any]:
    passed = cut.passes(part["mean"].to_numpy(dtype=np.float64), threshold)
    count, n = int(passed.sum()), int(passed.size)
    codes = part["cluster_code"].to_numpy() if "cluster_code" in part.columns else None
    groups = n if codes is None else int(np.unique(codes).size)
    note, interval = "", "wilson"
    if codes is None or groups == n:
        low, high = stats.wilson(count, n, level=cut.level)
    else:
        estimate = stats.cluster_mean(passed, codes, level=cut.level)
        low, high, interval = estimate.low, estimate.high, "cr2_t"
    if not n:
        note, interval = "no scored example", "none"
    elif math.isnan(low):
        note, interval = "the clusters do not vary: no interval", "none"
    return {
        "n_examples": n,
        "n_clusters": groups,
        "n_passed": count,
        "pass_rate": count / n if n else math.nan,
        "ci_low": max(low, 0.0),
        "ci_high": min(high, 1.0),
        "interval": interval,
        "note": note,
    }


def _differences(compared: Comparison, cut: _Cut, *, method: str, how: Resampling) -> pd.DataFrame:
    """Compare the pass rates of paired examples at each threshold, jointly."""
    alpha = 1 - cut.level
    found = [
        (key[0], float(threshold), _cut_sample(rebuilt, cut, float(threshold)))
        for key, rebuilt in samples_of(compared.pairs, compared).items()
        for threshold in cut.values
    ]
    flips = Flips(_DRAWS, _DRAWS, how.seed)
    rows = [_difference(task, value, sample, cut, flips) for task, value, sample in found]
    p_values = np.array([row["p_value"] for row in rows], dtype=np.float64)
    samples = [sample for _, _, sample in found]
    adjusted = adjust_family(samples, p_values, method=method, how=how)
    for k, (row, sample) in enumerate(zip(rows, samples, strict=True)):
        star = float(adjusted.alpha_star[k])
        row["joint_low"], row["joint_high"] = math.nan, math.nan
        if not math.isnan(star) and sample.n:
            row["joint_low"], row["joint_high"] = interval_at(sample, row["interval"], 1 - star)
        row["p_adjusted"] = float(adjusted.p_adjusted[k])
        row["correction"] = adjusted.corrections[k]
        row["significant"] = bool(row["p_adjusted"] <= alpha)
    return pd.DataFrame(rows, columns=list(DIFFERENCE_COLUMNS))


def _cut_sample(rebuilt: Rebuilt, cut: _Cut, threshold: float) -> Sample:
    """Turn a sample of scores into one of passes."""
    sample = rebuilt.sample
    return replace(
        sample,
        criterion=replace(
            sample.criterion, kind="binary", higher_is_better=True, lower_bound=0.0, upper_bound=1.0
        ),
        baseline=cut.passes(sample.baseline, threshold),
        candidate=cut.passes(sample.candidate, threshold),
        single_trial=True,
    )


def _difference(
    task: str, threshold: float, sample: Sample, cut: _Cut, flips: Flips
) -> dict[str, Any]:
    interval = choose_interval(sample, None)
    low, high = interval_at(sample, interval, cut.level)
    tested = run_test(sample, choose_test(sample, None), flips)
    delta = float(sample.deltas.mean()) if sample.n else math.nan
    return {
        "task": task,
        "threshold": threshold,
        "declared": cut.is_declared(threshold),
        "n_pairs": sample.n,
        "n_clusters": sample.n_clusters,
        "rate_baseline": float(sample.baseline.mean()) if sample.n else math.nan,
        "rate_candidate": float(sample.candidate.mean()) if sample.n else math.nan,
        "delta": delta,
        "ci_low": low,
        "ci_high": high,
        "interval": interval if sample.n else "none",
        "wins": sample.positive,
        "losses": sample.negative,
        "ties": sample.n - sample.positive - sample.negative,
        "test": tested.test,
        "p_value": tested.p_value,
        "direction": "better" if delta > 0 else "worse" if delta < 0 else "equal",
    }
