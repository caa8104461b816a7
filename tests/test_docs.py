"""The pages of docs/: their code runs, and they leave nothing unlinked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import evaltoolkit

PAGES = Path(__file__).resolve().parents[1] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
WITH_CODE = sorted(
    page.name for page in PAGES.glob("*.md") if BLOCK.search(page.read_text("utf-8"))
)


@pytest.mark.filterwarnings("ignore::evaltoolkit.errors.EvalToolkitWarning")
@pytest.mark.parametrize("name", WITH_CODE)
def test_the_code_of_a_page_runs_from_top_to_bottom(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    for number, code in enumerate(BLOCK.findall((PAGES / name).read_text("utf-8")), start=1):
        exec(compile(code, f"docs/{name}, block {number}", "exec"), namespace)


def test_every_page_is_listed() -> None:
    listed = (PAGES / "README.md").read_text("utf-8")
    pages = {page.name for page in PAGES.glob("*.md")} - {"README.md"}
    assert {name for name in pages if f"]({name})" not in listed} == set()


def test_the_pages_name_only_public_functions_that_exist() -> None:
    text = "\n".join(page.read_text("utf-8") for page in PAGES.glob("*.md"))
    names = set(re.findall(r"\bet\.([a-z_]+)\b(?!\.)", text)) - {"readers"}
    assert {name for name in names if not hasattr(evaltoolkit, name)} == set()
