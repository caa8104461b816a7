"""The report as files."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

import evaltoolkit as et
from tests.comparison.builders import many_criteria, paired_cells

FIGURES = ("delta_forest", "distributions", "correction_ladder")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[et.Comparison, Path]:
    frame = many_criteria(60, 4, seed=2, effect=[0.6, 0.2, 0.0, -0.5])
    result = et.compare(frame, baseline="old", candidate="new")
    folder = tmp_path_factory.mktemp("report") / "made"
    report = et.write_report(result, folder)
    assert set(report.files) == {path.name for path in folder.iterdir()}
    return result, folder


def test_every_file_is_there(written: tuple[et.Comparison, Path]) -> None:
    _, folder = written
    for name in FIGURES:
        for kind in ("svg", "pdf", "png"):
            assert (folder / f"{name}.{kind}").stat().st_size > 1000
    for name in (
        "report.md",
        "report.html",
        "results.csv",
        "results.tex",
        "pairs.csv",
        "settings.json",
    ):
        assert (folder / name).stat().st_size > 0


def test_the_page_needs_no_network(written: tuple[et.Comparison, Path]) -> None:
    page = (written[1] / "report.html").read_text("utf-8")
    assert not re.findall(r"(?:src|href)=[\"']?(?:https?:)?//", page)
    assert page.count("<img") == page.count("alt=") == 3
    assert "<h2>Methods</h2>" in page


def test_numbers_in_the_csv_are_those_of_the_table(written: tuple[et.Comparison, Path]) -> None:
    result, folder = written
    with (folder / "results.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert [float(row["delta"]) for row in rows] == result.table.delta.tolist()
    assert [float(row["p_adjusted"]) for row in rows] == result.table.p_adjusted.tolist()


def test_the_text_holds_conclusion_methods_and_figures(written: tuple[et.Comparison, Path]) -> None:
    result, folder = written
    text = (folder / "report.md").read_text("utf-8")
    assert "step-down max-t over the 4 hypotheses" in text
    for name in FIGURES:
        assert f"({name}.svg)" in text
    assert text.count("\n| ") >= 10
    assert "c03 regressed" in text
    assert json.loads((folder / "settings.json").read_text("utf-8"))["seed"] == 0
    assert result.settings["seed"] == 0


def test_the_same_result_gives_the_same_bytes(
    written: tuple[et.Comparison, Path], tmp_path: Path
) -> None:
    result, folder = written
    again = et.write_report(result, tmp_path, formats=("svg",))
    for name in ("delta_forest.svg", "results.csv"):
        assert again.files[name].read_bytes() == (folder / name).read_bytes()


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    target = tmp_path / "taken"
    target.write_text("x")
    result = et.compare(paired_cells(20, 12, 3, 15), baseline="old", candidate="new")
    with pytest.raises(et.EvalToolkitError, match="is a file; name a folder"):
        et.write_report(result, target)


def test_formulas_in_names_are_defused(tmp_path: Path) -> None:
    frame = paired_cells(20, 12, 3, 15).assign(criterion="=1+1")
    result = et.compare(frame, baseline="old", candidate="new")
    et.write_report(result, tmp_path, formats=("svg",))
    assert ",'=1+1," in (tmp_path / "results.csv").read_text("utf-8")
