"""Settings of a criterion that two runs may differ in, though they measure the same.

Whether a criterion blocks, where its threshold is and what it weighs is decided for each run. In
one table a criterion can have only one of each. Where files disagree the cell is left empty, with
a warning: whoever analyses the table decides. A file that disagrees with itself is refused.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from evaltoolkit.errors import listed

_SETTINGS = ("blocking", "threshold", "weight")


def without_disagreement(table: pd.DataFrame, files: np.ndarray) -> tuple[pd.DataFrame, list[str]]:
    """Empty the settings in which files disagree on a criterion.

    Args:
        table: Rows of several files, in the dtypes of the score table.
        files: For each row the number of its file.

    Returns:
        The table, and a sentence on each setting that was emptied.

    Example:
        >>> rows = pd.DataFrame({"criterion": ["acc", "acc"], "weight": [1.0, 2.0]})
        >>> without_disagreement(rows, np.array([0, 1]))[0]["weight"].tolist()
        [nan, nan]
    """
    texts: list[str] = []
    for name in _SETTINGS:
        if name in table.columns:
            for criterion in _disputed(table, files, name):
                rows = table["criterion"] == criterion
                texts.append(_text(name, criterion, table.loc[rows, name]))
                table = table.assign(**{name: table[name].mask(rows)})
    return table, texts


def _disputed(table: pd.DataFrame, files: np.ndarray, name: str) -> Iterator[str]:
    together = table.groupby("criterion", sort=False)[name].nunique()
    if (together > 1).any():
        apart = table.groupby(["criterion", files], sort=False)[name].nunique().groupby(level=0)
        agree_inside = (apart.max() <= 1).to_dict()
        for criterion, count in together.to_dict().items():
            if count > 1 and agree_inside[criterion]:
                yield str(criterion)


def _text(name: str, criterion: str, values: pd.Series) -> str:
    given = listed(values.dropna().unique().tolist())
    return (
        f"{name} of the criterion {criterion!r} differs between the files read ({given}) and is "
        "left empty; set it for all rows, e.g. "
        f"scores.loc[scores['criterion'] == {criterion!r}, {name!r}] = ..., or read the files apart"
    )
