"""`monitor`: evidence that may be looked at after every pair."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from evaltoolkit.comparison import compare, pairing, warning_texts
from evaltoolkit.comparison.options import names_list, one_of, share
from evaltoolkit.errors import EvalToolkitWarning, PairingError, warn
from evaltoolkit.measurements import Runs
from evaltoolkit.results import Comparison
from evaltoolkit.results.monitoring import MONITORING_COLUMNS, Monitoring
from evaltoolkit.robustness import monitor_texts
from evaltoolkit.robustness.arrivals import arrivals_of, in_order
from evaltoolkit.robustness.evidence import Bets, Path, decision, follow, shown_points
from evaltoolkit.robustness.rebuilding import cluster_numbers, example_numbers
from evaltoolkit.scores import check_scores
from evaltoolkit.wording import Row, rows_of

Floats = np.typing.NDArray[np.float64]


def monitor(  # noqa: PLR0913 - every choice of the analysis is a keyword of its own
    scores: pd.DataFrame,
    *,
    baseline: str,
    candidate: str,
    criterion: str | Sequence[str] | None = None,
    scorer: str | Sequence[str] | None = None,
    order: str = "timestamp",
    alpha: float = 0.05,
    correction: Literal["bonferroni", "none"] = "bonferroni",
    prior: float = 1.0,
    tuning: float = 10.0,
    cluster: str | bool | None = None,
    tasks: Literal["separate", "pooled"] = "separate",
    measure: Literal["score", "passed"] = "score",
    runs: Runs = "error",
) -> Monitoring:
    """Follow a comparison while pairs come in: you may look at any time and stop at any time.

    A p-value that is looked at after every few examples finds a difference sooner or later even
    where there is none. The evidence here does not. For 0/1 outcomes (one trial each, no
    clusters) it is an e-value: the wealth of a bet against equal chances of wins and losses among
    the pairs that differ, which exceeds 1/alpha at any time with probability at most alpha if
    there is no difference. For scores with known bounds it is a confidence sequence: intervals
    for the mean difference that hold at all numbers of pairs together. Both cost power against a
    single test at a number of pairs fixed beforehand, the confidence sequence a good deal.

    What must hold: `order`, `prior`, `tuning` and the hypotheses are fixed before the scores are
    seen; the order does not depend on what came out (the time at which parallel runs finish may:
    failures can be quick or slow); pairs are independent. The confidence sequence is for a mean
    that does not drift along the order.

    Args:
        scores: A score table.
        baseline: Name of the reference system.
        candidate: Name of the system that is judged.
        criterion: Name or names to follow; by default all.
        scorer: Name or names of scorers to use; by default all.
        order: ``"timestamp"``, ``"table"`` (rows stand in the order in which they were measured)
            or the name of a column. A pair arrives with the last of its scored rows; pairs that
            arrive together come in the order of their names.
        alpha: Error rate over all hypotheses and all times.
        correction: ``"bonferroni"`` shares alpha between the hypotheses, ``"none"`` gives each
            the whole.
        prior: Both parameters of the Beta mixture of bets; larger bets on small differences.
        tuning: Where the confidence sequence is tightest: it is best near 8 times as many pairs.
        cluster: None uses the column ``cluster`` where it is filled, a name uses that column,
            False treats all examples as independent. Clusters are averaged and count as one
            unit each; they arrive with their last pair.
        tasks: ``"separate"`` or ``"pooled"``, as in `evaltoolkit.compare`.
        measure: ``"score"``, or ``"passed"`` for the scorers' own verdicts.
        runs: What several runs of one measurement mean, as in `evaltoolkit.compare`.

    Returns:
        `Monitoring`: ``.table`` with the evidence along the way, ``.latest``, ``.conclusion()``.

    Raises:
        SchemaError: The score table breaks a rule.
        PairingError: As `evaltoolkit.compare`, or the order is unknown or an outcome.

    Source:
        Ramdas, Grünwald, Vovk and Shafer, Game-theoretic statistics and safe anytime-valid
        inference, 2023; Robbins, Statistical methods related to the law of the iterated
        logarithm, 1970; Howard et al., Time-uniform, nonparametric, nonasymptotic confidence
        sequences, 2021.

    Example:
        >>> import evaltoolkit as et
        >>> rows = [(s, i, float(i % 3 > 0 or (s == "new" and i % 2)))
        ...         for i in range(60) for s in ("old", "new")]
        >>> table = pd.DataFrame(rows, columns=["system", "example_id", "score"])
        >>> scores = et.normalise_scores(table.assign(criterion="correct"))
        >>> seen = monitor(scores, baseline="old", candidate="new", order="table")
        >>> seen.latest[["n", "wins", "losses", "decided_at"]].values.tolist()
        [[60, 10, 0, 46]]
    """
    one_of("correction", correction, ("bonferroni", "none"))
    share("alpha", alpha)
    for name, value in (("prior", prior), ("tuning", tuning)):
        _positive(name, value)
    with warnings.catch_warnings():
        # Warnings about tests and intervals of a finished comparison do not apply here.
        warnings.simplefilter("ignore", EvalToolkitWarning)
        result = compare(
            scores, baseline=baseline, candidate=candidate, criteria=criterion, scorers=scorer,
            cluster=cluster, tasks=tasks, measure=measure, runs=runs, alpha=alpha, test="t",
            correction="none", draws=1,
        )  # fmt: skip
        request = pairing.Request(
            str(baseline), str(candidate), names_list(criterion), names_list(scorer), tasks,
            measure, "report", runs,
        )  # fmt: skip
        rows = pairing.select_rows(check_scores(scores), request)
    alpha_each = alpha / len(result.overall) if correction == "bonferroni" else alpha
    watch = _Watch(result, arrivals_of(rows, order), Bets(alpha_each, prior, tuning))
    table = _typed([line for row in rows_of(result.overall) for line in watch.lines(row)])
    loud = tuple(warning_texts.row_warnings(rows))
    for text in loud:
        warn(text)
    settings: dict[str, Any] = {
        **{name: result.settings[name] for name in _SHARED},
        "alpha": alpha,
        "alpha_each": alpha_each,
        "correction": correction,
        "order": order,
        "prior": prior,
        "tuning": tuning,
        "hypotheses": len(result.overall),
    }
    said = monitor_texts.conclusion(table, settings)
    return Monitoring(table, settings, said, monitor_texts.methods(table, settings), warnings=loud)


_SHARED = ("baseline", "candidate", "cluster", "tasks", "measure", "runs", "versions")


def _positive(name: str, value: float) -> None:
    if not (value > 0 and math.isfinite(value)):
        raise PairingError(
            f"{name} is {value!r}; it must be a positive number, fixed before the scores are seen",
            code="bad_option",
            path=name,
            value=value,
        )


@dataclass(frozen=True)
class _Watch:
    """The pairs of a comparison, when they arrived, and how evidence is gathered."""

    result: Comparison
    arrivals: pd.DataFrame
    bets: Bets

    def lines(self, row: Row) -> list[dict[str, Any]]:
        """Give the rows of the table for one hypothesis."""
        head = {name: row[name] for name in pairing.HYPOTHESIS}
        pairs = self._pairs(row)
        if not len(pairs):
            return [{**_nothing(head), "alpha_each": self.bets.alpha, "note": "no usable pair"}]
        units, clustered = self._units(pairs)
        single = not (pairs[["n_trials_baseline", "n_trials_candidate"]] > 1).any(axis=None)
        binary = row["kind"] == "binary" and single and not clustered
        span, why = _span(row, pairs)
        better = units if row["higher_is_better"] else -units
        path = follow(units, better, self.bets, binary=binary, span=span)
        by = "e_value" if binary else ("confidence_sequence" if span > 0 else "none")
        at = decision(path, alpha=self.bets.alpha, by_e_value=binary) if by != "none" else None
        constant = {
            **head,
            "unit": "cluster" if clustered else "pair",
            "alpha_each": self.bets.alpha,
            "decided_by": by,
            "decided_at": at,
            "direction": float(np.sign(path.delta[at - 1])) if at else math.nan,
            "note": "; ".join(filter(None, [_no_bet(row, single, clustered=clustered), why])),
        }
        return [{**constant, **_at(path, int(n))} for n in shown_points(path.n, at)]

    def _pairs(self, row: Row) -> pd.DataFrame:
        pairs = self.result.pairs
        chosen = np.ones(len(pairs), dtype=bool)
        for name in pairing.HYPOTHESIS:
            chosen &= (pairs[name] == row[name]).to_numpy()
        own = pairs[chosen]
        if "task_of_example" not in own.columns:
            own = own.assign(task_of_example=own["task"])
        keys = [*pairing.HYPOTHESIS, *pairing.UNIT]
        return in_order(own, self.arrivals, keys)

    def _units(self, pairs: pd.DataFrame) -> tuple[Floats, bool]:
        """Give differences in the order of arrival; those of a cluster averaged into one."""
        values = pairs["delta"].to_numpy(dtype=np.float64)
        codes = cluster_numbers(pairs, example_numbers(pairs), self.result)
        if codes is None or np.unique(codes).size == codes.size:
            return values, False
        last = {code: place for place, code in enumerate(codes.tolist())}
        sums = pd.Series(values).groupby(codes).mean()
        return sums.loc[sorted(last, key=last.__getitem__)].to_numpy(dtype=np.float64), True


def _span(row: Row, pairs: pd.DataFrame) -> tuple[float, str]:
    """Return the width of the scale, or NaN and why it cannot be relied on."""
    low, high = float(row["lower_bound"]), float(row["upper_bound"])
    if not (math.isfinite(low) and math.isfinite(high)):
        return math.nan, (
            "no confidence sequence: the bounds of the criterion are not known (declare "
            "lower_bound and upper_bound)"
        )
    scores = pairs[["baseline", "candidate"]].to_numpy(dtype=np.float64)
    if scores.min() < low or scores.max() > high:
        return math.nan, f"no confidence sequence: scores leave the bounds {low:g} to {high:g}"
    return high - low, ""


def _no_bet(row: Row, single: bool, *, clustered: bool) -> str:
    if clustered:
        return (
            "no e-value: it needs independent pairs; clusters were averaged, so delta is the mean "
            "over clusters, equally weighted"
        )
    if row["kind"] != "binary":
        return "no e-value: scores are not 0/1"
    return "" if single else "no e-value: several trials of an example are no 0/1 outcome"


def _at(path: Path, n: int) -> dict[str, Any]:
    values: Mapping[str, Any] = {
        name: getattr(path, name)[n - 1].item()
        for name in ("wins", "losses", "delta", "e_value", "p_anytime", "low", "high")
    }
    return {"n": n, **values}


def _nothing(head: dict[str, Any]) -> dict[str, Any]:
    empty = dict.fromkeys(("delta", "e_value", "p_anytime", "low", "high", "direction"), math.nan)
    return {
        **head, **empty, "unit": "pair", "n": 0, "wins": 0, "losses": 0,
        "decided_by": "none", "decided_at": None,
    }  # fmt: skip


def _typed(lines: list[dict[str, Any]]) -> pd.DataFrame:
    table = pd.DataFrame(lines, columns=list(MONITORING_COLUMNS))
    texts = ("task", "criterion", "scorer", "unit", "decided_by", "note")
    floats = ("delta", "e_value", "p_anytime", "low", "high", "alpha_each", "direction")
    return table.astype(
        {
            **dict.fromkeys(texts, "str"),
            **dict.fromkeys(floats, "float64"),
            **dict.fromkeys(("n", "wins", "losses"), "int64"),
            "decided_at": "Int64",
        }
    )
