"""The examples behind a result as escaped HTML: what was asked and what both systems said."""

from __future__ import annotations

import pandas as pd

from evaltoolkit.formatting import MINUS, escape_html
from evaltoolkit.results import Comparison
from evaltoolkit.wording import Row, rows_of

MAX_TEXT = 600


def examples_html(result: Comparison, outputs: pd.DataFrame | None, *, count: int) -> str:
    """Show the pairs in which the candidate loses most, with both outputs where known.

    Args:
        result: The comparison.
        outputs: A normalised outputs table, or None.
        count: At most this many pairs.
    """
    worst = result.worst(count=count)
    if worst.empty:
        return "<p>The candidate loses in no example.</p>"
    shown = "".join(_example(row, result, outputs) for row in rows_of(worst))
    return f"<section><h4>Largest losses of {escape_html(result.candidate)}</h4>{shown}</section>"


def _example(row: Row, result: Comparison, outputs: pd.DataFrame | None) -> str:
    sides = f"{row['baseline']:.3g} \u2192 {row['candidate']:.3g}".replace("-", MINUS)
    head = f"{row['criterion']}: {row['example_id']} ({sides})"
    body = "".join(
        f"<dt>{escape_html(name)}</dt><dd><pre>{escape_html(_short(text))}</pre></dd>"
        for name, text in _texts(row, result, outputs)
    )
    return f"<details><summary>{escape_html(head)}</summary><dl>{body}</dl></details>"


def _texts(row: Row, result: Comparison, outputs: pd.DataFrame | None) -> list[tuple[str, str]]:
    if outputs is None:
        return [("outputs", "pass outputs= to read them here")]
    task = row.get("task_of_example", row["task"])
    same = (outputs["example_id"] == row["example_id"]) & (outputs["task"] == task)
    rows = outputs[same]
    found = [("input", text) for text in rows["input"].dropna().head(1)]
    found += [("reference", text) for text in rows["reference"].dropna().head(1)]
    for system in (result.baseline, result.candidate):
        for answer in rows_of(rows[rows["system"] == system]):
            error = answer["error"]
            text = f"error: {error}" if isinstance(error, str) else answer["output"]
            shown = text if isinstance(text, str) else ""
            found.append((f"{system}, trial {answer['trial']}", shown))
    return found or [("outputs", "no output of this example is in the outputs table")]


def _short(text: str) -> str:
    return text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + " \u2026"
