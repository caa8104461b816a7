"""Labels find their outputs or say why not; none is lost silently."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from evaltoolkit.errors import EvalToolkitError, EvalToolkitWarning, PairingError, ReadError
from evaltoolkit.judging import attach_labels
from evaltoolkit.scores import check_scores, normalise_scores
from tests.judging.builders import scored

TABLE = normalise_scores(
    pd.DataFrame(
        {
            "run_id": "r1",
            "system": ["old", "old", "new", "new"],
            "task": "t",
            "example_id": ["7", "8", "7", "8"],
            "criterion": "helpful",
            "scorer": "judge",
            "score": [1.0, 0.0, 1.0, 1.0],
            "topic": ["a", "b", "a", "b"],
            "upper_bound": 1.0,
        }
    )
)


def labels(**columns: object) -> pd.DataFrame:
    return pd.DataFrame(
        {"system": ["old", "new"], "example_id": [7, 8.0], "label": [0, 1]} | columns
    )


def test_labels_take_everything_from_their_output() -> None:
    both = attach_labels(TABLE, labels(), criterion="helpful")
    assert len(both) == 6
    pd.testing.assert_frame_equal(both.iloc[:4], check_scores(TABLE))
    added = both.iloc[4:]
    assert added["scorer"].tolist() == ["human", "human"]
    assert added[["run_id", "system", "task", "example_id", "topic"]].values.tolist() == [
        ["r1", "old", "t", "7", "a"],
        ["r1", "new", "t", "8", "b"],
    ]
    assert added["score"].tolist() == [0.0, 1.0]
    assert added["upper_bound"].tolist() == [1.0, 1.0]
    assert added["passed"].isna().all()
    assert added["source"].tolist() == ["labels row 1", "labels row 2"]


def test_labels_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "marks.csv"
    path.write_text("\ufeffsystem,example_id,human\nold,7,true\nnew,8,FALSE\nold,8,\n", "utf-8")
    with pytest.warns(EvalToolkitWarning, match="1 of 3 rows have no label"):
        both = attach_labels(TABLE, path)
    added = both[both["scorer"] == "human"]
    assert added["score"].tolist() == [1.0, 0.0]
    assert added["label"].tolist() == ["true", "FALSE"]
    assert added["source"].tolist() == ["marks.csv row 1", "marks.csv row 2"]


def test_ids_that_look_like_missing_values_are_ids(tmp_path: Path) -> None:
    table = TABLE.assign(example_id=["NA", "007", "NA", "007"])
    path = tmp_path / "marks.csv"
    path.write_text("system,example_id,label\nold,NA,1\nnew,007,0\n", "utf-8")
    added = attach_labels(table, path).iloc[4:]
    assert added["example_id"].tolist() == ["NA", "007"]


def test_words_are_mapped() -> None:
    both = attach_labels(TABLE, labels(label=["bad", "good"]), values={"good": 1, "bad": 0})
    assert both["score"].tolist()[4:] == [0.0, 1.0]


def test_trials_and_pairwise_rows_are_found_by_their_columns() -> None:
    trials = pd.concat([scored({"judge": [1.0, 0.0]}, trial=t) for t in (0, 1)])
    marks = pd.DataFrame({"example_id": ["e0001"], "trial": [1.0], "label": [1]})
    added = attach_labels(trials, marks).iloc[-1]
    assert (added["example_id"], added["trial"]) == ("e0001", 1)
    pairwise = TABLE.assign(versus=["x", "x", "x", "x"])
    added = attach_labels(pairwise, labels()).iloc[-1]
    assert added["versus"] == "x"


def test_unmatched_labels_are_refused_or_counted() -> None:
    wrong = labels(example_id=["7", "99"])
    with pytest.raises(PairingError, match="1 of 2 labels are about no output.*'99'") as caught:
        attach_labels(TABLE, wrong)
    assert caught.value.code == "unmatched_labels"
    with pytest.warns(EvalToolkitWarning, match="1 of 2 labels .* left out"):
        both = attach_labels(TABLE, wrong, unmatched="warn")
    assert len(both) == 5
    with pytest.raises(PairingError, match="2 of 2 labels"):
        attach_labels(TABLE, labels(example_id=["98", "99"]), unmatched="warn")


@pytest.mark.parametrize(
    ("marks", "options", "code", "text"),
    [
        (labels().drop(columns="system"), {}, "ambiguous_labels", "need the column.s. 'system'"),
        (labels(system="old", example_id=7), {}, "repeated_labels", "scorer= name"),
        (labels(), {"scorer": "judge"}, "already_labelled", "another name"),
        (labels(label=["good", "bad"]), {}, "bad_label", "values="),
        (labels(label=[math.inf, 1]), {}, "bad_label", "finite"),
        (labels(), {"values": {"1": 1}}, "bad_label", "'0'"),
        (labels(), {"criterion": "help"}, "unknown_criterion", "did you mean"),
        (labels(), {"column": "lable"}, "missing_column", "did you mean 'label'"),
        (labels(score=1), {}, "ambiguous_column", "2 columns"),
        (labels().drop(columns="example_id"), {}, "missing_column", "example_id"),
        (labels(), {"on": ["system"]}, "bad_option", "must hold 'example_id'"),
        (labels(), {"on": ["example_id", "label"]}, "bad_option", "may hold"),
        (labels(system=["old", None]), {}, "missing_id", "have no system"),
        (labels(), {"unmatched": "drop"}, "bad_option", "'warn'"),
        (labels(label=[0, 3]), {}, "out_of_bounds", "upper_bound"),
    ],
)
def test_what_cannot_be_attached_is_named(
    marks: pd.DataFrame, options: dict, code: str, text: str
) -> None:
    with pytest.raises(EvalToolkitError, match=text) as caught:
        attach_labels(TABLE, marks, **options)
    assert caught.value.code == code


def test_several_criteria_must_be_named() -> None:
    two = pd.concat([TABLE, TABLE.assign(criterion="safe")])
    with pytest.raises(PairingError, match="2 criteria"):
        attach_labels(two, labels())
    assert attach_labels(two, labels(), criterion="safe").iloc[-1]["criterion"] == "safe"


def test_files_that_are_no_csv(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="cannot be read as CSV"):
        attach_labels(TABLE, tmp_path / "absent.csv")
    path = tmp_path / "latin.csv"
    path.write_bytes(b"system,example_id,label\nold,\xe9,1\n")
    with pytest.raises(ReadError, match="UTF-8"):
        attach_labels(TABLE, path)


def test_only_empty_labels_add_nothing() -> None:
    with pytest.warns(EvalToolkitWarning, match="2 of 2 rows have no label"):
        both = attach_labels(TABLE, labels(label=[None, None]))
    assert len(both) == 4
