"""Execute a notebook and leave a self-contained HTML page and its charts in a folder.

Used by `make demo` and, through the fixture ``run_notebook``, by the tests:

    python notebooks/build_pages.py notebooks/01_quickstart.ipynb --out build --charts delta_forest

The notebook gets its output folder through the variable ``out_dir`` of its parameter cell. The
page holds all its pictures, asks the network for nothing, and shows the static copy of every
widget, since a widget without a kernel is an empty box.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import nbformat
from jinja2 import DictLoader
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellControlSignal, DeadKernelError
from nbconvert import HTMLExporter
from nbformat import NotebookNode

CHART_FORMATS = ("svg", "pdf", "png")
WIDGET = "application/vnd.jupyter.widget-view+json"

# A plot must be drawn by the notebook's own inline backend, never by one that the caller set:
# MPLBACKEND=Agg makes every picture of a notebook vanish without a word.
NOT_FOR_KERNELS = ("MPLBACKEND", "JUPYTER_PATH", "PYTHONSTARTUP")
PRIVATE_FOLDERS = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")

PAGE_TEMPLATE = """
{%- extends 'lab/index.html.j2' -%}
{%- block html_head_js -%}{%- endblock -%}
{%- block jupyter_widgets -%}{%- endblock -%}
{%- block html_head_js_mathjax -%}{%- endblock -%}
{%- block html_head_js_mermaidjs -%}{%- endblock -%}
"""


class BuildError(Exception):
    """A notebook did not run, or did not leave what it promised."""


def with_parameters(notebook: NotebookNode, parameters: Mapping[str, object]) -> NotebookNode:
    """Set variables right after the cell that is tagged ``parameters``.

    Args:
        notebook: A notebook in format 4.
        parameters: Names and plain values (anything whose ``repr`` is Python source).

    Returns:
        A copy with one more code cell; without parameters an unchanged copy.

    Raises:
        BuildError: There are parameters but no cell with that tag.
    """
    copy = nbformat.from_dict(notebook)
    if not parameters:
        return copy
    tagged = [i for i, cell in enumerate(copy.cells) if "parameters" in tags_of(cell)]
    if not tagged:
        raise BuildError("the notebook has no cell tagged 'parameters' that could take values")
    source = "\n".join(f"{name} = {value!r}" for name, value in parameters.items())
    cell = nbformat.v4.new_code_cell(source, metadata={"tags": ["injected-parameters"]})
    copy.cells.insert(tagged[0] + 1, cell)
    return copy


def tags_of(cell: NotebookNode) -> Sequence[str]:
    """Return the tags of a cell."""
    tags: Sequence[str] = cell.metadata.get("tags", [])
    return tags


def kernel_environment(folder: Path) -> dict[str, str]:
    """Return an environment in which a kernel or a Jupyter server sees no settings of its user.

    Args:
        folder: An existing folder for the private Jupyter folders.
    """
    kept = {name: value for name, value in os.environ.items() if name not in NOT_FOR_KERNELS}
    return kept | {name: str(folder / name.lower()) for name in PRIVATE_FOLDERS}


def execute(
    notebook: NotebookNode,
    *,
    cwd: Path,
    parameters: Mapping[str, object] | None = None,
    timeout: int = 300,
) -> NotebookNode:
    """Run a notebook from top to bottom in a new kernel of this Python.

    Args:
        notebook: The notebook; it is not changed.
        cwd: The folder in which its code runs.
        parameters: Values for its parameter cell.
        timeout: Seconds that one cell may take.

    Returns:
        The executed copy, with outputs and widget state.

    Raises:
        BuildError: A cell failed, timed out or killed its kernel; the cause has the traceback.
    """
    executed = with_parameters(notebook, parameters or {})
    # Socket paths must be short, so the folder is made by name and not by a test framework.
    with tempfile.TemporaryDirectory(prefix="nb-") as folder:
        manager = AsyncKernelManager(
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
            transport="ipc" if os.name == "posix" else "tcp",
            connection_file=str(Path(folder) / "kernel.json"),
        )
        client = NotebookClient(executed, km=manager, timeout=timeout, startup_timeout=120)
        try:
            # A manager that nbclient did not make is not ended by it unless told to.
            client.execute(cleanup_kc=True, cwd=str(cwd), env=kernel_environment(Path(folder)))
        except (CellControlSignal, DeadKernelError) as error:
            raise BuildError(f"the notebook stopped: {error}") from error
    return executed


def to_html(notebook: NotebookNode, *, title: str) -> str:
    """Render an executed notebook as one HTML page that needs no network.

    Args:
        notebook: The executed notebook; it is not changed.
        title: The title of the page, where the notebook does not set one.

    Returns:
        The page. Widgets are shown by their static form (``text/html``, a picture or text).
    """
    frozen = nbformat.from_dict(notebook)
    frozen.metadata.pop("widgets", None)
    for cell in frozen.cells:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET, None)
    exporter = HTMLExporter(
        extra_loaders=[DictLoader({"page.html.j2": PAGE_TEMPLATE})],
        template_file="page.html.j2",
        embed_images=True,
    )
    page, _ = exporter.from_notebook_node(frozen, {"metadata": {"name": title}})
    return str(page)


def missing_files(paths: Sequence[Path]) -> list[Path]:
    """Return the paths at which there is no file or an empty one."""
    return [path for path in paths if not path.is_file() or path.stat().st_size == 0]


def build(notebook: Path, *, out: Path, charts: Sequence[str] = ()) -> list[Path]:
    """Execute one notebook file and leave its page and charts.

    Args:
        notebook: Path of the ``.ipynb`` file.
        out: Folder for the page; the notebook's own files go to the folder of its name in it.
        charts: Names of the charts that the notebook must write, without ending.

    Returns:
        The files that were asked for: the page and each chart in every format.

    Raises:
        BuildError: The notebook is not there, does not run, or leaves a file out or empty.
    """
    if not notebook.is_file():
        raise BuildError(f"there is no notebook {notebook}")
    name = notebook.stem
    folder = out / name.lstrip("0123456789_")
    page = out / f"{name}.html"
    wanted = [page, *(folder / f"{chart}.{ending}" for chart in charts for ending in CHART_FORMATS)]
    folder.mkdir(parents=True, exist_ok=True)
    for path in wanted:  # a file of an earlier run must not pass for one of this run
        path.unlink(missing_ok=True)

    # Relative, so that the page does not show where on this machine it was built.
    out_dir = os.path.relpath(folder, notebook.parent)
    source = nbformat.read(notebook, as_version=4)
    executed = execute(source, cwd=notebook.parent, parameters={"out_dir": out_dir})
    page.write_text(to_html(executed, title=name), encoding="utf-8")

    if missing := missing_files(wanted):
        raise BuildError(f"{notebook} left out or empty: " + ", ".join(map(str, missing)))
    return wanted


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; print where the files are.

    Returns:
        The exit status: 0, or 1 where anything is missing.
    """
    parser = argparse.ArgumentParser(description="Execute a notebook, leave its page and charts.")
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--out", type=Path, default=Path("build"), help="folder for the page")
    parser.add_argument("--charts", nargs="*", default=[], help="charts the notebook must write")
    options = parser.parse_args(arguments)
    try:
        files = build(options.notebook, out=options.out, charts=options.charts)
    except BuildError as error:
        print(f"failed: {error}", file=sys.stderr)
        return 1
    print(f"{options.notebook} ran; it left:")
    for path in files:
        print(f"  {path}  ({path.stat().st_size / 1024:.0f} kB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
