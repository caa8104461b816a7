"""What one test case of JUnit XML says: who was tested, on what, how it ended, what it scored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from evaltoolkit.readers.base import Row
from evaltoolkit.readers.junit_xml import Case, End
from evaltoolkit.readers.records import SHORT_TEXT, finite_number, shortened

_SYSTEM = ("system", "model", "model_name", "agent")
_EXAMPLE = ("example_id", "sample_id", "case_id", "instance_id", "question_id")
_TRIAL = ("trial", "repeat", "epoch", "run_index")
_SCORE, _CRITERION, _SCORER, _CLUSTER = "score", "criterion", "scorer", "cluster"
_OUTPUTS = {
    "input": ("input", "prompt", "question"),
    "output": ("output", "response", "answer", "completion"),
    "reference": ("reference", "expected", "expected_output", "target"),
    "cost_usd": ("cost_usd", "cost"),
    "tokens_in": ("tokens_in", "input_tokens", "prompt_tokens"),
    "tokens_out": ("tokens_out", "output_tokens", "completion_tokens"),
    "latency_s": ("latency_s", "latency"),
}
_USED = frozenset(
    {*_SYSTEM, *_EXAMPLE, *_TRIAL, _SCORE, _CRITERION, _SCORER, _CLUSTER}
    | {name for names in _OUTPUTS.values() for name in names}
)
_TEXTS = ("input", "output", "reference")
# Numbers that say how the system ran, not how well.
_SETTINGS = re.compile(
    r"(?i)(.*_)?(id|seed|temperature|top_[pk]|version|threshold|index|attempts?|retries|line)"
    r"|max_.*|n_.*|num_.*|.*(tokens?|cost|latency|duration|time|_ms|_s)(_.*)?"
)
_WORDS = {"true": 1.0, "false": 0.0}
_LAST_LINE = re.compile(r":\d+: ([A-Za-z_][\w.]*)$")
_END_OF_TEXT = 300
_BY_PYTEST_FAIL = "Failed"
# A message that begins with no exception is a plain assert.
_EXCEPTION = re.compile(
    r"([A-Za-z_][\w.]*(?:Error|Exception|Timeout|Interrupt|Exit|Group))\b(?=:|$)"
)

_BINARY = {"kind": "binary", "higher_is_better": True, "lower_bound": 0.0, "upper_bound": 1.0}
_OUTCOME = "passed"

TEARDOWN = "failed on teardown"
"""How pytest begins the message of an error after the test itself."""


def told(fields: dict[str, str], names: tuple[str, ...]) -> str | None:
    """Give the first of some properties that is there and not empty."""
    return next((fields[name] for name in names if fields.get(name)), None)


def _number(text: str) -> float | None:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        # Python reads "1_0" as 10, no test writes that.
        return None if "_" in text else finite_number(float(text))
    except ValueError:
        return None


@dataclass
class Recorded:
    """One test case with what its suite says of all cases; key and rows are filled in later."""

    case: Case
    suite: dict[str, str]
    key: Row = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)

    @property
    def function(self) -> str:
        """The test function: the name without its parameters."""
        return self.case.name.partition("[")[0]

    @property
    def parameters(self) -> str:
        """What stands in the brackets; empty where there are none."""
        _, opened, inner = self.case.name.partition("[")
        return inner.removesuffix("]") if opened else ""

    @property
    def is_bare(self) -> bool:
        """Whether the test recorded neither its system nor its example."""
        fields = self.case.properties
        return told(fields, _SYSTEM) is None and told(fields, _EXAMPLE) is None

    @property
    def function_key(self) -> tuple[str, str]:
        """What tells this test function from those of other modules."""
        return self.case.classname, self.function

    @property
    def item(self) -> list[str]:
        """The example, told from those of other tasks."""
        return [self.key["task"], self.key["example_id"]]

    @property
    def trial(self) -> int | None:
        """The repeat that the test recorded."""
        text = told(self.case.properties, _TRIAL) or ""
        return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else None

    @property
    def free(self) -> Row:
        """Properties that are neither names nor scores nor parts of the output."""
        used = {*_USED, *self.further}
        return {name: text for name, text in self.case.properties.items() if name not in used}

    @property
    def further(self) -> list[str]:
        """Properties other than the score that hold a number which is no setting."""
        return [
            name
            for name, text in self.case.properties.items()
            if name not in _USED and _number(text) is not None and not _SETTINGS.fullmatch(name)
        ]


@dataclass(frozen=True)
class Known:
    """Names that some cases recorded, to recognise them in the names of others."""

    systems: tuple[str, ...]
    examples: frozenset[str]

    @classmethod
    def of(cls, tests: list[Recorded]) -> Known:
        """Collect them."""
        fields = [test.case.properties for test in tests]
        systems = {name for each in fields if (name := told(each, _SYSTEM))}
        examples = {name for each in fields if (name := told(each, _EXAMPLE))}
        # Longer names first: "gpt-5-mini" before "gpt-5".
        ordered = sorted(systems, key=lambda name: (-len(name), name))
        return cls(tuple(ordered), frozenset(examples))

    def split(self, test: Recorded) -> tuple[str | None, str]:
        """Name the system (None: not told) and the example of a case."""
        fields = test.case.properties
        system = told(fields, _SYSTEM)
        example = told(fields, _EXAMPLE)
        found, rest = self._in_parameters(test.parameters, system)
        system = system or found or told(test.suite, _SYSTEM)
        return system, example or rest or test.function

    def _in_parameters(self, text: str, system: str | None) -> tuple[str | None, str]:
        """Take a system off the parameters; where several fit, one that leaves an example."""
        names = (system,) if system else self.systems
        splits = [(name, rest) for name in names if (rest := _without(text, name)) is not None]
        whole = [each for each in splits if each[1] in self.examples]
        return next(iter([*whole, *splits]), (None, text))


def _without(text: str, name: str) -> str | None:
    if text == name:
        return ""
    if text.startswith(f"{name}-"):
        return text.removeprefix(f"{name}-")
    return text.removesuffix(f"-{name}") if text.endswith(f"-{name}") else None


def numbers_of(test: Recorded) -> dict[str, str]:
    """Give the raw scores that a test recorded, by criterion."""
    fields = test.case.properties
    scores = {name: fields[name] for name in test.further}
    if _SCORE in fields:
        name = fields.get(_CRITERION) or test.function
        scores = {name: fields[_SCORE], **scores}
    return scores


def measured(test: Recorded, *, expected: Iterable[str]) -> Iterator[tuple[str, Row]]:
    """Give the criteria of one test with score, label, verdict, status and message.

    Args:
        test: The test case.
        expected: What other cases of the same test function recorded, where this one has nothing.
    """
    recorded = numbers_of(test)
    end = _end(test.case)
    names = list(recorded or expected)
    facts: Row = {"scorer": test.case.properties.get(_SCORER) or ""}
    if test.case.properties.get(_CLUSTER):
        facts["cluster"] = test.case.properties[_CLUSTER]
    for name in names:
        row = _recorded(recorded.get(name), end)
        is_verdict = len(names) == 1 and row["status"] == "scored"
        yield name, {**row, "passed": end.verdict if is_verdict else None, **facts}
    if len(names) != 1:
        yield _outcome_name(test, names), {**_outcome(end), **facts, **_BINARY}


def _outcome_name(test: Recorded, names: list[str]) -> str:
    has_example = test.parameters or told(test.case.properties, _EXAMPLE)
    return test.function if has_example and test.function not in names else _OUTCOME


def _outcome(end: _End) -> Row:
    number = None if end.verdict is None else float(end.verdict)
    return {
        "score": number, "label": end.label, "passed": end.verdict, "status": end.status,
        "message": end.message,
    }  # fmt: skip


def _recorded(text: str | None, end: _End) -> Row:
    """Turn one recorded score into a row; what a skipped or broken test recorded is a label."""
    number = None if text is None else _number(text)
    label = end.label if text is None else shortened(text, limit=SHORT_TEXT)
    if number is not None and end.status in ("scored", "system_error"):
        # It was measured before the test ended, however that went.
        return {"score": number, "label": end.label, "status": "scored", "message": end.message}
    if end.status != "scored":
        return {"score": None, "label": label, "status": end.status, "message": end.message}
    why = "the test recorded no score" if text is None else "the recorded score is no number"
    return {"score": None, "label": label, "status": "unscored", "message": end.message or why}


class _End(NamedTuple):
    """How a test ended: its verdict, what that means for measurements, and what the file says."""

    verdict: bool | None
    status: str
    label: str
    message: str | None


def _end(case: Case) -> _End:
    for each in case.ends:
        kind, message, type_, text = each
        said = shortened(message or text or type_ or kind)
        if kind == "error" and not message.startswith(TEARDOWN):
            return _End(None, "scorer_error", kind, said)
        if kind == "skipped":
            label = "xfail" if type_ == "pytest.xfail" else kind
            return _End(None, "unscored", label, f"skipped: {said}")
        if kind == "failure" and _is_crash(each):
            return _End(None, "system_error", kind, said)
        if kind == "failure":
            return _End(False, "scored", kind, said)
    return _End(True, "scored", "passed", shortened(case.ends[0][1]) if case.ends else None)


def _is_crash(end: End) -> bool:
    """Say whether a failure came from another exception than an assertion."""
    told = end.type.strip() or end.message.strip()
    # pytest ends a traceback by place and type; other texts are judged by how they begin.
    found = _LAST_LINE.search(end.text.rstrip()[-_END_OF_TEXT:]) or _EXCEPTION.match(told)
    name = found.group(1).rpartition(".")[2] if found else _BY_PYTEST_FAIL
    return "Assert" not in name and name != _BY_PYTEST_FAIL


def output_of(test: Recorded) -> Row:
    """Give the parts of an outputs row that the test recorded."""
    fields = test.case.properties
    row: Row = {}
    for part, names in _OUTPUTS.items():
        text = told(fields, names)
        row[part] = text if part in _TEXTS or text is None else _number(text)
    end = _end(test.case)
    if any(value is not None for value in row.values()) and end.status == "system_error":
        row["error"] = end.message
    return row
