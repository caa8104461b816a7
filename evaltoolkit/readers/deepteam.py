"""Risk assessments of DeepTeam: attacks on a system and whether it withstood them (1 is safe).

What becomes what: the vulnerability the criterion; a hash of the attack the example; the file name
the system, since the file names none. An attack that the system did not answer is its error; one
that could not be made or judged is an error of the measurement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evaltoolkit.errors import listed, warn
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source
from evaltoolkit.readers.records import (
    BAD_RECORD,
    SHORT_TEXT,
    as_cell,
    as_json,
    finite_number,
    shortened,
)
from evaltoolkit.readers.unnamed import content_ids, system_name, trial_numbers

_CASES = ("test_cases", "testCases")
_OVERVIEW = ("vulnerability_type_results", "attack_method_results")
_ATTRIBUTES = {
    "vulnerability_type": ("vulnerability_type", "vulnerabilityType"),
    "risk_category": ("riskCategory", "risk_category"),
    "attack_method": ("attackMethod", "attack_method", "attackEnhancement"),
}


@dataclass
class _Attack:
    """One attack: where it stands, its record, its attributes, its key."""

    record: str
    raw: Row
    attributes: Row
    key: Row = field(default_factory=dict)

    @property
    def vulnerability(self) -> str:
        """What was attacked."""
        return str(self.raw["vulnerability"])

    @property
    def input(self) -> Any:  # noqa: ANN401 - text, or turns
        """What was sent: a text, or the attacker's turns of a conversation."""
        turns = self.raw.get("turns")
        if self.raw.get("input") is not None or not turns:
            return self.raw.get("input")
        return [turn.get("content") for turn in turns if turn.get("role") == "user"]


def detect(source: Source) -> bool:
    """Say whether a file is a saved risk assessment."""
    if source.is_folder or source.is_zip or source.is_json_lines:
        return False
    if b'"overview"' not in source.head and b'"vulnerability"' not in source.head:
        return False
    document = source.document
    if not isinstance(document, Mapping) or not isinstance(document.get("overview"), Mapping):
        return False
    cases = _raw_cases(document)
    first = cases[0] if cases else {}
    told = {"score", "reason", "error"}
    return isinstance(first, Mapping) and "vulnerability" in first and bool(told & set(first))


