"""Score tables of every format, written in each form and read again, are the same tables."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from evaltoolkit.readers import read_scores
from evaltoolkit.storage import write_scores
from tests.readers.minimal import MINIMAL


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("name", list(MINIMAL))
def test_a_table_comes_back_as_it_was(name: str, suffix: str, tmp_path: Path) -> None:
    if suffix == ".parquet":
        pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    (tmp_path / "original").mkdir()
    original = read_scores(MINIMAL[name](tmp_path / "original"))
    path = write_scores(original, tmp_path / f"written{suffix}")
    back = read_scores(path)
    assert back.attrs == {"skipped": [], "problems": [], "notes": [], "unknown": []}
    pd.testing.assert_frame_equal(back, original, check_exact=True)
    assert back.dtypes.to_dict() == original.dtypes.to_dict()
