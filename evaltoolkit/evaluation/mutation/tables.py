"""From the runs of mutators to their tables, totals and sentences."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evaltoolkit.evaluation.mutation import rows
from evaltoolkit.evaluation.mutation.mutator_runs import MutatorRun
from evaltoolkit.evaluation.records import ExampleIndex
from evaltoolkit.formatting import counted
from evaltoolkit.results.mutators import MutatorEvaluation
from evaltoolkit.schema import DETAILS, OUTPUTS, normalise
from evaltoolkit.scorers.state.confidences import calibrate_confidences
from evaltoolkit.scorers.state.interpretive import Ties
from evaltoolkit.scores import check_scores

_TEXT, _COUNT, _FLAG, _NUMBER = "str", "Int64", "boolean", "float64"

_KEY = {**dict.fromkeys(("run_id", "system", "task", "example_id"), _TEXT), "trial": "int64"}
_RUNS = {
    **dict.fromkeys(("model", "prompt_rev", "prompt_digest", "message_id"), _TEXT),
    **dict.fromkeys(("n_pre", "n_expected", "n_actual"), _COUNT),
    **dict.fromkeys(("matching", "mismatched", "missing", "extra"), _COUNT),
    **dict.fromkeys(("leaf_correct", "leaf_wrong", "leaf_missing", "leaf_extra"), _COUNT),
    **dict.fromkeys(("accuracy", "precision", "recall", "f1", "jaccard"), _NUMBER),
    "overall_match": _FLAG, "value_match": _FLAG, "time_s": _NUMBER,
    **dict.fromkeys(("status", "error_stage", "error_type", "error"), _TEXT),
}  # fmt: skip
_FIELDS = {
    "path": _TEXT, "depth": "int64", **dict.fromkeys(
        ("is_leaf", "in_pre", "in_expected", "in_actual"), _FLAG),
    **dict.fromkeys(("class", "leaf_class", "expected_value", "expected_type", "actual_value",
                     "actual_type"), _TEXT),
    "value_equal": _FLAG, "expected_conf": _NUMBER, "actual_conf": _NUMBER, "conf_diff": _NUMBER,
    **dict.fromkeys(("conf_equal", "changed_vs_pre", "should_change"), _FLAG),
    "difference": _TEXT,
}  # fmt: skip
_TRANSITIONS = dict.fromkeys(
    ("path", "pre_value", "pre_type", "expected_value", "expected_type", "actual_value",
     "actual_type", "outcome"), _TEXT,
)  # fmt: skip
_CANDIDATES = {
    "side": _TEXT, "path": _TEXT, "index": "int64", "value": _TEXT, "value_type": _TEXT,
    "confidence": _NUMBER, "rank": "int64",
    **dict.fromkeys(("is_best", "tied_with_best", "new_in_this_run"), _FLAG),
}  # fmt: skip
_INFERENCES = {
    **dict.fromkeys(("path", "content", "mutator_id", "message_id"), _TEXT),
    "belongs_to_best": _FLAG,
}
_SCORES = (
    *_KEY, "criterion", "scorer", "score", "passed", "status", "message", *rows.FACTS,
)  # fmt: skip
_OUTPUTS = (
    *_KEY, "input", "output", "reference", "error", "cost_usd", "tokens_in", "tokens_out",
    "latency_s",
)  # fmt: skip
_DETAILS = (*_KEY, "criterion", "scorer", "details")
_EXTRACTIONS = {
    "index": _COUNT, **dict.fromkeys(("raw_path", "raw_value", "raw_confidence"), _TEXT),
    "valid": _FLAG, "error_kind": _TEXT, "error": _TEXT,
}  # fmt: skip

_LONG = {
    "fields": _FIELDS,
    "transitions": _TRANSITIONS,
    "candidates": _CANDIDATES,
    "inferences": _INFERENCES,
    "extractions": _EXTRACTIONS,
}


class RunRows(NamedTuple):
    """The rows of one run, taken at once: a mutator may change its state again later."""

    key: rows.Row
    run: rows.Row
    scores: list[rows.Row]
    output: rows.Row
    details: list[rows.Row]
    long: Mapping[str, list[rows.Row]]
    claims: list[tuple[float, bool]]

    @classmethod
    def of(cls, run: MutatorRun, *, run_id: str, ties: Ties, compatible: bool = False) -> RunRows:
        """Take the rows of a run; where its state cannot be shown, those of a broken one."""
        try:
            return cls._shown(run, run_id, ties, compatible=compatible)
        except Exception as error:  # a state of the mutator's own kind may do anything
            bare = MutatorRun(run.case, run.mutator, run.trial, time_s=run.time_s)
            return cls._shown(bare.broken("compare", error), run_id, ties, compatible=compatible)

    @classmethod
    def _shown(cls, run: MutatorRun, run_id: str, ties: Ties, *, compatible: bool) -> RunRows:
        return cls(
            key=rows.key_of(run, run_id),
            run=rows.run_row(run, compatible=compatible),
            scores=list(rows.score_rows(run, compatible=compatible)),
            output=rows.output_row(run),
            details=list(rows.detail_rows(run)),
            long={
                "fields": list(rows.field_rows(run)),
                "transitions": list(rows.transition_rows(run)),
                "candidates": list(rows.candidate_rows(run, ties)),
                "inferences": list(rows.inference_rows(run, ties)),
                "extractions": list(rows.extraction_rows(run)),
            },
            claims=run.compared.claims if run.compared else [],
        )


def mutator_evaluation(
    runs: Sequence[RunRows],
    known: ExampleIndex,
    *,
    run_id: str,
    settings: Mapping[str, Any],
) -> MutatorEvaluation:
    """Make the tables of all runs, in the given order.

    Args:
        runs: The runs.
        known: The cases as examples, for their attributes and clusters.
        run_id: Name of the run.
        settings: Every choice that shaped the numbers.
    """
    table = _keyed([{**run.key, **run.run} for run in runs], _RUNS)
    reliability, calibration = _calibrated(runs, settings["mutators"], settings["bins"])
    totals = pd.DataFrame(
        [{"system": name, **_total(table[table["system"] == name], numbers)}
         for name, numbers in calibration.items()]
    )  # fmt: skip
    return MutatorEvaluation(
        _described(table, runs, known, taken=set(table.columns)),
        settings,
        "\n".join(
            _sentence(row, compatible=settings["compatible"]) for row in totals.to_dict("records")
        ),
        _methods(settings),
        totals=totals,
        scores=_scores(runs, known),
        outputs=_outputs(runs, known),
        details=_details(runs),
        fields=_long(runs, "fields"),
        transitions=_long(runs, "transitions"),
        candidates=_long(runs, "candidates"),
        inferences=_long(runs, "inferences"),
        extractions=_long(runs, "extractions"),
        reliability=reliability,
        run_id=run_id,
    )


def _keyed(records: Sequence[rows.Row], dtypes: Mapping[str, str]) -> pd.DataFrame:
    columns = {**_KEY, **dtypes}
    return pd.DataFrame(records, columns=list(columns)).astype(columns)


def _long(runs: Sequence[RunRows], name: str) -> pd.DataFrame:
    return _keyed([{**run.key, **row} for run in runs for row in run.long[name]], _LONG[name])


def _scores(runs: Sequence[RunRows], known: ExampleIndex) -> pd.DataFrame:
    records = [{**run.key, **row} for run in runs for row in run.scores]
    repeated = [run for run in runs for _ in run.scores]
    return check_scores(_described(pd.DataFrame(records, columns=_SCORES), repeated, known))


def _outputs(runs: Sequence[RunRows], known: ExampleIndex) -> pd.DataFrame:
    frame = pd.DataFrame([{**run.key, **run.output} for run in runs], columns=_OUTPUTS)
    return normalise(_described(frame, runs, known, taken=set(OUTPUTS.known)), OUTPUTS)


def _details(runs: Sequence[RunRows]) -> pd.DataFrame:
    records = [{**run.key, **row} for run in runs for row in run.details]
    return normalise(pd.DataFrame(records, columns=_DETAILS), DETAILS)


def _described(
    frame: pd.DataFrame,
    runs: Sequence[RunRows],
    known: ExampleIndex,
    *,
    taken: Collection[str] = (),
) -> pd.DataFrame:
    """Add cluster and attributes of the cases."""
    cases = [known.by_key[run.key["task"], run.key["example_id"]] for run in runs]
    if any(case.cluster is not None for case in known.by_key.values()):
        frame["cluster"] = pd.Series([case.cluster for case in cases], dtype="str")
    for name in known.attributes:
        column = f"attribute_{name}" if name in taken else name
        frame[column] = [case.attributes.get(name) for case in cases]
    return frame


def _calibrated(
    runs: Sequence[RunRows], mutators: Iterable[str], bins: int
) -> tuple[pd.DataFrame, dict[str, Mapping[str, float]]]:
    claims: dict[str, list[tuple[float, bool]]] = {name: [] for name in mutators}
    for run in runs:
        claims[run.key["system"]] += run.claims
    parts: list[pd.DataFrame] = []
    numbers: dict[str, Mapping[str, float]] = {}
    for name, made in claims.items():
        got = calibrate_confidences(
            [stated for stated, _ in made], [right for _, right in made], bins=bins
        )
        parts.append(got.table.assign(system=name))
        numbers[name] = {
            "n_claims": got.n,
            "n_claims_left_out": got.n_left_out,
            "brier": got.brier,
            "brier_constant": got.brier_constant,
            "ece": got.ece,
        }
    filled = [part for part in parts if len(part)] or parts[:1]
    table = pd.concat(filled, ignore_index=True)
    return table[["system", *table.columns.drop("system")]], numbers


def _total(part: pd.DataFrame, calibration: Mapping[str, float]) -> rows.Row:
    done = part[part["status"] == "ok"]
    sums = {
        column: int(done[column].sum())
        for column in (
            "matching", "mismatched", "missing", "extra",
            "leaf_correct", "leaf_wrong", "leaf_missing", "leaf_extra",
        )
    }  # fmt: skip
    hits, wrong = sums["leaf_correct"], sums["leaf_wrong"]
    missing, extra = sums["leaf_missing"], sums["leaf_extra"]
    expected = sums["matching"] + sums["mismatched"] + sums["missing"]
    times = part["time_s"].dropna().to_numpy()
    return {
        "n_runs": len(part),
        "n_errors": len(part) - len(done),
        "n_vacuous": int((done[["matching", "mismatched", "missing"]].sum(axis=1) == 0).sum()),
        "overall_match": _ratio(int(done["overall_match"].sum()), len(done)),
        "value_match": _ratio(int(done["value_match"].sum()), len(done)),
        **sums,
        "accuracy": _ratio(sums["matching"], expected),
        "precision": _ratio(hits, hits + wrong + extra),
        "recall": _ratio(hits, hits + wrong + missing),
        "f1": _ratio(2 * hits, 2 * hits + 2 * wrong + missing + extra),
        "jaccard": _ratio(hits, hits + wrong + missing + extra),
        "mean_accuracy": float(done["accuracy"].mean()) if len(done) else math.nan,
        **calibration,
        "n_timed": len(times),
        "time_median_s": float(np.median(times)) if len(times) else math.nan,
        "time_p95_s": float(np.quantile(times, 0.95)) if len(times) else math.nan,
    }


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def _sentence(row: Mapping[Any, Any], *, compatible: bool) -> str:
    done = row["n_runs"] - row["n_errors"]
    text = f"{row['system']}: {counted(row['n_runs'], 'run')}, {row['n_errors']} of them broke"
    if not done:
        return f"{text}; there is nothing to measure."
    matches = round(row["overall_match"] * done)
    text += f"; {matches} of {done} matched in every path"
    if row["recall"] == row["recall"]:
        due = row["leaf_correct"] + row["leaf_wrong"] + row["leaf_missing"]
        text += f", and {row['leaf_correct']} of {due} expected values were right"
    text += f", with {counted(row['leaf_extra'], 'value')} that nothing asked for"
    if row["n_vacuous"]:
        what = "counted as an accuracy of 0, as in langstate" if compatible else "without accuracy"
        text += f"; {counted(row['n_vacuous'], 'run')} expected nothing, {what}"
    return f"{text}."


def _methods(settings: Mapping[str, Any]) -> str:
    tolerance = settings["confidence_tol"]
    return (
        "Each mutator ran on a copy of the state before. Paths were classed as langstate does "
        "(matching, mismatched, missing, extra; nodes without a value count, confidences must be "
        "equal), and, over the paths that hold a value, as correct, wrong, missing or extra by "
        "the value alone. Precision, recall, F1 and the Jaccard index of a mutator are those of "
        "its summed counts. Runs that broke are counted as errors and are in no ratio. "
        f"Confidences count as equal within {tolerance:g}. The Brier score and the calibration "
        "error are over the values that came out with a confidence from 0 to 1 and did not stand "
        "so before (a confidence below 0 is no probability); a value that nothing asked for "
        "counts as wrong. Times are by a monotonic clock, without copying and "
        "comparing, runs that broke included; they are observations of a latency and no criterion."
    )
