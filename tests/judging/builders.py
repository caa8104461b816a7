"""Small score tables with several scorers of one criterion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from evaltoolkit.scores import normalise_scores


def scored(marks: Mapping[str, Sequence[float]], **columns: object) -> pd.DataFrame:
    """Rows of one system: what each scorer says of examples e000, e001, ... (NaN: unscored)."""
    parts = [
        pd.DataFrame(
            {
                "system": "agent",
                "example_id": [f"e{i:04d}" for i in range(len(values))],
                "scorer": scorer,
                "criterion": "helpful",
                "score": list(values),
            }
        )
        for scorer, values in marks.items()
    ]
    return normalise_scores(pd.concat(parts, ignore_index=True).assign(**columns))


def from_table(counts: Sequence[Sequence[int]], grades: Sequence[float]) -> pd.DataFrame:
    """Two scorers whose table of agreement has these counts."""
    pairs = [
        (grades[i], grades[j])
        for i, row in enumerate(counts)
        for j, count in enumerate(row)
        for _ in range(count)
    ]
    first, second = zip(*pairs, strict=True)
    return scored({"a": first, "b": second})


def judged(
    *, n: int, labelled: int, seed: int, system: str = "agent", flip: float = 0.15
) -> pd.DataFrame:
    """A 0/1 truth, a judge that is wrong now and then, labels on the first examples."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < 0.7).astype(float)
    said = np.where(rng.random(n) < flip, 1 - truth, truth)
    marks = np.where(np.arange(n) < labelled, truth, np.nan)
    table = scored({"judge": said, "human": marks}, system=system)
    return table[table["score"].notna()].reset_index(drop=True)
