"""A family declared before the scores are seen, and what deviates from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evaltoolkit as et
from evaltoolkit.comparison import Declaration, declare
from tests.comparison.builders import many_criteria, paired_cells


@pytest.fixture
def frame() -> pd.DataFrame:
    return many_criteria(60, 4, seed=7, effect=[0.9, 0.5, 0.4, 0.9])


def compared(frame: pd.DataFrame, **choices: object) -> et.Comparison:
    return et.compare(frame, **choices)


def deviations(result: et.Comparison) -> list[str]:
    return list(result.settings["declaration"]["deviations"])


def full(path: Path | None = None) -> Declaration:
    return declare(
        path,
        baseline="old",
        candidate="new",
        criteria=["c00", "c01", "c02"],
        primary="c01",
        margin={"c02": 0.5},
        correction="holm",
        alpha=0.1,
        note="60 examples planned",
    )


def test_what_was_declared_fills_the_call(frame: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "family.json"
    full(path)
    result = compared(frame, declaration=path)
    by_hand = compared(
        frame,
        baseline="old",
        candidate="new",
        criteria=["c00", "c01", "c02"],
        primary="c01",
        margin={"c02": 0.5},
        correction="holm",
        alpha=0.1,
    )
    pd.testing.assert_frame_equal(result.table, by_hand.table)
    assert "c03" not in set(result.table.criterion)
    assert deviations(result) == []
    declared = result.settings["declaration"]
    assert declared["path"] == str(path)
    assert declared["note"] == "60 examples planned"
    assert f"declared on {declared['declared_at']}" in result.methods()
    assert "deviations: none." in result.methods()
    assert result.warnings == by_hand.warnings
    assert by_hand.settings["declaration"] is None
    assert "declared" not in by_hand.methods()


def test_the_same_words_are_no_deviation(frame: pd.DataFrame) -> None:
    result = compared(
        frame,
        declaration=full(),
        baseline="old",
        candidate="new",
        criteria=["c02", "c01", "c00"],
        primary=["c01"],
        correction={"overall": "Holm", "slices": "BH"},
        alpha=0.1,
        measure="score",
        missing="report",
    )
    assert deviations(result) == []


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ({"alpha": 0.05}, "alpha is 0.05, declared was 0.1"),
        ({"correction": "fdr_bh"}, "correction is overall: fdr_bh, slices: fdr_bh, declared was "
                                   "overall: holm, slices: fdr_bh"),
        ({"primary": ["c00", "c01"]}, "primary is 'c00', 'c01', declared was 'c01'"),
        ({"margin": 0.4}, "margin is 0.4, declared was c02: 0.5"),
        ({"criteria": ["c00", "c01", "c02", "c03"]}, "the criterion 'c03' was not declared"),
        ({"criteria": ["c01", "c02"]}, "the declared criterion 'c00' was left out"),
        ({"test": "t"}, "test is 't', which was not declared"),
        ({"interval": "bootstrap_bca"}, "interval is 'bootstrap_bca', which was not declared"),
        ({"by": "topic"}, "by is 'topic', which was not declared"),
        ({"cluster": False}, "cluster is False, which was not declared"),
        ({"missing": "report", "baseline": "new", "candidate": "old"},
         "baseline is 'new', declared was 'old'"),
    ],
)  # fmt: skip
def test_deviations_are_named_everywhere(
    frame: pd.DataFrame, choices: dict[str, Any], expected: str
) -> None:
    topic = frame.example_id.str[-1]
    with pytest.warns(et.EvalToolkitWarning, match="deviates from the declaration"):
        result = compared(frame.assign(topic=topic), declaration=full(), **choices)
    assert expected in deviations(result)
    assert expected in result.warnings[0]
    assert expected in result.methods()
    assert expected in result.conclusion()
    for name, value in choices.items():
        if name not in ("by", "primary", "correction", "margin", "criteria"):
            assert result.settings[name] == value or name == "cluster"


def test_an_absent_criterion_is_a_deviation_and_its_margin_no_error(frame: pd.DataFrame) -> None:
    fewer = frame[frame.criterion != "c02"]
    with pytest.warns(et.EvalToolkitWarning, match="'c02' is absent from the table"):
        result = compared(fewer, declaration=full())
    assert sorted(result.table.criterion) == ["c00", "c01"]
    assert deviations(result) == ["the declared criterion 'c02' is absent from the table"]


def test_a_primary_criterion_that_is_absent_stops_the_analysis(frame: pd.DataFrame) -> None:
    with pytest.raises(et.PairingError, match="primary is 'c01', which is not compared"):
        compared(frame[frame.criterion != "c01"], declaration=full())
    with pytest.raises(et.PairingError, match="none of the declared criteria is in the table"):
        compared(frame[frame.criterion == "c03"], declaration=full())


def test_a_changed_file_is_named(frame: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "family.json"
    full(path)
    content = json.loads(path.read_text())
    content["choices"]["alpha"] = 0.2
    path.write_text(json.dumps(content))
    with pytest.warns(et.EvalToolkitWarning, match="changed after it was saved"):
        result = compared(frame, declaration=path)
    assert "its digest does not match" in deviations(result)[0]
    assert result.settings["alpha"] == 0.2
    content["choices"]["alpha"] = 0.1
    path.write_text(json.dumps(content, indent=7))
    assert deviations(compared(frame, declaration=path)) == []


def test_a_file_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "family.json"
    full(path)
    before = path.read_text()
    with pytest.raises(et.PairingError, match="exists already") as caught:
        declare(path, baseline="old")
    assert caught.value.code == "file_exists"
    assert path.read_text() == before


def test_the_file_is_plain_json(tmp_path: Path) -> None:
    path = tmp_path / "family.json"
    declaration = full(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    assert set(content) == {"version", "declared_at", "choices", "note", "digest"}
    assert content["version"] == 1
    assert content["declared_at"].endswith("+00:00")
    assert len(content["digest"]) == 64
    assert content["choices"] == declaration.choices
    assert declare(baseline="old").path is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "can be read"),
        ("[1]", "needs the fields"),
        ('{"version": 1}', "needs the fields"),
        ('{"version": 9, "declared_at": "", "choices": {}, "note": "", "digest": ""}', "version 9"),
        ('{"version": 1, "declared_at": "", "choices": {"x": 1}, "note": "", "digest": ""}',
         "choices must be among"),
    ],
)  # fmt: skip
def test_files_that_are_no_declaration(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "family.json"
    path.write_text(text)
    with pytest.raises(et.PairingError, match=message) as caught:
        compared(paired_cells(5, 5, 5, 5), declaration=path)
    assert caught.value.code == "bad_declaration"
    with pytest.raises(et.PairingError, match="no declaration that can be read"):
        compared(paired_cells(5, 5, 5, 5), declaration=tmp_path / "absent.json")


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"alpha": 5}, "alpha is 5"),
        ({"margin": -1}, "it must be a positive number"),
        ({"margin": float("nan")}, "it must be a positive number"),
        ({"correction": "bonferoni"}, "did you mean 'bonferroni'"),
        ({"test": "wilcoxon"}, "does not test the mean"),
        ({"interval": "bca"}, "interval is 'bca'"),
        ({"measure": "time"}, "measure is 'time'"),
        ({"missing": "drop"}, "missing is 'drop'"),
        ({"criteria": ["a"], "primary": "b"}, "primary names the criterion 'b'"),
        ({"criteria": ["a"], "margin": {"b": 1}}, "margin names the criterion 'b'"),
        ({"candidate": "a", "candidates": ["b"]}, "candidate or candidates"),
        ({"criteria": []}, "an empty list"),
    ],
)
def test_what_compare_would_refuse_cannot_be_declared(
    choices: dict[str, Any], message: str
) -> None:
    with pytest.raises(et.PairingError, match=message):
        declare(**choices)


def test_systems_must_be_named_somewhere(frame: pd.DataFrame) -> None:
    with pytest.raises(et.PairingError, match="name the baseline"):
        compared(frame, candidate="new")
    with pytest.raises(et.PairingError, match="name the candidate"):
        compared(frame, baseline="old")
    several = declare(baseline="old", candidates=["new", "third"])
    with pytest.raises(et.PairingError, match="declared are 'new', 'third'"):
        compared(frame, declaration=several)
    with pytest.warns(et.EvalToolkitWarning, match="candidate 'third' is not compared here"):
        compared(frame, declaration=several, candidate="new")


def test_several_candidates_are_declared_together(frame: pd.DataFrame) -> None:
    others = []
    for k, name in enumerate(("third", "fourth")):
        other = frame[frame.system == "new"].assign(system=name)
        other["score"] += np.random.default_rng(k).normal(size=len(other))
        others.append(other)
    table = pd.concat([frame, *others])
    several = declare(baseline="old", candidates=["new", "third"], criteria=["c00", "c01"])
    result = et.compare_to_baseline(table, declaration=several)
    assert list(result.comparisons) == ["new", "third"]
    assert result.settings["families"]["overall"]["size"] == 4
    assert "deviations: none" in result.methods()
    with pytest.warns(et.EvalToolkitWarning, match="candidate 'fourth' was not declared"):
        more = et.compare_to_baseline(
            table, declaration=several, candidates=["new", "third", "fourth"]
        )
    assert len(more.warnings) == len(set(more.warnings))


def test_a_declaration_of_nothing_means_the_defaults(frame: pd.DataFrame) -> None:
    result = compared(frame, baseline="old", candidate="new", declaration=declare())
    plain = compared(frame, baseline="old", candidate="new")
    pd.testing.assert_frame_equal(result.table, plain.table)
    assert plain.settings["alpha"] == 0.05
    assert plain.settings["missing"] == "report"
    assert plain.settings["measure"] == "score"
