"""The results of one promptfoo file: which system, example and trial each is, what it has lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from evaltoolkit.readers.base import Reading, Row, Source
from evaltoolkit.readers.promptfoo_values import HUMAN, OVERALL, Part, crash, lost_part, planned
from evaltoolkit.readers.records import shortened
from evaltoolkit.readers.unnamed import content_ids, system_name, trial_numbers

# Variables that promptfoo fills in as it goes, so that they differ between systems.
_RUNNING = frozenset({"_conversation", "sessionId"})
_PROMPT_TEXT = 60


@dataclass
class Result:
    """One answer and what it was graded by, as it is kept until the whole file has been seen."""

    record: str
    raw: Row
    parts: list[Part]
    key: Row = field(default_factory=dict)

    @property
    def test(self) -> Row:
        """The test case."""
        return self.raw.get("testCase") or {}

    @property
    def variables(self) -> Row:
        """What was filled into the prompt."""
        given = self.raw.get("vars") or self.test.get("vars") or {}
        return {name: value for name, value in given.items() if name not in _RUNNING}

    @property
    def column(self) -> Hashable:
        """What tells one column of promptfoo's table from the others."""
        place = self.raw.get("promptIdx")
        return place if isinstance(place, int) else (self.provider, self.prompt)

    @property
    def provider(self) -> str:
        """The name of the provider, empty where there is none."""
        provider = self.raw.get("provider")
        if isinstance(provider, Mapping):
            provider = provider.get("label") or provider.get("id")
        return str(provider or "")

    @property
    def prompt(self) -> str:
        """The name of the prompt: never the filled-in text, which differs between tests."""
        prompt = self.raw.get("prompt")
        told = prompt if isinstance(prompt, Mapping) else {}
        return str(told.get("label") or told.get("display") or self.raw.get("promptId") or "")


def identify(source: Source, results: list[Result], reading: Reading, *, run_id: str) -> list[str]:
    """Give every result its key: run, system, example, trial."""
    names, notes = _system_names(source, results, reading)
    # Tests can have the same variables and be checked for different things.
    hashed = content_ids([(each.variables, _checks(each)) for each in results])
    for each, example in zip(results, hashed, strict=True):
        each.key = {"run_id": run_id, "system": names[each.column], "example_id": example}
    numbers = [each.raw.get("testIdx") for each in results]
    tests = [number for number in numbers if isinstance(number, int)]
    told = len(tests) == len(results)
    order = sorted(range(len(results)), key=lambda place: tests[place] if told else place)
    trials, more = trial_numbers(tuple(results[place].key.values()) for place in order)
    for place, trial in zip(order, trials, strict=True):
        results[place].key["trial"] = trial
    how = "in the order of their test numbers" if told else "in the order of the file"
    examples = ["examples are named by a hash of their variables"] if results else []
    return [*notes, *examples, *(f"{note} {how}" for note in more)]


def _checks(each: Result) -> Row:
    return {name: each.test.get(name) for name in ("description", "assert", "metadata")}


def _system_names(
    source: Source, results: list[Result], reading: Reading
) -> tuple[dict[Hashable, str], list[str]]:
    columns = {each.column: each for each in results}
    notes: list[str] = []
    several = len({each.prompt for each in results}) > 1
    if several:
        notes.append("it has several prompts: a system is a provider with a prompt")
    names: dict[Hashable, str] = {}
    repeats: Counter[str] = Counter()
    # Results come in the order in which they were finished.
    numbered = all(isinstance(column, int) for column in columns)
    for column in sorted(columns, key=str) if not numbered else sorted(columns):  # type: ignore[type-var]
        provider = columns[column].provider
        if not provider:
            provider, more = system_name(source.path, reading)
            notes += more
        prompt = shortened(columns[column].prompt, limit=_PROMPT_TEXT)
        name = f"{provider} | {prompt}" if several else provider
        repeats[name] += 1
        names[column] = f"{name} #{repeats[name]}" if repeats[name] > 1 else name
    if len(repeats) < len(names):
        notes.append("columns of the same name are told apart by #2, #3, ... in their order")
    return names, notes


def add_lost_parts(results: list[Result]) -> None:
    """Add what a result lacks that the same example was graded by elsewhere in the file.

    A provider that failed is graded by nothing, and an assertion that threw leaves no trace.
    """
    known: dict[Hashable, dict[str, None]] = {}
    for each in results:
        for part in each.parts:
            if part.scorer != HUMAN:
                known.setdefault(each.key["example_id"], {})[part.criterion] = None
    everything = dict.fromkeys(name for names in known.values() for name in names)
    for each in results:
        overall = next((part for part in each.parts if part.criterion == OVERALL), None)
        if overall is None or overall.scorer:
            continue
        asked = dict.fromkeys(planned(each.raw))
        if crash(each.raw):
            expected = {**known[each.key["example_id"]], **asked}
            expected = everything if expected.keys() <= {OVERALL} else expected
        else:
            # The author of a scripted assertion may return any number of parts.
            expected = asked if len(each.parts) <= len(asked) else {}
        own = {part.criterion for part in each.parts}
        each.parts += (lost_part(name, overall=overall) for name in expected if name not in own)
