"""The conjunction of verdicts: one failure settles it, an open one leaves it open."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest

import evaltoolkit as et
from evaltoolkit.errors import SchemaError

COLUMNS = ["system", "example_id", "criterion", "score", "passed", "status"]
KINDS = {
    "passed": (1.0, True, "scored"),
    "failed": (0.0, False, "scored"),
    "no verdict": (0.5, None, "scored"),
    "unscored": (None, None, "unscored"),
    "scorer error": (None, None, "scorer_error"),
    "system error": (None, None, "system_error"),
}


def composite(*kinds: str, **options: object) -> pd.Series:
    rows = [("m", 1, f"c{n}", *KINDS[kind]) for n, kind in enumerate(kinds)]
    # Another example, so that there is a verdict at all.
    table = pd.DataFrame([*rows, ("m", 2, "c0", *KINDS["passed"])], columns=COLUMNS)
    return et.require_all(table, keep=False, **options).iloc[0]


def test_every_pair_of_outcomes() -> None:
    """Worked by hand: failed beats all, then the worst of what is open, then passed."""
    order = ["passed", "unscored", "scorer error", "system error"]
    for one, other in itertools.product(KINDS, repeat=2):
        row = composite(one, other)
        if "failed" in (one, other):
            assert (row["score"], row["passed"], row["status"]) == (0.0, False, "scored")
            continue
        ranks = [order.index("unscored" if k == "no verdict" else k) for k in (one, other)]
        worst = order[max(ranks)]
        if worst == "passed":
            assert (row["score"], row["passed"]) == (1.0, True)
        else:
            assert row["status"] == worst.replace(" ", "_")
            assert pd.isna(row["score"])
            assert pd.isna(row["passed"])


def test_the_message_names_what_was_not_passed_and_what_is_open() -> None:
    row = composite("failed", "system error", "no verdict")
    assert row["message"] == "not passed: c0; open: c1 (system error), c2 (no verdict)"
    assert composite("passed", "passed")["message"] is None or pd.isna(
        composite("passed", "passed")["message"]
    )


def test_only_the_criteria_that_were_measured_are_asked_for() -> None:
    table = pd.DataFrame(
        [
            ("m", 1, "state", 1.0, True, "scored", "imperative"),
            ("m", 2, "state", 1.0, True, "scored", "question"),
            ("m", 2, "calls", 0.0, False, "scored", "question"),
            ("n", 1, "state", 0.0, False, "scored", "imperative"),
            ("n", 2, "calls", 1.0, True, "scored", "question"),
        ],
        columns=[*COLUMNS, "phrasing"],
    )
    both = et.require_all(table)
    assert len(both) == len(table) + 4
    rates = et.summarise(both[both["criterion"] == "all_passed"], by="phrasing")
    found = rates.set_index(["system", "phrasing"])["mean"].to_dict()
    assert found == {
        ("m", "imperative"): 1.0,
        ("m", "question"): 0.0,
        ("n", "imperative"): 0.0,
        ("n", "question"): 1.0,
    }
    alone = et.require_all(table, criteria=["state"], name="state_ok", keep=False)
    assert alone["criterion"].unique().tolist() == ["state_ok"]
    assert len(alone) == 3


def test_what_is_refused() -> None:
    table = pd.DataFrame([("m", 1, "c", 1.0, None, "scored")], columns=COLUMNS)
    with pytest.raises(SchemaError, match="give the scorers a threshold"):
        et.require_all(table)
    with pytest.raises(SchemaError, match="criteria names 'd'"):
        et.require_all(table.assign(passed=True), criteria=["d"])
    with pytest.raises(SchemaError, match="already has a criterion 'c'"):
        et.require_all(table.assign(passed=True), name="c")
