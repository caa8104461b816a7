"""Which formats there are, and how another package adds one."""

from __future__ import annotations

import types
from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from evaltoolkit.errors import EvalToolkitWarning
from evaltoolkit.readers import formats, read_scores, registry
from evaltoolkit.readers.base import Batch, Format, Reading, Source


def _read(source: Source, reading: Reading) -> Iterator[Batch]:
    score = float(source.path.read_text().removeprefix("SCORE "))
    yield Batch(
        scores=[{"system": reading.system or "x", "example_id": "1", "criterion": "c",
                 "score": score}],
        notes=["read by the plugin"],
    )  # fmt: skip


PLUGIN = Format(
    name="plain",
    title="One number",
    detect=lambda source: source.head.startswith(b"SCORE "),
    read=_read,
)


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
    """Entry points that an installed package would declare; the registry is rebuilt."""
    declared: list[EntryPoint] = []
    module = types.ModuleType("plugin_for_tests")
    vars(module).update(FORMAT=PLUGIN, NUMBER=7, TAKEN=Format("table", "x", PLUGIN.detect, _read))
    monkeypatch.setitem(__import__("sys").modules, module.__name__, module)
    monkeypatch.setattr(registry, "entry_points", lambda group: EntryPoints(declared))
    registry.all_formats.cache_clear()
    yield declared
    registry.all_formats.cache_clear()


def entry(target: str) -> EntryPoint:
    return EntryPoint("plain", target, registry.GROUP)


def test_the_built_in_formats_in_the_order_in_which_files_are_tried() -> None:
    listed = formats()
    assert listed.columns.tolist() == ["name", "title", "tables", "detected_by", "notes"]
    table = listed.set_index("name").loc["table"]
    assert "system, example_id, criterion, score" in table["detected_by"]
    assert "nested" in table["notes"]
    assert listed["name"].tolist()[:3] == ["inspect", "lm_eval", "evalshift"]
    assert listed["name"].tolist()[-1] == "table"
    assert listed.set_index("name")["tables"]["table"] == "details, outputs, scores"


def test_another_package_adds_a_format(plugins: list[EntryPoint], tmp_path: Path) -> None:
    plugins.append(entry("plugin_for_tests:FORMAT"))
    assert formats()["name"].tolist()[-2:] == ["plain", "table"]
    path = tmp_path / "a.plain"
    path.write_text("SCORE 0.25")
    scores = read_scores(path)
    assert scores["score"].tolist() == [0.25]
    assert scores.attrs["notes"] == ["read by the plugin"]
    assert read_scores(path, format="plain", system="mine")["system"].tolist() == ["mine"]


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("plugin_for_tests:ABSENT", "has no attribute 'ABSENT'"),
        ("no_such_module:FORMAT", "No module named 'no_such_module'"),
        ("plugin_for_tests:NUMBER", "leads to a int, not to a Format"),
        ("plugin_for_tests:TAKEN", "the format name 'table' is taken"),
    ],
)
def test_a_broken_plugin_is_left_out_with_a_warning(
    plugins: list[EntryPoint], target: str, reason: str
) -> None:
    plugins.append(entry(target))
    with pytest.warns(EvalToolkitWarning, match=f"the format 'plain'.*is left out.*{reason}"):
        assert "plain" not in formats()["name"].tolist()
