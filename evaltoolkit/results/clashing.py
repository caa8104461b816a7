"""What a reader must see where the mean and the number of wins point to different systems."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit import wording
from evaltoolkit.wording import Row

CLASH = "rank evidence points the other way"
"""How the column ``note`` of `Comparison.table` says so."""

MOST_SHOWN = 3


def clash_sentences(table: pd.DataFrame, losses: pd.DataFrame) -> Iterator[str]:
    """Name the largest losses of each overall hypothesis whose note says that evidence clashes.

    Args:
        table: `Comparison.table`.
        losses: The lost pairs of all hypotheses, largest first (`Comparison.worst`).
    """
    overall = wording.with_flags(table[table["slice_by"].isna()])
    for row in wording.rows_of(overall[overall["note"].str.contains(CLASH, regex=False)]):
        same = [losses[name] == row[name] for name in ("task", "criterion", "scorer")]
        own = losses[same[0] & same[1] & same[2]]
        if len(own):
            yield _sentence(row, own)


def _sentence(row: Row, losses: pd.DataFrame) -> str:
    shown = losses.head(MOST_SHOWN)
    digits = fmt.decimals_for(float(shown["delta"].abs().max()))
    examples = [
        f"{_name(loss)} ({fmt.format_number(float(loss['delta']), decimals=digits, signed=True)})"
        for loss in wording.rows_of(shown)
    ]
    more = f", of {len(losses)}" if len(losses) > MOST_SHOWN else ""
    return (
        f"{wording.label(row)}: the mean and the number of wins point to different systems, so "
        f"look at the largest losses{more}: {', '.join(examples)}."
    )


def _name(loss: Row) -> str:
    """Name an example on one line, with its task where the tasks are pooled."""
    parts = [loss.get("task_of_example", ""), loss["example_id"]]
    return " ".join("/".join(str(part) for part in parts if part).split())
