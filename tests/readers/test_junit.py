"""JUnit XML: own small reports for each trap, real ones against totals that were counted by hand.

The totals of the real files come from a script that counts tags in the text and shares no code
with the reader, and were typed in.
"""

from __future__ import annotations

import json
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pandas as pd
import pytest

from evaltoolkit.errors import EvalToolkitWarning, ReadError
from evaltoolkit.readers import junit_xml, read_details, read_outputs, read_report, read_scores
from evaltoolkit.readers.base import Source
from evaltoolkit.readers.junit import FORMAT


def case(name: str, /, *ends: str, **properties: object) -> str:
    """One test case as pytest writes it."""
    recorded = "".join(
        f"<property name={quoteattr(key)} value={quoteattr(str(value))} />"
        for key, value in properties.items()
    )
    held = f"<properties>{recorded}</properties>" if recorded else ""
    inner = held + "".join(ends)
    names = f"classname='test_zoo' name={quoteattr(name)} time='0.1'"
    return f"<testcase {names}>{inner}</testcase>"


def end(kind: str, message: str, text: str = "", type_: str = "") -> str:
    of = f" type={quoteattr(type_)}" if type_ else ""
    return f"<{kind} message={quoteattr(message)}{of}>{escape(text)}</{kind}>"


FAILED = end("failure", "AssertionError: wrong animal", "assert 'cat' == 'dog'")
CRASHED = end("failure", "httpx.ReadTimeout: 30 s", "traceback")
BROKEN = end("error", 'failed on setup with "RuntimeError: no judge"', "traceback")
SKIPPED = end("skipped", "no reference", "test_zoo.py:3", "pytest.skip")


def write(folder: Path, *cases: str, name: str = "model-a.xml", suite: str = "") -> Path:
    path = folder / name
    start = f"<testsuite name='pytest' timestamp='2026-02-03T04:05:06+00:00' {suite}>"
    body = f"{start}{''.join(cases)}</testsuite>"
    path.write_text(
        f"<?xml version='1.0' encoding='utf-8'?><testsuites>{body}</testsuites>", "utf-8"
    )
    return path


def recorded(
    example: str, score: object, *ends: str, model: str = "lab/m-1", **more: object
) -> str:
    told: dict[str, object] = {"model": model, "example_id": example, "score": score}
    told |= {"criterion": "match", **more}
    return case(f"test_it[{model}-{example}]", *ends, **told)


def test_properties_name_system_example_criterion_and_score(tmp_path: Path) -> None:
    path = write(
        tmp_path, recorded("1", 1.0), recorded("2", 0.25, FAILED), recorded("1", 0, model="m-2")
    )
    table = read_scores(path)
    assert table["system"].tolist() == ["lab/m-1", "lab/m-1", "m-2"]
    assert table["task"].unique().tolist() == ["test_zoo"]
    assert table["example_id"].tolist() == ["1", "2", "1"]
    assert table["criterion"].unique().tolist() == ["match"]
    assert table["score"].tolist() == [1.0, 0.25, 0.0]
    assert table["passed"].tolist() == [True, False, True]
    assert table["label"].tolist() == ["passed", "failure", "passed"]
    assert table["message"].fillna("").tolist() == ["", "AssertionError: wrong animal", ""]
    assert table["source"].iloc[1] == "model-a.xml: testcase 2"
    assert table["timestamp"].iloc[0] == pd.Timestamp("2026-02-03T04:05:06Z")


def test_each_ending_is_what_it_means(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        recorded("1", 1.0),
        case("test_it[lab/m-1-2]", BROKEN),
        recorded("3", 1.0, SKIPPED),
        case("test_it[lab/m-1-4]", CRASHED),
        case("test_it[lab/m-1-5]", FAILED),
        recorded("6", 0.5, CRASHED),
        recorded("7", 0.5, end("error", "failed on teardown with 'x'", "traceback")),
    )
    table = read_scores(path)
    assert table["example_id"].tolist() == list("1234567")
    assert table["status"].astype(str).tolist() == [
        "scored", "scorer_error", "unscored", "system_error", "unscored", "scored", "scored"
    ]  # fmt: skip
    assert table["score"].fillna(-1).tolist() == [1, -1, -1, -1, -1, 0.5, 0.5]
    assert table["label"].tolist() == [
        "passed", "error", "1.0", "failure", "failure", "failure", "passed"
    ]  # fmt: skip
    assert table["passed"].astype(object).where(table["passed"].notna(), None).tolist() == [
        True, None, None, None, None, None, True
    ]  # fmt: skip
    assert table["message"].iloc[2] == "skipped: no reference"
    assert any("3 case(s) without properties" in note for note in table.attrs["notes"])


