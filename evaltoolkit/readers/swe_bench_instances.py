"""Instances of SWE-bench: whose they are, their keys, and the report of their tests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaltoolkit.readers.base import Reading, Row, json_lines
from evaltoolkit.readers.benchmark_values import lost, share, share_of, told, verdict_of
from evaltoolkit.readers.records import as_cell, as_json
from evaltoolkit.readers.unnamed import system_name

TASK = "swe_bench"
RESOLVED = verdict_of("resolved")

_GROUPS = {"FAIL_TO_PASS": "fail_to_pass", "PASS_TO_PASS": "pass_to_pass"}
_NAME = re.compile(r"(?m)^\s*name:\s*['\"]?(.+?)['\"]?\s*$")
_HARNESS = "run_evaluation"
# Folders of a submission; what lies above them is the submission.
_INNER = frozenset({"logs", "results"})
_FILES_OF_A_SUBMISSION = frozenset({"report", "results", "resolved_by_repo", "resolved_by_time"})


@dataclass(frozen=True)
class Submission:
    """Whose results they are."""

    system: str
    run_id: str

    def key(self) -> Row:
        """Give the columns that name the submission."""
        return {"run_id": self.run_id, "system": self.system, "task": TASK}


def instance_key(instance: str) -> Row:
    """Give the columns that name an instance, with its repository as the cluster.

    Example:
        >>> instance_key("psf__requests-1142")
        {'example_id': 'psf__requests-1142', 'cluster': 'psf/requests'}
    """
    repository = instance.rpartition("-")[0]
    cluster = repository.replace("__", "/", 1) if "__" in repository else None
    return {"example_id": instance, "cluster": cluster}


def submission_of(path: Path, reading: Reading) -> tuple[Submission, list[str]]:
    """Find whose file it is: by metadata.yaml of the submission, else by the folder."""
    folders = list(path.resolve().parents)
    if path.name == "report.json":
        folders = folders[1:]
    if folders[0].name in _INNER:
        folders = folders[1:]
    folder = folders[0]
    run_id = folder.name
    if len(folders) > 2 and folders[2].name == _HARNESS:
        run_id = folders[1].name
    told = [(_stated_name(folder / "metadata.yaml"), f"{folder.name}/metadata.yaml")]
    if path.stem in _FILES_OF_A_SUBMISSION:
        told.append((folder.name, "the folder name: the file names none"))
    system, notes = system_name(path, reading, told=told)
    return Submission(system, run_id), notes


def _stated_name(path: Path) -> str | None:
    if not path.is_file():
        return None
    found = _NAME.search(path.read_text(encoding="utf-8", errors="replace"))
    return found[1] if found else None


def harness_run(path: Path, reading: Reading) -> tuple[Submission, list[str]]:
    """Take model and run from the name of a summary, ``<model>.<run>.json``."""
    model, _, run_id = path.stem.rpartition(".")
    system, notes = system_name(path, reading, stem=model.replace("__", "/") or path.stem)
    return Submission(system, run_id if model else ""), notes


@dataclass(frozen=True)
class Report:
    """What the tests said of one instance."""

    submission: Submission
    instance: str
    content: Mapping[str, Any]
    source: str

    @property
    def key(self) -> Row:
        """The columns that name it."""
        return {**self.submission.key(), **instance_key(self.instance), "source": self.source}

    @property
    def has_patch(self) -> bool:
        """Whether there was a patch to judge."""
        return self.content.get("patch_exists") is not False and not self.content.get(
            "patch_is_None"
        )

    def details(self) -> Row:
        """Give the row of the details table: which tests passed and which failed."""
        key = {name: value for name, value in self.key.items() if name != "cluster"}
        return {**key, "criterion": "resolved", "details": as_json(self.content)}


def report_rows(report: Report) -> list[Row]:
    """Give the verdict on an instance, then the shares of its tests that passed."""
    if not report.has_patch:
        verdict = lost("system_error", "the system wrote no patch", label="no_generation")
        parts = dict.fromkeys(_GROUPS.values(), verdict)
    else:
        applied = report.content.get("patch_successfully_applied") is not False
        resolved = report.content["resolved"]
        label = "resolved" if resolved else "unresolved"
        message = None if applied else "the patch could not be applied"
        verdict = told(resolved, label=label, message=message)
        parts = dict(_shares(report.content.get("tests_status"), message))
    rows = [{**report.key, **RESOLVED, **verdict}]
    rows += [{**report.key, **share_of(name), **part} for name, part in parts.items()]
    return rows


def _shares(tests: object, message: str | None) -> Iterator[tuple[str, Row]]:
    for group, name in _GROUPS.items():
        found = tests.get(group) if isinstance(tests, Mapping) else None
        if not isinstance(found, Mapping):
            yield name, lost("unscored", message or "no tests are reported")
            continue
        passed, failed = found.get("success") or [], found.get("failure") or []
        # Some instances have no test that must keep passing.
        if passed or failed:
            yield name, share([True] * len(passed) + [False] * len(failed))


def patches(folder: Path, submission: Submission, reading: Reading) -> Iterator[Row]:
    """Give the patches of a submission, as its ``all_preds.jsonl`` has them."""
    path = folder / "all_preds.jsonl"
    if "outputs" not in reading.want or not path.is_file():
        return
    for record, row in json_lines(path, reading):
        if "instance_id" in row:
            yield {
                **submission.key(),
                **instance_key(str(row["instance_id"])),
                "output": as_cell(row.get("model_patch")),
                "source": f"{path.name}: {record}",
            }
        else:
            reading.bad_record(path, record, ValueError("it names no instance_id"))
