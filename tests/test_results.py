"""How results print: sentences, tables and escapes."""

from __future__ import annotations

import html.parser

import numpy as np
import pandas as pd
import pytest

import evaltoolkit as et
from tests.comparison.builders import many_criteria, paired_cells, two_systems

HOSTILE = "<script>alert(1)</script>|$x_1$ & 50%"


@pytest.fixture(scope="module")
def result() -> et.Comparison:
    return et.compare(paired_cells(300, 53, 25, 122), baseline="old", candidate="new")


def test_the_sentence_holds_what_a_sceptic_asks_for(result: et.Comparison) -> None:
    said = result.conclusion()
    for part in (
        "correct improved: new 0.706 against old 0.650 on 500 paired examples",
        "difference +0.056",
        "95 % CI [0.021, 0.090], Bonett–Price",
        "McNemar mid-p p = .0015",
        "53 wins, 25 losses, 422 ties",
        "one hypothesis, no adjustment",
    ):
        assert part in said, said


def test_losses_and_warnings_are_said() -> None:
    frame = paired_cells(20, 12, 3, 15)
    frame.loc[:3, ["score", "status"]] = [np.nan, "system_error"]
    with pytest.warns(et.EvalToolkitWarning, match="system errors cost up to 4 pairs"):
        result = et.compare(frame, baseline="old", candidate="new")
    assert result.conclusion().startswith("Note: system errors cost up to 4 pairs")
    assert "Left out: 4 with a system error" in result.conclusion()


def test_an_inconclusive_sentence_gives_the_detectable_change() -> None:
    result = et.compare(paired_cells(60, 15, 14, 11), baseline="old", candidate="new")
    assert "shows no conclusive change" in result.conclusion()
    assert "smallest change seen with 80 % power: 0.1" in result.conclusion()


def test_the_methods_paragraph_names_every_choice() -> None:
    frame = many_criteria(60, 3, seed=1, effect=0.3)
    clustered = frame.assign(cluster=frame.example_id.str[-2:].astype(int).mod(12).astype(str))
    text = et.compare(clustered, baseline="old", candidate="new", margin=0.2).methods()
    for part in (
        "mean over examples, equally weighted",
        "The baseline is old, the candidate new",
        "left out and counted by cause",
        "95 % CR2 t intervals",
        "cluster sign-flip mid-p test",
        "symmetric about zero",
        "Examples of one cluster were treated as dependent",
        "step-down max-t over the 3 hypotheses of the family 'overall'",
        "stated margins",
        "seed 0, 10,000 random sign flips",
    ):
        assert part in text, text


def test_the_summary_is_short_text(result: et.Comparison) -> None:
    row = result.summary().iloc[0]
    assert row["Δ"] == "+0.056"
    assert row["95 % CI"] == "[0.021, 0.090]"
    assert row["win/tie/loss"] == "53/422/25"
    assert row["verdict"] == "improved"


def test_hostile_names_are_escaped_everywhere() -> None:
    frame = paired_cells(10, 12, 2, 6).assign(criterion=HOSTILE)
    frame["system"] = frame.system.map({"old": HOSTILE + "old", "new": HOSTILE + "new"})
    result = et.compare(frame, baseline=HOSTILE + "old", candidate=HOSTILE + "new")
    page = result._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    tags: list[str] = []
    parser = html.parser.HTMLParser()
    parser.handle_starttag = lambda tag, attrs: tags.append(tag)  # type: ignore[method-assign]
    parser.feed(page)
    assert set(tags) <= {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    markdown = result.to_markdown()
    assert "<script" not in markdown
    assert all(line.count(" | ") == 11 for line in markdown.splitlines() if "script" in line)
    latex = result.to_latex()
    assert r"\$x\_1\$ \& 50\%" in latex
    assert r"\textless{}script" in latex


def test_scorers_are_named_only_where_there_are_several() -> None:
    frame = paired_cells(10, 12, 2, 6)
    one = et.compare(frame.assign(scorer="judge-a"), baseline="old", candidate="new")
    assert one.summary().hypothesis.tolist() == ["correct"]
    both = pd.concat([frame.assign(scorer="judge-a"), frame.assign(scorer="judge-b")])
    two = et.compare(both, baseline="old", candidate="new")
    assert two.summary().hypothesis.tolist() == ["correct (judge-a)", "correct (judge-b)"]


def test_worst_lists_the_largest_losses_in_the_criterions_direction() -> None:
    old, new = [1.0] * 30, [1.0 + (i % 7) for i in range(30)]
    frame = two_systems(old, new, criterion="latency_s")
    result = et.compare(frame, baseline="old", candidate="new")
    worst = result.worst("latency_s", count=4)
    assert worst.delta.tolist() == [6.0] * 4
    assert worst.outcome.eq("loss").all()


def test_flips_follow_a_threshold() -> None:
    frame = two_systems([0.2, 0.9, 0.6, 0.4] * 5, [0.8, 0.3, 0.7, 0.45] * 5, criterion="rating")
    result = et.compare(frame.assign(threshold=0.5), baseline="old", candidate="new")
    assert result.flips().flip.value_counts().to_dict() == {"newly_failing": 5, "newly_fixed": 5}


def test_a_result_is_frozen(result: et.Comparison) -> None:
    with pytest.raises(AttributeError):
        result.table = result.pairs  # type: ignore[misc]
