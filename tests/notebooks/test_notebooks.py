"""Every notebook runs from top to bottom, says nothing on stderr and renders as a page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from nbformat import NotebookNode

import build_pages

NAMES = sorted(path.stem for path in Path(build_pages.__file__).parent.glob("*.ipynb"))

pytestmark = pytest.mark.notebook


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs(
    name: str, run_notebook: Callable[..., NotebookNode], tmp_path: Path
) -> None:
    executed = run_notebook(name, out_dir=str(tmp_path))
    outputs = [output for cell in executed.cells for output in cell.get("outputs", [])]
    assert outputs
    assert not [each.text for each in outputs if each.get("name") == "stderr"]
    page = build_pages.to_html(executed, title=name)
    assert "No description has been provided for this image" not in page
