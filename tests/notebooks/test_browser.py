"""A live widget in JupyterLab and a built page, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest

import build_pages
from support.browser import Lab, Traffic

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

WIDGET = """
import ipywidgets
choice = ipywidgets.Dropdown(options=["bar", "line"], description="Kind")
words = ipywidgets.HTML("kind is bar")
choice.observe(lambda change: setattr(words, "value", f"kind is {change.new}"), "value")
ipywidgets.VBox([choice, words])
"""


def test_a_widget_answers_in_jupyterlab(lab: Lab, page: Page, traffic: Traffic) -> None:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(WIDGET)], metadata={"kernelspec": kernel}
    )
    nbformat.write(notebook, lab.folder / "notebooks" / "widget.ipynb")
    lab.run(page, "notebooks/widget.ipynb")
    page.get_by_text("kind is bar", exact=True).wait_for()
    page.locator(".widget-dropdown select").select_option("line")
    page.get_by_text("kind is line", exact=True).wait_for()
    assert not traffic.outside
    assert not traffic.failed
    assert not traffic.errors


def test_a_built_page_opens_without_a_request(tmp_path: Path, page: Page, traffic: Traffic) -> None:
    source = "from IPython.display import HTML\nHTML('<b id=shown>seen</b>')"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    executed = build_pages.execute(notebook, cwd=tmp_path)
    path = tmp_path / "page.html"
    path.write_text(build_pages.to_html(executed, title="seen"), encoding="utf-8")
    page.goto(path.as_uri())
    page.locator("#shown").wait_for()
    assert traffic.requests == [path.as_uri()]
    assert not traffic.errors