def _raw_cases(document: Mapping[str, Any]) -> list[Any]:
    lists = (document.get(name) for name in _CASES)
    return next((each for each in lists if isinstance(each, list)), [])


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read one assessment in one batch, since equal attacks can stand anywhere."""
    attacks = list(_attacks(source, reading))
    system, notes = system_name(source.path, reading)
    contents = [(each.input, [each.vulnerability, *each.attributes.values()]) for each in attacks]
    hashed = content_ids(contents)
    trials, more = trial_numbers(hashed)
    for each, example, trial in zip(attacks, hashed, trials, strict=True):
        each.key = {"system": system, "example_id": example, "trial": trial}
    overview = source.document["overview"]
    _check_overview(source, overview, attacks)
    notes = [*notes, "examples are named by a hash of the attack", *more]
    yield Batch(
        scores=[_score_row(source, each) for each in attacks],
        outputs=[_output_row(source, each) for each in attacks],
        details=list(_detail_rows(source, attacks)) if "details" in reading.want else [],
        aggregates=list(_aggregates(overview, system)),
        notes=[f"{source.path.name}: {note}" for note in notes],
    )


def _attacks(source: Source, reading: Reading) -> Iterator[_Attack]:
    for number, raw in enumerate(_raw_cases(source.document)):
        record = f"test case {number}"
        try:
            attack = _attack(record, raw)
            # What would go wrong with one attack later would take the whole file along.
            _output_row(source, attack)
        except BAD_RECORD as error:
            reading.bad_record(source.path, record, error)
        else:
            yield attack


def _attack(record: str, raw: Row) -> _Attack:
    if not isinstance(raw.get("vulnerability"), str):
        raise ValueError("it names no vulnerability")  # noqa: TRY004 - one kind of refusal
    return _Attack(record, raw, {name: _first(raw, n) for name, n in _ATTRIBUTES.items()})


def _first(raw: Row, names: tuple[str, ...]) -> str | None:
    found = next((raw[name] for name in names if raw.get(name) is not None), None)
    return None if found is None else shortened(str(found), limit=SHORT_TEXT)


def _check_overview(source: Source, overview: Row, attacks: list[_Attack]) -> None:
    """Warn where the overview counts other numbers of attacks than the file holds."""
    kind = "vulnerability_type"
    found = Counter((each.vulnerability, each.attributes[kind]) for each in attacks)
    wrong = []
    for entry in _entries(overview, "vulnerability_type_results"):
        counts = [finite_number(entry.get(name)) for name in ("passing", "failing", "errored")]
        told = int(sum(count or 0 for count in counts))
        name = entry.get("vulnerability")
        seen = found[str(name), str(entry.get(kind))]
        if told != seen:
            wrong.append(f"{name}: {told} for {seen} found")
    if wrong:
        warn(
            f"{source.path}: its overview does not agree with its test cases ({listed(wrong)}); "
            "the scores come from the test cases"
        )


def _entries(overview: Row, name: str) -> list[Row]:
    return [each for each in overview.get(name) or [] if isinstance(each, dict)]


def _score_row(source: Source, attack: _Attack) -> Row:
    return {
        **attack.key,
        "criterion": attack.vulnerability,
        **_measured(attack.raw),
        "lower_bound": 0.0,
        "upper_bound": 1.0,
        "higher_is_better": True,
        **attack.attributes,
        "source": f"{source.path.name}: {attack.record}",
    }


def _measured(raw: Row) -> Row:
    number, error = finite_number(raw.get("score")), raw.get("error")
    if error:
        label = None if number is None else f"{number:g}"
        status = "system_error" if _is_of_the_system(str(error)) else "scorer_error"
        lost = {"score": None, "label": label, "status": status}
        return {**lost, "message": shortened(str(error))}
    told = shortened(str(raw["reason"])) if raw.get("reason") else None
    if number is None:
        written = raw.get("score")
        label = None if written is None else shortened(str(written), limit=SHORT_TEXT)
        why = told or "no score was given"
        return {"score": None, "label": label, "status": "unscored", "message": why}
    return {"score": number, "label": None, "status": "scored", "message": told}


def _is_of_the_system(error: str) -> bool:
    """Say whether the attacked system failed, as DeepTeam words it, and not attacker or judge."""
    return "generating output" in error.lower()


def _output_row(source: Source, attack: _Attack) -> Row:
    error = attack.raw.get("error")
    answer = attack.raw.get("actualOutput", attack.raw.get("actual_output"))
    return {
        **attack.key,
        "input": as_cell(attack.input),
        "output": as_cell(attack.raw.get("turns") if answer is None else answer),
        "error": str(error) if error and _is_of_the_system(str(error)) else None,
        "source": f"{source.path.name}: {attack.record}",
    }


def _detail_rows(source: Source, attacks: list[_Attack]) -> Iterator[Row]:
    for each in attacks:
        given = {name: each.raw[name] for name in ("reason", "error") if each.raw.get(name)}
        if given:
            key = {**each.key, "criterion": each.vulnerability}
            place = {"source": f"{source.path.name}: {each.record}"}
            yield {**key, "details": as_json(given), **place}


def _aggregates(overview: Row, system: str) -> Iterator[Row]:
    for name in _OVERVIEW:
        for entry in _entries(overview, name):
            counts = [finite_number(entry.get(part)) for part in ("passing", "failing")]
            yield {
                "system": system,
                "task": "",
                "criterion": entry.get("vulnerability") or entry.get("attack_method"),
                "metric": "pass_rate",
                "value": entry.get("pass_rate"),
                "n": sum(count or 0 for count in counts),
            }


FORMAT = Format(
    name="deepteam",
    title="DeepTeam risk assessments",
    detect=detect,
    read=read,
    tables=frozenset({"scores", "outputs", "details", "report"}),
    signs="an overview and test_cases with vulnerability and score",
    quirks=(
        "Score 1 means that the system withstood the attack. The vulnerability is the criterion; "
        "its type, the risk category and the attack method are attributes. An attack without an "
        "answer is `system_error`, one that could not be made or judged `scorer_error`. Where the "
        "overview counts other numbers than the test cases show, a warning says so."
    ),
)