def test_without_properties_the_function_is_the_criterion(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        case("test_fast[one-a]"),
        case("test_fast[two]", FAILED),
        case("test_right[two]", CRASHED),
        case("test_alone", end("skipped", "", type_="pytest.xfail")),
        case("test_other", BROKEN),
    )
    table = read_scores(path)
    assert table["system"].unique().tolist() == ["model-a"]
    assert table["example_id"].tolist() == ["one-a", "two", "two", "test_alone", "test_other"]
    assert table["criterion"].tolist() == [
        "test_fast", "test_fast", "test_right", "passed", "passed"
    ]  # fmt: skip
    assert table["score"].fillna(-1).tolist() == [1, 0, -1, -1, -1]
    assert table["status"].astype(str).tolist() == [
        "scored", "scored", "system_error", "unscored", "scorer_error"
    ]  # fmt: skip
    assert table["label"].tolist() == ["passed", "failure", "failure", "xfail", "error"]
    assert table["kind"].unique().tolist() == ["binary"]
    assert any("taken from the file name" in note for note in table.attrs["notes"])


@pytest.mark.parametrize(
    ("message", "type_", "status"),
    [
        ("AssertionError: x", "", "scored"),
        ("assert 1 == 2", "", "scored"),
        ("Failed: DID NOT RAISE", "", "scored"),
        ("the answer is wrong", "", "scored"),
        ("", "org.opentest4j.AssertionFailedError", "scored"),
        ("boom", "java.lang.IllegalStateException", "system_error"),
        ("openai.APIConnectionError: no route", "", "system_error"),
        ("TimeoutError", "", "system_error"),
        ("Error rates are too high", "", "scored"),
    ],
)
def test_a_failure_is_a_verdict_only_by_an_assertion(
    tmp_path: Path, message: str, type_: str, status: str
) -> None:
    table = read_scores(write(tmp_path, case("test_it[1]", end("failure", message, "t", type_))))
    assert table["status"].astype(str).tolist() == [status]
    assert table["score"].fillna(-1).tolist() == [0.0 if status == "scored" else -1]


@pytest.mark.parametrize(
    ("line", "status"),
    [("StopIteration", "system_error"), ("Failed", "scored"), ("AssertionError", "scored")],
)
def test_the_last_line_of_a_traceback_says_what_was_raised(
    tmp_path: Path, line: str, status: str
) -> None:
    ended = end("failure", "something", f"def test_it():\n\ntest_zoo.py:13: {line}\n")
    assert read_scores(write(tmp_path, case("test_it[1]", ended)))["status"].tolist() == [status]


def test_several_numbers_are_several_criteria_and_the_outcome_another(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        case("test_it[1]", FAILED, faithfulness=0.5, polite=True, temperature=0.7, topic="birds"),
        case("test_it[2]", CRASHED, topic="fish"),
    )
    table = read_scores(path)
    assert table["criterion"].tolist() == ["faithfulness", "polite", "test_it"] * 2
    assert table["score"].fillna(-1).tolist() == [0.5, 1.0, 0.0, -1, -1, -1]
    assert table["passed"].iloc[:3].isna().tolist() == [True, True, False]
    assert table["status"].astype(str).tolist() == ["scored"] * 3 + ["system_error"] * 3
    assert table["topic"].tolist() == ["birds"] * 3 + ["fish"] * 3
    assert any("taken as scores, since they hold numbers" in note for note in table.attrs["notes"])


def test_a_score_without_criterion_is_named_after_its_test(tmp_path: Path) -> None:
    path = write(tmp_path, case("test_it[1]", score=0.5), case("test_it[2]", score=0.1, recall=1))
    table = read_scores(path)
    assert table["criterion"].tolist() == ["test_it", "test_it", "recall", "passed"]


def test_a_score_that_is_no_number_is_a_label(tmp_path: Path) -> None:
    path = write(
        tmp_path, *(recorded(str(n), v) for n, v in enumerate(["good", "nan", "inf", "1_0"]))
    )
    table = read_scores(path)
    assert table["status"].astype(str).tolist() == ["unscored"] * 4
    assert table["label"].tolist() == ["good", "nan", "inf", "1_0"]


