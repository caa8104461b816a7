"""Count what was measured in a run, with errors as errors, and say it in sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit.results.evaluations import EVALUATION_COLUMNS
from evaltoolkit.wording import Row, listing, rows_of

_GROUP = ["task", "criterion", "scorer", "system"]


def account(scores: pd.DataFrame) -> pd.DataFrame:
    """Make the table of `Evaluation` from a score table, groups in order of appearance."""
    rows = [
        dict(zip(_GROUP, key, strict=True)) | _row(part)
        for key, part in scores.groupby(_GROUP, sort=False)
    ]
    return pd.DataFrame(rows, columns=list(EVALUATION_COLUMNS))


def count_failures(scores: pd.DataFrame, outputs: pd.DataFrame) -> pd.DataFrame:
    """Count, for each system, the answers where nothing broke and those where anything did."""
    answer = ["system", "task", "example_id", "trial"]
    broke = scores["status"].isin(["scorer_error", "system_error"])
    by_answer = broke.groupby([scores[name] for name in answer], sort=False).any()
    crashed = outputs.set_index(answer)["error"].notna()
    failed = crashed | by_answer.reindex(crashed.index, fill_value=False)
    grouped = failed.groupby(level="system", sort=False)
    counts = pd.DataFrame({"n_answers": grouped.size(), "failed": grouped.sum().astype("int64")})
    counts.insert(1, "successful", counts["n_answers"] - counts["failed"])
    return counts.reset_index()


def _row(part: pd.DataFrame) -> dict[str, object]:
    counts = part["status"].value_counts()
    broke = part["status"].isin(["scorer_error", "system_error"])
    failed = part["score"].mask(broke, _worst(part))
    known = failed.notna() | (part["status"] == "unscored")
    passed = part["passed"].astype("Float64").astype("float64")
    judged = bool(passed.notna().any())
    return {
        "n_examples": part["example_id"].nunique(),
        "n_rows": len(part),
        "n_scored": int(counts.get("scored", 0)),
        "n_unscored": int(counts.get("unscored", 0)),
        "n_scorer_error": int(counts.get("scorer_error", 0)),
        "n_system_error": int(counts.get("system_error", 0)),
        "mean": _mean_of_examples(part, part["score"]),
        "pass_rate": _mean_of_examples(part, passed),
        "mean_errors_failed": _mean_of_examples(part, failed) if known.all() else math.nan,
        "pass_rate_errors_failed": (
            _mean_of_examples(part, passed.mask(broke, 0.0)) if judged or broke.all() else math.nan
        ),
        "higher_is_better": _direction(part),
    }


def _mean_of_examples(part: pd.DataFrame, values: pd.Series) -> float:
    """Average over examples the averages over their trials; what is missing does not count."""
    return float(values.groupby(part["example_id"], sort=False).mean().mean())


def _direction(part: pd.DataFrame) -> bool | None:
    if "higher_is_better" not in part.columns:
        return None
    given = part["higher_is_better"].dropna()
    return bool(given.iloc[0]) if len(given) else None


def _worst(part: pd.DataFrame) -> float:
    """Give the worst score of a criterion: its bound, else 0 where all lie in [0, 1]."""
    lower_is_better = _direction(part) is False
    name = "upper_bound" if lower_is_better else "lower_bound"
    if name in part.columns and part[name].notna().any():
        return float(part[name].dropna().iloc[0])
    scored = part["score"].dropna()
    return math.nan if lower_is_better or not scored.between(0, 1).all() else 0.0


def describe_run(table: pd.DataFrame, settings: Mapping[str, Any], failures: pd.DataFrame) -> str:
    """Say what came of a run: what was run, what broke, and how each system did."""
    lines = [_headline(settings), *[_broken(row) for row in rows_of(failures) if row["failed"]]]
    return "\n".join([*lines, *[_sentence(row) for row in rows_of(table)]])


def _headline(settings: Mapping[str, Any]) -> str:
    done, asked = settings["n_finished"], settings["n_planned"]
    parts = [
        fmt.counted(settings["n_examples"], "example"),
        fmt.counted(len(settings["systems"]), "system"),
        fmt.counted(len(settings["scorers"]), "scorer"),
    ]
    count = fmt.counted(asked, "answer") if done == asked else f"{done} of {asked} answers"
    return f"Run {settings['run_id']}: {listing(parts)}; {count} finished."


def _broken(row: Row) -> str:
    return (
        f"{row['system']}: {row['failed']} of {fmt.counted(int(row['n_answers']), 'answer')} "
        "broke (the system or a scorer); they are in no mean and no pass rate below."
    )


def _sentence(row: Row) -> str:
    mean = float(row["mean"])
    name = f"{row['system']}, {row['criterion']}" + (f" ({row['task']})" if row["task"] else "")
    if not row["n_scored"]:
        return f"{name}: not measured ({_losses(row)})."
    parts = [f"mean {fmt.format_number(mean, decimals=fmt.decimals_for(mean))}"]
    rate = float(row["pass_rate"])
    if rate == rate:
        parts.append(f"passed {fmt.format_percent(rate)}")
    lost = _losses(row)
    of = f" on {fmt.counted(int(row['n_scored']), 'score')}"
    return f"{name}: {listing(parts)}{of}{f'; {lost}' if lost else ''}."


def _losses(row: Row) -> str:
    words: Sequence[tuple[str, str]] = (
        ("n_system_error", "system error"),
        ("n_scorer_error", "scorer error"),
        ("n_unscored", "unscored"),
    )
    return ", ".join(
        f"{row[name]} {word}" if word == "unscored" else fmt.counted(int(row[name]), word)
        for name, word in words
        if row[name]
    )
