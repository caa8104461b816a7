"""Results of llm-core's evaluation (``@geekist/llm-core``), dumped as JSON.

Read are lists of results, each with its case, evaluator, status and scores; qualifications, which
name the candidate (the system), the data set (the task) and the thresholds; and promotions, which
hold a qualification. Cases may stand beside the results and then say what remained unscored.

The status of a result is a criterion of its own: it is the verdict on the case, not on one
criterion, and nothing ties it to the scores (``pass`` with a score of 0 is allowed).
``inconclusive`` is `unscored`, in the status and in every criterion that then lacks a score.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evaltoolkit.errors import warn
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source
from evaltoolkit.readers.llm_core_values import (
    STATUS,
    check_result,
    contradiction,
    is_case,
    is_promotion,
    is_qualification,
    is_result,
    lost,
    verdict,
    written,
)
from evaltoolkit.readers.records import BAD_RECORD, as_json, finite_number
from evaltoolkit.readers.unnamed import Criteria, system_name, trial_numbers
from evaltoolkit.readers.wrapped_results import Entry, entries, first

_BOUNDS = {"higher_is_better": True, "lower_bound": 0.0, "upper_bound": 1.0}


@dataclass(frozen=True)
class _Set:
    """What a qualification says about all of its results."""

    system: str | None = None
    task: str = ""
    split: str | None = None


@dataclass
class _Judgement:
    """One result: where it stands, the qualification that it is part of, its fields."""

    record: str
    within: _Set
    raw: Row
    uncertainty: float | None = None
    key: Row = field(default_factory=dict)

    @property
    def scorer(self) -> str:
        """The evaluator and its version, as llm-core joins them."""
        evaluator = self.raw["evaluator"]
        return f"{evaluator['evaluatorId']}@{evaluator['version']}"


@dataclass
class _Contents:
    """Everything that one file holds."""

    judgements: list[_Judgement] = field(default_factory=list)
    aggregates: list[Row] = field(default_factory=list)
    facts: dict[str, dict[str, set[float]]] = field(default_factory=dict)
    cases: dict[str, list[str]] = field(default_factory=dict)

    def say(self, criterion: str, fact: str, value: object) -> None:
        """Remember a number that is said of a criterion."""
        number = finite_number(value)
        if number is not None:
            self.facts.setdefault(criterion, {}).setdefault(fact, set()).add(number)

    def known(self, criterion: str) -> Row:
        """Give what is said of a criterion, where the whole file says the same."""
        facts = self.facts.get(criterion, {})
        return {fact: next(iter(v)) for fact, v in facts.items() if len(v) == 1}


def detect(source: Source) -> bool:
    """Say whether a file holds results, qualifications, promotions or cases."""
    document, *_ = values = first(source) or [None]
    cases = document.get("cases") if isinstance(document, Mapping) else None
    return any(map(_fits, values)) or (isinstance(cases, list) and any(map(is_case, cases[:1])))


def _fits(value: object) -> bool:
    return any(is_kind(value) for is_kind in (is_result, is_qualification, is_promotion, is_case))


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read one file; its rows come in one batch, since cases can stand anywhere."""
    contents = _Contents()
    for entry in _entries(source, reading):
        try:
            _take(entry, contents, source, reading)
        except BAD_RECORD as error:
            reading.bad_record(source.path, entry.record, error)
    judged = contents.judgements
    notes = _identify(source, judged, reading)
    rows = list(_score_rows(source, contents))
    differing = [
        name for name, facts in contents.facts.items() if len(contents.known(name)) < len(facts)
    ]
    if differing:
        notes.append(f"weights or thresholds of {differing[0]!r} differ within the file: left out")
    if contents.cases and not judged:
        notes.append("it holds cases, which have no scores")
    yield Batch(
        scores=rows,
        details=list(_detail_rows(source, judged)) if "details" in reading.want else [],
        aggregates=contents.aggregates,
        notes=[f"{source.path.name}: {note}" for note in notes],
    )


def _entries(source: Source, reading: Reading) -> Iterator[Entry]:
    """Go through the records; cases that stand beside the results come along."""
    document = None if source.is_json_lines else source.document
    if isinstance(document, Mapping) and not _fits(document):
        beside = document.get("cases", [document.get("case")])
        cases = [each for each in beside if is_case(each)] if isinstance(beside, list) else []
        yield from (Entry(f"cases[{n}]", None, case) for n, case in enumerate(cases))
        if cases and not isinstance(document.get("results"), list):
            return
    yield from entries(source, reading, _fits)


def _take(entry: Entry, contents: _Contents, source: Source, reading: Reading) -> None:
    raw = entry.raw
    if is_promotion(raw):
        _take_qualification(entry, raw["qualification"], contents, source, reading)
        _take_promotion(raw, contents)
    elif is_qualification(raw):
        _take_qualification(entry, raw, contents, source, reading)
    elif is_result(raw):
        check_result(raw)
        contents.judgements.append(_Judgement(entry.record, _Set(), raw))
    elif is_case(raw):
        contents.cases[str(raw["caseId"])] = [str(each["criterionId"]) for each in raw["criteria"]]
        for each in raw["criteria"]:
            contents.say(str(each["criterionId"]), "weight", each.get("weight"))
    else:
        raise ValueError("it is neither a result nor a case, qualification or promotion")


