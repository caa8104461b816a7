"""One run that stands in several files: its rows are counted once, if they are the same rows.

A log is often there twice: converted to another form, copied, or downloaded again. Where both
copies are read, every row of the second equals one of the first. Such a row is left out, with a
count, under three conditions: it comes from another file, it names its run (``run_id``), and all
cells but ``source`` are equal. Anything less is a duplicate key, about which the user decides.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from evaltoolkit.errors import listed

_PLACE = "source"
_ORIGIN = "\0file"


def without_copies(table: pd.DataFrame, files: np.ndarray, key: list[str]) -> pd.DataFrame:
    """Leave out rows that repeat a row of the same run in an earlier file, cell by cell.

    Args:
        table: Rows of several files, one below the other.
        files: For each row the number of its file; ascending.
        key: The columns that name one row.

    Returns:
        The rows that are left, with their old index; the table itself where there is no copy.
    """
    if len(files) == 0 or files[0] == files[-1] or "run_id" not in table.columns:
        return table
    suspects = table.duplicated(key, keep=False) & (table["run_id"] != "")
    if not suspects.any():
        return table
    rows = table[suspects].assign(**{_ORIGIN: files[suspects.to_numpy()]})
    cells = [name for name in table.columns if name != _PLACE]
    group = rows.groupby(cells, dropna=False, sort=False, observed=True)[_ORIGIN]
    is_copy = rows[_ORIGIN] > group.transform("min")
    return table.drop(index=rows.index[is_copy])


def copies_text(files: np.ndarray, kept: pd.Index, paths: list[str]) -> str:
    """Say how many rows of which files were left out."""
    left_out = np.ones(len(files), dtype=bool)
    left_out[kept] = False
    names = listed(paths[number] for number in np.unique(files[left_out]))
    return (
        f"{int(left_out.sum())} row(s) of {names} equal those of the same run in a file before in "
        "every cell, so they were read once; give each run once to silence this"
    )


def shared_runs(rows: pd.DataFrame, files: np.ndarray) -> bool:
    """Say whether rows with repeated keys are of one named run in several files."""
    named = rows["run_id"].to_numpy() != ""
    return bool(named.any()) and len(np.unique(files[named])) > 1
