"""The front door: what `evaltoolkit` exports, and how little its import loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import evaltoolkit as et

ROOT = Path(et.__file__).resolve().parents[1]
# pandas itself loads pyarrow where that is installed
HEAVY = (
    *("scipy", "statsmodels", "matplotlib", "ipywidgets", "pydantic", "IPython"),
    *("zstandard", "rapidfuzz", "jsonschema", "nbformat", "xllamacpp"),
)


def python(code: str) -> str:
    """Run code in a new Python whose current folder is the repository; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", et.__all__)
def test_every_public_name_resolves(name: str) -> None:
    value = getattr(et, name)
    assert value.__doc__
    assert name in dir(et)


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(et.__file__).read_text(encoding="utf-8"))
    block = next(
        node for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node)
    )
    seen = {
        alias.asname: (node.module or "").removeprefix("evaltoolkit").lstrip(".") or alias.name
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == et._ROOM_OF


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'comparee'"):
        _ = et.comparee  # type: ignore[attr-defined]


def test_import_loads_no_heavy_package() -> None:
    code = (
        "import sys, evaltoolkit as et\n"
        "et.check_scores, et.tidy_scores, et.describe_criteria\n"
        f"print(*(name for name in {HEAVY!r} if name in sys.modules))"
    )
    assert python(code).split() == []


def test_the_version_is_the_installed_one() -> None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        installed = version("evaltoolkit")
    except PackageNotFoundError:
        pytest.skip("evaltoolkit is not installed, only on the path")
    assert installed == et.__version__
