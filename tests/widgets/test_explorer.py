"""The explorer without a browser: its state, its words and its static copy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import evaltoolkit as et
from evaltoolkit.schema import OUTPUTS, normalise
from evaltoolkit.widgets import Explorer
from tests.comparison.builders import many_criteria, paired_cells


@pytest.fixture
def scores() -> pd.DataFrame:
    frame = many_criteria(40, 3, seed=1, effect=[0.8, 0.0, -0.6])
    third = frame[frame.system == "new"].assign(system="third")
    topic = pd.concat([frame, third]).example_id.str[-1].astype(int).mod(2)
    both = pd.concat([frame, third], ignore_index=True)
    return both.assign(topic=np.where(topic.to_numpy() == 0, "even", "odd"))


@pytest.fixture
def outputs(scores: pd.DataFrame) -> pd.DataFrame:
    rows = scores[scores.criterion == "c00"][["system", "example_id"]]
    return normalise(
        rows.assign(input="What is <b>2 + 2</b>?", output="<script>four</script>"), OUTPUTS
    )


def test_the_first_view_is_there_at_once(scores: pd.DataFrame, outputs: pd.DataFrame) -> None:
    view = et.explore(scores, outputs)
    assert isinstance(view, Explorer)
    assert view.result is not None
    assert (view.result.baseline, view.result.candidate) == ("old", "new")
    assert "new against old: 40 pairs, 3 hypotheses" in view.status
    page = view.static_html()
    assert '<img src="data:image/png;base64,' in page
    assert "c02" in page
    assert "What is &lt;b&gt;2 + 2&lt;/b&gt;?" in page
    assert "<script>" not in page


def test_controls_drive_the_same_function_as_a_cell(scores: pd.DataFrame) -> None:
    view = et.explore(scores)
    view.controls["criteria"].value = ("c00", "c02")
    view.controls["slice"].value = "topic"
    view.controls["correction"].value = "holm"
    code = view.code
    assert code == (
        "et.compare(scores, baseline='old', candidate='new', criteria=['c00', 'c02'], "
        "by='topic', correction='holm')"
    )
    assert view.result is not None
    expected = eval(code, {"et": et, "scores": scores})
    pd.testing.assert_frame_equal(view.result.table, expected.table)


def test_distinct_analyses_are_counted_and_confessed(scores: pd.DataFrame) -> None:
    view = et.explore(scores)
    view.controls["correction"].value = "holm"
    view.controls["correction"].value = "maxt"
    assert view.analyses_viewed == 2
    assert view.result is not None
    assert "one of 2 distinct analyses that were viewed interactively" in view.result.methods()


def test_an_impossible_choice_keeps_the_last_view(scores: pd.DataFrame) -> None:
    view = et.explore(scores)
    before = view.static_html().split("</pre>")[-1]
    view.controls["candidate"].value = "old"
    assert "baseline and candidate are both" in view.status
    view.controls["candidate"].value = "new"
    view.controls["criteria"].value = ()
    assert "choose at least one criterion" in view.status
    assert view.static_html().split("</p>", 1)[-1].endswith(before[-200:])


def test_warnings_stand_in_the_view(scores: pd.DataFrame) -> None:
    few = paired_cells(30, 3, 1, 6)
    view = et.explore(few)
    assert "fewer than 10 non-zero differences" in view.static_html()


def test_the_bundle_has_a_live_view_and_a_static_copy(scores: pd.DataFrame) -> None:
    data, _ = et.explore(scores)._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert "<img" in data["text/html"]
    assert "hypotheses" in data["text/plain"]


def test_one_system_cannot_be_explored(scores: pd.DataFrame) -> None:
    with pytest.raises(et.SchemaError, match="the table has 1 system; two are needed"):
        et.explore(scores[scores.system == "old"])
    with pytest.raises(et.SchemaError, match="'nwe' is no system"):
        et.explore(scores, candidate="nwe")
