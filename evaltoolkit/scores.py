"""The score table: its rules, checked with precise errors, and what to do about duplicates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
import pandas as pd

from evaltoolkit.errors import SchemaError, listed
from evaltoolkit.schema import (
    CRITERION_COLUMNS,
    SCORES,
    STATUS_DTYPE,
    STATUSES,
    normalise,
    rows_text,
)

SCORE_KEY: tuple[str, ...] = SCORES.key
"""The columns that together name one measurement."""

Duplicates = Literal["error", "last", "trials"]

_SCORED, _UNSCORED = STATUSES.index("scored"), STATUSES.index("unscored")


def normalise_scores(frame: pd.DataFrame) -> pd.DataFrame:
    """Put a long frame into the columns and dtypes of the score table.

    Where no status is given it is ``scored`` where there is a score and ``unscored`` where
    there is none. Nothing is dropped, averaged or reordered.

    Args:
        frame: A DataFrame with at least ``system``, ``example_id``, ``criterion``, ``score``.

    Returns:
        A new DataFrame: the 14 score columns, known optional ones, then attributes.

    Raises:
        SchemaError: A required column is absent or a cell has the wrong type.

    Example:
        >>> raw = pd.DataFrame({"system": ["a"], "example_id": [7], "criterion": ["acc"],
        ...                     "score": [True]})
        >>> normalise_scores(raw)[["example_id", "score", "status"]].to_dict("records")
        [{'example_id': '7', 'score': 1.0, 'status': 'scored'}]
    """
    return with_status(normalise(frame, SCORES))


def with_status(scores: pd.DataFrame) -> pd.DataFrame:
    """Fill in the status of rows without one: ``scored`` where a score is, else ``unscored``.

    Args:
        scores: A frame in the dtypes of the score table, which is changed in place.
    """
    given = scores["status"].cat.codes.to_numpy()
    if (given < 0).any():
        derived = np.where(scores["score"].notna(), _SCORED, _UNSCORED)
        codes = np.where(given < 0, derived, given)
        scores["status"] = pd.Categorical.from_codes(codes, dtype=STATUS_DTYPE)
    return scores


def check_scores(frame: pd.DataFrame) -> pd.DataFrame:
    """Validate a score table and give it back in its normal form.

    Args:
        frame: A score table, or a frame with its required columns.

    Returns:
        The table with the columns and dtypes of `normalise_scores`.

    Raises:
        SchemaError: With every broken rule, how many rows break it and which come first.

    Example:
        >>> bad = pd.DataFrame({"system": ["a", "a"], "example_id": ["1", "1"],
        ...                     "criterion": ["acc", "acc"], "score": [1.0, 0.0]})
        >>> check_scores(bad)
        Traceback (most recent call last):
        ...
        evaltoolkit.errors.SchemaError: the score table breaks 1 rule(s): ...
    """
    return _checked(frame, distinct=False)


def resolve_and_check(scores: pd.DataFrame, *, duplicates: Duplicates = "error") -> pd.DataFrame:
    """Do what `resolve_duplicates` and then `check_scores` do, looking for equal keys once.

    Raises:
        SchemaError: As those two.
    """
    return _checked(resolve_duplicates(scores, duplicates=duplicates), distinct=True)


def _checked(frame: pd.DataFrame, *, distinct: bool) -> pd.DataFrame:
    scores = normalise_scores(frame)
    problems = list(_problems(scores, distinct=distinct))
    if problems:
        raise SchemaError(
            f"the score table breaks {len(problems)} rule(s): "
            + " | ".join(f"({i}) {text}" for i, (_, text) in enumerate(problems, start=1)),
            code=problems[0][0],
            value=[code for code, _ in problems],
        )
    return scores


def resolve_duplicates(scores: pd.DataFrame, *, duplicates: Duplicates = "error") -> pd.DataFrame:
    """Decide what several rows of one key mean.

    Args:
        scores: A normalised score table.
        duplicates: ``"error"`` refuses them, ``"last"`` keeps the row with the latest
            timestamp (without timestamps: the last in file order), ``"trials"`` keeps all and
            numbers them as further trials of the same example.

    Returns:
        The table without duplicate keys, rows in their old order.

    Raises:
        SchemaError: Duplicates are there and ``duplicates="error"``, or the option is unknown.
    """
    if duplicates not in ("error", "last", "trials"):
        raise SchemaError(
            f"duplicates is {duplicates!r}; it must be 'error', 'last' or 'trials'",
            code="bad_option",
            path="duplicates",
            value=duplicates,
        )
    repeated = scores.duplicated(list(SCORE_KEY), keep=False)
    if not repeated.any():
        return scores
    if duplicates == "error":
        raise SchemaError(_duplicates_text(scores[repeated]), code="duplicate_keys")
    if duplicates == "last":
        return _keep_last(scores)
    return _number_trials(scores)


def _keep_last(scores: pd.DataFrame) -> pd.DataFrame:
    ordered = scores
    if "timestamp" in scores.columns:
        ordered = scores.sort_values("timestamp", kind="stable", na_position="first")
    kept = ordered.drop_duplicates(list(SCORE_KEY), keep="last")
    return kept.sort_index().reset_index(drop=True)


def _number_trials(scores: pd.DataFrame) -> pd.DataFrame:
    others = [name for name in SCORE_KEY if name != "trial"]
    ordered = scores.sort_values("trial", kind="stable")
    numbers = ordered.groupby(others, dropna=False, sort=False).cumcount()
    repeated = scores.duplicated(list(SCORE_KEY), keep=False)
    touched = repeated.groupby([scores[name] for name in others], dropna=False).transform("any")
    trial = scores["trial"].where(~touched, numbers.reindex(scores.index))
    return scores.assign(trial=trial.astype("int64"))


def _duplicates_text(rows: pd.DataFrame) -> str:
    keys = rows.drop_duplicates(list(SCORE_KEY))
    return (
        f"{len(keys)} key(s) occur more than once, in {len(rows)} rows; the first: "
        f"{rows_text(keys, SCORE_KEY)}. If they are repeats of the same example, read or build "
        "the table with duplicates='trials'; if a later row replaces an earlier one, with "
        "duplicates='last'; if ids repeat across data sets, give task="
    )


def _problems(scores: pd.DataFrame, *, distinct: bool) -> Iterator[tuple[str, str]]:
    yield from _score_problems(scores)
    yield from _bound_problems(scores)
    yield from _criterion_problems(scores)
    if distinct:
        return
    repeated = scores.duplicated(list(SCORE_KEY), keep=False)
    if repeated.any():
        yield "duplicate_keys", _duplicates_text(scores[repeated])


def _score_problems(scores: pd.DataFrame) -> Iterator[tuple[str, str]]:
    scored = scores["status"] == "scored"
    rules = [
        (
            "infinite_score",
            np.isinf(scores["score"]),
            "score is infinite; write it as label, leave score empty and set status to 'unscored'",
        ),
        (
            "score_without_status",
            scored & scores["score"].isna(),
            "status is 'scored' but there is no score; set it to 'unscored' or to an error",
        ),
        (
            "status_without_score",
            ~scored & scores["score"].notna(),
            "a score stands beside a status other than 'scored'; clear it (a number that a tool "
            "wrote beside an error belongs in label)",
        ),
        (
            "passed_without_score",
            ~scored & scores["passed"].notna(),
            "passed is given beside a status other than 'scored'; clear it",
        ),
        (
            "versus_itself",
            (scores["versus"] == scores["system"]).fillna(value=False),
            "versus names the row's own system; it must name the other system of the pair",
        ),
    ]
    for code, bad, text in rules:
        if bad.any():
            yield code, _rows(scores, bad, text)


def _bound_problems(scores: pd.DataFrame) -> Iterator[tuple[str, str]]:
    for name, sign in (("lower_bound", 1.0), ("upper_bound", -1.0)):
        if name in scores.columns:
            slack = 1e-9 * scores[name].abs().clip(lower=1.0)
            bad = sign * (scores["score"] - scores[name]) < -slack
            if bad.any():
                text = f"score lies beyond {name}; correct the bound or the score"
                yield "out_of_bounds", _rows(scores, bad, text)


def _criterion_problems(scores: pd.DataFrame) -> Iterator[tuple[str, str]]:
    for name in CRITERION_COLUMNS:
        if name in scores.columns:
            counts = scores.groupby("criterion", sort=False)[name].nunique(dropna=True)
            mixed = counts[counts > 1].index.tolist()
            if mixed:
                yield (
                    "criterion_not_constant",
                    f"{name} differs within the criterion {listed(mixed)}; it describes the "
                    "criterion, so make it the same in all its rows or rename one criterion",
                )


def _rows(scores: pd.DataFrame, bad: pd.Series, text: str) -> str:
    rows = scores[bad.to_numpy(dtype=bool)]
    names = ["system", "example_id", "criterion", "score", "status"]
    return f"{text} ({len(rows)} row(s): {rows_text(rows, names)})"