def _take_qualification(
    entry: Entry, raw: Row, contents: _Contents, source: Source, reading: Reading
) -> None:
    split = raw.get("split") or {}
    within = _Set(str(raw["candidate"]["id"]), str(raw["dataset"]["id"]), split.get("kind"))
    wrong = contradiction(raw)
    if wrong:
        warn(f"{source.path}: {entry.record}: {wrong}; the scores were read as they are written")
    for threshold in raw["thresholds"]:
        contents.say(str(threshold["criterionId"]), "threshold", threshold["minimum"])
    status = raw.get("thresholdStatus")
    if status is not None:
        contents.aggregates.append(_reported(within, "qualified", status == "qualified", raw))
    for number, each in enumerate(raw["results"]):
        record = f"{entry.record}, result {number}"
        try:
            check_result(each["result"])
        except BAD_RECORD as error:
            reading.bad_record(source.path, record, error)
            continue
        doubt = finite_number(each.get("uncertainty"))
        contents.judgements.append(_Judgement(record, within, each["result"], doubt))


def _take_promotion(raw: Row, contents: _Contents) -> None:
    qualification = raw["qualification"]
    within = _Set(str(qualification["candidate"]["id"]), str(qualification["dataset"]["id"]))
    promoted = raw["decision"] == "promote"
    contents.aggregates.append(_reported(within, "promoted", promoted, qualification))


def _reported(within: _Set, metric: str, value: bool, raw: Row) -> Row:
    return {
        "run_id": "",
        "system": within.system,
        "task": within.task,
        "criterion": "",
        "metric": metric,
        "value": float(value),
        "n": len(raw["results"]),
    }


def _identify(source: Source, judged: list[_Judgement], reading: Reading) -> list[str]:
    """Give every result its system, task, example and trial."""
    unnamed = any(each.within.system is None for each in judged)
    fallback, notes = system_name(source.path, reading) if unnamed else ("", [])
    for each in judged:
        each.key = {
            "system": each.within.system or fallback,
            "task": each.within.task,
            "example_id": str(each.raw["caseId"]),
        }
    trials, more = trial_numbers((*each.key.values(), each.scorer) for each in judged)
    for each, trial in zip(judged, trials, strict=True):
        each.key["trial"] = trial
    return notes + more


def _score_rows(source: Source, contents: _Contents) -> Iterator[Row]:
    criteria = Criteria()
    for each in contents.judgements:
        names = (str(score["criterionId"]) for score in each.raw.get("scores") or [])
        criteria.add(each.scorer, names)
    for each in contents.judgements:
        for name, measurement in _measured(each, contents, criteria):
            facts: Row = {"kind": "binary"} if name == STATUS else contents.known(name)
            row = {**each.key, "criterion": name, "scorer": each.scorer, **measurement}
            place = {"split": each.within.split, "source": f"{source.path.name}: {each.record}"}
            yield {**row, **_BOUNDS, **facts, **place}


def _measured(
    each: _Judgement, contents: _Contents, criteria: Criteria
) -> Iterator[tuple[str, Row]]:
    """Give the status of one result, its scores, and the criteria that it left unscored."""
    yield STATUS, verdict(each.raw)
    scored = [str(score["criterionId"]) for score in each.raw.get("scores") or []]
    for name, score in zip(scored, each.raw.get("scores") or [], strict=True):
        number = finite_number(score["value"])
        if number is None:
            yield name, {**lost(each.raw), "label": written(score["value"])}
        else:
            yield name, {"score": number, "label": None, "status": "scored", "message": None}
    for name in _expected(each, contents, criteria, scored):
        if name not in scored:
            yield name, lost(each.raw)


def _expected(
    each: _Judgement, contents: _Contents, criteria: Criteria, scored: list[str]
) -> Iterable[str]:
    """Name the criteria of a case: those that it declares, else those of its evaluator."""
    declared = contents.cases.get(each.key["example_id"])
    if declared is not None:
        return declared
    return [] if scored else criteria.of(each.scorer)


def _detail_rows(source: Source, judged: list[_Judgement]) -> Iterator[Row]:
    for each in judged:
        parts: dict[str, Any] = {
            "explanations": each.raw.get("explanations"),
            "evidence": each.raw.get("evidence"),
            "uncertainty": each.uncertainty,
        }
        yield {
            **each.key,
            "criterion": STATUS,
            "scorer": each.scorer,
            "details": as_json({k: v for k, v in parts.items() if v not in (None, [])}),
            "source": f"{source.path.name}: {each.record}",
        }


FORMAT = Format(
    name="llm_core",
    title="llm-core evaluations (results, qualifications, promotions dumped as JSON)",
    detect=detect,
    read=read,
    tables=frozenset({"scores", "details", "report"}),
    signs="caseId, evaluator, status and scores; or dataset, candidate, results and thresholds",
    quirks=(
        "The status of a result is the criterion `status` (fail 0, pass 1), since it is the "
        "verdict on the case and not on one criterion; inconclusive is `unscored`. The system is "
        "the candidate of a qualification, else the file name. The thresholds of a qualification "
        "look at the last result of each criterion only; a status that does not follow from the "
        "scores gives a warning."
    ),
)
