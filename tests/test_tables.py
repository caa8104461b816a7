"""The breakdown by example shows a mark for everything and hides nothing."""

from __future__ import annotations

import pandas as pd
import pytest

from evaltoolkit import tables
from evaltoolkit.errors import SchemaError

SCORES = pd.DataFrame(
    [
        ("m", 1, 0, "exact", 1.0, True, "scored", None),
        ("m", 1, 0, "close", 0.75, False, "scored", "4 of 16 differ"),
        ("m", 2, 0, "exact", None, None, "system_error", "Timeout:\n5 s"),
        ("m", 2, 0, "close", None, None, "unscored", "no text"),
        ("n", 1, 0, "exact", 0.0, False, "scored", None),
        ("n", 1, 0, "close", 0.5, None, "scored", None),
        ("n", 2, 0, "exact", None, None, "scorer_error", "KeyError: 'x'"),
    ],
    columns=["system", "example_id", "trial", "criterion", "score", "passed", "status", "message"],
)


def test_every_measurement_has_its_mark() -> None:
    found = tables.examples(SCORES)
    wide = found.wide.set_index("example")
    assert wide.columns.tolist() == ["m / exact", "m / close", "n / exact", "n / close", "why"]
    assert wide.iloc[:, :4].to_numpy().tolist() == [
        ["✓", "✗ 0.75", "✗", "0.50"],
        ["! system", "–", "! scorer", ""],
    ]
    assert wide.loc["1", "why"] == "m / close: 4 of 16 differ"
    assert wide.loc["2", "why"] == (
        "m / exact: Timeout: 5 s; m / close: no text; n / exact: KeyError: 'x'"
    )
    assert len(found.table) == len(SCORES)
    assert found.settings["system_error"] == 1


def test_a_message_that_explains_several_marks_is_said_once() -> None:
    same = SCORES.assign(message="Timeout", status="system_error", score=None, passed=None)
    assert (
        tables.examples(same, systems=["m"]).wide["why"].tolist() == ["exact, close: Timeout"] * 2
    )


def test_text_markdown_and_html() -> None:
    found = tables.examples(SCORES, systems=["m"])
    lines = str(found).splitlines()
    assert lines[0].split() == ["example", "exact", "close", "why"]
    assert lines[2].startswith("1        ✓         ✗ 0.75")
    assert "✓ passed" in lines[-1]
    assert found.to_markdown().splitlines()[0] == "| example | exact | close | why |"
    assert "<table>" in found._repr_html_()


def test_choosing() -> None:
    found = tables.examples(SCORES, criteria=["close", "exact"], systems=["n"])
    assert found.wide.columns.tolist() == ["example", "close", "exact", "why"]
    fine = SCORES[SCORES["system"] == "m"].assign(
        passed=[True] * 2 + [None] * 2, score=[1.0, 1.0, None, None]
    )
    failed = SCORES[(SCORES["system"] == "n") & (SCORES["criterion"] == "exact")].head(1)
    assert tables.examples(failed, only_failures=True).wide.columns.tolist() == ["example", "exact"]
    assert tables.examples(fine, only_failures=True).wide["example"].tolist() == ["2"]
    with pytest.raises(SchemaError, match="no criterion 'exat'; did you mean 'exact'"):
        tables.examples(SCORES, criteria=["exat"])
    with pytest.raises(SchemaError, match="no system 'o'"):
        tables.examples(SCORES, systems=["o"])


def test_trials_tasks_and_scorers_are_named_where_there_are_several() -> None:
    twice = pd.concat(
        [SCORES.assign(scorer="a"), SCORES.assign(scorer="b"), SCORES.assign(trial=1, scorer="a")]
    ).assign(task=lambda t: t["example_id"].map({1: "x", 2: "y"}))
    wide = tables.examples(twice).wide
    assert wide.columns.tolist()[:3] == ["task", "example", "trial"]
    assert wide[["task", "example", "trial"]].to_numpy().tolist() == [
        ["x", "1", "0"], ["y", "2", "0"], ["x", "1", "1"], ["y", "2", "1"],
    ]  # fmt: skip
    assert "m / exact / a" in wide.columns


def test_hostile_names_stay_in_their_cell() -> None:
    hostile = SCORES.assign(
        system="<script>\n|", criterion=["why", "example"] * 3 + ["why"], example_id=range(7)
    )
    found = tables.examples(hostile)
    assert "<script>" not in found._repr_html_()
    assert len(str(found).splitlines()) == 7 + 3
    assert found.wide.columns.tolist() == ["example", "why", "example", "why"]


def test_wide_characters_and_accents_take_their_room() -> None:
    wide = SCORES.assign(example_id=["日本", "e\u0301a", 1, 2, 3, 4, 5], system="m", criterion="c")
    lines = str(tables.examples(wide)).splitlines()
    assert lines[2].startswith("日本     ✓")
    assert lines[3].startswith("e\u0301a       ✗")


def test_an_empty_table_has_no_rows() -> None:
    found = tables.examples(SCORES.iloc[:0])
    assert len(found.wide) == 0
    assert "✓ passed" in str(found)
