"""Results of SWE-bench: lists of instances, reports on single ones, whole submissions, boards.

``results.json`` of a submission lists the instances that were resolved and those without a patch
or without logs. It does not list the ones that were attempted and not resolved, so by itself it
has no failures; its reports (``logs/<instance>/report.json``) have them, and a submission that is
read as a folder has both. The summary that the harness writes (``<model>.<run>.json``) lists all.

An instance is named after its repository and issues of one repository are alike: the repository
is the cluster. An instance without a patch has no answer that could be judged (`system_error`); a
patch that cannot be applied is a wrong answer; without logs the measurement is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from evaltoolkit.errors import listed, warn
from evaltoolkit.readers.base import Batch, Format, Reading, Row, Source
from evaltoolkit.readers.benchmark_values import lost, told
from evaltoolkit.readers.swe_bench_boards import is_boards, read_boards
from evaltoolkit.readers.swe_bench_instances import (
    RESOLVED,
    Report,
    Submission,
    harness_run,
    instance_key,
    patches,
    report_rows,
    submission_of,
)

_MARKS = (b'"resolved"', b'"resolved_ids"', b'"per_instance_details"', b'"leaderboards"')
_REPORT = frozenset({"patch_exists", "patch_successfully_applied", "tests_status", "patch_is_None"})
_LISTS = frozenset({"no_generation", "no_logs", "generated", "with_logs", "no_apply", "applied"})
_ATTEMPTED = frozenset({"generated", "with_logs", "applied"})
_SUMMARY = frozenset({"resolved_ids", "unresolved_ids", "submitted_instances"})
_NOT_ATTEMPTED = "the harness was given no prediction for it"
_NO_PATCH = "the system wrote no patch"
_NOT_EVALUATED = "the harness could not finish the evaluation; its log says why"

# What each list says of its instances. Later lists say more than earlier ones.
_SAYS: dict[str, Row] = {
    **{name: told(False, label="unresolved") for name in (*sorted(_ATTEMPTED), "unresolved_ids")},
    "no_apply": told(False, label="unresolved", message="the patch could not be applied"),
    "incomplete_ids": lost("unscored", _NOT_ATTEMPTED, label="incomplete"),
    "no_generation": lost("system_error", _NO_PATCH, label="no_generation"),
    "empty_patch_ids": lost("system_error", _NO_PATCH, label="empty_patch"),
    "no_logs": lost("scorer_error", "there is no log of its evaluation", label="no_logs"),
    **{
        name: lost("scorer_error", _NOT_EVALUATED, label=name.removesuffix("_ids"))
        for name in ("error_ids", "install_fail", "reset_failed", "test_errored", "test_timeout")
    },
    "resolved": told(True, label="resolved"),
    "resolved_ids": told(True, label="resolved"),
}
# Sums of other lists.
_UNIONS = frozenset({"completed_ids", "submitted_ids"})
# Containers and images that are left over are no instances.
_NO_INSTANCES = frozenset({"unstopped_containers", "unremoved_images", "unstopped_instances"})


def detect(source: Source) -> bool:
    """Say whether a file or folder holds results of SWE-bench."""
    if source.is_folder:
        return _is_submission(source.path)
    if not source.looks_like_json or not any(mark in source.head for mark in _MARKS):
        return False
    document = source.document
    return isinstance(document, dict) and (
        _is_lists(document)
        or document.keys() >= _SUMMARY
        or _is_reports(document)
        or is_boards(document)
        or _is_counts(document)
    )


def _is_submission(folder: Path) -> bool:
    results = folder / "results" / "results.json"
    if not results.is_file():
        return False
    document = Source(results).document
    return isinstance(document, dict) and _is_lists(document)


def _is_lists(document: Row) -> bool:
    named = "resolved" in document and bool(document.keys() & _LISTS)
    return named and all(isinstance(ids, list) for ids in document.values())


def _is_reports(document: Row) -> bool:
    parts = document.values()
    return bool(parts) and all(
        isinstance(part, Mapping) and "resolved" in part and bool(_REPORT & part.keys())
        for part in parts
    )


def _is_counts(document: Row) -> bool:
    parts = document.values()
    return bool(parts) and all(
        isinstance(part, Mapping) and set(part) == {"resolved", "total"} for part in parts
    )


def is_companion(source: Source) -> bool:
    """Say whether a file counts resolved instances by repository or year."""
    return (
        not source.is_folder and isinstance(source.document, dict) and _is_counts(source.document)
    )


def read(source: Source, reading: Reading) -> Iterator[Batch]:
    """Read whatever file it is, or a submission with all that belongs to it."""
    if source.is_folder:
        yield _submission(source.path, reading)
        return
    document = source.document
    if is_boards(document):
        yield from read_boards(source.path, document, reading)
    elif _is_counts(document):
        yield _counts(source.path, document, reading)
    elif _is_reports(document):
        yield _reports(source.path, document, reading)
    elif _is_lists(document):
        yield _lists(source.path, document, reading)
    else:
        yield _summary(source.path, document, reading)


def _submission(folder: Path, reading: Reading) -> Batch:
    results = folder / "results" / "results.json"
    submission, notes = submission_of(results, reading)
    listing = Source(results).document
    rows = {row["example_id"]: row for row in _listed(results, listing, submission, reading)}
    batch = Batch(notes=notes)
    contradicted = []
    for path in sorted(folder.glob("logs/*/report.json")):
        document = Source(path).document
        if not isinstance(document, dict) or not _is_reports(document):
            reading.unknown(path, "report")
            continue
        for report in _parts(path, document, submission, reading):
            verdict, *parts = report_rows(report)
            known = rows.setdefault(report.instance, verdict)
            if known["status"] != verdict["status"] or known["score"] != verdict["score"]:
                contradicted.append(report.instance)
            parts_of = [part for part in parts if known["status"] == "scored"]
            batch.scores = [*batch.scores, *parts_of]
            batch.details = [*batch.details, report.details()]
    batch.scores = [*rows.values(), *batch.scores]
    if contradicted and "scores" in reading.want:
        warn(
            f"{folder}: results.json and the reports in logs/ disagree on {len(contradicted)} "
            f"instance(s): {listed(contradicted)}; results.json was followed"
        )
    batch.outputs = list(patches(folder, submission, reading))
    batch.notes.extend(_absent(folder, results, listing, len(rows), reading))
    return batch


def _lists(path: Path, document: Row, reading: Reading) -> Batch:
    submission, notes = submission_of(path, reading)
    rows = list(_listed(path, document, submission, reading))
    return Batch(scores=rows, notes=[*notes, *_absent(path, path, document, len(rows), reading)])


def _absent(place: Path, results: Path, document: Row, here: int, reading: Reading) -> list[str]:
    """Say how many instances are nowhere: attempted and not resolved, or never attempted."""
    total = sum(part["total"] for part in _totals(results.with_name("resolved_by_repo.json")))
    if document.keys() & _ATTEMPTED or (total and total <= here):
        return []
    count = f"{total - here} of {total}" if total else "how many is not told"
    text = (
        f"{place}: results.json does not list the instances that were attempted and not resolved, "
        f"and those without a report in logs/ are missing ({count}): the mean is no resolution rate"
    )
    if "scores" in reading.want:
        warn(text)
    return [text]


def _totals(path: Path) -> list[Row]:
    document = Source(path).document if path.is_file() else None
    return list(document.values()) if isinstance(document, dict) and _is_counts(document) else []


def _summary(path: Path, document: Row, reading: Reading) -> Batch:
    submission, notes = harness_run(path, reading)
    rows = list(_listed(path, document, submission, reading))
    reported = document.get("resolved_instances")
    found = len(document["resolved_ids"])
    if reported is not None and reported != found:
        warn(f"{path}: resolved_instances is {reported}, but resolved_ids lists {found}")
    total = document.get("total_instances")
    aggregate = {
        **submission.key(),
        "criterion": "resolved",
        "metric": "count",
        "value": reported,
        "stderr": None,
        "n": total,
    }
    return Batch(scores=rows, aggregates=[aggregate], notes=notes)


def _listed(path: Path, document: Row, submission: Submission, reading: Reading) -> Iterator[Row]:
    said: dict[str, Row] = {}
    # In the order of what the lists say, so that "resolved" is not undone by "generated".
    for name in sorted(document, key=lambda name: list(_SAYS).index(name) if name in _SAYS else 0):
        ids = document[name]
        if name in _SAYS and isinstance(ids, list):
            said.update({str(instance): {**_SAYS[name], "list": name} for instance in ids})
        elif isinstance(ids, list) and name not in _UNIONS | _NO_INSTANCES:
            reading.unknown(path, f"list {name!r}", len(ids))
    for instance, row in said.items():
        place = f"{path.name}: {row.pop('list')}"
        yield {**submission.key(), **instance_key(instance), **RESOLVED, **row, "source": place}


def _reports(path: Path, document: Row, reading: Reading) -> Batch:
    submission, notes = submission_of(path, reading)
    reports = list(_parts(path, document, submission, reading))
    return Batch(
        scores=[row for report in reports for row in report_rows(report)],
        details=[report.details() for report in reports],
        notes=notes,
    )


def _parts(path: Path, document: Row, submission: Submission, reading: Reading) -> Iterator[Report]:
    for instance, content in document.items():
        if isinstance(content.get("resolved"), bool):
            yield Report(submission, instance, content, f"{path.parent.name}/{path.name}")
        else:
            error = ValueError(f"its 'resolved' is {content.get('resolved')!r}, not true or false")
            reading.bad_record(path, f"instance {instance}", error)


def _counts(path: Path, document: Row, reading: Reading) -> Batch:
    submission, notes = submission_of(path, reading)
    aggregates = [
        {
            **submission.key(),
            "criterion": "resolved",
            "metric": "count",
            "value": part["resolved"],
            "stderr": None,
            "n": part["total"],
            "group": group,
        }
        for group, part in document.items()
    ]
    return Batch(aggregates=aggregates, notes=notes)


FORMAT = Format(
    name="swe_bench",
    title="SWE-bench results, reports and leaderboards",
    detect=detect,
    read=read,
    tables=frozenset({"scores", "outputs", "details", "report"}),
    folders=True,
    companions=is_companion,
    signs="lists of instance ids, test reports of instances, or boards with per_instance_details",
    quirks=(
        "`results.json` lists no failures: read by itself it warns, and the folder of the "
        "submission adds those in its reports. No patch is `system_error`, no log `scorer_error`. "
        "The repository is the cluster. An entry of a leaderboard whose details contradict its own "
        "percentage warns; one that fits another denominator (499 for 500) gets a note."
    ),
)
