"""`calibrate`: means that a judge gave, corrected by labels of people."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Literal

import numpy as np
import pandas as pd

from evaltoolkit import stats
from evaltoolkit.criteria import criteria_of
from evaltoolkit.errors import PairingError, listed, warn
from evaltoolkit.judging import calibration_texts as texts
from evaltoolkit.judging.arms import (
    PPI_FROM,
    TUNED_FROM,
    Arm,
    Estimate,
    Row,
    corrected_mean,
    judge_bias,
    judge_errors,
    plain_mean,
    unlike_the_rest,
)
from evaltoolkit.judging.differences_of_arms import (
    bias_difference,
    corrected_difference,
    difference_of_means,
)
from evaltoolkit.judging.selection import (
    EXAMPLE,
    block_codes,
    criterion_rows,
    independent_clusters,
    need_absolute,
    two_names,
    versions,
)
from evaltoolkit.measurements import rows_named
from evaltoolkit.results.judging import Calibration
from evaltoolkit.schema import rows_text
from evaltoolkit.stats.checks import choice, fraction

COLUMNS = (
    "task", "quantity", "system", "n_examples", "n_labelled", "n_both", "n_units", "n_judge_lost",
    "estimate", "se", "df", "ci_low", "ci_high", "interval", "method", "weight", "p_value",
    "p_adjusted", "human_mean", "human_low", "human_high", "human_interval",
    "judge_mean", "judge_low", "judge_high", "judge_interval",
    "judge_bias", "bias_low", "bias_high", "p_bias", "p_labelled_like_rest",
    *(f"{n}{end}" for n in ("sensitivity", "specificity") for end in ("", "_low", "_high")),
    "n_sensitivity", "n_specificity", "note",
)  # fmt: skip
_TEXT = (
    "task", "quantity", "system", "interval", "method", "human_interval", "judge_interval", "note",
)  # fmt: skip
_COUNTS = ("n_examples", "n_labelled", "n_both", "n_units", "n_judge_lost")
POOLED = "(pooled)"


def calibrate(  # noqa: PLR0913 - every choice of the analysis is a keyword of its own
    scores: pd.DataFrame,
    *,
    criterion: str,
    judge: str,
    human: str = "human",
    baseline: str | None = None,
    candidate: str | None = None,
    tasks: Literal["separate", "pooled"] = "separate",
    cluster: str | bool | None = None,
    alpha: float = 0.05,
) -> Calibration:
    """Correct a judge's means, and the difference of two systems, by labels of people.

    The estimand is the mean score that people would give, over examples, equally weighted. From
    50 labelled examples up it is estimated by prediction-powered inference with t intervals,
    from 100 up with the judge's weight chosen from the data, below 50 from the labels alone.
    Labelled examples must be a random sample of all; a test compares the judge's scores of
    both. In a difference each system is corrected by its own labels: that the judge's bias
    cancels is never assumed but estimated (``judge_bias`` of the difference row).

    Args:
        scores: A score table in which the criterion has the judge and people as scorers; see
            `attach_labels`.
        criterion: Name of the criterion.
        judge: Name of the scorer to correct.
        human: Name of the scorer that counts as true.
        baseline: Reference system of the difference.
        candidate: System that is compared with it; name both or none.
        tasks: ``"separate"`` gives rows for each task, ``"pooled"`` takes all examples together.
        cluster: None uses the column ``cluster`` where it is filled, a name uses that column,
            False treats all examples as independent. The limits of 50 and 100 count clusters.
        alpha: Intervals have level 1 - alpha.

    Returns:
        The `Calibration`: ``.table``, ``.examples``, ``.conclusion()``, ``.methods()``.

    Raises:
        SchemaError: The score table breaks a rule.
        PairingError: Unknown names, several runs of one output, pairwise rows.

    Source:
        Angelopoulos et al., Prediction-powered inference, 2023; Angelopoulos, Duchi and
        Zrnic, PPI++, 2023.

    Example:
        >>> truth = [float(i % 5 > 0) for i in range(300)]
        >>> said = [1.0 if i % 7 == 0 else t for i, t in enumerate(truth)]
        >>> ids = [*range(300), *range(60)]
        >>> table = pd.DataFrame({"system": "a", "example_id": ids, "criterion": "correct",
        ...     "scorer": ["judge"] * 300 + ["human"] * 60, "score": [*said, *truth[:60]]})
        >>> result = calibrate(table, criterion="correct", judge="judge")
        >>> result.table[["judge_mean", "estimate", "method"]].round(3).values.tolist()
        [[0.83, 0.796, 'ppi']]
    """
    choice(tasks, ["separate", "pooled"], name="tasks")
    level = 1 - fraction(alpha, name="alpha")
    two_names(judge, human, what="judge and human")
    rows = criterion_rows(scores, criterion)
    info = criteria_of(rows)[criterion]
    rows = rows_named(rows, "scorer", [judge, human])
    need_absolute(rows)
    pair = _pair(rows, baseline, candidate)
    rows = rows_named(rows, "system", pair or rows["system"].unique())
    clusters = independent_clusters(rows, cluster)
    examples = _examples(rows, clusters, judge=judge, human=human)
    arm_of = partial(Arm, dependent=clusters is not None, binary=info.kind == "binary", level=level)
    group = "task" if tasks == "separate" else "group"
    table = _table(
        [
            row
            for task, part in examples.assign(group=POOLED).groupby(group, sort=True)
            for row in _task_rows(str(task), part, pair, arm_of)
        ]
    )
    settings = {
        "criterion": criterion,
        "kind": f"{info.kind} ({info.kind_from})",
        "higher_is_better": info.higher_is_better,
        "judge": judge,
        "human": human,
        "baseline": baseline,
        "candidate": candidate,
        "tasks": tasks,
        "by_cluster": clusters is not None,
        "alpha": alpha,
        "ppi_from": PPI_FROM,
        "tuned_from": TUNED_FROM,
        "versions": versions(),
    }
    notes = tuple(texts.cautions(table, settings))
    for note in notes:
        warn(note)
    return Calibration(
        table,
        settings,
        texts.conclusion(table, settings),
        texts.methods(table, settings),
        warnings=notes,
        examples=examples.reset_index(drop=True),
    )


def _pair(rows: pd.DataFrame, baseline: str | None, candidate: str | None) -> list[str]:
    if baseline is None and candidate is None:
        return []
    if baseline is None or candidate is None:
        raise PairingError(
            "a difference needs both baseline= and candidate=; name both, or none for the means "
            f"of all systems ({listed(sorted(rows['system'].unique()))})",
            code="bad_option",
            path="candidate" if candidate is None else "baseline",
        )
    two_names(baseline, candidate, what="baseline and candidate")
    return [baseline, candidate]


def _examples(
    rows: pd.DataFrame, clusters: pd.Series | None, *, judge: str, human: str
) -> pd.DataFrame:
    """Average the trials of each example, by what people and judge scored."""
    output = ["system", *EXAMPLE, "trial"]
    keyed = rows.set_index(["run_id", *output, "scorer"])["score"].unstack("scorer").sort_index()
    wide = keyed[[judge, human]].set_axis(["judge", "human"], axis=1).reset_index()
    several = wide.duplicated(output, keep=False)
    if several.any():
        runs = listed(sorted(wide.loc[several, "run_id"].unique()))
        raise PairingError(
            f"{int(wide.loc[several, output].drop_duplicates().shape[0])} output(s) occur in "
            f"several runs ({runs}): {rows_text(wide[several], ['run_id', *output])}; labels "
            "belong to the output of one run, so keep one: scores[scores.run_id == ...]",
            code="several_runs",
            path="run_id",
        )
    both = wide["judge"].notna() & wide["human"].notna()
    wide = wide.assign(human_both=wide["human"].where(both), judge_both=wide["judge"].where(both))
    found = wide.groupby(["system", *EXAMPLE], sort=True).agg(
        human=("human", "mean"),
        human_both=("human_both", "mean"),
        judge_both=("judge_both", "mean"),
        judge=("judge", "mean"),
        n_human=("human", "count"),
        n_both=("human_both", "count"),
        n_judge=("judge", "count"),
    )
    examples = found.reset_index()
    return examples.assign(block=block_codes(examples, clusters))


def _task_rows(
    task: str, part: pd.DataFrame, pair: list[str], arm_of: Callable[[pd.DataFrame], Arm]
) -> Iterator[Row]:
    arms: dict[str, tuple[Arm, Estimate]] = {}
    for system in pair or sorted(part["system"].unique()):
        own = part[part["system"] == system].set_index(EXAMPLE).sort_index()
        arm = arm_of(own)
        arms[system] = (arm, corrected_mean(arm))
        yield {"task": task, "quantity": "mean", "system": system} | _arm_row(*arms[system])
    if pair:
        baseline, candidate = (arms[name] for name in pair)
        head = {"task": task, "quantity": "difference", "system": f"{pair[1]} - {pair[0]}"}
        yield head | _difference_row(baseline, candidate)


def _arm_row(arm: Arm, estimate: Estimate) -> Row:
    people, naive = plain_mean(arm, "human", "n_human"), plain_mean(arm, "judge", "n_judge")
    return {
        **_counts(arm),
        "estimate": estimate.mean,
        "se": estimate.se,
        "df": estimate.df,
        "ci_low": estimate.low,
        "ci_high": estimate.high,
        "interval": estimate.interval,
        "method": estimate.method,
        "weight": estimate.weight,
        **_named("human", people.mean, people.low, people.high, people.interval),
        **_named("judge", naive.mean, naive.low, naive.high, naive.interval),
        **judge_bias(arm),
        "p_labelled_like_rest": unlike_the_rest(arm),
        **judge_errors(arm),
        "note": estimate.note,
    }


def _counts(arm: Arm) -> Row:
    judged = arm.examples["n_judge"] > 0
    return {
        "n_examples": len(arm.examples),
        "n_labelled": len(arm.given("human")),
        "n_both": len(arm.given("human_both")),
        "n_units": arm.units("human"),
        "n_judge_lost": int((~judged).sum()),
    }


def _named(who: str, mean: float, low: float, high: float, interval: str) -> Row:
    name = "none" if np.isnan(low) else interval
    return {f"{who}_mean": mean, f"{who}_low": low, f"{who}_high": high, f"{who}_interval": name}


def _difference_row(baseline: tuple[Arm, Estimate], candidate: tuple[Arm, Estimate]) -> Row:
    (arm_b, _), (arm_c, _) = baseline, candidate
    row: Row = {}
    for who in ("human", "judge"):
        found, name = difference_of_means(arm_b, arm_c, who)
        row |= _named(who, found.mean, found.low, found.high, name)
    shared = {
        name: len(arm_b.given(name).index.intersection(arm_c.given(name).index))
        for name in ("human", "human_both")
    }
    row |= {
        "n_examples": len(arm_b.examples.index.intersection(arm_c.examples.index)),
        "n_labelled": shared["human"],
        "n_both": shared["human_both"],
        "n_units": min(arm_b.units("human"), arm_c.units("human")),
        "n_judge_lost": len(
            arm_b.given("judge").index.symmetric_difference(arm_c.given("judge").index)
        ),
    }
    return row | bias_difference(arm_b, arm_c) | corrected_difference(baseline, candidate)


def _table(rows: list[Row]) -> pd.DataFrame:
    table = pd.DataFrame(rows).reindex(columns=list(COLUMNS))
    numbers = [name for name in COLUMNS if name not in (*_TEXT, *_COUNTS)]
    table = table.astype(dict.fromkeys(numbers, "float64") | dict.fromkeys(_COUNTS, "int64"))
    p_values = table["p_value"].to_numpy(dtype=np.float64)
    return table.assign(p_adjusted=stats.adjust(p_values, method="holm"))
