"""The repository itself: what may not be in it, and what must be kept in step."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import evaltoolkit

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
TOP_LEVEL = {"evaltoolkit", "notebooks", "tests", "data", "docs"}
BUILT = {"build", "dist", "__pycache__", ".ipynb_checkpoints"}
SETTINGS = (".toml", ".txt", ".cfg", ".ini", ".yaml", ".yml", ".lock")
READ_BY_PEOPLE = (*SETTINGS, ".py", ".md", ".ipynb", ".sh", "Makefile", "run")

LOCK_FILE = re.compile(r"(\.lock|^pylock.*\.toml|^package-lock\.json|^npm-shrinkwrap\.json)$")
# The dots are in brackets so that this file passes its own check.
PACKAGE_INDEX = re.compile(
    r"pypi[.]org/simple|pythonhosted[.]org|npmjs[.]org|(?:deb|security)[.]debian[.]org"
    r"|(?:index-url|find-links|default-index)[= ]\S*[:/]",
)
MACHINE_PATH = re.compile(r"(?<![\w.~}$)-])/(?:home|root|tmp|work|Users)/\w")


def in_git(folder: Path) -> list[str]:
    """Return the tracked files, or none where this is no repository or has no file yet."""
    git = shutil.which("git")
    if git is None or not (folder / ".git").exists():
        return []
    command = [git, "-c", f"safe.directory={folder}", "ls-files", "-z"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return [name for name in done.stdout.split("\0") if name]


def on_disk(folder: Path) -> Iterator[str]:
    """Yield all files but those of tools and builds."""
    for base, folders, names in os.walk(folder):
        hidden = {name for name in folders if name.startswith(".") and name != ".ci"}
        folders[:] = [name for name in folders if name not in hidden | BUILT]
        yield from (os.path.relpath(Path(base) / name, folder) for name in names)


TRACKED = [ROOT / name for name in in_git(ROOT) or on_disk(ROOT)]
TEXT = [path for path in TRACKED if path.name.endswith(READ_BY_PEOPLE) and path.is_file()]


def found(pattern: re.Pattern[str], paths: list[Path]) -> list[str]:
    """Return file, line and match of a pattern."""
    return [
        f"{path.relative_to(ROOT)}:{number}: {match.group()}"
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        for match in pattern.finditer(line)
    ]


def test_no_lock_file_is_kept() -> None:
    assert not [path for path in TRACKED if LOCK_FILE.search(path.name)]


def test_no_file_names_a_package_index() -> None:
    assert not found(PACKAGE_INDEX, TEXT)


def test_no_setting_holds_an_address() -> None:
    settings = [path for path in TEXT if path.name.endswith(SETTINGS) and "data" not in path.parts]
    assert not found(re.compile(r"\w+://\S+"), settings)


def test_no_file_names_a_path_of_one_machine() -> None:
    assert not found(MACHINE_PATH, TEXT)


def test_these_checks_see_what_they_look_for() -> None:
    """A guard that never fires guards nothing; the words are in pieces to pass their own check."""
    slash = "/"
    assert PACKAGE_INDEX.search("pip install --index-" + "url https://host/simple x")
    assert PACKAGE_INDEX.search("https://files." + "pythonhosted" + ".org")
    assert not PACKAGE_INDEX.search("unset the index-url before")
    assert MACHINE_PATH.search(f"read({slash}home/someone/scores.csv)")
    assert MACHINE_PATH.search(f'"{slash}tmp/x"')
    assert not MACHINE_PATH.search("build/home/page.html and ../" + "work/x")
    assert LOCK_FILE.search("uv.lock")
    assert not LOCK_FILE.search("padlock.py")


def test_the_top_level_is_as_agreed() -> None:
    folders = {path.relative_to(ROOT).parts[0] for path in TRACKED if path.parent != ROOT}
    assert {name for name in folders if not name.startswith(".")} <= TOP_LEVEL


def test_the_changelog_has_the_current_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## [Unreleased]" in text
    assert f"## [{evaltoolkit.__version__}]" in text


def test_constraints_pin_every_direct_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    wanted = {name_of(line) for group in [project["dependencies"], *extras] for line in group}
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert all(re.match(r"[\w.-]+==[\w.+]+( ; .+)?$", line) for line in lines)
    assert wanted - {"evaltoolkit"} <= {name_of(line) for line in lines}


def name_of(requirement: str) -> str:
    """Return the normalised project name at the start of a requirement."""
    match = re.match(r"[\w.-]+", requirement)
    assert match, requirement
    return re.sub(r"[-_.]+", "-", match.group()).lower()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_kept_clean(path: Path) -> None:
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert not [cell for cell in code if cell["outputs"] or cell["execution_count"]]
    assert "widgets" not in notebook["metadata"]
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert re.match(r"\d\d_\w+$", path.stem)
    assert any("parameters" in cell["metadata"].get("tags", []) for cell in code)


def python_blocks(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.filterwarnings("ignore::evaltoolkit.EvalToolkitWarning")
def test_the_readme_example_runs(
    bundled_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = python_blocks(ROOT / "README.md")
    assert blocks
    (tmp_path / "data").symlink_to(bundled_data)
    monkeypatch.chdir(tmp_path)
    exec(compile("\n".join(blocks), "README.md", "exec"), {"__name__": "readme"})
    assert any((tmp_path / "report").iterdir())


def ask_for_python(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run the search for an interpreter where the only `python3` is a given shell script."""
    fake = folder / "python3"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    env = {"PATH": f"{folder}{os.pathsep}{os.defpath}", "PYTHON": "python3"}
    command = ROOT / ".ci" / "find-python"
    return subprocess.run([command], env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("script", "remark"),
    [
        ('case "$2" in *print*) echo 3.9;; *) exit 1;; esac', "python3 is 3.9;"),
        ('case "$2" in *print*) echo 3.12;; *ensurepip*) exit 1;; esac', "apt-get install"),
        ("exit 127", "none of (python3) runs"),
    ],
    ids=["too old", "without venv", "does not run"],
)
def test_an_unfit_python_gets_a_clear_message(tmp_path: Path, script: str, remark: str) -> None:
    done = ask_for_python(tmp_path, script)
    assert done.returncode == 1
    assert not done.stdout
    assert remark in done.stderr
    assert "needs Python 3.11 or newer" in done.stderr


def test_a_fit_python_is_found(tmp_path: Path) -> None:
    done = ask_for_python(tmp_path, f'exec "{sys.executable}" "$@"')
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).samefile(sys.executable)


@pytest.mark.long
def test_the_demo_installs_from_nothing(tmp_path: Path) -> None:
    """A copy of the tracked files in an empty folder can build its demo."""
    copy = tmp_path / "a copy"
    for path in TRACKED:
        target = copy / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    env = os.environ | {"PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    for _ in range(2):  # the second time everything is there already
        done = subprocess.run(
            ["make", "demo"], cwd=copy, env=env, capture_output=True, text=True, timeout=900
        )
        assert done.returncode == 0, done.stderr
    assert "build/01_quickstart.html" in done.stdout
    assert "installing" not in done.stdout
