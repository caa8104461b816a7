"""JUnit XML of evaluations that run as tests (``pytest --junitxml``, and whoever writes the same).

What becomes what, where the test records properties (``record_property``): ``model`` the system,
``example_id`` the example, ``criterion`` and ``score`` the score, any further number a score of
its own name. A single score of a case carries the outcome of the test as its verdict; otherwise
the outcome is a criterion of its own, named after the test function. Without properties the name
tells what it can: the parameters in the brackets are the example, and a system or an example that
other cases recorded is recognised in them ("-" is no safe separator by itself).

An ``error`` is a fixture that broke, hence no measurement; a failure by anything else than an
assertion is a crash; a skipped test has no score, whatever it recorded before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from xml.etree.ElementTree import Element

from evaltoolkit.errors import listed, warn
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source
from evaltoolkit.readers.junit_values import (
    TEARDOWN,
    Known,
    Recorded,
    measured,
    numbers_of,
    output_of,
)
from evaltoolkit.readers.junit_xml import cases, counted, is_junit, properties, suites
from evaltoolkit.readers.records import as_json, attribute_names, attributes
from evaltoolkit.readers.unnamed import system_name, time_or_none, trial_numbers

_SUFFIX = re.compile(r"(?i)[._-]?(junit|x?unit\d?|pytest|test[._-]?(report|results?)|report)$")
_GENERIC = "results"
_DETAIL_KEYS = ("system", "task", "example_id", "trial", "criterion")


def detect(source: Source) -> bool:
    """Say whether a file begins like JUnit XML."""
    return is_junit(source.head)


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read one file; its rows come in one batch, since each case may explain the others."""
    tests: list[Recorded] = []
    aggregates: list[Row] = []
    numbers = count(1)
    for suite in suites(source.path):
        shared = properties(suite)
        held = [Recorded(case, shared) for case in cases(suite, numbers)]
        once = _without_teardowns(held)
        tests += once
        aggregates += _totals(source, suite, once, elements=len(held))
    for test in tests:
        for kind in test.case.others:
            reading.unknown(source.path, f"child {kind!r} of a test case")
    notes = _identify(source, tests, reading)
    rows = _score_rows(source, tests, notes)
    yield Batch(
        scores=rows,
        outputs=[row for test in tests if (row := _output_row(source, test))],
        details=list(_detail_rows(source, tests)) if "details" in reading.want else [],
        aggregates=aggregates,
        notes=[f"{source.path.name}: {note}" for note in notes],
    )


def _without_teardowns(tests: list[Recorded]) -> list[Recorded]:
    """Put a failed teardown that pytest writes as a case of its own back to its test."""
    kept: list[Recorded] = []
    for test in tests:
        before = kept[-1].case if kept else None
        same = before and (before.classname, before.name) == (test.case.classname, test.case.name)
        only_teardown = len(test.case.ends) == 1 and test.case.ends[0].message.startswith(TEARDOWN)
        if before and same and before.ends and only_teardown:
            before.ends += test.case.ends
        else:
            kept.append(test)
    return kept


def _totals(source: Source, suite: Element, tests: list[Recorded], *, elements: int) -> list[Row]:
    """Give the totals that a suite states; where it holds others, a warning says so."""
    kinds = [end.kind for test in tests for end in test.case.ends]
    found = {
        "tests": len(tests),
        "failures": kinds.count("failure"),
        "errors": kinds.count("error"),
        "skipped": kinds.count("skipped"),
    }
    stated = counted(suite)
    if stated.get("tests") == elements:
        # Some versions of pytest count a failed teardown as a further test.
        found["tests"] = elements
    wrong = [f"{name} {n} (found {found[name]})" for name, n in stated.items() if n != found[name]]
    if wrong:
        warn(
            f"{source.path}: the suite states other totals than it holds: {listed(wrong)}; the "
            "file may have been cut or merged"
        )
    facts: Row = {"run_id": "", "system": "", "task": suite.get("name") or "", "criterion": ""}
    return [
        {**facts, "metric": name, "value": float(value), "n": len(tests)}
        for name, value in stated.items()
    ]


def _identify(source: Source, tests: list[Recorded], reading: Reading) -> list[str]:
    """Give every test its system, task, example and trial."""
    notes: list[str] = []
    known = Known.of(tests)
    stem = _SUFFIX.sub("", source.path.stem) or _GENERIC
    fallback: str | None = None
    guessed = 0
    for test in tests:
        system, example = known.split(test)
        guessed += test.is_bare and system is not None
        if system is None:
            if fallback is None:
                fallback, more = system_name(source.path, reading, stem=stem)
                notes += more
            system = fallback
        test.key = {"system": system, "task": test.case.classname, "example_id": example}
    if guessed:
        notes.append(
            f"{guessed} case(s) without properties: system and example were read from the test "
            "name, by the names that other cases recorded"
        )
    given = [test.trial for test in tests]
    trials, more = trial_numbers((*test.key.values(), test.function) for test in tests)
    for test, own, trial in zip(tests, given, trials, strict=True):
        test.key["trial"] = trial if own is None else own
    return notes if all(own is not None for own in given) else notes + more


def _score_rows(source: Source, tests: list[Recorded], notes: list[str]) -> list[Row]:
    by_function: dict[tuple[str, str], dict[str, None]] = {}
    free: dict[str, list[Row]] = {}
    for test in tests:
        by_function.setdefault(test.function_key, {}).update(dict.fromkeys(numbers_of(test)))
        free.setdefault(as_json(test.item), []).append(test.free)
    described = attribute_names(free)
    rows: list[Row] = []
    for test in tests:
        place = {
            "timestamp": time_or_none(test.case.suite.get("timestamp")),
            "source": f"{source.path.name}: {test.case.record}",
            **attributes(test.free, described, prefix="property"),
        }
        test.rows = [
            {**test.key, "criterion": name, **measurement, **place}
            for name, measurement in measured(test, expected=by_function[test.function_key])
        ]
        rows += test.rows
    further = dict.fromkeys(name for test in tests for name in test.further)
    if further:
        notes.append(f"properties taken as scores, since they hold numbers: {listed(further)}")
    return rows


def _output_row(source: Source, test: Recorded) -> Row | None:
    output = output_of(test)
    if not any(value is not None for value in output.values()):
        return None
    return {**test.key, **output, "source": f"{source.path.name}: {test.case.record}"}


def _detail_rows(source: Source, tests: list[Recorded]) -> Iterator[Row]:
    for test in tests:
        texts = {end.kind: end.text for end in test.case.ends if end.text.strip()}
        for row in test.rows if texts else []:
            key = {name: row[name] for name in _DETAIL_KEYS}
            where = f"{source.path.name}: {test.case.record}"
            yield {**key, "details": as_json(texts), "source": where}


FORMAT = Format(
    name="junit",
    title="JUnit XML of evaluations that run as tests",
    detect=detect,
    read=read,
    tables=frozenset({"scores", "outputs", "details", "report"}),
    signs="XML with a root testsuites or testsuite",
    quirks=(
        "Properties (`record_property`) name model, example, criterion and score; without them "
        "the test function is the criterion and its parameters are the example. `error` is "
        "`scorer_error`, a failure by another exception than an assertion `system_error`, a "
        "skipped test `unscored`. Documents that declare a type or entities are refused."
    ),
)
