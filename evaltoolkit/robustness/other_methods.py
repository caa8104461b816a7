"""`alternatives`: does the conclusion depend on the method?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from evaltoolkit.comparison.options import at_least, share
from evaltoolkit.results import Comparison
from evaltoolkit.results.other_methods import ALTERNATIVE_COLUMNS, Alternatives
from evaltoolkit.robustness import method_texts
from evaltoolkit.robustness.answers import Answer, Ask, answers_of
from evaltoolkit.robustness.grading import grade_answers
from evaltoolkit.robustness.judged_rows import JudgedRow, check_result, each_row
from evaltoolkit.wording import Row


def alternatives(
    result: Comparison,
    *,
    criterion: str | None = None,
    slices: bool = False,
    level: float | None = None,
    draws: int = 10_000,
    seed: int = 0,
) -> Alternatives:
    """Ask every other method about the pairs of a comparison: does the conclusion depend on it?

    Independent means: t, z (replication only), sign-flip tests (mid-p and plain), bootstrap
    intervals (percentile, BCa, studentised, all from the same resamples), Wilcoxon with both
    treatments of ties, Hodges-Lehmann, the sign test, the rate of wins. 0/1 outcomes: McNemar
    (mid-p, exact, score), Bonett-Price, Tango, Newcombe, Agresti-Min, a Bayesian interval, and
    the former. Clusters: CR0 to CR3, flips and permutations of whole clusters, bootstrap of
    whole clusters. Three to seven grades: Stuart-Maxwell, Bhapkar, Bowker as well.

    P-values are not adjusted, so they are to be held against the ``p_value`` of the comparison,
    not its ``p_adjusted``. Methods that ask another question (who wins more often, where is the
    middle) may rightly answer otherwise: the column ``estimand`` says what each is about.

    Args:
        result: A comparison, of `evaltoolkit.compare`.
        criterion: Only this criterion; by default all.
        slices: Whether the slices of the comparison are asked about as well.
        level: Confidence level of the intervals; alpha is 1 - level. By default that of the
            comparison.
        draws: Random flips and resamples.
        seed: Their seed.

    Returns:
        `Alternatives`: ``.table`` has one row per row of the comparison and method,
        ``.dissenting`` those that do not agree, ``.conclusion()`` counts them.

    Raises:
        EvalToolkitError: `result` is no comparison of two systems.
        PairingError: Unknown criterion, or an option out of range.

    Example:
        >>> import evaltoolkit as et
        >>> rows = [(s, i, float(i % 3 > 0 or (s == "new" and i % 2)))
        ...         for s in ("old", "new") for i in range(60)]
        >>> table = pd.DataFrame(rows, columns=["system", "example_id", "score"])
        >>> scores = et.normalise_scores(table.assign(criterion="correct"))
        >>> other = alternatives(et.compare(scores, baseline="old", candidate="new"))
        >>> print(other.text.splitlines()[0])
        No counted method contradicts the comparison's own tests.
    """
    check_result(result, criterion)
    level = 1 - float(result.settings["alpha"]) if level is None else level
    share("level", level)
    at_least("draws", draws, 1)
    at_least("seed", seed, 0)
    ask = Ask(level, draws, seed)
    asked = list(each_row(result, criterion=criterion, slices=slices))
    rows = [row for each in asked for row in _rows(each, ask)]
    table = _typed(pd.DataFrame(rows, columns=list(ALTERNATIVE_COLUMNS)))
    settings = {
        **{name: result.settings[name] for name in ("baseline", "candidate", "versions")},
        "alpha": round(1 - level, 12),
        "level": level,
        "draws": draws,
        "seed": seed,
        "adjusted": False,
        "clustered": bool((table["design"] == "clustered").any()),
    }
    text = method_texts.conclusion([each.row for each in asked], table, settings)
    methods = method_texts.methods(table, settings)
    return Alternatives(table, settings, text, methods, warnings=tuple(result.warnings))


def _rows(judged: JudgedRow, ask: Ask) -> Iterator[dict[str, Any]]:
    row, sample = judged
    if not sample.n or math.isnan(row["p_value"]):
        return  # nothing to agree or disagree with; the sentences name such rows
    names = ("task", "criterion", "scorer", "slice_by", "slice", "n_pairs")
    head = {name: row[name] for name in names} | {"design": sample.design}
    for answer in (*answers_of(sample, ask), *grade_answers(sample)):
        p = float(row["p_value"]) if answer.method == row["test"] else answer.p_value
        yield {
            **head,
            "method": answer.method,
            "own": _own(answer, row),
            "estimand": answer.estimand,
            "estimate": answer.estimate,
            "low": answer.low,
            "high": answer.high,
            "p_value": p,
            **_judged(answer, p, row, alpha=1 - ask.level),
            "counted": not answer.same_as and not answer.replication,
            "same_as": answer.same_as or None,
            "note": answer.note,
        }


def _own(answer: Answer, row: Row) -> str:
    parts = [name for name in ("test", "interval") if answer.method == row[name]]
    return " and ".join(parts)


def _judged(answer: Answer, p: float, row: Row, *, alpha: float) -> dict[str, Any]:
    """Hold one answer against the comparison's own test."""
    significant = _significant(answer, p, alpha)
    if significant is None:
        return {"significant": None, "agrees": None, "dissent": ""}
    own = _at_most(float(row["p_value"]), alpha)
    parts = ["significance"] if significant != own else []
    # Where neither is significant there is no direction to contradict; nor does a median of 0
    # among many ties, or a test without a direction, contradict one.
    if (own or significant) and answer.estimate * float(row["delta"]) < 0:
        parts.append("sign")
    dissent = "both" if len(parts) == 2 else "".join(parts)
    return {"significant": significant, "agrees": not parts, "dissent": dissent}


def _significant(answer: Answer, p: float, alpha: float) -> bool | None:
    if not math.isnan(p):
        return _at_most(p, alpha)
    if math.isnan(answer.low):
        return None
    return answer.low > 0 or answer.high < 0


def _at_most(p: float, alpha: float) -> bool:
    """Compare with alpha, of which 1 - level may have lost the last digit."""
    return p <= alpha * (1 + 1e-12)


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    floats = ("estimate", "low", "high", "p_value")
    texts = ("task", "criterion", "scorer", "slice_by", "slice", "design", "method", "own",
             "estimand", "dissent", "same_as", "note")  # fmt: skip
    return table.astype(
        {
            **dict.fromkeys(floats, "float64"),
            **dict.fromkeys(texts, "str"),
            **dict.fromkeys(("significant", "agrees"), "boolean"),
            "n_pairs": "int64",
            "counted": "bool",
        }
    )
