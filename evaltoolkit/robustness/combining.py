"""`combine_tasks`: one p-value for a criterion that was measured on several independent tasks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit import stats
from evaltoolkit.comparison.options import one_of
from evaltoolkit.errors import PairingError, listed
from evaltoolkit.results import Comparison
from evaltoolkit.results.other_methods import CombinedTasks
from evaltoolkit.robustness.judged_rows import check_result
from evaltoolkit.robustness.rebuilding import grouping_column
from evaltoolkit.stats.tails import normal_quantile, normal_tail
from evaltoolkit.wording import Row, rows_of

_COLUMNS = (
    "criterion", "scorer", "method", "n_tasks", "up", "down", "statistic", "p_value", "note",
)  # fmt: skip


def combine_tasks(
    result: Comparison,
    *,
    criterion: str | None = None,
    method: Literal["stouffer", "fisher"] = "stouffer",
) -> CombinedTasks:
    """Combine the evidence on each criterion over tasks that share no examples or clusters.

    Stouffer adds signed z values, one a task and equally weighted, so that tasks which point
    opposite ways cancel: it asks whether the candidate moved one way on the whole. Fisher adds
    the logarithms of the two-sided p-values, whatever their direction: it asks whether anything
    changed in any task. Neither gives the size of a common effect; for that compare with
    ``tasks="pooled"``. The p-values of the tasks are combined unadjusted.

    Args:
        result: A comparison with ``tasks="separate"`` over at least two tasks.
        criterion: Only this criterion; by default all that two tasks or more have tested.
        method: ``"stouffer"`` or ``"fisher"``.

    Returns:
        `CombinedTasks`, with one row per criterion and scorer.

    Raises:
        EvalToolkitError: `result` is no comparison of two systems.
        PairingError: No criterion was tested on two tasks, clusters reach over tasks (then the
            tasks are not independent), or an unknown criterion or method.

    Source:
        Stouffer et al., The American soldier, 1949; Fisher, Statistical methods for research
        workers, 1932.

    Example:
        >>> import evaltoolkit as et
        >>> rows = [(s, t, i, float(i % 3 > 0 or (s == "new" and i % 2)))
        ...         for s in ("old", "new") for t in ("math", "code") for i in range(60)]
        >>> table = pd.DataFrame(rows, columns=["system", "task", "example_id", "score"])
        >>> scores = et.normalise_scores(table.assign(criterion="correct"))
        >>> both = combine_tasks(et.compare(scores, baseline="old", candidate="new", test="t"))
        >>> both.table[["n_tasks", "up", "down"]].values.tolist()
        [[2, 2, 0]]
    """
    check_result(result, criterion)
    one_of("method", method, ("stouffer", "fisher"))
    _check_independent(result)
    rows = [row for row in rows_of(result.overall) if criterion in (None, row["criterion"])]
    tested = [row for row in rows if not math.isnan(row["p_value"])]
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in tested:
        groups.setdefault((str(row["criterion"]), str(row["scorer"])), []).append(row)
    several = {key: found for key, found in groups.items() if len(found) > 1}
    if not several:
        raise PairingError(
            "no criterion was tested on two tasks or more, so there is nothing to combine; "
            "compare with tasks='separate' (the default) over several tasks",
            code="one_task",
            path="result",
        )
    table = pd.DataFrame(
        [{"criterion": key[0], "scorer": key[1], **_combined(found, method)}
         for key, found in several.items()],
        columns=list(_COLUMNS),
    )  # fmt: skip
    settings = {
        **{name: result.settings[name] for name in ("baseline", "candidate", "alpha", "versions")},
        "method": method,
    }
    text = "\n".join(_sentences(table, settings))
    methods = _methods(settings)
    return CombinedTasks(table, settings, text, methods, warnings=tuple(result.warnings))


def _check_independent(result: Comparison) -> None:
    name = result.settings["cluster"]
    if name is None or name == "task":
        return
    tasks = result.pairs["task"].groupby(grouping_column(result.pairs, name)).nunique()
    shared = tasks[tasks > 1].index.tolist()
    if shared:
        raise PairingError(
            f"{fmt.counted(len(shared), 'cluster')} of {name!r} ({listed(shared, limit=3)}) reach "
            "over several tasks, so the tasks are not independent and their p-values cannot be "
            "combined; compare with tasks='pooled' and the same clusters",
            code="dependent_tasks",
            path="cluster",
            value=shared,
        )


def _combined(rows: Sequence[Row], method: Literal["stouffer", "fisher"]) -> dict[str, Any]:
    p = np.array([row["p_value"] for row in rows], dtype=np.float64)
    signs = np.sign([float(row["delta"]) for row in rows])
    if method == "stouffer":
        # Signed z values straight from the two-sided p: 1 - p would lose the small ones.
        z = [-float(sign) * normal_quantile(each / 2) for sign, each in zip(signs, p, strict=True)]
        statistic = sum(z) / math.sqrt(len(z))
        p_value = 2 * normal_tail(abs(statistic))
    else:
        statistic, p_value = stats.combine_pvalues(p, method="fisher")
    tasks = ", ".join(str(row["task"]) for row in rows)
    return {
        "method": method,
        "n_tasks": len(rows),
        "up": int((signs > 0).sum()),
        "down": int((signs < 0).sum()),
        "statistic": float(statistic),
        "p_value": float(p_value),
        "note": f"tasks: {tasks}",
    }


def _sentences(table: pd.DataFrame, settings: dict[str, Any]) -> Iterator[str]:
    stouffer = settings["method"] == "stouffer"
    candidate = " ".join(str(settings["candidate"]).split())
    for row in rows_of(table):
        p = float(row["p_value"])
        found = p <= settings["alpha"]
        way = "up" if row["statistic"] > 0 else "down"
        said = f"moved {way} on the whole" if stouffer else "changed in at least one task"
        yield (
            f"{' '.join(str(row['criterion']).split())}: {candidate} "
            f"{said if found else 'shows no change'} over {row['n_tasks']} tasks "
            f"({row['up']} up, {row['down']} down; {str(row['method']).capitalize()} p "
            f"{'' if p < 0.0001 else '= '}{fmt.format_p(p)})."
        )
    yield (
        "This takes the tasks as independent (no shared examples, prompts or clusters) and says "
        "nothing of the size of a common effect."
    )


def _methods(settings: dict[str, Any]) -> str:
    how = (
        "Stouffer's method on signed z values, equally weighted"
        if settings["method"] == "stouffer"
        else "Fisher's method on the two-sided p-values, whatever their direction"
    )
    return (
        f"For each criterion the unadjusted p-values of the tasks were combined by {how}, taking "
        "tasks as independent; combined p-values are not adjusted over criteria."
    )
