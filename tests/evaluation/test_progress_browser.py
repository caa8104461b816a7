"""The bar of a run in JupyterLab, in a real browser, while the event loop of the kernel runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import nbformat
import pytest

from support.browser import CELLS_HAVE_RUN, NOTEBOOK_IS_OPEN, RUN_ALL_CELLS, Lab, Traffic

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

# The last answer waits until the test has seen the bar.
CELL = """
import asyncio, pathlib
import evaltoolkit as et

async def system(text):
    while text == "c" and not pathlib.Path("go").exists():
        await asyncio.sleep(0.05)
    return text

items = [et.models.Example(id=t, input=t, reference=t) for t in "abc"]
run = et.evaluate(items, {"m": system}, [et.scorers.ExactMatch()])
print("mean is", run.means()["m"]["ExactMatch"])
"""


def test_the_bar_moves_and_goes(lab: Lab, page: Page, traffic: Traffic) -> None:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(CELL)], metadata={"kernelspec": kernel}
    )
    folder = lab.folder / "notebooks"
    nbformat.write(notebook, folder / "run.ipynb")
    page.goto(f"{lab.address}/lab/tree/notebooks/run.ipynb?reset&token={lab.token}")
    page.wait_for_function(NOTEBOOK_IS_OPEN)
    page.evaluate(RUN_ALL_CELLS)
    page.get_by_text("2 of 3 answers").wait_for()
    assert page.locator(".widget-hprogress").count() == 1
    (folder / "go").touch()
    assert page.wait_for_function(CELLS_HAVE_RUN).json_value() == "yes"
    page.get_by_text("mean is 1.0").wait_for()
    assert page.locator(".widget-hprogress").count() == 0
    assert not traffic.outside
