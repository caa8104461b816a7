"""The builder behind `make demo`, on a tiny notebook of its own."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

import build_pages

PLOT = """
import matplotlib.pyplot as plt
from pathlib import Path
figure, axes = plt.subplots()
axes.plot([1, 2, height])
for ending in ("svg", "pdf", "png"):
    figure.savefig(Path(out_dir) / f"line.{ending}")
"""
WIDGET = """
import ipywidgets
from IPython.display import display
slider = ipywidgets.IntSlider(value=3)
bundle = {"text/html": "<figure><img alt='A static slider' src='data:,'></figure>"}
display({**slider._repr_mimebundle_(), **bundle}, raw=True)
"""


def notebook_of(*sources: str, parameters: str = 'out_dir = "."\nheight = 3') -> NotebookNode:
    first = nbformat.v4.new_code_cell(parameters, metadata={"tags": ["parameters"]})
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    text = nbformat.v4.new_markdown_cell("# A line\n\nThe mean is $\\bar x$.")
    return nbformat.v4.new_notebook(cells=[text, first, *cells])


def written(folder: Path, *sources: str) -> Path:
    path = folder / "notebooks" / "07_line.ipynb"
    path.parent.mkdir()
    nbformat.write(notebook_of(*sources), path)
    return path


def test_parameters_go_right_after_their_cell() -> None:
    before = notebook_of("height")
    after = build_pages.with_parameters(before, {"height": 9, "name": "it's"})
    assert [cell.source for cell in after.cells[2:]] == ['height = 9\nname = "it\'s"', "height"]
    assert len(before.cells) == 3


def test_parameters_need_a_tagged_cell() -> None:
    bare = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")])
    with pytest.raises(build_pages.BuildError, match="no cell tagged 'parameters'"):
        build_pages.with_parameters(bare, {"height": 9})
    assert build_pages.with_parameters(bare, {}) == bare


@pytest.mark.notebook
def test_a_built_page_holds_its_pictures_and_asks_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    notebook = written(tmp_path, PLOT, WIDGET)
    status = build_pages.main([str(notebook), "--out", str(tmp_path / "b"), "--charts", "line"])
    said = capsys.readouterr()
    assert status == 0, said.err
    page = tmp_path / "b" / "07_line.html"
    charts = [tmp_path / "b" / "line" / f"line.{ending}" for ending in ("svg", "pdf", "png")]
    for path in [page, *charts]:
        assert path.stat().st_size > 0
        assert str(path) in said.out

    html = page.read_text(encoding="utf-8")
    assert "data:image/png;base64," in html
    assert "A static slider" in html
    assert "widget-view" not in html
    assert "<title>07_line</title>" in html
    assert str(tmp_path) not in html
    assert not re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=.?https?:", html)
    assert "import(" not in html


@pytest.mark.notebook
def test_a_missing_or_stale_chart_is_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook = written(tmp_path, "height")
    out = tmp_path / "b"
    (out / "line").mkdir(parents=True)
    (out / "line" / "line.svg").write_text("from an earlier run")
    assert build_pages.main([str(notebook), "--out", str(out), "--charts", "line"]) == 1
    assert "line.svg" in capsys.readouterr().err


@pytest.mark.notebook
def test_a_failing_cell_is_reported_with_its_error(tmp_path: Path) -> None:
    with pytest.raises(build_pages.BuildError, match="ZeroDivisionError"):
        build_pages.execute(notebook_of("height / 0"), cwd=tmp_path, parameters={"height": 1})


def test_a_notebook_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert build_pages.main(["notebooks/99_nothing.ipynb"]) == 1
    assert "there is no notebook" in capsys.readouterr().err


def test_empty_files_count_as_missing(tmp_path: Path) -> None:
    empty, full = tmp_path / "empty", tmp_path / "full"
    empty.touch()
    full.write_text("x")
    assert build_pages.missing_files([empty, full, tmp_path]) == [empty, tmp_path]
