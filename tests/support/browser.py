"""A JupyterLab server and a headless Chromium for the tests that need a real page.

Everything stays on the loopback address, has a time limit and is stopped with all its children.
Notebooks run through the application object that JupyterLab exposes, never through its menus:
right after the page opens, Lab looks idle before the notebook has its kernel, and a click in that
moment opens a dialog.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

# Loaded by the fixtures that use them: most test runs need neither and should start at once.
if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, Request

ROOT = Path(__file__).resolve().parents[2]
HOST = "127.0.0.1"
SERVER_SECONDS = 60
PAGE_MILLISECONDS = 30_000
CELLS_MILLISECONDS = 120_000
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_PATHS = ("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",)
CHROMIUM_FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
    "--no-sandbox",
)

# An evaluated promise has no time limit, so the script only leaves its end (or error) to wait for.
RUN_ALL_CELLS = """() => {
  const run = async () => {
    const app = window.jupyterapp;
    await app.restored;
    const panel = app.shell.currentWidget;
    await panel.context.ready;
    await panel.sessionContext.ready;
    await panel.sessionContext.session.kernel.info;
    await app.commands.execute('notebook:run-all-cells');
  };
  window.cellsHaveRun = '';
  run().then(() => { window.cellsHaveRun = 'yes'; },
             error => { window.cellsHaveRun = String(error); });
}"""
CELLS_HAVE_RUN = "() => window.cellsHaveRun"
NOTEBOOK_IS_OPEN = "() => window.jupyterapp?.shell.currentWidget?.sessionContext"


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab: where its files are and how to reach it."""

    folder: Path
    address: str
    token: str

    def run(self, page: Page, notebook: str) -> None:
        """Open a notebook of `folder` (a relative path) and run all its cells.

        The notebook must name its kernel: otherwise Lab opens a dialog and waits for an answer.
        """
        page.goto(f"{self.address}/lab/tree/{notebook}?reset&token={self.token}")
        page.wait_for_function(NOTEBOOK_IS_OPEN)
        page.evaluate(RUN_ALL_CELLS)
        outcome = page.wait_for_function(CELLS_HAVE_RUN, timeout=CELLS_MILLISECONDS).json_value()
        assert outcome == "yes", f"the cells of {notebook} did not run: {outcome}"


@dataclass
class Traffic:
    """What a page asked for and what went wrong in it."""

    requests: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        page.on("request", self._requested)
        page.on("requestfailed", self._request_failed)
        page.on("console", self._logged)

    def _requested(self, request: Request) -> None:
        self.requests.append(request.url)

    def _request_failed(self, request: Request) -> None:
        self.failed.append(request.url)

    def _logged(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    @property
    def outside(self) -> list[str]:
        """Requests that would leave this machine."""
        local = (f"http://{HOST}:", f"ws://{HOST}:", "file:", "data:", "blob:", "about:")
        return [url for url in self.requests if not url.startswith(local)]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def find_chromium() -> str | None:
    """Return the browser to use: ``$CHROMIUM``, a known name or a known place."""
    if chosen := os.environ.get("CHROMIUM"):
        return chosen
    on_path = (shutil.which(name) for name in CHROMIUM_NAMES)
    in_place = (path for path in CHROMIUM_PATHS if Path(path).is_file())
    return next(filter(None, [*on_path, *in_place]), None)


def lab_environment(folder: Path) -> dict[str, str]:
    """Return the private environment of a server that shows no news and keeps no state."""
    from build_pages import kernel_environment

    settings = folder / "settings"
    own = settings / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    own.parent.mkdir(parents=True)
    own.write_text(json.dumps({"fetchNews": "false", "checkForUpdates": False}))
    return kernel_environment(folder) | {
        "JUPYTERLAB_SETTINGS_DIR": str(settings),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
    }


def start_server(
    command: Sequence[str], *, env: Mapping[str, str], log: Path, probe: str
) -> subprocess.Popen[bytes]:
    """Start a server as a process group of its own and wait until it answers.

    Returns:
        The running `subprocess.Popen`.

    Raises:
        RuntimeError: It ended or did not answer in time; the message has the end of its log.
    """
    with log.open("w") as stream:
        process = subprocess.Popen(  # fixed command, loopback only
            command, env=dict(env), stdout=stream, stderr=subprocess.STDOUT, start_new_session=True
        )
    end = time.monotonic() + SERVER_SECONDS
    while process.poll() is None and time.monotonic() < end:
        try:
            with urllib.request.urlopen(probe, timeout=2):
                return process
        except OSError:
            time.sleep(0.2)
    stop_group(process)
    raise RuntimeError(f"{command[2]} did not come up:\n{log.read_text()[-2000:]}")


def stop_group(process: subprocess.Popen[bytes]) -> None:
    """End a server and its kernels: politely, after ten seconds by force."""
    if process.poll() is not None:
        return
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)


@pytest.fixture(scope="session")
def lab(chrome: Browser, tmp_path_factory: pytest.TempPathFactory) -> Generator[Lab]:
    """JupyterLab on a copy of notebooks/, with data/ beside it as in the repository.

    It asks for the browser, so that no server starts where nobody could look at it.
    """
    del chrome
    folder = tmp_path_factory.mktemp("lab")
    root = folder / "files"
    shutil.copytree(ROOT / "notebooks", root / "notebooks")
    if (ROOT / "data").is_dir():
        (root / "data").symlink_to(ROOT / "data")
    port, token = free_port(), secrets.token_hex(16)
    address = f"http://{HOST}:{port}"
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        *(f"--ip={HOST}", f"--port={port}", "--ServerApp.port_retries=0"),
        *(f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={root}"),
        *("--LabApp.expose_app_in_browser=True", "--LabApp.extension_manager=readonly"),
    ]
    env = lab_environment(folder)
    process = start_server(command, env=env, log=folder / "log", probe=f"{address}/api")
    yield Lab(folder=root, address=address, token=token)
    stop_group(process)


@pytest.fixture(scope="session")
def chrome() -> Generator[Browser]:
    """A headless Chromium of this machine."""
    from playwright.sync_api import Error, sync_playwright

    path = find_chromium()
    if path is None:
        pytest.skip("no Chromium on this machine (`make test` installs it where it may)")
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(
                executable_path=path, headless=True, args=list(CHROMIUM_FLAGS)
            )
        except Error as error:
            pytest.skip(f"{path} does not start: {error.message.splitlines()[0]}")
        yield browser
        browser.close()


@pytest.fixture
def traffic() -> Traffic:
    """The record of the `page` of the same test."""
    return Traffic()


@pytest.fixture
def page(chrome: Browser, traffic: Traffic, request: pytest.FixtureRequest) -> Generator[Page]:
    """An empty page; what it shows when its test fails is kept in build/failures/."""
    context = chrome.new_context(viewport={"width": 1200, "height": 900})
    new = context.new_page()
    new.set_default_timeout(PAGE_MILLISECONDS)
    traffic.watch(new)
    failures_before = request.session.testsfailed
    yield new
    if request.session.testsfailed > failures_before:
        folder = ROOT / "build" / "failures"
        folder.mkdir(parents=True, exist_ok=True)
        new.screenshot(path=folder / f"{request.node.name}.png")
    context.close()
