"""The explorer clicked in a real JupyterLab: picture, table and words follow the controls."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest

from support.browser import Lab, Traffic

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser

CELL = """
import evaltoolkit as et

scores = et.read_scores({data!r} + "/scores.jsonl")
outputs = et.read_outputs({data!r} + "/outputs.jsonl")
et.explore(scores, outputs, baseline="q4_1", candidate="q4_0")
"""


def control(page: Page, name: str) -> Locator:
    return page.locator(f".widget-dropdown:has(label:text-is('{name}')) select")


def shown_picture(page: Page) -> str:
    picture = page.locator(".jupyter-widgets img[alt]").first
    picture.wait_for()
    return str(picture.get_attribute("src"))


def test_the_controls_drive_the_view(
    lab: Lab, page: Page, traffic: Traffic, bundled_data: Path
) -> None:
    source = CELL.format(data=str(bundled_data / "smollm2_quantisation"))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source)], metadata={"kernelspec": kernel}
    )
    nbformat.write(notebook, lab.folder / "notebooks" / "explore.ipynb")
    lab.run(page, "notebooks/explore.ipynb")
    page.get_by_text("1 distinct analysis viewed so far").first.wait_for()
    first = shown_picture(page)

    control(page, "Candidate").select_option("q4_1_prompted")
    page.get_by_text("q4_1_prompted against q4_1: 21 to 209 pairs").first.wait_for()
    second = shown_picture(page)
    assert second != first

    control(page, "Slice by").select_option("topic")
    page.get_by_text("by='topic'").first.wait_for()
    page.locator("td:text-is('answer (topic = reading)')").first.wait_for()
    assert shown_picture(page) not in (first, second)

    # An impossible choice says why and keeps the last good view.
    control(page, "Candidate").select_option("q4_1")
    page.locator("[role=alert]:has-text('name two different systems')").first.wait_for()
    assert page.locator("td:text-is('answer (topic = reading)')").count() > 0

    summary = page.locator(".jupyter-widgets details summary").first
    summary.click()
    page.locator(".jupyter-widgets details[open] dt:text-is('input')").first.wait_for()
    assert not traffic.outside
    assert not traffic.failed
