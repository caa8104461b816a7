"""The surroundings of an EvalShift score file: its systems, its suite, the calls that failed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from evaltoolkit.readers.base import Reading, Row, Source, json_lines
from evaltoolkit.readers.evalshift_traces import Side, imported_traces
from evaltoolkit.readers.records import as_cell

ROLES = ("source", "target")
"""The two sides of a pair: the baseline and the candidate."""

_OTHER = {"source": "target", "target": "source"}
_OLD_KINDS = ("tool_arguments", "semantic", "llm_judge")


def criterion_of(evaluator: str, kind: object) -> tuple[str, str]:
    """Give the kind of an evaluator, also of rows that are too old to hold it, and its criterion.

    Example:
        >>> criterion_of("routing", "tool_selection.divergence")[1]
        'tool_selection.divergence.routing'
        >>> criterion_of("semantic.cosine", None)
        ('semantic', 'semantic.cosine')
    """
    guessed = (old for old in _OLD_KINDS if evaluator.startswith(old + "."))
    known = str(kind) if kind else next(guessed, "")
    named = not known or evaluator == known or evaluator.startswith(known + ".")
    return known, evaluator if named else f"{known}.{evaluator}"


@dataclass
class Run:
    """One run as far as the files beside its scores tell.

    Attributes:
        folder: The run directory.
        run_id: What the rows call the run.
        state: Content of ``state.json``; empty where there is none of this run.
        reading: The call that it is read for.
        notes: What had to be decided.
    """

    folder: Path
    run_id: str
    state: Row
    reading: Reading
    notes: list[str] = field(default_factory=list)

    @cached_property
    def systems(self) -> dict[str, str]:
        """Name of the system of each role."""
        models = self.state.get("models") or self._called_models()
        names = {role: str(models.get(role) or role) for role in ROLES}
        if not models:
            self.notes.append(
                f"{self.folder}: neither state.json nor raw.jsonl names the models of this run; "
                "its systems are called 'source' and 'target' (rename them with system={...})"
            )
        if names["source"] == names["target"]:
            self.notes.append(
                f"{self.folder}: both sides are {names['source']!r}, told apart by their role"
            )
            names = {role: f"{name} ({role})" for role, name in names.items()}
        return names

    def side(self, role: str) -> Row:
        """Give the columns that name a side of a pair."""
        return {"system": self.systems[role], "versus": self.systems[_OTHER[role]]}

    def example(self, example_id: str) -> Row:
        """Give cluster and attributes of an example, from the suite."""
        return self._described.get(example_id, {})

    def text(self, example_id: str) -> Row:
        """Give input and reference of an example, from the suite."""
        row = self._suite.get(example_id, {})
        inputs = row.get("inputs")
        if isinstance(inputs, dict) and len(inputs) == 1:
            inputs = next(iter(inputs.values()))
        return {"input": as_cell(inputs or None), "reference": as_cell(row.get("expected"))}

    def failed_samples(self, pair: tuple[str, str], role: str) -> set[int]:
        """Say which samples of a side failed or were cut off, as far as ``raw.jsonl`` tells."""
        return self._failures.get((*pair, role), set())

    @cached_property
    def _failures(self) -> dict[tuple[str, str, str], set[int]]:
        failures: dict[tuple[str, str, str], set[int]] = {}
        for call in self._calls():
            if call.get("error") is not None or call.get("finish_reason") == "length":
                key = tuple(str(call.get(k)) for k in ("prompt_id", "example_id", "role"))
                failures.setdefault((key[0], key[1], key[2]), set()).add(
                    int(call.get("sample_index") or 0)
                )
        return failures

    @cached_property
    def traces(self) -> dict[Side, Row]:
        """What imported traces say of each side of an example."""
        return imported_traces(self.folder / "traces.jsonl", self.reading, run_id=self.run_id)

    @cached_property
    def called(self) -> set[Side]:
        """The sides of which ``raw.jsonl`` has a call."""
        names = ("prompt_id", "example_id", "role")
        keys = (tuple(str(call.get(name)) for name in names) for call in self._calls())
        return {(key[0], key[1], key[2]) for key in keys}

    def _called_models(self) -> Row:
        models: Row = {}
        for call in self._calls():
            models.setdefault(str(call.get("role")), call.get("model_id"))
            if len(models) == len(ROLES):
                break
        return models

    def _calls(self) -> Iterator[Row]:
        path = self.folder / "raw.jsonl"
        if path.is_file():
            # What is wrong with a call is said when the outputs are read.
            quiet = Reading(want=frozenset(), on_error="skip")
            yield from (
                row for _, row in json_lines(path, quiet) if row.get("run_id") == self.run_id
            )

    @cached_property
    def _suite(self) -> dict[str, Row]:
        path = self._suite_path()
        if path is None:
            return {}
        return {str(row.get("id")): row for _, row in json_lines(path, self.reading)}

    def _suite_path(self) -> Path | None:
        written = self.state.get("suite_path")
        if not written:
            return None
        typed = Path(str(written))
        # As typed on the command line: relative to the project, which holds .evalshift/runs/<id>.
        project = self.folder.resolve().parents[2:3]
        places = [self.folder / typed.name, self.folder / typed, *(p / typed for p in project)]
        found = next((place for place in places if place.is_file()), None)
        if found is None:
            self.notes.append(
                f"{self.folder}: the suite {str(written)!r} is not here, so examples have no "
                "tags and no conversations; put it beside scores.jsonl to have them"
            )
        return found

    @cached_property
    def _described(self) -> dict[str, Row]:
        suite = self._suite
        tags = {name: [str(tag) for tag in row.get("tags") or []] for name, row in suite.items()}
        several = any(len(names) > 1 for names in tags.values())
        known = sorted({tag for names in tags.values() for tag in names}) if several else []
        columns = [key for key in _COLUMNS if any(r.get(key) is not None for r in suite.values())]
        return {
            name: {
                **{_COLUMNS[key]: row.get(key) for key in columns},
                "tags": "; ".join(tags[name]) or None,
                **{f"tag:{tag}": tag in tags[name] for tag in known},
            }
            for name, row in suite.items()
        }


_COLUMNS = {"conversation_id": "cluster", "turn_index": "turn_index"}


def open_run(source: Source, reading: Reading) -> Run:
    """Look around a run directory, or around one of its files."""
    folder = source.path if source.is_folder else source.path.parent
    state = _document(folder / "state.json")
    first = source.first_line if source.is_json_lines else {}
    run_id = str(first.get("run_id") or state.get("run_id") or "")
    run = Run(folder, run_id, state, reading)
    if state and state.get("run_id") != run_id:
        run.notes.append(
            f"{source.path}: state.json beside it is of another run ({state.get('run_id')!r}) "
            "and was not used"
        )
        run.state = {}
    _note_skipped(run)
    return run


def _document(path: Path) -> Row:
    document: Any = Source(path).document if path.is_file() else None
    return document if isinstance(document, dict) else {}


def _note_skipped(run: Run) -> None:
    for each in run.state.get("skipped_evaluators") or []:
        label = each.get("label") or each.get("evaluator_name")
        run.notes.append(f"EvalShift skipped the evaluator {label!r}: {each.get('note') or ''}")
    verdict = _document(run.folder / "migration_decision.json").get("verdict")
    if run.state and verdict:
        run.notes.append(f"EvalShift's own verdict on the run {run.run_id!r}: {verdict}")