def test_a_system_in_the_parameters_is_recognised_by_what_others_recorded(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        recorded("mini-3", 1.0, model="gpt"),
        recorded("3", 1.0, model="gpt-mini"),
        case("test_it[gpt-mini-3]", BROKEN),
        case("test_it[9-gpt-mini]", BROKEN),
        case("test_it[gpt]", BROKEN),
        case("test_it[gpt-8]", model="gpt", criterion="match", score=1),
    )
    table = read_scores(path)
    assert table["system"].tolist() == ["gpt", "gpt-mini", "gpt-mini", "gpt-mini", "gpt", "gpt"]
    assert table["example_id"].tolist() == ["mini-3", "3", "3", "9", "test_it", "8"]
    assert any("3 case(s) without properties" in note for note in table.attrs["notes"])


def test_the_suite_can_name_the_system(tmp_path: Path) -> None:
    told = "<properties><property name='model' value='suite-model'/></properties>"
    assert read_scores(write(tmp_path, told, case("test_it[1]")))["system"].tolist() == [
        "suite-model"
    ]


@pytest.mark.parametrize(
    ("name", "system"),
    [("m-1.junit.xml", "m-1"), ("junit.xml", "folder"), ("test-results.xml", "folder"),
     ("m-2_report.xml", "m-2")],
)  # fmt: skip
def test_the_file_or_its_folder_names_the_system(tmp_path: Path, name: str, system: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    path = write(folder, case("test_it[1]"), name=name)
    assert read_scores(path)["system"].tolist() == [system]
    assert read_scores(path, system="mine")["system"].tolist() == ["mine"]


def test_repeats_are_numbered_or_recorded(tmp_path: Path) -> None:
    table = read_scores(write(tmp_path, recorded("1", 1), recorded("1", 0), recorded("2", 1)))
    assert table["trial"].tolist() == [0, 1, 0]
    assert any("repeats are numbered" in note for note in table.attrs["notes"])
    table = read_scores(write(tmp_path, recorded("1", 1, trial=4), recorded("1", 0, trial=2)))
    assert table["trial"].tolist() == [4, 2]
    assert table.attrs["notes"] == []


@pytest.mark.parametrize("tests", [1, 2])
def test_a_teardown_that_pytest_writes_as_a_case_of_its_own(tmp_path: Path, tests: int) -> None:
    teardown = end("error", "failed on teardown with 'x'", "why")
    counts = f"tests='{tests}' failures='1' errors='1' skipped='0'"
    path = write(
        tmp_path, recorded("1", 0.5, FAILED), case("test_it[lab/m-1-1]", teardown), suite=counts
    )
    table = read_scores(path)
    assert table[["score", "passed"]].values.tolist() == [[0.5, False]]
    details = json.loads(read_details(path)["details"].iloc[0])
    assert details == {"failure": "assert 'cat' == 'dog'", "error": "why"}


def test_outputs_are_what_the_test_recorded(tmp_path: Path) -> None:
    texts = recorded("1", 1, input="2+2", answer="4", expected="4", cost=0.5, latency_s=2,
                     input_tokens=9)  # fmt: skip
    path = write(tmp_path, texts, recorded("2", 1, CRASHED, output=""), recorded("3", 1))
    outputs = read_outputs(path)
    assert outputs["example_id"].tolist() == ["1"]
    row = outputs.iloc[0]
    assert row[["input", "output", "reference"]].tolist() == ["2+2", "4", "4"]
    assert row[["cost_usd", "latency_s", "tokens_in"]].tolist() == [0.5, 2.0, 9.0]
    assert read_scores(path)["criterion"].unique().tolist() == ["match"]


def test_scorer_and_cluster(tmp_path: Path) -> None:
    table = read_scores(write(tmp_path, recorded("1", 1, scorer="judge-1", cluster="doc-1")))
    assert table[["scorer", "cluster"]].values.tolist() == [["judge-1", "doc-1"]]


def test_nested_suites_namespaces_and_a_bare_suite(tmp_path: Path) -> None:
    inner = f"<testsuite name='inner'>{case('test_it[2]', FAILED)}</testsuite>"
    table = read_scores(write(tmp_path, case("test_it[1]"), inner, suite="tests='99'"))
    assert table["example_id"].tolist() == ["1", "2"]
    path = tmp_path / "model-a.xml"
    path.write_text(
        f"<!-- note --><testsuite xmlns='urn:x' name='s'>{case('test_it[1]')}</testsuite>"
    )
    assert len(read_scores(path)) == 1


def test_totals_that_do_not_fit_warn_and_are_reported(tmp_path: Path) -> None:
    path = write(tmp_path, case("test_it[1]"), suite="tests='3' failures='1' errors='0'")
    with pytest.warns(EvalToolkitWarning, match=r"'tests 3 \(found 1\)', 'failures 1 \(found 0\)'"):
        report = read_report(path)
    assert report.aggregates["metric"].tolist() == ["tests", "failures", "errors"]
    assert report.aggregates["value"].tolist() == [3.0, 1.0, 0.0]


def test_unknown_children_are_counted(tmp_path: Path) -> None:
    path = write(
        tmp_path, case("test_it[1]", "<rerunFailure message='x'/>", "<system-out>o</system-out>")
    )
    with pytest.warns(EvalToolkitWarning, match=r"1 record\(s\) of the unknown kind child 'rerun"):
        table = read_scores(path)
    assert table.attrs["unknown"][0]["count"] == 1


def test_a_report_without_cases_has_no_scores(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no scores"):
        read_scores(write(tmp_path))


# --- unsafe and broken files ------------------------------------------------------------------

BOMB = """<!DOCTYPE testsuites [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>"""
FILE = """<!DOCTYPE testsuites [<!ENTITY x SYSTEM "file:///etc/hostname">]>"""


@pytest.mark.parametrize("declared", [BOMB, FILE, "<!DOCTYPE testsuites>", "<!ENTITY a 'b'>"])
@pytest.mark.parametrize("before", ["", "<?xml version='1.0'?>\n", "<!-- <a> ? --> <?pi a?>\n"])
def test_declarations_are_refused(tmp_path: Path, declared: str, before: str) -> None:
    path = write(tmp_path, case("test_it[&b;]".replace("&b;", "1")))
    text = path.read_text("utf-8").partition("?>")[2]
    path.write_text(before + declared + text.replace("test_it[1]", "&b;&x;"), "utf-8")
    with pytest.raises(ReadError, match="declares a document type") as caught:
        read_scores(path)
    assert caught.value.code == "unsafe_xml"
    assert "model-a.xml" in str(caught.value)


def test_a_declaration_in_a_message_is_only_text(tmp_path: Path) -> None:
    page = "<failure message='assert 1'><![CDATA[<!DOCTYPE html><!ENTITY x>]]></failure>"
    details = read_details(write(tmp_path, case("test_it[1]", page)))
    assert json.loads(details["details"].iloc[0]) == {"failure": "<!DOCTYPE html><!ENTITY x>"}


def test_a_file_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(junit_xml, "_LARGEST", 100)
    with pytest.raises(ReadError, match="held in memory whole") as caught:
        read_scores(write(tmp_path, case("test_it[1]")))
    assert caught.value.code == "too_large"


def test_a_file_that_is_cut_off_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, case("test_it[1]"))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ReadError, match=r"model-a.xml: the XML is cut off or malformed") as caught:
        read_scores(path)
    assert caught.value.code == "bad_xml"


