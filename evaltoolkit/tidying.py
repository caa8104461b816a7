"""From any DataFrame of results, long or wide, to the score table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from evaltoolkit.errors import SchemaError, listed, nearest
from evaltoolkit.schema import OUTPUTS, SCORES, as_text, normalise
from evaltoolkit.scores import Duplicates, check_scores, normalise_scores, resolve_duplicates

_DECLARED = ("kind", "higher_is_better", "lower_bound", "upper_bound", "blocking", "threshold")


def tidy_scores(  # noqa: PLR0913 - one keyword for each column of the score table
    frame: pd.DataFrame,
    *,
    system: str,
    example_id: str,
    criteria: str | Sequence[str] | None = None,
    criterion: str | None = None,
    score: str | None = None,
    task: str | None = None,
    trial: str | None = None,
    run_id: str | None = None,
    scorer: str | None = None,
    versus: str | None = None,
    label: str | None = None,
    passed: str | None = None,
    status: str | None = None,
    message: str | None = None,
    timestamp: str | None = None,
    cluster: str | None = None,
    attributes: Sequence[str] | None = None,
    declare: Mapping[str, Mapping[str, Any]] | None = None,
    duplicates: Duplicates = "error",
) -> pd.DataFrame:
    """Build a score table from any DataFrame by naming its columns.

    A *wide* frame has one column per criterion (``criteria=[...]``); a *long* one has a column
    of criterion names and a column of scores (``criterion=``, ``score=``; without ``criterion``
    all rows are of one criterion named like the score column).

    Args:
        frame: The user's frame; it is not changed.
        system: Column with what is compared: model, agent, prompt version.
        example_id: Column with the id of the test item; ids become text.
        criteria: Wide form: the score column(s), each a criterion. Booleans become 1 and 0.
        criterion: Long form: column with the names of the criteria.
        score: Long form: column with the numbers.
        task: Column with the data set or benchmark. Needed where ids repeat across data sets.
        trial: Column with the number of the repeat, from 0.
        run_id: Column with the execution that a row came from.
        scorer: Column with who judged.
        versus: Column with the other system of a pairwise judgement.
        label: Column with the verdict as the tool wrote it.
        passed: Column with the scorer's own verdict (true or false).
        status: Column with ``scored``, ``unscored``, ``scorer_error`` or ``system_error``;
            without it a missing score is ``unscored``.
        message: Column with an error text or explanation.
        timestamp: Column with ISO 8601 times, used by ``duplicates="last"``.
        cluster: Column with groups of dependent items (conversation, repository, passage).
        attributes: Columns to keep as attributes of the example. By default every further
            column that is constant within an example (task and id).
        declare: Facts about criteria, by name: ``{"latency": {"higher_is_better": False}}``;
            allowed facts are kind, higher_is_better, lower_bound, upper_bound, blocking,
            threshold.
        duplicates: What to do where a key occurs twice; see
            `evaltoolkit.scores.resolve_duplicates`.

    Returns:
        A checked score table.

    Raises:
        SchemaError: A named column is absent, a score is text, or a key occurs twice.

    Example:
        >>> wide = pd.DataFrame({"model": ["a", "b"], "item": [1, 1], "correct": [True, False]})
        >>> table = tidy_scores(wide, system="model", example_id="item", criteria=["correct"])
        >>> table[["system", "example_id", "criterion", "score"]].values.tolist()
        [['a', '1', 'correct', 1.0], ['b', '1', 'correct', 0.0]]
    """
    named = {
        "run_id": run_id,
        "system": system,
        "task": task,
        "example_id": example_id,
        "trial": trial,
        "scorer": scorer,
        "versus": versus,
        "label": label,
        "passed": passed,
        "status": status,
        "message": message,
        "timestamp": timestamp,
        "cluster": cluster,
    }
    columns = {target: name for target, name in named.items() if name is not None}
    values = [criteria] if isinstance(criteria, str) else list(criteria or [])
    _check_form(values, criterion, score)
    used = [*columns.values(), *values, *[c for c in (criterion, score) if c is not None]]
    _check_columns(frame, [*used, *(attributes or [])])
    base = pd.DataFrame({target: frame[name] for target, name in columns.items()})
    kept = _attributes(frame, base, set(used)) if attributes is None else list(attributes)
    base = base.assign(**{name: frame[name] for name in kept if name not in base.columns})
    table = _from_wide(frame, base, values) if values else _from_long(frame, base, criterion, score)
    table = normalise_scores(_with_declarations(table, declare or {}))
    return check_scores(resolve_duplicates(table, duplicates=duplicates))


def _check_form(values: list[str], criterion: str | None, score: str | None) -> None:
    if bool(values) == (score is not None):
        raise SchemaError(
            "give either criteria=[...] (wide: one column per criterion) or score= (long: one "
            "column of numbers, with criterion= for the names)",
            code="bad_form",
        )
    if values and criterion is not None:
        raise SchemaError(
            f"criterion={criterion!r} belongs to the long form; with criteria=[...] the column "
            "names are the criteria, so leave criterion out",
            code="bad_form",
        )


def _check_columns(frame: pd.DataFrame, names: Sequence[str]) -> None:
    absent = [name for name in names if name not in frame.columns]
    if absent:
        hints = "; ".join(f"{name!r}: {nearest(name, frame.columns)}" for name in absent)
        raise SchemaError(
            f"the frame has no column {listed(absent)} ({hints}); name columns of the frame, "
            "and add constants first, e.g. df.assign(system='gpt-4')",
            code="missing_column",
            value=absent,
        )


def _attributes(frame: pd.DataFrame, base: pd.DataFrame, used: set[str]) -> list[str]:
    known = SCORES.known
    rest = [c for c in frame.columns if c not in used and c not in known]
    keys = [as_text(base[name]) for name in ("task", "example_id") if name in base.columns]
    counts = frame[rest].groupby(keys, sort=False).nunique(dropna=False) if rest else None
    return [] if counts is None else [str(c) for c in rest if (counts[c] <= 1).all()]


def _from_wide(frame: pd.DataFrame, base: pd.DataFrame, values: list[str]) -> pd.DataFrame:
    parts = [base.assign(criterion=name, score=_numbers(frame[name])) for name in values]
    # Rows of one example stay together, so that the table reads like the frame it came from.
    return pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)


def _from_long(
    frame: pd.DataFrame, base: pd.DataFrame, criterion: str | None, score: str | None
) -> pd.DataFrame:
    names = frame[criterion] if criterion is not None else str(score)
    return base.assign(criterion=names, score=_numbers(frame[str(score)]))


def _numbers(values: pd.Series) -> pd.Series:
    is_bool = values.dtype == object and values.map(lambda v: isinstance(v, bool)).any()
    return values.map(lambda v: float(v) if isinstance(v, bool) else v) if is_bool else values


def _with_declarations(
    table: pd.DataFrame, declare: Mapping[str, Mapping[str, Any]]
) -> pd.DataFrame:
    names = set(as_text(table["criterion"]))
    for criterion, facts in declare.items():
        if criterion not in names:
            raise SchemaError(
                f"declare names the criterion {criterion!r}, which the frame does not have; "
                f"{nearest(criterion, names)}",
                code="unknown_criterion",
                path=f"declare[{criterion!r}]",
            )
        unknown = [fact for fact in facts if fact not in _DECLARED]
        if unknown:
            raise SchemaError(
                f"declare[{criterion!r}] has {listed(unknown)}; allowed are "
                f"{listed(_DECLARED, limit=9)}",
                code="bad_option",
                path=f"declare[{criterion!r}]",
            )
    facts_used = [fact for fact in _DECLARED if any(fact in f for f in declare.values())]
    for fact in facts_used:
        by_name = {name: facts[fact] for name, facts in declare.items() if fact in facts}
        table = table.assign(**{fact: table["criterion"].map(by_name)})
    return table


RESOURCES = ("cost_usd", "tokens_in", "tokens_out", "latency_s")
"""Columns of the outputs table that `resources` turns into criteria."""


def resources(outputs: pd.DataFrame) -> pd.DataFrame:
    """Turn the resources of an outputs table into score rows, so that they compare like criteria.

    Args:
        outputs: An outputs table.

    Returns:
        A score table with the criteria ``cost_usd``, ``tokens_in``, ``tokens_out`` and
        ``latency_s`` (those that the outputs hold), lower is better, advisory
        (``blocking=False``). A resource that was not recorded is ``unscored``.

    Example:
        >>> out = pd.DataFrame({"system": ["a"], "example_id": [1], "output": ["hi"],
        ...                     "latency_s": [0.5]})
        >>> resources(out)[["criterion", "score", "higher_is_better"]].values.tolist()
        [['latency_s', 0.5, False]]
    """
    table = normalise(outputs, OUTPUTS)
    keys = list(OUTPUTS.key)
    kept = [*keys, *[n for n in ("cluster", "timestamp") if n in table], *OUTPUTS.attributes(table)]
    parts = [
        table[kept].assign(criterion=name, score=table[name], scorer="measured", kind="continuous",
                           higher_is_better=False, lower_bound=0.0, blocking=False)
        for name in RESOURCES
        if table[name].notna().any()
    ]  # fmt: skip
    if not parts:
        raise SchemaError(
            f"the outputs table has no number in any of {listed(RESOURCES)}; nothing to compare",
            code="no_resources",
        )
    return check_scores(normalise_scores(pd.concat(parts, ignore_index=True)))
