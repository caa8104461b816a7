"""Every real file reads to the totals that were counted by hand, or is refused for a reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import evaltoolkit as et
from tests.readers import survey

REFUSED = [each for each in survey.ENTRIES if each["outcome"] == "refused"]
READ = [each for each in survey.ENTRIES if each["outcome"] != "refused"]


def file_of(entry: dict[str, Any]) -> str:
    return str(entry["file"])


@pytest.mark.parametrize("entry", READ, ids=file_of)
def test_a_file_with_scores_gives_the_totals_counted_by_hand(
    entry: dict[str, Any], shared_data: Path
) -> None:
    assert survey.totals_of(survey.read(entry, shared_data)) == survey.expected_of(entry)


@pytest.mark.filterwarnings("ignore::evaltoolkit.errors.EvalToolkitWarning")
@pytest.mark.parametrize("entry", REFUSED, ids=file_of)
def test_a_file_without_scores_is_refused(entry: dict[str, Any], shared_data: Path) -> None:
    assert len(entry["reason"]) > 10
    with pytest.raises(et.ReadError) as caught:
        et.read_scores(shared_data / entry["file"])
    assert entry["file"].rstrip("/").rsplit("/", 1)[-1] in str(caught.value)


def test_no_file_is_left_out(shared_data: Path) -> None:
    names = survey.files_of(shared_data)
    assert [name for name in names if survey.entry_of(name, survey.ENTRIES) is None] == []
    gone = [each["file"] for each in survey.ENTRIES if not (shared_data / each["file"]).exists()]
    assert gone == []


def test_the_page_of_formats_is_the_one_that_is_generated() -> None:
    assert survey.PAGE.read_text(encoding="utf-8") == survey.page()