@pytest.mark.parametrize(
    "text",
    [
        "<html><body/></html>",
        "<testsuitesque/>",
        "<a><testsuite/></a>",
        "plain <testsuite>",
        "<?xml version='1.0'?>",
        "",
    ],
)
def test_other_files_are_not_taken(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.xml"
    path.write_text(text)
    assert not FORMAT.detect(Source(path))
    assert not FORMAT.detect(Source(tmp_path))


# --- real files -------------------------------------------------------------------------------

REAL = ["junit/generated/pytest_eval.junit.xml", "junit/generated/pytest_eval.xunit1.junit.xml"]


@pytest.mark.parametrize("name", REAL)
def test_real_files(shared_data: Path, name: str) -> None:
    table = read_scores(shared_data / name)
    assert len(table) == 24
    assert table.groupby("system").size().to_dict() == {
        "google/gemini-2.5-pro": 12, "openai/gpt-5": 12
    }  # fmt: skip
    assert table["criterion"].unique().tolist() == ["match"]
    assert table["task"].unique().tolist() == ["test_eval_popularity"]
    assert table["example_id"].nunique() == 12
    statuses = table["status"].astype(str).value_counts().to_dict()
    assert statuses == {"scored": 20, "unscored": 2, "scorer_error": 2}
    assert table["passed"].sum() == 13
    assert (~table["passed"].dropna().astype(bool)).sum() == 7
    assert table.groupby("system")["score"].sum().to_dict() == {
        "google/gemini-2.5-pro": 7.0, "openai/gpt-5": 6.0
    }  # fmt: skip
    broken = table[table["status"] == "scorer_error"]
    assert broken["example_id"].tolist() == ["11", "11"]
    skipped = table[table["status"] == "unscored"]
    assert skipped[["example_id", "label"]].values.tolist() == [["12", "1.0"]] * 2


def test_no_other_real_file_is_taken(shared_data: Path) -> None:
    files = [path for path in sorted(shared_data.rglob("*")) if path.is_file()]
    taken = [path for path in files if FORMAT.detect(Source(path))]
    assert [path.relative_to(shared_data).as_posix() for path in taken] == REAL
