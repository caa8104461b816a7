"""Families that are declared before the scores are seen, and what deviated from them."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evaltoolkit.comparison.estimates import check_methods
from evaltoolkit.comparison.families import check_correction
from evaltoolkit.comparison.options import Margin, names_list, one_of, share
from evaltoolkit.errors import PairingError, listed, nearest

VERSION = 1

Choice = Any
"""A choice as it is passed or saved: text, number, flag, list or mapping."""

CHOICES = (
    "baseline", "candidates", "criteria", "primary", "margin", "correction", "alpha", "by",
    "cluster", "test", "interval", "measure", "missing",
)  # fmt: skip
"""What a declaration can hold."""

_LISTS = ("candidates", "criteria", "primary", "by")
_FIELDS = ("version", "declared_at", "choices", "note", "digest")


@dataclass(frozen=True)
class Declaration:
    """A family of hypotheses as it was declared; made by `declare`.

    Attributes:
        choices: The choices that were declared, by name; others were left at their defaults.
        declared_at: When, in UTC.
        note: Free text.
        digest: SHA-256 over version, time, choices and note.
        version: Version of the format.
        path: The file that it was saved to or read from, or None.
        intact: Whether the digest that was read is that of what was read.
    """

    choices: Mapping[str, Any]
    declared_at: str
    note: str
    digest: str
    version: int = VERSION
    path: str | None = field(default=None, compare=False)
    intact: bool = field(default=True, compare=False)

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in self.choices.items())
        return f"Declaration({self.declared_at}: {said or 'the defaults'})"


def declare(  # noqa: PLR0913 - every choice of the analysis is a keyword of its own
    path: str | os.PathLike[str] | None = None,
    *,
    baseline: str | None = None,
    candidate: str | None = None,
    candidates: str | Sequence[str] | None = None,
    criteria: str | Sequence[str] | None = None,
    primary: str | Sequence[str] | None = None,
    margin: Margin = None,
    correction: str | Mapping[str, str] | None = None,
    alpha: float | None = None,
    by: str | Sequence[str] | None = None,
    cluster: str | bool | None = None,
    test: str | None = None,
    interval: str | None = None,
    measure: str | None = None,
    missing: str | None = None,
    note: str | None = None,
) -> Declaration:
    """Declare the family of hypotheses before the scores are seen.

    Pass the declaration (or its file) to `compare` or `compare_to_baseline` later: choices left
    out there are filled in from it, and whatever deviates is listed in a warning, in the
    settings and in the methods. The file proves nothing by itself: commit it, or send it to
    someone, before the evaluation runs.

    Args:
        path: A new file (JSON) to save it to; by default it is only returned.
        baseline: Name of the reference system.
        candidate: Name of the system that is judged.
        candidates: Names, where there are several.
        criteria: The criteria of the family; others in the table are then not compared.
        primary: See `evaltoolkit.compare`, as for all that follow.
        margin: See `compare`.
        correction: See `compare`.
        alpha: See `compare`.
        by: See `compare`.
        cluster: See `compare`.
        test: See `compare`.
        interval: See `compare`.
        measure: See `compare`.
        missing: See `compare`.
        note: Free text, such as the reason or the planned number of examples.

    Raises:
        PairingError: A choice that `compare` would refuse as well, or the file exists already.

    Example:
        >>> plan = declare(baseline="v1", candidate="v2", criteria=["correct", "tone"],
        ...                primary="correct", margin={"tone": 0.1})
        >>> plan.choices["primary"], plan.choices["margin"]
        (['correct'], {'tone': 0.1})
    """
    if candidate is not None and candidates is not None:
        raise PairingError("give candidate or candidates, not both", code="bad_option",
                           path="candidates")  # fmt: skip
    given = {
        "baseline": baseline,
        "candidates": candidate if candidates is None else candidates,
        "criteria": criteria,
        "primary": primary,
        "margin": margin,
        "correction": correction,
        "alpha": alpha,
        "by": by,
        "cluster": cluster,
        "test": test,
        "interval": interval,
        "measure": measure,
        "missing": missing,
    }
    choices = {name: plain(name, value) for name, value in given.items() if value is not None}
    _check(choices)
    at = datetime.now(UTC).isoformat(timespec="seconds")
    text = note or ""
    digest = _digest(VERSION, at, choices, text)
    where = None if path is None else str(path)
    declaration = Declaration(choices, at, text, digest, path=where)
    if path is not None:
        _save(declaration, Path(path))
    return declaration


def load_declaration(source: str | os.PathLike[str] | Declaration) -> Declaration:
    """Return a declaration, read from its file if need be.

    Raises:
        PairingError: The file is absent or no declaration (code ``bad_declaration``).
    """
    if isinstance(source, Declaration):
        return source
    try:
        content = json.loads(Path(source).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _unreadable(source, str(error)) from error
    if not isinstance(content, dict) or not set(_FIELDS) <= set(content):
        raise _unreadable(source, f"it needs the fields {listed(_FIELDS)}")
    version, at, choices, note, digest = (content[name] for name in _FIELDS)
    if version != VERSION:
        raise _unreadable(source, f"it has version {version!r}; this release reads {VERSION}")
    if not isinstance(choices, dict) or not set(choices) <= set(CHOICES):
        raise _unreadable(source, f"its choices must be among {listed(CHOICES, limit=20)}")
    choices = {name: plain(name, value) for name, value in choices.items()}
    _check(choices)
    intact = digest == _digest(version, at, choices, note)
    return Declaration(choices, str(at), str(note), str(digest), path=str(source), intact=intact)


def plain(name: str, value: Choice) -> Choice:
    """Write a choice in the one way in which choices are saved and compared."""
    if name in _LISTS:
        return names_list(value)
    if name == "correction":
        return check_correction(value)
    if name == "margin":
        if isinstance(value, Mapping):
            return {str(key): float(one) for key, one in sorted(value.items())}
        return float(value)
    if name == "alpha":
        return float(value)
    return value if isinstance(value, bool) else str(value)


def _check(choices: Mapping[str, Any]) -> None:
    if "alpha" in choices:
        share("alpha", choices["alpha"])
    if "measure" in choices:
        one_of("measure", choices["measure"], ("score", "passed"))
    if "missing" in choices:
        one_of("missing", choices["missing"], ("report", "worst", "as_failure"))
    check_methods(choices.get("test"), choices.get("interval"))
    criteria = choices.get("criteria")
    for name, members in _named_criteria(choices):
        for one in members:
            if criteria is not None and one not in criteria:
                raise PairingError(
                    f"{name} names the criterion {one!r}, which is not among those declared; "
                    f"{nearest(one, criteria)}",
                    code="unknown_criterion",
                    path=name,
                    value=one,
                )
    margin = choices.get("margin", {})
    for value in margin.values() if isinstance(margin, Mapping) else [margin]:
        if not (value > 0 and math.isfinite(value)):
            raise PairingError(
                f"margin is {value!r}; it must be a positive number",
                code="bad_margin",
                path="margin",
                value=value,
            )


def _named_criteria(choices: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[str]]]:
    yield "primary", choices.get("primary", [])
    margin = choices.get("margin")
    yield "margin", list(margin) if isinstance(margin, Mapping) else []


def _digest(version: int, at: str, choices: Mapping[str, Any], note: str) -> str:
    content = {"version": version, "declared_at": at, "choices": choices, "note": note}
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _save(declaration: Declaration, path: Path) -> None:
    content = {name: getattr(declaration, name) for name in _FIELDS}
    try:
        with path.open("x", encoding="utf-8") as file:
            json.dump(content, file, indent=2, ensure_ascii=False)
            file.write("\n")
    except FileExistsError as error:
        raise PairingError(
            f"{path} exists already, and a declaration is never overwritten; choose another name",
            code="file_exists",
            path=str(path),
        ) from error


def _unreadable(source: object, why: str) -> PairingError:
    return PairingError(
        f"{source} is no declaration that can be read: {why}; make one with et.declare(path, ...)",
        code="bad_declaration",
        path=str(source),
    )
